/* later.c - nonblocking collective accesses: the call returns though no other process has called,
 * many may be under way and mix with blocking ones, and they go by way of aggregators. */
#include "view.h"

#include <unistd.h>

enum { PIECE = 1000, PIECES = 300, N = PIECE * PIECES, PARTS = 5 };
static char name[200], out[PARTS][N], in[N];

#define OK(call) CHECK_EQ(call, MPI_SUCCESS)

static MPI_File opened(void)
{
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    view_set(f, PIECE, mt_size);
    return f;
}

/* The last rank calls when the others have returned from their calls. */
static void returns_at_once(MPI_File f)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int last = mt_rank == mt_size - 1, done = 0, word = 0;
    if (last)
        for (int i = 0; i < mt_size - 1; i++)
            MPI_Recv(&word, 1, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    OK(MPI_File_iwrite_all(f, out[0], N, MPI_BYTE, &r));
    if (!last) {
        MPI_Test(&r, &done, MPI_STATUS_IGNORE);
        CHECK_EQ(done, 0);
        MPI_Send(&word, 1, MPI_INT, mt_size - 1, 0, MPI_COMM_WORLD);
    }
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

static void many(MPI_File f)
{
    MPI_Request r[PARTS];
    MPI_Status st;
    long long before = pv_get("io_rounds");
    int n = 0;
    for (int p = 0; p < PARTS; p++) {
        r[p] = MPI_REQUEST_NULL;
        if (p == 2)
            OK(MPI_File_write_at_all(f, p * N, out[p], N, MPI_BYTE, MPI_STATUS_IGNORE));
        else
            OK(MPI_File_iwrite_at_all(f, p * N, out[p], N, MPI_BYTE, &r[p]));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Waitall(PARTS, r, MPI_STATUSES_IGNORE));
    if (mt_size > 1)
        MUST(pv_get("io_rounds") > before, "no rounds: they were independent");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int p = PARTS - 1; p >= 0; p--) {
        memset(in, 0, N);
        OK(MPI_File_iread_at_all(f, p * N, in, N, MPI_BYTE, &r[0]));
        OK(MPI_Wait(&r[0], &st));
        MPI_Get_count(&st, MPI_BYTE, &n);
        CHECK_EQ(n, N);
        MUST(!memcmp(in, out[p], N), "part %d was read wrong", p);
    }
    OK(MPI_File_read_at_all(f, N, in, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(!memcmp(in, out[1], N));
}

int main(int argc, char **argv)
{
    int provided, id = (int)getpid();
    MPI_Request r;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    mt_init(&argc, &argv);
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/tmp/mt-io-later-%d", id);
    for (int p = 0; p < PARTS; p++)
        for (int i = 0; i < N; i++)
            out[p][i] = (char)(i * 3 + i / 241 + mt_rank * 17 + p);
    MPI_File f = opened();
    if (mt_size > 1)
        returns_at_once(f);
    many(f);
    OK(MPI_File_iwrite_at_all(f, 0, out[1], N, MPI_BYTE, &r));
    MPI_Request_free(&r);
    OK(MPI_File_close(&f)); /* waits for it */
    f = opened();
    OK(MPI_File_read_at_all(f, 0, in, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(!memcmp(in, out[1], N));
    OK(MPI_File_close(&f));
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank == 0)
        unlink(name);
    MPI_T_finalize();
    return mt_finish();
}

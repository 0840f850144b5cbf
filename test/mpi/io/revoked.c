/* revoked.c - files are revoked, or lose a member, while the others wait in each kind of access:
 * all waits end, and so do the calls after them; the file can be closed, and opened again. From
 * four ranks on some die: mpiexec -disable-auto-cleanup. */
#include "../living.h"
#include "view.h"

#include <signal.h>
#include <unistd.h>

enum { KINDS = 8, ROUNDS = 2 * KINDS, BLOCK = 100, BLOCKS = 200 };
static char out[BLOCK * BLOCKS], in[BLOCK * BLOCKS], name[200];
static MPI_Comm comm;
static MPI_File file;
static int size, rank;

static void open_it(void)
{
    MPI_Info i;
    int err;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    MPI_Info_create(&i);
    MPI_Info_set(i, "cb_buffer_size", "4096");
    MPI_Info_set(i, "romio_cb_write", "enable");
    MPI_Info_set(i, "romio_cb_read", "enable");
    err = MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, i, &file);
    MUST(!err, "class %d", mt_class(err));
    MPI_Info_free(&i);
    view_set(file, BLOCK, size);
}

/* Not the error of a revocation or a death: a mistake. */
static int ended(int err)
{
    int c = mt_class(err);
    CHECK(!c || c == MPIX_ERR_REVOKED || c == MPIX_ERR_PROC_FAILED);
    return c;
}

static int moves_later(int mixed)
{
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int err = ended(MPI_File_iwrite_at_all(file, 0, out, sizeof out, MPI_BYTE, &r[0])), k;
    if (!err)
        err = ended(MPI_File_iread_at_all(file, 0, in, sizeof in, MPI_BYTE, &r[1]));
    if (!err && mixed)
        err = ended(MPI_File_write_at_all(file, 0, out, sizeof out, MPI_BYTE, MPI_STATUS_IGNORE));
    for (k = 0; k < 2; k++) {
        int e = ended(MPI_Wait(&r[k], MPI_STATUS_IGNORE));
        CHECK(r[k] == MPI_REQUEST_NULL);
        err = err ? err : e;
    }
    return err;
}

static int one_access(int kind)
{
    int err;
    switch (kind) {
    case 0: return ended(MPI_File_write_at_all(file, 0, out, sizeof out, MPI_BYTE,
                                               MPI_STATUS_IGNORE));
    case 1: return ended(MPI_File_read_all(file, in, sizeof in, MPI_BYTE, MPI_STATUS_IGNORE));
    case 2: return moves_later(0);
    case 3: return moves_later(1);
    case 4: return ended(MPI_File_write_ordered(file, out, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    case 5:
        err = ended(MPI_File_write_shared(file, out, 1, MPI_BYTE, MPI_STATUS_IGNORE));
        return err ? err : ended(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    case 6:
        err = ended(MPI_File_write_at_all_begin(file, 0, out, sizeof out, MPI_BYTE));
        return err ? err : ended(MPI_File_write_at_all_end(file, out, MPI_STATUS_IGNORE));
    default:
        err = ended(MPI_File_set_size(file, 7));
        return err ? err : ended(MPI_File_sync(file));
    }
}

static void is_revoked(void)
{
    MPI_Errhandler e;
    MPI_Request r;
    MPI_Offset at;
    MPI_Info i;
    int flag = 0;
    CHECK_EQ(MPIX_File_is_revoked(file, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    CHECK_EQ(MPI_File_write_at(file, 0, out, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
    CHECK_EQ(MPI_File_iread(file, in, 1, MPI_BYTE, &r), MPIX_ERR_REVOKED);
    CHECK_EQ(MPI_File_read_ordered(file, in, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
    CHECK_EQ(MPI_File_write_all_begin(file, out, 1, MPI_BYTE), MPIX_ERR_REVOKED);
    CHECK_EQ(MPI_File_preallocate(file, 1), MPIX_ERR_REVOKED);
    CHECK_EQ(MPI_File_set_atomicity(file, 1), MPIX_ERR_REVOKED);
    CHECK_EQ(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL),
             MPIX_ERR_REVOKED);
    CHECK_EQ(MPI_File_get_position_shared(file, &at), MPIX_ERR_REVOKED);
    CHECK_EQ(MPI_File_seek(file, 0, MPI_SEEK_SET), MPIX_ERR_REVOKED);
    CHECK_EQ(MPI_File_get_position(file, &at), MPI_SUCCESS);
    CHECK_EQ(MPI_File_get_atomicity(file, &flag), MPI_SUCCESS);
    CHECK_EQ(MPI_File_get_info(file, &i), MPI_SUCCESS);
    MPI_Info_free(&i);
    CHECK_EQ(MPI_File_get_errhandler(file, &e), MPI_SUCCESS);
    CHECK(e == MPI_ERRORS_RETURN);
    CHECK_EQ(MPI_File_set_errhandler(file, e), MPI_SUCCESS);
    CHECK_EQ(MPIX_File_revoke(file), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    int round, id = (int)getpid();

    mt_init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Bcast(&id, 1, MPI_INT, 0, comm);
    snprintf(name, sizeof name, "/tmp/mt-io-revoked-%d", id);
    for (round = 0; round < ROUNDS; round++) {
        int dies, turns = round / KINDS * 3, err = 0;
        open_it();
        dies = mt_size > 3 && size > 2 && round % 7 == 4;
        MPI_Barrier(comm);
        while (!err && (rank != size - 1 || turns-- > 0))
            err = one_access(round % KINDS);
        if (rank == size - 1) { /* it gives up while the others wait for it */
            usleep(2000);
            if (dies)
                kill(getpid(), SIGKILL);
        }
        CHECK_EQ(MPIX_File_revoke(file), MPI_SUCCESS);
        is_revoked();
        if (dies)
            take_leave(&comm, size);
        CHECK_EQ(MPI_File_close(&file), MPI_SUCCESS);
        CHECK(file == MPI_FILE_NULL);
        open_it();
        CHECK_EQ(MPI_File_write_at_all(file, 0, out, sizeof out, MPI_BYTE, MPI_STATUS_IGNORE),
                 MPI_SUCCESS);
        CHECK_EQ(MPI_File_close(&file), MPI_SUCCESS);
    }
    if (rank == 0)
        unlink(name);
    return mt_finish_over(comm);
}

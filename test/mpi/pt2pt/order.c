/* order.c - messages between two ranks on one tag arrive in the order sent, whatever their sizes
 * (eager and rendezvous mixed). The receive may be named or a wildcard, and posted before or after
 * the message. Different tags may be received in any order. MPI-3.1 3.5. */
#include "../mt.h"

enum { N = 60 };
static const int sizes[] = { 0, 8, 1000, 40, 70000, 1, 300000, 16, 0, 4096, 20000 };

static int size_of(int src, int i)
{
    return sizes[(src * 3 + i) % (int)(sizeof sizes / sizeof *sizes)] + 8;
}

static void fill_message(char *buf, int src, int i)
{
    mt_fill(buf, (size_t)size_of(src, i), (unsigned)(src * 1000 + i));
    memcpy(buf, &i, sizeof i);
}

static void check_message(const char *buf, int src, int i, const MPI_Status *st)
{
    int count, k, n = size_of(src, i);

    memcpy(&k, buf, sizeof k);
    MUST(k == i, "message %d from %d came where %d was due", k, src, i);
    MPI_Get_count(st, MPI_BYTE, &count);
    CHECK_EQ(count, n);
    if (k == i)
        for (k = 8; k < n; k += n > 100 ? 97 : 1)
            if ((unsigned char)buf[k] != mt_byte((unsigned)(src * 1000 + i), (size_t)k)) {
                MUST(0, "byte %d of message %d from %d is wrong", k, i, src);
                break;
            }
}

/* Every rank sends N messages to every rank; receives are wildcards or named. */
static void all_to_all(int wildcard, int late)
{
    char **out = mt_alloc(sizeof *out * N * (size_t)mt_size), *buf = mt_alloc(400000);
    MPI_Request *req = mt_alloc(sizeof *req * N * (size_t)mt_size);
    int *seen = calloc((size_t)mt_size, sizeof *seen), i, r, n = 0;
    MPI_Status st;

    for (i = 0; i < N; i++)
        for (r = 0; r < mt_size; r++, n++) {
            out[n] = mt_alloc((size_t)size_of(mt_rank, i));
            fill_message(out[n], mt_rank, i);
            MPI_Isend(out[n], size_of(mt_rank, i), MPI_BYTE, r, 5, MPI_COMM_WORLD, &req[n]);
        }
    if (late)
        MPI_Barrier(MPI_COMM_WORLD);
    for (i = 0; i < N * mt_size; i++) {
        r = wildcard ? MPI_ANY_SOURCE : i % mt_size;
        MPI_Recv(buf, 400000, MPI_BYTE, r, wildcard ? MPI_ANY_TAG : 5, MPI_COMM_WORLD, &st);
        if (!wildcard)
            CHECK_EQ(st.MPI_SOURCE, r);
        CHECK_EQ(st.MPI_TAG, 5);
        if (!CHECK(st.MPI_SOURCE >= 0 && st.MPI_SOURCE < mt_size))
            break;
        check_message(buf, st.MPI_SOURCE, seen[st.MPI_SOURCE]++, &st);
    }
    MPI_Waitall(n, req, MPI_STATUSES_IGNORE);
    for (r = 0; r < mt_size; r++)
        CHECK_EQ(seen[r], N);
    for (i = 0; i < n; i++)
        free(out[i]);
    free(out);
    free(req);
    free(seen);
    free(buf);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Tags taken in the reverse order; two posted receives on one tag match in posting order. */
static void tags_backwards(void)
{
    int right = (mt_rank + 1) % mt_size, left = (mt_rank + mt_size - 1) % mt_size, i;
    int out[200], in[200];
    MPI_Request req[200];

    for (i = 0; i < 200; i++) {
        out[i] = mt_rank * 1000 + i;
        MPI_Isend(&out[i], 1, MPI_INT, right, i / 2, MPI_COMM_WORLD, &req[i]);
    }
    for (i = 198; i >= 0; i -= 2) {
        MPI_Request two[2];

        in[i] = in[i + 1] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, left, i / 2, MPI_COMM_WORLD, &two[0]);
        MPI_Irecv(&in[i + 1], 1, MPI_INT, MPI_ANY_SOURCE, i / 2, MPI_COMM_WORLD, &two[1]);
        MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
    }
    MPI_Waitall(200, req, MPI_STATUSES_IGNORE);
    for (i = 0; i < 200; i++)
        CHECK_EQ(in[i], left * 1000 + i);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Receives posted before anything is sent, wildcards and named ones mixed: the earliest posted
 * receive that fits takes the message. */
static void posted_first(void)
{
    int left = (mt_rank + mt_size - 1) % mt_size, right = (mt_rank + 1) % mt_size, in[6], out[6], i,
        v;
    MPI_Request req[6], sends[6];
    static const int tags[] = { 1, MPI_ANY_TAG, 2, 1, MPI_ANY_TAG, 2 };
    /* sent: tag 2 (100), 1 (101), 1 (102), 2 (103), 1 (104), 2 (105) */
    static const int sent[] = { 2, 1, 1, 2, 1, 2 };

    for (i = 0; i < 5; i++) {
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, left, tags[i], MPI_COMM_WORLD, &req[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = 0; i < 6; i++) {
        out[i] = 100 + i;
        MPI_Isend(&out[i], 1, MPI_INT, right, sent[i], MPI_COMM_WORLD, &sends[i]);
    }
    MPI_Waitall(5, req, MPI_STATUSES_IGNORE);
    MPI_Recv(&v, 1, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(6, sends, MPI_STATUSES_IGNORE);
    /* posted: [tag1] [any] [tag2] [tag1] [any]; sent 2,1,1,2,1,2:
       100->any(1) 101->tag1(0) 102->tag1(3) 103->tag2(2) 104->any(4) 105->left over */
    CHECK_EQ(in[0], 101);
    CHECK_EQ(in[1], 100);
    CHECK_EQ(in[2], 103);
    CHECK_EQ(in[3], 102);
    CHECK_EQ(in[4], 104);
    CHECK_EQ(v, 105);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    all_to_all(0, 0);
    all_to_all(0, 1);
    all_to_all(1, 0);
    all_to_all(1, 1);
    tags_backwards();
    posted_first();
    return mt_finish();
}

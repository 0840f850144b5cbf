/* large.c - every size around the protocol thresholds, up to some MiB, in both directions at once,
 * to oneself as well; sendrecv_replace; unaligned buffers. */
#include "../mt.h"

static void exchange(size_t n, int shift)
{
    int left = (mt_rank + mt_size - 1) % mt_size, right = (mt_rank + 1) % mt_size, count;
    char *out = mt_alloc(n + 8), *in = mt_alloc(n + 24);
    MPI_Status st;

    mt_fill(out + shift, n, (unsigned)mt_rank);
    memset(in, 7, n + 24);
    MPI_Sendrecv(out + shift, (int)n, MPI_BYTE, right, 1, in + 8 + shift, (int)n, MPI_BYTE, left, 1,
                 MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, MPI_BYTE, &count);
    CHECK_EQ(count, n);
    MUST(mt_wrong(in + 8 + shift, n, (unsigned)left) == -1, "sendrecv of %zu bytes: byte %ld", n,
         mt_wrong(in + 8 + shift, n, (unsigned)left));
    CHECK_EQ(in[7 + shift], 7);
    CHECK_EQ(in[8 + shift + (long)n], 7);
    MPI_Sendrecv_replace(in + 8 + shift, (int)n, MPI_BYTE, left, 2, right, 2, MPI_COMM_WORLD, &st);
    MUST(mt_wrong(in + 8 + shift, n, (unsigned)mt_rank) == -1, "sendrecv_replace of %zu bytes", n);
    CHECK_EQ(in[8 + shift + (long)n], 7);
    MPI_Sendrecv(out + shift, (int)n, MPI_BYTE, mt_rank, 3, in, (int)n, MPI_BYTE, mt_rank, 3,
                 MPI_COMM_WORLD, &st);
    MUST(mt_wrong(in, n, (unsigned)mt_rank) == -1, "to oneself, %zu bytes", n);
    free(out);
    free(in);
}

/* The receiver offers more room than comes. */
static void shorter(void)
{
    int left = (mt_rank + mt_size - 1) % mt_size, right = (mt_rank + 1) % mt_size, count;
    size_t n = 1000000;
    char *out = mt_alloc(n), *in = mt_alloc(3 * n);
    MPI_Request req;
    MPI_Status st;

    mt_fill(out, n, (unsigned)mt_rank);
    MPI_Irecv(in, (int)(3 * n), MPI_BYTE, left, 1, MPI_COMM_WORLD, &req);
    MPI_Send(out, (int)n, MPI_BYTE, right, 1, MPI_COMM_WORLD);
    MPI_Wait(&req, &st);
    MPI_Get_count(&st, MPI_BYTE, &count);
    CHECK_EQ(count, n);
    CHECK_EQ(mt_wrong(in, n, (unsigned)left), -1);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    size_t n;

    mt_init(&argc, &argv);
    for (n = 1; n <= 4u << 20; n *= 2) {
        exchange(n - 1, 0);
        exchange(n, 1);
        if (n < 2000000)
            exchange(n + 1, 3);
    }
    shorter();
    return mt_finish();
}

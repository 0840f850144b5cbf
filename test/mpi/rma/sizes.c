/* Windows of odd sizes and bases, size zero, displacement units per rank, MPI_COMM_SELF, several
 * windows on one buffer, MPI_PROC_NULL, many windows, windows made and freed by the thousand. */
#include "rw.h"

/* Every byte of a window of `bytes` bytes is written by the left neighbour and read back. */
static void whole(MPI_Win win, char *mem, int bytes, int shift)
{
    int t = (mt_rank + 1) % mt_size, from = (mt_rank + mt_size - 1) % mt_size, i;
    char *out = mt_alloc((size_t)bytes), *in = mt_alloc((size_t)bytes);

    mt_fill(out, (size_t)bytes, (unsigned)(mt_rank * 100 + bytes));
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (i = 0; i < bytes; i += 13)
        MPI_Put(out + i, bytes - i < 13 ? bytes - i : 13, MPI_BYTE, t, i, bytes - i < 13 ? bytes - i : 13, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    MUST(mt_wrong(mem, (size_t)bytes, (unsigned)(from * 100 + bytes)) == -1, "put into a window of %d bytes, base shifted by %d", bytes, shift);
    MPI_Get(in, bytes, MPI_BYTE, t, 0, bytes, MPI_BYTE, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MUST(mt_wrong(in, (size_t)bytes, (unsigned)(mt_rank * 100 + bytes)) == -1, "get from a window of %d bytes, base shifted by %d", bytes, shift);
    free(out);
    free(in);
}

static void odd(void)
{
    static const int sizes[] = { 0, 1, 7, 8, 17, 64, 100, 4095, 4097, 70001 };
    int i, shift;
    MPI_Win w;
    char *p;

    for (i = 0; i < 10; i++) {
        MPI_Win_allocate(sizes[i], 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w);
        whole(w, p, sizes[i], 0);
        MPI_Win_free(&w);
        for (shift = 0; shift < 16; shift += 5) {
            char *q = mt_alloc((size_t)sizes[i] + 16);

            MPI_Win_create(q + shift, sizes[i], 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
            whole(w, q + shift, sizes[i], shift);
            MPI_Win_free(&w);
            free(q);
        }
    }
}

/* Sizes and units differ per rank; ranks with an odd number have nothing at all. */
static void uneven(void)
{
    int unit = 1 << mt_rank % 4, n = mt_rank % 2 ? 0 : 100 + mt_rank, r, i, *count;
    MPI_Win w;
    char *p;
    MPI_Aint bytes = (MPI_Aint)n * unit;
    int64_t bad = 0;

    MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w);
    if (n)
        memset(p, 0, (size_t)bytes);
    count = mt_alloc(sizeof(int) * (size_t)mt_size);
    MPI_Allgather(&n, 1, MPI_INT, count, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w);
    for (r = 0; r < mt_size; r += 2)
        for (i = 0; i + mt_size <= count[r]; i += mt_size) {
            char c = (char)(1 + mt_rank);

            MPI_Put(&c, 1, MPI_CHAR, r, i + mt_rank, 1, MPI_CHAR, w);   /* byte 0 of unit i + rank */
            MPI_Win_flush_local(r, w);
        }
    MPI_Win_unlock_all(w);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, w);
    for (i = 0; i < n; i++)
        bad += p[i * unit] != (i < n / mt_size * mt_size ? 1 + i % mt_size : 0);
    MPI_Win_unlock(mt_rank, w);
    MUST(bad == 0, "displacement unit %d: %lld wrong", unit, (long long)bad);
    free(count);
    MPI_Win_free(&w);
}

static void self(void)
{
    MPI_Win w;
    int mem[4] = { 1, 2, 3, 4 }, v = 9, got = 0;

    MPI_Win_create(mem, sizeof mem, 4, MPI_INFO_NULL, MPI_COMM_SELF, &w);
    MPI_Win_fence(0, w);
    MPI_Put(&v, 1, MPI_INT, 0, 2, 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    CHECK_EQ(mem[2], 9);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w);
    MPI_Fetch_and_op(&v, &got, MPI_INT, 0, 1, MPI_SUM, w);
    MPI_Win_unlock(0, w);
    CHECK_EQ(got, 2);
    CHECK_EQ(mem[1], 11);
    MPI_Win_free(&w);
}

static void overlapping(void)
{
    int mem[8] = { 0 }, v, t = (mt_rank + 1) % mt_size, from = (mt_rank + mt_size - 1) % mt_size;
    MPI_Win a, b;

    MPI_Win_create(mem, sizeof mem, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &a);
    MPI_Win_create(mem + 2, 4 * sizeof *mem, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &b);
    MPI_Win_fence(0, a);
    MPI_Win_fence(0, b);
    v = 10 + mt_rank;
    MPI_Put(&v, 1, MPI_INT, t, 3, 1, MPI_INT, a);
    MPI_Win_fence(0, a);
    MPI_Put(&v, 1, MPI_INT, t, 2, 1, MPI_INT, b);
    MPI_Win_fence(0, b);
    CHECK_EQ(mem[3], 10 + from);
    CHECK_EQ(mem[4], 10 + from);
    MPI_Win_free(&b);
    MPI_Win_free(&a);
}

static void nobody(void)
{
    MPI_Win w;
    int64_t *p, v = 1, r = 5;
    MPI_Request req;

    MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w);
    MPI_Win_fence(0, w);
    MPI_Put(&v, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, w);
    MPI_Get(&r, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, w);
    MPI_Accumulate(&v, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, MPI_SUM, w);
    MPI_Fetch_and_op(&v, &r, MPI_INT64_T, MPI_PROC_NULL, 0, MPI_SUM, w);
    MPI_Compare_and_swap(&v, &v, &r, MPI_INT64_T, MPI_PROC_NULL, 0, w);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    CHECK_EQ(r, 5);
    MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, w);
    MPI_Put(&v, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, w);
    MPI_Win_flush(MPI_PROC_NULL, w);
    MPI_Win_unlock(MPI_PROC_NULL, w);
    MPI_Win_lock_all(0, w);
    MPI_Rget(&r, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, w, &req);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(w);
    MPI_Win_free(&w);
}

/* Many windows at once, then thousands one after the other; half of them with open fences. */
static void many(int turns)
{
    enum { M = 40 };
    MPI_Win w[M];
    int64_t *p[M], v;
    int i, t = (mt_rank + 1) % mt_size;

    for (i = 0; i < M; i++) {
        MPI_Win_allocate(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &p[i], &w[i]);
        MPI_Win_lock_all(0, w[i]);
    }
    for (i = 0; i < M; i++) {
        v = i * 10 + mt_rank;
        MPI_Put(&v, 1, MPI_INT64_T, t, 1, 1, MPI_INT64_T, w[i]);
        MPI_Win_flush(t, w[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = 0; i < M; i++) {
        MPI_Win_sync(w[i]);
        CHECK_EQ(p[i][1], i * 10 + (mt_rank + mt_size - 1) % mt_size);
        MPI_Win_unlock_all(w[i]);
    }
    for (i = 0; i < M; i++)
        MPI_Win_free(&w[i * 7 % M]);
    for (i = 0; i < turns; i++) {
        char mem[32];

        if (i % 2) {
            MPI_Win_create(mem, sizeof mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w[0]);
            MPI_Win_fence(MPI_MODE_NOPRECEDE, w[0]);
        } else
            MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &p[0], &w[0]);
        MPI_Win_free(&w[0]);
        CHECK(w[0] == MPI_WIN_NULL);
    }
}

int main(int argc, char **argv)
{
    int turns = argc > 1 ? atoi(argv[1]) : 500;

    mt_init(&argc, &argv);
    odd();
    uneven();
    self();
    overlapping();
    nobody();
    many(turns);
    return mt_finish();
}

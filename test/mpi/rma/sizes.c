/* sizes.c - windows of odd sizes and bases, size zero, displacement units per rank, MPI_COMM_SELF,
 * several windows on one buffer, MPI_PROC_NULL, many windows, windows made and freed by the
 * thousand. */
#include "rw.h"

/* Every byte of a window of `bytes` bytes is written by the left neighbour and read back. */
static void whole(MPI_Win win, char *mem, int bytes, int shift)
{
    int t = (mt_rank + 1) % mt_size, from = (mt_rank + mt_size - 1) % mt_size, i;
    char *out = mt_alloc((size_t)bytes), *in = mt_alloc((size_t)bytes);

    mt_fill(out, (size_t)bytes, (unsigned)(mt_rank * 100 + bytes));
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (i = 0; i < bytes; i += 13)
        MPI_Put(out + i, bytes - i < 13 ? bytes - i : 13, MPI_BYTE, t, i,
                bytes - i < 13 ? bytes - i : 13, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    MUST(mt_wrong(mem, (size_t)bytes, (unsigned)(from * 100 + bytes)) == -1,
         "put into a window of %d bytes, base shifted by %d", bytes, shift);
    MPI_Get(in, bytes, MPI_BYTE, t, 0, bytes, MPI_BYTE, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MUST(mt_wrong(in, (size_t)bytes, (unsigned)(mt_rank * 100 + bytes)) == -1,
         "get from a window of %d bytes, base shifted by %d", bytes, shift);
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

            MPI_Put(&c, 1, MPI_CHAR, r, i + mt_rank, 1, MPI_CHAR, w); /* byte 0 of unit i + rank */
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
    MPI_Win_fence(MPI_MODE_NOSUCCEED, a);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, b);
    MPI_Win_free(&b);
    MPI_Win_free(&a);
}

/* The same memory twice as a window and once attached: what one has completed the others see, under
 * either lock. */
static void shared_memory(int alloc)
{
    int64_t *mem, v = mt_rank + 1, got, sum = 0;
    MPI_Win w[3];
    MPI_Aint here, at[64];
    int k, t, r;

    if (mt_size > 64)
        return;
    if (alloc)
        MPI_Alloc_mem(64, MPI_INFO_NULL, &mem);
    else
        mem = mt_alloc(64);
    memset(mem, 0, 64);
    MPI_Win_create(mem, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w[0]);
    MPI_Win_create(mem + 1, 48, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &w[1]);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w[2]);
    MPI_Win_attach(w[2], mem, 64);
    MPI_Get_address(mem, &here);
    MPI_Allgather(&here, 1, MPI_AINT, at, 1, MPI_AINT, MPI_COMM_WORLD);
    for (r = 0; r < mt_size; r++)
        sum += r + 1;
    for (k = 0; k < 3; k++) {                /* each adds through another window, in turn */
        for (t = 0; t < mt_size; t++) {
            MPI_Aint d = k == 0 ? 16 : k == 1 ? 1 : at[t] + 16;

            MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w[k]);
            MPI_Accumulate(&v, 1, MPI_INT64_T, t, d, 1, MPI_INT64_T, MPI_SUM, w[k]);
            MPI_Win_unlock(t, w[k]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (t = 0; t < mt_size; t++) {
            int other = (k + 1) % 3;
            MPI_Aint d = other == 0 ? 16 : other == 1 ? 1 : at[t] + 16;

            MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w[other]);
            MPI_Get(&got, 1, MPI_INT64_T, t, d, 1, MPI_INT64_T, w[other]);
            MPI_Win_unlock(t, w[other]);
            CHECK_EQ(got, (k + 1) * sum);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_detach(w[2], mem);
    for (k = 0; k < 3; k++)
        MPI_Win_free(&w[k]);
    CHECK_EQ(mem[2], 3 * sum);
    if (alloc)
        MPI_Free_mem(mem);
    else
        free(mem);
}

static void no_target(void)
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

/* Operations of no elements are checked as others are. */
static void nothing(void)
{
    int v = 0, mem[4] = { 0 }, to = (mt_rank + 1) % mt_size;
    MPI_Win w;

    MPI_Win_create(mem, sizeof mem, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    CHECK_EQ(mt_class(MPI_Put(&v, 0, MPI_INT, to, 0, 0, MPI_INT, w)), MPI_ERR_RMA_SYNC);
    CHECK_EQ(mt_class(MPI_Get(&v, 0, MPI_INT, to, 0, 0, MPI_INT, w)), MPI_ERR_RMA_SYNC);
    CHECK_EQ(mt_class(MPI_Accumulate(&v, 0, MPI_INT, to, 0, 0, MPI_INT, MPI_SUM, w)),
             MPI_ERR_RMA_SYNC);
    MPI_Win_lock_all(0, w);
    CHECK_EQ(MPI_Put(&v, 0, MPI_INT, to, 0, 0, MPI_INT, w), MPI_SUCCESS);
    CHECK_EQ(MPI_Get(&v, 0, MPI_INT, to, 9, 0, MPI_INT, w), MPI_SUCCESS);
    CHECK_EQ(MPI_Accumulate(&v, 0, MPI_INT, to, 0, 0, MPI_INT, MPI_SUM, w), MPI_SUCCESS);
    CHECK_EQ(mt_class(MPI_Put(&v, 0, MPI_INT, mt_size, 0, 0, MPI_INT, w)), MPI_ERR_RANK);
    CHECK_EQ(mt_class(MPI_Put(&v, 0, MPI_INT, to, -1, 0, MPI_INT, w)), MPI_ERR_DISP);
    CHECK_EQ(mt_class(MPI_Get(&v, 0, MPI_INT, to, -1, 0, MPI_INT, w)), MPI_ERR_DISP);
    CHECK_EQ(mt_class(MPI_Put(&v, 0, MPI_DATATYPE_NULL, to, 0, 0, MPI_DATATYPE_NULL, w)),
             MPI_ERR_TYPE);
    CHECK_EQ(mt_class(MPI_Accumulate(&v, 0, MPI_INT, to, -1, 0, MPI_INT, MPI_SUM, w)),
             MPI_ERR_DISP);
    CHECK_EQ(mt_class(MPI_Accumulate(&v, 0, MPI_INT, to, 0, 0, MPI_INT, MPI_OP_NULL, w)),
             MPI_ERR_OP);
    CHECK_EQ(mt_class(MPI_Accumulate(&v, 0, MPI_INT, to, 0, 0, MPI_INT, MPI_NO_OP, w)),
             MPI_ERR_OP);
    MPI_Win_unlock_all(w);
    MPI_Win_free(&w);
}

int main(int argc, char **argv)
{
    int turns = argc > 1 ? atoi(argv[1]) : 500;

    mt_init(&argc, &argv);
    odd();
    uneven();
    self();
    overlapping();
    shared_memory(0);
    shared_memory(1);
    no_target();
    many(turns);
    nothing();
    return mt_finish();
}

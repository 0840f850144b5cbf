/* dynamic.c - dynamic windows: many regions, attach and detach during an epoch, memory that is
 * detached and attached again elsewhere, MPI_BOTTOM and absolute addresses. (rma.md, section 5,
 * number 9) */
#include "rw.h"

static int left, right;

/* Hundreds of regions, none adjacent; each is written by the left neighbour. */
static void regions(MPI_Win w, int n)
{
    int64_t **p = mt_alloc(sizeof *p * (size_t)n), v;
    MPI_Aint *mine = mt_alloc(sizeof *mine * (size_t)n),
             *theirs = mt_alloc(sizeof *theirs * (size_t)n);
    int i, bad = 0;

    for (i = 0; i < n; i++) {
        p[i] = mt_alloc((size_t)(8 * (1 + i % 5)));
        memset(p[i], 0, (size_t)(8 * (1 + i % 5)));
        MPI_Win_attach(w, p[i], 8 * (1 + i % 5));
        MPI_Get_address(p[i] + i % 5, &mine[i]);
    }
    MPI_Sendrecv(mine, n, MPI_AINT, left, 1, theirs, n, MPI_AINT, right, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w);
    for (i = 0; i < n; i++) {
        v = mt_rank * 10000 + i;
        MPI_Put(&v, 1, MPI_INT64_T, right, theirs[i], 1, MPI_INT64_T, w);
        MPI_Win_flush_local(right, w);
    }
    MPI_Win_unlock(right, w);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, w);
    for (i = 0; i < n; i++)
        bad += p[i][i % 5] != left * 10000 + i;
    MPI_Win_unlock(mt_rank, w);
    MUST(bad == 0, "%d regions: %d wrong", n, bad);
    for (i = 0; i < n; i++)                  /* 7 has no factor in common with n: each once */
        MPI_Win_detach(w, p[i * 7 % n]);
    for (i = 0; i < n; i++)
        free(p[i]);
    free(p), free(mine), free(theirs);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The target moves its memory while the origin stays in its epoch: what the origin has cached about
 * the old place must not be used.  The memory goes back to the same and to another address, and is
 * a fresh mapping each time. */
static void moves(MPI_Win w)
{
    int k;
    int64_t v, got, *mem = NULL;
    MPI_Aint at = 0, theirs;

    MPI_Win_lock_all(0, w);
    for (k = 0; k < 40; k++) {
        size_t n = k % 4 == 3 ? 1u << 20 : 16;

        mem = mt_alloc(8 * n);
        memset(mem, 0, 8 * n);
        MPI_Win_attach(w, mem, (MPI_Aint)(8 * n));
        MPI_Get_address(mem + n - 1, &at);
        MPI_Sendrecv(&at, 1, MPI_AINT, left, 1, &theirs, 1, MPI_AINT, right, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        v = mt_rank * 100 + k;
        if (k % 3 == 0)
            MPI_Accumulate(&v, 1, MPI_INT64_T, right, theirs, 1, MPI_INT64_T, MPI_SUM, w);
        else
            MPI_Put(&v, 1, MPI_INT64_T, right, theirs, 1, MPI_INT64_T, w);
        MPI_Win_flush(right, w);
        MPI_Get(&got, 1, MPI_INT64_T, right, theirs, 1, MPI_INT64_T, w);
        MPI_Win_flush(right, w);
        CHECK_EQ(got, v);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(w);
        CHECK_EQ(mem[n - 1], left * 100 + k);
        MPI_Win_detach(w, mem);
        free(mem);
        if (k % 5 == 0) {                     /* detach and attach again at the same place */
            int64_t here = 0;

            MPI_Win_attach(w, &here, 8);
            MPI_Win_detach(w, &here);
            MPI_Win_attach(w, &here, 8);
            MPI_Win_detach(w, &here);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(w);
}

/* A type with absolute addresses at the target, and MPI_BOTTOM at the origin. */
static void absolute(MPI_Win w)
{
    int64_t mem[8] = { 0 }, src[3] = { 1, 2, 3 }, i;
    MPI_Aint d[3], far[3], o[3];
    MPI_Datatype origin, target;

    MPI_Win_attach(w, mem, sizeof mem);
    MPI_Get_address(&mem[6], &d[0]);
    MPI_Get_address(&mem[1], &d[1]);
    MPI_Get_address(&mem[3], &d[2]);
    MPI_Sendrecv(d, 3, MPI_AINT, left, 1, far, 3, MPI_AINT, right, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (i = 0; i < 3; i++) {
        src[i] += mt_rank * 10;
        MPI_Get_address(&src[i], &o[i]);
    }
    MPI_Type_create_hindexed_block(3, 1, o, MPI_INT64_T, &origin);
    MPI_Type_create_hindexed_block(3, 1, far, MPI_INT64_T, &target);
    MPI_Type_commit(&origin);
    MPI_Type_commit(&target);
    MPI_Win_fence(0, w);
    MPI_Put(MPI_BOTTOM, 1, origin, right, 0, 1, target, w);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    for (i = 0; i < 8; i++)
        CHECK_EQ(mem[i], i == 6   ? left * 10 + 1
                         : i == 1 ? left * 10 + 2
                         : i == 3 ? left * 10 + 3
                                  : 0);
    MPI_Type_free(&origin);
    MPI_Type_free(&target);
    MPI_Win_detach(w, mem);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One type over several regions with memory between them that is not attached, for every kind of
 * operation, at the neighbour and at oneself; then with one block in the gap: an error, and nothing
 * outside the regions is touched. */
static void pieces(MPI_Win w)
{
    enum { P = 40, STEP = 64 };             /* more blocks than a look takes at once */
    static int64_t mem[P * STEP];
    int64_t one[P], got[P], i, k;
    int e1, e2, target, ints[P];
    MPI_Aint d[P + 1], far[P + 1], *to;
    MPI_Datatype layout, wrong;

    memset(mem, 0, sizeof mem);
    for (i = 0; i < P; i++) {
        MPI_Win_attach(w, &mem[i * STEP], 16);
        MPI_Get_address(&mem[i * STEP + 1], &d[i]);
        one[i] = i + 1;
        ints[i] = 1;
    }
    MPI_Get_address(&mem[5 * STEP + 7], &d[P]);
    MPI_Sendrecv(d, P + 1, MPI_AINT, left, 1, far, P + 1, MPI_AINT, right, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (k = 0; k < 2; k++) {
        target = k ? mt_rank : right;
        to = k ? d : far;
        MPI_Type_create_hindexed_block(P, 1, to, MPI_INT64_T, &layout);
        MPI_Type_commit(&layout);
        MPI_Win_fence(0, w);
        MPI_Put(one, P, MPI_INT64_T, target, 0, 1, layout, w);
        MPI_Win_fence(0, w);
        MPI_Accumulate(one, P, MPI_INT64_T, target, 0, 1, layout, MPI_SUM, w);
        MPI_Win_fence(0, w);
        MPI_Get(got, P, MPI_INT64_T, target, 0, 1, layout, w);
        MPI_Win_fence(0, w);
        for (i = 0; i < P; i++)
            CHECK_EQ(got[i], 2 * (i + 1));
        MPI_Get_accumulate(one, P, MPI_INT64_T, got, P, MPI_INT64_T, target, 0, 1, layout,
                           MPI_REPLACE, w);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
        for (i = 0; i < P; i++)
            CHECK_EQ(got[i], 2 * (i + 1));
        MPI_Type_free(&layout);
    }
    for (i = 0; i < P * STEP; i++)
        CHECK_EQ(mem[i], i % STEP == 1 ? i / STEP + 1 : 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    for (k = 0; k < 2; k++) {
        target = k ? mt_rank : right;
        to = k ? d : far;
        /* the last one lies in a gap */
        MPI_Type_create_hindexed(P, ints, to + 1, MPI_INT64_T, &wrong);
        MPI_Type_commit(&wrong);
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w);
        e1 = MPI_Put(one, P, MPI_INT64_T, target, 0, 1, wrong, w);
        e2 = MPI_Win_unlock(target, w);
        MUST(mt_class(e1) == MPI_ERR_RMA_RANGE || mt_class(e2) == MPI_ERR_RMA_RANGE,
             "a block in a gap: classes %d and %d", mt_class(e1), mt_class(e2));
        MPI_Type_free(&wrong);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_set_errhandler(w, MPI_ERRORS_ARE_FATAL);
    for (i = 0; i < P * STEP; i++)
        CHECK(i % STEP == 1 || mem[i] == 0);
    for (i = 0; i < P; i++)
        MPI_Win_detach(w, &mem[i * STEP]);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Win w;

    mt_init(&argc, &argv);
    right = (mt_rank + 1) % mt_size;
    left = (mt_rank + mt_size - 1) % mt_size;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    regions(w, 10);
    regions(w, argc > 1 ? atoi(argv[1]) : 1500);
    moves(w);
    absolute(w);
    pieces(w);
    MPI_Win_free(&w);
    return mt_finish();
}

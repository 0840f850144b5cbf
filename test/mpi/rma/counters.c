/* counters.c - counters in a window whose elements go by the processor's atomics (info
 * mpi_accumulate_granularity): every rank uses every rank's, its own included, so that near, own,
 * message and native accumulates meet on the same words. What is fetched and added agrees in any
 * order, nothing is lost, a lock made of compare_and_swap excludes. With the argument "native" some
 * rank must have used the network's own atomics. */
#include "pv.h"

enum {
    FETCHED, SUM, SUM32, BITS, MOST, TICKET, LOCK, GUARDED, CELLS, WORDS = CELLS + 8, ROUNDS = 60,
    LOCKED = 15
};

struct use {
    MPI_Win win;
    int64_t *mem;
    int rank, size;
};

static MPI_Win window(int ordered, int64_t **mem)
{
    MPI_Info info;
    MPI_Win win;

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_accumulate_granularity", "8");
    if (!ordered)
        MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Win_allocate(WORDS * sizeof **mem, sizeof **mem, info, MPI_COMM_WORLD, mem, &win);
    MPI_Info_free(&info);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mt_rank, 0, win);
    memset(*mem, 0, WORDS * sizeof **mem);
    MPI_Win_unlock(mt_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

/* With x before an addition of v, the sum of x * v over all additions to a word is half of (total^2
 * - sum of v^2). */
static void fetched(struct use *u)
{
    int64_t sums[3] = {0}, all[3], v, x;
    int i, t;

    for (i = 0; i < ROUNDS; i++)
        for (t = 0; t < u->size; t++) {
            v = 1 + (i * 7 + u->rank) % 13;
            MPI_Fetch_and_op(&v, &x, MPI_INT64_T, t, FETCHED, MPI_SUM, u->win);
            MPI_Win_flush(t, u->win);
            if (t == 0) {
                sums[0] += v;
                sums[1] += v * x;
                sums[2] += v * v;
            }
        }
    MPI_Allreduce(sums, all, 3, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(2 * all[1], all[0] * all[0] - all[2]);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(u->mem[FETCHED], all[0]); /* all have done the same at each */
}

/* Bursts without a flush between, by operations of which the network knows some only. */
static void bursts(struct use *u)
{
    int64_t one[ROUNDS], big[ROUNDS], want = (int64_t)ROUNDS * u->size, old;
    int32_t one32[ROUNDS];
    MPI_Request req;
    int i, t;

    for (i = 0; i < ROUNDS; i++) {
        one[i] = 1;
        one32[i] = 1;
        big[i] = i * u->size + u->rank;
        for (t = 0; t < u->size; t++) {
            MPI_Accumulate(&one[i], 1, MPI_INT64_T, t, SUM, 1, MPI_INT64_T, MPI_SUM, u->win);
            MPI_Accumulate(&one32[i], 1, MPI_INT32_T, t, SUM32, 1, MPI_INT32_T, MPI_SUM, u->win);
            MPI_Accumulate(&big[i], 1, MPI_INT64_T, t, MOST, 1, MPI_INT64_T, MPI_MAX, u->win);
            MPI_Accumulate(&one[i], 1, MPI_INT64_T, t, BITS, 1, MPI_INT64_T, MPI_BXOR, u->win);
        }
        if (i % 10 == 0) {
            t = (u->rank + 1) % u->size;
            MPI_Rget_accumulate(NULL, 0, MPI_INT64_T, &old, 1, MPI_INT64_T, t, SUM, 1, MPI_INT64_T,
                                MPI_NO_OP, u->win, &req);
            MPI_Wait(&req, MPI_STATUS_IGNORE);
            CHECK(old >= 0 && old <= want);
        }
    }
    MPI_Win_flush_all(u->win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(u->win);
    CHECK_EQ(u->mem[SUM], want);
    CHECK_EQ(*(int32_t *)(void *)&u->mem[SUM32], want);
    CHECK_EQ(u->mem[MOST], want - 1);
    CHECK_EQ(u->mem[BITS], want % 2);
}

/* In order, whatever way each of them takes: only this rank uses its cell. */
static void in_order(struct use *u)
{
    int64_t v[4], back, add = 5;
    int i, t, cell = CELLS + u->rank % 8;

    for (i = 0; i < ROUNDS && u->size <= 8; i++) {
        t = (u->rank + i) % u->size;
        v[0] = 1000 * i;
        v[1] = v[0] + 7;
        MPI_Accumulate(&v[0], 1, MPI_INT64_T, t, cell, 1, MPI_INT64_T, MPI_REPLACE, u->win);
        if (i % 3 == 0)
            MPI_Win_flush_local(t, u->win);
        MPI_Accumulate(&v[1], 1, MPI_INT64_T, t, cell, 1, MPI_INT64_T,
                       i % 2 ? MPI_REPLACE : MPI_MAX, u->win);
        if (i % 3 == 1)
            MPI_Win_flush_local(t, u->win);
        MPI_Fetch_and_op(&add, &back, MPI_INT64_T, t, cell, MPI_SUM, u->win);
        MPI_Win_flush(t, u->win);
        CHECK_EQ(back, v[1]);
    }
}

static void tickets_and_lock(struct use *u)
{
    int64_t seen = 0, next, got, mine = u->rank + 1, zero = 0, v;
    int i;

    for (i = 0; i < ROUNDS; i++)
        for (;;) {
            next = seen + 1;
            MPI_Compare_and_swap(&next, &seen, &got, MPI_INT64_T, 0, TICKET, u->win);
            MPI_Win_flush(0, u->win);
            if (got == seen)
                break;
            seen = got;
        }
    for (i = 0; i < LOCKED; i++) {
        do {
            MPI_Compare_and_swap(&mine, &zero, &got, MPI_INT64_T, 0, LOCK, u->win);
            MPI_Win_flush(0, u->win);
        } while (got);
        MPI_Get(&v, 1, MPI_INT64_T, 0, GUARDED, 1, MPI_INT64_T, u->win);
        MPI_Win_flush(0, u->win);
        v++;
        MPI_Put(&v, 1, MPI_INT64_T, 0, GUARDED, 1, MPI_INT64_T, u->win);
        MPI_Win_flush(0, u->win);
        MPI_Fetch_and_op(&zero, &got, MPI_INT64_T, 0, LOCK, MPI_REPLACE, u->win);
        MPI_Win_flush(0, u->win);
        CHECK_EQ(got, mine);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(u->win);
    CHECK_EQ(u->mem[TICKET], u->rank ? 0 : (int64_t)ROUNDS * u->size);
    CHECK_EQ(u->mem[GUARDED], u->rank ? 0 : (int64_t)LOCKED * u->size);
}

int main(int argc, char **argv)
{
    long long native = 0, all;
    int ordered;
    struct use u;

    mt_init(&argc, &argv);
    pv_begin();
    for (ordered = 0; ordered < 2; ordered++) {
        u.rank = mt_rank;
        u.size = mt_size;
        u.win = window(ordered, &u.mem);
        MPI_Win_lock_all(0, u.win);
        fetched(&u);
        bursts(&u);
        if (ordered)
            in_order(&u);
        tickets_and_lock(&u);
        MPI_Win_unlock_all(u.win);
        native = pv_read(u.win, "rma_route_native");
        MPI_Allreduce(&native, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (argc > 1 && !strcmp(argv[1], "native"))
            MUST(all > ROUNDS, "%s: only %lld accumulates by the network's own",
                 ordered ? "in order" : "without order", all);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_free(&u.win);
    }
    MPI_T_finalize();
    return mt_finish();
}

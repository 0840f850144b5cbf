/* shared.c - MPI_Win_allocate_shared: layout, queries, loads and stores with MPI_Win_sync, beside
 * one-sided calls; the two litmus tests of a flush (message passing, store buffering). (rma.md,
 * section 4; section 5, number 13) */
#include "rw.h"
#include <sched.h>
#include <stdatomic.h>

static MPI_Comm node;
static int rank, size;

static void layout(int noncontig)
{
    MPI_Win w;
    MPI_Info info;
    MPI_Aint bytes, want = 8 * (rank % 3), got;
    int unit, r, first = -1, model;
    char *base, *p, *prev = NULL;
    int *m, flag;

    MPI_Info_create(&info);
    if (noncontig)
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared(want, rank + 1, info, node, &base, &w);
    MPI_Info_free(&info);
    MPI_Win_get_attr(w, MPI_WIN_MODEL, &m, &flag);
    model = flag ? *m : -1;
    CHECK_EQ(model, MPI_WIN_UNIFIED);
    MPI_Win_get_attr(w, MPI_WIN_CREATE_FLAVOR, &m, &flag);
    CHECK(flag && *m == MPI_WIN_FLAVOR_SHARED);
    for (r = 0; r < size; r++) {
        MPI_Win_shared_query(w, r, &got, &unit, &p);
        CHECK_EQ(got, 8 * (r % 3));
        CHECK_EQ(unit, r + 1);
        if (got && first < 0)
            first = r;
        if (got && !noncontig) {
            if (prev)
                CHECK(p == prev);              /* no padding, also across ranks with nothing */
            prev = p + got;
        }
        if (got)
            p[0] = p[0];
    }
    MPI_Win_shared_query(w, MPI_PROC_NULL, &got, &unit, &p);
    if (first >= 0) {
        char *q;

        CHECK_EQ(got, 8 * (first % 3));
        MPI_Win_shared_query(w, first, &bytes, &unit, &q);
        CHECK(p == q);
    } else
        CHECK_EQ(got, 0);
    if (want) {
        MPI_Win_shared_query(w, rank, &got, &unit, &p);
        CHECK(p == base);
        memset(base, rank + 1, (size_t)want);
    }
    MPI_Win_fence(0, w);
    for (r = 0; r < size; r++) {
        MPI_Win_shared_query(w, r, &got, &unit, &p);
        if (got)
            CHECK(p[0] == r + 1 && p[got - 1] == r + 1);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    MPI_Win_free(&w);
}

/* Loads and stores see puts and the other way round. */
static void mixed(void)
{
    MPI_Win w;
    int64_t *base, *next, v, got;
    MPI_Aint bytes;
    int unit, k, t = (rank + 1) % size, from = (rank + size - 1) % size;

    MPI_Win_allocate_shared(64, 8, MPI_INFO_NULL, node, &base, &w);
    MPI_Win_shared_query(w, t, &bytes, &unit, &next);
    MPI_Win_lock_all(0, w);
    for (k = 0; k < 100; k++) {
        next[0] = rank * 1000 + k;                /* store into the neighbour's part */
        MPI_Win_sync(w);
        v = rank * 2000 + k;
        MPI_Put(&v, 1, MPI_INT64_T, t, 1, 1, MPI_INT64_T, w);
        MPI_Win_flush(t, w);
        MPI_Barrier(node);
        MPI_Win_sync(w);
        CHECK_EQ(base[0], from * 1000 + k);
        CHECK_EQ(base[1], from * 2000 + k);
        MPI_Get(&got, 1, MPI_INT64_T, t, 0, 1, MPI_INT64_T, w);
        MPI_Win_flush(t, w);
        CHECK_EQ(got, rank * 1000 + k);
        MPI_Barrier(node);
    }
    MPI_Win_unlock_all(w);
    MPI_Win_free(&w);
}

/* Message passing: data, flush, flag; a process that sees the flag sees the data. Store
 * buffering: put x, flush, get y against put y, flush, get x: not both may read the old value. */
static void litmus(int rounds)
{
    MPI_Win w;
    int64_t *base, *other, v, r[2], both;
    MPI_Aint bytes;
    int unit, k, spins;

    if (size < 2 || rank > 1) {
        MPI_Win_allocate_shared(128, 8, MPI_INFO_NULL, node, &base, &w);
        for (k = 0; k < rounds; k++) {
            MPI_Barrier(node);
            MPI_Barrier(node);
        }
        MPI_Win_free(&w);
        return;
    }
    MPI_Win_allocate_shared(128, 8, MPI_INFO_NULL, node, &base, &w);
    memset(base, 0, 128);
    MPI_Win_shared_query(w, 1 - rank, &bytes, &unit, &other);
    MPI_Win_lock_all(0, w);
    for (k = 1; k <= rounds; k++) {
        /* cells: 0 = x (mine), 8 = data, 9 = flag, each in the memory of its owner */
        base[0] = 0;
        MPI_Win_sync(w);
        MPI_Barrier(node);
        v = k;
        if (rank == 0) {
            int64_t d = 3 * k;

            MPI_Put(&d, 1, MPI_INT64_T, 1, 8, 1, MPI_INT64_T, w);
            MPI_Win_flush(1, w);
            MPI_Accumulate(&v, 1, MPI_INT64_T, 1, 9, 1, MPI_INT64_T, MPI_REPLACE, w);
            MPI_Win_flush(1, w);
        } else {
            spins = 0;
            do {
                MPI_Fetch_and_op(NULL, &r[0], MPI_INT64_T, 1, 9, MPI_NO_OP, w);
                MPI_Win_flush(1, w);
                if (++spins % 64 == 0)
                    sched_yield();
            } while (r[0] < k);
            MPI_Get(&r[1], 1, MPI_INT64_T, 1, 8, 1, MPI_INT64_T, w);
            MPI_Win_flush(1, w);
            CHECK_EQ(r[1], 3 * k);
        }
        v = 1;
        MPI_Put(&v, 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T, w);
        MPI_Win_flush(rank, w);
        MPI_Get(&r[0], 1, MPI_INT64_T, 1 - rank, 0, 1, MPI_INT64_T, w);
        MPI_Win_flush(1 - rank, w);
        r[1] = -1;
        MPI_Sendrecv(&r[0], 1, MPI_INT64_T, 1 - rank, 3, &r[1], 1, MPI_INT64_T, 1 - rank, 3, node,
                     MPI_STATUS_IGNORE);
        both = r[0] + r[1];
        MUST(both > 0, "round %d: put x, flush, get y and put y, flush, get x both read 0", k);
        MPI_Barrier(node);
    }
    MPI_Win_unlock_all(w);
    MPI_Win_free(&w);
}

/* Windows of the other flavours return what this process can load and store (MPI-4.1 12.2.3): its
 * own memory always, a peer's where it is mapped, as that of MPI_Alloc_mem and MPI_Win_allocate is
 * on a node; else size 0 and NULL. */
static void other_flavours(int bytes)
{
    int how, r, unit, prev = (rank + size - 1) % size;
    MPI_Aint got;
    char *mem, *p, *heap = mt_alloc(bytes);
    MPI_Win w;

    for (how = 0; how < 3; how++) {
        if (how == 0)
            MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, node, &mem, &w);
        else {
            mem = heap;
            if (how == 1)
                MPI_Alloc_mem(bytes, MPI_INFO_NULL, &mem);
            MPI_Win_create(mem, bytes, 4, MPI_INFO_NULL, node, &w);
        }
        mem[7] = 0;
        for (r = 0; r < size; r++) {
            p = (char *)&got;
            MPI_Win_shared_query(w, r, &got, &unit, &p);
            if (r == rank)
                CHECK(p == mem);
            if (r == rank || how < 2)
                CHECK(got == bytes && unit == 4 && p);
            else
                CHECK((got == bytes && p) || (got == 0 && !p)); /* MPIR_CVAR_RMA_MOVE_MIN maps it */
        }
        MPI_Win_shared_query(w, MPI_PROC_NULL, &got, &unit, &p);
        CHECK(got == bytes && unit == 4 && p);
        if (how < 2 || rank == 0)
            CHECK((p == mem) == (rank == 0));
        MPI_Win_lock_all(0, w);
        MPI_Barrier(node);
        MPI_Win_shared_query(w, (rank + 1) % size, &got, &unit, &p);
        if (p)
            p[7] = (char)(rank + 1);
        MPI_Win_sync(w);
        MPI_Barrier(node);
        MPI_Win_sync(w);
        if (how < 2)
            CHECK_EQ(mem[7], prev + 1);
        MPI_Win_unlock_all(w);
        MPI_Win_free(&w);
        if (how == 1)
            MPI_Free_mem(mem);
    }
    free(heap);
}

/* Loads behind the call that opens an epoch see what the owner stored before it exposed its memory:
 * at START its post has been seen, at an opening fence it has arrived.  The others are late, so
 * that rank 0 reads too early if it does not wait.  An allocated window is queried inside its first
 * epoch. */
static void late(void)
{
    double since = MPI_Wtime();

    while (MPI_Wtime() - since < 2e-3)
        ;
}

static void read_all(MPI_Win w, int n, int want, const char *behind)
{
    MPI_Aint bytes;
    int r, unit, *p;

    for (r = 1; r < n; r++) {
        MPI_Win_shared_query(w, r, &bytes, &unit, &p);
        if (p) /* else it is far */
            MUST(*(volatile int *)p == want, "%s: %d of rank %d, not %d", behind,
                 *(volatile int *)p, r, want);
    }
}

static void opened(MPI_Comm comm, int shared)
{
    enum { ROUNDS = 20 };
    int k, n, me, *mine, zero = 0;
    MPI_Group all, g;
    MPI_Win w;

    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    MPI_Comm_group(comm, &all);
    if (me)
        MPI_Group_incl(all, 1, &zero, &g);
    else
        MPI_Group_excl(all, 1, &zero, &g); /* near, far or both; empty where rank 0 is alone */
    for (int fence = 0; fence < 2; fence++) {
        if (shared)
            MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &mine, &w);
        else
            MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &mine, &w);
        for (k = 1; k <= ROUNDS; k++) {
            int nocheck = !fence && k % 4 == 0 ? MPI_MODE_NOCHECK : 0;

            if (me) {
                late();
                *mine = k;
            }
            if (fence)
                MPI_Win_fence(MPI_MODE_NOPRECEDE, w);
            else if (me)
                MPI_Win_post(g, nocheck, w);
            if (nocheck)
                /* what makes NOCHECK legal: no post comes that START could wait for */
                MPI_Barrier(comm);
            if (!fence && !me)
                MPI_Win_start(g, nocheck, w);
            if (!me)
                read_all(w, n, k,
                         fence     ? "fence(NOPRECEDE)"
                         : nocheck ? "start(NOCHECK)"
                                   : "start");
            if (fence)
                MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
            else if (me)
                MPI_Win_wait(w);
            else
                MPI_Win_complete(w);
        }
        MPI_Win_free(&w);
    }
    MPI_Group_free(&g);
    MPI_Group_free(&all);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    layout(0);
    layout(1);
    mixed();
    other_flavours(1 << 17);
    other_flavours(64);
    opened(node, 1);
    opened(node, 0);
    opened(MPI_COMM_WORLD, 0);
    litmus(argc > 1 ? atoi(argv[1]) : 2000);
    MPI_Comm_free(&node);
    return mt_finish();
}

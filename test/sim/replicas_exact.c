/* replicas_exact.c - windows with copies, one step at a time: what a call sends, what it waits for,
 * and what is in a copy then. The copy is read where it lies: ranks are fibers of one process. */
#include "scripted.h"

enum { PUT = AM_RMA + RMA_PKT_PUT, COPY = AM_RMA + RMA_PKT_COPY };
enum { WHILE = 600 }; /* steps in which a message arrives */

static const struct rma_replicas *kept[SIM_RANKS];

/* A window with k copies of each part; each member is on a node of its own. */
static struct job copied(MPI_Comm c, const char *k)
{
    struct job j = {.comm = c};
    MPI_Info info;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Comm_rank(c, &j.rank);
    MPI_Comm_size(c, &j.size);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpix_win_replicas", k));
    OK(MPI_Win_allocate(4 * sizeof(long), sizeof(long), info, c, &j.mem, &j.win));
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(j.win, MPI_ERRORS_RETURN);
    memset(j.mem, 0, 4 * sizeof(long));
    kept[j.rank] = inside(j.win)->replicas;
    MPI_Barrier(c);
    return j;
}

/* Of ranks 0 to 2; rank 3 has none. */
static struct job three_copied(int *bystander)
{
    struct job j = {.rank = -1};
    MPI_Comm c;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 3 ? MPI_UNDEFINED : 0, rank, &c);
    *bystander = rank == 3;
    return *bystander ? j : copied(c, "1");
}

/* Copy i of that part; what its word 0 is now. */
static const long *copy_at(int owner, int i)
{
    const struct rma_replicas *x = kept[owner];
    const struct rma_place *p = &x->place[owner * x->k + i];
    return (const long *)(const void *)(kept[p->rank]->base + p->at);
}

static long copy(int owner, int i)
{
    return *copy_at(owner, i);
}

static int keeper(int owner, int i)
{
    return kept[owner]->place[owner * kept[owner]->k + i].rank;
}

/* --- without a failure ----------------------------------------------------------------------- */

/* A put is one packet to the owner and one to each keeper, which each answers once: with the flush
 * of one rank both are under way, and that of all asks both, too. A get goes to the owner only. */
static void put_exactly(void *arg)
{
    struct job j = copied(MPI_COMM_WORLD, "2");
    long v = 5, got = 0;
    (void)arg;
    OK(MPI_Win_lock_all(0, j.win));
    if (j.rank == 0) {
        put1(&j, &v, 1, 0); /* LOCK */
        OK(MPI_Win_flush(1, j.win));
        for (int all = 0; all < 2; all++) {
            struct counts c = mark(0), owner = mark(1), one = mark(2), other = mark(3);
            v++;
            put1(&j, &v, 1, 0);
            OK(all ? MPI_Win_flush_all(j.win) : MPI_Win_flush(1, j.win));
            SENT(&c, 3, PUT);
            SENT(&owner, 1, ACK);
            SENT(&one, 1, ACK);
            SENT(&other, 1, ACK);
            SIM_CHECK(copy(1, 0) == v && copy(1, 1) == v);
        }
        struct counts c = mark(0);
        OK(MPI_Get(&got, 1, MPI_LONG, 1, 0, 1, MPI_LONG, j.win));
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(got == v && since_all(&c) == 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_unlock_all(j.win));
    OK(MPI_Win_free(&j.win));
}

/* Rank 3 asks for the lock of rank 1 and puts, while rank 0 has it: the copy changes as the part
 * does. */
static void put_behind_lock(void *arg)
{
    struct job j = copied(MPI_COMM_WORLD, "1");
    long first = 7, last = 8, other = 9;
    (void)arg;
    if (j.rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        put1(&j, &first, 1, 0);
        OK(MPI_Win_flush(1, j.win));
        tell(3);
        sim_compute(WHILE);
        SIM_CHECK(copy(1, 0) == first);
        put1(&j, &last, 1, 0);
        OK(MPI_Win_unlock(1, j.win));
    } else if (j.rank == 3) {
        hear(0);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        put1(&j, &other, 1, 0);
        OK(MPI_Win_unlock(1, j.win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j.rank != 1 || j.mem[0] == other);
    SIM_CHECK(copy(1, 0) == other);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&j.win));
}

/* What rank 1 has stored is on its way to its keeper, and late: no put to rank 1 of the next epoch
 * comes before it. */
static void stored_first(void *arg)
{
    int bystander;
    struct job j = three_copied(&bystander);
    long v = 9;
    (void)arg;
    if (bystander) {
        hear(1);
        sim_compute(WHILE);
        sim_let_go(PUT, 2);
        return;
    }
    SIM_CHECK(keeper(1, 0) == 2);
    if (j.rank == 1) {
        j.mem[0] = 4;
        sim_hold(PUT, 1, 2);
        tell(3);
    }
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, j.win));
    SIM_CHECK(copy(1, 0) >= 4);
    if (j.rank == 0)
        put1(&j, &v, 1, 0);
    OK(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, j.win));
    SIM_CHECK(copy(1, 0) == v && (j.rank != 1 || j.mem[0] == v));
    OK(MPI_Win_free(&j.win));
    OK(MPI_Comm_free(&j.comm));
}

static void add1(const struct job *j, const long *v, int t)
{
    OK(MPI_Accumulate(v, 1, MPI_LONG, t, 0, 1, MPI_LONG, MPI_SUM, j->win));
}

/* However many accumulates change an element, with the flush the owner is asked once, and sends it
 * to each keeper once. Those that change nothing are not copied. */
static void acc_exactly(void *arg)
{
    struct job j = copied(MPI_COMM_WORLD, "2");
    long one = 1, other = 2, sum = 1, got, old = -1;
    (void)arg;
    OK(MPI_Win_lock_all(0, j.win));
    if (j.rank == 0) {
        add1(&j, &one, 1); /* LOCK */
        OK(MPI_Win_flush(1, j.win));
        for (int n = 1; n < 20; n += 9) {
            struct counts c = mark(0), owner = mark(1), keeper = mark(2), last = mark(3);
            for (int i = 0; i < n; i++) {
                OK(MPI_Fetch_and_op(&one, &got, MPI_LONG, 1, 0, MPI_SUM, j.win));
                OK(MPI_Win_flush_local(1, j.win));
                SIM_CHECK(got == sum++);
            }
            SIM_CHECK(copy(1, 0) == sum - n && copy(1, 1) == sum - n);
            OK(n == 10 ? MPI_Win_flush_all(j.win) : MPI_Win_flush(1, j.win));
            SENT2(&c, n, GACC, 1, FORWARD);
            SENT3(&owner, n, DATA, 2, COPY, 1, FORWARDED);
            SENT(&keeper, 1, COPIED);
            SENT(&last, 1, COPIED);
            SIM_CHECK(copy(1, 0) == sum && copy(1, 1) == sum);
        }
        struct counts c = mark(0);
        OK(MPI_Fetch_and_op(NULL, &got, MPI_LONG, 1, 0, MPI_NO_OP, j.win));
        OK(MPI_Win_flush(1, j.win));
        SENT(&c, 1, GACC);
        OK(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, &old, 1, MPI_LONG, 1, 0, 1, MPI_LONG,
                              MPI_NO_OP, j.win));
        OK(MPI_Win_flush(1, j.win));
        SENT(&c, 2, GACC);
        SIM_CHECK(got == sum && old == sum);
        c = mark(0);
        OK(MPI_Compare_and_swap(&other, &sum, &old, MPI_LONG, 1, 0, j.win));
        OK(MPI_Win_flush_all(j.win));
        SENT2(&c, 1, CAS, 1, FORWARD);
        SIM_CHECK(old == sum && copy(1, 0) == other && copy(1, 1) == other);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_unlock_all(j.win));
    OK(MPI_Win_free(&j.win));
}

/* All on one node: the origin stores to the copies itself. Nothing is sent, and neither the owner
 * nor a keeper is in MPI. */
static void acc_together(void *arg)
{
    static int calls[2]; /* ranks 0 and 4 have made them */
    struct job j = copied(MPI_COMM_WORLD, "2");
    struct { /* as MPI_LONG_INT has it */
        long v;
        int i;
    } pair = {7, 3};
    long one = 1, got;
    (void)arg;
    SIM_CHECK(kept[j.rank]->near);
    calls[j.rank / 4] = 0;
    OK(MPI_Win_lock_all(0, j.win));
    MPI_Barrier(MPI_COMM_WORLD);
    if (j.rank == 0 || j.rank == 4) {
        struct counts c = mark(j.rank);
        for (int i = 0; i < 9; i++) {
            add1(&j, &one, 1);
            OK(MPI_Fetch_and_op(&one, &got, MPI_LONG, 1, 0, MPI_SUM, j.win));
            OK(i % 2 ? MPI_Win_flush_all(j.win) : MPI_Win_flush(1, j.win));
            SIM_CHECK(copy(1, 0) > got && copy(1, 1) > got);
        }
        if (j.rank == 0) {
            OK(MPI_Accumulate(&pair, 1, MPI_LONG_INT, 1, 1, 1, MPI_LONG_INT, MPI_MAXLOC, j.win));
            OK(MPI_Win_flush(1, j.win));
            for (int i = 0; i < 2; i++)
                SIM_CHECK(!memcmp(copy_at(1, i) + 1, &pair, sizeof pair.v + sizeof pair.i));
        }
        SIM_CHECK(since_all(&c) == 0);
        calls[j.rank / 4] = 1;
    } else {
        while (!calls[0] || !calls[1])
            sim_compute(1);
        SIM_CHECK(copy(1, 0) == 36 && copy(1, 1) == 36);
    }
    OK(MPI_Win_unlock_all(j.win));
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j.rank != 1 || j.mem[0] == 36);
    OK(MPI_Win_free(&j.win));
}

/* The same of puts. Rank 0 has what is not to be: RANGE, no epoch. */
static void put_together(void *arg)
{
    static int calls[2]; /* ranks 0 and 4 have made them */
    struct job j = copied(MPI_COMM_WORLD, "2");
    const long *first = copy_at(1, 0), *second = copy_at(1, 1);
    long v = 10 * j.rank, one = 1;
    int at = j.rank / 4;
    (void)arg;
    calls[at] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (j.rank == 0 || j.rank == 4) {
        struct counts c = mark(j.rank);
        SIM_CHECK(!rma_mirror_put(j.win, 1, at, sizeof v, &v) && !rma_mirror_flush(j.win, 1));
        ERR(MPI_ERR_RMA_SYNC, MPI_Put(&v, 1, MPI_LONG, 1, at, 1, MPI_LONG, j.win));
        for (int i = 0; i < 6; i++) {
            OK(i < 3 ? MPI_Win_lock_all(0, j.win) : MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j.win));
            v++;
            put1(&j, &v, 1, at);
            SIM_CHECK(j.mem != first && first[at] == v && second[at] == v);
            SIM_CHECK(rma_mirror_put(j.win, 1, at, sizeof v, &v) && rma_mirror_flush(j.win, 1));
            SIM_CHECK(!rma_mirror_put(j.win, 1, 4, sizeof v, &v));
            ERR(MPI_ERR_RMA_RANGE, MPI_Put(&v, 1, MPI_LONG, 1, 4, 1, MPI_LONG, j.win));
            OK(MPI_Win_flush(1, j.win));
            OK(MPI_Accumulate(&one, 1, MPI_LONG, 1, at, 1, MPI_LONG, MPI_SUM, j.win));
            SIM_CHECK(first[at] == v && !rma_mirror_flush(j.win, 1));
            if (i % 2)
                put1(&j, &v, 1, at);
            OK(MPI_Win_flush(1, j.win));
            v += i % 2 == 0;
            SIM_CHECK(first[at] == v && second[at] == v && rma_mirror_flush(j.win, 1));
            OK(MPI_Put(&v, 3, MPI_BYTE, 1, at + 2, 3, MPI_BYTE, j.win));
            OK(MPI_Win_flush(1, j.win));
            SIM_CHECK(!memcmp(first + at + 2, &v, 3) && !memcmp(second + at + 2, &v, 3));
            OK(i < 3 ? MPI_Win_unlock_all(j.win) : MPI_Win_unlock(1, j.win));
        }
        SIM_CHECK(since_all(&c) == 0);
        calls[at] = 1;
    } else {
        while (!calls[0] || !calls[1])
            sim_compute(1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j.rank != 1 || !memcmp(j.mem, first, 4 * sizeof v));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&j.win));
}

/* What the short way leaves to the long one: a window whose place in the table a later one has,
 * several threads, an error that waits for a flush, and what a call is about to store to copies. */
static void put_long(void *arg)
{
    struct job j[RMA_MIRRORS + 1];
    const struct job *first = &j[0], *last = &j[RMA_MIRRORS];
    long v[2] = {5, 6}, got[2] = {0, 0}, one = 1;
    (void)arg;
    for (int i = 0; i <= RMA_MIRRORS; i++)
        j[i] = copied(MPI_COMM_WORLD, "1");
    for (int i = 0; i <= RMA_MIRRORS; i++)
        OK(MPI_Win_lock_all(0, j[i].win));
    if (first->rank == 0) {
        struct rma_replicas *x = inside(last->win)->replicas;
        struct rma_forwarding f;
        int error = err_make(MPI_ERR_OTHER, "of a put to a copy");
        SIM_CHECK(rma_mirror_at(first->win) == rma_mirror_at(last->win));
        for (int i = 0; i <= RMA_MIRRORS; i++) {
            put1(&j[i], v, 1, 0); /* with the lock */
            SIM_CHECK(rma_mirror_put(j[i].win, 1, 0, sizeof *v, v) == (i > 0));
        }
        put1(first, &v[1], 1, 0);
        put1(last, v, 1, 0);
        OK(MPI_Win_flush(1, first->win));
        OK(MPI_Win_flush(1, last->win));
        OK(MPI_Get(&got[0], 1, MPI_LONG, 1, 0, 1, MPI_LONG, last->win));
        OK(MPI_Get(&got[1], 1, MPI_LONG, 1, 0, 1, MPI_LONG, first->win));
        OK(MPI_Win_flush(1, last->win));
        OK(MPI_Win_flush(1, first->win));
        SIM_CHECK(got[0] == v[0] && got[1] == v[1] && copy(1, 0) == v[0]);
        SIM_CHECK(rma_mirror_flush(last->win, 1) && !rma_mirror_flush(first->win, 1));
        proc->threaded = 1;
        SIM_CHECK(!rma_mirror_put(last->win, 1, 0, sizeof *v, v) &&
                  !rma_mirror_flush(last->win, 1));
        proc->threaded = 0;
        x->err = error;
        SIM_CHECK(!rma_mirror_flush(last->win, 1));
        ERR(MPI_ERR_OTHER, MPI_Win_flush(1, last->win));
        rma_win_add_err(x->copies, error);
        SIM_CHECK(!rma_mirror_flush(last->win, 1));
        ERR(MPI_ERR_OTHER, MPI_Win_flush_all(last->win));
        add1(last, &one, 1);
        rma_forward_take(inside(last->win), 1, &f);
        SIM_CHECK(!x->changes.n && copy(1, 0) == v[0] && !rma_mirror_flush(last->win, 1));
        OK(rma_forward_wait(&f));
        SIM_CHECK(copy(1, 0) == v[0] + 1 && rma_mirror_flush(last->win, 1));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i <= RMA_MIRRORS; i++) {
        OK(MPI_Win_unlock_all(j[i].win));
        OK(MPI_Win_free(&j[i].win));
    }
}

/* When a member has failed, puts leave the short way; with the shrunk window they have it again,
 * and nothing changes the older copies. A revoked window has it no more. */
static void put_together_dies(void *arg)
{
    struct job j = copied(MPI_COMM_WORLD, "2"), k = j;
    long v = 5, *base = NULL;
    (void)arg;
    OK(MPI_Win_lock_all(0, j.win));
    if (j.rank == 0) {
        put1(&j, &v, 1, 0);
        OK(MPI_Win_flush(1, j.win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (j.rank == 2)
        sim_die();
    hear_of_death(2);
    MPI_Win old = j.win;
    if (j.rank == 0) {
        v++;
        SIM_CHECK(!rma_mirror_put(j.win, 1, 0, sizeof v, &v) && !rma_mirror_flush(j.win, 1));
        put1(&j, &v, 1, 0);
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(copy(1, 1) == v);
    }
    (void)MPI_Win_unlock_all(j.win);
    OK(MPIX_Win_shrink(j.win, &k.win));
    OK(MPIX_Win_recover(k.win, 2, &base));
    SIM_CHECK((base != NULL) == (j.rank == 3));
    MPI_Comm shrunk;
    OK(MPIX_Comm_shrink(MPI_COMM_WORLD, &shrunk));
    OK(MPI_Comm_rank(shrunk, &k.rank));
    kept[k.rank] = inside(k.win)->replicas;
    OK(MPI_Win_lock_all(0, k.win));
    MPI_Barrier(shrunk);
    if (j.rank == 0) {
        v++;
        SIM_CHECK(copy(1, 0) == v - 1 && copy(1, 1) == v - 1);
        SIM_CHECK(!rma_mirror_put(old, 1, 0, sizeof v, &v));
        put1(&k, &v, 1, 0); /* with the lock */
        SIM_CHECK(copy(1, 0) == v && copy(1, 1) == v);
        SIM_CHECK(rma_mirror_put(k.win, 1, 0, sizeof v, &v) && rma_mirror_flush(k.win, 1));
        OK(MPIX_Win_revoke(k.win));
        SIM_CHECK(!rma_mirror_put(k.win, 1, 0, sizeof v, &v) && !rma_mirror_flush(k.win, 1));
        ERR(MPIX_ERR_REVOKED, MPI_Put(&v, 1, MPI_LONG, 1, 0, 1, MPI_LONG, k.win));
        ERR(MPIX_ERR_REVOKED, MPI_Win_flush(1, k.win));
    }
    for (int revoked = 0; !revoked; turn())
        OK(MPIX_Win_is_revoked(k.win, &revoked));
    OK(MPI_Win_free(&k.win));
    OK(MPI_Win_free(&j.win));
    OK(MPI_Comm_free(&shrunk));
}

/* An accumulate that a revocation has refused is not forwarded: the lock was another one's. */
static void acc_revoked(void *arg)
{
    struct job j = copied(MPI_COMM_WORLD, "1");
    long one = 1;
    (void)arg;
    if (j.rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        put1(&j, &one, 1, 0);
        OK(MPI_Win_flush(1, j.win));
        tell(3);
        sim_compute(WHILE);
        OK(MPIX_Win_revoke(j.win));
        (void)MPI_Win_unlock(1, j.win);
        for (int t = 1; t < 3; t++)
            tell(t);
    } else if (j.rank == 3) {
        hear(0);
        struct counts c = mark(3);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        add1(&j, &one, 1);
        ERR(MPIX_ERR_REVOKED, MPI_Win_unlock(1, j.win));
        SIM_CHECK(since(&c, RMA_PKT_FORWARD) == 0);
    } else {
        hear(0);
    }
    SIM_CHECK(copy(1, 0) <= 1);
    (void)MPI_Win_free(&j.win);
}

/* What rank 0 has flushed is late on its way to the copy. What rank 3 adds meanwhile is behind
 * it. */
static void acc_in_order(void *arg)
{
    struct job j = copied(MPI_COMM_WORLD, "1");
    long one = 1;
    (void)arg;
    SIM_CHECK(keeper(1, 0) == 2);
    OK(MPI_Win_lock_all(0, j.win));
    if (j.rank == 0) {
        sim_hold(COPY, 1, 2);
        tell(3);
        add1(&j, &one, 1);
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(copy(1, 0) >= 1);
    } else if (j.rank == 3) {
        hear(0);
        while (!sim_held(COPY, 2))
            turn();
        sim_hold(-1, 1, 2);
        add1(&j, &one, 1);
        tell(4);
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(copy(1, 0) == 2);
    } else if (j.rank == 4) {
        hear(3);
        sim_compute(WHILE);
        sim_let_go(COPY, 2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(copy(1, 0) == 2);
    OK(MPI_Win_unlock_all(j.win));
    OK(MPI_Win_free(&j.win));
}

/* A put, and then an accumulate to the same place, in one epoch: the copy is what the owner has. */
static void acc_behind_put(void *arg)
{
    struct job j = copied(MPI_COMM_WORLD, "1");
    long v = 5, one = 1;
    (void)arg;
    SIM_CHECK(keeper(1, 0) == 2);
    OK(MPI_Win_lock_all(0, j.win));
    if (j.rank == 0) {
        sim_hold(PUT, 0, 2);
        tell(3);
        put1(&j, &v, 1, 0);
        OK(MPIX_Win_order(1, j.win));
        add1(&j, &one, 1);
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(copy(1, 0) == 6);
    } else if (j.rank == 3) {
        hear(0);
        sim_compute(WHILE);
        sim_let_go(PUT, 2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(copy(1, 0) == 6);
    OK(MPI_Win_unlock_all(j.win));
    OK(MPI_Win_free(&j.win));
}

/* A flush that is refused forwards nothing: the accumulates are not done. The fence does. */
static void acc_wrong_flush(void *arg)
{
    struct job j = copied(MPI_COMM_WORLD, "1");
    long one = 1;
    (void)arg;
    OK(MPI_Win_fence(0, j.win));
    if (j.rank == 0) {
        struct counts c = mark(0);
        add1(&j, &one, 1);
        ERR(MPI_ERR_RMA_SYNC, MPI_Win_flush(1, j.win));
        ERR(MPI_ERR_RMA_SYNC, MPI_Win_flush_all(j.win));
        ERR(MPI_ERR_RANK, MPI_Win_flush(j.size, j.win));
        SIM_CHECK(since(&c, RMA_PKT_FORWARD) == 0);
    }
    OK(MPI_Win_fence(MPI_MODE_NOSTORE, j.win));
    SIM_CHECK(copy(1, 0) == 1);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&j.win));
}

/* An older window whose members all live, after a shrink: it has no copies any more, and its calls
 * no error. */
static void acc_after_shrink(void *arg)
{
    struct job j = copied(MPI_COMM_WORLD, "1");
    MPI_Win made;
    long one = 1;
    (void)arg;
    OK(MPIX_Win_shrink(j.win, &made));
    for (int older = 1; older >= 0; older--) {
        MPI_Win w = older ? j.win : made;
        struct job now = j;
        now.win = w;
        OK(MPI_Win_lock_all(0, w));
        if (j.rank == 0) {
            struct counts c = mark(0);
            add1(&now, &one, 1);
            OK(MPI_Win_flush(1, w));
            add1(&now, &one, 1);
            OK(MPI_Win_flush_all(w));
            add1(&now, &one, 1);
            SIM_CHECK(since(&c, RMA_PKT_FORWARD) == (older ? 0 : 2));
        }
        OK(MPI_Win_unlock_all(w));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    SIM_CHECK(copy(1, 0) == 0 && (j.rank != 1 || j.mem[0] == 6));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&j.win));
    OK(MPI_Win_free(&made));
}

/* The first call after that which makes the window: all have their copies then. */
static void acc_at_once(void *arg)
{
    MPI_Info info;
    MPI_Win win;
    int rank, size;
    long one = 1, *mem;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpix_win_replicas", "2"));
    OK(MPI_Win_allocate(sizeof(long), sizeof(long), info, MPI_COMM_WORLD, &mem, &win));
    OK(MPI_Info_free(&info));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    OK(MPI_Accumulate(&one, 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, MPI_REPLACE, win));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
}

/* --- with one -------------------------------------------------------------------------------- */

/* Of the two keepers of a part one dies and owes an answer. The other's is waited for. */
static void keeper_dies(void *arg)
{
    struct job j = copied(MPI_COMM_WORLD, "2");
    long v = 5;
    (void)arg;
    switch (j.rank) {
    case 0:
        OK(MPI_Win_lock_all(0, j.win));
        put1(&j, &v, 1, 0); /* the lock */
        OK(MPI_Win_flush(1, j.win));
        v++;
        sim_hold(PUT, 0, 3);
        tell(2);
        tell(4);
        put1(&j, &v, 1, 0);
        OK(MPI_Win_flush_local(1, j.win)); /* it has left: the answer is asked for by itself */
        if (sim_seed() % 2)
            OK(MPI_Win_flush_all(j.win));
        else
            OK(MPI_Win_unlock_all(j.win));
        SIM_CHECK(boot_failed(2) && copy(1, 1) == v);
        if (inside(j.win)->state != WIN_UNSET)
            (void)MPI_Win_unlock_all(j.win);
        tell(1);
        tell(3);
        break;
    case 2:
        hear(0);
        sim_compute(WHILE);
        sim_die();
    case 4:
        hear(0);
        hear_of_death(2);
        sim_compute(WHILE);
        sim_let_go(PUT, 3);
        break;
    default:
        SIM_CHECK(keeper(1, 0) == 2 && keeper(1, 1) == 3);
        hear(0);
    }
}

/* One keeper dies and owes an answer, when another one has refused what was put there (which no put
 * of a program can bring about). The calls that ask all end with what that one said. */
static void keeper_refuses(void *arg)
{
    struct job j = copied(MPI_COMM_WORLD, "2");
    struct rma_win *copies = kept[j.rank]->copies;
    struct dt_type *byte = dt_find(MPI_BYTE);
    long v = 5, got;
    struct rma_args beyond = {.kind = RMA_PUT, .rank = 3, .origin = &v, .ocount = 8,
                              .otype = byte, .disp = 1 << 20, .tcount = 8, .ttype = byte};
    struct rma_args other = {.kind = RMA_GET, .rank = 4, .result = &got, .rcount = 8,
                             .rtype = byte, .tcount = 8, .ttype = byte};
    (void)arg;
    switch (j.rank) {
    case 0:
        OK(MPI_Win_lock_all(0, j.win));
        put1(&j, &v, 1, 0); /* the lock */
        OK(MPI_Win_flush(1, j.win));
        tell(2);
        put1(&j, &v, 1, 0);
        OK(rma_op_begin(copies, &beyond, NULL));
        if (copies->table.target_quota.size == 1) /* another keeper takes the element */
            OK(rma_op_begin(copies, &other, NULL));
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush_all(j.win));
        SIM_CHECK(copy(1, 1) == v);
        (void)MPI_Win_unlock_all(j.win); /* it may die now */
        tell(1);
        tell(3);
        break;
    case 2:
        hear(0);
        sim_compute((int)(sim_random() % WHILE));
        sim_die();
    case 4:
        break;
    default:
        hear(0);
    }
}

/* An owner dies and owes an answer, and a keeper has refused what was put there. The call that asks
 * all returns what the keeper said; the next one the failure. */
static void refused_and_dead(void *arg)
{
    struct job j = copied(MPI_COMM_WORLD, "2");
    struct dt_type *byte = dt_find(MPI_BYTE);
    long v = 5;
    struct rma_args beyond = {.kind = RMA_PUT, .rank = 3, .origin = &v, .ocount = 8,
                              .otype = byte, .disp = 1 << 20, .tcount = 8, .ttype = byte};
    (void)arg;
    switch (j.rank) {
    case 0:
        OK(MPI_Win_lock_all(0, j.win));
        put1(&j, &v, 2, 0); /* the lock */
        OK(MPI_Win_flush(2, j.win));
        sim_hold(PUT, 0, 2);
        tell(2);
        put1(&j, &v, 2, 0);
        if (inside(j.win)->table.target_quota.size == 1) { /* another rank takes the element */
            hear_of_death(2);
            put1(&j, &v, 4, 0);
        }
        OK(rma_op_begin(kept[0]->copies, &beyond, NULL));
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush_all(j.win));
        SIM_CHECK(boot_failed(2));
        ERR(MPIX_ERR_PROC_FAILED, MPI_Win_flush_all(j.win));
        (void)MPI_Win_unlock_all(j.win);
        for (int t = 1; t < 5; t++)
            if (t != 2)
                tell(t);
        break;
    case 2:
        hear(0);
        while (!sim_held(PUT, 2))
            turn();
        sim_compute(WHILE);
        sim_die();
    default:
        hear(0);
    }
}

/* Rank 3 is dead, and a put to rank 1 finds no room on its way to the copy. A local flush returns
 * the error when it has left: its buffer is the program's then. */
static void dead_and_late(void *arg)
{
    struct job j = copied(MPI_COMM_WORLD, "1");
    long v = 5, one = 1;
    (void)arg;
    switch (j.rank) {
    case 0:
        SIM_CHECK(keeper(1, 0) == 2);
        OK(MPI_Win_lock_all(0, j.win));
        put1(&j, &v, 1, 0); /* the locks */
        put1(&j, &v, 3, 0);
        OK(MPI_Win_flush_all(j.win));
        tell(3);
        hear_of_death(3);
        sim_hold(PUT, 0, 2);
        put1(&j, &one, 1, 1);
        OK(MPI_Win_flush_local(1, j.win));
        while (!sim_held(PUT, 2))
            turn();
        put1(&j, &v, 1, 2);
        tell(4);
        ERR(MPIX_ERR_PROC_FAILED, MPI_Win_flush_local_all(j.win));
        SIM_CHECK(!kept[0]->copies->table.nops);
        v = 9;
        sim_hold(-1, 0, 2);
        sim_let_go(PUT, 2);
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(copy_at(1, 0)[1] == one && copy_at(1, 0)[2] == 5);
        (void)MPI_Win_unlock_all(j.win);
        tell(1);
        tell(2);
        break;
    case 3:
        hear(0);
        sim_die();
    case 4:
        hear(0);
        sim_compute(WHILE);
        sim_let_go(PUT, 2);
        break;
    default:
        hear(0);
    }
}

/* Rank 1 dies when a put to it is on its way to its keeper. It has arrived when the window is
 * shrunk, and not later. */
static void shrink_waits(void *arg)
{
    int bystander;
    struct job j = three_copied(&bystander);
    MPI_Win made;
    long v = 5, *base = NULL;
    (void)arg;
    if (bystander) {
        hear(0);
        sim_compute(WHILE);
        sim_let_go(PUT, 2);
        return;
    }
    SIM_CHECK(keeper(1, 0) == 2);
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(0, j.win));
        sim_hold(PUT, 0, 2);
        put1(&j, &v, 1, 0);
        while (!sim_held(PUT, 2))
            turn();
        SIM_CHECK(copy(1, 0) == 0);
        OK(MPIX_Win_revoke(j.win));
        tell(1);
        tell(2);
        tell(3);
    } else {
        hear(0);
    }
    if (j.rank == 1)
        sim_die();
    hear_of_death(1);
    OK(MPIX_Win_shrink(j.win, &made));
    OK(MPIX_Win_recover(made, 1, &base));
    SIM_CHECK((base != NULL) == (j.rank == 2));
    SIM_CHECK(copy(1, 0) == v && (!base || *base == v));
    OK(MPI_Win_free(&made));
    OK(MPI_Win_free(&j.win));
}

/* Of the two keepers of a part one dies and owes an answer. The origin's flush ends when the other
 * has the value. */
static void acc_keeper_dies(void *arg)
{
    struct job j = copied(MPI_COMM_WORLD, "2");
    long one = 1;
    (void)arg;
    switch (j.rank) {
    case 0:
        OK(MPI_Win_lock_all(0, j.win));
        sim_hold(COPY, 1, 2);
        tell(2);
        add1(&j, &one, 1);
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(boot_failed(2) && copy(1, 1) == 1);
        (void)MPI_Win_unlock_all(j.win);
        tell(1);
        tell(3);
        break;
    case 2:
        hear(0);
        while (!sim_held(COPY, 2))
            turn();
        sim_compute(WHILE);
        sim_die();
    case 4:
        break;
    default:
        hear(0);
    }
}

/* Rank 1 dies when it has sent a value that rank 0 has not flushed. The window is shrunk before
 * that comes to the keeper: it does not change the copy any more. */
static void acc_owner_dies(void *arg)
{
    int bystander;
    struct job j = three_copied(&bystander);
    MPI_Win made;
    long one = 1, *base = NULL;
    (void)arg;
    if (bystander) {
        hear(2);
        sim_let_go(COPY, 2);
        sim_compute(WHILE);
        tell(2);
        return;
    }
    SIM_CHECK(keeper(1, 0) == 2);
    switch (j.rank) {
    case 0:
        OK(MPI_Win_lock_all(0, j.win));
        add1(&j, &one, 1);
        OK(MPI_Win_flush(1, j.win));
        sim_hold(COPY, 1, 2);
        add1(&j, &one, 1);
        ERR(MPIX_ERR_PROC_FAILED, MPI_Win_flush(1, j.win));
        OK(MPIX_Win_revoke(j.win));
        tell(2);
        break;
    case 1:
        while (!sim_held(COPY, 2))
            turn();
        sim_die();
    default:
        hear(0);
    }
    OK(MPIX_Win_shrink(j.win, &made));
    OK(MPIX_Win_recover(made, 1, &base));
    SIM_CHECK((base != NULL) == (j.rank == 2) && (!base || *base == 1));
    if (j.rank == 2) {
        *base = 7; /* it is the program's */
        tell(3);
        hear(3);
        SIM_CHECK(*base == 7);
    }
    OK(MPI_Win_free(&made));
    OK(MPI_Win_free(&j.win));
}

/* Rank 1 dies with the first of its keepers, or with all of them. */
static void dies_with_keeper(const char *k)
{
    struct job j = copied(MPI_COMM_WORLD, k);
    MPI_Win made;
    long v = 5, *base = NULL;
    SIM_CHECK(keeper(1, 0) == 2);
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(0, j.win));
        put1(&j, &v, 1, 0);
        OK(MPI_Win_unlock_all(j.win));
        for (int t = 1; t < 4; t++)
            tell(t);
    } else {
        hear(0);
    }
    if (j.rank == 1 || j.rank == 2)
        sim_die();
    hear_of_death(1);
    hear_of_death(2);
    OK(MPIX_Win_shrink(j.win, &made));
    int err = MPIX_Win_recover(made, 1, &base);
    ERR(*k == '1' ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS, err);
    SIM_CHECK((base != NULL) == (!err && j.rank == 3));
    SIM_CHECK(!base || *base == v);
    OK(MPIX_Win_recover(made, 2, &base));
    SIM_CHECK((base != NULL) == (j.rank == 3));
    OK(MPI_Win_free(&made));
    OK(MPI_Win_free(&j.win));
}

static void one_keeper_lives(void *arg)
{
    (void)arg;
    dies_with_keeper("2");
}

static void no_keeper_lives(void *arg)
{
    (void)arg;
    dies_with_keeper("1");
}

/* --- scenarios ------------------------------------------------------------------------------- */

static void calm(struct sim_knobs *k)
{
    far_away(k);
    k->replies = k->refuse_percent = k->again_percent = k->inbox = 0;
    k->ordered = 1;
    /* what is held back leaves at the synchronization, however slow the run is */
    scenario_cvar("MPIR_CVAR_RMA_PIGGYBACK_POLLS", "0");
}

static void together(struct sim_knobs *k)
{
    k->nodes = 1;
}

static void together_mortal(struct sim_knobs *k)
{
    together(k);
    k->mortal = 1;
}

static void apart(struct sim_knobs *k)
{
    far_away(k);
    k->native = 0; /* messages can be held */
    k->am_zcopy_min = 0;
    k->quiet_rank = -1;
}

static void mortal(struct sim_knobs *k)
{
    apart(k);
    k->mortal = 1;
}

static void mortal_poor(struct sim_knobs *k)
{
    mortal(k);
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_WIN_POOL_SIZE", "1");
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_GLOBAL_POOL_SIZE", "0");
}

/* Room for one message to a rank. */
static void mortal_narrow(struct sim_knobs *k)
{
    mortal(k);
    k->inbox = 1;
}

/* What is held holds nothing else. */
static void unordered(struct sim_knobs *k)
{
    mortal(k);
    k->ordered = 0;
}

const struct scenario scenarios_replicas_exact[] = {
    {"replicas-put-counts", 4, 1, put_exactly, NULL, calm},
    {"replicas-acc-counts", 4, 1, acc_exactly, NULL, calm},
    {"replicas-acc-at-once", 4, 1, acc_at_once, NULL, apart},
    {"replicas-acc-near", 5, 1, acc_together, NULL, together},
    {"replicas-put-near", 5, 1, put_together, NULL, together},
    {"replicas-put-near-long", 3, 1, put_long, NULL, together},
    {"replicas-put-near-dies", 4, 1, put_together_dies, NULL, together_mortal},
    {"replicas-acc-revoked", 4, 1, acc_revoked, NULL, apart},
    {"replicas-acc-in-order", 5, 1, acc_in_order, NULL, unordered},
    {"replicas-acc-behind-put", 4, 1, acc_behind_put, NULL, apart},
    {"replicas-acc-wrong-flush", 4, 1, acc_wrong_flush, NULL, apart},
    {"replicas-acc-after-shrink", 4, 1, acc_after_shrink, NULL, apart},
    {"replicas-acc-keeper-dies", 5, 1, acc_keeper_dies, NULL, unordered},
    {"replicas-acc-owner-dies", 4, 1, acc_owner_dies, NULL, unordered},
    {"replicas-put-behind-lock", 4, 1, put_behind_lock, NULL, apart},
    {"replicas-stored-first", 4, 1, stored_first, NULL, apart},
    {"replicas-keeper-refuses", 5, 1, keeper_refuses, NULL, mortal},
    {"replicas-refuses-poor", 5, 1, keeper_refuses, NULL, mortal_poor},
    {"replicas-refused-and-dead", 5, 1, refused_and_dead, NULL, unordered},
    {"replicas-refused-and-dead-poor", 5, 1, refused_and_dead, NULL, mortal_poor},
    {"replicas-keeper-dies", 5, 1, keeper_dies, NULL, mortal},
    {"replicas-dead-and-late", 5, 1, dead_and_late, NULL, mortal_narrow},
    {"replicas-shrink-waits", 4, 1, shrink_waits, NULL, unordered},
    {"replicas-one-keeper-lives", 4, 1, one_keeper_lives, NULL, mortal},
    {"replicas-no-keeper-lives", 4, 1, no_keeper_lives, NULL, mortal},
    {NULL, 0, 0, NULL, NULL, NULL},
};

/* begun.c - MPIX_Win_iallocate and MPIX_Win_icreate: several windows under way at once, waited for
 * in an order of each rank's own, while ranks die at any step; and their messages, which are those
 * of the blocking calls. */
#include <stdlib.h>

#include "ulfm.h"

enum { WINS = 4, TURNS = 400000 };

struct begun {
    MPI_Win win;
    MPI_Request req;
    long *base;
    long own[40];
};

static MPI_Aint bytes_of(int rank, int i)
{
    static const MPI_Aint some[] = {8, 0, 5000, 300000};
    return some[(sim_seed() + (unsigned)(rank * i)) % 4];
}

static void begin(struct begun *b, int rank, int i, MPI_Comm comm)
{
    b->win = MPI_WIN_NULL;
    b->base = b->own;
    if ((sim_seed() + (unsigned)i) % 3)
        OK(MPIX_Win_iallocate(bytes_of(rank, i), sizeof(long), MPI_INFO_NULL, comm, &b->base,
                              &b->win, &b->req));
    else
        OK(MPIX_Win_icreate(b->own, sizeof b->own, sizeof(long), MPI_INFO_NULL, comm, &b->win,
                            &b->req));
}

static int finish(struct begun *b, int how)
{
    int done = 0, err = MPI_SUCCESS;
    if (how)
        return MPI_Wait(&b->req, MPI_STATUS_IGNORE);
    for (long turns = 0; !done && !err; turns++) {
        err = MPI_Test(&b->req, &done, MPI_STATUS_IGNORE);
        SIM_CHECK(turns < TURNS);
    }
    return err;
}

static void begin_tests(struct begun *b)
{
    int done;
    for (int i = 0; i < 20; i++)
        (void)MPI_Request_get_status(b[i % WINS].req, &done, MPI_STATUS_IGNORE);
}

/* Each rank's number, in the right neighbour's window. */
static void use(struct begun *b, MPI_Comm c)
{
    int rank, size;
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    int right = (rank + 1) % size;
    long mine = 100 + rank, got = -1;
    MPI_Win_set_errhandler(b->win, MPI_ERRORS_RETURN);
    int err = MPI_Win_lock_all(0, b->win);
    may_fail(err);
    if (err)
        return;
    MPI_Aint there = b->base == b->own ? (MPI_Aint)sizeof b->own : 0;
    if (there) {
        err = MPI_Put(&mine, 1, MPI_LONG, right, rank, 1, MPI_LONG, b->win);
        may_fail(err);
        int e = MPI_Win_flush(right, b->win);
        may_fail(e);
        err = err || e;
        if (!err) {
            err = MPI_Get(&got, 1, MPI_LONG, right, rank, 1, MPI_LONG, b->win);
            may_fail(err);
            e = MPI_Win_flush(right, b->win);
            may_fail(e);
            SIM_CHECK(err || e || got == mine);
        }
    }
    may_fail(MPI_Win_unlock_all(b->win));
}

static void at_any_step(void *arg)
{
    (void)arg;
    int rank, size, errs = 0;
    struct begun b[WINS];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm c = copy_of(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_doomed(rank, size))
        sim_die_at(1 + (int)(sim_random() % (40u * (unsigned)size)));
    for (int i = 0; i < WINS; i++)
        begin(&b[i], rank, i, c);
    if (sim_seed() % 3 == 0 && (rank + sim_seed()) % 2)
        begin_tests(b); /* they are not as far as elsewhere when the barrier begins */
    if (sim_seed() % 3 == 0)
        may_fail(MPI_Barrier(c));
    if (sim_seed() % 2)
        OK(MPI_Comm_free(&c)); /* the creations hold it */
    for (int i = 0; i < WINS; i++) {
        int at = (i * 3 + rank) % WINS, err = finish(&b[at], (rank + i) % 2);
        may_fail(err);
        SIM_CHECK(!err == (b[at].win != MPI_WIN_NULL) && b[at].req == MPI_REQUEST_NULL);
        errs += err != 0;
    }
    sim_event("rank %d: %d of %d were not made", rank, errs, WINS);
    int doomed = 0;
    for (int r = 0; r < size; r++)
        doomed |= is_doomed(r, size);
    SIM_CHECK(!errs || doomed);
    /* A window that some could not make has no use, as any collective call that some lost. */
    for (int i = 0; i < WINS; i++) {
        int unacked, all = all_say(MPI_COMM_WORLD, b[i].win != MPI_WIN_NULL, &unacked);
        if (all)
            use(&b[i], MPI_COMM_WORLD);
    }
    for (int i = 0; i < WINS; i++)
        if (b[i].win != MPI_WIN_NULL)
            may_fail(MPI_Win_free(&b[i].win));
    end_doomed(rank, size);
    if (c != MPI_COMM_NULL)
        OK(MPI_Comm_free(&c));
}

/* The last rank revokes the communicator in place of the call. The others have freed it. */
static void revoked(void *arg)
{
    (void)arg;
    int rank, size;
    struct begun b = {.win = MPI_WIN_NULL};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm c = copy_of(MPI_COMM_WORLD);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == size - 1) {
        OK(MPIX_Comm_revoke(c));
        OK(MPI_Comm_free(&c));
    } else {
        int err = MPIX_Win_iallocate(8, 8, MPI_INFO_NULL, c, &b.base, &b.win, &b.req);
        OK(MPI_Comm_free(&c));
        err = err ? err : finish(&b, (int)sim_seed() % 2); /* it may know by the call */
        SIM_CHECK(class_of(err) == MPIX_ERR_REVOKED);
        SIM_CHECK(b.win == MPI_WIN_NULL);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* This rank's, of any kind. */
static long sent(int rank)
{
    long n = 0;
    for (int t = 0; t < AM_TYPES; t++)
        n += sim_sent(rank, t);
    return n;
}

/* Messages of all ranks while n windows are made, and the windows freed. */
static long made(int rank, int n, int begins)
{
    struct begun b[WINS];
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* all connections are there */
    long mine = sent(rank);
    for (int i = 0; i < n; i++)
        if (begins)
            OK(MPIX_Win_iallocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &b[i].base, &b[i].win,
                                  &b[i].req));
        else
            OK(MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &b[i].base, &b[i].win));
    for (int i = n; begins && i-- > 0;)
        OK(MPI_Wait(&b[i].req, MPI_STATUS_IGNORE));
    mine = sent(rank) - mine;
    OK(MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++)
        OK(MPI_Win_free(&b[i].win));
    return mine;
}

static void together(struct sim_knobs *k)
{
    k->nodes = 1;
}

/* On nodes of their own: the messages of the blocking call. */
static void counts_far(void *arg)
{
    (void)arg;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long waits = made(rank, 1, 0);
    SIM_CHECK(made(rank, 1, 1) == waits && made(rank, 3, 1) == 3 * waits);
}

/* Four on one node, which use an earlier segment once: the id goes down a tree, sizes are
 * exchanged. For a new segment its key goes to three, and all agree. */
static void counts_near(void *arg)
{
    (void)arg;
    enum { ID = 3, ALL = 4 * 2, KEY = 3 };
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    made(rank, 1, 0);
    SIM_CHECK(made(rank, 1, 1) == ID + ALL);
    SIM_CHECK(made(rank, 3, 1) == 3 * (ID + ALL) + 2 * (KEY + ALL));
}

const struct scenario scenarios_begun[] = {
    {"newwin-2", 2, 1, at_any_step, NULL, mortal},
    {"newwin-5", 5, 1, at_any_step, NULL, mortal},
    {"newwin-8", 8, 1, at_any_step, NULL, mortal},
    {"newwin-revoked-3", 3, 1, revoked, NULL, NULL},
    {"newwin-revoked-6", 6, 1, revoked, NULL, NULL},
    {"newwin-counts-far-4", 4, 1, counts_far, NULL, far_away},
    {"newwin-counts-far-7", 7, 1, counts_far, NULL, far_away},
    {"newwin-counts-near-4", 4, 1, counts_near, NULL, together},
    {NULL, 0, 0, NULL, NULL, NULL},
};

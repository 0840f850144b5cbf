/* mixed.c - gatherv, scatterv and alltoallv of members on one node: random blocks, short ones by
 * slots and long ones by message, upper bounds, deaths, revocations, and no message where none is
 * needed. */
#include <stdlib.h>

#include "scenarios.h"

enum { LONGEST = 1500, PLACE = LONGEST + 1, CALLS = 40, RANKS = 6 };

struct job {
    uint64_t dice; /* the same on all ranks */
    int rank, ranks, turn;
    int counts[RANKS][RANKS];  /* [sender][receiver] */
    int bounds[RANKS][RANKS]; /* as the receiver has it */
    int *in, *out;
};

static int roll(struct job *j, int n)
{
    j->dice = j->dice * 6364136223846793005u + 1442695040888963407u;
    return (int)((j->dice >> 33) % (uint64_t)n);
}

static void begin(struct job *j)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &j->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &j->ranks);
    j->dice = sim_seed() + 1;
    j->in = malloc(sizeof(int) * (size_t)(PLACE * j->ranks));
    j->out = malloc(sizeof(int) * (size_t)(PLACE * j->ranks));
}

static void end(struct job *j)
{
    free(j->in);
    free(j->out);
}

static int value(const struct job *j, int from, int to, int k)
{
    return (j->turn * 40 + from * RANKS + to) * 2000 + k;
}

static void lay_out(struct job *j, int longs)
{
    for (int i = 0; i < j->ranks; i++)
        for (int k = 0; k < j->ranks; k++) {
            int n = roll(j, 4) == 0 ? 0 : longs && roll(j, 3) == 0 ? 1100 + roll(j, 400)
                                                                  : 1 + roll(j, 30);
            j->counts[i][k] = j->bounds[i][k] = n;
            if (n && roll(j, 4) == 0)
                j->bounds[i][k] = n + roll(j, LONGEST - n);
        }
}

static void put(struct job *j, int *at, int from, int to)
{
    for (int k = 0; k < j->counts[from][to]; k++)
        at[k] = value(j, from, to, k);
}

static void check(const struct job *j, const int *at, int from, int to)
{
    for (int k = 0; k < j->counts[from][to]; k++)
        SIM_CHECK(at[k] == value(j, from, to, k));
    SIM_CHECK(at[j->counts[from][to]] == -1);
}

static int gathers(struct job *j, int root)
{
    int rcounts[RANKS], displs[RANKS];
    for (int i = 0; i < j->ranks; i++) {
        rcounts[i] = j->bounds[i][root];
        displs[i] = i * PLACE;
    }
    put(j, j->in, j->rank, root);
    int err = MPI_Gatherv(j->in, j->counts[j->rank][root], MPI_INT, j->out, rcounts, displs,
                          MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < j->ranks && !err && j->rank == root; i++)
        check(j, j->out + displs[i], i, root);
    return err;
}

static int scatters(struct job *j, int root)
{
    int displs[RANKS];
    for (int i = 0; i < j->ranks; i++) {
        displs[i] = i * PLACE;
        put(j, j->in + displs[i], j->rank, i);
    }
    int err = MPI_Scatterv(j->in, j->counts[root], displs, MPI_INT, j->out,
                           j->bounds[root][j->rank], MPI_INT, root, MPI_COMM_WORLD);
    if (!err)
        check(j, j->out, root, j->rank);
    return err;
}

static int alltoalls(struct job *j)
{
    int rcounts[RANKS], displs[RANKS];
    for (int i = 0; i < j->ranks; i++) {
        rcounts[i] = j->bounds[i][j->rank];
        displs[i] = i * PLACE;
        put(j, j->in + displs[i], j->rank, i);
    }
    int err = MPI_Alltoallv(j->in, j->counts[j->rank], displs, MPI_INT, j->out, rcounts, displs,
                            MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < j->ranks && !err; i++)
        check(j, j->out + displs[i], i, j->rank);
    return err;
}

static int call(struct job *j, int longs)
{
    int which = roll(j, 3), root = roll(j, j->ranks), err;
    lay_out(j, longs);
    for (int i = 0; i < PLACE * j->ranks; i++)
        j->out[i] = -1;
    if (sim_random() % 4 == 0)
        sim_compute((int)(sim_random() % 50));
    err = which == 0 ? gathers(j, root) : which == 1 ? scatters(j, root) : alltoalls(j);
    j->turn++;
    if (!err && roll(j, 4) == 0)
        err = MPI_Barrier(MPI_COMM_WORLD);
    return err;
}

/* The first calls have no slots yet. */
static void random_calls(void *arg)
{
    struct job j = {.turn = 0};
    (void)arg;
    begin(&j);
    while (j.turn < CALLS) {
        OK(call(&j, 1));
        if (roll(&j, 4) == 0) {
            MPI_Request r;
            OK(MPI_Ibarrier(MPI_COMM_WORLD, &r));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        }
    }
    end(&j);
}

/* Short blocks need no message. */
static void short_calls(void *arg)
{
    struct job j = {.turn = 0};
    (void)arg;
    begin(&j);
    for (int i = 0; i < 12; i++)
        OK(MPI_Barrier(MPI_COMM_WORLD));
    sim_compute(2000); /* what was sent until now has arrived, and was answered */
    OK(MPI_Barrier(MPI_COMM_WORLD));
    long before = sim_sent(j.rank, -1);
    while (j.turn < CALLS)
        OK(call(&j, 0));
    SIM_CHECK(sim_sent(j.rank, -1) == before);
    end(&j);
}

/* A rank dies at any point. The others get the error or go on, and none waits for ever. */
static void deaths(void *arg)
{
    struct job j = {.turn = 0};
    int err = MPI_SUCCESS;
    (void)arg;
    begin(&j);
    if (j.rank == (int)(sim_seed() % (uint64_t)j.ranks))
        sim_die_at(1 + (int)(sim_random() % 400));
    while (j.turn < 4 * CALLS && !err)
        err = call(&j, 1);
    if (err)
        ERR(MPIX_ERR_PROC_FAILED, err);
    sim_die_at(0);
    end(&j);
}

/* A rank revokes the communicator at any call. */
static void revocations(void *arg)
{
    struct job j = {.turn = 0};
    int err = MPI_SUCCESS, at = (int)(sim_seed() / 8 % CALLS);
    (void)arg;
    begin(&j);
    while (j.turn < CALLS && !err) {
        if (j.turn == at && j.rank == (int)(sim_seed() % (uint64_t)j.ranks))
            OK(MPIX_Comm_revoke(MPI_COMM_WORLD));
        err = call(&j, 1);
    }
    if (err)
        ERR(MPIX_ERR_REVOKED, err);
    end(&j);
}

static void near_by(struct sim_knobs *k)
{
    k->nodes = 1;
}

static void mortal(struct sim_knobs *k)
{
    k->nodes = 1;
    k->mortal = 1;
}

const struct scenario scenarios_mixed[] = {
    {"coll-mixed-2", 2, 1, random_calls, NULL, near_by},
    {"coll-mixed-3", 3, 1, random_calls, NULL, near_by},
    {"coll-mixed-6", 6, 1, random_calls, NULL, near_by},
    {"coll-mixed-short-4", 4, 1, short_calls, NULL, near_by},
    {"coll-mixed-dies-3", 3, 1, deaths, NULL, mortal},
    {"coll-mixed-dies-5", 5, 1, deaths, NULL, mortal},
    {"coll-mixed-revoked-3", 3, 1, revocations, NULL, mortal},
    {NULL, 0, 0, NULL, NULL, NULL}};

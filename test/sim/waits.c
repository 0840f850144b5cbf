/* Processes that wait for each other (align/stall.c).
 *
 *   align-wait-collectors  no more than four are asked to collect, in a job without checker
 *   align-wait-*        a deadlock is proved with so many messages, and no more
 *   align-wait-legal-*  random programs in which each wait ends, most of them late: no verdict
 *   align-wait-lost-*   the same with one message that is never sent: a hang is reported
 *   align-cross         a message crosses a collective call (align/cross.c)
 *   align-cross-legal-* random programs with messages between collective calls, none of which does
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "align/align_types.h"
#include "align/stall.h"
#include "p2p/p2p_packets.h"
#include "scenarios.h"

enum { ROUNDS = 10, LONG = 20000, LATE = 130000 /* steps: more than what is a long wait */ };

static int size; /* of the job */

static void begin(void)
{
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static void all_sent(int type, long n)
{
    long sum = 0;
    for (int i = 0; i < size; i++)
        sum += sim_sent(i, type);
    if (sum != n)
        sim_fail("%ld messages of type %d were sent, not %ld", sum, type, n);
}

/* n processes in the core, `pairs` of which wait for each other; `others` hang, too. */
static void proof(int n, int pairs, int others)
{
    all_sent(STALL_STATE, n - 1 + others); /* the collector reports to itself */
    all_sent(STALL_HAVE, n - 1 + others);
    all_sent(STALL_ASK, 2 * (n - 1));
    all_sent(STALL_FLUSH, 2 * 2 * pairs);
    all_sent(STALL_FLUSHED, 2 * 2 * pairs);
    all_sent(STALL_SAME, 2 * (n - 1));
}

/* --- scripts ---------------------------------------------------------------------------------- */

static void recv_barrier(void *arg)
{
    int v = 0;
    begin();
    if (sim_rank() == 1)
        OK(MPI_Recv(&v, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void recv_barrier_sent(void)
{
    proof(2, 1, 0);
}

static void ring(void *arg)
{
    int v = 0;
    begin();
    OK(MPI_Recv(&v, 1, MPI_INT, (sim_rank() + 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void ring_sent(void)
{
    proof(size, size, 0);
}

/* Rank 0 takes a message from any; the others a barrier, which it is to enter. */
static void any(void *arg)
{
    int v = 0;
    begin();
    if (sim_rank() == 0)
        OK(MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void any_sent(void)
{
    proof(size, size - 1, 0);
}

static void finalized(void *arg)
{
    int v = 0;
    begin();
    if (sim_rank() == 0)
        OK(MPI_Recv(&v, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void finalized_sent(void)
{
    proof(2, 1, size - 2);
}

/* All that could send are in MPI_Finalize. */
static void any_finalized(void *arg)
{
    int v = 0;
    begin();
    if (sim_rank() == 0)
        OK(MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Rank 0 sends rank 1 all partitions but one: late, or never. */
static void partitions(int late)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int *buf = calloc(LONG, sizeof *buf), n = sim_seed() % 2 ? 1 : LONG / 4;
    begin();
    if (sim_rank() == 0)
        OK(MPI_Psend_init(buf, 4, n, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
    if (sim_rank() == 1)
        OK(MPI_Precv_init(buf, 4, n, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
    if (sim_rank() < 2)
        OK(MPI_Start(&r));
    for (int i = 0; i < 3 && sim_rank() == 0; i++)
        OK(MPI_Pready(i, r));
    if (late && sim_rank() == 0) {
        sim_compute(2 * LATE);
        OK(MPI_Pready(3, r));
    }
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    if (sim_rank() < 2)
        OK(MPI_Request_free(&r));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    free(buf);
}

static void part_lost(void *arg)
{
    partitions(0);
}

static void part_late(void *arg)
{
    partitions(1);
}

/* Two communicators: errors, and the program goes on. */
static void two_comms(void *arg)
{
    MPI_Comm a, b;
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_dup(MPI_COMM_WORLD, &b);
    MPI_Comm_set_errhandler(a, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(b, MPI_ERRORS_RETURN);
    ERR(MPI_ERR_NOT_SAME, MPI_Barrier(sim_rank() == 1 ? a : b));
    ERR(MPI_ERR_NOT_SAME, MPI_Barrier(sim_rank() == 1 ? b : a));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
}

/* A message is under way for longer than others wait. Without order a FLUSH passes it. */
static void late_message(void *arg)
{
    int v = 0;
    begin();
    if (sim_rank() == 1) {
        sim_hold(P2P_EAGER, 1, 2);
        OK(MPI_Send(&v, 1, MPI_INT, 2, 3, MPI_COMM_WORLD));
        sim_hold(-1, 0, 0);
    } else if (sim_rank() == 2) {
        OK(MPI_Recv(&v, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else if (sim_rank() == 3) { /* rank 0 collects */
        while (!sim_held(P2P_EAGER, 2))
            sim_compute(1);
        sim_compute(4 * LATE);
        sim_let_go(P2P_EAGER, 2);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* The last process waits while all that could collect compute: it asks so many of them, each after
 * the one before has not answered for 200 ms. */
static void collectors(void *arg)
{
    enum { HAVE = 200000 /* steps */, ASKED = 4 };
    int v = 0;
    begin();
    if (sim_rank() < size - 1)
        sim_compute((ASKED + 2) * HAVE);
    if (sim_rank() == 0)
        OK(MPI_Send(&v, 1, MPI_INT, size - 1, 3, MPI_COMM_WORLD));
    if (sim_rank() < size - 1)
        return;
    OK(MPI_Recv(&v, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (sim_sent(size - 1, STALL_STATE) != ASKED)
        sim_fail("%ld processes were asked to collect, not %d", sim_sent(size - 1, STALL_STATE),
                 ASKED);
}

/* --- random programs -------------------------------------------------------------------------- */

static int dice(uint64_t *state, int n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int)((*state >> 33) % (uint64_t)n);
}

static void late(int chance)
{
    if (sim_random() % 100 < (unsigned)chance)
        sim_compute((int)(sim_random() % LATE));
}

static void pass_on(int from, int to, int n, int tag, int lost, char *buf)
{
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int at;
    if (sim_rank() == from && !lost)
        OK(MPI_Isend(buf, n, MPI_CHAR, to, tag, MPI_COMM_WORLD, &r[0]));
    if (sim_rank() == to && tag % 3 == 0)
        OK(MPI_Recv(buf + LONG, LONG, MPI_CHAR, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    else if (sim_rank() == to && tag % 3 == 1)
        OK(MPI_Recv(buf + LONG, LONG, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    else if (sim_rank() == to)
        OK(MPI_Irecv(buf + LONG, LONG, MPI_CHAR, from, tag, MPI_COMM_WORLD, &r[1]));
    late(5);
    if (tag % 2 && (sim_rank() == from || sim_rank() == to)) {
        OK(MPI_Waitany(2, r, &at, MPI_STATUS_IGNORE));
        late(5);
    }
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
}

static void program(int lost_round)
{
    int ranks, in[SIM_RANKS], out[SIM_RANKS];
    char *buf = calloc(2, LONG);
    MPI_Comm half;
    uint64_t state = sim_seed() * 977 + 5;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    OK(MPI_Comm_split(MPI_COMM_WORLD, sim_rank() % 2, 0, &half));
    memset(in, 0, sizeof in);
    for (int i = 0; i < ROUNDS; i++) {
        int what = dice(&state, 6), from = dice(&state, ranks);
        int to = (from + 1 + dice(&state, ranks - 1)) % ranks;
        int n = dice(&state, 2) ? LONG : 1 + dice(&state, 100);
        MPI_Comm c = dice(&state, 2) ? half : MPI_COMM_WORLD;
        MPI_Request r;
        late(15);
        switch (what) {
        case 0:
            OK(MPI_Barrier(c));
            break;
        case 1:
            OK(MPI_Allreduce(in, out, 3, MPI_INT, MPI_SUM, c));
            break;
        case 2:
            OK(MPI_Bcast(in, 2, MPI_INT, 0, c));
            break;
        case 3: /* others wait for it before this one does */
            OK(MPI_Ibarrier(c, &r));
            late(30);
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
            break;
        default:
            pass_on(from, to, n, i, i == lost_round, buf);
        }
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    MPI_Comm_free(&half);
    free(buf);
}

static void legal(void *arg)
{
    begin();
    program(-1);
    if (proc->check->stall && proc->check->stall->over)
        sim_fail("a verdict on a legal program");
}

/* The first round that has a message. */
static int first_message(uint64_t seed, int ranks)
{
    uint64_t state = seed * 977 + 5;
    for (int i = 0; i < ROUNDS; i++) {
        int what = dice(&state, 6);
        dice(&state, ranks);
        dice(&state, ranks - 1);
        if (!dice(&state, 2))
            dice(&state, 100);
        dice(&state, 2);
        if (what > 3)
            return i;
    }
    return -1;
}

static void lost(void *arg)
{
    begin();
    program(first_message(sim_seed(), size));
}

/* --- messages and collective calls ------------------------------------------------------------ */

static int crossed(MPI_Comm c)
{
    const struct align *a = ((struct comm *)obj_find(OBJ_COMM, c))->check;
    return a && a->crossed;
}

static void cross(void *arg)
{
    int v = 0;
    begin();
    if (sim_rank() == 1)
        OK(MPI_Recv(&v, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Bcast(&v, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (sim_rank() == 0)
        OK(MPI_Send(&v, 1, MPI_INT, 1, 3, MPI_COMM_WORLD));
    if (crossed(MPI_COMM_WORLD) != (sim_rank() == 1))
        sim_fail("it is reported where it does not happen, or not reported");
}

/* A message is sent before the collective call of round `at`, and waited for in round `until`, not
 * before. */
struct message {
    int from, to, n, post, at, until;
    char *buf;
    MPI_Request r;
};
enum { MESSAGES = 24 };

static void draw(struct message *m, uint64_t *state)
{
    m->from = dice(state, size);
    m->to = (m->from + 1 + dice(state, size - 1)) % size;
    m->n = dice(state, 3) ? 1 + dice(state, 100) : LONG;
    m->at = dice(state, ROUNDS);
    m->until = m->at + dice(state, ROUNDS - m->at);
    m->post = dice(state, m->until + 1);
    m->buf = calloc(1, LONG);
    m->r = MPI_REQUEST_NULL;
}

static void exchange(struct message *m, int round)
{
    for (int i = 0; i < MESSAGES; i++)
        if (m[i].from == sim_rank() && m[i].at == round)
            OK(MPI_Isend(m[i].buf, m[i].n, MPI_CHAR, m[i].to, i, MPI_COMM_WORLD, &m[i].r));
    for (int i = 0; i < MESSAGES; i++)
        if (m[i].to == sim_rank() && m[i].post == round && i % 2)
            OK(MPI_Irecv(m[i].buf, LONG, MPI_CHAR, m[i].from, i, MPI_COMM_WORLD, &m[i].r));
    for (int i = 0; i < MESSAGES; i++)
        if (m[i].to == sim_rank() && m[i].until == round && i % 2)
            OK(MPI_Wait(&m[i].r, MPI_STATUS_IGNORE));
        else if (m[i].to == sim_rank() && m[i].until == round)
            OK(MPI_Recv(m[i].buf, LONG, MPI_CHAR, m[i].from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void cross_legal(void *arg)
{
    struct message m[MESSAGES];
    uint64_t state = sim_seed() * 977 + 5;
    int v = 0, out = 0;
    begin();
    for (int i = 0; i < MESSAGES; i++)
        draw(&m[i], &state);
    for (int round = 0; round < ROUNDS; round++) {
        int root = dice(&state, size), what = dice(&state, 4);
        late(5);
        exchange(m, round);
        if (what)
            OK(MPI_Bcast(&v, 1, MPI_INT, root, MPI_COMM_WORLD));
        else
            OK(MPI_Reduce(&v, &out, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
        if (crossed(MPI_COMM_WORLD))
            sim_fail("a message that crosses no call is reported");
    }
    for (int i = 0; i < MESSAGES; i++) {
        OK(MPI_Wait(&m[i].r, MPI_STATUS_IGNORE));
        free(m[i].buf);
    }
}

/* --- knobs ------------------------------------------------------------------------------------ */

static void checked(struct sim_knobs *k)
{
    static const char *const levels[] = {"1", "2", "3"};
    scenario_cvar("MPIR_CVAR_COLL_CHECK", levels[k->seed % 3]);
    scenario_cvar("MPIR_CVAR_COLL_CHECK_STALL", "100");
}

static void any_order(struct sim_knobs *k)
{
    checked(k);
    k->ordered = (int)(k->seed % 2);
}

static void dead_end(struct sim_knobs *k)
{
    checked(k);
    k->mortal = 1;
    k->aborts = "deadlock";
}

/* All answer in time, so each message is sent once. */
static void counted(struct sim_knobs *k, void (*look)(void))
{
    dead_end(k);
    k->quiet_rank = -1;
    k->again_percent = k->refuse_percent = 0;
    k->at_abort = look;
}

static void count_recv_barrier(struct sim_knobs *k)
{
    counted(k, recv_barrier_sent);
    k->aborts = "rank 1: MPI_Recv(source 0, tag 3) waits for rank 0";
}

static void count_ring(struct sim_knobs *k)
{
    counted(k, ring_sent);
    k->aborts = "rank 2: MPI_Recv(source 0, tag 3) waits for rank 0";
}

static void count_any(struct sim_knobs *k)
{
    counted(k, any_sent);
    k->aborts = "rank 0: MPI_Recv(MPI_ANY_SOURCE, tag 3) waits for ranks 1-3";
}

static void count_any_finalized(struct sim_knobs *k)
{
    counted(k, any_sent);
    k->aborts = "ranks 1-3: MPI_Finalize";
}

static void count_finalized(struct sim_knobs *k)
{
    counted(k, finalized_sent);
    k->aborts = "rank 1: MPI_Finalize";
}

static void lost_partition(struct sim_knobs *k)
{
    dead_end(k);
    k->aborts = "rank 0: MPI_Wait(a partitioned send to 1, tag 3) waits for rank 0";
}

static void mortal(struct sim_knobs *k) /* none dies, but what errors leave is no leak */
{
    checked(k);
    k->mortal = 1;
}

static void may_hang(struct sim_knobs *k)
{
    checked(k);
    if (first_message(k->seed, k->ranks) >= 0)
        dead_end(k);
}

static void crossing(struct sim_knobs *k)
{
    checked(k);
    k->mortal = 1;
    k->ordered = 1;
    k->again_percent = k->refuse_percent = 0;
    scenario_cvar("MPIR_CVAR_COLL_CHECK", "2");
}

static void crossing_strict(struct sim_knobs *k)
{
    crossing(k);
    k->aborts = "a message crosses a collective call on MPI_COMM_WORLD: rank 0 sends it behind "
                "MPI_Bcast(root 0, 4 bytes)";
    scenario_cvar("MPIR_CVAR_COLL_CHECK", "3");
}

/* As by mpiexec -timeout. */
static void proofs(struct sim_knobs *k)
{
    scenario_cvar("MPIR_CVAR_COLL_CHECK", "0");
    scenario_cvar("MPIR_CVAR_WAIT_PROOF", "1");
    scenario_cvar("MPIR_CVAR_COLL_CHECK_STALL", "100");
    k->quiet_rank = -1;
    k->again_percent = k->refuse_percent = 0;
}

static void guarded(struct sim_knobs *k)
{
    any_order(k);
    scenario_cvar("MPIR_CVAR_COLL_CHECK", "2");
}

const struct scenario scenarios_waits[] = {
    {"align-wait-recv", 2, 1, recv_barrier, NULL, count_recv_barrier},
    {"align-wait-ring", 3, 1, ring, NULL, count_ring},
    {"align-wait-any", 4, 1, any, NULL, count_any},
    {"align-wait-any-finalized", 4, 1, any_finalized, NULL, count_any_finalized},
    {"align-wait-finalized", 3, 1, finalized, NULL, count_finalized},
    {"align-wait-part-lost", 3, 1, part_lost, NULL, lost_partition},
    {"align-wait-part-late", 3, 1, part_late, NULL, any_order},
    {"align-wait-comms", 3, 1, two_comms, NULL, mortal},
    {"align-wait-late", 4, 1, late_message, NULL, any_order},
    {"align-wait-collectors", 7, 1, collectors, NULL, proofs},
    {"align-wait-legal-4", 4, 1, legal, NULL, checked},
    {"align-wait-legal-7", 7, 1, legal, NULL, checked},
    {"align-wait-lost-4", 4, 1, lost, NULL, may_hang},
    {"align-cross", 3, 1, cross, NULL, crossing},
    {"align-cross-strict", 3, 1, cross, NULL, crossing_strict},
    {"align-cross-legal-3", 3, 1, cross_legal, NULL, guarded},
    {"align-cross-legal-5", 5, 1, cross_legal, NULL, guarded},
    {NULL, 0, 0, NULL, NULL, NULL},
};

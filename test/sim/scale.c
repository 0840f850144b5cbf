/* scale.c - one rank of this library in jobs of ten to a million processes (virtual.h): messages,
 * steps and bytes of each protocol.
 *
 *   scale            the figures of 10 virtual ranks equal those of 10 real ones, for each of the
 *                    ten; then they grow with P and K as they may, and no faster (asserted)
 *   scale --table    the same up to a million processes, as lines for maint/scale
 *
 * A step is the time of one message: `latency` steps of the scheduler, in which everything else is
 * nothing. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "scripted.h"
#include "virtual.h"

enum {
    LATENCY = 4000, ROUND = 64 * LATENCY, TURN = LATENCY / 16, CELLS = 64, TARGETS = 4, TOUCHED = 6
};

enum row {
    INIT, CREATE, ALLOCATE, DUPLICATE, FREE, FENCE, FENCE_OPENS, FENCE_PUTS, EXPOSURE, ACCESS, LOCK,
    LOCK_ALL, FLUSH_ALL, UNLOCK_ALL, WINDOW_LOCK_ALL, WINDOW_FLUSH_ALL, WINDOW_UNLOCK_ALL,
    LOCKED_BY_ALL, UNLOCKED_BY_ALL, AT_END, LAUNCHER, LAUNCHER_END, ROWS
};
static const char *const row_name[ROWS] = {"MPI_Init",
                                           "MPI_Win_create",
                                           "MPI_Win_allocate",
                                           "MPIX_Win_idup",
                                           "MPI_Win_free",
                                           "fence, nothing to do",
                                           "fence NOPRECEDE, returns",
                                           "fence after puts to K",
                                           "post to K .. wait",
                                           "start on K, put to each, complete",
                                           "lock, put, unlock",
                                           "lock_all, put to K",
                                           "flush_all of K targets",
                                           "unlock_all of K targets",
                                           "window protocol: lock_all, put to 6",
                                           "window protocol: flush_all",
                                           "window protocol: unlock_all",
                                           "target: all others lock_all it",
                                           "target: all unlock it",
                                           "at the end",
                                           "launcher: MPI_Init",
                                           "launcher: all of it"};

struct figures {
    long sent, received, steps, bytes;
};
/* Every rank takes part; how long a rank waits for the slowest is not its own figure: the virtual
 * ones are in time. */
static const char is_collective[ROWS] = {
    [CREATE] = 1, [ALLOCATE] = 1, [FREE] = 1, [FENCE] = 1, [FENCE_OPENS] = 1, [FENCE_PUTS] = 1};
static struct plan {
    int size, act, k; /* processes; the rank looked at; peers of PSCW and the like */
    int windows;      /* the window protocol too: O(P) messages */
} plan;
static struct figures fig[ROWS];

static int acting(void)
{
    return the_sim->k.world || sim_rank() == plan.act;
}

/* --- measuring -------------------------------------------------------------------------------- */

static struct figures at_begin;

/* All begin at a time agreed: then no message is under way, and no clock is behind. */
static void line_up(void)
{
    int flag;
    for (long until = (sim_time() / ROUND + 1) * ROUND; sim_time() < until;) {
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        sim_compute((int)(until - sim_time() < TURN ? until - sim_time() : TURN));
    }
}

static struct figures look(void)
{
    return (struct figures){sim_sent(sim_rank(), -1), sim_received(sim_rank(), -1), sim_time(),
                            memory_bytes(sim_rank())};
}

static void begin(void)
{
    line_up();
    if (acting())
        at_begin = look();
}

static void end(enum row r)
{
    if (!acting())
        return;
    struct figures f = look();
    fig[r] = (struct figures){f.sent - at_begin.sent, f.received - at_begin.received,
                              (f.steps - at_begin.steps + LATENCY / 2) / LATENCY,
                              f.bytes - at_begin.bytes};
}

/* --- the program: the acting rank and, where all are real, the others ------------------------- */

/* The i-th of K peers, spread over the job. */
static int peer(int i, int k)
{
    return (int)((plan.act + 1 + (long)i * ((plan.size - 1) / k)) % plan.size);
}

static int is_peer(int rank, int k)
{
    for (int i = 0; i < k; i++)
        if (peer(i, k) == rank)
            return 1;
    return 0;
}

static void put(MPI_Win w, int target)
{
    static const long v = 1;
    OK(MPI_Put(&v, 1, MPI_LONG, target, 0, 1, MPI_LONG, w));
}

static void put_to(MPI_Win w, int k)
{
    for (int i = 0; i < k; i++)
        put(w, peer(i, k));
}

static MPI_Win creation(void)
{
    static long memory[SIM_RANKS][CELLS];
    MPI_Win w;
    long *base;
    begin();
    OK(MPI_Win_create(memory[sim_rank()], sizeof memory[0], sizeof(long), MPI_INFO_NULL,
                      MPI_COMM_WORLD, &w));
    end(CREATE);
    begin();
    OK(MPI_Win_free(&w));
    end(FREE);
    begin();
    OK(MPI_Win_allocate(CELLS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                        &w));
    end(ALLOCATE);
    if (acting())
        fig[ALLOCATE].bytes -= CELLS * (long)sizeof(long);
    return w;
}

/* A context of OpenSHMEM has two of them. */
static void duplicate(MPI_Win w)
{
    MPI_Win d;
    MPI_Request made;
    begin();
    if (acting()) {
        OK(MPIX_Win_idup(w, MPI_INFO_NULL, &d, &made));
        OK(MPI_Wait(&made, MPI_STATUS_IGNORE));
    }
    end(DUPLICATE);
    if (acting())
        OK(MPI_Win_free(&d));
}

static void fences(MPI_Win w)
{
    begin();
    OK(MPI_Win_fence(0, w));
    end(FENCE);
    begin();
    if (acting())
        put_to(w, plan.k);
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w));
    end(FENCE_PUTS);
    begin();
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w));
    end(FENCE_OPENS);
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w));
}

static void pscw(MPI_Win w)
{
    MPI_Group world, all;
    int *ranks = malloc((size_t)plan.k * sizeof *ranks),
        mine = !acting() && is_peer(sim_rank(), plan.k);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int i = 0; i < plan.k; i++)
        ranks[i] = peer(i, plan.k);
    if (acting())
        OK(MPI_Group_incl(world, plan.k, ranks, &all));
    else
        OK(MPI_Group_incl(world, 1, &plan.act, &all));
    begin();
    if (acting()) {
        OK(MPI_Win_post(all, 0, w));
        OK(MPI_Win_wait(w));
    } else if (mine) {
        OK(MPI_Win_start(all, 0, w));
        OK(MPI_Win_complete(w));
    }
    end(EXPOSURE);
    begin();
    if (acting()) {
        for (int i = 0; the_sim->k.world && i < plan.k; i++)
            virtual_post(inside(w)->id, ranks[i]);
        OK(MPI_Win_start(all, 0, w));
        put_to(w, plan.k);
        OK(MPI_Win_complete(w));
    } else if (mine) {
        OK(MPI_Win_post(all, 0, w));
        OK(MPI_Win_wait(w));
    }
    end(ACCESS);
    OK(MPI_Group_free(&all));
    OK(MPI_Group_free(&world));
    free(ranks);
}

static void locks(MPI_Win w)
{
    begin();
    if (acting()) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer(0, 1), 0, w));
        put(w, peer(0, 1));
        OK(MPI_Win_unlock(peer(0, 1), w));
    }
    end(LOCK);
    begin();
    if (acting()) {
        OK(MPI_Win_lock_all(0, w));
        put_to(w, plan.k);
    }
    end(LOCK_ALL);
    begin();
    if (acting())
        OK(MPI_Win_flush_all(w));
    end(FLUSH_ALL);
    begin();
    if (acting())
        OK(MPI_Win_unlock_all(w));
    end(UNLOCK_ALL);
}

/* More targets than there are elements: in the middle of the epoch every rank is locked. */
static void window_protocol(MPI_Win w)
{
    begin();
    if (acting()) {
        OK(MPI_Win_lock_all(0, w));
        put_to(w, TOUCHED);
        SIM_CHECK(rma_in(inside(w), SET_ALL_LOCKED));
    }
    end(WINDOW_LOCK_ALL);
    begin();
    if (acting())
        OK(MPI_Win_flush_all(w));
    end(WINDOW_FLUSH_ALL);
    begin();
    if (acting())
        OK(MPI_Win_unlock_all(w));
    end(WINDOW_UNLOCK_ALL);
}

/* Wait until all P-1 requests have come; what this process remembers of their locks is bounded. */
static void be_locked(MPI_Win w)
{
    static long got[SIM_RANKS];
    for (int step = 0; step < 2; step++) {
        begin();
        long want = look().received + plan.size - 1;
        if (!acting()) {
            if (!step)
                OK(MPI_Win_lock_all(0, w));
            if (!step)
                OK(MPI_Get(&got[sim_rank()], 1, MPI_LONG, plan.act, 0, 1, MPI_LONG, w));
            OK(step ? MPI_Win_unlock_all(w) : MPI_Win_flush(plan.act, w));
        }
        for (int r = 0, out = 0; acting() && sim_received(sim_rank(), -1) < want; turn())
            for (out = 0; the_sim->k.world && r < plan.size && out < 64; r++, out++)
                if (r != plan.act)
                    (step ? virtual_unlock : virtual_lock)(inside(w)->id, r);
        end(step ? UNLOCKED_BY_ALL : LOCKED_BY_ALL);
    }
}

/* Values put, values read, barriers, bytes of the values. */
static void look_at_launcher(enum row r)
{
    struct sim_launcher l = sim_launched(sim_rank());
    if (acting())
        fig[r] = (struct figures){l.puts, l.gets, l.barriers, l.bytes};
}

static void program(void *arg)
{
    (void)arg;
    struct figures f = look();
    if (acting())
        fig[INIT] = f;
    look_at_launcher(LAUNCHER);
    MPI_Win w = creation();
    duplicate(w);
    if (plan.windows) {
        window_protocol(w);
        be_locked(w);
    } else {
        fences(w);
        pscw(w);
        locks(w);
    }
    line_up();
    OK(MPI_Win_free(&w));
    line_up();
    f = look();
    if (acting())
        fig[AT_END] = f;
    look_at_launcher(LAUNCHER_END);
}

/* --- more locks than elements ----------------------------------------------------------------- */

/* the even ranks are locked, all but 0, which is the acting one; 4 elements */
enum { HALF = 6000 };

/* What is not locked, and what is already: errors, and no message leaves. */
static void wrong_calls(MPI_Win w)
{
    static const long v = 1;
    long sent = sim_sent(0, -1);
    for (int r = 1; r < 2 * HALF; r += 2) {
        ERR(MPI_ERR_RMA_SYNC, MPI_Win_unlock(r, w));
        ERR(MPI_ERR_RMA_SYNC, MPI_Put(&v, 1, MPI_LONG, r, 0, 1, MPI_LONG, w));
        ERR(MPI_ERR_RMA_SYNC, MPI_Win_flush(r, w));
    }
    for (int r = 2; r < 2 * HALF; r += 2)
        ERR(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, r, 0, w));
    SIM_CHECK(sim_sent(0, -1) == sent);
}

/* Each of many origins must get its own error. */
static void many_refused(MPI_Win w)
{
    enum { MANY = 200 };
    for (int r = 1; r <= MANY; r++)
        virtual_put_refused(inside(w)->id, r);
    for (long want = sim_received(0, -1) + MANY; sim_received(0, -1) < want;)
        turn();
    SIM_CHECK(inside(w)->target.errors.count == MANY);
}

static void many_locks(void *arg)
{
    (void)arg;
    MPI_Win w;
    long *base;
    OK(MPI_Win_allocate(CELLS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                        &w));
    OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
    for (int r = 2; r < 2 * HALF; r += 2)
        OK(MPI_Win_lock(MPI_LOCK_SHARED, r, 0, w));
    const struct rma_evicted_set *g = &inside(w)->passive.evicted;
    SIM_CHECK(g->count >= HALF - 1 - 4 && g->locked.count <= 2 * HALF / 64 + 1);
    wrong_calls(w);
    put(w, 2); /* evicted long ago */
    OK(MPI_Win_flush(2, w));
    SIM_CHECK(inside(w)->passive.locks == HALF - 1);
    wrong_calls(w);
    struct counts c = mark(0);
    for (int r = 2; r < 2 * HALF; r += 2)
        OK(MPI_Win_unlock(r, w));
    SENT(&c, HALF - 2, DONE); /* one UNLOCK each but for the last, whose LOCK had not left */
    SIM_CHECK(rma_in(inside(w), SET_UNSET) && !g->count);
    many_refused(w);
    OK(MPI_Win_free(&w));
}

/* --- runs ------------------------------------------------------------------------------------- */

static void run_program(struct plan p, int virtual, void (*main_of)(void *))
{
    struct sim_knobs k = sim_defaults(1);
    plan = p;
    memset(fig, 0, sizeof fig);
    k.latency = LATENCY;
    k.am_max = 65536;
    k.replies = 4096; /* room for the answers of all K at once */
    k.ranks = k.nodes = virtual ? 1 : p.size;
    if (virtual) {
        k.world = p.size;
        k.me = p.act;
    }
    k.max_steps = 1000000000;
    /* Few elements, so that few targets make the switch. */
    setenv("MPIR_CVAR_CH3_RMA_TARGET_WIN_POOL_SIZE", p.windows ? "4" : "256", 1);
    setenv("MPIR_CVAR_CH3_RMA_TARGET_GLOBAL_POOL_SIZE", p.windows ? "0" : "16384", 1);
    memory_begin();
    sim_run(&k, main_of, NULL, NULL, NULL);
}

static void run(struct plan p, int virtual)
{
    run_program(p, virtual, program);
}

static int failures;

static void expect(int ok, const char *what, long a, long b)
{
    if (ok)
        return;
    fprintf(stderr, "scale: P = %d, rank %d, K = %d%s: %s: %ld, %ld\n", plan.size, plan.act, plan.k,
            plan.windows ? ", window protocol" : "", what, a, b);
    failures++;
}

/* Every figure of every rank of ten. */
static void compare(int windows)
{
    struct figures real[ROWS];
    for (int act = 0; act < 10; act++) {
        struct plan p = {10, act, 8, windows};
        run(p, 0);
        memcpy(real, fig, sizeof real);
        run(p, 1);
        for (int r = 0; r < ROWS; r++) {
            char text[100];
            const char *const what[] = {"sent", "received", "steps", "bytes"};
            const long *a = &real[r].sent, *b = &fig[r].sent;
            for (int i = 0; i < 4; i++) {
                if (i == 2 && is_collective[r])
                    expect(a[i] <= 4 * 4 + 6, "steps of ten real ones", a[i], 4 * 4 + 6);
                if (i == 2 && (is_collective[r] || r == INIT || r == AT_END))
                    continue;
                if (i == 3 && r >= LAUNCHER) /* the addresses of the two transports differ */
                    continue;
                snprintf(text, sizeof text, "%s: %s, real and virtual", row_name[r], what[i]);
                expect(a[i] == b[i], text, a[i], b[i]);
            }
        }
    }
}

static void print_table(void)
{
    for (int r = 0; r < ROWS; r++)
        if (fig[r].sent || fig[r].received || fig[r].steps || fig[r].bytes)
            printf("%d\t%d\t%d\t%d\t%s\t%ld\t%ld\t%ld\t%ld\n", plan.size, plan.act, plan.k,
                   plan.windows, row_name[r], fig[r].sent, fig[r].received, fig[r].steps,
                   fig[r].bytes);
}

/* --- growth ----------------------------------------------------------------------------------- */

static struct figures at_1000[ROWS]; /* of the same kind of run */

static void sent_is(enum row r, long n)
{
    expect(fig[r].sent == n, row_name[r], fig[r].sent, n);
}

static void at_most(const char *what, enum row r, long got, long most)
{
    char text[100];
    snprintf(text, sizeof text, "%s: %s", row_name[r], what);
    expect(got <= most, text, got, most);
}

static long log2_of(long p)
{
    long n = 0;
    while (1L << n < p)
        n++;
    return n;
}

/* The most that a process may have to do with others in a collective: tree, doubling with its two
 * ends, dissemination. */
static void check_collective(enum row r, long rounds, long puts)
{
    at_most("messages sent", r, fig[r].sent, rounds + puts);
    at_most("messages received", r, fig[r].received, rounds + puts);
    at_most("steps", r, fig[r].steps, rounds + (puts ? 2 : 0));
}

/* bytes that one more process talked to may cost, tables that double included */
enum { RECORDS = 1200 };

/* MPI_Init is the same for every P: rank 0 puts what the others compare with. Later a process reads
 * one value of each that it talks to. */
static void check_launcher(void)
{
    long L = log2_of(plan.size), reads = plan.act ? 2 : 1;
    sent_is(LAUNCHER, plan.act ? 3 : 4);
    expect(fig[LAUNCHER].received == reads, "values read in MPI_Init", fig[LAUNCHER].received,
           reads);
    expect(fig[LAUNCHER].steps == 2, "barriers in MPI_Init", fig[LAUNCHER].steps, 2);
    at_most("bytes", LAUNCHER, fig[LAUNCHER].bytes, 128);
    expect(fig[INIT].sent == at_1000[INIT].sent && fig[INIT].received == at_1000[INIT].received,
           "messages in MPI_Init", fig[INIT].sent, fig[INIT].received);
    sent_is(LAUNCHER_END, fig[LAUNCHER].sent);
    at_most("values read", LAUNCHER_END, fig[LAUNCHER_END].received, reads + 3 * L + plan.k);
    expect(fig[LAUNCHER_END].steps == 2, "barriers after MPI_Init", fig[LAUNCHER_END].steps, 2);
}

static void check_active(void)
{
    long P = plan.size, K = plan.k, L = log2_of(P);
    check_launcher();
    check_collective(CREATE, 4 * L + 6, 0); /* a context id, three agreements */
    check_collective(ALLOCATE, 4 * L + 6, 0);
    check_collective(FREE, L, 0);
    check_collective(FENCE, L, 0);
    check_collective(FENCE_PUTS, L, K);
    sent_is(DUPLICATE, 0);
    sent_is(FENCE_OPENS, 1);
    expect(fig[FENCE_OPENS].steps == 0, "an opening fence waits", fig[FENCE_OPENS].steps, 0);
    /* O(K), whatever P is. */
    sent_is(EXPOSURE, K);
    sent_is(ACCESS, K);
    expect(fig[ACCESS].received == 2 * K, row_name[ACCESS], fig[ACCESS].received, 2 * K);
    expect(fig[ACCESS].steps == 3, "post, put, acknowledgement", fig[ACCESS].steps, 3);
    sent_is(LOCK, 1);
    sent_is(LOCK_ALL, 0);
    sent_is(FLUSH_ALL, K);
    sent_is(UNLOCK_ALL, K);
    for (int r = EXPOSURE; r <= UNLOCK_ALL; r++)
        at_most("steps", (enum row)r, fig[r].steps, 3);
    /* Memory: a window is the same for every P, a process keeps records of those it has talked
     * to. */
    expect(fig[INIT].bytes == at_1000[INIT].bytes, row_name[INIT], fig[INIT].bytes,
           at_1000[INIT].bytes);
    expect(fig[ALLOCATE].bytes == at_1000[ALLOCATE].bytes || P < 256, row_name[ALLOCATE],
           fig[ALLOCATE].bytes, at_1000[ALLOCATE].bytes);
    expect(fig[DUPLICATE].bytes > 0, row_name[DUPLICATE], fig[DUPLICATE].bytes, 0);
    expect(fig[DUPLICATE].bytes == at_1000[DUPLICATE].bytes || P < 256, row_name[DUPLICATE],
           fig[DUPLICATE].bytes, at_1000[DUPLICATE].bytes);
    at_most("bytes", AT_END, fig[AT_END].bytes, at_1000[AT_END].bytes + RECORDS * (3 * L + K));
}

static void check_window_protocol(void)
{
    long P = plan.size;
    /* A LOCK to each, piggybacked on the first put where there was one; an answer from each;
     * nothing else grows. */
    sent_is(WINDOW_LOCK_ALL, P - 1 + TARGETS);
    expect(fig[WINDOW_LOCK_ALL].received == P - 1, row_name[WINDOW_LOCK_ALL],
           fig[WINDOW_LOCK_ALL].received, P - 1);
    at_most("sent", WINDOW_FLUSH_ALL, fig[WINDOW_FLUSH_ALL].sent, TARGETS);
    sent_is(WINDOW_UNLOCK_ALL, P - 1);
    expect(fig[ALLOCATE].bytes == at_1000[ALLOCATE].bytes || P < 256, row_name[ALLOCATE],
           fig[ALLOCATE].bytes, at_1000[ALLOCATE].bytes);
    /* What this process remembers of those that hold its lock is bounded. */
    at_most("bytes", LOCKED_BY_ALL, fig[LOCKED_BY_ALL].bytes, 64 * 1024);
    /* Full records exist only for ranks with outstanding packets, else half a byte and a share
     * of a hash. */
    at_most("bytes", AT_END, fig[AT_END].bytes, at_1000[INIT].bytes + 192 * 1024 + P);
}

static void one(int size, int act, int k, int windows, int table)
{
    run((struct plan){size, act, k, windows}, 1);
    if (size == 1000 && k == 8)
        memcpy(at_1000, fig, sizeof fig);
    (windows ? check_window_protocol : check_active)();
    if (table)
        print_table();
}

int main(int argc, char **argv)
{
    /* the first is what others are compared with */
    static const int sizes[] = {1000, 10, 100, 10000, 100000, 1000000};
    int table = argc > 1 && !strcmp(argv[1], "--table");
    compare(0);
    compare(1);
    for (int i = 0; i < 6; i++) {
        int P = sizes[i];
        one(P, 0, 8, 0, table);
        one(P, P / 2 - 1, 8, 0, table);
        one(P, P - 1, 8, 0, table);
    }
    for (int k = 16; k <= 1024; k *= 4)
        one(1000000, 77777, k, 0, table);
    for (int i = 0; i < (table ? 6 : 5); i++)
        one(sizes[i], sizes[i] / 2, 8, 1, table);
    run_program((struct plan){2 * HALF, 0, 0, 1}, 1, many_locks);
    if (!failures)
        fprintf(stderr, "scale: the figures of 10 virtual ranks are those of 10 real ones; %s\n",
                "a window costs the same for 1,000 and 1,000,000 processes");
    return failures != 0;
}

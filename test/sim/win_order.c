/* win_order.c - MPIX_Win_order: exact numbers of messages, then random programs.  Their oracle is
 * the target's memory at any moment: if it has something of an operation, it has all of those that
 * MPIX_Win_order put before it.  Gets and fetches return what was last put before them. */
#include <stdlib.h>

#include "scripted.h"

static void quiet(struct sim_knobs *k)
{
    far_away(k);
    /* what a call sends has left */
    k->replies = k->refuse_percent = k->again_percent = k->inbox = 0;
    k->ordered = 1;
}

/* Put, order, put: one packet, as without the order. */
static void ordered_counts(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    long v[2] = {5, 6};
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(0, j.win));
        put1(&j, &v[0], 1, 0);
        OK(MPI_Win_flush(1, j.win));
        struct counts c = mark(0), b = mark(1);
        OK(MPIX_Win_order(1, j.win)); /* nothing is under way */
        put1(&j, &v[0], 1, 1);
        OK(MPIX_Win_order(1, j.win));
        put1(&j, &v[1], 1, 1);
        OK(MPIX_Win_order(MPIX_ALL, j.win));
        SIM_CHECK(since_all(&c) == 0);
        OK(MPI_Win_flush(1, j.win));
        SENT(&c, 1, BATCH);
        SENT(&b, 1, ACK);
        OK(MPI_Win_unlock_all(j.win));
        tell(1);
    } else {
        hear(0);
        SIM_CHECK(j.mem[0] == 5 && j.mem[1] == 6);
    }
    job_close(&j);
}

static void unordered(struct sim_knobs *k)
{
    quiet(k);
    k->ordered = 0;
}

/* Where messages pass each other each put is answered, and the second waits for that. */
static void unordered_counts(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    long v[2] = {5, 6};
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(0, j.win));
        put1(&j, &v[0], 1, 0);
        OK(MPI_Win_flush(1, j.win));
        struct counts c = mark(0), b = mark(1);
        put1(&j, &v[0], 1, 1);
        OK(MPIX_Win_order(1, j.win));
        put1(&j, &v[1], 1, 1);
        OK(MPI_Win_flush(1, j.win));
        SENT(&c, 2, PUT);
        SENT(&b, 2, ACK);
        OK(MPI_Win_unlock_all(j.win));
    }
    job_close(&j);
}

enum { LINE = 120, GETS = 7, GOT = 37 /* longs */, AT = 8 };

static void native_puts(struct sim_knobs *k)
{
    quiet(k);
    k->native = SIM_NATIVE_PUT;
    k->native_ordered = 0;
    k->native_min = LINE * sizeof(long);
    /* less than what the gets fetch, more than they take in a packet */
    scenario_cvar("MPIR_CVAR_RMA_PACKET_SIZE", "2048");
}

/* The gets fit into one packet with the put behind the order, which waits for the native one. */
static void put_many(const struct job *j)
{
    long line[LINE], got[GETS][GOT], flag = 5;
    const struct rma_target *t;
    OK(MPI_Win_lock_all(0, j->win));
    for (int i = 0; i < LINE; i++)
        line[i] = 0;
    do {
        OK(MPI_Put(line, LINE, MPI_LONG, 1, AT, LINE, MPI_LONG, j->win));
        OK(MPI_Win_flush(1, j->win));
        t = rma_target_find(inside(j->win), 1);
    } while (!t->key || t->key->state != KEY_READY);
    for (int i = 0; i < LINE; i++)
        line[i] = 9;
    sim_hold(SIM_NATIVE_OPS, 0, 1);
    tell(1);
    struct counts c = mark(0);
    OK(MPI_Put(line, LINE, MPI_LONG, 1, AT, LINE, MPI_LONG, j->win));
    for (int i = 0; i < GETS; i++)
        OK(MPI_Get(got[i], GOT, MPI_LONG, 1, AT + LINE, GOT, MPI_LONG, j->win));
    OK(MPIX_Win_order(1, j->win));
    put1(j, &flag, 1, 0);
    OK(MPI_Win_flush(1, j->win));
    SENT2(&c, 1, BATCH, 1, PUT);
    OK(MPI_Win_unlock_all(j->win));
}

static void gets_before(void *arg)
{
    (void)arg;
    struct job j = job_open(AT + LINE + GOT);
    if (j.rank == 0) {
        put_many(&j);
    } else {
        hear(0);
        for (int i = 0; i < 200; i++) {
            turn();
            SIM_CHECK(j.mem[0] == 0);
        }
        sim_let_go(SIM_NATIVE_OPS, 1);
        sim_hold(-1, 0, 0);
        while (j.mem[0] != 5)
            turn();
        for (int i = 0; i < LINE; i++)
            SIM_CHECK(j.mem[AT + i] == 9);
    }
    job_close(&j);
}

static void errors(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    ERR(MPI_ERR_RMA_SYNC, MPIX_Win_order(1, j.win));
    ERR(MPI_ERR_RMA_SYNC, MPIX_Win_order(MPIX_ALL, j.win));
    OK(MPIX_Win_order(MPI_PROC_NULL, j.win));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j.win));
    OK(MPIX_Win_order(1, j.win));
    OK(MPIX_Win_order(MPIX_ALL, j.win));
    ERR(MPI_ERR_RMA_SYNC, MPIX_Win_order(0, j.win));
    ERR(MPI_ERR_RANK, MPIX_Win_order(j.size, j.win));
    OK(MPI_Win_unlock(1, j.win));
    OK(MPI_Win_fence(0, j.win));
    OK(MPIX_Win_order(0, j.win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j.win));
    job_close(&j);
}

/* --- random programs -------------------------------------------------------------------------- */

enum { STEPS = 24, CELLS = 160, KINDS = 5, FEW = 16 /* cells of small puts */ };
enum kind { PUT, REPLACE, GET, FETCH, REQUEST };

struct step {
    int kind, at, len, group; /* operations of a group have no order */
};
struct plan { /* what one rank does to another */
    struct step s[STEPS];
};

static uint64_t next(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x >> 16;
}

static int overlaps(const struct step *a, const struct step *b)
{
    return a->at < b->at + b->len && b->at < a->at + a->len;
}

/* Many small puts, some of which share an element (R10). */
static int coalesces(uint64_t seed)
{
    return seed / 2 % 2 != 0;
}

/* All ranks know it. */
static void plan_make(struct plan *p, int origin, int target)
{
    static const int lens[] = {1, 1, 1, 2, 5, 30, 60, 120};
    uint64_t x = sim_seed() * 0x9e3779b97f4a7c15ull + (uint64_t)(origin * 64 + target + 1);
    int group = 1, first = 0;
    for (int i = 0; i < 8; i++)
        next(&x);
    for (int i = 0; i < STEPS; i++) {
        struct step *s = &p->s[i];
        s->kind = (int)(next(&x) % KINDS);
        s->len = s->kind == FETCH ? 1 : lens[next(&x) % 8];
        s->at = (int)(next(&x) % (uint64_t)(CELLS - s->len + 1));
        int apart = next(&x) % 2 != 0;
        if (coalesces(sim_seed()) && next(&x) % 8) {
            s->kind = next(&x) % 4 ? PUT : GET;
            s->len = 1;
            s->at %= FEW;
            apart = next(&x) % 8 == 0;
        }
        for (int k = first; k < i; k++)
            apart |= overlaps(&p->s[k], s);
        if (i > 0 && apart) {
            group++;
            first = i;
        }
        s->group = group;
    }
}

static int writes(const struct step *s, int cell)
{
    return s->kind != GET && cell >= s->at && cell < s->at + s->len;
}

/* The last step below `end` that writes the cell, plus 1; 0: none. */
static long last_write(const struct plan *p, int end, int cell)
{
    for (int i = end - 1; i >= 0; i--)
        if (writes(&p->s[i], cell))
            return i + 1;
    return 0;
}

/* What rank `origin` has done to this memory, at any moment. */
static void look(const struct plan *p, const long *mem)
{
    int seen = 0, before = STEPS;
    for (int c = 0; c < CELLS; c++) {
        SIM_CHECK(mem[c] >= 0 && mem[c] <= STEPS);
        SIM_CHECK(mem[c] == 0 || writes(&p->s[mem[c] - 1], c));
        if (mem[c] && p->s[mem[c] - 1].group > seen)
            seen = p->s[mem[c] - 1].group;
    }
    while (before > 0 && p->s[before - 1].group >= seen)
        before--;
    for (int c = 0; c < CELLS; c++)
        if (mem[c] < last_write(p, before, c))
            sim_fail("cell %d has step %ld beside something of group %d, not step %ld", c, mem[c],
                     seen, last_write(p, before, c));
}

struct program {
    struct job j;
    struct plan to[SIM_RANKS], from[SIM_RANKS];
    int at[SIM_RANKS]; /* next step */
    long *out[SIM_RANKS], *in[SIM_RANKS]; /* [STEPS][CELLS] */
    MPI_Request req[SIM_RANKS * STEPS];
    int nreq;
};

static void look_all(const struct program *p)
{
    for (int o = 0; o < p->j.size; o++)
        look(&p->from[o], p->j.mem + o * CELLS);
}

static void act(struct program *p, int t)
{
    int i = p->at[t]++;
    const struct step *s = &p->to[t].s[i];
    long *out = p->out[t] + i * CELLS, *in = p->in[t] + i * CELLS;
    MPI_Aint disp = p->j.rank * CELLS + s->at;
    MPI_Win w = p->j.win;
    for (int k = 0; k < s->len; k++)
        out[k] = i + 1;
    if (i > 0 && p->to[t].s[i - 1].group != s->group)
        OK(MPIX_Win_order(sim_random() % 4 ? t : MPIX_ALL, w));
    switch (s->kind) {
    case PUT: OK(MPI_Put(out, s->len, MPI_LONG, t, disp, s->len, MPI_LONG, w)); break;
    case REPLACE:
        OK(MPI_Accumulate(out, s->len, MPI_LONG, t, disp, s->len, MPI_LONG, MPI_REPLACE, w));
        break;
    case GET: OK(MPI_Get(in, s->len, MPI_LONG, t, disp, s->len, MPI_LONG, w)); break;
    case FETCH: OK(MPI_Fetch_and_op(out, in, MPI_LONG, t, disp, MPI_REPLACE, w)); break;
    default:
        OK(MPI_Rput(out, s->len, MPI_LONG, t, disp, s->len, MPI_LONG, w, &p->req[p->nreq++]));
    }
}

/* What gets and fetches have brought. */
static void answers(const struct program *p, int t)
{
    for (int i = 0; i < STEPS; i++) {
        const struct step *s = &p->to[t].s[i];
        const long *in = p->in[t] + i * CELLS;
        for (int k = 0; (s->kind == GET || s->kind == FETCH) && k < s->len; k++)
            if (in[k] != last_write(&p->to[t], i, s->at + k))
                sim_fail("step %d to %d read step %ld in cell %d, not step %ld", i + 1, t, in[k],
                         s->at + k, last_write(&p->to[t], i, s->at + k));
    }
}

static void run(struct program *p)
{
    int left = p->j.size * STEPS;
    while (left > 0) {
        int t = (int)(sim_random() % (uint64_t)p->j.size);
        if (p->at[t] == STEPS)
            continue;
        act(p, t);
        left--;
        switch (sim_random() % 16) {
        case 0: OK(MPI_Win_flush(t, p->j.win)); break;
        case 1: OK(MPI_Win_flush_local(t, p->j.win)); break;
        case 2: sim_compute((int)(sim_random() % 50)); break;
        case 3: case 4: turn(); break;
        default: break;
        }
        look_all(p);
    }
}

static void random_program(void *arg)
{
    (void)arg;
    static struct program all[SIM_RANKS];
    struct program *p = &all[sim_rank()];
    int created = sim_seed() / 8 % 2;
    memset(p, 0, sizeof *p);
    MPI_Comm_rank(MPI_COMM_WORLD, &p->j.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p->j.size);
    size_t longs = (size_t)p->j.size * CELLS;
    long *mem = NULL;
    if (created) {
        p->j.mem = mem = calloc(longs, sizeof *mem);
        OK(MPI_Win_create(mem, (MPI_Aint)(longs * sizeof *mem), sizeof *mem, MPI_INFO_NULL,
                          MPI_COMM_WORLD, &p->j.win));
    } else {
        OK(MPI_Win_allocate((MPI_Aint)(longs * sizeof(long)), sizeof(long), MPI_INFO_NULL,
                            MPI_COMM_WORLD, &p->j.mem, &p->j.win));
        memset(p->j.mem, 0, longs * sizeof(long));
    }
    for (int r = 0; r < p->j.size; r++) {
        plan_make(&p->to[r], p->j.rank, r);
        plan_make(&p->from[r], r, p->j.rank);
        p->out[r] = calloc(STEPS * CELLS, sizeof(long));
        p->in[r] = calloc(STEPS * CELLS, sizeof(long));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock_all(0, p->j.win));
    run(p);
    OK(MPI_Waitall(p->nreq, p->req, MPI_STATUSES_IGNORE));
    OK(MPI_Win_unlock_all(p->j.win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < p->j.size; r++) {
        answers(p, r);
        for (int c = 0; c < CELLS; c++)
            SIM_CHECK(p->j.mem[r * CELLS + c] == last_write(&p->from[r], STEPS, c));
        free(p->out[r]);
        free(p->in[r]);
    }
    job_close(&p->j);
    free(mem);
}

static void any_network(struct sim_knobs *k)
{
    k->nodes = k->seed % 3 == 0 ? 1 : k->seed % 3 == 1 ? k->ranks : 2;
    k->ordered = k->seed / 3 % 4 != 0;
    if (coalesces(k->seed)) {
        k->gather = 600;
        scenario_cvar("MPIR_CVAR_RMA_PIGGYBACK_THRESHOLD", "2");
    }
}

static void poor_network(struct sim_knobs *k)
{
    any_network(k);
    int nodes = k->nodes;
    far_and_poor(k);
    k->nodes = nodes;
}

static void native_network(struct sim_knobs *k)
{
    uint64_t draw = k->seed * 0x9e3779b97f4a7c15ull;
    any_network(k);
    k->native = SIM_NATIVE_ALL;
    k->native_min = draw >> 40 & 1 ? 1 : 300;
    k->native_ordered = draw >> 41 & 1;
    k->native_reg = draw >> 42 & 1;
    k->native_lone = draw >> 43 & 1;
    k->native_atomic_pays = draw >> 44 & 1;
    k->native_coherent = draw >> 45 & 1;
    if (draw >> 46 & 1)
        scenario_cvar("MPIR_CVAR_RMA_PULLS", "0");
}

static void poor_native_network(struct sim_knobs *k)
{
    native_network(k);
    int nodes = k->nodes;
    far_and_poor(k);
    k->nodes = nodes;
}

const struct scenario scenarios_order[] = {
    {"count-order", 2, 1, ordered_counts, NULL, quiet},
    {"count-order-unordered", 2, 1, unordered_counts, NULL, unordered},
    {"count-order-gets", 2, 1, gets_before, NULL, native_puts},
    {"order-errors", 2, 1, errors, NULL, NULL},
    {"order-random", 3, 1, random_program, NULL, any_network},
    {"order-random-poor", 3, 1, random_program, NULL, poor_network},
    {"order-random-native", 3, 1, random_program, NULL, native_network},
    {"order-random-native-poor", 3, 1, random_program, NULL, poor_native_network},
    {NULL, 0, 0, NULL, NULL, NULL},
};

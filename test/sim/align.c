/* Collective calls that are compared (align/): random sequences over nested, overlapping and inter
 * communicators and windows.  One call of one rank may be another one, be missing, or change places
 * with a later one of its communicator.
 *
 *   align-*          a verdict if and only if the sequences of a communicator differ, which names
 *                    it, the call and the rank; none on the unchanged sequences
 *   align-dead-*     a process dies at any step: no verdict at all, and no wait without end
 *   align-threads-*  each thread of a rank has communicators of its own
 *   align-several-*  a call is missing, and the rank may wait on another communicator for those
 *                    that wait for it: a verdict or a deadlock is named, and all waits end
 *
 * The oracle is the formula of the standard: for each communicator, the sequences of calls of all
 * its members are the same, in length too. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/align_types.h"
#include "base/log.h"
#include "doom.h"
#include "memory.h"
#include "scenarios.h"
#include "sim_types.h"
#include "var/var.h"

enum { STEPS = 14, ALL = 0, HALF, LOW, HIGH, QUARTER, INTER, WINDOW, HALF_WINDOW, COMMS };
enum { BARRIER, BCAST, ALLREDUCE, REDUCE, GATHER, ALLGATHER, ALLTOALL, SCAN, IBARRIER, IALLREDUCE,
       SPLIT, OPS };
enum how { SAME, CHANGED, MISSING, SWAPPED, HOWS };
enum { MAX_COUNT = 3, CELLS = SIM_RANKS * MAX_COUNT };

struct step {
    int comm, op, root, count;
};

struct plan { /* the same at all ranks and threads that use it */
    struct step steps[STEPS];
    struct step other[STEPS]; /* of rank `odd`; comm -1: none */
    int n, odd, used;         /* mask of communicators */
    enum how how;
    uint64_t state;
    int differs;              /* the sequences differ, on communicator `where`, in call `call` of */
    int where, call;          /* those in the plan */
};

struct place { /* of one thread of one rank */
    MPI_Comm comm[COMMS];
    MPI_Win win[COMMS];
    int in[SIM_RANKS], out[CELLS];
    long mem[4];
    int before[COMMS]; /* calls made on it before those of the plan */
    int left[COMMS];   /* this rank has left it behind the failure of a member */
    int rank, size, errors;
};

static const char *const names[COMMS] = {"all", "half", "low", "high", "quarter", "inter",
                                         "halo", "half halo"};

/* --- what the checker reports ----------------------------------------------------------------- */

static struct said { /* in this run */
    int verdicts, deadlocks, call, ranks, met;
    int where;
    char lines[8][200];
} said;

void __real_log_warn(const char *fmt, ...);
void __wrap_log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Messages of other scenarios appear as ever. */
void __wrap_log_warn(const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!the_sim || !proc || (!proc->check && !proc->signature)) {
        __real_log_warn("%s", text);
        return;
    }
    sim_event("%s", text);
    said.deadlocks += !strncmp(text, "deadlock of rank", 16);
    const char *on = strstr(text, " on "), *call = strstr(text, ", call ");
    if (on && call && text[0] != ' ') {
        said.verdicts++;
        said.ranks = 0;
        said.where = -1;
        said.call = atoi(call + 7);
        on += strncmp(on + 4, "window ", 7) ? 4 : 11;
        for (int i = 0; i < COMMS; i++)
            if (!strncmp(on, names[i], strlen(names[i])) && on[strlen(names[i])] == ',')
                said.where = i;
    } else if (said.ranks < 8) {
        snprintf(said.lines[said.ranks++], sizeof *said.lines, "%.199s", text);
    }
}

/* --- notes ------------------------------------------------------------------------------------ */

/* Of the calls, as they came. A message carries the lower bits of its note (coll_tag). */
enum { MOST_NOTED = 8192, NOTE_BITS = 0x7ff };
static struct {
    int rank, thread;
    uint32_t ctx, note;
} noted[MOST_NOTED];
static int nnoted;

void __real_coll_note(struct comm *c, uint32_t note);
void __wrap_coll_note(struct comm *c, uint32_t note);
void __wrap_coll_note(struct comm *c, uint32_t note)
{
    if (the_sim && nnoted < MOST_NOTED) {
        noted[nnoted].rank = sim_rank();
        noted[nnoted].thread = sim_thread();
        noted[nnoted].ctx = c->ctx_recv;
        noted[nnoted++].note = note;
    }
    __real_coll_note(c, note);
}

/* Has the last call of this thread the lower bits of a call that is not the same? */
static int looks_like_another(void)
{
    int me = nnoted - 1;
    while (me >= 0 && (noted[me].rank != sim_rank() || noted[me].thread != sim_thread()))
        me--;
    for (int i = 0; me >= 0 && i < nnoted; i++) {
        uint32_t differ = noted[i].note ^ noted[me].note;
        if (noted[i].ctx == noted[me].ctx && differ && !(differ & NOTE_BITS))
            return 1;
    }
    return 0;
}

/* --- plan ------------------------------------------------------------------------------------- */

static int dice(struct plan *p, int n)
{
    p->state = p->state * 6364136223846793005u + 1442695040888963407u;
    return (int)((p->state >> 33) % (uint64_t)n);
}

static int is_window(int comm)
{
    return comm == WINDOW || comm == HALF_WINDOW;
}

static int member(int comm, int rank, int size)
{
    return comm == LOW ? rank < size - 1 : comm == HIGH ? rank > 0 : 1;
}

/* Members of the communicator of that name that has `rank` in it. */
static int together(int comm, int a, int b, int size)
{
    int half = size / 2;
    if (!member(comm, a, size) || !member(comm, b, size))
        return 0;
    if (comm == HALF || comm == HALF_WINDOW || comm == QUARTER)
        return (a < half) == (b < half) && (comm != QUARTER || a % 2 == b % 2);
    return 1;
}

static void draw_step(struct plan *p, struct step *s, int size)
{
    static const int inter[] = {BARRIER, ALLREDUCE, ALLGATHER, IBARRIER};
    *s = (struct step){.comm = s->comm, .op = dice(p, OPS), .root = dice(p, size),
                       .count = 1 + dice(p, MAX_COUNT)};
    if (s->comm == INTER) /* amounts are not compared there */
        *s = (struct step){.comm = s->comm, .op = inter[dice(p, 4)], .count = 1};
    if (is_window(s->comm)) /* fences: the modes are in `count` */
        *s = (struct step){.comm = s->comm, .count = dice(p, 4)};
}

/* The same call by the digest of align/digest.c; `n`: members. */
static int alike(const struct step *a, const struct step *b, int n)
{
    int rooted = a->op == BCAST || a->op == REDUCE || a->op == GATHER;
    int counts = a->op != BARRIER && a->op != IBARRIER && a->op != SPLIT;
    if (is_window(a->comm))
        return a->count == b->count;
    return a->op == b->op && (!rooted || a->root % n == b->root % n) &&
           (!counts || a->count == b->count);
}

static int members(int comm, int rank, int size)
{
    int n = 0;
    for (int i = 0; i < size; i++)
        n += together(comm, rank, i, size);
    return n;
}

/* Calls of the plan on `comm` by one rank, in order. */
static int sequence(const struct step *steps, int n, int comm, const struct step **out)
{
    int m = 0;
    for (int i = 0; i < n; i++)
        if (steps[i].comm == comm)
            out[m++] = &steps[i];
    return m;
}

static void judge_plan(struct plan *p, int size)
{
    p->differs = 0;
    for (int c = 0; c < COMMS; c++) {
        const struct step *a[STEPS], *b[STEPS];
        int n = members(c, p->odd, size), na = sequence(p->steps, p->n, c, a),
            nb = sequence(p->other, p->n, c, b), k = 0;
        if (n < 2 || !member(c, p->odd, size))
            continue;
        while (k < na && k < nb && alike(a[k], b[k], n))
            k++;
        if (k == na && k == nb)
            continue;
        p->differs = 1;
        p->where = c;
        p->call = k + 1;
    }
}

/* One call of rank `odd`.  A missing one is on the only communicator: else the rank may wait on
 * another, which is no difference of two sequences. */
static void spoil(struct plan *p, int size)
{
    int at = dice(p, p->n), later = at + 1;
    struct step *s = &p->other[at], was = *s;
    p->odd = dice(p, size);
    if (p->how == CHANGED) {
        draw_step(p, s, size);
    } else if (p->how == MISSING) {
        s->comm = -1;
    } else if (p->how == SWAPPED) {
        while (later < p->n && p->other[later].comm != s->comm)
            later++;
        if (later == p->n)
            return;
        *s = p->other[later];
        p->other[later] = was;
    }
}

enum { WINDOWS = 1, SEVERAL = 2 };

static void make_plan(struct plan *p, int size, enum how how, int with)
{
    *p = (struct plan){.n = STEPS, .how = how, .state = sim_seed() * 977 + 5};
    int comms[4], n = how == MISSING && !(with & SEVERAL) ? 1 : 1 + dice(p, 4);
    for (int i = 0; i < n; i++) {
        comms[i] = dice(p, with & WINDOWS ? COMMS : WINDOW);
        p->used |= 1 << comms[i];
    }
    for (int i = 0; i < p->n; i++) {
        p->steps[i].comm = comms[dice(p, n)];
        draw_step(p, &p->steps[i], size);
    }
    memcpy(p->other, p->steps, sizeof p->other);
    if (how != SAME)
        spoil(p, size);
    judge_plan(p, size);
}

/* --- a rank ----------------------------------------------------------------------------------- */

static void named(MPI_Comm c, int which)
{
    if (c == MPI_COMM_NULL)
        return;
    MPI_Comm_set_name(c, names[which]);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
}

static void overlapping(struct place *x, int which)
{
    MPI_Group all, some;
    int out = which == LOW ? x->size - 1 : 0;
    MPI_Comm_group(x->comm[ALL], &all);
    MPI_Group_excl(all, 1, &out, &some);
    OK(MPI_Comm_create(x->comm[ALL], some, &x->comm[which]));
    MPI_Group_free(&some);
    MPI_Group_free(&all);
}

static void make_window(struct place *x, int which, int over)
{
    OK(MPI_Win_create(x->mem, sizeof x->mem, 1, MPI_INFO_NULL, x->comm[over], &x->win[which]));
    MPI_Win_set_name(x->win[which], names[which]);
    MPI_Win_set_errhandler(x->win[which], MPI_ERRORS_RETURN);
    x->before[over]++;
}

/* The next calls go through shared memory, where all are near. */
static void warm_up(struct place *x)
{
    enum { CALLS = 9 };
    for (int i = 0; i < WINDOW; i++)
        for (int k = 0; x->comm[i] != MPI_COMM_NULL && k < CALLS; k++) {
            OK(MPI_Barrier(x->comm[i]));
            x->before[i]++;
        }
}

/* A rank without a part in one may have a part in the next. */
static void open_place(struct place *x, const struct plan *p, MPI_Comm from)
{
    memset(x, 0, sizeof *x);
    MPI_Comm_rank(from, &x->rank);
    MPI_Comm_size(from, &x->size);
    int low = x->rank < x->size / 2, used = p->used;
    for (int i = 0; i < COMMS; i++) {
        x->comm[i] = MPI_COMM_NULL;
        x->win[i] = MPI_WIN_NULL;
    }
    OK(MPI_Comm_dup(from, &x->comm[ALL]));
    named(x->comm[ALL], ALL);
    if (used & (1 << HALF | 1 << QUARTER | 1 << INTER | 1 << HALF_WINDOW)) {
        OK(MPI_Comm_split(x->comm[ALL], low, 0, &x->comm[HALF]));
        x->before[ALL]++;
        named(x->comm[HALF], HALF);
    }
    for (int i = LOW; i <= HIGH; i++)
        if (used & 1 << i) {
            overlapping(x, i);
            x->before[ALL]++;
            named(x->comm[i], i);
        }
    if (used & 1 << QUARTER) {
        OK(MPI_Comm_split(x->comm[HALF], x->rank % 2, 0, &x->comm[QUARTER]));
        x->before[HALF]++;
        named(x->comm[QUARTER], QUARTER);
    }
    if (used & 1 << INTER) {
        OK(MPI_Intercomm_create(x->comm[HALF], 0, x->comm[ALL], low ? x->size / 2 : 0, 5,
                                &x->comm[INTER]));
        x->before[HALF]++;
        named(x->comm[INTER], INTER);
    }
    if (used & 1 << WINDOW)
        make_window(x, WINDOW, ALL);
    if (used & 1 << HALF_WINDOW)
        make_window(x, HALF_WINDOW, HALF);
    if (sim_seed() / 12 % 2)
        warm_up(x);
}

static int later(int err, MPI_Request *r)
{
    return err ? err : MPI_Wait(r, MPI_STATUS_IGNORE);
}

static int split(MPI_Comm c, int color)
{
    MPI_Comm made = MPI_COMM_NULL;
    int err = MPI_Comm_split(c, color, 0, &made);
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    return err;
}

/* What all ranks send in call k of its communicator. */
static int value(const struct step *s, int k, int size)
{
    int rooted = s->op == BCAST || s->op == REDUCE || s->op == GATHER;
    return 10000 * k + 500 * s->op + (rooted ? 10 * (s->root % size) : 0) + s->count;
}

static void fill(int *at, int n, int v)
{
    for (int i = 0; i < n; i++)
        at[i] = v;
}

/* Nothing of another call has come, however that one differs, but for one in 2,048. */
static void judge_data(const struct place *x, const struct step *s, int k, int size, int rank)
{
    int v = value(s, k, size), n = s->count, root = s->root % size;
    const int *got = x->out;
    switch (s->op) {
    case BCAST:
        got = x->in;
        break;
    case ALLREDUCE:
    case IALLREDUCE:
        v *= size;
        break;
    case SCAN:
        v *= rank + 1;
        break;
    case REDUCE:
    case GATHER:
        if (rank != root)
            return;
        n *= s->op == GATHER ? size : 1;
        break;
    case ALLGATHER:
        n *= size;
        break;
    case ALLTOALL:
        got += CELLS / 2;
        n *= size;
        break;
    default:
        return;
    }
    for (int i = 0; i < n; i++)
        if (got[i] != v && !looks_like_another())
            sim_fail("operation %d, call %d on %s: %d came, not %d", s->op, k, names[s->comm],
                     got[i], v);
}

static int call(struct place *x, const struct step *s)
{
    static const int modes[] = {0, MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED,
                                MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED};
    MPI_Comm c = x->comm[s->comm];
    MPI_Request r = MPI_REQUEST_NULL;
    int size, n = s->count;
    if (is_window(s->comm))
        return MPI_Win_fence(modes[s->count], x->win[s->comm]);
    MPI_Comm_size(c, &size);
    int root = s->root % size;
    switch (s->op) {
    case BARRIER:
        return MPI_Barrier(c);
    case BCAST:
        return MPI_Bcast(x->in, n, MPI_INT, root, c);
    case ALLREDUCE:
        return MPI_Allreduce(x->in, x->out, n, MPI_INT, MPI_SUM, c);
    case REDUCE:
        return MPI_Reduce(x->in, x->out, n, MPI_INT, MPI_MAX, root, c);
    case GATHER:
        return MPI_Gather(x->in, n, MPI_INT, x->out, n, MPI_INT, root, c);
    case ALLGATHER:
        return MPI_Allgather(x->in, n, MPI_INT, x->out, n, MPI_INT, c);
    case ALLTOALL:
        return MPI_Alltoall(x->out, n, MPI_INT, x->out + CELLS / 2, n, MPI_INT, c);
    case SCAN:
        return MPI_Scan(x->in, x->out, n, MPI_INT, MPI_SUM, c);
    case IBARRIER:
        return later(MPI_Ibarrier(c, &r), &r);
    case IALLREDUCE:
        return later(MPI_Iallreduce(x->in, x->out, n, MPI_INT, MPI_SUM, c, &r), &r);
    default:
        return split(c, x->rank % 2);
    }
}

static int guarded(void)
{
    return cvar.coll_check >= CHECK_GUARD;
}

/* Errors: none, or those that calls which differ may give, then MPI_ERR_NOT_SAME for ever. */
static void run_plan(struct place *x, const struct plan *p, int dying)
{
    const struct step *steps = x->rank == p->odd ? p->other : p->steps;
    int k[COMMS] = {0}, size, rank;
    for (int i = 0; i < p->n; i++) {
        int c = steps[i].comm, cls = MPI_SUCCESS;
        if (c < 0 || x->left[c] ||
            (is_window(c) ? x->win[c] == MPI_WIN_NULL : x->comm[c] == MPI_COMM_NULL))
            continue;
        if (sim_random() % 4 == 0)
            sim_compute((int)(sim_random() % 300));
        k[c]++;
        if (!is_window(c)) {
            MPI_Comm_size(x->comm[c], &size);
            MPI_Comm_rank(x->comm[c], &rank);
            fill(x->in, MAX_COUNT, value(&steps[i], k[c], size));
            fill(x->out, CELLS / 2, value(&steps[i], k[c], size));
        }
        int err = call(x, &steps[i]);
        MPI_Error_class(err, &cls);
        if (!err && !is_window(c) && c != INTER && (!p->differs || guarded()))
            judge_data(x, &steps[i], k[c], size, rank);
        if (err && dying < 0 && !p->differs)
            OK(err);
        if (dying >= 0 && (cls == MPI_ERR_NOT_SAME || (err && !sim_gone(dying))))
            OK(err);
        x->errors += cls == MPI_ERR_NOT_SAME;
        if (err && dying >= 0 && together(c, x->rank, dying, x->size))
            x->left[c] = sim_random() % 2; /* as the standard lets it, whatever others do */
    }
}

static void close_place(struct place *x, int freed)
{
    for (int i = 0; i < COMMS; i++)
        if (x->win[i] != MPI_WIN_NULL)
            (void)MPI_Win_free(&x->win[i]); /* after a verdict it is refused */
    for (int i = 0; i < COMMS; i++)
        if (x->comm[i] != MPI_COMM_NULL && freed)
            OK(MPI_Comm_free(&x->comm[i]));
    while (proc->check->acks && freed == 1) { /* until the judges have the rings */
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        sim_compute(100);
    }
}

static void look_around(int steps)
{
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    sim_compute(steps);
}

/* All ranks come, also those that a verdict keeps from a barrier. */
static void meet_all(int size)
{
    int until = said.met / size * size + size;
    said.met++;
    while (said.met < until)
        look_around(100);
}

/* Until no rank reports anything more. */
static void calm(int size)
{
    meet_all(size);
    while (proc->check->pending)
        look_around(10000);
    meet_all(size);
}

/* What has been reported is right. */
static void settle(const struct place *x, const struct plan *p)
{
    char group[40];
    int found = 0;
    calm(x->size);
    if (said.deadlocks)
        sim_fail("a deadlock");
    if (said.verdicts != p->differs)
        sim_fail("%d verdicts; the sequences %s", said.verdicts, p->differs ? "differ" : "agree");
    if (!p->differs)
        return;
    int c = p->where, k = p->call;
    if (said.where != c)
        sim_fail("the verdict is not on %s", names[c]);
    if (x->rank == p->odd && said.call != k + x->before[c])
        sim_fail("the verdict names call %d, not %d", said.call, k + x->before[c]);
    int rank = p->odd;
    if (c == HALF || c == QUARTER || c == HALF_WINDOW || c == HIGH || c == LOW)
        for (int i = rank = 0; i < p->odd; i++)
            rank += together(c, i, p->odd, x->size);
    for (int i = 0; i < said.ranks; i++) { /* a group of its own */
        const char *at = strstr(said.lines[i], "rank");
        at = at ? at + 4 + strspn(at + 4, "s ") : "";
        snprintf(group, sizeof group, "%d ", rank);
        found |= !strncmp(at, group, strlen(group));
    }
    if (!found)
        sim_fail("rank %d of %s is in no group of its own", rank, names[c]);
}

/* --- scenarios -------------------------------------------------------------------------------- */

static enum how how_of(uint64_t seed)
{
    return (enum how)(seed % HOWS);
}

static void sequences(void *arg)
{
    struct plan p;
    struct place x;
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    make_plan(&p, size, how_of(sim_seed()), WINDOWS);
    open_place(&x, &p, MPI_COMM_WORLD);
    run_plan(&x, &p, -1);
    close_place(&x, 1);
    settle(&x, &p);
}

static void several(void *arg)
{
    struct plan p;
    struct place x;
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    make_plan(&p, size, sim_seed() % 4 ? MISSING : SAME, SEVERAL);
    open_place(&x, &p, MPI_COMM_WORLD);
    run_plan(&x, &p, -1);
    close_place(&x, 1);
    calm(size);
    if (!(said.verdicts + said.deadlocks) != !p.differs)
        sim_fail("%d verdicts, %d deadlocks; the sequences %s", said.verdicts, said.deadlocks,
                 p.differs ? "differ" : "agree");
}

static void deaths(void *arg)
{
    struct plan p;
    struct place x;
    struct doom doom;
    int size, dying, flag;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    make_plan(&p, size, SAME, 0);
    open_place(&x, &p, MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    (void)MPI_Barrier(MPI_COMM_WORLD); /* others may be in it yet when one dies */
    dying = (int)(sim_seed() % (unsigned)size);
    int polls = (int)(sim_random() % 200);
    if (x.rank == dying)
        doom_set(&doom, polls);
    run_plan(&x, &p, dying);
    while (x.rank == dying || !sim_gone(dying)) {
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        sim_compute(1);
    }
    close_place(&x, 2);
    if (said.verdicts)
        sim_fail("a verdict though a process has died");
}

enum { THREADS = 2 };
static struct meet { /* of one rank; touched by its own fibers only */
    struct place x[THREADS];
    struct plan p[THREADS];
    int open, done;
} meet[SIM_RANKS];

/* The second thread's sequence is never spoilt: one verdict at most. */
static void threads(void *arg)
{
    struct meet *m = &meet[sim_rank()];
    int size;
    memset(m, 0, sizeof *m);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    make_plan(&m->p[0], size, how_of(sim_seed()), 0);
    make_plan(&m->p[1], size, SAME, 0);
    for (int i = 0; i < THREADS; i++)
        open_place(&m->x[i], &m->p[i], MPI_COMM_WORLD);
    m->open = 1;
    run_plan(&m->x[0], &m->p[0], -1);
    while (!m->done)
        sim_compute(1);
    for (int i = 0; i < THREADS; i++)
        close_place(&m->x[i], 1);
    settle(&m->x[0], &m->p[0]);
}

static void second_thread(int thread, void *arg)
{
    struct meet *m = &meet[sim_rank()];
    while (!m->open)
        sim_compute(1);
    run_plan(&m->x[1], &m->p[1], -1);
    m->done = 1;
}

static void checked(struct sim_knobs *k)
{
    memset(&said, 0, sizeof said);
    nnoted = 0;
    static const char *const levels[] = {"1", "2", "3"};
    scenario_cvar("MPIR_CVAR_COLL_CHECK", levels[k->seed / HOWS % 3]);
    scenario_cvar("MPIR_CVAR_COLL_CHECK_STALL", "100");
    if (k->seed % HOWS == SAME)
        return;
    k->mortal = 1;  /* no rank dies, but windows whose calls differ stay */
    memory_keep(1); /* what a verdict ends does not use what goes by it */
}

static void checked_mortals(struct sim_knobs *k)
{
    checked(k);
    k->mortal = 1;
    memory_keep(1);
    k->quiet_rank = -1;
    k->late_news = (int)(k->seed % 5) * 60;
}

const struct scenario scenarios_align[] = {
    {"align-4", 4, 1, sequences, NULL, checked},
    {"align-5", 5, 1, sequences, NULL, checked},
    {"align-8", 8, 1, sequences, NULL, checked},
    {"align-several-4", 4, 1, several, NULL, checked},
    {"align-several-7", 7, 1, several, NULL, checked},
    {"align-dead-4", 4, 1, deaths, NULL, checked_mortals},
    {"align-dead-7", 7, 1, deaths, NULL, checked_mortals},
    {"align-threads-4", 4, 2, threads, second_thread, checked},
    {NULL, 0, 0, NULL, NULL, NULL},
};

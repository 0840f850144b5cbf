/* coherent.c - coherent windows (doc/design/coherent.md): random acquires, kernels and operations
 * of all kinds with a flat oracle and an exact count of bytes; short budgets, failures, conflicts.
 *
 *   a round deals each lane of each window to one actor: a rank, which acts by operations, or a
 *   thread of the owner, which acts by acquires.  So an actor knows what must stand in its lanes,
 *   and how many bytes must move: a lane moves to a space when it is used there and is stale.  */
#include "scripted.h"

#include <stdlib.h>

#include "sim_space.h"

enum {
    TILE = 4096, LANE = 64, PER = LANE / (int)sizeof(long), LONGS = 2 * 512 + 125,
    BYTES = LONGS * (int)sizeof(long), LANES = (BYTES + LANE - 1) / LANE, SPACES = 3, ROUNDS = 5,
    HOLDS = 2, RANKS_MAX = 4, THREADS = 2
};
_Static_assert(LANES * LANE > BYTES, "the last lane is short");

/* The oracle of each rank's window; all ranks are in one process. */
static struct truth {
    long v[LONGS];
    unsigned char valid[LANES][SPACES];
    unsigned char to[LANES], busy[LANES]; /* actor; used in this round, by a stream or operation */
    long moved;
} truth[RANKS_MAX];

struct held {
    int from, n, space, mode; /* longs */
    long *at;
};
struct actor {
    MPI_Win win;
    int id, rank, size, fails, small, nheld;
    int space[SPACES];
    uint64_t own;
    struct held held[HOLDS];
    long buf[24][LONGS];
    int used, ngot;
    struct {
        long *buf;
        long want[LONGS];
        int n;
    } got[12];
};

static unsigned draw(uint64_t *s, unsigned n)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return (unsigned)((*s * 0x2545f4914f6cdd1dull >> 11) % n);
}

/* --- the oracle of bytes ---------------------------------------------------------------------- */

static long lane_bytes(int lane)
{
    return lane + 1 < LANES ? LANE : BYTES - lane * LANE;
}

enum used { USE_READ, USE_WRITE, USE_ALL /* all named bytes are written */ };

static void use(struct truth *t, int from, int n, int space, enum used how)
{
    for (int l = from / PER; l <= (from + n - 1) / PER; l++) {
        int whole = from <= l * PER && (from + n >= (l + 1) * PER || from + n == LONGS);
        if (!t->valid[l][space] && !(how == USE_ALL && whole))
            t->moved += lane_bytes(l);
        if (how != USE_READ)
            memset(t->valid[l], 0, SPACES);
        t->valid[l][space] = 1;
    }
}

/* --- the owner's threads: acquires and kernels ------------------------------------------------ */

struct task {
    int n, how;
    long by, want[]; /* READ: must stand there */
};
static void kernel(void *const *ptr, const void *arg)
{
    const struct task *k = arg;
    long *p = ptr[0];
    for (int i = 0; i < k->n; i++) {
        if (k->how != MPIX_WIN_DISCARD && p[i] != k->want[i])
            sim_fail("a kernel sees %lx at %d of %d, not %lx", (unsigned long)p[i], i, k->n,
                     (unsigned long)k->want[i]);
        if (k->how == MPIX_WIN_WRITE)
            p[i] += k->by;
        if (k->how == MPIX_WIN_DISCARD)
            p[i] = k->by + i;
    }
}

/* A run of the actor's lanes in window t, not wholly named at its ends; 0: none. */
static int pick(struct actor *a, struct truth *t, int longest, int *from, int *n)
{
    int lane = (int)draw(&a->own, LANES), end = lane, most = 1 + (int)draw(&a->own, 6);
    while (end < LANES && end - lane < most && t->to[end] == a->id && !t->busy[end] &&
           (!a->small || end * LANE / TILE == lane * LANE / TILE))
        end++;
    int last = end * PER < LONGS ? end * PER : LONGS;
    *from = lane * PER + (draw(&a->own, 2) ? (int)draw(&a->own, PER) : 0);
    if (end == lane || *from >= last)
        return 0;
    *n = last - *from;
    if (draw(&a->own, 2))
        *n -= (int)draw(&a->own, PER);
    *n = *n > longest ? longest : *n;
    return *n > 0;
}

static void mark_busy(struct truth *t, int from, int n)
{
    for (int l = from / PER; l <= (from + n - 1) / PER; l++)
        t->busy[l] = 1;
}

static int overlaps(const struct actor *a, int from, int n)
{
    for (int i = 0; i < a->nheld; i++)
        if (from / PER <= (a->held[i].from + a->held[i].n - 1) / PER &&
            a->held[i].from / PER <= (from + n - 1) / PER)
            return 1;
    return 0;
}

static void let_go(struct actor *a, int i)
{
    struct held h = a->held[i];
    a->held[i] = a->held[--a->nheld];
    OK(MPIX_Win_release(a->win, h.from * 8L, h.n * 8L, a->space[h.space]));
}

/* May the call fail, as the devices of this run do? Then it is called again. */
static int again(const struct actor *a, int err)
{
    int cls = MPI_SUCCESS;
    if (err)
        MPI_Error_class(err, &cls);
    if (cls && !(a->fails && (cls == MPI_ERR_OTHER || cls == MPI_ERR_NO_MEM)))
        OK(err);
    return cls != MPI_SUCCESS;
}

static void acquire(struct actor *a)
{
    static const int modes[] = {MPIX_WIN_READ, MPIX_WIN_WRITE, MPIX_WIN_DISCARD};
    static const enum used uses[] = {USE_READ, USE_WRITE, USE_ALL};
    struct truth *t = &truth[a->rank];
    int from, n, m = (int)draw(&a->own, 3), s = (int)draw(&a->own, SPACES);
    void *p;
    if (a->nheld == HOLDS || (a->nheld && a->small))
        let_go(a, 0);
    if (!pick(a, t, LONGS, &from, &n) || overlaps(a, from, n))
        return;
    int on_stream = s && !a->fails && draw(&a->own, 3) == 0, launched = 0;
    struct task *k = malloc(sizeof *k + (size_t)n * sizeof(long));
    *k = (struct task){n, modes[m], (long)draw(&a->own, 1 << 20) + 1};
    memcpy(k->want, &t->v[from], (size_t)n * sizeof(long));
    int err;
    do
        err = on_stream ? MPIX_Win_acquire_on_stream(a->win, from * 8L, n * 8L, a->space[s],
                                                     modes[m], &a->id, &p)
                        : MPIX_Win_acquire(a->win, from * 8L, n * 8L, a->space[s], modes[m], &p);
    while (again(a, err));
    use(t, from, n, s, uses[m]);
    for (int i = 0; m && i < n; i++)
        t->v[from + i] = m == 1 ? t->v[from + i] + k->by : k->by + i;
    if (!s) {
        kernel(&p, k);
    } else {
        OK(MPIX_Space_launch(a->space[s], &a->id, kernel, 1, &p, k,
                             (int)(sizeof *k + (size_t)n * sizeof(long))));
        launched = 1;
    }
    free(k);
    if (on_stream) {
        OK(MPIX_Win_release_on_stream(a->win, from * 8L, n * 8L, a->space[s], &a->id));
        if (!m) /* the kernel may not have read yet: no other acquire may bring newer data there */
            mark_busy(t, from, n);
        return;
    }
    if (launched)
        OK(MPIX_Space_wait(a->space[s], &a->id));
    a->held[a->nheld++] = (struct held){from, n, s, modes[m], p};
    if (draw(&a->own, 2))
        let_go(a, a->nheld - 1);
}

/* A hint, and memory given back: neither changes what stands there. */
static void hints(struct actor *a)
{
    int from, n, s = 1 + (int)draw(&a->own, 2);
    if (!pick(a, &truth[a->rank], LONGS, &from, &n))
        return;
    if (draw(&a->own, 2)) {
        OK(MPIX_Win_prefetch(a->win, from * 8L, n * 8L, a->space[s]));
        return;
    }
    int err = MPIX_Win_evict(a->win, from * 8L, n * 8L, a->space[s]), cls = 0;
    if (err)
        MPI_Error_class(err, &cls);
    SIM_CHECK(!err || cls == MPI_ERR_RMA_SYNC || (a->fails && cls == MPI_ERR_OTHER));
}

/* --- ranks: operations ------------------------------------------------------------------------ */

static void must_get(struct actor *a, const struct truth *t, long *buf, int from, int n)
{
    a->got[a->ngot].buf = buf;
    a->got[a->ngot].n = n;
    memcpy(a->got[a->ngot++].want, &t->v[from], (size_t)n * sizeof(long));
}

/* Every second element of a run. */
static int put_vector(struct actor *a, struct truth *t, int target, int from, int n, long *buf)
{
    MPI_Datatype every2;
    int count = (n + 1) / 2;
    MPI_Type_vector(count, 1, 2, MPI_LONG, &every2);
    MPI_Type_commit(&every2);
    for (int i = 0; i < count; i++) {
        use(t, from + 2 * i, 1, 0, USE_WRITE);
        t->v[from + 2 * i] = buf[i];
    }
    int err = MPI_Put(buf, count, MPI_LONG, target, from, 1, every2, a->win);
    MPI_Type_free(&every2);
    return err;
}

static int operate(struct actor *a, struct truth *t, int target, int from, int n)
{
    long *buf = a->buf[a->used++], *res = a->buf[a->used++];
    for (int i = 0; i < n; i++)
        buf[i] = (long)draw(&a->own, 1 << 20);
    mark_busy(t, from, n);
    switch (draw(&a->own, 7)) {
    case 0:
        use(t, from, n, 0, USE_ALL);
        memcpy(&t->v[from], buf, (size_t)n * sizeof *buf);
        return MPI_Put(buf, n, MPI_LONG, target, from, n, MPI_LONG, a->win);
    case 1:
        return put_vector(a, t, target, from, n, buf);
    case 2:
        use(t, from, n, 0, USE_READ);
        must_get(a, t, res, from, n);
        return MPI_Get(res, n, MPI_LONG, target, from, n, MPI_LONG, a->win);
    case 3:
        use(t, from, n, 0, USE_WRITE);
        for (int i = 0; i < n; i++)
            t->v[from + i] += buf[i];
        return MPI_Accumulate(buf, n, MPI_LONG, target, from, n, MPI_LONG, MPI_SUM, a->win);
    case 4:
        use(t, from, n, 0, USE_WRITE);
        must_get(a, t, res, from, n);
        for (int i = 0; i < n; i++)
            t->v[from + i] += buf[i];
        return MPI_Get_accumulate(buf, n, MPI_LONG, res, n, MPI_LONG, target, from, n, MPI_LONG,
                                  MPI_SUM, a->win);
    case 5:
        use(t, from, 1, 0, USE_WRITE);
        must_get(a, t, res, from, 1);
        t->v[from] += buf[0];
        return MPI_Fetch_and_op(buf, res, MPI_LONG, target, from, MPI_SUM, a->win);
    default:
        use(t, from, 1, 0, USE_WRITE);
        must_get(a, t, res, from, 1);
        buf[1] = t->v[from];
        t->v[from] = buf[0];
        return MPI_Compare_and_swap(buf, buf + 1, res, MPI_LONG, target, from, a->win);
    }
}

static void operations(struct actor *a)
{
    for (int i = 0, from, n; i < 5; i++) {
        int target = (int)draw(&a->own, (unsigned)a->size);
        struct truth *t = &truth[target];
        if (!pick(a, t, 48, &from, &n) || (target == a->rank && overlaps(a, from, n)))
            continue;
        OK(operate(a, t, target, from, n));
    }
}

static void check_got(struct actor *a)
{
    for (int i = 0; i < a->ngot; i++)
        for (int k = 0; k < a->got[i].n; k++)
            SIM_CHECK(a->got[i].buf[k] == a->got[i].want[k]);
    a->ngot = a->used = 0;
}

/* --- rounds ----------------------------------------------------------------------------------- */

/* Which lanes belong to which actor: ranks, then threads of the owner. */
static void deal(uint64_t *common, int size, int threads)
{
    for (int r = 0; r < size; r++)
        for (int l = 0; l < LANES;) {
            int to = (int)draw(common, (unsigned)(size + 2 * threads));
            int n = 1 + (int)draw(common, 9);
            to = to >= size ? size + (to - size) % threads : to;
            for (; n && l < LANES; n--, l++) {
                truth[r].to[l] = (unsigned char)to;
                truth[r].busy[l] = 0;
            }
        }
}

static void owner_turns(struct actor *a, int with_hints)
{
    for (int i = (int)draw(&a->own, 8); i; i--) {
        acquire(a);
        if (with_hints && draw(&a->own, 4) == 0)
            hints(a);
    }
    while (a->nheld)
        let_go(a, 0);
}

static void must_hold(MPI_Win win)
{
    const char *why = coh_check(inside(win)->coherent->coh);
    if (why)
        sim_fail("rank %d: %s", sim_rank(), why);
}

static void synchronize(struct actor *a, int how)
{
    if (how) {
        OK(MPI_Win_unlock_all(a->win));
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, a->win));
    }
}

static MPI_Win window_make(const char *budget, struct actor *a)
{
    MPI_Info info;
    MPI_Win win;
    long *mem;
    MPI_Comm_rank(MPI_COMM_WORLD, &a->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &a->size);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_win_spaces", "host,sim:0,sim:1");
    MPI_Info_set(info, "mpix_win_tile", "4096");
    if (budget)
        MPI_Info_set(info, "mpix_win_bytes", budget);
    MPI_Win_allocate(BYTES, sizeof(long), info, MPI_COMM_WORLD, &mem, &win);
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int s = 0; s < SPACES; s++)
        MPIX_Space_find(s == 0 ? "host" : s == 1 ? "sim:0" : "sim:1", &a->space[s]);
    memset(mem, 0, BYTES);
    struct truth *t = &truth[a->rank];
    memset(t, 0, sizeof *t);
    for (int l = 0; l < LANES; l++)
        t->valid[l][0] = 1;
    return win;
}

/* All of the own window at home, and the bytes that have moved since it was made. */
static void final_check(struct actor *a, int exact)
{
    struct truth *t = &truth[a->rank];
    long *p;
    MPI_Barrier(MPI_COMM_WORLD);
    int err;
    do
        err = MPIX_Win_acquire(a->win, 0, BYTES, 0, MPIX_WIN_READ, &p);
    while (again(a, err));
    for (int i = 0; i < LONGS; i++)
        SIM_CHECK(p[i] == t->v[i]);
    use(t, 0, LONGS, 0, USE_READ);
    OK(MPIX_Win_release(a->win, 0, BYTES, 0));
    long in = pvar(a->win, PVAR_COH_BYTES_IN), out = pvar(a->win, PVAR_COH_BYTES_OUT),
         across = pvar(a->win, PVAR_COH_BYTES_ACROSS);
    SIM_CHECK(in == sim_space_moved(SPACE_IN) && out == sim_space_moved(SPACE_OUT) &&
              across == sim_space_moved(SPACE_ACROSS));
    if (exact && in + out + across != t->moved)
        sim_fail("rank %d: %ld bytes in, %ld out, %ld across; %ld are needed", a->rank, in, out,
                 across, t->moved);
    SIM_CHECK(in + out + across >= t->moved);
    must_hold(a->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void devices(int fail_every, int no_commit)
{
    static const int delays[] = {0, 8, 60};
    sim_space_use(&(struct sim_space_knobs){.delay = delays[sim_seed() % 3], .bytes = 1 << 20,
                                            .fail_every = fail_every, .no_commit = no_commit});
}

static uint64_t common_seed(void)
{
    uint64_t common = sim_random() | 1;
    MPI_Bcast(&common, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return common;
}

static struct actor *actor_make(MPI_Win win, const struct actor *like, uint64_t common, int id)
{
    struct actor *a = calloc(1, sizeof *a);
    memcpy(a->space, like->space, sizeof a->space);
    a->win = win;
    a->rank = like->rank;
    a->size = like->size;
    a->id = id;
    a->own = (common ^ (uint64_t)(like->rank * 16 + id + 1) * 0x9e3779b97f4a7c15ull) | 1;
    return a;
}

/* One rank's part: its own lanes by acquires, others' and its own by operations. */
static void play(const char *budget)
{
    struct actor here = {0};
    MPI_Win win = window_make(budget, &here);
    uint64_t common = common_seed();
    struct actor *op = actor_make(win, &here, common, here.rank),
                 *own = actor_make(win, &here, common, here.size);
    own->small = budget != NULL;
    for (int r = 0; r < ROUNDS; r++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (here.rank == 0)
            deal(&common, here.size, 1);
        MPI_Bcast(&common, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        int how = (int)draw(&common, 2);
        if (how)
            OK(MPI_Win_lock_all(0, win));
        else
            OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
        int first = (int)draw(&own->own, 2);
        if (first)
            operations(op);
        owner_turns(own, budget != NULL);
        if (!first)
            operations(op);
        synchronize(op, how);
        check_got(op);
        must_hold(win);
    }
    own->small = 0;
    final_check(own, !budget);
    OK(MPI_Win_free(&win));
    free(op);
    free(own);
}

static void random_program(void *arg)
{
    devices(0, 0);
    play(NULL);
}

/* Room for one tile on each device: each acquire evicts. */
static void starved(void *arg)
{
    devices(0, 0);
    play("4096");
}

/* --- threads ---------------------------------------------------------------------------------- */

static struct meet {
    struct actor *a[THREADS];
    int round, done;
} meet[RANKS_MAX];

static void threads_program(void *arg)
{
    struct actor here = {0};
    devices(0, 0);
    MPI_Win win = window_make(NULL, &here);
    uint64_t common = common_seed();
    struct actor *op = actor_make(win, &here, common, here.rank);
    struct meet *m = &meet[here.rank];
    for (int t = 0; t < THREADS; t++)
        m->a[t] = actor_make(win, &here, common, here.size + t);
    for (int r = 0; r < ROUNDS; r++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (here.rank == 0)
            deal(&common, here.size, THREADS);
        MPI_Bcast(&common, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        OK(MPI_Win_fence(0, win));
        m->done = 0;
        m->round++; /* the others begin */
        operations(op);
        owner_turns(m->a[0], 0);
        while (m->done < THREADS - 1)
            sim_compute(1);
        OK(MPI_Win_fence(0, win));
        check_got(op);
        must_hold(win);
    }
    m->round = -1;
    while (m->done < THREADS)
        sim_compute(1);
    final_check(m->a[0], 1);
    OK(MPI_Win_free(&win));
    for (int t = 0; t < THREADS; t++)
        free(m->a[t]);
    free(op);
    memset(m, 0, sizeof *m); /* the next run's threads look before it is set up */
}

static void threads_other(int thread, void *arg)
{
    struct meet *m = &meet[sim_rank()];
    for (int r = 1;; r++) {
        while (m->round >= 0 && m->round < r)
            sim_compute(1);
        if (m->round < 0)
            break;
        owner_turns(m->a[thread], 0);
        m->done++;
    }
    m->done = THREADS;
}

/* --- failures --------------------------------------------------------------------------------- */

/* Each fifth copy and each third commit fails: what failed changed nothing and is called again. */
static void fails(void *arg)
{
    struct actor here = {0};
    devices(5, 3);
    MPI_Win win = window_make("8192", &here);
    uint64_t common = common_seed();
    struct actor *op = actor_make(win, &here, common, here.rank),
                 *own = actor_make(win, &here, common, here.size);
    own->fails = 1;
    op->fails = 1;
    own->small = 1;
    for (int r = 0; r < ROUNDS; r++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (here.rank == 0)
            deal(&common, here.size, 1);
        MPI_Barrier(MPI_COMM_WORLD);
        owner_turns(own, 1);
        OK(MPI_Win_lock_all(0, win));
        for (int i = 0, from, n; i < 4; i++) {
            int target = (here.rank + i) % here.size;
            struct truth *t = &truth[target];
            long v = (long)draw(&op->own, 1000), *got = op->buf[0];
            if (!pick(op, t, 20, &from, &n))
                continue;
            mark_busy(t, from, n);
            int e1, e2;
            do {
                e1 = MPI_Accumulate(&v, 1, MPI_LONG, target, from, 1, MPI_LONG, MPI_SUM, win);
                e2 = MPI_Win_flush(target, win);
            } while (again(op, e1 ? e1 : e2));
            t->v[from] += v;
            do {
                e1 = MPI_Get(got, n, MPI_LONG, target, from, n, MPI_LONG, win);
                e2 = MPI_Win_flush(target, win);
            } while (again(op, e1 ? e1 : e2));
            SIM_CHECK(!memcmp(got, &t->v[from], (size_t)n * sizeof(long)));
        }
        OK(MPI_Win_unlock_all(win));
        must_hold(win);
    }
    truth[here.rank].moved = 0; /* acquires that failed count, too */
    own->small = 0;
    final_check(own, 0);
    OK(MPI_Win_free(&win));
    free(op);
    free(own);
}

/* --- scripts: rank 0 has the window's devices, the last rank acts on it ----------------------- */

static MPI_Win script(const char *budget, struct actor *a, int delay)
{
    memset(a, 0, sizeof *a);
    sim_space_use(&(struct sim_space_knobs){.delay = delay, .bytes = 1 << 20});
    MPI_Win win = a->win = window_make(budget, a);
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

static void taken(const struct actor *a, long from, long n, int s, int mode)
{
    void *p;
    OK(MPIX_Win_acquire(a->win, from, n, a->space[s], mode, &p));
    OK(MPIX_Win_release(a->win, from, n, a->space[s]));
}

/* Longs [at, at + n) of a device become v, v + 1, ... */
static void fill(const struct actor *a, int s, int at, int n, long v)
{
    struct task k = {n, MPIX_WIN_DISCARD, v};
    void *p;
    OK(MPIX_Win_acquire(a->win, at * 8L, n * 8L, a->space[s], MPIX_WIN_DISCARD, &p));
    OK(MPIX_Space_launch(a->space[s], NULL, kernel, 1, &p, &k, sizeof k));
    OK(MPIX_Space_wait(a->space[s], NULL));
    OK(MPIX_Win_release(a->win, at * 8L, n * 8L, a->space[s]));
}

/* An operation of the last rank on rank 0, complete; its error. */
enum { OP_PUT, OP_GET, OP_SUM };
static long said[LONGS];
static int act(const struct actor *a, int kind, int at, int n)
{
    int e1, e2;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, a->win));
    if (kind == OP_PUT)
        e1 = MPI_Put(said, n, MPI_LONG, 0, at, n, MPI_LONG, a->win);
    else if (kind == OP_GET)
        e1 = MPI_Get(said, n, MPI_LONG, 0, at, n, MPI_LONG, a->win);
    else
        e1 = MPI_Accumulate(said, n, MPI_LONG, 0, at, n, MPI_LONG, MPI_SUM, a->win);
    e2 = MPI_Win_unlock(0, a->win);
    return e1 ? e1 : e2;
}

/* Both meet; then only the last rank goes on until the next one. */
static int turn_of(const struct actor *a, int rank)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return a->rank == rank;
}

static void is_count(MPI_Win win, enum pvar_id id, long want, int line)
{
    if (pvar(win, id) != want)
        sim_fail("line %d: %s is %ld, not %ld", line, pvar_table[id].name, pvar(win, id), want);
}
#define COUNT(id, want) is_count(win, PVAR_COH_##id, want, __LINE__)

/* What each call moves, to the byte. */
static void copies_counted(void *arg)
{
    struct actor a;
    MPI_Win win = script(NULL, &a, 8);
    int last = a.size - 1;
    if (a.rank == 0) {
        taken(&a, 0, 8192, 1, MPIX_WIN_DISCARD);
        COUNT(DISCARDS, 8192);
        COUNT(INVALIDATED, 128);
        COUNT(COPIES, 0);
        taken(&a, 0, 4096, 2, MPIX_WIN_READ); /* from device to device */
        COUNT(BYTES_ACROSS, 4096);
        COUNT(COPIES, 1);
        taken(&a, 64, 64, 0, MPIX_WIN_READ);
        COUNT(BYTES_OUT, 64);
    }
    if (turn_of(&a, last)) {
        OK(act(&a, OP_PUT, 1, 1));   /* part of lane 0: its rest comes home */
        OK(act(&a, OP_PUT, 8, 8));   /* lane 1, valid at home */
        OK(act(&a, OP_PUT, 16, 8));  /* lane 2, stale there: nothing moves */
        OK(act(&a, OP_GET, 24, 16)); /* lanes 3 and 4 in one copy */
        OK(act(&a, OP_SUM, 40, 1));
    }
    if (turn_of(&a, 0)) {
        COUNT(BYTES_OUT, 64 + 64 + 128 + 64);
        COUNT(COPIES, 5);
        COUNT(INVALIDATED, 128 + 8);
        COUNT(DISCARDS, 8192 + 64);
        COUNT(HITS, 1);
        taken(&a, 0, 128, 2, MPIX_WIN_WRITE);
        COUNT(BYTES_IN, 128);
        COUNT(COPIES, 6);
        COUNT(INVALIDATED, 128 + 8 + 2);
        COUNT(CONFLICTS, 0);
        COUNT(EVICTED_CLEAN, 0);
        COUNT(EVICTED_HOME, 0);
        COUNT(DEVICE_BYTES, 3 * TILE);
    }
    OK(MPI_Win_free(&win));
}

/* The oldest clean chunk goes before a dirty one; a dirty one is counted once. */
static void evictions(void *arg)
{
    struct actor a;
    MPI_Win win = script("8192", &a, 8);
    if (a.rank == 0) {
        fill(&a, 1, 0, 512, 1000);
        taken(&a, 4096, 4096, 1, MPIX_WIN_READ);
        taken(&a, 8192, 64, 1, MPIX_WIN_READ); /* takes the place of the clean one */
        COUNT(EVICTED_CLEAN, 1);
        COUNT(EVICTED_HOME, 0);
        COUNT(BYTES_OUT, 0);
        fill(&a, 1, 512, 512, 3000);          /* again the clean one */
        COUNT(EVICTED_CLEAN, 2);
        taken(&a, 8192, 64, 1, MPIX_WIN_READ); /* both are dirty: the one released first */
        COUNT(EVICTED_CLEAN, 2);
        COUNT(EVICTED_HOME, 1);
        COUNT(BYTES_OUT, 4096);
        COUNT(DEVICE_BYTES_HIGH, 8192);
        long *p;
        OK(MPIX_Win_acquire(win, 0, 8192, 0, MPIX_WIN_READ, &p));
        SIM_CHECK(p[0] == 1000 && p[511] == 1511 && p[512] == 3000 && p[1023] == 3511);
        OK(MPIX_Win_release(win, 0, 8192, 0));
        COUNT(BYTES_OUT, 8192);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&win));
}

/* What a device holds for writing is refused, and nothing of it happens; other lanes work. */
static void conflict(void *arg)
{
    struct actor a;
    MPI_Win win = script(NULL, &a, 8);
    int last = a.size - 1;
    void *p;
    if (a.rank == 0) {
        fill(&a, 1, 0, 1024, 100);
        OK(MPIX_Win_acquire(win, 1024, 128, a.space[1], MPIX_WIN_WRITE, &p));
        ERR(MPI_ERR_RMA_CONFLICT, MPIX_Win_acquire(win, 1144, 16, a.space[0], MPIX_WIN_READ, &p));
        ERR(MPI_ERR_RMA_CONFLICT, MPIX_Win_acquire(win, 1144, 8, a.space[2], MPIX_WIN_READ, &p));
        COUNT(CONFLICTS, 2);
    }
    if (turn_of(&a, last)) {
        for (int i = 0; i < 64; i++)
            said[i] = 7;
        ERR(MPI_ERR_RMA_CONFLICT, act(&a, OP_PUT, 130, 1));
        ERR(MPI_ERR_RMA_CONFLICT, act(&a, OP_PUT, 96, 40)); /* ends in a held lane */
        ERR(MPI_ERR_RMA_CONFLICT, act(&a, OP_SUM, 143, 2));
        ERR(MPI_ERR_RMA_CONFLICT, act(&a, OP_GET, 128, 1));
        OK(act(&a, OP_PUT, 144, 1));
    }
    if (turn_of(&a, 0)) {
        COUNT(CONFLICTS, 6);
        must_hold(win);
        OK(MPIX_Win_release(win, 1024, 128, a.space[1]));
        long *at;
        OK(MPIX_Win_acquire(win, 0, 8192, 0, MPIX_WIN_READ, &at));
        for (int i = 0; i < 1024; i++)
            SIM_CHECK(at[i] == (i == 144 ? 7 : 100 + i));
        OK(MPIX_Win_release(win, 0, 8192, 0));
    }
    if (turn_of(&a, last)) {
        OK(act(&a, OP_GET, 128, 17));
        SIM_CHECK(said[0] == 228 && said[16] == 7);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&win));
}

/* A copy fails after the release that a stream will come to: the synchronization reports it. */
static void late(void *arg)
{
    struct actor a;
    MPI_Win win = script(NULL, &a, 20);
    void *p;
    int stream;
    OK(MPI_Win_fence(0, win));
    if (a.rank == 0) {
        sim_space_set(&(struct sim_space_knobs){.delay = 20, .bytes = 1 << 20, .fail_every = 1});
        OK(MPIX_Win_acquire_on_stream(win, 0, 64, a.space[1], MPIX_WIN_WRITE, &stream, &p));
        OK(MPIX_Win_release_on_stream(win, 0, 64, a.space[1], &stream));
        ERR(MPI_ERR_OTHER, MPI_Win_fence(0, win));
    } else {
        OK(MPI_Win_fence(0, win));
    }
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    if (a.rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        OK(MPIX_Win_acquire_on_stream(win, 0, 64, a.space[1], MPIX_WIN_WRITE, &stream, &p));
        OK(MPIX_Win_release_on_stream(win, 0, 64, a.space[1], &stream));
        ERR(MPI_ERR_OTHER, MPI_Win_unlock(0, win));
        must_hold(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&win));
}

/* An eviction that always fails ends the call that needs the room; later it works. */
static void evict_fails(void *arg)
{
    struct actor a;
    MPI_Win win = script("4096", &a, 8);
    long *p;
    if (a.rank == 0) {
        fill(&a, 1, 0, 512, 100);
        sim_space_set(&(struct sim_space_knobs){.delay = 8, .bytes = 1 << 20, .fail_evicting = 1});
        for (int i = 0; i < 3; i++) {
            ERR(MPI_ERR_OTHER, MPIX_Win_acquire(win, 4096, 8, a.space[1], MPIX_WIN_READ, &p));
            ERR(MPI_ERR_OTHER, MPIX_Win_evict(win, 0, 8, a.space[1]));
        }
        COUNT(EVICTED_HOME, 0);
        sim_space_set(&(struct sim_space_knobs){.delay = 8, .bytes = 1 << 20});
        taken(&a, 4096, 8, 1, MPIX_WIN_READ);
        COUNT(EVICTED_HOME, 1);
        OK(MPIX_Win_acquire(win, 0, 4096, 0, MPIX_WIN_READ, &p));
        SIM_CHECK(p[0] == 100 && p[511] == 611);
        OK(MPIX_Win_release(win, 0, 4096, 0));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&win));
}

/* All that fits is held: no room, and nothing has changed. */
static void full(void *arg)
{
    struct actor a;
    MPI_Win win = script("8192", &a, 8);
    void *p;
    if (a.rank == 0) {
        OK(MPIX_Win_acquire(win, 0, 8192, a.space[1], MPIX_WIN_READ, &p));
        ERR(MPI_ERR_NO_MEM, MPIX_Win_acquire(win, 8192, 8, a.space[1], MPIX_WIN_READ, &p));
        ERR(MPI_ERR_NO_MEM, MPIX_Win_acquire(win, 0, BYTES, a.space[1], MPIX_WIN_READ, &p));
        OK(MPIX_Win_prefetch(win, 8192, 8, a.space[1])); /* a hint */
        COUNT(BYTES_IN, 8192);
        OK(MPIX_Win_release(win, 0, 8192, a.space[1]));
        taken(&a, 8192, 8, 1, MPIX_WIN_READ);
        COUNT(BYTES_IN, 8192 + 64);
        must_hold(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&win));
}

/* The device is lost: what only it had is, too, until it is written whole; the rest goes on. */
static void lost(void *arg)
{
    struct actor a;
    MPI_Win win = script(NULL, &a, 8);
    int last = a.size - 1;
    void *p;
    if (a.rank == 0) {
        fill(&a, 1, 0, 512, 100);
        sim_space_set(&(struct sim_space_knobs){.delay = 8, .bytes = 1 << 20, .dies_at = 1});
        ERR(MPI_ERR_OTHER, MPIX_Win_acquire(win, 0, 8, 0, MPIX_WIN_READ, &p));
        ERR(MPI_ERR_OTHER, MPIX_Win_acquire(win, 8192, 8, a.space[1], MPIX_WIN_READ, &p));
    }
    if (turn_of(&a, last)) {
        memset(said, 0, sizeof said);
        ERR(MPI_ERR_OTHER, act(&a, OP_GET, 10, 1));
        ERR(MPI_ERR_OTHER, act(&a, OP_SUM, 10, 1));
        OK(act(&a, OP_GET, 600, 8));
        OK(act(&a, OP_PUT, 8, 8)); /* a whole lane is there again */
        OK(act(&a, OP_GET, 8, 8));
        ERR(MPI_ERR_OTHER, act(&a, OP_PUT, 1, 1)); /* but no part of one */
    }
    if (turn_of(&a, 0)) {
        must_hold(win);
        taken(&a, 0, 4096, 0, MPIX_WIN_DISCARD);
        taken(&a, 0, 4096, 0, MPIX_WIN_READ);
        ERR(MPI_ERR_OTHER, MPIX_Win_acquire(win, 8192, 8, a.space[1], MPIX_WIN_READ, &p));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&win));
}

static void sees(void *const *ptr, const void *arg)
{
    const long *p = ptr[0], *want = arg;
    if (p[0] != want[0] || p[64] != want[1])
        sim_fail("a device has %ld and %ld, not %ld and %ld", p[0], p[64], want[0], want[1]);
}

/* A peer acts without a message on what home alone has, while the owner acquires it. What the peer
 * has put is in each acquire after that. */
static void alone(void *arg)
{
    enum { TURNS = 6 };
    struct actor a;
    MPI_Win win = script(NULL, &a, 4);
    int last = a.size - 1;
    void *p;
    taken(&a, 0, BYTES, 0, MPIX_WIN_WRITE);
    for (long i = 1; i <= TURNS; i++) {
        long want[2] = {i, 0};
        MPI_Barrier(MPI_COMM_WORLD);
        if (a.rank == last) {
            OK(MPI_Win_lock_all(0, win));
            OK(MPI_Put(&i, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
            OK(MPI_Accumulate(&i, 1, MPI_LONG, 0, 64, 1, MPI_LONG, MPI_SUM, win));
            OK(MPI_Win_unlock_all(win));
        } else {
            taken(&a, 0, 1024, 1 + i % 2, MPIX_WIN_READ);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        want[1] = i * (i + 1) / 2;
        if (a.rank == last)
            continue;
        OK(MPIX_Win_acquire(win, 0, 1024, a.space[1 + i % 2], MPIX_WIN_READ, &p));
        OK(MPIX_Space_launch(a.space[1 + i % 2], NULL, sees, 1, &p, want, sizeof want));
        OK(MPIX_Space_wait(a.space[1 + i % 2], NULL));
        OK(MPIX_Win_release(win, 0, 1024, a.space[1 + i % 2]));
        taken(&a, 0, 1024, 0, MPIX_WIN_WRITE);
        must_hold(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (a.rank == last) { /* the owner acquires nothing now */
        long before = pvar(win, PVAR_RMA_MAPPED);
        OK(act(&a, OP_GET, 0, 100));
        OK(act(&a, OP_PUT, 70, 600));
        OK(act(&a, OP_SUM, 0, 1));
        SIM_CHECK(said[64] == TURNS * (TURNS + 1) / 2 && pvar(win, PVAR_RMA_MAPPED) == before + 3);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&win));
}

/* --- buffers of operations on a device: an ordinary window, near or far ----------------------- */

enum { LEN = 300 };

/* Operations of each rank on the next one; complete when it returns. */
static void with_buffers(const struct actor *a, MPI_Win other, long *d, int to)
{
    OK(MPI_Win_lock_all(0, other));
    OK(MPI_Put(d, LEN, MPI_LONG, to, 0, LEN, MPI_LONG, other));
    OK(MPI_Accumulate(&d[1], 1, MPI_LONG, to, LEN, 1, MPI_LONG, MPI_SUM, other));
    OK(MPI_Get(&d[LEN], LEN, MPI_LONG, to, LEN + 8, LEN, MPI_LONG, other));
    OK(MPI_Fetch_and_op(&d[2], &d[2 * LEN], MPI_LONG, to, LEN + 1, MPI_SUM, other));
    OK(MPI_Win_flush_all(other));
    struct task *k = calloc(1, sizeof *k + (LEN + 1) * sizeof(long));
    k->n = LEN + 1;
    k->how = MPIX_WIN_READ;
    for (int i = 0; i < LEN; i++)
        k->want[i] = 500 + LEN + 8 + i;
    k->want[LEN] = 500 + LEN + 1;
    void *p = &d[LEN];
    OK(MPIX_Space_launch(a->space[1], NULL, kernel, 1, &p, k,
                         (int)(sizeof *k + (LEN + 1) * sizeof(long))));
    OK(MPIX_Space_wait(a->space[1], NULL));
    free(k);
    /* each copy fails: the call or the flush says so, and nothing is left */
    sim_space_set(&(struct sim_space_knobs){.bytes = 1 << 20, .fail_every = 1});
    int cls, err = MPI_Get(d, 1, MPI_LONG, to, 0, 1, MPI_LONG, other);
    err = err ? err : MPI_Win_flush_all(other);
    MPI_Error_class(err, &cls);
    SIM_CHECK(cls == MPI_ERR_OTHER);
    sim_space_set(&(struct sim_space_knobs){.bytes = 1 << 20});
    OK(MPI_Win_unlock_all(other));
}

static void buffers(void *arg)
{
    struct actor a;
    MPI_Win other, win = script(NULL, &a, (int)(sim_random() % 30));
    MPI_Info info;
    long *mem, *d;
    int to = (a.rank + 1) % a.size, cls;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_win_buffers", "sim:0");
    OK(MPI_Win_allocate(BYTES, sizeof(long), info, MPI_COMM_WORLD, &mem, &other));
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN);
    for (int i = 0; i < LONGS; i++)
        mem[i] = 500 + i;
    fill(&a, 1, 0, LEN, 1000 * (a.rank + 1));
    OK(MPIX_Win_acquire(win, 0, BYTES, a.space[1], MPIX_WIN_WRITE, &d));
    MPI_Barrier(MPI_COMM_WORLD);
    with_buffers(&a, other, d, to);
    SIM_CHECK(pvar(other, PVAR_COH_BYTES_OUT) == (LEN + 2) * (long)sizeof(long));
    SIM_CHECK(pvar(other, PVAR_COH_BYTES_IN) == (LEN + 1) * (long)sizeof(long));
    OK(MPIX_Win_release(win, 0, BYTES, a.space[1]));
    MPI_Error_class(MPI_Put(d, 1, MPI_LONG, to, 0, 1, MPI_LONG, other), &cls);
    SIM_CHECK(cls == MPI_ERR_BUFFER);
    MPI_Barrier(MPI_COMM_WORLD);
    long v = 1000 * ((a.rank + a.size - 1) % a.size + 1);
    for (int i = 0; i < LEN; i++)
        SIM_CHECK(mem[i] == v + i);
    SIM_CHECK(mem[LEN] == 501 + LEN + v && mem[LEN + 1] == 503 + LEN + v);
    OK(MPI_Win_free(&other));
    OK(MPI_Win_free(&win));
}

static void far_unordered(struct sim_knobs *k)
{
    k->nodes = k->ranks;
    k->ordered = 0;
}

static void one_node(struct sim_knobs *k)
{
    k->nodes = 1;
}

const struct scenario scenarios_coherent[] = {
    {"coh-random-2", 2, 1, random_program, NULL, NULL},
    {"coh-random-4", 4, 1, random_program, NULL, NULL},
    {"coh-far-unordered", 3, 1, random_program, NULL, far_unordered},
    {"coh-starved", 3, 1, starved, NULL, NULL},
    {"coh-threads", 2, THREADS, threads_program, threads_other, NULL},
    {"coh-fails", 2, 1, fails, NULL, NULL},
    {"coh-counts", 2, 1, copies_counted, NULL, NULL},
    {"coh-evictions", 1, 1, evictions, NULL, NULL},
    {"coh-alone", 2, 1, alone, NULL, one_node},
    {"coh-conflict", 2, 1, conflict, NULL, NULL},
    {"coh-late", 2, 1, late, NULL, NULL},
    {"coh-evict-fails", 1, 1, evict_fails, NULL, NULL},
    {"coh-full", 1, 1, full, NULL, NULL},
    {"coh-lost", 2, 1, lost, NULL, NULL},
    {"coh-buffers", 2, 1, buffers, NULL, NULL},
    {"coh-buffers-far", 3, 1, buffers, NULL, far_unordered},
    {NULL, 0, 0, NULL, NULL, NULL},
};

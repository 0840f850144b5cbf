/* test_coherent.c - the real coherent.c, explored to the end: one tile of two lanes of two halves,
 * home and two devices, two holds in each.  Breadth first over abstract states; each is reached by
 * replaying its calls from the start on a space whose bytes are version numbers.  Then capacity,
 * eviction, failures and streams. */
#include "job.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/proc.h"
#include "base/sched.h"
#include "mem/coherent_types.h"

Suite *suite_coherent(void);

/* --- a space whose copies are done at the call ------------------------------------------------ */

enum { FAKE_BYTES = 1 << 20, FAKE_GRAIN = 4096 };
static struct space fakes[2];
static uint64_t fake_moved, fake_commits;

static int fake_count(void)
{
    return 2;
}
static int fake_open(int i, struct space **s, struct space_caps *caps)
{
    *s = &fakes[i];
    *caps = (struct space_caps){.flags = SPACE_PEER, .grain = FAKE_GRAIN, .bytes = FAKE_BYTES};
    return 0;
}
static void fake_close(struct space *s)
{
}
static int fake_reserve(struct space *s, size_t len, uint64_t *addr)
{
    *addr = (uint64_t)(uintptr_t)calloc(1, len);
    return 0;
}
static void fake_unreserve(struct space *s, uint64_t addr, size_t len)
{
    free((void *)(uintptr_t)addr);
}
static int fake_commit(struct space *s, uint64_t addr, size_t len)
{
    fake_commits++;
    return 0;
}
static void fake_decommit(struct space *s, uint64_t addr, size_t len)
{
    memset((void *)(uintptr_t)addr, 0, len);
}
static int fake_copy(struct space *s, struct space *from, enum space_way way,
                     const struct space_run *r, unsigned n, struct space_mark *m)
{
    for (unsigned i = 0; i < n; i++) {
        memcpy((void *)(uintptr_t)r[i].dst, (void *)(uintptr_t)r[i].src, r[i].len);
        fake_moved += r[i].len;
    }
    *m = (struct space_mark){{0, 0}};
    return 0;
}
static int fake_done(struct space *s, const struct space_mark *m)
{
    return 0;
}

static const struct space_ops fake = {.name = "fake", .count = fake_count, .open = fake_open,
                                      .close = fake_close, .reserve = fake_reserve,
                                      .unreserve = fake_unreserve, .commit = fake_commit,
                                      .decommit = fake_decommit, .copy = fake_copy,
                                      .done = fake_done};

/* --- one run: the window, its holds, what each half should be --------------------------------- */

enum { SPACES = 3, LANES = 2, HALF = 32, LANE = 64, WINDOW = LANES * LANE, PATH = 32 };
enum { EV_ACQUIRE, EV_RELEASE, EV_EVICT, EV_PUT, EV_GET };
struct event {
    uint8_t kind, s, mode, lanes; /* mode: R W D, or h: half of lane 0; EV_PUT: whole? */
    uint8_t k;
};
struct hold {
    uint8_t lanes; /* 0: reading */
    uint8_t off, len;
};
struct run {
    struct coh *c;
    struct pvar_set pvars;
    char home[WINDOW];
    atomic_uchar alone[1];
    struct hold hold[SPACES][2];
    int n[SPACES];
    uint32_t latest[LANES][2], version;
};

/* The abstract state, as the model normalises it. */
struct state {
    uint8_t V[SPACES], M[SPACES], fresh[SPACES], hold[SPACES][2], n[SPACES];
};

static uint32_t *half_at(struct run *r, int s, int lane, int h)
{
    return (uint32_t *)(uintptr_t)(r->c->at[s].base + (size_t)lane * LANE + (size_t)h * HALF);
}

/* The writer stores all of its named halves, with a new version. */
static void store(struct run *r, int s, unsigned lanes, int whole)
{
    r->version++;
    for (int l = 0; l < LANES; l++)
        for (int h = 0; h < (whole ? 2 : 1); h++)
            if (lanes >> l & 1) {
                *half_at(r, s, l, h) = r->version;
                r->latest[l][h] = r->version;
            }
}

static int all_latest(struct run *r, int s, unsigned lanes)
{
    for (int l = 0; l < LANES; l++)
        for (int h = 0; h < 2; h++)
            if (lanes >> l & 1 && *half_at(r, s, l, h) != r->latest[l][h])
                return 0;
    return 1;
}

static unsigned held_by(const struct run *r, int s)
{
    unsigned w = 0;
    for (int k = 0; k < r->n[s]; k++)
        w |= r->hold[s][k].lanes;
    return w;
}

/* Until it is done; copies are done at the next call. */
static int ask(struct run *r, struct coh_ask *a, int home, enum coh_access how)
{
    int err;
    do
        err = home ? coh_home(r->c, a, how) : coh_acquire(r->c, a);
    while (err == SPACE_AGAIN);
    return err;
}

static void holds_sort(struct run *r, int s)
{
    if (r->n[s] == 2 && r->hold[s][0].lanes > r->hold[s][1].lanes) {
        struct hold t = r->hold[s][0];
        r->hold[s][0] = r->hold[s][1];
        r->hold[s][1] = t;
    }
}

/* 1: it happened; 0: refused by the rules, or beyond the bound of the search; -1: broken. */
static int acquire(struct run *r, const struct event *e)
{
    size_t off = e->lanes == 2 ? LANE : 0;
    size_t len = e->mode == 'h' ? HALF : e->lanes == 3 ? WINDOW : LANE;
    unsigned others = 0;
    for (int t = 0; t < SPACES; t++)
        others |= t == e->s ? 0 : held_by(r, t);
    int refused = (others & e->lanes) != 0;
    if (!refused && r->n[e->s] == 2)
        return 0;
    len -= e->mode == 'R'; /* ranges of readers and writers differ, so each can be released */
    struct coh_ask a = {.off = off, .len = len, .space = e->s,
                        .mode = e->mode == 'R' ? COH_READ : e->mode == 'W' ? COH_WRITE
                                                                          : COH_DISCARD};
    int err = ask(r, &a, 0, 0);
    if (refused)
        return err == -EBUSY ? 0 : -1;
    if (err)
        return -1;
    r->hold[e->s][r->n[e->s]++] =
        (struct hold){e->mode == 'R' ? 0 : e->lanes, (uint8_t)off, (uint8_t)len};
    holds_sort(r, e->s);
    if (e->mode == 'R')
        return all_latest(r, e->s, e->lanes) ? 1 : -1;
    if (e->mode == 'W' && !all_latest(r, e->s, e->lanes))
        return -1;
    store(r, e->s, e->lanes, e->mode != 'h');
    return 1;
}

static int at_home(struct run *r, const struct event *e)
{
    unsigned held = 0;
    for (int t = 0; t < SPACES; t++)
        held |= held_by(r, t);
    size_t off = e->lanes == 2 ? LANE : 0;
    size_t len = e->kind == EV_PUT && !e->mode ? HALF : e->lanes == 3 ? WINDOW : LANE;
    struct coh_ask a = {.off = off, .len = len};
    int err = ask(r, &a, 1, e->kind == EV_PUT ? COH_AT_PUT : COH_AT_GET);
    if (held & e->lanes)
        return err == -EBUSY ? 0 : -1;
    if (err)
        return -1;
    if (e->kind == EV_PUT)
        store(r, 0, e->lanes, e->mode);
    else if (!all_latest(r, 0, e->lanes))
        return -1;
    return 1;
}

static int step(struct run *r, const struct event *e)
{
    if (e->kind == EV_ACQUIRE)
        return acquire(r, e);
    if (e->kind == EV_PUT || e->kind == EV_GET)
        return at_home(r, e);
    if (e->kind == EV_RELEASE) {
        struct hold h = r->hold[e->s][e->k];
        if (coh_release(r->c, h.off, h.len, e->s, 0, NULL))
            return -1;
        r->hold[e->s][e->k] = r->hold[e->s][--r->n[e->s]];
        holds_sort(r, e->s);
        return 1;
    }
    struct coh_ask a = {.len = WINDOW, .space = e->s};
    int err;
    do
        err = coh_evict(r->c, &a);
    while (err == SPACE_AGAIN);
    return r->n[e->s] ? (err == -EBUSY ? 0 : -1) : err ? -1 : 1;
}

static void no_look(void *arg)
{
    (void)arg;
}
static int is_inside(void *arg)
{
    return *(int *)arg;
}

static void run_begin(struct run *r)
{
    static int inside;
    memset(r, 0, sizeof *r);
    struct coh_gate gate = {r->alone, no_look, is_inside, &inside};
    struct coh_plan p = {.gate = &gate, .home = r->home, .bytes = WINDOW, .n = SPACES,
                         .tile = COH_TILE_LEAST, .space = {NULL, &fakes[0], &fakes[1]},
                         .pvars = &r->pvars};
    job_check(coh_make(&p, &r->c) == 0);
    r->version = 0;
    store(r, 0, 3, 1);
}

static void run_end(struct run *r)
{
    while (!list_empty(&r->c->holds)) {
        struct coh_hold *h = LIST_OBJ(r->c->holds.next, struct coh_hold, link);
        job_check(coh_release(r->c, h->off, h->len, h->space, 0, NULL) == 0);
    }
    coh_drop(r->c);
}

static struct state state_of(struct run *r)
{
    struct state x;
    memset(&x, 0, sizeof x);
    for (int s = 0; s < SPACES; s++) {
        x.V[s] = (uint8_t)coh_at(r->c, 0, (unsigned)s)->V;
        x.M[s] = (uint8_t)coh_at(r->c, 0, (unsigned)s)->M;
        for (int l = 0; l < LANES; l++)
            for (int h = 0; h < 2; h++)
                x.fresh[s] |= (uint8_t)((*half_at(r, s, l, h) == r->latest[l][h]) << (2 * l + h));
        x.n[s] = (uint8_t)r->n[s];
        for (int k = 0; k < r->n[s]; k++)
            x.hold[s][k] = r->hold[s][k].lanes;
    }
    return x;
}

/* C1 to C6 by the code's own check, W by the test's own records, and C4 by the versions. */
static const char *broken(struct run *r)
{
    const char *why = coh_check(r->c);
    unsigned held = 0;
    if (!why && coh_at_home(r->c, 0) != r->alone[0])
        return "C10: home alone has the tile, and peers may not act on it";
    for (int s = 0; s < SPACES; s++)
        held |= held_by(r, s);
    for (int s = 0; !why && s < SPACES; s++) {
        const struct coh_inst *x = coh_at(r->c, 0, (unsigned)s);
        if (x->W != held_by(r, s) || x->rd + x->wr != (unsigned)r->n[s])
            return "the holds";
        if (!all_latest(r, s, (unsigned)x->V & ~held))
            return "C4: valid and old";
    }
    return why;
}

static int events(const struct state *x, struct event *e)
{
    int n = 0;
    for (uint8_t s = 0; s < SPACES; s++) {
        for (uint8_t lanes = 1; lanes <= 3; lanes++)
            for (const char *m = "RWD"; *m; m++)
                e[n++] = (struct event){EV_ACQUIRE, s, (uint8_t)*m, lanes, 0};
        e[n++] = (struct event){EV_ACQUIRE, s, 'h', 1, 0};
        for (uint8_t k = 0; k < x->n[s]; k++)
            e[n++] = (struct event){EV_RELEASE, s, 0, 0, k};
        if (s)
            e[n++] = (struct event){EV_EVICT, s, 0, 0, 0};
    }
    for (uint8_t lanes = 1; lanes <= 2; lanes++) {
        e[n++] = (struct event){EV_PUT, 0, 1, lanes, 0};
        e[n++] = (struct event){EV_PUT, 0, 0, lanes, 0};
        e[n++] = (struct event){EV_GET, 0, 0, lanes, 0};
    }
    e[n++] = (struct event){EV_PUT, 0, 1, 3, 0};
    return n;
}

/* --- the search ------------------------------------------------------------------------------- */

enum { STATES = 1 << 16 };
static struct node {
    struct state x;
    uint32_t from; /* node it was reached from */
    struct event by;
    uint8_t depth;
} node[STATES];
static uint32_t nodes, place[4 * STATES];

static uint32_t *seen(const struct state *x)
{
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < sizeof *x; i++)
        h = (h ^ ((const unsigned char *)x)[i]) * 1099511628211u;
    uint32_t at = (uint32_t)(h >> 20) % (4 * STATES);
    while (place[at] && memcmp(&node[place[at] - 1].x, x, sizeof *x))
        at = (at + 1) % (4 * STATES);
    return &place[at];
}

static void replay(struct run *r, uint32_t i)
{
    struct event path[PATH];
    int n = 0;
    for (; node[i].depth; i = node[i].from)
        path[n++] = node[i].by;
    run_begin(r);
    while (n)
        job_check(step(r, &path[--n]) == 1);
}

static void fakes_init(void)
{
    for (int i = 0; i < 2; i++)
        fakes[i] = (struct space){.ops = &fake, .index = i, .caps = {SPACE_PEER, FAKE_GRAIN,
                                                                     FAKE_BYTES}};
}

static void explore(void)
{
    static struct run r;
    struct event e[64];
    uint64_t steps = 0;
    fakes_init();
    run_begin(&r);
    node[0] = (struct node){.x = state_of(&r)};
    nodes = 1;
    *seen(&node[0].x) = 1;
    run_end(&r);
    for (uint32_t i = 0; i < nodes; i++) {
        int n = events(&node[i].x, e);
        int fresh = 0; /* the run stands at node i */
        for (int k = 0; k < n; k++, steps++) {
            if (!fresh)
                replay(&r, i);
            int did = step(&r, &e[k]);
            const char *why = did < 0 ? "a wrong result" : broken(&r);
            if (why)
                fprintf(stderr, "node %u, event %d: %s\n", i, k, why);
            job_check(!why);
            struct state x = state_of(&r);
            fresh = !memcmp(&x, &node[i].x, sizeof x) && did == 0;
            uint32_t *at = seen(&x);
            if (did == 1 && !*at) {
                job_check(nodes < STATES);
                node[nodes] = (struct node){x, i, e[k], (uint8_t)(node[i].depth + 1)};
                *at = ++nodes;
            }
            if (!fresh)
                run_end(&r);
        }
        if (fresh)
            run_end(&r);
    }
    fprintf(stderr, "%u states, %llu steps, closed at depth %d\n", nodes,
            (unsigned long long)steps, node[nodes - 1].depth);
    job_check(nodes == 19707 && steps == 833640 && node[nodes - 1].depth == 14);
}

START_TEST(exhaustive)
{
    ck_assert_int_eq(job_run(1, NULL, explore, 55), 0);
}
END_TEST

/* A word is taken back before a lane leaves home; the call waits until peers inside have left. */
static void gate_waits(void)
{
    enum { TILES = 3 };
    static char home[TILES * COH_TILE_LEAST];
    static struct pvar_set pvars;
    atomic_uchar alone[TILES] = {0};
    int inside = 0;
    struct coh *c;
    fakes_init();
    struct coh_gate gate = {alone, no_look, is_inside, &inside};
    struct coh_plan p = {.gate = &gate, .home = home, .bytes = sizeof home, .n = SPACES,
                         .tile = COH_TILE_LEAST, .space = {NULL, &fakes[0], &fakes[1]},
                         .pvars = &pvars};
    job_check(coh_make(&p, &c) == 0 && alone[0] && alone[1] && alone[2]);
    struct coh_ask a = {.off = COH_TILE_LEAST - 1, .len = 2, .space = 1, .mode = COH_READ}, b = a;
    inside = 1;
    job_check(coh_acquire(c, &a) == SPACE_AGAIN && !alone[0] && !alone[1] && alone[2]);
    job_check(coh_at_home(c, 0) && coh_at_home(c, 1));
    coh_gate_open(c, 0, sizeof home); /* as an access by message may do meanwhile: it waits on */
    job_check(!alone[0] && alone[2] && coh_acquire(c, &a) == SPACE_AGAIN && !alone[0]);
    inside = 0;
    int err;
    while ((err = coh_acquire(c, &a)) == SPACE_AGAIN)
        ;
    job_check(!err && !alone[0] && !alone[1] && alone[2] && !coh_check(c));
    /* a peer does not hold up those that change nothing, nor what has been shut before */
    inside = 1;
    job_check(coh_prefetch(c, 2 * COH_TILE_LEAST, 8, 2) == 0 && alone[2] && coh_at_home(c, 2));
    struct coh_ask host = {.off = 2 * COH_TILE_LEAST, .len = 8, .mode = COH_READ};
    job_check(coh_acquire(c, &host) == 0 && alone[2]);
    struct coh_ask put = {.off = 0, .len = COH_TILE_LEAST};
    job_check(coh_home(c, &put, COH_AT_PUT) == 0 && alone[0] && !alone[1]);
    inside = 0;
    job_check(coh_release(c, b.off, b.len, 1, 0, NULL) == 0 && alone[0] && !alone[1]);
    job_check(coh_release(c, host.off, 8, 0, 0, NULL) == 0);
    struct coh_ask out = {.off = COH_TILE_LEAST, .len = 1, .space = 1};
    while ((err = coh_evict(c, &out)) == SPACE_AGAIN)
        ;
    job_check(!err && alone[1] && !coh_check(c));
    /* an acquire that waited and is refused keeps nothing shut */
    struct coh_ask refused = {.off = 2 * COH_TILE_LEAST, .len = 8, .space = 2, .mode = COH_READ};
    struct coh_ask holder = {.off = 2 * COH_TILE_LEAST, .len = 8, .mode = COH_WRITE};
    inside = 1;
    job_check(coh_acquire(c, &refused) == SPACE_AGAIN && !alone[2]);
    inside = 0;
    job_check(coh_acquire(c, &holder) == 0 && coh_acquire(c, &refused) == -EBUSY);
    job_check(coh_release(c, holder.off, 8, 0, 0, NULL) == 0 && alone[2] && !coh_check(c));
    coh_drop(c);
}

START_TEST(gate)
{
    ck_assert_int_eq(job_run(1, NULL, gate_waits, 20), 0);
}
END_TEST

Suite *suite_coherent(void)
{
    Suite *s = suite_create("mem/coherent");
    TCase *t = tcase_create("coherent");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, exhaustive);
    tcase_add_test(t, gate);
    suite_add_tcase(s, t);
    return s;
}

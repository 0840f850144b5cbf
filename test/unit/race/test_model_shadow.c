/* test_model_shadow.c - race/model/shadow.c: all pairs, what is dropped has a witness, starved, a
 * loop of put and flush is one record, a page has a bound, open ones outlive a phase; the order of
 * what is found is the same wherever the memory lies. */
#include "unit.h"

#include <stdint.h>
#include <string.h>

#include "dt/dt.h"
#include "race/model/model.h"

Suite *suite_model_shadow(void);

enum { MOST_THREADS = 5, MOST_OPS = 160, MOST_BATCHES = 160, SPACE = 6 << 21 };

static uint32_t rnd(uint64_t *s, uint32_t below)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*s >> 33) % below;
}

/* --- a random program: threads, vector clocks, batches, and all pairs of it ------------------- */

struct op {
    struct race_access r;
    uint32_t tid;
    uint64_t dense[MOST_THREADS]; /* its vector clock */
    int batch;
};
struct world {
    uint64_t seed;
    uint32_t threads;
    uint64_t clock[MOST_THREADS], dense[MOST_THREADS][MOST_THREADS], vclock_no[MOST_THREADS];
    struct race_vclock *vclock[MOST_THREADS];
    struct race_batch *batch[MOST_BATCHES];
    int here[MOST_BATCHES]; /* its records were added */
    int batches, current[MOST_THREADS];
    struct op op[MOST_OPS];
    int ops;
    struct race_shadow g;
    uint8_t answered[MOST_OPS][MOST_OPS];
    uint8_t order[MOST_OPS][MOST_OPS]; /* reported: the first happens before the second */
    int looks;                         /* the order is asked for */
    int is_even;                       /* all have 16 bytes: none covers more than its equal */
    uint64_t base;                     /* address of the memory */
    uint64_t sequence;                 /* hash of the pairs reported, as they came */
    int tellings, sure; /* pairs reported; those that are not only possible */
};

static void found(void *arg, const struct race_conflict *f)
{
    struct world *w = arg;
    uint64_t a = f->old->site, b = f->now->site;
    w->tellings++;
    w->sequence = (w->sequence ^ (a << 32 | b << 1 | (f->possible != 0))) * 0x9e3779b97f4a7c15u;
    w->sequence ^= w->sequence >> 32;
    if (f->possible)
        return;
    w->sure++;
    w->answered[a][b] = w->answered[b][a] = 1;
}

static void ordered(void *arg, const struct race_access *early, const struct race_access *late)
{
    struct world *w = arg;
    if (early && late)
        w->order[early->site][late->site]++;
}

static void acquire(struct world *w, uint32_t t, struct race_vclock *v)
{
    race_vclock_drop(w->vclock[t]);
    w->vclock[t] = v;
    w->vclock_no[t]++;
    w->current[t] = -1;
}

static struct race_access random_access(struct world *w, uint32_t pages)
{
    uint64_t *s = &w->seed;
    struct race_access r = {.weight = 1};
    r.interval = (struct race_interval){.blocks = 1};
    r.interval.at = w->base + rnd(s, pages) * 4096 + rnd(s, 8) * 8;
    r.interval.len = w->is_even ? 16 : 8 * (1 + rnd(s, 3));
    if (w->is_even) {
        /* else what rule D finds depends on what else its page has */
    } else if (rnd(s, 4) == 0) {
        r.interval.stride = 32;
        r.interval.blocks = 2 + rnd(s, 300);
    } else if (rnd(s, 8) == 0) {
        r.interval.len = rnd(s, 3) ? 100000 : 4 << 20; /* at the span; at several */
    } else if (rnd(s, 40) == 0) {
        r.interval.len = SPACE * 4; /* at the root */
    }
    r.effect.kind = (RACE_GET + rnd(s, RACE_KINDS - RACE_GET)) & 15;
    if (r.effect.kind == RACE_ACC)
        r.effect.op = rnd(s, 4) ? DT_SUM : DT_MAX;
    r.effect.elem = 5;
    r.effect.esize = 8;
    return r;
}

static void issue(struct world *w, uint32_t t, uint32_t pages)
{
    if (w->ops == MOST_OPS || (w->current[t] < 0 && w->batches == MOST_BATCHES))
        return;
    w->clock[t]++;
    w->dense[t][t] = w->clock[t];
    if (w->current[t] < 0) {
        struct race_batch *b = calloc(1, sizeof *b);
        ck_assert_ptr_nonnull(b);
        *b = (struct race_batch){.tid = t,
                                 .refs = 1,
                                 .issued = w->clock[t],
                                 .done = RACE_OPEN,
                                 .vclock = race_vclock_ref(w->vclock[t]),
                                 .vclock_no = w->vclock_no[t]};
        w->current[t] = w->batches;
        w->batch[w->batches++] = b;
    }
    struct op *o = &w->op[w->ops];
    o->r = random_access(w, pages);
    o->r.batch = w->batch[w->current[t]];
    o->r.tick = (uint32_t)(w->clock[t] - o->r.batch->issued);
    o->r.site = (uint64_t)w->ops++;
    o->tid = t;
    o->batch = w->current[t];
    memcpy(o->dense, w->dense[t], sizeof o->dense);
}

/* Batches of one thread come in their order. */
static void deliver(struct world *w, int batch)
{
    for (int b = 0; b <= batch; b++) {
        if (w->here[b] || w->batch[b]->tid != w->batch[batch]->tid)
            continue;
        for (int i = 0; i < w->ops; i++)
            if (w->op[i].batch == b)
                race_shadow_add(&w->g, &w->op[i].r);
        w->here[b] = 1;
    }
}

/* All its operations are complete; the owner is informed now or later. */
static void flush(struct world *w, uint32_t t)
{
    uint64_t done = ++w->clock[t];
    w->dense[t][t] = done;
    for (int i = 0; i < w->batches; i++) {
        struct race_batch *b = w->batch[i];
        if (b->tid != t || b->done != RACE_OPEN)
            continue;
        if (w->here[i])
            race_shadow_complete(&w->g, b, done);
        else
            b->done = done;
    }
    w->current[t] = -1;
}

static void edge(struct world *w, uint32_t from, uint32_t to)
{
    w->dense[from][from] = ++w->clock[from];
    struct race_vclock *v = race_vclock_with(w->vclock[from], from, w->clock[from]);
    struct race_vclock *both = race_vclock_join(w->vclock[to], v);
    race_vclock_drop(v);
    acquire(w, to, both);
    for (uint32_t i = 0; i < w->threads; i++)
        if (w->dense[from][i] > w->dense[to][i])
            w->dense[to][i] = w->dense[from][i];
}

static void barrier(struct world *w, int drop)
{
    uint64_t floor = 0;
    for (int i = 0; i < w->batches; i++)
        deliver(w, i);
    for (uint32_t t = 0; t < w->threads; t++)
        floor = w->clock[t] > floor ? w->clock[t] : floor;
    floor = (floor | 0xffff) + 1;
    for (uint32_t t = 0; t < w->threads; t++) {
        w->clock[t] = floor;
        for (uint32_t i = 0; i < w->threads; i++)
            w->dense[t][i] = floor;
        acquire(w, t, race_vclock_make(floor, NULL, 0));
    }
    if (drop)
        race_shadow_phase(&w->g, floor);
}

static int before(const struct world *w, const struct op *a, const struct op *b)
{
    uint64_t done = w->batch[a->batch]->done;
    return done != RACE_OPEN && b->dense[a->tid] >= done;
}

/* May they conflict? */
static int meet(const struct op *a, const struct op *b)
{
    uint64_t apart = a->r.interval.at > b->r.interval.at ? a->r.interval.at - b->r.interval.at
                                                 : b->r.interval.at - a->r.interval.at;
    return race_rule_of(a->r.effect, b->r.effect, apart, a->tid == b->tid, RACE_SAME_OP_NO_OP) &&
           race_intervals_overlap(&a->r.interval, &b->r.interval) == RACE_OVERLAP;
}

static int is_race(const struct world *w, const struct op *a, const struct op *b)
{
    return meet(a, b) && !before(w, a, b) && !before(w, b, a);
}

static void run(struct world *w, uint64_t seed, size_t budget, int drop)
{
    int looks = w->looks, is_even = w->is_even;
    uint64_t base = w->base;
    memset(w, 0, sizeof *w);
    w->is_even = is_even;
    w->base = base;
    w->seed = seed * 2654435761u + 1;
    w->threads = 2 + rnd(&w->seed, MOST_THREADS - 1);
    race_shadow_init(&w->g, budget, found, w);
    w->g.ordered = looks ? ordered : NULL;
    w->looks = looks;
    for (uint32_t t = 0; t < w->threads; t++) {
        w->vclock[t] = race_vclock_make(0, NULL, 0);
        w->current[t] = -1;
    }
    uint32_t pages = rnd(&w->seed, 2) ? 3 : 2000, steps = 20 + rnd(&w->seed, 200);
    uint32_t calm = 1 + rnd(&w->seed, 6); /* how much is ordered */
    while (steps--) {
        uint32_t t = rnd(&w->seed, w->threads), what = rnd(&w->seed, 12 * calm);
        if (what < 8)
            issue(w, t, pages);
        else if (what == 8 && rnd(&w->seed, 3) == 0)
            barrier(w, drop);
        else if (what % 2)
            flush(w, t);
        else
            edge(w, t, rnd(&w->seed, w->threads));
        if (w->batches && rnd(&w->seed, 2)) {
            int b = (int)rnd(&w->seed, (uint32_t)w->batches);
            if (w->batch[b]->done != RACE_OPEN)
                deliver(w, b);
        }
    }
    for (uint32_t t = 0; t < w->threads; t++)
        flush(w, t);
    for (int i = 0; i < w->batches; i++)
        deliver(w, i);
}

static void end(struct world *w)
{
    race_shadow_free(&w->g);
    ck_assert_uint_eq(w->g.n.records, 0);
    for (int i = 0; i < w->batches; i++) {
        ck_assert_uint_eq(w->batch[i]->refs, 1);
        race_batch_drop(w->batch[i]);
    }
    for (uint32_t t = 0; t < w->threads; t++) {
        ck_assert_uint_eq(w->vclock[t]->refs, 1);
        race_vclock_drop(w->vclock[t]);
    }
}

START_TEST(all_pairs)
{
    static struct world w;
    int silent = 0, loud = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        run(&w, seed, SIZE_MAX, 1);
        int races = 0;
        for (int i = 0; i < w.ops; i++)
            for (int j = 0; j < i; j++) {
                int race = is_race(&w, &w.op[i], &w.op[j]);
                races += race;
                if (w.answered[i][j] && !race)
                    ck_abort_msg("seed %d: %d and %d are no race", (int)seed, i, j);
            }
        if ((races != 0) != (w.sure != 0))
            ck_abort_msg("seed %d: %d races, %d reported", (int)seed, races, w.sure);
        ck_assert_int_eq(w.sure, w.tellings);
        silent += !races;
        loud += races != 0;
        end(&w);
    }
    ck_assert_int_gt(silent, 100);
    ck_assert_int_gt(loud, 100);
}
END_TEST

START_TEST(what_is_dropped_has_a_witness)
{
    /* each race of an operation that rule D dropped is a race of one that was kept */
    static struct world w;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        run(&w, seed, SIZE_MAX, 1);
        for (int i = 0; i < w.ops; i++) {
            int races = 0, answered = 0;
            for (int j = 0; j < w.ops; j++) {
                races += i != j && is_race(&w, &w.op[i], &w.op[j]);
                answered += w.answered[i][j];
            }
            /* reported with another, or all that it races with race with its successor, too */
            for (int k = 0; races && !answered && k < w.ops; k++)
                answered = k != i && w.op[k].tid == w.op[i].tid &&
                       race_effect_covers(w.op[k].r.effect, w.op[i].r.effect) &&
                       race_interval_covers(&w.op[k].r.interval, &w.op[i].r.interval);
            if (races && !answered)
                ck_abort_msg("seed %d: operation %d", (int)seed, i);
        }
        end(&w);
    }
}
END_TEST

START_TEST(each_order_that_is_reported_holds)
{
    /* and each that no replaced access hides is reported, once, across the ends of phases, too */
    static struct world w;
    int answered = 0;
    w.looks = 1;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        run(&w, seed, SIZE_MAX, 1);
        for (int i = 0; i < w.ops; i++)
            for (int j = 0; j < w.ops; j++) {
                const struct op *a = &w.op[i], *b = &w.op[j];
                if (w.order[i][j] && (!meet(a, b) || !before(&w, a, b)))
                    ck_abort_msg("seed %d: %d is not before %d", (int)seed, i, j);
                if (w.order[i][j] > 1)
                    ck_abort_msg("seed %d: %d before %d is reported again", (int)seed, i, j);
                answered += w.order[i][j];
                if (w.g.n.dropped == 0 && i != j && meet(a, b) && before(&w, a, b) &&
                    !w.order[i][j])
                    ck_abort_msg("seed %d: %d before %d is not reported", (int)seed, i, j);
            }
        end(&w);
    }
    ck_assert_int_gt(answered, 1000);
}
END_TEST

START_TEST(starved)
{
    static struct world w;
    uint64_t closed = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        run(&w, seed, 4096, 1);
        for (int i = 0; i < w.ops; i++)
            for (int j = 0; j < i; j++)
                if (w.answered[i][j] && !is_race(&w, &w.op[i], &w.op[j]))
                    ck_abort_msg("seed %d: %d and %d are no race", (int)seed, i, j);
        closed += w.g.n.closed + w.g.n.lost;
        ck_assert_uint_lt(w.g.n.bytes, 4096 + 4096);
        end(&w);
    }
    ck_assert_uint_gt(closed, 100);
}
END_TEST

START_TEST(where_memory_lies_decides_nothing)
{
    /* where pages begin, and which of them a walk over all comes to first */
    static const uint64_t bases[] = {0, 4096 - 40, 4096 * 977, 4096 * 977 + 4096 - 24};
    static struct world w[4];
    int pairs = 0;
    for (uint64_t seed = 0; seed < 500; seed++) {
        for (int i = 0; i < 4; i++) {
            w[i].base = bases[i];
            w[i].is_even = 1;
            run(&w[i], seed, SIZE_MAX, 1);
            if (w[i].sequence != w[0].sequence)
                ck_abort_msg("seed %d: base %#llx", (int)seed, (unsigned long long)bases[i]);
        }
        pairs += w[0].tellings;
        for (int i = 0; i < 4; i++)
            end(&w[i]);
    }
    ck_assert_int_gt(pairs, 1000);
}
END_TEST

static struct race_batch *batch(uint32_t tid, uint64_t issued, uint64_t done)
{
    struct race_batch *b = calloc(1, sizeof *b);
    ck_assert_ptr_nonnull(b);
    *b = (struct race_batch){.tid = tid, .refs = 1, .issued = issued, .done = done};
    return b;
}

static void count(void *arg, const struct race_conflict *f)
{
    ++*(int *)arg;
}

static void count_possible(void *arg, const struct race_conflict *f)
{
    *(int *)arg += f->possible;
}

START_TEST(a_loop_of_put_and_flush_is_one_record)
{
    struct race_shadow g;
    int answered = 0;
    race_shadow_init(&g, SIZE_MAX, count, &answered);
    for (uint64_t i = 0; i < 1000; i++) {
        struct race_batch *b = batch(0, 2 * i + 1, 2 * i + 2);
        struct race_access r = {
            .interval = {64, 8, 0, 1}, .effect = {.kind = i % 2 ? RACE_GET : RACE_PUT}, .batch = b};
        race_shadow_add(&g, &r);
        race_batch_drop(b);
    }
    ck_assert_int_eq(answered, 0);
    ck_assert_uint_eq(g.n.records, 2);
    ck_assert_uint_eq(g.n.dropped, 998);
    race_shadow_free(&g);
}
END_TEST

START_TEST(two_puts_without_a_flush)
{
    struct race_shadow g;
    int answered = 0;
    race_shadow_init(&g, SIZE_MAX, count, &answered);
    struct race_batch *b = batch(0, 1, 5);
    struct race_access r = {.interval = {64, 8, 0, 1}, .effect = {.kind = RACE_PUT}, .batch = b};
    race_shadow_add(&g, &r);
    r.tick = 1;
    race_shadow_add(&g, &r);
    ck_assert_int_eq(answered, 1);
    ck_assert_uint_eq(g.n.records, 2);
    race_shadow_free(&g);
    race_batch_drop(b);
}
END_TEST

/* Both had one vector clock when they were issued. The post of its target adds to the first one's;
 * or elements of accumulates lie apart. */
START_TEST(what_does_not_hide)
{
    struct race_batch *a = batch(0, 5, 6), *b = batch(0, 7, 8);
    struct race_access old = {.interval = {0, 8, 0, 1}, .effect = {.kind = RACE_PUT}, .batch = a};
    struct race_access now = {.interval = {0, 8, 0, 1}, .effect = {.kind = RACE_PUT}, .batch = b};
    a->win = 1;
    b->win = 2;
    ck_assert_int_eq(race_access_dominated(&old, &now), 1);
    a->epoch = 1;
    ck_assert_int_eq(race_access_dominated(&old, &now), 0);
    b->epoch = 1; /* of another window */
    ck_assert_int_eq(race_access_dominated(&old, &now), 0);
    b->win = 1;
    ck_assert_int_eq(race_access_dominated(&old, &now), 1);
    old.effect.kind = now.effect.kind = RACE_ACC; /* elements that lie apart */
    old.effect.esize = now.effect.esize = 8;
    old.interval.at = 4;
    now.interval.len = 16;
    ck_assert_int_eq(race_access_dominated(&old, &now), 0);
    old.interval.at = 8;
    ck_assert_int_eq(race_access_dominated(&old, &now), 1);
    a->vclock_no = b->vclock_no = RACE_NO_VCLOCK; /* it may have come out of order */
    ck_assert_int_eq(race_access_dominated(&old, &now), 0);
    race_batch_drop(a);
    race_batch_drop(b);
}
END_TEST

static void look(void *arg, const struct race_access *early, const struct race_access *late)
{
}

/* A graph has all that there is memory for. */
START_TEST(a_graph_closes_no_page)
{
    enum { GETS = 200 };
    struct race_shadow g;
    int answered = 0;
    race_shadow_init(&g, 128 * 1024, count, &answered); /* 128 records in a page */
    g.ordered = look;
    for (uint64_t i = 0; i < GETS; i++) {
        struct race_batch *b = batch(0, 2 * i + 1, 2 * i + 2);
        struct race_access r = {.interval = {64, 8, 0, 1}, .batch = b, .weight = 1,
                             .effect = {.kind = RACE_GET, .esize = 1}};
        b->vclock_no = i;
        race_shadow_add(&g, &r);
        race_batch_drop(b);
    }
    ck_assert_uint_eq(g.n.records, GETS);
    ck_assert_uint_eq(g.n.closed, 0);
    race_shadow_free(&g);
}
END_TEST

/* Of one process a thread's store and its buffer lie side by side, and become no hull: a store of
 * another thread into the buffer is reported. */
START_TEST(a_buffer_is_no_part_of_a_hull_of_stores)
{
    struct race_shadow g;
    int answered = 0;
    race_shadow_init(&g, SIZE_MAX, count, &answered);
    g.ranks = 1;
    const uint64_t at[] = {64, 72, 1 << 20, 72}; /* with the third one memory is short */
    for (uint32_t i = 0; i < 4; i++) {
        struct race_batch *b = batch(i / 2, 1, 2);
        struct race_access r = {.interval = {at[i], 8, 0, 1}, .batch = b, .weight = 1,
                             .effect = {.kind = RACE_STORE, .esize = 1}};
        r.effect.flags = i == 1 ? RACE_BUFFER : 0;
        g.budget = i < 2 ? SIZE_MAX : 1;
        race_shadow_add(&g, &r);
        race_batch_drop(b);
    }
    ck_assert_int_eq(answered, 1);
    race_shadow_free(&g);
}
END_TEST

/* Gets of one word, each with a greater vector clock than the one before, so that none hides
 * another: their number has a bound, and a race with them is only possible then. */
START_TEST(a_long_page_is_closed)
{
    enum { GETS = 20000, BOUND = 16384 }; /* one for each KiB */
    struct race_shadow g;
    int answered = 0;
    race_shadow_init(&g, BOUND * 1024, count_possible, &answered);
    for (uint64_t i = 0; i <= GETS; i++) {
        uint32_t tid = i == GETS;
        struct race_batch *b = batch(tid, 2 * i + 1, 2 * i + 2);
        struct race_access r = {.interval = {64, 8, 0, 1}, .batch = b, .weight = 1,
                             .effect = {.kind = tid ? RACE_PUT : RACE_GET, .esize = 1}};
        b->vclock_no = i;
        race_shadow_add(&g, &r);
        race_batch_drop(b);
        ck_assert_uint_le(g.n.records, BOUND);
    }
    ck_assert_int_gt(answered, 0);
    ck_assert_uint_eq(g.n.closed, 1);
    ck_assert_uint_eq(g.n.lost, 0);
    race_shadow_free(&g);
}
END_TEST

/* Accumulates of one epoch, which has not ended: one of each element stays, those of another
 * operation stay all; of puts of one place two, which race with each other. */
START_TEST(an_open_epoch_repeats)
{
    struct race_shadow g;
    int answered = 0;
    race_shadow_init(&g, SIZE_MAX, count, &answered);
    struct race_batch *b = batch(0, 1, RACE_OPEN), *other = batch(0, 1, RACE_OPEN);
    struct race_access r = {.interval = {64, 8, 0, 1}, .batch = b,
                         .effect = {.kind = RACE_ACC, .op = 1, .elem = 1, .esize = 8}};
    for (r.tick = 0; r.tick < 1000; r.tick++) {
        r.interval.at = 64 + r.tick % 10 * 8;
        race_shadow_add(&g, &r);
    }
    ck_assert_uint_eq(g.n.records, 10);
    r.interval.at = 64;
    r.interval.len = 16; /* more than was done before */
    race_shadow_add(&g, &r);
    r.batch = other;
    race_shadow_add(&g, &r);
    ck_assert_uint_eq(g.n.records, 12);
    ck_assert_int_eq(answered, 0);
    r.effect.kind = RACE_PUT;
    r.interval.at = 512;
    race_shadow_add(&g, &r);
    r.tick++;
    race_shadow_add(&g, &r);
    ck_assert_uint_eq(g.n.records, 14);
    r.tick++;
    race_shadow_add(&g, &r); /* the two tell of it */
    ck_assert_uint_eq(g.n.records, 14);
    r.site = 1;
    race_shadow_add(&g, &r); /* another place: another race */
    ck_assert_uint_eq(g.n.records, 15);
    race_shadow_complete(&g, other, 2000);
    ck_assert_int_eq(answered, 6); /* the puts, each beside each other */
    race_shadow_free(&g);
    race_batch_drop(b);
    race_batch_drop(other);
}
END_TEST

START_TEST(open_ones_outlive_a_phase)
{
    struct race_shadow g;
    int answered = 0;
    race_shadow_init(&g, SIZE_MAX, count, &answered);
    struct race_batch *open = batch(0, 5, RACE_OPEN), *done = batch(1, 5, 6);
    struct race_access put = {
        .interval = {0, 8, 0, 1}, .effect = {.kind = RACE_PUT}, .batch = open};
    struct race_access other = {
        .interval = {512, 8, 0, 1}, .effect = {.kind = RACE_PUT}, .batch = done};
    race_shadow_add(&g, &put);
    race_shadow_add(&g, &other);
    race_shadow_phase(&g, 100);
    ck_assert_uint_eq(g.n.records, 1);
    struct race_batch *late = batch(1, 110, 120);
    late->vclock = race_vclock_make(100, NULL, 0);
    struct race_access get = {
        .interval = {0, 8, 0, 1}, .effect = {.kind = RACE_GET}, .batch = late};
    race_shadow_add(&g, &get);
    ck_assert_int_eq(answered, 0); /* whether it is a race depends on when the put is complete */
    race_shadow_complete(&g, open, 130);
    ck_assert_int_eq(answered, 1);
    race_shadow_free(&g);
    race_batch_drop(open);
    race_batch_drop(done);
    race_batch_drop(late);
}
END_TEST

/* A notified put of thread 1, open, whose notification thread 0 saw at its clock 5: it is complete
 * for what thread 0 does then, and for those that acquire that. */
START_TEST(seen_by_one_thread)
{
    static const struct {
        uint32_t tid;
        uint64_t issued, of_0, of_1; /* clocks of threads 0 and 1 that it knows */
        int races, in_the_end;       /* at once; when thread 1 has completed it at 9 */
    } late[] = {{0, 4, 0, 0, 1, 1}, {0, 5, 0, 0, 0, 0}, {2, 1, 4, 0, 1, 1}, {2, 1, 5, 0, 0, 0},
                {2, 1, 0, 8, 0, 1}, {2, 1, 0, 9, 0, 0}, {2, 1, 0, 1, 1, 1}};
    for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
        struct race_shadow g;
        int answered = 0;
        race_shadow_init(&g, SIZE_MAX, count, &answered);
        const struct race_vclock_entry e[] = {{0, 0, late[i].of_0}, {1, 0, late[i].of_1}};
        struct race_batch *open = batch(1, 2, RACE_OPEN);
        struct race_batch *b = batch(late[i].tid, late[i].issued, late[i].issued + 1);
        b->vclock = race_vclock_make(0, e, 2);
        open->noted = 5;
        struct race_access put = {
            .interval = {64, 8, 0, 1}, .effect = {.kind = RACE_PUT}, .batch = open};
        struct race_access get = put;
        get.effect.kind = RACE_GET;
        get.batch = b;
        race_shadow_add(&g, &put);
        race_shadow_add(&g, &get);
        ck_assert_int_eq(answered, late[i].races);
        race_shadow_complete(&g, open, 9);
        ck_assert_int_eq(answered > 0, late[i].in_the_end);
        race_shadow_free(&g);
        race_batch_drop(open);
        race_batch_drop(b);
    }
}
END_TEST

/* Memory of one thread: what it does is kept only where a request that is open decides about it. */
START_TEST(local_accesses_go)
{
    enum { ISSUED = 5, DONE = 9 };
    struct race_effect use = {.kind = RACE_STORE, .flags = RACE_BUFFER | RACE_MESSAGE};
    struct race_shadow g;
    int answered = 0;
    race_shadow_init(&g, SIZE_MAX, count, &answered);
    struct race_batch *open = batch(0, ISSUED, RACE_OPEN), *before = batch(0, 1, 2),
                      *during = batch(0, 6, 7), *late = batch(0, DONE + 1, DONE + 2);
    struct race_access recv = {.interval = {64, 8, 0, 1}, .effect = use, .batch = open};
    struct race_access load = {.interval = {64, 4, 0, 1}, .effect = {.kind = RACE_LOAD},
                               .batch = before};
    struct race_access other = {.interval = {72, 4, 0, 1}, .effect = {.kind = RACE_LOAD},
                                .batch = during};
    race_shadow_add_local(&g, &load);
    ck_assert_uint_eq(g.n.records, 0);
    race_shadow_add(&g, &recv);
    load.batch = during;
    race_shadow_add_local(&g, &load);
    race_shadow_add_local(&g, &other);
    ck_assert_uint_eq(g.n.records, 2);
    ck_assert_int_eq(answered, 0);
    race_shadow_end(&g, open, DONE, 1);
    ck_assert_int_eq(answered, 1);
    ck_assert_uint_eq(g.n.records, 1);
    load.batch = late;
    race_shadow_add_local(&g, &load);
    ck_assert_int_eq(answered, 1);
    ck_assert_uint_eq(g.n.records, 1);
    race_shadow_free(&g);
    struct race_batch *all[] = {open, before, during, late};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        race_batch_drop(all[i]);
}
END_TEST

/* A loop of sends of one buffer keeps some records, also where their requests never end. */
START_TEST(requests_of_one_place)
{
    struct race_effect use = {.kind = RACE_STORE, .flags = RACE_BUFFER | RACE_MESSAGE};
    struct race_shadow g;
    int answered = 0;
    race_shadow_init(&g, SIZE_MAX, count, &answered);
    for (uint64_t i = 0; i < 1000; i++) {
        struct race_batch *b = batch(0, i + 1, RACE_OPEN);
        struct race_access r = {.interval = {64, 8, 0, 1}, .effect = use, .batch = b};
        race_shadow_add(&g, &r);
        race_batch_drop(b);
    }
    ck_assert_uint_eq(g.n.records, 64);
    race_shadow_free(&g);
}
END_TEST

Suite *suite_model_shadow(void)
{
    Suite *s = suite_create("model_shadow");
    TCase *t = tcase_create("race_region");
    tcase_add_test(t, all_pairs);
    tcase_add_test(t, what_is_dropped_has_a_witness);
    tcase_add_test(t, each_order_that_is_reported_holds);
    tcase_add_test(t, starved);
    tcase_add_test(t, a_long_page_is_closed);
    tcase_add_test(t, a_graph_closes_no_page);
    tcase_add_test(t, a_buffer_is_no_part_of_a_hull_of_stores);
    tcase_add_test(t, where_memory_lies_decides_nothing);
    tcase_add_test(t, a_loop_of_put_and_flush_is_one_record);
    tcase_add_test(t, two_puts_without_a_flush);
    tcase_add_test(t, what_does_not_hide);
    tcase_add_test(t, an_open_epoch_repeats);
    tcase_add_test(t, open_ones_outlive_a_phase);
    tcase_add_test(t, seen_by_one_thread);
    tcase_add_test(t, local_accesses_go);
    tcase_add_test(t, requests_of_one_place);
    suite_add_tcase(s, t);
    return s;
}

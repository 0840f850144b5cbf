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

/* --- a random program: threads, views, batches, and all pairs of it -------------------------- */

struct op {
    struct race_rec r;
    uint32_t tid;
    uint64_t dense[MOST_THREADS]; /* what it knew */
    int batch;
};
struct world {
    uint64_t seed;
    uint32_t threads;
    uint64_t clock[MOST_THREADS], dense[MOST_THREADS][MOST_THREADS], view_no[MOST_THREADS];
    struct race_view *view[MOST_THREADS];
    struct race_batch *batch[MOST_BATCHES];
    int here[MOST_BATCHES]; /* its records were added */
    int batches, current[MOST_THREADS];
    struct op op[MOST_OPS];
    int ops;
    struct race_region g;
    uint8_t told[MOST_OPS][MOST_OPS];
    uint8_t order[MOST_OPS][MOST_OPS]; /* told: the first is before the second */
    int looks;                         /* the order is asked for */
    int is_even;                       /* all have 16 bytes: none covers more than its equal */
    uint64_t base;                     /* address of the memory */
    uint64_t sequence;                 /* hash of the pairs reported, as they came */
    int tellings, sure; /* pairs reported; those that are not only possible */
};

static void found(void *arg, const struct race_found *f)
{
    struct world *w = arg;
    uint64_t a = f->old->site, b = f->now->site;
    w->tellings++;
    w->sequence = (w->sequence ^ (a << 32 | b << 1 | (f->possible != 0))) * 0x9e3779b97f4a7c15u;
    w->sequence ^= w->sequence >> 32;
    if (f->possible)
        return;
    w->sure++;
    w->told[a][b] = w->told[b][a] = 1;
}

static void ordered(void *arg, const struct race_rec *early, const struct race_rec *late)
{
    struct world *w = arg;
    if (early && late)
        w->order[early->site][late->site]++;
}

static void learn(struct world *w, uint32_t t, struct race_view *v)
{
    race_view_drop(w->view[t]);
    w->view[t] = v;
    w->view_no[t]++;
    w->current[t] = -1;
}

static struct race_rec random_access(struct world *w, uint32_t pages)
{
    uint64_t *s = &w->seed;
    struct race_rec r = {.weight = 1};
    r.lane = (struct race_lane){.blocks = 1};
    r.lane.at = w->base + rnd(s, pages) * 4096 + rnd(s, 8) * 8;
    r.lane.len = w->is_even ? 16 : 8 * (1 + rnd(s, 3));
    if (w->is_even) {
        /* else what rule D finds depends on what else its page has */
    } else if (rnd(s, 4) == 0) {
        r.lane.stride = 32;
        r.lane.blocks = 2 + rnd(s, 300);
    } else if (rnd(s, 8) == 0) {
        r.lane.len = rnd(s, 3) ? 100000 : 4 << 20; /* at the span; at several */
    } else if (rnd(s, 40) == 0) {
        r.lane.len = SPACE * 4; /* at the root */
    }
    r.deed.kind = (RACE_GET + rnd(s, RACE_KINDS - RACE_GET)) & 15;
    if (r.deed.kind == RACE_ACC)
        r.deed.op = rnd(s, 4) ? DT_SUM : DT_MAX;
    r.deed.elem = 5;
    r.deed.esize = 8;
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
        *b = (struct race_batch){.tid = t, .refs = 1, .issued = w->clock[t], .done = RACE_OPEN,
                                 .view = race_view_ref(w->view[t]), .view_no = w->view_no[t]};
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
                race_region_add(&w->g, &w->op[i].r);
        w->here[b] = 1;
    }
}

/* All its operations are complete; the owner hears of it now or later. */
static void flush(struct world *w, uint32_t t)
{
    uint64_t done = ++w->clock[t];
    w->dense[t][t] = done;
    for (int i = 0; i < w->batches; i++) {
        struct race_batch *b = w->batch[i];
        if (b->tid != t || b->done != RACE_OPEN)
            continue;
        if (w->here[i])
            race_region_close(&w->g, b, done);
        else
            b->done = done;
    }
    w->current[t] = -1;
}

static void edge(struct world *w, uint32_t from, uint32_t to)
{
    w->dense[from][from] = ++w->clock[from];
    struct race_view *v = race_view_with(w->view[from], from, w->clock[from]);
    struct race_view *both = race_view_join(w->view[to], v);
    race_view_drop(v);
    learn(w, to, both);
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
        learn(w, t, race_view_make(floor, NULL, 0));
    }
    if (drop)
        race_region_phase(&w->g, floor);
}

static int before(const struct world *w, const struct op *a, const struct op *b)
{
    uint64_t done = w->batch[a->batch]->done;
    return done != RACE_OPEN && b->dense[a->tid] >= done;
}

/* May they interfere? */
static int meet(const struct op *a, const struct op *b)
{
    uint64_t apart = a->r.lane.at > b->r.lane.at ? a->r.lane.at - b->r.lane.at
                                                 : b->r.lane.at - a->r.lane.at;
    return race_rule_of(a->r.deed, b->r.deed, apart, a->tid == b->tid, RACE_SAME_OP_NO_OP) &&
           race_lanes_touch(&a->r.lane, &b->r.lane) == RACE_TOUCH;
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
    race_region_init(&w->g, budget, found, w);
    w->g.ordered = looks ? ordered : NULL;
    w->looks = looks;
    for (uint32_t t = 0; t < w->threads; t++) {
        w->view[t] = race_view_make(0, NULL, 0);
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
    race_region_free(&w->g);
    ck_assert_uint_eq(w->g.n.records, 0);
    for (int i = 0; i < w->batches; i++) {
        ck_assert_uint_eq(w->batch[i]->refs, 1);
        race_batch_drop(w->batch[i]);
    }
    for (uint32_t t = 0; t < w->threads; t++) {
        ck_assert_uint_eq(w->view[t]->refs, 1);
        race_view_drop(w->view[t]);
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
                if (w.told[i][j] && !race)
                    ck_abort_msg("seed %d: %d and %d are no race", (int)seed, i, j);
            }
        if ((races != 0) != (w.sure != 0))
            ck_abort_msg("seed %d: %d races, %d told", (int)seed, races, w.sure);
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
            int races = 0, told = 0;
            for (int j = 0; j < w.ops; j++) {
                races += i != j && is_race(&w, &w.op[i], &w.op[j]);
                told += w.told[i][j];
            }
            /* reported with another, or all that it races with race with its successor, too */
            for (int k = 0; races && !told && k < w.ops; k++)
                told = k != i && w.op[k].tid == w.op[i].tid &&
                       race_deed_covers(w.op[k].r.deed, w.op[i].r.deed) &&
                       race_lane_covers(&w.op[k].r.lane, &w.op[i].r.lane);
            if (races && !told)
                ck_abort_msg("seed %d: operation %d", (int)seed, i);
        }
        end(&w);
    }
}
END_TEST

START_TEST(each_order_that_is_told_holds)
{
    /* and each that no replaced access hides is told, once, across the ends of phases, too */
    static struct world w;
    int told = 0;
    w.looks = 1;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        run(&w, seed, SIZE_MAX, 1);
        for (int i = 0; i < w.ops; i++)
            for (int j = 0; j < w.ops; j++) {
                const struct op *a = &w.op[i], *b = &w.op[j];
                if (w.order[i][j] && (!meet(a, b) || !before(&w, a, b)))
                    ck_abort_msg("seed %d: %d is not before %d", (int)seed, i, j);
                if (w.order[i][j] > 1)
                    ck_abort_msg("seed %d: %d before %d is told again", (int)seed, i, j);
                told += w.order[i][j];
                if (w.g.n.dropped == 0 && i != j && meet(a, b) && before(&w, a, b) &&
                    !w.order[i][j])
                    ck_abort_msg("seed %d: %d before %d is not told", (int)seed, i, j);
            }
        end(&w);
    }
    ck_assert_int_gt(told, 1000);
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
                if (w.told[i][j] && !is_race(&w, &w.op[i], &w.op[j]))
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

static void count(void *arg, const struct race_found *f)
{
    ++*(int *)arg;
}

static void count_possible(void *arg, const struct race_found *f)
{
    *(int *)arg += f->possible;
}

START_TEST(a_loop_of_put_and_flush_is_one_record)
{
    struct race_region g;
    int told = 0;
    race_region_init(&g, SIZE_MAX, count, &told);
    for (uint64_t i = 0; i < 1000; i++) {
        struct race_batch *b = batch(0, 2 * i + 1, 2 * i + 2);
        struct race_rec r = {.lane = {64, 8, 0, 1}, .deed = {.kind = i % 2 ? RACE_GET : RACE_PUT},
                             .batch = b};
        race_region_add(&g, &r);
        race_batch_drop(b);
    }
    ck_assert_int_eq(told, 0);
    ck_assert_uint_eq(g.n.records, 2);
    ck_assert_uint_eq(g.n.dropped, 998);
    race_region_free(&g);
}
END_TEST

START_TEST(two_puts_without_a_flush)
{
    struct race_region g;
    int told = 0;
    race_region_init(&g, SIZE_MAX, count, &told);
    struct race_batch *b = batch(0, 1, 5);
    struct race_rec r = {.lane = {64, 8, 0, 1}, .deed = {.kind = RACE_PUT}, .batch = b};
    race_region_add(&g, &r);
    r.tick = 1;
    race_region_add(&g, &r);
    ck_assert_int_eq(told, 1);
    ck_assert_uint_eq(g.n.records, 2);
    race_region_free(&g);
    race_batch_drop(b);
}
END_TEST

/* Both knew the same when they were issued. The post of its target adds to what the first knew; or
 * elements of accumulates lie apart. */
START_TEST(what_does_not_hide)
{
    struct race_batch *a = batch(0, 5, 6), *b = batch(0, 7, 8);
    struct race_rec old = {.lane = {0, 8, 0, 1}, .deed = {.kind = RACE_PUT}, .batch = a};
    struct race_rec now = {.lane = {0, 8, 0, 1}, .deed = {.kind = RACE_PUT}, .batch = b};
    a->win = 1;
    b->win = 2;
    ck_assert_int_eq(race_pair_dominated(&old, &now), 1);
    a->epoch = 1;
    ck_assert_int_eq(race_pair_dominated(&old, &now), 0);
    b->epoch = 1; /* of another window */
    ck_assert_int_eq(race_pair_dominated(&old, &now), 0);
    b->win = 1;
    ck_assert_int_eq(race_pair_dominated(&old, &now), 1);
    old.deed.kind = now.deed.kind = RACE_ACC; /* elements that lie apart */
    old.deed.esize = now.deed.esize = 8;
    old.lane.at = 4;
    now.lane.len = 16;
    ck_assert_int_eq(race_pair_dominated(&old, &now), 0);
    old.lane.at = 8;
    ck_assert_int_eq(race_pair_dominated(&old, &now), 1);
    a->view_no = b->view_no = RACE_NO_VIEW; /* it may have come out of order */
    ck_assert_int_eq(race_pair_dominated(&old, &now), 0);
    race_batch_drop(a);
    race_batch_drop(b);
}
END_TEST

static void look(void *arg, const struct race_rec *early, const struct race_rec *late)
{
}

/* A graph has all that there is memory for. */
START_TEST(a_graph_closes_no_page)
{
    enum { GETS = 200 };
    struct race_region g;
    int told = 0;
    race_region_init(&g, 128 * 1024, count, &told); /* 128 records in a page */
    g.ordered = look;
    for (uint64_t i = 0; i < GETS; i++) {
        struct race_batch *b = batch(0, 2 * i + 1, 2 * i + 2);
        struct race_rec r = {.lane = {64, 8, 0, 1}, .batch = b, .weight = 1,
                             .deed = {.kind = RACE_GET, .esize = 1}};
        b->view_no = i;
        race_region_add(&g, &r);
        race_batch_drop(b);
    }
    ck_assert_uint_eq(g.n.records, GETS);
    ck_assert_uint_eq(g.n.closed, 0);
    race_region_free(&g);
}
END_TEST

/* Of one process a thread's store and its buffer lie side by side, and become no hull: a store of
 * another thread into the buffer is told. */
START_TEST(a_buffer_is_no_part_of_a_hull_of_stores)
{
    struct race_region g;
    int told = 0;
    race_region_init(&g, SIZE_MAX, count, &told);
    g.ranks = 1;
    const uint64_t at[] = {64, 72, 1 << 20, 72}; /* with the third one memory is short */
    for (uint32_t i = 0; i < 4; i++) {
        struct race_batch *b = batch(i / 2, 1, 2);
        struct race_rec r = {.lane = {at[i], 8, 0, 1}, .batch = b, .weight = 1,
                             .deed = {.kind = RACE_STORE, .esize = 1}};
        r.deed.flags = i == 1 ? RACE_BUFFER : 0;
        g.budget = i < 2 ? SIZE_MAX : 1;
        race_region_add(&g, &r);
        race_batch_drop(b);
    }
    ck_assert_int_eq(told, 1);
    race_region_free(&g);
}
END_TEST

/* Gets of one word, each with more knowledge than the one before, so that none hides another: their
 * number has a bound, and a race with them is only possible then. */
START_TEST(a_long_page_is_closed)
{
    enum { GETS = 20000, BOUND = 16384 }; /* one for each KiB */
    struct race_region g;
    int told = 0;
    race_region_init(&g, BOUND * 1024, count_possible, &told);
    for (uint64_t i = 0; i <= GETS; i++) {
        uint32_t tid = i == GETS;
        struct race_batch *b = batch(tid, 2 * i + 1, 2 * i + 2);
        struct race_rec r = {.lane = {64, 8, 0, 1}, .batch = b, .weight = 1,
                             .deed = {.kind = tid ? RACE_PUT : RACE_GET, .esize = 1}};
        b->view_no = i;
        race_region_add(&g, &r);
        race_batch_drop(b);
        ck_assert_uint_le(g.n.records, BOUND);
    }
    ck_assert_int_gt(told, 0);
    ck_assert_uint_eq(g.n.closed, 1);
    ck_assert_uint_eq(g.n.lost, 0);
    race_region_free(&g);
}
END_TEST

/* Accumulates of one epoch, which has not ended: one of each element stays, those of another
 * operation stay all; of puts of one place two, which race with each other. */
START_TEST(an_open_epoch_repeats)
{
    struct race_region g;
    int told = 0;
    race_region_init(&g, SIZE_MAX, count, &told);
    struct race_batch *b = batch(0, 1, RACE_OPEN), *other = batch(0, 1, RACE_OPEN);
    struct race_rec r = {.lane = {64, 8, 0, 1}, .batch = b,
                         .deed = {.kind = RACE_ACC, .op = 1, .elem = 1, .esize = 8}};
    for (r.tick = 0; r.tick < 1000; r.tick++) {
        r.lane.at = 64 + r.tick % 10 * 8;
        race_region_add(&g, &r);
    }
    ck_assert_uint_eq(g.n.records, 10);
    r.lane.at = 64;
    r.lane.len = 16; /* more than was done before */
    race_region_add(&g, &r);
    r.batch = other;
    race_region_add(&g, &r);
    ck_assert_uint_eq(g.n.records, 12);
    ck_assert_int_eq(told, 0);
    r.deed.kind = RACE_PUT;
    r.lane.at = 512;
    race_region_add(&g, &r);
    r.tick++;
    race_region_add(&g, &r);
    ck_assert_uint_eq(g.n.records, 14);
    r.tick++;
    race_region_add(&g, &r); /* the two tell of it */
    ck_assert_uint_eq(g.n.records, 14);
    r.site = 1;
    race_region_add(&g, &r); /* another place: another race */
    ck_assert_uint_eq(g.n.records, 15);
    race_region_close(&g, other, 2000);
    ck_assert_int_eq(told, 6); /* the puts, each beside each other */
    race_region_free(&g);
    race_batch_drop(b);
    race_batch_drop(other);
}
END_TEST

START_TEST(open_ones_outlive_a_phase)
{
    struct race_region g;
    int told = 0;
    race_region_init(&g, SIZE_MAX, count, &told);
    struct race_batch *open = batch(0, 5, RACE_OPEN), *done = batch(1, 5, 6);
    struct race_rec put = {.lane = {0, 8, 0, 1}, .deed = {.kind = RACE_PUT}, .batch = open};
    struct race_rec other = {.lane = {512, 8, 0, 1}, .deed = {.kind = RACE_PUT}, .batch = done};
    race_region_add(&g, &put);
    race_region_add(&g, &other);
    race_region_phase(&g, 100);
    ck_assert_uint_eq(g.n.records, 1);
    struct race_batch *late = batch(1, 110, 120);
    late->view = race_view_make(100, NULL, 0);
    struct race_rec get = {.lane = {0, 8, 0, 1}, .deed = {.kind = RACE_GET}, .batch = late};
    race_region_add(&g, &get);
    ck_assert_int_eq(told, 0); /* whether it is a race depends on when the put is complete */
    race_region_close(&g, open, 130);
    ck_assert_int_eq(told, 1);
    race_region_free(&g);
    race_batch_drop(open);
    race_batch_drop(done);
    race_batch_drop(late);
}
END_TEST

Suite *suite_model_shadow(void)
{
    Suite *s = suite_create("model_shadow");
    TCase *t = tcase_create("race_region");
    tcase_add_test(t, all_pairs);
    tcase_add_test(t, what_is_dropped_has_a_witness);
    tcase_add_test(t, each_order_that_is_told_holds);
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
    suite_add_tcase(s, t);
    return s;
}

/* test_model_series.c - rule A of race/model/shadow.c: a loop of announced operations is two
 * records, and what is found is what keeping all of them finds, place by place. */
#include "unit.h"

#include <stdint.h>
#include <string.h>

#include "dt/dt.h"
#include "race/model/model.h"

Suite *suite_model_series(void);

/* Threads: the origin, the owner, another one. Places in the program: what the origin announces on
 * two channels; its gets, of which one blocks; an access of each of the others. */
enum { ORIGIN, OWNER, OTHER, THREADS };
enum { ADD, PUT, ADD_BESIDE, GET, GET_AT_ONCE, OF_OWNER, OF_OTHER, PLACES };
enum { MOST = 400, CHANNELS = 2 };

struct announced {
    struct race_batch *batch;
    int channel, is_open;
    int was_seen, waits; /* a get: it has not come */
    struct race_access access;
};
struct world {
    uint64_t seed, floor, clock[THREADS], vclock_no[THREADS];
    struct race_vclock *vclock[THREADS], *row; /* of the counter */
    struct announced op[MOST];
    int n, series;
    struct race_shadow g;
    uint8_t found[PLACES][PLACES];
    uint64_t records; /* the most */
};

static uint32_t rnd(struct world *w, uint32_t below)
{
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(w->seed >> 33) % below;
}

static void found(void *arg, const struct race_conflict *f)
{
    struct world *w = arg;
    w->found[f->old->site][f->now->site] = w->found[f->now->site][f->old->site] = 1;
}

static void add(struct world *w, const struct race_access *r)
{
    race_shadow_add(&w->g, r);
    w->records = w->g.n.records > w->records ? w->g.n.records : w->records;
}

static void acquire(struct world *w, int t, const struct race_vclock *v)
{
    struct race_vclock *both = race_vclock_join(w->vclock[t], v);
    race_vclock_drop(w->vclock[t]);
    w->vclock[t] = both;
    w->vclock_no[t]++;
}

static struct race_vclock *release(struct world *w, uint32_t t)
{
    return race_vclock_with(w->vclock[t], t, ++w->clock[t]);
}

static struct announced *issue(struct world *w, uint32_t t, int place, int kind, int word)
{
    struct announced *o = &w->op[w->n++];
    struct race_batch *b = calloc(1, sizeof *b);
    ck_assert_ptr_nonnull(b);
    ck_assert_int_le(w->n, MOST);
    *b = (struct race_batch){.tid = t, .refs = 1, .issued = ++w->clock[t], .done = RACE_OPEN,
                             .vclock = race_vclock_ref(w->vclock[t]), .win = 1,
                             .vclock_no = w->vclock_no[t], .accumulate = RACE_ANY_OP};
    *o = (struct announced){.batch = b, .was_seen = 1};
    o->access = (struct race_access){.interval = {4096 + 8 * (uint64_t)word, 8, 0, 1},
                                     .effect = {.kind = (uint8_t)kind & 15, .elem = 5, .esize = 8},
                                     .weight = 1, .site = (uint64_t)place, .batch = b};
    return o;
}

/* The owner hears of it before it is done. */
static void announce(struct world *w, int place, int kind, int channel, int word)
{
    struct race_vclock *v = release(w, ORIGIN), *both = race_vclock_join(w->row, v);
    race_vclock_drop(w->row);
    race_vclock_drop(v);
    w->row = both;
    struct announced *o = issue(w, ORIGIN, place, kind, word);
    o->batch->channel = (uint32_t)channel;
    o->batch->announced = w->series != 0;
    o->channel = channel;
    o->is_open = 1;
    o->was_seen = 0;
    add(w, &o->access);
}

static void flush(struct world *w, int channel)
{
    uint64_t done = ++w->clock[ORIGIN];
    for (int i = 0; i < w->n; i++) {
        struct announced *o = &w->op[i];
        if (!o->is_open || o->channel != channel)
            continue;
        o->is_open = 0;
        if (o->waits)
            o->batch->done = done;
        else
            race_shadow_complete(&w->g, o->batch, done);
        if (o->waits)
            add(w, &o->access);
        o->waits = 0;
    }
}

static void get(struct world *w, int place, int channel, int word)
{
    struct announced *o = issue(w, ORIGIN, place, RACE_GET, word);
    o->channel = channel;
    o->is_open = o->waits = 1;
    if (place == GET_AT_ONCE)
        flush(w, channel);
}

static void at_once(struct world *w, uint32_t t, int place, int kind, int word)
{
    const struct announced *o = issue(w, t, place, kind, word);
    o->batch->done = ++w->clock[t];
    add(w, &o->access);
}

static void look(struct world *w)
{
    acquire(w, OWNER, w->row);
    uint64_t clock = ++w->clock[OWNER];
    for (int i = 0; i < w->n; i++) {
        struct announced *o = &w->op[i];
        if (o->was_seen)
            continue;
        o->batch->noted = clock;
        o->batch->noted_by = OWNER;
        o->was_seen = 1;
    }
}

static void edge(struct world *w, uint32_t from, int to)
{
    struct race_vclock *v = release(w, from);
    acquire(w, to, v);
    race_vclock_drop(v);
}

static void barrier(struct world *w)
{
    for (int i = 0; i < w->n; i++)
        if (w->op[i].waits) {
            add(w, &w->op[i].access);
            w->op[i].waits = 0;
        }
    w->floor += 1 << 16;
    struct race_vclock *v = race_vclock_make(w->floor, NULL, 0);
    for (int t = 0; t < THREADS; t++) {
        w->clock[t] = w->floor;
        acquire(w, t, v);
    }
    race_vclock_drop(v);
    race_shadow_phase(&w->g, w->floor);
}

static void step(struct world *w, uint32_t what)
{
    int word = rnd(w, 5) == 0;
    static const uint8_t kinds[] = {RACE_PUT, RACE_ACC, RACE_GET};
    if (what < 8)
        announce(w, ADD, RACE_ACC, 0, word);
    else if (what < 11)
        announce(w, ADD_BESIDE, RACE_ACC, 1, word);
    else if (what < 13)
        announce(w, PUT, RACE_PUT, 0, word);
    else if (what < 14)
        get(w, GET, 0, word);
    else if (what < 15)
        get(w, GET_AT_ONCE, 1, word);
    else if (what < 17)
        at_once(w, OWNER, OF_OWNER, kinds[rnd(w, 3)], word);
    else if (what < 18)
        at_once(w, OTHER, OF_OTHER, kinds[rnd(w, 3)], word);
    else if (what < 21)
        look(w);
    else if (what < 22)
        flush(w, 0);
    else if (what < 23)
        flush(w, 1);
    else if (what < 24)
        edge(w, OWNER, rnd(w, 2) ? ORIGIN : OTHER);
    else if (what < 25)
        edge(w, ORIGIN, rnd(w, 2) ? OWNER : OTHER);
    else if (rnd(w, 3) == 0)
        barrier(w);
}

static void begin(struct world *w, int series)
{
    memset(w, 0, sizeof *w);
    w->series = series;
    race_shadow_init(&w->g, SIZE_MAX, found, w);
    for (int t = 0; t < THREADS; t++)
        w->vclock[t] = race_vclock_make(0, NULL, 0);
}

static void end(struct world *w)
{
    race_shadow_free(&w->g);
    for (int i = 0; i < w->n; i++) {
        ck_assert_uint_eq(w->op[i].batch->refs, 1);
        race_batch_drop(w->op[i].batch);
    }
    for (int t = 0; t < THREADS; t++)
        race_vclock_drop(w->vclock[t]);
    race_vclock_drop(w->row);
}

static void run(struct world *w, uint64_t seed, int series)
{
    begin(w, series);
    w->seed = seed * 2654435761u + 1;
    /* some programs lack some steps, so that one race does not stand in for others */
    uint32_t steps = 5 + rnd(w, 100), lacks = rnd(w, 1 << 26) & rnd(w, 1 << 26);
    while (steps--) {
        uint32_t what = rnd(w, 26);
        if (!(lacks >> what & 1))
            step(w, what);
    }
    flush(w, 0);
    flush(w, 1);
}

START_TEST(finds_what_keeping_all_finds)
{
    static struct world all, few;
    int silent = 0, pairs = 0;
    uint64_t fewer = 0;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        run(&all, seed, 0);
        run(&few, seed, 1);
        int n = 0;
        for (int a = 0; a < PLACES; a++)
            for (int b = 0; b <= a; b++) {
                n += all.found[a][b];
                if (all.found[a][b] != few.found[a][b])
                    ck_abort_msg("seed %d: places %d and %d: %d with all, %d", (int)seed, a, b,
                                 all.found[a][b], few.found[a][b]);
            }
        silent += !n;
        pairs += n;
        fewer += few.records < all.records;
        end(&all);
        end(&few);
    }
    ck_assert_int_gt(silent, 300);
    ck_assert_int_gt(pairs, 20000);
    ck_assert_uint_gt(fewer, 5000);
}
END_TEST

static void loop(int kind, int races)
{
    static struct world w;
    begin(&w, 1);
    for (int i = 0; i < MOST; i++)
        announce(&w, kind == RACE_PUT ? PUT : ADD, kind, 0, 0);
    ck_assert_uint_eq(w.g.n.records, 2);
    ck_assert_uint_le(w.g.n.tests, 2 * MOST);
    flush(&w, 0);
    ck_assert_int_eq(w.found[PUT][PUT], races);
    end(&w);
}

START_TEST(a_loop_without_a_flush_is_two_records)
{
    loop(RACE_ACC, 0);
    loop(RACE_PUT, 1); /* each beside the others */
}
END_TEST

static struct world two;

/* Does the second of two still follow the first when that has been changed so? */
static int follows(void (*change)(struct announced *first))
{
    begin(&two, 1);
    announce(&two, ADD, RACE_ACC, 0, 0);
    struct announced *first = &two.op[0];
    announce(&two, ADD, RACE_ACC, 0, 0);
    const struct race_access *now = &two.op[1].access;
    ck_assert_int_eq(race_access_follows(&first->access, now), 1);
    change(first);
    int still = race_access_follows(&first->access, now);
    end(&two);
    return still;
}

static void other_place(struct announced *o)
{
    o->access.site++;
}

static void other_call(struct announced *o)
{
    o->access.call++;
}

static void other_bytes(struct announced *o)
{
    o->access.interval.len = 4;
}

static void other_address(struct announced *o)
{
    o->access.interval.at += 8;
}

static void other_operation(struct announced *o)
{
    o->access.effect.op++;
}

static void other_channel(struct announced *o)
{
    o->batch->channel++;
}

static void other_window(struct announced *o)
{
    o->batch->win++;
}

static void other_thread(struct announced *o)
{
    o->batch->tid++;
}

static void other_vclock(struct announced *o)
{
    o->batch->vclock_no++;
}

static void out_of_order(struct announced *o)
{
    o->batch->vclock_no = two.op[1].batch->vclock_no = RACE_NO_VCLOCK;
}

static void other_epoch(struct announced *o)
{
    o->batch->epoch++;
}

static void other_order(struct announced *o)
{
    o->batch->order++;
}

static void not_announced(struct announced *o)
{
    o->batch->announced = 0;
}

static void complete(struct announced *o)
{
    o->batch->done = 9;
}

START_TEST(what_does_not_follow)
{
    static void (*const changes[])(struct announced *) = {
        other_place, other_call, other_bytes, other_address, other_operation, other_channel,
        other_window, other_thread, other_vclock, other_epoch, other_order, out_of_order,
        not_announced, complete};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        if (follows(changes[i]))
            ck_abort_msg("change %d", (int)i);
}
END_TEST

Suite *suite_model_series(void)
{
    Suite *s = suite_create("model/series");
    TCase *c = tcase_create("series");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, finds_what_keeping_all_finds);
    tcase_add_test(c, a_loop_without_a_flush_is_two_records);
    tcase_add_test(c, what_does_not_follow);
    suite_add_tcase(s, c);
    return s;
}

/* test_watch.c - which watchers are told of what, and in which order. */
#include "unit.h"

#include <string.h>

#include "watch/watch.h"

Suite *suite_watch(void);

static char told[64]; /* one letter for each function that was called */

static void tell(char letter)
{
    size_t n = strlen(told);
    ck_assert_uint_lt(n, sizeof told - 1);
    told[n] = letter;
    told[n + 1] = 0;
}

static void a_lasts(struct progress_seen *s)
{
    tell('a');
}

static void a_over(const struct progress_seen *s)
{
    tell('A');
}

static void b_lasts(struct progress_seen *s)
{
    tell('b');
}

static void b_over(const struct progress_seen *s)
{
    tell('B');
}

static void c_stalls(int peer, int lasts)
{
    ck_assert_int_eq(peer, 7);
    tell('c');
}

static const struct watcher a = {.wait_lasts = a_lasts, .wait_over = a_over};
static const struct watcher b = {.wait_lasts = b_lasts, .wait_over = b_over};
static const struct watcher c = {.wait_stalls = c_stalls};

static void setup(void)
{
    told[0] = 0;
    ck_assert_ptr_null(proc->watch);
    ck_assert_uint_eq(proc->watched, 0);
}

START_TEST(no_watcher)
{
    watch_wait_lasts(NULL);
    watch_wait_stalls(7, 0);
    watch_drop(&a);
    ck_assert_str_eq(told, "");
    ck_assert(!watch_wants(~0u));
}
END_TEST

/* The word has a bit for what a watcher takes; nothing is left when all have gone. */
START_TEST(the_word)
{
    ck_assert_int_eq(watch_add(&a), 0);
    ck_assert_uint_eq(proc->watched, WATCH_WAITS);
    ck_assert_int_eq(watch_add(&c), 0);
    ck_assert_uint_eq(proc->watched, WATCH_WAITS | WATCH_STALLS);
    ck_assert(watch_wants(WATCH_STALLS) && !watch_wants(WATCH_TURNS));
    watch_drop(&a);
    ck_assert_uint_eq(proc->watched, WATCH_STALLS);
    watch_drop(&a);
    watch_drop(&c);
    ck_assert_uint_eq(proc->watched, 0);
    ck_assert_ptr_null(proc->watch);
}
END_TEST

/* What begins is told in the order of subscription, what ends in the reverse order. */
START_TEST(the_order)
{
    ck_assert(watch_add(&a) == 0 && watch_add(&c) == 0 && watch_add(&b) == 0);
    ck_assert_int_eq(watch_add(&a), 0); /* it is there already */
    watch_wait_lasts(NULL);
    watch_wait_over(NULL);
    watch_wait_stalls(7, 0);
    ck_assert_str_eq(told, "abBAc");
    watch_drop(&a);
    watch_wait_over(NULL);
    ck_assert_str_eq(told, "abBAcB");
    watch_drop(&b);
    watch_drop(&c);
}
END_TEST

static void leaves(int peer, int lasts);
static const struct watcher l = {.wait_stalls = leaves};
static void leaves(int peer, int lasts)
{
    tell('l');
    watch_drop(&l);
}

/* The last one drops itself while it is told. */
START_TEST(drops_itself)
{
    ck_assert_int_eq(watch_add(&l), 0);
    watch_wait_stalls(7, 0);
    watch_wait_stalls(7, 0);
    ck_assert_str_eq(told, "l");
    ck_assert_ptr_null(proc->watch);
}
END_TEST

static void lost(struct rma_win *w, int rank, unsigned index, int taken)
{
    tell(rank == 3 && index == 5 && taken ? 'n' : '?');
}

static int lags(struct rma_win *w, unsigned index, uint64_t word)
{
    tell('l');
    return word > 2;
}

static void noted(struct rma_win *w, unsigned index, uint64_t word, struct request *req)
{
    tell('s');
}

/* Of several that know of notifications, each may keep them back. */
START_TEST(notifications)
{
    static const struct watcher x = {.note_lost = lost, .note_lags = lags};
    static const struct watcher y = {.note_lags = lags, .noted = noted};
    ck_assert(!watch_note_lags(NULL, 0, 9));
    ck_assert(watch_add(&x) == 0 && watch_add(&y) == 0);
    ck_assert_uint_eq(proc->watched, WATCH_NOTES);
    watch_note_lost(NULL, 3, 5, 1);
    ck_assert(watch_note_lags(NULL, 0, 3) && !watch_note_lags(NULL, 0, 2));
    watch_noted(NULL, 0, 2, NULL);
    watch_noting(NULL, NULL);
    ck_assert_str_eq(told, "nlllls");
    watch_drop(&x);
    watch_drop(&y);
}
END_TEST

Suite *suite_watch(void)
{
    Suite *s = suite_create("watch");
    TCase *t = tcase_create("watch");
    tcase_add_checked_fixture(t, setup, NULL);
    tcase_add_test(t, no_watcher);
    tcase_add_test(t, the_word);
    tcase_add_test(t, the_order);
    tcase_add_test(t, drops_itself);
    tcase_add_test(t, notifications);
    suite_add_tcase(s, t);
    return s;
}

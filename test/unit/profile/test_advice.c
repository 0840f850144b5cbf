/* test_advice.c - profile/advice.c and json.c: each cause alone gives its advice, and what is small
 * or short gives none. */
#include "unit.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "profile/profile_types.h"

Suite *suite_advice(void);

enum { S = 1000000000 };

static struct profile_page *page_with(enum progress_why why, const char *call, uint64_t n,
                                      uint64_t ns)
{
    struct profile_page *p = calloc(1, sizeof *p);
    *p = (struct profile_page){.magic = PROFILE_MAGIC,
                               .bytes = sizeof *p,
                               .ranks = 4,
                               .cores = 8,
                               .host_ranks = 4,
                               .waits = 1,
                               .wins = 1,
                               .run = S,
                               .all_run = 4ull * S};
    p->wait[0] = (struct profile_wait){.win = 5,
                                       .why = why,
                                       .ranks = 3,
                                       .rank_sum = 5,
                                       .n = n,
                                       .ns = ns,
                                       .max = ns,
                                       .peer = {{.rank = 3, .ns = ns}}};
    snprintf(p->wait[0].call, PROFILE_CALL, "%s", call);
    p->win[0] = (struct profile_win){
        .id = 5, .flavor = MPI_WIN_FLAVOR_ALLOCATE, .size = 4, .members = 4};
    snprintf(p->win[0].name, PROFILE_NAME, "a\"b");
    return p;
}

static const struct row {
    enum progress_why why;
    const char *call;
    uint64_t n, ns;    /* waits of 4 s in all */
    const char *cause; /* NULL: no advice */
} rows[] = {
    {WHY_LOCK, "MPI_Win_lock", 1000, S, "lock-convoy"},
    {WHY_LOCK, "MPI_Win_lock", 1000000, S, NULL}, /* 1 us each: handed over at once */
    {WHY_LOCK, "MPI_Win_lock", 1000, S / 10, NULL},
    {WHY_POOL, "MPI_Get", 1000, S, "pool-empty"},
    {WHY_FLUSH, "MPI_Win_flush", 1000, S, "target-computing"},
    {WHY_FLUSH, "MPI_Win_flush", 1000000, S, NULL}, /* what a network needs */
    {WHY_COLLECTIVE, "MPI_Barrier", 10, S, "late-arrival"},
    {WHY_FENCE, "MPI_Win_fence", 10, S, "late-arrival"},
    {WHY_FENCE, "MPI_Win_fence", 10, S / 2, NULL},
    {WHY_MESSAGE, "MPI_Recv", 10, S, "late-message"},
    {WHY_WINDOW, "MPI_Win_free", 10, S, NULL},
};

START_TEST(one_cause)
{
    const struct row *r = &rows[_i];
    struct profile_page *p = page_with(r->why, r->call, r->n, r->ns);
    struct profile_advice a[PROFILE_ADVICE];
    int n = profile_advise(p, a);
    ck_assert_int_eq(n, r->cause != NULL);
    if (n) {
        ck_assert_str_eq(a[0].cause, r->cause);
        ck_assert(*a[0].evidence && *a[0].remedy);
    }
    /* More ranks than cores is a word beside another one, or where ranks wait for long. */
    p->crowded = 4;
    ck_assert_int_eq(profile_advise(p, a), r->cause ? 2 : 0);
    free(p);
}
END_TEST

/* No sum is advice of its own; that ranks wait for a core is. It keeps its place, too. */
START_TEST(more_ranks_than_cores)
{
    struct profile_page *p = page_with(WHY_WINDOW, "MPI_Win_free", 10, S);
    struct profile_advice a[PROFILE_ADVICE];
    p->crowded = 4;
    p->host_ranks = 64;
    p->cores = 2;
    p->waiting = p->all_run / 4;
    ck_assert_int_eq(profile_advise(p, a), 0);
    p->waiting = p->all_run / 2;
    ck_assert_int_eq(profile_advise(p, a), 1);
    ck_assert_str_eq(a[0].cause, "few-cores");
    ck_assert_ptr_nonnull(strstr(a[0].evidence, "64 ranks share 2, and ranks wait for 50 %"));
    p->waiting = 0;
    p->delayed = p->all_run / 2;
    ck_assert_int_eq(profile_advise(p, a), 1);
    free(p);
}
END_TEST

/* What the kernel took from the ranks is no imbalance. */
START_TEST(no_advice_for_a_busy_machine)
{
    struct profile_page *p = page_with(WHY_COLLECTIVE, "MPI_Barrier", 10, S);
    struct profile_advice a[PROFILE_ADVICE];
    p->delayed = S;
    ck_assert_int_eq(profile_advise(p, a), 0);
    free(p);
}
END_TEST

START_TEST(late_rank_is_named)
{
    struct profile_page *p = page_with(WHY_FENCE, "MPI_Win_fence", 10, S);
    struct profile_advice a[PROFILE_ADVICE];
    ck_assert_int_eq(profile_advise(p, a), 1);
    /* ranks 0, 2 and 3 waited: 1 did not */
    ck_assert_ptr_nonnull(strstr(a[0].evidence, "rank 1 comes last"));
    p->win[0].size = 3; /* not all ranks are in it */
    ck_assert_int_eq(profile_late_rank(p, &p->wait[0]), -1);
    free(p);
}
END_TEST

START_TEST(windows_and_flushes)
{
    struct profile_page *p = page_with(WHY_FLUSH, "MPI_Win_flush", 100000, S);
    struct profile_advice a[PROFILE_ADVICE];
    struct profile_win *w = &p->win[0];
    w->v[PVAR_RMA_PUT] = w->v[PVAR_RMA_AM] = w->v[PVAR_RMA_FLUSH_WAITS] = 100000;
    w->v[PVAR_RMA_WAIT_FLUSH] = S;
    ck_assert_int_eq(profile_advise(p, a), 1);
    ck_assert_str_eq(a[0].cause, "flush-of-each");
    w->flavor = MPI_WIN_FLAVOR_CREATE;
    ck_assert_int_eq(profile_advise(p, a), 2);
    ck_assert_str_eq(a[1].cause, "created-window");
    free(p);
}
END_TEST

/* Names of windows come from the program. */
START_TEST(json_is_quoted)
{
    struct profile_page *p = page_with(WHY_LOCK, "MPI_Win_lock", 1000, S);
    struct profile_text t = {NULL, 0, 0};
    p->win[0].name[1] = '\n';
    profile_json_print(p, "x\\y", &t);
    ck_assert_ptr_nonnull(strstr(t.s, "\"name\": \"a\\u000ab\""));
    ck_assert_ptr_nonnull(strstr(t.s, "\"program\": \"x\\\\y\""));
    ck_assert_ptr_nonnull(strstr(t.s, "\"cause\": \"lock-convoy\""));
    profile_free(&t);
    free(p);
}
END_TEST

Suite *suite_advice(void)
{
    Suite *s = suite_create("profile/advice");
    TCase *t = tcase_create("advice");
    tcase_add_loop_test(t, one_cause, 0, (int)(sizeof rows / sizeof *rows));
    tcase_add_test(t, no_advice_for_a_busy_machine);
    tcase_add_test(t, more_ranks_than_cores);
    tcase_add_test(t, late_rank_is_named);
    tcase_add_test(t, windows_and_flushes);
    tcase_add_test(t, json_is_quoted);
    suite_add_tcase(s, t);
    return s;
}

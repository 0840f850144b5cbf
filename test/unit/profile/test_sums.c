/* test_sums.c - profile/sums.c: sums add up whatever the order and the number of ranks, a page
 * never outgrows its bounds, and a page from another process is looked at before it is used. */
#include "unit.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "profile/profile_types.h"

Suite *suite_sums(void);

static struct profile_wait wait_of(const char *call, uint64_t site, enum progress_why why, int rank,
                                   uint64_t ns)
{
    struct profile_wait w = {.site = site,
                             .why = why,
                             .ranks = 1,
                             .rank_sum = (uint64_t)rank,
                             .n = 1,
                             .ns = ns,
                             .max = ns,
                             .max_rank = rank,
                             .least_rank = rank,
                             .least = ns};
    snprintf(w.call, sizeof w.call, "%s", call);
    return w;
}

/* A rank that waits 1 ms at a barrier, the last one not at all. */
static struct profile_page *page_of(int rank, int ranks)
{
    struct profile_page *p = calloc(1, sizeof *p);
    *p = (struct profile_page){
        .magic = PROFILE_MAGIC, .bytes = sizeof *p, .ranks = 1, .cores = 4, .host_ranks = 2};
    struct profile_row r = {
        .rank = rank, .run = 2000000, .waiting = rank < ranks - 1 ? 1000000 : 0};
    r.computing = r.run - r.waiting;
    p->run = p->all_run = r.run;
    p->computing = r.computing;
    p->waiting = r.waiting;
    profile_row_add(p, &r);
    struct profile_wait w = wait_of("MPI_Barrier", 7, WHY_COLLECTIVE, rank,
                                    1000000 + (unsigned)rank);
    if (rank < ranks - 1)
        profile_wait_add(p->wait, &p->waits, &w);
    struct profile_win win = {
        .id = 5, .flavor = MPI_WIN_FLAVOR_ALLOCATE, .size = ranks, .members = 1};
    win.v[PVAR_RMA_PUT] = 3;
    win.v[PVAR_RMA_OPS_HIGH] = (uint64_t)rank;
    profile_win_add(p->win, &p->wins, &win);
    return p;
}

/* As the binomial tree adds them up. */
static struct profile_page *job_of(int ranks)
{
    struct profile_page *p[256];
    for (int i = 0; i < ranks; i++)
        p[i] = page_of(i, ranks);
    for (int step = 1; step < ranks; step *= 2)
        for (int i = 0; i + step < ranks; i += 2 * step) {
            ck_assert_int_eq(profile_page_is_good(p[i + step], sizeof *p[0]), 1);
            profile_page_add(p[i], p[i + step]);
            free(p[i + step]);
        }
    return p[0];
}

START_TEST(sums_of_all_ranks)
{
    static const int sizes[] = {1, 2, 3, 12, 13, 128};
    int ranks = sizes[_i];
    struct profile_page *p = job_of(ranks);
    struct profile_text text = {NULL, 0, 0};
    ck_assert_int_eq(p->ranks, ranks);
    ck_assert_uint_eq(p->all_run, 2000000u * (unsigned)ranks);
    ck_assert_uint_eq(p->waits, ranks > 1);
    ck_assert_uint_eq(p->wins, 1);
    ck_assert_uint_eq(p->win[0].v[PVAR_RMA_PUT], 3u * (unsigned)ranks);
    ck_assert_uint_eq(p->win[0].v[PVAR_RMA_OPS_HIGH], (unsigned)ranks - 1);
    if (ranks > 1) {
        ck_assert_uint_eq(p->wait[0].n, (unsigned)ranks - 1);
        ck_assert_int_eq(p->wait[0].max_rank, ranks - 2);
        ck_assert_int_eq(profile_late_rank(p, &p->wait[0]), ranks - 1);
    }
    ck_assert_uint_eq(p->rows, ranks < PROFILE_ROWS ? (unsigned)ranks : PROFILE_ROWS);
    /* the one that computes most stays, whatever the number */
    ck_assert_int_eq(p->row[0].rank, ranks - 1);
    profile_page_sort(p);
    profile_page_print(p, "test", &text);
    ck_assert_int_le(profile_lines(&text), PROFILE_LINES);
    ck_assert_ptr_nonnull(strstr(text.s, "WHY RANKS WAITED"));
    ck_assert_int_eq(strstr(text.s, "computes least") != NULL, ranks > PROFILE_ROWS);
    profile_free(&text);
    free(p);
}
END_TEST

/* More keys than places: the largest stay, and nothing gets lost. */
START_TEST(what_does_not_fit_is_added_up)
{
    struct profile_page *p = calloc(1, sizeof *p);
    uint64_t sum = 0, seen = 0;
    for (int i = 1; i <= 500; i++) {
        struct profile_wait w = wait_of("MPI_Wait", (uint64_t)i,
                                        (enum progress_why)(i % PROGRESS_WHYS), 0,
                                        (uint64_t)(i * 37 % 501));
        sum += w.ns;
        profile_wait_add(p->wait, &p->waits, &w);
        ck_assert_uint_le(p->waits, PROFILE_WAITS);
    }
    profile_page_sort(p);
    int largest = 0;
    for (uint32_t i = 0; i < p->waits; i++) {
        seen += p->wait[i].ns;
        largest |= p->wait[i].ns == 500 && p->wait[i].site != 0;
    }
    ck_assert_uint_eq(seen, sum);
    ck_assert_int_eq(largest, 1);
    uint64_t puts = 0;
    for (int i = 1; i <= 100; i++) {
        struct profile_win w = {.id = (uint64_t)i, .size = 1, .members = 1};
        w.v[PVAR_RMA_PUT] = (uint64_t)i;
        w.v[PVAR_RMA_BYTES] = (uint64_t)(i * 37 % 101);
        profile_win_add(p->win, &p->wins, &w);
        ck_assert_uint_le(p->wins, PROFILE_WINS);
    }
    for (uint32_t i = 0; i < p->wins; i++)
        puts += p->win[i].v[PVAR_RMA_PUT];
    ck_assert_uint_eq(puts, 5050);
    struct profile_text text = {NULL, 0, 0};
    for (uint32_t i = 0; i < p->wins; i++)
        p->win[i].v[PVAR_RMA_OPS_DRY] = p->win[i].locks.n = p->win[i].locks.seen = 1;
    p->ranks = 1;
    profile_page_print(p, "test", &text);
    ck_assert_int_le(profile_lines(&text), PROFILE_LINES);
    profile_free(&text);
    free(p);
}
END_TEST

/* However much the other windows of another process weigh, they take no place of a window. */
START_TEST(other_windows_are_one_line)
{
    struct profile_page *p = calloc(1, sizeof *p);
    int others = 0;
    for (int i = 1; i < PROFILE_WINS; i++) {
        struct profile_win w = {.id = (uint64_t)i, .members = 1};
        profile_win_add(p->win, &p->wins, &w);
    }
    struct profile_win rest = {.members = 1};
    rest.v[PVAR_RMA_BYTES] = 1000;
    profile_win_add(p->win, &p->wins, &rest);
    ck_assert_uint_eq(p->wins, PROFILE_WINS);
    for (uint32_t i = 0; i < p->wins; i++)
        others += !p->win[i].id;
    ck_assert_int_eq(others, 1);
    free(p);
}
END_TEST

START_TEST(waits_without_a_place_find_one)
{
    struct profile_page *p = calloc(1, sizeof *p);
    struct profile_wait near = wait_of("MPI_Barrier", 0, WHY_COLLECTIVE, 0, 5);
    struct profile_wait far = wait_of("MPI_Barrier", 9, WHY_COLLECTIVE, 1, 50);
    struct profile_wait other = wait_of("MPI_Recv", 0, WHY_MESSAGE, 1, 7);
    profile_wait_add(p->wait, &p->waits, &near);
    profile_wait_add(p->wait, &p->waits, &far);
    profile_wait_add(p->wait, &p->waits, &other);
    profile_places(p);
    profile_page_sort(p);
    ck_assert_uint_eq(p->waits, 2);
    ck_assert_uint_eq(p->wait[0].ns, 55);
    ck_assert_uint_eq(p->wait[0].site, 9);
    ck_assert_uint_eq(p->wait[0].ranks, 2);
    ck_assert_uint_eq(p->wait[1].ns, 7);
    free(p);
}
END_TEST

START_TEST(peers_are_counted)
{
    struct profile_wait w = wait_of("MPI_Win_lock", 1, WHY_LOCK, 0, 0);
    uint64_t sum = w.others;
    for (int i = 0; i < 100; i++)
        profile_peer_add(&w, i % 10, i % 10 == 3 ? 100 : 1);
    for (int i = 0; i < PROFILE_PEERS; i++)
        sum += w.peer[i].ns;
    ck_assert_uint_eq(sum + w.others, 1090);
    int found = 0;
    for (int i = 0; i < PROFILE_PEERS; i++)
        found |= w.peer[i].rank == 3 && w.peer[i].ns == 1000;
    ck_assert_int_eq(found, 1);
}
END_TEST

/* A length that comes from another process is not trusted. */
START_TEST(bad_pages_are_refused)
{
    struct profile_page *p = page_of(0, 2);
    ck_assert_int_eq(profile_page_is_good(p, sizeof *p), 1);
    p->waits = PROFILE_WAITS + 1;
    ck_assert_int_eq(profile_page_is_good(p, sizeof *p), 0);
    p->waits = 1;
    p->wait[0].why = PROGRESS_WHYS;
    ck_assert_int_eq(profile_page_is_good(p, sizeof *p), 0);
    p->wait[0].why = 0;
    memset(p->wait[0].call, 'x', PROFILE_CALL);
    ck_assert_int_eq(profile_page_is_good(p, sizeof *p), 1);
    ck_assert_uint_lt(strlen(p->wait[0].call), PROFILE_CALL);
    p->calls = PROFILE_CALLS + 1;
    ck_assert_int_eq(profile_page_is_good(p, sizeof *p), 0);
    p->calls = 1;
    memset(p->call[0].call, 'x', PROFILE_CALL);
    ck_assert_int_eq(profile_page_is_good(p, sizeof *p), 1);
    ck_assert_uint_lt(strlen(p->call[0].call), PROFILE_CALL);
    p->counted = 2;
    ck_assert_int_eq(profile_page_is_good(p, sizeof *p), 0);
    p->counted = 1;
    p->rows = PROFILE_ROWS + 1;
    ck_assert_int_eq(profile_page_is_good(p, sizeof *p), 0);
    p->rows = 0;
    p->magic++;
    ck_assert_int_eq(profile_page_is_good(p, sizeof *p), 0);
    memset(p, 0, sizeof *p);
    ck_assert_int_eq(profile_page_is_good(p, sizeof *p), 0);
    free(p);
}
END_TEST

/* What is added up may have places of its own, and be more than once in a page. */
START_TEST(bad_pages_do_not_overflow)
{
    struct profile_page *p = page_of(0, 2), *b = page_of(1, 2);
    uint64_t calls = 0, waits = 0;
    b->calls = PROFILE_CALLS;
    b->waits = PROFILE_WAITS;
    b->wins = PROFILE_WINS;
    for (uint32_t i = 0; i < PROFILE_WAITS; i++)
        b->wait[i] = wait_of("(others)", i + 1, i % PROGRESS_WHYS, 1, 1);
    for (uint32_t i = 0; i < PROFILE_WINS; i++)
        b->win[i] = (struct profile_win){.members = 1};
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < PROFILE_CALLS; i++) { /* second: none of them is known */
            b->call[i] = (struct profile_call){.site = 100u * (unsigned)round + i + 1, .calls = 1};
            strcpy(b->call[i].call, round == 1 ? "MPI_Send" : "(others)");
        }
        ck_assert_int_eq(profile_page_is_good(b, sizeof *b), 1);
        profile_page_add(p, b);
        ck_assert_uint_eq(p->calls, round ? PROFILE_CALLS : 1);
        ck_assert_uint_le(p->waits, PROGRESS_WHYS + 1); /* its own, too */
        ck_assert_uint_le(p->wins, 2);
    }
    for (uint32_t i = 0; i < p->calls; i++)
        calls += p->call[i].calls;
    for (uint32_t i = 0; i < p->waits; i++)
        waits += p->wait[i].n;
    ck_assert_uint_eq(calls, 3 * PROFILE_CALLS);
    ck_assert_uint_eq(waits, 3 * PROFILE_WAITS + 1);
    free(b);
    free(p);
}
END_TEST

Suite *suite_sums(void)
{
    Suite *s = suite_create("profile/sums");
    TCase *t = tcase_create("sums");
    tcase_add_loop_test(t, sums_of_all_ranks, 0, 6);
    tcase_add_test(t, what_does_not_fit_is_added_up);
    tcase_add_test(t, other_windows_are_one_line);
    tcase_add_test(t, waits_without_a_place_find_one);
    tcase_add_test(t, peers_are_counted);
    tcase_add_test(t, bad_pages_are_refused);
    tcase_add_test(t, bad_pages_do_not_overflow);
    suite_add_tcase(s, t);
    return s;
}

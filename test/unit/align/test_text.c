/* test_text.c - align/text.c: ranks are grouped, calls are written as programs write them, a
 * verdict names both. */
#include "unit.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "align/align_types.h"

Suite *suite_text(void);

static const char *ranks(const int *r, int n)
{
    static char text[80];
    text_ranks(r, n, text, sizeof text);
    return text;
}

START_TEST(ranks_are_grouped)
{
    ck_assert_str_eq(ranks((int[]){0, 2, 3, 4, 5}, 5), "0,2-5");
    ck_assert_str_eq(ranks((int[]){7}, 1), "7");
    ck_assert_str_eq(ranks((int[]){1, 2}, 2), "1,2");
    ck_assert_str_eq(ranks((int[]){0, 1, 2, 4, 6, 7, 8}, 7), "0-2,4,6-8");
    int odd[200];
    for (int i = 0; i < 200; i++)
        odd[i] = 2 * i + 1;
    ck_assert(strstr(ranks(odd, 200), ",...") != NULL);
    ck_assert_uint_lt(strlen(ranks(odd, 200)), 80);
}
END_TEST

static uint32_t what(uint32_t call, enum watch_form form, uint32_t op, int root)
{
    return call | (uint32_t)form << WHAT_FORM | op << WHAT_OP | (uint32_t)(root + 3) << WHAT_ROOT;
}
enum { NO_ROOT = ROOT_NONE - 3 };

static const char *call(uint32_t w, uint64_t bytes)
{
    static char text[96];
    struct align_entry e = {.what = w, .bytes_type = bytes};
    text_call(&e, text, sizeof text);
    return text;
}

START_TEST(calls_are_written_as_programs_write_them)
{
    ck_assert_str_eq(call(what(COLL_BARRIER, WATCH_BLOCKING, 0, NO_ROOT), BYTES_NONE),
                     "MPI_Barrier");
    ck_assert_str_eq(call(what(COLL_BCAST, WATCH_BLOCKING, 0, 3), 512),
                     "MPI_Bcast(root 3, 512 bytes)");
    ck_assert_str_eq(call(what(COLL_ALLREDUCE, WATCH_NONBLOCKING, 3, NO_ROOT), 8),
                     "MPI_Iallreduce(MPI_SUM, 8 bytes)");
    ck_assert_str_eq(call(what(COLL_GATHERV, WATCH_PERSISTENT, 0, 1), BYTES_NONE),
                     "MPI_Gatherv_init(root 1)");
    ck_assert_str_eq(call(what(COLL_BCAST, WATCH_BLOCKING, 0, MPI_ROOT), BYTES_NONE),
                     "MPI_Bcast(root MPI_ROOT)");
    ck_assert_str_eq(call(what(WATCH_COMM_IDUP, WATCH_NONBLOCKING, 0, NO_ROOT), BYTES_NONE),
                     "MPI_Comm_idup");
    ck_assert_str_eq(call(what(WATCH_COMM_IDUP_WITH_INFO, WATCH_NONBLOCKING, 0, NO_ROOT),
                          BYTES_NONE),
                     "MPI_Comm_idup_with_info");
    ck_assert_str_eq(call(what(WATCH_FILE_WRITE_ALL, WATCH_NONBLOCKING, 0, NO_ROOT), BYTES_NONE),
                     "MPI_File_iwrite_all");
    for (uint32_t c = 0; c < WATCH_CALLS; c++)
        ck_assert(strchr(call(what(c, WATCH_BLOCKING, 0, NO_ROOT), BYTES_NONE), '?') == NULL);
}
END_TEST

static void site(uint64_t id, char *buf, size_t len)
{
    snprintf(buf, len, "x.c:%d", (int)id);
}

static struct align_entry entry(uint64_t place, uint32_t w, uint64_t bytes, uint32_t hist,
                                uint32_t types)
{
    return (struct align_entry){.site = place, .what = w, .bytes_type = bytes, .hist = hist,
                                .types = types};
}

START_TEST(a_verdict_names_both)
{
    uint32_t barrier = what(COLL_BARRIER, WATCH_BLOCKING, 0, NO_ROOT);
    struct align_entry a[] = {entry(1, barrier, BYTES_NONE, 1, 1),
                              entry(2, what(COLL_BCAST, WATCH_BLOCKING, 0, 0), 4, 2, 2)};
    struct align_entry b[] = {a[0], entry(3, what(COLL_BCAST, WATCH_BLOCKING, 0, 1), 4, 3, 3)};
    struct align_view v[] = {{.rank = 0, .calls = 2, .first = 1, .e = a},
                             {.rank = 1, .calls = 2, .first = 1, .e = b},
                             {.rank = 2, .calls = 2, .first = 1, .e = a},
                             {.rank = 3, .calls = 1, .first = 1, .e = a}}; /* not there yet */
    struct align_text t;
    text_verdict(v, 4, 2, "here", site, &t);
    ck_assert_int_eq(t.n, 4);
    ck_assert_str_eq(t.line[0], "root differs on here, call 2:");
    ck_assert(strstr(t.line[1], "ranks 0,2 ") && strstr(t.line[1], "root 0"));
    ck_assert(strstr(t.line[2], "rank  1 ") && strstr(t.line[2], "root 1"));
    ck_assert(strstr(t.line[1], "x.c:2") && strstr(t.line[2], "x.c:3"));
    ck_assert_str_eq(t.line[3], "  the last call alike: call 1, MPI_Barrier, x.c:1.");
    v[1].e = (struct align_entry[]){a[0], entry(3, a[1].what, 4, 2, 9)};
    text_verdict(v, 2, 2, "here", site, &t);
    ck_assert_str_eq(t.line[0], "types differ (same 4 bytes) on here, call 2:");
    ck_assert(strstr(t.line[1], "(root 0, 4 bytes of more than one type)"));
    struct align_entry x = a[1], y = entry(3, a[1].what, 4, 2, 9);
    x.bytes_type |= 1ull << TYPE_BIT; /* the first predefined type */
    y.bytes_type |= 2ull << TYPE_BIT;
    v[0].e = (struct align_entry[]){a[0], x};
    v[1].e = (struct align_entry[]){a[0], y};
    text_verdict(v, 2, 2, "here", site, &t);
    ck_assert_str_eq(t.line[0], "types differ (same 4 bytes) on here, call 2:");
    ck_assert(strstr(t.line[1], "(root 0, 4 bytes of MPI_CHAR)"));
    ck_assert(strstr(t.line[2], "(root 0, 4 bytes of MPI_SIGNED_CHAR)"));
    v[0].e = a;
    v[3].final = ALIGN_FINALIZED;
    text_verdict(v, 4, 2, "here", site, &t);
    ck_assert_str_eq(t.line[0], "rank 3 made 1 call and is in MPI_Finalize on here, call 2:");
}
END_TEST

/* The entry says "so many or more", the history that the amounts differ. */
START_TEST(amounts_beyond_the_entry)
{
    uint32_t bcast = what(COLL_BCAST, WATCH_BLOCKING, 0, 0);
    struct align_entry a[] = {entry(1, bcast, 4, 1, 1), entry(2, bcast, BYTES_MANY, 2, 2)};
    struct align_entry b[] = {a[0], entry(3, bcast, BYTES_MANY, 3, 3)};
    struct align_view v[] = {{.rank = 0, .calls = 2, .first = 1, .e = a},
                             {.rank = 1, .calls = 2, .first = 1, .e = b}};
    struct align_text t;
    text_verdict(v, 2, 2, "here", site, &t);
    ck_assert_str_eq(t.line[0], "counts differ on here, call 2:");
    ck_assert(strstr(t.line[2], "(root 0, at least 8589934590 bytes)"));
    b[1].hist = 2; /* the types do */
    text_verdict(v, 2, 2, "here", site, &t);
    ck_assert_str_eq(t.line[0],
                     "types differ (same 8589934590 bytes or more) on here, call 2:");
}
END_TEST

Suite *suite_text(void)
{
    Suite *s = suite_create("text");
    TCase *t = tcase_create("text");
    tcase_add_test(t, ranks_are_grouped);
    tcase_add_test(t, calls_are_written_as_programs_write_them);
    tcase_add_test(t, a_verdict_names_both);
    tcase_add_test(t, amounts_beyond_the_entry);
    suite_add_tcase(s, t);
    return s;
}

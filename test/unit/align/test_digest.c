/* test_digest.c - align/digest.c: equal histories agree, the ring grows and keeps order, each
 * field counts, roots between groups do not count. */
#include "unit.h"

#include <string.h>

#include "align/align_types.h"
#include "align/repeat.h"
#include "boot/boot.h"
#include "dt/dt.h"
#include "obj/obj.h"
#include "var/var.h"

Suite *suite_digest(void);

static struct align_call call_of(uint32_t what, uint64_t bytes, uint64_t signature)
{
    return (struct align_call){.what = what, .amount = bytes, .signature = signature};
}

static void add(struct align_history *h, uint32_t what, uint64_t bytes, uint64_t signature)
{
    struct align_call c = call_of(what, bytes, signature);
    ck_assert_int_eq(history_add(h, &c, (const void *)0x1000, 64), 0);
}

static struct align_view view(const struct align_history *h, struct align_entry *e, uint32_t n)
{
    n = history_copy(h, e, n);
    return (struct align_view){.calls = h->calls, .first = h->calls - n + 1, .soft = h->soft,
                               .e = e};
}

START_TEST(equal_histories_agree)
{
    struct align_history a = {0}, b = {0};
    struct align_entry x[64], y[64];
    for (uint32_t i = 0; i < 200; i++) {
        add(&a, i % 7, i, i);
        add(&b, i % 7, i, i);
    }
    add(&b, 1, 1, 1); /* it has made more: no difference */
    struct align_view v = view(&a, x, 64), w = view(&b, y, 64);
    ck_assert_uint_eq(v.first, 137);
    ck_assert_uint_eq(v.calls, 200);
    ck_assert_uint_eq(views_differ(&v, &w), 0);
    ck_assert_uint_eq(views_differ(&w, &v), 0);
    v.final = ALIGN_FINALIZED; /* it makes no more */
    ck_assert_uint_eq(views_differ(&v, &w), 201);
    ck_assert_uint_eq(views_differ(&w, &v), 201);
    v.final = ALIGN_GOES_ON;
    w.final = ALIGN_FINALIZED; /* the other may still come */
    ck_assert_uint_eq(views_differ(&v, &w), 0);
    free(a.ring);
    free(b.ring);
}
END_TEST

START_TEST(the_ring_grows_and_keeps_order)
{
    struct align_history h = {0};
    struct align_entry e[64];
    for (uint32_t i = 1; i <= 300; i++) {
        add(&h, 0, i, 0);
        uint32_t have = i < 64 ? i : 64, n = history_copy(&h, e, 64);
        ck_assert_uint_eq(n, have);
        for (uint32_t j = 0; j < n; j++)
            ck_assert_uint_eq(entry_bytes(&e[j]), i - n + 1 + j);
    }
    ck_assert_uint_eq(h.room, 64);
    free(h.ring);
}
END_TEST

/* One field differs in call 3: it is call 3 that is named, and all later ones differ. */
static uint32_t first_of(uint32_t what, uint64_t bytes, uint64_t signature, int soft)
{
    struct align_history a = {0}, b = {0};
    struct align_entry x[8], y[8];
    for (uint32_t i = 1; i <= 5; i++) {
        add(&a, 5, 8, 77);
        if (i == 3)
            add(&b, what, bytes, signature);
        else
            add(&b, 5, 8, 77);
    }
    b.soft = soft;
    struct align_view v = view(&a, x, 8), w = view(&b, y, 8);
    uint32_t k = views_differ(&v, &w);
    free(a.ring);
    free(b.ring);
    return k;
}

START_TEST(each_field_counts)
{
    ck_assert_uint_eq(first_of(5, 8, 77, 0), 0);
    ck_assert_uint_eq(first_of(6, 8, 77, 0), 3);
    ck_assert_uint_eq(first_of(5, 9, 77, 0), 3);
    ck_assert_uint_eq(first_of(5, 8, 78, 0), 3);
    ck_assert_uint_eq(first_of(5, 8, 78, 1), 0); /* packed: bytes alone */
    ck_assert_uint_eq(first_of(5, 9, 78, 1), 3);
    ck_assert_uint_eq(first_of(5 | 1 << WHAT_FORM, 8, 77, 0), 3);
    ck_assert_uint_eq(first_of(5 | 3 << WHAT_OP, 8, 77, 0), 3);
    ck_assert_uint_eq(first_of(5 | 1 << WHAT_ROOT, 8, 77, 0), 3);
}
END_TEST

START_TEST(roots_between_groups_do_not_count)
{
    struct align_history a = {0}, b = {0};
    struct align_entry x[8], y[8];
    struct align_call c = call_of(1, BYTES_NONE, 0), d;
    d = call_of(1 | 2 << WHAT_OP | 5 << WHAT_ROOT, BYTES_NONE, 0);
    c.between = d.between = 1;
    ck_assert_int_eq(history_add(&a, &c, NULL, 8), 0);
    ck_assert_int_eq(history_add(&b, &d, NULL, 8), 0);
    struct align_view v = view(&a, x, 8), w = view(&b, y, 8);
    ck_assert_uint_eq(views_differ(&v, &w), 0);
    free(a.ring);
    free(b.ring);
}
END_TEST

/* The short way into the history, if it is one, else the long one. */
static int short_or_long(struct align_history *h, const struct coll_args *a, enum watch_form form)
{
    const void *site = (const void *)0x1000;
    struct align_call c;
    const struct align_repeat *r = history_repeats(h, a, form, site);
    if (r) {
        history_put(h, r, 0);
        return 1;
    }
    digest_coll(a, form, &c);
    ck_assert_int_eq(history_add(h, &c, site, 64), 0);
    history_keep(h, a, form, &c, site);
    return 0;
}

START_TEST(a_repeated_call_is_noted_as_ever)
{
    struct align_history quick = {0}, slow = {0};
    struct comm comm = {0};
    char why[256];
    ck_assert_int_eq(var_init(why, sizeof why), 0); /* types are told by the table of dt/ */
    ck_assert_int_eq(boot_init(NULL), 0);
    ck_assert_int_eq(obj_init(), 0);
    ck_assert_int_eq(dt_init(), 0);
    struct dt_type four = {.flags = DT_PREDEFINED, .size = 4}, eight = four, own = four;
    struct dt_op sum = {.index = 3, .commute = 1}, max = {.index = 1, .commute = 1}, user = max;
    four.basic = &four;
    eight.basic = &eight;
    eight.size = 8;
    own.basic = &four;
    own.flags = 0;
    user.index = 0;
    struct coll_args a = {.call = COLL_REDUCE, .comm = &comm, .rtype = &four, .rcount = 1,
                          .op = &sum};
    struct coll_args calls[9] = {a, a, a, a, a, a, a, a, {.call = COLL_BARRIER, .comm = &comm}};
    calls[1].rcount = 2;
    calls[2].root = 1;
    calls[3].op = &max;
    calls[4].rtype = &eight;
    calls[5].call = COLL_SCAN;
    calls[6].rtype = &own;
    calls[7].op = &user;
    int quickly = 0;
    for (int i = 0; i < 9; i++)
        for (int turn = 0; turn < 6; turn++) {
            struct align_call c;
            const struct coll_args *x = &calls[turn % 2 ? i : 0];
            x = turn < 2 ? x : &calls[i];
            enum watch_form form = turn == 5 ? WATCH_NONBLOCKING : WATCH_BLOCKING;
            quickly += short_or_long(&quick, x, form);
            digest_coll(x, form, &c);
            ck_assert_int_eq(history_add(&slow, &c, (const void *)0x1000, 64), 0);
            ck_assert_uint_eq(quick.hist, slow.hist);
            ck_assert_uint_eq(quick.types, slow.types);
            ck_assert_uint_eq(quick.calls, slow.calls);
            ck_assert_uint_eq(quick.blocking, slow.blocking);
            ck_assert_mem_eq(&quick.ring[(quick.calls - 1) % quick.room],
                             &slow.ring[(slow.calls - 1) % slow.room], sizeof *slow.ring);
        }
    ck_assert_int_eq(quickly, 21); /* of 54: not new ones, nor what does not last */
    free(quick.ring);
    free(slow.ring);
    dt_finalize();
    obj_finalize();
    boot_finalize();
    var_finalize();
}
END_TEST

Suite *suite_digest(void)
{
    Suite *s = suite_create("digest");
    TCase *t = tcase_create("history");
    tcase_add_test(t, equal_histories_agree);
    tcase_add_test(t, the_ring_grows_and_keeps_order);
    tcase_add_test(t, each_field_counts);
    tcase_add_test(t, roots_between_groups_do_not_count);
    tcase_add_test(t, a_repeated_call_is_noted_as_ever);
    suite_add_tcase(s, t);
    return s;
}

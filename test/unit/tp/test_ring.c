/* test_ring.c - tp/shm/ring.c: layout, full and wrap, share, hole, threads. */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tp/shm/ring.h"

Suite *suite_ring(void);

enum { CELLS = 16, BYTES = 512 };

static struct ring_view make(uint32_t senders)
{
    void *at = aligned_alloc(128, ring_bytes(senders, CELLS, BYTES));
    ck_assert_ptr_nonnull(at);
    memset(at, 0, ring_bytes(senders, CELLS, BYTES));
    return ring_view_of(at, senders, CELLS, BYTES);
}

static struct ring_out out_of(struct ring_view v, uint32_t self)
{
    return ring_out_of(v, self);
}

static int put(struct ring_out *o, uint64_t value)
{
    struct iovec v = {&value, sizeof value};
    return ring_send(o, &v, 1, sizeof value);
}

static uint64_t value_of(const struct ring_cell *c)
{
    uint64_t v;
    memcpy(&v, c->payload, sizeof v);
    return v;
}

/* A change of this is one of RING_LAYOUT: the other process may be of another version. */
START_TEST(layout)
{
    enum { SENDERS = 3, CELL = 8192 };
    void *at = aligned_alloc(128, ring_bytes(SENDERS, CELLS, CELL));
    struct ring_view v = ring_view_of(at, SENDERS, CELLS, CELL);
    const size_t is[] = {RING_LAYOUT,
                         sizeof(struct ring_cell),
                         offsetof(struct ring_cell, len),
                         offsetof(struct ring_cell, src),
                         sizeof(struct ring_sender),
                         offsetof(struct ring_sender, want),
                         offsetof(struct ring, waiting),
                         offsetof(struct ring, head),
                         offsetof(struct ring, sender),
                         (size_t)(v.cells - (char *)v.ring),
                         v.stride,
                         v.room,
                         ring_bytes(SENDERS, CELLS, CELL)};
    static const size_t was[] = {2,   16,  4,    8,    64,   8,     128,
                                 256, 384, 576, 8256, 8240, 132736};
    for (size_t i = 0; i < sizeof is / sizeof *is; i++)
        ck_assert_msg(is[i] == was[i], "number %zu is %zu", i, is[i]);
    free(at);
}
END_TEST

/* R1, R2: full after CELLS messages, one place for each that is read; positions across the wrap of
 * seq. */
START_TEST(full_and_wrap)
{
    struct ring_view v = make(2);
    struct ring_out o = out_of(v, 1);
    uint64_t head = (uint64_t)UINT32_MAX - 3 * CELLS, n = 0;
    head -= head % CELLS;
    atomic_store(&v.ring->tail, head);
    atomic_store(&v.ring->head, head);
    /* as if earlier laps had been */
    for (uint64_t p = head - CELLS; p < head; p++)
        atomic_store((atomic_uint *)&ring_cell_at(&v, p)->seq, (uint32_t)(p + 1));
    ck_assert_ptr_null(ring_peek(&v, head));
    for (uint64_t i = 0; i < CELLS; i++)
        ck_assert_int_eq(put(&o, i), 0);
    ck_assert_int_eq(put(&o, 99), 1);
    ck_assert_int_eq(o.waiting, 1);
    ck_assert_uint_eq(atomic_load(&v.ring->waiting), 1);
    ck_assert_int_eq(ring_has_room(&o), 0);
    for (uint64_t sent = CELLS; n < 8 * CELLS; n++) {
        const struct ring_cell *c = ring_peek(&v, head);
        ck_assert_ptr_nonnull(c);
        ck_assert_uint_eq(value_of(c), n);
        ck_assert_uint_eq(c->src, 1);
        ck_assert_uint_eq(c->len, 8);
        ring_advance(&v, ++head);
        ck_assert_int_eq(ring_has_room(&o), 1);
        ck_assert_int_eq(put(&o, sent++), 0);
        ck_assert_int_eq(o.waiting, 0);
        ck_assert_int_eq(put(&o, 99), 1);
    }
    free(v.ring);
}
END_TEST

static int is_resident(const struct ring_view *v, uint64_t pos)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char in = 0;
    ck_assert_int_eq(mincore((void *)((uintptr_t)ring_cell_at(v, pos) / page * page), page, &in),
                     0);
    return in & 1;
}

/* R6: a sender that is alone gets the pages of some cells ahead, never of the whole ring at once;
 * one of many gets none before it writes there. In the next laps nothing is done. */
START_TEST(pages_ahead)
{
    enum { STEP = 8, FIRST = 4 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE), cell = 4 * page;
    size_t bytes = (ring_bytes(2, 2 * CELLS, cell) + page - 1) / page * page;
    for (int alone = 0; alone < 2; alone++) {
        void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ck_assert_ptr_ne(at, MAP_FAILED);
        struct ring_view v = ring_view_of(at, 2, 2 * CELLS, cell);
        struct ring_out a = out_of(v, 0), b = out_of(v, 1);
        for (uint64_t n = 0; n < 4 * CELLS; n++) {
            ck_assert_int_eq(put(alone || n % 3 == 0 ? &a : &b, n), 0);
            if (n == FIRST - 1) {
                ck_assert(!is_resident(&v, FIRST + 1));
                b.sent = 0; /* as if others had sent the rest */
                a.sent = alone ? a.sent : 0;
            }
            if (n == FIRST && alone) {
                ck_assert(is_resident(&v, FIRST + STEP - 1));
                ck_assert(!is_resident(&v, FIRST + STEP + 1));
            }
            if (n == FIRST && !alone)
                ck_assert(!is_resident(&v, FIRST + 2));
            ck_assert_uint_eq(value_of(ring_peek(&v, n)), n);
            ring_advance(&v, n + 1);
        }
        ck_assert_uint_eq(a.touched, 2 * CELLS);
        ck_assert_int_eq(munmap(at, bytes), 0);
    }
}
END_TEST

/* R3: while another waits a sender has at most its share unread. */
START_TEST(share)
{
    struct ring_view v = make(3);
    struct ring_out a = out_of(v, 0), b = out_of(v, 1), c = out_of(v, 2);
    uint64_t head = 0;
    while (put(&a, 0) == 0)
        ;
    ck_assert_int_eq(put(&b, 1), 1);
    for (int i = 0; i < CELLS / 2; i++)
        ring_advance(&v, ++head);
    ck_assert_int_eq(put(&a, 0), 1); /* has CELLS/2 unread: its share beside one that waits */
    ck_assert_int_eq(put(&b, 1), 0);
    ck_assert_int_eq(put(&c, 2), 0); /* a still waits */
    for (int i = 0; i < CELLS / 2; i++)
        ring_advance(&v, ++head);
    ck_assert_int_eq(put(&a, 0), 0);
    ck_assert_uint_eq(atomic_load(&v.ring->waiting), 0);
    free(v.ring);
}
END_TEST

static int is_dead(void *arg, uint32_t index)
{
    return (*(unsigned *)arg >> index) & 1;
}

/* R4: a place that a dead sender reserved is skipped; one that a living sender may still write is
 * not. */
START_TEST(hole)
{
    struct ring_view v = make(3);
    struct ring_out a = out_of(v, 0), b = out_of(v, 1);
    unsigned dead = 0;
    ck_assert_int_eq(ring_is_hole(&v, 0, is_dead, &dead), 0); /* nothing reserved */
    /* sender 0 reserves position 0 and dies */
    atomic_store(&v.ring->sender[0].intent, 1);
    atomic_store(&v.ring->tail, 1);
    ck_assert_int_eq(ring_is_hole(&v, 0, is_dead, &dead), 0);
    dead = 1;
    ck_assert_int_eq(put(&b, 7), 0);
    ck_assert_int_eq(ring_is_hole(&v, 0, is_dead, &dead), 1);
    ck_assert_ptr_null(ring_peek(&v, 0));
    ring_advance(&v, 1);
    ck_assert_uint_eq(value_of(ring_peek(&v, 1)), 7);
    ck_assert_int_eq(ring_is_hole(&v, 1, is_dead, &dead), 0); /* published */
    ring_advance(&v, 2);
    /* sender 1 wins position 2 while dead sender 0 had tried for it too */
    atomic_store(&v.ring->sender[0].intent, 3);
    atomic_store(&v.ring->sender[1].intent, 3);
    atomic_store(&v.ring->tail, 3);
    ck_assert_int_eq(ring_is_hole(&v, 2, is_dead, &dead), 0);
    /* a refused sender leaves no intent behind */
    for (int i = 0; i < 2 * CELLS; i++)
        put(&a, 0);
    ck_assert_uint_eq(atomic_load(&v.ring->sender[0].intent), 0);
    free(v.ring);
}
END_TEST

/* Senders and receiver as threads (what a thread sanitizer can watch): each stream in order,
 * nothing torn. */
enum { SENDERS = 4, EACH = 20000 };

static void *sender(void *arg)
{
    struct ring_out *o = arg;
    uint64_t words[BYTES / 8];
    for (uint64_t i = 0; i < EACH; i++) {
        size_t n = 1 + i % 40;
        for (size_t k = 0; k < n; k++)
            words[k] = i + k;
        struct iovec v = {words, n * 8};
        while (ring_send(o, &v, 1, n * 8) != 0)
            sched_yield();
    }
    return NULL;
}

START_TEST(threads)
{
    struct ring_view v = make(SENDERS);
    struct ring_out o[SENDERS];
    pthread_t t[SENDERS];
    uint64_t next[SENDERS] = {0}, head = 0;
    for (uint32_t i = 0; i < SENDERS; i++) {
        o[i] = out_of(v, i);
        ck_assert_int_eq(pthread_create(&t[i], NULL, sender, &o[i]), 0);
    }
    while (head < (uint64_t)SENDERS * EACH) {
        const struct ring_cell *c = ring_peek(&v, head);
        if (!c) {
            sched_yield();
            continue;
        }
        uint64_t i = next[c->src]++, words[BYTES / 8];
        ck_assert_uint_eq(c->len, (1 + i % 40) * 8);
        memcpy(words, c->payload, c->len);
        for (size_t k = 0; k < c->len / 8; k++)
            ck_assert(words[k] == i + k);
        ring_advance(&v, ++head);
    }
    for (int i = 0; i < SENDERS; i++)
        pthread_join(t[i], NULL);
    ck_assert_uint_eq(atomic_load(&v.ring->waiting), 0);
    ck_assert_ptr_null(ring_peek(&v, head));
    free(v.ring);
}
END_TEST

Suite *suite_ring(void)
{
    Suite *s = suite_create("tp/shm/ring");
    TCase *t = tcase_create("ring");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, layout);
    tcase_add_test(t, full_and_wrap);
    tcase_add_test(t, pages_ahead);
    tcase_add_test(t, share);
    tcase_add_test(t, hole);
    tcase_add_test(t, threads);
    suite_add_tcase(s, t);
    return s;
}

/* test_capacity.c - coherent windows on devices that are small, slow or broken: budgets, eviction,
 * windows larger than the device, all held, commits and copies that fail, a lost device.  Pins of
 * memory that windows share. */
#include "job.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/proc.h"
#include "mem/coherent_types.h"

Suite *suite_capacity(void);

/* --- devices whose copies are done when the test says so -------------------------------------- */

enum { GRAIN = 8192, TILE = 4096, WINDOW = 6 * GRAIN, COPIES = 64 };
static struct {
    struct space_run run[COPIES];
    int failed[COPIES];
    unsigned begun, over;  /* copies */
    long used, most, room; /* bytes of memory */
    int held_back;         /* copies wait for let() */
    int fails, refuses;    /* copies: later, at the call */
    long in, out, across;
    int pins, unpins;
} dev;
static struct space devices[2];

static void let(unsigned n)
{
    for (; n && dev.over < dev.begun; n--, dev.over++) {
        const struct space_run *r = &dev.run[dev.over % COPIES];
        if (!dev.failed[dev.over % COPIES])
            memcpy((void *)(uintptr_t)r->dst, (const void *)(uintptr_t)r->src, r->len);
    }
}
static int d_count(void)
{
    return 2;
}
static int d_open(int i, struct space **s, struct space_caps *caps)
{
    *s = &devices[i];
    *caps = (struct space_caps){.grain = GRAIN, .bytes = (size_t)dev.room};
    return 0;
}
static void d_close(struct space *s)
{
}
static int d_reserve(struct space *s, size_t len, uint64_t *addr)
{
    *addr = (uint64_t)(uintptr_t)calloc(1, len);
    return 0;
}
static void d_unreserve(struct space *s, uint64_t addr, size_t len)
{
    free((void *)(uintptr_t)addr);
}
static int d_commit(struct space *s, uint64_t addr, size_t len)
{
    if (s->lost || dev.used + (long)len > dev.room)
        return s->lost ? -EIO : -ENOMEM;
    dev.used += (long)len;
    dev.most = dev.used > dev.most ? dev.used : dev.most;
    memset((void *)(uintptr_t)addr, 0xDB, len);
    return 0;
}
static void d_decommit(struct space *s, uint64_t addr, size_t len)
{
    dev.used -= (long)len;
    memset((void *)(uintptr_t)addr, 0xDD, len);
}
static int d_pin(struct space *s, void *host, size_t len)
{
    dev.pins++;
    return 0;
}
static void d_unpin(struct space *s, void *host, size_t len)
{
    dev.unpins++;
}
static int d_copy(struct space *s, struct space *from, enum space_way way,
                  const struct space_run *r, unsigned n, struct space_mark *m)
{
    if (s->lost || dev.refuses)
        return -EIO;
    job_check(n == 1 && dev.begun - dev.over < COPIES);
    dev.run[dev.begun % COPIES] = *r;
    dev.failed[dev.begun % COPIES] = dev.fails;
    dev.begun++;
    *(way == SPACE_IN ? &dev.in : way == SPACE_OUT ? &dev.out : &dev.across) += (long)r->len;
    *m = (struct space_mark){{1, dev.begun}};
    if (!dev.held_back)
        let(1);
    return 0;
}
static int d_done(struct space *s, const struct space_mark *m)
{
    if (s->lost)
        return -EIO;
    if (m->v[0] && dev.over < m->v[1])
        return SPACE_AGAIN;
    return m->v[0] && dev.failed[(m->v[1] - 1) % COPIES] ? -EIO : 0;
}
static int d_stream(struct space *s, void *stream, const struct space_mark *m)
{
    return 0;
}
static int d_after(struct space *s, void *stream, struct space_mark *m)
{
    *m = (struct space_mark){{0}};
    return 0;
}
static const struct space_ops d_ops = {
    .name = "fake", .count = d_count, .open = d_open, .close = d_close, .reserve = d_reserve,
    .unreserve = d_unreserve, .commit = d_commit, .decommit = d_decommit, .pin = d_pin,
    .unpin = d_unpin, .copy = d_copy, .done = d_done, .before = d_stream, .after = d_after};

/* --- a window of home and the two devices ----------------------------------------------------- */

static char home[WINDOW];
static struct pvar_set sums;

static struct coh *window(long room, size_t budget)
{
    struct coh *c;
    memset(&dev, 0, sizeof dev);
    dev.room = room;
    memset(&sums, 0, sizeof sums);
    for (int i = 0; i < 2; i++)
        devices[i] = (struct space){.ops = &d_ops, .index = i,
                                    .caps = {0, GRAIN, (size_t)room}};
    for (int i = 0; i < WINDOW; i++)
        home[i] = (char)(i / 64);
    struct coh_plan p = {.home = home, .bytes = WINDOW, .tile = TILE, .budget = budget, .n = 3,
                         .space = {NULL, &devices[0], &devices[1]}, .pvars = &sums};
    job_check(coh_make(&p, &c) == 0);
    return c;
}

static long count(enum pvar_id id)
{
    return (long)atomic_load(&sums.v[id]);
}

/* Calls until the result is not SPACE_AGAIN, at most 100 times; ends with that if it stays so. */
static int acquire(struct coh *c, size_t off, size_t len, unsigned s, unsigned mode, uint64_t *ptr)
{
    struct coh_ask a = {.off = off, .len = len, .space = s, .mode = mode};
    int err, turns = 100;
    do
        err = coh_acquire(c, &a);
    while (err == SPACE_AGAIN && --turns);
    if (ptr)
        *ptr = a.ptr;
    job_check(!coh_check(c));
    return err;
}

static void release(struct coh *c, size_t off, size_t len, unsigned s)
{
    job_check(coh_release(c, off, len, s, 0, NULL) == 0 && !coh_check(c));
}

static void write_all(struct coh *c, size_t off, size_t len, unsigned s, int value)
{
    uint64_t at;
    job_check(acquire(c, off, len, s, COH_DISCARD, &at) == 0);
    memset((void *)(uintptr_t)at, value, len);
    release(c, off, len, s);
}

static int is_all(struct coh *c, size_t off, size_t len, int value)
{
    uint64_t at;
    job_check(acquire(c, off, len, 0, COH_READ, &at) == 0);
    int same = 1;
    for (size_t i = 0; i < len; i++)
        same &= ((const char *)(uintptr_t)at)[i] == value;
    release(c, off, len, 0);
    return same;
}

/* A window of six chunks on devices with room for two: all of it goes through. */
static void larger(void)
{
    struct coh *c = window(2 * GRAIN, 0);
    struct coh_sums v;
    coh_sum(c, 1, &v);
    job_check(v.budget == 2 * GRAIN / 4 * 3);
    coh_drop(c);
    c = window(2 * GRAIN, 100 * GRAIN); /* a budget above what there is: the device says no */
    for (int k = 0; k < 6; k++)
        write_all(c, (size_t)k * GRAIN, GRAIN, 1, k + 1);
    job_check(dev.most == 2 * GRAIN && count(PVAR_COH_EVICTED_HOME) == 4);
    for (int k = 0; k < 6; k++)
        job_check(is_all(c, (size_t)k * GRAIN, GRAIN, k + 1));
    job_check(dev.in == 0 && dev.out == WINDOW && count(PVAR_COH_BYTES_OUT) == WINDOW);
    coh_drop(c);
    job_check(dev.used == 0);
}

/* The budget holds for each window and space; what is held stays; clean goes before dirty. */
static void budget(void)
{
    struct coh *c = window(100 * GRAIN, 2 * GRAIN);
    uint64_t at;
    write_all(c, 0, GRAIN, 1, 7);
    job_check(acquire(c, GRAIN, GRAIN, 1, COH_READ, NULL) == 0);
    job_check(acquire(c, 2 * GRAIN, 1, 1, COH_READ, NULL) == 0); /* in the place of the first */
    job_check(count(PVAR_COH_EVICTED_HOME) == 1 && dev.out == GRAIN);
    job_check(acquire(c, 3 * GRAIN, 1, 1, COH_READ, NULL) == -ENOMEM);
    struct coh_sums v;
    coh_sum(c, 1, &v);
    job_check(v.held == 2 * GRAIN && v.used == 2 * GRAIN && v.budget == 2 * GRAIN);
    job_check(acquire(c, 0, 3 * GRAIN, 1, COH_READ, NULL) == -ENOMEM);
    job_check(acquire(c, 3 * GRAIN, GRAIN, 2, COH_READ, NULL) == 0); /* another space */
    release(c, 2 * GRAIN, 1, 1);
    long in = dev.in;
    job_check(acquire(c, GRAIN, 2 * GRAIN, 1, COH_WRITE, &at) == 0); /* one chunk is there */
    job_check(dev.in == in + GRAIN - 64);
    release(c, GRAIN, 2 * GRAIN, 1);
    release(c, GRAIN, GRAIN, 1);
    release(c, 3 * GRAIN, GRAIN, 2);
    job_check(is_all(c, 0, GRAIN, 7) && dev.most == 3 * GRAIN);
    coh_drop(c);
}

/* Where all is held for now, but a hold leaves with its stream, a call waits. */
static void waits(void)
{
    struct coh *c = window(100 * GRAIN, GRAIN);
    struct coh_ask a = {.len = 64, .space = 1, .mode = COH_WRITE, .on_stream = 1},
                   b = {.off = GRAIN, .len = 64, .space = 1, .mode = COH_READ};
    dev.held_back = 1;
    job_check(coh_acquire(c, &a) == 0 && dev.begun == 1 && dev.over == 0);
    job_check(coh_acquire(c, &b) == -ENOMEM);
    job_check(coh_release(c, 0, 64, 1, 1, NULL) == 0 && !coh_settled(c));
    b = (struct coh_ask){.off = GRAIN, .len = 64, .space = 1, .mode = COH_READ};
    job_check(coh_acquire(c, &b) == SPACE_AGAIN);
    let(1);
    job_check(coh_settled(c) && !coh_late(c, &a));
    job_check(coh_acquire(c, &b) == SPACE_AGAIN); /* its last lane goes home */
    let(1);
    job_check(coh_acquire(c, &b) == SPACE_AGAIN);
    let(1);
    job_check(coh_acquire(c, &b) == 0);
    release(c, GRAIN, 64, 1);
    coh_drop(c);
}

/* Copies fail: lanes stay as they were, the call ends, the next one may work. */
static void copies_fail(void)
{
    struct coh *c = window(100 * GRAIN, GRAIN);
    struct coh_ask a = {.len = 64, .space = 1};
    uint64_t at;
    for (dev.refuses = 0; dev.refuses < 2; dev.refuses++) { /* later; at the call */
        dev.fails = 1;
        job_check(acquire(c, 100, 100, 1, COH_WRITE, NULL) == -EIO);
        job_check(acquire(c, 100, 100, 1, COH_READ, NULL) == -EIO);
        struct coh_view v;
        coh_look(c, 100, 1, &v);
        job_check(v.valid == 0 && v.holds == 0 && v.state == 'I');
    }
    dev.refuses = dev.fails = 0;
    write_all(c, 0, 4096, 1, 9);
    dev.fails = 1;
    long out = dev.out;
    job_check(acquire(c, GRAIN, 64, 1, COH_READ, NULL) == -EIO); /* not for ever */
    job_check(dev.out == out + 4096);
    int err;
    while ((err = coh_evict(c, &a)) == SPACE_AGAIN)
        ;
    job_check(err == -EIO && count(PVAR_COH_EVICTED_HOME) == 0);
    struct coh_ask g = {.len = 8};
    while ((err = coh_home(c, &g, COH_AT_GET)) == SPACE_AGAIN)
        ;
    job_check(err == -EIO);
    dev.fails = 0;
    job_check(acquire(c, GRAIN, 64, 1, COH_READ, &at) == 0);
    release(c, GRAIN, 64, 1);
    job_check(count(PVAR_COH_EVICTED_HOME) == 1 && is_all(c, 0, 4096, 9));
    coh_drop(c);
}

/* On a stream no call waits for the copy: its failure is reported once, later. */
static void copies_fail_late(void)
{
    struct coh *c = window(100 * GRAIN, 0);
    struct coh_ask a = {.off = 128, .len = 64, .space = 1, .mode = COH_WRITE, .on_stream = 1};
    dev.held_back = dev.fails = 1;
    job_check(coh_acquire(c, &a) == 0 && coh_release(c, 128, 64, 1, 1, NULL) == 0);
    job_check(!coh_settled(c) && !coh_late(c, &a));
    let(1);
    job_check(coh_settled(c) && coh_late(c, &a) == -EIO && a.off == 128 && a.space == 1);
    job_check(!coh_late(c, &a) && !coh_check(c) && coh_holds(c) == 0);
    dev.held_back = dev.fails = 0;
    job_check(is_all(c, 128, 64, 2)); /* as it was */
    coh_drop(c);
}

/* A lost device: its lanes are lost until they are written whole; the others work. */
static void device_lost(void)
{
    struct coh *c = window(100 * GRAIN, 0);
    uint64_t at;
    write_all(c, 0, 256, 1, 5);
    write_all(c, 4096, 256, 2, 6);
    job_check(acquire(c, 8192, 64, 1, COH_READ, NULL) == 0);
    devices[0].lost = 1;
    job_check(acquire(c, 0, 8, 0, COH_READ, NULL) == -EIO || 1);
    struct coh_ask g = {.len = 8};
    int err;
    while ((err = coh_home(c, &g, COH_AT_GET)) == SPACE_AGAIN)
        ;
    job_check(err == -ENODATA && g.bad == 0 && !coh_check(c));
    job_check(acquire(c, 0, 8, 1, COH_DISCARD, NULL) == -EIO);
    job_check(is_all(c, 4096, 256, 6));
    job_check(coh_release(c, 8192, 64, 1, 0, NULL) == 0); /* a hold there can end */
    g = (struct coh_ask){.len = 32};
    while ((err = coh_home(c, &g, COH_AT_PUT)) == SPACE_AGAIN)
        ;
    job_check(err == -ENODATA); /* the rest of the lane is lost */
    g = (struct coh_ask){.len = 64};
    job_check(coh_home(c, &g, COH_AT_PUT) == 0 && !coh_check(c));
    job_check(acquire(c, 0, 256, 0, COH_READ, NULL) == -ENODATA);
    job_check(acquire(c, 0, 256, 2, COH_DISCARD, &at) == 0);
    memset((void *)(uintptr_t)at, 8, 256);
    release(c, 0, 256, 2);
    job_check(is_all(c, 0, 256, 8));
    coh_drop(c);
    job_check(dev.used == 0);
}

static void all(void)
{
    larger();
    budget();
    waits();
    copies_fail();
    copies_fail_late();
    device_lost();
}

START_TEST(capacity)
{
    ck_assert_int_eq(job_run(1, NULL, all, 20), 0);
}
END_TEST

/* Two windows over the same memory, or parts of it. */
static void pins(void)
{
    static const struct space_ops *const list[] = {&space_host, &d_ops, NULL};
    job_check(space_use(list) == 0);
    memset(&dev, 0, sizeof dev);
    for (int i = 0; i < 2; i++)
        devices[i] = (struct space){.ops = &d_ops, .index = i};
    job_check(space_pin(&devices[0], home, 100) && space_pin(&devices[1], home, 100));
    job_check(dev.pins == 1);
    job_check(!space_pin(&devices[0], home + 50, 100) && !space_pin(&devices[0], home, 99));
    job_check(space_pin(&devices[0], home + 100, 50) && dev.pins == 2);
    space_unpin(&devices[0], home, 100);
    job_check(dev.unpins == 0); /* the other window still copies */
    space_unpin(&devices[1], home, 100);
    job_check(dev.unpins == 1);
    job_check(space_pin(&devices[0], home, 99) && dev.pins == 3);
    space_finalize();
    job_check(dev.unpins == 3);
}

START_TEST(shared_pins)
{
    ck_assert_int_eq(job_run(1, NULL, pins, 20), 0);
}
END_TEST

Suite *suite_capacity(void)
{
    Suite *s = suite_create("mem/capacity");
    TCase *t = tcase_create("capacity");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, capacity);
    tcase_add_test(t, shared_pins);
    suite_add_tcase(s, t);
    return s;
}

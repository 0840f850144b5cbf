/* test_stream.c - instrument/stream.c: accesses that come as foreseen are noted, all of them, and
 * nothing else. */
#include "unit.h"

#include <stdint.h>

#include "host.h"
#include "instrument/instrument.h"

Suite *suite_stream(void);

void __tsan_read4(void *p);
void __tsan_read8(void *p);
void __tsan_write1(void *p);
void __tsan_write4(void *p);
void __tsan_write8(void *p);

enum { MOST = 8192, BYTES = 12 * 4096 };
static struct race_log_entry list[MOST];
static _Alignas(4096) char mem[BYTES];
static unsigned char is[BYTES], want[BYTES]; /* bits: 1 a load, 2 a store */

/* What was noted, byte by byte; the number of entries. */
static unsigned spread(void)
{
    unsigned n = host_noted(list, MOST), mine = 0;
    for (unsigned i = 0; i < BYTES; i++)
        is[i] = 0;
    ck_assert_uint_lt(n, MOST);
    for (unsigned i = 0; i < n; i++)
        mine += list[i].at - (uintptr_t)mem < BYTES;
    for (unsigned i = 0; i < n; i++)
        for (uint64_t b = 0; b < list[i].blocks; b++)
            for (uint64_t k = 0; k < list[i].len; k++) {
                uint64_t at = list[i].at + b * list[i].stride + k - (uintptr_t)mem;
                if (at >= BYTES) /* Check's own */
                    continue;
                is[at] |= list[i].stores ? 2 : 1;
            }
    return mine;
}

static void wants(int first, int n, int step, int len, int bit)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < len; k++)
            want[first + i * step + k] |= (unsigned char)bit;
}

/* A load need not be noted where a store was. */
static void same(void)
{
    for (int i = 0; i < BYTES; i++) {
        if ((is[i] & 2) != (want[i] & 2) || (is[i] != want[i] && !(want[i] & 2)))
            ck_abort_msg("byte %d: %d, not %d", i, is[i], want[i]);
        want[i] = 0;
    }
}

static void begin(void)
{
    host_run(1);
    host_clear();
    for (int i = 0; i < BYTES; i++)
        want[i] = 0;
}

START_TEST(up)
{
    begin();
    for (int i = 0; i < 6000; i++)
        __tsan_write8(mem + 16 + 8 * i);
    wants(16, 6000, 8, 8, 2);
    ck_assert_uint_eq(spread(), 1);
    same();
}
END_TEST

START_TEST(down)
{
    begin();
    for (int i = 5999; i >= 0; i--)
        __tsan_read8(mem + 16 + 8 * i);
    wants(16, 6000, 8, 8, 1);
    ck_assert_uint_le(spread(), 6);
    same();
}
END_TEST

/* Wider than an access, up and down; narrower. */
START_TEST(distances)
{
    static const int steps[] = {24, 4096, -24, -4096, 5, -5, 2};
    for (unsigned k = 0; k < sizeof steps / sizeof *steps; k++) {
        int n = steps[k] % 4096 ? 500 : 12, from = steps[k] > 0 ? 40 : 40 - (n - 1) * steps[k];
        begin();
        for (int i = 0; i < n; i++)
            __tsan_read4(mem + from + i * steps[k]);
        wants(from, n, steps[k], 4, 1);
        spread();
        same();
    }
}
END_TEST

START_TEST(one_word)
{
    begin();
    for (int i = 0; i < 1000; i++)
        __tsan_write4(mem + 100);
    wants(100, 1, 0, 4, 2);
    ck_assert_uint_eq(spread(), 1);
    same();
    __tsan_write4(mem + 100); /* another place */
    for (int i = 0; i < 2; i++) {
        __tsan_write4(mem + 200);
        wants(200, 1, 0, 4, 2);
        if (!i)
            wants(100, 1, 0, 4, 2);
        ck_assert_uint_eq(spread(), i ? 1 : 2);
        same();
    }
}
END_TEST

/* The operation between two turns of the loop: what comes behind it is noted again. */
START_TEST(operations_between)
{
    for (int part = 1; part <= 7; part++) {
        begin();
        for (int i = 0; i < 100; i++) {
            __tsan_write8(mem + 8 * i);
            wants(8 * i, 1, 0, 8, 2);
            if (i % part == 0) {
                spread();
                same();
            }
        }
        spread();
        same();
    }
}
END_TEST

/* Of two loops over the same bytes, the one that stores is noted. */
START_TEST(stores_hide_loads)
{
    begin();
    for (int i = 0; i < 500; i++) {
        __tsan_read8(mem + 8 * i);
        __tsan_write8(mem + 8 * i);
    }
    wants(0, 500, 8, 8, 2);
    ck_assert_uint_le(spread(), 3);
    same();
}
END_TEST

START_TEST(pages_that_are_not_watched)
{
    host_run(0);
    windrose_race_runtime.watch((uintptr_t)mem + 4096, 4096);
    host_clear();
    for (int i = 0; i < BYTES; i++)
        want[i] = 0;
    for (int i = 0; i < 1536; i++)
        __tsan_write8(mem + 8 * i);
    wants(4096, 4096, 1, 1, 2);
    spread();
    same();
    for (int i = 0; i < 1536; i++)
        __tsan_read8(mem + 8 * i);
    wants(4096, 4096, 1, 1, 1);
    spread();
    same();
}
END_TEST

/* Random loops of six places, side by side, with breaks. */
START_TEST(random_loops)
{
    unsigned seed = 12345;
#define NEXT(n) ((seed = seed * 1103515245u + 12345u) >> 8) % (n)
    begin();
    for (int round = 0; round < 200; round++) {
        int at[6], step[6], turns = 1 + (int)(NEXT(60));
        for (int p = 0; p < 6; p++) {
            at[p] = 20000 + (int)(NEXT(20000));
            step[p] = (int)(NEXT(3)) ? 8 - 16 * (int)(NEXT(2)) : (int)(NEXT(600)) - 300;
        }
        for (int i = 0; i < turns; i++) {
            for (int p = 0; p < 6; p++) {
                int jump = NEXT(40) == 0;
                at[p] = jump ? 20000 + (int)(NEXT(20000)) : at[p] + (i ? step[p] : 0);
                at[p] = at[p] < 0 || at[p] > BYTES - 8 ? 0 : at[p];
            }
            __tsan_read4(mem + at[0]);
            wants(at[0], 1, 0, 4, 1);
            __tsan_read8(mem + at[1]);
            wants(at[1], 1, 0, 8, 1);
            __tsan_write8(mem + at[2]);
            wants(at[2], 1, 0, 8, 2);
            __tsan_write1(mem + at[3]);
            wants(at[3], 1, 0, 1, 2);
            __tsan_read8(mem + at[4]);
            wants(at[4], 1, 0, 8, 1);
            __tsan_write4(mem + at[5]);
            wants(at[5], 1, 0, 4, 2);
        }
        if (NEXT(3) == 0) {
            spread();
            same();
        }
    }
    spread();
    same();
}
END_TEST

static int is_foreseen(const char *at)
{
    for (unsigned i = 0; i < STREAMS; i++)
        if (instrument_streams->of[i].next == (uintptr_t)at)
            return 1;
    return 0;
}

static __attribute__((noinline)) void loop(int first, int n, int step)
{
    for (int i = 0; i < n; i++)
        __tsan_write8(mem + first + i * step);
    wants(first, n, step, 8, 2);
}

/* One place, with one distance and then with another one, which is foreseen like the first. */
START_TEST(another_distance)
{
    begin();
    loop(0, 100, 8);
    ck_assert_int_eq(is_foreseen(mem + 800), 1);
    loop(2000, 5, 24);
    ck_assert_int_eq(is_foreseen(mem + 2000 + 5 * 24), 1);
    loop(8000, 5, -16);
    ck_assert_int_eq(is_foreseen(mem + 8000 - 5 * 16), 1);
    spread();
    same();
}
END_TEST

Suite *suite_stream(void)
{
    Suite *s = suite_create("stream");
    TCase *t = tcase_create("stream");
    tcase_add_test(t, up);
    tcase_add_test(t, down);
    tcase_add_test(t, another_distance);
    tcase_add_test(t, distances);
    tcase_add_test(t, one_word);
    tcase_add_test(t, operations_between);
    tcase_add_test(t, stores_hide_loads);
    tcase_add_test(t, pages_that_are_not_watched);
    tcase_add_test(t, random_loops);
    suite_add_tcase(s, t);
    return s;
}

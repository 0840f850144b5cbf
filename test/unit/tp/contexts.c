/* contexts.c - transmit contexts (tp.h), for the rows of contract.c whose transport has them: the
 * last process owns the memory, which the others see through a segment (src/doctor/onesided.h). */
#include "contract.h"
#include "doctor/onesided.h"
#include "job.h"
#include "unit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "base/proc.h"
#include "mem/mem.h"
#include "mpi.h"
#include "var/var.h"

Suite *suite_contexts(void);

enum { WAYS = 2, PART = 1 << 16 /* bytes of a context in the owner's memory */ };

struct way { /* a context, and the owner's memory through it */
    struct tp_tx *tx;
    struct tp_far *far;
    unsigned char *truth; /* its part */
    size_t at;
};

static struct way way_open(int part)
{
    struct way w = {.at = (size_t)(one.e.rank * WAYS + part) * PART};
    w.truth = one.truth + w.at;
    job_check(one.e.ops->tx_open(one.e.tp, &w.tx) == 0);
    job_check(one.e.ops->tx_far(w.tx, one.far, &w.far) == 0);
    return w;
}

static void way_close(struct way *w)
{
    one.e.ops->tx_drop(w->tx, w->far);
    one.e.ops->tx_close(w->tx);
}

/* -errno, or 0 in the end. A thread that has proc->lock polls meanwhile. */
static int way_put(const struct way *w, size_t off, const void *src, size_t len, int polls)
{
    int rc;
    while ((rc = one.e.ops->tx_put(w->tx, w->far, w->at + off, src, len)) == TP_AGAIN)
        if (polls)
            one_poll();
    return rc;
}

static int way_flush(const struct way *w, int polls)
{
    int rc;
    while ((rc = one.e.ops->tx_flush(w->tx, w->far)) == TP_AGAIN) {
        if (polls)
            one_poll();
        else
            sched_yield();
    }
    return rc;
}

/* tp/ofi has contexts only where short puts use them. */
static void open_all(void)
{
    proc->thread_level = MPI_THREAD_MULTIPLE;
    cvar.rma_native_put = 1;
    one_open();
}

static int offers(const struct row *row)
{
    return (row->flags & TP_PUT) != 0;
}

static int puts_here(void)
{
    return offers(row_now()) && one.e.rank != one.owner;
}

/* --- one thread --- */

/* Every length to put_inline, and nothing beside it; src is ours at once; nothing outside. */
static void body_lengths(void)
{
    open_all();
    const size_t inl = one.e.caps.put_inline;
    unsigned char src[2048], want[2048];
    if (puts_here()) {
        job_check(inl > 8 && inl < sizeof src - 2 * GUARD);
        struct way w = way_open(0);
        const uint64_t outside[] = {BYTES - 7, BYTES + 1, UINT64_MAX - 3, UINT64_MAX};
        for (size_t len = 0; len <= inl; len++) {
            memset(w.truth, 0, sizeof src);
            memset(want, 0, sizeof want);
            for (size_t i = 0; i < len; i++)
                want[GUARD + len % 5 + i] = src[i] = (unsigned char)(1 + len * 3 + i * 7);
            job_check(way_put(&w, GUARD + len % 5, src, len, 1) == 0);
            memset(src, 0xee, sizeof src);
            job_check(way_flush(&w, 1) == 0 && !memcmp(w.truth, want, sizeof want));
        }
        for (int i = 0; i < 4; i++)
            job_check(one.e.ops->tx_put(w.tx, w.far, outside[i], src, 8) < 0);
        job_check(one.e.ops->tx_put(w.tx, w.far, w.at, src, inl + 1) < 0);
        job_check(one.e.ops->tx_put(w.tx, w.far, BYTES, src, 0) == 0);
        job_check(way_flush(&w, 1) == 0);
        way_close(&w);
    }
    one_close();
}

/* More puts than any transport keeps under way, and one flush. */
static void body_crowded(void)
{
    enum { N = 4000 };
    open_all();
    if (puts_here()) {
        struct way w = way_open(1);
        for (uint64_t i = 0; i < N; i++) {
            uint64_t v = ~i;
            job_check(way_put(&w, i * sizeof v, &v, sizeof v, 1) == 0);
        }
        job_check(way_flush(&w, 1) == 0);
        for (uint64_t i = 0, v; i < N; i++) {
            memcpy(&v, w.truth + i * sizeof v, sizeof v);
            job_check(v == ~i);
        }
        way_close(&w);
    }
    one_close();
}

/* Two contexts and the process to one peer.  Each flush makes its own visible; a context ends, and
 * what the others have stays. */
static void body_apart(void)
{
    enum { ROUNDS = 200 };
    open_all();
    if (puts_here()) {
        struct way w[WAYS] = {way_open(0), way_open(1)};
        struct tp_far *twice;
        job_check(one.e.ops->tx_far(w[0].tx, one.far, &twice) == 0);
        for (uint64_t i = 1; i <= ROUNDS; i++) {
            uint64_t v[2] = {i, ~i};
            int first = i % 2;
            for (int k = 0; k < 2; k++)
                job_check(way_put(&w[k], i * 8, &v[k], 8, 1) == 0);
            if (i % 3 == 0) { /* the process, too */
                memcpy(one.buf, &i, 8);
                one_put(w[0].at + PART - 8, 0, 8);
                one_flush();
                one_landed(w[0].at + PART - 8, one.buf, 8);
            }
            for (int k = 0; k < 2; k++) {
                int this = k ? !first : first;
                job_check(way_flush(&w[this], 1) == 0);
                job_check(!memcmp(w[this].truth + i * 8, &v[this], 8));
            }
            job_check(way_flush(&w[first], 1) == 0); /* nothing to wait for */
        }
        uint64_t v = 7;
        job_check(one.e.ops->tx_put(w[0].tx, twice, w[0].at, &v, 8) == 0);
        job_check(way_flush(&w[0], 1) == 0 && !memcmp(w[0].truth, &v, 8));
        one.e.ops->tx_drop(w[0].tx, w[0].far);
        v = 8;
        job_check(one.e.ops->tx_put(w[0].tx, twice, w[0].at + 8, &v, 8) == 0);
        w[0].far = twice;
        job_check(way_flush(&w[0], 1) == 0 && !memcmp(w[0].truth + 8, &v, 8));
        way_close(&w[0]);
        job_check(way_put(&w[1], 0, &v, 8, 1) == 0 && way_flush(&w[1], 1) == 0);
        job_check(!memcmp(w[1].truth, &v, 8));
        way_close(&w[1]);
    }
    one_close();
}

/* A put between the calls of a flush belongs to it. */
static void body_between(void)
{
    enum { ROUNDS = 500 };
    open_all();
    if (puts_here()) {
        struct way w = way_open(0);
        for (uint64_t i = 1, again = 0, last = 0; i <= ROUNDS; i++) {
            job_check(way_put(&w, 0, &i, 8, 1) == 0);
            if (one.e.ops->tx_flush(w.tx, w.far) == TP_AGAIN) {
                last = ++again;
                job_check(way_put(&w, 8, &again, 8, 1) == 0);
            }
            job_check(way_flush(&w, 1) == 0);
            job_check(!memcmp(w.truth, &i, 8) && !memcmp(w.truth + 8, &last, 8));
        }
        way_close(&w);
    }
    one_close();
}

/* --- threads --- */

enum { PUTS = 4096, SLOTS = 64 };

/* Without proc->lock. */
static void *putter(void *arg)
{
    const struct way *w = arg;
    for (uint64_t i = 0; i < PUTS; i++) {
        uint64_t v = i << 8 | (w->at / PART & 0xff);
        job_check(way_put(w, i % SLOTS * 8, &v, sizeof v, 0) == 0);
        if (i % SLOTS != SLOTS - 1)
            continue;
        job_check(way_flush(w, 0) == 0);
        for (uint64_t k = 0, have; k < SLOTS; k++) {
            memcpy(&have, w->truth + k * 8, 8);
            job_check(have == ((i - (SLOTS - 1) + k) << 8 | (w->at / PART & 0xff)));
        }
    }
    return NULL;
}

/* Two threads with a context each, while the holder of proc->lock puts and polls. */
static void body_together(void)
{
    open_all();
    if (puts_here()) {
        struct way w[WAYS] = {way_open(0), way_open(1)};
        pthread_t t[WAYS];
        for (int i = 0; i < WAYS; i++)
            job_check(pthread_create(&t[i], NULL, putter, &w[i]) == 0);
        for (uint64_t i = 0; i < PUTS / 8; i++) {
            size_t off = (size_t)(one.e.rank * WAYS + 1) * PART - 8;
            memcpy(one.buf, &i, 8);
            one_put(off, 0, 8);
            one_flush();
            one_landed(off, one.buf, 8);
        }
        for (int i = 0; i < WAYS; i++)
            job_check(pthread_join(t[i], NULL) == 0);
        for (int i = 0; i < WAYS; i++)
            way_close(&w[i]);
    }
    one_close();
}

/* A target that waits without a descriptor of the network is woken by a context's put. */
static void body_wakes(void)
{
    open_all();
    int tried = offers(row_now()) && !(one.e.caps.flags & TP_WAIT_FD);
    uint64_t v = 1;
    struct way w = {0};
    if (tried && one.e.rank == 0) {
        w = way_open(0);
        job_check(way_put(&w, 0, &v, 8, 1) == 0 && way_flush(&w, 1) == 0);
    }
    one_barrier();
    if (tried && !puts_here()) {
        struct pollfd p = {.fd = mem_wake_fd(), .events = POLLIN};
        mem_wake_arm();
        job_word_set(0, 1);
        job_check(poll(&p, 1, 20000) == 1);
        mem_wake_disarm();
    }
    if (tried && puts_here()) {
        while (!job_word(0))
            sched_yield();
        /* the process makes no progress: its messages would wake the target, too */
        job_check(way_put(&w, 0, &v, 8, 0) == 0 && way_flush(&w, 0) == 0);
        way_close(&w);
    }
    one_close();
}

/* --- ends --- */

/* Shared memory does not report a death; the launcher does. */
static int dies_silently(void)
{
    const char *env = row_now()->env, *set = row_now()->set;
    return (env && !strcmp(env, "UCX_TLS=shm")) || !strcmp(set, "MPIR_CVAR_OFI_PROVIDER=shm");
}

/* The owner dies with puts and a flush under way.  Contexts that have not seen it come to know it
 * by themselves. */
static void body_killed(void)
{
    uint64_t v = 1;
    int rc, silent = dies_silently();
    open_all();
    if (!puts_here()) {
        while (!job_word(0))
            one_poll();
        while (!job_word(1))
            sched_yield(); /* it answers no more */
        raise(SIGKILL);
    }
    struct way w[3] = {way_open(0), way_open(1), way_open(2)};
    for (int i = 0; i < 3; i++)
        job_check(way_put(&w[i], 0, &v, 8, 1) == 0 && way_flush(&w[i], 1) == 0);
    job_word_set(0, 1);
    do
        rc = one.e.ops->tx_put(w[0].tx, w[0].far, w[0].at, &v, 8);
    while (rc == 0 && v++ < 20);
    job_check(rc == 0 || rc == TP_AGAIN);
    job_check(one.e.ops->tx_flush(w[0].tx, w[0].far) == TP_AGAIN);
    job_word_set(1, 1);
    if (silent)
        boot_fail_now(one.owner, "killed by the test");
    job_check(way_flush(&w[0], 1) == -ENOTCONN);
    job_check(one.e.ops->tx_put(w[0].tx, w[0].far, w[0].at, &v, 8) == -ENOTCONN);
    job_check(one.e.ops->tx_flush(w[0].tx, w[0].far) == -ENOTCONN);
    job_check(one.e.ops->tx_far(w[0].tx, one.far, &(struct tp_far *){NULL}) == -ENOTCONN);
    for (int i = 1; i < 3; i++) {
        while ((rc = way_put(&w[i], 0, &v, 8, 0)) == 0)
            continue;
        job_check(rc == -ENOTCONN && way_flush(&w[i], 0) == -ENOTCONN);
    }
    for (int i = 0; i < 3; i++)
        way_close(&w[i]);
    one.e.ops->drop(one.e.tp, one.far);
    if (!silent) /* else it waits as long as the test may last */
        one.e.ops->close(one.e.tp);
}

/* Contexts are left with puts that were not flushed, with a connection that was never used or that
 * is being made, and open. */
static void body_left(void)
{
    open_all();
    if (puts_here()) {
        struct way w = way_open(0), unused = way_open(1), begun = way_open(2);
        uint64_t v = 5;
        int rc = one.e.ops->tx_put(begun.tx, begun.far, begun.at, &v, 8);
        job_check(rc == 0 || rc == TP_AGAIN);
        way_close(&begun);
        for (int i = 0; i < 40; i++)
            job_check(way_put(&w, 0, &v, 8, 1) == 0);
        one.e.ops->tx_drop(w.tx, w.far);
        one.e.ops->tx_drop(unused.tx, unused.far);
        one.e.ops->tx_close(unused.tx);
    }
    one_close();
}

START_TEST(killed_)
{
    if (offers(&rows[_i]))
        ck_assert_int_eq(row_run(&rows[_i], 2, body_killed), 1); /* the killed one */
}
END_TEST

EACH(lengths, few)
EACH(crowded, many)
EACH(apart, many)
EACH(between, few)
EACH(together, few)
EACH(wakes, few)
EACH(left, few)

Suite *suite_contexts(void)
{
    Suite *s = suite_create("tp/contexts");
    TCase *t = tcase_create("contexts");
    tcase_set_timeout(t, 90);
    tcase_add_loop_test(t, lengths_, 0, rows_count);
    tcase_add_loop_test(t, crowded_, 0, rows_count);
    tcase_add_loop_test(t, apart_, 0, rows_count);
    tcase_add_loop_test(t, between_, 0, rows_count);
    tcase_add_loop_test(t, together_, 0, rows_count);
    tcase_add_loop_test(t, wakes_, 0, rows_count);
    tcase_add_loop_test(t, killed_, 0, rows_count);
    tcase_add_loop_test(t, left_, 0, rows_count);
    suite_add_tcase(s, t);
    return s;
}

/* raw.c - times a bare network library by the rows of rmaperf.c that it has the like of
 * (test/perf/run shows them beside ours).
 *
 *   make test/perf/raw_ofi test/perf/raw_ucx
 *   test/perf/raw_ofi [--list] [--ms N] [--rows ROW,ROW...] [--after ROW] [--spin]
 *
 * Names are those of rmaperf.c without the kind of window, which a network does not know; its own
 * are "am round trip 8", there and back by active messages; "am exchange 8", one from each to the
 * other at once; both, one behind the other; "put 64K by am", in pieces of the longest message,
 * answered by 8 bytes when it is in the window; "gacc 64K by am", answered by as many; and "loose
 * send/recv ...", without handling of failures where the library knows that difference.  Batches
 * and quartiles as there.  Two processes on a core each; the one that is not measuring polls, as a
 * rank that waits inside MPI does. */
#include "raw.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sched.h"

enum { BATCHES = 15 };

int raw_me, raw_spin;
char *raw_buf, *raw_res, *raw_window;
uint64_t raw_came;

static const struct raw_ops *ops;
static const char *only, *after;
static double least = 0.010; /* seconds of a batch */

static size_t window_at; /* where the next piece goes */

void raw_arrived(const void *data, size_t len)
{
    if (len > 8) {
        memcpy(raw_window + window_at, data, len);
        window_at += len;
    }
    raw_came++;
}

size_t raw_swap(const char *name, const void *mine, size_t len, void *other, size_t room)
{
    char key[32];
    snprintf(key, sizeof key, "%s.%d", name, raw_me);
    job_check(boot_put(key, mine, len) == 0 && boot_barrier() == 0);
    snprintf(key, sizeof key, "%s.%d", name, 1 - raw_me);
    job_check(boot_get(key, other, &room) == 0);
    return room;
}

/* --- bodies --------------------------------------------------------------------------- */

struct row {
    const char *name, *unit;
    void (*body)(const struct row *r, long n);
    void (*op)(const struct row *r);
    int size, both; /* both: the other process runs the body as well */
    int back;       /* bytes of an answer */
    int loose;
};

static void put(const struct row *r)
{
    ops->put((size_t)r->size);
}

static void get(const struct row *r)
{
    ops->get((size_t)r->size);
}

static void flush_each(const struct row *r, long n)
{
    while (n--) {
        r->op(r);
        ops->flush();
    }
}

static void flush_last(const struct row *r, long n)
{
    while (n--)
        r->op(r);
    ops->flush();
}

/* As many bytes, in pieces; how many pieces. */
static uint64_t stream(size_t bytes, int send)
{
    uint64_t pieces = 0;
    for (size_t at = 0, n; at < bytes; at += n, pieces++) {
        n = bytes - at < ops->am_max ? bytes - at : ops->am_max;
        if (send)
            ops->am(at, n);
    }
    return pieces;
}

static void await(uint64_t pieces)
{
    static uint64_t seen;
    for (seen += pieces; raw_came < seen;)
        ops->poll();
    window_at = 0;
}

static void there_and_back(const struct row *r, long n)
{
    while (n--) {
        if (raw_me == 0)
            stream((size_t)r->size, 1);
        await(stream((size_t)(raw_me == 0 ? r->back : r->size), 0));
        if (raw_me == 1)
            stream((size_t)r->back, 1);
    }
}

static void exchange(const struct row *r, long n)
{
    while (n--) {
        ops->am(0, (size_t)r->size);
        await(1);
    }
}

static void round_trip_and_exchange(const struct row *r, long n)
{
    while (n--) {
        there_and_back(r, 1);
        exchange(r, 1);
    }
}

static void pingpong(const struct row *r, long n)
{
    while (n--)
        if (raw_me == 0) {
            ops->send((size_t)r->size);
            ops->recv((size_t)r->size);
        } else {
            ops->recv((size_t)r->size);
            ops->send((size_t)r->size);
        }
}

/* --- rows ----------------------------------------------------------------------------- */

#define BW(name, op, size) {name, "GB/s", flush_each, op, size, 0, 0, 0}
#define BY_AM(name, size) {"put " name " by am", "GB/s", there_and_back, NULL, size, 1, 8, 0}
#define BOTH_WAYS(name, size)                                                                      \
    {                                                                                              \
        "gacc " name " by am", "GB/s", there_and_back, NULL, size, 1, size, 0                      \
    }
#define SEND(name, size) {"send/recv " name, "us", pingpong, NULL, size, 1, 0, 0}
#define LOOSE(name, size) {"loose send/recv " name, "us", pingpong, NULL, size, 1, 0, 1}

static const struct row rows[] = {
    {"put8+flush", "us", flush_each, put, 8, 0, 0, 0},
    {"get8+flush", "us", flush_each, get, 8, 0, 0, 0},
    {"am round trip 8", "us", there_and_back, NULL, 8, 1, 8, 0},
    {"am exchange 8", "us", exchange, NULL, 8, 1, 0, 0},
    {"am round trip 8 and exchange", "us", round_trip_and_exchange, NULL, 8, 1, 8, 0},
    {"put8 rate", "Mop/s", flush_last, put, 8, 0, 0, 0},
    {"get8 rate", "Mop/s", flush_last, get, 8, 0, 0, 0},
    BY_AM("4K", 4096),
    BY_AM("8K", 8192),
    BY_AM("64K", 65536),
    BY_AM("1M", 1 << 20),
    BY_AM("4M", 4 << 20),
    BOTH_WAYS("4K", 4096),
    BOTH_WAYS("64K", 65536),
    BOTH_WAYS("1M", 1 << 20),
    BW("put 1K", put, 1024),
    BW("put 4K", put, 4096),
    BW("put 64K", put, 65536),
    BW("put 1M", put, 1 << 20),
    BW("put 4M", put, 4 << 20),
    BW("get 1K", get, 1024),
    BW("get 4K", get, 4096),
    BW("get 64K", get, 65536),
    BW("get 1M", get, 1 << 20),
    BW("get 4M", get, 4 << 20),
    SEND("8", 8),
    SEND("1K", 1024),
    SEND("64K", 65536),
    SEND("1M", 1 << 20),
    LOOSE("8", 8),
    LOOSE("1K", 1024),
    LOOSE("64K", 65536),
    LOOSE("1M", 1 << 20),
};
enum { ROWS = sizeof rows / sizeof *rows };

/* What was begun last may still need us. */
static void meet(void (*poll)(void))
{
    int fd;
    job_check(boot_barrier_begin(&fd) == 0);
    while (!boot_barrier_test())
        poll();
}

static double batch(const struct row *r, long n)
{
    void (*poll)(void) = r->body == pingpong ? ops->poll_tagged : ops->poll;
    meet(poll);
    uint64_t t = time_now();
    if (raw_me == 0 || r->both)
        r->body(r, n);
    t = time_now() - t;
    meet(poll);
    if (raw_me == 0)
        memcpy(job_words(), &t, sizeof t);
    meet(poll);
    memcpy(&t, job_words(), sizeof t); /* both go by the clock of one */
    return 1e-9 * (double)t;
}

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double measure(const struct row *r)
{
    double t[BATCHES];
    long n = 1;
    for (double all; (all = batch(r, n)) < least && n < 1 << 26;)
        n = all < least / 20 ? n * 10 : (long)((double)n * least / all * 1.1) + 1;
    for (int i = 0; i < BATCHES; i++)
        t[i] = batch(r, n) / (double)n;
    qsort(t, BATCHES, sizeof *t, by_value);
    double each = t[BATCHES / 4];
    if (!strcmp(r->unit, "Mop/s"))
        return 1e-6 / each;
    if (!strcmp(r->unit, "GB/s"))
        return 1e-9 * r->size / each;
    return each * 1e6 / (r->body == pingpong ? 2 : 1);
}

static int wanted(const struct row *r)
{
    const char *name = r->name;
    if (r->loose && !ops->has_loose)
        return 0;
    size_t n = strlen(name);
    for (const char *p = only; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (!strncmp(p, name, n) && (p[n] == ',' || !p[n]))
            return 1;
    return !only;
}

static void tell(const char *what, const char *name)
{
    if (raw_me == 0)
        printf("%s%s%s\n", what, *name ? " " : "", name);
    fflush(stdout);
}

static void run(const struct row *r)
{
    char value[32];
    tell("row", r->name);
    if (r->body == pingpong)
        ops->open_tagged(r->loose);
    snprintf(value, sizeof value, "value %.6g", measure(r));
    tell(value, r->name);
}

/* --- life ----------------------------------------------------------------------------- */

/* The first and the second core of those that are ours. */
static void bind_core(void)
{
    cpu_set_t set, one;
    if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) < 2)
        return;
    for (int i = 0, seen = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set) && seen++ == raw_me) {
            CPU_ZERO(&one);
            CPU_SET(i, &one);
            sched_setaffinity(0, sizeof one, &one);
        }
}

static char *pages(void)
{
    char *p = aligned_alloc(4096, RAW_BYTES);
    job_check(p);
    return memset(p, 0, RAW_BYTES);
}

/* A figure is worth something only if the bytes do go there and come back. */
static void prove(void)
{
    if (raw_me == 0) {
        for (int i = 0; i < 65536; i++)
            raw_buf[i] = (char)(i % 251);
        ops->put(65536);
        ops->flush();
        ops->get(65536);
        ops->flush();
        job_check(!memcmp(raw_buf, raw_res, 65536));
    }
    meet(ops->poll);
    job_check(raw_me == 0 || (unsigned char)raw_window[65535] == 65535 % 251);
}

static void body(void)
{
    char words[256] = "";
    int on = !after;
    raw_me = boot_rank();
    bind_core();
    raw_buf = pages();
    raw_res = pages();
    raw_window = pages();
    ops->open(words, sizeof words);
    tell("with", words);
    prove();
    for (int i = 0; i < ROWS; i++) {
        if (on && wanted(&rows[i]))
            run(&rows[i]);
        on |= after && !strcmp(after, rows[i].name);
    }
    tell("end", "");
    boot_barrier(); /* the kernel frees the rest */
}

int raw_main(int argc, char **argv, const struct raw_ops *o)
{
    ops = o;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--list")) {
            for (i = 0; i < ROWS; i++)
                if (wanted(&rows[i]))
                    printf("%s\t%s\n", rows[i].name, rows[i].unit);
            return EXIT_SUCCESS;
        } else if (!strcmp(argv[i], "--spin")) {
            raw_spin = 1;
        } else if (i + 1 < argc && !strcmp(argv[i], "--ms")) {
            least = atof(argv[++i]) * 1e-3;
        } else if (i + 1 < argc && !strcmp(argv[i], "--rows")) {
            only = argv[++i];
        } else if (i + 1 < argc && !strcmp(argv[i], "--after")) {
            after = argv[++i];
        } else {
            fprintf(stderr, "raw: what is %s?\n", argv[i]);
            return 2;
        }
    return job_run(2, NULL, body, 600) ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* onesided.c - what a transport promises of memory, put, get and flush (tp.h).  The last process
 * owns the memory; the others also attach it as a segment, so that they see what is really there
 * when the transport reports that it is.  Start with body_put_get(). */
#include "doctor/onesided.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "mpi.h"

/* What comes within it is late, and what does not is torn: on a loaded machine, too. */
static const uint64_t LAND_NS = 5000000000u;

struct one_box one;

static int box_recv(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    (void)up, (void)peer, (void)cls, (void)msg, (void)len;
    return 0;
}

void one_poll(void)
{
    end_poll(&one.e);
}

void one_barrier(void)
{
    end_barrier(&one.e);
}

static void publish(const char *what, int rank, const void *value, size_t len)
{
    char name[32];
    snprintf(name, sizeof name, "%s.%d", what, rank);
    job_check(boot_put(name, value, len) == 0);
}

static size_t one_look_up(const char *what, int rank, void *value, size_t room)
{
    char name[32];
    snprintf(name, sizeof name, "%s.%d", what, rank);
    job_check(boot_get(name, value, &room) == 0);
    return room;
}

int one_offered(void)
{
    return (one.e.caps.flags & (TP_PUT | TP_GET | TP_ATOMIC)) != 0;
}

static void box_register(void)
{
    char key[1024];
    size_t len = sizeof key;
    struct mem_key seg_key;
    pid_t pid = getpid();
    job_check(mem_segment_create(BYTES, 0, &one.seg) == 0);
    job_check(one.e.ops->reg(one.e.tp, one.seg->base, BYTES, 0, TP_MAY_READ | TP_MAY_WRITE,
                             &one.mem) == 0);
    job_check(one.e.ops->pack(one.e.tp, one.mem, key, &len) == 0 && len <= sizeof key);
    mem_segment_key(one.seg, &seg_key);
    publish("key", one.e.rank, key, len);
    publish("seg", one.e.rank, &seg_key, sizeof seg_key);
    publish("pid", one.e.rank, &pid, sizeof pid);
    len = 1;
    job_check(one.e.ops->pack(one.e.tp, one.mem, key, &len) == -EMSGSIZE);
}

static void box_import(void)
{
    char key[1024];
    struct mem_key seg_key;
    one_look_up("seg", one.owner, &seg_key, sizeof seg_key);
    job_check(mem_segment_attach(&seg_key, &one.seg) == 0);
    end_connect(&one.e, one.owner);
    size_t len = one_look_up("key", one.owner, key, sizeof key);
    /* a key cut short */
    job_check(one.e.ops->import(one.e.tp, (unsigned)one.owner, key, 1, &one.far) < 0);
    job_check(one.e.ops->import(one.e.tp, (unsigned)one.owner, key, len, &one.far) == 0);
    one.buf = malloc(LOCAL);
    if (one.e.caps.flags & TP_REG_LOCAL)
        job_check(one.e.ops->reg(one.e.tp, one.buf, LOCAL, 0, 0, &one.local) == 0);
}

void one_open(void)
{
    memset(&one, 0, sizeof one);
    end_open(&one.e, box_recv, &one);
    one.owner = one.e.size - 1;
    if (one_offered() && one.e.rank == one.owner)
        box_register();
    job_check(boot_barrier() == 0);
    if (one_offered() && one.e.rank != one.owner)
        box_import();
    one.truth = one.seg ? one.seg->base : NULL;
    job_about(FAULT_TORN);
}

void one_close(void)
{
    end_leave(&one.e);
    if (one.far)
        one.e.ops->drop(one.e.tp, one.far);
    if (one.local)
        one.e.ops->dereg(one.e.tp, one.local);
    if (one.mem)
        one.e.ops->dereg(one.e.tp, one.mem);
    if (one.seg)
        mem_segment_drop(one.seg);
    end_close(&one.e);
    free(one.buf);
}

/* --- operations --------------------------------------------------------------- */

void one_count(struct tp_done *d, int err)
{
    job_event();
    struct counted *c = (struct counted *)d;
    c->calls++;
    c->err = err;
}

/* Wait for what an entry answered; 0: done, TP_AGAIN: call it again. */
int one_settle(int answer, struct counted *c)
{
    job_check(answer == 0 || answer == TP_PENDING || answer == TP_AGAIN);
    if (answer == TP_AGAIN) {
        job_check(c->calls == 0);
        enum fault was = job_about(FAULT_AGAIN);
        one_poll();
        job_about(was);
        return TP_AGAIN;
    }
    enum fault was = job_about(FAULT_LOST);
    while (answer == TP_PENDING && !c->calls)
        one_poll();
    job_about(was);
    job_event();
    job_check(c->calls == (answer == TP_PENDING) && c->err == 0);
    return 0;
}

void one_put(size_t off, size_t from, size_t len)
{
    DO(one.e.ops->put(one.e.tp, one.far, off, one.buf + from, len, one.local, &c.d));
}

void one_get(size_t off, size_t to, size_t len)
{
    DO(one.e.ops->get(one.e.tp, one.far, off, one.buf + to, len, one.local, &c.d));
}

void one_flush(void)
{
    DO(one.e.ops->flush(one.e.tp, (unsigned)one.owner, &c.d));
}

static void fill(unsigned char *p, size_t len, unsigned seed)
{
    for (size_t i = 0; i < len; i++)
        p[i] = (unsigned char)(seed + i * 7 + (i >> 8) * 13);
}

void one_landed(size_t off, const void *what, size_t len)
{
    uint64_t end = time_now() + LAND_NS;
    if (!memcmp(one.truth + off, what, len))
        return;
    while (memcmp(one.truth + off, what, len) && time_now() < end) {
        one_poll();
        job_event(); /* a wait that ends by itself */
    }
    job_about(memcmp(one.truth + off, what, len) ? FAULT_TORN : FAULT_EARLY);
    job_check(!"what was put or added, and flushed, is there");
}

static int filled(const unsigned char *p, size_t len, unsigned seed)
{
    for (size_t i = 0; i < len; i++)
        if (p[i] != (unsigned char)(seed + i * 7 + (i >> 8) * 13))
            return 0;
    return 1;
}

int one_plain(const unsigned char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (p[i])
            return 0;
    return 1;
}

/* --- put, get, flush ------------------------------------------------------------ */

void body_put_get(void)
{
    one_open();
    const size_t inl = one.e.caps.put_inline;
    const size_t sizes[] = {0, 1, 7, 8, 64, inl, inl + 1, 1000, 4096, 8191, 40000, 65537, 1 << 20};
    if (one_offered() && one.e.rank == 0)
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t len = sizes[i], off = GUARD + i % 4 * 3;
            if (len > one.e.caps.rma_max)
                continue;
            memset(one.truth, 0, off + len + GUARD);
            fill(one.buf, len, i);
            one_put(off, 0, len);
            memset(one.buf, 0xee, len); /* complete: ours again */
            one_flush();
            fill(one.buf, len, i);
            one_landed(off, one.buf, len);
            memset(one.buf, 0xee, len);
            job_check(one_plain(one.truth, off) && one_plain(one.truth + off + len, GUARD));
            one.buf[len] = 0x33;
            one_get(off, 0, len);
            job_check(filled(one.buf, len, i) && one.buf[len] == 0x33);
        }
    if (one_offered() && one.e.rank == 0) { /* outside of what was registered: nothing happens */
        struct counted c = {{one_count}, 0, 0};
        const uint64_t offs[] = {BYTES - 7, BYTES + 1, UINT64_MAX - 3, UINT64_MAX};
        for (int i = 0; i < 4; i++) {
            job_check(one.e.ops->put(one.e.tp, one.far, offs[i], one.buf, 8, one.local, &c.d) < 0);
            job_check(one.e.ops->get(one.e.tp, one.far, offs[i], one.buf, 8, one.local, &c.d) < 0);
        }
        one_put(BYTES - 8, 0, 8);
        one_put(BYTES, 0, 0);
        one_flush();
        job_check(c.calls == 0);
    }
    one_close();
}

static void again_poll(void)
{
    enum fault was = job_about(FAULT_AGAIN);
    one_poll();
    job_about(was);
}

/* Many at once: bounded resources return TP_AGAIN, every done comes once, and flush means all of
 * them. */
void body_many(void)
{
    enum { N = 5000, LEN = 300 };
    one_open();
    struct counted *c = calloc(N, sizeof *c);
    int pending = 0;
    if (one_offered() && one.e.rank != one.owner) {
        size_t base = (size_t)one.e.rank * 256 * LEN;
        fill(one.buf, N + LEN, 5);
        for (int i = 0; i < N; i++) {
            int err;
            c[i].d.fn = one_count;
            size_t len = i % 2 ? LEN : 8;
            while ((err = one.e.ops->put(one.e.tp, one.far, base + (size_t)(i % 256) * LEN,
                                         one.buf + i, len, one.local, &c[i].d)) == TP_AGAIN)
                again_poll();
            job_event();
            job_check(err == 0 || err == TP_PENDING);
            pending += err == TP_PENDING;
        }
        one_flush();
        int calls = 0;
        for (int turn = 0; turn < 100000 && calls < pending; turn++) {
            calls = 0;
            for (int i = 0; i < N; i++)
                calls += c[i].calls;
            if (calls < pending)
                one_poll();
        }
        job_check(calls == pending);
        for (int i = 0; i < N; i++)
            job_check(c[i].calls <= 1 && c[i].err == 0);
        for (int i = N - 256; i < N; i++)
            one_landed(base + (size_t)(i % 256) * LEN, one.buf + i, i % 2 ? LEN : 8);
    }
    one_close();
    free(c);
}

/* --- the target stands still ---------------------------------------------------------- */

/* Watch a flush for a while with the target stopped: if it completes, what came before it must be
 * in memory. */
static void flush_watched(pid_t pid, size_t off, size_t len, const void *what)
{
    struct counted c = {{one_count}, 0, 0};
    int answer;
    uint64_t end = time_now() + 200000000u;
    while ((answer = one.e.ops->flush(one.e.tp, (unsigned)one.owner, &c.d)) == TP_AGAIN &&
           time_now() < end)
        one_poll();
    job_check(answer == 0 || answer == TP_PENDING || answer == TP_AGAIN);
    while (answer == TP_PENDING && !c.calls && time_now() < end)
        one_poll();
    int early = answer == 0 || c.calls;
    enum fault was = job_about(FAULT_EARLY);
    if (early)
        job_check(!memcmp(one.truth + off, what, len));
    job_about(FAULT_LOST);
    job_check(kill(pid, SIGCONT) == 0);
    while (answer == TP_PENDING && !c.calls)
        one_poll();
    if (answer == TP_AGAIN)
        one_flush();
    job_about(was);
    job_check(c.calls == (answer == TP_PENDING) && c.err == 0);
    one_landed(off, what, len);
    if (!job_quiet())
        fprintf(stderr, "%s %s: %zu bytes %s while the target was stopped\n", one.e.ops->name,
                one.e.row->env ? one.e.row->env : one.e.row->set ? one.e.row->set : "", len,
                early ? "written" : "not written");
}

/* The same for an atomic, with its old value or without. */
static void stopped_atomic(pid_t pid, int fetch)
{
    struct counted c = {{one_count}, 0, 0};
    uint64_t add = 0x0101010101010101u * 5, old = 1;
    const struct tp_atomic a = {.op = MPI_SUM, .type = 3 | 16, .n = 1, .operand = &add,
                                .result = fetch ? &old : NULL};
    int answer;
    if (!(one.e.caps.flags & TP_ATOMIC) || !one.e.ops->atomic_ok(one.e.tp, a.op, a.type, 1, fetch))
        return;
    memset(one.truth, 0, 8);
    job_check(kill(pid, SIGSTOP) == 0);
    while ((answer = one.e.ops->atomic(one.e.tp, one.far, 0, &a, &c.d)) == TP_AGAIN)
        one_poll();
    flush_watched(pid, 0, 8, &add);
    one_settle(answer, &c);
    job_check(old == !fetch);
}

/* Rank 0 gets the process of the owner; both sides know each other. */
static pid_t open_to_stop(void)
{
    pid_t pid = 0;
    one_open();
    if (one_offered() && one.e.rank == 0) {
        one_look_up("pid", one.owner, &pid, sizeof pid);
        one_put(0, 0, 8);
        one_flush();
    }
    return pid;
}

void body_stopped(void)
{
    static const size_t sizes[] = {8, 4096, 1 << 20};
    pid_t pid = open_to_stop();
    for (unsigned i = 0; one_offered() && one.e.rank == 0 && i < 3; i++) {
        struct counted c = {{one_count}, 0, 0};
        int answer;
        memset(one.truth, 0, sizes[i]);
        fill(one.buf, sizes[i], 40 + i);
        job_check(kill(pid, SIGSTOP) == 0);
        while ((answer = one.e.ops->put(one.e.tp, one.far, 0, one.buf, sizes[i], one.local,
                                        &c.d)) == TP_AGAIN)
            one_poll();
        flush_watched(pid, 0, sizes[i], one.buf);
        one_settle(answer, &c);
    }
    one_close();
}

void body_stopped_atomics(void)
{
    pid_t pid = open_to_stop();
    for (int fetch = 0; one_offered() && one.e.rank == 0 && fetch < 2; fetch++)
        stopped_atomic(pid, fetch);
    one_close();
}

/* --- the target sleeps -------------------------------------------------------------------- */

/* A target that waits without a descriptor of the network is woken by what it is needed for. */
void body_woken(void)
{
    _Atomic uint64_t *asleep = (_Atomic uint64_t *)job_words();
    one_open();
    int tried = one_offered() && !(one.e.caps.flags & TP_WAIT_FD);
    if (tried && one.e.rank == 0) {
        one_put(0, 0, 8); /* both sides know each other */
        one_flush();
    }
    one_barrier();
    if (tried && one.e.rank == one.owner) {
        struct pollfd p = {.fd = mem_wake_fd(), .events = POLLIN};
        mem_wake_arm();
        atomic_store(asleep, 1);
        job_check(poll(&p, 1, 20000) == 1);
        mem_wake_disarm();
    }
    if (tried && one.e.rank == 0) {
        while (!atomic_load(asleep))
            sched_yield();
        one_put(0, 0, 8);
        one_flush();
    }
    one_close();
}

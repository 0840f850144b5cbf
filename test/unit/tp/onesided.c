/* onesided.c - the part of the contract (tp.h) about memory, put, get, atomics and flush, for every
 * row of contract.c whose transport offers them. The last process owns the memory; the others also
 * attach it as a segment, so that they see what is really there when the transport reports that it
 * is. */
#include "contract.h"
#include "job.h"
#include "unit.h"

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

Suite *suite_onesided(void);

enum { BYTES = 3 << 20, LOCAL = 2 << 20, GUARD = 64 };

static struct box {
    struct end e;
    int owner;
    struct mem_segment *seg; /* the owner's memory as the kernel shows it */
    unsigned char *truth;    /* seg->base */
    struct tp_mem *mem;      /* owner: registered */
    struct tp_far *far;      /* others: imported */
    unsigned char *buf;      /* LOCAL bytes for operations */
    struct tp_mem *local;    /* registered where the transport wants that */
} box;

static int box_recv(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    return 0;
}

static void box_poll(void)
{
    end_poll(&box.e);
}

static void box_barrier(void)
{
    end_barrier(&box.e);
}

static void publish(const char *what, int rank, const void *value, size_t len)
{
    char name[32];
    snprintf(name, sizeof name, "%s.%d", what, rank);
    job_check(boot_put(name, value, len) == 0);
}

static size_t look_up(const char *what, int rank, void *value, size_t room)
{
    char name[32];
    snprintf(name, sizeof name, "%s.%d", what, rank);
    job_check(boot_get(name, value, &room) == 0);
    return room;
}

static int has_onesided(void)
{
    return (box.e.caps.flags & (TP_PUT | TP_GET | TP_ATOMIC)) != 0;
}

static void box_register(void)
{
    char key[1024];
    size_t len = sizeof key;
    struct mem_key seg_key;
    pid_t pid = getpid();
    job_check(mem_segment_create(BYTES, 0, &box.seg) == 0);
    job_check(box.e.ops->reg(box.e.tp, box.seg->base, BYTES, 0, TP_MAY_READ | TP_MAY_WRITE,
                             &box.mem) == 0);
    job_check(box.e.ops->pack(box.e.tp, box.mem, key, &len) == 0 && len <= sizeof key);
    mem_segment_key(box.seg, &seg_key);
    publish("key", box.e.rank, key, len);
    publish("seg", box.e.rank, &seg_key, sizeof seg_key);
    publish("pid", box.e.rank, &pid, sizeof pid);
    len = 1;
    job_check(box.e.ops->pack(box.e.tp, box.mem, key, &len) == -EMSGSIZE);
}

static void box_import(void)
{
    char key[1024];
    struct mem_key seg_key;
    look_up("seg", box.owner, &seg_key, sizeof seg_key);
    job_check(mem_segment_attach(&seg_key, &box.seg) == 0);
    end_connect(&box.e, box.owner);
    size_t len = look_up("key", box.owner, key, sizeof key);
    /* a key cut short */
    job_check(box.e.ops->import(box.e.tp, (unsigned)box.owner, key, 1, &box.far) < 0);
    job_check(box.e.ops->import(box.e.tp, (unsigned)box.owner, key, len, &box.far) == 0);
    box.buf = malloc(LOCAL);
    if (box.e.caps.flags & TP_REG_LOCAL)
        job_check(box.e.ops->reg(box.e.tp, box.buf, LOCAL, 0, 0, &box.local) == 0);
}

static void box_open(void)
{
    memset(&box, 0, sizeof box);
    end_open(&box.e, box_recv, &box);
    box.owner = box.e.size - 1;
    if (has_onesided() && box.e.rank == box.owner)
        box_register();
    job_check(boot_barrier() == 0);
    if (has_onesided() && box.e.rank != box.owner)
        box_import();
    box.truth = box.seg ? box.seg->base : NULL;
}

static void box_close(void)
{
    end_leave(&box.e);
    if (box.far)
        box.e.ops->drop(box.e.tp, box.far);
    if (box.local)
        box.e.ops->dereg(box.e.tp, box.local);
    if (box.mem)
        box.e.ops->dereg(box.e.tp, box.mem);
    if (box.seg)
        mem_segment_drop(box.seg);
    end_close(&box.e);
    free(box.buf);
}

/* --- operations --------------------------------------------------------------- */

struct counted {
    struct tp_done d;
    int calls, err;
};

static void count_done(struct tp_done *d, int err)
{
    struct counted *c = (struct counted *)d;
    c->calls++;
    c->err = err;
}

/* Wait for what an entry answered; 0: done, TP_AGAIN: call it again. */
static int settle(int answer, struct counted *c)
{
    job_check(answer == 0 || answer == TP_PENDING || answer == TP_AGAIN);
    if (answer == TP_AGAIN) {
        job_check(c->calls == 0);
        box_poll();
        return TP_AGAIN;
    }
    while (answer == TP_PENDING && !c->calls)
        box_poll();
    job_check(c->calls == (answer == TP_PENDING) && c->err == 0);
    return 0;
}

#define DO(call)                                               \
    do {                                                       \
        struct counted c = {{count_done}, 0, 0};               \
        while (settle((call), &c) == TP_AGAIN)                 \
            continue;                                          \
    } while (0)

static void put(size_t off, size_t from, size_t len)
{
    DO(box.e.ops->put(box.e.tp, box.far, off, box.buf + from, len, box.local, &c.d));
}

static void get(size_t off, size_t to, size_t len)
{
    DO(box.e.ops->get(box.e.tp, box.far, off, box.buf + to, len, box.local, &c.d));
}

static void flush(void)
{
    DO(box.e.ops->flush(box.e.tp, (unsigned)box.owner, &c.d));
}

static void fill(unsigned char *p, size_t len, unsigned seed)
{
    for (size_t i = 0; i < len; i++)
        p[i] = (unsigned char)(seed + i * 7 + (i >> 8) * 13);
}

static int filled(const unsigned char *p, size_t len, unsigned seed)
{
    for (size_t i = 0; i < len; i++)
        if (p[i] != (unsigned char)(seed + i * 7 + (i >> 8) * 13))
            return 0;
    return 1;
}

static int plain(const unsigned char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (p[i])
            return 0;
    return 1;
}

/* --- put, get, flush ------------------------------------------------------------ */

static void put_get(void)
{
    box_open();
    const size_t inl = box.e.caps.put_inline;
    const size_t sizes[] = {0, 1, 7, 8, 64, inl, inl + 1, 1000, 4096, 8191, 40000, 65537, 1 << 20};
    if (has_onesided() && box.e.rank == 0)
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t len = sizes[i], off = GUARD + i % 4 * 3;
            if (len > box.e.caps.rma_max)
                continue;
            memset(box.truth, 0, off + len + GUARD);
            fill(box.buf, len, i);
            put(off, 0, len);
            memset(box.buf, 0xee, len); /* complete: ours again */
            flush();
            job_check(filled(box.truth + off, len, i));
            job_check(plain(box.truth, off) && plain(box.truth + off + len, GUARD));
            box.buf[len] = 0x33;
            get(off, 0, len);
            job_check(filled(box.buf, len, i) && box.buf[len] == 0x33);
        }
    if (has_onesided() && box.e.rank == 0) { /* outside of what was registered: nothing happens */
        struct counted c = {{count_done}, 0, 0};
        const uint64_t offs[] = {BYTES - 7, BYTES + 1, UINT64_MAX - 3, UINT64_MAX};
        for (int i = 0; i < 4; i++) {
            job_check(box.e.ops->put(box.e.tp, box.far, offs[i], box.buf, 8, box.local, &c.d) < 0);
            job_check(box.e.ops->get(box.e.tp, box.far, offs[i], box.buf, 8, box.local, &c.d) < 0);
        }
        put(BYTES - 8, 0, 8);
        put(BYTES, 0, 0);
        flush();
        job_check(c.calls == 0);
    }
    box_close();
}

/* Many at once: bounded resources return TP_AGAIN, every done comes once, and flush means all of
 * them. */
static void many(void)
{
    enum { N = 5000, LEN = 300 };
    box_open();
    struct counted *c = calloc(N, sizeof *c);
    int pending = 0;
    if (has_onesided() && box.e.rank != box.owner) {
        size_t base = (size_t)box.e.rank * 256 * LEN;
        fill(box.buf, N + LEN, 5);
        for (int i = 0; i < N; i++) {
            int err;
            c[i].d.fn = count_done;
            size_t len = i % 2 ? LEN : 8;
            while ((err = box.e.ops->put(box.e.tp, box.far, base + (size_t)(i % 256) * LEN,
                                         box.buf + i, len, box.local, &c[i].d)) == TP_AGAIN)
                box_poll();
            job_check(err == 0 || err == TP_PENDING);
            pending += err == TP_PENDING;
        }
        flush();
        int calls = 0;
        for (int turn = 0; turn < 100000 && calls < pending; turn++) {
            calls = 0;
            for (int i = 0; i < N; i++)
                calls += c[i].calls;
            if (calls < pending)
                box_poll();
        }
        job_check(calls == pending);
        for (int i = 0; i < N; i++)
            job_check(c[i].calls <= 1 && c[i].err == 0);
        for (int i = N - 256; i < N; i++)
            job_check(
                !memcmp(box.truth + base + (size_t)(i % 256) * LEN, box.buf + i, i % 2 ? LEN : 8));
    }
    box_close();
    free(c);
}

/* --- atomics ---------------------------------------------------------------------- */

static const int ops[] = {MPI_SUM,   MPI_BAND,    MPI_BOR, MPI_BXOR, MPI_REPLACE,
                          MPI_NO_OP, MPI_OP_NULL, MPI_MAX, MPI_PROD};

static uint64_t apply(int op, uint64_t old, uint64_t x, uint64_t compare)
{
    switch (op) {
    case MPI_SUM: return old + x;
    case MPI_BAND: return old & x;
    case MPI_BOR: return old | x;
    case MPI_BXOR: return old ^ x;
    case MPI_REPLACE: return x;
    case MPI_OP_NULL: return old == compare ? x : old;
    case MPI_MAX: return old > x ? old : x;
    case MPI_PROD: return old * x;
    default: return old;
    }
}

static void one_atomic(int op, int log2, int fetch, uint64_t old, uint64_t x, uint64_t compare)
{
    size_t bytes = (size_t)1 << log2, off = GUARD + 8;
    uint64_t was = 0, now = 0, mask = UINT64_MAX >> (64 - 8 * bytes);
    uint64_t expected = apply(op, old & mask, x & mask, compare & mask);
    memset(box.truth, 0, 4 * GUARD);
    memcpy(box.truth + off, &old, bytes);
    memcpy(box.buf, &x, 8);
    memcpy(box.buf + 8, &compare, 8);
    memset(box.buf + 16, 0, 8);
    struct tp_atomic a = {.op = op, .type = log2, .n = 1, .operand = box.buf,
                          .compare = fetch == 2 ? box.buf + 8 : NULL,
                          .result = fetch ? box.buf + 16 : NULL};
    DO(box.e.ops->atomic(box.e.tp, box.far, off, &a, &c.d));
    memcpy(&was, box.buf + 16, bytes);
    flush();
    memcpy(&now, box.truth + off, bytes);
    job_check(!fetch || !memcmp(&was, &old, bytes));
    job_check(!memcmp(&now, &expected, bytes));
    job_check(plain(box.truth, off) && plain(box.truth + off + bytes, GUARD));
}

static void atomics(void)
{
    box_open();
    for (unsigned i = 0;
         box.e.caps.flags & TP_ATOMIC && box.e.rank == 0 && i < sizeof ops / sizeof *ops; i++)
        for (int log2 = 0; log2 < 4; log2++)
            for (int fetch = ops[i] == MPI_OP_NULL ? 2 : ops[i] == MPI_NO_OP;
                 fetch < 2 + (ops[i] == MPI_OP_NULL); fetch++) {
                int ok = box.e.ops->atomic_ok(box.e.tp, ops[i], log2, 1, fetch);
                job_check(ok == 0 || ok == 1);
                job_check(!ok || box.e.caps.atomic_sizes >> log2 & 1);
                if (!ok)
                    continue;
                const uint64_t old = 0x1122334455667788u, x = 0x0ff1ce0dead0f00du;
                one_atomic(ops[i], log2, fetch, old, x, old);
                one_atomic(ops[i], log2, fetch, old, x, old ^ 0x10);
            }
    box_close();
}

/* All add to the same words, by the transport and, where its atomics agree with the processor's,
 * directly too. */
static void counters(void)
{
    enum { N = 500 };
    box_open();
    int sum_ok = box.e.caps.flags & TP_ATOMIC && box.e.ops->atomic_ok(box.e.tp, MPI_SUM, 3, 1, 1);
    for (int i = 0; sum_ok && box.e.rank != box.owner && i < N; i++) {
        uint64_t one = 1, was;
        memcpy(box.buf, &one, 8);
        struct tp_atomic a = {.op = MPI_SUM, .type = 3, .n = 1, .operand = box.buf,
                              .result = i % 2 ? NULL : box.buf + 8};
        DO(box.e.ops->atomic(box.e.tp, box.far, (size_t)(i % 2) * 8, &a, &c.d));
        memcpy(&was, box.buf + 8, 8);
        job_check(i % 2 || was < (uint64_t)N * (unsigned)box.e.size);
    }
    if (sum_ok && box.e.rank != box.owner)
        flush();
    for (int i = 0;
         sum_ok && box.e.rank == box.owner && box.e.caps.flags & TP_CPU_COHERENT && i < N; i++) {
        atomic_fetch_add((_Atomic uint64_t *)(void *)(box.truth + i % 2 * 8), 1);
        box_poll();
    }
    box_barrier();
    if (sum_ok) {
        uint64_t v[2], per = (uint64_t)(box.e.size - !(box.e.caps.flags & TP_CPU_COHERENT)) * N / 2;
        memcpy(v, box.truth, sizeof v);
        job_check(v[0] == per && v[1] == per);
    }
    box_close();
}

/* --- atomics beside the processor's --------------------------------------------------- */

/* What TP_CPU_COHERENT promises: two processes use the transport's atomics. Meanwhile a third uses
 * the processor's on the same words without a pause, and a fourth, the owner, makes progress. Each
 * has bits of its own that it sets and clears and must find as it left them; nothing is lost of
 * what is added; a lock taken by compare-and-swap excludes. */
enum {
    MIX_SUM,
    MIX_FETCHED,
    MIX_BITS,
    MIX_FLIPS,
    MIX_LOCK,
    MIX_SWAPS,
    MIX_IN,
    MIX_OVER,
    MIX_ADDED,
    MIX_DONE,
    MIX_PUT,
    MIX_TAKEN = MIX_PUT + 4,
    MIX_WORDS = MIX_TAKEN + 4,
    MIX_LINE = 64
};

static void *mix_word(int i)
{
    return box.truth + i * MIX_LINE;
}

static _Atomic uint64_t *mix64(int i)
{
    return mix_word(i);
}

static uint64_t mix(int word, int log2, int op, uint64_t v, const uint64_t *compare, int fetch)
{
    uint64_t old = 0;
    struct tp_atomic a = {.op = op, .type = log2, .n = 1, .operand = &v, .compare = compare,
                          .result = fetch ? &old : NULL};
    DO(box.e.ops->atomic(box.e.tp, box.far, (size_t)word * MIX_LINE, &a, &c.d));
    return old;
}

/* One of two with the transport: so many rounds, or for two seconds. The second to end marks the
 * end. */
static void mix_by_transport(int log2, int rounds)
{
    const uint64_t mine = (uint64_t)1 << box.e.rank, zero = 0, id = (uint64_t)box.e.rank + 1,
                   end = time_now() + 2000000000u;
    int i = 0;
    for (; i < rounds && time_now() < end; i++) {
        mix(MIX_SUM, log2, MPI_SUM, 1, NULL, 0);
        mix(MIX_FETCHED, log2, MPI_SUM, 1, NULL, 1);
        uint64_t was = mix(MIX_BITS, log2, i % 2 ? MPI_BAND : MPI_BOR, i % 2 ? ~mine : mine, NULL,
                           1);
        job_check(!(was & mine) == !(i % 2));
        was = mix(MIX_FLIPS, log2, MPI_BXOR, mine, NULL, 1);
        job_check(!(was & mine) == !(i % 2));
        was = mix(MIX_FLIPS, log2, MPI_NO_OP, 0, NULL, 1);
        job_check(!(was & mine) == !!(i % 2));
        /* What is taken out was put in by some process, once. */
        uint64_t token = (uint64_t)i * 8 + id;
        atomic_fetch_add(mix64(MIX_PUT + box.e.rank), token);
        was = mix(MIX_SWAPS, log2, MPI_REPLACE, token, NULL, 1);
        atomic_fetch_add(mix64(MIX_TAKEN + box.e.rank), was);
        if (mix(MIX_LOCK, log2, MPI_REPLACE, id, &zero, 1) == 0) {
            job_check(atomic_fetch_add(mix64(MIX_IN), 1) == 0);
            box_poll();
            job_check(atomic_fetch_sub(mix64(MIX_IN), 1) == 1);
            job_check(mix(MIX_LOCK, log2, MPI_REPLACE, 0, NULL, 1) == id);
        }
    }
    flush();
    if (atomic_fetch_add(mix64(MIX_DONE), (uint64_t)i << 8 | 1) & 1)
        atomic_store(mix64(MIX_OVER), 1);
}

#define MIX_BY_PROCESSOR(T)                                                                        \
    do {                                                                                           \
        const T mine = (T)1 << 20, id = 99;                                                        \
        for (T i = 0; !atomic_load(mix64(MIX_OVER)); i++) {                                        \
            atomic_fetch_add((_Atomic T *)mix_word(MIX_SUM), 1);                                   \
            atomic_fetch_add((_Atomic T *)mix_word(MIX_FETCHED), 1);                               \
            atomic_store_explicit(mix64(MIX_ADDED), (uint64_t)i + 1, memory_order_relaxed);        \
            _Atomic T *bits = mix_word(MIX_BITS), *lock = mix_word(MIX_LOCK);                      \
            T none = 0;                                                                            \
            T was = i % 2 ? atomic_fetch_and(bits, (T)~mine) : atomic_fetch_or(bits, mine);        \
            job_check(!(was & mine) == !(i % 2));                                                  \
            was = atomic_fetch_xor((_Atomic T *)mix_word(MIX_FLIPS), mine);                        \
            job_check(!(was & mine) == !(i % 2));                                                  \
            atomic_fetch_add(mix64(MIX_PUT + box.e.rank), (uint64_t)(i % 1000));                   \
            was = atomic_exchange((_Atomic T *)mix_word(MIX_SWAPS), i % 1000);                     \
            atomic_fetch_add(mix64(MIX_TAKEN + box.e.rank), (uint64_t)was);                        \
            if (i % 4 == 0 && atomic_compare_exchange_strong(lock, &none, id)) {                   \
                job_check(atomic_fetch_add(mix64(MIX_IN), 1) == 0);                                \
                job_check(atomic_fetch_sub(mix64(MIX_IN), 1) == 1 && atomic_load(lock) == id);     \
                atomic_store(lock, 0);                                                             \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static int mix_possible(int log2)
{
    static const int mixed[] = {MPI_SUM, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_REPLACE, MPI_NO_OP};
    int ok = (box.e.caps.flags & TP_CPU_COHERENT) != 0;
    for (unsigned i = 0; ok && i < sizeof mixed / sizeof *mixed; i++)
        ok = box.e.ops->atomic_ok(box.e.tp, mixed[i], log2, 1, 1);
    return ok && box.e.ops->atomic_ok(box.e.tp, MPI_SUM, log2, 1, 0) &&
           box.e.ops->atomic_ok(box.e.tp, MPI_OP_NULL, log2, 1, 2);
}

static void mixed(void)
{
    enum { ROUNDS = 400 };
    box_open();
    for (int log2 = 2; log2 < 4; log2++) {
        if (!mix_possible(log2))
            continue;
        if (box.e.rank == 0)
            memset(box.truth, 0, MIX_WORDS * MIX_LINE);
        if (box.e.rank == 2) {
            /* UCX cannot end a connection that is half made, and this process makes no progress
             * below */
            get(0, 0, 8);
            flush();
        }
        box_barrier();
        if (box.e.rank < 2) {
            mix_by_transport(log2, ROUNDS);
        } else if (box.e.rank == 2) {
            if (log2 == 2)
                MIX_BY_PROCESSOR(uint32_t);
            else
                MIX_BY_PROCESSOR(uint64_t);
        }
        box_barrier();
        uint64_t mask = UINT64_MAX >> (64 - (8 << log2)), in = 0, out = 0;
        uint64_t all = atomic_load(mix64(MIX_ADDED)) + (atomic_load(mix64(MIX_DONE)) >> 8);
        job_check((atomic_load(mix64(MIX_SUM)) & mask) == (all & mask));
        job_check((atomic_load(mix64(MIX_FETCHED)) & mask) == (all & mask));
        for (int i = 0; i < 4; i++) {
            in += atomic_load(mix64(MIX_PUT + i));
            out += atomic_load(mix64(MIX_TAKEN + i));
        }
        job_check(in == out + (atomic_load(mix64(MIX_SWAPS)) & mask));
        box_barrier();
    }
    box_close();
}

/* --- the target stands still ---------------------------------------------------------- */

/* Watch a flush for a while with the target stopped: if it completes, what came before it must be
 * in memory. */
static void flush_watched(pid_t pid, size_t off, size_t len, const void *what)
{
    struct counted c = {{count_done}, 0, 0};
    int answer;
    uint64_t end = time_now() + 200000000u;
    while ((answer = box.e.ops->flush(box.e.tp, (unsigned)box.owner, &c.d)) == TP_AGAIN &&
           time_now() < end)
        box_poll();
    job_check(answer == 0 || answer == TP_PENDING || answer == TP_AGAIN);
    while (answer == TP_PENDING && !c.calls && time_now() < end)
        box_poll();
    int early = answer == 0 || c.calls;
    if (early)
        job_check(!memcmp(box.truth + off, what, len));
    job_check(kill(pid, SIGCONT) == 0);
    while (answer == TP_PENDING && !c.calls)
        box_poll();
    if (answer == TP_AGAIN)
        flush();
    job_check(c.calls == (answer == TP_PENDING) && c.err == 0);
    job_check(!memcmp(box.truth + off, what, len));
    if (box.e.row->env || box.e.row->set)
        fprintf(stderr, "%s %s: %zu bytes %s while the target was stopped\n", box.e.ops->name,
                box.e.row->env ? box.e.row->env : box.e.row->set, len,
                early ? "written" : "not written");
}

/* The same for an atomic, with its old value or without. */
static void stopped_atomic(pid_t pid, int fetch)
{
    struct counted c = {{count_done}, 0, 0};
    uint64_t add = 0x0101010101010101u * 5, old = 1;
    const struct tp_atomic a = {.op = MPI_SUM, .type = 3 | 16, .n = 1, .operand = &add,
                                .result = fetch ? &old : NULL};
    int answer;
    if (!(box.e.caps.flags & TP_ATOMIC) || !box.e.ops->atomic_ok(box.e.tp, a.op, a.type, 1, fetch))
        return;
    memset(box.truth, 0, 8);
    job_check(kill(pid, SIGSTOP) == 0);
    while ((answer = box.e.ops->atomic(box.e.tp, box.far, 0, &a, &c.d)) == TP_AGAIN)
        box_poll();
    flush_watched(pid, 0, 8, &add);
    settle(answer, &c);
    job_check(old == !fetch);
}

static void stopped(void)
{
    static const size_t sizes[] = {8, 4096, 1 << 20};
    pid_t pid = 0;
    box_open();
    if (has_onesided() && box.e.rank == 0) {
        look_up("pid", box.owner, &pid, sizeof pid);
        put(0, 0, 8); /* both sides know each other */
        flush();
    }
    for (unsigned i = 0; has_onesided() && box.e.rank == 0 && i < 3; i++) {
        struct counted c = {{count_done}, 0, 0};
        int answer;
        memset(box.truth, 0, sizes[i]);
        fill(box.buf, sizes[i], 40 + i);
        job_check(kill(pid, SIGSTOP) == 0);
        while ((answer = box.e.ops->put(box.e.tp, box.far, 0, box.buf, sizes[i], box.local,
                                        &c.d)) == TP_AGAIN)
            box_poll();
        flush_watched(pid, 0, sizes[i], box.buf);
        settle(answer, &c);
    }
    for (int fetch = 0; has_onesided() && box.e.rank == 0 && fetch < 2; fetch++)
        stopped_atomic(pid, fetch);
    box_close();
}

/* --- the target sleeps -------------------------------------------------------------------- */

/* A target that waits without a descriptor of the network is woken by what it is needed for. */
static void woken(void)
{
    _Atomic uint64_t *asleep = (_Atomic uint64_t *)job_words();
    box_open();
    int tried = has_onesided() && !(box.e.caps.flags & TP_WAIT_FD);
    if (tried && box.e.rank == 0) {
        put(0, 0, 8); /* both sides know each other */
        flush();
    }
    box_barrier();
    if (tried && box.e.rank == box.owner) {
        struct pollfd p = {.fd = mem_wake_fd(), .events = POLLIN};
        mem_wake_arm();
        atomic_store(asleep, 1);
        job_check(poll(&p, 1, 20000) == 1);
        mem_wake_disarm();
    }
    if (tried && box.e.rank == 0) {
        while (!atomic_load(asleep))
            sched_yield();
        put(0, 0, 8);
        flush();
    }
    box_close();
}

/* --- the suite -------------------------------------------------------------------------- */

EACH(put_get, few)
EACH(many, many)
EACH(atomics, few)
EACH(counters, many)
EACH(mixed, many)
EACH(stopped, few)
EACH(woken, few)

Suite *suite_onesided(void)
{
    Suite *s = suite_create("tp/onesided");
    TCase *t = tcase_create("onesided");
    tcase_set_timeout(t, 90);
    tcase_add_loop_test(t, put_get_, 0, rows_count);
    tcase_add_loop_test(t, many_, 0, rows_count);
    tcase_add_loop_test(t, atomics_, 0, rows_count);
    tcase_add_loop_test(t, counters_, 0, rows_count);
    tcase_add_loop_test(t, mixed_, 0, rows_count);
    tcase_add_loop_test(t, stopped_, 0, rows_count);
    tcase_add_loop_test(t, woken_, 0, rows_count);
    suite_add_tcase(s, t);
    return s;
}

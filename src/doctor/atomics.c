/* atomics.c - what a transport promises of atomics (tp.h), alone and beside the processor's.  Start
 * with body_mixed(). */
#include "doctor/onesided.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "mpi.h"

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
    memset(one.truth, 0, 4 * GUARD);
    memcpy(one.truth + off, &old, bytes);
    memcpy(one.buf, &x, 8);
    memcpy(one.buf + 8, &compare, 8);
    memset(one.buf + 16, 0, 8);
    struct tp_atomic a = {.op = op, .type = log2, .n = 1, .operand = one.buf,
                          .compare = fetch == 2 ? one.buf + 8 : NULL,
                          .result = fetch ? one.buf + 16 : NULL};
    DO(one.e.ops->atomic(one.e.tp, one.far, off, &a, &c.d));
    memcpy(&was, one.buf + 16, bytes);
    one_flush();
    memcpy(&now, one.truth + off, bytes);
    job_check(!fetch || !memcmp(&was, &old, bytes));
    job_check(!memcmp(&now, &expected, bytes));
    job_check(one_plain(one.truth, off) && one_plain(one.truth + off + bytes, GUARD));
}

void body_atomics(void)
{
    one_open();
    job_about(FAULT_BESIDE);
    for (unsigned i = 0;
         one.e.caps.flags & TP_ATOMIC && one.e.rank == 0 && i < sizeof ops / sizeof *ops; i++)
        for (int log2 = 0; log2 < 4; log2++)
            for (int fetch = ops[i] == MPI_OP_NULL ? 2 : ops[i] == MPI_NO_OP;
                 fetch < 2 + (ops[i] == MPI_OP_NULL); fetch++) {
                int ok = one.e.ops->atomic_ok(one.e.tp, ops[i], log2, 1, fetch);
                job_check(ok == 0 || ok == 1);
                job_check(!ok || one.e.caps.atomic_sizes >> log2 & 1);
                if (!ok)
                    continue;
                const uint64_t old = 0x1122334455667788u, x = 0x0ff1ce0dead0f00du;
                one_atomic(ops[i], log2, fetch, old, x, old);
                one_atomic(ops[i], log2, fetch, old, x, old ^ 0x10);
            }
    one_close();
}

/* All add to the same words, by the transport and, where its atomics agree with the processor's,
 * directly too. */
void body_counters(void)
{
    enum { N = 500 };
    one_open();
    job_about(FAULT_BESIDE);
    int sum_ok = one.e.caps.flags & TP_ATOMIC && one.e.ops->atomic_ok(one.e.tp, MPI_SUM, 3, 1, 1);
    for (int i = 0; sum_ok && one.e.rank != one.owner && i < N; i++) {
        uint64_t add = 1, was;
        memcpy(one.buf, &add, 8);
        struct tp_atomic a = {.op = MPI_SUM, .type = 3, .n = 1, .operand = one.buf,
                              .result = i % 2 ? NULL : one.buf + 8};
        DO(one.e.ops->atomic(one.e.tp, one.far, (size_t)(i % 2) * 8, &a, &c.d));
        memcpy(&was, one.buf + 8, 8);
        job_check(i % 2 || was < (uint64_t)N * (unsigned)one.e.size);
    }
    if (sum_ok && one.e.rank != one.owner)
        one_flush();
    for (int i = 0;
         sum_ok && one.e.rank == one.owner && one.e.caps.flags & TP_CPU_COHERENT && i < N; i++) {
        atomic_fetch_add((_Atomic uint64_t *)(void *)(one.truth + i % 2 * 8), 1);
        one_poll();
    }
    one_barrier();
    if (sum_ok) {
        uint64_t v[2], per = (uint64_t)(one.e.size - !(one.e.caps.flags & TP_CPU_COHERENT)) * N / 2;
        memcpy(v, one.truth, sizeof v);
        job_check(v[0] == per && v[1] == per);
    }
    one_close();
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
    return one.truth + i * MIX_LINE;
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
    DO(one.e.ops->atomic(one.e.tp, one.far, (size_t)word * MIX_LINE, &a, &c.d));
    return old;
}

/* One of two with the transport: so many rounds, or for two seconds. The second to end marks the
 * end. */
static void mix_by_transport(int log2, int rounds)
{
    const uint64_t mine = (uint64_t)1 << one.e.rank, zero = 0, id = (uint64_t)one.e.rank + 1,
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
        atomic_fetch_add(mix64(MIX_PUT + one.e.rank), token);
        was = mix(MIX_SWAPS, log2, MPI_REPLACE, token, NULL, 1);
        atomic_fetch_add(mix64(MIX_TAKEN + one.e.rank), was);
        if (mix(MIX_LOCK, log2, MPI_REPLACE, id, &zero, 1) == 0) {
            job_check(atomic_fetch_add(mix64(MIX_IN), 1) == 0);
            one_poll();
            job_check(atomic_fetch_sub(mix64(MIX_IN), 1) == 1);
            job_check(mix(MIX_LOCK, log2, MPI_REPLACE, 0, NULL, 1) == id);
        }
    }
    one_flush();
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
            atomic_fetch_add(mix64(MIX_PUT + one.e.rank), (uint64_t)(i % 1000));                   \
            was = atomic_exchange((_Atomic T *)mix_word(MIX_SWAPS), i % 1000);                     \
            atomic_fetch_add(mix64(MIX_TAKEN + one.e.rank), (uint64_t)was);                        \
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
    int ok = (one.e.caps.flags & TP_CPU_COHERENT) != 0;
    for (unsigned i = 0; ok && i < sizeof mixed / sizeof *mixed; i++)
        ok = one.e.ops->atomic_ok(one.e.tp, mixed[i], log2, 1, 1);
    return ok && one.e.ops->atomic_ok(one.e.tp, MPI_SUM, log2, 1, 0) &&
           one.e.ops->atomic_ok(one.e.tp, MPI_OP_NULL, log2, 1, 2);
}

void body_mixed(void)
{
    enum { ROUNDS = 400 };
    one_open();
    job_about(FAULT_BESIDE);
    for (int log2 = 2; log2 < 4; log2++) {
        if (!mix_possible(log2))
            continue;
        if (one.e.rank == 0)
            memset(one.truth, 0, MIX_WORDS * MIX_LINE);
        if (one.e.rank == 2) {
            /* UCX cannot end a connection that is half made, and this process makes no progress
             * below */
            one_get(0, 0, 8);
            one_flush();
        }
        one_barrier();
        if (one.e.rank < 2) {
            mix_by_transport(log2, ROUNDS);
        } else if (one.e.rank == 2) {
            if (log2 == 2)
                MIX_BY_PROCESSOR(uint32_t);
            else
                MIX_BY_PROCESSOR(uint64_t);
        }
        one_barrier();
        uint64_t mask = UINT64_MAX >> (64 - (8 << log2)), in = 0, out = 0;
        uint64_t all = atomic_load(mix64(MIX_ADDED)) + (atomic_load(mix64(MIX_DONE)) >> 8);
        job_check((atomic_load(mix64(MIX_SUM)) & mask) == (all & mask));
        job_check((atomic_load(mix64(MIX_FETCHED)) & mask) == (all & mask));
        for (int i = 0; i < 4; i++) {
            in += atomic_load(mix64(MIX_PUT + i));
            out += atomic_load(mix64(MIX_TAKEN + i));
        }
        job_check(in == out + (atomic_load(mix64(MIX_SWAPS)) & mask));
        one_barrier();
    }
    one_close();
}

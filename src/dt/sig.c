/* sig.c - signatures: which basic elements a type has, in order, run by run. Start with sig_seq()
 * and sig_walk().
 *
 * Normalised like layouts (no empty, single or equal adjacent parts; depth bounded the same way),
 * so that counting elements in a byte range takes one division or binary search per level. */
#include "dt/dt_types.h"

#include <errno.h>
#include <stdlib.h>

static struct dt_sig *sig_alloc(enum sig_kind kind, int64_t n)
{
    size_t words = kind == SIG_SEQ ? 3 * (size_t)n + 2 : 0;
    struct dt_sig *s = calloc(1, sizeof *s + words * 8);
    if (!s)
        return NULL;
    s->refs = 1;
    s->kind = (uint8_t)kind;
    s->n = n;
    s->depth = 1;
    if (words) {
        s->cum = (int64_t *)(s + 1);
        s->cum_parts = s->cum + n + 1;
        s->kids = (struct dt_sig **)(s->cum_parts + n + 1);
    }
    return s;
}

struct dt_sig *sig_ref(struct dt_sig *s)
{
    if (s)
        s->refs++;
    return s;
}

void sig_drop(struct dt_sig *s)
{
    if (!s || --s->refs)
        return;
    sig_drop(s->kid);
    if (s->kids)
        for (int64_t i = 0; i < s->n; i++)
            sig_drop(s->kids[i]);
    free(s);
}

int sig_leaf(int64_t n, struct dt_type *basic, struct dt_sig **out)
{
    int64_t size, parts;
    *out = NULL;
    if (n == 0 || basic->elem.bytes == 0)
        return 0;
    if (mul64(n, basic->elem.bytes, &size) || mul64(n, basic->elem.parts, &parts))
        return -EOVERFLOW;
    struct dt_sig *s = sig_alloc(SIG_LEAF, n);
    if (!s)
        return -ENOMEM;
    s->basic = basic;
    s->size = size;
    s->parts = parts;
    *out = s;
    return 0;
}

int sig_rep(int64_t n, struct dt_sig *kid, struct dt_sig **out)
{
    int64_t m;
    *out = NULL;
    if (n == 0 || !kid) {
        sig_drop(kid);
        return 0;
    }
    if (n == 1) {
        *out = kid;
        return 0;
    }
    if (kid->kind != SIG_SEQ) { /* longer, not deeper */
        int over = mul64(n, kid->n, &m), err = -EOVERFLOW;
        if (!over && kid->kind == SIG_LEAF)
            err = sig_leaf(m, kid->basic, out);
        else if (!over)
            err = sig_rep(m, sig_ref(kid->kid), out);
        sig_drop(kid);
        return err;
    }
    struct dt_sig *s = sig_alloc(SIG_REP, n);
    int err = s ? 0 : -ENOMEM;
    if (s && (mul64(n, kid->size, &s->size) || mul64(n, kid->parts, &s->parts)))
        err = -EOVERFLOW;
    if (err) {
        sig_drop(kid);
        free(s);
        return err;
    }
    s->kid = kid;
    s->depth = (uint8_t)(kid->depth + 1);
    *out = s;
    return 0;
}

static int seq_takes_in(const struct dt_sig *k)
{
    return k->kind == SIG_SEQ && (k->n <= NODE_SPLICE || k->depth >= NODE_DEEP);
}

/* Append k (its reference is taken over), joining it with a leaf of the same basic type before
 * it. */
static int seq_append(struct dt_sig *s, struct dt_sig *k)
{
    struct dt_sig **last = s->n ? &s->kids[s->n - 1] : NULL;
    if (last && (*last)->kind == SIG_LEAF && k->kind == SIG_LEAF && (*last)->basic == k->basic) {
        struct dt_sig *joined;
        int64_t n;
        int err = add64((*last)->n, k->n, &n) ? -EOVERFLOW : sig_leaf(n, k->basic, &joined);
        sig_drop(k);
        if (err)
            return err;
        sig_drop(*last);
        *last = joined;
        return 0;
    }
    s->kids[s->n++] = k;
    return 0;
}

static int seq_finish(struct dt_sig *s, struct dt_sig **out)
{
    int same = 1;
    for (int64_t i = 0; i < s->n; i++) {
        const struct dt_sig *k = s->kids[i];
        same &= k == s->kids[0];
        if (add64(s->cum[i], k->size, &s->cum[i + 1]) ||
            add64(s->cum_parts[i], k->parts, &s->cum_parts[i + 1]))
            return -EOVERFLOW;
        if (k->depth >= s->depth)
            s->depth = (uint8_t)(k->depth + 1);
    }
    if (same) {
        int err = sig_rep(s->n, sig_ref(s->kids[0]), out);
        if (!err)
            sig_drop(s);
        return err;
    }
    s->size = s->cum[s->n];
    s->parts = s->cum_parts[s->n];
    *out = s;
    return 0;
}

int sig_seq(int64_t n, struct dt_sig **kids, struct dt_sig **out)
{
    int64_t room = 0;
    *out = NULL;
    for (int64_t i = 0; i < n; i++)
        if (kids[i])
            room += seq_takes_in(kids[i]) ? kids[i]->n : 1;
    if (room == 0)
        return 0;
    struct dt_sig *s = sig_alloc(SIG_SEQ, room);
    int err = s ? 0 : -ENOMEM;
    if (s)
        s->n = 0;
    for (int64_t i = 0; i < n; i++) {
        struct dt_sig *k = kids[i];
        if (!k)
            continue;
        if (!err && seq_takes_in(k)) {
            for (int64_t j = 0; j < k->n && !err; j++)
                err = seq_append(s, sig_ref(k->kids[j]));
            sig_drop(k);
        } else if (!err) {
            err = seq_append(s, k);
        } else {
            sig_drop(k);
        }
    }
    if (!err)
        err = seq_finish(s, out);
    if (err)
        sig_drop(s);
    return err;
}

int sig_walk(const struct dt_sig *s, int (*fn)(void *arg, const struct dt_type *basic, int64_t n),
             void *arg)
{
    int stop = 0;
    if (!s)
        return 0;
    if (s->kind == SIG_LEAF)
        return fn(arg, s->basic, s->n);
    for (int64_t i = 0; i < s->n && !stop; i++)
        stop = sig_walk(s->kids ? s->kids[i] : s->kid, fn, arg);
    return stop;
}

/* Bytes of the value of a pair; the index after it is an int (or of the value's type). */
static int64_t value_bytes(const struct dt_type *basic)
{
    return basic->elem.kind != DT_PAIR ? basic->elem.bytes
           : basic->elem.num == NUM_P2D ? 8 : basic->elem.bytes - 4;
}

/* Elements in the first `bytes` (less than all) of s; -1: the last one is cut. */
static int64_t sig_parts_in(const struct dt_sig *s, int64_t bytes)
{
    int64_t done = 0;
    for (;;) {
        int64_t i;
        switch (s->kind) {
        case SIG_LEAF: {
            const struct dt_type *b = s->basic;
            int64_t rest = bytes % b->elem.bytes;
            done += bytes / b->elem.bytes * b->elem.parts;
            if (rest == 0)
                return done;
            return b->elem.parts == 2 && rest == value_bytes(b) ? done + 1 : -1;
        }
        case SIG_REP:
            done += bytes / s->kid->size * s->kid->parts;
            bytes %= s->kid->size;
            s = s->kid;
            break;
        default:
            i = cum_find(s->cum, s->n, bytes);
            done += s->cum_parts[i];
            bytes -= s->cum[i];
            s = s->kids[i];
            break;
        }
        if (bytes == 0)
            return done;
    }
}

int64_t dt_elements(const struct dt_type *t, size_t bytes)
{
    if (bytes == 0)
        return 0;
    if (!t->sig)
        return -1;
    int64_t whole, n = (int64_t)bytes / t->size, rest = (int64_t)bytes % t->size;
    if (mul64(n, t->sig->parts, &whole))
        return -1;
    if (rest == 0)
        return whole;
    int64_t part = sig_parts_in(t->sig, rest);
    return part < 0 || add64(whole, part, &whole) ? -1 : whole;
}

/* Bytes of the first `parts` (less than all) elements of s. */
static int64_t sig_bytes_of(const struct dt_sig *s, int64_t parts)
{
    int64_t done = 0;
    while (parts) {
        int64_t i;
        switch (s->kind) {
        case SIG_LEAF:
            done += parts / s->basic->elem.parts * s->basic->elem.bytes;
            return done + (parts % s->basic->elem.parts ? value_bytes(s->basic) : 0);
        case SIG_REP:
            done += parts / s->kid->parts * s->kid->size;
            parts %= s->kid->parts;
            s = s->kid;
            break;
        default:
            i = cum_find(s->cum_parts, s->n, parts);
            done += s->cum[i];
            parts -= s->cum_parts[i];
            s = s->kids[i];
            break;
        }
    }
    return done;
}

int64_t dt_elements_bytes(const struct dt_type *t, int64_t n)
{
    int64_t bytes;
    if (n == 0)
        return 0;
    if (!t->sig || n < 0 || mul64(n / t->sig->parts, t->size, &bytes))
        return -1;
    return add64(bytes, sig_bytes_of(t->sig, n % t->sig->parts), &bytes) ? -1 : bytes;
}

/* --- hash -------------------------------------------------------------------
 * Each element maps x to a*x + c (mod 2^61 - 1) with one multiplier and a constant of its own;
 * sequences compose the maps, which is associative, so the result depends on the elements alone and
 * repetition is a power. */
struct affine {
    uint64_t mul, add;
};

static const uint64_t HASH_PRIME = (1ull << 61) - 1;

static uint64_t mulmod(uint64_t a, uint64_t b)
{
    unsigned __int128 p = (unsigned __int128)a * b;
    uint64_t r = (uint64_t)(p & HASH_PRIME) + (uint64_t)(p >> 61);
    return r >= HASH_PRIME ? r - HASH_PRIME : r;
}

static struct affine then(struct affine f, struct affine g)
{
    uint64_t add = mulmod(g.mul, f.add) + g.add;
    return (struct affine){mulmod(g.mul, f.mul), add >= HASH_PRIME ? add - HASH_PRIME : add};
}

static struct affine power(struct affine f, uint64_t n)
{
    struct affine r = {1, 0};
    for (; n; n >>= 1, f = then(f, f))
        if (n & 1)
            r = then(r, f);
    return r;
}

static struct affine element_map(unsigned kind, unsigned bytes)
{
    uint64_t c = 0x9e3779b97f4a7c15ull * (kind * 64 + bytes + 1);
    return (struct affine){0x1d6d3a5b1c9e4f37ull % HASH_PRIME, (c ^ c >> 29) % HASH_PRIME};
}

/* The value of a pair. */
static struct affine value_map(const struct dt_type *b)
{
    int integer = b->elem.num == NUM_PLI || b->elem.num == NUM_PSI || b->elem.num == NUM_P2I;
    return element_map(integer ? DT_SIGNED : DT_FLOAT, (unsigned)value_bytes(b));
}

static struct affine leaf_map(const struct dt_type *b)
{
    if (b->elem.kind != DT_PAIR)
        return element_map(b->elem.kind, b->elem.bytes);
    int float_index = b->elem.num == NUM_P2F || b->elem.num == NUM_P2D;
    return then(value_map(b), element_map(float_index ? DT_FLOAT : DT_SIGNED,
                                          b->elem.bytes - (unsigned)value_bytes(b)));
}

static struct affine sig_map(const struct dt_sig *s)
{
    if (s->kind == SIG_LEAF)
        return power(leaf_map(s->basic), (uint64_t)s->n);
    if (s->kind == SIG_REP)
        return power(sig_map(s->kid), (uint64_t)s->n);
    struct affine f = {1, 0};
    for (int64_t i = 0; i < s->n; i++)
        f = then(f, sig_map(s->kids[i]));
    return f;
}

/* Of the first elements of s, which has more bytes than these. */
static struct affine sig_map_part(const struct dt_sig *s, int64_t bytes)
{
    struct affine f = {1, 0};
    while (bytes) {
        if (s->kind == SIG_LEAF) {
            const struct dt_type *b = s->basic;
            f = then(f, power(leaf_map(b), (uint64_t)(bytes / b->elem.bytes)));
            int half = b->elem.parts == 2 && bytes % b->elem.bytes >= value_bytes(b);
            return half ? then(f, value_map(b)) : f;
        }
        if (s->kind == SIG_REP) {
            f = then(f, power(sig_map(s->kid), (uint64_t)(bytes / s->kid->size)));
            bytes %= s->kid->size;
            s = s->kid;
        } else {
            int64_t i = cum_find(s->cum, s->n, bytes);
            for (int64_t k = 0; k < i; k++)
                f = then(f, sig_map(s->kids[k]));
            bytes -= s->cum[i];
            s = s->kids[i];
        }
    }
    return f;
}

static uint64_t hash_of(struct affine f)
{
    return f.add ^ (f.mul << 3);
}

uint64_t dt_sig_hash(const struct dt_type *t, size_t count)
{
    if (!t->sig || !count)
        return 0;
    struct affine f = sig_map(t->sig);
    if (count != 1)
        f = power(f, count);
    return hash_of(f);
}

uint64_t dt_sig_hash_part(const struct dt_type *t, size_t bytes)
{
    if (!t->sig || !bytes)
        return 0;
    struct affine f = {1, 0};
    if (bytes >= (size_t)t->size)
        f = power(sig_map(t->sig), bytes / (size_t)t->size);
    return hash_of(then(f, sig_map_part(t->sig, (int64_t)(bytes % (size_t)t->size))));
}

static int packed_leaf(void *arg, const struct dt_type *basic, int64_t n)
{
    (void)arg;
    (void)n;
    return basic->obj.handle == MPI_PACKED;
}

int dt_sig_packed(const struct dt_type *t)
{
    return t->basic ? packed_leaf(NULL, t->basic, 1) : sig_walk(t->sig, packed_leaf, NULL);
}

/* mutate.c - a mutator that knows records, and the small things all targets share. */
#include "fuzz.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fuzz_fail(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("fuzz: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputs("\n", stderr);
    va_end(ap);
    fflush(NULL);
    abort();
}

int fuzz_verbose(void)
{
    static int verbose = -1;
    if (verbose < 0)
        verbose = getenv("FUZZ_VERBOSE") != NULL;
    return verbose;
}

/* The library's messages (base/log.c) are of no interest a million times: shown with
 * FUZZ_VERBOSE. */
ssize_t fuzz_write(int fd, const void *bytes, size_t len)
{
    int now = fuzz_verbose() || memmem(bytes, len, "assertion", 9);
    return now ? write(fd, bytes, len) : (ssize_t)len;
}

/* --- records ------------------------------------------------------------------------------ */

int feed_record(struct feed *f, struct record *r)
{
    if (f->end - f->at < RECORD_HEAD)
        return 0;
    const uint8_t *p = f->at;
    *r = (struct record){p[0], p[1], p[2], p[3], p + RECORD_HEAD, p[4] | (size_t)p[5] << 8};
    f->at += RECORD_HEAD;
    if (r->len > (size_t)(f->end - f->at))
        r->len = (size_t)(f->end - f->at);
    f->at += r->len;
    if (fuzz_verbose())
        fprintf(stderr, "record: op %u, a %u, b %u, c %u, %zu bytes\n", r->op, r->a, r->b, r->c,
                r->len);
    return 1;
}

void feed_copy(void *to, size_t n, const uint8_t *at, const uint8_t *end)
{
    size_t have = (size_t)(end - at) < n ? (size_t)(end - at) : n;
    memset(to, 0, n);
    memcpy(to, at, have);
}

size_t record_put(uint8_t *to, unsigned op, unsigned a, unsigned b, unsigned c, const void *data,
                  size_t len)
{
    const uint8_t head[RECORD_HEAD] = {(uint8_t)op, (uint8_t)a,   (uint8_t)b,
                                       (uint8_t)c,  (uint8_t)len, (uint8_t)(len >> 8)};
    memcpy(to, head, sizeof head);
    if (len)
        memcpy(to + RECORD_HEAD, data, len);
    return RECORD_HEAD + len;
}

/* --- numbers ---------------------------------------------------------------------------------- */

uint64_t rng_bits(struct rng *r)
{
    /* splitmix64 */
    uint64_t z = (r->state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

uint64_t rng_edge(struct rng *r)
{
    uint64_t v;
    switch (rng_below(r, 8)) {
    case 0: v = 0; break;
    case 1: v = rng_below(r, 9); break;
    case 2: v = 8u * rng_below(r, 40); break;
    case 3: v = 1ull << rng_below(r, 64); break;
    case 4: v = ~0ull >> rng_below(r, 64); break;
    case 5: v = rng_below(r, 1024); break;
    case 6: v = rng_bits(r); break;
    default: v = 1ull << (8 * (1 + rng_below(r, 8)) - 1); break;
    }
    if (rng_below(r, 4) == 0)
        v += (uint64_t)rng_below(r, 9) - 4;
    return rng_below(r, 16) ? v : 0 - v;
}

/* --- mutations -------------------------------------------------------------------------------- */

enum { RECORDS_MAX = 512 };
struct shape { /* where the records of an input begin */
    size_t at[RECORDS_MAX + 1];
    unsigned n;
};

static void shape_of(const uint8_t *data, size_t size, struct shape *s)
{
    struct record r;
    size_t from = fuzz_settings < size ? fuzz_settings : size;
    struct feed f = {data + from, data + size};
    s->n = 0;
    s->at[0] = from;
    while (s->n < RECORDS_MAX && feed_record(&f, &r))
        s->at[++s->n] = (size_t)(f.at - data);
}

static size_t insert(uint8_t *data, size_t size, size_t max, size_t at, const uint8_t *what,
                     size_t n)
{
    if (n > max - size)
        return size;
    memmove(data + at + n, data + at, size - at);
    memcpy(data + at, what, n);
    return size + n;
}

static void put_number(struct rng *r, uint8_t *p, size_t room)
{
    size_t width = 1u << rng_below(r, 4), slots = room / width;
    if (!slots)
        width = 1, slots = room;
    if (!slots)
        return;
    uint8_t *to = p + width * rng_below(r, (unsigned)slots);
    uint64_t v = 0;
    memcpy(&v, to, width);
    switch (rng_below(r, 4)) {
    case 0: v += (uint64_t)rng_below(r, 33) - 16; break;
    case 1: v ^= 1ull << rng_below(r, (unsigned)(8 * width)); break;
    default: v = rng_edge(r); break;
    }
    memcpy(to, &v, width);
}

static size_t change_record(struct rng *r, uint8_t *data, size_t size, size_t max,
                            const struct shape *s)
{
    uint8_t piece[4096];
    if (!s->n)
        return size;
    unsigned i = rng_below(r, s->n);
    size_t at = s->at[i], len = s->at[i + 1] - at;
    switch (rng_below(r, 8)) {
    case 0: /* drop */
        memmove(data + at, data + at + len, size - at - len);
        return size - len;
    case 1: /* once more, somewhere */
        if (len > sizeof piece)
            return size;
        memcpy(piece, data + at, len);
        return insert(data, size, max, s->at[rng_below(r, s->n + 1)], piece, len);
    case 2: /* its head, but not its length */
        put_number(r, data + at, 4);
        return size;
    case 3: /* longer or shorter */
        if (len < RECORD_HEAD || len > sizeof piece - 64)
            return size;
        memcpy(piece, data + at, len);
        size_t body = LLVMFuzzerMutate(piece + RECORD_HEAD, len - RECORD_HEAD,
                                       len - RECORD_HEAD + 64);
        memmove(data + at, data + at + len, size - at - len);
        size -= len;
        piece[4] = (uint8_t)body;
        piece[5] = (uint8_t)(body >> 8);
        return insert(data, size, max, at, piece, RECORD_HEAD + body);
    default:
        for (unsigned times = 1 + rng_below(r, 3); times && len > RECORD_HEAD; times--)
            put_number(r, data + at + RECORD_HEAD, len - RECORD_HEAD);
        return size;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    struct rng r = {seed};
    struct shape s;
    uint8_t piece[4096];
    if (size < fuzz_settings && max_size >= fuzz_settings) {
        memset(data + size, 0, fuzz_settings - size);
        size = fuzz_settings;
    }
    for (unsigned times = 1 + rng_below(&r, 3); times; times--) {
        shape_of(data, size, &s);
        unsigned what = rng_below(&r, 16);
        if (what == 0) {
            size = LLVMFuzzerMutate(data, size, max_size);
        } else if (what == 1 && fuzz_settings && size >= fuzz_settings) {
            data[rng_below(&r, (unsigned)fuzz_settings)] = (uint8_t)rng_bits(&r);
        } else if (what < 8) {
            size_t n = fuzz_template(&r, piece, sizeof piece);
            size = insert(data, size, max_size, s.at[rng_below(&r, s.n + 1)], piece, n);
        } else {
            size = change_record(&r, data, size, max_size, &s);
        }
    }
    return size;
}

/* The beginning of one, the end of the other. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t alen, const uint8_t *b, size_t blen,
                                 uint8_t *out, size_t max_out, unsigned int seed)
{
    struct rng r = {seed};
    struct shape s, t;
    shape_of(a, alen, &s);
    shape_of(b, blen, &t);
    size_t n = s.at[rng_below(&r, s.n + 1)], from = t.at[rng_below(&r, t.n + 1)];
    n = n < max_out ? n : max_out;
    size_t more = blen - from < max_out - n ? blen - from : max_out - n;
    memcpy(out, a, n);
    memcpy(out + n, b + from, more);
    return n + more;
}

/* --- what was reached ------------------------------------------------------------------------- */

enum { REACHED_MAX = 512 };
static struct {
    const char *group, *what;
    unsigned long times;
} reached[REACHED_MAX];
static unsigned nreached;

static void reached_write(void)
{
    const char *name = getenv("FUZZ_REACHED");
    FILE *f = name ? fopen(name, "a") : NULL;
    if (!f)
        return;
    for (unsigned i = 0; i < nreached; i++)
        fprintf(f, "%s %s %lu\n", reached[i].group, reached[i].what, reached[i].times);
    fclose(f);
}

void fuzz_reached(const char *group, const char *what)
{
    unsigned i = 0;
    while (i < nreached && (strcmp(reached[i].what, what) || strcmp(reached[i].group, group)))
        i++;
    if (i == REACHED_MAX)
        fuzz_fail("more than %d things to reach", REACHED_MAX);
    if (i == nreached) {
        if (!nreached++)
            atexit(reached_write);
        reached[i].group = group;
        reached[i].what = what;
    }
    reached[i].times++;
}

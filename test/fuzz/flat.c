/* flat.c - target "flat": layouts from the wire. What dt_unflat() takes must be usable by
 * everything that works on layouts: within its bounds, in bounded time, the same in one go and in
 * parts.
 *
 * An input is settings and one record per node: op is its kind, a counts back to its child, b & 1:
 * words of 8 bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "dt/dt_types.h"
#include "fuzz.h"
#include "obj/err.h"
#include "obj/obj.h"
#include "var/var.h"

const size_t fuzz_settings = 16;

enum { WORDS = 512, SPAN_MAX = 1 << 18, COUNT_MAX = 1 << 16, IOVS = 32 };
enum { RAW = 1, WRONG_NODES = 2, WRONG_BASIC = 4, CUT = 8 };

static const int basics[] = {0,
                             MPI_BYTE,
                             MPI_INT,
                             MPI_DOUBLE,
                             MPI_SHORT_INT,
                             MPI_LONG_DOUBLE,
                             MPI_C_DOUBLE_COMPLEX,
                             MPI_DOUBLE_INT,
                             MPI_LB,
                             MPI_PACKED,
                             MPI_2INT,
                             MPI_CHAR};
enum { BASICS = sizeof basics / sizeof *basics };

/* --- bytes of a layout from an input ---------------------------------------------------------- */

static size_t node_words(const struct record *r, int64_t index, int64_t *w, size_t room)
{
    size_t width = r->b & 1 ? 8 : 2, n = r->len / width, at = 0;
    unsigned kind = r->op % 6;
    int64_t kid = r->c & 1 ? r->a : index - 1 - (index > 0 ? r->a % index : 0), v[64];
    n = n < 64 ? n : 64;
    for (size_t i = 0; i < n; i++) {
        v[i] = 0;
        memcpy(&v[i], r->data + i * width, width);
        if (width == 2)
            v[i] = (int16_t)v[i];
    }
    if (n + 2 > room)
        return 0;
    w[at++] = (int64_t)(kind |
                        (kind == NODE_VECTOR || kind == NODE_INDEXED ? (uint64_t)kid << 8 : 0));
    if (kind == NODE_INDEXED)
        w[at++] = (int64_t)n;
    else if (kind == NODE_BLOCKS || kind == NODE_LIST)
        w[at++] = (int64_t)(n / 2);
    if (kind == NODE_LIST && index > 0 && !(r->c & 1))
        for (size_t i = n / 2; i < n; i++)
            v[i] = (int64_t)((uint64_t)v[i] % (uint64_t)index);
    memcpy(w + at, v, n * 8);
    return at + n;
}

/* Returns the bytes. */
static size_t build(const uint8_t *s, const uint8_t *data, const uint8_t *end, int64_t *w)
{
    struct feed f = {data, end};
    struct record r;
    int16_t lb, extent, origin;
    size_t at = 5;
    int64_t nodes = 0;
    while (nodes < 60 && at < WORDS && feed_record(&f, &r)) {
        size_t n = node_words(&r, nodes, w + at, WORDS - at);
        if (!n)
            break;
        at += n;
        nodes++;
    }
    memcpy(&lb, s + 4, 2);
    memcpy(&extent, s + 6, 2);
    memcpy(&origin, s + 8, 2);
    w[0] = (int64_t)(0x57d7 | (uint64_t)(nodes + (s[0] & WRONG_NODES ? s[1] : 0)) << 16);
    w[1] = lb;
    w[2] = extent;
    w[3] = origin;
    w[4] = s[0] & WRONG_BASIC ? (int64_t)(0x4c000000 | s[2] << 8 | s[3]) : basics[s[2] % BASICS];
    size_t len = at * 8;
    return s[0] & CUT && len > s[1] ? len - s[1] : len;
}

/* --- everything that works on layouts --------------------------------------------------------- */

static void in_parts(struct dt_type *t, size_t count, char *mem, size_t total, const char *whole,
                     size_t part)
{
    char *piece = malloc(part);
    FUZZ_CHECK(piece != NULL);
    for (size_t at = 0; at < total; at += part) {
        size_t n = total - at < part ? total - at : part;
        FUZZ_CHECK(dt_pack(t, count, mem, at, piece, n) == n && !memcmp(piece, whole + at, n));
    }
    free(piece);
}

static void look_at_blocks(struct dt_type *t, size_t count, const char *mem, size_t total,
                           const char *whole)
{
    struct iovec v[IOVS];
    size_t at = 0, bytes, blocks = 0;
    while (at < total) {
        size_t n = dt_iov(t, count, mem, at, total - at, v, IOVS, &bytes), sum = 0;
        FUZZ_CHECK(n > 0 && n <= IOVS);
        for (size_t i = 0; i < n; i++) {
            FUZZ_CHECK(!memcmp(v[i].iov_base, whole + at + sum, v[i].iov_len));
            sum += v[i].iov_len;
        }
        FUZZ_CHECK(sum == bytes);
        at += bytes;
        blocks += n;
    }
    FUZZ_CHECK(blocks <= dt_blocks(t, count) + (total + 1) / IOVS + 1);
}

static void accumulate(struct dt_type *t, size_t count, char *mem, size_t total)
{
    if (!t->basic || t->elem.kind == DT_NONE || !t->elem.bytes)
        return;
    char *in = calloc(1, total + 1);
    FUZZ_CHECK(in != NULL);
    for (int i = 1; i < DT_OPS; i++) {
        struct dt_op *op = dt_op_find((MPI_Op)(0x58000000 | i));
        if (!dt_op_check(op, t, DT_FOR_ACC))
            dt_op_unpack(op, t, count, mem, 0, in, total - total % t->elem.bytes);
    }
    free(in);
}

static void use(struct dt_type *t, size_t count, size_t part)
{
    size_t total;
    int64_t lo, hi;
    dt_sig_hash(t, count);
    dt_elements(t, 100);
    dt_elements_bytes(t, 7);
    if (dt_total(t, count, &total) || dt_bounds(t, count, &lo, &hi) || hi - lo > SPAN_MAX ||
        total > SPAN_MAX)
        return;
    fuzz_reached("flat", "used");
    /* Exactly the memory that it claims to touch. */
    char *all = malloc((size_t)(hi - lo) + 1), *mem = (char *)((uintptr_t)all - (uintptr_t)lo);
    char *whole = malloc(total + 1);
    FUZZ_CHECK(all && whole);
    for (int64_t i = 0; i < hi - lo; i++)
        all[i] = (char)(i * 7 + 1);
    FUZZ_CHECK(dt_pack(t, count, mem, 0, whole, total) == total);
    in_parts(t, count, mem, total, whole, part);
    look_at_blocks(t, count, mem, total, whole);
    FUZZ_CHECK(dt_unpack(t, count, mem, 0, whole, total) == total);
    dt_copy(mem, count, t, whole, total, dt_find(MPI_BYTE));
    accumulate(t, count, mem, total);
    free(all);
    free(whole);
}

/* --- one input -------------------------------------------------------------------------------- */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char why[256];
    (void)argc;
    (void)argv;
    /* a process without launcher */
    if (var_init(why, sizeof why) || boot_init(NULL) || obj_init() || dt_init())
        fuzz_fail("the rooms do not start");
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t s[16];
    int64_t w[WORDS];
    if (size < sizeof s || size > 8192)
        return -1;
    memcpy(s, data, sizeof s);
    size_t len = size - sizeof s;
    const void *flat = data + sizeof s;
    if (!(s[0] & RAW)) {
        len = build(s, data + sizeof s, data + size, w);
        flat = w;
    }
    char *exact = malloc(len + 1);
    FUZZ_CHECK(exact != NULL);
    memcpy(exact + 1, flat, len); /* misaligned, and its end is the end */
    struct dt_type *t = NULL, *u = NULL;
    int err = dt_unflat(exact + 1, len, &t);
    free(exact);
    fuzz_reached("flat", err ? "refused" : "taken");
    if (err) {
        FUZZ_CHECK(err_class(err) == MPI_ERR_TYPE || err_class(err) == MPI_ERR_NO_MEM);
        return 0;
    }
    uint16_t count;
    memcpy(&count, s + 10, 2);
    use(t, count & 1023, 1 + s[12]);
    use(t, SIZE_MAX >> (s[13] & 63), 64);
    /* There and back again. */
    size_t n;
    const void *again = dt_flat(t, &n);
    FUZZ_CHECK(again && dt_unflat(again, n, &u) == MPI_SUCCESS && dt_hash(t) == dt_hash(u));
    FUZZ_CHECK(t->size == u->size && t->extent == u->extent && t->true_lb == u->true_lb &&
               t->true_ub == u->true_ub);
    dt_drop(t);
    dt_drop(u);
    return 0;
}

/* --- new records ------------------------------------------------------------------------------ */

size_t fuzz_template(struct rng *r, uint8_t *to, size_t room)
{
    int16_t v[16];
    unsigned kind = rng_below(r, 5), n = 2 + rng_below(r, 4),
             a = rng_below(r, 4) ? 0 : rng_below(r, 8);
    (void)room;
    if (kind == NODE_BLOCK)
        return v[0] = (int16_t)(4 * (1 + rng_below(r, 8))), record_put(to, kind, 0, 0, 0, v, 2);
    if (kind == NODE_VECTOR) {
        v[0] = (int16_t)(2 + rng_below(r, 6));
        v[1] = (int16_t)((int)rng_below(r, 200) - 40);
        return record_put(to, kind, a, 0, 0, v, 4);
    }
    for (unsigned i = 0; i < n; i++)
        v[i] = (int16_t)(i * 24 + rng_below(r, 16));
    for (unsigned i = n; i < 2 * n; i++)
        v[i] = (int16_t)(kind == NODE_BLOCKS ? 4 * (1 + rng_below(r, 4)) : rng_below(r, 8));
    return record_put(to, kind, a, 0, 0, v, 2 * (kind == NODE_INDEXED ? n : 2 * n));
}

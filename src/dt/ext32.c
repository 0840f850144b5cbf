/* ext32.c - the external32 data representation (MPI-3.1 13.5.2): big-endian, IEEE, fixed sizes, no
 * gaps. Start with dt_ext_pack().
 *
 * Runs of equal elements (from the signature) are packed through a small buffer and converted one
 * by one. If an integer has fewer external bytes (MPI_LONG: 4) and its value does not fit, that is
 * MPI_ERR_CONVERSION. */
#include "dt/dt_types.h"

#include <string.h>

#include "obj/err.h"

#ifdef __SIZEOF_FLOAT128__
typedef __float128 quad;
#else
typedef long double quad;
#endif

enum { EXT_BUF = 4096 };

/* One number inside a basic element: `mem` bytes here, `ext` bytes outside. */
struct field {
    uint8_t kind, mem, ext;
};

/* The numbers of an element, in order; how many. */
static int fields_of(const struct dt_elem *e, struct field *f)
{
    f[0] = (struct field){e->kind, e->bytes, e->ext32};
    f[1] = (struct field){DT_SIGNED, 4, 4};
    switch (e->kind) {
    case DT_COMPLEX:
        f[0] = f[1] = (struct field){DT_FLOAT, e->bytes / 2, e->ext32 / 2};
        return 2;
    case DT_PAIR:
        if (e->num == NUM_P2F || e->num == NUM_P2D) {
            f[0] = f[1] = (struct field){DT_FLOAT, e->bytes / 2, e->ext32};
            return 2;
        }
        f[0].mem = e->bytes - 4;
        f[0].kind = e->num == NUM_PFI || e->num == NUM_PDI || e->num == NUM_PLDI ? DT_FLOAT
                                                                                 : DT_SIGNED;
        return 2;
    case DT_OPAQUE: /* MPI_WCHAR: 2 bytes outside; MPI_PACKED: a byte */
        f[0].kind = DT_UNSIGNED;
        return 1;
    default: return 1;
    }
}

static size_t ext_bytes(const struct dt_elem *e)
{
    struct field f[2];
    int n = fields_of(e, f);
    return f[0].ext + (n == 2 ? f[1].ext : 0u);
}

static void put_big(char *out, const char *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        out[i] = in[n - 1 - i];
#else
        out[i] = in[i];
#endif
}

static int64_t load_int(const char *p, const struct field *f)
{
    int sign = f->kind == DT_SIGNED;
    switch (f->mem) {
    case 1: return sign ? *(const int8_t *)p : (int64_t)*(const uint8_t *)p;
    case 2: {
        int16_t v;
        memcpy(&v, p, 2);
        return sign ? v : (int64_t)(uint16_t)v;
    }
    case 4: {
        int32_t v;
        memcpy(&v, p, 4);
        return sign ? v : (int64_t)(uint32_t)v;
    }
    default: {
        int64_t v;
        memcpy(&v, p, 8);
        return v;
    }
    }
}

static int out_of_range(const struct field *f)
{
    return err_make(MPI_ERR_CONVERSION,
                    "%s: an integer of %d bytes does not fit the %d bytes of external32",
                    proc->call ? proc->call : "external32", f->mem, f->ext);
}

static int is_long_double(const struct field *f)
{
    return f->kind == DT_FLOAT && f->mem == sizeof(long double) && __LDBL_MANT_DIG__ == 64;
}

/* real16: MPI_REAL16, an IEEE quad; the caller distinguishes it from the long double of the same
 * size */
static int put_field(const struct field *f, int real16, const char *in, char *out)
{
    if (is_long_double(f) && !real16) {
        long double v;
        memcpy(&v, in, sizeof v);
        quad q = v;
        put_big(out, (const char *)&q, sizeof q);
        return MPI_SUCCESS;
    }
    if (f->mem == f->ext) {
        put_big(out, in, f->ext);
        return MPI_SUCCESS;
    }
    int64_t v = load_int(in, f);
    int bits = 8 * f->ext;
    if (f->kind == DT_SIGNED ? v < -(1ll << (bits - 1)) || v >= 1ll << (bits - 1)
                             : (uint64_t)v >> bits != 0)
        return out_of_range(f);
    for (int i = f->ext - 1; i >= 0; i--, v >>= 8)
        out[i] = (char)v;
    return MPI_SUCCESS;
}

static void get_field(const struct field *f, int real16, const char *in, char *out)
{
    if (is_long_double(f) && !real16) {
        quad q;
        put_big((char *)&q, in, sizeof q);
        long double v = (long double)q;
        memset(out, 0, sizeof v);
        memcpy(out, &v, 10); /* the value; the other bytes are padding */
        return;
    }
    if (f->mem == f->ext) {
        put_big(out, in, f->ext);
        return;
    }
    int64_t v = f->kind == DT_SIGNED && (in[0] & 0x80) ? -1 : 0;
    for (int i = 0; i < f->ext; i++)
        v = (int64_t)((uint64_t)v << 8 | (uint8_t)in[i]);
    switch (f->mem) { /* only wider in memory: 4 (MPI_WCHAR) or 8 */
    case 4: {
        int32_t w = (int32_t)v;
        memcpy(out, &w, 4);
        break;
    }
    default: memcpy(out, &v, 8); break;
    }
}

/* --- one run of equal elements ------------------------------------------------- */
struct ext {
    const struct dt_type *t;
    size_t count;
    char *buf; /* user's memory */
    char *out; /* external32 bytes */
    size_t from; /* packed position */
    int err;
    size_t left; /* unpack: external bytes that are there */
};

static int pack_run(void *arg, const struct dt_type *basic, int64_t n)
{
    struct ext *x = arg;
    struct field f[2];
    char tmp[EXT_BUF];
    const struct dt_elem *e = &basic->elem;
    int nf = fields_of(e, f), real16 = e->num == NUM_F128 || e->num == NUM_C128;
    while (n && !x->err) {
        size_t m = EXT_BUF / e->bytes < (uint64_t)n ? EXT_BUF / e->bytes : (size_t)n;
        size_t len = dt_pack(x->t, x->count, x->buf, x->from, tmp, m * e->bytes);
        const char *in = tmp;
        for (size_t i = 0; i < m && !x->err; i++)
            for (int k = 0; k < nf && !x->err; k++) {
                x->err = put_field(&f[k], real16, in, x->out);
                in += f[k].mem;
                x->out += f[k].ext;
            }
        x->from += len;
        n -= (int64_t)m;
    }
    return x->err;
}

static int unpack_run(void *arg, const struct dt_type *basic, int64_t n)
{
    struct ext *x = arg;
    struct field f[2];
    char tmp[EXT_BUF];
    const struct dt_elem *e = &basic->elem;
    int nf = fields_of(e, f), real16 = e->num == NUM_F128 || e->num == NUM_C128;
    size_t one = ext_bytes(e), there = x->left / one;
    int cut = there < (uint64_t)n;
    n = cut ? (int64_t)there : n;
    x->left -= (size_t)n * one;
    while (n) {
        size_t m = EXT_BUF / e->bytes < (uint64_t)n ? EXT_BUF / e->bytes : (size_t)n;
        char *out = tmp;
        for (size_t i = 0; i < m; i++)
            for (int k = 0; k < nf; k++) {
                get_field(&f[k], real16, x->out, out);
                out += f[k].mem;
                x->out += f[k].ext;
            }
        x->from += dt_unpack(x->t, x->count, x->buf, x->from, tmp, m * e->bytes);
        n -= (int64_t)m;
    }
    if (cut) /* nothing behind an element that is not whole */
        x->left = 0;
    return cut;
}

static int each_run(struct ext *x, int (*fn)(void *, const struct dt_type *, int64_t))
{
    const struct dt_sig *s = x->t->sig;
    if (s && s->kind == SIG_LEAF) /* all instances are one run */
        return fn(x, s->basic, s->n * (int64_t)x->count);
    for (size_t i = 0; i < x->count && !x->err && x->left; i++)
        sig_walk(s, fn, x);
    return x->err;
}

int dt_ext_pack(const struct dt_type *t, size_t count, const void *buf, void *out)
{
    struct ext x = {t, count, (char *)(uintptr_t)buf, out, 0, MPI_SUCCESS, SIZE_MAX};
    return each_run(&x, pack_run);
}

int dt_ext_unpack(const struct dt_type *t, size_t count, void *buf, const void *in)
{
    dt_ext_unpack_part(t, count, buf, in, SIZE_MAX);
    return MPI_SUCCESS;
}

size_t dt_ext_unpack_part(const struct dt_type *t, size_t count, void *buf, const void *in,
                          size_t len)
{
    struct ext x = {t, count, buf, (char *)(uintptr_t)in, 0, MPI_SUCCESS, len};
    each_run(&x, unpack_run);
    return x.from;
}

/* --- size ---------------------------------------------------------------------- */
static int64_t sig_ext_size(const struct dt_sig *s)
{
    int64_t sum = 0;
    if (s->kind == SIG_LEAF)
        return mul64(s->n, (int64_t)ext_bytes(&s->basic->elem), &sum) ? -1 : sum;
    if (s->kind == SIG_REP) {
        int64_t one = sig_ext_size(s->kid);
        return one < 0 || mul64(one, s->n, &sum) ? -1 : sum;
    }
    for (int64_t i = 0; i < s->n; i++) {
        int64_t one = sig_ext_size(s->kids[i]);
        if (one < 0 || add64(sum, one, &sum))
            return -1;
    }
    return sum;
}

int dt_ext_size(const struct dt_type *t, size_t count, size_t *bytes)
{
    int64_t one = t->sig ? sig_ext_size(t->sig) : 0, all;
    if (one < 0 || count > INT64_MAX || mul64(one, (int64_t)count, &all))
        return err_make(MPI_ERR_COUNT, "%s: the external32 size does not fit 63 bits",
                        proc->call ? proc->call : "external32");
    *bytes = (size_t)all;
    return MPI_SUCCESS;
}

/* random.c - random datatypes against the oracle of dtgen.h: size, extents, pack, unpack in pieces,
 * external32 round trip, transfer to a differently shaped type of the same signature, contents
 * rebuilt.
 *
 *   random [--seed S] [--types N] [--external 0]     (0: leave external32 out) */
#include "../mt.h"
#include "../dtgen.h"

static void fail(uint64_t seed, const struct dtg *d, size_t count, const char *what)
{
    MUST(0, "seed %llu: %s: %zu x %s", (unsigned long long)seed, what, count, d->text);
}

/* A buffer that holds count copies of d and a margin; *origin is where the type's offset 0 lies. */
static char *buffer(const struct dtg *d, size_t count, char **origin, size_t *bytes, unsigned seed)
{
    MPI_Aint low, high;
    char *p;

    dtg_reach(d, count, &low, &high);
    if (high < low)
        high = low;
    *bytes = (size_t)(high - low) + 64;
    p = mt_alloc(*bytes + 32);
    mt_fill(p, *bytes, seed);
    *origin = p + 32 - low;
    return p;
}

static void extents(uint64_t seed, const struct dtg *d)
{
    MPI_Aint lb, ext, low, high;
    int size;
    MPI_Count csize;

    MPI_Type_size(d->type, &size);
    MPI_Type_size_x(d->type, &csize);
    if ((size_t)size != dtg_bytes(d, 1) || (size_t)csize != dtg_bytes(d, 1))
        fail(seed, d, 1, "size");
    MPI_Type_get_extent(d->type, &lb, &ext);
    if (lb != d->lb || ext != d->ub - d->lb) {
        fail(seed, d, 1, "extent");
        MUST(0, "lb %ld extent %ld, expected %ld %ld", (long)lb, (long)ext, (long)d->lb,
             (long)(d->ub - d->lb));
    }
    MPI_Type_get_true_extent(d->type, &lb, &ext);
    dtg_span(d, &low, &high);
    if (lb != low || ext != high - low)
        fail(seed, d, 1, "true extent");
}

static void packing(uint64_t seed, const struct dtg *d, size_t count)
{
    size_t bytes, data = dtg_bytes(d, count);
    char *o, *p = buffer(d, count, &o, &bytes, (unsigned)seed), *want = mt_alloc(data),
             *got = mt_alloc(data + 1000);
    char *o2, *p2 = buffer(d, count, &o2, &bytes, 99), *q = mt_alloc(bytes), *oq = q + (o2 - p2);
    int pos = 0, size;

    dtg_pack(d, count, o, want);
    MPI_Pack_size((int)count, d->type, MPI_COMM_WORLD, &size);
    if ((size_t)size < data)
        fail(seed, d, count, "pack_size");
    MPI_Pack(o, (int)count, d->type, got, (int)data + 1000, &pos, MPI_COMM_WORLD);
    if ((size_t)pos != data || memcmp(got, want, data))
        fail(seed, d, count, "pack");
    memcpy(q, p2, bytes);
    dtg_unpack(d, count, oq, want);
    pos = 0;
    MPI_Unpack(want, (int)data, &pos, o2, (int)count, d->type, MPI_COMM_WORLD);
    if ((size_t)pos != data || memcmp(p2, q, bytes))
        fail(seed, d, count, "unpack");
    free(p), free(want), free(got), free(p2), free(q);
}

static void external(uint64_t seed, const struct dtg *d, size_t count)
{
    size_t bytes;
    char *o, *p = buffer(d, count, &o, &bytes, (unsigned)seed), *o2,
             *p2 = buffer(d, count, &o2, &bytes, 7), *ext;
    MPI_Aint size = 0, pos = 0;
    size_t i;
    int base, bad = 0;

    MPI_Pack_external_size("external32", (int)count, d->type, &size);
    if ((size_t)size != dtg_bytes(d, count))
        fail(seed, d, count, "pack_external_size");
    ext = mt_alloc((size_t)size);
    MPI_Pack_external("external32", o, (int)count, d->type, ext, size, &pos);
    if (pos != size)
        fail(seed, d, count, "pack_external");
    pos = 0;
    for (i = 0; i < d->n * count; i++) {    /* integers are big endian */
        const char *e = o + dtg_where(d, i, &base);
        int k, n = dtg_base_size(base);

        for (k = 0; k < n && base < B_FLOAT; k++)
            bad += ext[pos + n - 1 - k] != e[k];
        pos += n;
    }
    if (bad)
        fail(seed, d, count, "external32 bytes");
    pos = 0;
    MPI_Unpack_external("external32", ext, size, &pos, o2, (int)count, d->type);
    for (i = 0, bad = 0; i < d->n * count; i++) {
        MPI_Aint w = dtg_where(d, i, &base);

        if (base < B_FLOAT)
            bad += memcmp(o + w, o2 + w, (size_t)dtg_base_size(base)) != 0;
    }
    if (bad)
        fail(seed, d, count, "unpack_external");
    free(ext);
    free(p);
    free(p2);
}

/* Sends count x d around the ring into another layout of the same element type. */
static void transfer(uint64_t seed, struct dtg_rng *r, const struct dtg_how *how,
                     const struct dtg *d, size_t count)
{
    int right = (mt_rank + 1) % mt_size, left = (mt_rank + mt_size - 1) % mt_size, n;
    size_t total = d->n * count, c2, bytes, data = dtg_bytes(d, count);
    struct dtg e;
    char *o, *p, *o2, *p2, *q, *packed = mt_alloc(data);
    MPI_Status st;

    c2 = (size_t)dtg_factor(r, total);
    dtg_random(r, how, total / c2, &e);
    MPI_Type_commit(&e.type);
    p = buffer(d, count, &o, &bytes, (unsigned)seed + (unsigned)left);
    dtg_pack(d, count, o, packed);
    free(p);
    p = buffer(d, count, &o, &bytes, (unsigned)seed + (unsigned)mt_rank);
    p2 = buffer(&e, c2, &o2, &bytes, 5);
    q = mt_alloc(bytes);
    memcpy(q, p2, bytes);
    dtg_unpack(&e, c2, q + (o2 - p2), packed);
    MPI_Sendrecv(o, (int)count, d->type, right, 1, o2, (int)c2, e.type, left, 1, MPI_COMM_WORLD,
                 &st);
    if (memcmp(p2, q, bytes)) {
        fail(seed, d, count, "sent");
        fail(seed, &e, c2, "received");
    }
    MPI_Get_elements(&st, e.type, &n);
    if ((size_t)n != total)
        fail(seed, &e, c2, "get_elements");
    free(p), free(p2), free(q), free(packed);
    dtg_free(&e);
}

static void one(uint64_t seed, int with_external)
{
    struct dtg_rng r;
    struct dtg_how how;
    struct dtg d;
    size_t n, count;

    rng_seed(&r, seed);
    how.base = rng_below(&r, 3) ? rng_below(&r, DTG_BASES) : -1;
    how.misaligned = rng_below(&r, 3) == 0;
    how.negative = rng_below(&r, 2);
    how.depth = rng_below(&r, 5);
    n = (size_t)(1 + rng_below(&r, rng_below(&r, 10) == 0 ? 20000 : 60));
    count = (size_t)(1 + rng_below(&r, n > 1000 ? 3 : 12));
    dtg_random(&r, &how, n, &d);
    extents(seed, &d);
    MPI_Type_commit(&d.type);
    packing(seed, &d, count);
    if (with_external)
        external(seed, &d, count);
    if (how.base >= 0)
        transfer(seed, &r, &how, &d, count);
    dtg_free(&d);
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, k, n = 400;
    int i, with_external = 1;

    mt_init(&argc, &argv);
    for (i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--types") == 0)
            n = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--external") == 0)
            with_external = atoi(argv[i + 1]);
    }
    for (k = 0; k < n; k++)
        one(seed + k, with_external);
    return mt_finish();
}

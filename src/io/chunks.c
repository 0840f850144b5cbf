/* chunks.c - whether a collective access goes by way of aggregators, and where their chunks are.
 * Start with chunks_own() and chunks_pay(). */
#include "io/chunks.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { SHORT_BLOCK = 65536, SPARSE = 4 };

/* --- the decision ----------------------------------------------------------------------------- */
static int64_t blocks_of(const struct transfer *x)
{
    size_t per = dt_blocks(x->ftype, 1);
    int64_t tiles = (int64_t)(x->len / (size_t)x->ftype->size) + 1;
    return x->contig ? 1 : tiles > INT64_MAX / (int64_t)per ? INT64_MAX : tiles * (int64_t)per;
}

static void own_place(const struct access *c, int64_t *all)
{
    const struct transfer *x = &c->x;
    const struct view *v = &c->a.f->view;
    struct iovec b;
    size_t got;
    uint64_t bits = (v->contig ? 0 : v->bits) | (uint64_t)x->disp | (uint64_t)x->from |
                    (uint64_t)x->len | CHUNK_PAGE;
    view_blocks(x->ftype, x->disp, x->from, 1, &b, 1, &got);
    all[ALL_LO] = -(int64_t)(uintptr_t)b.iov_base;
    view_blocks(x->ftype, x->disp, x->from + (int64_t)x->len - 1, 1, &b, 1, &got);
    all[ALL_HI] = (int64_t)(uintptr_t)b.iov_base + 1;
    all[ALL_UNIT] = -(int64_t)(bits & -bits);
    all[ALL_BYTES] = (int64_t)x->len;
    all[ALL_BLOCKS] = blocks_of(x);
    all[ALL_MEAN] = -((int64_t)x->len / all[ALL_BLOCKS]);
    int tiles = (x->from + (int64_t)x->len - 1) / v->fsize > x->from / v->fsize;
    all[ALL_REFUSED] |= !v->contig && (!v->ascending || (tiles && !v->tiles_ascend));
}

void chunks_own(const struct access *c, int err, int64_t *all)
{
    struct io_file *f = c->a.f;
    const struct hints *h = &f->hints;
    enum choice cb = c->a.write ? h->cb_write : h->cb_read;
    struct stat st = {0};
    memset(all, 0, ALL_COUNT * sizeof *all);
    all[ALL_ERROR] = err ? err_class(err) : 0;
    all[ALL_LO] = all[ALL_MEAN] = -INT64_MAX;
    all[ALL_UNIT] = -CHUNK_PAGE;
    all[ALL_REFUSED] = cb == CHOICE_NO || f->atomic;
    all[ALL_WANTED] = cb == CHOICE_YES;
    all[ALL_NODES] = h->cb_nodes;
    all[ALL_NODES_NEG] = -h->cb_nodes;
    all[ALL_ROOM] = h->cb_buffer_size;
    all[ALL_ROOM_NEG] = -h->cb_buffer_size;
    all[ALL_STRIPE] = h->striping_unit;
    all[ALL_STRIPE_NEG] = -h->striping_unit;
    if (!c->a.write && !fstat(f->fd, &st))
        all[ALL_SIZE] = st.st_size;
    if (!err && c->x.len)
        own_place(c, all);
}

/* Every round costs a fence. Are there more of them than parts of buffers that data can fill? */
static int rounds_are_empty(const struct io_file *f, const int64_t *all)
{
    double room = (double)all[ALL_ROOM], rounds = (double)(all[ALL_HI] + all[ALL_LO]) / room /
                                                  (double)all[ALL_NODES];
    double each = (double)all[ALL_BLOCKS] + (double)all[ALL_BYTES] / room + 1;
    return rounds > each * f->comm->size;
}

/* Processes with other hints would look for a chunk in another place. */
static int hints_differ(const int64_t *all)
{
    return all[ALL_NODES] != -all[ALL_NODES_NEG] || all[ALL_ROOM] != -all[ALL_ROOM_NEG] ||
           all[ALL_STRIPE] != -all[ALL_STRIPE_NEG];
}

/* Independent access is better where the blocks are long, or lie far from each other. */
int chunks_pay(const struct io_file *f, const int64_t *all)
{
    int64_t span = all[ALL_HI] + all[ALL_LO];
    if (all[ALL_ERROR] || all[ALL_REFUSED] || span <= 0 || hints_differ(all))
        return 0;
    if (all[ALL_HI] > INT64_MAX / 2 || rounds_are_empty(f, all)) /* the last round fits 63 bits */
        return 0;
    if (all[ALL_WANTED])
        return 1;
    return all[ALL_BLOCKS] > 1 && -all[ALL_MEAN] < SHORT_BLOCK &&
           all[ALL_BYTES] >= span / f->comm->size / SPARSE;
}

/* --- places ----------------------------------------------------------------------------------- */
void chunks_plan(struct chunks *k, const int64_t *all, int64_t room, int write)
{
    int64_t stripe = all[ALL_STRIPE] > CHUNK_PAGE ? all[ALL_STRIPE] : CHUNK_PAGE, share;
    stripe = stripe > room || stripe % CHUNK_PAGE ? CHUNK_PAGE : stripe;
    k->nodes = (int)all[ALL_NODES];
    k->write = write;
    k->lo = -all[ALL_LO];
    k->hi = all[ALL_HI];
    k->unit = -all[ALL_UNIT];
    k->size = all[ALL_SIZE];
    k->base = k->lo / stripe * stripe;
    share = (k->hi - k->base + k->nodes - 1) / k->nodes;
    k->chunk = (share + stripe - 1) / stripe * stripe;
    if (k->chunk > room)
        k->chunk = room / stripe * stripe;
    k->rounds = (k->hi - k->base + k->chunk * k->nodes - 1) / (k->chunk * k->nodes);
}

int64_t chunks_end(const struct chunks *k, int64_t round)
{
    int64_t end = k->base + (round + 1) * k->chunk * k->nodes;
    return !k->write && k->size < end ? k->size : end;
}

size_t chunks_at(const struct chunks *k, int64_t round, int node, int64_t *off, size_t *skip)
{
    *off = k->base + (round * k->nodes + node) * k->chunk;
    int64_t end = *off + k->chunk < k->hi ? *off + k->chunk : k->hi;
    *skip = *off < k->lo && !k->write ? (size_t)(k->lo - *off) : 0;
    return end > *off + (int64_t)*skip ? (size_t)(end - *off) : 0;
}

/* Each run of the map; all of them lie in [from, n). */
static void write_runs(struct transfer *x, int64_t off, size_t from, size_t n, size_t unit,
                       char *buffer, const char *map)
{
    while (from < n && !x->err) {
        const char *set = memchr(map + from, 1, n - from);
        if (!set)
            break;
        size_t first = (size_t)(set - map);
        const char *gap = memchr(set, 0, n - first);
        size_t last = gap ? (size_t)(gap - map) : n;
        posix_block(x, off + (int64_t)(first * unit), buffer + first * unit, (last - first) * unit);
        from = last;
    }
}

/* Where writes lock, one lock holds from the first byte to the last one. */
void chunks_write(struct transfer *x, int64_t off, size_t len, size_t unit, char *buffer, char *map)
{
    size_t n = (len + unit - 1) / unit;
    const char *first = memchr(map, 1, n);
    if (!first)
        return;
    const char *last = memrchr(first, 1, n - (size_t)(first - map));
    size_t from = (size_t)(first - map), to = (size_t)(last - map) + 1;
    int64_t lo = off + (int64_t)(from * unit), hi = off + (int64_t)(to * unit);
    if (!x->err && (!x->guard || range_hold(x, F_WRLCK, lo, hi))) {
        write_runs(x, off, from, to, unit, buffer, map);
        if (x->guard)
            range_release(x, lo, hi);
    }
    memset(map, 0, n);
}

/* --- errors ----------------------------------------------------------------------------------- */
void outcome_own(const struct access *c, int err, int64_t *v)
{
    v[OUTCOME_ERRNO] = c->x.err;
    v[OUTCOME_CLASS] = err ? err_class(err) : 0;
}

/* An error of the own transfer is reported by access_finish(). */
int outcome_of_all(struct access *c, int err, const int64_t *v)
{
    if (v[OUTCOME_ERRNO] || v[OUTCOME_CLASS])
        c->x.done = 0;
    if (err || c->x.err)
        return err;
    if (v[OUTCOME_ERRNO])
        return io_errno((int)v[OUTCOME_ERRNO], c->a.f->name,
                        "an aggregator of the collective access failed");
    if (v[OUTCOME_CLASS])
        return err_make((int)v[OUTCOME_CLASS],
                        "%s: file \"%s\": the collective access failed on another process",
                        io_call(), c->a.f->name);
    return MPI_SUCCESS;
}

/* two_phase.c - collective access: the data meet in windows of a few aggregators.
 *
 *   file   | chunk 0 | chunk 1 | chunk 2 | chunk 3 | chunk 4 ...   from `base` on
 *          | aggr. 0 | aggr. 1 | aggr. 0 | aggr. 1 | aggr. 0       (two of them)
 *          '---- round 0 ------'----- round 1 -----'
 *
 * A process stores each of its blocks where it belongs in the aggregator's buffer, and marks it in
 * a map: one byte for each `unit` bytes, which divides all offsets and lengths. No list of offsets
 * is sent. After a fence each aggregator writes its chunk: by one call, or, where the map shows
 * gaps, one for each run. There are two buffers, so the others go on with the next round meanwhile.
 * Reads go the other way.
 *
 * Invariant: buffer r % 2 is used again only after the fence of round r + 1. */
#include "io/io_types.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "coll/coll.h"
#include "rma/rma.h"

enum { BATCH = 256, PAGE = 4096, SHORT_BLOCK = 65536, SPARSE = 4 };

struct two_phase {
    struct rma_win *win;
    int nodes, mine; /* aggregators; which of them this process is, or -1 */
    int far;         /* some process does not reach all buffers by load and store */
    int64_t room;    /* bytes of one buffer, and of one map */
    int64_t clean;   /* of each map, so many bytes are 0 between accesses */
    char *own;       /* buffer, map, buffer, map */
    char **near;     /* of each aggregator; NULL: by messages */
};

/* One collective access. Bytes of the file, all processes together: [lo, hi). */
struct meeting {
    struct two_phase *p;
    struct transfer *x;
    int64_t lo, hi, base, chunk, unit, size;
    int64_t rounds;
    size_t at; /* own data before this position are done */
    char *stage;
    size_t staged;
    struct dt_type *byte;
};

static int rank_of(const struct io_file *f, const struct two_phase *p, int node)
{
    return (int)((int64_t)node * f->comm->size / p->nodes);
}

void two_phase_free(struct io_file *f)
{
    struct two_phase *p = f->phases;
    if (!p)
        return;
    if (p->win)
        rma_win_free(p->win);
    free(p->near);
    free(p);
    f->phases = NULL;
}

static int find_near(struct io_file *f, struct two_phase *p)
{
    int64_t far = 0;
    for (int i = 0; i < p->nodes; i++) {
        MPI_Aint size, unit;
        int err = rma_win_shared_query(p->win, rank_of(f, p, i), &size, &unit, &p->near[i]);
        if (err)
            return err;
        far |= !p->near[i];
    }
    int err = coll_allreduce_i64(&far, 1, COLL_MAX, f->comm);
    p->far = far != 0;
    return err;
}

static int phases_make(struct io_file *f)
{
    struct two_phase *p = calloc(1, sizeof *p);
    int err = MPI_SUCCESS;
    if (p) {
        p->nodes = f->hints.cb_nodes;
        p->room = (f->hints.cb_buffer_size + PAGE - 1) / PAGE * PAGE;
        p->near = calloc((size_t)p->nodes, sizeof *p->near);
        p->mine = -1;
        for (int i = 0; i < p->nodes; i++)
            p->mine = rank_of(f, p, i) == f->comm->rank ? i : p->mine;
    }
    if (!p || !p->near)
        err = err_make(MPI_ERR_NO_MEM, "%s: no memory for a collective access", io_call());
    f->phases = p;
    err = coll_agree_error(err, f->comm);
    if (!err)
        err = rma_win_allocate(p->mine < 0 ? 0 : 4 * p->room, 1, NULL, f->comm, &p->own, &p->win);
    if (!err)
        err = find_near(f, p);
    if (err)
        two_phase_free(f);
    return err;
}

/* The buffers are made for some hints. All processes come here with the same ones. */
static int phases_get(struct io_file *f)
{
    const struct two_phase *p = f->phases;
    if (p && p->nodes == f->hints.cb_nodes && p->room >= f->hints.cb_buffer_size)
        return MPI_SUCCESS;
    two_phase_free(f);
    return phases_make(f);
}

/* --- the decision ----------------------------------------------------------------------------- */
/* Largest values of all processes; a minimum is the negative of the largest negative. */
enum {
    ALL_ERROR, ALL_LO, ALL_HI, ALL_UNIT, ALL_REFUSED, ALL_WANTED, ALL_BYTES, ALL_BLOCKS, ALL_MEAN,
    ALL_SIZE, ALL_NODES, ALL_NODES_NEG, ALL_ROOM, ALL_ROOM_NEG, ALL_STRIPE, ALL_STRIPE_NEG,
    ALL_COUNT
};

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
                    (uint64_t)x->len | PAGE;
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

static int decide(struct access *c, int err, int64_t *all)
{
    struct io_file *f = c->a.f;
    const struct hints *h = &f->hints;
    enum choice cb = c->a.write ? h->cb_write : h->cb_read;
    struct stat st = {0};
    memset(all, 0, ALL_COUNT * sizeof *all);
    all[ALL_ERROR] = err ? err_class(err) : 0;
    all[ALL_LO] = all[ALL_MEAN] = -INT64_MAX;
    all[ALL_UNIT] = -PAGE;
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
    return coll_allreduce_i64(all, ALL_COUNT, COLL_MAX, f->comm);
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
static int is_better(const struct io_file *f, const int64_t *all)
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

/* --- the exchange ----------------------------------------------------------------------------- */
static int far_piece(struct meeting *m, struct io_file *f, int node, int64_t disp, void *p,
                     size_t len, int get)
{
    struct rma_args a = {.kind = get ? RMA_GET : RMA_PUT, .rank = rank_of(f, m->p, node),
                         .ocount = (MPI_Aint)len, .otype = m->byte, .rcount = (MPI_Aint)len,
                         .rtype = m->byte, .disp = disp, .tcount = (MPI_Aint)len,
                         .ttype = m->byte};
    if (get)
        a.result = p;
    else
        a.origin = p;
    return rma_op_begin(m->p->win, &a, NULL);
}

/* Data bytes from pos on, which belong `within` the buffer of an aggregator. */
static int one_piece(struct meeting *m, struct io_file *f, int node, int slot, int64_t within,
                     size_t pos, size_t len)
{
    struct transfer *x = m->x;
    int64_t buffer = 2 * slot * m->p->room, map = buffer + m->p->room + within / m->unit;
    size_t units = (size_t)((int64_t)len / m->unit);
    char *base = m->p->near[node];
    if (base && x->write) {
        dt_pack(x->mtype, x->mcount, x->buf, pos, base + buffer + within, len);
        memset(base + map, 1, units);
        return MPI_SUCCESS;
    }
    if (base) {
        dt_unpack(x->mtype, x->mcount, x->buf, pos, base + buffer + within, len);
        return MPI_SUCCESS;
    }
    /* What is staged stays until the fence; the map's ones stand behind the data. */
    char *s = m->stage + m->staged;
    m->staged += len;
    if (!x->write)
        return far_piece(m, f, node, buffer + within, s, len, 1);
    dt_pack(x->mtype, x->mcount, x->buf, pos, s, len);
    int err = far_piece(m, f, node, buffer + within, s, len, 0);
    s = m->stage + m->staged;
    m->staged += units;
    memset(s, 1, units);
    return err ? err : far_piece(m, f, node, map, s, units, 0);
}

/* One block of the file, cut at the borders of chunks. */
static int one_block(struct meeting *m, struct io_file *f, int64_t round, int64_t off, size_t len)
{
    int err = MPI_SUCCESS;
    while (len && !err) {
        int64_t k = (off - m->base) / m->chunk, within = (off - m->base) % m->chunk;
        size_t n = (size_t)(m->chunk - within) < len ? (size_t)(m->chunk - within) : len;
        err = one_piece(m, f, (int)(k % m->p->nodes), (int)(round & 1), within, m->at, n);
        m->at += n;
        off += (int64_t)n;
        len -= n;
    }
    return err;
}

/* Reads end where the file ends. */
static int64_t limit(const struct meeting *m, int64_t round)
{
    int64_t end = m->base + (round + 1) * m->chunk * m->p->nodes;
    return !m->x->write && m->size < end ? m->size : end;
}

/* Own blocks of a round; the places of data ascend, so they follow each other. */
static int exchange(struct meeting *m, struct io_file *f, int64_t round)
{
    struct iovec b[BATCH];
    int64_t end = limit(m, round);
    int err = MPI_SUCCESS;
    m->staged = 0;
    while (m->at < m->x->len && !err) {
        size_t bytes, n = view_blocks(m->x->ftype, m->x->disp, m->x->from + (int64_t)m->at,
                                      m->x->len - m->at, b, BATCH, &bytes);
        for (size_t i = 0; i < n && !err; i++) {
            int64_t off = (int64_t)(uintptr_t)b[i].iov_base, left = end - off;
            if (left <= 0)
                return MPI_SUCCESS;
            size_t len = (size_t)left < b[i].iov_len ? (size_t)left : b[i].iov_len;
            err = one_block(m, f, round, off, len);
            if (len < b[i].iov_len)
                return err;
        }
    }
    return err;
}

/* --- the file --------------------------------------------------------------------------------- */
/* The aggregator's chunk of a round; its length is 0 if there is none. */
static size_t own_chunk(const struct meeting *m, int64_t round, int64_t *off)
{
    int64_t k = round * m->p->nodes + m->p->mine, end;
    *off = m->base + k * m->chunk;
    end = *off + m->chunk < m->hi ? *off + m->chunk : m->hi;
    if (m->p->mine < 0 || *off >= end)
        return 0;
    if (*off < m->lo && !m->x->write)
        *off = m->lo;
    return (size_t)(end - *off);
}

static void file_write(struct meeting *m, int64_t round)
{
    int64_t off;
    size_t len = own_chunk(m, round, &off), unit = (size_t)m->unit, from = 0;
    if (!len)
        return;
    char *buffer = m->p->own + 2 * (round & 1) * m->p->room, *map = buffer + m->p->room;
    size_t n = (len + unit - 1) / unit;
    while (from < n && !m->x->err) {
        char *set = memchr(map + from, 1, n - from);
        if (!set)
            break;
        size_t first = (size_t)(set - map);
        char *gap = memchr(set, 0, n - first);
        size_t last = gap ? (size_t)(gap - map) : n;
        posix_block(m->x, off + (int64_t)(first * unit), buffer + first * unit,
                    (last - first) * unit);
        from = last;
    }
    memset(map, 0, n);
}

static void file_read(struct meeting *m, int64_t round)
{
    int64_t off, start = m->base + (round * m->p->nodes + m->p->mine) * m->chunk;
    size_t len = own_chunk(m, round, &off);
    if (len)
        posix_block(m->x, off, m->p->own + 2 * (round & 1) * m->p->room + (off - start), len);
}

/* --- rounds ----------------------------------------------------------------------------------- */
static int write_round(struct meeting *m, struct io_file *f, int64_t round)
{
    int err = exchange(m, f, round), e = rma_fence(m->p->win, 0);
    err = err ? err : e;
    if (!err)
        file_write(m, round);
    return err;
}

/* Results of gets are in the stage until the fence. */
static int unstage(struct meeting *m, size_t from)
{
    struct transfer *x = m->x;
    int64_t end = (int64_t)m->at;
    size_t staged = 0;
    struct iovec b[BATCH];
    for (size_t pos = from; (int64_t)pos < end;) {
        size_t bytes, n = view_blocks(x->ftype, x->disp, x->from + (int64_t)pos, m->at - pos, b,
                                      BATCH, &bytes);
        for (size_t i = 0; i < n; i++)
            for (size_t done = 0; done < b[i].iov_len;) {
                int64_t at = (int64_t)(uintptr_t)b[i].iov_base + (int64_t)done - m->base;
                size_t len = b[i].iov_len - done, left = (size_t)(m->chunk - at % m->chunk);
                len = len < left ? len : left;
                if (!m->p->near[at / m->chunk % m->p->nodes]) {
                    dt_unpack(x->mtype, x->mcount, x->buf, pos, m->stage + staged, len);
                    staged += len;
                }
                pos += len;
                done += len;
            }
    }
    return MPI_SUCCESS;
}

static int read_round(struct meeting *m, struct io_file *f, int64_t round)
{
    file_read(m, round);
    size_t from = m->at;
    int err = rma_fence(m->p->win, 0);
    if (!err)
        err = exchange(m, f, round);
    if (m->p->far) {
        int e = rma_fence(m->p->win, 0);
        err = err ? err : e;
        if (!err)
            unstage(m, from);
    }
    return err;
}

static void meeting_plan(struct meeting *m, const struct io_file *f, const int64_t *all)
{
    int64_t stripe = f->hints.striping_unit > PAGE ? f->hints.striping_unit : PAGE, share;
    stripe = stripe > m->p->room || stripe % PAGE ? PAGE : stripe;
    m->lo = -all[ALL_LO];
    m->hi = all[ALL_HI];
    m->unit = -all[ALL_UNIT];
    m->size = all[ALL_SIZE];
    m->base = m->lo / stripe * stripe;
    share = (m->hi - m->base + m->p->nodes - 1) / m->p->nodes;
    m->chunk = (share + stripe - 1) / stripe * stripe;
    if (m->chunk > m->p->room)
        m->chunk = m->p->room / stripe * stripe;
    m->rounds = (m->hi - m->base + m->chunk * m->p->nodes - 1) / (m->chunk * m->p->nodes);
}

/* Pages of the maps are touched when they are needed. */
static void clear_maps(struct meeting *m)
{
    struct two_phase *p = m->p;
    int64_t need = m->chunk / m->unit;
    if (p->mine >= 0 && need > p->clean) {
        memset(p->own + p->room + p->clean, 0, (size_t)(need - p->clean));
        memset(p->own + 3 * p->room + p->clean, 0, (size_t)(need - p->clean));
        p->clean = need;
    }
}

static int meet(struct access *c, const int64_t *all)
{
    struct io_file *f = c->a.f;
    struct meeting m = {.p = f->phases, .x = &c->x, .byte = dt_find(MPI_BYTE)};
    size_t room;
    meeting_plan(&m, f, all);
    room = (size_t)(m.chunk * m.p->nodes);
    room = room < c->x.len ? room : c->x.len;
    int err = MPI_SUCCESS;
    if (m.p->far && room && !(m.stage = malloc(2 * room)))
        err = err_make(MPI_ERR_NO_MEM, "%s: no memory for a collective access", io_call());
    err = m.p->far ? coll_agree_error(err, f->comm) : err;
    clear_maps(&m);
    if (!err)
        err = rma_fence(m.p->win, MPI_MODE_NOPRECEDE);
    for (int64_t r = 0; r < m.rounds && !err; r++)
        err = c->x.write ? write_round(&m, f, r) : read_round(&m, f, r);
    if (!err) /* buffers may be used again, and the window freed */
        err = rma_fence(m.p->win, MPI_MODE_NOSUCCEED);
    free(m.stage);
    c->x.done = m.at;
    io_count(f, STAT_ROUNDS, (uint64_t)m.rounds);
    return err;
}

/* An aggregator's error is an error of all. access_finish() reports its own. */
static int outcome(struct access *c)
{
    struct io_file *f = c->a.f;
    int64_t failed = c->x.err;
    int err = coll_allreduce_i64(&failed, 1, COLL_MAX, f->comm);
    if (!err && failed && !c->x.err)
        err = io_errno((int)failed, f->name, "an aggregator of the collective access failed");
    if (failed)
        c->x.done = 0;
    return err;
}

int two_phase_access(struct access *c, int err, int *done)
{
    int64_t all[ALL_COUNT];
    int e = decide(c, err, all);
    *done = 0;
    if (err || e)
        return err ? err : e;
    if (all[ALL_ERROR])
        return err_make((int)all[ALL_ERROR],
                        "%s: file \"%s\": the collective access failed on another process",
                        io_call(), c->a.f->name);
    if (!is_better(c->a.f, all))
        return MPI_SUCCESS;
    *done = 1;
    err = phases_get(c->a.f);
    if (!err)
        err = meet(c, all);
    return err ? err : outcome(c);
}

/* two_phase.c - collective access: the data meet in windows of a few aggregators (chunks.h).
 *
 * A process stores each of its blocks where it belongs in the aggregator's buffer, and marks it in
 * a map: one byte for each `unit` bytes, which divides all offsets and lengths. No list of offsets
 * is sent. After a fence each aggregator writes its chunk: by one call, or, where the map shows
 * gaps, one for each run. There are two buffers, so the others go on with the next round meanwhile.
 * Reads go the other way.
 *
 * Invariant: buffer r % 2 is used again only after the fence of round r + 1. A process that has met
 * an error of its own goes on with all fences, and the last reduction makes it an error of all;
 * only the failure of a process, or a revocation, ends the rounds: it ends the others' fences, too.
 * Start with two_phase_access(). */
#include <stdlib.h>
#include <string.h>

#include "io/chunks.h"
#include "rma/rma.h"

enum { BATCH = 256, PAGE = CHUNK_PAGE };

struct two_phase {
    struct rma_win *win;
    int nodes, mine; /* aggregators; which of them this process is, or -1 */
    int far;         /* some process does not reach all buffers by load and store */
    int64_t room;    /* bytes of one buffer, and of one map */
    int64_t clean;   /* of each map, so many bytes are 0 between accesses */
    char *own;       /* buffer, map, buffer, map */
    char **near;     /* of each aggregator; NULL: by messages */
    struct staging *left; /* of accesses that were given up */
};

struct staging { /* of data that go by message */
    struct staging *next;
    char bytes[];
};

/* One collective access. */
struct meeting {
    struct two_phase *p;
    const struct comm *comm;
    struct transfer *x;
    struct chunks k;
    size_t at; /* own data before this position are done */
    int err;   /* the first one of this process */
    struct staging *stage;
    size_t staged;
    struct dt_type *byte;
};

static int rank_of(const struct io_file *f, const struct two_phase *p, int node)
{
    return chunks_rank(f->comm, p->nodes, node);
}

void two_phase_free(struct io_file *f, io_win_end *end)
{
    struct two_phase *p = f->phases;
    if (!p)
        return;
    int ends = p->win && rma_win_is_revoked(p->win); /* all that has left is complete then */
    if (p->win)
        end(p->win);
    while (ends && p->left) {
        struct staging *s = p->left;
        p->left = s->next;
        free(s);
    }
    free(p->near);
    free(p);
    f->phases = NULL;
}

struct rma_win *two_phase_win(const struct io_file *f)
{
    return f->phases ? f->phases->win : NULL;
}

static int find_near(struct io_file *f, struct two_phase *p)
{
    int64_t far = 0;
    int err = MPI_SUCCESS;
    for (int i = 0; i < p->nodes && !err; i++) {
        MPI_Aint size, unit;
        err = rma_win_shared_query(p->win, rank_of(f, p, i), &size, &unit, &p->near[i]);
        far |= !p->near[i];
    }
    err = io_agree(err, f->comm);
    if (!err)
        err = io_allreduce(&far, 1, f->comm);
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
    err = io_agree(err, f->comm);
    if (!err)
        err = rma_win_allocate(p->mine < 0 ? 0 : 4 * p->room, 1, NULL, f->comm, &p->own, &p->win);
    if (!err) {
        rma_win_own(p->win);
        err = find_near(f, p);
    }
    if (err)
        two_phase_free(f, rma_win_give_up);
    return err;
}

/* The buffers are made for some hints. All processes come here with the same ones. */
static int phases_get(struct io_file *f)
{
    const struct two_phase *p = f->phases;
    if (p && p->nodes == f->hints.cb_nodes && p->room >= f->hints.cb_buffer_size)
        return MPI_SUCCESS;
    two_phase_free(f, rma_win_give_up);
    return phases_make(f);
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
    int64_t buffer = 2 * slot * m->p->room, map = buffer + m->p->room + within / m->k.unit;
    size_t units = (size_t)((int64_t)len / m->k.unit);
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
    char *s = m->stage->bytes + m->staged;
    m->staged += len;
    if (!x->write)
        return far_piece(m, f, node, buffer + within, s, len, 1);
    dt_pack(x->mtype, x->mcount, x->buf, pos, s, len);
    int err = far_piece(m, f, node, buffer + within, s, len, 0);
    s = m->stage->bytes + m->staged;
    m->staged += units;
    memset(s, 1, units);
    return err ? err : far_piece(m, f, node, map, s, units, 0);
}

/* One block of the file, cut at the borders of chunks. */
static int one_block(struct meeting *m, struct io_file *f, int64_t round, int64_t off, size_t len)
{
    int err = MPI_SUCCESS;
    while (len && !err) {
        int64_t k = (off - m->k.base) / m->k.chunk, within = (off - m->k.base) % m->k.chunk;
        size_t n = (size_t)(m->k.chunk - within) < len ? (size_t)(m->k.chunk - within) : len;
        err = one_piece(m, f, (int)(k % m->p->nodes), (int)(round & 1), within, m->at, n);
        m->at += n;
        off += (int64_t)n;
        len -= n;
    }
    return err;
}

/* Own blocks of a round; the places of data ascend, so they follow each other. */
static int exchange(struct meeting *m, struct io_file *f, int64_t round)
{
    struct iovec b[BATCH];
    int64_t end = chunks_end(&m->k, round);
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
static void file_write(struct meeting *m, int64_t round)
{
    int64_t off;
    size_t skip, len = m->p->mine < 0 ? 0 : chunks_at(&m->k, round, m->p->mine, &off, &skip);
    if (!len)
        return;
    char *buffer = m->p->own + 2 * (round & 1) * m->p->room;
    struct io_away a = io_leave();
    m->x->away = &a;
    chunks_write(m->x, off, len, (size_t)m->k.unit, buffer, buffer + m->p->room);
    m->x->away = NULL;
    io_return(&a, m->x);
}

static void file_read(struct meeting *m, int64_t round)
{
    int64_t off;
    size_t skip, len = m->p->mine < 0 ? 0 : chunks_at(&m->k, round, m->p->mine, &off, &skip);
    if (!len)
        return;
    struct io_away a = io_leave();
    posix_block(m->x, off + (int64_t)skip, m->p->own + 2 * (round & 1) * m->p->room + skip,
                len - skip);
    io_return(&a, m->x);
}

/* --- rounds ----------------------------------------------------------------------------------- */
/* A fence of all. Not 0: a process has failed, or the file was revoked; the others end by that,
 * too. */
static int meet_fence(struct meeting *m, int assert)
{
    int err = io_may_meet(m->comm);
    if (!err)
        err = rma_fence(m->p->win, assert);
    if (err && rma_fence_missed(m->p->win))
        io_step(m->comm, err);
    m->err = m->err ? m->err : err;
    return err && (err_class(err) == MPIX_ERR_PROC_FAILED || err_class(err) == MPIX_ERR_REVOKED);
}

static int write_round(struct meeting *m, struct io_file *f, int64_t round)
{
    m->err = m->err ? m->err : exchange(m, f, round);
    if (meet_fence(m, 0))
        return 1;
    file_write(m, round);
    return 0;
}

/* Results of gets are in the stage until the fence. */
static void unstage(struct meeting *m, size_t from)
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
                int64_t at = (int64_t)(uintptr_t)b[i].iov_base + (int64_t)done - m->k.base;
                size_t len = b[i].iov_len - done, left = (size_t)(m->k.chunk - at % m->k.chunk);
                len = len < left ? len : left;
                if (!m->p->near[at / m->k.chunk % m->p->nodes]) {
                    dt_unpack(x->mtype, x->mcount, x->buf, pos, m->stage->bytes + staged,
                              len);
                    staged += len;
                }
                pos += len;
                done += len;
            }
    }
}

static int read_round(struct meeting *m, struct io_file *f, int64_t round)
{
    file_read(m, round);
    size_t from = m->at;
    if (meet_fence(m, 0))
        return 1;
    m->err = m->err ? m->err : exchange(m, f, round);
    if (!m->p->far)
        return 0;
    if (meet_fence(m, 0))
        return 1;
    if (!m->err)
        unstage(m, from);
    return 0;
}

/* Pages of the maps are touched when they are needed. */
static void clear_maps(struct meeting *m)
{
    struct two_phase *p = m->p;
    int64_t need = m->k.chunk / m->k.unit;
    if (p->mine >= 0 && need > p->clean) {
        memset(p->own + p->room + p->clean, 0, (size_t)(need - p->clean));
        memset(p->own + 3 * p->room + p->clean, 0, (size_t)(need - p->clean));
        p->clean = need;
    }
}

/* All rounds. *ended: by the failure of a process. Returns this process's error. */
static int meet(struct access *c, const int64_t *all, int *ended)
{
    struct io_file *f = c->a.f;
    struct meeting m = {.p = f->phases, .comm = f->comm, .x = &c->x, .byte = dt_find(MPI_BYTE)};
    size_t room;
    chunks_plan(&m.k, all, m.p->room, c->x.write);
    room = (size_t)(m.k.chunk * m.p->nodes);
    room = room < c->x.len ? room : c->x.len;
    if (m.p->far && room && !(m.stage = malloc(sizeof *m.stage + 2 * room)))
        m.err = err_make(MPI_ERR_NO_MEM, "%s: no memory for a collective access", io_call());
    clear_maps(&m);
    *ended = meet_fence(&m, MPI_MODE_NOPRECEDE);
    for (int64_t r = 0; r < m.k.rounds && !*ended; r++)
        *ended = c->x.write ? write_round(&m, f, r) : read_round(&m, f, r);
    if (!*ended) /* buffers may be used again, and the window freed */
        *ended = meet_fence(&m, MPI_MODE_NOSUCCEED);
    if (!*ended) {
        free(m.stage);
    } else if (m.stage) { /* an operation that was given up may still read it */
        m.stage->next = m.p->left;
        m.p->left = m.stage;
    }
    c->x.done = m.at;
    io_count(f, STAT_ROUNDS, (uint64_t)m.k.rounds);
    return m.err;
}

static int outcome(struct access *c, int err)
{
    int64_t v[OUTCOME_COUNT];
    outcome_own(c, err, v);
    int e = io_allreduce(v, OUTCOME_COUNT, c->a.f->comm);
    return e ? (err ? err : e) : outcome_of_all(c, err, v);
}

int two_phase_access(struct access *c, int err, int *done)
{
    int64_t all[ALL_COUNT];
    int ended;
    chunks_own(c, err, all);
    int e = io_allreduce(all, ALL_COUNT, c->a.f->comm);
    *done = 0;
    if (err || e)
        return err ? err : e;
    if (all[ALL_ERROR])
        return err_make((int)all[ALL_ERROR],
                        "%s: file \"%s\": the collective access failed on another process",
                        io_call(), c->a.f->name);
    if (!chunks_pay(c->a.f, all))
        return MPI_SUCCESS;
    *done = 1;
    err = phases_get(c->a.f);
    if (err)
        return err;
    err = meet(c, all, &ended);
    return ended ? err : outcome(c, err);
}

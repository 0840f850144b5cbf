/* place.c - where an operation of a packet acts, and the operation itself. Everything is checked
 * before memory is touched. Start with rma_place_find(). */
#include "rma/target/place.h"

#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"

struct dt_type *rma_type_learn(struct rma *r, const void *flat, size_t len)
{
    struct dt_type *t;
    void *copy = malloc(len);
    if (!copy || dt_unflat(flat, len, &t)) {
        free(copy);
        return NULL;
    }
    memcpy(copy, flat, len);
    unsigned i = r->type_next++ % (sizeof r->types / sizeof *r->types);
    free(r->types[i].flat);
    if (r->types[i].t)
        dt_drop(r->types[i].t);
    r->types[i].flat = copy;
    r->types[i].len = len;
    r->types[i].t = t;
    return t;
}

static struct dt_type *type_of(struct rma *r, const void *flat, size_t len)
{
    for (unsigned i = 0; i < sizeof r->types / sizeof *r->types; i++)
        if (r->types[i].t && r->types[i].len == len && !memcmp(r->types[i].flat, flat, len))
            return r->types[i].t;
    return rma_type_learn(r, flat, len);
}

struct dt_type *rma_predefined(uint32_t handle)
{
    struct dt_type *t = dt_find((MPI_Datatype)handle);
    return t && (t->flags & DT_PREDEFINED) && t->size > 0 ? t : NULL;
}

/* The extension and what follows it. MPI error class or 0. */
static int place_ext(const struct rma_hdr *h, const char *payload, struct place *p)
{
    struct rma_ext e;
    size_t left = h->len, total;
    if (left < sizeof e)
        return MPI_ERR_OTHER;
    memcpy(&e, payload, sizeof e);
    payload += sizeof e;
    left -= sizeof e;
    p->count = e.count;
    p->from = e.offset;
    p->len = e.want;
    if (e.flat_len) {
        if (e.flat_len > left || rma_pad(e.flat_len) > left)
            return MPI_ERR_OTHER;
        p->t = type_of(rma_self(), payload, e.flat_len);
        if (!p->t)
            return MPI_ERR_TYPE;
        payload += rma_pad(e.flat_len);
        left -= rma_pad(e.flat_len);
    } else if (e.nruns) {
        if (e.nruns > left / sizeof *p->runs)
            return MPI_ERR_OTHER;
        p->runs = (const struct rma_run *)payload;
        p->nruns = e.nruns;
        payload += e.nruns * sizeof *p->runs;
        left -= e.nruns * sizeof *p->runs;
    } else if ((p->t = rma_predefined(h->dt)) == NULL) {
        return MPI_ERR_TYPE;
    }
    p->data = payload;
    p->data_len = left;
    if (p->t && (dt_total(p->t, p->count, &total) || p->from > total || p->len > total - p->from))
        return MPI_ERR_COUNT;
    return 0;
}

int rma_window_at(struct rma_win *w, uint64_t disp, int64_t lo, int64_t hi, uint64_t *off,
                  char **at)
{
    int lies = rma_near_place(w, rma_near_own(w), disp, lo, hi, off) == 1;
    if (lies || w->flavor == MPI_WIN_FLAVOR_DYNAMIC) /* else *off is not set */
        *at = (char *)((uintptr_t)w->base + (uintptr_t)*off);
    return lies;
}

static int place_runs(struct rma_win *w, const struct rma_hdr *h, struct place *p)
{
    size_t sum = 0;
    uint64_t off = 0; /* the same for all runs: that of the displacement */
    for (unsigned i = 0; i < p->nruns; i++) {
        int64_t lo = p->runs[i].disp, hi;
        char *at;
        if (p->runs[i].len > INT64_MAX ||
            __builtin_add_overflow(lo, (int64_t)p->runs[i].len, &hi) ||
            p->runs[i].len > p->len - sum || (p->elem && p->runs[i].len % p->elem->elem.bytes))
            return MPI_ERR_RMA_RANGE;
        /* An element of a pair type spans more bytes than it has. */
        if (p->elem && dt_bounds(p->elem, p->runs[i].len / p->elem->elem.bytes, &(int64_t){0}, &hi))
            return MPI_ERR_RMA_RANGE;
        if (p->elem && __builtin_add_overflow(lo, hi, &hi))
            return MPI_ERR_RMA_RANGE;
        if (!rma_window_at(w, h->disp, lo, hi, &off, &at))
            return MPI_ERR_RMA_RANGE;
        sum += p->runs[i].len;
    }
    p->off = off;
    p->at = (char *)((uintptr_t)w->base + p->off);
    return sum == p->len ? 0 : MPI_ERR_COUNT;
}

/* A pair spans more bytes than its data, and the packet's layout of pairs may have other blocks.
 * Does each fit in the window? */
static int pairs_fit(struct rma_win *w, const struct rma_hdr *h, const struct place *p)
{
    size_t bytes = p->elem->elem.bytes;
    for (size_t pos = p->from; pos < p->from + p->len; pos += bytes) {
        struct iovec iov;
        size_t got;
        uint64_t off;
        char *at;
        int64_t lo, hi;
        if (dt_iov(p->t, p->count, NULL, pos, bytes, &iov, 1, &got) == 0 ||
            dt_bounds(p->elem, 1, &lo, &hi))
            return 0;
        int64_t first = (int64_t)(uintptr_t)iov.iov_base;
        if (__builtin_add_overflow(lo, first, &lo) || __builtin_add_overflow(hi, first, &hi) ||
            !rma_window_at(w, h->disp, lo, hi, &off, &at))
            return 0;
    }
    return 1;
}

/* What the operation reads must be valid at home, and what it writes becomes home's. */
static int place_home(struct rma_win *w, const struct rma_hdr *h, const struct place *p)
{
    enum coh_access how = h->type == RMA_PKT_GET ? COH_AT_GET
                          : h->type == RMA_PKT_PUT && p->data_len == p->len ? COH_AT_PUT
                                                                            : COH_AT_UPDATE;
    if (!p->t)
        return rma_home_runs(w, p->off, p->runs, p->nruns, how);
    return rma_home_layout(w, p->off, p->t, p->count, p->from, p->len, how);
}

static int place_lies(struct rma_win *w, const struct rma_hdr *h, const char *payload,
                      struct place *p)
{
    int64_t lo, hi;
    int acc = h->type == RMA_PKT_ACC || h->type == RMA_PKT_GACC || h->type == RMA_PKT_CAS;
    memset(p, 0, sizeof *p);
    if (h->flags & RMA_F_EXT) {
        int cls = place_ext(h, payload, p);
        if (cls)
            return cls;
    } else {
        p->t = rma_predefined(h->dt);
        if (!p->t)
            return MPI_ERR_TYPE;
        p->count = h->count;
        p->len = p->count * (size_t)p->t->size;
        p->data = payload;
        p->data_len = h->len;
    }
    if (acc) {
        p->elem = rma_predefined(h->dt);
        if (!p->elem || p->elem->basic != p->elem || (p->t && p->t->basic != p->elem) ||
            p->from % p->elem->elem.bytes || p->len % p->elem->elem.bytes)
            return MPI_ERR_TYPE;
    }
    if (!p->t)
        return place_runs(w, h, p);
    if (dt_bounds(p->t, p->count, &lo, &hi))
        return MPI_ERR_COUNT;
    if (!rma_window_at(w, h->disp, lo, hi, &p->off, &p->at) &&
        !(w->flavor == MPI_WIN_FLAVOR_DYNAMIC && !rma_is_handle(h->disp) &&
          rma_win_holds(w, h->disp, p->t, p->count, p->from, p->len)))
        return MPI_ERR_RMA_RANGE;
    if (!acc || p->t == p->elem || p->elem->elem.kind != DT_PAIR)
        return 0;
    /* more than came, and more than an answer holds */
    if (p->len > p->data_len && p->len > rma_self()->reply_bytes)
        return MPI_ERR_COUNT;
    return pairs_fit(w, h, p) ? 0 : MPI_ERR_RMA_RANGE;
}

int rma_place_find(struct rma_win *w, const struct rma_hdr *h, const char *payload, struct place *p)
{
    int cls = place_lies(w, h, payload, p);
    return cls || !w->coherent ? cls : place_home(w, h, p);
}

/* --- operations ------------------------------------------------------------------------------- */

int rma_run_put(const struct place *p)
{
    if (p->data_len != p->len)
        return MPI_ERR_COUNT;
    if (p->t) {
        dt_unpack(p->t, p->count, p->at, p->from, p->data, p->len);
        return 0;
    }
    const char *data = p->data;
    for (unsigned i = 0; i < p->nruns; i++) {
        memcpy((char *)((uintptr_t)p->at + (uint64_t)p->runs[i].disp), data, p->runs[i].len);
        data += p->runs[i].len;
    }
    return 0;
}

const char *rma_run_get(const struct place *p, char *buf)
{
    if (p->t && dt_is_block(p->t, p->count))
        return (const char *)dt_start(p->t, p->at) + p->from;
    if (p->t) {
        dt_pack(p->t, p->count, p->at, p->from, buf, p->len);
        return buf;
    }
    char *out = buf;
    for (unsigned i = 0; i < p->nruns; i++) {
        memcpy(out, (const char *)((uintptr_t)p->at + (uint64_t)p->runs[i].disp), p->runs[i].len);
        out += p->runs[i].len;
    }
    return buf;
}

struct acc_target rma_own_memory(const struct rma_win *w)
{
    return acc_mapped(rma_near_own(w)->acc, w->base); /* NULL in dynamic windows */
}

int rma_run_acc(struct rma_win *w, const struct rma_hdr *h, const struct place *p, char *result)
{
    struct dt_op *op = h->aop > 0 && h->aop < DT_OPS ? dt_op_find((MPI_Op)(0x58000000 | h->aop))
                                                     : NULL;
    if (!op || dt_op_check(op, p->elem, DT_FOR_ACC))
        return MPI_ERR_OP;
    if (p->data_len != (op->index == DT_NO_OP ? 0 : p->len))
        return MPI_ERR_COUNT;
    struct acc_target at = rma_own_memory(w);
    /* acc_element() takes the element as in memory, a packet has it packed: pair types may differ.
     * */
    if (p->t == p->elem && p->count == 1 && p->len == p->elem->elem.bytes &&
        p->elem->elem.bytes == p->elem->elem.stride)
        return acc_element(&at, p->off, p->elem, op, p->data, result) ? MPI_ERR_OTHER : 0;
    struct acc_args a = {.elem = p->elem, .op = op, .off = p->off, .origin = p->data,
                         .fetches = result != NULL, .result = result};
    if (p->t) {
        a.tcount = p->count;
        a.ttype = p->t;
        a.pos = p->from;
        a.len = p->len;
        return acc_apply(&at, &a) ? MPI_ERR_OTHER : 0;
    }
    a.ttype = p->elem;
    for (unsigned i = 0; i < p->nruns; i++) {
        a.off = p->off + (uint64_t)p->runs[i].disp;
        a.len = p->runs[i].len;
        a.tcount = a.len / p->elem->elem.bytes;
        if (acc_apply(&at, &a))
            return MPI_ERR_OTHER;
        if (op->index != DT_NO_OP)
            a.origin = (const char *)a.origin + a.len;
        if (result)
            a.result = (char *)a.result + a.len;
    }
    return 0;
}

int rma_part(struct rma_win *w, const struct rma_hdr *h, uint64_t count, size_t from, size_t len,
             const void *data, char *result)
{
    int64_t lo, hi;
    size_t total;
    struct dt_type *e = rma_predefined(h->dt);
    struct place p = {.t = e, .elem = e, .count = count, .from = from, .len = len, .data = data,
                      .data_len = len};
    if (!e || e->basic != e || e->elem.bytes != e->elem.stride)
        return MPI_ERR_TYPE;
    if (count > SIZE_MAX || dt_total(e, count, &total) || from > total || len > total - from ||
        dt_bounds(e, count, &lo, &hi))
        return MPI_ERR_COUNT;
    if (!rma_window_at(w, h->disp, lo, hi, &p.off, &p.at))
        return MPI_ERR_RMA_RANGE;
    if (w->coherent && len) {
        enum coh_access how = h->aop ? COH_AT_UPDATE : result ? COH_AT_GET : COH_AT_PUT;
        int cls = rma_home_layout(w, p.off, e, p.count, from, len, how);
        if (cls)
            return cls;
    }
    if (h->aop)
        return h->aop == DT_NO_OP ? MPI_ERR_OP : rma_run_acc(w, h, &p, result);
    if (!result)
        return rma_run_put(&p);
    dt_pack(e, p.count, p.at, from, result, len);
    return 0;
}

int rma_run_cas(struct rma_win *w, const struct place *p, char *result)
{
    size_t size = p->elem->elem.bytes;
    if (p->t != p->elem || p->count != 1 || p->data_len != 2 * size)
        return MPI_ERR_COUNT;
    struct acc_target at = rma_own_memory(w);
    return acc_cas(&at, p->off, p->elem, p->data + size, p->data, result) ? MPI_ERR_OTHER : 0;
}

/* A coalesced packet: the common part is checked once, each place separately. One out of range does
 * not prevent the others; *bad: the displacement of the first that failed, else of the last. */
int rma_run_coalesced(struct rma_win *w, const struct rma_hdr *h, const char *at,
                      struct rma_hdr *bad)
{
    struct dt_type *e = rma_predefined(h->dt);
    struct dt_op *op = NULL;
    size_t bytes, step;
    int cls = 0;
    if (!e || !rma_coalesce_type(e))
        return MPI_ERR_TYPE;
    if (h->aop) {
        op = h->aop < DT_NO_OP ? dt_op_find((MPI_Op)(0x58000000 | h->aop)) : NULL;
        if (!op || dt_op_check(op, e, DT_FOR_ACC))
            return MPI_ERR_OP;
    }
    if (h->flags & RMA_F_EXT || !h->each || h->each > h->len ||
        dt_total(e, (size_t)h->each, &bytes) || bytes > h->len)
        return MPI_ERR_COUNT;
    step = sizeof(uint64_t) + rma_pad(bytes);
    if (h->len % step || h->len / step != h->ops)
        return MPI_ERR_COUNT;
    struct acc_target own = rma_own_memory(w);
    struct acc_args a = {.elem = e, .op = op, .tcount = (size_t)h->each, .ttype = e, .len = bytes};
    for (const char *end = at + h->len; at != end; at += step) {
        uint64_t disp, off;
        char *mem;
        const char *data = at + sizeof disp;
        memcpy(&disp, at, sizeof disp);
        int err = 0;
        fence_release(); /* as in run_one() */
        if (!rma_window_at(w, disp, 0, (int64_t)bytes, &off, &mem)) {
            err = MPI_ERR_RMA_RANGE;
        } else if (w->coherent &&
                   (err = rma_home(w, off, bytes, op ? COH_AT_UPDATE : COH_AT_PUT)) != 0) {
            ; /* refused; the others go on */
        } else if (!op) {
            rma_near_put(data, mem, bytes);
        } else if (h->each == 1) {
            err = acc_element(&own, off, e, op, data, NULL);
        } else {
            a.off = off;
            a.origin = data;
            err = acc_apply(&own, &a);
        }
        if (!cls)
            bad->disp = disp;
        if (err && !cls)
            cls = err == MPI_ERR_RMA_RANGE || err == MPI_ERR_RMA_CONFLICT ? err : MPI_ERR_OTHER;
    }
    return cls;
}

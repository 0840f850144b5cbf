/* replica_notes.c - which elements of others' parts accumulates of this process have changed, in a
 * window with copies. Start with rma_changes_note(). replica_forward.c takes the notes. */
#include "rma/rma_types.h"

#include <stdlib.h>

enum { NOTED_LEAST = 16, BLOCKS = 64 };

static int by_place(const void *a, const void *b)
{
    const struct rma_changed *p = a, *q = b;
    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    if (p->e.dt != q->e.dt)
        return p->e.dt < q->e.dt ? -1 : 1;
    return (p->e.off > q->e.off) - (p->e.off < q->e.off);
}

/* q, which does not begin before p, is joined to it where no other element is between. */
static int join(struct rma_changed *p, const struct rma_changed *q)
{
    uint64_t stride = (uint64_t)dt_find((MPI_Datatype)p->e.dt)->extent, gap = q->e.off - p->e.off;
    uint64_t end = gap / stride + q->e.count;
    if (p->rank != q->rank || p->e.dt != q->e.dt || gap % stride || gap / stride > p->e.count ||
        end > UINT32_MAX)
        return 0;
    if (end > p->e.count)
        p->e.count = (uint32_t)end;
    return 1;
}

/* Each element once, in order of ranks. */
void rma_changes_join(struct rma_changes *c)
{
    size_t n = 0;
    if (c->n > 1)
        qsort(c->of, c->n, sizeof *c->of, by_place);
    for (size_t i = 1; i < c->n; i++)
        if (!join(&c->of[n], &c->of[i]))
            c->of[++n] = c->of[i];
    c->n = c->n ? n + 1 : 0;
}

static int notes_room(struct rma_changes *c)
{
    if (c->n < c->room)
        return 1;
    rma_changes_join(c);
    if (c->n <= c->room / 2 && c->room)
        return 1;
    size_t room = c->room ? 2 * c->room : NOTED_LEAST;
    struct rma_changed *grown = realloc(c->of, room * sizeof *grown);
    if (grown) {
        c->of = grown;
        c->room = room;
    }
    return grown != NULL;
}

static int note(struct rma_changes *c, int rank, uint64_t off, size_t count, MPI_Datatype dt,
                uint64_t stride)
{
    for (size_t part; count; count -= part, off += part * stride) {
        part = count < UINT32_MAX ? count : UINT32_MAX;
        struct rma_changed x = {rank, {off, (uint32_t)part, (uint32_t)dt}};
        if (c->n && join(&c->of[c->n - 1], &x))
            continue;
        if (!notes_room(c))
            return 0;
        c->of[c->n++] = x;
    }
    return 1;
}

/* Packed bytes that a moves to its target. */
static size_t moved(const struct rma_args *a)
{
    size_t there = 0, here = 0;
    if (dt_total(a->ttype, (size_t)a->tcount, &there))
        return 0;
    if (a->kind == RMA_FOP || a->kind == RMA_CAS || dt_total(a->otype, (size_t)a->ocount, &here))
        return there;
    return here < there ? here : there;
}

/* Where the operation was not refused: a copy of other elements could pass another process's
 * put. */
int rma_changes_note(struct rma_changes *c, const struct rma_args *a, uint64_t off)
{
    const struct dt_type *e = a->ttype->basic;
    if (!e && a->kind == RMA_PUT)
        e = dt_find(MPI_BYTE);
    size_t size = e ? e->elem.bytes : 0, len, got;
    int whole = e && dt_is_block(e, 2); /* blocks are whole elements */
    struct iovec v[BLOCKS];
    if (!e || !size || (a->op && a->op->index == DT_NO_OP)) /* which may have no origin type */
        return MPI_SUCCESS;
    len = moved(a);
    for (size_t at = 0; at < len; at += got) {
        size_t n = dt_iov(a->ttype, (size_t)a->tcount, NULL, at, whole ? len - at : size, v, BLOCKS,
                          &got);
        int ok = n > 0;
        for (size_t i = 0; ok && i < (whole ? n : 1); i++)
            ok = note(c, a->rank, off + (uint64_t)(uintptr_t)v[i].iov_base,
                      whole ? v[i].iov_len / size : 1, e->obj.handle, (uint64_t)e->extent);
        if (!ok)
            return err_make(MPI_ERR_NO_MEM, "%s: no memory for the places of accumulates",
                            rma_call());
    }
    return MPI_SUCCESS;
}

static uint64_t end_of(const struct rma_elems *e)
{
    return e->off + e->count * (uint64_t)dt_find((MPI_Datatype)e->dt)->extent;
}

void rma_elems_bounds(const struct rma_elems *e, size_t n, uint64_t *from, uint64_t *end)
{
    *from = UINT64_MAX;
    *end = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t last = end_of(&e[i]);
        *from = e[i].off < *from ? e[i].off : *from;
        *end = last > *end ? last : *end;
    }
}

int rma_elems_meet(const struct rma_elems *e, size_t n, uint64_t from, uint64_t end)
{
    for (size_t i = 0; i < n; i++)
        if (e[i].off < end && from < end_of(&e[i]))
            return 1;
    return 0;
}

int rma_changes_due(const struct rma_changes *c, int rank)
{
    for (size_t i = 0; i < c->n; i++)
        if (rank < 0 || c->of[i].rank == rank)
            return 1;
    return 0;
}

void rma_changes_forget(struct rma_changes *c)
{
    free(c->of);
    *c = (struct rma_changes){0};
}

/* fault.c - errors that the target reports: what was refused, and per origin and channel the first
 * error until its next answer. */
#include "rma/target/place.h"

#include <stdlib.h>

struct rma_fault rma_fault_of(const struct rma_win *w, const struct rma_hdr *h,
                              const struct place *p, int cls)
{
    struct rma_fault f = {.disp = h->disp, .count = p && p->count ? p->count : h->count,
                          .type = h->type, .cls = (uint8_t)cls};
    if (p && p->t && p->t->flags & DT_PREDEFINED)
        f.dt = (uint32_t)p->t->obj.handle;
    else if (!(h->flags & RMA_F_EXT))
        f.dt = h->dt;
    f.bytes = w->flavor == MPI_WIN_FLAVOR_DYNAMIC ? RMA_FAULT_DYNAMIC : (uint64_t)w->bytes;
    if (cls == MPI_ERR_RMA_CONFLICT && w->coherent) {
        f.disp = w->coherent->bad;
        f.bytes = (uint64_t)w->coherent->number[w->coherent->bad_space];
    }
    return f;
}

/* Whose error it is. Not 0 */
static uint64_t fault_key(const struct rma_hdr *h)
{
    return (uint64_t)rma_channel_of(h) << 32 | ((uint64_t)h->src + 1);
}

void rma_fault_keep(struct rma_win *w, const struct rma_hdr *h, const struct rma_fault *f)
{
    if (map_get(&w->target.errors, fault_key(h)))
        return;
    struct rma_fault *kept = malloc(sizeof *kept);
    if (kept)
        *kept = *f;
    if (!kept || map_put(&w->target.errors, fault_key(h), kept))
        log_fatal("out of memory for an error of rank %u of a window", (unsigned)h->src);
}

int rma_fault_take(struct rma_win *w, const struct rma_hdr *h, struct rma_fault *f)
{
    struct rma_fault *kept = w->target.errors.count ? map_del(&w->target.errors, fault_key(h))
                                                    : NULL;
    if (!kept)
        return 0;
    *f = *kept;
    free(kept);
    return 1;
}

void rma_errors_free(struct rma_win *w)
{
    struct map_entry *e;
    for (size_t at = 0; (e = map_next(&w->target.errors, &at)) != NULL;)
        free(e->value);
    map_destroy(&w->target.errors);
}

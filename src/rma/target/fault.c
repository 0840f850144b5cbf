/* fault.c - errors that the target reports: what was refused, and per origin the first error until
 * its next answer. */
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

void rma_fault_keep(struct rma_win *w, uint32_t rank, const struct rma_fault *f)
{
    if (map_get(&w->target.errors, (uint64_t)rank + 1))
        return;
    struct rma_fault *kept = malloc(sizeof *kept);
    if (kept)
        *kept = *f;
    if (!kept || map_put(&w->target.errors, (uint64_t)rank + 1, kept))
        log_fatal("out of memory for an error of rank %u of a window", (unsigned)rank);
}

int rma_fault_take(struct rma_win *w, uint32_t rank, struct rma_fault *f)
{
    struct rma_fault *kept = w->target.errors.count ? map_del(&w->target.errors, (uint64_t)rank + 1)
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

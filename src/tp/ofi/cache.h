/* cache.h - local buffers where the provider wants them registered (part of ofi.h). */
#ifndef TP_OFI_CACHE_H
#define TP_OFI_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "tp/ofi/limits.h"

struct fid_mr;
struct ofi;
struct ofi_copy;
struct ofi_rma;
struct tp_mem;

struct ofi_cache {
    struct map kept;   /* address of its first block -> struct ofi_cached */
    struct list use;   /* all of them, the least recently used first */
    int told;          /* 1: mem/ reports pages that go; -1: it does not; 0: not asked yet */
    struct list exposed; /* struct tp_mem of others' access, with which our own is allowed */
    struct list pool;    /* struct ofi_copy without a user */
    struct ofi_copy *copies[OFI_COPIES];
    int ncopies;
    char *bytes; /* of all copies; NULL: of none yet */
};

void ofi_cache_open(struct ofi *o);
void ofi_cache_stop(struct ofi *o); /* it is not used any more, and nothing is given back */
void ofi_cache_close(struct ofi *o);
/* What serves a buffer without a registration of its own.  0 with *mem; -ENOENT: nothing. */
int ofi_cache_find(struct ofi *o, void *base, size_t len, struct tp_mem **mem);
void ofi_cache_leave(struct ofi *o, const struct tp_mem *mem); /* of its user, kept or a copy */
int ofi_cache_evict(struct ofi *o); /* 1: one that nothing uses is given back */
/* As ofi_reg_as(); where there is no room, what is kept makes room. */
int ofi_reg_room(struct ofi *o, void *base, size_t len, uint64_t rights, struct fid_mr **mr);
/* For our own operations; 0 with NULL where the provider needs no registration. */
int ofi_local_reg(struct ofi *o, void *base, size_t len, struct fid_mr **mr);
/* Memory of this process for the provider: where it wants it registered, fork() does not divide its
 * pages.  NULL: there is none. */
void *ofi_local_alloc(const struct ofi *o, size_t align, size_t size);
void ofi_local_free(const struct ofi *o, void *p, size_t size);
/* The operation is on p and what follows in its buffer.  Returns the place of these bytes. */
char *ofi_copy_use(struct ofi_rma *r, const struct tp_mem *mem, const void *p);
void ofi_copy_leave(struct ofi *o, struct ofi_copy *c); /* the operation is over */

#endif

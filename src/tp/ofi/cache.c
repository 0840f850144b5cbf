/* cache.c - registrations of local buffers that stay for the next operation, where the provider
 * wants each registered and has no cache itself (FI_MR_LOCAL). Start with ofi_cache_find().
 *
 * C1. Only memory of this library: segments (windows, MPI_Alloc_mem).  Their pages change by mem/
 *     alone, which says so before it happens (mem_on_pages_gone), so a registration never outlives
 *     its pages.  Nothing reports that for the program's own memory without hooks in its calls.
 * C2. A registration covers whole blocks, so that pieces beside each other share one.  By the
 *     address of its first block there is one, the longest that was wanted.
 * C3. OFI_CACHED are kept at most.  The one that was used least recently goes first, never one in
 *     use.  When pages go of one in use, its last user gives it back: nothing finds it any more.
 *     Where the system has no room for another registration, of whatever memory, they go, too; not
 *     for one of a further card (cards.c), without which the first card alone serves.
 * C4. What is not kept and is short (OFI_COPY) is copied, to or from a buffer of OFI_COPIES that
 *     stay registered.  A buffer has one user, and serves again when that and all operations on it
 *     are over.
 * C5. What lies in memory that is registered for others (a window) is served by that registration.
 *     It stays until its owner and all that it serves are done: so long its key is good, too.  It
 *     names the pages: if the program frees or moves them while an operation of its own is under
 *     way, which MPI forbids, the operation is on the old ones.  The rest each operation registers.
 * C6. Memory of ours that is registered (copies, send and receive buffers, records of operations)
 *     is shared memory: private pages that are pinned would be another process's after fork().
 *     Memory of the program is as it is. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/proc.h"
#include "mem/mem.h"
#include "tp/ofi/ofi.h"
#include "var/var.h"

struct ofi_cached {
    struct tp_mem mem;
    struct list link; /* on ofi.cache; retired: on none */
    unsigned users;
    int retired;      /* nothing finds it any more */
};

static uint64_t first_block(const struct ofi_cached *c)
{
    return (uint64_t)(uintptr_t)c->mem.base;
}

static void give_back(struct ofi *o, struct ofi_cached *c)
{
    ofi_cards_dereg(o, &c->mem);
    ofi_close_fid(&c->mem.mr->fid);
    list_del(&c->link);
    free(c);
}

static void retire(struct ofi *o, struct ofi_cached *c)
{
    map_del(&o->cache.kept, first_block(c));
    pvar_set_add(pvar_proc(), PVAR_NET_REG_KEPT, (uint64_t)-1);
    list_del(&c->link);
    c->retired = 1;
    if (!c->users)
        give_back(o, c);
}

int ofi_cache_evict(struct ofi *o)
{
    for (struct list *l = o->cache.use.next; l && l != &o->cache.use; l = l->next) {
        struct ofi_cached *c = LIST_OBJ(l, struct ofi_cached, link);
        if (c->users)
            continue;
        retire(o, c);
        return 1;
    }
    return 0;
}

/* What is kept may be what the system's limit of locked memory lacks.  No other error passes so. */
int ofi_reg_room(struct ofi *o, void *base, size_t len, uint64_t rights, struct fid_mr **mr)
{
    int err;
    do
        err = ofi_reg_as(o, base, len, rights, mr);
    while ((err == TP_AGAIN || err == -ENOSPC || ofi_is_shortage(err)) && ofi_cache_evict(o));
    return err;
}

int ofi_local_reg(struct ofi *o, void *base, size_t len, struct fid_mr **mr)
{
    *mr = NULL;
    return o->reg_local ? ofi_reg_room(o, base, len, FI_SEND | FI_RECV | FI_READ | FI_WRITE, mr)
                        : 0;
}

void *ofi_local_alloc(const struct ofi *o, size_t align, size_t size)
{
    void *p;
    if (!o->reg_local)
        return posix_memalign(&p, align, size) == 0 ? p : NULL;
    p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); /* C6 */
    return p == MAP_FAILED ? NULL : p;
}

void ofi_local_free(const struct ofi *o, void *p, size_t size)
{
    if (!o->reg_local)
        free(p);
    else if (p)
        munmap(p, size);
}

/* The pages of [base, base+len) go. */
static void pages_gone(void *arg, void *base, size_t len)
{
    struct ofi *o = arg;
    for (struct list *l = o->cache.use.next, *next; l != &o->cache.use; l = next) {
        struct ofi_cached *c = LIST_OBJ(l, struct ofi_cached, link);
        const char *from = c->mem.base, *gone = base;
        next = l->next;
        if (from < gone + len && gone < from + c->mem.len)
            retire(o, c);
    }
}

/* A registration of [from, to), which is found from now on. NULL: not possible. */
static struct ofi_cached *keep(struct ofi *o, char *from, char *to)
{
    struct ofi_cached *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->mem = (struct tp_mem){.base = from, .len = (size_t)(to - from), .cached = c};
    list_init(&c->link);
    if (ofi_local_reg(o, from, c->mem.len, &c->mem.mr) != 0 || !c->mem.mr) {
        free(c);
        return NULL;
    }
    ofi_cards_reg(o, &c->mem, FI_SEND | FI_RECV | FI_READ | FI_WRITE, ofi_key_mask(o));
    struct ofi_cached *shorter = map_get(&o->cache.kept, first_block(c));
    if (shorter)
        retire(o, shorter);
    if (map_put(&o->cache.kept, first_block(c), c)) {
        give_back(o, c);
        return NULL;
    }
    list_push(&o->cache.use, &c->link);
    pvar_set_add(pvar_proc(), PVAR_NET_REG_KEPT, 1);
    return c;
}

/* make: where there is none yet, too. */
static int kept_take(struct ofi *o, void *base, size_t len, int make, struct tp_mem **mem)
{
    if (!o->cache.told && proc->mem) /* not yet where a network opens */
        o->cache.told = mem_on_pages_gone(pages_gone, o) == 0 ? 1 : -1;
    const struct mem_segment *s = o->cache.told > 0 ? mem_segment_of(base, len) : NULL;
    if (!s || s->moved) /* moved: the program's own, which it may unmap */
        return -ENOENT;
    /* The blocks begin where the segment does. */
    char *start = s->base;
    size_t off = (size_t)((char *)base - start), end = off + len;
    off -= off % OFI_CACHE_BLOCK;
    end += (OFI_CACHE_BLOCK - end % OFI_CACHE_BLOCK) % OFI_CACHE_BLOCK;
    end = end < s->size ? end : s->size;
    struct ofi_cached *c = map_get(&o->cache.kept, (uint64_t)(uintptr_t)(start + off));
    if (!c || c->mem.len < end - off) {
        if (!make)
            return -ENOENT;
        if (o->cache.kept.count >= OFI_CACHED && !ofi_cache_evict(o))
            return -ENOENT;
        if (!(c = keep(o, start + off, start + end)))
            return -ENOENT;
    }
    c->users++;
    list_del(&c->link);
    list_push(&o->cache.use, &c->link);
    *mem = &c->mem;
    return 0;
}

/* --- windows --------------------------------------------------------------------------------- */

static int exposed_take(struct ofi *o, void *base, size_t len, struct tp_mem **mem)
{
    enum { LOOKS = 32 }; /* of many windows those that were used last */
    int looks = 0;
    struct list *all = &o->cache.exposed;
    for (struct list *l = all->next; l != all && looks < LOOKS; l = l->next) {
        struct tp_mem *m = LIST_OBJ(l, struct tp_mem, link);
        const char *from = m->base, *at = base;
        looks++;
        if (at < from || (size_t)(at - from) > m->len || len > m->len - (size_t)(at - from))
            continue;
        if (!(*mem = malloc(sizeof **mem)))
            return -ENOENT;
        **mem = *m;
        (*mem)->of = m;
        m->users++;
        list_del(&m->link);
        list_push_front(all, &m->link);
        return 0;
    }
    return -ENOENT;
}

/* --- copies ---------------------------------------------------------------------------------- */

struct ofi_copy {
    struct tp_mem mem;
    struct list link; /* ofi.cache.pool */
    unsigned users;   /* the one that took it, and operations */
    char *bytes;      /* OFI_COPY of them, at a multiple of a page */
};

/* The bytes of the next one. NULL: no memory. */
static char *copy_bytes(struct ofi *o)
{
    if (!o->cache.bytes)
        o->cache.bytes = ofi_local_alloc(o, 4096, (size_t)OFI_COPIES * OFI_COPY);
    return o->cache.bytes ? o->cache.bytes + (size_t)o->cache.ncopies * OFI_COPY : NULL;
}

static struct ofi_copy *copy_new(struct ofi *o)
{
    struct ofi_copy *c = o->cache.ncopies < OFI_COPIES ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return NULL;
    list_init(&c->link);
    c->bytes = copy_bytes(o);
    if (!c->bytes || ofi_local_reg(o, c->bytes, OFI_COPY, &c->mem.mr) != 0) {
        free(c);
        return NULL;
    }
    c->mem.copy = c;
    return o->cache.copies[o->cache.ncopies++] = c;
}

static int copy_take(struct ofi *o, void *base, size_t len, struct tp_mem **mem)
{
    struct list *l = len <= OFI_COPY ? list_pop(&o->cache.pool) : NULL;
    struct ofi_copy *c = l                 ? LIST_OBJ(l, struct ofi_copy, link)
                         : len <= OFI_COPY ? copy_new(o)
                                           : NULL;
    if (!c)
        return -ENOENT;
    c->mem.base = base;
    c->mem.len = len;
    c->users = 1;
    *mem = &c->mem;
    return 0;
}

char *ofi_copy_use(struct ofi_rma *r, const struct tp_mem *mem, const void *p)
{
    r->copy = mem->copy;
    r->copy->users++;
    return r->copy->bytes + ((const char *)p - (const char *)mem->base);
}

void ofi_copy_leave(struct ofi *o, struct ofi_copy *c)
{
    if (!--c->users)
        list_push_front(&o->cache.pool, &c->link);
}

int ofi_cache_find(struct ofi *o, void *base, size_t len, struct tp_mem **mem)
{
    /* What is kept is found at once. Before anything new, a window: its memory is pinned. */
    return kept_take(o, base, len, 0, mem) == 0 || exposed_take(o, base, len, mem) == 0 ||
                   kept_take(o, base, len, 1, mem) == 0 || copy_take(o, base, len, mem) == 0
               ? 0
               : -ENOENT;
}

void ofi_cache_leave(struct ofi *o, const struct tp_mem *mem)
{
    struct ofi_cached *c = mem->cached;
    if (mem->copy)
        ofi_copy_leave(o, mem->copy);
    else if (!--c->users && c->retired)
        give_back(o, c);
}

static void copies_free(struct ofi *o)
{
    for (int i = 0; i < o->cache.ncopies; i++) {
        if (o->cache.copies[i]->mem.mr)
            ofi_close_fid(&o->cache.copies[i]->mem.mr->fid);
        free(o->cache.copies[i]);
    }
    ofi_local_free(o, o->cache.bytes, (size_t)OFI_COPIES * OFI_COPY);
    o->cache.bytes = NULL;
    o->cache.ncopies = 0;
}

/* --- life ------------------------------------------------------------------------------------ */

void ofi_cache_open(struct ofi *o)
{
    map_init(&o->cache.kept);
    list_init(&o->cache.use);
    list_init(&o->cache.exposed);
    list_init(&o->cache.pool);
    o->cache.told = 0;
}

void ofi_cache_stop(struct ofi *o)
{
    if (o->cache.told > 0)
        mem_on_pages_gone_not(o);
    o->cache.told = -1;
}

void ofi_cache_close(struct ofi *o)
{
    if (!o->cache.use.next) /* it was not opened */
        return;
    ofi_cache_stop(o);
    while (!list_empty(&o->cache.use)) {
        struct ofi_cached *c = LIST_OBJ(o->cache.use.next, struct ofi_cached, link);
        c->users = 0; /* they are gone */
        retire(o, c);
    }
    map_destroy(&o->cache.kept);
    copies_free(o);
}

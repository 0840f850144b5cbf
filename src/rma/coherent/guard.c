/* guard.c - MPIR_CVAR_WIN_GUARD: a load or store of the host where it holds nothing is a fault at
 * its line.
 *
 *   MPI_Win_allocate --+-- w->base, readable: the library's
 *     (a memfd)        +-- view, PROT_NONE but where the host holds: the program's
 *
 * The crash report says why (boot_fault_words()), and with its frames where.
 *
 * Start with rma_guard_set(). */
#include "rma/coherent/home.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct rma_guard {
    struct rma_guard *next;
    struct rma_win *w;
    char *view;
    size_t len, page; /* len: whole pages */
};

/* --- the fault -------------------------------------------------------------------------------- */

/* In the signal's handler. The program holds no lock of ours there, unless it passed a buffer that
 * it does not hold to one of our calls. The list and the states are only read. */
static size_t why(const void *at, char *text, size_t len)
{
    const struct rma_guard *g = proc->rma ? rma_self()->guards : NULL;
    while (g && ((const char *)at < g->view || (const char *)at >= g->view + g->len))
        g = g->next;
    if (!g)
        return rma_buffer_fault(at, text, len);
    const struct rma_win *w = g->w;
    const struct coh *c = w->coherent->coh;
    size_t off = (size_t)((const char *)at - g->view);
    unsigned held = coh_held(c, 0, off / g->page * g->page, g->page);
    int named = w->name[0] != 0;
    int n = snprintf(text, len, "%s at byte %zu of its part of %s%.60s%s (tile %zu), which the "
                     "host %s: call MPIX_Win_acquire with space 0 before it",
                     held ? "a store" : "a load or store", off, named ? "window \"" : "a window",
                     w->name, named ? "\"" : "", off / coh_tile_bytes(c),
                     held ? "holds for reading alone" : "does not hold");
    return n < 0 ? 0 : (size_t)n < len ? (size_t)n : len - 1;
}

/* --- windows ---------------------------------------------------------------------------------- */

static int both_map(struct rma_guard *g, char **own)
{
    int fd = memfd_create("windrose.guard", MFD_CLOEXEC);
    if (fd < 0)
        return 0;
    int ok = ftruncate(fd, (off_t)g->len) == 0;
    *own = ok ? mmap(NULL, g->len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    g->view = ok ? mmap(NULL, g->len, PROT_NONE, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd); /* the mappings keep it */
    ok = *own != MAP_FAILED && g->view != MAP_FAILED;
    if (!ok && *own != MAP_FAILED)
        munmap(*own, g->len);
    if (!ok && g->view != MAP_FAILED)
        munmap(g->view, g->len);
    return ok;
}

int rma_guard_make(struct rma_win *w)
{
    boot_fault_words(why); /* also of devices' memory, without a guard */
    if (!cvar.win_guard || w->flavor != MPI_WIN_FLAVOR_ALLOCATE || !w->bytes)
        return MPI_SUCCESS;
    struct rma *r = rma_self();
    struct rma_guard *g = calloc(1, sizeof *g);
    char *own;
    if (g) {
        g->page = (size_t)sysconf(_SC_PAGESIZE);
        g->len = ((size_t)w->bytes + g->page - 1) / g->page * g->page;
    }
    if (!g || !both_map(g, &own)) {
        free(g);
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for MPIR_CVAR_WIN_GUARD", rma_call());
    }
    g->w = w;
    g->next = r->guards;
    r->guards = g; /* whole: a fault may come now */
    w->base = own; /* what rma_memory_make() made stays unused */
    w->coherent->guard = g;
    return MPI_SUCCESS;
}

void rma_guard_drop(struct rma_win *w)
{
    struct rma_guard *g = w->coherent->guard;
    if (!g)
        return;
    struct rma_guard **at = &rma_self()->guards;
    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    w->coherent->guard = NULL;
    munmap(g->view, g->len);
    munmap(w->base, g->len);
    free(g);
}

void *rma_guard_view(const struct rma_win *w)
{
    return w->coherent->guard ? w->coherent->guard->view : w->base;
}

void rma_guard_set(struct rma_win *w, size_t off, size_t len)
{
    const struct rma_guard *g = w->coherent->guard;
    if (!g || !len)
        return;
    size_t from = off / g->page, end = (off + len - 1) / g->page + 1;
    for (size_t p = from; p < end; p++) {
        unsigned held = coh_held(w->coherent->coh, 0, p * g->page, g->page);
        int may = held & (COH_WRITE | COH_DISCARD) ? PROT_READ | PROT_WRITE
                                                   : held ? PROT_READ : PROT_NONE;
        if (mprotect(g->view + p * g->page, g->page, may) != 0)
            log_warn("MPIR_CVAR_WIN_GUARD: a page cannot be protected");
    }
}

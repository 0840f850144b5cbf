/* alone.c - near peers act on the home memory of a coherent window themselves, tile by tile, where
 * no device has it. Start with rma_alone_make(); a peer acts from rma_alone_enter() to
 * rma_alone_leave() of home.h.
 *
 *   block of the owner, in shared memory:
 *     | sign of near member 0 | sign of near member 1 | ... | a byte per tile |
 *
 * A sign is odd while its member acts.  mem/coherent_gate.c has the order of steps.  Owners act
 * rarely and peers often, so the owner executes the peers' fence, too, where the system can
 * (membarrier(2)). */
#include "rma/coherent/home.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mem/mem.h"

enum { LINE = 64 }; /* a sign has a cache line for itself */

/* A full fence in each process of the system that has registered: 0 or -1. The commands are
 * GLOBAL_EXPEDITED of linux/membarrier.h */
enum { BARRIER_GO = 1 << 1, BARRIER_REGISTER = 1 << 2 };
static int barrier_call(int command)
{
#if defined(SYS_membarrier) && !defined(BASE_TSAN)
    return sched ? -1 : (int)syscall(SYS_membarrier, command, 0, 0);
#else
    (void)command;
    return -1;
#endif
}

/* --- the owner -------------------------------------------------------------------------------- */

struct rma_gate {
    struct rma_win *w;
    char *block;
    unsigned *seen; /* of each near member: its sign when it was noted, 0: it was not inside */
    unsigned left;  /* noted and not yet seen to have left */
    int barrier;    /* peers need no fence of their own */
};

static atomic_uint *sign_of(char *block, unsigned i)
{
    return (atomic_uint *)(block + (size_t)i * LINE);
}

static void look(void *arg)
{
    struct rma_gate *g = arg;
    if (g->barrier && barrier_call(BARRIER_GO) != 0)
        log_fatal("membarrier: the system refuses what it has done before");
    g->left = 0;
    for (unsigned i = 0; i < g->w->nears; i++) {
        unsigned at = atomic_load_explicit(sign_of(g->block, i), memory_order_relaxed);
        g->seen[i] = at & 1 ? at : 0;
        g->left += at & 1;
    }
}

static int inside(void *arg)
{
    struct rma_gate *g = arg;
    for (unsigned i = 0; g->left && i < g->w->nears; i++) {
        /* acquire pairs with the release of rma_alone_leave(): its stores are there */
        if (!g->seen[i] ||
            (atomic_load_explicit(sign_of(g->block, i), memory_order_acquire) == g->seen[i] &&
             !(boot_failed_count() && boot_failed(rma_world(g->w, g->w->near.near[i].rank)))))
            continue;
        g->seen[i] = 0;
        g->left--;
    }
    return g->left != 0;
}

/* As near_map() of the peers sees it. */
static int peers_map(const struct rma_win *w)
{
    const struct mem_segment *s = mem_segment_of(w->base, (size_t)w->bytes);
    return w->node.area || (s && s->fd >= 0);
}

void rma_alone_make(struct rma_win *w, size_t tile, struct coh_gate *gate)
{
    struct rma_coherent *x = w->coherent;
    size_t tiles = ((size_t)w->bytes + tile - 1) / tile, signs = (size_t)w->nears * LINE;
    if (w->nears < 2 || !tiles || x->guard || !peers_map(w))
        return;
    struct rma_gate *g = calloc(1, sizeof *g);
    if (g) {
        *g = (struct rma_gate){.w = w, .block = mem_arena_alloc(signs + tiles, LINE),
                               .seen = calloc(w->nears, sizeof *g->seen)};
        x->gate = g;
    }
    if (!g || !g->block || !g->seen) {
        rma_alone_drop(w, 0);
        return;
    }
    g->barrier = barrier_call(BARRIER_GO) == 0;
    memset(g->block, 0, signs + tiles);
    *gate = (struct coh_gate){(atomic_uchar *)(g->block + signs), look, inside, g};
}

void rma_alone_record(const struct rma_win *w, struct rma_peer *p)
{
    /* without coh, creation has failed */
    const struct rma_gate *g = w->coherent && w->coherent->coh ? w->coherent->gate : NULL;
    p->alone.key.size = 0;
    const struct mem_segment *s = g ? mem_segment_of(g->block, 1) : NULL;
    if (!s)
        return;
    mem_segment_key(s, &p->alone.key);
    p->alone.off = (uint64_t)(g->block - (char *)s->base);
    p->alone.tile = (uint64_t)coh_tile_bytes(w->coherent->coh);
    p->alone.barrier = (uint32_t)g->barrier;
}

void rma_alone_drop(struct rma_win *w, int retire)
{
    struct rma_gate *g = w->coherent->gate;
    w->coherent->gate = NULL;
    if (!g)
        return;
    if (g->block && retire) /* members may still store to it */
        mem_arena_retire(g->block);
    else if (g->block)
        mem_arena_free(g->block);
    free(g->seen);
    free(g);
}

/* --- its peers -------------------------------------------------------------------------------- */

void rma_alone_attach(struct rma_win *w, struct rma_near *n, char *base)
{
    struct rma_peer *p = n->peer;
    uint64_t off = p->alone.off; /* read once: peers can write the record */
    size_t signs = (size_t)w->nears * LINE, tile = (size_t)p->alone.tile;
    struct rma_alone *a = calloc(1, sizeof *a);
    if (!a || tile < COH_TILE_LEAST || tile & (tile - 1) ||
        mem_segment_attach_again(&p->alone.key, &a->seg) != 0) {
        free(a);
        return;
    }
    uint64_t need = signs + (n->size + tile - 1) / tile;
    if (off > a->seg->size || need > a->seg->size - off) {
        mem_segment_drop(a->seg);
        free(a);
        return;
    }
    char *block = (char *)a->seg->base + off;
    a->sign = sign_of(block, w->node.n.me);
    a->tiles = (const atomic_uchar *)(block + signs);
    a->shift = (unsigned)__builtin_ctzll(tile);
    a->units = n->disp_unit ? n->size / n->disp_unit : 0;
    a->base = base;
    a->light = p->alone.barrier && barrier_call(BARRIER_REGISTER) == 0;
    n->alone = a;
    w->near.alone = 1;
}

void rma_alone_detach(struct rma_near *n)
{
    if (n->alone)
        mem_segment_drop(n->alone->seg);
    free(n->alone);
    n->alone = NULL;
}

/* rma.c - start and end of the room, what its windows share, the table of counters. */
#include "rma/core/types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const rma_packet_name[RMA_PKTS] = {
#define P(name, direction, handler) #name,
    RMA_PACKETS(P)
#undef P
};

/* What near.h looks up without a lock. */
static void fast_init(struct rma_near_room *f)
{
    for (int i = 0; i < RMA_FAST_WINS; i++)
        atomic_init(&f->win[i], &f->none);
    for (int i = 0; i < RMA_FAST_TYPES; i++) {
        const struct dt_type *t = proc->obj->table[OBJ_TYPE].builtin[i];
        f->plain[i] = t && dt_handle_bytes(t->obj.handle) ? t->obj.handle : ~i; /* no handle with this low byte */
    }
}

int rma_init(void)
{
    struct rma *r = aligned_alloc(64, (sizeof *r + 63) / 64 * 64);
    if (!r)
        return -ENOMEM;
    memset(r, 0, sizeof *r);
    fast_init(&r->fast);
    list_init(&r->windows);
    list_init(&r->active);
    list_init(&r->called);
    rma_fetch_init(r);
    map_init(&r->wins);
    r->hook = (struct progress_hook){.fn = rma_advance_global, .arg = r};
    r->scratch_bytes = r->reply_bytes = (size_t)cvar.rma_packet;
    /* Untouched pages cost nothing. */
    r->scratch = malloc(r->scratch_bytes + RMA_PAD);
    r->reply = malloc(r->reply_bytes + RMA_PAD);
    r->answers = malloc(r->reply_bytes);
    proc->rma = r;
    if (!r->scratch || !r->reply || !r->answers || rma_pools_init(r)) {
        rma_finalize();
        return -ENOMEM;
    }
#define P(name, direction, handler) am_handler(AM_RMA + RMA_PKT_##name, handler);
    RMA_PACKETS(P)
#undef P
    am_on_death(rma_bury);
    am_on_stall(rma_name_awaited);
    return 0;
}

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

/* --- counters -------------------------------------------------------------------------------- */

void rma_pvars_collect(void)
{
    const struct rma *r = rma_room();
    struct pvar_set *all = pvar_proc();
    for (int i = 0; i < PVAR_COUNT; i++) {
        if (pvar_table[i].bind != PVAR_WIN)
            continue;
        uint64_t sum = atomic_load_explicit(&r->closed.v[i], memory_order_relaxed);
        for (const struct list *l = r->windows.next; l != &r->windows; l = l->next) {
            const struct rma_win *w = LIST_OBJ(l, struct rma_win, link);
            uint64_t v = atomic_load_explicit(&w->near.pvars.v[i], memory_order_relaxed);
            sum = pvar_table[i].cls == PVAR_HIGHWATER ? (v > sum ? v : sum) : sum + v;
        }
        atomic_store_explicit(&all->v[i], sum, memory_order_relaxed);
    }
}

static void print_stats(void)
{
    const struct pvar_set *all = pvar_proc();
    rma_pvars_collect();
    for (int i = 0; i < PVAR_COUNT; i++) {
        uint64_t v = atomic_load_explicit(&all->v[i], memory_order_relaxed);
        if (pvar_table[i].bind == PVAR_WIN && v)
            log_warn("%-34s %12llu %s", pvar_table[i].name, (unsigned long long)v, pvar_table[i].unit);
    }
}

/* One write per process, so that lines of several do not mix. */
static void write_stats(const char *name)
{
    const struct pvar_set *all = pvar_proc();
    char line[4096];
    size_t n = 0;
    rma_pvars_collect();
    for (int i = 0; i < PVAR_COUNT && n < sizeof line - 64; i++) {
        uint64_t v = atomic_load_explicit(&all->v[i], memory_order_relaxed);
        if (pvar_table[i].bind == PVAR_WIN && v)
            n += (size_t)snprintf(line + n, sizeof line - n, "%s=%llu ", pvar_table[i].name, (unsigned long long)v);
    }
    int fd = n ? open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    if (fd < 0 && n)
        log_warn("MPIR_CVAR_RMA_STATS_FILE: %s: %s", name, strerror(errno));
    if (fd < 0)
        return;
    line[n - 1] = '\n';
    if (write(fd, line, n) != (ssize_t)n)
        log_warn("MPIR_CVAR_RMA_STATS_FILE: %s: cannot write", name);
    close(fd);
}

void rma_ending(void)
{
    struct rma *r = proc->rma;
    r->ending = 1;
    for (struct list *l = r->windows.next; l != &r->windows; l = l->next) {
        struct rma_win *w = LIST_OBJ(l, struct rma_win, link);
        if (!rma_ask(w, ASK_FREE_MAY) || w->expo != EXPO_NONE)
            log_warn("MPI_Finalize: an epoch is open on window 0x%x (state %s%s); who waits for its end will wait for ever",
                     (unsigned)w->near.obj.handle, rma_state_name(w), w->expo != EXPO_NONE ? ", exposed" : "");
    }
}

static int on_late(int src, const void *msg, size_t len)
{
    (void)src;
    (void)msg;
    (void)len;
    return 0;
}

void rma_finalize(void)
{
    struct rma *r = proc->rma;
    if (!r)
        return;
    /* Packets may still come in until the transport closes: after a death the barrier of MPI_Finalize does not hold those back who go on. */
    for (int type = AM_RMA; type < AM_RMA + RMA_PKTS; type++)
        am_handler(type, on_late);
    am_handler(AM_RMA + RMA_PKT_LEFT_ASK, rma_on_left_late);
    if (cvar.rma_stats)
        print_stats();
    if (cvar.rma_stats_file && *cvar.rma_stats_file)
        write_stats(cvar.rma_stats_file);
    while (!list_empty(&r->windows))
        rma_win_drop(LIST_OBJ(r->windows.next, struct rma_win, link));
    for (struct rma_win *w = r->spare, *next; w; w = next) {
        next = (struct rma_win *)w->heap;
        free(w);
    }
    rma_node_finalize();
    progress_hook_del(&r->hook);
    for (unsigned i = 0; i < sizeof r->types / sizeof *r->types; i++) {
        free(r->types[i].flat);
        if (r->types[i].t)
            dt_drop(r->types[i].t);
    }
    rma_native_free(r);
    rma_fetch_finalize(r);
    rma_pools_free(r);
    map_destroy(&r->wins);
    free(r->scratch);
    free(r->reply);
    free(r->answers);
    free(r->buried);
    free(r);
    proc->rma = NULL;
}

/* stats.c - the counters of all windows: collected, printed. */
#include "rma/rma_types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "progress/progress.h"
#include "watch/watch.h"

void rma_pvars_collect(void)
{
    const struct rma *r = rma_self();
    struct pvar_set *all = pvar_proc();
    for (int i = 0; i < PVAR_COUNT; i++) {
        if (pvar_table[i].bind != PVAR_WIN)
            continue;
        uint64_t sum = atomic_load_explicit(&r->closed.v[i], memory_order_relaxed);
        for (const struct list *l = r->windows.next; l != &r->windows; l = l->next) {
            const struct rma_win *w = LIST_OBJ(l, struct rma_win, link);
            if (w->parent && pvar_table[i].cls == PVAR_COUNTER) /* its window's have them */
                continue;
            uint64_t v = rma_win_pvar(w, i);
            sum = pvar_table[i].cls == PVAR_HIGHWATER ? (v > sum ? v : sum) : sum + v;
        }
        atomic_store_explicit(&all->v[i], sum, memory_order_relaxed);
    }
}

void rma_each(void (*fn)(struct rma_win *w))
{
    struct rma *r = rma_self();
    for (struct list *l = r->windows.next; l != &r->windows; l = l->next)
        if (!LIST_OBJ(l, struct rma_win, link)->parent)
            fn(LIST_OBJ(l, struct rma_win, link));
}

uint64_t rma_win_id(const struct rma_win *w)
{
    return w->id;
}

int rma_win_flavor(const struct rma_win *w)
{
    return w->create_flavor;
}

int rma_win_size(const struct rma_win *w)
{
    return w->size;
}

static void wait_over(const struct progress_seen *s)
{
    static const enum pvar_id ids[PROGRESS_WHYS] = {
        [WHY_LOCK] = PVAR_RMA_WAIT_LOCK,         [WHY_FENCE] = PVAR_RMA_WAIT_FENCE,
        [WHY_POST] = PVAR_RMA_WAIT_POST,         [WHY_COMPLETE] = PVAR_RMA_WAIT_COMPLETE,
        [WHY_FLUSH] = PVAR_RMA_WAIT_FLUSH,       [WHY_POOL] = PVAR_RMA_WAIT_POOL,
        [WHY_NOTIFY] = PVAR_RMA_WAIT_NOTIFY};
    if (s->of && ids[s->why])
        rma_count((struct rma_win *)s->of, ids[s->why], s->until - s->since);
}

static const struct watcher timer = {.wait_over = wait_over};

int rma_time_waits(void)
{
    return watch_add(&timer);
}

void rma_time_stop(void)
{
    watch_drop(&timer);
}

int rma_win_came_last(const void *of, int why)
{
    const struct rma_win *w = of;
    int rank = why == WHY_POST ? w->access.last : why == WHY_COMPLETE ? w->exposure.last : -1;
    return rank < 0 ? -1 : rma_world(w, rank);
}

void rma_stats_print(void)
{
    const struct pvar_set *all = pvar_proc();
    rma_pvars_collect();
    for (int i = 0; i < PVAR_COUNT; i++) {
        uint64_t v = atomic_load_explicit(&all->v[i], memory_order_relaxed);
        if (pvar_table[i].bind == PVAR_WIN && v)
            log_warn("%-34s %12llu %s", pvar_table[i].name, (unsigned long long)v,
                     pvar_table[i].unit);
    }
}

/* One write per process, so that lines of several do not mix. */
void rma_stats_write(const char *name)
{
    const struct pvar_set *all = pvar_proc();
    char line[4096];
    size_t n = 0;
    rma_pvars_collect();
    for (int i = 0; i < PVAR_COUNT && n < sizeof line - 64; i++) {
        uint64_t v = atomic_load_explicit(&all->v[i], memory_order_relaxed);
        if (pvar_table[i].bind == PVAR_WIN && v)
            n += (size_t)snprintf(line + n, sizeof line - n, "%s=%llu ", pvar_table[i].name,
                                  (unsigned long long)v);
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

/* stats.c - the counters of all windows: collected, printed. */
#include "rma/rma_types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
            uint64_t v = rma_pvar(w, (enum pvar_id)i);
            sum = pvar_table[i].cls == PVAR_HIGHWATER ? (v > sum ? v : sum) : sum + v;
        }
        atomic_store_explicit(&all->v[i], sum, memory_order_relaxed);
    }
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

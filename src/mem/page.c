/* page.c - life of the room, and the page that its processes on the host share.  Start at
 * mem_init(). */
#include "mem/mem_types.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/proc.h"
#include "boot/boot.h"

/* What the first process of the host sends to the others. */
struct page_key {
    struct mem_key key;
    struct boot_host host;
    int err; /* why there is none */
};

/* The launcher may count several containers as one host, or several machines with one name. */
static int same_host(const struct boot_host *first)
{
    struct boot_host here;
    int err = boot_host_here(&here);
    if (err)
        return err;
    const char *differs = boot_host_differs(first, &here);
    if (!differs)
        return 0;
    log_warn("by the launcher ranks %d and %d share a host, but they have different %s "
             "(containers?); with MPIR_CVAR_HOST_MAP=exchange the processes find out themselves",
             boot_host_rank(0), boot_rank(), differs);
    return -EPROTO;
}

/* The first process of the host makes the page; boot/ carries the key. */
static int page_open(struct mem *m)
{
    char name[40];
    struct page_key k = {0};
    size_t len = sizeof k;
    snprintf(name, sizeof name, "mem.page.%d", boot_host_rank(0));
    /* In all cases: without a key the others would not know why. */
    int err = mem_file_limit((size_t)m->count * sizeof(struct mem_record));
    if (m->index == 0 && !err) {
        k.err = mem_segment_create((size_t)m->count * sizeof(struct mem_record), 0, &m->page);
        if (!k.err)
            mem_segment_key(m->page, &k.key);
        if (!k.err)
            k.err = boot_host_here(&k.host);
        int told = boot_put(name, &k, sizeof k);
        err = k.err ? k.err : told;
    }
    int sync = boot_barrier();
    if (err || sync)
        return err ? err : sync;
    if (m->index == 0)
        return 0;
    err = boot_get(name, &k, &len);
    if (err)
        return err;
    if (len == sizeof k && k.err) {
        log_warn("rank %d could not make the memory that the processes of this host share",
                 boot_host_rank(0));
        return k.err;
    }
    if (len != sizeof k || k.key.size < (size_t)m->count * sizeof(struct mem_record))
        return -EPROTO;
    err = same_host(&k.host);
    return err ? err : mem_segment_attach(&k.key, &m->page);
}

int mem_init(void)
{
    struct mem *m = calloc(1, sizeof *m);
    if (!m)
        return -ENOMEM;
    proc->mem = m;
    m->wake_fd = m->spare_fd = -1;
    map_init(&m->attached);
    mem_spare_fill(m);
    m->count = boot_host_processes();
    m->index = boot_host_index(boot_rank());
#ifdef PR_SET_PTRACER
    /* Where yama restricts ptrace, node peers may still read and write our memory (CMA). */
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#endif
    int err = page_open(m);
    if (!err) {
        m->record = m->page->base;
        err = mem_wake_open();
    }
    if (err)
        mem_finalize();
    return err;
}

void mem_finalize(void)
{
    struct mem *m = proc->mem;
    if (!m)
        return;
    mem_wake_close();
    mem_segment_drop(m->page);
    mem_arenas_free(m);
    mem_cached_free(m);
    if (m->spare_fd >= 0)
        close(m->spare_fd);
    mem_unused_free(m, 0);
    map_destroy(&m->attached);
    free(m->segs);
    free(m);
    proc->mem = NULL;
}

/* The launcher or the watch may not have reported a death.  A process that waits for such a word
 * sends no messages, so it would never find out.  The kernel knows: processes of a host share their
 * process ids (boot_host_differs()).  If the id is in use again the death stays hidden. */
int mem_holder_died(unsigned word)
{
    int index = (int)word - 1, rank = boot_host_rank(index);
    pid_t pid = mem_pid(index);
    if (pid > 0 && kill(pid, 0) && errno == ESRCH)
        boot_fail_now(rank, "its process has ended, holding what others wait for");
    return boot_failed_count() && boot_failed(rank);
}

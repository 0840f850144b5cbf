/* page.c - life of the room, and the page that its processes on the host share.  Start with
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
#include "base/sched.h"
#include "boot/boot.h"

/* What the first process of the host sends to the others. */
struct page_key {
    struct mem_key key;
    struct boot_host host;
    int err;  /* why there is none */
    int door; /* why processes of other containers cannot have it; 0: they can */
    uint64_t job; /* shown by wake-ups */
};

/* 1: this process is in a container.  The kernel's first namespaces have these numbers. */
static int contained(const struct boot_host *here)
{
    enum { USER_INIT = 0xeffffffd, PID_INIT = 0xeffffffc };
    return here->pid != (uint32_t)PID_INIT || here->user != (uint32_t)USER_INIT;
}

/* The launcher may count several containers as one host, or several machines with one name.
 * Containers with one network share memory: this process gets it through a thread of the owner
 * (door.c). */
static int same_host(struct mem *m, const struct boot_host *here, const struct page_key *first)
{
    const char *differs = boot_host_differs(&first->host, here);
    if (!differs && first->host.pid == here->pid && first->host.user == here->user)
        return 0;
    if (!differs && first->door == -EXDEV)
        log_warn("rank %d, the first of this host, is in no container, and rank %d is in one: "
                 "start the first one in a container, too",
                 boot_host_rank(0), boot_rank());
    if (!differs)
        return first->door ? first->door : mem_door_open(m);
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
    struct boot_host here = {0};
    size_t len = sizeof k;
    snprintf(name, sizeof name, "mem.page.%d", boot_host_rank(0));
    /* In all cases: without a key the others would not know why. */
    int err = mem_file_limit((size_t)m->count * sizeof(struct mem_record));
    if (!err)
        err = boot_host_here(&here);
    if (!err) {
        m->pid_ns = (uint32_t)here.pid; /* the kernel's numbers have 32 bits */
        m->user_ns = (uint32_t)here.user;
    }
    if (m->index == 0) {
        k.err = err ? err
                    : mem_segment_create((size_t)m->count * sizeof(struct mem_record), 0, &m->page);
        if (!k.err)
            mem_segment_key(m->page, &k.key);
        k.host = here;
        k.job = m->job = random_bits();
        /* It is not known yet whether a process of another container will ask for the page.  Where
         * there are none a debugger is to see no thread. */
        if (!k.err && m->count > 1)
            k.door = contained(&here) ? mem_door_open(m) : -EXDEV;
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
    m->job = k.job;
    err = same_host(m, &here, &k);
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

int mem_meet(void)
{
    struct mem *m = proc->mem;
    int apart = 0;
    for (int i = 0; i < m->count; i++)
        apart |= m->record[i].pid_ns != m->pid_ns || m->record[i].user_ns != m->user_ns;
    if (apart)
        return mem_door_open(m);
    mem_door_close(m);
    return 0;
}

void mem_core_set(int core)
{
    struct mem *m = proc->mem;
    atomic_int *a = &m->record[m->index].core;
    if (atomic_load_explicit(a, memory_order_relaxed) != core + 1)
        atomic_store_explicit(a, core + 1, memory_order_relaxed);
}

int mem_core_of(int host_index)
{
    const struct mem_record *r = &proc->mem->record[host_index];
    if (atomic_load_explicit(&r->sleeping, memory_order_relaxed) & 1 ||
        (boot_failed_count() && boot_failed(boot_host_rank(host_index))))
        return -1;
    return atomic_load_explicit(&r->core, memory_order_relaxed) - 1;
}

void mem_finalize(void)
{
    struct mem *m = proc->mem;
    if (!m)
        return;
    mem_door_close(m);
    if (m->record)
        mem_core_set(-1);
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
 * sends no messages, so it would never find out.  The kernel knows: a process id of this namespace
 * that is not in use, or a closed socket.  If the id is in use again the death stays hidden. */
int mem_holder_died(unsigned word)
{
    int index = (int)word - 1, rank = boot_host_rank(index);
    pid_t pid = mem_pid(index);
    if (pid > 0 ? kill(pid, 0) && errno == ESRCH : mem_apart(index) && mem_wake_refused(index))
        boot_fail_now(rank, "its process has ended, holding what others wait for");
    return boot_failed_count() && boot_failed(rank);
}

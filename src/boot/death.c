/* death.c - which processes have failed: reported by the page that our mpiexec shares with its
 * ranks, by the watch, by transports.  Also where mpiexec reads what this process does. Start with
 * boot_fail_take() and boot_failed(). */
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/where.h"
#include "boot/boot_types.h"
#include "var/var.h"

/* --- the page -------------------------------------------------------------- */

void boot_page_open(struct boot *b)
{
    const char *text = var_env_get(JOB_PAGE_ENV);
    char *end;
    if (!text)
        return;
    long fd = strtol(text, &end, 10);
    struct stat st;
    if (*end || end == text || fd < 0 || fd > INT_MAX || fstat((int)fd, &st))
        return;
    if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(struct job_page))
        return;
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, (int)fd, 0);
    if (p == MAP_FAILED)
        return;
    const struct job_page *page = p;
    if (page->magic != JOB_PAGE_MAGIC || page->version != JOB_PAGE_VERSION ||
        (size_t)st.st_size < job_page_bytes((int)page->size)) {
        munmap(p, (size_t)st.st_size);
        return;
    }
    /* Programs that this one starts are not ranks of the job. */
    fcntl((int)fd, F_SETFD, FD_CLOEXEC);
    b->page = page;
    b->page_bytes = (size_t)st.st_size;
}

void boot_page_close(struct boot *b)
{
    if (b->page)
        munmap((void *)b->page, b->page_bytes);
    b->page = NULL;
}

/* --- failures that no page reports ---------------------------------------------- */

/* In boot.failed; never decreases. LEFT: it cannot fail any more. CLAIMED: a thread is adding the
 * reason; it counts as alive. */
enum { FAILED_LEFT = 1, FAILED_CLAIMED, FAILED_SEEN, FAILED_APART, FAILED_WITH_HOST };

/* One byte for each number, zeroes at first, made by any thread; NULL: no memory. */
static atomic_uchar *bytes_of(const struct boot *b, _Atomic(atomic_uchar *) *at)
{
    /* Acquire: another thread wrote the zeroes. */
    atomic_uchar *set = atomic_load_explicit(at, memory_order_acquire);
    atomic_uchar *fresh = set ? NULL : calloc((size_t)b->universe, sizeof *fresh);
    if (!fresh)
        return set;
    if (atomic_compare_exchange_strong_explicit(at, &set, fresh, memory_order_acq_rel,
                                                memory_order_acquire))
        return fresh;
    free(fresh);
    return set;
}

static int is_near_guest(const struct boot *b, int rank)
{
    /* pairs with boot_near_take() */
    const atomic_uchar *near = atomic_load_explicit(&b->near, memory_order_acquire);
    return near && atomic_load_explicit(&near[rank], memory_order_relaxed);
}

int boot_host_of(const struct boot *b, int rank)
{
    if (boot_owns(b, rank))
        return node_map_host(&b->map, rank - b->first);
    return is_near_guest(b, rank) ? b->map.host : -1 - rank;
}

static void fail_one(struct boot *b, atomic_uchar *set, int rank, enum boot_scope scope,
                     const char *why)
{
    unsigned char none = 0;
    if (rank == b->first + b->rank || atomic_load_explicit(&set[rank], memory_order_relaxed))
        return;
    struct boot_death *d = malloc(sizeof *d);
    if (!d || !atomic_compare_exchange_strong_explicit(&set[rank], &none, FAILED_CLAIMED,
                                                       memory_order_relaxed,
                                                       memory_order_relaxed)) {
        free(d); /* no memory: the process that waits asks again */
        return;
    }
    d->rank = rank;
    atomic_init(&d->scope, scope);
    size_t n = strnlen(why, sizeof d->why - 1);
    memcpy(d->why, why, n);
    d->why[n] = 0;
    d->next = atomic_load_explicit(&b->deaths, memory_order_relaxed);
    /* Release: pairs with the acquire loads of readers of the list. */
    while (!atomic_compare_exchange_weak_explicit(&b->deaths, &d->next, d, memory_order_release,
                                                  memory_order_relaxed))
        ;
    /* Behind the reason. Release: pairs with the acquire load of boot_failed(), whose caller may
     * ask for the reason. */
    atomic_store_explicit(&set[rank], FAILED_SEEN, memory_order_release);
    /* Last, and release: pairs with boot_failed_count(), whose caller then sees the set and the
     * list. */
    atomic_fetch_add_explicit(&b->burials, 1, memory_order_release);
}

/* It was found from another place, too, or there is proof now: it may be reported. */
static void scope_raise(const struct boot *b, int rank, enum boot_scope scope)
{
    for (struct boot_death *d = atomic_load_explicit(&b->deaths, memory_order_acquire); d;
         d = d->next) {
        int apart = BOOT_APART;
        if (d->rank == rank)
            atomic_compare_exchange_strong_explicit(&d->scope, &apart, (int)scope,
                                                    memory_order_relaxed, memory_order_relaxed);
    }
}

/* All that failed with a host: it has failed for others, too. */
static void host_is_dead(struct boot *b, int where)
{
    for (struct boot_death *d = atomic_load_explicit(&b->deaths, memory_order_acquire); d;
         d = d->next)
        if (boot_host_of(b, d->rank) == where &&
            atomic_load_explicit(&d->scope, memory_order_relaxed) == BOOT_APART)
            atomic_store_explicit(&d->scope, BOOT_HOST, memory_order_relaxed);
}

/* fail_one(), and what the set says of it is at least `as`. */
static void fail_with_host(struct boot *b, atomic_uchar *set, int rank, enum boot_scope scope,
                           unsigned char as, const char *why)
{
    fail_one(b, set, rank, scope, why);
    /* Acquire and release: the reason may be another thread's (fail_one). */
    unsigned char was = atomic_load_explicit(&set[rank], memory_order_acquire);
    if (was >= FAILED_SEEN && was < as)
        atomic_store_explicit(&set[rank], as, memory_order_release);
}

void boot_fail_take(struct boot *b, int rank, enum boot_scope scope, const char *why)
{
    atomic_uchar *set = bytes_of(b, &b->failed);
    if (!set)
        return;
    if (scope == BOOT_ONE) {
        /* pairs with fail_with_host(): the record is there */
        if (atomic_load_explicit(&set[rank], memory_order_acquire) == FAILED_APART)
            scope_raise(b, rank, scope);
        else
            fail_one(b, set, rank, scope, why);
        return;
    }
    const unsigned char as = scope == BOOT_HOST ? FAILED_WITH_HOST : FAILED_APART;
    if (atomic_load_explicit(&set[rank], memory_order_relaxed) >= as)
        /* each answer of another process may report it again, once for each process of that host */
        return;
    int where = boot_host_of(b, rank);
    if (atomic_load_explicit(&set[rank], memory_order_relaxed) == FAILED_APART)
        host_is_dead(b, where);
    if (!boot_owns(b, rank)) { /* what else is there is not known: each is asked by itself */
        fail_with_host(b, set, rank, scope, as, why);
        return;
    }
    for (int i = 0; i < b->size; i++)
        if (node_map_host(&b->map, i) == where)
            fail_with_host(b, set, b->first + i, scope, as, why);
}

void boot_fail_first(struct boot *b, int rank, const char *why)
{
    atomic_uchar *set = bytes_of(b, &b->failed);
    if (set)
        fail_one(b, set, rank, BOOT_ONE, why);
}

void boot_burials_free(struct boot *b)
{
    for (struct boot_death *d = atomic_load_explicit(&b->deaths, memory_order_acquire), *next; d;
         d = next) {
        next = d->next;
        free(d);
    }
    free(atomic_load_explicit(&b->failed, memory_order_relaxed));
    free(atomic_load_explicit(&b->near, memory_order_relaxed));
}

void boot_fail_now(int rank, const char *why)
{
    struct boot *b = proc->boot;
    if (rank >= 0 && rank < b->universe && !boot_failed(rank))
        boot_fail_first(b, rank, why);
}

void boot_leaves(int rank)
{
    struct boot *b = proc->boot;
    unsigned char none = 0;
    atomic_uchar *set = bytes_of(b, &b->failed);
    /* no memory: the end of its connection will look like a failure */
    if (!set || rank < 0 || rank >= b->universe || boot_owns(b, rank))
        return;
    if (atomic_compare_exchange_strong_explicit(&set[rank], &none, FAILED_LEFT,
                                                memory_order_relaxed, memory_order_relaxed) &&
        b->on_leave)
        b->on_leave();
}

void boot_on_leave(void (*fn)(void))
{
    proc->boot->on_leave = fn;
}

void boot_near_take(int rank)
{
    struct boot *b = proc->boot;
    atomic_uchar *near = bytes_of(b, &b->near);
    if (near && rank >= 0 && rank < b->universe)
        atomic_store_explicit(&near[rank], 1, memory_order_relaxed);
}

/* --- questions ------------------------------------------------------------------- */

int boot_has_left(int rank)
{
    const struct boot *b = proc->boot;
    const atomic_uchar *set = atomic_load_explicit(&b->failed, memory_order_acquire);
    return set && rank >= 0 && rank < b->universe &&
           atomic_load_explicit(&set[rank], memory_order_relaxed) == FAILED_LEFT;
}

int boot_is_near(int rank)
{
    const struct boot *b = proc->boot;
    return rank >= 0 && rank < b->universe && boot_host_of(b, rank) == b->map.host;
}

int boot_failed_count(void)
{
    const struct boot *b = proc->boot;
    /* pairs with fail_one() */
    int n = (int)atomic_load_explicit(&b->burials, memory_order_acquire);
    return b->page ? n + (int)atomic_load_explicit(&b->page->dead_count, memory_order_acquire) : n;
}

/* enum job_death */
static int dead_by_page(const struct boot *b, int rank)
{
    return b->page ? atomic_load_explicit(&b->page->dead[rank], memory_order_acquire) : JOB_LIVES;
}

int boot_failed(int rank)
{
    const struct boot *b = proc->boot;
    if (rank < 0 || rank >= b->universe)
        return 0;
    atomic_uchar *set = atomic_load_explicit(&b->failed, memory_order_acquire);
    return dead_by_page(b, rank) ||
           (set && atomic_load_explicit(&set[rank], memory_order_acquire) >= FAILED_SEEN);
}

int boot_ended(int rank)
{
    const struct boot *b = proc->boot;
    return rank >= 0 && rank < b->universe && dead_by_page(b, rank) != JOB_LIVES;
}

int boot_failed_own(void)
{
    const struct boot *b = proc->boot;
    int n = 0, any = boot_failed_count();
    for (int i = 0; i < b->size && any; i++)
        n += boot_failed(b->first + i);
    return n;
}

const char *boot_failed_why(int rank)
{
    for (const struct boot_death *d =
             atomic_load_explicit(&proc->boot->deaths, memory_order_acquire);
         d; d = d->next)
        if (d->rank == rank)
            return d->why;
    switch (dead_by_page(proc->boot, rank)) {
    case JOB_LIVES: return "there is no connection to it";
    case JOB_NEVER_CAME: return "it ended before MPI_Init";
    default: return "the launcher reported it";
    }
}

int boot_failed_last(void)
{
    const struct boot *b = proc->boot;
    const struct boot_death *d = atomic_load_explicit(&b->deaths, memory_order_acquire);
    for (int i = 0; !d && b->page && i < b->universe; i++)
        if (dead_by_page(b, i))
            return i;
    return d ? d->rank : -1;
}

int boot_barrier_living(void)
{
    return proc->boot->page != NULL;
}

/* --- where are you, signals ---------------------------------------------------- */

/* mpiexec reads these words from outside. */
#define WHERE(field) (offsetof(struct proc, field) - offsetof(struct proc, call))
_Static_assert(WHERE(wait_what) == offsetof(struct where, wait_what) &&
                   WHERE(wait_peer) == offsetof(struct where, wait_peer) &&
                   WHERE(progress) == offsetof(struct where, wait),
               "struct proc holds a struct where");

uint64_t boot_where_at(void)
{
    return sizeof(void *) == 8 ? (uintptr_t)&proc->call : 0;
}

/* Hydra with -disable-auto-cleanup reports a death to the other processes by SIGUSR1.  Its default
 * action would end them, too. */
static void survive(int sig)
{
    (void)sig;
}

void boot_signals_are(struct boot_signals *had)
{
    for (int s = 1; s < NSIG; s++)
        if (sigaction(s, NULL, &had->act[s]) != 0)
            had->act[s].sa_flags = -1; /* none, or the C library's */
}

void boot_signals_back(const struct boot_signals *had)
{
    for (int s = 1; s < NSIG; s++) {
        const struct sigaction *was = &had->act[s];
        struct sigaction is;
        /* Only if another handler is there now: setting it again would discard a signal that is
         * blocked and pending. */
        if (was->sa_flags != -1 && !sigaction(s, NULL, &is) &&
            (is.sa_handler != was->sa_handler || is.sa_flags != was->sa_flags))
            (void)sigaction(s, was, NULL);
    }
}

void boot_survive_on(struct boot *b)
{
    struct sigaction now;
    if (sigaction(SIGUSR1, NULL, &now) || now.sa_handler != SIG_DFL)
        return;
    struct sigaction sa = {.sa_handler = survive, .sa_flags = SA_RESTART};
    sigemptyset(&sa.sa_mask);
    b->survives = !sigaction(SIGUSR1, &sa, &b->survive_before);
}

void boot_survive_off(struct boot *b)
{
    struct sigaction now;
    if (b->survives && !sigaction(SIGUSR1, NULL, &now) && now.sa_handler == survive)
        sigaction(SIGUSR1, &b->survive_before, NULL);
    b->survives = 0;
}

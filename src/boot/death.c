/* death.c - the page our mpiexec shares with its ranks, and what SIGUSR1 prints. */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/proc.h"
#include "boot/boot_types.h"

/* --- the page -------------------------------------------------------------- */

void boot_page_open(struct boot *b)
{
    const char *text = getenv(JOB_PAGE_ENV);
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

int boot_dead_count(void)
{
    const struct job_page *page = proc->boot->page;
    return page ? (int)atomic_load_explicit(&page->dead_count, memory_order_acquire) : 0;
}

int boot_dead(int rank)
{
    const struct job_page *page = proc->boot->page;
    if (!page || rank < 0 || rank >= proc->boot->size)
        return 0;
    return atomic_load_explicit(&page->dead[rank], memory_order_acquire);
}

/* --- where are you ----------------------------------------------------------
 * Runs in a signal handler: only write(2), no stdio, no locks. */

struct text {
    char s[256];
    size_t n;
};

static void add(struct text *t, const char *s)
{
    while (*s && t->n < sizeof t->s - 1)
        t->s[t->n++] = *s++;
}

static void add_number(struct text *t, int v)
{
    char digits[12];
    int n = 0;
    unsigned u = v < 0 ? 0u - (unsigned)v : (unsigned)v;
    if (v < 0)
        add(t, "-");
    do
        digits[n++] = (char)('0' + u % 10);
    while (u /= 10);
    while (n && t->n < sizeof t->s - 1)
        t->s[t->n++] = digits[--n];
}

static void say_where(int sig)
{
    (void)sig;
    struct proc *p = proc;
    struct text t = {.n = 0};
    if (!p->boot)
        return;
    const char *call = p->call, *what = p->wait_what;
    int peer = p->wait_peer;
    add(&t, "rank ");
    add_number(&t, p->boot->rank);
    if (call) {
        add(&t, ": in ");
        add(&t, call);
    } else {
        add(&t, ": outside MPI");
    }
    if (what) {
        add(&t, ", waiting for ");
        add(&t, what);
        if (peer >= 0) {
            add(&t, " (rank ");
            add_number(&t, peer);
            add(&t, ")");
        }
    }
    t.s[t.n++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, t.s, t.n);
    (void)ignored;
}

void boot_where_on(struct boot *b)
{
    struct sigaction now;
    if (sigaction(SIGUSR1, NULL, &now) || now.sa_handler != SIG_DFL)
        return;
    struct sigaction sa = {.sa_handler = say_where, .sa_flags = SA_RESTART};
    sigemptyset(&sa.sa_mask);
    b->where = !sigaction(SIGUSR1, &sa, &b->where_before);
}

void boot_where_off(struct boot *b)
{
    struct sigaction now;
    if (b->where && !sigaction(SIGUSR1, NULL, &now) && now.sa_handler == say_where)
        sigaction(SIGUSR1, &b->where_before, NULL);
    b->where = 0;
}

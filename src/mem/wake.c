/* wake.c - sleep and wake-up: one datagram socket for each process (doc/design/mem.md M7, M8).
 * Start with mem_wake_arm() and mem_wake(). */
#include "mem/mem_types.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/proc.h"
#include "base/sched.h"
#include "var/var.h"

/* Abstract name (first byte 0: no file) of the wake-up socket with this random part. */
static socklen_t wake_name(uint64_t wake, struct sockaddr_un *a)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "windrose.%016llx",
                     (unsigned long long)wake);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

int mem_wake_open(void)
{
    struct mem *m = proc->mem;
    struct mem_record *r = &m->record[m->index];
    struct sockaddr_un a;
    /* With the process id: two simulators with one seed draw the same bits. */
    r->wake = random_bits() ^ (uint64_t)getpid() << 32;
    m->uid = getuid();
    m->wake_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    /* Credentials before the name: no process can send without them. */
    if (m->wake_fd < 0 ||
        setsockopt(m->wake_fd, SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)) != 0 ||
        bind(m->wake_fd, (struct sockaddr *)&a, wake_name(r->wake, &a)) != 0)
        return -errno;
    r->pid_ns = m->pid_ns;
    r->user_ns = m->user_ns;
    /* Release pairs with the acquire in pid_of() and wake_write(). */
    atomic_store_explicit(&r->pid, (int)getpid(), memory_order_release);
    return 0;
}

void mem_wake_close(void)
{
    if (proc->mem->wake_fd >= 0)
        close(proc->mem->wake_fd);
    proc->mem->wake_fd = -1;
}

uint64_t mem_wake_id(void)
{
    return proc->mem->record[proc->mem->index].wake;
}

/* 0 or -errno.  The number is known to the processes of the job alone.  It shows that the datagram
 * is theirs where the kernel knows them as different users (containers).  It is good for nothing
 * else, since another user may take the name of a process that has ended. */
static int wake_send(uint64_t wake)
{
    struct sockaddr_un a;
    socklen_t len = wake_name(wake, &a);
    const struct mem *m = proc->mem;
    uint64_t job = m->job;
    /* EAGAIN: its queue is full, so it will wake.  ECONNREFUSED: it has ended. */
    while (sendto(m->wake_fd, &job, sizeof job, MSG_DONTWAIT | MSG_NOSIGNAL,
                  (struct sockaddr *)&a, len) < 0)
        if (errno != EINTR)
            return -errno;
    return 0;
}

void mem_wake_by_id(uint64_t wake)
{
    wake_send(wake);
}

int mem_wake_refused(int host_index)
{
    return wake_send(proc->mem->record[host_index].wake) == -ECONNREFUSED;
}

static void wake_write(struct mem_record *r)
{
    if (atomic_load_explicit(&r->pid, memory_order_acquire))
        mem_wake_by_id(r->wake);
}

void mem_wake(int host_index)
{
    struct mem_record *r = &proc->mem->record[host_index];
    /* The news was stored before; pairs with the fence in mem_wake_arm(). */
    fence_full();
    unsigned turn = atomic_load_explicit(&r->sleeping, memory_order_relaxed);
    if (!(turn & 1))
        return;
    wake_write(r);
    atomic_compare_exchange_strong_explicit(&r->sleeping, &turn, turn + 1, memory_order_relaxed,
                                            memory_order_relaxed);
}

const atomic_uint *mem_sleeping(int host_index)
{
    return &proc->mem->record[host_index].sleeping;
}

void mem_wake_self(void)
{
    wake_write(&proc->mem->record[proc->mem->index]);
}

void mem_wake_arm(void)
{
    struct mem *m = proc->mem;
    if (!(m->turn & 1))
        m->turn++;
    /* Also when armed already: a waker may have cleared the mark since.  Pairs with the fence in
     * mem_wake(). */
    atomic_store_explicit(&m->record[m->index].sleeping, m->turn, memory_order_relaxed);
    fence_full();
}

/* One datagram. 1: of a process of this user or this job; 0: of another; -1: none.  The buffer has
 * room for the sender's credentials alone, so that the kernel closes descriptors which a stranger
 * attaches. */
static int wake_read(const struct mem *m)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
    uint64_t job;
    struct iovec v = {.iov_base = &job, .iov_len = sizeof job};
    struct msghdr h = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(m->wake_fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0)
        return -1;
    if (n == (ssize_t)sizeof job && job == m->job)
        return 1;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    struct ucred from;
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS ||
        c->cmsg_len < CMSG_LEN(sizeof from))
        return 0;
    memcpy(&from, CMSG_DATA(c), sizeof from);
    return from.uid == m->uid;
}

int mem_wake_heard(void)
{
    int own = 0, foreign = 0, is;
    while ((is = wake_read(proc->mem)) >= 0) {
        own += is;
        foreign += !is;
    }
    if (foreign)
        pvar_set_add(pvar_proc(), PVAR_WAKE_FOREIGN, (uint64_t)foreign);
    return own;
}

void mem_wake_disarm(void)
{
    struct mem *m = proc->mem;
    if (!(m->turn & 1))
        return;
    m->turn++;
    atomic_store_explicit(&m->record[m->index].sleeping, m->turn, memory_order_relaxed);
    mem_wake_heard();
}

enum { ASKED = 4 }; /* a flag beside enum mem_attention */

int mem_attend(enum mem_attention now)
{
    struct mem *m = proc->mem;
    atomic_int *a = &m->record[m->index].attends;
    /* A plain store is cheaper.  If it loses a mark while the state gets no worse, that does no
     * harm. */
    if (now != MEM_BUSY) {
        atomic_store_explicit(a, (int)now, memory_order_relaxed);
        return 0;
    }
    return atomic_exchange_explicit(a, MEM_BUSY, memory_order_acq_rel) & ASKED;
}

enum mem_attention mem_attention_of(int host_index)
{
    return (enum mem_attention)(
        atomic_load_explicit(&proc->mem->record[host_index].attends, memory_order_relaxed) &
        ~ASKED);
}

enum mem_attention mem_ask(int host_index)
{
    atomic_int *a = &proc->mem->record[host_index].attends;
    int seen = atomic_load_explicit(a, memory_order_relaxed);
    while (seen != MEM_BUSY && !(seen & ASKED) &&
           !atomic_compare_exchange_weak_explicit(a, &seen, seen | ASKED, memory_order_acq_rel,
                                                  memory_order_relaxed))
        ;
    return (enum mem_attention)(seen & ~ASKED);
}

int mem_wake_fd(void)
{
    return proc->mem->wake_fd;
}

int mem_host_index(void)
{
    return proc->mem->index;
}

/* Acquire pairs with the release in mem_wake_open(). */
static pid_t pid_of(const struct mem_record *r)
{
    return atomic_load_explicit(&r->pid, memory_order_acquire);
}

pid_t mem_pid(int host_index)
{
    const struct mem_record *r = &proc->mem->record[host_index];
    pid_t pid = pid_of(r);
    return pid && r->pid_ns == proc->mem->pid_ns ? pid : 0;
}

int mem_apart(int host_index)
{
    const struct mem_record *r = &proc->mem->record[host_index];
    return pid_of(r) && r->pid_ns != proc->mem->pid_ns;
}

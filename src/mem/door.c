/* door.c - gives segments of this process to processes of the host that cannot open them by
 * /proc/PID/fd: those of other process or user namespaces, a container each (doc/design/mem.md
 * M11).  Start with mem_door_ask() and serve().
 *
 *      asker                                           owner
 *      {number of the segment, descriptor there}  -->  its door's thread: is it that segment?
 *      descriptor                                 <--  {number, error}, descriptor (SCM_RIGHTS)
 *
 * The owner may compute, so a thread answers.  It holds no lock and touches no table: the kernel
 * tells which file a descriptor is. */
#include "mem/mem_types.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/sched.h"
#include "base/own_thread.h"

enum {
    LOOK_US = 20000,        /* longest sleep of the asker before it looks at the clock */
    SECOND_NS = 1000000000  /* ... after which a question is asked again, or its owner has ended */
};

/* The whole question; the answer has the error in place of the descriptor's number. */
struct words {
    uint64_t seg_id;
    int32_t fd_or_err;
    uint32_t unused;
};

/* Control data of one descriptor. */
union control {
    struct cmsghdr align;
    char room[CMSG_SPACE(sizeof(int))];
};

static socklen_t door_name(uint32_t pid_ns, uint32_t pid, struct sockaddr_un *a)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "windrose.door.%x.%u", pid_ns, pid);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* --- the owner ---------------------------------------------------------------------------- */

static void answer(int fd, struct words w, struct sockaddr_un *to, socklen_t tolen)
{
    int given = w.fd_or_err;
    union control c = {{0}};
    struct iovec v = {&w, sizeof w};
    struct msghdr h = {.msg_name = to, .msg_namelen = tolen, .msg_iov = &v, .msg_iovlen = 1};
    w.fd_or_err = given < 0 ? -EINVAL : mem_descriptor_is(given, w.seg_id);
    if (!w.fd_or_err) {
        h.msg_control = c.room;
        h.msg_controllen = sizeof c.room;
        c.align = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof given), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&c.align), &given, sizeof given);
    }
    /* What finds no room, or an asker that has gone, is asked again or is not wanted. */
    sendmsg(fd, &h, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void *serve(void *arg)
{
    struct mem_door *d = arg;
    /* Pairs with the release in mem_door_close(). */
    while (!atomic_load_explicit(&d->closing, memory_order_acquire)) {
        struct sockaddr_un from;
        socklen_t len = sizeof from;
        struct words w;
        ssize_t n = recvfrom(d->fd, &w, sizeof w, 0, (struct sockaddr *)&from, &len);
        if (n == (ssize_t)sizeof w && len > offsetof(struct sockaddr_un, sun_path))
            answer(d->fd, w, &from, len);
    }
    return NULL;
}

/* A socket of this name, or -errno. */
static int named(const struct sockaddr_un *a, socklen_t len)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)a, len) == 0)
        return fd < 0 ? -errno : fd;
    int err = -errno;
    close(fd);
    return err;
}

static void door_free(struct mem_door *d)
{
    if (d->fd >= 0)
        close(d->fd);
    if (d->ask_fd >= 0)
        close(d->ask_fd);
    free(d);
}

/* A child without exec() would hold the names after this process has ended, and never answer. */
static void in_child(void)
{
    struct mem_door *d = proc && proc->mem ? proc->mem->door : NULL;
    if (d) {
        close(d->fd);
        d->fd = -1;
        mem_wake_close(); /* by it processes of other namespaces see a death */
    }
}

int mem_door_open(struct mem *m)
{
    struct sockaddr_un a;
    if (m->door || sched) /* the simulator's processes are of one namespace */
        return 0;
    struct mem_door *d = calloc(1, sizeof *d);
    if (!d)
        return -ENOMEM;
    d->fd = named(&a, door_name(m->pid_ns, (uint32_t)getpid(), &a));
    /* With the family alone the kernel makes a name, to which answers go. */
    d->ask_fd = named(&a, sizeof a.sun_family);
    int err = d->fd < 0 ? d->fd : d->ask_fd < 0 ? d->ask_fd : 0;
    if (!err && setsockopt(d->ask_fd, SOL_SOCKET, SO_RCVTIMEO,
                           &(struct timeval){.tv_usec = LOOK_US}, sizeof(struct timeval)) != 0)
        err = -errno;
    if (!err)
        err = thread_start(&d->thread, serve, d);
    if (err) {
        door_free(d);
        return err;
    }
    m->door = d;
    if (!m->at_fork)
        m->at_fork = !pthread_atfork(NULL, NULL, in_child);
    return 0;
}

void mem_door_close(struct mem *m)
{
    struct mem_door *d = m->door;
    if (!d)
        return;
    m->door = NULL;
    if (d->fd >= 0) {
        /* Pairs with the acquire in serve(). */
        atomic_store_explicit(&d->closing, 1, memory_order_release);
        shutdown(d->fd, SHUT_RDWR); /* ends the thread's sleep */
        pthread_join(d->thread, NULL);
    }
    door_free(d);
}

/* --- the asker ---------------------------------------------------------------------------- */

/* The answer to the question about seg_id: a descriptor, -errno, or -EAGAIN if none comes within
 * LOOK_US. */
static int answer_take(int fd, uint64_t seg_id)
{
    struct words w;
    union control c;
    struct iovec v = {&w, sizeof w};
    struct msghdr h = {.msg_iov = &v,
                       .msg_iovlen = 1,
                       .msg_control = c.room,
                       /* One descriptor has room.  The kernel closes any other. */
                       .msg_controllen = CMSG_LEN(sizeof(int))};
    ssize_t n = recvmsg(fd, &h, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *m = n < 0 ? NULL : CMSG_FIRSTHDR(&h);
    int given = -1;
    if (m && m->cmsg_level == SOL_SOCKET && m->cmsg_type == SCM_RIGHTS &&
        m->cmsg_len == CMSG_LEN(sizeof given))
        memcpy(&given, CMSG_DATA(m), sizeof given);
    /* A late answer to an earlier question, or a stranger's. */
    if (n != (ssize_t)sizeof w || w.seg_id != seg_id) {
        if (given >= 0)
            close(given);
        return -EAGAIN;
    }
    if (w.fd_or_err)
        return w.fd_or_err < 0 ? w.fd_or_err : -EPROTO;
    /* The kernel found no descriptor for it here. */
    return given >= 0 ? given : h.msg_flags & MSG_CTRUNC ? -EMFILE : -EPROTO;
}

/* 1: the owner's record is there and its wake-up socket open: it has not come to mem_meet() yet. */
static int owner_lives(const struct mem_key *key)
{
    const struct mem *m = proc->mem;
    for (int i = 0; m->record && i < m->count; i++) {
        const struct mem_record *r = &m->record[i];
        /* Acquire pairs with the release in mem_wake_open(). */
        pid_t pid = atomic_load_explicit(&r->pid, memory_order_acquire);
        if (r->pid_ns == key->pid_ns && (uint32_t)pid == key->pid)
            return !mem_wake_refused(i);
    }
    return 0;
}

/* A question that got in is answered.  It is asked again after a second, since an answer may find a
 * full queue; no sooner, since each answer that is not taken holds the memory. */
static int ask(int fd, const struct mem_key *key, uint64_t wait_ns)
{
    struct sockaddr_un a;
    socklen_t len = door_name(key->pid_ns, key->pid, &a);
    struct words w = {.seg_id = key->seg_id, .fd_or_err = key->fd};
    uint64_t start = time_now(), asked = 0; /* 0: the question did not get in */
    for (;;) {
        uint64_t now = time_now();
        if (!asked || now - asked > SECOND_NS) {
            ssize_t n = sendto(fd, &w, sizeof w, MSG_DONTWAIT | MSG_NOSIGNAL,
                               (struct sockaddr *)&a, len);
            /* EPIPE: the owner has closed its door, and a child that it forked just now has not. */
            int gone = n < 0 && (errno == ECONNREFUSED || errno == EPIPE);
            if (n < 0 && !gone && errno != EAGAIN && errno != EINTR)
                return -errno;
            if (gone && now - start > SECOND_NS && !owner_lives(key))
                return -ESTALE;
            asked = n < 0 ? 0 : now;
        }
        if (now - start > wait_ns)
            return -ETIMEDOUT;
        int err = answer_take(fd, key->seg_id);
        if (err != -EAGAIN)
            return err;
    }
}

int mem_door_ask(const struct mem_key *key, uint64_t wait_ns)
{
    return ask(proc->mem->door->ask_fd, key, wait_ns);
}

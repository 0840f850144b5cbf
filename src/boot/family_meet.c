/* family_meet.c - two processes meet at a port that one of them has opened (family.h). Start with
 * family_meet_test().
 *
 *     the one that connects                  the one that accepts
 *     frame: secret, what it brings   --->
 *                                     <---   frame: secret, what it brings
 *     one byte: it has met            --->   has met
 *
 * Each looks at what the other brings before it answers (boot_meet_judge).  One that cannot go on
 * says so instead, by a frame that brings nothing, or by REFUSED for the byte: both calls end.
 *
 * Until that byte has left, the one that connects may go without a trace: the other accepts the
 * next one.  So each of the two knows of every meeting that the other knows of.  Once our frame has
 * left, that byte may be on its way: only the end of the connection is its end, no time. */
#include "boot/family.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/detector_types.h"
#include "var/var.h"

enum { FRAME_MAGIC = 0x57524d31 };

/* For one address to take a connection (ns). */
static const uint64_t CONNECT_NS = 5000000000u;

enum { ACCEPTS_MOST = 16 /* by one look */ };

enum { MET = 0, REFUSED = 1 /* the last byte */ };

struct frame {
    uint32_t magic, len; /* len 0: refused */
    unsigned char secret[FAMILY_SECRET];
    unsigned char bytes[BOOT_BROUGHT_MAX];
};
enum { FRAME_HEAD = sizeof(uint32_t) * 2 + FAMILY_SECRET };

struct family_meet {
    struct family_port *port; /* it accepts there; NULL: it connects */
    struct family_name to;
    unsigned tried;           /* addresses of `to` */
    int epoll, timer, fd;     /* fd: the connection; -1: none */
    int connected, leaves, asleep; /* asleep: the port is among the descriptors */
    struct boot_meeting *m;
    int judged;               /* what this connection brings */
    int verdict;              /* -errno; 0: we go on */
    uint64_t until, step;     /* ns; 0: none.  For all of it; for this connection */
    uint64_t armed;
    uint32_t brings;          /* bytes of our frame */
    size_t sent, got;
    struct frame out, in;
};

/* --- the connection ----------------------------------------------------------------------- */

static void watch(struct family_meet *x, int fd, uint32_t events)
{
    struct epoll_event e = {.events = events};
    if (epoll_ctl(x->epoll, EPOLL_CTL_MOD, fd, &e) && errno == ENOENT)
        (void)epoll_ctl(x->epoll, EPOLL_CTL_ADD, fd, &e);
}

static void drop(struct family_meet *x)
{
    if (x->fd >= 0) {
        /* A child of fork() may have a copy: close() alone neither ends the connection then, nor
         * takes it out of the set. */
        (void)epoll_ctl(x->epoll, EPOLL_CTL_DEL, x->fd, NULL);
        shutdown(x->fd, SHUT_RDWR);
        close(x->fd);
    }
    x->fd = -1;
    x->connected = x->judged = 0;
    x->sent = x->got = 0;
    x->step = 0;
}

/* A host that goes away without a word. */
static void keep_alive(int fd)
{
    detector_keep_alive(fd, 30, 10, 3);
}

static size_t frame_bytes(const struct frame *f)
{
    return FRAME_HEAD + f->len;
}

/* 1: it has left; 0: not yet; -1: the connection is over. */
static int send_out(struct family_meet *x)
{
    while (x->sent < frame_bytes(&x->out)) {
        ssize_t n = send(x->fd, (char *)&x->out + x->sent, frame_bytes(&x->out) - x->sent,
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -1;
        x->sent += (size_t)n;
    }
    return 1;
}

/* The bytes up to `end` of what comes: 1, 0, -1 as above. */
static int take(struct family_meet *x, size_t end)
{
    while (x->got < end) {
        ssize_t n = recv(x->fd, (char *)&x->in + x->got, end - x->got, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 && errno == EAGAIN ? 0 : -1;
        x->got += (size_t)n;
    }
    return 1;
}

static int take_frame(struct family_meet *x)
{
    int done = take(x, FRAME_HEAD);
    if (done != 1)
        return done;
    if (x->in.magic != FRAME_MAGIC || x->in.len > sizeof x->in.bytes ||
        memcmp(x->in.secret, x->out.secret, sizeof x->in.secret) != 0)
        return -1;
    return take(x, frame_bytes(&x->in));
}

/* Once for a connection, behind its whole frame. */
static int verdict(struct family_meet *x)
{
    struct boot_meeting *m = x->m;
    if (x->judged)
        return x->verdict;
    x->judged = 1;
    m->len = x->in.len;
    memcpy(m->brought, x->in.bytes, m->len);
    x->verdict = m->judge ? m->judge(m, m->arg) : 0;
    return x->verdict;
}

/* --- the two sides: 1: they have met; 0: not yet; -errno ------------------------------------ */

/* 1: the job that was to come here has ended. */
static int over(const struct family_port *p, int *fd)
{
    const struct boot_ops *ops = proc->boot->ops;
    return p->job && ops->spawn_over && ops->spawn_over(p->job, fd) > 0;
}

static int accept_next(struct family_meet *x)
{
    if (x->leaves)
        return -ECANCELED;
    if (x->port->closed)
        return -ENOENT;
    if (x->until && time_now() >= x->until)
        return -ECHILD;
    if (over(x->port, NULL))
        return -ESRCH;
    x->fd = accept4(x->port->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (x->fd < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : 0;
    keep_alive(x->fd);
    x->step = time_now() + x->port->stranger_ns;
    return 1;
}

/* 1: x->verdict is the end; 0: not yet; -1: the connection is over. */
static int answer(struct family_meet *x)
{
    unsigned char met;
    if (!x->sent && (x->leaves || x->port->closed))
        return -1;
    int done = take_frame(x);
    if (done == 1) {
        x->out.len = verdict(x) ? 0 : x->brings;
        done = send_out(x);
    }
    if (done != 1 || x->verdict)
        return done;
    for (;;) {
        ssize_t n = recv(x->fd, &met, 1, MSG_DONTWAIT);
        if (n > 0 && met != MET)
            x->verdict = -ECONNREFUSED;
        if (n >= 0 || errno != EINTR)
            return n > 0 ? 1 : n < 0 && errno == EAGAIN ? 0 : -1;
    }
}

static int accepts(struct family_meet *x)
{
    for (int i = 0; i < ACCEPTS_MOST; i++) {
        int done = x->fd < 0 ? accept_next(x) : 1;
        if (done != 1)
            return done;
        done = answer(x);
        if (done == 1 && x->verdict)
            return x->verdict;
        if (done == 1 || (!done && (x->sent || time_now() < x->step)))
            return done;
        drop(x);
    }
    return 0; /* more may wait: then the port's descriptor is readable */
}

static int connect_next(struct family_meet *x)
{
    struct sockaddr_storage a;
    if (x->leaves)
        return -ECANCELED;
    if (x->tried == x->to.spots)
        return -ENOENT;
    socklen_t len = detector_spot_sockaddr(&x->to.spot[x->tried++], &a);
    x->fd = socket(a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (x->fd < 0)
        return errno == EAFNOSUPPORT ? 1 : -errno;
    x->step = time_now() + CONNECT_NS;
    keep_alive(x->fd);
    if (connect(x->fd, (struct sockaddr *)&a, len) && errno != EINPROGRESS)
        drop(x);
    return 1;
}

/* -ENOTCONN: this address leads nowhere. */
static int connects_here(struct family_meet *x)
{
    int err = 0;
    socklen_t len = sizeof err;
    if (!x->connected) {
        struct sockaddr_storage a;
        socklen_t room = sizeof a;
        if (getsockopt(x->fd, SOL_SOCKET, SO_ERROR, &err, &len) || err)
            return -ENOTCONN;
        if (getpeername(x->fd, (struct sockaddr *)&a, &room))
            return time_now() < x->step ? 0 : -ENOTCONN;
        x->connected = 1;
    }
    if (x->leaves)
        return -ECANCELED;
    int done = send_out(x);
    if (done == 1)
        done = take_frame(x);
    if (done == 1 && !x->in.len)
        return -ECONNREFUSED;
    if (done == 1) {
        unsigned char met = verdict(x) ? REFUSED : MET;
        done = send(x->fd, &met, 1, MSG_NOSIGNAL) == 1 ? 1 : -1;
    }
    return x->verdict ? x->verdict : done < 0 ? -ENOENT : done; /* the port was closed */
}

static int connects(struct family_meet *x)
{
    for (;;) {
        int done = x->fd < 0 ? connect_next(x) : 1;
        if (done != 1)
            return done;
        if (x->fd < 0)
            continue;
        done = connects_here(x);
        if (done != -ENOTCONN)
            return done;
        drop(x);
    }
}

/* --- meetings ------------------------------------------------------------------------------- */

static void sleep_on(struct family_meet *x)
{
    uint64_t at = x->fd < 0 ? x->until : x->sent || x->connected ? 0 : x->step;
    if (x->port && x->asleep != (x->fd < 0)) { /* others may be there: one at a time */
        x->asleep = x->fd < 0;
        watch(x, x->port->fd, x->asleep ? EPOLLIN : 0);
    }
    if (x->fd >= 0) {
        int writes = !x->connected && !x->port;
        writes |= x->sent > 0 && x->sent < frame_bytes(&x->out);
        watch(x, x->fd, EPOLLIN | (writes ? EPOLLOUT : 0));
    }
    if (at == x->armed)
        return;
    x->armed = at;
    uint64_t now = time_now(), left = at > now ? at - now : 1;
    struct itimerspec when = {.it_value = {.tv_sec = (time_t)(left / 1000000000u),
                                           .tv_nsec = (long)(left % 1000000000u)}};
    if (!at)
        when = (struct itimerspec){0};
    timerfd_settime(x->timer, 0, &when, NULL);
}

static void meet_free(struct family *d, struct family_meet *x)
{
    if (x->port)
        family_port_left(d, x->port);
    drop(x);
    if (x->timer >= 0)
        close(x->timer);
    if (x->epoll >= 0)
        close(x->epoll);
    free(x);
}

int family_meet_begin(struct family *d, struct boot_meeting *m, int accepting, const char *port,
                      const void *bring, size_t len, int *fd)
{
    struct family_meet *x = calloc(1, sizeof *x);
    if (!x)
        return -ENOMEM;
    int err = family_name_read(d, port, &x->to);
    x->fd = -1;
    x->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    x->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!err && (x->timer < 0 || x->epoll < 0))
        err = -EMFILE;
    if (!err && accepting) {
        x->port = family_port_find(d, port);
        err = x->port ? 0 : -EACCES;
    }
    if (x->port) {
        x->port->waits++;
        if (x->port->spawned) {
            int ends = -1;
            x->until = time_now() + (uint64_t)cvar.boot_timeout * 1000000000u;
            (void)over(x->port, &ends);
            if (ends >= 0)
                watch(x, ends, EPOLLIN);
        }
    }
    if (err) {
        meet_free(d, x);
        return err;
    }
    x->brings = (uint32_t)len;
    x->out = (struct frame){.magic = FRAME_MAGIC, .len = x->brings};
    memcpy(x->out.secret, x->to.secret, sizeof x->out.secret);
    memcpy(x->out.bytes, bring, len);
    watch(x, x->timer, EPOLLIN);
    m->meeting = x;
    *fd = x->epoll;
    return 0;
}

int family_meet_test(struct family *d, struct boot_meeting *m)
{
    struct family_meet *x = m->meeting;
    x->m = m; /* it may have been moved since the last look */
    int done = x->port ? accepts(x) : connects(x);
    if (!done) {
        sleep_on(x);
        return 0;
    }
    m->rc = done < 0 ? done : 0;
    m->done = 1;
    m->len = done > 0 ? m->len : 0;
    if (done > 0 && x->port && x->port->spawned) /* it was for one meeting */
        family_port_close(d, x->port);
    meet_free(d, x);
    m->meeting = NULL;
    return 1;
}

void family_meet_leave(struct boot_meeting *m)
{
    if (m->meeting)
        m->meeting->leaves = 1;
}

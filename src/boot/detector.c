/* detector.c - is a process of another host alive? Asked of its kernel and of a thread that sleeps,
 * never of its user's code. Start with detector_run().
 *
 *   watching thread of A                       B
 *   connect ---------------------------->      kernel: the port is open
 *                                              (B is alive: it computes or is stopped)
 *           refused                            kernel: no such port (B has ended)
 *           nothing, for MPIR_CVAR_PEER_TIMEOUT
 *                                              (the host of B is cut off)
 *   "hello", B's first secret ---------->      watching thread of B
 *           <----------------------------      B's second secret, and which processes B counts as
 *                                              failed
 *
 * The thread has a listening socket, at most GUESTS connections of others and PROBES questions of
 * its own. It sleeps in poll(2), without end while no process asks. It knows only what it is given:
 * a rank and that rank's card.
 *
 *   W1 A stopped process does not answer. Its connection is kept while the kernel there
 *      acknowledges it, or until others need the place. So a process that is asked again and again,
 *      for as long as a debugger holds it, does not fill the queue of its port.
 *   W2 A refusal or silence counts only where the network was seen to work: on a way out of this
 *      host (the local address of the connection) by which some process of another host has
 *      answered with its secret. A firewall ends no process. (Messages from a host prove nothing:
 *      those that reject connections in its name let them through.)
 *   W3 An address that this host has too (a bridge of containers) leads to ourselves and is not
 *      tried for another host.
 *   W4 An answer names the failures that B knows of. A process that waits for B, which gave up
 *      because of another failure, learns of that one. If this process is among them, the two have
 *      failed for each other, and all else that B reports is ignored: a host that was cut off and
 *      comes back counts all others as failed. B does not report a silent host if no process could
 *      vouch that it was not B's own host that was cut off (BOOT_APART). Only its own host, which
 *      is in the same place, gets that. To vouch is to answer, from a third host, while the silent
 *      one is still asked, and long enough for it to answer, too.
 *   W5 What is silent is a host: all its processes are. If one is silent while others of its host
 *      answer, it is stopped and the queue of its port is full: the kernel refuses for a process
 *      that has ended. Which processes of other jobs share a host is told by their first address
 *      (detector_host_same). That is no proof, so none is reported as failed with its host.
 *   W6 A process that asks is not turned away: three ends without an answer are a failure
 *      (SHUT_MAX). However many ask at once, their connections wait in the kernel until the
 *      question is there, and then for a free place.
 *   W7 A process that never had an answer, a question or a message by a network from another host
 *      cannot distinguish a firewall from a failure (W2), and shall not wait for ever. The process
 *      that it waits for is given up after DEAF times the time-out. After one of these from any
 *      process this rule is off: then it is a firewall.
 *   W8 A message that came after the question is an answer. Silence counts from there, and no more
 *      if no process has asked since. Of those that follow it none is reported until the next
 *      question: so silence counts anew from that.
 * The thread touches its own record, struct boot's set of failures (atomic) and nothing else;
 * proc->lock is not its.
 *
 *   detector_addr.c   addresses of this host, the port
 *   detector_ask.c    probes and their lines
 *   detector_serve.c  answers to others
 *   detector_judge.c  what the lines of a probe mean
 *   detector.c        the thread, its start and end, what other rooms call */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/sched.h"
#include "base/own_thread.h"
#include "boot/detector_types.h"
#include "var/var.h"

/* --- the thread ---------------------------------------------------------------------------- */

/* Questions of our process. 0: it wants this thread to end. */
static int control(struct detector *w, uint64_t now)
{
    struct ask a;
    while (read(w->control_fd, &a, sizeof a) == sizeof a)
        if (a.rank >= 0 && a.why == ASK_HEARD)
            detector_probe_spoke(w, a.rank, now);
        else if (a.rank >= 0)
            detector_probe_take(w, &a, now);
    /* pairs with boot_detector_stop() */
    return !atomic_load_explicit(&w->stop, memory_order_acquire);
}

/* This process was stopped, or its machine.  It could not read answers meanwhile. */
static void was_away(struct detector *w, uint64_t ns)
{
    for (int i = 0; i < PROBES; i++) {
        struct probe *p = &w->probe[i];
        p->since += ns;
        p->host_since += ns;
        p->begun += ns;
        if (p->vouched)
            p->vouched += ns;
    }
}

static uint64_t look_at_clock(struct detector *w)
{
    uint64_t now = time_now();
    if (now > w->wake_by) {
        if (now - w->wake_by > SECOND)
            was_away(w, now - w->wake_by);
        w->wake_by = now; /* no time in the record is later: what is moved stays in the past */
    }
    return now;
}

/* Begin what is due; returns ms until the next is, -1: none. */
static int due(struct detector *w, uint64_t now)
{
    uint64_t next = UINT64_MAX;
    for (int i = 0; i < PROBES; i++) {
        struct probe *p = &w->probe[i];
        if (p->rank < 0)
            continue;
        for (int k = 0; k < DETECTOR_SPOTS; k++) {
            struct line *l = &p->line[k];
            if (detector_line_is_stale(w, l, now))
                detector_line_retry(l, now);
            if (l->state == LINE_IDLE && l->again <= now)
                detector_line_begin(w, p, l, now);
        }
        detector_witness_call(w, p, now);
        detector_probe_judge(w, p, now);
        if (p->rank >= 0 && !detector_probe_open(p) && now + AGAIN_NS < next)
            next = now + AGAIN_NS;
    }
    for (int i = 0; i < GUESTS; i++) {
        struct guest *g = &w->guest[i];
        if (g->fd >= 0 && now - g->since > GUEST_NS) {
            detector_guest_answer(w, g); /* perhaps this thread was away, not the guest */
            if (g->fd >= 0)
                detector_guest_drop(w, g);
        } else if (g->fd >= 0 && g->since + GUEST_NS < next) {
            next = g->since + GUEST_NS;
        }
    }
    if (w->take_at > now && w->take_at < next)
        next = w->take_at;
    return next == UINT64_MAX ? -1 : (int)((next - now) / MS) + 1;
}

/* The places of the descriptors in fds are kept in the record.  A descriptor that is not open is
 * -1, which poll skips. */
static void collect(struct detector *w, uint64_t now)
{
    struct pollfd *f = w->fds;
    *f++ = (struct pollfd){.fd = w->control_fd, .events = POLLIN};
    *f++ = (struct pollfd){.fd = w->take_at <= now && detector_guest_place(w) ? w->listen_fd : -1,
                           .events = POLLIN};
    for (int i = 0; i < GUESTS; i++)
        *f++ = (struct pollfd){.fd = w->guest[i].fd, .events = POLLIN};
    for (int i = 0; i < PROBES; i++)
        for (int k = 0; k < DETECTOR_SPOTS; k++, f++) {
            const struct line *l = &w->probe[i].line[k];
            *f = (struct pollfd){.fd = w->probe[i].rank < 0 ? -1 : l->fd,
                                 .events = l->state == LINE_OPEN ? POLLIN : POLLOUT};
        }
}

static void *detector_run(void *arg)
{
    struct detector *w = arg;
    for (;;) {
        uint64_t now = look_at_clock(w);
        int ms = due(w, now);
        w->wake_by = ms < 0 ? UINT64_MAX : now + (uint64_t)ms * MS;
        collect(w, now);
        int n = poll(w->fds, sizeof w->fds / sizeof *w->fds, ms);
        /* out of memory, or more places than RLIMIT_NOFILE: poll would return at once each time */
        if (n < 0 && errno != EINTR)
            usleep((useconds_t)(AGAIN_NS / 1000));
        if (n < 0) /* stop is tested in any case */
            w->fds[0].revents = POLLIN;
        if (n == 0)
            continue;
        now = look_at_clock(w);
        const struct pollfd *f = w->fds + 2;
        for (int i = 0; i < GUESTS; i++, f++)
            if (f->revents && w->guest[i].fd == f->fd)
                detector_guest_answer(w, &w->guest[i]);
        for (int i = 0; i < PROBES; i++)
            for (int k = 0; k < DETECTOR_SPOTS; k++, f++) {
                struct line *l = &w->probe[i].line[k];
                if (!f->revents || w->probe[i].rank < 0 || l->fd != f->fd)
                    continue;
                if (l->state == LINE_CONNECTING)
                    detector_line_opens(w, &w->probe[i], l, now);
                else
                    detector_line_reads(w, &w->probe[i], l, now);
            }
        if (w->fds[1].revents)
            detector_guests_take(w, now);
        if (w->fds[0].revents && !control(w, now))
            return NULL;
    }
}

/* --- life ------------------------------------------------------------------------------------ */

/* A child without exec() shares our port and would answer for us after our death.  Close it once:
 * in the child's own children the number may belong to another file. */
static void in_child(void)
{
    struct boot *b = proc->boot;
    if (!b || !b->watch || b->watch->listen_fd < 0)
        return;
    close(b->watch->listen_fd);
    b->watch->listen_fd = -1;
}

static void detector_free(struct detector *w)
{
    int fds[] = {w->listen_fd, w->ask_fd, w->control_fd, w->spare_fd, w->answer_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(w);
}

static int detector_open(struct detector *w)
{
    int fd[2], err = detector_addresses_find(w);
    if (err)
        return err;
    if ((w->listen_fd = detector_port_open(&w->card)) < 0)
        return w->listen_fd;
    if (pipe2(fd, O_CLOEXEC | O_NONBLOCK))
        return -errno;
    w->control_fd = fd[0];
    w->ask_fd = fd[1];
    if ((w->answer_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
        return -errno;
    detector_spare_take(w);
    w->card.hello = random_bits();
    w->card.answer = random_bits();
    if (gethostname(w->card.host, sizeof w->card.host - 1))
        strcpy(w->card.host, "?");
    w->card.host[strcspn(w->card.host, ".")] = 0;
    return thread_start(&w->thread, detector_run, w);
}

int boot_detector_start(int others)
{
    struct boot *b = proc->boot;
    if (b->watch || !b->ops->watched || b->page || !cvar.peer_timeout ||
        (b->map.host_size == b->size && !others))
        return 0;
    struct detector *w = calloc(1, sizeof *w);
    if (!w)
        return -ENOMEM;
    w->b = b;
    w->timeout = cvar.peer_timeout;
    w->listen_fd = w->ask_fd = w->control_fd = w->spare_fd = w->answer_fd = -1;
    w->wake_by = UINT64_MAX;
    for (int i = 0; i < WITNESSES; i++)
        w->witness[i].rank = -1;
    for (int i = 0; i < PROBES; i++) {
        w->probe[i].rank = -1;
        for (int k = 0; k < DETECTOR_SPOTS; k++)
            w->probe[i].line[k].fd = -1;
    }
    for (int i = 0; i < GUESTS; i++)
        w->guest[i].fd = -1;
    int err = detector_open(w);
    if (err) {
        detector_free(w);
        return err;
    }
    b->watch = w;
    pthread_atfork(NULL, NULL, in_child);
    return 0;
}

void boot_detector_stop(void)
{
    struct boot *b = proc->boot;
    struct detector *w = b->watch;
    if (!w)
        return;
    /* Closing the pipe would not do: a child of ours may hold it open.  If the pipe is full, the
     * thread is about to read it. */
    const struct ask nothing = {.rank = -1};
    atomic_store_explicit(&w->stop, 1, memory_order_release); /* pairs with control() */
    (void)!write(w->ask_fd, &nothing, sizeof nothing);
    pthread_join(w->thread, NULL);
    for (int i = 0; i < PROBES; i++)
        if (w->probe[i].rank >= 0)
            detector_probe_end(&w->probe[i]);
    for (int i = 0; i < GUESTS; i++)
        if (w->guest[i].fd >= 0)
            detector_guest_drop(w, &w->guest[i]);
    b->watch = NULL;
    detector_free(w);
}

size_t boot_detector_card(void *buf, size_t room)
{
    const struct detector *w = proc->boot->watch;
    if (!w || room < sizeof w->card)
        return 0;
    memcpy(buf, &w->card, sizeof w->card);
    return sizeof w->card;
}

uint64_t boot_detector_turn(void)
{
    const struct detector *w = proc->boot->watch;
    if (!w)
        return 0;
    return w->timeout > 1 ? (uint64_t)w->timeout * 250 * MS : AGAIN_NS;
}

int boot_detector_proven(void)
{
    const struct detector *w = proc->boot->watch;
    return !w || atomic_load_explicit(&w->proven, memory_order_relaxed);
}

int boot_detector_doubt(void)
{
    struct detector *w = proc->boot->watch;
    return w ? atomic_exchange_explicit(&w->doubt, 0, memory_order_relaxed) - 1 : -1;
}

static void put_question(int rank, enum ask_why why, const void *card, size_t len)
{
    const struct detector *w = proc->boot->watch;
    struct ask a = {.rank = rank, .why = why};
    if (!w || len != sizeof a.card || rank == boot_rank() || boot_failed(rank))
        return;
    memcpy(&a.card, card, sizeof a.card);
    (void)!write(w->ask_fd, &a, sizeof a); /* full: the caller asks again */
}

void boot_detector_ask(int rank, const void *card, size_t len)
{
    put_question(rank, ASK_LIFE, card, len);
}

void boot_detector_try(int rank, const void *card, size_t len)
{
    put_question(rank, ASK_PROOF, card, len);
}

void boot_detector_hear(int rank)
{
    struct detector *w = proc->boot->watch;
    struct ask a = {.rank = rank, .why = ASK_HEARD};
    if (!w || boot_is_near(rank))
        return;
    atomic_store_explicit(&w->heard, 1, memory_order_relaxed);
    (void)!write(w->ask_fd, &a, sizeof a); /* full: the next message reports it again */
}

int boot_detector_wait(uint64_t ns)
{
    const struct detector *w = proc->boot->watch;
    struct pollfd f = {.fd = w ? w->answer_fd : -1, .events = POLLIN};
    uint64_t end = time_now() + ns, now;
    while (w && !atomic_load_explicit(&w->answered, memory_order_relaxed) &&
           (now = time_now()) < end)
        poll(&f, 1, (int)((end - now) / MS) + 1);
    return !w || atomic_load_explicit(&w->answered, memory_order_relaxed);
}

int boot_detector_deaf(void)
{
    const struct detector *w = proc->boot->watch;
    return w && detector_is_deaf(w);
}

/* detector_serve.c - the watching thread answers other processes (guests) and reports the failures
 * that this process knows (W4, W6). */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "boot/detector_types.h"

void detector_spare_take(struct detector *w)
{
    if (w->spare_fd < 0)
        w->spare_fd = fcntl(w->control_fd, F_DUPFD_CLOEXEC, 0);
}

void detector_guest_drop(struct detector *w, struct guest *g)
{
    close(g->fd);
    g->fd = -1;
    detector_spare_take(w);
}

static void failure_report(const struct boot_death *d, struct detector_obituary *to)
{
    memset(to, 0, sizeof *to);
    to->rank = (uint32_t)d->rank;
    to->scope = (uint32_t)atomic_load_explicit(&d->scope, memory_order_relaxed);
    memcpy(to->why, d->why, strlen(d->why));
}

/* Failures that this process knows, DETECTOR_FAILURES at a time in turn.  If the guest is among
 * them, only that one (W4). */
static uint32_t failures_report(struct detector *w, uint32_t asker, struct detector_obituary *to)
{
    uint32_t n = 0;
    int near = detector_is_near(w, (int)asker);
    /* pairs with boot_fail_take() */
    unsigned at = 0, count = atomic_load_explicit(&w->b->burials, memory_order_acquire);
    if (w->tell_from >= count)
        w->tell_from = 0;
    unsigned next = w->tell_from;
    for (const struct boot_death *d = atomic_load_explicit(&w->b->deaths, memory_order_acquire); d;
         d = d->next, at++) {
        if ((uint32_t)d->rank == asker) {
            failure_report(d, to);
            return 1;
        }
        if (at < w->tell_from || n == DETECTOR_FAILURES)
            continue;
        next = at + 1;
        if (near || atomic_load_explicit(&d->scope, memory_order_relaxed) != BOOT_APART)
            failure_report(d, &to[n++]);
    }
    w->tell_from = next;
    return n;
}

/* Does the guest ask from this host? That of another job may be known by its address only: its card
 * comes later. */
static int guest_is_near(const struct detector *w, const struct guest *g, int rank)
{
    struct sockaddr_storage a;
    socklen_t len = sizeof a;
    struct detector_spot s;
    return detector_is_near(w, rank) ||
           (!boot_owns(w->b, rank) && !getpeername(g->fd, (struct sockaddr *)&a, &len) &&
            !detector_spot_of((struct sockaddr *)&a, &s) &&
            detector_spot_among(&s, w->own, w->nown));
}

/* The guest's question is there, or the guest has closed. */
void detector_guest_answer(struct detector *w, struct guest *g)
{
    struct detector_hello h;
    ssize_t n = recv(g->fd, &h, sizeof h, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    /* A guest that does not know the secret gets no answer. */
    if (n == sizeof h && h.secret == w->card.hello && h.rank < (uint32_t)w->b->universe) {
        struct detector_answer a = {.secret = w->card.answer};
        /* W7: something has come from another host, even if it is no answer */
        if (!guest_is_near(w, g, (int)h.rank))
            atomic_store_explicit(&w->heard, 1, memory_order_relaxed);
        a.deaths = failures_report(w, h.rank, a.death);
        /* An empty socket takes it whole. */
        (void)!send(g->fd, &a,
                    offsetof(struct detector_answer, death) + a.deaths * sizeof a.death[0],
                    MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    detector_guest_drop(w, g);
}

/* NULL: all places are taken.  Guests that send nothing (W6) lose theirs when they are old. */
struct guest *detector_guest_place(struct detector *w)
{
    for (int i = 0; i < GUESTS; i++)
        if (w->guest[i].fd < 0)
            return &w->guest[i];
    return NULL;
}

/* A process without free descriptors is alive, and must answer so. */
static int guest_accept(struct detector *w)
{
    int fd = accept4(w->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0 || (errno != EMFILE && errno != ENFILE) || w->spare_fd < 0)
        return fd;
    close(w->spare_fd);
    w->spare_fd = -1;
    return accept4(w->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

void detector_guests_take(struct detector *w, uint64_t now)
{
    struct guest *g;
    for (int i = 0; i < GUESTS && (g = detector_guest_place(w)); i++) {
        int fd = guest_accept(w), want = sizeof(struct detector_hello);
        if (fd < 0) {
            /* Out of descriptors or memory: the guest stays in the queue, and poll(2) would report
             * it again at once. */
            if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                w->take_at = now + AGAIN_NS;
            detector_spare_take(w);
            return;
        }
        setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &want, sizeof want);
        *g = (struct guest){fd, now};
        detector_guest_answer(w, g);
    }
}

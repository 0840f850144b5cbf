/* sleep.c - the completion queue's descriptors, and when a thread may sleep on them. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/timerfd.h>

#include "tp/ofi/ofi.h"

/* How long to sleep while the provider refuses messages: nothing reports when it takes them again
 * (ns). */
enum { RETRY_NS = 1000000 };

enum { POLLFDS_OWN = 2 }; /* descriptors of libfabric itself on each such list */

/* A queue that can be slept on in the requested way, else in another, else one that cannot. */
int ofi_cq_open(struct ofi *o, enum fi_wait_obj way)
{
    struct fi_cq_attr attr = {.size = 4096, .format = FI_CQ_FORMAT_DATA, .wait_obj = way};
    o->nfds = 0;
    o->wait = way;
    int err = fi_cq_open(o->domain, &attr, &o->cq, NULL);
    if (!err && way == FI_WAIT_FD) {
        err = fi_control(&o->cq->fid, FI_GETWAIT, &o->fd[0]);
        o->nfds = !err;
        if (err) {
            ofi_close_fid(&o->cq->fid);
            o->cq = NULL;
        }
    }
    if (!err || way == FI_WAIT_NONE)
        return err;
    return ofi_cq_open(o, way == FI_WAIT_POLLFD ? FI_WAIT_FD : FI_WAIT_NONE);
}

static int pollfds_of(struct ofi *o, struct pollfd *fds, uint64_t *as_of)
{
    struct fi_wait_pollfd w = {.nfds = OFI_FDS, .fd = fds};
    int err = fi_control(&o->cq->fid, FI_GETWAIT, &w);
    *as_of = w.change_index;
    return err ? err : (int)w.nfds;
}

/* Whether n descriptors (or an error) are all: as_of counts those added after the first of
 * libfabric.  Two belong to libfabric. */
static int pollfds_whole(int n, uint64_t as_of)
{
    return n >= POLLFDS_OWN && (uint64_t)n == as_of + 1;
}

/* The descriptors of FI_WAIT_POLLFD. libfabric lists those that were added since when a thread
 * waits by it.  So wait once, when no event can come yet.  Its time-out is in whole ms, so the
 * first may be over before it waits. */
int ofi_pollfds_learn(struct ofi *o)
{
    enum { TRIES = 4 };
    struct fi_cq_data_entry e;
    struct pollfd fds[OFI_FDS];
    int n = 0;
    for (int i = 0; i < TRIES && !pollfds_whole(n, o->fds_as_of); i++) {
        ssize_t came = fi_cq_sread(o->cq, &e, 1, NULL, 1 + i);
        if (came != -FI_EAGAIN && came != -FI_EINTR)
            return -FI_ENOSYS;
        n = pollfds_of(o, fds, &o->fds_as_of);
    }
    if (!pollfds_whole(n, o->fds_as_of))
        return -FI_ENOSYS;
    for (int i = 0; i < n; i++) {
        if (fds[i].fd < 0 || fds[i].events != POLLIN)
            return -FI_ENOSYS;
        o->fd[i] = fds[i].fd;
    }
    /* Only its own, and none of the provider's (FI_OFI_RXM_DEF_TCP_WAIT_OBJ=pollfd): no message
     * would wake a sleeper, by FI_WAIT_FD neither. */
    o->nfds = n > POLLFDS_OWN ? n : 0;
    return 0;
}

static int waits_for_provider(const struct ofi *o)
{
    return !list_empty(&o->queuing) || !list_empty(&o->owing) || !list_empty(&o->unposted) ||
           ofi_rails_wait(o);
}

/* Try again soon what the provider refused: nothing reports when it would take it. */
static int timer_wind(struct ofi *o)
{
    const struct itimerspec soon = {.it_value.tv_nsec = RETRY_NS};
    if (o->timer_fd < 0)
        o->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    return o->timer_fd < 0 || timerfd_settime(o->timer_fd, 0, &soon, NULL) != 0 ? -errno : 0;
}

static int arm(struct ofi *o)
{
    struct fid *f = &o->cq->fid;
    /* A sleeper makes few turns: the next one reads the clock, here and in ofi_rails_progress(). */
    o->turns = OFI_TURNS - 1;
    o->rail_turns = -1u;
    if (!o->nfds)
        return -ENOTSUP;
    int err = waits_for_provider(o) ? timer_wind(o) : 0;
    if (err)
        return err;
    if (fi_trywait(o->fabric, &f, 1) != 0)
        return TP_AGAIN;
    for (int i = 0; i < o->nrails; i++) {
        f = &o->rail[i].cq->fid;
        if (!o->rail[i].dead && fi_trywait(o->rail[i].fabric, &f, 1) != 0)
            return TP_AGAIN;
    }
    struct pollfd fds[OFI_FDS];
    uint64_t as_of = o->fds_as_of;
    if (o->wait == FI_WAIT_POLLFD)
        (void)pollfds_of(o, fds, &as_of);
    return as_of == o->fds_as_of ? 0 : -ENOTSUP;
}

int ofi_fd(struct tp *tp, int armed)
{
    struct ofi *o = (struct ofi *)tp;
    if (armed)
        return arm(o);
    return o->nfds ? o->fd[0] : -1;
}

int ofi_fds(struct tp *tp, int *fd)
{
    struct ofi *o = (struct ofi *)tp;
    int n = o->nfds;
    memcpy(fd, o->fd, (size_t)n * sizeof *fd);
    for (int i = 0; i < o->nrails; i++)
        if (!o->rail[i].dead)
            fd[n++] = o->rail[i].fd;
    if (waits_for_provider(o))
        fd[n++] = o->timer_fd;
    return n;
}

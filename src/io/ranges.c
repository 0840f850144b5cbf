/* ranges.c - locks of ranges of a file: among processes and jobs by the kernel, among the threads
 * of a process, which share the open file, by a lock of memory.
 *
 *   attempt --busy--> pause, longer the longer it lasts --> attempt ...
 *      | held            | the thread of the call makes progress, a worker sleeps
 *      v                 v
 *   move, release     a process of the file has failed: 10 s more, then an error
 *
 * An attempt may be a message to a server that does not answer, so it is made without proc->lock.
 * Between attempts nothing is held, so whatever progress runs may lock, too. The kernel takes the
 * locks of a process back that dies. One that is lost with its host may keep them; hence the error.
 * Start with range_hold(). */
#include <errno.h>
#include <fcntl.h>

#include "io/io_types.h"

/* A pause is a part of the wait so far, so it prolongs the wait by that part at most. */
enum { PAUSE_PART = 8 };
#define PAUSE_LEAST_NS UINT64_C(10000)
#define PAUSE_MOST_NS UINT64_C(20000000)
#define AFTER_DEATH_NS UINT64_C(10000000000)

struct ask {
    struct transfer *x;
    struct flock l;
    uint64_t lost; /* when a process was found to have failed; or 0 */
    int held;
};

static void refused(struct ask *k, int e)
{
    k->x->err = e;
    k->x->at = k->l.l_start;
}

/* An open file description owns the lock, so it also holds against other files of the process. */
static int set(const struct transfer *x, struct flock *l)
{
    int e;
    do
        e = fcntl(x->fd, F_OFD_SETLK, l) ? errno : 0;
    while (e == EINTR);
    return e;
}

/* 1: held or refused. 0: another thread or process has it. */
static int attempt(struct ask *k)
{
    if (!lock_try(k->x->mutex))
        return 0;
    int e = set(k->x, &k->l);
    k->held = !e;
    if (k->held)
        return 1;
    lock_release(k->x->mutex);
    if (e == EAGAIN || e == EACCES)
        return 0;
    refused(k, e);
    return 1;
}

static void tell(struct io_file *f, enum lost why)
{
    atomic_store_explicit(&f->lost, (int)why, memory_order_relaxed);
}

/* Under proc->lock. */
static void look_for_failed(struct io_file *f)
{
    if (rankmap_dead(f->comm->map, 0) >= 0)
        tell(f, LOST_MEMBER);
}

static int is_lost(struct ask *k, uint64_t now)
{
    int lost = atomic_load_explicit(&k->x->file->lost, memory_order_relaxed);
    if (!lost)
        return 0;
    k->lost = k->lost ? k->lost : now;
    if (lost == LOST_MEMBER && now - k->lost < AFTER_DEATH_NS)
        return 0;
    refused(k, lost == LOST_MEMBER ? EOWNERDEAD : ECANCELED);
    return 1;
}

/* since: when the wait began (ns). */
static void serve(struct ask *k, uint64_t pause, uint64_t since)
{
    struct io_away *a = k->x->away;
    uint64_t left = a->since;
    io_return(a, NULL);
    progress_pause("a lock of a range of a file", -1, pause, since);
    look_for_failed(k->x->file);
    *a = io_leave();
    a->since = left;
}

static void sleep_for(uint64_t pause)
{
    struct lock l;
    struct lock_cond never = {0}; /* nothing signals it: each sleep ends by its timeout */
    uint64_t now = time_now(), end = now + pause;
    lock_init(&l);
    lock_acquire(&l);
    for (; now < end; now = time_now())
        lock_cond_wait(&never, 0, &l, end - now);
    lock_release(&l);
}

/* Until it is held or refused. A pause begins when an attempt has ended: progress is made however
 * long attempts take. */
static void insist(struct ask *k)
{
    struct io_file *f = k->x->file;
    uint64_t since = time_now(), now = since;
    int ended;
    atomic_fetch_add_explicit(&f->asking, 1, memory_order_relaxed);
    do {
        uint64_t pause = (now - since) / PAUSE_PART;
        pause = pause > PAUSE_LEAST_NS ? pause : PAUSE_LEAST_NS;
        pause = pause < PAUSE_MOST_NS ? pause : PAUSE_MOST_NS;
        if (k->x->away)
            serve(k, pause, since);
        else
            sleep_for(pause);
        ended = attempt(k);
        now = time_now();
    } while (!ended && !is_lost(k, now));
    atomic_fetch_sub_explicit(&f->asking, 1, memory_order_relaxed);
}

int range_hold(struct transfer *x, int type, int64_t from, int64_t to)
{
    struct ask k = {.x = x, .l = {.l_type = (short)type, .l_whence = SEEK_SET,
                                  .l_start = from, .l_len = to - from}};
    x->locks++;
    if (!attempt(&k))
        insist(&k);
    return k.held;
}

void range_release(struct transfer *x, int64_t from, int64_t to)
{
    struct flock l = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = from, .l_len = to - from};
    int e = set(x, &l);
    if (e && !x->err) {
        x->err = e;
        x->at = from;
    }
    lock_release(x->mutex);
}

/* --- what ends the waits of workers ----------------------------------------------------------- */
void range_look(void)
{
    struct list *files = &io_self()->files;
    for (struct list *l = files->next; l != files; l = l->next) {
        struct io_file *f = LIST_OBJ(l, struct io_file, link);
        if (atomic_load_explicit(&f->asking, memory_order_relaxed))
            look_for_failed(f);
    }
}

void range_end(void)
{
    struct list *files = &io_self()->files;
    for (struct list *l = files->next; l != files; l = l->next)
        tell(LIST_OBJ(l, struct io_file, link), LOST_ALL);
}

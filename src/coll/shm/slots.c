/* slots.c - the segment of shm.h: made by all together, its slots, and the waits on them. Start
 * with shm_slot_open() and shm_meet(). */
#include "coll/shm/slots.h"

#include <limits.h>
#include <stdlib.h>

#include "am/am.h"
#include "boot/boot.h"
#include "coll/coll_types.h"
#include "coll/shm/shm.h"
#include "obj/err.h"
#include "var/var.h"

enum {
    SHM_RANKS = 64, /* with more, a tree is faster */
    SHM_STEP = 1024 /* bytes */
};

/* --- making the segment ---------------------------------------------------------- */

static void shm_free(void *arg)
{
    struct shm *m = arg;
    if (m->seg)
        mem_segment_drop(m->seg);
    free(m->host);
    free(m);
}

static int all_near(const struct comm *c)
{
    for (int i = 0; i < c->size; i++)
        if (!boot_same_node(comm_world(c, i)))
            return 0;
    return 1;
}

static int no_work(void *arg)
{
    (void)arg;
    return 0;
}

static int attach(struct shm *m, const struct mem_key *key)
{
    if (!(m->host = malloc((size_t)m->size * sizeof *m->host)))
        return -1;
    for (int i = 0; i < m->size; i++)
        m->host[i] = boot_host_index(comm_world(m->comm, i));
    if (m->seg)
        return 0;
    return key->size ? mem_segment_attach(key, &m->seg) : -1;
}

static struct shm *blank(struct comm *c)
{
    struct shm *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->hook.fn = no_work;
    m->comm = c;
    m->n = (uint64_t)c->coll_note << 32;
    m->size = c->size;
    m->rank = c->rank;
    m->max = (size_t)cvar.coll_shm_bytes;
    m->share = c->size > 1 ? m->max / (size_t)(c->size - 1) : m->max;
    /* An odd number of quarters of a page: with one page and a line, full slots of one parity took
     * twice the time. */
    m->slot_size = sizeof(struct slot) + m->max + (size_t)c->size * sizeof(struct shm_part) +
                   2 * SHM_LINE;
    m->slot_size = (m->slot_size + SHM_STEP - 1) / SHM_STEP | 1;
    m->slot_size *= SHM_STEP;
    return m;
}

/* A member without memory comes, too: the others wait for it. */
static struct shm *make(struct comm *c)
{
    const struct coll_room *room = proc->coll;
    struct mem_key key = {.fd = -1};
    struct shm *m = blank(c);
    /* MEM_ONCE: MPI_Comm_free does not wait, so others may still read the slot of the last
     * operation. */
    if (m && c->rank == 0 &&
        mem_segment_create((size_t)m->size * (sizeof(struct left) + SHM_SLOTS * m->slot_size),
                           MEM_ONCE, &m->seg) == 0)
        mem_segment_key(m->seg, &key);
    int err = room->run(&(struct coll_args){.call = COLL_BCAST, .comm = c, .rbuf = &key,
                                            .rcount = sizeof key, .rtype = room->byte});
    int64_t fine = !err && m && attach(m, &key) == 0;
    err = room->run(&(struct coll_args){.call = COLL_ALLREDUCE, .comm = c, .sbuf = MPI_IN_PLACE,
                                        .rbuf = &fine, .rcount = 1,
                                        .rtype = dt_find(MPI_INT64_T),
                                        .op = dt_op_find(MPI_MIN)});
    if (!err && fine) {
        c->coll = m;
        c->coll_free = shm_free;
        return m;
    }
    if (m)
        shm_free(m);
    return NULL;
}

struct shm *shm_count(struct comm *c)
{
    if (++c->coll_uses <= SHM_USES)
        return NULL;
    return c->size < 2 || c->size > SHM_RANKS || !all_near(c) ? NULL : make(c);
}

int shm_counted(const struct comm *c)
{
    return c->coll || c->coll_uses > SHM_USES || cvar.coll_shm_bytes == 0;
}

void shm_skip(struct comm *c)
{
    struct shm *m = c->coll;
    if (!m || m->state != SHM_READY)
        return;
    m->n++;
    shm_leave(m);
}

int shm_set_aside(const struct comm *c, void (*aside)(void *arg), void *arg)
{
    struct shm *m = c->coll;
    if (!m || m->state != SHM_READY)
        return 0;
    m->aside_arg = arg;
    m->aside = aside;
    return 1;
}

static __attribute__((noinline, cold)) void do_aside(struct shm *m)
{
    void (*aside)(void *arg) = m->aside;
    m->aside = NULL;
    aside(m->aside_arg);
}

void shm_do_aside(const struct comm *c)
{
    struct shm *m = c->coll;
    if (m && m->aside)
        do_aside(m);
}

void shm_note(struct comm *c, uint32_t note)
{
    struct shm *m = c->coll;
    if (!m)
        return;
    /* One store of 64 bits: the next load of n cannot be served by two smaller ones, and would wait
     * for the cache. */
    uint64_t n = (uint32_t)m->n | (uint64_t)note << 32;
    *(volatile uint64_t *)&m->n = n;
}

/* --- waiting ------------------------------------------------------------------------ */

struct wait {
    struct shm *m;
    int from, to; /* ranks waited for */
    uint64_t n;
    int dead;     /* job rank of a failed member, MISALIGNED, or -1 */
};
enum { MISALIGNED = INT_MAX }; /* comm_misaligned() */

static int look_for_dead(struct wait *w)
{
    w->dead = coll_failed_member(w->m->comm);
    return w->dead >= 0;
}

/* What the wait is for has not come. 1: it never will. */
static int not_yet(struct wait *w)
{
    if (__builtin_expect(w->m->comm->misaligned != NULL, 0))
        w->dead = MISALIGNED;
    return w->dead >= 0 || (__builtin_expect(am_failed_count() != 0, 0) && look_for_dead(w));
}

static int entered(void *arg)
{
    struct wait *w = arg;
    for (; w->from < w->to; w->from++)
        if (atomic_load_explicit(&shm_slot(w->m, w->from, w->n)->n, memory_order_acquire) != w->n)
            return not_yet(w);
    return 1;
}

/* What is read pairs with the member's shm_publish() and shm_pass(). Where it has passed this
 * operation or a later one, the number in the slot of this one stays as it is. */
static int filled_or_not(void *arg)
{
    struct wait *w = arg;
    uint32_t passed;
    if (shm_is_filled(w->m, w->from))
        return 1;
    passed = atomic_load_explicit(&shm_left(w->m, w->from)->passed, memory_order_acquire);
    return (int32_t)(passed - (uint32_t)w->n) >= 0 || not_yet(w);
}

static int have_left(void *arg)
{
    struct wait *w = arg;
    for (; w->from < w->to; w->from++) {
        uint32_t n = atomic_load_explicit(&shm_left(w->m, w->from)->n, memory_order_acquire);
        if ((int32_t)(n - (uint32_t)w->n) < 0)
            return not_yet(w);
    }
    return 1;
}

static int member_failed(struct wait *w)
{
    w->m->state = SHM_NEVER; /* slots will never be in step again */
    if (w->dead == MISALIGNED)
        return comm_verdict(w->m->comm);
    return err_make(MPIX_ERR_PROC_FAILED, "process %d of the job has died: %s", w->dead,
                    boot_failed_why(w->dead));
}

static int wait_for(int (*cond)(void *), struct wait *w)
{
    if (!cond(w)) {
        if (w->m->aside)
            do_aside(w->m);
        progress_wait_why(cond, w, "a collective operation", comm_world(w->m->comm, w->from),
                          WHY_COLLECTIVE, NULL);
    }
    return w->dead < 0 ? MPI_SUCCESS : member_failed(w);
}

int shm_awaits(int (*cond)(void *), void *arg, void (*each)(int world, void *to), void *to)
{
    const struct wait *w = arg;
    if (cond != entered && cond != have_left && cond != filled_or_not)
        return 0;
    each(comm_world(w->m->comm, w->from), to);
    return 1;
}

int shm_await(struct shm *m, int from, int to)
{
    struct wait w = {m, from, to, m->n, -1};
    return wait_for(entered, &w);
}

int shm_wait_filled(struct shm *m, int rank)
{
    struct wait w = {m, rank, rank + 1, m->n, -1};
    return wait_for(filled_or_not, &w);
}

void shm_wake_others(const struct shm *m)
{
    for (int i = 0; i < m->size; i++)
        if (i != m->rank)
            shm_wake(m, i);
}

/* --- the steps of an operation --------------------------------------------------------- */

int shm_slot_open(struct shm *m, struct slot **out)
{
    m->n++;
    *out = shm_slot(m, m->rank, m->n);
    uint32_t before = (uint32_t)m->n - SHM_SLOTS;
    if ((int32_t)(m->all_left - before) >= 0)
        return MPI_SUCCESS;
    /* Readers of barrier and allreduce wake no process when they leave: an active hook keeps this
     * sleep short. */
    struct wait w = {m, 0, m->size, before, -1};
    progress_hook_add(&m->hook);
    int err = wait_for(have_left, &w);
    progress_hook_del(&m->hook);
    m->all_left = before;
    for (uint32_t n, i = 0, least = (uint32_t)m->n - 1; !err && i < (uint32_t)m->size; i++) {
        n = atomic_load_explicit(&shm_left(m, (int)i)->n, memory_order_acquire);
        least = (int32_t)(n - least) < 0 ? n : least;
        if (i + 1 == (uint32_t)m->size)
            m->all_left = least; /* saves the look for the operations it covers */
    }
    return err;
}

/* All meet. Only a process that sees all others needs to wake any. If two come at once, the fences
 * make at least one see the other (each stores its number, fences, reads all). */
int shm_meet(struct shm *m, struct slot *s, size_t bytes)
{
    struct wait w = {m, 0, m->size, m->n, -1};
    shm_publish(m, s, bytes);
    if (__builtin_expect(m->aside != NULL, 0)) /* while the number is on its way to the others */
        do_aside(m);
    fence_full();
    if (entered(&w) && w.dead < 0)
        shm_wake_others(m);
    int err = wait_for(entered, &w);
    m->all_left = (uint32_t)m->n - 1;
    return err;
}

__attribute__((cold)) int shm_unlike(struct shm *m, size_t there, size_t bytes)
{
    struct wait w = {.m = m, .dead = -1};
    /* that member may have seen the failure, and be in another call */
    if (am_failed_count() && look_for_dead(&w))
        return member_failed(&w);
    return sched_mismatch(there == BAD_BYTES ? 0 : there, bytes == BAD_BYTES ? 0 : bytes);
}

int shm_alike(struct shm *m, int from, int to, size_t bytes)
{
    for (; from < to; from++) {
        uint32_t there = shm_slot(m, from, m->n)->bytes;
        if (there != (uint32_t)bytes)
            return shm_unlike(m, there, bytes);
    }
    return bytes == BAD_BYTES ? sched_mismatch(0, 0) : MPI_SUCCESS;
}

/* mixed.c - gatherv, scatterv and alltoallv: no other process knows how long a block is than the
 * two that it concerns, and its receiver may know an upper bound only. Start with shm_mixed().
 *
 * Each call is an operation of the slots, and has a tag, for every member, also for those that move
 * nothing. A sender alone decides: blocks up to its share of a slot lie there, longer ones go by
 * message. A receiver with room for a short block looks at the slot first. It learns there that the
 * block goes by message, or that the sender fills no slot. With room for a long one it posts a
 * receive, and looks at the slot meanwhile. */
#include <stddef.h>

#include "coll/coll_types.h"
#include "coll/shm/slots.h"

/* A member whose blocks go by message comes through here as fast as it can. */
#define APART static __attribute__((noinline))

/* What this process receives. A set has a bit for each rank. */
struct taker {
    struct shm *m;
    const struct coll_args *a;
    struct blocks in; /* of scatterv: not used */
    struct sched *s;  /* of what goes by message; NULL: nothing yet */
    uint64_t near;    /* whose short block is expected */
    uint64_t far;     /* whose block a receive was posted for; the slot may have it nevertheless */
    uint64_t found;   /* those of `far` where it has */
};

/* Bytes of data in the first line of a slot, and in the pair of lines. */
enum {
    FIRST_LINE = SHM_LINE - offsetof(struct slot, data),
    FIRST_PAIR = FIRST_LINE + SHM_LINE
};

static uint64_t bit(int rank)
{
    return (uint64_t)1 << rank;
}

/* Bytes, SIZE_MAX at most. */
static inline size_t length(MPI_Aint n, const struct dt_type *t)
{
    size_t bytes;
    return __builtin_mul_overflow((size_t)n, (size_t)t->size, &bytes) ? SIZE_MAX : bytes;
}

static inline size_t length_of(struct block b)
{
    return length(b.n, b.t);
}

static void copy_own(struct block from, struct block to)
{
    if (block_bytes(from) && block_bytes(to))
        dt_copy(from.at, (size_t)from.n, from.t, to.at, (size_t)to.n, to.t);
}

/* --- filling the slot -------------------------------------------------------------------- */

/* Without a slot. */
static inline void enter(struct shm *m, int sends)
{
    if (sends)
        shm_pass(m);
    else
        m->n++;
}

/* Puts the blocks of `near` into the slot; the others say where those of `far` are. */
static void fill(const struct shm *m, struct slot *s, const struct blocks *out, uint64_t near,
                 uint64_t far)
{
    struct shm_part *part = (struct shm_part *)s->data;
    size_t at = (size_t)m->size * sizeof *part;
    for (int i = 0; i < m->size; i++) {
        part[i].bytes = far & bit(i) ? SHM_BY_MESSAGE : 0;
        if (!(near & bit(i)))
            continue;
        struct block b = block_of(out, i);
        size_t bytes = block_bytes(b);
        /* Its reader polls the first line. One that does not end there begins two lines behind it:
         * the processor may fetch the line beside a polled one, too. */
        if (at < FIRST_LINE && at + bytes > FIRST_LINE)
            at = FIRST_PAIR;
        part[i].at = (uint32_t)at;
        part[i].bytes = (uint32_t)bytes;
        dt_pack(b.t, (size_t)b.n, b.at, 0, s->data + at, bytes);
        at += bytes;
    }
}

/* Which blocks of others are short, and which are long. */
static inline void sort_out(const struct shm *m, struct coll_vec counts, const struct dt_type *t,
                            size_t most, uint64_t *near, uint64_t *far)
{
    *near = *far = 0;
    for (int i = 0; i < m->size; i++) {
        size_t bytes;
        MPI_Aint n = coll_at(counts, i);
        if (n == 0 || i == m->rank)
            continue;
        if (__builtin_mul_overflow((size_t)n, (size_t)t->size, &bytes) || bytes > most)
            *far |= bit(i);
        else if (bytes)
            *near |= bit(i);
    }
}

/* --- taking from slots, or by message ---------------------------------------------------- */

static inline void begin(struct taker *t, struct shm *m, const struct coll_args *a)
{
    t->m = m;
    t->a = a;
    t->s = NULL;
    t->near = t->far = t->found = 0;
}

static struct block taken(const struct taker *t, int rank)
{
    const struct coll_args *a = t->a;
    return a->call == COLL_SCATTERV ? (struct block){a->rbuf, a->rcount, a->rtype}
                                    : block_of(&t->in, rank);
}

/* The block in the slot of rank, which is filled. NULL: it goes by message. */
static const char *lies_there(const struct taker *t, int rank, size_t *bytes)
{
    const struct slot *s = shm_slot(t->m, rank, t->m->n);
    if (t->a->call == COLL_GATHERV) {
        *bytes = s->bytes;
        return s->data;
    }
    const struct shm_part *part = (const struct shm_part *)s->data + t->m->rank;
    *bytes = part->bytes;
    return *bytes == SHM_BY_MESSAGE ? NULL : s->data + part->at;
}

static int unpack(const struct taker *t, int rank, const char *data, size_t bytes)
{
    struct block b = taken(t, rank);
    if (bytes > length_of(b))
        return shm_unlike(t->m, bytes, length_of(b));
    dt_unpack(b.t, (size_t)b.n, b.at, 0, data, bytes);
    return MPI_SUCCESS;
}

/* A schedule takes the tag of the call. 0: no memory. */
static int has_sched(struct taker *t)
{
    if (!t->s)
        t->s = sched_make(t->a);
    return t->s != NULL;
}

static int by_message(struct taker *t, int rank)
{
    struct block b = taken(t, rank);
    if (!has_sched(t))
        return sched_no_memory();
    sched_recv(t->s, b.at, b.n, b.t, rank);
    return MPI_SUCCESS;
}

/* From each whose block is expected in its slot. */
static int take_near(struct taker *t)
{
    int err = MPI_SUCCESS;
    for (uint64_t rest = t->near; rest; rest &= rest - 1) {
        int rank = __builtin_ctzll(rest), e = shm_await_filled(t->m, rank);
        if (e)
            return e;
        size_t bytes;
        const char *data = NULL;
        if (shm_is_filled(t->m, rank))
            data = lies_there(t, rank, &bytes);
        else
            t->far |= bit(rank);
        e = data ? unpack(t, rank, data, bytes) : by_message(t, rank);
        if (!data && t->s)
            sched_issue(t->s);
        err = err ? err : e;
    }
    return err;
}

/* sched_run_beside(): a long block is expected, and a short one lies in the slot. */
static int look_at_slots(void *arg)
{
    struct taker *t = arg;
    int ended = 0;
    for (uint64_t rest = t->far; rest; rest &= rest - 1) {
        int rank = __builtin_ctzll(rest);
        size_t bytes;
        if (!shm_is_filled(t->m, rank))
            continue;
        t->far &= ~bit(rank);
        if (!lies_there(t, rank, &bytes))
            continue;
        t->found |= bit(rank);
        sched_unexpect(t->s, rank);
        ended = 1;
    }
    return ended;
}

/* The messages, and with them the call. */
static int finish(struct taker *t, int err)
{
    if (!t->s) {
        coll_tag(t->a->comm);
        if (!t->near)
            progress_glance();
        return err;
    }
    shm_do_aside(t->a->comm);
    int e = t->far ? sched_run_beside(t->s, look_at_slots, t) : sched_run(t->s);
    err = err ? err : e;
    for (uint64_t rest = t->found; rest && !e; rest &= rest - 1) {
        int rank = __builtin_ctzll(rest);
        size_t bytes;
        const char *data = lies_there(t, rank, &bytes);
        e = unpack(t, rank, data, bytes);
        err = err ? err : e;
    }
    return err;
}

/* --- gatherv ----------------------------------------------------------------------------- */

APART int gatherv_fill(struct shm *m, const struct coll_args *a, size_t bytes)
{
    struct slot *s;
    coll_tag(a->comm);
    int err = shm_slot_open(m, &s);
    if (!err) {
        dt_pack(a->stype, (size_t)a->scount, a->sbuf, 0, s->data, bytes);
        shm_publish(m, s, bytes);
    }
    shm_leave(m);
    shm_wake(m, a->root);
    return err;
}

static inline int gatherv_send(struct shm *m, const struct coll_args *a, int *err)
{
    size_t bytes = length(a->scount, a->stype);
    if (bytes == 0 || bytes > m->max) {
        enter(m, bytes != 0);
        shm_leave(m);
        return 0;
    }
    *err = gatherv_fill(m, a, bytes);
    return 1;
}

APART int gatherv_take(struct shm *m, const struct coll_args *a)
{
    struct taker t;
    int err = MPI_SUCCESS;
    begin(&t, m, a);
    t.in = blocks_vector(a->rbuf, a->rcounts, a->rdispls, a->rtype);
    m->n++;
    sort_out(m, a->rcounts, a->rtype, m->max, &t.near, &t.far);
    for (uint64_t rest = t.far; rest && !err; rest &= rest - 1)
        err = by_message(&t, __builtin_ctzll(rest));
    if (t.s)
        sched_issue(t.s);
    if (a->sbuf != MPI_IN_PLACE)
        copy_own((struct block){(char *)(uintptr_t)a->sbuf, a->scount, a->stype},
                 block_of(&t.in, m->rank));
    if (!err && t.near)
        err = take_near(&t);
    err = finish(&t, err);
    shm_leave(m);
    if (t.near)
        shm_wake_others(m);
    return err;
}

/* --- scatterv ---------------------------------------------------------------------------- */

/* What goes by message leaves when the slot is filled. */
static int send_far(struct taker *t, const struct blocks *out, uint64_t far)
{
    if (!has_sched(t))
        return sched_no_memory();
    for (; far; far &= far - 1) {
        int rank = __builtin_ctzll(far);
        struct block b = block_of(out, rank);
        sched_send(t->s, b.at, b.n, b.t, rank);
    }
    sched_issue(t->s);
    return MPI_SUCCESS;
}

APART int scatterv_fill(struct shm *m, const struct coll_args *a, uint64_t near, uint64_t far)
{
    struct taker t;
    struct blocks out = blocks_vector(a->sbuf, a->scounts, a->sdispls, a->stype);
    struct slot *s;
    int err = shm_slot_open(m, &s);
    begin(&t, m, a);
    if (!err) {
        fill(m, s, &out, near, far);
        shm_publish(m, s, 0);
        shm_wake_others(m);
        if (far)
            err = send_far(&t, &out, far);
        if (a->rbuf != MPI_IN_PLACE)
            copy_own(block_of(&out, m->rank), (struct block){a->rbuf, a->rcount, a->rtype});
    }
    shm_leave(m);
    return finish(&t, err);
}

APART int scatterv_send(struct shm *m, const struct coll_args *a, int *err)
{
    uint64_t near, far;
    sort_out(m, a->scounts, a->stype, m->share, &near, &far);
    if (!near) {
        enter(m, far != 0);
        shm_leave(m);
        return 0;
    }
    *err = scatterv_fill(m, a, near, far);
    return 1;
}

APART int scatterv_take(struct shm *m, const struct coll_args *a)
{
    struct taker t;
    int err = MPI_SUCCESS;
    begin(&t, m, a);
    m->n++;
    size_t bytes = length(a->rcount, a->rtype);
    if (bytes && bytes <= m->share)
        t.near = bit(a->root);
    if (bytes > m->share) {
        t.far = bit(a->root);
        err = by_message(&t, a->root);
        if (!err)
            sched_issue(t.s);
    }
    if (!err && t.near)
        err = take_near(&t);
    err = finish(&t, err);
    shm_leave(m);
    if (t.near)
        shm_wake(m, a->root);
    return err;
}

/* --- alltoallv --------------------------------------------------------------------------- */

/* Lists what goes by message. In place, what is sent is first packed aside. */
static int list_far(struct taker *t, const struct blocks *out, uint64_t far)
{
    int p = t->m->size, me = t->m->rank, in_place = t->a->sbuf == MPI_IN_PLACE;
    struct dt_type *byte = proc->coll->byte;
    struct block aside[64];
    if (!has_sched(t))
        return sched_no_memory();
    for (uint64_t rest = in_place ? far : 0; rest; rest &= rest - 1) {
        int rank = __builtin_ctzll(rest);
        struct block b = block_of(out, rank);
        size_t bytes = block_bytes(b);
        aside[rank] = (struct block){sched_room(t->s, bytes), (MPI_Aint)bytes, byte};
        sched_copy(t->s, b.at, b.n, b.t, aside[rank].at, aside[rank].n, byte);
    }
    for (int i = 1; i < p; i++) {
        int to = (me + i) % p, from = (me - i + p) % p;
        if (t->far & bit(from))
            (void)by_message(t, from);
        if (!(far & bit(to)))
            continue;
        struct block b = in_place ? aside[to] : block_of(out, to);
        sched_send(t->s, b.at, b.n, b.t, to);
    }
    sched_issue(t->s);
    return MPI_SUCCESS;
}

/* The own slot: filled, or passed. */
static int offer(struct shm *m, const struct blocks *out, uint64_t near, uint64_t far)
{
    struct slot *s;
    if (!near) {
        enter(m, far != 0);
        return MPI_SUCCESS;
    }
    int err = shm_slot_open(m, &s);
    if (!err) {
        fill(m, s, out, near, far);
        shm_publish(m, s, 0);
        shm_wake_others(m);
    }
    return err;
}

APART int alltoallv(struct taker *t, uint64_t near, uint64_t far)
{
    const struct coll_args *a = t->a;
    int in_place = a->sbuf == MPI_IN_PLACE;
    t->in = blocks_vector(a->rbuf, a->rcounts, a->rdispls, a->rtype);
    struct blocks out = in_place ? t->in
                                 : blocks_vector(a->sbuf, a->scounts, a->sdispls, a->stype);
    int err = offer(t->m, &out, near, far);
    if (!err && (far || t->far))
        err = list_far(t, &out, far);
    if (!in_place)
        copy_own(block_of(&out, t->m->rank), block_of(&t->in, t->m->rank));
    if (!err)
        err = take_near(t);
    err = finish(t, err);
    shm_leave(t->m);
    return err;
}

/* Calls in which this process has no bytes are frequent. */
APART int alltoallv_some(struct shm *m, const struct coll_args *a)
{
    struct taker t;
    uint64_t near = 0, far = 0;
    begin(&t, m, a);
    if (a->sbuf != MPI_IN_PLACE)
        sort_out(m, a->scounts, a->stype, m->share, &near, &far);
    sort_out(m, a->rcounts, a->rtype, m->share, &t.near, &t.far);
    if (a->sbuf == MPI_IN_PLACE) {
        near = t.near;
        far = t.far;
    } else if (!(near | far | t.near | t.far) && !coll_at(a->rcounts, m->rank)) {
        m->n++;
        shm_leave(m);
        coll_tag(a->comm);
        progress_glance();
        return MPI_SUCCESS;
    }
    return alltoallv(&t, near, far);
}

int shm_mixed(struct shm *m, const struct coll_args *a, int *err)
{
    switch (a->call) {
    case COLL_GATHERV:
        if (m->rank != a->root)
            return gatherv_send(m, a, err);
        *err = gatherv_take(m, a);
        break;
    case COLL_SCATTERV:
        if (m->rank == a->root)
            return scatterv_send(m, a, err);
        *err = scatterv_take(m, a);
        break;
    default:
        *err = alltoallv_some(m, a);
        break;
    }
    return 1;
}

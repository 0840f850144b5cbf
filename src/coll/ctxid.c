/* Context ids.
 *
 *      | world rank of the leader | its counter | stream (2 bits) |
 *
 * The leader of the new group makes the id from its own rank and counter, so no two communicators anywhere have
 * equal ids while both live, and the others need only be told.  No masks, no agreement, nothing shared between
 * threads that create communicators at once.  The counter goes round; ids whose communicator still lives at
 * the leader are passed over.  (A member that has not yet freed a communicator the leader has freed cannot meet its
 * id again: a new communicator needs that member's own part in its creation, and MPI_Comm_free comes before it in
 * the order of collective calls.) */
#include <stdlib.h>
#include <string.h>

#include "boot/boot.h"
#include "coll/coll_types.h"
#include "obj/err.h"
#include "p2p/p2p.h"

enum { ID_BITS = 30, GROUP_TAG = INT_MIN }; /* tags of collectives are not negative */

static void ctx_gone(uint32_t ctx)
{
    if (proc->coll)
        map_del(&proc->coll->ctx_live, ctx);
}

void ctx_start(struct coll_room *room)
{
    int rank_bits = 0;
    while ((1 << rank_bits) < boot_size())
        rank_bits++;
    room->ctx_bits = ID_BITS - rank_bits;
    map_init(&room->ctx_live);
    proc->obj->ctx_gone = ctx_gone;
}

void ctx_stop(struct coll_room *room)
{
    proc->obj->ctx_gone = NULL;
    map_destroy(&room->ctx_live);
}

/* A new id; 0 (MPI_COMM_WORLD's) when all are in use or memory is out. */
static uint32_t id_make(void)
{
    struct coll_room *room = proc->coll;
    uint32_t counters = 1u << room->ctx_bits, rank = (uint32_t)boot_rank();
    if (room->ctx_live.count + 2 >= counters)
        return 0;
    for (;;) {
        uint32_t n = room->ctx_next;
        room->ctx_next = (n + 1) & (counters - 1);
        uint32_t id = (rank << room->ctx_bits | n) * CTX_STEP;
        if (id == CTX_WORLD || id == CTX_SELF || map_get(&room->ctx_live, id))
            continue;
        return map_put(&room->ctx_live, id, room) ? 0 : id;
    }
}

/* Who could not go on tells, in place of an id, of whose death: its number in the job, and a low bit that no id has. */
enum { TOLD_DEATH = 1 };

/* What came as the id that process `leader` of the job has made. */
static int check(uint32_t id, int leader)
{
    uint32_t world = id / CTX_STEP;
    if (id && id % CTX_STEP == 0 && world >> proc->coll->ctx_bits == (uint32_t)leader)
        return MPI_SUCCESS;
    if (id % CTX_STEP == TOLD_DEATH && world < (uint32_t)boot_size())
        return err_make(MPIX_ERR_PROC_FAILED, "process %u of the job has died: %s", world,
                        boot_dead((int)world) ? boot_dead_why((int)world) : "another member says so");
    return id ? err_make(MPI_ERR_OTHER, "no context id: %#x came instead of one", id)
              : err_make(MPI_ERR_OTHER, "no context id left: too many communicators are alive");
}

uint32_t coll_ctx_alone(void)
{
    return id_make();
}

/* --- over a communicator ------------------------------------------------------------ */

struct pair {
    uint32_t recv, send;
    uint32_t *recv_out, *send_out;
    int leader, remote_leader; /* who makes them */
    struct sched *s;
};

static void pair_done(void *arg)
{
    struct pair *p = arg;
    *p->recv_out = p->recv;
    *p->send_out = p->send;
    int err = check(p->recv, p->leader);
    err = err ? err : check(p->send, p->remote_leader);
    if (err)
        sched_fail(p->s, err);
}

/* A schedule that leaves the ids at *recv and *send. */
static struct sched *agree(struct comm *c, uint32_t *recv, uint32_t *send)
{
    struct dt_type *byte = proc->coll->byte;
    struct sched *s = sched_make(&(struct coll_args){.call = COLL_BCAST, .comm = c});
    struct pair *p = s ? sched_bytes(s, sizeof *p) : NULL;
    if (!p) {
        if (s)
            sched_destroy(s);
        return NULL;
    }
    int leader = comm_world(c, 0);
    *p = (struct pair){0, 0, recv, send, leader, c->remote ? rankmap_world(c->remote, 0) : leader, s};
    if (c->rank == 0)
        p->recv = p->send = id_make();
    if (c->remote) {
        if (c->rank == 0) { /* what they receive with, we send with */
            sched_send(s, &p->recv, sizeof p->recv, byte, 0);
            sched_recv(s, &p->send, sizeof p->send, byte, 0);
            sched_fence(s);
        }
        sched_local(s);
    }
    build_bcast_binomial(s, &p->recv, 2 * sizeof p->recv, byte, 0);
    sched_call(s, pair_done, p);
    return s;
}

static int no_memory(void)
{
    return err_make(MPI_ERR_NO_MEM, "no memory to agree on a context id");
}

int coll_ctx_agree(struct comm *c, uint32_t *recv, uint32_t *send)
{
    struct sched *s = agree(c, recv, send);
    return s ? sched_run(s) : no_memory();
}

int coll_ctx_iagree(struct comm *c, uint32_t *recv, uint32_t *send, struct request **out)
{
    struct sched *s = agree(c, recv, send);
    if (!s)
        return no_memory();
    sched_begin(s);
    *out = &s->r;
    return MPI_SUCCESS;
}

/* --- over a subset --------------------------------------------------------------------- */

/* Down the same tree where those above may have given up in an earlier step of the call: then nobody else tells. */
static int agree_within(struct comm *c, const struct rankmap *map, int rank, uint32_t *ctx)
{
    struct sched *s = sched_aside(c, TAG_SUBSET);
    struct pair *p = s ? sched_bytes(s, sizeof *p) : NULL;
    struct dt_type *byte = proc->coll->byte;
    int mask = 1;
    if (!p) {
        if (s)
            sched_destroy(s);
        return no_memory();
    }
    *p = (struct pair){0, 0, ctx, ctx, rankmap_world(map, 0), rankmap_world(map, 0), s};
    while (mask < map->size && !(rank & mask))
        mask <<= 1;
    if (rank == 0) {
        p->recv = p->send = id_make();
    } else {
        sched_recv(s, &p->recv, 2 * sizeof p->recv, byte, rankmap_find(c->map, rankmap_world(map, rank - mask)));
        sched_fence(s);
    }
    for (mask >>= 1; mask; mask >>= 1)
        if (rank + mask < map->size)
            sched_send(s, &p->recv, 2 * sizeof p->recv, byte, rankmap_find(c->map, rankmap_world(map, rank + mask)));
    sched_fence(s);
    sched_call(s, pair_done, p);
    return sched_run(s);
}

/* Down a binomial tree of the subset.  Messages are matched by the sender's world rank: subsets of one call are
 * disjoint and calls that follow one another keep the order of each pair. */
int coll_ctx_agree_map(struct comm *c, struct rankmap *map, int rank, int tag, uint32_t *ctx)
{
    uint32_t stream = c->ctx_recv | CTX_COLL, id = 0;
    int p = map->size, me = boot_rank(), mask = 1, err = MPI_SUCCESS;
    if (tag == COLL_WITHIN)
        return agree_within(c, map, rank, ctx);
    tag |= GROUP_TAG;
    if (tag == MPI_ANY_TAG) /* of the largest tag */
        tag--;
    while (mask < p && !(rank & mask))
        mask <<= 1;
    if (rank == 0) {
        id = id_make();
    } else {
        int parent = rankmap_world(map, rank - mask);
        err = p2p_recv_world(&id, sizeof id, parent, stream, parent, tag);
        if (err)
            id = err_class(err) == MPIX_ERR_PROC_FAILED ? (uint32_t)parent * CTX_STEP + TOLD_DEATH : 0;
    }
    /* Those below wait for this process, which lives: with an error, too, they are told. */
    for (mask >>= 1; mask; mask >>= 1)
        if (rank + mask < p) {
            int e = p2p_send_world(&id, sizeof id, rankmap_world(map, rank + mask), stream, me, tag);
            err = err ? err : e;
        }
    *ctx = id;
    return err ? err : check(id, rankmap_world(map, 0));
}

int coll_ctx_merge(struct comm *c, uint32_t *ctx)
{
    struct dt_type *byte = proc->coll->byte;
    struct sched *s = sched_make(&(struct coll_args){.call = COLL_BCAST, .comm = c});
    if (!s)
        return no_memory();
    int ours = c->ctx_recv < c->ctx_send;
    *ctx = 0;
    if (c->rank == 0) {
        if (ours) { /* the same comparison, the other way round, over there */
            *ctx = id_make();
            sched_send(s, ctx, sizeof *ctx, byte, 0);
        } else {
            sched_recv(s, ctx, sizeof *ctx, byte, 0);
        }
        sched_fence(s);
    }
    sched_local(s);
    build_bcast_binomial(s, ctx, sizeof *ctx, byte, 0);
    int err = sched_run(s);
    return err ? err : check(*ctx, rankmap_world(ours ? c->map : c->remote, 0));
}

/* --- intercommunicators -------------------------------------------------------------------- */

struct hello { /* between leaders, and from the leader to its group */
    uint32_t ctx;
    int32_t size;
    int64_t extra;
    int64_t err; /* class of what keeps the leader from going on */
};

/* What is left of a class that came in a message. */
static int told_class(int64_t cls)
{
    return cls == MPIX_ERR_PROC_FAILED ? MPIX_ERR_PROC_FAILED : MPI_ERR_OTHER;
}

static int not_met(int64_t cls)
{
    return err_make(told_class(cls), "MPI_Intercomm_create: the leaders could not meet%s",
                    told_class(cls) == MPIX_ERR_PROC_FAILED ? ": a process has died" : "");
}

/* Between leaders.  COLL_WITHIN: the other may have given up in an earlier step, and only the death says so. */
static int swap(const void *ours, size_t n, void *theirs, size_t m, struct comm *peer, int remote, int tag)
{
    struct dt_type *byte = proc->coll->byte;
    if (tag != COLL_WITHIN)
        return p2p_sendrecv(ours, (MPI_Aint)n, byte, remote, tag, theirs, (MPI_Aint)m, byte, remote, tag, peer, P2P_TOOL,
                            MPI_STATUS_IGNORE);
    struct sched *s = sched_aside(peer, TAG_LEADERS);
    void *copy = s ? sched_bytes(s, n) : NULL; /* a send that is given up may be read later */
    if (!copy) {
        if (s)
            sched_destroy(s);
        return no_memory();
    }
    memcpy(copy, ours, n);
    sched_recv(s, theirs, (MPI_Aint)m, byte, remote);
    sched_send(s, copy, (MPI_Aint)n, byte, remote);
    return sched_run(s);
}

static int swap_hello(const struct hello *ours, struct hello *theirs, struct comm *peer, int remote, int tag)
{
    return swap(ours, sizeof *ours, theirs, sizeof *theirs, peer, remote, tag);
}

void coll_intercomm_refuse(struct comm *peer, int remote_leader, int tag, int err)
{
    struct hello ours = {.err = err_class(err)}, theirs;
    (void)swap_hello(&ours, &theirs, peer, remote_leader, tag);
}

static int swap_ranks(struct comm *local, int *theirs, int n, struct comm *peer, int remote, int tag)
{
    int *ours = malloc((size_t)local->size * sizeof *ours);
    if (!ours)
        return no_memory();
    for (int i = 0; i < local->size; i++)
        ours[i] = comm_world(local, i);
    int err = swap(ours, (size_t)local->size * sizeof *ours, theirs, (size_t)n * sizeof *theirs, peer, remote, tag);
    free(ours);
    return err;
}

int coll_intercomm_exchange(struct comm *local, int local_leader, struct comm *peer, int remote_leader, int tag,
                            uint32_t *recv, uint32_t *send, struct rankmap **remote, int64_t send_extra,
                            int64_t *recv_extra)
{
    struct {
        struct hello ours, theirs;
    } h = {{0, local->size, send_extra, 0}, {0, 0, 0, 0}};
    int leads = local->rank == local_leader, err = MPI_SUCCESS;
    if (leads) {
        h.ours.ctx = id_make();
        err = swap_hello(&h.ours, &h.theirs, peer, remote_leader, tag);
        h.ours.err = err ? err_class(err) : h.theirs.err;
    }
    int berr = coll_bcast_bytes(&h, sizeof h, local_leader, local);
    if (err || (berr && !leads)) /* a leader's other side waits for it in the next step, whatever befell its own */
        return err ? err : berr;
    if (h.ours.err)
        return not_met(h.ours.err);
    if (!h.ours.ctx || h.theirs.ctx % CTX_STEP) /* which process theirs is of only the leader knows */
        return check(h.ours.ctx ? h.theirs.ctx : 0, -1);
    if (!h.theirs.ctx)
        return check(0, -1);
    int n = h.theirs.size;
    if (n < 1 || n > boot_size()) /* all learned the same from their leader */
        return err_make(MPI_ERR_OTHER, "MPI_Intercomm_create: the other leader says that its group has %d members", n);
    int *ranks = malloc((size_t)n * sizeof *ranks);
    if (!ranks)
        return no_memory();
    if (leads && (err = swap_ranks(local, ranks, n, peer, remote_leader, tag)) != 0)
        ranks[0] = -err_class(err); /* the others wait for this process, which lives */
    int told = coll_bcast_bytes(ranks, (size_t)n * sizeof *ranks, local_leader, local);
    err = err ? err : berr ? berr : told;
    if (!err && ranks[0] < 0)
        err = not_met(-(int64_t)ranks[0]);
    for (int i = 0; i < n && !err; i++)
        if (ranks[i] < 0 || ranks[i] >= boot_size())
            err = err_make(MPI_ERR_OTHER, "MPI_Intercomm_create: the other leader names process %d of the job", ranks[i]);
    *remote = err ? NULL : rankmap_make(ranks, n);
    free(ranks);
    if (!err && !*remote)
        err = no_memory();
    *recv = h.ours.ctx;
    *send = h.theirs.ctx;
    if (recv_extra)
        *recv_extra = h.theirs.extra;
    return err;
}

int coll_comm_dup(struct comm *c, struct comm **out)
{
    uint32_t recv, send;
    int err = coll_ctx_agree(c, &recv, &send);
    if (err)
        return err;
    *out = comm_make(c->map, c->rank, NULL, recv, send);
    return *out ? MPI_SUCCESS : no_memory();
}

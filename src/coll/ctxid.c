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
#include <limits.h>
#include <stdlib.h>

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

static int check(uint32_t id)
{
    return id ? MPI_SUCCESS : err_make(MPI_ERR_OTHER, "no context id left: too many communicators are alive");
}

/* 0 is also told by a member that could not go on. */
static int check_members(uint32_t id, const struct rankmap *map)
{
    for (int i = 0; !id && boot_dead_count() && i < map->size; i++)
        if (boot_dead(rankmap_world(map, i)))
            return err_make(MPIX_ERR_PROC_FAILED, "process %d of the job has died: %s", rankmap_world(map, i),
                            boot_dead_why(rankmap_world(map, i)));
    return check(id);
}


uint32_t coll_ctx_alone(void)
{
    return id_make();
}

/* --- over a communicator ------------------------------------------------------------ */

struct pair {
    uint32_t recv, send;
    uint32_t *recv_out, *send_out;
    struct sched *s;
};

static void pair_done(void *arg)
{
    struct pair *p = arg;
    *p->recv_out = p->recv;
    *p->send_out = p->send;
    if (!p->recv || !p->send)
        sched_fail(p->s, check(0));
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
    *p = (struct pair){0, 0, recv, send, s};
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

/* Down a binomial tree of the subset.  Messages are matched by the sender's world rank: subsets of one call are
 * disjoint and calls that follow one another keep the order of each pair. */
int coll_ctx_agree_map(struct comm *c, struct rankmap *map, int rank, int tag, uint32_t *ctx)
{
    uint32_t stream = c->ctx_recv | CTX_COLL, id = 0;
    int p = map->size, me = boot_rank(), mask = 1, err = MPI_SUCCESS;
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
    }
    /* Those below wait for this process, which lives: with an error, too, they are told, of no id. */
    for (mask >>= 1; mask; mask >>= 1)
        if (rank + mask < p) {
            int e = p2p_send_world(&id, sizeof id, rankmap_world(map, rank + mask), stream, me, tag);
            err = err ? err : e;
        }
    *ctx = id;
    return err ? err : check_members(id, map);
}

int coll_ctx_merge(struct comm *c, uint32_t *ctx)
{
    struct dt_type *byte = proc->coll->byte;
    struct sched *s = sched_make(&(struct coll_args){.call = COLL_BCAST, .comm = c});
    if (!s)
        return no_memory();
    *ctx = 0;
    if (c->rank == 0) {
        if (c->ctx_recv < c->ctx_send) { /* the same comparison, the other way round, over there */
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
    return err ? err : check(*ctx);
}

/* --- intercommunicators -------------------------------------------------------------------- */

struct hello { /* between leaders, and from the leader to its group */
    uint32_t ctx;
    int32_t size;
    int64_t extra;
    int64_t err; /* leader only: class of what went wrong */
};

static int swap_hello(const struct hello *ours, struct hello *theirs, struct comm *peer, int remote, int tag)
{
    struct dt_type *byte = proc->coll->byte;
    return p2p_sendrecv(ours, sizeof *ours, byte, remote, tag, theirs, sizeof *theirs, byte, remote, tag, peer, P2P_TOOL,
                        MPI_STATUS_IGNORE);
}

static int swap_ranks(struct comm *local, int *theirs, int n, struct comm *peer, int remote, int tag)
{
    struct dt_type *byte = proc->coll->byte;
    int *ours = malloc((size_t)local->size * sizeof *ours);
    if (!ours)
        return no_memory();
    for (int i = 0; i < local->size; i++)
        ours[i] = comm_world(local, i);
    int err = p2p_sendrecv(ours, (MPI_Aint)((size_t)local->size * sizeof *ours), byte, remote, tag, theirs,
                           (MPI_Aint)((size_t)n * sizeof *theirs), byte, remote, tag, peer, P2P_TOOL, MPI_STATUS_IGNORE);
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
        h.ours.err = err ? err_class(err) : 0;
    }
    int berr = coll_bcast_bytes(&h, sizeof h, local_leader, local);
    if (err || (berr && !leads)) /* a leader's other side waits for it in the next step, whatever befell its own */
        return err ? err : berr;
    if (h.ours.err)
        return err_make((int)h.ours.err, "MPI_Intercomm_create: the leaders could not meet");
    if (!h.ours.ctx || !h.theirs.ctx)
        return check(0);
    int n = h.theirs.size;
    if (n < 1 || n > boot_size()) /* all learned the same from their leader */
        return err_make(MPI_ERR_OTHER, "MPI_Intercomm_create: the other leader says that its group has %d members", n);
    int *ranks = malloc((size_t)n * sizeof *ranks);
    if (!ranks)
        return no_memory();
    if (leads && (err = swap_ranks(local, ranks, n, peer, remote_leader, tag)) != 0)
        ranks[0] = -1; /* the others wait for this process, which lives */
    int told = coll_bcast_bytes(ranks, (size_t)n * sizeof *ranks, local_leader, local);
    err = err ? err : berr ? berr : told;
    if (!err && ranks[0] == -1)
        err = err_make(MPI_ERR_OTHER, "MPI_Intercomm_create: the leaders could not meet");
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

/* ctxid.c - context ids. Start with coll_ctx_agree().
 *
 *      | round of the counter | 0, bits of a rank |  | world rank of the leader | its counter | 0 |
 *                    32 bits                                 the number: 32 bits, 2 for the stream
 *
 * The leader of the new group makes the id from its own rank, counter and round. So no two
 * communicators anywhere have equal ids, and the others only receive it: no masks, no agreement,
 * nothing shared between threads that create communicators at once. The counter wraps around and
 * skips numbers whose communicator still lives at the leader.
 *
 * A member may still have a communicator, or packets of it, whose number the leader uses again:
 * another thread is in its MPI_Comm_free, a collective of it goes on after that, or what a
 * failed member left is under way. Those have another round. With P bits for a rank, an id comes
 * again after 2^(62 - 2 P) others of the same leader. P comes from the places for processes of all
 * jobs. Under our mpiexec, Hydra and PRRTE there are 2^14 for a first job of up to 8,191, over
 * several hosts of up to 13,106: an id comes again after 2^34. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
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
    while ((1 << rank_bits) < boot_universe())
        rank_bits++;
    room->ctx_bits = ID_BITS - rank_bits;
    room->ctx_next = room->ctx_round = 0;
    map_init(&room->ctx_live);
    proc->obj->ctx_gone = ctx_gone;
}

void ctx_stop(struct coll_room *room)
{
    proc->obj->ctx_gone = NULL;
    map_destroy(&room->ctx_live);
}

uint64_t ctx_make(void)
{
    struct coll_room *room = proc->coll;
    uint32_t counters = 1u << room->ctx_bits, rank = (uint32_t)boot_rank();
    if (room->ctx_live.count + 2 >= counters)
        return 0;
    for (;;) {
        uint32_t n = room->ctx_next, round = room->ctx_round;
        room->ctx_next = (n + 1) & (counters - 1);
        if (!room->ctx_next)
            room->ctx_round += comm_rank_mask() + 1;
        uint32_t id = (rank << room->ctx_bits | n) * CTX_STEP;
        if (id == CTX_WORLD || id == CTX_SELF || map_get(&room->ctx_live, id))
            continue;
        return map_put(&room->ctx_live, id, room) ? 0 : (uint64_t)round << 32 | id;
    }
}

/* A process that could not go on sends the job rank of the failed process in place of an id,
 * with a low bit that no id has. */
enum { TOLD_DEATH = 1 };

void ctx_unmake(uint64_t ctx)
{
    if (ctx)
        ctx_gone((uint32_t)ctx);
}

int ctx_is_id(uint64_t ctx)
{
    return (uint32_t)ctx && ctx % CTX_STEP == 0 && !(ctx >> 32 & comm_rank_mask());
}

int ctx_is_own(uint64_t ctx)
{
    return ctx_is_id(ctx) &&
           (uint32_t)ctx / CTX_STEP >> proc->coll->ctx_bits == (uint32_t)boot_rank();
}

/* Checks an id received from process `leader` of the job, which made it. */
static int check(uint64_t ctx, int leader)
{
    uint32_t id = (uint32_t)ctx, world = id / CTX_STEP;
    if (ctx_is_id(ctx) && world >> proc->coll->ctx_bits == (uint32_t)leader)
        return MPI_SUCCESS;
    if (id % CTX_STEP == TOLD_DEATH && world < (uint32_t)boot_universe())
        return err_make(MPIX_ERR_PROC_FAILED, "process %u of the job has died: %s", world,
                        boot_failed((int)world) ? boot_failed_why((int)world)
                                              : "another member reports it");
    if (ctx)
        return err_make(MPI_ERR_OTHER, "no context id: %#llx came instead of one",
                        (unsigned long long)ctx);
    return err_make(MPI_ERR_OTHER, "no context id left: too many communicators are alive");
}

/* --- over a communicator ------------------------------------------------------------ */

struct pair {
    uint64_t recv, send;
    struct comm *to; /* NULL: to *recv_out and *send_out */
    uint64_t made;   /* here; 0: none */
    uint64_t *recv_out, *send_out;
    int leader, remote_leader; /* the processes that make them */
    struct sched *s;
};

static void pair_done(void *arg)
{
    struct pair *p = arg;
    int err = check(p->recv, p->leader);
    err = err ? err : check(p->send, p->remote_leader);
    if (!p->to) {
        *p->recv_out = p->recv;
        *p->send_out = p->send;
    } else if (!err) {
        comm_set_ctx(p->to, p->recv, p->send);
    } else {
        ctx_unmake(p->made);
    }
    if (err)
        sched_fail(p->s, err);
}

/* A schedule that leaves the ids at *recv and *send, or in n.  *made: what was made here for it, or
 * 0. */
static struct sched *agree(struct comm *c, struct comm *n, uint64_t *recv, uint64_t *send,
                           uint64_t *made)
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
    *p = (struct pair){.to = n, .recv_out = recv, .send_out = send, .leader = leader, .s = s,
                       .remote_leader = c->remote ? rankmap_world(c->remote, 0) : leader};
    if (c->rank == 0)
        p->recv = p->send = p->made = ctx_make();
    *made = p->made;
    if (c->remote) {
        if (c->rank == 0) { /* the other group receives with the id with which this one sends */
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

int coll_ctx_agree(struct comm *c, uint64_t *recv, uint64_t *send)
{
    uint64_t made;
    struct sched *s = agree(c, NULL, recv, send, &made);
    if (!s)
        return no_memory();
    int err = sched_run(s);
    if (err)
        ctx_unmake(made);
    return err;
}

int coll_ctx_iagree(struct comm *c, struct comm *n, struct request **out)
{
    uint64_t made;
    struct sched *s = agree(c, n, NULL, NULL, &made);
    if (!s)
        return no_memory();
    sched_begin(s);
    *out = &s->r;
    return MPI_SUCCESS;
}

/* --- over a subset --------------------------------------------------------------------- */

/* Down the same tree, when members above may have given up in an earlier step of the call: then no
 * other message comes. */
static int agree_within(struct comm *c, const struct rankmap *map, int rank, uint64_t *ctx)
{
    struct sched *s = sched_aside(c, TAG_SUBSET);
    struct pair *p = s ? sched_bytes(s, sizeof *p) : NULL;
    struct dt_type *byte = proc->coll->byte;
    int mask = 1, leader = rankmap_world(map, 0);
    uint64_t made = 0;
    if (!p) {
        if (s)
            sched_destroy(s);
        return no_memory();
    }
    *p = (struct pair){.recv_out = ctx, .send_out = ctx, .leader = leader, .remote_leader = leader,
                       .s = s};
    while (mask < map->size && !(rank & mask))
        mask <<= 1;
    if (rank == 0) {
        p->recv = p->send = made = ctx_make();
    } else {
        sched_recv(s, &p->recv, 2 * sizeof p->recv, byte,
                   rankmap_find(c->map, rankmap_world(map, rank - mask)));
        sched_fence(s);
    }
    for (mask >>= 1; mask; mask >>= 1)
        if (rank + mask < map->size)
            sched_send(s, &p->recv, 2 * sizeof p->recv, byte,
                       rankmap_find(c->map, rankmap_world(map, rank + mask)));
    sched_fence(s);
    sched_call(s, pair_done, p);
    int err = sched_run(s);
    if (err)
        ctx_unmake(made);
    return err;
}

/* How the messages of a call reach the others: by one key of matching, or by a text. No two calls
 * that may be under way at once share a key, nor is one that of a collective. */
struct way {
    uint32_t stream, round;
    int tag;
    const char *text; /* NULL: by the key */
    enum coll_use use;
};

static struct way way_of(const struct comm *c, int tag)
{
    struct way x = {c->ctx_recv | CTX_COLL, c->round_recv, tag | GROUP_TAG, NULL, 0};
    if (tag == COLL_CREATE || x.tag == MPI_ANY_TAG) { /* of the largest tag */
        x.stream = c->ctx_recv | CTX_TOOL;
        x.tag = tag == COLL_CREATE ? (int)TAG_CREATE : (int)TAG_GROUP_LAST;
    }
    return x;
}

static int way_send(const struct way *x, uint64_t id, int world)
{
    if (x->text)
        return text_send(x->text, x->use, &id, sizeof id, world);
    return p2p_send_world(&id, sizeof id, world, x->stream, x->round | (uint32_t)boot_rank(),
                          x->tag);
}

static int way_recv(const struct way *x, uint64_t *id, int world)
{
    if (x->text)
        return text_recv(x->text, x->use, id, sizeof *id, world);
    return p2p_recv_world(id, sizeof *id, world, x->stream, x->round | (uint32_t)world, x->tag);
}

/* Down a binomial tree of the subset. Messages are matched by the sender's world rank: subsets of
 * one call are disjoint, and successive calls keep the order of each pair. */
static int agree_down(const struct way *x, const struct rankmap *map, int rank, uint64_t *ctx)
{
    uint64_t id = 0;
    int p = map->size, mask = 1, err = MPI_SUCCESS;
    while (mask < p && !(rank & mask))
        mask <<= 1;
    if (rank == 0) {
        id = ctx_make();
    } else {
        int parent = rankmap_world(map, rank - mask);
        err = way_recv(x, &id, parent);
        if (err && err_class(err) == MPIX_ERR_REVOKED) /* it ends those below, too */
            return err;
        if (err)
            id = err_class(err) == MPIX_ERR_PROC_FAILED ? (uint64_t)parent * CTX_STEP + TOLD_DEATH
                                                        : 0;
    }
    /* Those below wait for this process, which lives: an error is sent to them, too. */
    for (mask >>= 1; mask; mask >>= 1)
        if (rank + mask < p) {
            int e = way_send(x, id, rankmap_world(map, rank + mask));
            err = err ? err : e;
        }
    *ctx = id;
    err = err ? err : check(id, rankmap_world(map, 0));
    if (err && rank == 0)
        ctx_unmake(id);
    return err;
}

int coll_ctx_agree_map(struct comm *c, struct rankmap *map, int rank, int tag, uint64_t *ctx)
{
    if (tag == COLL_WITHIN)
        return agree_within(c, map, rank, ctx);
    struct way x = way_of(c, tag);
    return agree_down(&x, map, rank, ctx);
}

int coll_ctx_agree_text(struct rankmap *map, int rank, const char *text, int is_local,
                        uint64_t *ctx)
{
    struct way x = {.text = text, .use = is_local ? TEXT_LOCAL : TEXT_GROUP};
    return agree_down(&x, map, rank, ctx);
}

int coll_ctx_merge(struct comm *c, uint64_t *ctx)
{
    struct dt_type *byte = proc->coll->byte;
    struct sched *s = sched_make(&(struct coll_args){.call = COLL_BCAST, .comm = c});
    if (!s)
        return no_memory();
    int ours = c->ctx_recv < c->ctx_send;
    uint64_t made = 0;
    *ctx = 0;
    if (c->rank == 0) {
        if (ours) { /* the other side makes the same comparison with the roles swapped */
            *ctx = made = ctx_make();
            sched_send(s, ctx, sizeof *ctx, byte, 0);
        } else {
            sched_recv(s, ctx, sizeof *ctx, byte, 0);
        }
        sched_fence(s);
    }
    sched_local(s);
    build_bcast_binomial(s, ctx, sizeof *ctx, byte, 0);
    int err = sched_run(s);
    err = err ? err : check(*ctx, rankmap_world(ours ? c->map : c->remote, 0));
    if (err)
        ctx_unmake(made);
    return err;
}

/* --- intercommunicators -------------------------------------------------------------------- */

struct hello { /* between leaders, and from the leader to its group */
    uint64_t ctx;
    int64_t size;
    int64_t extra;
    int64_t err; /* class of the error that stops the leader */
};

/* A valid error class from one in a message. */
static int told_class(int64_t cls)
{
    return cls == MPIX_ERR_PROC_FAILED || cls == MPIX_ERR_REVOKED || cls == MPI_ERR_NO_MEM
               ? (int)cls
               : MPI_ERR_OTHER;
}

static int not_met(int64_t cls)
{
    return err_make(told_class(cls), "MPI_Intercomm_create: the leaders could not meet%s",
                    cls == MPIX_ERR_PROC_FAILED ? ": a process has died"
                    : cls == MPIX_ERR_REVOKED   ? ": a communicator was revoked"
                    : cls == MPI_ERR_NO_MEM     ? ": one has no memory for the ranks of its group"
                                                : "");
}

static int swap_by_text(const struct hello *ours, struct hello *theirs,
                        const struct coll_leaders *to)
{
    _Static_assert(sizeof *ours <= TEXT_DATA, "it goes beside the text");
    int world = comm_world(to->peer, to->rank);
    int err = text_send(to->text, TEXT_LEADERS, ours, sizeof *ours, world);
    return err ? err : text_recv(to->text, TEXT_LEADERS, theirs, sizeof *theirs, world);
}

/* Between leaders. COLL_WITHIN: the other may have given up in an earlier step, and then only its
 * failure is visible. */
static int swap(const void *ours, size_t n, void *theirs, size_t m, const struct coll_leaders *to)
{
    struct dt_type *byte = proc->coll->byte;
    if (to->peer->revoked)
        return comm_revoked_error();
    if (to->tag != COLL_WITHIN)
        return p2p_sendrecv(ours, (MPI_Aint)n, byte, to->rank, to->tag, theirs, (MPI_Aint)m, byte,
                            to->rank, to->tag, to->peer, P2P_TOOL, MPI_STATUS_IGNORE);
    struct sched *s = sched_aside(to->peer, TAG_LEADERS);
    void *copy = s ? sched_bytes(s, n) : NULL; /* a send that was given up may be read later */
    if (!copy) {
        if (s)
            sched_destroy(s);
        return no_memory();
    }
    memcpy(copy, ours, n);
    sched_recv(s, theirs, (MPI_Aint)m, byte, to->rank);
    sched_send(s, copy, (MPI_Aint)n, byte, to->rank);
    return sched_run(s);
}

static int swap_hello(const struct hello *ours, struct hello *theirs,
                      const struct coll_leaders *to)
{
    return to->text ? swap_by_text(ours, theirs, to)
                    : swap(ours, sizeof *ours, theirs, sizeof *theirs, to);
}

void coll_intercomm_refuse(const struct coll_leaders *to, int err)
{
    struct hello ours = {.err = err_class(err)}, theirs;
    (void)swap_hello(&ours, &theirs, to);
}

/* By the ids that the leaders have swapped: no other call has them. The list may be long, and then
 * its send waits for the receive: the lower one sends first. */
static int swap_by_ids(const void *ours, size_t n, void *theirs, size_t m, int world,
                       uint64_t recv_ctx, uint64_t send_ctx)
{
    int first = boot_rank() < world, err = MPI_SUCCESS;
    uint32_t from = (uint32_t)(recv_ctx >> 32) | (uint32_t)world;
    uint32_t as = (uint32_t)(send_ctx >> 32) | (uint32_t)boot_rank();
    if (world == boot_rank()) { /* the groups overlap, which is found below */
        memcpy(theirs, ours, n < m ? n : m);
        return MPI_SUCCESS;
    }
    for (int step = 0; step < 2 && !err; step++)
        err = (step == 0) == first
                  ? p2p_send_world(ours, n, world, (uint32_t)send_ctx | CTX_TOOL, as, TAG_LEADERS)
                  : p2p_recv_world(theirs, m, world, (uint32_t)recv_ctx | CTX_TOOL, from,
                                   TAG_LEADERS);
    return err;
}

/* recv, send: the ids */
static int swap_ranks(const int *ours, int nours, int *theirs, int n, const struct coll_leaders *to,
                      uint64_t recv, uint64_t send)
{
    size_t out = (size_t)nours * sizeof *ours, in = (size_t)n * sizeof *theirs;
    return to->text ? swap_by_ids(ours, out, theirs, in, comm_world(to->peer, to->rank), recv, send)
                    : swap(ours, out, theirs, in, to);
}

/* ctx: the id that this process has made for its group; 0: it does not lead, or there is none.
 * ours: of a leader, the world ranks of its group; NULL: no memory for them. */
static int exchange(struct comm *local, int local_leader, const struct coll_leaders *to,
                    uint64_t ctx, const int *ours, uint64_t *recv, uint64_t *send,
                    struct rankmap **remote, int64_t send_extra, int64_t *recv_extra)
{
    struct {
        struct hello ours, theirs;
    } h = {{ctx, local->size, send_extra, 0}, {0, 0, 0, 0}};
    int leads = local->rank == local_leader, err = MPI_SUCCESS;
    if (leads) {
        int lacks = ours ? MPI_SUCCESS : MPI_ERR_NO_MEM;
        h.ours.err = lacks;
        err = swap_hello(&h.ours, &h.theirs, to);
        h.ours.err = err ? err_class(err) : lacks ? lacks : h.theirs.err;
    }
    int berr = coll_bcast_bytes(&h, sizeof h, local_leader, local);
    /* the other leader waits for this one in the next step, whatever its own group's result */
    if (err || (berr && !leads))
        return err ? err : berr;
    if (h.ours.err)
        return not_met(h.ours.err);
    /* only the leader can check which process made theirs */
    if (!h.ours.ctx || !ctx_is_id(h.theirs.ctx))
        return check(h.ours.ctx ? h.theirs.ctx : 0, -1);
    /* all got the same value from their leader */
    if (h.theirs.size < 1 || h.theirs.size > boot_universe())
        return err_make(MPI_ERR_OTHER,
                        "MPI_Intercomm_create: the other leader's group has %lld members",
                        (long long)h.theirs.size);
    int n = (int)h.theirs.size;
    int *ranks = malloc((size_t)n * sizeof *ranks);
    if (!ranks) /* the others would wait for ever */
        log_fatal("MPI_Intercomm_create: out of memory for the other group's %d ranks", n);
    if (leads && (err = swap_ranks(ours, local->size, ranks, n, to, h.ours.ctx, h.theirs.ctx)) != 0)
        ranks[0] = -err_class(err); /* the others wait for this process, which lives */
    int told = coll_bcast_bytes(ranks, (size_t)n * sizeof *ranks, local_leader, local);
    err = err ? err : berr ? berr : told;
    if (!err && ranks[0] < 0)
        err = not_met(-(int64_t)ranks[0]);
    for (int i = 0; i < n && !err; i++)
        if (ranks[i] < 0 || ranks[i] >= boot_universe())
            err = err_make(MPI_ERR_OTHER,
                           "MPI_Intercomm_create: the other leader names process %d of the job",
                           ranks[i]);
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

int coll_intercomm_exchange(struct comm *local, int local_leader, const struct coll_leaders *to,
                            uint64_t *recv, uint64_t *send, struct rankmap **remote,
                            int64_t send_extra, int64_t *recv_extra)
{
    int leads = local->rank == local_leader;
    uint64_t made = leads ? ctx_make() : 0;
    int *ours = leads ? malloc((size_t)local->size * sizeof *ours) : NULL;
    for (int i = 0; ours && i < local->size; i++)
        ours[i] = comm_world(local, i);
    int err = exchange(local, local_leader, to, made, ours, recv, send, remote, send_extra,
                       recv_extra);
    free(ours);
    if (err)
        ctx_unmake(made);
    return err;
}

int coll_comm_dup(struct comm *c, struct comm **out)
{
    uint64_t recv, send;
    int err = coll_ctx_agree(c, &recv, &send);
    if (err)
        return err;
    *out = comm_make(c->map, c->rank, NULL, recv, send);
    if (!*out)
        return no_memory();
    (*out)->maker = c;
    return MPI_SUCCESS;
}

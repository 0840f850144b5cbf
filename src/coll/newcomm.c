/* newcomm.c - communicators made from communicators: duplicate, split, create,
 * intercommunicators. Start with newcomm_dup(). */
#include "coll/newcomm.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "boot/boot.h"
#include "coll/coll.h"
#include "dt/dt.h"
#include "obj/attr.h"
#include "obj/err.h"
#include "obj/neighbors.h"

static int no_memory(const char *call)
{
    return err_make(MPI_ERR_NO_MEM, "%s: no memory for the communicator", call);
}

/* proc->call changes during a wait (other threads, callbacks): store it for error texts and restore
 * it. */
static const char *call_name(void)
{
    return proc->call ? proc->call : "MPI call";
}

static int done(const char *call, int err)
{
    proc->call = call;
    return err;
}

/* Free a communicator that was made but will not be returned to the user. */
static void discard(struct comm *c)
{
    if (c) {
        attr_delete_all(OBJ_COMM, c->obj.handle, &c->attrs);
        comm_drop(c);
    }
}

/* --- hints ------------------------------------------------------------------- */

int newcomm_hints(struct comm *c, const struct info *info)
{
    static const char *const known[] = {"mpi_assert_no_any_tag", "mpi_assert_no_any_source",
                                        "mpi_assert_exact_length", "mpi_assert_allow_overtaking"};
    for (size_t i = 0; info && i < sizeof known / sizeof *known; i++) {
        const char *v = info_value(info, known[i]);
        if (!v || (strcasecmp(v, "true") && strcasecmp(v, "false")))
            continue; /* unknown hints are ignored (MPI-3.1 9) */
        if (!c->info && !(c->info = info_make()))
            return no_memory(call_name());
        if (info_put(c->info, known[i], v))
            return no_memory(call_name());
    }
    return MPI_SUCCESS;
}

/* A communicator that comes from `of`: the buffered sends of its session are its own. */
static struct comm *child(const struct comm *of, struct rankmap *map, int rank,
                          struct rankmap *remote, uint64_t recv, uint64_t send)
{
    struct comm *n = comm_make(map, rank, remote, recv, send);
    if (n)
        n->session = session_share_ref(of->session);
    return n;
}

/* --- duplicates ----------------------------------------------------------------- */

/* All of a duplicate but its ids and, for intercommunicators, its local one. */
static int dup_rest(struct comm *c, const struct info *info, struct comm *n)
{
    comm_set_errhandler(n, c->errhandler);
    n->topo = topo_ref(c->topo);
    int err = newcomm_hints(n, info ? info : c->info);
    return err ? err : attr_copy(OBJ_COMM, c->obj.handle, &c->attrs, n->obj.handle, &n->attrs);
}

/* A local communicator for n, from one of the same group. n NULL: this process has no memory for
 * it, and the others wait for it here. */
static int dup_local(struct comm *local, struct comm *n)
{
    struct comm *copy;
    int err = coll_comm_dup(local, &copy);
    if (err)
        return err;
    copy->maker = NULL;
    if (!n) {
        comm_drop(copy);
        return no_memory(call_name());
    }
    comm_set_local(n, copy);
    return MPI_SUCCESS;
}

int newcomm_dup(struct comm *c, const struct info *info, struct comm **out)
{
    const char *call = call_name();
    uint64_t recv, send;
    struct comm *n = NULL;
    *out = NULL;
    int err = coll_ctx_agree(c, &recv, &send);
    if (err)
        return done(call, err);
    n = child(c, c->map, c->rank, c->remote, recv, send);
    if (c->remote)
        err = dup_local(c->local, n);
    else if (!n)
        err = no_memory(call);
    if (!err)
        err = dup_rest(c, info, n);
    if (err) {
        discard(n);
        n = NULL;
    }
    *out = n;
    return done(call, err);
}

/* A duplicate of an intercommunicator needs two ids: a request over both. */
struct idup {
    struct request r;
    int waiting, error;
};

static void idup_part(struct request *part, void *arg)
{
    struct idup *d = arg;
    int err = request_finish(part, MPI_STATUS_IGNORE);
    /* else it may only be a consequence of a failure */
    if (!d->error || (err && err_class(err) == MPIX_ERR_PROC_FAILED))
        d->error = err;
    if (--d->waiting == 0)
        request_complete(&d->r, d->error);
}

static void idup_free(struct request *r)
{
    free(r);
}

static const struct request_ops idup_ops = {.free = idup_free};

static int idup_inter(struct comm *c, struct comm *n, struct request **req)
{
    struct idup *d = calloc(1, sizeof *d);
    struct request *a = NULL, *b = NULL;
    struct comm *local = comm_make(c->local->map, c->local->rank, NULL, CTX_NONE, CTX_NONE);
    if (!d || !local) {
        comm_drop(local);
        free(d);
        return no_memory("MPI_Comm_idup");
    }
    comm_set_local(n, local);
    request_init(&d->r, REQUEST_COLL, &idup_ops, c);
    d->r.what = "MPI_Comm_idup";
    d->error = coll_ctx_iagree(c, n, &a);
    if (!d->error)
        d->error = coll_ctx_iagree(c->local, n->local, &b);
    d->waiting = (a != NULL) + (b != NULL);
    if (!d->waiting)
        request_complete(&d->r, d->error);
    if (a)
        request_then(a, idup_part, d);
    if (b)
        request_then(b, idup_part, d);
    *req = &d->r;
    return MPI_SUCCESS;
}

int newcomm_idup(struct comm *c, const struct info *info, struct comm **out, struct request **req)
{
    const char *call = call_name();
    struct comm *n = child(c, c->map, c->rank, c->remote, CTX_NONE, CTX_NONE);
    *out = NULL;
    if (!n)
        return no_memory(call);
    int err = dup_rest(c, info, n);
    if (!err)
        err = c->remote ? idup_inter(c, n, req) : coll_ctx_iagree(c, n, req);
    if (err)
        discard(n);
    else
        *out = n;
    return done(call, err);
}

/* --- subsets ------------------------------------------------------------------------ */

int newcomm_check_subset(const struct comm *c, const struct rankmap *map)
{
    struct rankindex x;
    if (map == c->map)
        return MPI_SUCCESS;
    rankindex_init(&x, c->map);
    int i = 0;
    while (i < map->size && rankindex_find(&x, rankmap_world(map, i)) >= 0)
        i++;
    rankindex_destroy(&x);
    if (i < map->size)
        return err_make(MPI_ERR_GROUP,
                        "%s: rank %d of the group (process %d) is not in communicator %#x",
                        call_name(), i, rankmap_world(map, i), (unsigned)c->obj.handle);
    return MPI_SUCCESS;
}

/* The one of the members of map, whose id was agreed upon unless there is an error. */
static int subset_made(struct comm *c, struct rankmap *map, int rank, uint64_t ctx, int err,
                       const char *call, struct comm **out)
{
    if (err)
        return done(call, err);
    struct comm *n = child(c, map, rank, NULL, ctx, ctx);
    if (n)
        comm_set_errhandler(n, c->errhandler);
    *out = n;
    return done(call, n ? MPI_SUCCESS : no_memory(call));
}

int newcomm_subset(struct comm *c, struct rankmap *map, int tag, struct comm **out)
{
    const char *call = call_name();
    uint64_t ctx;
    int rank = rankmap_find(map, boot_rank());
    *out = NULL;
    if (rank < 0)
        return MPI_SUCCESS;
    int err = coll_ctx_agree_map(c, map, rank, tag, &ctx);
    return subset_made(c, map, rank, ctx, err, call, out);
}

int newcomm_from_group(struct rankmap *map, const char *text, int is_local, struct comm **out)
{
    const char *call = call_name();
    uint64_t ctx;
    int rank = rankmap_find(map, boot_rank());
    *out = NULL;
    if (rank < 0)
        return MPI_SUCCESS;
    int err = coll_ctx_agree_text(map, rank, text, is_local, &ctx);
    return subset_made(proc->obj->world, map, rank, ctx, err, call, out);
}

/* --- between the groups of an intercommunicator --------------------------------------- */

/* Rank in c's local group of the first member of map; -1 for an empty one. */
static int first_member(const struct comm *c, const struct rankmap *map)
{
    return map->size ? rankmap_find(c->map, rankmap_world(map, 0)) : -1;
}

/* An intercommunicator from subset `map` of this side of c; remote_first: rank, in the remote group
 * of c, of the first member of the other side's subset, -1: it is empty. */
static int inter_subset(struct comm *c, struct rankmap *map, int remote_first, struct comm **out)
{
    struct comm *local;
    *out = NULL;
    if (remote_first < 0)
        return MPI_SUCCESS;
    if (remote_first >= c->remote->size)
        return err_make(MPI_ERR_OTHER, "%s: the other group names its rank %d of %d", call_name(),
                        remote_first, c->remote->size);
    int err = newcomm_subset(c->local, map, COLL_WITHIN, &local);
    if (err || !local)
        return err;
    comm_set_beside(local, c->map, c->remote);
    comm_set_errhandler(local, c->errhandler);
    err = newcomm_inter(local, 0, c, remote_first, COLL_WITHIN, out);
    if (!err)
        comm_set_errhandler(*out, c->errhandler);
    comm_drop(local);
    return err;
}

int newcomm_create(struct comm *c, struct rankmap *map, struct comm **out)
{
    if (!c->remote)
        return newcomm_subset(c, map, COLL_CREATE, out);
    const char *call = call_name();
    int64_t mine = first_member(c, map), theirs = -1;
    *out = NULL;
    int err = coll_swap_bytes(&mine, sizeof mine, &theirs, sizeof theirs, c);
    if (!err)
        err = inter_subset(c, map, (int)theirs, out);
    return done(call, err);
}

/* --- split ----------------------------------------------------------------------------- */

struct split_item {
    int color, key;
};

struct split_order {
    int key, rank;
};

static int by_key(const void *a, const void *b)
{
    const struct split_order *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* What a split needs, there before its first step: others wait in the next ones. */
struct split {
    struct split_item *all; /* of each rank */
    struct split_order *order;
    int *world;
    struct rankmap *map;
};

static void split_close(struct split *x)
{
    free(x->all);
    free(x->order);
    free(x->world);
    rankmap_drop(x->map);
}

/* 0: no memory. */
static int split_open(struct split *x, size_t n)
{
    *x = (struct split){malloc(n * sizeof *x->all), malloc(n * sizeof *x->order),
                        malloc(n * sizeof *x->world), rankmap_blank((int)n)};
    if (x->all && x->order && x->world && x->map)
        return 1;
    split_close(x);
    *x = (struct split){NULL, NULL, NULL, NULL};
    return 0;
}

/* Ranks of c's local group with this color, by (key, rank), as a map. */
static struct rankmap *color_map(const struct comm *c, struct split *x, int color)
{
    int n = 0;
    for (int i = 0; i < c->size; i++)
        if (x->all[i].color == color)
            x->order[n++] = (struct split_order){x->all[i].key, i};
    qsort(x->order, (size_t)n, sizeof *x->order, by_key);
    for (int i = 0; i < n; i++)
        x->world[i] = comm_world(c, x->order[i].rank);
    rankmap_fill(x->map, x->world, n);
    return x->map;
}

/* For rank 0 of the other side: a table of (color, rank) pairs, with the first member on this side
 * of each color. */
static int color_table(const struct comm *c, const struct split_item *all,
                       struct split_item **table, int *n)
{
    struct split_item *t = malloc(((size_t)c->size + 1) * sizeof *t);
    struct map seen;
    map_init(&seen);
    *n = 0;
    *table = t;
    for (int i = 0; t && i < c->size; i++) {
        if (all[i].color == MPI_UNDEFINED)
            continue;
        intptr_t at = (intptr_t)map_get(&seen, (uint64_t)all[i].color) - 1;
        if (at < 0) {
            if (map_put(&seen, (uint64_t)all[i].color, (void *)(intptr_t)(*n + 1)))
                break;
            t[(*n)++] = (struct split_item){all[i].color, i};
        } else if (all[i].key < all[t[at].key].key) {
            t[at].key = i;
        }
    }
    map_destroy(&seen);
    return t ? MPI_SUCCESS : no_memory(call_name());
}

/* The rank, in the remote group, of the first member of the remote subset of `color`, or -1. */
static int remote_color(struct comm *c, const struct split_item *all, int color, int *first)
{
    struct split_item *mine = NULL, *theirs = NULL;
    int n = 0;
    int64_t count, their_count = 0;
    int err = color_table(c, all, &mine, &n);
    count = n;
    if (!err)
        err = coll_swap_bytes(&count, sizeof count, &their_count, sizeof their_count, c);
    if (!err && (their_count < 0 || their_count > c->remote->size))
        err = err_make(MPI_ERR_OTHER, "%s: the other group has %lld colors",
                       call_name(), (long long)their_count);
    if (!err && !(theirs = malloc(((size_t)their_count + 1) * sizeof *theirs)))
        err = no_memory(call_name());
    if (!err)
        err = coll_swap_bytes(mine, (size_t)n * sizeof *mine, theirs,
                              (size_t)their_count * sizeof *theirs, c);
    *first = -1;
    for (int64_t i = 0; !err && i < their_count; i++)
        if (theirs[i].color == color)
            *first = theirs[i].key;
    free(mine);
    free(theirs);
    return err;
}

int newcomm_split(struct comm *c, int color, int key, struct comm **out)
{
    const char *call = call_name();
    struct comm *local = c->remote ? c->local : c;
    struct split_item mine = {color, key};
    struct split x;
    int first = -1, rich = split_open(&x, (size_t)c->size);
    *out = NULL;
    int err = coll_allgather_bytes(&mine, x.all, sizeof mine, local);
    if (!rich)
        err = no_memory(call);
    if (!err && c->remote)
        err = remote_color(c, x.all, color, &first);
    if (!err && color != MPI_UNDEFINED) {
        struct rankmap *map = color_map(c, &x, color);
        err = c->remote ? inter_subset(c, map, first, out)
                        : newcomm_subset(c, map, COLL_WITHIN, out);
    }
    split_close(&x);
    return done(call, err);
}

/* --- intercommunicators -------------------------------------------------------------------- */

static int disjoint(const struct comm *local, const struct rankmap *remote, const char *call)
{
    struct rankindex x;
    rankindex_init(&x, remote);
    int i = 0;
    while (i < local->size && rankindex_find(&x, comm_world(local, i)) < 0)
        i++;
    rankindex_destroy(&x);
    return i == local->size ? MPI_SUCCESS
                            : err_make(MPI_ERR_COMM, "%s: process %d is in both groups", call,
                                       comm_world(local, i));
}

/* ready: the processes of each group can be sent to by those of the other. */
static int inter_make(struct comm *local, int local_leader, const struct coll_leaders *to,
                      int ready, struct comm **out)
{
    const char *call = call_name();
    uint64_t recv, send;
    struct rankmap *remote = NULL;
    struct comm *n = NULL;
    *out = NULL;
    int err = coll_intercomm_exchange(local, local_leader, to, &recv, &send, &remote, 0, NULL);
    if (!err)
        err = disjoint(local, remote, call);
    if (!err && !ready && newcomm_mixed(local->map, remote))
        err = newcomm_open_both(local, local_leader, to->peer, to->rank, to->tag);
    if (!err) {
        n = child(local, local->map, local->rank, remote, recv, send);
        err = dup_local(local, n);
    }
    rankmap_drop(remote);
    if (err) {
        discard(n);
        return done(call, err);
    }
    comm_set_errhandler(n, local->errhandler);
    *out = n;
    return done(call, MPI_SUCCESS);
}

int newcomm_inter(struct comm *local, int local_leader, struct comm *peer, int remote_leader,
                  int tag, struct comm **out)
{
    struct coll_leaders to = {peer, remote_leader, tag, NULL};
    /* Within a call on peer all are members of one communicator. */
    return inter_make(local, local_leader, &to, tag == COLL_WITHIN, out);
}

int newcomm_inter_text(struct comm *local, int local_leader, int remote_leader, const char *text,
                       struct comm **out)
{
    struct coll_leaders to = {proc->obj->world, remote_leader, 0, text};
    return inter_make(local, local_leader, &to, 1, out);
}

int newcomm_inter_ready(struct comm *local, int local_leader, struct comm *peer,
                        int remote_leader, struct comm **out)
{
    struct coll_leaders to = {peer, remote_leader, 0, NULL};
    return inter_make(local, local_leader, &to, 1, out);
}

/* Both groups as one map; ours first or second. */
static struct rankmap *joined(const struct comm *c, int ours_first)
{
    const struct rankmap *a = ours_first ? c->map : c->remote, *b = ours_first ? c->remote : c->map;
    int n = a->size + b->size, *world = malloc((size_t)n * sizeof *world);
    for (int i = 0; world && i < n; i++)
        world[i] = i < a->size ? rankmap_world(a, i) : rankmap_world(b, i - a->size);
    struct rankmap *m = world ? rankmap_make(world, n) : NULL;
    free(world);
    return m;
}

int newcomm_merge(struct comm *c, int high, struct comm **out)
{
    const char *call = call_name();
    int64_t mine = high != 0, theirs = 0;
    uint64_t ctx;
    *out = NULL;
    int err = coll_swap_bytes(&mine, sizeof mine, &theirs, sizeof theirs, c);
    if (!err)
        err = coll_ctx_merge(c, &ctx);
    if (err)
        return done(call, err);
    /* Rank 0 decides for its group. Equal wishes: the group whose rank 0 has the lower world rank
     * is first. */
    err = coll_bcast_bytes(&mine, sizeof mine, 0, c->local);
    int first = mine != theirs ? !mine : rankmap_world(c->map, 0) < rankmap_world(c->remote, 0);
    struct rankmap *m = err ? NULL : joined(c, first);
    int rank = first ? c->rank : c->remote->size + c->rank;
    struct comm *n = m ? child(c, m, rank, NULL, ctx, ctx) : NULL;
    rankmap_drop(m);
    if (n)
        comm_set_errhandler(n, c->errhandler);
    *out = n;
    return done(call, n ? MPI_SUCCESS : err ? err : no_memory(call));
}

/* --- after failures --------------------------------------------------------------------------- */

int newcomm_living(struct comm *c, struct rankmap *map, int rank, struct rankmap *remote,
                   const uint64_t ctx[4], int side, struct comm **out)
{
    uint64_t within = ctx[2 + side];
    struct comm *n = child(c, map, rank, remote, ctx[side], ctx[remote ? !side : side]),
                *local = n && remote ? comm_make(map, rank, NULL, within, within) : NULL;
    if (!n || (remote && !local)) {
        discard(n);
        return no_memory(call_name());
    }
    if (local)
        comm_set_local(n, local);
    comm_set_errhandler(n, c->errhandler);
    *out = n;
    return MPI_SUCCESS;
}

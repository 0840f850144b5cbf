/* replicas.c - windows of which other members keep copies (the key mpix_win_replicas): how they
 * begin and end, and what is there of a failed member. Start with rma_replicas_allocate(), place()
 * and doc/design/replicas.md.
 *
 *   the program's window     part of 0   part of 1   part of 2 ...
 *   the window of copies     copies that 0 keeps   copies that 1 keeps ...
 *
 * The second one has the same members, and is under MPI_Win_lock_all(MPI_MODE_NOCHECK) from its
 * beginning to its end. The program does not see it. replica_calls.c puts to both. */
#include "rma/rma_types.h"

#include <stdlib.h>
#include <string.h>

#include "coll/coll.h"
#include "coll/survive.h"
#include "watch/watch.h"

enum { ALIGN = 64 }; /* bytes; of each copy */

/* The inline path does not know copies. */
static const struct watcher apart = {.ops_apart = 1};

/* --- the record ------------------------------------------------------------------------------- */

static void record_drop(struct rma_replicas *x)
{
    if (--x->users)
        return;
    rma_forward_end(x);
    rankmap_drop(x->map);
    free(x->part);
    free(x->place);
    free(x);
}

/* Drop the record of the older window, and its copies unless that window still has them. */
static void before_drop(struct rma_replicas *x)
{
    if (!x->before)
        return;
    if (x->before->copies)
        rma_win_unuse(x->before->copies);
    record_drop(x->before);
    x->before = NULL;
}

/* 0, or -ENOMEM: nothing is to be undone. */
static int count_one(void)
{
    int err = watch_add(&apart);
    rma_self()->replicated += !err;
    return err;
}

static void count_off(void)
{
    if (--rma_self()->replicated == 0)
        watch_drop(&apart);
}

void rma_replicas_drop(struct rma_win *w)
{
    struct rma_replicas *x = w->replicas;
    if (!x)
        return;
    w->replicas = NULL;
    rma_forward_end(x);
    count_off();
    before_drop(x);
    record_drop(x);
}

static struct rma_replicas *record_make(const struct rma_win *w)
{
    struct rma_replicas *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    x->users = 1;
    list_init(&x->puts);
    x->n = w->size;
    x->me = w->rank;
    x->k = (int)w->copies;
    x->map = rankmap_ref(w->map);
    x->part = calloc((size_t)x->n, sizeof *x->part);
    x->place = calloc((size_t)x->n * (size_t)x->k + 1, sizeof *x->place);
    if (x->part && x->place)
        return x;
    record_drop(x);
    return NULL;
}

/* --- places ----------------------------------------------------------------------------------- */

struct by_node { /* the members, sorted by node */
    int nodes;   /* that have members */
    int *rank;   /* [n] */
    int *first;  /* [nodes + 1], into rank */
    int *node, *index; /* [n], of each member: its node here; which one it is there */
    int largest; /* members of one node */
};

static int sort_by_node(const struct rma_replicas *x, struct by_node *b)
{
    int n = x->n, all = 0;
    for (int r = 0; r < n; r++)
        all = x->part[r].node >= all ? (int)x->part[r].node + 1 : all;
    *b = (struct by_node){.rank = malloc((size_t)n * sizeof(int)),
                          .first = malloc(((size_t)all + 1) * sizeof(int)),
                          .node = malloc((size_t)n * sizeof(int)),
                          .index = malloc((size_t)n * sizeof(int))};
    int *count = calloc((size_t)all, sizeof *count), *as = malloc((size_t)all * sizeof *as);
    int ok = b->rank && b->first && b->node && b->index && count && as;
    for (int r = 0; ok && r < n; r++) {
        int node = (int)x->part[r].node;
        b->node[r] = node;
        b->index[r] = count[node]++;
    }
    for (int i = 0, at = 0; ok && i < all; i++) {
        if (!count[i])
            continue;
        as[i] = b->nodes;
        b->first[b->nodes++] = at;
        at += count[i];
        b->first[b->nodes] = at;
        b->largest = count[i] > b->largest ? count[i] : b->largest;
    }
    for (int r = 0; ok && r < n; r++) {
        b->node[r] = as[b->node[r]];
        b->rank[b->first[b->node[r]] + b->index[r]] = r;
    }
    free(count);
    free(as);
    return ok;
}

static void by_node_free(struct by_node *b)
{
    free(b->rank);
    free(b->first);
    free(b->node);
    free(b->index);
}

static int members(const struct by_node *b, int node)
{
    return b->first[node + 1] - b->first[node];
}

static int member(const struct by_node *b, int node, int i)
{
    return b->rank[b->first[node] + i % members(b, node)];
}

/* The k members that keep r's part: one of each other node, beginning with the next one, with r's
 * place there; then more of them; those of r's own node last. */
static void place(const struct by_node *b, int r, int k, struct rma_place *p)
{
    int own = b->node[r], n = 0;
    for (int t = 0; b->nodes > 1 && t < b->largest && n < k; t++)
        for (int s = 1; s < b->nodes && n < k; s++) {
            int node = (own + s) % b->nodes;
            if (t < members(b, node))
                p[n++].rank = member(b, node, b->index[r] + t);
        }
    for (int t = 1; t < members(b, own) && n < k; t++)
        p[n++].rank = member(b, own, b->index[r] + t);
}

/* Copies lie in the order of their owners. *mine: bytes that this process keeps; -1: beyond all
 * memory. */
static int places(struct rma_replicas *x, int64_t *mine)
{
    struct by_node b;
    uint64_t *end = calloc((size_t)x->n, sizeof *end);
    int ok = sort_by_node(x, &b) && end;
    *mine = 0;
    for (int r = 0; ok && r < x->n; r++) {
        struct rma_place *p = &x->place[(size_t)r * (size_t)x->k];
        place(&b, r, x->k, p);
        for (int j = 0; j < x->k; j++) {
            uint64_t room = ((uint64_t)x->part[r].bytes + ALIGN - 1) / ALIGN * ALIGN;
            p[j].at = end[p[j].rank];
            if (*mine >= 0 && (end[p[j].rank] += room) > INT64_MAX / 2)
                *mine = -1;
        }
    }
    if (ok && *mine >= 0)
        *mine = (int64_t)end[x->me];
    by_node_free(&b);
    free(end);
    return ok;
}

/* --- begin ------------------------------------------------------------------------------------ */

static int no_memory(void)
{
    return err_make(MPI_ERR_NO_MEM, "%s: no memory for copies of a window", rma_call());
}

/* All members return the same, but for deaths: what one alone may fail in comes before they
 * agree. */
static int made(struct rma_win *w, struct rma_replicas *x)
{
    int64_t mine = 0;
    /* A job has no more nodes than processes, so boot_first() plus the node's number is unique
     * among jobs. */
    struct rma_owned part = {w->bytes, w->disp_unit, boot_first() + boot_node_of(boot_rank())};
    int err = coll_agree_error(x ? MPI_SUCCESS : no_memory(), w->comm);
    if (!err)
        err = coll_allgather_bytes(&part, x->part, sizeof part, w->comm);
    if (!err && (!places(x, &mine) || rma_forward_begin(x, w)))
        err = no_memory();
    if (!err && mine < 0)
        err = err_make(MPI_ERR_SIZE, "%s: the copies of a window exceed all memory", rma_call());
    if (!err && (w->coherent || w->buffers))
        err = err_make(MPI_ERR_UNSUPPORTED_OPERATION,
                       "%s: mpix_win_replicas and memory of devices exclude each other",
                       rma_call());
    int counted = !err && !count_one();
    if (!err && !counted)
        err = no_memory();
    err = coll_agree_error(err, w->comm);
    if (!err && x->k)
        err = rma_win_allocate(mine, 1, NULL, w->comm, &x->base, &x->copies);
    if (err && counted)
        count_off();
    if (err || !x->k)
        return err;
    rma_win_own(x->copies);
    rma_lockall_unchecked(x->copies);
    return MPI_SUCCESS;
}

/* Of a window that all members have. With an error w has none. */
static int make(struct rma_win *w, struct rma_replicas *before)
{
    struct rma_replicas *x = record_make(w);
    int err = made(w, x);
    if (err) {
        if (x)
            record_drop(x);
        return err;
    }
    w->replicas = x;
    rma_win_slow(w);
    if (!before)
        return MPI_SUCCESS;
    x->before = before;
    before->users++;
    if (before->copies)
        before->copies->users++;
    return MPI_SUCCESS;
}

/* A window that is whole at all members goes again. After a death or a revocation some may have its
 * copies: as where rma_win_ready() has an error, they find it out. */
static int undo(struct rma_win *w, int err)
{
    struct rma_win *copies = w->replicas ? w->replicas->copies : NULL;
    int class = err_class(err);
    if (class != MPIX_ERR_PROC_FAILED && class != MPIX_ERR_REVOKED) {
        (void)rma_replicas_free(w);
        return err;
    }
    w->dead = 1;
    if (class == MPIX_ERR_REVOKED)
        coll_revoke(w->comm);
    if (class == MPIX_ERR_REVOKED && copies)
        coll_revoke(copies->comm);
    rma_replicas_drop(w);
    if (copies)
        rma_win_drop(copies);
    rma_win_drop(w);
    return err;
}

int rma_replicas_allocate(MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *c,
                          void *base_out, struct rma_win **out)
{
    int err = rma_win_allocate(size, disp_unit, info, c, base_out, out);
    if (err || !(*out)->copies)
        return err;
    err = make(*out, NULL);
    if (!err) /* a keeper has its copies before the first accumulate is forwarded to them */
        err = rma_mirror_agree(*out);
    return err ? undo(*out, err) : MPI_SUCCESS;
}

int rma_win_has_copies(const struct rma_win *w)
{
    return w->replicas != NULL;
}

/* --- end -------------------------------------------------------------------------------------- */

int rma_replicas_free(struct rma_win *w)
{
    struct rma_replicas *x = w->replicas;
    if (!x)
        return rma_win_free(w);
    (void)rma_replicas_flush(x); /* its error was that of an earlier call */
    struct comm *c = comm_ref(w->comm);
    int err = rma_win_free(w), revoked = c->revoked;
    comm_drop(c);
    if (err)
        return err;
    rma_forward_end(x);
    count_off();
    if (x->copies) {
        if (revoked) /* not all members need have copies: undo() */
            rma_win_revoke(x->copies);
        else
            (void)rma_unlock_all(x->copies);
        (void)rma_win_free(x->copies);
    }
    before_drop(x);
    record_drop(x);
    return MPI_SUCCESS;
}

/* --- after a failure -------------------------------------------------------------------------- */

/* Each member's part to its copies. By messages, which end with a death: a member that has given up
 * has no copies, and would not answer a put. */
static int copy_all(struct rma_win *w)
{
    struct rma_replicas *x = w->replicas;
    size_t parts = (size_t)x->n * (size_t)x->k;
    int in = 0, out = 0;
    struct coll_piece *piece = calloc(parts + (size_t)x->k + 1, sizeof *piece), *sent;
    int err = coll_agree_error(piece ? MPI_SUCCESS : no_memory(), w->comm);
    for (size_t i = 0; !err && i < parts; i++) {
        int owner = (int)(i / (size_t)x->k);
        size_t bytes = (size_t)x->part[owner].bytes;
        if (x->place[i].rank == x->me && bytes)
            piece[in++] = (struct coll_piece){owner, x->base + x->place[i].at, bytes};
    }
    sent = piece + in;
    for (int j = 0; !err && w->bytes && j < x->k; j++)
        sent[out++] = (struct coll_piece){x->place[(size_t)x->me * (size_t)x->k + (size_t)j].rank,
                                          w->base, (size_t)w->bytes};
    struct request *r;
    if (!err)
        err = coll_iexchange(w->comm, piece, in, sent, out, &r);
    if (!err) {
        request_wait_inner(r);
        err = request_finish(r, MPI_STATUS_IGNORE);
    }
    free(piece);
    return err;
}

/* All living members do this before they agree on the new window. So what they have flushed to the
 * copies is there, and nothing lands in them any more. */
int rma_replicas_shrink(struct rma_win *w, struct rma_win **out)
{
    struct rma_replicas *x = w->replicas;
    if (!x)
        return rma_win_shrink(w, out);
    (void)rma_replicas_flush(x);
    int err = rma_win_shrink(w, out);
    if (err)
        return err;
    rma_forward_close(x); /* all that live are here: what comes now is of one that failed */
    err = make(*out, x);
    if (!err)
        err = rma_mirror_agree(*out);
    if (!err)
        err = coll_agree_error(copy_all(*out), (*out)->comm);
    if (!err)
        return MPI_SUCCESS;
    (void)undo(*out, err);
    *out = NULL;
    return err;
}

int rma_replicas_recover(struct rma_win *w, int failed, void *base_out)
{
    const struct rma_replicas *b = w->replicas ? w->replicas->before : NULL;
    if (!b)
        return err_make(MPI_ERR_UNSUPPORTED_OPERATION,
                        "%s: %s was not made by MPIX_Win_shrink of a window with "
                        "mpix_win_replicas", rma_call(), rma_win_text(w));
    if (failed < 0 || failed >= b->n)
        return err_make(MPI_ERR_RANK, "%s: rank %d was not in the older window (0 to %d)",
                        rma_call(), failed, b->n - 1);
    if (rankmap_find(w->map, rankmap_world(b->map, failed)) >= 0)
        return err_make(MPI_ERR_RANK, "%s: rank %d of the older window lives", rma_call(), failed);
    for (int j = 0; j < b->k; j++) {
        const struct rma_place *p = &b->place[(size_t)failed * (size_t)b->k + (size_t)j];
        if (rankmap_find(w->map, rankmap_world(b->map, p->rank)) < 0)
            continue;
        int here = p->rank == b->me && b->part[failed].bytes;
        *(void **)base_out = here ? b->base + p->at : NULL;
        return MPI_SUCCESS;
    }
    return err_make(MPIX_ERR_PROC_FAILED, "%s: all that kept the part of rank %d have failed, too",
                    rma_call(), failed);
}

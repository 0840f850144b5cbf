/* pairs.c - collective calls where each process names an amount for each other one: does each pair
 * name the same? Start with pairs_begins().
 *
 *   MPI_Gatherv, Scatterv, Alltoallv, Alltoallw, and their nonblocking and persistent forms:
 *
 *     sender                                        receiver
 *     NOTE(communicator, call, amount) ----------->  compared with what it names for the sender,
 *                                                    whichever of the two is there later
 *
 * Neighbourhoods: the same for each edge. Of several edges between two processes the first that is
 * sent along is the first that is taken from (MPI-4.1 8.6), so edges are numbered in these orders.
 *
 * MPI_Allgatherv: each process names the amounts of all. So a note to the next rank is enough: with
 * the sender's own amount, and a hash of those of all. Between groups there are two notes: the
 * amount goes to one process of the other group, the hash to the next one of the own group.
 *
 * Exactness: calls on a communicator have one order in all processes, and a note has its number
 * there, its name and the id of the communicator, which does not come again. Calls whose order
 * differs are no pair, and align/ names them. A half whose other half does not come stays until
 * there are HALVES, when all are forgotten. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "am/am.h"
#include "base/hash.h"
#include "boot/boot.h"
#include "coll/coll.h"
#include "obj/comm.h"
#include "obj/neighbors.h"
#include "signature/signature_types.h"

enum { HALVES = 1 << 16, FORM = 256 };

struct half { /* also the message */
    uint64_t ctx;   /* of the communicator, as the receiver has it */
    struct amount amount;
    uint64_t all;   /* MPI_Allgatherv: hash of all amounts; 0: not known */
    uint32_t n;     /* calls on ctx before it */
    uint32_t what;  /* call, and FORM times enum watch_form */
    uint32_t is_sent; /* the sender's half */
    int32_t src;    /* where it is kept: of the sender, in MPI_COMM_WORLD */
    uint32_t edge;  /* of a neighbourhood: how many others with the same processes come before */
    uint32_t unused;
};

static int is_neighborhood(int call)
{
    return call >= COLL_NEIGHBOR_ALLGATHER && call <= COLL_NEIGHBOR_ALLTOALLW;
}

static int is_compared(const struct watch_turn *t)
{
    const uint32_t vectors = 1u << COLL_GATHERV | 1u << COLL_SCATTERV | 1u << COLL_ALLGATHERV |
                             1u << COLL_ALLTOALLV | 1u << COLL_ALLTOALLW;
    return t->args && (vectors >> t->call & 1 || is_neighborhood(t->call));
}

/* --- the two halves --------------------------------------------------------------------------- */

static void forget_halves(struct map *pairs)
{
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(pairs, &at)) != NULL;)
        free(e->value);
    map_destroy(pairs);
    map_init(pairs);
}

static int differ(const struct amount *a, const struct amount *b)
{
    return a->hash != b->hash || a->bytes != b->bytes;
}

static void name_of(uint32_t what, char *buf, size_t len)
{
    static const char *const names[] = {
        [COLL_GATHERV] = "gatherv", [COLL_SCATTERV] = "scatterv", [COLL_ALLGATHERV] = "allgatherv",
        [COLL_ALLTOALLV] = "alltoallv", [COLL_ALLTOALLW] = "alltoallw",
        [COLL_NEIGHBOR_ALLGATHER] = "neighbor_allgather",
        [COLL_NEIGHBOR_ALLGATHERV] = "neighbor_allgatherv",
        [COLL_NEIGHBOR_ALLTOALL] = "neighbor_alltoall",
        [COLL_NEIGHBOR_ALLTOALLV] = "neighbor_alltoallv",
        [COLL_NEIGHBOR_ALLTOALLW] = "neighbor_alltoallw",
    };
    const char *name = names[what % FORM];
    int form = (int)(what / FORM);
    snprintf(buf, len, "MPI_%s%c%s%s", form == WATCH_NONBLOCKING ? "I" : "",
             form == WATCH_NONBLOCKING ? *name : *name - 'a' + 'A', name + 1,
             form == WATCH_PERSISTENT ? "_init" : "");
}

static void amount_text(const char *does, const struct amount *a, const char *from, char *buf,
                        size_t len)
{
    snprintf(buf, len, "%s %llu bytes of %s%s", does, (unsigned long long)a->bytes,
             signature_type_text(a->type), from);
}

/* by_counts: they agree on this pair, and not on all others. */
static void report(int src, const struct half *sent, const struct half *took, int by_counts)
{
    char name[40], head[96];
    struct signature_side side[2] = {{src, "", &sent->amount}, {boot_rank(), "", &took->amount}};
    name_of(took->what, name, sizeof name);
    snprintf(head, sizeof head, "%s of %s differ", by_counts ? "receive counts" : "amounts", name);
    if (by_counts) {
        snprintf(side[0].does, sizeof side[0].does, "calls it");
        snprintf(side[1].does, sizeof side[1].does, "calls it with others");
    } else {
        amount_text("sends", &sent->amount, "", side[0].does, sizeof side[0].does);
        amount_text("receives", &took->amount, " from it", side[1].does, sizeof side[1].does);
    }
    signature_report(head, head, side);
}

static void compare(int src, const struct half *sent, const struct half *took)
{
    if (sent->amount.type == ANY_TYPE || took->amount.type == ANY_TYPE)
        return;
    if (differ(&sent->amount, &took->amount))
        report(src, sent, took, 0);
    else if (sent->all && took->all && sent->all != took->all)
        report(src, sent, took, 1);
}

/* Keys are hashes. */
static int are_of_one(const struct half *kept, const struct half *h, int src)
{
    return kept->src == src && kept->ctx == h->ctx && kept->n == h->n && kept->what == h->what &&
           kept->edge == h->edge;
}

/* One half of a pair whose sender is src. */
static void meet(int src, const struct half *h)
{
    struct map *pairs = &proc->signature->pairs;
    uint64_t key = hash_mix(hash_mix(hash_mix(hash_mix(1, (uint64_t)src), h->ctx), h->n),
                            (uint64_t)h->edge << 32 | h->what) | 1;
    struct half *other = map_get(pairs, key);
    if (other && other->is_sent != h->is_sent && are_of_one(other, h, src)) {
        map_del(pairs, key);
        compare(src, h->is_sent ? h : other, h->is_sent ? other : h);
        free(other);
        return;
    }
    if (pairs->count >= HALVES)
        forget_halves(pairs);
    other = malloc(sizeof *other);
    if (!other)
        return;
    *other = *h;
    other->src = src;
    free(map_del(pairs, key));
    if (map_put(pairs, key, other))
        free(other);
}

int pairs_note(int src, const void *msg, size_t len)
{
    struct half h;
    if (len != sizeof h)
        return 0;
    memcpy(&h, msg, sizeof h);
    h.is_sent = 1;
    meet(src, &h);
    return 1;
}

/* --- a call ----------------------------------------------------------------------------------- */

struct call {
    const struct coll_args *a;
    const void *site;
    struct half half; /* what all halves of this process have */
};

/* Without room for it, its receiver's half waits in vain. */
static void pass_on(int world, struct half *h)
{
    struct iovec v = {h, sizeof *h};
    h->is_sent = 1;
    if (world == boot_rank())
        meet(world, h);
    else if (boot_is_own(world))
        (void)am_request(world, AM_SIGNATURE, &v, 1, 0);
}

static void sends(struct call *x, int to, const struct dt_type *t, MPI_Aint count)
{
    const struct comm *c = x->a->comm;
    struct half h = x->half;
    h.ctx = (uint64_t)(c->src & ~comm_rank_mask()) << 32 | c->ctx_send;
    if (signature_amount(t, count, x->site, &h.amount))
        pass_on(comm_peer_world(c, to), &h);
}

static void takes(struct call *x, int from, const struct dt_type *t, MPI_Aint count)
{
    struct half h = x->half;
    int world = comm_peer_world(x->a->comm, from);
    h.ctx = comm_ctx(x->a->comm);
    if (boot_is_own(world) && signature_amount(t, count, x->site, &h.amount))
        meet(world, &h);
}

/* The type of part i; one without data may be no type. */
static const struct dt_type *type_at(const MPI_Datatype *types, const struct dt_type *t, int i,
                                     MPI_Aint count)
{
    return !types ? t : count ? dt_find(types[i]) : NULL;
}

/* At the root of gatherv and scatterv: a part for each; its own where it is not in place. */
static void with_all(struct call *x, int is_gather)
{
    const struct coll_args *a = x->a;
    const struct comm *c = a->comm;
    int own = c->remote ? -1 : c->rank, n = comm_peer_size(c);
    int in_place = is_gather ? a->sbuf == MPI_IN_PLACE : a->rbuf == MPI_IN_PLACE;
    for (int i = 0; i < n; i++)
        if (i == own && in_place)
            continue;
        else if (is_gather)
            takes(x, i, a->rtype, coll_at(a->rcounts, i));
        else
            sends(x, i, a->stype, coll_at(a->scounts, i));
    if (own < 0 || in_place)
        return;
    if (is_gather)
        sends(x, own, a->stype, a->scount);
    else
        takes(x, own, a->rtype, a->rcount);
}

static void rooted(struct call *x, int is_gather)
{
    const struct coll_args *a = x->a;
    const struct comm *c = a->comm;
    if (a->root == (c->remote ? MPI_ROOT : c->rank))
        with_all(x, is_gather);
    else if (a->root >= 0 && is_gather)
        sends(x, a->root, a->stype, a->scount);
    else if (a->root >= 0)
        takes(x, a->root, a->rtype, a->rcount);
}

static void all_to_all(struct call *x)
{
    const struct coll_args *a = x->a;
    int in_place = a->sbuf == MPI_IN_PLACE, n = comm_peer_size(a->comm);
    struct coll_vec counts = in_place ? a->rcounts : a->scounts;
    const MPI_Datatype *types = in_place ? a->rtypes : a->stypes;
    const struct dt_type *type = in_place ? a->rtype : a->stype;
    int is_w = a->call == COLL_ALLTOALLW;
    for (int i = 0; i < n; i++) {
        MPI_Aint out = coll_at(counts, i), in = coll_at(a->rcounts, i);
        sends(x, i, type_at(is_w ? types : NULL, type, i, out), out);
        takes(x, i, type_at(is_w ? a->rtypes : NULL, a->rtype, i, in), in);
    }
}

/* Of all that the call takes; 0: it fits any. */
static uint64_t hash_of_all(const struct coll_args *a)
{
    struct amount part;
    uint64_t all = 1;
    for (int i = 0; i < comm_peer_size(a->comm); i++)
        if (signature_amount(a->rtype, coll_at(a->rcounts, i), NULL, &part))
            all = hash_mix(hash_mix(all, part.hash), part.bytes);
    return dt_sig_packed(a->rtype) ? 0 : all;
}

static void all_gather_between(struct call *x)
{
    const struct coll_args *a = x->a;
    const struct comm *c = a->comm;
    struct half h = x->half;
    sends(x, c->rank % c->remote->size, a->stype, a->scount);
    for (int i = c->rank; i < c->remote->size; i += c->size) /* those whose rank leads here */
        takes(x, i, a->rtype, coll_at(a->rcounts, i));
    h.ctx = comm_ctx(c); /* all of the own group have it */
    h.all = hash_of_all(a);
    h.is_sent = 0;
    if (!signature_amount(NULL, 0, x->site, &h.amount))
        return;
    meet(comm_world(c, (c->rank + c->size - 1) % c->size), &h);
    pass_on(comm_world(c, (c->rank + 1) % c->size), &h);
}

static void all_gather(struct call *x)
{
    const struct coll_args *a = x->a;
    const struct comm *c = a->comm;
    int in_place = a->sbuf == MPI_IN_PLACE, before = (c->rank + c->size - 1) % c->size;
    x->half.all = hash_of_all(a);
    sends(x, (c->rank + 1) % c->size, in_place ? a->rtype : a->stype,
          in_place ? coll_at(a->rcounts, c->rank) : a->scount);
    takes(x, before, a->rtype, coll_at(a->rcounts, before));
}

/* The edges before number i that lead to the same process. */
static uint32_t edges_before(const int *peer, int i, const struct comm_topo *as_taken)
{
    uint32_t n = 0;
    int last = as_taken ? topo_taken(as_taken, i) : i;
    for (int j = 0; j < i; j++)
        n += peer[as_taken ? topo_taken(as_taken, j) : j] == peer[last];
    return n;
}

static void neighborhood(struct call *x)
{
    const struct coll_args *a = x->a;
    int is_w = a->call == COLL_NEIGHBOR_ALLTOALLW, *src, *dst, sources, destinations;
    int is_v = is_w || a->call == COLL_NEIGHBOR_ALLTOALLV;
    if (topo_neighbors(a->comm, &sources, &src, &destinations, &dst, "the check of amounts"))
        return;
    for (int i = 0; i < destinations; i++) {
        MPI_Aint n = is_v ? coll_at(a->scounts, i) : a->scount;
        x->half.edge = edges_before(dst, i, NULL);
        if (dst[i] != MPI_PROC_NULL)
            sends(x, dst[i], type_at(is_w ? a->stypes : NULL, a->stype, i, n), n);
    }
    is_v |= a->call == COLL_NEIGHBOR_ALLGATHERV;
    for (int i = 0; i < sources; i++) {
        int k = topo_taken(a->comm->topo, i);
        MPI_Aint n = is_v ? coll_at(a->rcounts, k) : a->rcount;
        x->half.edge = edges_before(src, i, a->comm->topo);
        if (src[k] != MPI_PROC_NULL)
            takes(x, src[k], type_at(is_w ? a->rtypes : NULL, a->rtype, k, n), n);
    }
    free(src);
}

/* The number of the call under way among those on c, from 1. */
static uint32_t number(const struct comm *c)
{
    return (uint32_t)(uintptr_t)map_get(&proc->signature->calls, comm_ctx(c) + 1) + 1;
}

int pairs_begins(struct watch_turn *t)
{
    if (!is_compared(t) || signature_is_quiet())
        return 0;
    struct call x = {.a = t->args, .site = t->site,
                     .half = {.n = number(t->comm),
                              .what = (uint32_t)t->call + FORM * (uint32_t)t->form}};
    if (t->call == COLL_GATHERV || t->call == COLL_SCATTERV)
        rooted(&x, t->call == COLL_GATHERV);
    else if (is_neighborhood(t->call))
        neighborhood(&x);
    else if (t->call != COLL_ALLGATHERV)
        all_to_all(&x);
    else if (t->comm->remote)
        all_gather_between(&x);
    else
        all_gather(&x);
    return 0;
}

/* A call that another watcher has refused counts, too: others may have begun it. */
int pairs_ended(struct watch_turn *t, int err)
{
    if (is_compared(t))
        (void)map_put(&proc->signature->calls, comm_ctx(t->comm) + 1,
                      (void *)(uintptr_t)number(t->comm));
    return err;
}

/* Its notes go before its data, which may end the job. */
int pairs_may_follow(const struct watch_turn *t)
{
    return !is_compared(t);
}

/* --- life ------------------------------------------------------------------------------------- */

void pairs_comm_freed(struct comm *c)
{
    map_del(&proc->signature->calls, comm_ctx(c) + 1);
}

void pairs_init(struct signature *s)
{
    map_init(&s->calls);
    map_init(&s->pairs);
}

void pairs_destroy(struct signature *s)
{
    forget_halves(&s->pairs);
    map_destroy(&s->calls);
}

/* digest.c - the digest of a collective call: what all processes must give alike, and what not.
 * Start with digest_coll() and entries_alike(). */
#include <errno.h>
#include <stdlib.h>

#include "align/align_types.h"
#include "align/repeat.h"
#include "dt/dt.h"
#include "dt/make.h"
#include "var/var.h"

static int rooted(enum coll_call call)
{
    const unsigned with = 1u << COLL_BCAST | 1u << COLL_REDUCE | 1u << COLL_GATHER |
                          1u << COLL_GATHERV | 1u << COLL_SCATTER | 1u << COLL_SCATTERV;
    return with >> call & 1;
}

static uint32_t op_field(const struct dt_op *op)
{
    if (!op)
        return 0;
    return op->index ? (uint32_t)op->index : OP_USER + (uint32_t)(op->commute != 0);
}

/* One process's part: (type, count) that has the same signature at all of them; NULL: none has. */
static const struct dt_type *part(const struct coll_args *a, MPI_Aint *n)
{
    int root = a->comm->rank == a->root, sends = 0;
    switch (a->call) {
    case COLL_BCAST:
    case COLL_REDUCE:
    case COLL_ALLREDUCE:
    case COLL_SCAN:
    case COLL_EXSCAN:
    case COLL_REDUCE_SCATTER_BLOCK:
    case COLL_ALLGATHER:
    case COLL_ALLTOALL:
        break;
    case COLL_GATHER:
        sends = !root;
        break;
    case COLL_SCATTER:
        sends = root;
        break;
    default: /* amounts match pairwise, or not at all */
        return NULL;
    }
    *n = sends ? a->scount : a->rcount;
    return sends ? a->stype : a->rtype;
}

static int is_packed(const struct dt_type *t)
{
    return t->basic ? t->basic->obj.handle == MPI_PACKED : t->obj.handle == MPI_PACKED;
}

/* The type of its elements, as an entry has it. */
static uint32_t type_field(const struct dt_type *t)
{
    return t && t->basic ? (uint32_t)dt_predefined_index(t->basic) + 1 : 0;
}

/* How many of the counts are 0. */
static int zeroes(struct coll_vec counts, int n)
{
    int some = 0;
    for (int i = 0; i < n; i++)
        some += coll_at(counts, i) == 0;
    return some;
}

/* Allgatherv: some block has data, so all processes name its elements, if not their number. */
static __attribute__((noinline)) void gathered(const struct coll_args *a, struct align_call *out)
{
    const struct dt_type *t = a->rtype;
    if (!t || !t->size || zeroes(a->rcounts, a->comm->size) == a->comm->size)
        return;
    out->soft = is_packed(t);
    out->type = type_field(t);
    out->signature = out->soft ? 0 : t->basic ? dt_sig_hash(t->basic, 1) : 1;
}

/* Reduce_scatter: all processes name the elements, and the counts of all. To read these takes as
 * long as there are processes, so level 3 does it. They stand in place of the bytes, unseen. */
static __attribute__((noinline)) void scattered(const struct coll_args *a, struct align_call *out)
{
    out->signature = dt_sig_hash(a->rtype, 1);
    out->type = type_field(a->rtype);
    if (out->between || cvar.coll_check < CHECK_STRICT)
        return;
    uint64_t all = 0;
    for (int i = 0; i < a->comm->size; i++)
        all = hash_mix(all, (uint64_t)coll_at(a->rcounts, i));
    out->amount = all % BYTES_NONE;
}

/* Does this process receive something of each, and send something to each? */
static int with_each(const struct coll_args *a)
{
    int n = a->comm->size;
    return !zeroes(a->rcounts, n) && (a->sbuf == MPI_IN_PLACE || !zeroes(a->scounts, n));
}

/* Alltoallv: a process that receives something of each names the elements of all.  Others may not
 * know, so it is no part of the history. */
void history_elements(struct align_history *h, const struct coll_args *a)
{
    const struct dt_type *t = a->rtype;
    if (a->comm->remote || !h->room || !t || !t->size)
        return;
    if (!t->basic || is_packed(t) || !with_each(a))
        return;
    struct align_entry *e = &h->ring[(h->calls - 1) & (h->room - 1)];
    e->bytes_type =
        ((dt_sig_hash(t->basic, 1) | 1) & BYTES_NONE) | (uint64_t)type_field(t) << TYPE_BIT;
}

void digest_coll(const struct coll_args *a, enum watch_form form, struct align_call *out)
{
    uint32_t root = rooted(a->call) ? (uint32_t)(a->root + 3) & (ROOT_NONE - 1) : ROOT_NONE;
    *out = (struct align_call){.what = (uint32_t)a->call | (uint32_t)form << WHAT_FORM |
                                       op_field(a->op) << WHAT_OP | root << WHAT_ROOT,
                               .between = a->comm->remote != NULL, .amount = AMOUNT_NONE};
    MPI_Aint n = 0;
    const struct dt_type *t = part(a, &n);
    if (a->call == COLL_REDUCE_SCATTER && a->rtype)
        scattered(a, out);
    if (!t || out->between) {
        if (a->call == COLL_ALLGATHERV && !out->between)
            gathered(a, out);
        return;
    }
    out->amount = (uint64_t)n * (uint64_t)t->size;
    out->soft = is_packed(t);
    out->type = type_field(t);
    out->signature = out->soft ? 0 : dt_sig_hash(t, (size_t)n);
}

/* --- history -------------------------------------------------------------------------------- */

static int grow(struct align_history *h, uint32_t max)
{
    uint32_t room = h->room ? 2 * h->room : 8;
    struct align_entry *ring = room > max ? NULL : malloc(room * sizeof *ring);
    if (!ring)
        return h->room ? 0 : -ENOMEM;
    history_copy(h, ring, h->room); /* it is full, and call 1 the oldest */
    free(h->ring);
    h->ring = ring;
    h->room = room;
    return 0;
}

/* As history_put() wants it. */
static struct align_repeat prepared(const struct align_call *c, const void *site)
{
    uint32_t what = c->what;
    /* Each group names the root in its own way, and idle members of the root's group give no
     * operation. */
    if (c->between)
        what &= (1u << (what >> WHAT_ROOT == ROOT_NONE ? WHAT_ROOT : WHAT_OP)) - 1;
    uint64_t key = (uint64_t)what << 32 ^ hash_mix(0, c->amount);
    return (struct align_repeat){.site = (uint64_t)(uintptr_t)site, .key = key,
                                 .typed = hash_mix(key, c->signature),
                                 .bytes = bytes_of(c->amount) |
                                          (uint64_t)c->type << TYPE_BIT,
                                 .what = c->what, .soft = c->soft != 0,
                                 .blocking = (c->what >> WHAT_FORM & 3) == WATCH_BLOCKING};
}

int history_add(struct align_history *h, const struct align_call *c, const void *site,
                uint32_t room_max)
{
    /* room: a power of two. It doubles while no entry has been overwritten, so call k moves to
     * (k - 1) % room. */
    if (h->calls == h->room && grow(h, room_max < 8 ? 8 : room_max))
        return -ENOMEM;
    struct align_repeat r = prepared(c, site);
    history_put(h, &r, c->pos);
    return 0;
}

/* Its data are (rtype, rcount), or it has none, and nothing more is compared. */
static int is_plain(enum coll_call call)
{
    const unsigned plain = 1u << COLL_BARRIER | 1u << COLL_BCAST | 1u << COLL_REDUCE |
                           1u << COLL_ALLREDUCE | 1u << COLL_SCAN | 1u << COLL_EXSCAN |
                           1u << COLL_REDUCE_SCATTER_BLOCK | 1u << COLL_ALLGATHER |
                           1u << COLL_ALLTOALL;
    return plain >> call & 1;
}

void history_keep(struct align_history *h, const struct coll_args *a, enum watch_form form,
                  const struct align_call *c, const void *site)
{
    int lasts = (!a->rtype || a->rtype->flags & DT_PREDEFINED) && (!a->op || a->op->index);
    if (!site || !is_plain(a->call) || !lasts)
        return;
    struct align_repeat *r = history_repeat_at(h, (uint64_t)(uintptr_t)site);
    *r = prepared(c, site);
    r->call = (uint32_t)a->call | (uint32_t)form << 8;
    r->root = a->root;
    r->op = a->op;
    r->type = a->rtype;
    r->count = a->rcount;
}

uint32_t history_copy(const struct align_history *h, struct align_entry *e, uint32_t n)
{
    uint32_t have = h->calls < h->room ? h->calls : h->room;
    n = n < have ? n : have;
    for (uint32_t i = 0; i < n; i++)
        e[i] = h->ring[(h->calls - n + i) % h->room];
    return n;
}

/* --- comparison ----------------------------------------------------------------------------- */

const struct align_entry *view_at(const struct align_view *v, uint32_t k)
{
    return k >= v->first && k <= v->calls ? &v->e[k - v->first] : NULL;
}

/* Of Alltoallv: what stands in place of an amount. */
static uint64_t elements_of(const struct align_entry *e)
{
    return (e->what & ((1u << WHAT_FORM) - 1)) == COLL_ALLTOALLV && entry_bytes(e) != BYTES_NONE
               ? entry_bytes(e)
               : 0;
}

int entries_alike(const struct align_view *a, const struct align_view *b, uint32_t k)
{
    const struct align_entry *x = view_at(a, k), *y = view_at(b, k);
    if (x->hist != y->hist || !(a->soft || b->soft || x->types == y->types))
        return 0;
    if (a->order && b->order && x->pos != y->pos)
        return 0;
    uint64_t of = elements_of(x), other = elements_of(y);
    return !of || !other || of == other || a->soft || b->soft;
}

uint32_t views_differ(const struct align_view *a, const struct align_view *b)
{
    uint32_t from = a->first > b->first ? a->first : b->first;
    uint32_t to = a->calls < b->calls ? a->calls : b->calls;
    for (uint32_t k = from; k <= to; k++)
        if (!entries_alike(a, b, k))
            return k;
    if ((a->final && a->calls < b->calls) || (b->final && b->calls < a->calls))
        return to + 1;
    return 0;
}

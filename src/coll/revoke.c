/* revoke.c - coll_revoke(): the notice that a communicator is revoked, and what it ends.
 *
 * Each member that gets to know sends the notice once to those 1, 2, 4 ... places after it, and,
 * when the next one is gone (survive_gone) or has not the communicator, to the one after that,
 * until one lives and has it. The last is what all rely on: of the members that live, each has told
 * the next. Start with coll_revoke(). */
#include <stdlib.h>
#include <string.h>

#include "am/am.h"
#include "base/log.h"
#include "boot/boot.h"
#include "coll/agree.h"
#include "coll/coll_types.h"
#include "coll/survive.h"

/* Notices of communicators that this process does not have: it has not made them yet, or has freed
 * them. The oldest are forgotten. */
enum { UNMADE_MAX = 4096 };

/* It stays when the communicator is freed: a member that it has told may fail. */
struct revocation {
    uint64_t ctx, other;      /* as in struct revoke_msg */
    struct rankmap *group[2]; /* as in struct agree; [0] NULL: the communicator is not known */
    int me, n;
    int next;                 /* the one so many places after this member was told as the next */
    struct list unmade;       /* in survive->unmade while it is not known */
};

static int world_of(const struct revocation *r, int m)
{
    int first = r->group[0]->size;
    return m < first ? rankmap_world(r->group[0], m) : rankmap_world(r->group[1], m - first);
}

/* The member `after` places after this one, its rank in the job. */
static int after(const struct revocation *r, int places)
{
    return world_of(r, (int)(((int64_t)r->me + places) % r->n));
}

static void tell(const struct revocation *r, int world, enum revoke_what what)
{
    struct revoke_msg m = {.ctx = r->ctx, .other = r->other, .what = what};
    outbox_send(survive_room(), world, AM_COLL + COLL_PKT_REVOKE, &m, sizeof m);
}

/* --- passing it on ------------------------------------------------------------------------ */

static void skip_gone(struct revocation *r)
{
    while (r->next < r->n && survive_gone(after(r, r->next)))
        r->next++;
}

static void tell_next(struct revocation *r)
{
    skip_gone(r);
    if (r->next < r->n)
        tell(r, after(r, r->next), REVOKE_NOTICE);
}

static void pass_on(struct revocation *r)
{
    r->next = 1;
    skip_gone(r);
    for (int64_t far = 1; far < r->n; far *= 2)
        if (!survive_gone(after(r, (int)far)))
            tell(r, after(r, (int)far), REVOKE_NOTICE);
    if (r->next < r->n && (r->next & (r->next - 1)))
        tell_next(r);
}

void revoke_failed(struct survive *s)
{
    size_t cursor = 0;
    for (const struct map_entry *e; (e = map_next(&s->revocations, &cursor)) != NULL;) {
        struct revocation *r = e->value;
        if (r->group[0] && r->next < r->n && survive_gone(after(r, r->next)))
            tell_next(r);
    }
}

/* --- what it ends -------------------------------------------------------------------------- */

/* Collectives see comm_misaligned(). */
static void end_all(struct comm *c)
{
    comm_set_revoked(c);
    if (c->ctx_recv != CTX_NONE)
        p2p_revoke(c);
    if (c->local && c->local->ctx_recv != CTX_NONE)
        p2p_revoke(c->local);
}

static uint64_t sends_with(const struct comm *c)
{
    return (uint64_t)(c->src & ~comm_rank_mask()) << 32 | c->ctx_send;
}

static struct revocation *record(uint64_t ctx)
{
    struct survive *s = survive_room();
    struct revocation *r = map_get(&s->revocations, ctx);
    if (r)
        return r;
    r = calloc(1, sizeof *r);
    if (!r || map_put(&s->revocations, ctx, r)) /* others rely on it */
        log_fatal("no memory to revoke a communicator");
    r->ctx = ctx;
    list_init(&r->unmade);
    return r;
}

static void forget_oldest(struct survive *s)
{
    struct revocation *r = LIST_OBJ(list_pop(&s->unmade), struct revocation, unmade);
    map_del(&s->revocations, r->ctx);
    free(r);
    s->nunmade--;
}

static void made(struct comm *c);

/* The communicator of r is c. */
static void begin(struct revocation *r, struct comm *c)
{
    struct survive *s = survive_room();
    int side, first;
    (void)agree_key(c, &side);
    uint64_t send = sends_with(c), recv = comm_ctx(c);
    r->other = send > recv ? send : recv;
    s->nunmade -= !list_empty(&r->unmade);
    list_del(&r->unmade);
    r->group[0] = rankmap_ref(side ? c->remote : c->map);
    r->group[1] = rankmap_ref(side ? c->map : c->remote);
    r->me = agree_member(c, &first, &r->n);
    proc->obj->ctx_made = made; /* its local one may come later */
    end_all(c);
    pass_on(r);
}

void coll_revoke(struct comm *c)
{
    int side;
    if (!c->revoked)
        begin(record(agree_key(c, &side)), c);
}

/* c has got its ids, or its local communicator (obj.h). */
static void made(struct comm *c)
{
    struct survive *s = proc->coll->survive;
    int side;
    if (c->revoked) { /* or with another one, whose local one it is */
        struct comm *last = c->local ? c->local : c;
        if (last->ctx_recv != CTX_NONE)
            p2p_revoke(last);
        return;
    }
    struct revocation *r = s->nunmade ? map_get(&s->revocations, agree_key(c, &side)) : NULL;
    if (r && !r->group[0])
        begin(r, c);
}

/* --- messages ---------------------------------------------------------------------------- */

static int malformed(int src)
{
    if (!boot_failed(src))
        am_malformed(src, "a notice of a revoked communicator");
    return 0;
}

struct search {
    uint64_t ctx;
    /* with this key; that receives with this id; that sends with it, or its local one does */
    struct comm *found, *receives, *sends;
};

static void look(void *arg, void *with)
{
    struct comm *c = arg;
    struct search *x = with;
    int side;
    if (c->maker) /* which the program may have freed meanwhile */
        look(c->maker, with);
    if (c->ctx_recv == CTX_NONE)
        return;
    if (agree_key(c, &side) == x->ctx)
        x->found = c;
    if (comm_ctx(c) == x->ctx)
        x->receives = c;
    if ((sends_with(c) == x->ctx && !x->sends) || (c->local && sends_with(c->local) == x->ctx))
        x->sends = c;
}

static struct search find_comms(uint64_t ctx)
{
    struct search x = {.ctx = ctx};
    obj_each(OBJ_COMM, look, &x);
    look(proc->obj->world, &x);
    look(proc->obj->self, &x);
    return x;
}

static void refused(uint64_t ctx)
{
    struct comm *c = proc->coll ? find_comms(ctx).sends : NULL;
    if (c)
        coll_revoke(c);
}

static int is_member(const struct comm *c, int world)
{
    return rankmap_find(c->map, world) >= 0 || (c->remote && rankmap_find(c->remote, world) >= 0);
}

static struct revocation *keep(struct survive *s, const struct revoke_msg *m)
{
    if (s->nunmade == UNMADE_MAX)
        forget_oldest(s);
    struct revocation *r = record(m->ctx);
    r->other = m->other;
    list_push(&s->unmade, &r->unmade);
    s->nunmade++;
    proc->obj->ctx_made = made;
    p2p_refuse(m->ctx);
    if (m->other != m->ctx)
        p2p_refuse(m->other);
    return r;
}

static int on_notice(int src, const struct revoke_msg *m)
{
    struct survive *s = survive_room();
    struct revocation *r = map_get(&s->revocations, m->ctx);
    struct search x = r ? (struct search){0} : find_comms(m->ctx);
    struct comm *c = x.found;
    if (c && !is_member(c, src))
        return malformed(src);
    if (!c && !r && (x.receives || find_comms(m->other).receives))
        return malformed(src); /* the ids are not of one communicator */
    if (c)
        coll_revoke(c);
    else if (!r)
        r = keep(s, m);
    if (!c && !r->group[0])
        tell(r, src, REVOKE_UNKNOWN);
    return 0;
}

/* The process has not the communicator, and passes nothing on unless it makes it. */
static int on_unknown(int src, uint64_t ctx)
{
    struct revocation *r = map_get(&survive_room()->revocations, ctx);
    if (!r || !r->group[0])
        return malformed(src);
    if (r->next < r->n && after(r, r->next) == src) {
        r->next++;
        tell_next(r);
    }
    return 0;
}

static int on_revoke(int src, const void *msg, size_t len)
{
    struct revoke_msg m;
    if (!proc->coll)
        return 0;
    if (len != sizeof m)
        return malformed(src);
    memcpy(&m, msg, sizeof m);
    switch (m.what) {
    case REVOKE_NOTICE:
        return on_notice(src, &m);
    case REVOKE_UNKNOWN:
        return on_unknown(src, m.ctx);
    default:
        return malformed(src);
    }
}

/* --- life -------------------------------------------------------------------------------- */

void revoke_start(void)
{
    am_handler(AM_COLL + COLL_PKT_REVOKE, on_revoke);
    proc->obj->ctx_refused = refused;
}

void revoke_free(struct survive *s)
{
    size_t cursor = 0;
    for (const struct map_entry *e; (e = map_next(&s->revocations, &cursor)) != NULL;) {
        struct revocation *r = e->value;
        rankmap_drop(r->group[0]);
        rankmap_drop(r->group[1]);
        free(r);
    }
    map_destroy(&s->revocations);
}

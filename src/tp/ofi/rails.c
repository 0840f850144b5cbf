/* rails.c - further cards: long puts and gets are striped over them. Start with ofi_rails_move().
 *
 * A rail is another domain of the chosen provider with a domain, an endpoint, an address vector and
 * a completion queue of its own. Messages, atomics and short transfers go by the first card alone.
 *
 * L1. A put or get of OFI_RAIL_MIN bytes or more becomes one piece for each rail and one for the
 *     first card. Its `holder`, a struct ofi_rma as of an undivided one, stands among the puts of
 *     its peer and is over when all pieces are: so a flush waits as ever.
 * L2. What a rail does not take goes by the first card.
 * L3. A rail is out when an operation on it failed and its peer was heard from since, or when a
 *     peer has answered STRIKES questions in turn and finished no piece on that rail meanwhile.
 *     What a rail has for a peer that fails ends as an undivided operation does, and the rail
 *     stays. It is out for the whole process: only an endpoint can be closed. Gets that it had go
 *     by the first card at once: nothing comes by a closed endpoint. Where closing may crash, it is
 *     left as it is, for good: such a provider writes nothing unless its queue is read.
 * L4. A put that it had may still be on its way, and must not arrive behind a later one. So its
 *     target is asked to close the other end (RAIL_DOWN), and the put goes by the first card when
 *     the target has answered (RAIL_GONE).
 * L5. A message may pass a put on another card: with rails there is no TP_PUT_THEN_AM. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "tp/ofi/ofi.h"
#include "var/var.h"

/* Bytes: a piece begins at a multiple of RAIL_PAGE, and leaves in parts of CHUNK. So a rail that
 * works finishes something before a peer has answered STRIKES questions. */
enum { RAIL_PAGE = 4096, CHUNK = 4 << 20, TURNS = 64 /* calls of progress() */, STRIKES = 15 };
/* a piece that is younger is not asked for; between two questions, at first and at last (ns) */
#define YOUNG_NS 1000000000u
#define ASK_NS 100000000u
#define ASK_MOST_NS 1600000000u

/* One part of a put or get: on its rail's `flying` while the provider has it, else on a list of
 * struct ofi. */
struct piece {
    struct ofi_op op;
    struct split *split;
    int rail;       /* -1: the first card */
    uint64_t sent;  /* when, or when it failed (ns) */
    size_t at, len; /* what is left of it */
    size_t part;    /* of that: what its card has */
};

struct split {
    struct list link; /* ofi.splits */
    struct ofi_rma *holder;
    struct ofi_peer *peer;
    struct ofi_key key;
    uint64_t rail_key[OFI_RAILS];
    struct fid_mr *mr, *rail_mr[OFI_RAILS]; /* of our memory; NULL: none is needed */
    char *here;
    uint64_t off;
    int put, left, err;
    struct piece piece[OFI_RAILS + 1];
};

static struct piece *piece_of(struct list *l)
{
    return LIST_OBJ(l, struct piece, op.link);
}

void ofi_rails_free(struct ofi *o)
{
    for (struct list *l; (l = list_pop(&o->splits)) != NULL;)
        free(LIST_OBJ(l, struct split, link));
}

/* --- moving ---------------------------------------------------------------------------------- */

static void split_over(struct ofi *o, struct split *s)
{
    struct ofi_rma *r = s->holder;
    int err = s->err;
    list_del(&s->link);
    free(s);
    ofi_rma_done(o, &r->op, err);
}

static void piece_over(struct ofi *o, struct piece *x, int err)
{
    struct split *s = x->split;
    list_del(&x->op.link);
    if (x->rail >= 0)
        s->peer->striped--;
    if (err && !s->err)
        s->err = err;
    if (--s->left == 0)
        split_over(o, s);
}

/* Give it to its card: all that is left, or a part. */
static ssize_t issue(struct ofi *o, struct piece *x)
{
    const struct split *s = x->split;
    int i = x->rail;
    struct fid_ep *ep = i < 0 ? o->ep : o->rail[i].ep;
    struct fid_mr *mr = i < 0 ? s->mr : s->rail_mr[i];
    void *desc = mr ? fi_mr_desc(mr) : NULL;
    x->part = i >= 0 && x->len > CHUNK ? CHUNK : x->len;
    struct iovec v = {s->here + x->at, x->part};
    struct fi_rma_iov rv = {s->key.addr + s->off + x->at, x->part,
                            i < 0 ? s->key.key : s->rail_key[i]};
    struct fi_msg_rma m = {.msg_iov = &v,
                           .desc = &desc,
                           .iov_count = 1,
                           .addr = i < 0 ? s->peer->addr : s->peer->rail_addr[i],
                           .rma_iov = &rv,
                           .rma_iov_count = 1,
                           .context = &x->op.ctx};
    return s->put ? fi_writemsg(ep, &m, FI_COMPLETION | FI_DELIVERY_COMPLETE)
                  : fi_readmsg(ep, &m, FI_COMPLETION);
}

/* By its rail, else by the first card as soon as that has room (L2). */
static void issue_rail(struct ofi *o, struct piece *x)
{
    list_del(&x->op.link);
    x->sent = time_now();
    if (!o->rail[x->rail].dead && !x->split->peer->broken && issue(o, x) == 0)
        list_push(&o->rail[x->rail].flying, &x->op.link);
    else
        list_push(&o->again, &x->op.link);
}

/* By the first card, now or when it has room (L2). */
static void issue_first(struct ofi *o, struct piece *x)
{
    struct ofi_peer *p = x->split->peer;
    list_del(&x->op.link);
    if (x->rail >= 0)
        p->striped--;
    x->rail = -1;
    ssize_t err = p->broken ? -FI_ENOTCONN : issue(o, x);
    int ours = err ? ofi_err((int)err) : 0;
    if (!ours || ours == TP_AGAIN)
        ofi_wake(p);
    if (ours == TP_AGAIN || ours == -ENOMEM || (ours && ofi_is_shortage(err))) {
        list_push(&o->again, &x->op.link);
    } else if (ours) {
        if (ours == -ENOTCONN || (x->split->put && ours != -EINVAL && ours != -EMSGSIZE))
            ofi_peer_lost(o, p, ours);
        piece_over(o, x, ours);
    }
}

/* Its card has finished a part of it. */
static void part_over(struct ofi *o, struct piece *x)
{
    x->split->peer->strikes[x->rail] = 0;
    x->at += x->part;
    x->len -= x->part;
    if (x->len && !x->split->err)
        issue_rail(o, x);
    else
        piece_over(o, x, 0);
}

int ofi_rails_move(struct ofi *o, const struct tp_far *far, uint64_t off, const void *here,
                   size_t len, const struct tp_mem *mem, struct ofi_rma *holder, int put)
{
    struct ofi_peer *p = far->peer;
    int use[OFI_RAILS], n = 0;
    for (int i = 0; i < o->nrails; i++) {
        int k = p->rail_theirs[i];
        if (!o->rail[i].dead && p->rails >> i & 1 && far->rails >> k & 1 &&
            (!o->reg_local || (mem && mem->rail_mr[i])))
            use[n++] = i;
    }
    struct split *s = n ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return -ENOTSUP;
    list_push(&o->splits, &s->link);
    s->holder = holder;
    s->peer = p;
    s->key = far->key;
    s->mr = mem ? mem->mr : NULL;
    s->here = (char *)(uintptr_t)here;
    s->off = off;
    s->put = put;
    s->left = n + 1;
    size_t each = (len / (size_t)(n + 1) + RAIL_PAGE - 1) / RAIL_PAGE * RAIL_PAGE;
    for (int k = 0; k < n; k++) {
        int i = use[k];
        struct piece *x = &s->piece[k];
        s->rail_key[i] = far->rail_key[p->rail_theirs[i]];
        s->rail_mr[i] = mem ? mem->rail_mr[i] : NULL;
        *x = (struct piece){.split = s, .rail = i, .at = (size_t)k * each, .len = each};
        x->op.kind = OFI_OP_PIECE;
        list_init(&x->op.link);
        p->striped++;
        issue_rail(o, x);
    }
    struct piece *x = &s->piece[n];
    *x = (struct piece){
        .split = s, .rail = -1, .at = (size_t)n * each, .len = len - (size_t)n * each};
    x->op.kind = OFI_OP_PIECE;
    list_init(&x->op.link);
    if (issue(o, x) != 0) /* an error shows again there: nothing is over before progress() */
        list_push(&o->again, &x->op.link);
    if (!list_empty(&o->again))
        ofi_wake_sleeper();
    return 0;
}

void ofi_rails_done(struct ofi *o, struct ofi_op *op, int err)
{
    piece_over(o, LIST_OBJ(op, struct piece, op), err);
}

/* --- a rail that is out ---------------------------------------------------------------------- */

/* A completion or an error of a rail's queue. 0: there is none. */
static int look(struct ofi *o, struct ofi_rail *l)
{
    enum { AT_ONCE = 16 };
    struct fi_cq_data_entry e[AT_ONCE];
    ssize_t n = fi_cq_read(l->cq, e, AT_ONCE);
    for (ssize_t i = 0; i < n; i++)
        if (e[i].op_context && !(e[i].flags & FI_REMOTE_WRITE))
            part_over(o, LIST_OBJ((struct ofi_op *)e[i].op_context, struct piece, op));
    if (n != -FI_EAVAIL)
        return n > 0 ? (int)n : 0;
    struct fi_cq_err_entry bad = {0};
    if (fi_cq_readerr(l->cq, &bad, 0) < 1)
        return 0;
    if (bad.op_context && !(bad.flags & FI_REMOTE_WRITE)) {
        struct piece *x = LIST_OBJ((struct ofi_op *)bad.op_context, struct piece, op);
        list_del(&x->op.link);
        x->sent = time_now();
        list_push(&o->suspects, &x->op.link);
    }
    return 1;
}

/* L3, L4. 0: its end is closed, or stays open and is not looked at: nothing comes by it. Peers with
 * pieces on this rail are not told: they take it out by themselves (STRIKES, or an error). */
static int take_out(struct ofi *o, int i, const char *why)
{
    struct ofi_rail *l = &o->rail[i];
    if (l->dead)
        return l->ep && !l->stays_open ? -EBUSY : 0;
    l->dead = 1;
    l->stays_open = ofi_keeps_halves(o);
    log_warn("transport ofi: the card %s is not used any more: %s; its transfers go by %s",
             l->info->domain_attr->name, why, o->info->domain_attr->name);
    int err = l->stays_open ? 0 : fi_close(&l->ep->fid);
    if (!err && !l->stays_open)
        l->ep = NULL;
    while (!l->stays_open && look(o, l))
        continue;
    struct list *from[] = {&l->flying, &o->suspects};
    for (int k = 0; k < 2; k++)
        for (struct list *at = from[k]->next, *next; at != from[k]; at = next) {
            struct piece *x = piece_of(at);
            next = at->next;
            if (x->rail != i)
                continue;
            x->sent = 0;
            list_del(at);
            list_push(x->split->put ? &o->stuck : &o->again, at);
            if (err) /* what it had may come at any time: nothing may follow it */
                ofi_peer_lost(o, x->split->peer, -EIO);
        }
    return err ? -EBUSY : 0;
}

static void tell(struct ofi *o, struct ofi_peer *p, enum ofi_packet kind, int theirs, int ours)
{
    struct ofi_rail_note note = {(uint8_t)theirs, (uint8_t)ours};
    struct iovec v = {&note, sizeof note};
    if (p->known)
        (void)ofi_inject(o, p, kind, &v, 1, sizeof note); /* the asker asks again */
}

void ofi_rails_on(struct ofi *o, struct ofi_peer *p, enum ofi_packet kind, const void *msg,
                  size_t len)
{
    struct ofi_rail_note note;
    if (len != sizeof note)
        return;
    memcpy(&note, msg, len);
    /* only about a rail that both have together */
    if (note.yours >= o->nrails || !(p->rails >> note.yours & 1) ||
        p->rail_theirs[note.yours] != note.mine)
        return;
    if (kind == OFI_RAIL_GONE && o->rail[note.yours].dead)
        p->gone |= (uint8_t)(1u << note.yours);
    if (kind != OFI_RAIL_DOWN)
        return;
    if (take_out(o, note.yours, "another process has lost it") == 0)
        tell(o, p, OFI_RAIL_GONE, note.mine, note.yours);
    else
        ofi_peer_lost(o, p, -EIO);
}

/* Is it time to ask p? Less and less often while it is silent: it may compute for long. */
static int asks_now(struct ofi_peer *p, uint64_t now)
{
    int heard = p->heard_at > p->rail_asked;
    if (p->ask_ns < ASK_NS)
        p->ask_ns = ASK_NS;
    if (now - p->rail_asked < (heard ? ASK_NS : p->ask_ns))
        return 0;
    p->ask_ns = heard ? ASK_NS : 2 * p->ask_ns < ASK_MOST_NS ? 2 * p->ask_ns : ASK_MOST_NS;
    for (int i = 0; i < OFI_RAILS; i++)
        p->strikes[i] += heard && p->rail_asked;
    p->rail_asked = now;
    return 1;
}

static void ask(struct ofi *o, struct ofi_peer *p, uint64_t now)
{
    if (p->known && asks_now(p, now))
        (void)ofi_inject(o, p, OFI_ASK, NULL, 0, 0);
}

/* Puts whose rail is out wait for their targets (L4). */
static void stuck_settle(struct ofi *o, uint64_t now)
{
    for (struct list *l = o->stuck.next, *next; l != &o->stuck; l = next) {
        struct piece *x = piece_of(l);
        struct ofi_peer *p = x->split->peer;
        next = l->next;
        if (p->broken || p->gone >> x->rail & 1) {
            list_del(l);
            list_push(&o->again, l);
        } else if (now - x->sent >= ASK_MOST_NS) { /* at first at once */
            x->sent = now;
            tell(o, p, OFI_RAIL_DOWN, p->rail_theirs[x->rail], x->rail);
        }
    }
}

/* One whose peer has failed is over; where the peer answers, its rail is out. */
static void suspects_settle(struct ofi *o, uint64_t now)
{
    for (struct list *l = o->suspects.next, *next; l != &o->suspects; l = next) {
        struct piece *x = piece_of(l);
        struct ofi_peer *p = x->split->peer;
        next = l->next;
        if (p->broken || x->split->err || boot_failed((int)p->rank)) {
            piece_over(o, x, -ENOTCONN);
        } else if (p->heard_at > x->sent) {
            (void)take_out(o, x->rail, "a transfer on it failed");
            return; /* the list has changed */
        } else {
            ask(o, p, now);
        }
    }
}

/* Does a peer answer, and finish nothing on this rail? */
static void rail_check(struct ofi *o, int i, uint64_t now)
{
    const struct ofi_rail *l = &o->rail[i];
    for (struct list *at = l->flying.next; at != &l->flying; at = at->next) {
        struct piece *x = piece_of(at);
        struct ofi_peer *p = x->split->peer;
        if (now - x->sent < YOUNG_NS)
            return;
        if (p->broken)
            continue;
        ask(o, p, now);
        if (p->strikes[i] >= STRIKES) {
            p->strikes[i] = 0;
            (void)take_out(o, i, "a transfer on it does not end");
            return;
        }
    }
}

/* A sleeper need not wake for what flies: it does so every 200 ms (progress.md P5). */
int ofi_rails_wait(const struct ofi *o)
{
    return !list_empty(&o->again) || !list_empty(&o->stuck) || !list_empty(&o->suspects);
}

int ofi_rails_progress(struct ofi *o)
{
    int events = 0;
    for (int i = 0; i < o->nrails; i++)
        if (!o->rail[i].dead)
            events += look(o, &o->rail[i]);
    for (struct list *l = o->again.next, *last = o->again.prev, *next, *at = NULL;
         l != &o->again && at != last; l = next) {
        next = l->next;
        at = l;
        issue_first(o, piece_of(l));
    }
    if (++o->rail_turns % TURNS && list_empty(&o->stuck) && list_empty(&o->suspects))
        return events;
    uint64_t now = 0;
    for (int i = 0; i < o->nrails; i++)
        if (!o->rail[i].dead && !list_empty(&o->rail[i].flying)) {
            now = now ? now : time_now();
            rail_check(o, i, now);
        }
    if (!list_empty(&o->stuck) || !list_empty(&o->suspects)) {
        now = time_now();
        suspects_settle(o, now);
        stuck_settle(o, now);
    }
    return events;
}

/* pull_target.c - the target pulls the data of a long operation by the network's own get and put.
 * Start with begin().
 *
 *   origin: registers its buffers
 *           --PULL([key] [, key of the result buffer])--> target: checks place, type, operation
 *           origin's memory --> get, get ...                 piece by piece, in order, while the
 *                                                            next ones come: accumulate, put
 *           result buffer <-- put, put ...                   (get_accumulate, get)
 *   origin: deregisters <------PULLED(bytes done)-------- the network has finished with all of it
 *
 * It serves accumulates, puts that notify, and puts and gets for which the origin has no key (of
 * dynamic windows, for example): one block at both ends, of a predefined type without gaps. A
 * target without free record or memory (both are bounded), or without such a network, reports how
 * far it came. So does one that loses the network midway. The rest comes by message. So a failure
 * here is never a failure of the operation, with one exception: old values that did not arrive,
 * since accumulates cannot be repeated.
 *
 * Order. The operation stays first of the queue until it is answered (OP_PULLED). So nothing
 * passes it, no flag leaves before it is over, and eviction waits for it: it has not left. It
 * counts as a native piece (R8), because the network uses its memory until then. If the target
 * fails, native.c waits for that, too. So there is one pull per target at a time.
 *
 * F1 While F->out is not 0, the network reads or writes the pieces of F, or memory of its origin.
 *   Then F is not answered, and its pieces are neither reused nor freed. That holds when the origin
 *   fails, and past MPI_Finalize.
 * F2 Pieces act on the window in the order of the stream. Each is looked up and checked anew: the
 *   window may be freed, since a failed origin's pieces do not delay that. Nothing of a process
 *   known to have failed acts.
 * F3 Each PULL is answered once, when F ends (its reply has been reserved). */
#include "rma/target/target_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "watch/watch.h"

enum { PIECES = 2 /* more do not stay in the cache */, TURNS = 16, PAGE = 4096 };

enum piece_state { FREE, GETTING, HERE, DONE, PUTTING };
struct piece {
    struct tp_done d;
    struct rma_pull *f;
    enum piece_state state;
    size_t at, len; /* of the stream */
};

struct rma_pull {
    struct list link; /* r->fetches */
    struct tp_done flushed;
    struct rma *r;    /* NULL: after MPI_Finalize */
    struct rma_hdr h; /* as it came, checked */
    uint64_t win;     /* id of its window, which may end before it */
    uint64_t count;
    size_t bytes, asked, applied; /* of the stream */
    size_t most;      /* bytes of a piece: whole elements */
    int world;
    struct tp *tp;
    const struct tp_ops *ops;
    struct tp_far *data, *result; /* data NULL: a get; result NULL: not wanted */
    struct tp_mem *local;         /* TP_REG_LOCAL: mem */
    unsigned out;     /* F1 */
    uint8_t busy;     /* it is in use; else free for the next */
    uint8_t again;    /* the network had no room: the hook tries again */
    uint8_t then_am, unflushed; /* TP_PUT_THEN_AM; results that neither it nor a flush has
                                 * confirmed */
    int err;          /* -errno: no more is pulled */
    int cls;          /* MPI error class, for the origin */
    uint32_t note;    /* RMA_F_NOTIFY: index + 1 of the counter; 0: none */
    struct piece piece[PIECES];
    char *mem;        /* data of the pieces, then their results */
    size_t room;      /* bytes of mem: of a get, results only */
};

static char *data_of(const struct rma_pull *f, const struct piece *p)
{
    return f->mem + (size_t)(p - f->piece) * f->most;
}

static char *result_of(const struct rma_pull *f, const struct piece *p)
{
    return data_of(f, p) + (f->data ? PIECES * f->most : 0);
}

static void pull_free(struct rma_pull *f)
{
    list_del(&f->link);
    free(f->mem);
    free(f);
}

/* Release what the network has of it; nothing is under way. */
static void let_go(struct rma_pull *f)
{
    WR_ASSERT(!f->out); /* F1 */
    if (f->local)
        f->ops->dereg(f->tp, f->local);
    if (f->data)
        f->ops->drop(f->tp, f->data);
    if (f->result)
        f->ops->drop(f->tp, f->result);
    f->local = NULL;
    f->data = f->result = NULL;
}

static void tell(struct rma_win *w, int world, const struct rma_hdr *asked, uint64_t count,
                 int results, size_t done, int cls)
{
    struct rma_hdr h = {.type = RMA_PKT_PULLED, .aop = (uint8_t)cls, .done = done,
                        .op = asked->op};
    struct rma_fault f = {.disp = asked->disp,
                          .count = count,
                          .dt = asked->dt,
                          .cls = (uint8_t)cls,
                          .type = asked->aop ? results ? RMA_PKT_GACC : RMA_PKT_ACC
                                  : results  ? RMA_PKT_GET
                                             : RMA_PKT_PUT,
                          .bytes = w->flavor == MPI_WIN_FLAVOR_DYNAMIC ? RMA_FAULT_DYNAMIC
                                                                       : (uint64_t)w->bytes};
    rma_reply(w, world, &h, &f, cls ? sizeof f : 0);
}

/* F3 */
static void finish(struct rma_pull *f)
{
    struct rma_win *w = rma_win_find(f->win);
    int results = f->result != NULL;
    /* a get can be repeated; which piece failed is not recorded */
    size_t done = !f->data && f->err ? 0 : f->applied;
    let_go(f);
    f->busy = 0;
    sched_point(); /* near processes may look before the end is reported */
    if (!w || boot_failed(f->world))
        return;
    if (f->note && !f->cls && done == f->bytes) /* else the rest of it notifies */
        f->cls = rma_note_came(w, f->note - 1, (int)f->h.src);
    if (f->note && f->cls && watch_wants(WATCH_NOTES))
        watch_note_lost(w, w->rank, f->note - 1, 1);
    tell(w, f->world, &f->h, f->count, results, done, f->cls);
}

static int stopped(const struct rma_pull *f)
{
    return f->err || f->cls || boot_failed(f->world) || !rma_win_find(f->win);
}

/* Results did not arrive. */
static void lost(struct rma_pull *f, int err)
{
    if (f->data)
        f->cls = MPI_ERR_OTHER;
    f->err = f->err ? f->err : err;
}

/* Handles the network's result of a call for p. Was it taken? */
static int taken(struct rma_pull *f, struct piece *p, int rc, enum piece_state under_way,
                 enum piece_state over)
{
    if (rc == TP_AGAIN) {
        f->again = 1;
        progress_hook_add(&f->r->pull_hook);
        return 0;
    }
    if (rc < 0) {
        f->err = rc;
        if (under_way == PUTTING)
            lost(f, rc);
        p->state = FREE;
        return 1;
    }
    p->state = rc == TP_PENDING ? under_way : over;
    f->out += rc == TP_PENDING;
    return 1;
}

static void apply(struct rma_pull *f, struct piece *p)
{
    struct rma_win *w = rma_win_find(f->win);
    f->cls = rma_part(w, &f->h, f->count, p->at, p->len, f->data ? data_of(f, p) : NULL,
                      f->result ? result_of(f, p) : NULL); /* F2 */
    p->state = FREE;
    if (f->cls)
        return;
    f->applied += p->len;
    if (f->result)
        p->state = DONE;
}

/* One step for a piece; 0: none is possible. */
static int move(struct rma_pull *f, struct piece *p)
{
    if (p->state == HERE && stopped(f)) {
        p->state = FREE;
        return 1;
    }
    if (p->state == HERE && p->at == f->applied) {
        apply(f, p);
        return 1;
    }
    if (p->state == DONE && !boot_failed(f->world)) {
        int rc = f->ops->put(f->tp, f->result, p->at, result_of(f, p), p->len, f->local, &p->d);
        f->unflushed |= rc != TP_AGAIN && !f->then_am;
        return taken(f, p, rc, PUTTING, FREE);
    }
    if (p->state == DONE)
        p->state = FREE;
    if (p->state != FREE || f->asked == f->bytes || stopped(f))
        return 0;
    p->at = f->asked;
    p->len = f->bytes - f->asked < f->most ? f->bytes - f->asked : f->most;
    if (!f->data)
        p->state = HERE;
    else if (!taken(f, p,
                    f->ops->get(f->tp, f->data, p->at, data_of(f, p), p->len, f->local, &p->d),
                    GETTING, HERE))
        return 0;
    f->asked += p->len;
    return 1;
}

/* Results without a guarantee of the network are confirmed by a flush. 1: all are there. */
static int confirmed(struct rma_pull *f)
{
    if (!f->unflushed || boot_failed(f->world))
        return 1;
    int rc = f->ops->flush(f->tp, (unsigned)f->world, &f->flushed);
    if (rc == TP_AGAIN) {
        f->again = 1;
        progress_hook_add(&f->r->pull_hook);
        return 0;
    }
    f->unflushed = 0;
    f->out += rc == TP_PENDING;
    if (rc < 0)
        lost(f, rc);
    return rc != TP_PENDING;
}

static void run(struct rma_pull *f)
{
    int moved, turns = 0;
    f->again = 0;
    do {
        moved = 0;
        for (struct piece *p = f->piece; p < f->piece + PIECES; p++)
            moved |= move(f, p);
        if (moved && ++turns == TURNS) {
            /* a network that completes at once: others must be served, too */
            f->again = 1;
            progress_hook_add(&f->r->pull_hook);
        }
    } while (moved && !f->again);
    if (!f->out && !f->again && confirmed(f))
        finish(f);
}

static void ended(struct rma_pull *f)
{
    f->out--;
    if (f->r) {
        run(f);
    } else if (!f->out) {
        let_go(f);
        pull_free(f);
    }
}

static void piece_done(struct tp_done *d, int err)
{
    struct piece *p = LIST_OBJ(d, struct piece, d);
    struct rma_pull *f = p->f;
    if (err)
        f->err = f->err ? f->err : err;
    if (err && p->state == PUTTING)
        lost(f, err);
    p->state = p->state == GETTING && !err ? HERE : FREE;
    ended(f);
}

static void flush_done(struct tp_done *d, int err)
{
    struct rma_pull *f = LIST_OBJ(d, struct rma_pull, flushed);
    if (err)
        lost(f, err);
    ended(f);
}

/* Hook, while the network had no room for a call. */
static int again(void *arg)
{
    struct rma *r = arg;
    int left = 0, events = 0;
    for (struct list *l = r->pulls.next; l != &r->pulls; l = l->next) {
        struct rma_pull *f = LIST_OBJ(l, struct rma_pull, link);
        if (!f->again)
            continue;
        run(f);
        left += f->again;
        events += !f->again;
    }
    if (!left)
        progress_hook_del(&r->pull_hook);
    return events;
}

/* A record with room for pieces of `most` bytes, twice if they have results; NULL: none is free. */
static struct rma_pull *record(struct rma *r, size_t most, int both)
{
    struct rma_pull *f = NULL;
    int n = 0;
    for (struct list *l = r->pulls.next; l != &r->pulls && !f; l = l->next, n++)
        if (!LIST_OBJ(l, struct rma_pull, link)->busy)
            f = LIST_OBJ(l, struct rma_pull, link);
    if (!f) {
        if (n >= cvar.rma_pulls || !(f = calloc(1, sizeof *f)))
            return NULL;
        f->r = r;
        f->flushed.fn = flush_done;
        list_init(&f->link);
        list_push(&r->pulls, &f->link);
        for (struct piece *p = f->piece; p < f->piece + PIECES; p++)
            *p = (struct piece){.d.fn = piece_done, .f = f};
    }
    size_t room = most * PIECES * (both ? 2 : 1);
    if (f->room < room) {
        free(f->mem);
        /* aligned as windows are: vector code does not cross cache lines */
        f->mem = aligned_alloc(PAGE, (room + PAGE - 1) / PAGE * PAGE);
        f->room = f->mem ? room : 0;
    }
    return f->mem ? f : NULL;
}

/* Elements of a piece: the fewest pieces of at most `limit` elements (at least one), all of one
 * length. */
static size_t pieces_of(uint64_t count, size_t limit)
{
    uint64_t pieces = limit < 2 ? count : (count + limit - 1) / limit;
    return pieces ? (size_t)((count + pieces - 1) / pieces) : 1;
}

/* 0: it will be answered; else it is not begun. */
static int begin(struct rma_win *w, int src, const struct rma_hdr *h,
                 const struct rma_pull_data *d, const char *keys, uint32_t note)
{
    const struct tp_ops *ops;
    struct tp_caps caps;
    size_t unit = (size_t)dt_find((MPI_Datatype)h->dt)->elem.bytes, bytes = d->count * unit;
    struct tp *tp = rma_pull_network(src, d->key != 0, d->result != 0, bytes, &ops, &caps);
    if (!tp || strncmp(d->transport, ops->name, sizeof d->transport) != 0)
        return -1;
    size_t limit = (size_t)cvar.rma_pull_bytes < caps.rma_max ? (size_t)cvar.rma_pull_bytes
                                                               : caps.rma_max;
    size_t most = pieces_of(d->count, limit / unit) * unit;
    struct rma_pull *f = most <= caps.rma_max ? record(rma_self(), most, d->key && d->result)
                                               : NULL;
    if (!f)
        return -1;
    f->h = *h;
    f->win = w->id;
    f->count = d->count;
    f->bytes = bytes;
    f->asked = f->applied = 0;
    f->most = most;
    f->world = src;
    f->tp = tp;
    f->ops = ops;
    f->then_am = (caps.flags & TP_PUT_THEN_AM) != 0;
    f->again = f->unflushed = 0;
    f->err = f->cls = 0;
    f->note = note;
    for (struct piece *p = f->piece; p < f->piece + PIECES; p++)
        p->state = FREE;
    if ((d->key && ops->import(tp, (unsigned)src, keys, d->key, &f->data)) ||
        (d->result && ops->import(tp, (unsigned)src, keys + d->key, d->result, &f->result)) ||
        (caps.flags & TP_REG_LOCAL && ops->reg(tp, f->mem, f->room, 0, 0, &f->local))) {
        let_go(f);
        return -1;
    }
    f->busy = 1;
    run(f);
    return 0;
}

int rma_on_pull(int src, const void *msg, size_t len)
{
    struct rma_pull_data d;
    struct rma_hdr h;
    struct rma_win *w = rma_packet_window(src, msg, len, &h);
    const char *payload = (const char *)msg + sizeof h;
    struct rma_noted note = {.index = 0};
    int noted = w && h.flags & RMA_F_NOTIFY;
    if (!w || h.len < sizeof d + (noted ? sizeof note : 0)) {
        am_malformed(src, "an operation to fetch");
        rma_self()->malformed++;
        return 0;
    }
    if (noted) {
        memcpy(&note, payload, sizeof note);
        payload += sizeof note;
        h.len -= (uint32_t)sizeof note;
        h.flags &= (uint16_t)~RMA_F_NOTIFY;
    }
    memcpy(&d, payload, sizeof d);
    /* An accumulate has data. A request without data and results, or without operation but with
     * both, is malformed. */
    int shape = h.aop ? d.key != 0 : !d.key != !d.result;
    int cls = !shape || d.key > h.len - sizeof d || d.result != h.len - sizeof d - d.key
                  ? MPI_ERR_OTHER
                  : rma_part(w, &h, d.count, 0, 0, NULL, NULL);
    if (!cls && begin(w, src, &h, &d, payload + sizeof d, note.index + noted) == 0)
        return 0;
    if (noted && cls && watch_wants(WATCH_NOTES))
        watch_note_lost(w, w->rank, note.index, 1);
    tell(w, src, &h, d.count, d.result != 0, 0, cls);
    return 0;
}

void rma_pull_init(struct rma *r)
{
    list_init(&r->pulls);
    r->pull_hook = (struct progress_hook){.fn = again, .arg = r};
}

/* What the network still uses stays until it answers (F1). */
void rma_pull_finalize(struct rma *r)
{
    progress_hook_del(&r->pull_hook);
    for (struct list *l = r->pulls.next, *next; l != &r->pulls; l = next) {
        struct rma_pull *f = LIST_OBJ(l, struct rma_pull, link);
        next = l->next;
        list_del(&f->link);
        f->r = NULL;
        if (f->out)
            continue;
        if (f->busy)
            let_go(f);
        pull_free(f);
    }
}

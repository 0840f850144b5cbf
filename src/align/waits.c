/* waits.c - for what does this process wait? Start with waits_describe().
 *
 *   the condition of the wait ---> the room whose it is names the processes, or calls
 *                             \--> a collective call under way: the members that have not made it
 *
 * What is not known here counts as served soon: then there is no verdict. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "align/align_types.h"
#include "align/waits.h"
#include "base/hash.h"
#include "boot/boot.h"
#include "obj/continue.h"
#include "p2p/p2p.h"
#include "p2p/part.h"
#include "rma/rma.h"

static struct wait_item *add(struct waits *x)
{
    if (x->items == WAIT_ITEMS)
        return NULL;
    x->item[x->items] = (struct wait_item){.world = -1};
    return &x->item[x->items++];
}

/* The call of the program, of a front if one made the wait. */
static const char *call_of(const struct waits *x, const char *unknown)
{
    const char *front = site_front_call(x->site);
    return front ? front : proc->call ? proc->call : unknown;
}

/* --- messages --------------------------------------------------------------------------------- */

static int need_message(struct waits *x, const struct p2p_awaited *a)
{
    const struct align *of = a->comm->check;
    int alone = comm_members(a->comm) < 2;
    struct wait_item *it = a->world >= 0 || of || alone ? add(x) : NULL;
    if (!it) /* no room, or processes of other jobs may send */
        return 0;
    if (a->world >= 0) {
        it->need = NEED_PROCESS;
        it->world = a->world;
    } else if (of) {
        it->need = NEED_ANY;
        it->key = of->key;
        it->size = of->size;
    } else { /* alone on it */
        it->need = NEED_PROCESS;
        it->world = boot_rank();
    }
    return 1;
}

static void message_text(const struct p2p_awaited *a, const char *what, char *buf, size_t len)
{
    char rank[24] = "MPI_ANY_SOURCE", tag[24] = "";
    if (a->rank >= 0)
        snprintf(rank, sizeof rank, "%s %d", a->is_send ? "to" : "source", a->rank);
    else if (a->is_send) /* a partitioned one waits for its own MPI_Pready */
        snprintf(rank, sizeof rank, "to MPI_PROC_NULL");
    if (a->tag >= 0)
        snprintf(tag, sizeof tag, ", tag %d", a->tag);
    snprintf(buf, len, "%s%s%s", what, rank, tag);
}

/* --- collective calls ------------------------------------------------------------------------- */

struct members { /* CALL items, one for each process */
    struct waits *x;
    const struct align *of;
    uint32_t number;
    int added, failed;
};

/* The entry of call `number`, if it is kept. */
static const struct align_entry *entry_of(const struct align *a, uint32_t number)
{
    const struct align_history *h = &a->h;
    if (!number || number > h->calls || h->calls - number >= h->room)
        return NULL;
    return &h->ring[(number - 1) % h->room];
}

static void need_member(int world, void *to)
{
    struct members *m = to;
    const struct align_entry *e = m->of ? entry_of(m->of, m->number) : NULL;
    struct wait_item *it = e && world >= 0 ? add(m->x) : NULL;
    if (!it) {
        m->failed = 1;
        return;
    }
    it->need = NEED_CALL;
    it->key = m->of->key;
    it->world = world;
    it->number = m->number;
    it->hist = e->hist;
    m->added++;
}

static void call_text(const struct align *a, uint32_t number, const char *before, char *buf,
                      size_t len)
{
    char call[96] = "a collective call";
    const struct align_entry *e = entry_of(a, number);
    if (e)
        text_call(e, call, sizeof call);
    snprintf(buf, len, "%s%s on %s, call %u", before, call, a->name, number);
}

/* Beside collectives: no process returns before all members have called it. */
static const enum watch_call makers[] = {
    WATCH_COMM_DUP, WATCH_COMM_DUP_WITH_INFO, WATCH_COMM_IDUP, WATCH_COMM_IDUP_WITH_INFO,
    WATCH_COMM_CREATE, WATCH_COMM_SPLIT, WATCH_COMM_SPLIT_TYPE, WATCH_INTERCOMM_MERGE,
    WATCH_CART_CREATE, WATCH_CART_SUB, WATCH_GRAPH_CREATE, WATCH_DIST_GRAPH_CREATE,
    WATCH_DIST_GRAPH_CREATE_ADJACENT, WATCH_WIN_CREATE, WATCH_WIN_ALLOCATE,
    WATCH_WIN_ALLOCATE_SHARED, WATCH_WIN_CREATE_DYNAMIC, WATCH_WIN_FREE, WATCH_FILE_OPEN};

/* No process returns from such a call before all members have made it. */
static int synchronizes(const struct align *a, const struct align_entry *e)
{
    const uint32_t all = 1u << COLL_ALLREDUCE | 1u << COLL_ALLGATHER | 1u << COLL_ALLTOALL |
                         1u << COLL_REDUCE_SCATTER_BLOCK; /* each gets something of all */
    uint32_t call = e->what & ((1u << WHAT_FORM) - 1), modes = e->what >> WHAT_OP & 31;
    if (call < COLL_CALLS)
        return !a->between && (call == COLL_BARRIER || (all >> call & 1 && entry_bytes(e)));
    if (call == WATCH_WIN_FENCE)
        return modes <= OP_MODES || !((modes - OP_MODES) & 1); /* not with MPI_MODE_NOPRECEDE */
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (call == (uint32_t)makers[i])
            return 1;
    return 0;
}

static int need_members(struct waits *x, const struct align *a, const struct align_entry *e,
                        uint32_t number)
{
    struct wait_item *it = add(x);
    if (it)
        *it = (struct wait_item){.need = NEED_ALL, .key = a->key, .world = -1, .number = number,
                                 .hist = e->hist};
    return it != NULL;
}

static int need_turn(const struct progress_waiting *w, const struct check_turn *t, struct waits *x)
{
    uint32_t number = t->before.calls + 1;
    const struct align_entry *e = entry_of(t->of, number);
    struct members m = {.x = x, .of = t->of, .number = number};
    if (!e)
        return 0;
    call_text(t->of, number, "", x->call, sizeof x->call);
    if (synchronizes(t->of, e))
        return need_members(x, t->of, e, number);
    return coll_awaits(w->cond, w->arg, need_member, &m) && m.added;
}

/* --- requests --------------------------------------------------------------------------------- */

struct pending {
    struct waits *x;
    int requests, unknown;
    char first[WAITS_CALL]; /* text of the first */
};

static void need_request(struct request *r, void *to)
{
    struct pending *p = to;
    struct p2p_awaited a;
    struct members m = {.x = p->x};
    char text[WAITS_CALL] = "";
    int known = 0;
    if (p2p_request_awaits(r, &a)) {
        p->x->sends |= a.is_send;
        known = need_message(p->x, &a);
        message_text(&a, a.is_send ? "a send " : "a receive, ", text, sizeof text);
    } else if (part_awaits(r, &a)) {
        known = need_message(p->x, &a);
        message_text(&a, a.is_send ? "a partitioned send " : "a partitioned receive, ", text,
                     sizeof text);
    } else if (r->kind == REQUEST_COLL || r->kind == REQUEST_PERSISTENT_COLL) {
        int before = p->x->items;
        m.of = r->comm ? r->comm->check : NULL;
        m.number = coll_request_awaits(r, NULL, NULL);
        const struct align_entry *e = m.of ? entry_of(m.of, m.number) : NULL;
        if (e && synchronizes(m.of, e))
            known = need_members(p->x, m.of, e, m.number);
        else if (e && coll_request_awaits(r, need_member, &m))
            known = m.added && !m.failed;
        if (known)
            call_text(m.of, m.number, "", text, sizeof text);
        else
            p->x->items = before;
    }
    p->unknown |= !known;
    if (known && !p->requests++)
        snprintf(p->first, sizeof p->first, "%s", text);
}

static int need_requests(const struct progress_waiting *w, struct waits *x)
{
    struct pending p = {.x = x};
    enum request_await how = request_awaits(w->cond, w->arg, need_request, &p);
    if (how == REQUEST_AWAITS_NONE)
        return -1;
    if (continue_expects())
        return 0;
    x->mode = how == REQUEST_AWAITS_ALL ? WAIT_ALL : WAIT_ANY;
    snprintf(x->call, sizeof x->call, p.requests > 1 ? "%.30s(%.60s, and %d more)" : "%.30s(%.80s)",
             call_of(x, "a wait"), p.first, p.requests - 1);
    return x->items && (how == REQUEST_AWAITS_ALL || !p.unknown);
}

/* In MPI_Finalize: the sends whose requests were freed, which it waits for. Others go on by
 * themselves. */
static int need_left(struct waits *x)
{
    struct pending p = {.x = x};
    p2p_left_behind(need_request, &p);
    x->mode = WAIT_ALL;
    snprintf(x->call, sizeof x->call,
             p.requests > 1 ? "MPI_Finalize(%.60s, and %d more)" : "MPI_Finalize(%.80s)", p.first,
             p.requests - 1);
    return x->items;
}

/* --- all -------------------------------------------------------------------------------------- */

static int need_window(struct rma_win *win, struct waits *x)
{
    const struct align *of = rma_win_comm(win)->check;
    struct wait_item *it = of ? add(x) : NULL;
    if (!it)
        return 0;
    *it = (struct wait_item){.need = NEED_ANY, .key = of->key, .size = of->size, .world = -1};
    snprintf(x->call, sizeof x->call, "%s on %s", call_of(x, "a call"), of->name);
    return 1;
}

static int describe(const struct progress_waiting *w, struct waits *x)
{
    struct check *k = proc->check;
    struct p2p_awaited a;
    if (k->ending && p2p_is_receiving()) /* of a freed request: its sender goes on */
        return 0;
    if (k->ending && !p2p_is_drained())
        return need_left(x);
    if (k->ending) {
        x->mode = WAIT_ENDED;
        snprintf(x->call, sizeof x->call, "MPI_Finalize");
        return 1;
    }
    int is = w->cond ? p2p_awaits(w->cond, w->arg, &a) : 0;
    if (is > 0 && continue_expects()) /* a function may run in this wait, and do what others need */
        return 0;
    if (is > 0) {
        char text[64];
        x->sends = a.is_send;
        message_text(&a, "", text, sizeof text);
        snprintf(x->call, sizeof x->call, "%.40s(%s)", call_of(x, "a call"), text);
        return need_message(x, &a);
    }
    if (is == 0 || (is = need_requests(w, x)) >= 0)
        return is;
    const struct check_turn *t = k->inside;
    if (t)
        return t->of && t->before.calls < t->of->h.calls && need_turn(w, t, x);
    struct rma_win *win = rma_awaits(w->cond, w->arg);
    return win && need_window(win, x);
}

static void list_comms(struct waits *x)
{
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&proc->check->aligns, &at)) != NULL;) {
        const struct align *a = e->value;
        /* The judge knows of freed ones. Those that MPI_Finalize closed get no more messages. */
        if (a->comm && a->final != ALIGN_FREED && x->comms < WAIT_COMMS)
            x->comm[x->comms++] = (struct wait_comm){.key = a->key, .calls = a->h.calls};
    }
}

int waits_describe(const struct progress_waiting *w, struct waits *x)
{
    memset(x, 0, sizeof *x);
    /* another thread may make the call that is missing */
    if (proc->thread_level == MPI_THREAD_MULTIPLE)
        return 0;
    if (!proc->check->quiet)
        align_all();
    if (rma_notes_leave()) /* it may end another's wait for notifications, within any wait here */
        return 0;
    x->site = site_here();
    if (!describe(w, x))
        return 0;
    list_comms(x);
    uint64_t since = x->mode == WAIT_ENDED ? 1 : w->since;
    x->id = hash_bytes(hash_bytes(HASH_BYTES, &since, sizeof since), x->item,
                       (size_t)x->items * sizeof *x->item);
    return 1;
}

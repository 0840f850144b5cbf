/* agree.c - agreements: entering, waiting, messages, and what stays of them. Start with
 * agree_start(); the rules are in agree_step.c. */
#include "coll/agree.h"

#include <stdlib.h>
#include <string.h>

#include "am/am.h"
#include "base/log.h"
#include "boot/boot.h"
#include "coll/coll_types.h"
#include "coll/newcomm.h"
#include "obj/err.h"
#include "obj/failed.h"
#include "var/var.h"

/* Communicators that this process does not know (yet), of which messages came. An honest process
 * sends for one that is being made. */
enum { UNKNOWN_MAX = 4096 };
/* So many records stay before it is tried to free some. */
enum { SWEEP_MIN = 64 };

/* --- records -------------------------------------------------------------------------- */

static void next_op(struct agree *a);

static void on_failure(void)
{
    struct survive *s = proc->coll ? proc->coll->survive : NULL;
    size_t cursor = 0;
    if (s)
        revoke_failed(s);
    for (const struct map_entry *e; s && (e = map_next(&s->agrees, &cursor)) != NULL;) {
        struct agree *a = e->value;
        if (a->run && (rankmap_dead(a->group[0], 0) >= 0 ||
                       (a->group[1] && rankmap_dead(a->group[1], 0) >= 0)))
            agree_failed(a);
        next_op(a);
    }
}

static int look_again(void *arg)
{
    struct survive *s = arg;
    progress_hook_del(&s->gone);
    on_failure();
    return 1;
}

/* Not at once: the call that found it may be sending a message. */
static void on_leave(void)
{
    struct survive *s = proc->coll ? proc->coll->survive : NULL;
    if (!s)
        return;
    s->gone.fn = look_again;
    s->gone.arg = s;
    progress_hook_add(&s->gone);
}

struct survive *survive_room(void)
{
    struct coll_room *room = proc->coll;
    if (room->survive)
        return room->survive;
    struct survive *s = calloc(1, sizeof *s);
    if (!s)
        log_fatal("no memory to go on after failures");
    map_init(&s->agrees);
    s->sweep_at = SWEEP_MIN;
    map_init(&s->revocations);
    list_init(&s->unmade);
    list_init(&s->outbox);
    am_on_death(on_failure);
    boot_on_leave(on_leave);
    return room->survive = s;
}

static struct agree *record(uint64_t ctx)
{
    struct survive *s = survive_room();
    struct agree *a = map_get(&s->agrees, ctx);
    if (a)
        return a;
    a = calloc(1, sizeof *a);
    if (!a || map_put(&s->agrees, ctx, a))
        log_fatal("no memory to agree with other processes");
    a->ctx = ctx;
    s->unknown++;
    pvar_set_add(pvar_proc(), PVAR_AGREEMENTS, 1);
    list_init(&a->early);
    list_init(&a->ops);
    return a;
}

static void forget_run(struct agree *a)
{
    if (a->run)
        free(a->run->heard);
    free(a->run);
    a->run = NULL;
    rankmap_drop(a->group[0]);
    rankmap_drop(a->group[1]);
    a->group[0] = a->group[1] = NULL;
}

static void record_free(struct agree *a)
{
    forget_run(a);
    while (!list_empty(&a->early))
        free(LIST_OBJ(list_pop(&a->early), struct agree_early, link));
    free(a);
}

/* --- records that no process will ask for ----------------------------------------------- */

static int may_sweep(const struct survive *s)
{
    return s->agrees.count >= s->sweep_at || s->unknown >= UNKNOWN_MAX / 2;
}

/* Before this process enters an agreement. If all in the job that live enter that one, too, and are
 * in no other meanwhile, what they sent before is for no agreement to come: those members of it
 * would wait for this process, and this process waits for them (doc/design/survive.md). */
static void note_stale(const struct survive *s)
{
    size_t cursor = 0;
    for (const struct map_entry *e; (e = map_next(&s->agrees, &cursor)) != NULL;) {
        struct agree *a = e->value;
        a->stale = !a->known;
        for (struct list *l = a->early.next; l != &a->early; l = l->next)
            a->stale &= boot_is_own(LIST_OBJ(l, struct agree_early, link)->src);
    }
}

static int may_cover_job(int members)
{
    return members >= boot_size() - boot_failed_own();
}

/* Are all processes of this job that live members of a? */
static int covers_job(const struct agree *a)
{
    int here = 0;
    if (!may_cover_job(a->n))
        return 0;
    for (int m = 0; m < a->n; m++)
        here += boot_is_own(agree_world(a, m)) && !boot_failed(agree_world(a, m));
    return here == boot_size() - boot_failed_own();
}

static void mark(void *comm, void *survive)
{
    const struct comm *c = comm;
    const struct survive *s = survive;
    int side;
    struct agree *a = c->ctx_recv == CTX_NONE ? NULL : map_get(&s->agrees, agree_key(c, &side));
    if (a)
        a->marked = 1;
}

/* After an agreement of all living processes of the job, none of which was in another meanwhile:
 * each has ended those before (doc/design/survive.md). The records of communicators that live are
 * needed, to count. */
static void records_sweep(struct survive *s)
{
    struct agree **gone = malloc(s->agrees.count * sizeof *gone);
    size_t n = 0, cursor = 0;
    obj_each(OBJ_COMM, mark, s);
    for (struct list *l = proc->obj->revoked.next; l != &proc->obj->revoked; l = l->next)
        mark(LIST_OBJ(l, struct comm, hidden), s);
    mark(proc->obj->world, s);
    mark(proc->obj->self, s);
    for (const struct map_entry *e; (e = map_next(&s->agrees, &cursor)) != NULL;) {
        struct agree *a = e->value;
        int ended = a->known && a->own && list_empty(&a->ops) && !a->nearly;
        if (gone && !a->marked && (ended || (!a->known && a->stale)))
            gone[n++] = a;
        a->marked = 0;
    }
    for (size_t i = 0; i < n; i++) {
        map_del(&s->agrees, gone[i]->ctx);
        s->unknown -= !gone[i]->known;
        record_free(gone[i]);
    }
    pvar_set_add(pvar_proc(), PVAR_AGREEMENTS, -(uint64_t)n);
    free(gone);
    s->sweep_at = 2 * s->agrees.count > SWEEP_MIN ? 2 * s->agrees.count : SWEEP_MIN;
}

/* --- messages -------------------------------------------------------------------------- */

static size_t bytes_of(const struct agree_value *v)
{
    return offsetof(struct agree_msg, value.failed) + v->nfailed * sizeof v->failed[0];
}

void agree_send(const struct agree *a, int world, enum agree_step step, uint32_t ballot)
{
    const struct agree_run *run = a->run;
    struct agree_msg m = {.ctx = a->ctx, .number = a->number + 1, .step = step, .ballot = ballot,
                          .accepted = run->accepted, .part = run->part, .value = run->value};
    outbox_send(survive_room(), world, AM_COLL + COLL_PKT_AGREE, &m, bytes_of(&m.value));
}

void agree_end(struct agree *a)
{
    struct agree_run *run = a->run;
    for (int m = 0; run->heard && m < a->n; m++)
        if (m != a->me && run->heard[m] != AGREE_NOT)
            agree_send(a, agree_world(a, m), AGREE_DECIDE, (uint32_t)a->me + 1);
    a->value = run->value;
    for (uint32_t i = 0; i < a->value.nfailed; i++)
        boot_fail_now(agree_world(a, (int)a->value.failed[i]), "other processes agree on it");
    a->number++;
    struct survive *s = survive_room();
    int sweeps = a->value.alone && may_sweep(s) && covers_job(a);
    forget_run(a);
    if (sweeps)
        s->sweep_due = 1;
}

static int member_of(const struct agree *a, int world)
{
    int m = rankmap_find(a->group[0], world);
    if (m >= 0 || !a->group[1])
        return m;
    m = rankmap_find(a->group[1], world);
    return m < 0 ? -1 : a->group[0]->size + m;
}

static int malformed(int src)
{
    if (!boot_failed(src))
        am_malformed(src, "a message of an agreement");
    return 0;
}

static int well_formed(const struct agree_msg *m, size_t len)
{
    if (len < offsetof(struct agree_msg, value.failed) || m->value.nfailed > AGREE_NAMED ||
        len != bytes_of(&m->value))
        return 0;
    return m->number && m->step >= AGREE_UP && m->step <= AGREE_ASK && m->accepted <= INT_MAX &&
           m->ballot <= INT_MAX;
}

static void take(struct agree *a, int src, const struct agree_msg *m)
{
    int member = member_of(a, src), fine = member >= 0 && member != a->me;
    for (uint32_t i = 0; i < m->value.nfailed; i++)
        fine &= m->value.failed[i] < (uint32_t)a->n &&
                (!i || m->value.failed[i] > m->value.failed[i - 1]);
    if (!fine || !agree_take(a, member, m))
        malformed(src);
}

/* This process has not come to it. Each member sends a few of them, and
 * members may be of other jobs. */
static int put_early(struct agree *a, int src, const struct agree_msg *m, size_t len)
{
    if (a->nearly >= 4 * (unsigned)boot_universe() + 64)
        return malformed(src);
    struct agree_early *e = malloc(sizeof *e);
    if (!e)
        log_fatal("no memory for a message of process %d", src);
    e->src = src;
    memset(&e->msg, 0, sizeof e->msg);
    memcpy(&e->msg, m, len);
    list_push(&a->early, &e->link);
    a->nearly++;
    a->stale = 0;
    return 0;
}

/* The last agreement that has ended here. A member that can no longer get its value from where it
 * came asks; this process may be in the next one. */
static void answer(const struct agree *a, int src, const struct agree_msg *m)
{
    struct agree_msg last = {.ctx = a->ctx, .number = a->number, .step = AGREE_DECIDE,
                             .ballot = INT_MAX, .value = a->value};
    if (m->step == AGREE_REPORT || m->step == AGREE_ASK ||
        (m->step == AGREE_ACCEPT && m->ballot != AGREE_TREE))
        outbox_send(survive_room(), src, AM_COLL + COLL_PKT_AGREE, &last,
                    bytes_of(&last.value));
}

static int on_agree(int src, const void *msg, size_t len)
{
    struct agree_msg m = {0};
    if (!proc->coll)
        return 0;
    memcpy(&m, msg, len < sizeof m ? len : sizeof m);
    if (!well_formed(&m, len))
        return malformed(src);
    struct survive *s = survive_room();
    struct agree *a = map_get(&s->agrees, m.ctx);
    /* These answer what this process has contributed. So it is late: the record is freed. */
    if (!a && (m.step == AGREE_ACCEPT || m.step == AGREE_ACK || m.step == AGREE_DECIDE))
        return 0;
    if (!a && s->unknown >= UNKNOWN_MAX)
        return malformed(src);
    if (!a)
        a = record(m.ctx);
    int32_t ahead = (int32_t)(m.number - a->number);
    if (ahead == 1 && a->run) {
        take(a, src, &m);
        next_op(a);
    } else if (ahead > 0) {
        return put_early(a, src, &m, len);
    } else if (ahead == 0) {
        answer(a, src, &m);
    }
    return 0;
}

/* Those that came for the agreement which this process is in now. */
static void take_early(struct agree *a)
{
    uint32_t number = a->number + 1;
    for (struct list *l = a->early.next, *next; l != &a->early; l = next) {
        struct agree_early *e = LIST_OBJ(l, struct agree_early, link);
        next = l->next;
        if (e->msg.number != number)
            continue;
        list_del(&e->link);
        a->nearly--;
        if (a->run)
            take(a, e->src, &e->msg);
        else
            answer(a, e->src, &e->msg);
        free(e);
    }
}

/* --- one agreement ---------------------------------------------------------------------- */

uint64_t agree_key(const struct comm *c, int *side)
{
    uint64_t send = (uint64_t)(c->src & ~comm_rank_mask()) << 32 | c->ctx_send, recv = comm_ctx(c);
    *side = send < recv;
    return *side ? send : recv;
}

int agree_member(const struct comm *c, int *first, int *all)
{
    int side;
    (void)agree_key(c, &side);
    *first = side ? c->remote->size : c->size;
    *all = comm_members(c);
    return (side ? *first : 0) + c->rank;
}

static uint64_t mixed(uint64_t x)
{
    x = (x + 1) * 0x9e3779b97f4a7c15ull; /* 2^64 / golden ratio */
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ull;
    return x ^ (x >> 32);
}

/* blocks: this process makes no other call before this one has ended. */
static struct agree_part own_part(const struct comm *c, int side, enum agree_call call,
                                  uint32_t flag, int blocks)
{
    struct agree_part p = {.flag = {UINT32_MAX, UINT32_MAX}, .call = call, .alike = 1,
                           .alone = blocks && (!proc->threaded || proc->helped) &&
                                    !survive_room()->nops};
    p.flag[side] = flag;
    for (int i = 0, world; (world = comm_acked(c, &i)) >= 0;) {
        p.acked++;
        p.acked_sum += mixed((uint64_t)world);
    }
    return p;
}

static void enter(struct agree *a, const struct agree_op *op)
{
    const struct comm *c = op->c;
    int side, first;
    (void)agree_key(c, &side);
    a->run = calloc(1, sizeof *a->run);
    if (!a->run) /* the others would wait for ever */
        log_fatal("no memory to agree with other processes");
    survive_room()->unknown -= !a->known;
    a->known = 1;
    a->own = !newcomm_is_mixed(c);
    a->group[0] = rankmap_ref(side ? c->remote : c->map);
    a->group[1] = rankmap_ref(side ? c->map : c->remote);
    a->me = agree_member(c, &first, &a->n);
    a->run->part = op->part;
    a->run->from = op->from;
    if (rankmap_dead(c->map, 0) >= 0 || (c->remote && rankmap_dead(c->remote, 0) >= 0))
        agree_failed(a);
    else
        agree_begin(a);
    take_early(a);
}

static void op_ended(struct agree_op *op)
{
    int err = op->value.call ? MPI_SUCCESS
                             : err_make(MPI_ERR_OTHER, "members of the communicator are in "
                                                       "different calls: some agree, others "
                                                       "shrink it");
    err = op->ended(op, err);
    op->entered = err != AGREE_MORE;
    if (!op->entered)
        return;
    list_del(&op->link);
    survive_room()->nops--;
    comm_drop(op->c);
    request_complete(&op->r, err);
}

/* Ends the first call whose agreement has ended, and enters the next agreement, until one runs. */
static void next_op(struct agree *a)
{
    while (!a->run && !list_empty(&a->ops)) {
        struct agree_op *op = LIST_OBJ(a->ops.next, struct agree_op, link);
        if (op->entered) {
            op->value = a->value;
            op_ended(op);
        } else {
            op->entered = 1;
            enter(a, op);
        }
    }
}

void agree_start(struct agree_op *op, struct comm *c, enum agree_call call, uint32_t flag,
                 int blocks, const struct request_ops *ops)
{
    int side;
    struct agree *a = record(agree_key(c, &side));
    struct survive *s = survive_room();
    request_init(&op->r, REQUEST_COLL, ops, c);
    op->r.what = "the living members to agree";
    op->c = comm_ref(c);
    op->part = own_part(c, side, call, flag, blocks);
    op->from = 0;
    op->entered = 0;
    int others = s->unknown > (unsigned)!a->known; /* are unknown */
    if (others && op->part.alone && may_sweep(s) && may_cover_job(comm_members(c)))
        note_stale(s);
    list_push(&a->ops, &op->link);
    s->nops++;
    next_op(a);
}

static int has_ended(void *arg)
{
    const struct agree_op *op = arg;
    return op->r.done;
}

int agree_wait(struct agree_op *op)
{
    struct survive *s = survive_room();
    progress_wait_why(has_ended, op, "the living members to agree", -1, WHY_COLLECTIVE, NULL);
    if (s->sweep_due)
        records_sweep(s);
    s->sweep_due = 0;
    return op->r.error;
}

/* --- life -------------------------------------------------------------------------------- */

void survive_start(void)
{
    am_handler(AM_COLL + COLL_PKT_AGREE, on_agree);
    revoke_start();
}

void survive_stop(void)
{
    struct survive *s = proc->coll->survive;
    size_t cursor = 0;
    if (!s)
        return;
    progress_hook_del(&s->gone);
    outbox_free(s);
    revoke_free(s);
    for (const struct map_entry *e; (e = map_next(&s->agrees, &cursor)) != NULL;)
        record_free(e->value);
    map_destroy(&s->agrees);
    free(s);
    proc->coll->survive = NULL;
}

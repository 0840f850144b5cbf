/* schedule.c - the life of schedules (schedule.h): they are made, run, and freed. Start with
 * sched_make() and sched_begin(). */
#include "coll/schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "am/am.h"
#include "base/log.h"
#include "base/proc.h"
#include "boot/boot.h"
#include "coll/coll_types.h"
#include "mem/mem.h"
#include "obj/err.h"
#include "p2p/p2p.h"

/* --- life ----------------------------------------------------------------- */

static void hold(struct coll_args *a)
{
    if (a->stype)
        dt_ref(a->stype);
    if (a->rtype)
        dt_ref(a->rtype);
    if (a->op)
        dt_op_ref(a->op);
}

static void let_go(struct coll_args *a)
{
    if (a->stype)
        dt_drop(a->stype);
    if (a->rtype)
        dt_drop(a->rtype);
    if (a->op)
        dt_op_drop(a->op);
}

static void free_mem(struct sched *s)
{
    while (s->mem) {
        struct sched_mem *m = s->mem;
        s->mem = m->next;
        sched_mem_keep(m);
    }
}

void sched_reset(struct sched *s)
{
    for (unsigned i = 0; i < s->n; i++) {
        /* w forms have types of their own, which the user may free meanwhile */
        if (s->steps[i].type)
            dt_drop(s->steps[i].type);
        if (s->steps[i].type2)
            dt_drop(s->steps[i].type2);
    }
    free_mem(s);
    s->n = s->at = s->done = 0;
    s->error = s->doomed = s->poor = s->late = s->all_or_none = s->all_members = 0;
    sched_global(s);
}

static int start(struct request *r)
{
    struct sched *s = (struct sched *)r;
    if (s->args.comm->revoked)
        return comm_revoked_error();
    sched_reset(s);
    proc->coll->build(s);
    sched_begin(s);
    return MPI_SUCCESS;
}

static void free_request(struct request *r)
{
    sched_destroy((struct sched *)r);
}

static const struct request_ops sched_ops = {.start = start, .free = free_request};

void sched_cannot(const struct comm *c)
{
    char limits[256];
    if (comm_members(c) > 1)
        log_fatal("%s: out of memory: this process cannot take part, and the other %d of its "
                  "communicator would wait for ever; limits: %s",
                  proc->call ? proc->call : "MPI call", comm_members(c) - 1,
                  mem_limits(limits, sizeof limits, 1));
}

static struct sched *make(const struct coll_args *a, int tag, int local_tag)
{
    struct coll_room *room = proc->coll;
    struct sched *s = room->free;
    if (s)
        room->free = s->next_free;
    else if (!(s = sched_blank())) {
        sched_cannot(a->comm);
        return NULL;
    }
    request_init(&s->r, REQUEST_COLL, &sched_ops, a->comm);
    s->r.what = "a collective operation";
    s->args = *a;
    s->n = 0;
    s->mem = NULL;
    s->running = 0;
    s->holds = 0;
    s->owned[0] = s->owned[1] = NULL;
    s->stream = P2P_COLL;
    list_init(&s->link);
    s->tags[0] = tag;
    s->tags[1] = local_tag;
    s->ahead = 0;
    sched_reset(s);
    return s;
}

struct sched *sched_make(const struct coll_args *a)
{
    int tag = coll_tag(a->comm);
    return make(a, tag, a->comm->local ? coll_tag(a->comm->local) : 0);
}

struct sched *sched_make_behind(const struct coll_args *a, int tag, uint64_t ahead)
{
    struct sched *s = make(a, tag, a->comm->local ? coll_tag(a->comm->local) : 0);
    if (s)
        s->ahead = ahead;
    return s;
}

struct sched *sched_idle(const struct coll_args *a)
{
    struct coll_room *room = proc->coll;
    if (!room->free && !(room->free = sched_blank())) {
        coll_tag(a->comm); /* in step with the others */
        if (a->comm->local)
            coll_tag(a->comm->local);
        return NULL;
    }
    return sched_make(a);
}

struct sched *sched_aside(struct comm *c, int tag)
{
    struct sched *s = make(&(struct coll_args){.call = COLL_BCAST, .comm = c}, tag, tag);
    if (s)
        s->stream = P2P_TOOL;
    return s;
}

void sched_destroy(struct sched *s)
{
    struct coll_room *room = proc->coll;
    sched_reset(s);
    if (s->holds)
        let_go(&s->args);
    free(s->owned[0]);
    free(s->owned[1]);
    if (s->room > SCHED_STEPS)
        sched_short_again(s);
    s->next_free = room->free;
    room->free = s;
}

/* --- errors ----------------------------------------------------------------- */

int sched_exact(enum coll_call call)
{
    const unsigned loose = 1u << COLL_GATHERV | 1u << COLL_SCATTERV | 1u << COLL_ALLGATHERV |
                           1u << COLL_ALLTOALLV | 1u << COLL_ALLTOALLW |
                           1u << COLL_NEIGHBOR_ALLGATHERV | 1u << COLL_NEIGHBOR_ALLTOALLV |
                           1u << COLL_NEIGHBOR_ALLTOALLW;
    return !(loose >> call & 1);
}

void sched_fail(struct sched *s, int err)
{
    if (!s->error)
        s->error = err;
}

/* The error came in a message. It may belong to another call, of a member that has left because of
 * a failure. */
static int doubtful(int err)
{
    return err && (err_class(err) == MPI_ERR_TRUNCATE || err_class(err) == MPI_ERR_OTHER);
}

/* The schedule ends here. MPI_ERR_TRUNCATE would say that it has run to its end. */
static void doom(struct sched *s, int err)
{
    if (doubtful(s->error))
        s->error = MPI_SUCCESS;
    sched_fail(s, err);
    s->doomed = 1;
}

void sched_doom_by(struct sched *s, int err)
{
    if (err_class(err) == MPI_ERR_NO_MEM)
        sched_cannot(s->args.comm);
    doom(s, err);
}

int sched_no_memory(void)
{
    return err_make(MPI_ERR_NO_MEM, "no memory for the steps or buffers of a collective operation");
}

void sched_make_poor(struct sched *s)
{
    s->poor = 1;
    sched_fail(s, sched_no_memory());
}

/* --- running ------------------------------------------------------------------ */

/* 1: there was no request for it. Inline: advance() has no test of that for steps that go. */
static inline __attribute__((always_inline)) int issue(struct sched *s, struct step *p)
{
    int err = MPI_SUCCESS;
    switch (p->kind) {
    case STEP_SEND: /* after an error the data are useless: an empty message reports it */
        if (p2p_send_at_once(p->from, s->error ? 0 : p->n, p->type, p->peer, p->tag, p->comm,
                             s->stream))
            break;
        err = p2p_isend_later(p->from, s->error ? 0 : p->n, p->type, p->peer, p->tag, p->comm,
                              s->stream, &p->req);
        break;
    case STEP_RECV:
        err = p2p_irecv(p->to, s->poor ? 0 : p->n, p->type, p->peer, p->tag, p->comm, s->stream,
                        &p->req);
        break;
    case STEP_COPY:
        if (!s->poor)
            dt_copy(p->from, (size_t)p->n, p->type, p->to, (size_t)p->n2, p->type2);
        break;
    case STEP_REDUCE:
        if (!s->poor)
            dt_op_apply(p->op, p->from, p->to, (size_t)p->n, p->type);
        break;
    case STEP_CALL:
        p->call(p->to);
        break;
    case STEP_FENCE:
        break;
    }
    if (__builtin_expect(err && err_class(err) == MPI_ERR_NO_MEM, 0)) {
        p->req = &proc->coll->lacking;
        return s->late = 1;
    }
    if (err)
        doom(s, err);
    return 0;
}

static int member_dead(struct sched *s)
{
    return am_failed_count() && coll_failed_member(s->args.comm) >= 0;
}

static void end_by_death(struct sched *s)
{
    int member = coll_dead_member(s->args.comm), world = member < 0 ? boot_failed_last() : member;
    doom(s, err_make(MPIX_ERR_PROC_FAILED, "process %d of the job has died: %s", world,
                     boot_failed_why(world)));
}

/* A checker has found that the members' calls differ, or the communicator was revoked. What has
 * gone wrong by that before is no news. */
static void end_by_verdict(struct sched *s)
{
    s->error = comm_verdict(s->args.comm);
    s->doomed = 1;
}

/* One request that is done. Short and long messages (mismatched calls) are reported at the end, so
 * that the others do not wait for ever; a failure of a process ends the schedule. */
static void settle(struct sched *s, struct step *p)
{
    size_t got = (size_t)status_count(&p->req->status), want = (size_t)p->n * (size_t)p->type->size;
    int err = request_finish(p->req, NULL);
    p->req = NULL;
    if (!err && p->kind == STEP_RECV && got < want && sched_exact(s->args.call))
        err = sched_mismatch(got, want);
    else if (err && p->kind == STEP_RECV && err_class(err) == MPI_ERR_TRUNCATE)
        /* ranks and tags internal to the schedule would mislead */
        err = err_make(MPI_ERR_TRUNCATE,
                       "more than the %zu bytes that are expected came: counts or types of the "
                       "processes differ%s",
                       want, coll_hint());
    if (!err)
        return;
    if (doubtful(err) && coll_dead_member(s->args.comm) >= 0) {
        end_by_death(s);
        return;
    }
    if (err_class(err) != MPI_ERR_TRUNCATE && err_class(err) != MPI_ERR_TYPE)
        sched_doom_by(s, err);
    else
        sched_fail(s, err);
}

/* Steps that had no request get one as others end, in order: sends among themselves, receives among
 * themselves. A receive leaves spare ones to sends (P2P_SPARES_SEND), so two such processes do not
 * wait for each other. */
static __attribute__((noinline, cold)) void issue_late(struct sched *s)
{
    struct request *lacking = &proc->coll->lacking;
    int stuck[2] = {0, 0}, under_way = 0;
    for (unsigned i = s->done; i < s->at && !s->doomed; i++)
        if (s->steps[i].req && s->steps[i].req->done)
            settle(s, &s->steps[i]);
    s->late = 0;
    for (unsigned i = s->done; i < s->at && !s->doomed; i++) {
        struct step *p = &s->steps[i];
        int *is_stuck = &stuck[p->kind == STEP_SEND];
        if (p->req == lacking && !*is_stuck) {
            p->req = NULL;
            (void)issue(s, p);
        }
        *is_stuck |= p->req == lacking;
        under_way += p->req && p->req != lacking;
    }
    s->late = stuck[0] | stuck[1];
    if (s->late && !under_way)
        sched_doom_by(s, sched_no_memory());
}

/* A step had no request. Messages of those up to the fence are late as well: they keep their
 * order. */
static __attribute__((noinline, cold)) void wait_in_order(struct sched *s)
{
    for (; s->at < s->n && s->steps[s->at].kind != STEP_FENCE; s->at++) {
        struct step *p = &s->steps[s->at];
        if (p->kind == STEP_SEND || p->kind == STEP_RECV)
            p->req = &proc->coll->lacking;
        else
            (void)issue(s, p);
    }
}

/* Give up what is under way. Number of messages that go on: a receive that data have reached, a
 * send that its receiver may be reading. They use the user's buffers, which the user may change or
 * free when the call returns. So they are waited for: the other side lives and answers, or ends
 * them by failing, or, of another job, by MPI_Finalize. */
static int open_messages(struct sched *s)
{
    int n = 0;
    for (unsigned i = s->done; i < s->at; i++) {
        struct step *p = &s->steps[i];
        if (p->req == &proc->coll->lacking)
            p->req = NULL;
        if (!p->req || p->req->done)
            continue;
        p->req->ops->cancel(p->req); /* again: what could not be may be now */
        p2p_give_up(p->req);
        n += !p->req->done;
    }
    return n;
}

static void drop_requests(struct sched *s)
{
    for (unsigned i = s->done; i < s->at; i++) {
        if (s->steps[i].req)
            request_finish(s->steps[i].req, NULL);
        s->steps[i].req = NULL;
    }
}

static int finished(struct sched *s)
{
    if (doubtful(s->error) && coll_dead_member(s->args.comm) >= 0) /* seen by now */
        end_by_death(s);
    return 1;
}

/* The request of p is not done. 0: it need not be waited for any more. */
static __attribute__((noinline)) int must_wait(struct sched *s, const struct step *p)
{
    /* A peer that it waits for may live, and have given up because of the failed process. */
    if (member_dead(s))
        end_by_death(s);
    else if (comm_misaligned(s->args.comm) && !s->all_or_none)
        end_by_verdict(s);
    else if (s->late)
        issue_late(s);
    return !s->doomed && p->req && !p->req->done;
}

/* A call of all members that begins when one has died does not wait for what that one had sent. */
static __attribute__((noinline, cold)) int ends_by_death(struct sched *s)
{
    if (!s->at && s->all_members && coll_dead_member(s->args.comm) >= 0)
        return 1;
    return am_failed_count() && (s->all_or_none || (s->all_members && member_dead(s)));
}

/* Run as far as possible without waiting. 1: the schedule has ended. */
static int advance(struct sched *s)
{
    if (boot_failed_count() && !s->doomed && ends_by_death(s))
        end_by_death(s);
    while (!s->doomed) {
        for (; s->done < s->at; s->done++) {
            struct step *p = &s->steps[s->done];
            if (!p->req)
                continue;
            if (!p->req->done && must_wait(s, p))
                return 0;
            if (!s->doomed && p->req)
                settle(s, p);
            if (s->doomed)
                break;
        }
        if (s->doomed)
            break;
        if (s->at == s->n)
            return finished(s);
        while (s->at < s->n && !s->doomed) {
            struct step *p = &s->steps[s->at++];
            if (p->kind == STEP_FENCE)
                break;
            if (issue(s, p))
                wait_in_order(s);
        }
    }
    if (open_messages(s))
        return 0;
    drop_requests(s);
    return 1;
}

static int drive(void *arg)
{
    struct coll_room *room = arg;
    int events = 0;
    for (struct list *l = room->active.next, *next; l != &room->active; l = next) {
        struct sched *s = LIST_OBJ(l, struct sched, link);
        unsigned before = s->done + s->at;
        next = l->next;
        if (advance(s)) {
            list_del(&s->link);
            request_complete(&s->r, s->error);
            events++;
        } else {
            events += s->done + s->at != before;
        }
    }
    if (list_empty(&room->active))
        progress_hook_del(&room->hook);
    return events;
}

void sched_begin(struct sched *s)
{
    struct coll_room *room = proc->coll;
    if (!s->holds) {
        hold(&s->args);
        s->holds = 1;
    }
    if (advance(s)) {
        request_complete(&s->r, s->error);
        return;
    }
    room->hook.fn = drive;
    room->hook.arg = room;
    room->hook.program = 1; /* operations of the program */
    list_push(&room->active, &s->link);
    progress_hook_add(&room->hook);
}

static int run_on(void *arg)
{
    return advance(arg);
}

struct run {
    struct sched *s;
    int (*beside)(void *arg);
    void *arg;
};

static int run_beside(void *arg)
{
    const struct run *r = arg;
    return advance(r->s) || (r->beside(r->arg) && advance(r->s));
}

void sched_issue(struct sched *s)
{
    s->stream |= P2P_AWAITED;
    while (s->at < s->n && s->steps[s->at].kind != STEP_FENCE && !s->doomed) {
        struct step *p = &s->steps[s->at++];
        if (issue(s, p))
            wait_in_order(s);
    }
}

void sched_unexpect(struct sched *s, int peer)
{
    for (unsigned i = s->done; i < s->at; i++) {
        struct step *p = &s->steps[i];
        if (p->kind != STEP_RECV || p->peer != peer || !p->req || p->req->done)
            continue;
        if (p->req == &proc->coll->lacking)
            p->req = NULL;
        else
            p->req->ops->cancel(p->req);
    }
}

static void awaits(const struct sched *s, void (*each)(int world, void *to), void *to)
{
    for (unsigned i = s->done; i < s->at; i++)
        if (s->steps[i].req && !s->steps[i].req->done)
            each(comm_peer_world(s->steps[i].comm, s->steps[i].peer), to);
}

int sched_awaits(int (*cond)(void *), void *arg, void (*each)(int world, void *to), void *to)
{
    if (cond == run_on)
        awaits(arg, each, to);
    else if (cond == run_beside)
        awaits(((const struct run *)arg)->s, each, to);
    return cond == run_on || cond == run_beside;
}

uint32_t coll_request_awaits(const struct request *r, void (*each)(int world, void *to), void *to)
{
    const struct sched *s = request_is(r, &sched_ops) ? (const struct sched *)r : NULL;
    if (s && each)
        awaits(s, each, to);
    return s ? s->args.number : 0;
}

void sched_persist(struct sched *s)
{
    struct comm *c = s->r.comm;
    request_init(&s->r, REQUEST_PERSISTENT_COLL, &sched_ops, c);
    s->r.what = "a collective operation";
    hold(&s->args);
    s->holds = 1;
}

int sched_run(struct sched *s)
{
    s->stream |= P2P_AWAITED; /* so both processes may copy long messages (p2p/by_am.c) */
    progress_wait_why(run_on, s, s->r.what, -1, WHY_COLLECTIVE, NULL);
    int err = s->error;
    sched_destroy(s);
    return err;
}

int sched_run_beside(struct sched *s, int (*beside)(void *arg), void *arg)
{
    struct run r = {s, beside, arg};
    s->stream |= P2P_AWAITED;
    progress_wait_why(run_beside, &r, s->r.what, -1, WHY_COLLECTIVE, NULL);
    int err = s->error;
    sched_destroy(s);
    return err;
}

/* turns.c - the calls that are compared: what is noted when one begins and when it has ended. Start
 * with begins() and ended(). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "align/align_types.h"
#include "align/repeat.h"
#include "boot/boot.h"
#include "coll/newcomm.h"
#include "io/io.h"
#include "obj/err.h"
#include "rma/rma.h"
#include "var/var.h"

/* From level 2 on a call meets no other than the same one, after the same calls. */
static void guard(struct comm *c, const struct align *a)
{
    if (cvar.coll_check >= CHECK_GUARD && !a->unguarded)
        coll_note(c, (uint32_t)a->h.hist);
}

/* Level 3. Freeing may be at any time, and threads may do anything. */
static void strict(struct align *a, struct align_call *call)
{
    uint32_t what = call->what & ((1u << WHAT_FORM) - 1);
    int blocks = (call->what >> WHAT_FORM & 3) == WATCH_BLOCKING && what != WATCH_COMM_FREE &&
                 what != WATCH_COMM_DISCONNECT;
    if (!a->pos && (a->pos = calloc(1, sizeof *a->pos)) != NULL)
        a->pos->refs = 1;
    if (!a->pos || !blocks || proc->thread_level == MPI_THREAD_MULTIPLE)
        return;
    for (const struct align_pos *p = a->pos->over; p && !a->between; p = p->over)
        call->pos += p->blocking;
    a->pos->blocking++;
}

static int enter(struct comm *c, struct align_call *call, const void *site,
                 struct check_turn *turn)
{
    struct check *k = proc->check;
    struct align *a = align_of(c);
    *turn = (struct check_turn){.outer = k->inside, .of = a};
    k->inside = turn;
    if (!a)
        return MPI_SUCCESS;
    turn->comm = comm_ref(c);
    if (c->misaligned)
        return comm_verdict(c);
    turn->before = (struct check_before){a->h.hist, a->h.types, a->h.calls, a->h.blocking,
                                         a->h.soft};
    if (cvar.coll_check >= CHECK_STRICT)
        strict(a, call);
    history_add(&a->h, call, site, (uint32_t)cvar.coll_check_ring);
    guard(c, a);
    return MPI_SUCCESS;
}

static __attribute__((noinline)) int coll_slowly(const struct coll_args *a, enum watch_form form,
                                                 const void *site, struct check_turn *turn)
{
    struct align_call call;
    digest_coll(a, form, &call);
    int err = enter(a->comm, &call, site, turn);
    if (turn->of && !err && cvar.coll_check < CHECK_STRICT)
        history_keep(&turn->of->h, a, form, &call, site);
    if (__builtin_expect(a->call == COLL_ALLTOALLV && turn->of, 0) && !err)
        history_elements(&turn->of->h, a);
    return err;
}

/* Such a call is not refused: nothing is noted for undo() but the number. */
__attribute__((noinline)) int check_coll(const struct coll_args *a, enum watch_form form,
                                         const void *site, struct check_turn *turn)
{
    struct check *k = proc->check;
    struct comm *c = a->comm;
    struct align *of = c->check;
    uint32_t before = of ? of->h.calls : 0;
    const struct align_repeat *r = NULL;
    if (of && !c->misaligned)
        r = history_repeats(&of->h, a, form, site);
    if (!r)
        return coll_slowly(a, form, site, turn);
    history_put(&of->h, r, 0);
    turn->outer = k->inside;
    turn->of = of;
    turn->comm = c;
    turn->refused = 0;
    turn->before.calls = before;
    k->inside = turn;
    c->obj.refs++;
    if (cvar.coll_check >= CHECK_GUARD)
        guard(c, of);
    return MPI_SUCCESS;
}

/* At level 2 the others wait for the note alone. */
static int may_follow(const struct watch_turn *t)
{
    const struct coll_args *a = t->args;
    struct comm *c = a->comm;
    struct align *of = c->check;
    if (!of || c->misaligned)
        return 0;
    if (cvar.coll_check < CHECK_GUARD)
        return 1;
    const struct align_repeat *r = history_repeats(&of->h, a, WATCH_BLOCKING, t->site);
    if (r && !of->unguarded)
        coll_note(c, (uint32_t)hash_mix(of->h.hist, r->key));
    return r != NULL;
}

static struct align_call plain(const struct comm *c, enum watch_call call)
{
    int later = call == WATCH_COMM_IDUP || call == WATCH_COMM_IDUP_WITH_INFO ||
                call == WATCH_WIN_IALLOCATE || call == WATCH_WIN_ICREATE;
    uint32_t form = later ? WATCH_NONBLOCKING : WATCH_BLOCKING;
    return (struct align_call){.what = (uint32_t)call | form << WHAT_FORM |
                                       (uint32_t)ROOT_NONE << WHAT_ROOT,
                               .between = c->remote != NULL, .amount = AMOUNT_NONE};
}

/* The history is that of the window's own communicator. */
static int win_begins(const struct watch_turn *t, struct align_call *what, struct check_turn *turn)
{
    struct rma_win *w = t->win;
    struct comm *c = rma_win_comm(w);
    const char *name = rma_win_name(w);
    int modes = (t->assert & MPI_MODE_NOPRECEDE ? 1 : 0) | (t->assert & MPI_MODE_NOSUCCEED ? 2 : 0);
    if (t->call == WATCH_WIN_FENCE && modes)
        what->what |= (uint32_t)(OP_MODES + modes) << WHAT_OP;
    if (t->call == WATCH_WIN_FENCE && modes & 1)
        fence_check(t);
    int first = !c->check || !c->check->h.calls, err = enter(c, what, t->site, turn);
    if (c->errhandler != *rma_win_errhandler(w)) /* it decides whether a verdict ends the job */
        comm_set_errhandler(c, *rma_win_errhandler(w));
    if (turn->of && first)
        snprintf(turn->of->name, sizeof turn->of->name, *name ? "window %.50s" : "a window", name);
    return err;
}

/* What calls on a file do inside may come later than the next call, so they carry no note
 * (level 2). */
static int file_begins(const struct watch_turn *t, struct align_call *what, struct check_turn *turn)
{
    struct comm *c = io_comm(t->file);
    struct align *a = align_of(c);
    what->what |= (uint32_t)t->form << WHAT_FORM;
    what->what |= t->part ? (uint32_t)(OP_PARTS + t->part) << WHAT_OP : 0;
    if (a && !a->h.calls)
        snprintf(a->name, sizeof a->name, "a file");
    if (a)
        a->unguarded = 1;
    if (c->errhandler != *io_errhandler(t->file)) /* it decides whether a verdict ends the job */
        comm_set_errhandler(c, *io_errhandler(t->file));
    return enter(c, what, t->site, turn);
}

static struct check_turn *turn_of(struct watch_turn *t)
{
    _Static_assert(sizeof(struct check_turn) <= sizeof t->kept, "it is kept there");
    return (struct check_turn *)(void *)t->kept;
}

static int begins(struct watch_turn *t)
{
    struct check_turn *turn = turn_of(t);
    int err;
    if (t->args) {
        err = check_coll(t->args, t->form, t->site, turn);
        t->args->number = turn->of ? turn->before.calls + 1 : 0;
    } else {
        const struct comm *c = t->win ? rma_win_comm(t->win) : t->file ? io_comm(t->file) : t->comm;
        struct align_call what = plain(c, (enum watch_call)t->call);
        err = t->win    ? win_begins(t, &what, turn)
              : t->file ? file_begins(t, &what, turn)
                        : enter(t->comm, &what, t->site, turn);
    }
    turn->began = !err;
    return err;
}

/* Did the call with this error do nothing that other processes hear of? */
static int is_no_call(const struct watch_turn *t, int cls)
{
    if (t->call == WATCH_WIN_FENCE)
        return cls == MPI_ERR_RMA_SYNC || cls == MPI_ERR_ASSERT;
    if (t->part) /* of no access, or while another one is open */
        return cls == MPI_ERR_UNSUPPORTED_OPERATION;
    return t->call == WATCH_WIN_FREE; /* an epoch is open, or a callback returned an error */
}

static int ended(struct watch_turn *t, int err)
{
    struct check_turn *turn = turn_of(t);
    turn->refused = err && turn->began && is_no_call(t, err_class(err));
    return check_leave(turn, err);
}

static void comm_made(struct comm *c, struct comm *n, enum watch_call call, const void *site)
{
    if (call == WATCH_CALLS && cvar.coll_check < CHECK_STRICT)
        return;
    struct align *over = align_of(c), *a = align_of(n);
    struct align_call what = plain(n, call);
    if (!a)
        return;
    if (cvar.coll_check >= CHECK_STRICT && !a->pos && (a->pos = calloc(1, sizeof *a->pos))) {
        a->pos->refs = 1;
        if (over && over->pos && !over->between) {
            a->pos->over = over->pos;
            over->pos->refs++;
        }
    }
    if (call == WATCH_CALLS)
        return;
    history_add(&a->h, &what, site, (uint32_t)cvar.coll_check_ring);
    guard(n, a);
}

/* A call that was refused here, before others heard of it. */
static void undo(struct align *a, const struct check_turn *turn)
{
    const struct check_before *b = &turn->before;
    if (a->h.calls != b->calls + 1 || a->sent > b->calls + 1)
        return;
    a->h.hist = b->hist;
    a->h.types = b->types;
    a->h.calls = b->calls;
    a->h.blocking = b->blocking;
    a->h.soft = b->soft;
    guard(turn->comm, a);
}

/* After an error of a failure, which may come before the news of it, nothing is judged. */
static void note_failed(int err)
{
    int cls = err_class(err);
    proc->check->blind |= cls == MPIX_ERR_PROC_FAILED || cls == MPIX_ERR_PROC_FAILED_PENDING ||
                          cls == MPIX_ERR_REVOKED;
}

/* May the error come from calls that differ? */
static int can_explain(int err)
{
    int cls = err_class(err);
    return cls == MPI_ERR_TRUNCATE || cls == MPI_ERR_TYPE || cls == MPI_ERR_OTHER;
}

static __attribute__((noinline)) int leave_slowly(struct check_turn *turn, int err)
{
    struct check *k = proc->check;
    struct align *a = turn->of;
    struct check_turn **at = &k->inside;
    while (*at && *at != turn) /* other threads' calls may lie above it */
        at = &(*at)->outer;
    if (*at)
        *at = turn->outer;
    if (!a)
        return err;
    if (err)
        note_failed(err);
    if (err && turn->refused && turn->comm->check == a)
        undo(a, turn);
    if (err && can_explain(err) && !calls_may_differ() && turn->comm->check == a)
        judge_explain(a);
    if (err && turn->comm->misaligned && err_class(err) != MPIX_ERR_PROC_FAILED)
        err = comm_verdict(turn->comm);
    comm_drop(turn->comm);
    return err;
}

__attribute__((noinline)) int check_leave(struct check_turn *turn, int err)
{
    struct check *k = proc->check;
    struct comm *c = turn->comm;
    if (err || !turn->of || c->misaligned || k->inside != turn || c->obj.refs < 2)
        return leave_slowly(turn, err);
    k->inside = turn->outer;
    c->obj.refs--;
    return MPI_SUCCESS;
}

static int fails(struct comm *c, int err)
{
    struct align *a = c->check;
    note_failed(err);
    if (!can_explain(err) || !a || calls_may_differ() || a->h.calls == a->h.blocking)
        return err;
    judge_explain(a);
    return c->misaligned ? comm_verdict(c) : err;
}

static void freed(struct comm *c, const struct align_call *call, const void *site)
{
    struct align *a = align_of(c);
    if (!a || a->final)
        return;
    if (call)
        history_add(&a->h, call, site, (uint32_t)cvar.coll_check_ring);
    align_close(a, ALIGN_FREED);
    if (a->judge != boot_rank())
        judge_send_ring(a, RING_ACK); /* MPI_Finalize waits for the answer */
    else
        judge_look(a, LOOK_EARLY);
}

static void comm_freed(struct comm *c, enum watch_call call, const void *site)
{
    struct align_call what = plain(c, call);
    freed(c, &what, site);
}

/* That of a window or a file. */
static void own_freed(struct comm *c)
{
    freed(c, NULL, NULL);
}

static void win_made(struct comm *c, struct rma_win *w, const void *site)
{
    comm_made(c, rma_win_comm(w), WATCH_CALLS, site);
}

static void file_made(struct comm *c, struct io_file *f)
{
    comm_made(c, io_comm(f), WATCH_CALLS, NULL);
}

const struct watcher align_watcher = {
    .begins = begins, .ended = ended, .may_follow = may_follow, .comm_made = comm_made,
    .comm_freed = comm_freed, .win_made = win_made, .win_freed = own_freed,
    .file_made = file_made, .file_freed = own_freed, .fails = fails,
    .sending = cross_sending, .took = cross_received, .waited = cross_waited};

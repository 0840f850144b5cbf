/* align.c - the record of each communicator, and what api/ calls. */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/align_types.h"
#include "align/repeat.h"
#include "boot/boot.h"
#include "coll/newcomm.h"
#include "io/io.h"
#include "obj/err.h"
#include "obj/errhandler.h"
#include "rma/rma.h"
#include "var/var.h"

/* --- records ---------------------------------------------------------------------------------- */

struct align *align_find(uint64_t key, int make)
{
    struct check *k = proc->check;
    struct align *a = map_get(&k->aligns, key + 1);
    if (a || !make)
        return a;
    a = calloc(1, sizeof *a);
    if (!a || map_put(&k->aligns, key + 1, a)) {
        free(a);
        return NULL;
    }
    a->key = key;
    a->judge = -1;
    a->rank = -1;
    a->fatal = 1;
    list_init(&a->others);
    return a;
}

static void pos_drop(struct align_pos *p)
{
    while (p && --p->refs == 0) {
        struct align_pos *over = p->over;
        free(p);
        p = over;
    }
}

void align_drop(struct align *a)
{
    struct check *k = proc->check;
    struct list *l;
    if (a->comm) {
        a->comm->check = NULL;
        comm_set_misaligned(a->comm, NULL);
    }
    if (k)
        map_del(&k->aligns, a->key + 1);
    if (a->look)
        k->pending--;
    while ((l = list_pop(&a->others)) != NULL)
        free(LIST_OBJ(l, struct align_others, link));
    pos_drop(a->pos);
    cross_drop(a);
    free(a->h.ring);
    free(a->verdict);
    free(a);
}

/* The group whose rank 0 is the judge: between groups, the one with the lower first process. */
static int judged_here(const struct comm *c)
{
    return !c->remote || rankmap_world(c->map, 0) < rankmap_world(c->remote, 0);
}

static uint64_t key_of(const struct comm *c)
{
    if (judged_here(c))
        return comm_ctx(c);
    return (uint64_t)(c->src & ~comm_rank_mask()) << 32 | c->ctx_send;
}

/* The communicator's memory goes. At the judge the record waits for the others' last rings. */
static void comm_gone(struct comm *c)
{
    struct align *a = c->check;
    c->check = NULL;
    comm_set_misaligned(c, NULL);
    a->comm = NULL;
    if (!proc->check || a->judge != boot_rank() || (a->finals == a->size - 1 && !a->look))
        align_drop(a);
}

static void name_of(const struct comm *c, const struct align *a, char *buf, size_t len)
{
    if (c->name[0])
        snprintf(buf, len, "%.*s", (int)len - 1, c->name);
    else
        snprintf(buf, len, "a communicator of %d processes (id %#llx)", a->size,
                 (unsigned long long)a->key);
}

/* It may have got a name meanwhile. */
void align_rename(struct align *a)
{
    if (a->comm && a->comm->name[0])
        name_of(a->comm, a, a->name, sizeof a->name);
}

struct align *align_of(struct comm *c)
{
    if (c->check)
        return c->check;
    if (comm_members(c) < 2 || c->ctx_recv == CTX_NONE)
        return NULL; /* the last: MPI_Comm_idup is under way */
    if (newcomm_is_mixed(c))
        return NULL; /* each job looks at its own, and one of a single process at nothing */
    struct align *a = align_find(key_of(c), 1);
    if (!a || a->comm || a->final)
        return NULL;
    a->comm = c;
    a->between = c->remote != NULL;
    a->rank = c->remote ? boot_rank() : c->rank;
    a->size = comm_members(c);
    a->judge = rankmap_world(judged_here(c) ? c->map : c->remote, 0);
    name_of(c, a, a->name, sizeof a->name);
    c->check = a;
    c->check_free = comm_gone;
    comm_set_misaligned(c, a->verdict);
    return a;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* From level 2 on a call meets no other than the same one, after the same calls. */
static void guard(struct comm *c, const struct align *a)
{
    if (cvar.coll_check >= CHECK_GUARD && !a->unguarded)
        coll_note(c, (uint32_t)a->h.hist);
}

/* Level 3. Freeing may be at any time, and threads may do anything. */
static void strict(struct align *a, struct align_call *call, const void *site)
{
    uint32_t what = call->what & ((1u << WHAT_FORM) - 1);
    int blocks = (call->what >> WHAT_FORM & 3) == CHECK_BLOCKING && what != CHECK_COMM_FREE &&
                 what != CHECK_COMM_DISCONNECT;
    if (!a->pos && (a->pos = calloc(1, sizeof *a->pos)) != NULL)
        a->pos->refs = 1;
    call->place = site_stack(site, (int)cvar.check_depth);
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
        strict(a, call, site);
    history_add(&a->h, call, site, (uint32_t)cvar.coll_check_ring);
    guard(c, a);
    return MPI_SUCCESS;
}

static __attribute__((noinline)) int coll_slowly(const struct coll_args *a, enum check_form form,
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
int check_coll(const struct coll_args *a, enum check_form form, const void *site,
               struct check_turn *turn)
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
    history_put(&of->h, r, 0, 0);
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
int check_may_wait(const struct coll_args *a, const void *site)
{
    struct comm *c = a->comm;
    struct align *of = c->check;
    if (!of || c->misaligned)
        return 0;
    if (cvar.coll_check < CHECK_GUARD)
        return 1;
    const struct align_repeat *r = history_repeats(&of->h, a, CHECK_BLOCKING, site);
    if (r && !of->unguarded)
        coll_note(c, (uint32_t)hash_mix(of->h.hist, r->key));
    return r != NULL;
}

static struct align_call plain(const struct comm *c, enum check_call call)
{
    int later = call == CHECK_COMM_IDUP || call == CHECK_COMM_IDUP_WITH_INFO;
    uint32_t form = later ? CHECK_NONBLOCKING : CHECK_BLOCKING;
    return (struct align_call){.what = (uint32_t)call | form << WHAT_FORM |
                                       (uint32_t)ROOT_NONE << WHAT_ROOT,
                               .between = c->remote != NULL, .amount = AMOUNT_NONE};
}

int check_comm(struct comm *c, enum check_call call, const void *site, struct check_turn *turn)
{
    struct align_call what = plain(c, call);
    return enter(c, &what, site, turn);
}

int check_win(struct rma_win *w, enum check_call call, int modes, const void *site,
              struct check_turn *turn)
{
    struct comm *c = rma_win_comm(w);
    struct align_call what = plain(c, call);
    const char *name = rma_win_name(w);
    if (modes)
        what.what |= (uint32_t)(OP_MODES + modes) << WHAT_OP;
    int first = !c->check || !c->check->h.calls, err = enter(c, &what, site, turn);
    if (c->errhandler != *rma_win_errhandler(w)) /* it decides whether a verdict ends the job */
        comm_set_errhandler(c, *rma_win_errhandler(w));
    if (turn->of && first)
        snprintf(turn->of->name, sizeof turn->of->name, *name ? "window %.50s" : "a window", name);
    return err;
}

int check_file(struct io_file *f, enum check_call call, enum check_form form, enum check_part part,
               const void *site, struct check_turn *turn)
{
    struct comm *c = io_comm(f);
    struct align_call what = plain(c, call);
    struct align *a = align_of(c);
    what.what |= (uint32_t)form << WHAT_FORM | (part ? (uint32_t)(OP_PARTS + part) << WHAT_OP : 0);
    if (a && !a->h.calls)
        snprintf(a->name, sizeof a->name, "a file");
    if (a)
        a->unguarded = 1;
    if (c->errhandler != *io_errhandler(f)) /* it decides whether a verdict ends the job */
        comm_set_errhandler(c, *io_errhandler(f));
    return enter(c, &what, site, turn);
}

void check_made(struct comm *c, struct comm *n, enum check_call call, const void *site)
{
    if (call == CHECK_CALLS && cvar.coll_check < CHECK_STRICT)
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
    if (call == CHECK_CALLS)
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

int check_leave(struct check_turn *turn, int err)
{
    struct check *k = proc->check;
    struct comm *c = turn->comm;
    if (err || !turn->of || c->misaligned || k->inside != turn || c->obj.refs < 2)
        return leave_slowly(turn, err);
    k->inside = turn->outer;
    c->obj.refs--;
    return MPI_SUCCESS;
}

int check_is_fatal(const struct comm *c)
{
    const struct errhandler *e = c->errhandler;
    return !e || e == proc->obj->errhandler[ERRHANDLER_FATAL] ||
           e == proc->obj->errhandler[ERRHANDLER_ABORT];
}

int check_explain(struct comm *c, int err)
{
    struct align *a = c->check;
    note_failed(err);
    if (!can_explain(err) || !a || calls_may_differ() || a->h.calls == a->h.blocking)
        return err;
    judge_explain(a);
    return c->misaligned ? comm_verdict(c) : err;
}

/* The communicator of a window takes the window's handler, which decides whether a verdict ends the
 * job. Windows on which no collective call was made so far are known by this alone. */
static void adopt(void *win)
{
    struct rma_win *w = win;
    struct comm *c = rma_win_comm(w);
    struct align *a = c->check;
    const char *name = rma_win_name(w);
    if (c->errhandler != *rma_win_errhandler(w))
        comm_set_errhandler(c, *rma_win_errhandler(w));
    if (a && !a->h.calls)
        snprintf(a->name, sizeof a->name, *name ? "window %.50s" : "a window", name);
}

void align_windows(void)
{
    obj_sweep(OBJ_WIN, adopt);
}

static void close_record(struct align *a, enum align_end how)
{
    if (a->final)
        return;
    a->final = (int)how;
    align_rename(a);
    if (a->comm)
        a->fatal = check_is_fatal(a->comm);
}

static void freed(struct comm *c, const struct align_call *call, const void *site)
{
    struct align *a = align_of(c);
    if (!a || a->final)
        return;
    if (call)
        history_add(&a->h, call, site, (uint32_t)cvar.coll_check_ring);
    close_record(a, ALIGN_FREED);
    if (a->judge != boot_rank())
        judge_send_ring(a, RING_ACK); /* MPI_Finalize waits for the answer */
    else
        judge_look(a, LOOK_EARLY);
}

void check_freed(struct comm *c, const void *site, enum check_call call)
{
    struct align_call what = plain(c, call);
    freed(c, &what, site);
}

void check_win_freed(struct comm *c)
{
    freed(c, NULL, NULL);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void make_record(void *c)
{
    align_of(c);
}

static void make_win_record(void *win)
{
    align_of(rma_win_comm(win));
    adopt(win); /* its name */
}

void align_all(void)
{
    obj_sweep(OBJ_COMM, make_record);
    obj_sweep(OBJ_WIN, make_win_record);
}

static int answered(void *arg)
{
    struct check *k = arg;
    return k->acks == 0 || boot_failed_count();
}

/* All records, in a list that stays while they come and go. */
static struct align **all(const struct check *k, size_t *n)
{
    struct align **list = malloc((k->aligns.count + 1) * sizeof *list);
    size_t at = 0;
    *n = 0;
    for (struct map_entry *e; list && (e = map_next(&k->aligns, &at)) != NULL;)
        list[(*n)++] = e->value;
    return list;
}

void check_ending(void)
{
    struct check *k = proc->check;
    size_t n;
    if (!k)
        return;
    obj_sweep(OBJ_COMM, make_record); /* also those that it has made no call on */
    align_windows();
    k->ending = 1;
    struct align **list = all(k, &n);
    for (size_t i = 0; i < n; i++) {
        struct align *a = list[i];
        close_record(a, ALIGN_FINALIZED);
        if (a->comm && a->judge != boot_rank())
            judge_send_ring(a, RING_ACK);
        else
            judge_look(a, LOOK_EARLY);
    }
    free(list);
    /* an answer means that the ring has come: the judge compares before it ends */
    progress_wait(answered, k, "the comparison of collective calls", -1);
}

void check_ended(void)
{
    struct check *k = proc->check;
    size_t n;
    if (!k)
        return;
    struct align **list = all(k, &n);
    for (size_t i = 0; i < n; i++)
        if (list[i]->judge == boot_rank() || list[i]->judge < 0)
            judge_look(list[i], LOOK_LAST);
    free(list);
    if (k->abort_at) /* no call is left that could return it: it is the job's exit status */
        boot_abort(MPI_ERR_NOT_SAME, k->abort_why);
}

/* --- life ------------------------------------------------------------------------------------- */

int check_init(void)
{
    if (!cvar.coll_check || boot_size() < 2)
        return 0;
    struct check *k = calloc(1, sizeof *k);
    if (!k)
        return -ENOMEM;
    map_init(&k->aligns);
    list_init(&k->posts);
    proc->check = k;
    if (place_open() || !align_of(proc->obj->world) || judge_init()) {
        place_close();
        free(k);
        proc->check = NULL;
        return -ENOMEM;
    }
    return 0;
}

void check_finalize(void)
{
    struct check *k = proc->check;
    size_t n;
    struct list *l;
    if (!k)
        return;
    stall_finalize();
    progress_hook_del(&k->hook);
    struct align **list = all(k, &n);
    for (size_t i = 0; i < n; i++)
        align_drop(list[i]);
    free(list);
    while ((l = list_pop(&k->posts)) != NULL)
        free(LIST_OBJ(l, struct check_post, link));
    place_close();
    map_destroy(&k->aligns);
    free(k);
    proc->check = NULL;
}

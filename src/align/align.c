/* align.c - the record of each communicator, and the end of all. Start with align_of() and
 * check_ending(). */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/align_types.h"
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

int check_is_fatal(const struct comm *c)
{
    const struct errhandler *e = c->errhandler;
    return !e || e == proc->obj->errhandler[ERRHANDLER_FATAL] ||
           e == proc->obj->errhandler[ERRHANDLER_ABORT];
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

void align_close(struct align *a, enum align_end how)
{
    if (a->final)
        return;
    a->final = (int)how;
    align_rename(a);
    if (a->comm)
        a->fatal = check_is_fatal(a->comm);
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
        align_close(a, ALIGN_FINALIZED);
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
    if (place_open() || !align_of(proc->obj->world) || judge_init() || watch_add(&align_watcher)) {
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
    watch_drop(&align_watcher);
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

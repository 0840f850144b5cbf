/* comm_record.c - the record of each communicator: made, found, dropped. Start with align_of(). */
#include <stdio.h>
#include <stdlib.h>

#include "align/align_types.h"
#include "align/cross.h"
#include "boot/boot.h"
#include "coll/newcomm.h"
#include "obj/errhandler.h"
#include "rma/rma.h"

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

static void cross_drop(struct align *a)
{
    if (a->cross)
        map_destroy(&a->cross->known);
    free(a->cross);
    a->cross = NULL;
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

static void make_record(void *c)
{
    align_of(c);
}

static void make_win_record(void *win)
{
    align_of(rma_win_comm(win));
    adopt(win); /* its name */
}

void align_comms(void)
{
    obj_sweep(OBJ_COMM, make_record);
}

void align_all(void)
{
    align_comms();
    obj_sweep(OBJ_WIN, make_win_record);
}

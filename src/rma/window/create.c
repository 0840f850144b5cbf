/* create.c - windows: creation and end. Start with make().
 *
 * Creation: duplicate the communicator (its context id with its round is the window's id), find the
 * node peers, share the node segment, reach all members' memory, agree on errors. After the last
 * agreement every member knows the id, so packets may come. */
#include "rma/window/window_types.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "coll/coll.h"
#include "coll/survive.h"
#include "watch/watch.h"

/* --- parts ------------------------------------------------------------------------------------ */

static int plan_check(const struct rma_plan *p)
{
    if (p->size < 0)
        return err_make(MPI_ERR_SIZE, "%s: size is %lld, less than 0", rma_call(),
                        (long long)p->size);
    if (p->disp_unit <= 0)
        return err_make(MPI_ERR_DISP, "%s: displacement unit is %lld; it must be positive",
                        rma_call(), (long long)p->disp_unit);
    if (p->flavor == MPI_WIN_FLAVOR_CREATE && !p->base && p->size)
        return err_make(MPI_ERR_BASE, "%s: base is NULL and size %lld", rma_call(),
                        (long long)p->size);
    return MPI_SUCCESS;
}

/* --- creation --------------------------------------------------------------------------------- */

int rma_win_told(struct rma_win *w, const struct rma_plan *p, int err, struct rma_told *v)
{
    if (!err)
        err = plan_check(p);
    if (!err)
        err = rma_hints_take(w, p->info, 0);
    if (!err)
        err = rma_copies_wanted(w, p);
    if (!err)
        err = rma_coherent_wanted(w, &(const char *){NULL});
    if (!err)
        err = rma_buffers_make(w);
    if (w)
        w->mem.large_pages = p->info && info_truth(p->info, "large_pages", 0);
    size_t align = w && rma_memory_ours(w) ? info_alignment(p->info) : 0;
    if (!err && rma_slots_init(w))
        err = err_make(MPI_ERR_NO_MEM, "%s: no memory for slots", rma_call());
    if (!err)
        err = rma_node_find(w);
    if (!err && w->flavor == MPI_WIN_FLAVOR_SHARED && !w->all_near)
        err = err_make(MPI_ERR_RMA_SHARED, "%s: %d of %d processes are on other nodes", rma_call(),
                       w->size - (int)w->nears, w->size);
    int64_t kept = err ? 0 : (int64_t)rma_node_offer(w);
    *v = (struct rma_told){.error = err ? err_class(err) : 0,
                           .most = p->size,
                           .kept = kept,
                           .kept_less = -kept,
                           .align = align > RMA_PAGE ? (int64_t)align : 0, /* a page, as ever */
                           .helpless = !progress_has_helper(),
                           .copies = w ? w->copies : 0,
                           .copies_less = w ? -(int64_t)w->copies : 0};
    return err;
}

int rma_win_heard(struct rma_win *w, int err, int lost, const struct rma_told *v)
{
    if (w) {
        w->mem.align = v->align ? (size_t)v->align : RMA_PAGE;
        w->helped = !v->helpless; /* none is without */
    }
    if (!err && !lost && v->error)
        err = err_make((int)v->error, "%s failed on another process", rma_call());
    if (!err && !lost && v->copies != -v->copies_less)
        err = err_make(MPI_ERR_INFO, "%s: mpix_win_replicas is %lld on one process, %lld on "
                       "another", rma_call(), (long long)v->copies, -(long long)v->copies_less);
    return err ? err : lost;
}

/* This process's part, which may fail alone; then all learn of it. err: it has failed already, and
 * w may be NULL. c: the user's communicator, whose collectives are likely to run through shared
 * memory already. */
static int local_part(struct rma_win *w, const struct rma_plan *p, struct comm *c, int err,
                      struct rma_told *v)
{
    err = rma_win_told(w, p, err, v);
    int lost = coll_allreduce_i64(&v->error, RMA_TOLD, COLL_MAX, c);
    return rma_win_heard(w, err, lost, v);
}

static int win_publish(struct rma_win *w)
{
    struct rma *r = rma_self();
    if (obj_add(OBJ_WIN, &w->near.obj))
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for a window handle", rma_call());
    watch_made(OBJ_WIN, &w->near.obj);
    /* Only now: a packet that names it finds everything that a handler touches. */
    if (map_put(&r->wins, w->id, w))
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for a window", rma_call());
    list_push(&r->windows, &w->link);
    rma_count(w, PVAR_RMA_WIN_BYTES, sizeof *w + w->table.nslots * sizeof *w->table.slots);
    return MPI_SUCCESS;
}

int rma_win_exposed(struct rma_win *w)
{
    int err = rma_memory_make(w);
    if (!err)
        err = rma_coherent_make(w);
    rma_node_record(w);
    rma_native_open(w, rma_acc_hints(w));
    if (!err && w->flavor == MPI_WIN_FLAVOR_SHARED)
        err = rma_node_shared(w, info_truth(w->info, "alloc_shared_noncontig", 0));
    if (!err)
        err = w->from ? rma_notify_set_num(w, (int)w->from->notes.num) : rma_notes_hint(w);
    return err ? err : win_publish(w);
}

/* From here on every member comes to the last agreement, whatever fails. */
static int shared_part(struct rma_win *w)
{
    int err = rma_win_exposed(w);
    err = rma_node_attach(w, rma_acc_hints(w), err);
    return w->all_near ? err : coll_agree_error(err, w->comm);
}

void rma_win_over(struct rma_win *w, struct comm *own)
{
    w->comm = own;
    w->map = own->map;
    w->rank = own->rank;
    w->size = own->size;
    w->id = comm_ctx(own);
    w->src = own->src;
}

/* The window's communicator, the first step of all. A process without memory takes part. */
static int first_part(struct rma_win *w, struct comm *c)
{
    struct comm *dup;
    int err = coll_comm_dup(c, &dup);
    if (err)
        return err;
    if (!w) {
        comm_drop(dup);
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for a window", rma_call());
    }
    rma_win_over(w, dup);
    return MPI_SUCCESS;
}

int rma_win_ready(struct rma_win *w, int err)
{
    if (err && w) {
        /* others may have it, and wait for this one */
        if (err_class(err) == MPIX_ERR_REVOKED && w->comm) {
            w->dead = 1;
            coll_revoke(w->comm);
        }
        rma_win_drop(w);
    }
    if (err)
        return err;
    w->comm->maker = NULL;
    w->made = 1;
    atomic_store_explicit(&w->near.all_here, w->all_near && w->all_mapped && !w->dead,
                          memory_order_relaxed);
    if (rma_is_revoked(w)) /* by another member, which has it already */
        rma_win_hide(w);
    else
        rma_win_fast(w);
    return MPI_SUCCESS;
}

static int make(const struct rma_plan *p, struct comm *c, struct rma_win **out)
{
    struct rma_win *w = rma_win_blank(p->flavor, p->base, p->size, p->disp_unit);
    struct rma_told all;
    if (w && p->from)
        rma_win_take_from(w, p->from);
    int err = local_part(w, p, c, first_part(w, c), &all);
    if (!err)
        err = rma_node_open(w, (uint64_t)all.most, rma_kept(&all));
    if (!err)
        err = shared_part(w);
    err = rma_win_ready(w, err);
    if (!err)
        *out = w;
    return err;
}

int rma_win_create(void *base, MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *c,
                   struct rma_win **out)
{
    struct rma_plan p = {NULL, MPI_WIN_FLAVOR_CREATE, base, size, disp_unit, info};
    return make(&p, c, out);
}

int rma_win_allocate(MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *c,
                     void *base_out, struct rma_win **out)
{
    struct rma_plan p = {NULL, MPI_WIN_FLAVOR_ALLOCATE, NULL, size, disp_unit, info};
    int err = make(&p, c, out);
    if (!err)
        *(void **)base_out = rma_win_shown(*out);
    return err;
}

int rma_win_allocate_shared(MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *c,
                            void *base_out, struct rma_win **out)
{
    struct rma_plan p = {NULL, MPI_WIN_FLAVOR_SHARED, NULL, size, disp_unit, info};
    int err = make(&p, c, out);
    if (!err)
        *(void **)base_out = (*out)->base;
    return err;
}

int rma_win_create_dynamic(struct info *info, struct comm *c, struct rma_win **out)
{
    struct rma_plan p = {NULL, MPI_WIN_FLAVOR_DYNAMIC, NULL, 0, 1, info};
    return make(&p, c, out);
}

int rma_win_create_from(struct rma_win *from, int flavor, struct comm *c, struct rma_win **out)
{
    struct rma_plan p = {from, flavor, from->base, from->bytes, from->disp_unit, from->info};
    return make(&p, c, out);
}

/* --- end -------------------------------------------------------------------------------------- */

/* Over several nodes; not for ever when a member is dead, since the others may not come either. */
static void last_barrier(struct rma_win *w)
{
    struct request *r;
    if (coll_ibarrier_members(w->comm, &r) != MPI_SUCCESS) {
        w->dead = 1; /* not all have come */
        return;
    }
    request_wait_inner(r);
    int err = request_finish(r, MPI_STATUS_IGNORE);
    w->dead |= err != MPI_SUCCESS;
    w->free.lost = err_class(err) == MPIX_ERR_PROC_FAILED;
}

static void meet_last(struct rma_win *w, int revoked)
{
    rma_barriers_wait(w, 0);
    w->free.under_way = 1;
    if (revoked)
        w->dead = 1; /* not all have come */
    else if (w->all_near)
        (void)rma_node_barrier(w); /* the error is w->dead */
    else
        last_barrier(w);
    w->free.lost |= rma_is_revoked(w) != 0; /* those that knew have not come to the barrier */
}

static void freed(struct rma_win *w)
{
    w->node.reusable = w->all_near && !w->dead && !boot_failed_count();
    rma_win_drop(w);
}

int rma_win_free(struct rma_win *w)
{
    if (w->parent)
        return rma_dup_free(w);
    if (w->channels && w->channels->used)
        return rma_sync_error(w, "there are duplicates of", "free them first");
    int revoked = rma_is_revoked(w);
    if (revoked)
        rma_revoked_end(w);
    int err = rma_win_is_idle(w);
    if (!err)
        err = rma_coherent_end(w);
    if (!err)
        err = attr_delete_all(OBJ_WIN, w->near.obj.handle, &w->attrs);
    if (err)
        return err;
    meet_last(w, revoked);
    rma_free_sync(w);
    freed(w);
    return MPI_SUCCESS;
}

void rma_win_give_up(struct rma_win *w)
{
    int revoked = rma_is_revoked(w);
    if (revoked)
        rma_revoked_end(w);
    meet_last(w, revoked);
    if (!rma_free_unsure(w)) /* else others may still access it */
        freed(w);
}

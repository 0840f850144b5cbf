/* comm.c - the life of communicators and of their tables of ranks. Start with comm_make(). */
#include "obj/comm.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "boot/boot.h"
#include "obj/attr.h"
#include "obj/err.h"
#include "obj/errhandler.h"
#include "obj/neighbors.h"
#include "obj/obj_types.h"

struct comm *comm_ref(struct comm *c)
{
    if (c)
        c->obj.refs++;
    return c;
}

/* --- revoked ------------------------------------------------------------------------ */

static const char was_revoked[] = "the communicator was revoked";

int comm_revoked_error(void)
{
    return err_make(MPIX_ERR_REVOKED, "%s", was_revoked);
}

int comm_verdict(const struct comm *c)
{
    if (c->revoked || (c->maker && c->maker->revoked))
        return comm_revoked_error();
    return err_make(MPI_ERR_NOT_SAME, "%s", comm_misaligned(c));
}

static void end_collectives(struct comm *c)
{
    c->revoked = 1;
    c->misaligned = was_revoked;
}

void comm_set_revoked(struct comm *c)
{
    end_collectives(c);
    if (c->local)
        end_collectives(c->local);
    if (c->obj.handle) { /* else the program has freed it, and operations hold it */
        obj_hide(OBJ_COMM, &c->obj);
        list_push(&proc->obj->revoked, &c->hidden);
    }
    proc->obj->revocations++;
    if (proc->obj->comm_revoked)
        proc->obj->comm_revoked(c);
    if (proc->obj->file_revoked)
        proc->obj->file_revoked(c);
}

struct comm *comm_find(int handle)
{
    struct comm *c = obj_find(OBJ_COMM, handle);
    const struct list *hidden = &proc->obj->revoked;
    for (struct list *l = hidden->next; !c && l != hidden; l = l->next)
        if (LIST_OBJ(l, struct comm, hidden)->obj.handle == handle)
            c = LIST_OBJ(l, struct comm, hidden);
    return c;
}

static void show(struct comm *c)
{
    if (list_empty(&c->hidden))
        return;
    list_del(&c->hidden);
    obj_show(OBJ_COMM, &c->obj);
}

/* --- life ----------------------------------------------------------------------------- */

static void comm_destroy(struct comm *c)
{
    if (c->coll && c->coll_free)
        c->coll_free(c->coll);
    if (c->check)
        c->check_free(c);
    show(c);
    if (c->obj.handle)
        obj_del(OBJ_COMM, &c->obj);
    comm_drop(c->local);
    topo_drop(c->topo);
    info_drop(c->info);
    errhandler_drop(c->errhandler);
    session_share_drop(c->session);
    free(c->buffer);
    rankmap_drop(c->map);
    rankmap_drop(c->remote);
    rankmap_drop(c->beside[0]);
    rankmap_drop(c->beside[1]);
    if (c->ctx_recv != CTX_NONE && proc->obj->ctx_gone)
        proc->obj->ctx_gone(c->ctx_recv);
    free(c);
}

void comm_drop(struct comm *c)
{
    if (c && --c->obj.refs <= 0)
        comm_destroy(c);
}

int comm_release(struct comm *c)
{
    int err = attr_delete_all(OBJ_COMM, c->obj.handle, &c->attrs);
    if (err)
        return err;
    /* The handle is freed now; pending operations keep the object. */
    show(c);
    obj_del(OBJ_COMM, &c->obj);
    comm_drop(c);
    return MPI_SUCCESS;
}

uint32_t comm_rank_mask(void)
{
    uint32_t mask = 3;
    while (mask - 1 < (uint32_t)boot_universe()) /* the two highest are no ranks */
        mask = mask << 1 | 1;
    return mask;
}

void comm_set_ctx(struct comm *c, uint64_t ctx_recv, uint64_t ctx_send)
{
    c->ctx_recv = (uint32_t)ctx_recv;
    c->ctx_send = (uint32_t)ctx_send;
    c->round_recv = (uint32_t)(ctx_recv >> 32);
    c->src = (uint32_t)(ctx_send >> 32) | (uint32_t)c->rank;
    if (proc->obj->ctx_made && ctx_recv != CTX_NONE)
        proc->obj->ctx_made(c);
}

static void comm_fill(struct comm *c, struct rankmap *map, int rank, struct rankmap *remote)
{
    c->map = rankmap_ref(map);
    c->remote = rankmap_ref(remote);
    c->rank = rank;
    c->size = map->size;
    list_init(&c->hidden);
    c->errhandler = errhandler_of(ERRHANDLER_FATAL);
    attr_list_init(&c->attrs);
}

struct comm *comm_make(struct rankmap *map, int rank, struct rankmap *remote, uint64_t ctx_recv,
                       uint64_t ctx_send)
{
    struct comm *c = calloc(1, sizeof *c);
    if (!c || obj_add(OBJ_COMM, &c->obj)) {
        free(c);
        return NULL;
    }
    comm_fill(c, map, rank, remote);
    comm_set_ctx(c, ctx_recv, ctx_send);
    return c;
}

void comm_set_errhandler(struct comm *c, struct errhandler *e)
{
    proc->obj->self_handled |= c == proc->obj->self;
    errhandler_ref(e);
    errhandler_drop(c->errhandler);
    c->errhandler = e;
}

struct comm *comm_of_none(void)
{
    return proc->obj->self_handled ? proc->obj->self : proc->obj->world;
}

void comm_set_beside(struct comm *c, struct rankmap *a, struct rankmap *b)
{
    WR_ASSERT(!c->beside[0] && !c->beside[1]); /* set once */
    c->beside[0] = rankmap_ref(a);
    c->beside[1] = rankmap_ref(b);
}

void comm_set_local(struct comm *c, struct comm *local)
{
    c->local = local;
    comm_set_beside(local, c->remote, NULL);
    if (c->revoked) {
        end_collectives(local);
        if (proc->obj->ctx_made)
            proc->obj->ctx_made(c);
    }
}

static struct comm *builtin_comm(int handle, int first, int size, int rank, uint32_t ctx,
                                 const char *name)
{
    struct comm *c = calloc(1, sizeof *c);
    struct rankmap *m = rankmap_stride(first, 1, size);
    if (c && m) {
        obj_set_builtin(OBJ_COMM, handle, &c->obj);
        comm_fill(c, m, rank, NULL);
        c->errhandler = errhandler_of(errhandler_initial());
        comm_set_ctx(c, ctx, ctx);
        snprintf(c->name, sizeof c->name, "%s", name);
    } else {
        free(c);
        c = NULL;
    }
    rankmap_drop(m);
    return c;
}

int comm_init(void)
{
    struct obj_room *o = proc->obj;
    int rank = boot_rank(), size = boot_size(), first = boot_first();
    list_init(&o->revoked);
    o->world = builtin_comm(MPI_COMM_WORLD, first, size, rank - first, CTX_WORLD, "MPI_COMM_WORLD");
    o->self = builtin_comm(MPI_COMM_SELF, rank, 1, 0, CTX_SELF, "MPI_COMM_SELF");
    struct group *empty = calloc(1, sizeof *empty);
    if (empty) {
        obj_set_builtin(OBJ_GROUP, MPI_GROUP_EMPTY, &empty->obj);
        empty->map = rankmap_stride(0, 1, 0);
        empty->rank = MPI_UNDEFINED;
    }
    return o->world && o->self && empty && empty->map ? 0 : -ENOMEM;
}

/* Communicators that users did not free.  Their callbacks no longer run. */
static void comm_forget(void *arg)
{
    struct comm *c = arg;
    attr_forget(&c->attrs);
    comm_destroy(c);
}

/* Intercommunicators go first, with their local ones: those have table places of their own, maybe
 * lower ones. */
static void intercomm_forget(void *arg)
{
    struct comm *c = arg;
    if (!c->local)
        return;
    c->local->obj.refs = 1;
    comm_forget(c);
}

static void group_forget(void *arg)
{
    ((struct group *)arg)->obj.refs = 1;
    group_drop(arg);
}

void comm_finalize(void)
{
    struct obj_room *o = proc->obj;
    while (o->revoked.next && !list_empty(&o->revoked))
        show(LIST_OBJ(o->revoked.next, struct comm, hidden));
    obj_sweep(OBJ_COMM, intercomm_forget);
    obj_sweep(OBJ_COMM, comm_forget);
    obj_sweep(OBJ_GROUP, group_forget);
    if (o->self)
        comm_destroy(o->self);
    if (o->world)
        comm_destroy(o->world);
    o->self = o->world = NULL;
    struct group *empty = o->table[OBJ_GROUP].builtin[(unsigned)MPI_GROUP_EMPTY & 0xff];
    if (empty) {
        obj_del(OBJ_GROUP, &empty->obj);
        rankmap_drop(empty->map);
        free(empty);
    }
}

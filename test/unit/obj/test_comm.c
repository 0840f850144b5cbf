/* test_comm.c - obj/comm.c: predefined communicators, made and released, a refused release
 * changes nothing, intercommunicators know both groups, forgotten intercommunicators. */
#include "unit_obj.h"

#include <mpi.h>

#include "obj/attr.h"
#include "obj/comm.h"
#include "obj/errhandler.h"
#include "obj/neighbors.h"
#include "obj/obj_types.h"

static uint32_t gone;
static int freed;

static void note(uint32_t ctx)
{
    gone = ctx;
}

static void coll_free(void *coll)
{
    freed += *(int *)coll;
}

START_TEST(predefined_communicators)
{
    struct comm *w = obj_find(OBJ_COMM, MPI_COMM_WORLD), *s = obj_find(OBJ_COMM, MPI_COMM_SELF);
    ck_assert_ptr_eq(w, proc->obj->world);
    ck_assert_ptr_eq(s, proc->obj->self);
    ck_assert_int_eq(w->size, 1);
    ck_assert_int_eq(s->size, 1);
    ck_assert_uint_ne(w->ctx_recv, s->ctx_recv);
    ck_assert_str_eq(w->name, "MPI_COMM_WORLD");
    ck_assert_ptr_eq(w->errhandler, proc->obj->errhandler[ERRHANDLER_FATAL]);
    ck_assert_int_eq(w->map->kind, RANKMAP_STRIDE);
}
END_TEST

START_TEST(made_and_released)
{
    int weight = 3;
    struct rankmap *m = rankmap_stride(0, 1, 1);
    struct comm *c = comm_make(m, 0, NULL, 40, 44);
    rankmap_drop(m);
    proc->obj->ctx_gone = note;
    c->coll = &weight;
    c->coll_free = coll_free;
    c->topo = topo_make(TOPO_CART);
    c->info = info_make();
    ck_assert_int_eq(comm_world(c, 0), 0);
    ck_assert_int_eq(comm_peer_size(c), 1);
    comm_ref(c); /* a pending operation */
    int h = c->obj.handle;
    ck_assert_int_eq(comm_release(c), MPI_SUCCESS);
    ck_assert_ptr_null(obj_find(OBJ_COMM, h)); /* the handle is gone, the object not yet */
    ck_assert_int_eq(freed, 0);
    comm_drop(c);
    ck_assert_int_eq(freed, 3);
    ck_assert_uint_eq(gone, 40);
}
END_TEST

static int refusing = 1;

static int refuse(int h, int key, void *value, void *extra)
{
    return refusing ? MPI_ERR_OTHER : MPI_SUCCESS;
}

START_TEST(a_refused_release_changes_nothing)
{
    int key;
    struct rankmap *m = rankmap_stride(0, 1, 1);
    struct comm *c = comm_make(m, 0, NULL, CTX_NONE, CTX_NONE);
    rankmap_drop(m);
    gone = 7;
    proc->obj->ctx_gone = note;
    ck_assert_int_eq(keyval_create(OBJ_COMM, NULL, (void *)refuse, &key, NULL, 0), 0);
    ck_assert_int_eq(attr_set(OBJ_COMM, c->obj.handle, &c->attrs, key, &m, "MPI_Comm_set_attr"), 0);
    ck_assert_int_eq(comm_release(c), MPI_ERR_OTHER);
    ck_assert_ptr_eq(obj_find(OBJ_COMM, c->obj.handle), c);
    refusing = 0;
    ck_assert_int_eq(comm_release(c), MPI_SUCCESS);
    ck_assert_uint_eq(gone, 7); /* it owned no id */
}
END_TEST

START_TEST(intercommunicators_know_both_groups)
{
    struct rankmap *here = rankmap_stride(0, 1, 1), *there = rankmap_stride(5, 2, 3);
    struct comm *c = comm_make(here, 0, there, 8, 12);
    ck_assert_int_eq(comm_peer_size(c), 3);
    ck_assert_int_eq(comm_peer_world(c, 2), 9);
    ck_assert_int_eq(comm_world(c, 0), 0);
    comm_drop(c);
    ck_assert_int_eq(there->refs, 1);
    rankmap_drop(here);
    rankmap_drop(there);
}
END_TEST

/* Left over, its local one in an earlier place of the table. */
START_TEST(forgotten_intercommunicators)
{
    struct rankmap *here = rankmap_stride(0, 1, 1), *there = rankmap_stride(5, 2, 3);
    struct comm *before = comm_make(here, 0, NULL, CTX_NONE, CTX_NONE),
                *c = comm_make(here, 0, there, CTX_NONE, CTX_NONE);
    comm_drop(before);
    struct comm *local = comm_make(here, 0, NULL, CTX_NONE, CTX_NONE);
    ck_assert_int_lt(local->obj.handle, c->obj.handle);
    comm_set_local(c, local);
    ck_assert_int_eq(there->refs, 3);
    comm_finalize();
    ck_assert_int_eq(there->refs, 1);
    ck_assert_int_eq(here->refs, 1);
    rankmap_drop(here);
    rankmap_drop(there);
    ck_assert_int_eq(comm_init(), 0);
}
END_TEST

OBJ_SUITE(comm, predefined_communicators, made_and_released, a_refused_release_changes_nothing,
          intercommunicators_know_both_groups, forgotten_intercommunicators)

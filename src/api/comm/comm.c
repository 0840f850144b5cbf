/* comm.c - communicators (MPI-3.1 6.4, 6.6, 6.8). Start with PMPI_Comm_split(). */
#include "api/api.h"

#include <stdio.h>
#include <string.h>

#include "api/api_types.h"
#include "api/env/hardware.h"
#include "boot/boot.h"
#include "coll/newcomm.h"
#include "obj/attr.h"
#include "p2p/p2p.h"

/* --- questions ------------------------------------------------------------------ */

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    api_enter("MPI_Comm_size");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(size, "size");
    if (!err)
        *size = c->size;
    return api_exit(comm, err);
}
API_ALIAS(MPI_Comm_size);

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    api_enter("MPI_Comm_rank");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(rank, "rank");
    if (!err)
        *rank = c->rank;
    return api_exit(comm, err);
}
API_ALIAS(MPI_Comm_rank);

int PMPI_Comm_remote_size(MPI_Comm comm, int *size)
{
    api_enter("MPI_Comm_remote_size");
    struct comm *c;
    int err = api_intercomm_local(comm, &c);
    if (!err)
        err = api_pointer(size, "size");
    if (!err)
        *size = c->remote->size;
    return api_exit(comm, err);
}
API_ALIAS(MPI_Comm_remote_size);

int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    api_enter("MPI_Comm_test_inter");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(flag, "flag");
    if (!err)
        *flag = c->remote != NULL;
    return api_exit(comm, err);
}
API_ALIAS(MPI_Comm_test_inter);

int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    api_enter("MPI_Comm_group");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(group, "group");
    if (!err)
        err = api_group_publish(c->map, c->session, group);
    return api_exit(comm, err);
}
API_ALIAS(MPI_Comm_group);

int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)
{
    api_enter("MPI_Comm_remote_group");
    struct comm *c;
    int err = api_intercomm_local(comm, &c);
    if (!err)
        err = api_pointer(group, "group");
    if (!err)
        err = api_group_publish(c->remote, c->session, group);
    return api_exit(comm, err);
}
API_ALIAS(MPI_Comm_remote_group);

/* The worse of two results of api_rankmap_compare. */
static int compare(const struct comm *a, const struct comm *b, int *result)
{
    int remote = MPI_IDENT;
    *result = MPI_IDENT;
    if (a == b)
        return MPI_SUCCESS;
    *result = MPI_UNEQUAL;
    if (!a->remote != !b->remote)
        return MPI_SUCCESS;
    int err = api_rankmap_compare(a->map, b->map, result);
    if (!err && a->remote)
        err = api_rankmap_compare(a->remote, b->remote, &remote);
    if (*result == MPI_IDENT)
        *result = MPI_CONGRUENT;
    if (remote != MPI_IDENT && remote > *result)
        *result = remote;
    return err;
}

int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    api_enter("MPI_Comm_compare");
    struct comm *a, *b;
    int err = api_comm_local(comm1, &a);
    if (!err)
        err = api_comm_local(comm2, &b);
    if (!err)
        err = api_pointer(result, "result");
    if (!err)
        err = compare(a, b, result);
    return api_exit(comm1, err);
}
API_ALIAS(MPI_Comm_compare);

/* --- names and hints -------------------------------------------------------------- */

int PMPI_Comm_set_name(MPI_Comm comm, const char *name)
{
    api_enter("MPI_Comm_set_name");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(name, "comm_name");
    if (!err)
        snprintf(c->name, sizeof c->name, "%s", name);
    return api_exit(comm, err);
}
API_ALIAS(MPI_Comm_set_name);

int PMPI_Comm_get_name(MPI_Comm comm, char *name, int *resultlen)
{
    api_enter("MPI_Comm_get_name");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(name, "comm_name");
    if (!err)
        err = api_pointer(resultlen, "resultlen");
    if (!err)
        *resultlen = snprintf(name, MPI_MAX_OBJECT_NAME, "%s", c->name);
    return api_exit(comm, err);
}
API_ALIAS(MPI_Comm_get_name);

int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    api_enter("MPI_Comm_set_info");
    struct comm *c;
    struct info *i = NULL;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_info(info, &i);
    if (!err && c->revoked) /* others may have freed it: no checker compares, or joins them */
        err = newcomm_hints(c, i);
    else
        WATCH_RUN(err, newcomm_hints(c, i), .call = WATCH_COMM_SET_INFO, .comm = c,
                  .site = __builtin_return_address(0));
    return api_exit(comm, err);
}
API_ALIAS(MPI_Comm_set_info);

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info *info)
{
    api_enter("MPI_Comm_get_info");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(info, "info_used");
    struct info *i = err ? NULL : info_copy(c->info);
    if (!err && (!i || memory_kinds_put(i, c->session)))
        err = err_make(MPI_ERR_NO_MEM, "MPI_Comm_get_info: no memory for the info object");
    if (!err)
        err = api_info_publish(i, info);
    info_drop(i);
    return api_exit(comm, err);
}
API_ALIAS(MPI_Comm_get_info);

/* --- making -------------------------------------------------------------------------- */

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    api_enter("MPI_Comm_dup");
    struct comm *c, *n = NULL;
    int err = api_comm(comm, &c);
    if (!err)
        err = api_pointer(newcomm, "newcomm");
    WATCH_RUN(err, newcomm_dup(c, NULL, &n), .call = WATCH_COMM_DUP, .comm = c,
              .site = __builtin_return_address(0));

    return api_exit_new(comm, err, n, newcomm);
}
API_ALIAS(MPI_Comm_dup);

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    api_enter("MPI_Comm_dup_with_info");
    struct comm *c, *n = NULL;
    struct info *i = NULL, empty = {.pairs = LIST_INIT(empty.pairs)};
    int err = api_comm(comm, &c);
    if (!err)
        err = api_info(info, &i);
    if (!err)
        err = api_pointer(newcomm, "newcomm");
    WATCH_RUN(err, newcomm_dup(c, i ? i : &empty, &n), .call = WATCH_COMM_DUP_WITH_INFO, .comm = c,
              .site = __builtin_return_address(0));

    return api_exit_new(comm, err, n, newcomm);
}
API_ALIAS(MPI_Comm_dup_with_info);

static int idup(const char *call, const void *site, MPI_Comm comm, int with_info, MPI_Info info,
                MPI_Comm *newcomm, MPI_Request *request)
{
    api_enter(call);
    struct comm *c, *n = NULL;
    struct request *r;
    struct info *i = NULL, empty = {.pairs = LIST_INIT(empty.pairs)};
    int err = api_comm(comm, &c);
    if (!err && with_info)
        err = api_info(info, &i);
    if (!err)
        err = api_pointer(newcomm, "newcomm");
    if (!err)
        err = api_pointer(request, "request");
    WATCH_RUN(err, newcomm_idup(c, !with_info ? NULL : i ? i : &empty, &n, &r),
              .call = with_info ? WATCH_COMM_IDUP_WITH_INFO : WATCH_COMM_IDUP, .comm = c,
              .site = site);
    if (!err)
        err = request_publish(r, request);
    if (newcomm) /* whether it has its id already is a matter of time: no watch_comm_made() */
        *newcomm = !err && n ? n->obj.handle : MPI_COMM_NULL;
    return api_exit_begun(newcomm ? comm : MPI_COMM_NULL, err, request);
}

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    return idup("MPI_Comm_idup", __builtin_return_address(0), comm, 0, MPI_INFO_NULL, newcomm,
                request);
}
API_ALIAS(MPI_Comm_idup);

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{
    return idup("MPI_Comm_idup_with_info", __builtin_return_address(0), comm, 1, info, newcomm,
                request);
}
API_ALIAS(MPI_Comm_idup_with_info);

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    api_enter("MPI_Comm_create");
    struct comm *c, *n = NULL;
    struct group *g;
    int err = api_comm(comm, &c);
    if (!err)
        err = api_group(group, &g);
    if (!err)
        err = api_pointer(newcomm, "newcomm");
    if (!err)
        err = newcomm_check_subset(c, g->map);
    WATCH_RUN(err, newcomm_create(c, g->map, &n), .call = WATCH_COMM_CREATE, .comm = c,
              .site = __builtin_return_address(0));

    return api_exit_new(comm, err, n, newcomm);
}
API_ALIAS(MPI_Comm_create);

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    api_enter("MPI_Comm_create_group");
    struct comm *c, *n = NULL;
    struct group *g;
    int err = api_intracomm(comm, &c);
    if (!err)
        err = api_group(group, &g);
    if (!err)
        err = api_tag(tag, 0);
    if (!err)
        err = api_pointer(newcomm, "newcomm");
    if (!err)
        err = newcomm_check_subset(c, g->map);
    if (!err)
        err = newcomm_subset(c, g->map, tag, &n);
    if (!err && n)
        watch_comm_made(c, n, WATCH_COMM_CREATE_GROUP, __builtin_return_address(0));
    return api_exit_told(comm, err, n, newcomm);
}
API_ALIAS(MPI_Comm_create_group);

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    api_enter("MPI_Comm_split");
    struct comm *c, *n = NULL;
    int err = api_comm(comm, &c);
    if (!err)
        err = api_pointer(newcomm, "newcomm");
    if (!err && color < 0 && color != MPI_UNDEFINED)
        err = err_make(MPI_ERR_ARG,
                       "MPI_Comm_split: color is %d, neither 0 or more nor MPI_UNDEFINED", color);
    WATCH_RUN(err, newcomm_split(c, color, key, &n), .call = WATCH_COMM_SPLIT, .comm = c,
              .site = __builtin_return_address(0));
    return api_exit_new(comm, err, n, newcomm);
}
API_ALIAS(MPI_Comm_split);

/* The kind of hardware that an info names. Only those in the node map are supported: shared memory
 * and the node. */
static int spans_nodes(const struct comm *c)
{
    for (int i = 0; i < c->size; i++)
        if (!boot_same_node(comm_world(c, i)))
            return 1;
    return 0;
}

static int split_type_color(const struct comm *c, int type, struct info *i, int *color)
{
    *color = MPI_UNDEFINED;
    switch (type) {
    case MPI_UNDEFINED:
    case MPIX_COMM_TYPE_NEIGHBORHOOD: /* there is no data on networks and file systems */
        return MPI_SUCCESS;
    case MPI_COMM_TYPE_SHARED:
        *color = node_color();
        return MPI_SUCCESS;
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
    case MPI_COMM_TYPE_HW_GUIDED:
        return hardware_color(type, i, color);
    case MPI_COMM_TYPE_HW_UNGUIDED: /* only proper subsets (MPI-4 7.4.2) */
        if (!spans_nodes(c))
            return MPI_SUCCESS;
        *color = node_color();
        if (i && info_put(i, "mpi_hw_resource_type", "mpi_shared_memory"))
            return err_make(MPI_ERR_NO_MEM, "MPI_Comm_split_type: no memory for the info key");
        return MPI_SUCCESS;
    }
    return err_make(MPI_ERR_ARG, "MPI_Comm_split_type: split_type %d is not known", type);
}

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    api_enter("MPI_Comm_split_type");
    struct comm *c, *n = NULL;
    struct info *i = NULL;
    int color, err = api_intracomm(comm, &c);
    if (!err)
        err = api_info(info, &i);
    if (!err)
        err = api_pointer(newcomm, "newcomm");
    if (!err)
        err = split_type_color(c, split_type, i, &color);
    WATCH_RUN(err, newcomm_split(c, color, key, &n), .call = WATCH_COMM_SPLIT_TYPE, .comm = c,
              .site = __builtin_return_address(0));
    if (!err && n)
        err = newcomm_hints(n, i);
    return api_exit_new(comm, err, n, newcomm);
}
API_ALIAS(MPI_Comm_split_type);

int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
                          int remote_leader, int tag, MPI_Comm *newintercomm)
{
    api_enter("MPI_Intercomm_create");
    struct comm *local, *peer = NULL, *n = NULL;
    int err = api_intracomm(local_comm, &local);
    if (!err && (local_leader < 0 || local_leader >= local->size))
        err = err_make(MPI_ERR_RANK,
                       "MPI_Intercomm_create: local_leader %d is not in the group of %d processes",
                       local_leader, local->size);
    if (!err)
        err = api_tag(tag, 0);
    if (!err)
        err = api_pointer(newintercomm, "newintercomm");
    /* these arguments are significant at the leader only */
    if (!err && local->rank == local_leader) {
        err = api_comm(peer_comm, &peer);
        if (!err)
            err = api_rank(remote_leader, comm_peer_size(peer), 0);
        if (!err && !peer->remote && remote_leader == peer->rank)
            err = err_make(MPI_ERR_RANK, "MPI_Intercomm_create: remote_leader %d is this process",
                           remote_leader);
    }
    WATCH_RUN(err, newcomm_inter(local, local_leader, peer, remote_leader, tag, &n),
              .call = WATCH_INTERCOMM_CREATE, .comm = local, .site = __builtin_return_address(0));
    return api_exit_new(local_comm, err, n, newintercomm);
}
API_ALIAS(MPI_Intercomm_create);

int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
    api_enter("MPI_Intercomm_merge");
    struct comm *c, *n = NULL;
    int err = api_intercomm(intercomm, &c);
    if (!err)
        err = api_pointer(newintracomm, "newintracomm");
    WATCH_RUN(err, newcomm_merge(c, high, &n), .call = WATCH_INTERCOMM_MERGE, .comm = c,
              .site = __builtin_return_address(0));

    return api_exit_new(intercomm, err, n, newintracomm);
}
API_ALIAS(MPI_Intercomm_merge);

/* --- end --------------------------------------------------------------------------------- */

static int release(const char *call, MPI_Comm *comm, enum watch_call what, const void *site)
{
    api_enter(call);
    struct comm *c = NULL;
    MPI_Comm h = comm ? *comm : MPI_COMM_NULL;
    int err = api_pointer(comm, "comm");
    if (!err)
        err = api_comm_local(h, &c);
    if (!err && obj_is_builtin(&c->obj))
        err = err_make(MPI_ERR_COMM, "%s: %s cannot be freed", call,
                       h == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF");
    if (!err) {
        comm_ref(c);
        err = comm_release(c);
        if (!err && c == proc->api->parent)
            proc->api->parent = NULL;
        if (!err) /* a callback may have refused */
            p2p_buffer_discard(&c->buffer);
        if (!err)
            watch_comm_freed(c, what, site);
        comm_drop(c);
    }
    if (!err)
        *comm = MPI_COMM_NULL;
    return api_exit(h, err);
}

int PMPI_Comm_free(MPI_Comm *comm)
{
    return release("MPI_Comm_free", comm, WATCH_COMM_FREE, __builtin_return_address(0));
}
API_ALIAS(MPI_Comm_free);

/* Unlike MPI_Comm_free it waits for pending communication. That has ended when the requests are
 * complete; what is left is internal to this library. */
int PMPI_Comm_disconnect(MPI_Comm *comm)
{
    return release("MPI_Comm_disconnect", comm, WATCH_COMM_DISCONNECT,
                   __builtin_return_address(0));
}
API_ALIAS(MPI_Comm_disconnect);

int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    api_enter("MPI_Comm_get_parent");
    int err = api_pointer(parent, "parent");
    if (!err)
        *parent = proc->api->parent ? proc->api->parent->obj.handle : MPI_COMM_NULL;
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Comm_get_parent);

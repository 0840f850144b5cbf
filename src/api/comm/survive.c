/* survive.c - communicators after failures, after ULFM: revoke, shrink, agree, and which members
 * have failed. What the MPI Forum has voted has a name with MPI_, too. Start with
 * PMPIX_Comm_shrink(). */
#include "api/api.h"

#include <limits.h>

#include "coll/survive.h"
#include "obj/failed.h"
#include "obj/request.h"
#include "p2p/p2p.h"

static int revoke(const char *call, MPI_Comm comm)
{
    api_enter(call);
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        coll_revoke(c);
    return api_exit(comm, err);
}

int PMPIX_Comm_revoke(MPI_Comm comm)
{
    return revoke("MPIX_Comm_revoke", comm);
}
API_ALIAS(MPIX_Comm_revoke);

int PMPI_Comm_revoke(MPI_Comm comm)
{
    return revoke("MPI_Comm_revoke", comm);
}
API_ALIAS(MPI_Comm_revoke);

int PMPIX_Comm_is_revoked(MPI_Comm comm, int *flag)
{
    api_enter("MPIX_Comm_is_revoked");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(flag, "flag");
    if (!err) {
        p2p_see_failed(); /* polls: a notice may have come */
        *flag = c->revoked;
    }
    return api_exit(comm, err);
}
API_ALIAS(MPIX_Comm_is_revoked);

/* --- the living agree --------------------------------------------------------------------- */

int PMPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm)
{
    api_enter("MPIX_Comm_shrink");
    struct comm *c, *n = NULL;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(newcomm, "newcomm");
    if (!err)
        err = coll_shrink(c, &n);
    return api_exit_new(comm, err, n, newcomm);
}
API_ALIAS(MPIX_Comm_shrink);

int PMPIX_Comm_agree(MPI_Comm comm, int *flag)
{
    api_enter("MPIX_Comm_agree");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(flag, "flag");
    if (!err)
        err = coll_agree(c, flag);
    return api_exit(comm, err);
}
API_ALIAS(MPIX_Comm_agree);

int PMPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    api_enter("MPIX_Comm_ishrink");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(newcomm, "newcomm");
    if (!err)
        err = api_pointer(request, "request");
    if (!err) { /* when it has its id is a matter of time: no watch_comm_made() */
        *newcomm = MPI_COMM_NULL;
        err = request_publish(coll_ishrink(c, newcomm), request);
    }
    return api_exit_begun(comm, err, request);
}
API_ALIAS(MPIX_Comm_ishrink);

int PMPIX_Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request)
{
    api_enter("MPIX_Comm_iagree");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(flag, "flag");
    if (!err)
        err = api_pointer(request, "request");
    if (!err)
        err = request_publish(coll_iagree(c, flag), request);
    return api_exit_begun(comm, err, request);
}
API_ALIAS(MPIX_Comm_iagree);

/* --- the failed ---------------------------------------------------------------------------- */

static int group_of(MPI_Comm comm, failed_next *next, MPI_Group *failedgrp)
{
    struct comm *c;
    struct rankmap *m = NULL;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(failedgrp, "failedgrp");
    if (!err)
        p2p_see_failed();
    if (!err && !(m = failed_map(c, next)))
        err = err_make(MPI_ERR_NO_MEM, "%s: no memory for the group", proc->call);
    if (!err)
        err = api_group_publish(m, c->session, failedgrp);
    rankmap_drop(m);
    return api_exit(comm, err);
}

int PMPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *failedgrp)
{
    api_enter("MPIX_Comm_failure_get_acked");
    return group_of(comm, comm_acked, failedgrp);
}
API_ALIAS(MPIX_Comm_failure_get_acked);

int PMPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failedgrp)
{
    api_enter("MPIX_Comm_get_failed");
    return group_of(comm, comm_failed, failedgrp);
}
API_ALIAS(MPIX_Comm_get_failed);

int PMPI_Comm_get_failed(MPI_Comm comm, MPI_Group *failedgrp)
{
    api_enter("MPI_Comm_get_failed");
    return group_of(comm, comm_failed, failedgrp);
}
API_ALIAS(MPI_Comm_get_failed);

int PMPIX_Comm_failure_ack(MPI_Comm comm)
{
    api_enter("MPIX_Comm_failure_ack");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        p2p_ack_failed(c, INT_MAX);
    return api_exit(comm, err);
}
API_ALIAS(MPIX_Comm_failure_ack);

static int ack_failed(MPI_Comm comm, int num_to_ack, int *num_acked)
{
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(num_acked, "num_acked");
    if (!err && num_to_ack < 0)
        err = err_make(MPI_ERR_ARG, "%s: num_to_ack is %d", proc->call, num_to_ack);
    if (!err) {
        p2p_ack_failed(c, num_to_ack);
        *num_acked = failed_count(c, comm_acked);
    }
    return api_exit(comm, err);
}

int PMPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int *num_acked)
{
    api_enter("MPIX_Comm_ack_failed");
    return ack_failed(comm, num_to_ack, num_acked);
}
API_ALIAS(MPIX_Comm_ack_failed);

int PMPI_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int *num_acked)
{
    api_enter("MPI_Comm_ack_failed");
    return ack_failed(comm, num_to_ack, num_acked);
}
API_ALIAS(MPI_Comm_ack_failed);

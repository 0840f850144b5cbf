/* grequest.c - generalized requests (MPI-3.1 12.2). */
#include "api/api.h"

#include <stdlib.h>

#include "api/bindings.h"
#include "obj/upcall.h"

struct general {
    struct request r;
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra;
    int fortran;    /* the functions return their error in a last argument */
    MPI_Aint value; /* fortran: of the argument extra_state; the functions get its address */
};

typedef void fortran_query(void *extra, MPI_Status *st, MPI_Fint *err);
typedef void fortran_free(void *extra, MPI_Fint *err);
typedef void fortran_cancel(void *extra, MPI_Fint *complete, MPI_Fint *err);

/* User functions may make MPI calls, which note and clear proc->call. */
static int general_query(struct request *r, MPI_Status *st)
{
    struct general *g = (struct general *)r;
    const char *call = proc->call;
    struct upcall hold;
    int err = MPI_SUCCESS;
    upcall_begin(&hold);
    if (g->fortran)
        ((fortran_query *)(void *)g->query)(g->extra, st, &err);
    else if (g->query)
        err = g->query(g->extra, st);
    upcall_end(&hold);
    proc->call = call;
    return err;
}

static int general_cancel(struct request *r)
{
    struct general *g = (struct general *)r;
    const char *call = proc->call;
    struct upcall hold;
    int err = MPI_SUCCESS, done = r->done; /* Fortran's .true. is any number but 0 */
    upcall_begin(&hold);
    if (g->fortran)
        ((fortran_cancel *)(void *)g->cancel)(g->extra, &done, &err);
    else if (g->cancel)
        err = g->cancel(g->extra, done);
    upcall_end(&hold);
    proc->call = call;
    return err;
}

static void general_free(struct request *r)
{
    struct general *g = (struct general *)r;
    const char *call = proc->call;
    struct upcall hold;
    int err;
    upcall_begin(&hold);
    if (g->fortran)
        ((fortran_free *)(void *)g->free)(g->extra, &err);
    else if (g->free)
        g->free(g->extra);
    upcall_end(&hold);
    proc->call = call;
    free(g);
}

static const struct request_ops general_ops = {
    .query = general_query, .cancel = general_cancel, .free = general_free};

int PMPI_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *free_fn,
                        MPI_Grequest_cancel_function *cancel, void *extra, MPI_Request *request)
{
    api_enter("MPI_Grequest_start");
    int err = api_pointer(request, "request");
    struct general *g = err ? NULL : calloc(1, sizeof *g);
    if (!err && !g)
        err = err_make(MPI_ERR_NO_MEM, "MPI_Grequest_start: no memory for a request");
    if (!err) {
        request_init(&g->r, REQUEST_GENERAL, &general_ops, NULL);
        g->r.what = "a generalized request";
        g->query = query;
        g->free = free_fn;
        g->cancel = cancel;
        g->extra = extra;
        err = request_publish(&g->r, request);
        if (err)
            free(g);
    }
    return api_exit_begun(MPI_COMM_NULL, err, request);
}
API_ALIAS(MPI_Grequest_start);

int PMPI_Grequest_complete(MPI_Request request)
{
    api_enter("MPI_Grequest_complete");
    /* A request that the user has freed stays known by its handle: generalized requests keep it. */
    struct request *r;
    int err = api_request(request, &r);
    if (!err && (!r || r->kind != REQUEST_GENERAL))
        err = err_make(MPI_ERR_REQUEST,
                       "MPI_Grequest_complete: request %#x is no generalized request",
                       (unsigned)request);
    if (!err && r->done)
        err = err_make(MPI_ERR_REQUEST, "MPI_Grequest_complete: request %#x is complete already",
                       (unsigned)request);
    if (!err)
        request_complete(r, MPI_SUCCESS);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Grequest_complete);

/* The address of extra_state came from Fortran. The variable may go when MPI_Grequest_start, which
 * calls this, returns. */
static void from_fortran(struct general *g)
{
    g->fortran = 1;
    if (g->extra)
        g->value = *(MPI_Aint *)g->extra;
    g->extra = &g->value;
}

void MPII_Grequest_set_lang_f77(MPI_Request request)
{
    api_enter("MPII_Grequest_set_lang_f77");
    struct request *r = obj_find(OBJ_REQUEST, request);
    if (r && r->kind == REQUEST_GENERAL)
        from_fortran((struct general *)r);
    api_unlock();
}

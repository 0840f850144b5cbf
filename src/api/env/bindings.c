/* bindings.c - hooks of MPICH's binding libraries that belong to no other file, and the texts of
 * mpichversion. */
#include "api/bindings.h"

#include <stdlib.h>

#include "coll/coll.h"
#include "config.h"
#include "dt/dt.h"
#include "obj/errhandler.h"
#include "obj/request.h"

void MPII_Op_set_cxx(MPI_Op op, void (*caller)(void))
{
    api_enter("MPII_Op_set_cxx");
    struct dt_op *o = dt_op_find(op);
    if (o && !o->index)
        o->cxx = (void (*)(const void *, void *, int, MPI_Datatype, MPI_User_function *))caller;
    api_unlock();
}

void api_op_set_caller_c(MPI_Op op, void (*caller)(const void *in, void *inout, MPI_Count len,
                                                   MPI_Datatype type, MPI_User_function_c *user))
{
    api_enter("MPI_Op_create_c");
    struct dt_op *o = dt_op_find(op);
    if (o && !o->index)
        o->cxx_c = caller;
    api_unlock();
}

void api_op_intercept(MPI_Op op, void (*user)(void),
                      void (*caller)(const void *in, void *inout, int len, MPI_Datatype type,
                                     void (*user)(void), void (*intercept)(void)))
{
    api_enter("MPI_Op_create");
    struct dt_op *o = dt_op_find(op);
    if (o && !o->index && !o->front) {
        o->intercept = (void (*)(void))o->user;
        o->user = (void (*)(void *, void *, int *, MPI_Datatype *))user;
        o->front = caller;
    }
    api_unlock();
}

void api_request_own(MPI_Request request, void *memory)
{
    api_enter("MPI_Ialltoallw");
    struct request *r = obj_find(OBJ_REQUEST, request);
    if (r && (r->kind == REQUEST_COLL || r->kind == REQUEST_PERSISTENT_COLL))
        coll_request_own(r, memory);
    else
        free(memory);
    api_unlock();
}

void MPII_Errhandler_set_cxx(MPI_Errhandler errhandler, void (*caller)(void))
{
    api_enter("MPII_Errhandler_set_cxx");
    struct errhandler *e = errhandler_find(errhandler);
    if (e && e->holder)
        e->cxx = (errhandler_cxx *)caller;
    api_unlock();
}

const char MPII_Version_string[] = MPICH_VERSION " (Windrose " WINDROSE_VERSION ")";
const char MPII_Version_date[] = "";
const char MPII_Version_ABI[] = "14:2:2";
const char MPII_Version_configure[] = CONFIGURE_LINE;
const char MPII_Version_device[] = "windrose";
const char MPII_Version_CC[] = __VERSION__;
const char MPII_Version_CXX[] = "";
const char MPII_Version_F77[] = "";
const char MPII_Version_FC[] = "";
const char MPII_Version_custom[] = "";

/* bindings.h - what MPICH's binding libraries (libmpichfort, libmpichcxx) and mpichversion take
 * from the library besides MPI's own names.  They have no PMPI twins.  `form` is an enum
 * attr_form. */
#ifndef API_BINDINGS_H
#define API_BINDINGS_H

#include "api/api.h"
#include "obj/attr.h"

/* Attributes: Fortran's values, and the callers of Fortran's and C++'s functions. */
API_EXPORT int MPII_Comm_set_attr(MPI_Comm comm, int keyval, void *value, int form);
API_EXPORT int MPII_Type_set_attr(MPI_Datatype type, int keyval, void *value, int form);
API_EXPORT int MPII_Win_set_attr(MPI_Win win, int keyval, void *value, int form);
API_EXPORT int MPII_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag, int form);
API_EXPORT int MPII_Type_get_attr(MPI_Datatype type, int keyval, void *value, int *flag, int form);
API_EXPORT int MPII_Win_get_attr(MPI_Win win, int keyval, void *value, int *flag, int form);
API_EXPORT void MPII_Keyval_set_proxy(int keyval, attr_copy_proxy *copy, attr_delete_proxy *del);

/* The functions of this generalized request are Fortran's. */
API_EXPORT void MPII_Grequest_set_lang_f77(MPI_Request request);

/* The function of this operation, or handler, is C++'s, and is called by `caller`. */
API_EXPORT void MPII_Op_set_cxx(MPI_Op op, void (*caller)(void));
/* The same for one of MPI_Op_create_c; bind/front only. */
void api_op_set_caller_c(MPI_Op op, void (*caller)(const void *in, void *inout, MPI_Count len,
                                                   MPI_Datatype type, MPI_User_function_c *user));
/* The function of this operation gets another one, `user`, which it calls: `caller` gives it that.
 * bind/front only. */
void api_op_intercept(MPI_Op op, void (*user)(void),
                      void (*caller)(const void *in, void *inout, int len, MPI_Datatype type,
                                     void (*user)(void), void (*intercept)(void)));
/* Is there a communicator of this handle?  It reports nothing. bind/front only. */
int api_comm_exists(MPI_Comm comm);
/* Is this process the root of a collective call on comm? bind/front only. */
int api_at_root(MPI_Comm comm, int root);
/* memory (of malloc) is freed when `request`, of a nonblocking or persistent MPI_Alltoallw or its
 * like, is; at most two for each. bind/front only. */
void api_request_own(MPI_Request request, void *memory);
/* What MPI_Comm_spawn stores for a process that was not started; each front has its own. */
int api_err_spawn(void);
/* The code that a call returns for an error; each front has its own. */
int api_returned(int err, const char *call) __attribute__((cold));
API_EXPORT void MPII_Errhandler_set_cxx(MPI_Errhandler errhandler, void (*caller)(void));

/* What mpichversion prints. */
API_EXPORT extern const char MPII_Version_string[], MPII_Version_date[], MPII_Version_ABI[],
    MPII_Version_configure[], MPII_Version_device[], MPII_Version_CC[], MPII_Version_CXX[],
    MPII_Version_F77[], MPII_Version_FC[], MPII_Version_custom[];

#endif

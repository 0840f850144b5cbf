/* mpix.c - MPICH's extensions, MPIX_. Those that need a missing feature return an error that names
 * it. Start with PMPIX_Delete_error_class(). */
#include "api/api.h"

/* The signatures are given from outside; not every function needs all of its own. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* --- error classes, codes and texts are taken back ------------------------------------------- */

int PMPIX_Delete_error_class(int errorclass)
{
    api_enter("MPIX_Delete_error_class");
    return api_exit(MPI_COMM_NULL, err_delete(errorclass, 1));
}
API_ALIAS(MPIX_Delete_error_class);

int PMPIX_Delete_error_code(int errorcode)
{
    api_enter("MPIX_Delete_error_code");
    return api_exit(MPI_COMM_NULL, err_delete(errorcode, 0));
}
API_ALIAS(MPIX_Delete_error_code);

int PMPIX_Delete_error_string(int errorcode)
{
    api_enter("MPIX_Delete_error_string");
    return api_exit(MPI_COMM_NULL, err_delete_string(errorcode));
}
API_ALIAS(MPIX_Delete_error_string);

/* --- GPUs: memory of none is known here ------------------------------------------------------- */

int PMPIX_GPU_query_support(int gpu_type, int *is_supported)
{
    api_enter("MPIX_GPU_query_support");
    int err = api_pointer(is_supported, "is_supported");
    if (!err && (gpu_type < MPIX_GPU_SUPPORT_CUDA || gpu_type > MPIX_GPU_SUPPORT_HIP))
        err = err_make(MPI_ERR_ARG, "%s: %d is no kind of GPU", proc->call, gpu_type);
    if (!err)
        *is_supported = 0;
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPIX_GPU_query_support);

/* Programs call these before MPI_Init, too. */
int PMPIX_Query_cuda_support(void)
{
    return 0;
}
API_ALIAS(MPIX_Query_cuda_support);

int PMPIX_Query_hip_support(void)
{
    return 0;
}
API_ALIAS(MPIX_Query_hip_support);

int PMPIX_Query_ze_support(void)
{
    return 0;
}
API_ALIAS(MPIX_Query_ze_support);

/* --- generalized requests that the library polls ---------------------------------------------- */

static int no_polling(const char *call)
{
    api_enter(call);
    return api_exit(
        MPI_COMM_NULL,
        err_make(MPI_ERR_UNSUPPORTED_OPERATION,
                 "%s: this library does not poll generalized requests; use MPI_Grequest_start",
                 call));
}

int PMPIX_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                         MPI_Grequest_cancel_function *cancel_fn,
                         MPIX_Grequest_poll_function *poll_fn, MPIX_Grequest_wait_function *wait_fn,
                         void *extra_state, MPI_Request *request)
{
    if (request)
        *request = MPI_REQUEST_NULL;
    return no_polling("MPIX_Grequest_start");
}
API_ALIAS(MPIX_Grequest_start);

int PMPIX_Grequest_class_create(MPI_Grequest_query_function *query_fn,
                                MPI_Grequest_free_function *free_fn,
                                MPI_Grequest_cancel_function *cancel_fn,
                                MPIX_Grequest_poll_function *poll_fn,
                                MPIX_Grequest_wait_function *wait_fn,
                                MPIX_Grequest_class *greq_class)
{
    return no_polling("MPIX_Grequest_class_create");
}
API_ALIAS(MPIX_Grequest_class_create);

int PMPIX_Grequest_class_allocate(MPIX_Grequest_class greq_class, void *extra_state,
                                  MPI_Request *request)
{
    if (request)
        *request = MPI_REQUEST_NULL;
    return no_polling("MPIX_Grequest_class_allocate");
}
API_ALIAS(MPIX_Grequest_class_allocate);

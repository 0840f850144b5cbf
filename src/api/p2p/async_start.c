/* async_start.c - MPIX_Async_start and its kin: functions of the program that MPI polls until they
 * are done (obj/async_poll.h). Names, signatures and values are MPICH's. */
#include "obj/async_poll.h"

#include "api/api.h"

static int start(MPIX_Async_poll_function *fn, void *state, MPIX_Stream stream)
{
    int err = fn ? MPI_SUCCESS : api_pointer(NULL, "poll_fn");
    if (!err && stream != MPIX_STREAM_NULL)
        err = err_make(MPI_ERR_ARG, "%s: stream is %#x, and there is none but MPIX_STREAM_NULL",
                       proc->call, (unsigned)stream);
    return err ? err : async_add(fn, state);
}

int PMPIX_Async_start(MPIX_Async_poll_function *poll_fn, void *extra_state, MPIX_Stream stream)
{
    api_enter("MPIX_Async_start");
    return api_exit(MPI_COMM_NULL, start(poll_fn, extra_state, stream));
}
API_ALIAS(MPIX_Async_start);

int PMPIX_Async_spawn(MPIX_Async_thing async_thing, MPIX_Async_poll_function *poll_fn,
                      void *extra_state, MPIX_Stream stream)
{
    api_enter("MPIX_Async_spawn");
    int err = api_pointer(async_thing, "async_thing");
    return api_exit(MPI_COMM_NULL, err ? err : start(poll_fn, extra_state, stream));
}
API_ALIAS(MPIX_Async_spawn);

/* Called in the function itself: no other thread writes it. */
void *PMPIX_Async_get_state(MPIX_Async_thing async_thing)
{
    return async_state(async_thing);
}
API_ALIAS(MPIX_Async_get_state);

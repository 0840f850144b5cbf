/* iov.c - MPIX_Type_iov: the blocks of a datatype, as MPICH 4.2 gives them. Start with take(). */
#include "api/api.h"

#include <sys/uio.h>

#include "dt/dt.h"

_Static_assert(sizeof(MPIX_Iov) == sizeof(struct iovec), "the fields of struct iovec");

int PMPIX_Type_iov_len(MPI_Datatype datatype, MPI_Count max_iov_bytes, MPI_Count *iov_len,
                       MPI_Count *actual_iov_bytes)
{
    api_enter("MPIX_Type_iov_len");
    struct dt_type *t;
    int err = api_type(datatype, &t);
    if (!err && max_iov_bytes < -1)
        err = err_make(MPI_ERR_COUNT, "%s: max_iov_bytes is %lld; -1 asks for all blocks",
                       proc->call, (long long)max_iov_bytes);
    if (!err)
        err = api_pointer(iov_len, "iov_len");
    if (!err)
        err = api_pointer(actual_iov_bytes, "actual_iov_bytes");
    if (!err) {
        int64_t held;
        *iov_len = dt_iov_within(t, max_iov_bytes < 0 ? t->size : max_iov_bytes, &held);
        *actual_iov_bytes = held;
    }
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPIX_Type_iov_len);

/* The blocks from the first-th on, at most `most`. */
static MPI_Count take(struct dt_type *t, MPI_Count first, MPIX_Iov *to, MPI_Count most)
{
    enum { AT_ONCE = 64 };
    struct iovec iov[AT_ONCE];
    MPI_Count done = 0;
    size_t n, room;
    do {
        room = most - done < AT_ONCE ? (size_t)(most - done) : AT_ONCE;
        n = dt_iov_from(t, first + done, iov, room);
        for (size_t i = 0; i < n; i++)
            to[done++] = (MPIX_Iov){iov[i].iov_base, (MPI_Aint)iov[i].iov_len};
    } while (n == room && done < most);
    return done;
}

int PMPIX_Type_iov(MPI_Datatype datatype, MPI_Count iov_offset, MPIX_Iov *iov,
                   MPI_Count max_iov_len, MPI_Count *actual_iov_len)
{
    api_enter("MPIX_Type_iov");
    struct dt_type *t;
    int err = api_type(datatype, &t);
    if (!err)
        err = api_count_named(iov_offset, "iov_offset");
    if (!err)
        err = api_count_named(max_iov_len, "max_iov_len");
    if (!err && max_iov_len > 0)
        err = api_pointer(iov, "iov");
    if (!err)
        err = api_pointer(actual_iov_len, "actual_iov_len");
    if (!err) {
        *actual_iov_len = max_iov_len ? take(t, iov_offset, iov, max_iov_len) : 0;
    }
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPIX_Type_iov);

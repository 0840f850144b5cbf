/* iov.c - MPIX_Type_iov: the blocks of a datatype, as MPICH 4.2 gives them.  Start with each(). */
#include "api/api.h"

#include <sys/uio.h>

#include "dt/dt.h"

_Static_assert(sizeof(MPIX_Iov) == sizeof(struct iovec), "the fields of struct iovec");

/* Calls fn for each block of one instance, adjacent bytes joined, until it returns 0. */
static void each(const struct dt_type *t, int (*fn)(void *arg, const struct iovec *block),
                 void *arg)
{
    enum { AT_ONCE = 64 };
    struct iovec iov[AT_ONCE];
    size_t n, bytes;
    for (size_t at = 0; at < (size_t)t->size; at += bytes) {
        n = dt_iov(t, 1, NULL, at, (size_t)t->size - at, iov, AT_ONCE, &bytes);
        for (size_t i = 0; i < n; i++)
            if (!fn(arg, &iov[i]))
                return;
    }
}

struct counted {
    MPI_Count blocks, bytes, most; /* bytes */
};

static int count(void *arg, const struct iovec *block)
{
    struct counted *c = arg;
    if ((MPI_Count)block->iov_len > c->most - c->bytes)
        return 0;
    c->blocks++;
    c->bytes += (MPI_Count)block->iov_len;
    return 1;
}

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
        struct counted c = {.most = max_iov_bytes < 0 ? t->size : max_iov_bytes};
        if (c.most >= t->size && dt_is_block(t, 1))
            c = (struct counted){t->size > 0, t->size, 0};
        else
            each(t, count, &c);
        *iov_len = c.blocks;
        *actual_iov_bytes = c.bytes;
    }
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPIX_Type_iov_len);

struct taken {
    MPI_Count skip, n, most;
    MPIX_Iov *to;
};

static int take(void *arg, const struct iovec *block)
{
    struct taken *x = arg;
    if (x->skip) {
        x->skip--;
        return 1;
    }
    if (x->n == x->most)
        return 0;
    x->to[x->n++] = (MPIX_Iov){block->iov_base, (MPI_Aint)block->iov_len};
    return 1;
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
        struct taken x = {.skip = iov_offset, .most = max_iov_len, .to = iov};
        if (max_iov_len)
            each(t, take, &x);
        *actual_iov_len = x.n;
    }
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPIX_Type_iov);

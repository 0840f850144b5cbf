/* bsend_buffer.c - the buffer of buffered sends (MPI-3.1 3.6). */
#include "api/api.h"

#include <limits.h>

#include "p2p/p2p.h"

static int attach_call(const char *call, void *buffer, MPI_Count size)
{
    api_enter(call);
    int err = size < 0
                  ? err_make(MPI_ERR_ARG, "%s: size is %lld, less than 0", call, (long long)size)
                  : MPI_SUCCESS;
    if (!err && size)
        err = api_pointer(buffer, "buffer");
    if (!err)
        err = p2p_buffer_attach(buffer, (size_t)size);
    return api_exit(MPI_COMM_NULL, err);
}

static int detach_call(const char *call, void *buffer_addr, MPI_Count *size)
{
    size_t n = 0;
    api_enter(call);
    int err = api_pointer(buffer_addr, "buffer_addr");
    if (!err)
        err = api_pointer(size, "size");
    if (!err)
        err = p2p_buffer_detach(buffer_addr, &n);
    if (size)
        *size = (MPI_Count)n;
    return api_exit(MPI_COMM_NULL, err);
}

int PMPI_Buffer_attach(void *buffer, int size)
{
    return attach_call("MPI_Buffer_attach", buffer, size);
}
API_ALIAS(MPI_Buffer_attach);

int PMPI_Buffer_attach_c(void *buffer, MPI_Count size)
{
    return attach_call("MPI_Buffer_attach_c", buffer, size);
}
API_ALIAS(MPI_Buffer_attach_c);

int PMPI_Buffer_detach(void *buffer_addr, int *size)
{
    MPI_Count n = 0;
    int err = detach_call("MPI_Buffer_detach", buffer_addr, size ? &n : NULL);
    if (size)
        *size = n > INT_MAX ? INT_MAX : (int)n;
    return err;
}
API_ALIAS(MPI_Buffer_detach);

int PMPI_Buffer_detach_c(void *buffer_addr, MPI_Count *size)
{
    return detach_call("MPI_Buffer_detach_c", buffer_addr, size);
}
API_ALIAS(MPI_Buffer_detach_c);

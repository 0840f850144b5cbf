/* bsend_buffer.c - buffers of buffered sends: the process's and those of communicators (MPI-4.1
 * 3.6). Those of sessions are in env/session.c. Start with buffer_attach(). */
#include "api/p2p/buffercall.h"

#include "dt/dt.h"

#include <limits.h>

int buffer_attach(struct p2p_buffer **at, void *buffer, MPI_Count size)
{
    int automatic = buffer == MPI_BUFFER_AUTOMATIC; /* its size is ignored */
    int err = size < 0 && !automatic ? err_make(MPI_ERR_ARG, "%s: size is %lld, less than 0",
                                                proc->call, (long long)size)
                                     : MPI_SUCCESS;
    if (!err && size)
        err = api_pointer(buffer, "buffer");
    if (!err && !automatic)
        watch_memory(buffer, size, dt_find(MPI_BYTE), 1, "buffer");
    return err ? err : p2p_buffer_attach(at, buffer, (size_t)size);
}

int buffer_detach(struct p2p_buffer **at, void *buffer_addr, MPI_Count *size)
{
    size_t n = 0;
    int err = api_pointer(buffer_addr, "buffer_addr");
    if (!err)
        err = api_pointer(size, "size");
    if (!err)
        err = p2p_buffer_detach(at, buffer_addr, &n);
    if (size)
        *size = (MPI_Count)n;
    return err;
}

int buffer_detach_int(struct p2p_buffer **at, void *buffer_addr, int *size)
{
    MPI_Count n = 0;
    int err = buffer_detach(at, buffer_addr, size ? &n : NULL);
    if (size)
        *size = n > INT_MAX ? INT_MAX : (int)n;
    return err;
}

int buffer_iflush(struct p2p_buffer **at, MPI_Request *request)
{
    struct request *r = NULL;
    int err = api_pointer(request, "request");
    if (!err)
        err = p2p_buffer_iflush(at, &r);
    if (!err && (err = request_publish(r, request)) != MPI_SUCCESS)
        request_release(r);
    return err;
}

/* --- the process's --------------------------------------------------------------------- */

int PMPI_Buffer_attach(void *buffer, int size)
{
    api_enter("MPI_Buffer_attach");
    return api_exit(MPI_COMM_NULL, buffer_attach(NULL, buffer, size));
}
API_ALIAS(MPI_Buffer_attach);

int PMPI_Buffer_attach_c(void *buffer, MPI_Count size)
{
    api_enter("MPI_Buffer_attach_c");
    return api_exit(MPI_COMM_NULL, buffer_attach(NULL, buffer, size));
}
API_ALIAS(MPI_Buffer_attach_c);

int PMPI_Buffer_detach(void *buffer_addr, int *size)
{
    api_enter("MPI_Buffer_detach");
    return api_exit(MPI_COMM_NULL, buffer_detach_int(NULL, buffer_addr, size));
}
API_ALIAS(MPI_Buffer_detach);

int PMPI_Buffer_detach_c(void *buffer_addr, MPI_Count *size)
{
    api_enter("MPI_Buffer_detach_c");
    return api_exit(MPI_COMM_NULL, buffer_detach(NULL, buffer_addr, size));
}
API_ALIAS(MPI_Buffer_detach_c);

int PMPI_Buffer_flush(void)
{
    api_enter("MPI_Buffer_flush");
    return api_exit(MPI_COMM_NULL, p2p_buffer_flush(NULL));
}
API_ALIAS(MPI_Buffer_flush);

int PMPI_Buffer_iflush(MPI_Request *request)
{
    api_enter("MPI_Buffer_iflush");
    return api_exit_begun(MPI_COMM_NULL, buffer_iflush(NULL, request), request);
}
API_ALIAS(MPI_Buffer_iflush);

/* --- of communicators ------------------------------------------------------------------ */

int PMPI_Comm_attach_buffer(MPI_Comm comm, void *buffer, int size)
{
    api_enter("MPI_Comm_attach_buffer");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    return api_exit(comm, err ? err : buffer_attach(&c->buffer, buffer, size));
}
API_ALIAS(MPI_Comm_attach_buffer);

int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void *buffer, MPI_Count size)
{
    api_enter("MPI_Comm_attach_buffer_c");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    return api_exit(comm, err ? err : buffer_attach(&c->buffer, buffer, size));
}
API_ALIAS(MPI_Comm_attach_buffer_c);

int PMPI_Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size)
{
    api_enter("MPI_Comm_detach_buffer");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    return api_exit(comm, err ? err : buffer_detach_int(&c->buffer, buffer_addr, size));
}
API_ALIAS(MPI_Comm_detach_buffer);

int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr, MPI_Count *size)
{
    api_enter("MPI_Comm_detach_buffer_c");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    return api_exit(comm, err ? err : buffer_detach(&c->buffer, buffer_addr, size));
}
API_ALIAS(MPI_Comm_detach_buffer_c);

int PMPI_Comm_flush_buffer(MPI_Comm comm)
{
    api_enter("MPI_Comm_flush_buffer");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    return api_exit(comm, err ? err : p2p_buffer_flush(&c->buffer));
}
API_ALIAS(MPI_Comm_flush_buffer);

int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request)
{
    api_enter("MPI_Comm_iflush_buffer");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    return api_exit_begun(comm, err ? err : buffer_iflush(&c->buffer, request), request);
}
API_ALIAS(MPI_Comm_iflush_buffer);

/* pack.c - packing and addresses (MPI-3.1 4.1.5, 4.2, 4.3). Start with pack() and PMPI_Pack(). */
#include "api/api.h"

#include <limits.h>
#include <string.h>

#include "dt/dt.h"

/* --- addresses -------------------------------------------------------------------- */
static int get_address(const void *location, MPI_Aint *address)
{
    int err = api_pointer(address, "address");
    if (!err)
        *address = (MPI_Aint)(intptr_t)location;
    return api_exit(MPI_COMM_NULL, err);
}

int PMPI_Get_address(const void *location, MPI_Aint *address)
{
    api_enter("MPI_Get_address");
    return get_address(location, address);
}
API_ALIAS(MPI_Get_address);

int PMPI_Address(void *location, MPI_Aint *address)
{
    api_enter("MPI_Address");
    return get_address(location, address);
}
API_ALIAS(MPI_Address);

/* Address arithmetic needs no library state: legal at any time, and wraps like addresses. */
MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}
API_ALIAS(MPI_Aint_add);

MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}
API_ALIAS(MPI_Aint_diff);

/* --- pack, unpack ------------------------------------------------------------------- */
enum form { NATIVE, EXTERNAL32 };

static int packed_bytes(enum form form, const struct dt_type *t, int64_t count, size_t *bytes)
{
    return form == NATIVE ? dt_total(t, (size_t)count, bytes)
                          : dt_ext_size(t, (size_t)count, bytes);
}

/* `bytes` at *position of a packed buffer of `size` bytes. */
static int check_window(const void *buf, int64_t size, const int64_t *position, size_t bytes)
{
    int err = api_pointer(position, "position");
    if (!err &&
        (*position < 0 || size < 0 || *position > size || bytes > (size_t)(size - *position)))
        err = err_make(MPI_ERR_ARG,
                       "%s: %zu bytes at position %lld do not fit the packed buffer of %lld bytes",
                       proc->call, bytes, (long long)*position, (long long)size);
    if (!err && bytes && !buf)
        err = err_make(MPI_ERR_BUFFER, "%s: the packed buffer is a null pointer", proc->call);
    return err;
}

static int check_data(const void *buf, int64_t count, MPI_Datatype type, enum form form,
                      struct dt_type **t, size_t *bytes)
{
    int err = api_count(count);
    if (!err)
        err = api_type_committed(type, t);
    if (!err)
        err = api_buffer(buf, count, *t);
    return err ? err : packed_bytes(form, *t, count, bytes);
}

static int pack(enum form form, const void *in, int64_t count, MPI_Datatype type, void *out,
                int64_t size, int64_t *position)
{
    struct dt_type *t;
    size_t bytes;
    int err = check_data(in, count, type, form, &t, &bytes);
    if (!err)
        err = check_window(out, size, position, bytes);
    if (err || !bytes)
        return err;
    if (watch_wants(WATCH_MEMORY)) {
        watch_memory(in, count, t, 0, "inbuf");
        watch_memory((char *)out + *position, (int64_t)bytes, dt_find(MPI_BYTE), 1, "outbuf");
    }
    if (form == NATIVE)
        dt_pack(t, (size_t)count, in, 0, (char *)out + *position, bytes);
    else
        err = dt_ext_pack(t, (size_t)count, in, (char *)out + *position);
    if (!err)
        *position += (int64_t)bytes;
    return err;
}

static int unpack(enum form form, const void *in, int64_t size, int64_t *position, void *out,
                  int64_t count, MPI_Datatype type)
{
    struct dt_type *t;
    size_t bytes;
    int err = check_data(out, count, type, form, &t, &bytes);
    if (!err)
        err = check_window(in, size, position, bytes);
    if (err || !bytes)
        return err;
    if (watch_wants(WATCH_MEMORY)) {
        watch_memory((const char *)in + *position, (int64_t)bytes, dt_find(MPI_BYTE), 0, "inbuf");
        watch_memory(out, count, t, 1, "outbuf");
    }
    if (form == NATIVE)
        dt_unpack(t, (size_t)count, out, 0, (const char *)in + *position, bytes);
    else
        err = dt_ext_unpack(t, (size_t)count, out, (const char *)in + *position);
    if (!err)
        *position += (int64_t)bytes;
    return err;
}

static int size_of(enum form form, int64_t count, MPI_Datatype type, int64_t *size)
{
    struct dt_type *t;
    size_t bytes;
    int err = api_count(count);
    if (!err)
        err = api_type(type, &t);
    if (!err)
        err = packed_bytes(form, t, count, &bytes);
    if (!err)
        *size = (int64_t)bytes;
    return err;
}

/* --- native ---------------------------------------------------------------------------- */
/* An int position around the call on a wide one. */
static int narrow(int64_t wide, int *position)
{
    if (wide > INT_MAX)
        return err_make(MPI_ERR_COUNT, "%s: %lld bytes do not fit an int", proc->call,
                        (long long)wide);
    *position = (int)wide;
    return MPI_SUCCESS;
}

int PMPI_Pack(const void *inbuf, int incount, MPI_Datatype type, void *outbuf, int outsize,
              int *position, MPI_Comm comm)
{
    api_enter("MPI_Pack");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(position, "position");
    int64_t at = err ? 0 : *position;
    if (!err)
        err = pack(NATIVE, inbuf, incount, type, outbuf, outsize, &at);
    if (!err)
        *position = (int)at; /* not above outsize */
    return api_exit(comm, err);
}
API_ALIAS(MPI_Pack);

int PMPI_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype type, void *outbuf,
                MPI_Count outsize, MPI_Count *position, MPI_Comm comm)
{
    api_enter("MPI_Pack_c");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = pack(NATIVE, inbuf, incount, type, outbuf, outsize, position);
    return api_exit(comm, err);
}
API_ALIAS(MPI_Pack_c);

int PMPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount,
                MPI_Datatype type, MPI_Comm comm)
{
    api_enter("MPI_Unpack");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(position, "position");
    int64_t at = err ? 0 : *position;
    if (!err)
        err = unpack(NATIVE, inbuf, insize, &at, outbuf, outcount, type);
    if (!err)
        *position = (int)at;
    return api_exit(comm, err);
}
API_ALIAS(MPI_Unpack);

int PMPI_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
                  MPI_Count outcount, MPI_Datatype type, MPI_Comm comm)
{
    api_enter("MPI_Unpack_c");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = unpack(NATIVE, inbuf, insize, position, outbuf, outcount, type);
    return api_exit(comm, err);
}
API_ALIAS(MPI_Unpack_c);

int PMPI_Pack_size(int incount, MPI_Datatype type, MPI_Comm comm, int *size)
{
    api_enter("MPI_Pack_size");
    struct comm *c;
    int64_t n;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(size, "size");
    if (!err)
        err = size_of(NATIVE, incount, type, &n);
    if (!err)
        err = narrow(n, size);
    return api_exit(comm, err);
}
API_ALIAS(MPI_Pack_size);

int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype type, MPI_Comm comm, MPI_Count *size)
{
    api_enter("MPI_Pack_size_c");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_pointer(size, "size");
    if (!err)
        err = size_of(NATIVE, incount, type, size);
    return api_exit(comm, err);
}
API_ALIAS(MPI_Pack_size_c);

/* --- external32 -------------------------------------------------------------------------- */
static int check_datarep(const char *datarep)
{
    int err = api_pointer(datarep, "datarep");
    if (!err && strcmp(datarep, "external32") != 0)
        err = err_make(MPI_ERR_ARG, "%s: data representation '%.40s' is not known: external32 is",
                       proc->call, datarep);
    return err;
}

static int pack_external(const char *datarep, const void *in, int64_t count, MPI_Datatype type,
                         void *out, int64_t size, int64_t *position)
{
    int err = check_datarep(datarep);
    if (!err)
        err = pack(EXTERNAL32, in, count, type, out, size, position);
    return api_exit(MPI_COMM_NULL, err);
}

static int unpack_external(const char *datarep, const void *in, int64_t size, int64_t *position,
                           void *out, int64_t count, MPI_Datatype type)
{
    int err = check_datarep(datarep);
    if (!err)
        err = unpack(EXTERNAL32, in, size, position, out, count, type);
    return api_exit(MPI_COMM_NULL, err);
}

static int external_size(const char *datarep, int64_t count, MPI_Datatype type, int64_t *size)
{
    int err = check_datarep(datarep);
    if (!err)
        err = api_pointer(size, "size");
    if (!err)
        err = size_of(EXTERNAL32, count, type, size);
    return api_exit(MPI_COMM_NULL, err);
}

int PMPI_Pack_external(const char *datarep, const void *inbuf, int incount, MPI_Datatype type,
                       void *outbuf, MPI_Aint outsize, MPI_Aint *position)
{
    api_enter("MPI_Pack_external");
    return pack_external(datarep, inbuf, incount, type, outbuf, outsize, position);
}
API_ALIAS(MPI_Pack_external);

int PMPI_Pack_external_c(const char *datarep, const void *inbuf, MPI_Count incount,
                         MPI_Datatype type, void *outbuf, MPI_Count outsize, MPI_Count *position)
{
    api_enter("MPI_Pack_external_c");
    return pack_external(datarep, inbuf, incount, type, outbuf, outsize, position);
}
API_ALIAS(MPI_Pack_external_c);

int PMPI_Unpack_external(const char datarep[], const void *inbuf, MPI_Aint insize,
                         MPI_Aint *position, void *outbuf, int outcount, MPI_Datatype type)
{
    api_enter("MPI_Unpack_external");
    return unpack_external(datarep, inbuf, insize, position, outbuf, outcount, type);
}
API_ALIAS(MPI_Unpack_external);

int PMPI_Unpack_external_c(const char datarep[], const void *inbuf, MPI_Count insize,
                           MPI_Count *position, void *outbuf, MPI_Count outcount, MPI_Datatype type)
{
    api_enter("MPI_Unpack_external_c");
    return unpack_external(datarep, inbuf, insize, position, outbuf, outcount, type);
}
API_ALIAS(MPI_Unpack_external_c);

int PMPI_Pack_external_size(const char *datarep, int incount, MPI_Datatype type, MPI_Aint *size)
{
    api_enter("MPI_Pack_external_size");
    return external_size(datarep, incount, type, size);
}
API_ALIAS(MPI_Pack_external_size);

int PMPI_Pack_external_size_c(const char *datarep, MPI_Count incount, MPI_Datatype type,
                              MPI_Count *size)
{
    api_enter("MPI_Pack_external_size_c");
    return external_size(datarep, incount, type, size);
}
API_ALIAS(MPI_Pack_external_size_c);

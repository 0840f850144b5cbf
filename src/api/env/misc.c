/* misc.c - version, clock, names, memory (MPI-3.1 8.1, 8.2, 8.6, 14.2). Start with
 * PMPI_Alloc_mem(). */
#include "api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/api_types.h"
#include "base/sched.h"
#include "mem/mem.h"
#include "obj/attr.h"

#include "config.h"

int PMPI_Get_version(int *version, int *subversion)
{
    /* May be called at any time. */
    if (!version || !subversion)
        return api_fail_null("MPI_Get_version", version ? "subversion" : "version");
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}
API_ALIAS(MPI_Get_version);

int PMPI_Get_library_version(char *version, int *resultlen)
{
    if (!version || !resultlen)
        return api_fail_null("MPI_Get_library_version", version ? "resultlen" : "version");
    *resultlen = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING,
                          "Windrose %s (MPI %d.%d, MPICH ABI %s; hwloc %s, libfabric %s, UCX %s)",
                          PACKAGE_VERSION, MPI_VERSION, MPI_SUBVERSION, MPICH_VERSION,
                          HWLOC_VERSION, LIBFABRIC_VERSION, UCX_VERSION);
    return MPI_SUCCESS;
}
API_ALIAS(MPI_Get_library_version);

int PMPI_Get_processor_name(char *name, int *resultlen)
{
    api_enter("MPI_Get_processor_name");
    int err = api_pointer(name, "name");
    if (!err)
        err = api_pointer(resultlen, "resultlen");
    if (!err) {
        if (gethostname(name, MPI_MAX_PROCESSOR_NAME))
            snprintf(name, MPI_MAX_PROCESSOR_NAME, "localhost");
        name[MPI_MAX_PROCESSOR_NAME - 1] = 0;
        *resultlen = (int)strlen(name);
    }
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Get_processor_name);

double PMPI_Wtime(void)
{
    return (double)time_now() * 1e-9;
}
API_ALIAS(MPI_Wtime);

double PMPI_Wtick(void)
{
    struct timespec ts;
    return clock_getres(CLOCK_MONOTONIC, &ts) ? 1e-9
                                              : (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}
API_ALIAS(MPI_Wtick);

int PMPI_Pcontrol(const int level, ...)
{
    (void)level; /* for profilers, which replace this function */
    return MPI_SUCCESS;
}
API_ALIAS(MPI_Pcontrol);

/* --- memory ------------------------------------------------------------------------
 * Blocks come from shared segments, so that a window made on them by MPI_Win_create can be mapped
 * by near peers: from the arenas of mem/, larger ones as a segment of their own.  Where neither can
 * be had they are private.  Each kind is known by its address, so MPI_Free_mem of anything else is
 * an error and no crash. */

enum { SEGMENT_FROM = 64 * 1024, LINE = 64 }; /* bytes */

static int alloc_arg(MPI_Aint size, MPI_Info info, void *baseptr, size_t *align)
{
    struct info *i = NULL;
    int err = api_pointer(baseptr, "baseptr");
    if (!err && size < 0)
        err = err_make(MPI_ERR_SIZE, "MPI_Alloc_mem: size is %lld, less than 0", (long long)size);
    if (!err)
        err = api_info(info, &i);
    *align = err ? 0 : info_alignment(i);
    if (*align < LINE)
        *align = LINE;
    return err;
}

static void *alloc_segment(MPI_Aint size, size_t align)
{
    struct mem_segment *seg;
    if (size < SEGMENT_FROM || mem_segment_create((size_t)size, MEM_LAZY, &seg) != 0)
        return NULL;
    if (mem_segment_align(seg, align) == 0)
        return seg->base;
    mem_segment_drop(seg);
    return NULL;
}

static void *alloc_private(MPI_Aint size, size_t align)
{
    void *p;
    if (posix_memalign(&p, align, size ? (size_t)size : 1))
        return NULL;
    if (!map_put(&proc->api->small, (uintptr_t)p, p))
        return p;
    free(p);
    return NULL;
}

int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    api_enter("MPI_Alloc_mem");
    size_t align;
    int err = alloc_arg(size, info, baseptr, &align);
    if (!err) {
        void *p = mem_arena_alloc((size_t)size, align);
        if (!p)
            p = alloc_segment(size, align);
        if (!p)
            p = alloc_private(size, align);
        if (p)
            *(void **)baseptr = p;
        else
            err = err_make(MPI_ERR_NO_MEM, "MPI_Alloc_mem: no %lld bytes of memory, aligned to %zu",
                           (long long)size, align);
    }
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Alloc_mem);

int PMPI_Free_mem(void *base)
{
    api_enter("MPI_Free_mem");
    int err = MPI_SUCCESS;
    struct mem_segment *seg;
    if (!base || mem_arena_free(base))
        ;
    else if (map_del(&proc->api->small, (uintptr_t)base))
        free(base);
    else if ((seg = mem_segment_of(base, 1)) != NULL && seg->base == base && !seg->moved)
        mem_segment_drop(seg);
    else
        err = err_make(MPI_ERR_BASE, "MPI_Free_mem: %p is no address that MPI_Alloc_mem gave",
                       base);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Free_mem);

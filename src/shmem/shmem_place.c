/* shmem_place.c - the record of the process, errors, questions about PEs and memory. Start with
 * shm_place(). */
#include "shmem/shmem_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shmem/shmem_near.h"

struct shm shm;

/* --- errors ----------------------------------------------------------------------------------- */

/* The error handler of MPI ends the job. It names the program's line (place/front_library.h). */
static void fail_by_mpi(const char *call, const char *text)
{
    char line[MPI_MAX_ERROR_STRING];
    int code;
    snprintf(line, sizeof line, "%s: %.400s", call, text);
    fflush(NULL);
    PMPI_Add_error_class(&code);
    PMPI_Add_error_string(code, line);
    PMPI_Comm_call_errhandler(shm.comm, code);
}

void shm_fail(const char *call, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (shm.state == 1)
        fail_by_mpi(call, text);
    if (shm.size)
        fprintf(stderr, "PE %d: fatal error in %s: %s\n", shm.me, call, text);
    else
        fprintf(stderr, "fatal error in %s: %s\n", call, text);
    fflush(NULL);
    _Exit(1);
}

void shm_not_begun(const char *call)
{
    shm_fail(call, shm.state ? "shmem_finalize has been called" : "shmem_init has not been called");
}

void shm_pe_is(int pe, const char *call)
{
    if (pe < 0 || pe >= shm.size)
        shm_fail(call, "PE is %d, not 0 to %d", pe, shm.size - 1);
}

/* --- memory ----------------------------------------------------------------------------------- */

enum shm_region shm_region_of(const void *addr, size_t bytes)
{
    for (int r = 0; r < SHM_REGIONS; r++) {
        size_t off = (size_t)((const char *)addr - shm.memory[r].base);
        if (off < shm.memory[r].size && bytes <= shm.memory[r].size - off)
            return (enum shm_region)r;
    }
    return SHM_REGIONS;
}

enum shm_region shm_place(const void *addr, size_t bytes, MPI_Aint *disp, const char *call)
{
    enum shm_region r = shm_region_of(addr, bytes);
    if (r != SHM_REGIONS) {
        *disp = (const char *)addr - shm.memory[r].base;
        return r;
    }
    if (shm_region_of(addr, 1) != SHM_REGIONS)
        shm_fail(call, "%zu bytes at address %p go beyond symmetric memory", bytes, addr);
    shm_fail(call, "address %p is not symmetric: neither of shmem_malloc nor static data of the "
             "program", addr);
}

/* --- questions -------------------------------------------------------------------------------- */

int pshmem_my_pe(void)
{
    shm_begun("shmem_my_pe");
    return shm.me;
}
SHM_ALIAS(my_pe);

int pshmem_n_pes(void)
{
    shm_begun("shmem_n_pes");
    return shm.size;
}
SHM_ALIAS(n_pes);

int _my_pe(void)
{
    return pshmem_my_pe();
}

int _num_pes(void)
{
    return pshmem_n_pes();
}

int pshmem_pe_accessible(int pe)
{
    shm_begun("shmem_pe_accessible");
    return pe >= 0 && pe < shm.size;
}
SHM_ALIAS(pe_accessible);

int pshmem_addr_accessible(const void *addr, int pe)
{
    return pshmem_pe_accessible(pe) && shm_region_of(addr, 1) != SHM_REGIONS;
}
SHM_ALIAS(addr_accessible);

void *pshmem_ptr(const void *dest, int pe)
{
    shm_begun("shmem_ptr");
    shm_pe_is(pe, "shmem_ptr");
    if (pe == shm.me)
        return shm_region_of(dest, 1) != SHM_REGIONS ? (void *)(uintptr_t)dest : NULL;
    size_t off = (size_t)((const char *)dest - shm.heap);
    unsigned i = (unsigned)pe - (unsigned)shm.near_first;
    return off < shm.heap_size && i < shm.mapped && shm.near[i] ? shm.near[i] + off : NULL;
}
SHM_ALIAS(ptr);

void pshmem_info_get_version(int *major, int *minor)
{
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}
SHM_ALIAS(info_get_version);

void pshmem_info_get_name(char *name)
{
    strcpy(name, SHMEM_VENDOR_STRING);
}
SHM_ALIAS(info_get_name);

void pshmem_pcontrol(int level, ...)
{
}
SHM_ALIAS(pcontrol);

/* --- caches of machines of old: there is nothing to do --------------------------------------- */

void pshmem_clear_cache_inv(void)
{
}
SHM_ALIAS(clear_cache_inv);

void pshmem_set_cache_inv(void)
{
}
SHM_ALIAS(set_cache_inv);

void pshmem_clear_cache_line_inv(void *dest)
{
}
SHM_ALIAS(clear_cache_line_inv);

void pshmem_set_cache_line_inv(void *dest)
{
}
SHM_ALIAS(set_cache_line_inv);

void pshmem_udcflush(void)
{
}
SHM_ALIAS(udcflush);

void pshmem_udcflush_line(void *dest)
{
}
SHM_ALIAS(udcflush_line);

/* shmem_start.c - begin and end. Start with begin(). */
#include "shmem/shmem_types.h"

#include <ctype.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of the heap without SHMEM_SYMMETRIC_SIZE. */
static const size_t DEFAULT_HEAP = (size_t)64 << 20;

/* --- memory ----------------------------------------------------------------------------------- */

static size_t heap_bytes(void)
{
    const char *name = "SHMEM_SYMMETRIC_SIZE", *text = getenv(name);
    char *end;
    if (!text || !*text) {
        name = "SMA_SYMMETRIC_SIZE"; /* before 1.4 */
        text = getenv(name);
    }
    if (!text || !*text)
        return DEFAULT_HEAP;
    errno = 0;
    double size = strtod(text, &end);
    const char *units = "KMGT", *unit = isalpha((unsigned char)*end) ? strchr(units, *end & ~0x20)
                                                                     : NULL;
    if (unit) {
        for (const char *u = units; u <= unit; u++)
            size *= 1024;
        end++;
    }
    if (end == text || *end || errno || !(size >= 4096) || size > 0x1p46)
        shm_fail("shmem_init", "%s is \"%s\": neither a number of bytes, 4096 at least, nor one "
                 "with K, M, G or T", name, text);
    return ((size_t)size + 4095) / 4096 * 4096;
}

/* .data and .bss of the program: the writable segment of the first object, from the end of what the
 * loader makes read-only after its work (PT_GNU_RELRO). */
static int find_data(struct dl_phdr_info *info, size_t len, void *arg)
{
    struct shm_memory *m = arg;
    uintptr_t begin = UINTPTR_MAX, end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
            continue;
        uintptr_t from = info->dlpi_addr + p->p_vaddr;
        begin = from < begin ? from : begin;
        end = from + p->p_memsz > end ? from + p->p_memsz : end;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t until = info->dlpi_addr + p->p_vaddr + p->p_memsz;
        if (p->p_type == PT_GNU_RELRO && until > begin && until <= end)
            begin = until;
    }
    if (end > begin) {
        m->base = (char *)begin;
        m->size = end - begin;
    }
    return 1; /* the first one is the program */
}

static void set_up_data(void)
{
    struct shm_memory *m = &shm.memory[SHM_DATA];
    dl_iterate_phdr(find_data, m);
    /* PEs of different programs have no static data in common. */
    long mine[2] = {(long)m->size, -(long)m->size}, most[2];
    PMPI_Allreduce(mine, most, 2, MPI_LONG, MPI_MAX, shm.comm);
    if (most[0] != -most[1])
        m->size = 0;
    MPI_Info info;
    PMPI_Info_create(&info);
    shm_race_info(info);
    PMPI_Info_set(info, "accumulate_ops", "any_op"); /* all atomics of a type are, together */
    PMPI_Win_create(m->base, (MPI_Aint)m->size, 1, info, shm.comm, &m->win);
    PMPI_Info_free(&info);
    PMPI_Win_set_name(m->win, "static data");
}

/* Which heaps are mapped here. */
static void find_near(void)
{
    MPI_Comm node;
    MPI_Group members, all;
    int n, alone = 1;
    PMPI_Comm_split_type(shm.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    PMPI_Comm_size(node, &n);
    int *own = malloc(2 * (size_t)n * sizeof *own), *pe = own + n;
    if (!own)
        shm_fail("shmem_init", "no memory");
    for (int i = 0; i < n; i++)
        own[i] = i;
    PMPI_Comm_group(node, &members);
    PMPI_Comm_group(shm.comm, &all);
    PMPI_Group_translate_ranks(members, n, own, all, pe);
    PMPI_Group_free(&members);
    PMPI_Group_free(&all);
    shm.near_first = pe[0];
    shm.near_count = (unsigned)(pe[n - 1] - pe[0]) + 1; /* in the order of all */
    shm.mapped = shm.near_count;
    shm.near = calloc(shm.near_count, sizeof *shm.near);
    if (!shm.near)
        shm_fail("shmem_init", "no memory");
    for (int i = 0; i < n; i++) {
        MPI_Aint size = 0;
        int unit;
        void *base = NULL;
        PMPI_Win_shared_query(shm.memory[SHM_HEAP].win, pe[i], &size, &unit, &base);
        shm.near[pe[i] - pe[0]] = size ? base : NULL;
        alone += size && pe[i] != shm.me;
    }
    free(own);
    PMPI_Comm_free(&node);
    int direct = alone == shm.size;
    PMPI_Allreduce(MPI_IN_PLACE, &direct, 1, MPI_INT, MPI_MIN, shm.comm);
    shm.direct = direct && shm.near[shm.me - shm.near_first] && !shm.race;
}

static void set_up_heap(void)
{
    struct shm_memory *m = &shm.memory[SHM_HEAP];
    MPI_Info info;
    m->size = heap_bytes();
    long mine[2] = {(long)m->size, -(long)m->size}, most[2];
    PMPI_Allreduce(mine, most, 2, MPI_LONG, MPI_MAX, shm.comm);
    if (most[0] != -most[1])
        shm_fail("shmem_init", "SHMEM_SYMMETRIC_SIZE is not the same at all PEs: %ld and %ld bytes",
                 -most[1], most[0]);
    PMPI_Info_create(&info);
    PMPI_Info_set(info, "mpi_accumulate_granularity", "8"); /* atomics are of one element */
    PMPI_Info_set(info, "accumulate_ops", "any_op");
    shm_race_info(info);
    PMPI_Info_set(info, "mpi_minimum_memory_alignment", "16777216"); /* for shmem_align */
    PMPI_Win_allocate((MPI_Aint)(m->size + 2 * 64), 1, info, shm.comm, &m->base, &m->win);
    PMPI_Info_free(&info);
    PMPI_Win_set_name(m->win, "symmetric heap");
    shm.heap = m->base;
    shm.heap_size = m->size;
    shm_heap_init();
}

/* --- begin and end ---------------------------------------------------------------------------- */

static const char *const level_names[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED",
                                          "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};

/* A session of its own: MPI_Init and MPI_Finalize may come before, after, or not at all. */
static int open_session(int level)
{
    MPI_Info info;
    MPI_Group world;
    char got[MPI_MAX_INFO_VAL + 1] = "";
    int length = sizeof got, flag, granted = level;
    PMPI_Info_create(&info);
    PMPI_Info_set(info, "thread_level", level_names[level]);
    PMPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &shm.session);
    PMPI_Info_free(&info);
    PMPI_Session_get_info(shm.session, &info);
    PMPI_Info_get_string(info, "thread_level", &length, got, &flag);
    PMPI_Info_free(&info);
    for (int i = 0; flag && i <= SHMEM_THREAD_MULTIPLE; i++)
        if (!strcmp(got, level_names[i]))
            granted = i;
    PMPI_Group_from_session_pset(shm.session, "mpi://WORLD", &world);
    PMPI_Comm_create_from_group(world, "windrose shmem", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                &shm.comm);
    PMPI_Group_free(&world);
    return granted;
}

/* exit(), and the return of main. After an error the process goes at once, and mpiexec ends the
 * job: the others may never come to a barrier. Nor does a child of fork() end SHMEM. */
static void at_exit(int status, void *pid)
{
    /* Each is a barrier, and other PEs may call all of theirs. */
    while (!status && (pid_t)(intptr_t)pid == getpid() && shm.state == 1)
        pshmem_finalize();
}

/* SHMEM_VERSION and SHMEM_INFO, whatever they are set to. */
static void say_hello(void)
{
    if (shm.me)
        return;
    if (getenv("SHMEM_VERSION") || getenv("SMA_VERSION"))
        printf("OpenSHMEM %d.%d, %s\n", SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION,
               SHMEM_VENDOR_STRING);
    if (getenv("SHMEM_INFO") || getenv("SMA_INFO"))
        printf("SHMEM_SYMMETRIC_SIZE  bytes of each PE's heap, or with K, M, G, T; it is %zu\n"
               "SHMEM_VERSION         print the version at the start\n"
               "SHMEM_INFO            print this\n"
               "SHMEM_DEBUG           nothing\n"
               "MPIR_CVAR_*           as of MPI: man cvars\n", shm.heap_size);
    fflush(stdout);
}

/* Of this process, not of a begin. */
static void begin_first(void)
{
    static int begun;
    if (begun)
        return;
    begun = 1;
    on_exit(at_exit, (void *)(intptr_t)getpid());
    say_hello();
}

/* Each init has its finalize, and the last one ends. Then SHMEM may begin again. */
static void begin(int level)
{
    shm.begun++;
    if (shm.state == 1)
        return;
    shm.level = open_session(level);
    shm.threaded = shm.level == SHMEM_THREAD_MULTIPLE;
    PMPI_Comm_rank(shm.comm, &shm.me);
    PMPI_Comm_size(shm.comm, &shm.size);
    const char *race = getenv("MPIR_CVAR_RACE");
    shm.race = race && *race && strcmp(race, "off") && strcmp(race, "0");
    set_up_heap();
    set_up_data();
    for (int r = 0; r < SHM_REGIONS; r++)
        PMPI_Win_lock_all(MPI_MODE_NOCHECK, shm.memory[r].win);
    shm_default_windows();
    shm_race_begin();
    find_near();
    shm.state = 1;
    shm_teams_init();
    if (shm.race) /* the checker sees each operation: the inline paths find no memory */
        shm.near_count = 0;
    begin_first();
    PMPI_Barrier(shm.comm);
}

void pshmem_init(void)
{
    begin(SHMEM_THREAD_SINGLE);
}
SHM_ALIAS(init);

int pshmem_init_thread(int requested, int *provided)
{
    if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE)
        return -1;
    begin(requested);
    *provided = shm.level;
    return 0;
}
SHM_ALIAS(init_thread);

void pshmem_query_thread(int *provided)
{
    shm_begun("shmem_query_thread");
    *provided = shm.level;
}
SHM_ALIAS(query_thread);

void pshmem_query_initialized(int *initialized)
{
    *initialized = shm.state == 1;
}
SHM_ALIAS(query_initialized);

void pshmem_finalize(void)
{
    if (shm.state != 1)
        return;
    pshmem_barrier_all();
    if (--shm.begun)
        return;
    shm_teams_free();
    shm.near_count = shm.mapped = 0; /* the inline paths find no memory any more */
    shm.state = 2;
    shm_default_windows_free();
    shm_race_end();
    for (int r = 0; r < SHM_REGIONS; r++) {
        PMPI_Win_unlock_all(shm.memory[r].win);
        PMPI_Win_free(&shm.memory[r].win);
    }
    free(shm.near);
    PMPI_Comm_free(&shm.comm);
    PMPI_Session_finalize(&shm.session);
}
SHM_ALIAS(finalize);

void pshmem_global_exit(int status)
{
    fflush(NULL);
    if (shm.state == 1)
        PMPI_Abort(shm.comm, status);
    _Exit(status);
}
SHM_ALIAS(global_exit);

void start_pes(int npes)
{
    if (shm.state != 1)
        begin(SHMEM_THREAD_SINGLE);
}

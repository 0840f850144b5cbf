/* shmem_coll.c - collectives: MPI's, over the communicator of a team. An active set is a team that
 * its members make when they meet it first. Start with shm_set(). */
#include "shmem/shmem_types.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* An active set that this process has met. */
struct shm_active {
    struct shm_span span;
    struct shmem_team team;
    struct shm_active *next;
};

static void *reader(const void *p) /* of a call that only reads it there */
{
    return (void *)(uintptr_t)p;
}

/* 0: there is no team. */
static int team_is(const struct shmem_team *team, const char *call)
{
    shm_begun(call);
    return team != NULL;
}

int shm_broadcast(struct shmem_team *team, void *dest, const void *source, size_t bytes, int root,
                  const char *call)
{
    if (!team_is(team, call))
        return -1;
    if (root < 0 || root >= team->size)
        shm_fail(call, "PE_root is %d, not 0 to %d", root, team->size - 1);
    if (team->me == root && dest != source)
        memmove(dest, source, bytes);
    return PMPI_Bcast_c(dest, (MPI_Count)bytes, MPI_BYTE, root, team->comm);
}

int shm_collect(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                const char *call)
{
    if (!team_is(team, call))
        return -1;
    MPI_Count mine = (MPI_Count)bytes, *count = malloc((size_t)team->size * sizeof *count);
    MPI_Aint *at = malloc((size_t)team->size * sizeof *at);
    if (!count || !at)
        shm_fail(call, "no memory");
    PMPI_Allgather(&mine, 1, MPI_COUNT, count, 1, MPI_COUNT, team->comm);
    for (int i = 0; i < team->size; i++)
        at[i] = i ? at[i - 1] + (MPI_Aint)count[i - 1] : 0;
    int err = PMPI_Allgatherv_c(source, mine, MPI_BYTE, dest, count, at, MPI_BYTE, team->comm);
    free(count);
    free(at);
    return err;
}

int shm_fcollect(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                 const char *call)
{
    if (!team_is(team, call))
        return -1;
    return PMPI_Allgather_c(source, (MPI_Count)bytes, MPI_BYTE, dest, (MPI_Count)bytes, MPI_BYTE,
                            team->comm);
}

int shm_alltoall(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                 const char *call)
{
    if (!team_is(team, call))
        return -1;
    return PMPI_Alltoall_c(source, (MPI_Count)bytes, MPI_BYTE, dest, (MPI_Count)bytes, MPI_BYTE,
                           team->comm);
}

/* count elements, each stride elements behind the other; the next such block follows at once. */
static MPI_Datatype strided(const struct shm_stride *s, ptrdiff_t stride)
{
    MPI_Datatype blocks, type;
    MPI_Count extent = (MPI_Count)stride * (MPI_Count)s->bytes;
    PMPI_Type_create_hvector_c((MPI_Count)s->count, (MPI_Count)s->bytes, extent, MPI_BYTE, &blocks);
    PMPI_Type_create_resized_c(blocks, 0, extent * (MPI_Count)s->count, &type);
    PMPI_Type_commit(&type);
    PMPI_Type_free(&blocks);
    return type;
}

int shm_alltoalls(struct shmem_team *team, void *dest, const void *source, struct shm_stride s,
                  const char *call)
{
    if (!team_is(team, call))
        return -1;
    if (s.dst < 1 || s.sst < 1)
        shm_fail(call, "strides are %td and %td", s.dst, s.sst);
    MPI_Datatype to = strided(&s, s.dst), from = strided(&s, s.sst);
    int err = PMPI_Alltoall(source, 1, from, dest, 1, to, team->comm);
    PMPI_Type_free(&to);
    PMPI_Type_free(&from);
    return err;
}

int shm_reduce(struct shmem_team *team, void *dest, const void *source, size_t count,
               MPI_Datatype type, MPI_Op op, const char *call)
{
    if (!team_is(team, call))
        return -1;
    return PMPI_Allreduce_c(dest == source ? MPI_IN_PLACE : source, dest, (MPI_Count)count, type,
                            op, team->comm);
}

int shm_scan(struct shmem_team *team, void *dest, const void *source, size_t count,
             MPI_Datatype type, const char *call)
{
    if (!team_is(team, call))
        return -1;
    return PMPI_Scan_c(dest == source ? MPI_IN_PLACE : source, dest, (MPI_Count)count, type,
                       MPI_SUM, team->comm);
}

int shm_exscan(struct shmem_team *team, void *dest, const void *source, size_t count, size_t bytes,
               MPI_Datatype type, const char *call)
{
    if (!team_is(team, call))
        return -1;
    int err = PMPI_Exscan_c(dest == source ? MPI_IN_PLACE : source, dest, (MPI_Count)count, type,
                            MPI_SUM, team->comm);
    if (!team->me && count) /* MPI leaves it as it is. 0 of every type has no bit set. */
        memset(dest, 0, count * bytes);
    return err;
}

/* --- active sets ------------------------------------------------------------------------------ */

static void make(struct shm_active *a)
{
    struct shmem_team *t = &a->team;
    int stride = 1 << a->span.log_stride;
    int range[1][3] = {{a->span.start, a->span.start + (a->span.size - 1) * stride, stride}};
    MPI_Group all, set;
    PMPI_Comm_group(shm.comm, &all);
    PMPI_Group_range_incl(all, 1, range, &set);
    /* Of the members alone. The tag tells sets apart that several threads make at a time. */
    unsigned tag = ((unsigned)a->span.start * 31 + (unsigned)a->span.log_stride) * 65537 +
                   (unsigned)a->span.size;
    PMPI_Comm_create_group(shm.comm, set, (int)(tag & INT_MAX), &t->comm);
    PMPI_Group_free(&all);
    PMPI_Group_free(&set);
    PMPI_Comm_rank(t->comm, &t->me);
    t->size = a->span.size;
    t->start = a->span.start;
    t->stride = stride;
}

struct shmem_team *shm_set(struct shm_span s, const char *call)
{
    shm_begun(call);
    long last = s.start + ((long)s.size - 1) * (1L << (s.log_stride & 31));
    long off = shm.me - s.start;
    if (s.start < 0 || s.log_stride < 0 || s.log_stride > 30 || s.size < 1 || last >= shm.size)
        shm_fail(call, "PE_start %d, logPE_stride %d, PE_size %d: PEs are 0 to %d", s.start,
                 s.log_stride, s.size, shm.size - 1);
    if (off < 0 || off & ((1L << s.log_stride) - 1) || off >> s.log_stride >= s.size)
        shm_fail(call, "PE_start %d, logPE_stride %d, PE_size %d: this PE, %d, is not in that set",
                 s.start, s.log_stride, s.size, shm.me);
    if (s.size == shm.size)
        return &shm_world;
    shm_lists_lock();
    struct shm_active *a = shm.sets;
    while (a && memcmp(&a->span, &s, sizeof s))
        a = a->next;
    shm_lists_unlock();
    if (a)
        return &a->team;
    if (!(a = calloc(1, sizeof *a)))
        shm_fail(call, "no memory");
    a->span = s;
    make(a); /* without the lock. No other thread makes it: a set has one call at a time */
    shm_lists_lock();
    a->next = shm.sets;
    shm.sets = a;
    shm_lists_unlock();
    return &a->team;
}

void shm_sets_free(void)
{
    while (shm.sets) {
        struct shm_active *a = shm.sets;
        shm.sets = a->next;
        PMPI_Comm_free(&a->team.comm);
        free(a);
    }
}

/* As of a team, but that dest of the root is not written. */
void shm_set_broadcast(struct shm_span s, void *dest, const void *source, size_t bytes, int root,
                       const char *call)
{
    struct shmem_team *t = shm_set(s, call);
    if (root < 0 || root >= t->size)
        shm_fail(call, "PE_root is %d, not 0 to %d", root, t->size - 1);
    PMPI_Bcast_c(t->me == root ? reader(source) : dest, (MPI_Count)bytes, MPI_BYTE, root, t->comm);
}

void shm_set_reduce(struct shm_span s, void *dest, const void *source, int count,
                    MPI_Datatype type, MPI_Op op, const char *call)
{
    struct shmem_team *t = shm_set(s, call);
    if (count < 0)
        shm_fail(call, "nreduce is %d", count);
    shm_reduce(t, dest, source, (size_t)count, type, op, call);
}

/* --- barriers --------------------------------------------------------------------------------- */

void pshmem_barrier_all(void)
{
    shm_begun("shmem_barrier_all");
    shm_quiet(&shm_default);
    PMPI_Barrier(shm.comm);
}
SHM_ALIAS(barrier_all);

void pshmem_sync_all(void)
{
    pshmem_team_sync(&shm_world);
}
SHM_ALIAS(sync_all);

void pshmem_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync)
{
    struct shmem_team *t = shm_set(SHM_SET, "shmem_barrier");
    shm_quiet(&shm_default);
    PMPI_Barrier(t->comm);
}
SHM_ALIAS(barrier);

void pshmem_sync(int PE_start, int logPE_stride, int PE_size, long *pSync)
{
    pshmem_team_sync(shm_set(SHM_SET, "shmem_sync"));
}
SHM_ALIAS(sync);

/* shmem_team.c - teams: a communicator each, and how their PEs are numbered among all. Start with
 * split(). */
#include "shmem/shmem_types.h"

#include <stdlib.h>

struct shmem_team shm_world, shm_shared;
shmem_team_t SHMEM_TEAM_WORLD = &shm_world;
shmem_team_t SHMEM_TEAM_SHARED = &shm_shared;

/* The numbers among all of the PEs of a communicator: by start and stride, or as a table. */
static int number(struct shmem_team *t)
{
    MPI_Group mine, all;
    PMPI_Comm_rank(t->comm, &t->me);
    PMPI_Comm_size(t->comm, &t->size);
    int *world = malloc(2 * (size_t)t->size * sizeof *world), *own = world + t->size;
    if (!world)
        return 0;
    for (int i = 0; i < t->size; i++)
        own[i] = i;
    PMPI_Comm_group(t->comm, &mine);
    PMPI_Comm_group(shm.comm, &all);
    PMPI_Group_translate_ranks(mine, t->size, own, all, world);
    PMPI_Group_free(&mine);
    PMPI_Group_free(&all);
    t->start = world[0];
    t->stride = t->size > 1 ? world[1] - world[0] : 1;
    int even = 1;
    for (int i = 1; i < t->size; i++)
        even = even && world[i] == t->start + i * t->stride;
    if (even)
        free(world);
    t->world = even ? NULL : world;
    return 1;
}

static int world_pe(const struct shmem_team *t, int pe)
{
    return t->world ? t->world[pe] : t->start + pe * t->stride;
}

void shm_teams_init(void)
{
    shm_world = (struct shmem_team){.comm = shm.comm, .me = shm.me, .size = shm.size, .stride = 1};
    /* The PEs whose heaps are mapped here: a node, or this one alone. */
    int first = shm.me;
    for (unsigned i = 0; i < shm.mapped; i++)
        if (shm.near[i]) {
            first = shm.near_first + (int)i;
            break;
        }
    shm_shared = (struct shmem_team){0};
    PMPI_Comm_split(shm.comm, first, shm.me, &shm_shared.comm);
    if (!number(&shm_shared))
        shm_fail("shmem_init", "no memory");
}

static void release(struct shmem_team *t)
{
    shm_ctx_all_destroy(t);
    PMPI_Comm_free(&t->comm);
    free(t->world);
    t->world = NULL;
}

/* Collective over the parent. color MPI_UNDEFINED: this PE is in no new team. */
static int split(struct shmem_team *parent, int color, int key, const shmem_team_config_t *config,
                 long mask, shmem_team_t *out)
{
    struct shmem_team *t = calloc(1, sizeof *t);
    *out = SHMEM_TEAM_INVALID;
    if (!t)
        shm_fail("shmem_team_split_strided", "no memory");
    PMPI_Comm_split(parent->comm, color, key, &t->comm);
    if (t->comm == MPI_COMM_NULL) {
        free(t);
        return 0;
    }
    if (!number(t))
        shm_fail("shmem_team_split_strided", "no memory");
    t->num_contexts = config && mask & SHMEM_TEAM_NUM_CONTEXTS ? config->num_contexts : 0;
    shm_lists_lock();
    t->next = shm.teams;
    shm.teams = t;
    shm_lists_unlock();
    *out = t;
    return 0;
}

/* Are start, start + stride, ... all PEs of the team? */
static int is_within(const struct shmem_team *t, int start, int stride, int size)
{
    long last = start + ((long)size - 1) * stride;
    if (size < 1 || (!stride && size > 1))
        return 0;
    return start >= 0 && start < t->size && last >= 0 && last < t->size;
}

int pshmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
                              const shmem_team_config_t *config, long config_mask,
                              shmem_team_t *new_team)
{
    shm_begun("shmem_team_split_strided");
    *new_team = SHMEM_TEAM_INVALID;
    /* All members give the same values, so all return here or none. */
    if (!parent_team || !is_within(parent_team, start, stride, size) ||
        config_mask & ~SHMEM_TEAM_NUM_CONTEXTS || (config_mask && !config))
        return -1;
    int off = parent_team->me - start, step = stride ? stride : 1;
    int in = off % step == 0 && off / step >= 0 && off / step < size;
    return split(parent_team, in ? 0 : MPI_UNDEFINED, in ? off / step : 0, config, config_mask,
                 new_team);
}
SHM_ALIAS(team_split_strided);

int pshmem_team_split_2d(shmem_team_t parent_team, int xrange,
                         const shmem_team_config_t *xaxis_config, long xaxis_mask,
                         shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config,
                         long yaxis_mask, shmem_team_t *yaxis_team)
{
    shm_begun("shmem_team_split_2d");
    *xaxis_team = *yaxis_team = SHMEM_TEAM_INVALID;
    if (!parent_team || xrange < 1)
        return -1;
    if (xrange > parent_team->size)
        xrange = parent_team->size;
    int me = parent_team->me;
    split(parent_team, me / xrange, me % xrange, xaxis_config, xaxis_mask, xaxis_team);
    return split(parent_team, me % xrange, me / xrange, yaxis_config, yaxis_mask, yaxis_team);
}
SHM_ALIAS(team_split_2d);

void pshmem_team_destroy(shmem_team_t team)
{
    shm_begun("shmem_team_destroy");
    if (!team)
        return;
    if (team == &shm_world || team == &shm_shared)
        shm_fail("shmem_team_destroy", "the team is SHMEM_TEAM_%s",
                 team == &shm_world ? "WORLD" : "SHARED");
    shm_lists_lock();
    struct shmem_team **link = &shm.teams;
    while (*link && *link != team)
        link = &(*link)->next;
    if (!*link)
        shm_fail("shmem_team_destroy", "the team is none, or has been destroyed");
    *link = team->next;
    shm_lists_unlock();
    release(team);
    free(team);
}
SHM_ALIAS(team_destroy);

void shm_teams_free(void)
{
    shm_sets_free();
    while (shm.teams)
        pshmem_team_destroy(shm.teams);
    shm_ctx_all_destroy(&shm_world);
    release(&shm_shared);
}

int pshmem_team_my_pe(shmem_team_t team)
{
    return team ? team->me : -1;
}
SHM_ALIAS(team_my_pe);

int pshmem_team_n_pes(shmem_team_t team)
{
    return team ? team->size : -1;
}
SHM_ALIAS(team_n_pes);

int pshmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config)
{
    if (!team || config_mask & ~SHMEM_TEAM_NUM_CONTEXTS)
        return -1;
    if (config_mask)
        config->num_contexts = team->num_contexts;
    return 0;
}
SHM_ALIAS(team_get_config);

int pshmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team)
{
    if (!src_team || !dest_team || src_pe < 0 || src_pe >= src_team->size)
        return -1;
    int pe = world_pe(src_team, src_pe);
    for (int i = 0; i < dest_team->size; i++)
        if (world_pe(dest_team, i) == pe)
            return i;
    return -1;
}
SHM_ALIAS(team_translate_pe);

int pshmem_team_sync(shmem_team_t team)
{
    shm_begun("shmem_team_sync");
    if (!team)
        return -1;
    /* Stores to near memory come before it: pairs with the same fence of those that leave. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    PMPI_Barrier(team->comm);
    return 0;
}
SHM_ALIAS(team_sync);

void *pshmem_team_ptr(shmem_team_t team, const void *dest, int pe)
{
    if (!team || pe < 0 || pe >= team->size)
        return NULL;
    return pshmem_ptr(dest, world_pe(team, pe));
}
SHM_ALIAS(team_ptr);

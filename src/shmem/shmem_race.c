/* shmem_race.c - what the race checker (MPIR_CVAR_RACE) has to know of waits: a PE that has seen
 * a word has seen what came before its change. Start with shm_tell() and shm_saw().
 *
 *   origin    shm_tell(word, pe): a notification of no bytes, complete, then the change itself
 *   pe        shm_saw(word): the word has what was waited for; it reads the counter
 *
 * A put with a signal is a notified put: it is complete for a PE that has seen the signal. A word
 * has the counter of its place modulo COUNTERS. So a race may be missed, and none is invented. */
#include "shmem/shmem_types.h"

#include <stdio.h>

enum { COUNTERS = 256 };

void shm_race_info(MPI_Info info)
{
    char text[16];
    snprintf(text, sizeof text, "%d", COUNTERS);
    if (shm.race)
        PMPI_Info_set(info, "mpix_notify_num", text);
}

void shm_race_begin(void)
{
    MPI_Info info;
    shm.edges = MPI_WIN_NULL;
    if (!shm.race)
        return;
    PMPI_Info_create(&info);
    shm_race_info(info);
    PMPI_Win_create(NULL, 0, 1, info, shm.comm, &shm.edges);
    PMPI_Info_free(&info);
    PMPI_Win_set_name(shm.edges, "what PEs have seen");
    PMPI_Win_lock_all(MPI_MODE_NOCHECK, shm.edges);
}

void shm_race_end(void)
{
    if (shm.edges == MPI_WIN_NULL)
        return;
    PMPI_Win_unlock_all(shm.edges);
    PMPI_Win_free(&shm.edges);
}

int shm_counter_of(const void *word)
{
    MPI_Aint disp = 0;
    enum shm_region r = shm_region_of(word, 1);
    if (r != SHM_REGIONS)
        disp = (const char *)word - shm.memory[r].base;
    return (int)((((size_t)disp >> 1) + (size_t)r * (COUNTERS / 2)) % COUNTERS);
}

void shm_tell(const void *word, size_t bytes, int pe)
{
    if (!shm.race || bytes > sizeof(int64_t))
        return;
    PMPIX_Put_notify(word, 0, MPI_BYTE, pe, 0, 0, MPI_BYTE, shm_counter_of(word), shm.edges);
    PMPI_Win_flush(pe, shm.edges);
}

void shm_saw(const void *word)
{
    MPI_Count seen;
    if (!shm.race)
        return;
    int i = shm_counter_of(word);
    PMPIX_Win_notify_get_value(shm.edges, i, &seen);
    for (int r = 0; r < SHM_REGIONS; r++)
        PMPIX_Win_notify_get_value(shm.memory[r].win, i, &seen);
}

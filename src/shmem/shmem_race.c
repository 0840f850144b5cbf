/* shmem_race.c - what the race checker (MPIR_CVAR_RACE) has to know of waits: a PE that has seen
 * a word has seen its change and what came before it. Start with shm_tell() and shm_saw().
 *
 *   origin    shm_tell(word, pe): a notification of no bytes, complete, then the change itself
 *   pe        shm_saw(word): the word has what was waited for; it reads the counter
 *
 * The notification announces the change (mpix_race_announce, race/sync/note_clock.c), which is
 * complete for a PE that has seen the word, as what came before it is. A put with a signal is a
 * notified put: it is complete for a PE that has seen the signal.
 *
 * A word has the counter of its place modulo COUNTERS. So a race may be missed. One is invented
 * where a word is waited for that came in a put of more than 8 bytes, which tells nothing. */
#include "shmem/shmem_types.h"

#include <stdio.h>

enum { COUNTERS = 256 };

void shm_race_info(MPI_Info info)
{
    char text[16];
    snprintf(text, sizeof text, "%d", COUNTERS);
    if (!shm.race)
        return;
    PMPI_Info_set(info, "mpix_notify_num", text);
    PMPI_Info_set(info, "mpix_race_announce", "true");
}

void shm_race_begin(void)
{
    for (int r = 0; r < SHM_REGIONS && shm.race; r++)
        shm.edges[r] = shm_duplicate(shm.memory[r].win);
}

void shm_race_end(void)
{
    for (int r = 0; r < SHM_REGIONS && shm.race; r++)
        PMPI_Win_free(&shm.edges[r]);
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
    enum shm_region r = shm_region_of(word, bytes);
    if (r == SHM_REGIONS) /* the change itself will say so */
        return;
    PMPIX_Put_notify(word, 0, MPI_BYTE, pe, 0, 0, MPI_BYTE, shm_counter_of(word), shm.edges[r]);
    PMPI_Win_flush(pe, shm.edges[r]);
}

void shm_saw(const void *word)
{
    MPI_Count seen;
    if (!shm.race)
        return;
    int i = shm_counter_of(word);
    for (int r = 0; r < SHM_REGIONS; r++)
        PMPIX_Win_notify_get_value(shm.memory[r].win, i, &seen);
}

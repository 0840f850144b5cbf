/* shmem_lock.c - locks in the order of arrival: a word at one PE has the ticket that is served, and
 * the next free one. Start with set_lock.
 *
 *   63          32 31           0
 *   | next ticket | served ticket |      equal: the lock is free
 */
#include "shmem/shmem_types.h"

#include "shmem/shmem_near.h"

static const uint64_t ONE_TICKET = (uint64_t)1 << 32, SERVED = ((uint64_t)1 << 32) - 1;

_Static_assert(sizeof(long) == sizeof(uint64_t), "a lock is a word of two tickets");

/* The PE whose copy of the lock counts: by its place, so several locks do not all lie at PE 0. */
static int home(const long *lock, const char *call)
{
    MPI_Aint disp;
    shm_begun(call);
    shm_place(lock, sizeof *lock, &disp, call);
    return (int)((size_t)disp / sizeof *lock % (size_t)shm.size);
}

static uint64_t add(long *lock, uint64_t value, int pe)
{
    return pshmem_uint64_atomic_fetch_add((uint64_t *)(void *)lock, value, pe);
}

static uint64_t look(const long *lock, int pe)
{
    return pshmem_uint64_atomic_fetch((const uint64_t *)(const void *)lock, pe);
}

void pshmem_set_lock(long *lock)
{
    int pe = home(lock, "shmem_set_lock");
    uint64_t seen = add(lock, ONE_TICKET, pe), mine = seen >> 32;
    while ((seen & SERVED) != mine) {
        shm_waits = "shmem_set_lock";
        shm_poll();
        seen = look(lock, pe);
    }
    if (shm_waits)
        shm_waits = NULL;
}
SHM_ALIAS(set_lock);

int pshmem_test_lock(long *lock)
{
    int pe = home(lock, "shmem_test_lock");
    uint64_t seen = look(lock, pe);
    if (seen >> 32 != (seen & SERVED)) {
        shm_waits = "shmem_test_lock";
        shm_poll();
        shm_waits = NULL;
        return 1;
    }
    return pshmem_uint64_atomic_compare_swap((uint64_t *)(void *)lock, seen, seen + ONE_TICKET,
                                             pe) != seen;
}
SHM_ALIAS(test_lock);

void pshmem_clear_lock(long *lock)
{
    int pe = home(lock, "shmem_clear_lock");
    shm_quiet(&shm_default); /* what was done under the lock is done */
    /* The ticket served wraps without a carry into the next one. */
    uint64_t served = look(lock, pe) & SERVED;
    add(lock, served == SERVED ? -SERVED : 1, pe);
}
SHM_ALIAS(clear_lock);

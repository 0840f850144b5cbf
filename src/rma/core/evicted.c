/* evicted.c - what remains of the evicted elements of a passive epoch (rma.md 5.11).
 *
 * It serves two invariants, with exhausted pools too. Calls on ranks that are not locked, and
 * double locks, are errors. An UNLOCK goes only where a LOCK went: a target that counts readers
 * without names would release another reader's lock for an unmatched one.
 *
 *   lockedrank / EVICTED_BITS + 1 -> that many bits, one for each rank without element that is
 *         locked. All of a million ranks are 15625 entries of 16 bytes, half a megabyte with the
 *         table's free places. Scattered ranks take an entry each, one per lock that the program
 *         has open.
 *   cutrank + 1 -> 1 - errno: the rank could not be reached, and this process holds no lock there.
 *      Nothing is sent there before the end of the epoch.
 *
 * There is no bound. If there is no memory for a record, the element stays, and the call that
 * needed its place fails. */
#include "rma/core/core.h"

#include <errno.h>

enum { EVICTED_BITS = 8 * sizeof(uintptr_t) };

static uint64_t key_of(int rank)
{
    return (uint64_t)(unsigned)rank / EVICTED_BITS + 1;
}

static uintptr_t bit_of(int rank)
{
    return (uintptr_t)1 << (unsigned)rank % EVICTED_BITS;
}

static int is_locked(const struct rma_evicted_set *g, int rank)
{
    return ((uintptr_t)map_get(&g->locked, key_of(rank)) & bit_of(rank)) != 0;
}

static int put_locked(struct rma_evicted_set *g, int rank)
{
    uintptr_t bits = (uintptr_t)map_get(&g->locked, key_of(rank));
    return map_put(&g->locked, key_of(rank), (void *)(bits | bit_of(rank)));
}

void rma_evicted_init(struct rma_evicted_set *g)
{
    g->count = 0;
    map_init(&g->locked);
    map_init(&g->cut);
}

int rma_evicted_put(struct rma_evicted_set *g, int rank, int cut)
{
    WR_ASSERT(!rma_evicted(g, rank));
    int err = cut ? map_put(&g->cut, (uint64_t)rank + 1, (void *)((intptr_t)1 - cut))
                  : put_locked(g, rank);
    g->count += !err;
    return err;
}

int rma_evicted_find(const struct rma_evicted_set *g, int rank)
{
    return is_locked(g, rank) || map_get(&g->cut, (uint64_t)rank + 1);
}

int rma_evicted_why(const struct rma_evicted_set *g, int rank)
{
    void *v = map_get(&g->cut, (uint64_t)rank + 1);
    return v ? (int)(1 - (intptr_t)v) : 0;
}

void rma_evicted_take(struct rma_evicted_set *g, int rank)
{
    uintptr_t bits = (uintptr_t)map_get(&g->locked, key_of(rank)), left = bits & ~bit_of(rank);
    if (left != bits) {
        g->count--;
        if (left)
            map_set(&g->locked, key_of(rank), (void *)left);
        else
            map_del(&g->locked, key_of(rank));
    }
    if (map_del(&g->cut, (uint64_t)rank + 1))
        g->count--;
}

void rma_evicted_discard(struct rma_evicted_set *g)
{
    map_destroy(&g->locked);
    map_destroy(&g->cut);
    g->count = 0;
}

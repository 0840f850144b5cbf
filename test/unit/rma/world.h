/* world.h - what the tests of rma/ share: the rooms brought up in forked processes, windows,
 * captured answers. */
#ifndef WORLD_H
#define WORLD_H

#include "job.h"
#include "rma/engine/engine_types.h"
#include "rma/near/near_types.h"
#include "rma/rma_types.h"
#include "rma/sync/sync_types.h"
#include "rma/target/target_types.h"
#include "rma/window/window_types.h"

/* Settings under which every other rank is far. */
extern const char *const world_far[];

/* Run body in `size` processes in which all rooms up to rma/ are up.  Number of processes that
 * failed. */
int world_run(int size, const char *const *sets, void (*body)(void));
/* The same with nothing up but variables and messages; *bare_room() and bare_window() make what the
 * pools need. */
struct rma *bare_room(unsigned ops, unsigned targets);
struct rma_win *bare_window(int size, unsigned ops, unsigned targets);

/* Does fn die of a failed assertion? */
int world_dies(void (*fn)(void *arg), void *arg);

/* MPI_Win_allocate over all processes: `longs` longs, displacement unit 8. */
struct rma_win *world_window(long longs);
void world_barrier(void); /* serves the others meanwhile */
void world_quit(void);    /* leave with nothing taken down */
long *world_memory(const struct rma_win *w);
int world_op(struct rma_win *w, enum rma_kind kind, int rank, const long *origin, long *result,
             long n, MPI_Aint disp);
struct rma_args world_args(enum rma_kind kind, int rank, const long *origin, long *result, long n,
                           MPI_Aint disp);
uint64_t world_pvar(const struct rma_win *w, enum pvar_id id);
void world_poll(int times);

/* Answers for the origin, kept instead of handled. */
enum { CAUGHT = 16, CAUGHT_BYTES = 512 };
struct caught {
    int n; /* all that came; the first CAUGHT are kept */
    struct {
        struct rma_hdr h;
        _Alignas(8) char data[CAUGHT_BYTES];
    } got[CAUGHT];
};
extern struct caught caught;
void world_catch(void);

#endif

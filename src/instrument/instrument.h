/* instrument.h - the run time of programs compiled by `mpicc -race`: libmpi_race.a.
 *
 *   compiler's calls -- access.c --- filter, log of the thread ----.
 *                    -- stream.c --- what comes as foreseen        |
 *                    -- atomic.c --- the operation, its order       '-> race/sync/threads.c
 *                    -- atomic16.c                                 .-'
 *   linker's --wrap  -- string.c, alloc.c --- mem*, str*, malloc   |
 *                    -- thread.c, mutex.c, cxx.c --- order --------'
 *                    -- gomp.c, kmpc.c, lock_omp.c, region.c ------'
 *
 * It belongs to the program, not to the library: so it has variables of its own. Before MPI_Init,
 * after MPI_Finalize, and where MPIR_CVAR_RACE is not full, nothing is watched. */
#ifndef INSTRUMENT_H
#define INSTRUMENT_H

#include <stddef.h>
#include <stdint.h>

#include "race/race_runtime.h"

#define CALLER __builtin_return_address(0)
#define LIKELY(x) __builtin_expect(!!(x), 1)
/* Functions that the linker puts before those of libraries. */
#define REAL(name) __real_##name
#define WRAP(name) __wrap_##name

/* --- accesses (access.c) ---------------------------------------------------------------------- */

enum { PAGE_BITS = 12, FILTER = 4096 };
/* Bytes between accesses of one place that are noted as one: a column of a matrix, a loop that the
 * compiler has unrolled. */
enum { STRIDE_MAX = 1 << 16 };
/* Of each page, by the lower bits of its number: are accesses of interest? */
extern unsigned char instrument_filter[FILTER] __attribute__((visibility("hidden")));
void instrument_note(uint64_t at, uint64_t len, unsigned stores, const void *pc);

static inline int instrument_watched(uint64_t at)
{
    return instrument_filter[at >> PAGE_BITS & (FILTER - 1)];
}

/* 1 to 16 bytes. */
static inline void touch(const void *p, unsigned len, unsigned stores, const void *pc)
{
    uint64_t at = (uint64_t)(uintptr_t)p;
    if (LIKELY(!instrument_watched(at) && !instrument_watched(at + len - 1)))
        return;
    instrument_note(at, len, stores, pc);
}

/* Any number of bytes. */
static inline void touch_range(const void *p, size_t len, unsigned stores, const void *pc)
{
    if (len)
        instrument_note((uint64_t)(uintptr_t)p, len, stores, pc);
}

/* --- accesses of one place at a constant distance (stream.c) ---------------------------------- */

/* The next access is foreseen. While it comes so, it costs a comparison; all of them are noted
 * together when another one comes, or when the log of the thread is taken. */
enum { STREAMS = 512 };
struct stream { /* what each access reads */
    const void *pc;
    uint64_t next; /* where it will be; 0: not foreseen */
    int64_t step;
    uint64_t from; /* the first one that is not noted, unless it is `next` */
};
/* A call has at least 4 bytes, so pc / 4 is the index (stream_of()). With 32 bytes an entry lies at
 * 8 * pc: one instruction computes that. */
_Static_assert(sizeof(struct stream) == 32, "an entry lies at 8 * pc");
struct stream_past {
    uint64_t last; /* where it was, while the next one is not foreseen */
    uint32_t len;
    uint16_t stores, listed;
};
struct streams { /* of a thread */
    struct stream of[STREAMS];
    struct stream_past past[STREAMS];
    unsigned n;
    uint16_t list[STREAMS]; /* those that have something to note are among these */
};
/* Never NULL: a thread without a log has a table where no place stands. */
extern __thread struct streams *instrument_streams
    __attribute__((tls_model("local-exec"), visibility("hidden")));

/* Calls lie at least 4 bytes apart, so those of a loop have streams of their own. */
static inline struct stream *stream_of(const void *pc)
{
    return &instrument_streams->of[(uintptr_t)pc / 4 % STREAMS];
}

/* An access that was not foreseen, of 1 to 16 bytes. */
void stream_miss(uint64_t at, unsigned len, unsigned stores, const void *pc);
/* Of the calling thread: NULL, when it ends. */
void streams_set(struct streams *s);
/* Notes what is not noted. */
void streams_close(struct streams *s);

/* --- order (access.c) ------------------------------------------------------------------------- */

int instrument_runs(void);
/* The calling thread begins, and what it may know will be acquired. */
void instrument_begin(void);
/* When the calling thread ends, it releases what it did at `object`, and calls over(). */
void instrument_ends_at(const void *object, void (*over)(void));
/* Nothing is done while the process has one thread. */
void order_acquire(const void *object);
void order_release(const void *object);
/* Always: threads are about to begin, have begun, end, have ended. */
void order_fork(const void *object);
void order_forked(void);
void order_end(const void *object);
void order_join(const void *object);
void order_renew(const void *object); /* as order_join(); forgets what it knew */
void order_forget(const void *object);

/* The calling thread goes on as another, which knows what was released at `from`: pieces of work
 * that may run side by side, and happen to be done by one thread. Returns its new number. */
int order_split(const void *from);
/* It is thread `number` again; `split`: bits of the numbers that it had meanwhile. */
void order_unsplit(int number, unsigned split);
int order_number(void);

/* Memory that the calling thread got, or NULL; memory that it gives back. (alloc.c) */
void *alloc_got(void *p);
void alloc_gives(const void *p);

/* Around an atomic operation. Orders of the compilers' calls: relaxed 0, consume 1, acquire 2,
 * release 3, both 4, seq_cst 5. */
static inline void order_before(const void volatile *p, int order)
{
    if (order >= 3)
        order_release((const void *)(uintptr_t)p);
}

static inline void order_after(const void volatile *p, int order)
{
    if (order == 1 || order == 2 || order >= 4)
        order_acquire((const void *)(uintptr_t)p);
}

/* --- OpenMP (gomp.c, kmpc.c) ------------------------------------------------------------------ */

enum { AT_BEGIN, AT_END, AT_BARRIER, AT_TASK, AT_TASK_END, AT_ORDERED, AT_REDUCE, REGION_OBJECTS };
struct region { /* a team of threads; its objects are addresses */
    const void *opener; /* the thread that made it */
    char object[REGION_OBJECTS];
};
struct region *region_now(void);
struct region *region_set(struct region *r); /* the one before */
void region_open(struct region *r);
void region_close(struct region *r);
/* Around what a thread of the team does; *was: the thread's region until then. */
void region_enter(struct region *r, struct region **was);
void region_leave(const struct region *r, struct region *was);
void region_barrier_before(void);
void region_barrier_after(void);
/* Around a task. ordered: it has dependences. */
void task_enter(const struct region *r, int ordered);
void task_leave(const struct region *r);

#endif

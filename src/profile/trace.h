/* trace.h - what this process called, and when (MPIR_CVAR_TRACE; doc/howto/see-what-it-does.md).
 *
 *   bind/trace --- a call returns ------> ring of the newest events
 *   progress_wait() --- a wait is over -'
 *   MPI_Finalize --- rings go up the tree of the report, clocks aligned --> rank 0 writes the file
 *
 * The functions below are called by the traced library only, without proc->lock. Those of the
 * trace return at once where none is asked for. */
#ifndef PROFILE_TRACE_H
#define PROFILE_TRACE_H

#include <mpi.h>
#include <stdint.h>

#include "base/proc.h"
#include "base/sched.h"

struct profile_calls;
struct trace;

/* The first words of struct profile. */
struct profile_asks {
    struct trace *trace;     /* NULL: no trace is asked for */
    struct profile_calls *calls; /* NULL: no report is */
};

static inline int trace_asked(void)
{
    const struct profile_asks *y = (const struct profile_asks *)proc->profile;
    return y && y->trace;
}

static inline int report_asked(void)
{
    const struct profile_asks *y = (const struct profile_asks *)proc->profile;
    return y && y->calls;
}

/* For the report: a call is made there; a lock of a window is got, or will be given back. */
void profile_called(const char *call, const void *site);
void profile_locked(MPI_Win win, int rank);
void profile_unlocking(MPI_Win win, int rank);
/* A put of so many elements, and MPI_Win_flush; rank: their target. */
void profile_put_called(MPI_Win win, int rank, MPI_Aint disp, MPI_Count count, const void *site);
void profile_flush_called(MPI_Win win, int rank, const void *site);

/* The processor's counter: a clock of its own rate takes half the time of time_now(). */
static inline uint64_t trace_ticks(void)
{
#if defined __x86_64__
    return __builtin_ia32_rdtsc();
#elif defined __aarch64__
    uint64_t t;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(t));
    return t;
#else
    return time_now();
#endif
}

/* A call that has returned MPI_SUCCESS. name: a constant; site: its return address. */
struct trace_at {
    uint64_t began; /* ticks */
    const char *name;
    const void *site;
};
void trace_call(const struct trace_at *at);
/* It begins: what a rank was in when the job ended. */
void trace_enters(const struct trace_at *at);
/* MPI_Finalize begins; it is noted when all processes have come there. */
void trace_finalizing(const struct trace_at *at);
/* On a window: rank MPI_PROC_NULL: for no single target. count: of elements that move. */
void trace_window(const struct trace_at *at, MPI_Win win, int rank, MPI_Count count,
                  MPI_Datatype type);
/* MPI_Win_test: has it ended the exposure epoch? */
void trace_tested(const struct trace_at *at, MPI_Win win, int flag);
void trace_collective(const struct trace_at *at, MPI_Comm comm, MPI_Count count, MPI_Datatype type);
/* A message left; one has come, with its real source and tag. */
void trace_sent(const struct trace_at *at, MPI_Comm comm, int dest, int tag, MPI_Count count,
                MPI_Datatype type);
void trace_got(const struct trace_at *at, MPI_Comm comm, int source, int tag, MPI_Count count,
               MPI_Datatype type);
/* A receive is posted: its message comes with a call that completes the request. With any source or
 * any tag, it takes a message that is not counted. */
void trace_posted(const struct trace_at *at, MPI_Comm comm, int source, int tag, MPI_Count count,
                  MPI_Datatype type, MPI_Request request);
/* A request of MPI_Recv_init: its messages are not counted. */
void trace_persistent(const struct trace_at *at, MPI_Comm comm, int source, int tag,
                      MPI_Request request);
/* Messages to the peer (sends) or from it that are not counted, since a call failed or is
 * persistent: from now on none of this communicator, peer and tag has a line. */
void trace_uncounted(MPI_Comm comm, int sends, int peer, int tag);
/* Before MPI_Cancel, which may take away a message that was counted. */
void trace_cancel(const MPI_Request *request);
/* Before MPI_Request_free: the end of the request is not seen. */
void trace_free(const MPI_Request *request);
/* A call that may complete requests: before it, a copy of those; at most TRACE_REQUESTS of them
 * are looked at, and the messages of the others have no line. Behind it, those that are no longer
 * there are complete; or it failed. */
enum { TRACE_REQUESTS = 64 };
struct trace_requests {
    int n;
    MPI_Request was[TRACE_REQUESTS];
};
void trace_before(struct trace_requests *r, int n, const MPI_Request *list);
void trace_completed(const struct trace_at *at, const struct trace_requests *r,
                     const MPI_Request *list);
void trace_failed(const struct trace_requests *r);

#endif

/* profile.h - where the time of the job went (MPIR_CVAR_REPORT, MPIR_CVAR_TRACE;
 * doc/howto/see-what-it-does.md).
 *
 *   progress_wait() --- a wait that lasts, is over ---> sums by call, place, window, reason, peer
 *   a thread that looks each millisecond -------------> computing, working in MPI, waiting
 *   MPI_Finalize --- the sums go up a binomial tree --> rank 0 prints one page, and advice
 *
 * proc->profile is NULL while MPIR_CVAR_REPORT is 0 and MPIR_CVAR_TRACE is empty. trace.h has
 * more. */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

int profile_init(void); /* 0 or -errno */
/* MPI_Finalize, before any barrier of it. Waits. */
void profile_ending(void);
void profile_finalize(void);

#endif

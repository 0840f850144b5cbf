/* threads.h - does the program keep to the level of threads that it was given?
 * (MPIR_CVAR_THREAD_CHECK; MPI-4.1 11.6)
 *
 *   watch/: a call begins ---> by another thread than the main one, or while another thread is in
 *                              a call? kept; said when no call is under way
 *
 * With MPI_THREAD_MULTIPLE: two collective calls on one communicator at one time, or two waits for
 * one request? */
#ifndef THREADS_THREADS_H
#define THREADS_THREADS_H

int threads_init(void); /* 0 or -ENOMEM; the calling thread is the main one */
void threads_finalize(void);
/* Any thread may make this call at any time, even in MPI_Finalize: do not tell the room. */
int threads_is_free(const char *call);

#endif

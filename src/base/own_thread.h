/* own_thread.h - threads of the library: no signals but for faults of their own, a small stack. */
#ifndef BASE_OWN_THREAD_H
#define BASE_OWN_THREAD_H

#include <pthread.h>

/* Starts run(arg). 0 or -errno. */
int thread_start(pthread_t *t, void *(*run)(void *), void *arg);

#endif

/* async.c - the asynchronous progress thread (doc/design/progress.md). */
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "base/proc.h"
#include "progress/progress.h"
#include "progress/progress_types.h"

/* The asynchronous progress thread: only a wait that ends at MPI_Finalize.  It sleeps on the
 * descriptors like any waiting thread, so that a process without traffic pays nothing. */

static int stopped(void *arg)
{
    return ((struct progress *)arg)->async_stop;
}

static void *serve(void *arg)
{
    struct progress *p = arg;
    lock_acquire(&proc->lock);
    p->server = pthread_self();
    p->serves = 1;
    progress_wait(stopped, p, NULL, -1);
    p->serves = 0;
    lock_release(&proc->lock);
    return NULL;
}

int progress_async_start(void)
{
    struct progress *p = proc->progress;
    sigset_t all, old;
    /* Signals belong to the user's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int err = pthread_create(&p->async, NULL, serve, p);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (err)
        return -err;
    p->async_on = 1;
    return 0;
}

void progress_async_stop(void)
{
    struct progress *p = proc->progress;
    if (!p->async_on)
        return;
    p->async_stop = 1;
    progress_signal();
    unsigned depth = lock_mine(&proc->lock) ? lock_drop(&proc->lock) : 0;
    pthread_join(p->async, NULL);
    if (depth)
        lock_retake(&proc->lock, depth);
    p->async_on = 0;
}

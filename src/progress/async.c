/* async.c - the asynchronous progress thread (doc/design/progress.md). */
#include <pthread.h>

#include "base/atomic.h"
#include "base/own_thread.h"
#include "base/proc.h"
#include "base/sched.h"
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
    atomic_store_explicit(&p->server, thread_self(), memory_order_relaxed);
    progress_wait(stopped, p, NULL, -1);
    atomic_store_explicit(&p->server, NULL, memory_order_relaxed);
    lock_release(&proc->lock);
    return NULL;
}

int progress_async_start(void)
{
    struct progress *p = proc->progress;
    int err = thread_start(&p->async, serve, p);
    p->async_on = !err;
    return err;
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

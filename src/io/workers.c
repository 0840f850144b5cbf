/* workers.c - nonblocking accesses: threads run transfers, the progress engine completes them.
 *
 *   job_start --jobs--> worker: run() --done, eventfd--> hook: done(): access_finish, complete
 *
 * A worker touches its transfer alone. It takes no lock of MPI calls and makes no error codes.
 * Start with job_start(). */
#include "io/io_types.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/own_thread.h"
#include "base/sched.h"

enum { WORKERS = 4 };

struct pool {
    struct lock lock; /* of jobs, done, stop */
    struct lock_cond more;
    struct list jobs, done;
    int fd; /* eventfd: something is in done */
    int threads, idle, stop, pending;
    pthread_t thread[WORKERS];
    struct progress_hook hook;
    struct progress_source source;
    struct proc *proc;
};

static void *work(void *arg)
{
    struct pool *p = arg;
#ifdef BASE_RANKS_AS_THREADS
    proc = p->proc;
#endif
    lock_acquire(&p->lock);
    while (!p->stop) {
        struct list *l = list_pop(&p->jobs);
        if (!l) {
            p->idle++;
            lock_cond_wait(&p->more, atomic_load(&p->more.seq), &p->lock, 1000000000);
            p->idle--;
            continue;
        }
        lock_release(&p->lock);
        struct job *j = LIST_OBJ(l, struct job, link);
        j->run(j);
        lock_acquire(&p->lock);
        list_push(&p->done, l);
        eventfd_write(p->fd, 1);
    }
    lock_release(&p->lock);
    return NULL;
}

/* Hook of the progress engine. */
static int take_done(void *arg)
{
    struct pool *p = arg;
    int n = 0;
    range_look();
    lock_acquire(&p->lock);
    for (struct list *l; (l = list_pop(&p->done)); n++) {
        lock_release(&p->lock);
        p->pending--;
        struct job *j = LIST_OBJ(l, struct job, link);
        j->done(j);
        lock_acquire(&p->lock);
    }
    lock_release(&p->lock);
    if (n) {
        eventfd_t seen;
        eventfd_read(p->fd, &seen);
    }
    if (!p->pending) {
        progress_hook_del(&p->hook);
        progress_source_del(&p->source);
    }
    return n;
}

static int pool_fd(void *arg, int arm)
{
    struct pool *p = arg;
    if (!arm)
        return p->fd;
    lock_acquire(&p->lock);
    int waiting = p->done.next != &p->done;
    if (!waiting) { /* what was seen before must not end the sleep */
        eventfd_t seen;
        eventfd_read(p->fd, &seen);
    }
    lock_release(&p->lock);
    return waiting;
}

static struct pool *pool_get(void)
{
    struct io_room *r = io_self();
    if (r->pool || sched) /* ranks of the simulator are fibers: no threads there */
        return r->pool;
    struct pool *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (p->fd < 0) {
        free(p);
        return NULL;
    }
    lock_init(&p->lock);
    list_init(&p->jobs);
    list_init(&p->done);
    /* program: data representations have functions of the program */
    p->hook = (struct progress_hook){.fn = take_done, .arg = p, .program = 1};
    p->source = (struct progress_source){.fd = pool_fd, .arg = p};
    p->proc = proc;
    return r->pool = p;
}

/* One more thread if all are busy. 0: there is none. */
static int workers_there(struct pool *p)
{
    if (p->threads && (p->idle || p->threads == WORKERS))
        return 1;
    if (!thread_start(&p->thread[p->threads], work, p))
        p->threads++;
    return p->threads > 0;
}

static void run_here(struct job *j)
{
    j->run(j);
    j->done(j);
}

void job_start(struct job *j)
{
    struct pool *p = pool_get();
    if (!p) {
        run_here(j);
        return;
    }
    lock_acquire(&p->lock);
    int there = workers_there(p);
    if (there)
        list_push(&p->jobs, &j->link);
    lock_release(&p->lock);
    if (!there) {
        run_here(j);
        return;
    }
    if (!p->pending++) {
        progress_hook_add(&p->hook);
        progress_source_add(&p->source);
    }
    lock_cond_signal(&p->more);
}

void pool_free(void)
{
    struct pool *p = io_self()->pool;
    if (!p)
        return;
    range_end();
    lock_acquire(&p->lock);
    p->stop = 1;
    lock_release(&p->lock);
    lock_cond_signal(&p->more);
    for (int i = 0; i < p->threads; i++)
        pthread_join(p->thread[i], NULL);
    if (p->pending) {
        progress_hook_del(&p->hook);
        progress_source_del(&p->source);
    }
    close(p->fd);
    free(p);
    io_self()->pool = NULL;
}

/* missed.c - operations in bundles that were dropped, and the threads that are to be told.
 *
 *    thread 1            thread 2
 *    get, in a bundle
 *                        get, in the same bundle         (the owner dies)
 *    flush: drains it; both are dropped: n->err, and a mark for each thread
 *           takes n->err and its own mark, and fails
 *                        flush: finds no bundle, takes its mark, fails
 *    flush: succeeds     flush: succeeds
 *
 * n->err (bundle.c) is for the first flush of n, of any thread: a flush completes the operations of
 * all threads. A mark is for one that comes later: of a thread, or of a duplicate, whose own
 * operations were dropped. It is told once, by a flush of that target. The end of the epoch, or of
 * the duplicate, ends all marks and tells of those of any thread: no call comes after it. So a
 * flush of a thread without dropped operations is told at most of n->err, and no call on another
 * target is an error. A thread may have ended, and a new one have its address: that is told in its
 * place. While there is a mark no flush is only a fence (rma_near_admit). All under proc->lock. */
#include "rma/core/core.h"

#include <stdlib.h>

struct rma_missed {
    struct rma_missed *next;
    const struct rma_win *of; /* the window or a duplicate */
    const struct rma_near *n;
    void *thread;             /* NULL: any, of a process without threads */
    int err;
};

void rma_missed_add(struct rma_win *w, const struct rma_win *of, const struct rma_near *n,
                    void *thread, int err)
{
    struct rma_missed *m;
    for (m = w->delegate.missed; m; m = m->next)
        if (m->of == of && m->n == n && m->thread == thread)
            return;
    if (!(m = malloc(sizeof *m)))
        return; /* then n->err is all there is */
    *m = (struct rma_missed){w->delegate.missed, of, n, thread, err};
    w->delegate.missed = m;
    w->delegate.misses = 1;
    rma_near_admit(w);
}

/* Deletes the marks of the window or duplicate `of` (NULL: of any), on n (NULL: on any), of this
 * thread, or with `others` of any. Returns the error of the last one. */
static int marks_end(struct rma_win *w, const struct rma_win *of, const struct rma_near *n,
                     int others)
{
    struct rma_missed **at = &w->delegate.missed, *m;
    int err = MPI_SUCCESS;
    if (!*at)
        return err;
    while ((m = *at) != NULL) {
        int mine = !m->thread || m->thread == rma_thread();
        if ((of && m->of != of) || (n && m->n != n) || !(mine || others)) {
            at = &m->next;
            continue;
        }
        err = m->err;
        *at = m->next;
        free(m);
    }
    w->delegate.misses = w->delegate.missed != NULL;
    rma_near_admit(w);
    return err;
}

int rma_missed_take(struct rma_win *of, const struct rma_near *n)
{
    return marks_end(rma_root(of), of, n, 0);
}

int rma_missed_end(struct rma_win *w, const struct rma_near *n)
{
    return marks_end(w, NULL, n, 1);
}

int rma_missed_drop(const struct rma_win *of)
{
    return marks_end(of->parent, of, NULL, 1);
}

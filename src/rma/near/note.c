/* note.c - the notification of an operation on a near target: the words of its counters are
 * mapped at their first use, and the origin adds. Start with rma_direct_noted(). What is promised
 * about the order: note.h. */
#include "rma/near/near_types.h"

#include <stdlib.h>

#include "base/atomic.h"

static int is_own(const struct rma_win *w, const struct rma_near *n)
{
    return n->rank == w->rank;
}

static struct rma_note *map_words(const struct rma_win *w, const struct rma_near *n)
{
    struct rma_note *x = aligned_alloc(_Alignof(struct rma_note), sizeof *x);
    if (!x)
        return NULL;
    *x = (struct rma_note){.sleeping = mem_sleeping(n->host_index)};
    if (is_own(w, n)) {
        x->words = w->notes.words;
        return x;
    }
    struct mem_key key = n->peer->notes.key; /* read once: peers can write the record */
    if (key.size < RMA_NOTE_BYTES || mem_segment_attach_again(&key, &x->seg) != 0) {
        free(x);
        return NULL;
    }
    x->words = x->seg->base;
    return x;
}

/* The counters of n, if number i is there and can be mapped. */
static struct rma_note *note_of(struct rma_win *w, struct rma_near *n, unsigned i)
{
    /* Acquire pairs with the release in rma_notify_set_num(): the key, and zeros. */
    unsigned num = is_own(w, n) ? w->notes.num
                                : atomic_load_explicit(&n->peer->notes.num, memory_order_acquire);
    if (i >= num || i >= RMA_NOTE_MAX)
        return NULL;
    struct rma_note *x = atomic_load_explicit(&n->note, memory_order_relaxed);
    int first = !x;
    if (first && (x = map_words(w, n)) == NULL)
        return NULL;
    /* With threads, another one of this process may wait: rma_note_near() signals it. */
    if (!is_own(w, n) || !proc->threaded)
        atomic_store_explicit(&x->num, num < RMA_NOTE_LINES ? num : RMA_NOTE_LINES,
                              memory_order_relaxed);
    /* Release pairs with the acquire of the inline path in another thread. */
    atomic_store_explicit(&n->note, x, memory_order_release);
    if (first && w->channels)
        rma_copies_follow(w, n);
    return x;
}

int rma_note_near(struct rma_win *w, struct rma_near *n, unsigned i)
{
    struct rma_note *x = note_of(w, n, i);
    if (!x)
        return NOT_HERE;
    sched_point(); /* the data are there, the count is not */
    /* Release pairs with the acquire of the owner's look: rma_note_read() (note.h), and value_of()
     * in api/rma/notify.c. An origin after another continues its release sequence. Below,
     * mem_wake()'s fence pairs with that in mem_wake_arm(). */
    atomic_fetch_add_explicit(rma_note_word(x->words, i), 1, memory_order_release);
    sched_point();
    if (is_own(w, n))
        progress_signal();
    else
        mem_wake(n->host_index);
    return MPI_SUCCESS;
}

int rma_direct_noted(struct rma_win *w, struct rma_near *n, const struct rma_args *a, size_t *bytes,
                     enum rma_called called)
{
    int err = MPI_SUCCESS;
    if (!a->notify)
        return rma_direct(w, n, a, *bytes, called);
    if (*bytes)
        err = rma_direct(w, n, a, *bytes, called);
    if (!err && rma_note_near(w, n, (unsigned)a->notify - 1)) {
        *bytes = 0;
        err = NOT_HERE;
    }
    return err;
}

void rma_note_unmap(struct rma_near *n)
{
    struct rma_note *x = atomic_load_explicit(&n->note, memory_order_relaxed);
    if (x && x->seg)
        mem_segment_drop(x->seg);
    free(x);
    atomic_store_explicit(&n->note, NULL, memory_order_relaxed);
}

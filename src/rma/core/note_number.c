/* note_number.c - notifications that the network itself brings: a put carries 32 bits, and its
 * target's transport reports them behind the data. Start with rma_note_number().
 *
 * They name a window by a number, which the answer to a KEY_ASK gives, and a counter. A late report
 * must not meet another window: numbers are given in turn, so one comes again after all others.
 * What comes is counted in sync/note_wait.c. */
#include "rma/core/core.h"

#include <stdlib.h>

#include "watch/watch.h"

/* The race checker's records travel by message, and a report of the network could overtake them.
 * The search for deadlocks must know of each notification that is under way. */
int rma_note_puts(const struct tp_caps *caps)
{
    int watched = cvar.coll_check || watch_wants(WATCH_NOTES);
    return cvar.rma_notify_immediate && caps->flags & TP_PUT_NOTE && !watched;
}

/* A free number, or 0. */
static unsigned next_free(struct rma_note_waiting *x)
{
    for (unsigned tries = 1; tries < RMA_NOTE_ASK; tries++) {
        x->number = x->number % (RMA_NOTE_ASK - 1) + 1;
        if (x->number >= x->numbers || !x->numbered[x->number])
            return x->number;
    }
    return 0;
}

unsigned rma_note_number(struct rma_win *w)
{
    struct rma_note_waiting *x = &rma_self()->notes;
    unsigned i = w->notes.number ? 0 : next_free(x);
    if (!i)
        return w->notes.number;
    if (i >= x->numbers) {
        unsigned n = i < 8 ? 16 : 2 * i;
        struct rma_win **all = realloc(x->numbered, n * sizeof(struct rma_win *));
        if (!all)
            return 0;
        for (unsigned k = x->numbers; k < n; k++)
            all[k] = NULL;
        x->numbered = all;
        x->numbers = n;
    }
    x->numbered[i] = w;
    w->notes.number = (uint16_t)i;
    return i;
}

/* states.h - what may be asked of a window's state (private).  epoch.c writes states, and draws them; nobody else names one. */
#ifndef RMA_STATES_H
#define RMA_STATES_H

#include "rma/core/types.h"

int rma_fence_pending(const struct rma_win *w); /* epoch.c */

enum win_question {
    ASK_FENCE_MAY,     /* MPI_Win_fence is legal       */ ASK_START_MAY,   /* MPI_Win_start             */
    ASK_LOCK_MAY,      /* MPI_Win_lock                 */ ASK_LOCK_ALL_MAY, /* MPI_Win_lock_all          */
    ASK_IN_PSCW,       /* an access epoch of PSCW      */ ASK_IN_LOCK_ALL, /* LOCK_ALL, either protocol */
    ASK_IN_PASSIVE,    /* lock or lock_all             */ ASK_FREE_MAY,    /* MPI_Win_free              */
    ASK_BARRIER_OUT,   /* FENCE_ISSUED                 */ ASK_POSTS_OUT,   /* PSCW_ISSUED               */
    ASK_SWITCHING,     /* LOCK_ALL_ISSUED              */ ASK_LAZY_ALL,    /* LOCK_ALL_CALLED           */
    ASK_ALL_LOCKED,    /* LOCK_ALL_GRANTED             */ ASK_PER_TARGET, ASK_ACTIVE, /* fence or PSCW, granted */
    ASK_UNSET, ASK_IN_FENCE,
    ASK_ON_ALL,        /* operations on every target   */ ASK_ALL_PENDING, /* LOCK_ALL, not granted     */
    WIN_QUESTIONS
};

/* The states in which the answer is yes, as bits. */
static inline unsigned rma_yes(enum win_question q)
{
    enum {
        FENCE = 1 << WIN_FENCE_ISSUED | 1 << WIN_FENCE_GRANTED,
        PENDING = 1 << WIN_LOCK_ALL_CALLED | 1 << WIN_LOCK_ALL_ISSUED,
        ALL = PENDING | 1 << WIN_LOCK_ALL_GRANTED
    };
    switch (q) {
    case ASK_FENCE_MAY: return 1 << WIN_UNSET | FENCE;
    case ASK_START_MAY:
    case ASK_LOCK_ALL_MAY:
    case ASK_FREE_MAY:
    case ASK_UNSET: return 1 << WIN_UNSET;
    case ASK_LOCK_MAY: return 1 << WIN_UNSET | 1 << WIN_PER_TARGET;
    case ASK_IN_PSCW: return 1 << WIN_PSCW_ISSUED | 1 << WIN_PSCW_GRANTED;
    case ASK_IN_LOCK_ALL: return ALL;
    case ASK_IN_PASSIVE: return ALL | 1 << WIN_PER_TARGET;
    case ASK_BARRIER_OUT: return 1 << WIN_FENCE_ISSUED;
    case ASK_POSTS_OUT: return 1 << WIN_PSCW_ISSUED;
    case ASK_SWITCHING: return 1 << WIN_LOCK_ALL_ISSUED;
    case ASK_LAZY_ALL: return 1 << WIN_LOCK_ALL_CALLED;
    case ASK_ALL_LOCKED: return 1 << WIN_LOCK_ALL_GRANTED;
    case ASK_PER_TARGET: return 1 << WIN_PER_TARGET;
    case ASK_ACTIVE: return 1 << WIN_FENCE_GRANTED | 1 << WIN_PSCW_GRANTED;
    case ASK_IN_FENCE: return FENCE;
    case ASK_ON_ALL: return 1 << WIN_FENCE_GRANTED | ALL;
    case ASK_ALL_PENDING: return PENDING;
    case WIN_QUESTIONS: break;
    }
    return 0;
}

/* What opens an epoch may also do so after a fence since which nothing was called. */
static inline int rma_ask(const struct rma_win *w, enum win_question q)
{
    if (rma_yes(q) >> w->state & 1)
        return 1;
    int opens = q == ASK_START_MAY || q == ASK_LOCK_MAY || q == ASK_LOCK_ALL_MAY || q == ASK_FREE_MAY;
    return opens && (rma_yes(ASK_IN_FENCE) >> w->state & 1) && !rma_fence_pending(w);
}

#endif

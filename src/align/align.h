/* align.h - are the collective calls of all processes the same?  (doc/design/align.md)
 *
 *   api/ --- check_coll, check_comm ---> digest, history and ring of the communicator
 *        --- check_leave --------------> an error that a difference explains
 *   a wait lasts, a communicator is freed, MPI_Finalize ---> the ring goes to the judge,
 *                      rank 0 of the communicator, which compares, prints, and informs the others
 *
 * proc->check is NULL while MPIR_CVAR_COLL_CHECK is 0; then none of these is called, but
 * check_init(), check_ending(), check_ended() and check_finalize(). All run under proc->lock.
 * Nothing here blocks a call, except in MPI_Finalize and behind an error. */
#ifndef ALIGN_ALIGN_H
#define ALIGN_ALIGN_H

#include "align/compared.h"
#include "base/proc.h"
#include "coll/coll.h"

/* What is called is an enum coll_call, or an enum check_call, which is made of calls.def. */
enum check_form { CHECK_BLOCKING, CHECK_NONBLOCKING, CHECK_PERSISTENT };

/* One call that is under way, on the caller's stack. */
struct check_turn {
    struct check_turn *outer;
    struct align *of;   /* NULL: the call is not compared */
    struct comm *comm;  /* with a reference */
    int refused;        /* the caller: it did nothing that other processes hear of, so it is none */
    struct check_before {
        uint64_t hist, types;
        uint32_t calls, blocking;
        int soft;
    } before;
};

int check_init(void); /* 0 or -ENOMEM; makes proc->check if the CVAR asks for it */
void check_finalize(void);

/* A call whose arguments are right: note it. MPI_ERR_NOT_SAME: the communicator's calls are known
 * to differ, and the call must not run. check_leave() follows in any case, with the call's result,
 * and returns what the caller is to return. `site`: a return address in the program. */
int check_coll(const struct coll_args *a, enum check_form form, const void *site,
               struct check_turn *turn);
/* 1: check_coll() will not refuse this blocking call, and no process waits for what it notes. So
 * the call may begin before it. */
int check_may_wait(const struct coll_args *a, const void *site);
int check_comm(struct comm *c, enum check_call call, const void *site, struct check_turn *turn);
int check_leave(struct check_turn *turn, int err);
/* An error of a call that completes requests of c: the same, if a difference explains it. */
int check_explain(struct comm *c, int err);
/* Calls on a window: the history is that of its own communicator. `modes` of a fence: those that
 * all processes must give alike. */
struct rma_win;
int check_win(struct rma_win *w, enum check_call call, int modes, const void *site,
              struct check_turn *turn);
/* Calls on a file, and the parts of a split one. What they do inside may come later than the next
 * call, so they carry no note (level 2). */
struct io_file;
enum check_part { CHECK_WHOLE, CHECK_BEGIN, CHECK_END };
int check_file(struct io_file *f, enum check_call call, enum check_form form, enum check_part part,
               const void *site, struct check_turn *turn);
/* n has been made over c. With a call: the one that made it, which only members of n take part
 * in; else CHECK_CALLS. Not for MPI_Comm_idup: the calls on its communicator have no order with
 * those on c. */
void check_made(struct comm *c, struct comm *n, enum check_call call, const void *site);
/* The communicator has been freed (the caller still has a reference): this process makes no more
 * calls on it. With a call: that one was not noted before. */
void check_freed(struct comm *c, const void *site, enum check_call call);
void check_win_freed(struct comm *c); /* that of a window or a file */

/* Messages (levels 2 and 3): before one leaves for rank `dest` of c's peers; behind a wait for one,
 * or for all of n requests. */
struct p2p_took;
void check_sending(struct comm *c, int dest);
void check_received(struct comm *c, const struct p2p_took *t);
void check_waited(struct request *const *r, int n);

/* MPI_Finalize: before any wait in it, and behind the barrier of all. */
void check_ending(void);
void check_ended(void);

#endif

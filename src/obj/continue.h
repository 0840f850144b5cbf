/* continue.h - continuations: a function of the program that runs when requests are complete.
 *
 *      continue_attach --> a record waits ----- each of its requests is done: continue_op_done()
 *                          a record is ready -- of its continuation request: a queue
 *                          it runs ------------ at a safe point: continue_run()
 *
 * continue_op_done() is called in handlers and runs no code of the program. A safe point has
 * nothing of the library's on its stack that the program could meet: the entry of a call, a turn of
 * a wait of the program's for requests, a test of a continuation request. Neither attaching nor
 * completion looks at other requests. proc->lock protects everything here; it is given up while a
 * function runs. */
#ifndef OBJ_CONTINUE_H
#define OBJ_CONTINUE_H

#include <mpi.h>

#include "obj/request.h"

/* What MPIX_Continue_init asks for. */
struct continue_mode {
    int polled;   /* its functions run in tests of it and waits for it alone */
    int defer;    /* MPIX_Continue runs nothing */
    int max_poll; /* so many in a test of it; 0: all that are ready */
};
/* A continuation request, inactive, with a handle. MPI error code. */
int continue_init(const struct continue_mode *m, MPI_Request *out);
static inline int request_is_continue(const struct request *r)
{
    return r->kind == REQUEST_CONTINUE;
}

struct continue_what {
    MPIX_Continue_cb_function *fn;
    void *data;
    int flags; /* MPIX_CONT_* */
};
/* One function for n requests that are valid, and none of them is `cont`. statuses: NULL or n of
 * them. Handles of those that are not persistent become MPI_REQUEST_NULL. MPI error code, and then
 * all is as before. */
int continue_attach(struct request *cont, const struct continue_what *what, int n,
                    MPI_Request *ops, MPI_Status *statuses);
/* The same for one, whose handle is *op. r may be NULL. */
int continue_attach_one(struct request *cont, const struct continue_what *what, struct request *r,
                        MPI_Request *op, MPI_Status *status);
/* Whether a function waits for r. */
int continue_holds(const struct request *r);
/* MPI_Request_free of one: what is registered still runs, at any safe point. */
void continue_release(struct request *cont);

/* Whether continue_run() for a wait for these requests (NULL entries are skipped) would run
 * something. Only where proc->obj->continues_ready is not 0. */
int continue_may_run(struct request *const *r, int n);
/* A safe point of a wait for these: runs what is ready now, and a turn of async_poll.h
 * if one is due. */
void continue_run(struct request *const *r, int n);
/* After attaching to `cont`: a safe point, unless that one defers. */
void continue_now(const struct request *cont);
/* The entry of a call, without the lock. */
void continue_enter(void) __attribute__((cold));
/* MPI_ERR_REQUEST: this thread runs code of the program that the library has called, and would wait
 * in it for one of these requests that is a continuation request. */
int continue_in_vain(struct request *const *r, int n);

/* Whether a function is there, of a continuation or of async_poll.h, that may run before the
 * program does something for it. */
int continue_expects(void);

/* Functions that may run at a safe point, more or less. continue_enter() reads it without the
 * lock. */
static inline void continue_count(int change)
{
    __atomic_store_n(&proc->obj->continues_ready, proc->obj->continues_ready + (unsigned)change,
                     __ATOMIC_RELAXED);
}

static inline int continue_interrupts(struct request *const *r, int n)
{
    return __builtin_expect(proc->obj->continues_ready != 0, 0) && continue_may_run(r, n);
}

#endif

/* continue_quick.h - what continuations are made of, and the short way to attach one.
 *
 * continue_quick() is inline in MPIX_Continue. It takes one request that is made at run time, not
 * done, and needs no look (poke), for the continuation request that was used last. In any doubt it
 * returns 0 and has changed nothing; then continue_attach() starts from the top. A record that is
 * free is as that of one request: only what differs is written.
 *
 * continue_at_once() comes next. It takes the request of a message that is done. */
#ifndef OBJ_CONTINUE_QUICK_H
#define OBJ_CONTINUE_QUICK_H

#include "base/list.h"
#include "obj/continue.h"

struct continue_record;

/* A request that a record waits for. */
struct continue_part {
    struct continue_record *rec;
    struct request *r; /* NULL: none, or one that was inactive or built in */
    MPI_Status *status; /* NULL: none is wanted */
    /* What a checker has set before; it is called first, and may take completion back. */
    void (*inner)(struct request *r, void *arg);
    void *inner_arg;
    MPI_Request handle; /* of r. It names r no more if the program has ended r by a copy */
};

struct continue_record {
    struct continue_record *next; /* in a queue, or of free ones */
    struct cont *cont;
    struct continue_what what;
    int left;   /* requests that are not complete, and 1 while it is being attached */
    int queued; /* it is in a queue. With left != 0: one of its requests was undone since. Free:
                 * 0 */
    int n;      /* free: 1 */
    struct continue_part *part; /* n of them: `one`, or from the heap; free: `one` */
    struct continue_part one;   /* free: its rec, and no inner */
};

struct continue_queue {
    struct continue_record *first, *last;
    unsigned n;
};

/* ANYWHERE: at each safe point. POLLED: in tests of its continuation request and waits for it. */
enum continue_where { ANYWHERE, POLLED, WHERES };

struct cont {
    struct request r; /* persistent; done while nothing is registered */
    struct continue_mode mode;
    struct continues *room;
    uint64_t registered; /* functions that have not returned */
    struct continue_queue ready[WHERES];
    struct list link; /* on continues.ready: it runs, and ready[ANYWHERE] is not empty */
    int orphan;       /* freed by the program; runs nevertheless, and ends with its last function */
    int failed;       /* the first error since it was complete last */
    struct list all;  /* on continues.all */
};

struct continues {
    struct list ready, all; /* struct cont */
    struct continue_record *spare;
    struct continue_slab *slabs;
};

/* A continuation request is undone: a function is registered. Not where a record waits for it. */
static inline void continue_undone(struct cont *c)
{
    c->r.done = !c->r.active;
}

/* 1: the message's request is done, nothing else was to run, and the function has run, without a
 * record. 0: nothing was done. Arguments as those of continue_quick(). */
int continue_at_once(MPI_Request *op, MPIX_Continue_cb_function *fn, void *data, int flags,
                     MPI_Status *status, MPI_Request cont);

/* r->then of a request with a continuation. */
void continue_op_done(struct request *r, void *arg);

/* 1: it is attached to continue_recent, and has not run. No argument was looked at before; `flags`
 * has no unknown bits. */
static inline __attribute__((always_inline)) int
continue_quick(MPI_Request *op, MPIX_Continue_cb_function *fn, void *data, int flags,
               MPI_Status *status, MPI_Request cont)
{
    struct obj_room *o = proc->obj;
    struct cont *c = o->continue_recent;
    if (__builtin_expect(!c || c->r.obj.handle != cont || !op || !fn || !status, 0))
        return 0;
    MPI_Request h = *op;
    struct request *r = obj_find_made(OBJ_REQUEST, h);
    if (__builtin_expect(!r || r->kind > REQUEST_GENERAL || r->done || r->then || r->ops->poke, 0))
        return 0;
    struct continue_record *rec = c->room->spare;
    if (__builtin_expect(!rec || (c->r.done && c->r.then), 0))
        return 0;
    c->room->spare = rec->next;
    rec->cont = c;
    rec->what.fn = fn;
    rec->what.data = data;
    rec->what.flags = flags;
    rec->left = 1;
    rec->one.r = r;
    rec->one.handle = h;
    rec->one.status = status == MPI_STATUS_IGNORE ? NULL : status;
    r->then = continue_op_done;
    r->then_arg = &rec->one;
    c->registered++;
    if (c->r.done)
        continue_undone(c);
    *op = MPI_REQUEST_NULL;
    return 1;
}

#endif

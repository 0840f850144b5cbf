/* thread.c - POSIX threads and C11's: their beginning and end. The linker puts these before the
 * functions of the C library. Start with make() and waited().
 *
 *   creator --- fork() ---> begin              end --- join(), tryjoin() .. ---> the waiting thread
 *
 * The end of a thread is known to the one that waits for it, and to no other. An id is used again
 * as soon as its thread was waited for: so the end stands at an object of the thread, not at the
 * id. */
#include "instrument/instrument.h"

#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

void *REAL(calloc)(size_t n, size_t each);
void REAL(free)(void *p);

#define DECLARE(type, name, params)                                                                \
    type REAL(name) params;                                                                        \
    type WRAP(name) params;                                                                        \
    type WRAP(name) params
/* Not every C library has these. */
#define DECLARE_NEWER(type, name, params)                                                          \
    type REAL(name) params __attribute__((weak));                                                  \
    type WRAP(name) params;                                                                        \
    type WRAP(name) params

struct thread {
    struct thread *next;
    int refs;               /* the creator's until it knows the id, the thread's, the list's */
    int has_id, detached, ended;
    pthread_t id;
    char begin, end;        /* objects of the order */
    void *(*fn)(void *arg); /* one of both */
    thrd_start_t fn11;
    void *arg;
};

/* --- threads that nothing has waited for ------------------------------------------------------ */

static struct thread *list;
static char guard;
static __thread struct thread *self;

static void guard_take(void)
{
    while (__atomic_test_and_set(&guard, __ATOMIC_ACQUIRE))
        ;
}

static void guard_drop(void)
{
    __atomic_clear(&guard, __ATOMIC_RELEASE);
}

static void drop(struct thread *t)
{
    if (__atomic_sub_fetch(&t->refs, 1, __ATOMIC_ACQ_REL))
        return;
    order_forget(&t->end);
    REAL(free)(t);
}

/* With a reference; NULL: code that is not watched began it. */
static struct thread *find(pthread_t id)
{
    guard_take();
    struct thread *t = list;
    while (t && !(t->has_id && pthread_equal(t->id, id)))
        t = t->next;
    if (t)
        __atomic_fetch_add(&t->refs, 1, __ATOMIC_RELAXED);
    guard_drop();
    return t;
}

static void unlink_it(struct thread *t)
{
    guard_take();
    struct thread **at = &list;
    while (*at && *at != t)
        at = &(*at)->next;
    int listed = *at != NULL;
    if (listed)
        *at = t->next;
    guard_drop();
    if (listed)
        drop(t);
}

static void knows_id(struct thread *t, pthread_t id)
{
    guard_take();
    t->id = id;
    t->has_id = 1;
    guard_drop();
}

/* --- begin ------------------------------------------------------------------------------------ */

/* Nothing will wait for a detached thread. */
static void over(void)
{
    struct thread *t = self;
    guard_take();
    t->ended = 1;
    int alone = t->detached;
    guard_drop();
    if (alone)
        unlink_it(t);
    drop(t);
}

static void begin(struct thread *t)
{
    self = t;
    knows_id(t, pthread_self());
    instrument_ends_at(&t->end, over);
    if (!instrument_runs())
        return;
    instrument_begin();
    order_renew(&t->begin);
    order_forget(&t->begin);
    order_forked();
}

static void *start(void *arg)
{
    struct thread *t = arg;
    begin(t);
    return t->fn(t->arg);
}

static int start11(void *arg)
{
    struct thread *t = arg;
    begin(t);
    return t->fn11(t->arg);
}

static struct thread *make(void *arg, int detached)
{
    struct thread *t = REAL(calloc)(1, sizeof *t);
    if (!t)
        return NULL;
    t->refs = 3;
    t->arg = arg;
    t->detached = detached;
    guard_take();
    t->next = list;
    list = t;
    guard_drop();
    order_fork(&t->begin);
    return t;
}

static void made(struct thread *t, pthread_t id, int err)
{
    if (err) {
        order_forget(&t->begin);
        order_forked();
        unlink_it(t);
        drop(t); /* there is no thread */
    } else {
        knows_id(t, id);
    }
    drop(t);
}

DECLARE(int, pthread_create, (pthread_t *id, const pthread_attr_t *attr, void *(*fn)(void *),
                              void *arg))
{
    int state = PTHREAD_CREATE_JOINABLE;
    if (attr)
        pthread_attr_getdetachstate(attr, &state);
    struct thread *t = make(arg, state == PTHREAD_CREATE_DETACHED);
    if (!t)
        return EAGAIN;
    t->fn = fn;
    int err = REAL(pthread_create)(id, attr, start, t);
    made(t, err ? pthread_self() : *id, err);
    return err;
}

DECLARE_NEWER(int, thrd_create, (thrd_t *id, thrd_start_t fn, void *arg))
{
    struct thread *t = make(arg, 0);
    if (!t)
        return thrd_nomem;
    t->fn11 = fn;
    int err = REAL(thrd_create)(id, start11, t);
    made(t, err == thrd_success ? *id : pthread_self(), err != thrd_success);
    return err;
}

/* --- end -------------------------------------------------------------------------------------- */

/* t: found before the call, since the id may be another thread's behind it. */
static int waited(struct thread *t, int err)
{
    if (t && !err) {
        order_join(&t->end);
        unlink_it(t);
    }
    if (t)
        drop(t);
    return err;
}

DECLARE(int, pthread_join, (pthread_t id, void **result))
{
    struct thread *t = find(id);
    return waited(t, REAL(pthread_join)(id, result));
}

DECLARE_NEWER(int, pthread_tryjoin_np, (pthread_t id, void **result))
{
    struct thread *t = find(id);
    return waited(t, REAL(pthread_tryjoin_np)(id, result));
}

DECLARE_NEWER(int, pthread_timedjoin_np, (pthread_t id, void **result,
                                          const struct timespec *until))
{
    struct thread *t = find(id);
    return waited(t, REAL(pthread_timedjoin_np)(id, result, until));
}

DECLARE_NEWER(int, pthread_clockjoin_np, (pthread_t id, void **result, clockid_t clock,
                                          const struct timespec *until))
{
    struct thread *t = find(id);
    return waited(t, REAL(pthread_clockjoin_np)(id, result, clock, until));
}

DECLARE_NEWER(int, thrd_join, (thrd_t id, int *result))
{
    struct thread *t = find(id);
    return waited(t, REAL(thrd_join)(id, result));
}

static int detached(struct thread *t, int err)
{
    if (!t)
        return err;
    guard_take();
    t->detached |= !err;
    int over = t->detached && t->ended;
    guard_drop();
    if (over)
        unlink_it(t);
    drop(t);
    return err;
}

DECLARE(int, pthread_detach, (pthread_t id))
{
    struct thread *t = find(id);
    return detached(t, REAL(pthread_detach)(id));
}

DECLARE_NEWER(int, thrd_detach, (thrd_t id))
{
    struct thread *t = find(id);
    return detached(t, REAL(thrd_detach)(id));
}

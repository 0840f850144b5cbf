/* thread.c - POSIX threads: what orders them. The linker puts these before the functions of
 * libpthread. */
#include "instrument/instrument.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#define DECLARE(type, name, params)                                                                \
    type REAL(name) params;                                                                        \
    type WRAP(name) params;                                                                        \
    type WRAP(name) params

/* --- begin and end ---------------------------------------------------------------------------- */

struct beginning {
    void *(*fn)(void *arg);
    void *arg;
    char begin;
};
static pthread_key_t at_end;
static pthread_once_t at_end_once = PTHREAD_ONCE_INIT;

static const void *end_of(pthread_t t)
{
    return (const void *)(uintptr_t)t;
}

/* Runs before the log of the thread goes, or after it: then as a thread of its own. */
static void on_end(void *arg)
{
    order_end(end_of(pthread_self()));
    (void)arg;
}

static void make_key(void)
{
    pthread_key_create(&at_end, on_end);
}

static void *start(void *arg)
{
    struct beginning *s = arg;
    void *(*fn)(void *) = s->fn;
    void *fn_arg = s->arg;
    if (instrument_runs()) {
        instrument_begin();
        order_renew(&s->begin);
        order_forget(&s->begin);
        order_forked();
        pthread_setspecific(at_end, s);
    }
    free(s);
    return fn(fn_arg);
}

DECLARE(int, pthread_create, (pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *),
                              void *arg))
{
    struct beginning *s = malloc(sizeof *s);
    if (!s)
        return EAGAIN;
    pthread_once(&at_end_once, make_key);
    *s = (struct beginning){fn, arg, 0};
    order_fork(&s->begin);
    int err = REAL(pthread_create)(t, attr, start, s);
    if (err) {
        order_forget(&s->begin);
        order_forked();
        free(s);
    }
    return err;
}

DECLARE(int, pthread_join, (pthread_t t, void **result))
{
    int err = REAL(pthread_join)(t, result);
    if (!err) {
        order_join(end_of(t));
        order_forget(end_of(t));
    }
    return err;
}

/* --- mutexes, conditions ---------------------------------------------------------------------- */

static int taken(const void *object, int err)
{
    if (!err || err == EOWNERDEAD)
        order_acquire(object);
    return err;
}

DECLARE(int, pthread_mutex_lock, (pthread_mutex_t *m))
{
    return taken(m, REAL(pthread_mutex_lock)(m));
}

DECLARE(int, pthread_mutex_trylock, (pthread_mutex_t *m))
{
    return taken(m, REAL(pthread_mutex_trylock)(m));
}

DECLARE(int, pthread_mutex_timedlock, (pthread_mutex_t *m, const struct timespec *until))
{
    return taken(m, REAL(pthread_mutex_timedlock)(m, until));
}

DECLARE(int, pthread_mutex_unlock, (pthread_mutex_t *m))
{
    order_release(m);
    return REAL(pthread_mutex_unlock)(m);
}

DECLARE(int, pthread_mutex_destroy, (pthread_mutex_t *m))
{
    order_forget(m);
    return REAL(pthread_mutex_destroy)(m);
}

DECLARE(int, pthread_cond_wait, (pthread_cond_t *c, pthread_mutex_t *m))
{
    order_release(m);
    int err = REAL(pthread_cond_wait)(c, m);
    order_acquire(c);
    return taken(m, err);
}

DECLARE(int, pthread_cond_timedwait, (pthread_cond_t *c, pthread_mutex_t *m,
                                      const struct timespec *until))
{
    order_release(m);
    int err = REAL(pthread_cond_timedwait)(c, m, until);
    if (!err)
        order_acquire(c);
    order_acquire(m); /* after a timeout, too */
    return err;
}

DECLARE(int, pthread_cond_signal, (pthread_cond_t *c))
{
    order_release(c);
    return REAL(pthread_cond_signal)(c);
}

DECLARE(int, pthread_cond_broadcast, (pthread_cond_t *c))
{
    order_release(c);
    return REAL(pthread_cond_broadcast)(c);
}

/* --- other locks, barriers, semaphores -------------------------------------------------------- */

DECLARE(int, pthread_rwlock_rdlock, (pthread_rwlock_t *l))
{
    return taken(l, REAL(pthread_rwlock_rdlock)(l));
}

DECLARE(int, pthread_rwlock_wrlock, (pthread_rwlock_t *l))
{
    return taken(l, REAL(pthread_rwlock_wrlock)(l));
}

DECLARE(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *l))
{
    return taken(l, REAL(pthread_rwlock_tryrdlock)(l));
}

DECLARE(int, pthread_rwlock_trywrlock, (pthread_rwlock_t *l))
{
    return taken(l, REAL(pthread_rwlock_trywrlock)(l));
}

DECLARE(int, pthread_rwlock_unlock, (pthread_rwlock_t *l))
{
    order_release(l);
    return REAL(pthread_rwlock_unlock)(l);
}

DECLARE(int, pthread_spin_lock, (pthread_spinlock_t *l))
{
    return taken((const void *)(uintptr_t)l, REAL(pthread_spin_lock)(l));
}

DECLARE(int, pthread_spin_trylock, (pthread_spinlock_t *l))
{
    return taken((const void *)(uintptr_t)l, REAL(pthread_spin_trylock)(l));
}

DECLARE(int, pthread_spin_unlock, (pthread_spinlock_t *l))
{
    order_release((const void *)(uintptr_t)l);
    return REAL(pthread_spin_unlock)(l);
}

DECLARE(int, pthread_barrier_wait, (pthread_barrier_t *b))
{
    order_release(b);
    int err = REAL(pthread_barrier_wait)(b);
    order_acquire(b);
    return err;
}

DECLARE(int, sem_post, (sem_t *s))
{
    order_release(s);
    return REAL(sem_post)(s);
}

DECLARE(int, sem_wait, (sem_t *s))
{
    int err = REAL(sem_wait)(s);
    return err ? err : taken(s, 0);
}

DECLARE(int, sem_trywait, (sem_t *s))
{
    int err = REAL(sem_trywait)(s);
    return err ? err : taken(s, 0);
}

/* --- memory that changes hands ---------------------------------------------------------------- */

/* What one thread gives back another may get: malloc() orders the two. */
static char heap;

DECLARE(void, free, (void *p))
{
    if (p && instrument_watched((uint64_t)(uintptr_t)p))
        order_release(&heap);
    REAL(free)(p);
}

DECLARE(void *, malloc, (size_t n))
{
    void *p = REAL(malloc)(n);
    if (p && instrument_watched((uint64_t)(uintptr_t)p))
        order_acquire(&heap);
    return p;
}

DECLARE(void *, calloc, (size_t n, size_t each))
{
    void *p = REAL(calloc)(n, each);
    if (p && instrument_watched((uint64_t)(uintptr_t)p))
        order_acquire(&heap);
    return p;
}

DECLARE(void *, realloc, (void *old, size_t n))
{
    if (old && instrument_watched((uint64_t)(uintptr_t)old))
        order_release(&heap);
    void *p = REAL(realloc)(old, n);
    if (p && instrument_watched((uint64_t)(uintptr_t)p))
        order_acquire(&heap);
    return p;
}

/* mutex.c - mutexes, conditions, other locks, barriers, semaphores and what is done once, of POSIX
 * and C11: what orders threads. The linker puts these before the functions of the C library. Start
 * with TAKES(), behind which a thread has acquired. */
#include "instrument/instrument.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#define DECLARE(type, name, params)                                                                \
    type REAL(name) params;                                                                        \
    type WRAP(name) params;                                                                        \
    type WRAP(name) params
/* Not every C library has these. */
#define DECLARE_NEWER(type, name, params)                                                          \
    type REAL(name) params __attribute__((weak));                                                  \
    type WRAP(name) params;                                                                        \
    type WRAP(name) params

/* Behind a lock that may not have been taken. */
static int taken(const volatile void *object, int err)
{
    if (!err || err == EOWNERDEAD)
        order_acquire((const void *)(uintptr_t)object);
    return err;
}

/* Each has a lock m as its first argument. */
#define TAKES(declare, name, params, args)                                                         \
    declare(int, name, params)                                                                     \
    {                                                                                              \
        return taken(m, REAL(name) args);                                                          \
    }
#define GIVES(declare, name, type)                                                                 \
    declare(int, name, (type *m))                                                                  \
    {                                                                                              \
        order_release((const void *)(uintptr_t)m);                                                 \
        return REAL(name)(m);                                                                      \
    }
#define ENDS(declare, result, name, type)                                                          \
    declare(result, name, (type *m))                                                               \
    {                                                                                              \
        order_forget((const void *)(uintptr_t)m);                                                  \
        return REAL(name)(m);                                                                      \
    }
#define UNTIL const struct timespec *until

/* --- mutexes ---------------------------------------------------------------------------------- */

TAKES(DECLARE, pthread_mutex_lock, (pthread_mutex_t *m), (m))
TAKES(DECLARE, pthread_mutex_trylock, (pthread_mutex_t *m), (m))
TAKES(DECLARE, pthread_mutex_timedlock, (pthread_mutex_t *m, UNTIL), (m, until))
TAKES(DECLARE_NEWER, pthread_mutex_clocklock, (pthread_mutex_t *m, clockid_t clock, UNTIL),
      (m, clock, until))
GIVES(DECLARE, pthread_mutex_unlock, pthread_mutex_t)
ENDS(DECLARE, int, pthread_mutex_destroy, pthread_mutex_t)

TAKES(DECLARE_NEWER, mtx_lock, (mtx_t *m), (m))
TAKES(DECLARE_NEWER, mtx_trylock, (mtx_t *m), (m))
TAKES(DECLARE_NEWER, mtx_timedlock, (mtx_t *m, UNTIL), (m, until))
GIVES(DECLARE_NEWER, mtx_unlock, mtx_t)
ENDS(DECLARE_NEWER, void, mtx_destroy, mtx_t)

/* --- conditions ------------------------------------------------------------------------------- */

/* The mutex is taken again in any case, after a timeout, too. */
#define WAITS(declare, name, params, args)                                                         \
    declare(int, name, params)                                                                     \
    {                                                                                              \
        order_release(m);                                                                          \
        int err = REAL(name) args;                                                                 \
        if (!err)                                                                                  \
            order_acquire(c);                                                                      \
        order_acquire(m);                                                                          \
        return err;                                                                                \
    }
WAITS(DECLARE, pthread_cond_wait, (pthread_cond_t *c, pthread_mutex_t *m), (c, m))
WAITS(DECLARE, pthread_cond_timedwait, (pthread_cond_t *c, pthread_mutex_t *m, UNTIL),
      (c, m, until))
WAITS(DECLARE_NEWER, pthread_cond_clockwait,
      (pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, UNTIL), (c, m, clock, until))
GIVES(DECLARE, pthread_cond_signal, pthread_cond_t)
GIVES(DECLARE, pthread_cond_broadcast, pthread_cond_t)
ENDS(DECLARE, int, pthread_cond_destroy, pthread_cond_t)

WAITS(DECLARE_NEWER, cnd_wait, (cnd_t *c, mtx_t *m), (c, m))
WAITS(DECLARE_NEWER, cnd_timedwait, (cnd_t *c, mtx_t *m, UNTIL), (c, m, until))
GIVES(DECLARE_NEWER, cnd_signal, cnd_t)
GIVES(DECLARE_NEWER, cnd_broadcast, cnd_t)
ENDS(DECLARE_NEWER, void, cnd_destroy, cnd_t)

/* --- other locks, barriers, semaphores -------------------------------------------------------- */

TAKES(DECLARE, pthread_rwlock_rdlock, (pthread_rwlock_t *m), (m))
TAKES(DECLARE, pthread_rwlock_wrlock, (pthread_rwlock_t *m), (m))
TAKES(DECLARE, pthread_rwlock_tryrdlock, (pthread_rwlock_t *m), (m))
TAKES(DECLARE, pthread_rwlock_trywrlock, (pthread_rwlock_t *m), (m))
TAKES(DECLARE, pthread_rwlock_timedrdlock, (pthread_rwlock_t *m, UNTIL), (m, until))
TAKES(DECLARE, pthread_rwlock_timedwrlock, (pthread_rwlock_t *m, UNTIL), (m, until))
TAKES(DECLARE_NEWER, pthread_rwlock_clockrdlock, (pthread_rwlock_t *m, clockid_t clock, UNTIL),
      (m, clock, until))
TAKES(DECLARE_NEWER, pthread_rwlock_clockwrlock, (pthread_rwlock_t *m, clockid_t clock, UNTIL),
      (m, clock, until))
GIVES(DECLARE, pthread_rwlock_unlock, pthread_rwlock_t)
ENDS(DECLARE, int, pthread_rwlock_destroy, pthread_rwlock_t)

TAKES(DECLARE, pthread_spin_lock, (pthread_spinlock_t *m), (m))
TAKES(DECLARE, pthread_spin_trylock, (pthread_spinlock_t *m), (m))
GIVES(DECLARE, pthread_spin_unlock, pthread_spinlock_t)
ENDS(DECLARE, int, pthread_spin_destroy, pthread_spinlock_t)

DECLARE(int, pthread_barrier_wait, (pthread_barrier_t *b))
{
    order_release(b);
    int err = REAL(pthread_barrier_wait)(b);
    order_acquire(b);
    return err;
}
ENDS(DECLARE, int, pthread_barrier_destroy, pthread_barrier_t)

GIVES(DECLARE, sem_post, sem_t)
TAKES(DECLARE, sem_wait, (sem_t *m), (m))
TAKES(DECLARE, sem_trywait, (sem_t *m), (m))
TAKES(DECLARE, sem_timedwait, (sem_t *m, UNTIL), (m, until))
TAKES(DECLARE_NEWER, sem_clockwait, (sem_t *m, clockid_t clock, UNTIL), (m, clock, until))
ENDS(DECLARE, int, sem_destroy, sem_t)

/* --- once ------------------------------------------------------------------------------------- */

/* What the caller would run, and at which object it is known to have been run. */
static __thread struct {
    void (*fn)(void);
    const void *object;
} once;

static void run_once(void)
{
    const void *object = once.object;
    once.fn(); /* may come here again, with another one */
    order_release(object);
}

DECLARE(int, pthread_once, (pthread_once_t *m, void (*fn)(void)))
{
    once.fn = fn;
    once.object = m;
    int err = REAL(pthread_once)(m, run_once);
    order_acquire(m);
    return err;
}

DECLARE_NEWER(void, call_once, (once_flag *m, void (*fn)(void)))
{
    once.fn = fn;
    once.object = m;
    REAL(call_once)(m, run_once);
    order_acquire(m);
}

/* lock_omp.c - locks of OpenMP, which both compilers' libraries have. */
#include "instrument/instrument.h"

#define DECLARE(type, name)                                                                        \
    type REAL(name)(void *lock);                                                                   \
    type WRAP(name)(void *lock);                                                                   \
    type WRAP(name)(void *lock)

#define LOCKS(set, unset, test)                                                                    \
    DECLARE(void, set)                                                                             \
    {                                                                                              \
        REAL(set)(lock);                                                                           \
        order_acquire(lock);                                                                       \
    }                                                                                              \
    DECLARE(void, unset)                                                                           \
    {                                                                                              \
        order_release(lock);                                                                       \
        REAL(unset)(lock);                                                                         \
    }                                                                                              \
    DECLARE(int, test)                                                                             \
    {                                                                                              \
        int taken = REAL(test)(lock);                                                              \
        if (taken)                                                                                 \
            order_acquire(lock);                                                                   \
        return taken;                                                                              \
    }
LOCKS(omp_set_lock, omp_unset_lock, omp_test_lock)
LOCKS(omp_set_nest_lock, omp_unset_nest_lock, omp_test_nest_lock)

/* cxx.c - what objects of C++ call in their library: memory, and conditions, whose mutex is given
 * up there. The linker puts these before the functions of libstdc++; a C program does not link this
 * file. Names are those of the Itanium ABI with size_t of 64 bits. */
#include "instrument/instrument.h"

#define DECLARE(type, name, params)                                                                \
    type REAL(name) params;                                                                        \
    type WRAP(name) params;                                                                        \
    type WRAP(name) params

/* --- operator new and delete ------------------------------------------------------------------ */

#define NEW(name, params, args)                                                                    \
    DECLARE(void *, name, params)                                                                  \
    {                                                                                              \
        return alloc_got(REAL(name) args);                                                         \
    }
#define DELETE(name, params, args)                                                                 \
    DECLARE(void, name, params)                                                                    \
    {                                                                                              \
        alloc_gives(p);                                                                            \
        REAL(name) args;                                                                           \
    }
NEW(_Znwm, (size_t n), (n))
NEW(_Znam, (size_t n), (n))
NEW(_ZnwmRKSt9nothrow_t, (size_t n, const void *tag), (n, tag))
NEW(_ZnamRKSt9nothrow_t, (size_t n, const void *tag), (n, tag))
NEW(_ZnwmSt11align_val_t, (size_t n, size_t align), (n, align))
NEW(_ZnamSt11align_val_t, (size_t n, size_t align), (n, align))
DELETE(_ZdlPv, (void *p), (p))
DELETE(_ZdaPv, (void *p), (p))
DELETE(_ZdlPvm, (void *p, size_t n), (p, n))
DELETE(_ZdaPvm, (void *p, size_t n), (p, n))
DELETE(_ZdlPvSt11align_val_t, (void *p, size_t align), (p, align))
DELETE(_ZdaPvSt11align_val_t, (void *p, size_t align), (p, align))
DELETE(_ZdlPvmSt11align_val_t, (void *p, size_t n, size_t align), (p, n, align))
DELETE(_ZdaPvmSt11align_val_t, (void *p, size_t n, size_t align), (p, n, align))

/* --- std::condition_variable of libstdc++ ----------------------------------------------------- */

#define DECLARE_WEAK(name, params)                                                                 \
    void REAL(name) params __attribute__((weak));                                                  \
    void WRAP(name) params;                                                                        \
    void WRAP(name) params

/* wait(std::unique_lock<std::mutex> &lock), which begins with the address of its mutex */
DECLARE_WEAK(_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE, (void *c, void **lock))
{
    order_release(*lock);
    REAL(_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE)(c, lock);
    order_acquire(c);
    order_acquire(*lock);
}

#define NOTIFIES(name)                                                                             \
    DECLARE_WEAK(name, (void *c))                                                                  \
    {                                                                                              \
        order_release(c);                                                                          \
        REAL(name)(c);                                                                             \
    }
NOTIFIES(_ZNSt18condition_variable10notify_oneEv)
NOTIFIES(_ZNSt18condition_variable10notify_allEv)

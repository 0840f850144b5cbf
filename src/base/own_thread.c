/* own_thread.c - how the library starts a thread of its own. */
#include "base/own_thread.h"

#include <errno.h>
#include <signal.h>

/* Bytes. Resolvers and network libraries take some tens of KiB, and handlers of all rooms run in
 * such a thread. */
enum { STACK = 1024 * 1024 };

/* Signals belong to the threads of the program. But a fault of this thread is its own: it is
 * reported, or the program's handler makes the page accessible. */
static void mask_of(sigset_t *s)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigfillset(s);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(s, own[i]);
}

int thread_start(pthread_t *t, void *(*run)(void *), void *arg)
{
    sigset_t mask, old;
    pthread_attr_t attr;
    int err = pthread_attr_init(&attr);
    if (err)
        return -err;
    pthread_attr_setstacksize(&attr, STACK);
    mask_of(&mask);
    pthread_sigmask(SIG_SETMASK, &mask, &old);
    err = pthread_create(t, &attr, run, arg);
    if (err == EINVAL) /* the program's thread-local variables do not fit */
        err = pthread_create(t, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return -err;
}

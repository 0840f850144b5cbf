/* guard_child.c - a child makes calls on the lock, one store after the other. */
#include "guard.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

int guard_in_child;
static int to_child, from_child;

static int here, there; /* of a child that stops at its stores: pipes' ends to it and from it */

static void keep(void)
{
    int n = shared->states;
    if (n && memcmp(shared->now.lock, shared->state[n - 1].lock, BYTES) == 0)
        return;
    if (n == STATES)
        _exit(3);
    shared->state[n] = shared->now;
    shared->states = n + 1;
}

/* Before a store, and behind it: what was loaded for it is old, or what will be is new. */
static void at_store(void)
{
    char c = 0;
    if (here && (write(there, &c, 1) != 1 || read(here, &c, 1) != 1))
        _exit(4);
}

#ifdef __x86_64__
enum { TRAP_FLAG = 0x100 };

int guard_can_step(void) { return 1; }

static void single_step(ucontext_t *context, int on)
{
    greg_t *flags = &context->uc_mcontext.gregs[REG_EFL];
    *flags = on ? *flags | TRAP_FLAG : *flags & ~(greg_t)TRAP_FLAG;
}
#else /* a process cannot step itself */
int guard_can_step(void) { return 0; }
static void single_step(ucontext_t *context, int on) { (void)context; (void)on; }
#endif

static void stores(int signal, siginfo_t *info, void *context)
{
    if (signal == SIGSEGV) {
        char *at = info->si_addr;
        if (at < shared->page || at >= shared->page + PAGE)
            _exit(5);
        at_store();
        mprotect(shared->page, PAGE, PROT_READ | PROT_WRITE);
        single_step(context, 1);
    } else {
        single_step(context, 0);
        mprotect(shared->page, PAGE, PROT_READ);
        if (here)
            at_store();
        else
            keep();
    }
}

static pid_t start(const char *script, int stops)
{
    int to[2], from[2];
    fflush(stdout);
    if (pipe(to) != 0 || pipe(from) != 0) {
        perror("guard: pipe");
        exit(2);
    }
    pid_t child = fork();
    if (child < 0) {
        perror("guard: fork");
        exit(2);
    }
    if (child == 0) {
        struct sigaction sa = {.sa_sigaction = stores, .sa_flags = SA_SIGINFO};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(60);
        guard_in_child = 1;
        here = stops ? to[0] : 0;
        there = from[1];
        close(to[1]);
        sigaction(SIGSEGV, &sa, NULL);
        sigaction(SIGTRAP, &sa, NULL);
        shared->states = 0;
        keep();
        mprotect(shared->page, PAGE, PROT_READ);
        guard_play(script);
        _exit(0);
    }
    close(to[0]);
    close(from[1]);
    to_child = to[1];
    from_child = from[0];
    return child;
}

int guard_ended(pid_t child)
{
    int status;
    close(to_child);
    close(from_child);
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int guard_step(int first)
{
    char c = 0;
    return (first || write(to_child, &c, 1) == 1) && read(from_child, &c, 1) == 1;
}

int guard_record(const char *script, struct state *states)
{
    if (!guard_ended(start(script, 0)))
        return -1;
    memcpy(states, shared->state, (size_t)shared->states * sizeof *states);
    return shared->states;
}

pid_t guard_start(const char *script)
{
    return start(script, 1);
}

/* signals.c - what a program does with signals is its own: the library, and what it loads, leave it
 * as it is. One exception: between MPI_Init and MPI_Finalize a signal of a crash whose action is
 * the default has the handler of the crash report, unless MPIR_CVAR_CRASH_REPORT=0. */
#include "../mt.h"
#include <signal.h>
#include <string.h>

static void mine(int sig)
{
    (void)sig;
}

static const struct {
    int sig;
    void (*does)(int);
} own[] = {{SIGINT, mine},     {SIGTERM, mine},    {SIGSEGV, mine},    {SIGUSR2, mine},
           {SIGHUP, SIG_IGN},  {SIGPIPE, SIG_IGN}, {SIGALRM, mine},    {SIGILL, SIG_DFL},
           {SIGABRT, SIG_DFL}, {SIGBUS, SIG_DFL},  {SIGFPE, SIG_DFL},  {SIGQUIT, SIG_DFL},
           {SIGCHLD, SIG_DFL}, {SIGPROF, SIG_DFL}, {SIGTSTP, SIG_DFL}, {SIGXCPU, SIG_DFL},
           {SIGSYS, SIG_DFL}};
enum { OWN = sizeof own / sizeof *own };

static int reported(int sig) /* by boot/crash.c, while its action is the default */
{
    const char *off = getenv("MPIR_CVAR_CRASH_REPORT");
    return !(off && !strcmp(off, "0")) &&
           (sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL || sig == SIGABRT);
}

/* How many actions differ from the program's; inside: between MPI_Init and MPI_Finalize. */
static int changed(int inside)
{
    int n = 0;
    for (int i = 0; i < OWN; i++) {
        struct sigaction is;
        n += sigaction(own[i].sig, NULL, &is) != 0;
        int right = inside && own[i].does == SIG_DFL && reported(own[i].sig)
                        ? is.sa_handler != SIG_DFL && is.sa_flags & SA_SIGINFO &&
                              is.sa_flags & SA_ONSTACK
                        : is.sa_handler == own[i].does;
        if (!right)
            printf("signal %d\n", own[i].sig);
        n += !right;
    }
    return n;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < OWN; i++)
        CHECK_EQ(sigaction(own[i].sig, &(struct sigaction){.sa_handler = own[i].does}, NULL), 0);
    /* One that waits for sigwait() or a signalfd. */
    sigset_t child, waits;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    CHECK_EQ(sigprocmask(SIG_BLOCK, &child, NULL), 0);
    raise(SIGCHLD);
    mt_init(&argc, &argv);
    CHECK_EQ(sigpending(&waits), 0);
    CHECK(sigismember(&waits, SIGCHLD));
    CHECK_EQ(changed(1), 0);
    int sum, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, mt_size);
    CHECK_EQ(changed(1), 0);
    int status = mt_finish();
    return changed(0) ? 1 : status;
}

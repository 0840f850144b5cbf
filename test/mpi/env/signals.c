/* What a program does with signals is its own: the library, and what it loads, leave it as it is. */
#include "../mt.h"
#include <signal.h>

static void mine(int sig)
{
    (void)sig;
}

static const struct {
    int sig;
    void (*does)(int);
} own[] = {{SIGINT, mine},     {SIGTERM, mine},    {SIGSEGV, mine},    {SIGUSR2, mine},    {SIGHUP, SIG_IGN}, {SIGPIPE, SIG_IGN},
           {SIGALRM, mine},    {SIGILL, SIG_DFL},  {SIGABRT, SIG_DFL}, {SIGBUS, SIG_DFL},  {SIGFPE, SIG_DFL}, {SIGQUIT, SIG_DFL},
           {SIGCHLD, SIG_DFL}, {SIGPROF, SIG_DFL}, {SIGTSTP, SIG_DFL}, {SIGXCPU, SIG_DFL}, {SIGSYS, SIG_DFL}};
enum { OWN = sizeof own / sizeof *own };

static void look(void)
{
    for (int i = 0; i < OWN; i++) {
        struct sigaction is;
        CHECK_EQ(sigaction(own[i].sig, NULL, &is), 0);
        if (is.sa_handler != own[i].does)
            printf("signal %d\n", own[i].sig);
        CHECK(is.sa_handler == own[i].does);
    }
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
    look();
    int sum, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, mt_size);
    look();
    return mt_finish();
}

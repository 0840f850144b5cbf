/* probe.c - a rank that behaves or misbehaves as its arguments ask; it speaks to the launcher
 * through boot/ only.
 *
 *   probe MODE [numbers]      modes stand in the table at the end */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/proc.h"
#include "boot/boot.h"
#include "var/var.h"

static int arg[4];

static void start(void)
{
    char msg[256];
    if (var_init(msg, sizeof msg) || boot_init(NULL))
        exit(90);
}

static void say(const char *what)
{
    printf("rank %d %s\n", boot_rank(), what);
    fflush(stdout);
}

static void together(void)
{
    if (boot_barrier())
        exit(91);
    atomic_store(&proc->phase, PROC_INIT);
}

static void forever(void)
{
    for (;;)
        pause();
}

static int hello(void)
{
    char line[128];
    start();
    snprintf(line, sizeof line, "of %d block %d node of %d", boot_size(), boot_appnum(),
             boot_local_size());
    together();
    say(line);
    return boot_finalize();
}

static int abort_job(void) /* RANK CODE */
{
    start();
    together();
    if (boot_rank() == arg[0])
        boot_abort(arg[1], "MPI_Abort(MPI_COMM_WORLD): this is why");
    forever();
    return 0;
}

static int die(void) /* RANK SIGNAL */
{
    start();
    together();
    say("ready");
    if (boot_rank() == arg[0])
        kill(getpid(), arg[1]);
    forever();
    return 0;
}

/* RANK CODE: the others give up, with CODE, before the kernel reports its death */
static int outlive(void)
{
    start();
    together();
    if (boot_rank() != arg[0])
        boot_abort(arg[1], "a process died");
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    kill(getpid(), SIGKILL);
    return 0;
}

static int leave(void) /* RANK STATUS: without finalize */
{
    start();
    together();
    if (boot_rank() == arg[0])
        _exit(arg[1]);
    forever();
    return 0;
}

static int finish(void) /* STATUS: that and the rank, after finalize */
{
    start();
    together();
    int rank = boot_rank();
    boot_finalize();
    return arg[0] + rank;
}

static int early(void) /* RANK: ends before init */
{
    if (atoi(getenv("PMI_RANK")) == arg[0])
        return 0;
    start();
    together();
    return 0;
}

static int stay(void) /* 1: the polite signals do not end it */
{
    if (arg[0]) {
        signal(SIGTERM, SIG_IGN);
        signal(SIGINT, SIG_IGN);
    }
    start();
    together();
    proc->call = "MPI_Recv";
    proc->wait_what = "a message";
    proc->wait_peer = (boot_rank() + 1) % boot_size();
    say("ready");
    forever();
    return 0;
}

static int sleep_once(void) /* SECONDS: one sleep, and whether it was a whole one */
{
    start();
    together();
    say("ready");
    say(sleep((unsigned)arg[0]) ? "was woken" : "slept");
    return boot_finalize();
}

static int children(void) /* ranks with children: in their group, and in a session of their own */
{
    start();
    together();
    for (int i = 0; i < 2; i++)
        if (!fork()) {
            if (i)
                setsid();
            execlp("sleep", "sleep", "600", (char *)NULL);
            _exit(1);
        }
    say("ready");
    forever();
    return 0;
}

/* Lines written in small pieces by all ranks at once; every line is N times one letter. */
static int torn(void) /* LINES LENGTH */
{
    start();
    together();
    char letter = (char)('a' + boot_rank());
    for (int l = 0; l < arg[0]; l++) {
        char piece[1000];
        memset(piece, letter, sizeof piece);
        for (int left = arg[1]; left > 0;) {
            int n = left < 1 + (l * 37 + left) % 999 ? left : 1 + (l * 37 + left) % 999;
            if (write(l % 2 ? 2 : 1, piece, (size_t)n) != n)
                return 92;
            left -= n;
        }
        if (write(l % 2 ? 2 : 1, "\n", 1) != 1)
            return 92;
    }
    return boot_finalize();
}

static int survive(void) /* rank 1 dies, the others notice */
{
    start();
    together();
    if (boot_rank() == 1)
        raise(SIGKILL);
    struct timespec ms = {.tv_nsec = 1000000};
    while (!boot_failed_count())
        nanosleep(&ms, NULL);
    if (!boot_failed(1) || boot_failed(0) || boot_failed(boot_rank()))
        return 93;
    say("sees that rank 1 is dead");
    together(); /* of the living */
    return boot_finalize();
}

static volatile sig_atomic_t got;

static void on_signal(int sig)
{
    got = sig;
}

static int catch_signal(void) /* SIGNAL: prints that it came, and finishes */
{
    signal(arg[0], on_signal);
    start();
    together();
    say("ready");
    struct timespec ms = {.tv_nsec = 1000000};
    while (!got)
        nanosleep(&ms, NULL);
    say("got it");
    return boot_finalize();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*fn)(void);
    } modes[] = {{"hello", hello},       {"abort", abort_job}, {"die", die},
                 {"outlive", outlive},       {"leave", leave},     {"finish", finish},
                 {"early", early},       {"stay", stay},       {"sleep", sleep_once},
                 {"children", children}, {"torn", torn},       {"survive", survive},
                 {"catch", catch_signal}};
    for (int i = 2; i < argc && i < 6; i++)
        arg[i - 2] = atoi(argv[i]);
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(modes[i].name, argv[1]))
            return modes[i].fn();
    return 94;
}

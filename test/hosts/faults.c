/* faults.c - one process of the job fails in an epoch of some kind, and what the others then see.
 *
 *      faults KIND ACTION [SECONDS]
 *
 * The victim is the last rank. KIND is what the others wait in; ACTION what becomes of the victim:
 * kill (SIGKILL; the target of lock and lockall, of which a thread would answer until then, is
 * stopped first, and killed when the others wait), spin or stop (computes, or is stopped, for
 * SECONDS and then takes part: all must end right), blip (as spin; its host is cut off for a
 * moment), wait (all wait for a file FAULTS_OUT.go, before which the script cuts the victim's host
 * off; longacc and longget go on until it happens). FAULTS_OUT names files, one per rank, of what
 * happened: "ready", "stopped", "cut me" (wait: the rank is where the cut is to meet it), "error
 * after SECONDS: TEXT", "right after SECONDS", "finalized after SECONDS" (since the call began).
 * With FAULTS_FATAL=1 the default error handlers stay. With FAULTS_FIRST=1 no process has sent to
 * another before: no window, and only the kinds that need none. */
#include <execinfo.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N = 4, BIG = 1 << 20 };

static int rank, size, victim, to_be_cut;
static double began, seconds;
static MPI_Win win;
static double *mem, big[BIG / sizeof(double)];

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void say(const char *fmt, ...)
{
    char name[4096], line[1024];
    const char *out = getenv("FAULTS_OUT");
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    snprintf(name, sizeof name, "%s.%d", out ? out : "/dev/null", rank);
    FILE *f = fopen(name, "a");
    if (f) {
        fprintf(f, "%s\n", line);
        fclose(f);
    }
}

static void check(int right, const char *what)
{
    if (!right) {
        say("wrong: %s", what);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

#define TRY(call)           \
    do {                    \
        int err_ = (call);  \
        if (err_)           \
            return err_;    \
    } while (0)

/* --- kinds: every rank's part, the victim's too ---------------------------------------- */

static int fence(void)
{
    double one = rank + 1;
    TRY(MPI_Win_fence(0, win));
    TRY(MPI_Put(&one, 1, MPI_DOUBLE, victim, rank % N, 1, MPI_DOUBLE, win));
    TRY(MPI_Win_fence(0, win));
    check(rank != victim || mem[0] == 1, "fence");
    return 0;
}

static MPI_Group group_of(int first, int last)
{
    MPI_Group world, g;
    int range[1][3] = {{first, last, 1}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &g);
    MPI_Group_free(&world);
    return g;
}

static int exposed(void) /* the others start, the victim posts */
{
    MPI_Group g = rank == victim ? group_of(0, victim - 1) : group_of(victim, victim);
    double one = rank + 1;
    if (rank == victim) {
        TRY(MPI_Win_post(g, 0, win));
        TRY(MPI_Win_wait(win));
        check(mem[0] == 1, "start");
    } else {
        TRY(MPI_Win_start(g, 0, win));
        TRY(MPI_Put(&one, 1, MPI_DOUBLE, victim, rank % N, 1, MPI_DOUBLE, win));
        TRY(MPI_Win_complete(win));
    }
    MPI_Group_free(&g);
    return 0;
}

static int exposing(void) /* the others post, the victim starts */
{
    MPI_Group g = rank == victim ? group_of(0, victim - 1) : group_of(victim, victim);
    double one = 7;
    if (rank == victim) {
        TRY(MPI_Win_start(g, 0, win));
        for (int r = 0; r < victim; r++)
            TRY(MPI_Put(&one, 1, MPI_DOUBLE, r, 0, 1, MPI_DOUBLE, win));
        TRY(MPI_Win_complete(win));
    } else {
        TRY(MPI_Win_post(g, 0, win));
        TRY(MPI_Win_wait(win));
        check(mem[0] == 7, "wait");
    }
    MPI_Group_free(&g);
    return 0;
}

static int lock(void)
{
    double one = rank + 1;
    if (rank == victim) /* a target only; it waits for the others, which serves them */
        return MPI_Recv(&one, 1, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    TRY(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, victim, 0, win));
    TRY(MPI_Put(&one, 1, MPI_DOUBLE, victim, rank % N, 1, MPI_DOUBLE, win));
    TRY(MPI_Win_unlock(victim, win));
    return rank ? 0 : MPI_Send(&one, 1, MPI_DOUBLE, victim, 9, MPI_COMM_WORLD);
}

static int lockall(void)
{
    double one = rank + 1;
    if (rank == victim)
        return MPI_Recv(&one, 1, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    TRY(MPI_Win_lock_all(0, win));
    TRY(MPI_Accumulate(&one, 1, MPI_DOUBLE, victim, 0, 1, MPI_DOUBLE, MPI_SUM, win));
    int err = MPI_Win_flush(victim, win);
    double old = 0;
    err = err ? err : MPI_Fetch_and_op(&one, &old, MPI_DOUBLE, victim, 1, MPI_SUM, win);
    err = err ? err : MPI_Win_flush_all(win);
    int e = MPI_Win_unlock_all(win);
    TRY(err ? err : e);
    return rank ? 0 : MPI_Send(&one, 1, MPI_DOUBLE, victim, 9, MPI_COMM_WORLD);
}

/* This rank is where the cut is to meet it. */
static void cut_me(void)
{
    if (to_be_cut)
        say("cut me");
    to_be_cut = 0;
}

/* A long operation after the other, until one of them meets the fault, or for a minute.  The
 * victim takes part as soon as it receives, and the others report when one operation is over. */
static int longs(int (*op)(void))
{
    double one = 0, until = now() + 60;
    if (rank == victim) {
        cut_me();
        return MPI_Recv(&one, 1, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    TRY(MPI_Win_lock_all(0, win));
    int err = 0;
    while (!err && now() < until) {
        err = op();
        cut_me();
    }
    int e = MPI_Win_unlock_all(win);
    TRY(err ? err : e);
    return rank ? 0 : MPI_Send(&one, 1, MPI_DOUBLE, victim, 9, MPI_COMM_WORLD);
}

static int acc_op(void) /* its target fetches the data where the network can */
{
    int err = MPI_Accumulate(big, BIG / sizeof(double), MPI_DOUBLE, victim, 0, BIG / sizeof(double),
                             MPI_DOUBLE, MPI_SUM, win);
    int e = MPI_Win_flush(victim, win);
    return err ? err : e;
}

static int get_op(void)
{
    int err = MPI_Get(big, BIG / sizeof(double), MPI_DOUBLE, victim, 0, BIG / sizeof(double),
                      MPI_DOUBLE, win);
    int e = MPI_Win_flush(victim, win);
    return err ? err : e;
}

static int longacc(void)
{
    return longs(acc_op);
}

static int longget(void)
{
    return longs(get_op);
}

static int recv(void)
{
    int n = 0;
    if (rank != victim)
        return MPI_Recv(&n, 1, MPI_INT, victim, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int r = 0; r < victim; r++)
        TRY(MPI_Send(&r, 1, MPI_INT, r, 5, MPI_COMM_WORLD));
    return 0;
}

static int send(void)
{
    if (rank != victim)
        return MPI_Send(big, BIG / sizeof(double), MPI_DOUBLE, victim, 5, MPI_COMM_WORLD);
    for (int r = 0; r < victim; r++)
        TRY(MPI_Recv(big, BIG / sizeof(double), MPI_DOUBLE, r, 5, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE));
    return 0;
}

static int test(void) /* never in a call that waits */
{
    int n = 0, flag = 0;
    MPI_Request r;
    if (rank == victim)
        return recv();
    TRY(MPI_Irecv(&n, 1, MPI_INT, victim, 5, MPI_COMM_WORLD, &r));
    while (!flag)
        TRY(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
    return 0;
}

/* as test, but there is always something from a neighbour, more often than any wait would ask */
static int served(void)
{
    int n = 0, flag = 0, other = 0, neighbour = rank ^ 1;
    double next = now();
    MPI_Request r;
    if (rank == victim)
        return recv();
    TRY(MPI_Irecv(&n, 1, MPI_INT, victim, 5, MPI_COMM_WORLD, &r));
    while (!flag) {
        TRY(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
        if (neighbour >= victim)
            continue;
        if (now() > next) {
            next = now() + 0.2;
            TRY(MPI_Send(&rank, 1, MPI_INT, neighbour, 6, MPI_COMM_WORLD));
        }
        int there = 0;
        TRY(MPI_Iprobe(neighbour, 6, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE));
        if (there)
            TRY(MPI_Recv(&other, 1, MPI_INT, neighbour, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    return 0;
}

static int any(void)
{
    int n = 0;
    if (rank == victim)
        return recv();
    return MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int chatter(void) /* what comes is not what is waited for */
{
    int n = 0;
    double end = now() + 4 * seconds, next = now();
    if (rank != victim)
        return recv();
    while (now() < end) {
        if (now() > next)
            for (int r = 0; r < victim; r++)
                TRY(MPI_Send(&n, 1, MPI_INT, r, 6, MPI_COMM_WORLD));
        next = now() > next ? next + 0.2 : next;
        TRY(MPI_Iprobe(0, 7, MPI_COMM_WORLD, &n, MPI_STATUS_IGNORE));
        usleep(10000);
    }
    return recv();
}

static int barrier(void)
{
    return MPI_Barrier(MPI_COMM_WORLD);
}

static int create(void)
{
    MPI_Win w;
    double *p;
    TRY(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w));
    return MPI_Win_free(&w);
}

static int finalize(void) /* a rank that dies later does not matter here */
{
    return 0;
}

static const struct {
    const char *name;
    int (*part)(void);
} kinds[] = {
    {"fence", fence},     {"start", exposed},     {"wait", exposing},   {"lock", lock},
    {"lockall", lockall}, {"recv", recv},         {"send", send},       {"test", test},
    {"served", served},   {"any", any},           {"chatter", chatter}, {"barrier", barrier},
    {"create", create},   {"finalize", finalize}, {"longacc", longacc}, {"longget", longget}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* 1: the kernel has stopped it, all its threads. */
static int is_stopped(pid_t pid)
{
    char name[64], line[256] = "";
    snprintf(name, sizeof name, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(name, "r");
    if (f) {
        if (!fgets(line, sizeof line, f))
            line[0] = 0;
        fclose(f);
    }
    return strstr(line, ") T ") != NULL;
}

static void die_stopped(void)
{
    pid_t me = getpid();
    pid_t child = fork();
    if (child < 0)
        abort();
    if (!child) {
        while (!is_stopped(me) && getppid() == me)
            usleep(1000);
        say("stopped");
        usleep(300000); /* then the others wait for it */
        kill(me, SIGKILL);
        _exit(0);
    }
    raise(SIGSTOP);
}

static void await_stop(void)
{
    char name[4096], text[1024];
    const char *out = getenv("FAULTS_OUT");
    snprintf(name, sizeof name, "%s.%d", out ? out : "", victim);
    for (;;) {
        FILE *f = fopen(name, "r");
        size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
        text[n] = 0;
        if (f)
            fclose(f);
        if (strstr(text, "stopped"))
            return;
        usleep(20000);
    }
}

static void become(const char *action, int stops)
{
    if (!strcmp(action, "kill") && stops)
        die_stopped();
    if (!strcmp(action, "kill"))
        raise(SIGKILL);
    double end = now() + seconds;
    if (!strcmp(action, "spin") || !strcmp(action, "blip"))
        while (now() < end)
            ;
    if (!strcmp(action, "stop")) {
        pid_t me = getpid();
        if (!fork()) {
            while (now() < end)
                usleep(100000);
            kill(me, SIGCONT);
            _exit(0);
        }
        raise(SIGSTOP);
    }
}

/* The script is about to report that this rank does not end: print where it is. */
static void lasts(int sig)
{
    void *frames[32];
    (void)sig;
    backtrace_symbols_fd(frames, backtrace(frames, 32), STDERR_FILENO);
}

int main(int argc, char **argv)
{
    enum { LASTS = 50 }; /* seconds; faults.test gives up after 60 */
    int kind = 0, cls, len;
    char text[MPI_MAX_ERROR_STRING];
    const char *fatal = getenv("FAULTS_FATAL"), *first = getenv("FAULTS_FIRST"),
               *action = argc > 2 ? argv[2] : "spin";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    victim = size - 1;
    seconds = argc > 3 ? atof(argv[3]) : 0;
    while (kind < KINDS && argc > 1 && strcmp(argv[1], kinds[kind].name))
        kind++;
    if (argc < 3 || kind == KINDS || size < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int returns = !fatal || *fatal != '1';
    if (returns)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (!first || *first != '1') {
        MPI_Win_allocate(BIG, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
        if (returns)
            MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        mem[0] = 0;
        MPI_Win_fence(0, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    say("ready");
    signal(SIGALRM, lasts);
    alarm(LASTS);
    /* As after a computation: the first exchange is over everywhere. */
    began = now();
    while (mem && now() < began + 0.3)
        usleep(10000);
    int stops = !strcmp(action, "kill") && !strncmp(argv[1], "lock", 4);
    if (rank == victim)
        become(action, stops);
    else if (stops)
        await_stop();
    else if (!strcmp(argv[1], "finalize"))
        usleep(500000);
    began = now();
    to_be_cut = !strcmp(action, "wait");
    if (to_be_cut && strncmp(argv[1], "long", 4)) { /* those are under way when it happens */
        char go[4096];
        cut_me();
        snprintf(go, sizeof go, "%s.go", getenv("FAULTS_OUT") ? getenv("FAULTS_OUT") : "");
        while (access(go, F_OK) != 0)
            usleep(20000);
        began = now();
    }
    int err = kinds[kind].part();
    if (err) {
        MPI_Error_class(err, &cls);
        MPI_Error_string(err, text, &len);
        say("error after %.1f: class %d%s: %s", now() - began, cls,
            cls == MPIX_ERR_PROC_FAILED ? " (PROC_FAILED)" : "", text);
    } else {
        say("right after %.1f", now() - began);
    }
    if (!err && mem)
        MPI_Win_free(&win);
    MPI_Finalize();
    say("finalized after %.1f", now() - began);
    return 0;
}

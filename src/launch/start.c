/* start.c - make a job and start its ranks. Start with job_start(). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sched.h"
#include "launch/ask.h"
#include "launch/binding.h"
#include "launch/debugger.h"
#include "launch/env.h"
#include "launch/findings.h"
#include "launch/foreign.h"
#include "launch/gdb.h"
#include "launch/job.h"
#include "launch/open_mpi.h"
#include "launch/profiled.h"
#include "launch/sinks.h"
#include "launch/spawn.h"
#include "launch/spawned_job.h"

enum { STATUS_USAGE = 255 };

/* Needed only while ranks are started. */
struct start {
    int first, size; /* ranks of the job that is started */
    const char *port; /* where it meets those that spawned it; NULL: the first job */
    struct place place;
    struct topo *topo;
    struct env env;       /* of the block being started */
    int in_first, in_rest; /* the ranks' standard input */
    int report;
};

static int cannot(struct job *j, const char *what, int err)
{
    job_say(j, "cannot %s: %s", what, strerror(-err));
    return STATUS_USAGE;
}

/* --- signals, descriptors ---------------------------------------------------------- */

static int take_signals(struct job *j)
{
    static const int ours[] = {SIGCHLD, SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                               SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        sigaddset(&set, ours[i]);
    struct sigaction hup;
    if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler == SIG_IGN)
        sigdelset(&set, SIGHUP); /* nohup mpiexec */
    signal(SIGCHLD, SIG_DFL); /* if inherited as ignored, no death would ever be reported */
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    j->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return j->signal_fd < 0 ? -errno : 0;
}

/* Pipes to every rank need descriptors: raise our limit, and remember the old one for the ranks. */
static int raise_limit(struct job *j)
{
    if (getrlimit(RLIMIT_NOFILE, &j->files))
        return cannot(j, "read the limit on open files", -errno);
    int err = job_raise_files(j, 0);
    if (err != -EMFILE)
        return err ? cannot(j, "raise the limit on open files", err) : 0;
    job_say(j, "%d ranks need %llu open files, and the limit (ulimit -Hn) is %llu", j->size,
            (unsigned long long)job_files(j, 0),
            (unsigned long long)j->files.rlim_max);
    return STATUS_USAGE;
}

/* The page that reports to the ranks which of them died; they get it read-only. */
static int make_page(struct job *j)
{
    size_t bytes = job_page_bytes(j->places);
    char path[64];
    struct rlimit file;
    /* Beyond that the kernel kills instead of refusing. */
    if (!getrlimit(RLIMIT_FSIZE, &file) && file.rlim_cur != RLIM_INFINITY &&
        bytes > file.rlim_cur) {
        job_say(j,
                "the limit of file sizes (RLIMIT_FSIZE, ulimit -f), which holds for shared memory, "
                "too, is %llu bytes; the "
                "page of the job takes %zu",
                (unsigned long long)file.rlim_cur, bytes);
        return -EFBIG;
    }
    int fd = memfd_create("windrose-job", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)bytes))
        return -errno;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return -errno;
    j->page = p;
    j->page->magic = JOB_PAGE_MAGIC;
    j->page->version = JOB_PAGE_VERSION;
    j->page->size = (uint32_t)j->places;
    j->page->universe = (uint32_t)job_universe(j);
    snprintf(j->page->name, sizeof j->page->name, "%.*s", JOB_NAME_MAX - 1, j->name);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    j->page_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (j->page_fd < 0)
        j->page_fd = fd; /* no /proc: the ranks get it writable */
    else
        close(fd);
    return 0;
}

/* --- one rank ----------------------------------------------------------------------------- */

static int rank_env(struct job *j, struct start *s, int rank, int pmi_fd)
{
    struct env *e = &s->env;
    int record_fd = j->rank[rank].record_fd;
    char tty[4] = "";
    rank -= s->first;
    if (j->out->tty)
        strcat(tty, "1");
    if (j->err->tty)
        strcat(tty, "2");
    int err = env_put(e, JOB_ENV, j->name) | env_put_int(e, JOB_PAGE_ENV, j->page_fd) |
              env_put_int(e, JOB_RECORD_ENV, record_fd) |
              env_put(e, "WINDROSE_TTY", tty) | env_put_int(e, "PMI_FD", pmi_fd) |
              env_put_int(e, "PMI_RANK", rank) | env_put_int(e, "PMI_SIZE", s->size) |
              env_put_int(e, "MPI_LOCALRANKID", rank) | env_put_int(e, "MPI_LOCALNRANKS", s->size);
    if (s->port)
        err |= env_put_int(e, JOB_FIRST_ENV, s->first) | env_put(e, JOB_PARENT_ENV, s->port) |
               env_put(e, "PMI_SPAWNED", "1");
    /* Scripts choose a GPU by these. */
    err |= env_put_int(e, "OMPI_COMM_WORLD_RANK", rank) |
           env_put_int(e, "OMPI_COMM_WORLD_SIZE", s->size) |
           env_put_int(e, "OMPI_COMM_WORLD_LOCAL_RANK", rank) |
           env_put_int(e, "OMPI_COMM_WORLD_LOCAL_SIZE", s->size) |
           env_put_int(e, "OMPI_COMM_WORLD_NODE_RANK", rank);
    return err ? -ENOMEM : 0;
}

static void close_all(const int *fd, int n)
{
    for (int i = 0; i < n; i++)
        if (fd[i] >= 0)
            close(fd[i]);
}

static int rank_pipes(struct job *j, struct rank *r, int rank, struct spawn *sp)
{
    int fd[6] = {-1, -1, -1, -1, -1, -1}, *out = fd, *err = fd + 2, *pmi = fd + 4;
    char label[STREAM_LABEL] = "";
    const struct args *a = j->args;
    sinks_label(a, rank, label, sizeof label);
    struct sink *to = sinks_rank(j, a->outfile, "stdout", rank, j->out);
    struct sink *eto = a->merge ? to : sinks_rank(j, a->errfile, "stderr", rank, j->err);
    if (!to || !eto)
        return -EIO;
    if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pmi)) {
        int why = -errno;
        close_all(fd, 6);
        return why;
    }
    fcntl(out[0], F_SETFL, O_NONBLOCK); /* of mpiexec only: the rank's end is another open file */
    fcntl(err[0], F_SETFL, O_NONBLOCK);
    stream_open(&r->out, out[0], to, label);
    stream_open(&r->err, err[0], eto, label);
    r->out.stamped = r->err.stamped = a->timestamp;
    if (j->gdb && rank < j->gdb->ranks) { /* what goes to files is not merged */
        r->out.merged = to == j->out ? j->gdb->out : NULL;
        r->err.merged = eto == j->out ? j->gdb->out : eto == j->err ? j->gdb->err : NULL;
        r->out.rank = r->err.rank = rank;
    }
    r->pmi_fd = pmi[0];
    sp->out = out[1];
    sp->err = err[1];
    sp->keep[0] = pmi[1];
    return 0;
}

static int rank_place(struct job *j, struct start *s, int rank, struct topo_set *cpus)
{
    const struct args *a = j->args;
    if (s->port) /* anywhere: places were dealt out to the first job */
        return 0;
    const char *list = a->cpus ? a->cpus : s->place.cpus;
    char msg[256] = "";
    int err = a->rankfile      ? place_by_file(a->rankfile, rank, cpus, msg, sizeof msg)
              : list           ? place_by_list(list, rank, cpus, msg, sizeof msg)
              : s->place.bound ? place_rank(&s->place, s->topo, rank, cpus, msg, sizeof msg)
                               : 0;
    if (err)
        job_say(j, "%s", msg);
    return err;
}

/* Each of -stdin all reads a file from its beginning. */
static int input_of(const struct job *j, const struct start *s, int rank)
{
    const struct args *a = j->args;
    if (s->port)
        return s->in_rest;
    if (j->gdb)
        return gdb_input(j->gdb, rank);
    if (!a->input)
        return rank ? s->in_rest : s->in_first;
    if (!strcmp(a->input, "all")) {
        int fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
        return fd >= 0 ? fd : s->in_rest;
    }
    return strcmp(a->input, "none") && rank == atoi(a->input) ? s->in_first : s->in_rest;
}

static int start_rank(struct job *j, struct start *s, int rank)
{
    struct rank *r = &j->rank[rank];
    const struct block *b = r->program;
    struct topo_set cpus = {0};
    char msg[256] = "";
    struct spawn sp = {.rank = rank,
                       .out = -1,
                       .err = -1,
                       .argv = b->argv,
                       .gwdir = j->args->gwdir,
                       .wdir = b->wdir,
                       .files = j->files,
                       .in = input_of(j, s, rank),
                       .keep = {-1, j->page_fd, r->record_fd},
                       .traced = MPIR_being_debugged && !s->port,
                       .report = s->report};
    r->hold = sp.traced ? DEBUGGER_TO_STOP : DEBUGGER_FREE;
    if (rank_place(j, s, rank, &cpus))
        return STATUS_USAGE;
    if (cpus.words)
        sp.cpus = &cpus;
    if (sp.in < 0)
        return cannot(j, "set up a rank", sp.in);
    int err = rank_pipes(j, r, rank, &sp);
    if (!err)
        err = rank_env(j, s, rank, sp.keep[0]);
    sp.env = s->env.var;
    char *file = NULL, **words = j->gdb && !s->port ? gdb_argv(j->args, b, &file) : NULL;
    if (words)
        sp.argv = words;
    pid_t pid = err ? err : spawn_rank(&sp);
    free(words);
    free(file);
    const int theirs[] = {sp.in != s->in_first && sp.in != s->in_rest ? sp.in : -1, sp.out, sp.err,
                          sp.keep[0]};
    close_all(theirs, 4);
    if (pid < 0) {
        topo_set_free(&cpus);
        return cannot(j, err ? "set up a rank" : "start a process", pid);
    }
    r->pid = r->shown = pid;
    r->exited = 0;
    j->live++;
    reaper_note(&j->reaper, rank, pid);
    if (j->args->verbose) {
        topo_set_text(&cpus, msg, sizeof msg);
        job_say(j, "rank %d: %s, pid %ld, processors %s", rank, b->argv[0], (long)pid,
                *msg ? msg : "any");
    }
    topo_set_free(&cpus);
    return 0;
}

/* --- all -------------------------------------------------------------------------------------- */

/* Rank 0 gets our standard input itself unless it is a terminal.  Only the foreground group may
 * read a terminal, so mpiexec reads it and passes it on. */
static int share_input(struct job *j, struct start *s)
{
    int fd[2];
    s->in_rest = empty_file(O_CLOEXEC);
    if (s->in_rest < 0)
        return -errno;
    if (j->args->gdb)
        return (j->gdb = gdb_new(j)) ? 0 : -ENOMEM;
    if (!isatty(0)) {
        s->in_first = fcntl(0, F_DUPFD_CLOEXEC, 3);
        return s->in_first < 0 ? -errno : 0;
    }
    if (pipe2(fd, O_CLOEXEC))
        return -errno;
    fcntl(fd[1], F_SETFL, O_NONBLOCK);
    s->in_first = fd[0];
    pump_open(&j->pump, 0, fd[1]);
    return 0;
}

void job_rank_init(struct job *j, int rank, int block, const struct block *program)
{
    struct rank *r = &j->rank[rank];
    r->pmi_fd = r->record_fd = r->out.fd = r->err.fd = -1;
    r->block = block;
    r->program = program;
}

static int start_ranks(struct job *j, struct start *s, char *const *env)
{
    const struct args *a = j->args;
    char path[PATH_MAX];
    if (a->verbose && !a->no_ompi && open_mpi_folder(path))
        job_say(j, "programs built for Open MPI load this library: %s is first in LD_LIBRARY_PATH",
                path);
    for (int b = 0, rank = 0; b < a->nblocks; b++) {
        if (env_of_block(&s->env, a, &a->block[b], env))
            return cannot(j, "make an environment", -ENOMEM);
        int err = open_mpi_variables(&s->env, a->block, a->nblocks, &a->block[b],
                                     job_universe(j));
        if (err || profiled_env(a, &s->env) || findings_env(j, &s->env))
            err = cannot(j, "make an environment", -ENOMEM);
        for (int i = 0; i < a->block[b].n && !err; i++, rank++) {
            job_rank_init(j, rank, b, &a->block[b]);
            profiled_record(j, rank);
            err = start_rank(j, s, rank);
        }
        env_free(&s->env);
        if (err)
            return err;
    }
    return 0;
}

int job_start_more(struct job *j, struct spawned_job *g, int report)
{
    struct start s = {.first = g->first, .size = g->size, .in_first = -1, .report = report,
                      .port = pmi_world_port(j->pmi, g->first)};
    int err = 0, rank = g->first;
    s.in_rest = empty_file(O_CLOEXEC);
    if (s.in_rest < 0)
        return -errno;
    for (int b = 0; b < g->request->nblocks && !err; b++) {
        const struct block *block = &g->request->block[b];
        err = env_of_block(&s.env, j->args, block, j->env);
        if (!err)
            err = open_mpi_variables(&s.env, g->request->block, g->request->nblocks, block,
                                     job_universe(j));
        if (!err)
            err = findings_env(j, &s.env);
        for (int i = 0; i < block->n && !err; i++)
            err = start_rank(j, &s, rank++) ? -EAGAIN : 0;
        env_free(&s.env);
    }
    close(s.in_rest);
    return err;
}

/* Options that ask for something of mpiexec itself. */
static int own_options(struct job *j, const struct args *a)
{
    struct stat st;
    char *end = NULL;
    if (a->strict && a->size > topo_cpus()) {
        job_say(j, "-nooversubscribe: %d ranks do not fit on %d processors", a->size, topo_cpus());
        return STATUS_USAGE;
    }
    if (profiled_files(j) || (a->gdb && gdb_possible(j)))
        return STATUS_USAGE;
    if (a->umask) {
        long mask = strtol(a->umask, &end, 8);
        if (end == a->umask || *end || mask < 0 || mask > 0777) {
            job_say(j, "-umask %s: an octal number up to 777 is needed", a->umask);
            return STATUS_USAGE;
        }
        umask((mode_t)mask);
    }
    if (a->input && strcmp(a->input, "none") && strcmp(a->input, "all")) {
        long rank = strtol(a->input, &end, 10);
        if (end == a->input || *end || rank < 0 || rank >= a->size) {
            job_say(j, "-stdin %s: all, none or a rank below %d is needed", a->input, a->size);
            return STATUS_USAGE;
        }
    }
    int to_all = a->input && !strcmp(a->input, "all");
    if (to_all && (fstat(0, &st) || (!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode)) || isatty(0))) {
        job_say(j, "-stdin all: standard input is not a file that each rank can read from its "
                   "beginning");
        return STATUS_USAGE;
    }
    if (a->report_pid) {
        FILE *f = !strcmp(a->report_pid, "-")   ? stdout
                  : !strcmp(a->report_pid, "+") ? stderr
                                                : fopen(a->report_pid, "we");
        if (!f || fprintf(f, "%ld\n", (long)getpid()) < 0 || fflush(f))
            return cannot(j, "write the file of -report-pid", -errno);
        if (f != stdout && f != stderr)
            fclose(f);
    }
    return 0;
}

static int prepare(struct job *j, struct start *s)
{
    const struct args *a = j->args;
    char msg[256], host[HOST_NAME_MAX + 1] = "";
    int err = own_options(j, a);
    if (err || (err = findings_open(j)))
        return err;
    err = place_parse(&s->place, a->bind, a->map, msg, sizeof msg);
    if (err) {
        job_say(j, "%s", msg);
        return STATUS_USAGE;
    }
    if (s->place.bound && (err = topo_load(NULL, &s->topo)))
        return cannot(j, "learn the processors of this machine from hwloc", err);
    if ((err = raise_limit(j)))
        return err;
    s->size = j->size;
    j->places = job_places(j->size);
    gethostname(host, sizeof host - 1);
    snprintf(j->name, sizeof j->name, "job_%.64s_%ld_%016llx", host, (long)getpid(),
             (unsigned long long)random_bits());
    if (!(j->rank = calloc((size_t)j->places, sizeof *j->rank))) /* pages come when touched */
        return cannot(j, "start", -ENOMEM);
    for (int r = 0; r < j->size; r++)
        job_rank_init(j, r, 0, NULL);
    if ((err = job_pmi_new(j)) || (err = make_page(j)) || (err = share_input(j, s)))
        return cannot(j, "start", err);
    return 0;
}

int job_start(struct job *j, const struct args *a, char *const *env)
{
    struct start s = {.in_first = -1, .in_rest = -1};
    int report[2] = {-1, -1};
    memset(j, 0, sizeof *j);
    j->args = a;
    j->env = env;
    j->size = a->size;
    j->page_fd = j->signal_fd = j->report_fd = j->findings_fd = -1;
    j->pump.from = j->pump.to = -1;
    j->reaper.pipe = -1;
    oom_mark(&j->oom, "");
    if (sinks_own(j))
        return STATUS_USAGE;
    int err = prepare(j, &s);
    if (!err && a->dry)
        goto done;
    if (!err && (pipe2(report, O_CLOEXEC) || (err = take_signals(j)) ||
                 (err = reaper_start(&j->reaper, j->places, j->name, a->argv))))
        err = cannot(j, "start", err ? err : -errno);
    if (!err) {
        fcntl(report[0], F_SETFL, O_NONBLOCK);
        j->report_fd = report[0];
        s.report = report[1];
        j->started_at = time_now();
        if (a->timeout > 0)
            j->timeout_at = time_now() + (uint64_t)(a->timeout * 1e9);
        j->warn_ns = a->gdb ? 0 : ask_warn_ns(a); /* a debugger takes time */
        j->look_at = time_now() + j->warn_ns / 4;
        err = start_ranks(j, &s, env);
        close(report[1]);
        if (!err)
            foreign_at_start(j, env);
    }
done:
    if (s.in_first >= 0)
        close(s.in_first);
    if (s.in_rest >= 0) {
        if (j->pump.to < 0 && !j->gdb)
            dup2(s.in_rest, 0); /* only rank 0 decides how long our input stays open */
        close(s.in_rest);
    }
    env_free(&s.env);
    topo_free(s.topo);
    return err;
}

void job_free(struct job *j)
{
    reaper_stop(&j->reaper);
    for (int r = 0; j->rank && r < j->size; r++) {
        struct rank *k = &j->rank[r];
        stream_close(&k->out);
        stream_close(&k->err);
        free(k->out.buf);
        free(k->err.buf);
        free(k->out.label);
        free(k->err.label);
        if (k->pmi_fd >= 0)
            close(k->pmi_fd);
        if (k->record_fd >= 0)
            close(k->record_fd);
        free(k->pmi_out);
    }
    free(j->rank);
    for (int i = 0; i < j->nsinks; i++) {
        sink_close(j->sinks[i]);
        if (j->sinks[i]->fd > 2)
            close(j->sinks[i]->fd);
        free(j->sinks[i]);
    }
    free(j->sinks);
    pump_close(&j->pump);
    gdb_free(j->gdb);
    debugger_free();
    spawned_job_free(j);
    pmi_server_free(j->pmi);
    if (j->page)
        munmap(j->page, job_page_bytes(j->places));
    const int fds[] = {j->page_fd, j->signal_fd, j->report_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* init.c - start and end of MPI (MPI-3.1 8.7, 12.4). Start with api_start() and api_stop(). */
#include "api/api.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "align/align.h"
#include "am/am.h"
#include "api/api_types.h"
#include "api/env/init.h"
#include "base/log.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "coll/coll.h"
#include "coll/newcomm.h"
#include "dt/dt.h"
#include "bounds/bounds.h"
#include "io/io.h"
#include "leak/leak.h"
#include "signature/signature.h"
#include "threads/threads.h"
#include "mem/mem.h"
#include "obj/async_poll.h"
#include "obj/attr.h"
#include "obj/errhandler.h"
#include "p2p/p2p.h"
#include "profile/profile.h"
#include "progress/progress.h"
#include "race/race.h"
#include "rma/rma.h"
#include "var/var.h"

/* The signatures are given from outside; not every function needs all of its own. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Variables that must be equal in all processes; differences could cause a hang. Rank 0 publishes
 * its own before the first barrier of the start (in mem/). Each process compares before anything
 * depends on them. */
static void settings_key(char key[40]) /* the first process puts it (boot.h, keys) */
{
    snprintf(key, 40, "settings.%d", boot_first());
}

static int settings_tell(void)
{
    char text[BOOT_VALUE_MAX] = "", key[40];
    settings_key(key);
    cvar_common(text, sizeof text - 1);
    int tells = boot_rank() == boot_first() && boot_size() > 1;
    return tells ? boot_put(key, text, strlen(text) + 1) : 0;
}

static int settings_compare(void)
{
    char text[BOOT_VALUE_MAX + 1], key[40], why[400] = "MPI_Init: ";
    size_t len = BOOT_VALUE_MAX;
    int start = (int)strlen(why);
    if (boot_rank() == boot_first())
        return 0;
    settings_key(key);
    int err = boot_get(key, text, &len);
    if (err)
        return err == -ENOENT ? 0 : err; /* a test launcher without a store */
    text[len] = 0;
    if (cvar_common_check(text, "rank 0", why + start, sizeof why - (size_t)start))
        boot_abort(1, why);
    return 0;
}

static void nothing(void)
{
}

/* Rooms from the bottom up; each returns 0 or -errno. */
static const struct {
    const char *name;
    int (*init)(void);
    void (*finalize)(void);
} rooms[] = {
    {"mem", mem_init, mem_finalize},
    {"the comparison of variables", settings_compare, nothing},
    {"progress", progress_init, progress_finalize},
    {"am", am_init, am_finalize},
    {"obj", obj_init, obj_finalize},
    {"dt", dt_init, dt_finalize},
    {"p2p", p2p_init, p2p_finalize},
    {"coll", coll_init, coll_finalize},
    {"rma", rma_init, rma_finalize},
    {"io", io_init, io_finalize},
    /* in this order: the comparison is told first when a call has ended */
    {"the look at memory", bounds_init, bounds_finalize},
    {"the race checker", race_init, race_finalize},
    {"the comparison of collective calls", check_init, check_finalize},
    {"the comparison of types", signature_init, signature_finalize},
    {"the look for leaks", leak_init, leak_finalize},
    {"the look at threads", threads_init, threads_finalize},
    {"the report", profile_init, profile_finalize},
};
enum { ROOMS = sizeof rooms / sizeof *rooms };

/* Which limit an error comes from, in brackets; empty: no limit. */
static const char *limit_of(int err, char *text, size_t len)
{
    struct rlimit files;
    *text = 0;
    if (err == -EFBIG)
        snprintf(
            text, len,
            " (the limit of file sizes, RLIMIT_FSIZE or ulimit -f, holds for shared memory, too)");
    else if (err == -EMFILE && getrlimit(RLIMIT_NOFILE, &files) == 0)
        snprintf(text, len, " (the limit of open files, RLIMIT_NOFILE or ulimit -n, is %llu here)",
                 (unsigned long long)files.rlim_cur);
    else if (err == -ENFILE)
        snprintf(text, len, " (the system's limit of open files: /proc/sys/fs/file-max)");
    return text;
}

enum { GIVE_UP_NS = 2000000000 };

static void start_fails(const char *room, int err)
{
    char why[512], limit[128], died[BOOT_WHY_MAX + 64] = "";
    if (err == -ENOENT && boot_host_exchanged_elsewhere())
        boot_abort(1, "MPI_Init: MPIR_CVAR_HOST_MAP is \"launcher\" here and \"exchange\" on "
                      "another process; it must be the same on all processes");
    /* The memory of another process has gone, so that one gives up, and knows the reason. Its text
     * should be the one that ends the job: leave it the time. */
    if (err == -ESTALE)
        boot_barrier_for(GIVE_UP_NS);
    for (int i = 0; i < boot_size() && !*died; i++) /* a failed process may be the cause */
        if (boot_failed(boot_first() + i))
            snprintf(died, sizeof died, " (process %d of the job has died: %s)", boot_first() + i,
                     boot_failed_why(boot_first() + i));
    snprintf(why, sizeof why, "MPI_Init: %s did not start: %s%s%s", room, strerror(-err),
             limit_of(err, limit, sizeof limit), died);
    boot_abort(1, why);
}

/* A setting without effect misleads: report it once for the job. */
static void names_remark(void)
{
    char line[640];
    if (cvar.debug_summary && boot_rank() == boot_first())
        log_warn("limits: %s", mem_limits(line, sizeof line, 1));
    for (int i = 0; cvar_remark(&i, cvar.debug_summary != 0, line, sizeof line);)
        log_warn("%s", line);
}

/* Spawned processes meet those that have spawned them. */
static void meet_parents(void)
{
    char why[400];
    const char *port = boot_parent_port();
    struct comm *parent = NULL, *world = proc->obj->world;
    int err = port ? newcomm_open(world) : MPI_SUCCESS;
    if (port && !err)
        err = newcomm_meet(world, 0, 0, port, MPI_ERR_SPAWN, MPI_SUCCESS, &parent);
    if (err) {
        err_text(err, why, sizeof why);
        boot_abort_own(1, why);
    }
    if (parent)
        snprintf(parent->name, sizeof parent->name, "MPI_COMM_PARENT");
    proc->api->parent = parent;
}

/* The launcher prints it once, whatever the number of processes that read the same environment. */
static void setting_fails(const char *why, const struct boot_ops *forced)
{
    char text[400];
    snprintf(text, sizeof text, "MPI_Init: %s", why);
    if (!proc->var || boot_init(forced))
        log_fatal("%s", text);
    boot_abort(1, text);
}

/* The thread that serves peers, if there is to be one. From now on the lock is needed. Where the
 * system gives none by default, peers wait for this process's calls. */
static int helper_start(void)
{
    if (cvar.async_progress == PROGRESS_ASYNC && !sched)
        return progress_async_start();
    if (!progress_standin_wanted())
        return 0;
    if (!proc->threaded) {
        lock_acquire(&proc->lock);
        proc->threaded = proc->helped = 1;
        if (proc->thread_level < MPI_THREAD_SERIALIZED)
            lock_prefer(&proc->lock); /* where the system cannot, the lock costs more */
    }
    int err = progress_standin_start();
    if (err && boot_host_index(boot_rank()) == 0) /* one process of the host reports it */
        log_warn("no thread will answer for a process that computes: %s (MPIR_CVAR_ASYNC_PROGRESS)",
                 strerror(-err));
    return 0;
}

int api_start(int required, int *provided, const struct boot_ops *forced)
{
    char why[320], limit[128];
    /* MPI_T may have read them before, and set some. */
    if (!proc->var && var_init(why, sizeof why) != 0)
        setting_fails(why, forced);
    if (*cvar.initial_errhandler && errhandler_named(cvar.initial_errhandler) < 0) {
        snprintf(why, sizeof why,
                 "MPIR_CVAR_INITIAL_ERRHANDLER=%.100s: it must be " ERRHANDLER_NAMES,
                 cvar.initial_errhandler);
        setting_fails(why, forced);
    }
    int err = boot_init(forced);
    if (err)
        log_fatal("MPI_Init: no contact with the launcher: %s%s", strerror(-err),
                  limit_of(err, limit, sizeof limit));
    /* proc->lock is valid as zeroes; MPI_Session_init holds it here. */
    if (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE)
        required = MPI_THREAD_MULTIPLE;
    proc->thread_level = required;
    /* thread_check: calls that may not be at one time are to be named, and to harm nothing */
    proc->threaded = required == MPI_THREAD_MULTIPLE || race_is_full() ||
                     (cvar.thread_check && required != MPI_THREAD_SINGLE) ||
                     (cvar.async_progress == PROGRESS_ASYNC && !sched);
    proc->call = "MPI_Init";
    if (proc->threaded)
        lock_acquire(&proc->lock);
    if (!(proc->api = calloc(1, sizeof *proc->api)))
        start_fails("api", -ENOMEM);
    proc->api->main_thread = thread_self();
    if ((err = settings_tell()) != 0)
        start_fails("the job's key-value store", err);
    if ((err = am_open()) != 0) /* before the first barrier, as above */
        start_fails("am", err);
    for (int i = 0; i < ROOMS; i++) {
        err = rooms[i].init();
        if (err)
            start_fails(rooms[i].name, err);
    }
    if (boot_rank() == 0) /* of all jobs: they have the same settings */
        names_remark();
    api_attrs_init(&proc->api->attrs);
    proc->api->file_errhandler = errhandler_of(ERRHANDLER_RETURN);
    if ((err = helper_start()) != 0)
        start_fails("the progress thread", err);
    atomic_store_explicit(&proc->phase, watch_wants(WATCH_API) ? PROC_CHECKED : PROC_INIT,
                          memory_order_relaxed);
    am_greet();
    meet_parents();
    proc->call = NULL;
    if (proc->threaded)
        lock_release(&proc->lock);
    if (provided)
        *provided = required;
    return MPI_SUCCESS;
}

static int phase(void)
{
    return atomic_load_explicit(&proc->phase, memory_order_relaxed);
}

/* Sessions may have started the library before; then MPI_Init only opens MPI_COMM_WORLD. */
static int world_start(const char *call, int required, int *provided)
{
    int world = proc_runs() ? proc->api->world : WORLD_NEW;
    if (phase() == PROC_FINALIZED || world != WORLD_NEW)
        log_fatal("%s was called %s", call, world == WORLD_OPEN ? "twice" : "after MPI_Finalize");
    if (phase() == PROC_NEW)
        api_start(required, NULL, NULL);
    proc->api->world = WORLD_OPEN;
    if (provided)
        *provided = proc->thread_level;
    return MPI_SUCCESS;
}

int PMPI_Init(int *argc, char ***argv)
{
    return world_start("MPI_Init", MPI_THREAD_SINGLE, NULL);
}
API_ALIAS(MPI_Init);

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return world_start("MPI_Init_thread", required, provided);
}
API_ALIAS(MPI_Init_thread);

/* The job's last barrier: the launcher's, which counts the living processes. A process that waits
 * here still serves others, because a network delivers their messages only while both sides
 * poll. */
struct last_barrier {
    int fd, result;
    uint64_t since; /* time at which a failure was seen that the launcher's barrier ignores (ns); 0:
                     * none */
};

static uint64_t peer_timeout_ns(void) /* ns */
{
    return (uint64_t)(cvar.peer_timeout ? cvar.peer_timeout : 30) * 1000000000u;
}

/* Most launchers' barriers also wait for failed processes of the job. Then this process serves the
 * others until the last of them has seen the failure, and waits no longer. */
static int waited_enough(struct last_barrier *b)
{
    uint64_t now;
    if (boot_barrier_living() || (!b->since && !boot_failed_own()))
        return 0;
    now = time_now();
    b->since = b->since ? b->since : now;
    return now - b->since > peer_timeout_ns();
}

static int last_barrier_over(void *arg)
{
    struct last_barrier *b = arg;
    b->result = boot_barrier_test();
    if (!b->result && waited_enough(b))
        b->result = -ETIMEDOUT;
    return b->result != 0;
}

static int last_barrier_fd(void *arg, int arm)
{
    return arm ? 0 : ((struct last_barrier *)arg)->fd;
}

static int last_barrier_wait(void)
{
    struct last_barrier b = {.fd = -1};
    struct progress_source source = {.fd = last_barrier_fd, .arg = &b};
    int err = boot_barrier_begin(&b.fd);
    if (err)
        return err;
    progress_source_add(&source);
    progress_wait(last_barrier_over, &b, "the other processes in MPI_Finalize", -1);
    progress_source_del(&source);
    return b.result < 0 ? b.result : 0;
}

int api_stop(void)
{
    async_drain();
    /* Attributes of MPI_COMM_SELF are deleted first: their callbacks may still use MPI (MPI-3.1
     * 8.7.1). */
    struct comm *self = proc->obj->self;
    int err = attr_delete_all(OBJ_COMM, self->obj.handle, &self->attrs);
    if (err)
        return err;
    async_drain(); /* what those callbacks have started */
    check_calls_end();
    profile_ending();
    race_ending();
    check_ending();
    leak_ending();
    progress_async_stop();
    progress_standin_stop();
    io_ending();
    rma_ending();
    p2p_drain_wait();
    /* All processes have finished with each other: only then may inboxes be freed. */
    err = coll_barrier_living(proc->obj->world);
    check_ended();
    leak_ended();
    am_leave();
    /* Every room serves peers until all are here: from now on no process sends. */
    int met = last_barrier_wait() == 0;
    /* No process of this job polls a network any more when the first one closes its end (tp.h). */
    /* no process computes before it; one that does not come has failed, or its host is
     * unreachable */
    const uint64_t twice = 2 * peer_timeout_ns();
    if (met && am_networks())
        met = (boot_detector_turn() ? boot_barrier_for(twice) : boot_barrier()) == 0;
    if (err && !met)
        log_warn("MPI_Finalize: not all processes could be reached");
    errhandler_drop(proc->api->file_errhandler);
    for (int i = ROOMS - 1; i >= 0; i--)
        rooms[i].finalize();
    map_destroy(&proc->api->small);
    free(proc->api);
    proc->api = NULL;
    atomic_store_explicit(&proc->phase, PROC_FINALIZED, memory_order_relaxed);
    boot_finalize();
    if (!tool_holds_vars())
        var_finalize();
    return MPI_SUCCESS;
}

int PMPI_Finalize(void)
{
    api_enter("MPI_Finalize");
    int threaded = proc->threaded;
    /* If sessions were used, the library runs until the process ends, since more may come. */
    if (proc->sessions_used) {
        proc->api->world = WORLD_CLOSED;
        return api_exit(MPI_COMM_SELF,
                         attr_delete_all(OBJ_COMM, MPI_COMM_SELF, &proc->obj->self->attrs));
    }
    int err = api_stop();
    if (err)
        return api_exit(MPI_COMM_SELF, err);
    proc->call = NULL;
    if (threaded)
        lock_release(&proc->lock);
    return MPI_SUCCESS;
}
API_ALIAS(MPI_Finalize);

int PMPI_Initialized(int *flag)
{
    if (!flag)
        return api_fail_null("MPI_Initialized", "flag");
    *flag = phase() == PROC_FINALIZED || (proc_runs() && proc->api->world != WORLD_NEW);
    return MPI_SUCCESS;
}
API_ALIAS(MPI_Initialized);

int PMPI_Finalized(int *flag)
{
    if (!flag)
        return api_fail_null("MPI_Finalized", "flag");
    *flag = phase() == PROC_FINALIZED || (proc_runs() && proc->api->world == WORLD_CLOSED);
    return MPI_SUCCESS;
}
API_ALIAS(MPI_Finalized);

int PMPI_Query_thread(int *provided)
{
    api_enter("MPI_Query_thread");
    int err = api_pointer(provided, "provided");
    if (!err)
        *provided = proc->thread_level;
    return api_exit(MPI_COMM_WORLD, err);
}
API_ALIAS(MPI_Query_thread);

int PMPI_Is_thread_main(int *flag)
{
    api_enter("MPI_Is_thread_main");
    int err = api_pointer(flag, "flag");
    if (!err)
        *flag = proc->api->main_thread == thread_self();
    return api_exit(MPI_COMM_WORLD, err);
}
API_ALIAS(MPI_Is_thread_main);

int PMPI_Abort(MPI_Comm comm, int errorcode)
{
    char why[160];
    /* Legal at any time, also in an error handler. No lock: a blocked process must be able to
     * end. */
    if (!proc_runs())
        log_fatal("MPI_Abort(comm=0x%x, errorcode=%d) was called %s", (unsigned)comm, errorcode,
                  "while MPI is not running");
    snprintf(why, sizeof why, "MPI_Abort(%s, %d)",
             comm == MPI_COMM_WORLD  ? "MPI_COMM_WORLD"
             : comm == MPI_COMM_SELF ? "MPI_COMM_SELF"
                                     : "a communicator",
             errorcode);
    boot_abort(errorcode, why);
}
API_ALIAS(MPI_Abort);

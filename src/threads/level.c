/* level.c - calls of threads that may not make them (threads.h). Start with on_called().
 *
 * The calls may run at one time: they only keep what is wrong, under a lock of this room. The main
 * thread says it (MPI_THREAD_SERIALIZED: any) when it begins a call and none is under way. While
 * this room looks on, calls take proc->lock (api_start()), so that wrong ones do no harm. A call
 * looks for others, and leaves its mark for them, in one go under that lock: see look().
 *
 * Exactness: a program that keeps to MPI_THREAD_SERIALIZED orders its calls, so none sees another
 * one under way. Calls that any thread may make at any time are left out, and more of those that
 * only ask. So are calls of the program's functions, such as operations, that a thread of the
 * library runs. The asynchronous progress thread may run them beside any call: with it, only the
 * main thread's privilege is looked at. */
#include "threads/threads.h"

#include <errno.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "finding/finding.h"
#include "place/place.h"
#include "progress/progress.h"
#include "threads/threads_types.h"
#include "var/var.h"
#include "watch/watch.h"

/* What any thread may call at any level (MPI-4.1 11.6), and what asks for constant things. */
int threads_is_free(const char *call)
{
    static const char *const begins[] = {
        "MPI_Info_", "MPI_Session_", "MPI_Err", "MPI_Add_error", "MPI_Remove_error",
        "MPI_Get_address", "MPI_Get_count", "MPI_Get_elements", "MPI_Get_version",
        "MPI_Get_library_version", "MPI_Get_processor_name", "MPI_Get_hw_resource_info",
        "MPI_Init", "MPI_Final", "MPI_Query_thread", "MPI_Is_thread_main", "MPI_T_", "MPI_Abort",
        "MPI_Pcontrol", "MPI_Wti", "MPI_Alloc_mem", "MPI_Free_mem", "MPI_Aint_", "MPI_Status_",
    };
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (!strncmp(call, begins[i], strlen(begins[i])))
            return 1;
    return strstr(call, "errhandler") != NULL;
}

static void keep(struct threads *t, const char *call, const char *other)
{
    uint64_t site = site_here();
    int known = 0;
    lock_acquire(&t->lock);
    for (int i = 0; i < t->n && !known; i++)
        known = t->bad[i].site == site && t->bad[i].call == call;
    if (!known && t->n < THREADS_CALLS) {
        t->bad[t->n++] = (struct bad_call){call, other, site, 0};
        atomic_fetch_add_explicit(&t->unsaid, 1, memory_order_relaxed);
    }
    lock_release(&t->lock);
}

static void say(const struct bad_call *b)
{
    char line[FINDING_PLACE] = "";
    struct finding f = {.class = "threads", .ranks = 1, .rank = {boot_rank()}};
    site_text(site_portable(b->site), line, sizeof line);
    finding_place(&f, line);
    const char *at = *line ? " at " : "";
    if (b->other)
        snprintf(f.text, sizeof f.text,
                 "%s%s%s, while another thread is in %s: MPI was started with "
                 "MPI_THREAD_SERIALIZED",
                 b->call, at, line, b->other);
    else
        snprintf(f.text, sizeof f.text,
                 "%s%s%s, not in the main thread: MPI was started with %s", b->call, at, line,
                 proc->thread_level == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE"
                                                         : "MPI_THREAD_FUNNELED");
    finding_say(&f);
}

static void say_all(struct threads *t)
{
    struct bad_call now;
    for (int i = 0; i < THREADS_CALLS; i++) {
        lock_acquire(&t->lock);
        int is_new = i < t->n && !t->bad[i].is_said;
        if (is_new) {
            now = t->bad[i];
            t->bad[i].is_said = 1;
            atomic_fetch_sub_explicit(&t->unsaid, 1, memory_order_relaxed);
        }
        lock_release(&t->lock);
        if (is_new)
            say(&now);
    }
}

/* A name that the library's own thread may have written, which goes on with creations of windows
 * (rma/window/begin.c). */
static int may_be_helpers(const char *call)
{
    return !strcmp(call, "MPIX_Win_iallocate") || !strcmp(call, "MPIX_Win_icreate");
}

/* The call of another thread that runs beside this one, or NULL. Of two such calls the one that has
 * the lock second returns the other:
 *  - that one's mark is in proc->call until it ends: behind this it is in api_enter_running();
 *  - or it has left its mark since this one began, and may be over by now: `marks` says so.
 * So it matters not which of them began first, and how long each waits for the lock.
 *
 * What is kept is said here, before the call begins. That takes its time. So the mark is made
 * before, and calls that begin meanwhile find it. */
static const char *look(struct threads *t, const char *call, void *self)
{
    /* Before `last`: a thread that begins after this one has marked nothing yet. Acquire pairs with
     * the release below: of what is counted, proc->call is seen. */
    unsigned marks = atomic_load_explicit(&t->marks, memory_order_acquire);
    /* Acquire and release pair with each other: see above. */
    int moved = atomic_exchange_explicit(&t->last, self, memory_order_acq_rel) != self;
    /* Without the lock: it may be over when the lock is free. The same thread is in it where a
     * function of the program, which the call runs, makes calls. */
    const char *other = moved ? proc->call : NULL;
    if (proc->threaded)
        lock_acquire(&proc->lock);
    if (!other && atomic_load_explicit(&t->marks, memory_order_relaxed) != marks)
        other = t->marked;
    if (!other && moved)
        other = proc->call;
    int is_alone = !proc->call;
    proc->call = t->marked = call;
    atomic_fetch_add_explicit(&t->marks, 1, memory_order_release);
    if (is_alone && atomic_load_explicit(&t->unsaid, memory_order_relaxed))
        say_all(t);
    if (proc->threaded)
        lock_release(&proc->lock);
    return other;
}

/* Of a call that is not free. */
static void on_called(const char *call)
{
    if (progress_is_helper()) /* a function of the program, run by the library's thread */
        return;
    struct threads *t = proc->threads;
    void *self = thread_self();
    int serialized = proc->thread_level == MPI_THREAD_SERIALIZED;
    if (!serialized && self != t->main_thread) {
        keep(t, call, NULL);
        return;
    }
    const char *other = look(t, call, self);
    if (serialized && cvar.async_progress != PROGRESS_ASYNC && other && !threads_is_free(other) &&
        !may_be_helpers(other))
        keep(t, call, other);
}

static const struct watcher watcher = {.called = on_called};

int threads_init(void)
{
    if (!cvar.thread_check)
        return 0;
    struct threads *t = proc->threads = calloc(1, sizeof *t);
    if (!t)
        return -ENOMEM;
    lock_init(&t->lock);
    t->main_thread = thread_self();
    atomic_init(&t->last, t->main_thread);
    site_here(); /* the first one loads libgcc_s: not beside other threads */
    return watch_add(proc->thread_level == MPI_THREAD_MULTIPLE ? &threads_together : &watcher);
}

void threads_finalize(void)
{
    struct threads *t = proc->threads;
    if (!t)
        return;
    watch_drop(&watcher);
    watch_drop(&threads_together);
    say_all(t);
    free(t);
    proc->threads = NULL;
}

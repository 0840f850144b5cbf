/* errhandler.c - error handlers: the built-in ones, the user's, and the call of one. Start with
 * errhandler_run(). */
#include "obj/errhandler.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "boot/boot.h"
#include "finding/finding.h"
#include "obj/comm.h"
#include "obj/err.h"
#include "obj/obj_types.h"
#include "obj/upcall.h"
#include "place/place.h"
#include "var/var.h"

static const int builtin_handle[] = {
    [ERRHANDLER_FATAL] = MPI_ERRORS_ARE_FATAL,
    [ERRHANDLER_RETURN] = MPI_ERRORS_RETURN,
    [ERRHANDLER_THROW] = MPIR_ERRORS_THROW_EXCEPTIONS,
    [ERRHANDLER_ABORT] = MPI_ERRORS_ABORT,
};
enum { BUILTINS = sizeof builtin_handle / sizeof *builtin_handle };

int errhandler_init(void)
{
    for (int i = 0; i < BUILTINS; i++) {
        struct errhandler *e = calloc(1, sizeof *e);
        if (!e)
            return -ENOMEM;
        obj_set_builtin(OBJ_ERRHANDLER, builtin_handle[i], &e->obj);
        proc->obj->errhandler[i] = e;
    }
    return 0;
}

static void forget(void *e)
{
    obj_del(OBJ_ERRHANDLER, e);
    free(e);
}

void errhandler_finalize(void)
{
    obj_sweep(OBJ_ERRHANDLER, forget);
    for (int i = 0; i < BUILTINS; i++) {
        free(proc->obj->errhandler[i]);
        proc->obj->errhandler[i] = NULL;
    }
}

struct errhandler *errhandler_make(int holder, void (*fn)(void *, int *, ...))
{
    struct errhandler *e = calloc(1, sizeof *e);
    if (!e || obj_add(OBJ_ERRHANDLER, &e->obj)) {
        free(e);
        return NULL;
    }
    e->holder = holder;
    e->fn = fn;
    return e;
}

struct errhandler *errhandler_of(enum errhandler_builtin which)
{
    return errhandler_ref(proc->obj->errhandler[which]);
}

int errhandler_named(const char *name)
{
    return !strcasecmp(name, "mpi_errors_are_fatal") ? ERRHANDLER_FATAL
           : !strcasecmp(name, "mpi_errors_abort")   ? ERRHANDLER_ABORT
           : !strcasecmp(name, "mpi_errors_return")  ? ERRHANDLER_RETURN
                                                     : -1;
}

enum errhandler_builtin errhandler_initial(void)
{
    return *cvar.initial_errhandler ? (enum errhandler_builtin)errhandler_named(
                                          cvar.initial_errhandler)
                                    : ERRHANDLER_FATAL;
}

struct errhandler *errhandler_find(int handle)
{
    return obj_find(OBJ_ERRHANDLER, handle);
}

struct errhandler *errhandler_ref(struct errhandler *e)
{
    if (e && e->holder)
        e->obj.refs++;
    return e;
}

void errhandler_drop(struct errhandler *e)
{
    if (!e || !e->holder || --e->obj.refs > 0)
        return;
    obj_del(OBJ_ERRHANDLER, &e->obj);
    free(e);
}

/* Where the program has called; empty: it is not known. Returns the call of a front
 * (place/front_library.h), or NULL. */
static const char *called_at(char *line, size_t len)
{
    const uint64_t most = 2000000000; /* ns: others wait meanwhile */
    *line = 0;
    if (proc->threaded)
        lock_acquire(&proc->lock);
    uint64_t site = site_here();
    site_text_until(most, site_portable(site), line, len);
    if (proc->threaded)
        lock_release(&proc->lock);
    return site_front_call(site);
}

/* Is it an error of the program? Others come from failures, the system or its limits. */
static int is_programs(int class)
{
    static const int others[] = {
        MPI_ERR_UNKNOWN, MPI_ERR_OTHER, MPI_ERR_INTERN, MPI_ERR_ACCESS, MPI_ERR_BAD_FILE,
        MPI_ERR_FILE_EXISTS, MPI_ERR_FILE_IN_USE, MPI_ERR_IO, MPI_ERR_NO_MEM, MPI_ERR_NO_SPACE,
        MPI_ERR_NO_SUCH_FILE, MPI_ERR_QUOTA, MPI_ERR_READ_ONLY, MPI_ERR_SPAWN, MPI_ERR_PORT,
        MPI_ERR_NAME, MPI_ERR_SERVICE, MPI_ERR_PROC_ABORTED, MPI_ERR_IN_STATUS, MPI_ERR_PENDING,
        MPI_ERR_UNSUPPORTED_OPERATION, MPI_ERR_UNSUPPORTED_DATAREP, MPI_ERR_CONVERSION};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (class == others[i])
            return 0;
    return class > 0 && class <= MPI_ERR_LASTCODE && err_class_name(class) != NULL &&
           strncmp(err_class_name(class), "MPIX_", 5) != 0;
}

static void add_finding(int class, const char *text, const char *place)
{
    struct finding f = {.class = "error", .ranks = 1, .rank = {boot_rank()}};
    if (!finding_wanted() || !is_programs(class))
        return;
    finding_place(&f, place);
    snprintf(f.text, sizeof f.text, "%s", text);
    finding_add(&f);
}

static void fatal(const char *where, int code, const char *call) __attribute__((noreturn));
static void fatal(const char *where, int code, const char *call)
{
    char text[ERR_TEXT], line[ERR_TEXT + 512], name[64], at[200];
    err_text(code, text, sizeof text);
    /* Texts begin with "MPI_Call: ". Print the call once, and take it from the text: `call` may be
     * another thread's. */
    const char *rest = text, *colon = strchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : 0;
    int status = err_class(code);
    const char *class = err_class_name(status);
    int has_name = n && n < sizeof name && strcspn(text, " ") > n;
    snprintf(name, sizeof name, "%.*s", has_name ? (int)n : 0, text);
    int fronts = !class && site_front_has(name); /* a front says what is wrong */
    if (fronts || (has_name && !strncmp(text, "MPI", 3))) {
        call = name;
        rest = colon + 1 + (colon[1] == ' ');
    }
    const char *front = called_at(at, sizeof at), *comma = *at ? ", called at " : "";
    if (!call)
        call = "an MPI call";
    if (fronts)
        snprintf(line, sizeof line, "fatal error in %s: %s%s%s", call, rest, comma, at);
    else
        snprintf(line, sizeof line, "fatal error in %s%s%s on %s (%s): %s%s%s", front ? front : "",
                 front ? ": " : "", call, where, class ? class : "a class of the program", rest,
                 comma, at);
    add_finding(status, line, at);
    boot_abort(status > 0 && status < 128 ? status : 1, line);
}

/* The handler may free itself. No continuation runs in it. */
static void handler_begin(struct errhandler *e, struct upcall_witness *w)
{
    if (proc->threaded)
        lock_acquire(&proc->lock);
    errhandler_ref(e);
    upcall_mark(w);
    if (proc->threaded)
        lock_release(&proc->lock);
}

static void handler_end(struct errhandler *e, struct upcall_witness *w)
{
    if (proc->threaded)
        lock_acquire(&proc->lock);
    upcall_unmark(w);
    errhandler_drop(e);
    if (proc->threaded)
        lock_release(&proc->lock);
}

/* err_give() writes what other threads read. */
static int give(int code)
{
    if (proc->threaded)
        lock_acquire(&proc->lock);
    code = err_give(code);
    if (proc->threaded)
        lock_release(&proc->lock);
    return code;
}

static int cxx_kind(const struct errhandler *e)
{
    return e->holder == OBJ_FILE ? 1 : e->holder == OBJ_WIN ? 2 : 0;
}

int errhandler_run(struct errhandler *e, void *handle_ptr, const char *where, int code,
                   const char *call)
{
    if (!e || e == proc->obj->errhandler[ERRHANDLER_FATAL] ||
        e == proc->obj->errhandler[ERRHANDLER_ABORT])
        fatal(where, code, call);
    code = give(code);
    if (e->fn) {
        struct upcall_witness w = {0};
        handler_begin(e, &w);
        if (e->cxx)
            e->cxx(cxx_kind(e), handle_ptr, &code, (void (*)(void))e->fn);
        else
            e->fn(handle_ptr, &code, call, NULL);
        handler_end(e, &w);
    }
    return code;
}

int err_report_comm(struct comm *c, int code, const char *call)
{
    if (!c)
        c = comm_of_none();
    char where[sizeof c->name + 32];
    int handle = c->obj.handle;
    if (c->name[0])
        snprintf(where, sizeof where, "communicator %s", c->name);
    else
        snprintf(where, sizeof where, "communicator %#x", (unsigned)handle);
    return errhandler_run(c->errhandler, &handle, where, code, call);
}

int err_report_win(struct errhandler *eh, int win_handle, const char *name, int code,
                   const char *call)
{
    char where[MPI_MAX_OBJECT_NAME + 32];
    if (name && name[0])
        snprintf(where, sizeof where, "window \"%s\"", name);
    else
        snprintf(where, sizeof where, "window %#x", (unsigned)win_handle);
    return errhandler_run(eh, &win_handle, where, code, call);
}

int err_report_file(struct errhandler *eh, void *file, int code, const char *call)
{
    return errhandler_run(eh, &file, file ? "a file" : "MPI_FILE_NULL", code, call);
}

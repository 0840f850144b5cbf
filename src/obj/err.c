/* err.c - error classes, codes and texts. Texts of recent errors are in a ring, and the code names
 * the place. Start with err_make(). */
#include "obj/err.h"

#include <errno.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "base/vec.h"
#include "mem/mem.h"
#include "obj/errhandler.h"
#include "obj/obj.h"
#include "obj/obj_types.h"

/* Code of the ring: class in bits 0-6, slot in 8-14, round of the ring in 15-29 (never 0, so that a
 * bare class differs from a code). The round keeps an old code from returning the text of a newer
 * error. */
enum { SLOT_SHIFT = 8, ROUND_SHIFT = 15, ROUNDS = 1 << 15, USER_BIT = 1 << 30 };
_Static_assert(ERR_SLOTS == 1 << (ROUND_SHIFT - SLOT_SHIFT), "the slot field holds ERR_SLOTS");

struct err_slot {
    int code;
    char text[ERR_TEXT];
};

struct err_user { /* a class or code added by the user; value = USER_BIT | (index + 1) */
    int class; /* 0: deleted */
    char *text;
};

/* Classes that programs compare with what a call returns, by ==. */
static const int bare_class[] = {MPIX_ERR_PROC_FAILED, MPIX_ERR_PROC_FAILED_PENDING,
                                 MPIX_ERR_REVOKED};
enum { BARE_CLASSES = sizeof bare_class / sizeof *bare_class };

struct err_ring {
    struct err_slot slot[ERR_SLOTS];
    char bare_text[BARE_CLASSES][ERR_TEXT]; /* of the last one given out; "": none, or it is lost */
    unsigned next, round;
    struct err_user *user;
    int users, user_room;
    int last_used; /* where MPI_LASTUSEDCODE points */
};

#define CLASS(cls, text) [cls] = {#cls, text}
static const struct {
    const char *name, *text;
} class_text[] = {
    CLASS(MPI_SUCCESS, "no error"),
    CLASS(MPI_ERR_BUFFER, "invalid buffer pointer"),
    CLASS(MPI_ERR_COUNT, "invalid count argument"),
    CLASS(MPI_ERR_TYPE, "invalid datatype argument"),
    CLASS(MPI_ERR_TAG, "invalid tag argument"),
    CLASS(MPI_ERR_COMM, "invalid communicator"),
    CLASS(MPI_ERR_RANK, "invalid rank"),
    CLASS(MPI_ERR_ROOT, "invalid root"),
    CLASS(MPI_ERR_GROUP, "invalid group"),
    CLASS(MPI_ERR_OP, "invalid reduction operation"),
    CLASS(MPI_ERR_TOPOLOGY, "invalid topology"),
    CLASS(MPI_ERR_DIMS, "invalid dimension argument"),
    CLASS(MPI_ERR_ARG, "invalid argument"),
    CLASS(MPI_ERR_UNKNOWN, "unknown error"),
    CLASS(MPI_ERR_TRUNCATE, "message truncated on receive"),
    CLASS(MPI_ERR_OTHER, "other MPI error"),
    CLASS(MPI_ERR_INTERN, "internal error of the MPI library"),
    CLASS(MPI_ERR_IN_STATUS, "see the MPI_ERROR field of the statuses for the error codes"),
    CLASS(MPI_ERR_PENDING, "pending request (no error)"),
    CLASS(MPI_ERR_REQUEST, "invalid request"),
    CLASS(MPI_ERR_ACCESS, "access denied to file"),
    CLASS(MPI_ERR_AMODE, "invalid access mode of a file"),
    CLASS(MPI_ERR_BAD_FILE, "invalid file name"),
    CLASS(MPI_ERR_CONVERSION, "error in a data conversion function"),
    CLASS(MPI_ERR_DUP_DATAREP, "the data representation is already defined"),
    CLASS(MPI_ERR_FILE_EXISTS, "the file exists"),
    CLASS(MPI_ERR_FILE_IN_USE, "the file is open in some process"),
    CLASS(MPI_ERR_FILE, "invalid file handle"),
    CLASS(MPI_ERR_INFO, "invalid info object"),
    CLASS(MPI_ERR_INFO_KEY, "info key is empty or longer than MPI_MAX_INFO_KEY"),
    CLASS(MPI_ERR_INFO_VALUE, "info value is empty or longer than MPI_MAX_INFO_VAL"),
    CLASS(MPI_ERR_INFO_NOKEY, "the info object has no such key"),
    CLASS(MPI_ERR_IO, "input or output error"),
    CLASS(MPI_ERR_NAME, "invalid service name"),
    CLASS(MPI_ERR_NO_MEM, "no memory left"),
    CLASS(MPI_ERR_NOT_SAME, "arguments differ between the processes of a collective call"),
    CLASS(MPI_ERR_NO_SPACE, "not enough space for the file"),
    CLASS(MPI_ERR_NO_SUCH_FILE, "the file does not exist"),
    CLASS(MPI_ERR_PORT, "invalid port"),
    CLASS(MPI_ERR_QUOTA, "quota exceeded"),
    CLASS(MPI_ERR_READ_ONLY, "read-only file or file system"),
    CLASS(MPI_ERR_SERVICE, "invalid service name in unpublish"),
    CLASS(MPI_ERR_SPAWN, "error in spawning processes"),
    CLASS(MPI_ERR_UNSUPPORTED_DATAREP, "unsupported data representation"),
    CLASS(MPI_ERR_UNSUPPORTED_OPERATION, "unsupported operation"),
    CLASS(MPI_ERR_WIN, "invalid window"),
    CLASS(MPI_ERR_BASE, "invalid base address"),
    CLASS(MPI_ERR_LOCKTYPE, "invalid lock type"),
    CLASS(MPI_ERR_KEYVAL, "invalid attribute key"),
    CLASS(MPI_ERR_RMA_CONFLICT, "conflicting accesses to a window"),
    CLASS(MPI_ERR_RMA_SYNC, "wrong synchronization of one-sided calls"),
    CLASS(MPI_ERR_SIZE, "invalid size argument"),
    CLASS(MPI_ERR_DISP, "invalid displacement argument"),
    CLASS(MPI_ERR_ASSERT, "invalid assert argument"),
    CLASS(MPI_ERR_RMA_RANGE, "target memory is not part of the window"),
    CLASS(MPI_ERR_RMA_ATTACH, "memory cannot be attached"),
    CLASS(MPI_ERR_RMA_SHARED, "memory cannot be shared"),
    CLASS(MPI_ERR_RMA_FLAVOR, "the window has the wrong flavor for this call"),
    CLASS(MPI_T_ERR_MEMORY, "MPI_T: out of memory"),
    CLASS(MPI_T_ERR_NOT_INITIALIZED, "MPI_T: the tool interface is not initialized"),
    CLASS(MPI_T_ERR_CANNOT_INIT, "MPI_T: the tool interface cannot be initialized"),
    CLASS(MPI_T_ERR_INVALID_INDEX, "MPI_T: invalid index"),
    CLASS(MPI_T_ERR_INVALID_ITEM, "MPI_T: item index out of range"),
    CLASS(MPI_T_ERR_INVALID_HANDLE, "MPI_T: invalid handle"),
    CLASS(MPI_T_ERR_OUT_OF_HANDLES, "MPI_T: no more handles"),
    CLASS(MPI_T_ERR_OUT_OF_SESSIONS, "MPI_T: no more sessions"),
    CLASS(MPI_T_ERR_INVALID_SESSION, "MPI_T: invalid session"),
    CLASS(MPI_T_ERR_CVAR_SET_NOT_NOW, "MPI_T: the control variable cannot be set at this moment"),
    CLASS(MPI_T_ERR_CVAR_SET_NEVER, "MPI_T: the control variable cannot be set any more"),
    CLASS(MPI_T_ERR_PVAR_NO_STARTSTOP,
          "MPI_T: the performance variable cannot be started or stopped"),
    CLASS(MPI_T_ERR_PVAR_NO_WRITE, "MPI_T: the performance variable cannot be written or reset"),
    CLASS(MPI_T_ERR_PVAR_NO_ATOMIC,
          "MPI_T: the performance variable cannot be read and reset in one step"),
    CLASS(MPI_T_ERR_INVALID_NAME, "MPI_T: no variable or category has this name"),
    CLASS(MPI_T_ERR_INVALID, "MPI_T: invalid use or argument"),
    CLASS(MPI_ERR_SESSION, "invalid session"),
    CLASS(MPI_ERR_PROC_ABORTED, "a process of the job has ended"),
    CLASS(MPI_ERR_VALUE_TOO_LARGE, "the value is too large to store"),
    CLASS(MPI_T_ERR_NOT_SUPPORTED, "MPI_T: not supported"),
    CLASS(MPI_T_ERR_NOT_ACCESSIBLE, "MPI_T: the information cannot be accessed"),
    CLASS(MPI_ERR_ERRHANDLER, "invalid error handler"),
    CLASS(MPI_ERR_ABI, "mismatch of the binary interface"),
};
enum { CLASSES = sizeof class_text / sizeof *class_text };

static const char *text_of_class(int cls)
{
    switch (cls) { /* beyond the table: MPICH's extensions */
    case MPIX_ERR_PROC_FAILED: return "a process of the communicator failed";
    case MPIX_ERR_PROC_FAILED_PENDING: return "a failed process keeps this request pending";
    case MPIX_ERR_REVOKED: return "the communicator was revoked";
    case MPIX_ERR_EAGAIN: return "the operation could not be issued now";
    case MPIX_ERR_NOREQ: return "no request could be allocated";
    case MPIX_ERR_INVALID_NOTIFICATION: return "invalid counter of notifications";
    }
    return cls >= 0 && cls < CLASSES && class_text[cls].text ? class_text[cls].text : NULL;
}

const char *err_class_name(int cls)
{
    switch (cls) {
    case MPIX_ERR_PROC_FAILED: return "MPIX_ERR_PROC_FAILED";
    case MPIX_ERR_PROC_FAILED_PENDING: return "MPIX_ERR_PROC_FAILED_PENDING";
    case MPIX_ERR_REVOKED: return "MPIX_ERR_REVOKED";
    case MPIX_ERR_INVALID_NOTIFICATION: return "MPIX_ERR_INVALID_NOTIFICATION";
    }
    return cls >= 0 && cls < CLASSES ? class_text[cls].name : NULL;
}

int err_init(void)
{
    struct err_ring *e = calloc(1, sizeof *e);
    if (!e)
        return -ENOMEM;
    e->round = 1;
    e->last_used = MPI_ERR_LASTCODE;
    proc->obj->err = e;
    return 0;
}

void err_finalize(void)
{
    struct err_ring *e = proc->obj->err;
    if (!e)
        return;
    for (int i = 0; i < e->users; i++)
        free(e->user[i].text);
    free(e->user);
    free(e);
    proc->obj->err = NULL;
}

/* The next slot, whose text is to be written. */
static struct err_slot *slot_take(struct err_ring *e, int cls)
{
    struct err_slot *s = &e->slot[e->next];
    s->code = cls | (int)(e->next << SLOT_SHIFT | e->round << ROUND_SHIFT);
    if (++e->next == ERR_SLOTS) {
        e->next = 0;
        e->round = e->round + 1 == ROUNDS ? 1 : e->round + 1;
    }
    return s;
}

/* Whose limit it is: a user can raise those of ulimit. */
static void say_limits(char *text, size_t room)
{
    char limits[256];
    size_t n = strlen(text);
    if (*mem_limits(limits, sizeof limits, 0) && n + 8 < room)
        snprintf(text + n, room - n, " (%s)", limits);
}

int err_make(int cls, const char *fmt, ...)
{
    struct err_ring *e = proc->obj ? proc->obj->err : NULL;
    if (cls == MPI_SUCCESS)
        return MPI_SUCCESS;
    if (!e || cls < 0 || cls > ERR_CLASS_MASK)
        return cls;
    struct err_slot *s = slot_take(e, cls);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s->text, sizeof s->text, fmt, ap);
    va_end(ap);
    if (cls == MPI_ERR_NO_MEM)
        say_limits(s->text, sizeof s->text);
    return s->code;
}

/* The slot with a code's text; NULL if it has none of its own or the slot was reused. */
static struct err_slot *slot_find(int code)
{
    struct err_ring *e = proc->obj ? proc->obj->err : NULL;
    if (!e || code <= 0 || (code & USER_BIT))
        return NULL;
    struct err_slot *s = &e->slot[(unsigned)code >> SLOT_SHIFT & (ERR_SLOTS - 1)];
    return s->code == code ? s : NULL;
}

int err_retell(int code, const char *fmt, ...)
{
    struct err_ring *e = proc->obj ? proc->obj->err : NULL;
    if (!e || code <= 0 || (code & USER_BIT) || slot_find(code))
        return code;
    char text[ERR_TEXT];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (struct err_slot *s = e->slot; s < e->slot + ERR_SLOTS; s++)
        if (s->code && err_class(s->code) == err_class(code) && !strcmp(s->text, text))
            return s->code;
    struct err_slot *s = slot_take(e, err_class(code));
    memcpy(s->text, text, sizeof text);
    return s->code;
}

void err_name(int code, const char *call)
{
    struct err_slot *s = slot_find(code);
    if (!s || !call || !strncmp(s->text, "MPI", 3))
        return;
    char text[ERR_TEXT];
    memcpy(text, s->text, sizeof text);
    if (snprintf(s->text, sizeof s->text, "%s: %s", call, text) < 0)
        memcpy(s->text, text, sizeof text);
}

void err_returned_by(int code, const char *call)
{
    struct err_slot *s = slot_find(code);
    if (!s || !call)
        return;
    char text[ERR_TEXT];
    memcpy(text, s->text, sizeof text);
    size_t n = strncmp(text, "MPI", 3) ? 0 : strcspn(text, ": ");
    const char *rest = n && text[n] == ':' && text[n + 1] == ' ' ? text + n + 2 : text;
    if (snprintf(s->text, sizeof s->text, "%s: %s", call, rest) >= ERR_TEXT)
        s->text[ERR_TEXT - 1] = '\0'; /* cut, as other texts are */
}

/* Index in bare_class; -1: its codes are given out as they are. */
static int bare_find(int cls)
{
    for (int i = 0; i < BARE_CLASSES; i++)
        if (bare_class[i] == cls)
            return i;
    return -1;
}

int err_give(int code)
{
    struct err_ring *e = proc->obj ? proc->obj->err : NULL;
    int i = code > 0 && !(code & USER_BIT) ? bare_find(err_class(code)) : -1;
    if (!e || i < 0 || code == bare_class[i])
        return code;
    const struct err_slot *s = slot_find(code);
    memcpy(e->bare_text[i], s ? s->text : "", s ? sizeof s->text : 1);
    return bare_class[i];
}

static struct err_user *user_find(int code)
{
    struct err_ring *e = proc->obj ? proc->obj->err : NULL;
    int i = (code & ~USER_BIT) - 1;
    int is_user = code > 0 && (code & USER_BIT);
    return e && is_user && i >= 0 && i < e->users && e->user[i].class ? &e->user[i] : NULL;
}

int err_valid(int code)
{
    if (code == MPI_SUCCESS || user_find(code))
        return 1;
    return code > 0 && !(code & USER_BIT) && text_of_class(code & ERR_CLASS_MASK) != NULL;
}

int err_class(int code)
{
    if (code > 0 && (code & USER_BIT)) {
        struct err_user *u = user_find(code);
        return u ? u->class : MPI_ERR_UNKNOWN;
    }
    return code >= 0 ? code & ERR_CLASS_MASK : MPI_ERR_UNKNOWN;
}

void err_text(int code, char *buf, size_t len)
{
    if (code > 0 && (code & USER_BIT)) {
        struct err_user *u = user_find(code);
        /* MPI-3.1 8.5: empty until a string is added */
        snprintf(buf, len, "%s", u && u->text ? u->text : "");
        return;
    }
    const struct err_slot *s = slot_find(code);
    if (s) {
        snprintf(buf, len, "%s", s->text);
        return;
    }
    struct err_ring *e = proc->obj ? proc->obj->err : NULL;
    int i = e ? bare_find(code) : -1;
    const char *t = i >= 0 && e->bare_text[i][0] ? e->bare_text[i] : text_of_class(err_class(code));
    snprintf(buf, len, "%s", t ? t : "unknown error code");
}

int err_from_errno(int neg_errno, const char *what)
{
    int e = neg_errno < 0 ? -neg_errno : neg_errno;
    if (!e)
        return MPI_SUCCESS;
    int cls = MPI_ERR_OTHER;
    switch (e) {
    case ENOMEM: cls = MPI_ERR_NO_MEM; break;
    case EINVAL: cls = MPI_ERR_ARG; break;
    case EFAULT: cls = MPI_ERR_BUFFER; break;
    case ENOTCONN:
    case ESRCH:
    case ESTALE:
    case EPIPE:
    case ECONNRESET:
        cls = MPIX_ERR_PROC_FAILED;
        break;
    case ENOTSUP: case ENOSYS: cls = MPI_ERR_UNSUPPORTED_OPERATION; break;
    }
    int code = err_make(cls, "%s: %s", what, strerror(e));
    struct err_slot *s = e == EMFILE ? slot_find(code) : NULL;
    if (s)
        say_limits(s->text, sizeof s->text);
    return code;
}

/* --- classes and codes of the user -------------------------------------------- */

static int user_add(int cls)
{
    struct err_ring *e = proc->obj->err;
    if (!VEC_FITS(e->user, e->user_room, e->users + 1, 16))
        return 0;
    int value = USER_BIT | (e->users + 1);
    e->user[e->users++] = (struct err_user){.class = cls ? cls : value, .text = NULL};
    e->last_used = value;
    return value;
}

int err_add_class(int *cls)
{
    int v = user_add(0);
    if (!v)
        return err_make(MPI_ERR_NO_MEM, "MPI_Add_error_class: no memory for one more error class");
    *cls = v;
    return MPI_SUCCESS;
}

int err_add_code(int cls, int *code)
{
    struct err_user *u = user_find(cls);
    if (u ? u->class != cls : !(cls > 0 && cls <= ERR_CLASS_MASK && text_of_class(cls)))
        return err_make(MPI_ERR_ARG, "MPI_Add_error_code: %d is no error class", cls);
    int v = user_add(cls);
    if (!v)
        return err_make(MPI_ERR_NO_MEM, "MPI_Add_error_code: no memory for one more error code");
    *code = v;
    return MPI_SUCCESS;
}

int err_add_string(int code, const char *text)
{
    struct err_user *u = user_find(code);
    if (!u)
        return err_make(
            MPI_ERR_ARG,
            "MPI_Add_error_string: %d is no error class or code that was added by the user", code);
    char *copy = strdup(text);
    if (!copy)
        return err_make(MPI_ERR_NO_MEM, "MPI_Add_error_string: no memory for a text of %zu bytes",
                        strlen(text));
    free(u->text);
    u->text = copy;
    return MPI_SUCCESS;
}

/* A class is its own code; its codes have other numbers. */
static int has_codes(const struct err_ring *e, int cls)
{
    for (int i = 0; i < e->users; i++)
        if (e->user[i].class == cls && (USER_BIT | (i + 1)) != cls)
            return 1;
    return 0;
}

int err_delete(int code, int is_class)
{
    struct err_ring *e = proc->obj->err;
    struct err_user *u = user_find(code);
    const char *what = is_class ? "class" : "code";
    if (!u || (u->class == code) != is_class)
        return err_make(MPI_ERR_ARG, "%s: %d is no error %s that was added by the user", proc->call,
                        code, what);
    if (is_class && has_codes(e, code))
        return err_make(MPI_ERR_OTHER, "%s: error class %d still has error codes", proc->call,
                        code);
    free(u->text);
    *u = (struct err_user){0};
    /* Numbers are reused from the end only, so that MPI_LASTUSEDCODE stays the largest in use. */
    while (e->users && !e->user[e->users - 1].class)
        e->users--;
    e->last_used = e->users ? (USER_BIT | e->users) : MPI_ERR_LASTCODE;
    return MPI_SUCCESS;
}

int err_delete_string(int code)
{
    struct err_user *u = user_find(code);
    if (!u || !u->text)
        return err_make(MPI_ERR_ARG, "%s: error code %d has no text that was added by the user",
                        proc->call, code);
    free(u->text);
    u->text = NULL;
    return MPI_SUCCESS;
}

int *err_last_used(void)
{
    return &proc->obj->err->last_used;
}

/* MPI_T, the tool information interface (MPI-3.1 14.3).
 *
 * Control and performance variables are the rows of var/; a category is a room.  Handles and sessions are
 * pointers, looked up in lists before they are used.  Everything works before MPI_Init and after MPI_Finalize, so
 * errors are returned, never handled.  proc->lock is taken always, since nobody says how many threads there are.
 *
 * Variables of scope LIVE may be written at any time; all others until MPI_Init, after which their scope is
 * MPI_T_SCOPE_READONLY. */
#include "api/api.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_types.h"
#include "base/list.h"
#include "rma/rma.h"
#include "var/var.h"

/* The signatures are given from outside; not every function needs all of its own. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

struct MPIR_T_enum_s {
    const char *name;
    int n;
    const char *item[2];
};
static const struct MPIR_T_enum_s enum_switch = {"switch", 2, {"off", "on"}};

struct MPIR_T_cvar_handle_s {
    struct list link;
    int index;
};

struct MPIR_T_pvar_session_s {
    struct list link;
    struct list handles;
};

struct MPIR_T_pvar_handle_s {
    struct list link;
    int index;
    int window;    /* handle of the window, of those bound to one */
    uint64_t base; /* counters: the value shown as 0 since the last reset */
};

struct tool {
    int users; /* MPI_T_init_thread less MPI_T_finalize */
    struct list cvar_handles, sessions;
};

enum { TEXT_MAX = 1024 }; /* bytes of a text variable, the closing 0 included */

int tool_holds_vars(void)
{
    return proc->tool && proc->tool->users > 0;
}

/* --- start and end ---------------------------------------------------------------- */

static int phase(void)
{
    return atomic_load_explicit(&proc->phase, memory_order_relaxed);
}

int PMPI_T_init_thread(int required, int *provided)
{
    char why[256];
    if (!proc->tool) {
        struct tool *t = calloc(1, sizeof *t);
        if (!t)
            return MPI_T_ERR_MEMORY;
        list_init(&t->cvar_handles);
        list_init(&t->sessions);
        proc->tool = t;
    }
    lock_acquire(&proc->lock);
    int err = MPI_SUCCESS;
    if (!proc->var && var_init(why, sizeof why) != 0)
        err = MPI_T_ERR_CANNOT_INIT;
    else
        proc->tool->users++;
    lock_release(&proc->lock);
    if (provided)
        *provided = required >= MPI_THREAD_SINGLE && required <= MPI_THREAD_MULTIPLE ? required : MPI_THREAD_MULTIPLE;
    return err;
}
API_ALIAS(MPI_T_init_thread);

static void session_free(struct MPIR_T_pvar_session_s *s)
{
    for (struct list *p; (p = list_pop(&s->handles));)
        free(LIST_OBJ(p, struct MPIR_T_pvar_handle_s, link));
    list_del(&s->link);
    free(s);
}

static void tool_end(struct tool *t)
{
    while (!list_empty(&t->sessions))
        session_free(LIST_OBJ(t->sessions.next, struct MPIR_T_pvar_session_s, link));
    for (struct list *p; (p = list_pop(&t->cvar_handles));)
        free(LIST_OBJ(p, struct MPIR_T_cvar_handle_s, link));
    proc->tool = NULL;
    free(t);
    if (phase() == PROC_FINALIZED) /* else MPI_Finalize will: what was set counts for MPI_Init */
        var_finalize();
}

int PMPI_T_finalize(void)
{
    if (!tool_holds_vars())
        return MPI_T_ERR_NOT_INITIALIZED;
    lock_acquire(&proc->lock);
    if (--proc->tool->users == 0)
        tool_end(proc->tool);
    lock_release(&proc->lock);
    return MPI_SUCCESS;
}
API_ALIAS(MPI_T_finalize);

/* Every other call: 0 and locked, or the error. */
static int enter(void)
{
    if (!tool_holds_vars())
        return MPI_T_ERR_NOT_INITIALIZED;
    lock_acquire(&proc->lock);
    return MPI_SUCCESS;
}

static int leave(int err)
{
    lock_release(&proc->lock);
    return err;
}

/* Texts go out as MPI-3.1 14.3.3 says: cut to *len with a closing 0; *len becomes what all of it needs. */
static void give_text(const char *text, char *out, int *len)
{
    if (!len)
        return;
    if (out && *len > 0)
        snprintf(out, (size_t)*len, "%s", text);
    *len = (int)strlen(text) + 1;
}

static inline void give(int *out, int value)
{
    if (out)
        *out = value;
}

/* --- enumerations ----------------------------------------------------------------- */

int PMPI_T_enum_get_info(MPI_T_enum e, int *num, char *name, int *name_len)
{
    int err = enter();
    if (err)
        return err;
    if (e != &enum_switch)
        return leave(MPI_T_ERR_INVALID_HANDLE);
    give(num, e->n);
    give_text(e->name, name, name_len);
    return leave(MPI_SUCCESS);
}
API_ALIAS(MPI_T_enum_get_info);

int PMPI_T_enum_get_item(MPI_T_enum e, int index, int *value, char *name, int *name_len)
{
    int err = enter();
    if (err)
        return err;
    if (e != &enum_switch)
        return leave(MPI_T_ERR_INVALID_HANDLE);
    if (index < 0 || index >= e->n)
        return leave(MPI_T_ERR_INVALID_INDEX);
    give(value, index);
    give_text(e->item[index], name, name_len);
    return leave(MPI_SUCCESS);
}
API_ALIAS(MPI_T_enum_get_item);

/* --- control variables ---------------------------------------------------------------- */

/* Numbers that fit an int are shown as ints, which is what most tools expect. */
static MPI_Datatype cvar_type(const struct cvar_info *c)
{
    if (c->kind == CVAR_STR)
        return MPI_CHAR;
    return c->kind == CVAR_BOOL || (c->min >= INT_MIN && c->max <= INT_MAX) ? MPI_INT : MPI_COUNT;
}

static int cvar_writable(const struct cvar_info *c)
{
    return phase() == PROC_NEW || c->scope == CVAR_LIVE;
}

static int cvar_scope_of(const struct cvar_info *c)
{
    if (!cvar_writable(c))
        return MPI_T_SCOPE_READONLY;
    return c->scope == CVAR_GLOBAL_EQ ? MPI_T_SCOPE_ALL_EQ : MPI_T_SCOPE_LOCAL;
}

int PMPI_T_cvar_get_num(int *num)
{
    int err = enter();
    if (err)
        return err;
    give(num, cvar_count);
    return leave(num ? MPI_SUCCESS : MPI_T_ERR_INVALID);
}
API_ALIAS(MPI_T_cvar_get_num);

int PMPI_T_cvar_get_info(int index, char *name, int *name_len, int *verbosity, MPI_Datatype *type,
                         MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope)
{
    int err = enter();
    if (err)
        return err;
    if (index < 0 || index >= cvar_count)
        return leave(MPI_T_ERR_INVALID_INDEX);
    const struct cvar_info *c = &cvar_table[index];
    give_text(c->name, name, name_len);
    give_text(c->text, desc, desc_len);
    give(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    give(type, cvar_type(c));
    if (enumtype)
        *enumtype = c->kind == CVAR_BOOL ? (MPI_T_enum)(uintptr_t)&enum_switch : MPI_T_ENUM_NULL;
    give(bind, MPI_T_BIND_NO_OBJECT);
    give(scope, cvar_scope_of(c));
    return leave(MPI_SUCCESS);
}
API_ALIAS(MPI_T_cvar_get_info);

int PMPI_T_cvar_get_index(const char *name, int *index)
{
    int err = enter();
    if (err)
        return err;
    if (!name || !index)
        return leave(MPI_T_ERR_INVALID);
    int i = cvar_find(name);
    if (i < 0)
        return leave(MPI_T_ERR_INVALID_NAME);
    *index = i;
    return leave(MPI_SUCCESS);
}
API_ALIAS(MPI_T_cvar_get_index);

static int on_list(const struct list *head, const struct list *item)
{
    for (const struct list *p = head->next; p != head; p = p->next)
        if (p == item)
            return 1;
    return 0;
}

static int known_cvar(MPI_T_cvar_handle h)
{
    return h && on_list(&proc->tool->cvar_handles, &h->link);
}

int PMPI_T_cvar_handle_alloc(int index, void *object, MPI_T_cvar_handle *handle, int *count)
{
    (void)object; /* no variable is bound to one */
    int err = enter();
    if (err)
        return err;
    if (!handle || !count)
        return leave(MPI_T_ERR_INVALID);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    if (index < 0 || index >= cvar_count)
        return leave(MPI_T_ERR_INVALID_INDEX);
    struct MPIR_T_cvar_handle_s *h = calloc(1, sizeof *h);
    if (!h)
        return leave(MPI_T_ERR_OUT_OF_HANDLES);
    h->index = index;
    list_push(&proc->tool->cvar_handles, &h->link);
    *handle = h;
    *count = cvar_table[index].kind == CVAR_STR ? TEXT_MAX : 1;
    return leave(MPI_SUCCESS);
}
API_ALIAS(MPI_T_cvar_handle_alloc);

int PMPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    int err = enter();
    if (err)
        return err;
    if (!handle || !known_cvar(*handle))
        return leave(MPI_T_ERR_INVALID_HANDLE);
    list_del(&(*handle)->link);
    free(*handle);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return leave(MPI_SUCCESS);
}
API_ALIAS(MPI_T_cvar_handle_free);

int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
    int err = enter();
    if (err)
        return err;
    if (!known_cvar(handle))
        return leave(MPI_T_ERR_INVALID_HANDLE);
    if (!buf)
        return leave(MPI_T_ERR_INVALID);
    const struct cvar_info *c = &cvar_table[handle->index];
    MPI_Datatype type = cvar_type(c);
    if (type == MPI_CHAR)
        snprintf(buf, TEXT_MAX, "%s", *(const char **)c->value);
    else if (type == MPI_INT)
        *(int *)buf = (int)*(const int64_t *)c->value;
    else
        *(MPI_Count *)buf = *(const int64_t *)c->value;
    return leave(MPI_SUCCESS);
}
API_ALIAS(MPI_T_cvar_read);

int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
    char text[TEXT_MAX], why[256];
    int err = enter();
    if (err)
        return err;
    if (!known_cvar(handle))
        return leave(MPI_T_ERR_INVALID_HANDLE);
    if (!buf)
        return leave(MPI_T_ERR_INVALID);
    const struct cvar_info *c = &cvar_table[handle->index];
    if (!cvar_writable(c))
        return leave(MPI_T_ERR_CVAR_SET_NEVER);
    /* By way of text, so that the range is checked where the environment's is. */
    MPI_Datatype type = cvar_type(c);
    if (type == MPI_CHAR)
        snprintf(text, sizeof text, "%s", (const char *)buf);
    else
        snprintf(text, sizeof text, "%lld", type == MPI_INT ? (long long)*(const int *)buf
                                                            : (long long)*(const MPI_Count *)buf);
    return leave(cvar_set(c->name, text, why, sizeof why) ? MPI_T_ERR_INVALID : MPI_SUCCESS);
}
API_ALIAS(MPI_T_cvar_write);

/* --- performance variables ------------------------------------------------------------------ */

/* The variables that windows keep are there twice: index i sums over all windows, and one after the table, with
 * "_win" after its name, is bound to a window. */
static int pvar_total(void)
{
    int n = PVAR_COUNT;
    for (int i = 0; i < PVAR_COUNT; i++)
        n += pvar_table[i].bind == PVAR_WIN;
    return n;
}

/* Row of variable `index`; *bound: of one window.  -1: there is none. */
static int pvar_row(int index, int *bound)
{
    *bound = index >= PVAR_COUNT;
    if (index < PVAR_COUNT)
        return index < 0 ? -1 : index;
    int k = index - PVAR_COUNT;
    for (int i = 0; i < PVAR_COUNT; i++)
        if (pvar_table[i].bind == PVAR_WIN && k-- == 0)
            return i;
    return -1;
}

static void pvar_name(int row, int bound, char *out, size_t len)
{
    snprintf(out, len, "%s%s", pvar_table[row].name, bound ? "_win" : "");
}

static int pvar_class_of(const struct pvar_info *p)
{
    static const int classes[] = {[PVAR_COUNTER] = MPI_T_PVAR_CLASS_COUNTER,
                                  [PVAR_LEVEL] = MPI_T_PVAR_CLASS_LEVEL,
                                  [PVAR_HIGHWATER] = MPI_T_PVAR_CLASS_HIGHWATERMARK,
                                  [PVAR_SIZE] = MPI_T_PVAR_CLASS_SIZE};
    return classes[p->cls];
}

int PMPI_T_pvar_get_num(int *num)
{
    int err = enter();
    if (err)
        return err;
    give(num, pvar_total());
    return leave(num ? MPI_SUCCESS : MPI_T_ERR_INVALID);
}
API_ALIAS(MPI_T_pvar_get_num);

int PMPI_T_pvar_get_info(int index, char *name, int *name_len, int *verbosity, int *class,
                         MPI_Datatype *type, MPI_T_enum *enumtype, char *desc, int *desc_len,
                         int *bind, int *readonly, int *continuous, int *atomic)
{
    int err = enter();
    if (err)
        return err;
    char full[TEXT_MAX];
    int bound, row = pvar_row(index, &bound);
    if (row < 0)
        return leave(MPI_T_ERR_INVALID_INDEX);
    const struct pvar_info *p = &pvar_table[row];
    pvar_name(row, bound, full, sizeof full);
    give_text(full, name, name_len);
    give_text(p->text, desc, desc_len);
    give(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    give(class, pvar_class_of(p));
    give(type, MPI_UNSIGNED_LONG_LONG);
    if (enumtype)
        *enumtype = MPI_T_ENUM_NULL;
    give(bind, bound ? MPI_T_BIND_MPI_WIN : MPI_T_BIND_NO_OBJECT);
    give(readonly, p->cls != PVAR_COUNTER);
    give(continuous, 1);
    give(atomic, p->cls == PVAR_COUNTER);
    return leave(MPI_SUCCESS);
}
API_ALIAS(MPI_T_pvar_get_info);

int PMPI_T_pvar_get_index(const char *name, int class, int *index)
{
    int err = enter();
    if (err)
        return err;
    if (!name || !index)
        return leave(MPI_T_ERR_INVALID);
    char full[TEXT_MAX];
    int bound;
    for (int i = 0, n = pvar_total(); i < n; i++) {
        int row = pvar_row(i, &bound);
        pvar_name(row, bound, full, sizeof full);
        if (strcmp(full, name) || pvar_class_of(&pvar_table[row]) != class)
            continue;
        *index = i;
        return leave(MPI_SUCCESS);
    }
    return leave(MPI_T_ERR_INVALID_NAME);
}
API_ALIAS(MPI_T_pvar_get_index);

static int known_session(MPI_T_pvar_session s)
{
    return s && on_list(&proc->tool->sessions, &s->link);
}

int PMPI_T_pvar_session_create(MPI_T_pvar_session *session)
{
    int err = enter();
    if (err)
        return err;
    if (!session)
        return leave(MPI_T_ERR_INVALID);
    struct MPIR_T_pvar_session_s *s = calloc(1, sizeof *s);
    if (!s)
        return leave(MPI_T_ERR_OUT_OF_SESSIONS);
    list_init(&s->handles);
    list_push(&proc->tool->sessions, &s->link);
    *session = s;
    return leave(MPI_SUCCESS);
}
API_ALIAS(MPI_T_pvar_session_create);

int PMPI_T_pvar_session_free(MPI_T_pvar_session *session)
{
    int err = enter();
    if (err)
        return err;
    if (!session || !known_session(*session))
        return leave(MPI_T_ERR_INVALID_SESSION);
    session_free(*session);
    *session = MPI_T_PVAR_SESSION_NULL;
    return leave(MPI_SUCCESS);
}
API_ALIAS(MPI_T_pvar_session_free);

/* A handle of this session; `all` lets MPI_T_PVAR_ALL_HANDLES pass. */
static int pvar_arg(MPI_T_pvar_session session, MPI_T_pvar_handle h, int all)
{
    if (!known_session(session))
        return MPI_T_ERR_INVALID_SESSION;
    if (h == MPI_T_PVAR_ALL_HANDLES)
        return all ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
    return h && on_list(&session->handles, &h->link) ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void *object,
                             MPI_T_pvar_handle *handle, int *count)
{
    int err = enter(), bound, row;
    if (err)
        return err;
    if (!known_session(session))
        return leave(MPI_T_ERR_INVALID_SESSION);
    if (!handle || !count)
        return leave(MPI_T_ERR_INVALID);
    *handle = MPI_T_PVAR_HANDLE_NULL;
    if ((row = pvar_row(index, &bound)) < 0)
        return leave(MPI_T_ERR_INVALID_INDEX);
    if (bound && (!object || !proc->obj || !obj_find(OBJ_WIN, *(MPI_Win *)object)))
        return leave(MPI_T_ERR_INVALID_HANDLE);
    struct MPIR_T_pvar_handle_s *h = calloc(1, sizeof *h);
    if (!h)
        return leave(MPI_T_ERR_OUT_OF_HANDLES);
    h->index = row;
    h->window = bound ? *(MPI_Win *)object : MPI_WIN_NULL;
    list_push(&session->handles, &h->link);
    *handle = h;
    *count = 1;
    return leave(MPI_SUCCESS);
}
API_ALIAS(MPI_T_pvar_handle_alloc);

int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    int err = enter();
    if (err)
        return err;
    err = handle ? pvar_arg(session, *handle, 0) : MPI_T_ERR_INVALID_HANDLE;
    if (!err) {
        list_del(&(*handle)->link);
        free(*handle);
        *handle = MPI_T_PVAR_HANDLE_NULL;
    }
    return leave(err);
}
API_ALIAS(MPI_T_pvar_handle_free);

/* All variables are continuous: they run whether asked or not. */
static int startstop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    int err = enter();
    if (err)
        return err;
    err = pvar_arg(session, handle, 1);
    if (!err && handle != MPI_T_PVAR_ALL_HANDLES)
        err = MPI_T_ERR_PVAR_NO_STARTSTOP;
    return leave(err);
}

int PMPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return startstop(session, handle);
}
API_ALIAS(MPI_T_pvar_start);

int PMPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return startstop(session, handle);
}
API_ALIAS(MPI_T_pvar_stop);

static uint64_t pvar_now(const struct MPIR_T_pvar_handle_s *h)
{
    if (h->window != MPI_WIN_NULL) {
        struct rma_win *w = proc->obj ? obj_find(OBJ_WIN, h->window) : NULL;
        return w ? atomic_load_explicit(&rma_win_pvars(w)->v[h->index], memory_order_relaxed) : h->base;
    }
    /* Windows count for themselves. */
    if (proc->rma && pvar_table[h->index].bind == PVAR_WIN)
        rma_pvars_collect();
    /* Nothing was counted where no library runs. */
    return proc->var ? atomic_load_explicit(&pvar_proc()->v[h->index], memory_order_relaxed) : 0;
}

static int is_counter(const struct MPIR_T_pvar_handle_s *h)
{
    return pvar_table[h->index].cls == PVAR_COUNTER;
}

int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    int err = enter();
    if (err)
        return err;
    err = pvar_arg(session, handle, 0);
    if (!err && !buf)
        err = MPI_T_ERR_INVALID;
    if (!err)
        *(unsigned long long *)buf = pvar_now(handle) - handle->base;
    return leave(err);
}
API_ALIAS(MPI_T_pvar_read);

int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf)
{
    int err = enter();
    if (err)
        return err;
    err = pvar_arg(session, handle, 0);
    if (!err && !is_counter(handle))
        err = MPI_T_ERR_PVAR_NO_WRITE;
    if (!err && !buf)
        err = MPI_T_ERR_INVALID;
    if (!err)
        handle->base = pvar_now(handle) - *(const unsigned long long *)buf;
    return leave(err);
}
API_ALIAS(MPI_T_pvar_write);

int PMPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    int err = enter();
    if (err)
        return err;
    err = pvar_arg(session, handle, 1);
    if (!err && handle == MPI_T_PVAR_ALL_HANDLES) {
        for (struct list *p = session->handles.next; p != &session->handles; p = p->next) {
            struct MPIR_T_pvar_handle_s *h = LIST_OBJ(p, struct MPIR_T_pvar_handle_s, link);
            if (is_counter(h))
                h->base = pvar_now(h);
        }
    } else if (!err && !is_counter(handle)) {
        err = MPI_T_ERR_PVAR_NO_WRITE;
    } else if (!err) {
        handle->base = pvar_now(handle);
    }
    return leave(err);
}
API_ALIAS(MPI_T_pvar_reset);

int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    int err = enter();
    if (err)
        return err;
    err = pvar_arg(session, handle, 0);
    if (!err && !is_counter(handle))
        err = MPI_T_ERR_PVAR_NO_ATOMIC;
    if (!err && !buf)
        err = MPI_T_ERR_INVALID;
    if (!err) {
        uint64_t now = pvar_now(handle);
        *(unsigned long long *)buf = now - handle->base;
        handle->base = now;
    }
    return leave(err);
}
API_ALIAS(MPI_T_pvar_readreset);

/* --- categories: the rooms ----------------------------------------------------------------------
 * Room number k is the k-th different one of the control variables' rows; a performance variable belongs to the
 * room its name begins with. */

static const char *room_name(int k)
{
    for (int i = 0; i < cvar_count; i++) {
        int j = 0;
        while (j < i && strcmp(cvar_table[j].room, cvar_table[i].room))
            j++;
        if (j == i && k-- == 0)
            return cvar_table[i].room;
    }
    return NULL;
}

static int room_count(void)
{
    int n = 0;
    while (room_name(n))
        n++;
    return n;
}

static int cvar_in(int i, const char *room)
{
    return !strcmp(cvar_table[i].room, room);
}

static int pvar_in(int i, const char *room)
{
    size_t n = strlen(room);
    return !strncmp(pvar_table[i].name, room, n) && pvar_table[i].name[n] == '_';
}

/* Indexes of the members, as many as there is room for; the number of all. */
static int members(int n, int (*in)(int, const char *), const char *room, int len, int *out)
{
    int found = 0;
    for (int i = 0; i < n; i++)
        if (in(i, room)) {
            if (found < len)
                out[found] = i;
            found++;
        }
    return found;
}

int PMPI_T_category_get_num(int *num)
{
    int err = enter();
    if (err)
        return err;
    give(num, room_count());
    return leave(num ? MPI_SUCCESS : MPI_T_ERR_INVALID);
}
API_ALIAS(MPI_T_category_get_num);

int PMPI_T_category_get_info(int index, char *name, int *name_len, char *desc, int *desc_len,
                             int *ncvars, int *npvars, int *ncategories)
{
    char text[128];
    int err = enter();
    if (err)
        return err;
    const char *room = index < 0 ? NULL : room_name(index);
    if (!room)
        return leave(MPI_T_ERR_INVALID_INDEX);
    snprintf(text, sizeof text, "Variables of the part of the library called %s.", room);
    give_text(room, name, name_len);
    give_text(text, desc, desc_len);
    give(ncvars, members(cvar_count, cvar_in, room, 0, NULL));
    give(npvars, members(PVAR_COUNT, pvar_in, room, 0, NULL));
    give(ncategories, 0);
    return leave(MPI_SUCCESS);
}
API_ALIAS(MPI_T_category_get_info);

int PMPI_T_category_get_index(const char *name, int *index)
{
    int err = enter();
    if (err)
        return err;
    if (!name || !index)
        return leave(MPI_T_ERR_INVALID);
    const char *room;
    for (int k = 0; (room = room_name(k)); k++)
        if (!strcmp(room, name)) {
            *index = k;
            return leave(MPI_SUCCESS);
        }
    return leave(MPI_T_ERR_INVALID_NAME);
}
API_ALIAS(MPI_T_category_get_index);

static int category_list(int index, int n, int (*in)(int, const char *), int len, int *indices)
{
    int err = enter();
    if (err)
        return err;
    const char *room = index < 0 ? NULL : room_name(index);
    if (!room)
        return leave(MPI_T_ERR_INVALID_INDEX);
    if (len < 0 || (len > 0 && !indices))
        return leave(MPI_T_ERR_INVALID);
    members(n, in, room, len, indices);
    return leave(MPI_SUCCESS);
}

int PMPI_T_category_get_cvars(int index, int len, int indices[])
{
    return category_list(index, cvar_count, cvar_in, len, indices);
}
API_ALIAS(MPI_T_category_get_cvars);

int PMPI_T_category_get_pvars(int index, int len, int indices[])
{
    return category_list(index, PVAR_COUNT, pvar_in, len, indices);
}
API_ALIAS(MPI_T_category_get_pvars);

int PMPI_T_category_get_categories(int index, int len, int indices[])
{
    return category_list(index, 0, cvar_in, len, indices);
}
API_ALIAS(MPI_T_category_get_categories);

int PMPI_T_category_get_num_events(int index, int *num)
{
    int err = enter();
    if (err)
        return err;
    give(num, 0);
    return leave(index >= 0 && room_name(index) ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX);
}
API_ALIAS(MPI_T_category_get_num_events);

int PMPI_T_category_get_events(int index, int len, int indices[])
{
    return category_list(index, 0, cvar_in, len, indices);
}
API_ALIAS(MPI_T_category_get_events);

int PMPI_T_category_changed(int *update)
{
    int err = enter();
    if (err)
        return err;
    give(update, 1); /* never again */
    return leave(update ? MPI_SUCCESS : MPI_T_ERR_INVALID);
}
API_ALIAS(MPI_T_category_changed);

/* --- events: there are none ----------------------------------------------------------------------- */

static int no_event(int code)
{
    int err = enter();
    return err ? err : leave(code);
}

int PMPI_T_event_get_num(int *num)
{
    give(num, 0);
    return no_event(MPI_SUCCESS);
}
API_ALIAS(MPI_T_event_get_num);

int PMPI_T_event_get_info(int index, char *name, int *name_len, int *verbosity,
                          MPI_Datatype types[], MPI_Aint displacements[], int *nelements,
                          MPI_T_enum *enumtype, MPI_Info *info, char *desc, int *desc_len,
                          int *bind)
{
    return no_event(MPI_T_ERR_INVALID_INDEX);
}
API_ALIAS(MPI_T_event_get_info);

int PMPI_T_event_get_index(const char *name, int *index)
{
    return no_event(MPI_T_ERR_INVALID_NAME);
}
API_ALIAS(MPI_T_event_get_index);

int PMPI_T_event_handle_alloc(int index, void *object, MPI_Info info,
                              MPI_T_event_registration *registration)
{
    return no_event(MPI_T_ERR_INVALID_INDEX);
}
API_ALIAS(MPI_T_event_handle_alloc);

int PMPI_T_event_handle_free(MPI_T_event_registration registration, void *user_data,
                             MPI_T_event_free_cb_function fn)
{
    return no_event(MPI_T_ERR_INVALID_HANDLE);
}
API_ALIAS(MPI_T_event_handle_free);

int PMPI_T_event_handle_get_info(MPI_T_event_registration registration, MPI_Info *info)
{
    return no_event(MPI_T_ERR_INVALID_HANDLE);
}
API_ALIAS(MPI_T_event_handle_get_info);

int PMPI_T_event_handle_set_info(MPI_T_event_registration registration, MPI_Info info)
{
    return no_event(MPI_T_ERR_INVALID_HANDLE);
}
API_ALIAS(MPI_T_event_handle_set_info);

int PMPI_T_event_register_callback(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                                   MPI_Info info, void *user_data, MPI_T_event_cb_function fn)
{
    return no_event(MPI_T_ERR_INVALID_HANDLE);
}
API_ALIAS(MPI_T_event_register_callback);

int PMPI_T_event_callback_get_info(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                                   MPI_Info *info)
{
    return no_event(MPI_T_ERR_INVALID_HANDLE);
}
API_ALIAS(MPI_T_event_callback_get_info);

int PMPI_T_event_callback_set_info(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                                   MPI_Info info)
{
    return no_event(MPI_T_ERR_INVALID_HANDLE);
}
API_ALIAS(MPI_T_event_callback_set_info);

int PMPI_T_event_set_dropped_handler(MPI_T_event_registration registration,
                                     MPI_T_event_dropped_cb_function fn)
{
    return no_event(MPI_T_ERR_INVALID_HANDLE);
}
API_ALIAS(MPI_T_event_set_dropped_handler);

int PMPI_T_event_read(MPI_T_event_instance event, int element, void *buffer)
{
    return no_event(MPI_T_ERR_INVALID_HANDLE);
}
API_ALIAS(MPI_T_event_read);

int PMPI_T_event_copy(MPI_T_event_instance event, void *buffer)
{
    return no_event(MPI_T_ERR_INVALID_HANDLE);
}
API_ALIAS(MPI_T_event_copy);

int PMPI_T_event_get_timestamp(MPI_T_event_instance event, MPI_Count *timestamp)
{
    return no_event(MPI_T_ERR_INVALID_HANDLE);
}
API_ALIAS(MPI_T_event_get_timestamp);

int PMPI_T_event_get_source(MPI_T_event_instance event, int *source)
{
    return no_event(MPI_T_ERR_INVALID_HANDLE);
}
API_ALIAS(MPI_T_event_get_source);

int PMPI_T_source_get_num(int *num)
{
    give(num, 0);
    return no_event(MPI_SUCCESS);
}
API_ALIAS(MPI_T_source_get_num);

int PMPI_T_source_get_info(int index, char *name, int *name_len, char *desc, int *desc_len,
                           MPI_T_source_order *ordering, MPI_Count *ticks, MPI_Count *max_ticks,
                           MPI_Info *info)
{
    return no_event(MPI_T_ERR_INVALID_INDEX);
}
API_ALIAS(MPI_T_source_get_info);

int PMPI_T_source_get_timestamp(int index, MPI_Count *timestamp)
{
    return no_event(MPI_T_ERR_INVALID_INDEX);
}
API_ALIAS(MPI_T_source_get_timestamp);

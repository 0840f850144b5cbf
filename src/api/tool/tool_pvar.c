/* tool_pvar.c - MPI_T: performance variables. Start with PMPI_T_pvar_handle_alloc() and
 * pvar_now(). */
#include "api/api.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/tool/tool.h"
#include "rma/rma.h"
#include "var/var.h"

/* The signatures are given from outside; not every function needs all of its own. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* A variable counted per window appears twice: index i is the sum over all windows; the one after
 * the table, named "..._win", is bound to a window. One with a value for each member of a window is
 * bound to it, and appears once. */
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
    if (index < 0)
        return -1;
    if (index < PVAR_COUNT) {
        *bound = pvar_table[index].bind == PVAR_TARGET;
        return index;
    }
    int k = index - PVAR_COUNT;
    for (int i = 0; i < PVAR_COUNT; i++)
        if (pvar_table[i].bind == PVAR_WIN && k-- == 0)
            return i;
    return -1;
}

static void pvar_name(int row, int bound, char *out, size_t len)
{
    int one = bound && pvar_table[row].bind == PVAR_WIN;
    snprintf(out, len, "%s%s", pvar_table[row].name, one ? "_win" : "");
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
    int err = tool_enter();
    if (err)
        return err;
    tool_give(num, pvar_total());
    return tool_exit(num ? MPI_SUCCESS : MPI_T_ERR_INVALID);
}
API_ALIAS(MPI_T_pvar_get_num);

int PMPI_T_pvar_get_info(int index, char *name, int *name_len, int *verbosity, int *class,
                         MPI_Datatype *type, MPI_T_enum *enumtype, char *desc, int *desc_len,
                         int *bind, int *readonly, int *continuous, int *atomic)
{
    int err = tool_enter();
    if (err)
        return err;
    char full[TEXT_MAX];
    int bound, row = pvar_row(index, &bound);
    if (row < 0)
        return tool_exit(MPI_T_ERR_INVALID_INDEX);
    const struct pvar_info *p = &pvar_table[row];
    pvar_name(row, bound, full, sizeof full);
    tool_give_text(full, name, name_len);
    tool_give_text(p->text, desc, desc_len);
    tool_give(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    tool_give(class, pvar_class_of(p));
    tool_give(type, MPI_UNSIGNED_LONG_LONG);
    if (enumtype)
        *enumtype = MPI_T_ENUM_NULL;
    tool_give(bind, bound ? MPI_T_BIND_MPI_WIN : MPI_T_BIND_NO_OBJECT);
    tool_give(readonly, p->cls != PVAR_COUNTER);
    tool_give(continuous, 1);
    tool_give(atomic, p->cls == PVAR_COUNTER);
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_pvar_get_info);

int PMPI_T_pvar_get_index(const char *name, int class, int *index)
{
    int err = tool_enter();
    if (err)
        return err;
    if (!name || !index)
        return tool_exit(MPI_T_ERR_INVALID);
    char full[TEXT_MAX];
    int bound;
    for (int i = 0, n = pvar_total(); i < n; i++) {
        int row = pvar_row(i, &bound);
        pvar_name(row, bound, full, sizeof full);
        if (strcmp(full, name) || pvar_class_of(&pvar_table[row]) != class)
            continue;
        *index = i;
        return tool_exit(MPI_SUCCESS);
    }
    return tool_exit(MPI_T_ERR_INVALID_NAME);
}
API_ALIAS(MPI_T_pvar_get_index);

static int known_session(MPI_T_pvar_session s)
{
    return s && tool_on_list(&proc->tool->sessions, &s->link);
}

int PMPI_T_pvar_session_create(MPI_T_pvar_session *session)
{
    int err = tool_enter();
    if (err)
        return err;
    if (!session)
        return tool_exit(MPI_T_ERR_INVALID);
    struct MPIR_T_pvar_session_s *s = calloc(1, sizeof *s);
    if (!s)
        return tool_exit(MPI_T_ERR_OUT_OF_SESSIONS);
    list_init(&s->handles);
    list_push(&proc->tool->sessions, &s->link);
    *session = s;
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_pvar_session_create);

int PMPI_T_pvar_session_free(MPI_T_pvar_session *session)
{
    int err = tool_enter();
    if (err)
        return err;
    if (!session || !known_session(*session))
        return tool_exit(MPI_T_ERR_INVALID_SESSION);
    tool_session_free(*session);
    *session = MPI_T_PVAR_SESSION_NULL;
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_pvar_session_free);

/* A handle of this session; `all` lets MPI_T_PVAR_ALL_HANDLES pass. */
static int pvar_arg(MPI_T_pvar_session session, MPI_T_pvar_handle h, int all)
{
    if (!known_session(session))
        return MPI_T_ERR_INVALID_SESSION;
    if (h == MPI_T_PVAR_ALL_HANDLES)
        return all ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
    return h && tool_on_list(&session->handles, &h->link) ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void *object,
                             MPI_T_pvar_handle *handle, int *count)
{
    int err = tool_enter(), bound, row;
    if (err)
        return err;
    if (!known_session(session))
        return tool_exit(MPI_T_ERR_INVALID_SESSION);
    if (!handle || !count)
        return tool_exit(MPI_T_ERR_INVALID);
    *handle = MPI_T_PVAR_HANDLE_NULL;
    if ((row = pvar_row(index, &bound)) < 0)
        return tool_exit(MPI_T_ERR_INVALID_INDEX);
    struct rma_win *w = bound && object && proc->obj ? obj_find(OBJ_WIN, *(MPI_Win *)object) : NULL;
    if (bound && !w)
        return tool_exit(MPI_T_ERR_INVALID_HANDLE);
    struct MPIR_T_pvar_handle_s *h = calloc(1, sizeof *h);
    if (!h)
        return tool_exit(MPI_T_ERR_OUT_OF_HANDLES);
    h->index = row;
    h->window = bound ? *(MPI_Win *)object : MPI_WIN_NULL;
    h->id = w ? rma_win_id(w) : 0;
    h->count = pvar_table[row].bind == PVAR_TARGET ? rma_win_size(w) : 1;
    if (row >= PVAR_RMA_WAIT_LOCK && row <= PVAR_RMA_WAIT_NOTIFY && proc->rma &&
        rma_time_waits()) {
        free(h);
        return tool_exit(MPI_T_ERR_MEMORY);
    }
    list_push(&session->handles, &h->link);
    *handle = h;
    *count = h->count;
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_pvar_handle_alloc);

int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    int err = tool_enter();
    if (err)
        return err;
    err = handle ? pvar_arg(session, *handle, 0) : MPI_T_ERR_INVALID_HANDLE;
    if (!err) {
        list_del(&(*handle)->link);
        free(*handle);
        *handle = MPI_T_PVAR_HANDLE_NULL;
    }
    return tool_exit(err);
}
API_ALIAS(MPI_T_pvar_handle_free);

/* All variables are continuous: they always run. */
static int startstop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    int err = tool_enter();
    if (err)
        return err;
    err = pvar_arg(session, handle, 1);
    if (!err && handle != MPI_T_PVAR_ALL_HANDLES)
        err = MPI_T_ERR_PVAR_NO_STARTSTOP;
    return tool_exit(err);
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

/* The window of h; NULL: it is gone, or revoked. */
static struct rma_win *window_of(const struct MPIR_T_pvar_handle_s *h)
{
    struct rma_win *w = proc->obj ? obj_find(OBJ_WIN, h->window) : NULL;
    return w && rma_win_id(w) == h->id ? w : NULL;
}

static uint64_t pvar_now(const struct MPIR_T_pvar_handle_s *h)
{
    if (h->window != MPI_WIN_NULL) {
        struct rma_win *w = window_of(h);
        return w ? rma_win_pvar(w, h->index)
                 : h->base;
    }
    /* Windows have counters of their own. */
    if (proc->rma && pvar_table[h->index].bind == PVAR_WIN)
        rma_pvars_collect();
    /* Without a running library, nothing was counted. */
    return proc->var ? atomic_load_explicit(&pvar_proc()->v[h->index], memory_order_relaxed) : 0;
}

static int is_counter(const struct MPIR_T_pvar_handle_s *h)
{
    return pvar_table[h->index].cls == PVAR_COUNTER;
}

/* One value for each member. No value stands for a window that is gone: 0 has a meaning. */
static int targets_now(const struct MPIR_T_pvar_handle_s *h, unsigned long long *out)
{
    const struct rma_win *w = window_of(h);
    if (!w)
        return MPI_T_ERR_INVALID_HANDLE;
    for (int i = 0; i < h->count; i++)
        out[i] = rma_win_pvar_at(w, h->index, i);
    return MPI_SUCCESS;
}

int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    int err = tool_enter();
    if (err)
        return err;
    err = pvar_arg(session, handle, 0);
    if (!err && !buf)
        err = MPI_T_ERR_INVALID;
    if (!err && pvar_table[handle->index].bind == PVAR_TARGET)
        err = targets_now(handle, buf);
    else if (!err)
        *(unsigned long long *)buf = pvar_now(handle) - handle->base;
    return tool_exit(err);
}
API_ALIAS(MPI_T_pvar_read);

int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf)
{
    int err = tool_enter();
    if (err)
        return err;
    err = pvar_arg(session, handle, 0);
    if (!err && !is_counter(handle))
        err = MPI_T_ERR_PVAR_NO_WRITE;
    if (!err && !buf)
        err = MPI_T_ERR_INVALID;
    if (!err)
        handle->base = pvar_now(handle) - *(const unsigned long long *)buf;
    return tool_exit(err);
}
API_ALIAS(MPI_T_pvar_write);

int PMPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    int err = tool_enter();
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
    return tool_exit(err);
}
API_ALIAS(MPI_T_pvar_reset);

int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    int err = tool_enter();
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
    return tool_exit(err);
}
API_ALIAS(MPI_T_pvar_readreset);

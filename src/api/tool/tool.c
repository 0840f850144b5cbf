/* tool.c - MPI_T, the tool information interface (MPI-3.1 14.3). Start with PMPI_T_init_thread()
 * and tool_enter().
 *
 * Control and performance variables are the rows of var/; a category is a room. Handles and
 * sessions are pointers, which are looked up in lists before use. Everything works before MPI_Init
 * and after MPI_Finalize, so errors are returned without a handler. proc->lock is always taken,
 * since the number of threads is unknown.
 *
 * Variables of scope LIVE may be written at any time. The others may be written until MPI_Init;
 * then their scope is MPI_T_SCOPE_READONLY. */
#include "api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_types.h"
#include "api/tool/tool.h"
#include "var/var.h"

const struct MPIR_T_enum_s tool_switch = {"switch", 2, {"off", "on"}};

int tool_holds_vars(void)
{
    return proc->tool && proc->tool->users > 0;
}

/* --- start and end ---------------------------------------------------------------- */

int tool_phase(void)
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
        list_init(&t->events);
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
        *provided = required >= MPI_THREAD_SINGLE && required <= MPI_THREAD_MULTIPLE
                        ? required
                        : MPI_THREAD_MULTIPLE;
    return err;
}
API_ALIAS(MPI_T_init_thread);

void tool_session_free(struct MPIR_T_pvar_session_s *s)
{
    for (struct list *p; (p = list_pop(&s->handles));)
        free(LIST_OBJ(p, struct MPIR_T_pvar_handle_s, link));
    list_del(&s->link);
    free(s);
}

static void tool_end(struct tool *t)
{
    tool_events_end(t);
    while (!list_empty(&t->sessions))
        tool_session_free(LIST_OBJ(t->sessions.next, struct MPIR_T_pvar_session_s, link));
    for (struct list *p; (p = list_pop(&t->cvar_handles));)
        free(LIST_OBJ(p, struct MPIR_T_cvar_handle_s, link));
    proc->tool = NULL;
    free(t);
    /* else MPI_Finalize does it: settings made here count for MPI_Init */
    if (tool_phase() == PROC_FINALIZED)
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
int tool_enter(void)
{
    if (!tool_holds_vars())
        return MPI_T_ERR_NOT_INITIALIZED;
    lock_acquire(&proc->lock);
    return MPI_SUCCESS;
}

int tool_exit(int err)
{
    lock_release(&proc->lock);
    return err;
}

/* A text is cut to *len with a terminating 0; *len becomes the size of all of it (MPI-3.1
 * 14.3.3). */
void tool_give_text(const char *text, char *out, int *len)
{
    if (!len)
        return;
    if (out && *len > 0)
        snprintf(out, (size_t)*len, "%s", text);
    *len = (int)strlen(text) + 1;
}

void tool_give(int *out, int value)
{
    if (out)
        *out = value;
}

int tool_on_list(const struct list *head, const struct list *item)
{
    for (const struct list *p = head->next; p != head; p = p->next)
        if (p == item)
            return 1;
    return 0;
}

/* --- enumerations ----------------------------------------------------------------- */

int PMPI_T_enum_get_info(MPI_T_enum e, int *num, char *name, int *name_len)
{
    int err = tool_enter();
    if (err)
        return err;
    if (e != &tool_switch)
        return tool_exit(MPI_T_ERR_INVALID_HANDLE);
    tool_give(num, e->n);
    tool_give_text(e->name, name, name_len);
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_enum_get_info);

int PMPI_T_enum_get_item(MPI_T_enum e, int index, int *value, char *name, int *name_len)
{
    int err = tool_enter();
    if (err)
        return err;
    if (e != &tool_switch)
        return tool_exit(MPI_T_ERR_INVALID_HANDLE);
    if (index < 0 || index >= e->n)
        return tool_exit(MPI_T_ERR_INVALID_INDEX);
    tool_give(value, index);
    tool_give_text(e->item[index], name, name_len);
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_enum_get_item);

/* tool_cvar.c - MPI_T: control variables. Start with PMPI_T_cvar_handle_alloc(). */
#include "api/api.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/tool/tool.h"
#include "var/var.h"

/* The signatures are given from outside; not every function needs all of its own. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Numbers that fit an int are shown as ints, which is what most tools expect. */
static MPI_Datatype cvar_type(const struct cvar_info *c)
{
    if (c->kind == CVAR_STR)
        return MPI_CHAR;
    return c->kind == CVAR_BOOL || (c->min >= INT_MIN && c->max <= INT_MAX) ? MPI_INT : MPI_COUNT;
}

static int cvar_writable(const struct cvar_info *c)
{
    return tool_phase() == PROC_NEW || c->scope == CVAR_LIVE;
}

static int cvar_scope_of(const struct cvar_info *c)
{
    if (!cvar_writable(c))
        return MPI_T_SCOPE_READONLY;
    return c->scope == CVAR_GLOBAL_EQ ? MPI_T_SCOPE_ALL_EQ : MPI_T_SCOPE_LOCAL;
}

int PMPI_T_cvar_get_num(int *num)
{
    int err = tool_enter();
    if (err)
        return err;
    tool_give(num, cvar_count);
    return tool_exit(num ? MPI_SUCCESS : MPI_T_ERR_INVALID);
}
API_ALIAS(MPI_T_cvar_get_num);

int PMPI_T_cvar_get_info(int index, char *name, int *name_len, int *verbosity, MPI_Datatype *type,
                         MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope)
{
    int err = tool_enter();
    if (err)
        return err;
    if (index < 0 || index >= cvar_count)
        return tool_exit(MPI_T_ERR_INVALID_INDEX);
    const struct cvar_info *c = &cvar_table[index];
    tool_give_text(c->name, name, name_len);
    tool_give_text(c->text, desc, desc_len);
    tool_give(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    tool_give(type, cvar_type(c));
    if (enumtype)
        *enumtype = c->kind == CVAR_BOOL ? (MPI_T_enum)(uintptr_t)&tool_switch : MPI_T_ENUM_NULL;
    tool_give(bind, MPI_T_BIND_NO_OBJECT);
    tool_give(scope, cvar_scope_of(c));
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_cvar_get_info);

int PMPI_T_cvar_get_index(const char *name, int *index)
{
    int err = tool_enter();
    if (err)
        return err;
    if (!name || !index)
        return tool_exit(MPI_T_ERR_INVALID);
    int i = cvar_find(name);
    if (i < 0)
        return tool_exit(MPI_T_ERR_INVALID_NAME);
    *index = i;
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_cvar_get_index);

static int known_cvar(MPI_T_cvar_handle h)
{
    return h && tool_on_list(&proc->tool->cvar_handles, &h->link);
}

int PMPI_T_cvar_handle_alloc(int index, void *object, MPI_T_cvar_handle *handle, int *count)
{
    (void)object; /* no variable is bound to one */
    int err = tool_enter();
    if (err)
        return err;
    if (!handle || !count)
        return tool_exit(MPI_T_ERR_INVALID);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    if (index < 0 || index >= cvar_count)
        return tool_exit(MPI_T_ERR_INVALID_INDEX);
    struct MPIR_T_cvar_handle_s *h = calloc(1, sizeof *h);
    if (!h)
        return tool_exit(MPI_T_ERR_OUT_OF_HANDLES);
    h->index = index;
    list_push(&proc->tool->cvar_handles, &h->link);
    *handle = h;
    *count = cvar_table[index].kind == CVAR_STR ? TEXT_MAX : 1;
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_cvar_handle_alloc);

int PMPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    int err = tool_enter();
    if (err)
        return err;
    if (!handle || !known_cvar(*handle))
        return tool_exit(MPI_T_ERR_INVALID_HANDLE);
    list_del(&(*handle)->link);
    free(*handle);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_cvar_handle_free);

int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
    int err = tool_enter();
    if (err)
        return err;
    if (!known_cvar(handle))
        return tool_exit(MPI_T_ERR_INVALID_HANDLE);
    if (!buf)
        return tool_exit(MPI_T_ERR_INVALID);
    const struct cvar_info *c = &cvar_table[handle->index];
    MPI_Datatype type = cvar_type(c);
    if (type == MPI_CHAR)
        snprintf(buf, TEXT_MAX, "%s", *(const char **)c->value);
    else if (type == MPI_INT)
        *(int *)buf = (int)*(const int64_t *)c->value;
    else
        *(MPI_Count *)buf = *(const int64_t *)c->value;
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_cvar_read);

int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
    char text[TEXT_MAX], why[256];
    int err = tool_enter();
    if (err)
        return err;
    if (!known_cvar(handle))
        return tool_exit(MPI_T_ERR_INVALID_HANDLE);
    if (!buf)
        return tool_exit(MPI_T_ERR_INVALID);
    const struct cvar_info *c = &cvar_table[handle->index];
    if (!cvar_writable(c))
        return tool_exit(MPI_T_ERR_CVAR_SET_NEVER);
    if (c->kind == CVAR_BOOL) { /* on: any number but 0; what was written is read back */
        *(int64_t *)c->value = *(const int *)buf;
        return tool_exit(MPI_SUCCESS);
    }
    /* Set as text, so that the range check is the same as for the environment. */
    MPI_Datatype type = cvar_type(c);
    if (type == MPI_CHAR)
        snprintf(text, sizeof text, "%s", (const char *)buf);
    else
        snprintf(text, sizeof text, "%lld", type == MPI_INT ? (long long)*(const int *)buf
                                                            : (long long)*(const MPI_Count *)buf);
    return tool_exit(cvar_set(c->name, text, why, sizeof why) ? MPI_T_ERR_INVALID : MPI_SUCCESS);
}
API_ALIAS(MPI_T_cvar_write);

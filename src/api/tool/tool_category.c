/* tool_category.c - MPI_T: categories: the rooms. Start with members(). */
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

/* Names begin with their room. */
static int begins(const char *name, const char *room)
{
    size_t n = strlen(room);
    return !strncmp(name, room, n) && name[n] == '_';
}

static int pvar_in(int i, const char *room)
{
    return begins(pvar_table[i].name, room);
}

static int event_in(int i, const char *room)
{
    return begins(tool_event_name(i), room);
}

/* Indexes of the members, as many as fit; returns the number of all. */
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
    int err = tool_enter();
    if (err)
        return err;
    tool_give(num, room_count());
    return tool_exit(num ? MPI_SUCCESS : MPI_T_ERR_INVALID);
}
API_ALIAS(MPI_T_category_get_num);

int PMPI_T_category_get_info(int index, char *name, int *name_len, char *desc, int *desc_len,
                             int *ncvars, int *npvars, int *ncategories)
{
    char text[128];
    int err = tool_enter();
    if (err)
        return err;
    const char *room = index < 0 ? NULL : room_name(index);
    if (!room)
        return tool_exit(MPI_T_ERR_INVALID_INDEX);
    snprintf(text, sizeof text, "Variables of the part of the library called %s.", room);
    tool_give_text(room, name, name_len);
    tool_give_text(text, desc, desc_len);
    tool_give(ncvars, members(cvar_count, cvar_in, room, 0, NULL));
    tool_give(npvars, members(PVAR_COUNT, pvar_in, room, 0, NULL));
    tool_give(ncategories, 0);
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_category_get_info);

int PMPI_T_category_get_index(const char *name, int *index)
{
    int err = tool_enter();
    if (err)
        return err;
    if (!name || !index)
        return tool_exit(MPI_T_ERR_INVALID);
    const char *room;
    for (int k = 0; (room = room_name(k)); k++)
        if (!strcmp(room, name)) {
            *index = k;
            return tool_exit(MPI_SUCCESS);
        }
    return tool_exit(MPI_T_ERR_INVALID_NAME);
}
API_ALIAS(MPI_T_category_get_index);

static int category_list(int index, int n, int (*in)(int, const char *), int len, int *indices)
{
    int err = tool_enter();
    if (err)
        return err;
    const char *room = index < 0 ? NULL : room_name(index);
    if (!room)
        return tool_exit(MPI_T_ERR_INVALID_INDEX);
    if (len < 0 || (len > 0 && !indices))
        return tool_exit(MPI_T_ERR_INVALID);
    members(n, in, room, len, indices);
    return tool_exit(MPI_SUCCESS);
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
    int err = tool_enter();
    if (err)
        return err;
    const char *room = index < 0 ? NULL : room_name(index);
    if (!room)
        return tool_exit(MPI_T_ERR_INVALID_INDEX);
    tool_give(num, members(tool_event_count(), event_in, room, 0, NULL));
    return tool_exit(num ? MPI_SUCCESS : MPI_T_ERR_INVALID);
}
API_ALIAS(MPI_T_category_get_num_events);

int PMPI_T_category_get_events(int index, int len, int indices[])
{
    return category_list(index, tool_event_count(), event_in, len, indices);
}
API_ALIAS(MPI_T_category_get_events);

int PMPI_T_category_changed(int *update)
{
    int err = tool_enter();
    if (err)
        return err;
    tool_give(update, 1); /* it never changes again */
    return tool_exit(update ? MPI_SUCCESS : MPI_T_ERR_INVALID);
}
API_ALIAS(MPI_T_category_changed);

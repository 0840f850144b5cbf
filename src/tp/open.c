/* open.c - the list of transports, and which networks to open. Start with tp_wanted(). */
#include "config.h"

#include "tp/tp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "boot/boot.h"
#include "tp/tp_types.h"
#include "var/var.h"

const struct tp_ops *const tp_list[] = {
    &tp_self_ops, &tp_shm_ops,
#ifdef HAVE_LIBFABRIC
    &tp_ofi_ops,
#endif
#ifdef HAVE_UCX
    &tp_ucx_ops,
#endif
    NULL,
};

struct tp_room {
    const struct tp_ops *const *list;
};

const struct tp_ops *const *tp_active(void)
{
    return proc->tp ? proc->tp->list : tp_list;
}

int tp_use(const struct tp_ops *const *list)
{
    free(proc->tp);
    proc->tp = NULL;
    if (!list)
        return 0;
    proc->tp = malloc(sizeof *proc->tp);
    if (!proc->tp)
        return -ENOMEM;
    proc->tp->list = list;
    return 0;
}

const struct tp_ops *tp_find(const char *name)
{
    for (const struct tp_ops *const *o = tp_active(); *o; o++)
        if (!strcmp((*o)->name, name))
            return *o;
    return NULL;
}

int tp_wanted(const struct tp_ops *ops, const struct tp_caps *open, const char **why)
{
    int is_auto = !strcmp(cvar.transport, "auto");
    *why = "always";
    if (ops->near)
        return 1;
    *why = "this job was spawned: its processes and those it meets are on this host";
    if (boot_first() && !boot_far())
        return 0;
    *why = "named by MPIR_CVAR_TRANSPORT";
    if (!is_auto)
        return !strcmp(cvar.transport, ops->name);
    *why = "not needed: every process is on this host";
    /* a list that a test or the simulator made must be used */
    if (!proc->tp && boot_host_processes() == boot_size() && !boot_far())
        return 0;
    *why = "the first network that opens";
    if (!open)
        return 1;
    *why = "another network comes first, and has native put";
    if (open->flags & TP_PUT)
        return 0;
    *why = "the first network with native put";
    return 1;
}

int tp_better(const struct tp_caps *open, const struct tp_caps *later)
{
    return (later->flags & TP_PUT) && !(open->flags & TP_PUT);
}

void tp_names(char *text, size_t len)
{
    size_t at = 0;
    const char *const always[] = {"auto", "shm"};
    for (int i = 0; i < 2; i++)
        at += (size_t)snprintf(text + at, at < len ? len - at : 0, "%s%s", i ? ", " : "",
                               always[i]);
    for (const struct tp_ops *const *o = tp_active(); *o && at < len; o++)
        if (!(*o)->near)
            at += (size_t)snprintf(text + at, len - at, ", %s", (*o)->name);
}

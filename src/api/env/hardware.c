/* hardware.c - hardware resources and kinds of memory (MPI-4.1 9.1.2, 7.4.2, 11.4.3).
 *
 * A resource is named hwloc://TYPE by hwloc's names of types. hwloc is asked at each call: loading
 * it takes milliseconds, and a binding may have changed. */
#include "api/env/hardware.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/topo.h"
#include "boot/boot.h"
#include "obj/attr.h"

static const char prefix[] = "hwloc://";

int PMPI_Get_hw_resource_info(MPI_Info *hw_info)
{
    api_enter("MPI_Get_hw_resource_info");
    int home[TOPO_KINDS];
    int err = api_pointer(hw_info, "hw_info");
    struct info *i = err ? NULL : info_make();
    if (!err && (!i || topo_homes(home)))
        err = err_make(MPI_ERR_OTHER, "MPI_Get_hw_resource_info: the topology cannot be read");
    for (int k = 0; !err && k < TOPO_KINDS; k++) {
        char key[32];
        snprintf(key, sizeof key, "%s%s", prefix, topo_kind_name((enum topo_kind)k));
        if (home[k] != -2 && info_put(i, key, home[k] >= 0 ? "true" : "false"))
            err = err_make(MPI_ERR_NO_MEM, "MPI_Get_hw_resource_info: no memory for the info");
    }
    if (!err)
        err = api_info_publish(i, hw_info);
    info_drop(i);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Get_hw_resource_info);

/* --- splits ------------------------------------------------------------------------------ */

/* -1: no kind has this name */
static int kind_of(const char *name)
{
    if (!strncmp(name, prefix, sizeof prefix - 1))
        name += sizeof prefix - 1;
    for (int k = 0; k < TOPO_KINDS; k++)
        if (!strcmp(name, topo_kind_name((enum topo_kind)k)))
            return k;
    return -1;
}

int node_color(void)
{
    /* Its nodes are no more than its processes, and their numbers begin at boot_first(). */
    return boot_first() + boot_node_of(boot_rank());
}

static int pset_color(const char *pset, int *color)
{
    if (!strcasecmp(pset, "mpi://WORLD"))
        *color = boot_first();
    else if (!strcasecmp(pset, "mpi://SELF"))
        *color = boot_rank();
    else
        return err_make(MPI_ERR_ARG, "MPI_Comm_split_type: there is no process set \"%s\"", pset);
    return MPI_SUCCESS;
}

int hardware_color(int type, const struct info *i, int *color)
{
    enum { INSTANCES = 1 << 16 }; /* of a resource on a node: colours of nodes lie so far apart */
    int by_pset = type == MPI_COMM_TYPE_RESOURCE_GUIDED;
    const char *pset = by_pset ? info_value(i, "mpi_pset_name") : NULL;
    const char *name = info_value(i, "mpi_hw_resource_type");
    int node = node_color(), home[TOPO_KINDS];
    *color = MPI_UNDEFINED;
    if (pset && name)
        return err_make(MPI_ERR_INFO, "MPI_Comm_split_type: mpi_pset_name and mpi_hw_resource_type "
                                      "are both given");
    if (pset)
        return pset_color(pset, color);
    if (!name)
        return MPI_SUCCESS;
    int kind = kind_of(name);
    if (!strcmp(name, "mpi_shared_memory") || !strcmp(name, "node") || kind == TOPO_MACHINE)
        *color = node;
    else if (kind >= 0 && !topo_homes(home) && home[kind] >= 0)
        *color = node * INSTANCES + home[kind];
    return MPI_SUCCESS;
}

/* --- kinds of memory --------------------------------------------------------------------- */

/* Is this "mpi" with restrictors that exist? n: bytes of it. */
static int kind_supported(const char *kind, size_t n)
{
    static const char *const restrictors[] = {":alloc_mem", ":win_allocate",
                                              ":win_allocate_shared"};
    if (n < 4 || strncmp(kind, "mpi:", 4))
        return 0;
    for (const char *p = kind + 3; p < kind + n;) {
        size_t len = 1, known = 0;
        while (p + len < kind + n && p[len] != ':')
            len++;
        for (int r = 0; r < 3; r++)
            known |= strlen(restrictors[r]) == len && !strncmp(p, restrictors[r], len);
        if (!known)
            return 0;
        p += len;
    }
    return 1;
}

char *memory_kinds(const struct info *wanted)
{
    const char *w = info_value(wanted, "mpi_memory_alloc_kinds");
    if (!w)
        return NULL;
    char *text = malloc(sizeof INFO_MEMORY_KINDS + 1 + strlen(w));
    if (!text)
        return NULL;
    strcpy(text, INFO_MEMORY_KINDS);
    for (size_t n; *w; w += n + (w[n] == ',')) {
        n = strcspn(w, ",");
        if (kind_supported(w, n)) {
            strcat(text, ",");
            strncat(text, w, n);
        }
    }
    return text;
}

int memory_kinds_put(struct info *i, const struct session_share *session)
{
    return info_put(i, "mpi_memory_alloc_kinds",
                    session && session->kinds ? session->kinds : INFO_MEMORY_KINDS);
}

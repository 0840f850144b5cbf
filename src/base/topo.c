/* topo.c - the machine by hwloc (topo.h). Start with topo_load(). */
#include "base/topo.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hwloc.h>

struct topo {
    hwloc_topology_t hw;
    int count[TOPO_KINDS];
    hwloc_obj_t *object[TOPO_KINDS]; /* those with processors, in logical order */
};

enum { BITS = 8 * sizeof(unsigned long) };

static const struct {
    const char *name;
    hwloc_obj_type_t type;
} kinds[TOPO_KINDS] = {
    [TOPO_HWTHREAD] = {"hwthread", HWLOC_OBJ_PU}, [TOPO_CORE] = {"core", HWLOC_OBJ_CORE},
    [TOPO_L1] = {"l1cache", HWLOC_OBJ_L1CACHE},   [TOPO_L2] = {"l2cache", HWLOC_OBJ_L2CACHE},
    [TOPO_L3] = {"l3cache", HWLOC_OBJ_L3CACHE},   [TOPO_NUMA] = {"numa", HWLOC_OBJ_NUMANODE},
    [TOPO_SOCKET] = {"socket", HWLOC_OBJ_PACKAGE}, [TOPO_MACHINE] = {"machine", HWLOC_OBJ_MACHINE},
};

int topo_cpus(void)
{
    /* More than CPU_SETSIZE processors: the kernel wants a larger set, so double it until it
     * fits. */
    for (int cpus = CPU_SETSIZE; cpus <= 1 << 20; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        if (!set)
            break;
        size_t bytes = CPU_ALLOC_SIZE(cpus);
        int n = sched_getaffinity(0, bytes, set) ? 0 : CPU_COUNT_S(bytes, set);
        CPU_FREE(set);
        if (n > 0)
            return n;
    }
    return 1;
}

static int collect(struct topo *t, enum topo_kind kind)
{
    int all = hwloc_get_nbobjs_by_type(t->hw, kinds[kind].type), n = 0;
    if (all <= 0)
        return 0;
    if (!(t->object[kind] = calloc((size_t)all, sizeof(hwloc_obj_t))))
        return -ENOMEM;
    for (int i = 0; i < all; i++) {
        hwloc_obj_t o = hwloc_get_obj_by_type(t->hw, kinds[kind].type, (unsigned)i);
        if (o && o->cpuset && !hwloc_bitmap_iszero(o->cpuset))
            t->object[kind][n++] = o;
    }
    t->count[kind] = n;
    return 0;
}

/* Leave out the processors this process was not given (taskset). */
static void restrict_to_ours(hwloc_topology_t hw)
{
    hwloc_bitmap_t ours = hwloc_bitmap_alloc();
    if (ours && !hwloc_get_cpubind(hw, ours, HWLOC_CPUBIND_PROCESS) && !hwloc_bitmap_iszero(ours))
        hwloc_topology_restrict(hw, ours, HWLOC_RESTRICT_FLAG_REMOVE_CPULESS);
    hwloc_bitmap_free(ours);
}

int topo_load(const char *synthetic, struct topo **topo)
{
    struct topo *t = calloc(1, sizeof *t);
    if (!t)
        return -ENOMEM;
    int err = -ENOMEM;
    if (hwloc_topology_init(&t->hw)) {
        free(t);
        return err;
    }
    if (synthetic && hwloc_topology_set_synthetic(t->hw, synthetic)) {
        err = -EINVAL;
        goto fail;
    }
    if (hwloc_topology_load(t->hw)) {
        err = -EIO;
        goto fail;
    }
    if (!synthetic && hwloc_topology_is_thissystem(t->hw))
        restrict_to_ours(t->hw);
    for (int k = 0; k < TOPO_KINDS; k++)
        if ((err = collect(t, (enum topo_kind)k)))
            goto fail;
    *topo = t;
    return 0;
fail:
    topo_free(t);
    return err;
}

/* This machine, and the processors of this process. 0 or -errno: then there is neither. */
static int machine_load(hwloc_topology_t *hw, hwloc_bitmap_t *ours)
{
    *ours = hwloc_bitmap_alloc();
    if (!*ours || hwloc_topology_init(hw)) {
        hwloc_bitmap_free(*ours);
        return -ENOMEM;
    }
    if (hwloc_topology_load(*hw)) {
        hwloc_topology_destroy(*hw);
        hwloc_bitmap_free(*ours);
        return -EIO;
    }
    if (hwloc_get_cpubind(*hw, *ours, HWLOC_CPUBIND_PROCESS) || hwloc_bitmap_iszero(*ours))
        hwloc_bitmap_copy(*ours, hwloc_topology_get_topology_cpuset(*hw));
    return 0;
}

static int home_of(hwloc_topology_t hw, enum topo_kind kind, hwloc_const_bitmap_t ours)
{
    int all = hwloc_get_nbobjs_by_type(hw, kinds[kind].type);
    for (int i = 0; i < all; i++) {
        hwloc_obj_t o = hwloc_get_obj_by_type(hw, kinds[kind].type, (unsigned)i);
        if (o && o->cpuset && hwloc_bitmap_isincluded(ours, o->cpuset))
            return i;
    }
    return all > 0 ? -1 : -2;
}

int topo_homes(int home[TOPO_KINDS])
{
    hwloc_topology_t hw;
    hwloc_bitmap_t ours;
    int err = machine_load(&hw, &ours);
    if (err)
        return err;
    for (int k = 0; k < TOPO_KINDS; k++)
        home[k] = home_of(hw, (enum topo_kind)k, ours);
    hwloc_topology_destroy(hw);
    hwloc_bitmap_free(ours);
    return 0;
}

int topo_own_node(void)
{
    hwloc_topology_t hw;
    hwloc_bitmap_t ours;
    if (machine_load(&hw, &ours))
        return -1;
    int home = home_of(hw, TOPO_NUMA, ours), node = -1;
    if (home >= 0)
        node = (int)hwloc_get_obj_by_type(hw, kinds[TOPO_NUMA].type, (unsigned)home)->os_index;
    hwloc_topology_destroy(hw);
    hwloc_bitmap_free(ours);
    return node;
}

const char *topo_kind_name(enum topo_kind kind)
{
    return hwloc_obj_type_string(kinds[kind].type);
}

void topo_free(struct topo *t)
{
    if (!t)
        return;
    for (int k = 0; k < TOPO_KINDS; k++)
        free(t->object[k]);
    hwloc_topology_destroy(t->hw);
    free(t);
}

int topo_kind_of(const char *name)
{
    for (int k = 0; k < TOPO_KINDS; k++)
        if (!strcmp(kinds[k].name, name))
            return k;
    return !strcmp(name, "package") ? TOPO_SOCKET : !strcmp(name, "numanode") ? TOPO_NUMA : -1;
}

int topo_count(const struct topo *t, enum topo_kind kind)
{
    return t->count[kind];
}

int topo_within(const struct topo *t, enum topo_kind kind, enum topo_kind within, int at,
                int *index, int room)
{
    int n = 0;
    for (int i = 0; i < t->count[kind]; i++) {
        if (!hwloc_bitmap_intersects(t->object[kind][i]->cpuset, t->object[within][at]->cpuset))
            continue;
        if (n < room)
            index[n] = i;
        n++;
    }
    return n;
}

static int grow(struct topo_set *set, size_t cpu)
{
    size_t need = cpu / BITS + 1;
    if (need <= set->words)
        return 0;
    unsigned long *w = realloc(set->word, need * sizeof *w);
    if (!w)
        return -ENOMEM;
    memset(w + set->words, 0, (need - set->words) * sizeof *w);
    set->word = w;
    set->words = need;
    return 0;
}

int topo_set_add(struct topo_set *set, size_t cpu)
{
    if (grow(set, cpu))
        return -ENOMEM;
    set->word[cpu / BITS] |= 1ul << (cpu % BITS);
    return 0;
}

int topo_add(const struct topo *t, enum topo_kind kind, int index, struct topo_set *set)
{
    hwloc_bitmap_t cpus = t->object[kind][index]->cpuset;
    int last = hwloc_bitmap_last(cpus);
    if (grow(set, (size_t)(last < 0 ? 0 : last)))
        return -ENOMEM;
    for (int i = hwloc_bitmap_first(cpus); i >= 0; i = hwloc_bitmap_next(cpus, i))
        set->word[i / BITS] |= 1ul << (i % BITS);
    return 0;
}

void topo_set_free(struct topo_set *set)
{
    free(set->word);
    *set = (struct topo_set){0};
}

int topo_set_has(const struct topo_set *set, size_t cpu)
{
    return cpu / BITS < set->words && (set->word[cpu / BITS] >> (cpu % BITS) & 1);
}

void topo_set_text(const struct topo_set *set, char *text, size_t len)
{
    size_t n = 0, end = set->words * BITS;
    if (len)
        *text = 0;
    for (size_t i = 0; i < end; i++) {
        if (!topo_set_has(set, i))
            continue;
        size_t first = i;
        while (i + 1 < end && topo_set_has(set, i + 1))
            i++;
        int w = first == i ? snprintf(text + n, len - n, "%s%zu", n ? "," : "", first)
                           : snprintf(text + n, len - n, "%s%zu-%zu", n ? "," : "", first, i);
        if (w < 0 || (size_t)w >= len - n)
            return;
        n += (size_t)w;
    }
}

/* topo.h - the machine: its processors, cores, NUMA nodes and sockets, through hwloc.
 *
 * Loading the topology takes milliseconds. So the library asks the kernel only (topo_cpus), and
 * mpiexec loads it once, for a binding. Objects without processors (memory-only NUMA nodes) are
 * left out, and processors that this process may not use (cgroups, taskset). So "core 0" is the
 * first usable core, in hwloc's logical order. */
#ifndef BASE_TOPO_H
#define BASE_TOPO_H

#include <stddef.h>

enum topo_kind {
    TOPO_HWTHREAD, TOPO_CORE, TOPO_L1, TOPO_L2, TOPO_L3, TOPO_NUMA, TOPO_SOCKET, TOPO_MACHINE,
    TOPO_KINDS
};

/* A set of processors by the kernel's numbers, as sched_setaffinity takes it. */
struct topo_set {
    size_t words;
    unsigned long *word;
};

struct topo;

/* Processors this process may run on now; at least 1. */
int topo_cpus(void);

/* synthetic: NULL for this machine, or hwloc's description of another one (tests).  0 or -errno. */
int topo_load(const char *synthetic, struct topo **topo);
void topo_free(struct topo *t);

/* For each kind the object that holds all processors this process may run on: its number on the
 * whole machine; -1: they lie in several; -2: the machine has no such level.  0 or -errno. */
int topo_homes(int home[TOPO_KINDS]);
/* The kernel's number of the NUMA node that holds them; -1: several, or unknown. */
int topo_own_node(void);
/* hwloc's name of a kind: "Package", "NUMANode" ... */
const char *topo_kind_name(enum topo_kind kind);

/* Kind by the name used in -bind-to: "core", "numa", ..; -1 if there is none. */
int topo_kind_of(const char *name);
/* Objects of a kind; 0 when the machine has no such level. */
int topo_count(const struct topo *t, enum topo_kind kind);
/* Indexes of the objects of `kind` that share a processor with object `at` of `within`, ascending;
 * at most `room` are written.  Returns how many there are. */
int topo_within(const struct topo *t, enum topo_kind kind, enum topo_kind within, int at,
                int *index, int room);
/* Add the processors of an object to a set ({0} at first).  0 or -ENOMEM. */
int topo_add(const struct topo *t, enum topo_kind kind, int index, struct topo_set *set);
/* The same for one processor by the kernel's number. */
int topo_set_add(struct topo_set *set, size_t cpu);
void topo_set_free(struct topo_set *set);
int topo_set_has(const struct topo_set *set, size_t cpu);
/* "0-3,8" */
void topo_set_text(const struct topo_set *set, char *text, size_t len);

#endif

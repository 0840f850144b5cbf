/* boot_types.h - the room's record (private to boot/). */
#ifndef BOOT_BOOT_TYPES_H
#define BOOT_BOOT_TYPES_H

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/jobpage.h"
#include "base/pmiline.h"
#include "boot/boot.h"
#include "boot/nodemap.h"

struct pmi_client {
    int fd;
    /* the server is our mpiexec: it takes the words that only it knows (doc/pmi-wire.md) */
    int ours;
    char kvs[PMI_KVS_MAX];
    char in[PMI_LINE_MAX]; /* bytes read, not yet used */
    size_t have;
    /* the answer that did not come in time: nothing more is asked before it comes; NULL: none */
    const char *late;
    uint64_t late_until; /* when twice the time is over (ns) */
    /* begun and not tested yet: 1 its answer is awaited, 2 it came while another was read */
    int barrier;
    struct boot_meeting *meetings; /* begun, and not answered yet */
    struct boot_meeting *spawns;   /* the same of pmi1_spawn_begin(), the oldest first */
    unsigned met;                  /* how many were begun */
    void (*on_met)(void);          /* boot_on_met() */
};

/* The kind of a failure; also on the wire of the watch. APART: it looks so from this host, which
 * may itself be cut off. So it is not reported to others. */
enum boot_scope {
    BOOT_ONE = 0,  /* this process alone */
    BOOT_HOST = 1, /* its host failed with it */
    BOOT_APART = 2
};

/* A failure that no page reports.  Only the scope may change once it is on the list. */
struct boot_death {
    struct boot_death *next;
    int rank;
    atomic_int scope; /* BOOT_APART may become one of the others */
    char why[BOOT_WHY_MAX];
};

struct boot {
    const struct boot_ops *ops;
    int rank, size, appnum; /* the rank in this job */
    int first;              /* number of its first process; universe: of places for processes */
    int universe;
    int far;                /* boot_far() */
    char parent[PMI_KVS_MAX]; /* port of the processes that spawned this job; "": none */
    char job_id[PMI_KVS_MAX];
    struct node_map map;
    struct pmi_client pmi;     /* of pmi1_ops only */
    struct pmix_client *pmix;  /* of pmix_ops only */
    struct boot_value *values; /* of singleton_ops only */
    struct family *family; /* NULL: our mpiexec has the ports, or there are none */
    const struct job_page *page; /* NULL under other launchers */
    size_t page_bytes;
    struct detector *watch; /* NULL: there is no watch */
    /* Failures that no page reports (death.c).  The watching thread and the holder of proc->lock
     * write them, any thread reads them. */
    _Atomic(atomic_uchar *) failed;        /* by number; NULL before the first */
    /* 1: of another job, on this host.  The holder of proc->lock writes it, the watch reads it. */
    _Atomic(atomic_uchar *) near;          /* by number; NULL before the first */
    _Atomic(struct boot_death *) deaths;   /* the newest first */
    atomic_uint burials;                   /* how many; grows after the other two */
    int ends_own; /* boot_abort() is for this job only */
    void (*on_abort)(void); /* boot_on_abort() */
    void (*on_leave)(void); /* boot_on_leave() */
    int survives; /* SIGUSR1 has our handler */
    struct sigaction survive_before;
    struct crash *crash; /* NULL: a crash is not reported */
    boot_fault_fn *fault_words;
};

/* boot_is_own(), also for a thread without `proc`. */
static inline int boot_owns(const struct boot *b, int rank)
{
    return rank >= b->first && rank - b->first < b->size;
}

extern const struct boot_ops pmi1_ops, pmix_ops, singleton_ops;

/* Whether the environment names a PMI-1 launcher; one that speaks PMIx. */
int pmi1_present(void);
int pmix_present(void);

/* pmi1_spawn.c.  The key under which a job that Hydra has spawned finds what was given; the
 * request, to be freed also after -errno (-EINVAL: a word has an end of a line, or of a request;
 * -E2BIG: Hydra has no room for it). */
#define PMI1_SPAWNED_KEY "windrose.spawned"
int pmi1_spawn_text(const struct boot_program *list, int n, const char *gives, char **text);

/* others.c: where this job stands among those of its mpiexec. 0 or -EINVAL. */
int boot_place(struct boot *b);

/* The rank that a key names; -1: none. */
int boot_key_rank(const char *key);

/* namespace.c: number of a namespace of this process; 0: the kernel does not report it. */
uint64_t boot_namespace(const char *kind);
/* 1: this process has an interface with an address that leads to others, or it is not known. */
int boot_leads_out(void);

/* The node map as the processes themselves find it, in the launcher's form (to be freed).  Every
 * process reads one value of each. */
int boot_host_exchange(struct boot *b, char **text);
/* That form, made of a number for each rank's host; to be freed, NULL: no memory. */
char *boot_map_text(const int *number, int size);

/* Map the page of our mpiexec, if it is there. */
void boot_page_open(struct boot *b);
void boot_page_close(struct boot *b);

/* `rank`, or its whole host, has failed.  Any thread.  A second report about the same process is
 * ignored, unless it shows that what looked so from this host alone (BOOT_APART) has failed. */
void boot_fail_take(struct boot *b, int rank, enum boot_scope scope, const char *why);
/* `rank` has failed for this process. Nothing, where it had: it is no proof for others. */
void boot_fail_first(struct boot *b, int rank, const char *why);
void boot_burials_free(struct boot *b);
/* The number of the host of a process; of another job and elsewhere: a number of its own, since its
 * host is not known. b->map.host: this one. */
int boot_host_of(const struct boot *b, int rank);

/* Address of this process's struct where, for mpiexec; 0: none. */
uint64_t boot_where_at(void);

/* Under another PMI-1 launcher than our mpiexec: ignore SIGUSR1, unless the program wants the
 * signal itself. */
void boot_survive_on(struct boot *b);
void boot_survive_off(struct boot *b);

/* A report on standard error when a signal ends the process by the program's own fault
 * (crash.c). */
void boot_crash_on(struct boot *b);
void boot_crash_off(struct boot *b);

#endif

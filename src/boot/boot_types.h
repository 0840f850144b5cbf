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
    int ours; /* the server is our mpiexec: it takes the words it alone knows (doc/pmi-wire.md) */
    char kvs[PMI_KVS_MAX];
    char in[PMI_LINE_MAX]; /* bytes read, not yet used */
    size_t have;
    /* the answer that did not come in time: no more is asked before it has; NULL: none */
    const char *late;
    uint64_t late_until; /* when it has been awaited for twice the time (ns) */
    /* begun and not tested yet: 1 its answer is awaited, 2 it came while another was read */
    int barrier;
};

/* of a death; also on the wire of the watch. APART: so it looks from this host, which may itself be
 * the one that is cut off: no news for others. */
enum boot_scope {
    BOOT_ONE = 0,  /* this process alone */
    BOOT_HOST = 1, /* its host died with it */
    BOOT_APART = 2
};

/* one that no page tells of; but for the scope never changed once it is on the list */
struct boot_death {
    struct boot_death *next;
    int rank;
    atomic_int scope; /* BOOT_APART may become BOOT_HOST */
    char why[BOOT_WHY_MAX];
};

struct boot {
    const struct boot_ops *ops;
    int rank, size, appnum;
    char job_id[PMI_KVS_MAX];
    struct node_map map;
    struct pmi_client pmi;     /* of pmi1_ops only */
    struct pmix_client *pmix;  /* of pmix_ops only */
    struct boot_value *values; /* of singleton_ops only */
    const struct job_page *page; /* NULL under other launchers */
    size_t page_bytes;
    struct watch *watch; /* NULL: nobody watches */
    /* Deaths that no page tells of (death.c): written by the watching thread and by who holds
     * proc->lock, read by anybody. */
    _Atomic(atomic_uchar *) failed;        /* by rank; NULL before the first */
    _Atomic(struct boot_death *) deaths;   /* the newest first */
    atomic_uint burials;                   /* how many; grows after the other two */
    int survives; /* SIGUSR1 is ours */
    struct sigaction survive_before;
    struct crash *crash; /* NULL: a crash is not reported */
};

extern const struct boot_ops pmi1_ops, pmix_ops, singleton_ops;

/* Whether the environment names a PMI-1 launcher, one that speaks PMIx. */
int pmi1_present(void);
int pmix_present(void);

/* The rank that a key names; -1: none. */
int boot_key_rank(const char *key);

/* The node map as the processes themselves find it, in the launcher's form (to be freed): one value
 * of each is read by all. */
int boot_host_exchange(struct boot *b, char **text);
/* That form, of a number for each rank's host; to be freed, NULL: no memory. */
char *boot_map_text(const int *number, int size);

/* Map the page of our mpiexec, if it is there. */
void boot_page_open(struct boot *b);
void boot_page_close(struct boot *b);

/* `rank`, or all of its host, is dead.  Any thread; a second word about the same process is not
 * heard, but that its host is not only dead for this one. */
void boot_fail_take(struct boot *b, int rank, enum boot_scope scope, const char *why);
void boot_burials_free(struct boot *b);

/* Address of this process's struct where, for mpiexec; 0: none. */
uint64_t boot_where_at(void);

/* Under another PMI-1 launcher than our mpiexec SIGUSR1 does nothing, unless the program wants the
 * signal itself. */
void boot_survive_on(struct boot *b);
void boot_survive_off(struct boot *b);

/* A report on standard error when a signal ends the process by the program's own fault
 * (crash.c). */
void boot_crash_on(struct boot *b);
void boot_crash_off(struct boot *b);

#endif

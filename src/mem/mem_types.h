/* mem_types.h - private types of mem/. */
#ifndef MEM_MEM_TYPES_H
#define MEM_MEM_TYPES_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/list.h"
#include "base/map.h"
#include "mem/mem.h"

/* A segment as this process knows it; callers see only the first member. */
struct mem_seg {
    struct mem_segment pub;
    struct mem_key key; /* of the owner's memfd, also in a process that attached */
    unsigned flags;     /* owner: of mem_segment_create() */
    int reserved;       /* owner: every page is there */
    uint8_t shared;     /* by mem_segment_attach_again(): refs counts its users */
    unsigned refs;
};

enum { MEM_CACHED = 16, MEM_UNUSED = 8 };

enum {
    MEM_BINS_SUB = 16,       /* bins for each power of two */
    MEM_BINS = 320,          /* a multiple of 64; the last is for 64 MiB, the largest arena */
    MEM_ARENA_MOST = 2 << 20 /* bytes; a larger block is a segment of its own */
};

/* The blocks of MPI_Alloc_mem (arena.c). */
struct mem_arenas {
    struct list bin[MEM_BINS];       /* free blocks by size */
    uint64_t filled[MEM_BINS / 64];  /* a bit for each bin that is not empty */
    struct list arenas, spare;       /* spare: records without a block */
    unsigned count;                  /* of arenas */
    size_t idle;                     /* bytes of free blocks that may have pages */
    struct map used;                 /* address -> block */
};

/* One process in the host page.  `sleeping` has a line of its own.  (Some processors fetch lines in
 * pairs.  Its neighbour is written once, but for `core`, and read on the slow path only.)
 * sleeping: odd while its process is armed.  The process stores 2k+1 (arm) and 2k+2 (disarm).  A
 * waker that has written the descriptor moves 2k+1 to 2k+2, so that others need not write, too, and
 * can never clear a later arm. */
struct mem_record {
    _Alignas(128) atomic_uint sleeping;
    _Alignas(64) atomic_int pid; /* stored last, with release: the record is complete */
    uint32_t pid_ns, user_ns;    /* numbers of its process and user namespaces */
    uint64_t wake;               /* random part of the socket's name */
    atomic_int core;             /* mem_core_set(): the core's number + 1; 0: none */
    _Alignas(128) atomic_int attends; /* mem_attend(): stored at every wait, rarely read */
};
_Static_assert(sizeof(struct mem_record) == 256, "four cache lines a process");

struct mem_gone {
    void (*fn)(void *arg, void *base, size_t len);
    void *arg;
};

struct mem {
    struct mem_segment *page; /* array of struct mem_record, by host index */
    struct mem_record *record;
    int count, index; /* processes on the host; this one */
    uint32_t pid_ns, user_ns; /* of this process */
    uint64_t job;             /* a random number that the processes of the host share */
    struct mem_door *door;    /* NULL: closed; open if processes of other namespaces may ask */
    struct mem_gone gone[MEM_GONE_HOOKS]; /* mem_on_pages_gone(); fn NULL: free */
    int at_fork;              /* children close it */
    int wake_fd;
    uid_t uid; /* the user whose wake-ups count */
    /* closed during an attach when the process has no other descriptor (M8a); -1: none */
    int spare_fd;
    unsigned turn;     /* last value this process stored into its `sleeping` */
    struct mem_seg **segs; /* created here, sorted by address */
    size_t nsegs, room;
    struct mem_seg *kept[MEM_CACHED]; /* dropped, oldest first; out of segs */
    int nkept;
    size_t kept_bytes; /* at most MPIR_CVAR_MEM_KEEP */
    struct mem_arenas *arenas; /* NULL before the first block */
    struct map attached;       /* seg_id -> segment of a peer that may be attached several times */
    unsigned unused;           /* mappings of these without a user; at most MEM_UNUSED */
};

/* Bytes the system can still give to shared memory, as far as it reports them (limit.c). */
size_t mem_available(void);

/* segment.c */
void mem_cached_free(struct mem *m); /* free what is kept for later */
size_t mem_page(void);             /* bytes */
/* may so many bytes be requested, so that the kernel refuses and does not kill? */
int mem_may_take(size_t size);
/* own segment: its mapping is at `base` now */
void mem_segment_rebase(struct mem_segment *seg, void *base);
void mem_segment_forget(struct mem_segment *seg); /* own segment: freed except for what is mapped */
/* some segment with `moved` that overlaps, or NULL */
struct mem_segment *mem_moved_near(const void *p, size_t len);

/* gone.c: before pages of a segment go */
void mem_pages_go(const struct mem_segment *s, size_t off, size_t len);
void mem_arenas_free(struct mem *m); /* arena.c */
/* Idle pages and arenas without a block go back to the system.  0: there were none. */
int mem_arenas_trim(struct mem *m);
void mem_unused_free(struct mem *m, unsigned most); /* keep at most so many unused mappings */
void mem_spare_fill(struct mem *m); /* open the reserve (again) */

int mem_wake_open(void);   /* wake.c */
void mem_wake_close(void);
int mem_wake_refused(int host_index); /* 1: the process has closed its wake-up socket */
/* 1: that process has passed mem_init(), and its process id means nothing here */
int mem_apart(int host_index);

struct mem_door {
    /* Questions of others come to the first.  Those of this process leave by the other, so that an
     * attach needs one descriptor and no more. */
    int fd, ask_fd;
    atomic_int closing;
    pthread_t thread;
};

/* How long an asker waits: while the answering thread gets no processor; in a handler. */
static const uint64_t MEM_DOOR_LONG_NS = 30000000000u, MEM_DOOR_SOON_NS = 100000000;

/* door.c.  Open: 0 or -errno; harmless when open.  Ask: a descriptor of the segment, or -errno
 * (-ESTALE: its owner has ended; -ETIMEDOUT). */
int mem_door_open(struct mem *m);
void mem_door_close(struct mem *m);
int mem_door_ask(const struct mem_key *key, uint64_t wait_ns);
/* 0: descriptor fd of this process is the memory file of that segment; else -errno. */
int mem_descriptor_is(int fd, uint64_t seg_id);

#endif

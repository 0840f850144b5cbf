/* mem.h - memory shared between the processes of a host: segments, wake-up, CMA.
 *
 *   segment   a memfd; created by its owner, attached by host peers through a key.  Never a
 *             named file, so nothing outlives the processes, SIGKILL included.
 *   host page one small segment per host, made in mem_init(): for each process there its
 *             sleeping flag, process id and wake-up address.
 *   wake      each process has one wake-up descriptor (an abstract datagram socket: O(1)
 *             descriptors whatever the number of peers).
 *   CMA       process_vm_readv/writev, with loops over the 2 GiB and IOV_MAX limits.
 *
 * Processes are named by their host index (boot_host_index), not by that of the node: packets
 * between pretended nodes of a host (NOLOCAL, NUM_CLIQUES) use the same rings and wake-ups.
 * Whether a peer may be treated as near is no question for mem/: the rooms above ask
 * boot_same_node(). */
#ifndef MEM_MEM_H
#define MEM_MEM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct mem_segment {
    void *base;  /* where this process sees it; page aligned */
    size_t size; /* bytes, a multiple of the page */
    int fd;      /* owner: the memfd; -1 in others */
    int owner;   /* 1 in the process that created it */
    unsigned moved; /* holders of memory that mem_move() moved here; 0: any other segment */
};

/* What a peer needs to attach: plain bytes, sent by any means. */
struct mem_key {
    uint32_t pid;
    int32_t fd;
    uint64_t size;
    uint64_t seg_id; /* random, part of the memfd's name: a reused pid or descriptor is refused */
    uint32_t lasts;  /* 1: it outlives what lies in it, so a mapping of it is worth keeping */
    uint32_t pid_ns; /* number of the process namespace in which pid counts */
};

/* The limits of memory and descriptors that hold for this process, in words, "" if there are none:
 * for the messages of what fails. all: those too that are far. Takes no memory. Returns `to`. */
const char *mem_limits(char *to, size_t room, int all);
/* 1: this process cannot get the memory that a connection of a network takes. */
int mem_starves(void);

/* Set up wake-up and the host page.  Uses boot put/get and one barrier; the records of the peers
 * are complete after the next one (am_init). 0 or -errno. */
int mem_init(void);
/* After the barrier of am_init().  If a process of this host is in another process or user
 * namespace, a thread gives it this process's segments (door.c); else that thread ends. 0 or
 * -errno. */
int mem_meet(void);
int mem_host_index(void); /* of this process */
void mem_finalize(void);

/* Zeroed memory of at least `size` bytes (0 becomes a page), every page reserved now, on this
 * process's NUMA node.  -ENOMEM (never a later SIGBUS) when the system does not have it.
 *   MEM_NO_RESERVE  mem_segment_reserve() reserves instead, each process for its part
 *   MEM_LAZY        as malloc: limits are read, pages come when touched, contents are undefined
 *   MEM_ONCE        not kept when it is dropped: a peer may still read words in it then (the last
 *                   barrier, the last slot)
 *   MEM_LARGE       alone: of the large pages that the administrator set aside, `size` in whole
 *                   ones; -ENOMEM: too few
 *   MEM_LASTS       see mem_segment_attach_again() */
enum { MEM_NO_RESERVE = 1, MEM_LAZY = 2, MEM_ONCE = 4, MEM_LARGE = 8, MEM_LASTS = 16 };
int mem_segment_create(size_t size, unsigned flags, struct mem_segment **seg);
/* Move its mapping here to an address that is a multiple of `align` (bytes, a power of two), before
 * its present address is used. 0, or -errno: it stays. */
int mem_segment_align(struct mem_segment *seg, size_t align);
/* Reserve a part of a segment (first touch by the process that will use it).  0 or -ENOMEM. */
int mem_segment_reserve(struct mem_segment *seg, size_t off, size_t len);
/* -EFBIG if a segment of so many bytes is beyond the limit of file sizes (mem_segment_create:
 * -ENOMEM), else 0. */
int mem_file_limit(size_t size);
void mem_segment_key(const struct mem_segment *seg, struct mem_key *key);
/* Map the segment of a process on this host. -EPERM: the system refuses; -ESTALE: the owner has
 * ended. */
int mem_segment_attach(const struct mem_key *key, struct mem_segment **seg);
/* For handlers. -ETIMEDOUT also: the owner is in another container, and its thread has not answered
 * within 100 ms. */
int mem_segment_attach_soon(const struct mem_key *key, struct mem_segment **seg);
/* The same, but a segment that this process has attached so before is mapped only once.
 * mem_segment_drop() ends one use.  Such a mapping is never moved.  A few unused mappings of
 * segments that last (MEM_LASTS) are kept, since opening and mapping one takes 20 us. */
int mem_segment_attach_again(const struct mem_key *key, struct mem_segment **seg);
/* Owner: every peer has attached, so close the descriptor, unless the segment may be kept
 * (doc/design/mem.md M2a).  A process has few descriptors, and each open segment takes one.  After
 * this no process attaches or reserves. */
void mem_segment_shut(struct mem_segment *seg);
/* Unmap; the memory is freed when the last process drops it.  An owner keeps some of what it drops
 * for its next segments (MPIR_CVAR_MEM_KEEP): pages from the system cost far more than a copy of
 * the same size. */
void mem_segment_drop(struct mem_segment *seg);
/* Find the segment (created here, by mem_segment_create) that holds [p, p+len).  NULL if none.  By
 * this MPI_Win_create maps memory of MPI_Alloc_mem. */
struct mem_segment *mem_segment_of(const void *p, size_t len);
/* fn(arg, base, len) is called before pages [base, base+len) of such segments go: they are
 * unmapped, given back to the system, or have gone elsewhere.  Not so of a segment with `moved`:
 * its pages are the program's.  0, or -ENOSPC. */
enum { MEM_GONE_HOOKS = 8 };
int mem_on_pages_gone(void (*fn)(void *arg, void *base, size_t len), void *arg);
void mem_on_pages_gone_not(void *arg); /* take it away */

/* --- blocks of shared memory (arena.c) ------------------------------------------
 * A block of at least `size` bytes (0 is 1) inside a segment that mem_segment_of() finds, aligned
 * to `align` (bytes, a power of two, at least 64), in constant time and, once its pages are there,
 * without a system call.  Its contents are undefined; pages come when touched.  NULL: too large, no
 * peer on the host, after a failure, or no memory: take other memory. */
void *mem_arena_alloc(size_t size, size_t align);
/* 1: it was a block. 0: mem_arena_alloc() never returned this address. */
int mem_arena_free(void *p);
/* The same where other processes may still store to it: it is given to no other user. */
int mem_arena_retire(void *p);

/* --- private memory that becomes a segment where it is --------------------------
 * Move the pages of [p, p+len) into a segment at their address, contents and all; mem_segment_of()
 * finds it.  Only private anonymous memory, and only where no others have data on its pages:
 * -EINVAL.  -ENOMEM and the like: as it was. The caller holds it.  What other threads store there
 * meanwhile may be lost (doc/design/mem.md M10). */
int mem_move(void *p, size_t len, struct mem_segment **seg);
/* One more holder of the moved memory that overlaps [p, p+len).  NULL: none does. */
struct mem_segment *mem_move_hold(const void *p, size_t len);
/* The last holder moves it back into private memory.  It stays a segment if there is no memory, if
 * the user has changed the mapping, and after a failure, when a peer may still be in its epoch.
 * NULL does nothing. */
void mem_move_back(struct mem_segment *seg);

/* --- wake-up ----------------------------------------------------------------
 * Waker:  store the news; mem_wake(i).        [full fence; load sleeping; write if set]
 * Waiter: mem_wake_arm(); look again; poll(mem_wake_fd()); mem_wake_disarm().
 * The fence in mem_wake() pairs with the fence in mem_wake_arm(): one of the two sees the other. */
void mem_wake(int host_index);
/* The word that mem_wake(i) looks at: odd while that process sleeps, or is about to. For callers
 * whose news is an atomic read-modify-write beside a fence (fence_beside_rmw). */
const atomic_uint *mem_sleeping(int host_index);
/* By these a process of another job wakes this one.  It must know by itself whether this one
 * sleeps. */
uint64_t mem_wake_id(void);
void mem_wake_by_id(uint64_t wake);
void mem_wake_self(void); /* from another thread of this process; always writes */
void mem_wake_arm(void);    /* harmless when armed */
void mem_wake_disarm(void); /* also empties the descriptor; harmless when not armed */
int mem_wake_fd(void);
/* Empty the descriptor.  Returns how many wake-ups of this user's processes were in it.  Those of
 * other users are counted and dropped (doc/design/mem.md M8b). */
int mem_wake_heard(void);

/* --- attention ----------------------------------------------------------------
 * How soon this process would answer a message.  A peer that sends because of it announces that
 * (mem_ask).  The process that stops waiting then learns that a message may be under way, so that
 * it can look once more before it computes. */
enum mem_attention {
    MEM_BUSY,  /* outside MPI, or not waiting */
    MEM_WAITS, /* yields or sleeps in a wait */
    MEM_SPINS
};
int mem_attend(enum mem_attention now); /* has a peer asked since the last call? */
enum mem_attention mem_attention_of(int host_index);
enum mem_attention mem_ask(int host_index); /* the same, and announce a message */

/* --- cores --------------------------------------------------------------------
 * The kernel's number of the core on which a process was last seen to run.  A process that has been
 * moved since does not know it: the number is a hint. */
void mem_core_set(int core); /* of this process; -1: nowhere. Stores when it has changed. */
int mem_core_of(int host_index); /* -1: it sleeps, has failed or ended, or has not begun */

/* --- CMA ----------------------------------------------------------------------
 * Bytes between this process's `local` and `remote` of the process with host index i; both lists
 * hold the same number of bytes.  0; -EPERM refused; -EFAULT a bad address; -ESRCH gone. */
int mem_cma_read(int host_index, const struct iovec *local, size_t nlocal,
                 const struct iovec *remote, size_t nremote);
int mem_cma_write(int host_index, const struct iovec *local, size_t nlocal,
                  const struct iovec *remote, size_t nremote);
/* 0 until that process has passed mem_init(), and for one of another process namespace. */
pid_t mem_pid(int host_index);
/* A word in shared memory holds its holder's host index + 1: has that process failed?  Asks the
 * kernel, too, and reports a failure to boot/. */
int mem_holder_died(unsigned word);

#endif

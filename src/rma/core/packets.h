/* packets.h - what travels between the windows of two processes (private to rma/).
 *
 * Every packet begins with struct rma_hdr, in host byte order: all machines of a job are alike.
 * doc/design/rma-protocols.md has one ladder per protocol.  In short (=> request, -> reply; [X] is
 * a piggybacked flag):
 *
 *   put, accumulate     => PUT|ACC [LOCK] [DONE|UNLOCK|COMPLETE]
 *                       -> ACK if DONE, UNLOCK, or unordered
 *   many alike          => COALESCED [LOCK] [DONE|UNLOCK|COMPLETE] { displacement, data } ...
 *                       -> ACK if DONE or UNLOCK
 *   get, fetch, swap    => GET|GACC|CAS [LOCK] [DONE|UNLOCK|COMPLETE]
 *                       -> DATA, which also acknowledges the flags
 *   several small ones  => BATCH [LOCK] { each as above, flags on the last }
 *                       -> ANSWERS { DATA and ACK of each }
 *   lock                => LOCK (or the LOCK flag)
 *                       -> GRANTED, or the flag GRANTED of the first reply
 *                       -> GRANTED with DROPPED: granted, send the data again
 *                       -> REFUSED with a stamp: send it again later, with the stamp
 *   end of epoch        => UNLOCK | DONE
 *                       -> ACK (token)
 *   notified            => PUT|GET|ACC [NOTIFY], or of no bytes: DONE [NOTIFY]
 *                       -> no answer but that of the operation and of the other flags
 *   post, complete      => POST, COMPLETE
 *                       -> no reply; to COMPLETE with DONE: ACK, with bytes and unit of the window
 *                          there, or struct rma_extent
 *   MPI_Win_free after a failure
 *                       => FREEING_ASK
 *                       -> FREEING: count is 1 if that process is in MPI_Win_free, too, or past it
 *   native access       => KEY_ASK
 *                       -> KEY: struct rma_key_data, then what the transport packed
 *                       KEY_ASK and KEY of a memory handle: disp is its base
 *   a handle ends       => HANDLE_ENDS: to each rank with a key (disp: its base)
 *                       -> HANDLE_LEFT: no operation begins by it any more
 *   accumulates, copies => FORWARD: struct rma_elems; the owner puts what they are to its copies
 *   (replica_forward.c) => FORWARDED, a request without answer
 *   the owner to a copy => COPY: struct rma_elems with its elements, packed and padded, ...;
 *                          disp: of the part's copy there
 *                       -> COPIED
 *   a long operation    => PULL: struct rma_pull_data, then one or two keys as the transport packed
 *                          them; a put or get: aop is 0. NOTIFY: counted when all is done
 *                       -> PULLED: disp is how many bytes are done; the rest comes by message
 *                          (pull_target.c)
 *   one element, or a piece of a block, of a near process's own memory
 *                       => DELEGATE: struct rma_delegated, answered in shared memory
 *
 * A reply with an error (aop), except GRANTED, has struct rma_fault as its whole payload: what was
 * refused and why, which only the target knows.
 *
 * A request reserves its replies: one per GET/GACC/CAS/PULL, one for DONE/UNLOCK on anything else,
 * one for LOCK if nothing else of the packet is answered.  ANSWERS gives back what it saved.
 *
 * To add a packet: a row below, a handler in handlers.c or replies.c, its ladder in the page. */
#ifndef RMA_PACKETS_H
#define RMA_PACKETS_H

#include <stddef.h>
#include <stdint.h>

/*        name      direction  handler         */
#define RMA_PACKETS(P)                \
    P(PUT, TO_TARGET, rma_on_op)      \
    P(GET, TO_TARGET, rma_on_op)      \
    P(ACC, TO_TARGET, rma_on_op)      \
    P(GACC, TO_TARGET, rma_on_op)     \
    P(CAS, TO_TARGET, rma_on_op)      \
    P(BATCH, TO_TARGET, rma_on_op)    \
    P(LOCK, TO_TARGET, rma_on_op)     \
    P(DONE, TO_TARGET, rma_on_op)     \
    P(POST, TO_TARGET, rma_on_post)   \
    P(KEY_ASK, TO_TARGET, rma_on_key_ask) \
    P(DATA, TO_ORIGIN, rma_on_data)   \
    P(ACK, TO_ORIGIN, rma_on_ack)     \
    P(GRANTED, TO_ORIGIN, rma_on_granted) \
    P(REFUSED, TO_ORIGIN, rma_on_refused) \
    P(KEY, TO_ORIGIN, rma_on_key)     \
    P(ANSWERS, TO_ORIGIN, rma_on_answers) \
    P(FREEING_ASK, TO_TARGET, rma_on_freeing_ask) \
    P(FREEING, TO_ORIGIN, rma_on_freeing)   \
    P(DELEGATE, TO_TARGET, rma_on_delegate)     \
    P(COALESCED, TO_TARGET, rma_on_op)    \
    P(PULL, TO_TARGET, rma_on_pull) \
    P(PULLED, TO_ORIGIN, rma_on_pulled) \
    P(HANDLE_ENDS, TO_TARGET, rma_on_handle_ends) \
    P(HANDLE_LEFT, TO_ORIGIN, rma_on_handle_left) \
    P(FORWARD, TO_TARGET, rma_on_forward) \
    P(FORWARDED, TO_ORIGIN, rma_on_forwarded) \
    P(COPY, TO_TARGET, rma_on_copy) \
    P(COPIED, TO_ORIGIN, rma_on_copied)

enum rma_packet {
#define P(name, direction, handler) RMA_PKT_##name,
    RMA_PACKETS(P)
#undef P
    RMA_PKTS
};

enum rma_flag {
    RMA_F_SHARED = 1,     /* LOCK: shared ...                                                    */
    RMA_F_EXCLUSIVE = 2,  /* ... or exclusive                                                    */
    /* LOCK beside others of the window: passes younger writers (rma.md 5.3) */
    RMA_F_JOIN = 4,
    RMA_F_UNLOCK = 8,     /* release what this origin holds, after the operation; answered       */
    RMA_F_DONE = 16,      /* answer when everything before and this is done                      */
    RMA_F_COMPLETE = 32,  /* end of this origin's PSCW access epoch                              */
    RMA_F_EXT = 64,       /* struct rma_ext follows                                              */
    RMA_F_ACK = 128,      /* unordered transport: answer this packet by itself (op names it)     */
    RMA_F_STAMP = 256,    /* LOCK: with the stamp of an earlier refusal                          */
    RMA_F_GRANTED = 512,  /* replies: the lock that the same packet asks for was granted first   */
    RMA_F_DROPPED = 1024, /* GRANTED: the packet's operations were not kept, send them again     */
    RMA_F_SIGNALED = 2048, /* ACK, DATA: answers DONE or UNLOCK with `token`                     */
    /* LOCK: the payload ends in 8 bytes, the age of the requester's locks; 0 without the flag */
    RMA_F_AGE = 8192,
    RMA_F_FAULT = 4096,   /* DATA, SIGNALED: at the end struct rma_fault of an earlier operation */
    /* PUT, GET, ACC, DONE: struct rma_noted follows the header; counted when that is done */
    RMA_F_NOTIFY = 16384,
};
#define RMA_AGE_MAX (UINT64_MAX >> 8) /* no clock counts so far */
enum {
    RMA_F_LOCK = RMA_F_SHARED | RMA_F_EXCLUSIVE,
    RMA_F_SYNC = RMA_F_UNLOCK | RMA_F_DONE | RMA_F_COMPLETE
};

struct rma_hdr {
    uint8_t type;   /* enum rma_packet                                                        */
    /* enum dt_op_index of accumulates; COALESCED: 0 for puts; replies: MPI error class, 0 = none */
    uint8_t aop;
    uint16_t flags; /* enum rma_flag                                                          */
    uint32_t win;   /* number of the window's id: used again, with another round              */
    uint32_t src;   /* sender's rank in the window, above it the round of the id (obj/comm.h) */
    union {
        uint32_t dt;    /* handle of the predefined element type                              */
        uint32_t clock; /* SIGNALED: the clock of locks, if a process waits (rma.md 5.3)      */
    };
    union {
        uint64_t disp;      /* target displacement, in the target's units                      */
        uint64_t from;      /* DATA: position in the stream of packed bytes                    */
        uint64_t each;      /* COALESCED: elements of each operation                           */
        uint64_t done;      /* PULLED: bytes that the network has moved                        */
        uint64_t stamp;     /* LOCK with RMA_F_STAMP, REFUSED: place in the order of refusals  */
        uint64_t win_bytes; /* ACK of COMPLETE: bytes of the window                            */
        uint64_t detached;  /* POST: regions detached there so far (dynamic windows)           */
    };
    union {
        uint32_t count;     /* elements of dt                                                  */
        uint32_t packets;   /* BATCH, ANSWERS: packets within                                  */
        uint32_t ops;       /* COALESCED: operations                                           */
        uint32_t asked;     /* DATA: bytes that the origin asked for                           */
        /* ACK of COMPLETE: displacement unit (dynamic: 1, an extent follows); 0: none */
        uint32_t unit;
        uint32_t freeing;   /* FREEING: 1, the process is in MPI_Win_free, too, or past it     */
    };
    uint32_t len;   /* payload bytes after header and extension (BATCH, ANSWERS: all within)   */
    uint32_t op;    /* origin's operation, echoed; 0: none                                     */
    /* of DONE/UNLOCK, echoed; lower RMA_TOKEN_BITS: 0 is the window's counter. The upper bits are
     * the channel of every request: 0, or that of the duplicate that sent it */
    uint32_t token;
};
enum { RMA_TOKEN_BITS = 24 };
#define RMA_TOKEN_MASK ((UINT32_C(1) << RMA_TOKEN_BITS) - 1)
static inline unsigned rma_channel_of(const struct rma_hdr *h)
{
    return h->token >> RMA_TOKEN_BITS;
}
_Static_assert(sizeof(struct rma_hdr) == 40, "rma_hdr is the common prefix of every RMA packet");

/* RMA_F_NOTIFY. It stands first: data that the transport reads in place are the last piece. */
struct rma_noted {
    uint32_t index, unused; /* of the counter */
};
_Static_assert(sizeof(struct rma_noted) == 8, "what follows stays aligned");

/* If count elements at disp are not enough: a part of a long operation, or a derived type. */
struct rma_ext {
    uint64_t offset;   /* first packed byte of this part                                        */
    uint64_t want;     /* packed bytes of this part                                             */
    uint64_t count;    /* instances of the type                                                 */
    uint32_t flat_len; /* bytes of dt_flat() that follow, padded to 8; 0: runs, or the type dt  */
    uint32_t nruns;    /* struct rma_run that follow: this part's blocks, relative to disp      */
};
_Static_assert(sizeof(struct rma_ext) == 32, "no padding on the wire");

struct rma_run {
    int64_t disp; /* bytes from the target buffer's address */
    uint64_t len; /* bytes                                  */
};

/* ACK of COMPLETE in a dynamic window: the attached region where the last operation began. */
struct rma_extent {
    uint64_t base, size;
    uint32_t detached; /* regions detached there so far, as in POST */
    uint32_t unused;
};
_Static_assert(sizeof(struct rma_extent) == 24, "no padding on the wire");

/* What the target refused: fields of the packet as they came, so that the origin can name them. */
struct rma_fault {
    uint64_t disp;    /* target displacement, in the target's units                        */
    uint64_t count;   /* elements of dt, or instances of a derived type                    */
    uint64_t bytes;   /* of the window there; RMA_FAULT_DYNAMIC: what is attached counts.
                       * MPI_ERR_RMA_CONFLICT: the space that holds it, and disp counts bytes  */
    uint32_t dt;      /* handle of the predefined type; 0: a derived one                   */
    uint8_t type;     /* enum rma_packet                                                   */
    uint8_t cls;      /* MPI error class, as in aop                                        */
    uint16_t unused;
};
#define RMA_FAULT_DYNAMIC UINT64_MAX
_Static_assert(sizeof(struct rma_fault) == 32, "no padding on the wire");

/* DELEGATE.  It begins as every packet does.  The operands lie in fields of rma_hdr that it does
 * not use, so that it shares a cache line with the headers below it. */
struct rma_delegated {
    uint8_t type, aop;  /* aop: enum dt_op_index, or RMA_SWAP */
    union {
        uint16_t elem;  /* low half of the handle of the element type */
        uint16_t slot;  /* a piece of a block, a bundle: where it lies in the box */
    };
    uint32_t win, src;
    uint32_t number;    /* of the question */
    uint64_t disp;      /* target displacement, in the target's units */
    union {
        struct { /* as they lie in memory, padded at the end */
            uint64_t value, compare;
        };
        struct { /* a piece of a block: bytes from disp to it, and in it */
            int64_t at;
            uint64_t len;
        };
        uint64_t bundle; /* its number */
    };
};
/* An operation of a bundle (bundle.c), in the slot that DELEGATE names; its data follow, padded. */
struct rma_bundled {
    uint64_t at;        /* of its first byte in the window; dynamic windows: the address */
    uint32_t len, get;  /* bytes; 0: a put */
};
enum { RMA_DELEGATE_TYPES = 0x4c000000 /* upper half of these handles */ };
_Static_assert(sizeof(struct rma_delegated) == sizeof(struct rma_hdr) &&
                   offsetof(struct rma_delegated, src) == offsetof(struct rma_hdr, src) &&
                   offsetof(struct rma_delegated, disp) == offsetof(struct rma_hdr, disp),
               "begins as rma_hdr");

/* How put, get and atomics of the network reach a window. */
enum rma_key_flag {
    /* its elements use the processor's atomics, and the transport there agrees with them */
    RMA_KEY_ATOMICS = 1
};
enum { RMA_KEY_ALIGN = 64 };
struct rma_key_data {
    uint64_t size;     /* of the window (bytes)                                                 */
    uint64_t unit;     /* displacement unit (bytes)                                             */
    uint32_t len;      /* of the key, which follows; 0: by messages only                        */
    uint16_t flags;    /* enum rma_key_flag                                                     */
    uint16_t align;    /* address of the window modulo RMA_KEY_ALIGN                            */
    char transport[8]; /* name, cut: whose key it is                                            */
    uint16_t note;     /* of the window, in notes of puts; 0: it takes none                     */
    uint16_t notes;    /* counters there, as far as notes reach                                 */
    uint32_t unused;
};
_Static_assert(sizeof(struct rma_key_data) == 40, "no padding on the wire");

/* PULL: where the target finds the data. */
struct rma_pull_data {
    uint64_t count;    /* elements of dt                                                        */
    uint32_t key;      /* bytes of the key of the data, which follows; 0: a get                 */
    uint32_t result;   /* bytes of that of the result buffer, behind it; 0: none                */
    char transport[8]; /* name, cut: whose keys they are                                        */
};
_Static_assert(sizeof(struct rma_pull_data) == 24, "no padding on the wire");

/* FORWARD, COPY: elements of a part. */
struct rma_elems {
    uint64_t off;      /* of the first one in the part (bytes)    */
    uint32_t count;    /* elements                                */
    uint32_t dt;       /* handle of the predefined type           */
};
_Static_assert(sizeof(struct rma_elems) == 16, "no padding on the wire");

/* Does the target answer it with data, which confirm its flags, too? */
static inline int rma_brings_data(int type)
{
    return type == RMA_PKT_GET || type == RMA_PKT_GACC || type == RMA_PKT_CAS;
}

/* packets of a BATCH or of ANSWERS and parts of a payload begin at multiples of it */
enum { RMA_PAD = 8 };
static inline size_t rma_pad(size_t n)
{
    return (n + RMA_PAD - 1) & ~(size_t)(RMA_PAD - 1);
}

#endif

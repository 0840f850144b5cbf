/* limits.h - sizes and counts of tp/ofi (part of ofi.h). */
#ifndef TP_OFI_LIMITS_H
#define TP_OFI_LIMITS_H

#include "tp/tp_types.h"

/* bytes of a packet that ofi_rxm over tcp sends at once: 64 KiB of data and their headers */
#define OFI_EAGER 69632
/* bytes of a buffer of ofi_rxm over tcp: what is longer goes from and to ours */
#define OFI_RXM_BUFFER 2560
/* a peer that has not heard us is looked at once in this time (ns) */
#define OFI_LOOK_NS 1000000000u
enum {
    OFI_EAGER_MIN = 16384,      /* its default, and that of other providers */
    OFI_AM_ROOM = 64,           /* of these bytes, for headers of ours and theirs */
    OFI_GATHER = 16384,         /* caps.gather (bytes) */
    OFI_WINDOW = 262144,        /* bytes, O2 */
    OFI_REPLIES = 256,          /* count; O2 does not bound them, am/ does */
    OFI_BUFFERS = 4,            /* receive buffers posted where many messages fit into one ... */
    OFI_BUFFER_BYTES = 1048576, /* ... of this size */
    /* receive buffers posted where each takes one message: messages of the greatest length use half
     * a MiB in turn, half a core's cache */
    OFI_SINGLES = 8,
    OFI_NAME_MAX = 256, /* bytes of an endpoint's name */
    /* bytes of a piece that is sent from where it lies: for fewer a copy costs less than its
     * completion */
    OFI_ZCOPY = 16384,
    OFI_ZCOPY_IOV = 3, /* ... our header, that piece, the filling of its last word */
    /* bytes, wire included: requested of a provider that has less; over tcp OFI_RXM_BUFFER */
    OFI_INJECT = 4096,
    /* bytes, wire included: send buffers have this size or that of the longest */
    OFI_SMALL = 512,
    OFI_POOL = 256,        /* short send buffers kept for later */
    OFI_POOL_BIG = 32,     /* and long ones */
    OFI_PUT_INLINE = 1024, /* bytes of a put that are copied */
    OFI_ATOMIC = 256,      /* bytes of one operand of an atomic, at most */
    OFI_CACHED = 256,      /* registrations of local buffers that are kept */
    OFI_CACHE_BLOCK = 65536, /* bytes; each covers whole blocks */
    OFI_COPY = 32768,        /* bytes of a local buffer that is copied instead of registered ... */
    OFI_COPIES = 64,         /* ... so many at once */
    OFI_BUDGET = 64,       /* completions handled by one progress() */
    OFI_RAILS = 3,         /* cards beside the first, at most */
    OFI_RAIL_MIN = 65536,  /* bytes of a put or get that is striped over them */
    OFI_FDS = TP_FDS - 1,  /* descriptors of the queue; one more is the timer's */
    /* calls of progress() between looks at the clock, while a peer has not answered */
    OFI_TURNS = 8
};
/* What goes by a copy is registered on the first card alone. */
_Static_assert(OFI_COPY < OFI_RAIL_MIN, "a copy is never striped");

#endif

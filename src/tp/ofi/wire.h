/* wire.h - what tp/ofi sends (part of ofi.h).
 *
 * A packet is struct ofi_wire, then the message, filled up to a multiple of 8 bytes. So messages
 * that a provider puts one behind the other into a large receive buffer stay aligned. */
#ifndef TP_OFI_WIRE_H
#define TP_OFI_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "tp/ofi/limits.h"
#include "tp/tp_types.h"

/* ASK: answered by TAKEN.  It carries the sender's address, as HELLO does, which may be what got
 * lost.  LOST: the connection broke (O6).  RAIL_DOWN: close that end; RAIL_GONE: it is closed (L4).
 * Those before TAKEN are messages, and have numbers. */
enum ofi_packet {
    OFI_REQUEST = TP_REQUEST,
    OFI_REPLY = TP_REPLY,
    OFI_HELLO,
    OFI_TAKEN,
    OFI_ASK,
    OFI_LOST,
    OFI_RAIL_DOWN,
    OFI_RAIL_GONE,
    OFI_PACKETS
};

struct ofi_wire {
    uint64_t key;   /* of the receiver, O1 */
    uint32_t src;   /* world rank of the sender */
    /* request bytes of the receiver that the sender has taken so far, modulo 2^32 */
    uint32_t taken;
    uint16_t len;   /* bytes of the message, with len_high */
    uint16_t seq;   /* number of this message; in other packets that of the next one */
    uint16_t got;   /* the number that the sender expects next from the receiver */
    uint8_t kind;   /* enum ofi_packet */
    uint8_t len_high;
};
static inline size_t ofi_wire_len(const struct ofi_wire *w)
{
    return w->len | (size_t)w->len_high << 16;
}
_Static_assert(sizeof(struct ofi_wire) == 24, "messages stay aligned to 8 bytes");
_Static_assert(OFI_EAGER < 1 << 24 && OFI_WINDOW > 3 * OFI_EAGER,
               "ofi_wire.len; and a packet while less than half a window is unreported");
_Static_assert(OFI_WINDOW / sizeof(struct ofi_wire) + OFI_REPLIES < 1 << 15,
               "fewer unheard messages than half the numbers");

/* The parts of an address; also the contents of a HELLO. */
struct ofi_contact {
    uint64_t key;
    uint32_t provider; /* hash of the provider's name: both sides must use the same */
    uint16_t len, rails; /* bytes of one name; how many more of other cards there are */
    char name[OFI_NAME_MAX]; /* the endpoint's; then per rail its network (4 bytes) and its name */
};

struct ofi_rail_note { /* numbers of one rail: at the receiver, at the sender */
    uint8_t yours, mine;
};

/* Bytes of a message on the wire, with header and padding. */
static inline size_t ofi_wire_bytes(size_t len)
{
    return sizeof(struct ofi_wire) + ((len + 7) & ~(size_t)7);
}

#endif

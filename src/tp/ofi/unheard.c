/* unheard.c - has what was sent arrived? Looks at peers that have not answered (O6, O7). */
#include <errno.h>

#include "base/sched.h"
#include "boot/boot.h"
#include "tp/ofi/ofi.h"

/* Looks at a broken peer that may not know of it: each look notifies it, until it counts as
 * failed. */
enum { TELL_LOOKS = 8 };

/* Ask how far it has come: at the looks 1, 2, 4, 8, 16, then at every 16th.  So a process that
 * computes or is stopped finds few questions. 1: asked. */
static int ask(struct ofi *o, struct ofi_peer *p)
{
    struct ofi_contact a;
    struct iovec v;
    p->looks++;
    if ((p->looks & (p->looks - 1)) && p->looks % 16)
        return 0;
    int n = ofi_own_address(o, &a, &v) == 0 && ofi_wire_bytes(v.iov_len) <= o->inject;
    ssize_t err = ofi_inject(o, p, OFI_ASK, &v, n, n ? v.iov_len : 0);
    if (err == -FI_EAGAIN)
        p->looks--; /* the provider is busy, or makes a new connection */
    else if (err)
        ofi_peer_lost(o, p, ofi_err((int)err));
    return !err;
}

/* One look; 1: the peer stays on the list. */
static int look_at(struct ofi *o, struct ofi_peer *p, int *events)
{
    if (p->broken && boot_has_left((int)p->rank))
        return 0;
    if (p->broken) {
        int most = boot_failed((int)p->rank) ? 1 : TELL_LOOKS;
        if (!p->known || p->looks++ >= (unsigned)most)
            return 0;
        *events += ofi_inject(o, p, OFI_LOST, NULL, 0, 0) == 0;
        return 1;
    }
    if (p->heard == p->seq && p->acked == p->sent)
        return 0;
    if ((int16_t)(uint16_t)(p->heard - p->mark_seq) >= 0 &&
        (int32_t)(p->acked - p->mark_sent) >= 0) {
        p->looks = 0;
        p->mark_seq = p->seq;
        p->mark_sent = p->sent;
    } else {
        *events += ask(o, p);
    }
    return 1;
}

int ofi_look(struct ofi *o)
{
    int events = 0;
    uint64_t now = time_now();
    for (int i = 0; i < OFI_BUDGET && !list_empty(&o->unheard); i++) {
        struct ofi_peer *p = LIST_OBJ(o->unheard.next, struct ofi_peer, in_unheard);
        if (p->due > now)
            break;
        list_del(&p->in_unheard);
        if (look_at(o, p, &events) && list_empty(&p->in_unheard)) {
            p->due = now + OFI_LOOK_NS;
            list_push(&o->unheard, &p->in_unheard);
        }
    }
    return events;
}

/* transmit.h - transmit contexts, and what they need of load.c (part of ofi.h). */
#ifndef TP_OFI_TRANSMIT_H
#define TP_OFI_TRANSMIT_H

#include "base/list.h"
#include "tp/tp_types.h"

struct fi_info;
struct ofi;

struct ofi_txs { /* in struct ofi */
    int shared;       /* several threads may use an endpoint each */
    int stays_open;   /* an endpoint of one that was closed: so does the domain */
    struct list open; /* contexts */
};

int ofi_tx_open(struct tp *tp, struct tp_tx **tx);
void ofi_tx_close(struct tp_tx *tx);
void ofi_tx_close_all(struct ofi *o);
int ofi_tx_far(struct tp_tx *tx, struct tp_far *far, struct tp_far **mine);
void ofi_tx_drop(struct tp_tx *tx, struct tp_far *mine);
int ofi_tx_put(struct tp_tx *tx, struct tp_far *mine, uint64_t off, const void *src, size_t len);
int ofi_tx_flush(struct tp_tx *tx, struct tp_far *mine);

/* load.c */
struct fi_info *ofi_info_again(struct ofi *o); /* for a further endpoint; NULL: no memory */
size_t ofi_put_min(const struct ofi *o);       /* of the caps, where there are puts */

#endif

/* stripe.h - the stripe locks of accumulates (rma/shared/acc.c), which are its own, for near.c. */
#ifndef LITMUS_STRIPE_H
#define LITMUS_STRIPE_H

#include <stddef.h>

size_t litmus_stripe_bytes(unsigned stripes);
void litmus_stripe_init(void *ctl, unsigned stripes);
/* Take or give what an element that begins in stripe `first` and ends in `last` needs. */
void litmus_stripe(void *ctl, unsigned first, unsigned last, int take);

#endif

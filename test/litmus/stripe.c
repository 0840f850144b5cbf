/* stripe.c - nothing of acc.c but its locks is used; the linker leaves the rest out
 * (--gc-sections), with all it would need. */
#include "rma/shared/acc.c"

#include "stripe.h"

size_t litmus_stripe_bytes(unsigned stripes)
{
    return acc_ctl_bytes(stripes);
}

void litmus_stripe_init(void *ctl, unsigned stripes)
{
    acc_ctl_init(ctl, stripes, 0);
}

void litmus_stripe(void *ctl, unsigned first, unsigned last, int take)
{
    const struct acc_target t = {.ctl = ctl};
    struct batch b = {.t = &t, .first = first, .last = last};
    acc_batch_lock(&b, take);
}

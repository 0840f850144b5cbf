/* tp_types.h - what the transports share, and their operation tables. */
#ifndef TP_TP_TYPES_H
#define TP_TP_TYPES_H

#include <string.h>

#include "tp/tp.h"

extern const struct tp_ops tp_self_ops; /* self/self.c */
extern const struct tp_ops tp_shm_ops;  /* shm/shm.c */
extern const struct tp_ops tp_ofi_ops;  /* ofi/ofi.c, where libfabric's headers were found */
extern const struct tp_ops tp_ucx_ops;  /* ucx/ucx.c, where UCX was found */
extern const struct tp_ops tp_none_ops; /* none/none.c; in no list */

/* Sum of the lengths; SIZE_MAX where it overflows. */
static inline size_t tp_iov_bytes(const struct iovec *iov, int n)
{
    size_t sum = 0;
    for (int i = 0; i < n; i++)
        if (__builtin_add_overflow(sum, iov[i].iov_len, &sum))
            return SIZE_MAX;
    return sum;
}
/* Copy all pieces one after the other. */
static inline void tp_iov_gather(void *to, const struct iovec *iov, int n)
{
    char *p = to;
    for (int i = 0; i < n; i++) {
        size_t len = iov[i].iov_len;
        if (len == 8) /* headers: without a call */
            memcpy(p, iov[i].iov_base, 8);
        else if (len == 16)
            memcpy(p, iov[i].iov_base, 16);
        else if (len) /* base may be NULL if len is 0 */
            memcpy(p, iov[i].iov_base, len);
        p += len;
    }
}

#endif

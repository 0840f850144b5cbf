/* util.c - helpers for transports. */
#include "tp/tp_types.h"

#include <string.h>

void tp_iov_gather(void *to, const struct iovec *iov, int n)
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

#include "tp/tp_types.h"

#include <string.h>

size_t tp_iov_bytes(const struct iovec *iov, int n)
{
    size_t sum = 0;
    for (int i = 0; i < n; i++)
        if (__builtin_add_overflow(sum, iov[i].iov_len, &sum))
            return SIZE_MAX;
    return sum;
}

void tp_iov_gather(void *to, const struct iovec *iov, int n)
{
    char *p = to;
    for (int i = 0; i < n; i++) {
        if (iov[i].iov_len) /* base may be NULL then */
            memcpy(p, iov[i].iov_base, iov[i].iov_len);
        p += iov[i].iov_len;
    }
}

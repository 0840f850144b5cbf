/* contract.h - the transports that the contract is tested on (contract.c: life and messages; onesided.c: the rest). */
#ifndef TP_CONTRACT_H
#define TP_CONTRACT_H

#include <stdlib.h>

#include "tp/tp_types.h"

struct row {
    const struct tp_ops *ops;
    int few, many;   /* processes of the tests for two and for a crowd */
    const char *set; /* a variable, or NULL */
    const char *env; /* a variable of the network's library, or NULL */
};
extern const struct row rows[];
extern const int rows_count;

static inline void row_environment(const struct row *r)
{
    if (!r->env)
        return;
    putenv((char *)(uintptr_t)r->env);
    setenv("UCX_LOG_LEVEL", "fatal", 0); /* over shared memory alone it complains of each peer (doc/design/ucx.md) */
}

#endif

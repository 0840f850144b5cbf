/* none.c - the transport that does nothing: copy this folder to start a new one
 * (doc/howto/add-a-transport.md).  It opens, has an address of no bytes, reaches no process, and is
 * idle. */
#include "tp/tp_types.h"

#include <errno.h>
#include <stdlib.h>

/* The table of operations fixes the signatures; not every function needs all parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

struct none {
    struct tp_env env;
};

static int none_open(const struct tp_env *env, struct tp **tp, struct tp_caps *caps)
{
    struct none *t = calloc(1, sizeof *t);
    if (!t)
        return -ENOMEM;
    t->env = *env;
    *caps = (struct tp_caps){0};
    *tp = (struct tp *)t;
    return 0;
}

static int none_address(struct tp *tp, void *buf, size_t *len)
{
    *len = 0;
    return 0;
}

static int none_connect(struct tp *tp, unsigned peer, const void *addr, size_t len)
{
    return -EHOSTUNREACH;
}

static void none_close(struct tp *tp)
{
    free(tp);
}

static int none_am(struct tp *tp, unsigned peer, enum tp_class cls, const struct iovec *iov, int n,
                   struct tp_done *d)
{
    return tp_iov_bytes(iov, n) > 0 ? -EMSGSIZE : -ENOTCONN; /* am_max is 0 */
}

static int none_progress(struct tp *tp)
{
    return 0;
}

static int none_fd(struct tp *tp, int arm)
{
    return arm ? 0 : -1;
}

const struct tp_ops tp_none_ops = {
    .name = "none",
    .open = none_open,
    .address = none_address,
    .connect = none_connect,
    .close = none_close,
    .am = none_am,
    .progress = none_progress,
    .fd = none_fd,
};

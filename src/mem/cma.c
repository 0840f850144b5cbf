/* cma.c - single copies between processes by process_vm_readv and process_vm_writev. */
#include "mem/mem_types.h"

#include <errno.h>

/* The kernel takes at most IOV_MAX (1024) pieces and 2 GiB - 1 page a call.  Lists that must be cut
 * go in lots of PIECES. */
enum { PIECES = 128, CALL_PIECES = 1024 };
static const size_t CALL_MAX = (size_t)1 << 30; /* bytes */

struct cursor {
    const struct iovec *v;
    size_t n;   /* pieces left, v[0] included */
    size_t off; /* bytes of v[0] done */
};

/* Fill at most PIECES pieces of at most `max` bytes from c; returns the bytes. */
static size_t cursor_peek(const struct cursor *c, size_t max, struct iovec *out,
                          unsigned long *count)
{
    size_t sum = 0, off = c->off;
    *count = 0;
    for (size_t i = 0; i < c->n && *count < PIECES && sum < max; i++, off = 0) {
        size_t len = c->v[i].iov_len - off;
        if (len > max - sum)
            len = max - sum;
        if (!len)
            continue;
        out[*count].iov_base = (char *)c->v[i].iov_base + off;
        out[(*count)++].iov_len = len;
        sum += len;
    }
    return sum;
}

static void cursor_advance(struct cursor *c, size_t bytes)
{
    while (c->n && bytes >= c->v->iov_len - c->off) {
        bytes -= c->v->iov_len - c->off;
        c->v++;
        c->n--;
        c->off = 0;
    }
    c->off += bytes;
}

typedef ssize_t vm_fn(pid_t, const struct iovec *, unsigned long, const struct iovec *,
                      unsigned long, unsigned long);

static int failed(ssize_t done)
{
    return done == 0 ? -EFAULT : errno == ENOSYS ? -EPERM : -errno;
}

/* Lists short enough for one call go uncut. */
static int at_once(vm_fn *fn, pid_t pid, struct cursor *local, struct cursor *remote, int *over)
{
    size_t bytes = 0;
    *over = 0;
    if (local->n > CALL_PIECES || remote->n > CALL_PIECES)
        return 0;
    for (size_t i = 0; i < local->n; i++)
        bytes += local->v[i].iov_len;
    if (bytes > CALL_MAX)
        return 0;
    ssize_t done = bytes ? fn(pid, local->v, local->n, remote->v, remote->n, 0) : 0;
    *over = (size_t)done == bytes;
    if (*over)
        return 0;
    if (done <= 0)
        return failed(done);
    cursor_advance(local, (size_t)done);
    cursor_advance(remote, (size_t)done);
    return 0;
}

static int transfer(vm_fn *fn, int host_index, struct cursor local, struct cursor remote)
{
    pid_t pid = mem_pid(host_index);
    int over;
    if (!pid)
        return mem_apart(host_index) ? -EPERM : -ESRCH;
    int err = at_once(fn, pid, &local, &remote, &over);
    if (err || over)
        return err;
    for (;;) {
        struct iovec lv[PIECES], rv[PIECES];
        unsigned long ln, rn;
        size_t bytes = cursor_peek(&local, CALL_MAX, lv, &ln);
        /* What one side cannot list in PIECES pieces bounds the other. */
        size_t far = cursor_peek(&remote, bytes, rv, &rn);
        if (far < bytes)
            bytes = cursor_peek(&local, far, lv, &ln);
        if (!bytes)
            return 0;
        ssize_t done = fn(pid, lv, ln, rv, rn, 0);
        if (done <= 0)
            return failed(done);
        cursor_advance(&local, (size_t)done);
        cursor_advance(&remote, (size_t)done);
    }
}

int mem_cma_read(int host_index, const struct iovec *local, size_t nlocal,
                 const struct iovec *remote, size_t nremote)
{
    return transfer(process_vm_readv, host_index, (struct cursor){local, nlocal, 0},
                    (struct cursor){remote, nremote, 0});
}

int mem_cma_write(int host_index, const struct iovec *local, size_t nlocal,
                  const struct iovec *remote, size_t nremote)
{
    return transfer(process_vm_writev, host_index, (struct cursor){local, nlocal, 0},
                    (struct cursor){remote, nremote, 0});
}

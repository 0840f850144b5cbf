/* cma.c - put and get by CMA (process_vm_readv, process_vm_writev).
 *
 * The kernel looks up the page of every remote piece, about 0.4 us each. So the number of remote
 * pieces decides. Many of them go by message if the target polls (rma_by_message). Else
 *   get a stretch of memory with many pieces is read whole, gaps included; the pieces are picked
 *   out here
 *   put must not write the gaps: it goes piece by piece */
#include "rma/near/near_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CMA_BLOCKS = 256, CMA_STRETCH = 128 << 10, CMA_FEW = 4, CMA_GAPS = 32 };

/* 1: r[0..n), which ascend, were read by one piece that spans them, because that is cheaper. 0: not
 * worth it; or -errno. */
static int cma_read_stretch(int host, const struct iovec *l, size_t nl, const struct iovec *r,
                            size_t nr, size_t bytes)
{
    uintptr_t first = (uintptr_t)r[0].iov_base, at = first;
    for (size_t i = 0; i < nr; i++) {
        if ((uintptr_t)r[i].iov_base < at)
            return 0;
        at = (uintptr_t)r[i].iov_base + r[i].iov_len;
    }
    size_t span = at - first;
    if (nr <= CMA_FEW || span > CMA_STRETCH || span / CMA_GAPS > bytes)
        return 0;
    char *all = malloc(span);
    if (!all)
        return 0;
    struct iovec here = {all, span}, there = {(void *)first, span};
    int err = mem_cma_read(host, &here, 1, &there, 1);
    for (size_t i = 0, j = 0, from = 0, to = 0; !err && i < nr && j < nl;) {
        size_t a = r[i].iov_len - from, b = l[j].iov_len - to, len = a < b ? a : b;
        memcpy((char *)l[j].iov_base + to, all + ((uintptr_t)r[i].iov_base - first) + from, len);
        from = a == len ? (i++, 0) : from + len;
        to = b == len ? (j++, 0) : to + len;
    }
    free(all);
    return err ? err : 1;
}

/* Copy between two layouts across processes. */
int rma_cma_copy(int host, const void *local, size_t lcount, const struct dt_type *lt,
                 const void *remote, size_t rcount, const struct dt_type *rt, size_t bytes,
                 int write)
{
    struct iovec l[CMA_BLOCKS], r[CMA_BLOCKS];
    for (size_t at = 0, n, m; at < bytes; at += n) {
        size_t nl = dt_iov(lt, lcount, local, at, bytes - at, l, CMA_BLOCKS, &n);
        size_t nr = dt_iov(rt, rcount, remote, at, n, r, CMA_BLOCKS, &m);
        if (m < n) {
            nl = dt_iov(lt, lcount, local, at, m, l, CMA_BLOCKS, &n);
            n = m;
        }
        if (!nl || !nr)
            return -EFAULT;
        int done = write ? 0 : cma_read_stretch(host, l, nl, r, nr, n);
        if (!done)
            done = write ? mem_cma_write(host, l, nl, r, nr) : mem_cma_read(host, l, nl, r, nr);
        if (done < 0)
            return done;
    }
    return 0;
}

/* Contiguous on both sides: the common case, one call. */
int rma_cma_block(int host, const struct rma_args *a, const void *there, size_t bytes, size_t done)
{
    int put = a->kind == RMA_PUT;
    void *here = put ? (char *)(uintptr_t)dt_start(a->otype, a->origin)
                     : (char *)dt_start(a->rtype, a->result);
    char *far = (char *)(uintptr_t)dt_start(a->ttype, there);
    struct iovec l = {(char *)here + done, bytes - done}, r = {far + done, bytes - done};
    return put ? mem_cma_write(host, &l, 1, &r, 1) : mem_cma_read(host, &l, 1, &r, 1);
}

/* The target's memory is reached by CMA. If it is inside MPI, its handler is faster than two system
 * calls of an accumulate, and than one look-up per piece. For much work that holds even if it must
 * be woken. A target that computes gets no message. */
int rma_by_message(const struct rma_near *n, const struct rma_args *a, size_t bytes)
{
    enum { PIECES_WAKE = 64, ACC_WAKE = 32 << 10, BLOCK_LONG = 4096 };
    enum mem_attention there, least = MEM_SPINS;
    if (n->kind != RMA_NEAR_CMA || (there = mem_attention_of(n->host_index)) == MEM_BUSY)
        return 0;
    if (a->kind == RMA_PUT || a->kind == RMA_GET) {
        size_t blocks = dt_blocks(a->ttype, (size_t)a->tcount);
        if (blocks <= CMA_FEW || bytes / blocks >= BLOCK_LONG)
            return 0;
        if (blocks > PIECES_WAKE)
            least = MEM_WAITS;
    } else if (bytes > ACC_WAKE) {
        least = MEM_WAITS;
    }
    return there >= least && mem_ask(n->host_index) >= least;
}

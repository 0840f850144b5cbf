/* kernel.c - the inner loops of pack, unpack and copy.
 *
 * Blocks of 1, 2, 4, 8, 16, 32, 64, 128 bytes are a few loads and stores (memcpy with a constant
 * size: no alignment is assumed). Multiples of 16 up to 256 go in 16-byte steps, short odd ones in
 * overlapping steps, the rest by memcpy.
 *
 * Steps and displacements are added to integers, not pointers. With MPI_BOTTOM, and in layouts from
 * packets whose large displacements cancel out, the start address or the one after the last block
 * may not be a valid C pointer. */
#include "dt/dt_types.h"

#include <string.h>

static inline __attribute__((always_inline)) void copy_at(uintptr_t dst, uintptr_t src, size_t blk)
{
    memcpy((void *)dst, (const void *)src, blk);
}

/* n blocks of constant size; four at a time, so that address updates overlap with the memory's
 * latency. */
static inline __attribute__((always_inline)) void
strided_fixed(uintptr_t dst, uintptr_t ds, uintptr_t src, uintptr_t ss, size_t n, size_t blk)
{
    for (; n >= 4; n -= 4) {
        copy_at(dst, src, blk);
        copy_at(dst + ds, src + ss, blk);
        copy_at(dst + 2 * ds, src + 2 * ss, blk);
        copy_at(dst + 3 * ds, src + 3 * ss, blk);
        dst += 4 * ds;
        src += 4 * ss;
    }
    for (; n; n--) {
        copy_at(dst, src, blk);
        dst += ds;
        src += ss;
    }
}

static inline __attribute__((always_inline)) void copy_by16(char *dst, const char *src, size_t len)
{
    for (; len; len -= 16, dst += 16, src += 16)
        memcpy(dst, src, 16);
}

void kernel_strided(char *to, int64_t to_step, const char *from, int64_t from_step, size_t n,
                    size_t blk)
{
    uintptr_t dst = (uintptr_t)to, src = (uintptr_t)from, ds = (uintptr_t)to_step,
              ss = (uintptr_t)from_step;
    switch (blk) {
    case 1: strided_fixed(dst, ds, src, ss, n, 1); return;
    case 2: strided_fixed(dst, ds, src, ss, n, 2); return;
    case 4: strided_fixed(dst, ds, src, ss, n, 4); return;
    case 8: strided_fixed(dst, ds, src, ss, n, 8); return;
    case 16: strided_fixed(dst, ds, src, ss, n, 16); return;
    case 32: strided_fixed(dst, ds, src, ss, n, 32); return;
    case 64: strided_fixed(dst, ds, src, ss, n, 64); return;
    case 128: strided_fixed(dst, ds, src, ss, n, 128); return;
    default: break;
    }
    if (blk % 16 == 0 && blk <= 256) {
        for (; n; n--, dst += ds, src += ss)
            copy_by16((char *)dst, (const char *)src, blk);
        return;
    }
    for (; n; n--, dst += ds, src += ss)
        copy_block((char *)dst, (const char *)src, blk);
}

static inline __attribute__((always_inline)) void
gather_fixed(char *dst, const char *src, const int64_t *off, size_t n, size_t blk)
{
    for (size_t i = 0; i < n; i++, dst += blk)
        memcpy(dst, (const char *)((uintptr_t)src + (uintptr_t)off[i]), blk);
}

void kernel_gather(char *dst, const char *src, const int64_t *off, size_t n, size_t blk)
{
    switch (blk) {
    case 1: gather_fixed(dst, src, off, n, 1); return;
    case 2: gather_fixed(dst, src, off, n, 2); return;
    case 4: gather_fixed(dst, src, off, n, 4); return;
    case 8: gather_fixed(dst, src, off, n, 8); return;
    case 16: gather_fixed(dst, src, off, n, 16); return;
    default: break;
    }
    for (size_t i = 0; i < n; i++, dst += blk)
        copy_block(dst, (const char *)((uintptr_t)src + (uintptr_t)off[i]), blk);
}

static inline __attribute__((always_inline)) void
scatter_fixed(char *dst, const int64_t *off, const char *src, size_t n, size_t blk)
{
    for (size_t i = 0; i < n; i++, src += blk)
        memcpy((char *)((uintptr_t)dst + (uintptr_t)off[i]), src, blk);
}

void kernel_scatter(char *dst, const int64_t *off, const char *src, size_t n, size_t blk)
{
    switch (blk) {
    case 1: scatter_fixed(dst, off, src, n, 1); return;
    case 2: scatter_fixed(dst, off, src, n, 2); return;
    case 4: scatter_fixed(dst, off, src, n, 4); return;
    case 8: scatter_fixed(dst, off, src, n, 8); return;
    case 16: scatter_fixed(dst, off, src, n, 16); return;
    default: break;
    }
    for (size_t i = 0; i < n; i++, src += blk)
        copy_block((char *)((uintptr_t)dst + (uintptr_t)off[i]), src, blk);
}

/* dt_types.h - private to dt/: layout nodes, signatures, the room's record.
 *
 * Layout of one instance, normalised: no empty parts, no single-entry containers, adjacent blocks
 * merged, equally spaced children turned into vectors. Children start at displacement 0 (the offset
 * is hoisted to the parent, finally to dt_type.origin).
 *
 *   NODE_BLOCK    size bytes
 *   NODE_VECTOR   kid, n times, `stride` bytes apart                       (n >= 2)
 *   NODE_INDEXED  kid, n times, at off[]                                   (n >= 2)
 *   NODE_BLOCKS   n blocks of len[] bytes at off[]; cum[] = prefix sums    (n >= 2)
 *   NODE_LIST     kids[] at off[]; cum[] = prefix sums of their sizes      (n >= 2)
 *
 * Depth: a list absorbs a list below it when that one is NODE_DEEP deep. Every other container at
 * least doubles the size, which fits 63 bits. So no tree is deeper than NODE_DEPTH_MAX, whatever
 * users nest. */
#ifndef DT_DT_TYPES_H
#define DT_DT_TYPES_H

#include <string.h>

#include "dt/make.h"

enum { NODE_DEEP = 40, NODE_DEPTH_MAX = 192, NODE_SPLICE = 32 /* entries taken in at any depth */ };
enum node_kind { NODE_BLOCK, NODE_VECTOR, NODE_INDEXED, NODE_BLOCKS, NODE_LIST };

struct dt_node {
    int refs;
    uint8_t kind;
    uint8_t depth;  /* 1 for NODE_BLOCK */
    int64_t size;   /* packed bytes, > 0 */
    int64_t lo, hi; /* bytes touched: [lo, hi) */
    int64_t blocks; /* NODE_BLOCKs in it, at most INT64_MAX */
    int64_t grain;  /* greatest common divisor of the lengths of its blocks */
    int64_t n;
    int64_t stride;
    struct dt_node *kid;
    struct dt_node **kids;
    int64_t *off, *len, *cum; /* cum has n + 1 entries */
};

/* A node at a displacement; node NULL: nothing. Owns one reference. */
struct place {
    int64_t off;
    struct dt_node *node;
};

/* node.c: constructors. 0, -ENOMEM or -EOVERFLOW; they take over the references they are given,
 * also on error. */
int node_block(int64_t len, struct place *out);
int node_vector(int64_t n, int64_t stride, struct place kid, struct place *out);
int node_indexed(int64_t n, const int64_t *off, struct place kid, struct place *out);
int node_blocks(int64_t n, const int64_t *off, const int64_t *len, struct place *out);
/* entry[] is used as scratch space */
int node_list(int64_t n, struct place *entry, struct place *out);
struct dt_node *node_ref(struct dt_node *n);
void node_drop(struct dt_node *n); /* NULL: nothing */
/* Derive size, lo, hi, blocks, grain, depth (and cum) from the rest. 0 or -EOVERFLOW; -EINVAL if
 * the rest is malformed (unflat). */
int node_finish(struct dt_node *n);
/* with the arrays of its kind; n bounded by the caller */
struct dt_node *node_alloc(enum node_kind kind, int64_t n);

/* walk.c */
/* Bytes [from, to) of the layout, in packed order, as calls of these; nonzero return stops the
 * walk. */
struct sink;
struct sink_ops {
    int (*block)(struct sink *s, uintptr_t at, size_t len);
    int (*strided)(struct sink *s, uintptr_t at, size_t n, size_t blk, int64_t stride);
    int (*indexed)(struct sink *s, uintptr_t at, size_t n, size_t blk, const int64_t *off);
    int (*blocks)(struct sink *s, uintptr_t at, size_t n, const int64_t *off, const int64_t *len);
    /* n instances of a node of blocks, `stride` apart, no byte of which is in two of them: `tile`
     * instances at a time, block by block. May be NULL. */
    int (*rows)(struct sink *s, uintptr_t at, size_t n, int64_t stride, const struct dt_node *row,
                size_t tile);
};
struct sink {
    const struct sink_ops *ops;
};
/* from <= to <= count * t->size; t has data when from < to. */
int walk_type(const struct dt_type *t, size_t count, const void *buf, size_t from, size_t to,
              struct sink *s);

/* Copy a block whose length is unknown at compile time: up to 64 bytes by a few loads and stores
 * that may overlap, without a call. */
static inline void copy_block(char *dst, const char *src, size_t len)
{
    if (len > 64) {
        memcpy(dst, src, len);
    } else if (len >= 16) {
        if (len > 32) {
            memcpy(dst + 16, src + 16, 16);
            memcpy(dst + len - 32, src + len - 32, 16);
        }
        memcpy(dst, src, 16);
        memcpy(dst + len - 16, src + len - 16, 16);
    } else if (len >= 8) {
        memcpy(dst, src, 8);
        memcpy(dst + len - 8, src + len - 8, 8);
    } else if (len >= 4) {
        memcpy(dst, src, 4);
        memcpy(dst + len - 4, src + len - 4, 4);
    } else {
        for (; len; len--)
            *dst++ = *src++;
    }
}

/* The j-th block of a row. */
static inline int64_t row_off(const struct dt_node *row, int64_t j)
{
    return row->off ? row->off[j] : j * row->stride;
}
static inline int64_t row_len(const struct dt_node *row, int64_t j)
{
    return row->len ? row->len[j] : row->kid->size;
}

/* kernel.c: n blocks of blk bytes, ss and ds bytes apart. */
void kernel_strided(char *dst, int64_t ds, const char *src, int64_t ss, size_t n, size_t blk);
void kernel_gather(char *dst, const char *src, const int64_t *off, size_t n, size_t blk);
void kernel_scatter(char *dst, const int64_t *off, const char *src, size_t n, size_t blk);

/* sig.c: which basic elements, in order.
 *   SIG_LEAF  n elements of one predefined type;  SIG_REP  kid n times;  SIG_SEQ  kids[0..n) */
enum sig_kind { SIG_LEAF, SIG_REP, SIG_SEQ };
struct dt_sig {
    int refs;
    uint8_t kind;
    uint8_t depth;
    int64_t size;  /* packed bytes, > 0 */
    int64_t parts; /* elements as MPI_Get_elements counts */
    int64_t n;
    struct dt_type *basic;
    struct dt_sig *kid;
    struct dt_sig **kids;
    int64_t *cum, *cum_parts; /* n + 1 entries each */
};
int sig_leaf(int64_t n, struct dt_type *basic, struct dt_sig **out);
int sig_rep(int64_t n, struct dt_sig *kid, struct dt_sig **out); /* takes over kid */
/* takes over the references; kids[] is scratch */
int sig_seq(int64_t n, struct dt_sig **kids, struct dt_sig **out);
struct dt_sig *sig_ref(struct dt_sig *s);
void sig_drop(struct dt_sig *s);
/* Calls fn for each run of equal elements in order, until it returns nonzero. */
int sig_walk(const struct dt_sig *s, int (*fn)(void *arg, const struct dt_type *basic, int64_t n),
             void *arg);

/* op.c: kernels by [number representation][operation]; strides in bytes. */
typedef void dt_kernel(const char *in, int64_t is, char *io, int64_t ios, size_t n);
enum num {
    NUM_NONE, NUM_I8, NUM_I16, NUM_I32, NUM_I64, NUM_U8, NUM_U16, NUM_U32, NUM_U64, NUM_F16,
    NUM_F32, NUM_F64, NUM_LD, NUM_F128, NUM_C32, NUM_C64, NUM_CLD, NUM_C128, NUM_BOOL8, NUM_BOOL32,
    NUM_PFI, NUM_PDI, NUM_PLI, NUM_PSI, NUM_P2I, NUM_PLDI, NUM_P2F, NUM_P2D, NUM_COUNT
};
struct kernel_table {
    dt_kernel *fn[NUM_COUNT][DT_OPS];
};
/* The table for this processor. */
const struct kernel_table *kernel_table_pick(void);
extern const struct kernel_table kernel_table_base;
#ifdef __x86_64__
extern const struct kernel_table kernel_table_avx2;
#endif

struct dt_room {
    const struct kernel_table *kernels;
    struct dt_type *types; /* predefined, in the order of predef.c */
    int ntypes;
    struct dt_op ops[DT_OPS];
    struct dt_type **f90; /* parameterised Fortran types made so far */
    int nf90, f90_room;
    uint64_t next_id;
    uint64_t listed; /* blocks that marks.c has listed: its work */
};

/* type.c */
struct dt_type *type_alloc(void);
void type_derive(struct dt_type *t); /* flags and bounds that follow from node, lb, extent */
/* [*lo, *hi) repeated n > 0 times, `stride` apart: 0 or -EOVERFLOW. */
int type_span(int64_t n, int64_t stride, int64_t *lo, int64_t *hi);
int type_errno(int neg_errno); /* -ENOMEM, -EOVERFLOW to an MPI error code */
void f90_finalize(void);
/* predef.c */
int predef_init(void);
void predef_finalize(void);

static inline int add64(int64_t a, int64_t b, int64_t *out)
{
    return __builtin_add_overflow(a, b, out);
}
static inline int mul64(int64_t a, int64_t b, int64_t *out)
{
    return __builtin_mul_overflow(a, b, out);
}

/* The entry that holds packed byte `pos`: cum[i] <= pos < cum[i + 1]. */
static inline int64_t cum_find(const int64_t *cum, int64_t n, int64_t pos)
{
    int64_t lo = 0, hi = n;
    while (hi - lo > 1) {
        int64_t mid = lo + (hi - lo) / 2;
        if (cum[mid] <= pos)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

#endif

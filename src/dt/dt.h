/* dt.h - datatypes: layouts, copying between them, reduction operations.
 *
 *   handle --dt_find--> struct dt_type --layout--> nodes (block | vector | indexed | ...),
 *                                     |            normalised when made
 *                                     '--signature--> which basic elements, in which order
 *
 * "Packed bytes" are the data of (type, count) in typemap order without gaps; every position is a
 * byte offset into them, and every call may start at any position (found in O(depth * log)), so
 * that messages are streamed through bounded buffers with no state kept between calls.
 *
 * Rules of use:
 *  - sizes and counts here are int64 or size_t; dt_total() checks their product once, at the MPI
 *    call.
 *  - a type outlives MPI_Type_free while it has references: dt_ref() for each pending operation,
 *    dt_drop() after.
 *  - layouts of types are immutable; predefined types and ops are never freed.
 *  - base addresses may be NULL (MPI_BOTTOM) with absolute displacements.
 *  - functions that return int return an MPI error code (err_make). */
#ifndef DT_DT_H
#define DT_DT_H

#include <mpi.h>

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "obj/comm.h"
#include "obj/obj.h"

struct dt_node; /* layout of one instance; private */
struct dt_sig;  /* signature; private */
struct dt_marks; /* where some of its blocks begin; private */

enum dt_flag {
    DT_CONTIG = 1,     /* size == extent: (buf, count) is one block of count * size bytes at buf +
                        * true_lb */
    DT_PREDEFINED = 2, /* has a fixed ABI handle */
    DT_COMMITTED = 4,
    DT_LB_SET = 8,     /* the lower bound was set by a marker or MPI_Type_create_resized (sticky) */
    DT_UB_SET = 16,
    DT_ONE = 32,       /* one instance is one block; so is (t, count) for count <= 1 */
    DT_ABSOLUTE = 64,  /* data does not start at 0: a NULL buffer (MPI_BOTTOM) may be meant */
};

/* What a basic element is, for arithmetic and atomics on it. */
enum dt_kind {
    DT_NONE,     /* not one kind: mixed elements, LB, UB */
    DT_SIGNED, DT_UNSIGNED, DT_FLOAT, DT_COMPLEX,
    DT_LOGICAL,  /* C bool, Fortran logical: any nonzero is true */
    DT_BYTE, DT_CHAR, /* characters are compared as integers only where MPICH does so */
    DT_PAIR,     /* value and index of MINLOC/MAXLOC */
    DT_OPAQUE    /* MPI_PACKED, MPI_WCHAR */
};

struct dt_elem {
    uint8_t kind;   /* enum dt_kind */
    uint8_t bytes;  /* packed bytes of one element (MPI_DOUBLE_INT: 12) */
    uint8_t stride; /* from one element to the next in an array (MPI_DOUBLE_INT: 16) */
    uint8_t num;    /* number representation, index of the kernels; private */
    uint8_t parts;  /* basic elements for MPI_Get_elements: 2 for pairs */
    uint8_t align;
    uint8_t ext32;  /* bytes in external32 of one part (pairs: of the value; the index has 4) */
};

struct dt_contents; /* envelope and contents (make.h) */

struct dt_type {
    struct obj obj;        /* handle 0: made by dt_unflat, invisible to users */
    unsigned flags;        /* enum dt_flag */
    struct dt_elem elem;   /* kind DT_NONE: elements differ */
    uint16_t ops;          /* predefined: dt_op_bits() */
    int64_t size;          /* packed bytes of one instance */
    int64_t extent, lb;    /* ub = lb + extent */
    int64_t true_lb, true_ub;
    int64_t align;         /* of its most aligned member, bytes; pads structs */
    int64_t origin;        /* displacement of `node` in an instance */
    struct dt_node *node;  /* NULL: no data */
    struct dt_sig *sig;    /* NULL: no data */
    struct dt_type *basic; /* predefined type of all its elements (RMA "basic type"), itself if
                            * predefined; or NULL */
    uint64_t id;           /* unique in this process: key for caches */
    struct dt_contents *contents;
    struct attr_list attrs;
    int holders;           /* user handles: 1 + MPI_Type_get_contents - MPI_Type_free; 0: invisible
                            * to users */
    void *flat;            /* cache of dt_flat */
    size_t flat_len;
    uint64_t hash;         /* of flat; 0: not computed */
    struct dt_marks *marks; /* cache of dt_iov_from; or NULL */
    char *name;            /* NULL: default */
};

int dt_init(void); /* after obj_init */
void dt_finalize(void);

/* --- look-up and life ------------------------------------------------------- */
static inline struct dt_type *dt_find(MPI_Datatype h) /* NULL: no such type */
{
    return obj_find(OBJ_TYPE, h);
}
/* Size of a predefined type that is one contiguous element, from its handle alone (no memory is
 * read); 0: anything else. Valid only for handles known to name a type. For the near fast path. */
static inline unsigned dt_handle_bytes(MPI_Datatype h)
{
    return ((unsigned)h >> 16) == 0x4c00 ? ((unsigned)h >> 8) & 0xff : 0;
}
static inline struct dt_type *dt_ref(struct dt_type *t)
{
    if (!(t->flags & DT_PREDEFINED))
        t->obj.refs++;
    return t;
}
void dt_drop(struct dt_type *t);

/* Packed bytes of count instances: *bytes; MPI_ERR_COUNT if they do not fit 63 bits. */
int dt_total(const struct dt_type *t, size_t count, size_t *bytes);
/* Lowest byte touched and one past the highest, relative to the buffer; both 0 without data.
 * MPI_ERR_COUNT if they or their distance overflow. */
int dt_bounds(const struct dt_type *t, size_t count, int64_t *lo, int64_t *hi);
/* Do (s, n) and (t, m), at one address, share a byte? Exact where each is one block, and where what
 * they span is apart; else only types of equal layout are said to. */
int dt_overlap(struct dt_type *s, size_t n, struct dt_type *t, size_t m);
/* Is (t, count) one block?  Then it starts at dt_start(t, buf) and has count * size bytes. */
static inline int dt_is_block(const struct dt_type *t, size_t count)
{
    return (t->flags & DT_CONTIG) || ((t->flags & DT_ONE) && count <= 1);
}
static inline void *dt_start(const struct dt_type *t, const void *buf)
{
    return (void *)((uintptr_t)buf + (uintptr_t)t->true_lb);
}

/* --- data ------------------------------------------------------------------- */
/* Packed bytes [from, from+len) of (t, count, buf) to `out` and back; cut at the end of the data.
 * Return the bytes moved. */
size_t dt_pack(const struct dt_type *t, size_t count, const void *buf, size_t from, void *out,
               size_t len);
size_t dt_unpack(const struct dt_type *t, size_t count, void *buf, size_t from, const void *in,
                 size_t len);
/* From one layout to the other with no buffer between: packed bytes [from, from+len) of both, cut
 * at the end of the shorter. Returns the bytes moved. */
size_t dt_copy_part(const void *src, size_t scount, const struct dt_type *st, void *dst,
                    size_t dcount, const struct dt_type *dt, size_t from, size_t len);
static inline size_t dt_copy(const void *src, size_t scount, const struct dt_type *st, void *dst,
                             size_t dcount, const struct dt_type *dt)
{
    return dt_copy_part(src, scount, st, dst, dcount, dt, 0, SIZE_MAX);
}
/* Blocks of memory that hold the packed bytes from `from` on, adjacent ones joined: at most max
 * entries.  Returns how many; *bytes_out: their bytes (the next call starts at from + *bytes_out).
 * buf NULL gives offsets.  No more than `len` bytes are described. */
size_t dt_iov(const struct dt_type *t, size_t count, const void *buf, size_t from, size_t len,
              struct iovec *iov, size_t max, size_t *bytes_out);
/* The blocks of one instance as dt_iov gives them, by their number: at most max from the first-th
 * on, counted from 0. Returns how many; fewer than max only at the end. Piece by piece each call
 * costs its own blocks. */
size_t dt_iov_from(struct dt_type *t, int64_t first, struct iovec *iov, size_t max);
/* How many of them are in the first `bytes` packed bytes in whole; *held: their bytes. */
int64_t dt_iov_within(struct dt_type *t, int64_t bytes, int64_t *held);
/* All blocks of (t, count), in packed order: each call of fn has n blocks of len bytes that begin
 * `stride` bytes apart. Adjacent ones may come in calls of their own. A nonzero result ends it. */
typedef int dt_run_fn(void *arg, uintptr_t at, size_t n, size_t len, int64_t stride);
void dt_runs(const struct dt_type *t, size_t count, const void *buf, dt_run_fn *fn, void *arg);
/* How many blocks dt_iov gives at most for all of (t, count). */
size_t dt_blocks(const struct dt_type *t, size_t count);
/* The order in which one instance goes through memory: descending somewhere; ascending, with bytes
 * that are in two blocks; each block behind the one before. *first: where the first block begins;
 * *bits: all displacements and lengths, or-ed (their lowest bit divides all of them). */
enum dt_ascent { DT_UNSORTED, DT_OVERLAPPING, DT_ASCENDING };
enum dt_ascent dt_order(const struct dt_type *t, int64_t *first, uint64_t *bits);
/* external32 form of the same: dt_ext_size is the bytes of it, pack and unpack take all of (t,
 * count).  MPI_PACKED and MPI_BYTE pass as bytes. MPI_ERR_TYPE for elements without external
 * form. */
int dt_ext_size(const struct dt_type *t, size_t count, size_t *bytes);
int dt_ext_pack(const struct dt_type *t, size_t count, const void *buf, void *out);
int dt_ext_unpack(const struct dt_type *t, size_t count, void *buf, const void *in);
/* The whole elements that are in the first len bytes of it. Returns their bytes in memory. */
size_t dt_ext_unpack_part(const struct dt_type *t, size_t count, void *buf, const void *in,
                          size_t len);

/* --- signatures ------------------------------------------------------------- */
/* Basic elements in `bytes` packed bytes of repeated t; -1 if the last one is cut
 * (MPI_UNDEFINED). */
int64_t dt_elements(const struct dt_type *t, size_t bytes);
/* The bytes that hold n basic elements of repeated t; -1 if they cannot (no data, overflow). */
int64_t dt_elements_bytes(const struct dt_type *t, int64_t n);
/* 64-bit hash of the basic elements (kind and bytes) of count instances, in order. Equal signatures
 * have equal hashes, however the types were built. Runs of equal elements are O(1). */
uint64_t dt_sig_hash(const struct dt_type *t, size_t count);
/* The same of the elements in the first `bytes` packed bytes of repeated t; an element that is cut
 * does not count. */
uint64_t dt_sig_hash_part(const struct dt_type *t, size_t bytes);
int dt_sig_packed(const struct dt_type *t); /* MPI_PACKED is among its elements */

/* --- sending a layout to another process ------------------------------------- */
/* The layout, bounds and basic type as bytes, cached in the type until it is dropped. NULL: no
 * memory. */
const void *dt_flat(struct dt_type *t, size_t *len);
/* Hash of these bytes (never 0): types of equal layout have equal hashes in all processes. */
uint64_t dt_hash(struct dt_type *t);
/* A type from such bytes, which may be malicious: everything is checked. It has no handle, is
 * committed, and is freed by dt_drop. MPI_ERR_TYPE, MPI_ERR_NO_MEM. */
int dt_unflat(const void *bytes, size_t len, struct dt_type **out);

/* --- reduction operations ----------------------------------------------------- */
struct dt_op {
    struct obj obj;
    int index;   /* 1..14 in the order of MPICH's handles (MPI_MAX is 1); 0: user's */
    int commute;
    void (*user)(void *in, void *inout, int *len, MPI_Datatype *type);
    /* calls user, of C++ */
    void (*cxx)(const void *in, void *inout, int len, MPI_Datatype type, MPI_User_function *user);
    void (*cxx_c)(const void *in, void *inout, MPI_Count len, MPI_Datatype type,
                  MPI_User_function_c *user);
    void (*user_c)(void *in, void *inout, MPI_Count *len, MPI_Datatype *type); /* MPI_Op_create_c */
    /* of a front: calls `intercept`, which calls user */
    void (*front)(const void *in, void *inout, int len, MPI_Datatype type, void (*user)(void),
                  void (*intercept)(void));
    void (*intercept)(void);
};
enum dt_op_index {
    DT_MAX = 1, DT_MIN, DT_SUM, DT_PROD, DT_LAND, DT_BAND, DT_LOR, DT_BOR, DT_LXOR, DT_BXOR,
    DT_MINLOC, DT_MAXLOC, DT_REPLACE, DT_NO_OP, DT_OPS
};
/* The index of a predefined one, whose handles are consecutive; DT_OPS or more: none.  No memory is
 * read. */
static inline unsigned dt_op_handle_index(MPI_Op h)
{
    return (unsigned)h - (unsigned)MPI_MAX + DT_MAX;
}
static inline struct dt_op *dt_op_find(MPI_Op h) /* NULL: no such op */
{
    return obj_find(OBJ_OP, h);
}
int dt_op_make(void (*fn)(void *, void *, int *, MPI_Datatype *), int commute, struct dt_op **out);
int dt_op_make_c(void (*fn)(void *, void *, MPI_Count *, MPI_Datatype *), int commute,
                 struct dt_op **out);
static inline struct dt_op *dt_op_ref(struct dt_op *o)
{
    if (!o->index)
        o->obj.refs++;
    return o;
}
void dt_op_drop(struct dt_op *o);

/* May op be used with t? DT_FOR_REDUCE: predefined ops want predefined types, REPLACE and NO_OP are
 * refused.  DT_FOR_ACC: predefined ops only, on a type with one basic element kind. MPI_ERR_OP,
 * MPI_ERR_TYPE with text. */
enum dt_use { DT_FOR_REDUCE, DT_FOR_ACC };
int dt_op_check(const struct dt_op *op, const struct dt_type *t, enum dt_use use);
/* Bits of the predefined operations that elements like e take, MPI_REPLACE and MPI_NO_OP
 * included. */
uint16_t dt_op_bits(const struct dt_elem *e);
/* inout[i] = in[i] op inout[i] for count instances (MPI_Reduce_local). The pair was checked.
 * A predefined op takes any type with one basic element kind that is contiguous; a user op any
 * type. */
void dt_op_apply(const struct dt_op *op, const void *in, void *inout, size_t count,
                 const struct dt_type *t);
/* The same from packed bytes onto a layout: bytes [from, from+len) of (t, count, buf) become in op
 * buf (MPI_REPLACE: dt_unpack; MPI_NO_OP: nothing). from and len are multiples of t->elem.bytes.
 * Predefined ops only. */
size_t dt_op_unpack(const struct dt_op *op, const struct dt_type *t, size_t count, void *buf,
                    size_t from, const void *in, size_t len);
/* The same on n packed elements of predefined type `basic` in memory, possibly misaligned. */
void dt_op_elems(const struct dt_op *op, const struct dt_type *basic, const void *in, void *inout,
                 size_t n);
/* The same on n pieces of whole elements, which lie at `base` + iov_base; their operands follow
 * each other in `in`. */
void dt_op_pieces(const struct dt_op *op, const struct dt_type *basic, const void *in,
                  uintptr_t base, const struct iovec *piece, size_t n);

#endif

/* op.c - reduction operations: which types they take, and how they apply to buffers, packets and
 * layouts. Start with dt_op_apply(). */
#include "dt/dt_types.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "obj/err.h"
#include "obj/upcall.h"
#include "watch/watch.h"

const struct kernel_table *kernel_table_pick(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        return &kernel_table_avx2;
#endif
    return &kernel_table_base;
}

static const char *const op_names[DT_OPS] = {
    "user",     "MPI_MAX",    "MPI_MIN",    "MPI_SUM",     "MPI_PROD",
    "MPI_LAND", "MPI_BAND",   "MPI_LOR",    "MPI_BOR",     "MPI_LXOR",
    "MPI_BXOR", "MPI_MINLOC", "MPI_MAXLOC", "MPI_REPLACE", "MPI_NO_OP",
};

/* Kinds each operation takes (MPI-3.1 5.9.2); logical ones also take floating point, and MPI_CHAR
 * counts as an integer, as in MPICH. */
#define BIT(k) (1u << (k))
enum {
    INTEGERS = BIT(DT_SIGNED) | BIT(DT_UNSIGNED) | BIT(DT_CHAR),
    ORDERED = INTEGERS | BIT(DT_FLOAT),
    NUMBERS = ORDERED | BIT(DT_COMPLEX),
    TRUTHS = ORDERED | BIT(DT_LOGICAL),
    BITS = INTEGERS | BIT(DT_BYTE)
};
static const unsigned op_kinds[DT_OPS] = {
    [DT_MAX] = ORDERED, [DT_MIN] = ORDERED, [DT_SUM] = NUMBERS,         [DT_PROD] = NUMBERS,
    [DT_LAND] = TRUTHS, [DT_LOR] = TRUTHS,  [DT_LXOR] = TRUTHS,         [DT_BAND] = BITS,
    [DT_BOR] = BITS,    [DT_BXOR] = BITS,   [DT_MINLOC] = BIT(DT_PAIR), [DT_MAXLOC] = BIT(DT_PAIR),
};

static int has(int op, const struct dt_elem *e)
{
    return (op_kinds[op] & BIT(e->kind)) && kernel_table_base.fn[e->num][op];
}

uint16_t dt_op_bits(const struct dt_elem *e)
{
    unsigned bits = BIT(DT_REPLACE) | BIT(DT_NO_OP);
    for (int op = 1; op < DT_REPLACE; op++)
        if (has(op, e))
            bits |= BIT(op);
    return (uint16_t)bits;
}

int dt_op_check(const struct dt_op *op, const struct dt_type *t, enum dt_use use)
{
    const char *call = proc->call ? proc->call : "MPI";
    int moves = op->index == DT_REPLACE || op->index == DT_NO_OP;
    if (use == DT_FOR_REDUCE && !op->index)
        return MPI_SUCCESS;
    if (!op->index)
        return err_make(MPI_ERR_OP,
                        "%s: op %#x is the user's; accumulates take predefined operations only",
                        call, (unsigned)op->obj.handle);
    if (use == DT_FOR_REDUCE && (moves || !(t->flags & DT_PREDEFINED)))
        return err_make(MPI_ERR_OP, "%s: %s cannot reduce datatype %#x%s", call,
                        op_names[op->index], (unsigned)t->obj.handle,
                        moves ? "" : ", which is not predefined");
    if (!t->basic && t->size)
        return err_make(MPI_ERR_TYPE,
                        "%s: datatype %#x has elements of more than one predefined type", call,
                        (unsigned)t->obj.handle);
    if (moves || !t->basic)
        return MPI_SUCCESS;
    if (!has(op->index, &t->elem))
        return err_make(MPI_ERR_OP, "%s: %s is not defined for %s", call, op_names[op->index],
                        dt_default_name(t->basic));
    return MPI_SUCCESS;
}

static int op_add(struct dt_op *o, int commute, struct dt_op **out)
{
    if (!o)
        return type_errno(-ENOMEM);
    o->commute = commute;
    if (obj_add(OBJ_OP, &o->obj)) {
        free(o);
        return type_errno(-ENOMEM);
    }
    watch_made(OBJ_OP, &o->obj);
    *out = o;
    return MPI_SUCCESS;
}

int dt_op_make(void (*fn)(void *, void *, int *, MPI_Datatype *), int commute, struct dt_op **out)
{
    struct dt_op *o = calloc(1, sizeof *o);
    if (o)
        o->user = fn;
    return op_add(o, commute, out);
}

int dt_op_make_c(void (*fn)(void *, void *, MPI_Count *, MPI_Datatype *), int commute,
                 struct dt_op **out)
{
    struct dt_op *o = calloc(1, sizeof *o);
    if (o)
        o->user_c = fn;
    return op_add(o, commute, out);
}

void dt_op_drop(struct dt_op *o)
{
    if (o->index || --o->obj.refs)
        return;
    obj_del(OBJ_OP, &o->obj);
    free(o);
}

static void call_user(const struct dt_op *op, const void *in, void *inout, size_t count,
                      const struct dt_type *t)
{
    MPI_Datatype handle = t->obj.handle;
    struct upcall hold;
    upcall_begin(&hold);
    if (op->user_c) {
        MPI_Count n = (MPI_Count)count;
        if (op->cxx_c)
            op->cxx_c(in, inout, n, handle, op->user_c);
        else
            op->user_c((void *)(uintptr_t)in, inout, &n, &handle);
        upcall_end(&hold);
        return;
    }
    for (size_t done = 0; done < count;) {
        int n = count - done < INT_MAX ? (int)(count - done) : INT_MAX;
        uintptr_t skip = (uintptr_t)done * (uintptr_t)t->extent;
        void *from = (void *)((uintptr_t)in + skip), *to = (void *)((uintptr_t)inout + skip);
        if (op->front)
            op->front(from, to, n, handle, (void (*)(void))op->user, op->intercept);
        else if (op->cxx)
            op->cxx(from, to, n, handle, op->user);
        else
            op->user(from, to, &n, &handle);
        done += (size_t)n;
        handle = t->obj.handle;
    }
    upcall_end(&hold);
}

static void user_apply(const struct dt_op *op, const void *in, void *inout, size_t count,
                       const struct dt_type *t)
{
    int watched = watch_wants(WATCH_BUFFERS);
    if (watched)
        watch_op_runs(1);
    call_user(op, in, inout, count, t);
    if (watched)
        watch_op_runs(0);
}

/* Memory of malloc begins 16 bytes behind a cache line, so that each second vector of a long loop
 * would cross one. The elements before the first whole vector of `io` have a loop of their own. */
enum { VECTOR = 32, LEAD_FROM = 2048 /* bytes of the shortest loop that pays for a second one */ };
static __attribute__((noinline)) void run_long(dt_kernel *fn, const char *in, char *io,
                                               int64_t step, size_t n)
{
    size_t lead = -(uintptr_t)io % VECTOR;
    if (lead && lead % (size_t)step == 0) {
        size_t k = lead / (size_t)step;
        fn(in, step, io, step, k);
        in += lead;
        io += lead;
        n -= k;
    }
    fn(in, step, io, step, n);
}

static inline void run(dt_kernel *fn, const char *in, int64_t is, char *io, int64_t ios, size_t n)
{
    if (is == ios && n * (size_t)is >= LEAD_FROM) /* no division for short ones */
        run_long(fn, in, io, is, n);
    else
        fn(in, is, io, ios, n);
}

/* n elements with their strides; both sides natural (elem.stride) or packed (elem.bytes). */
static void elems(const struct dt_op *op, const struct dt_elem *e, const char *in, int64_t is,
                  char *io, int64_t ios, size_t n)
{
    if (op->index == DT_NO_OP)
        return;
    if (op->index == DT_REPLACE) {
        if (is == ios)
            memmove(io, in, n ? (n - 1) * (size_t)is + e->bytes : 0);
        else
            kernel_strided(io, ios, in, is, n, e->bytes);
        return;
    }
    dt_kernel *fn = proc->dt->kernels->fn[e->num][op->index];
    WR_ASSERT(fn != NULL);
    run(fn, in, is, io, ios, n);
}

void dt_op_apply(const struct dt_op *op, const void *in, void *inout, size_t count,
                 const struct dt_type *t)
{
    if (!count)
        return;
    if (!op->index) {
        const char *call = proc->call; /* it may call MPI, which notes and clears it */
        user_apply(op, in, inout, count, t);
        proc->call = call;
        return;
    }
    if (!t->size)
        return;
    if (t->flags & DT_PREDEFINED)
        elems(op, &t->elem, in, t->elem.stride, inout, t->elem.stride, count);
    else
        elems(op, &t->elem, dt_start(t, in), t->elem.bytes, dt_start(t, inout), t->elem.bytes,
              count * (size_t)t->size / t->elem.bytes);
}

void dt_op_elems(const struct dt_op *op, const struct dt_type *basic, const void *in, void *inout,
                 size_t n)
{
    elems(op, &basic->elem, in, basic->elem.bytes, inout, basic->elem.bytes, n);
}

void dt_op_pieces(const struct dt_op *op, const struct dt_type *basic, const void *in,
                  uintptr_t base, const struct iovec *piece, size_t n)
{
    const struct dt_elem *e = &basic->elem;
    const char *from = in;
    if (op->index == DT_NO_OP)
        return;
    dt_kernel *fn = op->index == DT_REPLACE ? NULL : proc->dt->kernels->fn[e->num][op->index];
    WR_ASSERT(fn || op->index == DT_REPLACE);
    int power = (e->bytes & (e->bytes - 1)) == 0;
    unsigned shift = (unsigned)__builtin_ctzll(e->bytes);
    for (size_t i = 0; i < n; i++) {
        size_t len = piece[i].iov_len;
        char *at = (char *)(base + (uintptr_t)piece[i].iov_base);
        if (fn)
            run(fn, from, e->bytes, at, e->bytes, power ? len >> shift : len / e->bytes);
        else
            memmove(at, from, len);
        from += len;
    }
}

/* --- packed bytes onto a layout ------------------------------------------------- */
struct reducer {
    struct sink sink;
    const struct dt_op *op;
    const struct dt_elem *elem;
    const char *in;
    int holed; /* elements have a gap in an array; those in one block (possible in a layout from a
                * packet) have none */
};

static int reduce_block(struct sink *s, uintptr_t at, size_t len)
{
    struct reducer *r = (struct reducer *)s;
    elems(r->op, r->elem, r->in, r->elem->bytes, (char *)at, r->elem->bytes, len / r->elem->bytes);
    r->in += len;
    return 0;
}

static int reduce_strided(struct sink *s, uintptr_t at, size_t n, size_t blk, int64_t stride)
{
    struct reducer *r = (struct reducer *)s;
    if (blk == r->elem->bytes && !r->holed) {
        /* a kernel takes other steps than the packed one for an array's */
        elems(r->op, r->elem, r->in, (int64_t)blk, (char *)at, stride, n);
        r->in += n * blk;
        return 0;
    }
    for (size_t i = 0; i < n; i++, at += (uintptr_t)stride)
        reduce_block(s, at, blk);
    return 0;
}

static int reduce_indexed(struct sink *s, uintptr_t at, size_t n, size_t blk, const int64_t *off)
{
    for (size_t i = 0; i < n; i++)
        reduce_block(s, at + (uintptr_t)off[i], blk);
    return 0;
}

static int reduce_blocks(struct sink *s, uintptr_t at, size_t n, const int64_t *off,
                         const int64_t *len)
{
    for (size_t i = 0; i < n; i++)
        reduce_block(s, at + (uintptr_t)off[i], (size_t)len[i]);
    return 0;
}

static const struct sink_ops reduce_ops = {reduce_block, reduce_strided, reduce_indexed,
                                           reduce_blocks, NULL};

/* Elements that are split by blocks (MPI_SHORT_INT has a gap inside): one at a time through a
 * buffer. */
static void reduce_cut(const struct dt_op *op, const struct dt_type *t, size_t count, void *buf,
                       size_t from, const char *in, size_t len)
{
    char one[64];
    const size_t step = t->elem.bytes;
    for (size_t done = 0; done + step <= len; done += step) {
        dt_pack(t, count, buf, from + done, one, step);
        elems(op, &t->elem, in + done, (int64_t)step, one, (int64_t)step, 1);
        dt_unpack(t, count, buf, from + done, one, step);
    }
}

size_t dt_op_unpack(const struct dt_op *op, const struct dt_type *t, size_t count, void *buf,
                    size_t from, const void *in, size_t len)
{
    if (op->index == DT_REPLACE)
        return dt_unpack(t, count, buf, from, in, len);
    size_t total = (size_t)t->size * count;
    len = from >= total ? 0 : len < total - from ? len : total - from;
    if (op->index == DT_NO_OP || !len)
        return len;
    if (t->node->grain % t->elem.bytes || from % t->elem.bytes) {
        reduce_cut(op, t, count, buf, from, in, len);
        return len;
    }
    if (dt_is_block(t, count)) {
        elems(op, &t->elem, in, t->elem.bytes, (char *)dt_start(t, buf) + from, t->elem.bytes,
              len / t->elem.bytes);
        return len;
    }
    struct reducer r = {
        {&reduce_ops}, op, &t->elem, in, t->basic && t->basic->node->kind != NODE_BLOCK};
    walk_type(t, count, buf, from, from + len, &r.sink);
    return len;
}

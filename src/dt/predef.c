/* predef.c - the predefined datatypes and operations, under MPICH's handles. Start with
 * predef_init(). */
#include "dt/dt_types.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/log.h"
#include "obj/attr.h"

struct row {
    MPI_Datatype handle;
    const char *name;
    struct dt_elem elem;
};

/* kind, bytes, stride, representation, parts, alignment, external32 bytes of a part */
#define NUMBER(H, KIND, T, NUM, EXT) {H, #H, {KIND, sizeof(T), sizeof(T), NUM, 1, _Alignof(T), EXT}}
#define PAIR(H, T, BYTES, NUM, EXT) {H, #H, {DT_PAIR, BYTES, sizeof(T), NUM, 2, _Alignof(T), EXT}}

struct float_int { float v; int i; };
struct double_int { double v; int i; };
struct long_int { long v; int i; };
struct short_int { short v; int i; };
struct two_int { int v, i; };
struct ld_int { long double v; int i; };
struct two_real { float v, i; };
struct two_double { double v, i; };

/* MPI_SIGNED_CHAR and the Fortran integers follow their C types; REAL16 is IEEE quad, as gfortran's
 * real(16).  MPI_LONG has 4 bytes in external32, AINT, OFFSET and COUNT have 8 (MPI-3.1 table
 * 13.2). */
static const struct row rows[] = {
    NUMBER(MPI_CHAR, DT_CHAR, char, NUM_I8, 1),
    NUMBER(MPI_SIGNED_CHAR, DT_SIGNED, signed char, NUM_I8, 1),
    NUMBER(MPI_UNSIGNED_CHAR, DT_UNSIGNED, unsigned char, NUM_U8, 1),
    NUMBER(MPI_BYTE, DT_BYTE, char, NUM_U8, 1),
    NUMBER(MPI_WCHAR, DT_OPAQUE, wchar_t, NUM_U32, 2),
    NUMBER(MPI_SHORT, DT_SIGNED, short, NUM_I16, 2),
    NUMBER(MPI_UNSIGNED_SHORT, DT_UNSIGNED, unsigned short, NUM_U16, 2),
    NUMBER(MPI_INT, DT_SIGNED, int, NUM_I32, 4),
    NUMBER(MPI_UNSIGNED, DT_UNSIGNED, unsigned, NUM_U32, 4),
    NUMBER(MPI_LONG, DT_SIGNED, long, NUM_I64, 4),
    NUMBER(MPI_UNSIGNED_LONG, DT_UNSIGNED, unsigned long, NUM_U64, 4),
    NUMBER(MPI_FLOAT, DT_FLOAT, float, NUM_F32, 4),
    NUMBER(MPI_DOUBLE, DT_FLOAT, double, NUM_F64, 8),
    NUMBER(MPI_LONG_DOUBLE, DT_FLOAT, long double, NUM_LD, 16),
    NUMBER(MPI_LONG_LONG_INT, DT_SIGNED, long long, NUM_I64, 8),
    NUMBER(MPI_UNSIGNED_LONG_LONG, DT_UNSIGNED, unsigned long long, NUM_U64, 8),
    NUMBER(MPI_PACKED, DT_OPAQUE, char, NUM_NONE, 1),
    NUMBER(MPI_COMPLEX, DT_COMPLEX, float _Complex, NUM_C32, 8),
    NUMBER(MPI_DOUBLE_COMPLEX, DT_COMPLEX, double _Complex, NUM_C64, 16),
    NUMBER(MPI_LOGICAL, DT_LOGICAL, int, NUM_BOOL32, 4),
    NUMBER(MPI_REAL, DT_FLOAT, float, NUM_F32, 4),
    NUMBER(MPI_DOUBLE_PRECISION, DT_FLOAT, double, NUM_F64, 8),
    NUMBER(MPI_INTEGER, DT_SIGNED, int, NUM_I32, 4),
    NUMBER(MPI_CHARACTER, DT_CHAR, char, NUM_NONE, 1),
    NUMBER(MPI_REAL4, DT_FLOAT, float, NUM_F32, 4),
    NUMBER(MPI_REAL8, DT_FLOAT, double, NUM_F64, 8),
    {MPI_REAL16, "MPI_REAL16", {DT_FLOAT, 16, 16, NUM_F128, 1, 16, 16}},
    NUMBER(MPI_COMPLEX8, DT_COMPLEX, float _Complex, NUM_C32, 8),
    NUMBER(MPI_COMPLEX16, DT_COMPLEX, double _Complex, NUM_C64, 16),
    {MPI_COMPLEX32, "MPI_COMPLEX32", {DT_COMPLEX, 32, 32, NUM_C128, 1, 16, 32}},
    NUMBER(MPI_INTEGER1, DT_SIGNED, int8_t, NUM_I8, 1),
    NUMBER(MPI_INTEGER2, DT_SIGNED, int16_t, NUM_I16, 2),
    NUMBER(MPI_INTEGER4, DT_SIGNED, int32_t, NUM_I32, 4),
    NUMBER(MPI_INTEGER8, DT_SIGNED, int64_t, NUM_I64, 8),
    NUMBER(MPI_INT8_T, DT_SIGNED, int8_t, NUM_I8, 1),
    NUMBER(MPI_INT16_T, DT_SIGNED, int16_t, NUM_I16, 2),
    NUMBER(MPI_INT32_T, DT_SIGNED, int32_t, NUM_I32, 4),
    NUMBER(MPI_INT64_T, DT_SIGNED, int64_t, NUM_I64, 8),
    NUMBER(MPI_UINT8_T, DT_UNSIGNED, uint8_t, NUM_U8, 1),
    NUMBER(MPI_UINT16_T, DT_UNSIGNED, uint16_t, NUM_U16, 2),
    NUMBER(MPI_UINT32_T, DT_UNSIGNED, uint32_t, NUM_U32, 4),
    NUMBER(MPI_UINT64_T, DT_UNSIGNED, uint64_t, NUM_U64, 8),
    NUMBER(MPI_C_BOOL, DT_LOGICAL, bool, NUM_BOOL8, 1),
    /* two names */
    {MPI_C_FLOAT_COMPLEX,
     "MPI_C_COMPLEX",
     {DT_COMPLEX, 8, 8, NUM_C32, 1, _Alignof(float _Complex), 8}},
    NUMBER(MPI_C_DOUBLE_COMPLEX, DT_COMPLEX, double _Complex, NUM_C64, 16),
    NUMBER(MPI_C_LONG_DOUBLE_COMPLEX, DT_COMPLEX, long double _Complex, NUM_CLD, 32),
    {MPIX_C_FLOAT16, "MPIX_C_FLOAT16", {DT_FLOAT, 2, 2, NUM_F16, 1, 2, 2}},
    NUMBER(MPI_AINT, DT_SIGNED, MPI_Aint, NUM_I64, 8),
    NUMBER(MPI_OFFSET, DT_SIGNED, MPI_Offset, NUM_I64, 8),
    NUMBER(MPI_COUNT, DT_SIGNED, MPI_Count, NUM_I64, 8),
    NUMBER(MPI_CXX_BOOL, DT_LOGICAL, bool, NUM_BOOL8, 1),
    NUMBER(MPI_CXX_FLOAT_COMPLEX, DT_COMPLEX, float _Complex, NUM_C32, 8),
    NUMBER(MPI_CXX_DOUBLE_COMPLEX, DT_COMPLEX, double _Complex, NUM_C64, 16),
    NUMBER(MPI_CXX_LONG_DOUBLE_COMPLEX, DT_COMPLEX, long double _Complex, NUM_CLD, 32),
    PAIR(MPI_2INT, struct two_int, 8, NUM_P2I, 4),
    PAIR(MPI_2INTEGER, struct two_int, 8, NUM_P2I, 4),
    PAIR(MPI_2REAL, struct two_real, 8, NUM_P2F, 4),
    PAIR(MPI_2DOUBLE_PRECISION, struct two_double, 16, NUM_P2D, 8),
    {MPI_LB, "MPI_LB", {DT_NONE, 0, 0, 0, 0, 1, 0}},
    {MPI_UB, "MPI_UB", {DT_NONE, 0, 0, 0, 0, 1, 0}},
    /* these in the order of their handles: obj_add gives them */
    PAIR(MPI_FLOAT_INT, struct float_int, 8, NUM_PFI, 4),
    PAIR(MPI_DOUBLE_INT, struct double_int, 12, NUM_PDI, 8),
    PAIR(MPI_LONG_INT, struct long_int, 12, NUM_PLI, 4),
    PAIR(MPI_SHORT_INT, struct short_int, 6, NUM_PSI, 2),
    PAIR(MPI_LONG_DOUBLE_INT, struct ld_int, 20, NUM_PLDI, 16),
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* The layout of a pair: value, index, a hole between them only in MPI_SHORT_INT. */
static int pair_layout(const struct dt_elem *e, struct place *out)
{
    if (e->num != NUM_PSI)
        return node_block(e->bytes, out);
    const int64_t off[2] = {0, offsetof(struct short_int, i)},
                  len[2] = {sizeof(short), sizeof(int)};
    return node_blocks(2, off, len, out);
}

static int predef_one(struct dt_type *t, const struct row *r)
{
    struct place p = {0, NULL};
    int err = r->elem.kind == DT_PAIR ? pair_layout(&r->elem, &p) : node_block(r->elem.bytes, &p);
    t->node = p.node;
    if (err)
        return err;
    t->flags = DT_PREDEFINED | DT_COMMITTED;
    t->elem = r->elem;
    t->ops = dt_op_bits(&t->elem);
    t->size = r->elem.bytes;
    t->extent = r->elem.stride;
    t->align = r->elem.align;
    t->id = ++proc->dt->next_id;
    t->holders = 1;
    t->basic = r->elem.bytes ? t : NULL;
    attr_list_init(&t->attrs);
    if (r->handle == MPI_LB)
        t->flags |= DT_LB_SET;
    if (r->handle == MPI_UB)
        t->flags |= DT_UB_SET;
    type_derive(t);
    err = sig_leaf(1, t, &t->sig);
    if (err)
        return err;
    if (((unsigned)r->handle >> 30) == 1) {
        t->obj.refs = 1;
        t->obj.handle = r->handle;
        obj_set_builtin(OBJ_TYPE, r->handle, &t->obj);
        return 0;
    }
    err = obj_add(OBJ_TYPE, &t->obj);
    WR_ASSERT(err || t->obj.handle == r->handle);
    return err;
}

static void predef_ops(void)
{
    for (int i = DT_MAX; i < DT_OPS; i++) {
        struct dt_op *o = &proc->dt->ops[i];
        *o = (struct dt_op){
            .obj = {MPI_MAX - DT_MAX + i, 1}, .index = i, .commute = i < DT_REPLACE};
        obj_set_builtin(OBJ_OP, o->obj.handle, &o->obj);
    }
}

int predef_init(void)
{
    struct dt_room *r = proc->dt;
    r->types = calloc(ROWS, sizeof *r->types);
    if (!r->types)
        return -ENOMEM;
    for (r->ntypes = 0; r->ntypes < ROWS;) {
        struct dt_type *t = &r->types[r->ntypes];
        int err = predef_one(t, &rows[r->ntypes++]);
        if (err)
            return err;
    }
    predef_ops();
    return 0;
}

void predef_finalize(void)
{
    struct dt_room *r = proc->dt;
    for (int i = 0; i < r->ntypes; i++) {
        struct dt_type *t = &r->types[i];
        if (t->obj.handle && ((unsigned)t->obj.handle >> 30) != 1)
            obj_del(OBJ_TYPE, &t->obj);
        node_drop(t->node);
        sig_drop(t->sig);
        free(t->flat);
        free(t->marks);
        free(t->name);
    }
    free(r->types);
}

struct dt_type *dt_predefined(int index)
{
    return index >= 0 && index < proc->dt->ntypes ? &proc->dt->types[index] : NULL;
}

int dt_predefined_index(const struct dt_type *t)
{
    _Static_assert((int)ROWS < (int)DT_PREDEFINED_MAX, "callers have so many bits");
    const struct dt_room *r = proc->dt;
    return t >= r->types && t < r->types + r->ntypes ? (int)(t - r->types) : -1;
}

const char *dt_predefined_name(int index)
{
    return index >= 0 && index < ROWS ? rows[index].name : NULL;
}

const char *dt_default_name(const struct dt_type *t)
{
    const char *name = dt_predefined_name(dt_predefined_index(t));
    return name ? name : "";
}

struct dt_type *dt_match_size(int typeclass, int size)
{
    static const MPI_Datatype real[] = {MPI_REAL4, MPI_REAL8, MPI_REAL16};
    static const MPI_Datatype integer[] = {MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8};
    static const MPI_Datatype complex_[] = {MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32};
    const MPI_Datatype *list = typeclass == MPI_TYPECLASS_REAL ? real
                               : typeclass == MPI_TYPECLASS_INTEGER ? integer : complex_;
    int n = typeclass == MPI_TYPECLASS_INTEGER ? 4 : 3;
    for (int i = 0; i < n; i++)
        if (dt_handle_bytes(list[i]) == (unsigned)size)
            return dt_find(list[i]);
    return NULL;
}

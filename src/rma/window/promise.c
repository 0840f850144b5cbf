/* promise.c - the info keys mpix_accumulate_ops and mpix_accumulate_types, and MPICH's of the same
 * meaning: what the program promises of its accumulates on a window. Start with
 * rma_promise_take().
 *
 * A promise of single elements that the processor and the network can change by themselves has the
 * effect of mpi_accumulate_granularity. How an element is changed is its target's choice
 * (acc_ctl_atomic), so a broken promise is an error at its origin, and never a wrong sum. */
#include "rma/window/window_types.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    unsigned bit;
} ops[] = {{"max", 1u << DT_MAX},         {"min", 1u << DT_MIN},
           {"sum", 1u << DT_SUM},         {"prod", 1u << DT_PROD},
           {"land", 1u << DT_LAND},       {"band", 1u << DT_BAND},
           {"lor", 1u << DT_LOR},         {"bor", 1u << DT_BOR},
           {"lxor", 1u << DT_LXOR},       {"bxor", 1u << DT_BXOR},
           {"minloc", 1u << DT_MINLOC},   {"maxloc", 1u << DT_MAXLOC},
           {"replace", 1u << DT_REPLACE}, {"no_op", 1u << DT_NO_OP},
           {"cas", RMA_PROMISE_CAS},      {"cswap", RMA_PROMISE_CAS}};
enum { OPS = sizeof ops / sizeof *ops };

/* Names of types; several may name one. */
static const struct {
    const char *name;
    MPI_Datatype type;
} types[] = {{"int8", MPI_INT8_T},
             {"int16", MPI_INT16_T},
             {"int32", MPI_INT32_T},
             {"int64", MPI_INT64_T},
             {"uint8", MPI_UINT8_T},
             {"uint16", MPI_UINT16_T},
             {"uint32", MPI_UINT32_T},
             {"uint64", MPI_UINT64_T},
             {"char", MPI_CHAR},
             {"schar", MPI_SIGNED_CHAR},
             {"uchar", MPI_UNSIGNED_CHAR},
             {"short", MPI_SHORT},
             {"ushort", MPI_UNSIGNED_SHORT},
             {"int", MPI_INT},
             {"uint", MPI_UNSIGNED},
             {"long", MPI_LONG},
             {"ulong", MPI_UNSIGNED_LONG},
             {"longlong", MPI_LONG_LONG},
             {"ulonglong", MPI_UNSIGNED_LONG_LONG},
             {"float", MPI_FLOAT},
             {"double", MPI_DOUBLE},
             {"longdouble", MPI_LONG_DOUBLE},
             {"floatcomplex", MPI_C_FLOAT_COMPLEX},
             {"doublecomplex", MPI_C_DOUBLE_COMPLEX},
             {"bool", MPI_C_BOOL},
             {"logical", MPI_LOGICAL},
             {"byte", MPI_BYTE}};
enum { TYPES = sizeof types / sizeof *types };

/* Types of one kind and length are one. */
static uint64_t type_bit(const struct dt_type *t)
{
    unsigned log2 = 0;
    while (1u << log2 < t->elem.bytes)
        log2++;
    return 1ull << (t->elem.kind * 6 + log2); /* of 1 to 32 bytes */
}
_Static_assert(DT_OPAQUE * 6 + 5 < 64, "a bit for each kind and length");

static const struct dt_type *type_at(int i)
{
    return obj_find(OBJ_TYPE, types[i].type);
}

/* The next word of a list and its length; NULL: there is none. MPICH's words may end in a colon and
 * a count. */
static const char *word(const char **list, size_t *len)
{
    const char *at = *list;
    if (!at)
        return NULL;
    size_t n = strcspn(at, ",");
    *list = at[n] ? at + n + 1 : NULL;
    *len = n;
    const char *count = memchr(at, ':', n);
    size_t digits = count ? strspn(count + 1, "0123456789") : 0;
    if (digits && count + 1 + digits == at + n)
        *len = (size_t)(count - at);
    return at;
}

static int is_word(const char *at, size_t len, const char *name)
{
    return strlen(name) == len && !strncasecmp(at, name, len);
}

static int is_any(const char *list)
{
    return !strcasecmp(list, "any") || !strcasecmp(list, "any_op");
}

int rma_promise_ops(const char *list, unsigned *bits)
{
    size_t len;
    *bits = is_any(list) ? RMA_PROMISE_ANY_OP : 0;
    if (*bits || !strcasecmp(list, "none"))
        return 1;
    for (const char *at; (at = word(&list, &len)) != NULL;) {
        int i = 0;
        while (i < OPS && !is_word(at, len, ops[i].name))
            i++;
        if (i == OPS)
            return 0;
        *bits |= ops[i].bit;
    }
    return 1;
}

int rma_promise_types(const char *list, uint64_t *bits)
{
    size_t len;
    *bits = is_any(list) ? RMA_PROMISE_ANY_TYPE : 0;
    if (*bits)
        return 1;
    for (const char *at; (at = word(&list, &len)) != NULL;) {
        int i = 0;
        while (i < TYPES && !is_word(at, len, types[i].name))
            i++;
        if (i == TYPES)
            return 0;
        *bits |= type_bit(type_at(i));
    }
    return 1;
}

/* MPICH has a list of types for each operation: all of them, where each promised one has a list. */
static int types_of_ops(const struct info *given, unsigned promised, uint64_t *bits)
{
    *bits = 0;
    for (int i = 0; i < OPS; i++) {
        char key[48];
        uint64_t more;
        if (!(ops[i].bit & promised) || is_word("cas", 3, ops[i].name))
            continue;
        snprintf(key, sizeof key, "accumulate_op_types:%s", ops[i].name);
        const char *list = info_value(given, key);
        if (!list || !rma_promise_types(list, &more))
            return 0;
        *bits |= more;
    }
    return *bits != 0;
}

/* What is malformed is no promise. */
void rma_promise_take(struct rma_win *w, const struct info *given)
{
    const char *o = NULL, *t = NULL;
    unsigned op_bits = RMA_PROMISE_ANY_OP;
    uint64_t type_bits = RMA_PROMISE_ANY_TYPE, found;
    if (given) {
        if (!(o = info_value(given, "mpix_accumulate_ops")))
            o = info_value(given, "which_accumulate_ops");
        if (!(t = info_value(given, "mpix_accumulate_types")))
            t = info_value(given, "accumulate_op_types");
    }
    if (o && !rma_promise_ops(o, &op_bits))
        op_bits = RMA_PROMISE_ANY_OP;
    if (t && !rma_promise_types(t, &type_bits))
        type_bits = RMA_PROMISE_ANY_TYPE;
    if (!t && given && op_bits != RMA_PROMISE_ANY_OP && types_of_ops(given, op_bits, &found))
        type_bits = found;
    w->promise.ops = op_bits;
    w->promise.types = type_bits;
    w->promise.given = op_bits != RMA_PROMISE_ANY_OP || type_bits != RMA_PROMISE_ANY_TYPE;
}

int rma_promise_single(const struct rma_win *w)
{
    /* what a network changes by itself; others would lose more by long accumulates than they win */
    const unsigned single = 1u << DT_SUM | 1u << DT_BAND | 1u << DT_BOR | 1u << DT_BXOR |
                            1u << DT_REPLACE | 1u << DT_NO_OP | RMA_PROMISE_CAS;
    uint64_t left = w->promise.types;
    if (!w->promise.ops || w->promise.ops & ~single)
        return 0;
    for (int i = 0; i < TYPES; i++)
        if (acc_type_atomic(type_at(i)))
            left &= ~type_bit(type_at(i));
    return !left; /* of any type: more than these */
}

int rma_promise_check(const struct rma_win *w, const struct rma_args *a)
{
    unsigned op = a->kind == RMA_CAS ? RMA_PROMISE_CAS : 1u << a->op->index;
    const struct dt_type *elem = a->ttype->basic;
    if (!(w->promise.ops & op))
        return err_make(MPI_ERR_OP, "%s: mpix_accumulate_ops of %s promises other operations",
                        rma_call(), rma_win_text(w));
    if (elem && w->promise.types != RMA_PROMISE_ANY_TYPE && !(w->promise.types & type_bit(elem)))
        return err_make(MPI_ERR_TYPE, "%s: mpix_accumulate_types of %s promises other types",
                        rma_call(), rma_win_text(w));
    return MPI_SUCCESS;
}

static void add(char *text, size_t len, const char *name)
{
    size_t at = strlen(text);
    snprintf(text + at, len - at, "%s%s", at ? "," : "", name);
}

void rma_promise_text(const struct rma_win *w, char *op_text, char *type_text, size_t len)
{
    unsigned op_left = w->promise.ops;
    uint64_t type_left = w->promise.types;
    op_text[0] = type_text[0] = '\0';
    if (op_left == RMA_PROMISE_ANY_OP)
        add(op_text, len, "any");
    else if (!op_left)
        add(op_text, len, "none");
    else
        for (int i = 0; i < OPS; i++)
            if (op_left & ops[i].bit) {
                add(op_text, len, ops[i].name);
                op_left &= ~ops[i].bit;
            }
    if (type_left == RMA_PROMISE_ANY_TYPE)
        add(type_text, len, "any");
    else
        for (int i = 0; i < TYPES; i++)
            if (type_left & type_bit(type_at(i))) {
                add(type_text, len, types[i].name);
                type_left &= ~type_bit(type_at(i));
            }
}

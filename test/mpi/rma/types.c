/* types.c - accumulates of every predefined type with every operation it may take, by accumulate,
 * get_accumulate, fetch_and_op and compare_and_swap. The expected value comes from
 * MPI_Reduce_local, which coll/ops checks against C. */
#include "rw.h"
#include <complex.h>

enum { N = 5 };

struct type {
    MPI_Datatype t;
    char kind;       /* i integer, f real, c complex, b byte, l logical, p pair */
};

/* Fills n elements with small values of the type; which: which set. */
static void values(const struct type *t, void *buf, int n, int which)
{
    int i, size;
    MPI_Aint lb, ext;
    char *p = buf;

    MPI_Type_size(t->t, &size);
    MPI_Type_get_extent(t->t, &lb, &ext);
    memset(buf, 0, (size_t)ext * (size_t)n);
    for (i = 0; i < n; i++, p += ext) {
        int v = 1 + (i * 3 + which * 5) % 6;

        switch (t->kind) {
        case 'f':
            if (size == 4) *(float *)(void *)p = (float)v;
            else if (size == 8) *(double *)(void *)p = v;
            else *(long double *)(void *)p = v;
            break;
        case 'c':
            if (size == 8) *(float complex *)(void *)p = (float)v + 2 * I;
            else if (size == 16) *(double complex *)(void *)p = v + 2 * I;
            else *(long double complex *)(void *)p = v + 2 * I;
            break;
        case 'l': *(_Bool *)(void *)p = v % 2; break;
        case 'p':
            if (t->t == MPI_2INT) { ((int *)(void *)p)[0] = v; ((int *)(void *)p)[1] = which;
            } else if (t->t == MPI_FLOAT_INT) {
                struct {
                    float a;
                    int b;
                } x = {(float)v, which};
                memcpy(p, &x, sizeof x);
            } else if (t->t == MPI_DOUBLE_INT) {
                struct {
                    double a;
                    int b;
                } x;
                memset(&x, 0, sizeof x);
                x.a = v;
                x.b = which;
                memcpy(p, &x, sizeof x);
            } else if (t->t == MPI_LONG_INT) {
                struct {
                    long a;
                    int b;
                } x;
                memset(&x, 0, sizeof x);
                x.a = v;
                x.b = which;
                memcpy(p, &x, sizeof x);
            } else if (t->t == MPI_SHORT_INT) {
                struct {
                    short a;
                    int b;
                } x;
                memset(&x, 0, sizeof x);
                x.a = (short)v;
                x.b = which;
                memcpy(p, &x, sizeof x);
            } else {
                struct {
                    long double a;
                    int b;
                } x;
                memset(&x, 0, sizeof x);
                x.a = v;
                x.b = which;
                memcpy(p, &x, sizeof x);
            }
            break;
        default:
            if (size == 1) *(signed char *)p = (signed char)v;
            else if (size == 2) *(short *)(void *)p = (short)v;
            else if (size == 4) *(int *)(void *)p = v;
            else *(long long *)(void *)p = v;
        }
    }
}

static int allowed(const struct type *t, int op)      /* index into ops below */
{
    if (op >= 12)
        return 1;                                       /* replace, no_op */
    if (op >= 10)
        return t->kind == 'p';
    switch (t->kind) {
    case 'i': return 1;
    case 'f': return op < 4;
    case 'c': return op < 2;
    case 'b': return op >= 7;
    case 'l': return op >= 4 && op < 7;
    default: return 0;
    }
}

static int same(const struct type *t, const void *a, const void *b)
{
    int na, i, size;
    MPI_Aint lb, ext;
    char pa[N * 64], pb[N * 64];
    int ia = 0, ib = 0;

    MPI_Type_size(t->t, &size);
    MPI_Type_get_extent(t->t, &lb, &ext);
    if (t->kind == 'f' && size == sizeof(long double) && size > 8) { /* padding means nothing */
        for (i = 0; i < N; i++)
            if (((const long double *)a)[i] != ((const long double *)b)[i])
                return 0;
        return 1;
    }
    if (t->kind == 'c' && size == sizeof(long double complex)) {
        for (i = 0; i < N; i++)
            if (((const long double complex *)a)[i] != ((const long double complex *)b)[i])
                return 0;
        return 1;
    }
    if (t->t == MPI_LONG_DOUBLE_INT) {
        for (i = 0; i < N; i++)
            if (*(const long double *)(const void *)((const char *)a + i * ext) !=
                    *(const long double *)(const void *)((const char *)b + i * ext) ||
                memcmp((const char *)a + i * ext + sizeof(long double),
                       (const char *)b + i * ext + sizeof(long double), 4))
                return 0;
        return 1;
    }
    MPI_Pack(a, N, t->t, pa, sizeof pa, &ia, MPI_COMM_SELF);
    MPI_Pack(b, N, t->t, pb, sizeof pb, &ib, MPI_COMM_SELF);
    na = ia;
    return ia == ib && memcmp(pa, pb, (size_t)na) == 0;
}

static const char *const op_names[] = {"SUM",    "PROD",   "MAX",     "MIN",  "LAND",
                                       "LOR",    "LXOR",   "BAND",    "BOR",  "BXOR",
                                       "MAXLOC", "MINLOC", "REPLACE", "NO_OP"};

static void one(struct rw *w, const struct type *t, int k, MPI_Op op, int how)
{
    char before[N * 64], in[N * 64], want[N * 64], got[N * 64], name[MPI_MAX_OBJECT_NAME];
    int len, target = (w->rank + 1) % w->size, from = (w->rank + w->size - 1) % w->size,
             n = how == 2 ? 1 : N;
    MPI_Aint lb, ext;

    (void)from;
    MPI_Type_get_extent(t->t, &lb, &ext);
    MPI_Type_get_name(t->t, name, &len);
    values(t, before, N, 1);
    values(t, in, N, 2);
    rw_own(w);
    memcpy(w->mem, before, (size_t)ext * N);
    rw_disown(w);
    MPI_Barrier(w->comm);
    memcpy(want, before, sizeof want);
    if (k == 12)
        memcpy(want, in, (size_t)ext * (size_t)n);
    else if (k != 13)
        MPI_Reduce_local(in, want, n, t->t, op);
    memset(got, 0, sizeof got);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win);
    switch (how) {
    case 0: MPI_Accumulate(in, n, t->t, target, rw_disp(w, target, 0), n, t->t, op, w->win); break;
    case 1:
        MPI_Get_accumulate(in, n, t->t, got, n, t->t, target, rw_disp(w, target, 0), n, t->t, op,
                           w->win);
        break;
    case 2: MPI_Fetch_and_op(in, got, t->t, target, rw_disp(w, target, 0), op, w->win); break;
    }
    MPI_Win_unlock(target, w->win);
    MPI_Barrier(w->comm);
    rw_own(w);
    MUST(same(t, w->mem, want), "%s %s, %s, %s: wrong at the target", name, op_names[k],
         how == 0   ? "accumulate"
         : how == 1 ? "get_accumulate"
                    : "fetch_and_op",
         rw_flavour_names[w->flavour]);
    rw_disown(w);
    if (how) {
        if (how == 2)
            memcpy(got + ext, before + ext, (size_t)ext * (N - 1));
        MUST(same(t, got, before), "%s %s, %s, %s: wrong result", name, op_names[k],
             how == 1 ? "get_accumulate" : "fetch_and_op", rw_flavour_names[w->flavour]);
    }
    MPI_Barrier(w->comm);
}

static void cas(struct rw *w, const struct type *t)
{
    char before[N * 64], in[N * 64], got[64], name[MPI_MAX_OBJECT_NAME];
    int len, size, target = (w->rank + 1) % w->size, hit;

    MPI_Type_size(t->t, &size);
    MPI_Type_get_name(t->t, name, &len);
    for (hit = 0; hit < 2; hit++) {
        values(t, before, N, 1);
        values(t, in, N, 2);
        rw_own(w);
        memcpy(w->mem, before, (size_t)size * N);
        rw_disown(w);
        MPI_Barrier(w->comm);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win);
        MPI_Compare_and_swap(in, hit ? before : in, got, t->t, target, rw_disp(w, target, 0),
                             w->win);
        MPI_Win_unlock(target, w->win);
        MPI_Barrier(w->comm);
        MUST(memcmp(got, before, (size_t)size) == 0, "compare_and_swap of %s, %s: wrong result",
             name, rw_flavour_names[w->flavour]);
        rw_own(w);
        if (memcmp(in, before, (size_t)size))
            MUST(memcmp(w->mem, hit ? in : before, (size_t)size) == 0,
                 "compare_and_swap of %s, %s, %s: wrong at the target", name,
                 rw_flavour_names[w->flavour], hit ? "hit" : "miss");
        rw_disown(w);
        MPI_Barrier(w->comm);
    }
}

int main(int argc, char **argv)
{
    int i, k, f, how, nocas, nold;
    struct rw w;

    mt_init(&argc, &argv);
    nocas = argc > 1 && strcmp(argv[1], "--no-cas") == 0;
    nold = argc > 2;
    {
        const struct type types[] = {
            {MPI_CHAR, 'x'},
            {MPI_SIGNED_CHAR, 'i'},
            {MPI_UNSIGNED_CHAR, 'i'},
            {MPI_BYTE, 'b'},
            {MPI_SHORT, 'i'},
            {MPI_UNSIGNED_SHORT, 'i'},
            {MPI_INT, 'i'},
            {MPI_UNSIGNED, 'i'},
            {MPI_LONG, 'i'},
            {MPI_UNSIGNED_LONG, 'i'},
            {MPI_LONG_LONG, 'i'},
            {MPI_UNSIGNED_LONG_LONG, 'i'},
            {MPI_INT8_T, 'i'},
            {MPI_INT16_T, 'i'},
            {MPI_INT32_T, 'i'},
            {MPI_INT64_T, 'i'},
            {MPI_UINT8_T, 'i'},
            {MPI_UINT16_T, 'i'},
            {MPI_UINT32_T, 'i'},
            {MPI_UINT64_T, 'i'},
            {MPI_AINT, 'i'},
            {MPI_COUNT, 'i'},
            {MPI_OFFSET, 'i'},
            {MPI_C_BOOL, 'l'},
            {MPI_FLOAT, 'f'},
            {MPI_DOUBLE, 'f'},
            {MPI_C_FLOAT_COMPLEX, 'c'},
            {MPI_C_DOUBLE_COMPLEX, 'c'},
            {MPI_2INT, 'p'},
            {MPI_FLOAT_INT, 'p'},
            {MPI_DOUBLE_INT, 'p'},
            {MPI_LONG_INT, 'p'},
            {MPI_SHORT_INT, 'p'},
            {MPI_LONG_DOUBLE, 'f'},
            {MPI_C_LONG_DOUBLE_COMPLEX, 'c'},
            {MPI_LONG_DOUBLE_INT, 'p'},
        };
        const MPI_Op ops[] = {MPI_SUM,    MPI_PROD,   MPI_MAX,     MPI_MIN,  MPI_LAND,
                              MPI_LOR,    MPI_LXOR,   MPI_BAND,    MPI_BOR,  MPI_BXOR,
                              MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP};
        int n = (int)(sizeof types / sizeof *types) - (nold ? 3 : 0);

        for (f = 0; f < RW_FLAVOURS; f += 1 + (f == RW_CREATE)) {
            if (!rw_make(&w, f, N * 64, MPI_COMM_WORLD))
                continue;
            for (i = 0; i < n; i++) {
                for (k = 0; k < 14; k++)
                    for (how = 0; how < 3; how++)
                        if (allowed(&types[i], k) && !(k == 13 && how == 0))
                            one(&w, &types[i], k, ops[k], how);
                if (!nocas && (types[i].kind == 'i' || types[i].kind == 'b'))
                    cas(&w, &types[i]);
            }
            rw_free(&w);
        }
    }
    return mt_finish();
}

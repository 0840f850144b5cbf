/* matrix.c - each operation x synchronization x window flavour, contiguous and strided, one element
 * and many: every rank works on its own strip in the memory of every rank. */
#include "rw.h"

enum op { PUT, GET, ACC, REPLACE, GACC, NOOP, FOP, CAS, RPUT, RGET, RACC, RGACC, OPS };
static const char *const op_names[] = {"put", "get", "acc",  "replace", "gacc", "gacc no_op",
                                       "fop", "cas", "rput", "rget",    "racc", "rgacc"};
enum { MANY = 300 };

struct job {
    struct rw *w;
    int op, sync, n, strided;       /* n elements; strided: every other element at the target */
    int64_t *out, *in;
    MPI_Datatype vec;
};

static int64_t old_value(int owner, int origin, int i)
{
    return owner * 1000000 + origin * 10000 + i * 2 + 1;
}
static int64_t new_value(int origin, int target, int i)
{
    return 7 + origin * 300 + target * 30 + i;
}

static size_t strip(const struct job *j, int origin)
{
    return (size_t)origin * 2 * MANY * 8 + (j->strided ? 8 : 0);
}

static void issue(struct job *j, int target, MPI_Request *req)
{
    MPI_Win win = j->w->win;
    MPI_Aint d = rw_disp(j->w, target, strip(j, j->w->rank));
    int64_t *out = j->out + target * MANY, *in = j->in + target * MANY,
            *cmp = j->in + (target + j->w->size) * MANY;
    MPI_Datatype l = MPI_INT64_T, t = j->strided ? j->vec : l;
    int n = j->n, tn = j->strided ? 1 : n;

    *req = MPI_REQUEST_NULL;
    switch (j->op) {
    case PUT: MPI_Put(out, n, l, target, d, tn, t, win); break;
    case GET: MPI_Get(in, n, l, target, d, tn, t, win); break;
    case ACC: MPI_Accumulate(out, n, l, target, d, tn, t, MPI_SUM, win); break;
    case REPLACE: MPI_Accumulate(out, n, l, target, d, tn, t, MPI_REPLACE, win); break;
    case GACC: MPI_Get_accumulate(out, n, l, in, n, l, target, d, tn, t, MPI_SUM, win); break;
    case NOOP: MPI_Get_accumulate(NULL, 0, l, in, n, l, target, d, tn, t, MPI_NO_OP, win); break;
    case FOP: MPI_Fetch_and_op(out, in, l, target, d, MPI_SUM, win); break;
    case CAS:
        *cmp = old_value(target, j->w->rank, j->strided ? 1 : 0);
        MPI_Compare_and_swap(out, cmp, in, l, target, d, win);
        break;
    case RPUT: MPI_Rput(out, n, l, target, d, tn, t, win, req); break;
    case RGET: MPI_Rget(in, n, l, target, d, tn, t, win, req); break;
    case RACC: MPI_Raccumulate(out, n, l, target, d, tn, t, MPI_SUM, win, req); break;
    case RGACC:
        MPI_Rget_accumulate(out, n, l, in, n, l, target, d, tn, t, MPI_SUM, win, req);
        break;
    }
}

/* What element i of the strip at `owner` of `origin` holds afterwards. */
static int64_t expected(const struct job *j, int owner, int origin, int i)
{
    int64_t o = old_value(owner, origin, i), v;
    int k = i, n = j->n;

    if (j->strided) {
        if (i % 2 == 0)
            return o;
        k = i / 2;
    }
    if (k >= n)
        return o;
    v = new_value(origin, owner, k);
    switch (j->op) {
    case PUT: case REPLACE: case RPUT: case CAS: return v;
    case ACC: case GACC: case FOP: case RACC: case RGACC: return o + v;
    default: return o;
    }
}

static int fetches(int op)
{
    return op == GET || op == GACC || op == NOOP || op == FOP || op == CAS || op == RGET ||
           op == RGACC;
}

static void run(struct job *j)
{
    struct rw *w = j->w;
    int64_t *mine = (int64_t *)(void *)w->mem;
    int r, i, o, bad = 0;
    MPI_Request *req = mt_alloc(sizeof *req * (size_t)w->size);

    rw_own(w);
    for (o = 0; o < w->size; o++)
        for (i = 0; i < 2 * MANY; i++)
            mine[o * 2 * MANY + i] = old_value(w->rank, o, i);
    rw_disown(w);
    for (r = 0; r < w->size; r++)
        for (i = 0; i < MANY; i++) {
            j->out[r * MANY + i] = new_value(w->rank, r, i);
            j->in[r * MANY + i] = -9;
        }
    MPI_Barrier(w->comm);
    if (!rw_per_target(j->sync))
        rw_begin(w, j->sync, 0);
    for (i = 0; i < w->size; i++) {
        r = (w->rank + i) % w->size;
        if (rw_per_target(j->sync))
            rw_begin(w, j->sync, r);
        issue(j, r, &req[r]);
        if (j->op >= RPUT)
            MPI_Wait(&req[r], MPI_STATUS_IGNORE);
        if (rw_per_target(j->sync))
            rw_end(w, j->sync, r);
    }
    if (!rw_per_target(j->sync))
        rw_end(w, j->sync, 0);
    MPI_Barrier(w->comm);
    rw_own(w);
    for (o = 0; o < w->size; o++)
        for (i = 0; i < 2 * MANY; i++)
            bad += mine[o * 2 * MANY + i] != expected(j, w->rank, o, i);
    rw_disown(w);
    MUST(bad == 0, "%s %d%s, %s, %s: %d elements wrong at the target", op_names[j->op], j->n,
         j->strided ? " strided" : "", rw_sync_names[j->sync], rw_flavour_names[w->flavour], bad);
    bad = 0;
    for (r = 0; r < w->size && fetches(j->op); r++)
        for (i = 0; i < MANY; i++)
            bad += j->in[r * MANY + i] !=
                   (i < j->n ? old_value(r, w->rank, j->strided ? 2 * i + 1 : i) : -9);
    MUST(bad == 0, "%s %d%s, %s, %s: %d wrong results", op_names[j->op], j->n,
         j->strided ? " strided" : "", rw_sync_names[j->sync], rw_flavour_names[w->flavour], bad);
    free(req);
    MPI_Barrier(w->comm);
}

int main(int argc, char **argv)
{
    struct rw w;
    struct job j;
    int f, only = -1, i, no_cas = 0, no_nocheck = 0;

    mt_init(&argc, &argv);
    for (i = 1; i < argc; i++) {
        for (f = 0; f < RW_FLAVOURS; f++)
            if (strcmp(argv[i], rw_flavour_names[f]) == 0)
                only = f;
        no_cas |= strcmp(argv[i], "--no-cas") == 0;            /* for libraries that cannot do it */
        no_nocheck |= strcmp(argv[i], "--no-nocheck") == 0;
    }
    memset(&j, 0, sizeof j);
    j.w = &w;
    j.out = mt_alloc(sizeof(int64_t) * MANY * (size_t)mt_size);
    j.in = mt_alloc(sizeof(int64_t) * MANY * 2 * (size_t)mt_size);
    for (f = 0; f < RW_FLAVOURS; f++) {
        if ((only >= 0 && f != only) ||
            !rw_make(&w, f, (size_t)mt_size * 2 * MANY * 8, MPI_COMM_WORLD))
            continue;
        for (j.sync = 0; j.sync < RW_SYNCS; j.sync++)
            for (j.op = 0; j.op < OPS; j.op++) {
                if (j.op >= RPUT && j.sync < RW_LOCK_EXCL)
                    continue;
                if ((no_cas && j.op == CAS) || (no_nocheck && j.sync == RW_LOCK_NOCHECK))
                    continue;
                for (i = 0; i < 3; i++) {
                    j.n = i ? MANY : 1;
                    j.strided = i == 2;
                    if ((j.op == FOP || j.op == CAS) && i)
                        continue;
                    if (j.strided) {
                        MPI_Type_vector(j.n, 1, 2, MPI_INT64_T, &j.vec);
                        MPI_Type_commit(&j.vec);
                    }
                    run(&j);
                    if (j.strided)
                        MPI_Type_free(&j.vec);
                }
            }
        rw_free(&w);
    }
    free(j.out);
    free(j.in);
    return mt_finish();
}

/* random_rma.c - the programs of random_rma.h, drawn and run. */
#include "random_rma.h"

#include "../dtgen.h"
#include <stdarg.h>

enum { MAX_WINS = 2, MAX_ZONES = 7, ALL = -1, READ_ONLY = -2 };
enum flavour { ALLOCATE, CREATE, SHARED, DYNAMIC, FLAVOURS };
enum sync { FENCE, PSCW, LOCK, LOCK_ALL, SYNCS };
enum mode { FREE, PUTTING, GETTING, ADDING };
enum kind { PUT, GET, ACC, GACC, FOP, CAS, KINDS };

static const char *const flavour_names[] = { "allocate", "create", "shared", "dynamic" };
static const char *const sync_names[] = { "fence", "pscw", "lock", "lock_all" };
static const char *const kind_names[] = {
    "put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap"};

/* Part of a target's memory in one phase. */
struct zone {
    size_t lo, hi;
    int origin;              /* the rank that may touch it, or ALL (accumulates only), or
                              * READ_ONLY */
    int mode;                /* of its one origin, since that origin's last flush */
    size_t used;             /* PUTTING: bytes below are written already */
    int base, op;            /* ALL and ADDING: element type; ALL: operation */
    int comb;                /* two origins share each cell of this one (combs[]), NO_COMB: none
                              * do */
    struct half {
        int origin, mode;
        size_t used;         /* cells below are written already */
    } half[2];
};

struct win {
    MPI_Win win;
    int flavour;
    size_t *bytes;           /* of each rank */
    int *unit;
    unsigned char **model;
    char *mem;
    char *raw;               /* what was allocated (create, dynamic) */
    MPI_Aint *base;          /* dynamic windows: address at each rank */
    MPI_Group group;
    struct zone *zones;      /* MAX_ZONES per rank */
    int *nzones;
};

/* Cells of memory in which one origin has some bytes and another one the rest. */
enum { NO_COMB = -1, COMBS = 3 };
static const char *const combs[COMBS] = { "aaaaaaaaaaaabbbb", "aabbaaaa", "aaaabbbb" };

/* What half `part` of a cell is an element of, where it begins, and whether it is a value and an
 * index. */
static MPI_Datatype comb_type(int comb, int part, int *at, int *pair)
{
    *at = part ? (int)(strchr(combs[comb], 'b') - combs[comb]) : 0;
    *pair = !part && comb < 2;
    if (comb == 0)
        return part ? MPI_INT32_T : MPI_DOUBLE_INT;
    if (comb == 1)
        return part ? MPI_INT16_T : MPI_SHORT_INT;
    return MPI_INT32_T;
}

/* An operation of this rank that has not been checked. */
struct op {
    struct op *next;
    int kind, target;
    char *out, *in, *want;   /* origin buffer, result buffer, what the result shall be */
    char *out_raw, *in_raw, *cmp;
    size_t out_bytes, in_bytes;
    struct dtg ot, rt, tt;
    MPI_Request req;
    char text[700];
};

struct ctx {
    uint64_t seed;
    unsigned without;
    struct dtg_rng rng;
    MPI_Comm comm;
    int rank, size, nwins, big, errors, phase;
    struct win win[MAX_WINS];
    struct op *ops;
    char *report;
    size_t room;
    struct rr_counts counts;
};

static int below(struct ctx *c, int n) { return rng_below(&c->rng, n); }
static int allowed(const struct ctx *c, unsigned what) { return !(c->without & what); }

static void complain(struct ctx *c, const char *fmt, ...)
{
    va_list ap;

    if (c->errors++ == 0) {
        va_start(ap, fmt);
        vsnprintf(c->report, c->room, fmt, ap);
        va_end(ap);
    }
}

static void *get_memory(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);

    if (!p)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return p;
}

static void random_bytes(struct dtg_rng *r, void *buf, size_t n)
{
    unsigned char *p = buf;
    size_t i;

    for (i = 0; i < n; i++)
        p[i] = (unsigned char)(rng_next(r) >> 11);
}

/* ------------------------------------------------------------------ operations on elements */

enum { OPS = 8 };

static MPI_Op mpi_op(int op)
{
    switch (op) {
    case 0: return MPI_SUM;
    case 1: return MPI_PROD;
    case 2: return MPI_BAND;
    case 3: return MPI_BOR;
    case 4: return MPI_BXOR;
    case 5: return MPI_MAX;
    case 6: return MPI_MIN;
    case 7: return MPI_REPLACE;
    default: return MPI_NO_OP;
    }
}

static const char *const op_names[] = {"SUM", "PROD", "BAND",    "BOR",  "BXOR",
                                       "MAX", "MIN",  "REPLACE", "NO_OP"};

/* mem = mem op in, for one element */
static void apply(int op, int base, unsigned char *mem, const unsigned char *in)
{
    int n = dtg_base_size(base), is_signed = base == B_I8 || base == B_I16 || base == B_I32 ||
                                             base == B_I64 || base == B_INT;
    uint64_t a = 0, b = 0;
    int64_t sa, sb;

    if (op == 8)
        return;
    if (op == 7 || n > 8) {
        memcpy(mem, in, (size_t)n);
        return;
    }
    memcpy(&a, mem, (size_t)n);      /* little endian machines only, as is all of this library */
    memcpy(&b, in, (size_t)n);
    sa = (int64_t)(a << (64 - 8 * n)) >> (64 - 8 * n);
    sb = (int64_t)(b << (64 - 8 * n)) >> (64 - 8 * n);
    switch (op) {
    case 0: a += b; break;
    case 1: a *= b; break;
    case 2: a &= b; break;
    case 3: a |= b; break;
    case 4: a ^= b; break;
    case 5: if (is_signed ? sb > sa : b > a) a = b; break;
    case 6: if (is_signed ? sb < sa : b < a) a = b; break;
    }
    memcpy(mem, &a, (size_t)n);
}

/* An operation that the base takes; commutative ones only if asked. */
static int draw_op(struct ctx *c, int base, int commutative)
{
    if (base >= B_FLOAT)
        return commutative ? -1 : 7;
    if (base == B_CHAR_BYTE)
        return commutative || below(c, 3) ? 2 + below(c, 3) : 7;
    if (!allowed(c, RR_MINMAX))
        return below(c, 5);
    return below(c, commutative ? 7 : 8);
}

/* ------------------------------------------------------------------ windows */

static int one_node(struct ctx *c)
{
    MPI_Comm node;
    int n;

    MPI_Comm_split_type(c->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    MPI_Comm_free(&node);
    return n == c->size;
}

static size_t draw_size(struct ctx *c)
{
    if (below(c, 8) == 0)
        return (size_t)below(c, 9);
    if (c->big)
        return (size_t)(50000 + below(c, 250000));
    return (size_t)(1 + below(c, 3000));
}

static void make_window(struct ctx *c, struct win *w)
{
    int r, shift, me = c->rank;
    MPI_Aint here;
    static const unsigned banned[] = { 0, RR_CREATE, RR_SHARED, RR_DYNAMIC };

    do
        w->flavour = below(c, FLAVOURS);
    while (!allowed(c, banned[w->flavour]));
    if (w->flavour == SHARED && !one_node(c))
        w->flavour = ALLOCATE;
    w->bytes = get_memory(sizeof *w->bytes * (size_t)c->size);
    w->unit = get_memory(sizeof *w->unit * (size_t)c->size);
    w->model = get_memory(sizeof *w->model * (size_t)c->size);
    w->zones = get_memory(sizeof *w->zones * MAX_ZONES * (size_t)c->size);
    w->nzones = get_memory(sizeof *w->nzones * (size_t)c->size);
    w->base = NULL;
    w->raw = NULL;
    for (r = 0; r < c->size; r++) {
        w->bytes[r] = draw_size(c);
        w->unit[r] = w->flavour == DYNAMIC ? 1 : 1 << below(c, 5);
        if (below(c, 4) == 0 && w->flavour != DYNAMIC)
            w->unit[r] = 1 + below(c, 12);
        w->model[r] = get_memory(w->bytes[r]);
        random_bytes(&c->rng, w->model[r], w->bytes[r]);
    }
    shift = allowed(c, RR_MISALIGNED) ? below(c, 16) : 0;
    switch (w->flavour) {
    case ALLOCATE:
        MPI_Win_allocate((MPI_Aint)w->bytes[me], w->unit[me], MPI_INFO_NULL, c->comm, &w->mem,
                         &w->win);
        break;
    case SHARED:
        MPI_Win_allocate_shared((MPI_Aint)w->bytes[me], w->unit[me], MPI_INFO_NULL, c->comm,
                                &w->mem, &w->win);
        break;
    case CREATE:
        w->raw = get_memory(w->bytes[me] + 16);
        w->mem = w->raw + shift;
        MPI_Win_create(w->mem, (MPI_Aint)w->bytes[me], w->unit[me], MPI_INFO_NULL, c->comm,
                       &w->win);
        break;
    default:
        w->raw = get_memory(w->bytes[me] + 16);
        w->mem = w->raw + shift;
        MPI_Win_create_dynamic(MPI_INFO_NULL, c->comm, &w->win);
        MPI_Win_attach(w->win, w->mem, (MPI_Aint)w->bytes[me]);
        MPI_Get_address(w->mem, &here);
        w->base = get_memory(sizeof *w->base * (size_t)c->size);
        MPI_Allgather(&here, 1, MPI_AINT, w->base, 1, MPI_AINT, c->comm);
    }
    MPI_Win_get_group(w->win, &w->group);
    if (w->bytes[me])
        memcpy(w->mem, w->model[me], w->bytes[me]);
    MPI_Barrier(c->comm);
}

static void free_window(struct ctx *c, struct win *w)
{
    int r;

    if (w->flavour == DYNAMIC) {
        MPI_Barrier(c->comm);
        MPI_Win_detach(w->win, w->mem);
    }
    MPI_Win_free(&w->win);
    MPI_Group_free(&w->group);
    for (r = 0; r < c->size; r++)
        free(w->model[r]);
    free(w->bytes), free(w->unit), free(w->model), free(w->zones), free(w->nzones), free(w->base),
        free(w->raw);
}

/* Cuts each target's memory into zones; may[o * size + t]: o may access t in this phase. */
static void draw_zones(struct ctx *c, struct win *w, const char *may)
{
    int t, z, n, o, comb;

    for (t = 0; t < c->size; t++) {
        size_t at = 0, len = w->bytes[t];
        struct zone *zs = w->zones + t * MAX_ZONES;

        n = 1 + below(c, MAX_ZONES);
        comb = c->size > 1 && allowed(c, RR_GAPS) && allowed(c, RR_TYPES) && below(c, 6) == 0;
        if (comb) /* all of it, so that the two meet */
            n = 1;
        for (z = 0; z < n; z++) {
            struct zone *q = &zs[z];

            q->lo = at;
            q->hi = z == n - 1 ? len : at + (size_t)below(c, (int)(2 * len / (size_t)n + 1));
            if (q->hi > len)
                q->hi = len;
            if (!allowed(c, RR_MISALIGNED)) {
                q->lo = (q->lo + 15) / 16 * 16;
                if (q->hi < q->lo)
                    q->hi = q->lo;
            }
            at = q->hi;
            q->used = q->lo;
            q->mode = FREE;
            o = below(c, c->size + 2);
            q->origin = o < c->size ? o : o == c->size ? ALL : READ_ONLY;
            if (q->origin >= 0 && !may[q->origin * c->size + t])
                q->origin = READ_ONLY;
            q->base = below(c, DTG_INTEGERS);
            q->op = draw_op(c, q->base, 1);
            if (q->origin == ALL && (!allowed(c, RR_ACC) || !allowed(c, RR_CONCURRENT)))
                q->origin = READ_ONLY;
            q->comb = NO_COMB;
            if (comb && q->origin >= 0) {
                o = (q->origin + 1 + below(c, c->size - 1)) % c->size;
                if (may[o * c->size + t]) {
                    q->comb = below(c, COMBS);
                    q->half[0] = (struct half){ .origin = q->origin };
                    q->half[1] = (struct half){ .origin = o };
                }
            }
        }
        w->nzones[t] = n;
    }
}

/* ------------------------------------------------------------------ operations */

/* A type of n elements, and how many copies of it make `total`. */
static void draw_type(struct ctx *c, int base, size_t total, int derived, int aligned,
                      struct dtg *d, size_t *count)
{
    struct dtg_how how;
    int tries;

    *count = 1;
    if (!derived || below(c, 4) == 0) {
        dtg_predefined(d, base);
        *count = total;
        return;
    }
    how.base = base;
    how.depth = below(c, 4);
    for (tries = 0;; tries++) {
        how.misaligned = !aligned && below(c, 3) == 0;
        how.negative = allowed(c, RR_NEGATIVE) && below(c, 3) == 0;
        *count = below(c, 2) ? (size_t)dtg_factor(&c->rng, total) : 1;
        dtg_random(&c->rng, &how, total / *count, d);
        if (!aligned || d->aligned)
            break;
        dtg_free(d);
        if (tries > 5) {
            dtg_predefined(d, base);
            *count = total;
            return;
        }
    }
    MPI_Type_commit(&d->type);
}

/* Byte offset of the target type in the window such that its data lie in [lo, hi), are a multiple
 * of the unit and congruent to `phase` modulo `grain`; -1 if there is none. */
static MPI_Aint place(struct ctx *c, const struct dtg *d, size_t count, size_t lo, size_t hi,
                      int unit, size_t phase, int grain)
{
    MPI_Aint low, high, at, first = -1, span;
    int k, skip = below(c, 4);

    dtg_reach(d, count, &low, &high);
    span = (MPI_Aint)hi - high;
    at = (MPI_Aint)lo - low;
    if (at < 0)
        at = 0;
    at = (at + unit - 1) / unit * unit;
    for (k = 0; at <= span && k < 64 * (skip + 1); k++, at += unit) {
        if ((at - (MPI_Aint)phase) % grain)
            continue;
        first = at;
        if (skip-- == 0)
            break;
    }
    return first;
}

/* A buffer for count copies of d, filled at random; *origin: where offset 0 is. */
static char *buffer(struct ctx *c, const struct dtg *d, size_t count, int mine, char **origin,
                    size_t *bytes)
{
    MPI_Aint low, high;
    char *p;
    struct dtg_rng fill;

    rng_seed(&fill, rng_next(&c->rng));
    dtg_reach(d, count, &low, &high);
    *bytes = (size_t)(high - low) + 16;
    (void)mine;
    p = get_memory(*bytes + 16);
    random_bytes(&fill, p, *bytes);
    *origin = p + 8 - low;
    return p;
}

static void free_op(struct op *q)
{
    dtg_free(&q->ot);
    dtg_free(&q->rt);
    dtg_free(&q->tt);
    free(q->out_raw);
    free(q->in_raw);
    free(q->want);
    free(q->cmp);
    free(q);
}

/* Target memory of the model as packed bytes. */
static void model_pack(const struct win *w, int target, const struct dtg *d, size_t count,
                       MPI_Aint at, char *out)
{
    dtg_pack(d, count, (const char *)w->model[target] + at, out);
}

/* Does a zone admit this kind now?  Writes what it becomes. */
static int admit(struct ctx *c, struct zone *z, int origin, int *kind, int *base)
{
    if (z->origin == READ_ONLY) {
        *kind = allowed(c, RR_ACC) && below(c, 4) == 0 ? GACC : GET;
        *base = *kind == GACC ? z->base : below(c, DTG_BASES);
        return 1;
    }
    if (z->origin == ALL) {
        *kind = ACC + below(c, 3);
        *base = z->base;
        return 1;
    }
    if (z->origin != origin)
        return 0;
    if (z->mode == FREE) {
        z->mode = PUTTING + below(c, allowed(c, RR_ACC) ? 3 : 2);
        z->used = z->lo;
        z->base = below(c, 3) ? below(c, DTG_INTEGERS) : below(c, DTG_BASES - 1);
    }
    *kind = z->mode == PUTTING   ? PUT
            : z->mode == GETTING ? GET
                                 : ACC + below(c, allowed(c, RR_CAS) ? 4 : 3);
    *base = z->mode == ADDING ? z->base : below(c, DTG_BASES);
    if (*kind == CAS && *base >= B_FLOAT)
        *kind = GACC;
    return 1;
}

static int fetches(int kind) { return kind == GET || kind >= GACC; }

/* Half `part` of n cells from `first` on. */
static MPI_Datatype comb_cells(int comb, int part, size_t first, size_t n)
{
    int at, pair, cell = (int)strlen(combs[comb]);
    MPI_Datatype e = comb_type(comb, part, &at, &pair), t;
    MPI_Aint *from = get_memory(sizeof *from * n);
    size_t i;

    for (i = 0; i < n; i++)
        from[i] = (MPI_Aint)(first + i) * cell + at;
    if (pair) {
        int all = (int)n;

        MPI_Type_create_hindexed(1, &all, from, e, &t);
    } else
        MPI_Type_create_hindexed_block((int)n, 1, from, e, &t);
    MPI_Type_commit(&t);
    free(from);
    return t;
}

/* Bytes of one half of n cells. */
static void comb_copy(int comb, int part, unsigned char *to, const unsigned char *from, size_t n)
{
    size_t i, cell = strlen(combs[comb]);

    for (i = 0; i < n * cell; i++)
        if (combs[comb][i % cell] == 'a' + part)
            to[i] = from[i];
}

static void comb_maxloc(unsigned char *mem, const unsigned char *in)
{
    int16_t v, w;
    int32_t i, k;

    memcpy(&v, mem, 2), memcpy(&w, in, 2), memcpy(&i, mem + 4, 4), memcpy(&k, in + 4, 4);
    if (w > v || (w == v && k < i)) {
        memcpy(mem, &w, 2);
        memcpy(mem + 4, &k, 4);
    }
}

/* The same as operation(), of a zone that two origins share. */
static void comb_operation(struct ctx *c, struct win *w, struct zone *z, int origin, int target)
{
    static const int kind_of[] = { [PUTTING] = PUT, [GETTING] = GET };
    int part = origin != z->half[0].origin, unit = w->unit[target], comb = z->comb, at_cell, pair,
        kind, op = 8, maxloc = 0;
    size_t cell = strlen(combs[comb]),
           start = (z->lo + (size_t)unit - 1) / (size_t)unit * (size_t)unit, cells, first, n, i;
    struct half *h = &z->half[part];
    unsigned char *mem, *out, *old;
    struct dtg_rng fill;
    struct op *q;

    comb_type(comb, part, &at_cell, &pair);
    cells = start < z->hi ? (z->hi - start) / cell : 0;
    if (origin != h->origin || !cells)
        return;
    if (h->mode == FREE) {
        h->mode = below(c, 2) ? part || !allowed(c, RR_ACC) ? PUTTING : ADDING
                              : PUTTING + below(c, allowed(c, RR_ACC) ? 3 : 2);
        h->used = 0;
    }
    kind = h->mode == ADDING ? ACC + below(c, 2) : kind_of[h->mode];
    first = h->mode == PUTTING ? h->used : (size_t)below(c, (int)cells);
    if (first >= cells)
        return;
    n = 1 + (size_t)below(c, (int)(cells - first < 200 ? cells - first : 200));
    h->used = first + n;
    if (kind >= ACC) { /* doubles at random may be no numbers: these are moved only */
        op = kind == GACC && below(c, 4) == 0 ? 8 : comb == 0 && !part ? 7 : below(c, 2) ? 7 : 0;
        maxloc = pair && op == 0;
    }
    rng_seed(&fill, rng_next(&c->rng));
    out = get_memory(n * cell);
    old = get_memory(n * cell);
    random_bytes(&fill, out, n * cell);
    mem = w->model[target] + start + first * cell;
    for (i = 0; i < n && maxloc; i += 3) /* of equal values the index decides */
        memcpy(out + i * cell, mem + i * cell, 2);
    memcpy(old, mem, n * cell);
    if (kind == PUT || op == 7)
        comb_copy(comb, part, mem, out, n);
    else
        for (i = 0; i < n && op == 0; i++) {
            if (maxloc)
                comb_maxloc(mem + i * cell, out + i * cell);
            else
                apply(0, comb == 1 ? B_I16 : B_I32, mem + i * cell + at_cell,
                      out + i * cell + at_cell);
        }
    if (origin == c->rank) {
        MPI_Datatype t = comb_cells(comb, part, first, n), o = comb_cells(comb, part, 0, n);
        MPI_Aint disp = w->base ? MPI_Aint_add(w->base[target], (MPI_Aint)start)
                                : (MPI_Aint)start / unit;
        MPI_Op mop = maxloc ? MPI_MAXLOC : mpi_op(op);

        q = calloc(1, sizeof *q);
        if (!q)
            MPI_Abort(MPI_COMM_WORLD, 2);
        c->counts.operations++;
        q->kind = kind;
        q->target = target;
        q->req = MPI_REQUEST_NULL;
        q->ot.type = q->rt.type = q->tt.type = MPI_DATATYPE_NULL;
        q->ot.predefined = q->rt.predefined = q->tt.predefined = 1;
        q->out = q->out_raw = (char *)out;
        q->in = q->in_raw = get_memory(n * cell);
        q->out_bytes = q->in_bytes = n * cell;
        random_bytes(&fill, q->in_raw, n * cell);
        if (fetches(kind)) {
            q->want = get_memory(n * cell);
            memcpy(q->want, q->in_raw, n * cell);
            comb_copy(comb, part, (unsigned char *)q->want, old, n);
        }
        snprintf(q->text, sizeof q->text,
                 "%s, %s, half %c of %zu cells %s, rank %d to %d at %zu + %zu cells",
                 kind_names[kind], maxloc ? "MAXLOC" : op_names[op], 'a' + part, n, combs[comb],
                 origin, target, start, first);
        switch (kind) {
        case PUT: MPI_Put(q->out, 1, o, target, disp, 1, t, w->win); break;
        case GET: MPI_Get(q->in, 1, o, target, disp, 1, t, w->win); break;
        case ACC: MPI_Accumulate(q->out, 1, o, target, disp, 1, t, mop, w->win); break;
        default:
            MPI_Get_accumulate(q->out, 1, o, q->in, 1, o, target, disp, 1, t, mop, w->win);
            break;
        }
        MPI_Type_free(&t);
        MPI_Type_free(&o);
        q->next = c->ops;
        c->ops = q;
    } else
        free(out);
    free(old);
}

/* Draws one operation of `origin` on `target`; if that is this rank, issues it.  Every rank applies
 * it to the model. */
static void operation(struct ctx *c, struct win *w, int origin, int target, int requests)
{
    struct zone *z = &w->zones[target * MAX_ZONES + below(c, w->nzones[target])];
    int kind, base, op = 8, adding, grain, i, mine = origin == c->rank, derived, use_req, checked,
                    b, large, unequal;
    size_t n, oc, rc, tc, k, es, from, back;  /* elements of the target, the origin, the result */
    struct op *q;
    MPI_Aint at;
    char *packed_old, *packed_in, *cmp = NULL;
    unsigned char *el;

    if (z->comb != NO_COMB) {
        comb_operation(c, w, z, origin, target);
        return;
    }
    if (!admit(c, z, origin, &kind, &base))
        return;
    adding = kind >= ACC;
    q = calloc(1, sizeof *q);
    if (!q)
        MPI_Abort(MPI_COMM_WORLD, 2);
    q->kind = kind;
    q->target = target;
    q->req = MPI_REQUEST_NULL;
    q->ot.type = q->rt.type = q->tt.type = MPI_DATATYPE_NULL;
    q->ot.predefined = q->rt.predefined = q->tt.predefined = 1;
    es = (size_t)dtg_base_size(base);
    grain = adding ? (int)es : 1;
    derived = kind < FOP && allowed(c, RR_TYPES) && !(kind == GACC && !allowed(c, RR_FETCH_TYPES));
    n = 1;
    if (kind < FOP) {
        n = (z->hi - z->lo) / es;
        n = n ? 1 + (size_t)below(c, (int)(n < 100 || c->big ? n : 100)) : 1;
        if (below(c, 3) == 0 && n > 8)
            n = 1 + (size_t)below(c, 8);
    }
    for (i = 0, at = -1; i < 6 && at < 0; i++) {
        dtg_free(&q->tt);
        draw_type(c, base, n, derived, adding || !allowed(c, RR_MISALIGNED), &q->tt, &tc);
        at = place(c, &q->tt, tc, z->mode == PUTTING && z->origin >= 0 ? z->used : z->lo, z->hi,
                   w->unit[target], z->lo, grain);
        n = n > 1 ? n / 2 : 1;
    }
    if (at < 0) {
        free_op(q);
        return;
    }
    n = q->tt.n * tc;
    /* What the data come from may be shorter than what they go to. */
    unequal = kind < FOP && allowed(c, RR_UNEQUAL) && below(c, 4) == 0;
    from = unequal && (kind == PUT || kind == ACC) ? (size_t)below(c, (int)n + 1) : n;
    back = unequal && fetches(kind) ? n + 1 + (size_t)below(c, n < 50 ? (int)n : 50) : n;
    draw_type(c, base, from ? from : 1, derived, 0, &q->ot, &oc);
    if (!from)
        oc = 0;
    draw_type(c, base, back, derived, 0, &q->rt, &rc);
    if (z->mode == PUTTING && z->origin >= 0) {
        MPI_Aint low, high;

        dtg_reach(&q->tt, tc, &low, &high);
        z->used = (size_t)(at + high);
    }
    if (adding && kind != CAS)
        op = z->origin == READ_ONLY            ? 8
             : z->origin == ALL                ? (kind != ACC && below(c, 5) == 0 ? 8 : z->op)
             : kind != ACC && below(c, 4) == 0 ? 8
                                               : draw_op(c, base, 0);
    use_req = requests && kind < FOP && allowed(c, RR_REQUESTS) && below(c, 4) == 0;
    large = kind < FOP && allowed(c, RR_LARGE_COUNT) && below(c, 4) == 0;
    checked = fetches(kind) && z->origin != ALL;

    packed_old = get_memory(n * es);
    packed_in = get_memory(from * es);
    model_pack(w, target, &q->tt, tc, at, packed_old);
    q->out_raw = buffer(c, &q->ot, oc, mine, &q->out, &q->out_bytes);
    q->in_raw = buffer(c, &q->rt, rc, mine, &q->in, &q->in_bytes);
    if (kind == CAS) {
        cmp = get_memory(16);
        memcpy(cmp, packed_old, es);
        if (below(c, 3) == 0)
            cmp[0] ^= 1;
    }
    dtg_pack(&q->ot, oc, q->out, packed_in);
    snprintf(q->text, sizeof q->text,
             "%s%s%s of %zu (%zu) x base %d, %s, rank %d to %d at %ld (unit %d), origin %zu x "
             "%.150s, target %zu x %.150s%s%.120s",
             use_req ? "request " : "", large ? "large " : "", kind_names[kind], from, n, base,
             op_names[op], origin, target, (long)at, w->unit[target], oc, q->ot.text, tc,
             q->tt.text, fetches(kind) ? ", result " : "", fetches(kind) ? q->rt.text : "");
    /* the model */
    if (kind != GET)
        for (k = 0; k < from; k++) {
            el = w->model[target] + at + dtg_where(&q->tt, k, &b);
            if (kind == PUT)
                memcpy(el, packed_in + k * es, es);
            else if (kind == CAS) {
                if (memcmp(el, cmp, es) == 0)
                    memcpy(el, packed_in, es);
            } else
                apply(op, base, el, (unsigned char *)packed_in + k * es);
        }
    if (mine) {
        MPI_Aint disp = w->base ? MPI_Aint_add(w->base[target], at) : at / w->unit[target];
        MPI_Datatype o = q->ot.type, r = q->rt.type, t = q->tt.type;
        MPI_Op mop = mpi_op(op);
        int no = (int)oc, nr = (int)rc, nt = (int)tc;

        c->counts.operations++;
        if (checked) {
            q->want = get_memory(q->in_bytes);
            memcpy(q->want, q->in_raw, q->in_bytes);
            for (k = 0; k < n; k++)
                memcpy(q->want + (q->in - q->in_raw) + dtg_where(&q->rt, k, &b),
                       packed_old + k * es, es);
        }
        switch (large ? KINDS + 1 + kind : kind) {
        case PUT:
            if (use_req) MPI_Rput(q->out, no, o, target, disp, nt, t, w->win, &q->req);
            else MPI_Put(q->out, no, o, target, disp, nt, t, w->win);
            break;
        case GET:
            if (use_req) MPI_Rget(q->in, nr, r, target, disp, nt, t, w->win, &q->req);
            else MPI_Get(q->in, nr, r, target, disp, nt, t, w->win);
            break;
        case ACC:
            if (use_req) MPI_Raccumulate(q->out, no, o, target, disp, nt, t, mop, w->win, &q->req);
            else MPI_Accumulate(q->out, no, o, target, disp, nt, t, mop, w->win);
            break;
        case GACC:
            if (use_req)
                MPI_Rget_accumulate(q->out, no, o, q->in, nr, r, target, disp, nt, t, mop, w->win,
                                    &q->req);
            else MPI_Get_accumulate(q->out, no, o, q->in, nr, r, target, disp, nt, t, mop, w->win);
            break;
        case KINDS + 1 + PUT:
            if (use_req) MPI_Rput_c(q->out, no, o, target, disp, nt, t, w->win, &q->req);
            else MPI_Put_c(q->out, no, o, target, disp, nt, t, w->win);
            break;
        case KINDS + 1 + GET:
            if (use_req) MPI_Rget_c(q->in, nr, r, target, disp, nt, t, w->win, &q->req);
            else MPI_Get_c(q->in, nr, r, target, disp, nt, t, w->win);
            break;
        case KINDS + 1 + ACC:
            if (use_req)
                MPI_Raccumulate_c(q->out, no, o, target, disp, nt, t, mop, w->win, &q->req);
            else MPI_Accumulate_c(q->out, no, o, target, disp, nt, t, mop, w->win);
            break;
        case KINDS + 1 + GACC:
            if (use_req)
                MPI_Rget_accumulate_c(q->out, no, o, q->in, nr, r, target, disp, nt, t, mop, w->win,
                                      &q->req);
            else
                MPI_Get_accumulate_c(q->out, no, o, q->in, nr, r, target, disp, nt, t, mop, w->win);
            break;
        case FOP:
            MPI_Fetch_and_op(q->out, q->in, dtg_base_type(base), target, disp, mop, w->win);
            break;
        case CAS:
            q->cmp = get_memory(16);
            memcpy(q->cmp, cmp, es);
            MPI_Compare_and_swap(q->out, q->cmp, q->in, dtg_base_type(base), target, disp, w->win);
            break;
        }
        q->next = c->ops;
        c->ops = q;
    } else
        free_op(q);
    free(packed_old);
    free(packed_in);
    free(cmp);
}

/* ------------------------------------------------------------------ completion */

/* Looks at the results of the operations on a target (or all, -1), which are complete here. */
static void check_ops(struct ctx *c, const struct win *w, int target)
{
    struct op **p = &c->ops, *q;
    size_t i;

    while ((q = *p) != NULL) {
        if (target >= 0 && q->target != target) {
            p = &q->next;
            continue;
        }
        *p = q->next;
        if (q->req != MPI_REQUEST_NULL)
            MPI_Wait(&q->req, MPI_STATUS_IGNORE);
        if (q->want) {
            c->counts.fetched++;
            for (i = 0; i < q->in_bytes && q->in_raw[i] == q->want[i]; i++)
                ;
            if (i < q->in_bytes)
                complain(c, "phase %d, %s window: result byte %zu of %zu is %02x, not %02x: %s",
                         c->phase, flavour_names[w->flavour], i, q->in_bytes,
                         (unsigned char)q->in_raw[i], (unsigned char)q->want[i], q->text);
        }
        if (q->out_raw)           /* an operation that still reads the origin buffer now reads
                                   * this */
            memset(q->out_raw, 0xEE, q->out_bytes);
        free_op(q);
    }
}

static void check_memory(struct ctx *c, struct win *w)
{
    int me = c->rank;
    size_t i, n = w->bytes[me];

    MPI_Barrier(c->comm);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, w->win);
    for (i = 0; i < n && (unsigned char)w->mem[i] == w->model[me][i]; i++)
        ;
    if (i < n) {
        size_t last = n - 1;

        while ((unsigned char)w->mem[last] == w->model[me][last])
            last--;
        complain(c,
                 "after phase %d: %s window of %zu bytes (unit %d) at rank %d: bytes %zu to %zu "
                 "differ, the first is %02x, not %02x",
                 c->phase, flavour_names[w->flavour], n, w->unit[me], me, i, last,
                 (unsigned char)w->mem[i], w->model[me][i]);
        memcpy(w->mem, w->model[me], n);          /* go on from the right state */
    }
    MPI_Win_unlock(me, w->win);
    MPI_Barrier(c->comm);
}

/* The origin's zones at a target may be used in another way after a flush. */
static void refresh(struct win *w, int origin, int target)
{
    int z, h;

    for (z = 0; z < w->nzones[target]; z++) {
        struct zone *q = &w->zones[target * MAX_ZONES + z];

        if (q->origin == origin)
            q->mode = FREE;
        for (h = 0; q->comb != NO_COMB && h < 2; h++)
            if (q->half[h].origin == origin)
                q->half[h].mode = FREE;
    }
}

/* ------------------------------------------------------------------ phases */

static int burst(struct ctx *c) { return 1 + below(c, 5); }

static void phase_fence(struct ctx *c, struct win *w, const char *may)
{
    int rounds = 1 + below(c, 3), k, o, i, n;

    MPI_Win_fence(below(c, 2) ? MPI_MODE_NOPRECEDE : 0, w->win);
    for (k = 0; k < rounds; k++) {
        draw_zones(c, w, may);
        for (o = 0; o < c->size; o++)
            for (i = 0, n = burst(c); i < n; i++)
                operation(c, w, o, below(c, c->size), 0);
        MPI_Win_fence(k == rounds - 1 && below(c, 2) ? MPI_MODE_NOSUCCEED : 0, w->win);
        check_ops(c, w, -1);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
}

static MPI_Group group_of(struct ctx *c, struct win *w, const char *may, int row)
{
    int r, n = 0, *ranks = get_memory(sizeof *ranks * (size_t)c->size);
    MPI_Group g;

    for (r = 0; r < c->size; r++)
        if (row ? may[c->rank * c->size + r] : may[r * c->size + c->rank])
            ranks[n++] = r;
    MPI_Group_incl(w->group, n, ranks, &g);
    free(ranks);
    return g;
}

static void phase_pscw(struct ctx *c, struct win *w, char *may)
{
    int i, o, t, n, any, test = below(c, 2), over = 0;
    MPI_Group to, from;

    for (i = 0; i < c->size * c->size; i++)
        may[i] = (char)(below(c, 3) > 0);
    draw_zones(c, w, may);
    to = group_of(c, w, may, 1);
    from = group_of(c, w, may, 0);
    MPI_Win_post(from, 0, w->win);
    MPI_Win_start(to, 0, w->win);
    for (o = 0; o < c->size; o++) {
        for (t = any = 0; t < c->size; t++)
            any |= may[o * c->size + t];
        for (i = 0, n = burst(c) + 2; i < n && any; i++) {
            t = below(c, c->size);
            if (may[o * c->size + t])
                operation(c, w, o, t, 0);
        }
    }
    MPI_Win_complete(w->win);
    check_ops(c, w, -1);
    while (test && !over)
        MPI_Win_test(w->win, &over);
    if (!test)
        MPI_Win_wait(w->win);
    if (to != MPI_GROUP_EMPTY)
        MPI_Group_free(&to);
    if (from != MPI_GROUP_EMPTY)
        MPI_Group_free(&from);
}

/* A flush of some kind by origin o; the zones that it settles are free again. */
static void flush(struct ctx *c, struct win *w, int o, int t)
{
    int how = below(c, 5), mine = o == c->rank, r;

    switch (how) {
    case 0: case 1:
        if (mine)
            MPI_Win_flush(t, w->win);
        refresh(w, o, t);
        break;
    case 2:
        if (mine)
            MPI_Win_flush_all(w->win);
        for (r = 0; r < c->size; r++)
            refresh(w, o, r);
        t = -1;
        break;
    case 3:
        if (mine)
            MPI_Win_flush_local(t, w->win);
        break;
    default:
        if (mine)
            MPI_Win_flush_local_all(w->win);
        t = -1;
        break;
    }
    if (mine)
        check_ops(c, w, t);
}

/* Each origin locks some targets, lowest first, works, and unlocks them in another order. */
static void phase_lock(struct ctx *c, struct win *w, const char *may)
{
    int o, t, i, n, k, rounds, *held = get_memory(sizeof *held * (size_t)c->size), mine, exclusive,
                               nocheck;

    draw_zones(c, w, may);
    nocheck = allowed(c, RR_NOCHECK) && below(c, 6) == 0;
    for (o = 0; o < c->size; o++) {
        mine = o == c->rank;
        rounds = 1 + below(c, 3);
        while (rounds--) {
            for (t = k = 0; t < c->size; t++) {
                if (below(c, 3))
                    continue;
                exclusive = !nocheck && below(c, 3) == 0;
                if (mine)
                    MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, t,
                                 nocheck ? MPI_MODE_NOCHECK : 0, w->win);
                held[k++] = t;
            }
            for (i = 0, n = burst(c) + 1; i < n && k; i++) {
                t = held[below(c, k)];
                operation(c, w, o, t, 1);
                if (below(c, 5) == 0)
                    flush(c, w, o, t);
            }
            while (k) {
                i = below(c, k);
                t = held[i];
                held[i] = held[--k];
                if (mine) {
                    MPI_Win_unlock(t, w->win);
                    check_ops(c, w, t);
                }
                refresh(w, o, t);
            }
        }
    }
    free(held);
}

static void phase_lock_all(struct ctx *c, struct win *w, const char *may)
{
    int o, t, i, n, r, mine,
        check = allowed(c, RR_NOCHECK) && below(c, 6) == 0 ? MPI_MODE_NOCHECK : 0;

    draw_zones(c, w, may);
    for (o = 0; o < c->size; o++) {
        mine = o == c->rank;
        if (mine)
            MPI_Win_lock_all(check, w->win);
        for (i = 0, n = 2 * burst(c); i < n; i++) {
            t = below(c, c->size);
            operation(c, w, o, t, 1);
            if (below(c, 4) == 0)
                flush(c, w, o, t);
        }
        if (mine) {
            MPI_Win_unlock_all(w->win);
            check_ops(c, w, -1);
        }
        for (r = 0; r < c->size; r++)
            refresh(w, o, r);
    }
}

int random_rma(uint64_t seed, unsigned without, MPI_Comm comm, char *report, size_t room,
               struct rr_counts *counts)
{
    static const unsigned banned[SYNCS] = { RR_FENCE, RR_PSCW, RR_LOCKS, RR_LOCK_ALL };
    struct ctx ctx, *c = &ctx;
    struct win *w;
    int i, phases, sync, before = FENCE, dirty;
    char *may;

    memset(c, 0, sizeof *c);
    c->seed = seed;
    c->without = without;
    c->report = report;
    c->room = room;
    rng_seed(&c->rng, seed);
    MPI_Comm_rank(comm, &c->rank);
    MPI_Comm_size(comm, &c->size);
    if (below(c, 3) == 0)
        MPI_Comm_split(comm, 0, -c->rank, &c->comm);
    else
        MPI_Comm_dup(comm, &c->comm);
    MPI_Comm_rank(c->comm, &c->rank);
    c->big = allowed(c, RR_BIG) && below(c, 10) == 0;
    c->nwins = 1 + (below(c, 3) == 0);
    for (i = 0; i < c->nwins; i++)
        make_window(c, &c->win[i]);
    may = get_memory((size_t)(c->size * c->size));
    phases = 1 + below(c, 6);
    for (c->phase = 1; c->phase <= phases; c->phase++) {
        w = &c->win[below(c, c->nwins)];
        do
            sync = below(c, SYNCS);
        while (!allowed(c, banned[sync]));
        /* passive phases begin and end with a barrier; active ones follow each other without */
        if (sync >= LOCK || before >= LOCK)
            MPI_Barrier(c->comm);
        before = sync;
        memset(may, 1, (size_t)(c->size * c->size));
        switch (sync) {
        case FENCE: phase_fence(c, w, may); break;
        case PSCW: phase_pscw(c, w, may); break;
        case LOCK: phase_lock(c, w, may); break;
        default: phase_lock_all(c, w, may); break;
        }
        c->counts.phases++;
        dirty = below(c, 2);
        if (dirty)
            check_memory(c, w);
        if (c->errors && c->report[0] && !strstr(c->report, " [sync "))
            snprintf(c->report + strlen(c->report), c->room - strlen(c->report), " [sync %s]",
                     sync_names[sync]);
    }
    for (i = 0; i < c->nwins; i++) {
        check_memory(c, &c->win[i]);
        free_window(c, &c->win[i]);
    }
    free(may);
    MPI_Comm_free(&c->comm);
    if (counts) {
        counts->operations += c->counts.operations;
        counts->fetched += c->counts.fetched;
        counts->phases += c->counts.phases;
    }
    return c->errors;
}

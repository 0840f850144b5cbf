/* unequal.c - operations whose two sides are not equally long: what moves is as long as the side
 * that the data come from, and must fit into the other one (MPI-3.1 11.3.1: a put is a send that a
 * receive at the target matches). What is longer stays as it was behind it. Layouts with and
 * without gaps, by every route: short ones, parts, runs, requests, large counts, nothing on one
 * side. Each rank works on the memory of the next one and reads it all back.
 *
 *   unequal [--small]    without the long ones: each of their pieces is a packet where all goes
 *                        natively */
#include "rw.h"

enum { SHAPES = 5, WIN_INTS = 1 << 16, LONG = 20000, KINDS = 6, FORMS = 4 };
enum kind { PUT, GET, ACC, REPLACE, GACC, NO_OP };
static const char *const kinds[] = {"put",  "get", "accumulate", "replace", "get_accumulate",
                                    "fetch"};

/* A type of ints: where they lie. */
struct shape {
    MPI_Datatype type;
    int n, extent; /* ints */
    int *at;
};

static struct shape shapes[SHAPES];

static void shape_of(struct shape *s, int n, int extent, MPI_Datatype t)
{
    s->n = n;
    s->extent = extent;
    s->at = mt_alloc(sizeof(int) * (size_t)n);
    s->type = t;
    if (t != MPI_INT)
        MPI_Type_commit(&s->type);
}

static void make_shapes(void)
{
    enum { MANY = 3000 }; /* blocks: the layout alone fills packets */
    static int at[MANY];
    MPI_Datatype t;
    int i;

    shape_of(&shapes[0], 1, 1, MPI_INT);
    shapes[0].at[0] = 0;
    MPI_Type_contiguous(4, MPI_INT, &t);
    shape_of(&shapes[1], 4, 4, t);
    MPI_Type_vector(5, 1, 3, MPI_INT, &t);
    shape_of(&shapes[2], 5, 13, t);
    MPI_Type_vector(3, 2, 4, MPI_INT, &t);
    shape_of(&shapes[3], 6, 10, t);
    for (i = 0; i < MANY; i++)
        at[i] = 2 * i + (i * 7 % 11 == 3);
    MPI_Type_create_indexed_block(MANY, 1, at, MPI_INT, &t);
    shape_of(&shapes[4], MANY, at[MANY - 1] + 1, t);
    for (i = 0; i < 4; i++)
        shapes[1].at[i] = i;
    for (i = 0; i < 5; i++)
        shapes[2].at[i] = 3 * i;
    for (i = 0; i < 6; i++)
        shapes[3].at[i] = i / 2 * 4 + i % 2;
    for (i = 0; i < MANY; i++)
        shapes[4].at[i] = at[i];
}

/* Where the i-th int is. */
static int where(const struct shape *s, int i)
{
    return i / s->n * s->extent + s->at[i % s->n];
}

static int span(const struct shape *s, int count)
{
    return count ? (count - 1) * s->extent + s->at[s->n - 1] + 1 : 0;
}

struct one { /* operation */
    int kind, form; /* form: 1 request, 2 large count, 3 both */
    const struct shape *o, *r, *t;
    int no, nr, nt;
    int disp; /* ints */
};

static int *out, *in, *want, *model, *seen;

static int call(const struct rw *w, const struct one *x, int next)
{
    MPI_Aint d = rw_disp(w, next, sizeof(int) * (size_t)x->disp);
    MPI_Op op = x->kind == REPLACE ? MPI_REPLACE : x->kind == NO_OP ? MPI_NO_OP : MPI_SUM;
    MPI_Datatype o = x->o->type, r = x->r->type, t = x->t->type;
    MPI_Request req = MPI_REQUEST_NULL;
    MPI_Win win = w->win;
    int no = x->no, nr = x->nr, nt = x->nt, err, e;

    switch (x->kind * FORMS + x->form) {
    case PUT * FORMS: err = MPI_Put(out, no, o, next, d, nt, t, win); break;
    case PUT * FORMS + 1: err = MPI_Rput(out, no, o, next, d, nt, t, win, &req); break;
    case PUT * FORMS + 2: err = MPI_Put_c(out, no, o, next, d, nt, t, win); break;
    case PUT * FORMS + 3: err = MPI_Rput_c(out, no, o, next, d, nt, t, win, &req); break;
    case GET * FORMS: err = MPI_Get(in, nr, r, next, d, nt, t, win); break;
    case GET * FORMS + 1: err = MPI_Rget(in, nr, r, next, d, nt, t, win, &req); break;
    case GET * FORMS + 2: err = MPI_Get_c(in, nr, r, next, d, nt, t, win); break;
    case GET * FORMS + 3: err = MPI_Rget_c(in, nr, r, next, d, nt, t, win, &req); break;
    case ACC *FORMS:
    case REPLACE *FORMS:
        err = MPI_Accumulate(out, no, o, next, d, nt, t, op, win);
        break;
    case ACC *FORMS + 1:
    case REPLACE *FORMS + 1:
        err = MPI_Raccumulate(out, no, o, next, d, nt, t, op, win, &req);
        break;
    case ACC *FORMS + 2:
    case REPLACE *FORMS + 2:
        err = MPI_Accumulate_c(out, no, o, next, d, nt, t, op, win);
        break;
    case ACC *FORMS + 3:
    case REPLACE *FORMS + 3:
        err = MPI_Raccumulate_c(out, no, o, next, d, nt, t, op, win, &req);
        break;
    case GACC *FORMS:
    case NO_OP *FORMS:
        err = MPI_Get_accumulate(out, no, o, in, nr, r, next, d, nt, t, op, win);
        break;
    case GACC *FORMS + 1:
    case NO_OP *FORMS + 1:
        err = MPI_Rget_accumulate(out, no, o, in, nr, r, next, d, nt, t, op, win, &req);
        break;
    case GACC *FORMS + 2:
    case NO_OP *FORMS + 2:
        err = MPI_Get_accumulate_c(out, no, o, in, nr, r, next, d, nt, t, op, win);
        break;
    default:
        err = MPI_Rget_accumulate_c(out, no, o, in, nr, r, next, d, nt, t, op, win, &req);
        break;
    }
    if (req != MPI_REQUEST_NULL && (e = MPI_Wait(&req, MPI_STATUS_IGNORE)) != MPI_SUCCESS)
        err = e;
    return err;
}

static void run(const struct rw *w, const struct one *x, int next, int all)
{
    int ints = w->bytes / sizeof(int), from = x->o->n * x->no, to = x->t->n * x->nt,
        back = x->r->n * x->nr, i, k, err, err2;
    int fetches = x->kind == GET || x->kind >= GACC, changes = x->kind != GET && x->kind != NO_OP,
        room = span(x->r, x->nr) + 8;
    static int turn;

    turn++;
    for (i = 0; i < span(x->o, x->no); i++)
        out[i] = turn * 1000 + i + mt_rank;
    for (i = 0; i < room; i++)
        in[i] = want[i] = -7;
    if (fetches)
        for (i = 0; i < to && i < back; i++)
            want[where(x->r, i)] = model[x->disp + where(x->t, i)];
    if (changes)
        for (i = 0; i < from; i++) {
            k = x->disp + where(x->t, i);
            model[k] = (x->kind == ACC || x->kind == GACC ? (unsigned)model[k] : 0u) +
                       (unsigned)out[where(x->o, i)];
        }
    err = call(w, x, next);
    err2 = MPI_Win_flush(next, w->win);
    MUST(err == MPI_SUCCESS && err2 == MPI_SUCCESS, "%s, %s form %d: classes %d, %d",
         rw_flavour_names[w->flavour], kinds[x->kind], x->form, mt_class(err), mt_class(err2));
    for (i = 0; i < room && in[i] == want[i]; i++)
        ;
    MUST(i == room,
         "%s, %s form %d, origin %d ints, result %d, target %d: result int %d is %d, not %d",
         rw_flavour_names[w->flavour], kinds[x->kind], x->form, from, back, to, i,
         i < room ? in[i] : 0, i < room ? want[i] : 0);
    if (!all)
        return;
    MPI_Get(seen, ints, MPI_INT, next, rw_disp(w, next, 0), ints, MPI_INT, w->win);
    MPI_Win_flush(next, w->win);
    for (i = 0; i < ints && seen[i] == model[i]; i++)
        ;
    MUST(i == ints, "%s, %s form %d, origin %d ints, target %d: int %d there is %d, not %d",
         rw_flavour_names[w->flavour], kinds[x->kind], x->form, from, to, i, i < ints ? seen[i] : 0,
         i < ints ? model[i] : 0);
    if (i < ints)
        memcpy(model, seen, sizeof(int) * (size_t)ints);
}

/* Few ints or parts of many; `n` of them are what there is on the shorter side. */
static void pairs_of(const struct rw *w, int next, int n, int forms)
{
    struct one x;
    int o, t, k;

    for (k = 0; k < KINDS; k++)
        for (o = 0; o < SHAPES; o++)
            for (t = 0; t < SHAPES; t++) {
                int fetches = k == GET || k >= GACC;

                x = (struct one){.kind = k,
                                 .form = (o + t + k) % forms,
                                 .o = &shapes[o],
                                 .r = &shapes[(o + 1) % SHAPES],
                                 .t = &shapes[t],
                                 .disp = 3 + (o + t) % 2};
                if (k == GET)
                    x.r = x.o;
                x.no = n / x.o->n + (n < x.o->n);
                /* the other side: at least as much, and an element more where it divides */
                x.nt = x.o->n * x.no / x.t->n + 1;
                if (fetches) {
                    x.nt = n / x.t->n + (n < x.t->n);
                    x.nr = x.t->n * x.nt / x.r->n + 1;
                    x.o = k == NO_OP ? x.o : x.t; /* a fetching one does as much as it fetches */
                    x.no = k == NO_OP ? 0 : x.nt;
                }
                if (x.disp + span(x.t, x.nt) > (int)(w->bytes / sizeof(int)) ||
                    span(x.r, x.nr) + 8 > WIN_INTS || span(x.o, x.no) > WIN_INTS)
                    continue;
                run(w, &x, next, k != GET && k != NO_OP);
            }
}

/* Nothing on the side that the data come from: nothing moves, whatever the other side is. */
static void nothing(const struct rw *w, int next)
{
    struct one x;
    int k, f;

    for (k = 0; k < KINDS; k++)
        for (f = 0; f < FORMS; f++) {
            x = (struct one){.kind = k,
                             .form = f,
                             .o = &shapes[2],
                             .r = &shapes[1],
                             .t = &shapes[3],
                             .no = 0,
                             .nr = 3,
                             .nt = 2,
                             .disp = 5};
            if (k == GET || k >= GACC)
                x.nt = 0;
            run(w, &x, next, 1);
        }
    /* of whatever elements it has none */
    CHECK_EQ(
        MPI_Accumulate(out, 0, MPI_DOUBLE, next, rw_disp(w, next, 0), 2, MPI_INT, MPI_SUM, w->win),
        MPI_SUCCESS);
}

/* Many in one epoch, so that they share packets, or would. */
static void many(const struct rw *w, int next)
{
    enum { MANY = 200 };
    static int got[MANY][4];
    int i, k;

    for (i = 0; i < MANY; i++) {
        out[i] = -i;
        model[8 * i] = -i;
        model[8 * i + 4] += -i;
        MPI_Put(out + i, 1, MPI_INT, next, rw_disp(w, next, 32 * (size_t)i), i % 3 ? 1 : 4, MPI_INT,
                w->win);
        MPI_Accumulate(out + i, 1, MPI_INT, next, rw_disp(w, next, 32 * (size_t)i + 16), 1 + i % 2,
                       MPI_INT, MPI_SUM, w->win);
    }
    MPI_Win_flush(next, w->win);
    memset(got, -1, sizeof got);
    for (i = 0; i < MANY; i++)
        MPI_Get(got[i], 4, MPI_INT, next, rw_disp(w, next, 32 * (size_t)i), 1, MPI_INT, w->win);
    MPI_Win_flush(next, w->win);
    for (i = 0; i < MANY; i++) {
        CHECK_EQ(got[i][0], -i);
        for (k = 1; k < 4; k++)
            CHECK_EQ(got[i][k], -1);
    }
}

/* Pair types, whose elements have gaps: one of three, and the index travels with its value. */
static void pair_types(const struct rw *w, int next)
{
    struct { double v; int i; } a = { 5, 7 }, r[3], s[3];
    int k;

    for (k = 0; k < 3; k++)
        s[k].v = 1 + k, s[k].i = k;
    MPI_Put(s, 3, MPI_DOUBLE_INT, next, rw_disp(w, next, 64), 3, MPI_DOUBLE_INT, w->win);
    MPI_Win_flush(next, w->win);
    MPI_Accumulate(&a, 1, MPI_DOUBLE_INT, next, rw_disp(w, next, 64), 3, MPI_DOUBLE_INT, MPI_MAXLOC,
                   w->win);
    MPI_Win_flush(next, w->win);
    for (k = 0; k < 3; k++)
        r[k].v = r[k].i = -3;
    MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, r, 3, MPI_DOUBLE_INT, next, rw_disp(w, next, 64),
                       2, MPI_DOUBLE_INT, MPI_NO_OP, w->win);
    MPI_Win_flush(next, w->win);
    CHECK(r[0].v == 5 && r[0].i == 7 && r[1].v == 2 && r[1].i == 1 && r[2].v == -3 && r[2].i == -3);
}

/* Longer than what it goes to: refused at the call. */
static void refused(const struct rw *w, int next)
{
    MPI_Aint d = rw_disp(w, next, 0);
    int x[4] = { 1, 2, 3, 4 }, y[4];

    CHECK_EQ(mt_class(MPI_Put(x, 2, MPI_INT, next, d, 1, MPI_INT, w->win)), MPI_ERR_TYPE);
    CHECK_EQ(mt_class(MPI_Put(x, 1, MPI_INT, next, d, 0, MPI_INT, w->win)), MPI_ERR_TYPE);
    CHECK_EQ(mt_class(MPI_Put(x, 1, MPI_INT, next, d, 3, MPI_CHAR, w->win)), MPI_ERR_TYPE);
    CHECK_EQ(mt_class(MPI_Get(y, 1, MPI_INT, next, d, 2, MPI_INT, w->win)), MPI_ERR_TYPE);
    CHECK_EQ(mt_class(MPI_Get(y, 0, MPI_INT, next, d, 2, MPI_INT, w->win)), MPI_ERR_TYPE);
    CHECK_EQ(mt_class(MPI_Accumulate(x, 3, MPI_INT, next, d, 2, MPI_INT, MPI_SUM, w->win)),
             MPI_ERR_TYPE);
    CHECK_EQ(mt_class(MPI_Get_accumulate(x, 1, MPI_INT, y, 2, MPI_INT, next, d, 2, MPI_INT, MPI_SUM,
                                         w->win)),
             MPI_ERR_TYPE);
    CHECK_EQ(mt_class(MPI_Get_accumulate(x, 2, MPI_INT, y, 1, MPI_INT, next, d, 2, MPI_INT, MPI_SUM,
                                         w->win)),
             MPI_ERR_TYPE);
    CHECK_EQ(mt_class(MPI_Get_accumulate(x, 2, MPI_INT, y, 1, MPI_INT, next, d, 2, MPI_INT,
                                         MPI_NO_OP, w->win)),
             MPI_ERR_TYPE);
    /* The whole buffer that is named must lie there, however little of it is used. */
    if (w->flavour != RW_DYNAMIC) {
        int err = MPI_Put(x, 1, MPI_INT, next, d + (MPI_Aint)w->bytes - 8, 4, MPI_INT, w->win),
            err2 = MPI_Win_flush(next, w->win);

        MUST(mt_class(err ? err : err2) == MPI_ERR_RMA_RANGE, "%s: classes %d, %d",
             rw_flavour_names[w->flavour], mt_class(err), mt_class(err2));
    }
}

int main(int argc, char **argv)
{
    struct rw w;
    int f, i, next;

    mt_init(&argc, &argv);
    next = (mt_rank + 1) % mt_size;
    make_shapes();
    out = mt_alloc(sizeof(int) * WIN_INTS);
    in = mt_alloc(sizeof(int) * WIN_INTS);
    want = mt_alloc(sizeof(int) * WIN_INTS);
    model = mt_alloc(sizeof(int) * WIN_INTS);
    seen = mt_alloc(sizeof(int) * WIN_INTS);
    for (f = 0; f < RW_FLAVOURS; f++) {
        if (!rw_make(&w, f, sizeof(int) * WIN_INTS, MPI_COMM_WORLD))
            continue;
        MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
        memset(model, 0, sizeof(int) * WIN_INTS);
        MPI_Win_lock_all(0, w.win);
        pairs_of(&w, next, 1, FORMS);
        pairs_of(&w, next, 7, FORMS);
        if (argc < 2)
            pairs_of(&w, next, LONG, FORMS);
        nothing(&w, next);
        many(&w, next);
        pair_types(&w, next);
        refused(&w, next);
        MPI_Win_unlock_all(w.win);
        MPI_Barrier(MPI_COMM_WORLD);
        rw_free(&w);
    }
    for (i = 1; i < SHAPES; i++)
        MPI_Type_free(&shapes[i].type);
    for (i = 0; i < SHAPES; i++)
        free(shapes[i].at);
    free(out), free(in), free(want), free(model), free(seen);
    return mt_finish();
}

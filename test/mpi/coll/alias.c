/* alias.c - send and receive buffers at one address. Data that types keep apart are legal there:
 * absolute types of MPI_BOTTOM, or the even and the odd members of one array. The same memory at
 * both ends is an error on each process. */
#include "../mt.h"

enum { MANY = 64 };
enum shape { BOTTOM, MEMBERS, SHAPES };

static int sent[MANY], got[MANY], both[2 * MANY];
static int ones[MANY], places[MANY];

struct side {
    void *buf;
    MPI_Datatype type;
};

/* One int at `at`, again after `extent` bytes. */
static MPI_Datatype one_int(MPI_Aint at, MPI_Aint extent)
{
    MPI_Datatype one, t;
    int len = 1;

    MPI_Type_create_hindexed(1, &len, &at, MPI_INT, &one);
    MPI_Type_create_resized(one, 0, extent, &t);
    MPI_Type_commit(&t);
    MPI_Type_free(&one);
    return t;
}

static void make(enum shape how, struct side *s, struct side *r)
{
    MPI_Aint as = 0, ar = sizeof(int);

    s->buf = r->buf = how == BOTTOM ? MPI_BOTTOM : both;
    if (how == BOTTOM) {
        MPI_Get_address(sent, &as);
        MPI_Get_address(got, &ar);
    }
    s->type = one_int(as, how == BOTTOM ? sizeof(int) : 2 * sizeof(int));
    r->type = one_int(ar, how == BOTTOM ? sizeof(int) : 2 * sizeof(int));
}

static int *at_send(enum shape how, int i)
{
    return how == BOTTOM ? &sent[i] : &both[2 * i];
}

static int at_recv(enum shape how, int i)
{
    return how == BOTTOM ? got[i] : both[2 * i + 1];
}

enum call { ALLTOALL, ALLGATHER, GATHER, SCATTER, ALLGATHERV, GATHERV, SCATTERV, ALLTOALLV,
            ALLTOALLW, IALLTOALL, CALLS };

static int run(enum call call, const struct side *s, const struct side *r)
{
    const MPI_Comm c = MPI_COMM_WORLD;
    MPI_Datatype st[MANY], rt[MANY];
    MPI_Request q;
    int zeros[MANY] = { 0 }, i, err;

    switch (call) {
    case ALLTOALL: return MPI_Alltoall(s->buf, 1, s->type, r->buf, 1, r->type, c);
    case ALLGATHER: return MPI_Allgather(s->buf, 1, s->type, r->buf, 1, r->type, c);
    case GATHER: return MPI_Gather(s->buf, 1, s->type, r->buf, 1, r->type, 0, c);
    case SCATTER: return MPI_Scatter(s->buf, 1, s->type, r->buf, 1, r->type, 0, c);
    case ALLGATHERV: return MPI_Allgatherv(s->buf, 1, s->type, r->buf, ones, places, r->type, c);
    case GATHERV: return MPI_Gatherv(s->buf, 1, s->type, r->buf, ones, places, r->type, 0, c);
    case SCATTERV: return MPI_Scatterv(s->buf, ones, places, s->type, r->buf, 1, r->type, 0, c);
    case ALLTOALLV:
        return MPI_Alltoallv(s->buf, ones, places, s->type, r->buf, ones, places, r->type, c);
    case ALLTOALLW: /* all from and to the first element: the last one to come stays */
        for (i = 0; i < mt_size; i++)
            st[i] = s->type, rt[i] = r->type;
        return MPI_Alltoallw(s->buf, ones, zeros, st, r->buf, ones, zeros, rt, c);
    default:
        err = MPI_Ialltoall(s->buf, 1, s->type, r->buf, 1, r->type, c, &q);
        return err ? err : MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
}

/* What element i of the receive side must be; -1: it is not received. */
static int expected(enum call call, int i)
{
    switch (call) {
    case ALLTOALL:
    case ALLTOALLV:
    case IALLTOALL: return i * 1000 + mt_rank;
    case ALLGATHER:
    case ALLGATHERV: return i * 1000;
    case GATHER:
    case GATHERV: return mt_rank == 0 ? i * 1000 : -1;
    default: return i == 0 ? mt_rank : -1; /* scatter, from rank 0 */
    }
}

static void apart(void)
{
    struct side s, r;
    int how, call, i, err;

    for (how = 0; how < SHAPES; how++) {
        make((enum shape)how, &s, &r);
        for (call = 0; call < CALLS; call++) {
            if (call == ALLTOALLW && mt_size > 1)
                continue;
            for (i = 0; i < MANY; i++)
                got[i] = both[2 * i + 1] = -1;
            for (i = 0; i < MANY; i++)
                *at_send((enum shape)how, i) = mt_rank * 1000 + i;
            err = run((enum call)call, &s, &r);
            MUST(err == MPI_SUCCESS, "shape %d, call %d: class %d", how, call, mt_class(err));
            for (i = 0; i < mt_size && !err; i++)
                MUST(at_recv((enum shape)how, i) == expected((enum call)call, i),
                     "shape %d, call %d: element %d is %d", how, call, i,
                     at_recv((enum shape)how, i));
        }
        MPI_Type_free(&s.type);
        MPI_Type_free(&r.type);
    }
}

/* Blocks that lie apart in one buffer of a vector form. */
static void displaced(void)
{
    int even[MANY], odd[MANY], i;

    for (i = 0; i < MANY; i++) {
        even[i] = 2 * i, odd[i] = 2 * i + 1;
        both[2 * i] = mt_rank * 1000 + i, both[2 * i + 1] = -1;
    }
    CHECK_EQ(MPI_Alltoallv(both, ones, even, MPI_INT, both, ones, odd, MPI_INT, MPI_COMM_WORLD),
             MPI_SUCCESS);
    for (i = 0; i < mt_size; i++)
        CHECK_EQ(both[2 * i + 1], i * 1000 + mt_rank);
}

/* The same memory: each process refuses, so all of them make these calls. */
static void same(void)
{
    const MPI_Comm c = MPI_COMM_WORLD;
    struct side s, r;
    MPI_Datatype copy;
    int v[MANY] = { 0 }, call;

    make(MEMBERS, &s, &r);
    MPI_Type_dup(s.type, &copy); /* another type, of equal layout */
    MPI_Type_free(&r.type);
    r.type = copy;
    CHECK_EQ(mt_class(MPI_Alltoall(v, 1, MPI_INT, v, 1, MPI_INT, c)), MPI_ERR_BUFFER);
    CHECK_EQ(mt_class(MPI_Alltoall(v, 1, MPI_INT, v, 4, MPI_BYTE, c)), MPI_ERR_BUFFER);
    for (call = 0; call < CALLS; call++)
        if (call == ALLTOALL || call == ALLTOALLV || call == ALLTOALLW || call == IALLTOALL) {
            int err = run((enum call)call, &s, &r);
            MUST(mt_class(err) == MPI_ERR_BUFFER, "call %d: class %d", call, mt_class(err));
        }
    if (mt_size == 1)
        CHECK_EQ(mt_class(MPI_Allgather(v, 1, s.type, v, 1, copy, c)), MPI_ERR_BUFFER);
    MPI_Type_free(&copy);
    MPI_Type_free(&s.type);
}

int main(int argc, char **argv)
{
    int i;

    mt_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (i = 0; i < MANY; i++)
        ones[i] = 1, places[i] = i;
    apart();
    displaced();
    same();
    return mt_finish();
}

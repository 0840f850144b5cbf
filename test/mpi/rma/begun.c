/* begun.c - MPIX_Win_iallocate and MPIX_Win_icreate: many windows under way at once, waited for in
 * an order of each rank's own, between other calls on the communicator; then used and freed. */
#include "rw.h"

enum { MANY = 6, ROUNDS = 12, LONGS_MOST = 300000 };

struct begun {
    MPI_Win win;
    MPI_Request req;
    long *mem, *own; /* own: of MPIX_Win_icreate */
    MPI_Aint longs;
};

static unsigned seed;

static unsigned next(unsigned *s)
{
    *s = *s * 1103515245u + 12345u;
    return *s >> 16;
}

static void begin(struct begun *b, int create, MPI_Aint longs, MPI_Comm comm)
{
    MPI_Info info = rw_info("same_size", "false");
    MPI_Comm copy;

    b->longs = longs;
    b->own = NULL;
    MPI_Comm_dup(comm, &copy);
    if (create) {
        b->mem = b->own = mt_alloc((size_t)(longs ? longs : 1) * sizeof(long));
        MPIX_Win_icreate(longs ? b->own : NULL, longs * (MPI_Aint)sizeof(long), sizeof(long), info,
                         copy, &b->win, &b->req);
    } else {
        b->mem = NULL;
        MPIX_Win_iallocate(longs * (MPI_Aint)sizeof(long), sizeof(long), info, copy, &b->mem,
                           &b->win, &b->req);
    }
    MPI_Info_free(&info);
    MPI_Comm_free(&copy); /* the creation holds it */
}

/* Each rank puts its number to the last long of the right neighbour. */
static void use(struct begun *b, MPI_Comm comm)
{
    int rank, size, right, left;
    long mine, got = -1;
    MPI_Aint there;

    CHECK(b->win != MPI_WIN_NULL && b->req == MPI_REQUEST_NULL);
    CHECK(b->own || b->mem || !b->longs);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    mine = rank + 1000;
    MPI_Sendrecv(&b->longs, 1, MPI_AINT, left, 7, &there, 1, MPI_AINT, right, 7, comm,
                 MPI_STATUS_IGNORE);
    MPI_Win_fence(0, b->win);
    if (there)
        MPI_Put(&mine, 1, MPI_LONG, right, there - 1, 1, MPI_LONG, b->win);
    MPI_Win_fence(0, b->win);
    if (b->longs)
        CHECK_EQ(b->mem[b->longs - 1], left + 1000);
    MPI_Barrier(comm);
    MPI_Win_lock_all(0, b->win);
    if (there) {
        MPI_Fetch_and_op(&mine, &got, MPI_LONG, right, there - 1, MPI_SUM, b->win);
        MPI_Win_flush(right, b->win);
        CHECK_EQ(got, rank + 1000);
    }
    MPI_Win_unlock_all(b->win);
}

static void end(struct begun *b)
{
    MPI_Win_free(&b->win);
    free(b->own);
}

static MPI_Aint length(unsigned *all, unsigned *own)
{
    static const MPI_Aint some[] = {0, 1, 5, 700, 20000, LONGS_MOST};
    unsigned most = next(all) % 6;
    return next(own) % 3 ? some[most] : some[most] / 3;
}

/* The members of comm draw the same calls from `all`, each its sizes and its order of waits from
 * numbers of its own. */
static void round_of(MPI_Comm comm, unsigned *all)
{
    struct begun b[MANY];
    MPI_Request req[MANY];
    unsigned own;
    int rank, i, at, n = 1 + (int)(next(all) % MANY), how = (int)(next(all) % 4);
    long sum, one = 1;

    MPI_Comm_rank(comm, &rank);
    own = *all + 77u * (unsigned)rank;
    for (i = 0; i < n; i++) {
        begin(&b[i], (int)(next(all) % 2), length(all, &own), comm);
        if (next(all) % 4 == 0) {
            int size;
            MPI_Comm_size(comm, &size);
            MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, comm);
            CHECK_EQ(sum, size);
        }
        if (next(all) % 5 == 0) { /* one that waits, between those that do not */
            long *mem;
            MPI_Win win;
            MPI_Win_allocate(8, 8, MPI_INFO_NULL, comm, &mem, &win);
            MPI_Win_free(&win);
        }
    }
    if (how == 0) {
        for (i = 0; i < n; i++) {
            at = (i + (int)(own % (unsigned)n)) % n;
            MPI_Wait(&b[at].req, MPI_STATUS_IGNORE);
        }
    } else if (how == 1) {
        for (i = n - 1; i >= 0; i--) {
            int done = 0;
            while (!done)
                MPI_Test(&b[i].req, &done, MPI_STATUS_IGNORE);
        }
    } else {
        for (i = 0; i < n; i++)
            req[i] = b[i].req;
        if (how == 2)
            MPI_Waitall(n, req, MPI_STATUSES_IGNORE);
        else
            for (i = 0; i < n; i++)
                MPI_Waitany(n, req, &at, MPI_STATUS_IGNORE);
        for (i = 0; i < n; i++)
            b[i].req = req[i];
    }
    for (i = 0; i < n; i++)
        use(&b[i], comm);
    for (i = 0; i < n; i++)
        end(&b[i]);
}

/* The others need not have called it: a call that waited would never return at rank 0. */
static void without_others(void)
{
    struct begun b;
    int token = 0;

    if (mt_rank == 0) {
        begin(&b, 0, 10, MPI_COMM_SELF);
        MPI_Wait(&b.req, MPI_STATUS_IGNORE);
        use(&b, MPI_COMM_SELF);
        end(&b);
        MPIX_Win_iallocate(80, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &b.mem, &b.win, &b.req);
        CHECK(b.win == MPI_WIN_NULL || mt_size == 1);
        for (int i = 1; i < mt_size; i++)
            MPI_Send(&token, 1, MPI_INT, i, 3, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPIX_Win_iallocate(80, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &b.mem, &b.win, &b.req);
    }
    b.own = NULL;
    b.longs = 10;
    MPI_Wait(&b.req, MPI_STATUS_IGNORE);
    use(&b, MPI_COMM_WORLD);
    end(&b);
}

/* The last rank alone has a wrong argument: all get the class from their wait. */
static void wrong(void)
{
    MPI_Comm comm;
    MPI_Win win[3];
    MPI_Request req[3];
    long *mem;
    long word[2];
    int last = mt_rank == mt_size - 1;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPIX_Win_iallocate(last ? -8 : 8, 8, MPI_INFO_NULL, comm, &mem, &win[0], &req[0]);
    MPIX_Win_icreate(last ? NULL : word, 8, 8, MPI_INFO_NULL, comm, &win[1], &req[1]);
    MPIX_Win_icreate(word, 8, last ? 0 : 8, MPI_INFO_NULL, comm, &win[2], &req[2]);
    CHECK_EQ(mt_class(MPI_Wait(&req[2], MPI_STATUS_IGNORE)), MPI_ERR_DISP);
    CHECK_EQ(mt_class(MPI_Wait(&req[0], MPI_STATUS_IGNORE)), MPI_ERR_SIZE);
    CHECK_EQ(mt_class(MPI_Wait(&req[1], MPI_STATUS_IGNORE)), MPI_ERR_BASE);
    CHECK(win[0] == MPI_WIN_NULL && win[1] == MPI_WIN_NULL && win[2] == MPI_WIN_NULL);
    CHECK_EQ(mt_class(MPIX_Win_iallocate(8, 8, MPI_INFO_NULL, comm, NULL, &win[0], &req[0])),
             MPI_ERR_ARG);
    CHECK_EQ(mt_class(MPIX_Win_iallocate(8, 8, MPI_INFO_NULL, MPI_COMM_NULL, &mem, &win[0],
                                         &req[0])), MPI_ERR_COMM);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Comm half;
    unsigned of_half;

    mt_init(&argc, &argv);
    seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (!getenv("MPIR_CVAR_RACE")) /* which waits in the call */
        without_others();
    MPI_Comm_split(MPI_COMM_WORLD, mt_rank % 2, -mt_rank, &half);
    of_half = seed + 1000 + (unsigned)(mt_rank % 2);
    for (int i = 0; i < ROUNDS; i++) {
        round_of(MPI_COMM_WORLD, &seed);
        round_of(half, &of_half);
    }
    MPI_Comm_free(&half);
    wrong();
    return mt_finish();
}

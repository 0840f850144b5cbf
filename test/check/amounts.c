/* amounts.c - collective calls that name an amount for each pair: amounts CASE (amounts.test).
 * All but "fine" are wrong. Lines have the marks SENDS CASE and TAKES
 * CASE. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, EACH = 8 };
static int rank, size, out[MOST * EACH], in[MOST * EACH], counts[MOST], other[MOST], at[MOST];

static void even(int *n, int each)
{
    for (int i = 0; i < size; i++) {
        n[i] = each;
        at[i] = i * EACH;
    }
}

/* Rank 0 takes more of rank 1 than that sends. */
static void gatherv(void)
{
    even(counts, 4);
    counts[1] = 6;
    if (rank == 0)
        MPI_Gatherv(out, 4, MPI_INT, in, counts, at, MPI_INT, 0, /* TAKES gatherv */
                    MPI_COMM_WORLD);
    else
        MPI_Gatherv(out, 4, MPI_INT, NULL, NULL, NULL, MPI_INT, 0, /* SENDS gatherv */
                    MPI_COMM_WORLD);
}

/* As many bytes, of other elements; by the nonblocking form. */
static void igatherv(void)
{
    MPI_Request r;
    even(counts, 4);
    if (rank == 0)
        MPI_Igatherv(out, 4, MPI_INT, in, counts, at, MPI_INT, 0, /* TAKES igatherv */
                     MPI_COMM_WORLD, &r);
    else
        MPI_Igatherv(out, 4, rank == 1 ? MPI_FLOAT : MPI_INT, NULL, NULL, NULL, /* SENDS igatherv */
                     MPI_INT, 0, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void scatterv(void)
{
    even(counts, 4);
    counts[1] = 3;
    if (rank == 0)
        MPI_Scatterv(out, counts, at, MPI_INT, in, 4, MPI_INT, 0, /* SENDS scatterv */
                     MPI_COMM_WORLD);
    else
        MPI_Scatterv(NULL, NULL, NULL, MPI_INT, in, 4, MPI_INT, 0, /* TAKES scatterv */
                     MPI_COMM_WORLD);
}

/* The last call of many. */
static void alltoallv(void)
{
    for (int i = 0; i < 20; i++) {
        even(counts, 2);
        even(other, 2);
        if (i == 19 && rank == 1)
            counts[0] = 1;
        MPI_Alltoallv(out, counts, at, MPI_INT, in, other, at, MPI_INT, /* SENDS alltoallv */
                      MPI_COMM_WORLD);
    }
}

static void alltoallw(void)
{
    MPI_Datatype types[MOST], mine[MOST];
    MPI_Request r;
    even(counts, 2);
    for (int i = 0; i < size; i++) {
        types[i] = mine[i] = MPI_INT;
        at[i] = 4 * EACH * i;
    }
    if (rank == 1)
        mine[0] = MPI_UNSIGNED;
    MPI_Alltoallw_init(out, counts, at, mine, in, counts, at, types, /* SENDS alltoallw */
                       MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
}

static void allgatherv(void)
{
    even(counts, 4);
    MPI_Allgatherv(out, rank == 1 ? 3 : 4, MPI_INT, in, counts, at, MPI_INT, /* SENDS allgatherv */
                   MPI_COMM_WORLD);
}

/* Rank 0 has another count for a rank that sends its note elsewhere. */
static void others(void)
{
    even(counts, 4);
    if (rank == 0)
        counts[1] = 5;
    MPI_Allgatherv(out, 4, MPI_INT, in, counts, at, MPI_INT, MPI_COMM_WORLD); /* SENDS others */
}

static MPI_Comm grid(int rows)
{
    MPI_Comm c;
    int dims[2] = {size / rows, rows}, around[2] = {1, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, around, 0, &c);
    return c;
}

/* Rank 1 sends rank 2 less than that takes. */
static void neighbors(void)
{
    MPI_Comm c = grid(1);
    for (int i = 0; i < 4; i++) {
        counts[i] = other[i] = 2;
        at[i] = i * EACH;
    }
    if (rank == 1)
        counts[1] = 1;
    MPI_Neighbor_alltoallv(out, counts, at, MPI_INT, in, other, at, MPI_INT, /* SENDS neighbors */
                           c);
    MPI_Comm_free(&c);
}

/* Both blocks go to one process: the second differs. */
static void twice(void)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    int to[2] = {next, next}, from[2] = {before, before};
    MPI_Aint place[2] = {0, 4 * EACH};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT}, mine[2] = {MPI_INT, MPI_INT};
    MPI_Comm c;
    MPI_Request r;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &c);
    even(counts, 2);
    if (rank == 1)
        mine[1] = MPI_FLOAT;
    MPI_Ineighbor_alltoallw(out, counts, place, mine, in, counts, place, types, c, /* SENDS twice */
                            &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Comm_free(&c);
}

static MPI_Comm other_parity(void)
{
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &inter);
    MPI_Comm_free(&half);
    return inter;
}

/* What rank 1 sends is not what rank 0 takes: that one alone is told. */
static void across(void)
{
    MPI_Comm c = other_parity();
    even(counts, 2);
    MPI_Allgatherv(out, rank == 1 ? 3 : 2, MPI_INT, in, counts, at, MPI_INT, c); /* SENDS across */
    MPI_Comm_free(&c);
}

/* Ranks 0 and 2 are in one group. */
static void across_others(void)
{
    MPI_Comm c = other_parity();
    even(counts, rank == 2 ? 3 : 2);
    MPI_Allgatherv(out, 2, MPI_INT, in, counts, at, MPI_INT, c); /* SENDS across_others */
    MPI_Comm_free(&c);
}

static MPI_Datatype twos(void)
{
    MPI_Datatype t;
    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Type_commit(&t);
    return t;
}

static void finish(MPI_Request *r)
{
    MPI_Wait(r, MPI_STATUS_IGNORE);
}

/* Two ints are an element of two, and packed is any. Rank r sends r + i elements to rank i. */
static void right(MPI_Comm c)
{
    MPI_Datatype two = twos(), types[MOST], mine[MOST];
    MPI_Request r[4];
    int bytes[MOST], place[MOST], none[MOST] = {0}, back = size - 1 - rank;
    even(counts, 4);
    even(other, 2);
    MPI_Gatherv(rank ? out : MPI_IN_PLACE, 2, two, in, counts, at, MPI_INT, 0, c);
    MPI_Scatterv(out, other, at, two, rank ? in : MPI_IN_PLACE, 4, MPI_INT, 0, c);
    MPI_Allgatherv(out, 2, two, in, counts, at, MPI_INT, c);
    MPI_Allgatherv(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, in, counts, at, MPI_INT, c);
    MPI_Gatherv(out, 16, MPI_PACKED, in, counts, at, MPI_INT, size - 1, c);
    for (int i = 0; i < size; i++) {
        counts[i] = (rank + i) % EACH;
        place[i] = 4 * EACH * i;
        bytes[i] = 4 * counts[i];
        types[i] = counts[i] ? MPI_INT : MPI_DATATYPE_NULL;
        mine[i] = counts[i] == 4 && i % 2 ? two : types[i];
        other[i] = mine[i] == two ? 2 : counts[i];
    }
    MPI_Alltoallv(out, counts, at, MPI_INT, in, counts, at, MPI_INT, c);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, at, MPI_INT, c);
    MPI_Alltoallv(out, bytes, place, MPI_BYTE, in, bytes, place, MPI_BYTE, c);
    MPI_Alltoallw(out, other, place, mine, in, counts, place, types, c);
    MPI_Alltoallv(out, none, at, MPI_INT, in, none, at, MPI_FLOAT, c);
    even(other, 0);
    for (int i = 0; i < size; i++)
        other[i] = i % 3;
    MPI_Igatherv(out, rank % 3, MPI_INT, in, other, at, MPI_INT, 1 % size, c, &r[0]);
    MPI_Iscatterv(out, other, at, MPI_INT, in + 300, rank % 3, MPI_INT, 0, c, &r[1]);
    MPI_Iallgatherv(out, rank % 3, MPI_INT, in + 100, other, at, MPI_INT, c, &r[2]);
    MPI_Ialltoallv(out, counts, at, MPI_INT, in + 200, counts, at, MPI_INT, c, &r[3]);
    for (int i = 3; i >= 0; i--)
        finish(&r[i]);
    /* some ranks are late, and the first ones far ahead */
    for (int i = 0; i < 300; i++)
        MPI_Gatherv(out, rank == i % size ? 3 : 1, MPI_INT, in, (even(other, 1),
                    other[i % size] = 3, other), at, MPI_INT, back < 0, c);
    MPI_Type_free(&two);
}

/* Between the even and the odd ranks. */
static void between(void)
{
    MPI_Comm half, inter;
    int mine, theirs, n = 0;
    if (size < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &inter);
    MPI_Comm_rank(half, &mine);
    MPI_Comm_remote_size(inter, &theirs);
    even(counts, 3);
    even(other, 2);
    for (int i = 0; i < 3; i++) {
        int root = rank % 2 ? 0 : mine == 0 ? MPI_ROOT : MPI_PROC_NULL;
        MPI_Gatherv(out, 3, MPI_INT, in, counts, at, MPI_INT, root, inter);
        MPI_Scatterv(out, counts, at, MPI_INT, in, 3, MPI_INT, root, inter);
        MPI_Alltoallv(out, rank % 2 ? counts : other, at, MPI_INT, in, rank % 2 ? other : counts,
                      at, MPI_INT, inter);
        n = rank % 2 ? 2 : 3;
        MPI_Allgatherv(out, n, MPI_INT, in, rank % 2 ? counts : other, at, MPI_INT, inter);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* Rank r sends down (r + 2 * dimension) ints, and one more up; what it takes from above was sent
 * down, also where above and below are one process. */
static void on_grid(MPI_Comm c)
{
    MPI_Request r;
    MPI_Aint place[4];
    MPI_Datatype types[4];
    for (int i = 0; i < 4; i++) {
        int above, below;
        MPI_Cart_shift(c, i / 2, 1, &below, &above);
        at[i] = i * EACH;
        place[i] = 4 * at[i];
        types[i] = MPI_INT;
        counts[i] = (rank + i) % EACH;
        other[i] = ((i % 2 ? above : below) + (i ^ 1)) % EACH;
    }
    MPI_Neighbor_alltoallv(out, counts, at, MPI_INT, in, other, at, MPI_INT, c);
    MPI_Ineighbor_alltoallw(out, counts, place, types, in, other, place, types, c, &r);
    finish(&r);
    MPI_Neighbor_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, c);
    MPI_Neighbor_allgather(out, 3, MPI_INT, in, 3, MPI_INT, c);
    MPI_Comm_free(&c);
}

/* Two blocks go to each neighbour, in their order. */
static void on_graph(void)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    int to[3] = {next, before, next}, from[3] = {before, before, next};
    MPI_Comm c;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, from, MPI_UNWEIGHTED, 3, to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &c);
    for (int i = 0; i < 3; i++)
        at[i] = i * EACH;
    for (int i = 0; i < 10; i++) {
        counts[0] = (rank + i) % 3;
        counts[1] = 5;
        counts[2] = 1 + rank % 2;
        other[0] = (before + i) % 3;
        other[1] = 1 + before % 2;
        other[2] = 5;
        if (size > 2)
            MPI_Neighbor_alltoallv(out, counts, at, MPI_INT, in, other, at, MPI_INT, c);
        for (int k = 0; k < 3; k++)
            other[k] = 1 + from[k];
        MPI_Neighbor_allgatherv(out, 1 + rank, MPI_INT, in, other, at, MPI_INT, c);
    }
    MPI_Comm_free(&c);
}

static void fine(void)
{
    MPI_Comm part;
    for (int i = 0; i < 20; i++) { /* communicators come and go */
        int all = size;
        MPI_Comm_split(MPI_COMM_WORLD, (rank + i) % 2, rank, &part);
        MPI_Comm_rank(part, &rank);
        MPI_Comm_size(part, &size);
        right(part);
        MPI_Comm_free(&part);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        size = all;
    }
    right(MPI_COMM_WORLD);
    between();
    on_grid(grid(1));
    on_grid(grid(size));
    if (size % 2 == 0)
        on_grid(grid(2));
    on_graph();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"gatherv", gatherv}, {"igatherv", igatherv}, {"scatterv", scatterv},
               {"alltoallv", alltoallv}, {"alltoallw", alltoallw}, {"allgatherv", allgatherv},
               {"others", others}, {"neighbors", neighbors}, {"twice", twice}, {"across", across},
               {"across_others", across_others}, {"fine", fine}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (argc > 1 && !strcmp(all[i].name, argv[1]))
            all[i].run();
    MPI_Finalize();
    return 0;
}

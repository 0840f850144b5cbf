/* all.c - every collective, blocking and nonblocking, on sizes from nothing to large, with every
 * root, with MPI_IN_PLACE and without. It runs on the world, on a dup and on a communicator in
 * reverse order. Contents are exact: element i of what rank r contributes is val(r, i). */
#include "../mt.h"

static MPI_Comm comm;
static int rank, size, nb;          /* on comm; nb: use the nonblocking form */
static MPI_Request req;

static int val(int r, int i) { return r * 100003 + i * 7 + 1; }

#define DO(blocking, nonblocking) \
    do { \
        if (nb) { \
            nonblocking; \
            MPI_Wait(&req, MPI_STATUS_IGNORE); \
        } else { \
            blocking; \
        } \
    } while (0)

static int *make(int n, int r)
{
    int *p = mt_alloc(sizeof *p * (size_t)(n + 1)), i;

    for (i = 0; i < n; i++)
        p[i] = r >= 0 ? val(r, i) : -1;
    p[n] = 12345;                     /* guard */
    return p;
}

static void guard(int *p, int n, const char *what)
{
    MUST(p[n] == 12345, "%s wrote past its buffer of %d", what, n);
    free(p);
}

static void bcast(int n, int root)
{
    int *b = make(n, rank == root ? root : -1), i, bad = 0;

    DO(MPI_Bcast(b, n, MPI_INT, root, comm), MPI_Ibcast(b, n, MPI_INT, root, comm, &req));
    for (i = 0; i < n; i++)
        bad += b[i] != val(root, i);
    MUST(bad == 0, "bcast %d root %d nb %d: %d wrong", n, root, nb, bad);
    guard(b, n, "bcast");
}

static long long sum_to(int last, int i)
{
    long long s = 0;
    int r;

    for (r = 0; r <= last; r++)
        s += val(r, i);
    return s;
}

static void reduce(int n, int root, int in_place)
{
    int *a = make(n, rank), *b = make(n, -1), i, bad = 0;

    if (in_place && rank == root) {
        memcpy(b, a, sizeof *a * (size_t)n);
        DO(MPI_Reduce(MPI_IN_PLACE, b, n, MPI_INT, MPI_SUM, root, comm),
           MPI_Ireduce(MPI_IN_PLACE, b, n, MPI_INT, MPI_SUM, root, comm, &req));
    } else {
        DO(MPI_Reduce(a, rank == root ? b : NULL, n, MPI_INT, MPI_SUM, root, comm),
           MPI_Ireduce(a, rank == root ? b : NULL, n, MPI_INT, MPI_SUM, root, comm, &req));
    }
    for (i = 0; i < n && rank == root; i++)
        bad += b[i] != (int)sum_to(size - 1, i);
    MUST(bad == 0, "reduce %d root %d in place %d nb %d: %d wrong", n, root, in_place, nb, bad);
    for (i = 0, bad = 0; i < n; i++)
        bad += a[i] != val(rank, i);
    MUST(bad == 0, "reduce changed its input");
    guard(a, n, "reduce");
    guard(b, n, "reduce");
}

static void scans(int n, int in_place)
{
    int *a = make(n, rank), *b = make(n, in_place ? rank : -1), i, bad = 0;
    void *src = in_place ? MPI_IN_PLACE : (void *)a;

    DO(MPI_Allreduce(src, b, n, MPI_INT, MPI_SUM, comm),
       MPI_Iallreduce(src, b, n, MPI_INT, MPI_SUM, comm, &req));
    for (i = 0; i < n; i++)
        bad += b[i] != (int)sum_to(size - 1, i);
    MUST(bad == 0, "allreduce %d in place %d nb %d: %d wrong", n, in_place, nb, bad);
    memcpy(b, a, sizeof *a * (size_t)n);
    DO(MPI_Scan(src, b, n, MPI_INT, MPI_SUM, comm),
       MPI_Iscan(src, b, n, MPI_INT, MPI_SUM, comm, &req));
    for (i = bad = 0; i < n; i++)
        bad += b[i] != (int)sum_to(rank, i);
    MUST(bad == 0, "scan %d in place %d nb %d: %d wrong", n, in_place, nb, bad);
    memcpy(b, a, sizeof *a * (size_t)n);
    DO(MPI_Exscan(src, b, n, MPI_INT, MPI_SUM, comm),
       MPI_Iexscan(src, b, n, MPI_INT, MPI_SUM, comm, &req));
    for (i = bad = 0; i < n && rank; i++)
        bad += b[i] != (int)sum_to(rank - 1, i);
    MUST(bad == 0, "exscan %d in place %d nb %d: %d wrong", n, in_place, nb, bad);
    guard(a, n, "scan");
    guard(b, n, "scan");
}

static void gather(int n, int root, int in_place)
{
    int *a = make(n, rank), *b = make(n * size, -1), i, r, bad = 0, here = rank == root;
    void *src = a;

    if (in_place && here) {
        memcpy(b + n * rank, a, sizeof *a * (size_t)n);
        src = MPI_IN_PLACE;
    }
    DO(MPI_Gather(src, n, MPI_INT, b, n, MPI_INT, root, comm),
       MPI_Igather(src, n, MPI_INT, b, n, MPI_INT, root, comm, &req));
    for (r = 0; r < size && here; r++)
        for (i = 0; i < n; i++)
            bad += b[r * n + i] != val(r, i);
    MUST(bad == 0, "gather %d root %d in place %d nb %d: %d wrong", n, root, in_place, nb, bad);
    guard(a, n, "gather");
    guard(b, n * size, "gather");
}

static void scatter(int n, int root, int in_place)
{
    int *a = make(n * size, -1), *b = make(n, -1), i, r, bad = 0, here = rank == root;
    void *dst = in_place && here ? MPI_IN_PLACE : (void *)b;

    for (r = 0; r < size; r++)
        for (i = 0; i < n; i++)
            a[r * n + i] = val(root, r * n + i);
    DO(MPI_Scatter(here ? a : NULL, n, MPI_INT, dst, n, MPI_INT, root, comm),
       MPI_Iscatter(here ? a : NULL, n, MPI_INT, dst, n, MPI_INT, root, comm, &req));
    for (i = 0; i < n && dst == b; i++)
        bad += b[i] != val(root, rank * n + i);
    MUST(bad == 0, "scatter %d root %d in place %d nb %d: %d wrong", n, root, in_place, nb, bad);
    guard(a, n * size, "scatter");
    guard(b, n, "scatter");
}

static void allgather(int n, int in_place)
{
    int *a = make(n, rank), *b = make(n * size, -1), i, r, bad = 0;
    void *src = in_place ? MPI_IN_PLACE : (void *)a;

    if (in_place)
        memcpy(b + n * rank, a, sizeof *a * (size_t)n);
    DO(MPI_Allgather(src, n, MPI_INT, b, n, MPI_INT, comm),
       MPI_Iallgather(src, n, MPI_INT, b, n, MPI_INT, comm, &req));
    for (r = 0; r < size; r++)
        for (i = 0; i < n; i++)
            bad += b[r * n + i] != val(r, i);
    MUST(bad == 0, "allgather %d in place %d nb %d: %d wrong", n, in_place, nb, bad);
    guard(a, n, "allgather");
    guard(b, n * size, "allgather");
}

static void alltoall(int n, int in_place)
{
    int *a = make(n * size, -1), *b = make(n * size, -1), i, r, bad = 0;
    void *src = in_place ? MPI_IN_PLACE : (void *)a;

    for (r = 0; r < size; r++)
        for (i = 0; i < n; i++)
            a[r * n + i] = val(rank * 64 + r, i);
    if (in_place)
        memcpy(b, a, sizeof *a * (size_t)(n * size));
    DO(MPI_Alltoall(src, n, MPI_INT, b, n, MPI_INT, comm),
       MPI_Ialltoall(src, n, MPI_INT, b, n, MPI_INT, comm, &req));
    for (r = 0; r < size; r++)
        for (i = 0; i < n; i++)
            bad += b[r * n + i] != val(r * 64 + rank, i);
    MUST(bad == 0, "alltoall %d in place %d nb %d: %d wrong", n, in_place, nb, bad);
    guard(a, n * size, "alltoall");
    guard(b, n * size, "alltoall");
}

static void reduce_scatter(int n, int in_place)
{
    int *a = make(n * size, rank), *b = make(n * size, -1), i, bad = 0,
        *counts = mt_alloc(sizeof *counts * (size_t)size);
    void *src = a;
    int first = 0, r;

    if (in_place) {
        memcpy(b, a, sizeof *a * (size_t)(n * size));
        src = MPI_IN_PLACE;
    }
    DO(MPI_Reduce_scatter_block(src, b, n, MPI_INT, MPI_SUM, comm),
       MPI_Ireduce_scatter_block(src, b, n, MPI_INT, MPI_SUM, comm, &req));
    for (i = 0; i < n; i++)
        bad += b[i] != (int)sum_to(size - 1, rank * n + i);
    MUST(bad == 0, "reduce_scatter_block %d in place %d nb %d: %d wrong", n, in_place, nb, bad);
    for (r = 0; r < size; r++) {               /* uneven: rank r gets r % 3 shares of n/2 */
        counts[r] = r % 3 * (n / 2);
        if (r < rank)
            first += counts[r];
    }
    memcpy(b, a, sizeof *a * (size_t)(n * size));
    DO(MPI_Reduce_scatter(src, b, counts, MPI_INT, MPI_SUM, comm),
       MPI_Ireduce_scatter(src, b, counts, MPI_INT, MPI_SUM, comm, &req));
    for (i = bad = 0; i < counts[rank]; i++)
        bad += b[i] != (int)sum_to(size - 1, first + i);
    MUST(bad == 0, "reduce_scatter %d in place %d nb %d: %d wrong", n, in_place, nb, bad);
    free(counts);
    guard(a, n * size, "reduce_scatter");
    guard(b, n * size, "reduce_scatter");
}

/* The v forms: rank r contributes (r * 5) % 4 * n elements, with gaps, laid out backwards. */
static void vectors(int n, int root)
{
    int *counts = mt_alloc(sizeof *counts * (size_t)size),
        *displs = mt_alloc(sizeof *displs * (size_t)size);
    int total = 0, r, i, bad = 0, mine, *a, *b;

    for (r = size - 1; r >= 0; r--) {
        counts[r] = r * 5 % 4 * n;
        displs[r] = total;
        total += counts[r] + 3;
    }
    mine = counts[rank];
    a = make(mine, rank);
    b = make(total, -1);
    DO(MPI_Gatherv(a, mine, MPI_INT, b, counts, displs, MPI_INT, root, comm),
       MPI_Igatherv(a, mine, MPI_INT, b, counts, displs, MPI_INT, root, comm, &req));
    for (r = 0; r < size && rank == root; r++)
        for (i = 0; i < counts[r] + 3; i++)
            bad += b[displs[r] + i] != (i < counts[r] ? val(r, i) : -1);
    MUST(bad == 0, "gatherv %d root %d nb %d: %d wrong", n, root, nb, bad);
    DO(MPI_Allgatherv(a, mine, MPI_INT, b, counts, displs, MPI_INT, comm),
       MPI_Iallgatherv(a, mine, MPI_INT, b, counts, displs, MPI_INT, comm, &req));
    for (r = 0, bad = 0; r < size; r++)
        for (i = 0; i < counts[r] + 3; i++)
            bad += b[displs[r] + i] != (i < counts[r] ? val(r, i) : -1);
    MUST(bad == 0, "allgatherv %d nb %d: %d wrong", n, nb, bad);
    for (i = 0; i < mine; i++)
        a[i] = -2;
    DO(MPI_Scatterv(b, counts, displs, MPI_INT, a, mine, MPI_INT, root, comm),
       MPI_Iscatterv(b, counts, displs, MPI_INT, a, mine, MPI_INT, root, comm, &req));
    for (i = bad = 0; i < mine; i++)
        bad += a[i] != val(rank, i);
    MUST(bad == 0, "scatterv %d root %d nb %d: %d wrong", n, root, nb, bad);
    guard(a, mine, "scatterv");
    guard(b, total, "gatherv");
    free(counts);
    free(displs);
}

/* alltoallv and alltoallw: rank s sends (s + d) % 3 * n elements to d. */
static void alltoallvw(int n, int in_place)
{
    size_t bytes = sizeof(int) * (size_t)size;
    int *sc = mt_alloc(bytes), *sd = mt_alloc(bytes), *rc = mt_alloc(bytes), *rd = mt_alloc(bytes);
    int *sb = mt_alloc(bytes), *rb = mt_alloc(bytes), room = 0, r, i, bad = 0, *a, *b;
    MPI_Datatype *types = mt_alloc(sizeof *types * (size_t)size);
    void *src;

    for (r = 0; r < size; r++) {
        sc[r] = rc[r] = (rank + r) % 3 * n;
        sd[r] = rd[r] = room;
        sb[r] = rb[r] = room * 4;
        room += sc[r] + 1;
        types[r] = MPI_INT;
    }
    a = make(room, -1);
    b = make(room, -1);
    for (r = 0; r < size; r++)
        for (i = 0; i < sc[r]; i++)
            a[sd[r] + i] = val(rank * 64 + r, i);
    src = in_place ? MPI_IN_PLACE : (void *)a;
    memcpy(b, a, sizeof *a * (size_t)room);
    DO(MPI_Alltoallv(src, sc, sd, MPI_INT, b, rc, rd, MPI_INT, comm),
       MPI_Ialltoallv(src, sc, sd, MPI_INT, b, rc, rd, MPI_INT, comm, &req));
    for (r = 0; r < size; r++)
        for (i = 0; i < rc[r] + 1; i++)
            bad += b[rd[r] + i] != (i < rc[r] ? val(r * 64 + rank, i) : -1);
    MUST(bad == 0, "alltoallv %d in place %d nb %d: %d wrong", n, in_place, nb, bad);
    memcpy(b, a, sizeof *a * (size_t)room);
    DO(MPI_Alltoallw(src, sc, sb, types, b, rc, rb, types, comm),
       MPI_Ialltoallw(src, sc, sb, types, b, rc, rb, types, comm, &req));
    for (r = 0, bad = 0; r < size; r++)
        for (i = 0; i < rc[r] + 1; i++)
            bad += b[rd[r] + i] != (i < rc[r] ? val(r * 64 + rank, i) : -1);
    MUST(bad == 0, "alltoallw %d in place %d nb %d: %d wrong", n, in_place, nb, bad);
    guard(a, room, "alltoallv");
    guard(b, room, "alltoallv");
    free(sc), free(sd), free(rc), free(rd), free(sb), free(rb), free(types);
}

static void everything(int n)
{
    int root, in_place, step = n > 1000 ? (size + 1) / 2 : 1;

    DO(MPI_Barrier(comm), MPI_Ibarrier(comm, &req));
    for (root = 0; root < size; root += step) {
        bcast(n, root);
        for (in_place = 0; in_place < 2; in_place++) {
            reduce(n, root, in_place);
            gather(n, root, in_place);
            scatter(n, root, in_place);
        }
        vectors(n, root);
    }
    for (in_place = 0; in_place < 2; in_place++) {
        scans(n, in_place);
        allgather(n, in_place);
        alltoall(n, in_place);
        reduce_scatter(n, in_place);
        alltoallvw(n, in_place);
    }
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 0, 1, 2, 17, 1000, 50000 };
    MPI_Comm rev, half;
    int i;

    mt_init(&argc, &argv);
    for (nb = 0; nb < 2; nb++)
        for (i = 0; i < 6; i++) {
            comm = MPI_COMM_WORLD;
            rank = mt_rank;
            size = mt_size;
            everything(sizes[i]);
        }
    MPI_Comm_split(MPI_COMM_WORLD, 0, -mt_rank, &rev);
    comm = rev;
    MPI_Comm_rank(comm, &rank);
    CHECK_EQ(rank, mt_size - 1 - mt_rank);
    for (nb = 0; nb < 2; nb++)
        everything(33);
    MPI_Comm_free(&rev);
    MPI_Comm_split(MPI_COMM_WORLD, mt_rank % 2, mt_rank, &half);
    comm = half;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (nb = 0; nb < 2; nb++)
        everything(5);
    MPI_Comm_free(&half);
    comm = MPI_COMM_SELF;
    rank = 0;
    size = 1;
    for (nb = 0; nb < 2; nb++)
        everything(9);
    return mt_finish();
}

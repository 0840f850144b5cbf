/* errors-return: under MPI_ERRORS_RETURN each process gets the class of calls that differ, on one
 * communicator or window after the other, and the program goes on to its end. */
#include <mpi.h>
#include <stdio.h>

#define W MPI_COMM_WORLD
static int rank, size, buf[256], sum[256];

static int other_call(MPI_Comm c)
{
    return rank == 1 ? MPI_Barrier(c) : MPI_Allreduce(buf, sum, 4, MPI_INT, MPI_SUM, c);
}

static int other_root(MPI_Comm c)
{
    return MPI_Bcast(buf, 4, MPI_INT, rank == 1, c);
}

static int other_count(MPI_Comm c)
{
    return MPI_Allreduce(buf, sum, rank == 1 ? 5 : 4, MPI_INT, MPI_SUM, c);
}

static int later_call(MPI_Comm c)
{
    MPI_Request r;
    int err = rank == 1 ? MPI_Iallgather(buf, 1, MPI_INT, sum, 1, MPI_INT, c, &r)
                        : MPI_Ibarrier(c, &r);
    return err ? err : MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static int lone_root(MPI_Comm c)
{
    return rank == 0 ? MPI_Gather(buf, 1, MPI_INT, sum, 1, MPI_INT, 0, c) : MPI_Barrier(c);
}

/* Every call behind the first one that ends with the error ends so, too. */
static int told(const char *what, int err, MPI_Comm c)
{
    int cls = 0;
    for (int i = 0; i < 9 && !err; i++) /* it may have ended here: sooner or later one waits */
        err = rank ? MPI_Barrier(c) : MPI_Allreduce(buf, sum, 1, MPI_INT, MPI_SUM, c);
    MPI_Error_class(err, &cls);
    if (cls == MPI_ERR_NOT_SAME)
        MPI_Error_class(MPI_Barrier(c), &cls);
    if (cls != MPI_ERR_NOT_SAME)
        printf("rank %d: %s gave class %d\n", rank, what, cls);
    return cls == MPI_ERR_NOT_SAME;
}

/* The others wait in the fence for rank 1, which waits for them on a communicator. */
static int on_window(void)
{
    MPI_Win w;
    MPI_Comm c;
    int cls = 0;
    MPI_Comm_dup(W, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Win_create(buf, sizeof buf, 1, MPI_INFO_NULL, W, &w);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    MPI_Error_class(rank == 1 ? MPI_Barrier(c) : MPI_Win_fence(0, w), &cls);
    if (cls != MPI_ERR_NOT_SAME)
        printf("rank %d: the window gave class %d\n", rank, cls);
    return cls == MPI_ERR_NOT_SAME;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*fn)(MPI_Comm c);
    } kinds[] = {{"another call", other_call}, {"another root", other_root},
                 {"another count", other_count}, {"another nonblocking call", later_call},
                 {"a gather of the root alone", lone_root}};
    int got = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &rank);
    MPI_Comm_size(W, &size);
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        MPI_Comm c;
        MPI_Comm_dup(W, &c);
        MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
        got += told(kinds[i].name, kinds[i].fn(c), c);
        MPI_Barrier(W); /* what differs on one communicator harms no other */
    }
    got += on_window();
    MPI_Allreduce(&got, sum, 1, MPI_INT, MPI_SUM, W);
    if (rank == 0)
        printf("%d errors\n", sum[0]);
    MPI_Finalize();
    printf("end\n");
    return 0;
}

/* book: every rank writes a line into the memory of rank 0, which makes no call for that.
 * One number is the place of the next line: a rank that adds 1 to it has the place for itself. */
#include <mpi.h>
#include <stdio.h>

enum { LINE = 32, PLACES = 4096 }; /* a displacement is a line; the number has the first one */

int main(int argc, char **argv)
{
    int rank, ranks, place, one = 1, sum = 0;
    char *book, line[LINE] = "";
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks >= PLACES)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Win_allocate(rank == 0 ? LINE * PLACES : 0, LINE, MPI_INFO_NULL, MPI_COMM_WORLD, &book,
                     &win);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win); /* stores into one's own window, too */
        *(int *)book = 1;
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* the book is open */

    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Fetch_and_op(&one, &place, MPI_INT, 0, 0, MPI_SUM, win);
    MPI_Win_flush(0, win); /* the place is here */
    snprintf(line, sizeof line, "%d", rank);
    MPI_Put(line, LINE, MPI_CHAR, 0, place, LINE, MPI_CHAR, win);
    MPI_Win_unlock(0, win); /* the line is there */

    MPI_Barrier(MPI_COMM_WORLD); /* so are all others */
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        for (int i = 1; i <= ranks; i++) {
            int from = -1;
            sscanf(book + LINE * i, "%d", &from);
            sum += from;
        }
        printf("%d lines, by ranks whose sum is %d\n", *(int *)book - 1, sum);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_free(&win);
    return MPI_Finalize();
}

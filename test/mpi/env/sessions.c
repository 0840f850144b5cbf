/* sessions.c - a program of sessions alone: the library ends at exit. Before that the process
 * computes, so a thread of the library serves others. */
#include <mpi.h>
#include <stdio.h>

int main(void)
{
    MPI_Session s;
    MPI_Group g;
    MPI_Comm c;
    MPI_Win w;
    long *m, one = 1, wrong = 0;
    int rank, size;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s);
    MPI_Group_from_session_pset(s, "mpi://WORLD", &g);
    MPI_Comm_create_from_group(g, "sessions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &c);
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    MPI_Win_allocate(64 * sizeof *m, sizeof *m, MPI_INFO_NULL, c, &m, &w);
    for (int i = 0; i < 64; i++)
        m[i] = 0;
    MPI_Barrier(c);
    MPI_Win_lock_all(0, w);
    for (int i = 0; i < 50 * size; i++)
        MPI_Accumulate(&one, 1, MPI_LONG, i % size, i / size, 1, MPI_LONG, MPI_SUM, w);
    MPI_Win_unlock_all(w);
    MPI_Barrier(c);
    for (int i = 0; i < 50; i++)
        wrong += m[i] != size;
    MPI_Reduce(rank ? &wrong : MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, 0, c);
    MPI_Win_free(&w);
    MPI_Comm_free(&c);
    MPI_Group_free(&g);
    MPI_Session_finalize(&s);
    for (volatile long i = 0; i < (rank + 1) * 8000000L; i++)
        ;
    if (!rank && wrong)
        printf("%ld words are wrong\n", wrong);
    else if (!rank)
        printf(" No Errors\n");
    return 0;
}

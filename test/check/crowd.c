/* More accesses than MPIR_CVAR_RACE_MEM holds: rank 1 puts to every second word of rank 0, each put
 * complete by a flush; rank 2 then puts to a word between them. Rank 0
 * prints the memory of the race checker. */
#include <mpi.h>
#include <stdio.h>

enum { WORDS = 16384 };

static unsigned long long variable(const char *name, int class)
{
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h;
    unsigned long long v = 0;
    int at, n;
    MPI_T_pvar_session_create(&s);
    if (MPI_T_pvar_get_index(name, class, &at) || MPI_T_pvar_handle_alloc(s, at, NULL, &h, &n))
        MPI_Abort(MPI_COMM_WORLD, 99);
    MPI_T_pvar_read(s, h, &v);
    MPI_T_pvar_session_free(&s);
    return v;
}

int main(int argc, char **argv)
{
    int rank, provided;
    long *base, v = 1, got;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(WORDS * sizeof v, sizeof v, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        for (int i = 0; i < WORDS; i += 2) {
            MPI_Put(&v, 1, MPI_LONG, 0, i * 7 % WORDS / 2 * 2, 1, MPI_LONG, win);
            MPI_Win_flush(0, win);
        }
        MPI_Send(&v, 1, MPI_LONG, 2, 0, MPI_COMM_WORLD);
    } else if (rank == 2) { /* not ordered, but heard of behind all others */
        MPI_Put(&v, 1, MPI_LONG, 0, WORDS / 2 + 1, 1, MPI_LONG, win);
        MPI_Recv(&got, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        printf("%llu bytes, %llu closed, %llu possible, %llu found\n",
               variable("race_bytes", MPI_T_PVAR_CLASS_HIGHWATERMARK),
               variable("race_closed", MPI_T_PVAR_CLASS_COUNTER),
               variable("race_possible", MPI_T_PVAR_CLASS_COUNTER),
               variable("race_found", MPI_T_PVAR_CLASS_COUNTER));
    MPI_Win_free(&win);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}

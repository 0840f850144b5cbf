/* counts.c - a profiler as a library: counts calls of MPI_Put and MPI_Send, and prints at the end
 * what it counted and what the library's own counter of puts says. */
#include <mpi.h>
#include <stdio.h>

static int puts_seen, sends_seen;
static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;

int MPI_Put(const void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp, int tcount,
            MPI_Datatype ttype, MPI_Win win)
{
    puts_seen++;
    return PMPI_Put(origin, ocount, otype, rank, disp, tcount, ttype, win);
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    sends_seen++;
    return PMPI_Send(buf, count, type, dest, tag, comm);
}

int MPI_Init(int *argc, char ***argv)
{
    int provided, index, count, err = PMPI_Init(argc, argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_get_index("rma_put", MPI_T_PVAR_CLASS_COUNTER, &index);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    return err;
}

int MPI_Finalize(void)
{
    int rank;
    unsigned long long puts_counted = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_T_pvar_read(session, handle, &puts_counted);
    printf("rank %d: %d puts, %llu counted, %d sends\n", rank, puts_seen, puts_counted, sends_seen);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return PMPI_Finalize();
}

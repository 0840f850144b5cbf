/* bytes.c - the memory that a PE keeps for SHMEM, by malloc: for the test bytes.test and for
 * maint/scale, which compare numbers of PEs. PE 0 prints the largest figure of all PEs:
 *
 *   PEs  after shmem_init  context  team of all PEs  after the end
 *
 * MPI has begun before, and its PEs have met. */
#include <malloc.h>
#include <mpi.h>

#include "sh.h"

enum { BEGUN, CONTEXT, TEAM, ENDED, FIGURES };

static long bytes(void)
{
    return (long)mallinfo2().uordblks;
}

/* Each PE talks to those that collectives of a job of this size have as partners. */
static void meet(MPI_Comm comm)
{
    long a = 1, all;
    for (int i = 0; i < 3; i++) {
        MPI_Allreduce(&a, &all, 1, MPI_LONG, MPI_SUM, comm);
        MPI_Barrier(comm);
        MPI_Bcast(&a, 1, MPI_LONG, 0, comm);
    }
}

/* What one more of a kind takes: the median of some, since messages come and go meanwhile. */
enum { ROUNDS = 21 };

static int by_size(const void *a, const void *b)
{
    return (*(const long *)a > *(const long *)b) - (*(const long *)a < *(const long *)b);
}

static long median(long *took)
{
    qsort(took, ROUNDS, sizeof *took, by_size);
    return took[ROUNDS / 2];
}

static long context_bytes(void)
{
    shmem_ctx_t ctx[ROUNDS];
    long took[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        long before = bytes();
        CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, ctx + i), 0);
        took[i] = bytes() - before;
    }
    for (int i = 0; i < ROUNDS; i++)
        shmem_ctx_destroy(ctx[i]);
    return median(took);
}

static long team_bytes(void)
{
    long took[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        shmem_team_t team;
        long before = bytes();
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team), 0);
        took[i] = bytes() - before;
        shmem_team_destroy(team);
    }
    return median(took);
}

int main(int argc, char **argv)
{
    long mine[FIGURES], most[FIGURES];
    MPI_Init(&argc, &argv);
    meet(MPI_COMM_WORLD);
    long base = bytes();
    shmem_init();
    mine[BEGUN] = bytes() - base;
    sh_begun();
    mine[CONTEXT] = context_bytes();
    mine[TEAM] = team_bytes();
    int failed = sh_finish();
    mine[ENDED] = bytes() - base;
    MPI_Reduce(mine, most, FIGURES, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (!me)
        printf("%d %ld %ld %ld %ld\n", npes, most[BEGUN], most[CONTEXT], most[TEAM],
               most[ENDED]);
    MPI_Finalize();
    return failed;
}

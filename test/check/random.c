/* random.c - random SEED HOW: a random sequence of collective calls over four communicators. HOW 0:
 * the same on all ranks. Else one call of one rank is 1 changed, 2 left out, 3 swapped with the
 * next one of its communicator that is another call. Left out: all calls are on MPI_COMM_WORLD,
 * since a rank that waits on another communicator is no difference of sequences. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 40, COMMS = 4, OPS = 8, INTER = 3, INTER_OPS = 3 };

struct step {
    int comm, op, root;
};

static struct step steps[STEPS];
static MPI_Comm comms[COMMS];
static unsigned long state;

static int dice(int n)
{
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (int)((state >> 33) % (unsigned long)n);
}

static void call(const struct step *s)
{
    static int a[64], b[64];
    MPI_Comm c = comms[s->comm];
    MPI_Request r;
    int size;
    MPI_Comm_size(c, &size);
    switch (s->op) {
    case 0:
        MPI_Barrier(c);
        break;
    case 1:
        MPI_Allreduce(a, b, 2, MPI_INT, MPI_SUM, c);
        break;
    case 2:
        MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_INT, c);
        break;
    case 3:
        MPI_Bcast(a, 3, MPI_INT, s->root % size, c);
        break;
    case 4:
        MPI_Reduce(a, b, 1, MPI_INT, MPI_MAX, s->root % size, c);
        break;
    case 5:
        MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, c);
        break;
    case 6:
        MPI_Ibarrier(c, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        break;
    case 7:
        MPI_Scan(a, b, 1, MPI_INT, MPI_SUM, c);
        break;
    }
}

/* Returns 0 if the sequence has no place for it. */
static int spoil(int how, int at)
{
    struct step *s = &steps[at];
    int ops = s->comm == INTER ? INTER_OPS : OPS;
    if (how == 1)
        s->op = (s->op + 1 + dice(ops - 1)) % ops;
    if (how == 2)
        s->comm = -1;
    for (int i = at + 1; how == 3; i++) {
        if (i == STEPS)
            return 0;
        if (steps[i].comm != s->comm)
            continue;
        if (steps[i].op == s->op)
            return 0;
        struct step other = *s;
        *s = steps[i];
        steps[i] = other;
        break;
    }
    return 1;
}

int main(int argc, char **argv)
{
    int rank, size, how = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = argc > 1 ? strtoul(argv[1], NULL, 10) * 977 + 5 : 1;
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[2]);
    MPI_Intercomm_create(comms[2], 0, MPI_COMM_WORLD, !(rank % 2), 1, &comms[INTER]);
    for (int i = 0; i < STEPS; i++) {
        steps[i].comm = how == 2 ? 0 : dice(COMMS);
        steps[i].op = dice(steps[i].comm == INTER ? INTER_OPS : OPS);
        steps[i].root = dice(size);
    }
        int wrong = dice(size), at = dice(STEPS);
    unsigned long kept = state;
        if (how && rank == wrong)
        while (!spoil(how, at))
            at = dice(STEPS);
    state = kept;
    for (int i = 0; i < STEPS; i++)
        if (steps[i].comm >= 0)
            call(&steps[i]);
    for (int i = 1; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}

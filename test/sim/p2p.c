/* Messages and collectives in the simulator. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/p2p_types.h"
#include "scenarios.h"

enum { ROUNDS = 12, MAX_BYTES = 40000 };

static unsigned char pattern(int src, int dst, int round, int i)
{
    return (unsigned char)(src * 31 + dst * 17 + round * 7 + i);
}

/* Everybody sends to everybody, sizes from nothing to rendezvous, order of arrival checked by tag. */
static void all_pairs(void *arg)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    unsigned char *out[ROUNDS];
    MPI_Request *reqs = malloc(sizeof *reqs * (size_t)(ROUNDS * size));
    unsigned char *in = malloc(MAX_BYTES);
    int n = 0;
    for (int r = 0; r < ROUNDS; r++) {
        static const int bytes[] = {0, 1, 100, 3000, 5000, MAX_BYTES};
        int len = bytes[r % 6];
        out[r] = malloc((size_t)len * (size_t)size + 1);
        for (int d = 0; d < size; d++) {
            for (int i = 0; i < len; i++)
                out[r][d * len + i] = pattern(rank, d, r, i);
            MPI_Isend(out[r] + d * len, len, MPI_BYTE, d, r / 2, MPI_COMM_WORLD, &reqs[n++]);
        }
    }
    int next[SIM_RANKS] = {0};
    for (int got = 0; got < ROUNDS * size; got++) {
        static const int bytes[] = {0, 1, 100, 3000, 5000, MAX_BYTES};
        MPI_Status st;
        int any = got % 3 != 0, count;
        int from = any ? MPI_ANY_SOURCE : -1;
        for (int s = 0; !any && s < size; s++)
            if (next[(s + got) % size] < ROUNDS) {
                from = (s + got) % size;
                break;
            }
        MPI_Recv(in, MAX_BYTES, MPI_BYTE, from, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
        int src = st.MPI_SOURCE, r = next[src]++;
        MPI_Get_count(&st, MPI_BYTE, &count);
        SIM_CHECK(st.MPI_TAG == r / 2);
        SIM_CHECK(count == bytes[r % 6]);
        for (int i = 0; i < count; i++)
            SIM_CHECK(in[i] == pattern(src, rank, r, i));
    }
    MPI_Waitall(n, reqs, MPI_STATUSES_IGNORE);
    for (int r = 0; r < ROUNDS; r++)
        free(out[r]);
    free(reqs);
    free(in);
}

static void collectives(void *arg)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 6; i++) {
        long v = rank + i, sum = 0, root = rank == i % size ? 1000 + i : 0;
        MPI_Allreduce(&v, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        SIM_CHECK(sum == (long)size * (size - 1) / 2 + (long)size * i);
        MPI_Bcast(&root, 1, MPI_LONG, i % size, MPI_COMM_WORLD);
        SIM_CHECK(root == 1000 + i);
        MPI_Request r[2];
        int all[SIM_RANKS];
        int mine = rank * 3 + i;
        MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &r[0]);
        MPI_Ibarrier(MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        for (int k = 0; k < size; k++)
            SIM_CHECK(all[k] == k * 3 + i);
        MPI_Comm dup;
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        MPI_Barrier(dup);
        MPI_Comm_free(&dup);
    }
}

/* Far more messages than may be under way to one process on a transport without order, to one that is late. */
static void far_ahead(void *arg)
{
    enum { N = P2P_EARLY + 1500 };
    int rank, i;
    static MPI_Request r[N];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        sim_compute(200);
    for (i = 0; i < N && rank == 0; i++) {
        MPI_Isend(NULL, 0, MPI_BYTE, 1, i % 1000, MPI_COMM_WORLD, &r[i]);
        const struct p2p_peer *p = peer_get(1);
        SIM_CHECK(p->seq_out - p->seq_told <= P2P_EARLY);
    }
    if (rank == 0)
        MPI_Waitall(N, r, MPI_STATUSES_IGNORE);
    for (i = 0; i < N && rank == 1; i++) {
        MPI_Status st;
        MPI_Recv(NULL, 0, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
        SIM_CHECK(st.MPI_TAG == i % 1000 && peer_get(0)->nearly <= P2P_EARLY);
    }
    SIM_CHECK(proc->p2p->nonsense == 0);
}

/* A member dies: each collective of the others ends, also where one waits for another that lives and has given up, and the
 * barrier after it is an error for all. */
static int collective(int which, int root, int size)
{
    long v = 1, all[SIM_RANKS] = {0};
    MPI_Request r;
    int err;
    switch (which % 8) {
    case 0: return MPI_Bcast(all, 8, MPI_LONG, root, MPI_COMM_WORLD);
    case 1: return MPI_Allreduce(&v, all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    case 2: return MPI_Gather(&v, 1, MPI_LONG, all, 1, MPI_LONG, root, MPI_COMM_WORLD);
    case 3: return MPI_Reduce(&v, all, 1, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD);
    case 4: return MPI_Allgather(&v, 1, MPI_LONG, all, 1, MPI_LONG, MPI_COMM_WORLD);
    case 5: return MPI_Scatter(all, 1, MPI_LONG, &v, 1, MPI_LONG, root, MPI_COMM_WORLD);
    case 6: return MPI_Alltoall(all, 1, MPI_LONG, all + size, 1, MPI_LONG, MPI_COMM_WORLD);
    default:
        err = MPI_Ibarrier(MPI_COMM_WORLD, &r);
        return err ? err : MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static void coll_death(void *arg)
{
    int rank, size, err = MPI_SUCCESS;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int first = (int)(sim_seed() % 8), last = (int)(sim_seed() / 8 % 6), dying = (int)(sim_seed() % (unsigned)size);
    for (int i = 0; !err; i++) {
        if (rank == dying && i == last) {
            sim_compute((int)(sim_random() % 100));
            sim_die();
        }
        if (sim_random() % 3 == 0)
            sim_compute((int)(sim_random() % 200));
        err = collective(first + i, (i + 3) % size, size);
    }
    SIM_CHECK(sim_gone(dying));
    for (int i = 0; i < 8; i++)
        collective(i, (i + 1) % size, size); /* ends, somehow */
    SIM_CHECK(MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS);
}

static void mortal(struct sim_knobs *k)
{
    k->mortal = 1;
}

static void unordered(struct sim_knobs *k)
{
    k->nodes = k->ranks;
    k->ordered = 0;
}

/* Some seeds (they take a second each): a network that holds more than the bound, and brings the first message long after the last. */
static void unordered_and_wide(struct sim_knobs *k)
{
    unordered(k);
    if (k->seed % 50 == 1) {
        k->inbox = 4 * P2P_EARLY;
        k->max_delay = 20000;
        k->again_percent = k->refuse_percent = 0;
        k->quiet_rank = -1;
    }
}

const struct scenario scenarios_p2p[] = {
    {"p2p-all-pairs", 3, 1, all_pairs, NULL, NULL},
    {"p2p-all-pairs-7", 7, 1, all_pairs, NULL, NULL},
    {"coll-basics", 4, 1, collectives, NULL, NULL},
    {"coll-basics-7", 7, 1, collectives, NULL, NULL},
    {"p2p-far-ahead", 2, 1, far_ahead, NULL, unordered_and_wide},
    {"coll-death", 6, 1, coll_death, NULL, mortal},
    {"coll-death-3", 3, 1, coll_death, NULL, mortal},
    {"p2p-unordered", 3, 1, all_pairs, NULL, unordered},
    {"coll-unordered", 5, 1, collectives, NULL, unordered},
    {NULL, 0, 0, NULL, NULL, NULL},
};

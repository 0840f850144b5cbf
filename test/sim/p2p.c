/* p2p.c - messages and collectives in the simulator. */
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

/* Every rank sends to every rank, sizes from nothing to rendezvous, order of arrival checked by
 * tag. */
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

/* Far more messages than may be under way to one process on a transport without order, to one that
 * is late. */
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
    SIM_CHECK(proc->p2p->malformed == 0);
}

/* A member dies: each collective of the others ends, even if one waits for another that lives and
 * has given up. The barrier after it is an error for all. */
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
    int first = (int)(sim_seed() % 8), last = (int)(sim_seed() / 8 % 6),
        dying = (int)(sim_seed() % (unsigned)size);
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

/* --- the data of a rendezvous by the network's own get ---------------------------------- */

enum { LONG = 9000, USED = 0x77 };

/* The same at both ends: of the message that src sends in a round. */
static unsigned drawn(int src, int round)
{
    uint64_t x = (sim_seed() * 64 + (uint64_t)src) * 256 + (uint64_t)round;
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15ull;
    return (unsigned)(x >> 40);
}

/* All completed buffers are the user's: nothing writes there any more. */
static void still_used(const unsigned char *b, int from)
{
    for (int i = from; i < LONG; i++)
        SIM_CHECK(b[i] == USED);
}

/* A send that is cancelled before it can be matched, and a word about it. */
static void cancelled(const unsigned char *out, unsigned char *in, int rank, int to, int from)
{
    MPI_Request r;
    MPI_Status st;
    int flag = 0;
    MPI_Isend(out, LONG, MPI_BYTE, to, 9, MPI_COMM_WORLD, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, &st);
    MPI_Test_cancelled(&st, &flag);
    MPI_Sendrecv_replace(&flag, 1, MPI_INT, to, 8, from, 8, MPI_COMM_WORLD, &st);
    if (flag)
        return;
    MPI_Recv(in, LONG, MPI_BYTE, from, 9, MPI_COMM_WORLD, &st);
    memset(in, USED, LONG);
}

/* Each to the next in a ring: in several modes, matched early and late, into a buffer, a layout, or
 * too little room. */
static void by_get(void *arg)
{
    int rank, size;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    unsigned char *out = malloc(LONG), *in = malloc(LONG);
    MPI_Datatype every2;
    MPI_Type_vector(LONG / 2, 1, 2, MPI_BYTE, &every2);
    MPI_Type_commit(&every2);
    memset(in, USED, LONG);
    for (int r = 0; r < ROUNDS; r++) {
        unsigned mine = drawn(rank, r), theirs = drawn(from, r), how = theirs % 8;
        int len = (int)(mine / 8 % LONG), got = (int)(theirs / 8 % LONG), count,
            late = theirs / 8 % 3 == 0;
        MPI_Request req[2];
        MPI_Status st[2];
        MPI_Message msg;
        for (int i = 0; i < LONG; i++)
            out[i] = pattern(rank, to, r, i);
        if (drawn(0, r) % 8 == 7 && peer_get(to)->ordered) {
            /* else the wish may come before the message, and find nothing */
            cancelled(out, in, rank, to, from);
            continue;
        }
        if (how == 1 && got > LONG / 2)
            how = 0;
        int room = how == 2 ? got / 2 : LONG, step = how == 1 ? 2 : 1;
        if (!late && how != 3)
            OK(MPI_Irecv(in, how == 1 ? 1 : room, how == 1 ? every2 : MPI_BYTE, from, r,
                         MPI_COMM_WORLD, &req[1]));
        OK((mine % 8 == 4 ? MPI_Issend : MPI_Isend)(out, len, MPI_BYTE, to, r, MPI_COMM_WORLD,
                                                    &req[0]));
        if (late)
            sim_compute((int)(sim_random() % 100));
        if (how == 3) {
            OK(MPI_Mprobe(MPI_ANY_SOURCE, r, MPI_COMM_WORLD, &msg, &st[1]));
            OK(MPI_Imrecv(in, room, MPI_BYTE, &msg, &req[1]));
        } else if (late) {
            OK(MPI_Irecv(in, how == 1 ? 1 : room, how == 1 ? every2 : MPI_BYTE, from, MPI_ANY_TAG,
                         MPI_COMM_WORLD, &req[1]));
        }
        OK(MPI_Wait(&req[0], &st[0]));
        memset(out, 0, LONG);
        ERR(room < got ? MPI_ERR_TRUNCATE : MPI_SUCCESS, MPI_Wait(&req[1], &st[1]));
        MPI_Get_count(&st[1], MPI_BYTE, &count);
        if (room < got)
            got = room;
        SIM_CHECK(count == got && st[1].MPI_TAG == r);
        for (int i = 0; i < got; i++)
            SIM_CHECK(in[i * step] == pattern(from, rank, r, i));
        still_used(in, got * step);
        memset(in, USED, LONG);
        sim_compute(3);
        still_used(in, 0);
    }
    MPI_Type_free(&every2);
    free(out);
    free(in);
}

/* What the network fetches is asked for by no message, and brought by none. */
static void got_alone(void *arg)
{
    int rank;
    char *b = calloc(1, MAX_BYTES);
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 4; i++)
        if (rank == 0) {
            memset(b, i + 1, MAX_BYTES);
            MPI_Send(b, MAX_BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(b, MAX_BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            SIM_CHECK(b[0] == i + 1 && b[MAX_BYTES - 1] == i + 1);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(sim_sent(0, P2P_RTS) == 4 && sim_sent(1, P2P_FIN) == 4);
    for (int r = 0; r < 2; r++)
        SIM_CHECK(sim_sent(r, P2P_PULL) == 0 && sim_sent(r, P2P_DATA) == 0);
    free(b);
}

/* The last rank dies while its data is fetched, and while it fetches. Each waiting rank gets the
 * error, earlier data is right, and a returned buffer is the user's. */
static void get_from_the_dying(void *arg)
{
    int rank, size, err;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int dying = size - 1, last = (int)(sim_seed() % 5);
    unsigned char *out = malloc(LONG), *in = malloc(LONG);
    MPI_Request r[2 * SIM_RANKS];
    if (rank == dying) {
        for (int turn = 0;; turn++) {
            int n = 0;
            for (int i = 0; i < LONG; i++)
                out[i] = pattern(dying, 0, turn, i);
            for (int i = 0; i < dying; i++) {
                MPI_Irecv(in, LONG, MPI_BYTE, i, 0, MPI_COMM_WORLD, &r[n++]);
                MPI_Isend(out, LONG, MPI_BYTE, i, 0, MPI_COMM_WORLD, &r[n++]);
            }
            if (turn == last) {
                int done;
                for (int i = (int)(sim_random() % 60); i > 0; i--)
                    MPI_Testall(n, r, &done, MPI_STATUSES_IGNORE);
                sim_die();
            }
            MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
        }
    }
    for (int turn = 0;; turn++) {
        int serr;
        memset(in, USED, LONG);
        MPI_Isend(out, LONG, MPI_BYTE, dying, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(in, LONG, MPI_BYTE, dying, 0, MPI_COMM_WORLD, &r[1]);
        err = MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        serr = MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        for (int i = 0; i < LONG && !err; i++)
            SIM_CHECK(in[i] == pattern(dying, 0, turn, i));
        memset(in, USED, LONG);
        sim_compute((int)(sim_random() % 30));
        still_used(in, 0);
        if (err || serr)
            break;
    }
    SIM_CHECK(sim_gone(dying));
    ERR(MPIX_ERR_PROC_FAILED,
        err ? err : MPI_Recv(in, 1, MPI_BYTE, dying, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    /* the living go on */
    for (int i = 0; i < LONG; i++)
        out[i] = pattern(rank, 0, 99, i);
    int to = (rank + 1) % dying, from = (rank + dying - 1) % dying;
    OK(MPI_Sendrecv(out, LONG, MPI_BYTE, to, 1, in, LONG, MPI_BYTE, from, 1, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    for (int i = 0; i < LONG; i++)
        SIM_CHECK(in[i] == pattern(from, 0, 99, i));
    free(out);
    free(in);
}

static void native(struct sim_knobs *k)
{
    static const char *const eager[] = {"0", "1000", "5000"};
    scenario_cvar("MPIR_CVAR_P2P_EAGER_MAX", eager[k->seed % 3]);
    k->nodes = k->seed % 7 ? k->ranks : k->nodes;
    k->native |= SIM_NATIVE_GET;
    k->native_min = k->seed / 2 % 2 ? 1 : 2000;
    k->native_ordered = k->seed / 4 % 2;
    k->native_reg = k->seed / 8 % 2;
    /* by other digits than those that decide when the last rank dies */
    k->native_fails = k->seed / 5 % 5 == 1 ? 20 : 0;
}

static void native_only(struct sim_knobs *k)
{
    native(k);
    k->nodes = k->ranks;
    k->native_fails = 0;
}

static void native_unordered(struct sim_knobs *k)
{
    native(k);
    k->nodes = k->ranks;
    k->ordered = 0;
}

static void native_mortal(struct sim_knobs *k)
{
    native(k);
    k->nodes = k->ranks;
    k->mortal = 1;
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

static void unordered_and_mortal(struct sim_knobs *k)
{
    unordered(k);
    mortal(k);
    scenario_cvar("MPIR_CVAR_P2P_EAGER_WINDOW", k->seed % 4 ? "0" : "262144");
}

/* Some seeds (they take a second each): a network that holds more than the bound, and brings the
 * first message long after the last. */
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
    {"coll-death-unordered", 4, 1, coll_death, NULL, unordered_and_mortal},
    {"p2p-native-2", 2, 1, by_get, NULL, native},
    {"p2p-native-4", 4, 1, by_get, NULL, native},
    {"p2p-native-unordered", 3, 1, by_get, NULL, native_unordered},
    {"p2p-native-all-pairs", 3, 1, all_pairs, NULL, native},
    {"p2p-native-alone", 2, 1, got_alone, NULL, native_only},
    {"p2p-native-dies", 3, 1, get_from_the_dying, NULL, native_mortal},
    {"coll-native", 4, 1, collectives, NULL, native},
    {NULL, 0, 0, NULL, NULL, NULL},
};

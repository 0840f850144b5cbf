/* Receives that are offered to their sender (src/p2p/offer.h).
 *
 * What a receive gets does not depend on timing if one process sends all: the receives, in the
 * order posted and without those that were cancelled, each take the first message that matches and
 * that no earlier one took.  The programs compute that and compare. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/p2p_types.h"
#include "scenarios.h"
#include "var/var.h"

enum { N = 9, ROUNDS = 5, LONG = 9000, USED = 0x77, TAGS = 3 };

static unsigned char pattern(int src, int round, int m, int i)
{
    return (unsigned char)(src * 31 + round * 7 + m * 13 + i);
}

/* The same at all processes. */
static unsigned drawn(int rank, int round, int i, int what)
{
    uint64_t x = ((sim_seed() * 64 + (uint64_t)rank) * 256 + (uint64_t)round) * 256 + (uint64_t)i;
    x = (x * 16 + (uint64_t)what + 1) * 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
    return (unsigned)(x >> 40);
}

static int tag_of(int src, int round, int m)
{
    return 1 + (int)(drawn(src, round, m, 0) % TAGS);
}

static int length_of(int src, int round, int m)
{
    unsigned x = drawn(src, round, m, 1);
    return x % 8 == 0 ? 0 : x % 8 == 1 ? 1 : x % 8 == 2 ? LONG : (int)(x / 8 % LONG);
}

struct slot { /* a receive */
    MPI_Request r;
    MPI_Status st;
    unsigned char *buf;
    int tag, room, step; /* step 2: a layout with holes */
    int posted, cancelling, cancelled, err;
};

struct ring {
    MPI_Comm comm;
    MPI_Datatype every2;
    int rank, to, from;
    uint32_t gen; /* of the offers to `from`, when that was last looked at */
    struct slot in[N];
    unsigned char *out[N];
    MPI_Request sent[N];
};

static void post(struct ring *x, int round, int i)
{
    struct slot *s = &x->in[i];
    unsigned how = drawn(x->rank, round, i, 2);
    s->tag = how % 4 == 0 ? MPI_ANY_TAG : 1 + (int)(how / 4 % TAGS);
    s->step = how / 16 % 8 == 0 ? 2 : 1;
    s->room = s->step == 2 ? LONG / 2 : how / 128 % 8 == 0 ? (int)(how / 1024 % LONG) : LONG;
    s->cancelling = s->cancelled = 0;
    s->posted = 1;
    memset(s->buf, USED, LONG);
    OK(MPI_Irecv(s->buf, s->step == 2 ? 1 : s->room, s->step == 2 ? x->every2 : MPI_BYTE, x->from,
                 s->tag, x->comm, &s->r));
}

static void send(struct ring *x, int round, int m)
{
    int len = length_of(x->rank, round, m);
    for (int i = 0; i < len; i++)
        x->out[m][i] = pattern(x->rank, round, m, i);
    OK((drawn(x->rank, round, m, 3) % 5 == 0 ? MPI_Issend : MPI_Isend)(
        x->out[m], len, MPI_BYTE, x->to, tag_of(x->rank, round, m), x->comm, &x->sent[m]));
}

/* A VOID that waited for room, and that a later one has overtaken, is no news. */
static void gen_rises(struct ring *x)
{
    uint32_t gen = peer_get(x->from)->offered.gen;
    SIM_CHECK((int32_t)(gen - x->gen) >= 0);
    x->gen = gen;
}

/* Posts and sends, each in its order; between them whatever a program does. */
static void act(struct ring *x, int round, int cancels)
{
    int posted = 0, sent = 0;
    while (posted < N || sent < N) {
        unsigned what = (unsigned)(sim_random() % 8);
        gen_rises(x);
        if (what < 3 && posted < N)
            post(x, round, posted++);
        else if (what < 6 && sent < N)
            send(x, round, sent++);
        else if (what == 6)
            sim_compute((int)(sim_random() % 30));
        if (what != 7 || !posted)
            continue;
        struct slot *s = &x->in[sim_random() % (unsigned)posted];
        int flag;
        if (cancels && sim_random() % 2 && !s->cancelling) {
            s->cancelling = 1;
            OK(MPI_Cancel(&s->r));
        } else {
            OK(MPI_Iprobe(x->from, MPI_ANY_TAG, x->comm, &flag, MPI_STATUS_IGNORE));
        }
    }
}

static void ended(const struct ring *x, int round, const struct slot *s, int m)
{
    int len = length_of(x->from, round, m), got = len < s->room ? len : s->room, count;
    int err = MPI_SUCCESS;
    if (s->err)
        MPI_Error_class(s->err, &err);
    SIM_CHECK(err == (len > s->room ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
    MPI_Get_count(&s->st, MPI_BYTE, &count);
    SIM_CHECK(s->st.MPI_SOURCE == x->from && s->st.MPI_TAG == tag_of(x->from, round, m));
    SIM_CHECK(count == got);
    for (int i = 0; i < got; i++)
        SIM_CHECK(s->buf[i * s->step] == pattern(x->from, round, m, i));
    for (int i = got * s->step; i < LONG; i++)
        SIM_CHECK(s->buf[i] == USED);
}

/* Which message receive i takes: -1 none. */
static int taken_by(const struct ring *x, int round, const int *gone, int i)
{
    for (int m = 0; m < N; m++)
        if (!gone[m] && (x->in[i].tag == MPI_ANY_TAG || x->in[i].tag == tag_of(x->from, round, m)))
            return m;
    return -1;
}

static void finish(struct ring *x, int round)
{
    int gone[N] = {0};
    for (int i = 0; i < N; i++)
        if (x->in[i].cancelling) {
            x->in[i].err = MPI_Wait(&x->in[i].r, &x->in[i].st);
            MPI_Test_cancelled(&x->in[i].st, &x->in[i].cancelled);
        }
    for (int i = 0; i < N; i++) {
        struct slot *s = &x->in[i];
        int m = s->cancelled ? -1 : taken_by(x, round, gone, i), flag;
        gen_rises(x);
        if (m >= 0) {
            gone[m] = 1;
            if (!s->cancelling)
                s->err = MPI_Wait(&s->r, &s->st);
            ended(x, round, s, m);
        } else if (!s->cancelled) { /* no message is left for it */
            SIM_CHECK(!s->cancelling);
            OK(MPI_Cancel(&s->r));
            OK(MPI_Wait(&s->r, &s->st));
            MPI_Test_cancelled(&s->st, &flag);
            SIM_CHECK(flag);
        }
    }
    for (int m = 0; m < N; m++)
        if (!gone[m]) {
            struct slot *s = &x->in[0];
            memset(s->buf, USED, LONG);
            s->room = LONG;
            s->step = 1;
            s->err = MPI_Recv(s->buf, LONG, MPI_BYTE, x->from, MPI_ANY_TAG, x->comm, &s->st);
            ended(x, round, s, m);
        }
    OK(MPI_Waitall(N, x->sent, MPI_STATUSES_IGNORE));
}

static void ring_make(struct ring *x)
{
    int size;
    MPI_Comm_dup(MPI_COMM_WORLD, &x->comm);
    MPI_Comm_set_errhandler(x->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(x->comm, &x->rank);
    MPI_Comm_size(x->comm, &size);
    x->gen = 0;
    x->to = (x->rank + 1) % size;
    x->from = (x->rank + size - 1) % size;
    MPI_Type_vector(LONG / 2, 1, 2, MPI_BYTE, &x->every2);
    MPI_Type_commit(&x->every2);
    for (int i = 0; i < N; i++) {
        x->in[i].buf = malloc(LONG);
        x->out[i] = malloc(LONG);
    }
}

static void ring_free(struct ring *x)
{
    for (int i = 0; i < N; i++) {
        free(x->in[i].buf);
        free(x->out[i]);
    }
    MPI_Type_free(&x->every2);
    MPI_Comm_free(&x->comm);
}

/* Few places and a short log in some seeds. */
static void limits(void)
{
    static const unsigned most[] = {1, 2, 5, P2P_OFFERS}, log[] = {1, 3, P2P_LOG};
    proc->p2p->offer_most = most[sim_seed() / 3 % 4];
    proc->p2p->log_most = log[sim_seed() / 12 % 3];
}

static void random_ring(void *arg)
{
    struct ring x;
    (void)arg;
    limits();
    ring_make(&x);
    for (int round = 0; round < ROUNDS; round++) {
        act(&x, round, sim_seed() % 2);
        finish(&x, round);
        MPI_Barrier(x.comm);
    }
    SIM_CHECK(proc->p2p->malformed == 0);
    ring_free(&x);
}

/* Several threads, each with tags of its own. */
static void thread_ring(int thread, void *arg)
{
    enum { MESSAGES = 6 };
    int rank, size;
    MPI_Request r[2 * MESSAGES];
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    unsigned char *in = malloc(MESSAGES * LONG), *out = malloc(MESSAGES * LONG);
    for (int round = 0; round < ROUNDS; round++) {
        for (int m = 0; m < MESSAGES; m++) {
            int len = length_of(rank, round, m + 32 * thread);
            for (int i = 0; i < len; i++)
                out[m * LONG + i] = pattern(rank, round, m + thread, i);
            MPI_Irecv(in + m * LONG, LONG, MPI_BYTE, from, 100 * thread + m % 2, MPI_COMM_WORLD,
                      &r[2 * m]);
            MPI_Isend(out + m * LONG, len, MPI_BYTE, to, 100 * thread + m % 2, MPI_COMM_WORLD,
                      &r[2 * m + 1]);
        }
        MPI_Waitall(2 * MESSAGES, r, MPI_STATUSES_IGNORE);
        for (int m = 0; m < MESSAGES; m++)
            for (int i = length_of(from, round, m + 32 * thread) - 1; i >= 0; i--)
                SIM_CHECK(in[m * LONG + i] == pattern(from, round, m + thread, i));
    }
    free(in);
    free(out);
}

/* --- several senders ------------------------------------------------------------------------- */

/* Rank 0 receives from all by wildcards and by name: of each sender messages of one tag come in
 * order to receives of one kind. */
static void any_source(void *arg)
{
    enum { MOST = 40 };
    int rank, size, flag;
    (void)arg;
    limits();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int all = 12 * (size - 1), seen[SIM_RANKS][TAGS + 1] = {{0}};
    unsigned char *buf = malloc(MOST * LONG);
    MPI_Request r[MOST];
    for (int m = 0; m < 12 && rank; m++) {
        buf[0] = (unsigned char)m;
        MPI_Send(buf, 100 + length_of(rank, 0, m) % (LONG - 100), MPI_BYTE, 0, tag_of(rank, 0, m),
                 MPI_COMM_WORLD);
    }
    for (int done = 0; !rank && done < all;) {
        int n = 1 + (int)(sim_random() % 4), from = (int)(sim_random() % (unsigned)size);
        for (int i = 0; i < n; i++)
            MPI_Irecv(buf + i * LONG, LONG, MPI_BYTE, from ? from : MPI_ANY_SOURCE, MPI_ANY_TAG,
                      MPI_COMM_WORLD, &r[i]);
        sim_compute((int)(sim_random() % 50));
        for (int i = 0; i < n; i++) {
            MPI_Status st;
            /* what the sender has no more of is cancelled; a message may win */
            if (from && done + n > all)
                MPI_Cancel(&r[i]);
            else
                for (int turn = 0, over = 0; turn < 300 && !over; turn++)
                    MPI_Request_get_status(r[i], &over, MPI_STATUS_IGNORE);
            MPI_Request_get_status(r[i], &flag, &st);
            if (!flag)
                MPI_Cancel(&r[i]);
            MPI_Wait(&r[i], &st);
            MPI_Test_cancelled(&st, &flag);
            if (flag)
                continue;
            SIM_CHECK(buf[i * LONG] >= seen[st.MPI_SOURCE][st.MPI_TAG]);
            seen[st.MPI_SOURCE][st.MPI_TAG] = buf[i * LONG] + 1;
            done++;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(proc->p2p->malformed == 0);
    free(buf);
}

/* --- what is sent ---------------------------------------------------------------------- */

static long counter(enum pvar_id id)
{
    return (long)atomic_load(&pvar_proc()->v[id]);
}

/* Rank 1 posts, reports it, and computes: the data is there before it calls MPI again. A hit is one
 * PREPOST and one RTS, nothing else. */
static void hits(int persistent)
{
    enum { HITS = 9 };
    int rank;
    long before[2][5] = {{0}};
    static const int types[] = {P2P_PREPOST, P2P_RTS, P2P_FIN, P2P_PULL, P2P_WRITTEN};
    unsigned char *b = malloc(LONG);
    MPI_Request r;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (persistent && rank)
        MPI_Recv_init(b, LONG, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &r);
    for (int i = 0; i <= HITS; i++) {
        memset(b, rank ? 0 : i + 1, LONG);
        if (rank) {
            if (persistent)
                MPI_Start(&r);
            else
                MPI_Irecv(b, LONG, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &r);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
            while (i && b[LONG - 1] != i + 1) /* a livelock if nothing comes */
                sim_compute(5);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            SIM_CHECK(b[0] == i + 1 && b[LONG - 1] == i + 1);
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(b, LONG, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        }
        for (int t = 0; t < 5 && !i; t++) /* the first one finds out that offers are taken */
            before[rank][t] = sim_sent(rank, types[t]);
        if (!i)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int t = 0; t < 5; t++)
        SIM_CHECK(sim_sent(rank, types[t]) - before[rank][t] == (t == !rank ? HITS : 0));
    SIM_CHECK(sim_sent(1, P2P_FORGET) == 1 && sim_sent(0, P2P_VOID) == 1);
    if (persistent && rank)
        MPI_Request_free(&r);
    free(b);
}

static void busy(void *arg)
{
    (void)arg;
    hits(0);
}

static void busy_persistent(void *arg)
{
    (void)arg;
    hits(1);
}

/* Receives of blocking calls and of collectives are not offered: their process is in MPI, or an
 * error may drop them. */
static void unoffered(void *arg)
{
    int rank, size;
    MPI_Request r;
    unsigned char *b = malloc(2 * LONG);
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(b, rank, LONG);
    MPI_Bcast(b, LONG, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Ibcast(b, LONG, MPI_BYTE, 1, MPI_COMM_WORLD, &r);
    sim_compute(20);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Sendrecv(b, LONG, MPI_BYTE, (rank + 1) % size, 0, b + LONG, LONG, MPI_BYTE,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    SIM_CHECK(b[2 * LONG - 1] == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(sim_sent(rank, P2P_FORGET) == 0 && sim_sent(rank, P2P_PREPOST) == 0);
    free(b);
}

/* Offered receives whose messages are too short to be written: offers become rare. */
static void misses(void *arg)
{
    int rank, rounds = sim_seed() % 100 == 1 ? 10000 : 300;
    char *b = malloc(LONG);
    MPI_Request r;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < rounds; i++)
        if (rank) {
            MPI_Irecv(b, LONG, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &r);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(b, 5, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    /* 4 in a row, then one behind each of 2, 4, .. 256 receives, then one behind each 256 */
    long most = rounds == 300 ? 11 : 11 + (10000 - 4 - 510) / 257 + 1;
    SIM_CHECK(sim_sent(1, P2P_PREPOST) <= most && sim_sent(1, P2P_PREPOST) > 4);
    free(b);
}

/* From another node: PREPOST, RTS and WRITTEN are all, and the data is put. */
static void far(void *arg)
{
    enum { HITS = 9, PACKETS = 6 };
    static const int types[PACKETS] = {P2P_PREPOST, P2P_RTS, P2P_WRITTEN, P2P_FIN, P2P_PULL,
                                       P2P_DATA};
    int rank;
    long before[PACKETS + 2] = {0};
    unsigned char *b = malloc(LONG);
    MPI_Request r;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i <= HITS; i++) {
        memset(b, rank ? 0 : i + 1, LONG);
        if (rank) {
            MPI_Irecv(b, LONG, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &r);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            SIM_CHECK(b[0] == i + 1 && b[LONG - 1] == i + 1);
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(b, LONG, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        }
        if (!i)
            MPI_Barrier(MPI_COMM_WORLD);
        for (int t = 0; t < PACKETS && !i; t++)
            before[t] = sim_sent(rank, types[t]);
        if (!i) { /* it may have been put already */
            before[PACKETS] = counter(PVAR_P2P_PUT);
            before[PACKETS + 1] = counter(PVAR_P2P_OFFERS_HIT);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int t = 0; t < PACKETS; t++)
        SIM_CHECK(sim_sent(rank, types[t]) - before[t] ==
                  (rank ? t == 0 : t == 1 || t == 2) * HITS);
    SIM_CHECK(counter(PVAR_P2P_PUT) - before[PACKETS] == (rank ? 0 : HITS));
    SIM_CHECK(counter(PVAR_P2P_OFFERS_HIT) - before[PACKETS + 1] == (rank ? HITS : 0));
    free(b);
}

/* Rank 1 computes; rank 0 has partitions ready one by one, the next when the last one is there. A
 * start is one PREPOST, one RTS and one WRITTEN, however many partitions there are. */
static void parts(void *arg)
{
    enum { PARTS = 4, EACH = 1500, STARTS = 6 };
    static volatile int seen; /* partitions that rank 1 has seen */
    int rank, flag;
    unsigned char *b = malloc(PARTS * EACH);
    long before[3] = {0};
    MPI_Request r;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank)
        MPI_Precv_init(b, 2, PARTS * EACH / 2, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    else
        MPI_Psend_init(b, PARTS, EACH, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    for (int s = 0; s < STARTS; s++) {
        memset(b, rank ? 0 : s + 1, PARTS * EACH);
        seen = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Start(&r);
        MPI_Barrier(MPI_COMM_WORLD); /* the offer has come */
        for (int i = 0; i < PARTS; i++) {
            int k = s % 2 ? PARTS - 1 - i : i;
            if (!rank)
                MPI_Pready(k, r);
            while (s > 1 && !rank && seen <= i)
                sim_compute(3);
            while (s > 1 && rank && b[k * EACH] != s + 1) /* a livelock if nothing comes */
                sim_compute(3);
            if (rank)
                seen = i + 1;
        }
        if (rank)
            MPI_Parrived(r, 0, &flag);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        for (int i = 0; i < PARTS * EACH; i++)
            SIM_CHECK(b[i] == s + 1);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int t = 0; t < 3 && s == 1; t++)
            before[t] = sim_sent(rank, (int[]){P2P_PREPOST, P2P_RTS, P2P_WRITTEN}[t]);
    }
    for (int t = 0; t < 3; t++)
        SIM_CHECK(sim_sent(rank, (int[]){P2P_PREPOST, P2P_RTS, P2P_WRITTEN}[t]) - before[t] ==
                  ((t == 0) == rank ? STARTS - 2 : 0));
    MPI_Request_free(&r);
    free(b);
}

/* A ring of partitioned messages, whose partitions get ready in any order. */
static void parts_random(void *arg)
{
    enum { PARTS = 5, EACH = 1200, STARTS = 8 };
    int rank, size, flag;
    MPI_Request r[2];
    (void)arg;
    limits();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    unsigned char *in = malloc(PARTS * EACH), *out = malloc(PARTS * EACH);
    MPI_Psend_init(out, PARTS, EACH, MPI_BYTE, to, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(in, 1, PARTS * EACH, MPI_BYTE, from, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    for (int s = 0; s < STARTS; s++) {
        memset(in, USED, PARTS * EACH);
        MPI_Startall(2, r);
        unsigned done = 0;
        while (done != (1u << PARTS) - 1) {
            int i = (int)(sim_random() % PARTS);
            if (done >> i & 1 || sim_random() % 3 == 0) {
                sim_compute((int)(sim_random() % 20));
                MPI_Parrived(r[1], 0, &flag);
                continue;
            }
            for (int k = 0; k < EACH; k++)
                out[i * EACH + k] = pattern(rank, s, i, k);
            MPI_Pready(i, r[0]);
            done |= 1u << i;
        }
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        for (int i = 0; i < PARTS * EACH; i++)
            SIM_CHECK(in[i] == pattern(from, s, i / EACH, i % EACH));
        memset(out, 0, PARTS * EACH);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    SIM_CHECK(proc->p2p->malformed == 0);
    free(in);
    free(out);
}

/* --- deaths ---------------------------------------------------------------------------- */

static void fill(unsigned char *b, int src, int round)
{
    for (int i = 0; i < LONG; i++)
        b[i] = pattern(src, round, 0, i);
}

/* The last rank exchanges with all others until it dies in some step. */
static void until_death(int dying)
{
    unsigned char *in = malloc(LONG * SIM_RANKS), *out = malloc(LONG);
    sim_die_at(1 + (int)(sim_seed() % (boot_same_node(0) ? 200 : 40)));
    for (int round = 0;; round++) {
        MPI_Request r[2 * SIM_RANKS];
        fill(out, dying, round);
        for (int i = 0; i < dying; i++) {
            MPI_Irecv(in + i * LONG, LONG, MPI_BYTE, i, 0, MPI_COMM_WORLD, &r[2 * i]);
            MPI_Isend(out, LONG, MPI_BYTE, i, 0, MPI_COMM_WORLD, &r[2 * i + 1]);
        }
        MPI_Waitall(2 * dying, r, MPI_STATUSES_IGNORE);
    }
}

/* It may also die between its claim and its packet: what waits for it ends, what came before is
 * right, and buffers that were given back stay untouched. */
static void dies(void *arg)
{
    int rank, size, err = MPI_SUCCESS;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int dying = size - 1;
    if (rank == dying)
        until_death(dying);
    unsigned char *in = malloc(LONG), *out = malloc(LONG);
    for (int round = 0; !err; round++) {
        MPI_Request r[2];
        memset(in, USED, LONG);
        fill(out, rank, round);
        MPI_Irecv(in, LONG, MPI_BYTE, dying, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out, LONG, MPI_BYTE, dying, 0, MPI_COMM_WORLD, &r[1]);
        sim_compute((int)(sim_random() % 20));
        err = MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        int serr = MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        for (int i = 0; i < LONG && !err; i++)
            SIM_CHECK(in[i] == pattern(dying, round, 0, i));
        err = err ? err : serr;
        memset(in, USED, LONG);
        sim_compute(3);
        for (int i = 0; i < LONG; i++)
            SIM_CHECK(in[i] == USED);
    }
    ERR(MPIX_ERR_PROC_FAILED, err);
    SIM_CHECK(sim_gone(dying));
    free(in);
    free(out);
}

/* --- knobs ----------------------------------------------------------------------------- */

static void near(struct sim_knobs *k, const char *mode, const char *min, const char *misses)
{
    static const char *const eager[] = {"0", "1000", "65536"};
    scenario_cvar("MPIR_CVAR_P2P_EAGER_MAX", eager[k->seed / 2 % 3]);
    scenario_cvar("MPIR_CVAR_P2P_PREPOST", mode);
    scenario_cvar("MPIR_CVAR_P2P_PREPOST_MIN", min);
    scenario_cvar("MPIR_CVAR_P2P_PREPOST_MISSES", misses);
    scenario_cvar("MPIR_CVAR_COLL_SHM_BYTES", "0");
    k->nodes = 1;
    k->ordered = 1;
}

static void offers(struct sim_knobs *k)
{
    static const char *const min[] = {"1", "500", "5000"};
    near(k, k->seed % 5 ? "2" : "1", min[k->seed / 7 % 3], "2");
}

/* Most ranks are nodes of their own, and their network puts. */
static void offers_far(struct sim_knobs *k)
{
    offers(k);
    scenario_cvar("MPIR_CVAR_P2P_PREPOST", "2");
    k->nodes = k->seed % 6 ? k->ranks : 2;
    k->native = SIM_NATIVE_PUT | (k->seed / 3 % 2 ? SIM_NATIVE_GET : 0);
    k->native_min = k->seed / 2 % 2 ? 1 : 2000;
    k->native_ordered = k->seed / 4 % 2;
    k->native_reg = k->seed / 8 % 2;
    k->native_put_fails = k->seed / 5 % 5 == 1 ? 20 : 0;
    k->native_tidy = 1;
}

static void offers_far_mortal(struct sim_knobs *k)
{
    offers_far(k);
    k->mortal = 1;
}

static void offers_mortal(struct sim_knobs *k)
{
    offers(k);
    k->mortal = 1;
}

/* What is counted does not depend on refusals. */
static void undisturbed(struct sim_knobs *k)
{
    k->quiet_rank = -1;
    k->again_percent = k->refuse_percent = 0;
    k->inbox = 256;
}

static void offers_always(struct sim_knobs *k)
{
    near(k, "2", "500", "4");
    undisturbed(k);
}

static void offers_adaptive(struct sim_knobs *k)
{
    near(k, "1", "500", "4");
    undisturbed(k);
}

static void offers_put(struct sim_knobs *k)
{
    offers_far(k);
    undisturbed(k);
    scenario_cvar("MPIR_CVAR_P2P_PREPOST_MIN", "500");
    k->nodes = k->ranks;
    k->native_put_fails = 0;
}

const struct scenario scenarios_prepost[] = {
    {"p2p-prepost-2", 2, 1, random_ring, NULL, offers},
    {"p2p-prepost-4", 4, 1, random_ring, NULL, offers},
    {"p2p-prepost-any", 4, 1, any_source, NULL, offers},
    {"p2p-prepost-threads", 2, 3, random_ring, thread_ring, offers},
    {"p2p-prepost-dies", 3, 1, dies, NULL, offers_mortal},
    {"p2p-prepost-put-2", 2, 1, random_ring, NULL, offers_far},
    {"p2p-prepost-put-4", 4, 1, random_ring, NULL, offers_far},
    {"p2p-prepost-put-any", 4, 1, any_source, NULL, offers_far},
    {"p2p-prepost-put-threads", 2, 3, random_ring, thread_ring, offers_far},
    {"p2p-prepost-put-dies", 3, 1, dies, NULL, offers_far_mortal},
    {"p2p-prepost-parts", 3, 1, parts_random, NULL, offers},
    {"count-prepost-parts", 2, 1, parts, NULL, offers_always},
    {"count-prepost-put", 2, 1, far, NULL, offers_put},
    {"count-prepost", 2, 1, busy, NULL, offers_always},
    {"count-prepost-persistent", 2, 1, busy_persistent, NULL, offers_always},
    {"count-prepost-none", 3, 1, unoffered, NULL, offers_always},
    {"count-prepost-miss", 2, 1, misses, NULL, offers_adaptive},
    {NULL, 0, 0, NULL, NULL, NULL},
};

/* revoke.c - communicators that are revoked, while members are in any call on them, make or free
 * them, or die at any step: each call ends, and if one that lives gets to know, all do. */
#include <stdlib.h>

#include "p2p/p2p_types.h"
#include "ulfm.h"
#include "var/var.h"

enum { LONG = 20000, WAITS = 16, ROUNDS = 4 };

static struct {
    int known; /* one that lives has got the notice */
} seen;

static void scene(int *rank, int *size)
{
    scene_of(rank, size, &seen, sizeof seen);
}

/* --- the notice, without a failure --------------------------------------------------------- */

/* To the members 1, 2, 4 ... places on. */
static void exactly(void *arg)
{
    int rank, size, each = 0;
    (void)arg;
    scene(&rank, &size);
    MPI_Comm c = copy_of(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    while (1 << each < size)
        each++;
    if (rank == (int)(sim_seed() % (unsigned)size))
        OK(MPIX_Comm_revoke(c));
    else
        ERR(MPIX_ERR_REVOKED, MPI_Recv(NULL, 0, MPI_BYTE, (rank + 1) % size, 1, c,
                                       MPI_STATUS_IGNORE));
    OK(MPIX_Comm_revoke(c)); /* once is enough */
    while (sim_sent(rank, AM_COLL + COLL_PKT_REVOKE) < each)
        turn();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) {
        SIM_CHECK(sim_sent(r, AM_COLL + COLL_PKT_REVOKE) == each);
        SIM_CHECK(sim_sent(r, AM_COLL + COLL_PKT_AGREE) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Comm_free(&c));
}

/* --- every kind of call -------------------------------------------------------------------- */

struct bench {
    MPI_Comm c;
    int rank, peer, before; /* ranks of the peer group */
    int inter, sum;
    char out[LONG], in[LONG];
};

/* Calls that no other member's call lets end. 1: there is one of this number. */
static int wait_blocking(struct bench *b, int kind)
{
    MPI_Status st;
    MPI_Message m;
    int n = LONG;
    switch (kind) {
    case 0: ERR(MPIX_ERR_REVOKED, MPI_Recv(b->in, n, MPI_BYTE, b->peer, 1, b->c, &st)); break;
    case 1:
        ERR(MPIX_ERR_REVOKED, MPI_Recv(b->in, 8, MPI_BYTE, MPI_ANY_SOURCE, 1, b->c, &st));
        break;
    case 2: ERR(MPIX_ERR_REVOKED, MPI_Probe(b->peer, 9, b->c, &st)); break;
    case 3: ERR(MPIX_ERR_REVOKED, MPI_Mprobe(MPI_ANY_SOURCE, 1, b->c, &m, &st)); break;
    case 4: ERR(MPIX_ERR_REVOKED, MPI_Ssend(b->out, 8, MPI_BYTE, b->peer, 2, b->c)); break;
    case 5:
        MPI_Send(b->out, n, MPI_BYTE, b->peer, 2, b->c); /* it may leave */
        ERR(MPIX_ERR_REVOKED, MPI_Recv(b->in, n, MPI_BYTE, b->peer, 1, b->c, &st));
        break;
    case 6: ERR(MPIX_ERR_REVOKED, MPI_Ssend(b->out, n, MPI_BYTE, b->before, 2, b->c)); break;
    case 7:
        ERR(MPIX_ERR_REVOKED, MPI_Sendrecv(b->out, n, MPI_BYTE, b->peer, 2, b->in, n, MPI_BYTE,
                                           b->before, 1, b->c, &st));
        break;
    case 8:
        ERR(MPIX_ERR_REVOKED, MPI_Allreduce(&b->rank, &b->sum, 1, MPI_INT, MPI_SUM, b->c));
        break;
    default: return 0;
    }
    return 1;
}

static int begin(struct bench *b, int kind, MPI_Request *r)
{
    int err;
    switch (kind) {
    case 0: return MPI_Irecv(b->in, LONG, MPI_BYTE, b->peer, 1, b->c, r);
    case 1: return MPI_Irecv(b->in, 8, MPI_BYTE, MPI_ANY_SOURCE, 1, b->c, r);
    case 2: return MPI_Issend(b->out, 8, MPI_BYTE, b->peer, 2, b->c, r);
    case 3: return MPI_Issend(b->out, LONG, MPI_BYTE, b->peer, 2, b->c, r);
    case 4: /* as the blocking one of another member */
        return MPI_Iallreduce(&b->rank, &b->sum, 1, MPI_INT, MPI_SUM, b->c, r);
    case 5:
        return MPI_Isendrecv(b->out, LONG, MPI_BYTE, b->peer, 2, b->in, LONG, MPI_BYTE, b->before,
                             1, b->c, r);
    case 6: err = MPI_Recv_init(b->in, 8, MPI_BYTE, b->peer, 1, b->c, r); break;
    case 7: err = MPI_Ssend_init(b->out, 8, MPI_BYTE, b->peer, 2, b->c, r); break;
    case 8:
        err = MPI_Precv_init(b->in, 2, 4, MPI_BYTE, b->peer, 3, b->c, MPI_INFO_NULL, r);
        break;
    default:
        err = MPI_Psend_init(b->out, 2, 4, MPI_BYTE, b->peer, 3, b->c, MPI_INFO_NULL, r);
        break;
    }
    if (err || MPI_Start(r)) /* a later wait finds it inactive */
        return err;
    if (kind == 9)
        OK(MPI_Pready(0, *r));
    return MPI_SUCCESS;
}

static void wait_begun(struct bench *b)
{
    MPI_Request r[WAITS];
    int n = 0, first = (int)(sim_random() % 10), most = 1 + (int)(sim_seed() % 4), err = 0;
    while (n < most && (err = begin(b, (first + n) % 10, &r[n])) == MPI_SUCCESS)
        n++;
    if (err)
        ERR(MPIX_ERR_REVOKED, err);
    for (int i = 0; i < n; i++) {
        err = MPI_Wait(&r[i], MPI_STATUS_IGNORE);
        if (err || (first + i) % 10 != 3) /* a send may have left */
            ERR(MPIX_ERR_REVOKED, err);
        if (r[i] == MPI_REQUEST_NULL)
            continue;
        ERR(MPIX_ERR_REVOKED, MPI_Start(&r[i])); /* persistent */
        OK(MPI_Request_free(&r[i]));
    }
    ERR(MPIX_ERR_REVOKED, MPI_Recv(NULL, 0, MPI_BYTE, b->peer, 4, b->c, MPI_STATUS_IGNORE));
}

/* What still may be called, and what not. */
static void after(struct bench *b)
{
    int n, flag, buf = 0;
    MPI_Comm made;
    MPI_Request r;
    MPI_Win win;
    MPI_Group g;
    OK(MPI_Comm_size(b->c, &n));
    OK(MPI_Comm_rank(b->c, &n));
    OK(MPI_Comm_group(b->c, &g));
    OK(MPI_Group_free(&g));
    OK(MPI_Comm_set_name(b->c, "revoked"));
    OK(MPI_Comm_set_info(b->c, MPI_INFO_NULL));
    OK(MPIX_Comm_failure_ack(b->c));
    OK(MPIX_Comm_is_revoked(b->c, &flag));
    SIM_CHECK(flag == 1);
    ERR(MPIX_ERR_REVOKED, MPI_Send(&buf, 1, MPI_INT, b->peer, 2, b->c));
    ERR(MPIX_ERR_REVOKED, MPI_Irecv(&buf, 1, MPI_INT, b->peer, 2, b->c, &r));
    ERR(MPIX_ERR_REVOKED, MPI_Iprobe(MPI_ANY_SOURCE, 2, b->c, &flag, MPI_STATUS_IGNORE));
    ERR(MPIX_ERR_REVOKED, MPI_Barrier(b->c));
    ERR(MPIX_ERR_REVOKED, MPI_Comm_dup(b->c, &made));
    ERR(MPIX_ERR_REVOKED, MPI_Comm_idup(b->c, &made, &r));
    if (!b->inter)
        ERR(MPIX_ERR_REVOKED, MPI_Win_create(&buf, 4, 1, MPI_INFO_NULL, b->c, &win));
    flag = ~(1 << b->rank);
    OK(MPIX_Comm_agree(b->c, &flag));
    OK(MPIX_Comm_shrink(b->c, &made));
    OK(MPI_Barrier(made));
    OK(MPI_Comm_free(&made));
    OK(MPI_Comm_free(&b->c));
}

static struct bench *bench_of(MPI_Comm c, int rank, int peers, int inter)
{
    struct bench *b = calloc(1, sizeof *b);
    MPI_Comm_rank(c, &b->rank);
    b->c = c;
    b->inter = inter;
    b->peer = inter ? 0 : (rank + 1) % peers;
    b->before = inter ? 0 : (rank + peers - 1) % peers;
    return b;
}

/* One revokes at some time; those that wait have posted what they will by then, or not. */
static void revoker(struct bench *b)
{
    for (int i = 0; i < (int)(sim_seed() / 3 % 4) * 40; i++)
        turn();
    OK(MPIX_Comm_revoke(b->c));
}

static void calls(void *arg)
{
    int rank, size;
    (void)arg;
    scene(&rank, &size);
    struct bench *b = bench_of(copy_of(MPI_COMM_WORLD), rank, size, 0);
    if (rank == (int)(sim_seed() % (unsigned)size))
        revoker(b);
    else if (cvar.coll_check) /* collective calls that differ would end with its own error */
        wait_blocking(b, (int)(sim_random() % 8));
    else if (sim_random() % 2)
        wait_begun(b);
    else
        wait_blocking(b, (int)(sim_random() % 9));
    after(b);
    free(b);
}

static void checked(struct sim_knobs *k)
{
    static const char *const levels[] = {"1", "2", "3"};
    scenario_cvar("MPIR_CVAR_COLL_CHECK", levels[k->seed % 3]);
}

static void across(void *arg)
{
    int rank, size, n;
    MPI_Comm half, inter;
    (void)arg;
    scene(&rank, &size);
    int high = rank >= size / 2;
    OK(MPI_Comm_split(MPI_COMM_WORLD, high, 0, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, high ? 0 : size / 2, 1, &inter));
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_remote_size(inter, &n);
    struct bench *b = bench_of(inter, rank, n, 1);
    if (rank == (int)(sim_seed() % (unsigned)size))
        revoker(b);
    else
        wait_blocking(b, (int)(sim_random() % 9));
    after(b);
    OK(MPI_Barrier(half)); /* another one */
    OK(MPI_Comm_free(&half));
    free(b);
}

/* A message that a receive has taken, or that MPI_Mprobe has, when the notice comes. */
static void taken(void *arg)
{
    int rank, size;
    MPI_Message m;
    char *buf = calloc(LONG, 1);
    (void)arg;
    scene(&rank, &size);
    MPI_Comm c = copy_of(MPI_COMM_WORLD);
    if (rank == 1) {
        int err = class_of(MPI_Ssend(buf, LONG, MPI_BYTE, 0, 1, c));
        SIM_CHECK(err == MPI_SUCCESS || err == MPIX_ERR_REVOKED);
        ERR(MPIX_ERR_REVOKED, MPI_Ssend(buf, 8, MPI_BYTE, 0, 2, c));
    } else {
        MPI_Request r;
        OK(MPI_Irecv(buf, LONG, MPI_BYTE, 1, 1, c, &r));
        OK(MPI_Mprobe(1, 2, c, &m, MPI_STATUS_IGNORE));
        OK(MPIX_Comm_revoke(c));
        ERR(MPIX_ERR_REVOKED, MPI_Mrecv(buf, 8, MPI_BYTE, &m, MPI_STATUS_IGNORE));
        int err = class_of(MPI_Wait(&r, MPI_STATUS_IGNORE));
        SIM_CHECK(err == MPI_SUCCESS || err == MPIX_ERR_REVOKED);
    }
    OK(MPI_Comm_free(&c));
    free(buf);
}

/* --- offered receives ---------------------------------------------------------------------- */

enum { OFFERS = 6, PARTS = 3 };

/* Rank r gets from the one before it; what it sends may have left. */
static void send_some(int to, char *buf, MPI_Comm c)
{
    for (int i = (int)(sim_random() % (OFFERS + 1)); i > 0; i--) {
        int err = MPI_Send(buf, LONG, MPI_BYTE, to, (int)(sim_random() % 2), c);
        if (err)
            ERR(MPIX_ERR_REVOKED, err);
    }
}

/* Partitions that the sender writes one by one, and not all; receives that it claims, or not. */
static void offered(void *arg)
{
    int rank, size, err;
    MPI_Request r[OFFERS + 2];
    (void)arg;
    scene(&rank, &size);
    MPI_Comm c = copy_of(MPI_COMM_WORLD);
    char *in = malloc((OFFERS + 1) * LONG), *out = calloc(1, LONG);
    int to = (rank + 1) % size, from = (rank + size - 1) % size, n = 0;
    OK(MPI_Psend_init(out, PARTS, LONG / PARTS, MPI_BYTE, to, 3, c, MPI_INFO_NULL, &r[n++]));
    OK(MPI_Precv_init(in + OFFERS * LONG, 1, LONG / PARTS * PARTS, MPI_BYTE, from, 3, c,
                      MPI_INFO_NULL, &r[n++]));
    OK(MPI_Startall(2, r));
    for (int i = 0; i < OFFERS; i++)
        OK(MPI_Irecv(in + i * LONG, LONG, MPI_BYTE, from, i % 2, c, &r[n++]));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = (int)(sim_random() % PARTS); i > 0; i--)
        OK(MPI_Pready(i, r[0]));
    if (rank == (int)(sim_seed() % (unsigned)size))
        OK(MPIX_Comm_revoke(c));
    else
        send_some(to, out, c);
    for (int i = 0; i < n; i++) {
        err = MPI_Wait(&r[i], MPI_STATUS_IGNORE);
        if (err || i < 2) /* a message may have been taken */
            ERR(MPIX_ERR_REVOKED, err);
        if (i < 2)
            OK(MPI_Request_free(&r[i]));
    }
    OK(MPI_Comm_free(&c));
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(proc->p2p->malformed == 0);
    free(in);
    free(out);
}

static void offers(struct sim_knobs *k, int far)
{
    scenario_cvar("MPIR_CVAR_P2P_EAGER_MAX", k->seed / 2 % 2 ? "0" : "65536");
    scenario_cvar("MPIR_CVAR_P2P_PREPOST", "2");
    scenario_cvar("MPIR_CVAR_P2P_PREPOST_MIN", "1");
    k->nodes = far ? k->ranks : 1;
    k->ordered = 1;
    if (!far)
        return;
    k->native = SIM_NATIVE_PUT;
    k->native_min = 1;
    k->native_ordered = k->seed / 4 % 2;
}
static void offers_near(struct sim_knobs *k)
{
    offers(k, 0);
}
static void offers_far(struct sim_knobs *k)
{
    offers(k, 1);
}

/* --- before it is made, after it is freed -------------------------------------------------- */

static void early(void *arg)
{
    int rank, size;
    MPI_Comm c;
    (void)arg;
    scene(&rank, &size);
    for (int i = 0; i < ROUNDS; i++) {
        int err = class_of(MPI_Comm_dup(MPI_COMM_WORLD, &c));
        SIM_CHECK(err == MPI_SUCCESS || err == MPIX_ERR_REVOKED);
        if (err)
            continue;
        MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
        if (rank == (int)((sim_seed() + (unsigned)i) % (unsigned)size))
            OK(MPIX_Comm_revoke(c));
        else if (sim_seed() % 3 == 0 && rank % 2)
            ; /* it leaves without having waited */
        else
            ERR(MPIX_ERR_REVOKED, MPI_Recv(NULL, 0, MPI_BYTE, (rank + 1) % size, 1, c,
                                           MPI_STATUS_IGNORE));
        OK(MPI_Comm_free(&c));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* A window lives on; one that is being made does not come to be. */
static void windows(void *arg)
{
    int rank, size;
    MPI_Win old, made;
    (void)arg;
    scene(&rank, &size);
    MPI_Comm c = copy_of(MPI_COMM_WORLD);
    int *mem, *more;
    OK(MPI_Win_allocate(4, 4, MPI_INFO_NULL, c, &mem, &old));
    *mem = -1;
    OK(MPI_Win_fence(0, old));
    if (rank == (int)(sim_seed() % (unsigned)size))
        OK(MPIX_Comm_revoke(c));
    else
        ERR(MPIX_ERR_REVOKED, MPI_Win_allocate(4, 4, MPI_INFO_NULL, c, &more, &made));
    OK(MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, old));
    OK(MPI_Win_fence(0, old));
    SIM_CHECK(*mem == (rank + size - 1) % size);
    OK(MPI_Win_free(&old));
    OK(MPI_Comm_free(&c));
}

/* MPI_COMM_WORLD itself. */
static void world(void *arg)
{
    int rank, size;
    MPI_Comm made;
    (void)arg;
    scene(&rank, &size);
    if (rank == (int)(sim_seed() % (unsigned)size))
        OK(MPIX_Comm_revoke(MPI_COMM_WORLD));
    else
        ERR(MPIX_ERR_REVOKED, MPI_Barrier(MPI_COMM_WORLD));
    if (sim_seed() % 2)
        return;
    OK(MPIX_Comm_shrink(MPI_COMM_WORLD, &made));
    OK(MPI_Barrier(made));
    OK(MPI_Comm_free(&made));
}

/* --- with failures ------------------------------------------------------------------------- */

static int all_dead(int size)
{
    for (int r = 0; r < size; r++)
        if (is_doomed(r, size) && !boot_failed(r))
            return 0;
    return 1;
}

/* The doomed revoke it, and die at some step. If the notice has reached one that lives, it reaches
 * all. */
static void reliable(void *arg)
{
    int rank, size, done = 0, err = MPI_SUCCESS;
    MPI_Request r;
    (void)arg;
    scene(&rank, &size);
    MPI_Comm c = copy_of(MPI_COMM_WORLD);
    int peer = (rank + 1) % size;
    while (is_doomed(peer, size))
        peer = (peer + 1) % size;
    if (!is_doomed(rank, size))
        OK(MPI_Irecv(NULL, 0, MPI_BYTE, peer, 1, c, &r));
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_doomed(rank, size)) {
        if (sim_random() % 2)
            sim_die_at(1 + (int)(sim_random() % 12));
        MPIX_Comm_revoke(c);
        for (int i = (int)(sim_random() % 3) * 20; i > 0; i--)
            turn();
        sim_die();
    }
    for (int calm = 0; !done && calm < 3; calm += all_dead(size)) {
        err = MPI_Test(&r, &done, MPI_STATUS_IGNORE);
        sim_compute(1);
    }
    while (!done && seen.known) /* a hang if it does not come */
        err = MPI_Test(&r, &done, MPI_STATUS_IGNORE);
    if (done) {
        ERR(MPIX_ERR_REVOKED, err);
        seen.known = 1;
    } else {
        MPI_Cancel(&r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    if (sim_random() % 2)
        OK(MPI_Comm_free(&c));
}

/* All that the revoker has told die, and what they sent of it stays under way: the revoker tells
 * the next one. */
static void retold(void *arg)
{
    int rank, size;
    (void)arg;
    scene(&rank, &size);
    MPI_Comm c = copy_of(MPI_COMM_WORLD);
    int dies = rank == 1 || rank == 2; /* of 4: 0 tells these two */
    for (int r = 0; dies && r < size; r++)
        if (r != rank)
            sim_hold(AM_COLL + COLL_PKT_REVOKE, rank, r);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        OK(MPIX_Comm_revoke(c));
    else if (rank == 3)
        ERR(MPIX_ERR_REVOKED, MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, c, MPI_STATUS_IGNORE));
    while (dies && sim_received(rank, AM_COLL + COLL_PKT_REVOKE) == 0)
        turn();
    if (dies)
        sim_die();
    OK(MPI_Comm_free(&c));
}

/* What a program does on a communicator, which it mends then. */
static int work(MPI_Comm c, char *buf)
{
    int rank, size, sum = 0, one = 1;
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    int n = sim_random() % 2 ? 8 : LONG;
    int err = MPI_Sendrecv(buf, n, MPI_BYTE, (rank + 1) % size, 1, buf + LONG, LONG, MPI_BYTE,
                           (rank + size - 1) % size, 1, c, MPI_STATUS_IGNORE);
    if (!err)
        err = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c);
    if (err && class_of(err) != MPIX_ERR_REVOKED)
        ERR(MPIX_ERR_PROC_FAILED, err);
    SIM_CHECK(err || sum == size);
    return err;
}

static void dies(void *arg)
{
    int rank, size, fine = 0;
    (void)arg;
    scene(&rank, &size);
    char *buf = calloc(2, LONG);
    MPI_Comm c = copy_of(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_doomed(rank, size))
        sim_die_at(1 + (int)(sim_random() % (20u * (unsigned)size)));
    for (int rounds = 0; rounds < ROUNDS || !fine; rounds++) {
        int err = work(c, buf);
        if (is_doomed(rank, size) && rounds >= ROUNDS)
            sim_die();
        fine = mend(&c, err);
    }
    free(buf);
    end_doomed(rank, size);
    OK(MPI_Comm_free(&c));
}

const struct scenario scenarios_revoke[] = {
    {"ulfm-revoke-counts-2", 2, 1, exactly, NULL, NULL},
    {"ulfm-revoke-counts-8", 8, 1, exactly, NULL, NULL},
    {"ulfm-revoke-counts-13", 13, 1, exactly, NULL, NULL},
    {"ulfm-revoke-calls-3", 3, 1, calls, NULL, NULL},
    {"ulfm-revoke-calls-6", 6, 1, calls, NULL, NULL},
    {"ulfm-revoke-checked-4", 4, 1, calls, NULL, checked},
    {"ulfm-revoke-across-5", 5, 1, across, NULL, NULL},
    {"ulfm-revoke-taken-2", 2, 1, taken, NULL, NULL},
    {"ulfm-revoke-offered-2", 2, 1, offered, NULL, offers_near},
    {"ulfm-revoke-offered-4", 4, 1, offered, NULL, offers_near},
    {"ulfm-revoke-put-3", 3, 1, offered, NULL, offers_far},
    {"ulfm-revoke-early-4", 4, 1, early, NULL, NULL},
    {"ulfm-revoke-windows-4", 4, 1, windows, NULL, NULL},
    {"ulfm-revoke-world-4", 4, 1, world, NULL, NULL},
    {"ulfm-revoke-reliable-5", 5, 1, reliable, NULL, mortal},
    {"ulfm-revoke-reliable-9", 9, 1, reliable, NULL, mortal},
    {"ulfm-revoke-retold-4", 4, 1, retold, NULL, mortal},
    {"ulfm-revoke-dies-3", 3, 1, dies, NULL, mortal},
    {"ulfm-revoke-dies-6", 6, 1, dies, NULL, mortal},
    {NULL, 0, 0, NULL, NULL, NULL},
};

/* jobs.c - two jobs that meet at a port, by the real inbox for guests: what they send, members that
 * die at any step while they meet and after, revocations across both, processes that have left. */
#include <stdlib.h>

#include "am/am_types.h"
#include "sim_types.h"
#include "ulfm.h"

enum { MEETINGS = 3, LONG = 20000, SECOND = 1000000 /* steps */ };
static const char port[] = "here";

struct side {
    int job, rank, size, others; /* rank and size in the own job */
    MPI_Comm c;                  /* a duplicate of MPI_COMM_WORLD */
};

static struct side scene(void)
{
    struct side x = {.job = boot_first() > 0};
    MPI_Comm_rank(MPI_COMM_WORLD, &x.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &x.size);
    x.others = boot_universe() - x.size;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    x.c = copy_of(MPI_COMM_WORLD);
    MPI_Barrier(x.c);
    return x;
}

static int meet(const struct side *x, MPI_Comm *inter)
{
    int root = x->job ? (int)(sim_seed() % (unsigned)x->size) : 0;
    int err = x->job ? MPI_Comm_connect(port, MPI_INFO_NULL, root, x->c, inter)
                     : MPI_Comm_accept(port, MPI_INFO_NULL, root, x->c, inter);
    if (!err)
        MPI_Comm_set_errhandler(*inter, MPI_ERRORS_RETURN);
    return err;
}

/* --- without a failure --------------------------------------------------------------------- */

static void talk(const struct side *x, MPI_Comm inter)
{
    char *buf = calloc(2, LONG);
    for (int i = 0; i < x->others; i++) {
        int n = sim_random() % 2 ? 4 : LONG, other = -1;
        MPI_Status st;
        buf[0] = (char)boot_rank();
        OK(MPI_Sendrecv(buf, n, MPI_BYTE, i, 1, buf + LONG, LONG, MPI_BYTE, i, 1, inter, &st));
        other = (x->job ? 0 : x->size) + i;
        SIM_CHECK(buf[LONG] == other);
    }
    free(buf);
}

static void together(MPI_Comm inter, int high)
{
    MPI_Comm all;
    MPI_Win win;
    int rank, size, *mem, sum = 0, one = 1;
    OK(MPI_Intercomm_merge(inter, high, &all));
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all));
    SIM_CHECK(sum == size && size == boot_universe());
    OK(MPI_Win_allocate(4, 4, MPI_INFO_NULL, all, &mem, &win));
    *mem = -1;
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    SIM_CHECK(*mem == (rank + size - 1) % size);
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_free(&all));
}

static void meetings(void *arg)
{
    (void)arg;
    struct side x = scene();
    for (int i = 0; i < MEETINGS; i++) {
        MPI_Comm inter;
        int one = 1, sum = 0;
        OK(meet(&x, &inter));
        talk(&x, inter);
        OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter));
        SIM_CHECK(sum == x.others);
        if (i == 1)
            together(inter, x.job);
        OK(MPI_Comm_disconnect(&inter));
    }
    OK(MPI_Comm_free(&x.c));
}

/* One process revokes what both jobs share; then they shrink it. */
static void revoked(void *arg)
{
    MPI_Comm inter, made;
    (void)arg;
    struct side x = scene();
    OK(meet(&x, &inter));
    if (boot_rank() == (int)(sim_seed() / 2 % (unsigned)boot_universe()))
        OK(MPIX_Comm_revoke(inter));
    else
        ERR(MPIX_ERR_REVOKED,
            MPI_Recv(NULL, 0, MPI_BYTE, (int)(sim_random() % (unsigned)x.others), 1, inter,
                     MPI_STATUS_IGNORE));
    int flag = x.job ? 6 : 3;
    OK(MPIX_Comm_agree(inter, &flag));
    SIM_CHECK(flag == (x.job ? 3 : 6));
    OK(MPIX_Comm_shrink(inter, &made));
    OK(MPI_Barrier(made));
    OK(MPI_Comm_free(&made));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&x.c));
}

/* --- with failures ------------------------------------------------------------------------- */

static int dies(const struct side *x)
{
    return x->rank > 0 && is_doomed(boot_rank(), boot_universe());
}

static void failed_or(int cls, int err)
{
    SIM_CHECK(!err || class_of(err) == MPIX_ERR_PROC_FAILED || class_of(err) == MPIX_ERR_REVOKED ||
              class_of(err) == cls);
}

/* Those that accept die, but the root, while it waits or after: each call ends. */
static void meeting_dies(void *arg)
{
    MPI_Comm inter;
    int one = 1, sum = 0;
    (void)arg;
    struct side x = scene();
    if (!x.job && dies(&x))
        sim_die_at(1 + (int)(sim_random() % (20u * (unsigned)x.size)));
    else if (x.job && sim_seed() % 2)
        sim_compute(400); /* the others wait at the port */
    int err = meet(&x, &inter);
    failed_or(MPI_ERR_PORT, err);
    if (err)
        OK(MPIX_Comm_revoke(x.c)); /* the root may wait at the port */
    if (!x.job && x.rank == 0)
        MPI_Close_port(port);
    if (!err) {
        int more = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
        failed_or(MPIX_ERR_PROC_FAILED, more);
        OK(MPI_Comm_free(&inter));
    }
    if (!x.job && dies(&x))
        sim_die();
    OK(MPI_Comm_free(&x.c));
}

/* What they share goes on without those that die. */
static void shrink_dies(void *arg)
{
    MPI_Comm inter;
    int fine = 0;
    (void)arg;
    struct side x = scene();
    OK(meet(&x, &inter));
    OK(MPI_Barrier(inter));
    if (dies(&x))
        sim_die_at(1 + (int)(sim_random() % (20u * (unsigned)boot_universe())));
    for (int i = 0; i < MEETINGS || !fine; i++) {
        int one = 1, sum = 0, remote;
        int err = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
        failed_or(MPIX_ERR_REVOKED, err);
        MPI_Comm_remote_size(inter, &remote);
        SIM_CHECK(err || sum == remote);
        if (i >= MEETINGS && dies(&x))
            sim_die();
        fine = mend(&inter, err);
    }
    if (dies(&x))
        sim_die();
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&x.c));
}

/* Rank 0 alone is one job. Of the other, one dies, and the other has called MPI_Finalize, without
 * having taken the message of a collective. */
static void left(void *arg)
{
    char *buf = calloc(1, LONG);
    MPI_Comm inter;
    MPI_Request r;
    (void)arg;
    struct side x = scene();
    OK(meet(&x, &inter));
    if (x.job && x.rank == 1) {
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, inter, MPI_STATUS_IGNORE));
        sim_die();
    }
    if (!x.job) {
        OK(MPI_Ibcast(buf, LONG, MPI_BYTE, MPI_ROOT, inter, &r));
        OK(MPI_Send(NULL, 0, MPI_BYTE, 1, 1, inter));
        while (sim_seed() % 4 && !the_sim->ranks[1].ended)
            sim_compute(1);
        ERR(MPIX_ERR_PROC_FAILED, MPI_Wait(&r, MPI_STATUS_IGNORE));
    }
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&x.c));
    free(buf);
}

static void look(void)
{
    int flag;
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    sim_compute(1);
}

/* The other job, whose processes begin there, has ended, and so have its connections: that is no
 * news. */
static void wait_for_end(const struct side *x, int from)
{
    for (int k = 0; k < x->others; k++)
        while (!the_sim->ranks[from + k].ended)
            look();
    for (int i = 0; i < 100; i++)
        look();
    for (int k = 0; k < x->others; k++)
        SIM_CHECK(boot_has_left(from + k) && !am_is_lost(proc->am, from + k));
    SIM_CHECK(boot_failed_count() == 0);
}

/* By a network. One job ends behind what it has sent, the other looks later: nothing is lost, and
 * no end is a failure. Each says that it ends to each of the other job that it has talked to, and
 * has its answer; or learns the same of it first. */
static void ends(void *arg)
{
    enum { MANY = 20, TOLD = AM_ENDS, SEEN = AM_ENDS_SEEN };
    MPI_Comm inter;
    (void)arg;
    struct side x = scene();
    int first = (int)(sim_seed() / 3 % 2), from = x.job ? 0 : x.size;
    OK(meet(&x, &inter));
    talk(&x, inter);
    SIM_CHECK(sim_sent(boot_rank(), TOLD) == 0);
    for (int i = 0; i < MANY && x.job == first; i++)
        for (int k = 0; k < x.others; k++)
            OK(MPI_Send(&i, 1, MPI_INT, k, i, inter));
    OK(MPI_Comm_free(&x.c));
    if (x.job == first && sim_seed() % 5 == 0) { /* both jobs end at one time */
        OK(MPI_Barrier(inter));
        OK(MPI_Comm_free(&inter));
        return;
    }
    if (x.job != first)
        sim_compute(1 + (int)(sim_random() % 3000));
    for (int i = 0; i < MANY && x.job != first; i++)
        for (int k = 0, got = -1; k < x.others; k++) {
            OK(MPI_Recv(&got, 1, MPI_INT, k, i, inter, MPI_STATUS_IGNORE));
            SIM_CHECK(got == i);
        }
    if (x.job != first && sim_seed() % 5 == 0)
        OK(MPI_Barrier(inter));
    OK(MPI_Comm_free(&inter));
    if (x.job == first || sim_seed() % 5 == 0)
        return;
    wait_for_end(&x, from);
    for (int k = 0; k < x.others; k++)
        SIM_CHECK(sim_sent(from + k, TOLD) == x.size && sim_received(from + k, SEEN) == x.size);
    SIM_CHECK(sim_received(boot_rank(), TOLD) == x.others && sim_sent(boot_rank(), TOLD) == 0);
    SIM_CHECK(sim_sent(boot_rank(), SEEN) == x.others);
}

/* The others end while this job computes for longer than they wait for an answer. When it looks
 * none has failed: each was told, however little room there was. */
static void silent(void *arg)
{
    MPI_Comm inter;
    (void)arg;
    struct side x = scene();
    int sent = (int)(sim_seed() % 2), mine = boot_rank();
    OK(meet(&x, &inter));
    talk(&x, inter);
    for (int k = 0; k < x.others && x.job && sent; k++)
        OK(MPI_Send(&mine, 1, MPI_INT, k, 2, inter));
    if (!x.job) {
        sim_compute(5000);
        the_sim->step += 6 * SECOND;
        sim_compute(5000);
    }
    for (int k = 0, got = -1; k < x.others && !x.job; k++) {
        if (sent) {
            OK(MPI_Recv(&got, 1, MPI_INT, k, 2, inter, MPI_STATUS_IGNORE));
            SIM_CHECK(got == x.size + k);
        }
        for (; !boot_has_left(x.size + k); look())
            SIM_CHECK(!am_is_lost(proc->am, x.size + k) && !boot_failed(x.size + k));
    }
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&x.c));
    if (x.job)
        return;
    wait_for_end(&x, x.size);
    for (int k = 0; k < x.others; k++)
        SIM_CHECK(sim_sent(x.size + k, AM_ENDS) == x.size);
}

/* Rank 2 is a job. While it waits for the answer of rank 0, rank 1 talks to it for the first time,
 * and is told, too. */
static void newcomer(void *arg)
{
    MPI_Comm inter;
    (void)arg;
    struct side x = scene();
    static int computes;
    if (x.job)
        computes = 0;
    OK(meet(&x, &inter));
    if (x.job) {
        while (!computes)
            sim_compute(1);
        SIM_CHECK(!am_peer_known(1));
    } else if (x.rank) {
        while (!sim_sent(2, AM_ENDS))
            sim_compute(1);
        OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 1, inter)); /* it will not be received */
        for (; !boot_has_left(2); look())
            SIM_CHECK(!am_is_lost(proc->am, 2) && !boot_failed(2));
        SIM_CHECK(sim_sent(2, AM_ENDS) == 2);
    } else {
        computes = 1;
        while (!map_get(&the_sim->ranks[2].proc->am->peers, 1))
            sim_compute(1);
    }
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&x.c));
}

static int asked[SIM_RANKS], answered[SIM_RANKS];

static int on_silence(int src, const void *msg, size_t len)
{
    asked[boot_rank()]++;
    return 0;
}

static int on_asked(int src, const void *msg, size_t len)
{
    asked[boot_rank()]++;
    return am_reply(src, AM_TEST + 1, NULL, 0);
}

static int on_answer(int src, const void *msg, size_t len)
{
    answered[boot_rank()]++;
    return 0;
}

/* Answers that have found no room leave before the word that their process ends. Of those that it
 * owes at its end the room is free again. */
static void owed(void *arg)
{
    enum { OWED = 3, ANSWERED = 20, ALL = OWED + ANSWERED };
    MPI_Comm inter;
    (void)arg;
    struct side x = scene();
    int me = boot_rank(), err;
    asked[me] = answered[me] = 0;
    am_handler(AM_TEST, on_asked);
    am_reply_handler(AM_TEST + 1, on_answer);
    am_handler(AM_TEST + 2, on_silence);
    OK(meet(&x, &inter));
    for (int i = 0; i < ALL && !x.job; i++) {
        while ((err = am_request(1, i < OWED ? AM_TEST + 2 : AM_TEST, NULL, 0, 1)) == AM_AGAIN)
            look();
        SIM_CHECK(!err);
    }
    while (x.job && asked[me] < ALL)
        look();
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&x.c));
    if (x.job)
        return;
    while (!the_sim->ranks[1].ended) {
        SIM_CHECK(!sim_sent(1, AM_ENDS) || sim_sent(1, AM_TEST + 1) == ANSWERED);
        look();
    }
    wait_for_end(&x, 1);
    const struct am_tp *t = am_peer_known(1)->t;
    SIM_CHECK(answered[me] == ANSWERED && t->credits == t->caps.replies);
}

static void one_and_two(struct sim_knobs *k)
{
    k->second = 1;
}
static void two_and_more(struct sim_knobs *k)
{
    k->second = 2;
}
static void far_two(struct sim_knobs *k)
{
    k->second = 2;
    k->far = SIM_FAR;
    k->ordered = 1;
    k->native = 0;
}
static void far_silent(struct sim_knobs *k)
{
    far_two(k);
    k->far = SIM_FAR_KEEPS;
    k->replies = 1;
    k->inbox = 1 + (int)(k->seed / 2 % 3);
}
static void far_owed(struct sim_knobs *k)
{
    far_silent(k);
    k->second = 1;
    k->replies = 0;
    k->again_percent = 60;
}
static void mortal_one(struct sim_knobs *k)
{
    scenario_cvar("MPIR_CVAR_P2P_EAGER_MAX", "1024"); /* else the message is no rendezvous */
    mortal(k);
    one_and_two(k);
}
static void mortal_three(struct sim_knobs *k)
{
    mortal(k);
    k->second = 3;
}

const struct scenario scenarios_jobs[] = {
    {"jobs-meet-3", 3, 1, meetings, NULL, one_and_two},
    {"jobs-meet-5", 5, 1, meetings, NULL, two_and_more},
    {"jobs-revoked-3", 3, 1, revoked, NULL, one_and_two},
    {"jobs-revoked-6", 6, 1, revoked, NULL, two_and_more},
    {"jobs-meeting-dies-5", 5, 1, meeting_dies, NULL, mortal_three},
    {"jobs-meeting-dies-7", 7, 1, meeting_dies, NULL, mortal_three},
    {"jobs-shrink-dies-5", 5, 1, shrink_dies, NULL, mortal_three},
    {"jobs-left-3", 3, 1, left, NULL, mortal_one},
    {"jobs-ends-3", 3, 1, ends, NULL, far_two},
    {"jobs-ends-5", 5, 1, ends, NULL, far_two},
    {"jobs-ends-silent-4", 4, 1, silent, NULL, far_silent},
    {"jobs-ends-silent-5", 5, 1, silent, NULL, far_silent},
    {"jobs-ends-newcomer-3", 3, 1, newcomer, NULL, far_two},
    {"jobs-ends-owed-2", 2, 1, owed, NULL, far_owed},
    {"jobs-far-5", 5, 1, meetings, NULL, far_two},
    {NULL, 0, 0, NULL, NULL, NULL},
};

/* ulfm.c - agreement and the communicator of the living, while members die at any step: all that
 * end a call, also those that die later, get one result. */
#include "doom.h"
#include "ulfm.h"

enum { ROUNDS = 6, ALL_BITS = 0x3fffffff };

/* Ranks are fibers of one process: what the first one that ended call i got. */
static struct {
    struct { int set, flag, err, size; unsigned sum; } got[ROUNDS + 2];
    int in[ROUNDS][SIM_RANKS]; /* contributed */
} seen;

static void scene(int *rank, int *size)
{
    scene_of(rank, size, &seen, sizeof seen);
}

static void one_result(int i, int flag, int err, int size, unsigned sum)
{
    if (!seen.got[i].set) {
        seen.got[i].set = 1;
        seen.got[i].flag = flag;
        seen.got[i].err = err;
        seen.got[i].size = size;
        seen.got[i].sum = sum;
    }
    SIM_CHECK(seen.got[i].flag == flag && seen.got[i].err == err);
    SIM_CHECK(seen.got[i].size == size && seen.got[i].sum == sum);
}

/* Bits that all of those have set that live now, and those that all have set. */
static void bounds(int i, int size, int *least, int *most)
{
    *least = *most = ALL_BITS;
    for (int r = 0; r < size; r++) {
        *least &= seen.in[i][r];
        if (!boot_failed(r))
            *most &= seen.in[i][r];
    }
}

/* --- without a failure -------------------------------------------------------- */

static long sent_all(int size)
{
    long n = 0;
    for (int r = 0; r < size; r++)
        n += sim_sent(r, AM_COLL + COLL_PKT_AGREE);
    return n;
}

/* Four messages for each process but one; each has at most log2(P) children in the tree. */
static void exactly(void *arg)
{
    int rank, size, children = 0;
    (void)arg;
    scene(&rank, &size);
    while (rank + (1 << children) < size && !(rank & ((1 << (children + 1)) - 1)))
        children++;
    for (int i = 0; i < 4; i++) {
        long before = sim_sent(rank, AM_COLL + COLL_PKT_AGREE);
        int flag = ~(1 << rank);
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPIX_Comm_agree(MPI_COMM_WORLD, &flag));
        SIM_CHECK(flag == -(1 << size));
        MPI_Barrier(MPI_COMM_WORLD);
        SIM_CHECK(sim_sent(rank, AM_COLL + COLL_PKT_AGREE) - before ==
                  2 * children + (rank ? 2 : 0));
        SIM_CHECK(sent_all(size) == 4L * (size - 1) * (i + 1));
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* With requests: several under way at once, on two communicators, waited for from the last on. They
 * take effect in their order, and cost as many messages. */
static void later_exactly(void *arg)
{
    int rank, size, n, flag[ROUNDS];
    MPI_Comm made = MPI_COMM_WORLD, other;
    MPI_Request r[ROUNDS + 1];
    (void)arg;
    scene(&rank, &size);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    for (int i = 0; i < ROUNDS; i++) {
        if (i == ROUNDS / 2)
            OK(MPIX_Comm_ishrink(MPI_COMM_WORLD, &made, &r[ROUNDS]));
        flag[i] = ~(1 << rank) << i % 3;
        OK(MPIX_Comm_iagree(i % 2 ? other : MPI_COMM_WORLD, &flag[i], &r[i]));
    }
    OK(MPI_Comm_free(&other)); /* when its agreements have ended */
    for (int i = ROUNDS; i-- > 0;) {
        OK(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
        SIM_CHECK(flag[i] == -(1 << size) << i % 3);
    }
    SIM_CHECK(made != MPI_COMM_NULL && made != MPI_COMM_WORLD); /* later ones have ended */
    OK(MPI_Wait(&r[ROUNDS], MPI_STATUS_IGNORE));
    MPI_Comm_size(made, &n);
    SIM_CHECK(n == size);
    OK(MPI_Barrier(made));
    SIM_CHECK(sent_all(size) == 4L * (size - 1) * (ROUNDS + 1));
    OK(MPI_Barrier(made));
    MPI_Comm_free(&made);
}

/* Between two groups each gets the other's bits. */
static void across(void *arg)
{
    int rank, size, flag, n;
    MPI_Comm half, inter, made;
    (void)arg;
    scene(&rank, &size);
    int high = rank >= size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, high, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, high ? 0 : size / 2, 1, &inter);
    flag = high ? 6 : 3;
    OK(MPIX_Comm_agree(inter, &flag));
    SIM_CHECK(flag == (high ? 3 : 6));
    OK(MPIX_Comm_shrink(inter, &made));
    MPI_Comm_remote_size(made, &n);
    SIM_CHECK(n == (high ? size / 2 : size - size / 2));
    OK(MPI_Barrier(made));
    MPI_Comm_free(&made);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* --- with failures ------------------------------------------------------------- */

/* Each round on a communicator of its own or on one of all, freed at once or not. */
static void agree_dies(void *arg)
{
    MPI_Comm c[ROUNDS];
    int rank, size, own = sim_seed() % 3 == 0;
    (void)arg;
    scene(&rank, &size);
    for (int i = 0; i < ROUNDS; i++) {
        c[i] = MPI_COMM_WORLD;
        if (own)
            OK(MPI_Comm_dup(MPI_COMM_WORLD, &c[i]));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    maybe_doom(rank, size);
    for (int i = 0; i < ROUNDS; i++) {
        int flag = seen.in[i][rank] = (int)(sim_random() & ALL_BITS) | 1 << (i + 3), least, most;
        if (sim_random() % 3 == 0)
            sim_compute((int)(sim_random() % 200));
        int err = class_of(MPIX_Comm_agree(c[i], &flag));
        SIM_CHECK(err == MPI_SUCCESS || err == MPIX_ERR_PROC_FAILED);
        bounds(i, size, &least, &most);
        SIM_CHECK((flag & least) == least && !(flag & ~most));
        one_result(i, flag, err, 0, 0);
        if (own)
            MPI_Comm_free(&c[i]);
        else if (err)
            OK(MPIX_Comm_failure_ack(c[i]));
    }
    end_doomed(rank, size);
}

static unsigned sum_of(MPI_Comm c)
{
    MPI_Group all, g;
    unsigned sum = 1;
    int n;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(c, &g);
    MPI_Group_size(g, &n);
    for (int i = 0, r; i < n; i++) {
        MPI_Group_translate_ranks(g, 1, &i, all, &r);
        sum = sum * 31 + (unsigned)r;
    }
    MPI_Group_free(&g);
    MPI_Group_free(&all);
    return sum;
}

static void shrink_dies(void *arg)
{
    MPI_Comm c = MPI_COMM_WORLD, made;
    int rank, size, n;
    (void)arg;
    scene(&rank, &size);
    maybe_doom(rank, size);
    for (int i = 0; i < ROUNDS; i++) {
        int one = 1, sum = 0;
        OK(MPIX_Comm_shrink(c, &made));
        MPI_Comm_size(made, &n);
        one_result(i, 0, 0, n, sum_of(made));
        int err = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made);
        SIM_CHECK(err ? class_of(err) == MPIX_ERR_PROC_FAILED : sum == n);
        if (c != MPI_COMM_WORLD)
            MPI_Comm_free(&c);
        c = made;
    }
    end_doomed(rank, size);
    while (!is_doomed(rank, size)) { /* in the end it is of the living only */
        int one = 1, sum = 0, flag = 1, living = 0;
        for (int r = 0; r < size; r++)
            living += !is_doomed(r, size);
        OK(MPIX_Comm_shrink(c, &made));
        MPI_Comm_free(&c);
        c = made;
        int err = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c);
        SIM_CHECK(err || sum >= living);
        flag = !err && sum == living;
        err = MPIX_Comm_agree(c, &flag);
        if (!err && flag)
            break;
    }
    MPI_Comm_free(&c);
}

/* With requests, which are all under way when members die. */
static void later_dies(void *arg)
{
    int rank, size, n, flag[ROUNDS];
    MPI_Comm made[2];
    MPI_Request r[ROUNDS + 2];
    (void)arg;
    scene(&rank, &size);
    MPI_Comm c = copy_of(MPI_COMM_WORLD);
    MPI_Barrier(c);
    maybe_doom(rank, size);
    for (int i = 0; i < ROUNDS; i++) {
        flag[i] = seen.in[i][rank] = (int)(sim_random() & ALL_BITS) | 1 << (i + 3);
        OK(MPIX_Comm_iagree(i % 2 ? c : MPI_COMM_WORLD, &flag[i], &r[i]));
        if (sim_random() % 3 == 0)
            sim_compute((int)(sim_random() % 200));
    }
    OK(MPIX_Comm_ishrink(c, &made[0], &r[ROUNDS]));
    OK(MPIX_Comm_ishrink(MPI_COMM_WORLD, &made[1], &r[ROUNDS + 1]));
    OK(MPI_Comm_free(&c));
    for (int k = 0, i = (int)(sim_random() % ROUNDS); k < ROUNDS; k++, i = (i + 1) % ROUNDS) {
        int err = class_of(MPI_Wait(&r[i], MPI_STATUS_IGNORE)), least, most;
        SIM_CHECK(err == MPI_SUCCESS || err == MPIX_ERR_PROC_FAILED);
        bounds(i, size, &least, &most);
        SIM_CHECK((flag[i] & least) == least && !(flag[i] & ~most));
        one_result(i, flag[i], err, 0, 0);
    }
    for (int k = 0; k < 2; k++) {
        OK(MPI_Wait(&r[ROUNDS + k], MPI_STATUS_IGNORE));
        MPI_Comm_size(made[k], &n);
        one_result(ROUNDS + k, 0, 0, n, sum_of(made[k]));
        MPI_Comm_free(&made[k]);
    }
    end_doomed(rank, size);
}

/* --- what is acknowledged ------------------------------------------------------- */

/* A receive from any process is suspended until the failure is acknowledged, and takes its message
 * then. */
static void acked(void *arg)
{
    int rank, size, n, got = 0, flag = 1;
    MPI_Request r;
    MPI_Group g;
    (void)arg;
    scene(&rank, &size);
    if (rank == 2) {
        hear(0);
        sim_die();
    }
    if (rank == 1) {
        hear(0);
        n = 17;
        OK(MPI_Send(&n, 1, MPI_INT, 0, 3, MPI_COMM_WORLD));
        ERR(MPIX_ERR_PROC_FAILED, MPIX_Comm_agree(MPI_COMM_WORLD, &flag));
        OK(MPIX_Comm_failure_ack(MPI_COMM_WORLD));
        OK(MPIX_Comm_agree(MPI_COMM_WORLD, &flag));
        return;
    }
    int before = sim_seed() % 2;
    if (before)
        OK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &r));
    OK(MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &g));
    MPI_Group_size(g, &n);
    SIM_CHECK(n == 0);
    MPI_Group_free(&g);
    tell(2);
    hear_of_death(2);
    if (!before)
        OK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &r));
    for (int i = 0; i < 2; i++) {
        ERR(MPIX_ERR_PROC_FAILED_PENDING, MPI_Wait(&r, MPI_STATUS_IGNORE));
        SIM_CHECK(r != MPI_REQUEST_NULL);
        ERR(MPIX_ERR_PROC_FAILED,
            MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    OK(MPIX_Comm_failure_ack(MPI_COMM_WORLD));
    OK(MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &g));
    MPI_Group_size(g, &n);
    SIM_CHECK(n == 1);
    MPI_Group_free(&g);
    OK(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
    SIM_CHECK(!flag);
    tell(1);
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    SIM_CHECK(got == 17 && r == MPI_REQUEST_NULL);
    flag = 1;
    ERR(MPIX_ERR_PROC_FAILED, MPIX_Comm_agree(MPI_COMM_WORLD, &flag)); /* rank 1 has not */
    OK(MPIX_Comm_agree(MPI_COMM_WORLD, &flag));
}

static int failed_size(int (*get)(MPI_Comm, MPI_Group *), MPI_Comm c, int *world)
{
    MPI_Group g, all;
    int n;
    OK(get(c, &g));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    MPI_Group_size(g, &n);
    for (int i = 0; i < n; i++)
        MPI_Group_translate_ranks(g, 1, &i, all, &world[i]);
    MPI_Group_free(&all);
    MPI_Group_free(&g);
    return n;
}

/* Two die. The list grows at its end, in the same order on each communicator; a receive from any
 * process goes on when both are acknowledged. */
static void listed(void *arg)
{
    int rank, size, n, flag, first[SIM_RANKS], both[SIM_RANKS];
    MPI_Request r;
    MPI_Comm c, few;
    (void)arg;
    scene(&rank, &size);
    c = copy_of(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 3, 0, &few); /* without rank 3 */
    MPI_Comm_set_errhandler(few, MPI_ERRORS_RETURN);
    if (rank == 1 || rank == 2) {
        hear(0);
        sim_die();
    }
    if (rank == 3) {
        hear(0);
        OK(MPI_Send(&rank, 1, MPI_INT, 0, 3, c));
        return;
    }
    OK(MPI_Irecv(&n, 1, MPI_INT, MPI_ANY_SOURCE, 3, c, &r));
    SIM_CHECK(failed_size(MPIX_Comm_get_failed, c, first) == 0);
    OK(MPI_Comm_ack_failed(c, 2, &n));
    SIM_CHECK(n == 0); /* of failures to come, none */
    for (int i = 1; i <= 2; i++) {
        tell(3 - i);
        hear_of_death(3 - i);
        SIM_CHECK(failed_size(MPI_Comm_get_failed, c, both) == i && both[i - 1] == 3 - i);
        SIM_CHECK(failed_size(MPI_Comm_get_failed, few, both) == i && both[0] == 2);
        ERR(MPIX_ERR_PROC_FAILED_PENDING, MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
    }
    ERR(MPI_ERR_ARG, MPIX_Comm_ack_failed(c, -1, &n));
    OK(MPIX_Comm_ack_failed(c, 1, &n));
    SIM_CHECK(n == 1 && failed_size(MPIX_Comm_failure_get_acked, c, first) == 1 && first[0] == 2);
    ERR(MPIX_ERR_PROC_FAILED_PENDING, MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
    OK(MPIX_Comm_ack_failed(c, 0, &n));
    SIM_CHECK(n == 1); /* it stays so */
    OK(MPI_Comm_ack_failed(c, 2, &n));
    SIM_CHECK(n == 2 && failed_size(MPIX_Comm_failure_get_acked, c, both) == 2 && both[1] == 1);
    SIM_CHECK(failed_size(MPIX_Comm_failure_get_acked, few, both) == 0);
    OK(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
    SIM_CHECK(!flag);
    tell(3);
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

/* --- orders that chance does not bring -------------------------------------------- */

/* From the time when it has got and sent so many messages of agreements, what it sends of them
 * stays under way. */
struct mute {
    struct progress_hook hook;
    int rank, size;
    long got, sent;
};

static int mute_look(void *arg)
{
    struct mute *m = arg;
    if (sim_received(m->rank, AM_COLL + COLL_PKT_AGREE) < m->got ||
        sim_sent(m->rank, AM_COLL + COLL_PKT_AGREE) < m->sent)
        return 0;
    progress_hook_del(&m->hook);
    for (int r = 0; r < m->size; r++)
        if (r != m->rank)
            sim_hold(AM_COLL + COLL_PKT_AGREE, m->rank, r);
    return 0;
}

static void mute_set(struct mute *m, int rank, int size, long got, long sent)
{
    *m = (struct mute){.hook = {.fn = mute_look, .arg = m}, .rank = rank, .size = size,
                       .got = got, .sent = sent};
    progress_hook_add(&m->hook);
    mute_look(m);
}

/* The root returns with what all have accepted, and dies; no other has heard its DECIDE. */
static void decided(void *arg)
{
    int rank, size;
    struct mute mute;
    (void)arg;
    scene(&rank, &size);
    int flag = rank ? 3 : 2;
    if (!rank)
        mute_set(&mute, rank, size, 2 + 1, 2); /* UP of both, ACK of one; ACCEPT to both */
    int err = class_of(MPIX_Comm_agree(MPI_COMM_WORLD, &flag));
    one_result(0, flag, err, 0, 0);
    SIM_CHECK(flag == 2);
    if (!rank)
        sim_die();
}

/* A coordinator that no other member hears any more does not return. */
static void unheard(void *arg)
{
    int rank, size;
    struct mute mute;
    struct doom doom;
    (void)arg;
    scene(&rank, &size);
    if (!rank)
        sim_die();
    hear_of_death(0);
    int flag = rank == 1 ? 2 : 3;
    if (rank == 1) {
        mute_set(&mute, rank, size, 0, 0);
        doom_set(&doom, 200);
    }
    int err = class_of(MPIX_Comm_agree(MPI_COMM_WORLD, &flag));
    one_result(0, flag, err, 0, 0);
    while (rank == 1)
        turn();
}

/* --- windows ---------------------------------------------------------------------- */

/* A member dies while a window is made: each other one returns, with the window or that error. */
static void window_dies(void *arg)
{
    int rank, size, err = MPI_SUCCESS;
    long *mem;
    MPI_Win win;
    (void)arg;
    scene(&rank, &size);
    if (is_doomed(rank, size))
        sim_die_at(1 + (int)(sim_random() % (30u * (unsigned)size)));
    for (int i = 0; i < ROUNDS && !err; i++) {
        err = MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
        if (err)
            ERR(MPIX_ERR_PROC_FAILED, err);
        else
            MPI_Win_free(&win);
    }
    end_doomed(rank, size);
}

const struct scenario scenarios_ulfm[] = {
    {"ulfm-counts-2", 2, 1, exactly, NULL, NULL},
    {"ulfm-counts-8", 8, 1, exactly, NULL, NULL},
    {"ulfm-counts-13", 13, 1, exactly, NULL, NULL},
    {"ulfm-across-5", 5, 1, across, NULL, NULL},
    {"ulfm-agree-dies-3", 3, 1, agree_dies, NULL, mortal},
    {"ulfm-agree-dies-5", 5, 1, agree_dies, NULL, mortal},
    {"ulfm-agree-dies-9", 9, 1, agree_dies, NULL, mortal},
    {"ulfm-shrink-dies-4", 4, 1, shrink_dies, NULL, mortal},
    {"ulfm-shrink-dies-7", 7, 1, shrink_dies, NULL, mortal},
    {"ulfm-window-dies-4", 4, 1, window_dies, NULL, mortal},
    {"ulfm-window-dies-7", 7, 1, window_dies, NULL, mortal},
    {"ulfm-decided-3", 3, 1, decided, NULL, mortal},
    {"ulfm-unheard-3", 3, 1, unheard, NULL, mortal},
    {"ulfm-acked", 3, 1, acked, NULL, mortal},
    {"ulfm-listed", 4, 1, listed, NULL, mortal},
    {"ulfm-later-1", 1, 1, later_exactly, NULL, NULL},
    {"ulfm-later-2", 2, 1, later_exactly, NULL, NULL},
    {"ulfm-later-9", 9, 1, later_exactly, NULL, NULL},
    {"ulfm-later-dies-4", 4, 1, later_dies, NULL, mortal},
    {"ulfm-later-dies-8", 8, 1, later_dies, NULL, mortal},
    {NULL, 0, 0, NULL, NULL, NULL},
};

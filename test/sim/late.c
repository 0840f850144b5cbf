/* late.c - ids that come again: what is late from a freed window or communicator meets another one
 * with its number. The counters of ids have few bits here (few_ids), so a number is soon used
 * again, in the next round. */
#include "coll/coll_types.h"
#include "p2p/p2p_types.h"
#include "scripted.h"

enum { LONGS = 64 }; /* in a window */

/* Before the first communicator or window is made.  Rank 0 has 2^bits - 2 numbers of its own. */
static void few_ids(int bits)
{
    proc->coll->ctx_bits = bits;
}

static uint32_t number_of(MPI_Win win)
{
    return (uint32_t)inside(win)->id;
}

static struct job job_over(MPI_Comm c)
{
    struct job j = {.comm = c};
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Comm_rank(c, &j.rank);
    MPI_Comm_size(c, &j.size);
    OK(MPI_Win_allocate(LONGS * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL, c, &j.mem,
                        &j.win));
    OK(MPI_Win_set_errhandler(j.win, MPI_ERRORS_RETURN));
    memset(j.mem, 0, LONGS * sizeof(long));
    OK(MPI_Barrier(c));
    return j;
}

/* The next window over c that has this number; those between are freed. */
static struct job job_again(MPI_Comm c, uint32_t number)
{
    for (;;) {
        struct job j = job_over(c);
        if (number_of(j.win) == number)
            return j;
        OK(MPI_Win_free(&j.win));
    }
}

/* Out of MPI until that is so. */
#define UNTIL(cond)         \
    while (!(cond))         \
        sim_compute(1)
/* In MPI. */
#define TURN_UNTIL(cond)    \
    while (!(cond))         \
        turn()

static long late(void)
{
    return (long)atomic_load_explicit(&pvar_proc()->v[PVAR_RMA_LATE], memory_order_relaxed);
}

static void put_all(const struct job *j, const long *v, int rank)
{
    OK(MPI_Put(v, LONGS, MPI_LONG, rank, 0, LONGS, MPI_LONG, j->win));
}

static int state_of_key(const struct job *j, int rank)
{
    const struct rma_key *k = rma_key_find(inside(j->win), rank);
    return k ? (int)k->state : KEY_NEW;
}

/* To rank 1, where it is locked: there may be no room for the question. */
static void ask_for_key(const struct job *j, const long *v)
{
    do {
        put_all(j, v, 1);
        OK(MPI_Win_flush(1, j->win));
    } while (state_of_key(j, 1) == KEY_NEW);
}

/* A get whose native operation stays under way; its request. */
static MPI_Request get_held(const struct job *j, long *to, int rank, int process)
{
    MPI_Request r;
    int flag = 0;
    OK(MPI_Rget(to, LONGS, MPI_LONG, rank, 0, LONGS, MPI_LONG, j->win, &r));
    while (!sim_held(SIM_NATIVE_OPS, process)) {
        OK(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
        sim_compute(1);
    }
    SIM_CHECK(!flag);
    return r;
}

/* --- a key of a freed window ------------------------------ */

/* MPI_Win_free does not wait for the answer to KEY_ASK.  The key names memory that is gone. */
static void late_key(void *arg)
{
    enum { KEY = AM_RMA + RMA_PKT_KEY, KEY_ASK = AM_RMA + RMA_PKT_KEY_ASK };
    long v[LONGS], *all[2];
    (void)arg;
    few_ids(2);
    struct job j = job_over(MPI_COMM_WORLD);
    uint32_t number = number_of(j.win);
    for (int i = 0; i < LONGS; i++)
        v[i] = i + 1;
    if (j.rank == 0) {
        sim_hold(KEY, 1, 0);
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j.win));
        ask_for_key(&j, v);
        OK(MPI_Win_unlock(1, j.win));
        TURN_UNTIL(sim_held(KEY, 0) == 1);
        sim_hold(KEY_ASK, 0, 1);
    }
    OK(MPI_Win_free(&j.win));
    j = job_again(MPI_COMM_WORLD, number);
    MPI_Allgather(&j.mem, sizeof j.mem, MPI_BYTE, all, sizeof j.mem, MPI_BYTE, MPI_COMM_WORLD);
    if (j.rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j.win));
        ask_for_key(&j, v);
        SIM_CHECK(state_of_key(&j, 1) == KEY_ASKED);
        sim_let_go(KEY, 0);
        TURN_UNTIL(sim_received(0, KEY) == 1);
        SIM_CHECK(late() == 1 && state_of_key(&j, 1) == KEY_ASKED);
        for (int i = 0; i < LONGS; i++)
            v[i] = 2 * i + 1;
        put_all(&j, v, 1);
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(!memcmp(all[1], v, sizeof v));
        sim_let_go(KEY_ASK, 1);
        TURN_UNTIL(sim_received(0, KEY) == 2);
        SIM_CHECK(state_of_key(&j, 1) == KEY_READY);
        OK(MPI_Win_unlock(1, j.win));
        tell(1);
    } else {
        hear(0);
    }
    OK(MPI_Win_free(&j.win));
}

/* --- leaving after a failure ------------------------------ */

/* While both free a window, this message between two ranks is late. */
enum { ASK = AM_RMA + RMA_PKT_FREEING_ASK, FREEING = AM_RMA + RMA_PKT_FREEING };

/* The processes of the world but `rank`. */
static MPI_Comm without(int rank)
{
    MPI_Group all, living;
    MPI_Comm rest;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, 1, &rank, &living);
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, living, 0, &rest));
    MPI_Group_free(&living);
    MPI_Group_free(&all);
    MPI_Comm_set_errhandler(rest, MPI_ERRORS_RETURN);
    return rest;
}

/* Free j's window, of which rank 3 is dead; a packet of rank 1 to rank 0 stays under way. */
static void free_held(struct job *j, MPI_Comm rest, int type)
{
    sim_hold(ASK, type == FREEING ? 0 : 1, type == FREEING ? 1 : 0);
    OK(MPI_Barrier(rest));
    if (j->rank == 2 && type == FREEING) { /* both ask, and neither needs the other's answer */
        UNTIL(sim_received(0, ASK) > 0);
        sim_hold(FREEING, 1, 0);
        sim_let_go(ASK, 1);
    } else if (type == ASK && j->rank == 0) {
        UNTIL(sim_held(ASK, 0) > 0);
    } else if (type == FREEING && j->rank == 0) {
        tell(1);
    } else if (type == FREEING) {
        hear(0);
        UNTIL(sim_held(ASK, 1) > 0);
    }
    OK(MPI_Win_free(&j->win));
    TURN_UNTIL(sim_held(type, 0) > 0);
    OK(MPI_Barrier(rest));
    sim_hold(-1, 0, 0);
}

/* Rank 1 is in an epoch on rank 0, which is in MPI_Win_free, when the late packets arrive there. */
static void late_epoch(const struct job *j, MPI_Comm rest, int type, const struct rma_win *of_0)
{
    int held = sim_held(type, 0);
    long v = 7, came = sim_received(0, type);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, j->win));
    put1(j, &v, 0, 0);
    OK(MPI_Win_flush(0, j->win));
    OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 8, rest));
    if (type == FREEING)
        UNTIL(of_0->free.peer == 1);
    sim_let_go(type, 0);
    UNTIL(sim_received(0, type) >= came + held);
    for (int i = 0; i < 5; i++) {
        put1(j, &v, 0, i);
        OK(MPI_Win_flush(0, j->win));
    }
    OK(MPI_Win_unlock(0, j->win));
}

/* Rank 3 dies, and the others free their window. In the next one of its number rank 2 dies. Rank 0
 * frees it while rank 1 is still in an epoch on rank 0: that is waited for. */
static void late_leave(int type)
{
    static const struct rma_win *of_0; /* rank 0's record */
    few_ids(3);
    struct job j = job_of_mortals(LONGS);
    uint32_t number = number_of(j.win);
    if (j.rank == 3)
        sim_die();
    hear_of_death(3);
    MPI_Comm rest = without(3);
    free_held(&j, rest, type);
    j = job_again(rest, number);
    if (j.rank == 0)
        of_0 = inside(j.win);
    if (j.rank == 2) { /* when the others are out of the creation */
        for (int i = 0; i < 2; i++)
            OK(MPI_Recv(NULL, 0, MPI_BYTE, i, 9, rest, MPI_STATUS_IGNORE));
        sim_die();
    }
    OK(MPI_Send(NULL, 0, MPI_BYTE, 2, 9, rest));
    hear_of_death(2);
    if (j.rank == 1) {
        late_epoch(&j, rest, type, of_0);
    } else {
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 8, rest, MPI_STATUS_IGNORE));
        if (type == ASK) {
            TURN_UNTIL(late() > 0 && !sim_held(ASK, 0));
            SIM_CHECK(!rma_is_freeing(inside(j.win), 1));
        }
    }
    OK(MPI_Win_free(&j.win));
    MPI_Comm_free(&rest);
}

static void late_left(void *arg)
{
    (void)arg;
    late_leave(FREEING);
}

static void late_left_ask(void *arg)
{
    (void)arg;
    late_leave(ASK);
}

/* --- what a dead process has sent ------------------------------------------------------------ */

/* Rank 3's part: one packet of that type to rank 0, which stays under way when it dies. */
static void send_and_die(const struct job *j, int type)
{
    long v = 9;
    int zero = 0;
    MPI_Group all, g;
    if (type == AM_RMA + RMA_PKT_ACK)
        hear(0); /* its lock is granted */
    sim_hold(type, 3, 0);
    if (type == AM_RMA + RMA_PKT_ACK)
        tell(0);
    if (type == AM_RMA + RMA_PKT_PUT) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, j->win));
        put1(j, &v, 0, 5); /* leaves by its age */
    } else if (type == AM_RMA + RMA_PKT_POST) {
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Group_incl(all, 1, &zero, &g);
        OK(MPI_Win_post(g, 0, j->win));
    }
    TURN_UNTIL(sim_held(type, 0) == 1); /* an answer: rank 0 asks */
    sim_die();
}

/* The packet arrives in the next window of the number, of which rank 3 is no member. */
static void late_of_dead(int type)
{
    long v = 4, before;
    few_ids(3);
    struct job j = job_of_mortals(LONGS);
    uint32_t number = number_of(j.win);
    if (j.rank == 3)
        send_and_die(&j, type);
    if (j.rank == 0 && type == AM_RMA + RMA_PKT_ACK) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 3, 0, j.win));
        put1(&j, &v, 3, 0);
        OK(MPI_Win_flush(3, j.win));
        tell(3);
        hear(3);
        put1(&j, &v, 3, 1);
        ERR(MPIX_ERR_PROC_FAILED, MPI_Win_flush(3, j.win));
        (void)MPI_Win_unlock(3, j.win);
    }
    hear_of_death(3);
    MPI_Comm rest = without(3);
    OK(MPI_Barrier(rest));
    (void)MPI_Win_free(&j.win);
    j = job_again(rest, number);
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(0, j.win));
        put1(&j, &v, 1, 3);
        before = late();
        SIM_CHECK(sim_held(type, 0) == 1);
        sim_let_go(type, 0);
        TURN_UNTIL(late() == before + 1);
        OK(MPI_Win_flush_all(j.win));
        OK(MPI_Win_unlock_all(j.win));
    }
    OK(MPI_Barrier(rest));
    for (int i = 0; i < LONGS; i++)
        SIM_CHECK(j.mem[i] == (j.rank == 1 && i == 3 ? v : 0));
    SIM_CHECK(inside(j.win)->access.posts.count == 0);
    OK(MPI_Win_free(&j.win));
    MPI_Comm_free(&rest);
}

static void late_put(void *arg)
{
    (void)arg;
    late_of_dead(AM_RMA + RMA_PKT_PUT);
}

static void late_post(void *arg)
{
    (void)arg;
    late_of_dead(AM_RMA + RMA_PKT_POST);
}

static void late_ack(void *arg)
{
    (void)arg;
    late_of_dead(AM_RMA + RMA_PKT_ACK);
}

/* --- the network's answer for an operation that is not awaited any more ---------------------- */

/* A get of rank 0 from rank 1 stays under way until rank 1 is dead and it is given up; its id. */
static uint32_t get_lost(const struct job *j, long *buf)
{
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j->win));
    do { /* the first asks for the key */
        OK(MPI_Get(buf, LONGS, MPI_LONG, 1, 0, LONGS, MPI_LONG, j->win));
        OK(MPI_Win_flush(1, j->win));
    } while (state_of_key(j, 1) != KEY_READY);
    sim_hold(SIM_NATIVE_OPS, 0, 1);
    uint32_t id = rma_self()->op_free->id;
    MPI_Request r = get_held(j, buf, 1, 1);
    SIM_CHECK(rma_op_by_id(id)->natives == 1);
    sim_hold(-1, 0, 0);
    tell(1);
    hear_of_death(1);
    ERR(MPIX_ERR_PROC_FAILED, MPI_Wait(&r, MPI_STATUS_IGNORE));
    (void)MPI_Win_unlock(1, j->win);
    return id;
}

/* Another get, of rank 1 of this window, has that id when the network answers for the first. */
static void get_beside(const struct job *j, uint32_t id)
{
    long got[LONGS];
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j->win));
    do {
        OK(MPI_Get(got, LONGS, MPI_LONG, 1, 0, LONGS, MPI_LONG, j->win));
        OK(MPI_Win_flush(1, j->win));
    } while (state_of_key(j, 1) != KEY_READY);
    SIM_CHECK((rma_self()->op_free->id ^ id) % (1u << 21) == 0);
    rma_self()->op_free->id = id; /* as after 2,048 operations, or a multiple of it */
    memset(got, -1, sizeof got);
    sim_hold(SIM_NATIVE_OPS, 0, 2);
    MPI_Request r = get_held(j, got, 1, 2);
    sim_let_go(SIM_NATIVE_OPS, 1);
    for (int i = 0; i < 200; i++)
        turn();
    const struct rma_op *op = rma_op_by_id(id);
    SIM_CHECK(op && op->natives == 1 && !op->err);
    sim_let_go(SIM_NATIVE_OPS, 2);
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Win_unlock(1, j->win));
    for (int i = 0; i < LONGS; i++)
        SIM_CHECK(got[i] == 0);
}

/* A get from a process that dies is given up after a second.  Its answer meets the next window. */
static void late_native(void *arg)
{
    long buf[LONGS];
    uint32_t id = 0;
    (void)arg;
    few_ids(3);
    struct job j = job_of_mortals(LONGS);
    uint32_t number = number_of(j.win);
    if (j.rank == 0) {
        id = get_lost(&j, buf);
        tell(2);
    } else if (j.rank == 1) {
        hear(0);
        sim_die();
    } else {
        hear_of_death(1);
        hear(0); /* in a quiet world a second is soon over */
    }
    OK(MPI_Win_free(&j.win));
    MPI_Comm rest = without(1);
    j = job_again(rest, number);
    if (j.rank == 0) {
        get_beside(&j, id);
        tell(2);
    } else {
        hear(0);
    }
    OK(MPI_Win_free(&j.win));
    MPI_Comm_free(&rest);
}

/* --- messages of a communicator that its leader has freed ------------------------------ */

/* Rank 2 waits for rank 1's message in a communicator that ranks 0 and 2 have freed.  Another one
 * has the number meanwhile, in which rank 3 is rank 1: its message is not the one. */
static void late_message(void *arg)
{
    int old = 0, mine = 0, rank, got;
    MPI_Comm first, second = MPI_COMM_NULL;
    MPI_Group all, others;
    MPI_Request r = MPI_REQUEST_NULL;
    uint32_t number;
    (void)arg;
    few_ids(3);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &first));
    number = ((struct comm *)obj_find(OBJ_COMM, first))->ctx_recv;
    if (rank == 2)
        OK(MPI_Irecv(&old, 1, MPI_INT, sim_seed() % 2 ? 1 : MPI_ANY_SOURCE, 5, first, &r));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 1) {
        MPI_Comm_free(&first); /* at rank 2 when its receive is done */
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Group_incl(all, 3, (const int[]){0, 3, 2}, &others);
        do {
            if (second != MPI_COMM_NULL)
                MPI_Comm_free(&second);
            OK(MPI_Comm_create_group(MPI_COMM_WORLD, others, 0, &second));
        } while (((struct comm *)obj_find(OBJ_COMM, second))->ctx_recv != number);
        MPI_Group_free(&others);
        MPI_Group_free(&all);
    }
    if (rank == 3) {
        mine = 33;
        OK(MPI_Send(&mine, 1, MPI_INT, 2, 5, second));
    } else if (rank == 2) {
        OK(MPI_Recv(&got, 1, MPI_INT, sim_seed() / 2 % 2 ? 1 : MPI_ANY_SOURCE,
                    sim_seed() / 4 % 2 ? 5 : MPI_ANY_TAG, second, MPI_STATUS_IGNORE));
        SIM_CHECK(got == 33 && old == 0);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 6, MPI_COMM_WORLD);
        MPI_Status st;
        OK(MPI_Wait(&r, &st));
        SIM_CHECK(old == 11 && st.MPI_SOURCE == 1);
    } else if (rank == 1) {
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 2, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        mine = 11;
        OK(MPI_Send(&mine, 1, MPI_INT, 2, 5, first));
        MPI_Comm_free(&first);
    }
    if (second != MPI_COMM_NULL)
        MPI_Comm_free(&second);
}

/* A message that was not received stays behind; the next communicator of its number does not get
 * it. */
static void left_message(void *arg)
{
    int rank, flag, v = 5, got = 0;
    MPI_Comm first, second;
    MPI_Status st;
    (void)arg;
    few_ids(2);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &first));
    uint32_t number = ((struct comm *)obj_find(OBJ_COMM, first))->ctx_recv;
    if (rank == 1)
        OK(MPI_Send(&v, 1, MPI_INT, 0, 5, first));
    else
        TURN_UNTIL(proc->p2p->unexpected == 1);
    MPI_Comm_free(&first);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &second));
    while (((struct comm *)obj_find(OBJ_COMM, second))->ctx_recv != number) {
        MPI_Comm_free(&second);
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &second));
    }
    if (rank == 0) {
        for (int i = 0; i < 8; i++) {
            OK(MPI_Iprobe(i % 2 ? 1 : MPI_ANY_SOURCE, i / 2 % 2 ? 5 : MPI_ANY_TAG, second, &flag,
                          &st));
            SIM_CHECK(!flag);
        }
        tell(1);
        OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, second, &st));
        SIM_CHECK(got == 6 && st.MPI_SOURCE == 1 && st.MPI_TAG == 5);
    } else {
        v = 6;
        hear(0);
        OK(MPI_Send(&v, 1, MPI_INT, 0, 5, second));
    }
    MPI_Comm_free(&second);
}

/* --- all numbers are in use ------------------------------ */

enum { KINDS = 8 };

/* One more communicator or window; the error of the call. */
static int make(int kind, int rank, int size, MPI_Comm inter, MPI_Comm half, MPI_Comm *c,
                MPI_Win *w)
{
    static long mem[SIM_RANKS];
    MPI_Group all;
    MPI_Request r;
    int err;
    switch (kind) {
    case 0:
        return MPI_Comm_dup(MPI_COMM_WORLD, c);
    case 1:
        return MPI_Comm_split(MPI_COMM_WORLD, 0, rank, c);
    case 2:
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        err = MPI_Comm_create_group(MPI_COMM_WORLD, all, 3, c);
        MPI_Group_free(&all);
        return err;
    case 3:
        err = MPI_Comm_idup(MPI_COMM_WORLD, c, &r);
        err = err ? err : MPI_Wait(&r, MPI_STATUS_IGNORE);
        if (err)
            MPI_Comm_free(c);
        return err;
    case 4:
        return MPI_Win_create(&mem[rank], sizeof *mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, w);
    case 5:
        return MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < size / 2 ? size / 2 : 0, 5, c);
    case 6:
        return MPI_Intercomm_merge(inter, rank >= size / 2, c);
    default:
        return MPI_Comm_dup(inter, c);
    }
}

/* Every way to make a communicator or window ends with an error on all members that names the
 * reason. It works again when one is freed. */
static void exhausted(void *arg)
{
    enum { MOST = 8 };
    MPI_Comm c[MOST], half, inter, one;
    MPI_Win w;
    int rank, size, n = 0, err, len;
    char text[MPI_MAX_ERROR_STRING];
    (void)arg;
    few_ids(3);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, 0, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < size / 2 ? size / 2 : 0, 5, &inter));
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    while (!(err = MPI_Comm_dup(MPI_COMM_WORLD, &c[n])))
        SIM_CHECK(++n < MOST);
    for (int kind = 0; kind < KINDS; kind++) {
        err = make(kind, rank, size, inter, half, &one, &w);
        ERR(MPI_ERR_OTHER, err);
        MPI_Error_string(err, text, &len);
        SIM_CHECK(strstr(text, "too many communicators are alive"));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Barrier(half));
        OK(MPI_Barrier(inter));
    }
    while (n)
        OK(MPI_Comm_free(&c[--n]));
    for (int kind = 0; kind < KINDS; kind++) {
        one = MPI_COMM_NULL;
        OK(make(kind, rank, size, inter, half, &one, &w));
        OK(one == MPI_COMM_NULL ? MPI_Win_free(&w) : MPI_Comm_free(&one));
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* ------------------------------ */

/* What is held lets others pass, and there is room for it; a put of LONGS pays, natively. */
static void unordered(struct sim_knobs *k)
{
    far_away(k);
    k->ordered = 0;
    k->inbox = k->replies = 0;
    k->quiet_rank = -1;
    k->native = SIM_NATIVE_ALL;
    k->native_ordered = 0;
    k->native_fails = 0;
    k->native_min = 64;
}

static void unordered_mortal(struct sim_knobs *k)
{
    unordered(k);
    k->mortal = 1;
}

static void far(struct sim_knobs *k)
{
    far_away(k);
    k->quiet_rank = -1;
}

const struct scenario scenarios_late[] = {
    {"late-key", 2, 1, late_key, NULL, unordered},
    {"late-left", 4, 1, late_left, NULL, unordered_mortal},
    {"late-left-ask", 4, 1, late_left_ask, NULL, unordered_mortal},
    {"late-put", 4, 1, late_put, NULL, unordered_mortal},
    {"late-post", 4, 1, late_post, NULL, unordered_mortal},
    {"late-ack", 4, 1, late_ack, NULL, unordered_mortal},
    {"late-native", 3, 1, late_native, NULL, unordered_mortal},
    {"late-message", 4, 1, late_message, NULL, far},
    {"late-left-message", 2, 1, left_message, NULL, far},
    {"late-no-id", 4, 1, exhausted, NULL, NULL},
    {NULL, 0, 0, NULL, NULL, NULL},
};

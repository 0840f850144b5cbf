/* replicas.c - windows with copies of each part (mpix_win_replicas): puts and accumulates of all
 * forms and types, in all epochs, from all to all, own stores where they are copied; then one
 * process is killed, and what it held is found in a copy, bit by bit; the window of the living has
 * copies, too, until one is left. Calls that copies do not permit are refused. Run with mpiexec
 * -disable-auto-cleanup; without the argument "kill" no process dies. */
#include "../mt.h"
#include <signal.h>
#include <unistd.h>

/* Of each part: EACH words for each origin, then words that the owner stores to, then CHANGED words
 * that each origin accumulates to, then one that all add to. */
enum { EACH = 64, ODD = 3, MOST = 8, CHANGED = 32, SUM = (MOST + 1) * EACH + MOST * CHANGED };

static int size, rank, kills, units;
static int64_t *own, words;
static MPI_Comm members; /* of the window */
static int name[MOST]; /* of members: ranks in MPI_COMM_WORLD */

static void ranks_of(MPI_Win win)
{
    MPI_Group g, world;
    int i;
    CHECK_EQ(MPI_Win_get_group(win, &g), MPI_SUCCESS);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(g, &size);
    MPI_Group_rank(g, &rank);
    for (i = 0; i < size; i++)
        MPI_Group_translate_ranks(g, 1, &i, world, &name[i]);
    MPI_Group_free(&world);
    MPI_Group_free(&g);
}

/* Rank `ODD` has no memory of its own in half of the windows. */
static int is_empty(int world)
{
    return world == ODD && units == 2;
}

static int64_t last[MOST]; /* by owner: of the words that this process accumulates to */
static int64_t sum;        /* of the word that all add to, in each part */

static MPI_Win make(MPI_Comm comm, const char *k, int unit)
{
    MPI_Win win = MPI_WIN_NULL;
    MPI_Info info, got;
    char text[16] = "";
    int flag, n, i;
    units = unit;
    words = SUM + 1;
    sum = -1;
    for (i = 0; i < MOST; i++)
        last[i] = -1;
    MPI_Comm_size(comm, &n);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_win_replicas", k);
    MPI_Info_set(info, "mpix_notify_num", "2");
    CHECK_EQ(MPI_Win_allocate(is_empty(mt_rank) ? 0 : 8 * words, 8 / (mt_rank % unit + 1), info,
                              comm, &own, &win),
             MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_get_info(win, &got);
    MPI_Info_get(got, "mpix_win_replicas", 15, text, &flag);
    CHECK(flag && atoi(text) == (atoi(k) < n ? atoi(k) : n - 1));
    MPI_Info_free(&got);
    for (i = 0; i < words && !is_empty(mt_rank); i++)
        own[i] = -1;
    ranks_of(win);
    members = comm;
    return win;
}

/* Displacement of a word at member t. */
static MPI_Aint at(int t, int64_t word)
{
    return (MPI_Aint)word * (name[t] % units + 1);
}

static int64_t value(int origin, int owner, int i, int round)
{
    return ((int64_t)round << 40) + origin * 1000000 + owner * 10000 + i;
}

struct double_int {
    double v;
    int i;
};
struct short_int {
    short v;
    int i;
};

/* CHANGED words of this process at t, by each call. They are last[] before, and v then. The calls
 * of one epoch that change a word are in order. */
static void accumulate(MPI_Win win, int t, int64_t v, int request)
{
    static struct { /* until the epoch ends */
        int64_t v[8], by[8], got[CHANGED], read[8], was, one;
        struct double_int d;
        struct short_int s;
    } all[MOST][2], *x;
    static int turn[MOST];
    MPI_Datatype gaps;
    MPI_Aint word = (MOST + 1) * EACH + mt_rank * CHANGED;
    MPI_Request r[2];
    int i, owner = name[t];
    x = &all[owner][turn[owner]++ % 2];
    for (i = 0; i < 8; i++) {
        x->v[i] = v;
        x->by[i] = v - last[owner];
    }
    x->was = last[owner];
    x->one = 1;
    x->d.v = (double)v;
    x->d.i = x->s.i = (int)(v % 1000000);
    x->s.v = (short)(v % 1000);
    last[owner] = v;
    sum += t == 0 ? size : 0; /* all do this as often, at each */
    MPI_Type_vector(8, 1, 2, MPI_INT64_T, &gaps);
    MPI_Type_commit(&gaps);
    CHECK_EQ(MPI_Accumulate(x->v, 8, MPI_INT64_T, t, at(t, word), 1, gaps, MPI_REPLACE, win),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Get_accumulate(x->by, 8, MPI_INT64_T, x->got, 8, MPI_INT64_T, t, at(t, word + 1),
                                1, gaps, MPI_SUM, win),
             MPI_SUCCESS);
    /* that the origin is ignored holds for its type, too */
    CHECK_EQ(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, x->read, 8, MPI_INT64_T, t,
                                at(t, word), 1, gaps, MPI_NO_OP, win),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Fetch_and_op(x->by, x->got + 8, MPI_INT64_T, t, at(t, word + 16), MPI_SUM, win),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Compare_and_swap(x->v, &x->was, x->got + 9, MPI_INT64_T, t, at(t, word + 17), win),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Accumulate(&x->d, 1, MPI_DOUBLE_INT, t, at(t, word + 18), 1, MPI_DOUBLE_INT,
                            MPI_REPLACE, win),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Accumulate(&x->s, 1, MPI_SHORT_INT, t, at(t, word + 20), 1, MPI_SHORT_INT,
                            MPI_REPLACE, win),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Accumulate(x->v, 2, MPI_INT64_T, t, at(t, word + 21), 4, MPI_INT64_T, MPI_REPLACE,
                            win),
             MPI_SUCCESS); /* shorter than its target */
    if (request) {
        CHECK_EQ(MPI_Raccumulate(x->by, 2, MPI_INT64_T, t, at(t, word + 25), 2, MPI_INT64_T,
                                 MPI_SUM, win, r),
                 MPI_SUCCESS);
        CHECK_EQ(MPI_Rget_accumulate(x->v, 2, MPI_INT64_T, x->got + 10, 2, MPI_INT64_T, t,
                                     at(t, word + 27), 2, MPI_INT64_T, MPI_REPLACE, win, r + 1),
                 MPI_SUCCESS);
        CHECK_EQ(MPI_Waitall(2, r, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    } else {
        CHECK_EQ(MPI_Accumulate(x->v, 32, MPI_BYTE, t, at(t, word + 25), 32, MPI_BYTE, MPI_REPLACE,
                                win),
                 MPI_SUCCESS);
    }
    CHECK_EQ(MPI_Fetch_and_op(&x->one, x->got + 12, MPI_INT64_T, t, at(t, SUM), MPI_SUM, win),
             MPI_SUCCESS);
    MPI_Type_free(&gaps);
}

static void accumulated(const int64_t *mem, int64_t v)
{
    struct double_int d;
    struct short_int s;
    int i;
    for (i = 0; i < 18; i++)
        CHECK_EQ(mem[i], v);
    memcpy(&d, mem + 18, sizeof d);
    memcpy(&s, mem + 20, sizeof s);
    CHECK(d.v == (double)v && d.i == (int)(v % 1000000));
    CHECK(s.v == (short)(v % 1000) && s.i == (int)(v % 1000000));
    for (i = 21; i < 29; i++)
        if (i == 23 || i == 24) /* behind a shorter origin; make()'s stores are not in each copy */
            CHECK(mem[i] == -1 || mem[i] == 0);
        else
            CHECK_EQ(mem[i], v);
}

/* EACH words of this process at t, by puts of several forms; then accumulates. */
static void put(MPI_Win win, int t, int round, int64_t *v, int request)
{
    MPI_Datatype gaps, two;
    MPI_Request r;
    int i, me = mt_rank;
    for (i = 0; i < EACH; i++)
        v[i] = value(me, name[t], i, round);
    if (is_empty(name[t])) {
        CHECK_EQ(MPI_Put(v, 0, MPI_INT64_T, t, 0, 0, MPI_INT64_T, win), MPI_SUCCESS);
        CHECK_EQ(MPI_Accumulate(v, 0, MPI_INT64_T, t, 0, 0, MPI_INT64_T, MPI_SUM, win),
                 MPI_SUCCESS);
        return;
    }
    MPI_Type_vector(8, 1, 2, MPI_INT64_T, &gaps); /* even words of 16 */
    MPI_Type_commit(&gaps);
    MPI_Type_contiguous(2, MPI_INT64_T, &two);
    MPI_Type_commit(&two);
    CHECK_EQ(MPI_Put(v, 1, gaps, t, at(t, me * EACH), 1, gaps, win), MPI_SUCCESS);
    CHECK_EQ(MPI_Put(v + 1, 1, gaps, t, at(t, me * EACH + 1), 1, gaps, win), MPI_SUCCESS);
    CHECK_EQ(MPI_Put(v + 16, 16, MPI_INT64_T, t, at(t, me * EACH + 16), 8, two, win), MPI_SUCCESS);
    for (i = 32; i < 40; i++)
        CHECK_EQ(MPI_Put(v + i, 1, MPI_INT64_T, t, at(t, me * EACH + i), 1, MPI_INT64_T, win),
                 MPI_SUCCESS);
    CHECK_EQ(MPI_Put(v + 40, 15 * 8, MPI_BYTE, t, at(t, me * EACH + 40), 15 * 8, MPI_BYTE, win),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Put(v + 55, 1, MPI_INT64_T, t, at(t, me * EACH + 55), 2, MPI_INT64_T, win),
             MPI_SUCCESS); /* shorter than its target */
    for (i = 56; i < EACH; i++) {
        if (request) {
            CHECK_EQ(MPI_Rput(v + i, 1, MPI_INT64_T, t, at(t, me * EACH + i), 1, MPI_INT64_T, win,
                              &r),
                     MPI_SUCCESS);
            CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
        } else {
            CHECK_EQ(MPIX_Put_notify(v + i, 1, MPI_INT64_T, t, at(t, me * EACH + i), 1,
                                     MPI_INT64_T, 1, win),
                     MPI_SUCCESS);
        }
    }
    MPI_Type_free(&gaps);
    MPI_Type_free(&two);
    accumulate(win, t, v[0], request);
}

static int64_t *buffers;

static void put_to_all(MPI_Win win, int round, int request, int self)
{
    int t;
    for (t = 0; t < size; t++)
        if (self || t != rank)
            put(win, t, round, buffers + t * EACH, request);
}

static void store(int round)
{
    int i;
    for (i = 0; i < EACH && !is_empty(mt_rank); i++)
        own[MOST * EACH + i] = value(mt_rank, mt_rank, i, round);
}

enum { EPOCHS = 6 };

/* The last puts and stores of all are those of this round then. */
static void epoch(MPI_Win win, int kind, int round)
{
    MPI_Group g, others;
    int t, flag;
    if (kind == 5 || kind == 0)
        store(round);
    switch (kind) {
    case 0:
        CHECK_EQ(MPI_Win_fence(MPI_MODE_NOPRECEDE, win), MPI_SUCCESS);
        put_to_all(win, round, 0, 1);
        CHECK_EQ(MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOSTORE, win), MPI_SUCCESS);
        break;
    case 1:
        for (t = 0; t < size; t++) {
            CHECK_EQ(MPI_Win_lock(t % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, t, 0, win),
                     MPI_SUCCESS);
            put(win, t, round, buffers, 1);
            if (t == rank && t % 2 == 0)
                store(round - 1);
            CHECK_EQ(MPI_Win_unlock(t, win), MPI_SUCCESS);
        }
        if (round % 2 == 0) /* no other process locks it any more */
            CHECK_EQ(MPI_Barrier(members), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, round % 2 ? 0 : MPI_MODE_NOCHECK, win),
                 MPI_SUCCESS);
        store(round);
        CHECK_EQ(MPI_Win_unlock(rank, win), MPI_SUCCESS);
        break;
    case 2:
        CHECK_EQ(MPI_Win_lock_all(MPI_MODE_NOCHECK, win), MPI_SUCCESS);
        put_to_all(win, round, 1, 1);
        CHECK_EQ(MPI_Win_flush_local_all(win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_unlock_all(win), MPI_SUCCESS);
        break;
    case 3:
        CHECK_EQ(MPI_Win_lock_all(0, win), MPI_SUCCESS);
        for (t = 0; t < size; t++) {
            put(win, t, round - 1, buffers, 0);
            CHECK_EQ(MPI_Win_flush_local(t, win), MPI_SUCCESS);
            CHECK_EQ(MPIX_Win_order(t, win), MPI_SUCCESS);
            put(win, t, round, buffers, 0);
            CHECK_EQ(MPI_Win_flush(t, win), MPI_SUCCESS);
        }
        CHECK_EQ(MPI_Win_unlock_all(win), MPI_SUCCESS);
        break;
    case 4:
        CHECK_EQ(MPI_Win_lock_all(0, win), MPI_SUCCESS);
        put_to_all(win, round, 0, 1);
        CHECK_EQ(MPI_Win_flush_all(win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_unlock_all(win), MPI_SUCCESS);
        break;
    default:
        MPI_Win_get_group(win, &g);
        MPI_Group_excl(g, 1, &rank, &others);
        CHECK_EQ(MPI_Win_post(others, 0, win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_start(others, 0, win), MPI_SUCCESS);
        put_to_all(win, round, 0, 0);
        CHECK_EQ(MPI_Win_complete(win), MPI_SUCCESS);
        if (round % 2)
            CHECK_EQ(MPI_Win_wait(win), MPI_SUCCESS);
        else
            for (flag = 0; !flag;)
                CHECK_EQ(MPI_Win_test(win, &flag), MPI_SUCCESS);
        MPI_Group_free(&others);
        MPI_Group_free(&g);
        CHECK_EQ(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), MPI_SUCCESS);
        put(win, rank, round, buffers, 0);
        CHECK_EQ(MPI_Win_unlock(rank, win), MPI_SUCCESS);
    }
}

/* The part of `owner` after such an epoch. */
static void holds(const int64_t *mem, int owner, int kind, int round, int64_t total)
{
    int o, i;
    for (o = 0; o < size; o++)
        for (i = 0; i < EACH; i++)
            CHECK_EQ(mem[name[o] * EACH + i], value(name[o], owner, i, round));
    for (o = 0; o < size; o++)
        accumulated(mem + (MOST + 1) * EACH + name[o] * CHANGED, value(name[o], owner, 0, round));
    CHECK_EQ(mem[SUM], total);
    if (kind == 0 || kind == 1 || kind == 5)
        for (i = 0; i < EACH; i++)
            CHECK_EQ(mem[MOST * EACH + i], value(owner, owner, i, round));
}

static void refused(MPI_Comm comm)
{
    MPI_Win win = MPI_WIN_NULL, dup = MPI_WIN_NULL;
    MPI_Info info;
    MPI_Request r;
    int64_t v = 1, *mem;
    int err, far;
    void *base;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_win_replicas", "1");
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK_EQ(mt_class(MPI_Win_create(&v, 8, 8, info, comm, &win)), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_EQ(mt_class(MPI_Win_create_dynamic(info, comm, &win)), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_EQ(MPIX_Win_iallocate(8, 8, info, comm, &mem, &win, &r), MPI_SUCCESS);
    CHECK_EQ(mt_class(MPI_Wait(&r, MPI_STATUS_IGNORE)), MPI_ERR_UNSUPPORTED_OPERATION);
    MPI_Info_set(info, "mpix_win_replicas", rank ? "1" : "0");
    if (size > 1)
        CHECK_EQ(mt_class(MPI_Win_allocate(8, 8, info, comm, &mem, &win)), MPI_ERR_INFO);
    MPI_Info_free(&info);
    win = make(comm, "1", 1);
    CHECK_EQ(mt_class(MPIX_Win_recover(win, 0, &base)), MPI_ERR_UNSUPPORTED_OPERATION);
    if (size > 1) {
        CHECK_EQ(mt_class(MPIX_Win_idup(win, MPI_INFO_NULL, &dup, &r)),
                 MPI_ERR_UNSUPPORTED_OPERATION);
        CHECK_EQ(mt_class(MPI_Put(&v, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win)),
                 MPI_ERR_RMA_SYNC);
        CHECK_EQ(mt_class(MPI_Win_flush(0, win)), MPI_ERR_RMA_SYNC);
        CHECK_EQ(mt_class(MPI_Win_unlock(0, win)), MPI_ERR_RMA_SYNC);
        CHECK_EQ(mt_class(MPI_Win_fence(12345, win)), MPI_ERR_ASSERT);
        CHECK_EQ(MPI_Win_lock_all(0, win), MPI_SUCCESS);
        err = mt_class(MPI_Accumulate(&v, 1, MPI_INT64_T, 0, SUM + 1, 1, MPI_INT64_T, MPI_SUM,
                                      win));
        far = mt_class(MPI_Win_flush(0, win)); /* only the owner can tell, then */
        CHECK_EQ(err ? err : far, MPI_ERR_RMA_RANGE);
        CHECK_EQ(MPI_Accumulate(&v, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, MPI_SUM, win),
                 MPI_SUCCESS);
        CHECK_EQ(mt_class(MPI_Put(&v, 1, MPI_INT64_T, size, 0, 1, MPI_INT64_T, win)),
                 MPI_ERR_RANK);
        CHECK_EQ(mt_class(MPI_Win_flush(size, win)), MPI_ERR_RANK);
        CHECK_EQ(MPI_Put(&v, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_unlock_all(win), MPI_SUCCESS);
    }
    CHECK_EQ(MPI_Win_free(&win), MPI_SUCCESS);
}

/* The last one dies. comm becomes that of the living. */
static MPI_Win lose(MPI_Win win, MPI_Comm *comm)
{
    MPI_Comm living;
    MPI_Win made = MPI_WIN_NULL;
    int victim = size - 1, n, i, few = size;
    if (rank != victim) { /* it has left the last barrier */
        CHECK_EQ(MPI_Send(NULL, 0, MPI_BYTE, victim, 4, *comm), MPI_SUCCESS);
    } else {
        for (i = 0; i < victim; i++)
            MPI_Recv(NULL, 0, MPI_BYTE, i, 4, *comm, MPI_STATUS_IGNORE);
        kill(getpid(), SIGKILL);
    }
    CHECK_EQ(MPIX_Comm_shrink(*comm, &living), MPI_SUCCESS);
    for (MPI_Comm_size(living, &n); n == few; MPI_Comm_size(living, &n)) { /* not dead yet */
        MPI_Comm_free(&living);
        CHECK_EQ(MPIX_Comm_shrink(*comm, &living), MPI_SUCCESS);
    }
    CHECK_EQ(mt_class(MPIX_Win_shrink(win, &made)), MPI_SUCCESS);
    if (*comm != MPI_COMM_WORLD)
        MPI_Comm_free(comm);
    *comm = living;
    return made;
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int kind, round = 1;
    mt_init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    kills = argc > 1 && !strcmp(argv[1], "kill");
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK((buffers = malloc(MOST * EACH * sizeof *buffers)) != NULL);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    refused(comm);
    for (kind = 0; kind < EPOCHS; kind++, round += 2) {
        static const char *const copies[] = {"1", "2", "3", "100"};
        MPI_Win win, next;
        int64_t *base = NULL;
        int i, dead, n, owner, found = 0, all = 0;
        MPI_Comm_size(comm, &n);
        win = make(comm, copies[kind % 4], 1 + kind % 2);
        CHECK_EQ(MPI_Barrier(comm), MPI_SUCCESS);
        for (i = 0; i < 2; i++, round++) {
            epoch(win, kind, round);
            CHECK_EQ(MPI_Barrier(comm), MPI_SUCCESS);
            CHECK_EQ(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), MPI_SUCCESS);
            if (!is_empty(mt_rank))
                holds(own, mt_rank, kind, round, sum);
            CHECK_EQ(MPI_Win_unlock(rank, win), MPI_SUCCESS);
            CHECK_EQ(MPI_Barrier(comm), MPI_SUCCESS);
        }
        if (!kills || n < 2) {
            CHECK_EQ(MPI_Win_free(&win), MPI_SUCCESS);
            continue;
        }
        dead = n - 1;
        owner = name[dead];
        next = lose(win, &comm);
        if (kind & 1)
            CHECK_EQ(mt_class(MPI_Win_free(&win)), MPI_SUCCESS);
        CHECK_EQ(MPIX_Win_recover(next, dead, &base), MPI_SUCCESS);
        if (base) {
            found = 1;
            holds(base, owner, kind, round - 1, sum);
        }
        CHECK_EQ(mt_class(MPIX_Win_recover(next, 0, &base)), MPI_ERR_RANK);
        CHECK_EQ(MPI_Allreduce(&found, &all, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
        CHECK_EQ(all, !is_empty(owner));
        ranks_of(next);
        members = comm;
        epoch(next, kind, round + 1);
        CHECK_EQ(MPI_Barrier(comm), MPI_SUCCESS);
        CHECK_EQ(mt_class(MPI_Win_free(&next)), MPI_SUCCESS);
        if (!(kind & 1))
            CHECK_EQ(mt_class(MPI_Win_free(&win)), MPI_SUCCESS);
    }
    free(buffers);
    return kills ? mt_finish_over(comm) : mt_finish();
}

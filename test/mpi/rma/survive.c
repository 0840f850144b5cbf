/* survive.c - one process after another dies in an epoch, of each kind, and between epochs: while
 * the epoch is open the others revoke a communicator, acknowledge the death, agree, and shrink;
 * then they make a new window, whose sums are right. Run with mpiexec -disable-auto-cleanup on
 * seven or more ranks. Of each communicator, the last rank but one dies. The argument is the
 * number of the kind that comes first. */
#include "../mt.h"
#include <signal.h>
#include <unistd.h>

static MPI_Comm comm; /* of the living */
static MPI_Comm talk; /* a duplicate, which is revoked */
static MPI_Comm next; /* of those that live then */
static int rank, size, victim;
static int64_t one = 1;

/* A call of an epoch, in which a process dies. */
static void may_fail(int err, const char *call)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n;
    if (err)
        MPI_Error_string(err, text, &n);
    MUST(!err || mt_class(err) == MPIX_ERR_PROC_FAILED, "%s: class %d: %s", call, mt_class(err),
         text);
}
#define MAY_FAIL(call) may_fail(call, #call)

static void add(MPI_Win win, int target)
{
    MAY_FAIL(MPI_Accumulate(&one, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, win));
}

static void add_to_all(MPI_Win win)
{
    for (int t = 0; t < size; t++)
        add(win, t);
}

static void may_die(void)
{
    if (rank == victim)
        kill(getpid(), SIGKILL);
}

/* Those that wait for a process that lives, and sends nothing, are let go. */
static void revoked(void)
{
    int from = (rank + 1) % size, flag = 0;
    MPI_Request r = MPI_REQUEST_NULL;
    if (from == victim)
        from = (from + 1) % size;
    if (rank == 0)
        CHECK_EQ(MPIX_Comm_revoke(talk), MPI_SUCCESS);
    else if (rank % 2)
        CHECK_EQ(mt_class(MPI_Recv(&flag, 1, MPI_INT, from, 1, talk, MPI_STATUS_IGNORE)),
                 MPIX_ERR_REVOKED);
    else if (MPI_Issend(&flag, 1, MPI_INT, from, 2, talk, &r) == MPI_SUCCESS)
        CHECK_EQ(mt_class(MPI_Wait(&r, MPI_STATUS_IGNORE)), MPIX_ERR_REVOKED);
    CHECK_EQ(mt_class(MPI_Barrier(talk)), MPIX_ERR_REVOKED);
    CHECK_EQ(MPI_Comm_revoke(talk), MPI_SUCCESS);
    CHECK_EQ(MPIX_Comm_is_revoked(talk, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    CHECK_EQ(MPIX_Comm_is_revoked(comm, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 0);
}

/* The others know of the death, by and by, and go on without the victim. c may be revoked. */
static void recover(MPI_Comm c)
{
    MPI_Group dead;
    MPI_Request r;
    int flag, err, n = 0, rounds = 0;
    do { /* until all have acknowledged it; what is agreed on is the same */
        flag = 7 ^ (rank == size - 1);
        CHECK_EQ(MPIX_Comm_iagree(c, &flag, &r), MPI_SUCCESS);
        err = mt_class(MPI_Wait(&r, MPI_STATUS_IGNORE));
        MAY_FAIL(err);
        CHECK_EQ(flag & 1, 0);
        CHECK_EQ(flag & 6, 6);
        CHECK_EQ(MPI_Comm_ack_failed(c, size, &n), MPI_SUCCESS);
    } while (err && ++rounds < 100);
    CHECK_EQ(err, MPI_SUCCESS);
    CHECK_EQ(MPIX_Comm_failure_get_acked(c, &dead), MPI_SUCCESS);
    MPI_Group_size(dead, &n);
    MUST(n == 1, "%d processes are acknowledged", n);
    MPI_Group_free(&dead);
    CHECK_EQ(MPI_Comm_get_failed(c, &dead), MPI_SUCCESS);
    MPI_Group_size(dead, &n);
    MUST(n == 1, "%d processes are known to have failed", n);
    MPI_Group_free(&dead);
    CHECK_EQ(MPIX_Comm_ishrink(c, &next, &r), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Comm_size(next, &n);
    CHECK_EQ(n, size - 1);
}

static void all_five(int k)
{
    revoked();
    recover(k % 2 ? talk : comm);
}

static void in_fence(MPI_Win win, int k)
{
    MAY_FAIL(MPI_Win_fence(0, win));
    add_to_all(win);
    may_die();
    all_five(k);
    add_to_all(win);
    MAY_FAIL(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

/* The victim has posted, and starts nothing. */
static void in_pscw(MPI_Win win, int k)
{
    MPI_Group all, others;
    int err;
    MPI_Comm_group(comm, &all);
    MPI_Group_excl(all, 1, &rank, &others);
    CHECK_EQ(MPI_Win_post(others, 0, win), MPI_SUCCESS); /* MPI_Win_wait returns the error */
    may_die();
    MAY_FAIL(err = MPI_Win_start(others, 0, win));
    all_five(k);
    if (!err) {
        for (int t = 0; t < size; t++)
            if (t != rank)
                add(win, t);
        MAY_FAIL(MPI_Win_complete(win));
    }
    CHECK_EQ(mt_class(MPI_Win_wait(win)), MPIX_ERR_PROC_FAILED);
    MPI_Group_free(&others);
    MPI_Group_incl(all, 1, &victim, &others);
    CHECK_EQ(MPI_Win_post(others, 0, win), MPI_SUCCESS); /* it is known to be dead */
    CHECK_EQ(mt_class(MPI_Win_wait(win)), MPIX_ERR_PROC_FAILED);
    MPI_Group_free(&others);
    MPI_Group_free(&all);
}

/* The victim holds the lock that the others want. */
static void in_lock(MPI_Win win, int k)
{
    int err;
    MAY_FAIL(err = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    if (!err) {
        add(win, 0);
        MAY_FAIL(MPI_Win_flush(0, win));
        may_die();
        MAY_FAIL(MPI_Win_unlock(0, win));
    }
    /* another one: some may wait for the first yet */
    CHECK_EQ(MPI_Win_lock(MPI_LOCK_SHARED, size - 1, 0, win), MPI_SUCCESS);
    all_five(k);
    add(win, size - 1);
    MAY_FAIL(MPI_Win_unlock(size - 1, win));
}

static void in_lock_all(MPI_Win win, int k)
{
    MAY_FAIL(MPI_Win_lock_all(0, win));
    for (int i = 0; i < 100; i++) {
        add_to_all(win);
        if (i == 20)
            may_die();
        MAY_FAIL(MPI_Win_flush_all(win));
    }
    all_five(k);
    MAY_FAIL(MPI_Win_unlock_all(win));
}

static void in_none(MPI_Win win, int k)
{
    (void)win;
    may_die();
    all_five(k);
}

/* All have talked to each other before one dies: UCX may abort a process whose first contact is
 * with one that dies (doc/design/ucx.md). */
static void greet(void)
{
    int i, got;
    for (i = 1; i < mt_size; i++)
        MPI_Sendrecv(&i, 1, MPI_INT, (mt_rank + i) % mt_size, 3, &got, 1, MPI_INT,
                     (mt_rank + mt_size - i) % mt_size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static MPI_Win window(int64_t **mem)
{
    MPI_Win win = MPI_WIN_NULL;
    CHECK_EQ(MPI_Win_allocate(8, 8, MPI_INFO_NULL, comm, mem, &win), MPI_SUCCESS);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    **mem = 0;
    MPI_Barrier(comm);
    return win;
}

/* In a window of the living all is as ever. */
static void sums(void)
{
    int64_t *mem, v = rank + 1;
    MPI_Win win = window(&mem);
    CHECK_EQ(MPI_Win_lock_all(0, win), MPI_SUCCESS);
    for (int t = 0; t < size; t++)
        MPI_Accumulate(&v, 1, MPI_INT64_T, t, 0, 1, MPI_INT64_T, MPI_SUM, win);
    CHECK_EQ(MPI_Win_unlock_all(win), MPI_SUCCESS);
    CHECK_EQ(MPI_Barrier(comm), MPI_SUCCESS);
    CHECK_EQ(*mem, (int64_t)size * (size + 1) / 2);
    CHECK_EQ(MPI_Win_free(&win), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    static void (*const epochs[])(MPI_Win win, int k) = {in_fence, in_pscw, in_lock, in_lock_all,
                                                         in_none};
    int64_t *mem;
    int k, all = 0, first = argc > 1 ? atoi(argv[1]) : 0;

    mt_init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    greet();
    for (k = 0; k < 5; k++) {
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        victim = size - 2;
        CHECK_EQ(MPI_Comm_dup(comm, &talk), MPI_SUCCESS);
        MPI_Win win = window(&mem);
        epochs[(first + k) % 5](win, k);
        MAY_FAIL(MPI_Win_free(&win));
        MPI_Comm_free(&talk);
        if (comm != MPI_COMM_WORLD)
            MPI_Comm_free(&comm);
        comm = next;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        sums();
    }
    CHECK_EQ(MPI_Allreduce(&mt_errors, &all, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    if (rank == 0)
        printf(all ? " Found %d errors\n" : " No Errors\n", all);
    fflush(stdout);
    MPI_Finalize();
    return all != 0;
}

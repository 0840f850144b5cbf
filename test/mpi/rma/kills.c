/* kills.c - processes are killed amid 21 kinds of calls, one after another, until two live: the
 * calls of the others end, well or with a class that says so; they revoke, shrink, and the next
 * ones are killed in another call. Run with mpiexec -disable-auto-cleanup on three or more ranks.
 * The argument says which call is first, which ranks are killed, and after how long. 315 deaths, by
 * hand, in build/:
 *     for i in $(seq 0 62); do
 *         bin/mpiexec -timeout 60 -disable-auto-cleanup -n 7 test/mpi/rma/kills $i; done */
#include "../mt.h"
#include <signal.h>
#include <unistd.h>

enum { MANY = 8192 };

static MPI_Comm comm; /* of the living */
static MPI_Win win;   /* of comm */
static int64_t *own;  /* this process's part of it */
static int rank, size;
static int64_t in[MANY], out[MANY], many_in[8 * 512], many_out[8 * 512];

/* --- the calls: each ends with MPI_SUCCESS or the first error ---------------------- */

static int barrier(int i)
{
    (void)i;
    return MPI_Barrier(comm);
}

static int bcast(int i)
{
    return MPI_Bcast(out, i % 3 ? 1 : MANY, MPI_INT64_T, i % size, comm);
}

static int allreduce(int i)
{
    return MPI_Allreduce(in, out, i % 3 ? 1 : MANY, MPI_INT64_T, MPI_SUM, comm);
}

static int allgather(int i)
{
    return MPI_Allgather(in, i % 3 ? 1 : 512, MPI_INT64_T, many_out, i % 3 ? 1 : 512, MPI_INT64_T,
                         comm);
}

static int alltoall(int i)
{
    return MPI_Alltoall(many_in, i % 3 ? 1 : 512, MPI_INT64_T, many_out, i % 3 ? 1 : 512,
                        MPI_INT64_T, comm);
}

static int scan(int i)
{
    return MPI_Scan(in, out, i % 3 ? 1 : 512, MPI_INT64_T, MPI_SUM, comm);
}

static int ibarrier(int i)
{
    MPI_Request r;
    int err = MPI_Ibarrier(comm, &r);
    (void)i;
    return err ? err : MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static int sendrecv(int i)
{
    int n = i % 3 ? 1 : MANY;
    return MPI_Sendrecv(in, n, MPI_INT64_T, (rank + 1) % size, 1, out, n, MPI_INT64_T,
                        (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
}

static int issend(int i)
{
    MPI_Request r[2];
    int n = i % 3 ? 1 : MANY, to = (rank + 1) % size, from = (rank + size - 1) % size, err, err2;
    if ((err = MPI_Irecv(out, n, MPI_INT64_T, from, 2, comm, &r[0])))
        return err;
    if ((err = MPI_Issend(in, n, MPI_INT64_T, to, 2, comm, &r[1])))
        MPI_Cancel(&r[0]); /* from a process that lives it may never come */
    else
        err = MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    if (err) /* so that no process waits for this one, which waits for another */
        MPIX_Comm_revoke(comm);
    err2 = MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    return err ? err : err2;
}

static int duplicate(int i)
{
    MPI_Comm c;
    int err = MPI_Comm_dup(comm, &c);
    (void)i;
    return err ? err : MPI_Comm_free(&c);
}

static int split(int i)
{
    MPI_Comm c;
    int err = MPI_Comm_split(comm, rank % 2, -rank, &c);
    (void)i;
    return err ? err : MPI_Comm_free(&c);
}

/* Alike at all members, also when a member has failed. */
static int agree(int i)
{
    int flag = 7;
    (void)i;
    return MPIX_Comm_agree(comm, &flag);
}

static int win_create(int i)
{
    MPI_Win w;
    int err = MPI_Win_create(in, sizeof in, 8, MPI_INFO_NULL, comm, &w);
    (void)i;
    if (err)
        return err;
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    return MPI_Win_free(&w);
}

static int fence(int i)
{
    int err = MPI_Put(in, 1, MPI_INT64_T, i % size, rank, 1, MPI_INT64_T, win);
    return err ? err : MPI_Win_fence(0, win);
}

static int pscw(int i)
{
    MPI_Group all, others;
    int err;
    MPI_Comm_group(comm, &all);
    MPI_Group_excl(all, 1, &rank, &others);
    MPI_Group_free(&all);
    err = MPI_Win_post(others, 0, win);
    if (!err)
        err = MPI_Win_start(others, 0, win);
    MPI_Group_free(&others);
    if (!err)
        err = MPI_Put(in, 1, MPI_INT64_T, (rank + 1 + i % (size - 1)) % size, rank, 1, MPI_INT64_T,
                      win);
    if (!err)
        err = MPI_Win_complete(win);
    return err ? err : MPI_Win_wait(win);
}

static int locked(int i)
{
    int t = i % size, err = MPI_Win_lock(i % 5 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, t, 0, win);
    if (!err)
        err = MPI_Put(in, 1, MPI_INT64_T, t, rank, 1, MPI_INT64_T, win);
    return err ? err : MPI_Win_unlock(t, win);
}

/* The rest is within MPI_Win_lock_all. */
static int accumulate(int i)
{
    int err = MPI_Accumulate(in, i % 3 ? 1 : 64, MPI_INT64_T, i % size, 0, i % 3 ? 1 : 64,
                             MPI_INT64_T, MPI_SUM, win);
    return err ? err : MPI_Win_flush_all(win);
}

static int rput(int i)
{
    MPI_Request r;
    int err = MPI_Rput(in, 64, MPI_INT64_T, i % size, 0, 64, MPI_INT64_T, win, &r);
    if (!err)
        err = MPI_Wait(&r, MPI_STATUS_IGNORE);
    return err ? err : MPI_Win_flush(i % size, win);
}

static int get(int i)
{
    int err = MPI_Get(out, 64, MPI_INT64_T, i % size, 0, 64, MPI_INT64_T, win);
    return err ? err : MPI_Win_flush(i % size, win);
}

static int fetch_and_op(int i)
{
    int err = MPI_Fetch_and_op(in, out, MPI_INT64_T, i % size, 0, MPI_SUM, win);
    return err ? err : MPI_Win_flush(i % size, win);
}

static int compare_and_swap(int i)
{
    int err = MPI_Compare_and_swap(in, in + 1, out, MPI_INT64_T, i % size, 0, win);
    return err ? err : MPI_Win_flush(i % size, win);
}

enum needs { NO_WINDOW, AGREED, FENCED, BARE, LOCK_ALL };

static const struct {
    const char *name;
    int (*fn)(int i);
    enum needs needs;
} calls[] = {{"MPI_Barrier", barrier, NO_WINDOW},
             {"MPI_Bcast", bcast, NO_WINDOW},
             {"MPI_Allreduce", allreduce, NO_WINDOW},
             {"MPI_Allgather", allgather, NO_WINDOW},
             {"MPI_Alltoall", alltoall, NO_WINDOW},
             {"MPI_Scan", scan, NO_WINDOW},
             {"MPI_Ibarrier", ibarrier, NO_WINDOW},
             {"MPI_Sendrecv", sendrecv, NO_WINDOW},
             {"MPI_Issend", issend, NO_WINDOW},
             {"MPI_Comm_dup", duplicate, NO_WINDOW},
             {"MPI_Comm_split", split, NO_WINDOW},
             {"MPIX_Comm_agree", agree, AGREED},
             {"MPI_Win_create", win_create, NO_WINDOW},
             {"MPI_Win_fence", fence, FENCED},
             {"MPI_Win_post", pscw, BARE},
             {"MPI_Win_lock", locked, BARE},
             {"MPI_Accumulate", accumulate, LOCK_ALL},
             {"MPI_Rput", rput, LOCK_ALL},
             {"MPI_Get", get, LOCK_ALL},
             {"MPI_Fetch_and_op", fetch_and_op, LOCK_ALL},
             {"MPI_Compare_and_swap", compare_and_swap, LOCK_ALL}};
enum { CALLS = sizeof calls / sizeof *calls };

/* --- a death ----------------------------------------------------------------------- */

static void die(int s)
{
    (void)s;
    raise(SIGKILL);
}

static int lawful(int err, const char *call)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n, c = mt_class(err);
    if (err)
        MPI_Error_string(err, text, &n);
    return MUST(!err || c == MPIX_ERR_PROC_FAILED || c == MPIX_ERR_REVOKED, "%s: class %d: %s",
                call, c, text);
}

static int number_of_failed(void)
{
    MPI_Group g;
    int n;
    CHECK_EQ(MPI_Comm_get_failed(comm, &g), MPI_SUCCESS);
    MPI_Group_size(g, &n);
    MPI_Group_free(&g);
    return n;
}

/* Processes draw the same numbers. */
static unsigned draw(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void one_dies(int k, int victim, int after_us)
{
    const struct itimerval soon = {{0, 0}, {0, after_us}};
    int i, err = MPI_SUCCESS, n, sum = 0, one = 1;
    MPI_Comm next;
    if (calls[k].needs > AGREED) {
        CHECK_EQ(MPI_Win_allocate(8 * 64, 8, MPI_INFO_NULL, comm, &own, &win), MPI_SUCCESS);
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        if (calls[k].needs == FENCED)
            CHECK_EQ(MPI_Win_fence(0, win), MPI_SUCCESS);
        else if (calls[k].needs == LOCK_ALL)
            CHECK_EQ(MPI_Win_lock_all(0, win), MPI_SUCCESS);
    }
    if (rank == victim) {
        MPI_Barrier(comm); /* the others have the window */
        signal(SIGALRM, die);
        setitimer(ITIMER_REAL, &soon, NULL);
    } else {
        err = MPI_Barrier(comm);
    }
    /* Where the others live, calls may go on without an error. */
    for (i = 0; !err && (calls[k].needs == AGREED || !number_of_failed()); i++)
        err = calls[k].fn(i);
    lawful(err, calls[k].name);
    CHECK_EQ(MPIX_Comm_revoke(comm), MPI_SUCCESS);
    if (calls[k].needs > AGREED)
        CHECK_EQ(MPIX_Win_revoke(win), MPI_SUCCESS);
    CHECK_EQ(MPIX_Comm_shrink(comm, &next), MPI_SUCCESS);
    if (calls[k].needs > AGREED)
        lawful(MPI_Win_free(&win), "MPI_Win_free");
    MPI_Comm_size(next, &n);
    MUST(n == size - 1, "%s: %d of %d processes live", calls[k].name, n, size);
    CHECK_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, next), MPI_SUCCESS);
    CHECK_EQ(sum, n);
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    comm = next;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
}

int main(int argc, char **argv)
{
    int k = argc > 1 ? atoi(argv[1]) : 0;
    unsigned state = (unsigned)k * 2654435761u + 1;
    mt_init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    rank = mt_rank;
    size = mt_size;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Barrier(comm);
    for (k *= 5; size > 2; k++) { /* seven ranks: five die */
        int victim = (int)(draw(&state) % (unsigned)size);
        one_dies(k % CALLS, victim, 300 + (int)(draw(&state) % 3000));
    }
    return mt_finish_over(comm);
}

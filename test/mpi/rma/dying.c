/* dying.c - which class each one-sided call returns when its target dies: MPIX_ERR_PROC_FAILED, or
 * none. Run with mpiexec -disable-auto-cleanup on CASES + 1 ranks. Rank 0 has windows of three
 * flavours with each other rank; rank k kills itself while rank 0 is in case k - 1 on the first of
 * them, and rank 0 goes through the case on the others after the death.
 *
 *   dying            near: an operation on the memory of a dead process may succeed
 *   dying far        no operation that is completed at the target may succeed */
#include "rw.h"
#include <signal.h>
#include <unistd.h>

enum { FLAVOURS = 3, VICTIM = 1, LONGS = 1024 };

struct kind {
    const char *name;
    void (*victim)(struct rw *), (*other)(struct rw *);
    int near_too; /* it waits for the victim also where the memory is at hand */
};

static const char *now;   /* name of the case and flavour, for messages */
static int failed;        /* calls of the case that returned the error */
static int64_t val[LONGS], res[LONGS], cmp;

static void ask(const char *call, int err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n;

    if (!err)
        return;
    failed++;
    MPI_Error_string(err, text, &n);
    MUST(mt_class(err) == MPIX_ERR_PROC_FAILED, "%s in %s: class %d: %s", call, now, mt_class(err),
         text);
}
#define ASK(call) ask(#call, call)
#define AT w->win
#define ONE VICTIM, rw_disp(w, VICTIM, 0), 1, MPI_INT64_T
#define MANY VICTIM, rw_disp(w, VICTIM, 0), LONGS, MPI_INT64_T

static void nothing(struct rw *w)
{
    (void)w;
}

static void holds(struct rw *w)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, VICTIM, 0, w->win);
    MPI_Win_flush(VICTIM, w->win);
}

/* Cases: what rank 0 does. */
static void locks(struct rw *w)
{
    ASK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, VICTIM, 0, AT));
    if (failed)
        return;
    ASK(MPI_Put(val, 1, MPI_INT64_T, ONE, AT));
    ASK(MPI_Win_flush(VICTIM, AT));
    ASK(MPI_Win_unlock(VICTIM, AT));
}

static void locks_shared(struct rw *w)
{
    ASK(MPI_Win_lock(MPI_LOCK_SHARED, VICTIM, 0, AT));
    if (failed)
        return;
    ASK(MPI_Get(res, 1, MPI_INT64_T, ONE, AT));
    ASK(MPI_Win_unlock(VICTIM, AT));
}

/* LOCK_ALL requests no lock but the caller's own, so it returns no error: the first operation on
 * the victim does, or, if that is a message, the flush.  Then the epoch ends as usual. */
static void locks_all(struct rw *w)
{
    ASK(MPI_Win_lock_all(0, AT));
    MUST(!failed, "%s: MPI_Win_lock_all failed", now);
    ASK(MPI_Put(val, 1, MPI_INT64_T, ONE, AT));
    ASK(MPI_Win_flush_all(AT));
    ASK(MPI_Win_unlock_all(AT));
}

static void fences(struct rw *w)
{
    ASK(MPI_Win_fence(0, AT));
    ASK(MPI_Put(val, 1, MPI_INT64_T, ONE, AT));
    ASK(MPI_Accumulate(val, 1, MPI_INT64_T, ONE, MPI_SUM, AT));
    ASK(MPI_Win_fence(MPI_MODE_NOSUCCEED, AT));
}

static MPI_Group group_of_victim(struct rw *w)
{
    int rank = VICTIM;
    MPI_Group g;

    MPI_Group_incl(w->all, 1, &rank, &g);
    return g;
}

static void starts(struct rw *w)
{
    MPI_Group g = group_of_victim(w);
    int err;

    ASK(err = MPI_Win_start(g, 0, AT));
    if (!err) {
        ASK(MPI_Put(val, 1, MPI_INT64_T, ONE, AT));
        ASK(MPI_Win_complete(AT));
    }
    MPI_Group_free(&g);
}

static void posts(struct rw *w)
{
    MPI_Group g = group_of_victim(w);
    int err;

    ASK(err = MPI_Win_post(g, 0, AT));
    if (!err)
        ASK(MPI_Win_wait(AT));
    MPI_Group_free(&g);
}

/* Operations one by one, each completed, until one returns that the victim died. */
static void each_op(struct rw *w, int op)
{
    switch (op) {
    case 0: ASK(MPI_Put(val, 1, MPI_INT64_T, ONE, AT)); break;
    case 1: ASK(MPI_Get(res, 1, MPI_INT64_T, ONE, AT)); break;
    case 2: ASK(MPI_Accumulate(val, 1, MPI_INT64_T, ONE, MPI_SUM, AT)); break;
    case 3:
        ASK(MPI_Get_accumulate(val, 1, MPI_INT64_T, res, 1, MPI_INT64_T, ONE, MPI_SUM, AT));
        break;
    case 4:
        ASK(MPI_Fetch_and_op(val, res, MPI_INT64_T, VICTIM, rw_disp(w, VICTIM, 0), MPI_SUM, AT));
        break;
    case 5:
        ASK(MPI_Compare_and_swap(val, &cmp, res, MPI_INT64_T, VICTIM, rw_disp(w, VICTIM, 0), AT));
        break;
    case 6: ASK(MPI_Put(val, LONGS, MPI_INT64_T, MANY, AT)); break;
    case 7: ASK(MPI_Get(res, LONGS, MPI_INT64_T, MANY, AT)); break;
    default: ASK(MPI_Accumulate(val, LONGS, MPI_INT64_T, MANY, MPI_REPLACE, AT));
    }
}

enum { OPS = 9, TRIES = 20000 };

static void operates(struct rw *w, int flushes)
{
    int op, err, k;

    ASK(err = MPI_Win_lock(MPI_LOCK_SHARED, VICTIM, MPI_MODE_NOCHECK, AT));
    if (err)
        return;
    for (k = 0; k < TRIES && !failed; k++) { /* some before, one across the death */
        each_op(w, k % OPS);
        if (flushes)
            ASK(MPI_Win_flush(VICTIM, AT));
    }
    for (op = 0; op < OPS; op++) { /* and each after it */
        each_op(w, op);
        ASK(op % 2 ? MPI_Win_flush_local(VICTIM, AT) : MPI_Win_flush(VICTIM, AT));
    }
    ASK(MPI_Win_unlock(VICTIM, AT));
}

static void flushes(struct rw *w)
{
    operates(w, 1);
}

static void unlocks(struct rw *w)
{
    int k, err = 0;

    for (k = 0; k < TRIES && !failed; k++) {
        ASK(err = MPI_Win_lock(MPI_LOCK_SHARED, VICTIM, 0, AT));
        if (err)
            return;
        each_op(w, k % OPS);
        ASK(MPI_Win_unlock(VICTIM, AT));
    }
}

static void requests(struct rw *w)
{
    MPI_Request r;
    int err, k;

    ASK(MPI_Win_lock_all(MPI_MODE_NOCHECK, AT));
    for (k = 0; k < TRIES && (!failed || k % 4); k++) {
        r = MPI_REQUEST_NULL;
        switch (k % 4) {
        case 0: ASK(err = MPI_Rput(val, LONGS, MPI_INT64_T, MANY, AT, &r)); break;
        case 1: ASK(err = MPI_Rget(res, LONGS, MPI_INT64_T, MANY, AT, &r)); break;
        case 2: ASK(err = MPI_Raccumulate(val, 1, MPI_INT64_T, ONE, MPI_SUM, AT, &r)); break;
        default:
            ASK(err = MPI_Rget_accumulate(val, 1, MPI_INT64_T, res, 1, MPI_INT64_T, ONE, MPI_SUM,
                                          AT, &r));
        }
        if (!err)
            ASK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        CHECK(r == MPI_REQUEST_NULL);
    }
    ASK(MPI_Win_unlock_all(AT));
}

static const struct kind kinds[] = {
    {"lock", holds, locks, 1},
    {"shared lock", holds, locks_shared, 1},
    {"lock_all", holds, locks_all, 1},
    {"fence", nothing, fences, 1},
    {"start", nothing, starts, 1},
    {"post", nothing, posts, 1},
    {"flush", nothing, flushes, 0},
    {"unlock", nothing, unlocks, 0},
    {"requests", nothing, requests, 0},
};
enum { CASES = sizeof kinds / sizeof *kinds };

static void die_in(struct rw *w, const struct kind *k)
{
    int f;

    for (f = 0; f < FLAVOURS; f++)
        k->victim(&w[f]);
    MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(30000); /* the other is in its call then; before or after it, the class is the same */
    kill(getpid(), SIGKILL);
}

static void go_through(struct rw *w, int rank, int far)
{
    const struct kind *k = &kinds[rank - 1];
    char name[80];
    int f;

    MPI_Recv(NULL, 0, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_INT, rank, 2, MPI_COMM_WORLD);
    for (f = 0; f < FLAVOURS; f++) {
        snprintf(name, sizeof name, "%s (%s, %s)", k->name, rw_flavour_names[w[f].flavour],
                 f ? "after the death" : "during it");
        now = name;
        failed = 0;
        k->other(&w[f]);
        MUST(failed || !(far || k->near_too), "%s: no call said that rank %d died", name, rank);
    }
}

int main(int argc, char **argv)
{
    static const int flavours[FLAVOURS] = {RW_ALLOCATE, RW_CREATE, RW_DYNAMIC};
    struct rw w[CASES][FLAVOURS];
    MPI_Comm pair;
    int c, f, far = argc > 1 && !strcmp(argv[1], "far");

    mt_init(&argc, &argv);
    if (mt_size != CASES + 1) {
        MUST(0, "run it on %d ranks", CASES + 1);
        return mt_finish();
    }
    for (c = 0; c < CASES; c++) {
        MPI_Comm_split(MPI_COMM_WORLD, mt_rank == 0 || mt_rank == c + 1 ? 0 : MPI_UNDEFINED,
                       mt_rank, &pair);
        for (f = 0; f < FLAVOURS && pair != MPI_COMM_NULL; f++) {
            rw_make(&w[c][f], flavours[(c + f) % FLAVOURS], sizeof val, pair);
            MPI_Win_set_errhandler(w[c][f].win, MPI_ERRORS_RETURN);
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (mt_rank)
        die_in(w[mt_rank - 1], &kinds[mt_rank - 1]);
    for (c = 1; c <= CASES; c++)
        go_through(w[c - 1], c, far);
    printf(mt_errors ? " Found %d errors\n" : " No Errors\n", mt_errors);
    fflush(stdout);
    MPI_Finalize(); /* ends without the dead ones */
    return mt_errors != 0;
}

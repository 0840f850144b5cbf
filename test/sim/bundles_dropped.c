/* bundles_dropped.c - small puts and gets in bundles whose owner dies with its memory: each thread
 * and each duplicate is told once of what it has lost. */
#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bundles.h"

/* Threads put and get at an owner that dies at any moment, and its memory goes with it. What one
 * waits for may end a bundle of the others, too. */
static int memory_gone;

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long nlocal,
                         const struct iovec *far, unsigned long nfar, unsigned long flags)
{
    if (!memory_gone)
        return syscall(SYS_process_vm_readv, pid, local, nlocal, far, nfar, flags);
    errno = ESRCH;
    return -1;
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *local, unsigned long nlocal,
                          const struct iovec *far, unsigned long nfar, unsigned long flags)
{
    if (!memory_gone)
        return syscall(SYS_process_vm_writev, pid, local, nlocal, far, nfar, flags);
    errno = ESRCH;
    return -1;
}

/* The owner stays outside MPI until calm[1], and dies. */
static void dies_outside(void)
{
    hear(0);
    calm[0] = 1;
    while (!calm[1])
        sim_compute(1);
    sim_die();
}

/* Rank 0 has a duplicate, and the owner does not answer. */
static struct rma_win *with_duplicate(struct job *j, MPI_Win *dup)
{
    MPI_Request r;
    many_before(j, 1);
    OK(MPIX_Win_idup(j->win, MPI_INFO_NULL, dup, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    tell(1);
    while (!calm[0])
        sim_compute(1);
    return inside(j->win);
}

static void owner_dies(void)
{
    memory_gone = 1;
    calm[1] = 1;
    hear_of_death(1);
}

static int one_flush(MPI_Win win, int how)
{
    switch (how) {
    case 0: return MPI_Win_flush(1, win);
    case 1: return MPI_Win_flush_all(win);
    case 2: return MPI_Win_flush_local(1, win);
    default: return MPI_Win_flush_local_all(win);
    }
}

/* One thread and a duplicate: the flush of one is told of both at a dead owner, that of the other
 * of its own. Each is told once: by a flush, by the end of the epoch, or by the duplicate's. */
static void dropped_apart(void *arg)
{
    (void)arg;
    enum { GETS = 4 };
    struct job j = private_open();
    memory_gone = 0;
    if (j.rank == 1)
        dies_outside();
    long got[2 * GETS];
    int how = (int)(sim_random() % 6);
    MPI_Win dup;
    struct rma_win *w = with_duplicate(&j, &dup);
    for (int i = 0; i < 2 * GETS; i++)
        OK(MPI_Get(&got[i], 1, MPI_LONG, 1, i, 1, MPI_LONG, i < GETS ? j.win : dup));
    SIM_CHECK(w->delegate.bundles && !w->table.ntargets && !w->delegate.misses);
    owner_dies();
    ERR(MPIX_ERR_PROC_FAILED, one_flush(how == 5 ? j.win : dup, how % 4));
    SIM_CHECK(!w->delegate.bundles && !w->delegate.errs && w->delegate.misses);
    for (int i = 0; i < 4; i++)
        OK(one_flush(how == 5 ? j.win : dup, i));
    if (how < 4)
        ERR(MPIX_ERR_PROC_FAILED, one_flush(j.win, how));
    for (int i = 0; how < 4 && i < 4; i++)
        OK(one_flush(j.win, i));
    if (how == 5)
        ERR(MPIX_ERR_PROC_FAILED, MPI_Win_free(&dup));
    SIM_CHECK(dup != MPI_WIN_NULL && w->delegate.misses == (how == 4));
    ERR(how == 4 ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS, MPI_Win_unlock_all(j.win));
    SIM_CHECK(!w->err && !w->delegate.misses && !w->delegate.missed);
    OK(MPI_Win_free(&dup));
    memory_gone = 0;
}

/* A thread gets, by the window or by a duplicate, and ends. The owner dies. The flush of another
 * thread is told. The end of the epoch, or of the duplicate, is told for the thread that ended. */
static void ended_work(struct job *j, int thread)
{
    static long got[4];
    for (int i = 0; thread && i < 4; i++)
        OK(MPI_Get(&got[i], 1, MPI_LONG, 1, i, 1, MPI_LONG, j->win));
    of[0].left--;
}

static void ended_main(void *arg)
{
    (void)arg;
    of[sim_rank()].open = 0;
    struct job j = private_open();
    memory_gone = 0;
    if (j.rank == 1)
        dies_outside();
    int by_dup = (int)(sim_random() % 2), how = (int)(sim_random() % 4);
    MPI_Win dup;
    struct rma_win *w = with_duplicate(&j, &dup);
    of[0].left = 2;
    of[0].j = j;
    if (by_dup)
        of[0].j.win = dup;
    of[0].open = 1;
    ended_work(&of[0].j, 0);
    while (of[0].left)
        sim_compute(1);
    SIM_CHECK(w->delegate.bundles && !w->delegate.misses);
    owner_dies();
    ERR(MPIX_ERR_PROC_FAILED, one_flush(j.win, how));
    SIM_CHECK(!w->delegate.bundles && !w->delegate.errs && w->delegate.misses);
    for (int i = 0; i < 4; i++)
        OK(one_flush(j.win, i));
    if (by_dup)
        ERR(MPIX_ERR_PROC_FAILED, MPI_Win_free(&dup));
    SIM_CHECK(dup != MPI_WIN_NULL && w->delegate.misses == !by_dup);
    ERR(by_dup ? MPI_SUCCESS : MPIX_ERR_PROC_FAILED, MPI_Win_unlock_all(j.win));
    SIM_CHECK(!w->err && !w->delegate.missed);
    OK(MPI_Win_free(&dup));
    memory_gone = 0;
}

static void ended_thread(int thread, void *arg)
{
    (void)arg;
    if (sim_rank() == 0)
        join_threads(ended_work, thread);
}

enum { TOLD_GETS = 12 };
static struct {
    MPI_Win dup;
    int flushed, ended; /* threads that have done so */
} told;

/* No call of a thread succeeds for what is not done; it is told of that once; then its calls
 * succeed. */
static void told_once(MPI_Win win, int base)
{
    long got[TOLD_GETS];
    int begun = 0, arrived = 0, err = MPI_SUCCESS;
    for (int round = 0; !err && begun == arrived; round++) {
        for (begun = 0; !err && begun < TOLD_GETS; begun += !err) {
            got[begun] = -1;
            err = MPI_Get(&got[begun], 1, MPI_LONG, 1, base + begun, 1, MPI_LONG, win);
        }
        int late = one_flush(win, (int)(sim_random() % 4));
        for (arrived = 0; arrived < begun && got[arrived] == base + arrived; arrived++)
            ;
        SIM_CHECK(late ? err_class(late) == MPIX_ERR_PROC_FAILED : arrived == begun);
        err = err ? err : late;
        sim_compute((int)(sim_random() % 20));
    }
    ERR(MPIX_ERR_PROC_FAILED, err);
}

/* An element of a failed target reports that in each call. */
static int told_each(MPI_Win win)
{
    return rma_target_find(inside(win), 1) ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS;
}

static void told_work(struct job *j, int thread)
{
    MPI_Win win = thread == 2 ? told.dup : j->win;
    told_once(win, TOLD_GETS * thread);
    told.flushed++;
    while (told.flushed < 3) /* what another drops is for the first flush, too */
        turn();
    if (thread == 0)
        (void)one_flush(win, (int)(sim_random() % 4));
    told.ended += thread == 0;
    while (!told.ended)
        turn();
    for (int how = 0, each = told_each(win); how < 4; how++)
        ERR(each, one_flush(win, how));
    of[0].left--;
}

static void told_main(void *arg)
{
    (void)arg;
    if (sim_rank() == 1) {
        (void)private_open();
        for (int turns = (int)(sim_random() % 60); turns--;)
            turn();
        sim_compute((int)(sim_random() % 60)); /* what is sent now is not done */
        memory_gone = 1;
        sim_die();
    }
    memory_gone = 0;
    of[0].open = told.flushed = told.ended = 0;
    of[0].left = 3;
    of[0].j = private_open();
    for (int i = 0; i < LONGS; i++)
        cell[1][i] = i;
    struct rma_win *w = inside(of[0].j.win);
    MPI_Request r;
    OK(MPI_Win_lock_all(0, of[0].j.win));
    OK(MPIX_Win_idup(of[0].j.win, MPI_INFO_NULL, &told.dup, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    of[0].open = 1;
    told_work(&of[0].j, 0);
    while (of[0].left)
        turn();
    SIM_CHECK(!w->err && !w->delegate.errs && !w->delegate.missed && !rma_near_of(w, 1)->err);
    int each = told_each(told.dup);
    ERR(each, MPI_Win_free(&told.dup));
    if (told.dup != MPI_WIN_NULL)
        OK(MPI_Win_free(&told.dup));
    each = told_each(of[0].j.win);
    ERR(each, MPI_Win_unlock_all(of[0].j.win));
    memory_gone = 0;
}

static void told_thread(int thread, void *arg)
{
    (void)arg;
    if (sim_rank() == 0)
        join_threads(told_work, thread);
}

static void mortal_often(struct sim_knobs *k)
{
    mortal(k);
    k->preempt_percent = (int)(k->seed % 3) * 20;
}

const struct scenario scenarios_bundles_dropped[] = {
    {"s-bundles-dropped", 2, 1, dropped_apart, NULL, mortal},
    {"t-bundles-told", 2, 3, told_main, told_thread, mortal_often},
    {"t-bundles-ended", 2, 2, ended_main, ended_thread, mortal},
    {NULL, 0, 0, NULL, NULL, NULL},
};

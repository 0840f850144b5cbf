/* deaths.c - windows of which a member died: what the living do among themselves goes on, whole;
 * what was lost is reported. (Scripts of single protocols that meet a death: s14-* in scripted.c;
 * native operations: rma.c.) */
#include <errno.h>

#include "scripted.h"

enum { LONGS = 64 }; /* in a window */

/* It may die now, and sends to it fail before its death is reported. */
static void cut_off(int rank)
{
    tell(rank);
    sim_cut(rank);
}

static void tell_each(int last)
{
    for (int t = 1; t <= last; t++)
        tell(t);
}

static void put_each(const struct job *j, const long *v, int last, int at)
{
    for (int t = 1; t <= last; t++)
        put1(j, v, t, at);
}

/* `all`: each rank's memory, to see without MPI what has come. */
static struct job job_seen(long **all)
{
    struct job j = job_of_mortals(LONGS);
    MPI_Allgather(&j.mem, sizeof j.mem, MPI_BYTE, all, sizeof j.mem, MPI_BYTE, MPI_COMM_WORLD);
    return j;
}

/* An epoch in which every other rank has been put to and has confirmed it. */
static void epoch_open(const struct job *j, const long *v)
{
    OK(MPI_Win_lock_all(0, j->win));
    put_each(j, v, j->size - 1, 0);
    OK(MPI_Win_flush_all(j->win));
}

/* The case of a synchronization between rank 0 and ranks 1 to `last`: the other side. */
static MPI_Group opposite(const struct job *j, int last)
{
    int range[1][3] = {{j->rank ? 0 : 1, j->rank ? 0 : last, 1}};
    MPI_Group all, g;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_range_incl(all, 1, range, &g);
    MPI_Group_free(&all);
    return g;
}

static void lock_works(const struct job *j, int rank)
{
    long v = 77, got = 0;
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, j->win));
    OK(MPI_Put(&v, 1, MPI_LONG, rank, 9, 1, MPI_LONG, j->win));
    OK(MPI_Win_flush(rank, j->win));
    OK(MPI_Get(&got, 1, MPI_LONG, rank, 9, 1, MPI_LONG, j->win));
    OK(MPI_Win_unlock(rank, j->win));
    SIM_CHECK(got == v);
}

/* A connection breaks before rank 2 is reported as dead, while UNLOCK for rank 1 finds no room: it
 * leaves later. */
static void cut_in_unlock(void *arg)
{
    struct job j = job_of_mortals(LONGS);
    long v = 5;
    if (stand_by(&j, 2))
        return;
    OK(MPI_Win_lock_all(0, j.win));
    for (int t = 1; t <= 2; t++) {
        put1(&j, &v, t, 0);
        OK(MPI_Win_flush(t, j.win));
    }
    cut_off(2);
    put1(&j, &v, 1, 0);
    OK(MPI_Win_flush_local(1, j.win)); /* the put has left, UNLOCK not */
    ERR(MPIX_ERR_PROC_FAILED, MPI_Win_unlock_all(j.win));
    lock_works(&j, 1);
    tell(1);
}

/* The same in a fence: the living one's element is not left over. */
static void cut_in_fence(void *arg)
{
    struct job j = job_of_mortals(LONGS);
    long v = 5;
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, j.win));
    MPI_Barrier(MPI_COMM_WORLD);
    if (j.rank == 2) {
        hear(0);
        sim_die();
    }
    if (j.rank == 0) {
        put_each(&j, &v, 2, 0);
        cut_off(2);
    }
    (void)MPI_Win_fence(MPI_MODE_NOSUCCEED, j.win);
    if (j.rank == 0) {
        lock_works(&j, 1);
        tell(1);
    } else {
        hear(0);
    }
}

/* And in MPI_Win_complete: rank 1 waits for the COMPLETE. */
static void cut_in_complete(void *arg)
{
    struct job j = job_of_mortals(LONGS);
    MPI_Group g = opposite(&j, 2);
    long v = 5;
    if (j.rank) {
        OK(MPI_Win_post(g, 0, j.win));
        stand_by(&j, 2);
        OK(MPI_Win_wait(j.win));
        SIM_CHECK(j.mem[0] == 5);
    } else {
        OK(MPI_Win_start(g, 0, j.win));
        put_each(&j, &v, 2, 0);
        cut_off(2);
        tell(1);
        (void)MPI_Win_complete(j.win);
    }
    MPI_Group_free(&g);
}

/* Long after a death, elements evicted: flush_all without an error has completed all. */
static void flush_after(void *arg)
{
    long *all[4];
    struct job j = job_seen(all);
    if (stand_by(&j, 3))
        return;
    tell(3);
    hear_of_death(3);
    for (long i = 1; i < 8; i++) {
        OK(MPI_Win_lock_all(i % 2 ? 0 : MPI_MODE_NOCHECK, j.win));
        for (long k = 1; k < 6; k++) {
            long v = i * 100 + k;
            put_each(&j, &v, 2, (int)k);
            if (k % 2)
                OK(MPI_Win_flush_all(j.win));
            else
                for (int t = 1; t <= 2; t++)
                    OK(MPI_Win_flush(t, j.win));
            for (int t = 1; t <= 2; t++)
                SIM_CHECK(all[t][k] == v);
        }
        (void)MPI_Win_unlock_all(j.win); /* of the dead, too */
    }
    tell_each(2);
}

/* Rank 3 is dead, with its own lock held or not.  LOCK_ALL of the others succeeds, and serves among
 * the living; each operation on rank 3 is an error, near as far, also where the near locks were
 * taken at the call, or before a further lock. */
static void lock_all_after(void *arg)
{
    struct job j = job_of_mortals(LONGS), k = job_of_mortals(LONGS);
    long v = 5, *mem;
    MPI_Aint size;
    int unit, near;
    if (j.rank == 3 && sim_seed() % 2) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3, 0, j.win));
        OK(MPI_Win_flush(3, j.win));
    }
    if (stand_by(&j, 3))
        return;
    tell(3);
    hear_of_death(3);
    near = rma_near_of(inside(j.win), 3) != NULL;
    if (sim_seed() / 2 % 2)
        OK(MPI_Win_shared_query(j.win, 1, &size, &unit, &mem));
    for (int round = 0; round < 2; round++) {
        OK(MPI_Win_lock_all(0, j.win));
        for (int i = 0; i < 3; i++) {
            int err = MPI_Put(&v, 1, MPI_LONG, 3, i, 1, MPI_LONG, j.win);
            SIM_CHECK(err || !near); /* a far one may report it at its flush */
            ERR(MPIX_ERR_PROC_FAILED, err ? err : MPI_Win_flush(3, j.win));
            put_each(&j, &v, 2, i);
            OK(MPI_Win_flush(1, j.win));
            if (i == 1) { /* all locks that are called come before it */
                OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, k.win));
                put1(&k, &v, 1, 0);
                OK(MPI_Win_unlock(1, k.win));
            }
        }
        int err = MPI_Win_unlock_all(j.win);
        SIM_CHECK(!err || !near);
        lock_works(&j, 1);
    }
    tell_each(2);
}

/* A put to rank 3 has left when that dies, and its element is needed for another, before or after:
 * a flush returns the error. */
static void unconfirmed(void *arg)
{
    long v = 5, *all[4];
    struct job j = job_seen(all);
    int err;
    if (stand_by(&j, 3))
        return;
    epoch_open(&j, &v);
    tell(3);
    put1(&j, &v, 3, 1);
    if (sim_seed() % 2) {
        OK(MPI_Win_flush_local(3, j.win));
        hear_of_death(3);
        put1(&j, &v, 1, 1);
    } else {
        put1(&j, &v, 1, 1);
        hear_of_death(3);
    }
    if (sim_seed() / 2 % 2) {
        ERR(MPIX_ERR_PROC_FAILED, MPI_Win_flush(3, j.win));
        (void)MPI_Win_flush_all(j.win);
    } else {
        err = MPI_Win_flush_all(j.win);
        SIM_CHECK(err || all[3][1] == v); /* its last word may have been that it is there */
        ERR(MPIX_ERR_PROC_FAILED, MPI_Win_flush(3, j.win));
    }
    (void)MPI_Win_unlock_all(j.win);
    tell_each(2);
}

/* A get of rank 2 is under way when that dies, and rank 1 takes its element. Local flushes return
 * the error, and leave it for one that waits for targets. */
static void get_evicted(void *arg)
{
    struct job j = job_of_mortals(LONGS);
    long v = 5, got = -1;
    (void)arg;
    if (stand_by(&j, 2))
        return;
    epoch_open(&j, &v);
    sim_hold(AM_RMA + RMA_PKT_GET, 0, 2);
    tell(2);
    int err = MPI_Get(&got, 1, MPI_LONG, 2, 0, 1, MPI_LONG, j.win); /* it may be known by now */
    hear_of_death(2);
    put1(&j, &v, 1, 1);
    SIM_CHECK(got == -1 && !rma_target_find(inside(j.win), 2));
    for (int i = 0; !err && i < 2; i++)
        ERR(MPIX_ERR_PROC_FAILED, MPI_Win_flush_local_all(j.win));
    if (!err)
        ERR(MPIX_ERR_PROC_FAILED, MPI_Win_flush_all(j.win));
    (void)MPI_Win_unlock_all(j.win);
    tell(1);
}

/* The same of a rank that lives, and cannot be reached. */
static void cut_evicted(void *arg)
{
    struct job j = job_of_mortals(LONGS);
    long v = 5, got = -1;
    (void)arg;
    if (stand_by(&j, -1))
        return;
    epoch_open(&j, &v);
    sim_unreachable(2, -EMFILE);
    int err = MPI_Get(&got, 1, MPI_LONG, 2, 0, 1, MPI_LONG, j.win);
    put1(&j, &v, 1, 1);
    SIM_CHECK(got == -1 && !rma_target_find(inside(j.win), 2));
    SIM_CHECK(!err && rma_evicted_err(&inside(j.win)->passive.evicted, 2) == -EMFILE);
    ERR(MPI_ERR_OTHER, MPI_Win_flush_local(2, j.win));
    ERR(MPI_ERR_OTHER, MPI_Win_flush_local_all(j.win));
    OK(MPI_Win_flush_local(1, j.win));
    ERR(MPI_ERR_OTHER, MPI_Win_flush(2, j.win));
    sim_unreachable(2, 0);
    (void)MPI_Win_unlock_all(j.win);
    tell_each(2);
}

/* The same, and rank 1 refuses what is put there. One flush of all returns that, the next one that
 * a put is lost: nothing else knows of it. */
static void unconfirmed_too(void *arg)
{
    long v = 5, *all[4];
    struct job j = job_seen(all);
    (void)arg;
    if (stand_by(&j, 3))
        return;
    epoch_open(&j, &v);
    tell(3);
    put1(&j, &v, 3, 1);
    hear_of_death(3);
    put1(&j, &v, 1, 1 << 20);
    ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush_all(j.win));
    ERR(MPIX_ERR_PROC_FAILED, MPI_Win_flush_all(j.win));
    (void)MPI_Win_unlock_all(j.win);
    tell_each(2);
}

/* What was put to a living rank, and its element evicted, before a death: a flush of that rank
 * alone returns the right error, too. */
static void flush_living(void *arg)
{
    long v = 5, *all[4];
    struct job j = job_seen(all);
    if (stand_by(&j, 3)) {
        if (j.rank == 1) /* what waits for it here waits on */
            sim_compute(600);
        hear(0);
        return;
    }
    epoch_open(&j, &v);
    tell(1);
    tell(3);
    put1(&j, &v, 1, 1);
    put1(&j, &v, 2, 1); /* takes its element */
    hear_of_death(3);
    if (sim_seed() % 2)
        put1(&j, &v, 1, 2); /* a new one */
    OK(MPI_Win_flush(1, j.win));
    SIM_CHECK(all[1][1] == v);
    (void)MPI_Win_unlock_all(j.win);
    tell(2);
    tell(2);
    tell(1);
}

/* Rank 1 frees the window after a death, while rank 0 is still in an epoch there. */
static void free_late(void *arg)
{
    struct job j = job_of_mortals(LONGS);
    long v = 3;
    if (j.rank == 3)
        sim_die();
    if (j.rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j.win));
        for (int i = 0; i < 50; i++) {
            put1(&j, &v, 1, 0);
            OK(MPI_Win_flush(1, j.win));
            sim_compute(5);
        }
        OK(MPI_Win_unlock(1, j.win));
    } else if (j.rank == 2) {
        sim_compute((int)(sim_random() % 2000));
    }
    OK(MPI_Win_free(&j.win));
}

/* Rank 3 died, and rank 1 gives up. Ranks that wait for its post, or for its COMPLETE, get an
 * error. */
static void free_instead(void *arg)
{
    struct job j = job_of_mortals(LONGS);
    MPI_Group all, g;
    long v = 3;
    if (j.rank == 3)
        sim_die();
    hear_of_death(3);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, (const int[]){1}, &g);
    if (j.rank != 1 && sim_seed() % 2) {
        OK(MPI_Win_post(g, 0, j.win));
        ERR(MPIX_ERR_PROC_FAILED, MPI_Win_wait(j.win));
    } else if (j.rank != 1) {
        OK(MPI_Win_start(g, 0, j.win));
        put1(&j, &v, 1, 0);
        ERR(MPIX_ERR_PROC_FAILED, MPI_Win_complete(j.win));
    }
    MPI_Group_free(&g);
    MPI_Group_free(&all);
    OK(MPI_Win_free(&j.win));
}

/* Rank 0 waits for rank 2, which waits for a post of rank 1, which is in MPI_Win_free. */
static void free_chain(void *arg)
{
    struct job j = job_of_mortals(LONGS);
    MPI_Group all, g;
    long v = 3;
    if (j.rank == 3)
        sim_die();
    hear_of_death(3);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (j.rank == 0) {
        MPI_Group_incl(all, 1, (const int[]){2}, &g);
        OK(MPI_Win_post(g, 0, j.win));
        OK(MPI_Win_wait(j.win));
        MPI_Group_free(&g);
    } else if (j.rank == 2) {
        MPI_Group_incl(all, 2, (const int[]){0, 1}, &g);
        OK(MPI_Win_start(g, 0, j.win));
        put1(&j, &v, 0, 0);
        ERR(MPIX_ERR_PROC_FAILED, MPI_Win_complete(j.win));
        MPI_Group_free(&g);
    }
    MPI_Group_free(&all);
    OK(MPI_Win_free(&j.win));
}

/* What was posted before MPI_Win_free counts. */
static void free_after_post(void *arg)
{
    struct job j = job_of_mortals(LONGS);
    MPI_Group all, g;
    long v = 3;
    if (j.rank == 3)
        sim_die();
    hear_of_death(3);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, (const int[]){!j.rank}, &g);
    if (j.rank == 0) {
        OK(MPI_Win_start(g, 0, j.win));
        put1(&j, &v, 1, 0);
        OK(MPI_Win_complete(j.win));
    } else if (j.rank == 1) {
        OK(MPI_Win_post(g, 0, j.win));
        OK(MPI_Win_wait(j.win));
        SIM_CHECK(j.mem[0] == 3);
    }
    MPI_Group_free(&g);
    MPI_Group_free(&all);
    OK(MPI_Win_free(&j.win));
}

/* One of the living has given up, and ends without MPI_Win_free. */
static void free_not_all(void *arg)
{
    struct job j = job_of_mortals(LONGS);
    if (j.rank == 3)
        sim_die();
    if (j.rank == 1) {
        sim_compute((int)(sim_random() % 2000));
        return;
    }
    OK(MPI_Win_free(&j.win));
}

/* All ranks but one die in MPI_Win_free, or before it. */
static void free_alone(void *arg)
{
    struct job j = job_of_mortals(LONGS);
    if (j.rank == 3)
        sim_die();
    if (j.rank) {
        sim_compute((int)(sim_random() % 3000));
        sim_die();
    }
    OK(MPI_Win_free(&j.win));
}

/* One of two starters dies, as does a rank that has nothing to do with it: the other is waited for,
 * and so is its COMPLETE, which is none of the next exposure's. */
static void one_starter(void *arg)
{
    struct job j = job_of_mortals(LONGS);
    MPI_Group g = opposite(&j, 2);
    if (j.rank == 3)
        sim_die();
    if (j.rank == 0) {
        OK(MPI_Win_post(g, 0, j.win)); /* also if it is known dead by now */
        ERR(MPIX_ERR_PROC_FAILED, MPI_Win_wait(j.win));
        SIM_CHECK(j.mem[0] == 42);
        MPI_Group_free(&g);
        g = opposite(&j, 1);
        OK(MPI_Win_post(g, 0, j.win));
        OK(MPI_Win_wait(j.win));
        SIM_CHECK(j.mem[0] == 43);
    } else if (j.rank == 2) {
        OK(MPI_Win_start(g, 0, j.win));
        if (sim_seed() % 2)
            sim_compute((int)(sim_random() % 300));
        sim_die();
    } else {
        for (long v = 42; v < 44; v++) {
            OK(MPI_Win_start(g, 0, j.win));
            if (sim_seed() % 2)
                hear_of_death(2);
            sim_compute((int)(sim_random() % 500));
            put1(&j, &v, 0, 0);
            OK(MPI_Win_complete(j.win));
        }
    }
    MPI_Group_free(&g);
}

/* The starter's posts: those of a process outside its group die unnoticed. */
static void bystander(void *arg)
{
    struct job j = job_of_mortals(LONGS);
    MPI_Group g = opposite(&j, 1);
    if (j.rank == 2)
        sim_die();
    for (long v = 1; v < 6; v++) {
        if (j.rank == 0) {
            OK(MPI_Win_post(g, 0, j.win));
            OK(MPI_Win_wait(j.win));
            SIM_CHECK(j.mem[0] == v);
        } else {
            OK(MPI_Win_start(g, 0, j.win));
            sim_compute((int)(sim_random() % 100));
            put1(&j, &v, 0, 0);
            OK(MPI_Win_complete(j.win));
        }
    }
    MPI_Group_free(&g);
}

/* --- inside a lock ---------------------------------------------------------------------------- */

/* Ranks are fibers of one process: how often each has written, how many have ended. */
static struct {
    long wrote[SIM_RANKS];
    int told[SIM_RANKS], ended;
} crowd;

/* Two neighbours of rank 0 die somewhere in the calls that take and give back its lock. */
static int dies(const struct job *j)
{
    return j->rank == 1 || j->rank == 2;
}

static void doom(const struct job *j, int points)
{
    if (dies(j))
        sim_die_at(points);
}

static void crowd_lock(const struct job *j, int type, int points, long *v)
{
    for (;;) {
        doom(j, points);
        int err = MPI_Win_lock(type, 0, 0, j->win);
        if (!err) { /* a far lock is asked for by the first operation */
            err = MPI_Get(v, 1, MPI_LONG, 0, 0, 1, MPI_LONG, j->win);
            err = err ? err : MPI_Win_flush(0, j->win);
            if (err)
                (void)MPI_Win_unlock(0, j->win);
        }
        doom(j, 0);
        if (!err)
            return;
        ERR(MPIX_ERR_PROC_FAILED, err);
        SIM_CHECK(crowd.told[j->rank]++ < 2); /* once for each death */
    }
}

/* The lock of rank 0, which lives.  A writer that dies has written both places, or none. */
static void inside_a_lock(void *arg)
{
    enum { ROUNDS = 8, POINTS = 6 };
    (void)arg;
    struct job j = job_of_mortals(2);
    if (!j.rank)
        memset(&crowd, 0, sizeof crowd);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS || dies(&j); i++) {
        long v[2] = {-1, -2};
        int writes = sim_random() % 3 != 0, points = 1 + (int)(sim_random() % POINTS);
        crowd_lock(&j, writes ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, points, v);
        for (int c = 0; c < 2; c++) {
            OK(MPI_Get(&v[c], 1, MPI_LONG, 0, c, 1, MPI_LONG, j.win));
            OK(MPI_Win_flush(0, j.win));
        }
        SIM_CHECK(v[0] == v[1]);
        for (int c = 0; writes && c < 2; c++) {
            v[c]++;
            put1(&j, &v[c], 0, c);
            OK(MPI_Win_flush(0, j.win));
        }
        crowd.wrote[j.rank] += writes;
        doom(&j, points);
        OK(MPI_Win_unlock(0, j.win));
        doom(&j, 0);
    }
    crowd.ended++;
    while (crowd.ended < j.size - 2 || !sim_gone(1) || !sim_gone(2))
        turn();
    long sum = 0;
    for (int r = 0; r < j.size; r++)
        sum += crowd.wrote[r];
    SIM_CHECK(j.rank || (j.mem[0] == sum && j.mem[1] == sum));
}

/* --- threads ---------------------------------------------------------------------------------- */

/* Two threads of rank 0 put and get at the last rank, which dies at any moment. No call of either
 * thread succeeds for what is not done, also where the other was told of the death first. */
static struct {
    struct job j;
    int open, left;
} both;

static int some_flush(void)
{
    int dying = both.j.size - 1;
    return sim_random() % 2 ? MPI_Win_flush_all(both.j.win) : MPI_Win_flush(dying, both.j.win);
}

static int some_local_flush(void)
{
    return sim_random() % 2 ? MPI_Win_flush_local_all(both.j.win)
                            : MPI_Win_flush_local(both.j.size - 1, both.j.win);
}

static void both_work(int thread)
{
    int err = MPI_SUCCESS, dying = both.j.size - 1;
    for (long v = 1; !err; v++) {
        long sent = v, got = -1;
        err = MPI_Put(&sent, 1, MPI_LONG, dying, thread, 1, MPI_LONG, both.j.win);
        err = err ? err : some_flush();
        err = err ? err : MPI_Get(&got, 1, MPI_LONG, dying, thread, 1, MPI_LONG, both.j.win);
        err = err ? err : sim_random() % 2 ? some_flush() : some_local_flush();
        SIM_CHECK(err || got == v);
    }
    ERR(MPIX_ERR_PROC_FAILED, err);
    both.left--;
}

static void both_told(void *arg)
{
    (void)arg;
    struct job j = job_of_mortals(2);
    if (j.rank) {
        int turns = (int)(sim_random() % 200);
        if (j.rank < j.size - 1) {
            hear(0);
            return;
        }
        while (turns--)
            turn();
        sim_die();
    }
    both.j = j;
    both.left = 2;
    OK(MPI_Win_lock_all(0, both.j.win));
    both.open = 1;
    both_work(0);
    while (both.left)
        turn();
    (void)MPI_Win_unlock_all(both.j.win);
    both.open = 0; /* for the next run */
    for (int t = 1; t < both.j.size - 1; t++)
        tell(t);
}

static void both_told_too(int thread, void *arg)
{
    (void)arg;
    while (!sim_rank() && !both.open)
        sim_compute(1);
    if (!sim_rank())
        both_work(thread);
}

/* ---------------------------------------------------------------------------------------------- */

static void mortal(struct sim_knobs *k)
{
    far_away(k);
    k->quiet_rank = -1;
    k->mortal = 1;
}

static void mortal_mixed(struct sim_knobs *k)
{
    mortal(k);
    k->nodes = k->seed % 3 ? 1 + (int)(k->seed % 3) : k->ranks;
}

/* Half of the ranks are on rank 0's node, the last one is not. */
static void mortal_two_nodes(struct sim_knobs *k)
{
    mortal(k);
    k->nodes = 2;
}

static void near_preempted(struct sim_knobs *k)
{
    mortal(k);
    k->nodes = 1;
    k->preempt_percent = (int)(k->seed % 3) * 20;
}

static void two_preempted(struct sim_knobs *k)
{
    near_preempted(k);
    k->nodes = 2;
}

/* No room for a second message, and no operation by the network itself. */
static void narrow(struct sim_knobs *k)
{
    mortal(k);
    k->inbox = 1;
    k->again_percent = 40;
    k->max_delay = 40;
    k->native = 0;
}

static void mortal_poor(struct sim_knobs *k)
{
    far_and_poor(k);
    k->quiet_rank = -1;
    k->mortal = 1;
    k->native = 0;
    k->max_delay = 40;
}

const struct scenario scenarios_deaths[] = {
    {"dead-cut-in-unlock", 3, 1, cut_in_unlock, NULL, narrow},
    {"dead-cut-in-fence", 3, 1, cut_in_fence, NULL, narrow},
    {"dead-cut-in-complete", 3, 1, cut_in_complete, NULL, narrow},
    {"dead-flush-after", 4, 1, flush_after, NULL, mortal_poor},
    {"dead-lock-all-after", 4, 1, lock_all_after, NULL, mortal},
    {"dead-lock-all-after-near", 4, 1, lock_all_after, NULL, near_preempted},
    {"dead-lock-all-after-mixed", 4, 1, lock_all_after, NULL, two_preempted},
    {"dead-unconfirmed", 4, 1, unconfirmed, NULL, mortal_poor},
    {"dead-get-evicted", 3, 1, get_evicted, NULL, mortal_poor},
    {"dead-cut-evicted", 3, 1, cut_evicted, NULL, mortal_poor},
    {"dead-unconfirmed-too", 4, 1, unconfirmed_too, NULL, mortal_poor},
    {"dead-flush-living", 4, 1, flush_living, NULL, mortal_poor},
    {"dead-free-not-all", 4, 1, free_not_all, NULL, mortal_mixed},
    {"dead-free-late", 4, 1, free_late, NULL, mortal_mixed},
    {"dead-free-instead", 4, 1, free_instead, NULL, mortal_mixed},
    {"dead-free-chain", 4, 1, free_chain, NULL, mortal_mixed},
    {"dead-free-after-post", 4, 1, free_after_post, NULL, mortal_mixed},
    {"dead-free-alone", 4, 1, free_alone, NULL, mortal_mixed},
    {"dead-one-starter", 4, 1, one_starter, NULL, mortal_mixed},
    {"dead-bystander", 3, 1, bystander, NULL, mortal_mixed},
    {"dead-inside-a-lock", 5, 1, inside_a_lock, NULL, near_preempted},
    {"dead-inside-a-lock-mixed", 6, 1, inside_a_lock, NULL, two_preempted},
    {"dead-both-told", 2, 2, both_told, both_told_too, mortal},
    {"dead-both-told-poor", 2, 2, both_told, both_told_too, mortal_poor},
    {"dead-both-told-mixed", 4, 2, both_told, both_told_too, mortal_two_nodes},
    {NULL, 0, 0, NULL, NULL, NULL},
};

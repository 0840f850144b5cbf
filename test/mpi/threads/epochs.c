/* epochs.c - one-sided calls of four threads inside epochs that one of them, or all of them, open
 * and close: put, get and accumulate together; beside a thread that calls fence; beside flushes of
 * every kind, by size and by type of request; under lock, fence and start of another thread;
 * windows of their own, made, used and freed at the same time. (The interleavings of the design
 * paper and rma.md 5.8; rma.c has the passive and the dynamic ones.)
 *   epochs [ROUNDS]          30 in `make check` */
#include "team.h"

enum { BIG = 6000 }; /* BIG elements do not fit in one packet */
static int rounds = 30;
static MPI_Win win;
static int64_t *mem;
static MPI_Comm comm_of[T];

/* Layout of the window: sums, 8 elements that are not changed, then a row of BIG per (origin,
 * thread). */
enum { SUM, SUM_GET, SUM_VEC, KEPT = SUM_VEC + 8, NSUMS = KEPT + 8 };
static MPI_Aint row(int origin, int t) { return NSUMS + ((MPI_Aint)origin * T + t) * BIG; }
static MPI_Aint elements(void) { return row(mt_size, 0); }

/* Clear and check between epochs, under an exclusive lock of this process. */
static void clear(void)
{
    int i;

    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mt_rank, 0, win);
    memset(mem, 0, (size_t)elements() * sizeof *mem);
    for (i = 0; i < 8; i++)
        mem[KEPT + i] = mt_rank * 8 + i;
    MPI_Win_unlock(mt_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What `threads` threads of each process left after `n` turns each. */
static void check_sums(int threads, int n)
{
    int64_t all = (int64_t)threads * n * mt_size;
    int i;

    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, win);
    CHECK_EQ(mem[SUM], all);
    CHECK_EQ(mem[SUM_GET], all);
    for (i = 0; i < 8; i++)
        CHECK_EQ(mem[SUM_VEC + i], all * (i + 1));
    MPI_Win_unlock(mt_rank, win);
}

/* What a thread's operations read and write; lives as long as the program. */
static struct {
    int64_t *big, *back; /* BIG elements: put, and got back */
    int64_t *result;     /* one per turn: what Get_accumulate fetched */
    int64_t *kept;       /* eight per turn: what Get fetched */
} my[T];

static void fill_big(int t, int seed)
{
    int k;

    for (k = 0; k < BIG; k++)
        my[t].big[k] = (int64_t)mt_rank * 1000003 + t * 100019 + (int64_t)seed * 7 + k;
}

static int elements_of(int i) { return i % 3 ? 1 + i % 7 : BIG; }

/* One turn: add to the sums of r, put into this thread's row there. */
static void turn(int t, int r, int i)
{
    static const int64_t one = 1, vec[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int n = elements_of(i);

    MPI_Accumulate(&one, 1, MPI_INT64_T, r, SUM, 1, MPI_INT64_T, MPI_SUM, win);
    MPI_Get_accumulate(&one, 1, MPI_INT64_T, &my[t].result[i * mt_size + r], 1, MPI_INT64_T, r,
                       SUM_GET, 1, MPI_INT64_T, MPI_SUM, win);
    MPI_Accumulate(vec, 8, MPI_INT64_T, r, SUM_VEC, 8, MPI_INT64_T, MPI_SUM, win);
    MPI_Put(my[t].big, n, MPI_INT64_T, r, row(mt_rank, t), n, MPI_INT64_T, win);
}

/* Each fetched value is one that the sum had. */
static int fetched_wrong(int t, int from, int to, int threads)
{
    int bad = 0, i;

    for (i = from * mt_size; i < to * mt_size; i++)
        bad += my[t].result[i] < 0 || my[t].result[i] >= (int64_t)threads * rounds * mt_size;
    return bad;
}

/* --- operations only; the epoch is the main thread's ------------------------------------------ */

static void *operate(void *arg)
{
    int t = (int)(intptr_t)arg, i, r;

    for (i = 0; i < rounds; i++)
        for (r = 0; r < mt_size; r++) {
            turn(t, (r + t) % mt_size, i);
            MPI_Get(my[t].kept + (i * mt_size + r) * 8, 8, MPI_INT64_T, r, KEPT, 8, MPI_INT64_T,
                    win);
        }
    return NULL;
}

static void check_rows(int threads)
{
    int o, t, k;

    MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, win);
    for (o = 0; o < mt_size; o++)
        for (t = T - threads; t < T; t++)
            for (k = 0; k < BIG; k += 7)
                if (!CHECK_EQ(mem[row(o, t) + k], (int64_t)o * 1000003 + t * 100019 + k))
                    break;
    MPI_Win_unlock(mt_rank, win);
    for (t = T - threads; t < T; t++) {
        CHECK_EQ(fetched_wrong(t, 0, rounds, threads), 0);
        for (k = 0; k < rounds * mt_size * 8; k++)
            if (!CHECK_EQ(my[t].kept[k], k % (mt_size * 8)))
                break;
    }
}

static void epochs_of_main(void)
{
    MPI_Group all;

    clear();
    MPI_Win_lock_all(0, win);
    run(operate);
    MPI_Win_unlock_all(win);
    check_sums(T, rounds);
    check_rows(T);

    clear();
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    run(operate);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    check_sums(T, rounds);
    check_rows(T);

    clear();
    MPI_Win_get_group(win, &all);
    MPI_Win_post(all, 0, win);
    MPI_Win_start(all, 0, win);
    run(operate);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&all);
    check_sums(T, rounds);
    check_rows(T);
}

/* --- one thread fences while the others operate: an operation falls into one epoch or the next  */

static void *operate_or_fence(void *arg)
{
    int i;

    if ((int)(intptr_t)arg)
        return operate(arg);
    for (i = 0; i < rounds; i++)
        MPI_Win_fence(0, win);
    return NULL;
}

static void beside_fence(void)
{
    clear();
    MPI_Win_fence(0, win);
    run(operate_or_fence);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    check_sums(T - 1, rounds);
    check_rows(T - 1);
}

/* --- flushes of all kinds by all threads ------------------------------------------------------ */

static void *flush_all_kinds(void *arg)
{
    int t = (int)(intptr_t)arg, i, r, n;

    for (i = 0; i < rounds; i++)
        for (r = 0; r < mt_size; r++) {
            n = elements_of(i);
            fill_big(t, i);
            turn(t, r, i);
            switch ((i + t) % 4) {
            case 0: MPI_Win_flush_local(r, win); break;
            case 1: MPI_Win_flush_local_all(win); break;
            case 2: MPI_Win_flush(r, win); break;
            default: MPI_Win_flush_all(win);
            }
            memset(my[t].back, 0, (size_t)n * sizeof *my[t].back);
            if ((i + t) % 4 < 2) { /* the buffer may be used again; what was put counts */
                memset(my[t].big, 1, (size_t)n * sizeof *my[t].big);
                MPI_Win_flush(r, win);
                fill_big(t, i);
            }
            wrong[t] += my[t].result[i * mt_size + r] < 0;
            MPI_Get(my[t].back, n, MPI_INT64_T, r, row(mt_rank, t), n, MPI_INT64_T, win);
            if (i % 2)
                MPI_Win_flush(r, win);
            else
                MPI_Win_flush_local(r, win);
            wrong[t] += memcmp(my[t].back, my[t].big, (size_t)n * sizeof *my[t].big) != 0;
        }
    wrong[t] += fetched_wrong(t, 0, rounds, T);
    return NULL;
}

/* The same with requests, completed in several ways. */
static void *requests(void *arg)
{
    static const int64_t one = 1, vec[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int t = (int)(intptr_t)arg, i, r, n, done, k;
    MPI_Request q[4];

    for (i = 0; i < rounds; i++)
        for (r = 0; r < mt_size; r++) {
            n = elements_of(i);
            fill_big(t, i);
            MPI_Raccumulate(&one, 1, MPI_INT64_T, r, SUM, 1, MPI_INT64_T, MPI_SUM, win, &q[0]);
            MPI_Rget_accumulate(&one, 1, MPI_INT64_T, &my[t].result[i * mt_size + r], 1,
                                MPI_INT64_T, r, SUM_GET, 1, MPI_INT64_T, MPI_SUM, win, &q[1]);
            MPI_Raccumulate(vec, 8, MPI_INT64_T, r, SUM_VEC, 8, MPI_INT64_T, MPI_SUM, win, &q[2]);
            MPI_Rput(my[t].big, n, MPI_INT64_T, r, row(mt_rank, t), n, MPI_INT64_T, win, &q[3]);
            if (i % 2) {
                MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
            } else {
                for (done = 0; !done;)
                    MPI_Testall(4, q, &done, MPI_STATUSES_IGNORE);
            }
            MPI_Win_flush(r, win);
            MPI_Rget(my[t].back, n, MPI_INT64_T, r, row(mt_rank, t), n, MPI_INT64_T, win, &q[0]);
            MPI_Waitany(1, q, &k, MPI_STATUS_IGNORE);
            wrong[t] += memcmp(my[t].back, my[t].big, (size_t)n * sizeof *my[t].big) != 0;
        }
    wrong[t] += fetched_wrong(t, 0, rounds, T);
    return NULL;
}

static void passive(void *(*fn)(void *))
{
    clear();
    MPI_Win_lock_all(0, win);
    run(fn);
    MPI_Win_unlock_all(win);
    check_sums(T, rounds);
}

/* --- a window for each thread, made, used and freed beside the others ------------------------- */

static void *own_window(void *arg)
{
    int t = (int)(intptr_t)arg, i, next = (mt_rank + 1) % mt_size,
        before = (mt_rank + mt_size - 1) % mt_size;
    int64_t *at, space[4], one = 1, v;
    MPI_Win w;

    for (i = 0; i < 1 + rounds / 6; i++) {
        if ((t + i) % 2)
            MPI_Win_allocate(sizeof space, sizeof v, MPI_INFO_NULL, comm_of[t], &at, &w);
        else
            MPI_Win_create(at = space, sizeof space, sizeof v, MPI_INFO_NULL, comm_of[t], &w);
        MPI_Win_fence(0, w);
        memset(at, 0, sizeof space);
        MPI_Win_fence(0, w);
        v = 100 * mt_rank + t;
        MPI_Put(&v, 1, MPI_INT64_T, next, 0, 1, MPI_INT64_T, w);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
        wrong[t] += at[0] != 100 * before + t;
        MPI_Barrier(comm_of[t]);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w);
        MPI_Get(&v, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, w);
        MPI_Win_flush(0, w);
        v++;
        MPI_Put(&v, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, w);
        MPI_Win_unlock(0, w);
        MPI_Win_lock_all(0, w);
        MPI_Fetch_and_op(&one, &v, MPI_INT64_T, next, 2, MPI_SUM, w);
        MPI_Win_unlock_all(w);
        MPI_Barrier(comm_of[t]);
        MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, w);
        wrong[t] += (mt_rank == 0 && at[1] != mt_size) || at[2] != 1;
        MPI_Win_unlock(mt_rank, w);
        MPI_Win_free(&w);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int ok = mt_init_threads(&argc, &argv), t;

    CHECK(ok);
    if (!ok)
        return mt_finish();
    if (argc > 1)
        rounds = atoi(argv[1]);
    for (t = 0; t < T; t++) {
        my[t].big = mt_alloc(BIG * sizeof *my[t].big);
        my[t].back = mt_alloc(BIG * sizeof *my[t].back);
        my[t].kept = mt_alloc((size_t)(rounds * mt_size) * 8 * sizeof *my[t].kept);
        my[t].result = mt_alloc((size_t)(rounds * mt_size) * sizeof *my[t].result);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm_of[t]);
        fill_big(t, 0);
    }
    MPI_Win_allocate(elements() * (MPI_Aint)sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &mem, &win);
    epochs_of_main();
    beside_fence();
    passive(flush_all_kinds);
    passive(requests);
    run(own_window);
    MPI_Win_free(&win);
    for (t = 0; t < T; t++) {
        MPI_Comm_free(&comm_of[t]);
        free(my[t].big);
        free(my[t].back);
        free(my[t].result);
        free(my[t].kept);
    }
    return mt_finish();
}

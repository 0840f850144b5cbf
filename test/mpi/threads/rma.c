/* rma.c - one-sided calls from several threads: counters under lock_all; lock/put/unlock on
 * different targets; request-based operations; post/wait in one thread with start/complete in
 * another; two windows at once; attach and detach beside operations. (rma.md 5.8) */
#include "team.h"

enum { ROUNDS = 100 };
static MPI_Win win, win2, dyn;
static int64_t *mem, *mem2;
/* an origin must last until its operation is complete, which may be after the thread */
static const int64_t one = 1;

static void run_all(void *(*fn)(void *))
{
    run(fn);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Inside one lock_all of the process: each thread flushes its own operations. */
static void *count(void *arg)
{
    int t = (int)(intptr_t)arg, i, r;
    int64_t got, x;
    MPI_Request req;

    for (i = 0; i < ROUNDS; i++)
        for (r = 0; r < mt_size; r++) {
            MPI_Fetch_and_op(&one, &got, MPI_INT64_T, r, 0, MPI_SUM, win);
            MPI_Win_flush(r, win);
            wrong[t] += got < 0 || got >= (int64_t)T * ROUNDS * mt_size;
            MPI_Accumulate(&one, 1, MPI_INT64_T, r, 1, 1, MPI_INT64_T, MPI_SUM, win2);
            x = (int64_t)mt_rank * 1000000 + t * 100000 + i;
            MPI_Rput(&x, 1, MPI_INT64_T, r, 10 + mt_rank * T + t, 1, MPI_INT64_T, win, &req);
            MPI_Wait(&req, MPI_STATUS_IGNORE);
            if (i % 8 == 0)
                MPI_Win_flush_all(win);
            else
                MPI_Win_flush(r, win);
            MPI_Rget(&got, 1, MPI_INT64_T, r, 10 + mt_rank * T + t, 1, MPI_INT64_T, win, &req);
            MPI_Wait(&req, MPI_STATUS_IGNORE);
            wrong[t] += got != x;
        }
    return NULL;
}

/* Each thread locks targets of its own: thread t those with rank % T == t. */
static void *locks(void *arg)
{
    int t = (int)(intptr_t)arg, i, r;
    int64_t v, got;

    for (i = 0; i < ROUNDS; i++)
        for (r = t; r < mt_size; r += T) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, r, 0, win);
            MPI_Get(&got, 1, MPI_INT64_T, r, 5, 1, MPI_INT64_T, win);
            MPI_Win_flush(r, win);
            v = got + 1;
            MPI_Put(&v, 1, MPI_INT64_T, r, 5, 1, MPI_INT64_T, win);
            MPI_Win_unlock(r, win);
        }
    return NULL;
}

static MPI_Group all_ranks;

static void *expose(void *arg)
{
    int i;

    (void)arg;
    for (i = 0; i < ROUNDS; i++) {
        MPI_Win_post(all_ranks, 0, win2);
        MPI_Win_wait(win2);
    }
    return NULL;
}

static void *access_all(void *arg)
{
    int i, r;
    int64_t v;

    (void)arg;
    for (i = 0; i < ROUNDS; i++) {
        MPI_Win_start(all_ranks, 0, win2);
        v = i;
        for (r = 0; r < mt_size; r++)
            MPI_Put(&v, 1, MPI_INT64_T, r, 20 + mt_rank, 1, MPI_INT64_T, win2);
        MPI_Win_complete(win2);
    }
    return NULL;
}

static void pscw(void)
{
    pthread_t a, b;
    int r;

    MPI_Win_get_group(win2, &all_ranks);
    pthread_create(&a, NULL, expose, NULL);
    pthread_create(&b, NULL, access_all, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    MPI_Group_free(&all_ranks);
    for (r = 0; r < mt_size; r++)
        CHECK_EQ(mem2[20 + r], ROUNDS - 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Threads attach and detach scratch memory while others work on memory that stays. */
static MPI_Aint *stay;

static void *dynamic(void *arg)
{
    int t = (int)(intptr_t)arg, i, r;
    int64_t scratch[8];

    for (i = 0; i < ROUNDS; i++) {
        if (t % 2) {
            wrong[t] += MPI_Win_attach(dyn, scratch, sizeof scratch) != MPI_SUCCESS;
            wrong[t] += MPI_Win_detach(dyn, scratch) != MPI_SUCCESS;
        } else
            for (r = 0; r < mt_size; r++) {
                MPI_Accumulate(&one, 1, MPI_INT64_T, r, stay[r], 1, MPI_INT64_T, MPI_SUM, dyn);
                MPI_Win_flush(r, dyn);
            }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int ok = mt_init_threads(&argc, &argv), r;
    int64_t kept = 0;
    MPI_Aint here;
    MPI_Aint bytes;

    CHECK(ok);
    if (!ok)
        return mt_finish();
    bytes = (MPI_Aint)((20 + mt_size * T) * (int)sizeof(int64_t));
    MPI_Win_allocate(bytes, sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    mem2 = mt_alloc((size_t)bytes + 64 * sizeof(int64_t));
    MPI_Win_create(mem2, bytes + 64 * (MPI_Aint)sizeof(int64_t), sizeof(int64_t), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win2);
    memset(mem, 0, (size_t)bytes);
    memset(mem2, 0, (size_t)bytes + 64 * sizeof(int64_t));
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Win_lock_all(0, win);
    MPI_Win_lock_all(0, win2);
    run_all(count);
    MPI_Win_unlock_all(win2);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(mem[0], (int64_t)T * ROUNDS * mt_size);
    CHECK_EQ(mem2[1], (int64_t)T * ROUNDS * mt_size);
    run_all(locks);
    MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, win);
    CHECK_EQ(mem[5], (int64_t)ROUNDS * mt_size);
    MPI_Win_unlock(mt_rank, win);
    pscw();
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dyn);
    MPI_Win_attach(dyn, &kept, sizeof kept);
    MPI_Get_address(&kept, &here);
    stay = mt_alloc(sizeof *stay * (size_t)mt_size);
    MPI_Allgather(&here, 1, MPI_AINT, stay, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, dyn);
    run_all(dynamic);
    MPI_Win_unlock_all(dyn);
    MPI_Barrier(MPI_COMM_WORLD);
    r = T / 2 * ROUNDS * mt_size;
    CHECK_EQ(kept, r);
    MPI_Win_detach(dyn, &kept);
    MPI_Win_free(&dyn);
    MPI_Win_free(&win2);
    MPI_Win_free(&win);
    free(mem2);
    free(stay);
    return mt_finish();
}

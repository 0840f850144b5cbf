/* requests.c - request-based operations: hundreds outstanding, completion in any order, by wait and
 * test alone, mixed with messages; many operations in one epoch. (outstanding Rputs: a peer aborted
 * at the 255th; 260,000 gets exhausted another's requests) */
#include "rw.h"

enum { N = 600 };

static void outstanding(struct rw *w)
{
    MPI_Request *req = mt_alloc(sizeof *req * 4 * N);
    int64_t *out = mt_alloc(8 * N), *in = mt_alloc(8 * N), *old = mt_alloc(8 * N), one[1] = {1},
            m = -1;
    int i, t, bad = 0, flag, n = 0, idx;

    for (i = 0; i < N; i++) {
        out[i] = w->rank * 10000 + i;
        in[i] = old[i] = -1;
    }
    MPI_Win_lock_all(0, w->win);
    for (i = 0; i < N; i++) {
        t = (w->rank + i) % w->size;
        MPI_Rput(&out[i], 1, MPI_INT64_T, t, rw_disp(w, t, 8 * (size_t)(w->rank * N + i)), 1,
                 MPI_INT64_T, w->win, &req[n++]);
    }
    MPI_Waitall(n, req, MPI_STATUSES_IGNORE);
    MPI_Win_flush_all(w->win);
    n = 0;
    MPI_Irecv(&m, 1, MPI_INT64_T, MPI_ANY_SOURCE, 7, w->comm, &req[n++]);
    for (i = 0; i < N; i++) {
        t = (w->rank + i) % w->size;
        MPI_Rget(&in[i], 1, MPI_INT64_T, t, rw_disp(w, t, 8 * (size_t)(w->rank * N + i)), 1,
                 MPI_INT64_T, w->win, &req[n++]);
    }
    MPI_Send(one, 1, MPI_INT64_T, (w->rank + 1) % w->size, 7, w->comm);
    for (i = 0; i < n; i++) {
        MPI_Waitany(n, req, &idx, MPI_STATUS_IGNORE);
        CHECK(idx >= 0 && idx < n);
    }
    CHECK_EQ(m, 1);
    for (i = 0; i < N; i++)
        bad += in[i] != out[i];
    MUST(bad == 0, "%s: %d of %d rgets wrong", rw_flavour_names[w->flavour], bad, N);
    n = 0;
    for (i = 0; i < N; i++) {
        t = (w->rank + i) % w->size;
        if (i % 2)
            MPI_Raccumulate(one, 1, MPI_INT64_T, t, rw_disp(w, t, 8 * (size_t)(w->rank * N + i)), 1,
                            MPI_INT64_T, MPI_SUM, w->win, &req[n++]);
        else
            MPI_Rget_accumulate(one, 1, MPI_INT64_T, &old[i], 1, MPI_INT64_T, t,
                                rw_disp(w, t, 8 * (size_t)(w->rank * N + i)), 1, MPI_INT64_T,
                                MPI_SUM, w->win, &req[n++]);
    }
    do
        MPI_Testall(n, req, &flag, MPI_STATUSES_IGNORE);
    while (!flag);
    MPI_Win_unlock_all(w->win);
    for (i = bad = 0; i < N; i += 2)
        bad += old[i] != out[i];
    MUST(bad == 0, "%s: %d rget_accumulates wrong", rw_flavour_names[w->flavour], bad);
    MPI_Barrier(w->comm);
    rw_own(w);
    for (t = bad = 0; t < w->size; t++)
        for (i = 0; i < N; i++)
            if ((t + i) % w->size == w->rank)
                bad += ((int64_t *)(void *)w->mem)[t * N + i] != t * 10000 + i + 1;
    rw_disown(w);
    MUST(bad == 0, "%s: %d elements wrong at the target", rw_flavour_names[w->flavour], bad);
    free(req), free(out), free(in), free(old);
    MPI_Barrier(w->comm);
}

/* A huge number of operations in one epoch. */
static void huge(struct rw *w, int n)
{
    int i, t, bad = 0;
    int64_t *in = mt_alloc(8 * (size_t)n), one = 1, *cell = (int64_t *)(void *)w->mem;

    rw_own(w);
    for (i = 0; i < 100; i++)
        cell[i] = w->rank * 1000 + i;
    cell[101] = 0;
    rw_disown(w);
    MPI_Barrier(w->comm);
    MPI_Win_lock_all(0, w->win);
    for (i = 0; i < n; i++) {
        t = i % w->size;
        MPI_Get(&in[i], 1, MPI_INT64_T, t, rw_disp(w, t, 8 * (size_t)(i % 100)), 1, MPI_INT64_T,
                w->win);
        if (i % 10 == 0)
            MPI_Accumulate(&one, 1, MPI_INT64_T, t, rw_disp(w, t, 808), 1, MPI_INT64_T, MPI_SUM,
                           w->win);
    }
    MPI_Win_unlock_all(w->win);
    for (i = 0; i < n; i++)
        bad += in[i] != i % w->size * 1000 + i % 100;
    MUST(bad == 0, "%s: %d of %d gets in one epoch wrong", rw_flavour_names[w->flavour], bad, n);
    MPI_Barrier(w->comm);
    rw_own(w);
    for (i = t = 0; i < n; i += 10)
        t += i % w->size == w->rank;
    CHECK_EQ(cell[101], (int64_t)t * w->size);
    rw_disown(w);
    free(in);
    MPI_Barrier(w->comm);
}

int main(int argc, char **argv)
{
    struct rw w;
    int f, n = argc > 1 ? atoi(argv[1]) : 30000;

    mt_init(&argc, &argv);
    for (f = 0; f < RW_FLAVOURS; f++) {
        if (!rw_make(&w, f, 8 * N * (size_t)mt_size, MPI_COMM_WORLD))
            continue;
        outstanding(&w);
        huge(&w, n);
        rw_free(&w);
    }
    return mt_finish();
}

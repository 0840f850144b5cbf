/* rfop.c - atomic operations with requests: tickets that no two ranks get, swaps, completion in any
 * order mixed with messages.  A complete request says that the operation is applied, too: its
 * target sees it without a flush. */
#include "rw.h"

enum { N = 400, TICKETS = 8 * N, PLACES = TICKETS + 8, SEEN = PLACES + 8 * N, BYTES = SEEN + 8 };

/* All ranks draw N tickets of each target; those of a target are 0 to N * size - 1. */
static void tickets(struct rw *w)
{
    int i, t, idx, n = 0, bad = 0;
    MPI_Request *req = mt_alloc(sizeof *req * (2 * N + 1));
    int64_t one = 1, m = -1, *got = mt_alloc(8 * N), sum = 0, all, want = 0;

    MPI_Win_lock_all(0, w->win);
    MPI_Irecv(&m, 1, MPI_INT64_T, MPI_ANY_SOURCE, 5, w->comm, &req[n++]);
    for (i = 0; i < N; i++) {
        got[i] = -1;
        t = (w->rank + i) % w->size;
        MPIX_Rfetch_and_op(&one, &got[i], MPI_INT64_T, t, rw_disp(w, t, TICKETS), MPI_SUM, w->win,
                           &req[n++]);
    }
    MPI_Send(&one, 1, MPI_INT64_T, (w->rank + 1) % w->size, 5, w->comm);
    for (i = 0; i < n; i++) {
        MPI_Waitany(n, req, &idx, MPI_STATUS_IGNORE);
        CHECK(idx >= 0 && idx < n && req[idx] == MPI_REQUEST_NULL);
        if (idx > 0)
            bad += got[idx - 1] < 0;
    }
    MUST(bad == 0, "%s: %d requests were complete without a result", rw_flavour_names[w->flavour],
         bad);
    CHECK_EQ(m, 1);
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(w->comm);
    for (i = 0; i < N; i++)
        sum += got[i];
    MPI_Allreduce(&sum, &all, 1, MPI_INT64_T, MPI_SUM, w->comm);
    for (t = 0; t < w->size; t++) {
        int64_t k = 0;
        for (i = 0; i < w->size; i++)
            k += (N - (t - i + w->size) % w->size + w->size - 1) / w->size;
        want += k * (k - 1) / 2;
        if (t == w->rank) {
            rw_own(w);
            CHECK_EQ(*(int64_t *)(void *)(w->mem + TICKETS), k);
            rw_disown(w);
        }
    }
    CHECK_EQ(all, want);
    free(req), free(got);
    MPI_Barrier(w->comm);
}

/* Ranks race for the places of rank 0: each place has one winner, and the others see it. */
static void places(struct rw *w)
{
    int i, flag, won = 0, total;
    MPI_Request *req = mt_alloc(sizeof *req * N);
    int64_t empty = 0, *mine = mt_alloc(8 * N), *before = mt_alloc(8 * N);

    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win);
    for (i = 0; i < N; i++) {
        mine[i] = 1 + w->rank * N + i;
        before[i] = -1;
        MPIX_Rcompare_and_swap(&mine[i], &empty, &before[i], MPI_INT64_T, 0,
                               rw_disp(w, 0, PLACES + 8 * (size_t)i), w->win, &req[i]);
    }
    do
        MPI_Testall(N, req, &flag, MPI_STATUSES_IGNORE);
    while (!flag);
    for (i = 0; i < N; i++) {
        won += before[i] == 0;
        CHECK(before[i] >= 0 && before[i] <= w->size * N);
        CHECK(before[i] == 0 || (before[i] - 1) % N == i);
    }
    MPI_Win_unlock(0, w->win);
    MPI_Allreduce(&won, &total, 1, MPI_INT, MPI_SUM, w->comm);
    CHECK_EQ(total, N);
    free(req), free(mine), free(before);
}

/* Rank 0 tells rank 1 by a message, and flushes nothing. */
static void applied(struct rw *w)
{
    MPI_Request req;
    int64_t v = 77, old = -1;
    int i;

    MPI_Win_lock_all(0, w->win);
    for (i = 0; w->size > 1 && i < 20; i++) {
        if (w->rank == 0) {
            v = 77 + i;
            MPIX_Rfetch_and_op(&v, &old, MPI_INT64_T, 1, rw_disp(w, 1, SEEN), MPI_REPLACE, w->win,
                               &req);
            MPI_Wait(&req, MPI_STATUS_IGNORE);
            CHECK_EQ(old, i ? v - 1 : 0);
            MPI_Send(NULL, 0, MPI_BYTE, 1, 6, w->comm);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 7, w->comm, MPI_STATUS_IGNORE);
        } else if (w->rank == 1) {
            MPI_Recv(NULL, 0, MPI_BYTE, 0, 6, w->comm, MPI_STATUS_IGNORE);
            MPI_Win_sync(w->win);
            CHECK_EQ(*(volatile int64_t *)(void *)(w->mem + SEEN), 77 + i);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 7, w->comm);
        }
    }
    MPI_Win_unlock_all(w->win);
}

static void edges(struct rw *w)
{
    MPI_Request req;
    int64_t v = 1, old = 5;
    double d = 0;
    int err, next = (w->rank + 1) % w->size;

    MPI_Win_lock_all(0, w->win);
    MPIX_Rfetch_and_op(&v, &old, MPI_INT64_T, MPI_PROC_NULL, 0, MPI_SUM, w->win, &req);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    MPIX_Rcompare_and_swap(&v, &v, &old, MPI_INT64_T, MPI_PROC_NULL, 0, w->win, &req);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    CHECK_EQ(old, 5);
    MPIX_Rfetch_and_op(NULL, &old, MPI_INT64_T, next, rw_disp(w, next, 0), MPI_NO_OP, w->win, &req);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    CHECK_EQ(old, 0);
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    err = MPIX_Rfetch_and_op(&v, &old, MPI_INT64_T, next, rw_disp(w, next, 0), MPI_SUM, w->win,
                             NULL);
    CHECK_EQ(mt_class(err), MPI_ERR_ARG);
    err = MPIX_Rcompare_and_swap(&v, &v, &old, MPI_INT64_T, next, rw_disp(w, next, 0), w->win,
                                 NULL);
    CHECK_EQ(mt_class(err), MPI_ERR_ARG);
    memset(&req, 0x5a, sizeof req);
    err = MPIX_Rcompare_and_swap(&d, &d, &d, MPI_DOUBLE, next, rw_disp(w, next, 0), w->win, &req);
    CHECK_EQ(mt_class(err), MPI_ERR_TYPE);
    CHECK(req == MPI_REQUEST_NULL);
    MPI_Win_unlock_all(w->win);
    memset(&req, 0x5a, sizeof req);
    err = MPIX_Rfetch_and_op(&v, &old, MPI_INT64_T, next, rw_disp(w, next, 0), MPI_SUM, w->win,
                             &req);
    CHECK_EQ(mt_class(err), MPI_ERR_RMA_SYNC);
    CHECK(req == MPI_REQUEST_NULL);
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(w->comm);
}

/* The handle of what was done in its call serves like any other, and each of them once. */
static void handles(struct rw *w)
{
    MPI_Request req[4];
    MPI_Status st[4];
    int64_t v = 9, old[4];
    int i, n, at[4], flag, next = (w->rank + 1) % w->size;

    MPI_Barrier(w->comm);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, w->win);
    for (i = 0; i < 4; i++)
        MPIX_Rfetch_and_op(&v, &old[i], MPI_INT64_T, next, rw_disp(w, next, 8), MPI_SUM, w->win,
                           &req[i]);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(req[0])) == req[0]);
    do
        MPI_Request_get_status(req[3], &flag, &st[0]);
    while (!flag);
    CHECK_EQ(old[3], 27);
    MPI_Request_free(&req[0]);
    CHECK(req[0] == MPI_REQUEST_NULL && req[3] != MPI_REQUEST_NULL);
    do
        MPI_Test(&req[1], &flag, &st[0]);
    while (!flag);
    CHECK(req[1] == MPI_REQUEST_NULL && old[1] == 9);
    for (i = 0; i < 2; i += n) {
        MPI_Waitsome(4, req, &n, at, st);
        CHECK(n == 1 || n == 2);
    }
    CHECK(req[2] == MPI_REQUEST_NULL && req[3] == MPI_REQUEST_NULL && old[2] == 18);
    MPI_Waitsome(4, req, &n, at, st);
    CHECK_EQ(n, MPI_UNDEFINED);
    MPI_Win_unlock(next, w->win);
    MPI_Barrier(w->comm);
}

int main(int argc, char **argv)
{
    struct rw w;
    int f;

    mt_init(&argc, &argv);
    for (f = 0; f < RW_FLAVOURS; f++) {
        if (!rw_make(&w, f, BYTES, MPI_COMM_WORLD))
            continue;
        edges(&w);
        handles(&w);
        tickets(&w);
        places(&w);
        applied(&w);
        rw_free(&w);
    }
    return mt_finish();
}

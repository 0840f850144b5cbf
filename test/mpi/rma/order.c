/* order.c - ordering of accumulates from one origin to one location (MPI-3.1 11.7.2: rar, raw, war,
 * waw by default), and of everything around a flush: put, flush, get sees the put. */
#include "rw.h"

enum { N = 64, STEPS = 120 };

/* A chain of accumulates whose result depends on their order; the oracle runs along. */
static void chain(struct rw *w, int n)
{
    int64_t model[N], out[N], *in = mt_alloc(sizeof(int64_t) * N * STEPS),
                              *want = mt_alloc(sizeof(int64_t) * N * STEPS);
    int64_t *src = mt_alloc(sizeof(int64_t) * N * STEPS);
    int target = (w->rank + 1) % w->size, s, i, bad = 0, got[STEPS];
    uint64_t x = (uint64_t)w->rank * 77 + (uint64_t)n;
    MPI_Aint d = rw_disp(w, target, 0);

    for (i = 0; i < n; i++)
        model[i] = 0;
    rw_own(w);
    memset(w->mem, 0, sizeof model);
    rw_disown(w);
    MPI_Barrier(w->comm);
    MPI_Win_lock_all(0, w->win);
    for (s = 0; s < STEPS; s++) {
        int64_t *o = src + s * N, *r = in + s * N;
        int k;

        x = x * 6364136223846793005u + 1442695040888963407u;
        k = (int)(x >> 33) % 6;
        got[s] = k >= 3;
        for (i = 0; i < n; i++) {
            o[i] = (int64_t)(x >> 40) + i;
            r[i] = -1;
            want[s * N + i] = model[i];
        }
        switch (k) {
        case 0:
            MPI_Accumulate(o, n, MPI_INT64_T, target, d, n, MPI_INT64_T, MPI_SUM, w->win);
            break;
        case 1:
            MPI_Accumulate(o, n, MPI_INT64_T, target, d, n, MPI_INT64_T, MPI_REPLACE, w->win);
            break;
        case 2:
            MPI_Accumulate(o, n, MPI_INT64_T, target, d, n, MPI_INT64_T, MPI_BXOR, w->win);
            break;
        case 3:
            MPI_Get_accumulate(o, n, MPI_INT64_T, r, n, MPI_INT64_T, target, d, n, MPI_INT64_T,
                               MPI_NO_OP, w->win);
            break;
        case 4:
            MPI_Get_accumulate(o, n, MPI_INT64_T, r, n, MPI_INT64_T, target, d, n, MPI_INT64_T,
                               MPI_REPLACE, w->win);
            break;
        default:
            MPI_Fetch_and_op(o, r, MPI_INT64_T, target, d, MPI_SUM, w->win);
            for (i = 1; i < n; i++)
                r[i] = want[s * N + i];
            break;
        }
        for (i = 0; i < n; i++) {
            if (k == 0 || (k == 5 && i == 0))
                model[i] += o[i];
            else if (k == 1 || k == 4)
                model[i] = o[i];
            else if (k == 2)
                model[i] ^= o[i];
        }
        if (s % 50 == 49)
            MPI_Win_flush(target, w->win);
    }
    MPI_Get(out, n, MPI_INT64_T, target, d, n, MPI_INT64_T, w->win); /* not ordered: flush first */
    MPI_Win_flush(target, w->win);
    MPI_Get(out, n, MPI_INT64_T, target, d, n, MPI_INT64_T, w->win);
    MPI_Win_unlock_all(w->win);
    for (s = 0; s < STEPS; s++)
        for (i = 0; i < n && got[s]; i++)
            bad += in[s * N + i] != want[s * N + i];
    MUST(bad == 0, "chain of accumulates of %d, %s: %d results out of order", n,
         rw_flavour_names[w->flavour], bad);
    for (i = bad = 0; i < n; i++)
        bad += out[i] != model[i];
    MUST(bad == 0, "chain of accumulates of %d, %s: %d final values wrong", n,
         rw_flavour_names[w->flavour], bad);
    free(in), free(want), free(src);
    MPI_Barrier(w->comm);
}

/* The origin buffer is free after flush_local, the target sees the value after flush. */
static void flushes(struct rw *w)
{
    int target = (w->rank + 1) % w->size, i;
    int64_t buf, back[2];

    MPI_Win_lock_all(0, w->win);
    for (i = 0; i < 200; i++) {
        buf = i;
        MPI_Put(&buf, 1, MPI_INT64_T, target, rw_disp(w, target, 8 * (size_t)(i % N)), 1,
                MPI_INT64_T, w->win);
        if (i % 2)
            MPI_Win_flush_local(target, w->win);
        else
            MPI_Win_flush_local_all(w->win);
        buf = -5;
        MPI_Win_flush(target, w->win);
        MPI_Get(back, 1, MPI_INT64_T, target, rw_disp(w, target, 8 * (size_t)(i % N)), 1,
                MPI_INT64_T, w->win);
        MPI_Win_flush_local(target, w->win);
        CHECK_EQ(back[0], i);
    }
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(w->comm);
}

/* After flush and a message, a third process sees the data. */
static void third(struct rw *w)
{
    int next = (w->rank + 1) % w->size, prev = (w->rank + w->size - 1) % w->size, home = 0, k;
    int64_t v, got;

    for (k = 0; k < 50; k++) {
        MPI_Win_lock_all(0, w->win);
        v = 1000 * w->rank + k;
        MPI_Put(&v, 1, MPI_INT64_T, home, rw_disp(w, home, 8 * (size_t)w->rank), 1, MPI_INT64_T,
                w->win);
        MPI_Win_flush(home, w->win);
        MPI_Sendrecv(NULL, 0, MPI_INT, next, 1, NULL, 0, MPI_INT, prev, 1, w->comm,
                     MPI_STATUS_IGNORE);
        MPI_Get(&got, 1, MPI_INT64_T, home, rw_disp(w, home, 8 * (size_t)prev), 1, MPI_INT64_T,
                w->win);
        MPI_Win_flush(home, w->win);
        CHECK_EQ(got, 1000 * prev + k);
        MPI_Win_unlock_all(w->win);
        MPI_Barrier(w->comm);
    }
}

int main(int argc, char **argv)
{
    struct rw w;
    int f;

    mt_init(&argc, &argv);
    for (f = 0; f < RW_FLAVOURS; f++) {
        if (!rw_make(&w, f, 8 * N, MPI_COMM_WORLD))
            continue;
        chain(&w, 1);
        chain(&w, 7);
        chain(&w, N);
        flushes(&w);
        third(&w);
        rw_free(&w);
    }
    return mt_finish();
}

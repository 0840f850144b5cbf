/* active.c - active target: fences with every assertion, open fences repeated, PSCW with changing
 * groups, test instead of wait, posts long before starts, two windows interleaved, groups that
 * differ. */
#include "rw.h"

static int64_t *cell(struct rw *w, int i) { return (int64_t *)(void *)(w->mem + 8 * i); }

static void fences(struct rw *w)
{
    int i, k, t = (w->rank + 1) % w->size, from = (w->rank + w->size - 1) % w->size;
    int64_t v, got;

    for (i = 0; i < 5; i++)                       /* open fences, nothing between */
        MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win);
    for (i = 0; i < 40; i++) {
        int before = i % 3 == 0 ? MPI_MODE_NOPRECEDE : 0;

        if (i % 3 == 0)
            MPI_Win_fence(i % 2 ? MPI_MODE_NOSTORE : 0, w->win);
        MPI_Win_fence(before, w->win);
        v = w->rank * 100 + i;
        MPI_Put(&v, 1, MPI_INT64_T, t, rw_disp(w, t, 8), 1, MPI_INT64_T, w->win);
        MPI_Win_fence(i % 4 == 0 ? MPI_MODE_NOSTORE | MPI_MODE_NOPUT : 0, w->win);
        CHECK_EQ(*cell(w, 1), from * 100 + i);
        got = -1;
        if (i % 4 == 0) {
            MPI_Get(&got, 1, MPI_INT64_T, t, rw_disp(w, t, 8), 1, MPI_INT64_T, w->win);
            MPI_Win_fence(i % 8 == 0 ? MPI_MODE_NOSUCCEED : 0, w->win);
            CHECK_EQ(got, w->rank * 100 + i);
        } else
            MPI_Win_fence(0, w->win);
    }
    /* a fence, then locks, then a fence */
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
    MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w->win);
    v = 3;
    MPI_Put(&v, 1, MPI_INT64_T, t, rw_disp(w, t, 16), 1, MPI_INT64_T, w->win);
    MPI_Win_unlock(t, w->win);
    MPI_Barrier(w->comm);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win);
    for (k = 0; k < w->size; k++) {
        v = 1;
        MPI_Accumulate(&v, 1, MPI_INT64_T, k, rw_disp(w, k, 16), 1, MPI_INT64_T, MPI_SUM, w->win);
        MPI_Win_fence(0, w->win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
    CHECK_EQ(*cell(w, 2), 3 + w->size);
    MPI_Barrier(w->comm);
}

/* Many operations straight after an opening fence: they wait, the user does not have to. */
static void flood(struct rw *w)
{
    int i, r;
    int64_t one = 1;

    rw_own(w);
    *cell(w, 3) = 0;
    rw_disown(w);
    MPI_Barrier(w->comm);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win);
    for (i = 0; i < 500; i++)
        for (r = 0; r < w->size; r++)
            MPI_Accumulate(&one, 1, MPI_INT64_T, r, rw_disp(w, r, 24), 1, MPI_INT64_T, MPI_SUM,
                           w->win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
    CHECK_EQ(*cell(w, 3), 500 * w->size);
    MPI_Barrier(w->comm);
}

/* The accesses of a round: origins and targets, drawn from a seed that all ranks share. */
static int accesses(int round, int from, int to)
{
    uint64_t x = (uint64_t)round * 1000003 + (uint64_t)from * 131 + (uint64_t)to * 7919 + 12345;

    x ^= x >> 12, x *= 0x9e3779b97f4a7c15u, x ^= x >> 27, x *= 0x94d049bb133111ebu;
    return (x >> 60) < 7;
}

/* Random graphs of exposures and accesses; a post meant for a later start must not serve an
 * earlier one, and what is put belongs to its round. */
static void pscw(struct rw *w, int rounds)
{
    int i, r, n, m, *post = mt_alloc(sizeof(int) * (size_t)w->size),
                    *start = mt_alloc(sizeof(int) * (size_t)w->size), flag;
    MPI_Group gp, gs;
    int64_t v;

    rw_own(w);
    memset(w->mem, 0, 8 * 64);
    rw_disown(w);
    MPI_Barrier(w->comm);
    for (i = 0; i < rounds; i++) {
        for (r = n = m = 0; r < w->size; r++) {
            if (accesses(i, r, w->rank))
                post[n++] = r;
            if (accesses(i, w->rank, r))
                start[m++] = r;
        }
        MPI_Group_incl(w->all, n, post, &gp);
        MPI_Group_incl(w->all, m, start, &gs);
        if (n)
            MPI_Win_post(gp, 0, w->win);
        if (m) {
            MPI_Win_start(gs, 0, w->win);
            v = i * 1000 + w->rank;
            for (r = 0; r < m; r++)
                MPI_Put(&v, 1, MPI_INT64_T, start[r], rw_disp(w, start[r], 8 * (size_t)w->rank), 1,
                        MPI_INT64_T, w->win);
            MPI_Win_complete(w->win);
        }
        if (n) {
            if (i % 2)
                MPI_Win_wait(w->win);
            else
                do
                    MPI_Win_test(w->win, &flag);
                while (!flag);
            for (r = 0; r < n; r++)
                CHECK_EQ(*cell(w, post[r]), i * 1000 + post[r]);
        }
        if (gp != MPI_GROUP_EMPTY)
            MPI_Group_free(&gp);
        if (gs != MPI_GROUP_EMPTY)
            MPI_Group_free(&gs);
    }
    free(post);
    free(start);
    MPI_Barrier(w->comm);
}

/* Two windows, epochs interleaved; NOCHECK where the post is known to have happened. */
static void two(struct rw *a, struct rw *b)
{
    int i, t = (a->rank + 1) % a->size, from = (a->rank + a->size - 1) % a->size;
    int64_t v;
    MPI_Group gt, gf;

    MPI_Group_incl(a->all, 1, &t, &gt);
    MPI_Group_incl(a->all, 1, &from, &gf);
    for (i = 0; i < 40; i++) {
        int check = 0;

        MPI_Win_post(gf, i % 2 ? MPI_MODE_NOCHECK : 0, a->win);
        MPI_Win_post(gf, 0, b->win);
        if (i % 2) {
            MPI_Barrier(a->comm);
            check = MPI_MODE_NOCHECK;
        }
        MPI_Win_start(gt, check, a->win);
        MPI_Win_start(gt, 0, b->win);
        v = 10 * i + a->rank;
        MPI_Put(&v, 1, MPI_INT64_T, t, rw_disp(a, t, 0), 1, MPI_INT64_T, a->win);
        MPI_Put(&v, 1, MPI_INT64_T, t, rw_disp(b, t, 0), 1, MPI_INT64_T, b->win);
        MPI_Win_complete(b->win);
        MPI_Win_complete(a->win);
        MPI_Win_wait(a->win);
        MPI_Win_wait(b->win);
        CHECK_EQ(*cell(a, 0), 10 * i + from);
        CHECK_EQ(*cell(b, 0), 10 * i + from);
    }
    MPI_Group_free(&gt);
    MPI_Group_free(&gf);
    /* empty epochs */
    MPI_Win_post(MPI_GROUP_EMPTY, 0, a->win);
    MPI_Win_start(MPI_GROUP_EMPTY, 0, a->win);
    MPI_Win_complete(a->win);
    MPI_Win_wait(a->win);
    MPI_Barrier(a->comm);
}

int main(int argc, char **argv)
{
    struct rw w, b;
    int f;

    mt_init(&argc, &argv);
    for (f = 0; f < RW_FLAVOURS; f++) {
        if (!rw_make(&w, f, 8 * 64, MPI_COMM_WORLD))
            continue;
        rw_make(&b, RW_CREATE, 64, MPI_COMM_WORLD);
        fences(&w);
        flood(&w);
        pscw(&w, 60);
        two(&w, &b);
        rw_free(&b);
        rw_free(&w);
    }
    return mt_finish();
}

/* ends.c - the end of windows (rma.md, section 5, number 12): freed with open fences of several
 * kinds, the window still whole in its attributes' delete functions, ids used again at once. */
#include "rw.h"

static int calls;

static int on_delete(MPI_Win w, int key, void *val, void *extra)
{
    int64_t *base = NULL;
    int flag = 0, rank;
    MPI_Group g;

    (void)key, (void)val, (void)extra;
    calls++;
    MPI_Win_get_attr(w, MPI_WIN_BASE, &base, &flag);
    CHECK(flag && base);
    if (flag && base)
        base[1] = base[0] + 1;                 /* still mapped */
    MPI_Win_get_group(w, &g);
    MPI_Group_rank(g, &rank);
    CHECK_EQ(rank, mt_rank);
    MPI_Group_free(&g);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    struct rw w;
    int f, k, key, i, t;
    int64_t v;

    mt_init(&argc, &argv);
    t = (mt_rank + 1) % mt_size;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, NULL);
    for (k = 0; k < 6; k++)
        for (f = 0; f < RW_FLAVOURS; f++) {
            if (!rw_make(&w, f, 64, MPI_COMM_WORLD))
                continue;
            if (f != RW_DYNAMIC)
                MPI_Win_set_attr(w.win, key, NULL);
            calls = 0;
            v = mt_rank;
            switch (k) {
            case 1: MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win); break;
            case 2:
                for (i = 0; i < 30; i++)
                    MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win);
                break;
            case 3: MPI_Win_fence(0, w.win); break;
            case 4:
                MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win);
                MPI_Put(&v, 1, MPI_INT64_T, t, rw_disp(&w, t, 0), 1, MPI_INT64_T, w.win);
                MPI_Win_fence(0, w.win);
                break;
            case 5:
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w.win);
                MPI_Accumulate(&v, 1, MPI_INT64_T, t, rw_disp(&w, t, 0), 1, MPI_INT64_T, MPI_SUM,
                               w.win);
                MPI_Win_unlock(t, w.win);
                break;
            }
            rw_free(&w);
            CHECK_EQ(calls, f == RW_DYNAMIC ? 0 : 1);
        }
    MPI_Win_free_keyval(&key);
    return mt_finish();
}

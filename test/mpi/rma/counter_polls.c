/* counter_polls.c - a program that only looks at counters: with MPIX_Win_notify_get_value, _test,
 * _take and _wait, which look without a call into the library where they can. It makes progress by
 * them alone, finds the data of what they count, and none is lost or taken twice. */
#include "../mt.h"

enum { N = 1000, WAYS = 4 };
static const char *const names[] = {"get_value", "test", "take", "wait"};
static MPI_Win win;
static volatile int64_t *mem;

static int64_t element(int origin, int way, int i) { return 1 + origin * 100000 + way * 10000 + i; }

/* Until i + 1 have come. */
static MPI_Count look(int way, int i)
{
    MPI_Count v = 0;
    int there = 0;

    switch (way) {
    case 0:
        while (v <= i)
            MPIX_Win_notify_get_value(win, way, &v);
        return v;
    case 1:
        while (!there)
            MPIX_Win_notify_test(win, way, i + 1, &there);
        break;
    case 2: MPIX_Win_notify_take(win, way, 1); break;
    default: MPIX_Win_notify_wait(win, way, i + 1);
    }
    return i + 1;
}

/* Half of the operations are under way when this process begins to look. */
static void one(int way, int left, int right)
{
    static int64_t out[N];
    MPI_Count v = -1;
    int i, k, bad = 0, sent = 0;

    for (i = 0; i < N; i++)
        out[i] = element(mt_rank, way, i);
    for (i = 0; i < N; i++) {
        for (; sent < N && sent < i + N / 2; sent++)
            MPIX_Put_notify(&out[sent], 1, MPI_INT64_T, right, sent, 1, MPI_INT64_T, way, win);
        for (k = (int)look(way, i) - 1; k >= i; k--)
            bad += mem[k] != element(left, way, k);
    }
    MUST(!bad, "%s: %d elements are not there", names[way], bad);
    MPIX_Win_notify_get_value(win, way, &v);
    CHECK_EQ(v, way == 2 ? 0 : N);
    MPIX_Win_notify_test(win, way, N + 1, &i);
    CHECK_EQ(i, 0);
    MPIX_Win_notify_set_value(win, way, 5);
    MPIX_Win_notify_take(win, way, 3);
    MPIX_Win_notify_get_value(win, way, &v);
    CHECK_EQ(v, 2);
    MPI_Win_flush(right, win);
}

/* The slow paths' errors are those of the inline ones. */
static void refused(void)
{
    MPI_Count v;
    int flag, class;

    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Error_class(MPIX_Win_notify_get_value(win, WAYS, &v), &class);
    CHECK_EQ(class, MPIX_ERR_INVALID_NOTIFICATION);
    MPI_Error_class(MPIX_Win_notify_get_value(win, -1, &v), &class);
    CHECK_EQ(class, MPIX_ERR_INVALID_NOTIFICATION);
    MPI_Error_class(MPIX_Win_notify_get_value(win, 0, NULL), &class);
    CHECK_EQ(class, MPI_ERR_ARG);
    MPI_Error_class(MPIX_Win_notify_test(win, 0, -1, &flag), &class);
    CHECK_EQ(class, MPI_ERR_ARG);
    MPI_Error_class(MPIX_Win_notify_take(win, 0, -1), &class);
    CHECK_EQ(class, MPI_ERR_ARG);
    for (int i = 0; i < 70; i++) { /* inline and by the slow way, which a poll takes */
        MPI_Error_class(MPIX_Win_notify_test(win, 0, ((MPI_Count)1 << 62) + 1, &flag), &class);
        CHECK_EQ(class, MPI_ERR_ARG);
    }
    MPI_Error_class(MPIX_Win_notify_wait(win, WAYS, 0), &class);
    CHECK_EQ(class, MPIX_ERR_INVALID_NOTIFICATION);
}

int main(int argc, char **argv)
{
    static int64_t own[N];
    int64_t *base = own;
    int kind, way, left, right;

    mt_init(&argc, &argv);
    left = (mt_rank + mt_size - 1) % mt_size;
    right = (mt_rank + 1) % mt_size;
    for (kind = 0; kind < 2; kind++) {
        if (kind)
            MPI_Win_create(own, sizeof own, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        else
            MPI_Win_allocate(sizeof own, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        mem = kind ? own : base;
        MPIX_Win_notify_set_num(win, MPI_INFO_NULL, WAYS);
        MPI_Win_lock_all(0, win);
        for (way = 0; way < WAYS; way++) {
            memset((void *)(uintptr_t)mem, 0, sizeof own);
            MPI_Barrier(MPI_COMM_WORLD);
            one(way, left, right);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        refused();
        MPI_Win_unlock_all(win);
        MPI_Win_free(&win);
    }
    return mt_finish();
}

/* spins.c - programs that wait by looking: a process makes calls that end at once until its memory
 * shows what a far process did. It makes them on its own or a near window, or with requests that
 * are done when they are made; and for that the far process needs this one's progress (MPI-3.1
 * 3.7.4, 11.7.3). Every way of looking must see it within ten seconds. */
#include "rw.h"

enum how {
    RGET_TEST,
    RGET_WAIT,
    RGET_TESTALL,
    RGET_STATUS,
    RPUT_WAITANY,
    PSCW_WAIT,
    PSCW_TEST,
    FENCE,
    LOCK_ALL,
    LOCK,
    FLUSH,
    FLUSH_LOCAL,
    SYNC,
    IBARRIER,
    BARRIER,
    SELF_WAITALL,
    WIN_LIFE,
    NULL_TEST,
    NULL_WAIT,
    NULL_STATUS,
    NULL_TESTANY,
    NULL_WAITANY,
    NULL_TESTSOME,
    NULL_WAITSOME,
    PROBE_NULL,
    PROBE_FOUND,
    HOWS
};

struct scene {
    struct rw *w;
    MPI_Win self;      /* of this process alone */
    MPI_Group alone;
    int64_t *own, spare;
};

static void requests(struct scene *l, enum how how)
{
    MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int flag = 0, at;

    if (how == RPUT_WAITANY) {
        MPI_Rput(&l->spare, 1, MPI_INT64_T, l->w->rank, rw_disp(l->w, l->w->rank, 8), 1,
                 MPI_INT64_T, l->w->win, &q[0]);
        MPI_Waitany(2, q, &at, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Rget(&l->spare, 1, MPI_INT64_T, l->w->rank, rw_disp(l->w, l->w->rank, 8), 1, MPI_INT64_T,
             l->w->win, &q[0]);
    if (how == RGET_WAIT)
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    while (how == RGET_STATUS && !flag)
        MPI_Request_get_status(q[0], &flag, MPI_STATUS_IGNORE);
    for (flag = 0; !flag;)
        if (how == RGET_TESTALL)
            MPI_Testall(2, q, &flag, MPI_STATUSES_IGNORE);
        else
            MPI_Test(&q[0], &flag, MPI_STATUS_IGNORE);
}

static void of_nothing(enum how how)
{
    MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int flag, at[2], n;

    switch (how) {
    case NULL_WAIT: MPI_Wait(&q[0], MPI_STATUS_IGNORE); break;
    case NULL_STATUS: MPI_Request_get_status(q[0], &flag, MPI_STATUS_IGNORE); break;
    case NULL_TESTANY: MPI_Testany(2, q, &n, &flag, MPI_STATUS_IGNORE); break;
    case NULL_WAITANY: MPI_Waitany(2, q, &n, MPI_STATUS_IGNORE); break;
    case NULL_TESTSOME: MPI_Testsome(2, q, &n, at, MPI_STATUSES_IGNORE); break;
    case NULL_WAITSOME: MPI_Waitsome(2, q, &n, at, MPI_STATUSES_IGNORE); break;
    case PROBE_NULL: MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); break;
    case PROBE_FOUND:
        MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        break; /* main() has sent one */
    default: MPI_Test(&q[0], &flag, MPI_STATUS_IGNORE);
    }
}

static void others(struct scene *l, enum how how)
{
    MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int flag = 0, none = 0;
    MPI_Win w;

    switch (how) {
    case PSCW_WAIT:
    case PSCW_TEST:
        MPI_Win_post(l->alone, 0, l->self);
        MPI_Win_start(l->alone, 0, l->self);
        MPI_Win_complete(l->self);
        while (how == PSCW_TEST && !flag)
            MPI_Win_test(l->self, &flag);
        if (how == PSCW_WAIT)
            MPI_Win_wait(l->self);
        break;
    case FENCE: MPI_Win_fence(0, l->self); break;
    case LOCK_ALL: MPI_Win_lock_all(0, l->self), MPI_Win_unlock_all(l->self); break;
    case LOCK: MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, l->self), MPI_Win_unlock(0, l->self); break;
    case IBARRIER:
        for (MPI_Ibarrier(MPI_COMM_SELF, &q[0]); !flag;)
            MPI_Test(&q[0], &flag, MPI_STATUS_IGNORE);
        break;
    case BARRIER: MPI_Barrier(MPI_COMM_SELF); break;
    case SELF_WAITALL:
        MPI_Isend(&none, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &q[0]);
        MPI_Irecv(&none, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &q[1]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        break;
    case WIN_LIFE:
        MPI_Win_create(&none, sizeof none, 1, MPI_INFO_NULL, MPI_COMM_SELF, &w);
        MPI_Win_free(&w);
        break;
    default: of_nothing(how);
    }
}

static void look(struct scene *l, enum how how)
{
    if (how <= RPUT_WAITANY)
        requests(l, how);
    else if (how == FLUSH)
        MPI_Win_flush(l->w->rank, l->w->win);
    else if (how == FLUSH_LOCAL)
        MPI_Win_flush_local(l->w->rank, l->w->win);
    else if (how == SYNC)
        MPI_Win_sync(l->w->win);
    else
        others(l, how);
}

/* Rank 0 looks, the last one puts. */
static void spin(struct scene *l, enum how how)
{
    int64_t told = how + 1;
    int last = l->w->size - 1;

    MPI_Barrier(MPI_COMM_WORLD);
    if (l->w->rank == last) {
        double until = MPI_Wtime() + 0.02; /* the other is in its loop by then, mostly */
        while (MPI_Wtime() < until)
            ;
        MPI_Accumulate(&told, 1, MPI_INT64_T, 0, rw_disp(l->w, 0, 0), 1, MPI_INT64_T, MPI_REPLACE,
                       l->w->win);
        MPI_Win_flush(0, l->w->win);
    } else if (l->w->rank == 0) {
        double until = MPI_Wtime() + 10;
        volatile int64_t *own = l->own;
        while (*own != told && MPI_Wtime() < until)
            look(l, how);
        MUST(*own == told, "way %d of looking: not seen within ten seconds", (int)how);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct rw w;
    struct scene l = {&w, MPI_WIN_NULL, MPI_GROUP_NULL, NULL, 0};
    int64_t mine[2] = {0, 0};
    MPI_Request found;
    int h;

    mt_init(&argc, &argv);
    if (rw_make(&w, RW_CREATE, 64, MPI_COMM_WORLD)) {
        l.own = (int64_t *)(void *)w.mem;
        MPI_Win_create(mine, sizeof mine, 1, MPI_INFO_NULL, MPI_COMM_SELF, &l.self);
        MPI_Comm_group(MPI_COMM_SELF, &l.alone);
        MPI_Win_lock_all(0, w.win);
        for (h = 0; h < HOWS; h++) {
            if (h == PROBE_FOUND)
                MPI_Isend(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_SELF, &found);
            spin(&l, (enum how)h);
        }
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Wait(&found, MPI_STATUS_IGNORE);
        MPI_Win_unlock_all(w.win);
        MPI_Group_free(&l.alone);
        MPI_Win_free(&l.self);
        rw_free(&w);
    }
    return mt_finish();
}

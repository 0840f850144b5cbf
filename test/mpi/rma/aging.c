/* aging.c - an operation of a passive epoch that nothing synchronizes reaches its target while its
 * origin only looks: held back for piggybacking, or coalesced with others, it leaves after a
 * bounded number of polls, whichever call polls. Each way of looking must bring it there within ten
 * seconds. Where the user asked to delay, it leaves with the synchronization call. */
#include "pv.h"
#include "rw.h"

enum looking {
    IPROBE,
    IPROBE_FOUND,
    IPROBE_NULL,
    IMPROBE,
    TEST,
    TEST_NULL,
    TESTALL,
    TESTALL_NULL,
    TESTANY,
    TESTANY_NULL,
    TESTSOME,
    TESTSOME_NULL,
    STATUS,
    STATUS_NULL,
    WIN_TEST,
    FLUSH,
    OTHER_LOCK,
    BARRIER,
    RECV,
    LOOKS
};
enum epoch { EXCLUSIVE, SHARED, NOCHECK, ALL, EPOCHS };
enum { TAG_NEVER = 1, TAG_THERE, TAG_SEEN, TAG_DELAYED, PLACES = 64 };

struct ends {
    struct rw w;
    MPI_Win other; /* of this process alone; exposed to itself while rank 0 looks by MPI_Win_test */
    MPI_Group alone;
    MPI_Request never[2]; /* receives of what comes at the end; the second entry is null */
    volatile int64_t *own;
    int last;
};

static void null_requests(enum looking how)
{
    MPI_Request none[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Message m;
    int flag, at[2], n;

    switch (how) {
    case IPROBE_NULL:
        MPI_Improbe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, &m, MPI_STATUS_IGNORE);
        break;
    case TEST_NULL: MPI_Test(&none[0], &flag, MPI_STATUS_IGNORE); break;
    case TESTALL_NULL: MPI_Testall(2, none, &flag, MPI_STATUSES_IGNORE); break;
    case TESTANY_NULL: MPI_Testany(2, none, &n, &flag, MPI_STATUS_IGNORE); break;
    case TESTSOME_NULL: MPI_Testsome(2, none, &n, at, MPI_STATUSES_IGNORE); break;
    default: MPI_Request_get_status(none[0], &flag, MPI_STATUS_IGNORE);
    }
}

static void look(struct ends *e, enum looking how)
{
    MPI_Message m;
    int flag, at[2], n;

    switch (how) {
    case IPROBE: MPI_Iprobe(e->last, TAG_NEVER, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); break;
    case IPROBE_FOUND: MPI_Iprobe(0, TAG_THERE, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE); break;
    case IMPROBE:
        MPI_Improbe(e->last, TAG_NEVER, MPI_COMM_WORLD, &flag, &m, MPI_STATUS_IGNORE);
        break;
    case TEST: MPI_Test(&e->never[0], &flag, MPI_STATUS_IGNORE); break;
    case TESTALL: MPI_Testall(2, e->never, &flag, MPI_STATUSES_IGNORE); break;
    case TESTANY: MPI_Testany(2, e->never, &n, &flag, MPI_STATUS_IGNORE); break;
    case TESTSOME: MPI_Testsome(2, e->never, &n, at, MPI_STATUSES_IGNORE); break;
    case STATUS: MPI_Request_get_status(e->never[0], &flag, MPI_STATUS_IGNORE); break;
    case WIN_TEST: MPI_Win_test(e->other, &flag); break;
    case FLUSH: MPI_Win_flush(0, e->other); break;
    case OTHER_LOCK:
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, e->other), MPI_Win_unlock(0, e->other);
        break;
    case BARRIER: MPI_Barrier(MPI_COMM_SELF); break;
    default: null_requests(how);
    }
}

static void begin(const struct ends *e, enum epoch kind)
{
    if (kind == ALL)
        MPI_Win_lock_all(0, e->w.win);
    else
        MPI_Win_lock(kind == EXCLUSIVE ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, e->last,
                     kind == NOCHECK ? MPI_MODE_NOCHECK : 0, e->w.win);
}

static void end(const struct ends *e, enum epoch kind)
{
    if (kind == ALL)
        MPI_Win_unlock_all(e->w.win);
    else
        MPI_Win_unlock(e->last, e->w.win);
}

static void put(const struct ends *e, int place, const int64_t *v)
{
    MPI_Put(v, 1, MPI_INT64_T, e->last, rw_disp(&e->w, e->last, 8 * (size_t)place), 1, MPI_INT64_T,
            e->w.win);
}

/* Before the epoch, and after it: what a way of looking needs. */
static void ready(struct ends *e, enum looking how, int begins)
{
    int none = 0;

    if (how == WIN_TEST && begins)
        MPI_Win_post(e->alone, 0, e->other);
    else if (how == WIN_TEST)
        MPI_Win_start(e->alone, 0, e->other), MPI_Win_complete(e->other), MPI_Win_wait(e->other);
    if (how == FLUSH && begins)
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, e->other);
    else if (how == FLUSH)
        MPI_Win_unlock(0, e->other);
    if (how == IPROBE_FOUND)
        begins ? MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_THERE, MPI_COMM_SELF)
               : MPI_Recv(&none, 0, MPI_BYTE, 0, TAG_THERE, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

/* Rank 0 puts n values, then looks until its own memory has the answer, or receives it. */
static void origin(struct ends *e, enum looking how, enum epoch kind, int n, int64_t value)
{
    int64_t v[PLACES];
    double until;
    int i;

    ready(e, how, 1);
    begin(e, kind);
    for (i = 0; i < n; i++)
        v[i] = value + i;
    for (i = n; i-- > 0;) /* place 0 last */
        put(e, i, &v[i]);
    if (how == RECV) {
        MPI_Recv(NULL, 0, MPI_BYTE, e->last, TAG_SEEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        until = MPI_Wtime() + 10;
        while (*e->own != value && MPI_Wtime() < until)
            look(e, how);
        MUST(*e->own == value, "way %d of looking, epoch %d, %d puts: no answer within ten seconds",
             (int)how, (int)kind, n);
    }
    end(e, kind);
    ready(e, how, 0);
}

static void target(struct ends *e, enum looking how, int n, int64_t value)
{
    double until = MPI_Wtime() + 10;
    int flag, i;

    while (*e->own != value && MPI_Wtime() < until)
        MPI_Iprobe(0, TAG_NEVER, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MUST(*e->own == value, "way %d of looking: nothing came within ten seconds", (int)how);
    for (i = 1; i < n; i++)
        CHECK_EQ(e->own[i], value + i);
    if (how == RECV) {
        MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_SEEN, MPI_COMM_WORLD);
    } else {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, e->w.win);
        MPI_Put(&value, 1, MPI_INT64_T, 0, rw_disp(&e->w, 0, 0), 1, MPI_INT64_T, e->w.win);
        MPI_Win_unlock(0, e->w.win);
    }
}

static void once(struct ends *e, enum looking how, enum epoch kind, int n)
{
    static int64_t value;

    value += 1000;
    MPI_Barrier(MPI_COMM_WORLD);
    if (e->w.rank == 0)
        origin(e, how, kind, n, value);
    else if (e->w.rank == e->last)
        target(e, how, n, value);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* MPIR_CVAR_CH3_RMA_DELAY_ISSUING_FOR_PIGGYBACKING: a message that is sent later comes earlier. */
static void delayed(struct ends *e)
{
    int64_t v = -1;
    int i, flag;

    MPI_Barrier(MPI_COMM_WORLD);
    if (e->w.rank == 0) {
        begin(e, ALL);
        put(e, 0, &v);
        for (i = 0; i < 10000; i++)
            MPI_Iprobe(e->last, TAG_NEVER, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Send(NULL, 0, MPI_BYTE, e->last, TAG_DELAYED, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_BYTE, e->last, TAG_DELAYED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        end(e, ALL);
        CHECK_EQ(pv_read(e->w.win, "rma_operations_aged"), 0);
    } else if (e->w.rank == e->last) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_DELAYED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(*e->own, 0);
        MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_DELAYED, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (e->w.rank == e->last)
        CHECK_EQ(*e->own, -1);
}

static void all_ways(struct ends *e)
{
    int h, k;

    if (e->w.rank == 0)
        MPI_Irecv(NULL, 0, MPI_BYTE, e->last, TAG_NEVER, MPI_COMM_WORLD, &e->never[0]);
    for (h = 0; h < LOOKS; h++)
        once(e, (enum looking)h, ALL, 1);
    for (k = 0; k < EPOCHS; k++) {
        once(e, IPROBE, (enum epoch)k, 1);
        once(e, TEST, (enum epoch)k, 3);
        once(e, TEST, (enum epoch)k, PLACES); /* coalesced, over networks */
    }
    if (e->w.rank == e->last)
        MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_NEVER, MPI_COMM_WORLD);
    else if (e->w.rank == 0)
        MPI_Wait(&e->never[0], MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    struct ends e = { .never = { MPI_REQUEST_NULL, MPI_REQUEST_NULL } };
    int64_t mine = 0;

    pv_begin();
    mt_init(&argc, &argv);
    if (mt_size > 1 && rw_make(&e.w, RW_CREATE, 8 * PLACES, MPI_COMM_WORLD)) {
        e.own = (volatile int64_t *)(void *)e.w.mem;
        e.last = e.w.size - 1;
        MPI_Win_create(&mine, sizeof mine, 1, MPI_INFO_NULL, MPI_COMM_SELF, &e.other);
        MPI_Comm_group(MPI_COMM_SELF, &e.alone);
        if (pv_cvar("MPIR_CVAR_CH3_RMA_DELAY_ISSUING_FOR_PIGGYBACKING"))
            delayed(&e);
        else
            all_ways(&e);
        MPI_Group_free(&e.alone);
        MPI_Win_free(&e.other);
        rw_free(&e.w);
    }
    MPI_T_finalize();
    return mt_finish();
}

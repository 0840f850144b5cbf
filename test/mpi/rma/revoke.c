/* revoke.c - windows of each flavor are revoked, or lose a member, while the others wait in each
 * kind of call: all waits end, and so do the calls after them. The window is freed, or shrunk,
 * and what was put before is there. From four ranks on some die: mpiexec -disable-auto-cleanup. */
#include "../living.h"
#include <signal.h>
#include <unistd.h>

enum { FLAVORS = 4, KINDS = 9, WORDS = 64 };

static MPI_Comm comm;
static MPI_Win win;
static int64_t *own; /* this process's part */
static MPI_Aint where[64]; /* of a dynamic window: of each member's */
static int is_dynamic, size, rank;

static MPI_Aint at(int target, int word)
{
    return is_dynamic ? where[target] + word * 8 : word;
}

static void make(int flavor)
{
    MPI_Info info;
    MPI_Aint here;
    int i;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    is_dynamic = flavor == 3;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_notify_num", "2");
    if (flavor == 0) {
        CHECK_EQ(MPI_Win_allocate(8 * WORDS, 8, info, comm, &own, &win), MPI_SUCCESS);
    } else if (flavor == 1) {
        CHECK_EQ(MPI_Win_allocate(8 * 300000, 8, info, comm, &own, &win), MPI_SUCCESS);
    } else {
        CHECK((own = malloc(8 * WORDS)) != NULL);
        if (is_dynamic) {
            CHECK_EQ(MPI_Win_create_dynamic(info, comm, &win), MPI_SUCCESS);
            CHECK_EQ(MPI_Win_attach(win, own, 8 * WORDS), MPI_SUCCESS);
        } else {
            CHECK_EQ(MPI_Win_create(own, 8 * WORDS, 8, info, comm, &win), MPI_SUCCESS);
        }
    }
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (i = 0; i < WORDS; i++)
        own[i] = 0;
    MPI_Get_address(own, &here);
    MPI_Allgather(&here, 1, MPI_AINT, where, 1, MPI_AINT, comm);
}

/* The last rank gives up while the others wait for it. It lives, and revokes, or it dies. */
static void give_up(int dies)
{
    usleep(2000);
    if (dies)
        kill(getpid(), SIGKILL);
    CHECK_EQ(MPIX_Win_revoke(win), MPI_SUCCESS);
}

static int ended(int err)
{
    int c = mt_class(err);
    CHECK(c == MPIX_ERR_REVOKED || c == MPIX_ERR_PROC_FAILED ||
          c == MPIX_ERR_PROC_FAILED_PENDING);
    return c;
}

/* For calls that the revocation may come before. */
static void may_end(int err)
{
    CHECK(!err || ended(err));
}

/* All have come so far. The one that gives up may be gone before the others have left. */
static void meet(void)
{
    may_end(MPI_Barrier(comm));
}

static int put(MPI_Win w, int64_t *v, int target)
{
    return MPI_Put(v, 1, MPI_INT64_T, target, at(target, rank), 1, MPI_INT64_T, w);
}

static void in_fence(int gives_up, int dies)
{
    int64_t v = 7;
    int i;
    CHECK_EQ(MPI_Win_fence(0, win), MPI_SUCCESS);
    for (i = 0; i < size; i++)
        CHECK_EQ(put(win, &v, i), MPI_SUCCESS);
    meet();
    if (gives_up)
        give_up(dies);
    else
        ended(MPI_Win_fence(0, win));
}

/* Starters, or posters, wait for the last one. */
static void in_pscw(int gives_up, int dies, int starts)
{
    MPI_Group all, last;
    int64_t v = 7;
    int l = size - 1, err;
    if (gives_up) {
        give_up(dies);
        return;
    }
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &l, &last);
    MPI_Group_free(&all);
    if (starts) {
        err = MPI_Win_start(last, 0, win);
        may_end(err);
        if (!err) {
            may_end(put(win, &v, l));
            ended(MPI_Win_complete(win));
        }
    } else {
        err = MPI_Win_post(last, 0, win);
        may_end(err);
        if (!err)
            ended(MPI_Win_wait(win));
    }
    MPI_Group_free(&last);
}

/* It holds the lock that all want. */
static void in_lock(int target, int gives_up, int dies)
{
    int64_t v = 7;
    int i, err;
    if (gives_up) {
        CHECK_EQ(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win), MPI_SUCCESS);
        CHECK_EQ(put(win, &v, target), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_flush(target, win), MPI_SUCCESS);
        for (i = 0; i < size - 1; i++)
            MPI_Send(NULL, 0, MPI_BYTE, i, 5, comm);
        give_up(dies);
        return;
    }
    err = MPI_Recv(NULL, 0, MPI_BYTE, size - 1, 5, comm, MPI_STATUS_IGNORE);
    may_end(err);
    if (err || (err = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win)) != MPI_SUCCESS ||
        (err = put(win, &v, target)) != MPI_SUCCESS ||
        (err = MPI_Win_flush(target, win)) != MPI_SUCCESS)
        ended(err);
    else /* the dead one's lock is the next one's, and MPIX_Win_shrink ends that of the living */
        may_end(MPI_Win_unlock(target, win));
}

static void in_lock_all(int gives_up, int dies, int dup)
{
    MPI_Win w = win;
    MPI_Request r;
    int64_t v = 0;
    int i, err = MPI_SUCCESS;
    CHECK_EQ(MPI_Win_lock_all(0, win), MPI_SUCCESS);
    if (dup) {
        CHECK_EQ(MPIX_Win_idup(win, MPI_INFO_NULL, &w, &r), MPI_SUCCESS);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    meet();
    if (gives_up)
        give_up(dies);
    while (!err) {
        v++;
        for (i = 0; i < size && !err; i++)
            err = put(w, &v, i);
        if (!err)
            err = MPI_Win_flush_all(w);
    }
    ended(err);
    if (dup) {
        CHECK_EQ(MPIX_Win_revoke(w), MPI_SUCCESS);
        CHECK_EQ(mt_class(MPI_Win_flush_all(w)), MPIX_ERR_REVOKED);
        CHECK_EQ(MPI_Win_free(&w), MPI_SUCCESS);
    }
}

static void in_notes(int gives_up, int dies, int request)
{
    MPI_Request r;
    if (gives_up) {
        give_up(dies);
    } else if (!request) {
        ended(MPIX_Win_notify_wait(win, 0, 1));
    } else {
        int err = MPIX_Win_notify_request(win, 0, 1, &r);
        may_end(err);
        if (!err && ended(MPI_Wait(&r, MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED_PENDING) {
            CHECK_EQ(MPIX_Win_revoke(win), MPI_SUCCESS);
            CHECK_EQ(ended(MPI_Wait(&r, MPI_STATUS_IGNORE)), MPIX_ERR_REVOKED);
        }
    }
}

static void wait_in(int kind, int round, int gives_up, int dies)
{
    switch (kind) {
    case 0: in_fence(gives_up, dies); break;
    case 1: in_pscw(gives_up, dies, 0); break;
    case 2: in_pscw(gives_up, dies, 1); break;
    case 3: in_lock(0, gives_up, dies); break;
    case 4: in_lock(round % size, gives_up, dies); break;
    case 5: in_lock_all(gives_up, dies, 0); break;
    case 6: in_lock_all(gives_up, dies, 1); break;
    case 7: in_notes(gives_up, dies, 0); break;
    default: in_notes(gives_up, dies, 1); break;
    }
}

static void is_revoked(void)
{
    int64_t v = 0, *base = NULL;
    int flag = 0;
    MPI_Win other;
    MPI_Request r;
    CHECK_EQ(MPIX_Win_is_revoked(win, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    CHECK_EQ(mt_class(put(win, &v, 0)), MPIX_ERR_REVOKED);
    CHECK_EQ(mt_class(MPI_Get(&v, 1, MPI_INT64_T, 0, at(0, 0), 1, MPI_INT64_T, win)),
             MPIX_ERR_REVOKED);
    CHECK_EQ(mt_class(MPI_Accumulate(&v, 1, MPI_INT64_T, 0, at(0, 0), 1, MPI_INT64_T, MPI_SUM,
                                     win)),
             MPIX_ERR_REVOKED);
    CHECK_EQ(mt_class(MPI_Rput(&v, 1, MPI_INT64_T, 0, at(0, 0), 1, MPI_INT64_T, win, &r)),
             MPIX_ERR_REVOKED);
    CHECK_EQ(mt_class(MPI_Win_fence(0, win)), MPIX_ERR_REVOKED);
    CHECK_EQ(mt_class(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)), MPIX_ERR_REVOKED);
    CHECK_EQ(mt_class(MPI_Win_unlock(0, win)), MPIX_ERR_REVOKED);
    CHECK_EQ(mt_class(MPI_Win_flush(0, win)), MPIX_ERR_REVOKED);
    CHECK_EQ(mt_class(MPI_Win_complete(win)), MPIX_ERR_REVOKED);
    CHECK_EQ(mt_class(MPI_Win_test(win, &flag)), MPIX_ERR_REVOKED);
    CHECK_EQ(mt_class(MPI_Win_sync(win)), MPIX_ERR_REVOKED);
    CHECK_EQ(mt_class(MPIX_Win_idup(win, MPI_INFO_NULL, &other, &r)), MPIX_ERR_REVOKED);
    CHECK_EQ(mt_class(MPIX_Win_notify_wait(win, 0, 1)), MPIX_ERR_REVOKED);
    CHECK_EQ(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag), MPI_SUCCESS);
    CHECK(base == (is_dynamic ? MPI_BOTTOM : own));
}

/* Each has its mark of before, and lets the others put. */
static void work(MPI_Win w)
{
    MPI_Group g;
    int64_t v = 1000 + mt_rank;
    int i, n, me;
    MPI_Aint here, places[64];
    MPI_Win_get_group(w, &g);
    MPI_Group_size(g, &n);
    MPI_Group_rank(g, &me);
    MPI_Group_free(&g);
    CHECK_EQ(own[WORDS - 1], 5000 + mt_rank);
    MPI_Get_address(own, &here);
    MPI_Allgather(&here, 1, MPI_AINT, places, 1, MPI_AINT, comm);
    CHECK_EQ(MPI_Win_lock_all(0, w), MPI_SUCCESS);
    for (i = 0; i < n; i++)
        CHECK_EQ(MPI_Put(&v, 1, MPI_INT64_T, i, is_dynamic ? places[i] + 8 * mt_rank : mt_rank, 1,
                         MPI_INT64_T, w),
                 MPI_SUCCESS);
    CHECK_EQ(MPI_Win_unlock_all(w), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_fence(0, w), MPI_SUCCESS);
    CHECK_EQ(own[mt_rank], 1000 + mt_rank);
    CHECK_EQ(MPI_Win_fence(MPI_MODE_NOSUCCEED, w), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (me + 1) % n, 0, w), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_unlock((me + 1) % n, w), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    int round;

    mt_init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (round = 0; round < FLAVORS * KINDS; round++) {
        int dies, kind = round % KINDS;
        MPI_Win made = MPI_WIN_NULL;
        make(round / KINDS);
        dies = mt_size > 3 && size > 2 && round % 7 == 4;
        own[WORDS - 1] = 5000 + mt_rank;
        MPI_Barrier(comm);
        wait_in(kind, round, rank == size - 1, dies);
        CHECK_EQ(MPIX_Win_revoke(win), MPI_SUCCESS);
        is_revoked();
        if (dies)
            take_leave(&comm, size);
        if (round % 3) {
            CHECK_EQ(mt_class(MPIX_Win_shrink(win, &made)), MPI_SUCCESS);
            work(made);
        }
        if (round % 2 && made != MPI_WIN_NULL) {
            CHECK_EQ(MPI_Win_free(&made), MPI_SUCCESS);
            made = MPI_WIN_NULL;
        }
        CHECK_EQ(MPI_Win_free(&win), MPI_SUCCESS);
        if (made != MPI_WIN_NULL) {
            work(made);
            CHECK_EQ(MPI_Win_free(&made), MPI_SUCCESS);
        }
        if (round / KINDS > 1)
            free(own);
    }
    return mt_finish_over(comm);
}

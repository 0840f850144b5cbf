/* cases.c - programs with one error in their collective calls, by the name of the case; align.test
 * runs them and reads what the library prints. Lines that the messages must name carry "// at
 * NAME". */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"

static int sum[64], buf[4096];

static void other_call(void)
{
    MPI_Barrier(W);               // at before
    if (rank == 1)
        MPI_Allreduce(buf, sum, 1, MPI_INT, MPI_SUM, W); // at odd
    else
        MPI_Bcast(buf, 128, MPI_INT, 0, W);              // at even
    MPI_Barrier(W);
}

static void other_root(void)
{
    MPI_Barrier(W);
    MPI_Bcast(buf, 1, MPI_INT, rank == 1 ? 1 : 0, W);
    MPI_Barrier(W);
}

static void reduce_root(void)
{
    MPI_Reduce(buf, sum, 1, MPI_INT, MPI_SUM, rank == 1, W);
}

static void other_type(void)
{
    MPI_Allreduce(buf, sum, 1, rank == 1 ? MPI_FLOAT : MPI_INT, MPI_SUM, W);
}

static void vector_type(void)
{
    int n[64], at[64];
    for (int i = 0; i < size; i++) {
        n[i] = 1;
        at[i] = i;
    }
    MPI_Allgatherv(buf, 1, rank == 1 ? MPI_FLOAT : MPI_INT, sum, n, at,
                   rank == 1 ? MPI_FLOAT : MPI_INT, W);
}

static void pairs_type(void)
{
    int n[64], at[64];
    for (int i = 0; i < size; i++) {
        n[i] = 1;
        at[i] = i;
    }
    MPI_Datatype t = rank == 1 ? MPI_FLOAT : MPI_INT;
    MPI_Alltoallv(buf, n, at, t, sum, n, at, t, W);
}

static void other_count(void)
{
    MPI_Bcast(buf, rank == 1 ? 3 : 4, MPI_INT, 0, W);
}

static void other_op(void)
{
    MPI_Allreduce(buf, sum, 1, MPI_INT, rank == 1 ? MPI_MAX : MPI_SUM, W);
}

static void finalizes(void)
{
    MPI_Barrier(W);
    if (rank != 1)
        MPI_Barrier(W);
}

static void judge_finalizes(void)
{
    MPI_Barrier(W);
    if (rank != 0)
        MPI_Barrier(W);
}

static void swapped(void)
{
    for (int i = 0; i < 2; i++)
        if ((rank == 1) == i)
            MPI_Barrier(W);
        else
            MPI_Allgather(buf, 1, MPI_INT, sum, 1, MPI_INT, W);
}

static void swapped_far(void) /* long ago, and by calls that end on both sides */
{
    for (int i = 0; i < 40; i++)
        MPI_Bcast(buf, 1, MPI_INT, rank == 1 && i == 7 ? 1 : 0, W);
}

static void nonblocking(void)
{
    MPI_Request r;
    if (rank == 1)
        MPI_Ibarrier(W, &r);
    else
        MPI_Iallreduce(buf, sum, 1, MPI_INT, MPI_SUM, W, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void forms(void)
{
    MPI_Request r;
    if (rank == 1) {
        MPI_Ibarrier(W, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        MPI_Barrier(W);
    }
}

static void split_dup(void)
{
    MPI_Comm c;
    if (rank == 1)
        MPI_Comm_dup(W, &c);
    else
        MPI_Comm_split(W, 0, 0, &c);
    MPI_Barrier(c);
    MPI_Comm_free(&c);
}

static void on_dup(void)
{
    MPI_Comm c;
    MPI_Comm_dup(W, &c);
    MPI_Comm_set_name(c, "rows");
    if (rank == 1)
        MPI_Barrier(c);
    else
        MPI_Allreduce(buf, sum, 1, MPI_INT, MPI_SUM, c);
    MPI_Comm_free(&c);
}

static void freed(void)
{
    MPI_Comm c;
    MPI_Comm_dup(W, &c);
    if (rank == 1)
        MPI_Barrier(c);
    MPI_Comm_free(&c);
    MPI_Barrier(W);
}

static void windows(void)
{
    MPI_Win w;
    if (rank == 1) {
        MPI_Barrier(W);
    } else {
        MPI_Win_create(buf, sizeof buf, 1, MPI_INFO_NULL, W, &w);
        MPI_Win_free(&w);
    }
}

static void fence_free(void)
{
    MPI_Win w;
    MPI_Win_create(buf, sizeof buf, 1, MPI_INFO_NULL, W, &w);
    MPI_Win_fence(0, w);
    if (rank == 1)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    MPI_Win_free(&w);
}

static void fence_modes(void)
{
    MPI_Win w;
    MPI_Win_create(buf, sizeof buf, 1, MPI_INFO_NULL, W, &w);
    MPI_Win_set_name(w, "halo");
    if (rank == 1)
        MPI_Win_fence(0, w);
    else
        MPI_Win_fence(MPI_MODE_NOPRECEDE, w);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    MPI_Win_free(&w);
}

/* Rank 1 has put, and says that no operation precedes. */
static void precedes(void)
{
    MPI_Win w;
    MPI_Win_create(buf, sizeof buf, 1, MPI_INFO_NULL, W, &w);
    MPI_Win_set_name(w, "halo");
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w);
    for (int i = 0; i < 3; i++) {
        if (rank == 1)
            MPI_Put(sum, 1, MPI_INT, 2, 0, 1, MPI_INT, w);
        MPI_Win_fence(MPI_MODE_NOPRECEDE, w); /* WRONG precedes */
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    MPI_Win_free(&w);
}

/* Operations of epochs that are over, or that a fence has completed. */
static void precedes_not(void)
{
    MPI_Win w;
    MPI_Group all;
    MPI_Comm_group(W, &all);
    MPI_Win_create(buf, sizeof buf, 1, MPI_INFO_NULL, W, &w);
    for (int i = 0; i < 3; i++) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, w);
        MPI_Put(sum, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, w);
        MPI_Win_fence(0, w);
        MPI_Win_fence(MPI_MODE_NOPRECEDE, w);
        MPI_Put(sum, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w);
        MPI_Win_fence(0, w);
        MPI_Put(sum, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, w);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w);
        MPI_Put(sum, 1, MPI_INT, rank, 8, 1, MPI_INT, w);
        MPI_Win_unlock(rank, w);
        MPI_Win_fence(MPI_MODE_NOPRECEDE, w);
        MPI_Win_lock_all(0, w);
        MPI_Put(sum, 1, MPI_INT, rank, 8, 1, MPI_INT, w);
        MPI_Win_unlock_all(w);
        MPI_Barrier(W);
        MPI_Win_post(all, 0, w);
        MPI_Win_start(all, 0, w);
        MPI_Accumulate(sum, 1, MPI_INT, (rank + 1) % size, 16, 1, MPI_INT, MPI_SUM, w);
        MPI_Win_complete(w);
        MPI_Win_wait(w);
    }
    MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, w);
    MPI_Win_free(&w);
    MPI_Group_free(&all);
}

static void inter(void)
{
    MPI_Comm half, c;
    MPI_Comm_split(W, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, W, rank % 2 ? 0 : 1, 5, &c);
    if (rank == 1)
        MPI_Barrier(c);
    else
        MPI_Allreduce(buf, sum, 1, MPI_INT, MPI_SUM, c);
    MPI_Comm_free(&c);
    MPI_Comm_free(&half);
}

static void inter_create(void)
{
    MPI_Comm half, c;
    MPI_Comm_split(W, rank % 2, 0, &half);
    if (rank == 2)
        MPI_Barrier(half);
    else
        MPI_Intercomm_create(half, 0, W, rank % 2 ? 0 : 1, 5, &c);
    MPI_Barrier(W);
}

static void win_info(void)
{
    MPI_Win w;
    MPI_Win_create(buf, sizeof buf, 1, MPI_INFO_NULL, W, &w);
    if (rank == 1)
        MPI_Win_fence(0, w);
    else
        MPI_Win_set_info(w, MPI_INFO_NULL);
    MPI_Win_free(&w);
}

/* Under MPI_ERRORS_RETURN every process gets the class, and the program goes on. */
static void returns(void)
{
    int err, cls = 0;
    MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
    for (int i = 0; i < 20; i++) /* the calls of shared memory */
        MPI_Barrier(W);
    err = rank == 1 ? MPI_Bcast(buf, 1, MPI_INT, 2, W) : MPI_Bcast(buf, 1, MPI_INT, 0, W);
    for (int i = 0; i < 9 && !err; i++) /* of the judge alone: it waits */
        err = rank ? MPI_Barrier(W) : MPI_Allreduce(buf, sum, 1, MPI_INT, MPI_SUM, W);
    MPI_Error_class(err, &cls);
    printf("%s\n", cls == MPI_ERR_NOT_SAME ? "not same" : "another class");
}

/* The same on a window: the fences and the freeing calls end. */
static void window_returns(void)
{
    MPI_Win w;
    int err, cls = 0;
    MPI_Win_create(buf, sizeof buf, 1, MPI_INFO_NULL, W, &w);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    if (rank == 1)
        return; /* MPI_Finalize: the only report is made there */
    err = MPI_Win_fence(0, w);
    MPI_Error_class(err, &cls);
    printf("%s\n", cls == MPI_ERR_NOT_SAME ? "not same" : "another class");
}

/* addr2line is asked for lines, and answers when another thread has made a call (align.test). */
static void *other_thread(void *arg)
{
    int flag;
    while (access("asked", F_OK))
        usleep(1000);
    MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    close(creat("go", 0600));
    return arg;
}

static void meanwhile(void)
{
    pthread_t t;
    if (rank == 0)
        pthread_create(&t, NULL, other_thread, NULL);
    other_call();
}

/* --- legal ------------------------------------------------------------------------------------ */

static void legal_calls(MPI_Comm c)
{
    int n, me, all[64] = {0}, counts[64], at[64];
    MPI_Request r[3];
    MPI_Datatype pair;
    MPI_Comm_size(c, &n);
    MPI_Comm_rank(c, &me);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < n; i++) {
        counts[i] = i == me;
        at[i] = i;
    }
    if (me) /* equal signatures of other (count, type), from another line */
        MPI_Bcast(buf, 4, MPI_INT, 0, c);
    else
        MPI_Bcast(buf, 2, pair, 0, c);
    MPI_Gather(me ? &me : MPI_IN_PLACE, me ? 1 : -7, me ? MPI_INT : MPI_DATATYPE_NULL, all,
               me ? 9 : 1, me ? MPI_DOUBLE : MPI_INT, 0, c);
    MPI_Scatter(all, 1, MPI_INT, me ? (void *)&all[1] : MPI_IN_PLACE, 1, MPI_INT, 0, c);
    MPI_Alltoallv(buf, counts, at, MPI_INT, sum, counts, at, MPI_INT, c);
    MPI_Datatype own = me % 2 ? MPI_FLOAT : MPI_INT; /* only with itself, or not at all */
    MPI_Alltoallv(buf, counts, at, own, sum, counts, at, own, c);
    memset(counts, 0, sizeof counts);
    MPI_Allgatherv(buf, 0, own, sum, counts, at, own, c);
    counts[n - 1] = 2; /* the same data in other pieces */
    if (me == n - 1) {
        counts[n - 1] = 1;
        MPI_Allgatherv(buf, 1, pair, sum, counts, at, pair, c);
    } else {
        MPI_Allgatherv(buf, 0, own, sum, counts, at, MPI_INT, c);
    }
    MPI_Bcast(buf, 0, me ? MPI_INT : MPI_DOUBLE, 0, c);
    MPI_Barrier(c);
    if (!me) {
        int p = 0;
        char packed[8];
        MPI_Pack(buf, 1, MPI_INT, packed, sizeof packed, &p, c);
        MPI_Bcast(packed, 4, MPI_PACKED, 0, c);
    } else {
        MPI_Bcast(buf, 1, MPI_INT, 0, c);
    }
    MPI_Comm two;
    MPI_Comm_dup(c, &two);
    MPI_Ibarrier(me % 2 ? c : two, &r[0]); /* in another order on the two */
    MPI_Ibarrier(me % 2 ? two : c, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    if (me % 2)
        MPI_Iallreduce(buf, sum, 1, MPI_INT, MPI_SUM, two, &r[0]);
    MPI_Barrier(c);
    if (!(me % 2))
        MPI_Iallreduce(buf, sum, 1, MPI_INT, MPI_SUM, two, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Barrier_init(c, MPI_INFO_NULL, &r[0]);
    MPI_Barrier_init(c, MPI_INFO_NULL, &r[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&r[me % 2]);
        MPI_Start(&r[!(me % 2)]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Type_free(&pair);
    if (me == 1)
        MPI_Comm_free(&two);
    MPI_Barrier(c);
    if (me != 1)
        MPI_Comm_free(&two);
}

static int refuse(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key, (void)extra;
    return *(int *)value ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int keep(MPI_Win w, int key, void *value, void *extra)
{
    (void)w, (void)key, (void)extra;
    return *(int *)value ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* Calls for windows that are refused on one process, and come again. */
static void legal_window_refusals(void)
{
    MPI_Win w;
    void *mine;
    int key, no = 1;
    MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
    if (rank == 1 && MPI_Win_allocate(64, 1, MPI_INFO_NULL, W, NULL, &w) == MPI_SUCCESS)
        printf("a window was allocated nowhere\n");
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, W, &mine, &w);
    MPI_Comm_set_errhandler(W, MPI_ERRORS_ARE_FATAL);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    if (rank == 1 && MPI_Win_fence(1 << 29, w) == MPI_SUCCESS)
        printf("a fence took a strange assertion\n");
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, keep, &key, NULL);
    MPI_Win_set_attr(w, key, &no);
    if (rank == 1 && MPI_Win_free(&w) == MPI_SUCCESS)
        printf("the callback of the window was not heard\n");
    MPI_Win_fence(0, w);
    no = 0;
    MPI_Win_free(&w);
    MPI_Win_free_keyval(&key);
}

/* Packed data at the root: what the others send need not be alike. The judge is not the root. */
static void legal_packed(void)
{
    double x = 1;
    char all[8 * 64];
    MPI_Comm c;
    MPI_Comm_dup(W, &c);
    if (rank == 2)
        MPI_Gather(&x, 1, MPI_DOUBLE, all, 8, MPI_PACKED, 2, c);
    else
        MPI_Gather(rank == 1 ? (void *)&x : buf, rank == 1 ? 1 : 2,
                   rank == 1 ? MPI_DOUBLE : MPI_INT, NULL, 0, MPI_INT, 2, c);
    MPI_Barrier(c);
    MPI_Comm_free(&c);
}

/* Freeing calls that are refused on one process, and come again. */
static void legal_refusals(void)
{
    MPI_Comm c;
    MPI_Win w;
    int key, no = 1;
    MPI_Comm_dup(W, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, &key, NULL);
    MPI_Comm_set_attr(c, key, &no);
    if (rank == 1 && MPI_Comm_free(&c) == MPI_SUCCESS)
        printf("the callback was not heard\n");
    MPI_Barrier(c);
    no = 0;
    MPI_Comm_free(&c);
    MPI_Comm_free_keyval(&key);
    MPI_Win_create(buf, sizeof buf, 1, MPI_INFO_NULL, W, &w);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w);
    if (rank == 1 && MPI_Win_fence(0, w) == MPI_SUCCESS)
        printf("a fence inside a lock went through\n");
    MPI_Win_unlock(rank, w);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w);
    MPI_Win_fence(rank ? MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED : MPI_MODE_NOSUCCEED, w);
    MPI_Win_free(&w);
}

static void legal(void)
{
    legal_refusals();
    legal_window_refusals();
    legal_packed();
    MPI_Comm c, half, between;
    legal_calls(W);
    MPI_Comm_split(W, rank % 2, -rank, &half);
    legal_calls(half);
    MPI_Intercomm_create(half, 0, W, size - 1 - (size - 1 - !(rank % 2)) % 2, 3, &between);
    MPI_Barrier(between);
    int root = rank % 2 ? 0 : MPI_PROC_NULL, me;
    MPI_Comm_rank(half, &me);
    if (rank % 2 == 0 && me == 0)
        root = MPI_ROOT;
    MPI_Bcast(buf, 5, MPI_INT, root, between);
    MPI_Reduce(buf, sum, 1, MPI_INT, MPI_SUM, root, between);
    MPI_Intercomm_merge(between, rank % 2, &c);
    MPI_Barrier(c);
    MPI_Comm_free(&c);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN); /* a refused call is none */
    if (rank == 1)
        MPI_Bcast(buf, 1, MPI_INT, -5, W);
    MPI_Bcast(buf, 1, MPI_INT, 0, W);
    if (rank == 0) /* computes longer than the others wait */
        sleep(3);
    MPI_Allreduce(buf, sum, 1, MPI_INT, MPI_SUM, W);
    if (rank == 1)
        MPI_Recv(buf, 1, MPI_INT, 0, 4, W, MPI_STATUS_IGNORE);
    else
        MPI_Barrier(MPI_COMM_SELF);
    if (rank == 0) {
        sleep(2);
        MPI_Send(buf, 1, MPI_INT, 1, 4, W);
    }
}

static const struct check_case cases[] = {
    {"other_call", other_call}, {"other_root", other_root}, {"reduce_root", reduce_root},
    {"other_type", other_type}, {"vector_type", vector_type}, {"pairs_type", pairs_type},
    {"other_count", other_count}, {"other_op", other_op}, {"finalizes", finalizes},
    {"judge_finalizes", judge_finalizes}, {"swapped", swapped}, {"swapped_far", swapped_far},
    {"nonblocking", nonblocking}, {"forms", forms}, {"split_dup", split_dup}, {"on_dup", on_dup},
    {"freed", freed}, {"windows", windows}, {"fence_free", fence_free},
    {"fence_modes", fence_modes}, {"precedes", precedes}, {"precedes_not", precedes_not},
    {"inter", inter}, {"returns", returns},
    {"window_returns", window_returns}, {"inter_create", inter_create}, {"win_info", win_info},
    {"meanwhile", meanwhile}, {"legal", legal}};

int main(int argc, char **argv)
{
    return run_case(argc, argv, cases, sizeof cases / sizeof *cases);
}

/* everything.c - a little of everything, for runs under valgrind and sanitizers: messages of all
 * protocols, collectives, windows of each flavour, all operations in each kind of epoch, derived
 * types, errors, attributes; all of it freed again. */
#include "../mt.h"

enum { N = 24, LONG = 20000 };

static int64_t *at;
static MPI_Win win;
static MPI_Aint base; /* where rank `peer` has its memory: 0, or an address */
static int peer, passive;

static void messages(void)
{
    int *out = mt_alloc(LONG * sizeof *out), *in = mt_alloc(LONG * sizeof *in), n, i, flag;
    static const int sizes[] = {0, 1, 500, LONG};
    MPI_Datatype vec;
    MPI_Request q[2];
    MPI_Status st;
    MPI_Message m;
    int from = (mt_rank + mt_size - 1) % mt_size;

    MPI_Type_vector(50, 2, 3, MPI_INT, &vec);
    MPI_Type_commit(&vec);
    for (i = 0; i < LONG; i++)
        out[i] = mt_rank * LONG + i;
    for (i = 0; i < 4; i++) {
        n = sizes[i];
        MPI_Irecv(in, n, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &q[0]);
        MPI_Issend(out, n, MPI_INT, peer, i, MPI_COMM_WORLD, &q[1]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        CHECK(n == 0 || (in[0] == from * LONG && in[n - 1] == from * LONG + n - 1));
        MPI_Isend(out, n, MPI_INT, peer, i, MPI_COMM_WORLD, &q[0]); /* unexpected */
        MPI_Mprobe(from, i, MPI_COMM_WORLD, &m, &st);
        MPI_Get_count(&st, MPI_INT, &flag);
        CHECK_EQ(flag, n);
        MPI_Mrecv(in, n, MPI_INT, &m, &st);
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    }
    MPI_Sendrecv(out, 1, vec, peer, 9, in, 100, MPI_INT, from, 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK_EQ(in[2], from * LONG + 3);
    MPI_Send_init(out, 3, MPI_INT, peer, 10, MPI_COMM_WORLD, &q[0]);
    MPI_Recv_init(in, 3, MPI_INT, from, 10, MPI_COMM_WORLD, &q[1]);
    MPI_Startall(2, q);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
    MPI_Irecv(in, 1, MPI_INT, peer, 11, MPI_COMM_WORLD, &q[0]);
    MPI_Cancel(&q[0]);
    MPI_Wait(&q[0], &st);
    MPI_Test_cancelled(&st, &flag);
    CHECK(flag);
    MPI_Type_free(&vec);
    free(out);
    free(in);
}

static void add(void *in, void *io, int *n, MPI_Datatype *type)
{
    int i;

    (void)type;
    for (i = 0; i < *n; i++)
        ((int *)io)[i] += ((int *)in)[i];
}

static void collectives(void)
{
    int *a = mt_alloc(LONG * sizeof *a), *b = mt_alloc((size_t)(LONG * mt_size) * sizeof *b), i, n;
    int dims[1] = {mt_size}, periods[1] = {1};
    MPI_Comm half, ring;
    MPI_Request q;
    MPI_Op op;

    MPI_Op_create(add, 1, &op);
    for (n = 1; n <= LONG; n = n == 1 ? 100 : n == 100 ? LONG : LONG + 1) {
        for (i = 0; i < n; i++)
            a[i] = mt_rank + i;
        MPI_Bcast(a, n, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Allreduce(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(b[n - 1], mt_size * (n - 1));
        MPI_Allreduce(a, b, n, MPI_INT, op, MPI_COMM_WORLD);
        CHECK_EQ(b[n - 1], mt_size * (n - 1));
        MPI_Reduce(a, b, n, MPI_INT, MPI_MAX, mt_size - 1, MPI_COMM_WORLD);
        MPI_Allgather(a, n, MPI_INT, b, n, MPI_INT, MPI_COMM_WORLD);
        MPI_Gather(a, n, MPI_INT, b, n, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Scatter(b, n, MPI_INT, a, n, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Scan(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Alltoall(b, n / mt_size, MPI_INT, a, n / mt_size, MPI_INT, MPI_COMM_WORLD);
        MPI_Iallreduce(MPI_IN_PLACE, a, n, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Comm_split(MPI_COMM_WORLD, mt_rank % 2, 0, &half);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
    MPI_Barrier(half);
    MPI_Comm_free(&half);
    MPI_Comm_free(&ring);
    MPI_Op_free(&op);
    free(a);
    free(b);
}

/* Displacement of element i at rank peer. */
static MPI_Aint d(int i) { return base ? base + i * (MPI_Aint)sizeof *at : i; }

/* Every operation once; what it fetches is good when the epoch has ended. */
static int64_t got[16], one = 1, two[6] = {1, 2, 3, 4, 5, 6}, zero;

static void operations(void)
{
    MPI_Datatype vec;
    MPI_Request q[4];

    MPI_Type_vector(3, 1, 2, MPI_INT64_T, &vec);
    MPI_Type_commit(&vec);
    MPI_Put(two, 2, MPI_INT64_T, peer, d(0), 2, MPI_INT64_T, win);
    MPI_Put(two, 3, MPI_INT64_T, peer, d(2), 1, vec, win);
    MPI_Get(got, 1, vec, peer, d(10), 3, MPI_INT64_T, win);
    MPI_Accumulate(two, 6, MPI_INT64_T, peer, d(14), 6, MPI_INT64_T, MPI_SUM, win);
    MPI_Accumulate(two, 1, vec, peer, d(14), 1, vec, MPI_SUM, win);
    MPI_Get_accumulate(two, 2, MPI_INT64_T, got + 6, 2, MPI_INT64_T, peer, d(20), 2, MPI_INT64_T,
                       MPI_SUM, win);
    MPI_Fetch_and_op(&one, got + 8, MPI_INT64_T, peer, d(22), MPI_SUM, win);
    MPI_Compare_and_swap(&one, &zero, got + 9, MPI_INT64_T, peer, d(23), win);
    if (passive) {
        MPI_Rput(two, 1, MPI_INT64_T, peer, d(8), 1, MPI_INT64_T, win, &q[0]);
        MPI_Rget(got + 10, 1, MPI_INT64_T, peer, d(11), 1, MPI_INT64_T, win, &q[1]);
        MPI_Raccumulate(two, 1, MPI_INT64_T, peer, d(14), 1, MPI_INT64_T, MPI_SUM, win, &q[2]);
        MPI_Rget_accumulate(two, 1, MPI_INT64_T, got + 11, 1, MPI_INT64_T, peer, d(20), 1,
                            MPI_INT64_T, MPI_NO_OP, win, &q[3]);
        MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
        MPI_Win_flush_local(peer, win);
        MPI_Win_flush(peer, win);
        MPI_Win_flush_all(win);
        MPI_Win_flush_local_all(win);
        MPI_Win_sync(win);
    }
    MPI_Type_free(&vec);
}

static int turns;
static void check(void)
{
    turns++;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mt_rank, 0, win);
    CHECK_EQ(at[1], 2);
    CHECK_EQ(at[6], 3);
    CHECK_EQ(at[19], 6 * turns);
    CHECK_EQ(at[22], turns);
    CHECK_EQ(at[23], 1);
    MPI_Win_unlock(mt_rank, win);
    CHECK_EQ(got[8], turns - 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void epochs(void)
{
    MPI_Group all, to, from;
    int before = (mt_rank + mt_size - 1) % mt_size, err;

    turns = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mt_rank, 0, win);
    memset(at, 0, N * sizeof *at);
    MPI_Win_unlock(mt_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    passive = 0;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    operations();
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    check();
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &peer, &to);
    MPI_Group_incl(all, 1, &before, &from);
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    operations();
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    check();
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    passive = 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, win);
    operations();
    MPI_Win_unlock(peer, win);
    check();
    MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win);
    operations();
    MPI_Win_unlock(peer, win);
    check();
    MPI_Win_lock_all(0, win);
    operations();
    MPI_Win_unlock_all(win);
    check();
    /* Errors leave nothing behind either. */
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    err = MPI_Put(&one, 1, MPI_INT64_T, peer, d(0), 1, MPI_INT64_T, win);
    CHECK_EQ(mt_class(err), MPI_ERR_RMA_SYNC);
    err = MPI_Win_unlock(peer, win);
    CHECK_EQ(mt_class(err), MPI_ERR_RMA_SYNC);
}

static int deleted;
static int delete_attr(MPI_Win w, int key, void *value, void *extra)
{
    (void)w, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static void windows(void)
{
    MPI_Aint bytes = N * (MPI_Aint)sizeof *at, mine,
             *where = mt_alloc((size_t)mt_size * sizeof *where);
    int unit = (int)sizeof *at, key;
    int64_t *own = mt_alloc((size_t)bytes), *alloc;
    MPI_Info info;
    MPI_Comm node;

    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_attr, &key, NULL);
    MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &at, &win);
    MPI_Win_set_attr(win, key, &key);
    MPI_Win_set_name(win, "allocated");
    epochs();
    MPI_Win_free(&win);
    CHECK_EQ(deleted, 1);
    MPI_Win_free_keyval(&key);

    at = own;
    MPI_Win_create(own, bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    epochs();
    MPI_Win_get_info(win, &info);
    MPI_Info_free(&info);
    MPI_Win_free(&win);

    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &alloc);
    at = alloc;
    MPI_Win_create(alloc, bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    epochs();
    MPI_Win_free(&win);
    MPI_Free_mem(alloc);

    at = own;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, own, bytes);
    MPI_Get_address(own, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, where, 1, MPI_AINT, MPI_COMM_WORLD);
    base = where[peer];
    epochs();
    base = 0;
    MPI_Win_detach(win, own);
    MPI_Win_free(&win);

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &key);
    if (key == mt_size) {
        MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, node, &at, &win);
        epochs();
        MPI_Win_free(&win);
    }
    MPI_Comm_free(&node);
    free(own);
    free(where);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    peer = (mt_rank + 1) % mt_size;
    messages();
    collectives();
    windows();
    return mt_finish();
}

/* What only MPI-5.0's ABI has: its constants at run time, handles that come back as they were,
 * callbacks that get its handles and codes, statuses, special addresses. 2 ranks or more. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, bad;
#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            printf("five.c:%d: rank %d: %s\n", __LINE__, rank, #cond);                             \
            bad = 1;                                                                               \
        }                                                                                          \
    } while (0)

static void layout(void)
{
    int version, subversion;
    MPI_Info info;
    char text[16];
    int len = sizeof text, flag;
    CHECK(sizeof(MPI_Status) == 32 && sizeof(MPI_Comm) == sizeof(void *));
    MPI_Get_version(&version, &subversion);
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
    MPI_Abi_get_version(&version, &subversion);
    CHECK(version == MPI_ABI_VERSION && subversion == MPI_ABI_SUBVERSION);
    MPI_Abi_get_info(&info);
    MPI_Info_get_string(info, "mpi_aint_size", &len, text, &flag);
    CHECK(flag && !strcmp(text, "8"));
    MPI_Info_free(&info);
    CHECK(info == MPI_INFO_NULL);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    CHECK(MPI_Type_toint(MPI_INT) == 0x209);
}

/* The message is found by its handle, whatever the form of the call. */
static void messages(void)
{
    MPI_Message message;
    MPI_Status st;
    MPI_Request sent, r;
    int v = rank, got[2] = {-1, -1}, next = (rank + 1) % size, prev = (rank + size - 1) % size;
    MPI_Isend(&v, 1, MPI_INT, next, 8, MPI_COMM_WORLD, &sent);
    MPI_Mprobe(prev, 8, MPI_COMM_WORLD, &message, &st);
    MPI_Mrecv_c(&got[0], 1, MPI_INT, &message, &st);
    CHECK(got[0] == prev && st.MPI_SOURCE == prev && message == MPI_MESSAGE_NULL);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Isend(&v, 1, MPI_INT, next, 9, MPI_COMM_WORLD, &sent);
    MPI_Mprobe(prev, 9, MPI_COMM_WORLD, &message, &st);
    MPI_Imrecv_c(&got[1], 1, MPI_INT, &message, &r);
    CHECK(message == MPI_MESSAGE_NULL);
    MPI_Wait(&r, &st);
    CHECK(got[1] == prev && st.MPI_TAG == 9);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

static void statuses(void)
{
    MPI_Status st[3];
    MPI_Request r[3];
    int v = rank, got[2] = {-1, -1}, n, next = (rank + 1) % size, prev = (rank + size - 1) % size;
    memset(st, 0x55, sizeof st);
    MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(&v, 1, MPI_INT, next, 7, MPI_COMM_WORLD, &r[1]);
    MPI_Irecv(&got[1], 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &r[2]);
    MPI_Waitall(3, r, st);
    CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL && r[2] == MPI_REQUEST_NULL);
    CHECK(st[0].MPI_SOURCE == prev && st[0].MPI_TAG == 7 && got[0] == prev);
    MPI_Get_count(&st[0], MPI_INT, &n);
    CHECK(n == 1);
    CHECK(st[2].MPI_SOURCE == MPI_PROC_NULL && st[2].MPI_TAG == MPI_ANY_TAG);
    MPI_Sendrecv(&v, 1, MPI_INT, next, 1, got, 1, MPI_INT, prev, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(got[0] == prev);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    memset(st, 0, sizeof st);
    st[0].MPI_ERROR = 99; /* a receive does not write it */
    MPI_Sendrecv(&v, 1, MPI_INT, rank, 1, got, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &st[0]);
    CHECK(st[0].MPI_ERROR == 99);
}

static MPI_Datatype op_type;
static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    op_type = *type;
    for (int i = 0; i < *len; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}
static void add_c(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
    int n = (int)*len;
    add(in, inout, &n, type);
}

static void operations(void)
{
    MPI_Op op;
    int v = 1, sum = 0;
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&v, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(sum == size && (op_type == 0 || op_type == MPI_INT));
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
    MPI_Op_create_c(add_c, 1, &op);
    sum = 1;
    op_type = 0;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(sum == size && (op_type == 0 || op_type == MPI_INT));
    MPI_Op_free(&op);
}

static MPI_Comm handled;
static int handled_class;
static void handler(MPI_Comm *comm, int *code, ...)
{
    handled = *comm;
    MPI_Error_class(*code, &handled_class);
}

static void errors(void)
{
    MPI_Errhandler e, got;
    int err, class, n;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm_create_errhandler(handler, &e);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, e);
    MPI_Send(&n, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    CHECK(handled == MPI_COMM_WORLD && handled_class == MPI_ERR_RANK);
    MPI_Errhandler_free(&e);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    CHECK(got == MPI_ERRORS_RETURN);
    err = MPI_Send(&n, 1, MPI_INT, 0, -5, MPI_COMM_WORLD);
    MPI_Error_class(err, &class);
    CHECK(class == MPI_ERR_TAG);
    MPI_Error_string(err, text, &n);
    CHECK(strstr(text, "MPI_Send") != NULL);
    err = MPI_Send(&n, 1, MPI_LOGICAL16, 0, 0, MPI_COMM_WORLD);
    MPI_Error_class(err, &class);
    CHECK(class == MPI_ERR_TYPE);
    MPI_Error_string(MPI_ERR_RMA_SYNC, text, &n);
    CHECK(n > 0);
    MPI_Error_string(MPI_ERR_ABI, text, &n);
    MPI_Error_class(MPI_ERR_ABI, &class);
    CHECK(strstr(text, "binary interface") && class == MPI_ERR_ABI);
    MPI_Datatype types[1] = {MPI_INT};
    int zero[1] = {0};
    MPI_Comm *volatile stray = (MPI_Comm *)text; /* no communicator */
    err = MPI_Alltoallw(zero, zero, zero, types, zero, zero, zero, types, (MPI_Comm)stray);
    MPI_Error_class(err, &class);
    MPI_Error_string(err, text, &n);
    CHECK(class == MPI_ERR_COMM && strstr(text, "MPI_Alltoallw"));
    err = MPI_T_cvar_get_num(&n); /* before MPI_T_init_thread */
    CHECK(err == MPI_T_ERR_NOT_INITIALIZED);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static int copies, deletes;
static int copy(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)key;
    copies += c == MPI_COMM_WORLD && extra == &copies;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}
static int del(MPI_Comm c, int key, void *value, void *extra)
{
    (void)key, (void)value;
    deletes += c != MPI_COMM_NULL && extra == &copies;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    int key, dup_key, flag, *flavor, *model, *tag_ub;
    char *value, here[4];
    MPI_Comm c;
    MPI_Win w;
    void *base;
    MPI_Comm_create_keyval(copy, del, &key, &copies);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup_key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, here);
    MPI_Comm_set_attr(MPI_COMM_WORLD, dup_key, here);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_get_attr(c, key, &value, &flag);
    CHECK(flag && value == here + 1 && copies == 1);
    MPI_Comm_get_attr(c, dup_key, &value, &flag);
    CHECK(flag && value == here);
    MPI_Comm_free(&c);
    CHECK(c == MPI_COMM_NULL && deletes == 1);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag);
    CHECK(flag && *tag_ub >= 32767);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
    MPI_Win_get_attr(w, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    CHECK(flag && *flavor == MPI_WIN_FLAVOR_ALLOCATE);
    MPI_Win_get_attr(w, MPI_WIN_MODEL, &model, &flag);
    CHECK(flag && *model == MPI_WIN_UNIFIED);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, MPI_MODE_NOCHECK, w);
    MPI_Win_unlock(rank, w);
    MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSTORE, w);
    MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT, w);
    MPI_Win_free(&w);
    CHECK(w == MPI_WIN_NULL);
}

/* The arrays of types of a nonblocking and of a persistent alltoallw live as long as the request,
 * although the program's are gone. */
static void alltoallw(void)
{
    int *counts = calloc((size_t)size, sizeof(int)), *displs = calloc((size_t)size, sizeof(int));
    int *out = calloc((size_t)size, sizeof(int)), *in = calloc((size_t)size, sizeof(int));
    MPI_Datatype *types = calloc((size_t)size, sizeof *types);
    MPI_Request r;
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i * (int)sizeof(int);
        out[i] = 100 * rank + i;
        types[i] = MPI_INT;
    }
    for (int round = 0; round < 20; round++) {
        MPI_Ialltoallw(out, counts, displs, types, in, counts, displs, types, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < size; i++)
        CHECK(in[i] == 100 * i + rank);
    MPI_Datatype *volatile junk = (MPI_Datatype *)8; /* not read beside MPI_IN_PLACE */
    MPI_Alltoallw(MPI_IN_PLACE, counts, displs, junk, in, counts, displs, types, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        CHECK(in[i] == 100 * rank + i);
    memset(in, 0, (size_t)size * sizeof(int));
    MPI_Alltoallw_init(out, counts, displs, types, in, counts, displs, types, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &r);
    for (int round = 0; round < 3; round++) {
        MPI_Start(&r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        CHECK(r != MPI_REQUEST_NULL);
    }
    for (int i = 0; i < size; i++)
        CHECK(in[i] == 100 * i + rank);
    MPI_Request_free(&r);
    CHECK(r == MPI_REQUEST_NULL);
    free(counts), free(displs), free(out), free(in), free(types);
}

/* How many of n elements, given out in blocks in turn, the first process has. */
static int cyclic_part(int n, int block)
{
    int i, mine = 0;
    for (i = 0; i < n; i++)
        mine += i / block % size == 0;
    return mine;
}

static void datatypes(void)
{
    int sizes[2] = {4, 4}, subs[2] = {2, 2}, starts[2] = {1, 1}, ints[16], ni, na, nt, combiner;
    MPI_Aint addresses[1];
    MPI_Datatype t, old[1], darray, pair;
    int distribs[1] = {MPI_DISTRIBUTE_BLOCK}, dargs[1] = {MPI_DISTRIBUTE_DFLT_DARG};
    int gsizes[1] = {8}, psizes[1] = {size}, n;
    MPI_Type_create_subarray(2, sizes, subs, starts, MPI_ORDER_FORTRAN, MPI_DOUBLE, &t);
    MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner);
    CHECK(combiner == MPI_COMBINER_SUBARRAY && ni == 8 && nt == 1);
    MPI_Type_get_contents(t, ni, na, nt, ints, addresses, old);
    CHECK(ints[7] == MPI_ORDER_FORTRAN && old[0] == MPI_DOUBLE);
    MPI_Type_free(&t);
    MPI_Type_create_darray(size, rank, 1, gsizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_CHAR,
                           &darray);
    MPI_Type_get_envelope(darray, &ni, &na, &nt, &combiner);
    MPI_Type_get_contents(darray, ni, na, nt, ints, addresses, old);
    CHECK(combiner == MPI_COMBINER_DARRAY && ints[4] == MPI_DISTRIBUTE_BLOCK &&
          ints[5] == MPI_DISTRIBUTE_DFLT_DARG && ints[7] == MPI_ORDER_C && old[0] == MPI_CHAR);
    MPI_Type_free(&darray);
    /* sizes of blocks that are numbers of the ABI's constants */
    distribs[0] = MPI_DISTRIBUTE_CYCLIC;
    gsizes[0] = 100 * size;
    for (dargs[0] = MPI_DISTRIBUTE_NONE; dargs[0] <= MPI_DISTRIBUTE_CYCLIC; dargs[0]++) {
        MPI_Type_create_darray(size, 0, 1, gsizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_CHAR,
                               &darray);
        MPI_Type_get_contents(darray, ni, na, nt, ints, addresses, old);
        CHECK(ints[4] == MPI_DISTRIBUTE_CYCLIC && ints[5] == dargs[0]);
        MPI_Type_size(darray, &n);
        CHECK(n == cyclic_part(gsizes[0], dargs[0]));
        MPI_Type_free(&darray);
    }
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair);
    CHECK(pair == MPI_DOUBLE_INT);
    MPI_Type_size(MPI_DOUBLE_INT, &n);
    CHECK(n == 12);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &t);
    MPI_Type_size(t, &n);
    CHECK(n == 8);
}

static void groups(void)
{
    MPI_Group g, e;
    MPI_Comm cart;
    int two[2] = {0, MPI_PROC_NULL}, back[2], result, source, dest, dims[1], periods[1] = {0}, kind;
    dims[0] = size;
    MPI_Comm_group(MPI_COMM_WORLD, &g);
    MPI_Group_translate_ranks(g, 2, two, g, back);
    CHECK(back[0] == 0 && back[1] == MPI_PROC_NULL);
    MPI_Group_excl(g, 0, NULL, &e);
    MPI_Group_compare(g, e, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&e);
    MPI_Group_free(&g);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart);
    MPI_Topo_test(cart, &kind);
    CHECK(kind == MPI_CART);
    MPI_Cart_shift(cart, 0, 1, &source, &dest);
    CHECK(source == (rank ? rank - 1 : MPI_PROC_NULL));
    CHECK(dest == (rank + 1 < size ? rank + 1 : MPI_PROC_NULL));
    MPI_Comm_compare(cart, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_free(&cart);
    MPI_Topo_test(MPI_COMM_WORLD, &kind);
    CHECK(kind == MPI_UNDEFINED);
}

static int query(void *extra, MPI_Status *st)
{
    MPI_Status_set_elements(st, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(st, 0);
    st->MPI_SOURCE = MPI_PROC_NULL;
    st->MPI_TAG = MPI_ANY_TAG;
    return MPI_SUCCESS;
}
static int frees;
static int free_fn(void *extra)
{
    (void)extra;
    frees++;
    return MPI_SUCCESS;
}
static int cancel_fn(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void general(void)
{
    MPI_Request r, first;
    MPI_Status st;
    int three = 3, n, v = 0, in = 1;
    MPI_Irecv(&in, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, &first);
    r = first;
    MPI_Send(&v, 1, MPI_INT, rank, 7, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    /* what an output held before does not matter, also if it looks like the new handle */
    r = (MPI_Request)((uintptr_t)first | (uintptr_t)0xff << 40);
    MPI_Irecv(&in, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, &r);
    CHECK(r == first);
    r = first;
    MPI_Send(&v, 1, MPI_INT, rank, 7, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Grequest_start(query, free_fn, cancel_fn, &three, &r);
    MPI_Grequest_complete(r);
    MPI_Wait(&r, &st);
    MPI_Get_elements(&st, MPI_INT, &n);
    CHECK(n == 3 && frees == 1 && st.MPI_SOURCE == MPI_PROC_NULL && st.MPI_TAG == MPI_ANY_TAG);
}

static void graphs(void)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size, w[2] = {5, 6}, in = -1, out = -1;
    int *volatile none = MPI_UNWEIGHTED; /* an address of no array, which the compiler would name */
    MPI_Comm c;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, &w[0], 1, &to, &w[1], MPI_INFO_NULL, 0,
                                   &c);
    MPI_Dist_graph_neighbors(c, 1, &in, none, 1, &out, none);
    CHECK(in == from && out == to);
    MPI_Comm_free(&c);
}

/* An extension, which the Forum's header has not: handles, types and errors go through. */
static void notifications(void)
{
#ifdef MPIX_NOTIFY_MAX
    int to = (rank + 1) % size, from = (rank + size - 1) % size, there = -1, class, rc;
    long *mem, x = 100 + rank;
    MPI_Count value = -1;
    MPI_Request r;
    MPI_Win w;
    MPI_Win_allocate(2 * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &w);
    mem[0] = mem[1] = 0;
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    MPIX_Win_notify_set_num(w, MPI_INFO_NULL, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w);
    MPIX_Put_notify(&x, 1, MPI_LONG, to, 0, 1, MPI_LONG, 0, w);
    MPIX_Win_notify_take(w, 0, 1);
    CHECK(mem[0] == 100 + from);
    MPIX_Accumulate_notify_c(&x, 1, MPI_LONG, to, 1, 1, MPI_LONG, MPI_SUM, 1, w);
    MPIX_Win_notify_request(w, 1, 1, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(mem[1] == 100 + from && r == MPI_REQUEST_NULL);
    MPIX_Win_notify_test(w, 1, 2, &there);
    MPIX_Win_notify_get_value(w, 1, &value);
    CHECK(there == 0 && value == 1);
    CHECK(MPIX_Put_notify(&x, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, 0, w) == MPI_SUCCESS);
    rc = MPIX_Win_notify_wait(w, 2, 1);
    MPI_Error_class(rc, &class);
    CHECK(class == MPIX_ERR_INVALID_NOTIFICATION);
    MPI_Win_unlock_all(w);
    MPI_Win_free(&w);
#endif
}

int main(int argc, char **argv)
{
    int provided, any;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(provided >= MPI_THREAD_SERIALIZED && provided <= MPI_THREAD_MULTIPLE);
    layout();
    statuses();
    messages();
    operations();
    errors();
    attributes();
    alltoallw();
    datatypes();
    groups();
    graphs();
    general();
    notifications();
    MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!any && !rank)
        printf(" No Errors\n");
    MPI_Finalize();
    return any;
}

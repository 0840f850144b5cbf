/* Open MPI's binary interface: constants at run time, handles that come back as they were,
 * callbacks that get its handles and codes, statuses, texts of its lengths, handles of Fortran.
 * Compiled with Open MPI's mpicc. 2 ranks or more. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FT = 12 }; /* MPI_FT of Open MPI 5 */

static int rank, size, bad;
#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            printf("ompi.c:%d: rank %d: %s\n", __LINE__, rank, #cond);                             \
            bad = 1;                                                                               \
        }                                                                                          \
    } while (0)

static void layout(void)
{
    int version, subversion, *value, flag;
    CHECK(sizeof(MPI_Status) == 24);
    MPI_Get_version(&version, &subversion);
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    CHECK(flag && *value == INT32_MAX);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag);
    CHECK(flag && *value == MPI_ANY_SOURCE);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag);
    CHECK(flag && *value == MPI_PROC_NULL);
    int result, status;
    MPI_Comm_get_attr(MPI_COMM_WORLD, FT, &value, &flag);
    CHECK(flag && *value == 1);
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_IDENT);
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &result);
    CHECK(result == (size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL));
    MPI_Topo_test(MPI_COMM_WORLD, &status);
    CHECK(status == MPI_UNDEFINED);
}

static void messages(void)
{
    MPI_Message message;
    MPI_Status st, all[2];
    MPI_Request r[2];
    int v = rank, got = -1, n, next = (rank + 1) % size, prev = (rank + size - 1) % size;
    MPI_Isend(&v, 1, MPI_INT, next, 8, MPI_COMM_WORLD, &r[0]);
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &st);
    CHECK(st.MPI_SOURCE == prev && st.MPI_TAG == 8 && st._ucount == sizeof v);
    MPI_Mrecv(&got, 1, MPI_INT, &message, &st);
    CHECK(got == prev && message == MPI_MESSAGE_NULL);
    MPI_Get_count(&st, MPI_INT, &n);
    CHECK(n == 1);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    CHECK(r[0] == MPI_REQUEST_NULL);

    MPI_Irecv(&got, 1, MPI_INT, prev, 9, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(&v, 1, MPI_INT, next, 9, MPI_COMM_WORLD, &r[0]);
    MPI_Waitall(2, r, all);
    CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
    CHECK(got == prev && all[1].MPI_SOURCE == prev && all[1].MPI_TAG == 9);
    CHECK(all[1]._ucount == sizeof got && !all[1]._cancelled);

    int index = 7, flag = 0, indices[2], out;
    MPI_Irecv(&got, 1, MPI_INT, prev, 10, MPI_COMM_WORLD, &r[1]);
    r[0] = MPI_REQUEST_NULL;
    MPI_Testany(2, r, &index, &flag, &st);
    MPI_Cancel(&r[1]);
    MPI_Waitsome(2, r, &out, indices, all);
    MPI_Test_cancelled(&all[0], &flag);
    CHECK(out == 1 && indices[0] == 1 && flag && all[0]._cancelled);
    MPI_Waitany(2, r, &index, &st);
    CHECK(index == MPI_UNDEFINED);

    MPI_Recv(&got, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
    CHECK(st.MPI_SOURCE == MPI_PROC_NULL && st.MPI_TAG == MPI_ANY_TAG && st._ucount == 0);
    MPI_Improbe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, &message, &st);
    CHECK(flag && message == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static int handled, handled_code;
static MPI_Comm handled_comm;
static void handler(MPI_Comm *comm, int *code, ...)
{
    handled++;
    handled_comm = *comm;
    handled_code = *code;
}

static void errors(void)
{
    static const struct {
        int class;
        const char *text;
    } row[] = {{MPI_ERR_COMM, "MPI_ERR_COMM: "}, {MPI_ERR_WIN, "MPI_ERR_WIN: "},
               {MPI_ERR_RMA_SHARED, "MPI_ERR_RMA_SHARED: "}, {MPI_SUCCESS, "MPI_SUCCESS: "},
               {MPI_T_ERR_INVALID_INDEX, "MPI_T_ERR_INVALID_INDEX: "}};
    char text[MPI_MAX_ERROR_STRING + 8];
    int n, class, *value, flag, v = 0, code;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        memset(text, '#', sizeof text);
        MPI_Error_string(row[i].class, text, &n);
        CHECK(!strncmp(text, row[i].text, strlen(row[i].text)) && (int)strlen(text) == n);
        CHECK(text[MPI_MAX_ERROR_STRING] == '#');
        MPI_Error_class(row[i].class, &class);
        CHECK(class == row[i].class);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Send(&v, 1, MPI_INT, size, 0, MPI_COMM_WORLD) == MPI_ERR_RANK);
    CHECK(MPI_Send(&v, -1, MPI_INT, 0, 0, MPI_COMM_WORLD) == MPI_ERR_COUNT);
    CHECK(MPI_Comm_size(MPI_COMM_NULL, &n) == MPI_ERR_COMM);
    CHECK(MPI_Type_size(MPI_DATATYPE_NULL, &n) == MPI_ERR_TYPE);
    int two[2] = {0, 0};
    MPI_Request r;
    MPI_Status st;
    MPI_Irecv(two, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, &r);
    MPI_Send(two, 2, MPI_INT, rank, 4, MPI_COMM_WORLD);
    CHECK(MPI_Wait(&r, &st) == MPI_ERR_TRUNCATE);

    MPI_Errhandler e, same;
    MPI_Comm_create_errhandler(handler, &e);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, e);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &same);
    CHECK(same == e);
    MPI_Send(&v, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    CHECK(handled == 1 && handled_comm == MPI_COMM_WORLD && handled_code == MPI_ERR_RANK);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TOPOLOGY);
    CHECK(handled == 2 && handled_code == MPI_ERR_TOPOLOGY);
    MPI_Errhandler_free(&e);
    CHECK(e == MPI_ERRHANDLER_NULL);
    MPI_Errhandler_free(&same);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    MPI_Add_error_class(&class);
    CHECK(class == MPI_ERR_LASTCODE + 1);
    MPI_Add_error_code(class, &code);
    CHECK(code > class);
    MPI_Add_error_string(code, "mine");
    MPI_Error_string(code, text, &n);
    CHECK(!strcmp(text, "mine"));
    MPI_Error_class(code, &n);
    CHECK(n == class);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    CHECK(flag && *value == code);
}

/* The calls that end with a jump into the library: their errors are Open MPI's, too. */
static void jumps(void)
{
    int v = 0, w = 0;
    MPI_Win win, none = MPI_WIN_NULL;
    CHECK(MPI_Comm_rank(MPI_COMM_NULL, &v) == MPI_ERR_COMM);
    CHECK(MPI_Comm_size(MPI_COMM_NULL, &v) == MPI_ERR_COMM);
    CHECK(MPI_Send(&v, 1, MPI_INT, 0, 0, MPI_COMM_NULL) == MPI_ERR_COMM);
    CHECK(MPI_Bsend(&v, 1, MPI_INT, size, 0, MPI_COMM_WORLD) == MPI_ERR_RANK);
    CHECK(MPI_Ssend(&v, 1, MPI_INT, size, 0, MPI_COMM_WORLD) == MPI_ERR_RANK);
    CHECK(MPI_Rsend(&v, 1, MPI_INT, size, 0, MPI_COMM_WORLD) == MPI_ERR_RANK);
    CHECK(MPI_Barrier(MPI_COMM_NULL) == MPI_ERR_COMM);
    CHECK(MPI_Bcast(&v, 1, MPI_INT, size, MPI_COMM_WORLD) == MPI_ERR_ROOT);
    CHECK(MPI_Reduce(&v, &w, 1, MPI_INT, MPI_OP_NULL, 0, MPI_COMM_WORLD) == MPI_ERR_OP);
    CHECK(MPI_Allreduce(&v, &w, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD) == MPI_ERR_OP);
    CHECK(MPI_Put(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, none) == MPI_ERR_WIN);
    CHECK(MPI_Get(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, none) == MPI_ERR_WIN);
    CHECK(MPI_Accumulate(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, none) == MPI_ERR_WIN);
    CHECK(MPI_Get_accumulate(&v, 1, MPI_INT, &w, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, none) ==
          MPI_ERR_WIN);
    CHECK(MPI_Fetch_and_op(&v, &w, MPI_INT, 0, 0, MPI_SUM, none) == MPI_ERR_WIN);
    CHECK(MPI_Compare_and_swap(&v, &v, &w, MPI_INT, 0, 0, none) == MPI_ERR_WIN);
    CHECK(MPI_Win_fence(0, none) == MPI_ERR_WIN);
    CHECK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, none) == MPI_ERR_WIN);
    CHECK(MPI_Win_unlock(0, none) == MPI_ERR_WIN);
    CHECK(MPI_Win_lock_all(0, none) == MPI_ERR_WIN);
    CHECK(MPI_Win_unlock_all(none) == MPI_ERR_WIN);
    CHECK(MPI_Win_flush(0, none) == MPI_ERR_WIN);
    CHECK(MPI_Win_flush_all(none) == MPI_ERR_WIN);
    CHECK(MPI_Win_flush_local(0, none) == MPI_ERR_WIN);
    CHECK(MPI_Win_flush_local_all(none) == MPI_ERR_WIN);
    /* the window's own handler; every way of a null pointer or of none of its handles */
    MPI_Win_create(&v, sizeof v, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK(MPI_Win_flush(0, win) == MPI_ERR_RMA_SYNC);
    CHECK(MPI_Put(&v, 1, MPI_INT, size, 0, 1, MPI_INT, win) == MPI_ERR_RANK);
    CHECK(MPI_Put(&v, 1, 0, 0, 0, 1, MPI_INT, win) == MPI_ERR_TYPE);
    CHECK(MPI_Put(&v, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, 0) == MPI_ERR_WIN);
    MPI_Win_free(&win);
}

static MPI_Datatype op_type;
static void op(void *in, void *inout, int *len, MPI_Datatype *type)
{
    op_type = *type;
    for (int i = 0; i < *len; i++)
        ((int *)inout)[i] += 2 * ((int *)in)[i];
}

static int copies, deletes;
static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    copies += comm == MPI_COMM_WORLD && extra == &copies && key >= 0;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static void callbacks(void)
{
    MPI_Op mine;
    MPI_Comm dup;
    char *value = NULL, text[1];
    int v = 1, sum = 0, key, dup_key, null_key, flag;
    MPI_Op_create(op, 1, &mine);
    MPI_Reduce(&v, &sum, 1, MPI_INT, mine, 0, MPI_COMM_WORLD);
    CHECK(rank || (sum >= size && op_type == MPI_INT) || size == 1);
    MPI_Op_free(&mine);
    CHECK(mine == MPI_OP_NULL);
    MPI_Comm_create_keyval(copy, delete, &key, &copies);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup_key, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &null_key, NULL);
    CHECK(key != MPI_KEYVAL_INVALID && key > FT);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, text);
    MPI_Comm_set_attr(MPI_COMM_WORLD, dup_key, text);
    MPI_Comm_set_attr(MPI_COMM_WORLD, null_key, text);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_get_attr(dup, key, &value, &flag);
    CHECK(flag && value == text + 1 && copies == 1);
    MPI_Comm_get_attr(dup, dup_key, &value, &flag);
    CHECK(flag && value == text);
    MPI_Comm_get_attr(dup, null_key, &value, &flag);
    CHECK(!flag);
    MPI_Comm_free(&dup);
    CHECK(dup == MPI_COMM_NULL && deletes == 1);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, null_key);
    MPI_Comm_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID && deletes == 3);
    MPI_Comm_free_keyval(&dup_key);
    MPI_Comm_free_keyval(&null_key);
}

static int query(void *extra, MPI_Status *st)
{
    st->MPI_SOURCE = MPI_ANY_SOURCE;
    st->MPI_TAG = 5;
    MPI_Status_set_elements(st, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(st, 0);
    return MPI_SUCCESS;
}
static int release(void *extra)
{
    return *(int *)extra == 3 ? MPI_SUCCESS : MPI_ERR_OTHER;
}
static int cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void generalized(void)
{
    int n = 3, got;
    MPI_Request r;
    MPI_Status st;
    MPI_Grequest_start(query, release, cancel, &n, &r);
    MPI_Grequest_complete(r);
    CHECK(MPI_Wait(&r, &st) == MPI_SUCCESS && r == MPI_REQUEST_NULL);
    MPI_Get_count(&st, MPI_INT, &got);
    CHECK(got == 3 && st.MPI_TAG == 5 && st.MPI_SOURCE == MPI_ANY_SOURCE && st._ucount == 12);
}

/* Of MPI-1: the header hides it, the library has it. */
int type_struct(int count, int *lens, MPI_Aint *where, MPI_Datatype *of, MPI_Datatype *t)
    __asm__("MPI_Type_struct");

static void types(void)
{
    MPI_Datatype t, content[2];
    int ints[8], ni, na, nt, combiner, sizes[2] = {4, 6}, sub[2] = {2, 3}, at[2] = {1, 1}, n;
    int lens[2] = {1, 2};
    MPI_Aint where[2] = {0, 8};
    MPI_Datatype of[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Type_create_subarray(2, sizes, sub, at, MPI_ORDER_FORTRAN, MPI_DOUBLE, &t);
    MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner);
    CHECK(combiner == MPI_COMBINER_SUBARRAY && ni == 8 && na == 0 && nt == 1);
    MPI_Type_get_contents(t, ni, na, nt, ints, NULL, content);
    CHECK(content[0] == MPI_DOUBLE && ints[7] == MPI_ORDER_FORTRAN);
    MPI_Type_free(&t);
    CHECK(t == MPI_DATATYPE_NULL);
    MPI_Type_create_struct(2, lens, where, of, &t);
    MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner);
    CHECK(combiner == MPI_COMBINER_STRUCT && nt == 2);
    MPI_Aint a[2];
    MPI_Type_get_contents(t, ni, na, nt, ints, a, content);
    CHECK(content[0] == MPI_INT && content[1] == MPI_DOUBLE && a[1] == 8);
    MPI_Type_free(&t);
    CHECK(type_struct(2, lens, where, of, &t) == MPI_SUCCESS);
    MPI_Type_size(t, &n);
    CHECK(n == 4 + 2 * 8);
    MPI_Type_free(&t);
    MPI_Type_get_envelope(MPI_INT, &ni, &na, &nt, &combiner);
    CHECK(combiner == MPI_COMBINER_NAMED);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &t);
    MPI_Type_size(t, &n);
    CHECK(n == 8);
    MPI_Type_size(MPI_LOGICAL8, &n);
    CHECK(n == 8);
    CHECK(MPI_LONG_LONG == MPI_LONG_LONG_INT);
}

static void texts(void)
{
    char name[MPI_MAX_OBJECT_NAME + 8], longer[2 * MPI_MAX_OBJECT_NAME], key[256];
    char version[MPI_MAX_LIBRARY_VERSION_STRING + 8];
    int n, flag;
    MPI_Info info;
    memset(longer, 'n', sizeof longer);
    longer[sizeof longer - 1] = 0;
    memset(name, '#', sizeof name);
    MPI_Comm_set_name(MPI_COMM_SELF, longer);
    MPI_Comm_get_name(MPI_COMM_SELF, name, &n);
    CHECK(n == MPI_MAX_OBJECT_NAME - 1 && name[n] == 0 && name[MPI_MAX_OBJECT_NAME] == '#');
    memset(version, '#', sizeof version);
    MPI_Get_library_version(version, &n);
    CHECK(version[n] == 0 && version[MPI_MAX_LIBRARY_VERSION_STRING] == '#');
    MPI_Info_create(&info);
    memset(key, 'k', sizeof key);
    key[MPI_MAX_INFO_KEY - 1] = 0;
    CHECK(MPI_Info_set(info, key, "v") == MPI_SUCCESS);
    MPI_Info_get(info, key, 4, version, &flag);
    CHECK(flag && !strcmp(version, "v"));
    memset(key, '#', sizeof key);
    MPI_Info_get_nthkey(info, 0, key);
    CHECK(strlen(key) == MPI_MAX_INFO_KEY - 1 && key[MPI_MAX_INFO_KEY] == '#');
    memset(key, 'k', sizeof key);
    key[MPI_MAX_INFO_KEY] = 0;
    CHECK(MPI_Info_set(info, key, "v") == MPI_ERR_INFO_KEY);
    MPI_Info_free(&info);
    CHECK(info == MPI_INFO_NULL);
}

static void communicators(void)
{
    static const int kind[] = {MPI_COMM_TYPE_SHARED, OMPI_COMM_TYPE_HWTHREAD, OMPI_COMM_TYPE_NUMA,
                               OMPI_COMM_TYPE_HOST, OMPI_COMM_TYPE_CLUSTER};
    MPI_Comm c;
    MPI_Group world, empty;
    int n, ranks[2] = {0, MPI_PROC_NULL}, same[2];
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        MPI_Comm_split_type(MPI_COMM_WORLD, kind[i], 0, MPI_INFO_NULL, &c);
        CHECK(c != MPI_COMM_NULL);
        MPI_Comm_size(c, &n);
        CHECK(i == 1 || i == 2 || n == size);
        MPI_Comm_free(&c);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &c);
    CHECK(c == MPI_COMM_NULL);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(world, 2, ranks, world, same);
    CHECK(same[0] == 0 && same[1] == MPI_PROC_NULL);
    MPI_Group_difference(world, world, &empty);
    MPI_Group_size(empty, &n);
    CHECK(n == 0);
    MPI_Group_free(&world);
    CHECK(world == MPI_GROUP_NULL);
    int next = (rank + 1) % size, prev = (rank + size - 1) % size, in, out, weighted;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &prev, MPI_UNWEIGHTED, 1, &next,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
    MPI_Topo_test(c, &n);
    CHECK(n == MPI_DIST_GRAPH);
    MPI_Dist_graph_neighbors_count(c, &in, &out, &weighted);
    CHECK(in == 1 && out == 1 && !weighted);
    MPI_Comm_free(&c);
    int dims = size, periods = 0, up, down;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periods, 0, &c);
    MPI_Cart_shift(c, 0, 1, &down, &up);
    CHECK(down == (rank ? rank - 1 : MPI_PROC_NULL));
    CHECK(up == (rank < size - 1 ? rank + 1 : MPI_PROC_NULL));
    MPI_Comm_free(&c);
    MPI_Comm_get_parent(&c);
    CHECK(c == MPI_COMM_NULL);
}

static void collectives(void)
{
    int sum = 1, v = 1, *all = calloc((size_t)size, sizeof *all);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size);
    all[rank] = rank + 1;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[size - 1] == size);
    MPI_Request r;
    MPI_Ibcast(&v, 1, MPI_INT, 0, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Datatype *types = malloc((size_t)size * sizeof *types);
    int *ones = malloc((size_t)size * sizeof *ones), *at = malloc((size_t)size * sizeof *at);
    int *to = calloc((size_t)size, sizeof *to);
    for (int i = 0; i < size; i++)
        types[i] = MPI_INT, ones[i] = 1, at[i] = i * (int)sizeof(int);
    MPI_Ialltoallw(all, ones, at, types, to, ones, at, types, MPI_COMM_WORLD, &r);
    for (int i = 0; i < size; i++)
        types[i] = NULL; /* the call has taken them */
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(to[size - 1] == rank + 1);
    free(all), free(types), free(ones), free(at), free(to);
}

static void windows(void)
{
    int *base, flag, *flavor, *model, got = -1, one = 1, *shared, unit;
    MPI_Win w;
    MPI_Aint bytes;
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
    MPI_Win_get_attr(w, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    CHECK(flag && *flavor == MPI_WIN_FLAVOR_ALLOCATE);
    MPI_Win_get_attr(w, MPI_WIN_MODEL, &model, &flag);
    CHECK(flag && *model == MPI_WIN_UNIFIED);
    *base = 0;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w);
    MPI_Win_fence(0, w);
    CHECK(rank || *base == size);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);
    MPI_Fetch_and_op(NULL, &got, MPI_INT, 0, 0, MPI_NO_OP, w);
    MPI_Win_flush(0, w);
    CHECK(got == size);
    MPI_Win_unlock(0, w);
    MPI_Win_free(&w);
    CHECK(w == MPI_WIN_NULL);
    MPI_Win_allocate_shared(rank ? 0 : 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
    MPI_Win_shared_query(w, MPI_PROC_NULL, &bytes, &unit, &shared);
    CHECK(bytes == 8);
    MPI_Win_free(&w);
}

static void files(const char *path)
{
    MPI_File f, of_fortran;
    int v = rank, got = -1, amode, flag;
    char datarep[MPI_MAX_DATAREP_STRING];
    MPI_Offset disp;
    MPI_Datatype etype, filetype;
    MPI_Status st;
    CHECK(MPI_File_open(MPI_COMM_WORLD, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &f) ==
          MPI_ERR_NO_SUCH_FILE);
    CHECK(f == MPI_FILE_NULL);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &f);
    MPI_File_get_amode(f, &amode);
    CHECK(amode == (MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE));
    of_fortran = MPI_File_f2c(MPI_File_c2f(f));
    CHECK(of_fortran == f);
    MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_get_view(f, &disp, &etype, &filetype, datarep);
    CHECK(disp == 0 && etype == MPI_INT && !strcmp(datarep, "native"));
    MPI_File_write_at_all(f, rank, &v, 1, MPI_INT, &st);
    CHECK(st._ucount == sizeof v);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek(f, -1, MPI_SEEK_END);
    MPI_File_read(f, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_get_atomicity(f, &flag);
    CHECK(got == size - 1 && !flag);
    MPI_File_close(&f);
    CHECK(f == MPI_FILE_NULL);
}

static void fortran(void)
{
    MPI_Comm dup;
    MPI_Datatype pair;
    MPI_Fint f[sizeof(MPI_Status) / sizeof(MPI_Fint)];
    MPI_Status st = {.MPI_SOURCE = 1, .MPI_TAG = 2, ._ucount = 8}, back;
    CHECK(MPI_Comm_c2f(MPI_COMM_WORLD) == 0 && MPI_Comm_c2f(MPI_COMM_NULL) == 2);
    CHECK(MPI_Comm_f2c(1) == MPI_COMM_SELF && MPI_Comm_f2c(-7) == NULL);
    CHECK(MPI_Type_c2f(MPI_INTEGER) == 7 && MPI_Type_f2c(17) == MPI_DOUBLE_PRECISION);
    CHECK(MPI_Op_c2f(MPI_SUM) == 3 && MPI_Op_f2c(14) == MPI_NO_OP);
    CHECK(MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_ENV)) == MPI_INFO_ENV);
    CHECK(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
    CHECK(MPI_Request_c2f(MPI_REQUEST_NULL) == 0 && MPI_Win_f2c(0) == MPI_WIN_NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    CHECK(MPI_Comm_c2f(dup) > 2 && MPI_Comm_f2c(MPI_Comm_c2f(dup)) == dup);
    MPI_Comm_free(&dup);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    CHECK(MPI_Type_c2f(pair) > 72 && MPI_Type_f2c(MPI_Type_c2f(pair)) == pair);
    MPI_Type_free(&pair);
    MPI_Status_c2f(&st, f);
    MPI_Status_f2c(f, &back);
    CHECK(f[0] == 1 && f[1] == 2 && back.MPI_TAG == 2 && back._ucount == 8);
}

/* Handles that do not count in this process, long values, a split that copies no attributes. */
static int copied_self;
static int copy_self(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    copied_self++;
    *flag = 0;
    return MPI_SUCCESS;
}

static void edges(void)
{
    MPI_Datatype none = (MPI_Datatype)(uintptr_t)0x10;
    MPI_Request r;
    MPI_Info info;
    MPI_Comm made;
    int all[64] = {0}, v = rank, got = -1, key, flag, len;
    char value[300], back[300];
    if (size <= 64) {
        MPI_Gather(&v, 1, MPI_INT, all, 1, rank ? none : MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Iscatter(all, 1, rank ? none : MPI_INT, &got, 1, MPI_INT, 0, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        CHECK(got == rank);
    }
    memset(value, 'v', sizeof value);
    value[MPI_MAX_INFO_VAL] = 0;
    MPI_Info_create(&info);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Info_set(info, "long", value) == MPI_ERR_INFO_VALUE);
    value[MPI_MAX_INFO_VAL - 1] = 0;
    CHECK(MPI_Info_set(info, "long", value) == MPI_SUCCESS);
    MPI_Info_get_valuelen(info, "long", &len, &flag);
    MPI_Info_get(info, "long", sizeof back, back, &flag);
    CHECK(flag && len == MPI_MAX_INFO_VAL - 1 && !strcmp(value, back));
    MPI_Info_free(&info);

    MPI_Comm_create_keyval(copy_self, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, value);
    MPI_Comm_split_type(MPI_COMM_WORLD, OMPI_COMM_TYPE_CORE, 0, MPI_INFO_NULL, &made);
    CHECK(made != MPI_COMM_NULL && !copied_self);
    MPI_Comm_free(&made);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Comm_free_keyval(&key);
}

static atomic_int stops;

static void *looks(void *arg)
{
    int flag;
    while (!stops)
        MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    return arg;
}

/* The errors of calls that wait, beside a thread that is in other calls meanwhile. */
static void threads(void)
{
    pthread_t other;
    int v[2] = {1, 2}, given = -1;
    MPI_Query_thread(&given);
    CHECK(given == MPI_THREAD_MULTIPLE);
    pthread_create(&other, NULL, looks, NULL);
    for (int i = 0; i < 20; i++) {
        MPI_Comm c;
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
        if (!rank)
            usleep(20000);
        int err = MPI_Bcast(v, rank ? 1 : 2, MPI_INT, 0, c);
        CHECK(err == (rank ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
        if (rank) { /* a receive is converted by itself */
            err = MPI_Recv(v, 1, MPI_INT, 0, 1, c, MPI_STATUS_IGNORE);
            CHECK(err == MPI_ERR_TRUNCATE);
        }
        for (int r = 1; !rank && r < size; r++) {
            usleep(20000);
            MPI_Send(v, 2, MPI_INT, r, 1, c);
        }
        MPI_Comm_free(&c);
    }
    stops = 1;
    pthread_join(other, NULL);
}

static void one_thread(const char *file)
{
    layout();
    messages();
    errors();
    jumps();
    callbacks();
    generalized();
    types();
    texts();
    communicators();
    collectives();
    windows();
    if (file)
        files(file);
    fortran();
    edges();
}

int main(int argc, char **argv)
{
    int given, is_threads = argc > 1 && !strcmp(argv[1], "threads");
    MPI_Init_thread(&argc, &argv, is_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (is_threads)
        threads();
    else
        one_thread(argc > 1 ? argv[1] : NULL);
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!bad && !rank)
        printf(" No Errors\n");
    MPI_Finalize();
    return bad;
}

/* args.c - wrong arguments: each call returns an error of the right class through the right error
 * handler, with a text that is not empty. The library goes on working. */
#include "../mt.h"

static int handled, handled_code;
static MPI_Comm handled_comm;

static void handler(MPI_Comm *c, int *err, ...)
{
    handled_code = *err;
    handled++;
    handled_comm = *c;
}

/* Evaluates a call that must fail with one of two classes. */
#define BAD2(call, c1, c2) \
    do { \
        int e_ = (call), k_ = mt_class(e_); \
        MUST(k_ == (c1) || k_ == (c2), "%s: class %d, expected %d", #call, k_, (int)(c1)); \
        if (e_) \
            text(e_, #call); \
    } while (0)
#define BAD(call, c1) BAD2(call, c1, c1)

static void text(int err, const char *what)
{
    char s[MPI_MAX_ERROR_STRING];
    int n = 0;

    s[0] = 0;
    MPI_Error_string(err, s, &n);
    MUST(n > 0 && n == (int)strlen(s), "no text for the error of %s", what);
}

/* A call that must fail with this class and this text. */
#define SAYS(call, cls, words) \
    do { \
        int e_ = (call); \
        MUST(mt_class(e_) == (cls), "%s: class %d, expected %d", #call, mt_class(e_), (int)(cls)); \
        says(e_, words, #call); \
    } while (0)

static void says(int err, const char *words, const char *what)
{
    char s[MPI_MAX_ERROR_STRING] = "";
    int n;

    MPI_Error_string(err, s, &n);
    MUST(strstr(s, words) != NULL, "%s: the text is \"%s\", without \"%s\"", what, s, words);
}

/* Errors found below the call, where its name is unknown, carry it all the same. */
static void found_later(void)
{
    int two[2] = { 1, 2 }, one = 0, i;
    MPI_Request r[2];
    MPI_Status st[2];
    MPI_Comm self = MPI_COMM_SELF;

    MPI_Isend(two, 2, MPI_INT, 0, 7, self, r);
    SAYS(MPI_Recv(&one, 1, MPI_INT, 0, 7, self, st), MPI_ERR_TRUNCATE,
         "MPI_Recv: the message from rank 0 with tag 7 has 8 bytes, the buffer 4");
    MPI_Wait(r, st);
    for (i = 0; i < 2; i++) {
        MPI_Irecv(&one, 1, MPI_INT, 0, i, self, r + i);
        MPI_Send(two, 1 + i, MPI_INT, 0, i, self);
    }
    SAYS(MPI_Waitall(2, r, st), MPI_ERR_IN_STATUS, "MPI_Waitall: ");
    CHECK_EQ(st[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_EQ(mt_class(st[1].MPI_ERROR), MPI_ERR_TRUNCATE);
    says(st[1].MPI_ERROR, "MPI_Waitall: the message from rank 0 with tag 1",
         "status of MPI_Waitall");
    SAYS(MPI_Gather(two, 2, MPI_INT, &one, 1, MPI_INT, 0, self), MPI_ERR_TRUNCATE,
         "MPI_Gather: 8 bytes came where 4 are expected");
}

/* A null pointer where memory is needed is an error, never a crash and never a wait. */
static void pointers(void)
{
    int v[4] = { 0 }, one[1] = { 1 }, both[2] = { 1, 1 }, none[1] = { 0 }, i;
    MPI_Aint aboth[2] = { 1, 1 }; /* the neighbours of one process in a ring: itself, twice */
    MPI_Comm self = MPI_COMM_SELF, ring;
    MPI_Request r;
    MPI_Status st;
    MPI_Message m;
    void *p;

    BAD(MPI_Initialized(NULL), MPI_ERR_ARG);
    BAD(MPI_Finalized(NULL), MPI_ERR_ARG);
    BAD(MPI_Query_thread(NULL), MPI_ERR_ARG);
    BAD(MPI_Is_thread_main(NULL), MPI_ERR_ARG);
    BAD(MPI_Iprobe(MPI_ANY_SOURCE, 77, self, NULL, &st), MPI_ERR_ARG);
    BAD(MPI_Improbe(MPI_ANY_SOURCE, 77, self, NULL, &m, &st), MPI_ERR_ARG);
    BAD(MPI_Improbe(MPI_ANY_SOURCE, 77, self, &i, NULL, &st), MPI_ERR_ARG);
    BAD(MPI_Mprobe(MPI_ANY_SOURCE, 77, self, NULL, &st), MPI_ERR_ARG);
    BAD(MPI_Buffer_detach(NULL, &i), MPI_ERR_ARG);
    BAD(MPI_Buffer_detach(&p, NULL), MPI_ERR_ARG);
    SAYS(MPI_Gatherv(v, 1, MPI_INT, v + 1, one, NULL, MPI_INT, 0, self), MPI_ERR_ARG, "recvdispls");
    SAYS(MPI_Scatterv(v, one, NULL, MPI_INT, v + 1, 1, MPI_INT, 0, self), MPI_ERR_ARG,
         "senddispls");
    BAD(MPI_Allgatherv(v, 1, MPI_INT, v + 1, one, NULL, MPI_INT, self), MPI_ERR_ARG);
    BAD(MPI_Alltoallv(v, one, none, MPI_INT, v + 1, one, NULL, MPI_INT, self), MPI_ERR_ARG);
    BAD(MPI_Iallgatherv(v, 1, MPI_INT, v + 1, one, NULL, MPI_INT, self, &r), MPI_ERR_ARG);
    CHECK(r == MPI_REQUEST_NULL);
    /* nothing at all needs no place */
    CHECK_EQ(MPI_Allgatherv(v, 0, MPI_INT, v + 1, none, NULL, MPI_INT, self), MPI_SUCCESS);
    CHECK_EQ(MPI_Alltoallv(v, none, NULL, MPI_INT, v + 1, none, NULL, MPI_INT, self), MPI_SUCCESS);
    MPI_Cart_create(self, 1, one, one, 0, &ring);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    BAD(MPI_Neighbor_alltoallv(v, NULL, both, MPI_INT, v, both, both, MPI_INT, ring), MPI_ERR_ARG);
    BAD(MPI_Neighbor_allgatherv(v, 1, MPI_INT, v, NULL, both, MPI_INT, ring), MPI_ERR_ARG);
    BAD(MPI_Neighbor_alltoallw(v, NULL, aboth, NULL, v, NULL, aboth, NULL, ring), MPI_ERR_ARG);
    MPI_Comm_free(&ring);
}

/* A call that fails leaves the null request, which a program may wait for. */
static void no_request(int err, int cls, MPI_Request *r, const char *what)
{
    MUST(mt_class(err) == cls, "%s: class %d, expected %d", what, mt_class(err), cls);
    MUST(*r == MPI_REQUEST_NULL, "%s: the request is %#x", what, (unsigned)*r);
    *r = (MPI_Request)0x1234;
}
#define NONE(call, cls) no_request((call), (cls), &r, #call)

static void requests(void)
{
    MPI_Request r = (MPI_Request)0x1234;
    MPI_Comm w = MPI_COMM_WORLD, none = MPI_COMM_NULL, dup;
    MPI_Message m = MPI_MESSAGE_NULL;
    MPI_Win win;
    int v = 0, far = mt_size + 1;

    NONE(MPI_Isend(&v, 1, MPI_INT, far, 0, w, &r), MPI_ERR_RANK);
    NONE(MPI_Ibsend(&v, 1, MPI_INT, 0, -1, w, &r), MPI_ERR_TAG);
    NONE(MPI_Issend(&v, -1, MPI_INT, 0, 0, w, &r), MPI_ERR_COUNT);
    NONE(MPI_Irsend(NULL, 1, MPI_INT, 0, 0, w, &r), MPI_ERR_BUFFER);
    NONE(MPI_Irecv(&v, 1, MPI_INT, 0, 0, none, &r), MPI_ERR_COMM);
    NONE(MPI_Send_init(&v, 1, MPI_DATATYPE_NULL, 0, 0, w, &r), MPI_ERR_TYPE);
    NONE(MPI_Recv_init(&v, 1, MPI_INT, far, 0, w, &r), MPI_ERR_RANK);
    NONE(MPI_Isendrecv(&v, 1, MPI_INT, far, 0, &v, 1, MPI_INT, 0, 0, w, &r), MPI_ERR_RANK);
    NONE(MPI_Isendrecv_replace(&v, 1, MPI_INT, 0, 0, far, 0, w, &r), MPI_ERR_RANK);
    NONE(MPI_Imrecv(&v, 1, MPI_INT, &m, &r), MPI_ERR_REQUEST);
    NONE(MPI_Psend_init(&v, 1, 1, MPI_INT, far, 0, w, MPI_INFO_NULL, &r), MPI_ERR_RANK);
    NONE(MPI_Precv_init(&v, 1, 1, MPI_INT, far, 0, w, MPI_INFO_NULL, &r), MPI_ERR_RANK);
    NONE(MPI_Ibcast(&v, 1, MPI_INT, far, w, &r), MPI_ERR_ROOT);
    NONE(MPI_Bcast_init(&v, 1, MPI_INT, far, w, MPI_INFO_NULL, &r), MPI_ERR_ROOT);
    NONE(MPI_Comm_idup(none, &dup, &r), MPI_ERR_COMM);
    NONE(MPI_Comm_iflush_buffer(none, &r), MPI_ERR_COMM);
    NONE(MPI_Session_iflush_buffer(MPI_SESSION_NULL, &r), MPI_ERR_SESSION);
    MPI_Win_create(&v, sizeof v, 1, MPI_INFO_NULL, w, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    NONE(MPI_Rput(&v, 1, MPI_INT, far, 0, 1, MPI_INT, win, &r), MPI_ERR_RANK);
    NONE(MPI_Rget(&v, -1, MPI_INT, 0, 0, 1, MPI_INT, win, &r), MPI_ERR_COUNT);
    NONE(MPI_Raccumulate(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win, &r), MPI_ERR_OP);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

#ifndef MPI_ABI_VERSION /* the header of MPI-5.0's ABI has no MPIX_ names; ours must */
/* Programs compare the classes of failures by ==. The text stays, for MPI_Error_string. */
static void bare_classes(void)
{
    MPI_Comm c, d;
    MPI_Request r = (MPI_Request)0x1234;
    MPI_Errhandler h;
    int v = 0;

    MPI_Comm_dup(MPI_COMM_SELF, &c);
    MPI_Comm_dup(MPI_COMM_SELF, &d);
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_set_errhandler(d, h);
    CHECK_EQ(MPIX_Comm_revoke(c), MPI_SUCCESS);
    CHECK_EQ(MPIX_Comm_revoke(d), MPI_SUCCESS);
    CHECK_EQ(MPI_Barrier(c), MPIX_ERR_REVOKED);
    says(MPIX_ERR_REVOKED, "MPI_Barrier: ", "the bare class");
    NONE(MPI_Isend(&v, 1, MPI_INT, 0, 0, c, &r), MPIX_ERR_REVOKED);
    CHECK_EQ(MPI_Isend(&v, 1, MPI_INT, 0, 0, c, &r), MPIX_ERR_REVOKED);
    says(MPIX_ERR_REVOKED, "MPI_Isend: communicator ", "the bare class, later");
    handled_code = 0;
    CHECK_EQ(MPI_Barrier(d), MPIX_ERR_REVOKED);
    CHECK_EQ(handled_code, MPIX_ERR_REVOKED);
    CHECK(mt_class(MPI_Send(&v, -1, MPI_INT, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
    says(MPIX_ERR_REVOKED, "MPI_Barrier: ", "the bare class, after another error");
    MPI_Errhandler_free(&h);
    MPI_Comm_free(&c);
    MPI_Comm_free(&d);
}
#else
static void bare_classes(void) {}
#endif

static void pt2pt(void)
{
    int v = 0, flag;
    MPI_Request req = MPI_REQUEST_NULL;
    MPI_Status st;
    MPI_Comm w = MPI_COMM_WORLD;

    BAD(MPI_Send(&v, 1, MPI_INT, mt_size, 0, w), MPI_ERR_RANK);
    BAD(MPI_Send(&v, 1, MPI_INT, -7, 0, w), MPI_ERR_RANK);
    BAD(MPI_Send(&v, 1, MPI_INT, MPI_ANY_SOURCE, 0, w), MPI_ERR_RANK);
    BAD(MPI_Send(&v, -1, MPI_INT, 0, 0, w), MPI_ERR_COUNT);
    BAD(MPI_Send(&v, 1, MPI_DATATYPE_NULL, 0, 0, w), MPI_ERR_TYPE);
    BAD(MPI_Send(&v, 1, MPI_INT, 0, -5, w), MPI_ERR_TAG);
    BAD(MPI_Send(&v, 1, MPI_INT, 0, MPI_ANY_TAG, w), MPI_ERR_TAG);
    BAD(MPI_Send(&v, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    BAD(MPI_Recv(&v, 1, MPI_INT, mt_size, 0, w, &st), MPI_ERR_RANK);
    BAD(MPI_Recv(&v, -3, MPI_INT, 0, 0, w, &st), MPI_ERR_COUNT);
    BAD(MPI_Recv(&v, 1, MPI_INT, 0, -9, w, &st), MPI_ERR_TAG);
    BAD(MPI_Irecv(&v, 1, MPI_DATATYPE_NULL, 0, 0, w, &req), MPI_ERR_TYPE);
    BAD(MPI_Isend(&v, 1, MPI_INT, mt_size + 3, 0, w, &req), MPI_ERR_RANK);
    BAD(MPI_Send_init(&v, 1, MPI_INT, 0, -2, w, &req), MPI_ERR_TAG);
    BAD(MPI_Probe(mt_size, 0, w, &st), MPI_ERR_RANK);
    BAD(MPI_Iprobe(0, -4, w, &flag, &st), MPI_ERR_TAG);
    BAD2(MPI_Start(&req), MPI_ERR_REQUEST, MPI_ERR_ARG);
    BAD2(MPI_Request_free(&req), MPI_ERR_REQUEST, MPI_ERR_ARG);
    BAD2(MPI_Cancel(&req), MPI_ERR_REQUEST, MPI_ERR_ARG);
    req = (MPI_Request)0x12345678;
    BAD(MPI_Wait(&req, &st), MPI_ERR_REQUEST);
    BAD(MPI_Buffer_attach(&v, -1), MPI_ERR_ARG);
    {
        MPI_Datatype t;

        MPI_Type_contiguous(2, MPI_INT, &t);       /* not committed */
        BAD(MPI_Send(&v, 1, t, 0, 0, w), MPI_ERR_TYPE);
        MPI_Type_free(&t);
    }
}

/* Arguments of calls that move no bytes are checked, too. */
static void no_bytes(void)
{
    MPI_Comm c = MPI_COMM_WORLD, inter = MPI_COMM_NULL;
    int v = 0, w = 0, none[64] = { 0 }, less[64] = { -1 };
    MPI_Datatype t;

    BAD(MPI_Bcast(&v, 0, MPI_INT, mt_size, c), MPI_ERR_ROOT);
    BAD(MPI_Bcast(&v, 0, MPI_INT, -1, c), MPI_ERR_ROOT);
    BAD(MPI_Bcast(&v, 0, MPI_DATATYPE_NULL, 0, c), MPI_ERR_TYPE);
    BAD(MPI_Bcast(&v, 0, MPI_INT, 0, inter), MPI_ERR_COMM);
    BAD(MPI_Bcast(MPI_IN_PLACE, 0, MPI_INT, 0, c), MPI_ERR_BUFFER);
    BAD(MPI_Gather(&v, 0, MPI_INT, &w, 0, MPI_INT, -3, c), MPI_ERR_ROOT);
    BAD(MPI_Allgather(&v, 0, MPI_INT, &w, 0, MPI_DATATYPE_NULL, c), MPI_ERR_TYPE);
    BAD(MPI_Alltoall(&v, 0, MPI_DATATYPE_NULL, &w, 0, MPI_INT, c), MPI_ERR_TYPE);
    BAD(MPI_Reduce(&v, &w, 0, MPI_INT, MPI_OP_NULL, 0, c), MPI_ERR_OP);
    BAD(MPI_Reduce(&v, &w, 0, MPI_INT, MPI_SUM, mt_size, c), MPI_ERR_ROOT);
    BAD(MPI_Allreduce(&v, &w, 0, MPI_FLOAT, MPI_BAND, c), MPI_ERR_OP);
    BAD(MPI_Allreduce(&v, &w, 0, MPI_INT, MPI_REPLACE, c), MPI_ERR_OP);
    BAD(MPI_Reduce_scatter(&v, &w, none, MPI_FLOAT, MPI_BAND, c), MPI_ERR_OP);
    BAD(MPI_Reduce_scatter(&v, &w, less, MPI_INT, MPI_SUM, c), MPI_ERR_COUNT);
    BAD(MPI_Allgatherv(&v, 0, MPI_INT, &w, NULL, none, MPI_INT, c), MPI_ERR_ARG);
    BAD(MPI_Allgatherv(&v, 0, MPI_INT, &w, less, none, MPI_INT, c), MPI_ERR_COUNT);
    BAD(MPI_Scatterv(&v, none, none, MPI_INT, &w, 0, MPI_INT, mt_size, c), MPI_ERR_ROOT);
    MPI_Type_contiguous(2, MPI_INT, &t);
    BAD(MPI_Bcast(&v, 0, t, 0, c), MPI_ERR_TYPE); /* not committed */
    MPI_Type_free(&t);
}

static void collectives(void)
{
    int v = 0, w = 0;
    MPI_Comm c = MPI_COMM_WORLD;
    MPI_Op op;

    BAD(MPI_Bcast(&v, 1, MPI_INT, mt_size, c), MPI_ERR_ROOT);
    BAD(MPI_Bcast(&v, 1, MPI_INT, -1, c), MPI_ERR_ROOT);
    BAD(MPI_Bcast(&v, -1, MPI_INT, 0, c), MPI_ERR_COUNT);
    BAD(MPI_Bcast(&v, 1, MPI_DATATYPE_NULL, 0, c), MPI_ERR_TYPE);
    BAD(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    BAD(MPI_Reduce(&v, &w, 1, MPI_INT, MPI_OP_NULL, 0, c), MPI_ERR_OP);
    BAD(MPI_Reduce(&v, &w, 1, MPI_INT, MPI_SUM, mt_size, c), MPI_ERR_ROOT);
    BAD(MPI_Allreduce(&v, &w, 1, MPI_BYTE, MPI_SUM, c), MPI_ERR_OP);
    BAD(MPI_Allreduce(&v, &w, 1, MPI_FLOAT, MPI_BAND, c), MPI_ERR_OP);
    BAD(MPI_Allreduce(&v, &w, 1, MPI_INT, MPI_MAXLOC, c), MPI_ERR_OP);
    BAD(MPI_Gather(&v, 1, MPI_INT, &w, 1, MPI_INT, -3, c), MPI_ERR_ROOT);
    BAD(MPI_Alltoall(&v, -1, MPI_INT, &w, 1, MPI_INT, c), MPI_ERR_COUNT);
    BAD(MPI_Allreduce(&v, &v, 1, MPI_INT, MPI_SUM, c), MPI_ERR_BUFFER);   /* aliased buffers */
    op = MPI_SUM;
    BAD(MPI_Op_free(&op), MPI_ERR_OP);
}

static void types(void)
{
    MPI_Datatype t = MPI_DATATYPE_NULL;
    int len[1] = { -1 }, d[1] = { 0 }, pos = 0, buf[4];

    BAD2(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT, MPI_ERR_ARG);
    BAD2(MPI_Type_vector(1, -1, 1, MPI_INT, &t), MPI_ERR_ARG, MPI_ERR_COUNT);
    BAD(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
    BAD2(MPI_Type_indexed(1, len, d, MPI_INT, &t), MPI_ERR_ARG, MPI_ERR_COUNT);
    BAD2(MPI_Type_create_subarray(1, (int[]){4}, (int[]){3}, (int[]){2}, MPI_ORDER_C, MPI_INT, &t),
         MPI_ERR_ARG, MPI_ERR_ARG);
    t = MPI_DATATYPE_NULL;
    BAD(MPI_Type_commit(&t), MPI_ERR_TYPE);
    t = MPI_INT;
    BAD2(MPI_Type_free(&t), MPI_ERR_TYPE, MPI_ERR_ARG);
    BAD2(MPI_Pack(buf, 4, MPI_INT, buf, 3, &pos, MPI_COMM_WORLD), MPI_ERR_ARG, MPI_ERR_TRUNCATE);
    BAD2(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 3, &t), MPI_ERR_ARG, MPI_ERR_TYPE);
}

static void comms_and_groups(void)
{
    MPI_Comm c = MPI_COMM_NULL;
    MPI_Group g, h;
    int r[2] = { 0, 0 }, key = MPI_KEYVAL_INVALID, n, d[2] = { 5, 0 };

    BAD(MPI_Comm_dup(MPI_COMM_NULL, &c), MPI_ERR_COMM);
    BAD(MPI_Comm_size(MPI_COMM_NULL, &n), MPI_ERR_COMM);
    BAD2(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &c), MPI_ERR_ARG, MPI_ERR_ARG);
    c = MPI_COMM_WORLD;
    BAD2(MPI_Comm_free(&c), MPI_ERR_COMM, MPI_ERR_ARG);
    c = (MPI_Comm)0x77777777;
    BAD(MPI_Comm_rank(c, &n), MPI_ERR_COMM);
    MPI_Comm_group(MPI_COMM_WORLD, &g);
    BAD(MPI_Group_incl(g, 2, r, &h), MPI_ERR_RANK);               /* twice the same */
    r[0] = mt_size;
    BAD(MPI_Group_incl(g, 1, r, &h), MPI_ERR_RANK);
    BAD(MPI_Group_size(MPI_GROUP_NULL, &n), MPI_ERR_GROUP);
    MPI_Group_free(&g);
    BAD2(MPI_Comm_free_keyval(&key), MPI_ERR_KEYVAL, MPI_ERR_ARG);
    BAD2(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL), MPI_ERR_KEYVAL, MPI_ERR_ARG);
    BAD2(MPI_Dims_create(7, 2, d), MPI_ERR_DIMS, MPI_ERR_ARG);
    BAD2(MPI_Cart_coords(MPI_COMM_WORLD, 0, 2, d), MPI_ERR_TOPOLOGY, MPI_ERR_TOPOLOGY);
    {
        int dims[1], per[1] = { 0 };

        dims[0] = mt_size + 1;
        BAD2(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, per, 0, &c), MPI_ERR_ARG, MPI_ERR_DIMS);
    }
    BAD2(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &c), MPI_ERR_COMM, MPI_ERR_COMM);
}

static void info(void)
{
    MPI_Info i;
    char key[MPI_MAX_INFO_KEY + 10];

    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = 0;
    MPI_Info_create(&i);
    BAD(MPI_Info_set(i, key, "v"), MPI_ERR_INFO_KEY);
    BAD2(MPI_Info_set(i, "", "v"), MPI_ERR_INFO_KEY, MPI_ERR_INFO_KEY);
    BAD(MPI_Info_delete(i, "none"), MPI_ERR_INFO_NOKEY);
    BAD2(MPI_Info_get_nthkey(i, 0, key), MPI_ERR_ARG, MPI_ERR_ARG);
    MPI_Info_free(&i);
    BAD2(MPI_Info_free(&i), MPI_ERR_INFO, MPI_ERR_ARG);
}

/* The handler of the communicator in question is called, with that communicator. */
static void handlers(void)
{
    MPI_Errhandler h, got;
    MPI_Comm d, e;
    int v = 0, cls, code, n;
    char s[MPI_MAX_ERROR_STRING];

    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_dup(MPI_COMM_WORLD, &d);
    MPI_Comm_set_errhandler(d, h);
    MPI_Comm_get_errhandler(d, &got);
    CHECK(got == h);
    MPI_Errhandler_free(&got);
    handled = 0;
    CHECK(MPI_Send(&v, 1, MPI_INT, mt_size + 1, 0, d) != MPI_SUCCESS);
    CHECK_EQ(handled, 1);
    CHECK(handled_comm == d);
    MPI_Comm_dup(d, &e);                     /* the copy inherits it */
    MPI_Errhandler_free(&h);
    CHECK(h == MPI_ERRHANDLER_NULL);
    CHECK(MPI_Bcast(&v, 1, MPI_INT, -2, e) != MPI_SUCCESS);
    CHECK_EQ(handled, 2);
    CHECK(handled_comm == e);
    MPI_Comm_call_errhandler(e, MPI_ERR_OTHER);
    CHECK_EQ(handled, 3);
    MPI_Comm_free(&e);
    MPI_Comm_free(&d);

    MPI_Add_error_class(&cls);
    CHECK(cls > MPI_ERR_LASTCODE);
    MPI_Add_error_code(cls, &code);
    MPI_Add_error_string(code, "our own error");
    MPI_Error_class(code, &n);
    CHECK_EQ(n, cls);
    MPI_Error_string(code, s, &n);
    CHECK(strcmp(s, "our own error") == 0);
    for (code = 1; code < MPI_ERR_LASTCODE && code < 50; code++)
        text(code, "a class");
    BAD(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRHANDLER_NULL), MPI_ERR_ARG);
    BAD(MPI_Errhandler_free(&h), MPI_ERR_ARG);
    h = (MPI_Errhandler)0x1234;
    BAD(MPI_Comm_set_errhandler(MPI_COMM_SELF, h), MPI_ERR_ERRHANDLER);
    BAD(MPI_Errhandler_free(&h), MPI_ERR_ERRHANDLER);
}

/* A call without an object: MPI_COMM_SELF's handler; MPI_COMM_WORLD's as long as the program has
 * set none there, which is how this program begins. */
static void without_object(void)
{
    MPI_Errhandler h;
    int n;

    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
    handled = 0;
    BAD(MPI_Type_size(MPI_DATATYPE_NULL, &n), MPI_ERR_TYPE);
    CHECK(handled == 1 && handled_comm == MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, h);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    BAD(MPI_Type_size(MPI_DATATYPE_NULL, &n), MPI_ERR_TYPE);
    CHECK(handled == 2 && handled_comm == MPI_COMM_SELF);
    BAD(MPI_Comm_size(MPI_COMM_NULL, &n), MPI_ERR_COMM);
    CHECK(handled == 3 && handled_comm == MPI_COMM_SELF);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&h);
}

/* An error of these calls goes to the handler that is given to them. */
static void from_groups(void)
{
    MPI_Errhandler h;
    MPI_Group g;
    MPI_Comm c = MPI_COMM_SELF;
    static char too_long[5000];

    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_group(MPI_COMM_SELF, &g);
    handled = 0;
    memset(too_long, 'a', sizeof too_long - 1);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    BAD(MPI_Comm_create_from_group(MPI_GROUP_NULL, "t", MPI_INFO_NULL, h, &c), MPI_ERR_GROUP);
    CHECK(handled == 1 && handled_comm == MPI_COMM_NULL && c == MPI_COMM_NULL);
    BAD(MPI_Comm_create_from_group(g, too_long, MPI_INFO_NULL, h, &c), MPI_ERR_ARG);
    BAD(MPI_Comm_create_from_group(g, NULL, MPI_INFO_NULL, h, &c), MPI_ERR_ARG);
    BAD(MPI_Comm_create_from_group(g, "t", MPI_INFO_NULL, h, NULL), MPI_ERR_ARG);
    CHECK_EQ(handled, 4);
    BAD(MPI_Intercomm_create_from_groups(g, 0, MPI_GROUP_NULL, 0, "t", MPI_INFO_NULL, h, &c),
        MPI_ERR_GROUP);
    BAD(MPI_Intercomm_create_from_groups(g, 0, g, 0, "t", MPI_INFO_NULL, h, &c), MPI_ERR_COMM);
    CHECK_EQ(handled, 6);
    BAD(MPI_Comm_create_from_group(MPI_GROUP_NULL, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c),
        MPI_ERR_GROUP);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    BAD(MPI_Comm_create_from_group(g, "t", MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &c), MPI_ERR_ARG);
    CHECK_EQ(handled, 6);
    CHECK_EQ(MPI_Comm_create_from_group(g, "t", MPI_INFO_NULL, h, &c), MPI_SUCCESS);
    MPI_Errhandler_free(&h);
    CHECK(MPI_Bcast(&handled, 1, MPI_INT, 7, c) != MPI_SUCCESS);
    CHECK(handled == 7 && handled_comm == c);
    MPI_Comm_free(&c);
    MPI_Group_free(&g);
}

/* The library still works. */
static void alive(void)
{
    int v = mt_rank, s = 0, left = (mt_rank + mt_size - 1) % mt_size,
        right = (mt_rank + 1) % mt_size;

    MPI_Sendrecv(&v, 1, MPI_INT, right, 0, &s, 1, MPI_INT, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK_EQ(s, left);
    MPI_Allreduce(&v, &s, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(s, mt_size * (mt_size - 1) / 2);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    without_object();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    pt2pt();
    requests();
    bare_classes();
    alive();
    collectives();
    no_bytes();
    alive();
    types();
    comms_and_groups();
    info();
    handlers();
    from_groups();
    found_later();
    pointers();
    alive();
    return mt_finish();
}

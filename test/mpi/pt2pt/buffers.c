/* Buffers of buffered sends (MPI-4.1 3.6): of the process, of a communicator, of a session, and the
 * library's own; which one a send takes; flush; errors. */
#include "../mt.h"

enum { BYTES = 1000, ROOM = 4 * (BYTES + MPI_BSEND_OVERHEAD) };

static int left, right;

/* A buffered send that needs room for n messages of BYTES: its error class. */
static int try_send(MPI_Comm c, int n, int tag)
{
    static char out[8 * BYTES];
    int err, class;
    mt_fill(out, (size_t)(n * BYTES), (unsigned)mt_rank);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    err = MPI_Bsend(out, n * BYTES, MPI_BYTE, right, tag, c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_ARE_FATAL);
    MPI_Error_class(err, &class);
    return class;
}

static void receive(MPI_Comm c, int n, int tag)
{
    static char in[8 * BYTES];
    MPI_Recv(in, n * BYTES, MPI_BYTE, left, tag, c, MPI_STATUS_IGNORE);
    CHECK_EQ(mt_wrong(in, (size_t)(n * BYTES), (unsigned)left), -1);
}

/* The communicator's own goes before the process's, which is too small here. */
static void of_communicator(void)
{
    static char small[BYTES / 2 + MPI_BSEND_OVERHEAD], large[ROOM];
    MPI_Comm c, d;
    void *back;
    int size;
    MPI_Count size_c;

    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_dup(c, &d);
    MPI_Buffer_attach(small, sizeof small);
    CHECK_EQ(try_send(c, 1, 1), MPI_ERR_BUFFER);
    MPI_Comm_attach_buffer(c, large, sizeof large);
    CHECK_EQ(try_send(c, 1, 1), MPI_SUCCESS);
    CHECK_EQ(try_send(d, 1, 1), MPI_ERR_BUFFER); /* a duplicate does not inherit it */
    receive(c, 1, 1);
    MPI_Comm_flush_buffer(c);
    MPI_Comm_detach_buffer(c, &back, &size);
    CHECK(back == large);
    CHECK_EQ(size, ROOM);
    CHECK_EQ(try_send(c, 1, 1), MPI_ERR_BUFFER);
    MPI_Comm_attach_buffer_c(c, large, sizeof large);
    MPI_Comm_detach_buffer_c(c, &back, &size_c);
    CHECK(back == large && size_c == ROOM);
    MPI_Buffer_detach(&back, &size);
    CHECK(back == small);
    /* what is in it when its communicator ends leaves nevertheless */
    MPI_Comm_attach_buffer(d, large, sizeof large);
    CHECK_EQ(try_send(d, 3, 2), MPI_SUCCESS);
    receive(d, 3, 2);
    MPI_Comm_free(&d);
    memset(large, 0, sizeof large);
    MPI_Comm_free(&c);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void automatic(void)
{
    void *back = &back;
    int size = 77, i;
    MPI_Comm_attach_buffer(MPI_COMM_WORLD, MPI_BUFFER_AUTOMATIC, 0);
    for (i = 0; i < 100; i++)
        CHECK_EQ(try_send(MPI_COMM_WORLD, 1 + i % 8, i), MPI_SUCCESS);
    for (i = 99; i >= 0; i--)
        receive(MPI_COMM_WORLD, 1 + i % 8, i);
    MPI_Comm_detach_buffer(MPI_COMM_WORLD, &back, &size);
    CHECK(back == MPI_BUFFER_AUTOMATIC);
    CHECK_EQ(size, 0);
    MPI_Comm_detach_buffer(MPI_COMM_WORLD, &back, &size);
    CHECK(back == NULL);
    CHECK_EQ(size, 0);
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, -5); /* the size is ignored */
    CHECK_EQ(try_send(MPI_COMM_WORLD, 8, 3), MPI_SUCCESS);
    receive(MPI_COMM_WORLD, 8, 3);
    MPI_Buffer_detach(&back, &size);
    CHECK(back == MPI_BUFFER_AUTOMATIC);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A flush is done when what was sent before it has left, not before; later sends do not count. */
static void flushed(void)
{
    enum { LARGE = 300000 };
    char *room = mt_alloc(2 * (LARGE + MPI_BSEND_OVERHEAD)), *data = mt_alloc(LARGE);
    MPI_Request r[2], empty;
    void *back;
    int flag = 1, size, i;

    MPI_Buffer_iflush(&empty); /* there is no buffer: done */
    MPI_Wait(&empty, MPI_STATUS_IGNORE);
    MPI_Buffer_flush();
    MPI_Buffer_attach(room, 2 * (LARGE + MPI_BSEND_OVERHEAD));
    MPI_Buffer_iflush(&empty);
    MPI_Wait(&empty, MPI_STATUS_IGNORE);
    mt_fill(data, LARGE, 5);
    MPI_Bsend(data, LARGE, MPI_BYTE, right, 1, MPI_COMM_WORLD);
    MPI_Buffer_iflush(&r[0]);
    MPI_Bsend(data, LARGE, MPI_BYTE, right, 2, MPI_COMM_WORLD);
    MPI_Buffer_iflush(&r[1]);
    for (i = 0; i < 50; i++) {
        MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
        CHECK_EQ(flag, 0); /* longer than an eager message: it waits for its receive */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(data, LARGE, MPI_BYTE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Test(&r[1], &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(flag, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(data, LARGE, MPI_BYTE, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(mt_wrong(data, LARGE, 5), -1);
    MPI_Buffer_flush();
    MPI_Test(&r[1], &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(flag, 1);
    MPI_Buffer_detach(&back, &size);
    CHECK(back == room);
    free(room);
    free(data);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Communicators that come from a session take the session's. */
static void of_session(void)
{
    static char room[ROOM];
    MPI_Session s;
    MPI_Group g, part;
    MPI_Comm c, d;
    MPI_Request r;
    void *back;
    int size, zero = 0;
    MPI_Count size_c;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
    MPI_Group_from_session_pset(s, "mpi://WORLD", &g);
    MPI_Group_excl(g, 0, &zero, &part); /* the session of a group passes on */
    MPI_Comm_create_from_group(part, "buffers", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
    MPI_Comm_dup(c, &d);
    CHECK_EQ(try_send(d, 1, 1), MPI_ERR_BUFFER);
    MPI_Session_attach_buffer(s, room, ROOM);
    CHECK_EQ(MPI_Session_attach_buffer(s, room, ROOM) != MPI_SUCCESS, 1);
    CHECK_EQ(try_send(MPI_COMM_WORLD, 1, 1), MPI_ERR_BUFFER);
    CHECK_EQ(try_send(d, 1, 1), MPI_SUCCESS);
    CHECK_EQ(try_send(c, 1, 1), MPI_SUCCESS);
    receive(c, 1, 1);
    receive(d, 1, 1);
    MPI_Session_iflush_buffer(s, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Session_flush_buffer(s);
    MPI_Session_detach_buffer(s, &back, &size);
    CHECK(back == room && size == ROOM);
    MPI_Session_attach_buffer_c(s, MPI_BUFFER_AUTOMATIC, 0);
    CHECK_EQ(try_send(d, 8, 1), MPI_SUCCESS);
    receive(d, 8, 1);
    MPI_Session_detach_buffer_c(s, &back, &size_c);
    CHECK(back == MPI_BUFFER_AUTOMATIC && size_c == 0);
    MPI_Session_attach_buffer(s, room, ROOM); /* its end detaches it */
    MPI_Comm_free(&c);
    MPI_Comm_free(&d);
    MPI_Group_free(&g);
    MPI_Group_free(&part);
    MPI_Session_finalize(&s);
}

static void errors(void)
{
    char b[100];
    void *back;
    int size, class;
    MPI_Request r;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Comm_attach_buffer(MPI_COMM_NULL, b, 100), &class);
    CHECK_EQ(class, MPI_ERR_COMM);
    MPI_Error_class(MPI_Comm_attach_buffer(MPI_COMM_WORLD, b, -1), &class);
    CHECK_EQ(class, MPI_ERR_ARG);
    MPI_Error_class(MPI_Comm_attach_buffer(MPI_COMM_WORLD, NULL, 100), &class);
    CHECK_EQ(class, MPI_ERR_ARG);
    MPI_Error_class(MPI_Comm_detach_buffer(MPI_COMM_WORLD, NULL, &size), &class);
    CHECK_EQ(class, MPI_ERR_ARG);
    MPI_Error_class(MPI_Comm_iflush_buffer(MPI_COMM_NULL, &r), &class);
    CHECK_EQ(class, MPI_ERR_COMM);
    MPI_Error_class(MPI_Session_attach_buffer(MPI_SESSION_NULL, b, 100), &class);
    CHECK_EQ(class, MPI_ERR_SESSION);
    MPI_Error_class(MPI_Session_detach_buffer(MPI_SESSION_NULL, &back, &size), &class);
    CHECK_EQ(class, MPI_ERR_SESSION);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static int refusing;
static int refuse(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key, (void)value, (void)extra;
    return refusing ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* A communicator that a callback keeps from its end keeps its buffer. */
static void refused(void)
{
    static char room[ROOM];
    MPI_Comm c;
    void *back;
    int key, size;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, &key, NULL);
    MPI_Comm_set_attr(c, key, NULL);
    MPI_Comm_attach_buffer(c, room, ROOM);
    refusing = 1;
    CHECK(MPI_Comm_free(&c) != MPI_SUCCESS);
    CHECK(c != MPI_COMM_NULL);
    refusing = 0;
    MPI_Comm_detach_buffer(c, &back, &size);
    CHECK(back == room && size == ROOM);
    MPI_Comm_free(&c);
    MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    left = (mt_rank + mt_size - 1) % mt_size;
    right = (mt_rank + 1) % mt_size;
    of_communicator();
    automatic();
    flushed();
    of_session();
    errors();
    refused();
    return mt_finish();
}

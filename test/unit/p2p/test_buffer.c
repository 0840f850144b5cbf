/* test_buffer.c - p2p/buffer.c: room for what it was computed for, full and free again, cancel. */
#include "live.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

Suite *suite_buffer(void);

/* A buffer of the size that MPI-3.1 3.6 asks for holds the messages it is computed for, at any
 * alignment. */
static void body_size(void)
{
    static char room[200000];
    static const int sizes[] = {1, 7, 100, 5000};
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR);
    for (int shift = 0; shift < 9; shift++) {
        size_t need = 0, size;
        void *back;
        char b[5000];
        for (int i = 0; i < 4; i++)
            need += (size_t)sizes[i] + MPI_BSEND_OVERHEAD;
        ok(p2p_buffer_attach(NULL, room + shift, need));
        job_check(err_class(p2p_buffer_attach(NULL, room, 100)) == MPI_ERR_BUFFER);
        if (c->rank == 0) {
            for (int i = 0; i < 4; i++) {
                live_fill(b, (size_t)sizes[i], (unsigned)i);
                ok(p2p_send(b, sizes[i], t, 1, i, c, P2P_BUFFERED)); /* no receive is posted yet */
            }
            live_meet();
        } else {
            live_meet();
            for (int i = 3; i >= 0; i--) {
                ok(p2p_recv(b, sizes[i], t, 0, i, c, 0, NULL));
                job_check(live_same(b, (size_t)sizes[i], (unsigned)i));
            }
        }
        ok(p2p_buffer_detach(NULL, &back, &size));
        job_check(back == room + shift && size == need);
    }
    live_stop();
}

START_TEST(room_for_what_it_was_computed_for)
{
    static const char *const sets[] = {"MPIR_CVAR_P2P_EAGER_MAX=0", NULL};
    ck_assert_int_eq(job_run(2, NULL, body_size, 30), 0);
    ck_assert_int_eq(job_run(2, sets, body_size, 30), 0);
}
END_TEST

/* Full: an error; free again after the messages have left, in whatever order. */
static void body_full(void)
{
    enum { PIECE = 1000, N = 5 };
    char room[N * (PIECE + MPI_BSEND_OVERHEAD)], b[PIECE];
    size_t size;
    void *back;
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR);
    int err = p2p_send(b, 1, t, 0, 0, c, P2P_BUFFERED);
    job_check(err_class(err) == MPI_ERR_BUFFER);
    if (c->rank == 0) {
        ok(p2p_buffer_attach(NULL, room, sizeof room));
        for (int i = 0; i < N; i++)
            ok(p2p_send(b, PIECE, t, 1, i, c, P2P_BUFFERED));
        job_check(err_class(p2p_send(b, PIECE, t, 1, 9, c, P2P_BUFFERED)) == MPI_ERR_BUFFER);
        live_meet();
        live_meet();
        for (int i = 0; i < N - 1; i++) /* the last one is still there */
            ok(p2p_send(b, PIECE, t, 1, i, c, P2P_BUFFERED));
        job_check(err_class(p2p_send(b, PIECE, t, 1, 9, c, P2P_BUFFERED)) == MPI_ERR_BUFFER);
        live_meet();
        ok(p2p_buffer_detach(NULL, &back, &size)); /* waits for all */
        job_check(back == room && size == sizeof room);
        ok(p2p_buffer_detach(NULL, &back, &size));
        job_check(back == NULL && size == 0);
    } else {
        live_meet();
        for (int i = 0; i < N - 1; i++)
            ok(p2p_recv(b, PIECE, t, 0, (i * 3) % (N - 1), c, 0, NULL));
        live_meet();
        live_meet();
        for (int i = 0; i < N; i++)
            ok(p2p_recv(b, PIECE, t, 0, MPI_ANY_TAG, c, 0, NULL));
    }
    live_stop();
}

START_TEST(full_and_free_again)
{
    static const char *const sets[] = {"MPIR_CVAR_P2P_EAGER_MAX=0", NULL};
    ck_assert_int_eq(job_run(2, sets, body_full, 30), 0);
}
END_TEST

/* MPI_Cancel of every kind of unmatched send, and of a receive. */
static void body_cancel(void)
{
    static const int modes[] = {P2P_STANDARD, P2P_SYNC, P2P_BUFFERED};
    static char room[300000], b[200000];
    size_t size;
    void *back;
    struct request *r;
    MPI_Status st;
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR);
    if (c->rank == 0) {
        ok(p2p_buffer_attach(NULL, room, sizeof room));
        for (int i = 0; i < 9; i++) {
            ok(p2p_isend(b,
                         i % 3 == 0   ? 10
                         : i % 3 == 1 ? 20000
                                      : 200000,
                         t, 1, 0, c, modes[i / 3], &r));
            ok(r->ops->cancel(r));
            request_wait(r);
            ok(request_finish(r, &st));
            job_check(status_cancelled(&st));
        }
        ok(p2p_irecv(b, 10, t, 1, 0, c, 0, &r));
        ok(r->ops->cancel(r));
        request_wait(r);
        ok(request_finish(r, &st));
        job_check(status_cancelled(&st));
        ok(p2p_buffer_detach(NULL, &back, &size));
    }
    live_meet();
    job_check(proc->p2p->unexpected == 0);
    live_stop();
}

START_TEST(cancel)
{
    ck_assert_int_eq(job_run(2, NULL, body_cancel, 30), 0);
}
END_TEST

/* A copy that fails at once, as one to a dead process does, gives its room back once: in the user's
 * buffer the room is there again, a piece of the library's own is freed. */
static int fails(struct p2p_req *q, struct p2p_peer *p)
{
    (void)q, (void)p;
    return -EIO;
}

static void body_fails(void)
{
    static const struct p2p_path broken = {.send = fails};
    char room[1000 + MPI_BSEND_OVERHEAD], b[1000];
    size_t size;
    void *back;
    live_start();
    struct comm *c = proc->obj->world;
    struct p2p_peer *peer = peer_get(1 - c->rank);
    const struct p2p_path *path = peer->path;
    for (int automatic = 0; automatic < 2; automatic++) {
        void *buf = automatic ? MPI_BUFFER_AUTOMATIC : room;
        ok(p2p_buffer_attach(NULL, buf, automatic ? 0 : sizeof room));
        peer->path = &broken;
        for (int i = 0; i < 3; i++)
            job_check(err_class(p2p_send(b, sizeof b, dt_find(MPI_CHAR), 1 - c->rank, 0, c,
                                         P2P_BUFFERED)) == MPI_ERR_OTHER);
        peer->path = path;
        ok(p2p_buffer_detach(NULL, &back, &size));
        job_check(back == buf);
    }
    live_meet();
    live_stop();
}

START_TEST(copy_that_fails)
{
    ck_assert_int_eq(job_run(2, NULL, body_fails, 30), 0);
}
END_TEST

Suite *suite_buffer(void)
{
    Suite *s = suite_create("p2p/buffer");
    TCase *t = tcase_create("buffer");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, room_for_what_it_was_computed_for);
    tcase_add_test(t, full_and_free_again);
    tcase_add_test(t, cancel);
    tcase_add_test(t, copy_that_fails);
    suite_add_tcase(s, t);
    return s;
}

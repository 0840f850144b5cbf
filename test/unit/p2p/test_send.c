/* test_send.c - p2p/send.c: flood is bounded, synchronous waits for the match, order holds
 * across protocols, read where it lies. */
#include "live.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "boot/boot.h"
#include "tp/tp_types.h"

Suite *suite_send(void);

/* Seven flood one that does not receive: what it holds stays within the window of each (P5), and
 * when it does receive, all arrives in order. */
static void body_flood(void)
{
    enum { N = 3000, LEN = 500 };
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR);
    if (c->rank) {
        static char out[N][LEN];
        static struct request *r[N];
        for (int i = 0; i < N; i++) {
            live_fill(out[i], LEN, (unsigned)(i + c->rank));
            ok(p2p_isend(out[i], LEN, t, 0, 3, c, 0, &r[i]));
            job_check(peer_get(0)->eager_out <= (size_t)cvar.p2p_eager_window);
        }
        live_meet();
        for (int i = 0; i < N; i++) {
            request_wait(r[i]);
            ok(request_finish(r[i], NULL));
        }
    } else {
        char in[LEN];
        live_meet(); /* all has been sent, or waits at its sender */
        size_t held = 0;
        for (int bin = 0; bin < P2P_UNEX_BINS; bin++)
            for (struct list *l = proc->p2p->unex[0][bin].next; l != &proc->p2p->unex[0][bin];
                 l = l->next) {
                struct p2p_unex *u = LIST_OBJ(l, struct p2p_unex, link[0]);
                held += u->type == P2P_RTS ? 0 : u->arrived;
            }
        job_check(held > 0 && held <= 7 * (size_t)cvar.p2p_eager_window);
        for (int i = 0; i < N; i++)
            for (int from = 1; from < 8; from++) {
                ok(p2p_recv(in, LEN, t, from, 3, c, 0, NULL));
                job_check(live_same(in, LEN, (unsigned)(i + from)));
            }
    }
    live_stop();
}

START_TEST(flood_is_bounded)
{
    static const char *const sets[] = {"MPIR_CVAR_P2P_EAGER_WINDOW=32768", NULL};
    ck_assert_int_eq(job_run(8, NULL, body_flood, 120), 0);
    ck_assert_int_eq(job_run(8, sets, body_flood, 120), 0);
}
END_TEST

/* A synchronous send ends only when it is matched; a standard one of few bytes at once. */
static void body_modes(void)
{
    int x = 1, y = 2;
    struct request *r;
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_INT);
    if (c->rank == 0) {
        ok(p2p_isend(&x, 1, t, 1, 1, c, P2P_SYNC, &r));
        ok(p2p_send(&y, 1, t, 1, 2, c, P2P_STANDARD));
        live_meet();
        job_check(!r->done);
        live_meet();
        request_wait(r);
        ok(request_finish(r, NULL));
    } else {
        int z;
        live_meet();
        ok(p2p_recv(&z, 1, t, 0, 2, c, 0, NULL));
        job_check(z == 2);
        live_meet();
        ok(p2p_recv(&z, 1, t, 0, 1, c, 0, NULL));
        job_check(z == 1);
    }
    live_stop();
}

START_TEST(synchronous_waits_for_the_match)
{
    ck_assert_int_eq(job_run(2, NULL, body_modes, 30), 0);
}
END_TEST

/* Short, longer and long messages in turn, one tag: order must hold across all the ways they
 * travel. */
static void body_order(void)
{
    static const size_t len[] = {10, 20000, 100, 300000, 0, 70000, 8000};
    enum { N = 210 };
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR);
    if (c->rank == 0) {
        char *out[N];
        struct request *r[N];
        for (int i = 0; i < N; i++) {
            out[i] = malloc(len[i % 7] + 1);
            live_fill(out[i], len[i % 7], (unsigned)i);
            ok(p2p_isend(out[i], (MPI_Aint)len[i % 7], t, 1, 3, c, 0, &r[i]));
        }
        for (int i = 0; i < N; i++) {
            request_wait(r[i]);
            ok(request_finish(r[i], NULL));
            free(out[i]);
        }
    } else {
        char *in = malloc(300000);
        for (int i = 0; i < N; i++) {
            MPI_Status st;
            ok(p2p_recv(in, 300000, t, 0, i % 3 ? 3 : MPI_ANY_TAG, c, 0, &st));
            job_check(status_count(&st) == (int64_t)len[i % 7] &&
                      live_same(in, len[i % 7], (unsigned)i));
        }
        free(in);
    }
    live_stop();
}

START_TEST(order_holds_across_protocols)
{
    static const char *const sets[] = {"MPIR_CVAR_NOLOCAL=1", NULL};
    static const char *const tight[] = {"MPIR_CVAR_SHM_CELLS=4", "MPIR_CVAR_SHM_CELL_BYTES=512",
                                        NULL};
    ck_assert_int_eq(job_run(2, NULL, body_order, 60), 0);
    ck_assert_int_eq(job_run(2, sets, body_order, 60), 0);
    /* no single copy: windows of segments bounded by the few cells */
    static const char *const tight_far[] = {"MPIR_CVAR_SHM_CELLS=4", "MPIR_CVAR_SHM_CELL_BYTES=512",
                                            "MPIR_CVAR_NOLOCAL=1", NULL};
    ck_assert_int_eq(job_run(2, tight, body_order, 60), 0);
    ck_assert_int_eq(job_run(2, tight_far, body_order, 60), 0);
}
END_TEST

/* --- data that the network reads where it lies ------------------------------------------------ */

enum { KEEP = 1000, LONG = 30000 };

/* Rings of shared memory that pretend to be a network of that kind: a long last piece is read, and
 * sent, by a later progress(), not at all while `held`, or not ever, with an error. */
struct parcel {
    struct parcel *next;
    unsigned peer;
    enum tp_class cls;
    char front[200];
    size_t bytes;
    struct iovec data;
    struct tp_done *d;
};
static struct {
    struct parcel *first;
    int held, err, told;
    int refuses; /* -errno of am() itself */
} post;

static int post_open(const struct tp_env *env, struct tp **tp, struct tp_caps *caps)
{
    int err = tp_shm_ops.open(env, tp, caps);
    caps->am_zcopy_min = KEEP;
    return err;
}

static int post_am(struct tp *tp, unsigned peer, enum tp_class cls, const struct iovec *iov, int n,
                   struct tp_done *d)
{
    if (!d || iov[n - 1].iov_len < KEEP)
        return tp_shm_ops.am(tp, peer, cls, iov, n, NULL);
    if (post.refuses)
        return post.refuses;
    struct parcel *x = malloc(sizeof *x);
    *x = (struct parcel){
        .peer = peer, .cls = cls, .bytes = tp_iov_bytes(iov, n - 1), .data = iov[n - 1], .d = d};
    job_check(x->bytes <= sizeof x->front);
    tp_iov_gather(x->front, iov, n - 1);
    struct parcel **last = &post.first;
    while (*last)
        last = &(*last)->next;
    *last = x;
    return TP_PENDING;
}

/* One of them is read. */
static int post_progress(struct tp *tp)
{
    struct parcel *x = post.first;
    int events = tp_shm_ops.progress(tp);
    if (!x || post.held)
        return events;
    struct iovec v[2] = {{x->front, x->bytes}, x->data};
    if (!post.err && tp_shm_ops.am(tp, x->peer, x->cls, v, 2, NULL) == TP_AGAIN)
        return events;
    post.first = x->next;
    post.told++;
    x->d->fn(x->d, post.err);
    free(x);
    return events + 1;
}

static struct comm *post_start(void)
{
    static struct tp_ops ops;
    static const struct tp_ops *const list[] = {&tp_self_ops, &ops, NULL};
    ops = tp_shm_ops;
    ops.open = post_open;
    ops.am = post_am;
    ops.progress = post_progress;
    job_check(tp_use(list) == 0);
    live_start();
    return proc->obj->world;
}

/* When the send returns, the buffer is the program's: nothing of it is read later. */
static void body_stays(void)
{
    struct comm *c = post_start();
    struct dt_type *t = dt_find(MPI_CHAR), *gappy = dt_find(MPI_DOUBLE_INT);
    enum { N = 40 };
    char *b = malloc(N * LONG);
    for (int i = 0; i < N; i++) {
        size_t len = (size_t)(i + 1) * LONG;
        if (c->rank == 0) {
            live_fill(b, len, (unsigned)i);
            ok(p2p_send(b, (MPI_Aint)len, t, 1, 3, c, i % 3 ? 0 : P2P_SYNC));
            job_check(!post.first);
            memset(b, 0x55, len);
        } else {
            ok(p2p_recv(b, (MPI_Aint)len, t, 0, 3, c, 0, NULL));
            job_check(live_same(b, len, (unsigned)i));
        }
    }
    job_check((post.told >= N) == (c->rank == 0));
    int told = post.told; /* what is no block is packed, and copied */
    if (c->rank == 0)
        ok(p2p_send(b, LONG / 12, gappy, 1, 3, c, 0));
    else
        ok(p2p_recv(b, LONG / 12, gappy, 0, 3, c, 0, NULL));
    job_check(post.told == told);
    free(b);
    live_stop();
}

static void asked(struct request *r)
{
    while (((struct p2p_req *)r)->state != P2P_CLOSING)
        progress_poll();
}

static struct p2p_req *all_asked(char *b)
{
    struct request *r;
    ok(p2p_isend(b, LONG, dt_find(MPI_CHAR), 1, 3, proc->obj->world, 0, &r));
    asked(r);
    for (int i = 0; i < 1000; i++)
        progress_poll();
    job_check(!r->done && post.first && post.told == 0);
    return (struct p2p_req *)r;
}

/* The receiver of `len` bytes, whose part ends with this process. */
static void wait_in_vain(size_t len)
{
    struct request *r;
    ok(p2p_irecv(malloc(len), (MPI_Aint)len, dt_find(MPI_CHAR), 0, 3, proc->obj->world, 0, &r));
    while (!*(volatile uint64_t *)job_words())
        progress_poll();
    _exit(0);
}

static void in_vain_no_more(void)
{
    job_words()[0] = 1;
    _exit(0);
}

static void receiver_dies(void)
{
    boot_fail_now(1, "its part in this test is over");
    while (!am_failed(1))
        progress_poll();
}

/* All was asked for, and the network has it still; then it leaves. */
static void body_leaves(void)
{
    static char b[LONG];
    struct comm *c = post_start();
    post.held = 1;
    if (c->rank == 0) {
        live_fill(b, LONG, 1);
        struct p2p_req *q = all_asked(b);
        ok(q->r.ops->cancel(&q->r)); /* too late */
        job_check(!q->r.done);
        post.held = 0;
        request_wait(&q->r);
        job_check(!post.first && !status_cancelled(&q->r.status));
        ok(request_finish(&q->r, NULL));
    } else {
        ok(p2p_recv(b, LONG, dt_find(MPI_CHAR), 0, 3, c, 0, NULL));
        job_check(live_same(b, LONG, 1));
    }
    live_stop();
}

static void ends_with(struct p2p_req *q, int cls)
{
    job_check(q->r.done && !q->leaving && list_empty(&proc->p2p->open));
    int got = err_class(q->r.error);
    job_check(got == cls);
}

static void all_told(void)
{
    post.held = 0;
    while (post.first)
        progress_poll();
}

/* A send whose receiver will not take it. */
static struct p2p_req *doomed(void)
{
    static char b[LONG];
    struct comm *c = post_start();
    post.held = 1;
    if (c->rank == 1)
        wait_in_vain(LONG);
    return all_asked(b);
}

/* Its peer dies, and later reports of the network concern nothing. */
static void body_orphaned(void)
{
    struct p2p_req *q = doomed();
    receiver_dies();
    ends_with(q, MPIX_ERR_PROC_FAILED);
    post.err = -ENOTCONN;
    all_told();
    in_vain_no_more();
}

/* It does not leave: an error at once, or where the peer cannot be reached when that is known to be
 * dead. */
static void fails(int err)
{
    struct p2p_req *q = doomed();
    post.err = err;
    all_told();
    if (err == -ENOTCONN) {
        job_check(!q->r.done);
        receiver_dies();
    }
    ends_with(q, err == -ENOTCONN ? MPIX_ERR_PROC_FAILED : err_class(err_from_errno(err, "this")));
    in_vain_no_more();
}

static void body_broken(void)
{
    fails(-EIO);
}

/* The operation cannot begin, or fails before all is asked for. Nothing asks for the rest: an
 * error, too. */
static void begun_in_vain(int refuses, int err)
{
    static char b[40 * LONG];
    struct comm *c = post_start();
    struct request *r;
    if (c->rank == 1)
        wait_in_vain(sizeof b);
    post.refuses = refuses;
    post.err = err;
    ok(p2p_isend(b, sizeof b, dt_find(MPI_CHAR), 1, 3, c, 0, &r));
    while (!r->done)
        progress_poll();
    ends_with((struct p2p_req *)r, err_class(err_from_errno(-EIO, "this")));
    job_check(((struct p2p_req *)r)->got < sizeof b);
    in_vain_no_more();
}

static void body_refused(void)
{
    begun_in_vain(-EIO, 0);
}

static void body_half(void)
{
    begun_in_vain(0, -EIO);
}

/* P14 against a receiver that asks for data and then claims to have it all. */
static void body_hasty(void)
{
    static char b[40 * LONG];
    volatile uint64_t *go = job_words();
    struct comm *c = post_start();
    struct request *r;
    post.held = 1;
    if (c->rank == 0) {
        live_fill(b, sizeof b, 1);
        ok(p2p_isend(b, sizeof b, dt_find(MPI_CHAR), 1, 3, c, 0, &r));
        struct p2p_req *q = (struct p2p_req *)r;
        while (!q->got)
            progress_poll();
        job_check(q->state == P2P_OPEN);
        go[0] = 1;
        while (!proc->p2p->malformed)
            progress_poll();
        job_check(!r->done && post.first && q->state == P2P_OPEN);
        post.held = 0;
    } else {
        ok(p2p_irecv(b, sizeof b, dt_find(MPI_CHAR), 0, 3, c, 0, &r));
        while (!go[0])
            progress_poll();
        struct p2p_fin f = {((struct p2p_req *)r)->remote};
        struct iovec v = {&f, sizeof f};
        while (am_request(0, P2P_FIN, &v, 1, 0) == AM_AGAIN)
            progress_poll();
    }
    request_wait(r);
    ok(request_finish(r, NULL));
    job_check(live_same(b, sizeof b, 1));
    live_stop();
}

/* A persistent one, begun again, and given up by MPI_Request_free while the network has it. */
static void body_again(void)
{
    static char b[LONG];
    enum { TIMES = 4 };
    int told = 0;
    struct comm *c = post_start();
    struct dt_type *t = dt_find(MPI_CHAR);
    struct request *r;
    MPI_Request handle;
    if (c->rank == 0) {
        ok(p2p_send_init(b, LONG, t, 1, 3, c, 0, &r));
        ok(request_publish(r, &handle));
    }
    for (int i = 0; i < TIMES; i++) {
        if (c->rank == 1) {
            ok(p2p_recv(b, LONG, t, 0, 3, c, 0, NULL));
            job_check(live_same(b, LONG, (unsigned)i));
            continue;
        }
        live_fill(b, LONG, (unsigned)i);
        post.held = 1;
        ok(request_start(r));
        asked(r);
        job_check(!r->done && post.first && post.told == told);
        if (i == TIMES - 1)
            request_release(r);
        post.held = 0;
        if (i < TIMES - 1) {
            request_wait(r);
            ok(request_finish(r, NULL));
        }
        while (!list_empty(&proc->p2p->open))
            progress_poll();
        job_check(!post.first && post.told > told);
        told = post.told;
    }
    live_stop();
}

static void body_cut(void)
{
    fails(-ENOTCONN);
}

START_TEST(read_where_it_lies)
{
    static const char *const far[] = {"MPIR_CVAR_NOLOCAL=1", "MPIR_CVAR_P2P_EAGER_MAX=0", NULL};
    ck_assert_int_eq(job_run(2, far, body_stays, 30), 0);
    ck_assert_int_eq(job_run(2, far, body_leaves, 30), 0);
    ck_assert_int_eq(job_run(2, far, body_again, 30), 0);
    ck_assert_int_eq(job_run(2, far, body_orphaned, 30), 0);
    ck_assert_int_eq(job_run(2, far, body_broken, 30), 0);
    ck_assert_int_eq(job_run(2, far, body_cut, 30), 0);
    ck_assert_int_eq(job_run(2, far, body_refused, 30), 0);
    ck_assert_int_eq(job_run(2, far, body_half, 30), 0);
    ck_assert_int_eq(job_run(2, far, body_hasty, 30), 0);
}
END_TEST

Suite *suite_send(void)
{
    Suite *s = suite_create("p2p/send");
    TCase *t = tcase_create("send");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, flood_is_bounded);
    tcase_add_test(t, synchronous_waits_for_the_match);
    tcase_add_test(t, order_holds_across_protocols);
    tcase_add_test(t, read_where_it_lies);
    suite_add_tcase(s, t);
    return s;
}

/* test_by_am.c - p2p/by_am.c: layouts, empty, where memory cannot be read, unordered transports. */
#include "live.h"
#include "unit.h"

#include <stdlib.h>

#include "dt/dt.h"

Suite *suite_by_am(void);

/* Layouts with gaps on either side or both: MPI_DOUBLE_INT has 12 bytes of data in 16. */
struct pair {
    double value;
    int index, gap;
};

static void body_layouts(void)
{
    static const int counts[] = {1, 100, 3000, 60000};
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *gappy = dt_find(MPI_DOUBLE_INT), *bytes = dt_find(MPI_BYTE);
    struct pair *b = malloc(60000 * sizeof *b);
    char *packed = malloc(60000 * 12);
    for (int i = 0; i < 4; i++)
        for (int way = 0; way < 6; way++) {
            MPI_Aint n = counts[i];
            int send_gappy = way % 3 != 1, recv_gappy = way % 3 != 2, blocking = way / 3;
            memset(b, 0x77, (size_t)n * sizeof *b);
            for (MPI_Aint k = 0; k < n && c->rank == 0; k++) {
                b[k].value = (double)k + way;
                b[k].index = (int)k;
            }
            if (c->rank == 0) {
                struct request *r;
                dt_pack(gappy, (size_t)n, b, 0, packed, (size_t)n * 12);
                const void *from = send_gappy ? (void *)b : packed;
                if (blocking) {
                    ok(p2p_send(from, send_gappy ? n : n * 12, send_gappy ? gappy : bytes, 1, 0, c,
                                0));
                } else {
                    ok(p2p_isend(from, send_gappy ? n : n * 12, send_gappy ? gappy : bytes, 1, 0, c,
                                 0, &r));
                    request_wait(r);
                    ok(request_finish(r, NULL));
                }
                continue;
            }
            ok(p2p_recv(recv_gappy ? (void *)b : packed, recv_gappy ? n : n * 12,
                        recv_gappy ? gappy : bytes, 0, 0, c, 0, NULL));
            if (!recv_gappy)
                dt_unpack(gappy, (size_t)n, b, 0, packed, (size_t)n * 12);
            for (MPI_Aint k = 0; k < n; k++)
                job_check(b[k].value == (double)k + way && b[k].index == (int)k &&
                          b[k].gap == 0x77777777);
        }
    free(packed);
    free(b);
    live_stop();
}

/* A message as long as a cell of the ring leaves in one piece, with its headers. */
static void body_cell(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    struct p2p_peer *p = peer_get(1 - c->rank);
    size_t n = (size_t)cvar.shm_cell_bytes;
    char *b = malloc(n);
    job_check(peer_reach(p) == 0 && p->eager_max >= n);
    for (int i = 0; i < 2; i++) {
        memset(b, 0, n);
        if (c->rank == 0) {
            live_fill(b, n, 9);
            ok(p2p_send(b, (MPI_Aint)n, dt_find(MPI_BYTE), 1, 4, c, i ? P2P_SYNC : 0));
        } else {
            ok(p2p_recv(b, (MPI_Aint)n, dt_find(MPI_BYTE), 0, 4, c, 0, NULL));
            job_check(live_same(b, n, 9));
        }
    }
    free(b);
    live_stop();
}

START_TEST(a_cell_in_one_piece)
{
    static const char *const small[] = {"MPIR_CVAR_SHM_CELL_BYTES=512", NULL};
    ck_assert_int_eq(job_run(2, NULL, body_cell, 30), 0);
    ck_assert_int_eq(job_run(2, small, body_cell, 30), 0);
}
END_TEST

/* The sender is blocked, and copying by both is to be tried. From 4 MiB on a receiver that may
 * compute before it waits reads the message at once all the same; one that waits does not. */
static void body_long(void)
{
    enum { LONG = 4 << 20 };
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *byte = dt_find(MPI_BYTE);
    char *b = calloc(1, LONG);
    proc->p2p->crowded = 0;
    for (int i = 0; i < 4; i++) {
        int n = i & 1 ? LONG : LONG - 1, computes = i & 2;
        if (c->rank == 0) {
            live_fill(b, (size_t)n, (unsigned)i);
            ok(p2p_send(b, n, byte, 1, i, c, 0));
            continue;
        }
        const uint64_t read = proc->var->pvars.v[PVAR_P2P_READ];
        memset(&proc->p2p->near_ways, 0, sizeof proc->p2p->near_ways); /* both: the first way */
        if (computes) {
            struct request *r;
            ok(p2p_irecv(b, n, byte, 0, i, c, 0, &r));
            request_wait(r);
            ok(request_finish(r, NULL));
        } else {
            ok(p2p_recv(b, n, byte, 0, i, c, 0, NULL));
        }
        job_check(live_same(b, (size_t)n, (unsigned)i));
        const uint64_t at_once = proc->var->pvars.v[PVAR_P2P_READ] - read;
        job_check(at_once == (n == LONG && computes) ||
                  peer_get(0)->cma == P2P_CMA_REFUSED); /* the kernel allows none */
    }
    free(b);
    live_stop();
}

START_TEST(by_one_that_may_compute)
{
    static const char *const none[] = {"MPIR_CVAR_P2P_PREPOST=0", NULL};
    ck_assert_int_eq(job_run(2, none, body_long, 30), 0);
}
END_TEST

/* No bytes in a layout that is no block, with no room in the eager window: a rendezvous of
 * nothing. */
static void body_empty(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *gappy = dt_find(MPI_DOUBLE_INT);
    struct pair b;
    if (c->rank == 0)
        ok(p2p_send(&b, 0, gappy, 1, 0, c, 0));
    else
        ok(p2p_recv(&b, 1, gappy, 0, 0, c, 0, NULL));
    live_stop();
}

START_TEST(empty)
{
    static const char *const none[] = {"MPIR_CVAR_P2P_EAGER_WINDOW=0", NULL};
    ck_assert_int_eq(job_run(2, none, body_empty, 30), 0);
}
END_TEST

START_TEST(layouts)
{
    static const char *const far[] = {"MPIR_CVAR_NOLOCAL=1", NULL};
    static const char *const cma[] = {"MPIR_CVAR_P2P_CMA_MIN=0", "MPIR_CVAR_P2P_EAGER_MAX=100",
                                      NULL};
    ck_assert_int_eq(job_run(2, NULL, body_layouts, 60), 0);
    ck_assert_int_eq(job_run(2, far, body_layouts, 60), 0);
    ck_assert_int_eq(job_run(2, cma, body_layouts, 60), 0);
}
END_TEST

/* The kernel refuses to let one process read the other: the first try finds out, data comes in
 * segments. */
static void body_refused(void)
{
    enum { N = 500000 };
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR);
    char *b = malloc(N);
    struct request *r;
    if (c->rank == 0) {
        live_fill(b, N, 5);
        ok(p2p_isend(b, N, t, 1, 0, c, 0, &r));
        request_wait(r);
        ok(request_finish(r, NULL));
    } else {
        peer_get(0)->cma = P2P_CMA_REFUSED;
        ok(p2p_recv(b, N, t, 0, 0, c, 0, NULL));
        job_check(live_same(b, N, 5) && peer_get(0)->cma == P2P_CMA_REFUSED);
    }
    free(b);
    live_stop();
}

START_TEST(where_memory_cannot_be_read)
{
    ck_assert_int_eq(job_run(2, NULL, body_refused, 30), 0);
}
END_TEST

/* Messages of an unordered transport are put in order by their numbers before they are matched. */
static void body_unordered(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    struct p2p_peer *p = peer_get(0);
    p->ordered = p->direct = 0;
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t seq = i ^ 3; /* 3 2 1 0 7 6 5 4 ... */
        struct {
            struct p2p_match m;
            uint32_t value;
        } msg = {{c->ctx_recv, 0, 6, seq}, seq};
        struct iovec v = {&msg, sizeof msg};
        job_check(am_request(0, P2P_EAGER, &v, 1, 0) == 0);
        progress_poll();
    }
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t x;
        ok(p2p_recv(&x, sizeof x, dt_find(MPI_BYTE), 0, 6, c, 0, NULL));
        job_check(x == i);
    }
    p->seq_out = 40;
    /* What comes too long before its turn is dropped, and so is more than there may be. */
    for (int i = 0; i < 2; i++) {
        struct p2p_match far = {c->ctx_recv, 0, 6, 40 + (i ? P2P_EARLY : 1u << 30)};
        struct iovec v = {&far, sizeof far};
        job_check(am_request(0, P2P_EAGER, &v, 1, 0) == 0);
        progress_poll();
    }
    struct p2p_match again = {c->ctx_recv, 0, 6, 41};
    struct iovec w = {&again, sizeof again};
    for (int i = 0; i < P2P_EARLY + 5; i++)
        while (am_request(0, P2P_EAGER, &w, 1, 0) != 0 || progress_poll() == 0)
            progress_poll();
    for (int i = 0; i < 100; i++)
        progress_poll();
    job_check(p->nearly == P2P_EARLY && proc->p2p->malformed == 7);
    live_stop();
}

START_TEST(unordered_transports)
{
    ck_assert_int_eq(job_run(1, NULL, body_unordered, 30), 0);
}
END_TEST

Suite *suite_by_am(void)
{
    Suite *s = suite_create("p2p/by_am");
    TCase *t = tcase_create("by_am");
    tcase_set_timeout(t, 180);
    tcase_add_test(t, layouts);
    tcase_add_test(t, empty);
    tcase_add_test(t, a_cell_in_one_piece);
    tcase_add_test(t, by_one_that_may_compute);
    tcase_add_test(t, where_memory_cannot_be_read);
    tcase_add_test(t, unordered_transports);
    suite_add_tcase(s, t);
    return s;
}

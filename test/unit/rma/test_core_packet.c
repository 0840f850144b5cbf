/* test_core_packet.c - rma/core/packet.c: packets of an earlier round, packets of its own round,
 * requests of an earlier round. */
#include "unit.h"

#include "coll/coll_types.h"
#include "unit_rma.h"
#include "world.h"

/* Packets of a freed window while another one has its number. */

enum { LONGS = 4, LENGTHS = 2, ROUNDS = 4, ANSWERED = RMA_F_DONE | RMA_F_SIGNALED };

static struct rma_win *w;

/* The second window of its number, and what stands above a rank in packets of the first. */
static uint32_t open_again(void)
{
    proc->coll->ctx_bits = 2; /* 4 numbers a process, 2 of them free at rank 0 */
    w = world_window(LONGS);
    uint64_t first = w->id;
    do {
        job_check(rma_win_free(w) == MPI_SUCCESS);
        w = world_window(LONGS);
    } while ((uint32_t)w->id != (uint32_t)first);
    job_check(w->id != first && rma_win_find(w->id) == w && !rma_win_find(first));
    job_check(w->src == (uint32_t)(w->id >> 32) + (uint32_t)w->rank);
    for (int i = 0; i < LONGS; i++)
        world_memory(w)[i] = 7;
    return (uint32_t)(first >> 32);
}

static void send_to_0(enum rma_packet type, uint32_t round, unsigned flags, uint32_t len)
{
    long v[1] = {9};
    struct rma_hdr h = {.type = (uint8_t)type, .flags = (uint16_t)flags, .win = (uint32_t)w->id,
                        .aop = type == RMA_PKT_ACC ? DT_SUM : 0, .src = round | 1, .dt = MPI_LONG,
                        .count = 1, .len = len, .token = 1};
    struct iovec iov[2] = {{&h, sizeof h}, {v, len}};
    while (am_request(0, AM_RMA + type, iov, len ? 2 : 1, 1) == AM_AGAIN)
        world_poll(1);
    if (type != RMA_PKT_KEY_ASK && type != RMA_PKT_FREEING_ASK && type != RMA_PKT_HANDLE_ENDS &&
        type != RMA_PKT_COPY)
        am_credit_return(0, 1);
}

static uint64_t late(void)
{
    return atomic_load_explicit(&pvar_proc()->v[PVAR_RMA_LATE], memory_order_relaxed);
}

/* No packet of an earlier round acts; those that are asked are answered. */
static void earlier_round(void)
{
    uint32_t round = open_again();
    struct rma_resp r;
    rma_resp_open(w, &r, 1);
    r.pending = 1;
    job_check(r.token == 1);
    uint64_t before = late();
    world_barrier(); /* packets may come with the last message of it */
    for (int type = 0; type < RMA_PKTS && w->rank == 1; type++)
        for (unsigned flags = 0; flags < ROUNDS; flags++)
            for (uint32_t len = 0; len < LENGTHS; len++)
                if (!len || (type != RMA_PKT_DELEGATE && type != RMA_PKT_HANDLE_LEFT &&
                             type != RMA_PKT_FREEING && type != RMA_PKT_FORWARDED &&
                             type != RMA_PKT_COPIED)) /* which have nothing but a header */
                    send_to_0((enum rma_packet)type, round, flags ? ANSWERED | flags : 0, 8 * len);
    world_barrier();
    if (w->rank == 0) {
        job_check(late() - before == (RMA_PKTS * LENGTHS - 5) * ROUNDS);
        for (int i = 0; i < LONGS; i++)
            job_check(world_memory(w)[i] == 7);
        job_check(r.pending == 1 && !r.err && !w->err && !w->access.posts.count &&
                  !w->free.asked.count);
        job_check(!w->target.lockq.count && !w->target.lockq.holders.count &&
                  !w->target.lockq.anonymous);
        job_check(!w->target.errors.count);
    }
    rma_resp_close(&r);
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* Those of its own do. */
static void own_round(void)
{
    (void)open_again();
    uint32_t round = (uint32_t)(w->id >> 32);
    struct rma_resp r;
    job_check(round != 0 && !(round & comm_rank_mask()));
    rma_resp_open(w, &r, 1);
    r.pending = 1;
    r.alone = 1;
    uint64_t before = late();
    world_barrier();
    if (w->rank == 1) {
        send_to_0(RMA_PKT_PUT, round, 0, 8);
        send_to_0(RMA_PKT_POST, round, 0, 0);
        send_to_0(RMA_PKT_ACK, round, RMA_F_SIGNALED, 0);
        send_to_0(RMA_PKT_FREEING_ASK, round, 0, 0);
    }
    world_barrier();
    job_check(late() == before);
    if (w->rank == 0)
        job_check(world_memory(w)[0] == 9 && r.pending == 0 && w->access.posts.count == 1 &&
                  w->free.asked.count == 1);
    rma_resp_close(&r);
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* The handler of a request's error is that of its own window, though another has its number. */
static void request_of_old(void)
{
    struct rma_request *q = NULL;
    MPI_Request handle;
    proc->coll->ctx_bits = 2;
    w = world_window(LONGS);
    uint64_t first = w->id;
    job_check(rma_request_make(w, &q, &handle) == MPI_SUCCESS && q->win == first);
    q->errhandler = errhandler_of(ERRHANDLER_RETURN);
    q->win_handle = w->near.obj.handle;
    do {
        job_check(rma_win_free(w) == MPI_SUCCESS);
        w = world_window(LONGS);
    } while ((uint32_t)w->id != (uint32_t)first);
    int named;
    char *name = NULL;
    struct errhandler *e = q->r.ops->blame(&q->r, &named, &name);
    free(name);
    job_check(e == errhandler_of(ERRHANDLER_RETURN) && e != w->errhandler);
    errhandler_drop(e);
    request_complete(&q->r, MPI_SUCCESS);
    job_check(request_finish(&q->r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

START_TEST(packets_of_an_earlier_round)
{
    ck_assert_int_eq(world_run(2, world_far, earlier_round), 0);
}
END_TEST

START_TEST(packets_of_its_own_round)
{
    ck_assert_int_eq(world_run(2, world_far, own_round), 0);
}
END_TEST

START_TEST(requests_of_an_earlier_round)
{
    ck_assert_int_eq(world_run(2, NULL, request_of_old), 0);
}
END_TEST

Suite *suite_packet(void)
{
    Suite *s = suite_create("rma/core/packet");
    TCase *t = tcase_create("late");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, packets_of_an_earlier_round);
    tcase_add_test(t, packets_of_its_own_round);
    tcase_add_test(t, requests_of_an_earlier_round);
    suite_add_tcase(s, t);
    return s;
}

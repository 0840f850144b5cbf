/* test_sync_replies.c - rma/sync/replies.c: forged. */
#include "unit.h"

#include "unit_rma.h"
#include "world.h"

/* Answers that were not asked for, that come twice or for another request. */

static struct rma_win *w;
static _Alignas(8) char packet[256];

static size_t build(struct rma_hdr h, const void *data, size_t len)
{
    h.len = (uint32_t)len;
    memcpy(packet, &h, sizeof h);
    if (len)
        memcpy(packet + sizeof h, data, len);
    return sizeof h + len;
}

static struct rma_hdr answer(enum rma_packet type, uint32_t op)
{
    return (struct rma_hdr){.type = (uint8_t)type, .win = w->id, .src = 1, .op = op, .count = 16};
}

/* Rank 0 has a get of 16 bytes under way to rank 1, whose memory holds 11. */
static struct rma_op *under_way(long *r)
{
    w = world_window(4);
    if (boot_rank() != 0)
        world_memory(w)[0] = world_memory(w)[1] = 11;
    strcpy(w->name, "halo");
    world_barrier();
    if (boot_rank() != 0)
        return NULL;
    job_check(rma_lock_all(w, MPI_MODE_NOCHECK) == MPI_SUCCESS);
    job_check(world_op(w, RMA_GET, 1, NULL, r, 2, 0) == MPI_SUCCESS);
    struct rma_target *t = rma_target_find(w, 1);
    t->flags |= TARGET_DRAIN;
    job_check(rma_issue_target(t) == 1 && t->next == &t->ops); /* R1: it has left */
    struct rma_op *op = LIST_OBJ(t->ops.next, struct rma_op, link);
    job_check(rma_op_by_id(op->id) == op && op->sent == 16);
    return op;
}

/* The target's reason for a refusal is text, not data, and is trusted no further. */
static void explained(void)
{
    static const struct {
        struct rma_fault f;
        const char *text;
    } say[] = {
        {{.disp = 7,
          .count = 2,
          .bytes = 32,
          .dt = MPI_LONG,
          .type = RMA_PKT_GET,
          .cls = MPI_ERR_RMA_RANGE},
         "a get of 2 MPI_LONG at displacement 7 was refused by rank 1 of window \"halo\": it does "
         "not lie in the window there (32 bytes)"},
        {{.disp = UINT64_MAX,
          .count = UINT64_MAX,
          .bytes = RMA_FAULT_DYNAMIC,
          .type = RMA_PKT_ACC,
          .cls = MPI_ERR_OP},
         "an accumulate of 18446744073709551615 of a derived datatype at displacement -1 was "
         "refused by rank 1 of "
         "window \"halo\": it does not lie in memory attached there"},
        {{.dt = 0xffffffff, .type = RMA_PKT_BATCH},
         "a packet of operations of 0 of a derived datatype at displacement 0 was refused"},
        {{.dt = MPI_COMM_WORLD, .type = 255},
         "rank 1 of window \"halo\" refused what came with the end of an epoch"},
    };
    for (size_t i = 0; i < sizeof say / sizeof *say; i++) {
        long r[2] = {-1, -1};
        struct rma_op *op = under_way(r);
        if (op) {
            struct rma_hdr h = answer(RMA_PKT_DATA, op->id);
            h.aop = MPI_ERR_RMA_RANGE; /* this one counts */
            job_check(rma_on_data(1, packet, build(h, &say[i].f, sizeof say[i].f)) == 0);
            char text[ERR_TEXT];
            int err = rma_flush(w, 1);
            err_text(err, text, sizeof text);
            job_check(err_class(err) == MPI_ERR_RMA_RANGE && strstr(text, say[i].text) &&
                      r[0] == -1 && r[1] == -1);
            job_check(rma_unlock_all(w) == MPI_SUCCESS);
        }
        world_barrier();
        job_check(rma_win_free(w) == MPI_SUCCESS);
    }
}

/* The target could not even find how much was asked of it: all that has left is over, with its
 * error. */
static void refused(void)
{
    long r[2] = {-1, -1};
    struct rma_op *op = under_way(r);
    if (op) {
        struct rma_hdr h = answer(RMA_PKT_DATA, op->id);
        h.src = 1;
        h.count = 0;
        h.aop = MPI_ERR_TYPE;
        job_check(rma_on_data(1, packet, build(h, NULL, 0)) == 0);
        /* what comes now is late */
        job_check(err_class(rma_flush(w, 1)) == MPI_ERR_TYPE && r[0] == -1 && r[1] == -1);
        job_check(rma_unlock_all(w) == MPI_SUCCESS);
    }
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* A get whose first half is on its way by the network: the answer does not count that half. */
static void refused_beside_native(void)
{
    long r[2] = {-1, -1};
    struct rma_op *op = under_way(r);
    if (op) {
        struct rma_hdr h = answer(RMA_PKT_DATA, op->id);
        long evil[2] = {6, 6};
        op->natives = op->t->natives = 1;
        op->native_bytes = 8;
        job_check(rma_on_data(1, packet, build(h, evil, 16)) == 0 && op->answered == 0 &&
                  r[0] == -1);
        h.count = 0;
        h.aop = MPI_ERR_TYPE;
        job_check(rma_on_data(1, packet, build(h, NULL, 0)) == 0 && op->answered == 8 &&
                  !(op->flags & OP_DONE));
        op->natives = op->t->natives = 0; /* it came */
        op->native_bytes = 0;
        op->answered += 8;
        rma_op_settle(op);
        job_check(op->flags & OP_DONE);
        job_check(err_class(rma_flush(w, 1)) == MPI_ERR_TYPE && rma_unlock_all(w) == MPI_SUCCESS);
    }
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* Forged data do not reach the user's buffer. */
static void data(void)
{
    long r[4] = {-1, -1, -1, -1}, evil[4] = {6, 6, 6, 6};
    struct rma_op *op = under_way(r);
    if (op) {
        struct rma_target *t = op->t;
        const uint32_t ids[] = {0, op->id + 1, op->id | 1u << 30, UINT32_MAX, op->id - 1};
        for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
            job_check(rma_on_data(1, packet, build(answer(RMA_PKT_DATA, ids[i]), evil, 16)) == 0);
        struct rma_hdr h = answer(RMA_PKT_DATA, op->id);
        size_t len = build(h, evil, 16);
        for (size_t cut = 0; cut < len; cut++)
            job_check(rma_on_data(1, packet, cut) == 0);
        h.win++;
        job_check(rma_on_data(1, packet, build(h, evil, 16)) == 0);
        h.win--;
        h.src = 2;
        job_check(rma_on_data(1, packet, build(h, evil, 16)) == 0);
        h.src = 0; /* another member, which knows the id */
        job_check(rma_on_data(0, packet, build(h, evil, 16)) == 0);
        h.src = 1;
        job_check(rma_on_data(0, packet, build(h, evil, 16)) == 0);
        h.count = 17; /* more than was asked for */
        job_check(rma_on_data(1, packet, build(h, evil, 16)) == 0);
        h.count = UINT32_MAX;
        job_check(rma_on_data(1, packet, build(h, evil, 16)) == 0);
        h.count = 16;
        job_check(rma_on_data(1, packet, build(h, evil, 24)) == 0); /* longer */
        const uint64_t bad[] = {1, 8, 17, UINT64_MAX, UINT64_MAX - 15, 1ull << 63};
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            h.disp = bad[i];
            job_check(rma_on_data(1, packet, build(h, evil, 16)) == 0);
        }
        job_check(r[0] == -1 && r[1] == -1 && r[2] == -1 && r[3] == -1 && op->answered == 0 &&
                  t->nops == 1);
        rma_check_invariants(w);
        job_check(rma_flush(w, 1) == MPI_SUCCESS && r[0] == 11 && r[1] == 11 && r[2] == -1);
        job_check(rma_unlock_all(w) == MPI_SUCCESS);
    }
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* Answers in one packet: each is checked as if it came by itself, cut ones and what is no answer
 * end or are passed over. */
static void together(void)
{
    long r[2] = {-1, -1}, v[2] = {21, 22};
    static _Alignas(8) char body[3 * (sizeof(struct rma_hdr) + 8)];
    w = world_window(4);
    if (boot_rank() != 0)
        world_memory(w)[0] = world_memory(w)[1] = 11;
    world_barrier();
    if (boot_rank() == 0) {
        job_check(rma_lock_all(w, MPI_MODE_NOCHECK) == MPI_SUCCESS);
        uint32_t ids[2];
        for (int i = 0; i < 2; i++) {
            job_check(world_op(w, RMA_GET, 1, NULL, &r[i], 1, (size_t)i) == MPI_SUCCESS);
            struct rma_target *t = rma_target_find(w, 1);
            t->flags |= TARGET_DRAIN;
            job_check(rma_issue_target(t) == 1);
            ids[i] = LIST_OBJ(t->ops.prev, struct rma_op, link)->id;
        }
        struct rma_target *t = rma_target_find(w, 1);
        struct rma_hdr all = {.type = RMA_PKT_ANSWERS, .win = w->id, .src = 1, .count = 3}, one[3];
        for (int i = 0; i < 3; i++) { /* the second is of a type that is no answer */
            one[i] = answer(i == 1 ? RMA_PKT_GRANTED : RMA_PKT_DATA, ids[i / 2]);
            one[i].count = one[i].len = 8;
        }
        char *at = body;
        for (int i = 0; i < 3; i++, at += 8) {
            memcpy(at, &one[i], sizeof one[i]);
            at += sizeof one[i];
            memcpy(at, &v[i / 2], 8);
        }
        struct rma_hdr none = all;
        none.count = 0;
        job_check(rma_on_answers(1, packet, build(none, body, sizeof body)) == 0);
        all.src = 2; /* of another rank than those within, or from another process */
        job_check(rma_on_answers(2, packet, build(all, body, sizeof body)) == 0);
        all.src = 1;
        job_check(rma_on_answers(2, packet, build(all, body, sizeof body)) == 0);
        job_check(rma_on_answers(1, packet, sizeof all - 1) == 0);
        for (size_t cut = 0; cut < sizeof one[0] + 8; cut++) /* an answer that is not there whole */
            job_check(rma_on_answers(1, packet, build(all, body, cut)) == 0);
        job_check(r[0] == -1 && r[1] == -1 && t->nops == 2);
        job_check(rma_on_answers(1, packet, build(all, body, sizeof body)) == 0);
        job_check(r[0] == 21 && r[1] == 22 && t->nops == 0);
        rma_check_invariants(w);
        /* The true ones come late, for operations that are over. */
        job_check(rma_flush(w, 1) == MPI_SUCCESS && rma_unlock_all(w) == MPI_SUCCESS);
        job_check(r[0] == 21 && r[1] == 22);
    }
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* Acknowledgements end the flush they belong to and no other (rma.md 5.6). */
static void tokens(void)
{
    struct rma_resp a, b;
    w = world_window(4);
    rma_resp_open(w, &a, 1);
    rma_resp_open(w, &b, -1);
    a.alone = b.alone = 1; /* asked past any element: there is none */
    job_check(a.token && b.token && a.token != b.token);
    a.pending = 1;
    b.pending = 2;
    struct rma_hdr h = answer(RMA_PKT_ACK, 0);
    h.flags = RMA_F_SIGNALED;
    const uint32_t forged[] = {0, b.token + 1, UINT32_MAX, a.token + 77};
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        h.token = forged[i];
        job_check(rma_on_ack(1, packet, build(h, "", 0)) == 0);
    }
    h.token = a.token;
    h.src = 0; /* not the rank that was asked */
    job_check(rma_on_ack(0, packet, build(h, "", 0)) == 0);
    h.src = 1;
    size_t len = build(h, "", 0);
    for (size_t cut = 0; cut < len; cut++)
        job_check(rma_on_ack(1, packet, cut) == 0);
    /* R7: the counter does not go below 0 */
    job_check(a.pending == 1 && b.pending == 2 && w->acks == 0);
    job_check(rma_on_ack(1, packet, len) == 0 && a.pending == 0);
    job_check(rma_on_ack(1, packet, len) == 0 && a.pending == 0);
    h.token = b.token;
    h.aop = MPI_ERR_RMA_RANGE; /* the error goes with its token */
    job_check(rma_on_ack(1, packet, build(h, "", 0)) == 0 && b.pending == 1 &&
              err_class(b.err) == MPI_ERR_RMA_RANGE);
    job_check(a.err == 0 && w->err == 0);
    h.aop = 255; /* no class of MPI: still an error, and none that crashes */
    h.token = a.token;
    job_check(rma_on_ack(1, packet, build(h, "", 0)) == 0 && a.err != 0);
    w->token = UINT32_MAX; /* 0 is the window's counter, never a flush's */
    rma_resp_close(&a);
    rma_resp_open(w, &a, 1);
    job_check(a.token == 1);
    rma_resp_close(&a);
    rma_resp_close(&b);
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static void done_leaves(struct rma_target *t, const struct rma_resp *r)
{
    long v = 3;
    job_check(world_op(w, RMA_PUT, 1, &v, NULL, 1, 0) == MPI_SUCCESS);
    rma_target_sync(t, RMA_F_DONE, r->token);
    while (t->sync) {
        rma_issue_target(t);
        world_poll(1);
    }
}

/* A flush_all waits for each target's turn, so its token may leave for one behind a younger one. A
 * failure may have ended the flush meanwhile: the answer counts all the same. One that no token
 * asked for does not. */
static void out_of_order(void)
{
    w = world_window(4);
    world_barrier();
    for (int both = 0; both < 2 && boot_rank() == 0; both++) {
        struct rma_resp early, late;
        long v = 1;
        job_check(rma_lock_all(w, MPI_MODE_NOCHECK) == MPI_SUCCESS);
        rma_resp_open(w, &early, -1);
        job_check(world_op(w, RMA_PUT, 1, &v, NULL, 1, 0) == MPI_SUCCESS);
        struct rma_target *t = rma_target_find(w, 1);
        rma_resp_open(w, &late, -1);
        late.pending = 1;
        done_leaves(t, &late);
        while (!both && late.pending)
            world_poll(1);
        done_leaves(t, &early);
        rma_resp_close(&early);
        w->dead = 1;
        struct rma_hdr h = answer(RMA_PKT_ACK, 0);
        h.flags = RMA_F_SIGNALED;
        h.token = late.token + 1;
        unsigned out = t->tokens_out;
        if (out) /* forged */
            job_check(rma_on_ack(1, packet, build(h, "", 0)) == 0 && t->tokens_out == out);
        while (t->tokens_out)
            world_poll(1);
        job_check(!late.pending);
        rma_resp_close(&late);
        w->dead = 0;
        job_check(rma_unlock_all(w) == MPI_SUCCESS);
    }
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* If one process answers a flush_all twice, the second answer does not stand for another's. If
 * answers may come in any order, an answer that no call waits for, given twice, may stand for
 * one that a call waits for. Then a failure ends that wait, too. */
static void doubled(void)
{
    w = world_window(4);
    world_barrier();
    for (int loose = 0; loose < 2 && boot_rank() == 0; loose++) {
        struct rma_resp gone, all;
        long v = 1;
        if (!loose)
            job_check(rma_lock_all(w, MPI_MODE_NOCHECK) == MPI_SUCCESS);
        rma_resp_open(w, &gone, -1);
        job_check(world_op(w, RMA_PUT, 1, &v, NULL, 1, 0) == MPI_SUCCESS);
        struct rma_target *t = rma_target_find(w, 1);
        job_check(t && t->ordered && !t->loose);
        done_leaves(t, &gone);
        while (!loose && t->tokens_out) /* its answer comes; below it is forged, twice */
            world_poll(1);
        rma_resp_close(&gone);
        rma_resp_open(w, &all, -1);
        all.pending = 2;
        struct rma_hdr h = answer(RMA_PKT_ACK, 0);
        h.flags = RMA_F_SIGNALED;
        h.token = loose ? gone.token : all.token;
        t->tokens_out += 1; /* all's, and one more of which nothing is known here */
        t->out_token = all.token;
        t->tokens_out += !loose;
        t->ordered = !loose;
        for (int i = 0; i < 2; i++)
            job_check(rma_on_ack(1, packet, build(h, "", 0)) == 0);
        job_check(all.pending == (loose ? 2 : 1) && t->tokens_out == !loose);
        h.src = 0; /* this one was not asked: it has no element */
        h.token = all.token;
        job_check(!rma_target_find(w, 0) && rma_on_ack(0, packet, build(h, "", 0)) == 0 &&
                  all.pending == (loose ? 2 : 1));
        if (loose) {
            rma_target_peer_failed(t);
            job_check(all.pending == 0 && all.err);
        }
        rma_resp_close(&all);
        t->tokens_out = 0;
    }
    world_quit();
}

/* A lock that was not asked for, and a refusal that comes three times. */
static void locks(void)
{
    long r[2] = {-1, -1};
    w = world_window(4);
    if (boot_rank() == 0) {
        job_check(rma_on_granted(1, packet, build(answer(RMA_PKT_GRANTED, 0), "", 0)) == 0);
        job_check(rma_on_refused(1, packet, build(answer(RMA_PKT_REFUSED, 0), "", 0)) == 0);
        job_check(w->table.ntargets == 0);
        job_check(rma_lock(w, MPI_LOCK_SHARED, 1, 0) == MPI_SUCCESS);
        struct rma_target *t = rma_target_find(w, 1);
        job_check(rma_on_granted(1, packet, build(answer(RMA_PKT_GRANTED, 0), "", 0)) == 0);
        job_check(t->state == TARGET_LOCK_CALLED && !list_empty(&t->called)); /* R6 */
        job_check(world_op(w, RMA_GET, 1, NULL, r, 1, 0) == MPI_SUCCESS);
        job_check(world_op(w, RMA_GET, 1, NULL, r + 1, 1, 1) == MPI_SUCCESS);
        t->flags |= TARGET_DRAIN;
        job_check(rma_issue_target(t) == 1 && t->state == TARGET_LOCK_ISSUED && t->replies == 2);
        rma_check_invariants(w); /* E10: both are piggybacked */
        struct rma_hdr h = answer(RMA_PKT_REFUSED, 0);
        h.disp = 3;
        size_t len = build(h, "", 0);
        for (int i = 0; i < 3; i++) {
            job_check(rma_on_refused(1, packet, len) == 0);
            job_check(t->state == TARGET_LOCK_ISSUED && (t->flags & TARGET_REFUSED) &&
                      t->stamp == 3);
            job_check(t->queued == 2 && t->nops == 2 && t->next == t->ops.next && t->replies == 1);
            rma_check_invariants(w);
        }
        job_check(t->retry_ns > 0 && w->table.nops == 2);
    }
    boot_barrier();
    world_quit(); /* the two now disagree for good */
}

/* A NOCHECK lock has had flags before it is really taken; a refusal must not bring them back. */
static void taken_late(void)
{
    long v = 1;
    w = world_window(4);
    if (boot_rank() == 0) {
        job_check(rma_lock(w, MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK) == MPI_SUCCESS);
        job_check(world_op(w, RMA_PUT, 1, &v, NULL, 1, 0) == MPI_SUCCESS &&
                  rma_flush(w, 1) == MPI_SUCCESS);
        struct rma_target *t = rma_target_find(w, 1);
        job_check(rma_lock_send(t) && t->state == TARGET_LOCK_ISSUED);
        struct rma_hdr h = answer(RMA_PKT_REFUSED, 0);
        h.disp = 1;
        job_check(rma_on_refused(1, packet, build(h, "", 0)) == 0 && (t->flags & TARGET_REFUSED));
        job_check(t->sync == 0 && t->tokens_out == 0);
        /* both: it is granted */
        job_check(rma_on_granted(1, packet, build(answer(RMA_PKT_GRANTED, 0), "", 0)) == 0);
        job_check(t->state == TARGET_LOCK_GRANTED && !(t->flags & TARGET_REFUSED));
    }
    world_quit();
}

static void (*const parts[])(void) = {data,     explained, refused,      refused_beside_native,
                                      together, tokens,    out_of_order, doubled,
                                      locks,    taken_late};

START_TEST(forged)
{
    ck_assert_int_eq(world_run(2, world_far, parts[_i]), 0);
}
END_TEST

Suite *suite_on_origin(void)
{
    Suite *s = suite_create("rma/on_origin");
    TCase *t = tcase_create("forged answers");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, forged, 0, sizeof parts / sizeof *parts);
    suite_add_tcase(s, t);
    return s;
}

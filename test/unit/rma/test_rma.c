/* test_rma.c - rma/rma.c: packets, sums, learnt, late packets; rma/coherent/home.h: the sign. */
#include "unit.h"

#include "dt/make.h"
#include "rma/coherent/home.h"
#include "unit_rma.h"
#include "world.h"

/* The wire: what other processes, built by another compiler, expect. */
START_TEST(packets)
{
    ck_assert_uint_eq(sizeof(struct rma_hdr), 40);
    ck_assert_uint_eq(sizeof(struct rma_ext), 32);
    ck_assert_uint_eq(sizeof(struct rma_run), 16);
    ck_assert_uint_eq(offsetof(struct rma_hdr, disp), 16);
    ck_assert_uint_eq(offsetof(struct rma_hdr, token), 36);
    for (size_t n = 0; n < 100; n++) {
        ck_assert_uint_eq(rma_pad(n) % RMA_PAD, 0);
        ck_assert(rma_pad(n) >= n && rma_pad(n) < n + RMA_PAD);
    }
    ck_assert_int_le(AM_RMA + RMA_PKTS, AM_TEST);
    for (int i = 0; i < RMA_PKTS; i++)
        ck_assert_ptr_nonnull(rma_packet_name[i]);
    ck_assert_str_eq(rma_packet_name[RMA_PKT_REFUSED], "REFUSED");
    /* flags are bits of their own */
    const unsigned flags[] = {RMA_F_SHARED, RMA_F_EXCLUSIVE, RMA_F_JOIN,    RMA_F_UNLOCK,
                              RMA_F_DONE,   RMA_F_COMPLETE,  RMA_F_EXT,     RMA_F_ACK,
                              RMA_F_STAMP,  RMA_F_GRANTED,   RMA_F_DROPPED, RMA_F_SIGNALED,
                              RMA_F_FAULT};
    unsigned seen = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        ck_assert_uint_eq(seen & flags[i], 0);
        seen |= flags[i];
    }
    ck_assert_uint_le(seen, UINT16_MAX);
}
END_TEST

/* Sums over open windows and closed ones; a high-water mark is no sum. */
static void counters(void)
{
    struct rma_win *a = world_window(2), *b = world_window(2);
    rma_count(a, PVAR_RMA_PUT, 3);
    rma_count(b, PVAR_RMA_PUT, 4);
    pvar_set_max(&a->near.pvars, PVAR_RMA_OPS_HIGH, 7);
    pvar_set_max(&b->near.pvars, PVAR_RMA_OPS_HIGH, 5);
    const struct pvar_set *all = pvar_proc();
    for (int i = 0; i < 2; i++) { /* collecting twice counts once */
        rma_pvars_collect();
        job_check(all->v[PVAR_RMA_PUT] == 7 && all->v[PVAR_RMA_OPS_HIGH] == 7);
    }
    job_check(rma_win_free(a) == MPI_SUCCESS);
    rma_pvars_collect();
    job_check(all->v[PVAR_RMA_PUT] == 7 && all->v[PVAR_RMA_OPS_HIGH] == 7);
    /* b stays open: rma_finalize drops it */
    job_check(rma_self()->windows.next == &b->link &&
              rma_self()->scratch_bytes == (size_t)cvar.rma_packet);
}

/* Decoded types: the last few are kept, malformed is not. */
static void types(void)
{
    struct rma *r = rma_self();
    size_t len;
    char bytes[512] = "malformed";
    job_check(rma_type_learn(r, bytes, 8) == NULL && rma_type_learn(r, bytes, 0) == NULL &&
              r->type_next == 0);
    for (int i = 1; i <= 20; i++) {
        struct dt_type *t, *got;
        job_check(dt_make_vector(i, 1, 3, dt_find(MPI_INT), &t) == MPI_SUCCESS);
        const void *flat = dt_flat(t, &len);
        job_check(flat && (got = rma_type_learn(r, flat, len)) != NULL && got->size == 4 * i);
        dt_drop(t);
    }
    job_check(r->type_next == 20);
}

/* Packets that arrive after the end, from processes that go on after a failure, are dropped. */
static void late(void)
{
    struct rma_hdr h = {.win = 1};
    const struct iovec iov = {&h, sizeof h};
    const struct pvar_set *all = pvar_proc();
    rma_finalize();
    uint64_t before = all->v[PVAR_AM_RECEIVED];
    for (int type = 0; type < RMA_PKTS; type++)
        while (am_request(0, AM_RMA + type, &iov, 1, 0) != 0)
            world_poll(1);
    for (int i = 0; i < 1000 && all->v[PVAR_AM_RECEIVED] < before + RMA_PKTS; i++)
        world_poll(1);
    job_check(all->v[PVAR_AM_RECEIVED] == before + RMA_PKTS);
}

START_TEST(late_packets)
{
    ck_assert_int_eq(world_run(1, NULL, late), 0);
}
END_TEST

START_TEST(sums)
{
    ck_assert_int_eq(world_run(1, NULL, counters), 0);
}
END_TEST

START_TEST(learnt)
{
    ck_assert_int_eq(world_run(1, NULL, types), 0);
}
END_TEST

/* A signal handler jumps out of an access: the next one still has an odd sign, and another one. */
START_TEST(sign_after_a_jump)
{
    atomic_uint sign = 0;
    atomic_uchar tile = 1;
    struct rma_alone a = {.sign = &sign, .tiles = &tile, .shift = 12, .light = 1};
    ck_assert_int_eq(rma_alone_enter(&a, 0, 8), 1);
    unsigned left = atomic_load(&sign); /* no rma_alone_leave() */
    ck_assert_uint_eq(left & 1, 1);
    ck_assert_int_eq(rma_alone_enter(&a, 0, 8), 1);
    ck_assert_uint_eq(atomic_load(&sign) & 1, 1);
    ck_assert_uint_ne(atomic_load(&sign), left);
    rma_alone_leave(&a);
    ck_assert_uint_eq(atomic_load(&sign) & 1, 0);
    atomic_store(&tile, 0);
    ck_assert_int_eq(rma_alone_enter(&a, 0, 8), 0);
    ck_assert_uint_eq(atomic_load(&sign) & 1, 0);
}
END_TEST

Suite *suite_rma(void)
{
    Suite *s = suite_create("rma/rma");
    TCase *t = tcase_create("rma");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, packets);
    tcase_add_test(t, sums);
    tcase_add_test(t, learnt);
    tcase_add_test(t, late_packets);
    tcase_add_test(t, sign_after_a_jump);
    suite_add_tcase(s, t);
    return s;
}

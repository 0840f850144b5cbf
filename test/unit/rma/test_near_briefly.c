/* test_near_briefly.c - the call of api/rma/onesided.h that adds to an open packet: which of the
 * two ways it goes, and what it holds there. */
#include "unit.h"

#include "unit_rma.h"

/* Stand-ins for the two ways. They see what the call holds. */
#define rma_near_pack packs
#define rma_near_coalesce coalesces
#define rma_near_lane_put laned /* the target has none */
#include "api/rma/onesided.h"

enum { FAR = 0, NEAR = 5 };
static int packed, coalesced, takes;

int packs(struct rma_win_near *w, int rank, MPI_Aint disp, int n, struct dt_type *type,
          struct dt_op *op, const void *origin)
{
    (void)w, (void)rank, (void)disp, (void)n, (void)type, (void)op, (void)origin;
    ck_assert(lock_seen_held(&proc->lock) && !lock_mine(&proc->lock));
    packed++;
    return takes;
}

int coalesces(struct rma_win_near *w, int rank, MPI_Aint disp, int n, struct dt_type *type,
              struct dt_op *op, const void *origin)
{
    (void)w, (void)rank, (void)disp, (void)n, (void)type, (void)op, (void)origin;
    ck_assert_int_eq(lock_mine(&proc->lock), proc->threaded);
    coalesced++;
    return takes;
}

int laned(struct rma_win_near *w, int rank, int64_t disp, uint64_t bytes, const void *from)
{
    (void)w, (void)rank, (void)disp, (void)bytes, (void)from;
    ck_assert(proc->threaded && !lock_mine(&proc->lock));
    return 0;
}

static struct obj_room room;

/* 0: the system has no lock that prefers a thread. */
static int begin(int threaded, int helped)
{
    lock_init(&proc->lock);
    lock_acquire(&proc->lock);
    int err = threaded ? lock_prefer(&proc->lock) : 0;
    lock_release(&proc->lock);
    proc->obj = &room;
    proc->threaded = threaded;
    proc->helped = helped;
    return !err;
}

static void end(void)
{
    ck_assert(!lock_seen_held(&proc->lock));
    proc->obj = NULL;
    proc->threaded = proc->helped = 0;
    lock_init(&proc->lock);
}

static void goes(int rank, int as_packed, int as_coalesced)
{
    struct rma_win_near w = {.first = NEAR, .count = 1};
    for (takes = 0; takes < 2; takes++) {
        packed = coalesced = 0;
        int taken = onesided_far(&w, rank, 0, 1, MPI_LONG, NULL, &takes);
        ck_assert_int_eq(taken, takes && (as_packed || as_coalesced));
        ck_assert_int_eq(packed, as_packed);
        ck_assert_int_eq(coalesced, as_packed ? !takes : as_coalesced);
    }
}

START_TEST(without_threads)
{
    begin(0, 0);
    goes(FAR, 0, 1);
    end();
}
END_TEST

/* The program's threads call one at a time, and one of the library stands in. */
START_TEST(one_at_a_time)
{
    if (begin(1, 1))
        goes(FAR, 1, 1);
    end();
}
END_TEST

/* MPI_Session_init comes behind MPI_Init: the lock prefers a thread yet, and others may call. Two
 * that entered as that one would both be inside. */
START_TEST(several_at_once)
{
    if (begin(1, 0)) {
        goes(FAR, 0, 1);
        goes(NEAR, 0, 0);
    }
    end();
}
END_TEST

Suite *suite_briefly(void)
{
    Suite *s = suite_create("briefly");
    TCase *t = tcase_create("briefly");
    tcase_add_test(t, without_threads);
    tcase_add_test(t, one_at_a_time);
    tcase_add_test(t, several_at_once);
    suite_add_tcase(s, t);
    return s;
}

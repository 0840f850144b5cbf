/* test_reserve.c - coll/reserve.c: a process without any memory still agrees with the others, and
 * takes part without data where its buffers are missing. */
#include "live.h"
#include "unit.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "obj/err.h"

Suite *suite_reserve(void);

struct hoard {
    struct hoard *next;
};

/* All that malloc has, to the last bytes. */
static struct hoard *take_all(struct rlimit *before)
{
    struct hoard *all = NULL, *b;
    struct rlimit none;
    job_check(getrlimit(RLIMIT_AS, before) == 0);
    none = *before;
    none.rlim_cur = 0;
    job_check(setrlimit(RLIMIT_AS, &none) == 0);
    /* below 1 KiB each size: malloc keeps freed pieces by their size */
    for (size_t n = 1 << 20; n >= 16; n = n > 1024 ? n / 2 : n - 16)
        while ((b = malloc(n)) != NULL) {
            b->next = all;
            all = b;
        }
    return all;
}

static void give_back(struct hoard *all, const struct rlimit *before)
{
    job_check(setrlimit(RLIMIT_AS, before) == 0);
    for (struct hoard *next; all; all = next) {
        next = all->next;
        free(all);
    }
}

/* Rank 1 has nothing; the next call finds all again. */
static void body_poor(void)
{
    enum { MANY = 100000 };
    static int in[MANY], out[MANY];
    live_start();
    struct comm *c = proc->obj->world;
    int all[16], me = c->rank, poor = me == 1, cls[16];
    for (int i = 0; i < 12; i++) /* all meet, by messages and by shared memory */
        job_check(coll_agree_error(0, c) == 0 && coll_allgather_bytes(&me, all, sizeof me, c) == 0);
    struct rlimit before;
    struct hoard *rest = poor ? take_all(&before) : NULL;
    job_check(!poor || !malloc(16));
    for (int i = 0; i < 20; i++) {
        int mine = poor ? err_make(MPI_ERR_NO_MEM, "none") : 0;
        job_check(err_class(coll_agree_error(mine, c)) == MPI_ERR_NO_MEM);
        job_check(coll_allgather_bytes(&me, poor ? NULL : all, sizeof me, c) != 0);
        uint64_t ctx[2];
        job_check(coll_ctx_agree(c, &ctx[0], &ctx[1]) == 0 && ctx_is_id(ctx[0]));
        if (me == 0)
            ctx_unmake(ctx[0]);
    }
    /* a long one: no process waits for ever, and none takes what is wrong for the sum */
    int err = coll_allreduce(in, out, MANY, dt_find(MPI_INT), dt_op_find(MPI_SUM), c);
    job_check(err != 0 && (!poor || err_class(err) == MPI_ERR_NO_MEM));
    if (poor)
        give_back(rest, &before);
    cls[0] = err_class(err);
    job_check(coll_allgather_bytes(&cls[0], all, sizeof cls[0], c) == 0);
    job_check(all[1] == MPI_ERR_NO_MEM);
    live_stop();
}

/* Rank 1 has no memory to keep what rank 0 sent; what rank 2 sent after it is for the call. */
static void body_behind(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_INT);
    volatile uint64_t *words = job_words();
    int all[3], v[2] = {c->rank, c->rank}, got[2] = {-1, -1};
    for (int i = 0; i < 3; i++)
        ok(coll_allgather_bytes(v, all, sizeof v[0], c));
    if (c->rank == 0) {
        ok(p2p_send(v, 1, t, 1, 9, c, 0));
        words[0] = 1;
    } else if (c->rank == 2) {
        while (!words[0])
            usleep(100);
        for (int i = 0; i < 40; i++)
            ok(p2p_send(&i, 1, t, 1, 5, c, 0));
    } else {
        struct rlimit before;
        while (!words[0])
            usleep(100);
        struct hoard *rest = take_all(&before);
        job_check(!malloc(16));
        for (int i = 0; i < 40; i++) {
            ok(p2p_recv(&got[1], 1, t, 2, 5, c, 0, MPI_STATUS_IGNORE));
            job_check(got[1] == i);
        }
        ok(p2p_recv(&got[0], 1, t, 0, 9, c, 0, MPI_STATUS_IGNORE));
        job_check(got[0] == 0);
        give_back(rest, &before);
    }
    live_stop();
}

START_TEST(behind_another)
{
    ck_assert_int_eq(job_run(3, NULL, body_behind, 30), 0);
}
END_TEST

START_TEST(no_memory)
{
    ck_assert_int_eq(job_run(_i, NULL, body_poor, 60), 0);
}
END_TEST

Suite *suite_reserve(void)
{
    Suite *s = suite_create("coll/reserve");
    TCase *t = tcase_create("reserve");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, no_memory, 2, 6);
    tcase_add_test(t, behind_another);
    suite_add_tcase(s, t);
    return s;
}

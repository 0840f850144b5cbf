/* test_coll.c - coll/coll.c: calls by name, calls by name without shared memory. */
#include "live.h"
#include "unit.h"

#include "obj/err.h"

Suite *suite_coll(void);

static void bytes(struct comm *c)
{
    char text[40] = "", all[8 * 40];
    int p = c->size, me = c->rank;
    if (me == p - 1)
        strcpy(text, "from the last");
    ok(coll_bcast_bytes(text, sizeof text, p - 1, c));
    job_check(!strcmp(text, "from the last"));
    memset(text, 'a' + me, sizeof text);
    ok(coll_allgather_bytes(text, all, sizeof text, c));
    for (int i = 0; i < p; i++)
        job_check(all[i * 40] == 'a' + i && all[i * 40 + 39] == 'a' + i);
    memset(all, 0, sizeof all);
    memset(all + me * 40, 'A' + me, 40);
    ok(coll_allgather_bytes(all + me * 40, all, 40, c));
    for (int i = 0; i < p; i++)
        job_check(all[i * 40] == 'A' + i);
}

static void numbers(struct comm *c)
{
    int64_t p = c->size, v[2] = {c->rank, -c->rank};
    ok(coll_allreduce_i64(v, 2, COLL_SUM, c));
    job_check(v[0] == p * (p - 1) / 2 && v[1] == -v[0]);
    v[0] = c->rank;
    ok(coll_allreduce_i64(v, 1, COLL_MAX, c));
    job_check(v[0] == p - 1);
    v[0] = c->rank + 5;
    ok(coll_allreduce_i64(v, 1, COLL_MIN, c));
    job_check(v[0] == 5);
    v[0] = (int64_t)1 << c->rank;
    ok(coll_allreduce_i64(v, 1, COLL_BOR, c));
    job_check(v[0] == ((int64_t)1 << p) - 1);
    v[0] = ~v[0] | 6;
    ok(coll_allreduce_i64(v, 1, COLL_BAND, c));
    job_check((v[0] & 7) == 6);
}

/* One fails: all get the error, and the failing one keeps its own text. */
static void errors(struct comm *c)
{
    int mine = c->rank == 1 ? err_make(MPI_ERR_SIZE, "my own") : MPI_SUCCESS;
    int err = coll_agree_error(mine, c);
    job_check(err_class(err) == MPI_ERR_SIZE);
    job_check(c->rank != 1 || err == mine);
    ok(coll_agree_error(MPI_SUCCESS, c));
}

static void body(void)
{
    live_start();
    bytes(proc->obj->world);
    numbers(proc->obj->world);
    errors(proc->obj->world);
    int one = 3, two = 0;
    struct comm *self = proc->obj->self; /* alone */
    ok(coll_barrier(self));
    ok(coll_allreduce(&one, &two, 1, dt_find(MPI_INT), dt_op_find(MPI_SUM), self));
    job_check(two == 3);
    live_stop();
}

START_TEST(calls_by_name)
{
    ck_assert_int_eq(job_run(3, NULL, body, 30), 0);
}
END_TEST

START_TEST(calls_by_name_without_shared_memory)
{
    static const char *const sets[] = {"MPIR_CVAR_NOLOCAL=1", NULL};
    ck_assert_int_eq(job_run(3, sets, body, 30), 0);
}
END_TEST

Suite *suite_coll(void)
{
    Suite *s = suite_create("coll/coll");
    TCase *t = tcase_create("coll");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, calls_by_name);
    tcase_add_test(t, calls_by_name_without_shared_memory);
    suite_add_tcase(s, t);
    return s;
}

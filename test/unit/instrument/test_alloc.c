/* test_alloc.c - instrument/alloc.c: a thread that gets memory comes after those that gave some
 * back. */
#include "unit.h"

#include <malloc.h>
#include <pthread.h>
#include <string.h>

#include "host.h"

Suite *suite_alloc(void);

static void *got(int how)
{
    void *p = NULL;
    switch (how) {
    case 0:
        return malloc(100);
    case 1:
        return calloc(10, 10);
    case 2:
        return realloc(NULL, 100);
    case 3:
        return reallocarray(NULL, 10, 10);
    case 4:
        return posix_memalign(&p, 64, 128) ? NULL : p;
    case 5:
        return aligned_alloc(64, 128);
    case 6:
        return memalign(64, 128);
    case 7:
        return valloc(128);
    default:
        return NULL;
    }
}
enum { HOWS = 8, GIVES = 3 };

/* What is got instead stays until the test ends. */
static void *give(void *p, int how)
{
    if (how)
        return how == 1 ? realloc(p, 5000) : reallocarray(p, 10, 500);
    free(p);
    return NULL;
}

struct worker {
    void *p, *instead;
    int how, marked, go;
    struct stamp s;
};

static void *gives(void *arg)
{
    struct worker *w = arg;
    w->s = host_mark();
    w->instead = give(w->p, w->how);
    flag_set(&w->marked);
    flag_wait(&w->go);
    return NULL;
}

static void handed(int get, int how, int watched)
{
    pthread_t id;
    struct worker w = {.p = malloc(100), .how = how};
    host_run(watched);
    ck_assert_ptr_nonnull(w.p);
    int err = pthread_create(&id, NULL, gives, &w); /* Check's own functions get memory, too */
    flag_wait(&w.marked);
    int before = host_knows(w.s);
    void *p = got(get);
    int behind = host_knows(w.s);
    ck_assert_int_eq(err, 0);
    ck_assert(!before);
    ck_assert_ptr_nonnull(p);
    memset(p, 0, 100);
    ck_assert_msg(behind == watched, "got by %d what was given by %d", get, how);
    flag_set(&w.go);
    pthread_join(id, NULL);
    free(w.instead);
    free(p);
}

START_TEST(memory_is_got_after_it_was_given)
{
    for (int get = 0; get < HOWS; get++)
        handed(get, 0, 1);
    for (int how = 0; how < GIVES; how++)
        handed(0, how, 1);
}
END_TEST

START_TEST(memory_that_nothing_watches_orders_nothing)
{
    for (int get = 0; get < HOWS; get++)
        handed(get, 0, 0);
}
END_TEST

Suite *suite_alloc(void)
{
    Suite *s = suite_create("alloc");
    TCase *t = tcase_create("alloc");
    tcase_add_test(t, memory_is_got_after_it_was_given);
    tcase_add_test(t, memory_that_nothing_watches_orders_nothing);
    suite_add_tcase(s, t);
    return s;
}

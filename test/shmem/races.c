/* races.c - accesses with and without an order, named by the argument. names.test judges what the
 * race checker and the report say of them, and mpiexec of those that hang. Two PEs. With a second
 * argument a word that was seen is also loaded and set back, which mode full sees. */
#include <unistd.h>

#include "sh.h"

static long data[8], flag;
static uint64_t sig;

/* PE 1 reads what PE 0 has put, by an operation, so that mode rma sees it. */
static void read_data(void)
{
    long got[8];
    shmem_long_get(got, data, 8, 1);
}

static void put_data(void)
{
    long from[8] = {1, 2, 3};
    shmem_long_put(data, from, 8, 1);
}

/* PE 0 puts, and tells PE 1 by a flag. */
static void flagged(void (*order)(void), void (*tell)(void))
{
    if (me == 0) {
        put_data();
        order();
        tell();
    } else {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
        read_data();
    }
}

static void nothing(void)
{
}

static void by_set(void)
{
    shmem_long_atomic_set(&flag, 1, 1);
}

static void by_p(void)
{
    shmem_long_p(&flag, 1, 1);
}

/* order: whether PE 1 waits for its own signal, or reads at once. */
static void signalled(int waits)
{
    static const long from[8] = {1, 2, 3};
    if (me == 0)
        shmem_long_put_signal(data, from, 8, &sig, 1, SHMEM_SIGNAL_ADD, 1);
    else if (waits)
        shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 1);
    if (me)
        read_data();
}

static void kinds(long *word)
{
    if (me == 0)
        shmem_long_atomic_inc(word, 1);
    else
        shmem_long_atomic_set(word, 7, 1);
    shmem_long_atomic_compare_swap(word, 7, 9, 1);
    shmem_int64_atomic_fetch_add((int64_t *)word, 1, 1);
    shmem_long_atomic_fetch(word, 1);
}

static void types(long *word)
{
    if (me == 0)
        shmem_long_atomic_add(word, 1, 1);
    else
        shmem_int_atomic_add((int *)(void *)word, 1, 1);
}

static void get_then_put(long *word)
{
    static long got;
    long one = 1;
    if (me)
        return;
    shmem_long_get_nbi(&got, word, 1, 1);
    shmem_fence(); /* orders no get */
    shmem_long_put(word, &one, 1, 1);
}

/* PE 0 changes a word by a call of each kind. PE 1 waits for it, and then uses it: a wait orders
 * the change itself. Returns 0 if there is no such kind. */
static int change(const char *kind)
{
    static long five = 5;
    if (!strcmp(kind, "p"))
        shmem_long_p(&flag, 5, 1);
    else if (!strcmp(kind, "put"))
        shmem_long_put(&flag, &five, 1, 1);
    else if (!strcmp(kind, "int"))
        shmem_int_p((int *)(void *)&flag, 5, 1);
    else if (!strcmp(kind, "set"))
        shmem_long_atomic_set(&flag, 5, 1);
    else if (!strcmp(kind, "add"))
        shmem_long_atomic_add(&flag, 5, 1);
    else if (!strcmp(kind, "fetch-add"))
        shmem_long_atomic_fetch_add(&flag, 5, 1);
    else if (!strcmp(kind, "swap"))
        shmem_long_atomic_compare_swap(&flag, 0, 5, 1);
    else if (!strcmp(kind, "nbi"))
        shmem_long_atomic_fetch_add_nbi(&five, &flag, 5, 1);
    else if (!strcmp(kind, "signal"))
        shmem_long_put_signal(data, &five, 1, (uint64_t *)(void *)&flag, 5, SHMEM_SIGNAL_SET, 1);
    else
        return 0;
    return 1;
}

static void seen(const char *kind, int loads)
{
    if (me == 0) {
        if (!change(kind))
            shmem_global_exit(2);
    } else {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 5);
        shmem_long_put(data + 1, &flag, 1, 0);
        if (loads) {
            data[2] = flag;
            flag = 0;
        }
    }
}

/* What PE 0 does behind its change is in no order with what PE 1 does. */
static void seen_too_late(void)
{
    static long from[8] = {5};
    if (me == 0) {
        shmem_long_p(&flag, 5, 1);
        shmem_long_put(data, from, 8, 1);
    } else {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 5);
        read_data();
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    shmem_init();
    sh_begun();
    long *heap = shmem_calloc(8, sizeof *heap);
    if (!strcmp(what, "puts"))
        put_data();
    else if (!strcmp(what, "heap"))
        shmem_long_put(heap, data, 8, 1);
    else if (!strcmp(what, "fence-set"))
        flagged(shmem_fence, by_set);
    else if (!strcmp(what, "quiet-p"))
        flagged(shmem_quiet, by_p);
    else if (!strcmp(what, "no-fence"))
        flagged(nothing, by_set);
    else if (!strcmp(what, "signal"))
        signalled(1);
    else if (!strcmp(what, "no-signal"))
        signalled(0);
    else if (!strcmp(what, "kinds"))
        kinds(heap);
    else if (!strcmp(what, "types"))
        types(heap);
    else if (!strncmp(what, "seen-", 5))
        seen(what + 5, argc > 2);
    else if (!strcmp(what, "too-late"))
        seen_too_late();
    else if (!strcmp(what, "get-put"))
        get_then_put(heap);
    else if (!strcmp(what, "hang") && me == 0)
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 77);
    else if (!strcmp(what, "lock")) {
        shmem_set_lock(&flag);
        if (me == 0)
            pause();
    } else if (!strcmp(what, "late") && me == 0)
        usleep(200000);
    shmem_barrier_all();
    shmem_free(heap);
    shmem_finalize();
    return 0;
}

/* event_threads.c - a callback for MPI_T events that is not said to be safe for threads runs in the
 * program's own thread. Between hosts another thread of the library may see that a lock is
 * granted. */
#include "../mt.h"
#include <pthread.h>
#include <unistd.h>

enum { TURNS = 10 };

static pthread_t own;
static int in_own, elsewhere, safe; /* calls */

static void restricted(MPI_T_event_instance event, MPI_T_event_registration registration,
                       MPI_T_cb_safety safety, void *user)
{
    (void)event, (void)registration, (void)safety, (void)user;
    if (pthread_equal(pthread_self(), own))
        in_own++;
    else
        __atomic_fetch_add(&elsewhere, 1, __ATOMIC_RELAXED);
}

static void any_thread(MPI_T_event_instance event, MPI_T_event_registration registration,
                       MPI_T_cb_safety safety, void *user)
{
    (void)event, (void)registration, (void)user;
    if (safety >= MPI_T_CB_REQUIRE_THREAD_SAFE)
        __atomic_fetch_add(&safe, 1, __ATOMIC_RELAXED);
}

static MPI_T_event_registration watch(MPI_T_cb_safety level, MPI_T_event_cb_function *fn)
{
    MPI_T_event_registration r;
    int index;

    MUST(MPI_T_event_get_index("rma_lock_granted", &index) == MPI_SUCCESS, "no such event");
    MUST(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &r) == MPI_SUCCESS, "alloc");
    MUST(MPI_T_event_register_callback(r, level, MPI_INFO_NULL, NULL, fn) == MPI_SUCCESS, "set");
    return r;
}

int main(int argc, char **argv)
{
    int provided, *mem, got = 0, i;
    MPI_Win win;
    MPI_T_event_registration r[2];
    MPI_Request q;

    MUST(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS, "init");
    mt_init(&argc, &argv);
    own = pthread_self();
    MPI_Win_allocate(sizeof(int), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    r[0] = watch(MPI_T_CB_REQUIRE_MPI_RESTRICTED, restricted);
    r[1] = watch(MPI_T_CB_REQUIRE_THREAD_SAFE, any_thread);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!mt_rank) /* it computes, too, so that no answer comes while the origin is in MPI_Rget */
        usleep(TURNS * 20000);
    for (i = 0; i < TURNS && mt_rank; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Rget(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &q);
        usleep(20000); /* it computes */
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        MPI_Win_unlock(0, win);
    }
    MUST(!elsewhere, "%d calls in another thread", elsewhere);
    MUST(!mt_rank || !getenv("MPIR_CVAR_NOLOCAL") || safe == TURNS,
         "%d of %d locks granted, %d told in the program's thread", safe, TURNS, in_own);
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = 0; i < 2; i++)
        MUST(MPI_T_event_handle_free(r[i], NULL, NULL) == MPI_SUCCESS, "free");
    MPI_Win_free(&win);
    MPI_T_finalize();
    return mt_finish();
}

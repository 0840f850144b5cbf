/* MPI_T events (MPI-4.1 15.3.8): their description, locks that are granted and pools that are
 * empty, callbacks bound to a window, levels of safety, and events that are dropped. */
#include "../mt.h"

enum { WANTED = 4 };

struct seen {
    int events, level, element[3], freed;
    MPI_Count at, dropped;
};

static void note(MPI_T_event_instance event, MPI_T_event_registration registration,
                 MPI_T_cb_safety safety, void *user)
{
    struct seen *s = user;
    int source = -1, first = -1;
    MPI_Count now, before = s->at;
    (void)registration;
    s->events++;
    s->level = (int)safety;
    MUST(MPI_T_event_copy(event, s->element) == MPI_SUCCESS, "copy");
    MUST(MPI_T_event_read(event, 0, &first) == MPI_SUCCESS && first == s->element[0], "read");
    MUST(MPI_T_event_read(event, 3, &first) == MPI_T_ERR_INVALID_INDEX, "read 3");
    MUST(MPI_T_event_get_source(event, &source) == MPI_SUCCESS && source == 0, "source");
    MUST(MPI_T_event_get_timestamp(event, &s->at) == MPI_SUCCESS && s->at >= before, "time");
    MUST(MPI_T_source_get_timestamp(0, &now) == MPI_SUCCESS && now >= s->at, "now");
}

static void dropped(MPI_Count count, MPI_T_event_registration registration, int source,
                    MPI_T_cb_safety safety, void *user)
{
    (void)registration, (void)source, (void)safety;
    ((struct seen *)user)->dropped += count;
}

static void gone(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user)
{
    (void)registration, (void)safety;
    ((struct seen *)user)->freed++;
}

static void described(void)
{
    static const char *const names[WANTED] = {"rma_lock_granted", "rma_pool_empty", "rma_evicted",
                                              "am_peer_failed"};
    int n = 0, index, verbosity, elements = 2, bind, len = 64, category, inside, sources = 0;
    char name[64];
    MPI_Datatype types[2];
    MPI_Aint places[2];
    MPI_T_source_order order;
    MPI_Count ticks, most;
    MUST(MPI_T_event_get_num(&n) == MPI_SUCCESS && n >= WANTED, "%d kinds", n);
    for (int i = 0; i < WANTED; i++)
        MUST(MPI_T_event_get_index(names[i], &index) == MPI_SUCCESS, "no %s", names[i]);
    MUST(MPI_T_event_get_index("unknown", &index) == MPI_T_ERR_INVALID_NAME, "unknown");
    MPI_T_event_get_index(names[0], &index);
    MUST(MPI_T_event_get_info(index, name, &len, &verbosity, types, places, &elements, NULL, NULL,
                              NULL, NULL, &bind) == MPI_SUCCESS, "info");
    MUST(!strcmp(name, names[0]) && elements == 3 && types[1] == MPI_INT && places[1] == 4 &&
         bind == MPI_T_BIND_MPI_WIN, "%s has %d elements, bind %d", name, elements, bind);
    MUST(MPI_T_event_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                              NULL) == MPI_T_ERR_INVALID_INDEX, "info of %d", n);
    MUST(MPI_T_category_get_index("rma", &category) == MPI_SUCCESS &&
         MPI_T_category_get_num_events(category, &inside) == MPI_SUCCESS && inside >= 3,
         "category");
    MUST(MPI_T_category_get_events(category, 1, &index) == MPI_SUCCESS, "events of rma");
    MUST(MPI_T_source_get_num(&sources) == MPI_SUCCESS && sources == 1, "%d sources", sources);
    MUST(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, &order, &ticks, &most, NULL) ==
         MPI_SUCCESS && order == MPI_T_SOURCE_ORDERED && ticks == 1000000000, "source");
}

static MPI_T_event_registration watch(const char *name, MPI_Win *win, MPI_T_cb_safety level,
                                      struct seen *s)
{
    MPI_T_event_registration r;
    int index;
    MUST(MPI_T_event_get_index(name, &index) == MPI_SUCCESS, "no %s", name);
    MUST(MPI_T_event_handle_alloc(index, win, MPI_INFO_NULL, &r) == MPI_SUCCESS, "alloc");
    MUST(MPI_T_event_register_callback(r, level, MPI_INFO_NULL, s, note) == MPI_SUCCESS, "set");
    MUST(MPI_T_event_set_dropped_handler(r, dropped) == MPI_SUCCESS, "dropped handler");
    return r;
}

int main(int argc, char **argv)
{
    int rank, ranks, provided, *mem, one = 1;
    MPI_Win win, other;
    struct seen lock = {0}, not_here = {0}, pool = {0}, refused = {0};
    MUST(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS, "init");
    described();
    mt_init(&argc, &argv);
    rank = mt_rank;
    ranks = mt_size;
    MPI_Win_allocate(sizeof(int), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    MPI_Win_allocate(sizeof(int), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &other);
    MPI_T_event_registration r[4] = {
        watch("rma_lock_granted", &win, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, &lock),
        watch("rma_lock_granted", &other, MPI_T_CB_REQUIRE_MPI_RESTRICTED, &not_here),
        watch("rma_pool_empty", NULL, MPI_T_CB_REQUIRE_THREAD_SAFE, &pool),
        watch("rma_lock_granted", NULL, MPI_T_CB_REQUIRE_NONE, &refused)};
    for (int i = 0; i < 20; i++) { /* all at rank 0: some wait */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 20 * ranks; i++)
        MPI_Put(&one, 1, MPI_INT, i % ranks, 0, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    int far = getenv("MPIR_CVAR_NOLOCAL") != NULL;
    MUST(!lock.events || (lock.element[0] == win && lock.element[1] >= 0 && lock.level == 3),
         "an event of %#x, rank %d, level %d", lock.element[0], lock.element[1], lock.level);
    MUST(!far || !rank || lock.events >= 20, "%d locks granted", lock.events);
    MUST(!not_here.events && !refused.events, "events for others");
    MUST(!far || ranks < 3 || pool.events, "no empty pool");
    /* Those for which no callback may run are told when one of another level runs. */
    MUST(MPI_T_event_register_callback(r[3], MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL,
                                       &refused, note) == MPI_SUCCESS, "set");
    int before = lock.events;
    if (far && rank) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        MPI_Win_unlock(0, win);
        MUST(refused.events == lock.events - before && refused.dropped == before,
             "%d delivered, %d dropped of %d", refused.events, (int)refused.dropped, before);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++)
        MUST(MPI_T_event_handle_free(r[i], &lock, gone) == MPI_SUCCESS, "free");
    MUST(lock.freed == 4, "%d freed", lock.freed);
    MUST(MPI_T_event_handle_free(r[0], NULL, NULL) == MPI_T_ERR_INVALID_HANDLE, "free twice");
    MPI_Win_free(&other);
    MPI_Win_free(&win);
    MPI_T_finalize();
    return mt_finish();
}

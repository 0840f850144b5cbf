/* tool_event.c - MPI_T: events, their callbacks and their source (MPI-4.1 15.3.8). Start with
 * raised().
 *
 *   a room --- event_raise() ---> raised() ---> the callbacks of each registration of that kind
 *
 * Callbacks run where the event happens, inside a call of MPI: so the first of the levels
 * MPI_RESTRICTED, THREAD_SAFE and ASYNC_SIGNAL_SAFE that has a function is called, and one of level
 * NONE, which may call MPI, is not. In a thread of the library one of MPI_RESTRICTED is not called
 * either. What happens while a callback runs is dropped and counted. */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

#include "api/api_types.h"
#include "api/tool/tool.h"
#include "base/event.h"
#include "base/sched.h"
#include "obj/attr.h"
#include "progress/progress.h"

enum { ELEMENTS = 3, SAFETIES = 4 };

static const struct event_kind {
    const char *name, *text;
    int of_window;
} kinds[EVENT_COUNT] = {
    [EVENT_LOCK_GRANTED] = {"rma_lock_granted",
                            "A lock that this process waited for, or asked another process for, is "
                            "granted. Elements: window, rank of the lock in MPI_COMM_WORLD, 0.", 1},
    [EVENT_POOL_EMPTY] = {"rma_pool_empty",
                          "A pool of a window has no element left. Elements: window, -1, 0 for "
                          "operations and 1 for targets.", 1},
    [EVENT_EVICTED] = {"rma_evicted",
                       "The record of a target was given up inside an epoch. Elements: window, "
                       "rank in MPI_COMM_WORLD, 0.", 1},
    [EVENT_LOCKS_SWITCHED] = {"rma_locks_switched",
                              "MPI_Win_lock_all gave up locks on demand, and locked all processes. "
                              "Elements: window, -1, members.", 1},
    [EVENT_PEER_FAILED] = {"am_peer_failed",
                           "A process has failed. Elements: 0, its rank in MPI_COMM_WORLD, failed "
                           "processes so far.", 0},
    [EVENT_NETWORK_CHOSEN] = {"am_network_switched",
                              "A network was closed for another one. Elements: 0, -1, 0 for a "
                              "better one, 1 for that of rank 0.", 0},
};

struct event_callback {
    MPI_T_event_cb_function *fn;
    void *user;
};

struct MPIR_T_event_registration_s {
    struct list link;
    int index, window; /* window: handle of the one it is bound to; 0: of all */
    struct event_callback callback[SAFETIES];
    MPI_T_event_dropped_cb_function *on_dropped;
    MPI_Count dropped;
};

struct MPIR_T_event_instance_s {
    int index, element[ELEMENTS];
    uint64_t at; /* ns */
};

int tool_event_count(void)
{
    return EVENT_COUNT;
}

const char *tool_event_name(int index)
{
    return kinds[index].name;
}

/* --- raising -------------------------------------------------------------------------------- */

static void tell_dropped(struct MPIR_T_event_registration_s *r, int level)
{
    MPI_Count n = r->dropped;
    if (!n || !r->on_dropped)
        return;
    r->dropped = 0;
    r->on_dropped(n, r, 0, (MPI_T_cb_safety)level, r->callback[level].user);
}

static void deliver(struct MPIR_T_event_registration_s *r, struct MPIR_T_event_instance_s *e)
{
    /* The program's own thread may be in the same function now. */
    const int least = progress_is_helper() ? MPI_T_CB_REQUIRE_THREAD_SAFE
                                           : MPI_T_CB_REQUIRE_MPI_RESTRICTED;
    int level = least, wanted = 0;
    while (level < SAFETIES && !r->callback[level].fn)
        level++;
    if (level == SAFETIES) {
        while (--level >= MPI_T_CB_REQUIRE_NONE)
            wanted |= r->callback[level].fn != NULL;
        r->dropped += wanted;
        return;
    }
    tell_dropped(r, level);
    r->callback[level].fn(e, r, (MPI_T_cb_safety)level, r->callback[level].user);
}

static void raised(enum event_id id, int window, int peer, int value)
{
    struct tool *t = proc->tool;
    struct MPIR_T_event_instance_s e = {id, {window, peer, value}, time_now()};
    int nested = t->delivering;
    t->delivering = 1;
    for (struct list *l = t->events.next, *next; l != &t->events; l = next) {
        struct MPIR_T_event_registration_s *r =
            LIST_OBJ(l, struct MPIR_T_event_registration_s, link);
        next = l->next;
        if (r->index != (int)id || (r->window && r->window != window))
            continue;
        if (nested)
            r->dropped++;
        else
            deliver(r, &e);
    }
    t->delivering = nested;
}

void tool_events_end(struct tool *t)
{
    for (struct list *p; (p = list_pop(&t->events));)
        free(LIST_OBJ(p, struct MPIR_T_event_registration_s, link));
}

/* --- kinds ---------------------------------------------------------------------------------- */

int PMPI_T_event_get_num(int *num)
{
    int err = tool_enter();
    if (err)
        return err;
    tool_give(num, EVENT_COUNT);
    return tool_exit(num ? MPI_SUCCESS : MPI_T_ERR_INVALID);
}
API_ALIAS(MPI_T_event_get_num);

static int no_info(MPI_Info *info)
{
    if (info && !proc_runs())
        *info = MPI_INFO_NULL;
    return info && proc_runs() ? api_info_publish(NULL, info) : MPI_SUCCESS;
}

static void give_layout(MPI_Datatype types[], MPI_Aint displacements[], int *nelements)
{
    int room = nelements ? *nelements : 0;
    for (int i = 0; i < ELEMENTS && i < room; i++) {
        if (types)
            types[i] = MPI_INT;
        if (displacements)
            displacements[i] = (MPI_Aint)(i * (int)sizeof(int));
    }
    tool_give(nelements, ELEMENTS);
}

int PMPI_T_event_get_info(int index, char *name, int *name_len, int *verbosity,
                          MPI_Datatype types[], MPI_Aint displacements[], int *nelements,
                          MPI_T_enum *enumtype, MPI_Info *info, char *desc, int *desc_len,
                          int *bind)
{
    int err = tool_enter();
    if (err)
        return err;
    if (index < 0 || index >= EVENT_COUNT)
        return tool_exit(MPI_T_ERR_INVALID_INDEX);
    if (no_info(info))
        return tool_exit(MPI_T_ERR_MEMORY);
    tool_give_text(kinds[index].name, name, name_len);
    tool_give_text(kinds[index].text, desc, desc_len);
    tool_give(verbosity, MPI_T_VERBOSITY_TUNER_BASIC);
    give_layout(types, displacements, nelements);
    if (enumtype)
        *enumtype = MPI_T_ENUM_NULL;
    tool_give(bind, kinds[index].of_window ? MPI_T_BIND_MPI_WIN : MPI_T_BIND_NO_OBJECT);
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_event_get_info);

int PMPI_T_event_get_index(const char *name, int *index)
{
    int err = tool_enter();
    if (err)
        return err;
    if (!name || !index)
        return tool_exit(MPI_T_ERR_INVALID);
    for (int i = 0; i < EVENT_COUNT; i++)
        if (!strcmp(kinds[i].name, name)) {
            *index = i;
            return tool_exit(MPI_SUCCESS);
        }
    return tool_exit(MPI_T_ERR_INVALID_NAME);
}
API_ALIAS(MPI_T_event_get_index);

/* --- registrations -------------------------------------------------------------------------- */

/* Locked, and the registration exists; or the error. */
static int enter(MPI_T_event_registration r)
{
    int err = tool_enter();
    if (err)
        return err;
    return r && tool_on_list(&proc->tool->events, &r->link)
               ? MPI_SUCCESS
               : tool_exit(MPI_T_ERR_INVALID_HANDLE);
}

static int enter_level(MPI_T_event_registration r, MPI_T_cb_safety safety)
{
    int err = enter(r);
    if (!err && (unsigned)safety >= SAFETIES)
        err = tool_exit(MPI_T_ERR_INVALID);
    return err;
}

int PMPI_T_event_handle_alloc(int index, void *object, MPI_Info info,
                              MPI_T_event_registration *registration)
{
    int err = tool_enter();
    (void)info;
    if (err)
        return err;
    if (index < 0 || index >= EVENT_COUNT)
        return tool_exit(MPI_T_ERR_INVALID_INDEX);
    const MPI_Win *win = kinds[index].of_window ? object : NULL;
    if (!registration || (win && proc_runs() && !obj_find(OBJ_WIN, *win)))
        return tool_exit(registration ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_INVALID);
    struct MPIR_T_event_registration_s *r = calloc(1, sizeof *r);
    if (!r)
        return tool_exit(MPI_T_ERR_MEMORY);
    r->index = index;
    r->window = win ? *win : 0;
    list_push(&proc->tool->events, &r->link);
    proc->tool->sink.raised = raised;
    *registration = r;
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_event_handle_alloc);

int PMPI_T_event_handle_free(MPI_T_event_registration registration, void *user_data,
                             MPI_T_event_free_cb_function fn)
{
    int err = enter(registration);
    if (err)
        return err;
    /* The list is walked: a callback may not free what is being called. */
    if (proc->tool->delivering)
        return tool_exit(MPI_T_ERR_CANNOT_INIT);
    list_del(&registration->link);
    if (list_empty(&proc->tool->events))
        proc->tool->sink.raised = NULL;
    tool_exit(MPI_SUCCESS);
    if (fn)
        fn(registration, MPI_T_CB_REQUIRE_NONE, user_data);
    free(registration);
    return MPI_SUCCESS;
}
API_ALIAS(MPI_T_event_handle_free);

int PMPI_T_event_handle_get_info(MPI_T_event_registration registration, MPI_Info *info)
{
    int err = enter(registration);
    return err ? err : tool_exit(no_info(info) ? MPI_T_ERR_MEMORY : MPI_SUCCESS);
}
API_ALIAS(MPI_T_event_handle_get_info);

int PMPI_T_event_handle_set_info(MPI_T_event_registration registration, MPI_Info info)
{
    int err = enter(registration);
    (void)info; /* no key is known */
    return err ? err : tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_event_handle_set_info);

int PMPI_T_event_register_callback(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                                   MPI_Info info, void *user_data, MPI_T_event_cb_function fn)
{
    int err = enter_level(registration, safety);
    (void)info;
    if (err)
        return err;
    registration->callback[safety] = (struct event_callback){fn, user_data};
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_event_register_callback);

int PMPI_T_event_callback_get_info(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                                   MPI_Info *info)
{
    int err = enter_level(registration, safety);
    return err ? err : tool_exit(no_info(info) ? MPI_T_ERR_MEMORY : MPI_SUCCESS);
}
API_ALIAS(MPI_T_event_callback_get_info);

int PMPI_T_event_callback_set_info(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                                   MPI_Info info)
{
    int err = enter_level(registration, safety);
    (void)info;
    return err ? err : tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_event_callback_set_info);

int PMPI_T_event_set_dropped_handler(MPI_T_event_registration registration,
                                     MPI_T_event_dropped_cb_function fn)
{
    int err = enter(registration);
    if (err)
        return err;
    registration->on_dropped = fn;
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_event_set_dropped_handler);

/* --- instances: in a callback only ---------------------------------------------------------- */

int PMPI_T_event_read(MPI_T_event_instance event, int element, void *buffer)
{
    int err = tool_enter();
    if (err)
        return err;
    if (!event || !buffer)
        return tool_exit(event ? MPI_T_ERR_INVALID : MPI_T_ERR_INVALID_HANDLE);
    if (element < 0 || element >= ELEMENTS)
        return tool_exit(MPI_T_ERR_INVALID_INDEX);
    memcpy(buffer, &event->element[element], sizeof(int));
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_event_read);

int PMPI_T_event_copy(MPI_T_event_instance event, void *buffer)
{
    int err = tool_enter();
    if (err)
        return err;
    if (!event || !buffer)
        return tool_exit(event ? MPI_T_ERR_INVALID : MPI_T_ERR_INVALID_HANDLE);
    memcpy(buffer, event->element, sizeof event->element);
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_event_copy);

int PMPI_T_event_get_timestamp(MPI_T_event_instance event, MPI_Count *timestamp)
{
    int err = tool_enter();
    if (err)
        return err;
    if (!event || !timestamp)
        return tool_exit(event ? MPI_T_ERR_INVALID : MPI_T_ERR_INVALID_HANDLE);
    *timestamp = (MPI_Count)event->at;
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_event_get_timestamp);

int PMPI_T_event_get_source(MPI_T_event_instance event, int *source)
{
    int err = tool_enter();
    if (err)
        return err;
    tool_give(source, 0);
    return tool_exit(!event ? MPI_T_ERR_INVALID_HANDLE
                            : source ? MPI_SUCCESS : MPI_T_ERR_INVALID);
}
API_ALIAS(MPI_T_event_get_source);

/* --- the source ----------------------------------------------------------------------------- */

int PMPI_T_source_get_num(int *num)
{
    int err = tool_enter();
    if (err)
        return err;
    tool_give(num, 1);
    return tool_exit(num ? MPI_SUCCESS : MPI_T_ERR_INVALID);
}
API_ALIAS(MPI_T_source_get_num);

int PMPI_T_source_get_info(int index, char *name, int *name_len, char *desc, int *desc_len,
                           MPI_T_source_order *ordering, MPI_Count *ticks, MPI_Count *max_ticks,
                           MPI_Info *info)
{
    int err = tool_enter();
    if (err)
        return err;
    if (index != 0)
        return tool_exit(MPI_T_ERR_INVALID_INDEX);
    if (no_info(info))
        return tool_exit(MPI_T_ERR_MEMORY);
    tool_give_text("process", name, name_len);
    tool_give_text("This process; its clock is that of the host.", desc, desc_len);
    if (ordering)
        *ordering = MPI_T_SOURCE_ORDERED;
    if (ticks)
        *ticks = 1000000000;
    if (max_ticks)
        *max_ticks = INT64_MAX;
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_source_get_info);

int PMPI_T_source_get_timestamp(int index, MPI_Count *timestamp)
{
    int err = tool_enter();
    if (err)
        return err;
    if (index != 0 || !timestamp)
        return tool_exit(index ? MPI_T_ERR_INVALID_INDEX : MPI_T_ERR_INVALID);
    *timestamp = (MPI_Count)time_now();
    return tool_exit(MPI_SUCCESS);
}
API_ALIAS(MPI_T_source_get_timestamp);

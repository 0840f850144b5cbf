/* session.c - sessions (MPI-4 11.3): a second way to start the library, any number of times. Start
 * with PMPI_Session_init().
 *
 * The first session starts it if MPI_Init has not. From then on it runs until the process ends (an
 * exit handler stops it). So sessions may begin and end in any order with MPI_Init and
 * MPI_Finalize. Process sets are mpi://WORLD and mpi://SELF. Communicators from groups have
 * MPI_COMM_WORLD's members as their parents. */
#include "api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/api_types.h"
#include "api/env/hardware.h"
#include "api/env/init.h"
#include "api/p2p/buffercall.h"
#include "boot/boot.h"
#include "coll/coll.h"
#include "coll/newcomm.h"
#include "obj/attr.h"
#include "obj/err.h"
#include "obj/errhandler.h"

struct session {
    struct obj obj;
    struct errhandler *errhandler;
    struct session_share *share;
    int thread_level;
};

static const char *const psets[] = {"mpi://WORLD", "mpi://SELF"};
enum { PSET_WORLD, PSET_SELF, PSETS };

static const char *const levels[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED",
                                     "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};

static int running(void)
{
    return proc_runs();
}

/* At exit: sessions were used, so the library is still running, and a thread of it may be. */
static void end_with_process(void)
{
    if (!running() || proc->api->world == WORLD_OPEN || proc->api->sessions)
        return;
    int threaded = proc->threaded;
    if (threaded)
        lock_acquire(&proc->lock);
    api_stop();
    if (threaded)
        lock_release(&proc->lock);
}

/* The library runs until the process ends. */
static void stay(void)
{
    if (proc->sessions_used)
        return;
    proc->sessions_used = 1;
    atexit(end_with_process);
}

/* --- errors ---------------------------------------------------------------------------- */

/* Leave with the handler e, and give up a reference to it. */
static int leave_by(struct errhandler *e, int *handle, const char *what, int err, const char *call)
{
    api_unlock();
    err = errhandler_run(e, handle, what, err, call);
    api_errhandler_drop(e);
    return err;
}

/* Leave with the session's handler; NULL: that of MPI_COMM_WORLD. */
static int leave(struct session *s, int err, const char *call)
{
    if (!err || !s) {
        api_unlock();
        return err ? api_fail_comm(MPI_COMM_NULL, err, call) : MPI_SUCCESS;
    }
    struct errhandler *e = errhandler_ref(s->errhandler);
    char where[64];
    int handle = s->obj.handle;
    snprintf(where, sizeof where, "session %#x", (unsigned)handle);
    return leave_by(e, &handle, where, err, call);
}

/* Leave a call that was given a handler for what it makes: errors go to it. It has one reference;
 * NULL: none was, that is valid. There is no object yet; none: its null handle. */
static int leave_given(struct errhandler *e, int none, const char *what, int err, const char *call)
{
    if (!err || !e) {
        errhandler_drop(e);
        return api_exit(MPI_COMM_NULL, err);
    }
    err_name(err, call);
    return leave_by(e, &none, what, err, call);
}

static int session_arg(MPI_Session h, struct session **s)
{
    *s = obj_find(OBJ_SESSION, h);
    if (*s)
        return MPI_SUCCESS;
    return err_make(MPI_ERR_SESSION, h == MPI_SESSION_NULL ? "%s: session is MPI_SESSION_NULL"
                                                           : "%s: session %#x does not exist",
                    proc->call, (unsigned)h);
}

/* --- life --------------------------------------------------------------------------------- */

/* Level named by the info key "thread_level"; what the library gives otherwise. */
static int wanted_level(const struct info *info)
{
    const char *v = info_value(info, "thread_level");
    for (int l = MPI_THREAD_SINGLE; v && l <= MPI_THREAD_MULTIPLE; l++)
        if (!strcmp(v, levels[l]))
            return l;
    return MPI_THREAD_MULTIPLE;
}

static int session_make(MPI_Info info, struct errhandler *e, MPI_Session *out)
{
    const struct info *i = obj_find(OBJ_INFO, info);
    struct session *s = calloc(1, sizeof *s);
    struct session_share *b = calloc(1, sizeof *b);
    if (!s || !b || obj_add(OBJ_SESSION, &s->obj)) {
        free(s);
        free(b);
        return err_make(MPI_ERR_NO_MEM, "MPI_Session_init: no memory for a session");
    }
    s->errhandler = errhandler_ref(e);
    s->share = session_share_ref(b);
    b->kinds = memory_kinds(i);
    s->thread_level = wanted_level(i);
    proc->api->sessions++;
    stay();
    *out = s->obj.handle;
    return MPI_SUCCESS;
}

int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    /* This process has left the launcher already. There are no objects, but this handle counts. */
    if (atomic_load_explicit(&proc->phase, memory_order_relaxed) == PROC_FINALIZED)
        return errhandler == MPI_ERRORS_RETURN
                   ? MPI_ERR_OTHER
                   : api_fail_outside(MPI_ERR_OTHER, "MPI_Session_init");
    lock_acquire(&proc->lock); /* several threads may call it first */
    if (!running()) {
        api_start(MPI_THREAD_MULTIPLE, NULL, NULL);
        stay(); /* whether or not there will be a session */
    }
    proc->call = "MPI_Session_init";
    struct errhandler *e;
    int err = api_errhandler(errhandler, OBJ_SESSION, &e);
    e = err ? NULL : errhandler_ref(e);
    if (!err)
        err = api_pointer(session, "session");
    if (!err)
        err = session_make(info, e, session);
    /* From now on there may be more threads than MPI_Init was asked for. */
    proc->threaded = 1;
    proc->helped = 0;
    proc->thread_level = MPI_THREAD_MULTIPLE;
    return leave_given(e, MPI_SESSION_NULL, "a session that was to be made", err,
                       "MPI_Session_init");
}
API_ALIAS(MPI_Session_init);

int PMPI_Session_finalize(MPI_Session *session)
{
    api_enter("MPI_Session_finalize");
    struct session *s = NULL;
    int err = api_pointer(session, "session");
    if (!err)
        err = session_arg(*session, &s);
    if (!err) {
        p2p_buffer_discard(&s->share->buffer);
        session_share_drop(s->share);
        obj_del(OBJ_SESSION, &s->obj);
        errhandler_drop(s->errhandler);
        free(s);
        proc->api->sessions--;
        *session = MPI_SESSION_NULL;
    }
    return leave(NULL, err, "MPI_Session_finalize");
}
API_ALIAS(MPI_Session_finalize);

int PMPI_Session_get_info(MPI_Session session, MPI_Info *info)
{
    api_enter("MPI_Session_get_info");
    struct session *s;
    int err = session_arg(session, &s);
    if (!err)
        err = api_pointer(info, "info_used");
    struct info *i = err ? NULL : info_make();
    if (!err && (!i || info_put(i, "thread_level", levels[s->thread_level]) ||
                 memory_kinds_put(i, s->share)))
        err = err_make(MPI_ERR_NO_MEM, "MPI_Session_get_info: no memory for the info object");
    if (!err)
        err = api_info_publish(i, info);
    info_drop(i);
    return leave(s, err, "MPI_Session_get_info");
}
API_ALIAS(MPI_Session_get_info);

/* --- process sets ---------------------------------------------------------------------------- */

int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int *npsets)
{
    (void)info;
    api_enter("MPI_Session_get_num_psets");
    struct session *s;
    int err = session_arg(session, &s);
    if (!err)
        err = api_pointer(npsets, "npset_names");
    if (!err)
        *npsets = PSETS;
    return leave(s, err, "MPI_Session_get_num_psets");
}
API_ALIAS(MPI_Session_get_num_psets);

int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *len, char *name)
{
    (void)info;
    api_enter("MPI_Session_get_nth_pset");
    struct session *s;
    int err = session_arg(session, &s);
    if (!err)
        err = api_pointer(len, "pset_len");
    if (!err && (n < 0 || n >= PSETS))
        err = err_make(MPI_ERR_ARG, "MPI_Session_get_nth_pset: n is %d, there are %d process sets",
                       n, PSETS);
    if (!err) {
        if (*len > 0 && name)
            snprintf(name, (size_t)*len, "%s", psets[n]);
        else
            *len = (int)strlen(psets[n]) + 1;
    }
    return leave(s, err, "MPI_Session_get_nth_pset");
}
API_ALIAS(MPI_Session_get_nth_pset);

static int pset_arg(const char *name, int *pset)
{
    int err = api_pointer(name, "pset_name");
    if (err)
        return err;
    for (*pset = 0; *pset < PSETS; ++*pset)
        if (!strcasecmp(name, psets[*pset]))
            return MPI_SUCCESS;
    return err_make(MPI_ERR_ARG, "%s: there is no process set \"%s\"", proc->call, name);
}

int PMPI_Session_get_pset_info(MPI_Session session, const char *name, MPI_Info *info)
{
    api_enter("MPI_Session_get_pset_info");
    struct session *s;
    char text[16];
    int pset, err = session_arg(session, &s);
    if (!err)
        err = pset_arg(name, &pset);
    if (!err)
        err = api_pointer(info, "info");
    struct info *i = err ? NULL : info_make();
    if (!err) {
        snprintf(text, sizeof text, "%d", pset == PSET_SELF ? 1 : proc->obj->world->size);
        if (!i || info_put(i, "mpi_size", text))
            err = err_make(MPI_ERR_NO_MEM,
                           "MPI_Session_get_pset_info: no memory for the info object");
    }
    if (!err)
        err = api_info_publish(i, info);
    info_drop(i);
    return leave(s, err, "MPI_Session_get_pset_info");
}
API_ALIAS(MPI_Session_get_pset_info);

int PMPI_Group_from_session_pset(MPI_Session session, const char *name, MPI_Group *newgroup)
{
    api_enter("MPI_Group_from_session_pset");
    struct session *s;
    int pset, err = session_arg(session, &s);
    if (!err)
        err = pset_arg(name, &pset);
    if (!err)
        err = api_pointer(newgroup, "newgroup");
    if (!err)
        err = api_group_publish(pset == PSET_SELF ? proc->obj->self->map : proc->obj->world->map,
                                s->share, newgroup);
    return leave(s, err, "MPI_Group_from_session_pset");
}
API_ALIAS(MPI_Group_from_session_pset);

/* --- communicators from groups ---------------------------------------------------------------- */

static int leave_comm(struct errhandler *e, int err, const char *call)
{
    return leave_given(e, MPI_COMM_NULL, "a communicator that was to be made", err, call);
}

static int text_arg(const char *text)
{
    int err = api_pointer(text, "stringtag");
    if (!err && strnlen(text, COLL_TEXT_MAX) == COLL_TEXT_MAX)
        err = err_make(MPI_ERR_ARG, "%s: stringtag has %d characters or more", proc->call,
                       COLL_TEXT_MAX);
    return err;
}

/* *e: with a reference, where the handler is valid, whatever else is not. */
static int from_group_args(MPI_Group group, const char *stringtag, MPI_Info info,
                           MPI_Errhandler errhandler, struct group **out, struct errhandler **e)
{
    struct group *g = NULL;
    struct info *i;
    int err = api_errhandler(errhandler, OBJ_COMM, e);
    *e = err ? NULL : errhandler_ref(*e);
    if (!err)
        err = api_group(group, &g);
    *out = g;
    if (!err)
        err = text_arg(stringtag);
    if (!err)
        err = api_info(info, &i);
    if (!err && g->map->size && g->rank == MPI_UNDEFINED)
        err = err_make(MPI_ERR_GROUP, "%s: this process is not in the group", proc->call);
    if (!err && newcomm_mixed(g->map, g->map))
        err = err_make(MPI_ERR_GROUP, "%s: a process of the group is of another job", proc->call);
    return err;
}

static int from_group(const struct group *g, const char *stringtag, int is_local,
                      struct errhandler *e, struct comm **out)
{
    int err = newcomm_from_group(g->map, stringtag, is_local, out);
    if (!err && *out) {
        comm_set_errhandler(*out, e);
        (*out)->session = session_share_ref(g->session);
    }
    return err;
}

int PMPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info,
                                MPI_Errhandler errhandler, MPI_Comm *newcomm)
{
    api_enter("MPI_Comm_create_from_group");
    struct comm *n = NULL;
    struct errhandler *e;
    struct group *g;
    int err = from_group_args(group, stringtag, info, errhandler, &g, &e);
    if (!err)
        err = api_pointer(newcomm, "newcomm");
    if (!err)
        err = from_group(g, stringtag, 0, e, &n);
    if (newcomm)
        *newcomm = n ? n->obj.handle : MPI_COMM_NULL;
    return leave_comm(e, err, "MPI_Comm_create_from_group");
}
API_ALIAS(MPI_Comm_create_from_group);

static int in_world(const struct group *g, int rank)
{
    return rankmap_find(proc->obj->world->map, rankmap_world(g->map, rank));
}

/* leader: in its group; in MPI_COMM_WORLD: *world */
static int remote_args(MPI_Group group, int leader, struct group **out, int *world)
{
    int err = api_group(group, out);
    if (!err)
        err = api_rank(leader, (*out)->map->size, 0);
    if (!err && (*world = in_world(*out, leader)) < 0)
        err = err_make(MPI_ERR_GROUP, "%s: the remote leader is a process of another job",
                       proc->call);
    return err;
}

int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
                                      MPI_Group remote_group, int remote_leader,
                                      const char *stringtag, MPI_Info info,
                                      MPI_Errhandler errhandler, MPI_Comm *newintercomm)
{
    api_enter("MPI_Intercomm_create_from_groups");
    struct comm *local = NULL, *n = NULL;
    struct group *remote = NULL, *g;
    struct errhandler *e;
    int there = -1, err = from_group_args(local_group, stringtag, info, errhandler, &g, &e);
    if (!err)
        err = remote_args(remote_group, remote_leader, &remote, &there);
    if (!err)
        err = api_pointer(newintercomm, "newintercomm");
    if (!err && g->map->size)
        err = api_rank(local_leader, g->map->size, 0);
    if (!err && (err = from_group(g, stringtag, 1, e, &local)) != MPI_SUCCESS &&
        g->rank == local_leader) {
        /* The other group's leader waits for this process, even if its own group has failed. */
        struct coll_leaders to = {proc->obj->world, there, 0, stringtag};
        coll_intercomm_refuse(&to, err);
    }
    if (!err && local)
        err = newcomm_inter_text(local, local_leader, there, stringtag, &n);
    comm_drop(local);
    if (n)
        comm_set_errhandler(n, e);
    if (newintercomm)
        *newintercomm = n ? n->obj.handle : MPI_COMM_NULL;
    return leave_comm(e, err, "MPI_Intercomm_create_from_groups");
}
API_ALIAS(MPI_Intercomm_create_from_groups);

/* --- error handlers --------------------------------------------------------------------------- */

int PMPI_Session_create_errhandler(MPI_Session_errhandler_function *fn, MPI_Errhandler *errhandler)
{
    /* Allowed before the first session: it is an argument of MPI_Session_init. */
    lock_acquire(&proc->lock);
    if (!running())
        api_start(MPI_THREAD_MULTIPLE, NULL, NULL);
    proc->threaded = 1;
    proc->helped = 0;
    stay();
    lock_release(&proc->lock);
    return api_errhandler_create("MPI_Session_create_errhandler", OBJ_SESSION, (void *)fn,
                                 errhandler);
}
API_ALIAS(MPI_Session_create_errhandler);

int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler)
{
    api_enter("MPI_Session_set_errhandler");
    struct session *s;
    struct errhandler *e;
    int err = session_arg(session, &s);
    if (!err)
        err = api_errhandler(errhandler, OBJ_SESSION, &e);
    if (!err) {
        errhandler_ref(e);
        errhandler_drop(s->errhandler);
        s->errhandler = e;
    }
    return leave(s, err, "MPI_Session_set_errhandler");
}
API_ALIAS(MPI_Session_set_errhandler);

int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler *errhandler)
{
    api_enter("MPI_Session_get_errhandler");
    struct session *s;
    int err = session_arg(session, &s);
    if (!err)
        err = api_errhandler_get(s->errhandler, errhandler);
    return leave(s, err, "MPI_Session_get_errhandler");
}
API_ALIAS(MPI_Session_get_errhandler);

int PMPI_Session_call_errhandler(MPI_Session session, int errorcode)
{
    api_enter("MPI_Session_call_errhandler");
    struct session *s;
    int err = session_arg(session, &s);
    if (!err && !err_valid(errorcode))
        err = err_make(MPI_ERR_ARG, "MPI_Session_call_errhandler: %d is no error code", errorcode);
    if (err)
        return leave(s, err, "MPI_Session_call_errhandler");
    leave(s, errorcode, "MPI_Session_call_errhandler");
    return MPI_SUCCESS;
}
API_ALIAS(MPI_Session_call_errhandler);

/* --- buffers of buffered sends ---------------------------------------------------------------- */

int PMPI_Session_attach_buffer(MPI_Session session, void *buffer, int size)
{
    api_enter("MPI_Session_attach_buffer");
    struct session *s;
    int err = session_arg(session, &s);
    if (!err)
        err = buffer_attach(&s->share->buffer, buffer, size);
    return leave(s, err, "MPI_Session_attach_buffer");
}
API_ALIAS(MPI_Session_attach_buffer);

int PMPI_Session_attach_buffer_c(MPI_Session session, void *buffer, MPI_Count size)
{
    api_enter("MPI_Session_attach_buffer_c");
    struct session *s;
    int err = session_arg(session, &s);
    if (!err)
        err = buffer_attach(&s->share->buffer, buffer, size);
    return leave(s, err, "MPI_Session_attach_buffer_c");
}
API_ALIAS(MPI_Session_attach_buffer_c);

int PMPI_Session_detach_buffer(MPI_Session session, void *buffer_addr, int *size)
{
    api_enter("MPI_Session_detach_buffer");
    struct session *s;
    int err = session_arg(session, &s);
    if (!err)
        err = buffer_detach_int(&s->share->buffer, buffer_addr, size);
    return leave(s, err, "MPI_Session_detach_buffer");
}
API_ALIAS(MPI_Session_detach_buffer);

int PMPI_Session_detach_buffer_c(MPI_Session session, void *buffer_addr, MPI_Count *size)
{
    api_enter("MPI_Session_detach_buffer_c");
    struct session *s;
    int err = session_arg(session, &s);
    if (!err)
        err = buffer_detach(&s->share->buffer, buffer_addr, size);
    return leave(s, err, "MPI_Session_detach_buffer_c");
}
API_ALIAS(MPI_Session_detach_buffer_c);

int PMPI_Session_flush_buffer(MPI_Session session)
{
    api_enter("MPI_Session_flush_buffer");
    struct session *s;
    int err = session_arg(session, &s);
    if (!err)
        err = p2p_buffer_flush(&s->share->buffer);
    return leave(s, err, "MPI_Session_flush_buffer");
}
API_ALIAS(MPI_Session_flush_buffer);

int PMPI_Session_iflush_buffer(MPI_Session session, MPI_Request *request)
{
    api_enter("MPI_Session_iflush_buffer");
    struct session *s;
    int err = session_arg(session, &s);
    if (!err)
        err = buffer_iflush(&s->share->buffer, request);
    if (err && request)
        *request = MPI_REQUEST_NULL;
    return leave(s, err, "MPI_Session_iflush_buffer");
}
API_ALIAS(MPI_Session_iflush_buffer);

/* pmix.c - job services by PMIx: Open MPI's mpirun, PRRTE's prterun, srun --mpi=pmix. Start with
 * pmix_init() and pmix_get().
 *
 * libpmix is opened by name, and only if the environment shows that the launcher speaks PMIx. A
 * program under any other launcher never loads it. The library has a thread of its own, which gets
 * no signals of the program.
 *
 * Values are put for all processes and fetched on demand.  A fence carries no values (no
 * PMIX_COLLECT_DATA), so that nothing grows with the job.  Under Slurm it does carry them: the
 * servers of 22.05 fetch a far process's second put wrongly or never (doc/design/hosts.md).  A get
 * must name the rank that put the value: by the rule of boot.h it is the first part of the key that
 * is a number.  Waits sleep in poll(2) on a descriptor that the library's thread writes.  A server
 * asks the host that has a value.  If that host is cut off the server never answers, whatever
 * PMIX_TIMEOUT says (Open MPI 4.1).  So gets have their own time limit, and stay under way after
 * it. */
#include "config.h"

#include "boot/pmix_client.h"

#ifdef HAVE_PMIX
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/proc.h"
#include "base/sched.h"
#include "var/var.h"

/* A get under way.  The library's thread writes the result, then `over`. */
struct fetch {
    struct fetch *next;
    struct pmix_client *c;
    pmix_proc_t target;
    char key[PMIX_MAX_KEYLEN + 1];
    pmix_info_t info[2];
    uint64_t since; /* ns */
    int refreshed;  /* asked without the cache: its result is final */
    atomic_int over;
    pmix_status_t how;
    int err;
    size_t len;
    char bytes[BOOT_PIECE_MAX];
};

static struct pmix_client *client(void)
{
    return proc->boot->pmix;
}

/* What a get is given: a time limit, since the host that has the value may be cut off.  Others
 * count that host as failed no earlier (MPIR_CVAR_PEER_TIMEOUT). 1: *info is filled in. */
static size_t timeout(pmix_info_t *info)
{
    if (!cvar.peer_timeout)
        return 0;
    *info = (pmix_info_t){.value = {.type = PMIX_INT}};
    info->value.data.integer = cvar.peer_timeout < INT_MAX ? (int)cvar.peer_timeout : INT_MAX;
    snprintf(info->key, sizeof info->key, "%s", PMIX_TIMEOUT);
    return 1;
}

/* --- life ------------------------------------------------------------------- */

static int load(struct pmix_client *c)
{
    c->so = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!c->so) {
        log_warn(
            "the launcher speaks PMIx, and its library cannot be loaded (Debian: libpmix2): %s",
            dlerror());
        return -ELIBACC;
    }
#define PMIX_CALL(name)                                                       \
    if (!(c->name = (__typeof__(name) *)dlsym(c->so, #name))) {               \
        log_warn("libpmix.so.2 has no function %s: it is too old", #name);    \
        return -ELIBBAD;                                                      \
    }
    PMIX_CALLS(PMIX_CALL)
#undef PMIX_CALL
    return 0;
}

/* A number that the launcher gives for the job (rank: PMIX_RANK_WILDCARD) or for a process. */
static int number(pmix_rank_t rank, const char *key, uint32_t *out)
{
    struct pmix_client *c = client();
    pmix_proc_t target = c->me;
    pmix_value_t *v = NULL;
    target.rank = rank;
    size_t n = timeout(&c->get);
    pmix_status_t s = c->PMIx_Get(&target, key, n ? &c->get : NULL, n, &v);
    if (s != PMIX_SUCCESS || !v)
        return -ENOENT;
    int known = v->type == PMIX_UINT32 || v->type == PMIX_PROC_RANK;
    *out = v->data.uint32;
    free(v);
    return known ? 0 : -EPROTO;
}

static int pmix_init(int *rank, int *size, int *appnum)
{
    uint32_t n = 0, app = 0;
    sigset_t all, old;
    struct pmix_client *c = calloc(1, sizeof *c);
    if (!c)
        return -ENOMEM;
    proc->boot->pmix = c;
    lock_init(&c->lock);
    c->handler = -1;
    c->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    c->got = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    int err = c->fd < 0 || c->got < 0 ? -errno : load(c);
    if (err)
        goto fail;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pmix_status_t s = c->PMIx_Init(&c->me, NULL, 0);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (s != PMIX_SUCCESS) {
        err = pmix_trouble("registering with the launcher", s);
        goto fail;
    }
    if ((err = number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &n)) || n < 1 || n > INT_MAX ||
        c->me.rank >= n) {
        log_warn("PMIx: rank %u of %u is not a valid rank", c->me.rank, n);
        err = -EPROTO;
        goto fail;
    }
    *rank = (int)c->me.rank;
    *size = (int)n;
    *appnum = number(c->me.rank, PMIX_APPNUM, &app) || app > INT_MAX ? -1 : (int)app;
    return 0;
fail:
    if (c->fd >= 0)
        close(c->fd);
    if (c->got >= 0)
        close(c->got);
    proc->boot->pmix = NULL;
    free(c); /* the library stays loaded: it may have threads */
    return err;
}

static int pmix_finalize(void)
{
    struct pmix_client *c = client();
    /* The program may use the library on: its thread must not call died() then. */
    if (c->handler >= 0)
        (void)c->PMIx_Deregister_event_handler((size_t)c->handler, NULL, NULL);
    pmix_status_t s = c->PMIx_Finalize(NULL, 0);
    int err = s == PMIX_SUCCESS ? 0 : pmix_trouble("leaving the launcher", s);
    close(c->fd);
    close(c->got);
    pmix_spawn_free(c); /* the library's thread has ended */
    for (struct fetch *f; (f = c->late) != NULL;) {
        c->late = f->next;
        free(f);
    }
    proc->boot->pmix = NULL;
    free(c);
    return err;
}

static void pmix_abort(int code, const char *why)
{
    if (why)
        log_warn("%s", why);
    client()->PMIx_Abort(code, why ? why : "", NULL, 0);
    _exit(code);
}

static int pmix_job_id(char *text, size_t len)
{
    snprintf(text, len, "%s", client()->me.nspace);
    return 0;
}

/* --- deaths ----------------------------------------------------------------- */

/* Events for a process that ended without leaving the launcher. The last is the name that PMIx had
 * before. */
static const pmix_status_t deaths[] = {
#ifdef PMIX_ERR_PROC_TERM_WO_SYNC /* PMIx 4 */
    PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_PROC_TERM_WO_SYNC, PMIX_ERR_PROC_KILLED_BY_CMD,
#endif
#ifdef PMIX_ERR_PROC_REQUESTED_ABORT /* MPI_Abort, where the launcher lets the others live */
    PMIX_ERR_PROC_REQUESTED_ABORT,
#endif
#ifdef PMIX_ERR_PROC_ABORTED
    PMIX_ERR_PROC_ABORTED,
#endif
};

static const char *reason(pmix_status_t status)
{
#ifdef PMIX_ERR_PROC_TERM_WO_SYNC
    if (status == PMIX_ERR_PROC_TERM_WO_SYNC)
        return "the launcher reported that it ended without MPI_Finalize";
#endif
#ifdef PMIX_ERR_PROC_REQUESTED_ABORT
    if (status == PMIX_ERR_PROC_REQUESTED_ABORT)
        return "the launcher reported that it called MPI_Abort";
#endif
    (void)status;
    return "the launcher reported that it was killed";
}

/* On the library's thread. */
static void died(size_t handler, pmix_status_t status, const pmix_proc_t *source,
                 pmix_info_t info[], size_t n, pmix_info_t *results, size_t nresults,
                 pmix_event_notification_cbfunc_fn_t over, void *arg)
{
    struct boot *b = NULL;
    const pmix_proc_t *p = NULL;
    int failed = 0;
    (void)handler, (void)source, (void)results, (void)nresults;
    for (size_t i = 0; i < n; i++) {
        if (pmix_is_key(&info[i], PMIX_EVENT_AFFECTED_PROC, PMIX_PROC))
            p = info[i].value.data.proc;
        else if (pmix_is_key(&info[i], PMIX_EVENT_RETURN_OBJECT, PMIX_POINTER))
            b = info[i].value.data.ptr;
        else if (pmix_is_key(&info[i], PMIX_JOB_TERM_STATUS, PMIX_STATUS))
            failed = info[i].value.data.status != PMIX_SUCCESS;
    }
    int own = b && p && !strncmp(p->nspace, b->pmix->me.nspace, PMIX_MAX_NSLEN);
    if (b && p && status == PMIX_EVENT_JOB_END)
        pmix_job_ended(b, p, failed);
    else if (own && p->rank < (unsigned)b->size)
        boot_fail_take(b, b->first + (int)p->rank, BOOT_ONE, reason(status));
    else if (b && p && !own)
        pmix_other_died(b, p, reason(status));
    if (over)
        over(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* A launcher that lets the others go on when a process dies may report that by an event (PRRTE:
 * --runtime-options recoverable,notifyerrors).  Others do not know such events: no error. */
static void pmix_hear_deaths(void)
{
    struct pmix_client *c = client();
    pmix_status_t codes[sizeof deaths / sizeof *deaths + 1];
    size_t n = sizeof deaths / sizeof *deaths;
    memcpy(codes, deaths, sizeof deaths);
    if (proc->boot->family) /* of the jobs that were met */
        codes[n++] = PMIX_EVENT_JOB_END;
    pmix_info_t info = {.value = {.type = PMIX_POINTER, .data.ptr = proc->boot}};
    snprintf(info.key, sizeof info.key, "%s", PMIX_EVENT_RETURN_OBJECT);
    c->handler = c->PMIx_Register_event_handler(codes, n, &info, 1, died, NULL, NULL);
}

/* --- values ----------------------------------------------------------------- */

static int pmix_put(const char *key, const void *value, size_t len)
{
    struct pmix_client *c = client();
    char bytes[BOOT_PIECE_MAX];
    memcpy(bytes, value, len);
    pmix_value_t v = {.type = PMIX_BYTE_OBJECT};
    v.data.bo.bytes = bytes; /* copied by the call */
    v.data.bo.size = len;
    pmix_status_t s = c->PMIx_Put(PMIX_GLOBAL, key, &v);
    return s == PMIX_SUCCESS ? 0 : pmix_trouble("giving the launcher our address", s);
}

/* On the library's thread. */
static void fetched(pmix_status_t status, pmix_value_t *v, void *arg)
{
    struct fetch *f = arg;
    uint64_t one = 1;
    int got = f->c->got;
    f->how = status;
    if (status == PMIX_SUCCESS && v) {
        f->err = v->type != PMIX_BYTE_OBJECT         ? -EPROTO
                 : v->data.bo.size > sizeof f->bytes ? -EMSGSIZE
                                                     : 0;
        f->len = f->err ? 0 : v->data.bo.size;
        memcpy(f->bytes, f->len ? v->data.bo.bytes : "", f->len);
    } else {
        f->err = status == PMIX_ERR_TIMEOUT ? -ETIMEDOUT : -ENOENT;
    }
    /* pairs with is_over(); after it f may be freed */
    atomic_store_explicit(&f->over, 1, memory_order_release);
    while (write(got, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

static int is_over(struct fetch *f)
{
    return atomic_load_explicit(&f->over, memory_order_acquire);
}

static struct fetch *fetch_begin(struct pmix_client *c, int rank, const char *key, int refresh)
{
    struct fetch *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->c = c;
    f->target = c->me;
    f->target.rank = (pmix_rank_t)rank;
    f->since = time_now();
    f->refreshed = refresh;
    snprintf(f->key, sizeof f->key, "%s", key);
    size_t n = timeout(&f->info[0]);
#ifdef PMIX_GET_REFRESH_CACHE
    if (refresh) /* a value fetched of this process before may be older than its last put */
        pmix_wish(&f->info[n++], PMIX_GET_REFRESH_CACHE);
#else
    (void)refresh;
#endif
    pmix_status_t s = c->PMIx_Get_nb(&f->target, f->key, n ? f->info : NULL, n, fetched, f);
    if (s != PMIX_SUCCESS) { /* the function is not called */
        f->err = s == PMIX_ERR_TIMEOUT ? -ETIMEDOUT : -ENOENT;
        f->how = s;
        atomic_store_explicit(&f->over, 1, memory_order_relaxed);
    }
    return f;
}

static void fetch_wait(struct fetch *f, uint64_t until) /* ns */
{
    for (uint64_t now, n; !is_over(f) && (now = time_now()) < until;) {
        struct pollfd p = {.fd = f->c->got, .events = POLLIN};
        uint64_t ms = (until - now) / 1000000u + 1;
        poll(&p, 1, ms < 1000 ? (int)ms : 1000);
        ssize_t ignored = read(p.fd, &n, sizeof n);
        (void)ignored;
    }
}

static struct fetch *late_take(struct pmix_client *c, int rank, const char *key)
{
    for (struct fetch **l = &c->late; *l; l = &(*l)->next)
        if ((*l)->target.rank == (pmix_rank_t)rank && !strcmp((*l)->key, key)) {
            struct fetch *f = *l;
            *l = f->next;
            return f;
        }
    return NULL;
}

/* Once MPI runs a get must not keep a process from serving others: wait this long, then leave it
 * under way. */
static const uint64_t MOMENT_NS = 50000000u;

static int pmix_get(const char *key, void *value, size_t *len)
{
    struct pmix_client *c = client();
    int rank = boot_key_rank(key),
        starting = atomic_load_explicit(&proc->phase, memory_order_relaxed) == PROC_NEW;
    if (rank < 0)
        return -EINVAL;
    uint64_t most = (uint64_t)(starting ? cvar.boot_timeout : cvar.peer_timeout) * 1000000000u;
    struct fetch *f = late_take(c, rank, key);
    uint64_t wait = starting ? most : f ? 0 : MOMENT_NS;
    if (!f && !(f = fetch_begin(c, rank, key, 0)))
        return -ENOMEM;
    fetch_wait(f, f->since + wait);
    if (is_over(f) && f->how == PMIX_ERR_NOT_FOUND && !f->refreshed) {
        free(f);
        if (!(f = fetch_begin(c, rank, key, 1)))
            return -ENOMEM;
        fetch_wait(f, f->since + wait);
    }
    if (!is_over(f)) {
        f->next = c->late;
        c->late = f;
        return most && time_now() - f->since >= most ? -ETIMEDOUT : -EINPROGRESS;
    }
    int err = !f->err && f->len > *len ? -EMSGSIZE : f->err;
    if (!err) {
        *len = f->len;
        memcpy(value, f->bytes, f->len);
    }
    free(f);
    return err;
}

/* --- barrier ---------------------------------------------------------------- */

/* On the library's thread. */
static void fence_ended(pmix_status_t status, void *arg)
{
    struct pmix_client *c = arg;
    uint64_t one = 1;
    c->how = status;
    /* First, so that a reader of the flag finds the count to take away.  Left over, it would end
     * the next barrier's wait at once. */
    while (write(c->fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
    atomic_store_explicit(&c->fence, 1, memory_order_release); /* pairs with pmix_barrier_test() */
}

static int pmix_barrier_begin(int *fd)
{
    struct pmix_client *c = client();
    *fd = c->fd;
    atomic_store_explicit(&c->fence, 0, memory_order_relaxed);
    pmix_wish(&c->collect, PMIX_COLLECT_DATA);
    pmix_status_t s = c->PMIx_Commit();
    if (s == PMIX_SUCCESS)
        s = c->PMIx_Fence_nb(NULL, 0, &c->collect, !strncmp(c->me.nspace, "slurm.", 6), fence_ended,
                             c);
    if (s == PMIX_OPERATION_SUCCEEDED) { /* done at once: the function is not called */
        fence_ended(PMIX_SUCCESS, c);
        s = PMIX_SUCCESS;
    }
    return s == PMIX_SUCCESS ? 0 : pmix_trouble("meeting the other processes", s);
}

static int pmix_barrier_test(void)
{
    struct pmix_client *c = client();
    uint64_t n;
    if (!atomic_load_explicit(&c->fence, memory_order_acquire))
        return 0;
    ssize_t ignored = read(c->fd, &n, sizeof n);
    (void)ignored;
    return c->how == PMIX_SUCCESS ? 1 : pmix_trouble("meeting the other processes", c->how);
}

static int pmix_barrier(void)
{
    int fd, done, starting = atomic_load_explicit(&proc->phase, memory_order_relaxed) == PROC_NEW;
    uint64_t end = time_now() + (uint64_t)cvar.boot_timeout * 1000000000u;
    int err = pmix_barrier_begin(&fd);
    if (err)
        return err;
    while ((done = pmix_barrier_test()) == 0) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        poll(&p, 1, 1000);
        if (starting && time_now() > end) {
            log_warn("%lld seconds passed while waiting for all processes of the job to start "
                     "(MPIR_CVAR_BOOT_TIMEOUT)",
                     (long long)cvar.boot_timeout);
            return -ETIMEDOUT;
        }
    }
    return done < 0 ? done : 0;
}

/* --- node map --------------------------------------------------------------- */

/* Host by host, not rank by rank: some servers answer a question about a far process by fetching
 * all that it has put.  They fetch once, perhaps before it has put anything (Slurm 22.05). */
static int pmix_node_numbers(int *node)
{
    struct pmix_client *c = client();
    char *names = NULL, *save = NULL;
    int size = proc->boot->size, known = 0, host = 0;
    pmix_status_t s = c->PMIx_Resolve_nodes(c->me.nspace, &names);
    if (s != PMIX_SUCCESS || !names)
        return -ENOENT;
    for (int i = 0; i < size; i++)
        node[i] = -1;
    for (char *name = strtok_r(names, ",", &save); name;
         name = strtok_r(NULL, ",", &save), host++) {
        pmix_proc_t *peers = NULL;
        size_t n = 0;
        if (c->PMIx_Resolve_peers(name, c->me.nspace, &peers, &n) != PMIX_SUCCESS)
            break;
        for (size_t i = 0; i < n; i++)
            if (peers[i].rank < (unsigned)size && node[peers[i].rank] < 0) {
                node[peers[i].rank] = host;
                known++;
            }
        free(peers);
    }
    free(names);
    return known == size ? 0 : -ENOENT;
}

const struct boot_ops pmix_ops = {
    .name = "pmix",
    .init = pmix_init,
    .put = pmix_put,
    .get = pmix_get,
    .barrier = pmix_barrier,
    .barrier_begin = pmix_barrier_begin,
    .barrier_test = pmix_barrier_test,
    .node_numbers = pmix_node_numbers,
    .job_id = pmix_job_id,
    .hear_deaths = pmix_hear_deaths,
    .spawned = pmix_spawned,
    .spawn_begin = pmix_spawn_begin,
    .spawn_over = pmix_spawn_over,
    .spawn_forget = pmix_spawn_forget,
    .meet_test = pmix_spawn_test,
    .job_met = pmix_job_met,
    .abort = pmix_abort,
    .finalize = pmix_finalize,
    .watched = 1,
};

#else /* without PMIx's headers */
#include <errno.h>

#include "base/log.h"

static int pmix_init(int *rank, int *size, int *appnum)
{
    (void)rank, (void)size, (void)appnum;
    log_warn("the launcher speaks PMIx, and this library was built without it (Debian: "
             "libpmix-dev); use one that speaks PMI-1, as "
             "our mpiexec, mpiexec.hydra or srun --mpi=pmi2");
    return -ENOSYS;
}

const struct boot_ops pmix_ops = {.name = "pmix", .init = pmix_init};
#endif

/* pmix_spawn.c - programs that a PMIx launcher starts for a job, and what becomes of them
 * (doc/design/dynamic.md). Start with pmix_request_make() and pmix_spawn_begin().
 *
 * What the spawned job is given travels in a variable of its environment, with the name of the
 * process that asked.  The launcher confirms that name: a program that a spawned process starts by
 * a launcher of its own inherits the variable, too.
 *
 * The launcher's answer, the end of a spawned job and deaths come on the thread of libpmix. */
#include "config.h"

#include "boot/pmix_client.h"

#ifdef HAVE_PMIX
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/sched.h"
#include "base/vec.h"
#include "var/var.h"

#define SPAWNED_ENV "WINDROSE_SPAWNED"
#define ERRHANDLER_ENV "MPIR_CVAR_INITIAL_ERRHANDLER"

/* A job that this process has asked for.  The client's lock guards it. */
struct pmix_job {
    struct pmix_job *next;
    struct pmix_client *c;
    unsigned number; /* of the meeting */
    int fd; /* timerfd: the answer has come, or its time is over; later: the job has ended */
    int answered, taken, ended, forgotten;
    uint64_t by; /* ns; the launcher answers until then */
    pmix_status_t how;
    char nspace[PMIX_MAX_NSLEN + 1];
    struct pmix_request request;
};

struct pmix_other {
    uint64_t job; /* hash of its namespace */
    int first, number;
};

/* --- what is handed over ---------------------------------------------------------------- */

/* Adds a word to a list that ends with NULL, as libpmix extends it, too.  Takes `word`. */
static int add(char ***list, char *word)
{
    size_t n = 0;
    while (*list && (*list)[n])
        n++;
    char **more = word ? realloc(*list, (n + 2) * sizeof *more) : NULL;
    if (!more) {
        free(word);
        return -ENOMEM;
    }
    more[n] = word;
    more[n + 1] = NULL;
    *list = more;
    return 0;
}

static char *assignment(const char *name, const char *value)
{
    size_t len = strlen(name) + 1 + strlen(value) + 1;
    char *text = malloc(len);
    if (text)
        snprintf(text, len, "%s=%s", name, value);
    return text;
}

static int add_text(pmix_info_t *info, const char *key, const char *text)
{
    *info = (pmix_info_t){.value = {.type = PMIX_STRING, .data.string = strdup(text)}};
    snprintf(info->key, sizeof info->key, "%s", key);
    return info->value.data.string ? 0 : -ENOMEM;
}

extern char **environ;

/* The launcher gives the new job its own environment.  Settings of this library must be the same in
 * all jobs, and the program must find it.  An initial error handler is of one job. */
static int add_settings(char ***env)
{
    static const char *const passed[] = {"MPIR_CVAR_", "LD_LIBRARY_PATH="};
    int err = 0;
    for (char **e = environ; e && *e && !err && !var_privileged(); e++)
        for (size_t i = 0; i < sizeof passed / sizeof *passed && !err; i++)
            if (!strncmp(*e, passed[i], strlen(passed[i])) &&
                strncmp(*e, ERRHANDLER_ENV "=", sizeof ERRHANDLER_ENV))
                err = add(env, strdup(*e));
    return err;
}

static int add_program(pmix_app_t *app, const struct boot_program *p, const char *spawned)
{
    char here[PATH_MAX];
    const char *wdir = p->wdir ? p->wdir : getcwd(here, sizeof here); /* NULL: the launcher's */
    app->maxprocs = p->n;
    app->cmd = strdup(p->command);
    app->cwd = wdir ? strdup(wdir) : NULL;
    int err = !app->cmd || (wdir && !app->cwd) ? -ENOMEM : add(&app->argv, strdup(p->command));
    for (char *const *a = p->argv; a && *a && !err; a++)
        err = add(&app->argv, strdup(*a));
    if (!err)
        err = add(&app->env, assignment(SPAWNED_ENV, spawned));
    if (!err)
        err = add_settings(&app->env);
    if (!err && p->errhandler)
        err = add(&app->env, assignment(ERRHANDLER_ENV, p->errhandler));
    if (err || (!p->host && !p->wdir)) /* info without a number of them is read to an end mark */
        return err;
    if (!(app->info = calloc(2, sizeof *app->info)))
        return -ENOMEM;
    if (p->host)
        err = add_text(&app->info[app->ninfo++], PMIX_HOST, p->host);
    if (p->wdir) /* else a directory that is not there is replaced silently */
        pmix_wish(&app->info[app->ninfo++], PMIX_WDIR_USER_SPECIFIED);
    return err;
}

int pmix_request_make(struct pmix_request *r, const struct boot_program *list, int n,
                      const char *gives, const pmix_proc_t *asks)
{
    char spawned[PMI_VALUE_MAX + PMIX_MAX_NSLEN + 32];
    const char *map_by = NULL;
    snprintf(spawned, sizeof spawned, "%s %u.%s", gives, asks->rank, asks->nspace);
    *r = (struct pmix_request){.apps = calloc((size_t)n, sizeof *r->apps)};
    int err = r->apps ? 0 : -ENOMEM;
    for (int i = 0; i < n && !err; i++) {
        r->napps++;
        err = add_program(&r->apps[i], &list[i], spawned);
        map_by = map_by ? map_by : list[i].map_by; /* one for all: the launcher has no other */
    }
    pmix_wish(&r->infos[r->ninfos++], PMIX_NOTIFY_COMPLETION);
    if (!err) /* standard input is the first job's */
        err = add_text(&r->infos[r->ninfos++], PMIX_STDIN_TGT, "none");
    if (!err && map_by)
        err = add_text(&r->infos[r->ninfos++], PMIX_MAPBY, map_by);
    return err;
}

static void free_infos(pmix_info_t *info, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (info[i].value.type == PMIX_STRING)
            free(info[i].value.data.string);
}

static void free_words(char **list)
{
    for (char **w = list; w && *w; w++)
        free(*w);
    free(list);
}

void pmix_request_free(struct pmix_request *r)
{
    for (size_t i = 0; i < r->napps; i++) {
        pmix_app_t *app = &r->apps[i];
        free_words(app->argv);
        free_words(app->env);
        free_infos(app->info, app->ninfo);
        free(app->info);
        free(app->cmd);
        free(app->cwd);
    }
    free(r->apps);
    free_infos(r->infos, r->ninfos);
    *r = (struct pmix_request){0};
}

/* --- what a spawned job is told ------------------------------------------------------------- */

/* Others report a success and lose a process now and then, or were not tried. */
static int is_reliable(void)
{
    const char *prrte = var_env_get("PRTE_LAUNCHED"), *version = var_env_get("PMIX_VERSION");
    return prrte && !strcmp(prrte, "1") && version && atoi(version) >= 5;
}

/* Whether the launcher says that `id`, "RANK.NAMESPACE", has spawned this job. */
static int is_parent(const char *id)
{
    struct pmix_client *c = proc->boot->pmix;
    char parent[PMIX_MAX_NSLEN + 32] = "";
    pmix_value_t *v = NULL;
    pmix_proc_t job = c->me;
    job.rank = PMIX_RANK_WILDCARD;
    if ((c->PMIx_Get(&job, PMIX_PARENT_ID, NULL, 0, &v) != PMIX_SUCCESS &&
         c->PMIx_Get(&c->me, PMIX_PARENT_ID, NULL, 0, &v) != PMIX_SUCCESS) ||
        !v)
        return 0;
    if (v->type == PMIX_PROC) {
        snprintf(parent, sizeof parent, "%u.%s", v->data.proc->rank, v->data.proc->nspace);
        free(v->data.proc);
    }
    free(v);
    return !strcmp(parent, id);
}

int pmix_spawned(char *text, size_t room)
{
    const char *given = var_env_get(SPAWNED_ENV), *id = given ? strchr(given, ' ') : NULL;
    if (!is_reliable())
        return -ENOTSUP;
    if (!id || !is_parent(id + 1))
        return -ENOENT;
    snprintf(text, room, "%.*s", (int)(id - given), given);
    return 0;
}

/* --- the request ---------------------------------------------------------------------------- */

int pmix_spawn_error(pmix_status_t s)
{
    switch (s) {
    case PMIX_SUCCESS: return 0;
    case PMIX_ERR_JOB_EXE_NOT_FOUND:
    case PMIX_ERR_JOB_NO_EXE_SPECIFIED: return -ENOENT;
    case PMIX_ERR_JOB_WDIR_NOT_FOUND:
    case PMIX_ERR_JOB_WDIR_NOT_ACCESSIBLE: return -ENOTDIR;
    case PMIX_ERR_JOB_FAILED_TO_MAP:
    case PMIX_ERR_JOB_INSUFFICIENT_RESOURCES:
    case PMIX_ERR_JOB_ALLOC_FAILED:
    case PMIX_ERR_OUT_OF_RESOURCE: return -EDQUOT;
    case PMIX_ERR_NOT_SUPPORTED: return -EOPNOTSUPP;
    default: return -EIO;
    }
}

/* The holder of c->lock. */
static struct pmix_job *job_of(const struct pmix_client *c, unsigned number)
{
    struct pmix_job *j = c->jobs;
    while (j && (j->number != number || j->forgotten))
        j = j->next;
    return j;
}

static void job_free(struct pmix_client *c, struct pmix_job *j)
{
    struct pmix_job **at = &c->jobs;
    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
    close(j->fd);
    pmix_request_free(&j->request);
    free(j);
}

/* j->fd is readable in so many ns.  0: not until it is set again. */
static int wake_in(const struct pmix_job *j, uint64_t ns)
{
    struct itimerspec t = {.it_value = {.tv_sec = (time_t)(ns / 1000000000u),
                                        .tv_nsec = (long)(ns % 1000000000u)}};
    return timerfd_settime(j->fd, 0, &t, NULL) ? -errno : 0;
}

static uint64_t name_hash(const char *nspace)
{
    return hash_bytes(HASH_BYTES, nspace, strlen(nspace));
}

/* A report may come before the dead process is met, or before the answer that names its job.  The
 * holder of c->lock. */
static void note_end(struct pmix_client *c, uint64_t job, pmix_rank_t rank, int failed)
{
    c->ends[c->nends++ % ENDS_KEPT] = (struct pmix_end){job, rank, failed};
}

/* 1: the job has ended, or this process of it; failed: by a failure. */
static int has_ended(const struct pmix_client *c, uint64_t job, pmix_rank_t rank, int failed)
{
    for (unsigned i = 0; i < c->nends && i < ENDS_KEPT; i++) {
        const struct pmix_end *e = &c->ends[i];
        if (e->job == job && (e->rank == PMIX_RANK_WILDCARD || e->rank == rank) &&
            (e->failed || !failed))
            return 1;
    }
    return 0;
}

/* On the library's thread. */
static void answered(pmix_status_t status, char nspace[], void *arg)
{
    struct pmix_job *j = arg;
    struct pmix_client *c = j->c;
    lock_acquire(&c->lock);
    j->answered = 1;
    j->how = status;
    snprintf(j->nspace, sizeof j->nspace, "%s", nspace ? nspace : "");
    j->ended = has_ended(c, name_hash(j->nspace), PMIX_RANK_WILDCARD, 0);
    if (j->forgotten)
        job_free(c, j);
    else
        (void)wake_in(j, 1);
    lock_release(&c->lock);
}

int pmix_spawn_begin(struct boot_meeting *m, const struct boot_program *list, int n,
                     const char *gives, int *fd)
{
    struct pmix_client *c = proc->boot->pmix;
    struct pmix_job *j = calloc(1, sizeof *j);
    if (!j)
        return -ENOMEM;
    *j = (struct pmix_job){.c = c, .number = m->number};
    uint64_t most = (uint64_t)cvar.boot_timeout * 1000000000u;
    j->by = time_now() + most;
    j->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    int err = j->fd < 0 ? -errno : wake_in(j, most);
    if (!err)
        err = pmix_request_make(&j->request, list, n, gives, &c->me);
    lock_acquire(&c->lock);
    j->next = c->jobs;
    c->jobs = j;
    lock_release(&c->lock);
    if (!err) {
        struct pmix_request *r = &j->request;
        pmix_status_t s = c->PMIx_Spawn_nb(r->infos, r->ninfos, r->apps, r->napps, answered, j);
        err = s == PMIX_SUCCESS ? 0 : pmix_spawn_error(s);
        if (err == -EIO)
            err = pmix_trouble("asking for programs to be started", s);
    }
    *fd = j->fd;
    if (err) {
        lock_acquire(&c->lock);
        job_free(c, j);
        lock_release(&c->lock);
    }
    return err;
}

int pmix_spawn_test(struct boot_meeting *m)
{
    struct pmix_client *c = proc->boot->pmix;
    lock_acquire(&c->lock);
    struct pmix_job *j = job_of(c, m->number);
    int is_late = j && !j->answered && time_now() >= j->by;
    m->done = !j || j->answered || is_late;
    pmix_status_t how = j ? j->how : PMIX_SUCCESS;
    if (j && j->answered && !j->taken) {
        j->taken = 1;
        if (!j->ended) /* from now on it is the end of the job */
            (void)wake_in(j, 0);
        pmix_request_free(&j->request);
    }
    lock_release(&c->lock);
    if (m->done)
        m->rc = is_late ? -ETIMEDOUT : pmix_spawn_error(how);
    if (m->done && m->rc == -EIO)
        (void)pmix_trouble("starting programs", how);
    return m->done;
}

int pmix_spawn_over(unsigned number, int *fd)
{
    struct pmix_client *c = proc->boot->pmix;
    lock_acquire(&c->lock);
    const struct pmix_job *j = job_of(c, number);
    int ended = j && j->ended;
    if (fd)
        *fd = j ? j->fd : -1;
    lock_release(&c->lock);
    return ended;
}

void pmix_spawn_forget(unsigned number)
{
    struct pmix_client *c = proc->boot->pmix;
    lock_acquire(&c->lock);
    struct pmix_job *j = job_of(c, number);
    if (j && j->answered)
        job_free(c, j);
    else if (j)
        j->forgotten = 1; /* its answer frees it */
    lock_release(&c->lock);
}

void pmix_spawn_free(struct pmix_client *c)
{
    while (c->jobs)
        job_free(c, c->jobs);
    free(c->others);
}

/* --- ends of other jobs --------------------------------------------------------------------- */

int pmix_job_met(const char *job, int first, int number)
{
    struct pmix_client *c = proc->boot->pmix;
    uint64_t hash = name_hash(job);
    lock_acquire(&c->lock);
    int err = VEC_FITS(c->others, c->room, c->nothers + 1, 8) ? 0 : -ENOMEM;
    if (!err)
        c->others[c->nothers++] = (struct pmix_other){hash, first, number};
    if (!err && has_ended(c, hash, (pmix_rank_t)(number - first), 1))
        boot_fail_take(proc->boot, number, BOOT_ONE, "the launcher has reported its failure");
    lock_release(&c->lock);
    return err;
}

void pmix_other_died(struct boot *b, const pmix_proc_t *p, const char *why)
{
    struct pmix_client *c = b->pmix;
    uint64_t job = name_hash(p->nspace);
    lock_acquire(&c->lock);
    note_end(c, job, p->rank, 1);
    for (size_t i = 0; i < c->nothers; i++) {
        const struct pmix_other *o = &c->others[i];
        if (o->job == job && (unsigned)(o->number - o->first) == p->rank)
            boot_fail_take(b, o->number, BOOT_ONE, why);
    }
    lock_release(&c->lock);
}

/* failed: by an error or a death, on which the launcher kills the others of that job. */
void pmix_job_ended(struct boot *b, const pmix_proc_t *p, int failed)
{
    struct pmix_client *c = b->pmix;
    uint64_t job = name_hash(p->nspace);
    lock_acquire(&c->lock);
    note_end(c, job, PMIX_RANK_WILDCARD, failed);
    for (struct pmix_job *j = c->jobs; j; j = j->next)
        if (j->answered && !j->ended && !strncmp(j->nspace, p->nspace, PMIX_MAX_NSLEN)) {
            j->ended = 1;
            (void)wake_in(j, 1);
        }
    for (size_t i = 0; i < c->nothers && failed; i++)
        if (c->others[i].job == job)
            boot_fail_take(b, c->others[i].number, BOOT_ONE,
                           "the launcher reported that its job has failed");
    lock_release(&c->lock);
}
#endif

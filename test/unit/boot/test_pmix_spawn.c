/* test_pmix_spawn.c - boot/pmix_spawn.c with a stand-in for libpmix: what a launcher is handed, its
 * answers, the ends of jobs. */
#include "config.h"

#include "unit.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"
#include "boot/family.h"
#include "boot/pmix_client.h"
#include "var/var.h"

Suite *suite_pmix_spawn(void);

#ifdef HAVE_PMIX
#define PARENTS "windrose-0000000000000001:00"

static struct pmix_client stand_in;
static pmix_proc_t parent;
static int has_parent, began;
static pmix_status_t at_once;

/* The last request, and how to answer it. */
static const pmix_info_t *infos;
static const pmix_app_t *apps;
static size_t ninfos, napps;
static pmix_spawn_cbfunc_t answer;
static void *answer_arg;
static pmix_notification_fn_t hears;
static struct boot *heard;
enum { HANDLER = 7 }; /* its reference */
static int left;

static pmix_status_t spawn_nb(const pmix_info_t info[], size_t ninfo, const pmix_app_t app[],
                              size_t napp, pmix_spawn_cbfunc_t fn, void *arg)
{
    infos = info;
    ninfos = ninfo;
    apps = app;
    napps = napp;
    answer = fn;
    answer_arg = arg;
    began++;
    return at_once;
}

static pmix_status_t get(const pmix_proc_t *p, const char key[], const pmix_info_t info[],
                         size_t n, pmix_value_t **v)
{
    (void)p, (void)info, (void)n;
    if (strcmp(key, PMIX_PARENT_ID) != 0 || !has_parent)
        return PMIX_ERR_NOT_FOUND;
    *v = calloc(1, sizeof **v);
    (*v)->type = PMIX_PROC;
    (*v)->data.proc = malloc(sizeof parent);
    *(*v)->data.proc = parent;
    return PMIX_SUCCESS;
}

static pmix_status_t hear(pmix_status_t codes[], size_t n, pmix_info_t info[], size_t ninfo,
                          pmix_notification_fn_t fn, pmix_hdlr_reg_cbfunc_t over, void *arg)
{
    int ends = 0;
    (void)over, (void)arg;
    for (size_t i = 0; i < n; i++)
        ends |= codes[i] == PMIX_EVENT_JOB_END;
    ck_assert_int_eq(ends, proc->boot->family != NULL);
    ck_assert_uint_eq(ninfo, 1);
    heard = info[0].value.data.ptr;
    hears = fn;
    return HANDLER;
}

static pmix_status_t stop_hearing(size_t handler, pmix_op_cbfunc_t over, void *arg)
{
    (void)arg;
    ck_assert(hears && !over); /* it waits until no call is under way */
    ck_assert_uint_eq(handler, HANDLER);
    hears = NULL;
    return PMIX_SUCCESS;
}

static pmix_status_t leave(const pmix_info_t info[], size_t n)
{
    (void)info, (void)n;
    ck_assert_ptr_null(hears);
    left++;
    return PMIX_SUCCESS;
}

static const char *words(pmix_status_t s)
{
    (void)s;
    return "the stand-in's words";
}

static int start(int *rank, int *size, int *appnum)
{
    stand_in = (struct pmix_client){.PMIx_Spawn_nb = spawn_nb,
                                    .PMIx_Get = get,
                                    .PMIx_Register_event_handler = hear,
                                    .PMIx_Error_string = words,
                                    .me = {.rank = 1}};
    snprintf(stand_in.me.nspace, sizeof stand_in.me.nspace, "dvm@2");
    lock_init(&stand_in.lock);
    proc->boot->pmix = &stand_in;
    *rank = 1;
    *size = 2;
    *appnum = 0;
    return 0;
}

static int map(char *text, size_t len)
{
    snprintf(text, len, "(vector,(0,1,2))");
    return 0;
}

static int stop(void)
{
    pmix_spawn_free(&stand_in);
    return 0;
}

static struct boot_ops ops;

static void begin(void)
{
    char msg[200];
    ops = pmix_ops;
    ops.init = start;
    ops.node_map = map;
    ops.node_numbers = NULL;
    ops.finalize = stop;
    ck_assert_int_eq(var_init(msg, sizeof msg), 0);
    ck_assert_int_eq(boot_init(&ops), 0);
}

static void begin_prrte(void)
{
    setenv("PRTE_LAUNCHED", "1", 1);
    setenv("PMIX_VERSION", "5.0.10", 1);
    begin();
}

static void end(void)
{
    ck_assert_int_eq(boot_finalize(), 0);
    var_finalize();
}

/* --- which launcher, which job --------------------------------------------------------------- */

/* Open MPI's mpirun 4.1 and Slurm are not asked, nor PRRTE with an old library. */
START_TEST(launchers)
{
    static const struct {
        const char *prrte, *version;
        int meets;
    } tried[] = {{NULL, "4.2.2", 0}, {NULL, "5.0.10", 0}, {"1", "4.2.2", 0}, {"1", NULL, 0},
                 {"0", "5.0.10", 0}, {"1", "5.0.10", BOOT_MEETS_DIRECT}};
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        struct boot_meeting m;
        struct boot_program p = {.command = "sh", .n = 1};
        int fd;
        unsetenv("PRTE_LAUNCHED");
        unsetenv("PMIX_VERSION");
        if (tried[i].prrte)
            setenv("PRTE_LAUNCHED", tried[i].prrte, 1);
        if (tried[i].version)
            setenv("PMIX_VERSION", tried[i].version, 1);
        began = 0;
        begin();
        ck_assert_msg(boot_meets() == tried[i].meets, "row %zu", i);
        ck_assert_int_eq(boot_spawn_begin(&m, &p, 1, &fd), tried[i].meets ? 0 : -ENOTSUP);
        ck_assert_int_eq(began, tried[i].meets != 0);
        end();
    }
}
END_TEST

/* By rank 3 of the job dvm@1. */
static void begin_spawned(void)
{
    setenv("WINDROSE_SPAWNED", "4.16382.6.8." PARENTS " 3.dvm@1", 1);
    has_parent = 1;
    parent = (pmix_proc_t){.nspace = "dvm@1", .rank = 3};
    begin_prrte();
}

/* The variable counts only where the launcher names the same process. */
START_TEST(told)
{
    begin_spawned();
    ck_assert_int_eq(boot_rank(), 5);
    ck_assert_str_eq(boot_parent_port(), PARENTS);
    end();
    parent.rank = 2;
    begin_prrte();
    ck_assert_int_eq(boot_rank(), 1);
    ck_assert_ptr_null(boot_parent_port());
    end();
    has_parent = 0;
    begin_prrte();
    ck_assert_ptr_null(boot_parent_port());
    end();
}
END_TEST

/* --- what is handed over ---------------------------------------------------------------------- */

static int has_word(char **list, const char *word)
{
    while (list && *list && strcmp(*list, word) != 0)
        list++;
    return list && *list;
}

static const pmix_info_t *info_of(const pmix_info_t *list, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].key, key))
            return &list[i];
    return NULL;
}

START_TEST(handed_over)
{
    char *args[] = {"a word", "", "a\nline", NULL}, here[4096];
    struct boot_program p[] = {
        {.command = "sh", .n = 3},
        {.command = "sh", .n = 2, .argv = args, .wdir = "/bin", .host = "h1,h2",
         .map_by = "node", .errhandler = "mpi_errors_return"}};
    struct boot_meeting m;
    int fd;
    setenv("MPIR_CVAR_TRANSPORT", "shm", 1);
    setenv("MPIR_CVAR_INITIAL_ERRHANDLER", "mpi_errors_abort", 1);
    setenv("LD_LIBRARY_PATH", "/some/where", 1);
    setenv("OTHER", "1", 1);
    begin_prrte();
    int first = proc->boot->family->free;
    ck_assert_int_eq(boot_spawn_begin(&m, p, 2, &fd), 0);
    ck_assert_uint_eq(napps, 2);
    ck_assert_str_eq(apps[0].cmd, "sh");
    ck_assert_str_eq(apps[0].argv[0], "sh");
    ck_assert_ptr_null(apps[0].argv[1]);
    ck_assert_int_eq(apps[0].maxprocs, 3);
    ck_assert_str_eq(apps[0].cwd, getcwd(here, sizeof here));
    ck_assert_ptr_null(apps[0].info); /* else libpmix looks for an end mark */
    ck_assert_uint_eq(apps[0].ninfo, 0);
    ck_assert_int_eq(apps[1].maxprocs, 2);
    ck_assert_str_eq(apps[1].cwd, "/bin");
    for (int i = 0; i < 3; i++)
        ck_assert_str_eq(apps[1].argv[1 + i], args[i]);
    ck_assert_ptr_null(apps[1].argv[4]);
    const pmix_info_t *i = info_of(apps[1].info, apps[1].ninfo, PMIX_HOST);
    ck_assert(i && i->value.type == PMIX_STRING && !strcmp(i->value.data.string, "h1,h2"));
    i = info_of(apps[1].info, apps[1].ninfo, PMIX_WDIR_USER_SPECIFIED);
    ck_assert(i && i->value.type == PMIX_BOOL && i->value.data.flag);
    for (int a = 0; a < 2; a++) {
        char text[64];
        snprintf(text, sizeof text, "WINDROSE_SPAWNED=%d.16382.%d.", first, first + 5);
        ck_assert(!strncmp(apps[a].env[0], text, strlen(text)));
        ck_assert_str_eq(strchr(apps[a].env[0], ' '), " 1.dvm@2");
        ck_assert_int_eq(has_word(apps[a].env, "MPIR_CVAR_TRANSPORT=shm"), 1);
        ck_assert_int_eq(has_word(apps[a].env, "LD_LIBRARY_PATH=/some/where"), 1);
        ck_assert_int_eq(has_word(apps[a].env, "OTHER=1"), 0);
        ck_assert_int_eq(
            has_word(apps[a].env, "MPIR_CVAR_INITIAL_ERRHANDLER=mpi_errors_abort"), 0);
        ck_assert_int_eq(
            has_word(apps[a].env, "MPIR_CVAR_INITIAL_ERRHANDLER=mpi_errors_return"), a);
    }
    i = info_of(infos, ninfos, PMIX_STDIN_TGT);
    ck_assert(i && i->value.type == PMIX_STRING && !strcmp(i->value.data.string, "none"));
    i = info_of(infos, ninfos, PMIX_NOTIFY_COMPLETION);
    ck_assert(i && i->value.type == PMIX_BOOL && i->value.data.flag);
    i = info_of(infos, ninfos, PMIX_MAPBY);
    ck_assert(i && i->value.type == PMIX_STRING && !strcmp(i->value.data.string, "node"));
    answer(PMIX_SUCCESS, "dvm@3", answer_arg);
    ck_assert_int_eq(boot_meet_test(&m), 1);
    end();
}
END_TEST

/* --- answers ---------------------------------------------------------------------------------- */

static int readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0);
}

START_TEST(answers)
{
    static const struct {
        pmix_status_t how;
        int err;
    } tried[] = {{PMIX_SUCCESS, 1},
                 {PMIX_ERR_JOB_EXE_NOT_FOUND, -ENOENT},
                 {PMIX_ERR_JOB_WDIR_NOT_FOUND, -ENOTDIR},
                 {PMIX_ERR_OUT_OF_RESOURCE, -EDQUOT},
                 {PMIX_ERR_JOB_FAILED_TO_MAP, -EDQUOT},
                 {PMIX_ERROR, -EIO}};
    struct boot_program p = {.command = "sh", .n = 1};
    begin_prrte();
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        for (int early = 0; early < 2; early++) {
            struct boot_meeting m;
            int fd;
            at_once = early ? tried[i].how : PMIX_SUCCESS;
            int err = boot_spawn_begin(&m, &p, 1, &fd);
            if (early && tried[i].err < 0) {
                ck_assert_int_eq(err, tried[i].err);
                continue;
            }
            ck_assert_int_eq(err, 0);
            ck_assert_int_eq(boot_meet_test(&m), 0);
            ck_assert_int_eq(readable(fd), 0);
            answer(tried[i].how, "dvm@3", answer_arg);
            ck_assert_int_eq(readable(fd), 1);
            ck_assert_msg(boot_meet_test(&m) == tried[i].err, "row %zu", i);
            if (tried[i].err < 0) {
                ck_assert_ptr_null(stand_in.jobs);
                ck_assert_ptr_null(proc->boot->family->ports);
            } else {
                ck_assert_int_eq(boot_port_close((char *)m.brought), 0);
            }
        }
    ck_assert_uint_eq(proc->boot->family->asking, 0);
    end();
}
END_TEST

/* A manager asks until there are slots.  Its numbers are there then, but for those of a request
 * behind which another one was made. */
START_TEST(no_slots)
{
    struct boot_program p = {.command = "sh", .n = 1};
    struct boot_meeting m, other;
    int fd;
    begin_prrte();
    const struct family *d = proc->boot->family;
    int free = d->free;
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(boot_spawn_begin(&m, &p, 1, &fd), 0);
        answer(PMIX_ERR_OUT_OF_RESOURCE, "", answer_arg);
        ck_assert_int_eq(boot_meet_test(&m), -EDQUOT);
        ck_assert_int_eq(d->free, free);
        ck_assert_uint_eq(d->spawned, 0);
    }
    ck_assert_int_eq(boot_spawn_begin(&m, &p, 1, &fd), 0);
    void *first = answer_arg;
    ck_assert_int_eq(boot_spawn_begin(&other, &p, 1, &fd), 0);
    int next = d->free;
    answer(PMIX_ERR_OUT_OF_RESOURCE, "", first);
    ck_assert_int_eq(boot_meet_test(&m), -EDQUOT);
    ck_assert_int_eq(d->free, next);
    answer(PMIX_ERROR, "", answer_arg); /* some may have had theirs */
    ck_assert_int_eq(boot_meet_test(&other), -EIO);
    ck_assert_int_eq(d->free, next);
    end();
}
END_TEST

/* An answer after nothing waits for it any more. */
START_TEST(late_answer)
{
    struct boot_program p = {.command = "sh", .n = 1};
    struct boot_meeting m;
    int fd;
    begin_prrte();
    ck_assert_int_eq(boot_spawn_begin(&m, &p, 1, &fd), 0);
    ck_assert_int_eq(boot_port_close(proc->boot->family->ports->name), 0);
    ck_assert_ptr_nonnull(stand_in.jobs); /* the launcher still reads the request */
    answer(PMIX_SUCCESS, "dvm@3", answer_arg);
    ck_assert_ptr_null(stand_in.jobs);
    end();
}
END_TEST

/* One that does not come is an error in time.  Its numbers are not given again: it may still have
 * processes. */
START_TEST(no_answer)
{
    struct boot_program p = {.command = "sh", .n = 1};
    struct boot_meeting m;
    int fd;
    begin_prrte();
    cvar.boot_timeout = 1;
    ck_assert_int_eq(boot_spawn_begin(&m, &p, 1, &fd), 0);
    int next = proc->boot->family->free;
    ck_assert_int_eq(boot_meet_test(&m), 0);
    struct pollfd wakes = {fd, POLLIN, 0};
    ck_assert_int_eq(poll(&wakes, 1, 60000), 1);
    ck_assert_int_eq(boot_meet_test(&m), -ETIMEDOUT);
    ck_assert_int_eq(proc->boot->family->free, next);
    answer(PMIX_SUCCESS, "dvm@3", answer_arg);
    ck_assert_ptr_null(stand_in.jobs);
    end();
}
END_TEST

/* --- ends ------------------------------------------------------------------------------------- */

static void event(pmix_status_t code, const char *job, unsigned rank, int how)
{
    pmix_proc_t p = {.rank = rank};
    pmix_info_t info[3] = {{.key = PMIX_EVENT_RETURN_OBJECT,
                            .value = {.type = PMIX_POINTER, .data.ptr = heard}},
                           {.key = PMIX_EVENT_AFFECTED_PROC,
                            .value = {.type = PMIX_PROC, .data.proc = &p}},
                           {.key = PMIX_JOB_TERM_STATUS,
                            .value = {.type = PMIX_STATUS, .data.status = how}}};
    snprintf(p.nspace, sizeof p.nspace, "%s", job);
    hears(0, code, &p, info, 3, NULL, 0, NULL, NULL);
}

/* A job that ends before it has come is not waited for, whatever its status; before its answer, or
 * behind it. */
static void ends_before_it_came(int before)
{
    struct boot_program p = {.command = "sh", .n = 1};
    struct boot_meeting m, accepts;
    char port[BOOT_PORT_MAX];
    int fd;
    begin_prrte();
    ck_assert_int_eq(boot_spawn_begin(&m, &p, 1, &fd), 0);
    event(PMIX_EVENT_JOB_END, "", 0, PMIX_SUCCESS); /* as the job without an answer has it */
    if (before)
        event(PMIX_EVENT_JOB_END, "dvm@3", 0, PMIX_SUCCESS);
    ck_assert_int_eq(readable(fd), 0);
    answer(PMIX_SUCCESS, "dvm@3", answer_arg);
    ck_assert_int_eq(boot_meet_test(&m), 1);
    snprintf(port, sizeof port, "%.*s", (int)m.len, (char *)m.brought);
    ck_assert_int_eq(boot_meet_begin(&accepts, 1, port, "x", 1, &fd), 0);
    if (!before) {
        ck_assert_int_eq(boot_meet_test(&accepts), 0);
        event(PMIX_EVENT_JOB_END, "dvm@4", 0, PMIX_SUCCESS);
        ck_assert_int_eq(boot_meet_test(&accepts), 0);
        ck_assert_int_eq(readable(fd), 0);
        event(PMIX_EVENT_JOB_END, "dvm@3", 0, PMIX_SUCCESS);
    }
    ck_assert_int_eq(readable(fd), 1);
    ck_assert_int_eq(boot_meet_test(&accepts), -ESRCH);
    ck_assert_int_eq(boot_port_close(port), 0);
    ck_assert_ptr_null(stand_in.jobs);
    end();
}

START_TEST(ends_early)
{
    ends_before_it_came(0);
    ends_before_it_came(1);
}
END_TEST

/* Reports that come before the process is met: of one process of dvm@7, of the whole of dvm@8 and
 * dvm@9; the number of the first process of each is 100. */
START_TEST(others_died_before)
{
    begin_prrte();
    static const char job[][10] = {"\x64\0\0\0dvm@7", "\x64\0\0\0dvm@8", "\x64\0\0\0dvm@9"};
    event(PMIX_ERR_PROC_ABORTED_BY_SIG, "dvm@7", 2, 0);
    event(PMIX_EVENT_JOB_END, "dvm@8", 1, 9);
    event(PMIX_EVENT_JOB_END, "dvm@9", 0, PMIX_SUCCESS);
    ck_assert_int_eq(boot_job_learn(101, job[0], sizeof job[0] - 1), 0);
    ck_assert_int_eq(boot_job_learn(103, job[2], sizeof job[2] - 1), 0);
    ck_assert_int_eq(boot_failed_count(), 0);
    ck_assert_int_eq(boot_job_learn(102, job[0], sizeof job[0] - 1), 0);
    ck_assert_int_eq(boot_failed(102), 1);
    ck_assert_int_eq(boot_job_learn(104, job[1], sizeof job[1] - 1), 0);
    ck_assert_int_eq(boot_failed(104), 1);
    ck_assert_int_eq(boot_failed_count(), 2);
    end();
}
END_TEST

/* Job dvm@5 has the numbers from 100 on, of which 100 and 102 were met. */
START_TEST(others_die)
{
    begin_prrte();
    static const char job[] = "\x64\0\0\0dvm@5", far[] = "\x2c\1\0\0dvm@6";
    char mine[BOOT_JOB_MAX];
    ck_assert_uint_eq(boot_job_card(mine, sizeof mine), 4 + strlen("dvm@2"));
    ck_assert(!memcmp(mine + 4, "dvm@2", 5));
    ck_assert_int_eq(boot_job_learn(100, job, sizeof job - 1), 0);
    ck_assert_int_eq(boot_job_learn(102, job, sizeof job - 1), 0);
    ck_assert_int_eq(boot_job_learn(300, far, sizeof far - 1), 0);
    ck_assert_int_eq(boot_job_learn(99, job, sizeof job - 1), -EPROTO);
    ck_assert_int_eq(boot_job_learn(100, job, 4), -EPROTO);
    event(PMIX_ERR_PROC_ABORTED_BY_SIG, "dvm@5", 1, 0); /* not met */
    event(PMIX_EVENT_JOB_END, "dvm@5", 0, PMIX_SUCCESS);
    ck_assert_int_eq(boot_failed_count(), 0);
    event(PMIX_ERR_PROC_ABORTED_BY_SIG, "dvm@5", 2, 0);
    ck_assert_int_eq(boot_failed(102), 1);
    ck_assert_int_eq(boot_failed_count(), 1);
    event(PMIX_EVENT_JOB_END, "dvm@5", 0, 9);
    ck_assert_int_eq(boot_failed(100), 1);
    ck_assert_int_eq(boot_failed_count(), 2);
    event(PMIX_ERR_PROC_ABORTED_BY_SIG, "dvm@2", 0, 0); /* of this job */
    ck_assert_int_eq(boot_failed(0), 1);
    event(PMIX_EVENT_JOB_END, "dvm@6", 0, 1);
    ck_assert_int_eq(boot_failed(300), 1);
    end();
}
END_TEST

/* The rank that an event names is counted in its job. */
START_TEST(own_dies)
{
    begin_spawned();
    event(PMIX_ERR_PROC_ABORTED_BY_SIG, "dvm@2", 0, 0);
    ck_assert_int_eq(boot_failed(4), 1);
    ck_assert_int_eq(boot_failed(0), 0);
    end();
}
END_TEST

/* The program may have libpmix open, too: then PMIx_Finalize() ends nothing. */
START_TEST(hears_nothing_at_the_end)
{
    begin_spawned();
    struct pmix_client *c = malloc(sizeof *c);
    ck_assert_ptr_nonnull(c);
    *c = stand_in;
    c->PMIx_Deregister_event_handler = stop_hearing;
    c->PMIx_Finalize = leave;
    c->fd = c->got = -1;
    ops.finalize = pmix_ops.finalize;
    proc->boot->pmix = c;
    end();
    ck_assert_int_eq(left, 1);
}
END_TEST
#endif

Suite *suite_pmix_spawn(void)
{
    Suite *s = suite_create("pmix");
    TCase *t = tcase_create("spawn");
    tcase_set_timeout(t, 60);
#ifdef HAVE_PMIX
    tcase_add_test(t, launchers);
    tcase_add_test(t, told);
    tcase_add_test(t, handed_over);
    tcase_add_test(t, answers);
    tcase_add_test(t, no_slots);
    tcase_add_test(t, late_answer);
    tcase_add_test(t, no_answer);
    tcase_add_test(t, ends_early);
    tcase_add_test(t, others_died_before);
    tcase_add_test(t, others_die);
    tcase_add_test(t, own_dies);
    tcase_add_test(t, hears_nothing_at_the_end);
#endif
    suite_add_tcase(s, t);
    return s;
}

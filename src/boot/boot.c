/* boot.c - the calls of boot.h over the launcher's operations, and the operations of a process
 * without a launcher. Start with boot_init(). */
#include "boot/boot.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot_types.h"
#include "boot/family.h"
#include "var/var.h"

static int rank_or_unknown(void)
{
    return proc->boot && proc->boot->rank >= 0 ? proc->boot->first + proc->boot->rank : -1;
}

/* --- the launcher-less process ---------------------------------------------- */

static int single_init(int *rank, int *size, int *appnum)
{
    *rank = 0;
    *size = 1;
    *appnum = -1;
    return 0;
}

/* There are no other processes, but a process may read what it put itself. */
struct boot_value {
    struct boot_value *next;
    size_t len;
    char key[PMI_KEY_MAX];
    char bytes[BOOT_PIECE_MAX];
};

static int single_put(const char *key, const void *value, size_t len)
{
    struct boot_value *v = calloc(1, sizeof *v);
    if (!v)
        return -ENOMEM;
    snprintf(v->key, sizeof v->key, "%s", key);
    memcpy(v->bytes, value, len);
    v->len = len;
    v->next = proc->boot->values; /* newest first: a later put hides an earlier one */
    proc->boot->values = v;
    return 0;
}

static int single_get(const char *key, void *value, size_t *len)
{
    for (struct boot_value *v = proc->boot->values; v; v = v->next) {
        if (strcmp(v->key, key))
            continue;
        if (v->len > *len)
            return -EMSGSIZE;
        memcpy(value, v->bytes, v->len);
        *len = v->len;
        return 0;
    }
    return -ENOENT;
}

static int single_finalize(void)
{
    for (struct boot_value *v = proc->boot->values, *next; v; v = next) {
        next = v->next;
        free(v);
    }
    proc->boot->values = NULL;
    return 0;
}

static int single_nothing(void)
{
    return 0;
}

static int single_node_map(char *text, size_t len)
{
    snprintf(text, len, "(vector,(0,1,1))");
    return 0;
}

static int single_job_id(char *text, size_t len)
{
    snprintf(text, len, "single-%ld-%016llx", (long)getpid(), (unsigned long long)random_bits());
    return 0;
}

static void single_abort(int code, const char *why)
{
    if (why)
        log_warn("%s", why);
    _exit(code);
}

const struct boot_ops singleton_ops = {
    .name = "singleton",
    .init = single_init,
    .put = single_put,
    .get = single_get,
    .barrier = single_nothing,
    .node_map = single_node_map,
    .job_id = single_job_id,
    .abort = single_abort,
    .finalize = single_finalize,
};

/* --- life ------------------------------------------------------------------- */

/* The map of a launcher that describes each process by itself. */
static int ask_numbers(const struct boot *b, char **text)
{
    int *number = malloc((size_t)b->size * sizeof *number);
    int err = number ? b->ops->node_numbers(number) : -ENOMEM;
    if (!err && !(*text = boot_map_text(number, b->size)))
        err = -ENOMEM;
    free(number);
    return err;
}

/* Our mpiexec learns from each process in which network it is.  Where these differ no process wakes
 * another: they are on different hosts then, without being told.  -errno, or 1. */
static int is_apart(struct boot *b)
{
    if (!b->page || b->ops != &pmi1_ops || b->first || b->size == 1)
        return 0;
    int err = b->ops->barrier();
    if (err || !atomic_load_explicit(&b->page->apart, memory_order_relaxed))
        return err;
    /* A loopback leads to this process: no other would ever answer.  A card may need no address. */
    if (!boot_leads_out() && access("/sys/class/infiniband", F_OK) != 0) {
        char why[256];
        snprintf(why, sizeof why,
                 "MPI_Init: rank %d has a network namespace of its own (a container?) without a "
                 "network that leads out of it: start all ranks in one network namespace, or give "
                 "each a network",
                 b->rank);
        boot_abort(1, why);
    }
    if (b->rank == 0)
        log_warn("the processes of this job are in different network namespaces (containers?): "
                 "those of different ones share no memory, and need a network");
    return 1;
}

static int load_map(struct boot *b)
{
    char told[PMI_VALUE_MAX], *text = NULL, *found = NULL;
    int exchange = !strcmp(cvar.host_map, "exchange"), apart = exchange ? 0 : is_apart(b);
    if (apart < 0)
        return apart;
    exchange |= apart;
    if (!exchange && strcmp(cvar.host_map, "launcher")) {
        char why[320];
        snprintf(why, sizeof why, "MPI_Init: MPIR_CVAR_HOST_MAP=%.200s: it must be launcher or "
                 "exchange", cvar.host_map);
        boot_abort(1, why);
    }
    int err = exchange           ? boot_host_exchange(b, &found)
              : b->ops->node_map ? b->ops->node_map(told, sizeof told)
                                 : ask_numbers(b, &found);
    if (err == -ENOENT && exchange) /* a process that does not exchange has put no name */
        log_warn("MPIR_CVAR_HOST_MAP is \"exchange\" here and \"launcher\" on another process; it "
                 "must be the same on all processes");
    if (err && (exchange || err != -ENOENT))
        return err;
    if (!err)
        text = found ? found : told;
    err = node_map_init(&b->map, text, b->rank, b->size, (int)cvar.nolocal, (int)cvar.num_cliques);
    if (err == -EINVAL)
        log_warn("the launcher's process mapping cannot be understood: \"%s\"", text);
    free(found);
    return err;
}

/* A privileged program trusts no launcher that the environment names: a launcher decides which
 * memory it maps. */
static void remark_privileged(void)
{
    static const char *const names[] = {"PMI_FD", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (var_env_refused(names[i])) {
            log_warn("this program has more rights than its user (set-user-ID, set-group-ID or "
                     "file capabilities): it does "
                     "not read %s or any other variable of the environment, and runs as a job of "
                     "one process",
                     names[i]);
            return;
        }
}

/* Names of the jobs that a rank has started begin with that of the first job. */
static int is_its_page(const struct job_page *page, const char *job)
{
    return !strncmp(page->name, job, strnlen(page->name, JOB_NAME_MAX));
}

int boot_init(const struct boot_ops *forced)
{
    struct boot *b = calloc(1, sizeof *b);
    if (!b)
        return -ENOMEM;
    b->rank = b->appnum = -1;
    b->pmi.fd = -1;
    proc->boot = b;
    log_set_rank(rank_or_unknown);
    if (!forced)
        remark_privileged();
    b->ops = forced           ? forced
             : pmi1_present() ? &pmi1_ops
             : pmix_present() ? &pmix_ops
                              : &singleton_ops;
    if (!forced)
        boot_page_open(b);
    int rank = -1;
    int err = b->ops->init(&rank, &b->size, &b->appnum);
    if (err)
        goto fail;
    b->rank = rank;
    err = b->ops->job_id(b->job_id, sizeof b->job_id);
    if (!err && b->page && !is_its_page(b->page, b->job_id))
        boot_page_close(b); /* inherited from some other job */
    if (!err && b->page)
        err = boot_place(b);
    b->universe = b->page ? (int)b->page->size : b->size;
    if (!err && !b->page)
        err = family_start(b);
    if (!err)
        err = load_map(b);
    if (err)
        goto fail;
    const char *apart = b->family ? family_apart(b) : NULL;
    if (apart)
        boot_abort_own(1, b->rank ? NULL : apart);
    if (!b->page && b->ops == &pmi1_ops)
        boot_survive_on(b);
    if (b->ops->hear_deaths)
        b->ops->hear_deaths();
    if (!forced)
        boot_crash_on(b);
    return 0;
fail:
    family_stop(b);
    boot_page_close(b);
    proc->boot = NULL;
    free(b);
    return err;
}

int boot_finalize(void)
{
    struct boot *b = proc->boot;
    if (!b)
        return 0;
    family_stop(b);
    int err = b->ops->finalize();
    boot_crash_off(b);
    boot_survive_off(b);
    boot_page_close(b);
    node_map_free(&b->map);
    boot_burials_free(b);
    proc->boot = NULL;
    free(b);
    return err;
}

int boot_rank(void)
{
    return proc->boot->first + proc->boot->rank;
}

int boot_first(void)
{
    return proc->boot->first;
}

int boot_universe(void)
{
    return proc->boot->universe;
}

int boot_expected(void)
{
    const struct boot *b = proc->boot;
    int told = b->page && boot_meets() ? (int)b->page->universe : 0;
    return told > b->size ? told : b->size;
}

int boot_is_own(int rank)
{
    return boot_owns(proc->boot, rank);
}

int boot_far(void)
{
    return proc->boot->far;
}

int boot_size(void)
{
    return proc->boot->size;
}

int boot_appnum(void)
{
    return proc->boot->appnum;
}

const char *boot_job_id(void)
{
    return proc->boot->job_id;
}

/* --- services ----------------------------------------------------------------- */

/* A value of less than BOOT_PIECE_MAX bytes is one piece, under its key.  Each piece of a longer
 * one but the last holds BOOT_PIECE_MAX - 1 bytes of it and one byte of filling.  That length means
 * that another piece follows, under "key.N".  So only the piece of an empty value is empty:
 * launchers do not carry empty values. */
static void piece_name(char name[PMI_KEY_MAX], const char *key, int i)
{
    int n = i ? snprintf(name, PMI_KEY_MAX, "%s.%d", key, i)
              : snprintf(name, PMI_KEY_MAX, "%s", key);
    WR_ASSERT(n < PMI_KEY_MAX);
}

int boot_key_rank(const char *key)
{
    for (const char *p = key; p; p = strchr(p, '.')) {
        p += *p == '.';
        size_t n = strspn(p, "0123456789");
        if (n && (p[n] == '.' || !p[n])) {
            long v = strtol(p, NULL, 10);
            v -= proc->boot->first;
            return v >= 0 && v < proc->boot->size ? (int)v : -1;
        }
    }
    return -1;
}

int boot_put(const char *key, const void *value, size_t len)
{
    char name[PMI_KEY_MAX], piece[BOOT_PIECE_MAX] = {0};
    const char *p = value;
    WR_ASSERT(!strpbrk(key, " =\n") && len <= BOOT_VALUE_MAX);
    for (int i = 0;; i++) {
        size_t n = len < BOOT_PIECE_MAX ? len : BOOT_PIECE_MAX - 1;
        memcpy(piece, p, n);
        piece_name(name, key, i);
        int err = proc->boot->ops->put(name, piece, n < len ? BOOT_PIECE_MAX : n);
        if (err || n == len)
            return err;
        p += n;
        len -= n;
    }
}

int boot_get(const char *key, void *value, size_t *len)
{
    char name[PMI_KEY_MAX], piece[BOOT_PIECE_MAX];
    size_t have = 0;
    for (int i = 0; i <= BOOT_VALUE_MAX / (BOOT_PIECE_MAX - 1); i++) {
        size_t n = sizeof piece;
        piece_name(name, key, i);
        int err = proc->boot->ops->get(name, piece, &n);
        if (err)
            return i && err == -ENOENT ? -EPROTO : err;
        int more = n == BOOT_PIECE_MAX;
        n -= (size_t)more;
        if (n > *len - have)
            return -EMSGSIZE;
        memcpy((char *)value + have, piece, n);
        have += n;
        if (!more) {
            *len = have;
            return 0;
        }
    }
    return -EMSGSIZE;
}

int boot_barrier(void)
{
    return proc->boot->ops->barrier();
}

int boot_barrier_begin(int *fd)
{
    const struct boot_ops *ops = proc->boot->ops;
    *fd = -1;
    return ops->barrier_begin ? ops->barrier_begin(fd) : ops->barrier();
}

int boot_barrier_test(void)
{
    const struct boot_ops *ops = proc->boot->ops;
    return ops->barrier_test ? ops->barrier_test() : 1;
}

int boot_barrier_for(uint64_t ns)
{
    enum { LOOK_MS = 100 }; /* also for a launcher whose descriptor reports nothing */
    const struct boot_ops *ops = proc->boot->ops;
    int fd, done, err;
    if (!ops->barrier_begin || !ops->barrier_test)
        return ops->barrier();
    if ((err = ops->barrier_begin(&fd)) != 0)
        return err;
    for (uint64_t end = time_now() + ns; (done = ops->barrier_test()) == 0;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (time_now() >= end)
            return -ETIMEDOUT;
        poll(&p, 1, fd < 0 ? 1 : LOOK_MS);
    }
    return done < 0 ? done : 0;
}

void boot_abort(int code, const char *why)
{
    /* What the program printed before it gave up should be seen.  But the caller may hold a lock on
     * stdout (a signal handler), so only try. */
    if (!ftrylockfile(stdout)) {
        fflush(stdout);
        funlockfile(stdout);
    }
    void (*fn)(void) = proc->boot ? proc->boot->on_abort : NULL;
    if (fn) {
        proc->boot->on_abort = NULL; /* it may abort itself */
        fn();
    }
    const struct boot_ops *ops = proc->boot ? proc->boot->ops : &singleton_ops;
    ops->abort(code, why);
    _exit(code);
}

void boot_on_abort(void (*fn)(void))
{
    proc->boot->on_abort = fn;
}

void boot_abort_own(int code, const char *why)
{
    proc->boot->ends_own = 1;
    boot_abort(code, why);
}

/* --- node map -------------------------------------------------------------------
 * Processes of other jobs are on none of the nodes and hosts that it knows: they are reached as if
 * they were elsewhere. */

int boot_nodes(void)
{
    return proc->boot->map.nodes;
}

int boot_node_of(int rank)
{
    const struct boot *b = proc->boot;
    return boot_is_own(rank) ? node_map_node(&b->map, rank - b->first) : b->map.nodes;
}

int boot_same_node(int rank)
{
    return boot_node_of(rank) == proc->boot->map.node;
}

int boot_local_size(void)
{
    return proc->boot->map.local_size;
}

int boot_local_index(int rank)
{
    const struct boot *b = proc->boot;
    return boot_is_own(rank) ? node_map_local_index(&b->map, rank - b->first) : -1;
}

int boot_local_rank(int index)
{
    return proc->boot->first + node_map_local_rank(&proc->boot->map, index);
}

int boot_host_processes(void)
{
    return proc->boot->map.host_size;
}

int boot_host_index(int rank)
{
    const struct boot *b = proc->boot;
    return boot_is_own(rank) ? node_map_host_index(&b->map, rank - b->first) : -1;
}

int boot_host_rank(int index)
{
    return proc->boot->first + node_map_host_rank(&proc->boot->map, index);
}

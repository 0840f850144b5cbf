/* choice.c - the network of the job. Start with am_choice_open().
 *
 * All processes open at once what each would choose alone (tp_wanted). Rank 0 publishes its choice.
 * After the barrier of the start, a process with another one closes it and opens rank 0's. So each
 * reads one value, and a job has one network, even if hosts have different cards and libraries.
 *
 *      am_open    rank 0: opens, puts "net.N" -------.      the others: open
 *      mem_init   barrier                            |      barrier
 *      am_init                                       '----> same? keep it.  Else close, open that
 *                                                           one; it does not open: the job ends */
#include "am/am_types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/event.h"
#include "base/log.h"
#include "base/proc.h"
#include "boot/boot.h"
#include "var/var.h"

enum { KEY = 24 };

/* Rank 0 puts it (boot.h, keys). */
static int is_first(void)
{
    return boot_rank() == boot_first();
}

static void key_name(char key[KEY])
{
    snprintf(key, KEY, "net.%d", boot_first());
}

enum { CHOICE = AM_CHOICE };

/* Report what was opened and why, on one process of the job. */
static void tell(const struct tp_ops *ops, struct tp *tp, const struct tp_caps *caps,
                 const char *why)
{
    char text[256] = "";
    if (!cvar.debug_summary || boot_rank() != 0)
        return;
    if (!caps) {
        log_warn("transport %s: not open (%s)", ops->name, why);
        return;
    }
    if (ops->describe)
        ops->describe(tp, text, sizeof text);
    const char *sleeps = caps->flags & TP_WAIT_FD
                             ? ""
                             : "; it has nothing to sleep on, so waiting keeps a core busy";
    log_warn("transport %s: open (%s)%s%s; messages to %zu bytes%s%s%s%s%s", ops->name, why,
             *text ? ": " : "", text, caps->am_max, caps->flags & TP_PUT ? ", put" : "",
             caps->flags & TP_GET ? ", get" : "", caps->flags & TP_ATOMIC ? ", atomics" : "",
             caps->flags & TP_PUT_THEN_AM ? ", messages after puts" : "", sleeps);
}

static void ready_close(struct am *a)
{
    if (a->ready.ops)
        a->ready.ops->close(a->ready.tp);
    a->ready = (struct am_tp){0};
}

/* n was opened beside another network: one of them is closed. Nothing was published or sent yet. */
static void better_of(struct am *a, const struct am_tp *n)
{
    if (!tp_better(&a->ready.caps, &n->caps)) {
        n->ops->close(n->tp);
        tell(n->ops, NULL, NULL, "it has no native put either, and another network comes first");
        return;
    }
    tell(a->ready.ops, NULL, NULL, "closed: it has no native put, and a later network has");
    ready_close(a);
    a->ready = *n;
    event_raise(EVENT_NETWORK_CHOSEN, 0, -1, 0);
}

/* 0, or -EMFILE or -ENFILE: fewer descriptors are free than a network opens at its start.  Looked
 * at before, since without one libfabric reports input/output errors, and UCX ends the process. */
static int descriptors_there(void)
{
    enum { AT_START = 20 };
    int fd[AT_START], n = 0, err = 0;
    while (n < AT_START && !err) {
        fd[n] = n ? fcntl(fd[0], F_DUPFD_CLOEXEC, 0) : open("/", O_PATH | O_CLOEXEC);
        /* A limit of 0 is an invalid argument to F_DUPFD. */
        err = fd[n] >= 0 ? 0 : errno == EINVAL ? -EMFILE : -errno;
        n += !err;
    }
    for (int i = 0; i < n; i++)
        close(fd[i]);
    if (err)
        log_warn("a network opens up to %d files at its start, and this process has %d left",
                 AT_START, n);
    return err;
}

/* Open one transport if this job wants it: *n, or n->ops stays NULL. 0 also if a network that the
 * user did not name does not open. */
static int open_wanted(struct am *a, const struct tp_ops *ops, struct am_tp *n)
{
    const char *why;
    if (!tp_wanted(ops, !ops->near && a->ready.ops ? &a->ready.caps : NULL, &why)) {
        if (!strcmp(cvar.transport, "auto"))
            tell(ops, NULL, NULL, why);
        return 0;
    }
    int err = 0;
    if (!ops->near) {
        am_files_want((size_t)boot_size());
        if ((err = descriptors_there()) != 0)
            return err;
    }
    err = ops->open(ops->near ? &a->env : &a->far_env, &n->tp, &n->caps);
    if (!err && !ops->near && (err = tp_trust(ops, n->tp, &n->caps)) != 0)
        ops->close(n->tp);
    if (!err) {
        n->ops = ops;
        tell(ops, n->tp, &n->caps, why);
    } else if (!ops->near && strcmp(cvar.transport, ops->name)) {
        tell(ops, NULL, NULL, strerror(-err));
        err = 0;
    } else {
        char names[128];
        tp_names(names, sizeof names);
        log_warn("transport %s does not open: %s; this build has %s", ops->name, strerror(-err),
                 names);
    }
    return err;
}

/* MPIR_CVAR_TRANSPORT names one that exists, or the job ends with one line. */
static void check_name(void)
{
    char names[128], why[480];
    if (!strcmp(cvar.transport, "auto") || tp_find(cvar.transport))
        return;
    tp_names(names, sizeof names);
    snprintf(why, sizeof why, "MPI_Init: MPIR_CVAR_TRANSPORT=%.200s: this build has no such "
             "transport; it has %s", cvar.transport, names);
    boot_abort(1, why);
}

int am_choice_open(struct am *a)
{
    int err = 0;
    check_name();
    for (const struct tp_ops *const *ops = tp_active(); *ops && !err; ops++) {
        struct am_tp n = {0};
        err = (*ops)->near ? 0 : open_wanted(a, *ops, &n);
        if (n.ops && a->ready.ops)
            better_of(a, &n);
        else if (n.ops)
            a->ready = n;
    }
    return err;
}

/* Should there be a network? The same on all processes, whatever opens. */
static int wanted(void)
{
    const char *why;
    for (const struct tp_ops *const *ops = tp_active(); *ops; ops++)
        if (!(*ops)->near && tp_wanted(*ops, NULL, &why))
            return 1;
    return 0;
}

int am_choice_tell(const struct am *a)
{
    char text[CHOICE], key[KEY];
    if (!is_first() || boot_size() == 1 || !wanted())
        return 0;
    am_choice_text(&a->ready, text);
    key_name(key);
    return boot_put(key, text, strlen(text) + 1);
}

static void __attribute__((noreturn))
cannot_follow(const char *theirs, const char *mine, const char *cause)
{
    char why[400];
    snprintf(why, sizeof why,
             "MPI_Init: rank %d cannot use the network of rank 0, which has %s%s; by itself this "
             "process would take %s.  MPIR_CVAR_TRANSPORT and MPIR_CVAR_OFI_PROVIDER must name "
             "what all hosts have",
             boot_rank(), *theirs ? theirs : "none open", cause, *mine ? mine : "none");
    boot_abort(1, why);
}

int am_choice_follow(struct am *a)
{
    char theirs[CHOICE + 1], mine[CHOICE], name[CHOICE + 1], key[KEY];
    size_t len = CHOICE;
    if (is_first() || !wanted())
        return 0;
    key_name(key);
    int err = boot_get(key, theirs, &len);
    if (err)
        return err == -ENOENT ? 0 : err; /* a test launcher without a store */
    theirs[len] = 0;
    am_choice_text(&a->ready, mine);
    if (!strcmp(theirs, mine))
        return 0;
    ready_close(a);
    strcpy(name, theirs);
    char *variant = strchr(name, ' ');
    if (variant)
        *variant++ = 0;
    const struct tp_ops *ops = *name ? tp_find(name) : NULL;
    if (!ops)
        cannot_follow(theirs, mine, *name ? ": this build does not have it" : "");
    struct tp_env env = a->far_env;
    env.variant = variant;
    err = ops->open(&env, &a->ready.tp, &a->ready.caps);
    if (!err && (err = tp_trust(ops, a->ready.tp, &a->ready.caps)) != 0)
        ops->close(a->ready.tp);
    if (err) {
        char cause[80];
        snprintf(cause, sizeof cause, ": it does not open here (%s)", strerror(-err));
        cannot_follow(theirs, mine, cause);
    }
    a->ready.ops = ops;
    event_raise(EVENT_NETWORK_CHOSEN, 0, -1, 1);
    if (cvar.debug_summary)
        log_warn("transport %s: open instead of %s, since it is what rank 0 has", theirs,
                 *mine ? mine : "none");
    return 0;
}

/* --- their places ------------------------------------------------------------------ */

static int source_fd(void *arg, int arm)
{
    const struct am_tp *t = arg;
    return t->ops->fd(t->tp, arm);
}

_Static_assert((int)TP_FDS <= (int)PROGRESS_FDS,
               "what a transport sleeps on finds room in the engine");

static int source_fds(void *arg, int *fd)
{
    const struct am_tp *t = arg;
    return t->ops->fds(t->tp, fd);
}

static int place(struct am *a, const struct am_tp *n)
{
    struct am_tp *t = &a->tps[a->ntps];
    if (a->ntps == AM_TPS) {
        n->ops->close(n->tp);
        return -ENOSPC;
    }
    *t = *n;
    if (t->caps.replies == 0) /* the transport has no bound of its own */
        t->caps.replies = UINT32_MAX;
    t->credits = t->caps.replies;
    t->local = t->ops->fd(t->tp, 0) < 0 && (t->caps.flags & TP_WAIT_FD);
    t->source = (struct progress_source){.fd = source_fd, .fds = t->ops->fds ? source_fds : NULL,
                                         .arg = t, .network = !t->ops->near};
    progress_source_add(&t->source);
    a->ntps++;
    a->networks += !t->ops->near;
    return 0;
}

int am_choice_guests(struct am *a)
{
    struct am_tp n = {.ops = &tp_guest_ops};
    int err;
    for (int i = 0; i < a->ntps; i++)
        if (a->tps[i].ops == n.ops)
            return 0;
    err = n.ops->open(&a->env, &n.tp, &n.caps);
    if (!err && (err = am_publish_guests(&n)) != 0)
        n.ops->close(n.tp);
    return err ? err : place(a, &n);
}

/* A job over several hosts needs a network; report the lack now, not at the first message. */
static int check_reach(const struct am *a)
{
    char names[128];
    if (a->networks || tp_active() != tp_list || boot_host_processes() == boot_size())
        return 0;
    tp_names(names, sizeof names);
    log_warn("the %d processes of the job are on several hosts, and no network is open "
             "(MPIR_CVAR_TRANSPORT=%s); this build has %s.  MPIR_CVAR_DEBUG_SUMMARY=1 shows why "
             "each is not open",
             boot_size(), cvar.transport, names);
    return -EHOSTUNREACH;
}

int am_choice_join(struct am *a)
{
    int err = 0;
    for (const struct tp_ops *const *ops = tp_active(); *ops && !err; ops++) {
        struct am_tp n = {0};
        if ((*ops)->near)
            err = open_wanted(a, *ops, &n);
        else if (*ops == a->ready.ops) {
            n = a->ready;
            a->ready = (struct am_tp){0};
        }
        if (n.ops)
            err = place(a, &n);
    }
    return err ? err : check_reach(a);
}

void am_choice_close(struct am *a)
{
    ready_close(a);
    while (a->ntps > 0) {
        struct am_tp *t = &a->tps[--a->ntps];
        progress_source_del(&t->source);
        t->ops->close(t->tp);
    }
}

/* pmi1.c - client of the PMI-1 wire (doc/pmi-wire.md): lines over an inherited descriptor. Start
 * with ask().
 *
 * One request, one answer.  The launcher answers at once; in a barrier of MPI_Init, when all have
 * come.  So waits here may sleep in poll(2), without progress.  What takes longer while MPI runs is
 * begun here and then tested: meetings, programs to start, the last barrier. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot_types.h"
#include "var/var.h"

_Static_assert(2 * BOOT_PIECE_MAX < PMI_VALUE_MAX, "a value in hexadecimal fits Hydra's limit");

/* between the reason and the request to end the job, under another launcher */
enum { ABORT_MS = 100 };

int pmi1_present(void)
{
    const char *fd = var_env_get("PMI_FD");
    return fd && *fd;
}

int pmix_present(void)
{
    const char *rank = var_env_get("PMIX_RANK"), *space = var_env_get("PMIX_NAMESPACE");
    return rank && *rank && space && *space;
}

static int env_int(const char *name, int min, int *out)
{
    const char *text = var_env_get(name);
    char *end;
    errno = 0;
    long v = text ? strtol(text, &end, 10) : 0;
    if (!text || end == text || *end || errno || v < min || v > INT_MAX) {
        log_warn("%s=\"%s\" in the environment is not what a launcher sets there", name,
                 text ? text : "(unset)");
        return -EINVAL;
    }
    *out = (int)v;
    return 0;
}

/* --- lines ------------------------------------------------------------------ */

static int lost(const char *doing, int err)
{
    log_warn("lost the launcher while %s: %s", doing, strerror(-err));
    return err;
}

static int send_line(struct pmi_client *c, const char *line, size_t len, const char *doing)
{
    while (len) {
        ssize_t n = send(c->fd, line, len, MSG_NOSIGNAL);
        if (n < 0 && errno == ENOTSOCK)
            n = write(c->fd, line, len);
        if (n < 0 && errno == EAGAIN) {
            struct pollfd p = {.fd = c->fd, .events = POLLOUT};
            poll(&p, 1, -1);
            continue;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return lost(doing, n ? -errno : -EPIPE);
        line += n;
        len -= (size_t)n;
    }
    return 0;
}

enum { AT_ONCE = 1 }; /* an end long past: read what is there, without waiting */

/* Wait until the descriptor is readable; end: time in ns, 0 for no limit. */
static int wait_readable(struct pmi_client *c, uint64_t end)
{
    for (;;) {
        struct pollfd p = {.fd = c->fd, .events = POLLIN};
        int ms = -1;
        if (end) {
            uint64_t now = time_now(), left = now < end ? (end - now) / 1000000 + 1 : 0;
            ms = left > INT_MAX ? INT_MAX : (int)left;
        }
        int n = poll(&p, 1, ms);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -errno;
        if (end && time_now() >= end) /* test it after each look, also in a storm of signals */
            return -ETIMEDOUT;
    }
}

/* The next line, without its newline, into `line`; bytes after it stay in c->in. */
static int read_line(struct pmi_client *c, char line[PMI_LINE_MAX], uint64_t end)
{
    for (;;) {
        char *nl = memchr(c->in, '\n', c->have);
        if (nl) {
            size_t n = (size_t)(nl - c->in);
            memcpy(line, c->in, n);
            line[n] = 0;
            c->have -= n + 1;
            memmove(c->in, nl + 1, c->have);
            return 0;
        }
        if (c->have == sizeof c->in)
            return -EMSGSIZE;
        int err = wait_readable(c, end);
        if (err)
            return err;
        ssize_t n = read(c->fd, c->in + c->have, sizeof c->in - c->have);
        if (n == 0)
            return -EPIPE;
        if (n > 0)
            c->have += (size_t)n;
        else if (errno != EINTR && errno != EAGAIN)
            return -errno;
    }
}

/* How long to wait for an answer, in seconds; 0: without limit.  In a job over several hosts the
 * launcher's part here may itself wait for a host that is cut off, and then reads no requests.
 * Slurm's does so in a barrier. */
static int64_t timeout(int starting)
{
    const struct boot *b = proc->boot;
    return starting                                  ? cvar.boot_timeout
           : !b->page && b->map.host_size != b->size ? cvar.peer_timeout
                                                     : 0;
}

/* The answer to a request that was begun (pmi1_meet_begin); one that nothing waits for is
 * dropped. */
static int met(struct pmi_client *c, const struct pmi_line *line)
{
    int number = 0, rc = -EPROTO;
    const char *brought = pmi_line_get(line, "brought");
    pmi_line_int(line, "number", 0, INT_MAX, &number);
    pmi_line_int(line, "rc", INT_MIN, INT_MAX, &rc);
    for (struct boot_meeting **at = &c->meetings, *m; (m = *at) != NULL; at = &m->next) {
        if (m->number != (unsigned)number)
            continue;
        *at = m->next;
        m->len = sizeof m->brought;
        if (!rc && (!brought || pmi_unhex(brought, m->brought, &m->len)))
            rc = -EPROTO;
        m->rc = rc > 0 ? -EPROTO : rc;
        m->done = 1;
        break;
    }
    if (c->on_met)
        c->on_met();
    return 1;
}

/* The answer to the oldest request to start programs. */
static int started(struct pmi_client *c, const struct pmi_line *line)
{
    struct boot_meeting *m = c->spawns;
    int rc = -1;
    if (!m)
        return 0;
    c->spawns = m->next;
    pmi_line_int(line, "rc", INT_MIN, INT_MAX, &rc);
    m->rc = rc ? -EIO : 0; /* launchers have numbers of their own */
    m->done = 1;
    if (c->on_met)
        c->on_met();
    return 1;
}

/* A line that answers no open question: a late answer after its time-out, or the end of a barrier
 * begun before. */
static int set_aside(struct pmi_client *c, const char *cmd, const struct pmi_line *line)
{
    if (c->late && !strcmp(cmd, c->late)) {
        c->late = NULL;
        return 1;
    }
    if (!strcmp(cmd, "met"))
        return met(c, line);
    if (!strcmp(cmd, "spawn_result"))
        return started(c, line);
    if (c->barrier != 1 || strcmp(cmd, "barrier_out") != 0)
        return 0;
    c->barrier = 2; /* see pmi1_barrier_test() */
    return 1;
}

/* One more line, for set_aside() only. */
static int look(struct pmi_client *c)
{
    char text[PMI_LINE_MAX];
    struct pmi_line line;
    int err = read_line(c, text, AT_ONCE);
    const char *cmd = err || pmi_line_parse(text, &line) ? NULL : pmi_line_get(&line, "cmd");
    if (cmd)
        set_aside(c, cmd, &line);
    return err;
}

/* 0 once no late answer is outstanding. */
static int outstanding(struct pmi_client *c)
{
    int err = 0;
    while (c->late && !err)
        err = look(c);
    return c->late ? err : 0;
}

/* The line cmd=`answer`. */
static int read_answer(struct pmi_client *c, const char *answer, const char *doing,
                       char text[PMI_LINE_MAX], struct pmi_line *line, uint64_t end)
{
    const char *cmd;
    do {
        int err = read_line(c, text, end);
        if (err)
            return err == -ETIMEDOUT ? err : lost(doing, err);
        cmd = pmi_line_parse(text, line) ? NULL : pmi_line_get(line, "cmd");
    } while (cmd && set_aside(c, cmd, line));
    if (cmd && !strcmp(cmd, answer))
        return 0;
    log_warn("the launcher answered \"%s\" while %s", cmd ? cmd : "?", doing);
    return -EPROTO;
}

/* Send a request and wait for the line cmd=`answer`; `doing` is for messages. */
static int ask(const char *request, const char *answer, const char *doing, char text[PMI_LINE_MAX],
               struct pmi_line *line)
{
    struct pmi_client *c = &proc->boot->pmi;
    int starting = atomic_load_explicit(&proc->phase, memory_order_relaxed) == PROC_NEW;
    /* others may still compute */
    int64_t most = !starting && !strcmp(answer, "barrier_out") ? 0 : timeout(starting);
    uint64_t end = most ? time_now() + (uint64_t)most * 1000000000u : 0;
    int err = outstanding(c); /* its late answer would be taken for that to this request */
    if (err)
        return err == -ETIMEDOUT ? err : lost(doing, err);
    err = send_line(c, request, strlen(request), doing);
    if (err)
        return err;
    err = read_answer(c, answer, doing, text, line, end);
    if (err == -ETIMEDOUT) {
        c->late = answer;
        c->late_until = time_now() + (uint64_t)most * 1000000000u;
        log_warn("%lld seconds passed while %s (%s)", (long long)most, doing,
                 starting ? "MPIR_CVAR_BOOT_TIMEOUT" : "MPIR_CVAR_PEER_TIMEOUT");
    }
    return err;
}

/* --- operations --------------------------------------------------------------- */

static int open_fd(struct pmi_client *c)
{
    int err = env_int("PMI_FD", 0, &c->fd);
    if (err)
        return err;
    if (fcntl(c->fd, F_GETFD) < 0) {
        log_warn("PMI_FD=%d is not open: something between the launcher and this program closed "
                 "it, or this is the "
                 "child of a rank (then unset PMI_FD to run it alone)",
                 c->fd);
        return -EBADF;
    }
    return 0;
}

static int pmi1_init(int *rank, int *size, int *appnum)
{
    struct boot *b = proc->boot;
    struct pmi_client *c = &b->pmi;
    char text[PMI_LINE_MAX], request[128];
    struct pmi_line line;
    int err, rc;
    if ((err = open_fd(c)) || (err = env_int("PMI_RANK", 0, rank)) ||
        (err = env_int("PMI_SIZE", 1, size)))
        return err;
    if (*rank >= *size) {
        log_warn("PMI_RANK=%d is not below PMI_SIZE=%d", *rank, *size);
        return -EINVAL;
    }
    b->rank = *rank; /* for messages from here on */
    c->ours = b->page != NULL;
    if (c->ours)
        snprintf(request, sizeof request,
                 "cmd=init pmi_version=1 pmi_subversion=1 pid=%ld where=%llx net=%llx\n",
                 (long)getpid(), (unsigned long long)boot_where_at(),
                 (unsigned long long)boot_namespace("net"));
    else
        snprintf(request, sizeof request, "cmd=init pmi_version=1 pmi_subversion=1\n");
    if ((err = ask(request, "response_to_init", "registering with the launcher", text,
                   &line)))
        return err;
    if (pmi_line_int(&line, "rc", INT_MIN, INT_MAX, &rc) || rc) {
        log_warn("the launcher does not speak PMI 1.1");
        return -EPROTO;
    }
    if ((err = ask("cmd=get_my_kvsname\n", "my_kvsname", "asking for the job's name", text, &line)))
        return err;
    const char *kvs = pmi_line_get(&line, "kvsname");
    if (!kvs || !*kvs || strlen(kvs) >= sizeof c->kvs) {
        log_warn("the launcher gave the job no usable name");
        return -EPROTO;
    }
    strcpy(c->kvs, kvs);
    if ((err = ask("cmd=get_appnum\n", "appnum", "asking for the block number", text, &line)))
        return err;
    if (pmi_line_int(&line, "appnum", -1, INT_MAX, appnum))
        *appnum = -1;
    fcntl(c->fd, F_SETFD, FD_CLOEXEC); /* programs that this one starts are not ranks */
    return 0;
}

/* The store of a key: that of the job, or that of all jobs of our mpiexec. */
static const char *store(const struct pmi_client *c, const char *key)
{
    return strncmp(key, BOOT_ALL, strlen(BOOT_ALL)) ? c->kvs : "all";
}

static int pmi1_put(const char *key, const void *value, size_t len)
{
    struct pmi_client *c = &proc->boot->pmi;
    char hex[2 * BOOT_PIECE_MAX + 1], request[PMI_LINE_MAX], text[PMI_LINE_MAX];
    struct pmi_line line;
    int rc;
    pmi_hex(value, len, hex);
    snprintf(request, sizeof request, "cmd=put kvsname=%s key=%s value=%s\n", store(c, key),
             key, hex);
    int err = ask(request, "put_result", "giving the launcher our address", text, &line);
    if (err)
        return err;
    if (pmi_line_int(&line, "rc", INT_MIN, INT_MAX, &rc) || rc) {
        const char *msg = pmi_line_get(&line, "msg");
        log_warn("the launcher did not take the value of key %s: %s", key,
                 msg ? msg : "no reason given");
        return -EIO;
    }
    return 0;
}

/* The value as text, as it is on the wire. */
static int get_text(const char *key, char *value, size_t room)
{
    struct pmi_client *c = &proc->boot->pmi;
    char request[PMI_LINE_MAX], text[PMI_LINE_MAX];
    struct pmi_line line;
    int rc;
    snprintf(request, sizeof request, "cmd=get kvsname=%s key=%s\n", store(c, key), key);
    int err = ask(request, "get_result", "asking the launcher for a value", text, &line);
    if (err)
        return err;
    const char *v = pmi_line_get(&line, "value");
    if (pmi_line_int(&line, "rc", INT_MIN, INT_MAX, &rc) || rc || !v)
        return -ENOENT;
    if (strlen(v) >= room)
        return -EMSGSIZE;
    strcpy(value, v);
    return 0;
}

static int pmi1_get(const char *key, void *value, size_t *len)
{
    struct pmi_client *c = &proc->boot->pmi;
    char text[PMI_VALUE_MAX];
    /* The caller gets -ETIMEDOUT for what the launcher could not find in time.  Here no answer
     * came, and one may come yet. */
    if (outstanding(c) == -ETIMEDOUT && time_now() < c->late_until)
        return -EINPROGRESS;
    int err = get_text(key, text, sizeof text);
    return err ? err : pmi_unhex(text, value, len);
}

static int pmi1_barrier(void)
{
    char text[PMI_LINE_MAX];
    struct pmi_line line;
    return ask("cmd=barrier_in\n", "barrier_out", "waiting for all processes of the job to start",
               text, &line);
}

static int pmi1_barrier_begin(int *fd)
{
    static const char in[] = "cmd=barrier_in\n";
    *fd = proc->boot->pmi.fd;
    proc->boot->pmi.barrier = 1;
    return send_line(&proc->boot->pmi, in, sizeof in - 1,
                     "waiting for all processes of the job to end");
}

/* The next line is the answer, or a late one to an earlier request.  The caller has peers to serve
 * and its own time limit.  Signals come meanwhile (Hydra reports a death by one), and a line may
 * come in pieces. */
static int pmi1_barrier_test(void)
{
    struct pmi_client *c = &proc->boot->pmi;
    int err = 0;
    while (c->barrier == 1 && !err)
        err = look(c);
    if (err == -ETIMEDOUT)
        return 0;
    c->barrier = 0;
    return err ? lost("waiting for all processes of the job to end", err) : 1;
}

static int pmi1_meet_begin(struct boot_meeting *m, const char *text, int *fd)
{
    struct pmi_client *c = &proc->boot->pmi;
    int err = send_line(c, text, strlen(text), "asking for processes of another job");
    if (err)
        return err;
    *fd = c->fd;
    m->next = c->meetings;
    c->meetings = m;
    return 0;
}

static void forget_in(struct boot_meeting **at, struct boot_meeting *m)
{
    while (*at && *at != m)
        at = &(*at)->next;
    if (*at)
        *at = m->next;
}

static void forget(struct pmi_client *c, struct boot_meeting *m)
{
    forget_in(&c->meetings, m);
    forget_in(&c->spawns, m);
}

static int pmi1_meet_test(struct boot_meeting *m)
{
    struct pmi_client *c = &proc->boot->pmi;
    int err = 0;
    while (!m->done && !err)
        err = look(c);
    if (m->done || err == -ETIMEDOUT)
        return m->done;
    forget(c, m);
    return lost("waiting for processes of another job", err);
}

static int pmi1_meet_leave(struct boot_meeting *m)
{
    struct pmi_client *c = &proc->boot->pmi;
    char text[64];
    int n = snprintf(text, sizeof text, "cmd=unmeet number=%u\n", m->number);
    int err = m->done ? 0 : send_line(c, text, (size_t)n, "leaving a port");
    if (err)
        forget(c, m);
    return err;
}

/* --- programs that Hydra starts ------------------------------------------------------ */

static int pmi1_spawned(char *text, size_t room)
{
    const char *is = var_env_get("PMI_SPAWNED");
    if (strncmp(proc->boot->pmi.kvs, "kvs_", 4) != 0) /* not Hydra: what it serves is not known */
        return -ENOTSUP;
    return is && !strcmp(is, "1") ? get_text(PMI1_SPAWNED_KEY, text, room) : -ENOENT;
}

static int pmi1_spawn_begin(struct boot_meeting *m, const struct boot_program *list, int n,
                            const char *gives, int *fd)
{
    struct pmi_client *c = &proc->boot->pmi;
    struct boot_meeting **at = &c->spawns;
    char *text;
    int err = pmi1_spawn_text(list, n, gives, &text);
    if (!err)
        err = send_line(c, text, strlen(text), "asking for programs to be started");
    free(text);
    if (err)
        return err;
    *fd = c->fd;
    while (*at)
        at = &(*at)->next;
    m->next = NULL;
    *at = m;
    return 0;
}

static int pmi1_service(const char *request, const char *answer, char *value, size_t room)
{
    char text[PMI_LINE_MAX];
    struct pmi_line line;
    int rc = -EPROTO;
    int err = ask(request, answer, "asking the launcher for a port or a name", text, &line);
    if (err)
        return err;
    pmi_line_int(&line, "rc", INT_MIN, 0, &rc);
    const char *v = pmi_line_get(&line, "value");
    if (!rc && value && (!v || strlen(v) >= room))
        rc = -EPROTO;
    if (!rc && value)
        strcpy(value, v);
    return rc;
}

static int pmi1_node_map(char *text, size_t len)
{
    return get_text("PMI_process_mapping", text, len);
}

static int pmi1_job_id(char *text, size_t len)
{
    snprintf(text, len, "%s", proc->boot->pmi.kvs);
    return 0;
}

static int pmi1_finalize(void)
{
    char text[PMI_LINE_MAX];
    struct pmi_line line;
    struct pmi_client *c = &proc->boot->pmi;
    int err = ask("cmd=finalize\n", "finalize_ack", "leaving the launcher", text, &line);
    close(c->fd);
    c->fd = -1;
    return err;
}

static void pmi1_abort(int code, const char *why)
{
    struct pmi_client *c = &proc->boot->pmi;
    char request[PMI_LINE_MAX], hex[1025];
    size_t n = why ? strlen(why) : 0;
    if (n > sizeof hex / 2)
        n = sizeof hex / 2;
    if (c->ours) {
        /* mpiexec prints the reason, so that there is one line, whatever the number of ranks that
         * abort. */
        pmi_hex(why ? why : "", n, hex);
        snprintf(request, sizeof request, "cmd=abort exitcode=%d%s text=%s\n", code,
                 proc->boot->ends_own ? " own=1" : "", hex);
    } else {
        /* Hydra may end before it has passed on the line printed just now. */
        if (why) {
            log_warn("%s", why);
            poll(NULL, 0, ABORT_MS);
        }
        snprintf(request, sizeof request, "cmd=abort exitcode=%d\n", code);
        /* They end all jobs when a process aborts, or ends without a word. */
        if (proc->boot->ends_own && !pmi1_finalize())
            _exit(code);
    }
    send_line(c, request, strlen(request), "aborting");
    _exit(code);
}

const struct boot_ops pmi1_ops = {
    .name = "pmi1",
    .init = pmi1_init,
    .put = pmi1_put,
    .get = pmi1_get,
    .barrier = pmi1_barrier,
    .barrier_begin = pmi1_barrier_begin,
    .barrier_test = pmi1_barrier_test,
    .node_map = pmi1_node_map,
    .job_id = pmi1_job_id,
    .abort = pmi1_abort,
    .finalize = pmi1_finalize,
    .meet_begin = pmi1_meet_begin,
    .meet_test = pmi1_meet_test,
    .meet_leave = pmi1_meet_leave,
    .service = pmi1_service,
    .spawned = pmi1_spawned,
    .spawn_begin = pmi1_spawn_begin,
    .spawns_in_turn = 1,
    .watched = 1,
};

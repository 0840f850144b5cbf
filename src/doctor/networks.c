/* networks.c - each network of this build, put through the bodies of the contract.  Start with
 * networks_look(). */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sched.h"
#include "boot/boot.h"
#include "doctor/onesided.h"
#include "doctor/diagnosis.h"
#include "var/var.h"

/* --- what it promises ------------------------------------------------------------------- */

static struct promise *made; /* of the network whose processes run; shared with them */

static int no_message(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    (void)peer, (void)cls, (void)msg, (void)len;
    ++*(int *)up;
    job_event();
    return 0;
}

/* Bounce messages of 8 bytes. */
static void ping(struct end *e, int *taken)
{
    enum { WARM = 100, ROUNDS = 1000 };
    uint64_t bytes = 0, begin = 0;
    const struct iovec v = {&bytes, sizeof bytes};
    end_connect(e, 1 - e->rank);
    for (int i = 0; i < WARM + ROUNDS; i++) {
        if (i == WARM)
            begin = time_now();
        for (int turn = 0; turn < 2; turn++) {
            if (turn == e->rank)
                while (e->ops->am(e->tp, (unsigned)(1 - e->rank), TP_REPLY, &v, 1, NULL) != 0)
                    end_poll(e);
            else
                while (*taken <= i)
                    end_poll(e);
        }
    }
    if (e->rank == 0)
        made->ping_us = (double)(time_now() - begin) / (2e3 * ROUNDS);
}

static void body_promise(void)
{
    struct end e;
    int taken = 0;
    end_open(&e, no_message, &taken);
    job_check(boot_barrier() == 0);
    if (e.rank == 0) {
        made->caps = e.caps;
        if (e.ops->describe)
            e.ops->describe(e.tp, made->about, sizeof made->about);
        if (e.ops->variant)
            e.ops->variant(e.tp, made->variant, sizeof made->variant);
        made->open = 1;
    }
    if (e.size == 2)
        ping(&e, &taken);
    end_leave(&e);
    end_close(&e);
}

static void body_put_time(void)
{
    enum { WARM = 50, ROUNDS = 500 };
    one_open();
    if (one.e.caps.flags & TP_PUT && one.e.rank == 0) {
        uint64_t begin = 0;
        for (int i = 0; i < WARM + ROUNDS; i++) {
            if (i == WARM)
                begin = time_now();
            one_put(0, 0, 8);
            one_flush();
        }
        made->put_us = (double)(time_now() - begin) / (1e3 * ROUNDS);
    }
    one_close();
}

/* --- what holds --------------------------------------------------------------------------- */

static const struct look {
    const char *name;
    enum part part;
    void (*body)(void);
    int many; /* as many processes as the row has for a crowd */
    enum fault otherwise; /* where the processes say nothing, since they crashed */
} looks[] = {
    {"messages each alone", PART_MESSAGES, body_alone, 0, FAULT_INJECT},
    {"messages of a crowd", PART_MESSAGES, body_crowd, 1, FAULT_ORDER},
    {"completions of messages", PART_MESSAGES, body_done_once, 0, FAULT_LOST},
    {"long messages that stay in place", PART_MESSAGES, body_kept, 0, FAULT_LOST},
    {"puts and gets", PART_PUTS, body_put_get, 0, FAULT_TORN},
    {"many puts at once", PART_PUTS, body_many, 0, FAULT_TORN},
    {"puts to a stopped process", PART_PUTS, body_stopped, 0, FAULT_EARLY},
    {"keys of memory given back", PART_PUTS, body_stale, 0, FAULT_KEY},
    {"atomics", PART_ATOMICS, body_atomics, 0, FAULT_BESIDE},
    {"counters", PART_ATOMICS, body_counters, 1, FAULT_BESIDE},
    {"atomics beside the processor's", PART_ATOMICS, body_mixed, 1, FAULT_BESIDE},
    {"atomics on a stopped process", PART_ATOMICS, body_stopped_atomics, 0, FAULT_EARLY},
};
/* Not counted: what it promises is asked by them. */
static const struct look opening = {"opening it", PART_MESSAGES, body_promise, 0, FAULT_OPEN},
                         pinging = {"8 bytes to and fro", PART_MESSAGES, body_promise, 0,
                                    FAULT_LOST};
enum { LOOKS = sizeof looks / sizeof *looks };
_Static_assert((int)LOOKS < (int)FINDINGS, "each look, and the opening, finds one fault at most");

int network_offers(const struct network *n, enum part part)
{
    unsigned flags = n->promise->caps.flags;
    return n->promise->open == 1 &&
           (part == PART_MESSAGES || flags & (part == PART_PUTS ? TP_PUT : TP_ATOMIC));
}

int network_fails(const struct network *n, enum part part)
{
    for (int i = 0; i < n->nfindings; i++)
        if (n->finding[i].part == part)
            return 1;
    return 0;
}

int network_looked(const struct network *n, enum part part)
{
    return n->looked >> part & 1;
}

static void find(struct network *n, const struct look *l, const struct job_end *end)
{
    struct finding *f = &n->finding[n->nfindings++];
    *f = (struct finding){.part = l->part, .fault = end->fault ? end->fault : l->otherwise,
                          .look = l->name};
    snprintf(f->text, sizeof f->text, "%s",
             end->hung    ? "waited for without end"
             : *end->text ? end->text
                          : "a process crashed");
}

/* 0, or -errno: its processes cannot be started, so nothing is known. */
static int look_at(struct network *n, const struct look *l, unsigned quiet)
{
    struct job_end end = {0};
    /* what has failed once fails in other ways, too */
    if (!network_offers(n, l->part) || network_fails(n, l->part) ||
        (l->body == body_stale && !n->row->keys_end))
        return 0;
    int failed = row_look(n->row, l->many ? n->row->many : n->row->few, l->body, quiet, &end);
    if (failed < 0)
        return failed;
    n->looks++;
    n->looked |= 1u << l->part;
    if (failed)
        find(n, l, &end);
    return 0;
}

int networks_named(const char *only, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = only; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == n && !strncmp(at, name, n))
            return 1;
    return !only;
}

/* UCX offers native access only where it is asked for; without a card it is tried over TCP. */
static struct row rows[] = {
    {.few = 2, .many = 4},
    {.few = 2, .many = 4, .keys_end = 1},
    {.few = 2, .many = 4, .set = "MPIR_CVAR_RMA_NATIVE_PUT_MIN=1", .env = "UCX_TLS=tcp,self"},
};
static const char *const names[] = {"shm", "ofi", "ucx"};
enum { ROW_UCX = 2 };
enum { ROWS = sizeof rows / sizeof *rows };
_Static_assert((int)ROWS <= (int)NETWORKS, "room for all");

int networks_known(const char *only)
{
    for (const char *at = only; *at; at += strcspn(at, ","), at += *at == ',') {
        int i = 0;
        while (i < ROWS && (strlen(names[i]) != strcspn(at, ",") ||
                            strncmp(at, names[i], strlen(names[i]))))
            i++;
        if (i == ROWS)
            return 0;
    }
    return *only != 0;
}

/* What it promises, and then what holds.  0 or -errno. */
static int network_look(struct network *n, const char *part, unsigned quiet)
{
    struct job_end end = {0}, ignored = {0};
    int failed = row_look(n->row, 2, body_promise, quiet, &end), err = failed < 0 ? failed : 0;
    /* It may say that it does not open; more than that is a fault. */
    if (!err && made->open == 0 && (end.hung || end.crashed))
        find(n, &opening, &(struct job_end){.hung = end.hung});
    else
        snprintf(n->why, sizeof n->why, "%s", end.text);
    if (!err && made->open == 1 && made->caps.flags & TP_PUT)
        err = row_look(n->row, 2, body_put_time, quiet, &ignored);
    for (int k = 0; k < LOOKS && err >= 0; k++)
        if (!part || !strcmp(part, part_names[looks[k].part]))
            err = look_at(n, &looks[k], quiet);
    /* last, as a look has a better name for it */
    if (err >= 0 && failed && made->open == 1 && !network_fails(n, PART_MESSAGES))
        find(n, &pinging, &end);
    return err < 0 ? err : 0;
}

int networks_look(struct report *r, const char *only, const char *part, unsigned quiet)
{
    for (int i = 0; i < ROWS; i++) {
        struct network *n = &r->network[r->nnetworks];
        if (!networks_named(only, names[i]))
            continue;
        made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (made == MAP_FAILED)
            return -ENOMEM;
        r->nnetworks++;
        rows[i].ops = tp_find(names[i]);
        if (i == ROW_UCX && var_env_get("UCX_TLS"))
            rows[i].env = NULL; /* what the user has set */
        *n = (struct network){.row = &rows[i], .name = names[i], .promise = made};
        if (!rows[i].ops) {
            made->open = -1;
            continue;
        }
        int err = network_look(n, part, quiet);
        if (err)
            return err;
    }
    return 0;
}

/* networks.c - each network of this build, put through the bodies of the contract.  Start with
 * networks_look(). */
#include <errno.h>
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
enum { LOOKS = sizeof looks / sizeof *looks };
_Static_assert((int)LOOKS <= (int)FINDINGS, "each look finds one fault at most");

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

static void look_at(struct network *n, const struct look *l, unsigned quiet)
{
    struct job_end end = {0};
    /* what has failed once fails in other ways, too */
    if (!network_offers(n, l->part) || network_fails(n, l->part) ||
        (l->body == body_stale && !n->row->keys_end))
        return;
    n->looks++;
    if (row_look(n->row, l->many ? n->row->many : n->row->few, l->body, quiet, &end) == 0)
        return;
    struct finding *f = &n->finding[n->nfindings++];
    *f = (struct finding){.part = l->part, .fault = end.fault ? end.fault : l->otherwise,
                          .look = l->name};
    snprintf(f->text, sizeof f->text, "%s",
             end.hung    ? "waited for without end"
             : *end.text ? end.text
                         : "a process crashed");
}

static int is_named(const char *only, const char *name)
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

int networks_look(struct report *r, const char *only, const char *part, unsigned quiet)
{
    for (int i = 0; i < ROWS; i++) {
        struct network *n = &r->network[r->nnetworks];
        struct job_end end = {0};
        if (!is_named(only, names[i]))
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
        row_look(&rows[i], 2, body_promise, quiet, &end);
        if (made->open == 1 && made->caps.flags & TP_PUT)
            row_look(&rows[i], 2, body_put_time, quiet, &end);
        for (int k = 0; k < LOOKS; k++)
            if (!part || !strcmp(part, part_names[looks[k].part]))
                look_at(n, &looks[k], quiet);
    }
    return 0;
}

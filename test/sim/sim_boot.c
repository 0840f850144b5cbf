/* sim_boot.c - job services of one or two simulated jobs: a key-value list, a barrier that yields,
 * a node map in blocks, ports. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sched.h"
#include "base/proc.h"
#include "boot/boot_types.h"
#include "sim_types.h"
#include "virtual.h"

static int job_of(int rank)
{
    return the_sim->k.second && rank >= the_sim->k.second;
}

static int first_of(int job)
{
    return job ? the_sim->k.second : 0;
}

static int size_of(int job)
{
    int all = the_sim->k.ranks, second = the_sim->k.second;
    return job ? all - second : second ? second : all;
}

static int sim_init(int *rank, int *size, int *appnum)
{
    int me = the_sim->now->rank, job = job_of(me);
    char first[16];
    *rank = the_sim->k.world ? the_sim->k.me : me - first_of(job);
    *size = the_sim->k.world ? the_sim->k.world : size_of(job);
    *appnum = 0;
    snprintf(first, sizeof first, "%d", first_of(job));
    if (the_sim->k.second) /* boot_place() looks at once */
        setenv(JOB_FIRST_ENV, first, 1);
    else
        unsetenv(JOB_FIRST_ENV);
    proc->boot->far = the_sim->k.far;
    proc->boot->page = the_sim->k.world ? NULL : &the_sim->job.page; /* virtual ranks do not die */
    return 0;
}

static int sim_put(const char *key, const void *value, size_t len)
{
    struct sim_kv *kv = sim_alloc(sizeof *kv);
    memset(kv, 0, sizeof *kv);
    if (len > sizeof kv->value || strlen(key) >= sizeof kv->key)
        sim_fail("boot put of %zu bytes under %s", len, key);
    strcpy(kv->key, key);
    memcpy(kv->value, value, len);
    kv->len = len;
    struct sim_rank_state *r = &the_sim->ranks[the_sim->now->rank];
    int all = !strncmp(key, BOOT_ALL, strlen(BOOT_ALL));
    struct sim_kv **list = all ? &the_sim->published : &r->kv; /* others may ask at once */
    kv->job = all ? -1 : job_of(the_sim->now->rank);
    kv->next = *list;
    *list = kv;
    r->launcher.puts++;
    r->launcher.bytes += (long)len;
    return 0;
}

static int value_of(const char *key, void *value, size_t *len)
{
    if (the_sim->k.world && virtual_get(key, value, len) == 0)
        return 0;
    int any = the_sim->k.far && !strncmp(key, BOOT_ALL, strlen(BOOT_ALL)); /* as a card would */
    key += any ? strlen(BOOT_ALL) : 0;
    for (struct sim_kv *kv = the_sim->published; kv; kv = kv->next)
        if (!strcmp(kv->key, key) &&
            (any || kv->job < 0 || kv->job == job_of(the_sim->now->rank))) {
            if (kv->len > *len)
                return -ENOSPC;
            memcpy(value, kv->value, kv->len);
            *len = kv->len;
            return 0;
        }
    return -ENOENT;
}

static int sim_get(const char *key, void *value, size_t *len)
{
    struct sim_launcher *l = &the_sim->ranks[the_sim->now->rank].launcher;
    int err = value_of(key, value, len);
    l->gets++;
    l->bytes += err ? 0 : (long)*len;
    return err;
}

/* All that live and have not ended are there. */
void sim_barrier_check(struct sim *s)
{
    for (int job = 0; job < 2; job++) {
        int gone = 0, size = size_of(job);
        for (int i = 0; i < size; i++)
            gone += s->ranks[first_of(job) + i].dead || s->ranks[first_of(job) + i].ended;
        if (!s->barrier_here[job] || s->barrier_here[job] + gone < size)
            continue;
        s->barrier_here[job] = 0;
        s->barrier_round[job]++;
        sim_moved(s);
    }
}

static int sim_barrier_begin(int *fd)
{
    *fd = -1;
    struct sim *s = the_sim;
    struct sim_rank_state *r = &s->ranks[s->now->rank];
    int job = job_of(s->now->rank);
    r->barrier_round = s->barrier_round[job];
    while (r->kv) {
        struct sim_kv *kv = r->kv;
        r->kv = kv->next;
        kv->next = s->published;
        s->published = kv;
    }
    sim_moved(s);
    s->barrier_here[job]++;
    r->launcher.barriers++;
    sim_barrier_check(s);
    return 0;
}

static int sim_barrier_test(void)
{
    int me = the_sim->now->rank;
    return the_sim->ranks[me].barrier_round != the_sim->barrier_round[job_of(me)];
}

static int sim_barrier(void)
{
    int fd;
    sim_barrier_begin(&fd);
    while (!sim_barrier_test())
        sched->yield("the boot barrier", -1, 1);
    return 0;
}

static int sim_node_map(char *text, size_t len)
{
    if (the_sim->k.world) { /* each alone */
        snprintf(text, len, "(vector,(0,%d,1))", the_sim->k.world);
        return 0;
    }
    /* As many ranks per node as divide evenly, the last node takes what remains. */
    int size = size_of(job_of(the_sim->now->rank)), nodes = the_sim->k.nodes;
    nodes = nodes < size ? nodes : size;
    int per = size / nodes, rest = size - per * nodes;
    if (rest)
        snprintf(text, len, "(vector,(0,%d,%d),(%d,1,%d))", nodes, per, nodes - 1, rest);
    else
        snprintf(text, len, "(vector,(0,%d,%d))", nodes, per);
    return 0;
}

static int sim_job_id(char *text, size_t len)
{
    /* Names of sockets are made from it: several simulators may run at once. */
    snprintf(text, len, "sim.%ld.%llx", (long)getpid(), (unsigned long long)the_sim->k.seed);
    return 0;
}

static void sim_abort(int code, const char *why)
{
    if (!the_sim->k.aborts || !strstr(why, the_sim->k.aborts))
        sim_fail("boot_abort(%d): %s", code, why);
    if (the_sim->k.at_abort)
        the_sim->k.at_abort();
    the_sim->aborted = 1;
    sim_end_rank();
}

static int sim_finalize(void)
{
    proc->boot->page = NULL; /* not a mapping */
    return 0;
}

/* --- ports ---------------------------------------------------------------------------------- */

static struct sim_meet *meet_of(const struct boot_meeting *m)
{
    for (int i = 0; i < SIM_MEETS; i++)
        if (the_sim->meet[i].m == m)
            return &the_sim->meet[i];
    sim_fail(m ? "a meeting that was not begun" : "no place for a meeting");
}

static void answer(struct sim_meet *x, int rc, const char *brought)
{
    x->answered = 1;
    x->rc = rc;
    strcpy(x->brought, brought);
    sim_moved(the_sim);
}

static int sim_meet_begin(struct boot_meeting *m, const char *text, int *fd)
{
    struct sim_meet *x = meet_of(NULL), *y = NULL;
    unsigned number;
    *fd = -1;
    *x = (struct sim_meet){.rank = the_sim->now->rank};
    SIM_CHECK(sscanf(text, "cmd=meet number=%u accepts=%d port=%512s bring=%512s", &number,
                     &x->accepts, x->port, x->bring) == 4);
    for (int i = 0; i < SIM_MEETS && !y; i++) {
        struct sim_meet *z = &the_sim->meet[i];
        if (z->m && !z->answered && z->accepts != x->accepts && !strcmp(z->port, x->port) &&
            !the_sim->ranks[z->rank].dead)
            y = z;
    }
    x->m = m;
    if (y) {
        answer(x, 0, y->bring);
        answer(y, 0, x->bring);
    }
    return 0;
}

/* All ports are rank 0's. */
static int sim_meet_test(struct boot_meeting *m)
{
    struct sim_meet *x = meet_of(m);
    const struct sim_rank_state *owner = &the_sim->ranks[0];
    if (!x->answered && (the_sim->port_closed || owner->dead || owner->ended))
        answer(x, -ENOENT, "");
    if (!x->answered || sim_chance(the_sim, 40)) /* it is on its way */
        return 0;
    m->len = sizeof m->brought;
    SIM_CHECK(pmi_unhex(x->brought, m->brought, &m->len) == 0);
    m->rc = x->rc;
    m->done = 1;
    x->m = NULL;
    return 1;
}

static int sim_meet_leave(struct boot_meeting *m)
{
    struct sim_meet *x = meet_of(m);
    if (!x->answered)
        answer(x, -ECANCELED, "");
    return 0;
}

static int sim_service(const char *request, const char *result, char *value, size_t room)
{
    (void)result;
    SIM_CHECK(!value && !strncmp(request, "cmd=close_port", strlen("cmd=close_port")));
    the_sim->port_closed = 1;
    sim_moved(the_sim);
    return 0;
}

/* A job alone meets none: no scenario of one job calls for a port. */
const struct boot_ops sim_boot_ops = {.name = "sim", .init = sim_init, .put = sim_put,
                                      .get = sim_get, .barrier = sim_barrier,
                                      .barrier_begin = sim_barrier_begin,
                                      .barrier_test = sim_barrier_test, .node_map = sim_node_map,
                                      .job_id = sim_job_id, .abort = sim_abort,
                                      .finalize = sim_finalize, .meet_begin = sim_meet_begin,
                                      .meet_test = sim_meet_test, .meet_leave = sim_meet_leave,
                                      .service = sim_service};

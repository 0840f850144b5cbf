/* sim_boot.c - job services of a simulated job: a key-value list, a barrier that yields, a node map
 * in blocks. */
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

static int sim_init(int *rank, int *size, int *appnum)
{
    *rank = the_sim->k.world ? the_sim->k.me : the_sim->now->rank;
    *size = the_sim->k.world ? the_sim->k.world : the_sim->k.ranks;
    *appnum = 0;
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
    kv->next = r->kv;
    r->kv = kv;
    return 0;
}

static int sim_get(const char *key, void *value, size_t *len)
{
    if (the_sim->k.world && virtual_get(key, value, len) == 0)
        return 0;
    for (struct sim_kv *kv = the_sim->published; kv; kv = kv->next)
        if (!strcmp(kv->key, key)) {
            if (kv->len > *len)
                return -ENOSPC;
            memcpy(value, kv->value, kv->len);
            *len = kv->len;
            return 0;
        }
    return -ENOENT;
}

/* All that live and have not ended are there. */
void sim_barrier_check(struct sim *s)
{
    int gone = 0;
    for (int i = 0; i < s->k.ranks; i++)
        gone += s->ranks[i].dead || s->ranks[i].ended;
    if (!s->barrier_here || s->barrier_here + gone < s->k.ranks)
        return;
    s->barrier_here = 0;
    s->barrier_round++;
    sim_moved(s);
}

static int sim_barrier_begin(int *fd)
{
    *fd = -1;
    struct sim *s = the_sim;
    struct sim_rank_state *r = &s->ranks[s->now->rank];
    r->barrier_round = s->barrier_round;
    while (r->kv) {
        struct sim_kv *kv = r->kv;
        r->kv = kv->next;
        kv->next = s->published;
        s->published = kv;
    }
    sim_moved(s);
    s->barrier_here++;
    sim_barrier_check(s);
    return 0;
}

static int sim_barrier_test(void)
{
    return the_sim->ranks[the_sim->now->rank].barrier_round != the_sim->barrier_round;
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
    int per = the_sim->k.ranks / the_sim->k.nodes, nodes = the_sim->k.nodes;
    int rest = the_sim->k.ranks - per * nodes;
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

const struct boot_ops sim_boot_ops = {.name = "sim", .init = sim_init, .put = sim_put,
                                      .get = sim_get, .barrier = sim_barrier,
                                      .barrier_begin = sim_barrier_begin,
                                      .barrier_test = sim_barrier_test, .node_map = sim_node_map,
                                      .job_id = sim_job_id, .abort = sim_abort,
                                      .finalize = sim_finalize};

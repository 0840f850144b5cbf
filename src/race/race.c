/* race.c - the clock of this process, what it knows of others and learns from collectives. */
#include "race/report/report.h"

#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "dt/dt.h"
#include "var/var.h"

_Noreturn void race_no_memory(void)
{
    log_fatal("no memory for the race checker (MPIR_CVAR_RACE)");
}

/* --- the clock -------------------------------------------------------------------------------- */

struct race_thread *race_self(void)
{
    struct race *r = proc->race;
    return &r->thread[r->runtime ? r->runtime->number() : 0];
}

/* The thread's loads and stores so far have its clock and what it knows now. */
static void flush(const struct race *r)
{
    if (r->runtime)
        r->runtime->flush();
}

uint64_t race_tick(void)
{
    struct race_thread *t = race_self();
    flush(proc->race);
    return t->ended = ++t->clock;
}

void race_op_tick(void)
{
    flush(proc->race);
    race_self()->clock++;
}

struct race_view *race_knowledge(void)
{
    const struct race_thread *t = race_self();
    race_advice_release();
    struct race_view *v = race_view_with(t->view, t->tid, t->clock);
    if (!v)
        race_no_memory();
    return v;
}

void race_know(struct race_thread *t, struct race_view *v)
{
    race_view_drop(t->view);
    t->view = v;
    t->view_no = ++proc->race->view_nos;
    if (t->clock < v->floor) /* it slept while others ended a phase */
        t->clock = v->floor;
}

void race_learn(const struct race_view *v)
{
    struct race_thread *t = race_self();
    if (race_view_holds(t->view, v, t->tid))
        return;
    flush(proc->race);
    struct race_view *both = race_view_join(t->view, v);
    if (!both) /* what it does not know would make races */
        race_no_memory();
    race_know(t, both);
}

/* The segment of this library that holds the code. */
static int own_code(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct race *r = arg;
    uint64_t here = (uint64_t)(uintptr_t)race_tick;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        uint64_t end = start + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && here >= start && here < end) {
            r->code_at = start;
            r->code_end = end;
            return 1;
        }
    }
    return 0;
}

static int is_own(const struct race *r, uint64_t address)
{
    return address >= r->code_at && address < r->code_end;
}

/* Not every slow function is reached by a jump: then its return address lies in this library, and
 * the program's stands above it on the stack. */
static uint64_t program_address(const struct race *r, uint64_t address)
{
    void *frame[24];
    if (!is_own(r, address) || sched)
        return address;
    int n = backtrace(frame, 24);
    for (int i = 0; i < n; i++)
        if (!is_own(r, (uint64_t)(uintptr_t)frame[i]))
            return (uint64_t)(uintptr_t)frame[i];
    return address;
}

uint64_t race_place(uint64_t key)
{
    struct race *r = proc->race;
    void *known = map_get(&r->sites, key);
    if (known)
        return (uint64_t)(uintptr_t)known;
    site_renew();
    uint64_t site = site_portable(key);
    if (site)
        map_put(&r->sites, key, (void *)(uintptr_t)site);
    return site;
}

uint64_t race_site(const void *address)
{
    return race_place(program_address(proc->race, (uint64_t)(uintptr_t)address));
}

/* --- messages --------------------------------------------------------------------------------- */

static int has_left(void *arg)
{
    const struct race_peer *p = arg;
    return list_empty(&p->posts) || boot_failed_count();
}

void race_sending(struct comm *c, int dest)
{
    struct race *r = proc->race;
    if (dest < 0 || r->off)
        return;
    int world = comm_peer_world(c, dest);
    if (!boot_is_own(world))
        return;
    struct race_peer *p = (uint32_t)world == r->me ? NULL : race_peer_of(world);
    const struct race_thread *t = race_self();
    if (r->runtime)
        r->runtime->flush(); /* loads and stores are news as well */
    if (!p || (p->sent_any && p->sent_view == t->view_no && p->sent_clock == t->clock))
        return;
    race_tick();
    struct race_view *v = race_knowledge();
    p->sent_any = 1;
    p->sent_view = t->view_no;
    p->sent_clock = t->clock;
    race_send_clock(world, 0, 0, v);
    race_view_drop(v);
    progress_wait(has_left, p, "room for a clock of the race checker", world);
    if (!am_ordered(world)) /* the message might overtake it */
        race_settle();
}

void race_received(struct comm *c, int source)
{
    if (source < 0 || source >= comm_peer_size(c))
        return;
    struct race_peer *p = map_get(&proc->race->peers, (uint64_t)comm_peer_world(c, source) + 1);
    if (!p || !p->heard)
        return;
    race_learn(p->heard);
    if (proc->race->threads > 1) /* another thread may receive what was sent before */
        return;
    race_view_drop(p->heard);
    p->heard = NULL;
}

/* --- life ------------------------------------------------------------------------------------- */

/* The program's exit status becomes the code of MPIR_CVAR_RACE_EXIT. */
static void at_exit(int status, void *arg)
{
    const struct race_exit *x = arg;
    if (status || !x->found || !x->code)
        return;
    fflush(NULL);
    _exit(x->code);
}

static int threads_make(struct race *r)
{
    struct race_view *v = race_view_make(0, NULL, 0);
    if (!v)
        return -ENOMEM;
    r->threads = race_is_full() ? RACE_THREADS : 1;
    r->tids = (uint32_t)(r->threads * boot_size());
    for (int i = 0; i < r->threads; i++)
        r->thread[i] = (struct race_thread){(uint32_t)(i * boot_size() + race_rank()), 0, 0,
                                            ++r->view_nos, race_view_ref(v)};
    race_view_drop(v);
    return 0;
}

int race_is_full(void)
{
    return !strcmp(cvar.race, "full");
}

int race_init(void)
{
    if (!strcmp(cvar.race, "off"))
        return 0;
    if (strcmp(cvar.race, "rma") && strcmp(cvar.race, "full")) {
        char why[320];
        snprintf(why, sizeof why, "MPI_Init: MPIR_CVAR_RACE is \"%.200s\"; it may be off, rma or "
                 "full", cvar.race);
        boot_abort(1, why);
    }
    struct race *r = calloc(1, sizeof *r);
    struct race_exit *x = calloc(1, sizeof *x);
    uint8_t *did = r && x && !threads_make(r) ? calloc(r->tids, 1) : NULL;
    if (!did) {
        free(r);
        free(x);
        return -ENOMEM;
    }
    r->me = (uint32_t)boot_rank();
    r->pend_max = RACE_PEND_MAX;
    r->exit = x;
    x->code = (int)cvar.race_exit;
    map_init(&r->wins);
    map_init(&r->peers);
    map_init(&r->open);
    map_init(&r->pairs);
    map_init(&r->sites);
    map_init(&r->objects);
    list_init(&r->busy);
    list_init(&r->waiting);
    race_region_init(&r->region, (size_t)cvar.race_mem, race_report, NULL);
    r->region.ranks = (uint32_t)boot_size();
    r->region.did = did;
    dl_iterate_phdr(own_code, r);
    proc->race = r;
    if (place_open())
        return -ENOMEM;
    rma_watched(1);
    if (!sched && x->code)
        on_exit(at_exit, x);
    race_told_init();
    race_msg_init();
    if (race_advice_init() || race_meet_init() || race_graph_init())
        return -ENOMEM;
    if (r->advice || r->graph)
        r->region.ordered = race_ordered;
    return race_full_init();
}

void race_ending(void)
{
    struct race *r = proc->race;
    size_t at = 0;
    if (!r)
        return;
    for (struct map_entry *e; (e = map_next(&r->wins, &at)) != NULL;)
        race_send_open(e->value);
    race_settle();
    if (!boot_failed_count()) {
        race_report_waiting(RACE_OPEN, race_hear(proc->obj->world, 1) >= 0);
        race_tell_all();
        race_summary();
        race_advice_tell();
        race_graph_write();
    }
    race_report_waiting(RACE_OPEN, 0);
    r->off = 1;
    race_tell_all();
    race_full_stop();
}

void race_finalize(void)
{
    struct race *r = proc->race;
    if (!r)
        return;
    progress_hook_del(&r->hook);
    race_wins_free();
    race_report_waiting(RACE_OPEN, 0);
    race_msg_free();
    race_region_free(&r->region);
    free(r->region.did);
    race_advice_free();
    race_meet_free();
    race_graph_free();
    race_told_free();
    place_close();
    map_destroy(&r->pairs);
    map_destroy(&r->sites);
    race_full_free();
    race_view_drop(r->tell);
    if (sched || !r->exit->code)
        free(r->exit);
    free(r);
    proc->race = NULL;
}

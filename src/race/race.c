/* race.c - the clocks of the threads of this process, messages that carry them, and the life of the
 * checker. Start with race_acquire() and race_release(). */
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

/* The thread's loads and stores so far have its clock and vector clock of now. */
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

struct race_vclock *race_release(void)
{
    const struct race_thread *t = race_self();
    race_advice_release();
    struct race_vclock *v = race_vclock_with(t->vclock, t->tid, t->clock);
    if (!v)
        race_no_memory();
    return v;
}

void race_set_vclock(struct race_thread *t, struct race_vclock *v)
{
    race_vclock_drop(t->vclock);
    t->vclock = v;
    t->vclock_no = ++proc->race->vclock_nos;
    if (t->clock < v->floor) /* it slept while others ended a phase */
        t->clock = v->floor;
}

void race_acquire(const struct race_vclock *v)
{
    struct race_thread *t = race_self();
    if (race_vclock_includes(t->vclock, v, t->tid))
        return;
    flush(proc->race);
    struct race_vclock *both = race_vclock_join(t->vclock, v);
    if (!both) /* what is left out would make races */
        race_no_memory();
    race_set_vclock(t, both);
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

uint64_t race_site_at(uint64_t key)
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
    return race_site_at(program_address(proc->race, (uint64_t)(uintptr_t)address));
}

/* --- messages --------------------------------------------------------------------------------- */

static int has_left(void *arg)
{
    const struct race_peer *p = arg;
    return list_empty(&p->queue) || boot_failed_count();
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
    if (!p || (p->sent_any && p->sent_vclock_no == t->vclock_no && p->sent_clock == t->clock))
        return;
    race_tick();
    struct race_vclock *v = race_release();
    p->sent_any = 1;
    p->sent_vclock_no = t->vclock_no;
    p->sent_clock = t->clock;
    race_send_clock(world, 0, 0, v);
    race_vclock_drop(v);
    progress_wait(has_left, p, "room for a clock of the race checker", world);
    if (!am_ordered(world)) /* the message might overtake it */
        race_wait_acks();
}

void race_received(struct comm *c, int source)
{
    if (source < 0 || source >= comm_peer_size(c))
        return;
    struct race_peer *p = map_get(&proc->race->peers, (uint64_t)comm_peer_world(c, source) + 1);
    if (!p || !p->received)
        return;
    race_acquire(p->received);
    if (proc->race->threads > 1) /* another thread may receive what was sent before */
        return;
    race_vclock_drop(p->received);
    p->received = NULL;
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
    struct race_vclock *v = race_vclock_make(0, NULL, 0);
    if (!v)
        return -ENOMEM;
    r->threads = race_is_full() ? RACE_THREADS : 1;
    r->tids = (uint32_t)(r->threads * boot_size());
    for (int i = 0; i < r->threads; i++)
        r->thread[i] = (struct race_thread){(uint32_t)(i * boot_size() + race_rank()), 0, 0,
                                            ++r->vclock_nos, race_vclock_ref(v)};
    race_vclock_drop(v);
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
    uint8_t *atomics = r && x && !threads_make(r) ? calloc(r->tids, 1) : NULL;
    if (!atomics) {
        free(r);
        free(x);
        return -ENOMEM;
    }
    r->me = (uint32_t)boot_rank();
    r->pending_max = RACE_PENDING_MAX;
    r->exit = x;
    x->code = (int)cvar.race_exit;
    map_init(&r->wins);
    map_init(&r->peers);
    map_init(&r->open);
    map_init(&r->pairs);
    map_init(&r->sites);
    map_init(&r->objects);
    list_init(&r->busy);
    list_init(&r->undecided);
    race_shadow_init(&r->shadow, (size_t)cvar.race_mem, race_report, NULL);
    r->shadow.ranks = (uint32_t)boot_size();
    r->shadow.thread_atomics = atomics;
    dl_iterate_phdr(own_code, r);
    proc->race = r;
    if (place_open())
        return -ENOMEM;
    rma_watched(1);
    if (!sched && x->code)
        on_exit(at_exit, x);
    race_print_init();
    race_msg_init();
    if (race_advice_init() || race_barrier_init() || race_graph_init())
        return -ENOMEM;
    if (r->advice || r->graph)
        r->shadow.ordered = race_ordered;
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
    race_wait_acks();
    if (!boot_failed_count()) {
        race_report_undecided(RACE_OPEN, race_exchange_atomics(proc->obj->world, 1) >= 0);
        race_print_all();
        race_summary();
        race_advice_print();
        race_graph_write();
    }
    race_report_undecided(RACE_OPEN, 0);
    r->off = 1;
    race_print_all();
    race_full_stop();
}

void race_finalize(void)
{
    struct race *r = proc->race;
    if (!r)
        return;
    progress_hook_del(&r->hook);
    race_wins_free();
    race_report_undecided(RACE_OPEN, 0);
    race_msg_free();
    race_shadow_free(&r->shadow);
    free(r->shadow.thread_atomics);
    race_advice_free();
    race_barrier_free();
    race_graph_free();
    race_print_free();
    place_close();
    map_destroy(&r->pairs);
    map_destroy(&r->sites);
    race_full_free();
    race_vclock_drop(r->answer);
    if (sched || !r->exit->code)
        free(r->exit);
    free(r);
    proc->race = NULL;
}

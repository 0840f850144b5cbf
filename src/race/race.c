/* race.c - the life of the checker. Start with race_init(). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sched.h"
#include "boot/boot.h"
#include "dt/dt.h"
#include "race/report/report.h"
#include "race/watched.h"
#include "var/var.h"

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
        r->thread[i] = (struct race_thread){.tid = (uint32_t)(i * boot_size() + race_rank()),
                                            .vclock_no = ++r->vclock_nos,
                                            .vclock = race_vclock_ref(v)};
    race_vclock_drop(v);
    return 0;
}

static const struct watcher race_watcher = {
    .ended = race_ended, .win_made = race_win_made, .win_freed = race_win_freed,
    .sending = race_sending, .received = race_received, .recv_begun = race_watch_recv,
    .send_prepared = race_watch_send_init, .sync_begins = race_before, .sync_ended = race_after,
    .op = race_op, .noting = race_noting, .note_lost = race_note_undo,
    .note_lags = race_note_awaits, .noted = race_noted, .own_job = 1};

/* Mode full. */
static const struct watcher buffer_watcher = {
    .touched = race_accessed, .uses = race_watch_uses, .partition = race_watch_partition,
    .released = race_watch_released, .op_runs = race_op_runs};

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
    list_init(&r->uses);
    race_shadow_init(&r->shadow, (size_t)cvar.race_mem, race_report, NULL);
    r->shadow.ranks = (uint32_t)boot_size();
    r->shadow.thread_atomics = atomics;
    proc->race = r;
    if (place_open())
        return -ENOMEM;
    if (watch_add(&race_watcher))
        return -ENOMEM;
    if (!sched && x->code)
        on_exit(at_exit, x);
    race_print_init();
    race_send_init();
    race_batches_init();
    am_handler(RACE_CLOCK, race_on_clock);
    am_handler(RACE_RELEASE, race_on_release);
    am_handler(RACE_ASK, race_on_ask);
    am_handler(RACE_ANSWER, race_on_answer);
    race_note_init();
    if (race_advice_init() || race_barrier_init() || race_graph_init())
        return -ENOMEM;
    if (r->advice || r->graph)
        r->shadow.ordered = race_ordered;
    int err = race_full_init();
    return !err && r->runtime ? watch_add(&buffer_watcher) : err;
}

void race_ending(void)
{
    struct race *r = proc->race;
    size_t at = 0;
    if (!r)
        return;
    for (struct map_entry *e; (e = map_next(&r->wins, &at)) != NULL;)
        race_send_open(e->value);
    race_uses_end();
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
    watch_drop(&race_watcher);
    watch_drop(&buffer_watcher);
    progress_hook_del(&r->hook);
    race_wins_free();
    race_report_undecided(RACE_OPEN, 0);
    race_send_free();
    race_batches_free();
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

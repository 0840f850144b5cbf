/* watch.c - the list of watchers, and how each event reaches them. Start with watch_add(). */
#include "watch/watch.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"

static int has_objects(const struct watcher *w)
{
    return w->comm_made || w->comm_freed || w->win_made || w->win_freed || w->file_made ||
           w->file_freed;
}

static int has_receives(const struct watcher *w)
{
    return w->received || w->recv_begun || w->waited;
}

static int has_messages(const struct watcher *w)
{
    int types = w->label || w->leaves || w->told;
    return types || w->sending || w->send_prepared || w->took || has_receives(w);
}

static int has_notes(const struct watcher *w)
{
    return w->noting || w->note_lost || w->note_lags || w->noted;
}

static int has_buffers(const struct watcher *w)
{
    return w->touched || w->uses || w->partition || w->released || w->op_runs;
}

static unsigned wants(const struct watcher *w)
{
    const struct {
        unsigned bit;
        int has;
    } of[] = {
        {WATCH_WAITS, w->wait_lasts || w->wait_over},
        {WATCH_TURNS, w->wait_turns != NULL},
        {WATCH_LASTING, w->wait_second != NULL},
        {WATCH_STALLS, w->wait_stalls != NULL},
        {WATCH_WINDOWS, w->win_closes != NULL},
        {WATCH_STATES, w->target_state != NULL},
        {WATCH_COLLECTIVE, w->begins || w->ended},
        {WATCH_OBJECTS, has_objects(w)},
        {WATCH_ERRORS, w->fails != NULL},
        {WATCH_MESSAGES, has_messages(w)},
        {WATCH_SYNC, w->sync_begins || w->sync_ended},
        {WATCH_OPS, w->op != NULL},
        {WATCH_NOTES, has_notes(w)},
        {WATCH_APART, w->ops_apart},
        {WATCH_DEVICES, w->devices},
        {WATCH_OWN_JOB, w->own_job},
        {WATCH_MADE, w->made || w->gone},
        {WATCH_CALLED, w->called != NULL},
        {WATCH_TOLD, w->label || w->leaves || w->told},
        {WATCH_BUFFERS, has_buffers(w)},
        {WATCH_MEMORY, w->memory || w->apart},
        {WATCH_AWAITS, w->awaits || w->awaited}};
    unsigned all = 0;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        all |= of[i].has ? of[i].bit : 0;
    return all;
}

static void note_wants(const struct watch *x)
{
    unsigned all = 0;
    for (int i = 0; i < x->n; i++)
        all |= wants(x->of[i]);
    proc->watched = all;
}

int watch_add(const struct watcher *w)
{
    struct watch *x = proc->watch;
    if (!x && !(proc->watch = x = calloc(1, sizeof *x)))
        return -ENOMEM;
    for (int i = 0; i < x->n; i++)
        if (x->of[i] == w)
            return 0;
    WR_ASSERT(x->n < WATCHERS);
    x->of[x->n++] = w;
    note_wants(x);
    return 0;
}

void watch_drop(const struct watcher *w)
{
    struct watch *x = proc->watch;
    int kept = 0;
    if (!x)
        return;
    for (int i = 0; i < x->n; i++)
        if (x->of[i] != w)
            x->of[kept++] = x->of[i];
    x->n = kept;
    note_wants(x);
    if (kept)
        return;
    proc->watch = NULL;
    free(x);
}

/* --- events ----------------------------------------------------------------------------------- */

/* Each watcher in turn. A watcher may drop itself while it is called if it is the only one, and all
 * may be dropped. */
#define EACH(i) for (int i = 0; proc->watch && i < proc->watch->n; i++)
#define EACH_REVERSED(i) for (int i = proc->watch ? proc->watch->n : 0; proc->watch && i-- > 0;)
#define TELL(i, event, ...)                                                                        \
    do {                                                                                           \
        if (proc->watch->of[i]->event)                                                             \
            proc->watch->of[i]->event(__VA_ARGS__);                                                \
    } while (0)

void watch_wait_lasts(struct progress_seen *s)
{
    EACH(i)
        TELL(i, wait_lasts, s);
}

void watch_wait_over(const struct progress_seen *s)
{
    EACH_REVERSED(i)
        TELL(i, wait_over, s);
}

void watch_wait_turns(const struct progress_waiting *w)
{
    EACH(i)
        TELL(i, wait_turns, w);
}

void watch_wait_second(struct where_wait *w, const void *of)
{
    EACH(i)
        TELL(i, wait_second, w, of);
}

void watch_wait_stalls(int peer, int lasts)
{
    EACH(i)
        TELL(i, wait_stalls, peer, lasts);
}

void watch_win_closes(struct rma_win *w)
{
    EACH_REVERSED(i)
        TELL(i, win_closes, w);
}

void watch_target_state(struct rma_win *w, int world, const char *state)
{
    EACH(i)
        TELL(i, target_state, w, world, state);
}

void watch_called(const char *call)
{
    EACH(i)
        TELL(i, called, call);
}

int watch_turn_begins(struct watch_turn *t)
{
    int err = 0;
    t->begun = 1;
    for (int i = 0; !err && i < proc->watch->n; i++)
        if (proc->watch->of[i]->begins)
            err = proc->watch->of[i]->begins(t);
    return err;
}

int watch_turn_ended(struct watch_turn *t, int err)
{
    EACH_REVERSED(i)
        if (proc->watch->of[i]->ended)
            err = proc->watch->of[i]->ended(t, err);
    return err;
}

int watch_may_follow(const struct watch_turn *t)
{
    int may = 0;
    EACH(i) {
        const struct watcher *w = proc->watch->of[i];
        if (w->begins && !(may = w->may_follow && w->may_follow(t)))
            return 0;
    }
    return may;
}

void watch_comm_made(struct comm *c, struct comm *n, enum watch_call call, const void *site)
{
    EACH_REVERSED(i)
        TELL(i, comm_made, c, n, call, site);
}

void watch_comm_freed(struct comm *c, enum watch_call call, const void *site)
{
    EACH_REVERSED(i)
        TELL(i, comm_freed, c, call, site);
}

void watch_win_made(struct comm *c, struct rma_win *w, const void *site)
{
    EACH_REVERSED(i)
        TELL(i, win_made, c, w, site);
}

void watch_win_freed(struct comm *c)
{
    EACH_REVERSED(i)
        TELL(i, win_freed, c);
}

void watch_file_made(struct comm *c, struct io_file *f)
{
    EACH_REVERSED(i)
        TELL(i, file_made, c, f);
}

void watch_file_freed(struct comm *c)
{
    EACH_REVERSED(i)
        TELL(i, file_freed, c);
}

void watch_made_now(int kind, const struct obj *o)
{
    EACH(i)
        TELL(i, made, kind, o);
}

void watch_gone_now(int kind, const struct obj *o)
{
    EACH(i)
        TELL(i, gone, kind, o);
}

int watch_fails(struct comm *c, int err)
{
    EACH(i)
        if (proc->watch->of[i]->fails)
            err = proc->watch->of[i]->fails(c, err);
    return err;
}

void watch_sending(struct comm *c, int dest)
{
    EACH(i)
        TELL(i, sending, c, dest);
}

void watch_send_prepared(struct request *r, struct comm *c, int dest)
{
    EACH(i)
        TELL(i, send_prepared, r, c, dest);
}

int watch_label(const struct dt_type *t, int64_t count, const void *site, struct p2p_label *out)
{
    if (watch_wants(WATCH_TOLD))
        EACH(i) {
            if (proc->watch->of[i]->label)
                return proc->watch->of[i]->label(t, count, site, out);
        }
    return 0;
}

int watch_leaves(const struct p2p_leaves *m)
{
    int rc = 0;
    if (watch_wants(WATCH_TOLD))
        EACH(i) {
            if (proc->watch->of[i]->leaves && (rc = proc->watch->of[i]->leaves(m)) != 0)
                return rc;
        }
    return rc;
}

void watch_told(const struct p2p_told *m)
{
    EACH(i)
        TELL(i, told, m);
}

void watch_took(struct comm *c, const struct p2p_took *took)
{
    EACH(i)
        TELL(i, took, c, took);
}

void watch_received(struct comm *c, int source)
{
    EACH(i)
        TELL(i, received, c, source);
}

void watch_recv_begun(struct request *r)
{
    EACH(i)
        TELL(i, recv_begun, r);
}

void watch_waited(struct request *const *r, int n)
{
    EACH(i)
        TELL(i, waited, r, n);
}

int watch_awaits(struct request *const *r, int n)
{
    int err = 0;
    EACH(i)
        if (!err && proc->watch->of[i]->awaits)
            err = proc->watch->of[i]->awaits(r, n);
    return err;
}

void watch_awaited(struct request *const *r)
{
    EACH_REVERSED(i)
        if (proc->watch->of[i]->awaited)
            proc->watch->of[i]->awaited(r);
}

void watch_memory_now(const struct watch_buffer *b)
{
    EACH(i)
        TELL(i, memory, b);
}

void watch_apart(const struct watch_buffer *b, int n)
{
    EACH(i)
        TELL(i, apart, b, n);
}

void watch_touched(const struct watch_buffer *b, const void *site)
{
    EACH(i)
        TELL(i, touched, b, site);
}

void watch_uses(struct request *r, const struct watch_buffer *b, int n, const void *site)
{
    EACH(i)
        TELL(i, uses, r, b, n, site);
}

void watch_partition(struct request *r, int i)
{
    EACH(k)
        TELL(k, partition, r, i);
}

void watch_released(struct request *r)
{
    EACH(i)
        TELL(i, released, r);
}

void watch_op_runs(int begins)
{
    EACH(i)
        TELL(i, op_runs, begins);
}

void watch_sync_begins(struct rma_win *w, const struct watch_sync *s)
{
    EACH(i)
        TELL(i, sync_begins, w, s);
}

void watch_sync_ended(struct rma_win *w, const struct watch_sync *s, int err)
{
    EACH_REVERSED(i)
        TELL(i, sync_ended, w, s, err);
}

void watch_op(struct rma_win *w, const struct rma_args *a, struct request *req, const void *site)
{
    EACH(i)
        TELL(i, op, w, a, req, site);
}

void watch_noting(struct rma_win *w, const struct rma_args *a)
{
    EACH(i)
        TELL(i, noting, w, a);
}

void watch_note_lost(struct rma_win *w, int rank, unsigned index, int taken)
{
    EACH(i)
        TELL(i, note_lost, w, rank, index, taken);
}

int watch_note_lags(struct rma_win *w, unsigned index, uint64_t word)
{
    int lags = 0;
    EACH(i)
        if (proc->watch->of[i]->note_lags)
            lags |= proc->watch->of[i]->note_lags(w, index, word);
    return lags;
}

void watch_noted(struct rma_win *w, unsigned index, uint64_t word, struct request *req)
{
    EACH_REVERSED(i)
        TELL(i, noted, w, index, word, req);
}

/* note_wait.c - notified operations at their target: this process's counters, the waits for them,
 * and notifications that came by message. Start with rma_notify_set_num() and rma_notify_wait().
 *
 *   word   only grows: near origins and rma_note_came() add to it, one atomic add each
 *   value  = word - base; base is written under proc->lock, by calls of this process alone
 *
 * So set and take write no shared word, and no notification is lost by a store that crosses an
 * add. A wait needs no hook: its condition looks at the word, near origins wake a process that
 * sleeps, and a handler's add signals the other threads. */
#include "rma/sync/sync_types.h"

#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/log.h"
#include "watch/watch.h"

enum { EARLY_MAX = 1024 }; /* counters that were notified before they were made */
/* Looks at a counter that cost as much as one poll: of the calls that look inline, and of a wait
 * before it polls. Where messages may bring what it waits for, it polls more often. */
enum { LOOKS = 64, LOOKS_FAR = 16 };

/* --- the words -------------------------------------------------------------------------------- */

/* Acquire pairs with the release of the origins' adds: their data are here, too. */
static uint64_t word_of(const struct rma_win *w, unsigned i)
{
    return atomic_load_explicit(rma_note_word(w->notes.words, i), memory_order_acquire);
}

int64_t rma_note_value(const struct rma_win *w, unsigned i)
{
    return rma_note_read(&w->notes, i);
}

static void add(struct rma_win *w, unsigned i, uint64_t n)
{
    atomic_fetch_add_explicit(rma_note_word(w->notes.words, i), n, memory_order_release);
}

/* Shared memory for all counters that there may be, of which pages are reserved as they are
 * needed. */
static int words_make(struct rma_win *w)
{
    struct rma_win_notes *x = &w->notes;
    if (w->nears == 1) {
        x->words = calloc(1, RMA_NOTE_BYTES); /* pages come as they are used */
        return x->words ? 0 : -1;
    }
    if (mem_segment_create(RMA_NOTE_BYTES, MEM_NO_RESERVE | MEM_ONCE, &x->seg))
        return -1;
    x->words = x->seg->base;
    if (mem_segment_reserve(x->seg, 0, RMA_NOTE_FIRST)) {
        mem_segment_drop(x->seg);
        x->words = NULL;
        x->seg = NULL;
        return -1;
    }
    mem_segment_key(x->seg, &rma_near_own(w)->peer->notes.key);
    return 0;
}

static int words_for(struct rma_win *w, unsigned num)
{
    struct rma_win_notes *x = &w->notes;
    if (num <= x->made)
        return 0;
    if (!x->words && words_make(w))
        return -1;
    uint64_t *base = realloc(x->base, num * sizeof *base);
    if (!base)
        return -1;
    x->base = base;
    if (x->seg && num > RMA_NOTE_LINES && x->made <= RMA_NOTE_LINES &&
        mem_segment_reserve(x->seg, RMA_NOTE_FIRST, x->seg->size - RMA_NOTE_FIRST))
        return -1;
    memset(base + x->made, 0, (num - x->made) * sizeof *base);
    x->made = num;
    return 0;
}

/* Do near origins count all notifications that may come? */
static int only_near(const struct rma_win *w)
{
    return w->nears == (unsigned)w->size &&
           !atomic_load_explicit(&rma_near_own(w)->peer->unmapped, memory_order_relaxed);
}

int rma_notify_set_num(struct rma_win *w, int num)
{
    struct rma_win_notes *x = &w->notes;
    if (num < 0 || num > RMA_NOTE_MAX)
        return err_make(MPIX_ERR_INVALID_NOTIFICATION, "%s: num is %d, not 0 to %d", rma_call(),
                        num, RMA_NOTE_MAX);
    if (words_for(w, (unsigned)num))
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for %d counters", rma_call(), num);
    for (unsigned i = (unsigned)num; i < x->num; i++)
        x->base[i] = word_of(w, i); /* given up: what comes now counts when it is made again */
    for (unsigned i = x->num; i < (unsigned)num; i++) {
        uint64_t early = x->early.count ? (uintptr_t)map_del(&x->early, (uint64_t)i + 1) : 0;
        if (early)
            add(w, i, early);
    }
    x->num = (unsigned)num;
    x->lines = x->num < RMA_NOTE_LINES ? x->num : RMA_NOTE_LINES;
    x->every = only_near(w) ? LOOKS : LOOKS_FAR;
    /* The simulator's processes move within progress_test(). */
    w->near.notes = sched ? NULL : x;
    /* Release pairs with the acquire in note_of() (near/note.c). */
    atomic_store_explicit(&rma_near_own(w)->peer->notes.num, (unsigned)num, memory_order_release);
    return MPI_SUCCESS;
}

int rma_notes_hint(struct rma_win *w)
{
    const char *v = info_value(w->info, "mpix_notify_num");
    int num = v ? atoi(v) : 0;
    return v && num <= RMA_NOTE_MAX ? rma_notify_set_num(w, num) : MPI_SUCCESS;
}

int rma_notes_cover(const struct rma_win *w)
{
    return w->notes.covers;
}

void rma_notify_swapped(void)
{
    struct rma *r = rma_self();
    if (!cvar.debug_summary || r->swap_told)
        return;
    r->swap_told = 1;
    log_warn("%s: the window comes before the index, as in Intel MPI's guide; both orders work",
             rma_call());
}

void rma_notes_close(struct rma_win *w)
{
    struct rma_win_notes *x = &w->notes;
    if (x->requests)
        rma_note_requests_end(w);
    if (x->number)
        rma_self()->notes.numbered[x->number] = NULL;
    if (x->seg)
        mem_segment_drop(x->seg);
    else
        free(x->words);
    free(x->base);
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&x->sources, &at)) != NULL;)
        free(e->value);
    map_destroy(&x->sources);
    map_destroy(&x->early);
    x->words = NULL;
    x->seg = NULL;
    x->base = NULL;
}

/* --- by message ------------------------------------------------------------------------------- */

/* The newest source comes first. What there is no memory for is not named. */
static void keep_source(struct rma_win *w, unsigned i, int src)
{
    struct map *all = &w->notes.sources;
    struct rma_note_sources *s = map_get(all, (uint64_t)i + 1);
    int at = 0;
    if (!s) {
        s = calloc(1, sizeof *s);
        if (!s || map_put(all, (uint64_t)i + 1, s)) {
            free(s);
            return;
        }
    }
    while (at < RMA_NOTE_SOURCES - 1 && s->of[at].n && s->of[at].rank != src)
        at++;
    unsigned n = s->of[at].n && s->of[at].rank == src ? s->of[at].n : 0;
    memmove(&s->of[1], &s->of[0], (size_t)at * sizeof s->of[0]);
    s->of[0].rank = src;
    s->of[0].n = n + 1;
    s->all++;
}

int rma_note_came(struct rma_win *w, unsigned i, int src)
{
    struct rma_win_notes *x = &w->notes;
    if (i < x->num) {
        add(w, i, 1);
        if (src >= 0)
            keep_source(w, i, src);
        rma_count(w, PVAR_RMA_NOTE_CAME, 1);
        progress_signal();
        return 0;
    }
    uintptr_t before = (uintptr_t)map_get(&x->early, (uint64_t)i + 1);
    if (i >= RMA_NOTE_MAX || (!before && x->early.count >= EARLY_MAX) ||
        map_put(&x->early, (uint64_t)i + 1, (void *)(before + 1))) {
        rma_count(w, PVAR_RMA_NOTE_REFUSED, 1);
        return MPIX_ERR_INVALID_NOTIFICATION;
    }
    if (src >= 0)
        keep_source(w, i, src);
    rma_count(w, PVAR_RMA_NOTE_EARLY, 1);
    return 0;
}

/* Which rank put is not known. The origin sends this only for a counter that there was. */
void rma_note_put_came(uint32_t note)
{
    struct rma *r = rma_self();
    unsigned number = note >> RMA_NOTE_BITS, i = note & RMA_NOTE_ASK;
    struct rma_win *w = r && number < r->notes.numbers ? r->notes.numbered[number] : NULL;
    if (w && rma_note_came(w, i, -1))
        log_warn("a notification of counter %u of %s is lost: this process has %u counters", i,
                 rma_win_text(w), w->notes.num);
}

/* --- the calls -------------------------------------------------------------------------------- */

static int check(const struct rma_win *w, int i)
{
    if (i >= 0 && (unsigned)i < w->notes.num)
        return MPI_SUCCESS;
    return err_make(MPIX_ERR_INVALID_NOTIFICATION,
                    "%s: index %d: this process has %u counters in %s", rma_call(), i,
                    w->notes.num, rma_win_text(w));
}

static int check_value(MPI_Count value)
{
    if (value >= 0 && value <= (MPI_Count)1 << 62)
        return MPI_SUCCESS;
    return err_make(MPI_ERR_ARG, "%s: value %lld is not 0 to 2^62", rma_call(), (long long)value);
}

int rma_note_check(const struct rma_win *w, int i, MPI_Count value)
{
    int err = check(w, i);
    return err ? err : check_value(value);
}

/* A program that spins on a call makes progress, and gives the core away. */
static void look_around(struct rma_win *w, int idle)
{
    if (idle || w->notes.looks >= w->notes.every)
        progress_test();
    else
        progress_glance();
    w->notes.looks = 0;
}

static void looked(struct rma_win *w, unsigned i)
{
    uint64_t word = word_of(w, i);
    look_around(w, w->notes.last == i && w->notes.seen == word);
    w->notes.last = i;
    w->notes.seen = word;
}

/* The program sees a value that counts notifications. Those that took part in it, and perhaps some
 * that came since, are in the word. */
static void saw(struct rma_win *w, unsigned i, int64_t value)
{
    if (value > 0 && watch_wants(WATCH_NOTES))
        watch_noted(w, i, word_of(w, i), NULL);
}

int rma_notify_get(struct rma_win *w, int i, MPI_Count *value)
{
    int err = check(w, i);
    if (err)
        return err;
    looked(w, (unsigned)i);
    *value = (MPI_Count)rma_note_value(w, (unsigned)i);
    saw(w, (unsigned)i, *value);
    return MPI_SUCCESS;
}

int rma_notify_set(struct rma_win *w, int i, MPI_Count value)
{
    int err = rma_note_check(w, i, value);
    if (err)
        return err;
    w->notes.base[i] = word_of(w, (unsigned)i) - (uint64_t)value;
    progress_signal(); /* another thread may wait for it */
    return MPI_SUCCESS;
}

int rma_notify_test(struct rma_win *w, int i, MPI_Count value, int *flag)
{
    int err = rma_note_check(w, i, value);
    if (err)
        return err;
    look_around(w, rma_note_value(w, (unsigned)i) < value);
    int64_t now = rma_note_value(w, (unsigned)i);
    *flag = now >= value;
    if (*flag)
        saw(w, (unsigned)i, now);
    return MPI_SUCCESS;
}

struct note_wait {
    struct rma_note_call call;
    struct rma_win *w;
    int64_t saw;    /* the value that was there */
    int take, over; /* over: 1 the value was there, -1 a member has failed, -2 it was revoked */
    int looks;      /* at the counter, before it says that the value is not there */
};

static int is_there(struct note_wait *x)
{
    for (int i = 0; i < x->looks; i++)
        if ((x->saw = rma_note_value(x->w, x->call.i)) >= x->call.asked)
            return 1;
    return 0;
}

static int wait_over(void *arg)
{
    struct note_wait *x = arg;
    struct rma_win_notes *n = &x->w->notes;
    if (x->over)
        return 1;
    if (is_there(x)) {
        if (x->take) /* here: no other thread comes between */
            n->base[x->call.i] += (uint64_t)x->call.asked;
        x->over = 1;
    } else if (n->deaths != n->told) {
        n->told = n->deaths;
        x->over = -1;
    } else if (rma_is_revoked(x->w)) {
        x->over = -2;
    }
    return x->over;
}

struct rma_win *rma_note_awaits(int (*cond)(void *), void *arg)
{
    return cond == wait_over ? ((struct note_wait *)arg)->w : NULL;
}

struct found {
    struct request *r;
    int n;
};

static void find_request(struct request *r, void *to)
{
    struct found *f = to;
    f->r = r;
    f->n++;
}

uint64_t rma_note_awaited(int (*cond)(void *), void *arg, unsigned *counter)
{
    struct found f = {NULL, 0};
    if (cond == wait_over) {
        *counter = ((const struct note_wait *)arg)->call.i;
        return ((const struct note_wait *)arg)->w->id;
    }
    if (request_awaits(cond, arg, find_request, &f) != REQUEST_AWAITS_ALL || f.n != 1)
        return 0;
    return rma_note_requested(f.r, counter);
}

static int target_has_note(const struct rma_target *t)
{
    for (const struct list *l = t->ops.next; l != &t->ops; l = l->next)
        if (LIST_OBJ(l, struct rma_op, link)->a.notify)
            return 1;
    return 0;
}

static int has_note_to_send(const struct rma_win *w)
{
    for (const struct list *l = w->table.used.next; l != &w->table.used; l = l->next) {
        const struct rma_slot *s = LIST_OBJ(l, struct rma_slot, used);
        for (const struct list *k = s->targets.next; k != &s->targets; k = k->next)
            if (target_has_note(LIST_OBJ(k, struct rma_target, link)))
                return 1;
    }
    return 0;
}

int rma_notes_leave(void)
{
    struct rma *r = rma_self();
    for (struct list *l = r->windows.next; l != &r->windows; l = l->next)
        if (has_note_to_send(LIST_OBJ(l, struct rma_win, link)))
            return 1;
    return 0;
}

int rma_notify_wait(struct rma_win *w, int i, MPI_Count value, int take)
{
    struct note_wait x = {.call = {.thread = pthread_self(), .i = (unsigned)i, .asked = value},
                          .w = w, .take = take,
                          .looks = w->notes.every == LOOKS && !sched ? LOOKS : 1};
    int err = rma_note_check(w, i, value);
    if (err)
        return err;
    if (rma_note_value(w, x.call.i) >= value) {
        look_around(w, 0);
        (void)wait_over(&x);
        if (x.over > 0) {
            saw(w, x.call.i, x.saw);
            return MPI_SUCCESS;
        }
    }
    list_push_front(&w->notes.calls, &x.call.link);
    rma_count(w, PVAR_RMA_NOTE_WAITS, 1);
    rma_await(w, WHY_NOTIFY, wait_over, &x, "notifications of a window", -1);
    list_del(&x.call.link);
    if (x.over > 0) {
        saw(w, x.call.i, x.saw);
        return MPI_SUCCESS;
    }
    if (x.over == -2)
        return rma_revoked_error(w);
    return err_make(MPIX_ERR_PROC_FAILED_PENDING,
                    "%s: counter %d of %s is %lld, not yet %lld, and a process of the window died",
                    rma_call(), i, rma_win_text(w), (long long)rma_note_value(w, x.call.i),
                    (long long)value);
}

/* print.c - reports that wait for file and line of their places. Start with race_print_later().
 *
 *   race_print_later() --> copy of what the report needs --> a hook asks for its lines
 *                              (site_lookup), and prints it when they are there
 *
 * addr2line may take seconds, and a pair is found in handlers and calls of any thread: none of them
 * waits for it. MPI_Finalize waits for the rest; what ends the job prints it, too. */
#include "race/report/report.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "finding/finding.h"
#include "var/var.h"

static const uint64_t ABORT_NS = 1000000000u; /* a process that aborts waits so long for lines */

enum { NO_DISPLACEMENT = -1 };
struct side { /* of the pair */
    uint64_t site, done_site, bytes;
    uint32_t tid;
    uint8_t call, done_call, buffer, stores, runs;
};
struct race_unprinted {
    struct list link;
    enum race_rule rule;
    int possible;
    uint64_t bytes;        /* in common */
    int64_t displacement;
    uint64_t made;         /* its window: where it was made; 0: see window */
    char window[96];       /* its name, or what it is instead */
    struct side side[2];
};

/* One line, to the file of MPIR_CVAR_RACE_FILE or to stderr. */
void race_line(const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    int fd = *cvar.race_file ? open(cvar.race_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)
                             : -1;
    if (fd < 0) {
        log_warn("%s", text);
        return;
    }
    dprintf(fd, "windrose[%d]: %s\n", boot_rank(), text);
    close(fd);
}

/* --- what a report needs ---------------------------------------------------------------------- */

static struct side side_of(const struct race_access *r)
{
    return (struct side){.site = r->site,
                         .done_site = r->batch->done_site,
                         .bytes = (uint64_t)r->interval.len * r->interval.blocks,
                         .tid = r->batch->tid,
                         .call = r->call,
                         .done_call = r->batch->done_call,
                         .buffer = (r->effect.flags & RACE_BUFFER) != 0,
                         .stores = r->effect.kind != RACE_LOAD,
                         .runs = r->interval.blocks > 1};
}

/* The window that holds the bytes. */
static void where(struct race_unprinted *t, const struct race_conflict *f, uint64_t at)
{
    uint64_t id = f->old->batch->win ? f->old->batch->win : f->now->batch->win;
    struct race_win *x = id ? race_win_of(id) : NULL;
    t->displacement = NO_DISPLACEMENT;
    if (!x) {
        snprintf(t->window, sizeof t->window, id ? "a window that was freed" : "a buffer");
        return;
    }
    const struct race_member *m = &x->member[rma_win_comm(x->w)->rank];
    const char *name = rma_win_name(x->w);
    if (*name)
        snprintf(t->window, sizeof t->window, "window \"%.64s\"", name);
    else
        t->made = x->site;
    if (m->base)
        t->displacement = (int64_t)((at - m->base) / (m->unit ? m->unit : 1));
}

static void fill(struct race_unprinted *t, const struct race_conflict *f)
{
    const struct race_interval *a = &f->old->interval, *b = &f->now->interval;
    uint64_t at = a->at > b->at ? a->at : b->at, end = race_interval_end(a);
    if (race_interval_end(b) < end)
        end = race_interval_end(b);
    *t = (struct race_unprinted){.rule = f->rule, .possible = f->possible, .bytes = end - at,
                            .side = {side_of(f->old), side_of(f->now)}};
    where(t, f, at);
}

/* --- its text --------------------------------------------------------------------------------- */

/* 1: all lines are known, or never will be. Looks are started for all of them. */
static int lines_known(const struct race_unprinted *t)
{
    int known = site_lookup(t->made);
    for (int i = 0; i < 2; i++) {
        known &= site_lookup(t->side[i].site);
        known &= !t->side[i].done_call || site_lookup(t->side[i].done_site);
    }
    return known;
}

static void print_side(const struct side *s)
{
    char at[160], done[160], rest[256] = "", thread[32] = "";
    uint32_t ranks = (uint32_t)boot_size();
    const char *use = !s->buffer ? "" : s->stores ? " writes its buffer" : " reads its buffer";
    site_text_known(s->site, at, sizeof at);
    if (s->done_call) {
        site_text_known(s->done_site, done, sizeof done);
        snprintf(rest, sizeof rest, ", complete by %s%s%s",
                 race_call_text(s->done_call, s->done_site), *done ? " at " : "", done);
    }
    if (s->tid >= ranks)
        snprintf(thread, sizeof thread, ", thread %u", s->tid / ranks);
    race_line("  %s%s of %llu byte%s%s by rank %u%s at %s%s",
              race_call_text(s->call, s->site), use, (unsigned long long)s->bytes,
              s->bytes == 1 ? "" : "s", s->runs ? " in runs" : "", s->tid % ranks, thread, at,
              rest);
}

static void add_side(struct finding *f, const struct side *s, const char *before, const char *at)
{
    size_t n = strlen(f->text);
    const char *use = !s->buffer ? "" : s->stores ? " writes its buffer" : " reads its buffer";
    finding_rank(f, (int)(s->tid % (uint32_t)boot_size()));
    finding_place(f, at);
    snprintf(f->text + n, sizeof f->text - n, "%s%s%s%s%s", before,
             race_call_text(s->call, s->site), use, *at ? " at " : "", at);
}

/* For machines. The two in the order of their places, and without ranks in the text: what several
 * processes find of one pair of places is one finding. */
static void add_finding(const struct race_unprinted *t, const char *window)
{
    struct finding f = {.class = t->possible                   ? "possible race"
                                 : race_rule_is_value(t->rule) ? "value"
                                                               : "race"};
    char at[2][FINDING_PLACE];
    if (!finding_wanted())
        return;
    for (int i = 0; i < 2; i++)
        site_text_known(t->side[i].site, at[i], sizeof at[i]);
    int order = strcmp(at[0], at[1]);
    int first = order ? order > 0 : t->side[0].call > t->side[1].call;
    add_side(&f, &t->side[first], "", at[first]);
    add_side(&f, &t->side[!first], " and ", at[!first]);
    size_t n = strlen(f.text);
    snprintf(f.text + n, sizeof f.text - n, " on %s are not ordered: %s", window,
             race_rule_text(t->rule));
    finding_add(&f);
}

static void print(const struct race_unprinted *t)
{
    char made[160], window[256], place[64] = "";
    snprintf(window, sizeof window, "%s", t->window);
    if (t->made) {
        site_text_known(t->made, made, sizeof made);
        snprintf(window, sizeof window, "the window made at %s", made);
    }
    if (t->displacement != NO_DISPLACEMENT)
        snprintf(place, sizeof place, " (displacement %lld)", (long long)t->displacement);
    race_line("%s: %llu byte%s of %s%s at rank %d",
              t->possible                    ? "POSSIBLE RACE"
              : race_rule_is_value(t->rule) ? "VALUE"
                                             : "RACE",
              (unsigned long long)t->bytes, t->bytes == 1 ? "" : "s", window, place, race_rank());
    print_side(&t->side[0]);
    print_side(&t->side[1]);
    race_line("  not ordered: %s", race_rule_text(t->rule));
    add_finding(t, window);
}

/* --- time ------------------------------------------------------------------------------------- */

/* Prints those whose lines are known, in the order in which they were found; how many. */
static int print_known(struct race *r)
{
    struct list *l;
    int n = 0;
    for (; (l = list_first(&r->unprinted)) != NULL; n++) {
        struct race_unprinted *t = LIST_OBJ(l, struct race_unprinted, link);
        if (!lines_known(t))
            break;
        list_del(l);
        print(t);
        free(t);
    }
    return n;
}

static int hook(void *arg)
{
    struct race *r = arg;
    uint64_t now = time_now();
    if (now < r->print_at)
        return 0;
    r->print_at = now + PLACES_NS;
    int n = print_known(r);
    if (list_empty(&r->unprinted))
        progress_hook_del(&r->print_hook);
    return n;
}

void race_print_later(const struct race_conflict *f)
{
    struct race *r = proc->race;
    struct race_unprinted *t = malloc(sizeof *t), now;
    if (!t) { /* now, without lines */
        fill(&now, f);
        print(&now);
        return;
    }
    fill(t, f);
    list_push(&r->unprinted, &t->link);
    progress_hook_add(&r->print_hook);
}

static int none_left(void *arg)
{
    struct race *r = arg;
    print_known(r);
    return list_empty(&r->unprinted);
}

void race_print_all(void)
{
    struct race *r = proc->race;
    while (progress_wait_for(none_left, r, "file and line of a race", -1, SITE_NS)) { /* it ends */
    }
    progress_hook_del(&r->print_hook);
}

static int is_known(void *arg)
{
    return site_lookup(*(const uint64_t *)arg);
}

void race_site_text(uint64_t site, char *buf, size_t len)
{
    while (progress_wait_for(is_known, &site, "file and line of a place", -1, SITE_NS)) {
    }
    site_text_known(site, buf, len);
}

/* The job ends. Where another thread is in a call, its lists may be half done. */
static void aborting(void)
{
    struct race *r = proc->race;
    int held = !proc->threaded || lock_mine(&proc->lock);
    struct list *l;
    uint64_t until = time_now() + ABORT_NS;
    for (unsigned i = 0; r && !held && !(held = lock_try(&proc->lock)) && time_now() < until; i++)
        thread_pause(i);
    if (!r || !held)
        return;
    for (unsigned i = 0; !sched && !none_left(r) && time_now() < until; i++)
        thread_pause(i);
    while ((l = list_pop(&r->unprinted)) != NULL)
        print(LIST_OBJ(l, struct race_unprinted, link));
}

void race_print_init(void)
{
    struct race *r = proc->race;
    list_init(&r->unprinted);
    r->print_hook = (struct progress_hook){.fn = hook, .arg = r};
    list_init(&r->print_hook.link);
    boot_on_abort(aborting);
}

void race_print_free(void)
{
    struct race *r = proc->race;
    struct list *l;
    boot_on_abort(NULL);
    progress_hook_del(&r->print_hook);
    while ((l = list_pop(&r->unprinted)) != NULL) {
        print(LIST_OBJ(l, struct race_unprinted, link));
        free(LIST_OBJ(l, struct race_unprinted, link));
    }
}

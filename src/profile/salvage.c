/* salvage.c - the report and the trace of a job that ended before MPI_Finalize, from the records
 * that its ranks have left (record.h). Start with profile_salvage().
 *
 * A rank may have died at any instruction, so a record is read as if it came from outside. */
#include "profile/salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/sched.h"
#include "place/place.h"
#include "profile/record.h"

enum { MISSING_TEXT = 200 };

struct job {
    const char *why;
    const int *fd; /* of the memory of each rank; -1: none */
    uint64_t end; /* ns */
    int ranks, found;
    uint64_t first; /* ns: begin of the first event */
    char text[600]; /* what is missing */
};

/* A record of one rank. */
struct source {
    const struct record *r;
    const struct job *job;
    double rate; /* ns of a tick */
    struct map names; /* by address: text */
};

/* --- addresses -------------------------------------------------------------------------------- */

static const struct record_segment *segment_of(const struct record *r, uint64_t address)
{
    for (unsigned i = 0; i < r->segments && i < RECORD_SEGMENTS; i++)
        if (address >= r->segment[i].from && address < r->segment[i].to)
            return &r->segment[i];
    return NULL;
}

/* The constant at an address, from the file of its module; kept. */
static const char *text_at(void *arg, const char *there)
{
    struct source *s = arg;
    uint64_t address = (uint64_t)(uintptr_t)there;
    const struct record_segment *g = address ? segment_of(s->r, address) : NULL;
    char *text = g ? map_get(&s->names, address) : NULL;
    if (text || !g || !(text = calloc(1, TRACE_CALL_LEN)))
        return text ? text : "?";
    int fd = open(g->path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : pread(fd, text, TRACE_CALL_LEN - 1,
                                    (off_t)(g->in_file + address - g->from));
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        snprintf(text, TRACE_CALL_LEN, "?");
    if (map_put(&s->names, address, text)) {
        free(text);
        return "?";
    }
    return text;
}

/* As processes of the program number their places. */
static uint64_t place_of(const char *path, uint64_t offset)
{
    uint64_t id = hash_bytes(HASH_BYTES, path, strlen(path));
    id = (id >> 32 ^ id) & 0xffff;
    site_learn(id, path);
    return id << SITE_OFFSET | (offset & ((1ull << SITE_OFFSET) - 1));
}

static uint64_t site_at(void *arg, uint64_t address)
{
    struct source *s = arg;
    const struct record_segment *g = address ? segment_of(s->r, address) : NULL;
    return g ? place_of(g->path, address - g->base) : 0;
}

/* --- records ---------------------------------------------------------------------------------- */

static int source_open(const struct job *j, int rank, struct source *s)
{
    struct stat st;
    uint64_t ticks, ns;
    int fd = j->fd[rank];
    void *p = MAP_FAILED;
    if (fd >= 0 && !fstat(fd, &st) && st.st_size >= (off_t)sizeof(struct record))
        p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return 0;
    const struct record *r = p;
    uint64_t room = r->trace.room;
    int sound = r->head.magic == RECORD_MAGIC && r->head.bytes == sizeof *r &&
                r->head.rank == rank && !r->head.over && r->size == (size_t)st.st_size &&
                r->ranks == j->ranks;
    sound = sound && r->ring_at <= r->size && !(room & (room - 1)) &&
            room <= (r->size - r->ring_at) / sizeof(struct trace_event);
    if (!sound) {
        munmap(p, (size_t)st.st_size);
        return 0;
    }
    *s = (struct source){.r = r, .job = j, .rate = 1};
    map_init(&s->names);
    trace_both_clocks(&ticks, &ns);
    if (ticks > r->trace.tick0)
        s->rate = (double)(ns - r->trace.ns0) / (double)(ticks - r->trace.tick0);
    return 1;
}

static void source_close(struct source *s)
{
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->names, &at)) != NULL;)
        free(e->value);
    map_destroy(&s->names);
    munmap((void *)(uintptr_t)s->r, s->r->size);
}

/* --- trace ------------------------------------------------------------------------------------ */

static uint64_t time_of(const struct source *s, uint64_t ticks)
{
    const struct trace *t = &s->r->trace;
    return t->ns0 + (uint64_t)(int64_t)((double)(int64_t)(ticks - t->tick0) * s->rate);
}

static uint64_t begin_of(const struct source *s, const struct trace_event *e)
{
    uint64_t at = time_of(s, e->at);
    return e->kind == TRACE_WAIT ? at - e->lasts : at;
}

static void range_of(const struct record *r, uint64_t *from, uint64_t *to)
{
    *to = atomic_load_explicit((atomic_ullong *)&r->trace.n, memory_order_relaxed);
    *from = *to > r->trace.room ? *to - r->trace.room : 0;
}

static const struct trace_event *event_at(const struct record *r, uint64_t at)
{
    return &record_ring(r)[at & (r->trace.room - 1)];
}

/* The first window of the handle that was freed after the event; or one that was not freed, behind
 * those. */
static int32_t win_of(const struct trace *t, const struct trace_event *e, int32_t *open, int *n)
{
    int32_t best = -1;
    uint64_t wins = t->wins < TRACE_WINS ? t->wins : TRACE_WINS;
    for (uint64_t i = 0; e->window != -1 && i < wins; i++)
        if (t->win[i].handle == e->window && t->win[i].until >= e->at &&
            (best < 0 || t->win[i].until < t->win[best].until))
            best = (int32_t)i;
    if (best >= 0 || e->window == -1)
        return best;
    int k = 0;
    while (k < *n && open[k] != e->window)
        k++;
    if (k == *n && (uint64_t)*n + wins < TRACE_WINS)
        open[(*n)++] = e->window;
    return k < *n ? (int32_t)wins + k : -1;
}

/* Where an event's name stands among those of its rank. */
static uint64_t index_of(const char **list, unsigned *n, const char *name)
{
    unsigned i = 0;
    while (i < *n && list[i] != name)
        i++;
    if (i == *n && *n < TRACE_NAMES)
        list[(*n)++] = name;
    return i;
}

static void begin(struct trace_chunk *c, enum trace_part part, int rank)
{
    memset(c, 0, sizeof *c);
    c->magic = TRACE_MAGIC;
    c->part = part;
    c->rank = rank;
}

static void put_names(struct source *s, struct trace_file *f, struct trace_chunk *c,
                      const char **list, unsigned n)
{
    begin(c, TRACE_NAMES_PART, s->r->head.rank);
    for (unsigned i = 0; i < n && i < TRACE_BLOCK; i++, c->n++)
        snprintf(c->u.name[i], TRACE_CALL_LEN, "%s", text_at(s, list[i]));
    trace_file_take(f, c);
}

static void put_wins(struct source *s, struct trace_file *f, struct trace_chunk *c)
{
    const struct trace *t = &s->r->trace;
    uint64_t from, to;
    range_of(s->r, &from, &to);
    begin(c, TRACE_WINS_PART, s->r->head.rank);
    c->lost = from;
    for (uint64_t i = 0; i < TRACE_WINS; i++, c->n++)
        snprintf(c->u.win[i], PROFILE_NAME, "%.*s", PROFILE_NAME - 1,
                 i < t->wins ? t->win[i].name : "(not freed)");
    trace_file_take(f, c);
}

/* The call in which the rank was when the job ended. */
static int unfinished(const struct source *s, struct trace_event *e)
{
    const struct trace_at *now = &s->r->trace.now;
    if (!now->name || time_of(s, now->began) > s->job->end)
        return 0;
    *e = (struct trace_event){.at = now->began, .name.text = now->name, .peer = -1, .window = -1,
                              .site = (uint64_t)(uintptr_t)now->site, .kind = TRACE_CALL};
    e->lasts = (uint64_t)((double)(s->job->end - time_of(s, e->at)) / s->rate);
    return 1;
}

static void put_events(struct source *s, struct trace_file *f, struct trace_chunk *c)
{
    const char *list[TRACE_NAMES];
    int32_t open[TRACE_WINS];
    struct trace_event last;
    unsigned names = 0;
    uint64_t from, to;
    int wins = 0, more = unfinished(s, &last);
    range_of(s->r, &from, &to);
    for (uint64_t at = from; at < to; at++)
        index_of(list, &names, event_at(s->r, at)->name.text);
    if (more)
        index_of(list, &names, last.name.text);
    put_names(s, f, c, list, names);
    put_wins(s, f, c);
    for (uint64_t at = from; at < to + (uint64_t)more;) {
        begin(c, TRACE_EVENTS_PART, s->r->head.rank);
        for (; at < to + (uint64_t)more && c->n < TRACE_BLOCK; at++) {
            struct trace_event *e = &c->u.event[c->n];
            *e = at < to ? *event_at(s->r, at) : last;
            e->name.index = index_of(list, &names, e->name.text);
            e->window = win_of(&s->r->trace, e, open, &wins);
            e->site = site_at(s, e->site);
            uint64_t at_ns = begin_of(s, e);
            if (e->kind != TRACE_WAIT)
                e->lasts = (uint64_t)((double)e->lasts * s->rate);
            e->at = at_ns;
            c->n += e->lasts < UINT64_MAX / 2 && at_ns <= s->job->end; /* a torn one is left out */
        }
        trace_file_take(f, c);
    }
}

static void put_rank(struct source *s, struct trace_file *f, struct trace_chunk *c)
{
    const struct trace_at *now = &s->r->trace.now;
    char how[160];
    put_events(s, f, c);
    snprintf(how, sizeof how, "the job ended while this rank was %s%s", now->name ? "in " : "",
             now->name ? text_at(s, now->name) : "outside MPI");
    trace_file_ended(f, s->r->head.rank, how);
}

static void find_first(struct source *s, void *arg)
{
    struct job *j = arg;
    uint64_t from, to;
    range_of(s->r, &from, &to);
    for (; from < to; from++) {
        uint64_t at = begin_of(s, event_at(s->r, from));
        j->first = at < j->first ? at : j->first;
    }
}

struct trace_out {
    struct trace_file *f;
    struct trace_chunk *c;
};

static void put_source(struct source *s, void *arg)
{
    struct trace_out *o = arg;
    put_rank(s, o->f, o->c);
}

/* --- report ----------------------------------------------------------------------------------- */

static enum progress_why why_of(const char *what)
{
    static const struct {
        const char *word;
        enum progress_why why;
    } rows[] = {{"lock", WHY_LOCK}, {"fence", WHY_FENCE}, {"message", WHY_MESSAGE},
                {"post", WHY_POST}, {"complete", WHY_COMPLETE}, {"collective", WHY_COLLECTIVE},
                {"notification", WHY_NOTIFY}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(what, rows[i].word))
            return rows[i].why;
    return WHY_OTHER;
}

/* The wait in which the rank was at the end. The sampler sees those that have lasted a second. */
static uint64_t last_wait(struct source *s, struct profile_page *p)
{
    const struct profile_sampler *x = &s->r->profile.sampler;
    if (!x->wait_since || x->wait_since > s->job->end || !x->in_call)
        return 0;
    struct profile_wait w = {.site = site_at(s, x->wait_site), .n = 1, .max_rank = s->r->head.rank};
    snprintf(w.call, sizeof w.call, "%s", text_at(s, x->in_call));
    w.why = why_of(x->wait_what ? text_at(s, x->wait_what) : "");
    w.ns = w.max = s->job->end - x->wait_since;
    if (x->wait_peer >= 0)
        profile_peer_add(&w, x->wait_peer, w.ns);
    profile_wait_add(p->wait, &p->waits, &w);
    return w.ns;
}

static void page_of(struct source *s, struct profile_page *p)
{
    const struct record *r = s->r;
    const struct profile *y = &r->profile;
    const struct profile_look look = {text_at, site_at, s};
    *p = (struct profile_page){.magic = PROFILE_MAGIC, .bytes = sizeof *p, .ranks = 1,
                               .cores = r->cores, .host_ranks = r->host_ranks};
    p->crowded = p->host_ranks > p->cores;
    for (unsigned i = 0; i < PROFILE_CELLS; i++) {
        struct profile_wait w = y->cell[i].w;
        if (!y->cell[i].call || w.why >= PROGRESS_WHYS)
            continue;
        snprintf(w.call, sizeof w.call, "%s", text_at(s, y->cell[i].call));
        w.site = site_at(s, y->cell[i].address);
        w.max_rank = r->head.rank;
        profile_wait_add(p->wait, &p->waits, &w);
    }
    uint64_t waited = y->waited + last_wait(s, p);
    profile_row_of(p, y, r->head.rank, s->job->end > y->began ? s->job->end - y->began : 0, waited);
    profile_places(p);
    profile_calls_of(p, y->calls ? record_calls(r) : NULL, &look);
    profile_page_of_rank(p, r->head.rank);
    p->wins = y->wins < PROFILE_WINS ? y->wins : PROFILE_WINS;
    memcpy(p->win, y->win, sizeof y->win);
}

static void add_page(struct source *s, void *arg)
{
    struct profile_page *p = arg, *one = calloc(1, sizeof *one);
    if (!one)
        return;
    page_of(s, one);
    if (!profile_page_is_good(one, sizeof *one))
        p->missing++;
    else if (!p->ranks)
        *p = *one;
    else
        profile_page_add(p, one);
    free(one);
}

/* --- all -------------------------------------------------------------------------------------- */

static void each(const struct job *j, void (*fn)(struct source *s, void *arg), void *arg)
{
    struct source s;
    for (int rank = 0; rank < j->ranks; rank++)
        if (source_open(j, rank, &s)) {
            fn(&s, arg);
            source_close(&s);
        }
}

static void count(struct source *s, void *arg)
{
    (void)s;
    ++*(int *)arg;
}

static void name_missing(struct job *j)
{
    char list[MISSING_TEXT] = "";
    struct source s;
    for (int rank = 0; rank < j->ranks; rank++) {
        size_t n = strlen(list);
        if (source_open(j, rank, &s)) {
            source_close(&s);
            continue;
        }
        if (n > sizeof list - 20) {
            snprintf(list + n, sizeof list - n, ", ...");
            break;
        }
        snprintf(list + n, sizeof list - n, "%s%d", n ? ", " : "", rank);
    }
    snprintf(j->text, sizeof j->text,
             "The job ended before MPI_Finalize (%s). %d of %d ranks have left what they did up to "
             "then%s%s.",
             j->why, j->found, j->ranks, *list ? "; missing: " : "", list);
}

static int put_trace(struct job *j, const struct record *r, const char *path)
{
    uint64_t lost, events;
    struct trace_out o = {.c = malloc(sizeof *o.c)};
    int err = o.c ? trace_file_open(&o.f, path, r->program, j->ranks, j->text) : -ENOMEM;
    if (!err) {
        each(j, find_first, j);
        begin(o.c, TRACE_ZERO_PART, 0);
        o.c->lost = j->first;
        trace_file_take(o.f, o.c);
        each(j, put_source, &o);
        err = trace_file_close(o.f, &lost, &events);
    }
    free(o.c);
    if (err)
        log_warn("the trace cannot be written to %s: %s", path, strerror(-err));
    else
        log_warn("%s: the trace up to there. %s", path, j->text);
    return err;
}

static void put_report(struct job *j, const struct record *r, const char *json)
{
    struct profile_page *p = calloc(1, sizeof *p);
    if (!p)
        return;
    each(j, add_page, p);
    profile_places(p);
    profile_call_places(p);
    profile_page_sort(p);
    profile_page_places(p);
    p->missing += (uint32_t)(j->ranks - j->found);
    snprintf(p->incomplete, sizeof p->incomplete, "%s Windows that were not freed are missing.",
             j->text);
    profile_print(p, r->program, json);
    free(p);
}

/* Rank 0 has written everything itself. */
static int is_written(const struct job *j)
{
    struct record_head head;
    return pread(j->fd[0], &head, sizeof head, 0) == (ssize_t)sizeof head && head.over;
}

int profile_salvage(const int *fd, int ranks, const char *trace, int report, const char *json,
                    uint64_t end, const char *why)
{
    struct job j = {.fd = fd, .ranks = ranks, .why = why, .end = end, .first = UINT64_MAX};
    struct source s;
    if (is_written(&j))
        return 0;
    if (place_open())
        return -ENOMEM;
    each(&j, count, &j.found);
    for (int rank = 0; rank < ranks; rank++)
        if (source_open(&j, rank, &s)) {
            name_missing(&j);
            if (trace && *trace && s.r->traces)
                put_trace(&j, s.r, trace);
            if (report && s.r->reports)
                put_report(&j, s.r, json);
            source_close(&s);
            break;
        }
    place_close();
    return j.found ? 0 : -ENOENT;
}

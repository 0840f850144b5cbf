/* sums.c - what this process has seen, and how pages are added up. */
#include "say/say_types.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "check/site.h"
#include "rma/rma.h"

static const char others[] = "(others)";

/* --- sums of a process ------------------------------------------------------------------------ */

static struct say_cell *cell_of(struct say *y, const char *call, uint64_t address, uint64_t win,
                                uint32_t why)
{
    uint64_t h = ((uint64_t)(uintptr_t)call >> 3) ^ address * 31 ^ win * 131 ^ why * 1031u;
    for (unsigned i = 0; i < SAY_CELLS; i++) {
        struct say_cell *c = &y->cell[(h + i) % SAY_CELLS];
        if (!c->call && y->cells >= SAY_CELLS - PROGRESS_WHYS && call != others)
            break;
        if (!c->call) {
            y->cells++;
            c->call = call;
            c->address = address;
            c->w = (struct say_wait){.win = win, .why = why};
            return c;
        }
        if (c->call == call && c->address == address && c->w.win == win && c->w.why == why)
            return c;
    }
    return call == others ? NULL : cell_of(y, others, 0, 0, why);
}

void say_peer_add(struct say_wait *w, int rank, uint64_t ns)
{
    struct say_peer *least = &w->peer[0];
    for (int i = 0; i < SAY_PEERS; i++) {
        struct say_peer *p = &w->peer[i];
        if (p->ns && p->rank == rank) {
            p->ns += ns;
            return;
        }
        if (p->ns < least->ns)
            least = p;
    }
    if (least->ns >= ns) {
        w->others += ns;
        return;
    }
    w->others += least->ns;
    *least = (struct say_peer){rank, 0, ns};
}

enum progress_why say_why_of(const struct progress_seen *s)
{
    int meets = s->why == WHY_COLLECTIVE || s->why == WHY_MESSAGE;
    int makes_win = meets && proc->call && !strncmp(proc->call, "MPI_Win_", 8);
    return makes_win ? WHY_WINDOW : s->why;
}

void say_note(const struct progress_seen *s)
{
    struct say *y = proc->say;
    const char *call = proc->call ? proc->call : "(no call)";
    uint64_t ns = s->until - s->since;
    enum progress_why why = say_why_of(s);
    uint64_t win = s->of && why != WHY_WINDOW ? rma_win_id(s->of) : 0;
    struct say_cell *c = cell_of(y, call, s->site, win, why);
    y->waited += ns;
    if (why == WHY_LOCK && win)
        say_lock_waited(y, win);
    if (!c)
        return;
    c->w.n++;
    c->w.ns += ns;
    c->w.max = ns > c->w.max ? ns : c->w.max;
    if (s->peer >= 0 && ns)
        say_peer_add(&c->w, s->peer, ns);
}

/* A name of the program: one line, whatever it holds. */
static void plain(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < ' ' || (unsigned char)*s > '~')
            *s = '?';
}

static void plain_name(struct say_win *w)
{
    w->name[SAY_NAME - 1] = 0;
    plain(w->name);
}

static void win_of(const struct rma_win *w, struct say_win *out)
{
    memset(out, 0, sizeof *out);
    out->id = rma_win_id(w);
    strncpy(out->name, rma_win_name((struct rma_win *)w), SAY_NAME - 1);
    plain(out->name);
    out->flavor = rma_win_flavor(w);
    out->size = rma_win_size(w);
    out->members = 1;
    for (int i = 0; i < PVAR_COUNT; i++)
        if (pvar_table[i].bind == PVAR_WIN)
            out->v[i] = rma_win_pvar(w, i);
    say_locks_of(proc->say, out->id, &out->locks);
}

void say_win_closed(struct rma_win *w)
{
    struct say_win x;
    win_of(w, &x);
    say_win_add(proc->say->win, &proc->say->wins, &x);
}

/* --- lists ------------------------------------------------------------------------------------ */

static int same_key(const struct say_wait *a, const struct say_wait *b)
{
    return a->site == b->site && a->win == b->win && a->why == b->why && !strcmp(a->call, b->call);
}

static void wait_merge(struct say_wait *a, const struct say_wait *b)
{
    a->n += b->n;
    a->ns += b->ns;
    if (b->max > a->max) {
        a->max = b->max;
        a->max_rank = b->max_rank;
    }
    if (b->ranks && (!a->ranks || b->least < a->least)) {
        a->least = b->least;
        a->least_rank = b->least_rank;
    }
    a->ranks += b->ranks;
    a->rank_sum += b->rank_sum;
    a->others += b->others;
    for (int i = 0; i < SAY_PEERS; i++)
        if (b->peer[i].ns)
            say_peer_add(a, b->peer[i].rank, b->peer[i].ns);
}

/* The last PROGRESS_WHYS places are for what does not fit: one for each reason. */
void say_wait_add(struct say_wait *list, uint32_t *n, const struct say_wait *w)
{
    struct say_wait x = *w;
    struct say_wait *least = NULL;
    uint32_t own = 0;
    for (uint32_t i = 0; i < *n; i++) {
        if (same_key(&list[i], &x)) {
            wait_merge(&list[i], &x);
            return;
        }
        if (!strcmp(list[i].call, others))
            continue;
        own++;
        if (!least || list[i].ns < least->ns)
            least = &list[i];
    }
    if (own < SAY_WAITS - PROGRESS_WHYS && strcmp(x.call, others)) {
        list[(*n)++] = x;
        return;
    }
    if (strcmp(x.call, others) && least && least->ns < x.ns) {
        struct say_wait out = *least;
        *least = x;
        x = out;
    }
    x.site = x.win = 0;
    memcpy(x.call, others, sizeof others);
    for (uint32_t i = 0; i < *n; i++)
        if (same_key(&list[i], &x)) {
            wait_merge(&list[i], &x);
            return;
        }
    if (*n < SAY_WAITS)
        list[(*n)++] = x;
}

void say_places(struct say_page *p)
{
    for (uint32_t i = 0; i < p->waits;) {
        struct say_wait *w = &p->wait[i], *to = NULL;
        for (uint32_t j = 0; !w->site && j < p->waits; j++) {
            struct say_wait *x = &p->wait[j];
            if (x->site && x->win == w->win && x->why == w->why && !strcmp(x->call, w->call) &&
                (!to || x->ns > to->ns))
                to = x;
        }
        if (!to) {
            i++;
            continue;
        }
        wait_merge(to, w);
        *w = p->wait[--p->waits];
    }
}

static void win_merge(struct say_win *a, const struct say_win *b)
{
    a->members += b->members;
    a->locks.n += b->locks.n;
    a->locks.ns += b->locks.ns;
    a->locks.waits += b->locks.waits;
    a->locks.seen += b->locks.seen;
    a->locks.seen_outside += b->locks.seen_outside;
    for (int i = 0; i < PVAR_COUNT; i++)
        if (pvar_table[i].cls != PVAR_HIGHWATER)
            a->v[i] += b->v[i];
        else if (b->v[i] > a->v[i])
            a->v[i] = b->v[i];
}

static uint64_t win_weight(const struct say_win *w)
{
    uint64_t ns = 0;
    for (int i = PVAR_RMA_WAIT_LOCK; i <= PVAR_RMA_WAIT_POOL; i++)
        ns += w->v[i];
    return ns + w->v[PVAR_RMA_BYTES];
}

void say_win_add(struct say_win *list, uint32_t *n, const struct say_win *w)
{
    struct say_win x = *w;
    struct say_win *least = NULL, *rest = NULL;
    for (uint32_t i = 0; i < *n; i++) {
        if (list[i].id == x.id) {
            win_merge(&list[i], &x);
            return;
        }
        if (!list[i].id)
            rest = &list[i];
        else if (!least || win_weight(&list[i]) < win_weight(least))
            least = &list[i];
    }
    if (*n < SAY_WINS - 1 + (rest != NULL)) {
        list[(*n)++] = x;
        return;
    }
    if (x.id && least && win_weight(least) < win_weight(&x)) {
        struct say_win out = *least;
        *least = x;
        x = out;
    }
    if (rest) {
        win_merge(rest, &x);
        return;
    }
    x.id = 0;
    snprintf(x.name, sizeof x.name, "(other windows)");
    list[(*n)++] = x;
}

static int by_computing(const void *a, const void *b)
{
    const struct say_row *x = a, *y = b;
    double p = (double)x->computing * (double)y->run, q = (double)y->computing * (double)x->run;
    return p < q ? 1 : p > q ? -1 : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Those that compute most, those that compute least, and the middle of the others stay. */
void say_row_add(struct say_page *p, const struct say_row *r)
{
    struct say_row all[SAY_ROWS + 1];
    memcpy(all, p->row, p->rows * sizeof *all);
    all[p->rows] = *r;
    uint32_t n = p->rows + 1;
    qsort(all, n, sizeof *all, by_computing);
    if (n > SAY_ROWS) { /* one of the places beside the median goes */
        uint32_t drop = p->ranks % 2 ? SAY_ROWS / 2 - 1 : SAY_ROWS / 2 + 1;
        memmove(&all[drop], &all[drop + 1], (n - drop - 1) * sizeof *all);
        n--;
    }
    memcpy(p->row, all, n * sizeof *all);
    p->rows = n;
}

/* --- pages ------------------------------------------------------------------------------------ */

void say_page_add(struct say_page *p, const struct say_page *b)
{
    for (uint32_t i = 0; i < b->waits; i++)
        say_wait_add(p->wait, &p->waits, &b->wait[i]);
    for (uint32_t i = 0; i < b->wins; i++)
        say_win_add(p->win, &p->wins, &b->win[i]);
    for (uint32_t i = 0; i < b->rows; i++)
        say_row_add(p, &b->row[i]);
    for (uint32_t i = 0; i < b->calls; i++)
        say_call_add(p->call, &p->calls, &b->call[i]);
    p->counted += b->counted;
    p->ranks += b->ranks;
    p->crowded += b->crowded;
    p->cores = b->cores < p->cores ? b->cores : p->cores;
    p->host_ranks = b->host_ranks > p->host_ranks ? b->host_ranks : p->host_ranks;
    p->missing += b->missing;
    p->run = b->run > p->run ? b->run : p->run;
    p->all_run += b->all_run;
    p->computing += b->computing;
    p->working += b->working;
    p->waiting += b->waiting;
    p->delayed += b->delayed;
}

int say_page_is_good(struct say_page *p, size_t bytes)
{
    int good = p->magic == SAY_MAGIC && p->bytes == bytes && p->ranks > 0 &&
               p->counted <= (uint32_t)p->ranks;
    good = good && p->waits <= SAY_WAITS && p->wins <= SAY_WINS && p->rows <= SAY_ROWS &&
           p->calls <= SAY_CALLS;
    for (uint32_t i = 0; good && i < p->waits; i++) {
        p->wait[i].call[SAY_CALL - 1] = 0;
        plain(p->wait[i].call);
        p->wait[i].place[0] = 0;
        good = p->wait[i].why < PROGRESS_WHYS;
    }
    for (uint32_t i = 0; good && i < p->calls; i++) {
        p->call[i].call[SAY_CALL - 1] = 0;
        plain(p->call[i].call);
        p->call[i].place[0] = 0;
    }
    for (uint32_t i = 0; good && i < p->wins; i++)
        plain_name(&p->win[i]);
    return good;
}

uint64_t say_delayed(void)
{
    char text[96] = "";
    unsigned long long ns = 0;
    int fd = sched ? -1 : open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    return n > 0 && sscanf(text, "%*u %llu", &ns) == 1 ? ns : 0;
}

static void row_of(struct say_page *p)
{
    const struct say *y = proc->say;
    struct say_row r = {.rank = boot_rank(), .run = time_now() - y->began, .waiting = y->waited};
    r.waiting = r.waiting < r.run ? r.waiting : r.run;
    say_sample_row(&y->sampler, &r);
    if (r.working > r.run - r.waiting)
        r.working = r.run - r.waiting;
    r.computing = r.run - r.waiting - r.working;
    p->run = p->all_run = r.run;
    p->computing = r.computing;
    p->working = r.working;
    p->waiting = r.waiting;
    say_row_add(p, &r);
}

static void add_open(struct rma_win *w)
{
    say_win_closed(w);
}

void say_page_of(struct say_page *p)
{
    struct say *y = proc->say;
    int rank = boot_rank();
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    *p = (struct say_page){.magic = SAY_MAGIC, .bytes = sizeof *p, .ranks = 1};
    p->cores = cores > 0 ? (int32_t)cores : 1;
    p->host_ranks = boot_host_processes();
    p->crowded = p->host_ranks > p->cores;
    uint64_t delayed = say_delayed();
    p->delayed = delayed > y->delayed ? delayed - y->delayed : 0;
    row_of(p);
    for (unsigned i = 0; i < SAY_CELLS; i++) {
        struct say_cell *c = &y->cell[i];
        if (!c->call)
            continue;
        strncpy(c->w.call, c->call, SAY_CALL - 1);
        c->w.site = c->address ? site_portable(c->address) : 0;
        c->w.max_rank = rank;
        say_wait_add(p->wait, &p->waits, &c->w);
    }
    say_places(p);
    say_calls_of(p);
    for (uint32_t i = 0; i < p->waits; i++) {
        struct say_wait *w = &p->wait[i];
        w->ranks = 1;
        w->rank_sum = (uint64_t)rank;
        w->least = w->ns;
        w->least_rank = rank;
    }
    rma_each(add_open);
    memcpy(p->win, y->win, sizeof y->win);
    p->wins = y->wins;
}

static int by_ns(const void *a, const void *b)
{
    const struct say_wait *x = a, *y = b;
    return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : strcmp(x->call, y->call);
}

/* Time first; those that did not wait by their number. */
static int by_time(const void *a, const void *b)
{
    const struct say_call *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return x->calls < y->calls ? 1 : x->calls > y->calls ? -1 : strcmp(x->call, y->call);
}

static int by_weight(const void *a, const void *b)
{
    uint64_t x = win_weight(a), y = win_weight(b);
    return (x < y) - (x > y);
}

void say_page_sort(struct say_page *p)
{
    qsort(p->wait, p->waits, sizeof *p->wait, by_ns);
    qsort(p->call, p->calls, sizeof *p->call, by_time);
    qsort(p->win, p->wins, sizeof *p->win, by_weight);
}

/* Each place is looked up once: it starts a program. */
void say_page_places(struct say_page *p)
{
    enum { MOST = 16 };
    for (uint32_t i = 0; i < p->waits && i < MOST; i++) {
        struct say_wait *w = &p->wait[i];
        for (uint32_t j = 0; j < i && !*w->place; j++)
            if (p->wait[j].site == w->site)
                memcpy(w->place, p->wait[j].place, sizeof w->place);
        if (w->site && !*w->place)
            site_text(w->site, w->place, sizeof w->place);
    }
    for (uint32_t i = 0; i < p->calls && i < MOST; i++) {
        struct say_call *c = &p->call[i];
        for (uint32_t j = 0; j < p->waits && c->site && !*c->place; j++)
            if (p->wait[j].site == c->site)
                memcpy(c->place, p->wait[j].place, sizeof c->place);
        if (c->site && !*c->place)
            site_text(c->site, c->place, sizeof c->place);
    }
}

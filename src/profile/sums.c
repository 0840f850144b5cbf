/* sums.c - what this process has seen, and how pages are added up. Start with profile_note() and
 * profile_page_of(). */
#include "profile/profile_types.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "place/place.h"
#include "rma/rma.h"

static const char others[] = "(others)";

/* --- sums of a process ------------------------------------------------------------------------ */

static struct profile_cell *cell_of(struct profile *y, const char *call, uint64_t address,
                                    uint64_t win, uint32_t why)
{
    uint64_t h = ((uint64_t)(uintptr_t)call >> 3) ^ address * 31 ^ win * 131 ^ why * 1031u;
    for (unsigned i = 0; i < PROFILE_CELLS; i++) {
        struct profile_cell *c = &y->cell[(h + i) % PROFILE_CELLS];
        if (!c->call && y->cells >= PROFILE_CELLS - PROGRESS_WHYS && call != others)
            break;
        if (!c->call) {
            y->cells++;
            c->call = call;
            c->address = address;
            c->w = (struct profile_wait){.win = win, .why = why};
            return c;
        }
        if (c->call == call && c->address == address && c->w.win == win && c->w.why == why)
            return c;
    }
    return call == others ? NULL : cell_of(y, others, 0, 0, why);
}

void profile_peer_add(struct profile_wait *w, int rank, uint64_t ns)
{
    struct profile_peer *least = &w->peer[0];
    for (int i = 0; i < PROFILE_PEERS; i++) {
        struct profile_peer *p = &w->peer[i];
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
    *least = (struct profile_peer){rank, 0, ns};
}

enum progress_why profile_why_of(const struct progress_seen *s)
{
    int meets = s->why == WHY_COLLECTIVE || s->why == WHY_MESSAGE;
    int makes_win = meets && proc->call && !strncmp(proc->call, "MPI_Win_", 8);
    return makes_win ? WHY_WINDOW : s->why;
}

void profile_note(const struct progress_seen *s)
{
    struct profile *y = proc->profile;
    const char *front = site_front_call(s->site);
    const char *call = front ? front : proc->call ? proc->call : "(no call)";
    uint64_t ns = s->until - s->since;
    enum progress_why why = profile_why_of(s);
    uint64_t win = s->of && why != WHY_WINDOW ? rma_win_id(s->of) : 0;
    unsigned counter;
    uint64_t noted = why == WHY_NOTIFY ? rma_note_awaited(s->cond, s->arg, &counter) : 0;
    struct profile_cell *c = cell_of(y, call, site_address(s->site), noted ? noted : win, why);
    y->waited += ns;
    if (why == WHY_LOCK && win)
        profile_lock_waited(y, win);
    if (!c)
        return;
    c->w.n++;
    c->w.ns += ns;
    c->w.max = ns > c->w.max ? ns : c->w.max;
    if (ns && (noted || s->peer >= 0))
        profile_peer_add(&c->w, noted ? (int)counter : s->peer, ns);
}

/* A name of the program: one line, whatever it holds. */
static void plain(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < ' ' || (unsigned char)*s > '~')
            *s = '?';
}

static void plain_name(struct profile_win *w)
{
    w->name[PROFILE_NAME - 1] = 0;
    plain(w->name);
}

static void win_of(const struct rma_win *w, struct profile_win *out)
{
    memset(out, 0, sizeof *out);
    out->id = rma_win_id(w);
    strncpy(out->name, rma_win_name((struct rma_win *)w), PROFILE_NAME - 1);
    plain(out->name);
    out->flavor = rma_win_flavor(w);
    out->size = rma_win_size(w);
    out->members = 1;
    for (int i = 0; i < PVAR_COUNT; i++)
        if (pvar_table[i].bind == PVAR_WIN)
            out->v[i] = rma_win_pvar(w, i);
    profile_locks_of(proc->profile, out->id, &out->locks);
    profile_flags_of(proc->profile, out->id, &out->flags);
}

void profile_win_closed(struct rma_win *w)
{
    struct profile_win x;
    win_of(w, &x);
    profile_win_add(proc->profile->win, &proc->profile->wins, &x);
}

/* --- lists ------------------------------------------------------------------------------------ */

static int same_key(const struct profile_wait *a, const struct profile_wait *b)
{
    return a->site == b->site && a->win == b->win && a->why == b->why && !strcmp(a->call, b->call);
}

static void wait_merge(struct profile_wait *a, const struct profile_wait *b)
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
    for (int i = 0; i < PROFILE_PEERS; i++)
        if (b->peer[i].ns)
            profile_peer_add(a, b->peer[i].rank, b->peer[i].ns);
}

/* The last PROGRESS_WHYS places are for what does not fit: one for each reason. */
void profile_wait_add(struct profile_wait *list, uint32_t *n, const struct profile_wait *w)
{
    struct profile_wait x = *w;
    struct profile_wait *least = NULL;
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
    if (own < PROFILE_WAITS - PROGRESS_WHYS && strcmp(x.call, others)) {
        list[(*n)++] = x;
        return;
    }
    if (strcmp(x.call, others) && least && least->ns < x.ns) {
        struct profile_wait out = *least;
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
    if (*n < PROFILE_WAITS)
        list[(*n)++] = x;
}

void profile_places(struct profile_page *p)
{
    for (uint32_t i = 0; i < p->waits;) {
        struct profile_wait *w = &p->wait[i], *to = NULL;
        for (uint32_t j = 0; !w->site && j < p->waits; j++) {
            struct profile_wait *x = &p->wait[j];
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

static void win_merge(struct profile_win *a, const struct profile_win *b)
{
    a->members += b->members;
    a->locks.n += b->locks.n;
    a->locks.ns += b->locks.ns;
    a->locks.waits += b->locks.waits;
    a->locks.seen += b->locks.seen;
    a->locks.seen_outside += b->locks.seen_outside;
    if (b->flags.n > a->flags.n)
        a->flags.site = b->flags.site;
    a->flags.n += b->flags.n;
    for (int i = 0; i < PVAR_COUNT; i++)
        if (pvar_table[i].cls != PVAR_HIGHWATER)
            a->v[i] += b->v[i];
        else if (b->v[i] > a->v[i])
            a->v[i] = b->v[i];
}

static uint64_t win_weight(const struct profile_win *w)
{
    uint64_t ns = 0;
    for (int i = PVAR_RMA_WAIT_LOCK; i <= PVAR_RMA_WAIT_NOTIFY; i++)
        ns += w->v[i];
    return ns + w->v[PVAR_RMA_BYTES];
}

void profile_win_add(struct profile_win *list, uint32_t *n, const struct profile_win *w)
{
    struct profile_win x = *w;
    struct profile_win *least = NULL, *rest = NULL;
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
    if (*n < PROFILE_WINS - 1 + (rest != NULL)) {
        list[(*n)++] = x;
        return;
    }
    if (x.id && least && win_weight(least) < win_weight(&x)) {
        struct profile_win out = *least;
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
    const struct profile_row *x = a, *y = b;
    double p = (double)x->computing * (double)y->run, q = (double)y->computing * (double)x->run;
    return p < q ? 1 : p > q ? -1 : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Those that compute most, those that compute least, and the middle of the others stay. */
void profile_row_add(struct profile_page *p, const struct profile_row *r)
{
    struct profile_row all[PROFILE_ROWS + 1];
    memcpy(all, p->row, p->rows * sizeof *all);
    all[p->rows] = *r;
    uint32_t n = p->rows + 1;
    qsort(all, n, sizeof *all, by_computing);
    if (n > PROFILE_ROWS) { /* one of the places beside the median goes */
        uint32_t drop = p->ranks % 2 ? PROFILE_ROWS / 2 - 1 : PROFILE_ROWS / 2 + 1;
        memmove(&all[drop], &all[drop + 1], (n - drop - 1) * sizeof *all);
        n--;
    }
    memcpy(p->row, all, n * sizeof *all);
    p->rows = n;
}

/* --- pages ------------------------------------------------------------------------------------ */

void profile_page_add(struct profile_page *p, const struct profile_page *b)
{
    for (uint32_t i = 0; i < b->waits; i++)
        profile_wait_add(p->wait, &p->waits, &b->wait[i]);
    for (uint32_t i = 0; i < b->wins; i++)
        profile_win_add(p->win, &p->wins, &b->win[i]);
    for (uint32_t i = 0; i < b->rows; i++)
        profile_row_add(p, &b->row[i]);
    for (uint32_t i = 0; i < b->calls; i++)
        profile_call_add(p->call, &p->calls, &b->call[i]);
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

int profile_page_is_good(struct profile_page *p, size_t bytes)
{
    int good = p->magic == PROFILE_MAGIC && p->bytes == bytes && p->ranks > 0 &&
               p->counted <= (uint32_t)p->ranks;
    good = good && p->waits <= PROFILE_WAITS && p->wins <= PROFILE_WINS &&
           p->rows <= PROFILE_ROWS && p->calls <= PROFILE_CALLS;
    for (uint32_t i = 0; good && i < p->waits; i++) {
        p->wait[i].call[PROFILE_CALL - 1] = 0;
        plain(p->wait[i].call);
        p->wait[i].place[0] = 0;
        good = p->wait[i].why < PROGRESS_WHYS;
    }
    for (uint32_t i = 0; good && i < p->calls; i++) {
        p->call[i].call[PROFILE_CALL - 1] = 0;
        plain(p->call[i].call);
        p->call[i].place[0] = 0;
    }
    for (uint32_t i = 0; good && i < p->wins; i++)
        plain_name(&p->win[i]);
    return good;
}

uint64_t profile_delayed(void)
{
    char text[96] = "";
    unsigned long long ns = 0;
    int fd = sched ? -1 : open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    return n > 0 && sscanf(text, "%*u %llu", &ns) == 1 ? ns : 0;
}

void profile_row_of(struct profile_page *p, const struct profile *y, int rank, uint64_t run,
                    uint64_t waited)
{
    struct profile_row r = {.rank = rank, .run = run, .waiting = waited};
    r.waiting = r.waiting < r.run ? r.waiting : r.run;
    profile_sample_row(&y->sampler, &r);
    if (r.working > r.run - r.waiting)
        r.working = r.run - r.waiting;
    r.computing = r.run - r.waiting - r.working;
    p->run = p->all_run = r.run;
    p->computing = r.computing;
    p->working = r.working;
    p->waiting = r.waiting;
    profile_row_add(p, &r);
}

void profile_page_of_rank(struct profile_page *p, int rank)
{
    for (uint32_t i = 0; i < p->waits; i++) {
        struct profile_wait *w = &p->wait[i];
        w->ranks = 1;
        w->rank_sum = (uint64_t)rank;
        w->least = w->ns;
        w->least_rank = rank;
    }
}

static const char *own_text(void *arg, const char *there)
{
    (void)arg;
    return there;
}

static uint64_t own_site(void *arg, uint64_t address)
{
    (void)arg;
    return site_portable(address);
}

static void add_open(struct rma_win *w)
{
    profile_win_closed(w);
}

void profile_page_of(struct profile_page *p)
{
    struct profile *y = proc->profile;
    int rank = boot_rank();
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    *p = (struct profile_page){.magic = PROFILE_MAGIC, .bytes = sizeof *p, .ranks = 1};
    p->cores = cores > 0 ? (int32_t)cores : 1;
    p->host_ranks = boot_host_processes();
    p->crowded = p->host_ranks > p->cores;
    uint64_t delayed = profile_delayed();
    p->delayed = delayed > y->delayed ? delayed - y->delayed : 0;
    profile_row_of(p, y, rank, time_now() - y->began, y->waited);
    for (unsigned i = 0; i < PROFILE_CELLS; i++) {
        struct profile_cell *c = &y->cell[i];
        if (!c->call)
            continue;
        strncpy(c->w.call, c->call, PROFILE_CALL - 1);
        c->w.site = c->address ? site_portable(c->address) : 0;
        c->w.max_rank = rank;
        profile_wait_add(p->wait, &p->waits, &c->w);
    }
    profile_places(p);
    const struct profile_look look = {own_text, own_site, NULL};
    profile_calls_of(p, y->calls, &look);
    profile_page_of_rank(p, rank);
    rma_each(add_open);
    memcpy(p->win, y->win, sizeof y->win);
    p->wins = y->wins;
}

static int by_ns(const void *a, const void *b)
{
    const struct profile_wait *x = a, *y = b;
    return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : strcmp(x->call, y->call);
}

/* Time first; those that did not wait by their number. */
static int by_time(const void *a, const void *b)
{
    const struct profile_call *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return x->calls < y->calls ? 1 : x->calls > y->calls ? -1 : strcmp(x->call, y->call);
}

static int by_weight(const void *a, const void *b)
{
    uint64_t x = win_weight(a), y = win_weight(b);
    return (x < y) - (x > y);
}

void profile_page_sort(struct profile_page *p)
{
    qsort(p->wait, p->waits, sizeof *p->wait, by_ns);
    qsort(p->call, p->calls, sizeof *p->call, by_time);
    qsort(p->win, p->wins, sizeof *p->win, by_weight);
}

/* Each place is looked up once: it starts a program. */
void profile_page_places(struct profile_page *p)
{
    enum { MOST = 16 };
    for (uint32_t i = 0; i < p->waits && i < MOST; i++) {
        struct profile_wait *w = &p->wait[i];
        for (uint32_t j = 0; j < i && !*w->place; j++)
            if (p->wait[j].site == w->site)
                memcpy(w->place, p->wait[j].place, sizeof w->place);
        if (w->site && !*w->place)
            site_text(w->site, w->place, sizeof w->place);
    }
    for (uint32_t i = 0; i < p->calls && i < MOST; i++) {
        struct profile_call *c = &p->call[i];
        for (uint32_t j = 0; j < p->waits && c->site && !*c->place; j++)
            if (p->wait[j].site == c->site)
                memcpy(c->place, p->wait[j].place, sizeof c->place);
        if (c->site && !*c->place)
            site_text(c->site, c->place, sizeof c->place);
    }
}

/* trace_file.c - the events of all ranks as a file: trace events in JSON, as Chrome and Perfetto
 * read them, one in a line. A process of the file is a rank. Start with trace_file_take().
 *
 *   X  a call or a wait, with its begin and length (us)
 *   s, f  a message leaves, comes: the same id
 *   b, e  an epoch, from the call that opens it to the one that closes it; or a state of a target
 *         element, until it has another one or is freed */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/proc.h"
#include "boot/boot.h"
#include "place/place.h"
#include "profile/trace_ring.h"

enum {
    OUT = 1 << 16,
    LINE = 2048,
    THREADS = 64,
    EPOCHS = 256,
    STATES = 1024,
    SITES = 256,
    SITE_TEXT = 64
};

struct epoch {
    int32_t window, peer;
    const char *what; /* NULL: a free place */
    int element;      /* it is the state of an element */
};

struct trace_file {
    int fd, err;
    size_t n;
    uint64_t zero; /* ns: time 0 of the file */
    int rank, comma;
    unsigned names, wins, threads, epochs_used, sites;
    uint64_t last; /* ns: end of the rank's last event */
    uint64_t lost, events;
    uint32_t thread[THREADS];
    struct map site; /* texts by portable place */
    struct epoch epoch[EPOCHS];
    struct epoch state[STATES]; /* of elements: they take no place from epochs */
    uint64_t states_left;       /* found no place */
    char name[TRACE_NAMES][TRACE_CALL_LEN];
    char win[TRACE_WINS][PROFILE_NAME];
    char out[OUT];
};

/* --- lines ------------------------------------------------------------------------------------ */

static void flush(struct trace_file *f)
{
    for (size_t at = 0; at < f->n && !f->err;) {
        ssize_t n = write(f->fd, f->out + at, f->n - at);
        if (n > 0)
            at += (size_t)n;
        else if (n == 0 || errno != EINTR)
            f->err = n == 0 ? -EIO : -errno;
    }
    f->n = 0;
}

static void put(struct trace_file *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct trace_file *f, const char *fmt, ...)
{
    va_list ap;
    if (f->n > OUT - LINE)
        flush(f);
    va_start(ap, fmt);
    int n = vsnprintf(f->out + f->n, LINE, fmt, ap);
    va_end(ap);
    f->n += n > 0 && n < LINE ? (size_t)n : 0;
}

/* Names come from the program: what would end a string of JSON, or is no ASCII, is replaced. */
static void plain(char *s)
{
    for (; *s; s++)
        if (*s < ' ' || *s > '~' || *s == '"' || *s == '\\')
            *s = '?';
}

/* ns as us, whatever the program's locale is. */
static void put_us(struct trace_file *f, const char *name, int64_t ns)
{
    uint64_t n = (uint64_t)(ns < 0 ? -ns : ns);
    put(f, ",\"%s\":%s%llu.%03u", name, ns < 0 ? "-" : "", (unsigned long long)(n / 1000),
        (unsigned)(n % 1000));
}

static void begin_line(struct trace_file *f, const char *phase, uint64_t ns, unsigned thread)
{
    put(f, "%s\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%u", f->comma ? "," : "", phase, f->rank, thread);
    put_us(f, "ts", (int64_t)(ns - f->zero));
    f->comma = 1;
}

static void put_about(struct trace_file *f, const char *what, const char *name)
{
    put(f, "%s\n{\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"name\":\"%s\",\"args\":{\"name\":\"%s\"}}",
        f->comma ? "," : "", f->rank, what, name);
    f->comma = 1;
}

/* --- epochs ----------------------------------------------------------------------------------- */

static void put_epoch(struct trace_file *f, const struct epoch *e, const char *phase, uint64_t ns)
{
    begin_line(f, phase, ns, 0);
    put(f, ",\"cat\":\"%s\",\"id\":\"%d.%d.%d.%s\",\"name\":\"%s\"", e->element ? "state" : "epoch",
        f->rank, e->window, e->peer, e->what, e->what);
    if (e->element)
        put(f, ",\"args\":{\"window\":\"%s\",\"peer\":%d}", e->window >= 0 ? f->win[e->window] : "",
            e->peer);
    put(f, "}");
}

static void epoch_close(struct trace_file *f, int32_t window, int32_t peer, const char *what,
                        uint64_t ns)
{
    for (int i = 0; i < EPOCHS; i++) {
        struct epoch *e = &f->epoch[i];
        if (!e->what || e->window != window || e->peer != peer || strcmp(e->what, what))
            continue;
        put_epoch(f, e, "e", ns);
        e->what = NULL;
    }
}

static void epoch_open(struct trace_file *f, int32_t window, int32_t peer, const char *what,
                       uint64_t ns)
{
    for (int i = 0; i < EPOCHS; i++)
        if (!f->epoch[i].what) {
            f->epoch[i] = (struct epoch){window, peer, what, 0};
            put_epoch(f, &f->epoch[i], "b", ns);
            return;
        }
}

static void epochs_end(struct trace_file *f)
{
    for (int i = 0; i < EPOCHS; i++)
        if (f->epoch[i].what)
            put_epoch(f, &f->epoch[i], "e", f->last);
    for (int i = 0; i < STATES; i++)
        if (f->state[i].what)
            put_epoch(f, &f->state[i], "e", f->last);
    if (f->states_left)
        put(f,
            ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"name\":\"states left out\","
            "\"args\":{\"states\":%llu}}",
            f->rank, (unsigned long long)f->states_left);
    memset(f->epoch, 0, sizeof f->epoch);
    memset(f->state, 0, sizeof f->state);
    f->states_left = 0;
}

/* An element has one state at a time. */
static void state_of(struct trace_file *f, const struct trace_event *e, const char *state)
{
    struct epoch *place = NULL;
    for (int i = 0; i < STATES; i++) {
        struct epoch *x = &f->state[i];
        if (x->what && x->window == e->window && x->peer == e->peer) {
            put_epoch(f, x, "e", e->at);
            x->what = NULL;
        }
        if (!x->what && !place)
            place = x;
    }
    f->states_left += *state && !place;
    if (!*state || !place)
        return;
    *place = (struct epoch){e->window, e->peer, state, 1};
    put_epoch(f, place, "b", e->at);
}

/* Epochs follow from the calls, which come in the order of their ends. */
static void epochs_of(struct trace_file *f, const struct trace_event *e, const char *call)
{
    static const struct {
        const char *call, *what;
        int opens, each; /* each: one for each target */
    } rows[] = {
        {"MPI_Win_lock", "lock", 1, 1},         {"MPI_Win_unlock", "lock", 0, 1},
        {"MPI_Win_lock_all", "lock_all", 1, 0}, {"MPI_Win_unlock_all", "lock_all", 0, 0},
        {"MPI_Win_start", "access", 1, 0},      {"MPI_Win_complete", "access", 0, 0},
        {"MPI_Win_post", "exposure", 1, 0},     {"MPI_Win_wait", "exposure", 0, 0},
        {"MPI_Win_test", "exposure", 0, 0},
    };
    uint64_t end = e->at + e->lasts;
    int32_t peer = -1;
    if (!strcmp(call, "MPI_Win_fence")) {
        epoch_close(f, e->window, -1, "fence", end);
        epoch_open(f, e->window, -1, "fence", end);
        return;
    }
    if (!strcmp(call, "MPI_Win_free"))
        epoch_close(f, e->window, -1, "fence", e->at);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(call, rows[i].call) || (!e->why && !strcmp(call, "MPI_Win_test")))
            continue;
        peer = rows[i].each ? e->peer : -1;
        if (rows[i].opens)
            epoch_open(f, e->window, peer, rows[i].what, end);
        else
            epoch_close(f, e->window, peer, rows[i].what, end);
    }
}

/* --- events ----------------------------------------------------------------------------------- */

static unsigned thread_of(struct trace_file *f, uint32_t bits)
{
    unsigned i = 0;
    while (i < f->threads && f->thread[i] != bits)
        i++;
    if (i == f->threads && i < THREADS)
        f->thread[f->threads++] = bits;
    return i;
}

/* The text of a place, looked up once: it starts a program. */
static const char *site_of(struct trace_file *f, uint64_t site)
{
    char *text = site ? map_get(&f->site, site) : NULL;
    if (!site || text || f->sites >= SITES)
        return text ? text : "";
    if (!(text = calloc(1, SITE_TEXT)))
        return "";
    f->sites++;
    site_text(site, text, SITE_TEXT);
    plain(text);
    if (map_put(&f->site, site, text)) {
        free(text);
        return "";
    }
    return text;
}

static const char *category(const struct trace_event *e)
{
    static const char *const names[TRACE_KINDS] = {
        [TRACE_CALL] = "call",    [TRACE_WINDOW] = "window", [TRACE_COLLECTIVE] = "collective",
        [TRACE_SENT] = "message", [TRACE_GOT] = "message",   [TRACE_ARRIVED] = "message",
        [TRACE_WAIT] = "wait",    [TRACE_STATE] = "state"};
    return names[e->kind];
}

static void put_arrow(struct trace_file *f, const struct trace_event *e, unsigned thread)
{
    int leaves = e->kind == TRACE_SENT;
    if (!e->message || e->kind == TRACE_WAIT)
        return;
    begin_line(f, leaves ? "s" : "f", leaves ? e->at : e->at + e->lasts, thread);
    put(f, ",\"cat\":\"message\",\"name\":\"message\",\"id\":\"%llx\"%s}",
        (unsigned long long)e->message, leaves ? "" : ",\"bp\":\"e\"");
}

static void put_args(struct trace_file *f, const struct trace_event *e, const char *call)
{
    const char *site = site_of(f, e->site);
    const char *comma = "";
    put(f, ",\"args\":{");
    if (e->kind == TRACE_WAIT) {
        put(f, "\"call\":\"%s\",\"looks\":%llu", call, (unsigned long long)e->message);
        comma = ",";
    }
    if (*site) {
        put(f, "%s\"site\":\"%s\"", comma, site);
        comma = ",";
    }
    if (e->window >= 0) {
        put(f, "%s\"window\":\"%s\"", comma, *f->win[e->window] ? f->win[e->window] : "(no name)");
        comma = ",";
    }
    if (e->peer >= 0) {
        put(f, "%s\"peer\":%d", comma, e->peer);
        comma = ",";
    }
    if (e->bytes)
        put(f, "%s\"bytes\":%llu", comma, (unsigned long long)e->bytes);
    put(f, "}}");
}

static void put_event(struct trace_file *f, const struct trace_event *e)
{
    const char *call = f->name[e->name.index];
    struct profile_wait why = {.why = e->why, .n = 1, .ns = e->lasts};
    unsigned thread = thread_of(f, e->thread);
    f->events++;
    if (e->at + e->lasts > f->last)
        f->last = e->at + e->lasts;
    if (e->kind == TRACE_STATE) {
        state_of(f, e, call);
        return;
    }
    if (e->kind != TRACE_ARRIVED) {
        snprintf(why.call, sizeof why.call, "%s", call);
        begin_line(f, "X", e->at, thread);
        put_us(f, "dur", (int64_t)e->lasts);
        put(f, ",\"cat\":\"%s\",\"name\":\"%s\"", category(e),
            e->kind == TRACE_WAIT ? profile_why_text(&why) : call);
        put_args(f, e, call);
    }
    put_arrow(f, e, thread);
    if (e->kind == TRACE_WINDOW)
        epochs_of(f, e, call);
}

/* --- chunks ----------------------------------------------------------------------------------- */

static void rank_begins(struct trace_file *f, int rank)
{
    char name[32];
    epochs_end(f);
    f->rank = rank;
    f->names = f->wins = f->threads = 0;
    f->last = 0;
    snprintf(name, sizeof name, "rank %d", rank);
    put_about(f, "process_name", name);
}

static void take_names(struct trace_file *f, const struct trace_chunk *c)
{
    for (uint32_t i = 0; i < c->n && c->first <= TRACE_NAMES && c->first + i < TRACE_NAMES; i++) {
        char *name = f->name[c->first + i];
        memcpy(name, c->u.name[i], TRACE_CALL_LEN);
        name[TRACE_CALL_LEN - 1] = 0;
        plain(name);
        f->names = c->first + i + 1;
    }
}

static void take_wins(struct trace_file *f, const struct trace_chunk *c)
{
    for (uint32_t i = 0; i < c->n && i < TRACE_WINS; i++) {
        memcpy(f->win[i], c->u.win[i], PROFILE_NAME);
        f->win[i][PROFILE_NAME - 1] = 0;
        plain(f->win[i]);
        f->wins = i + 1;
    }
    f->lost += c->lost;
    if (c->lost)
        put(f,
            ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"name\":\"lost\","
            "\"args\":{\"events\":%llu}}",
            f->rank, (unsigned long long)c->lost);
}

static void take_events(struct trace_file *f, const struct trace_chunk *c)
{
    for (uint32_t i = 0; i < c->n && i < TRACE_BLOCK; i++) {
        struct trace_event e = c->u.event[i];
        if (e.kind >= TRACE_KINDS || e.why >= PROGRESS_WHYS || e.name.index >= f->names)
            continue;
        if (e.window < 0 || (unsigned)e.window >= f->wins)
            e.window = -1;
        e.at = e.at > f->zero ? e.at : f->zero; /* of a process that knows no better: readers drop
                                                 * what lies before 0 */
        put_event(f, &e);
    }
}

void trace_file_take(void *to, struct trace_chunk *c)
{
    struct trace_file *f = to;
    if (f->rank != c->rank)
        rank_begins(f, c->rank);
    switch (c->part) {
    case TRACE_ZERO_PART:
        f->zero = c->lost;
        break;
    case TRACE_NAMES_PART:
        take_names(f, c);
        break;
    case TRACE_WINS_PART:
        take_wins(f, c);
        break;
    case TRACE_EVENTS_PART:
        take_events(f, c);
        break;
    default:
        break;
    }
}

int trace_file_open(struct trace_file **out, const char *path, const char *program, int ranks,
                    const char *incomplete)
{
    struct trace_file *f = calloc(1, sizeof *f);
    char name[128], more[700] = "";
    if (!f)
        return -ENOMEM;
    f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (f->fd < 0) {
        int err = -errno;
        free(f);
        return err;
    }
    map_init(&f->site);
    f->rank = -1;
    snprintf(name, sizeof name, "%s", program);
    plain(name);
    put(f,
        "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"program\":\"%s\",\"ranks\":%d,"
        "\"cores\":%ld,\"host_ranks\":%d",
        name, ranks, sysconf(_SC_NPROCESSORS_ONLN), proc->boot ? boot_host_processes() : ranks);
    if (incomplete) {
        snprintf(more, sizeof more, "%s", incomplete);
        plain(more);
        put(f, ",\"incomplete\":\"%s\"", more);
    }
    put(f, "},\n\"traceEvents\":[");
    *out = f;
    return 0;
}

void trace_file_ended(struct trace_file *f, int rank, const char *how)
{
    char text[200];
    snprintf(text, sizeof text, "%s", how);
    plain(text);
    put(f,
        "%s\n{\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"name\":\"ended\",\"args\":{\"how\":\"%s\"}}",
        f->comma ? "," : "", rank, text);
    f->comma = 1;
}

int trace_file_close(struct trace_file *f, uint64_t *lost, uint64_t *events)
{
    size_t at = 0;
    epochs_end(f);
    put(f, "\n]}\n");
    flush(f);
    int err = close(f->fd) && !f->err ? -errno : f->err;
    *lost = f->lost;
    *events = f->events;
    for (struct map_entry *e; (e = map_next(&f->site, &at)) != NULL;)
        free(e->value);
    map_destroy(&f->site);
    free(f);
    return err;
}

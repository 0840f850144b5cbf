/* words.c - pieces of text that the page, the file and the advice share. Start with
 * profile_why_text(). */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "profile/profile_types.h"

void profile_put(struct profile_text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    if (!VEC_FITS(t->s, t->room, t->n + (size_t)n + 1, 1024))
        return;
    va_start(ap, fmt);
    t->n += (size_t)vsnprintf(t->s + t->n, t->room - t->n, fmt, ap);
    va_end(ap);
}

void profile_free(struct profile_text *t)
{
    free(t->s);
    *t = (struct profile_text){NULL, 0, 0};
}

int profile_lines(const struct profile_text *t)
{
    int n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += t->s[i] == '\n';
    return n;
}

/* An answer that takes longer than a network needs: the target did not look. */
int profile_target_was_busy(const struct profile_wait *w)
{
    enum { LONG_NS = 200000 };
    return w->why == WHY_FLUSH && w->n && w->ns / w->n >= LONG_NS;
}

const char *profile_why_text(const struct profile_wait *w)
{
    switch (w->why) {
    case WHY_LOCK:
        return "lock held by another rank";
    case WHY_FENCE:
        return "late arrival at a fence";
    case WHY_POST:
        return "late post";
    case WHY_COMPLETE:
        return "late complete (early wait)";
    case WHY_FLUSH:
        return profile_target_was_busy(w) ? "target was computing" : "answer of a target";
    case WHY_POOL:
        return "pools were empty";
    case WHY_WINDOW:
        return "window creation and free";
    case WHY_COLLECTIVE:
        return strstr(w->call, "arrier") ? "late arrival at a barrier"
                                         : "late arrival at a collective";
    case WHY_MESSAGE:
        return "message not sent yet";
    case WHY_FILE:
        return "a file";
    case WHY_NOTIFY:
        return "notification not there yet";
    default:
        return "other";
    }
}

const char *profile_flavor(int flavor)
{
    switch (flavor) {
    case MPI_WIN_FLAVOR_CREATE:
        return "create";
    case MPI_WIN_FLAVOR_ALLOCATE:
        return "allocate";
    case MPI_WIN_FLAVOR_DYNAMIC:
        return "dynamic";
    case MPI_WIN_FLAVOR_SHARED:
        return "shared";
    default:
        return "?";
    }
}

void profile_bytes(double n, char *buf, size_t len)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int k = 0;
    for (; n >= 1024 && k < 5; k++)
        n /= 1024;
    snprintf(buf, len, n < 10 && k ? "%.1f %s" : "%.0f %s", n, unit[k]);
}

/* 1234567 as "1,234,567". */
void profile_count(double n, char *buf, size_t len)
{
    char plain[40];
    size_t at = 0;
    snprintf(plain, sizeof plain, "%.0f", n);
    size_t digits = strlen(plain);
    for (size_t i = 0; i < digits && at + 2 < len; i++) {
        if (i && (digits - i) % 3 == 0)
            buf[at++] = ',';
        buf[at++] = plain[i];
    }
    buf[at] = 0;
}

const struct profile_win *profile_win_of(const struct profile_page *p, uint64_t id)
{
    for (uint32_t i = 0; id && i < p->wins; i++)
        if (p->win[i].id == id)
            return &p->win[i];
    return NULL;
}

void profile_win_text(const struct profile_page *p, uint64_t id, char *buf, size_t len)
{
    const struct profile_win *w = profile_win_of(p, id);
    if (w && *w->name)
        snprintf(buf, len, "\"%s\"", w->name);
    else
        snprintf(buf, len, w ? "a window without a name" : id ? "another window" : "");
}

static int meets_all(const struct profile_wait *w)
{
    return w->why == WHY_FENCE || w->why == WHY_COLLECTIVE || w->why == WHY_WINDOW;
}

/* The last one to come finds the others there, and does not wait. */
int profile_late_rank(const struct profile_page *p, const struct profile_wait *w)
{
    const struct profile_win *win = profile_win_of(p, w->win);
    uint64_t size = (uint64_t)p->ranks;
    if (!meets_all(w) || !w->ranks || (win && (uint64_t)win->size != size) || size < 2)
        return -1;
    if (w->ranks == size - 1) {
        uint64_t rank = size * (size - 1) / 2 - w->rank_sum;
        return rank < size ? (int)rank : -1;
    }
    uint64_t mean = (w->ns - w->least) / (size - 1);
    return w->ranks == size && w->least < mean / 4 ? w->least_rank : -1;
}

/* "rank 3", or "ranks 3 (60 %), 5 (20 %)": those that were awaited most, of this kind. */
static int put_most(const struct profile_wait *w, const char *kind, char *buf, size_t len)
{
    const struct profile_peer *a = NULL, *b = NULL;
    for (int i = 0; i < PROFILE_PEERS; i++) {
        const struct profile_peer *x = &w->peer[i];
        if (x->ns && (!a || x->ns > a->ns)) {
            b = a;
            a = x;
        } else if (x->ns && (!b || x->ns > b->ns)) {
            b = x;
        }
    }
    if (b)
        snprintf(buf, len, "%ss %d (%.0f %%), %d (%.0f %%)", kind, a->rank,
                 100.0 * (double)a->ns / (double)w->ns, b->rank,
                 100.0 * (double)b->ns / (double)w->ns);
    else if (a)
        snprintf(buf, len, "%s %d", kind, a->rank);
    return a != NULL;
}

void profile_awaited(const struct profile_page *p, const struct profile_wait *w, char *buf,
                     size_t len)
{
    int late = profile_late_rank(p, w);
    char most[64], win[48];
    profile_win_text(p, w->win, win, sizeof win);
    if (late >= 0)
        snprintf(buf, len, "rank %d", late);
    else if (meets_all(w))
        snprintf(buf, len, "several in turn");
    else if (w->why != WHY_NOTIFY)
        snprintf(buf, len, "%s", put_most(w, "rank", most, sizeof most) ? most : "-");
    else if (put_most(w, "counter", most, sizeof most))
        snprintf(buf, len, "%s of %s", most, win);
    else
        snprintf(buf, len, "%s", win); /* any member may notify */
}

void profile_call_at(const struct profile_wait *w, char *buf, size_t len)
{
    snprintf(buf, len, *w->place ? "%s at %s" : "%s", w->call, w->place);
}

void profile_where(const char *place, const char *call, char *buf, size_t len)
{
    snprintf(buf, len, "%s%s%s", place, *place ? "  " : "", call);
}

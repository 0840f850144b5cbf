/* detector_judge.c - what the lines of a probe mean together: alive, ended, host cut off, or
 * nothing (W2, W4, W5, W7, W8). Start with detector_probe_judge(). */
#include <arpa/inet.h>
#include <stdio.h>

#include "base/log.h"
#include "boot/detector_types.h"

/* The addresses that were tried, and the result of each. */
static void lines_tell(const struct probe *p, char *text, size_t size)
{
    size_t n = 0;
    *text = 0;
    for (unsigned i = 0; i < p->card.spots && n < size; i++) {
        const struct line *l = &p->line[i];
        const struct detector_spot *s = &p->card.spot[i];
        char to[INET6_ADDRSTRLEN] = "?", from[INET6_ADDRSTRLEN] = "";
        inet_ntop(s->v6 ? AF_INET6 : AF_INET, s->bytes, to, sizeof to);
        if (l->via.port)
            inet_ntop(l->via.v6 ? AF_INET6 : AF_INET, l->via.bytes, from, sizeof from);
        const char *what = l->again == UINT64_MAX     ? "an address of this host, too"
                           : l->state == LINE_REFUSED ? "refused"
                           : l->via.port              ? "no answer, from "
                                                      : "no way there";
        n += (size_t)snprintf(text + n, size - n, "%s%s port %d (%s%s)", n ? ", " : "", to,
                              ntohs(s->port), what, l->state == LINE_REFUSED ? "" : from);
    }
}

static void cannot_ask(struct detector *w, const struct probe *p)
{
    int tried = 0;
    for (unsigned i = 0; i < p->card.spots; i++)
        tried |= p->line[i].again != UINT64_MAX;
    /* One process reports it for its whole host. */
    if (!p->near && !w->warned++ && node_map_host_index(&w->b->map, w->b->rank) == 0)
        log_warn("host %s cannot be asked whether process %d is alive (%s; "
                 "MPIR_CVAR_PEER_INTERFACE); failures there may go unnoticed",
                 p->card.host, p->rank,
                 tried ? "no answer to TCP connections has ever come from another host"
                       : "this host has all its addresses, too");
}

/* W7: nothing was ever received from any other host. */
static void probe_judge_deaf(struct detector *w, struct probe *p, int silent, uint64_t now)
{
    char why[BOOT_WHY_MAX], tried[360];
    long long s = (long long)w->timeout * DEAF;
    if (silent)
        cannot_ask(w, p);
    if (now - p->asked > detector_timeout(w)) { /* no wait depends on it any more */
        if (silent)
            detector_probe_end(p);
        return;
    }
    if (!p->proof && now - p->begun > DEAF * detector_timeout(w)) {
        lines_tell(p, tried, sizeof tried);
        log_warn("process %d on %s is given up: this process has waited for it for %lld s "
                 "(%d times MPIR_CVAR_PEER_TIMEOUT), and never had a message or an answer from any "
                 "other host.  Tried by TCP: %s.  Either that host or this one is cut off, or the "
                 "process has ended.  If it is a firewall: MPIR_CVAR_PEER_INTERFACE names "
                 "interfaces that are open, and MPIR_CVAR_PEER_TIMEOUT=0 turns this check off",
                 p->rank, p->card.host, s, DEAF, tried);
        snprintf(why, sizeof why, "nothing was ever heard from its host %s, for %lld s",
                 p->card.host, s);
        boot_fail_take(w->b, p->rank, BOOT_APART, why);
        detector_probe_end(p);
        return;
    }
    /* the cause of the refusal may not last */
    for (unsigned i = 0; i < p->card.spots && silent; i++)
        if (p->line[i].state == LINE_REFUSED) {
            p->line[i].refusals = 0;
            detector_line_retry(&p->line[i], now);
        }
}

/* W2: the result of this line is evidence about the peer. `left`: some line of the probe found a
 * way out. Then a line that found none is no evidence, such as one to an IPv6 address from a host
 * without IPv6. */
static int line_counts(const struct detector *w, const struct probe *p, const struct line *l,
                       int left)
{
    if (l->state == LINE_REFUSED && p->near)
        return 1;
    return l->tried &&
           (l->via.port ? detector_spot_among(&l->via, w->good, w->ngood) : w->ngood > 0 && !left);
}

/* What the lines of a probe mean together. */
void detector_probe_judge(struct detector *w, struct probe *p, uint64_t now)
{
    /* doubt: a way that is not known to work may still bring an answer */
    int left = 0, lines = 0, refused = 0, doubt = 0;
    char why[BOOT_WHY_MAX];
    if (detector_probe_open(p)) /* W1: the probe stays, however long the process is stopped */
        return;
    for (unsigned i = 0; i < p->card.spots; i++)
        left |= p->line[i].tried && p->line[i].via.port;
    for (unsigned i = 0; i < p->card.spots; i++) {
        const struct line *l = &p->line[i];
        int counts = line_counts(w, p, l, left);
        lines += counts;
        refused += counts && l->state == LINE_REFUSED;
        /* Also a line that waits for its next try, but not one for which this host has no way
         * out. */
        int open = l->state == LINE_CONNECTING ||
                   (l->state == LINE_IDLE && l->again != UINT64_MAX && !(l->tried && !l->via.port));
        doubt += open && !counts;
    }
    int silent = p->lost || now - p->since > detector_timeout(w);
    int host_silent = silent && now - p->host_since > detector_timeout(w);
    if (detector_is_deaf(w) && !p->near) {
        probe_judge_deaf(w, p, silent, now);
    } else if (p->proof && (silent || (lines && refused == lines))) {
        detector_probe_end(p);
    } else if (silent && p->spoke) { /* W8 */
        detector_probe_end(p);
    } else if (lines && refused && (silent || (refused == lines && !doubt))) {
        snprintf(why, sizeof why, "its process on %s has ended", p->card.host);
        boot_fail_take(w->b, p->rank, BOOT_ONE, why);
        detector_probe_end(p);
    } else if (host_silent && lines && !p->near) {
        /* only just: this host was cut off, and the other has had no chance to answer since */
        if (p->vouched && now - p->vouched < detector_timeout(w) / 4)
            return;
        snprintf(why, sizeof why, "its host %s has not answered for %lld s", p->card.host,
                 (long long)w->timeout);
        /* of another job: which others are there is not known for certain, each is asked */
        enum boot_scope scope = p->host < 0 ? BOOT_ONE : BOOT_HOST;
        boot_fail_take(w->b, p->rank, p->vouched ? scope : BOOT_APART, why);
        detector_probe_end(p);
    } else if (silent && lines && !p->near && now - p->asked <= detector_timeout(w)) {
        /* W5: others of its host answer.  The probe goes on, so that a failure of that host is
         * found without another time-out */
        return;
    } else if (silent) {
        if (!lines)
            cannot_ask(w, p);
        detector_probe_end(p);
    }
}

/* Half of the time has passed without an answer.  Is that host cut off, or this one?  (W4) */
void detector_witness_call(struct detector *w, struct probe *p, uint64_t now)
{
    if (p->near || p->called || p->vouched || now - p->host_since < detector_timeout(w) / 2 ||
        detector_probe_open(p))
        return;
    p->called = 1;
    for (int i = 0; i < WITNESSES; i++) {
        const struct ask *a = &w->witness[i];
        if (a->rank >= 0 && !detector_host_same(w, p, boot_host_of(w->b, a->rank), &a->card)) {
            detector_probe_take(w, a, now);
            return;
        }
    }
    atomic_store_explicit(&w->proven, 0, memory_order_relaxed);
}

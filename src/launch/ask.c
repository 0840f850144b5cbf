/* ask.c - SIGUSR1 and -timeout: what each rank does, read from outside, so that the rank is not
 * disturbed. Start with ask_all() and ask_tick(). */
#include "launch/ask.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/sched.h"
#include "base/where.h"
#include "launch/chain.h"
#include "launch/job.h"
#include "launch/source_line.h"
#include "launch/stack_place.h"

/* From here on the library says more of a wait (progress/engine.c). */
static const uint64_t LASTS_NS = 1000000000u;
/* Stopping ranks and addr2line keep mpiexec from its other work at most so long in one report. */
static const uint64_t LINES_NS = 2000000000u;
enum { WORD_MAX = 200, PAGE = 4096 /* or a multiple: a read up to its end crosses none */ };

/* Bytes of process `pid` at `at`.  0 or -errno. */
static int read_bytes(pid_t pid, uint64_t at, void *to, size_t n)
{
    struct iovec here = {.iov_base = to, .iov_len = n},
                 there = {.iov_base = (void *)(uintptr_t)at, .iov_len = n};
    ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
    return got == (ssize_t)n ? 0 : got < 0 ? -errno : -EFAULT;
}

/* The string at `at`: cut at WORD_MAX and at a page that is not mapped.  A rank may be any program,
 * so a character that is not printable becomes a '?'. */
static int read_word(pid_t pid, const char *at, char word[WORD_MAX])
{
    size_t have = 0, from = (size_t)(uintptr_t)at;
    memset(word, 0, WORD_MAX);
    while (have < WORD_MAX - 1 && !memchr(word, 0, have)) {
        size_t n = PAGE - (from + have) % PAGE;
        n = n < WORD_MAX - 1 - have ? n : WORD_MAX - 1 - have;
        int err = read_bytes(pid, from + have, word + have, n);
        if (err && !have)
            return err;
        if (err)
            break;
        have += n;
    }
    for (char *c = word; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return 0;
}

/* The record of its wait, which may be that of none; all 0: there is no record. */
static void read_wait(pid_t pid, const struct where *w, struct where_wait *x)
{
    if (!w->wait || read_bytes(pid, (uintptr_t)w->wait, x, sizeof *x) || x->magic != WHERE_MAGIC)
        memset(x, 0, sizeof *x);
    if (!w->wait_what) {
        x->since = x->never = 0;
        x->call = NULL;
    }
    x->about[sizeof x->about - 1] = 0;
    for (char *c = x->about; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

/* "; it slept last in MPI_Barrier", of a rank outside MPI. A call in which it has not slept leaves
 * nothing behind: that would cost all calls. */
static void slept_text(pid_t pid, const struct where *w, const struct where_wait *x, char *text,
                       size_t len)
{
    char call[WORD_MAX] = "";
    *text = 0;
    if (!w->call && x->slept_in && !read_word(pid, x->slept_in, call) && *call)
        snprintf(text, len, "; it slept last in %s", call);
}

/* Of a wait in MPI that a call of a front made. A front that waits by itself polls MPI, which it
 * calls for a moment each. */
static int front_text(pid_t pid, const struct where_wait *x, char call[WORD_MAX])
{
    const char *name = x->call;
    char text[WORD_MAX];
    if (!name && (!x->front || read_bytes(pid, (uintptr_t)x->front, &name, sizeof name)))
        return 0;
    if (!name || read_word(pid, name, text))
        return 0;
    snprintf(call, WORD_MAX, "%s", text);
    return 1;
}

/* "; at heat.c:12", and of a wait that has lasted ", window "halo", lock epochs, for 61 s" */
static void lasting_text(pid_t pid, const struct where_wait *x, struct source_lines *lines,
                         char *text, size_t len)
{
    char place[120] = "";
    uint64_t now = time_now(), since = x->since;
    *text = 0;
    if (!since || since > now || now - since < LASTS_NS) {
        /* It does not wait, or not for long: where in the program it is. */
        source_line_text(pid, stack_place(pid, lines->until), lines, place, sizeof place);
        snprintf(text, len, "%s%s", *place ? "; at " : "", place);
        return;
    }
    source_line_text(pid, x->site, lines, place, sizeof place);
    snprintf(text, len, "; %s%s%s%s%sfor %llu s%s", *place ? "at " : "", place, *place ? ", " : "",
             x->about, *x->about ? ", " : "", (unsigned long long)((now - since) / 1000000000u),
             x->never ? ": a deadlock" : "");
}

int ask_text(pid_t pid, uint64_t at, int rank, char *text, size_t len, int *awaited,
             char *never, struct source_lines *lines)
{
    struct where w;
    struct where_wait x;
    char call[WORD_MAX] = "", what[WORD_MAX] = "", peer[32] = "", more[320], slept[WORD_MAX + 32];
    /* a rank's pointers have 8 bytes */
    int err = sizeof(void *) == 8 ? read_bytes(pid, at, &w, sizeof w) : -ENOSYS;
    if (!err && w.call)
        err = read_word(pid, w.call, call);
    if (!err && w.wait_what)
        err = read_word(pid, w.wait_what, what);
    *awaited = !err && *what ? w.wait_peer : -1;
    *never = 0;
    if (err)
        return err;
    if (*what && w.wait_peer >= 0)
        snprintf(peer, sizeof peer, " (rank %d)", w.wait_peer);
    read_wait(pid, &w, &x);
    *never = x.never && x.since;
    lasting_text(pid, &x, lines, more, sizeof more);
    slept_text(pid, &w, &x, slept, sizeof slept);
    if (front_text(pid, &x, call))
        *slept = 0;
    snprintf(text, len, "rank %d: %s%s%s%s%s%s%s", rank, *call ? "in " : "outside MPI", call,
             *what ? ", waiting for " : "", what, peer, more, slept);
    return 0;
}

/* Whether the process catches `sig`, so that the question does not kill a plain program. */
static int catches(pid_t pid, int sig)
{
    char path[64], line[256];
    unsigned long long mask = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "SigCgt: %llx", &mask) == 1)
            break;
    if (f)
        fclose(f);
    return (int)(mask >> (sig - 1) & 1);
}

/* The rank that it waits for, or -1. */
static int ask_one(struct job *j, int rank, pid_t pid, char *never, struct source_lines *lines)
{
    int awaited = -1;
    *never = 0;
    char text[800], line[808];
    const char *how = pmi_initialized(j->pmi, rank) ? NULL
                      : pmi_finalized(j->pmi, rank) ? "has called MPI_Finalize"
                                                    : "has not called MPI_Init";
    uint64_t at = pmi_where(j->pmi, rank);
    /* The process id and the address come from the rank: read only a process of this rank. */
    if (!how && (!at || !job_owns(j, rank, pid)))
        how = "does not report what it does";
    int err = how ? 0 : ask_text(pid, at, rank, text, sizeof text, &awaited, never, lines);
    if (how) {
        job_say(j, "rank %d (pid %ld) %s", rank, (long)pid, how);
    } else if (err) {
        job_say(j, "rank %d (pid %ld): its memory cannot be read to see what it does: %s", rank,
                (long)pid, strerror(-err));
    } else {
        snprintf(line, sizeof line, "%s\n", text);
        sink_line(j->err, line);
    }
    return awaited;
}

static void tell_line(void *to, const char *text)
{
    job_say(to, "%s", text);
}

static int is_alive(const struct job *j, int rank)
{
    return !j->rank[rank].exited && job_rank_pid(j, rank) > 0;
}

void ask_all(struct job *j)
{
    struct source_lines lines = {.until = time_now() + LINES_NS};
    int *awaited = malloc((size_t)j->size * sizeof *awaited); /* NULL: no chains */
    char *never = calloc(1, (size_t)j->size + 1), none;
    for (int r = 0; r < j->size; r++) {
        char *known = never ? never + r : &none;
        int a = is_alive(j, r) ? ask_one(j, r, job_rank_pid(j, r), known, &lines) : -1;
        if (awaited)
            awaited[r] = a;
    }
    if (awaited)
        chain_tell(awaited, never, j->size, tell_line, j);
    free(awaited);
    free(never);
}

/* --- waits that last -------------------------------------------------------------------------- */

uint64_t ask_warn_ns(const struct args *a)
{
    static const char name[] = "MPIR_CVAR_WAIT_WARN";
    enum { DEFAULT_S = 60, MOST_S = 86400 }; /* of cvars.def */
    const char *text = getenv(name);
    char *end;
    for (int i = 0; i < a->genv.n; i++)
        if (!strcmp(a->genv.name[i], name))
            text = a->genv.value[i];
    long s = text && *text ? strtol(text, &end, 10) : DEFAULT_S;
    if (text && *text && (*end || s < 0 || s > MOST_S))
        s = DEFAULT_S; /* the ranks report it */
    return (uint64_t)s * 1000000000u;
}

/* When the wait of a rank began; 0: it does not wait for long. */
static uint64_t waits_since(struct job *j, int rank)
{
    struct where w;
    struct where_wait x;
    pid_t pid = job_rank_pid(j, rank);
    uint64_t at = pmi_where(j->pmi, rank);
    if (j->rank[rank].exited || pid <= 0 || !at || sizeof(void *) != 8)
        return 0;
    if (!pmi_initialized(j->pmi, rank) || pmi_finalized(j->pmi, rank) || !job_owns(j, rank, pid))
        return 0;
    if (read_bytes(pid, at, &w, sizeof w))
        return 0;
    read_wait(pid, &w, &x);
    return x.since;
}

/* The ranks that wait, and those that do not while others wait: at most SHORT of each. */
void ask_shortly(struct job *j)
{
    enum { SHORT = 4 };
    struct source_lines lines = {.until = time_now() + LINES_NS / 4};
    uint64_t now = time_now();
    char never;
    int waiting = 0, shown[2] = {0, 0}, left = 0;
    for (int r = 0; r < j->size && !waiting; r++) {
        uint64_t since = waits_since(j, r);
        waiting = since && since < now && now - since >= LASTS_NS;
    }
    if (!waiting)
        return;
    for (int r = 0; r < j->size; r++) {
        int waits = waits_since(j, r) != 0;
        if (!is_alive(j, r))
            continue;
        if (shown[waits]++ < SHORT)
            ask_one(j, r, job_rank_pid(j, r), &never, &lines);
        else
            left++;
    }
    if (left)
        job_say(j, "and %d more; \"kill -USR1 %ld\" while it runs prints all", left,
                (long)getpid());
}

/* The next report waits twice as long: a program may be made of long waits. */
void ask_tick(struct job *j, uint64_t now)
{
    int first = -1;
    uint64_t since = 0;
    if (!j->warn_ns || now < j->look_at)
        return;
    j->look_at = now + j->warn_ns / 4;
    for (int r = 0; r < j->size && first < 0; r++) {
        since = waits_since(j, r);
        if (since && since < now && now - since >= j->warn_ns && since > j->told_until)
            first = r;
    }
    if (first < 0)
        return;
    job_say(j, "rank %d has waited for %llu s (MPIR_CVAR_WAIT_WARN); what each rank does:", first,
            (unsigned long long)((now - since) / 1000000000u));
    ask_all(j);
    j->told_until = now;
    j->reports++;
    j->look_at = now + (j->warn_ns << (j->reports < 10 ? j->reports : 10));
}

void ask_pass_on(struct job *j, int sig)
{
    for (int r = 0; r < j->size; r++) {
        pid_t pid = job_rank_pid(j, r);
        if (!j->rank[r].exited && pid > 0 && job_owns(j, r, pid) && catches(pid, sig))
            kill(pid, sig);
    }
}

/* ask.c - SIGUSR1 and -timeout: what each rank does, read from outside, so that the rank is not
 * disturbed. */
#include "launch/ask.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/where.h"
#include "launch/chain.h"
#include "launch/job.h"

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

int ask_text(pid_t pid, uint64_t at, int rank, char *text, size_t len, int *awaited)
{
    struct where w;
    char call[WORD_MAX] = "", what[WORD_MAX] = "", peer[32] = "";
    /* a rank's pointers have 8 bytes */
    int err = sizeof(void *) == 8 ? read_bytes(pid, at, &w, sizeof w) : -ENOSYS;
    if (!err && w.call)
        err = read_word(pid, w.call, call);
    if (!err && w.wait_what)
        err = read_word(pid, w.wait_what, what);
    *awaited = !err && *what ? w.wait_peer : -1;
    if (err)
        return err;
    if (*what && w.wait_peer >= 0)
        snprintf(peer, sizeof peer, " (rank %d)", w.wait_peer);
    snprintf(text, len, "rank %d: %s%s%s%s%s", rank, *call ? "in " : "outside MPI", call,
             *what ? ", waiting for " : "", what, peer);
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
static int ask_one(struct job *j, int rank, pid_t pid)
{
    int awaited = -1;
    char text[512], line[520];
    const char *how = pmi_initialized(j->pmi, rank) ? NULL
                      : pmi_finalized(j->pmi, rank) ? "has called MPI_Finalize"
                                                    : "has not called MPI_Init";
    uint64_t at = pmi_where(j->pmi, rank);
    /* The process id and the address come from the rank: read only a process of this rank. */
    if (!how && (!at || !job_owns(j, rank, pid)))
        how = "does not report what it does";
    int err = how ? 0 : ask_text(pid, at, rank, text, sizeof text, &awaited);
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

void ask_all(struct job *j)
{
    int *awaited = malloc((size_t)j->size * sizeof *awaited); /* NULL: no chains */
    for (int r = 0; r < j->size; r++) {
        int alive = !j->rank[r].exited && job_rank_pid(j, r) > 0;
        int a = alive ? ask_one(j, r, job_rank_pid(j, r)) : -1;
        if (awaited)
            awaited[r] = a;
    }
    if (awaited)
        chain_tell(awaited, j->size, tell_line, j);
    free(awaited);
}

void ask_pass_on(struct job *j, int sig)
{
    for (int r = 0; r < j->size; r++) {
        pid_t pid = job_rank_pid(j, r);
        if (!j->rank[r].exited && pid > 0 && job_owns(j, r, pid) && catches(pid, sig))
            kill(pid, sig);
    }
}

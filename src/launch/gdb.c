/* gdb.c - mpiexec -gdb: command lines, and commands to all (gdb.h). Start with gdb_move(). */
#include "launch/gdb.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/program.h"

/* Of gdb: it does not ask and does not page, since no answer goes to one rank alone. */
static const char *const settings[] = {"set pagination off", "set confirm off", "set width 0",
                                       "set breakpoint pending on"};
enum { SETTINGS = sizeof settings / sizeof *settings };

int gdb_possible(struct job *j)
{
    if (j->args->input) {
        job_say(j, "-gdb gives standard input to all ranks: it does not go with -stdin");
        return -EINVAL;
    }
    char *gdb = program_file(AT_FDCWD, "gdb");
    if (!gdb)
        job_say(j, "-gdb: gdb is not installed (Debian: apt install gdb)");
    int err = gdb ? 0 : -ENOENT;
    free(gdb);
    return err;
}

struct gdb *gdb_new(const struct job *j)
{
    struct gdb *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->ranks = j->size;
    g->is_tty = isatty(0);
    g->to = malloc((size_t)j->size * sizeof *g->to);
    g->chosen = malloc((size_t)j->size);
    g->out = merged_new(j->size, j->out, "(gdb) ", g->chosen);
    g->err = j->err == j->out ? g->out : merged_new(j->size, j->err, "", NULL);
    if (!g->to || !g->chosen || !g->out || !g->err) {
        g->ranks = 0;
        gdb_free(g);
        return NULL;
    }
    memset(g->chosen, 1, (size_t)j->size);
    for (int r = 0; r < j->size; r++)
        g->to[r] = -1;
    return g;
}

static void close_all(struct gdb *g)
{
    for (int r = 0; r < g->ranks; r++) {
        if (g->to[r] >= 0)
            close(g->to[r]);
        g->to[r] = -1;
    }
    g->from = -1;
    g->line = g->have = 0;
}

void gdb_free(struct gdb *g)
{
    if (!g)
        return;
    close_all(g);
    if (g->err != g->out)
        merged_free(g->err);
    merged_free(g->out);
    free(g->chosen);
    free(g->to);
    free(g);
}

char **gdb_argv(const struct args *a, const struct block *b, char **file)
{
    static char gdb[] = "gdb", quiet[] = "-q", first[] = "-iex", args[] = "--args";
    int n = 0, at = 0, dir = program_folder(a, b);
    while (b->argv[n])
        n++;
    char **v = malloc((size_t)(n + 4 + 2 * SETTINGS) * sizeof *v);
    *file = dir == -1 ? NULL : program_file(dir, b->argv[0]); /* gdb would search elsewhere */
    if (dir >= 0)
        close(dir);
    if (!v)
        return NULL;
    v[at++] = gdb;
    v[at++] = quiet;
    for (int i = 0; i < SETTINGS; i++) {
        v[at++] = first;
        v[at++] = (char *)settings[i];
    }
    v[at++] = args;
    for (int i = 0; i <= n; i++)
        v[at++] = b->argv[i];
    if (*file)
        v[at - n - 1] = *file;
    return v;
}

int gdb_input(struct gdb *g, int rank)
{
    int fd[2];
    if (pipe2(fd, O_CLOEXEC))
        return -errno;
    fcntl(fd[1], F_SETFL, O_NONBLOCK); /* of mpiexec's end only */
    g->to[rank] = fd[1];
    return fd[0];
}

/* --- commands to all -------------------------------------------------------------------------- */

/* The ranks of "0,2-3"; 0: the text is no list. */
static int choose(struct gdb *g, const char *list)
{
    char *set = calloc((size_t)g->ranks, 1), *end;
    int good = set != NULL && *list;
    while (good && *list) {
        long from = strtol(list, &end, 10), to = from;
        good = end > list && from >= 0;
        if (good && *end == '-') {
            list = end + 1;
            to = strtol(list, &end, 10);
            good = end > list && to >= from;
        }
        good = good && to < g->ranks && (!*end || *end == ',');
        for (long r = from; good && r <= to; r++)
            set[r] = 1;
        list = end + (*end == ',');
    }
    if (good)
        memcpy(g->chosen, set, (size_t)g->ranks);
    free(set);
    return good;
}

/* "z 0,2" or "z": which ranks get what follows. 1: it was that. */
static int is_choice(struct gdb *g, struct job *j)
{
    char text[256], list[128];
    size_t n = g->line - (g->buf[g->line - 1] == '\n');
    if (g->buf[0] != 'z' || n >= sizeof text || (n > 1 && g->buf[1] != ' '))
        return 0;
    snprintf(text, sizeof text, "%.*s", (int)n - 1, g->buf + 1);
    char *word = text + strspn(text, " ");
    word[strcspn(word, " ")] = 0;
    if (!*word)
        memset(g->chosen, 1, (size_t)g->ranks);
    else if (!choose(g, word))
        job_say(j, "z %s: ranks below %d are needed, such as 0,2-3", word, g->ranks);
    merged_list(g->chosen, g->ranks, list, sizeof list);
    job_say(j, "commands go to ranks %s", list);
    return 1;
}

/* The next line of the input, if there is one. */
static void take_line(struct gdb *g)
{
    const char *end = g->have ? memchr(g->buf, '\n', g->have) : NULL;
    g->line = end ? (size_t)(end - g->buf) + 1 : g->have == GDB_LINE || g->from < 0 ? g->have : 0;
    g->next = 0;
}

static void drop_line(struct gdb *g)
{
    g->have -= g->line;
    memmove(g->buf, g->buf + g->line, g->have);
    g->line = 0;
    take_line(g);
    if (g->from < 0 && !g->line)
        close_all(g); /* the end of the input is passed on */
}

/* The next rank that gets the line; -1: all have it. */
static int receiver(struct gdb *g)
{
    while (g->next < g->ranks && (!g->chosen[g->next] || g->to[g->next] < 0))
        g->next++;
    return g->next < g->ranks ? g->next : -1;
}

/* Drop lines that go to no rank: choices, and commands for ranks whose gdb has ended. */
static void next_line(struct gdb *g, struct job *j)
{
    while (g->line && (is_choice(g, j) || receiver(g) < 0))
        drop_line(g);
}

void gdb_wants(struct gdb *g, int *fd, short *events)
{
    *events = 0;
    *fd = -1;
    if (g->line) {
        *fd = g->to[receiver(g)]; /* there is one: next_line() */
        *events = POLLOUT;
    } else if (g->from >= 0 && (!g->is_tty || tcgetpgrp(g->from) == getpgrp())) {
        *fd = g->from; /* in the background a read would stop us */
        *events = POLLIN;
    }
}

static void read_input(struct gdb *g, struct job *j)
{
    ssize_t n = read(g->from, g->buf + g->have, GDB_LINE - g->have);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    g->have += n > 0 ? (size_t)n : 0;
    if (n <= 0)
        g->from = -1;
    take_line(g);
    next_line(g, j);
    if (g->from < 0 && !g->line)
        close_all(g);
    g->out->typed = g->err->typed = g->is_tty;
}

void gdb_move(struct gdb *g, struct job *j)
{
    int rank = g->line ? receiver(g) : -1;
    if (rank < 0 && g->from >= 0 && !g->line) {
        read_input(g, j);
        return;
    }
    if (rank < 0)
        return;
    ssize_t n = write(g->to[rank], g->buf, g->line);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0) { /* this gdb reads no more */
        close(g->to[rank]);
        g->to[rank] = -1;
    }
    g->next++;
    if (receiver(g) >= 0)
        return;
    drop_line(g);
    next_line(g, j);
}

int gdb_interrupt(struct gdb *g, struct job *j, uint64_t now)
{
    enum { AGAIN_NS = 1000000000 };
    if (g->interrupted_at && now < g->interrupted_at + AGAIN_NS)
        return 0;
    g->interrupted_at = now;
    job_send(j, SIGINT);
    return 1;
}

/* findings.c - the list of what the checkers of a job have found. Start with findings_end().
 *
 *   ranks --- lines of JSON (finding/finding.h) ---> a file without a name that mpiexec has open
 *   at the end ---> equal ones become one; standard error, the file of -check=..,json=FILE */
#include "launch/findings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"

/* finding/finding.h has it, too. */
static const char RANKS_KEY[] = ",\"ranks\":[";

/* A line: {"class":"leak","places":["a.c:5"],"text":"...","ranks":[0,2]} */
struct line {
    const char *text;
    size_t key; /* bytes before its ranks: what equal ones share */
    int *rank;  /* sorted, each once */
    int ranks, room;
};

struct list {
    struct line *line;
    int n, room;
};

/* --- the files -------------------------------------------------------------------------------- */

static int open_json(struct job *j)
{
    const char *path = j->args->check_json;
    FILE *f = fopen(path, "we");
    if (f && fputs("[]\n", f) >= 0 && !fclose(f))
        return 0;
    job_say(j, "-check=json=%s: the file cannot be written: %s", path, strerror(errno));
    return 255;
}

int findings_open(struct job *j)
{
    if (!j->args->check)
        return 0;
    j->findings_fd = memfd_create("windrose-findings", MFD_CLOEXEC);
    if (j->findings_fd < 0) {
        job_say(j, "-check: no file for what is found: %s", strerror(errno));
        return 255;
    }
    return j->args->check_json ? open_json(j) : 0;
}

int findings_env(const struct job *j, struct env *e)
{
    char path[64];
    if (j->findings_fd < 0)
        return 0;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), j->findings_fd);
    return env_put(e, "MPIR_CVAR_CHECK_FINDINGS", path);
}

/* All of it, to be freed; NULL: nothing. */
static char *read_all(int fd)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) || st.st_size <= 0)
        return NULL;
    size_t n = (size_t)st.st_size, at = 0;
    char *text = malloc(n + 1);
    for (ssize_t got = 1; text && at < n && got > 0; at += got > 0 ? (size_t)got : 0)
        got = pread(fd, text + at, n - at, (off_t)at);
    if (text)
        text[at] = 0;
    return text;
}

/* --- the list --------------------------------------------------------------------------------- */

static void add_rank(struct line *l, int rank)
{
    int at = 0;
    while (at < l->ranks && l->rank[at] < rank)
        at++;
    if ((at < l->ranks && l->rank[at] == rank) || !VEC_FITS(l->rank, l->room, l->ranks + 1, 8))
        return;
    memmove(l->rank + at + 1, l->rank + at, (size_t)(l->ranks++ - at) * sizeof *l->rank);
    l->rank[at] = rank;
}

/* "0,2]}" */
static void add_ranks(struct line *l, const char *text)
{
    char *end;
    for (long rank = strtol(text, &end, 10); end != text; rank = strtol(text, &end, 10)) {
        add_rank(l, (int)rank);
        text = end + (*end == ',');
    }
}

static void add_line(struct list *all, const char *text)
{
    const char *ranks = strstr(text, RANKS_KEY);
    struct line *l = NULL;
    if (*text != '{' || !ranks || strcmp(text + strlen(text) - 2, "]}")) /* no rank wrote it */
        return;
    size_t key = (size_t)(ranks - text);
    for (int i = 0; i < all->n && !l; i++)
        if (all->line[i].key == key && !memcmp(all->line[i].text, text, key))
            l = &all->line[i];
    if (!l) {
        if (!VEC_FITS(all->line, all->room, all->n + 1, 16))
            return;
        l = &all->line[all->n++];
        *l = (struct line){.text = text, .key = key};
    }
    add_ranks(l, ranks + sizeof RANKS_KEY - 1);
}

static int has(const struct line *l, const char *word)
{
    const char *at = strstr(l->text, word);
    return at && at < l->text + l->key;
}

static int is_class(const struct line *l, const char *class)
{
    char word[64];
    int n = snprintf(word, sizeof word, "{\"class\":\"%s\"", class);
    return !strncmp(l->text, word, (size_t)n);
}

/* The errors that a difference of the calls has led to are no findings of their own. */
static void drop_errors(struct list *all)
{
    int differ = 0, kept = 0;
    for (int i = 0; i < all->n; i++)
        differ |= is_class(&all->line[i], "collective") || is_class(&all->line[i], "deadlock") ||
                  is_class(&all->line[i], "crossing");
    for (int i = 0; i < all->n; i++) {
        struct line *l = &all->line[i];
        if (differ && is_class(l, "error") && has(l, "(MPI_ERR_NOT_SAME)"))
            free(l->rank);
        else
            all->line[kept++] = *l;
    }
    all->n = kept;
}

static struct list list_of(char *text)
{
    struct list all = {0};
    for (char *at = text, *end; at && (end = strchr(at, '\n')); at = end + 1) {
        *end = 0; /* one without an end was cut */
        add_line(&all, at);
    }
    drop_errors(&all);
    return all;
}

/* --- what is written -------------------------------------------------------------------------- */

/* A string of JSON without its quotes, from its first byte: up to the quote that ends it. */
static void put_plain(FILE *out, const char *s)
{
    unsigned code;
    for (; *s && *s != '"'; s++)
        if (*s != '\\')
            putc(*s, out);
        else if (*++s != 'u')
            putc(*s, out);
        else if (sscanf(s + 1, "%4x", &code) == 1)
            s += 4; /* a control character: left out */
}

static void print_list(const struct list *all)
{
    fprintf(stderr, "mpiexec: %d finding%s:\n", all->n, all->n == 1 ? "" : "s");
    for (int i = 0; i < all->n; i++) {
        const char *text = strstr(all->line[i].text, "\"text\":\"");
        fprintf(stderr, "  %d. ", i + 1);
        put_plain(stderr, strchr(all->line[i].text, ':') + 2);
        fputs(": ", stderr);
        put_plain(stderr, text ? text + 8 : "");
        putc('\n', stderr);
    }
}

static int write_list(const struct list *all, const char *path)
{
    FILE *f = fopen(path, "we");
    if (!f)
        return -errno;
    fputs("[", f);
    for (int i = 0; i < all->n; i++) {
        const struct line *l = &all->line[i];
        fprintf(f, "%s\n%.*s%s", i ? "," : "", (int)l->key, l->text, RANKS_KEY);
        for (int r = 0; r < l->ranks; r++)
            fprintf(f, "%s%d", r ? "," : "", l->rank[r]);
        fputs("]}", f);
    }
    fputs(all->n ? "\n]\n" : "]\n", f);
    int err = ferror(f) ? -EIO : 0;
    return fclose(f) ? -errno : err;
}

int findings_end(struct job *j, int status)
{
    const char *path = j->args->check_json;
    char *text = read_all(j->findings_fd);
    struct list all = list_of(text);
    if (all.n)
        print_list(&all);
    int err = all.n && path ? write_list(&all, path) : 0;
    if (err)
        job_say(j, "%s cannot be written: %s", path, strerror(-err));
    if (j->findings_fd >= 0)
        close(j->findings_fd);
    j->findings_fd = -1;
    for (int i = 0; i < all.n; i++)
        free(all.line[i].rank);
    free(all.line);
    free(text);
    return !status && all.n ? FINDINGS_STATUS : !status && err ? 1 : status;
}

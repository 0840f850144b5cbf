/* sinks.c - where the output of the ranks goes: ours, or files (sinks.h). */
#include "launch/sinks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"

static struct sink *new_sink(struct job *j, int fd)
{
    struct sink *s = malloc(sizeof *s);
    if (!VEC_FITS(j->sinks, j->sinks_room, j->nsinks + 1, 4) || !s || sink_open(s, fd)) {
        free(s);
        return NULL;
    }
    return j->sinks[j->nsinks++] = s;
}

int sinks_own(struct job *j)
{
    struct stat o, e;
    if (!(j->out = new_sink(j, 1)))
        return -ENOMEM;
    /* One place for both (a terminal, 2>&1): one sink, so that their lines are not mixed. */
    int same = !fstat(1, &o) && !fstat(2, &e) && o.st_dev == e.st_dev && o.st_ino == e.st_ino &&
               (fcntl(1, F_GETFL) & O_ACCMODE) ==
                   (fcntl(2, F_GETFL) & O_ACCMODE); /* one may have been closed (main.c) */
    j->err = same ? j->out : new_sink(j, 2);
    return j->err ? 0 : -ENOMEM;
}

/* Fill in %r and %h. */
static void expand(const char *pattern, int rank, char path[PATH_MAX])
{
    size_t n = 0;
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof host - 1);
    for (const char *c = pattern; *c && n < PATH_MAX - 1; c++) {
        int w = 1;
        if (*c == '%' && c[1] == 'r')
            w = snprintf(path + n, PATH_MAX - n, "%d", rank);
        else if (*c == '%' && c[1] == 'h')
            w = snprintf(path + n, PATH_MAX - n, "%s", host);
        else
            path[n] = *c;
        if (*c == '%' && c[1] && strchr("rh%", c[1]))
            c++;
        n += (size_t)w;
    }
    path[n < PATH_MAX ? n : PATH_MAX - 1] = 0;
}

/* The file of a pattern for one rank; ranks with equal names share it. */
static struct sink *file_sink(struct job *j, const char *pattern, int rank)
{
    char path[PATH_MAX];
    struct stat st, have;
    expand(pattern, rank, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0 || fstat(fd, &st)) {
        job_say(j, "cannot write %s: %s", path, strerror(errno));
        return NULL;
    }
    for (int i = 0; i < j->nsinks; i++)
        if (!fstat(j->sinks[i]->fd, &have) && have.st_dev == st.st_dev &&
            have.st_ino == st.st_ino) {
            close(fd);
            return j->sinks[i];
        }
    if (S_ISREG(st.st_mode) && ftruncate(fd, 0))
        job_say(j, "cannot empty %s: %s", path, strerror(errno));
    return new_sink(j, fd);
}

struct sink *sinks_rank(struct job *j, const char *pattern, const char *name, int rank,
                        struct sink *ours)
{
    char path[PATH_MAX];
    if (pattern)
        return file_sink(j, pattern, rank);
    if (!j->args->outdir)
        return ours;
    snprintf(path, sizeof path, "%s/1/rank.%d/%s", j->args->outdir, rank, name);
    for (char *c = strchr(path + 1, '/'); c; c = strchr(c + 1, '/')) {
        *c = 0;
        if (mkdir(path, 0777) && errno != EEXIST) {
            job_say(j, "cannot make the folder %s: %s", path, strerror(errno));
            return NULL;
        }
        *c = '/';
    }
    return file_sink(j, path, rank);
}

void sinks_label(const struct args *a, int rank, char *label, size_t len)
{
    char text[PATH_MAX] = "";
    if (a->prefix)
        expand(a->prefix, rank, text);
    size_t n = strnlen(text, len - 1);
    memcpy(label, text, n);
    label[n] = 0;
    if (a->label)
        snprintf(label + n, len - n, "[%d] ", rank);
}

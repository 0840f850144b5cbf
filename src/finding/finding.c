/* finding.c - the record of one finding, and the file that gets it. Start with finding_add(). */
#include "finding/finding.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_char.h"
#include "base/log.h"
#include "var/var.h"

/* A byte takes 6 at most (\u001f); braces, names and numbers take less than the rest. */
enum { LINE = 6 * (FINDING_TEXT + FINDING_PLACES * FINDING_PLACE) + 1024 };

int finding_wanted(void)
{
    return *cvar.check_findings != 0;
}

void finding_rank(struct finding *f, int rank)
{
    for (int i = 0; i < f->ranks; i++)
        if (f->rank[i] == rank)
            return;
    if (f->ranks < FINDING_RANKS)
        f->rank[f->ranks++] = rank;
}

void finding_place(struct finding *f, const char *place)
{
    for (int i = 0; i < f->places; i++)
        if (!strcmp(f->place[i], place))
            return;
    if (*place && f->places < FINDING_PLACES)
        snprintf(f->place[f->places++], FINDING_PLACE, "%s", place);
}

/* --- JSON ------------------------------------------------------------------------------------- */

struct out {
    char *buf;
    size_t n, len;
};

static void put(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct out *o, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(o->buf + o->n, o->len - o->n, fmt, ap);
    va_end(ap);
    o->n += n > 0 ? (size_t)n : 0;
    o->n = o->n < o->len ? o->n : o->len - 1;
}

static void put_string(struct out *o, const char *s)
{
    char c[JSON_CHAR];
    put(o, "\"");
    while (*s)
        put(o, "%s", json_next(&s, c));
    put(o, "\"");
}

size_t finding_line(const struct finding *f, char *buf, size_t len)
{
    struct out o = {buf, 0, len};
    put(&o, "{\"class\":");
    put_string(&o, f->class);
    put(&o, ",\"places\":[");
    for (int i = 0; i < f->places; i++) {
        put(&o, i ? "," : "");
        put_string(&o, f->place[i]);
    }
    put(&o, "],\"text\":");
    put_string(&o, f->text);
    put(&o, "%s", FINDING_RANKS_KEY);
    for (int i = 0; i < f->ranks; i++)
        put(&o, "%s%d", i ? "," : "", f->rank[i]);
    put(&o, "]}");
    return o.n;
}

/* mpiexec's list is named by its process, which is another one for a rank in a PID namespace of its
 * own. */
static int is_foreign(const char *path)
{
    char link[64];
    if (strncmp(path, "/proc/", 6) != 0)
        return 0;
    ssize_t n = readlink(path, link, sizeof link - 1);
    link[n > 0 ? n : 0] = 0;
    return strncmp(link, "/memfd:windrose-findings", 24) != 0;
}

void finding_add(const struct finding *f)
{
    char *line = finding_wanted() && !is_foreign(cvar.check_findings) ? malloc(LINE) : NULL;
    if (!line)
        return;
    size_t n = finding_line(f, line, LINE - 1);
    line[n++] = '\n';
    int fd = open(cvar.check_findings, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, line, n) != (ssize_t)n)
        log_warn("%s cannot be written: %s (MPIR_CVAR_CHECK_FINDINGS)", cvar.check_findings,
                 strerror(errno));
    if (fd >= 0)
        close(fd);
    free(line);
}

void finding_say(const struct finding *f)
{
    pvar_set_add(pvar_proc(), PVAR_CHECK_VERDICTS, 1);
    log_warn("%s", f->text);
    finding_add(f);
}

/* source_line.c - file and line of an address in another process, by its map and addr2line. What
 * the map and the file say may be anything: a rank may be any program. */
#include "launch/source_line.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sched.h"
#include "place/addr2line.h"

struct image {
    uint64_t base; /* where the first page of the file is mapped */
    char path[PATH_MAX];
};

/* The file that is mapped at the address. */
static int find(pid_t pid, uint64_t address, struct image *out)
{
    char name[64], line[PATH_MAX + 128], path[PATH_MAX] = "";
    unsigned long long from, to, offset, base = 0;
    int found = 0;
    snprintf(name, sizeof name, "/proc/%ld/maps", (long)pid);
    FILE *f = fopen(name, "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        char *slash = strchr(line, '/');
        line[strcspn(line, "\n")] = 0;
        if (!slash || sscanf(line, "%llx-%llx %*s %llx", &from, &to, &offset) != 3)
            continue;
        if (strcmp(slash, path) || !offset) {
            snprintf(path, sizeof path, "%.*s", PATH_MAX - 1, slash);
            base = from - offset;
        }
        found = address >= from && address < to;
    }
    if (f)
        fclose(f);
    out->base = base;
    memcpy(out->path, path, sizeof out->path);
    return found;
}

/* The address as the file's own tables have it. */
static uint64_t in_file(const struct image *m, uint64_t address)
{
    Elf64_Ehdr head;
    int fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), fixed = 0;
    if (fd >= 0 && read(fd, &head, sizeof head) == (ssize_t)sizeof head)
        fixed = head.e_type == ET_EXEC;
    if (fd >= 0)
        close(fd);
    return fixed ? address : address - m->base;
}

/* The first line that it writes, if it does so in time. */
static void read_answer(int fd, uint64_t until, char *line, size_t len)
{
    size_t at = 0;
    ssize_t n = 1;
    while (n > 0 && at < len - 1 && !memchr(line, '\n', at)) {
        struct pollfd p = {fd, POLLIN, 0};
        uint64_t now = time_now();
        int ms = now < until ? (int)((until - now) / 1000000) + 1 : 0;
        n = poll(&p, 1, ms) > 0 ? read(fd, line + at, len - 1 - at) : 0;
        at += n > 0 ? (size_t)n : 0;
    }
    line[at] = 0;
}

static void ask_addr2line(const char *path, uint64_t at, uint64_t until, char *line, size_t len)
{
    int fd[2];
    pid_t pid;
    uint64_t now = time_now(), most = now + (uint64_t)SOURCE_LINE_MS * 1000000;
    *line = 0;
    if (now >= until || pipe2(fd, O_CLOEXEC))
        return;
    int err = addr2line_start(&pid, path, at, fd[1]);
    close(fd[1]);
    if (!err) {
        read_answer(fd[0], most < until ? most : until, line, len);
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(fd[0]);
    addr2line_answer(line);
}

static void look_up(const struct image *m, uint64_t at, uint64_t until, char *buf, size_t len)
{
    char line[PATH_MAX + 64];
    ask_addr2line(m->path, at, until, line, sizeof line);
    if (*line)
        snprintf(buf, len, "%.100s", addr2line_last_part(line));
    else
        snprintf(buf, len, "%.80s+%#llx", addr2line_last_part(m->path), (unsigned long long)at);
    for (char *c = buf; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

void source_line_text(pid_t pid, uint64_t address, struct source_lines *lines, char *buf,
                      size_t len)
{
    struct image m;
    unsigned i = 0, known = lines->n < SOURCE_LINE_PLACES ? lines->n : SOURCE_LINE_PLACES;
    *buf = 0;
    if (!address || !find(pid, address, &m))
        return;
    uint64_t at = in_file(&m, address);
    while (i < known && (lines->place[i].at != at ||
                         strncmp(lines->place[i].path, m.path, sizeof lines->place[i].path - 1)))
        i++;
    if (i == known) {
        i = lines->n++ % SOURCE_LINE_PLACES;
        look_up(&m, at, lines->until, lines->place[i].text, sizeof lines->place[i].text);
        snprintf(lines->place[i].path, sizeof lines->place[i].path, "%.511s", m.path);
        lines->place[i].at = at;
    }
    snprintf(buf, len, "%s", lines->place[i].text);
}

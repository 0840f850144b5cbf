/* limit.c - how much memory can be taken: the limits of control groups, of the process, and of the
 * machine. Start with mem_available(). */
#include "mem/mem_types.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* A control group answers an allocation beyond its limit with the OOM killer, not with an error.
 * So read the limits before.  Files that are missing or unreadable limit nothing. */

/* The beginning of a file as a string, read without memory of the heap, which may have none left.
 * -1: no such file. */
static int read_text(const char *path, char *to, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t n = 0;
    for (ssize_t got; n < room - 1 && (got = read(fd, to + n, room - 1 - n)) > 0;)
        n += (size_t)got;
    close(fd);
    to[n] = '\0';
    return 0;
}

/* First number in a file; `none` if there is none ("max") or no such file. */
static size_t read_number(const char *path, size_t none)
{
    char text[64];
    unsigned long long v;
    return read_text(path, text, sizeof text) == 0 && sscanf(text, "%llu", &v) == 1 ? (size_t)v
                                                                                    : none;
}

/* Value of "name: number" or "name number" lines, multiplied by unit; 0 if absent. */
static size_t read_field(const char *path, const char *name, size_t unit)
{
    char text[8192];
    size_t len = strlen(name);
    if (read_text(path, text, sizeof text))
        return 0;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, name, len) && (line[len] == ':' || line[len] == ' '))
            return strtoull(line + len + 1, NULL, 10) * unit;
    }
    return 0;
}

struct layout { /* of one version of control groups */
    const char *root, *limit, *used, *stat, *cache;
};
static const struct layout v1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                 "memory.usage_in_bytes", "memory.stat", "total_inactive_file"};
static const struct layout v2 = {"/sys/fs/cgroup", "memory.max", "memory.current", "memory.stat",
                                 "inactive_file"};

/* What one group allows: limit - used, and the file cache that can be dropped. */
static size_t group_left(const struct layout *v, const char *dir)
{
    char path[4400];
    snprintf(path, sizeof path, "%s%s/%s", v->root, dir, v->limit);
    size_t limit = read_number(path, SIZE_MAX);
    if (limit >= SIZE_MAX / 4) /* v1 writes "no limit" as a huge number */
        return SIZE_MAX;
    snprintf(path, sizeof path, "%s%s/%s", v->root, dir, v->used);
    size_t used = read_number(path, 0);
    snprintf(path, sizeof path, "%s%s/%s", v->root, dir, v->stat);
    size_t cache = read_field(path, v->cache, 1);
    used = used > cache ? used - cache : 0;
    return limit > used ? limit - used : 0;
}

/* The group and all above it. */
static size_t groups_left(const struct layout *v, char *dir)
{
    size_t left = SIZE_MAX;
    for (;;) {
        size_t l = group_left(v, strcmp(dir, "/") ? dir : "");
        if (l < left)
            left = l;
        char *slash = strrchr(dir, '/');
        if (!slash || !dir[1])
            return left;
        slash[slash == dir] = '\0';
    }
}

static size_t cgroup_left(void)
{
    char text[4096];
    size_t left = SIZE_MAX;
    if (read_text("/proc/self/cgroup", text, sizeof text))
        return left;
    for (char *line = text, *next; line; line = next) { /* id:controllers:path */
        if ((next = strchr(line, '\n')) != NULL)
            *next++ = '\0';
        char *names = strchr(line, ':');
        char *dir = names ? strchr(names + 1, ':') : NULL;
        if (!dir || dir[1] != '/')
            continue;
        *dir++ = '\0';
        const struct layout *v = !names[1] ? &v2 : strstr(names, "memory") ? &v1 : NULL;
        size_t l = v ? groups_left(v, dir) : SIZE_MAX;
        if (l < left)
            left = l;
    }
    return left;
}

size_t mem_available(void)
{
    size_t ram = read_field("/proc/meminfo", "MemAvailable", 1024) +
                 read_field("/proc/meminfo", "SwapFree", 1024);
    size_t left = cgroup_left();
    if (ram && ram < left)
        left = ram;
    return left;
}

/* bytes: libfabric's tcp provider maps its buffers in pieces of 17 MiB */
enum { CONNECTION = 18 << 20 };

int mem_starves(void)
{
    void *p = mmap(NULL, CONNECTION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return 1;
    munmap(p, CONNECTION);
    return 0;
}

/* --- in words ------------------------------------------------------------------------------- */

struct text {
    char *to;
    size_t room, n;
};

static __attribute__((format(printf, 2, 3))) void put(struct text *t, const char *fmt, ...)
{
    va_list ap;
    if (t->n && t->n < t->room)
        t->n += (size_t)snprintf(t->to + t->n, t->room - t->n, ", ");
    va_start(ap, fmt);
    if (t->n < t->room)
        t->n += (size_t)vsnprintf(t->to + t->n, t->room - t->n, fmt, ap);
    va_end(ap);
}

static unsigned long long mb(size_t bytes)
{
    return bytes >> 20;
}

static size_t limit_of(int what)
{
    struct rlimit r;
    return getrlimit((__rlimit_resource_t)what, &r) || r.rlim_cur == RLIM_INFINITY
               ? SIZE_MAX
               : (size_t)r.rlim_cur;
}

/* The lowest free descriptor; -1: none is left. */
static int descriptors_used(void)
{
    int fd = open("/", O_PATH | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd;
}

const char *mem_limits(char *to, size_t room, int all)
{
    struct text t = {to, room, 0};
    size_t space = limit_of(RLIMIT_AS), data = limit_of(RLIMIT_DATA), group = cgroup_left(),
           files = limit_of(RLIMIT_NOFILE);
    *to = '\0';
    if (space < SIZE_MAX)
        put(&t, "address space %llu of %llu MB (ulimit -v)",
            mb(read_number("/proc/self/statm", 0) * (size_t)sysconf(_SC_PAGESIZE)), mb(space));
    if (data < SIZE_MAX)
        put(&t, "data at most %llu MB (ulimit -d)", mb(data));
    if (group < SIZE_MAX)
        put(&t, "control group has %llu MB left", mb(group));
    if (descriptors_used() < 0 && files < SIZE_MAX)
        put(&t, "all %zu file descriptors are in use (ulimit -n)", files);
    else if (all && files < SIZE_MAX)
        put(&t, "%zu file descriptors (ulimit -n)", files);
    size_t ram = read_field("/proc/meminfo", "MemAvailable", 1024);
    if (ram && (all || ram < (size_t)256 << 20))
        put(&t, "machine has %llu MB left", mb(ram));
    return to;
}

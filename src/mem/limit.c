/* limit.c - how much memory can be taken: the limits of control groups and of the machine. */
#include "mem/mem_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A control group answers an allocation beyond its limit with the OOM killer, not with an error.
 * So read the limits before.  Files that are missing or unreadable limit nothing. */

/* First number in a file; `none` if there is none ("max") or no such file. */
static size_t read_number(const char *path, size_t none)
{
    FILE *f = fopen(path, "re");
    unsigned long long v;
    if (!f)
        return none;
    int n = fscanf(f, "%llu", &v);
    fclose(f);
    return n == 1 ? (size_t)v : none;
}

/* Value of "name: number" or "name number" lines, multiplied by unit; 0 if absent. */
static size_t read_field(const char *path, const char *name, size_t unit)
{
    FILE *f = fopen(path, "re");
    char line[256];
    size_t v = 0, len = strlen(name);
    if (!f)
        return 0;
    while (fgets(line, sizeof line, f))
        if (!strncmp(line, name, len) && (line[len] == ':' || line[len] == ' ')) {
            v = strtoull(line + len + 1, NULL, 10) * unit;
            break;
        }
    fclose(f);
    return v;
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
    FILE *f = fopen("/proc/self/cgroup", "re");
    char line[4200];
    size_t left = SIZE_MAX;
    if (!f)
        return left;
    while (fgets(line, sizeof line, f)) { /* id:controllers:path */
        line[strcspn(line, "\n")] = '\0';
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
    fclose(f);
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

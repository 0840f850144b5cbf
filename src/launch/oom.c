/* oom.c - the kernel's counters of processes killed for lack of memory (oom.h). */
#include "launch/oom.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

unsigned long long oom_read(const char *path, const char *name)
{
    char line[256];
    unsigned long long v = 0;
    size_t len = strlen(name);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, name, len) && line[len] == ' ' && sscanf(line + len, "%llu", &v) == 1)
            break;
    if (f)
        fclose(f);
    return v;
}

/* Of the control group of this process, in both versions of control groups. In a container its own
 * group is the root of what is mounted. */
static unsigned long long group_kills(const char *root)
{
    char line[2048], path[PATH_MAX];
    unsigned long long sum = 0;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) { /* id:controllers:path */
        line[strcspn(line, "\n")] = '\0';
        char *names = strchr(line, ':'), *dir = names ? strchr(names + 1, ':') : NULL;
        if (!dir)
            continue;
        *dir++ = '\0';
        int second = !names[1];
        if (!second && !strstr(names, "memory"))
            continue;
        const char *top = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory",
                   *file = second ? "memory.events" : "memory.oom_control";
        snprintf(path, sizeof path, "%s%s%s/%s", root, top, dir, file);
        unsigned long long n = oom_read(path, "oom_kill");
        snprintf(path, sizeof path, "%s%s/%s", root, top, file);
        sum += n ? n : oom_read(path, "oom_kill");
    }
    if (f)
        fclose(f);
    return sum;
}

static unsigned long long machine_kills(const char *root)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/proc/vmstat", root);
    return oom_read(path, "oom_kill");
}

void oom_mark(struct oom *o, const char *root)
{
    *o = (struct oom){.root = root, .group = group_kills(root), .machine = machine_kills(root)};
}

const char *oom_cause(struct oom *o, int sig)
{
    if (sig != SIGKILL)
        return "";
    int machine = machine_kills(o->root) > o->machine, group = group_kills(o->root) > o->group;
    o->machine += (unsigned)machine; /* it counts those of groups, too */
    o->group += (unsigned)group;
    return group     ? ": out of memory (the control group's counter oom_kill has grown)"
           : machine ? ": probably out of memory (the machine's counter oom_kill has grown)"
                     : "";
}

/* oom.c - the kernel's counters of processes killed for lack of memory (oom.h). */
#include "launch/oom.h"

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
static unsigned long long group_kills(void)
{
    char line[2048], path[2200];
    unsigned long long sum = 0;
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && fgets(line, sizeof line, f)) { /* id:controllers:path */
        line[strcspn(line, "\n")] = '\0';
        char *names = strchr(line, ':'), *dir = names ? strchr(names + 1, ':') : NULL;
        if (!dir)
            continue;
        *dir++ = '\0';
        int second = !names[1];
        if (!second && !strstr(names, "memory"))
            continue;
        const char *root = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory",
                   *file = second ? "memory.events" : "memory.oom_control";
        snprintf(path, sizeof path, "%s%s/%s", root, dir, file);
        unsigned long long n = oom_read(path, "oom_kill");
        snprintf(path, sizeof path, "%s/%s", root, file);
        sum += n ? n : oom_read(path, "oom_kill");
    }
    if (f)
        fclose(f);
    return sum;
}

void oom_mark(struct oom *o)
{
    o->group = group_kills();
    o->machine = oom_read("/proc/vmstat", "oom_kill");
}

const char *oom_cause(struct oom *o, int sig)
{
    if (sig != SIGKILL)
        return "";
    int machine = oom_read("/proc/vmstat", "oom_kill") > o->machine;
    o->machine += (unsigned)machine;
    if (group_kills() > o->group) {
        o->group++;
        return ": out of memory (the limit of the control group)";
    }
    return machine ? ": out of memory (the kernel's OOM killer)" : "";
}

/* host.c - what this host lets a process have: descriptors, memory, processors, access to other
 * processes, and which cards lie where.  Start with host_look(). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/topo.h"
#include "doctor/diagnosis.h"
#include "mem/mem.h"

static const unsigned long long MIB = 1 << 20;

static struct fact *note(struct report *r, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static struct fact *note(struct report *r, const char *name, const char *fmt, ...)
{
    va_list ap;
    struct fact *n = &r->note[r->nnotes < NOTES - 1 ? r->nnotes++ : NOTES - 1];
    snprintf(n->name, sizeof n->name, "%s", name);
    va_start(ap, fmt);
    vsnprintf(n->value, sizeof n->value, fmt, ap);
    va_end(ap);
    *n->advice = 0;
    return n;
}

static void advise(struct fact *n, const char *text)
{
    snprintf(n->advice, sizeof n->advice, "%s", text);
}

/* The first line of a file; -1: there is none. */
static int first_line(const char *path, char *to, size_t room)
{
    FILE *f = fopen(path, "re");
    *to = 0;
    if (!f)
        return -1;
    char *got = fgets(to, (int)room, f);
    fclose(f);
    to[strcspn(to, "\n")] = 0;
    return got ? 0 : -1;
}

/* --- limits --------------------------------------------------------------------------- */

static void limit_text(char *to, size_t room, rlim_t v, unsigned long long unit)
{
    if (v == RLIM_INFINITY)
        snprintf(to, room, "unlimited");
    else
        snprintf(to, room, "%llu", (unsigned long long)v / unit);
}

static void limits_look(struct report *r)
{
    struct rlimit l;
    char soft[32], hard[32];
    if (getrlimit(RLIMIT_NOFILE, &l) == 0) {
        limit_text(soft, sizeof soft, l.rlim_cur, 1);
        limit_text(hard, sizeof hard, l.rlim_max, 1);
        struct fact *n = note(r, "descriptors", "%s, at most %s", soft, hard);
        if (l.rlim_max != RLIM_INFINITY && l.rlim_max < 4096)
            advise(n, "ulimit -n 65536: a network takes one or two for each process talked to");
    }
    if (getrlimit(RLIMIT_MEMLOCK, &l) == 0) {
        limit_text(soft, sizeof soft, l.rlim_cur, 1024);
        struct fact *n = note(r, "locked memory", "%s%s", soft,
                              l.rlim_cur == RLIM_INFINITY ? "" : " KiB");
        if (l.rlim_cur != RLIM_INFINITY && access("/sys/class/infiniband", F_OK) == 0)
            advise(n, "ulimit -l unlimited: the card of this host pins what it accesses");
    }
    struct statvfs v;
    if (statvfs("/dev/shm", &v) == 0) {
        unsigned long long unit = v.f_frsize;
        struct fact *n = note(r, "/dev/shm", "%llu MiB, %llu free", v.f_blocks * unit / MIB,
                              v.f_bavail * unit / MIB);
        if (v.f_blocks * unit < 256 * MIB)
            advise(n, "docker run --shm-size=1g: UCX and libfabric's shm keep memory there (this "
                      "library itself does not)");
    }
    char text[512];
    if (*mem_limits(text, sizeof text, 1))
        note(r, "memory", "%.150s", text);
}

/* --- processors and control groups ------------------------------------------------------ */

static void processors_look(struct report *r)
{
    int cpus = topo_cpus(), home[TOPO_KINDS];
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    struct fact *n = note(r, "processors", "%d of %ld for this process", cpus, online);
    char line[64];
    unsigned long long quota, period;
    if (cpus < online)
        advise(n, "ranks beyond that number share processors (taskset, cgroup cpuset)");
    if (topo_homes(home) == 0 && home[TOPO_NUMA] >= 0)
        note(r, "NUMA node", "%d", home[TOPO_NUMA]);
    else
        note(r, "NUMA node", "of several, or the machine has none");
    if (first_line("/sys/fs/cgroup/cpu.max", line, sizeof line) == 0 &&
        sscanf(line, "%llu %llu", &quota, &period) == 2 && period) {
        n = note(r, "cgroup cpu.max", "%.1f processors", (double)quota / (double)period);
        if ((double)quota / (double)period < cpus)
            advise(n, "start no more ranks than that: one that has used its part is stopped");
    }
    if (first_line("/sys/fs/cgroup/memory.max", line, sizeof line) == 0)
        note(r, "cgroup memory.max", "%s", line);
}

/* --- access to other processes ---------------------------------------------------------- */

/* Can one child read the memory of another, as ranks do?  0 or -errno. */
static int sibling_read(void)
{
    static volatile char word = 1;
    int status = 0, ready[2];
    if (pipe2(ready, O_CLOEXEC))
        return -errno;
    pid_t owner = fork();
    if (owner == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
#ifdef PR_SET_PTRACER
        /* as a rank does (mem/page.c): enough where the scope is 1 */
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#endif
        word = 2;
        if (write(ready[1], "", 1) == 1)
            pause();
        _exit(0);
    }
    char byte;
    close(ready[1]);
    pid_t reader = owner > 0 && read(ready[0], &byte, 1) == 1 ? fork() : -1;
    close(ready[0]);
    if (reader == 0) {
        char got;
        struct iovec to = {&got, 1}, from = {(void *)(uintptr_t)&word, 1};
        _exit(process_vm_readv(owner, &to, 1, &from, 1, 0) == 1 ? 0 : errno);
    }
    if (reader > 0)
        waitpid(reader, &status, 0);
    if (owner > 0) {
        kill(owner, SIGKILL);
        waitpid(owner, NULL, 0);
    }
    return reader < 0 ? -EAGAIN : WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

static void access_look(struct report *r)
{
    char scope[16];
    int err = sibling_read();
    if (first_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof scope))
        snprintf(scope, sizeof scope, "none");
    struct fact *n = note(r, "process_vm_readv", "%s (yama ptrace_scope: %s)",
                          err ? strerror(-err) : "works between ranks", scope);
    if (err)
        advise(n, "sysctl kernel.yama.ptrace_scope=0, or docker run --cap-add=SYS_PTRACE: long "
                  "messages and created windows on one host are slower without");
}

/* --- cards -------------------------------------------------------------------------------- */

static void cards_in(struct report *r, const char *folder)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char path[512], node[16], name[32], speed[32];
        snprintf(path, sizeof path, "%s/%s/device/numa_node", folder, e->d_name);
        if (*e->d_name == '.' || first_line(path, node, sizeof node))
            continue; /* without a device: lo, bridges */
        snprintf(path, sizeof path, "%s/%s/speed", folder, e->d_name);
        snprintf(name, sizeof name, "card %.24s", e->d_name);
        if (first_line(path, speed, sizeof speed) || atoi(speed) <= 0)
            *speed = 0;
        note(r, name, "NUMA node %s%s%s%s", *node == '-' ? "unknown" : node, *speed ? ", " : "",
             speed, *speed ? " Mbit/s" : "");
    }
    if (d)
        closedir(d);
}

void host_look(struct report *r)
{
    gethostname(r->host, sizeof r->host - 1);
    limits_look(r);
    processors_look(r);
    access_look(r);
    cards_in(r, "/sys/class/infiniband");
    cards_in(r, "/sys/class/net");
}

/* oom.h - did the kernel kill a process for lack of memory? Its counters tell: that of the control
 * group of mpiexec, which its ranks share, and that of the machine. */
#ifndef LAUNCH_OOM_H
#define LAUNCH_OOM_H

struct oom {
    const char *root; /* stands before /proc and /sys: "" but in a test */
    unsigned long long group, machine; /* such kills before the job, and those already told */
};

void oom_mark(struct oom *o, const char *root);
/* Of a process that ended by signal sig: what to add to that, or "". Each kill explains one end. A
 * kill that only the machine has counted may have hit any process. */
const char *oom_cause(struct oom *o, int sig);

/* The counter in a file of "name number" lines; 0: there is none. */
unsigned long long oom_read(const char *path, const char *name);

#endif

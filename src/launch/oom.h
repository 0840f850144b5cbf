/* oom.h - did the kernel kill a process for lack of memory? Its counters tell: that of the control
 * group of mpiexec, which its ranks share, and that of the machine. */
#ifndef LAUNCH_OOM_H
#define LAUNCH_OOM_H

struct oom {
    unsigned long long group, machine; /* such kills before the job, and those already told */
};

void oom_mark(struct oom *o);
/* Of a process that ended by signal sig: what to add to that, or "". Each kill explains one end. */
const char *oom_cause(struct oom *o, int sig);

/* The counter in a file of "name number" lines; 0: there is none. */
unsigned long long oom_read(const char *path, const char *name);

#endif

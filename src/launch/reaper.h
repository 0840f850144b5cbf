/* reaper.h - ends everything that mpiexec started, even when it is killed with SIGKILL.
 *
 *     mpiexec ---- pipe ----> reaper       end of file without goodbye: mpiexec is dead, kill all
 *        \---- ranks ---- their children
 *
 * The kernel kills the ranks (PR_SET_PDEATHSIG), but not what they started.  The reaper, a process
 * in a session of its own, kills the ranks' process groups and every process whose environment
 * names the job. */
#ifndef LAUNCH_REAPER_H
#define LAUNCH_REAPER_H

#include <stdatomic.h>
#include <sys/types.h>

#define JOB_ENV "WINDROSE_JOB"

struct reaper {
    pid_t pid;
    int pipe;
    int size;
    /* shared with the child, which reads it when mpiexec has died; 0: none, or over */
    _Atomic(pid_t) *group;
};

/* argv: the words of mpiexec's command line, which the child overwrites in its own copy.  So a kill
 * of mpiexec by its command line spares the reaper. 0 or -errno. */
int reaper_start(struct reaper *w, int size, const char *job, char **argv);
void reaper_note(struct reaper *w, int rank, pid_t group);
void reaper_stop(struct reaper *w);

/* Kill every process, but `spare`, that has WINDROSE_JOB=job in its environment.  Returns how many
 * there were. */
int strays_kill(const char *job, pid_t spare);
int strays_has(const char *job, pid_t pid); /* whether this process has it */

#endif

/* engine_watch.h - runs another launcher, and ends it where it would wait for ever. */
#ifndef LAUNCH_ENGINE_WATCH_H
#define LAUNCH_ENGINE_WATCH_H

enum { STATUS_FAILED = 255 }; /* of a launcher that does not start */

/* Runs words until it ends.  Returns what mpiexec exits with. */
int engine_run(char **words);

#endif

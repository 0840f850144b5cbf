/* handover.h - jobs over several hosts are handed to an installed launcher: Hydra, srun or
 * prterun. */
#ifndef LAUNCH_HANDOVER_H
#define LAUNCH_HANDOVER_H

#include <stddef.h>

#include "launch/args.h"

enum engine { ENGINE_HYDRA, ENGINE_SRUN, ENGINE_PRTERUN, ENGINES };

/* The command that starts this engine. */
const char *engine_command(enum engine e);
/* The engine's command line for a job, NULL-terminated, to be freed by engine_words_free. hosts:
 * "a,b" (what the job was given, host file read).  NULL: something cannot be passed on, or there is
 * no memory; msg has the reason in one line. */
char **engine_words(enum engine e, const struct args *a, const char *hosts, char *msg, size_t len);
void engine_words_free(char **words);
/* Become the engine, or run it (Hydra).  Returns the exit status; a failure was printed. */
int engine_exec(const struct args *a);

#endif

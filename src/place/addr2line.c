/* addr2line.c - one run of addr2line, which finds the line of an address in a file. */
#include "place/addr2line.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>

extern char **environ;

int addr2line_start(pid_t *pid, const char *file, uint64_t at, int out)
{
    char program[] = "addr2line", option[] = "-e", path[PATH_MAX], number[32];
    char *argv[] = {program, option, path, number, NULL};
    posix_spawn_file_actions_t io;
    snprintf(path, sizeof path, "%s", file);
    snprintf(number, sizeof number, "%#llx", (unsigned long long)at - 1);
    posix_spawn_file_actions_init(&io);
    posix_spawn_file_actions_addopen(&io, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&io, out, 1);
    posix_spawn_file_actions_addopen(&io, 2, "/dev/null", O_WRONLY, 0);
    int err = posix_spawnp(pid, program, &io, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&io);
    return err;
}

void addr2line_answer(char *text)
{
    text[strcspn(text, "\n")] = 0;
    if (!strncmp(text, "??", 2) || strstr(text, ":?"))
        *text = 0;
    text[strcspn(text, " ")] = 0; /* "(discriminator 3)" */
}

const char *addr2line_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* libraries.c - the libraries of a program, by the loader's own list, and those of a process, by
 * its map (libraries.h). Start with libraries_list(). */
#include "launch/libraries.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sched.h"
#include "launch/program.h"

enum { TEXT_MAX = 1 << 20, LIST_MS = 2000 };

void libraries_free(struct libraries *l)
{
    free(l->text);
    l->text = NULL;
    l->n = 0;
}

int file_has(int dir, const char *file, const void *bytes, size_t n)
{
    char buf[1 << 16];
    size_t have = 0;
    ssize_t got;
    int found = 0, fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (fd >= 0 && !found && (got = read(fd, buf + have, sizeof buf - have)) > 0) {
        have += (size_t)got;
        found = memmem(buf, have, bytes, n) != NULL;
        size_t keep = have < n ? have : n - 1; /* the bytes may lie across two reads */
        memmove(buf, buf + have - keep, keep);
        have = keep;
    }
    if (fd >= 0)
        close(fd);
    return found;
}

/* --- the loader's list ------------------------------------------------------------------------ */

/* All of it, if it comes in time. The text, to be freed, or NULL. */
static char *read_all(int fd)
{
    char *text = malloc(TEXT_MAX);
    size_t have = 0;
    ssize_t n = 1;
    uint64_t until = time_now() + (uint64_t)LIST_MS * 1000000;
    while (text && n > 0 && have < TEXT_MAX - 1) {
        struct pollfd p = {fd, POLLIN, 0};
        uint64_t now = time_now();
        n = now < until && poll(&p, 1, (int)((until - now) / 1000000) + 1) > 0
                ? read(fd, text + have, TEXT_MAX - 1 - have)
                : -1;
        have += n > 0 ? (size_t)n : 0;
    }
    if (text)
        text[have] = 0;
    return text;
}

/* Run the loader on the file; what it prints. `bind`: also the names that no library has. */
static char *run_loader(char *loader, const struct library_search *s, char *program, int bind)
{
    /* With --list the loader does not look for names. */
    static char trace[] = "LD_TRACE_LOADED_OBJECTS=1", warn[] = "LD_WARN=1",
                now[] = "LD_BIND_NOW=1";
    char option[] = "--list", *argv[] = {loader, option, program, NULL};
    char *env[] = {NULL, NULL, NULL, NULL, NULL}, **more = &env[s->path != NULL];
    posix_spawn_file_actions_t io;
    posix_spawnattr_t attr;
    sigset_t none;
    pid_t pid;
    int fd[2];
    if (s->path && asprintf(&env[0], "LD_LIBRARY_PATH=%s", s->path) < 0)
        return NULL;
    if (bind) {
        argv[1] = program;
        argv[2] = NULL;
        more[0] = trace;
        more[1] = warn;
        more[2] = now;
    }
    if (pipe2(fd, O_CLOEXEC)) {
        if (s->path)
            free(env[0]);
        return NULL;
    }
    sigemptyset(&none);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawn_file_actions_init(&io);
    posix_spawn_file_actions_adddup2(&io, fd[1], 1);
    posix_spawn_file_actions_adddup2(&io, fd[1], 2); /* its complaints are no list */
    if (s->dir >= 0)
        posix_spawn_file_actions_addfchdir_np(&io, s->dir);
    int err = posix_spawn(&pid, loader, &io, &attr, argv, env);
    posix_spawn_file_actions_destroy(&io);
    posix_spawnattr_destroy(&attr);
    close(fd[1]);
    char *text = err ? NULL : read_all(fd[0]);
    close(fd[0]);
    if (!err) {
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (s->path)
        free(env[0]);
    return text;
}

static void add(struct libraries *l, const char *name, const char *path)
{
    if (l->n < LIBRARIES_MAX)
        l->lib[l->n++] = (struct library){name, path};
}

/* Lines "<tab>NAME => PATH (ADDRESS)" and "<tab>PATH (ADDRESS)". */
static void parse_list(struct libraries *l)
{
    for (char *line = l->text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end)
            *end++ = 0;
        char *address = strstr(line, " (0x"), *arrow = strstr(line, " => ");
        if (*line != '\t' || !address)
            continue;
        *address = 0;
        if (arrow)
            *arrow = 0;
        char *path = arrow ? arrow + 4 : line + 1;
        if (strchr(path, '/'))
            add(l, line + 1, path);
    }
}

/* What the loader prints of the program, to be freed. 0 or as libraries_list(). */
static int loader_text(char **text, const struct library_search *s, const char *program, int bind)
{
    char loader[PATH_MAX], ours[PATH_MAX], link[64], real[PATH_MAX];
    int err = program_interpreter(s->dir, program, loader);
    if (!err)
        err = program_interpreter(AT_FDCWD, "/proc/self/exe", ours);
    /* Any other loader might execute the program instead of listing. */
    if (err || strcmp(loader, ours))
        return err ? err : -ENOEXEC;
    /* By its real name, as the kernel would tell the loader: $ORIGIN. */
    int fd = openat(s->dir, program, O_PATH | O_CLOEXEC);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, real, sizeof real - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return -ENOENT;
    real[n] = 0;
    return (*text = run_loader(ours, s, real, bind)) ? 0 : -EIO;
}

int libraries_list(struct libraries *l, const struct library_search *s, const char *program)
{
    l->text = NULL;
    l->n = 0;
    int err = loader_text(&l->text, s, program, 0);
    if (!err)
        parse_list(l);
    return err;
}

char *libraries_undefined(const struct library_search *s, const char *program, const char *match)
{
    static const char says[] = "undefined symbol: ";
    char *text = NULL, *name = NULL;
    regex_t want;
    if (regcomp(&want, match, REG_EXTENDED | REG_NOSUB))
        return NULL;
    if (!loader_text(&text, s, program, 1))
        for (char *at = text; !name && (at = strstr(at, says));) {
            at += sizeof says - 1;
            name = strndup(at, strcspn(at, ", \t\n"));
            if (name && regexec(&want, name, 0, NULL, 0)) {
                free(name);
                name = NULL;
            }
        }
    regfree(&want);
    free(text);
    return name;
}

/* --- a map ------------------------------------------------------------------------------------ */

char *libraries_path(pid_t pid)
{
    static const char name[] = "LD_LIBRARY_PATH=";
    char file[64], *line = NULL, *path = NULL;
    size_t room = 0;
    snprintf(file, sizeof file, "/proc/%ld/environ", (long)pid);
    FILE *f = fopen(file, "re");
    while (f && !path && getdelim(&line, &room, 0, f) > 0)
        if (!strncmp(line, name, sizeof name - 1))
            path = strdup(line + sizeof name - 1);
    if (f)
        fclose(f);
    free(line);
    return path;
}

int libraries_mapped(struct libraries *l, pid_t pid)
{
    char name[64];
    const char *last = "";
    l->n = 0;
    snprintf(name, sizeof name, "/proc/%ld/maps", (long)pid);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        l->text = NULL;
        return -errno;
    }
    l->text = read_all(fd);
    close(fd);
    for (char *line = l->text, *end; line && *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end)
            *end++ = 0;
        char *path = strchr(line, '/');
        if (!path || !strcmp(path, last) || !strstr(path, ".so"))
            continue;
        add(l, path, path);
        last = path;
    }
    return l->text ? 0 : -ENOMEM;
}

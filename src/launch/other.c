/* other.c - the message about a program that loads another MPI library. Start with
 * other_at_start(). */
#include "launch/other.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/elf.h"
#include "launch/env.h"
#include "launch/job.h"
#include "launch/needs.h"

extern char **environ;

/* --- the line ------------------------------------------------------------------------------- */

/* The installation may have been moved: BINDIR and LIBDIR lie under one prefix, which then has
 * another root.  In the build tree the libraries are in .libs. */
void other_own_folders(char bin[PATH_MAX], char lib[PATH_MAX])
{
    static const char bindir[] = BINDIR, libdir[] = LIBDIR;
    char file[2 * PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", bin, PATH_MAX - 1);
    bin[n > 0 ? n : 0] = 0;
    char *slash = strrchr(bin, '/');
    if (slash)
        *slash = 0;
    snprintf(lib, PATH_MAX, "%s", libdir);
    size_t same = 0, have = strlen(bin);
    for (size_t i = 0; bindir[i] && bindir[i] == libdir[i]; i++)
        if (bindir[i] == '/')
            same = i;
    size_t tail = strlen(bindir + same);
    if (have >= tail && !strcmp(bin + have - tail, bindir + same)) {
        snprintf(file, sizeof file, "%.*s%s", (int)(have - tail), bin, libdir + same);
        if (!access(file, F_OK))
            snprintf(lib, PATH_MAX, "%.*s", PATH_MAX - 1, file);
    }
    snprintf(file, sizeof file, "%s/.libs/libmpi.so.12", bin);
    if (!access(file, F_OK)) {
        snprintf(lib, PATH_MAX, "%.*s/.libs", PATH_MAX - 8, bin);
        strncat(bin, "/bin", PATH_MAX - strlen(bin) - 1);
    }
}

static void describe(char *line, size_t len, const char *program, const struct needs_mpi *n)
{
    char bin[PATH_MAX], lib[PATH_MAX], by[512] = "";
    other_own_folders(bin, lib);
    if (n->by)
        snprintf(by, sizeof by, ", which %s needs", n->by);
    int at = snprintf(line, len, "%s loads another MPI library, %s%s%s%s: ", program, n->other, by,
                      n->own ? ", beside this one" : "",
                      n->open_mpi && !n->own ? ", with which each rank runs alone" : "");
    if (at < 0 || (size_t)at >= len)
        return;
    if (n->swappable)
        snprintf(line + at, len - (size_t)at, "put %s first in LD_LIBRARY_PATH", lib);
    else
        snprintf(line + at, len - (size_t)at, "build %s with %s/mpicc", n->by ? n->by : program,
                 bin);
}

/* --- what the program's file needs ------------------------------------------------------------ */

static int start_folder(const struct args *a, const struct block *b)
{
    int top = a->gwdir ? open(a->gwdir, O_PATH | O_DIRECTORY | O_CLOEXEC) : AT_FDCWD;
    if (!b->wdir || (a->gwdir && top < 0))
        return top;
    int dir = openat(top, b->wdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (top >= 0)
        close(top);
    return dir < 0 ? -1 : dir;
}

/* Commands that start the program named behind their own options. */
static int starts_another(const char *command)
{
    static const char *const name[] = {"env",    "nice",    "numactl", "setarch", "stdbuf",
                                       "strace", "taskset", "time",    "timeout", "valgrind"};
    const char *slash = strrchr(command, '/');
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (!strcmp(slash ? slash + 1 : command, name[i]))
            return 1;
    return 0;
}

/* The program behind such a command: the first word that is one.  NULL: none, or the command
 * changes where its libraries are searched. */
static char *behind(int dir, char *const *argv)
{
    for (char *const *w = argv + 1; *w; w++) {
        if (!strncmp(*w, "LD_", 3))
            return NULL;
        char *file = **w == '-' || strchr(*w, '=') ? NULL : needs_program(dir, *w);
        if (file)
            return file;
    }
    return NULL;
}

/* `late`: nothing contradicts it, so guesses about the loader, and about what env starts, count,
 * too. */
static int look(char *line, size_t len, const struct args *a, const struct block *b,
                char *const *env, int late)
{
    struct env e = {0};
    struct needs_mpi n = {0};
    struct needs_where w = {.dir = start_folder(a, b)};
    char *file = NULL;
    int found = 0;
    if (w.dir == -1 || env_of_block(&e, a, b, env))
        goto out;
    w.libpath = env_find(&e, "LD_LIBRARY_PATH");
    file = late && starts_another(b->argv[0]) ? behind(w.dir, b->argv)
                                              : needs_program(w.dir, b->argv[0]);
    if (file && !needs_look(&n, &w, file) && n.other && (late || !n.unsure)) {
        describe(line, len, late ? file : b->argv[0], &n);
        found = 1;
    }
    needs_free(&n);
out:
    free(file);
    env_free(&e);
    if (w.dir >= 0)
        close(w.dir);
    return found;
}

/* Does a block start the same program as the one before, in the same way? */
static int as_before(const struct args *a, int i)
{
    const struct block *b = &a->block[i], *o = b - 1;
    return i > 0 && !strcmp(b->argv[0], o->argv[0]) && !b->wdir && !o->wdir && !b->env && !o->env;
}

static int look_all(char *line, size_t len, const struct args *a, char *const *env, int late)
{
    for (int i = 0; i < a->nblocks; i++)
        if ((late || !as_before(a, i)) && look(line, len, a, &a->block[i], env, late))
            return 1;
    return 0;
}

int other_text(char *line, size_t len, const struct args *a, char *const *env)
{
    return look_all(line, len, a, env, 0);
}

void other_at_start(struct job *j, char *const *env)
{
    char line[2048];
    if (!other_text(line, sizeof line, j->args, env))
        return;
    j->other_said = 1;
    job_say(j, "%s", line);
}

void other_at_end(struct job *j)
{
    char line[1900];
    if (j->other_said || j->phase != JOB_RUNNING || pmi_met(j->pmi) ||
        !look_all(line, sizeof line, j->args, environ, 1))
        return;
    j->other_said = 1;
    job_say(j, "%d rank%s ended and none joined the job: %s", j->size, j->size == 1 ? "" : "s",
            line);
}

/* --- what a process has mapped ---------------------------------------------------------------- */

/* Is the file another MPI library?  A front, which needs one itself, is not. */
static int is_other(const char *file, struct needs_mpi *n)
{
    struct elf e;
    int fd = open(file, O_RDONLY | O_CLOEXEC), other = 0;
    if (fd < 0)
        return 0;
    if (!elf_read(&e, fd)) {
        other = !e.windrose;
        for (int i = 0; i < e.needs; i++)
            other &= !needs_is_mpi(e.need[i]);
        n->own |= e.windrose;
        n->swappable = e.soname &&
                       (!strcmp(e.soname, "libmpi.so.12") || !strcmp(e.soname, "libmpich.so.12"));
        elf_free(&e);
    }
    close(fd);
    return other;
}

/* 1: the process has another MPI library mapped. */
static int mapped(pid_t pid, struct needs_mpi *n)
{
    char name[64], line[PATH_MAX + 256], last[PATH_MAX] = "";
    snprintf(name, sizeof name, "/proc/%ld/maps", (long)pid);
    FILE *f = fopen(name, "re");
    while (f && !n->other && fgets(line, sizeof line, f)) {
        char *path = strchr(line, '/'), *slash = strrchr(line, '/');
        line[strcspn(line, "\n")] = 0;
        if (!path || !needs_is_mpi(slash + 1) || !strcmp(path, last))
            continue;
        snprintf(last, sizeof last, "%.*s", (int)sizeof last - 1, path);
        if (is_other(path, n))
            n->other = strdup(path);
    }
    if (f)
        fclose(f);
    return n->other != NULL;
}

static int of_job(const struct job *j, pid_t pid)
{
    for (int r = 0; r < j->size; r++)
        if (j->rank[r].pid == pid || (j->rank[r].pid > 0 && getpgid(pid) == j->rank[r].pid))
            return 1;
    return 0;
}

void other_joined(struct job *j)
{
    char line[2048], name[64], program[PATH_MAX];
    if (j->other_said || j->other_looked)
        return;
    j->other_looked = 1;
    DIR *dir = opendir("/proc");
    for (struct dirent *d; dir && !j->other_said && (d = readdir(dir));) {
        pid_t pid = (pid_t)atol(d->d_name);
        struct needs_mpi n = {0};
        if (pid > 0 && of_job(j, pid) && mapped(pid, &n)) {
            snprintf(name, sizeof name, "/proc/%ld/exe", (long)pid);
            ssize_t len = readlink(name, program, sizeof program - 1);
            program[len > 0 ? len : 0] = 0;
            describe(line, sizeof line, program, &n);
            job_say(j, "%s", line);
            j->other_said = 1;
        }
        needs_free(&n);
    }
    if (dir)
        closedir(dir);
}

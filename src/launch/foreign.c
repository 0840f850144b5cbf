/* foreign.c - the message about a program that loads another MPI library (foreign.h). Start with
 * foreign_at_start(). */
#include "launch/foreign.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sched.h"
#include "launch/env.h"
#include "launch/folders.h"
#include "launch/job.h"
#include "launch/libraries.h"
#include "launch/program.h"

extern char **environ;

/* What is known of a program that loads another MPI library. */
struct finding {
    int own;         /* it loads this library, too */
    int open_mpi;    /* the other is Open MPI */
    int swappable;   /* with LD_LIBRARY_PATH it would load this one */
    int unsure;      /* the loader may look elsewhere */
    const char *by;  /* the library that needs it; NULL: the program itself */
    const struct library *other; /* NULL: there is none */
};

/* --- the line ------------------------------------------------------------------------------- */

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void describe(char *line, size_t len, const char *program, const struct finding *f)
{
    char bin[PATH_MAX], lib[PATH_MAX], by[512] = "";
    own_folders(bin, lib);
    if (f->by)
        snprintf(by, sizeof by, ", which %s needs", f->by);
    int at = snprintf(line, len, "%s loads another MPI library, %s%s%s%s: ", program,
                      f->other->path, by, f->own ? ", beside this one" : "",
                      f->open_mpi && !f->own ? ", with which each rank runs alone" : "");
    if (at < 0 || (size_t)at >= len)
        return;
    if (f->swappable)
        snprintf(line + at, len - (size_t)at, "put %s first in LD_LIBRARY_PATH", lib);
    else
        snprintf(line + at, len - (size_t)at, "build %s with %s/mpicc", f->by ? f->by : program,
                 bin);
}

/* --- judgement ------------------------------------------------------------------------------ */

int foreign_is_mpi(const char *name)
{
    static const char *const stem[] = {"libmpi",     "libmpich",    "libmpi_abi",  "libmpi_mt",
                                       "libmpi_gnu", "libmpi_cray", "libmpi_intel"};
    for (size_t i = 0; i < sizeof stem / sizeof *stem; i++) {
        size_t n = strlen(stem[i]);
        if (strncmp(name, stem[i], n))
            continue;
        const char *rest = name + n;
        if (i > 3) /* Cray's names end with the version of the compiler */
            rest += strspn(rest, "_0123456789");
        if (!strncmp(rest, ".so", 3) && (!rest[3] || rest[3] == '.'))
            return 1;
    }
    return 0;
}

/* A library asks for another by this name: that of its file up to the first number. */
static void asked_name(const struct library *l, char name[NAME_MAX + 1])
{
    snprintf(name, NAME_MAX + 1, "%.*s", NAME_MAX, base_of(l->name));
    char *digits = strstr(name, ".so.");
    if (digits)
        digits[4 + strspn(digits + 4, "0123456789")] = 0;
}

/* Does the file ask for the library? */
static int asks_for(int dir, const char *file, const struct library *l)
{
    char word[NAME_MAX + 2] = "";
    asked_name(l, word + 1);
    return file_has(dir, file, word, strlen(word + 1) + 2); /* a zero byte on either side */
}

static int is_own(int dir, const char *file)
{
    /* The end of the note of api/env/abi.c, of any version. */
    static const struct {
        unsigned type;
        char owner[9];
    } note = {1, "Windrose"};
    return file_has(dir, file, &note, sizeof note.type + sizeof note.owner);
}

/* A front, as our libmpich.so.12 is one, asks for an MPI library itself: judge that one. */
static int is_front(const struct libraries *all, int dir, const struct library *l)
{
    for (int i = 0; i < all->n; i++) {
        const struct library *k = &all->lib[i];
        if (k != l && strcmp(k->path, l->path) && foreign_is_mpi(base_of(k->name)) &&
            asks_for(dir, l->path, k))
            return 1;
    }
    return 0;
}

/* The first of the program's libraries that is another MPI library. */
static void judge(struct finding *f, const struct libraries *all, int dir, const char *program)
{
    for (int i = 0; i < all->n; i++) {
        const struct library *l = &all->lib[i];
        if (!foreign_is_mpi(base_of(l->name)) && !foreign_is_mpi(base_of(l->path)))
            continue;
        int own = is_own(dir, l->path);
        f->own |= own;
        if (!own && !f->other && !is_front(all, dir, l))
            f->other = l;
    }
    if (!f->other)
        return;
    f->open_mpi = file_has(dir, f->other->path, "libopen-pal.so", 14) ||
                  file_has(dir, f->other->path, "libopen-rte.so", 14);
    for (int i = 0; i < all->n && !asks_for(dir, program, f->other) && !f->by; i++)
        if (all->lib + i != f->other && asks_for(dir, all->lib[i].path, f->other))
            f->by = base_of(all->lib[i].path);
}

/* The first library of Open MPI that works with Open MPI's own libmpi.so.40 only; NULL: none. */
static const char *only_of_open_mpi(const struct libraries *all)
{
    static const char *const name[] = {"liboshmem.so.40"};
    for (int i = 0; i < all->n; i++)
        for (size_t k = 0; k < sizeof name / sizeof *name; k++)
            if (!strcmp(base_of(all->lib[i].name), name[k]))
                return name[k];
    return NULL;
}

/* A name of Open MPI's libraries that the program asks for, to be freed; NULL: all are there. */
static char *lacking(const struct library_search *s, const char *file)
{
    return libraries_undefined(s, file, "^(P?MPIX?_|p?mpix?_|ompi_|mca_|_ZNK?3MPI)");
}

/* Would the program load this library if LD_LIBRARY_PATH began with its folder? */
static int would_swap(struct library_search s, const char *file)
{
    struct libraries all;
    struct finding f = {0};
    char bin[PATH_MAX], lib[PATH_MAX], list[2 * PATH_MAX];
    own_folders(bin, lib);
    snprintf(list, sizeof list, "%s%s%.*s", lib, s.path ? ":" : "", PATH_MAX,
             s.path ? s.path : "");
    s.path = list;
    if (libraries_list(&all, &s, file))
        return 0;
    judge(&f, &all, s.dir, file);
    libraries_free(&all);
    return f.own && !f.other;
}

/* --- what the loader lists for a file --------------------------------------------------------- */

/* Commands that start the program named behind their own options. */
static int starts_another(const char *command)
{
    static const char *const name[] = {"env",    "nice",    "numactl", "setarch", "stdbuf",
                                       "strace", "taskset", "time",    "timeout", "valgrind"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (!strcmp(base_of(command), name[i]))
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
        char *file = **w == '-' || strchr(*w, '=') ? NULL : program_file(dir, *w);
        if (file)
            return file;
    }
    return NULL;
}

/* When the loader is asked. After the start nothing contradicts it, so guesses about the loader,
 * and about what env starts, count, too. */
enum when {
    AT_START,
    AT_END,
    AT_UNBOUND, /* it may have ended a process for a name that no library has */
};

static int look(char *line, size_t len, const struct args *a, const struct block *b,
                char *const *env, enum when when)
{
    struct env e = {0};
    struct libraries all = {0};
    struct finding f = {0};
    struct library_search s = {.dir = program_folder(a, b)};
    struct stat st;
    char *file = NULL, *name = NULL;
    int said = 0, late = when != AT_START;
    if (s.dir == -1 || env_of_block(&e, a, b, env))
        goto out;
    s.path = env_find(&e, "LD_LIBRARY_PATH");
    file = late && starts_another(b->argv[0]) ? behind(s.dir, b->argv)
                                              : program_file(s.dir, b->argv[0]);
    if (!file || libraries_list(&all, &s, file))
        goto out;
    judge(&f, &all, s.dir, file);
    /* The loader ignores LD_LIBRARY_PATH for such programs. */
    f.unsure = !fstatat(s.dir, file, &st, 0) && st.st_mode & (S_ISUID | S_ISGID);
    if (f.other && (f.unsure && !late))
        f.other = NULL;
    const char *only = f.own && !f.other ? only_of_open_mpi(&all) : NULL;
    if (f.other) {
        f.swappable = !f.open_mpi && would_swap(s, file);
        describe(line, len, late ? file : b->argv[0], &f);
    } else if (only) {
        snprintf(line, len, "%s needs Open MPI's %s, which this library has not: build it with "
                 "this library's compilers, or start it with Open MPI's mpirun", b->argv[0], only);
        said = 1;
    } else if (when == AT_UNBOUND && f.own && (name = lacking(&s, file))) {
        snprintf(line, len, "%s needs %s, which this library has not: build it with this library's "
                 "compilers, or start it with Open MPI's mpirun", b->argv[0], name);
        said = 1;
    }
out:
    libraries_free(&all);
    free(name);
    free(file);
    env_free(&e);
    if (s.dir >= 0)
        close(s.dir);
    return f.other || said;
}

/* Does a block start the same program as the one before, in the same way? */
static int as_before(const struct args *a, int i)
{
    const struct block *b = &a->block[i], *o = b - 1;
    return i > 0 && !strcmp(b->argv[0], o->argv[0]) && !b->wdir && !o->wdir && !b->env && !o->env;
}

static int look_all(char *line, size_t len, const struct args *a, char *const *env,
                    enum when when)
{
    enum { MOST = 16 }; /* programs: each costs a run of the loader */
    for (int i = 0, looks = 0; i < a->nblocks && looks < MOST; i++) {
        if (when == AT_START && as_before(a, i))
            continue;
        looks++;
        if (look(line, len, a, &a->block[i], env, when))
            return 1;
    }
    return 0;
}

int foreign_text(char *line, size_t len, const struct args *a, char *const *env)
{
    return look_all(line, len, a, env, AT_START);
}

void foreign_at_start(struct job *j, char *const *env)
{
    char line[2048];
    if (!foreign_text(line, sizeof line, j->args, env))
        return;
    j->foreign_said = 1;
    job_say(j, "%s", line);
}

void foreign_at_end(struct job *j)
{
    char line[1900];
    if (j->foreign_said || j->phase != JOB_RUNNING || pmi_met(j->pmi) ||
        !look_all(line, sizeof line, j->args, environ, AT_END))
        return;
    j->foreign_said = 1;
    job_say(j, "%d rank%s ended and none joined the job: %s", j->size, j->size == 1 ? "" : "s",
            line);
}

void foreign_unbound(struct job *j, const struct block *b)
{
    char line[2048];
    if (j->foreign_said || j->phase != JOB_RUNNING || !b ||
        !look(line, sizeof line, j->args, b, environ, AT_UNBOUND))
        return;
    j->foreign_said = 1;
    job_say(j, "%s", line);
}

/* --- what a process has mapped ---------------------------------------------------------------- */

static int of_job(const struct job *j, pid_t pid)
{
    pid_t group = getpgid(pid);
    for (int r = 0; r < j->size; r++)
        if (j->rank[r].pid > 0 && (j->rank[r].pid == pid || j->rank[r].pid == group))
            return 1;
    return 0;
}

/* 1: the process has another MPI library mapped; said. */
static int look_at(struct job *j, pid_t pid, int joined)
{
    char line[2048], name[64], program[PATH_MAX];
    struct libraries all;
    struct finding f = {0};
    snprintf(name, sizeof name, "/proc/%ld/exe", (long)pid);
    ssize_t len = readlink(name, program, sizeof program - 1);
    program[len > 0 ? len : 0] = 0;
    if (libraries_mapped(&all, pid))
        return 0;
    judge(&f, &all, AT_FDCWD, program);
    /* With both it may join yet, and by this library. */
    int says = f.other && (joined || !f.own);
    if (says) {
        char *path = libraries_path(pid); /* -env may have set it for this program */
        struct library_search s = {.dir = AT_FDCWD, .path = path};
        f.swappable = !f.open_mpi && would_swap(s, program);
        free(path);
        describe(line, sizeof line, program, &f);
        job_say(j, "%s", line);
        j->foreign_said = 1;
    }
    libraries_free(&all);
    return says;
}

static void look_at_processes(struct job *j, int joined)
{
    enum { MOST = 32 }; /* processes: ranks are mostly alike */
    DIR *dir = opendir("/proc");
    int looks = 0;
    for (struct dirent *d; dir && looks < MOST && (d = readdir(dir));) {
        pid_t pid = (pid_t)atol(d->d_name);
        if (pid <= 0 || !of_job(j, pid))
            continue;
        looks += look_at(j, pid, joined) ? MOST : 1;
    }
    if (dir)
        closedir(dir);
}

void foreign_joined(struct job *j)
{
    if (j->foreign_said || j->foreign_looked)
        return;
    j->foreign_looked = 1;
    look_at_processes(j, 1);
}

/* --- a job that none joins -------------------------------------------------------------------- */

/* From the first look (ns) on each waits for as long again as passed before: few in all. */
static const uint64_t FIRST_NS = 100000000u, LAST_NS = 60000000000u, OUTPUT_NS = 50000000u;

static int is_over(const struct job *j)
{
    return j->foreign_said || j->phase != JOB_RUNNING || !j->live || pmi_met(j->pmi) ||
           j->started_at + LAST_NS < j->foreign_at;
}

uint64_t foreign_tick(struct job *j, uint64_t now)
{
    if (is_over(j))
        return 0;
    if (!j->foreign_at)
        j->foreign_at = j->started_at + FIRST_NS;
    if (now >= j->foreign_at) {
        look_at_processes(j, 0);
        j->foreign_at = now + (now - j->started_at);
    }
    return is_over(j) ? 0 : j->foreign_at;
}

void foreign_output(struct job *j)
{
    uint64_t soon = j->foreign_output_at + OUTPUT_NS, now = time_now();
    if (is_over(j) || now < soon)
        return;
    look_at_processes(j, 0);
    j->foreign_output_at = time_now();
}

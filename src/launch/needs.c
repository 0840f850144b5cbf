/* needs.c - which MPI library a program loads, found in the loader's order (needs.h). Start with
 * needs_look(). */
#include "launch/needs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/elf.h"
#include "launch/ldcache.h"

enum { OBJECTS_MAX = 1024 };

/* What is loaded, in the loader's order; the first is the program. */
struct object {
    struct elf elf;
    const char *name; /* as it was requested; in its parent's elf */
    char *path;
    int parent;       /* index of the first that needs it; -1: the program */
    int fixed;        /* found in a place that LD_LIBRARY_PATH does not change */
    dev_t dev;
    ino_t ino;
};

struct walk {
    const struct needs_where *where;
    struct ldcache cache;
    struct object *object[OBJECTS_MAX];
    int n;
    int unsure;
};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int needs_is_mpi(const char *name)
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

/* --- one file ------------------------------------------------------------------------------- */

/* Take the file as the next object. 0; -ENOENT: it does not exist or is no library, and the loader
 * looks further. */
static int load(struct walk *w, const char *path, const char *name, int parent, int fixed)
{
    struct stat st;
    int fd = openat(w->where->dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -ENOENT;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return -ENOENT;
    }
    for (int i = 0; i < w->n; i++)
        if (w->object[i]->dev == st.st_dev && w->object[i]->ino == st.st_ino) {
            close(fd);
            return 0;
        }
    struct object *o = w->n < OBJECTS_MAX ? calloc(1, sizeof *o) : NULL;
    int err = o ? elf_read(&o->elf, fd) : -ENOMEM;
    close(fd);
    if (!err && !(o->path = strdup(path))) {
        elf_free(&o->elf);
        err = -ENOMEM;
    }
    if (err) {
        free(o);
        return err == -ENOEXEC ? -ENOENT : err;
    }
    /* The loader ignores LD_LIBRARY_PATH for such programs. */
    if (parent < 0 && st.st_mode & (S_ISUID | S_ISGID))
        w->unsure = 1;
    o->name = name;
    o->parent = parent;
    o->fixed = fixed;
    o->dev = st.st_dev;
    o->ino = st.st_ino;
    w->object[w->n++] = o;
    return 0;
}

/* --- search --------------------------------------------------------------------------------- */

/* The folder of an object, for $ORIGIN; "": unknown. */
static void origin_of(const struct walk *w, const struct object *o, char out[PATH_MAX])
{
    char link[64], real[PATH_MAX];
    int fd = -1;
    ssize_t n = -1;
    *out = 0;
    if (o->parent < 0 || *o->path != '/') { /* the kernel names the program by its real file */
        fd = openat(w->where->dir, o->path, O_PATH | O_CLOEXEC);
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (fd >= 0)
            n = readlink(link, real, sizeof real - 1);
        if (n > 0)
            real[n] = 0;
    } else {
        n = snprintf(real, sizeof real, "%s", o->path);
    }
    if (fd >= 0)
        close(fd);
    char *slash = n > 0 && n < PATH_MAX ? strrchr(real, '/') : NULL;
    if (slash)
        snprintf(out, PATH_MAX, "%.*s", slash > real ? (int)(slash - real) : 1, real);
}

/* Fill in $ORIGIN. 0; -ENOENT: another word, or it does not fit; then the loader's place is
 * unknown. */
static int expand(struct walk *w, const struct object *o, const char *dir, size_t n,
                  char out[PATH_MAX])
{
    size_t at = 0;
    char origin[PATH_MAX] = "";
    for (size_t i = 0; i < n && at < PATH_MAX - 1;) {
        size_t word = n - i >= 7 && !strncmp(dir + i, "$ORIGIN", 7)     ? 7
                      : n - i >= 9 && !strncmp(dir + i, "${ORIGIN}", 9) ? 9
                                                                        : 0;
        if (dir[i] != '$') {
            out[at++] = dir[i++];
            continue;
        }
        if (word && !*origin)
            origin_of(w, o, origin);
        size_t len = strlen(origin);
        if (!word || !len || at + len >= PATH_MAX) {
            w->unsure = 1;
            return -ENOENT;
        }
        memcpy(out + at, origin, len);
        at += len;
        i += word;
    }
    out[at] = 0;
    return at < PATH_MAX - 1 ? 0 : -ENOENT;
}

/* Look in a list of folders, separated by any character of `ends`.  An empty one is where the
 * program starts. */
static int in_list(struct walk *w, int by, const struct object *owner, const char *list,
                   const char *ends, const char *name, int fixed)
{
    char dir[PATH_MAX], path[2 * PATH_MAX];
    for (const char *d = list; d;) {
        size_t n = strcspn(d, ends);
        if (!expand(w, owner, d, n, dir)) {
            snprintf(path, sizeof path, "%s%s%s", dir, *dir ? "/" : "", name);
            int err = load(w, path, name, by, fixed);
            if (err != -ENOENT)
                return err;
        }
        d = d[n] ? d + n + 1 : NULL;
    }
    return -ENOENT;
}

static int in_rpaths(struct walk *w, int by, const char *name)
{
    int err = -ENOENT;
    if (w->object[by]->elf.runpath) /* then RPATH does not count, and neither do those above it */
        return err;
    for (int i = by; i >= 0 && err == -ENOENT; i = w->object[i]->parent) {
        const struct object *o = w->object[i];
        if (o->elf.rpath && !o->elf.runpath)
            err = in_list(w, by, o, o->elf.rpath, ":", name, 1);
    }
    return err;
}

static int in_system(struct walk *w, int by, const char *name)
{
#if defined __x86_64__
    static const char dirs[] =
        "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib";
#elif defined __aarch64__
    static const char dirs[] =
        "/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib";
#else
    static const char dirs[] = "/lib64:/usr/lib64:/lib:/usr/lib";
#endif
    const char *path = NULL;
    int err = -ENOENT;
    while (err == -ENOENT && (path = ldcache_next(&w->cache, name, path)))
        err = load(w, path, name, by, 0);
    return err == -ENOENT ? in_list(w, by, w->object[by], dirs, ":", name, 0) : err;
}

static int is_loaded(const struct walk *w, const char *name)
{
    for (int i = 0; i < w->n; i++) {
        const struct object *o = w->object[i];
        if ((o->name && !strcmp(o->name, name)) || (o->elf.soname && !strcmp(o->elf.soname, name)))
            return 1;
    }
    return 0;
}

/* Find one library that an object needs.  The loader reports what it does not find. */
static int find(struct walk *w, int by, const char *name)
{
    struct object *o = w->object[by];
    char path[PATH_MAX];
    if (is_loaded(w, name))
        return 0;
    if (strchr(name, '/'))
        return expand(w, o, name, strlen(name), path) ? -ENOENT : load(w, path, name, by, 1);
    int err = in_rpaths(w, by, name);
    if (err == -ENOENT && w->where->libpath && *w->where->libpath)
        err = in_list(w, by, w->object[0], w->where->libpath, ":;", name, 0);
    if (err == -ENOENT && o->elf.runpath)
        err = in_list(w, by, o, o->elf.runpath, ":", name, 0);
    return err == -ENOENT ? in_system(w, by, name) : err;
}

/* --- judgement ------------------------------------------------------------------------------ */

/* Does it need a library for which `is` holds? */
static const char *needs_one(const struct elf *e, int (*is)(const char *))
{
    for (int i = 0; i < e->needs; i++)
        if (is(base_of(e->need[i])))
            return e->need[i];
    return NULL;
}

static int is_open_mpi(const char *name)
{
    return !strncmp(name, "libopen-rte.so", 14) || !strncmp(name, "libopen-pal.so", 14);
}

static int is_mpich_abi(const char *name)
{
    return !strcmp(name, "libmpi.so.12") || !strcmp(name, "libmpich.so.12");
}

static int judge(const struct walk *w, struct needs_mpi *n)
{
    n->unsure = w->unsure;
    for (int i = 1; i < w->n; i++) {
        const struct object *o = w->object[i];
        if (!needs_is_mpi(o->elf.soname ? o->elf.soname : base_of(o->path)))
            continue;
        n->own |= o->elf.windrose;
        /* A front, as our libmpich.so.12 is one: judge what it needs. */
        if (o->elf.windrose || n->other || needs_one(&o->elf, needs_is_mpi))
            continue;
        n->open_mpi = needs_one(&o->elf, is_open_mpi) != NULL;
        n->swappable = !n->open_mpi && !o->fixed &&
                       is_mpich_abi(o->elf.soname ? o->elf.soname : base_of(o->path));
        n->other = strdup(o->path);
        if (o->parent > 0)
            n->by = strdup(base_of(w->object[o->parent]->path));
        if (!n->other || (o->parent > 0 && !n->by))
            return -ENOMEM;
    }
    return 0;
}

int needs_look(struct needs_mpi *n, const struct needs_where *where, const char *file)
{
    struct walk w = {.where = where};
    memset(n, 0, sizeof *n);
    int err = load(&w, file, NULL, -1, 0);
    if (!err && !w.object[0]->elf.dynamic)
        err = -ENOEXEC;
    if (!err)
        ldcache_open(&w.cache);
    /* breadth first, as the loader does; the list grows meanwhile */
    for (int i = 0; !err && i < w.n; i++)
        for (int k = 0; !err && k < w.object[i]->elf.needs; k++) {
            err = find(&w, i, w.object[i]->elf.need[k]);
            if (err == -ENOENT)
                err = 0;
        }
    if (!err)
        err = judge(&w, n);
    ldcache_close(&w.cache);
    for (int i = 0; i < w.n; i++) {
        elf_free(&w.object[i]->elf);
        free(w.object[i]->path);
        free(w.object[i]);
    }
    if (err)
        needs_free(n);
    return err == -ENOENT ? -ENOEXEC : err;
}

void needs_free(struct needs_mpi *n)
{
    free(n->other);
    free(n->by);
    memset(n, 0, sizeof *n);
}

static int may_run(int dir, const char *file)
{
    struct stat st;
    return !fstatat(dir, file, &st, 0) && S_ISREG(st.st_mode) && !faccessat(dir, file, X_OK, 0);
}

char *needs_program(int dir, const char *command)
{
    char path[2 * PATH_MAX];
    if (strchr(command, '/'))
        return strdup(command);
    const char *list = getenv("PATH");
    for (const char *d = list ? list : "/bin:/usr/bin"; d;) {
        size_t n = strcspn(d, ":");
        if (n < PATH_MAX) {
            snprintf(path, sizeof path, "%.*s%s%s", (int)n, d, n ? "/" : "", command);
            if (may_run(dir, path))
                return strdup(path);
        }
        d = d[n] ? d + n + 1 : NULL;
    }
    snprintf(path, sizeof path, "./%s", command); /* as spawn.c does */
    return may_run(dir, path) ? strdup(path) : NULL;
}

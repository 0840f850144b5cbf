/* program.c - which file a program of the command line is, what starts it, and why it cannot be
 * run (program.h). Start with program_file(). */
#include "launch/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEGMENTS_MAX = 64 };

int program_folder(const struct args *a, const struct block *b)
{
    int top = a->gwdir ? open(a->gwdir, O_PATH | O_DIRECTORY | O_CLOEXEC) : AT_FDCWD;
    if (!b->wdir || (a->gwdir && top < 0))
        return top;
    int dir = openat(top, b->wdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (top >= 0)
        close(top);
    return dir < 0 ? -1 : dir;
}

static int may_run(int dir, const char *file)
{
    struct stat st;
    return !fstatat(dir, file, &st, 0) && S_ISREG(st.st_mode) && !faccessat(dir, file, X_OK, 0);
}

char *program_file(int dir, const char *command)
{
    char path[2 * PATH_MAX];
    if (strchr(command, '/'))
        return strdup(command);
    const char *list = getenv("PATH");
    for (const char *d = list ? list : "/bin:/usr/bin"; d;) {
        size_t n = strcspn(d, ":");
        if (n < PATH_MAX) {
            snprintf(path, sizeof path, "%.*s%s%s", n ? (int)n : 1, n ? d : ".", "/", command);
            if (may_run(dir, path))
                return strdup(path);
        }
        d = d[n] ? d + n + 1 : NULL;
    }
    snprintf(path, sizeof path, "./%s", command); /* as spawn.c does */
    return may_run(dir, path) ? strdup(path) : NULL;
}

/* --- what starts it --------------------------------------------------------------------------- */

static int loader_of(int fd, char name[PATH_MAX])
{
    ElfW(Ehdr) head;
    ElfW(Phdr) seg[SEGMENTS_MAX];
    if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        head.e_ident[EI_CLASS] != (sizeof(ElfW(Addr)) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        head.e_phentsize != sizeof *seg || head.e_phnum > SEGMENTS_MAX)
        return -ENOEXEC;
    ssize_t n = head.e_phnum * (ssize_t)sizeof *seg;
    if (pread(fd, seg, (size_t)n, (off_t)head.e_phoff) != n)
        return -ENOEXEC;
    for (int i = 0; i < head.e_phnum; i++) {
        size_t bytes = seg[i].p_filesz;
        if (seg[i].p_type == PT_INTERP && bytes > 1 && bytes <= PATH_MAX &&
            pread(fd, name, bytes, (off_t)seg[i].p_offset) == (ssize_t)bytes && !name[bytes - 1])
            return 0;
    }
    return -ENOEXEC;
}

int program_interpreter(int dir, const char *file, char name[PATH_MAX])
{
    char head[PATH_MAX] = "";
    struct stat st;
    int fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    ssize_t n = fstat(fd, &st) || !S_ISREG(st.st_mode) ? 0 : pread(fd, head, sizeof head - 1, 0);
    int err = -ENOEXEC;
    if (n > 4 && !memcmp(head, ELFMAG, SELFMAG)) {
        err = loader_of(fd, name);
    } else if (n > 2 && !memcmp(head, "#!", 2)) {
        char *from = head + 2 + strspn(head + 2, " \t");
        from[strcspn(from, " \t\n")] = 0;
        err = *from ? 0 : -ENOEXEC;
        snprintf(name, PATH_MAX, "%s", from);
    }
    close(fd);
    return err;
}

/* --- why it cannot be run --------------------------------------------------------------------- */

/* It is there, and exec says that something is not: what starts it. */
static void without_interpreter(const char *name, char *text, size_t len)
{
    size_t n = strlen(name);
    if (n && name[n - 1] == '\r')
        snprintf(text, len, "its first line ends with a carriage return, as files of DOS do; the "
                 "interpreter \"%.*s\\r\" does not exist", (int)n - 1, name);
    else
        snprintf(text, len, "%s, which starts it, does not exist", name);
}

void program_why(const struct args *a, const struct block *b, int err, char *text, size_t len)
{
    char here[PATH_MAX], name[PATH_MAX];
    struct stat st, by;
    int dir = program_folder(a, b);
    char *file = dir == -1 ? NULL : program_file(dir, b->argv[0]);
    if (!file && dir != -1 && snprintf(here, sizeof here, "./%s", b->argv[0]) < PATH_MAX)
        file = strdup(here);
    snprintf(text, len, "%s", strerror(err));
    if (!file || fstatat(dir, file, &st, 0))
        goto out;
    int names = !program_interpreter(dir, file, name);
    if (S_ISDIR(st.st_mode))
        snprintf(text, len, "it is a directory");
    else if (err == ENOENT && names)
        without_interpreter(name, text, len);
    else if (err == EACCES && names && !faccessat(dir, file, X_OK, 0) &&
             !fstatat(dir, name, &by, 0))
        snprintf(text, len, "%s, which starts it, %s", name,
                 S_ISDIR(by.st_mode) ? "is a directory" : "may not be executed");
    else if (err == EACCES && S_ISREG(st.st_mode) && !(st.st_mode & 0111))
        snprintf(text, len, "%s: it is not executable (chmod +x)", strerror(err));
out:
    free(file);
    if (dir >= 0)
        close(dir);
}

/* elf.c - what an ELF file needs: interpreter, libraries, search paths. The file is not trusted. */
#include "launch/elf.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEGMENTS_MAX = 64, DYNAMIC_MAX = 65536, NOTE_MAX = 4096 };

/* Every read from the file is a pread with bounds: the file may change or be forged. */
struct image {
    int fd;
    ElfW(Ehdr) head;
    ElfW(Phdr) seg[SEGMENTS_MAX];
};

static int read_all(int fd, void *to, size_t n, ElfW(Off) at)
{
    ssize_t got = pread(fd, to, n, (off_t)at);
    if (got < 0)
        return -errno;
    return (size_t)got == n ? 0 : -ENOEXEC;
}

static int machine_of(void)
{
#if defined __x86_64__
    return EM_X86_64;
#elif defined __aarch64__
    return EM_AARCH64;
#else
    return EM_NONE;
#endif
}

static int for_this_machine(const ElfW(Ehdr) *h)
{
    static const int class = sizeof(ElfW(Addr)) == 8 ? ELFCLASS64 : ELFCLASS32;
    static const uint16_t one = 1;
    int order = *(const char *)&one ? ELFDATA2LSB : ELFDATA2MSB, machine = machine_of();
    return h->e_ident[EI_CLASS] == class && h->e_ident[EI_DATA] == order &&
           (machine == EM_NONE || h->e_machine == machine);
}

static int read_segments(struct image *m)
{
    int err = read_all(m->fd, &m->head, sizeof m->head, 0);
    if (err)
        return err;
    int runs = m->head.e_type == ET_EXEC || m->head.e_type == ET_DYN;
    if (memcmp(m->head.e_ident, ELFMAG, SELFMAG) || !for_this_machine(&m->head) || !runs)
        return -ENOEXEC;
    if (m->head.e_phentsize != sizeof *m->seg || m->head.e_phnum > SEGMENTS_MAX)
        return -ENOEXEC;
    return read_all(m->fd, m->seg, m->head.e_phnum * sizeof *m->seg, m->head.e_phoff);
}

/* Where in the file an address lies; 0: not in the file. */
static ElfW(Off) offset_of(const struct image *m, ElfW(Addr) addr)
{
    for (int i = 0; i < m->head.e_phnum; i++) {
        const ElfW(Phdr) *s = &m->seg[i];
        if (s->p_type == PT_LOAD && addr >= s->p_vaddr && addr - s->p_vaddr < s->p_filesz)
            return s->p_offset + (addr - s->p_vaddr);
    }
    return 0;
}

/* The string at an offset of the string table; NULL: it has no end, or no memory. */
static char *string_at(const struct image *m, ElfW(Off) table, ElfW(Xword) at)
{
    char text[ELF_STRING_MAX];
    ssize_t n = pread(m->fd, text, sizeof text, (off_t)(table + at));
    if (n <= 0 || !memchr(text, 0, (size_t)n))
        return NULL;
    return strdup(text);
}

static int take(char **to, char *text)
{
    free(*to);
    *to = text;
    return text ? 0 : -ENOEXEC;
}

static int read_dynamic(const struct image *m, const ElfW(Phdr) *s, struct elf *e)
{
    size_t n = s->p_filesz / sizeof(ElfW(Dyn));
    if (!n || s->p_filesz > DYNAMIC_MAX)
        return -ENOEXEC;
    ElfW(Dyn) *d = malloc(n * sizeof *d);
    if (!d)
        return -ENOMEM;
    ElfW(Off) table = 0;
    int err = read_all(m->fd, d, n * sizeof *d, s->p_offset);
    for (size_t i = 0; !err && i < n && d[i].d_tag != DT_NULL; i++)
        if (d[i].d_tag == DT_STRTAB)
            table = offset_of(m, d[i].d_un.d_ptr);
    if (!err && !table)
        err = -ENOEXEC;
    for (size_t i = 0; !err && i < n && d[i].d_tag != DT_NULL; i++) {
        ElfW(Xword) at = d[i].d_un.d_val;
        switch (d[i].d_tag) {
        case DT_SONAME: err = take(&e->soname, string_at(m, table, at)); break;
        case DT_RPATH: err = take(&e->rpath, string_at(m, table, at)); break;
        case DT_RUNPATH: err = take(&e->runpath, string_at(m, table, at)); break;
        case DT_NEEDED:
            if (e->needs < ELF_NEEDED_MAX)
                err = take(&e->need[e->needs++], string_at(m, table, at));
            break;
        default: break;
        }
    }
    free(d);
    return err;
}

/* Does the note segment hold our note?  Names and descriptions are padded to the alignment of the
 * segment. */
static int has_note(const struct image *m, const ElfW(Phdr) *s)
{
    static const char owner[] = "Windrose";
    char text[NOTE_MAX];
    size_t n = s->p_filesz < sizeof text ? s->p_filesz : sizeof text, at = 0,
           pad = s->p_align == 8 ? 7 : 3;
    if (read_all(m->fd, text, n, s->p_offset))
        return 0;
    while (n - at >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) h;
        memcpy(&h, text + at, sizeof h);
        at += sizeof h;
        if (h.n_namesz > n - at)
            return 0;
        if (h.n_namesz == sizeof owner && !memcmp(text + at, owner, sizeof owner))
            return 1;
        size_t skip = ((size_t)h.n_namesz + 3) & ~(size_t)3;
        skip = (skip + h.n_descsz + pad) & ~pad;
        if (skip > n - at)
            return 0;
        at += skip;
    }
    return 0;
}

int elf_read(struct elf *e, int fd)
{
    struct image m = {.fd = fd};
    memset(e, 0, sizeof *e);
    int err = read_segments(&m);
    for (int i = 0; !err && i < m.head.e_phnum; i++) {
        const ElfW(Phdr) *s = &m.seg[i];
        e->dynamic |= s->p_type == PT_INTERP;
        e->windrose |= s->p_type == PT_NOTE && has_note(&m, s);
        if (s->p_type == PT_DYNAMIC)
            err = read_dynamic(&m, s, e);
    }
    if (err)
        elf_free(e);
    return err;
}

void elf_free(struct elf *e)
{
    for (int i = 0; i < e->needs; i++)
        free(e->need[i]);
    free(e->soname);
    free(e->rpath);
    free(e->runpath);
    memset(e, 0, sizeof *e);
}

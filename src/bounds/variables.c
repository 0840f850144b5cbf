/* variables.c - variables of the program, by the symbols of its file. Start with
 * bounds_variables_find(). They are read when the first buffer lies there. */
#define _GNU_SOURCE 1
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bounds/bounds_types.h"
#include "place/place.h"

/* --- the program ------------------------------------------------------------------------------ */

static void widen(uint64_t *lo, uint64_t *hi, uint64_t from, uint64_t to)
{
    *lo = *hi == 0 || from < *lo ? from : *lo;
    *hi = to > *hi ? to : *hi;
}

/* The program is the first. */
static int look(struct dl_phdr_info *info, size_t len, void *arg)
{
    struct bounds_variables *x = arg;
    (void)len;
    x->bias = info->dlpi_addr;
    x->headers = info->dlpi_phdr;
    x->nheaders = info->dlpi_phnum;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t from = x->bias + p->p_vaddr;
        if (p->p_type == PT_LOAD && (p->p_flags & PF_W))
            widen(&x->lo, &x->hi, from, from + p->p_memsz);
        else if (p->p_type == PT_LOAD)
            widen(&x->const_lo, &x->const_hi, from, from + p->p_memsz);
    }
    return 1;
}

void bounds_variables_init(struct bounds_variables *x)
{
    dl_iterate_phdr(look, x);
    if (x->const_hi > x->lo && x->const_lo < x->hi) /* in between: not told apart */
        x->const_lo = x->const_hi = 0;
}

void bounds_variables_free(struct bounds_variables *x)
{
    free(x->v);
    if (x->file)
        munmap((void *)(uintptr_t)x->file, x->file_len);
}

/* --- its file --------------------------------------------------------------------------------- */

/* n bytes at this offset, or NULL. */
static const void *part(const struct bounds_variables *x, uint64_t from, uint64_t n)
{
    return from <= x->file_len && n <= x->file_len - from ? x->file + from : NULL;
}

static const Elf64_Shdr *section(const struct bounds_variables *x, unsigned i)
{
    const Elf64_Ehdr *e = part(x, 0, sizeof *e);
    return e && i < e->e_shnum
               ? part(x, e->e_shoff + (uint64_t)i * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr))
               : NULL;
}

/* A string that ends within its section, or NULL. */
static const char *string(const struct bounds_variables *x, unsigned in, uint64_t at)
{
    const Elf64_Shdr *s = section(x, in);
    const char *all = s ? part(x, s->sh_offset, s->sh_size) : NULL;
    return all && at < s->sh_size && memchr(all + at, 0, s->sh_size - at) ? all + at : NULL;
}

static int is_data(const struct bounds_variables *x, unsigned i)
{
    static const char *const begins[] = {".data", ".bss", ".ldata", ".lbss"};
    const Elf64_Ehdr *e = part(x, 0, sizeof *e);
    const Elf64_Shdr *s = section(x, i);
    const char *name = s ? string(x, e->e_shstrndx, s->sh_name) : NULL;
    if (!name || (s->sh_flags & (SHF_ALLOC | SHF_WRITE | SHF_TLS)) != (SHF_ALLOC | SHF_WRITE))
        return 0;
    for (size_t k = 0; k < sizeof begins / sizeof *begins; k++)
        if (!strcmp(name, begins[k]))
            return 1;
    return 0;
}

static const Elf64_Shdr *symbols(const struct bounds_variables *x)
{
    const Elf64_Ehdr *e = part(x, 0, sizeof *e);
    const Elf64_Shdr *best = NULL;
    if (!e || memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_ident[EI_CLASS] != ELFCLASS64 ||
        e->e_shentsize != sizeof(Elf64_Shdr))
        return NULL;
    for (unsigned i = 0; i < e->e_shnum; i++) {
        const Elf64_Shdr *s = section(x, i);
        if (s && (s->sh_type == SHT_SYMTAB || (s->sh_type == SHT_DYNSYM && !best)))
            best = s;
    }
    return best && best->sh_entsize == sizeof(Elf64_Sym) ? best : NULL;
}

static int by_address(const void *one, const void *other)
{
    const struct bounds_variable *a = one, *b = other;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->end > b->end ? -1 : a->end < b->end;
}

/* Symbols of the same memory become one. */
static void join(struct bounds_variables *x)
{
    size_t n = 0;
    qsort(x->v, x->n, sizeof *x->v, by_address);
    for (size_t i = 0; i < x->n; i++) {
        if (n && x->v[i].at < x->v[n - 1].end) {
            if (x->v[i].end > x->v[n - 1].end)
                x->v[n - 1].end = x->v[i].end;
        } else {
            x->v[n++] = x->v[i];
        }
    }
    x->n = n;
}

static void take(struct bounds_variables *x, const Elf64_Shdr *table)
{
    const Elf64_Sym *s = part(x, table->sh_offset, table->sh_size);
    size_t all = s ? table->sh_size / sizeof *s : 0;
    x->is_stripped = table->sh_type == SHT_DYNSYM;
    if (!all || !(x->v = malloc(all * sizeof *x->v)))
        return;
    for (size_t i = 0; i < all; i++) {
        const char *name = string(x, table->sh_link, s[i].st_name);
        if (ELF64_ST_TYPE(s[i].st_info) != STT_OBJECT || !s[i].st_size || !name ||
            !is_data(x, s[i].st_shndx))
            continue;
        uint64_t at = x->bias + s[i].st_value;
        x->v[x->n++] = (struct bounds_variable){at, at + s[i].st_size, name};
    }
    join(x);
}

static void read_all(struct bounds_variables *x)
{
    struct stat st;
    const Elf64_Shdr *table;
    int fd = site_open_program(x->headers, x->nheaders);
    x->read = 1;
    if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p != MAP_FAILED) {
            x->file = p;
            x->file_len = (size_t)st.st_size;
        }
    }
    if (fd >= 0)
        close(fd);
    if (x->file && (table = symbols(x)) != NULL)
        take(x, table);
}

void bounds_variables_find(struct bounds_variables *x, uint64_t at, struct bounds_object *o)
{
    o->kind = BOUNDS_UNKNOWN;
    if (!x->read)
        read_all(x);
    size_t lo = 0, n = x->n;
    while (n > 0) { /* those before lo begin at `at` or below it */
        size_t half = n / 2;
        if (x->v[lo + half].at <= at) {
            lo += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    if (!lo || at >= x->v[lo - 1].end)
        return;
    const struct bounds_variable *v = &x->v[lo - 1];
    *o = (struct bounds_object){.kind = BOUNDS_VARIABLE, .at = v->at, .end = v->end,
                                .name = v->name,
                                .followed = x->is_stripped ||
                                            (lo < x->n && x->v[lo].at == v->end)};
}

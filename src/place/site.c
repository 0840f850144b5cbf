/* site.c - places in the program, as numbers that mean the same in all processes. Start with
 * site_here() and site_portable().
 *
 *   portable = hash of the module's path (16 bits) | call of a front, + 1 (16) | offset (32)
 *
 * Programs of one job lie at different addresses in each process. lines.c has the text. */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/sched.h"
#include "place/place_types.h"

enum { OFFSET = 32 /* bits of the offset in the module */, PARTS_MAX = 32 };
static const uint64_t OFFSET_MASK = (1ull << OFFSET) - 1;

struct module {
    uint64_t address, id;  /* what is looked for: one of them */
    uint64_t base;
    uint64_t from, to;     /* the part that holds the address */
    int found;
    char path[PLACE_PATH];
};

static uint64_t hash_of(const char *path)
{
    uint64_t h = hash_bytes(HASH_BYTES, path, strlen(path));
    return (h >> 32 ^ h) & 0xffff;
}

static int is_program(int fd, const ElfW(Phdr) *headers, unsigned n)
{
    ElfW(Ehdr) e;
    ElfW(Phdr) of_file[PARTS_MAX];
    size_t len = n * sizeof *headers;
    return n <= PARTS_MAX && pread(fd, &e, sizeof e, 0) == (ssize_t)sizeof e && e.e_phnum == n &&
           pread(fd, of_file, len, (off_t)e.e_phoff) == (ssize_t)len &&
           !memcmp(of_file, headers, len);
}

int site_open_program(const void *headers, unsigned n)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || is_program(fd, headers, n))
        return fd;
    close(fd);
    return -1;
}

/* Empty: not known. */
static void path_of(const struct dl_phdr_info *info, char *path)
{
    *path = 0;
    if (info->dlpi_name && *info->dlpi_name) {
        snprintf(path, PLACE_PATH, "%s", info->dlpi_name);
        return;
    }
    int fd = site_open_program(info->dlpi_phdr, info->dlpi_phnum);
    ssize_t n = fd >= 0 ? readlink("/proc/self/exe", path, PLACE_PATH - 1) : 0;
    path[n > 0 ? n : 0] = 0;
    if (fd >= 0)
        close(fd);
}

static int holds(const struct dl_phdr_info *info, struct module *module)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        uint64_t end = start + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type != PT_LOAD || module->address < start ||
            module->address >= end)
            continue;
        module->from = start;
        module->to = end;
        return 1;
    }
    return 0;
}

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct module *m = arg;
    (void)size;
    if (m->address && !holds(info, m))
        return 0;
    path_of(info, m->path);
    if (!m->address && hash_of(m->path) != m->id)
        return 0;
    m->id = hash_of(m->path);
    m->base = info->dlpi_addr;
    return m->found = 1;
}

static int count_loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(unsigned long long *)arg = info->dlpi_adds + info->dlpi_subs;
    return 1;
}

int place_open(void)
{
    struct place_room *k = proc->place ? proc->place : calloc(1, sizeof *k);
    if (!k)
        return -ENOMEM;
    if (!k->users++) {
        lines_init(k);
        k->codes = place_find_codes();
    }
    proc->place = k;
    return 0;
}

void place_close(void)
{
    struct place_room *k = proc->place;
    if (!k || --k->users)
        return;
    lines_drop(k);
    free(k);
    proc->place = NULL;
}

void site_renew(void)
{
    struct place_room *k = proc->place;
    unsigned long long now = 0;
    dl_iterate_phdr(count_loaded, &now);
    if (now != k->loaded)
        k->ranges = 0;
    k->loaded = now;
}

/* The module of an address, kept for the next one; NULL: it lies in none. */
static const struct place_range *range_of(uint64_t address)
{
    struct place_room *k = proc->place;
    struct module m = {.address = address};
    unsigned n = k->ranges < PLACE_MODULES ? k->ranges : PLACE_MODULES;
    for (unsigned i = 0; i < n; i++)
        if (address >= k->range[i].from && address < k->range[i].to)
            return &k->range[i];
    if (!address || !dl_iterate_phdr(look, &m) || !m.found)
        return NULL;
    struct place_range *r = &k->range[k->ranges++ % PLACE_MODULES];
    *r = (struct place_range){m.from, m.to, m.base, m.id, ""};
    memcpy(r->path, m.path, sizeof r->path);
    return r;
}

void site_module(uint64_t site, uint64_t *id, char *path, size_t len)
{
    const struct place_range *r = range_of(site_address(site));
    *id = r ? r->id : 0;
    snprintf(path, len, "%s", r ? r->path : "");
}

uint64_t site_portable(uint64_t site)
{
    uint64_t address = site_address(site);
    struct module m = {.address = address};
    uint64_t call = site >> SITE_OFFSET << OFFSET;
    if (!proc->place) /* nothing is kept */
        return address && dl_iterate_phdr(look, &m) && m.found
                   ? m.id << SITE_OFFSET | call | ((address - m.base) & OFFSET_MASK)
                   : 0;
    const struct place_range *r = range_of(address);
    return r ? r->id << SITE_OFFSET | call | ((address - r->base) & OFFSET_MASK) : 0;
}

const char *portable_front_call(uint64_t portable)
{
    return site_front_call(site_address(portable) >> OFFSET << SITE_OFFSET);
}

/* The program has no name here, so it is not ours. */
static int is_ours(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return !strncmp(name, "libmpi", 6) || !strncmp(name, "libshmem.", 9); /* Fortran's, too */
}

struct module_ours { /* that of an address */
    struct module m;
    int ours;
};

static int look_ours(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct module_ours *f = arg;
    (void)size;
    if (!holds(info, &f->m))
        return 0;
    f->ours = is_ours(info->dlpi_name ? info->dlpi_name : "");
    return 1;
}

/* With libmpi.a the frames of the library are in the program's own file. */
static int is_shared(void)
{
    struct module_ours f = {.m.address = (uint64_t)(uintptr_t)is_shared};
    return dl_iterate_phdr(look_ours, &f) && f.ours;
}

uint64_t site_here(void)
{
    enum { DEEP = 64 };
    void *frame[DEEP];
    if (sched || !is_shared()) /* simulated: one program, and stacks of its own */
        return 0;
    int n = backtrace(frame, DEEP);
    for (int i = 0; i < n; i++) {
        struct module_ours f = {.m.address = (uint64_t)(uintptr_t)frame[i]};
        if (dl_iterate_phdr(look_ours, &f) && !f.ours)
            return site_with_call(frame, i, f.m.address);
    }
    return 0;
}

void site_learn(uint64_t id, const char *path)
{
    struct place_room *k = proc->place;
    for (int i = 0; i < k->modules; i++)
        if (k->module[i].id == id)
            return;
    if (k->modules == PLACE_MODULES || !*path)
        return;
    k->module[k->modules].id = id;
    snprintf(k->module[k->modules++].path, PLACE_PATH, "%s", path);
}

int site_module_of(uint64_t portable, char *path, size_t len)
{
    const struct place_room *k = proc->place;
    struct module m = {.id = portable >> SITE_OFFSET};
    if (dl_iterate_phdr(look, &m) && m.found) {
        snprintf(path, len, "%s", m.path);
        return 1;
    }
    for (int i = 0; k && i < k->modules; i++)
        if (k->module[i].id == m.id) {
            snprintf(path, len, "%s", k->module[i].path);
            return 1;
        }
    return 0;
}

uint64_t site_offset(uint64_t portable)
{
    return portable & OFFSET_MASK;
}

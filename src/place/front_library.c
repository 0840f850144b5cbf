/* front_library.c - calls of a library above this one, as libshmem.so. Start with
 * site_of_program().
 *
 *   frames of this library | of the front: f .. pshmem_long_put | the program: address
 *
 * A site is the program's address, and above its 48 bits the number of the front's call + 1. The
 * call is that of the outermost frame of the front whose function has a name: no state is kept
 * for it, so it costs nothing until a place is asked for. */
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/sched.h"
#include "place/front_library.h"
#include "place/place_types.h"

static const struct place_front *known(void)
{
    const struct place_front *f = &windrose_front;
    return f && f->version == PLACE_FRONT_VERSION ? f : NULL;
}

const char *const volatile *site_front_waits(void)
{
    const struct place_front *f = known();
    return f ? f->waits : NULL;
}

/* --- names ------------------------------------------------------------------------------------ */

static int by_name(const void *key, const void *element)
{
    return strcmp(key, *(const char *const *)element);
}

static unsigned number_of(const struct place_front *front, const char *name)
{
    const char *const *at = bsearch(name, front->call, front->calls, sizeof *front->call, by_name);
    return at ? (unsigned)(at - front->call) + 1 : 0;
}

int site_front_has(const char *name)
{
    const struct place_front *f = known();
    return f && number_of(f, name);
}

/* The call whose function has this return address in it, + 1; 0: a function without a name. */
static unsigned call_of(const struct place_front *front, uint64_t address)
{
    Dl_info info;
    if (!dladdr((const void *)(uintptr_t)(address - 1), &info) || !info.dli_sname)
        return 0;
    unsigned n = number_of(front, info.dli_sname);
    return n || *info.dli_sname != 'p' ? n : number_of(front, info.dli_sname + 1);
}

/* Few places of the front call this library: each is looked up once. Threads may replace each
 * other's elements, which are words: relaxed. */
static unsigned call_known(const struct place_front *front, uint64_t address)
{
    struct place_room *k = proc->place;
    if (!k)
        return call_of(front, address);
    _Atomic uint64_t *at = &k->front_call[(address >> 2) % PLACE_CALLS];
    uint64_t kept = atomic_load_explicit(at, memory_order_relaxed);
    if (site_address(kept) == address)
        return (unsigned)(kept >> SITE_OFFSET);
    unsigned call = call_of(front, address);
    atomic_store_explicit(at, (uint64_t)call << SITE_OFFSET | address, memory_order_relaxed);
    return call;
}

const char *site_front_call(uint64_t site)
{
    const struct place_front *f = known();
    unsigned n = (unsigned)(site >> SITE_OFFSET);
    return f && n && n <= f->calls ? f->call[n - 1] : NULL;
}

const void *site_program_call(const void *site, const char **call)
{
    if (!known())
        return site;
    uint64_t outer = site_of_program((uint64_t)(uintptr_t)site);
    const char *name = site_front_call(outer);
    *call = name ? name : *call;
    return (const void *)(uintptr_t)site_address(outer);
}

/* --- code ------------------------------------------------------------------------------------- */

static int in_code(struct place_code code, uint64_t address)
{
    return address >= code.from && address < code.to;
}

struct place_at {
    uint64_t address;
    struct place_code code;
};

/* The module that holds the address. */
static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct place_at *s = arg;
    s->code = (struct place_code){UINT64_MAX, 0};
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uint64_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        uint64_t to = from + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        s->code.from = from < s->code.from ? from : s->code.from;
        s->code.to = to > s->code.to ? to : s->code.to;
    }
    return in_code(s->code, s->address);
}

static struct place_code code_of(const void *address)
{
    struct place_at s = {.address = (uint64_t)(uintptr_t)address};
    return dl_iterate_phdr(look, &s) ? s.code : (struct place_code){0, 0};
}

struct place_codes place_find_codes(void)
{
    const struct place_front *f = known();
    struct place_codes c = {code_of((const void *)(uintptr_t)place_find_codes), {0, 0}};
    if (f)
        c.front = code_of(f);
    return c;
}

static struct place_codes codes(void)
{
    return proc->place ? proc->place->codes : place_find_codes();
}

/* --- frames ----------------------------------------------------------------------------------- */

uint64_t site_with_call(void *const *frame, int n, uint64_t address)
{
    const struct place_front *f = known();
    unsigned call = 0;
    if (!f)
        return address;
    struct place_code code = codes().front;
    for (int i = 0; i < n; i++) {
        uint64_t at = (uint64_t)(uintptr_t)frame[i];
        unsigned found = in_code(code, at) ? call_known(f, at) : 0;
        call = found ? found : call;
    }
    return (uint64_t)call << SITE_OFFSET | address;
}

uint64_t site_of_program(uint64_t address)
{
    enum { DEEP = 24 };
    void *frame[DEEP];
    if (sched)
        return address;
    struct place_codes c = codes();
    if (!in_code(c.own, address) && !in_code(c.front, address))
        return address;
    int n = backtrace(frame, DEEP), i = 0;
    uint64_t at = address;
    while (i < n && (in_code(c.own, at = (uint64_t)(uintptr_t)frame[i]) || in_code(c.front, at)))
        i++;
    return i < n ? site_with_call(frame, i, at) : address;
}

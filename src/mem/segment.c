/* segment.c - shared segments: memfds that peers map by /proc/PID/fd (mem.h; doc/design/mem.md
 * M1 to M6). Start with mem_segment_create(). */
#include "mem/mem_types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/sched.h"
#include "base/vec.h"
#include "boot/boot.h"
#include "var/var.h"

enum {
    ASK_FROM = 4 << 20,    /* bytes; below this reading the limits costs more than the memory */
    KEEP_FROM = 256 << 10, /* bytes; smaller segments are not worth a descriptor */
    /* segments of this process with an open descriptor that are kept, at most */
    KEEP_FDS = 128,
    /* bytes; larger ones may be touched only in part, and a page mapped in advance costs 2 us and
     * more */
    POPULATE = 1 << 20,
    /* bytes reserved by one system call.  A signal undoes it as a whole: fewer each time, at
     * least */
    RESERVE_STEP = 64 << 20,
    /* ... what takes less time than lies between any two signals of a timer */
    RESERVE_LEAST = 64 << 10
};

size_t mem_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static int fallocate_all(int fd, size_t off, size_t len)
{
    size_t step = RESERVE_STEP;
    while (len) {
        size_t n = len < step ? len : step;
        if (fallocate(fd, 0, (off_t)off, (off_t)n) != 0) {
            if (errno == EINTR) {
                step = step > RESERVE_LEAST ? step / 2 : step;
                continue;
            }
            return errno == ENOSPC || errno == EFBIG ? -ENOMEM : -errno;
        }
        off += n;
        len -= n;
    }
    return 0;
}

static void seg_name(uint64_t seg_id, char *name, size_t len)
{
    snprintf(name, len, "windrose.%016llx", (unsigned long long)seg_id);
}

/* --- the segments of this process, sorted by address ------------------------------- */

/* Index of the first segment that starts above p. */
static size_t seg_above(const struct mem *m, const void *p)
{
    size_t lo = 0, hi = m->nsegs;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if ((uintptr_t)m->segs[mid]->pub.base <= (uintptr_t)p)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static int seg_enter(struct mem *m, struct mem_seg *s)
{
    if (!VEC_FITS(m->segs, m->room, m->nsegs + 1, 16))
        return -ENOMEM;
    size_t i = seg_above(m, s->pub.base);
    memmove(m->segs + i + 1, m->segs + i, (m->nsegs - i) * sizeof *m->segs);
    m->segs[i] = s;
    m->nsegs++;
    return 0;
}

static void seg_leave(struct mem *m, struct mem_seg *s)
{
    size_t i = seg_above(m, s->pub.base);
    if (i == 0 || m->segs[i - 1] != s)
        return;
    memmove(m->segs + i - 1, m->segs + i, (m->nsegs - i) * sizeof *m->segs);
    m->nsegs--;
}

struct mem_segment *mem_segment_of(const void *p, size_t len)
{
    const struct mem *m = proc->mem;
    size_t i = m ? seg_above(m, p) : 0;
    if (i == 0)
        return NULL;
    struct mem_segment *s = &m->segs[i - 1]->pub;
    size_t off = (size_t)((const char *)p - (const char *)s->base);
    return off <= s->size && len <= s->size - off ? s : NULL;
}

struct mem_segment *mem_moved_near(const void *p, size_t len)
{
    const struct mem *m = proc->mem;
    uintptr_t from = (uintptr_t)p;
    size_t i = m ? seg_above(m, p) : 0;
    for (i -= i > 0; m && i < m->nsegs; i++) {
        struct mem_segment *s = &m->segs[i]->pub;
        uintptr_t base = (uintptr_t)s->base;
        if (base >= from && base - from >= len)
            return NULL;
        if (s->moved && (base >= from || from - base < s->size))
            return s;
    }
    return NULL;
}

void mem_segment_rebase(struct mem_segment *seg, void *base)
{
    struct mem_seg *s = (struct mem_seg *)seg;
    seg_leave(proc->mem, s);
    seg->base = base;
    seg_enter(proc->mem, s); /* there is room */
}

void mem_segment_forget(struct mem_segment *seg)
{
    seg_leave(proc->mem, (struct mem_seg *)seg);
    close(seg->fd);
    free(seg);
}

/* --- create ---------------------------------------------------------------------- */

int mem_may_take(size_t size)
{
    return size < ASK_FROM || size <= mem_available();
}

/* A memory file counts against the limit of file sizes: a process that exceeds it gets SIGXFSZ. */
static int file_too_large(size_t size)
{
    struct rlimit file;
    return getrlimit(RLIMIT_FSIZE, &file) == 0 && file.rlim_cur != RLIM_INFINITY &&
           size > file.rlim_cur;
}

int mem_file_limit(size_t size)
{
    size_t page = mem_page();
    return file_too_large((size + page - 1) / page * page) ? -EFBIG : 0;
}

/* Whether `size` bytes may be requested: beyond these limits the kernel kills instead of
 * refusing. */
static int may_take(size_t size, unsigned flags)
{
    if (file_too_large(size))
        return 0;
    return flags & (MEM_NO_RESERVE | MEM_LARGE) || mem_may_take(size);
}

/* *size: rounded up to whole pages, or to whole large ones for MEM_LARGE. */
static int memfd_open(size_t *size, unsigned flags, uint64_t seg_id)
{
    char name[40];
    struct stat st;
    seg_name(seg_id, name, sizeof name);
    int fd = memfd_create(name,
                          MFD_CLOEXEC | MFD_ALLOW_SEALING | (flags & MEM_LARGE ? MFD_HUGETLB : 0));
    if (fd < 0)
        return flags & MEM_LARGE ? -ENOMEM : -errno;
    int err = fstat(fd, &st) ? -errno : 0;
    size_t page = flags & MEM_LARGE && !err ? (size_t)st.st_blksize : 1;
    if (!err && *size > (size_t)INT64_MAX - page)
        err = -ENOMEM;
    else if (!err)
        *size = (*size + page - 1) / page * page;
    if (!err && ftruncate(fd, (off_t)*size))
        err = -errno;
    if (!err && !(flags & (MEM_NO_RESERVE | MEM_LAZY)))
        err = fallocate_all(fd, 0, *size);
    /* Sealed: no process can cut it and cause SIGBUS in the others. */
    if (!err && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        err = -errno;
    if (!err)
        return fd;
    close(fd);
    return err == -EFBIG || err == -EINVAL ? -ENOMEM : err;
}

static int seg_map(struct mem_seg *s, int fd, int populate)
{
    void *base = mmap(NULL, s->key.size, PROT_READ | PROT_WRITE,
                      MAP_SHARED | (populate ? MAP_POPULATE : 0), fd, 0);
    if (base == MAP_FAILED)
        return -errno;
    s->pub.base = base;
    s->pub.size = s->key.size;
    return 0;
}

/* --- kept for later -----------------------------------------------------------------
 * Programs free and make windows of the same size over and over (a global array per step).  The
 * system needs 5 to 20 us for each page that is mapped and freed.  Peers that had the old segment
 * mapped have ended their last epoch on it. */

static void seg_free(struct mem_seg *s)
{
    mem_pages_go(&s->pub, 0, s->pub.size);
    if (s->pub.fd >= 0)
        close(s->pub.fd);
    munmap(s->pub.base, s->pub.size);
    free(s);
}

static struct mem_seg *cached_take(struct mem *m, int i)
{
    struct mem_seg *s = m->kept[i];
    m->kept_bytes -= s->pub.size;
    memmove(m->kept + i, m->kept + i + 1, (size_t)(--m->nkept - i) * sizeof *m->kept);
    return s;
}

void mem_cached_free(struct mem *m)
{
    while (m->nkept)
        seg_free(cached_take(m, 0));
}

/* After a failure epochs may end, and memory be freed, while living peers are still in their
 * epochs.  Their late stores must not reach the memory of the next owner. */
static int may_keep(const struct mem *m, const struct mem_seg *s)
{
    int reusable = s->pub.owner && !(s->flags & (MEM_NO_RESERVE | MEM_ONCE | MEM_LARGE));
    int pays = s->pub.size >= KEEP_FROM && s->pub.size <= (size_t)cvar.mem_keep;
    return m && !boot_failed_count() && reusable && pays &&
           m->nsegs + (size_t)m->nkept < KEEP_FDS;
}

static void cached_add(struct mem *m, struct mem_seg *s)
{
    while (m->nkept == MEM_CACHED || m->kept_bytes + s->pub.size > (size_t)cvar.mem_keep)
        seg_free(cached_take(m, 0));
    m->kept[m->nkept++] = s;
    m->kept_bytes += s->pub.size;
}

/* A kept segment of this size, the last one dropped.  NULL: none, or some of its pages are missing
 * and there is no memory for them. */
static struct mem_seg *seg_again(struct mem *m, size_t size, unsigned flags)
{
    /* Not for an arena: what was promised about pages and key of the kept one would stay. */
    int i = m && !(flags & (MEM_NO_RESERVE | MEM_LARGE | MEM_LASTS)) ? m->nkept - 1 : -1;
    while (i >= 0 && m->kept[i]->pub.size != size)
        i--;
    if (i < 0)
        return NULL;
    struct mem_seg *s = cached_take(m, i);
    int need = !(flags & MEM_LAZY) && !s->reserved;
    if ((need && (!may_take(size, flags) || fallocate_all(s->pub.fd, 0, size) != 0)) ||
        seg_enter(m, s) != 0) {
        seg_free(s);
        return NULL;
    }
    s->flags = flags;
    if (!(flags & MEM_LAZY)) {
        s->reserved = 1;
        memset(s->pub.base, 0, size);
    }
    return s;
}

static int seg_new(size_t size, unsigned flags, struct mem_segment **seg)
{
    if (!may_take(size, flags))
        return -ENOMEM;
    struct mem_seg *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    s->flags = flags;
    s->reserved = !(flags & (MEM_NO_RESERVE | MEM_LAZY));
    s->pub.owner = 1;
    uint64_t seg_id = random_bits();
    int err = s->pub.fd = memfd_open(&size, flags, seg_id);
    s->key = (struct mem_key){
        .pid = (uint32_t)getpid(), .fd = s->pub.fd, .size = size, .seg_id = seg_id,
        .lasts = (flags & MEM_LASTS) != 0, .pid_ns = proc->mem->pid_ns};
    if (err < 0)
        goto fail;
    err = seg_map(s, s->pub.fd, s->reserved && size <= POPULATE);
    if (err)
        goto fail_fd;
    err = seg_enter(proc->mem, s);
    if (err)
        goto fail_map;
    *seg = &s->pub;
    return 0;
fail_map:
    munmap(s->pub.base, size);
fail_fd:
    close(s->pub.fd);
fail:
    free(s);
    return err;
}

/* Kept segments and idle parts of arenas hold memory and descriptors.  1: they may have been what
 * was missing. */
static int gives_back(struct mem *m, int err)
{
    if (!m || (err != -ENOMEM && err != -EMFILE && err != -ENFILE))
        return 0;
    int kept = m->nkept;
    mem_cached_free(m);
    return mem_arenas_trim(m) || kept;
}

int mem_segment_create(size_t size, unsigned flags, struct mem_segment **seg)
{
    struct mem *m = proc->mem;
    size_t page = mem_page();
    if (size > (size_t)INT64_MAX - page)
        return -ENOMEM;
    size = size ? (size + page - 1) / page * page : page;
    struct mem_seg *s = seg_again(m, size, flags);
    if (s) {
        *seg = &s->pub;
        return 0;
    }
    int err = seg_new(size, flags, seg);
    return gives_back(m, err) ? seg_new(size, flags, seg) : err;
}

/* --- attach ---------------------------------------------------------------------- */

/* Whether the link (an entry of some /proc/x/fd) is the memfd of this id. */
static int link_matches(const char *link, uint64_t seg_id)
{
    char name[40], want[64], target[96];
    seg_name(seg_id, name, sizeof name);
    snprintf(want, sizeof want, "/memfd:%s", name);
    ssize_t n = readlink(link, target, sizeof target - 1);
    if (n < 0)
        return -(errno == ENOENT || errno == ESRCH ? ESTALE : errno == EACCES ? EPERM : errno);
    target[n] = '\0';
    return strncmp(target, want, strlen(want)) ? -ESTALE : 0;
}

int mem_descriptor_is(int fd, uint64_t seg_id)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return link_matches(link, seg_id);
}

/* A program may use up its descriptors before its first message to a peer, and the peer waits for
 * an answer.  An attach needs one descriptor for a moment, so one is held in reserve.  It has a
 * file of its own, which helps against a full table of the system, too. */
void mem_spare_fill(struct mem *m)
{
    if (m && m->spare_fd < 0)
        m->spare_fd = eventfd(0, EFD_CLOEXEC);
}

/* 0: there was none. */
static int spare_take(struct mem *m)
{
    if (!m || m->spare_fd < 0)
        return 0;
    close(m->spare_fd);
    m->spare_fd = -1;
    return 1;
}

static int open_anyway(const char *path, int flags)
{
    int fd = open(path, flags);
    if (fd >= 0 || (errno != EMFILE && errno != ENFILE) || !spare_take(proc->mem))
        return fd;
    return open(path, flags);
}

static void close_again(int fd)
{
    if (fd >= 0)
        close(fd);
    mem_spare_fill(proc->mem);
}

/* Opened through /proc.  Check it before: opening another user's pipe or device may have side
 * effects. */
static int proc_open(const struct mem_key *key)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/fd/%d", key->pid, key->fd);
    int err = link_matches(path, key->seg_id);
    if (err)
        return err;
    int fd = open_anyway(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0)
        return fd;
    return -(errno == ENOENT || errno == ESRCH || errno == ENXIO ? ESTALE
             : errno == EACCES                                   ? EPERM
                                                                 : errno);
}

/* The owner's memfd; close_again() closes it.  Check it after: the number may have been reused for
 * another file in between. */
static int key_open(const struct mem_key *key, uint64_t wait_ns)
{
    struct stat st;
    int fd = key->pid_ns == proc->mem->pid_ns ? proc_open(key) : -EPERM;
    if (fd == -EPERM && proc->mem->door) {
        fd = mem_door_ask(key, wait_ns);
        if (fd == -EMFILE && spare_take(proc->mem))
            fd = mem_door_ask(key, wait_ns);
    }
    if (fd < 0)
        return fd;
    int err = mem_descriptor_is(fd, key->seg_id);
    if (!err && (fstat(fd, &st) != 0 || (uint64_t)st.st_size < key->size))
        err = -ESTALE;
    if (!err)
        return fd;
    close_again(fd);
    return err;
}

static int attach(const struct mem_key *key, uint64_t wait_ns, struct mem_segment **seg)
{
    if (key->size == 0 || key->size % mem_page() || key->size > INT64_MAX || key->fd < 0)
        return -EINVAL;
    struct mem_seg *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    s->key = *key;
    s->pub.fd = -1;
    int fd = key_open(key, wait_ns);
    int err = fd < 0 ? fd : seg_map(s, fd, 0);
    close_again(fd);
    if (err) {
        free(s);
        return err;
    }
    *seg = &s->pub;
    return 0;
}

int mem_segment_attach(const struct mem_key *key, struct mem_segment **seg)
{
    return attach(key, MEM_DOOR_LONG_NS, seg);
}

int mem_segment_attach_soon(const struct mem_key *key, struct mem_segment **seg)
{
    return attach(key, MEM_DOOR_SOON_NS, seg);
}

int mem_segment_attach_again(const struct mem_key *key, struct mem_segment **seg)
{
    struct mem *m = proc->mem;
    struct mem_seg *s = map_get(&m->attached, key->seg_id);
    if (s && s->key.pid == key->pid && s->key.fd == key->fd && s->key.size == key->size) {
        m->unused -= !s->refs;
        s->refs++;
        *seg = &s->pub;
        return 0;
    }
    int err = mem_segment_attach(key, seg);
    if (!err && !s && map_put(&m->attached, key->seg_id, *seg) == 0)
        ((struct mem_seg *)*seg)->shared = ((struct mem_seg *)*seg)->refs = 1;
    return err;
}

void mem_unused_free(struct mem *m, unsigned most)
{
    struct map_entry *e;
    for (size_t at = 0; m->unused > most && (e = map_next(&m->attached, &at)) != NULL;) {
        struct mem_seg *s = e->value;
        if (s->refs)
            continue;
        map_del(&m->attached, s->key.seg_id);
        m->unused--;
        seg_free(s);
        at = 0; /* the map has changed */
    }
}

/* One use of a shared mapping ends.  1: it goes. */
static int use_ends(struct mem *m, struct mem_seg *s)
{
    if (--s->refs)
        return 0;
    if (m && s->key.lasts) {
        m->unused++;
        mem_unused_free(m, MEM_UNUSED);
        return 0;
    }
    if (m)
        map_del(&m->attached, s->key.seg_id);
    return 1;
}

int mem_segment_align(struct mem_segment *seg, size_t align)
{
    if (!((uintptr_t)seg->base & (align - 1)))
        return 0;
    if (seg->size > (size_t)INT64_MAX - align)
        return -ENOMEM;
    /* Address space alone, which the segment then replaces. */
    size_t room = seg->size + align;
    char *all = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return -errno;
    size_t before = -(uintptr_t)all & (align - 1), behind = room - before - seg->size;
    if (seg->owner)
        mem_pages_go(seg, 0, seg->size);
    if (mremap(seg->base, seg->size, seg->size, MREMAP_MAYMOVE | MREMAP_FIXED, all + before) ==
        MAP_FAILED) {
        int err = -errno;
        munmap(all, room);
        return err;
    }
    if (before)
        munmap(all, before);
    if (behind)
        munmap(all + before + seg->size, behind);
    if (seg->owner)
        mem_segment_rebase(seg, all + before);
    else
        seg->base = all + before;
    return 0;
}

static int reserve_part(struct mem_segment *seg, size_t off, size_t len)
{
    struct mem_seg *s = (struct mem_seg *)seg;
    if (off > seg->size || len > seg->size - off)
        return -EINVAL;
    if (s->reserved)
        return 0;
    if (len >= ASK_FROM && len > mem_available())
        return -ENOMEM;
    int fd = seg->owner ? seg->fd : key_open(&s->key, MEM_DOOR_LONG_NS);
    if (fd < 0 && !seg->owner)
        mem_spare_fill(proc->mem);
    if (fd < 0)
        return seg->owner ? -EBADF : fd;
    int err = fallocate_all(fd, off, len);
    if (!seg->owner)
        close_again(fd);
    else if (!err && off == 0 && len == seg->size)
        s->reserved = 1;
    return err;
}

int mem_segment_reserve(struct mem_segment *seg, size_t off, size_t len)
{
    int err = reserve_part(seg, off, len);
    return gives_back(proc->mem, err) ? reserve_part(seg, off, len) : err;
}

void mem_segment_key(const struct mem_segment *seg, struct mem_key *key)
{
    *key = ((const struct mem_seg *)seg)->key;
}

void mem_segment_shut(struct mem_segment *seg)
{
    if (seg->fd < 0 || may_keep(proc->mem, (struct mem_seg *)seg))
        return;
    close(seg->fd);
    seg->fd = -1;
}

void mem_segment_drop(struct mem_segment *seg)
{
    if (!seg)
        return;
    struct mem_seg *s = (struct mem_seg *)seg;
    if (s->shared && !use_ends(proc->mem, s))
        return;
    if (seg->owner && proc->mem)
        seg_leave(proc->mem, s);
    if (seg->fd >= 0 && may_keep(proc->mem, s))
        cached_add(proc->mem, s);
    else
        seg_free(s);
}

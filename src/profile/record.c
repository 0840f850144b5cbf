/* record.c - the memory of a profile: that which mpiexec made for this rank and keeps, or plain
 * memory. */
#include "profile/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/jobpage.h"
#include "base/log.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "place/place.h"
#include "var/var.h"

static int add_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct record *r = arg;
    char path[RECORD_PATH] = "";
    (void)size;
    if (info->dlpi_name && *info->dlpi_name) {
        snprintf(path, sizeof path, "%s", info->dlpi_name);
    } else {
        int fd = site_open_program(info->dlpi_phdr, info->dlpi_phnum);
        ssize_t n = fd < 0 ? -1 : readlink("/proc/self/exe", path, sizeof path - 1);
        if (fd >= 0)
            close(fd);
        if (n < 0)
            return 0;
    }
    for (int i = 0; i < info->dlpi_phnum && r->segments < RECORD_SEGMENTS; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || p->p_flags & PF_W || *path != '/')
            continue;
        struct record_segment *s = &r->segment[r->segments++];
        s->from = info->dlpi_addr + p->p_vaddr;
        s->to = s->from + p->p_filesz;
        s->base = info->dlpi_addr;
        s->in_file = p->p_offset;
        memcpy(s->path, path, sizeof path);
    }
    return 0;
}

/* The memory that mpiexec has made for this rank and keeps; -1: there is none. A descriptor of that
 * number may be another file, so its name is asked for. */
static int given_memory(void)
{
    const char *text = var_env_get(JOB_RECORD_ENV);
    char own[256], link[64], name[300], *end;
    if (!text || sched || boot_first())
        return -1;
    long fd = strtol(text, &end, 10);
    if (end == text || *end || fd < 0 || fd > INT_MAX)
        return -1;
    snprintf(own, sizeof own, "/memfd:" JOB_RECORD_NAME " (deleted)", boot_job_id(), boot_rank());
    snprintf(link, sizeof link, "/proc/self/fd/%ld", fd);
    ssize_t n = readlink(link, name, sizeof name - 1);
    name[n > 0 ? n : 0] = 0;
    return strcmp(name, own) ? -1 : (int)fd;
}

/* Reserve all of it now: a lack of memory that shows later would be SIGBUS. */
static int reserve(int fd, size_t size)
{
    int err = mem_file_limit(size);
    if (!err && ftruncate(fd, 0)) /* a process before this one in the rank may have used it */
        err = -errno;
    return err ? err : -posix_fallocate(fd, 0, (off_t)size);
}

static int open_memory(size_t size)
{
    struct record_head head = {0};
    int fd = given_memory();
    if (fd < 0 || (pread(fd, &head, sizeof head, 0) > 0 && !head.over))
        return -1;
    fcntl(fd, F_SETFD, FD_CLOEXEC); /* programs that this one starts are not ranks */
    int err = reserve(fd, size);
    if (!err)
        return fd;
    log_warn("what this rank does is lost if the job ends early: no memory that outlives it (%s)",
             strerror(-err));
    int ignored = ftruncate(fd, 0); /* a record in part is none */
    (void)ignored;
    return -1;
}

struct record *record_open(int traces, uint64_t room)
{
    long page = sysconf(_SC_PAGESIZE), cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t head = sizeof(struct record) + profile_calls_bytes();
    size_t at = (head + (size_t)page - 1) & ~((size_t)page - 1);
    size_t size = at + (traces ? (size_t)room * sizeof(struct trace_event) : 0);
    int fd = open_memory(size);
    struct record *r = mmap(NULL, size, PROT_READ | PROT_WRITE,
                            fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
    if (r == MAP_FAILED)
        return NULL;
    r->head = (struct record_head){.bytes = sizeof *r, .rank = boot_rank()};
    r->ranks = boot_size();
    r->cores = cores > 0 ? (int32_t)cores : 1;
    r->host_ranks = boot_host_processes();
    r->traces = traces;
    r->reports = cvar.report;
    snprintf(r->program, sizeof r->program, "%s", program_invocation_short_name);
    r->size = size;
    r->ring_at = at;
    if (fd >= 0)
        dl_iterate_phdr(add_module, r);
    r->head.magic = RECORD_MAGIC;
    return r;
}

void record_close(struct record *r)
{
    /* mpiexec keeps the memory: what is not needed goes back. */
    if (r->segments && r->head.over && r->size > r->ring_at)
        madvise((char *)r + r->ring_at, r->size - r->ring_at, MADV_REMOVE);
    munmap(r, r->size);
}

void record_over(struct record *r)
{
    int fd = r->segments ? -1 : given_memory();
    r->head.over = 1;
    if (fd >= 0 && pwrite(fd, &r->head, sizeof r->head, 0) < 0)
        log_warn("the memory of this rank cannot be written: %s", strerror(errno));
}

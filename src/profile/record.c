/* record.c - the memory of a profile: a file of the folder that mpiexec made, or plain memory. */
#include "profile/record.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sched.h"
#include "boot/boot.h"

static int add_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct record *r = arg;
    char path[RECORD_PATH] = "";
    (void)size;
    if (info->dlpi_name && *info->dlpi_name)
        snprintf(path, sizeof path, "%s", info->dlpi_name);
    else if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        return 0;
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

/* The file in the folder of the job; -1: there is none, or it cannot be. */
static int open_file(size_t size)
{
    static const char *const roots[] = {"/dev/shm", "/tmp"};
    char path[512];
    if (sched || boot_first())
        return -1;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s/%d", roots[i], boot_job_id(), boot_rank());
        int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
            continue;
        /* Memory that the file system has not is asked for now: later it would be a signal. */
        if (!posix_fallocate(fd, 0, (off_t)size))
            return fd;
        log_warn("what this rank does does not fit into %s: it is lost if the job ends early",
                 roots[i]);
        unlink(path);
        close(fd);
    }
    return -1;
}

struct record *record_open(int traces, uint64_t room)
{
    long page = sysconf(_SC_PAGESIZE), cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t head = sizeof(struct record) + profile_calls_bytes();
    size_t at = (head + (size_t)page - 1) & ~((size_t)page - 1);
    size_t size = at + (traces ? (size_t)room * sizeof(struct trace_event) : 0);
    int fd = open_file(size);
    struct record *r = mmap(NULL, size, PROT_READ | PROT_WRITE,
                            fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
    if (fd >= 0)
        close(fd);
    if (r == MAP_FAILED)
        return NULL;
    r->bytes = sizeof *r;
    r->rank = boot_rank();
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
    r->magic = RECORD_MAGIC;
    return r;
}

void record_close(struct record *r)
{
    munmap(r, r->size);
}

void record_over(struct record *r)
{
    static const char *const roots[] = {"/dev/shm", "/tmp"};
    char path[512];
    for (int i = 0; i < 2 && r->segments; i++) {
        snprintf(path, sizeof path, "%s/%s/%d", roots[i], boot_job_id(), r->rank);
        unlink(path);
    }
}

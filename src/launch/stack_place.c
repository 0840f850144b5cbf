/* stack_place.c - the place of a process in its program: its registers, and the first return
 * address on its stack that lies in the program behind a call (stack_place.h). No tables for
 * unwinding are read, so what was compiled without them is found, too; a stale word may mislead.
 * Start with stack_place(). */
#include "launch/stack_place.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sched.h"

enum { STACK_WORDS = 8192, PAGE = 4096, RANGES_MAX = 16, CALL_BYTES = 8 };

struct registers {
    uint64_t pc, sp, link; /* link: the return address of a function that calls none; 0: none */
};

/* Where the code of the program lies. */
struct code {
    int n;
    struct {
        uint64_t from, to;
    } range[RANGES_MAX];
};

static int read_bytes(pid_t pid, uint64_t at, void *to, size_t n)
{
    struct iovec here = {.iov_base = to, .iov_len = n},
                 there = {.iov_base = (void *)(uintptr_t)at, .iov_len = n};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n ? 0 : -EFAULT;
}

static void code_of(pid_t pid, struct code *c)
{
    char name[64], exe[PATH_MAX], line[PATH_MAX + 128], access[8];
    unsigned long long from, to;
    c->n = 0;
    snprintf(name, sizeof name, "/proc/%ld/exe", (long)pid);
    ssize_t n = readlink(name, exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = 0;
    snprintf(name, sizeof name, "/proc/%ld/maps", (long)pid);
    FILE *f = n > 0 ? fopen(name, "re") : NULL;
    while (f && c->n < RANGES_MAX && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *path = strchr(line, '/');
        if (!path || strcmp(path, exe) || sscanf(line, "%llx-%llx %7s", &from, &to, access) != 3 ||
            !strchr(access, 'x'))
            continue;
        c->range[c->n].from = from;
        c->range[c->n++].to = to;
    }
    if (f)
        fclose(f);
}

static int in_code(const struct code *c, uint64_t at)
{
    for (int i = 0; i < c->n; i++)
        if (at >= c->range[i].from && at < c->range[i].to)
            return 1;
    return 0;
}

/* --- registers -------------------------------------------------------------------------------- */

/* Of a thread that is stopped by us. */
static int stopped_registers(pid_t pid, struct registers *r)
{
#if defined __x86_64__
    struct user_regs_struct u;
#elif defined __aarch64__
    struct user_pt_regs u;
#else
    elf_gregset_t u;
#endif
    struct iovec to = {&u, sizeof u};
    if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &to))
        return -errno;
#if defined __x86_64__
    *r = (struct registers){u.rip, u.rsp, 0};
#elif defined __aarch64__
    *r = (struct registers){u.pc, u.sp, u.regs[30]};
#else
    *r = (struct registers){0};
#endif
    return r->sp ? 0 : -ENOSYS;
}

void stack_place_let_go(pid_t pid, int stop)
{
    /* A stop by PTRACE_INTERRUPT, or of its group, has an event. A signal has none: it has not been
     * delivered yet. */
    int sig = stop >> 16 ? 0 : WSTOPSIG(stop);
    ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)sig);
}

/* Stop a thread that runs, and let it go on. Only its stop is waited for: its end is for others.
 * One that has not stopped in time stays ours; it is let go when its stop is reported
 * (job_reap()). */
static int stop_for_registers(pid_t pid, uint64_t until, struct registers *r)
{
    if (time_now() >= until)
        return -ETIMEDOUT;
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL))
        return -errno;
    int err = ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) ? -errno : 0;
    siginfo_t s = {0};
    while (!err && !s.si_pid) {
        if (waitid(P_PID, (id_t)pid, &s, WSTOPPED | WNOHANG | __WALL))
            return -errno;
        if (!s.si_pid && time_now() >= until)
            return -ETIMEDOUT;
        if (!s.si_pid) /* it may wait for a core */
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    if (!err)
        err = stopped_registers(pid, r);
    stack_place_let_go(pid, s.si_status << 8 | 0x7f); /* as waitpid() has it */
    return err;
}

static int registers_of(pid_t pid, uint64_t until, struct registers *r)
{
    char name[64], line[256] = "", *word = line;
    unsigned long long sp = 0, pc = 0;
    snprintf(name, sizeof name, "/proc/%ld/syscall", (long)pid);
    FILE *f = fopen(name, "re");
    int got = f && fgets(line, sizeof line, f);
    if (f)
        fclose(f);
    if (!got)
        return -EACCES;
    if (!strncmp(line, "running", 7))
        return stop_for_registers(pid, until, r);
    /* The last two words: stack pointer and program counter. */
    int words = 0;
    for (char *c = line; *c; c++)
        words += *c == ' ';
    for (int i = 0; i < words - 1 && word; i++)
        word = strchr(word, ' ') + 1;
    if (words < 2 || sscanf(word, "%llx %llx", &sp, &pc) != 2 || !sp)
        return -EINVAL;
    *r = (struct registers){pc, sp, 0};
    return 0;
}

/* --- the stack -------------------------------------------------------------------------------- */

/* Is the instruction before the address a call? */
static int after_call(pid_t pid, uint64_t at)
{
    unsigned char b[CALL_BYTES];
    if (read_bytes(pid, at - sizeof b, b, sizeof b))
        return 0;
    const unsigned char *end = b + sizeof b;
#if defined __aarch64__
    uint32_t w;
    memcpy(&w, end - 4, 4);
    return w >> 26 == 0x25 || (w & 0xfffffc1f) == 0xd63f0000; /* bl, blr */
#else
    if (end[-5] == 0xe8) /* call by a distance */
        return 1;
    for (int n = 2; n <= 7; n++) /* call by a register or memory */
        if (end[-n] == 0xff && (end[-n + 1] & 0x38) == 0x10)
            return 1;
    return 0;
#endif
}

uint64_t stack_place(pid_t pid, uint64_t until)
{
    struct registers r = {0};
    struct code c;
    uint64_t word[PAGE / sizeof(uint64_t)];
    code_of(pid, &c);
    if (!c.n || registers_of(pid, until, &r))
        return 0;
    if (in_code(&c, r.pc))
        return r.pc + 1;
    if (r.link && in_code(&c, r.link) && after_call(pid, r.link))
        return r.link;
    uint64_t at = r.sp & ~(uint64_t)7;
    for (size_t seen = 0; seen < STACK_WORDS;) {
        size_t n = (PAGE - at % PAGE) / sizeof *word;
        if (read_bytes(pid, at, word, n * sizeof *word))
            return 0;
        for (size_t i = 0; i < n; i++)
            if (in_code(&c, word[i]) && after_call(pid, word[i]))
                return word[i];
        seen += n;
        at += n * sizeof *word;
    }
    return 0;
}

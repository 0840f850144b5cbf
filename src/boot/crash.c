/* crash.c - a signal that ends the process by its own fault: rank, signal and backtrace on standard
 * error, then the signal takes its course. Start with on_crash().
 *
 *   SIGSEGV ..  -> handler, on its own stack -> header, frames -> default action: core, status 139
 *
 * A program may crash anywhere, with any lock held. So the handler only calls write, open, read,
 * poll, clone and the unwinder of libgcc. That allocates nothing and takes no lock (glibc 2.35 and
 * later). The handler is set only where the program has none of its own. It runs in a crash only,
 * and so interrupts no system call. Names and lines come from addr2line of binutils, where it is
 * installed. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot_types.h"
#include "var/var.h"

enum {
    FRAMES_MAX = 32,
    PATH_BYTES = 512,
    LINE_BYTES = 1024,
    STACK_BYTES = 128 << 10,
    LOOKUP_MS = 3000, /* all runs of addr2line together */
};

static const struct {
    int sig;
    const char *name;
} crashes[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
    {SIGILL, "SIGILL"},   {SIGABRT, "SIGABRT"},
};
enum { CRASHES = sizeof crashes / sizeof *crashes };

struct frame {
    uintptr_t pc;
    /* as addr2line counts: from the object's base; absolute in a fixed program */
    uintptr_t in_file;
    int object;        /* in crash.object; -1: unknown */
};

struct object {
    char path[PATH_BYTES];
    uintptr_t base;
    int fixed; /* not relocatable: addresses are absolute */
};

struct crash {
    atomic_int thread; /* the one that reports; 0: none */
    int ours[CRASHES];
    void *stack; /* NULL: the program had an alternate stack itself */
    int frames, objects;
    struct frame frame[FRAMES_MAX];
    struct object object[FRAMES_MAX];
    uint64_t lookup_end; /* ns */
};

/* --- text without stdio --------------------------------------------------------- */

struct text {
    size_t n;
    char s[LINE_BYTES];
};

static void add(struct text *t, const char *s)
{
    while (*s && t->n < sizeof t->s - 1)
        t->s[t->n++] = *s++;
}

static void add_number(struct text *t, uint64_t v, unsigned base)
{
    char digits[20];
    int n = 0;
    do
        digits[n++] = "0123456789abcdef"[v % base];
    while (v /= base);
    while (n && t->n < sizeof t->s - 1)
        t->s[t->n++] = digits[--n];
}

static void add_address(struct text *t, uint64_t v)
{
    add(t, "0x");
    add_number(t, v, 16);
}

static void begin(struct text *t)
{
    t->n = 0;
    add(t, "rank ");
    add_number(t, (uint64_t)(proc->boot->rank < 0 ? 0 : proc->boot->rank), 10);
    add(t, ": ");
}

static void end(struct text *t)
{
    t->s[t->n++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, t->s, t->n);
    (void)ignored;
}

static void header(int index, const siginfo_t *si)
{
    struct text t;
    const char *call = proc->call;
    begin(&t);
    add(&t, "process ");
    add_number(&t, (uint64_t)getpid(), 10);
    add(&t, " crashed with ");
    add(&t, crashes[index].name);
    if (si->si_code > 0 && si->si_signo != SIGABRT) {
        add(&t, " at address ");
        add_address(&t, (uintptr_t)si->si_addr);
    }
    if (call) {
        add(&t, " in ");
        add(&t, call);
    }
    end(&t);
}

/* What another room knows of the address. */
static void explain(const siginfo_t *si)
{
    boot_fault_fn *fn = proc->boot->fault_words;
    struct text t;
    if (!fn || si->si_signo != SIGSEGV || si->si_code <= 0)
        return;
    begin(&t);
    size_t n = fn(si->si_addr, t.s + t.n, sizeof t.s - 1 - t.n);
    if (!n)
        return;
    t.n += n;
    end(&t);
}

void boot_fault_words(boot_fault_fn *fn)
{
    proc->boot->fault_words = fn;
}

/* --- frames ----------------------------------------------------------------------- */

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *u, void *arg)
{
    struct crash *c = arg;
    int exact = 0; /* the address of the call, not of the instruction after it */
    uintptr_t pc = _Unwind_GetIPInfo(u, &exact);
    if (!pc || c->frames == FRAMES_MAX)
        return _URC_END_OF_STACK;
    c->frame[c->frames++] = (struct frame){.pc = exact ? pc : pc - 1, .object = -1};
    return _URC_NO_REASON;
}

/* The place of the signal.  If that is not in code: the place that called it. */
static uintptr_t crash_pc(const ucontext_t *uc, uintptr_t *caller)
{
    *caller = 0;
#if defined(__x86_64__)
    struct iovec here = {caller, sizeof *caller},
                 there = {(void *)uc->uc_mcontext.gregs[REG_RSP], sizeof *caller};
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != (ssize_t)sizeof *caller)
        *caller = 0;
    return (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    *caller = (uintptr_t)uc->uc_mcontext.regs[30];
    return (uintptr_t)uc->uc_mcontext.pc;
#else
    (void)uc;
    return 0;
#endif
}

/* The frames of the program, without those of this handler. */
static void collect(struct crash *c, const ucontext_t *uc)
{
    uintptr_t caller, pc = crash_pc(uc, &caller);
    int first = 0;
    _Unwind_Backtrace(on_frame, c);
    while (first < c->frames && c->frame[first].pc != pc)
        first++;
    /* the unwinder ended before that: the program called an address without code */
    if (first == c->frames) {
        c->frames = caller ? 2 : 1;
        c->frame[0] = (struct frame){.pc = pc, .object = -1};
        c->frame[1] = (struct frame){.pc = caller - 1, .object = -1};
        return;
    }
    c->frames -= first;
    memmove(c->frame, c->frame + first, (size_t)c->frames * sizeof *c->frame);
}

/* --- objects: /proc/self/maps ------------------------------------------------------ */

static uintptr_t hex(const char **s)
{
    uintptr_t v = 0;
    for (;; (*s)++) {
        char ch = **s;
        if (ch >= '0' && ch <= '9')
            v = v * 16 + (uintptr_t)(ch - '0');
        else if (ch >= 'a' && ch <= 'f')
            v = v * 16 + (uintptr_t)(ch - 'a' + 10);
        else
            return v;
    }
}

static int object_of(struct crash *c, const char *path, uintptr_t base, int readable)
{
    for (int i = 0; i < c->objects; i++)
        if (!strcmp(c->object[i].path, path) && c->object[i].base == base)
            return i;
    struct object *o = &c->object[c->objects];
    strncpy(o->path, path, sizeof o->path - 1);
    o->base = base;
    const unsigned char *e = (const unsigned char *)base;
    /* The first page of an object is its ELF header. */
    o->fixed = readable && !memcmp(e, ELFMAG, SELFMAG) &&
               ((const Elf64_Ehdr *)e)->e_type == ET_EXEC;
    return c->objects++;
}

/* One line: "from-to perms offset dev inode   path".  base: where the first page of the file
 * stands. */
static void on_map(struct crash *c, const char *s, struct object *last, int *readable)
{
    uintptr_t from = hex(&s), to, offset;
    if (*s++ != '-')
        return;
    to = hex(&s);
    int may_read = s[0] == ' ' && s[1] == 'r';
    s += 6; /* " r-xp " */
    offset = hex(&s);
    const char *path = strchr(s, '/');
    if (!path)
        return;
    if (!offset || strcmp(last->path, path)) {
        strncpy(last->path, path, sizeof last->path - 1);
        last->base = from - offset;
        *readable = may_read && !offset;
    }
    for (int i = 0; i < c->frames; i++) {
        struct frame *f = &c->frame[i];
        if (f->object >= 0 || f->pc < from || f->pc >= to)
            continue;
        f->object = object_of(c, path, last->base, *readable);
        f->in_file = c->object[f->object].fixed ? f->pc : f->pc - last->base;
    }
}

static void locate(struct crash *c)
{
    char buf[4096];
    size_t have = 0;
    struct object last = {.path = ""};
    int readable = 0, fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    for (ssize_t n; (n = read(fd, buf + have, sizeof buf - 1 - have)) > 0;) {
        char *line = buf;
        have += (size_t)n;
        buf[have] = 0;
        for (char *nl; (nl = strchr(line, '\n')) != NULL; line = nl + 1) {
            *nl = 0;
            on_map(c, line, &last, &readable);
        }
        have -= (size_t)(line - buf);
        memmove(buf, line, have);
        if (have == sizeof buf - 1)
            have = 0; /* a path longer than any */
    }
    close(fd);
}

/* --- names and lines ------------------------------------------------------------------ */

static void say_frame(const struct crash *c, int i, const char *place)
{
    const struct frame *f = &c->frame[i];
    struct text t;
    begin(&t);
    add(&t, "#");
    add_number(&t, (uint64_t)i, 10);
    add(&t, " ");
    if (place && strncmp(place, "??", 2)) {
        add(&t, place);
    } else {
        add_address(&t, f->pc);
    }
    add(&t, " (");
    add(&t, f->object < 0 ? "no known code" : c->object[f->object].path);
    if (f->object >= 0 && (!place || strchr(place, '?'))) {
        add(&t, "+");
        add_address(&t, f->in_file);
    }
    add(&t, ")");
    end(&t);
}

/* addr2line for frames first .. first+n-1, all of one object; never returns. */
static void run_lookup(const struct crash *c, int first, int n, int out)
{
    static const char *const at[] = {"/usr/bin/addr2line", "/usr/local/bin/addr2line",
                                     "/bin/addr2line"};
    char *argv[FRAMES_MAX + 6], *env[] = {NULL};
    struct text number[FRAMES_MAX];
    int k = 0;
    argv[k++] = (char *)"addr2line";
    argv[k++] = (char *)"-Cfp";
    argv[k++] = (char *)"-e";
    argv[k++] = (char *)c->object[c->frame[first].object].path;
    for (int i = 0; i < n; i++) {
        number[i].n = 0;
        add_address(&number[i], c->frame[first + i].in_file);
        number[i].s[number[i].n] = 0;
        argv[k++] = number[i].s;
    }
    argv[k] = NULL;
    int null = open("/dev/null", O_RDWR);
    if (dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(null, 2) < 0)
        _exit(127);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        execve(at[i], argv, env);
    _exit(127);
}

/* Read lines of the lookup as they come; returns how many frames have one. */
static int take_lines(struct crash *c, int first, int n, int fd)
{
    char buf[LINE_BYTES];
    size_t have = 0;
    int told = 0;
    while (told < n) {
        uint64_t now = time_now();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ms = now < c->lookup_end ? (int)((c->lookup_end - now) / 1000000) + 1 : 0;
        int ready = poll(&p, 1, ms);
        ssize_t got = ready > 0 ? read(fd, buf + have, sizeof buf - 1 - have) : 0;
        if (got <= 0)
            break;
        have += (size_t)got;
        buf[have] = 0;
        char *line = buf;
        for (char *nl; told < n && (nl = strchr(line, '\n')) != NULL; line = nl + 1) {
            *nl = 0;
            say_frame(c, first + told++, line);
        }
        have -= (size_t)(line - buf);
        memmove(buf, line, have);
        if (have == sizeof buf - 1)
            break;
    }
    return told;
}

/* Frames first .. first+n-1 of one object.  The child is made by clone, without a signal for its
 * end, so that the program's SIGCHLD handler and fork handlers do not run. */
static void look_up(struct crash *c, int first, int n)
{
    int fd[2], told = 0;
    long pid = -1;
    if (c->frame[first].object >= 0 && time_now() < c->lookup_end && !pipe2(fd, O_CLOEXEC)) {
        pid = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
        if (!pid)
            run_lookup(c, first, n, fd[1]);
        close(fd[1]);
        if (pid > 0) {
            told = take_lines(c, first, n, fd[0]);
            kill((pid_t)pid, SIGKILL);
            waitpid((pid_t)pid, NULL, __WALL);
        }
        close(fd[0]);
    }
    while (told < n)
        say_frame(c, first + told++, NULL);
}

static void report(struct crash *c, int index, const siginfo_t *si, const ucontext_t *uc)
{
    header(index, si);
    explain(si);
    collect(c, uc);
    locate(c);
    c->lookup_end = time_now() + (uint64_t)LOOKUP_MS * 1000000;
    for (int i = 0, n; i < c->frames; i += n) {
        for (n = 1; i + n < c->frames && c->frame[i + n].object == c->frame[i].object;)
            n++;
        look_up(c, i, n);
    }
}

/* --- the handler ------------------------------------------------------------------------ */

static int index_of(int sig)
{
    int i = 0;
    while (i < CRASHES && crashes[i].sig != sig)
        i++;
    return i;
}

static void on_crash(int sig, siginfo_t *si, void *uc)
{
    int saved = errno, none = 0, index = index_of(sig), me = (int)syscall(SYS_gettid);
    struct boot *b = proc->boot;
    struct crash *c = b ? b->crash : NULL;
    if (c && index < CRASHES && atomic_compare_exchange_strong(&c->thread, &none, me))
        report(c, index, si, uc);
    else if (c && none != me) /* another thread crashes, too: the report of the first ends both */
        for (int i = 0; i < LOOKUP_MS / 10; i++)
            poll(NULL, 0, 10);
    struct sigaction dfl = {.sa_handler = SIG_DFL};
    sigaction(sig, &dfl, NULL);
    /* Return: a fault comes again when the instruction runs again, so that the core shows it.  A
     * signal that was sent is sent again. */
    if (si->si_code <= 0 || sig == SIGABRT)
        syscall(SYS_tgkill, getpid(), me, sig);
    errno = saved;
}

void boot_crash_on(struct boot *b)
{
    /* A privileged program shows no addresses and runs no other program. */
    struct crash *c = cvar.crash_report && !var_privileged() ? calloc(1, sizeof *c) : NULL;
    stack_t had;
    if (!c)
        return;
    if (!sigaltstack(NULL, &had) && had.ss_flags & SS_DISABLE) {
        void *p = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0);
        stack_t own = {.ss_sp = p, .ss_size = STACK_BYTES};
        if (p != MAP_FAILED && !sigaltstack(&own, NULL))
            c->stack = p;
        else if (p != MAP_FAILED)
            munmap(p, STACK_BYTES);
    }
    b->crash = c;
    for (int i = 0; i < CRASHES; i++) {
        struct sigaction now,
            sa = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
        sigemptyset(&sa.sa_mask);
        if (!sigaction(crashes[i].sig, NULL, &now) && !(now.sa_flags & SA_SIGINFO) &&
            now.sa_handler == SIG_DFL)
            c->ours[i] = !sigaction(crashes[i].sig, &sa, NULL);
    }
}

void boot_crash_off(struct boot *b)
{
    struct crash *c = b->crash;
    struct sigaction now, dfl = {.sa_handler = SIG_DFL};
    stack_t is, none = {.ss_flags = SS_DISABLE};
    if (!c)
        return;
    for (int i = 0; i < CRASHES; i++)
        if (c->ours[i] && !sigaction(crashes[i].sig, NULL, &now) && now.sa_flags & SA_SIGINFO &&
            now.sa_sigaction == on_crash)
            sigaction(crashes[i].sig, &dfl, NULL);
    b->crash = NULL;
    /* Off in the thread that called MPI_Init.  In another thread it stays, and so does its
     * memory. */
    if (c->stack && !sigaltstack(NULL, &is) && is.ss_sp == c->stack && !sigaltstack(&none, NULL))
        munmap(c->stack, STACK_BYTES);
    free(c);
}

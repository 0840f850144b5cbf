/* stranger.c - a process that has neither key nor place in the job connects to the ports that
 * the network's library has opened for it: it sends nothing, garbage, and what the library
 * itself would send (stranger_ofi.c, stranger_ucx.c). Two processes of the job talk all the
 * while, and begin when the stranger is there already; in the end the memory of the one is what
 * the other made it. */
#include "stranger.h"

#include "job.h"
#include "unit.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/sched.h"
#include "boot/boot.h"
#include "mem/mem.h"

enum { VICTIM, HONEST, STRANGER, ALL };
enum { W_THERE, W_ROUNDS, W_OVER, W_END, W_CONTROLS }; /* words */
enum { PORTS = 8, SILENT = 6, PREY = 65536, SLOTS = 64, ENOUGH = 30, DIGEST_NS = 50000000 };

struct ports {
    int n;
    struct sockaddr_storage at[PORTS];
    socklen_t len[PORTS];
};

static const struct tongue *tongue;
static struct end e;
static uint64_t asked, answered; /* rounds: requests that came, answers that came */

static uint64_t word(int i)
{
    return atomic_load_explicit((_Atomic uint64_t *)&job_words()[i * 8], memory_order_acquire);
}

static void word_is(int i, uint64_t v)
{
    atomic_store_explicit((_Atomic uint64_t *)&job_words()[i * 8], v, memory_order_release);
}

/* --- the job ---------------------------------------------------------------------------- */

static int take(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    uint64_t v;
    if (peer == STRANGER) {
        job_check(e.rank == VICTIM && len == CONTROL_BYTES);
        word_is(W_CONTROLS, word(W_CONTROLS) + 1);
        return 0;
    }
    job_check(len == sizeof v);
    memcpy(&v, msg, sizeof v);
    uint64_t *n = e.rank == VICTIM ? &asked : &answered;
    job_check(peer == (e.rank == VICTIM ? HONEST : VICTIM) && v == ++*n);
    return 0;
}

static void say(unsigned peer, enum tp_class cls, uint64_t v)
{
    struct iovec iov = {&v, sizeof v};
    int err;
    while ((err = e.ops->am(e.tp, peer, cls, &iov, 1, NULL)) == TP_AGAIN)
        end_poll(&e);
    job_check(err == 0);
}

/* Where this process listens, whichever library opened the port. */
static struct ports ports_own(void)
{
    struct ports p = {0};
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *f; p.n < PORTS && (f = readdir(d)) != NULL;) {
        int fd = atoi(f->d_name), listens = 0;
        socklen_t n = sizeof listens, room = sizeof p.at[0];
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &n) != 0 || !listens ||
            getsockname(fd, (struct sockaddr *)&p.at[p.n], &room) != 0)
            continue;
        if (p.at[p.n].ss_family == AF_INET || p.at[p.n].ss_family == AF_INET6)
            p.len[p.n++] = room;
    }
    closedir(d);
    return p;
}

static unsigned char pattern(size_t i)
{
    return (unsigned char)(i * 37 + 11);
}

/* The victim's memory, which outlives it: at the same address in all processes. */
static struct prey {
    _Alignas(4096) unsigned char before[4096], bytes[PREY], after[4096];
} *prey;

static void prey_fill(void)
{
    memset(prey, 0x5a, sizeof *prey);
    for (size_t i = 0; i < PREY; i++)
        prey->bytes[i] = pattern(i);
    memset(prey->bytes, 0, SLOTS * 8);
}

/* Rank 1 writes the first words.  Everything else is as it was. */
static int prey_whole(void)
{
    for (size_t i = 8 * SLOTS; i < PREY; i++)
        if (prey->bytes[i] != pattern(i))
            return 0;
    for (size_t i = 0; i < sizeof prey->before; i++)
        if (prey->before[i] != 0x5a || (prey->after[i] != 0x5a && i >= sizeof(uint64_t)))
            return 0;
    return 1;
}

uint64_t *stranger_spoil(void)
{
    return (uint64_t *)(void *)prey->after;
}

static void slots_check(uint64_t rounds)
{
    for (uint64_t i = 0; i < SLOTS; i++) {
        uint64_t v, last = rounds - (rounds - i) % SLOTS;
        memcpy(&v, prey->bytes + 8 * i, 8);
        job_check(v == last);
    }
}

static void victim(void)
{
    struct tp_mem *mem = NULL;
    char key[1024];
    size_t len = sizeof key;
    const int put = (e.caps.flags & TP_PUT) != 0;
    struct ports p = ports_own();
    uint64_t told = 0;
    job_check(p.n > 0 && boot_put("ports", &p, sizeof p) == 0);
    if (put) {
        job_check(e.ops->reg(e.tp, prey->bytes, PREY, 0, TP_MAY_READ | TP_MAY_WRITE, &mem) == 0);
        job_check(e.ops->pack(e.tp, mem, key, &len) == 0 && boot_put("key", key, len) == 0);
    }
    job_check(boot_barrier() == 0);
    end_connect(&e, HONEST);
    while (!word(W_END)) {
        end_poll(&e);
        if (told < asked)
            say(HONEST, TP_REPLY, ++told);
    }
    if (put)
        slots_check(word(W_ROUNDS));
    job_check(prey_whole());
    end_leave(&e);
    if (mem)
        e.ops->dereg(e.tp, mem);
}

/* --- the process that connects to it ---------------------------------------------------------- */

static int settled, settled_err;

static void on_settled(struct tp_done *d, int err)
{
    settled++;
    settled_err = err;
}

/* The end of what was answered so; 1: to be called again. */
static int await(int answer)
{
    while (answer == TP_PENDING && !settled)
        end_poll(&e);
    job_check(answer >= 0 && settled_err == 0);
    settled = 0;
    if (answer == TP_AGAIN)
        end_poll(&e);
    return answer == TP_AGAIN;
}

static void put_word(struct tp_far *far, uint64_t v)
{
    struct tp_done d = {on_settled};
    while (await(e.ops->put(e.tp, far, v % SLOTS * 8, &v, sizeof v, NULL, &d)))
        continue;
    while (await(e.ops->flush(e.tp, VICTIM, &d)))
        continue;
}

static void honest(void)
{
    struct tp_far *far = NULL;
    char key[1024];
    size_t len = sizeof key;
    uint64_t round = 0, after = 0;
    job_check(boot_barrier() == 0);
    while (!word(W_THERE))
        sched_yield();
    end_connect(&e, VICTIM);
    if (e.caps.flags & TP_PUT)
        job_check(boot_get("key", key, &len) == 0 &&
                  e.ops->import(e.tp, VICTIM, key, len, &far) == 0);
    while (round < 2 * SLOTS || after < ENOUGH) {
        say(VICTIM, TP_REQUEST, ++round);
        while (answered < round)
            end_poll(&e);
        if (far)
            put_word(far, round);
        word_is(W_ROUNDS, round);
        after += word(W_OVER);
    }
    word_is(W_END, 1);
    end_leave(&e);
    if (far)
        e.ops->drop(e.tp, far);
}

/* --- the stranger ------------------------------------------------------------------------- */

/* The job goes on: for a while, in which what was sent to it has come. */
static void served(void)
{
    const uint64_t end = time_now() + DIGEST_NS;
    for (uint64_t from = word(W_ROUNDS); word(W_ROUNDS) < from + ENOUGH || time_now() < end;) {
        tongue->turn();
        sched_yield();
    }
}

static int dial(const struct ports *p, int i)
{
    const struct timeval timeout = {2, 0};
    int s = socket(p->at[i].ss_family, SOCK_STREAM, 0);
    setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    job_check(s >= 0 && connect(s, (const struct sockaddr *)&p->at[i], p->len[i]) == 0);
    return s;
}

static uint64_t seed = 88172645463325252ull;

static uint64_t any(void)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed;
}

static void fill_garbage(unsigned char *b, size_t n, int kind)
{
    static const char http[] = "GET / HTTP/1.1\r\nHost: absent\r\n\r\n";
    for (size_t i = 0; i < n; i++)
        /* small ones may be right in one place */
        b[i] = kind == 0   ? 0
               : kind == 1 ? 0xff
               : kind == 2 ? (unsigned char)http[i % (sizeof http - 1)]
               : kind % 2  ? (unsigned char)(any() >> 24)
                           : (unsigned char)(any() >> 24 & 7);
}

/* Part of it may not be wanted any more. */
static void babble(int s, int kind, size_t n, int magic)
{
    unsigned char b[32768];
    n = n < sizeof b ? n : sizeof b;
    fill_garbage(b, n, kind);
    if (magic && n > tongue->magic_len)
        memcpy(b, tongue->magic, tongue->magic_len);
    (void)!send(s, b, n, MSG_NOSIGNAL);
}

static void hang_up(int s, int rudely)
{
    const struct linger now = {1, 0};
    if (rudely)
        setsockopt(s, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(s);
}

/* Some stay to the end and send nothing, or only a few bytes. */
static void stand_there(const struct ports *p, int *silent, int *n)
{
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < SILENT; k++) {
            int s = dial(p, i);
            if (k)
                babble(s, 3, (size_t)k * k, 0);
            silent[(*n)++] = s;
        }
}

static void talk_rubbish(const struct ports *p)
{
    static const size_t lengths[] = {1, 7, 16, 100, 300, 5000, 32768};
    for (int i = 0; i < p->n; i++)
        for (int kind = 0; kind < 8; kind++)
            for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
                int s = dial(p, i);
                babble(s, kind, lengths[k], tongue->magic_len > 0);
                hang_up(s, (kind + (int)k) & 1);
            }
}

/* Write into connections that the library has made, to one of those ports. */
static int interrupt(const struct ports *p, int kind)
{
    int n = 0;
    for (int fd = 3; fd < 1024; fd++) {
        struct sockaddr_storage to;
        socklen_t len = sizeof to;
        if (getpeername(fd, (struct sockaddr *)&to, &len) != 0)
            continue;
        for (int i = 0; i < p->n; i++)
            if (len == p->len[i] &&
                !memcmp(&to, &p->at[i], offsetof(struct sockaddr_in, sin_zero))) {
                babble(fd, kind, 5000, 0);
                n++;
            }
    }
    return n;
}

static void speak(const struct ports *p, const char *addr, size_t len)
{
    tongue->meet(addr, len);
    tongue->speak();
    served();
    job_check(word(W_CONTROLS) == 0);
    tongue->control();
    while (!word(W_CONTROLS))
        tongue->turn();
    tongue->part();
    for (int kind = 0; kind < tongue->kinds; kind++) {
        tongue->meet(addr, len);
        tongue->speak();
        job_check(interrupt(p, kind) > 0);
        served();
        tongue->part();
    }
}

static void stranger(void)
{
    struct ports p;
    char addr[BOOT_VALUE_MAX];
    int silent[PORTS * SILENT], n = 0;
    size_t len = sizeof p, addr_len = sizeof addr;
    job_check(mem_init() == 0 && boot_barrier() == 0);
    job_check(boot_get("ports", &p, &len) == 0 && boot_get("tp.0", addr, &addr_len) == 0);
    stand_there(&p, silent, &n);
    word_is(W_THERE, 1);
    served();
    talk_rubbish(&p);
    served();
    speak(&p, addr, addr_len);
    served();
    word_is(W_OVER, 1);
    while (n)
        close(silent[--n]);
    job_check(boot_barrier() == 0 && boot_barrier() == 0);
    mem_finalize();
}

static void body(void)
{
    if (boot_rank() == STRANGER) {
        stranger();
        return;
    }
    end_open(&e, take, NULL);
    if (boot_rank() == VICTIM)
        victim();
    else
        honest();
    end_close(&e);
}

int stranger_run(const struct row *r, const struct tongue *t, uint64_t *spoil)
{
    tongue = t;
    prey = mmap(NULL, sizeof *prey, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(prey, MAP_FAILED);
    prey_fill();
    int failed = row_run(r, ALL, body);
    ck_assert_int_eq(prey_whole(), 1);
    *spoil = *stranger_spoil();
    munmap(prey, sizeof *prey);
    return failed;
}

/* way.c - the way between two hosts: messages and puts over each network, between the doctors that
 * a launcher has started on them.  Start with way_look().
 *
 * Each doctor forks one process, which joins the launcher's job; rank 0 looks at the way to each of
 * the others in turn.  What was put must be there when a message that follows the flush is. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "doctor/diagnosis.h"
#include "mem/mem.h"

enum { MESSAGES = 400, PUTS = 50, LONG_PUTS = 32, ROUNDS = 500, WARM = 50 };
enum { MEMORY = 1 << 20, KEY = 1024, PEERS = WAYS / 2 };
/* Another doctor may look at its own host for long. */
enum { COME_S = 300, LEAVE_S = 120, WAY_S = 3600, LATE_NS = 2000000000 };
enum { NUMBER = 1, LOOK, SEEN, PING, KEYED };

struct packet { /* head of each message */
    uint32_t kind, number;
    uint64_t len; /* LOOK: bytes that were put; NUMBER: of the message */
};

static struct ways *found; /* shared with the process that looks */
static const char *only_these, *here;

static struct {
    const struct tp_ops *ops;
    struct tp *tp;
    struct tp_caps caps;
    int rank, peer;
    uint32_t numbers, pings, seen, looks, keyed; /* that have come */
    uint64_t looked; /* bytes that were put */
    int late;        /* they were not all there when the message about them came */
    unsigned char *memory, key[KEY];
    size_t key_len;
} way;

static unsigned char byte_of(uint32_t number, size_t i)
{
    return (unsigned char)(number * 31 + i * 7 + (i >> 8) + 1);
}

/* Is all of the put number `number` there? */
static int landed(uint32_t number)
{
    for (size_t i = 0; i < way.looked; i++)
        if (way.memory[i] != byte_of(number, i))
            return 0;
    return 1;
}

static int on_message(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    struct packet p;
    (void)up, (void)cls;
    job_check(peer == (unsigned)way.peer && len >= sizeof p);
    memcpy(&p, msg, sizeof p);
    const unsigned char *rest = (const unsigned char *)msg + sizeof p;
    if (p.kind == NUMBER) {
        job_check(p.number == way.numbers && p.len == len - sizeof p);
        for (size_t i = 0; i < p.len; i++)
            job_check(rest[i] == byte_of(p.number, i));
    } else if (p.kind == LOOK) {
        job_check(p.len <= MEMORY);
        way.looked = p.len;
        way.late = !landed(p.number);
    } else if (p.kind == KEYED && p.len) {
        job_check(p.len == len - sizeof p && p.len <= KEY);
        memcpy(way.key, rest, way.key_len = p.len);
    }
    uint32_t *n[] = {[NUMBER] = &way.numbers, [LOOK] = &way.looks, [SEEN] = &way.seen,
                     [PING] = &way.pings, [KEYED] = &way.keyed};
    job_check(p.kind >= NUMBER && p.kind <= KEYED);
    ++*n[p.kind];
    job_event();
    return 0;
}

static void turn(void)
{
    int n = way.ops->progress(way.tp);
    job_check(n >= 0);
    if (n == 0)
        sched_yield();
}

static void await(const uint32_t *counter, uint32_t n)
{
    while (*counter < n)
        turn();
}

static void send(uint32_t kind, uint32_t number, const void *rest, size_t len)
{
    struct packet p = {kind, number, len};
    const struct iovec v[] = {{&p, sizeof p}, {(void *)(uintptr_t)rest, kind == LOOK ? 0 : len}};
    while (way.ops->am(way.tp, (unsigned)way.peer, TP_REQUEST, v, kind == LOOK ? 1 : 2, NULL) != 0)
        turn();
    job_event();
}

/* --- one pair --------------------------------------------------------------------------------- */

/* Rank 0 looks at one peer at a time: its first message may be long in coming. */
static void await_turn(void)
{
    uint64_t end = time_now() + COME_S * UINT64_C(1000000000);
    job_about(FAULT_NONE);
    while (way.numbers == 0 && time_now() < end) {
        job_event();
        turn();
    }
    job_check(way.numbers > 0);
}

/* Lengths grow to the longest, and come back to short ones. */
static void messages(void)
{
    size_t most = way.caps.am_max - sizeof(struct packet);
    unsigned char *buf = malloc(most);
    job_check(buf != NULL);
    if (way.rank != 0)
        await_turn();
    job_about(FAULT_ORDER);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        size_t len = i % 8 == 7 ? most : (size_t)i * 37 % (i % 2 ? 64 : most);
        for (size_t k = 0; k < len; k++)
            buf[k] = byte_of(i, k);
        send(NUMBER, i, buf, len);
    }
    await(&way.numbers, MESSAGES);
    free(buf);
}

static double ping(void)
{
    uint64_t begin = 0;
    job_about(FAULT_LOST);
    for (uint32_t i = 0; i < WARM + ROUNDS; i++) {
        if (i == WARM)
            begin = time_now();
        if (way.rank != 0)
            await(&way.pings, i + 1);
        send(PING, i, NULL, 0);
        if (way.rank == 0)
            await(&way.pings, i + 1);
    }
    return (double)(time_now() - begin) / (2e3 * ROUNDS);
}

struct count {
    struct tp_done d;
    uint32_t n;
    int err;
};

static void counts(struct tp_done *d, int err)
{
    struct count *c = (struct count *)d;
    c->n++;
    c->err = err;
    job_event();
}

static void put_and_flush(struct tp_far *far, const unsigned char *from, struct tp_mem *local,
                          size_t len, int puts)
{
    struct count c[LONG_PUTS + 1];
    for (int i = 0; i <= puts; i++) {
        int rc;
        c[i] = (struct count){{counts}, 0, 0};
        while ((rc = i < puts ? way.ops->put(way.tp, far, 0, from, len, local, &c[i].d)
                              : way.ops->flush(way.tp, (unsigned)way.peer, &c[i].d)) == TP_AGAIN)
            turn();
        job_check(rc == 0 || rc == TP_PENDING);
        c[i].n = rc == 0;
    }
    for (int i = 0; i <= puts; i++) {
        await(&c[i].n, 1);
        job_check(c[i].err == 0);
    }
}

/* The owner has looked at its memory when a message said that something was put and flushed. */
static void owner(uint32_t rounds)
{
    for (uint32_t i = 1; i <= rounds; i++) {
        await(&way.looks, i);
        for (uint64_t end = time_now() + LATE_NS; way.late && !landed(i) && time_now() < end;)
            turn();
        job_about(landed(i) ? FAULT_EARLY : FAULT_TORN);
        job_check(!way.late);
        send(SEEN, i, NULL, 0);
    }
}

static void puts_checked(struct tp_far *far, unsigned char *from, struct tp_mem *local)
{
    static const size_t lengths[] = {8, 100, 4096, 65536, MEMORY};
    job_about(FAULT_LOST);
    for (uint32_t i = 1; i <= PUTS; i++) {
        size_t len = lengths[i % (sizeof lengths / sizeof *lengths)];
        len = len < way.caps.rma_max ? len : way.caps.rma_max;
        for (size_t k = 0; k < len; k++)
            from[k] = byte_of(i, k);
        put_and_flush(far, from, local, len, 1);
        send(LOOK, i, NULL, len);
        await(&way.seen, i);
    }
}

static void puts_timed(struct way *w, struct tp_far *far, unsigned char *from,
                       struct tp_mem *local)
{
    size_t len = MEMORY < way.caps.rma_max ? MEMORY : way.caps.rma_max;
    uint64_t begin = 0;
    for (int i = 0; i < WARM + ROUNDS; i++) {
        if (i == WARM)
            begin = time_now();
        put_and_flush(far, from, local, 8, 1);
    }
    w->put_us = (double)(time_now() - begin) / (1e3 * ROUNDS);
    begin = time_now();
    put_and_flush(far, from, local, len, LONG_PUTS);
    w->put_gbs = (double)len * LONG_PUTS / (double)(time_now() - begin);
}

/* Rank 0 puts into the other's memory. */
static void put_all(struct way *w)
{
    struct tp_mem *mem = NULL;
    struct tp_far *far;
    unsigned char key[KEY];
    size_t len = sizeof key;
    way.memory = calloc(1, MEMORY);
    job_check(way.memory != NULL);
    if (way.rank != 0 || way.caps.flags & TP_REG_LOCAL)
        job_check(way.ops->reg(way.tp, way.memory, MEMORY, 0,
                               way.rank ? TP_MAY_READ | TP_MAY_WRITE : 0, &mem) == 0);
    if (way.rank != 0) {
        job_check(way.ops->pack(way.tp, mem, key, &len) == 0);
        send(KEYED, 0, key, len);
        owner(PUTS);
        w->puts = 1;
        await(&way.keyed, 1); /* rank 0 has finished */
    } else {
        await(&way.keyed, 1);
        job_check(way.ops->import(way.tp, (unsigned)way.peer, way.key, way.key_len, &far) == 0);
        puts_checked(far, way.memory, mem);
        w->puts = 1;
        puts_timed(w, far, way.memory, mem);
        way.ops->drop(way.tp, far);
        send(KEYED, 0, NULL, 0);
    }
    if (mem)
        way.ops->dereg(way.tp, mem);
    free(way.memory);
}

static void pair(struct way *w)
{
    messages();
    w->messages = 1;
    w->ping_us = ping();
    if (way.caps.flags & TP_PUT)
        put_all(w);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* Wait for the others of the job; one that waits serves its transport. */
static void meet(int seconds)
{
    int fd, over;
    uint64_t end = time_now() + (uint64_t)seconds * 1000000000u;
    job_about(FAULT_NONE); /* one that does not come is no fault of this network */
    job_check(boot_barrier_begin(&fd) == 0);
    while ((over = boot_barrier_test()) == 0 && time_now() < end) {
        job_event();
        if (way.tp)
            way.ops->progress(way.tp);
        sched_yield();
    }
    job_check(over == 1);
}

struct card { /* what a process publishes of a network */
    char host[64];
    unsigned flags; /* of its caps */
    uint32_t len;   /* of the address; 0: it does not open */
    unsigned char address[BOOT_VALUE_MAX / 4];
};

static void by_network(int number, const char *name)
{
    const struct tp_env env = {.recv = on_message, .up = &way, .proc = proc};
    struct card mine = {.flags = 0}, peer;
    char key[32];
    size_t len = sizeof mine.address;
    memset(&way, 0, sizeof way);
    way.ops = tp_find(name);
    way.rank = boot_rank();
    snprintf(mine.host, sizeof mine.host, "%s", here);
    job_about(FAULT_OPEN);
    if (way.ops && way.ops->open(&env, &way.tp, &way.caps) == 0 &&
        way.ops->address(way.tp, mine.address, &len) == 0) {
        mine.len = (uint32_t)len;
        mine.flags = way.caps.flags;
    }
    snprintf(key, sizeof key, "way.%d.%d", number, boot_rank());
    job_check(boot_put(key, &mine, sizeof mine) == 0);
    meet(COME_S);
    for (int k = 1; k < boot_size() && k <= PEERS && mine.len; k++) {
        if (way.rank != 0 && way.rank != k)
            continue;
        way.peer = way.rank ? 0 : k;
        snprintf(key, sizeof key, "way.%d.%d", number, way.peer);
        len = sizeof peer;
        job_check(boot_get(key, &peer, &len) == 0 && len == sizeof peer);
        if (!peer.len)
            continue;
        struct way *w = &found->way[found->n++];
        *w = (struct way){.network = name};
        snprintf(w->host, sizeof w->host, "%s", peer.host);
        way.numbers = way.pings = way.seen = way.looks = way.keyed = 0;
        way.caps.flags &= peer.flags | ~(unsigned)TP_PUT;
        job_about(FAULT_OPEN);
        job_check(way.ops->connect(way.tp, (unsigned)way.peer, peer.address, peer.len) == 0);
        pair(w);
    }
    meet(LEAVE_S);
    if (way.tp)
        way.ops->close(way.tp);
    way.tp = NULL;
}

static void look(void)
{
    static const char *const names[] = {"ofi", "ucx"};
    job_about(FAULT_NONE);
    job_check(mem_init() == 0);
    for (int i = 0; i < 2; i++)
        if (networks_named(only_these, names[i]))
            by_network(i, names[i]);
    meet(LEAVE_S);
    mem_finalize();
}

int way_look(struct report *r, const char *only, unsigned quiet)
{
    /* UCX offers native access only where it is asked for */
    static const char *const sets[] = {"MPIR_CVAR_RMA_NATIVE_PUT_MIN=1", NULL};
    struct job_end end = {0};
    found = mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED)
        return -ENOMEM;
    only_these = only;
    here = r->host;
    r->ways = found;
    job_boot = NULL; /* the launcher's */
    int failed = job_run_quiet(1, sets, look, WAY_S, quiet, &end);
    job_boot = &job_ops;
    if (failed <= 0)
        return failed;
    found->failed = 1;
    found->fault = end.fault;
    snprintf(found->text, sizeof found->text, "%s",
             end.hung    ? "waited for without end"
             : *end.text ? end.text
                         : "a process crashed");
    return 0;
}

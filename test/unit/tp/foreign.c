/* foreign.c - who does not belong to the job, at the real port of a process that does (SECURITY.md): bytes that are no message of
 * the network's, messages of ours without the receiver's key, and one-sided access under a key that was not given.  For the rows of
 * contract.c that listen on TCP.  Rank 0 is honest, the last process owns the port and the memory. */
#include "config.h"

#include "contract.h"
#include "job.h"
#include "unit.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "boot/boot.h"
#include "mpi.h"

#ifdef CONTRACT_OFI
#include "tp/ofi/ofi.h"
#else
#include "tp/ucx/ucx_types.h"
#endif

Suite *suite_foreign(void);

enum { BYTES = 1 << 17, WINDOW = BYTES / 2, PATTERN = 0x5a, EACH_TIME = 50, LEN = 100, PORTS = 4 };

static struct box {
    struct end e;
    int owner;
    unsigned taken; /* of rank 0; any other's fails the test */
    unsigned char *bytes; /* owner: BYTES of PATTERN, the first WINDOW of them registered */
    struct tp_mem *mem;
} box;

struct port {
    struct sockaddr_storage at;
    socklen_t len;
};

static int take(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    job_check(up == &box && peer == 0 && cls == TP_REQUEST && len == LEN);
    for (size_t i = 0; i < len; i++)
        job_check(((const unsigned char *)msg)[i] == (unsigned char)(box.taken + i));
    box.taken++;
    return 0;
}

static int listens(void)
{
    const char *s = box.e.row->env ? box.e.row->env : box.e.row->set;
    return s && strstr(s, "tcp");
}

/* --- the owner ------------------------------------------------------------------------- */

static void reg(void)
{
    char key[1024];
    size_t len = sizeof key;
    box.bytes = aligned_alloc(4096, BYTES);
    job_check(box.bytes != NULL);
    memset(box.bytes, PATTERN, BYTES);
    job_check(box.e.ops->reg(box.e.tp, box.bytes, WINDOW, 0, TP_MAY_READ | TP_MAY_WRITE, &box.mem) == 0);
    job_check(box.e.ops->pack(box.e.tp, box.mem, key, &len) == 0 && boot_put("key", key, len) == 0);
}

static void box_open(void)
{
    memset(&box, 0, sizeof box);
    end_open(&box.e, take, &box);
    box.owner = box.e.size - 1;
    if (box.e.rank == box.owner)
        reg();
    job_check(boot_barrier() == 0);
}

static void box_close(void)
{
    end_leave(&box.e);
    for (size_t i = 0; box.bytes && i < BYTES; i++)
        job_check(box.bytes[i] == PATTERN);
    if (box.mem)
        box.e.ops->dereg(box.e.tp, box.mem);
    end_close(&box.e);
    free(box.bytes);
}

/* What this process listens on, as others on this host reach it. */
static void publish_ports(void)
{
    struct port p[PORTS];
    size_t n = 0;
    for (int fd = 3; fd < 1024 && n < PORTS; fd++) {
        int on = 0;
        socklen_t len = sizeof on;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) != 0 || !on)
            continue;
        memset(&p[n], 0, sizeof p[n]);
        p[n].len = sizeof p[n].at;
        if (getsockname(fd, (struct sockaddr *)&p[n].at, &p[n].len) != 0)
            continue;
        struct sockaddr_in *in = (struct sockaddr_in *)&p[n].at;
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&p[n].at;
        if (p[n].at.ss_family == AF_INET && in->sin_addr.s_addr == INADDR_ANY)
            in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (p[n].at.ss_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr))
            in6->sin6_addr = in6addr_loopback;
        n += p[n].at.ss_family == AF_INET || p[n].at.ss_family == AF_INET6;
    }
    job_check(n > 0); /* else there is nothing to try */
    job_check(boot_put("ports", p, n * sizeof *p) == 0);
}

/* --- the others ------------------------------------------------------------------------- */

/* Rank 0's next messages, and they come. */
static void honest(void)
{
    static unsigned sent, rounds; /* not what was taken: the first may come while we still leave the last barrier */
    const unsigned until = ++rounds * EACH_TIME;
    if (box.e.rank == 0) {
        for (unsigned n = 0; n < EACH_TIME;) {
            unsigned char b[LEN];
            for (unsigned i = 0; i < LEN; i++)
                b[i] = (unsigned char)(sent + i);
            struct iovec v = {b, LEN};
            int err = box.e.ops->am(box.e.tp, (unsigned)box.owner, TP_REQUEST, &v, 1, NULL);
            job_check(err == 0 || err == TP_AGAIN);
            n += err == 0;
            sent += err == 0;
            if (err)
                end_poll(&box.e);
        }
    }
    while (box.e.rank == box.owner && box.taken < until)
        end_poll(&box.e);
    end_barrier(&box.e);
}

enum { NOTHING, FEW, TEXT, RANDOM, ZEROS, ONES, KINDS };

static size_t garbage(int kind, unsigned char *b, size_t room)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    uint64_t s = 88172645463325252ull;
    switch (kind) {
    case NOTHING: return 0;
    case FEW: memcpy(b, "abc", 3); return 3;
    case TEXT: memcpy(b, text, sizeof text); return sizeof text;
    case RANDOM:
        for (size_t i = 0; i < room; i++) {
            s ^= s << 13, s ^= s >> 7, s ^= s << 17;
            b[i] = (unsigned char)s;
        }
        return room;
    default: memset(b, kind == ZEROS ? 0 : 0xff, room / 4); return room / 4;
    }
}

/* One connection of each kind to each port; half of them stay open until the process ends. */
static void intrude(void)
{
    struct port p[PORTS];
    size_t len = sizeof p;
    static unsigned char b[16384];
    job_check(boot_get("ports", p, &len) == 0 && len >= sizeof *p);
    for (size_t i = 0; i < len / sizeof *p; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            int fd = socket(p[i].at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
            job_check(fd >= 0 && connect(fd, (struct sockaddr *)&p[i].at, p[i].len) == 0);
            size_t n = garbage(kind, b, sizeof b);
            job_check(n == 0 || send(fd, b, n, MSG_NOSIGNAL | MSG_DONTWAIT) > 0);
            if (kind % 2)
                close(fd);
        }
}

/* Bytes that are none of the network's protocol: who is connected stays so, others connect. */
static void bytes(void)
{
    box_open();
    if (listens()) {
        if (box.e.rank == box.owner)
            publish_ports();
        job_check(boot_barrier() == 0);
        if (box.e.rank == 0)
            end_connect(&box.e, box.owner);
        honest();
        if (box.e.rank == 1)
            intrude();
        end_barrier(&box.e);
        for (int i = 0; i < 4; i++)
            honest();
    }
    box_close();
}

static unsigned refused(void)
{
#ifdef CONTRACT_OFI
    return ((struct ofi *)box.e.tp)->warned;
#else
    return ((struct ucx *)box.e.tp)->warned;
#endif
}

/* A sender of good messages that does not know the key: both addresses begin with it. */
static void without_key(void)
{
    char addr[BOOT_VALUE_MAX];
    size_t len = sizeof addr;
    char name[16];
    box_open();
    if (box.e.rank == 0)
        end_connect(&box.e, box.owner);
    if (box.e.rank == 1) {
        static const unsigned char b[LEN];
        struct iovec v = {(void *)(uintptr_t)b, LEN};
        snprintf(name, sizeof name, "tp.%d", box.owner);
        job_check(boot_get(name, addr, &len) == 0 && len > 8);
        addr[3] ^= 1;
        job_check(box.e.ops->connect(box.e.tp, (unsigned)box.owner, addr, len) == 0);
        for (int i = 0; i < 20; i++)
            job_check(box.e.ops->am(box.e.tp, (unsigned)box.owner, i % 2 ? TP_REQUEST : TP_REPLY, &v, 1, NULL) >= 0);
    }
    honest();
    while (box.e.rank == box.owner && !refused()) /* they have come */
        end_poll(&box.e);
    end_barrier(&box.e);
    honest();
    job_check(box.e.rank != box.owner || box.taken == 2 * EACH_TIME);
    box_close();
}

/* --- keys that were not given ---------------------------------------------------------------- */

#ifdef CONTRACT_OFI
enum forgery { PUT_KEY, PUT_LONG_KEY, PUT_BEYOND, GET_KEY, GET_BEYOND, ATOMIC_KEY, FORGERIES };
static enum forgery forgery;

struct outcome {
    struct tp_done d;
    int calls, err;
};

static void outcome(struct tp_done *d, int err)
{
    struct outcome *o = (struct outcome *)d;
    o->calls++;
    o->err = err;
}

static int begin(struct tp_far *far, unsigned char *b, struct tp_done *d)
{
    static uint64_t one = 1, old;
    const struct tp_atomic a = {.op = MPI_SUM, .type = 3 | 16, .n = 1, .operand = &one, .result = &old};
    switch (forgery) {
    case PUT_KEY: return box.e.ops->put(box.e.tp, far, 0, b, 8, NULL, d);
    case PUT_LONG_KEY: return box.e.ops->put(box.e.tp, far, 0, b, WINDOW, NULL, d);
    case PUT_BEYOND: return box.e.ops->put(box.e.tp, far, WINDOW - 8, b, 4096, NULL, d);
    case GET_KEY: return box.e.ops->get(box.e.tp, far, 0, b, 4096, NULL, d);
    case GET_BEYOND: return box.e.ops->get(box.e.tp, far, WINDOW - 8, b, 4096, NULL, d);
    default: return box.e.ops->atomic(box.e.tp, far, 0, &a, d);
    }
}

/* Some answer is an error: of the call, of its end, or of the flush behind it. */
static void refused_access(struct tp_far *far, unsigned char *b)
{
    struct outcome op = {{outcome}, 0, 0}, flush = op;
    int err, last;
    while ((err = begin(far, b, &op.d)) == TP_AGAIN)
        end_poll(&box.e);
    while (err == TP_PENDING && !op.calls)
        end_poll(&box.e);
    err = err == TP_PENDING ? op.err : err;
    while ((last = box.e.ops->flush(box.e.tp, (unsigned)box.owner, &flush.d)) == TP_AGAIN)
        end_poll(&box.e);
    while (last == TP_PENDING && !flush.calls)
        end_poll(&box.e);
    last = last == TP_PENDING ? flush.err : last;
    fprintf(stderr, "forgery %d: the call says %d, the flush %d\n", (int)forgery, err, last);
    job_check(err < 0 || last < 0);
}

static void forged(void)
{
    box_open();
    if (box.e.rank == 0) {
        uint64_t key[3]; /* address, key, bytes: struct ofi_key */
        size_t len = sizeof key;
        struct tp_far *far;
        unsigned char *b = malloc(WINDOW);
        memset(b, 0x33, WINDOW);
        end_connect(&box.e, box.owner);
        job_check(boot_get("key", key, &len) == 0 && len == sizeof key);
        if (forgery == PUT_BEYOND || forgery == GET_BEYOND)
            key[2] = BYTES;
        else
            key[1] ^= 1;
        job_check(box.e.ops->import(box.e.tp, (unsigned)box.owner, key, len, &far) == 0);
        refused_access(far, b);
        for (size_t i = 0; i < WINDOW; i++)
            job_check(b[i] == 0x33);
        box.e.ops->drop(box.e.tp, far);
        free(b);
    }
    box_close(); /* where the owner looks at its memory */
}

START_TEST(forged_)
{
    forgery = (enum forgery)_i;
    ck_assert_int_eq(row_run(&rows[0], 2, forged), 0);
}
END_TEST
#endif

/* --- the suite ------------------------------------------------------------------------------ */

static int three(const struct row *r, void (*fn)(void))
{
    return row_run(r, 3, fn);
}

START_TEST(bytes_)
{
    ck_assert_int_eq(three(&rows[_i], bytes), 0);
}
END_TEST

START_TEST(without_key_)
{
    ck_assert_int_eq(three(&rows[_i], without_key), 0);
}
END_TEST

Suite *suite_foreign(void)
{
    Suite *s = suite_create("tp/foreign");
    TCase *t = tcase_create("foreign");
    tcase_set_timeout(t, 90);
    tcase_add_loop_test(t, bytes_, 0, rows_count);
    tcase_add_loop_test(t, without_key_, 0, rows_count);
#ifdef CONTRACT_OFI
    tcase_add_loop_test(t, forged_, 0, FORGERIES);
#endif
    suite_add_tcase(s, t);
    return s;
}

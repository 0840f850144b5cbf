/* peers.h - peers of the watch that the test plays, over the loop back: three hosts in the map, or
 * my_hosts, and one in truth. Addresses of other hosts are 127.0.0.2 and on, which are none of this
 * host's own (W3). */
#ifndef PEERS_H
#define PEERS_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot_types.h"
#include "boot/detector.h"
#include "unit.h"
#include "var/var.h"

enum { SIZE = 60 }; /* ranks 0, 3, 6 ..: this host */

static int me; /* rank given by my_init() */
static int my_hosts = 3;
/* Number of the job's first process. Not 0: those below it are of other jobs, as are the last. */
static int my_first;

static inline int my_init(int *rank, int *size, int *appnum)
{
    *rank = me;
    *size = SIZE;
    *appnum = -1;
    return 0;
}

static inline int my_nothing(void)
{
    return 0;
}

static inline int my_map(char *text, size_t len)
{
    snprintf(text, len, "(vector,(0,%d,1))", my_hosts);
    return 0;
}

static inline int my_job(char *text, size_t len)
{
    snprintf(text, len, "watch");
    return 0;
}

static const struct boot_ops mine = {.name = "mine", .init = my_init, .barrier = my_nothing,
                                     .node_map = my_map, .job_id = my_job, .finalize = my_nothing,
                                     .watched = 1};

static inline void begin(void)
{
    char msg[200];
    setenv("MPIR_CVAR_PEER_INTERFACE", "lo", 1);
    setenv("MPIR_CVAR_PEER_TIMEOUT", "1", 1);
    ck_assert_int_eq(var_init(msg, sizeof msg), 0);
    ck_assert_int_eq(boot_init(&mine), 0);
    proc->boot->first = my_first;
    proc->boot->universe += 2 * my_first;
    ck_assert_int_eq(boot_detector_start(0), 0);
    if (my_hosts == 1) {
        ck_assert_uint_eq(boot_detector_turn(), 0);
        ck_assert_int_eq(boot_detector_start(1), 0);
    }
    ck_assert_uint_gt(boot_detector_turn(), 0);
}

static inline void end(void)
{
    boot_detector_stop();
    boot_detector_stop(); /* harmless */
    ck_assert_uint_eq(boot_detector_turn(), 0);
    boot_finalize();
    var_finalize();
}

static inline struct detector_card own_card(void)
{
    struct detector_card c;
    ck_assert_uint_eq(boot_detector_card(&c, sizeof c), sizeof c);
    return c;
}

/* A port at 127.0.0.x and its card; backlog -1: it is closed again. */
static inline int peer_open(int x, int backlog, struct detector_card *c)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(0x7f000000u + (unsigned)x)};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    *c = (struct detector_card){.hello = 0x1111, .answer = 0x2222, .host = "there", .spots = 1};
    memcpy(c->spot[0].bytes, &a.sin_addr, 4);
    c->spot[0].port = a.sin_port;
    if (backlog < 0) {
        close(fd);
        return -1;
    }
    ck_assert_int_eq(listen(fd, backlog), 0);
    return fd;
}

static inline struct sockaddr_in card_address(const struct detector_card *c)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = c->spot[0].port};
    memcpy(&a.sin_addr, c->spot[0].bytes, 4);
    return a;
}

/* A port that had been closed is there again. */
static inline int peer_again(const struct detector_card *c)
{
    struct sockaddr_in a = card_address(c);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    ck_assert_int_eq(listen(fd, 8), 0);
    return fd;
}

/* Take one question, on a connection of its own, and answer it; the asker's rank. */
static inline uint32_t answer_on(int s, const struct detector_card *c,
                                 const struct detector_obituary *o, uint32_t n)
{
    struct detector_hello h;
    struct detector_answer a = {.secret = c->answer, .deaths = n};
    ck_assert_int_ge(s, 0);
    ck_assert_int_eq(recv(s, &h, sizeof h, MSG_WAITALL), sizeof h);
    ck_assert_uint_eq(h.secret, c->hello);
    if (n)
        memcpy(a.death, o, n * sizeof *o);
    /* In two pieces, as a network may. */
    size_t len = offsetof(struct detector_answer, death) + n * sizeof *o;
    ck_assert_int_eq(send(s, &a, 7, 0), 7);
    usleep(20000);
    ck_assert_int_eq(send(s, (char *)&a + 7, len - 7, 0), (ssize_t)len - 7);
    close(s);
    return h.rank;
}

static inline uint32_t peer_answer(int fd, const struct detector_card *c,
                                   const struct detector_obituary *o, uint32_t n)
{
    return answer_on(accept(fd, NULL, NULL), c, o, n);
}

static inline void until_dead(int rank, double least, double most)
{
    uint64_t from = time_now();
    while (!boot_failed(rank) && time_now() - from < (uint64_t)(most * 1e9))
        usleep(5000);
    ck_assert_int_eq(boot_failed(rank), 1);
    ck_assert_uint_ge(time_now() - from, (uint64_t)(least * 1e9));
}

static struct detector_card first_card; /* of rank 1 */

/* W2: a process of another host answers, lives on, and is silent. Returns its port. */
static inline int prove(void)
{
    struct detector_card c;
    int fd = peer_open(2, 8, &c);
    first_card = c;
    boot_detector_ask(1, &c, sizeof c);
    ck_assert_uint_eq(peer_answer(fd, &c, NULL, 0), (uint32_t)my_first);
    usleep(50000); /* until it is read */
    ck_assert_int_eq(boot_failed_count(), 0);
    return fd;
}

enum { FILL = 4 };

/* Rank 1's host has spoken, and rank 2's is silent: a queue that is full answers nothing, as a host
 * that is cut off. */
struct hosts {
    struct detector_card silent;
    int first_fd, silent_fd, fill[FILL];
};

static inline void hosts_open(struct hosts *h)
{
    begin();
    h->first_fd = prove();
    h->silent_fd = peer_open(3, 0, &h->silent);
    struct sockaddr_in a = card_address(&h->silent);
    for (int i = 0; i < FILL; i++) {
        h->fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)!connect(h->fill[i], (struct sockaddr *)&a, sizeof a);
    }
    usleep(50000);
}

static inline void hosts_close(struct hosts *h)
{
    for (int i = 0; i < FILL; i++)
        close(h->fill[i]);
    close(h->silent_fd);
    close(h->first_fd);
    end();
}

/* 127.0.0.x, from which the test asks; 0: an address of this host. */
static int far_address;
/* W5: rank 2 is silent. Rank 5 of its host answers at 127.0.0.x, so rank 2 is not given up; then
 * both are silent. Returns the port of rank 5. */
static inline int silent_beside(struct hosts *h, int x)
{
    struct detector_card d;
    hosts_open(h); /* 1, and 2, which is silent */
    int other = peer_open(x, 8, &d);
    for (int i = 0; i < 10; i++) {
        boot_detector_ask(2, &h->silent, sizeof h->silent);
        boot_detector_ask(5, &d, sizeof d);
        peer_answer(other, &d, NULL, 0);
        usleep(250000);
    }
    ck_assert_int_eq(boot_failed_count(), 0);
    boot_detector_ask(2, &h->silent, sizeof h->silent);
    until_dead(2, 0.5, 4);
    return other;
}

static inline int ask_listener(const struct detector_card *c, const struct detector_hello *h,
                               size_t len, struct detector_answer *a)
{
    struct sockaddr_in to = card_address(c);
    struct sockaddr_in from = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(0x7f000000u + (unsigned)far_address)};
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (far_address)
        ck_assert_int_eq(bind(s, (struct sockaddr *)&from, sizeof from), 0);
    if (connect(s, (struct sockaddr *)&to, sizeof to) != 0) {
        close(s);
        return -errno;
    }
    ck_assert_int_eq(send(s, h, len, MSG_NOSIGNAL), (ssize_t)len);
    if (len < sizeof *h)
        shutdown(s, SHUT_WR);
    int n = (int)recv(s, a, sizeof *a, MSG_WAITALL);
    close(s);
    return n;
}

/* What `rank` learns of the deaths. */
static inline void told(uint32_t rank, struct detector_answer *a)
{
    struct detector_card c = own_card();
    struct detector_hello h = {.secret = c.hello, .rank = rank};
    memset(a, 0, sizeof *a);
    ck_assert_int_ge(ask_listener(&c, &h, sizeof h, a),
                     (int)offsetof(struct detector_answer, death));
}

#endif

/* liveness.c - which processes are asked whether they live, and when. The failure detector (boot/)
 * has no list of processes, and rooms above have no hosts. Start with am_stalled().
 *
 * While this process waits, and has waited for a second, it asks at most AM_ASKED processes each
 * boot_detector_turn(). They are the one that the wait names, a sample of those that rooms wait
 * for, others that it ever talked to, in turn, and those of its host. (A process that is served all
 * the time also asks, but that does not delay the requests of a wait that lasts.) If there are more
 * of them, no single process asks all in time. But all waiting processes ask, from different
 * places, and each answer carries the failures that its sender has seen. So one process that finds
 * a failure is enough. */
#include "am/am_types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "watch/watch.h"

/* Time for the answer to a first request: two ways and the wake-up of a thread (ns). */
static const uint64_t ANSWER_NS = 1000000000u;
/* Time for a first message and its answer, which set up a connection; both sides start at about the
 * same time. */
static const uint64_t HELLO_NS = 1000000000u;
/* Between two checks whether memory and a descriptor are there (ns). */
static const uint64_t ROOM_NS = 1000000000u;

static void ask(int rank)
{
    am_ask_by(rank, boot_detector_ask);
}

/* --- named by rooms ------------------------------------------------------------------ */

void am_on_stall(void (*fn)(void (*ask)(int rank)))
{
    struct am_alive *l = &proc->am->alive;
    int i = 0;
    while (i < AM_FAIL_HOOKS && l->on_stall[i] && l->on_stall[i] != fn)
        i++;
    WR_ASSERT(i < AM_FAIL_HOOKS);
    l->on_stall[i] = fn;
}

/* Each of the n named ranks is in the sample with the same probability. */
static void name(int rank)
{
    struct am_alive *l = &proc->am->alive;
    unsigned n = l->nnamed++;
    if (n >= AM_NAMED)
        n = (unsigned)(random_bits() % (n + 1));
    if (n < AM_NAMED)
        l->named[n] = rank;
}

static int ask_any_peer(void (*fn)(int rank, const void *card, size_t len))
{
    for (int i = 0; i < 8; i++) {
        int rank = boot_first() + (int)(random_bits() % (uint64_t)boot_size());
        if (boot_host_index(rank) < 0 && !boot_failed(rank)) {
            am_ask_by(rank, fn);
            return 1;
        }
    }
    return 0;
}

/* --- known, in turn -------------------------------------------------------------------- */

static int next_idle(struct am *a)
{
    struct am_alive *l = &a->alive;
    for (;;) {
        const struct am_chunk *c = l->chunk ? map_get(&a->idle, l->chunk) : NULL;
        while (c && l->in_chunk < AM_CHUNK) {
            unsigned i = l->in_chunk++;
            if (am_chunk_has(c, i))
                return (int)((l->chunk - 1) * AM_CHUNK + i);
        }
        const struct map_entry *e = map_next(&a->idle, &l->at);
        l->in_chunk = 0;
        l->chunk = e ? e->key : 0;
        if (!e)
            return -1;
    }
}

/* The next process; -1: each had its turn. The maps may have changed since the last call: then one
 * is skipped or comes twice. */
static int next_known(struct am *a)
{
    struct am_alive *l = &a->alive;
    int rank = -1;
    if (l->phase == 0) {
        const struct map_entry *e = map_next(&a->peers, &l->at);
        if (e)
            return (int)e->key;
        l->phase = 1;
        l->at = 0;
    }
    if (l->phase == 1 && (rank = next_idle(a)) < 0) {
        l->phase = 2;
        l->at = 0;
    }
    /* The next on this host first, and so on round: else all neighbours of a process would ask it
     * at once. */
    if (l->phase == 2 && l->at < (size_t)boot_host_processes())
        return boot_host_rank((int)((++l->at + (size_t)boot_host_index(boot_rank())) %
                                    (size_t)boot_host_processes()));
    if (rank < 0) {
        l->phase = 0;
        l->at = 0;
    }
    return rank;
}

static void reach(int rank)
{
    if (rank >= 0 && rank != boot_rank())
        (void)am_reach(rank);
}

/* This process waits and has no memory for a connection. What it waits for may come over one: so it
 * makes that one itself, to the awaited processes that it has not talked to. If that fails, too,
 * the transport reports it after some seconds (am_lost()), and the wait ends with an error. */
static __attribute__((cold)) void starved(struct am *a, int peer)
{
    char limits[256];
    if (!(a->warned & AM_WARN_MEMORY))
        log_warn("this process waits and has no memory left for a connection (limits: %s): "
                 "processes that have not talked to it before may not reach it over the network",
                 mem_limits(limits, sizeof limits, 1));
    a->warned |= AM_WARN_MEMORY;
    reach(peer);
    for (int i = 0; i < AM_FAIL_HOOKS && a->alive.on_stall[i]; i++)
        a->alive.on_stall[i](reach);
}

/* A network accepts connections by itself. Without memory or a descriptor it reports nothing, and
 * the caller waits for ever. */
static void look_for_room(struct am *a, int peer, uint64_t now)
{
    if (!a->networks || now < a->alive.next_room)
        return;
    a->alive.next_room = now + ROOM_NS;
    if (mem_starves())
        starved(a, peer);
    if (a->warned & AM_WARN_FDS)
        return;
    int fd = fcntl(mem_wake_fd(), F_DUPFD_CLOEXEC, 0);
    if (fd >= 0) {
        close(fd);
    } else if (errno == EMFILE || errno == EINVAL) { /* the second: a limit of 0 */
        a->warned |= AM_WARN_FDS;
        log_warn("this process waits and has no file descriptor left (RLIMIT_NOFILE, ulimit -n): "
                 "processes that have not talked to it before may not reach it over the network");
    }
}

void am_stalled(int peer, int lasts)
{
    struct am *a = proc->am;
    struct am_alive *l = &a->alive;
    uint64_t turn = boot_detector_turn(), now = time_now();
    int left = AM_ASKED, ends = 0;
    if (lasts)
        look_for_room(a, peer, now);
    if (!turn || now < (lasts ? l->next : l->next_calm))
        return;
    /* spread: not all at the same time */
    l->next_calm = now + turn - turn / 8 + random_bits() % (turn / 4);
    if (lasts)
        l->next = l->next_calm;
    ask(peer);
    ask(boot_detector_doubt());
    /* If a process fails before any process of another host has answered, its failure is found only
     * after an answer has come (boot/detector.c, W2): any process will do. */
    if (!boot_detector_proven())
        left -= ask_any_peer(boot_detector_try);
    l->nnamed = 0;
    for (int i = 0; i < AM_FAIL_HOOKS && l->on_stall[i]; i++)
        l->on_stall[i](name);
    /* no process of another host is known: any may be the one */
    if (peer < 0 && !l->nnamed && !l->met)
        left -= ask_any_peer(boot_detector_ask);
    for (unsigned i = 0; i < l->nnamed && i < AM_NAMED; i++, left--)
        ask(l->named[i]);
    if (!l->started++ && a->peers.count)
        l->at = random_bits() % (a->peers.mask + 1);
    while (left > 1 && ends < 2) {
        int rank = next_known(a);
        if (rank < 0) {
            ends++;
        } else {
            ask(rank);
            left--;
        }
    }
}

const struct watcher am_watcher = {.wait_stalls = am_stalled};

/* --- start ---------------------------------------------------------------------------------
 *
 *      am_open    the failure detector starts, its card is put
 *      barrier    all live, and their cards are there
 *      am_init    ask a neighbour on another host ... no barrier before it has answered, or a
 *                 timeout: then there is probably a firewall
 *      barrier
 *      am_greet   in that case: a message there and back, so that one is known to be possible
 *
 * So a failure after MPI_Init is found, whether the process had talked to another or not. The
 * finder is a process that waits for it, or one that waits for any process and has met none. */

static void card_key(int rank, char key[32])
{
    snprintf(key, 32, "alive.%d", rank);
}

void am_liveness_start(int guests)
{
    int blind = boot_detector_start(guests);
    if (blind && boot_host_index(boot_rank()) == 0) /* one process of the host reports it */
        log_warn("processes of other %s will not be able to ask whether this one lives: %s "
                 "(MPIR_CVAR_PEER_INTERFACE)",
                 guests ? "jobs" : "hosts", strerror(-blind));
}

int am_liveness_answer(void)
{
    unsigned char card[BOOT_CARD_MAX];
    char key[32];
    am_liveness_start(0);
    if (boot_host_processes() == boot_size())
        return 0;
    /* Without a card, an empty one is put: some launchers wait for a value that was never put. */
    size_t len = boot_detector_card(card, sizeof card);
    card[0] = len ? card[0] : 0;
    card_key(boot_rank(), key);
    return boot_put(key, card, len ? len : 1);
}

/* On another host; if all hosts have equally many processes, each process is a neighbour of one. */
static int neighbour(void)
{
    int64_t at = boot_rank() - boot_first() + boot_host_processes();
    for (int i = 0; i <= boot_host_processes(); i++) {
        int rank = boot_first() + (int)((at + i) % boot_size());
        if (boot_host_index(rank) < 0)
            return rank;
    }
    return -1;
}

void am_liveness_ask(void)
{
    unsigned char card[BOOT_CARD_MAX];
    char key[32];
    size_t len = sizeof card;
    int rank = boot_detector_turn() ? neighbour() : -1;
    card_key(rank, key);
    proc->am->alive.asked = rank >= 0 && boot_get(key, card, &len) == 0 && len > 1;
    if (proc->am->alive.asked)
        boot_detector_try(rank, card, len);
}

void am_liveness_wait(void)
{
    if (proc->am->alive.asked)
        boot_detector_wait(ANSWER_NS);
}

static int on_hello(int src, const void *msg, size_t len)
{
    (void)msg, (void)len;
    am_reply(src, AM_HELLO_BACK, NULL, 0);
    return 0;
}

static int on_hello_back(int src, const void *msg, size_t len)
{
    (void)src, (void)msg, (void)len;
    proc->am->alive.greeted = 1;
    return 0;
}

void am_liveness_init(void)
{
    proc->am->alive.heard = !boot_detector_turn(); /* the failure detector is off */
    am_handler(AM_HELLO, on_hello);
    am_reply_handler(AM_HELLO_BACK, on_hello_back);
}

/* Not before the answer: a process that only got the other's greeting may leave while its own is
 * still here. With more than two processes, other greetings may yet come, and their senders would
 * hear nothing if this process computed then. So it serves until the time is over. */
static int is_greeted(void *arg)
{
    int *rank = arg; /* -1: the greeting has left */
    if (*rank >= 0 && am_request(*rank, AM_HELLO, NULL, 0, 1) != AM_AGAIN)
        *rank = -1;
    return proc->am->alive.greeted && boot_size() == 2;
}

void am_greet(void)
{
    int rank = boot_detector_turn() && boot_detector_deaf() && am_networks() ? neighbour() : -1;
    if (rank >= 0)
        progress_wait_for(is_greeted, &rank, "the first message of another host", -1, HELLO_NS);
}

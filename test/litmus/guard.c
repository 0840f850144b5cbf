/* guard.c - a process dies between any two instructions of a call on a near lock (shmlock.c).
 *
 *   guard                    one death in all cases, the other kinds in those marked `deep`
 *   guard one|two|living     all cases of one kind; minutes
 *
 * What a process leaves when it is killed are the bytes of the lock, and only stores change these.
 * So a child makes one call with the page of the lock write-protected: each store faults, is let
 * through alone, by single step, and the bytes behind it are kept. This process then plays the
 * survivors on a copy of each: those that hold the lock, that wait for it, and that come later.
 * Each must get the lock or the error within a few polls. No two may hold what excludes each other.
 * At the end the lock must be free and keep its order.
 *
 * Three kinds: one death; a second process dies while it repairs what the first left; a living
 * process stands before or behind a store of its own while others repair.  Nothing is random. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "guard.h"
#include "guard_cases.h"
#include "rma/shared/shmlock.h"

enum { OWNER = 0, FAR = PEERS, HANG = 1 << 16 };

struct shared *shared;
static struct peer *peer;
static const int32_t host_index[PEERS] = {0, 1, 2, 3, 4, 5};
static unsigned dead, far_knows; /* bits */
static const char *case_name, *stage = "setup";
static int at_state, states_seen;
static jmp_buf hang;
static pid_t mover; /* a living child that stands at a store */
static int may_hang;

static struct shmlock *lock(void) { return (struct shmlock *)(void *)shared->now.lock; }
static struct shmnode node(unsigned p) { return (struct shmnode){PEERS, p, host_index}; }
static int lives(unsigned p) { return !(dead >> (p == FAR ? OWNER : p) & 1); }

static void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void fail(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (shared->failures++ < 20) {
        printf("%s: state %d, %s: ", case_name, at_state, stage);
        vprintf(fmt, ap);
        printf("\n");
        fflush(stdout); /* a child ends without */
    }
    va_end(ap);
}

/* --- what shmlock.c asks of other rooms ------------------------------------------------------ */

const struct sched_ops *sched;
int boot_host_rank(int index) { return index; }
int boot_failed(int rank) { return rank >= 0 && rank < PEERS && (dead >> rank & 1); }
int boot_failed_count(void) { return __builtin_popcount(dead); }
int mem_holder_died(unsigned word) { return boot_failed((int)word - 1); }
void mem_wake(int index) { (void)index; }

void thread_pause(unsigned turn)
{
    if (mover && !guard_in_child) /* it lives: it goes on while others wait for it */
        (void)guard_step(0);
    if (turn <= HANG)
        return;
    if (guard_in_child)
        _exit(1);
    if (!may_hang) {
        printf("%s: hangs before a death\n", case_name);
        exit(1);
    }
    may_hang = 0;
    longjmp(hang, 1);
}

/* --- one letter, one call -------------------------------------------------------------------- */

static void got(unsigned p, int type)
{
    for (unsigned q = 0; q <= PEERS; q++)
        if (q != p && lives(q) && peer[q].holds &&
            (type == SHMLOCK_EXCLUSIVE || peer[q].holds == SHMLOCK_EXCLUSIVE))
            fail("%u holds the lock beside %u", p, q);
    peer[p].holds = (uint8_t)type;
    peer[p].waits = 0;
    size_t n = strlen(shared->grants);
    if (n + 1 < sizeof shared->grants)
        shared->grants[n] = (char)('0' + p);
}

static void asked(unsigned p, int type, int result)
{
    if (result)
        got(p, type);
    else
        peer[p].waits = (uint8_t)type;
}

static void far_ask(int type)
{
    struct shmnode n = node(OWNER);
    if (shmlock_far_try(lock(), &n, (enum shmlock_type)type, 1, 0)) {
        got(FAR, type);
        return;
    }
    peer[FAR].key = shmlock_far_key(lock(), &n, (enum shmlock_type)type, SHMLOCK_NOW);
    shmlock_far_waiting(lock(), &n, type, peer[FAR].key);
    peer[FAR].waits = (uint8_t)type;
}

/* The owner's hook. */
static int far_poll(void)
{
    struct shmnode n = node(OWNER);
    int type = peer[FAR].waits;
    if (dead & ~far_knows) /* rma_lockq_fail() */
        shmlock_fail(lock(), &n);
    far_knows = dead;
    if (!shmlock_far_try(lock(), &n, (enum shmlock_type)type, 1, 0))
        return 0;
    shmlock_far_waiting(lock(), &n, 0, 0);
    got(FAR, type);
    return 1;
}

static void far_leave(void)
{
    struct shmnode n = node(OWNER);
    int type = peer[FAR].holds;
    peer[FAR].holds = 0;
    shmlock_far_leave(lock(), &n, (enum shmlock_type)type);
}

static void leave(unsigned p)
{
    struct shmnode n = node(p);
    int type = peer[p].holds;
    peer[p].holds = 0;
    shmlock_leave(lock(), &n, (enum shmlock_type)type);
}

static int poll_peer(unsigned p)
{
    struct shmnode n = node(p);
    if (p == FAR)
        return far_poll();
    int result = shmlock_poll(lock(), &n);
    if (result > 0)
        got(p, peer[p].waits);
    if (result < 0) {
        peer[p].waits = 0;
        peer[p].told++;
    }
    return result;
}

/* X, S: lock, exclusive or shared.  A: shared, and older than all that wait.  x, s: try.  P: poll.
 * L: unlock.  B: look for failed holders.  At the owner, F, f: a far request, exclusive or shared;
 * J: of an old reader; T: the hook; l: far unlock; w: the far request is withdrawn; H: a far holder
 * failed; D, d: doubt, and none. */
static void call(unsigned p, char op)
{
    struct shmnode n = node(p);
    struct shmlock *l = lock();
    switch (op) {
    case 'X': asked(p, SHMLOCK_EXCLUSIVE, shmlock_enter(l, &n, SHMLOCK_EXCLUSIVE)); break;
    case 'S': asked(p, SHMLOCK_SHARED, shmlock_enter(l, &n, SHMLOCK_SHARED)); break;
    case 'A': asked(p, SHMLOCK_SHARED, shmlock_enter_aged(l, &n, SHMLOCK_SHARED, 0)); break;
    case 'x': if (shmlock_try(l, &n, SHMLOCK_EXCLUSIVE)) got(p, SHMLOCK_EXCLUSIVE); break;
    case 's': if (shmlock_try(l, &n, SHMLOCK_SHARED)) got(p, SHMLOCK_SHARED); break;
    case 'P': poll_peer(p); break;
    case 'L': leave(p); break;
    case 'B': shmlock_fail(l, &n); break;
    case 'F': far_ask(SHMLOCK_EXCLUSIVE); break;
    case 'f': far_ask(SHMLOCK_SHARED); break;
    case 'J': if (shmlock_far_try(l, &n, SHMLOCK_SHARED, 1, 1)) got(FAR, SHMLOCK_SHARED); break;
    case 'T': far_poll(); break;
    case 'l': far_leave(); break;
    case 'w': peer[FAR].waits = 0; shmlock_far_waiting(l, &n, 0, 0); break;
    case 'H': shmlock_break(l, &n); break;
    case 'D': shmlock_doubt(l, &n, 1); break;
    case 'd': shmlock_doubt(l, &n, 0); break;
    default: fprintf(stderr, "guard: no call '%c'\n", op); exit(2);
    }
}

/* "1X 2S": peer and call, one after the other; "4+": it fails. */
void guard_play(const char *script)
{
    for (; *script; script++) {
        if (*script == ' ')
            continue;
        unsigned p = (unsigned)(*script++ - '0');
        if (*script == '+')
            dead |= 1u << p;
        else
            call(p, *script);
    }
}

/* --- the survivors --------------------------------------------------------------------------- */

static int all_poll(void)
{
    int waiting = 0;
    for (int round = 0; round < 3; round++) {
        waiting = 0;
        for (unsigned p = 0; p <= PEERS; p++)
            if (lives(p) && peer[p].waits && !poll_peer(p))
                waiting++;
    }
    return waiting;
}

static int all_leave(void)
{
    int n = 0;
    for (unsigned p = 0; p <= PEERS; p++)
        if (lives(p) && peer[p].holds) {
            n++;
            if (p == FAR)
                far_leave();
            else
                leave(p);
        }
    return n;
}

/* Every peer gets the lock or the error, and gives it back. */
static int drain(void)
{
    for (;;) {
        int waiting = all_poll(), left = all_leave();
        if (waiting && !left) {
        fail("%d wait for no holder", waiting);
            return 0;
        }
        if (!waiting && !left)
            return 1;
    }
}

/* Those that come later: alone, in a row, readers together, a far one. */
static void newcomers(void)
{
    int owner = lives(OWNER); /* the lock of a failed target may be closed, but none hangs */
    for (unsigned p = 0; p < PEERS; p++)
        if (lives(p)) {
            unsigned told = peer[p].told;
            call(p, p % 2 ? 'X' : 'S');
            if (peer[p].waits && all_poll())
                fail("%u comes later and waits", p);
            if (owner && (peer[p].told != told || !peer[p].holds))
                fail("%u comes later and is told", p);
            if (!drain())
                return;
        }
    memset(shared->grants, 0, sizeof shared->grants);
    char row[PEERS + 1] = "";
    for (unsigned p = 1; p < PEERS; p++)
        if (lives(p)) {
            call(p, strlen(row) < 2 ? 'X' : 'S');
            row[strlen(row)] = (char)('0' + p);
        }
    if (drain() && owner && strcmp(shared->grants, row))
        fail("a row of newcomers, \"%s\", came in as \"%s\"", row, shared->grants);
    if (owner) {
        guard_play("0F");
        if (!peer[FAR].holds)
            fail("a far one that comes later waits");
        drain();
    }
}

static void survive(const char *order, int innocent)
{
    memset(shared->grants, 0, sizeof shared->grants);
    if (setjmp(hang)) {
        fail("hangs in a call");
        return;
    }
    may_hang = 1;
    stage = "the living poll";
    all_poll();
    stage = "holders leave";
    if (!drain())
        return;
    int told = 0;
    for (unsigned p = 0; p < PEERS; p++)
        told += lives(p) ? peer[p].told : 0;
    if (innocent && told)
        fail("%d were told of a failure of one that held nothing", told);
    if (order && !told && strcmp(order, shared->grants) != 0)
        fail("order of grants \"%s\", not \"%s\"", shared->grants, order);
    stage = "newcomers";
    newcomers();
    stage = "at the end";
    for (unsigned p = 0; p < PEERS && lives(OWNER); p++) {
        struct shmnode n = node(p);
        if (lives(p) && !shmlock_try(lock(), &n, SHMLOCK_EXCLUSIVE))
            fail("the lock is not free");
        else if (lives(p))
            shmlock_leave(lock(), &n, SHMLOCK_EXCLUSIVE);
    }
    may_hang = 0;
}

/* --- cases ----------------------------------------------------------------------------------- */

static struct peer before[PEERS + 1];
static unsigned dead_before;

static void set_up(const char *script)
{
    dead = 0;
    mover = 0;
    stage = "setup";
    memset(peer, 0, sizeof before);
    memset(&shared->now, 0, sizeof shared->now);
    shmlock_init(lock(), PEERS, OWNER);
    guard_play(script);
    memcpy(before, peer, sizeof before);
    dead_before = dead;
}

static void again(const struct state *s, unsigned more_dead)
{
    shared->now = *s;
    memcpy(peer, before, sizeof before);
    dead = dead_before | more_dead;
    far_knows = 0;
}

static void one_death(const struct die *d)
{
    static struct state states[STATES];
    set_up(d->setup);
    int n = guard_record(d->act, states);
    if (n < 0)
        fail("the call does not come to its end");
    for (at_state = 0; at_state < n; at_state++) {
        again(&states[at_state], 1u << (d->act[0] - '0'));
        survive(d->order, d->innocent);
    }
    states_seen += n;
}

/* --- the one that repairs dies, too --- */

/* What survivors do, where the case has such a peer: one that waits, holds or comes. */
static const char *const repairs[] = {"2P", "3P", "2L", "5X", "5S", "2B", "0T"};

static int possible(const char *act)
{
    unsigned p = (unsigned)(act[0] - '0');
    switch (act[1]) {
    case 'P': return lives(p) && peer[p].waits;
    case 'L': return lives(p) && peer[p].holds;
    case 'T': return lives(p) && peer[FAR].waits;
    default: return lives(p) && !peer[p].holds && !peer[p].waits;
    }
}

static void two_deaths(const struct die *d)
{
    static struct state first[STATES], second[STATES];
    char name[96];
    set_up(d->setup);
    unsigned one = 1u << (d->act[0] - '0');
    int n = guard_record(d->act, first);
    for (int i = 0; i < n; i++)
        for (size_t r = 0; r < sizeof repairs / sizeof repairs[0]; r++) {
            again(&first[i], one);
            if (!possible(repairs[r]))
                continue;
            snprintf(name, sizeof name, "\"%s\" + \"%s\" at %d, then \"%s\"", d->setup, d->act, i,
                     repairs[r]);
            case_name = name;
            int m = guard_record(repairs[r], second);
            if (m < 0)
                fail("the repair does not come to its end");
            for (at_state = 0; at_state < m; at_state++) {
                again(&second[at_state], one | 1u << (repairs[r][0] - '0'));
                survive(NULL, 0);
            }
            states_seen += m;
        }
}

/* --- a living one stands in the middle --- */

static const char *const moves[] = {"4X", "4S", "4x", "4s", "4L"};

/* One process comes to that stop while no other moves, and stands there while others repair. It
 * goes on when they wait for it, then to its end. 0: its call has fewer stops. */
static int one_mover(const struct state *s, unsigned one, const char *move, int stops)
{
    again(s, one);
    memset(shared->grants, 0, sizeof shared->grants);
    mover = guard_start(move);
    int there_yet = guard_step(1);
    while (there_yet && stops--)
        there_yet = guard_step(0);
    stage = "beside a living one in the middle of a call";
    if (there_yet && setjmp(hang)) {
        fail("hangs in a call");
        kill(mover, SIGKILL);
        (void)guard_ended(mover);
        mover = 0;
        return 1;
    }
    if (there_yet) {
        may_hang = 1;
        call(5, 'S');
        for (unsigned p = 0; p <= PEERS; p++)
            if (p != 4 && lives(p) && peer[p].waits)
                (void)poll_peer(p);
    }
    may_hang = 0;
    while (guard_step(0))
        ;
    if (!guard_ended(mover))
        fail("the living one does not come to its end");
    mover = 0;
    if (there_yet)
        survive(NULL, 0);
    return there_yet;
}

static void movers(const struct die *d)
{
    static struct state first[STATES];
    char name[96];
    set_up(d->setup);
    unsigned one = 1u << (d->act[0] - '0');
    int n = guard_record(d->act, first);
    for (int i = 0; i < n; i++)
        for (size_t m = 0; m < sizeof moves / sizeof moves[0]; m++) {
            again(&first[i], one);
            if (!possible(moves[m]))
                continue;
            snprintf(name, sizeof name, "\"%s\" + \"%s\" at %d, beside \"%s\"", d->setup, d->act, i,
                     moves[m]);
            case_name = name;
            at_state = 0;
            while (one_mover(&first[i], one, moves[m], at_state))
                at_state++;
            states_seen += at_state;
        }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const struct die *);
    } kinds[] = {{"one", one_death}, {"two", two_deaths}, {"living", movers}};
    static const struct sched_ops no_spin = {0};
    if (!guard_can_step()) {
        printf("skipped: needs an x86-64 processor\n");
        return 77;
    }
    signal(SIGPIPE, SIG_IGN);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || shmlock_bytes(PEERS) > BYTES || sysconf(_SC_PAGESIZE) != PAGE) {
        fprintf(stderr, "guard: no memory\n");
        return 2;
    }
    peer = shared->peer;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        if (argc > 1 && strcmp(argv[1], kinds[k].name) != 0)
            continue;
        states_seen = 0;
        sched = k ? &no_spin : NULL; /* the spin before a place in the queue changes nothing */
        for (size_t i = 0; i < sizeof dies / sizeof dies[0]; i++) {
            char name[96];
            snprintf(name, sizeof name, "\"%s\" + \"%s\"", dies[i].setup, dies[i].act);
            case_name = name;
            if (k == 0 || argc > 1 || (dies[i].deep & 1 << k))
                kinds[k].run(&dies[i]);
        }
        printf("%-8s %7d states\n", kinds[k].name, states_seen);
        fflush(stdout);
    }
    printf("%d failures\n", shared->failures);
    return shared->failures != 0;
}

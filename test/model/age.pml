/* The order of locks (rma.md 5.3): several origins lock and unlock, round after round.
 *
 * N origins, T locks.  In each epoch an origin does one of
 *   EXCLUSIVE: one exclusive lock;
 *   SEVERAL: shared locks in an order of its own, each granted before the next (MPI_Win_lock);
 *   ALL: some of the locks of LOCK_ALL, in an order of its own, without a wait in between.
 * When all are granted it gives them back in any order, and takes none in the epoch from then on.
 * With RELOCK it may take more, also the same again.
 *
 * Near (default): one clock.  Only the order of its values counts, so they are renumbered after
 * each step, and the number of rounds is unlimited.
 * FAR: a clock for each target.  MIXED: two nodes, each with a clock, half of the origins and half
 * of the targets.  Of these two, ROUNDS rounds of each origin are explored.
 *
 * Checked: exclusion; no deadlock (invalid end states); while a writer waits for a lock each other
 * origin gets it in one epoch at most, and without RELOCK once at most.  So a writer waits for
 * N - 1 grants at most.
 *
 * WRITERS_HOLD is what the rule does not promise: an origin that holds lock 0 shared asks for
 * lock 1 exclusive.  It waits for a reader of 1, which waits at 0 for an older writer, which waits
 * for the first. */
#ifndef N
#define N 3
#endif
#ifndef T
#define T 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifdef LEARNED /* origin 1 has met a writer at target 0, and origin 0 has a round more */
#define FIRST_ROUNDS 1
#define ALL_TOO false
#else
#define ALL_TOO true
#define FIRST_ROUNDS 0
#endif
#if defined(FAR)
#define NODES T
#define NODE_OF(l) (l)
#define IS_NEAR(o, l) false
#elif defined(MIXED)
#define NODES 2
#define NODE_OF(l) ((l) % 2)
#define IS_NEAR(o, l) ((o) % 2 == (l) % 2)
#else
#define NODES 1
#define NODE_OF(l) 0
#define IS_NEAR(o, l) true
#define UNLIMITED
#endif
#define AT(o, l) ((o) * T + (l))

mtype = { IDLE, EXCLUSIVE, SEVERAL, ALL, GIVING };

byte clock[NODES]; /* writers that had to queue */
byte seen[N];      /* the clock, as far as the origin knows it */
byte age[N];       /* of the locks that the origin holds or asks for */
mtype kind[N];     /* of its epoch */
byte want[N * T];  /* a request that waits: 1 shared, 2 exclusive */
byte key[N * T];   /* its key: a writer's count, a reader's age */
byte held[N * T];
byte met[N * T];   /* of a writer that waits: origins that got the lock meanwhile, one bit each */
byte over[N * T];  /* those of them whose epoch has ended since */
#ifndef UNLIMITED
byte round[N];
#endif
hidden byte best, i, v; /* inside a step only */
hidden byte writer, reader, found;

/* Does request a stand before request b?  A writer stands before readers that are as old. */
#ifdef BREAK_TIE
#define FIRST 1
#else
#define FIRST 2
#endif
#define OLDER(a, b) \
    (want[a] == FIRST && want[b] != FIRST -> key[a] <= key[b] : key[a] < key[b])

#ifdef UNLIMITED
/* Close the gaps between the values of the clock. */
inline renumber()
{
    v = 0;
    do
    :: v < clock[0] ->
        found = false;
        for (i : 0 .. N - 1) {
            found = found || seen[i] == v || (kind[i] != IDLE && age[i] == v)
        }
        for (i : 0 .. N * T - 1) {
            found = found || (want[i] && key[i] == v)
        }
        if
        :: found -> v++
        :: else ->
            clock[0]--;
            for (i : 0 .. N - 1) {
                seen[i] = (seen[i] > v -> seen[i] - 1 : seen[i]);
                age[i] = (age[i] > v -> age[i] - 1 : age[i])
            }
            for (i : 0 .. N * T - 1) {
                key[i] = (key[i] > v -> key[i] - 1 : key[i])
            }
        fi
    :: else -> break
    od
}
#else
inline renumber() { skip }
#endif

inline granted(o, l)
{
    held[AT(o, l)] = want[AT(o, l)];
    want[AT(o, l)] = 0; key[AT(o, l)] = 0; met[AT(o, l)] = 0; over[AT(o, l)] = 0;
    for (i : 0 .. N - 1) {
        if
        :: want[AT(i, l)] == 2 ->
            assert(!(over[AT(i, l)] & (1 << o))); /* in one epoch at most */
#ifndef RELOCK
            assert(!(met[AT(i, l)] & (1 << o))); /* once at most */
#endif
            met[AT(i, l)] = met[AT(i, l)] | (1 << o)
        :: else
        fi
    }
}

/* Let in all whose turn it is. */
inline pump(l)
{
    do
    :: true ->
        best = N; writer = false; reader = false;
        for (i : 0 .. N - 1) {
            writer = writer || held[AT(i, l)] == 2;
            reader = reader || held[AT(i, l)] == 1;
            if
            :: want[AT(i, l)] && best == N -> best = i
            :: want[AT(i, l)] && best < N ->
                best = (OLDER(AT(i, l), AT(best, l)) -> i : best)
            :: else
            fi
        }
        assert(!(writer && reader)); /* exclusion */
        if
        :: best < N && !writer && !(reader && want[AT(best, l)] == 2) -> granted(best, l)
        :: else -> break
        fi
    od
}

/* A request comes to its target: it enters if nothing is in its way, else it queues with a key.
 * by_age: it passes younger writers. */
inline ask(l, type, by_age)
{
#ifndef BREAK_NO_RAISE
    if
    :: !IS_NEAR(me, l) && clock[NODE_OF(l)] < age[me] -> clock[NODE_OF(l)] = age[me]
    :: else
    fi;
#endif
    found = false;
    for (i : 0 .. N - 1) {
        found = found || held[AT(i, l)] || want[AT(i, l)]
    }
    want[AT(me, l)] = type;
    if
    :: type == 2 -> /* the clock counts writers that have to queue */
        clock[NODE_OF(l)] = clock[NODE_OF(l)] + (found -> 1 : 0);
        key[AT(me, l)] = clock[NODE_OF(l)]
#ifdef BREAK_JOIN_PASSES
    :: type == 1 && by_age -> key[AT(me, l)] = 0
#endif
#ifdef BREAK_NO_PASS
    :: type == 1 -> key[AT(me, l)] = clock[NODE_OF(l)]
#else
    :: type == 1 ->
        key[AT(me, l)] =
            (by_age && age[me] < clock[NODE_OF(l)] -> age[me] : clock[NODE_OF(l)])
#endif
    fi;
    pump(l);
    renumber();
    v = 0
}

inline begin(k)
{
    kind[me] = k;
    age[me] = seen[me];
#ifndef UNLIMITED
    round[me]++
#endif
}

/* The last lock of the epoch has been given back. */
inline end()
{
    age[me] = 0;
    kind[me] = IDLE;
    for (i : 0 .. N * T - 1) {
        over[i] = over[i] | (met[i] & (1 << me))
    }
}

inline leave(l)
{
    held[AT(me, l)] = 0;
    found = false;
    for (i : 0 .. N - 1) {
        found = found || want[AT(i, l)]
    }
#ifndef BREAK_NO_LEARN
    if
    :: found && seen[me] < clock[NODE_OF(l)] -> /* the answer to UNLOCK says the clock */
        seen[me] = clock[NODE_OF(l)];
#ifdef MIXED
        clock[me % 2] = (clock[me % 2] < seen[me] -> seen[me] : clock[me % 2])
#endif
    :: else
    fi;
#endif
#ifndef RELOCK
    kind[me] = GIVING;
#endif
    found = false;
    for (i : 0 .. T - 1) {
        found = found || held[AT(me, i)] || want[AT(me, i)]
    }
    if
    :: !found -> end()
    :: else
    fi;
    pump(l);
    renumber();
    v = 0
}

#if T > 2
#define WAITS (want[AT(me, 0)] || want[AT(me, 1)] || want[AT(me, 2)])
#else
#define WAITS (want[AT(me, 0)] || want[AT(me, 1)])
#endif
#define FREE_OF(l) (!held[AT(me, l)] && !want[AT(me, l)])
#ifdef UNLIMITED
#define MORE true
#else
#define MORE (round[me] < ROUNDS + (me == 0 -> FIRST_ROUNDS : 0))
#endif

/* What an origin may do with lock l. */
#ifdef WRITERS_HOLD
#define UPGRADE \
    :: d_step { kind[me] == SEVERAL && held[AT(me, 0)] == 1 && !WAITS && FREE_OF(1) -> \
                ask(1, 2, false) }
#else
#define UPGRADE
#endif
#define WITH(l) \
    :: d_step { kind[me] == IDLE && MORE -> begin(EXCLUSIVE); ask(l, 2, false) } \
    :: d_step { kind[me] == IDLE && MORE -> begin(SEVERAL); ask(l, 1, false) } \
    :: d_step { kind[me] == IDLE && MORE && ALL_TOO -> begin(ALL); ask(l, 1, true) } \
    :: d_step { kind[me] == SEVERAL && !WAITS && FREE_OF(l) -> ask(l, 1, true) } \
    :: d_step { kind[me] == ALL && FREE_OF(l) -> ask(l, 1, true) } \
    :: d_step { held[AT(me, l)] && !WAITS -> leave(l) }

proctype origin(byte me)
{
    do
    WITH(0)
    WITH(1)
#if T > 2
    WITH(2)
#endif
    UPGRADE
#ifndef UNLIMITED
    :: kind[me] == IDLE && !MORE -> break
#endif
    od
}

init {
    atomic {
        byte o;
#ifdef LEARNED
        clock[0] = 1; seen[1] = 1;
#endif
        for (o : 0 .. N - 1) {
            kind[o] = IDLE;
            run origin(o)
        }
    }
}

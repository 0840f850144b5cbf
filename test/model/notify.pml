/* Notified operations (notify.md): two origins, one target with two threads that wait and sleep,
 * counters that are taken back, and a death.
 *
 *   near origin   stores data, adds to the word (release), fence, looks whether the target sleeps,
 *                 writes to its wake-up socket
 *   far origin    two messages for each operation: a part, and the last part with the flag NOTIFY;
 *                 it may die between any two steps
 *   target        threads 0 and 1 wait for counter 0 and 1: poll (messages, hook), then doze: one
 *                 sleeps on the descriptors, the other one on a condition, under one lock
 *                 (src/progress/doze.c)
 *
 * The word of a counter only grows, by origins and the handler. Its value is word - base, and base
 * is the target's own: to take n is base += n. A sleep has no time limit here, so a lost wake-up is
 * a deadlock. Only a death ends a sleep by itself, as 200 ms do.
 *
 * Proved: word <= complete data at any time (what is counted can be read); no waiter sleeps for
 * ever; a waiter is refused only where a process has died and the count is not there; nothing is
 * counted twice or lost when counters are taken back.
 *
 * -DROUNDS=n     each origin notifies each counter n times, each waiter waits for 2 n times and
 *                takes 2 each time
 * -DUNORDERED    the two messages may pass each other: the last is sent when the first was answered
 * -DDIE          the far origin may die
 * -DHOOK         a hook looks at the counters of all waiters, too (requests need it, waits do not)
 * BREAK_FENCE    the near origin looks at the sleeping mark before it adds (arm64 without dmb)
 * BREAK_RELEASE  it adds before the data is there
 * BREAK_LOOK     the sleeper does not look again behind its mark
 * BREAK_FOLLOW   a thread that leaves the descriptors wakes no other one
 * BREAK_SET      base = word: a reset that loses early ones
 * BREAK_FLAG     NOTIFY on the first part
 * BREAK_ACK      unordered, not waiting for the answer
 * BREAK_WAKE     the near origin wakes no process
 * BREAK_REFUSE   a death is reported before what had arrived is read
 * BREAK_TAKE     the handler's add is a load and a store apart (against the near origin) */
#ifndef ROUNDS
#define ROUNDS 1
#endif
#define NEED 2

byte word[2], base[2], ndata[2];
mtype = { PART, LAST };
chan q = [4] of { mtype, byte };        /* requests of the far origin */
chan late = [2] of { mtype, byte };     /* UNORDERED: its parts, on another way */
chan ack = [1] of { bit };
byte parts[2];                          /* parts here of an operation of the far origin */
bit dead, told[2];                      /* told: this thread was told of the death */

/* the target process */
bit lock, sleeping, wakefd, poller, asleep;
bit cond[2];                    /* the condition: set by a signal, cleared before a wait */
byte taken[2];
bit refused[2], over[2];

#define value(c) (word[c] - base[c])
#define waiting_msgs (len(q) > 0 || len(late) > 0)
#define ok assert(word[0] <= ndata[0] && word[1] <= ndata[1])

inline acquire() { atomic { lock == 0 -> lock = 1 } }
inline release() { lock = 0 }

inline signal()
{
    if
    :: asleep -> asleep = 0; wakefd = 1
    :: else
    fi;
    cond[0] = 1; cond[1] = 1
}

inline add_by_handler(c)
{
#ifdef BREAK_TAKE
    tmp = word[c];
    word[c] = tmp + 1;
#else
    atomic { word[c]++; ok }
#endif
}

/* Both parts of an operation are here: its data can be read. */
inline whole(c)
{
    atomic {
       if
       :: parts[c] >= 2 -> parts[c] = parts[c] - 2; ndata[c]++
       :: else
       fi
    }
}

/* Reads what is there; a hook's look is for both threads. */
inline poll()
{
    events = 0;
    do
    :: atomic { q?k, c -> parts[c]++; events = 1 };
       if
#ifdef BREAK_FLAG
       :: k == PART -> add_by_handler(c)
       :: else -> whole(c)
#else
       :: k == LAST -> whole(c); add_by_handler(c)
       :: else
#endif
       fi
    :: atomic { late?k, c -> parts[c]++; events = 1 };
#ifdef BREAK_ACK
       whole(c)
#else
       ack!1
#endif
    :: atomic { !waiting_msgs -> break }
    od;
#ifdef HOOK
    if
    :: !over[1 - me] && !refused[1 - me] && value(1 - me) >= NEED -> events = 1
    :: else
    fi;
#endif
    if
    :: events -> signal()
    :: else
    fi
}

proctype waiter(byte me)
{
    byte c, round, tmp;
    mtype k;
    bit events, met;
    do
    :: round == ROUNDS -> break
    :: else ->
       met = 0;
       acquire();
       do
       :: met -> break
       :: else ->
          poll();
          if
          :: value(me) >= NEED -> met = 1
#ifdef BREAK_REFUSE
          :: atomic { dead && !told[me] && value(me) < NEED ->
#else
          :: atomic { dead && !told[me] && value(me) < NEED && !waiting_msgs ->
#endif
             assert(!waiting_msgs); told[me] = 1; refused[me] = 1; met = 1 }
          :: else ->
             if
             :: poller ->
                cond[me] = 0;
                release();
                cond[me] || (dead && !told[me]);
                acquire()
             :: else ->
                poller = 1;
                sleeping = 1;                   /* then the fence of mem_wake_arm() */
#ifndef BREAK_LOOK
                poll();
#else
                events = 0;
#endif
                if
                :: events || waiting_msgs -> skip
#ifndef BREAK_LOOK
                :: !events && !waiting_msgs && value(me) >= NEED -> skip
                :: !events && !waiting_msgs && value(me) < NEED ->
#else
                :: else ->
#endif
                   asleep = 1;
                   release();
                   wakefd || waiting_msgs || (dead && !told[me]);
                   acquire();
                   asleep = 0
                fi;
                sleeping = 0; wakefd = 0;       /* disarm, then read the socket */
                poller = 0;
#ifndef BREAK_FOLLOW
                cond[0] = 1; cond[1] = 1
#else
                skip
#endif
             fi
          fi
       od;
       if
       :: !refused[me] ->
          assert(value(me) >= NEED);
#ifdef BREAK_SET
          base[me] = word[me];
#else
          base[me] = base[me] + NEED;
#endif
          taken[me] = taken[me] + NEED
       :: else
       fi;
       release();
       if
       :: refused[me] -> break
       :: else -> round++
       fi
    od;
    over[me] = 1
}

proctype near()
{
    byte c, round;
    bit saw;
    do
    :: round == ROUNDS -> break
    :: else ->
       c = 0;
       do
       :: c == 2 -> break
       :: else ->
#ifdef BREAK_FENCE
          saw = sleeping;
#endif
#ifdef BREAK_RELEASE
          atomic { word[c]++; ok };
          ndata[c]++;
#else
          atomic { ndata[c]++ };
          atomic { word[c]++; ok };
#endif
#ifndef BREAK_FENCE
          saw = sleeping;
#endif
          if
#ifndef BREAK_WAKE
          :: saw -> wakefd = 1
#endif
          :: else
          fi;
          c++
       od;
       round++
    od
}

proctype far()
{
    byte c, round;
#ifdef DIE
#define may_die :: atomic { dead = 1; goto end }
#else
#define may_die
#endif
    do
    :: round == ROUNDS -> break
    :: else ->
       c = 0;
       do
       :: c == 2 -> break
       :: else ->
          if
#ifdef UNORDERED
          :: late!PART, c
#else
          :: q!PART, c
#endif
          may_die
          fi;
#if defined(UNORDERED) && !defined(BREAK_ACK)
          ack?1;
#endif
          if
          :: q!LAST, c
          may_die
          fi;
          c++
       od;
       round++
    od;
end:
    skip
}

init {
    atomic { run waiter(0); run waiter(1); run near(); run far() };
    _nr_pr == 1;
    ok;
    assert(dead || (taken[0] == NEED * ROUNDS && taken[1] == NEED * ROUNDS));
    assert(word[0] - base[0] == 0 && word[1] - base[1] == 0 || dead)
}

/* Far locks: queue at the target, refusal with a stamp, resend; LOCK_ALL's requests join readers
 * (rma.md 5.3, 5.4).
 *
 * N origins, one target, channels that keep the order of one sender. Origin 0 takes the lock for
 * itself, the others share it; with JOIN the last one asks as LOCK_ALL does. The queue holds Q
 * requests. Transitions of src/rma/core/state.c that occur here are marked  T: FROM -> TO
 * (test/model/compare reads them).
 *
 * Checked: no operation before its lock, exclusion, bounded queue, an UNLOCK always finds its lock,
 * no deadlock (invalid end states), first come first served among the refused. */
#ifndef N
#define N 3
#endif
#ifndef Q
#define Q 1
#endif
#ifdef WITH_JOIN
#define JOINS true
#else
#define JOINS false
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

mtype = { UNSET, PER_TARGET, CALLED, ISSUED, GRANTED };  /* states */
mtype = { LOCK, OP, UNLOCK, GRANT, REFUSE, ACK };        /* packets */

/* packet, exclusive, join, stamp (0: none) */
chan to_target[N] = [3] of { mtype, bool, bool, byte };
chan to_origin[N] = [2] of { mtype, byte };

/* the target */
bool held_x;          /* the lock word */
byte readers;
byte holds[N];        /* 0, 1 shared, 2 exclusive */
byte queue[Q];        /* origin + 1 */
bool queue_x[Q];
bool queue_join[Q];
byte count;
byte stamps, admitted;
byte last_stamp;      /* last stamped one that entered */
byte left = N;
bool joined;          /* the last one has been granted */

inline try_take(o, x, join, ok)
{
    if
    :: x && !held_x && readers == 0 -> held_x = true; holds[o] = 2; ok = true
    :: !x && !held_x -> readers++; holds[o] = 1; ok = true
    :: else -> ok = false
    fi
}

inline grant(o)
{
    assert(!(held_x && readers > 0));
    to_origin[o]!GRANT(0)
}

inline ask(o, x, join, stamp)
{
    bool turn, got;
    got = false;
#ifdef BREAK_STAMP_RULE
    turn = true;
#else
    turn = (stamp > 0 -> stamp <= admitted + Q : stamps == admitted);
#endif
    if
    :: turn && count == 0 -> try_take(o, x, join, got)
    :: !(turn && count == 0) && join -> try_take(o, x, join, got)
    :: !(turn && count == 0) && !join -> skip
    fi;
    if
    :: got -> skip
    :: !got && turn && count < Q ->
        queue[count] = o + 1;
        queue_x[count] = x;
        queue_join[count] = join;
        count++
    :: else -> /* refused: the same stamp again, or a new one */
        if
        :: stamp > 0 -> to_origin[o]!REFUSE(stamp)
        :: else -> stamps++; to_origin[o]!REFUSE(stamps)
        fi;
        goto next
    fi;
    if
    :: stamp > 0 ->
        admitted++;
        if
        :: Q == 1 && !join ->
            assert(stamp > last_stamp || JOINS); /* first come, first served */
            last_stamp = stamp
        :: else
        fi
    :: else
    fi;
    if
    :: got -> grant(o)
    :: else
    fi;
next: skip
}

inline poll()
{
    byte i, k;
    bool ok;
    i = 0;
    ok = true;
    do
    :: i < count ->
        byte q;
        q = queue[i] - 1;
        /* Only the first, or a JOIN behind it. */
        if
        :: i == 0 || queue_join[i] -> try_take(q, queue_x[i], queue_join[i], ok)
        :: else -> ok = false
        fi;
        if
        :: ok ->
            k = i;
            do
            :: k + 1 < count ->
                queue[k] = queue[k + 1];
                queue_x[k] = queue_x[k + 1];
                queue_join[k] = queue_join[k + 1];
                k++
            :: else -> break
            od;
            count--;
            grant(q)
        :: else -> i++
        fi
    :: else -> break
    od
}

active proctype target()
{
    byte o, stamp;
    bool x, join;
    mtype p;
    do
    :: left == 0 && count == 0 -> break
    :: atomic {
        if
        :: to_target[0]?p, x, join, stamp -> o = 0
        :: to_target[1]?p, x, join, stamp -> o = 1
        :: to_target[N - 2]?p, x, join, stamp -> o = N - 2
        :: to_target[N - 1]?p, x, join, stamp -> o = N - 1
        fi;
        if
        :: p == LOCK -> ask(o, x, join, stamp)
        :: p == OP -> assert(holds[o] > 0)            /* no operation before its lock */
        :: p == UNLOCK ->
            assert(holds[o] > 0);                     /* no UNLOCK without a lock */
            if
            :: holds[o] == 2 -> held_x = false
            :: else -> readers--
            fi;
            holds[o] = 0;
            to_origin[o]!ACK(0);
            poll()
        fi;
        assert(count <= Q)
       }
    od;
    assert(!held_x && readers == 0 && stamps == admitted) /* no lost unlock, none forgotten */
}

proctype origin(byte me)
{
    mtype win = UNSET, t = CALLED, p;
    byte stamp = 0, round = 0;
    bool x, join;
    x = (me == 0);
#if defined(WITH_JOIN) && !defined(BREAK_JOIN)
    join = (me == N - 1);
#endif
    do
    :: round < ROUNDS ->
        win = PER_TARGET;                      /* T: UNSET -> PER_TARGET */
        t = CALLED;
        stamp = 0;
again:
        to_target[me]!LOCK(x, join, stamp);
        t = ISSUED;                            /* T: LOCK_CALLED -> LOCK_ISSUED */
#ifdef BREAK_NO_WAIT
        to_target[me]!OP(x, false, 0);
#endif
        to_origin[me]?p, stamp;
        if
        :: p == REFUSE -> goto again
        :: p == GRANT -> t = GRANTED           /* T: LOCK_ISSUED -> LOCK_GRANTED */
        fi;
        to_target[me]!OP(x, false, 0);
#ifdef WITH_JOIN
        /* Origin 1 keeps its shared lock until the last one has its own: only joining lets it. */
        if
        :: me == N - 1 -> joined = true
        :: me == 1 && N > 2 -> joined
        :: else
        fi;
#endif
        to_target[me]!UNLOCK(x, false, 0);
        to_origin[me]?p, stamp;
        assert(p == ACK && t == GRANTED);
        win = UNSET;                           /* T: PER_TARGET -> UNSET */
        round++
    :: else -> break
    od;
    left--
}

init {
    byte i = 0;
    atomic {
        do
        :: i < N -> run origin(i); i++
        :: else -> break
        od
    }
}

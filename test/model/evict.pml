/* One origin, K targets, one target element: eviction in a passive epoch, NOCHECK locks really
 * taken first, DONE answered with its token (rma.md 5.5, 5.6). Or LOCK_ALL, whose second target
 * makes it switch to the window protocol (5.3). A second origin takes each target's lock for itself
 * now and then.
 * Transitions of src/rma/core/state.c are marked  T: FROM -> TO. */
#ifndef K
#define K 2
#endif

mtype = { UNSET, PER_TARGET, ALL_CALLED, ALL_ISSUED, ALL_GRANTED, CALLED, ISSUED, GRANTED };
mtype = { LOCK, OP, DONE, UNLOCK, GRANT, ACK };

chan req[K] = [4] of { mtype, byte };   /* packet, token */
chan ans[K] = [4] of { mtype, byte };
chan xreq[K] = [1] of { mtype };
chan xans[K] = [1] of { mtype };

bool shared[K], excl[K], want_shared[K], want_x[K], nocheck, chosen;
byte done_ops[K], sent_ops[K];
byte over;

proctype target(byte me)
{
    mtype p;
    byte token;
    do
    :: over == 2 -> break
    :: atomic { req[me]?p, token ->
        if
        :: p == LOCK -> assert(!shared[me]); want_shared[me] = true
        :: p == OP -> assert(shared[me] || nocheck); assert(!excl[me]); done_ops[me]++
        :: p == DONE -> ans[me]!ACK(token)
        :: p == UNLOCK -> assert(shared[me]); shared[me] = false; ans[me]!ACK(token)
        fi }
    :: atomic { want_shared[me] && !excl[me] ->
        want_shared[me] = false; shared[me] = true; ans[me]!GRANT(0) }
    :: atomic { xreq[me]?p ->
        if
        :: p == LOCK -> want_x[me] = true
        :: p == UNLOCK -> assert(excl[me]); excl[me] = false; xans[me]!ACK
        fi }
    :: atomic { want_x[me] && !excl[me] && !shared[me] ->
        want_x[me] = false; excl[me] = true; xans[me]!GRANT }
    od;
    assert(!shared[me] && !excl[me])        /* no lost unlock */
}

/* The element of target t leaves. */
inline evict(t)
{
    token++;
    req[t]!DONE(token);
    ans[t]?p, got;
#ifdef BREAK_TOKEN
    skip;                                   /* the answer is not compared: it may not be ours */
#else
    assert(p == ACK && got == token);
#endif
    assert(done_ops[t] == sent_ops[t]);     /* complete before it is forgotten */
#ifndef BREAK_NOCHECK
    if
    :: nocheck && el == GRANTED ->
        req[t]!LOCK(0);
        el = ISSUED;                        /* T: LOCK_GRANTED -> LOCK_ISSUED */
        ans[t]?p, got;
        assert(p == GRANT);
        el = GRANTED                        /* T: LOCK_ISSUED -> LOCK_GRANTED */
    :: else
    fi;
#endif
    known[t] = true
}

active proctype origin()
{
    mtype win = UNSET, el = CALLED, p;
    byte t = 0, token = 0, got;
    bool known[K];
    bool all;
    if
    :: all = true
    :: all = false; nocheck = false
    :: all = false; nocheck = true
    fi;
    chosen = true;
    if
    :: !all ->
        win = PER_TARGET;                   /* T: UNSET -> PER_TARGET */
        do
        :: t < K ->
            if
            :: nocheck -> el = GRANTED
            :: else ->
                el = CALLED;
                req[t]!LOCK(0);
                el = ISSUED;                /* T: LOCK_CALLED -> LOCK_ISSUED */
                ans[t]?p, got;
                el = GRANTED                /* T: LOCK_ISSUED -> LOCK_GRANTED */
            fi;
            req[t]!OP(0);
            sent_ops[t]++;
#ifdef BREAK_LATE_ACK
            if
            :: t == 0 -> token++; req[t]!DONE(token)   /* a flush that was not waited for */
            :: else
            fi;
#endif
            if
            :: t + 1 < K -> evict(t)
            :: else
            fi;
            t++
        :: else -> break
        od;
        t = 0;
        do
        :: t < K ->
            if
            :: nocheck && !known[t] -> token++; req[t]!DONE(token)
            :: else -> token++; req[t]!UNLOCK(token)
            fi;
            ans[t]?p, got;
            assert(p == ACK && got == token);
            assert(done_ops[t] == sent_ops[t]);
            t++
        :: else -> break
        od;
        win = UNSET                         /* T: PER_TARGET -> UNSET */
    :: else ->
        win = ALL_CALLED;                   /* T: UNSET -> LOCK_ALL_CALLED */
        el = CALLED;
        req[0]!LOCK(0);
        el = ISSUED;
        ans[0]?p, got;
        el = GRANTED;
        req[0]!OP(0);
        sent_ops[0]++;
        if
        /* no second element */
        :: win = ALL_ISSUED;                /* T: LOCK_ALL_CALLED -> LOCK_ALL_ISSUED */
            t = 1;
            do
            :: t < K -> req[t]!LOCK(0); ans[t]?p, got; t++
            :: else -> break
            od;
            win = ALL_GRANTED;              /* T: LOCK_ALL_ISSUED -> LOCK_ALL_GRANTED */
            t = 0;
            do
            :: t < K ->
                req[t]!OP(0);
                sent_ops[t]++;
                token++;
                req[t]!UNLOCK(token);
                ans[t]?p, got;
                assert(got == token && done_ops[t] == sent_ops[t]);
                t++
            :: else -> break
            od;
            win = UNSET                     /* T: LOCK_ALL_GRANTED -> UNSET */
        :: token++; req[0]!UNLOCK(token); ans[0]?p, got; assert(got == token);
            win = UNSET                     /* T: LOCK_ALL_CALLED -> UNSET */
        fi
    fi;
    over++
}

/* Another process, if NOCHECK does not promise that there is none. */
active proctype other()
{
    byte t = 0;
    chosen;
    do
    :: t < K ->
        if
        :: skip
        :: !nocheck ->
            xreq[t]!LOCK;
            xans[t]?GRANT;
            assert(excl[t] && !shared[t]);
            xreq[t]!UNLOCK;
            xans[t]?ACK
        fi;
        t++
    :: else -> break
    od;
    over++
}

init {
    byte i = 0;
    atomic {
        do
        :: i < K -> run target(i); i++
        :: else -> break
        od
    }
}

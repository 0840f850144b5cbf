/* One sender, one receiver: receives that are offered to the sender before it sends
 * (src/p2p/offer.h, doc/design/p2p.md "Offered receives").  The program is drawn first: tags of
 * NS messages and NR receives (0: any tag), which messages are long, which receives are offered,
 * which one is cancelled.  So one run explores all programs.  Packets of one direction keep their
 * order.
 *
 *   announced message  A(i)   eager or RTS: the receiver matches it and, where it is long, reads it
 *   written message    W(i)   the sender has claimed the receive and written it before
 *   late data          D(i)   written after A(i): the receiver has found the receive claimed
 *   offer P(r, seen, turn, gen); forget all offers: K; they are forgotten: V(gen), also where the
 *                      sender's log does not reach back to `seen`
 *
 * The receiver takes its words back one by one; the sender may claim a later one meanwhile.
 *
 * FAR: from another node there are no shared words.  W(i) is the claim, and D(i) says that all is
 * there.  What was announced is never written, and a cancel waits for V. */
#ifndef NS
#define NS 3
#endif
#ifndef NR
#define NR 2
#endif
#ifndef LOG
#define LOG 9
#endif
#define NONE 255
#define OPEN 1
#define MINE 2          /* the receiver's: matched by it, revoked */
#define CLAIMED 3       /* + message */
#define fits(r, t) (rtag[r] == 0 || rtag[r] == (t))
#ifdef FAR
#define usable(k) true
#define claimed(h) true         /* perhaps, until V comes */
#else
#define usable(k) (word[table[k]] == OPEN && turn[table[k]] == tturn[k])
#define claimed(h) (word[h] >= CLAIMED)
#endif
#define movable (opn[i] && pair[i] != NONE && word[pair[i]] == OPEN && turn[pair[i]] == pturn[i])
#define meet(a, b) (rtag[a] == 0 || rtag[b] == 0 || rtag[a] == rtag[b])

mtype = { A, W, D, V, P, K };
chan s2r = [8] of { mtype, byte, byte };
chan r2s = [12] of { mtype, byte, byte, byte, byte };   /* receive, seen, turn, generation */

byte stag[NS], rtag[NR];
bool sbig[NS], may[NR];                 /* long; may be offered */
byte word[NR], turn[NR];                /* shared memory */
byte got[NR] = NONE;                    /* which message a receive got */
bool posted[NR], offered[NR], filling[NR];
bool gone[NR], wish[NR];                /* cancelled; to be cancelled when that is decided */
byte left = 2;                          /* offers after the first, of all receives */
byte taken, ri, si;
bool unex[NS], drawn;
byte victim = NONE;

/* --- the sender ------------------------------------------------------------------------------ */
byte table[NR] = NONE, tturn[NR], ntable;       /* offers in the order they came */
byte pair[NS] = NONE, pturn[NS];                /* the receive that takes a message that has left */
bool opn[NS];                                   /* announced, long, may still be written */
bool out[NS];                                   /* far: being written into pair[] */
byte sgen, claim = NONE, target;                /* claim: message being written */

inline table_del(k)
{
    j = k;
    do
    :: j + 1 < ntable -> table[j] = table[j + 1]; tturn[j] = tturn[j + 1]; j++
    :: else -> break
    od;
    ntable--; table[ntable] = NONE; tturn[ntable] = 0; j = 0
}

/* First offer that takes message si: k, or NONE.  Whether its word is open does not matter: the
 * receiver may be taking its words back, and a later one is still open. */
inline look()
{
    k = 0;
    do
#ifdef BREAK_LOOK
    :: k < ntable && fits(table[k], stag[si]) && !usable(k) -> table_del(k)
    :: k < ntable && fits(table[k], stag[si]) && usable(k) -> break
#else
    :: k < ntable && fits(table[k], stag[si]) -> break
#endif
    :: k < ntable && !fits(table[k], stag[si]) -> k++
    :: k >= ntable -> k = NONE; break
    od
}

inline forget()
{
    sgen++; ntable = 0;
    i = 0; do :: i < NR -> table[i] = NONE; tturn[i] = 0; i++ :: else -> break od;
#ifdef BREAK_PAIRS      /* else they stay: V is behind all that has left, so are claims */
    i = 0; do :: i < NS -> pair[i] = NONE; pturn[i] = 0; i++ :: else -> break od;
#endif
    i = 0;
    s2r!V(sgen, 0)
}

proctype sender()
{
    byte i, j, k, r, sn, tn, gn;
    mtype p;
end:
    do
    :: atomic { claim == NONE && si < NS && nfull(s2r) ->
        look();
        if
        :: k == NONE -> opn[si] = sbig[si]; s2r!A(si, 0)
        :: k != NONE ->                         /* short, or not worth writing: announced */
            pair[si] = table[k]; pturn[si] = tturn[k]; opn[si] = sbig[si];
            table_del(k); s2r!A(si, 0)
        :: k != NONE && sbig[si] && usable(k) ->
            pair[si] = table[k]; pturn[si] = tturn[k];
#ifdef FAR
            s2r!W(si, table[k]); out[si] = true;
#else
            claim = si; target = table[k]; word[target] = CLAIMED + si;
#endif
            table_del(k)
        fi;
        si++; k = 0 }
    /* the data is copied in between */
#ifdef FAR
    :: atomic { nfull(s2r) ->
        i = 0;
        do
        :: i < NS && !out[i] -> i++
        :: i < NS && out[i] -> out[i] = false; s2r!D(i, pair[i]); break
        :: i >= NS -> break
        od;
        i = 0 }
#else
    :: atomic { claim != NONE && nfull(s2r) -> s2r!W(claim, target); claim = NONE; target = 0 }
#endif
    :: atomic { r2s?P(r, sn, tn, gn) ->
        if
        :: gn != sgen
        :: gn == sgen && si - sn > LOG ->
            forget()
        :: gn == sgen && si - sn <= LOG ->
            i = sn;
            do
#ifdef BREAK_NAIVE
            :: true -> i = si; break
#endif
            :: i < si && (pair[i] != NONE || !fits(r, stag[i])) -> i++
            :: else -> break
            od;
            if
            :: i < si -> pair[i] = r; pturn[i] = tn
            :: else -> table[ntable] = r; tturn[ntable] = tn; ntable++
            fi
        fi;
        i = 0; r = 0; sn = 0; tn = 0; gn = 0 }
    :: atomic { r2s?K(r, sn, tn, gn) -> forget(); r = 0; sn = 0; tn = 0; gn = 0 }
#ifndef FAR
    :: atomic { claim == NONE && nfull(s2r) ->      /* the first to claim moves an announced one */
        i = 0;
        do
        :: i < NS && movable ->
            word[pair[i]] = CLAIMED + i; opn[i] = false; s2r!D(i, pair[i]); break
        :: i < NS && !movable -> i++
        :: i >= NS -> break
        od;
        i = 0 }
#endif
    od
}

/* --- the receiver ------------------------------------------------------------------------ */
inline offer(x)
{
    word[x] = OPEN; offered[x] = true;
    r2s!P(x, taken, turn[x], rgen)
}

/* No receive posted before x that x could be mistaken for is unknown to the sender. */
inline clear(x)
{
    hid = false; h = 0;
    do
    :: h < x -> hid = hid || (posted[h] && !offered[h] && meet(h, x)); h++
    :: else -> break
    od;
    h = 0;
#ifdef BREAK_HOLD
    hid = false
#endif
}

/* Take back the word of receive c; all in turn, since a cancel that took back only its own, or only
 * those that overlap, would leave a third one offered behind a hidden one. */
inline take_back(c)
{
    if
#ifdef BREAK_CLOSURE
    :: posted[c] && offered[c] && word[c] == OPEN && (!ask || wish[c]) ->
#else
    :: posted[c] && offered[c] && word[c] == OPEN ->
#endif
        word[c] = MINE; offered[c] = false
    :: else
    fi
}

/* Decide wishes to cancel.  Where an offer is claimed the packet that says so is on its way, and is
 * waited for. */
inline settle()
{
    hid = false; h = 0;
    do
    :: h < NR && posted[h] && offered[h] && claimed(h) -> hid = true; h++
    :: h < NR && !(posted[h] && offered[h] && claimed(h)) -> h++
    :: h >= NR -> break
    od;
    d = 0;
    do
    :: d < NR && wish[d] && !posted[d] -> wish[d] = false; d++
    :: d < NR && wish[d] && posted[d] ->
        if
#ifdef FAR
        :: offered[d]                                   /* V decides */
#else
        :: offered[d] -> wish[d] = false                /* claimed: its message comes */
#endif
        :: !offered[d] && !hid -> wish[d] = false; posted[d] = false; gone[d] = true
        :: else
        fi;
        d++
    :: d < NR && !wish[d] -> d++
    :: d >= NR -> break
    od;
    d = 0; h = 0; hid = false
}

/* The first posted receive that takes message m. */
inline first(m)
{
    q = 0;
    do
    :: q < NR && !(posted[q] && fits(q, stag[m])) -> q++
    :: else -> break
    od
}

proctype receiver()
{
    byte m, x, q, h, d, rgen, c = NONE;     /* c: next word to be taken back */
    bool hid, ask;                          /* ask: because of a cancel */
end:
    do
    :: atomic { c == NONE && ri < NR && nfull(r2s) ->
        m = 0;
        do
        :: m < NS && !(unex[m] && fits(ri, stag[m])) -> m++
        :: else -> break
        od;
        if
        :: m < NS -> unex[m] = false; got[ri] = m
        :: else ->
            posted[ri] = true;
            if
            :: may[ri] -> clear(ri); if :: !hid -> offer(ri) :: else fi
            :: else
            fi
        fi;
        ri++; m = 0; hid = false }
    :: atomic { c == NONE && victim < ri && !wish[victim] && !gone[victim] ->
        if
#if defined(FAR) && !defined(BREAK_BACK)
        :: posted[victim] && offered[victim] && nfull(r2s) ->
            wish[victim] = true; r2s!K(0, 0, 0, 0)
        :: posted[victim] && !offered[victim] -> posted[victim] = false; gone[victim] = true
#else
        :: posted[victim] -> wish[victim] = true; ask = true; c = 0
#endif
        :: else
        fi;
        victim = NONE }
    :: atomic { c < NR -> take_back(c); c++ }
    :: atomic { c == NR && nfull(r2s) ->
        if :: ask -> r2s!K(0, 0, 0, 0) :: else fi;
        ask = false; c = NONE; settle() }
    :: atomic { c == NONE && left > 0 && nfull(r2s) ->      /* a hidden one is offered after all */
        x = 0;
        do
        :: x < ri && !(posted[x] && may[x] && !offered[x] && !wish[x]) -> x++
        :: else -> break
        od;
        if
        :: x < ri -> clear(x); if :: !hid ->
            left--;
#ifndef BREAK_TURN
            turn[x]++;
#endif
            offer(x) :: else fi
        :: else
        fi;
        x = 0; hid = false }
    :: atomic { c == NONE && s2r?[A(m, x)] -> s2r?A(m, x);
        taken = m + 1; first(m);
        if
        :: q == NR -> unex[m] = true
#ifndef FAR
        :: q < NR && offered[q] && word[q] >= CLAIMED ->
            assert(word[q] == CLAIMED + m);         /* claimed by this message: its data comes */
            posted[q] = false; filling[q] = true
#endif
        :: q < NR && !(offered[q] && word[q] >= CLAIMED) ->
            word[q] = MINE; posted[q] = false; got[q] = m
        fi;
        settle(); m = 0; x = 0; q = 0 }
    :: atomic { c == NONE && s2r?[W(m, x)] -> s2r?W(m, x);
        taken = m + 1; first(m);
        assert(q < NR && q == x);
        posted[q] = false;
#ifdef FAR
        assert(offered[q]);                     /* else its registration has been given back */
        filling[q] = true;
#else
        assert(word[q] == CLAIMED + m);
        got[q] = m;
#endif
        settle(); m = 0; x = 0; q = 0 }
    :: atomic { c == NONE && s2r?[D(m, x)] -> s2r?D(m, x);
        assert(filling[x]);
#ifndef FAR
        assert(word[x] == CLAIMED + m);
#endif
        filling[x] = false; got[x] = m; m = 0; x = 0 }
    :: atomic { c == NONE && s2r?[V(m, x)] -> s2r?V(m, x); rgen = m; c = 0; m = 0; x = 0 }
    od
}

/* --- what MPI wants of the result --------------------------------------------------------- */
inline judge()
{
    a = 0;
    do
    :: a < NR ->
        assert(!filling[a] && !wish[a]);
        b = 0;
        do
        :: b < NS ->
            /* a message that a receive could have taken was not passed by a later one */
            if
            :: got[a] != NONE && b < got[a] && fits(a, stag[b]) ->
                c = 0; do :: c < a && got[c] != b -> c++ :: else -> break od;
                assert(c < a)
            :: else
            fi;
            b++
        :: else -> break
        od;
        b = a + 1;
        do
        :: b < NR ->    /* nor a receive by one posted later; none waits that could have had it */
            if
            :: got[b] != NONE && !gone[a] && fits(a, stag[got[b]]) ->
                assert(got[a] != NONE && got[a] < got[b])
            :: else
            fi;
            b++
        :: else -> break
        od;
        b = 0;
        do
        :: b < NS -> assert(!(unex[b] && posted[a] && fits(a, stag[b]))); b++
        :: else -> break
        od;
        a++
    :: else -> break
    od
}

init {
    byte a = 0, b, c;
    atomic {
        do
        :: a < NS ->
            if :: stag[a] = 1 :: stag[a] = 2 fi;
            if :: sbig[a] = true :: sbig[a] = false fi;
            a++
        :: else -> break
        od;
        a = 0;
        do
        :: a < NR ->
            if :: rtag[a] = 0 :: rtag[a] = 1 :: rtag[a] = 2 fi;
            if :: may[a] = true :: may[a] = false fi;
            a++
        :: else -> break
        od;
        if :: victim = NONE :: victim = 0 :: NR > 1 -> victim = 1 fi;
        a = 0; drawn = true;
        run sender(); run receiver()
    }
    timeout -> atomic {
        assert(si == NS && ri == NR && claim == NONE && empty(s2r) && empty(r2s));
        judge()
    }
}

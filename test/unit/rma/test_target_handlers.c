/* test_target_handlers.c - rma/target/handlers.c: hostile, too early. */
#include "unit.h"

#include "coll/coll.h"
#include "dt/make.h"
#include "unit_rma.h"
#include "world.h"

/* Packets as a hostile or broken origin would send them.  The window lies between guards; nothing
 * outside of it may ever change, and the origin must learn the right error class (rma.md 5.10). */

enum { CELLS = 32, GUARD = 64 };
static struct {
    long before[GUARD], cell[CELLS], after[GUARD];
} room;
static struct rma_win *w;
static _Alignas(8) char packet[4096];

static void room_fill(void)
{
    memset(&room, 0x5a, sizeof room);
    for (int i = 0; i < CELLS; i++)
        room.cell[i] = i;
}

static int guards_hold(void)
{
    for (int i = 0; i < GUARD; i++)
        if (room.before[i] != 0x5a5a5a5a5a5a5a5a || room.after[i] != 0x5a5a5a5a5a5a5a5a)
            return 0;
    return 1;
}

static int untouched(void)
{
    for (int i = 0; i < CELLS; i++)
        if (room.cell[i] != i)
            return 0;
    return guards_hold();
}

/* A window over room.cell, this process the only member; its answers are caught. */
static void open_window(void)
{
    room_fill();
    job_check(rma_win_create(room.cell, sizeof room.cell, 8, NULL, proc->obj->world, &w) ==
              MPI_SUCCESS);
    world_catch();
}

static struct rma_hdr head(enum rma_packet type, uint64_t disp, uint32_t count)
{
    return (struct rma_hdr){.type = (uint8_t)type, .win = w->id, .dt = MPI_LONG, .disp = disp,
                            .count = count, .op = 5, .token = 7,
                            .aop = type == RMA_PKT_ACC || type == RMA_PKT_GACC ? DT_SUM : 0};
}

static size_t build(struct rma_hdr h, const void *payload, size_t len)
{
    h.len = (uint32_t)len;
    memcpy(packet, &h, sizeof h);
    memcpy(packet + sizeof h, payload, len);
    return sizeof h + len;
}

/* Deliver a packet and look at its answer: MPI error class in it; -1: no answer. */
static int deliver(size_t len)
{
    caught.n = 0;
    job_check(rma_on_op(0, packet, len) == 0);
    world_poll(2);
    return caught.n ? caught.got[0].h.aop : -1;
}

/* The answer carries only what was refused. */
static int tells(enum rma_packet type, uint64_t disp, uint64_t count, uint32_t dt)
{
    struct rma_fault f;
    if (caught.n != 1 || caught.got[0].h.len != sizeof f)
        return 0;
    memcpy(&f, caught.got[0].data, sizeof f);
    return f.type == type && f.disp == disp && f.count == count && f.dt == dt &&
           f.cls == caught.got[0].h.aop && f.bytes == sizeof room.cell;
}

static int send(struct rma_hdr h, const void *payload, size_t len)
{
    if (h.type == RMA_PKT_PUT || h.type == RMA_PKT_ACC || h.type == RMA_PKT_BATCH ||
        h.type == RMA_PKT_DONE)
        h.flags |= RMA_F_DONE;
    int cls = deliver(build(h, payload, len));
    job_check(caught.n <= 1);
    return cls;
}

/* An error kept for the origin by an earlier packet leaves with the answer to this one. */
static int told(void)
{
    return send(head(RMA_PKT_DONE, 0, 0), "", 0);
}

static void close_window(void)
{
    job_check(guards_hold());
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* --- what is right does work ------------------------------------------------------------- */

static void honest(void)
{
    long v[4] = {100, 101, 102, 103};
    open_window();
    job_check(send(head(RMA_PKT_PUT, 28, 4), v, 32) == 0 && room.cell[28] == 100 &&
              room.cell[31] == 103);
    job_check(caught.got[0].h.type == RMA_PKT_ACK && caught.got[0].h.token == 7 &&
              caught.got[0].h.win == w->id && (caught.got[0].h.flags & RMA_F_SIGNALED));
    job_check(send(head(RMA_PKT_GET, 30, 2), "", 0) == 0 && caught.got[0].h.type == RMA_PKT_DATA);
    job_check(caught.got[0].h.op == 5 && caught.got[0].h.len == 16 &&
              *(long *)caught.got[0].data == 102);
    job_check(send(head(RMA_PKT_ACC, 0, 2), v, 16) == 0 && room.cell[0] == 100 &&
              room.cell[1] == 102);
    job_check(send(head(RMA_PKT_GACC, 0, 1), v, 8) == 0 && room.cell[0] == 200);
    job_check(*(long *)caught.got[0].data == 100);
    long cas[2] = {200, 1}; /* compare, origin */
    job_check(send(head(RMA_PKT_CAS, 0, 1), cas, 16) == 0 && room.cell[0] == 1);
    job_check(*(long *)caught.got[0].data == 200);
    struct rma_hdr h = head(RMA_PKT_PUT, 5, 1); /* nothing asked for: no answer */
    job_check(deliver(build(h, v, 8)) == -1 && room.cell[5] == 100);
    h.flags = RMA_F_COMPLETE; /* from a process that is not waited for, from one that is, and
                               * from the same again */
    job_check(deliver(build(h, v, 8)) == -1 && w->exposure.completes_due == 0);
    struct rma_starter far[] = {{.rank = 0}, {.rank = 7}};
    w->exposure.far = far;
    w->exposure.nfar = w->exposure.completes_due = 2;
    for (int i = 0; i < 2; i++)
        job_check(deliver(build(h, v, 8)) == -1 && w->exposure.completes_due == 1 && far[0].over &&
                  !far[1].over);
    w->exposure.far = NULL;
    w->exposure.nfar = w->exposure.completes_due = 0;
    h = head(RMA_PKT_PUT, 6, 1);
    h.flags = RMA_F_UNLOCK; /* of a lock that is not held */
    job_check(deliver(build(h, v, 8)) == MPI_ERR_RMA_SYNC);
    h.flags = RMA_F_UNLOCK | RMA_F_EXCLUSIVE; /* lock, put, unlock in one */
    job_check(deliver(build(h, v, 8)) == 0 && (caught.got[0].h.flags & RMA_F_GRANTED) &&
              !w->target.lockq.holders.count);
    close_window();
}

/* --- length, window, sender ------------------------------------------------------------------- */

static void envelope(void)
{
    long v[2] = {-1, -2};
    open_window();
    struct rma_hdr h = head(RMA_PKT_PUT, 3, 2);
    h.flags = RMA_F_DONE;
    size_t len = build(h, v, 16);
    for (size_t cut = 0; cut < len; cut++)
        job_check(deliver(cut) == -1 && untouched());
    for (uint32_t more = 1; more < 3; more++) { /* claims more than it has */
        build(h, v, 16);
        ((struct rma_hdr *)packet)->len += more;
        job_check(deliver(len) == -1 && untouched());
    }
    h.win = w->id + 1;
    job_check(deliver(build(h, v, 16)) == -1);
    h.win = UINT32_MAX;
    job_check(deliver(build(h, v, 16)) == -1);
    h.win = w->id;
    h.src = 1; /* no such member */
    job_check(deliver(build(h, v, 16)) == -1);
    h.src = UINT32_MAX;
    job_check(deliver(build(h, v, 16)) == -1);
    h.src = 0;
    len = build(h, v, 16);
    caught.n = 0;
    job_check(rma_on_op(3, packet, len) == 0); /* a member's rank, from another process */
    world_poll(2);
    job_check(caught.n == 0 && untouched());
    /* types that are none, or the wrong way round: nothing happens to memory */
    for (int type = RMA_PKT_LOCK; type < 256; type++) {
        h.type = (uint8_t)type;
        job_check(deliver(build(h, v, 16)) <= MPI_ERR_LASTCODE && untouched());
    }
    /* posts: counted for members only */
    h = head(RMA_PKT_POST, 0, 0);
    len = build(h, "", 0);
    job_check(rma_on_post(0, packet, len - 1) == 0 && rma_on_post(1, packet, len) == 0 &&
              w->access.posts.count == 0);
    job_check(rma_on_post(0, packet, len) == 0 && rma_on_post(0, packet, len) == 0);
    job_check((uintptr_t)map_get(&w->access.posts, 1) == 2);
    /* a window that is gone: its id is never used again */
    uint32_t old = w->id;
    close_window();
    open_window();
    job_check(w->id != old);
    h = head(RMA_PKT_PUT, 3, 2);
    h.win = old;
    job_check(send(h, v, 16) == -1 && untouched());
    close_window();
}

/* --- where ------------------------------------------------------------------------------------ */

static void ranges(void)
{
    static const uint64_t bad[] = {CELLS,         CELLS + 1,           UINT64_MAX,
                                   INT64_MAX,     1ull << 61,          (1ull << 61) + 1,
                                   1ull << 60,    (uint64_t)INT64_MIN, UINT64_MAX / 8,
                                   UINT64_MAX - 7};
    long v[CELLS + 1];
    memset(v, 0xee, sizeof v);
    open_window();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        job_check(send(head(RMA_PKT_PUT, bad[i], 1), v, 8) == MPI_ERR_RMA_RANGE &&
                  tells(RMA_PKT_PUT, bad[i], 1, MPI_LONG));
        job_check(send(head(RMA_PKT_ACC, bad[i], 1), v, 8) == MPI_ERR_RMA_RANGE &&
                  tells(RMA_PKT_ACC, bad[i], 1, MPI_LONG));
        job_check(send(head(RMA_PKT_GACC, bad[i], 1), v, 8) == MPI_ERR_RMA_RANGE &&
                  tells(RMA_PKT_GACC, bad[i], 1, MPI_LONG));
        job_check(send(head(RMA_PKT_CAS, bad[i], 1), v, 16) == MPI_ERR_RMA_RANGE &&
                  tells(RMA_PKT_CAS, bad[i], 1, MPI_LONG));
        job_check(send(head(RMA_PKT_GET, bad[i], 1), "", 0) == MPI_ERR_RMA_RANGE &&
                  tells(RMA_PKT_GET, bad[i], 1, MPI_LONG));
        job_check(untouched());
    }
    job_check(send(head(RMA_PKT_PUT, CELLS - 1, 2), v, 16) == MPI_ERR_RMA_RANGE);
    job_check(send(head(RMA_PKT_PUT, 0, CELLS + 1), v, sizeof v) == MPI_ERR_RMA_RANGE);
    job_check(send(head(RMA_PKT_GET, 0, UINT32_MAX), "", 0) == MPI_ERR_RMA_RANGE);
    /* counts that do not fit the payload */
    job_check(send(head(RMA_PKT_PUT, 0, 4), v, 16) == MPI_ERR_COUNT);
    job_check(send(head(RMA_PKT_PUT, 0, 1), v, 16) == MPI_ERR_COUNT);
    job_check(send(head(RMA_PKT_ACC, 0, 4), v, 31) == MPI_ERR_COUNT);
    job_check(send(head(RMA_PKT_CAS, 0, 1), v, 8) == MPI_ERR_COUNT);
    job_check(send(head(RMA_PKT_CAS, 0, 2), v, 32) == MPI_ERR_COUNT);
    job_check(untouched());
    /* If no answer is asked for, the first error is kept until an answer leaves. */
    struct rma_hdr h = head(RMA_PKT_PUT, CELLS, 1);
    job_check(deliver(build(h, v, 8)) == -1);
    h = head(RMA_PKT_ACC, 0, 1);
    h.aop = 0;
    job_check(deliver(build(h, v, 8)) == -1);
    job_check(told() == MPI_ERR_RMA_RANGE && told() == 0 && untouched());
    close_window();
}

/* --- what ------------------------------------------------------------------------------------- */

static void types_and_ops(void)
{
    struct dt_type *own;
    double d[2] = {1, 2};
    long v[2] = {1, 2};
    open_window();
    job_check(dt_make_vector(2, 1, 2, dt_find(MPI_LONG), &own) == MPI_SUCCESS);
    const uint32_t bad[] = {0,
                            1,
                            UINT32_MAX,
                            MPI_DATATYPE_NULL,
                            MPI_COMM_WORLD,
                            MPI_SUM,
                            MPI_WIN_NULL,
                            (uint32_t)own->obj.handle,
                            0x4c00ffff,
                            0x4c0008ff,
                            0x8c00ffff,
                            0xcc000001};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int type = RMA_PKT_PUT; type <= RMA_PKT_CAS; type++) {
            struct rma_hdr h = head(type, 0, 1);
            h.dt = bad[i];
            job_check(send(h, v, 8) == MPI_ERR_TYPE && untouched());
        }
    static const uint8_t no_ops[] = {0, DT_OPS, DT_OPS + 1, 100, 255, DT_MAXLOC, DT_MINLOC};
    for (size_t i = 0; i < sizeof no_ops; i++) {
        struct rma_hdr h = head(RMA_PKT_ACC, 0, 1);
        h.aop = no_ops[i];
        job_check(send(h, v, 8) == MPI_ERR_OP);
        h.type = RMA_PKT_GACC;
        job_check(send(h, v, 8) == MPI_ERR_OP && untouched());
    }
    struct rma_hdr h = head(RMA_PKT_ACC, 0, 1);
    h.dt = MPI_DOUBLE;
    h.aop = DT_BAND;
    job_check(send(h, d, 8) == MPI_ERR_OP && untouched());
    h = head(RMA_PKT_GACC, 1, 1); /* a fetch brings no data, and one that does is none */
    h.aop = DT_NO_OP;
    job_check(send(h, v, 8) == MPI_ERR_COUNT && send(h, "", 0) == 0 &&
              *(long *)caught.got[0].data == 1);
    job_check(untouched());
    dt_drop(own);
    close_window();
}

/* --- extensions: parts, runs, derived types --------------------------------------------------- */

static char body[2048];

static int send_ext(enum rma_packet type, uint64_t disp, struct rma_ext e, const void *more,
                    size_t len, const void *data, size_t data_len)
{
    struct rma_hdr h = head(type, disp, 0);
    h.flags = RMA_F_EXT;
    memcpy(body, &e, sizeof e);
    memset(body + sizeof e, 0, rma_pad(len));
    memcpy(body + sizeof e, more, len);
    memcpy(body + sizeof e + rma_pad(len), data, data_len);
    return send(h, body, sizeof e + rma_pad(len) + data_len);
}

static void extensions(void)
{
    long v[8] = {70, 71, 72, 73, 74, 75, 76, 77};
    open_window();
    struct rma_hdr h = head(RMA_PKT_PUT, 0, 0);
    h.flags = RMA_F_EXT;
    memset(body, 0, sizeof body);
    for (size_t n = 0; n < sizeof(struct rma_ext); n++)
        job_check(send(h, body, n) == MPI_ERR_OTHER);
    struct rma_ext e = {.count = 4, .offset = 8, .want = 16}; /* cells 1 and 2 of 0..3 */
    job_check(send_ext(RMA_PKT_PUT, 0, e, "", 0, v, 16) == 0 && room.cell[0] == 0 &&
              room.cell[1] == 70 && room.cell[2] == 71 && room.cell[3] == 3);
    room_fill();
    const struct rma_ext no[] = {{.count = 4, .offset = 24, .want = 16},
                                 {.count = 4, .offset = 33, .want = 0},
                                 {.count = 4, .offset = UINT64_MAX, .want = 16},
                                 {.count = 1ull << 62, .want = 16},
                                 {.count = UINT64_MAX, .want = 16},
                                 {.count = 2, .want = UINT64_MAX},
                                 {.count = 1, .offset = 8, .want = 8}};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        job_check(send_ext(RMA_PKT_PUT, 0, no[i], "", 0, v, 16) == MPI_ERR_COUNT);
        job_check(send_ext(RMA_PKT_GET, 0, no[i], "", 0, "", 0) == MPI_ERR_COUNT &&
                  tells(RMA_PKT_GET, 0, no[i].count, MPI_LONG));
        job_check(untouched());
    }
    e = (struct rma_ext){.count = CELLS + 1, .want = 8}; /* the part is inside, the whole is not */
    job_check(send_ext(RMA_PKT_PUT, 0, e, "", 0, v, 8) == MPI_ERR_RMA_RANGE);
    e = (struct rma_ext){.count = 4, .offset = 4, .want = 8}; /* half elements */
    job_check(send_ext(RMA_PKT_ACC, 0, e, "", 0, v, 8) == MPI_ERR_TYPE);
    /* runs */
    struct rma_run run[2] = {{8, 8}, {24, 8}};
    e = (struct rma_ext){.want = 16, .nruns = 2};
    job_check(send_ext(RMA_PKT_PUT, 1, e, run, sizeof run, v, 16) == 0 && room.cell[2] == 70 &&
              room.cell[4] == 71);
    room_fill();
    const struct rma_run wrong[] = {
        {-16, 8}, {CELLS * 8, 8},      {INT64_MIN, 8},  {INT64_MAX, 8}, {INT64_MAX - 8, 8},
        {-8, 17}, {CELLS * 8 - 15, 8}, {0, UINT64_MAX}, {0, INT64_MAX}, {8, 1ull << 63}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        run[1] = wrong[i];
        job_check(send_ext(RMA_PKT_PUT, 1, e, run, sizeof run, v, 16) == MPI_ERR_RMA_RANGE);
        job_check(send_ext(RMA_PKT_GET, 1, e, run, sizeof run, "", 0) == MPI_ERR_RMA_RANGE);
        job_check(send_ext(RMA_PKT_ACC, 1, e, run, sizeof run, v, 16) == MPI_ERR_RMA_RANGE &&
                  untouched());
    }
    run[1] = (struct rma_run){24, 4}; /* sum is not what is claimed */
    job_check(send_ext(RMA_PKT_PUT, 1, e, run, sizeof run, v, 16) == MPI_ERR_COUNT && untouched());
    e.nruns = UINT32_MAX;
    job_check(send_ext(RMA_PKT_PUT, 1, e, run, sizeof run, v, 16) == MPI_ERR_OTHER && untouched());
    close_window();
}

static void derived(void)
{
    long v[8] = {70, 71, 72, 73};
    struct dt_type *t;
    size_t len;
    open_window();
    job_check(dt_make_vector(4, 1, 2, dt_find(MPI_LONG), &t) == MPI_SUCCESS);
    const void *given = dt_flat(t, &len);
    char copy[512];
    job_check(len <= sizeof copy);
    memcpy(copy, given, len);
    struct rma_ext e = {.want = 32, .count = 1, .flat_len = (uint32_t)len};
    job_check(send_ext(RMA_PKT_PUT, 0, e, copy, len, v, 32) == 0 && room.cell[0] == 70 &&
              room.cell[1] == 1 && room.cell[2] == 71 && room.cell[6] == 73);
    room_fill();
    job_check(send_ext(RMA_PKT_PUT, CELLS - 6, e, copy, len, v, 32) == MPI_ERR_RMA_RANGE &&
              untouched());
    job_check(send_ext(RMA_PKT_PUT, UINT64_MAX, e, copy, len, v, 32) == MPI_ERR_RMA_RANGE &&
              untouched());
    e.flat_len = UINT32_MAX;
    job_check(send_ext(RMA_PKT_PUT, 0, e, copy, len, v, 32) == MPI_ERR_OTHER);
    e.flat_len = (uint32_t)len - 1;
    job_check(send_ext(RMA_PKT_PUT, 0, e, copy, len, v, 32) != 0 && untouched());
    /* every byte of the description wrong in turn: refused, or something inside the window; never
     * beyond */
    e.flat_len = (uint32_t)len;
    for (size_t i = 0; i < len; i++)
        for (int bit = 0; bit < 8; bit++) {
            copy[i] = (char)(copy[i] ^ 1 << bit);
            send_ext(RMA_PKT_PUT, 12, e, copy, len, v, 32);
            send_ext(RMA_PKT_GET, 12, e, copy, len, "", 0);
            copy[i] = (char)(copy[i] ^ 1 << bit);
            job_check(guards_hold());
        }
    dt_drop(t);
    /* A pair spans 8 bytes, here of a block of 6 at the very end: none of it is done. */
    room_fill();
    job_check(dt_make_vector(1, 6, 6, dt_find(MPI_BYTE), &t) == MPI_SUCCESS);
    given = dt_flat(t, &len);
    int64_t word[16];
    memcpy(word, given, len);
    word[4] = MPI_SHORT_INT;
    for (int at = 0; at <= 2; at += 2) {
        word[3] = at;
        struct rma_hdr h = head(RMA_PKT_ACC, CELLS - 1, 0);
        h.dt = MPI_SHORT_INT;
        h.aop = DT_MAXLOC;
        h.flags = RMA_F_EXT;
        e = (struct rma_ext){.want = 6, .count = 1, .flat_len = (uint32_t)len};
        memcpy(body, &e, sizeof e);
        memcpy(body + sizeof e, word, len);
        memset(body + sizeof e + len, 0x7f, 8);
        job_check(send(h, body, sizeof e + len + 6) == (at ? MPI_ERR_RMA_RANGE : 0));
        job_check(untouched() == (at != 0) && guards_hold());
        room_fill();
    }
    dt_drop(t);
    /* Pairs without end at one place, of which nothing came: refused without a look at each. */
    given = dt_flat(dt_find(MPI_2INT), &len);
    memcpy(word, given, len);
    word[2] = 0;
    for (int fetch = 0; fetch < 2; fetch++) {
        struct rma_hdr h = head(fetch ? RMA_PKT_GACC : RMA_PKT_ACC, 0, 0);
        h.dt = MPI_2INT;
        h.aop = fetch ? DT_NO_OP : DT_MAXLOC;
        h.flags = RMA_F_EXT;
        e = (struct rma_ext){.want = 8ull << 50, .count = 1ull << 50, .flat_len = (uint32_t)len};
        memcpy(body, &e, sizeof e);
        memcpy(body + sizeof e, word, len);
        job_check(send(h, body, sizeof e + len) == MPI_ERR_COUNT && untouched());
    }
    close_window();
}

/* --- batches ---------------------------------------------------------------------------------- */

static size_t inner(char *at, struct rma_hdr h, const void *data, size_t len)
{
    h.len = (uint32_t)len;
    memcpy(at, &h, sizeof h);
    memcpy(at + sizeof h, data, len);
    return sizeof h + rma_pad(len);
}

static void batches(void)
{
    long v[1] = {90};
    open_window();
    struct rma_hdr b = head(RMA_PKT_BATCH, 0, 2), ok = head(RMA_PKT_PUT, 1, 1);
    b.dt = 0;
    size_t one = inner(body, ok, v, 8), two = inner(body + one, head(RMA_PKT_PUT, 2, 1), v, 8);
    job_check(deliver(build(b, body, one + two)) == -1 && room.cell[1] == 90 &&
              room.cell[2] == 90 && told() == 0);
    room_fill();
    for (int i = 0; i < 5; i++) {
        /* the first of the two is wrong in its frame: nothing after it is believed */
        struct rma_hdr h = ok;
        h.type = i == 0 ? RMA_PKT_BATCH : i == 1 ? 255 : h.type;
        h.win += i == 2;
        h.src = i == 3 ? 9 : 0;
        h.flags = i == 4 ? RMA_F_EXCLUSIVE : 0;
        inner(body, h, v, 8);
        job_check(deliver(build(b, body, one + two)) == -1 && untouched());
        job_check(told() == MPI_ERR_OTHER);
    }
    inner(body, ok, v, 8);
    struct rma_hdr lie;
    for (uint32_t n = (uint32_t)(one + two); n != 0; n = n == UINT32_MAX ? 0 : UINT32_MAX) {
        /* longer than the rest */
        size_t all = build(b, body, one + two);
        memcpy(&lie, packet + sizeof lie, sizeof lie);
        lie.len = n;
        memcpy(packet + sizeof lie, &lie, sizeof lie);
        job_check(deliver(all) == -1 && untouched() && told() == MPI_ERR_OTHER);
    }
    b.count = UINT32_MAX; /* more than there are */
    job_check(deliver(build(b, body, one + two)) == -1 && room.cell[1] == 90 && told() == 0);
    for (size_t cut = 0; cut < one + two; cut++) /* cut anywhere */
        job_check(deliver(build(b, body, cut)) == -1 && guards_hold());
    told();
    struct rma_hdr far = head(RMA_PKT_PUT, CELLS, 1); /* out of range inside: the others are done */
    room_fill();
    inner(body, far, v, 8);
    job_check(deliver(build(b, body, one + two)) == -1 && room.cell[2] == 90 &&
              told() == MPI_ERR_RMA_RANGE);
    close_window();
}

/* --- coalesced -------------------------------------------------------------------------------- */

struct entry {
    uint64_t disp;
    long v;
};

static void coalesced(void)
{
    struct entry e[3] = {{4, 90}, {6, 91}, {4, 92}};
    open_window();
    struct rma_hdr h = head(RMA_PKT_COALESCED, 1, 3); /* one element each */
    job_check(deliver(build(h, e, sizeof e)) == -1 && room.cell[4] == 92 && room.cell[5] == 5 &&
              room.cell[6] == 91 && told() == 0);
    h.flags = RMA_F_DONE;
    h.aop = DT_SUM;
    job_check(deliver(build(h, e, sizeof e)) == 0 && room.cell[4] == 92 + 90 + 92 &&
              room.cell[6] == 182);
    room_fill();
    struct rma_hdr two = h; /* two elements each, in order */
    two.disp = 2;
    two.count = 1;
    two.aop = DT_REPLACE;
    job_check(deliver(build(two, e, 24)) == 0 && room.cell[4] == 90 && room.cell[5] == 6 &&
              room.cell[6] == 6);
    /* one out of range: the others are done, and it is reported */
    static const uint64_t bad[] = {CELLS,      UINT64_MAX,          INT64_MAX,     1ull << 61,
                                   1ull << 60, (uint64_t)INT64_MIN, UINT64_MAX / 8};
    for (int op = 0; op < 2; op++)
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            room_fill();
            h.aop = op ? DT_REPLACE : 0;
            e[1].disp = bad[i];
            job_check(deliver(build(h, e, sizeof e)) == MPI_ERR_RMA_RANGE && room.cell[4] == 92 &&
                      guards_hold());
            /* as the operation that it was */
            job_check(tells(op ? RMA_PKT_ACC : RMA_PKT_PUT, bad[i], 1, MPI_LONG));
        }
    two.aop = 0;
    e[0].disp = CELLS - 1;
    job_check(deliver(build(two, e, 24)) == MPI_ERR_RMA_RANGE &&
              tells(RMA_PKT_PUT, CELLS - 1, 2, MPI_LONG) && guards_hold());
    /* what does not fit together: nothing is done */
    room_fill();
    e[0].disp = e[1].disp = 0;
    for (size_t cut = 0; cut < sizeof e; cut++)
        job_check(deliver(build(h, e, cut)) == MPI_ERR_COUNT && untouched());
    static const uint32_t counts[] = {0, 1, 2, 4, UINT32_MAX, 1u << 28, (1u << 28) + 3};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct rma_hdr x = h;
        x.count = counts[i];
        job_check(deliver(build(x, e, sizeof e)) == MPI_ERR_COUNT && untouched());
    }
    static const uint64_t each[] = {0,          2,        6, 7, 1ull << 61, (1ull << 61) + 1,
                                    UINT64_MAX, INT64_MAX};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        struct rma_hdr x = h;
        x.disp = each[i];
        job_check(deliver(build(x, e, sizeof e)) == MPI_ERR_COUNT && untouched());
    }
    struct rma_hdr x = h;
    x.flags |= RMA_F_EXT;
    job_check(deliver(build(x, e, sizeof e)) == MPI_ERR_COUNT && untouched());
    static const uint32_t types[] = {0,       UINT32_MAX,    MPI_DATATYPE_NULL,
                                     MPI_SUM, MPI_SHORT_INT, MPI_DOUBLE_INT};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        /* pairs with gaps are none that a coalesced packet has */
        x = h;
        x.dt = types[i];
        job_check(deliver(build(x, e, sizeof e)) == MPI_ERR_TYPE && untouched());
    }
    static const uint8_t no_ops[] = {DT_NO_OP, DT_OPS, 100, 255, DT_MAXLOC};
    for (size_t i = 0; i < sizeof no_ops; i++) {
        x = h;
        x.aop = no_ops[i];
        job_check(deliver(build(x, e, sizeof e)) == MPI_ERR_OP && untouched());
    }
    /* within a batch, and an error kept until there is an answer */
    struct rma_hdr b = head(RMA_PKT_BATCH, 0, 2);
    b.dt = 0;
    h = head(RMA_PKT_COALESCED, 1, 2);
    e[0] = (struct entry){1, 90};
    e[1] = (struct entry){CELLS, 91};
    size_t len = inner(body, h, e, 32);
    len += inner(body + len, head(RMA_PKT_PUT, 2, 1), &e[0].v, 8);
    job_check(deliver(build(b, body, len)) == -1 && room.cell[1] == 90 && room.cell[2] == 90 &&
              told() == MPI_ERR_RMA_RANGE);
    close_window();
}

/* --- other windows ---------------------------------------------------------------------------- */

static void dynamic(void)
{
    long v[4] = {1, 2, 3, 4};
    room_fill();
    job_check(rma_win_create_dynamic(NULL, proc->obj->world, &w) == MPI_SUCCESS);
    world_catch();
    uint64_t at = (uint64_t)(uintptr_t)room.cell;
    /* not attached */
    job_check(send(head(RMA_PKT_PUT, at, 1), v, 8) == MPI_ERR_RMA_RANGE && untouched());
    job_check(send(head(RMA_PKT_PUT, 0, 1), v, 8) == MPI_ERR_RMA_RANGE);
    job_check(rma_win_attach(w, room.cell, 8 * 8) == MPI_SUCCESS);
    job_check(send(head(RMA_PKT_PUT, at + 48, 2), v, 16) == 0 && room.cell[6] == 1 &&
              room.cell[7] == 2);
    room_fill();
    const uint64_t bad[] = {at - 8, at - 1, at + 57, at + 64, UINT64_MAX, UINT64_MAX - 7, 1};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        job_check(send(head(RMA_PKT_PUT, bad[i], 1), v, 8) == MPI_ERR_RMA_RANGE);
        job_check(send(head(RMA_PKT_ACC, bad[i], 1), v, 8) == MPI_ERR_RMA_RANGE);
        job_check(send(head(RMA_PKT_GET, bad[i], 1), v, 0) == MPI_ERR_RMA_RANGE && untouched());
    }
    job_check(send(head(RMA_PKT_PUT, at, UINT32_MAX), v, 8) == MPI_ERR_RMA_RANGE);
    struct rma_run run[1] = {{-8, 16}};
    struct rma_ext e = {.want = 16, .nruns = 1};
    job_check(send_ext(RMA_PKT_PUT, at, e, run, sizeof run, v, 16) == MPI_ERR_RMA_RANGE &&
              untouched());
    run[0].disp = (int64_t)(0 - at); /* wraps around to address 0 */
    job_check(send_ext(RMA_PKT_PUT, at, e, run, sizeof run, v, 16) == MPI_ERR_RMA_RANGE &&
              untouched());
    job_check(rma_win_detach(w, room.cell) == MPI_SUCCESS);
    job_check(send(head(RMA_PKT_PUT, at, 1), v, 8) == MPI_ERR_RMA_RANGE && untouched());
    job_check(rma_win_free(w) == MPI_SUCCESS);
    /* no memory at all */
    job_check(rma_win_create(NULL, 0, 1, NULL, proc->obj->world, &w) == MPI_SUCCESS);
    job_check(send(head(RMA_PKT_PUT, 0, 1), v, 8) == MPI_ERR_RMA_RANGE);
    job_check(send(head(RMA_PKT_GET, 0, 1), v, 0) == MPI_ERR_RMA_RANGE);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* --- windows in the making -------------------------------------------------------------------- */

/* Rank 1 goes halfway with rank 0's creation of a window, whose id it then knows, and sends packets
 * for it while rank 0 waits: it has neither lock word nor memory for them yet. */
static void unborn(void)
{
    struct comm *twin;
    void *base;
    long v[2] = {1, 2};
    if (boot_rank() == 0) {
        job_check(rma_win_allocate(64, 8, NULL, proc->obj->world, &base, &w) != MPI_SUCCESS);
        job_check(rma_self()->wins.count == 0 && list_empty(&rma_self()->windows));
    } else {
        job_check(coll_comm_dup(proc->obj->world, &twin) == MPI_SUCCESS);
        for (int type = 0; type < RMA_PKTS; type++)
            for (unsigned flags = 0; flags < 4; flags++) {
                struct rma_hdr h = {.type = (uint8_t)type, .win = twin->ctx_recv, .src = 1,
                                    .dt = MPI_LONG, .count = 1, .aop = DT_SUM,
                                    .flags = (uint16_t)(flags | RMA_F_DONE), .len = 8};
                struct iovec iov[2] = {{&h, sizeof h}, {v, 8}};
                while (am_request(0, AM_RMA + type, iov, 2, 1) == AM_AGAIN)
                    world_poll(1);
                am_credit_return(0, 1);
            }
        int64_t no[8] = {MPI_ERR_OTHER}; /* as local_part() in create.c */
        job_check(coll_allreduce_i64(no, 8, COLL_MAX, proc->obj->world) == MPI_SUCCESS);
        comm_drop(twin);
    }
    world_barrier();
}

/* --- anything --------------------------------------------------------------------------------- */

static const char zeros[64];
static uint64_t dice;

static uint64_t roll(void)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    return dice ^= dice << 17;
}

static uint64_t odd_number(void)
{
    static const uint64_t edge[] = {
        0,          1,          2,          8,          CELLS - 1, CELLS,      CELLS * 8,
        1ull << 31, 1ull << 32, 1ull << 60, 1ull << 61, INT64_MAX, UINT64_MAX, UINT64_MAX - 7};
    return roll() % 3 ? roll() % 40 : edge[roll() % (sizeof edge / sizeof *edge)];
}

static void anything(void)
{
    static const uint32_t dts[] = {MPI_LONG,        MPI_BYTE,
                                   MPI_INT,         MPI_DOUBLE,
                                   MPI_LONG_DOUBLE, MPI_DOUBLE_INT,
                                   MPI_SHORT_INT,   MPI_LONG_DOUBLE_INT,
                                   MPI_2INT,        MPI_C_DOUBLE_COMPLEX};
    dice = 88172645463325252ull;
    open_window();
    for (int i = 0; i < 20000; i++) {
        struct rma_hdr h = head((enum rma_packet)(roll() % (RMA_PKT_DONE + 1)), odd_number(),
                                (uint32_t)odd_number());
        h.aop = (uint8_t)(roll() % (DT_OPS + 1));
        h.dt = roll() % 20 ? dts[roll() % (sizeof dts / sizeof *dts)] : (uint32_t)roll();
        h.flags = (uint16_t)(roll() & (roll() % 2 ? RMA_F_EXT : 0xffff));
        size_t len = (roll() % 64) * 8 + (roll() % 8 ? 0 : roll() % 8);
        for (size_t at = 0; at < len; at += 8) {
            uint64_t word = odd_number();
            memcpy(body + at, &word, 8);
        }
        if (roll() % 4 == 0)
            inner(body, head((enum rma_packet)(roll() % 7), odd_number(), (uint32_t)odd_number()),
                  zeros, roll() % 64);
        caught.n = 0;
        job_check(rma_on_op(0, packet, build(h, body, len)) == 0);
        if (i % 16 == 0)
            world_poll(1);
        if (i % 64 == 0)
            job_check(guards_hold());
    }
    job_check(guards_hold());
    world_poll(200);
    uint32_t clock;
    rma_lockq_release(w, 0, &clock);
    close_window();
}

static void (*const parts[])(void) = {honest,  envelope, ranges, types_and_ops, extensions,
                                      derived, batches,  coalesced, dynamic,       anything};

START_TEST(hostile)
{
    ck_assert_int_eq(world_run(1, NULL, parts[_i]), 0);
}
END_TEST

START_TEST(too_early)
{
    ck_assert_int_eq(world_run(2, world_far, unborn), 0);
}
END_TEST

Suite *suite_on_target(void)
{
    Suite *s = suite_create("rma/on_target");
    TCase *t = tcase_create("hostile packets");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, hostile, 0, sizeof parts / sizeof *parts);
    tcase_add_test(t, too_early);
    suite_add_tcase(s, t);
    return s;
}

/* forged.c - one-sided operations of libfabric under a key that was not given out, or outside of
 * the memory that a key is for. Each process of a job tries one, an honest one goes on, and the
 * last one owns the memory. (UCX checks nothing: doc/design/ucx.md.) */
#include "contract.h"
#include "job.h"
#include "unit.h"

#include <string.h>
#include <sys/mman.h>

#include "base/sched.h"
#include "boot/boot.h"
#include "mpi.h"

Suite *suite_forged(void);

enum { PUT8, PUT_LONG, GET8, GET_LONG, ADD, FETCH_ADD, SWAP, TRIES, HONEST = TRIES, OWNER, ALL };
enum { WRONG_KEY, BEHIND, BEFORE, ACROSS, FORGERIES };
enum { BYTES = 1 << 20, LONG = 65536, GUARD = LONG, FILL = 0x5a, PLACE = 8 };
enum { UNTOLD_NS = 300000000 };

/* As ofi_pack() makes it. */
struct key {
    uint64_t addr, key, len;
};

static int forgery;
static struct end e;
static struct memory {
    _Alignas(4096) unsigned char before[GUARD], bytes[BYTES], behind[GUARD];
} *memory; /* the owner's registered, seen by all */

struct told {
    struct tp_done d;
    int n, err;
};

static void tell(struct tp_done *d, int err)
{
    struct told *t = (struct told *)d;
    t->n++;
    t->err = err;
}

static int no_message(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    return 0;
}

/* Within one host libfabric reads by the kernel, which asks for the user and not for a key; and a
 * refused put is not reported. */
static int only_writes_refused(const struct row *r)
{
    return !strcmp(r->set, "MPIR_CVAR_OFI_PROVIDER=shm");
}

/* The end of an operation: 0 or -errno; TP_PENDING of one of a forger that has none. */
static int outcome(int answer, const struct told *t)
{
    const uint64_t end = e.rank < TRIES && only_writes_refused(e.row) ? time_now() + UNTOLD_NS
                                                                      : UINT64_MAX;
    while (answer == TP_PENDING && !t->n && time_now() < end)
        end_poll(&e);
    return answer == TP_PENDING && t->n ? t->err : answer;
}

static int flush(void)
{
    static struct told t = {{tell}, 0, 0}; /* one that is not reported outlives the call */
    t.n = 0;
    return outcome(e.ops->flush(e.tp, OWNER, &t.d), &t);
}

static struct tp_far *import(const struct key *k)
{
    struct tp_far *far;
    end_connect(&e, OWNER);
    job_check(e.ops->import(e.tp, OWNER, k, sizeof *k, &far) == 0);
    return far;
}

static struct key key_of_owner(void)
{
    struct key k;
    size_t len = sizeof k;
    job_check(boot_get("key", &k, &len) == 0 && len == sizeof k);
    return k;
}

/* Where it leads, in bytes from the base of what `k` says. */
static uint64_t forge(struct key *k, size_t len)
{
    switch (forgery) {
    case WRONG_KEY: k->key ^= 0x5a5a; return 0;
    case BEHIND: k->len += GUARD; return BYTES;
    case BEFORE: k->addr -= GUARD; return GUARD - len;
    default: k->len += GUARD; return BYTES - len / 2;
    }
}

static size_t bytes_of(int what)
{
    return what == PUT_LONG || what == GET_LONG ? LONG : 8;
}

static int issue(int what, struct tp_far *far, uint64_t off, unsigned char *buf, uint64_t *old,
                 struct told *t)
{
    static const uint64_t one = 1;
    const struct tp_atomic a = {.op = what == SWAP ? MPI_OP_NULL : MPI_SUM, .type = 3 | 16, .n = 1,
                                .operand = &one, .compare = what == SWAP ? memory->bytes : NULL,
                                .result = what == ADD ? NULL : old};
    if (what >= ADD)
        return e.ops->atomic(e.tp, far, off, &a, &t->d);
    return what == GET8 || what == GET_LONG
               ? e.ops->get(e.tp, far, off, buf, bytes_of(what), NULL, &t->d)
               : e.ops->put(e.tp, far, off, buf, bytes_of(what), NULL, &t->d);
}

/* Refused, and reported: at the operation's end, or where it has none by the flush. */
static void forger(int what)
{
    static unsigned char buf[LONG];
    static struct told t = {{tell}, 0, 0};
    uint64_t old = 0;
    struct key k = key_of_owner();
    uint64_t off = forge(&k, bytes_of(what));
    struct tp_far *far = import(&k);
    int answer;
    memset(buf, 0xee, sizeof buf);
    while ((answer = issue(what, far, off, buf, &old, &t)) == TP_AGAIN)
        end_poll(&e);
    int err = outcome(answer, &t), flushed = flush();
    if (only_writes_refused(e.row))
        job_check(flushed != 0 && (what == PUT8 || err != 0));
    else
        job_check(what == PUT8 || what == ADD ? flushed < 0 : err < 0);
    for (size_t i = 0; i < sizeof buf; i++)
        job_check(buf[i] == 0xee);
    job_check(old == 0);
    e.ops->drop(e.tp, far);
}

static int tried(int what)
{
    int get = what == GET8 || what == GET_LONG;
    return what < TRIES && e.caps.flags & (what >= ADD ? TP_ATOMIC : TP_PUT) &&
           !(get && only_writes_refused(e.row));
}

static void honest(void)
{
    const uint64_t v = 77;
    uint64_t w = 0;
    struct told t = {{tell}, 0, 0};
    struct key k = key_of_owner();
    struct tp_far *far = import(&k);
    int err;
    for (int i = 0; i < 100; i++) {
        while ((err = e.ops->put(e.tp, far, PLACE, &v, sizeof v, NULL, &t.d)) == TP_AGAIN)
            end_poll(&e);
        job_check(err == 0 && flush() == 0);
    }
    while ((err = e.ops->get(e.tp, far, PLACE, &w, sizeof w, NULL, &t.d)) == TP_AGAIN)
        end_poll(&e);
    job_check(outcome(err, &t) == 0 && w == v);
    e.ops->drop(e.tp, far);
}

static void owner(struct tp_mem **mem)
{
    struct key k;
    size_t len = sizeof k;
    job_check(e.ops->reg(e.tp, memory->bytes, BYTES, 0, TP_MAY_READ | TP_MAY_WRITE, mem) == 0);
    job_check(e.ops->pack(e.tp, *mem, &k, &len) == 0 && len == sizeof k &&
              boot_put("key", &k, len) == 0);
}

static void body(void)
{
    struct tp_mem *mem = NULL;
    end_open(&e, no_message, NULL);
    if (e.rank == OWNER)
        owner(&mem);
    job_check(boot_barrier() == 0);
    if (tried(e.rank))
        forger(e.rank);
    else if (e.rank == HONEST)
        honest();
    end_leave(&e);
    if (mem)
        e.ops->dereg(e.tp, mem);
    end_close(&e);
}

/* Everything but what the honest one put. */
static void nothing_written(const unsigned char *p)
{
    const size_t from = GUARD + PLACE, to = from + sizeof(uint64_t);
    for (size_t i = 0; i < sizeof *memory; i++)
        ck_assert(p[i] == FILL || (i >= from && i < to));
}

START_TEST(forged)
{
    const struct row *r = &rows[_i / FORGERIES];
    forgery = _i % FORGERIES;
    if (!(r->flags & TP_PUT))
        return;
    memory = mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    memset(memory, FILL, sizeof *memory);
    ck_assert_int_eq(row_run(r, ALL, body), 0);
    nothing_written((const unsigned char *)memory);
    munmap(memory, sizeof *memory);
}
END_TEST

Suite *suite_forged(void)
{
    Suite *s = suite_create("tp/forged");
    TCase *t = tcase_create("forged");
    tcase_set_timeout(t, 90);
    tcase_add_loop_test(t, forged, 0, rows_count * FORGERIES);
    suite_add_tcase(s, t);
    return s;
}

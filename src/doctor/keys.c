/* keys.c - memory that was given back: its key must not open it any more.  Start with
 * body_stale(). */
#include "doctor/onesided.h"

#include <stdlib.h>
#include <string.h>

#include "base/sched.h"
#include "boot/boot.h"
#include "mem/mem.h"

enum { OLD = 4096, OLD_FILL = 0x5a, TRY_NS = 300000000, TRY_MOST_NS = 2000000000 };

static int is_over(int answer, const struct counted *c)
{
    return answer != TP_PENDING || c->calls;
}

/* Put by the old key and flush, whatever the answers: a refused put may be reported or not.  Where
 * it is not known how they end it takes longer: the bytes come late on a loaded machine. */
static void try_old(struct tp_far *far)
{
    static const char spoil[8] = "spoiled";
    static struct counted c = {{one_count}, 0, 0}, f = {{one_count}, 0, 0}; /* may outlive this */
    uint64_t begin = time_now();
    int flush = 0, answer = one.e.ops->put(one.e.tp, far, 64, spoil, sizeof spoil, one.local, &c.d);
    if (answer == 0 || answer == TP_PENDING)
        flush = one.e.ops->flush(one.e.tp, (unsigned)one.owner, &f.d);
    for (uint64_t t = 0; t < TRY_NS || (t < TRY_MOST_NS && !(is_over(answer, &c) &&
                                                             is_over(flush, &f)));
         t = time_now() - begin) {
        one_poll();
        job_event(); /* a wait that ends by itself */
    }
}

/* The last process registers a second memory, and gives it back when the other has used it. */
void body_stale(void)
{
    char key[1024];
    size_t len = sizeof key;
    static _Alignas(4096) unsigned char old[OLD];
    struct tp_mem *mem = NULL;
    struct tp_far *far = NULL;
    if (!row_now()->keys_end)
        return;
    one_open();
    job_about(FAULT_KEY);
    int tried = (one.e.caps.flags & TP_PUT) != 0;
    if (tried && one.e.rank == one.owner) {
        job_check(one.e.ops->reg(one.e.tp, old, OLD, 0, TP_MAY_READ | TP_MAY_WRITE, &mem) == 0);
        job_check(one.e.ops->pack(one.e.tp, mem, key, &len) == 0);
        job_check(boot_put("old", key, len) == 0);
    }
    one_barrier();
    if (tried && one.e.rank == 0) {
        job_check(boot_get("old", key, &len) == 0);
        job_check(one.e.ops->import(one.e.tp, (unsigned)one.owner, key, len, &far) == 0);
        DO(one.e.ops->put(one.e.tp, far, 0, "used", 4, one.local, &c.d));
        one_flush();
    }
    one_barrier();
    if (mem) {
        job_check(!memcmp(old, "used", 4));
        one.e.ops->dereg(one.e.tp, mem);
        memset(old, OLD_FILL, OLD);
    }
    one_barrier();
    if (far)
        try_old(far);
    one_barrier();
    for (int i = 0; mem && i < OLD; i++)
        job_check(old[i] == OLD_FILL);
    if (far)
        one.e.ops->drop(one.e.tp, far);
    one_close();
}

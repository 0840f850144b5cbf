/* fake.c - fake.h: members of a communicator whose schedules run over lists. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

#include "am/am_types.h"
#include "base/proc.h"
#include "obj/obj.h"
#include "var/var.h"

struct fake f;

struct parcel { /* a message under way */
    struct parcel *next;
    int src, dst, local, tag;
    size_t len;
    char data[];
};
static struct parcel *under_way;
static struct dt_op *compose;
static unsigned dice = 1;

enum { PRIME = 65521 };

static uint64_t after(uint64_t x, uint64_t y)
{
    uint64_t a1 = x >> 32, b1 = x & 0xffffffffu, a2 = y >> 32, b2 = y & 0xffffffffu;
    return (a1 * a2 % PRIME) << 32 | (a1 * b2 + b1) % PRIME;
}

static void compose_fn(void *in, void *inout, int *len, MPI_Datatype *type)
{
    uint64_t *x = in, *y = inout;
    (void)type;
    for (int i = 0; i < *len; i++)
        y[i] = after(x[i], y[i]);
}

void fake_init(void)
{
    static struct am am; /* nothing is sent by it */
    proc->am = &am;
    job_check(obj_init() == 0 && dt_init() == 0 && coll_init() == 0);
    job_check(dt_op_make(compose_fn, 0, &compose) == MPI_SUCCESS);
}

void fake_algorithms(const char *text)
{
    char msg[200];
    job_check(cvar_set("MPIR_CVAR_COLL_ALGORITHMS", text, msg, sizeof msg) == 0);
}

struct dt_type *fake_int(void)
{
    return dt_find(MPI_INT);
}

struct dt_type *fake_map_type(void)
{
    return dt_find(MPI_UINT64_T);
}

struct dt_op *fake_compose(void)
{
    return compose;
}

uint64_t fake_map(int member, int i)
{
    return (uint64_t)(member * 7 + i + 2) << 32 | (uint64_t)(member * 31 + i * 5 + 1);
}

uint64_t fake_map_range(int from, int to, int i)
{
    uint64_t x = fake_map(from, i);
    for (int k = from + 1; k < to; k++)
        x = after(x, fake_map(k, i));
    return x;
}

void fake_open(int a, int b)
{
    long messages = f.messages;
    memset(&f, 0, sizeof f);
    f.a = a;
    f.b = b;
    f.p = a + b;
    f.messages = messages;
    job_check(f.p <= FAKE_MAX);
    for (int i = 0; i < f.p; i++) {
        struct comm *c = &f.comm[i];
        c->rank = i < a ? i : i - a;
        c->size = i < a ? a : b;
        if (!b)
            continue;
        c->remote = rankmap_stride(0, 1, i < a ? b : a);
        c->local = &f.local[i];
        c->local->rank = c->rank;
        c->local->size = c->size;
    }
}

void fake_close(void)
{
    for (int i = 0; i < f.p; i++)
        rankmap_drop(f.comm[i].remote);
}

void fake_call(enum coll_call call, struct dt_type *t, struct dt_op *op, int root)
{
    for (int i = 0; i < f.p; i++)
        f.args[i] = (struct coll_args){
            .call = call, .comm = &f.comm[i], .stype = t, .rtype = t, .op = op, .root = root};
}

static int process_of(int me, const struct step *x)
{
    if (!f.b)
        return x->peer;
    int here = me < f.a ? 0 : f.a, there = me < f.a ? f.a : 0;
    return x->peer + (x->comm == &f.local[me] ? here : there);
}

static void post(int me, const struct step *x)
{
    size_t len = (size_t)x->n * (size_t)x->type->size;
    struct parcel *m = malloc(sizeof *m + len), **at = &under_way;
    *m = (struct parcel){.src = me,
                         .dst = process_of(me, x),
                         .local = x->comm == &f.local[me],
                         .tag = x->tag,
                         .len = len};
    job_check(m->dst >= 0 && m->dst < f.p && m->dst != me);
    dt_pack(x->type, (size_t)x->n, x->from, 0, m->data, len);
    while (*at)
        at = &(*at)->next;
    *at = m;
    f.messages++;
}

/* 1: the first message from that process was there and is taken. */
static int collect(int me, const struct step *x)
{
    for (struct parcel **at = &under_way; *at; at = &(*at)->next) {
        struct parcel *m = *at;
        if (m->dst != me || m->src != process_of(me, x) || m->local != (x->comm == &f.local[me]) ||
            m->tag != x->tag)
            continue;
        job_check(m->len == (size_t)x->n * (size_t)x->type->size);
        dt_unpack(x->type, (size_t)x->n, x->to, 0, m->data, m->len);
        *at = m->next;
        free(m);
        return 1;
    }
    return 0;
}

static void issue(int me, struct step *x)
{
    switch (x->kind) {
    case STEP_SEND:
        post(me, x);
        break;
    case STEP_COPY:
        dt_copy(x->from, (size_t)x->n, x->type, x->to, (size_t)x->n2, x->type2);
        break;
    case STEP_REDUCE:
        dt_op_apply(x->op, x->from, x->to, (size_t)x->n, x->type);
        break;
    case STEP_CALL:
        x->call(x->to);
        break;
    default:
        break;
    }
}

/* One step forward of a member's schedule: 1 if something moved. */
static int turn(int me)
{
    struct sched *s = f.s[me];
    int moved = 0;
    for (; s->done < s->at; s->done++, moved = 1)
        if (s->steps[s->done].kind == STEP_RECV && !collect(me, &s->steps[s->done]))
            return moved;
    while (s->at < s->n) {
        struct step *x = &s->steps[s->at++];
        moved = 1;
        if (x->kind == STEP_FENCE)
            break;
        issue(me, x);
    }
    return moved;
}

void fake_run(void)
{
    for (int i = 0; i < f.p; i++) {
        f.s[i] = sched_make(&f.args[i]);
        coll_build(f.s[i]);
        job_check(f.s[i]->error == 0);
        job_check(!coll_moves_none(&f.args[i]) || f.s[i]->n == 0);
    }
    for (int idle = 0; idle < f.p * 4;) {
        dice = dice * 1103515245u + 12345u;
        idle = turn((int)(dice >> 16) % f.p) ? 0 : idle + 1;
    }
    for (int moved = 1; moved;) {
        moved = 0;
        for (int i = 0; i < f.p; i++)
            moved |= turn(i);
    }
    for (int i = 0; i < f.p; i++) {
        job_check(f.s[i]->done == f.s[i]->n); /* else members wait for each other */
        sched_destroy(f.s[i]);
    }
    job_check(under_way == NULL);
}

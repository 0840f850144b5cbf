/* random.c - random FROM TO HOW: for each seed, a random sequence of collective calls over nested,
 * overlapping and inter communicators and windows.
 *
 *   0 same      the same calls at all ranks
 *   1 changed   one call of one rank is another one
 *   2 missing   one is left out
 *   3 swapped   one changes places with a later one of its communicator
 *   4 lawful    each rank makes the same calls in its own way, as the standard lets it
 *   5 order     one rank swaps two calls of different communicators, and does not wait in them
 *
 * A wrong one prints "expect NAME CALL RANK" first: on which communicator, in which call of it, and
 * which rank of it the sequences differ by; with 2 a deadlock may come before. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAME, CHANGED, MISSING, SWAPPED, LAWFUL, ORDER };
enum { ALL, DUP, HALF, QUARTER, LOW, HIGH, INTER, WINDOW, HALF_WINDOW, COMMS };
enum { BARRIER, BCAST, ALLREDUCE, REDUCE, GATHER, SCATTER, ALLGATHER, ALLTOALL, SCAN, EXSCAN,
       REDUCE_SCATTER, IBARRIER, IALLREDUCE, IBCAST, PERSISTENT, SPLIT, OPS };
enum { STEPS = 30, CELLS = 256, OPEN = 64 };

struct step { /* fields that do not count for its call are 0 */
    int comm, op, root, count, type, sum;
};

struct wait { /* of a nonblocking call */
    MPI_Request r;
    int buf[CELLS], got[CELLS];
};

static const char *const names[COMMS] = {"all", "dup", "half", "quarter", "low", "high", "inter",
                                         "window halo", "window half halo"};
static struct step steps[STEPS], other[STEPS];
static MPI_Comm comms[COMMS];
static MPI_Win wins[COMMS];
static MPI_Datatype pair[3];
static int made[COMMS]; /* calls so far */
static int rank, size, how, mem[4];
static unsigned long state, own; /* of all, of this rank */
static struct wait *waits[OPEN];
static int open_waits;

static int draw(unsigned long *s, int n)
{
    *s = *s * 6364136223846793005ul + 1442695040888963407ul;
    return (int)((*s >> 33) % (unsigned long)n);
}

static int dice(int n)
{
    return draw(&state, n);
}

/* This rank alone, 1 of n times. */
static int now_and_then(int n)
{
    return how == LAWFUL && draw(&own, n) == 0;
}

static int is_window(int c)
{
    return c == WINDOW || c == HALF_WINDOW;
}

/* --- the plan --------------------------------------------------------------------------------- */

static int members(int comm)
{
    switch (comm) {
    case HALF:
    case HALF_WINDOW:
        return size / 2;
    case QUARTER:
        return size / 4 ? size / 4 : 1;
    case LOW:
    case HIGH:
        return size - 1;
    default:
        return size;
    }
}

static void draw_step(struct step *s)
{
    static const int inter[] = {BARRIER, ALLREDUCE, ALLGATHER, IBARRIER};
    const unsigned rooted = 1u << BCAST | 1u << REDUCE | 1u << GATHER | 1u << SCATTER |
                            1u << IBCAST;
    const unsigned plain = 1u << BARRIER | 1u << IBARRIER | 1u << SPLIT;
    const unsigned sums = 1u << ALLREDUCE | 1u << REDUCE | 1u << SCAN | 1u << EXSCAN |
                          1u << REDUCE_SCATTER | 1u << IALLREDUCE | 1u << PERSISTENT;
    int c = s->comm, op = dice(OPS), root = dice(members(c)), count = dice(4), type = dice(3),
        sum = dice(2), modes = dice(4), between = inter[dice(4)];
    *s = (struct step){.comm = c, .op = op};
    if (is_window(c)) {
        *s = (struct step){.comm = c, .count = modes};
        return;
    }
    if (c == INTER) { /* amounts and types are not compared there */
        *s = (struct step){.comm = c, .op = between};
        return;
    }
    s->root = rooted >> op & 1 ? root : 0;
    s->count = plain >> op & 1 ? 0 : count;
    s->type = s->count ? type : 0; /* none has none */
    s->sum = sums >> op & 1 ? sum : 0;
}

static int alike(const struct step *a, const struct step *b)
{
    return !memcmp(a, b, sizeof *a);
}

static int next_of(const struct step *s, int at, int comm)
{
    while (at < STEPS && s[at].comm != comm)
        at++;
    return at;
}

/* Call of `comm` in which the two sequences differ first; -1: none. */
static int difference(int comm)
{
    int i = next_of(steps, 0, comm), j = next_of(other, 0, comm), k = 0;
    for (; i < STEPS && j < STEPS && alike(&steps[i], &other[j]); k++) {
        i = next_of(steps, i + 1, comm);
        j = next_of(other, j + 1, comm);
    }
    return i < STEPS || j < STEPS ? k : -1;
}

static int belongs(int comm, int to)
{
    return comm == LOW ? to < size - 1 : comm == HIGH ? to > 0 : 1;
}

/* 1: the other sequence differs, on communicator *comm. */
static int spoil(int odd, int *comm)
{
    int at = dice(STEPS), later = at + 1;
    memcpy(other, steps, sizeof other);
    struct step *s = &other[at], was = *s;
    *comm = s->comm;
    if (!belongs(s->comm, odd) || (s->comm == QUARTER && size < 8))
        return 0;
    if (how == CHANGED)
        draw_step(s);
    if (how == MISSING)
        s->comm = -1;
    if (how == SWAPPED) {
        later = next_of(other, later, was.comm);
        if (later == STEPS)
            return 0;
        *s = other[later];
        other[later] = was;
    }
    return difference(was.comm) >= 0;
}

static int make_plan(unsigned long seed)
{
    int comm = -1, odd;
    state = seed * 977 + 5;
    own = seed * 31 + (unsigned long)rank * 1000003 + 7;
    for (int i = 0; i < STEPS; i++) {
        steps[i].comm = dice(COMMS);
        draw_step(&steps[i]);
    }
    odd = dice(size);
    memcpy(other, steps, sizeof other);
    if (how == SAME || how == LAWFUL || how == ORDER)
        return odd;
    while (!spoil(odd, &comm))
        odd = dice(size);
    return odd;
}

/* --- communicators ---------------------------------------------------------------------------- */

static void name(int c)
{
    if (comms[c] != MPI_COMM_NULL)
        MPI_Comm_set_name(comms[c], names[c]);
}

static void overlapping(int c, int out)
{
    MPI_Group all, some;
    MPI_Comm_group(comms[ALL], &all);
    MPI_Group_excl(all, 1, &out, &some);
    MPI_Comm_create(comms[ALL], some, &comms[c]);
    made[ALL]++;
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    name(c);
}

static void make_window(int c, int over)
{
    MPI_Win_create(mem, sizeof mem, 1, MPI_INFO_NULL, comms[over], &wins[c]);
    made[over]++;
    MPI_Win_set_name(wins[c], names[c] + 7);
}

static void split(int c, int over, int color)
{
    MPI_Comm_split(comms[over], color, rank, &comms[c]);
    made[over]++;
    name(c);
}

static void open_all(void)
{
    int low = rank < size / 2;
    memset(made, 0, sizeof made);
    for (int c = 0; c < COMMS; c++) {
        comms[c] = MPI_COMM_NULL;
        wins[c] = MPI_WIN_NULL;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[ALL]);
    name(ALL);
    MPI_Comm_dup(comms[ALL], &comms[DUP]);
    made[ALL]++;
    name(DUP);
    split(HALF, ALL, low);
    split(QUARTER, HALF, rank % 2);
    overlapping(LOW, size - 1);
    overlapping(HIGH, 0);
    MPI_Intercomm_create(comms[HALF], 0, comms[ALL], low ? size / 2 : 0, 5, &comms[INTER]);
    made[HALF]++;
    name(INTER);
    make_window(WINDOW, ALL);
    make_window(HALF_WINDOW, HALF);
    for (int i = 1; i <= 3; i++) {
        MPI_Datatype of[] = {MPI_INT, MPI_FLOAT, MPI_DOUBLE};
        MPI_Type_contiguous(i, of[i - 1], &pair[i - 1]);
        MPI_Type_commit(&pair[i - 1]);
    }
}

static void wait_all(void)
{
    for (; open_waits; free(waits[open_waits]))
        MPI_Wait(&waits[--open_waits]->r, MPI_STATUS_IGNORE);
}

static void close_all(void)
{
    static const int order[] = {HALF_WINDOW, WINDOW, INTER, QUARTER, HIGH, LOW, DUP, HALF, ALL};
    wait_all();
    for (int i = 0; i < COMMS; i++) {
        int c = order[i];
        if (wins[c] != MPI_WIN_NULL)
            MPI_Win_free(&wins[c]);
        if (comms[c] != MPI_COMM_NULL)
            MPI_Comm_free(&comms[c]);
    }
    for (int i = 0; i < 3; i++)
        MPI_Type_free(&pair[i]);
}

/* --- calls ------------------------------------------------------------------------------------ */

static const MPI_Datatype *types(void)
{
    static MPI_Datatype t[3];
    t[0] = MPI_INT;
    t[1] = MPI_FLOAT;
    t[2] = MPI_DOUBLE;
    return t;
}

/* It may be waited for later. */
static struct wait *later(void)
{
    if (open_waits == OPEN)
        wait_all();
    waits[open_waits] = calloc(1, sizeof(struct wait));
    if (!waits[open_waits])
        MPI_Abort(MPI_COMM_WORLD, 3);
    return waits[open_waits++];
}

static void nonblocking(const struct step *s, MPI_Comm c)
{
    struct wait *w = later();
    MPI_Datatype t = types()[s->type];
    MPI_Op op = s->sum ? MPI_SUM : MPI_MAX;
    if (s->op == IBARRIER)
        MPI_Ibarrier(c, &w->r);
    else if (s->op == IBCAST)
        MPI_Ibcast(w->buf, s->count, t, s->root, c, &w->r);
    else if (s->op == IALLREDUCE)
        MPI_Iallreduce(w->buf, w->got, s->count, t, op, c, &w->r);
    if (s->op == PERSISTENT) {
        MPI_Allreduce_init(w->buf, w->got, s->count, t, op, c, MPI_INFO_NULL, &w->r);
        for (int i = 0; i < 2; i++) {
            MPI_Start(&w->r);
            MPI_Wait(&w->r, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&w->r);
    }
    if (!now_and_then(2))
        wait_all();
}

/* The root alone, or what only the root gives. */
static void with_root(const struct step *s, MPI_Comm c, int at_root)
{
    static int in[CELLS], out[CELLS];
    MPI_Datatype t = types()[s->type], mine = t;
    MPI_Op op = s->sum ? MPI_SUM : MPI_MAX;
    int n = s->count, odd = now_and_then(2), count = n;
    if (!at_root && odd) { /* not significant */
        mine = MPI_CHAR;
        count = 177;
    }
    if (s->op == BCAST && n == s->type + 1 && odd) /* the same signature */
        MPI_Bcast(in, 1, pair[s->type], s->root, c);
    else if (s->op == BCAST)
        MPI_Bcast(in, n, n || !odd ? t : MPI_CHAR, s->root, c);
    else if (s->op == REDUCE)
        MPI_Reduce(at_root && odd ? MPI_IN_PLACE : in, out, n, t, op, s->root, c);
    else if (s->op == GATHER)
        MPI_Gather(at_root && odd ? MPI_IN_PLACE : in, n, t, out, count, mine, s->root, c);
    else
        MPI_Scatter(in, count, mine, at_root && odd ? MPI_IN_PLACE : out, n, t, s->root, c);
}

static void call(const struct step *s)
{
    static const int modes[] = {0, MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED,
                                MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED};
    static int in[CELLS], out[CELLS];
    MPI_Comm c = comms[s->comm], part;
    MPI_Datatype t = types()[s->type];
    MPI_Op op = s->sum ? MPI_SUM : MPI_MAX;
    int me, n = s->count;
    if (is_window(s->comm)) {
        MPI_Win_fence(modes[n] | (now_and_then(3) ? MPI_MODE_NOSTORE : 0), wins[s->comm]);
        return;
    }
    MPI_Comm_rank(c, &me);
    switch (s->op) {
    case BARRIER:
        MPI_Barrier(c);
        break;
    case ALLREDUCE:
        MPI_Allreduce(in, out, n, t, op, c);
        break;
    case ALLGATHER:
        if (n == s->type + 1 && now_and_then(2))
            MPI_Allgather(in, 1, pair[s->type], out, n, t, c);
        else
            MPI_Allgather(in, n, t, out, n, t, c);
        break;
    case ALLTOALL:
        MPI_Alltoall(in, n, t, out, n, t, c);
        break;
    case SCAN:
        MPI_Scan(in, out, n, t, op, c);
        break;
    case EXSCAN:
        MPI_Exscan(in, out, n, t, op, c);
        break;
    case REDUCE_SCATTER:
        MPI_Reduce_scatter_block(in, out, n, t, op, c);
        break;
    case SPLIT:
        MPI_Comm_split(c, rank % 2, 0, &part);
        if (part != MPI_COMM_NULL)
            MPI_Comm_free(&part);
        break;
    case IBARRIER:
    case IALLREDUCE:
    case IBCAST:
    case PERSISTENT:
        nonblocking(s, c);
        break;
    default:
        with_root(s, c, me == s->root);
    }
}

/* --- a run ------------------------------------------------------------------------------------ */

/* A message that is awaited at the end, when all calls have been made. */
static void send_one(struct wait *w, int to)
{
    MPI_Isend(w->buf, 1, MPI_INT, to, 3, MPI_COMM_WORLD, &w->r);
}

static void run(const struct step *s)
{
    struct wait out = {.r = MPI_REQUEST_NULL}, in = {.r = MPI_REQUEST_NULL};
    int when = draw(&own, STEPS);
    if (how == LAWFUL)
        MPI_Irecv(in.got, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &in.r);
    for (int i = 0; i < STEPS; i++) {
        int c = s[i].comm;
        if (how == LAWFUL && i == when)
            send_one(&out, (rank + 1) % size);
        if (c < 0 || (is_window(c) ? wins[c] == MPI_WIN_NULL : comms[c] == MPI_COMM_NULL))
            continue;
        if (now_and_then(20))
            usleep(3000);
        call(&s[i]);
    }
    MPI_Wait(&out.r, MPI_STATUS_IGNORE);
    MPI_Wait(&in.r, MPI_STATUS_IGNORE);
}

/* Two broadcasts of one root, which waits in none. A call on ALL orders those on DUP. */
static void swap_order(int odd)
{
    static int in[CELLS];
    int first = rank == odd ? DUP : ALL;
    MPI_Bcast(in, 1, MPI_INT, odd, comms[first]);
    MPI_Bcast(in, 1, MPI_INT, odd, comms[ALL + DUP - first]);
}

static void expect(int odd)
{
    for (int c = 0; c < COMMS; c++) {
        int k = difference(c), me = rank;
        if (k < 0 || rank != odd)
            continue;
        if (c == HALF_WINDOW)
            MPI_Comm_rank(comms[HALF], &me);
        else if (!is_window(c) && c != INTER) /* there, ranks of MPI_COMM_WORLD are named */
            MPI_Comm_rank(comms[c], &me);
        printf("expect %s, call %d: rank %d\n", names[c], k + made[c] + 1, me);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    unsigned long seed = strtoul(argv[1], NULL, 10), to = strtoul(argv[2], NULL, 10);
    how = atoi(argv[3]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (; seed <= to; seed++) {
        open_all();
        int odd = make_plan(seed);
        MPI_Barrier(comms[ALL]);
        made[ALL]++;
        expect(odd);
        run(rank == odd ? other : steps);
        if (how == ORDER)
            swap_order(odd);
        close_all();
    }
    MPI_Finalize();
    return 0;
}

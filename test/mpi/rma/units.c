/* units.c - displacement units that an int does not hold, and others beside them: each rank has its
 * own. Operations of every kind at displacements that lie in the window, and at those that do not:
 * errors, and nothing is written. */
#include "../mt.h"

#include <limits.h>
#include <sys/mman.h>

enum { CELLS = 8, KINDS = 8, FLAVOURS = 4 };
static const char *const kind_name[KINDS] = {
    "put",  "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap",
    "rput", "rget"};
static const char *const flavour_name[FLAVOURS] = {"allocate", "create", "create on alloc_mem",
                                                   "shared"};
static const MPI_Aint units[] = {(MPI_Aint)INT_MAX + 1,
                                 ((MPI_Aint)1 << 33) + 8,
                                 8,
                                 (MPI_Aint)UINT_MAX,
                                 (MPI_Aint)UINT_MAX + 1,
                                 INT64_MAX,
                                 1,
                                 (MPI_Aint)1 << 62,
                                 INT_MAX};
enum { UNITS = sizeof units / sizeof *units };

/* One element that was `was` becomes was + 1, where it does not only look; old: what was read, else
 * `was`.  The class of the first error. */
static int one(int kind, MPI_Win win, int t, MPI_Aint disp, int64_t was, int64_t *old)
{
    static const int64_t add = 1;
    int64_t now = was + 1;
    MPI_Request req = MPI_REQUEST_NULL;
    int err = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, win), e;
    *old = was;
    switch (kind) {
    case 0: e = MPI_Put(&now, 1, MPI_INT64_T, t, disp, 1, MPI_INT64_T, win); break;
    case 1: e = MPI_Get(old, 1, MPI_INT64_T, t, disp, 1, MPI_INT64_T, win); break;
    case 2: e = MPI_Accumulate(&add, 1, MPI_INT64_T, t, disp, 1, MPI_INT64_T, MPI_SUM, win); break;
    case 3:
        e = MPI_Get_accumulate(&add, 1, MPI_INT64_T, old, 1, MPI_INT64_T, t, disp, 1, MPI_INT64_T,
                               MPI_SUM, win);
        break;
    case 4: e = MPI_Fetch_and_op(&add, old, MPI_INT64_T, t, disp, MPI_SUM, win); break;
    case 5: e = MPI_Compare_and_swap(&now, &was, old, MPI_INT64_T, t, disp, win); break;
    case 6: e = MPI_Rput(&now, 1, MPI_INT64_T, t, disp, 1, MPI_INT64_T, win, &req); break;
    default: e = MPI_Rget(old, 1, MPI_INT64_T, t, disp, 1, MPI_INT64_T, win, &req); break;
    }
    err = err ? err : e;
    if (!e && req != MPI_REQUEST_NULL) {
        e = MPI_Wait(&req, MPI_STATUS_IGNORE);
        err = err ? err : e;
    }
    e = MPI_Win_unlock(t, win);
    err = err ? err : e;
    return err ? mt_class(err) : MPI_SUCCESS;
}

static int looks(int kind)
{
    return kind == 1 || kind == 7;
}

static void at(const char *what, MPI_Win win, int t, MPI_Aint disp, int in, int64_t from)
{
    int64_t v = from, old;
    for (int kind = 0; kind < KINDS; kind++) {
        int cls = one(kind, win, t, disp, v, &old);
        MUST(cls == (in ? MPI_SUCCESS : MPI_ERR_RMA_RANGE), "%s, %s at %lld: class %d", what,
             kind_name[kind], (long long)disp, cls);
        MUST(old == v, "%s, %s at %lld: %lld was there, not %lld", what, kind_name[kind],
             (long long)disp, (long long)old, (long long)v);
        v += in && !looks(kind);
    }
}
enum { DONE = KINDS - 2 }; /* what at() adds */

/* For the calls that have an int for it. */
static void told(MPI_Win win, MPI_Aint unit)
{
    int *p = NULL, *again = NULL, flag = 0, as_int = 0,
        e = MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &p, &flag);
    MPI_Aint size, wide = 0;
    void *base;
    char text[MPI_MAX_ERROR_STRING], number[32];
    int len, q = MPI_Win_shared_query(win, mt_rank, &size, &as_int, &base);
    CHECK(MPI_Win_shared_query_c(win, mt_rank, &size, &wide, &base) == MPI_SUCCESS && wide == unit);
    if (unit <= INT_MAX) {
        CHECK(e == MPI_SUCCESS && flag && *p == unit && q == MPI_SUCCESS && as_int == unit);
        CHECK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &again, &flag) == MPI_SUCCESS && again == p);
        return;
    }
    CHECK_EQ(mt_class(e), MPI_ERR_VALUE_TOO_LARGE);
    CHECK_EQ(mt_class(q), MPI_ERR_VALUE_TOO_LARGE);
    snprintf(number, sizeof number, " %lld,", (long long)unit);
    MPI_Error_string(e, text, &len);
    MUST(strstr(text, "MPI_Win_get_attr: ") && strstr(text, number), "%s", text);
    MPI_Error_string(q, text, &len);
    MUST(strstr(text, "MPI_Win_shared_query: ") && strstr(text, number), "%s", text);
}

static int same_node(void)
{
    MPI_Comm node;
    int n;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    MPI_Comm_free(&node);
    return n == mt_size;
}

static MPI_Win open_window(int flavour, MPI_Aint bytes, MPI_Aint unit, int64_t **mem)
{
    MPI_Win win;
    if (flavour == 1)
        *mem = calloc(1, (size_t)bytes);
    if (flavour == 2)
        MPI_Alloc_mem(bytes, MPI_INFO_NULL, mem);
    if (flavour == 0)
        MPI_Win_allocate_c(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, mem, &win);
    else if (flavour == 3)
        MPI_Win_allocate_shared_c(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, mem, &win);
    else
        MPI_Win_create_c(*mem, bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    memset(*mem, 0, (size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

/* Memory smaller than most units: only displacement 0 lies inside. */
static void small(int flavour, int turn)
{
    int64_t *mem;
    MPI_Aint bytes = CELLS * (MPI_Aint)sizeof *mem, unit = units[(mt_rank + turn) % UNITS];
    MPI_Win win = open_window(flavour, bytes, unit, &mem);
    int next = (mt_rank + 1) % mt_size;
    MPI_Aint there = units[(next + turn) % UNITS];
    told(win, unit);
    char what[80];
    snprintf(what, sizeof what, "%s, unit %lld", flavour_name[flavour], (long long)there);
    at(what, win, next, 0, 1, 0);
    if (there > bytes) {
        at(what, win, next, 1, 0, 0);
        at(what, win, next, (MPI_Aint)1 << 31, 0, 0);  /* times 2^33 it is 0 again */
        at(what, win, next, (MPI_Aint)1 << 32, 0, 0);  /* times 2^32 */
        at(what, win, next, 4, 0, 0);                  /* times 2^62 */
        at(what, win, next, INT64_MAX, 0, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, win);
    for (int i = 0; i < CELLS; i++)
        MUST(mem[i] == (i ? 0 : DONE), "%s, turn %d: cell %d is %lld", flavour_name[flavour], turn,
             i, (long long)mem[i]);
    MPI_Win_unlock(mt_rank, win);
    MPI_Win_free(&win);
    if (flavour == 1)
        free(mem);
    if (flavour == 2)
        MPI_Free_mem(mem);
}

/* Memory of which only the pages that are touched exist: displacements 1 and 2 lie inside, and 3
 * does not. */
static void wide(void)
{
    enum { AT = 3 };
    MPI_Aint unit = ((MPI_Aint)1 << (31 + mt_rank % 3)) + 8 * mt_rank, bytes = (AT - 1) * unit + 8;
    int next = (mt_rank + 1) % mt_size;
    char *mem = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MPI_Win win;
    MUST(mem != MAP_FAILED, "no address space for %lld bytes", (long long)bytes);
    MPI_Win_create_c(mem, mem == MAP_FAILED ? 0 : bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    told(win, unit);
    for (int i = 0; i <= AT; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        at("create, sparse", win, next, i, i < AT, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, win);
    for (int i = 0; i < AT; i++)
        CHECK_EQ(*(int64_t *)(void *)(mem + i * unit), DONE);
    MPI_Win_unlock(mt_rank, win);
    /* many at once: coalesced packets and batches carry displacements, too */
    MPI_Barrier(MPI_COMM_WORLD);
    int64_t v[2 * AT];
    MPI_Win_fence(0, win);
    for (int i = 0; i < 2 * AT; i++) {
        v[i] = 1000 * (mt_rank + 1) + i;
        MPI_Put(&v[i], 1, MPI_INT64_T, next, i % AT, 1, MPI_INT64_T, win);
        if (i + 1 == AT)
            MPI_Win_fence(0, win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int i = 0; i < AT; i++)
        CHECK_EQ(*(int64_t *)(void *)(mem + i * unit),
                 1000 * ((mt_rank + mt_size - 1) % mt_size + 1) + AT + i);
    MPI_Win_free(&win);
    munmap(mem, (size_t)bytes);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    int shared = same_node();
    for (int flavour = 0; flavour < FLAVOURS - !shared; flavour++)
        for (int turn = 0; turn < UNITS; turn++)
            small(flavour, turn);
    wide();
    return mt_finish();
}

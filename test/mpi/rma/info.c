/* info.c - info keys of windows (MPI-3.1 11.2.1 to 11.2.4 and MPI-4.1 12.2.7): MPI_Win_get_info
 * returns what is in effect, and that is kept to. */
#include "rw.h"

/* The value in effect, "" when the key is not returned. */
static const char *value(MPI_Win w, const char *key)
{
    static char v[MPI_MAX_INFO_VAL + 1];
    MPI_Info i;
    int flag;

    MPI_Win_get_info(w, &i);
    MPI_Info_get(i, key, MPI_MAX_INFO_VAL, v, &flag);
    MPI_Info_free(&i);
    if (!flag)
        v[0] = '\0';
    return v;
}

static const struct key {
    const char *key, *absent, *given, *want, *wrong;
    int made; /* by it: later values are ignored */
} keys[] = {
    {"no_locks", "false", "true", "true", "yes", 0},
    {"no_locks", "false", "FALSE", "false", "1", 0},
    {"accumulate_ordering", "rar,raw,war,waw", "none", "none", "sometimes", 0},
    {"accumulate_ordering", "rar,raw,war,waw", "waw,rar", "waw,rar", "rar;raw", 0},
    {"accumulate_ops", "same_op_no_op", "same_op", "same_op", "all_ops", 0},
    {"accumulate_ops", "same_op_no_op", "any_op", "any_op", "any", 0},
    {"mpi_accumulate_granularity", "0", "8", "8", "eight", 1},
    {"mpix_accumulate_ops", "any", "cas,Sum,no_op", "sum,no_op,cas", "sum,add", 1},
    {"mpix_accumulate_types", "any", "double,longlong", "int64,double", "double,", 1},
    {"same_size", "false", "true", "true", "2", 0},
    {"same_disp_unit", "false", "true", "true", "maybe", 0},
    {"alloc_shared_noncontig", "false", "true", "true", "", 0},
};
enum { KEYS = sizeof keys / sizeof *keys };

static MPI_Info with(const char *key, const char *v)
{
    MPI_Info i;

    MPI_Info_create(&i);
    if (*v)
        MPI_Info_set(i, key, v);
    return i;
}

/* Each key: absent, given at creation, given later, malformed. */
static void in_effect(int flavour)
{
    int k;
    struct rw w;
    MPI_Info i;

    for (k = 0; k < KEYS; k++) {
        const struct key *t = &keys[k];
        const char *const at_creation[] = {"", t->given, t->wrong}, *const told[] = {t->absent,
                                                                                     t->want,
                                                                                     t->absent};
        int n;

        for (n = 0; n < 3; n++) {
            i = with(t->key, at_creation[n]);
            if (!rw_make_info(&w, flavour, 64, MPI_COMM_WORLD, i)) {
                MPI_Info_free(&i);
                return;
            }
            MPI_Info_free(&i);
            MUST(strcmp(value(w.win, t->key), told[n]) == 0, "%s: %s=%s is told as %s, not %s",
                 rw_flavour_names[flavour], t->key, at_creation[n], value(w.win, t->key), told[n]);
            MPI_Win_set_info(w.win, MPI_INFO_NULL);          /* changes nothing */
            CHECK(strcmp(value(w.win, t->key), told[n]) == 0);
            i = with(t->key, t->wrong);
            MPI_Win_set_info(w.win, i);
            CHECK(strcmp(value(w.win, t->key), told[n]) == 0);
            MPI_Info_free(&i);
            i = with(t->key, t->given);
            MPI_Win_set_info(w.win, i);
            CHECK(strcmp(value(w.win, t->key), t->made ? told[n] : t->want) == 0);
            MPI_Info_free(&i);
            i = with(t->key, t->absent);
            MPI_Win_set_info(w.win, i);
            CHECK(strcmp(value(w.win, t->key), t->made ? told[n] : t->absent) == 0);
            MPI_Info_free(&i);
            CHECK(value(w.win, "malformed")[0] == '\0');
            CHECK(atoi(value(w.win, "slots")) > 0 && atoi(value(w.win, "op_win_pool")) > 0);
            rw_free(&w);
        }
    }
}

/* MPI_Win_set_info is collective in MPI, and does not wait here: rank 0 returns from it before
 * the others call it. */
static void returns_alone(void)
{
    MPI_Info i = with("no_locks", "true");
    struct rw w;

    rw_make(&w, RW_ALLOCATE, 64, MPI_COMM_WORLD);
    if (mt_rank)
        MPI_Recv(NULL, 0, MPI_INT, mt_rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_set_info(w.win, i);
    CHECK(strcmp(value(w.win, "no_locks"), "true") == 0);
    if (mt_rank + 1 < mt_size)
        MPI_Send(NULL, 0, MPI_INT, mt_rank + 1, 3, MPI_COMM_WORLD);
    MPI_Info_free(&i);
    rw_free(&w);
}

/* Large pages are had or not, and the key shows it; the memory works in either case. */
static void large_pages(void)
{
    MPI_Info i = with("large_pages", "true");
    MPI_Win w;
    long *base, v = 7, got = 0;
    int rank, size, n = 1 << 20;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(n, 1, i, MPI_COMM_WORLD, &base, &w);
    MPI_Info_free(&i);
    CHECK(!strcmp(value(w, "large_pages"), "true") || !strcmp(value(w, "large_pages"), "false"));
    MPI_Win_fence(0, w);
    MPI_Put(&v, sizeof v, MPI_BYTE, (rank + 1) % size, n - (int)sizeof v, sizeof v, MPI_BYTE, w);
    MPI_Win_fence(0, w);
    MPI_Get(&got, sizeof got, MPI_BYTE, (rank + 1) % size, n - (int)sizeof v, sizeof v, MPI_BYTE,
            w);
    MPI_Win_fence(0, w);
    CHECK_EQ(got, 7);
    MPI_Win_free(&w);
}

static void aligned_window(int how, const char *want, size_t n, MPI_Aint bytes, MPI_Comm node)
{
    MPI_Info i = with("mpi_minimum_memory_alignment", want);
    MPI_Comm c = how ? node : MPI_COMM_WORLD;
    MPI_Win w;
    char *mem;
    int rank, size, one = 1;
    long long told;

    if (how == 2)
        MPI_Info_set(i, "alloc_shared_noncontig", "true");
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    if (how == 0)
        MPI_Win_allocate(bytes, 1, i, c, &mem, &w);
    else
        MPI_Win_allocate_shared(bytes, 1, i, c, &mem, &w);
    told = atoll(value(w, "mpi_minimum_memory_alignment"));
    MUST(told > 0 && (told & (told - 1)) == 0 && (uintptr_t)mem % (uintptr_t)told == 0,
         "%p is told to be a multiple of %lld", (void *)mem, told);
    /* without a gap between them only the first part can be where one likes */
    if (how != 1 || rank == 0)
        MUST((size_t)told >= n, "%d: %ld bytes at %p, %lld instead of %s", how, (long)bytes,
             (void *)mem, told, want);
    MPI_Info_set(i, "mpi_minimum_memory_alignment", "1");
    MPI_Win_set_info(w, i);
    CHECK_EQ(atoll(value(w, "mpi_minimum_memory_alignment")), told);
    memset(mem, 0, (size_t)bytes);
    MPI_Barrier(c);
    MPI_Win_fence(0, w);
    MPI_Accumulate(&one, 1, MPI_INT, (rank + 1) % size, bytes - (MPI_Aint)sizeof one, 1, MPI_INT,
                   MPI_SUM, w);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    memcpy(&one, mem + bytes - sizeof one, sizeof one);
    CHECK_EQ(one, 1);
    MPI_Win_free(&w);
    MPI_Info_free(&i);
}

/* mpi_minimum_memory_alignment: kept to, in whatever kind of memory; malformed is ignored. */
static void alignments(void)
{
    static const struct {
        const char *text;
        size_t bytes;
    } want[] = {{"64", 64},       {"4096", 4096},
                {"65536", 65536}, {"2097152", 2097152},
                {"48", 1},        {"-64", 1},
                {"0", 1},         {"64k", 1},
                {" 65536", 1},    {"99999999999999999999", 1}};
    const MPI_Aint sizes[] = {100, 70001, 3 << 20};
    MPI_Comm node;
    size_t k, s;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    for (k = 0; k < sizeof want / sizeof *want; k++)
        for (s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            MPI_Info i = with("mpi_minimum_memory_alignment", want[k].text);
            char *p = NULL, *q = NULL;

            for (int how = 0; how < 3; how++)
                aligned_window(how, want[k].text, want[k].bytes, sizes[s], node);
            MPI_Alloc_mem(sizes[s], i, &p);
            MPI_Alloc_mem(sizes[s], i, &q);
            MUST(p && q && p != q && (uintptr_t)p % want[k].bytes == 0 &&
                     (uintptr_t)q % want[k].bytes == 0,
                 "MPI_Alloc_mem of %ld bytes, aligned to %s: %p, %p", (long)sizes[s], want[k].text,
                 (void *)p, (void *)q);
            memset(p, 1, (size_t)sizes[s]);
            memset(q, 2, (size_t)sizes[s]);
            CHECK(p[0] == 1 && p[sizes[s] - 1] == 1);
            MPI_Free_mem(p);
            MPI_Free_mem(q);
            MPI_Info_free(&i);
        }
    MPI_Comm_free(&node);
    /* they need not be of one mind */
    aligned_window(0, mt_rank ? "64" : "262144", mt_rank ? 64 : 262144, 64, MPI_COMM_SELF);
}

/* MPIR_CVAR_RMA_STRICT_NO_LOCKS of this process. */
static void strict(int on)
{
    MPI_T_cvar_handle h;
    int i = -1, n = 0;

    if (!MUST(MPI_T_cvar_get_index("MPIR_CVAR_RMA_STRICT_NO_LOCKS", &i) == MPI_SUCCESS,
              "there is no such control variable"))
        return;
    MPI_T_cvar_handle_alloc(i, NULL, &h, &n);
    CHECK_EQ(MPI_T_cvar_write(h, &on), MPI_SUCCESS);
    MPI_T_cvar_handle_free(&h);
}

/* Epochs that take no lock are as any: to the next process, or within lock_all. */
static void unlocked_epochs(struct rw *w, int t)
{
    int64_t v[2] = {30 + w->rank, 40 + w->rank}, got[2] = {0, 0};

    CHECK_EQ(MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Put(&v[0], 1, MPI_INT64_T, t, rw_disp(w, t, 24), 1, MPI_INT64_T, w->win),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Win_flush(t, w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Get(&got[0], 1, MPI_INT64_T, t, rw_disp(w, t, 24), 1, MPI_INT64_T, w->win),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Win_unlock_all(w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, MPI_MODE_NOCHECK, w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Put(&v[1], 1, MPI_INT64_T, t, rw_disp(w, t, 32), 1, MPI_INT64_T, w->win),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Win_flush(t, w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Get(&got[1], 1, MPI_INT64_T, t, rw_disp(w, t, 32), 1, MPI_INT64_T, w->win),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Win_unlock(t, w->win), MPI_SUCCESS);
    CHECK(got[0] == v[0] && got[1] == v[1]);
}

/* no_locks: epochs that take a lock are errors that name the key, as all passive ones where the
 * user is strict; others work; nothing is left behind. */
static void no_locks(int flavour)
{
    MPI_Info i = with("no_locks", "true");
    struct rw w;
    int e[5], k, len, t;
    int64_t v;
    char text[MPI_MAX_ERROR_STRING];

    if (!rw_make_info(&w, flavour, 64, MPI_COMM_WORLD, i)) {
        MPI_Info_free(&i);
        return;
    }
    MPI_Info_free(&i);
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    t = (w.rank + 1) % w.size;
    e[0] = MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w.win);
    e[1] = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w.rank, 0, w.win);
    e[2] = MPI_Win_lock_all(0, w.win);
    strict(1);
    e[3] = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w.rank, MPI_MODE_NOCHECK, w.win);
    e[4] = MPI_Win_lock_all(MPI_MODE_NOCHECK, w.win);
    strict(0);
    for (k = 0; k < 5; k++) {
        CHECK_EQ(mt_class(e[k]), MPI_ERR_RMA_SYNC);
        MPI_Error_string(e[k], text, &len);
        MUST(strstr(text, "no_locks") != NULL, "the error does not name the key: %s", text);
    }
    CHECK_EQ(mt_class(MPI_Win_unlock(t, w.win)), MPI_ERR_RMA_SYNC);
    CHECK_EQ(mt_class(MPI_Win_flush_all(w.win)), MPI_ERR_RMA_SYNC);
    unlocked_epochs(&w, t);
    MPI_Barrier(w.comm);
    v = 10 + w.rank;
    MPI_Win_fence(0, w.win);
    MPI_Put(&v, 1, MPI_INT64_T, t, rw_disp(&w, t, 8), 1, MPI_INT64_T, w.win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
    CHECK_EQ(((int64_t *)(void *)w.mem)[1], 10 + (w.rank + w.size - 1) % w.size);
    rw_begin(&w, RW_PSCW, 0);
    MPI_Put(&v, 1, MPI_INT64_T, t, rw_disp(&w, t, 16), 1, MPI_INT64_T, w.win);
    rw_end(&w, RW_PSCW, 0);
    CHECK_EQ(((int64_t *)(void *)w.mem)[2], 10 + (w.rank + w.size - 1) % w.size);
    i = with("no_locks", "false");
    MPI_Win_set_info(w.win, i);
    MPI_Info_free(&i);
    MPI_Barrier(w.comm);
    CHECK_EQ(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w.win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_unlock(t, w.win), MPI_SUCCESS);
    MPI_Barrier(w.comm);
    rw_free(&w);
}

/* Accumulates stay right with every hint about them that is true. */
static void accumulates(int flavour)
{
    static const char *const how[][2] = {{"accumulate_ordering", "none"},
                                         {"accumulate_ops", "same_op"},
                                         {"mpi_accumulate_granularity", "8"},
                                         {"mpi_accumulate_granularity", "1"},
                                         {"mpi_accumulate_granularity", "4096"}};
    size_t k;
    struct rw w;

    for (k = 0; k < sizeof how / sizeof *how; k++) {
        MPI_Info i = with(how[k][0], how[k][1]);
        int64_t one = 1, old = -1, *cell;
        int n, t;

        if (!rw_make_info(&w, flavour, 64, MPI_COMM_WORLD, i)) {
            MPI_Info_free(&i);
            return;
        }
        MPI_Info_free(&i);
        MPI_Win_lock_all(0, w.win);
        for (n = 0; n < 50; n++)
            for (t = 0; t < w.size; t++) {
                MPI_Accumulate(&one, 1, MPI_INT64_T, t, rw_disp(&w, t, 8), 1, MPI_INT64_T, MPI_SUM,
                               w.win);
                if (n % 10 == 0)
                    MPI_Fetch_and_op(&one, &old, MPI_INT64_T, t, rw_disp(&w, t, 8), MPI_SUM, w.win);
            }
        MPI_Win_unlock_all(w.win);
        MPI_Barrier(w.comm);
        rw_own(&w);
        cell = (int64_t *)(void *)w.mem;
        MUST(cell[1] == 55 * w.size, "%s, %s=%s: %lld", rw_flavour_names[flavour], how[k][0],
             how[k][1], (long long)cell[1]);
        rw_disown(&w);
        MPI_Barrier(w.comm);
        rw_free(&w);
    }
}

int main(int argc, char **argv)
{
    int f;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &f);
    mt_init(&argc, &argv);
    for (f = 0; f < RW_FLAVOURS; f++) {
        in_effect(f);
        no_locks(f);
        accumulates(f);
    }
    returns_alone();
    large_pages();
    alignments();
    MPI_T_finalize();
    return mt_finish();
}

/* differ.c - every control variable that may differ between processes differs, and programs run as
 * ever.
 *
 * The variables are set through MPI_T before MPI_Init, each rank another column of the table. A
 * variable whose scope is local and that has no row fails the test: a new one needs a row with the
 * values that matter. */
#include "../mt.h"
#include "../rma/random_rma.h"

enum { COLUMNS = 3, LONGEST = 300000 /* bytes */ };

static const struct row {
    const char *name;
    long long value[COLUMNS];
} rows[] = {
    { "MPIR_CVAR_BOOT_TIMEOUT", { 60, 50, 600 } },
    { "MPIR_CVAR_COLL_CHECK_STALL", { 1000, 300, 5000 } },
    { "MPIR_CVAR_COLL_CHECK_RING", { 64, 8, 256 } },
    { "MPIR_CVAR_RACE_MEM", { 16777216, 4096, 65536 } },
    { "MPIR_CVAR_RACE_REPORTS", { 20, 0, 1 } },
    { "MPIR_CVAR_WAIT_WARN", { 60, 0, 1000 } },
    { "MPIR_CVAR_TRACE_EVENTS", { 32768, 16, 100 } },
    { "MPIR_CVAR_RACE_EXIT", { 0, 1, 7 } },
    { "MPIR_CVAR_RACE_VALUE", { 1, 0, 1 } },
    { "MPIR_CVAR_RACE_POSSIBLE", { 0, 1, 0 } },
    { "MPIR_CVAR_CRASH_REPORT", { 1, 0, 1 } },
    { "MPIR_CVAR_PROGRESS_SPIN", { 0, 2000, 7 } },
    { "MPIR_CVAR_PROGRESS_YIELD", { 100, 0, 3 } },
    { "MPIR_CVAR_PROGRESS_SPREAD", { 1, 0, 1 } },
    { "MPIR_CVAR_ASYNC_PROGRESS", { -1, 1, 0 } },
    { "MPIR_CVAR_P2P_EAGER_MAX", { 65536, 0, 100 } },
    { "MPIR_CVAR_P2P_NATIVE_MIN", { -1, 1, 100000 } },
    { "MPIR_CVAR_P2P_EAGER_WINDOW", { 262144, 1000, 10000000 } },
    { "MPIR_CVAR_CH3_RMA_SLOTS_SIZE", { 256, 1, 2 } },
    { "MPIR_CVAR_CH3_RMA_OP_WIN_POOL_SIZE", { 256, 1, 10 } },
    { "MPIR_CVAR_CH3_RMA_OP_GLOBAL_POOL_SIZE", { 16384, 0, 5 } },
    { "MPIR_CVAR_CH3_RMA_TARGET_WIN_POOL_SIZE", { 256, 1, 2 } },
    { "MPIR_CVAR_CH3_RMA_TARGET_GLOBAL_POOL_SIZE", { 16384, 0, 1 } },
    { "MPIR_CVAR_CH3_RMA_TARGET_LOCK_ENTRY_WIN_POOL_SIZE", { 256, 1, 2 } },
    { "MPIR_CVAR_CH3_RMA_TARGET_LOCK_DATA_BYTES", { 655360, 0, 100 } },
    { "MPIR_CVAR_CH3_RMA_OP_PIGGYBACK_LOCK_DATA_SIZE", { 65536, 0, 1000000 } },
    { "MPIR_CVAR_CH3_RMA_DELAY_ISSUING_FOR_PIGGYBACKING", { 0, 1, 0 } },
    { "MPIR_CVAR_CH3_RMA_ACTIVE_REQ_THRESHOLD", { 65536, -1, 0 } },
    { "MPIR_CVAR_CH3_RMA_POKE_PROGRESS_REQ_THRESHOLD", { 128, -1, 0 } },
    { "MPIR_CVAR_CH3_RMA_SCALABLE_FENCE_PROCESS_NUM", { 1024, -1, 0 } },
    { "MPIR_CVAR_RMA_PIGGYBACK_THRESHOLD", { 8, 0, 100 } },
    { "MPIR_CVAR_RMA_PIGGYBACK_POLLS", { 128, 0, 1 } },
    { "MPIR_CVAR_RMA_SINGLE_OP_THRESHOLD", { 512, 0, 100000 } },
    { "MPIR_CVAR_RMA_STRICT_NO_LOCKS", { 0, 1, 0 } },
    { "MPIR_CVAR_RMA_LOCK_ALL_OUTSTANDING", { 16, 1, 1024 } },
    { "MPIR_CVAR_RMA_NATIVE_PUT_MIN", { -1, 1, 5000 } },
    { "MPIR_CVAR_RMA_NATIVE_GET_MIN", { 1, -1, 5000 } },
    { "MPIR_CVAR_NOTIFY_NATIVE_MIN", { 1048576, 0, 5000 } },
    { "MPIR_CVAR_NOTIFY_IMMEDIATE", { 0, 1, 1 } },
    { "MPIR_CVAR_RMA_NATIVE_ATOMIC", { -1, 1, 0 } },
    { "MPIR_CVAR_RMA_PULL_MIN", { -1, 1, 3000 } },
    { "MPIR_CVAR_RMA_PULL_BYTES", { 524288, 8, 1000 } },
    { "MPIR_CVAR_RMA_PULLS", { 4, 1, 0 } },
    { "MPIR_CVAR_RMA_KEYS_SIZE", { 256, 1, 2 } },
    { "MPIR_CVAR_RMA_MOVE_MIN", { 0, 1, 65536 } },
    { "MPIR_CVAR_MEM_KEEP", { 134217728, 0, 5000 } },
    { "MPIR_CVAR_WIN_DEVICE_BYTES", { 0, 1048576, 65536 } },
    { "MPIR_CVAR_WIN_GUARD", { 0, 1, 0 } },
    { "MPIR_CVAR_SPACE_SIM", { 2, 0, 1 } },
    { "MPIR_CVAR_SPACE_SIM_BYTES", { 1073741824, 65536, 1048576 } },
    { "MPIR_CVAR_SPACE_SIM_GBPS", { 12, 0, 1 } },
    { "MPIR_CVAR_SPACE_SIM_US", { 10, 0, 100 } },
    { "MPIR_CVAR_SPACE_SIM_FAIL", { 0, 3, -1 } },
    { "MPIR_CVAR_IO_LOCKS", { 0, 1, 0 } },
    { "MPIR_CVAR_P2P_CMA_MIN", { 4194304, 0, 1000 } },
    { "MPIR_CVAR_P2P_PREPOST", { 1, 0, 2 } },
    { "MPIR_CVAR_P2P_PREPOST_MIN", { 32768, 1, 1000000 } },
    { "MPIR_CVAR_P2P_PREPOST_MISSES", { 4, 1, 1000 } },
    { "MPIR_CVAR_THREAD_CHECK", { 0, 1, 0 } },
    { "MPIR_CVAR_MEMORY_CHECK", { 0, 1, 0 } },
    { "MPIR_CVAR_OFI_RAILS", { 1, 2, 4 } },
    { "MPIR_CVAR_OFI_NEAR", { 1, 0, 1 } },
};
/* These write, name what only this machine has, or a handler (launch/kin.c). */
static const char *const left[] = {"MPIR_CVAR_INITIAL_ERRHANDLER",
                                   "MPIR_CVAR_PEER_INTERFACE", "MPIR_CVAR_RACE_FILE",
                                   "MPIR_CVAR_CHECK_FINDINGS", "MPIR_CVAR_DEBUG_SUMMARY",
                                   "MPIR_CVAR_RMA_STATS", "MPIR_CVAR_RMA_STATS_FILE",
                                   "MPIR_CVAR_IO_STATS", "MPIR_CVAR_REPORT_FILE",
                                   "MPIR_CVAR_WIN_SPACES", "MPIR_CVAR_WIN_BUFFERS"};

static const struct row *row_of(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static int is_left(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof left / sizeof *left; i++)
        if (strcmp(left[i], name) == 0)
            return 1;
    return 0;
}

static void set(int index, MPI_Datatype type, long long value)
{
    MPI_T_cvar_handle h;
    MPI_Count wide = value;
    int count, narrow = (int)value;

    CHECK_EQ(MPI_T_cvar_handle_alloc(index, NULL, &h, &count), MPI_SUCCESS);
    CHECK_EQ(MPI_T_cvar_write(h, type == MPI_INT ? (void *)&narrow : (void *)&wide), MPI_SUCCESS);
    MPI_T_cvar_handle_free(&h);
}

/* Before MPI_Init: only the launcher's environment shows which process this is. */
static void differ(void)
{
    const char *text = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("PMIX_RANK");
    int rank = text ? atoi(text) : 0, n, i, used = 0;

    MPI_T_cvar_get_num(&n);
    for (i = 0; i < n; i++) {
        char name[200];
        int len = sizeof name, none = 0, verbosity, bind, scope;
        MPI_Datatype type;
        const struct row *r;

        MPI_T_cvar_get_info(i, name, &len, &verbosity, &type, NULL, NULL, &none, &bind, &scope);
        r = row_of(name);
        if (scope == MPI_T_SCOPE_ALL_EQ || is_left(name)) {
            CHECK(r == NULL);
        } else if (scope == MPI_T_SCOPE_LOCAL &&
                   MUST(r != NULL, "%s may differ and has no values here", name)) {
            set(i, type, r->value[rank % COLUMNS]);
            used++;
        }
    }
    CHECK_EQ(used, (int)(sizeof rows / sizeof *rows));
}

/* Messages of every kind of length between all pairs, both ways at once, two of a length. */
static void messages(void)
{
    static const int lengths[] = { 0, 1, 99, 101, 999, 5000, 65536, 65537, LONGEST };
    int i, peer, way, nreq;
    size_t k;

    for (k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        int len = lengths[k];
        char *out = malloc((size_t)len + 1), *in = malloc((size_t)len * 2 * (size_t)mt_size + 1);
        MPI_Request *r = malloc(sizeof *r * 4 * (size_t)mt_size);

        memset(out, mt_rank + 1, (size_t)len + 1);
        for (nreq = 0, peer = 0; peer < mt_size; peer++)
            for (way = 0; way < 2; way++) {
                char *to = in + (size_t)(peer * 2 + way) * (size_t)len;

                MPI_Irecv(to, len, MPI_BYTE, peer, way, MPI_COMM_WORLD, &r[nreq++]);
                if (way)
                    MPI_Issend(out, len, MPI_BYTE, peer, way, MPI_COMM_WORLD, &r[nreq++]);
                else
                    MPI_Isend(out, len, MPI_BYTE, peer, way, MPI_COMM_WORLD, &r[nreq++]);
            }
        MPI_Waitall(nreq, r, MPI_STATUSES_IGNORE);
        for (i = 0; i < len * 2 * mt_size; i++)
            if (in[i] != i / (2 * len) + 1)
                break;
        CHECK_EQ(i, len * 2 * mt_size);
        free(out), free(in), free(r);
    }
}

/* All ranks add to all cells at once, near and far: whichever process does it, nothing is lost. */
static void counters(void)
{
    enum { CELLS = 4, TIMES = 50 };
    long *cell, one = 1, was, i;
    int peer;
    MPI_Info info;
    MPI_Win w;

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_accumulate_granularity", "8");
    MPI_Win_allocate(CELLS * sizeof *cell, sizeof *cell, info, MPI_COMM_WORLD, &cell, &w);
    MPI_Info_free(&info);
    for (i = 0; i < CELLS; i++)
        cell[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w);
    for (i = 0; i < TIMES; i++)
        for (peer = 0; peer < mt_size; peer++) {
            if (i % 2)
                MPI_Fetch_and_op(&one, &was, MPI_LONG, peer, i % CELLS, MPI_SUM, w);
            else
                MPI_Accumulate(&one, 1, MPI_LONG, peer, i % CELLS, 1, MPI_LONG, MPI_SUM, w);
            if (i % 8 == 0)
                MPI_Win_flush(peer, w);
        }
    MPI_Win_unlock_all(w);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, w);
    for (was = 0, i = 0; i < CELLS; i++)
        was += cell[i];
    MPI_Win_unlock(mt_rank, w);
    CHECK_EQ(was, (long)TIMES * mt_size);
    MPI_Win_free(&w);
}

int main(int argc, char **argv)
{
    int provided, seed, sum, programs = argc > 1 ? atoi(argv[1]) : 60;
    char report[2500] = "";

    if (!MUST(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS,
              "MPI_T_init_thread failed"))
        return 1;
    differ();
    mt_init(&argc, &argv);
    MPI_T_finalize();
    messages();
    counters();
    MPI_Allreduce(&mt_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, mt_size * (mt_size - 1) / 2);
    for (seed = 1, sum = 0; seed <= programs && !sum; seed++) {
        int bad = random_rma((uint64_t)seed, 0, MPI_COMM_WORLD, report, sizeof report, NULL);

        MUST(!bad, "seed %d: %s", seed, report);
        MPI_Allreduce(&bad, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    messages();
    return mt_finish();
}

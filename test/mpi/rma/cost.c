/* cost.c - what a window costs and what its variables show.
 *
 *   memory    the same for every number of ranks (rma.md, sections 1 and 3): the slots are bounded,
 *             the near table and the words of the node grow with the members on the node only
 *   counters are always on, and each counts what its name promises (rma.md, section 7) */
#include "pv.h"
#include "rw.h"

/* near record, pair, seat, host index, peer record, lock, stripe; rounding */
enum { PER_MEMBER = 128 + 20 + 8 + 4 + 64 + 64 + 192 + 64 };
enum { PAGE = 4096 }; /* the words of the node are rounded up to it, and shared */

static long long info_number(MPI_Win w, const char *key)
{
    char v[MPI_MAX_INFO_VAL + 1] = "-1";
    MPI_Info i;
    int flag;

    MPI_Win_get_info(w, &i);
    MPI_Info_get(i, key, MPI_MAX_INFO_VAL, v, &flag);
    MPI_Info_free(&i);
    return flag ? atoll(v) : -1;
}

static void memory(int flavour)
{
    int n, members, r, near;
    long long alone = 0;

    for (n = 1; n <= mt_size; n++) {
        MPI_Comm part, node;
        struct rw w;

        MPI_Comm_split(MPI_COMM_WORLD, mt_rank < n ? 0 : MPI_UNDEFINED, 0, &part);
        if (part == MPI_COMM_NULL)
            continue;
        if (rw_make(&w, flavour, 64, part)) {
            long long bytes = pv_read(w.win, "rma_window_bytes"),
                      slots = info_number(w.win, "slots");

            MPI_Comm_split_type(part, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
            MPI_Comm_size(node, &near);
            MPI_Comm_free(&node);
            CHECK(slots >= 1 && slots <= 256 && slots <= n);
            bytes -= slots * 32;
            if (!alone)
                alone = bytes;               /* of the smallest window that this rank is in */
            members = near;
            if (members == 1 && n <= mt_rank + 1)
                alone = bytes;
            MUST(bytes <= alone + PAGE / members + (long long)members * PER_MEMBER,
                 "%s: %lld bytes with %d ranks (%d near), %lld with one", rw_flavour_names[flavour],
                 bytes, n, members, alone);
            if (members == 1)
                MUST(bytes == alone, "%s: %lld bytes with %d ranks, all far; %lld with fewer",
                     rw_flavour_names[flavour], bytes, n, alone);
            for (r = 0; r < 3; r++)          /* use does not change it */
                MPI_Win_fence(r == 2 ? MPI_MODE_NOSUCCEED : 0, w.win);
            CHECK_EQ(pv_read(w.win, "rma_window_bytes") - slots * 32, bytes);
            rw_free(&w);
        }
        MPI_Comm_free(&part);
    }
}

/* Is that rank of the window on another node than this one? */
static int is_far(const struct rw *w, int rank)
{
    MPI_Comm node;
    MPI_Group here;
    int there;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_group(node, &here);
    MPI_Group_translate_ranks(w->all, 1, &rank, here, &there);
    MPI_Group_free(&here);
    MPI_Comm_free(&node);
    return there == MPI_UNDEFINED;
}

static long long before(MPI_Win w, const char *name, long long *v)
{
    return v[0] = pv_read(w, name);
}

/* A wait may find its notification at once: tried until one process had to wait. */
static void waited(MPI_Win win, int right)
{
    int round, all = 0, mine;

    for (round = 0; round < 500 && !all; round++) {
        if (mt_rank)
            MPIX_Win_notify_take(win, 1, 1);
        MPIX_Put_notify(NULL, 0, MPI_BYTE, right, 0, 0, MPI_BYTE, 1, win);
        if (!mt_rank)
            MPIX_Win_notify_take(win, 1, 1);
        mine = pv_read(win, "rma_notify_waits") > 0;
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    CHECK(all || mt_size == 1);
}

/* Notified operations: at the origin, and what came by message at the target. */
static void notified(void)
{
    enum { FEW = 3, EARLY = 1024 }; /* so many counters may be notified that are not made yet */
    int64_t v = 1;
    int left = (mt_rank + mt_size - 1) % mt_size, right = (mt_rank + 1) % mt_size, far, i;
    struct rw w;

    rw_make(&w, RW_ALLOCATE, 64, MPI_COMM_WORLD);
    far = is_far(&w, left);
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    MPIX_Win_notify_set_num(w.win, MPI_INFO_NULL, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w.win);
    for (i = 0; i < FEW; i++)
        MPIX_Put_notify(&v, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, 0, w.win);
    MPIX_Win_notify_take(w.win, 0, FEW);
    CHECK_EQ(pv_read(w.win, "rma_notified"), FEW);
    CHECK_EQ(pv_read(w.win, "rma_notify_messages"), far ? FEW : 0);
    CHECK_EQ(pv_read(w.win, "rma_put"), FEW);
    MPI_Barrier(MPI_COMM_WORLD); /* the neighbour may be ahead */
    waited(w.win, right);
    CHECK_EQ(pv_read(w.win, "rma_notify_early"), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = 0; i < EARLY + FEW; i++)
        MPIX_Put_notify(&v, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, 2 + i, w.win);
    CHECK(MPI_Win_flush(right, w.win) != MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(pv_read(w.win, "rma_notify_early"), EARLY);
    CHECK_EQ(pv_read(w.win, "rma_notify_refused"), FEW);
    MPI_Win_unlock_all(w.win);
    rw_free(&w);
}

/* One of each kind towards the neighbour, then the value of every counter. */
static void counters(void)
{
    static const char *const kinds[] = {"rma_put",          "rma_get",
                                        "rma_accumulate",   "rma_get_accumulate",
                                        "rma_fetch_and_op", "rma_compare_and_swap"};
    int64_t v = 1, r[4], z = 0;
    int k, t = (mt_rank + 1) % mt_size, far;
    long long was[8], routes;
    struct rw w;

    rw_make(&w, RW_ALLOCATE, 64, MPI_COMM_WORLD);
    far = is_far(&w, t);
    MPI_Win_lock_all(0, w.win);
    MPI_Put(&v, 1, MPI_INT64_T, t, 0, 1, MPI_INT64_T, w.win);
    MPI_Win_flush(t, w.win);
    for (k = 0; k < 6; k++)
        CHECK_EQ(pv_read(w.win, kinds[k]), k == 0);
    MPI_Get(&r[0], 1, MPI_INT64_T, t, 8, 1, MPI_INT64_T, w.win);
    MPI_Accumulate(&v, 1, MPI_INT64_T, t, 16, 1, MPI_INT64_T, MPI_SUM, w.win);
    MPI_Get_accumulate(&v, 1, MPI_INT64_T, &r[1], 1, MPI_INT64_T, t, 24, 1, MPI_INT64_T, MPI_SUM,
                       w.win);
    MPI_Fetch_and_op(&v, &r[2], MPI_INT64_T, t, 32, MPI_SUM, w.win);
    MPI_Compare_and_swap(&v, &z, &r[3], MPI_INT64_T, t, 40, w.win);
    MPI_Win_flush_all(w.win);
    for (k = 0; k < 6; k++)
        CHECK_EQ(pv_read(w.win, kinds[k]), 1);
    CHECK_EQ(pv_read(w.win, "rma_bytes"), 6 * 8);
    routes = pv_read(w.win, "rma_route_mapped") + pv_read(w.win, "rma_route_cma") +
             pv_read(w.win, "rma_route_am") + pv_read(w.win, "rma_route_native");
    CHECK_EQ(routes, 6);
    CHECK_EQ(pv_read(w.win, "rma_route_am"), far ? 6 : 0);
    if (far) {
        CHECK(pv_read(w.win, "rma_messages") > 0 && pv_read(w.win, "rma_op_elements_high") > 0);
        CHECK(pv_read(w.win, "rma_target_elements_high") > 0 &&
              pv_read(w.win, "rma_flush_waits") > 0);
        if (pv_cvar("MPIR_CVAR_RMA_PIGGYBACK_THRESHOLD") > 0 &&
            pv_read(w.win, "rma_op_pool_exhausted") == 0)
            CHECK(pv_read(w.win, "rma_messages_saved_piggyback") > 0 &&
                  pv_read(w.win, "rma_messages_saved_batching") > 0);
    }
    CHECK_EQ(pv_read(w.win, "rma_op_elements"), 0);
    /* operations that fail, or are for no rank, are none */
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    for (k = 0; k < 6; k++)
        before(w.win, kinds[k], &was[k]);
    MPI_Put(&v, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, w.win);
    CHECK(MPI_Get(&r[0], 1, MPI_INT64_T, mt_size, 0, 1, MPI_INT64_T, w.win) != MPI_SUCCESS);
    CHECK(MPI_Accumulate(&v, 1, MPI_INT64_T, t, 0, 1, MPI_INT64_T, MPI_OP_NULL, w.win) !=
          MPI_SUCCESS);
    for (k = 0; k < 6; k++)
        CHECK_EQ(pv_read(w.win, kinds[k]), was[k]);
    MPI_Win_unlock_all(w.win);
    CHECK_EQ(pv_read(w.win, "rma_target_elements"), 0);
    MPI_Barrier(w.comm);
    rw_free(&w);
}

int main(int argc, char **argv)
{
    int f;

    pv_begin();
    mt_init(&argc, &argv);
    for (f = 0; f < RW_FLAVOURS; f++)
        memory(f);
    counters();
    notified();
    MPI_T_finalize();
    return mt_finish();
}

/* windows.c - what a window returns about itself: attributes, group, name, info in effect, error
 * handler, flavour; the info keys of MPI-3.1 accepted and unknown ones ignored. */
#include "rw.h"

static void info_keys(int flavour)
{
    static const char *const keys[][2] = {{"no_locks", "false"},
                                          {"accumulate_ordering", "rar,raw,war,waw"},
                                          {"accumulate_ops", "same_op_no_op"},
                                          {"same_size", "true"},
                                          {"same_disp_unit", "true"},
                                          {"unknown", "whatever"}};
    MPI_Info i, used;
    struct rw w;
    int k, flag;
    char v[MPI_MAX_INFO_VAL + 1];

    MPI_Info_create(&i);
    for (k = 0; k < 6; k++)
        MPI_Info_set(i, keys[k][0], keys[k][1]);
    if (rw_make_info(&w, flavour, 64, MPI_COMM_WORLD, i)) {
        MPI_Win_get_info(w.win, &used);
        MPI_Info_get(used, "no_locks", MPI_MAX_INFO_VAL, v, &flag);
        CHECK(flag && strcmp(v, "false") == 0);
        MPI_Info_get(used, "accumulate_ordering", MPI_MAX_INFO_VAL, v, &flag);
        CHECK(flag && strcmp(v, "rar,raw,war,waw") == 0);
        MPI_Info_get(used, "unknown", MPI_MAX_INFO_VAL, v, &flag);
        CHECK(!flag);
        MPI_Info_free(&used);
        MPI_Win_set_info(w.win, i);
        MPI_Win_set_info(w.win, MPI_INFO_NULL);
        rw_free(&w);
    }
    MPI_Info_free(&i);
}

static void facts(int flavour)
{
    static const int want[] = {MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_CREATE,
                               MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_SHARED,
                               MPI_WIN_FLAVOR_DYNAMIC};
    struct rw w;
    int flag, *p, n, cmp, len;
    void *base, *again;
    MPI_Aint *size, *size2;
    MPI_Group g, world;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Errhandler e;

    if (!rw_make(&w, flavour, 80, MPI_COMM_WORLD))
        return;
    MPI_Win_get_attr(w.win, MPI_WIN_CREATE_FLAVOR, &p, &flag);
    CHECK(flag && *p == want[flavour]);
    MPI_Win_get_attr(w.win, MPI_WIN_MODEL, &p, &flag);
    CHECK(flag && (*p == MPI_WIN_UNIFIED || *p == MPI_WIN_SEPARATE));
    MPI_Win_get_attr(w.win, MPI_WIN_BASE, &base, &flag);
    CHECK(flag && base == (flavour == RW_DYNAMIC ? MPI_BOTTOM : (void *)w.mem));
    MPI_Win_get_attr(w.win, MPI_WIN_SIZE, &size, &flag);
    CHECK(flag && *size == (flavour == RW_DYNAMIC ? 0 : 80));
    MPI_Win_get_attr(w.win, MPI_WIN_SIZE, &size2, &flag);
    CHECK(size == size2);                       /* the pointer stays */
    MPI_Win_get_attr(w.win, MPI_WIN_BASE, &again, &flag);
    CHECK(base == again);
    MPI_Win_get_attr(w.win, MPI_WIN_DISP_UNIT, &p, &flag);
    CHECK(flag && *p == 1);
    MPI_Win_get_group(w.win, &g);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(g, world, &cmp);
    CHECK_EQ(cmp, MPI_IDENT);
    MPI_Group_size(g, &n);
    CHECK_EQ(n, mt_size);
    MPI_Group_free(&g);
    MPI_Group_free(&world);
    MPI_Win_set_name(w.win, "window of many things");
    MPI_Win_get_name(w.win, name, &len);
    CHECK(strcmp(name, "window of many things") == 0);
    MPI_Win_get_errhandler(w.win, &e);
    CHECK(e == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&e);
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    MPI_Win_get_errhandler(w.win, &e);
    CHECK(e == MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&e);
    rw_free(&w);
}

/* The values of predefined attributes are where they were, whatever happens to the window, until it
 * is freed. */
static void pointers(int flavour)
{
    static const int keys[] = {MPI_WIN_BASE, MPI_WIN_SIZE, MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR,
                               MPI_WIN_MODEL};
    struct rw w;
    void *first[5], *now;
    int k, turn, flag, n = 1, t, key, none;

    if (!rw_make(&w, flavour, 48, MPI_COMM_WORLD))
        return;
    for (k = 0; k < 5; k++) {
        MPI_Win_get_attr(w.win, keys[k], &first[k], &flag);
        CHECK(flag);
    }
    CHECK(first[1] != first[2] && *(MPI_Aint *)first[1] == (flavour == RW_DYNAMIC ? 0 : 48));
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
    t = (w.rank + 1) % w.size;
    for (turn = 0; turn < RW_SYNCS; turn++) {
        rw_begin(&w, turn, t);
        MPI_Accumulate(&n, 1, MPI_INT, t, rw_disp(&w, t, 0), 1, MPI_INT, MPI_SUM, w.win);
        rw_end(&w, turn, t);
        MPI_Win_set_attr(w.win, key, &n);
        MPI_Win_set_name(w.win, "another name");
        MPI_Win_set_info(w.win, MPI_INFO_NULL);
        for (k = 0; k < 5; k++) {
            MPI_Win_get_attr(w.win, keys[k], &now, &flag);
            MUST(flag && now == first[k], "%s: attribute %d moved", rw_flavour_names[flavour], k);
        }
        MPI_Win_delete_attr(w.win, key);
        MPI_Win_get_attr(w.win, key, &none, &flag);
        CHECK(!flag);
        MPI_Barrier(w.comm);
    }
    MPI_Win_free_keyval(&key);
    rw_free(&w);
}

/* Windows on communicators in other orders and of parts of the world: ranks are the window's. */
static void other_comms(void)
{
    MPI_Comm rev, half;
    struct rw w;
    int f, t, v;
    MPI_Comm *c;

    MPI_Comm_split(MPI_COMM_WORLD, 0, -mt_rank, &rev);
    MPI_Comm_split(MPI_COMM_WORLD, mt_rank % 2, mt_rank, &half);
    for (f = 0; f < RW_FLAVOURS; f++)
        for (c = &rev; c; c = c == &rev ? &half : NULL) {
            if (!rw_make(&w, f, 64, *c))
                continue;
            t = (w.rank + 1) % w.size;
            v = 100 + w.rank;
            MPI_Win_fence(0, w.win);
            MPI_Put(&v, 1, MPI_INT, t, rw_disp(&w, t, 4), 1, MPI_INT, w.win);
            MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
            CHECK_EQ(((int *)(void *)w.mem)[1], 100 + (w.rank + w.size - 1) % w.size);
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w.win);
            MPI_Accumulate(&v, 1, MPI_INT, t, rw_disp(&w, t, 8), 1, MPI_INT, MPI_SUM, w.win);
            MPI_Win_unlock(t, w.win);
            MPI_Barrier(*c);
            MPI_Win_lock(MPI_LOCK_SHARED, w.rank, 0, w.win);
            CHECK_EQ(((int *)(void *)w.mem)[2], 100 + (w.rank + w.size - 1) % w.size);
            MPI_Win_unlock(w.rank, w.win);
            rw_free(&w);
        }
    MPI_Comm_free(&rev);
    MPI_Comm_free(&half);
}

/* The communicator may be freed while its window lives. */
static void comm_gone(void)
{
    MPI_Comm c;
    MPI_Win w;
    int *p, v = 5, t = (mt_rank + 1) % mt_size;

    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Win_allocate(16, 4, MPI_INFO_NULL, c, &p, &w);
    MPI_Comm_free(&c);
    MPI_Win_fence(0, w);
    MPI_Put(&v, 1, MPI_INT, t, 2, 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    CHECK_EQ(p[2], 5);
    MPI_Win_free(&w);
}

/* Memory of some sizes is that of the window before: it is zero again, and peers write it up to its
 * last byte. Several live at once. */
static void made_again(void)
{
    static const int sizes[] = {100000, 163840, 300001, 2 << 20};
    MPI_Win w[4];
    char *p[4], v = 7;
    int i, k, n, t = (mt_rank + 1) % mt_size;

    for (i = 0; i < 3; i++) {
        for (k = 0; k < 4; k++) {
            MPI_Win_allocate(sizes[k], 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p[k], &w[k]);
            for (n = 0; n < sizes[k] && !p[k][n]; n++)
                ;
            MUST(n == sizes[k], "byte %d of a new window of %d bytes is not zero", n, sizes[k]);
            MPI_Win_fence(0, w[k]);
            MPI_Put(&v, 1, MPI_CHAR, t, sizes[k] - 1, 1, MPI_CHAR, w[k]);
        }
        for (k = 0; k < 4; k++) {
            MPI_Win_fence(0, w[k]);
            CHECK_EQ(p[k][sizes[k] - 1], 7);
            memset(p[k], 0x5a, (size_t)sizes[k]);
        }
        for (k = 0; k < 4; k++) /* not in the order of their making */
            MPI_Win_free(&w[(k + i) % 4]);
    }
}

int main(int argc, char **argv)
{
    int f;

    mt_init(&argc, &argv);
    for (f = 0; f < RW_FLAVOURS; f++) {
        facts(f);
        pointers(f);
        info_keys(f);
    }
    other_comms();
    comm_gone();
    made_again();
    return mt_finish();
}

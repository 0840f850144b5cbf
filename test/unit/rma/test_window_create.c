/* test_window_create.c - rma/window/create.c: whole life, info hints, attached, moved in place. */
#include "unit.h"

#include "unit_rma.h"
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { MOVED = 1 << 20 };

/* In place of the C library's, so that a test can have the system run out of memory for large
 * buffers. */
static int no_pages;

int fallocate(int fd, int mode, off_t off, off_t len)
{
    if (no_pages && len >= MOVED) {
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_fallocate, fd, mode, off, len);
}

static int cls(int err)
{
    return err ? err_class(err) : 0;
}

static void life(void)
{
    struct rma_win *w = NULL, *v;
    long mem[4];
    void *base;
    struct comm *c = proc->obj->world;
    job_check(cls(rma_win_create(mem, -1, 1, NULL, c, &w)) == MPI_ERR_SIZE);
    job_check(cls(rma_win_create(mem, 8, 0, NULL, c, &w)) == MPI_ERR_DISP);
    job_check(cls(rma_win_create(mem, 8, -8, NULL, c, &w)) == MPI_ERR_DISP);
    job_check(cls(rma_win_create(NULL, 8, 1, NULL, c, &w)) == MPI_ERR_BASE);
    job_check(cls(rma_win_allocate(-5, 1, NULL, c, &base, &w)) == MPI_ERR_SIZE && w == NULL);
    /* nothing is left of them */
    job_check(list_empty(&rma_self()->windows) && rma_self()->wins.count == 0);
    job_check(rma_win_create(mem, 8, 1l << 40, NULL, c, &w) == MPI_SUCCESS &&
              rma_win_unit(w) == 1l << 40);
    /* an int does not hold it */
    job_check(!rma_win_attr(w, MPI_WIN_DISP_UNIT) && rma_win_free(w) == MPI_SUCCESS);
    w = world_window(4);
    v = world_window(4);
    job_check(w->id != v->id && rma_win_find(w->id) == w && rma_win_find(v->id) == v &&
              !rma_win_find(v->id + 1));
    job_check(rma_near_win(rma_near_self(), w->near.obj.handle) == &w->near &&
              !rma_near_win(rma_near_self(), MPI_WIN_NULL));
    job_check(rma_win_attr(w, MPI_WIN_BASE) == w->base &&
              *(MPI_Aint *)rma_win_attr(w, MPI_WIN_SIZE) == 32);
    job_check(*(int *)rma_win_attr(w, MPI_WIN_DISP_UNIT) == 8 && !rma_win_attr(w, MPI_TAG_UB));
    job_check(*(int *)rma_win_attr(w, MPI_WIN_CREATE_FLAVOR) == MPI_WIN_FLAVOR_ALLOCATE);
    job_check(rma_win_local(w, 0, 32) == w->base && rma_win_local(w, 32, 0) &&
              !rma_win_local(w, 1, 32) && !rma_win_local(w, UINT64_MAX, 2) &&
              !rma_win_local(w, 8, UINT64_MAX));
    job_check(cls(rma_win_attach(w, mem, 8)) == MPI_ERR_RMA_FLAVOR &&
              cls(rma_win_detach(w, mem)) == MPI_ERR_RMA_FLAVOR);
    /* an open epoch: the window stays (rma.md 5.12) */
    job_check(rma_lock(w, MPI_LOCK_SHARED, 0, 0) == MPI_SUCCESS);
    job_check(cls(rma_win_free(w)) == MPI_ERR_RMA_SYNC && rma_win_find(w->id) == w);
    job_check(rma_unlock(w, 0) == MPI_SUCCESS);
    uint32_t id = w->id;
    int handle = w->near.obj.handle;
    job_check(rma_win_free(w) == MPI_SUCCESS && !rma_win_find(id) &&
              !rma_near_win(rma_near_self(), handle));
    job_check(rma_win_find(v->id) == v && rma_win_free(v) == MPI_SUCCESS);
}

static void hints(void)
{
    struct info *given = info_make(), *got;
    struct rma_win *w;
    void *base;
    info_put(given, "accumulate_ordering", "NONE");
    info_put(given, "no_such_hint", "7");
    job_check(rma_win_allocate(8, 1, given, proc->obj->world, &base, &w) == MPI_SUCCESS &&
              !w->ordered_acc);
    job_check(rma_win_get_info(w, &got) == MPI_SUCCESS);
    job_check(!strcmp(info_value(got, "no_locks"), "false") && !info_value(got, "no_such_hint"));
    job_check(atoi(info_value(got, "op_win_pool")) == cvar.rma_op_win &&
              atoi(info_value(got, "slots")) == 1);
    info_drop(got);
    info_put(given, "accumulate_ordering", "rar,waw");
    job_check(rma_win_set_info(w, given) == MPI_SUCCESS && w->ordered_acc && !w->no_locks);
    /* what a key cannot be is ignored */
    static const char *const wrong[][2] = {{"no_locks", "perhaps"},
                                           {"accumulate_ordering", "rar,"},
                                           {"accumulate_ordering", "rarwaw"},
                                           {"accumulate_ordering", ""},
                                           {"accumulate_ordering", "rar,raw,xyz"},
                                           {"accumulate_ops", "any"},
                                           {"mpi_accumulate_granularity", "-8"},
                                           {"mpi_accumulate_granularity", "8 bytes"},
                                           {"same_size", "1"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        info_put(given, wrong[i][0], wrong[i][1]);
        job_check(rma_win_set_info(w, given) == MPI_SUCCESS &&
                  rma_win_get_info(w, &got) == MPI_SUCCESS);
        job_check(strcmp(info_value(got, wrong[i][0]), wrong[i][1]) && w->ordered_acc &&
                  !w->no_locks);
        job_check(!strcmp(info_value(got, "accumulate_ordering"), "rar,waw"));
        info_drop(got);
    }
    info_put(given, "no_locks", "TRUE");
    job_check(rma_win_set_info(w, given) == MPI_SUCCESS && w->no_locks);
    job_check(cls(rma_lock(w, MPI_LOCK_SHARED, 0, 0)) == MPI_ERR_RMA_SYNC &&
              cls(rma_lock_all(w, 0)) == MPI_ERR_RMA_SYNC);
    job_check(rma_fence(w, 0) == MPI_SUCCESS && rma_fence(w, MPI_MODE_NOSUCCEED) == MPI_SUCCESS);
    info_drop(given);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static void regions(void)
{
    static char m[4096];
    struct rma_win *w;
    MPI_Aint size, unit;
    void *base;
    job_check(rma_win_create_dynamic(NULL, proc->obj->world, &w) == MPI_SUCCESS);
    uint64_t at = (uint64_t)(uintptr_t)m;
    for (int i = 8; i-- > 0;) /* from the back: the list is sorted */
        job_check(rma_win_attach(w, m + 64 * i + (i >= 6 ? 64 : 0), 64) == MPI_SUCCESS);
    job_check(w->mem.nregions == 8 && rma_peer_of(w, 0)->nregions == 8 &&
              rma_peer_of(w, 0)->version % 2 == 0);
    job_check(rma_win_local(w, at, 64) == m && rma_win_local(w, at + 10, 6 * 64 - 10) == m + 10);
    job_check(!rma_win_local(w, at, 6 * 64 + 1) && !rma_win_local(w, at + 6 * 64, 1)); /* the gap */
    job_check(!rma_win_local(w, at - 1, 2) && !rma_win_local(w, at + 9 * 64, 1) &&
              !rma_win_local(w, at, UINT64_MAX));
    const struct {
        int off, len;
    } overlap[] = {{0, 1},          {63, 1},      {0, 64},         {32, 64},
                   {6 * 64 - 1, 2}, {6 * 64, 65}, {9 * 64 - 1, 10}};
    for (size_t i = 0; i < sizeof overlap / sizeof *overlap; i++)
        job_check(cls(rma_win_attach(w, m + overlap[i].off, overlap[i].len)) == MPI_ERR_RMA_ATTACH);
    job_check(cls(rma_win_attach(w, m, -1)) == MPI_ERR_SIZE &&
              cls(rma_win_attach(w, NULL, 1)) == MPI_ERR_BASE);
    /* beyond the end of memory: nothing of it counts as attached */
    job_check(cls(rma_win_attach(w, m + 4000, INT64_MAX)) == MPI_SUCCESS &&
              rma_win_detach(w, m + 4000) == MPI_SUCCESS);
    job_check(cls(rma_win_attach(w, (void *)(UINTPTR_MAX - 7), 16)) == MPI_ERR_RMA_ATTACH);
    job_check(cls(rma_win_attach(w, (void *)(UINTPTR_MAX / 2 + 2), INT64_MAX)) ==
              MPI_ERR_RMA_ATTACH);
    job_check(!rma_win_local(w, UINT64_MAX, 1) && !rma_win_local(w, UINT64_MAX - 7, 16) &&
              w->mem.nregions == 8);
    job_check(cls(rma_win_detach(w, m + 1)) == MPI_ERR_RMA_ATTACH &&
              rma_win_detach(w, m + 64) == MPI_SUCCESS);
    job_check(cls(rma_win_detach(w, m + 64)) == MPI_ERR_RMA_ATTACH &&
              !rma_win_local(w, at + 64, 1));
    job_check(rma_win_local(w, at, 64) == m && !rma_win_local(w, at, 65) && w->mem.nregions == 7);
    for (int i = 0; i < 100; i++) /* any number (rma.md 5.9); near peers are shown the first ones */
        job_check(rma_win_attach(w, m + 1024 + 16 * i, 8) == MPI_SUCCESS);
    job_check(w->mem.nregions == 107 && rma_peer_of(w, 0)->nregions == RMA_REGIONS &&
              rma_peer_of(w, 0)->overflow);
    /* those without bytes overlap no other one, and nothing lies in them */
    unsigned had = w->mem.nregions;
    job_check(rma_win_attach(w, m, 0) == MPI_SUCCESS &&
              rma_win_attach(w, m + 8, 0) == MPI_SUCCESS && w->mem.nregions == had);
    job_check(rma_win_local(w, at, 64) == m && rma_win_local(w, at + 8, 8) == m + 8);
    job_check(rma_win_attach(w, m + 3000, 0) == MPI_SUCCESS && !rma_win_local(w, at + 3000, 1));
    job_check(rma_win_attach(w, m + 3000, 16) == MPI_SUCCESS &&
              rma_win_local(w, at + 3000, 16) == m + 3000);
    job_check(rma_win_attach(w, m + 3000, 0) == MPI_SUCCESS &&
              cls(rma_win_attach(w, m + 2992, 16)) == MPI_ERR_RMA_ATTACH);
    job_check(rma_win_detach(w, m + 3000) == MPI_SUCCESS && !rma_win_local(w, at + 3000, 1));
    job_check(rma_win_detach(w, m + 3000) == MPI_SUCCESS &&
              rma_win_detach(w, m + 3000) == MPI_SUCCESS);
    job_check(cls(rma_win_detach(w, m + 3000)) == MPI_ERR_RMA_ATTACH && w->mem.nregions == had);
    job_check(rma_win_detach(w, m + 8) == MPI_SUCCESS && rma_win_attach(w, NULL, 0) == MPI_SUCCESS);
    job_check(rma_win_detach(w, NULL) == MPI_SUCCESS &&
              cls(rma_win_detach(w, NULL)) == MPI_ERR_RMA_ATTACH);
    job_check(cls(rma_win_shared_query(w, 0, &size, &unit, &base)) == MPI_ERR_RMA_FLAVOR);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static int is_private(const void *p)
{
    unsigned long from, to;
    char line[1024], mode[8];
    int found = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 && from <= (uintptr_t)p &&
            (uintptr_t)p < to)
            found = !strcmp(mode, "rw-p");
    if (f)
        fclose(f);
    return found;
}

/* A window on mem of every member, moved or not; freed again. */
static void on_buffer(long *mem, int moved)
{
    struct rma_win *w;
    long v = boot_rank() + 10;
    int right = (boot_rank() + 1) % boot_size(),
        left = (boot_rank() + boot_size() - 1) % boot_size();
    job_check(rma_win_create(mem, MOVED, 8, NULL, proc->obj->world, &w) == MPI_SUCCESS &&
              w->base == mem);
    job_check(is_private(mem) != moved && (w->mem.moved != NULL) == moved &&
              (int)world_pvar(w, PVAR_RMA_MOVED) == moved);
    for (unsigned i = 0; moved && i < w->nears; i++)
        job_check(w->near.near[i].kind == RMA_NEAR_MAPPED);
    job_check(rma_fence(w, 0) == MPI_SUCCESS);
    job_check(world_op(w, RMA_PUT, right, &v, NULL, 1, 3) == MPI_SUCCESS);
    job_check(rma_fence(w, MPI_MODE_NOSUCCEED) == MPI_SUCCESS);
    job_check(rma_win_free(w) == MPI_SUCCESS);
    job_check(is_private(mem) && mem[3] == left + 10 && mem[MOVED / 8 - 1] == 77);
}

/* A creation that fails, of one's own or of another's fault, leaves the buffer where it was. */
static void moved(void)
{
    struct rma_win *w;
    long *mem = mmap(NULL, MOVED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct mem_segment *lazy;
    mem[MOVED / 8 - 1] = 77;
    on_buffer(mem, 1);
    job_check(mem_segment_create(MOVED, MEM_LAZY, &lazy) == 0);
    no_pages = boot_rank() == 0; /* found when the others have moved theirs */
    int err = rma_win_create(boot_rank() == 0 ? lazy->base : mem, MOVED, 8, NULL, proc->obj->world,
                             &w);
    no_pages = 0;
    job_check(cls(err) == MPI_ERR_NO_MEM && list_empty(&rma_self()->windows));
    job_check(is_private(mem) && mem[MOVED / 8 - 1] == 77 && !mem_segment_of(mem, 1));
    mem_segment_drop(lazy);
    no_pages = 1; /* it stays, and the window is as good as ever */
    on_buffer(mem, 0);
    no_pages = 0;
    on_buffer(mem, 1);
    cvar.rma_move = MOVED + 1;
    on_buffer(mem, 0);
    cvar.rma_move = 0;
    on_buffer(mem, 0);
}

/* An operation, and three parts of others that the network has not confirmed. */
static void outstanding(void)
{
    enum { TARGET = 2, OTHERS = 3 };
    bare_room(0, 0);
    struct rma_win *w = bare_window(4, 1, 1);
    struct rma_target *t = rma_target_add(w, TARGET);
    struct rma_op op = {.kind = RMA_PUT, .natives = 2};
    struct rma_key key = {0};
    list_push(&t->ops, &op.link);
    t->key = &key;
    t->native_out = OTHERS + op.natives; /* its own, too */
    job_check(rma_win_pvar_at(w, PVAR_RMA_OUTSTANDING, TARGET) == 1 + OTHERS);
    t->native_out = OTHERS;
    key.then_am = 1;
    job_check(rma_win_pvar_at(w, PVAR_RMA_OUTSTANDING, TARGET) == 1 + OTHERS);
    key.then_am = 0;
    op.kind = RMA_ACC;
    op.flags = OP_PULLED;
    op.natives = 1;
    job_check(rma_win_pvar_at(w, PVAR_RMA_OUTSTANDING, TARGET) == 1 + OTHERS);
    op.flags = OP_ANSWERS;
    job_check(rma_win_pvar_at(w, PVAR_RMA_OUTSTANDING, TARGET) == 1 + OTHERS);
    job_check(rma_win_pvar_at(w, PVAR_RMA_OUTSTANDING, TARGET + 1) == 0);
}

START_TEST(parts_of_operations)
{
    ck_assert_int_eq(job_run(1, NULL, outstanding, 30), 0);
}
END_TEST

START_TEST(moved_in_place)
{
    const char *const sets[] = {"MPIR_CVAR_RMA_MOVE_MIN=1048576", NULL};
    ck_assert_int_eq(world_run(3, sets, moved), 0);
}
END_TEST

START_TEST(whole_life)
{
    ck_assert_int_eq(world_run(1, NULL, life), 0);
}
END_TEST

START_TEST(info_hints)
{
    ck_assert_int_eq(world_run(1, NULL, hints), 0);
}
END_TEST

START_TEST(attached)
{
    ck_assert_int_eq(world_run(1, NULL, regions), 0);
}
END_TEST

Suite *suite_win(void)
{
    Suite *s = suite_create("rma/win");
    TCase *t = tcase_create("win");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, whole_life);
    tcase_add_test(t, info_hints);
    tcase_add_test(t, attached);
    tcase_add_test(t, parts_of_operations);
    tcase_add_test(t, moved_in_place);
    suite_add_tcase(s, t);
    return s;
}

/* test_engine_issue.c - rma/engine/issue.c: one packet, one batch, no piggyback, long ones,
 * round robin, no descriptor. */
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "am/am_types.h"
#include "dt/make.h"
#include "mem/mem_types.h"
#include "p2p/p2p.h"
#include "unit_rma.h"
#include "world.h"

/* Rank 1 writes down what comes, then serves it; the wire is what is tested. */
enum { SEEN = 64 };
static struct {
    struct rma_hdr h, last; /* last: of a BATCH */
    struct rma_ext e;
} seen[SEEN];
static int nseen;

static int note(int src, const void *msg, size_t len)
{
    struct rma_hdr h;
    memcpy(&h, msg, sizeof h);
    job_check(len == sizeof h + h.len && len <= (size_t)cvar.rma_packet && nseen < SEEN);
    const char *at = (const char *)msg + sizeof h;
    seen[nseen].h = seen[nseen].last = h;
    if (h.flags & RMA_F_EXT)
        memcpy(&seen[nseen].e, at, sizeof seen[nseen].e);
    for (uint32_t i = 0; h.type == RMA_PKT_BATCH && i < h.count; i++) {
        job_check((uintptr_t)at % RMA_PAD == 0);
        memcpy(&seen[nseen].last, at, sizeof h);
        at += sizeof h + rma_pad(seen[nseen].last.len);
    }
    nseen++;
    return rma_on_op(src, msg, len);
}

static struct rma_win *begin(void)
{
    struct rma_win *w = world_window(4096);
    if (boot_rank() == 1)
        for (int t = 0; t <= RMA_PKT_DONE; t++)
            am_handler(AM_RMA + t, note);
    nseen = 0;
    world_barrier();
    return w;
}

static void end(struct rma_win *w)
{
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* Lock, operation, unlock: one packet and its answer. */
static void one(void)
{
    struct rma_win *w = begin();
    long v[2] = {6, 7};
    if (boot_rank() == 0) {
        job_check(rma_lock(w, MPI_LOCK_EXCLUSIVE, 1, 0) == MPI_SUCCESS);
        job_check(world_op(w, RMA_PUT, 1, v, NULL, 2, 9) == MPI_SUCCESS &&
                  rma_unlock(w, 1) == MPI_SUCCESS);
        job_check(world_pvar(w, PVAR_RMA_MSGS) == 1);
    }
    world_barrier();
    if (boot_rank() == 1) {
        const struct rma_hdr *h = &seen[0].h;
        job_check(nseen == 1 && h->type == RMA_PKT_PUT &&
                  h->flags == (RMA_F_EXCLUSIVE | RMA_F_UNLOCK));
        job_check(h->dt == MPI_LONG && h->disp == 9 && h->count == 2 && h->len == 16 && h->token &&
                  h->win == w->id);
        job_check(world_memory(w)[9] == 6 && world_memory(w)[10] == 7);
    }
    end(w);
}

/* Small ones share a packet; the get is moved to its end, its answer is the acknowledgement too. */
static void batch(void)
{
    struct rma_win *w = begin();
    long v = 1, r = 0;
    char c = 'x';
    if (boot_rank() == 0) {
        job_check(rma_lock(w, MPI_LOCK_SHARED, 1, 0) == MPI_SUCCESS);
        job_check(world_op(w, RMA_GET, 1, NULL, &r, 1, 0) == MPI_SUCCESS);
        job_check(world_op(w, RMA_PUT, 1, &v, NULL, 1, 1) == MPI_SUCCESS);
        struct rma_args a = world_args(RMA_PUT, 1, &v, NULL, 1, 2);
        a.origin = &c; /* one byte: padded */
        a.otype = a.ttype = dt_find(MPI_CHAR);
        job_check(rma_op_begin(w, &a, NULL) == MPI_SUCCESS);
        job_check(world_op(w, RMA_ACC, 1, &v, NULL, 1, 1) == MPI_SUCCESS &&
                  rma_unlock(w, 1) == MPI_SUCCESS);
        job_check(world_pvar(w, PVAR_RMA_MSGS) == 1 && world_pvar(w, PVAR_RMA_BATCH) == 3);
    }
    world_barrier();
    if (boot_rank() == 1) {
        job_check(nseen == 1 && seen[0].h.type == RMA_PKT_BATCH && seen[0].h.count == 4);
        job_check(seen[0].h.flags == RMA_F_SHARED &&
                  seen[0].h.len == 4 * sizeof(struct rma_hdr) + 8 + 8 + 8);
        job_check(seen[0].last.type == RMA_PKT_GET && seen[0].last.flags == RMA_F_UNLOCK);
        job_check(world_memory(w)[1] == 2 && *(char *)&world_memory(w)[2] == 'x');
    }
    end(w);
}

/* Piggybacking off: every flag is a packet of its own. */
static void apart(void)
{
    struct rma_win *w = begin();
    long v = 1;
    if (boot_rank() == 0) {
        job_check(rma_lock(w, MPI_LOCK_SHARED, 1, 0) == MPI_SUCCESS);
        job_check(world_op(w, RMA_PUT, 1, &v, NULL, 1, 0) == MPI_SUCCESS &&
                  rma_unlock(w, 1) == MPI_SUCCESS);
    }
    world_barrier();
    if (boot_rank() == 1) {
        job_check(nseen == 3 && seen[0].h.type == RMA_PKT_LOCK && seen[0].h.flags == RMA_F_SHARED);
        job_check(seen[1].h.type == RMA_PKT_PUT && seen[1].h.flags == 0);
        job_check(seen[2].h.type == RMA_PKT_DONE && (seen[2].h.flags & RMA_F_UNLOCK));
    }
    end(w);
}

/* Long ones in parts that cover them exactly once; the last carries the flag. */
static void parts(void)
{
    struct rma_win *w = begin();
    static long v[1000];
    struct dt_type *strided, *ragged;
    int64_t lens[200], at[200];
    for (int i = 0; i < 1000; i++)
        v[i] = i + 1;
    for (int i = 0; i < 200; i++) {
        lens[i] = 1 + i % 3;
        at[i] = i * 7 + i % 2;
    }
    job_check(dt_make_vector(300, 1, 2, dt_find(MPI_LONG), &strided) == MPI_SUCCESS);
    job_check(dt_make_indexed(200, lens, 0, at, dt_find(MPI_LONG), &ragged) == MPI_SUCCESS);
    struct dt_type *target[] = {dt_find(MPI_LONG), strided, ragged};
    for (int k = 0; k < 3; k++) {
        long n = k ? (long)target[k]->size / 8 : 1000;
        nseen = 0;
        world_barrier();
        if (boot_rank() == 0) {
            job_check(rma_lock(w, MPI_LOCK_SHARED, 1, 0) == MPI_SUCCESS);
            struct rma_args a = world_args(RMA_PUT, 1, v, NULL, n, 3);
            a.ttype = target[k];
            a.tcount = k ? 1 : n;
            job_check(rma_op_begin(w, &a, NULL) == MPI_SUCCESS && rma_unlock(w, 1) == MPI_SUCCESS);
        }
        world_barrier();
        if (boot_rank() != 1)
            continue;
        uint64_t sum = 0;
        int packets = 0;
        for (int i = 0; i < nseen; i++) {
            if (seen[i].h.type != RMA_PKT_PUT)
                continue;
            job_check(seen[i].h.flags & RMA_F_EXT && seen[i].e.offset == sum &&
                      seen[i].e.want % 8 == 0);
            job_check(k != 1 || seen[i].e.flat_len > 0);
            job_check(k != 2 || seen[i].e.flat_len > 0 || seen[i].e.nruns > 0);
            sum += seen[i].e.want;
            packets++;
        }
        job_check(sum == (uint64_t)n * 8 && packets > 1);
        job_check(seen[nseen - 1].h.type == RMA_PKT_PUT &&
                  (seen[nseen - 1].h.flags & RMA_F_UNLOCK));
        long *m = world_memory(w) + 3, next = 1;
        for (int i = 0; i < (k == 0 ? 1000 : k == 1 ? 300 : 200); i++)
            for (int j = 0; j < (k == 2 ? lens[i] : 1); j++)
                job_check(m[k == 0 ? i : k == 1 ? 2 * i : at[i] + j] == next++);
    }
    dt_drop(strided);
    dt_drop(ragged);
    end(w);
}

/* Answers that this process has room for are dealt to its targets in turn, not all to the one that
 * was called first: both are asked as often when the room is used up. */
static void in_turn(void)
{
    enum { GETS = 1500, LONGS = 600 };
    struct rma_win *w = world_window(LONGS);
    static long r[LONGS];
    if (boot_rank() == 0) {
        int sent[3] = {0, 0, 0};
        struct rankmap *two = rankmap_stride(1, 1, 2);
        struct group *g = group_make(two, MPI_UNDEFINED);
        job_check(two && g && rma_start(w, g, 0) == MPI_SUCCESS);
        for (int t = 1; t <= 2; t++)
            for (int i = 0; i < GETS; i++)
                job_check(world_op(w, RMA_GET, t, NULL, r, LONGS, 0) == MPI_SUCCESS);
        job_check(w->state == WIN_PSCW_ISSUED && world_pvar(w, PVAR_RMA_MSGS) == 0);
        /* the posts, which the two have not sent: they are not looking at messages yet */
        for (int t = 1; t <= 2; t++)
            job_check(map_put(&w->access.posts, (uint64_t)t + 1, (void *)1) == 0);
        job_check(rma_start_poll(w) > 0 && w->state == WIN_PSCW_GRANTED);
        for (int t = 1; t <= 2; t++)
            for (struct list *l = rma_target_find(w, t)->ops.next; l != &rma_target_find(w, t)->ops;
                 l = l->next)
                sent[t] += LIST_OBJ(l, struct rma_op, link)->sent > 0;
        job_check(sent[1] > 4 && sent[1] + sent[2] < 2 * GETS);
        job_check(sent[1] - sent[2] <= 1 && sent[2] - sent[1] <= 1);
        boot_barrier();
        job_check(rma_complete(w) == MPI_SUCCESS);
        group_drop(g);
        rankmap_drop(two);
    } else {
        boot_barrier();
    }
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

static const char *const off[] = {"MPIR_CVAR_NOLOCAL=1", "MPIR_CVAR_RMA_PIGGYBACK_THRESHOLD=0",
                                  NULL};
static const char *const tiny[] = {"MPIR_CVAR_NOLOCAL=1", "MPIR_CVAR_RMA_PACKET_SIZE=1024", NULL};

START_TEST(one_packet)
{
    ck_assert_int_eq(world_run(2, world_far, one), 0);
}
END_TEST

START_TEST(one_batch)
{
    ck_assert_int_eq(world_run(2, world_far, batch), 0);
}
END_TEST

START_TEST(no_piggyback)
{
    ck_assert_int_eq(world_run(2, off, apart), 0);
}
END_TEST

/* No descriptor to reach a target, and none in reserve: that is the error, and not that it died;
 * with one it is reached, by windows and by messages longer than what was sent when there was no
 * way. */
static void cut_off(void)
{
    enum { LONG = 60000 };
    static char text[LONG];
    char why[MPI_MAX_ERROR_STRING];
    struct rma_win *w = world_window(8);
    struct dt_type *c = dt_find(MPI_CHAR);
    long v[2] = {7, 8};
    uint64_t *far = job_words();
    world_barrier();
    if (boot_rank() == 0) {
        struct rlimit had;
        int r = 1, fd, first = -1, err;
        while (r < 13 && am_peer_known(r))
            r++;
        job_check(r < 13 && getrlimit(RLIMIT_NOFILE, &had) == 0);
        job_check(setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, had.rlim_max}) == 0);
        close(proc->mem->spare_fd);
        proc->mem->spare_fd = -1;
        while ((fd = fcntl(0, F_DUPFD, 3)) >= 0)
            first = fd; /* the last */
        job_check(rma_lock(w, MPI_LOCK_SHARED, r, 0) == MPI_SUCCESS);
        job_check(world_op(w, RMA_PUT, r, v, NULL, 1, 0) == MPI_SUCCESS);
        err = rma_flush(w, r);
        err_text(err, why, sizeof why);
        job_check(err_class(err) == MPI_ERR_OTHER &&
                  strstr(why, "cannot be reached: Too many open files"));
        err = rma_unlock(w, r);
        job_check(!err || err_class(err) == MPI_ERR_OTHER);
        /* It is no news of others, and no process counts as failed. */
        job_check(!w->dead &&
                  err_class(rma_failed_error(w, r == 1 ? 2 : 1)) == MPIX_ERR_PROC_FAILED);
        job_check(err_class(p2p_send(text, 1, c, r, 5, proc->obj->world, 0)) == MPI_ERR_OTHER);
        close(first);
        job_check(rma_lock(w, MPI_LOCK_SHARED, r, 0) == MPI_SUCCESS);
        job_check(world_op(w, RMA_PUT, r, v + 1, NULL, 1, 0) == MPI_SUCCESS);
        job_check(rma_unlock(w, r) == MPI_SUCCESS);
        far[0] = (uint64_t)r;
        world_barrier();
        memset(text, 9, LONG);
        job_check(p2p_send(text, LONG, c, r, 5, proc->obj->world, 0) == MPI_SUCCESS);
    } else {
        world_barrier();
        if (far[0] == (uint64_t)boot_rank()) {
            job_check(world_memory(w)[0] == 8);
            job_check(p2p_recv(text, LONG, c, 0, 5, proc->obj->world, 0, NULL) == MPI_SUCCESS &&
                      text[LONG - 1] == 9);
        }
    }
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

START_TEST(no_descriptor)
{
    ck_assert_int_eq(world_run(13, world_far, cut_off), 0);
}
END_TEST

START_TEST(round_robin)
{
    ck_assert_int_eq(world_run(3, world_far, in_turn), 0);
}
END_TEST

START_TEST(long_ones)
{
    ck_assert_int_eq(world_run(2, tiny, parts), 0);
}
END_TEST

Suite *suite_issue(void)
{
    Suite *s = suite_create("rma/issue");
    TCase *t = tcase_create("issue");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, one_packet);
    tcase_add_test(t, one_batch);
    tcase_add_test(t, no_piggyback);
    tcase_add_test(t, long_ones);
    tcase_add_test(t, round_robin);
    tcase_add_test(t, no_descriptor);
    suite_add_tcase(s, t);
    return s;
}

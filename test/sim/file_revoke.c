/* file_revoke.c - files that are revoked while their members are in accesses of any kind, or die in
 * them: no call waits for ever, each ends with its error, and MPI_File_close works. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "coll/coll_types.h"
#include "memory.h"
#include "ulfm.h"

enum { KINDS = 8, ROUNDS = 3, PIECE = 24, PIECES = 40, BYTES = PIECE * PIECES, MOST = 300 };

/* A member. */
struct part {
    int rank, size; /* in MPI_COMM_WORLD */
    MPI_Comm c;     /* of those that go on */
    int n, me;      /* there */
    MPI_File f;
    MPI_Datatype ft;
    struct limit limit; /* when it revokes */
    char out[BYTES], in[BYTES];
};

static int ends(int err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int c = class_of(err), len;
    if (c && c != MPIX_ERR_PROC_FAILED && c != MPIX_ERR_REVOKED) {
        MPI_Error_string(err, text, &len);
        sim_fail("class %d: %s", c, text);
    }
    return c;
}

/* MPI_FILE_NULL: some did not get it. */
static MPI_File opened(struct part *x)
{
    MPI_File f = MPI_FILE_NULL;
    MPI_Info info;
    char name[100], nodes[12];
    int unacked;
    snprintf(name, sizeof name, "/tmp/windrose-sim-revoke-%d-%llu", (int)getpid(),
             (unsigned long long)sim_seed());
    snprintf(nodes, sizeof nodes, "%d", 1 + (int)(sim_seed() % (unsigned)x->n));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "cb_buffer_size", "4096"));
    OK(MPI_Info_set(info, "cb_nodes", nodes));
    OK(MPI_Info_set(info, "romio_cb_write", "enable"));
    OK(MPI_Info_set(info, "romio_cb_read", "enable"));
    close(open(name, O_CREAT | O_RDWR, 0600)); /* another round may have unlinked it */
    int err = ends(MPI_File_open(x->c, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    OK(MPI_Info_free(&info));
    if (!err)
        err = ends(MPI_File_set_view(f, (MPI_Offset)x->me * PIECE, MPI_BYTE, x->ft, "native",
                                     MPI_INFO_NULL));
    int all = all_say(x->c, !err, &unacked);
    unlink(name); /* nothing stays, whatever happens */
    if (!all && f != MPI_FILE_NULL)
        may_fail(MPI_File_close(&f));
    return f;
}

static int moves(struct part *x, int write)
{
    return ends(write ? MPI_File_write_at_all(x->f, 0, x->out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE)
                      : MPI_File_read_at_all(x->f, 0, x->in, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
}

/* Each request ends, and none that follows one that was ended moves anything. */
static int moves_later(struct part *x, int mixed)
{
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int err = ends(MPI_File_iwrite_at_all(x->f, 0, x->out, BYTES, MPI_BYTE, &r[0]));
    if (!err && over(&x->limit)) { /* it is under way */
        OK(MPIX_File_revoke(x->f));
        err = MPIX_ERR_REVOKED;
    }
    if (!err)
        err = ends(MPI_File_iread_at_all(x->f, 0, x->in, BYTES, MPI_BYTE, &r[1]));
    if (!err && mixed)
        err = moves(x, 1);
    for (int k = 0; k < 2; k++) {
        int e = ends(MPI_Wait(&r[k], MPI_STATUS_IGNORE));
        SIM_CHECK(r[k] == MPI_REQUEST_NULL);
        err = err ? err : e;
    }
    return err;
}

static int splits(struct part *x)
{
    int err = ends(MPI_File_write_at_all_begin(x->f, 0, x->out, BYTES, MPI_BYTE));
    if (err || over(&x->limit)) /* the access was begun, and is not ended */
        return MPIX_ERR_REVOKED;
    return ends(MPI_File_write_at_all_end(x->f, x->out, MPI_STATUS_IGNORE));
}

static int changes(struct part *x)
{
    int err = ends(MPI_File_set_size(x->f, BYTES));
    if (!err)
        err = ends(MPI_File_set_view(x->f, (MPI_Offset)x->me * PIECE, MPI_BYTE, x->ft, "native",
                                     MPI_INFO_NULL));
    if (!err)
        err = ends(MPI_File_seek_shared(x->f, 0, MPI_SEEK_SET));
    return err ? err : ends(MPI_File_sync(x->f));
}

/* Until the file is revoked. The shared pointer needs rank 0 alone: the one that was to revoke may
 * be dead, and none notice it. */
static void accesses(struct part *x, int kind)
{
    for (int err = 0, n = 0; !err && !over(&x->limit) && n < MOST; n++) {
        switch (kind) {
        case 0: err = moves(x, 1); break;
        case 1: err = moves(x, 0); break;
        case 2: err = moves_later(x, 0); break;
        case 3: err = moves_later(x, 1); break;
        case 4:
            err = ends(MPI_File_write_ordered(x->f, x->out, 8, MPI_BYTE, MPI_STATUS_IGNORE));
            break;
        case 5:
            err = ends(MPI_File_write_shared(x->f, x->out, 8, MPI_BYTE, MPI_STATUS_IGNORE));
            sim_compute(1); /* near it lets no other rank have its turn */
            break;
        case 6: err = splits(x); break;
        default: err = changes(x); break;
        }
    }
}

static void is_revoked(struct part *x)
{
    int flag = 0, amode = 0;
    char b = 0;
    MPI_Offset at;
    MPI_Group g;
    MPI_Request r;
    OK(MPIX_File_is_revoked(x->f, &flag));
    SIM_CHECK(flag == 1);
    ERR(MPIX_ERR_REVOKED, MPI_File_write_at(x->f, 0, &b, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    ERR(MPIX_ERR_REVOKED, MPI_File_iwrite_at_all(x->f, 0, &b, 1, MPI_BYTE, &r));
    ERR(MPIX_ERR_REVOKED, MPI_File_write_shared(x->f, &b, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    ERR(MPIX_ERR_REVOKED, MPI_File_read_all(x->f, &b, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    ERR(MPIX_ERR_REVOKED, MPI_File_write_at_all_end(x->f, &b, MPI_STATUS_IGNORE));
    ERR(MPIX_ERR_REVOKED, MPI_File_get_position_shared(x->f, &at));
    ERR(MPIX_ERR_REVOKED, MPI_File_set_size(x->f, 1));
    ERR(MPIX_ERR_REVOKED, MPI_File_sync(x->f));
    OK(MPI_File_get_position(x->f, &at));
    OK(MPI_File_get_amode(x->f, &amode));
    SIM_CHECK(amode == (MPI_MODE_CREATE | MPI_MODE_RDWR));
    OK(MPI_File_get_group(x->f, &g));
    OK(MPI_Group_free(&g));
}

/* c becomes that of those that live. */
static void go_on(struct part *x)
{
    MPI_Comm made;
    OK(MPIX_Comm_shrink(x->c, &made));
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    OK(MPI_Comm_free(&x->c));
    x->c = made;
    MPI_Comm_size(x->c, &x->n);
    MPI_Comm_rank(x->c, &x->me);
}

static void view_of(struct part *x)
{
    MPI_Datatype t;
    OK(MPI_Type_contiguous(PIECE, MPI_BYTE, &t));
    OK(MPI_Type_create_resized(t, 0, (MPI_Aint)PIECE * x->size, &x->ft));
    OK(MPI_Type_commit(&x->ft));
    OK(MPI_Type_free(&t));
}

static struct part *begin(void)
{
    struct part *x = calloc(1, sizeof *x);
    MPI_Comm_rank(MPI_COMM_WORLD, &x->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &x->size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    view_of(x);
    x->c = copy_of(MPI_COMM_WORLD);
    x->n = x->size;
    x->me = x->rank;
    MPI_Barrier(MPI_COMM_WORLD);
    return x;
}

static void end(struct part *x)
{
    OK(MPI_Comm_free(&x->c));
    OK(MPI_Type_free(&x->ft));
    free(x);
}

static void revokes(void *arg)
{
    struct part *x = begin();
    (void)arg;
    int dies = sim_seed() % 2 && is_doomed(x->rank, x->size);
    if (dies)
        sim_die_at(1 + (int)(sim_random() % (150u * (unsigned)x->size)));
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t h = (sim_seed() + 77u * (unsigned)i + 1) * 0x9e3779b97f4a7c15ull;
        if ((x->f = opened(x)) == MPI_FILE_NULL) {
            go_on(x);
            continue;
        }
        x->limit.gives_up = x->me == (int)((h >> 33) % (unsigned)x->n);
        x->limit.turns = (int)((h >> 20) % 6);
        accesses(x, (int)((sim_seed() + 3u * (unsigned)i) % KINDS));
        OK(MPIX_File_revoke(x->f));
        is_revoked(x);
        OK(MPI_File_close(&x->f));
        SIM_CHECK(x->f == MPI_FILE_NULL);
        go_on(x);
    }
    if (dies)
        sim_die();
    end(x);
}

/* One has the file and revokes it, while others are still in MPI_File_open, or in the first access,
 * which makes the window of the buffers. */
static void revokes_early(void *arg)
{
    struct part *x = begin();
    int in_access = (int)(sim_seed() % 2), unacked;
    (void)arg;
    for (int i = 0; i < 3; i++) {
        char name[100];
        snprintf(name, sizeof name, "/tmp/windrose-sim-early-%d-%llu", (int)getpid(),
                 (unsigned long long)sim_seed());
        close(open(name, O_CREAT | O_RDWR, 0600));
        int err = ends(MPI_File_open(x->c, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                                     &x->f));
        SIM_CHECK(err != MPIX_ERR_PROC_FAILED);
        if (!err && x->rank == (int)((sim_seed() / 2 + (unsigned)i) % (unsigned)x->size)) {
            if (in_access)
                sim_compute((int)(sim_random() % 300));
            OK(MPIX_File_revoke(x->f));
        }
        while (!err) { /* rank 0 has the shared pointer, and perhaps not the file */
            err = ends(MPI_File_write_shared(x->f, x->out, 8, MPI_BYTE, MPI_STATUS_IGNORE));
            if (!err)
                err = moves(x, 1);
        }
        SIM_CHECK(err == MPIX_ERR_REVOKED);
        /* no call waits for a close of others that comes behind this */
        SIM_CHECK(all_say(x->c, 1, &unacked) && !unacked);
        if (x->f != MPI_FILE_NULL)
            OK(MPI_File_close(&x->f));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        unlink(name);
    }
    end(x);
}

/* Each member of four is told twice of each of the three communicators that a file has at first. */
static void told_exactly(void *arg)
{
    struct part *x = begin();
    long before = 0, notices = 0;
    (void)arg;
    if ((x->f = opened(x)) == MPI_FILE_NULL)
        sim_fail("the file was not opened");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < x->size; r++)
        before += sim_sent(r, AM_COLL + COLL_PKT_REVOKE);
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(before == 0);
    if (x->rank == 2)
        OK(MPIX_File_revoke(x->f));
    for (int flag = 0; !flag; turn())
        OK(MPIX_File_is_revoked(x->f, &flag));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < x->size; r++)
        notices += sim_sent(r, AM_COLL + COLL_PKT_REVOKE);
    SIM_CHECK(notices == 3 * 8);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_close(&x->f));
    end(x);
}

/* One dies in or before an access whose data go by message; the others revoke the file, and close
 * it. Nothing of these data stays: STAGED bytes each. */
static void gives_back(void *arg)
{
    enum { LONG = 1 << 16, STAGED = 2 * LONG };
    struct part *x = begin();
    MPI_Info info;
    char name[100], *data = calloc(1, LONG);
    long before = 0;
    (void)arg;
    snprintf(name, sizeof name, "/tmp/windrose-sim-memory-%d-%llu", (int)getpid(),
             (unsigned long long)sim_seed());
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "cb_nodes", "1"));
    OK(MPI_Info_set(info, "romio_cb_write", "enable"));
    for (int i = 0; i < 2; i++) {
        MPI_File f;
        close(open(name, O_CREAT | O_RDWR, 0600));
        MPI_Barrier(MPI_COMM_WORLD);
        before = memory_bytes(sim_rank());
        OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
        MPI_Barrier(MPI_COMM_WORLD);
        unlink(name);
        if (i && x->rank == 2)
            sim_die_at(1 + (int)(sim_random() % 200));
        int err = ends(MPI_File_write_at_all(f, (MPI_Offset)x->rank * LONG, data, LONG, MPI_BYTE,
                                             MPI_STATUS_IGNORE));
        if (i && x->rank == 2)
            sim_die();
        SIM_CHECK(i || !err);
        if (i)
            OK(MPIX_File_revoke(f));
        OK(MPI_File_close(&f));
    }
    long more = memory_bytes(sim_rank()) - before;
    if (more >= STAGED)
        sim_fail("%ld bytes more than before", more);
    OK(MPI_Info_free(&info));
    free(data);
}

static void often_dies(struct sim_knobs *k)
{
    mortal(k);
    memory_keep(1);
}

static void together(struct sim_knobs *k)
{
    often_dies(k);
    k->nodes = 1;
}

static void apart(struct sim_knobs *k)
{
    often_dies(k);
    k->nodes = k->ranks;
}

const struct scenario scenarios_file_revoke[] = {
    {"revoke-files-2", 2, 1, revokes, NULL, often_dies},
    {"revoke-files-4", 4, 1, revokes, NULL, often_dies},
    {"revoke-files-near-5", 5, 1, revokes, NULL, together},
    {"revoke-files-far-3", 3, 1, revokes, NULL, apart},
    {"revoke-files-early-2", 2, 1, revokes_early, NULL, often_dies},
    {"revoke-files-early-4", 4, 1, revokes_early, NULL, often_dies},
    {"revoke-files-memory-3", 3, 1, gives_back, NULL, mortal_far},
    {"revoke-files-counts", 4, 1, told_exactly, NULL, calm},
    {NULL, 0, 0, NULL, NULL, NULL},
};

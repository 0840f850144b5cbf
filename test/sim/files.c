/* files.c - collective accesses to files, blocking and not, of ranks near and far: the data are
 * where they belong in whatever order things happen, and what goes wrong at one rank is an error
 * of all. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "coll/coll.h"
#include "doom.h"
#include "memory.h"
#include "obj/err.h"
#include "scripted.h"

enum { PIECES = 90, PARTS = 4, HEAD_WORDS = 14 /* of struct head, io/shares.h */ };

struct scene {
    int rank, size, piece, bytes; /* bytes: of one rank in one part of the file */
    int raw;                      /* at rank 0: the file itself */
    MPI_File f;
    MPI_Datatype ft, mem;
    char *out[PARTS], *in;
};

static unsigned char value(const struct scene *s, int part, int rank, int i)
{
    return (unsigned char)(part * 31 + rank * 7 + i * 3 + i / 251 + (int)(sim_seed() & 63));
}

static MPI_File opened(struct scene *s, const char *nodes)
{
    char name[100];
    MPI_Info info;
    MPI_File f = MPI_FILE_NULL;
    snprintf(name, sizeof name, "/tmp/windrose-sim-%d-%llu", (int)getpid(),
             (unsigned long long)sim_seed());
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "cb_buffer_size", "4096"));
    OK(MPI_Info_set(info, "cb_nodes", nodes));
    OK(MPI_Info_set(info, "romio_cb_write", "enable"));
    OK(MPI_Info_set(info, "romio_cb_read", "enable"));
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    OK(MPI_Info_free(&info));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (s->rank == 0) { /* nothing stays, whatever happens */
        s->raw = open(name, O_RDWR);
        unlink(name);
    }
    return f;
}

/* most: the pieces are the longest, not of any length. Each rank has every size-th piece; its
 * memory is one block, or has gaps. */
static void scene_open(struct scene *s, int most)
{
    static const int pieces[] = {1, 4, 24, 100, 512};
    MPI_Datatype t;
    char nodes[12];
    *s = (struct scene){.raw = -1};
    MPI_Comm_rank(MPI_COMM_WORLD, &s->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s->size);
    s->piece = pieces[most ? 4 : sim_seed() % 5];
    s->bytes = s->piece * PIECES;
    snprintf(nodes, sizeof nodes, "%d", 1 + (int)(sim_seed() / 5 % (unsigned)s->size));
    s->f = opened(s, nodes);
    OK(MPI_Type_contiguous(s->piece, MPI_BYTE, &t));
    OK(MPI_Type_create_resized(t, 0, (MPI_Aint)s->piece * s->size, &s->ft));
    OK(MPI_Type_commit(&s->ft));
    OK(MPI_Type_free(&t));
    OK(MPI_Type_vector(s->bytes, 1, 1 + s->rank % 2, MPI_BYTE, &s->mem));
    OK(MPI_Type_commit(&s->mem));
    OK(MPI_File_set_view(s->f, (MPI_Offset)s->rank * s->piece, MPI_BYTE, s->ft, "native",
                         MPI_INFO_NULL));
    for (int p = 0; p < PARTS; p++) {
        s->out[p] = calloc((size_t)s->bytes, 2);
        for (int i = 0; i < s->bytes; i++)
            s->out[p][i * (1 + s->rank % 2)] = (char)value(s, p, s->rank, i);
    }
    s->in = malloc((size_t)s->bytes * 2);
}

static void scene_close(struct scene *s)
{
    MPI_File_close(&s->f);
    MPI_Type_free(&s->ft);
    MPI_Type_free(&s->mem);
    for (int p = 0; p < PARTS; p++)
        free(s->out[p]);
    free(s->in);
    if (s->raw >= 0)
        close(s->raw);
}

/* Rank 0 looks into the file itself. */
static void check_part(const struct scene *s, int part)
{
    int n = s->bytes * s->size;
    if (s->rank)
        return;
    char *all = malloc((size_t)n);
    SIM_CHECK(pread(s->raw, all, (size_t)n, (off_t)part * n) == n);
    for (int i = 0; i < n; i++) {
        int piece = i / s->piece, rank = piece % s->size,
            at = piece / s->size * s->piece + i % s->piece;
        if ((unsigned char)all[i] != value(s, part, rank, at))
            sim_fail("part %d: byte %d of rank %d is wrong in the file", part, at, rank);
    }
    free(all);
}

static void check_read(const struct scene *s, int part)
{
    for (int i = 0; i < s->bytes; i++)
        if ((unsigned char)s->in[i * (1 + s->rank % 2)] != value(s, part, s->rank, i))
            sim_fail("part %d: byte %d was read wrong", part, i);
}

/* All parts in one file: some accesses are under way while others are begun, and blocking ones come
 * in between. */
static void mixed(void *arg)
{
    struct scene s;
    MPI_Request r[PARTS];
    MPI_Status st;
    int n;
    scene_open(&s, 0);
    for (int p = 0; p < PARTS; p++) {
        r[p] = MPI_REQUEST_NULL;
        if ((sim_seed() >> p & 3) == 0)
            OK(MPI_File_write_at_all(s.f, p * s.bytes, s.out[p], 1, s.mem, &st));
        else
            OK(MPI_File_iwrite_at_all(s.f, p * s.bytes, s.out[p], 1, s.mem, &r[p]));
        if (sim_random() % 3 == 0)
            sim_compute((int)(sim_random() % 300));
    }
    for (int p = PARTS - 1; p >= 0; p--) {
        int wait = r[p] != MPI_REQUEST_NULL;
        OK(MPI_Wait(&r[p], &st));
        if (wait) {
            MPI_Get_count(&st, MPI_BYTE, &n);
            SIM_CHECK(n == s.bytes);
        }
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int p = 0; p < PARTS; p++) {
        check_part(&s, p);
        memset(s.in, 0, (size_t)s.bytes * 2);
        OK(MPI_File_iread_at_all(s.f, p * s.bytes, s.in, 1, s.mem, &r[0]));
        OK(MPI_Wait(&r[0], &st));
        MPI_Get_count(&st, MPI_BYTE, &n);
        SIM_CHECK(n == s.bytes);
        check_read(&s, p);
    }
    /* behind the end there is nothing, and of one rank half */
    OK(MPI_File_iread_at_all(s.f, PARTS * s.bytes - s.rank % 2 * s.piece, s.in, 1, s.mem, &r[0]));
    OK(MPI_Wait(&r[0], &st));
    MPI_Get_count(&st, MPI_BYTE, &n);
    SIM_CHECK(n == s.rank % 2 * s.piece);
    scene_close(&s);
}

/* Nonblocking, with memory that is not one block: what is sent is packed. */
static int later(struct scene *s, int write)
{
    MPI_Request r;
    MPI_Datatype t;
    OK(MPI_Type_vector(s->bytes, 1, 2, MPI_BYTE, &t));
    OK(MPI_Type_commit(&t));
    int err = write ? MPI_File_iwrite_at_all(s->f, 0, s->out[1], 1, t, &r)
                    : MPI_File_iread_at_all(s->f, 0, s->in, 1, t, &r);
    MPI_Type_free(&t);
    return err ? err : MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* The call has the error at rank `bad`; the others get it when their access ends. */
static void begun_by_all(const struct scene *s, int bad, int cls, int err, MPI_Request *r)
{
    if (s->rank == bad) {
        ERR(cls, err);
        SIM_CHECK(*r == MPI_REQUEST_NULL);
    } else {
        OK(err);
        ERR(cls, MPI_Wait(r, MPI_STATUS_IGNORE));
    }
}

/* An argument that is wrong at one rank, and a rank that has no memory: the same for all, in both
 * forms, and the file can be used as before. */
static void one_fails(void *arg)
{
    struct scene s;
    MPI_Request r = MPI_REQUEST_NULL;
    int bad = (int)(sim_seed() / 3 % 3), err, any, failed = 0, c = MPI_SUCCESS;
    scene_open(&s, 1);
    OK(MPI_File_write_at_all(s.f, 0, s.out[0], 1, s.mem, MPI_STATUS_IGNORE));
    err = MPI_File_iwrite_at_all(s.f, 0, s.out[0], s.rank == bad ? -1 : 1, s.mem, &r);
    begun_by_all(&s, bad, MPI_ERR_COUNT, err, &r);
    if (s.rank == bad) /* the messages, or the shares; the two before end the job */
        memory_refuse_nth(bad, 3 + (int)(sim_seed() % 2));
    err = MPI_File_iread_at_all(s.f, 0, s.in, 1, s.mem, &r);
    begun_by_all(&s, bad, MPI_ERR_NO_MEM, err, &r);
    for (int k = 0; k < 4; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (s.rank == bad)
            memory_refuse_long(bad, 8000);
        if (k < 2)
            err = k ? MPI_File_read_at_all(s.f, 0, s.in, 1, s.mem, MPI_STATUS_IGNORE)
                    : MPI_File_write_at_all(s.f, 0, s.out[0], 1, s.mem, MPI_STATUS_IGNORE);
        else
            err = later(&s, k == 2);
        if (s.rank == bad)
            memory_refuse(-1);
        failed += err != MPI_SUCCESS;
        any = err != MPI_SUCCESS;
        MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        SIM_CHECK(any == (err != MPI_SUCCESS));
        if (err)
            MPI_Error_class(err, &c);
        SIM_CHECK(!err || c == MPI_ERR_NO_MEM);
        sim_event("access %d: class %d", k, err ? c : 0);
    }
    SIM_CHECK(failed >= 2); /* a nonblocking one may have found memory */
    OK(MPI_File_write_at_all(s.f, 0, s.out[0], 1, s.mem, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    check_part(&s, 0);
    scene_close(&s);
}

/* A rank dies in any poll: the accesses of the others end, those begun later with an error. */
static void dies(void *arg)
{
    struct scene s;
    struct doom doom;
    int dying, err = MPI_SUCCESS;
    MPI_Request r[2];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    scene_open(&s, 0);
    dying = (int)(sim_seed() / 11 % (unsigned)s.size);
    OK(MPI_File_write_at_all(s.f, 2 * s.bytes, s.out[2], 1, s.mem, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    if (s.rank == dying)
        doom_set(&doom, (int)(sim_random() % 400));
    for (int i = 0; !err || s.rank == dying; i++) {
        int begun = MPI_File_iwrite_at_all(s.f, 0, s.out[0], 1, s.mem, &r[0]);
        OK(begun);
        OK(MPI_File_iread_at_all(s.f, s.bytes, s.in, 1, s.mem, &r[1]));
        if (sim_seed() % 2)
            err = MPI_File_write_at_all(s.f, 2 * s.bytes, s.out[2], 1, s.mem, MPI_STATUS_IGNORE);
        for (int k = 0; k < 2; k++) {
            int e = MPI_Wait(&r[k], MPI_STATUS_IGNORE);
            err = err ? err : e;
        }
    }
    ERR(MPIX_ERR_PROC_FAILED, err);
    hear_of_death(dying);
    scene_close(&s);
}

/* Rank 0 has locked the file, as another job would. The write of rank 1 waits, and serves rank 0
 * meanwhile, which gives the lock back only then. */
static void held(void *arg)
{
    struct scene s;
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    MPI_Request r;
    scene_open(&s, 0);
    OK(MPI_File_set_atomicity(s.f, 1));
    if (s.rank == 0)
        SIM_CHECK(fcntl(s.raw, F_OFD_SETLK, &l) == 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (s.rank == 0) {
        OK(MPI_Ssend(s.in, 1, MPI_BYTE, 1, 7, MPI_COMM_WORLD));
        l.l_type = F_UNLCK;
        SIM_CHECK(fcntl(s.raw, F_OFD_SETLK, &l) == 0);
    } else if (s.rank == 1) {
        OK(MPI_Irecv(s.in, 1, MPI_BYTE, 0, 7, MPI_COMM_WORLD, &r));
        OK(MPI_File_write_at(s.f, 0, s.out[0], 1, s.mem, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_set_atomicity(s.f, 0));
    OK(MPI_File_write_at_all(s.f, 0, s.out[0], 1, s.mem, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    check_part(&s, 0);
    scene_close(&s);
}

static int loser, loses_at; /* rank + 1, 0: none; the how many-th step from now on */

static int loses(void)
{
    return sim_rank() + 1 == loser && loses_at-- == 0;
}

/* --- a head that says what cannot be --------------------------------------------------------- */

static int spoils; /* rank + 1; 0: none */
static int spoiled;

int __real_coll_iexchange(struct comm *c, const struct coll_piece *in, int nin,
                          const struct coll_piece *out, int nout, struct request **req);
int __wrap_coll_iexchange(struct comm *c, const struct coll_piece *in, int nin,
                          const struct coll_piece *out, int nout, struct request **req);

/* What rank `spoils` - 1 says is not what it will send. */
int __wrap_coll_iexchange(struct comm *c, const struct coll_piece *in, int nin,
                          const struct coll_piece *out, int nout, struct request **req)
{
    static int64_t bad[8][HEAD_WORDS]; /* the first one: bytes */
    struct coll_piece p[8];
    if (loses())
        return err_make(MPI_ERR_OTHER, "no descriptor");
    if (sim_rank() + 1 != spoils || nout > 8)
        return __real_coll_iexchange(c, in, nin, out, nout, req);
    for (int i = 0; i < nout; i++) {
        p[i] = out[i];
        if (out[i].bytes != sizeof bad[i])
            continue;
        memcpy(bad[i], out[i].buf, sizeof bad[i]);
        if (!bad[i][0])
            continue;
        bad[i][0] = sim_seed() % 3 ? INT64_MAX - 7 : -bad[i][0];
        p[i].buf = bad[i];
        spoiled++;
    }
    return __real_coll_iexchange(c, in, nin, p, nout, req);
}

/* All ranks get an error, and the next access is as if nothing had been. */
static void bad_head(void *arg)
{
    struct scene s;
    int bad = (int)(sim_seed() / 2 % 3);
    spoiled = 0;
    scene_open(&s, 0);
    OK(MPI_File_write_at_all(s.f, 0, s.out[0], 1, s.mem, MPI_STATUS_IGNORE));
    for (int write = 0; write < 2; write++) {
        MPI_Barrier(MPI_COMM_WORLD);
        spoils = bad + 1;
        ERR(MPI_ERR_OTHER, later(&s, write));
        MPI_Barrier(MPI_COMM_WORLD);
        spoils = 0;
        SIM_CHECK(spoiled > write);
    }
    MPI_Request r;
    OK(MPI_File_iwrite_at_all(s.f, 0, s.out[0], 1, s.mem, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    check_part(&s, 0);
    scene_close(&s);
}

/* --- a step that fails at one rank alone ------------------------------------------------------ */

int __real_coll_allreduce_i64(int64_t *v, int n, enum coll_num op, struct comm *c);
int __wrap_coll_allreduce_i64(int64_t *v, int n, enum coll_num op, struct comm *c);

int __wrap_coll_allreduce_i64(int64_t *v, int n, enum coll_num op, struct comm *c)
{
    return loses() ? err_make(MPI_ERR_OTHER, "no descriptor")
                   : __real_coll_allreduce_i64(v, n, op, c);
}

/* The others would wait in that step for ever: the job ends. */
static void one_is_lost(void *arg)
{
    struct scene s;
    scene_open(&s, 0);
    OK(MPI_File_write_at_all(s.f, 0, s.out[0], 1, s.mem, MPI_STATUS_IGNORE)); /* makes windows */
    MPI_Barrier(MPI_COMM_WORLD);
    if (s.rank == (int)(sim_seed() % 3)) {
        loses_at = (int)(sim_seed() / 3 % 6);
        loser = 1 + s.rank;
    }
    for (int k = 0; k < 4; k++) {
        if (k % 2)
            later(&s, k == 1);
        else
            MPI_File_write_at_all(s.f, 0, s.out[0], 1, s.mem, MPI_STATUS_IGNORE);
    }
    MPI_File_set_size(s.f, 7);
    scene_close(&s);
}

static void far(struct sim_knobs *k)
{
    k->nodes = k->ranks;
}

static void lost(struct sim_knobs *k)
{
    far(k);
    k->mortal = 1;
    k->aborts = "failed on this one alone";
}

/* Some messages are fetched: their sends may still be under way when the access has ended. */
static void mortal(struct sim_knobs *k)
{
    k->mortal = 1;
    k->quiet_rank = -1;
    scenario_cvar("MPIR_CVAR_P2P_EAGER_WINDOW", k->seed % 2 ? "0" : "262144");
    memory_keep(1);
}

const struct scenario scenarios_files[] = {
    {"files-mixed-3", 3, 1, mixed, NULL, NULL},
    {"files-mixed-5", 5, 1, mixed, NULL, NULL},
    {"files-mixed-far-4", 4, 1, mixed, NULL, far},
    {"files-held", 2, 1, held, NULL, NULL},
    {"files-held-far", 3, 1, held, NULL, far},
    {"files-one-fails", 3, 1, one_fails, NULL, far},
    {"files-one-lost", 3, 1, one_is_lost, NULL, lost},
    {"files-bad-head", 3, 1, bad_head, NULL, far},
    {"files-dies-3", 3, 1, dies, NULL, mortal},
    {"files-dies-4", 4, 1, dies, NULL, mortal},
    {NULL, 0, 0, NULL, NULL, NULL},
};

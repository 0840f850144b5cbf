/* basic.c - files: open and close, every access with every pointer, views, hints, errors,
 * requests. */
#include "../mt.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N = 100 };
static char name[200];

#define OK(call) CHECK_EQ(call, MPI_SUCCESS)

static MPI_File open_as(int amode)
{
    MPI_File f = MPI_FILE_NULL;
    OK(MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &f));
    return f;
}

static void fill(int *p, int n, int seed)
{
    for (int i = 0; i < n; i++)
        p[i] = seed * 1000 + i;
}

static int wrong(const int *p, int n, int seed)
{
    for (int i = 0; i < n; i++)
        if (p[i] != seed * 1000 + i)
            return 1;
    return 0;
}

static void gone(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank == 0)
        MPI_File_delete(name, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void life(void)
{
    MPI_File f;
    MPI_Offset size = -1;
    MPI_Group g, w;
    int amode, same, err;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
    err = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
    CHECK_EQ(mt_class(err), MPI_ERR_NO_SUCH_FILE);
    CHECK(f == MPI_FILE_NULL);
    err = MPI_File_delete(name, MPI_INFO_NULL);
    CHECK_EQ(mt_class(err), MPI_ERR_NO_SUCH_FILE);
    f = open_as(MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR);
    OK(MPI_File_get_amode(f, &amode));
    CHECK_EQ(amode, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR);
    OK(MPI_File_get_group(f, &g));
    MPI_Comm_group(MPI_COMM_WORLD, &w);
    MPI_Group_compare(g, w, &same);
    CHECK_EQ(same, MPI_IDENT);
    MPI_Group_free(&g);
    MPI_Group_free(&w);
    OK(MPI_File_set_size(f, 1000));
    OK(MPI_File_get_size(f, &size));
    CHECK_EQ(size, 1000);
    OK(MPI_File_preallocate(f, 5000));
    OK(MPI_File_get_size(f, &size));
    CHECK_EQ(size, 5000);
    OK(MPI_File_preallocate(f, 10));
    OK(MPI_File_get_size(f, &size));
    CHECK_EQ(size, 5000);
    CHECK(MPI_File_f2c(MPI_File_c2f(f)) == f);
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    OK(MPI_File_sync(f));
    OK(MPI_File_close(&f));
    CHECK(f == MPI_FILE_NULL);
    err = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR,
                        MPI_INFO_NULL, &f);
    CHECK_EQ(mt_class(err), MPI_ERR_FILE_EXISTS);
    f = open_as(MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    OK(MPI_File_close(&f));
    CHECK(access(name, F_OK) && errno == ENOENT);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int got(const MPI_Status *st, MPI_Datatype t)
{
    int n = -1;
    MPI_Get_count(st, t, &n);
    return n;
}

static void pointers(void)
{
    int out[N], in[2 * N];
    MPI_Status st;
    MPI_Offset at;
    MPI_File f = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    fill(out, N, mt_rank);
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at(f, mt_rank * N, out, N, MPI_INT, &st));
    CHECK_EQ(got(&st, MPI_INT), N);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_seek(f, ((mt_rank + 1) % mt_size) * N, MPI_SEEK_SET));
    OK(MPI_File_read(f, in, N, MPI_INT, &st));
    CHECK_EQ(got(&st, MPI_INT), N);
    CHECK(!wrong(in, N, (mt_rank + 1) % mt_size));
    OK(MPI_File_get_position(f, &at));
    CHECK_EQ(at, ((mt_rank + 1) % mt_size) * N + N);
    OK(MPI_File_get_byte_offset(f, at, &at));
    CHECK_EQ(at, (((mt_rank + 1) % mt_size) * N + N) * 4);
    OK(MPI_File_seek(f, -N / 2, MPI_SEEK_END));
    OK(MPI_File_read(f, in, N, MPI_INT, &st));
    CHECK_EQ(got(&st, MPI_INT), N / 2);
    OK(MPI_File_read(f, in, N, MPI_INT, &st));
    CHECK_EQ(got(&st, MPI_INT), 0);
    CHECK_EQ(mt_class(MPI_File_seek(f, -1, MPI_SEEK_SET)), MPI_ERR_ARG);
    OK(MPI_File_read_at_all(f, mt_rank * N, in, N, MPI_INT, &st));
    CHECK(!wrong(in, N, mt_rank));
    OK(MPI_File_close(&f));
    gone();
}

/* Rank r has every mt_size-th block of 3 ints; memory has gaps, too. */
static void views(int collective)
{
    enum { B = 3, BLOCKS = 50, SKIP = 2 };
    int out[BLOCKS * B * SKIP], in[BLOCKS * B * SKIP], all[BLOCKS * B], i;
    MPI_Datatype ft, mem, e, t;
    MPI_Offset d;
    MPI_Status st;
    char rep[MPI_MAX_DATAREP_STRING];
    MPI_File f = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Type_vector(1, B, B, MPI_INT, &e);
    MPI_Type_create_resized(e, 0, (MPI_Aint)sizeof(int) * B * mt_size, &ft);
    MPI_Type_commit(&ft);
    MPI_Type_free(&e);
    MPI_Type_vector(BLOCKS * B, 1, SKIP, MPI_INT, &mem);
    MPI_Type_commit(&mem);
    for (i = 0; i < BLOCKS * B * SKIP; i++) {
        out[i] = i % SKIP ? -1 : mt_rank * 100000 + i / SKIP;
        in[i] = -2;
    }
    OK(MPI_File_set_view(f, 8 + mt_rank * B * 4, MPI_INT, ft, "native", MPI_INFO_NULL));
    OK(MPI_File_get_view(f, &d, &e, &t, rep));
    CHECK_EQ(d, 8 + mt_rank * B * 4);
    CHECK(e == MPI_INT);
    CHECK(!strcmp(rep, "native"));
    MPI_Type_free(&t);
    MPI_Type_free(&ft);
    OK(collective ? MPI_File_write_all(f, out, 1, mem, &st) : MPI_File_write(f, out, 1, mem, &st));
    CHECK_EQ(got(&st, mem), 1);
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_seek(f, 0, MPI_SEEK_END));
    OK(MPI_File_get_position(f, &d));
    CHECK_EQ(d, BLOCKS * B);
    OK(MPI_File_seek(f, 0, MPI_SEEK_SET));
    OK(collective ? MPI_File_read_all(f, in, 1, mem, &st) : MPI_File_read(f, in, 1, mem, &st));
    CHECK_EQ(got(&st, mem), 1);
    for (i = 0; i < BLOCKS * B * SKIP; i++)
        if (!CHECK_EQ(in[i], i % SKIP ? -2 : out[i]))
            break;
    OK(MPI_File_set_view(f, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int r = 0; r < mt_size; r++) {
        OK(MPI_File_read_at(f, r * B, all, B, MPI_INT, &st));
        for (i = 0; i < B; i++)
            CHECK_EQ(all[i], r * 100000 + i);
    }
    MPI_Type_free(&mem);
    OK(MPI_File_close(&f));
    gone();
}

static void shared(void)
{
    int v[2], *all = mt_alloc(sizeof(int) * 2 * (size_t)mt_size), seen = 0;
    MPI_Offset at;
    MPI_Status st;
    MPI_File f = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    v[0] = v[1] = mt_rank + 1;
    OK(MPI_File_write_shared(f, v, 2, MPI_INT, &st));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_position_shared(f, &at));
    CHECK_EQ(at, 2 * mt_size);
    OK(MPI_File_read_at_all(f, 0, all, 2 * mt_size, MPI_INT, &st));
    for (int i = 0; i < mt_size; i++) {
        CHECK_EQ(all[2 * i], all[2 * i + 1]);
        seen += all[2 * i];
    }
    CHECK_EQ(seen, mt_size * (mt_size + 1) / 2);
    OK(MPI_File_seek_shared(f, 1, MPI_SEEK_SET));
    v[0] = mt_rank;
    OK(MPI_File_write_ordered(f, v, 1, MPI_INT, &st));
    OK(MPI_File_seek_shared(f, 1, MPI_SEEK_SET));
    v[0] = -1;
    OK(MPI_File_read_ordered(f, v, 1, MPI_INT, &st));
    CHECK_EQ(v[0], mt_rank);
    OK(MPI_File_get_position_shared(f, &at));
    CHECK_EQ(at, 1 + mt_size);
    OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    v[0] = 7;
    OK(MPI_File_write_ordered_begin(f, v, 1, MPI_INT));
    CHECK_EQ(mt_class(MPI_File_read_all(f, v, 1, MPI_INT, &st)), MPI_ERR_UNSUPPORTED_OPERATION);
    OK(MPI_File_write_ordered_end(f, v, &st));
    CHECK_EQ(got(&st, MPI_INT), 1);
    free(all);
    OK(MPI_File_close(&f));
    gone();
}

static void requests(void)
{
    enum { R = 8 };
    int out[R][N], in[R][N], i;
    MPI_Request r[R];
    MPI_Status st[R];
    MPI_File f = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    OK(MPI_File_set_view(f, mt_rank * (MPI_Offset)sizeof out, MPI_INT, MPI_INT, "native",
                         MPI_INFO_NULL));
    for (i = 0; i < R; i++) {
        fill(out[i], N, mt_rank * R + i);
        OK(MPI_File_iwrite(f, out[i], N, MPI_INT, &r[i]));
    }
    OK(MPI_Waitall(R, r, st));
    for (i = 0; i < R; i++) {
        CHECK_EQ(got(&st[i], MPI_INT), N);
        OK(MPI_File_iread_at(f, i * N, in[i], N, MPI_INT, &r[i]));
    }
    for (i = 0; i < R; i++) {
        int done = 0;
        while (!done)
            MPI_Test(&r[i], &done, &st[i]);
        CHECK(!wrong(in[i], N, mt_rank * R + i));
    }
    MPI_Barrier(MPI_COMM_WORLD); /* this one goes behind the own part, into the next one */
    OK(MPI_File_iwrite_all(f, out, N, MPI_INT, &r[0]));
    OK(MPI_File_iread_shared(f, in, N, MPI_INT, &r[1]));
    OK(MPI_Waitall(2, r, st));
    OK(MPI_File_iwrite_at(f, 0, out, N, MPI_INT, &r[0]));
    OK(MPI_File_close(&f));
    OK(MPI_Wait(&r[0], &st[0]));
    f = open_as(MPI_MODE_RDONLY);
    CHECK_EQ(mt_class(MPI_File_iwrite(f, out, N, MPI_INT, &r[0])), MPI_ERR_READ_ONLY);
    CHECK(r[0] == MPI_REQUEST_NULL);
    OK(MPI_File_close(&f));
    gone();
}

static void representations(void)
{
    int v[3] = {1, 2, 0x01020304};
    long l[2] = {-5, 77};
    unsigned char raw[4];
    MPI_Aint extent;
    MPI_Status st;
    MPI_File f = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    if (mt_rank == 0)
        OK(MPI_File_write_at(f, 0, v, 3, MPI_INT, &st));
    OK(MPI_File_get_type_extent(f, MPI_LONG, &extent));
    CHECK_EQ(extent, 4);
    OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(f, 8, raw, 4, MPI_BYTE, &st));
    CHECK_EQ(raw[0], 1);
    CHECK_EQ(raw[3], 4);
    OK(MPI_File_set_view(f, 100, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(f, 0, l, 2, MPI_LONG, &st));
    CHECK_EQ(got(&st, MPI_LONG), 2);
    l[0] = l[1] = 0;
    OK(MPI_File_read_at_all(f, 0, l, 2, MPI_LONG, &st));
    CHECK_EQ(l[0], -5);
    CHECK_EQ(l[1], 77);
    l[1] = 9;
    OK(MPI_File_read_at(f, 1, l, 2, MPI_LONG, &st));
    CHECK_EQ(got(&st, MPI_LONG), 1);
    CHECK_EQ(l[0], 77);
    CHECK_EQ(l[1], 9);
    CHECK_EQ(mt_class(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "mine", MPI_INFO_NULL)),
             MPI_ERR_UNSUPPORTED_DATAREP);
    OK(MPI_File_close(&f));
    gone();
}

/* The end of the file cuts a struct of several kinds: its whole elements are there. */
static void cut_struct(void)
{
    struct {
        int i;
        long l;
        double d;
    } v[2] = {{1, 2, 3.5}, {4, 5, 6.5}}, w[2];
    MPI_Datatype kinds[] = {MPI_INT, MPI_LONG, MPI_DOUBLE}, t;
    MPI_Aint at[] = {0, 8, 16};
    MPI_Status st;
    int n;
    MPI_File f = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Type_create_struct(3, (int[]){1, 1, 1}, at, kinds, &t);
    MPI_Type_commit(&t);
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    if (mt_rank == 0)
        OK(MPI_File_write_at(f, 0, v, 2, t, &st));
    OK(MPI_File_set_size(f, 16 + 4 + 4 + 7)); /* no whole double any more */
    memset(w, 0, sizeof w);
    OK(MPI_File_read_at_all(f, 0, w, 2, t, &st));
    MPI_Get_elements(&st, t, &n);
    CHECK_EQ(n, 5);
    CHECK(w[0].i == 1 && w[0].l == 2 && w[0].d == 3.5);
    CHECK(w[1].i == 4 && w[1].l == 5 && w[1].d == 0);
    MPI_Type_free(&t);
    OK(MPI_File_close(&f));
    gone();
}

static int plus(int *state, int n, int by)
{
    for (int i = 0; i < n; i++)
        state[i] += by;
    return MPI_SUCCESS;
}

static int rep_read(void *user, MPI_Datatype t, int n, void *file, MPI_Offset pos, void *extra)
{
    (void)t;
    (void)extra;
    memcpy((int *)user + pos, file, sizeof(int) * (size_t)n);
    return plus((int *)user + pos, n, -1);
}

static int rep_write(void *user, MPI_Datatype t, int n, void *file, MPI_Offset pos, void *extra)
{
    (void)t;
    (void)extra;
    memcpy(file, (int *)user + pos, sizeof(int) * (size_t)n);
    return plus(file, n, 1);
}

static int rep_extent(MPI_Datatype t, MPI_Aint *extent, void *extra)
{
    int size;
    (void)extra;
    MPI_Type_size(t, &size);
    *extent = size;
    return MPI_SUCCESS;
}

static void own_representation(void)
{
    int v[4] = {1, 2, 3, 4}, raw[4];
    MPI_Status st;
    MPI_File f = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    OK(MPI_Register_datarep("plus one", rep_read, rep_write, rep_extent, NULL));
    CHECK_EQ(mt_class(MPI_Register_datarep("plus one", rep_read, rep_write, rep_extent, NULL)),
             MPI_ERR_DUP_DATAREP);
    OK(MPI_File_set_view(f, mt_rank * 16, MPI_INT, MPI_INT, "plus one", MPI_INFO_NULL));
    OK(MPI_File_write(f, v, 4, MPI_INT, &st));
    CHECK_EQ(v[0], 1);
    OK(MPI_File_read_at(f, 0, v, 4, MPI_INT, &st));
    CHECK_EQ(v[3], 4);
    OK(MPI_File_set_view(f, mt_rank * 16, MPI_INT, MPI_INT, "internal", MPI_INFO_NULL));
    OK(MPI_File_read(f, raw, 4, MPI_INT, &st));
    CHECK_EQ(raw[3], 5);
    OK(MPI_File_close(&f));
    gone();
}

static int handled;
static MPI_File handled_file;

static void handler(MPI_File *f, int *code, ...)
{
    (void)code;
    handled++;
    handled_file = *f;
}

static void errors(void)
{
    int v = 0, class;
    MPI_Offset at;
    MPI_Status st;
    MPI_Errhandler eh;
    MPI_Datatype t, back;
    MPI_Aint ad[2] = {8, 0};
    int len[2] = {1, 1};
    MPI_File f, null = MPI_FILE_NULL, bad = MPI_File_f2c(12345);
    class = mt_class(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_WRONLY,
                                   MPI_INFO_NULL, &f));
    CHECK_EQ(class, MPI_ERR_AMODE);
    CHECK_EQ(mt_class(MPI_File_open(MPI_COMM_WORLD, "", MPI_MODE_RDONLY, MPI_INFO_NULL, &f)),
             MPI_ERR_BAD_FILE);
    CHECK_EQ(mt_class(MPI_File_read(null, &v, 1, MPI_INT, &st)), MPI_ERR_FILE);
    CHECK_EQ(mt_class(MPI_File_read(bad, &v, 1, MPI_INT, &st)), MPI_ERR_FILE);
    CHECK_EQ(mt_class(MPI_File_close(&null)), MPI_ERR_FILE);
    f = open_as(MPI_MODE_CREATE | MPI_MODE_WRONLY);
    CHECK_EQ(mt_class(MPI_File_read(f, &v, 1, MPI_INT, &st)), MPI_ERR_ACCESS);
    CHECK_EQ(mt_class(MPI_File_write(f, &v, -1, MPI_INT, &st)), MPI_ERR_COUNT);
    CHECK_EQ(mt_class(MPI_File_write(f, NULL, 1, MPI_INT, &st)), MPI_ERR_BUFFER);
    CHECK_EQ(mt_class(MPI_File_write_at(f, -1, &v, 1, MPI_INT, &st)), MPI_ERR_ARG);
    CHECK_EQ(mt_class(MPI_File_write(f, &v, 1, MPI_DATATYPE_NULL, &st)), MPI_ERR_TYPE);
    CHECK_EQ(mt_class(MPI_File_set_view(f, -1, MPI_INT, MPI_INT, "native", MPI_INFO_NULL)),
             MPI_ERR_ARG);
    MPI_Type_create_hindexed(2, len, ad, MPI_INT, &back);
    MPI_Type_commit(&back);
    CHECK_EQ(mt_class(MPI_File_set_view(f, 0, MPI_INT, back, "native", MPI_INFO_NULL)),
             MPI_ERR_IO);
    MPI_Type_contiguous(3, MPI_BYTE, &t);
    MPI_Type_commit(&t);
    CHECK_EQ(mt_class(MPI_File_set_view(f, 0, MPI_INT, t, "native", MPI_INFO_NULL)), MPI_ERR_ARG);
    MPI_Type_free(&t);
    MPI_Type_free(&back);
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_EQ(mt_class(MPI_File_write(f, &v, 3, MPI_BYTE, &st)), MPI_ERR_ARG);
    CHECK_EQ(mt_class(MPI_File_seek(f, 0, 77)), MPI_ERR_ARG);
    if (mt_size > 1)
        CHECK_EQ(mt_class(MPI_File_set_size(f, mt_rank)), MPI_ERR_NOT_SAME);
    MPI_File_create_errhandler(handler, &eh);
    OK(MPI_File_set_errhandler(f, eh));
    MPI_Errhandler_free(&eh);
    MPI_File_read(f, &v, 1, MPI_INT, &st);
    CHECK_EQ(handled, 1);
    CHECK(handled_file == f);
    MPI_File_get_errhandler(f, &eh);
    MPI_Errhandler_free(&eh);
    OK(MPI_File_close(&f));
    f = open_as(MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    CHECK_EQ(mt_class(MPI_File_write_at(f, 0, &v, 1, MPI_INT, &st)),
             MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_EQ(mt_class(MPI_File_get_position(f, &at)), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_EQ(mt_class(MPI_File_get_position_shared(f, &at)), MPI_ERR_UNSUPPORTED_OPERATION);
    OK(MPI_File_write_shared(f, &v, 1, MPI_INT, &st));
    OK(MPI_File_close(&f));
    f = open_as(MPI_MODE_WRONLY | MPI_MODE_APPEND);
    OK(MPI_File_get_position(f, &at));
    CHECK_EQ(at, 4 * mt_size);
    OK(MPI_File_get_position_shared(f, &at));
    CHECK_EQ(at, 4 * mt_size);
    OK(MPI_File_close(&f));
    gone();
}

static void hints_and_atomic(void)
{
    int flag = 0, v = mt_rank, w = -1;
    char text[64] = "";
    MPI_Info i, used;
    MPI_Status st;
    MPI_File f;
    MPI_Info_create(&i);
    MPI_Info_set(i, "cb_buffer_size", "65536");
    MPI_Info_set(i, "cb_nodes", "99999");
    MPI_Info_set(i, "romio_cb_write", "enable");
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, i, &f));
    OK(MPI_File_get_info(f, &used));
    MPI_Info_get(used, "cb_buffer_size", 63, text, &flag);
    CHECK(flag && !strcmp(text, "65536"));
    MPI_Info_get(used, "cb_nodes", 63, text, &flag);
    CHECK(flag && atoi(text) >= 1 && atoi(text) <= mt_size);
    MPI_Info_get(used, "romio_cb_write", 63, text, &flag);
    CHECK(flag && !strcmp(text, "enable"));
    MPI_Info_free(&used);
    MPI_Info_free(&i);
    OK(MPI_File_get_atomicity(f, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_File_set_atomicity(f, 1));
    OK(MPI_File_get_atomicity(f, &flag));
    CHECK_EQ(flag, 1);
    OK(MPI_File_write_at(f, mt_rank * 4, &v, 1, MPI_INT, &st));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_read_at(f, (mt_rank + 1) % mt_size * 4, &w, 1, MPI_INT, &st));
    CHECK_EQ(w, (mt_rank + 1) % mt_size);
    OK(MPI_File_close(&f));
    gone();
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    int id = (int)getpid();
    const char *dir = argc > 1 ? argv[1] : "/tmp";
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "%s/mt-io-%d", dir, id);
    life();
    pointers();
    views(0);
    views(1);
    shared();
    requests();
    representations();
    cut_struct();
    own_representation();
    errors();
    hints_and_atomic();
    return mt_finish();
}

/* odd.c - what programs rarely do with files: huge displacements, etypes with holes, overlapping
 * writers in atomic mode, several shared pointers, files that are opened twice, cut while others
 * read, read beyond their end; requests that are freed; with --huge (by hand) more than 2 GiB in
 * one access. */
#include "../mt.h"

#include <errno.h>
#include <unistd.h>

static char name[2][200];

#define OK(call) CHECK_EQ(call, MPI_SUCCESS)

static MPI_File opened(MPI_Comm c, int which, int more)
{
    MPI_File f = MPI_FILE_NULL;
    OK(MPI_File_open(c, name[which], MPI_MODE_CREATE | MPI_MODE_RDWR | more, MPI_INFO_NULL, &f));
    return f;
}

static void gone(int which)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank == 0)
        MPI_File_delete(name[which], MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int got(const MPI_Status *st, MPI_Datatype t)
{
    int n = -1;
    MPI_Get_count(st, t, &n);
    return n;
}

/* Bytes a terabyte from each other. Not all file systems have files so long. */
static void huge_displacements(void)
{
    const MPI_Aint tera = (MPI_Aint)1 << 40;
    char out[6] = {1, 2, 3, 4, 5, 6}, in[6] = {0};
    int len[2] = {1, 2};
    MPI_Aint at[2] = {0, tera};
    MPI_Offset where;
    MPI_Datatype t, ft;
    MPI_Status st;
    MPI_File f = opened(MPI_COMM_WORLD, 0, 0);
    if (MPI_File_set_size(f, 4 * tera + 100 * mt_size) == MPI_SUCCESS) {
        OK(MPI_File_set_size(f, 0));
        MPI_Type_create_hindexed(2, len, at, MPI_BYTE, &t);
        MPI_Type_create_resized(t, 0, 2 * tera, &ft);
        MPI_Type_commit(&ft);
        OK(MPI_File_set_view(f, 10 * mt_rank, MPI_BYTE, ft, "native", MPI_INFO_NULL));
        OK(MPI_File_write_all(f, out, 6, MPI_BYTE, &st));
        CHECK_EQ(got(&st, MPI_BYTE), 6);
        OK(MPI_File_get_byte_offset(f, 5, &where));
        CHECK_EQ(where, 10 * mt_rank + 3 * tera + 1);
        OK(MPI_File_read_at(f, 0, in, 6, MPI_BYTE, &st));
        CHECK(!memcmp(in, out, 6));
        OK(MPI_File_seek(f, 0, MPI_SEEK_END));
        OK(MPI_File_get_position(f, &where));
        CHECK_EQ(where, 6);
        OK(MPI_File_set_view(f, 3 * tera + 10 * mt_rank, MPI_BYTE, MPI_BYTE, "native",
                             MPI_INFO_NULL));
        memset(in, 0, 6);
        OK(MPI_File_read_at_all(f, 0, in, 6, MPI_BYTE, &st));
        CHECK(in[0] == 5 && in[1] == 6 && in[2] == 0);
        MPI_Type_free(&t);
        MPI_Type_free(&ft);
    }
    OK(MPI_File_close(&f));
    gone(0);
}

/* An etype of a byte and an int with a hole between, and a filetype of every mt_size-th of them. */
static void etype_with_holes(int collective)
{
    enum { N = 20 };
    struct unit {
        char c;
        int i;
    } out[N], in[N];
    int len[2] = {1, 1}, n;
    MPI_Aint at[2] = {0, 4};
    MPI_Datatype kinds[2] = {MPI_CHAR, MPI_INT}, e, ft;
    MPI_Offset where;
    MPI_Status st;
    MPI_File f = opened(MPI_COMM_WORLD, 0, 0);
    MPI_Type_create_struct(2, len, at, kinds, &e);
    MPI_Type_commit(&e);
    MPI_Type_create_resized(e, 0, 8 * (MPI_Aint)mt_size, &ft);
    MPI_Type_commit(&ft);
    memset(in, 0, sizeof in);
    for (int i = 0; i < N; i++)
        out[i] = (struct unit){(char)(i + mt_rank), i * 1000 + mt_rank};
    OK(MPI_File_set_view(f, 8 * mt_rank, e, ft, "native", MPI_INFO_NULL));
    if (collective)
        OK(MPI_File_write_at_all(f, 0, out, N, e, &st));
    else
        OK(MPI_File_write_at(f, 0, out, N, e, &st));
    CHECK_EQ(got(&st, e), N);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_byte_offset(f, 3, &where));
    CHECK_EQ(where, 8 * (mt_rank + 3 * mt_size));
    OK(MPI_File_read_at(f, N / 2, in, N, e, &st));
    CHECK_EQ(got(&st, e), N / 2);
    for (int i = 0; i < N / 2; i++)
        CHECK(in[i].c == out[i + N / 2].c && in[i].i == out[i + N / 2].i);
    /* the file ends within an element: how many basic ones are there? */
    OK(MPI_File_set_size(f, 8 * (MPI_Offset)mt_size + 2)); /* of rank 0 a char, and no int */
    OK(MPI_File_read_at_all(f, 0, in, N, e, &st));
    CHECK_EQ(got(&st, e), mt_rank ? 1 : MPI_UNDEFINED);
    MPI_Get_elements(&st, e, &n);
    CHECK_EQ(n, mt_rank ? 2 : 3);
    MPI_Type_free(&e);
    MPI_Type_free(&ft);
    OK(MPI_File_close(&f));
    gone(0);
}

/* All write the same blocks, some with gaps: each block of an access is of one writer, and what a
 * reader sees of them, too. */
static void atomic_overlap(int holes)
{
    enum { N = 3000, TURNS = 15 };
    static int v[N], w[N];
    MPI_Datatype ft = MPI_INT;
    MPI_Status st;
    MPI_File f = opened(MPI_COMM_WORLD, 0, 0);
    if (holes) {
        MPI_Type_create_resized(MPI_INT, 0, 12, &ft);
        MPI_Type_commit(&ft);
    }
    OK(MPI_File_set_view(f, 4, MPI_INT, ft, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(f, v, N, MPI_INT, &st));
    OK(MPI_File_set_atomicity(f, 1));
    for (int k = 0; k < TURNS; k++) {
        for (int i = 0; i < N; i++)
            v[i] = 1 + mt_rank + k * mt_size;
        if (k % 3 == 2)
            OK(MPI_File_write_at_all(f, 0, v, N, MPI_INT, &st));
        else
            OK(MPI_File_write_at(f, 0, v, N, MPI_INT, &st));
        OK(MPI_File_read_at(f, 0, w, N, MPI_INT, &st));
        CHECK_EQ(got(&st, MPI_INT), N);
        for (int i = 1; i < N; i++)
            if (!MUST(w[i] == w[0], "turn %d: %d of one writer, %d of another", k, w[0], w[i]))
                break;
    }
    if (holes)
        MPI_Type_free(&ft);
    OK(MPI_File_close(&f));
    gone(0);
}

/* All write every mt_size-th int, gaps included, and single ints between: no write is lost, and
 * none of several accesses under way. */
static void gaps_of_others(void)
{
    enum { N = 400, TURNS = 40, PARTS = 4 };
    static int v[PARTS * N], w[PARTS * N];
    MPI_Datatype ft;
    MPI_Info i;
    MPI_File f = MPI_FILE_NULL;
    MPI_Status st;
    MPI_Request r[PARTS];
    MPI_Info_create(&i);
    MPI_Info_set(i, "romio_ds_write", "enable");
    OK(MPI_File_open(MPI_COMM_WORLD, name[0], MPI_MODE_CREATE | MPI_MODE_RDWR, i, &f));
    MPI_Info_free(&i);
    MPI_Type_create_resized(MPI_INT, 0, 4 * (MPI_Aint)mt_size, &ft);
    MPI_Type_commit(&ft);
    OK(MPI_File_set_view(f, 4 * mt_rank, MPI_INT, ft, "native", MPI_INFO_NULL));
    for (int k = 0; k < TURNS; k++) {
        for (int n = 0; n < PARTS * N; n++)
            v[n] = k * 1000000 + mt_rank * 10000 + n;
        for (int p = 0; p < PARTS; p++)
            if (k % 2)
                OK(MPI_File_iwrite_at(f, p * N, v + p * N, N, MPI_INT, &r[p]));
            else
                OK(MPI_File_write_at(f, p * N, v + p * N, N, MPI_INT, &st));
        if (k % 2)
            OK(MPI_Waitall(PARTS, r, MPI_STATUSES_IGNORE));
        v[k] = -k;
        OK(MPI_File_write_at(f, k, v + k, 1, MPI_INT, &st));
        OK(MPI_File_read_at(f, 0, w, PARTS * N, MPI_INT, &st));
        CHECK(!memcmp(v, w, sizeof v));
    }
    MPI_Type_free(&ft);
    OK(MPI_File_close(&f));
    gone(0);
}

/* Two files with a shared pointer each, one of them opened twice: three pointers. */
static void shared_pointers(void)
{
    enum { TURNS = 6 };
    int v[3], *all = mt_alloc(sizeof(int) * 2 * TURNS * (size_t)mt_size), seen = 0;
    MPI_Offset at;
    MPI_Status st;
    MPI_File f[3] = {opened(MPI_COMM_WORLD, 0, 0), opened(MPI_COMM_WORLD, 1, 0), MPI_FILE_NULL};
    MPI_Request r;
    f[2] = opened(MPI_COMM_WORLD, 0, 0);
    for (int k = 0; k < 3; k++)
        OK(MPI_File_set_view(f[k], k == 2 ? 4000 : 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < TURNS; i++)
        for (int k = 0; k < 3; k++) {
            v[0] = v[1] = v[2] = mt_rank + 1;
            if (i % 2) {
                OK(MPI_File_write_shared(f[k], v, k + 1, MPI_INT, &st));
            } else {
                OK(MPI_File_iwrite_shared(f[k], v, k + 1, MPI_INT, &r));
                OK(MPI_Wait(&r, &st));
            }
            CHECK_EQ(got(&st, MPI_INT), k + 1);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < 3; k++) {
        OK(MPI_File_get_position_shared(f[k], &at));
        CHECK_EQ(at, TURNS * (k + 1) * mt_size);
    }
    OK(MPI_File_read_at(f[1], 0, all, 2 * TURNS * mt_size, MPI_INT, &st));
    for (int i = 0; i < TURNS * mt_size; i++) {
        CHECK_EQ(all[2 * i], all[2 * i + 1]);
        seen += all[2 * i];
    }
    CHECK_EQ(seen, TURNS * mt_size * (mt_size + 1) / 2);
    free(all);
    for (int k = 0; k < 3; k++)
        OK(MPI_File_close(&f[k]));
    gone(0);
    gone(1);
}

/* Locks that other hosts do not see: each process has a file of its own, in place of a file system
 * that keeps the locks of its host. For pretended hosts. */
static void lonely_locks(void)
{
    const char *hosts = getenv("MPIR_CVAR_NUM_CLIQUES");
    char mine[240], text[MPI_MAX_ERROR_STRING], gaps[20] = "";
    int err, len, flag;
    MPI_Info i, used;
    MPI_File f;
    if (mt_size == 1 || !hosts || atoi(hosts) < 2)
        return;
    snprintf(mine, sizeof mine, "%s-%d", name[0], mt_rank);
    fclose(fopen(mine, "w"));
    MPI_Info_create(&i);
    MPI_Info_set(i, "romio_ds_write", "enable");
    OK(MPI_File_open(MPI_COMM_WORLD, mine, MPI_MODE_RDWR, i, &f));
    OK(MPI_File_get_info(f, &used));
    MPI_Info_get(used, "romio_ds_write", 19, gaps, &flag);
    CHECK(!strcmp(gaps, "disable"));
    err = MPI_File_set_atomicity(f, 1);
    CHECK_EQ(mt_class(err), MPI_ERR_IO);
    MPI_Error_string(err, text, &len);
    MUST(strstr(text, "do not reach other hosts"), "%s", text);
    OK(MPI_File_get_atomicity(f, &flag));
    CHECK_EQ(flag, 0);
    MPI_Info_free(&i);
    MPI_Info_free(&used);
    OK(MPI_File_close(&f));
    unlink(mine);
}

/* Two handles of one file, which goes when the first of them is closed. */
static void opened_twice(void)
{
    int v = mt_rank + 5, w = 0;
    MPI_Status st;
    MPI_File f = opened(MPI_COMM_WORLD, 0, MPI_MODE_DELETE_ON_CLOSE), g, self;
    OK(MPI_File_open(MPI_COMM_WORLD, name[0], MPI_MODE_RDONLY, MPI_INFO_NULL, &g));
    OK(MPI_File_open(MPI_COMM_SELF, name[0], MPI_MODE_RDWR, MPI_INFO_NULL, &self));
    OK(MPI_File_write_at(self, 4 * mt_rank, &v, 4, MPI_BYTE, &st));
    OK(MPI_File_sync(f));
    OK(MPI_File_sync(self));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_sync(g));
    OK(MPI_File_read_at_all(g, 4 * ((mt_rank + 1) % mt_size), &w, 4, MPI_BYTE, &st));
    CHECK_EQ(w, (mt_rank + 1) % mt_size + 5);
    OK(MPI_File_close(&f));
    CHECK(access(name[0], F_OK) && errno == ENOENT);
    w = 0; /* what is open stays */
    OK(MPI_File_read_at_all(g, 4 * mt_rank, &w, 4, MPI_BYTE, &st));
    CHECK_EQ(w, mt_rank + 5);
    OK(MPI_File_close(&g));
    OK(MPI_File_close(&self));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One process cuts the file and lets it grow by a handle of its own while the others read. */
static void cut_while_read(void)
{
    enum { N = 100000, TURNS = 60 };
    static char out[N], in[N];
    MPI_Datatype ft;
    MPI_Status st;
    MPI_File f, self;
    int n;
    memset(out, 'x', N);
    f = opened(MPI_COMM_WORLD, 0, 0);
    self = opened(MPI_COMM_SELF, 0, 0);
    MPI_Type_create_resized(MPI_CHAR, 0, 3, &ft);
    MPI_Type_commit(&ft);
    OK(MPI_File_set_view(f, 0, MPI_CHAR, ft, "native", MPI_INFO_NULL));
    for (int k = 0; k < TURNS; k++) {
        if (mt_rank == 0) {
            OK(MPI_File_set_size(self, k * 7919 % N));
            OK(MPI_File_write_at(self, 0, out, k * 104729 % N, MPI_CHAR, &st));
            continue;
        }
        OK(MPI_File_read_at(f, 0, in, N, MPI_CHAR, &st));
        n = got(&st, MPI_CHAR);
        CHECK(n >= 0 && n <= N / 3 + 1);
        for (int i = 0; i < n; i++)
            if (!CHECK(in[i] == 'x' || in[i] == 0))
                break;
    }
    MPI_Type_free(&ft);
    OK(MPI_File_close(&self));
    OK(MPI_File_close(&f));
    gone(0);
}

/* Every kind of read at, across and beyond the end. */
static void beyond_end(void)
{
    int v[4] = {1, 2, 3, 4}, w[4] = {0}, flag = 0;
    MPI_Offset at;
    MPI_Request r;
    MPI_Status st;
    MPI_File f = opened(MPI_COMM_WORLD, 0, 0);
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    if (mt_rank == 0)
        OK(MPI_File_write_at(f, 0, v, 4, MPI_INT, &st));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_set_size(f, 14)); /* three ints and a half */
    OK(MPI_File_read_at(f, 2, w, 4, MPI_INT, &st));
    CHECK_EQ(got(&st, MPI_INT), MPI_UNDEFINED);
    CHECK_EQ(got(&st, MPI_BYTE), 6);
    OK(MPI_File_iread_at(f, 2, w, 4, MPI_INT, &r));
    while (!flag)
        OK(MPI_Test(&r, &flag, &st));
    CHECK_EQ(got(&st, MPI_BYTE), 6);
    OK(MPI_File_iread_at_all(f, 1000, w, 4, MPI_INT, &r));
    OK(MPI_Wait(&r, &st));
    CHECK_EQ(got(&st, MPI_INT), 0);
    OK(MPI_File_seek(f, 1, MPI_SEEK_END));
    OK(MPI_File_get_position(f, &at));
    OK(MPI_File_read(f, w, 4, MPI_INT, &st));
    CHECK_EQ(got(&st, MPI_INT), 0);
    OK(MPI_File_seek(f, -at, MPI_SEEK_CUR));
    OK(MPI_File_read_all(f, w, 3, MPI_INT, &st));
    CHECK(w[0] == 1 && w[2] == 3);
    OK(MPI_File_seek_shared(f, 100, MPI_SEEK_SET));
    OK(MPI_File_read_shared(f, w, 1, MPI_INT, &st));
    CHECK_EQ(got(&st, MPI_INT), 0);
    OK(MPI_File_read_ordered(f, w, 1, MPI_INT, &st));
    CHECK_EQ(got(&st, MPI_INT), 0);
    OK(MPI_File_read_at_all_begin(f, 3, w, 4, MPI_INT));
    OK(MPI_File_read_at_all_end(f, w, &st));
    CHECK_EQ(got(&st, MPI_BYTE), 2);
    OK(MPI_File_close(&f));
    gone(0);
}

/* No data, no memory, nothing to wait for. */
static void nothing(void)
{
    int v = 7, w = 0, none = 0;
    MPI_Aint at;
    MPI_Datatype empty, absolute;
    MPI_Request r[2];
    MPI_Status st;
    MPI_File f = opened(MPI_COMM_WORLD, 0, 0);
    OK(MPI_File_write_at_all(f, 0, NULL, 0, MPI_INT, &st));
    CHECK_EQ(got(&st, MPI_INT), 0);
    OK(MPI_File_iread_all(f, NULL, 0, MPI_INT, &r[0]));
    OK(MPI_Wait(&r[0], &st));
    CHECK_EQ(got(&st, MPI_INT), 0);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    OK(MPI_File_write_all(f, &none, 5, empty, &st));
    CHECK_EQ(got(&st, empty), 0);
    /* a process that sees nothing of the file takes part */
    OK(MPI_File_set_view(f, 0, MPI_INT, mt_rank % 2 ? empty : MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(f, 0, &v, mt_rank % 2 ? 0 : 1, MPI_INT, &st));
    MPI_Get_address(&w, &at);
    MPI_Type_create_hindexed(1, (int[]){1}, &at, MPI_INT, &absolute);
    MPI_Type_commit(&absolute);
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at_all(f, 0, MPI_BOTTOM, 1, absolute, &st));
    CHECK_EQ(w, 7);
    /* requests that are freed, and an end before theirs */
    OK(MPI_File_iwrite_at(f, 100 + mt_rank, &v, 1, MPI_INT, &r[0]));
    OK(MPI_Request_free(&r[0]));
    OK(MPI_File_iwrite_at_all(f, 200 + mt_rank, &v, 1, MPI_INT, &r[1]));
    OK(MPI_Request_free(&r[1]));
    MPI_Type_free(&empty);
    MPI_Type_free(&absolute);
    OK(MPI_File_close(&f));
    f = opened(MPI_COMM_WORLD, 0, 0);
    OK(MPI_File_read_at(f, 4 * (100 + mt_rank), &w, 4, MPI_BYTE, &st));
    CHECK_EQ(w, 7);
    w = 0;
    OK(MPI_File_read_at(f, 4 * (200 + mt_rank), &w, 4, MPI_BYTE, &st));
    CHECK_EQ(w, 7);
    OK(MPI_File_close(&f));
    gone(0);
}

/* While a split access waits for its end there is no other collective one; independent ones work.
 * Misuse changes nothing of what is under way. */
static void split_misuse(void)
{
    int v = 11 + mt_rank, w = 0;
    const int class = MPI_ERR_UNSUPPORTED_OPERATION;
    MPI_Offset size;
    MPI_Request r;
    MPI_Status st;
    MPI_File f = opened(MPI_COMM_WORLD, 0, 0);
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_EQ(mt_class(MPI_File_write_all_end(f, &v, &st)), class);
    OK(MPI_File_write_at_all_begin(f, mt_rank, &v, 1, MPI_INT));
    CHECK_EQ(mt_class(MPI_File_write_at_all_begin(f, 0, &w, 1, MPI_INT)), class);
    CHECK_EQ(mt_class(MPI_File_write_all_end(f, &v, &st)), class);
    CHECK_EQ(mt_class(MPI_File_read_at_all_end(f, &v, &st)), class);
    CHECK_EQ(mt_class(MPI_File_iwrite_all(f, &w, 1, MPI_INT, &r)), class);
    CHECK(r == MPI_REQUEST_NULL);
    CHECK_EQ(mt_class(MPI_File_write_ordered(f, &w, 1, MPI_INT, &st)), class);
    CHECK_EQ(mt_class(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL)), class);
    CHECK_EQ(mt_class(MPI_File_set_size(f, 0)), class);
    CHECK_EQ(mt_class(MPI_File_sync(f)), class);
    CHECK_EQ(mt_class(MPI_File_set_atomicity(f, 1)), class);
    OK(MPI_File_read_at(f, mt_rank, &w, 1, MPI_INT, &st));
    OK(MPI_File_get_size(f, &size));
    OK(MPI_File_write_at_all_end(f, &v, &st));
    CHECK_EQ(got(&st, MPI_INT), 1);
    CHECK_EQ(mt_class(MPI_File_write_at_all_end(f, &v, &st)), class);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_read_at_all(f, mt_rank, &w, 1, MPI_INT, &st));
    CHECK_EQ(w, v);
    OK(MPI_File_close(&f));
    gone(0);
}

/* Memory that goes downwards from its first element; filetypes with a negative lower bound. */
static void negative_bounds(void)
{
    enum { N = 500 };
    int v[N], w[N];
    MPI_Datatype down, ft, t;
    MPI_Status st;
    MPI_File f = opened(MPI_COMM_WORLD, 0, 0);
    for (int i = 0; i < N; i++)
        v[i] = mt_rank * 1000 + i;
    MPI_Type_create_hvector(N, 1, -(MPI_Aint)sizeof(int), MPI_INT, &down);
    MPI_Type_commit(&down);
    MPI_Type_create_resized(MPI_INT, -8, 4 * (MPI_Aint)mt_size, &ft);
    MPI_Type_commit(&ft);
    OK(MPI_File_set_view(f, 4 * mt_rank, MPI_INT, ft, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(f, 0, &v[N - 1], 1, down, &st));
    CHECK_EQ(got(&st, down), 1);
    OK(MPI_File_read_at(f, 0, w, N, MPI_INT, &st));
    for (int i = 0; i < N; i++)
        if (!CHECK_EQ(w[i], v[N - 1 - i]))
            break;
    memset(w, 0, sizeof w);
    OK(MPI_File_read_at_all(f, 0, &w[N - 1], 1, down, &st));
    CHECK(!memcmp(w, v, sizeof w));
    MPI_Type_free(&ft);
    /* data in front of the displacement are an error */
    MPI_Type_create_hvector(1, 1, 4, MPI_INT, &t);
    MPI_Type_create_hindexed(1, &(int){1}, &(MPI_Aint){-4}, t, &ft);
    MPI_Type_commit(&ft);
    CHECK(MPI_File_set_view(f, 0, MPI_INT, ft, "native", MPI_INFO_NULL) != MPI_SUCCESS);
    MPI_Type_free(&t);
    MPI_Type_free(&ft);
    MPI_Type_free(&down);
    OK(MPI_File_close(&f));
    gone(0);
}

/* One process writes more than 2 GiB and 2^31 elements of a memory that is one MiB; another reads
 * the last of it. */
static void huge(void)
{
    const MPI_Count mib = 1 << 20, n = 2050 * mib;
    char *m = mt_alloc((size_t)mib), last[10] = "";
    MPI_Datatype t, row;
    MPI_Count c;
    MPI_Request r;
    MPI_Status st;
    MPI_File f = opened(MPI_COMM_WORLD, 0, 0);
    for (int i = 0; i < mib; i++)
        m[i] = (char)(i % 101);
    MPI_Type_contiguous(1 << 20, MPI_BYTE, &t);
    MPI_Type_create_resized(t, 0, 0, &row);
    MPI_Type_commit(&row);
    if (mt_rank == 0)
        OK(MPI_File_write_at_c(f, 5, m, 2050, row, &st));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_read_at(f, 5 + n - 10, last, 10, MPI_BYTE, &st));
    CHECK(!memcmp(last, m + mib - 10, 10));
    if (mt_rank == 0) {
        char *big = mt_alloc((size_t)n);
        OK(MPI_File_iread_at_c(f, 5, big, n, MPI_BYTE, &r));
        OK(MPI_Wait(&r, &st));
        MPI_Get_count_c(&st, MPI_BYTE, &c);
        CHECK_EQ(c, n);
        CHECK_EQ(got(&st, MPI_BYTE), MPI_UNDEFINED);
        CHECK_EQ(got(&st, row), 2050);
        for (MPI_Count i = 0; i < n; i += mib)
            if (!CHECK(!memcmp(big + i, m, (size_t)mib)))
                break;
        free(big);
    }
    free(m);
    MPI_Type_free(&t);
    MPI_Type_free(&row);
    OK(MPI_File_close(&f));
    gone(0);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    int id = (int)getpid(), by_hand = argc > 1 && !strcmp(argv[1], "--huge");
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int k = 0; k < 2; k++)
        snprintf(name[k], sizeof name[k], "%s/mt-io-odd-%d-%d", by_hand && argc > 2 ? argv[2]
                                                                                  : "/tmp", id, k);
    if (by_hand) {
        huge();
        return mt_finish();
    }
    huge_displacements();
    negative_bounds();
    etype_with_holes(0);
    etype_with_holes(1);
    atomic_overlap(0);
    atomic_overlap(1);
    gaps_of_others();
    shared_pointers();
    lonely_locks();
    opened_twice();
    cut_while_read();
    beyond_end();
    nothing();
    split_misuse();
    return mt_finish();
}

/* envelope.c - what the library remembers of each constructor (envelope, contents), darray, names,
 * match_size, the removed MPI-1 forms, zero counts, types beyond 2 GiB. */
#include "../mt.h"

static void check_env(MPI_Datatype t, int want, int ni, int na, int nd, const char *what)
{
    int i, a, d, c;

    MPI_Type_get_envelope(t, &i, &a, &d, &c);
    MUST(c == want && i == ni && a == na && d == nd, "envelope of %s: combiner %d, %d %d %d", what,
         c, i, a, d);
}

static void contents(void)
{
    MPI_Datatype t, u, d[3];
    int in[20], len[2] = { 1, 2 }, disp[2] = { 4, 0 };
    MPI_Aint a[4], h[2] = { 16, 0 };

    check_env(MPI_INT, MPI_COMBINER_NAMED, 0, 0, 0, "MPI_INT");
    MPI_Type_contiguous(5, MPI_INT, &t);
    check_env(t, MPI_COMBINER_CONTIGUOUS, 1, 0, 1, "contiguous");
    MPI_Type_get_contents(t, 1, 0, 1, in, a, d);
    CHECK(in[0] == 5 && d[0] == MPI_INT);
    MPI_Type_vector(3, 2, 4, t, &u);
    check_env(u, MPI_COMBINER_VECTOR, 3, 0, 1, "vector");
    MPI_Type_get_contents(u, 3, 0, 1, in, a, d);
    CHECK(in[0] == 3 && in[1] == 2 && in[2] == 4);
    check_env(d[0], MPI_COMBINER_CONTIGUOUS, 1, 0, 1, "contents of vector");
    MPI_Type_free(&d[0]);
    MPI_Type_free(&u);
    MPI_Type_create_hvector(3, 2, -24, MPI_INT, &u);
    check_env(u, MPI_COMBINER_HVECTOR, 2, 1, 1, "hvector");
    MPI_Type_get_contents(u, 2, 1, 1, in, a, d);
    CHECK(in[0] == 3 && in[1] == 2 && a[0] == -24);
    MPI_Type_free(&u);
    MPI_Type_indexed(2, len, disp, MPI_INT, &u);
    check_env(u, MPI_COMBINER_INDEXED, 5, 0, 1, "indexed");
    MPI_Type_get_contents(u, 5, 0, 1, in, a, d);
    CHECK(in[0] == 2 && in[1] == 1 && in[2] == 2 && in[3] == 4 && in[4] == 0);
    MPI_Type_free(&u);
    MPI_Type_create_hindexed(2, len, h, MPI_INT, &u);
    check_env(u, MPI_COMBINER_HINDEXED, 3, 2, 1, "hindexed");
    MPI_Type_get_contents(u, 3, 2, 1, in, a, d);
    CHECK(in[0] == 2 && in[2] == 2 && a[0] == 16);
    MPI_Type_free(&u);
    MPI_Type_create_indexed_block(2, 2, disp, MPI_INT, &u);
    check_env(u, MPI_COMBINER_INDEXED_BLOCK, 4, 0, 1, "indexed_block");
    MPI_Type_free(&u);
    MPI_Type_create_hindexed_block(2, 2, h, MPI_INT, &u);
    check_env(u, MPI_COMBINER_HINDEXED_BLOCK, 2, 2, 1, "hindexed_block");
    MPI_Type_free(&u);
    MPI_Type_create_struct(2, len, h, (MPI_Datatype[]){ MPI_INT, MPI_DOUBLE }, &u);
    check_env(u, MPI_COMBINER_STRUCT, 3, 2, 2, "struct");
    MPI_Type_get_contents(u, 3, 2, 2, in, a, d);
    CHECK(d[0] == MPI_INT && d[1] == MPI_DOUBLE);
    MPI_Type_free(&u);
    MPI_Type_create_subarray(2, (int[]){4, 5}, (int[]){2, 3}, (int[]){1, 1}, MPI_ORDER_C, MPI_INT,
                             &u);
    check_env(u, MPI_COMBINER_SUBARRAY, 8, 0, 1, "subarray");
    MPI_Type_get_contents(u, 8, 0, 1, in, a, d);
    CHECK(in[0] == 2 && in[1] == 4 && in[3] == 2 && in[5] == 1 && in[7] == MPI_ORDER_C);
    MPI_Type_free(&u);
    MPI_Type_create_resized(MPI_INT, -4, 20, &u);
    check_env(u, MPI_COMBINER_RESIZED, 0, 2, 1, "resized");
    MPI_Type_get_contents(u, 0, 2, 1, in, a, d);
    CHECK(a[0] == -4 && a[1] == 20);
    MPI_Type_free(&u);
    MPI_Type_dup(t, &u);
    check_env(u, MPI_COMBINER_DUP, 0, 0, 1, "dup");
    MPI_Type_free(&u);
    MPI_Type_free(&t);
}

/* Every element of a block-cyclic array belongs to exactly one process. */
static void darray(int block, int order)
{
    enum { X = 13, Y = 11, P = 6 };
    int gs[2] = { X, Y }, ps[2] = { 2, 3 }, args[2], dist[2], r, i, n, size, bad = 0;
    static int whole[X * Y], owner[X * Y], packed[X * Y];
    MPI_Datatype t;
    MPI_Aint lb, ext;

    args[0] = block ? block : MPI_DISTRIBUTE_DFLT_DARG;
    args[1] = MPI_DISTRIBUTE_DFLT_DARG;
    dist[0] = block ? MPI_DISTRIBUTE_CYCLIC : MPI_DISTRIBUTE_BLOCK;
    dist[1] = MPI_DISTRIBUTE_BLOCK;
    for (i = 0; i < X * Y; i++) {
        whole[i] = i;
        owner[i] = 0;
    }
    for (r = 0; r < P; r++) {
        int pos = 0;

        MPI_Type_create_darray(P, r, 2, gs, dist, args, ps, order, MPI_INT, &t);
        MPI_Type_commit(&t);
        MPI_Type_size(t, &size);
        MPI_Type_get_extent(t, &lb, &ext);
        CHECK(lb == 0 && ext == 4 * X * Y);
        n = size / 4;
        MPI_Pack(whole, 1, t, packed, sizeof packed, &pos, MPI_COMM_SELF);
        for (i = 0; i < n; i++) {
            int x = order == MPI_ORDER_C ? packed[i] / Y : packed[i] % X,
                y = order == MPI_ORDER_C ? packed[i] % Y : packed[i] / X;
            int px = block ? x / block % 2 : x / ((X + 1) / 2), py = y / ((Y + 2) / 3);

            owner[packed[i]]++;
            bad += px * 3 + py != r;
        }
        MPI_Type_free(&t);
    }
    for (i = 0; i < X * Y; i++)
        bad += owner[i] != 1;
    MUST(bad == 0, "darray with blocks of %d: %d elements misplaced", block, bad);
}

static void misc(void)
{
    MPI_Datatype t, u;
    char name[MPI_MAX_OBJECT_NAME];
    int len, size;
    MPI_Count c, lbx, ex;
    MPI_Aint lb, ext;

    MPI_Type_get_name(MPI_DOUBLE, name, &len);
    CHECK(strcmp(name, "MPI_DOUBLE") == 0);
    MPI_Type_get_name(MPI_INT64_T, name, &len);
    CHECK(strcmp(name, "MPI_INT64_T") == 0);
    MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &t);
    MPI_Type_size(t, &size);
    CHECK_EQ(size, 4);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &t);
    MPI_Type_size(t, &size);
    CHECK_EQ(size, 8);
    MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, &t);
    MPI_Type_size(t, &size);
    CHECK_EQ(size, 16);

    MPI_Type_contiguous(0, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_Type_size(t, &size);
    CHECK_EQ(size, 0);
    MPI_Type_get_extent(t, &lb, &ext);
    CHECK(lb == 0 && ext == 0);
    MPI_Sendrecv(NULL, 3, t, mt_rank, 1, NULL, 5, t, mt_rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&t);

    /* beyond 2 GiB: sizes only */
    MPI_Type_contiguous(1 << 30, MPI_DOUBLE, &t);
    MPI_Type_size_x(t, &c);
    CHECK_EQ(c, (MPI_Count)8 << 30);
    MPI_Type_size(t, &size);
    CHECK_EQ(size, MPI_UNDEFINED);
    MPI_Type_vector(4, 1, 3, t, &u);
    MPI_Type_size_x(u, &c);
    CHECK_EQ(c, (MPI_Count)32 << 30);
    MPI_Type_get_extent_x(u, &lbx, &ex);
    CHECK_EQ(ex, (MPI_Count)80 << 30);
    MPI_Type_free(&u);
    MPI_Type_free(&t);
    CHECK_EQ(MPI_Aint_diff(MPI_Aint_add((MPI_Aint)1000, 24), 1000), 24);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    contents();
    darray(0, MPI_ORDER_C);
    darray(0, MPI_ORDER_FORTRAN);
    darray(2, MPI_ORDER_C);
    darray(3, MPI_ORDER_FORTRAN);
    misc();
    return mt_finish();
}

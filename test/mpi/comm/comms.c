/* comms.c - communicators and groups: split, dup, create, create_group, split_type, idup, compare,
 * names; traffic on one never shows on another; thousands of dup and free. */
#include "../mt.h"

/* A message on each of two communicators with the same tag: each arrives on its own. */
static void separate(MPI_Comm a, MPI_Comm b)
{
    int r, n, left, right, va, vb, x = -1, y = -1;
    MPI_Request req[2];

    MPI_Comm_rank(a, &r);
    MPI_Comm_size(a, &n);
    right = (r + 1) % n;
    left = (r + n - 1) % n;
    va = 100 + r;
    vb = 200 + r;
    MPI_Isend(&va, 1, MPI_INT, right, 0, a, &req[0]);
    MPI_Isend(&vb, 1, MPI_INT, right, 0, b, &req[1]);
    MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, b, MPI_STATUS_IGNORE);
    MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, a, MPI_STATUS_IGNORE);
    MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
    CHECK_EQ(x, 100 + left);
    CHECK_EQ(y, 200 + left);
}

static void basics(void)
{
    MPI_Comm d, e, f;
    MPI_Request req;
    int cmp, n, r, len;
    char name[MPI_MAX_OBJECT_NAME];

    MPI_Comm_get_name(MPI_COMM_WORLD, name, &len);
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &d);
    MPI_Comm_compare(MPI_COMM_WORLD, d, &cmp);
    CHECK_EQ(cmp, MPI_CONGRUENT);
    MPI_Comm_compare(d, d, &cmp);
    CHECK_EQ(cmp, MPI_IDENT);
    MPI_Comm_get_name(d, name, &len);
    CHECK_EQ(len, 0);
    MPI_Comm_set_name(d, "a copy");
    MPI_Comm_get_name(d, name, &len);
    CHECK(strcmp(name, "a copy") == 0 && len == 6);
    separate(MPI_COMM_WORLD, d);

    MPI_Comm_idup(d, &e, &req);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    separate(d, e);
    MPI_Comm_free(&d);
    CHECK(d == MPI_COMM_NULL);
    MPI_Comm_split(MPI_COMM_WORLD, 3, mt_size - mt_rank, &f);
    MPI_Comm_compare(MPI_COMM_WORLD, f, &cmp);
    CHECK_EQ(cmp, mt_size > 1 ? MPI_SIMILAR : MPI_CONGRUENT);
    MPI_Comm_rank(f, &r);
    CHECK_EQ(r, mt_size - 1 - mt_rank);
    separate(e, MPI_COMM_WORLD);
    MPI_Comm_free(&e);
    MPI_Comm_free(&f);

    MPI_Comm_split(MPI_COMM_WORLD, mt_rank == 0 ? MPI_UNDEFINED : mt_rank % 3, 0, &f);
    if (mt_rank == 0)
        CHECK(f == MPI_COMM_NULL);
    else {
        int k, want = 0;

        for (k = 1; k < mt_size; k++)
            want += k % 3 == mt_rank % 3;
        MPI_Comm_size(f, &n);
        CHECK_EQ(n, want);
        MPI_Allreduce(&mt_rank, &r, 1, MPI_INT, MPI_MIN, f);
        CHECK_EQ(r, mt_rank % 3 == 0 ? 3 : mt_rank % 3);
        MPI_Comm_free(&f);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &f);
    CHECK(f != MPI_COMM_NULL);
    MPI_Comm_size(f, &n);
    CHECK(n >= 1 && n <= mt_size);
    MPI_Comm_test_inter(f, &r);
    CHECK_EQ(r, 0);
    MPI_Comm_free(&f);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &f);
    CHECK(f == MPI_COMM_NULL);
    MPI_Comm_compare(MPI_COMM_SELF, MPI_COMM_WORLD, &cmp);
    CHECK_EQ(cmp, mt_size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
}

static void groups(void)
{
    MPI_Group w, a, b, u, i, d, e;
    int ranks[2] = {0, mt_size - 1}, n, r, cmp, t[2], k, ranges[1][3] = {{mt_size - 1, 0, -1}};

    MPI_Comm_group(MPI_COMM_WORLD, &w);
    MPI_Group_size(w, &n);
    CHECK_EQ(n, mt_size);
    MPI_Group_rank(w, &r);
    CHECK_EQ(r, mt_rank);
    MPI_Group_incl(w, mt_size > 1 ? 2 : 1, ranks, &a);
    MPI_Group_excl(w, 1, ranks, &b);
    MPI_Group_size(b, &n);
    CHECK_EQ(n, mt_size - 1);
    if (mt_size == 1)
        CHECK(b == MPI_GROUP_EMPTY);
    MPI_Group_union(a, b, &u);
    MPI_Group_size(u, &n);
    CHECK_EQ(n, mt_size);
    MPI_Group_intersection(a, b, &i);
    MPI_Group_size(i, &n);
    CHECK_EQ(n, mt_size > 1 ? 1 : 0);
    MPI_Group_difference(a, b, &d);
    MPI_Group_size(d, &n);
    CHECK_EQ(n, 1);
    MPI_Group_rank(d, &r);
    CHECK_EQ(r, mt_rank == 0 ? 0 : MPI_UNDEFINED);
    MPI_Group_range_incl(w, 1, ranges, &e);
    MPI_Group_compare(w, e, &cmp);
    CHECK_EQ(cmp, mt_size == 1 ? MPI_IDENT : MPI_SIMILAR);
    for (k = 0; k < mt_size; k++) {
        MPI_Group_translate_ranks(w, 1, &k, e, t);
        CHECK_EQ(t[0], mt_size - 1 - k);
    }
    k = MPI_PROC_NULL;
    MPI_Group_translate_ranks(w, 1, &k, e, t);
    CHECK_EQ(t[0], MPI_PROC_NULL);
    MPI_Group_free(&e);
    MPI_Group_range_excl(w, 1, ranges, &e);
    MPI_Group_size(e, &n);
    CHECK_EQ(n, 0);
    if (e != MPI_GROUP_EMPTY)
        MPI_Group_free(&e);
    MPI_Group_free(&w), MPI_Group_free(&a), MPI_Group_free(&u);
    if (b != MPI_GROUP_EMPTY)
        MPI_Group_free(&b);
    if (i != MPI_GROUP_EMPTY)
        MPI_Group_free(&i);
    MPI_Group_free(&d);
}

static void creates(void)
{
    MPI_Group w, even;
    MPI_Comm c, g;
    int ranks[64], n = 0, k, r, sum;

    for (k = mt_size - 1; k >= 0; k--)      /* even ranks, the last one first */
        if (k % 2 == 0)
            ranks[n++] = k;
    MPI_Comm_group(MPI_COMM_WORLD, &w);
    MPI_Group_incl(w, n, ranks, &even);
    MPI_Comm_create(MPI_COMM_WORLD, even, &c);
    if (mt_rank % 2) {
        CHECK(c == MPI_COMM_NULL);
    } else {
        MPI_Comm_rank(c, &r);
        CHECK_EQ(r, n - 1 - mt_rank / 2);
        MPI_Allreduce(&mt_rank, &sum, 1, MPI_INT, MPI_SUM, c);
        CHECK_EQ(sum, n * (n - 1));
        /* collective over the group only: the others are elsewhere */
        MPI_Comm_create_group(MPI_COMM_WORLD, even, 77, &g);
        MPI_Allreduce(&mt_rank, &sum, 1, MPI_INT, MPI_SUM, g);
        CHECK_EQ(sum, n * (n - 1));
        separate(c, g);
        MPI_Comm_free(&g);
        MPI_Comm_free(&c);
    }
    MPI_Group_free(&even);
    MPI_Group_free(&w);
}

/* Context numbers come back: many more communicators than any table holds, in waves. */
static void many(void)
{
    enum { WAVE = 60 };
    MPI_Comm c[WAVE], half;
    int i, k, s;

    for (i = 0; i < 2500; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &c[0]);
        MPI_Comm_free(&c[0]);
    }
    for (k = 0; k < 10; k++) {
        for (i = 0; i < WAVE; i++)
            MPI_Comm_dup(i ? c[i - 1] : MPI_COMM_WORLD, &c[i]);
        for (i = 0; i < WAVE; i += 7) {
            MPI_Allreduce(&i, &s, 1, MPI_INT, MPI_SUM, c[i]);
            CHECK_EQ(s, i * mt_size);
        }
        separate(c[0], c[WAVE - 1]);
        for (i = 0; i < WAVE; i++)            /* free in another order */
            MPI_Comm_free(&c[i * 7 % WAVE]);
    }
    /* halves of the world make theirs at different times */
    MPI_Comm_split(MPI_COMM_WORLD, mt_rank % 2, mt_rank, &half);
    for (i = 0; i < (mt_rank % 2 ? 100 : 300); i++) {
        MPI_Comm_dup(half, &c[0]);
        MPI_Barrier(c[0]);
        MPI_Comm_free(&c[0]);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &c[0]);
    separate(MPI_COMM_WORLD, c[0]);
    MPI_Comm_free(&c[0]);
    MPI_Comm_free(&half);
    /* a communicator may be freed while its messages are under way */
    MPI_Comm_dup(MPI_COMM_WORLD, &c[0]);
    {
        int out = mt_rank, in = -1, right = (mt_rank + 1) % mt_size,
            left = (mt_rank + mt_size - 1) % mt_size;
        MPI_Request req[2];

        MPI_Irecv(&in, 1, MPI_INT, left, 0, c[0], &req[0]);
        MPI_Isend(&out, 1, MPI_INT, right, 0, c[0], &req[1]);
        MPI_Comm_free(&c[0]);
        MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
        CHECK_EQ(in, left);
    }
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    basics();
    groups();
    creates();
    many();
    return mt_finish();
}

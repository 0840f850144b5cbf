/* types.c - messages of derived datatypes: the bytes in the type map arrive, the gaps stay as they
 * were; sender and receiver may describe the same signature differently. */
#include "../mt.h"

enum { KINDS = 9 };

/* A type of `*ints` MPI_INTs in all; offs gets their byte offsets. */
static MPI_Datatype make(int kind, int *ints, MPI_Aint *offs)
{
    MPI_Datatype t, u;
    MPI_Aint d[3];
    int i, k, n = 0, lens[3] = { 2, 1, 3 }, disp[3] = { 8, 0, 3 };

    switch (kind) {
    case 0:
        MPI_Type_contiguous(6, MPI_INT, &t);
        for (i = 0; i < 6; i++)
            offs[n++] = 4 * i;
        break;
    case 1:
        MPI_Type_vector(3, 2, 5, MPI_INT, &t);
        for (i = 0; i < 3; i++)
            for (k = 0; k < 2; k++)
                offs[n++] = 4 * (5 * i + k);
        break;
    case 2:
        MPI_Type_create_hvector(6, 1, 12, MPI_INT, &t);
        for (i = 0; i < 6; i++)
            offs[n++] = 12 * i;
        break;
    case 3:
        MPI_Type_indexed(3, lens, disp, MPI_INT, &t);
        for (i = 0; i < 3; i++)
            for (k = 0; k < lens[i]; k++)
                offs[n++] = 4 * (disp[i] + k);
        break;
    case 4:
        MPI_Type_create_indexed_block(3, 2, (int[]){ 9, 4, 0 }, MPI_INT, &t);
        for (i = 0; i < 3; i++)
            for (k = 0; k < 2; k++)
                offs[n++] = 4 * ((i == 0 ? 9 : i == 1 ? 4 : 0) + k);
        break;
    case 5:
        d[0] = 40, d[1] = 0, d[2] = 20;
        MPI_Type_create_hindexed(3, lens, d, MPI_INT, &t);
        for (i = 0; i < 3; i++)
            for (k = 0; k < lens[i]; k++)
                offs[n++] = d[i] + 4 * k;
        break;
    case 6:
        d[0] = 0, d[1] = 12, d[2] = 32;
        MPI_Type_create_struct(3, lens, d, (MPI_Datatype[]){ MPI_INT, MPI_INT, MPI_INT }, &t);
        for (i = 0; i < 3; i++)
            for (k = 0; k < lens[i]; k++)
                offs[n++] = d[i] + 4 * k;
        break;
    case 7:
        MPI_Type_create_subarray(2, (int[]){4, 5}, (int[]){3, 2}, (int[]){1, 2}, MPI_ORDER_C,
                                 MPI_INT, &t);
        for (i = 1; i < 4; i++)
            for (k = 2; k < 4; k++)
                offs[n++] = 4 * (5 * i + k);
        break;
    default:                     /* a vector of a resized vector */
        MPI_Type_vector(3, 1, 2, MPI_INT, &u);
        MPI_Type_create_resized(u, 0, 4, &t);
        MPI_Type_free(&u);
        u = t;
        MPI_Type_create_hvector(2, 1, 40, u, &t);
        MPI_Type_free(&u);
        for (i = 0; i < 2; i++)
            for (k = 0; k < 3; k++)
                offs[n++] = 40 * i + 8 * k;
        break;
    }
    MPI_Type_commit(&t);
    *ints = n;
    return t;
}

static void pair(int a, int b, int count)
{
    int left = (mt_rank + mt_size - 1) % mt_size, right = (mt_rank + 1) % mt_size, na, nb, i, k, e;
    MPI_Aint oa[8], ob[8], lb, xa, xb;
    MPI_Datatype ta = make(a, &na, oa), tb = make(b, &nb, ob);
    size_t room;
    char *out, *in;
    int *want;
    MPI_Status st;
    MPI_Request req;

    MPI_Type_get_extent(ta, &lb, &xa);
    MPI_Type_get_extent(tb, &lb, &xb);
    room = (size_t)((xa > xb ? xa : xb) * count + 200);
    out = mt_alloc(room);
    in = mt_alloc(room);
    want = mt_alloc(room);
    memset(in, 0x5a, room);
    memset(want, 0x5a, room);
    mt_fill(out, room, 99);
    for (i = 0; i < count; i++)
        for (k = 0; k < na; k++) {
            e = mt_rank * 1000000 + i * na + k;
            memcpy(out + i * xa + oa[k], &e, 4);
            e = left * 1000000 + i * na + k;
            memcpy((char *)want + i * xb + ob[k], &e, 4);
        }
    MPI_Irecv(in, count, tb, left, 1, MPI_COMM_WORLD, &req);
    MPI_Send(out, count, ta, right, 1, MPI_COMM_WORLD);
    MPI_Wait(&req, &st);
    MUST(memcmp(in, want, room) == 0, "type %d to type %d, count %d", a, b, count);
    MPI_Get_count(&st, tb, &k);
    CHECK_EQ(k, count);
    MPI_Get_elements(&st, tb, &k);
    CHECK_EQ(k, count * nb);
    MPI_Type_free(&ta);
    MPI_Type_free(&tb);
    free(out);
    free(in);
    free(want);
}

/* Fewer elements than one whole type: count undefined, elements exact. */
static void partial(void)
{
    int left = (mt_rank + mt_size - 1) % mt_size, right = (mt_rank + 1) % mt_size, n, in[40],
        out[4] = {1, 2, 3, 4};
    MPI_Aint offs[8];
    MPI_Datatype t = make(1, &n, offs);
    MPI_Status st;

    memset(in, 0, sizeof in);
    MPI_Sendrecv(out, 4, MPI_INT, right, 1, in, 2, t, left, 1, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, t, &n);
    CHECK_EQ(n, MPI_UNDEFINED);
    MPI_Get_elements(&st, t, &n);
    CHECK_EQ(n, 4);
    CHECK(in[0] == 1 && in[1] == 2 && in[2] == 0 && in[5] == 3 && in[6] == 4 && in[10] == 0);
    MPI_Type_free(&t);
}

/* MPI_BOTTOM with absolute addresses, MPI_PACKED. */
static void bottom_and_packed(void)
{
    int left = (mt_rank + mt_size - 1) % mt_size, right = (mt_rank + 1) % mt_size, a = mt_rank,
        pos = 0, n, i;
    double b = mt_rank + 0.5, y = 0;
    char buf[200], back[200];
    MPI_Aint d[2];
    MPI_Datatype t;
    int x = -1;
    MPI_Status st;

    MPI_Get_address(&a, &d[0]);
    MPI_Get_address(&b, &d[1]);
    MPI_Type_create_struct(2, (int[]){ 1, 1 }, d, (MPI_Datatype[]){ MPI_INT, MPI_DOUBLE }, &t);
    MPI_Type_commit(&t);
    MPI_Sendrecv(MPI_BOTTOM, 1, t, right, 1, back, 200, MPI_PACKED, left, 1, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, MPI_PACKED, &n);
    MPI_Unpack(back, n, &pos, &x, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(back, n, &pos, &y, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    CHECK_EQ(x, left);
    CHECK(y == left + 0.5);
    pos = 0;
    for (i = 0; i < 3; i++) {
        MPI_Pack(&a, 1, MPI_INT, buf, sizeof buf, &pos, MPI_COMM_WORLD);
        MPI_Pack(&b, 1, MPI_DOUBLE, buf, sizeof buf, &pos, MPI_COMM_WORLD);
    }
    n = 0;
    for (i = 0; i < 3; i++) {
        MPI_Unpack(buf, pos, &n, &x, 1, MPI_INT, MPI_COMM_WORLD);
        MPI_Unpack(buf, pos, &n, &y, 1, MPI_DOUBLE, MPI_COMM_WORLD);
        CHECK(x == mt_rank && y == mt_rank + 0.5);
    }
    MPI_Type_free(&t);
}

int main(int argc, char **argv)
{
    int a, b;

    mt_init(&argc, &argv);
    for (a = 0; a < KINDS; a++)
        for (b = 0; b < KINDS; b++) {
            pair(a, b, 1);
            if (a == b || (a + b) % 4 == 0)
                pair(a, b, 20000);
        }
    partial();
    bottom_and_packed();
    return mt_finish();
}

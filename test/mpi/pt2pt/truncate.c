/* truncate.c - a message longer than the receive buffer: MPI_ERR_TRUNCATE, nothing written past the
 * buffer, and the next message comes through. Eager and rendezvous, posted and unexpected,
 * mrecv. */
#include "../mt.h"

static void one(int sent, int room, int how)
{
    int left = (mt_rank + mt_size - 1) % mt_size, right = (mt_rank + 1) % mt_size, err, v = -1, i;
    char *out = mt_alloc((size_t)sent), *in = mt_alloc((size_t)room + 64);
    MPI_Request req, r;
    MPI_Status st;
    MPI_Message msg;

    mt_fill(out, (size_t)sent, 1);
    memset(in, 42, (size_t)room + 64);
    if (how == 0) {
        MPI_Irecv(in, room, MPI_BYTE, left, 1, MPI_COMM_WORLD, &r);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Isend(out, sent, MPI_BYTE, right, 1, MPI_COMM_WORLD, &req);
        err = MPI_Wait(&r, &st);
    } else {
        MPI_Isend(out, sent, MPI_BYTE, right, 1, MPI_COMM_WORLD, &req);
        MPI_Barrier(MPI_COMM_WORLD);
        if (how == 1)
            err = MPI_Recv(in, room, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &st);
        else {
            MPI_Mprobe(left, 1, MPI_COMM_WORLD, &msg, &st);
            err = MPI_Mrecv(in, room, MPI_BYTE, &msg, &st);
        }
    }
    MUST(mt_class(err) == MPI_ERR_TRUNCATE, "sent %d room %d how %d: class %d", sent, room, how,
         mt_class(err));
    err = MPI_Wait(&req, MPI_STATUS_IGNORE);
    CHECK(err == MPI_SUCCESS || mt_class(err) == MPI_ERR_TRUNCATE);
    for (i = room; i < room + 64; i++)
        if (in[i] != 42) {
            MUST(0, "byte %d past a buffer of %d was written", i, room);
            break;
        }
    MPI_Sendrecv(&mt_rank, 1, MPI_INT, right, 1, &v, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &st);
    CHECK_EQ(v, left);
    free(out);
    free(in);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int how;

    mt_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (how = 0; how < 3; how++) {
        one(8, 4, how);
        one(8, 0, how);
        one(5000, 4999, how);
        one(2000000, 1000, how);
        one(2000000, 1999999, how);
    }
    return mt_finish();
}

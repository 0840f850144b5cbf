// Open MPI's C++ bindings: objects, an operation in C++, a window, a datatype. Compiled with Open
// MPI's mpicxx.
#include <cstdio>
#include <mpi.h>

static int int_seen;

static void add(const void *in, void *inout, int len, const MPI::Datatype &type)
{
    int_seen += type == MPI::INT && type.Get_size() == 4;
    for (int i = 0; i < len; i++)
        static_cast<int *>(inout)[i] += static_cast<const int *>(in)[i];
}

struct Intracomm : MPI::Intracomm {
    Intracomm(const MPI::Intracomm &c) : MPI::Intracomm(c) {}
};

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    MPI::Intracomm &world = MPI::COMM_WORLD;
    int rank = world.Get_rank(), size = world.Get_size(), one = 1, sum = 0, bad = 0;
    MPI::Op op;
    op.Init(add, true);
    world.Allreduce(&one, &sum, 1, MPI::INT, op);
    world.Allreduce(MPI::IN_PLACE, &int_seen, 1, MPI::INT, MPI::SUM);
    bad |= (sum != size || (size > 1 && !int_seen)) << 0;
    op.Free();
    world.Allreduce(MPI::IN_PLACE, &sum, 1, MPI::INT, MPI::MAX);
    bad |= (sum != size) << 1;

    Intracomm other(world.Dup());
    MPI::Comm &base = other;
    bad |= (base.Get_size() != size || base == MPI::COMM_NULL) << 2;
    MPI::Status status;
    int to = (rank + 1) % size, from = (rank + size - 1) % size, got = -1;
    base.Sendrecv(&rank, 1, MPI::INT, to, 7, &got, 1, MPI::INT, from, 7, status);
    bad |= (got != from || status.Get_source() != from || status.Get_count(MPI::INT) != 1) << 3;
    other.Free();
    bad |= (base != MPI::COMM_NULL) << 4;

    MPI::Datatype pair = MPI::DOUBLE.Create_contiguous(2);
    pair.Commit();
    bad |= (pair.Get_size() != 16) << 5;
    pair.Free();
    bad |= (pair != MPI::DATATYPE_NULL) << 6;
    MPI::Win win = MPI::Win::Create(&got, sizeof got, sizeof got, MPI::INFO_NULL, world);
    win.Fence(0);
    win.Put(&rank, 1, MPI::INT, from, 0, 1, MPI::INT);
    win.Fence(0);
    bad |= (got != to) << 7;
    win.Free();
    bad |= (win != MPI::WIN_NULL) << 8;
    if (bad)
        std::printf("ompi.cc: rank %d: %#x\n", rank, bad);
    else if (rank == 0)
        std::puts(" No Errors");
    MPI::Finalize();
    return bad != 0;
}

// MPICH's C++ bindings: reductions, error handlers and attributes whose functions are C++'s.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

static int handled, copied, deleted;

static void longest(const void *in, void *inout, int n, const MPI::Datatype &type)
{
    if (type != MPI::INT)
        abort();
    for (int i = 0; i < n; i++)
        if (((const int *)in)[i] > ((int *)inout)[i])
            ((int *)inout)[i] = ((const int *)in)[i];
}

static void comm_handler(MPI::Comm &comm, int *code, ...)
{
    handled += comm.Get_size() * 10 + (MPI::Get_error_class(*code) == MPI_ERR_RANK);
}

static void win_handler(MPI::Win &win, int *code, ...)
{
    handled += win.Get_group().Get_size() * 1000 + *code * 0;
}

static int copy_attr(const MPI::Comm &comm, int, void *extra, void *in, void *out, bool &flag)
{
    copied += comm.Get_size();
    *(char **)out = (char *)in + *(int *)extra;
    flag = true;
    return MPI_SUCCESS;
}

static int delete_attr(MPI::Comm &, int, void *, void *)
{
    deleted++;
    return MPI_SUCCESS;
}

static void check(bool good, const char *what)
{
    if (good)
        return;
    printf("wrong: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    int rank = MPI::COMM_WORLD.Get_rank(), size = MPI::COMM_WORLD.Get_size();
    int one = rank + 1, most = 0, extra = 3;

    MPI::Op op;
    op.Init(longest, true);
    MPI::COMM_WORLD.Allreduce(&one, &most, 1, MPI::INT, op);
    check(most == size, "a reduction");
    op.Free();

    MPI::Errhandler handler = MPI::Comm::Create_errhandler(comm_handler);
    MPI::COMM_SELF.Set_errhandler(handler);
    MPI_Send(&one, 1, MPI_INT, 99, 0, MPI_COMM_SELF);
    check(handled == 11, "the handler of a communicator");
    handler.Free();
    int memory[2];
    MPI::Win win =
        MPI::Win::Create(memory, sizeof memory, sizeof(int), MPI::INFO_NULL, MPI::COMM_SELF);
    handler = MPI::Win::Create_errhandler(win_handler);
    win.Set_errhandler(handler);
    MPI_Put(&one, 1, MPI_INT, 99, 0, 1, MPI_INT, win);
    check(handled == 1011, "the handler of a window");
    handler.Free();
    win.Free();

    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    bool thrown = false;
    try {
        MPI::COMM_WORLD.Send(&one, 1, MPI::INT, -77, 0);
    } catch (MPI::Exception &e) {
        thrown = e.Get_error_class() == MPI_ERR_RANK;
    }
    check(thrown, "an exception");

    char text[8];
    void *value = nullptr;
    int key = MPI::Comm::Create_keyval(copy_attr, delete_attr, &extra);
    MPI::Intracomm all = MPI::COMM_WORLD.Dup();
    all.Set_attr(key, text);
    MPI::Intracomm dup = all.Dup();
    check(dup.Get_attr(key, &value) && value == text + 3 && copied == size, "a copied attribute");
    dup.Free();
    all.Free();
    check(deleted == 2, "delete functions");
    printf("bindings good\n");
    MPI::Finalize();
    return 0;
}

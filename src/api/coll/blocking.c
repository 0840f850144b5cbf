/* blocking.c - blocking collectives (MPI-3.1 chapter 5 and 7.6). */
#include "api/api.h"
#include "api/coll/collcall.h"
#include "dt/dt.h"

int PMPI_Barrier(MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Barrier", .form = COLLCALL_RUN, .comm = comm,
                         .a = {.call = COLL_BARRIER}};
    return collcall(&x);
}
API_ALIAS(MPI_Barrier);

int PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Bcast", .form = COLLCALL_RUN, .rtype = datatype, .comm = comm,
                         .a = {.call = COLL_BCAST, .rbuf = buffer, .rcount = count, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Bcast);

int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Bcast_c", .form = COLLCALL_RUN, .rtype = datatype,
                         .comm = comm,
                         .a = {.call = COLL_BCAST, .rbuf = buffer, .rcount = count, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Bcast_c);

int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                int root, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Reduce", .form = COLLCALL_RUN, .rtype = datatype, .op = op,
                         .comm = comm,
                         .a = {.call = COLL_REDUCE, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Reduce);

int PMPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, int root, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Reduce_c", .form = COLLCALL_RUN, .rtype = datatype, .op = op,
                         .comm = comm,
                         .a = {.call = COLL_REDUCE, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Reduce_c);

int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Allreduce", .form = COLLCALL_RUN, .rtype = datatype, .op = op,
                         .comm = comm,
                         .a = {.call = COLL_ALLREDUCE, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count}};
    return collcall(&x);
}
API_ALIAS(MPI_Allreduce);

int PMPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Allreduce_c", .form = COLLCALL_RUN, .rtype = datatype,
                         .op = op, .comm = comm,
                         .a = {.call = COLL_ALLREDUCE, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count}};
    return collcall(&x);
}
API_ALIAS(MPI_Allreduce_c);

int PMPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Gather", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_GATHER, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Gather);

int PMPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Gather_c", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_GATHER, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Gather_c);

int PMPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                 MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Gatherv", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_GATHERV, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcounts = coll_ints(recvcounts),
                               .rdispls = coll_ints(displs), .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Gatherv);

int PMPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                   int root, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Gatherv_c", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_GATHERV, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcounts = coll_wide(recvcounts),
                               .rdispls = coll_wide(displs), .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Gatherv_c);

int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Allgather", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_ALLGATHER, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Allgather);

int PMPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Allgather_c", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_ALLGATHER, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Allgather_c);

int PMPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                    MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Allgatherv", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_ALLGATHERV, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcounts = coll_ints(recvcounts),
                               .rdispls = coll_ints(displs)}};
    return collcall(&x);
}
API_ALIAS(MPI_Allgatherv);

int PMPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                      MPI_Datatype recvtype, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Allgatherv_c", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_ALLGATHERV, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcounts = coll_wide(recvcounts),
                               .rdispls = coll_wide(displs)}};
    return collcall(&x);
}
API_ALIAS(MPI_Allgatherv_c);

int PMPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Scatter", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_SCATTER, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Scatter);

int PMPI_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Scatter_c", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_SCATTER, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Scatter_c);

int PMPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                  MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                  int root, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Scatterv", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_SCATTERV, .sbuf = sendbuf,
                               .scounts = coll_ints(sendcounts), .sdispls = coll_ints(displs),
                               .rbuf = recvbuf, .rcount = recvcount, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Scatterv);

int PMPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Scatterv_c", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_SCATTERV, .sbuf = sendbuf,
                               .scounts = coll_wide(sendcounts), .sdispls = coll_wide(displs),
                               .rbuf = recvbuf, .rcount = recvcount, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Scatterv_c);

int PMPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Alltoall", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_ALLTOALL, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Alltoall);

int PMPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Alltoall_c", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_ALLTOALL, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Alltoall_c);

int PMPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                   MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Alltoallv", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_ALLTOALLV, .sbuf = sendbuf,
                               .scounts = coll_ints(sendcounts), .sdispls = coll_ints(sdispls),
                               .rbuf = recvbuf, .rcounts = coll_ints(recvcounts),
                               .rdispls = coll_ints(rdispls)}};
    return collcall(&x);
}
API_ALIAS(MPI_Alltoallv);

int PMPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Alltoallv_c", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_ALLTOALLV, .sbuf = sendbuf,
                               .scounts = coll_wide(sendcounts), .sdispls = coll_wide(sdispls),
                               .rbuf = recvbuf, .rcounts = coll_wide(recvcounts),
                               .rdispls = coll_wide(rdispls)}};
    return collcall(&x);
}
API_ALIAS(MPI_Alltoallv_c);

int PMPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                   const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                   const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Alltoallw", .form = COLLCALL_RUN, .comm = comm,
                         .a = {.call = COLL_ALLTOALLW, .sbuf = sendbuf,
                               .scounts = coll_ints(sendcounts), .sdispls = coll_ints(sdispls),
                               .stypes = sendtypes, .rbuf = recvbuf,
                               .rcounts = coll_ints(recvcounts), .rdispls = coll_ints(rdispls),
                               .rtypes = recvtypes}};
    return collcall(&x);
}
API_ALIAS(MPI_Alltoallw);

int PMPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Alltoallw_c", .form = COLLCALL_RUN, .comm = comm,
                         .a = {.call = COLL_ALLTOALLW, .sbuf = sendbuf,
                               .scounts = coll_wide(sendcounts), .sdispls = coll_wide(sdispls),
                               .stypes = sendtypes, .rbuf = recvbuf,
                               .rcounts = coll_wide(recvcounts), .rdispls = coll_wide(rdispls),
                               .rtypes = recvtypes}};
    return collcall(&x);
}
API_ALIAS(MPI_Alltoallw_c);

int PMPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Reduce_scatter", .form = COLLCALL_RUN, .rtype = datatype,
                         .op = op, .comm = comm,
                         .a = {.call = COLL_REDUCE_SCATTER, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcounts = coll_ints(recvcounts)}};
    return collcall(&x);
}
API_ALIAS(MPI_Reduce_scatter);

int PMPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Reduce_scatter_c", .form = COLLCALL_RUN, .rtype = datatype,
                         .op = op, .comm = comm,
                         .a = {.call = COLL_REDUCE_SCATTER, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcounts = coll_wide(recvcounts)}};
    return collcall(&x);
}
API_ALIAS(MPI_Reduce_scatter_c);

int PMPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Reduce_scatter_block", .form = COLLCALL_RUN,
                         .rtype = datatype, .op = op, .comm = comm,
                         .a = {.call = COLL_REDUCE_SCATTER_BLOCK, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Reduce_scatter_block);

int PMPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Reduce_scatter_block_c", .form = COLLCALL_RUN,
                         .rtype = datatype, .op = op, .comm = comm,
                         .a = {.call = COLL_REDUCE_SCATTER_BLOCK, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Reduce_scatter_block_c);

int PMPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Scan", .form = COLLCALL_RUN, .rtype = datatype, .op = op,
                         .comm = comm,
                         .a = {.call = COLL_SCAN, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count}};
    return collcall(&x);
}
API_ALIAS(MPI_Scan);

int PMPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                MPI_Op op, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Scan_c", .form = COLLCALL_RUN, .rtype = datatype, .op = op,
                         .comm = comm,
                         .a = {.call = COLL_SCAN, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count}};
    return collcall(&x);
}
API_ALIAS(MPI_Scan_c);

int PMPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Exscan", .form = COLLCALL_RUN, .rtype = datatype, .op = op,
                         .comm = comm,
                         .a = {.call = COLL_EXSCAN, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count}};
    return collcall(&x);
}
API_ALIAS(MPI_Exscan);

int PMPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Exscan_c", .form = COLLCALL_RUN, .rtype = datatype, .op = op,
                         .comm = comm,
                         .a = {.call = COLL_EXSCAN, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count}};
    return collcall(&x);
}
API_ALIAS(MPI_Exscan_c);

int PMPI_Neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Neighbor_allgather", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_NEIGHBOR_ALLGATHER, .sbuf = sendbuf,
                               .scount = sendcount, .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_allgather);

int PMPI_Neighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Neighbor_allgather_c", .form = COLLCALL_RUN,
                         .stype = sendtype, .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_NEIGHBOR_ALLGATHER, .sbuf = sendbuf,
                               .scount = sendcount, .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_allgather_c);

int PMPI_Neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                             void *recvbuf, const int recvcounts[], const int displs[],
                             MPI_Datatype recvtype, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Neighbor_allgatherv", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_NEIGHBOR_ALLGATHERV, .sbuf = sendbuf,
                               .scount = sendcount, .rbuf = recvbuf,
                               .rcounts = coll_ints(recvcounts), .rdispls = coll_ints(displs)}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_allgatherv);

int PMPI_Neighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                               MPI_Datatype recvtype, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Neighbor_allgatherv_c", .form = COLLCALL_RUN,
                         .stype = sendtype, .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_NEIGHBOR_ALLGATHERV, .sbuf = sendbuf,
                               .scount = sendcount, .rbuf = recvbuf,
                               .rcounts = coll_wide(recvcounts), .rdispls = coll_wide(displs)}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_allgatherv_c);

int PMPI_Neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Neighbor_alltoall", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_NEIGHBOR_ALLTOALL, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_alltoall);

int PMPI_Neighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                             MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Neighbor_alltoall_c", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_NEIGHBOR_ALLTOALL, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_alltoall_c);

int PMPI_Neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                            MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                            const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Neighbor_alltoallv", .form = COLLCALL_RUN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_NEIGHBOR_ALLTOALLV, .sbuf = sendbuf,
                               .scounts = coll_ints(sendcounts), .sdispls = coll_ints(sdispls),
                               .rbuf = recvbuf, .rcounts = coll_ints(recvcounts),
                               .rdispls = coll_ints(rdispls)}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_alltoallv);

int PMPI_Neighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              MPI_Datatype recvtype, MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Neighbor_alltoallv_c", .form = COLLCALL_RUN,
                         .stype = sendtype, .rtype = recvtype, .comm = comm,
                         .a = {.call = COLL_NEIGHBOR_ALLTOALLV, .sbuf = sendbuf,
                               .scounts = coll_wide(sendcounts), .sdispls = coll_wide(sdispls),
                               .rbuf = recvbuf, .rcounts = coll_wide(recvcounts),
                               .rdispls = coll_wide(rdispls)}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_alltoallv_c);

int PMPI_Neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Neighbor_alltoallw", .form = COLLCALL_RUN, .comm = comm,
                         .a = {.call = COLL_NEIGHBOR_ALLTOALLW, .sbuf = sendbuf,
                               .scounts = coll_ints(sendcounts), .sdispls = coll_wide(sdispls),
                               .stypes = sendtypes, .rbuf = recvbuf,
                               .rcounts = coll_ints(recvcounts), .rdispls = coll_wide(rdispls),
                               .rtypes = recvtypes}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_alltoallw);

int PMPI_Neighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                              void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct collcall x = {.name = "MPI_Neighbor_alltoallw_c", .form = COLLCALL_RUN, .comm = comm,
                         .a = {.call = COLL_NEIGHBOR_ALLTOALLW, .sbuf = sendbuf,
                               .scounts = coll_wide(sendcounts), .sdispls = coll_wide(sdispls),
                               .stypes = sendtypes, .rbuf = recvbuf,
                               .rcounts = coll_wide(recvcounts), .rdispls = coll_wide(rdispls),
                               .rtypes = recvtypes}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_alltoallw_c);

static int reduce_local(const char *call, const void *in, void *inout, MPI_Count count,
                        MPI_Datatype type, MPI_Op h)
{
    struct dt_type *t;
    struct dt_op *op;
    api_enter(call);
    int err = api_count(count);
    if (!err)
        err = api_type_committed(type, &t);
    if (!err)
        err = api_op(h, &op);
    if (!err)
        err = dt_op_check(op, t, DT_FOR_REDUCE);
    if (!err)
        err = api_buffer(in, count, t);
    if (!err)
        err = api_buffer(inout, count, t);
    if (!err && count > 0 && (in == MPI_IN_PLACE || inout == MPI_IN_PLACE))
        err = err_make(MPI_ERR_BUFFER, "%s: MPI_IN_PLACE is not allowed here", call);
    if (!err && count > 0 && in == inout)
        err = err_make(MPI_ERR_BUFFER, "%s: inbuf and inoutbuf are the same", call);
    if (!err)
        dt_op_apply(op, in, inout, (size_t)count, t);
    return api_exit(MPI_COMM_NULL, err);
}

int PMPI_Reduce_local(const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype,
                      MPI_Op op)
{
    return reduce_local("MPI_Reduce_local", inbuf, inoutbuf, count, datatype, op);
}
API_ALIAS(MPI_Reduce_local);

int PMPI_Reduce_local_c(const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op)
{
    return reduce_local("MPI_Reduce_local_c", inbuf, inoutbuf, count, datatype, op);
}
API_ALIAS(MPI_Reduce_local_c);

/* nonblocking.c - nonblocking collectives (MPI-3.1 5.12, 7.7). */
#include "api/api.h"
#include "api/coll/collcall.h"

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ibarrier", .form = COLLCALL_BEGIN, .comm = comm,
                         .request = request, .a = {.call = COLL_BARRIER}};
    return collcall(&x);
}
API_ALIAS(MPI_Ibarrier);

int PMPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ibcast", .form = COLLCALL_BEGIN, .rtype = datatype,
                         .comm = comm, .request = request,
                         .a = {.call = COLL_BCAST, .rbuf = buffer, .rcount = count, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Ibcast);

int PMPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ibcast_c", .form = COLLCALL_BEGIN, .rtype = datatype,
                         .comm = comm, .request = request,
                         .a = {.call = COLL_BCAST, .rbuf = buffer, .rcount = count, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Ibcast_c);

int PMPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 int root, MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ireduce", .form = COLLCALL_BEGIN, .rtype = datatype, .op = op,
                         .comm = comm, .request = request,
                         .a = {.call = COLL_REDUCE, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Ireduce);

int PMPI_Ireduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ireduce_c", .form = COLLCALL_BEGIN, .rtype = datatype,
                         .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_REDUCE, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Ireduce_c);

int PMPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Iallreduce", .form = COLLCALL_BEGIN, .rtype = datatype,
                         .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLREDUCE, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count}};
    return collcall(&x);
}
API_ALIAS(MPI_Iallreduce);

int PMPI_Iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Iallreduce_c", .form = COLLCALL_BEGIN, .rtype = datatype,
                         .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLREDUCE, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count}};
    return collcall(&x);
}
API_ALIAS(MPI_Iallreduce_c);

int PMPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                 MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Igather", .form = COLLCALL_BEGIN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_GATHER, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Igather);

int PMPI_Igather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                   MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Igather_c", .form = COLLCALL_BEGIN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_GATHER, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Igather_c);

int PMPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                  MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Igatherv", .form = COLLCALL_BEGIN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_GATHERV, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcounts = coll_ints(recvcounts),
                               .rdispls = coll_ints(displs), .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Igatherv);

int PMPI_Igatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    int root, MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Igatherv_c", .form = COLLCALL_BEGIN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_GATHERV, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcounts = coll_wide(recvcounts),
                               .rdispls = coll_wide(displs), .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Igatherv_c);

int PMPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Iallgather", .form = COLLCALL_BEGIN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLGATHER, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Iallgather);

int PMPI_Iallgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Iallgather_c", .form = COLLCALL_BEGIN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLGATHER, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Iallgather_c);

int PMPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                     MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Iallgatherv", .form = COLLCALL_BEGIN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLGATHERV, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcounts = coll_ints(recvcounts),
                               .rdispls = coll_ints(displs)}};
    return collcall(&x);
}
API_ALIAS(MPI_Iallgatherv);

int PMPI_Iallgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Iallgatherv_c", .form = COLLCALL_BEGIN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLGATHERV, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcounts = coll_wide(recvcounts),
                               .rdispls = coll_wide(displs)}};
    return collcall(&x);
}
API_ALIAS(MPI_Iallgatherv_c);

int PMPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Iscatter", .form = COLLCALL_BEGIN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_SCATTER, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Iscatter);

int PMPI_Iscatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Iscatter_c", .form = COLLCALL_BEGIN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_SCATTER, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Iscatter_c);

int PMPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                   MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Iscatterv", .form = COLLCALL_BEGIN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_SCATTERV, .sbuf = sendbuf,
                               .scounts = coll_ints(sendcounts), .sdispls = coll_ints(displs),
                               .rbuf = recvbuf, .rcount = recvcount, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Iscatterv);

int PMPI_Iscatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Iscatterv_c", .form = COLLCALL_BEGIN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_SCATTERV, .sbuf = sendbuf,
                               .scounts = coll_wide(sendcounts), .sdispls = coll_wide(displs),
                               .rbuf = recvbuf, .rcount = recvcount, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Iscatterv_c);

int PMPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ialltoall", .form = COLLCALL_BEGIN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLTOALL, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Ialltoall);

int PMPI_Ialltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ialltoall_c", .form = COLLCALL_BEGIN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLTOALL, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Ialltoall_c);

int PMPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ialltoallv", .form = COLLCALL_BEGIN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLTOALLV, .sbuf = sendbuf,
                               .scounts = coll_ints(sendcounts), .sdispls = coll_ints(sdispls),
                               .rbuf = recvbuf, .rcounts = coll_ints(recvcounts),
                               .rdispls = coll_ints(rdispls)}};
    return collcall(&x);
}
API_ALIAS(MPI_Ialltoallv);

int PMPI_Ialltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ialltoallv_c", .form = COLLCALL_BEGIN, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLTOALLV, .sbuf = sendbuf,
                               .scounts = coll_wide(sendcounts), .sdispls = coll_wide(sdispls),
                               .rbuf = recvbuf, .rcounts = coll_wide(recvcounts),
                               .rdispls = coll_wide(rdispls)}};
    return collcall(&x);
}
API_ALIAS(MPI_Ialltoallv_c);

int PMPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                    const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                    MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ialltoallw", .form = COLLCALL_BEGIN, .comm = comm,
                         .request = request,
                         .a = {.call = COLL_ALLTOALLW, .sbuf = sendbuf,
                               .scounts = coll_ints(sendcounts), .sdispls = coll_ints(sdispls),
                               .stypes = sendtypes, .rbuf = recvbuf,
                               .rcounts = coll_ints(recvcounts), .rdispls = coll_ints(rdispls),
                               .rtypes = recvtypes}};
    return collcall(&x);
}
API_ALIAS(MPI_Ialltoallw);

int PMPI_Ialltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                      MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ialltoallw_c", .form = COLLCALL_BEGIN, .comm = comm,
                         .request = request,
                         .a = {.call = COLL_ALLTOALLW, .sbuf = sendbuf,
                               .scounts = coll_wide(sendcounts), .sdispls = coll_wide(sdispls),
                               .stypes = sendtypes, .rbuf = recvbuf,
                               .rcounts = coll_wide(recvcounts), .rdispls = coll_wide(rdispls),
                               .rtypes = recvtypes}};
    return collcall(&x);
}
API_ALIAS(MPI_Ialltoallw_c);

int PMPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ireduce_scatter", .form = COLLCALL_BEGIN, .rtype = datatype,
                         .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_REDUCE_SCATTER, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcounts = coll_ints(recvcounts)}};
    return collcall(&x);
}
API_ALIAS(MPI_Ireduce_scatter);

int PMPI_Ireduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ireduce_scatter_c", .form = COLLCALL_BEGIN, .rtype = datatype,
                         .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_REDUCE_SCATTER, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcounts = coll_wide(recvcounts)}};
    return collcall(&x);
}
API_ALIAS(MPI_Ireduce_scatter_c);

int PMPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                               MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ireduce_scatter_block", .form = COLLCALL_BEGIN,
                         .rtype = datatype, .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_REDUCE_SCATTER_BLOCK, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Ireduce_scatter_block);

int PMPI_Ireduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                 MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ireduce_scatter_block_c", .form = COLLCALL_BEGIN,
                         .rtype = datatype, .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_REDUCE_SCATTER_BLOCK, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Ireduce_scatter_block_c);

int PMPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Iscan", .form = COLLCALL_BEGIN, .rtype = datatype, .op = op,
                         .comm = comm, .request = request,
                         .a = {.call = COLL_SCAN, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count}};
    return collcall(&x);
}
API_ALIAS(MPI_Iscan);

int PMPI_Iscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Iscan_c", .form = COLLCALL_BEGIN, .rtype = datatype, .op = op,
                         .comm = comm, .request = request,
                         .a = {.call = COLL_SCAN, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count}};
    return collcall(&x);
}
API_ALIAS(MPI_Iscan_c);

int PMPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Iexscan", .form = COLLCALL_BEGIN, .rtype = datatype, .op = op,
                         .comm = comm, .request = request,
                         .a = {.call = COLL_EXSCAN, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count}};
    return collcall(&x);
}
API_ALIAS(MPI_Iexscan);

int PMPI_Iexscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Iexscan_c", .form = COLLCALL_BEGIN, .rtype = datatype,
                         .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_EXSCAN, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count}};
    return collcall(&x);
}
API_ALIAS(MPI_Iexscan_c);

int PMPI_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                             void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ineighbor_allgather", .form = COLLCALL_BEGIN,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLGATHER, .sbuf = sendbuf,
                               .scount = sendcount, .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Ineighbor_allgather);

int PMPI_Ineighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ineighbor_allgather_c", .form = COLLCALL_BEGIN,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLGATHER, .sbuf = sendbuf,
                               .scount = sendcount, .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Ineighbor_allgather_c);

int PMPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                              void *recvbuf, const int recvcounts[], const int displs[],
                              MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ineighbor_allgatherv", .form = COLLCALL_BEGIN,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLGATHERV, .sbuf = sendbuf,
                               .scount = sendcount, .rbuf = recvbuf,
                               .rcounts = coll_ints(recvcounts), .rdispls = coll_ints(displs)}};
    return collcall(&x);
}
API_ALIAS(MPI_Ineighbor_allgatherv);

int PMPI_Ineighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void *recvbuf, const MPI_Count recvcounts[],
                                const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ineighbor_allgatherv_c", .form = COLLCALL_BEGIN,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLGATHERV, .sbuf = sendbuf,
                               .scount = sendcount, .rbuf = recvbuf,
                               .rcounts = coll_wide(recvcounts), .rdispls = coll_wide(displs)}};
    return collcall(&x);
}
API_ALIAS(MPI_Ineighbor_allgatherv_c);

int PMPI_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                            MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ineighbor_alltoall", .form = COLLCALL_BEGIN,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLTOALL, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Ineighbor_alltoall);

int PMPI_Ineighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ineighbor_alltoall_c", .form = COLLCALL_BEGIN,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLTOALL, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Ineighbor_alltoall_c);

int PMPI_Ineighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                             MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                             const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ineighbor_alltoallv", .form = COLLCALL_BEGIN,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLTOALLV, .sbuf = sendbuf,
                               .scounts = coll_ints(sendcounts), .sdispls = coll_ints(sdispls),
                               .rbuf = recvbuf, .rcounts = coll_ints(recvcounts),
                               .rdispls = coll_ints(rdispls)}};
    return collcall(&x);
}
API_ALIAS(MPI_Ineighbor_alltoallv);

int PMPI_Ineighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                               const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ineighbor_alltoallv_c", .form = COLLCALL_BEGIN,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLTOALLV, .sbuf = sendbuf,
                               .scounts = coll_wide(sendcounts), .sdispls = coll_wide(sdispls),
                               .rbuf = recvbuf, .rcounts = coll_wide(recvcounts),
                               .rdispls = coll_wide(rdispls)}};
    return collcall(&x);
}
API_ALIAS(MPI_Ineighbor_alltoallv_c);

int PMPI_Ineighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                             MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ineighbor_alltoallw", .form = COLLCALL_BEGIN, .comm = comm,
                         .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLTOALLW, .sbuf = sendbuf,
                               .scounts = coll_ints(sendcounts), .sdispls = coll_wide(sdispls),
                               .stypes = sendtypes, .rbuf = recvbuf,
                               .rcounts = coll_ints(recvcounts), .rdispls = coll_wide(rdispls),
                               .rtypes = recvtypes}};
    return collcall(&x);
}
API_ALIAS(MPI_Ineighbor_alltoallw);

int PMPI_Ineighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                               void *recvbuf, const MPI_Count recvcounts[],
                               const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                               MPI_Comm comm, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Ineighbor_alltoallw_c", .form = COLLCALL_BEGIN, .comm = comm,
                         .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLTOALLW, .sbuf = sendbuf,
                               .scounts = coll_wide(sendcounts), .sdispls = coll_wide(sdispls),
                               .stypes = sendtypes, .rbuf = recvbuf,
                               .rcounts = coll_wide(recvcounts), .rdispls = coll_wide(rdispls),
                               .rtypes = recvtypes}};
    return collcall(&x);
}
API_ALIAS(MPI_Ineighbor_alltoallw_c);

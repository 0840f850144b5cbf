/* persistent.c - persistent collectives (MPI-4.0 6.13, 8.8). Info is a hint and not used. */
#include "api/api.h"
#include "api/coll/collcall.h"

/* The signatures are given from outside; not every function needs all of its own. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Barrier_init", .form = COLLCALL_PREPARE, .comm = comm,
                         .request = request, .a = {.call = COLL_BARRIER}};
    return collcall(&x);
}
API_ALIAS(MPI_Barrier_init);

int PMPI_Bcast_init(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                    MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Bcast_init", .form = COLLCALL_PREPARE, .rtype = datatype,
                         .comm = comm, .request = request,
                         .a = {.call = COLL_BCAST, .rbuf = buffer, .rcount = count, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Bcast_init);

int PMPI_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                      MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Bcast_init_c", .form = COLLCALL_PREPARE, .rtype = datatype,
                         .comm = comm, .request = request,
                         .a = {.call = COLL_BCAST, .rbuf = buffer, .rcount = count, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Bcast_init_c);

int PMPI_Reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                     MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Reduce_init", .form = COLLCALL_PREPARE, .rtype = datatype,
                         .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_REDUCE, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Reduce_init);

int PMPI_Reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Reduce_init_c", .form = COLLCALL_PREPARE, .rtype = datatype,
                         .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_REDUCE, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Reduce_init_c);

int PMPI_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Allreduce_init", .form = COLLCALL_PREPARE, .rtype = datatype,
                         .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLREDUCE, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count}};
    return collcall(&x);
}
API_ALIAS(MPI_Allreduce_init);

int PMPI_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                          MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Allreduce_init_c", .form = COLLCALL_PREPARE,
                         .rtype = datatype, .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLREDUCE, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count}};
    return collcall(&x);
}
API_ALIAS(MPI_Allreduce_init_c);

int PMPI_Gather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                     int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Gather_init", .form = COLLCALL_PREPARE, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_GATHER, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Gather_init);

int PMPI_Gather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Gather_init_c", .form = COLLCALL_PREPARE, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_GATHER, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Gather_init_c);

int PMPI_Gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Gatherv_init", .form = COLLCALL_PREPARE, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_GATHERV, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcounts = coll_ints(recvcounts),
                               .rdispls = coll_ints(displs), .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Gatherv_init);

int PMPI_Gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                        MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Gatherv_init_c", .form = COLLCALL_PREPARE, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_GATHERV, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcounts = coll_wide(recvcounts),
                               .rdispls = coll_wide(displs), .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Gatherv_init_c);

int PMPI_Allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                        int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Allgather_init", .form = COLLCALL_PREPARE, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLGATHER, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Allgather_init);

int PMPI_Allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Allgather_init_c", .form = COLLCALL_PREPARE,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLGATHER, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Allgather_init_c);

int PMPI_Allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                         const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                         MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Allgatherv_init", .form = COLLCALL_PREPARE, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLGATHERV, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcounts = coll_ints(recvcounts),
                               .rdispls = coll_ints(displs)}};
    return collcall(&x);
}
API_ALIAS(MPI_Allgatherv_init);

int PMPI_Allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                           MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Allgatherv_init_c", .form = COLLCALL_PREPARE,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLGATHERV, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcounts = coll_wide(recvcounts),
                               .rdispls = coll_wide(displs)}};
    return collcall(&x);
}
API_ALIAS(MPI_Allgatherv_init_c);

int PMPI_Scatter_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Scatter_init", .form = COLLCALL_PREPARE, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_SCATTER, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Scatter_init);

int PMPI_Scatter_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Scatter_init_c", .form = COLLCALL_PREPARE, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_SCATTER, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Scatter_init_c);

int PMPI_Scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[],
                       MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                       int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Scatterv_init", .form = COLLCALL_PREPARE, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_SCATTERV, .sbuf = sendbuf,
                               .scounts = coll_ints(sendcounts), .sdispls = coll_ints(displs),
                               .rbuf = recvbuf, .rcount = recvcount, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Scatterv_init);

int PMPI_Scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                         MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                         MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Scatterv_init_c", .form = COLLCALL_PREPARE, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_SCATTERV, .sbuf = sendbuf,
                               .scounts = coll_wide(sendcounts), .sdispls = coll_wide(displs),
                               .rbuf = recvbuf, .rcount = recvcount, .root = root}};
    return collcall(&x);
}
API_ALIAS(MPI_Scatterv_init_c);

int PMPI_Alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                       MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Alltoall_init", .form = COLLCALL_PREPARE, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLTOALL, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Alltoall_init);

int PMPI_Alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Alltoall_init_c", .form = COLLCALL_PREPARE, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLTOALL, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Alltoall_init_c);

int PMPI_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                        MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                        const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Alltoallv_init", .form = COLLCALL_PREPARE, .stype = sendtype,
                         .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLTOALLV, .sbuf = sendbuf,
                               .scounts = coll_ints(sendcounts), .sdispls = coll_ints(sdispls),
                               .rbuf = recvbuf, .rcounts = coll_ints(recvcounts),
                               .rdispls = coll_ints(rdispls)}};
    return collcall(&x);
}
API_ALIAS(MPI_Alltoallv_init);

int PMPI_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Alltoallv_init_c", .form = COLLCALL_PREPARE,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_ALLTOALLV, .sbuf = sendbuf,
                               .scounts = coll_wide(sendcounts), .sdispls = coll_wide(sdispls),
                               .rbuf = recvbuf, .rcounts = coll_wide(recvcounts),
                               .rdispls = coll_wide(rdispls)}};
    return collcall(&x);
}
API_ALIAS(MPI_Alltoallv_init_c);

int PMPI_Alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                        const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                        const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                        MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Alltoallw_init", .form = COLLCALL_PREPARE, .comm = comm,
                         .request = request,
                         .a = {.call = COLL_ALLTOALLW, .sbuf = sendbuf,
                               .scounts = coll_ints(sendcounts), .sdispls = coll_ints(sdispls),
                               .stypes = sendtypes, .rbuf = recvbuf,
                               .rcounts = coll_ints(recvcounts), .rdispls = coll_ints(rdispls),
                               .rtypes = recvtypes}};
    return collcall(&x);
}
API_ALIAS(MPI_Alltoallw_init);

int PMPI_Alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                          MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Alltoallw_init_c", .form = COLLCALL_PREPARE, .comm = comm,
                         .request = request,
                         .a = {.call = COLL_ALLTOALLW, .sbuf = sendbuf,
                               .scounts = coll_wide(sendcounts), .sdispls = coll_wide(sdispls),
                               .stypes = sendtypes, .rbuf = recvbuf,
                               .rcounts = coll_wide(recvcounts), .rdispls = coll_wide(rdispls),
                               .rtypes = recvtypes}};
    return collcall(&x);
}
API_ALIAS(MPI_Alltoallw_init_c);

int PMPI_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[],
                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                             MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Reduce_scatter_init", .form = COLLCALL_PREPARE,
                         .rtype = datatype, .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_REDUCE_SCATTER, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcounts = coll_ints(recvcounts)}};
    return collcall(&x);
}
API_ALIAS(MPI_Reduce_scatter_init);

int PMPI_Reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                               MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Reduce_scatter_init_c", .form = COLLCALL_PREPARE,
                         .rtype = datatype, .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_REDUCE_SCATTER, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcounts = coll_wide(recvcounts)}};
    return collcall(&x);
}
API_ALIAS(MPI_Reduce_scatter_init_c);

int PMPI_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount,
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                   MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Reduce_scatter_block_init", .form = COLLCALL_PREPARE,
                         .rtype = datatype, .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_REDUCE_SCATTER_BLOCK, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Reduce_scatter_block_init);

int PMPI_Reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                     MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Reduce_scatter_block_init_c", .form = COLLCALL_PREPARE,
                         .rtype = datatype, .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_REDUCE_SCATTER_BLOCK, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Reduce_scatter_block_init_c);

int PMPI_Scan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Scan_init", .form = COLLCALL_PREPARE, .rtype = datatype,
                         .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_SCAN, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count}};
    return collcall(&x);
}
API_ALIAS(MPI_Scan_init);

int PMPI_Scan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Scan_init_c", .form = COLLCALL_PREPARE, .rtype = datatype,
                         .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_SCAN, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count}};
    return collcall(&x);
}
API_ALIAS(MPI_Scan_init_c);

int PMPI_Exscan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Exscan_init", .form = COLLCALL_PREPARE, .rtype = datatype,
                         .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_EXSCAN, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count}};
    return collcall(&x);
}
API_ALIAS(MPI_Exscan_init);

int PMPI_Exscan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Exscan_init_c", .form = COLLCALL_PREPARE, .rtype = datatype,
                         .op = op, .comm = comm, .request = request,
                         .a = {.call = COLL_EXSCAN, .sbuf = sendbuf, .rbuf = recvbuf,
                               .rcount = count}};
    return collcall(&x);
}
API_ALIAS(MPI_Exscan_init_c);

int PMPI_Neighbor_allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Neighbor_allgather_init", .form = COLLCALL_PREPARE,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLGATHER, .sbuf = sendbuf,
                               .scount = sendcount, .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_allgather_init);

int PMPI_Neighbor_allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Neighbor_allgather_init_c", .form = COLLCALL_PREPARE,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLGATHER, .sbuf = sendbuf,
                               .scount = sendcount, .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_allgather_init_c);

int PMPI_Neighbor_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, const int recvcounts[], const int displs[],
                                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Neighbor_allgatherv_init", .form = COLLCALL_PREPARE,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLGATHERV, .sbuf = sendbuf,
                               .scount = sendcount, .rbuf = recvbuf,
                               .rcounts = coll_ints(recvcounts), .rdispls = coll_ints(displs)}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_allgatherv_init);

int PMPI_Neighbor_allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void *recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                    MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Neighbor_allgatherv_init_c", .form = COLLCALL_PREPARE,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLGATHERV, .sbuf = sendbuf,
                               .scount = sendcount, .rbuf = recvbuf,
                               .rcounts = coll_wide(recvcounts), .rdispls = coll_wide(displs)}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_allgatherv_init_c);

int PMPI_Neighbor_alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Neighbor_alltoall_init", .form = COLLCALL_PREPARE,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLTOALL, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_alltoall_init);

int PMPI_Neighbor_alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Neighbor_alltoall_init_c", .form = COLLCALL_PREPARE,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLTOALL, .sbuf = sendbuf, .scount = sendcount,
                               .rbuf = recvbuf, .rcount = recvcount}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_alltoall_init_c);

int PMPI_Neighbor_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                                 const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Neighbor_alltoallv_init", .form = COLLCALL_PREPARE,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLTOALLV, .sbuf = sendbuf,
                               .scounts = coll_ints(sendcounts), .sdispls = coll_ints(sdispls),
                               .rbuf = recvbuf, .rcounts = coll_ints(recvcounts),
                               .rdispls = coll_ints(rdispls)}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_alltoallv_init);

int PMPI_Neighbor_alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                                   const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                   MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Neighbor_alltoallv_init_c", .form = COLLCALL_PREPARE,
                         .stype = sendtype, .rtype = recvtype, .comm = comm, .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLTOALLV, .sbuf = sendbuf,
                               .scounts = coll_wide(sendcounts), .sdispls = coll_wide(sdispls),
                               .rbuf = recvbuf, .rcounts = coll_wide(recvcounts),
                               .rdispls = coll_wide(rdispls)}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_alltoallv_init_c);

int PMPI_Neighbor_alltoallw_init(const void *sendbuf, const int sendcounts[],
                                 const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                 void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                                 const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                 MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Neighbor_alltoallw_init", .form = COLLCALL_PREPARE,
                         .comm = comm, .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLTOALLW, .sbuf = sendbuf,
                               .scounts = coll_ints(sendcounts), .sdispls = coll_wide(sdispls),
                               .stypes = sendtypes, .rbuf = recvbuf,
                               .rcounts = coll_ints(recvcounts), .rdispls = coll_wide(rdispls),
                               .rtypes = recvtypes}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_alltoallw_init);

int PMPI_Neighbor_alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                   void *recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct collcall x = {.name = "MPI_Neighbor_alltoallw_init_c", .form = COLLCALL_PREPARE,
                         .comm = comm, .request = request,
                         .a = {.call = COLL_NEIGHBOR_ALLTOALLW, .sbuf = sendbuf,
                               .scounts = coll_wide(sendcounts), .sdispls = coll_wide(sdispls),
                               .stypes = sendtypes, .rbuf = recvbuf,
                               .rcounts = coll_wide(recvcounts), .rdispls = coll_wide(rdispls),
                               .rtypes = recvtypes}};
    return collcall(&x);
}
API_ALIAS(MPI_Neighbor_alltoallw_init_c);

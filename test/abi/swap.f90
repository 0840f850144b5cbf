! The Fortran twin of swap.c: MPICH's binding library calls our C functions.
program swap
    use mpi
    implicit none
    integer :: rank, ranks, total, n, request, ierr
    integer :: status(MPI_STATUS_SIZE)
    double precision :: outgoing(21), incoming(21)

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call MPI_Allreduce(rank + 1, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    outgoing = rank
    call MPI_Irecv(incoming, 21, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, &
                   MPI_COMM_WORLD, request, ierr)
    call MPI_Send(outgoing, 21, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 5, MPI_COMM_WORLD, ierr)
    call MPI_Wait(request, status, ierr)
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, n, ierr)
    if (rank == 0) print '(a,i0,a,i0,a,i0,a,i0)', 'ranks ', ranks, ' sum ', total, ' status ', &
        status(MPI_SOURCE), ' ', n
    call MPI_Finalize(ierr)
end program swap

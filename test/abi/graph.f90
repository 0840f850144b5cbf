! Fortran's mpi_f08: unweighted graphs, and those whose weights are empty.
program graph
    use mpi_f08
    implicit none
    integer :: rank, ranks, in, out, source(1), degree(1), target(1)
    logical :: weighted, good
    type(MPI_Comm) :: c, d

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    source(1) = rank
    degree(1) = 1
    target(1) = mod(rank + 1, ranks)
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, source, degree, target, MPI_UNWEIGHTED, &
                               MPI_INFO_NULL, .false., c)
    call MPI_Dist_graph_neighbors_count(c, in, out, weighted)
    good = in == 1 .and. out == 1 .and. .not. weighted
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, source, MPI_WEIGHTS_EMPTY, 0, target, &
                                        MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., d)
    call MPI_Dist_graph_neighbors_count(d, in, out, weighted)
    good = good .and. in == 0 .and. out == 0 .and. weighted
    call MPI_Comm_free(c)
    call MPI_Comm_free(d)
    call MPI_Finalize()
    if (good) print '(a)', 'graph good'
end program graph

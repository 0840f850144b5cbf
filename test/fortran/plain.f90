! The module mpi: a buffer of any type and rank, sections, a profiler in Fortran, handlers of files,
! MPI-1's calls, persistent requests and generic names of memory.
module handlers
    use mpi
    implicit none
    integer :: handled = 0
contains
    subroutine on_file(file, code)
        integer :: file, code
        if (file /= MPI_FILE_NULL .and. code /= MPI_SUCCESS) handled = handled + 1
    end subroutine
    subroutine on_comm(comm, code)
        integer :: comm, code
        if (comm == MPI_COMM_SELF .and. code == MPI_ERR_OTHER) handled = handled + 10
    end subroutine
end module

! The profiler: mpi_barrier_ is ours, pmpi_barrier_ is the library's.
subroutine mpi_barrier(comm, ierr)
    integer :: comm, ierr, barriers
    common /profile/ barriers
    barriers = barriers + 1
    call pmpi_barrier(comm, ierr)
end subroutine

program plain
    use handlers
    use, intrinsic :: iso_c_binding
    implicit none
    integer :: ierr, rank, ranks, left, right, barriers
    common /profile/ barriers

    barriers = 0
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    left = modulo(rank - 1, ranks)
    right = modulo(rank + 1, ranks)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call check(barriers == 1, 'a profiler in Fortran')
    call buffers()
    call sections()
    call types()
    call memory()
    call handled_errors()
    call too_short()
    call graphs()
    print '(a)', 'plain good'
    call MPI_Finalize(ierr)
contains
    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        if (good) return
        print '(a, i0, 2a)', 'rank ', rank, ': wrong: ', what
        call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end subroutine

    subroutine buffers()
        real(8) :: x, y(2, 2)
        character(len=5) :: text
        character(len=MPI_MAX_OBJECT_NAME) :: name
        logical :: truth(3), all_true(3)
        integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2), requests(2), n
        call MPI_Sendrecv(rank + 0.5d0, 1, MPI_DOUBLE_PRECISION, right, 1, x, 1, &
            MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, status, ierr)
        call check(x == left + 0.5d0 .and. status(MPI_SOURCE) == left, 'a scalar and a status')
        call MPI_Irecv(text, 5, MPI_CHARACTER, left, 2, MPI_COMM_WORLD, requests(1), ierr)
        call MPI_Isend('hello', 5, MPI_CHARACTER, right, 2, MPI_COMM_WORLD, requests(2), ierr)
        call MPI_Waitall(2, requests, statuses, ierr)
        call MPI_Get_count(statuses(:, 1), MPI_CHARACTER, n, ierr)
        call check(text == 'hello' .and. n == 5, 'a text and statuses')
        y = rank
        call MPI_Allreduce(MPI_IN_PLACE, y, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
        call check(all(y == ranks * (ranks - 1) / 2), 'MPI_IN_PLACE')
        truth = [.true., rank == 0, .false.]
        call MPI_Allreduce(truth, all_true, 3, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr)
        call check(all_true(1) .and. all_true(2) .and. .not. all_true(3), 'logicals')
        call MPI_Testany(0, requests, n, truth(1), MPI_STATUS_IGNORE, ierr)
        call check(n == MPI_UNDEFINED .and. truth(1), 'MPI_UNDEFINED stays')
        call MPI_Comm_set_name(MPI_COMM_SELF, '  x ', ierr)
        call MPI_Comm_get_name(MPI_COMM_SELF, name, n, ierr)
        call check(n == 3 .and. name == '  x', 'blanks in front of a name')
    end subroutine

    ! The compiler copies them: for calls that are done when they return.
    subroutine sections()
        integer :: a(4, 3), b(4, 3)
        a = rank
        b = -1
        call MPI_Sendrecv(a(2, :), 3, MPI_INTEGER, right, 3, b(::2, 1), 2, MPI_INTEGER, &
            MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        call MPI_Recv(b(3, :), 3, MPI_INTEGER, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        call check(all(b(3, :) == left) .and. count(b /= -1) == 3, 'a section')
    end subroutine

    subroutine types()
        integer :: kinds(2), lengths(2), places(2), made, extent, n
        integer(MPI_ADDRESS_KIND) :: lb, bytes, first, second
        real(8) :: x(3)
        lengths = 1
        places = [0, 16]
        kinds = [MPI_INTEGER, MPI_REAL8]
        call MPI_Type_struct(2, lengths, places, kinds, made, ierr)
        call MPI_Type_extent(made, extent, ierr)
        call MPI_Type_get_extent(made, lb, bytes, ierr)
        call check(extent == 24 .and. bytes == 24 .and. lb == 0, 'a structure of MPI-1')
        call MPI_Type_free(made, ierr)
        call MPI_Get_address(x(1), first, ierr)
        call MPI_Get_address(x(3), second, ierr)
        call check(MPI_Aint_diff(second, first) == 16, 'addresses')
        call check(MPI_Aint_add(first, 16_MPI_ADDRESS_KIND) == second, 'MPI_Aint_add')
        call MPI_Sizeof(x, n, ierr)
        call check(n == 8, 'MPI_Sizeof')
        call check(MPI_Wtime() > 0, 'MPI_Wtime')
    end subroutine

    subroutine memory()
        type(c_ptr) :: p
        integer(MPI_ADDRESS_KIND) :: address, bytes
        integer, pointer :: x(:)
        integer :: win
        bytes = 16
        call MPI_Alloc_mem(bytes, MPI_INFO_NULL, p, ierr)
        call c_f_pointer(p, x, [4])
        x = 3
        call MPI_Win_create(x, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
        call MPI_Win_free(win, ierr)
        call MPI_Free_mem(x, ierr)
        call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, address, win, ierr)
        call check(address /= 0, 'MPI_Win_allocate by an address')
        call MPI_Win_free(win, ierr)
    end subroutine

    subroutine handled_errors()
        integer :: handler, file, status(MPI_STATUS_SIZE), n
        character(len=MPI_MAX_ERROR_STRING) :: text
        call MPI_Comm_create_errhandler(on_comm, handler, ierr)
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, handler, ierr)
        call MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER, ierr)
        call MPI_Errhandler_free(handler, ierr)
        call check(handled == 10, 'a handler of a communicator')
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, ierr)
        call MPI_File_open(MPI_COMM_SELF, '/dev/null ', MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierr)
        call check(ierr == MPI_SUCCESS, 'MPI_File_open')
        call MPI_File_create_errhandler(on_file, handler, ierr)
        call MPI_File_set_errhandler(file, handler, ierr)
        call MPI_File_write(file, n, 1, MPI_INTEGER, status, ierr)
        call check(handled == 11 .and. ierr /= MPI_SUCCESS, 'a handler of a file')
        call MPI_Error_string(ierr, text, n, ierr)
        call check(n > 0 .and. text(n + 1:) == ' ', 'MPI_Error_string')
        call MPI_File_close(file, ierr)
        call check(file == MPI_FILE_NULL, 'a closed file')
    end subroutine

    ! The number of a request counts from 1, also where its error is returned.
    subroutine too_short()
        integer :: requests(1), places(1), n, one, class, code
        integer :: two(2)
        two = 1
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
        call MPI_Irecv(one, 1, MPI_INTEGER, 0, 4, MPI_COMM_SELF, requests(1), ierr)
        call MPI_Send(two, 2, MPI_INTEGER, 0, 4, MPI_COMM_SELF, ierr)
        call MPI_Waitany(1, requests, n, MPI_STATUS_IGNORE, code)
        call MPI_Error_class(code, class, ierr)
        call check(n == 1 .and. class == MPI_ERR_TRUNCATE, 'MPI_Waitany with an error')
        call MPI_Irecv(one, 1, MPI_INTEGER, 0, 4, MPI_COMM_SELF, requests(1), ierr)
        call MPI_Send(two, 2, MPI_INTEGER, 0, 4, MPI_COMM_SELF, ierr)
        call MPI_Waitsome(1, requests, n, places, MPI_STATUSES_IGNORE, ierr)
        call check(n == 1 .and. places(1) == 1 .and. ierr /= MPI_SUCCESS, &
            'MPI_Waitsome with an error')
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, ierr)
    end subroutine

    subroutine graphs()
        integer :: graph, cart, a, b, dims(2), coords(2), sources(1), targets(1)
        logical :: weighted, periods(2)
        sources = left
        targets = right
        call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, &
            targets, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierr)
        call MPI_Dist_graph_neighbors_count(graph, a, b, weighted, ierr)
        call check(a == 1 .and. b == 1 .and. .not. weighted, 'MPI_UNWEIGHTED')
        call MPI_Comm_free(graph, ierr)
        call MPI_Cart_create(MPI_COMM_WORLD, 2, [1, ranks], [.true., .false.], .false., cart, ierr)
        call MPI_Cart_get(cart, 2, dims, periods, coords, ierr)
        call check(dims(2) == ranks .and. periods(1) .and. .not. periods(2), 'MPI_Cart_get')
        call MPI_Comm_free(cart, ierr)
    end subroutine
end program

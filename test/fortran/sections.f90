! The module mpi_f08: array sections in calls that block, go on, and reach windows; types,
! operators, texts, statuses and absent error arguments.
module operations
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
contains
    subroutine add(in, inout, n, kind)
        type(c_ptr), value :: in, inout
        integer :: n
        type(MPI_Datatype) :: kind
        integer, pointer :: x(:), y(:)
        call c_f_pointer(in, x, [n])
        call c_f_pointer(inout, y, [n])
        if (kind == MPI_INTEGER) y = x + y
    end subroutine
end module

! The functions of a generalized request and of a data representation get the value of extra_state.
module extra_states
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    integer(MPI_ADDRESS_KIND) :: seen(4) = -1
contains
    subroutine query(extra, status, ierr)
        integer(MPI_ADDRESS_KIND) :: extra
        type(MPI_Status) :: status
        integer :: ierr
        seen(1) = extra
        call MPI_Status_set_elements(status, MPI_INTEGER, 0)
        call MPI_Status_set_cancelled(status, .false.)
        ierr = MPI_SUCCESS
    end subroutine
    subroutine release(extra, ierr)
        integer(MPI_ADDRESS_KIND) :: extra
        integer :: ierr
        seen(2) = extra
        ierr = MPI_SUCCESS
    end subroutine
    subroutine cancel(extra, complete, ierr)
        integer(MPI_ADDRESS_KIND) :: extra
        logical :: complete
        integer :: ierr
        seen(3) = extra
        ierr = merge(MPI_ERR_REQUEST, MPI_SUCCESS, complete)
    end subroutine
    subroutine extent_of(kind, extent, extra, ierr)
        type(MPI_Datatype) :: kind
        integer(MPI_ADDRESS_KIND) :: extent, extra
        integer :: ierr
        seen(4) = extra
        extent = 4
        ierr = merge(MPI_SUCCESS, MPI_ERR_TYPE, kind /= MPI_DATATYPE_NULL)
    end subroutine
    ! The variable is used for something else when the functions are called.
    subroutine begin(request, extra)
        type(MPI_Request) :: request
        integer(MPI_ADDRESS_KIND) :: extra
        extra = 42
        call MPI_Grequest_start(query, release, cancel, extra, request)
        call MPI_Register_datarep('sections', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, &
            extent_of, extra)
        extra = -5
    end subroutine
end module

! The profiler: the standard's name is ours, the program's sections come as they are.
subroutine mpi_recv_f08ts(buf, count, datatype, source, tag, comm, status, ierror)
    use mpi_f08, unused => mpi_recv_f08ts
    implicit none
    type(*), dimension(..) :: buf
    integer, intent(in) :: count, source, tag
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Status) :: status
    integer, optional, intent(out) :: ierror
    integer :: receives
    common /profile/ receives
    receives = receives + 1
    call PMPI_Recv(buf, count, datatype, source, tag, comm, status, ierror)
end subroutine

program sections
    use operations
    use extra_states
    implicit none
    type pair
        integer :: number
        real(8) :: weight
    end type
    integer :: rank, ranks, left, right, absent, receives
    common /profile/ receives

    receives = 0
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    left = modulo(rank - 1, ranks)
    right = modulo(rank + 1, ranks)
    call types()
    call blocking()
    call going_on()
    ! With MPICH's modules gfortran copies components, and an operation that goes on finds the copy.
    call get_environment_variable('MPICH_MODULES', status=absent)
    if (absent == 1) call components()
    call collectives()
    call windows()
    call large_counts()
    call texts()
    call extra_state()
    call errors()
    call profiled()
    print '(a)', 'sections good'
    call MPI_Finalize()
contains
    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        if (good) return
        print '(a, i0, 2a)', 'rank ', rank, ': wrong: ', what
        call MPI_Abort(MPI_COMM_WORLD, 1)
    end subroutine

    subroutine profiled()
        integer :: a(3, 2), b(4, 6)
        type(MPI_Request) :: r
        a = reshape([1, 2, 3, 4, 5, 6], [3, 2]) + 10 * rank
        b = 0
        call MPI_Isend(a(2:3, :), 4, MPI_INTEGER, right, 9, MPI_COMM_WORLD, r)
        call MPI_Recv(b(4:1:-3, 2:5:3), 4, MPI_INTEGER, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        call MPI_Wait(r, MPI_STATUS_IGNORE)
        call check(receives == 1, 'a profiler in Fortran')
        call check(all(b(4:1:-3, 2:5:3) == a(2:3, :) + 10 * (left - rank)), 'its section')
        call check(count(b /= 0) == 4, 'its section alone')
    end subroutine

    subroutine types()
        type(MPI_Comm) :: comm
        type(MPI_Status) :: status
        integer :: old(MPI_STATUS_SIZE), n
        logical :: flag
        complex(8) :: z(3, 3)
        call MPI_Comm_dup(MPI_COMM_WORLD, comm)
        call check(comm /= MPI_COMM_WORLD .and. MPI_COMM_WORLD == MPI_COMM_WORLD%MPI_VAL, &
            'operators')
        call MPI_Comm_free(comm)
        call check(comm == MPI_COMM_NULL, 'a freed communicator')
        call MPI_Sizeof(z, n)
        call check(n == 16, 'MPI_Sizeof')
        call MPI_Sendrecv(rank, 1, MPI_INTEGER, right, 5, n, 1, MPI_INTEGER, left, 5, &
            MPI_COMM_WORLD, status)
        call check(n == left .and. status%MPI_SOURCE == left .and. status%MPI_TAG == 5, 'a status')
        call MPI_Status_f082f(status, old)
        call check(old(MPI_SOURCE) == left, 'a status of the module mpi')
        call MPI_Initialized(flag)
        call check(flag, 'a logical')
        call check(MPI_SUBARRAYS_SUPPORTED, 'MPI_SUBARRAYS_SUPPORTED')
    end subroutine

    ! Every second row, backwards, through calls that are done when they return.
    subroutine blocking()
        integer :: a(10, 6), b(10, 6), i, j
        type(MPI_Datatype) :: two
        a = reshape([(1000 * rank + i, i = 1, 60)], [10, 6])
        b = 0
        call MPI_Sendrecv(a(1:10:2, 6:1:-1), 30, MPI_INTEGER, right, 1, b(2:10:2, :), 30, &
            MPI_INTEGER, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        call check(all(b(1:9:2, :) == 0), 'between the rows')
        do j = 1, 6
            do i = 1, 5
                call check(b(2 * i, j) == 1000 * left + 2 * i - 1 + 10 * (6 - j), 'rows backwards')
            end do
        end do
        ! a derived datatype over the section
        call MPI_Type_contiguous(2, MPI_INTEGER, two)
        call MPI_Type_commit(two)
        b = 0
        call MPI_Sendrecv(a(3, :), 3, two, right, 2, b(:, 2:6:4), 3, two, left, 2, MPI_COMM_WORLD, &
            MPI_STATUS_IGNORE)
        call check(all(b(1:6, 2) == [(1000 * left + 3 + 10 * i, i = 0, 5)]), 'a row into a column')
        call check(sum(b) == sum(b(1:6, 2)), 'nothing else')
        call MPI_Type_free(two)
    end subroutine

    subroutine going_on()
        real(8) :: a(8, 4, 3), b(8, 4, 3)
        type(MPI_Request) :: r(2)
        type(MPI_Status) :: s(2)
        integer :: i, n, indices(2)
        a = reshape([(100d0 * rank + i, i = 1, 96)], [8, 4, 3])
        b = -1
        call MPI_Irecv(b(2:8:3, ::2, 1:3:2), 12, MPI_REAL8, left, 3, MPI_COMM_WORLD, r(1))
        call MPI_Isend(a(1:8:3, 2::2, 1:3:2), 12, MPI_REAL8, right, 3, MPI_COMM_WORLD, r(2))
        call MPI_Waitall(2, r, s)
        call MPI_Get_count(s(1), MPI_REAL8, n)
        call check(n == 12, 'the count of a section')
        call check(all(b(2:8:3, ::2, 1:3:2) == a(1:8:3, 2::2, 1:3:2) + 100 * (left - rank)), &
            'a section of three dimensions')
        call check(count(b /= -1) == 12, 'only the section')
        ! fewer than the section has: the first ones
        b = -1
        call MPI_Irecv(b(1:8:2, :, 1), 6, MPI_REAL8, left, 4, MPI_COMM_WORLD, r(1))
        call MPI_Isend(a(2:8:2, :, 1), 6, MPI_REAL8, right, 4, MPI_COMM_WORLD, r(2))
        call MPI_Waitsome(2, r, n, indices, s)
        call check(n >= 1 .and. all(indices(1:n) >= 1 .and. indices(1:n) <= 2), 'MPI_Waitsome')
        call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
        call check(all(b(1:7:2, 1, 1) == a(2:8:2, 1, 1) + 100 * (left - rank)), 'the first column')
        call check(all(b(1:3:2, 2, 1) == a(2:4:2, 2, 1) + 100 * (left - rank)), 'half a column')
        call check(count(b /= -1) == 6, 'six elements')
        ! a persistent one, and MPI_Waitany's index
        call MPI_Recv_init(b(1, :, 2), 4, MPI_REAL8, left, 6, MPI_COMM_WORLD, r(1))
        call MPI_Start(r(1))
        call MPI_Send(a(1, :, 2), 4, MPI_REAL8, right, 6, MPI_COMM_WORLD)
        call MPI_Waitany(1, r, n, MPI_STATUS_IGNORE)
        call check(n == 1 .and. all(b(1, :, 2) == a(1, :, 2) + 100 * (left - rank)), 'persistent')
        call MPI_Request_free(r(1))
    end subroutine

    ! Parts of a type, and of texts: an element is shorter than the step.
    subroutine components()
        type(pair) :: p(5), q(5)
        character(len=6) :: t(3), u(3)
        type(MPI_Request) :: r
        integer :: i
        p%number = [(rank + i, i = 1, 5)]
        p%weight = [(rank + 0.5d0 * i, i = 1, 5)]
        q%number = 0
        q%weight = 0
        call MPI_Irecv(q%weight, 5, MPI_REAL8, left, 7, MPI_COMM_WORLD, r)
        call MPI_Send(p%weight, 5, MPI_REAL8, right, 7, MPI_COMM_WORLD)
        call MPI_Wait(r, MPI_STATUS_IGNORE)
        call check(all(q%weight == p%weight - rank + left) .and. all(q%number == 0), 'components')
        t = ['abcdef', 'ghijkl', 'mnopqr']
        u = '......'
        call MPI_Irecv(u(:)(2:3), 6, MPI_CHARACTER, left, 8, MPI_COMM_WORLD, r)
        call MPI_Send(t(:)(5:6), 6, MPI_CHARACTER, right, 8, MPI_COMM_WORLD)
        call MPI_Wait(r, MPI_STATUS_IGNORE)
        call check(all(u == ['.ef...', '.kl...', '.qr...']), 'parts of texts')
    end subroutine

    subroutine collectives()
        integer :: a(4, 3), b(3, 4 * ranks), i
        type(MPI_Op) :: op
        a = rank
        if (rank == 0) a(2, :) = [7, 8, 9]
        call MPI_Bcast(a(2, :), 3, MPI_INTEGER, 0, MPI_COMM_WORLD)
        call check(all(a(2, :) == [7, 8, 9]) .and. all(a(1, :) == rank), 'MPI_Bcast')
        b = -1
        call MPI_Allgather(a(1, 1:3:2), 2, MPI_INTEGER, b(2, :), 2, MPI_INTEGER, MPI_COMM_WORLD)
        call check(all(b(2, 1:2 * ranks) == [(i / 2, i = 0, 2 * ranks - 1)]), 'MPI_Allgather')
        call check(all(b(1, :) == -1) .and. all(b(2, 2 * ranks + 1:) == -1), 'around MPI_Allgather')
        call MPI_Op_create(add, .true., op)
        call MPI_Allreduce(MPI_IN_PLACE, a(1, :), 3, MPI_INTEGER, op, MPI_COMM_WORLD)
        call check(all(a(1, :) == ranks * (ranks - 1) / 2), 'MPI_Allreduce in place')
        call MPI_Op_free(op)
    end subroutine

    subroutine windows()
        type(MPI_Win) :: win
        type(c_ptr) :: memory
        integer, pointer :: w(:)
        integer :: a(3, 4), b(3, 4)
        call MPI_Win_allocate(64_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, memory, win)
        call c_f_pointer(memory, w, [16])
        w = 0
        a = reshape([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], [3, 4]) + 100 * rank
        b = 0
        call MPI_Win_fence(0, win)
        call MPI_Put(a(2, :), 4, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win)
        call MPI_Win_fence(0, win)
        call check(all(w(1:4) == [2, 5, 8, 11] + 100 * left), 'MPI_Put of a row')
        call MPI_Get(b(3, :), 4, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win)
        call MPI_Accumulate(a(1, 1:4:3), 2, MPI_INTEGER, right, 8_MPI_ADDRESS_KIND, 2, &
            MPI_INTEGER, MPI_SUM, win)
        call MPI_Win_fence(0, win)
        call check(all(b(3, :) == [2, 5, 8, 11] + 100 * rank) .and. all(b(1:2, :) == 0), 'MPI_Get')
        call check(all(w(9:10) == [1, 10] + 100 * left), 'MPI_Accumulate')
        call MPI_Win_free(win)
    end subroutine

    subroutine large_counts()
        integer(MPI_COUNT_KIND) :: n
        type(MPI_Datatype) :: t
        integer :: a(6), b(6)
        a = rank
        call MPI_Type_contiguous(3_MPI_COUNT_KIND, MPI_INTEGER, t)
        call MPI_Type_size(t, n)
        call check(n == 12, 'MPI_Type_size of a large count')
        call MPI_Type_free(t)
        b = 0
        call MPI_Allreduce(a(::2), b(::2), 3_MPI_COUNT_KIND, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
        call check(all(b(::2) == ranks * (ranks - 1) / 2) .and. all(b(2::2) == 0), 'large counts')
    end subroutine

    subroutine texts()
        character(len=MPI_MAX_OBJECT_NAME) :: name
        character(len=8) :: value
        character(len=2) :: short
        type(MPI_Info) :: info
        integer :: n
        logical :: flag
        call MPI_Comm_set_name(MPI_COMM_SELF, '  own  ')
        call MPI_Comm_get_name(MPI_COMM_SELF, name, n)
        call check(n == 5 .and. name == '  own', 'a name without its blanks behind')
        call MPI_Info_create(info)
        call MPI_Info_set(info, 'key', 'value ')
        n = 8
        call MPI_Info_get_string(info, 'key', n, value, flag)
        call check(flag .and. n == 5 .and. value == 'value', 'MPI_Info_get_string')
        call MPI_Info_get(info, ' key', 2, short, flag)
        call check(flag .and. short == 'va', 'MPI_Info_get')
        call MPI_Info_get(info, 'none', 8, value, flag)
        call check(.not. flag .and. value == 'value', 'a key that is not there')
        call MPI_Info_free(info)
    end subroutine

    subroutine extra_state()
        type(MPI_Request) :: request
        type(MPI_File) :: file
        integer(MPI_ADDRESS_KIND) :: extra, extent
        character(len=64) :: name
        call begin(request, extra)
        call MPI_Cancel(request)
        call MPI_Grequest_complete(request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call check(all(seen(1:3) == 42), 'extra_state of a generalized request')
        call MPI_Grequest_start(query, release, cancel, 43_MPI_ADDRESS_KIND, request)
        call MPI_Grequest_complete(request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call check(seen(2) == 43, 'extra_state is an expression')
        write(name, '(a,i0)') 'sections.', rank
        call MPI_File_open(MPI_COMM_SELF, trim(name), MPI_MODE_CREATE + MPI_MODE_RDWR &
            + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file)
        call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'sections', &
            MPI_INFO_NULL)
        call MPI_File_get_type_extent(file, MPI_INTEGER, extent)
        call check(seen(4) == 42 .and. extent == 4, 'extra_state of a data representation')
        call MPI_File_close(file)
    end subroutine

    ! A handler that is called, and a section where none can be.
    subroutine errors()
        type(MPI_Errhandler) :: old
        integer :: a(4), b(4 * ranks, 2), code, class
        type(MPI_Request) :: r
        call MPI_Comm_get_errhandler(MPI_COMM_WORLD, old)
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
        a = 0
        call MPI_Send(a, -1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, code)
        call MPI_Error_class(code, class)
        call check(class == MPI_ERR_COUNT, 'an error')
        call MPI_Iallgather(a(1:2), 2, MPI_INTEGER, b(::2, 1), 2, MPI_INTEGER, MPI_COMM_WORLD, r, &
            code)
        call MPI_Error_class(code, class)
        call check(class == MPI_ERR_BUFFER, 'a section of several blocks that goes on')
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, old)
        call MPI_Errhandler_free(old)
    end subroutine
end program

! Open MPI's module mpi_f08: types of handles, absent error arguments, sentinels, functions of the
! program. Compiled with Open MPI's mpif90.
module ompi_f08_functions
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    integer :: handled = 0, copied = 0
contains
    subroutine twice(in, inout, length, kind)
        type(c_ptr), value :: in, inout
        integer :: length
        type(MPI_Datatype) :: kind
        integer, pointer :: x(:), y(:)
        if (kind /= MPI_INTEGER) return
        call c_f_pointer(in, x, [length])
        call c_f_pointer(inout, y, [length])
        y = y + 2 * x
    end subroutine
    subroutine on_comm(comm, code)
        type(MPI_Comm) :: comm
        integer :: code
        if (comm == MPI_COMM_SELF) handled = code
    end subroutine
    subroutine copy(comm, key, extra, value, made, flag, ierr)
        type(MPI_Comm) :: comm
        integer :: key, ierr
        integer(MPI_ADDRESS_KIND) :: extra, value, made
        logical :: flag
        copied = copied + 1
        made = value + extra
        flag = comm == MPI_COMM_SELF
        ierr = MPI_SUCCESS
    end subroutine
end module

program ompi_f08
    use ompi_f08_functions
    implicit none
    integer :: ierr, rank, ranks, left, right, n
    type(MPI_Comm) :: comm
    type(MPI_Status) :: status

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    left = modulo(rank - 1, ranks)
    right = modulo(rank + 1, ranks)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call check(comm /= MPI_COMM_WORLD .and. comm /= MPI_COMM_NULL, 'a communicator')
    call messages()
    call functions()
    call memory()
    call MPI_Comm_free(comm)
    call check(comm == MPI_COMM_NULL, 'MPI_COMM_NULL')
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) print '(a)', ' No Errors'
    call MPI_Finalize()
contains
    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        if (good) return
        print '(a, i0, 2a)', 'rank ', rank, ': wrong: ', what
        call MPI_Abort(MPI_COMM_WORLD, 1)
    end subroutine

    subroutine messages()
        type(MPI_Request) :: requests(2)
        type(MPI_Status) :: statuses(2)
        integer :: x(4), y(4)
        x = rank
        call MPI_Irecv(y, 4, MPI_INTEGER, left, 3, comm, requests(1))
        call MPI_Isend(x, 4, MPI_INTEGER, right, 3, comm, requests(2))
        call MPI_Waitall(2, requests, statuses)
        call MPI_Get_count(statuses(1), MPI_INTEGER, n)
        call check(all(y == left) .and. statuses(1)%MPI_SOURCE == left .and. &
            statuses(1)%MPI_TAG == 3 .and. n == 4, 'a status')
        call check(all(requests == MPI_REQUEST_NULL), 'MPI_REQUEST_NULL')
        call MPI_Sendrecv(x, 1, MPI_INTEGER, right, 4, y, 1, MPI_INTEGER, left, 4, comm, &
            MPI_STATUS_IGNORE)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        call MPI_Allreduce(MPI_IN_PLACE, x, 4, MPI_INTEGER, MPI_SUM, comm)
        call check(all(x == ranks * (ranks - 1) / 2), 'MPI_IN_PLACE')
        call MPI_Probe(MPI_PROC_NULL, 0, comm, status)
        call check(status%MPI_SOURCE == MPI_PROC_NULL, 'MPI_PROC_NULL')
        call MPI_Sizeof(x(1), n)
        call check(n == 4 .and. MPI_Wtick() > 0, 'MPI_Sizeof, MPI_Wtick')
    end subroutine

    subroutine functions()
        type(MPI_Op) :: op
        type(MPI_Errhandler) :: handler
        type(MPI_Comm) :: made
        integer :: x, y, key
        integer(MPI_ADDRESS_KIND) :: value
        logical :: flag
        call MPI_Op_create(twice, .true., op)
        x = 1
        call MPI_Reduce(x, y, 1, MPI_INTEGER, op, 0, comm)
        if (rank == 0) call check(y >= ranks, 'an operation')
        call MPI_Op_free(op)
        call check(op == MPI_OP_NULL, 'MPI_OP_NULL')
        call MPI_Comm_create_errhandler(on_comm, handler)
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, handler)
        call MPI_Send(x, 1, MPI_INTEGER, 1, 0, MPI_COMM_SELF, ierr)
        call check(handled == MPI_ERR_RANK .and. ierr == MPI_ERR_RANK, 'a handler')
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
        call MPI_Errhandler_free(handler)
        call MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, key, 2_MPI_ADDRESS_KIND)
        call MPI_Comm_set_attr(MPI_COMM_SELF, key, 40_MPI_ADDRESS_KIND)
        call MPI_Comm_dup(MPI_COMM_SELF, made)
        call MPI_Comm_get_attr(made, key, value, flag)
        call check(flag .and. value == 42 .and. copied == 1, 'an attribute')
        call MPI_Comm_free(made)
        call MPI_Comm_delete_attr(MPI_COMM_SELF, key)
    end subroutine

    subroutine memory()
        type(c_ptr) :: p
        type(MPI_Win) :: win
        integer, pointer :: x(:)
        integer, target :: buffer(100)
        call MPI_Win_allocate(8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, comm, p, win)
        call c_f_pointer(p, x, [2])
        x = -1
        call MPI_Win_fence(0, win)
        call MPI_Put(rank, 1, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
        call MPI_Win_fence(0, win)
        call check(x(2) == left, 'MPI_Put')
        call MPI_Win_free(win)
        call check(win == MPI_WIN_NULL, 'MPI_WIN_NULL')
        call MPI_Buffer_attach(buffer, 400)
        call MPI_Buffer_detach(p, n)
        call c_f_pointer(p, x, [2])
        x(2) = 77
        call check(n == 400 .and. buffer(2) == 77, 'MPI_Buffer_detach')
    end subroutine
end program

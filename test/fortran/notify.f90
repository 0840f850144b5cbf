! Notified operations by each of Fortran's three ways: mpi_f08, the module mpi, and mpif.h. Handles
! are integers in the latter two, so the window may come before the index, as Intel MPI's guide has
! them. Then a duplicate of the window, memory handles, a revoked window, one that is shrunk, and a
! revoked file.
subroutine by_mpi(window, right, left)
    use mpi
    implicit none
    integer, intent(in) :: window, right, left
    integer :: ierr, x, code, class, other, request
    integer(MPI_COUNT_KIND) :: value
    integer(MPI_ADDRESS_KIND) :: handle
    logical :: there
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, other, ierr)
    call MPIX_Memhandle_create(other, x, 4_MPI_ADDRESS_KIND, handle, ierr)
    call MPIX_Memhandle_free(other, handle, ierr)
    call MPI_Win_free(other, ierr)
    call MPIX_Win_idup(window, MPI_INFO_NULL, other, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call MPI_Win_free(other, ierr)
    if (other /= MPI_WIN_NULL) error stop 'mpi: MPIX_Win_idup'
    x = 1000 + left
    call MPIX_Put_notify(x, 1, MPI_INTEGER, right, 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, 1, window, &
        ierr)
    call MPIX_Win_notify_wait(window, 1, 1_MPI_COUNT_KIND, ierr)
    call MPIX_Win_notify_test(window, 1, 1_MPI_COUNT_KIND, there, ierr)
    if (.not. there) error stop 'mpi: MPIX_Win_notify_test'
    call MPIX_Win_notify_get_value(window, 1, value, ierr)
    if (value /= 1) error stop 'mpi: MPIX_Win_notify_get_value'
    call MPIX_Win_notify_set_value(window, 1, 0_MPI_COUNT_KIND, ierr)
    call MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN, ierr)
    call MPIX_Win_notify_wait(window, 9, 1_MPI_COUNT_KIND, code)
    call MPI_Error_class(code, class, ierr)
    if (class /= MPIX_ERR_INVALID_NOTIFICATION) error stop 'mpi: the class of an error'
    call MPI_Win_set_errhandler(window, MPI_ERRORS_ARE_FATAL, ierr)
end subroutine

subroutine by_mpif(window, right, left)
    implicit none
    include 'mpif.h'
    integer window, right, left, ierr, x
    integer(kind=MPI_ADDRESS_KIND) place
    integer(kind=MPI_COUNT_KIND) n
    x = 2000 + left
    place = 3
    n = 1
    ! the other order of the two
    call MPIX_PUT_NOTIFY(x, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, window, 0, ierr)
    call MPIX_WIN_NOTIFY_TAKE(window, 0, n, ierr)
end subroutine

program notify
    use mpi_f08
    use, intrinsic :: iso_c_binding, only: c_ptr
    implicit none
    integer, parameter :: many = 1000
    integer :: rank, ranks, left, right, i, code, class
    integer, asynchronous :: memory(0:many), x(many), grid(2, many)
    integer(MPI_COUNT_KIND) :: value, n
    integer(MPI_ADDRESS_KIND) :: handle, theirs
    logical :: there
    type(MPI_Win) :: win, other
    type(MPI_File) :: file
    type(MPI_Group) :: dead
    type(MPI_Request) :: request
    type(c_ptr) :: none
    type(MPI_Status) :: status

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    left = modulo(rank - 1, ranks)
    right = modulo(rank + 1, ranks)
    memory = -1
    memory(0) = 5
    call MPI_Win_create(memory, int((many + 1) * 4, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, &
        MPI_COMM_WORLD, win)
    call MPIX_Win_notify_set_num(win, MPI_INFO_NULL, 3)
    call MPI_Win_lock_all(0, win)

    ! a section: every second element
    grid = -2
    grid(2, :) = [(rank * 10000 + i, i = 1, many)]
    call MPIX_Put_notify(grid(2, :), many, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, many, &
        MPI_INTEGER, 2, win)
    call MPIX_Win_notify_take(win, 2, 1_MPI_COUNT_KIND)
    call check(all(memory(1:) == [(left * 10000 + i, i = 1, many)]), 'MPIX_Put_notify')

    call MPIX_Accumulate_notify(7, 1, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, &
        MPI_SUM, 1, win)
    call MPIX_Win_notify_request(win, 1, 1_MPI_COUNT_KIND, request)
    call MPI_Wait(request, status)
    call check(memory(0) == 12, 'MPIX_Accumulate_notify and a request')
    call MPIX_Win_set_notify(win, 1, 4_MPI_COUNT_KIND)
    call MPIX_Win_get_notify(win, 1, value)
    call check(value == 4, 'MPIX_Win_set_notify')
    call MPIX_Win_notify_test(win, 1, 5_MPI_COUNT_KIND, there)
    call check(.not. there, 'MPIX_Win_notify_test')
    call MPIX_Win_notify_set_value(win, 1, 0_MPI_COUNT_KIND)

    ! the large form
    n = many
    call MPIX_Get_notify(x, n, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, n, MPI_INTEGER, 0, win)
    call MPIX_Win_notify_take(win, 0, 1_MPI_COUNT_KIND)
    memory(1:) = 0 ! it has been read
    call MPI_Win_flush(right, win)
    call check(all(x == [(rank * 10000 + i, i = 1, many)]), 'MPIX_Get_notify')
    call MPI_Barrier(MPI_COMM_WORLD)

    call by_mpi(win%mpi_val, right, left)
    call by_mpif(win%mpi_val, right, left)
    call MPI_F_sync_reg(memory)
    i = modulo(left - 1, ranks) ! what the left neighbour has on its left
    call check(memory(2) == 1000 + i .and. memory(3) == 2000 + i, 'the module mpi, and mpif.h')

    ! a put on a duplicate, and its own flush
    call MPIX_Win_idup(win, MPI_INFO_NULL, other, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    x(1) = 3000 + rank
    call MPI_Put(x, 1, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, other)
    call MPI_Win_flush(right, other)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_sync(win)
    call check(memory(0) == 3000 + left, 'a put on a duplicate')
    call MPI_Win_free(other)

    call MPI_Win_unlock_all(win)

    ! memory of a dynamic window, by its handle
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, other)
    call MPIX_Memhandle_create(other, grid, int(8 * many, MPI_ADDRESS_KIND), handle)
    call MPI_Sendrecv(handle, 1, MPI_AINT, left, 1, theirs, 1, MPI_AINT, right, 1, MPI_COMM_WORLD, &
        MPI_STATUS_IGNORE)
    grid(1, 1) = 0
    x(2) = 4000 + rank
    call MPI_Win_fence(0, other)
    call MPI_Put(x(2), 1, MPI_INTEGER, right, theirs, 1, MPI_INTEGER, other)
    call MPI_Win_fence(0, other)
    call MPI_F_sync_reg(grid)
    call check(grid(1, 1) == 4000 + left, 'a put by a memory handle')
    call MPIX_Memhandle_free(other, handle)
    call MPI_Win_free(other)

    ! revoked by all, and shrunk to all
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPIX_Win_revoke(win)
    call MPIX_Win_is_revoked(win, there)
    call check(there, 'MPIX_Win_is_revoked')
    call MPI_Win_fence(0, win, code)
    call MPI_Error_class(code, class)
    call check(class == MPIX_ERR_REVOKED, 'a fence of a revoked window')
    call MPIX_Win_get_failed(win, dead)
    call check(dead == MPI_GROUP_EMPTY, 'MPIX_Win_get_failed')
    call MPIX_Win_shrink(win, other)
    call MPIX_Win_recover(other, 0, none, code)
    call MPI_Error_class(code, class)
    call check(class == MPI_ERR_UNSUPPORTED_OPERATION, 'MPIX_Win_recover without copies')
    call MPI_Win_free(win)
    call MPI_Win_fence(0, other)
    call MPI_Put(x, 1, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, other)
    call MPI_Win_fence(0, other)
    call check(memory(1) == 3000 + left, 'a put in a window that was shrunk')
    call MPI_Win_free(other)

    ! a file, whose handler returns errors at first
    call MPI_File_open(MPI_COMM_SELF, '/dev/null', MPI_MODE_RDONLY, MPI_INFO_NULL, file)
    call MPIX_File_is_revoked(file, there)
    call check(.not. there, 'a file that was not revoked')
    call MPIX_File_revoke(file)
    call MPIX_File_is_revoked(file, there)
    call check(there, 'MPIX_File_is_revoked')
    call MPI_File_read(file, x, 1, MPI_INTEGER, MPI_STATUS_IGNORE, code)
    call MPI_Error_class(code, class)
    call check(class == MPIX_ERR_REVOKED, 'a read of a revoked file')
    call MPI_File_close(file)

    call MPI_Finalize()
    print '(a)', 'notify good'
contains
    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        if (good) return
        print '(a, i0, 2a)', 'rank ', rank, ': wrong: ', what
        call MPI_Abort(MPI_COMM_WORLD, 1)
    end subroutine
end program

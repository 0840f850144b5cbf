! Windows made without waiting, by mpi_f08, the module mpi and mpif.h: MPI_Wait stores the window
! and the base. Then each rank puts a number into its right neighbour's memory and gets it back.
module exchanges
    implicit none
contains
    subroutine exchange(win, number, what)
        use mpi
        integer, intent(in) :: win, number
        character(*), intent(in) :: what
        integer :: rank, ranks, right, ierr
        integer, asynchronous :: back
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
        call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
        right = modulo(rank + 1, ranks)
        back = -1
        call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win, ierr)
        call MPI_Put(number, 1, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierr)
        call MPI_Win_flush(right, win, ierr)
        call MPI_Get(back, 1, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierr)
        call MPI_Win_unlock(right, win, ierr)
        call MPI_F_sync_reg(back)
        call check(back == number, what)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end subroutine

    subroutine check(good, what)
        use mpi
        logical, intent(in) :: good
        character(*), intent(in) :: what
        integer :: ierr
        if (good) return
        print '(2a)', 'wrong: ', what
        call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end subroutine
end module

subroutine by_mpi(rank, left)
    use mpi
    use exchanges
    use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
    implicit none
    integer, intent(in) :: rank, left
    integer, asynchronous :: first, second, memory(0:1)
    integer :: request(2), ierr
    type(c_ptr), asynchronous :: base
    integer, pointer :: x(:)
    memory = -1
    ! two under way at once; the second is waited for first
    call MPIX_Win_iallocate(8_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND, MPI_INFO_NULL, MPI_COMM_WORLD, &
        base, first, request(1), ierr)
    call MPIX_Win_icreate(memory, 8_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND, MPI_INFO_NULL, &
        MPI_COMM_WORLD, second, request(2), ierr)
    call MPI_Wait(request(2), MPI_STATUS_IGNORE, ierr)
    call MPI_Wait(request(1), MPI_STATUS_IGNORE, ierr)
    call MPI_F_sync_reg(first)
    call MPI_F_sync_reg(second)
    call MPI_F_sync_reg(base)
    call exchange(first, 1000 + rank, 'mpi: MPIX_Win_iallocate')
    call exchange(second, 2000 + rank, 'mpi: MPIX_Win_icreate')
    call c_f_pointer(base, x, [2])
    call check(x(2) == 1000 + left, 'mpi: the base of MPIX_Win_iallocate')
    call MPI_F_sync_reg(memory)
    call check(memory(1) == 2000 + left, 'mpi: the memory of MPIX_Win_icreate')
    call MPI_Win_free(second, ierr)
    call MPI_Win_free(first, ierr)
end subroutine

subroutine by_mpif(rank, left)
    use exchanges
    implicit none
    include 'mpif.h'
    integer rank, left, win, request, ierr
    integer memory(0:1)
    integer(kind=MPI_ADDRESS_KIND) bytes, unit, base, place, attribute
    logical there
    asynchronous win, memory, base
    bytes = 8
    unit = 4
    base = 0
    call MPIX_WIN_IALLOCATE(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, request, ierr)
    call MPI_WAIT(request, MPI_STATUS_IGNORE, ierr)
    call MPI_F_SYNC_REG(win)
    call MPI_F_SYNC_REG(base)
    call exchange(win, 3000 + rank, 'mpif.h: MPIX_Win_iallocate')
    call MPI_WIN_GET_ATTR(win, MPI_WIN_BASE, attribute, there, ierr)
    call check(there .and. base .ne. 0 .and. base .eq. attribute, 'mpif.h: the base')
    call MPI_WIN_FREE(win, ierr)
    call MPIX_WIN_ICREATE(memory, bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, win, request, ierr)
    call MPI_WAIT(request, MPI_STATUS_IGNORE, ierr)
    call MPI_F_SYNC_REG(win)
    call exchange(win, 4000 + rank, 'mpif.h: MPIX_Win_icreate')
    call MPI_GET_ADDRESS(memory, place, ierr)
    call MPI_WIN_GET_ATTR(win, MPI_WIN_BASE, attribute, there, ierr)
    call check(there .and. place .eq. attribute, 'mpif.h: the memory')
    call MPI_F_SYNC_REG(memory)
    call check(memory(1) .eq. 4000 + left, 'mpif.h: what was put')
    call MPI_WIN_FREE(win, ierr)
end subroutine

program windows
    use mpi_f08
    use exchanges
    use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
    implicit none
    integer :: rank, ranks, left, code, class
    integer, asynchronous :: memory(0:1)
    integer, pointer :: x(:)
    type(MPI_Win), asynchronous :: first, second
    type(MPI_Request) :: request(2)
    type(c_ptr), asynchronous :: base

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    left = modulo(rank - 1, ranks)
    memory = -1
    call MPIX_Win_iallocate(8_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND, MPI_INFO_NULL, MPI_COMM_WORLD, &
        base, first, request(1))
    call MPIX_Win_icreate(memory, 8_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND, MPI_INFO_NULL, &
        MPI_COMM_WORLD, second, request(2))
    call MPI_Waitall(2, request, MPI_STATUSES_IGNORE)
    call MPI_F_sync_reg(first)
    call MPI_F_sync_reg(second)
    call MPI_F_sync_reg(base)
    call exchange(first%mpi_val, 5000 + rank, 'mpi_f08: MPIX_Win_iallocate')
    call exchange(second%mpi_val, 6000 + rank, 'mpi_f08: MPIX_Win_icreate')
    call c_f_pointer(base, x, [2])
    call check(x(2) == 5000 + left, 'mpi_f08: the base of MPIX_Win_iallocate')
    call MPI_F_sync_reg(memory)
    call check(memory(1) == 6000 + left, 'mpi_f08: the memory of MPIX_Win_icreate')
    call MPI_Win_free(first)
    call MPI_Win_free(second)

    call by_mpi(rank, left)
    call by_mpif(rank, left)

    ! the error of a unit comes from the call or from the wait, and there is no window then
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPIX_Win_iallocate(8_MPI_ADDRESS_KIND, -4_MPI_ADDRESS_KIND, MPI_INFO_NULL, &
        MPI_COMM_SELF, base, first, request(1), code)
    if (code == MPI_SUCCESS) call MPI_Wait(request(1), MPI_STATUS_IGNORE, code)
    call MPI_F_sync_reg(first)
    call MPI_Error_class(code, class)
    call check(class == MPI_ERR_DISP .and. first == MPI_WIN_NULL, 'mpi_f08: a wrong unit')
    call MPI_Finalize()
    print '(a)', 'windows good'
end program

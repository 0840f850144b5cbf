! Continuations by mpi_f08, the module mpi, and mpif.h: a procedure runs when a message is here,
! with its number and the error; an error that it does not ask for is the wait's.
module work
    use, intrinsic :: iso_fortran_env, only : int64
    implicit none
    integer, parameter :: places = 9
    integer :: ran(places) = 0, class(places) = -1
contains
    subroutine arrived(error_code, cb_data, ierror)
        use mpi_f08
        integer :: error_code, ierror
        integer(MPI_ADDRESS_KIND) :: cb_data
        integer :: c
        call MPI_Error_class(error_code, c)
        ran(cb_data) = ran(cb_data) + 1
        class(cb_data) = c
        ierror = MPI_SUCCESS
    end subroutine
end module

subroutine by_mpi(rank)
    use mpi
    use work
    implicit none
    integer, intent(in) :: rank
    integer :: cont, request(2), x(2), ierr, i
    integer, asynchronous :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
    call MPIX_Continue_init(0, 0, MPI_INFO_NULL, cont, ierr)
    call MPI_Start(cont, ierr)
    call MPI_Irecv(x(1), 1, MPI_INTEGER, rank, 11, MPI_COMM_WORLD, request(1), ierr)
    call MPIX_Continue(request(1), arrived, 1_MPI_ADDRESS_KIND, 0, status, cont, ierr)
    if (request(1) /= MPI_REQUEST_NULL .or. ran(1) /= 0) error stop 'mpi: MPIX_Continue'
    call MPI_Send(7, 1, MPI_INTEGER, rank, 11, MPI_COMM_WORLD, ierr)
    call MPI_Wait(cont, MPI_STATUS_IGNORE, ierr)
    if (ran(1) /= 1 .or. x(1) /= 7 .or. status(MPI_TAG) /= 11) error stop 'mpi: it has not run'
    call MPI_Start(cont, ierr)
    do i = 1, 2
        call MPI_Irecv(x(i), 1, MPI_INTEGER, rank, 11 + i, MPI_COMM_WORLD, request(i), ierr)
    end do
    call MPIX_Continueall(2, request, arrived, 2_MPI_ADDRESS_KIND, 0, statuses, cont, ierr)
    do i = 2, 1, -1
        call MPI_Send(i, 1, MPI_INTEGER, rank, 11 + i, MPI_COMM_WORLD, ierr)
    end do
    call MPI_Wait(cont, MPI_STATUS_IGNORE, ierr)
    if (ran(2) /= 1 .or. any(statuses(MPI_TAG, :) /= [12, 13])) error stop 'mpi: MPIX_Continueall'
    call MPI_Request_free(cont, ierr)
end subroutine

subroutine by_mpif()
    use work, only : ran, arrived
    implicit none
    include 'mpif.h'
    integer cont, request, ierr
    integer(kind=MPI_ADDRESS_KIND) place
    place = 3
    request = MPI_REQUEST_NULL
    call MPIX_Continue_init(MPIX_CONT_POLL_ONLY, 0, MPI_INFO_NULL, cont, ierr)
    call MPI_Start(cont, ierr)
    call MPIX_Continue(request, arrived, place, 0, MPI_STATUS_IGNORE, cont, ierr)
    if (ran(3) .ne. 0) error stop 'mpif.h: it has run at once'
    call MPI_Wait(cont, MPI_STATUS_IGNORE, ierr)
    if (ran(3) .ne. 1) error stop 'mpif.h: it has not run'
    call MPI_Request_free(cont, ierr)
end subroutine

program continue
    use mpi_f08
    use work
    implicit none
    integer :: rank, ierr, c, x(4), i, flags
    type(MPI_Request) :: cont, request(2)
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call by_mpi(rank)
    call by_mpif()
    x = 4
    call MPIX_Continue_init(0, 0, MPI_INFO_NULL, cont)
    do i = 0, 1
        flags = merge(MPIX_CONT_INVOKE_FAILED, 0, i == 1)
        call MPI_Start(cont)
        call MPI_Irecv(x(1), 1, MPI_INTEGER, rank, 21, MPI_COMM_WORLD, request(1))
        request(2) = MPI_REQUEST_NULL
        call MPIX_Continueall(2, request, arrived, 4_MPI_ADDRESS_KIND + i, flags, &
            MPI_STATUSES_IGNORE, cont)
        call MPI_Send(x, 3, MPI_INTEGER, rank, 21, MPI_COMM_WORLD) ! too long
        call MPI_Wait(cont, MPI_STATUS_IGNORE, ierr)
        call MPI_Error_class(ierr, c)
        if (c /= merge(MPI_SUCCESS, MPI_ERR_TRUNCATE, i == 1)) error stop 'mpi_f08: the error'
    end do
    if (ran(4) /= 0 .or. ran(5) /= 1 .or. class(5) /= MPI_ERR_TRUNCATE) error stop 'mpi_f08: class'
    request(1) = MPI_REQUEST_NULL
    call MPIX_Continue(request(1), arrived, 6_MPI_ADDRESS_KIND, ishft(1, 20), MPI_STATUS_IGNORE, &
        cont, ierr)
    call MPI_Error_class(ierr, c)
    if (c /= MPI_ERR_ARG) error stop 'mpi_f08: unknown flags'
    call MPI_Request_free(cont)
    call MPI_Finalize()
    print *, 'continue good'
end program

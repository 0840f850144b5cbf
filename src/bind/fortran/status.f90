subroutine mpi_status_f082f(f08_status, f_status, ierror)
type(MPI_Status), intent(in) :: f08_status
integer, intent(out) :: f_status(5)
integer, optional, intent(out) :: ierror
f_status(1) = f08_status%count_lo
f_status(2) = f08_status%count_hi_and_cancelled
f_status(3) = f08_status%MPI_SOURCE
f_status(4) = f08_status%MPI_TAG
f_status(5) = f08_status%MPI_ERROR
if (present(ierror)) ierror = 0
end subroutine
subroutine mpi_status_f2f08(f_status, f08_status, ierror)
integer, intent(in) :: f_status(5)
type(MPI_Status), intent(out) :: f08_status
integer, optional, intent(out) :: ierror
f08_status%count_lo = f_status(1)
f08_status%count_hi_and_cancelled = f_status(2)
f08_status%MPI_SOURCE = f_status(3)
f08_status%MPI_TAG = f_status(4)
f08_status%MPI_ERROR = f_status(5)
if (present(ierror)) ierror = 0
end subroutine

! Variables whose addresses mean something, and the interfaces of functions of the program.
module mpi_f08_link_constants
use, intrinsic :: iso_c_binding, only : c_int
use mpi_f08_types
implicit none
integer(c_int), bind(c, name='MPIR_F08_MPI_BOTTOM'), target :: MPI_BOTTOM
integer(c_int), bind(c, name='MPIR_F08_MPI_IN_PLACE'), target :: MPI_IN_PLACE
type(MPI_Status), bind(c, name='MPIR_F08_MPI_STATUS_IGNORE_OBJ'), target :: MPI_STATUS_IGNORE
type(MPI_Status), bind(c, name='MPIR_F08_MPI_STATUSES_IGNORE_OBJ'), target :: &
    MPI_STATUSES_IGNORE(1)
integer, target :: MPI_ERRCODES_IGNORE(1), MPI_UNWEIGHTED(1), MPI_WEIGHTS_EMPTY(1)
integer, target :: MPI_BUFFER_AUTOMATIC
character(len=1), target :: MPI_ARGV_NULL(1), MPI_ARGVS_NULL(1,1)
end module

module mpi_f08_callbacks
use, intrinsic :: iso_c_binding, only : c_ptr
use mpi_f08_types
implicit none
abstract interface
subroutine MPIX_Continue_cb_function(error_code, cb_data, ierror)
integer :: error_code, ierror
integer(8) :: cb_data
end subroutine
subroutine MPI_User_function(invec, inoutvec, len, datatype)
import
type(c_ptr), value :: invec, inoutvec
integer :: len
type(MPI_Datatype) :: datatype
end subroutine
subroutine MPI_User_function_c(invec, inoutvec, len, datatype)
import
type(c_ptr), value :: invec, inoutvec
integer(8) :: len
type(MPI_Datatype) :: datatype
end subroutine
subroutine MPI_Comm_copy_attr_function(oldcomm, comm_keyval, extra_state, &
    attribute_val_in, attribute_val_out, flag, ierror)
import
type(MPI_Comm) :: oldcomm
integer :: comm_keyval, ierror
integer(8) :: extra_state, attribute_val_in, attribute_val_out
logical :: flag
end subroutine
subroutine MPI_Comm_delete_attr_function(comm, comm_keyval, attribute_val, extra_state, ierror)
import
type(MPI_Comm) :: comm
integer :: comm_keyval, ierror
integer(8) :: attribute_val, extra_state
end subroutine
subroutine MPI_Type_copy_attr_function(oldtype, type_keyval, extra_state, &
    attribute_val_in, attribute_val_out, flag, ierror)
import
type(MPI_Datatype) :: oldtype
integer :: type_keyval, ierror
integer(8) :: extra_state, attribute_val_in, attribute_val_out
logical :: flag
end subroutine
subroutine MPI_Type_delete_attr_function(datatype, type_keyval, attribute_val, extra_state, ierror)
import
type(MPI_Datatype) :: datatype
integer :: type_keyval, ierror
integer(8) :: attribute_val, extra_state
end subroutine
subroutine MPI_Win_copy_attr_function(oldwin, win_keyval, extra_state, &
    attribute_val_in, attribute_val_out, flag, ierror)
import
type(MPI_Win) :: oldwin
integer :: win_keyval, ierror
integer(8) :: extra_state, attribute_val_in, attribute_val_out
logical :: flag
end subroutine
subroutine MPI_Win_delete_attr_function(win, win_keyval, attribute_val, extra_state, ierror)
import
type(MPI_Win) :: win
integer :: win_keyval, ierror
integer(8) :: attribute_val, extra_state
end subroutine
subroutine MPI_Comm_errhandler_function(comm, error_code)
import
type(MPI_Comm) :: comm
integer :: error_code
end subroutine
subroutine MPI_Win_errhandler_function(win, error_code)
import
type(MPI_Win) :: win
integer :: error_code
end subroutine
subroutine MPI_File_errhandler_function(file, error_code)
import
type(MPI_File) :: file
integer :: error_code
end subroutine
subroutine MPI_Session_errhandler_function(session, error_code)
import
type(MPI_Session) :: session
integer :: error_code
end subroutine
subroutine MPI_Grequest_query_function(extra_state, status, ierror)
import
integer(8) :: extra_state
type(MPI_Status) :: status
integer :: ierror
end subroutine
subroutine MPI_Grequest_free_function(extra_state, ierror)
import
integer(8) :: extra_state
integer :: ierror
end subroutine
subroutine MPI_Grequest_cancel_function(extra_state, complete, ierror)
import
integer(8) :: extra_state
logical :: complete
integer :: ierror
end subroutine
subroutine MPI_Datarep_extent_function(datatype, extent, extra_state, ierror)
import
type(MPI_Datatype) :: datatype
integer(8) :: extent, extra_state
integer :: ierror
end subroutine
subroutine MPI_Datarep_conversion_function(userbuf, datatype, count, filebuf, &
    position, extra_state, ierror)
import
type(c_ptr), value :: userbuf, filebuf
type(MPI_Datatype) :: datatype
integer :: count
integer(8) :: position, extra_state
integer :: ierror
end subroutine
subroutine MPI_Datarep_conversion_function_c(userbuf, datatype, count, filebuf, &
    position, extra_state, ierror)
import
type(c_ptr), value :: userbuf, filebuf
type(MPI_Datatype) :: datatype
integer(8) :: count
integer(8) :: position, extra_state
integer :: ierror
end subroutine
end interface
contains
subroutine MPI_Comm_dup_fn(oldcomm, comm_keyval, extra_state, attribute_val_in, &
    attribute_val_out, flag, ierror)
type(MPI_Comm) :: oldcomm
integer :: comm_keyval, ierror
integer(8) :: extra_state, attribute_val_in, attribute_val_out
logical :: flag
attribute_val_out = attribute_val_in
flag = .true.
ierror = 0
end subroutine
subroutine MPI_Comm_null_copy_fn(oldcomm, comm_keyval, extra_state, attribute_val_in, &
    attribute_val_out, flag, ierror)
type(MPI_Comm) :: oldcomm
integer :: comm_keyval, ierror
integer(8) :: extra_state, attribute_val_in, attribute_val_out
logical :: flag
flag = .false.
ierror = 0
end subroutine
subroutine MPI_Comm_null_delete_fn(comm, comm_keyval, attribute_val, extra_state, ierror)
type(MPI_Comm) :: comm
integer :: comm_keyval, ierror
integer(8) :: attribute_val, extra_state
ierror = 0
end subroutine
subroutine MPI_Type_dup_fn(oldtype, type_keyval, extra_state, attribute_val_in, &
    attribute_val_out, flag, ierror)
type(MPI_Datatype) :: oldtype
integer :: type_keyval, ierror
integer(8) :: extra_state, attribute_val_in, attribute_val_out
logical :: flag
attribute_val_out = attribute_val_in
flag = .true.
ierror = 0
end subroutine
subroutine MPI_Type_null_copy_fn(oldtype, type_keyval, extra_state, attribute_val_in, &
    attribute_val_out, flag, ierror)
type(MPI_Datatype) :: oldtype
integer :: type_keyval, ierror
integer(8) :: extra_state, attribute_val_in, attribute_val_out
logical :: flag
flag = .false.
ierror = 0
end subroutine
subroutine MPI_Type_null_delete_fn(datatype, type_keyval, attribute_val, extra_state, ierror)
type(MPI_Datatype) :: datatype
integer :: type_keyval, ierror
integer(8) :: attribute_val, extra_state
ierror = 0
end subroutine
subroutine MPI_Win_dup_fn(oldwin, win_keyval, extra_state, attribute_val_in, &
    attribute_val_out, flag, ierror)
type(MPI_Win) :: oldwin
integer :: win_keyval, ierror
integer(8) :: extra_state, attribute_val_in, attribute_val_out
logical :: flag
attribute_val_out = attribute_val_in
flag = .true.
ierror = 0
end subroutine
subroutine MPI_Win_null_copy_fn(oldwin, win_keyval, extra_state, attribute_val_in, &
    attribute_val_out, flag, ierror)
type(MPI_Win) :: oldwin
integer :: win_keyval, ierror
integer(8) :: extra_state, attribute_val_in, attribute_val_out
logical :: flag
flag = .false.
ierror = 0
end subroutine
subroutine MPI_Win_null_delete_fn(win, win_keyval, attribute_val, extra_state, ierror)
type(MPI_Win) :: win
integer :: win_keyval, ierror
integer(8) :: attribute_val, extra_state
ierror = 0
end subroutine
subroutine MPI_Conversion_fn_null(userbuf, datatype, count, filebuf, position, &
    extra_state, ierror)
type(c_ptr), value :: userbuf, filebuf
type(MPI_Datatype) :: datatype
integer :: count
integer(8) :: position, extra_state
integer :: ierror
ierror = 0
end subroutine
subroutine MPI_Conversion_fn_null_c(userbuf, datatype, count, filebuf, position, &
    extra_state, ierror)
type(c_ptr), value :: userbuf, filebuf
type(MPI_Datatype) :: datatype
integer(8) :: count
integer(8) :: position, extra_state
integer :: ierror
ierror = 0
end subroutine
end module

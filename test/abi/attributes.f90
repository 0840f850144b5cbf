! Attributes, generalized requests and reductions from Fortran: the library calls functions of
! Fortran through the hooks of MPICH's binding library.
module callbacks
    use mpi
    implicit none
    integer :: copied = 0, deleted = 0, freed = 0
contains
    subroutine copy_attr(comm, key, extra, value, copy, flag, ierr)
        integer :: comm, key, ierr
        integer(MPI_ADDRESS_KIND) :: extra, value, copy
        logical :: flag
        copied = copied + 1
        copy = value + extra
        flag = .true.
        ierr = MPI_SUCCESS
    end subroutine
    subroutine delete_attr(comm, key, value, extra, ierr)
        integer :: comm, key, ierr
        integer(MPI_ADDRESS_KIND) :: extra, value
        deleted = deleted + 1
        ierr = MPI_SUCCESS
    end subroutine
    subroutine old_copy(comm, key, extra, value, copy, flag, ierr)
        integer :: comm, key, extra, value, copy, ierr
        logical :: flag
        copied = copied + 100
        copy = value + extra
        flag = .true.
        ierr = MPI_SUCCESS
    end subroutine
    subroutine old_delete(comm, key, value, extra, ierr)
        integer :: comm, key, value, extra, ierr
        deleted = deleted + 100
        ierr = MPI_SUCCESS
    end subroutine
    subroutine query(extra, status, ierr)
        integer(MPI_ADDRESS_KIND) :: extra
        integer :: status(MPI_STATUS_SIZE), ierr
        call MPI_Status_set_elements(status, MPI_INTEGER, int(extra), ierr)
        call MPI_Status_set_cancelled(status, .false., ierr)
        status(MPI_SOURCE) = 3
        ierr = MPI_SUCCESS
    end subroutine
    subroutine free_it(extra, ierr)
        integer(MPI_ADDRESS_KIND) :: extra
        integer :: ierr
        freed = freed + int(extra)
        ierr = MPI_SUCCESS
    end subroutine
    subroutine cancel_it(extra, complete, ierr)
        integer(MPI_ADDRESS_KIND) :: extra
        logical :: complete
        integer :: ierr
        if (.not. complete) freed = freed + 1000
        ierr = MPI_SUCCESS
    end subroutine
end module

program attributes
    use callbacks
    implicit none
    integer :: ierr, key, dup, win, kind, request, n, old, status(MPI_STATUS_SIZE), ranks, int_value
    integer(MPI_ADDRESS_KIND) :: value, memory(4), place, bytes
    logical :: flag

    call MPI_Init(ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call predefined()

    bytes = 5
    call MPI_Comm_create_keyval(copy_attr, delete_attr, key, bytes, ierr)
    value = -7000000000_MPI_ADDRESS_KIND
    call MPI_Comm_set_attr(MPI_COMM_SELF, key, value, ierr)
    call MPI_Comm_dup(MPI_COMM_SELF, dup, ierr)
    call MPI_Comm_get_attr(dup, key, value, flag, ierr)
    call check(flag .and. value == -6999999995_MPI_ADDRESS_KIND, 'a copied attribute')
    call MPI_Comm_free(dup, ierr)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, key, ierr)
    call check(copied == 1 .and. deleted == 2, 'copy and delete functions')
    call MPI_Comm_free_keyval(key, ierr)

    call MPI_Keyval_create(old_copy, old_delete, old, 2, ierr)
    call MPI_Attr_put(MPI_COMM_SELF, old, -4, ierr)
    call MPI_Comm_dup(MPI_COMM_SELF, dup, ierr)
    call MPI_Attr_get(dup, old, int_value, flag, ierr)
    call check(flag .and. int_value == -2, 'an attribute of MPI-1')
    call MPI_Comm_free(dup, ierr)
    call MPI_Attr_delete(MPI_COMM_SELF, old, ierr)
    call check(copied == 101 .and. deleted == 202, 'copy and delete functions of MPI-1')

    call MPI_Type_contiguous(2, MPI_INTEGER, kind, ierr)
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, key, bytes, ierr)
    value = 12
    call MPI_Type_set_attr(kind, key, value, ierr)
    call MPI_Type_dup(kind, dup, ierr)
    call MPI_Type_get_attr(dup, key, value, flag, ierr)
    call check(flag .and. value == 12, 'an attribute of a datatype')
    call MPI_Type_free(dup, ierr)
    call MPI_Type_free(kind, ierr)

    bytes = 9
    call MPI_Grequest_start(query, free_it, cancel_it, bytes, request, ierr)
    bytes = -7 ! the functions get the value that was given
    call MPI_Cancel(request, ierr)
    call MPI_Grequest_complete(request, ierr)
    call MPI_Wait(request, status, ierr)
    call MPI_Get_count(status, MPI_INTEGER, n, ierr)
    call check(n == 9 .and. status(MPI_SOURCE) == 3 .and. freed == 1009, 'a generalized request')

    print '(a)', 'attributes good'
    call MPI_Finalize(ierr)
contains
    subroutine predefined()
        call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
        call check(flag .and. value >= 32767, 'MPI_TAG_UB')
        call MPI_Attr_get(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, int_value, flag, ierr)
        call check(flag .and. int_value >= ranks, 'MPI_UNIVERSE_SIZE')
        bytes = 32
        call MPI_Win_create(memory, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
        call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierr)
        call MPI_Get_address(memory, place, ierr)
        call check(flag .and. value == place, 'MPI_WIN_BASE')
        call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierr)
        call check(flag .and. value == 32, 'MPI_WIN_SIZE')
        call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierr)
        call check(flag .and. value == 8, 'MPI_WIN_DISP_UNIT')
        call MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, key, bytes, ierr)
        value = 77
        call MPI_Win_set_attr(win, key, value, ierr)
        value = 0
        call MPI_Win_get_attr(win, key, value, flag, ierr)
        call check(flag .and. value == 77, 'an attribute of a window')
        call MPI_Win_free(win, ierr)
    end subroutine
    subroutine check(good, what)
        logical :: good
        character(*) :: what
        if (good) return
        print '(2a)', 'wrong: ', what
        call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end subroutine
end program attributes

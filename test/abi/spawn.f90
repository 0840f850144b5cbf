! MPI_Comm_spawn and MPI_Comm_spawn_multiple read argv at the root alone: elsewhere it may have any
! size. There it ends here at memory that cannot be read, and has no blank line.
program spawn
    use, intrinsic :: iso_c_binding
    use mpi
    implicit none
    integer, parameter :: page = 65536
    interface
        function mmap(at, bytes, access, flags, fd, offset) bind(c)
            import
            type(c_ptr), value :: at
            integer(c_size_t), value :: bytes
            integer(c_int), value :: access, flags, fd
            integer(c_long), value :: offset
            type(c_ptr) :: mmap
        end function
        function mprotect(at, bytes, access) bind(c)
            import
            type(c_ptr), value :: at
            integer(c_size_t), value :: bytes
            integer(c_int), value :: access
            integer(c_int) :: mprotect
        end function
    end interface
    character(len=8), pointer :: args(:)
    character(len=8), pointer :: table(:, :)
    character(len=1000) :: itself, commands(2)
    character(len=8) :: word
    integer :: rank, ranks, parent, ierr
    call MPI_Init(ierr)
    call MPI_Comm_get_parent(parent, ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    if (parent /= MPI_COMM_NULL) then
        call get_command_argument(1, word)
        if (command_argument_count() /= 1 .or. word /= 'one') call wrong('arguments of a child')
        call MPI_Comm_disconnect(parent, ierr)
        call MPI_Finalize(ierr)
        stop
    end if
    call get_command_argument(0, itself)
    commands = itself
    call no_end()
    if (rank == 0) args(1:2) = [character(len=8) :: 'one', ' ']
    call MPI_Comm_spawn(itself, args, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, parent, &
        MPI_ERRCODES_IGNORE, ierr)
    call MPI_Comm_disconnect(parent, ierr)
    if (rank == 0) table(:, 1) = 'one'
    if (rank == 0) table(:, 2) = ' '
    call MPI_Comm_spawn_multiple(2, commands, table, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], 0, &
        MPI_COMM_WORLD, parent, MPI_ERRCODES_IGNORE, ierr)
    call MPI_Comm_disconnect(parent, ierr)
    print '(a)', 'spawn good'
    call MPI_Finalize(ierr)
contains
    subroutine wrong(what)
        character(len=*), intent(in) :: what
        print '(a, i0, 2a)', 'rank ', rank, ': wrong: ', what
        call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end subroutine

    subroutine no_end()
        integer, parameter :: private_anonymous = 34
        type(c_ptr) :: at
        character(len=1), pointer :: all(:)
        at = mmap(c_null_ptr, 2_c_size_t * page, 3, private_anonymous, -1, 0_c_long)
        call c_f_pointer(at, all, [2 * page])
        all(1:page) = 'x'
        if (mprotect(c_loc(all(page + 1)), int(page, c_size_t), 0) /= 0) call wrong('mprotect')
        call c_f_pointer(at, args, [page / 8])
        call c_f_pointer(at, table, [2, page / 16])
    end subroutine
end program

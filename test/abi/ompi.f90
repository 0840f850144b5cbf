! Open MPI's Fortran interface: sentinels, handles that come back as they were, functions of the
! program, one-sided calls, arrays of handles, info, files, processes that are started. Compiled
! with Open MPI's mpif90; plain.f90, fixed.f and attributes.f90 have the rest.
module ompi_functions
    use mpi
    implicit none
    integer :: op_type = -1, handled = 0, handled_comm = -1, handled_win = -1
contains
    subroutine twice(in, inout, length, kind)
        integer :: length, kind, in(length), inout(length)
        op_type = kind
        inout = inout + 2 * in
    end subroutine
    subroutine on_comm(comm, code)
        integer :: comm, code
        handled = code
        handled_comm = comm
    end subroutine
    subroutine on_win(win, code)
        integer :: win, code
        handled = code
        handled_win = win
    end subroutine
    subroutine read_or_write(user, kind, count, file, at, extra, ierr)
        integer :: kind, count, ierr, user(*), file(*)
        integer(MPI_OFFSET_KIND) :: at
        integer(MPI_ADDRESS_KIND) :: extra
        user(1:count) = file(1:count) + int(extra) + int(at)
        ierr = kind - MPI_INTEGER
    end subroutine
    subroutine extent_of(kind, extent, extra, ierr)
        integer :: kind, ierr
        integer(MPI_ADDRESS_KIND) :: extent, extra
        extent = 4
        ierr = MPI_SUCCESS
    end subroutine
end module

program ompi
    use ompi_functions
    use, intrinsic :: iso_c_binding
    implicit none
    integer :: ierr, rank, ranks, left, right, parent
    character(len=1000) :: path

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call MPI_Comm_get_parent(parent, ierr)
    if (parent /= MPI_COMM_NULL) call child()
    left = modulo(rank - 1, ranks)
    right = modulo(rank + 1, ranks)
    call get_command_argument(1, path)
    call handles()
    call sentinels()
    call operations()
    call errors()
    call one_sided()
    call arrays()
    call infos()
    call files()
    call spawn()
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(a)', ' No Errors'
    call MPI_Finalize(ierr)
contains
    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        if (good) return
        print '(a, i0, 2a)', 'rank ', rank, ': wrong: ', what
        call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end subroutine

    subroutine handles()
        integer :: comm, group, kind, other, n, places, kinds, request, flag
        logical :: done
        call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
        call check(comm > 2, 'a new handle is no predefined one')
        call MPI_Comm_compare(comm, MPI_COMM_WORLD, flag, ierr)
        call check(flag == MPI_CONGRUENT, 'MPI_Comm_compare')
        call MPI_Comm_free(comm, ierr)
        call check(comm == MPI_COMM_NULL, 'MPI_COMM_NULL comes back')
        call MPI_Group_incl(MPI_GROUP_EMPTY, 0, [0], group, ierr)
        call check(group == MPI_GROUP_EMPTY, 'MPI_GROUP_EMPTY comes back')
        call MPI_Type_contiguous(3, MPI_DOUBLE_PRECISION, kind, ierr)
        call MPI_Type_get_envelope(kind, n, places, kinds, flag, ierr)
        call check(n == 1 .and. places == 0 .and. kinds == 1, 'MPI_Type_get_envelope')
        call check(flag == MPI_COMBINER_CONTIGUOUS, 'MPI_COMBINER_CONTIGUOUS')
        call contents(kind)
        call MPI_Type_free(kind, ierr)
        call check(kind == MPI_DATATYPE_NULL, 'MPI_DATATYPE_NULL comes back')
        call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, other, ierr)
        call check(other == MPI_REAL8, 'MPI_REAL8 comes back')
        request = MPI_REQUEST_NULL
        call MPI_Test(request, done, MPI_STATUS_IGNORE, ierr)
        call check(done .and. request == MPI_REQUEST_NULL, 'MPI_REQUEST_NULL stays')
        call MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, comm, ierr)
        call check(comm == MPI_COMM_NULL, 'MPI_Comm_split')
    end subroutine

    subroutine contents(kind)
        integer, intent(in) :: kind
        integer :: numbers(1), kinds(2)
        integer(MPI_ADDRESS_KIND) :: places(1)
        kinds = -7
        call MPI_Type_get_contents(kind, 1, 0, 1, numbers, places, kinds, ierr)
        call check(numbers(1) == 3 .and. kinds(1) == MPI_DOUBLE_PRECISION .and. kinds(2) == -7, &
            'MPI_Type_get_contents')
    end subroutine

    subroutine sentinels()
        integer :: x(3), kind, status(MPI_STATUS_SIZE), n
        integer(MPI_ADDRESS_KIND) :: place(1)
        x = rank
        call MPI_Get_address(x, place(1), ierr)
        call MPI_Type_create_hindexed(1, [3], place, MPI_INTEGER, kind, ierr)
        call MPI_Type_commit(kind, ierr)
        call MPI_Bcast(MPI_BOTTOM, 1, kind, 0, MPI_COMM_WORLD, ierr)
        call check(all(x == 0), 'MPI_BOTTOM')
        call MPI_Type_free(kind, ierr)
        x = -1
        x(1) = rank
        call MPI_Sendrecv(rank, 1, MPI_INTEGER, right, 1, x, 1, MPI_INTEGER, MPI_ANY_SOURCE, &
            MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr)
        call MPI_Get_count(status, MPI_INTEGER, n, ierr)
        call check(x(1) == left .and. status(MPI_SOURCE) == left .and. status(MPI_TAG) == 1 &
            .and. n == 1, 'a status')
        call MPI_Recv(x, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, status, ierr)
        call check(status(MPI_SOURCE) == MPI_PROC_NULL, 'MPI_PROC_NULL')
        x = rank
        call MPI_Allreduce(MPI_IN_PLACE, x, 3, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
        call check(all(x == ranks - 1), 'MPI_IN_PLACE')
    end subroutine

    subroutine operations()
        integer :: op, x(2), y(2), i, want
        call MPI_Op_create(twice, .false., op, ierr)
        x = [1, rank]
        call MPI_Reduce(x, y, 2, MPI_INTEGER, op, 0, MPI_COMM_WORLD, ierr)
        want = 1
        do i = 2, ranks
            want = 2 * want + 1 ! not commutative: from the left
        end do
        if (rank == 0 .and. ranks > 1) &
            call check(op_type == MPI_INTEGER, 'the type of an operation')
        if (rank == 0) call check(y(1) == want, 'an operation')
        call MPI_Reduce_local(x, y, 2, MPI_INTEGER, op, ierr)
        call MPI_Op_free(op, ierr)
        call check(op == MPI_OP_NULL, 'MPI_OP_NULL')
    end subroutine

    subroutine errors()
        integer :: handler, win, n, class, same
        character(len=MPI_MAX_ERROR_STRING) :: text
        integer(MPI_ADDRESS_KIND) :: bytes
        call MPI_Comm_create_errhandler(on_comm, handler, ierr)
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler, ierr)
        call MPI_Comm_get_errhandler(MPI_COMM_WORLD, same, ierr)
        call check(same == handler, 'a handler comes back')
        call MPI_Errhandler_free(same, ierr)
        call MPI_Send(n, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, ierr)
        call check(ierr == MPI_ERR_RANK .and. handled == MPI_ERR_RANK .and. &
            handled_comm == MPI_COMM_WORLD, 'a handler of a communicator')
        call MPI_Error_string(MPI_ERR_RANK, text, n, ierr)
        call check(text(1:14) == 'MPI_ERR_RANK: ' .and. text(n + 1:) == ' ', 'MPI_Error_string')
        call MPI_Error_class(MPI_ERR_TRUNCATE, class, ierr)
        call check(class == MPI_ERR_TRUNCATE, 'MPI_Error_class')
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
        call MPI_Errhandler_free(handler, ierr)
        bytes = 4
        call MPI_Win_create(n, bytes, 4, MPI_INFO_NULL, MPI_COMM_SELF, win, ierr)
        call MPI_Win_create_errhandler(on_win, handler, ierr)
        call MPI_Win_set_errhandler(win, handler, ierr)
        call MPI_Win_call_errhandler(win, MPI_ERR_RMA_RANGE, ierr)
        call check(handled == MPI_ERR_RMA_RANGE .and. handled_win == win, 'a handler of a window')
        call MPI_Errhandler_free(handler, ierr)
        call MPI_Win_free(win, ierr)
        call check(win == MPI_WIN_NULL, 'MPI_WIN_NULL')
    end subroutine

    subroutine one_sided()
        type(c_ptr) :: p
        integer, pointer :: x(:)
        integer :: win, one, old, request, unit
        integer(MPI_ADDRESS_KIND) :: bytes, value
        logical :: flag
        bytes = 16
        call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, p, win, ierr)
        call c_f_pointer(p, x, [4])
        x = 0
        call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, ierr)
        call check(flag .and. value == MPI_WIN_FLAVOR_ALLOCATE, 'MPI_WIN_FLAVOR_ALLOCATE')
        call MPI_Win_get_attr(win, MPI_WIN_MODEL, value, flag, ierr)
        call check(flag .and. value == MPI_WIN_UNIFIED, 'MPI_WIN_UNIFIED')
        call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, ierr)
        value = 1
        call MPI_Put(rank, 1, MPI_INTEGER, right, value, 1, MPI_INTEGER, win, ierr)
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierr)
        call check(x(2) == left, 'MPI_Put')
        call MPI_Win_lock_all(MPI_MODE_NOCHECK, win, ierr)
        one = 1
        value = 0
        call MPI_Fetch_and_op(one, old, MPI_INTEGER, 0, value, MPI_SUM, win, ierr)
        call MPI_Win_flush(0, win, ierr)
        call check(old >= 0 .and. old < ranks, 'MPI_Fetch_and_op')
        value = 2
        call MPI_Rput(one, 1, MPI_INTEGER, rank, value, 1, MPI_INTEGER, win, request, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call MPI_Win_unlock_all(win, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call check(x(3) == 1 .and. (rank > 0 .or. x(1) == ranks), 'one-sided calls')
        call MPI_Win_free(win, ierr)
        call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, MPI_COMM_SELF, p, win, ierr)
        call MPI_Win_shared_query(win, 0, bytes, unit, p, ierr)
        call check(bytes == 16 .and. unit == 4 .and. c_associated(p), 'MPI_Win_shared_query')
        call MPI_Win_free(win, ierr)
    end subroutine

    subroutine arrays()
        integer :: requests(40), statuses(MPI_STATUS_SIZE, 40), in(20), out(20), i
        integer :: counts(ranks), places(ranks), kinds(ranks), to(ranks), from(ranks), cart
        logical :: flag
        do i = 1, 20
            out(i) = 100 * rank + i
            call MPI_Recv_init(in(i), 1, MPI_INTEGER, left, i, MPI_COMM_WORLD, requests(i), ierr)
            call MPI_Send_init(out(i), 1, MPI_INTEGER, right, i, MPI_COMM_WORLD, requests(20 + i), &
                ierr)
        end do
        call MPI_Startall(40, requests, ierr)
        call MPI_Waitall(40, requests, statuses, ierr)
        call check(all(in == [(100 * left + i, i = 1, 20)]) .and. &
            all(statuses(MPI_TAG, 1:20) == [(i, i = 1, 20)]), 'MPI_Waitall')
        call check(all(requests /= MPI_REQUEST_NULL), 'persistent requests stay')
        call MPI_Testall(40, requests, flag, MPI_STATUSES_IGNORE, ierr)
        do i = 1, 40
            call MPI_Request_free(requests(i), ierr)
        end do
        call check(flag .and. all(requests == MPI_REQUEST_NULL), 'freed requests')

        counts = 1
        places = [(4 * (i - 1), i = 1, ranks)]
        kinds = MPI_INTEGER
        to = [(10 * rank + i, i = 1, ranks)]
        call MPI_Alltoallw(to, counts, places, kinds, from, counts, places, kinds, &
            MPI_COMM_WORLD, ierr)
        call check(all(from == [(10 * (i - 1) + rank + 1, i = 1, ranks)]), 'MPI_Alltoallw')
        call MPI_Ialltoallw(MPI_IN_PLACE, counts, places, kinds, from, counts, places, kinds, &
            MPI_COMM_WORLD, requests(1), ierr)
        call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
        call check(all(from == to), 'MPI_Ialltoallw')
        call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., cart, ierr)
        call neighbors(cart)
        call MPI_Comm_free(cart, ierr)
    end subroutine

    subroutine neighbors(cart)
        integer, intent(in) :: cart
        integer :: from(2), kinds(2)
        integer(MPI_ADDRESS_KIND) :: places(2)
        kinds = MPI_INTEGER
        places = [0, 4]
        call MPI_Neighbor_alltoallw([rank, rank], [1, 1], places, kinds, from, [1, 1], places, &
            kinds, cart, ierr)
        call check(all(from == [left, right]), 'MPI_Neighbor_alltoallw')
    end subroutine

    subroutine infos()
        integer :: info, n, comm
        character(len=20) :: value
        character(len=MPI_MAX_INFO_KEY) :: key
        character(len=MPI_MAX_OBJECT_NAME) :: name
        logical :: flag
        call MPI_Info_create(info, ierr)
        call MPI_Info_set(info, ' key  ', ' some text  ', ierr)
        call MPI_Info_get(info, 'key', 20, value, flag, ierr)
        call check(flag .and. value == 'some text', 'MPI_Info_get')
        call MPI_Info_get_valuelen(info, 'key ', n, flag, ierr)
        call check(flag .and. n == 9, 'MPI_Info_get_valuelen')
        call MPI_Info_get_nthkey(info, 0, key, ierr)
        call check(key == 'key', 'MPI_Info_get_nthkey')
        call MPI_Info_get(info, 'none', 20, value, flag, ierr)
        call check(.not. flag, 'no such key')
        call MPI_Comm_dup_with_info(MPI_COMM_SELF, info, comm, ierr)
        call MPI_Info_free(info, ierr)
        call check(info == MPI_INFO_NULL, 'MPI_INFO_NULL')
        call MPI_Comm_set_name(comm, 'a name   ', ierr)
        call MPI_Comm_get_name(comm, name, n, ierr)
        call check(name == 'a name' .and. n == 6, 'MPI_Comm_get_name')
        call MPI_Comm_free(comm, ierr)
    end subroutine

    subroutine files()
        integer :: file, x(2), status(MPI_STATUS_SIZE), n, mode, request
        integer(MPI_OFFSET_KIND) :: at, bytes
        integer(MPI_ADDRESS_KIND) :: extra
        x = rank
        call MPI_File_open(MPI_COMM_WORLD, path, ior(MPI_MODE_CREATE, MPI_MODE_RDWR), &
            MPI_INFO_NULL, file, ierr)
        call check(ierr == MPI_SUCCESS, 'MPI_File_open')
        call MPI_File_get_amode(file, mode, ierr)
        call check(mode == ior(MPI_MODE_CREATE, MPI_MODE_RDWR), 'MPI_File_get_amode')
        at = 8 * rank
        call MPI_File_write_at_all(file, at, x, 2, MPI_INTEGER, status, ierr)
        call MPI_Get_count(status, MPI_INTEGER, n, ierr)
        call check(n == 2, 'MPI_File_write_at_all')
        call MPI_File_sync(file, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_File_get_size(file, bytes, ierr)
        call check(bytes == 8 * ranks, 'MPI_File_get_size')
        at = 0
        call MPI_File_iread_at(file, at, x, 1, MPI_INTEGER, request, ierr)
        call MPI_Wait(request, status, ierr)
        call check(x(1) == 0, 'MPI_File_iread_at')
        call MPI_File_set_view(file, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
        call MPI_File_close(file, ierr)
        call check(file == MPI_FILE_NULL, 'MPI_File_close')
        extra = 5
        call MPI_Register_datarep('mine  ', read_or_write, MPI_CONVERSION_FN_NULL, extent_of, &
            extra, ierr)
        call check(ierr == MPI_SUCCESS, 'MPI_Register_datarep')
        if (rank == 0) call MPI_File_delete(path, MPI_INFO_NULL, ierr)
    end subroutine

    subroutine spawn()
        integer :: inter, merged, n, sum, codes(2)
        character(len=1000) :: command
        character(len=10) :: args(3), table(2, 3), commands(2)
        call get_command_argument(0, command)
        args = [character(len=10) :: 'one', 'two words', ' ']
        codes = -1
        call MPI_Comm_spawn(command, args, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, codes, ierr)
        call check(codes(1) == MPI_SUCCESS, 'the codes of MPI_Comm_spawn')
        call MPI_Intercomm_merge(inter, .false., merged, ierr)
        call MPI_Comm_size(merged, n, ierr)
        call check(n == ranks + 1, 'MPI_Intercomm_merge')
        call MPI_Allreduce(1, sum, 1, MPI_INTEGER, MPI_SUM, merged, ierr)
        call check(sum == ranks + 1, 'a reduction with a process that was started')
        call MPI_Comm_free(merged, ierr)
        call MPI_Comm_disconnect(inter, ierr)
        commands = ['true', 'true']
        table = ' '
        table(:, 1) = [character(len=10) :: '-a', '-b']
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
        call MPI_Comm_spawn_multiple(2, ['/no/such1', '/no/such2'], table, [1, 1], &
            [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_SELF, inter, MPI_ERRCODES_IGNORE, ierr)
        call check(ierr == MPI_ERR_SPAWN, 'MPI_Comm_spawn_multiple of what is not there')
        call MPI_Comm_spawn('/no/such', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, inter, &
            MPI_ERRCODES_IGNORE, ierr)
        call check(ierr == MPI_ERR_SPAWN, 'MPI_ARGV_NULL')
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, ierr)
    end subroutine

    subroutine child()
        integer :: merged, sum
        character(len=20) :: one, two
        call get_command_argument(1, one)
        call get_command_argument(2, two)
        call check(one == 'one' .and. two == 'two words' .and. command_argument_count() == 2, &
            'the arguments of a process that was started')
        call MPI_Intercomm_merge(parent, .true., merged, ierr)
        call MPI_Allreduce(1, sum, 1, MPI_INTEGER, MPI_SUM, merged, ierr)
        call MPI_Comm_free(merged, ierr)
        call MPI_Comm_disconnect(parent, ierr)
        call MPI_Finalize(ierr)
        stop
    end subroutine
end program

# front.pm - the functions that the traced library puts before those of the core; src/api/gen calls
# Front::make(TOP, FILE, functions of calls.def) for the files of bind/trace.
#   calls.c  each function, which calls that of the core and notes it
#   names    what objcopy renames in the core: MPI_X to core_MPI_X, PMPI_X to core_PMPI_X
#   exports  the version script: what the library shows
#
# The table says with trace=KIND which calls are noted, and how:
#   call                communicates or waits, nothing more is known
#   window              synchronizes or changes the window `win`; `free`: MPI_Win_free
#   near                an operation or a flush; a report counts it by window only, because a near
#                       one is a few instructions
#   send recv irecv send_init recv_init sendrecv isendrecv mprobe     messages: their other end
#   init, finalize      there is no trace yet when the one begins, and none any more when the other
#                       returns
#   completes           completes requests; cancel, request_free: what becomes of one
# Rows of coll are noted as collectives, rows of file as calls. All others (handles, types, names)
# are left as they are.
package Front;
use strict;
use warnings;

sub kind {
    my ($f) = @_;
    return $f->{where} eq 'coll' ? 'collective' : $f->{where} eq 'file' ? 'call'
        : $f->{mark}{trace};
}

# How many elements move, and of which type.
sub moves {
    my ($p) = @_;
    for (['origin_count', 'origin_datatype'], ['count', 'datatype'], ['sendcount', 'sendtype'],
        ['recvcount', 'recvtype']) {
        my ($count, $type) = @$_;
        return "$count, $type"
            if ($p->{$count} // '') =~ /^(?:int|MPI_Count)$/
            && ($p->{$type} // '') eq 'MPI_Datatype';
    }
    return '1, datatype' if ($p->{datatype} // '') eq 'MPI_Datatype' && $p->{win};
    return '0, MPI_BYTE';
}

sub print_ends {
    my ($f) = @_;
    my $name = $f->{name};
    my $args = join ', ', map { $_->{name} } @{$f->{params}};
    print "\n$f->{result} core_P$name($f->{text});\n", Calls::declaration($f, "P$name", ''), "{\n";
    print "    struct trace_at at = {trace_ticks(), \"$name\",\n";
    print "                          __builtin_return_address(0)};\n";
    if (kind($f) eq 'init') {
        print "    int rc = core_P$name($args);\n";
        print "    if (rc == MPI_SUCCESS && trace_asked())\n        trace_call(&at);\n";
        print "    return rc;\n}\n";
    } else {
        print "    if (trace_asked())\n        trace_finalizing(&at);\n";
        print "    return core_P$name($args);\n}\n";
    }
    print "API_ALIAS($name);\n";
}

sub print_call {
    my ($f) = @_;
    return print_ends($f) if kind($f) =~ /^(?:init|finalize)$/;
    my %types = map { $_->{name} => $_->{type} . ($_->{array} ? ' *' : '') } @{$f->{params}};
    my ($p, $kind, $name) = (\%types, kind($f), $f->{name});
    my $moves = moves($p);
    my $rank = (grep { ($p->{$_} // '') eq 'int' } qw(target_rank rank))[0] // 'MPI_PROC_NULL';
    my ($before, $after, $failed) = ('', 'trace_call(&at);', '');
    my $mine = "    MPI_Status mine;\n    status = status == MPI_STATUS_IGNORE ? &mine : status;\n";
    if ($kind eq 'window' || $kind eq 'near') {
        $after = "trace_window(&at, win, $rank, $moves);";
        $after = 'trace_tested(&at, win, *flag);' if $name eq 'MPI_Win_test';
    } elsif ($kind eq 'free') {
        $before = "    MPI_Win was = win ? *win : MPI_WIN_NULL;\n";
        $after = "trace_window(&at, was, MPI_PROC_NULL, 0, MPI_BYTE);";
    } elsif ($kind eq 'collective') {
        $after = "trace_collective(&at, comm, $moves);";
    } elsif ($kind eq 'send') {
        $after = "trace_sent(&at, comm, dest, tag, $moves);";
        $failed = 'trace_uncounted(comm, 1, dest, tag);';
    } elsif ($kind eq 'send_init') {
        $after = "{\n        trace_uncounted(comm, 1, dest, tag);\n        $after\n    }";
    } elsif ($kind eq 'recv_init') {
        $after = 'trace_persistent(&at, comm, source, tag, *request);';
    } elsif ($kind eq 'cancel') {
        $before = "    trace_cancel(request);\n";
    } elsif ($kind eq 'request_free') {
        $before = "    trace_free(request);\n";
    } elsif ($kind eq 'recv') {
        $before = $mine;
        $after = "trace_got(&at, comm, status->MPI_SOURCE, status->MPI_TAG, $moves);";
        $failed = 'trace_uncounted(comm, 0, source, tag);';
    } elsif ($kind eq 'irecv') {
        $after = "trace_posted(&at, comm, source, tag, $moves, *request);";
    } elsif ($kind eq 'sendrecv' || $kind eq 'isendrecv') {
        my $received = $p->{recvcount} ? 'recvcount, recvtype' : $moves;
        $after = "trace_sent(&at, comm, dest, sendtag, $moves);\n        ";
        $after .= $kind eq 'sendrecv'
            ? "trace_got(&at, comm, status->MPI_SOURCE, status->MPI_TAG, $received);"
            : "trace_posted(&at, comm, source, recvtag, $received, *request);";
        $after = "{\n        $after\n    }";
        $before = $mine if $kind eq 'sendrecv';
        $failed = "{\n        trace_uncounted(comm, 1, dest, sendtag);\n"
            . "        trace_uncounted(comm, 0, source, recvtag);\n    }";
    } elsif ($kind eq 'mprobe') {
        $before = $mine;
        $after = "trace_got(&at, comm, status->MPI_SOURCE, status->MPI_TAG, 0, MPI_BYTE);";
        $after = "{\n        if (*flag)\n            $after\n    }" if $p->{flag};
    } elsif ($kind eq 'completes') {
        my $n = (grep { $p->{$_} } qw(count incount))[0] // '1';
        my $list = $p->{request} ? 'request' : 'array_of_requests';
        $before = "    struct trace_requests requests;\n    trace_before(&requests, $n, $list);\n";
        $after = "trace_completed(&at, &requests, $list);";
        $failed = 'trace_failed(&requests);';
    }
    my $asked = "    if (report_asked())\n        ";
    print "\n$f->{result} core_P$name($f->{text});\n", Calls::declaration($f, "P$name", ''), "{\n";
    print "${asked}profile_called(\"$name\", __builtin_return_address(0));\n" if $kind ne 'near';
    print "${asked}profile_unlocking(win, rank);\n" if $name eq 'MPI_Win_unlock';
    print "${asked}profile_put_called(win, target_rank, target_disp, target_count, ",
        "__builtin_return_address(0));\n" if $name =~ /^MPI_Put(?:_c)?$/;
    print "${asked}profile_flush_called(win, rank, __builtin_return_address(0));\n"
        if $name eq 'MPI_Win_flush';
    my $args = join ', ', map { $_->{name} } @{$f->{params}};
    my $core = ($name eq 'MPI_Win_lock' ? 'locked' : "core_P$name") . "($args)";
    print "    if (!trace_asked())\n        return $core;\n";
    print $before;
    print "    struct trace_at at = {trace_ticks(), \"$name\",\n";
    print "                          __builtin_return_address(0)};\n";
    print "    trace_enters(&at);\n";
    print "    int rc = $core;\n";
    print "    if (rc == MPI_SUCCESS)\n        $after\n";
    print "    else\n        $failed\n" if $failed;
    print "    return rc;\n}\n";
    print "API_ALIAS($name);\n";
}

my %do = (
    'calls.c' => sub {
        print "/* calls.c - the calls of the traced library; made by src/api/gen. */\n";
        print "#include \"api/api.h\"\n#include \"profile/trace.h\"\n";
        print <<'END';

int core_PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win);
static int locked(int lock_type, int rank, int assert, MPI_Win win)
{
    int rc = core_PMPI_Win_lock(lock_type, rank, assert, win);
    if (rc == MPI_SUCCESS && report_asked())
        profile_locked(win, rank);
    return rc;
}
END
        print_call($_) for @_;
    },
    names => sub { print Calls::renames(@_) },
    exports => sub {
        print "{\nglobal:\n    MPI*;\n    PMPI*;\nlocal:\n    *;\n};\n";
    },
);
sub make {
    my ($top, $what, @functions) = @_;
    my $do = $do{$what} or die "gen: bind/trace has no $what\n";
    $do->(grep { kind($_) } @functions);
}

1;

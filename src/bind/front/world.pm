# world.pm - what the generators of the fronts share: how a call of another binary interface
# ("world") is converted into one of the core, by the types and names of its parameters (@rules).
# Those that need more are `custom_X`, written by hand. src/bind/front/front.h has the functions
# that the rules name.
package World;
use strict;
use warnings;

my @handles = @Calls::handles;

# Names that the core's header has.
sub in_core {
    my ($top) = @_;
    my $header = Calls::slurp("$top/include/mpi.h");
    $header =~ s{/\*.*?\*/}{}gs;
    return map { $_ => 1 } $header =~ /\b(MPI_\w+)/g;
}

# The constants of a file with lines "group name value": each of them as that list.
sub constants {
    my ($path) = @_;
    return map { [split] } grep { !/^(?:#|$)/ } split /\n/, Calls::slurp($path);
}

# An array among the parameters is a pointer.
sub point_at_arrays {
    for my $p (map { @{$_->{params}} } @_) {
        $p->{type} .= ' *' if $p->{array} =~ /^\[\]/;
    }
}

# The tables of convert.c, of the groups of constants {group => [[name, value], ...]}.
sub tables {
    my ($group, $in_core) = @_;
    my $text = "/* tables.h - constants; made by src/api/gen. */\n";
    for my $g (qw(thread order distribution combiner typeclass comparison topology split lock flavor
        model whence predefined_key verbosity bind scope pvarclass source)) {
        next if !$group->{$g};
        $text .= "static const struct pair ${g}_pairs[] = {\n";
        $text .= "    {$_->[0], $_->[1]},\n"
            for grep { $in_core->{$_->[0]} || $_->[0] =~ /^MPIX_/ } @{$group->{$g}};
        $text .= "};\n";
    }
    for my $g (qw(amode assertion)) {
        $text .= "static const struct pair ${g}_bits[] = {\n";
        $text .= "    {$_->[0], $_->[1]},\n" for @{$group->{$g}};
        $text .= "};\n";
    }
    return $text;
}

my $any_handle = join '|', @handles;

# The type as calls.c has it: handles are pointers there, and statuses are the world's.
sub c_type {
    my ($text) = @_;
    $text =~ s/\bMPI_(?:$any_handle)\b/HANDLE/g;
    $text =~ s/\bMPI_Status\b/struct front_status/g;
    $text =~ s/\bMPI_(?!T_)(\w+_(?:function|function_c|errhandler_fn))\b/void_function/g;
    return $text;
}

my $one_handle = '(?:Comm|Datatype|Errhandler|Group|Info|Op|Request|Session|Win)';

# [pattern of "type name", before the call, argument, after the call]; $v is the parameter, $f the
# function's name.
my @rules = (
    [qr/^MPI_Request \*array_of_requests$/, 'struct ints c_$v; ints_begin(&c_$v, $n, $v);',
        'c_$v.v', 'ints_back(&c_$v, $v);'],
    [qr/^const MPI_Request \*array_of_requests$/, 'struct ints c_$v; ints_begin(&c_$v, $n, $v);',
        'c_$v.v', 'ints_end(&c_$v);'],
    [qr/^MPI_File \w+$/, '', 'file_in($v)', ''],
    [qr/^MPI_Message \w+$/, '', 'message_in($v)', ''],
    [qr/^MPI_(?:Datatype|Op) \w+$/, '', 'predefined_in($v)', ''],
    [qr/^MPI_(?:Comm|Errhandler|Group|Info|Request|Session|Win) \w+$/, '', 'handle_in($v)', ''],
    # of calls that change the handle they are given; all others only write one
    [qr/^inout MPI_File \*\w+$/, 'MPI_File c_$v = $v ? file_in(*$v) : 0;', '$v ? &c_$v : NULL',
        'if ($v) *$v = file_out(c_$v);'],
    [qr/^inout MPI_Message \*\w+$/, 'int c_$v = $v ? message_in(*$v) : 0;', '$v ? &c_$v : NULL',
        'if ($v) *$v = message_out(c_$v);'],
    [qr/^inout MPI_Request \*\w+$/,
        'int was_$v = $v ? handle_in(*$v) : 0, c_$v = was_$v;', '$v ? &c_$v : NULL',
        'if ($v && c_$v != was_$v) *$v = request_out(c_$v);'],
    [qr/^inout MPI_$one_handle \*\w+$/,
        'int was_$v = $v ? handle_in(*$v) : 0, c_$v = was_$v;', '$v ? &c_$v : NULL',
        'if ($v && c_$v != was_$v) *$v = handle_out(c_$v);'],
    [qr/^MPI_File \*\w+$/, 'MPI_File c_$v = NULL;', '$v ? &c_$v : NULL',
        'if ($v) *$v = file_out(c_$v);'], # after an error, too: MPI_FILE_NULL
    [qr/^MPI_Message \*\w+$/, 'int c_$v = MPI_MESSAGE_NULL;', '$v ? &c_$v : NULL',
        'if (!rc && $v) *$v = message_out(c_$v);'],
    # before the next rule: MPI_Type_struct of MPI-1 has no const
    [qr/^(?:const )?MPI_(?:Datatype|Info) \*(?:array_of_types|array_of_info)$/,
        'struct ints c_$v; ints_begin(&c_$v, $n, $v);', 'c_$v.v', 'ints_end(&c_$v);'],
    # no handle of the core is 0: what it has not written stays
    [qr/^MPI_$one_handle \*\w+$/, 'int c_$v = 0;', '$v ? &c_$v : NULL',
        'if (c_$v) *$v = handle_out(c_$v);'],
    [qr/^MPI_Status \*status$/, 'MPI_Status c_$v; status_begin(&c_$v, $v);',
        '$v ? &c_$v : MPI_STATUS_IGNORE', 'status_back($v, &c_$v);'],
    [qr/^const MPI_Status \*status$/, 'MPI_Status c_$v; status_in(&c_$v, $v);',
        '$v ? &c_$v : NULL', ''],
    [qr/^int (?:dest|source|root|target_rank)$/, '', 'rank_in($v)', ''],
    [qr/^int (?:tag|sendtag|recvtag)$/, '', 'tag_in($v)', ''],
    [qr/^int \*(?:source|rank_source|rank_dest)$/, '', '$v', 'if (!rc && $v) *$v = rank_out(*$v);'],
    [qr/^int \*tag$/, '', '$v', 'if (!rc && $v) *$v = tag_out(*$v);'],
    [qr/^(?:const )?void \*(?:sendbuf|recvbuf|inbuf)$/, '', 'buf_in($v)', ''],
    [qr/^int required$/, '', 'thread_in($v)', ''],
    [qr/^int \*provided$/, '', '$v', 'if (!rc && $v) *$v = thread_out(*$v);'],
    [qr/^int order$/, '', 'order_in($v)', ''],
    [qr/^int typeclass$/, '', 'typeclass_in($v)', ''],
    [qr/^int \*result$/, '', '$v', 'if (!rc && $v) *$v = comparison_out(*$v);'],
    [qr/^int \*status$/, '', '$v', 'if (!rc && $v) *$v = topology_out(*$v);'],
    [qr/^int split_type$/, '', 'split_in($v)', ''],
    [qr/^int lock_type$/, '', 'lock_in($v)', ''],
    [qr/^int assert$/, '', 'assertion_in($v)', ''],
    [qr/^int amode$/, '', 'amode_in($v)', ''],
    [qr/^int \*amode$/, '', '$v', 'if (!rc && $v) *$v = amode_out(*$v);'],
    [qr/^int whence$/, '', 'whence_in($v)', ''],
    [qr/^int (?:\w+_)?keyval$/, '', 'key_in($v)', ''],
    [qr/^int \*(?:\w+_)?keyval$/, 'int c_$v = $v ? key_in(*$v) : 0;', '$v ? &c_$v : NULL',
        'if (!rc && $v) *$v = key_out(c_$v);'],
    [qr/^int \*combiner$/, '', '$v', 'if (!rc && $v) *$v = combiner_out(*$v);'],
    [qr/^int (?:errorcode|errorclass|err)$/, '', 'error_in($v)', ''],
    [qr/^int \*(?:errorcode|errorclass|err)$/, '', '$v', 'if (!rc && $v) *$v = error_out(*$v);'],
    [qr/^const int \*(?:weights|sourceweights|destweights)$/, '', 'weights_in($v)', ''],
    [qr/^int \*(?:sourceweights|destweights)$/, '', '(int *)(uintptr_t)weights_in($v)', ''],
    [qr/^int \*(verbosity|bind|scope)$/, '', '$v', 'if (!rc && $v) *$v = $name_out(*$v);'],
    [qr/^int \*var_class$/, '', '$v', 'if (!rc && $v) *$v = pvarclass_out(*$v);'],
    [qr/^int var_class$/, '', 'pvarclass_in($v)', ''],
    [qr/^MPI_T_source_order \*ordering$/, 'MPI_T_source_order c_$v;', '$v ? &c_$v : NULL',
        'if (!rc && $v) *$v = source_out((int)c_$v);'],
    [qr/^int \*array_of_partitions$/, '', '(int *)(uintptr_t)$v', ''],
    [qr/^MPI_T_pvar_handle handle$/, '', 'all_handles_in($v)', ''],
);

# Calls that are short, write nothing but what the core wrote and leave the core through api_exit or
# api_exit_win alone: they end with a jump into it, and api_returned() converts their errors.
my %jumps = map { ("MPI_$_" => 1) } qw(Comm_rank Comm_size Send Bsend Ssend Rsend Put Get Accumulate
    Get_accumulate Fetch_and_op Compare_and_swap Win_fence Win_lock Win_unlock Win_lock_all
    Win_unlock_all Win_flush Win_flush_all Win_flush_local Win_flush_local_all Barrier Bcast Reduce
    Allreduce);

sub returned {
    my $names = join ' ', map { qq("$_",) } sort keys %jumps;
    $names =~ s/(.{1,90}) /$1\n    /g;
    return "\n/* In place of that of api/check.c. */\n"
        . "int api_returned(int err, const char *call)\n{\n"
        . "    static const char *const jumps[] = {\n    $names\n    };\n"
        . "    for (size_t i = 0; call && i < COUNT_OF(jumps); i++)\n"
        . "        if (!strcmp(call, jumps[i]))\n            return result_out(err);\n"
        . "    return err;\n}\n";
}

sub fill {
    my ($text, $p, $f) = @_;
    my ($n) = map { $_->{name} } grep { $_->{name} =~ /^(?:count|incount)$/ } @{$f->{params}};
    $text =~ s/\$name/$p->{name}/g;
    $text =~ s/\$v/$p->{name}/g;
    $text =~ s/\$n\b/$n/g if defined $n;
    return $text;
}

# One parameter; $own gives the world's own rules: it gets the function, the parameter's name and
# "type name".
sub convert {
    my ($p, $f, $own) = @_;
    return ['', $p->{name}, ''] if $f->{name} =~ /^MPI_Abort$/ && $p->{name} eq 'errorcode';
    my $is = $p->{type} =~ /\*$/ ? "$p->{type}$p->{name}" : "$p->{type} $p->{name}";
    my $v = $p->{name};
    my $rule = $own->($f, $v, $is);
    return $rule if $rule;
    # not allowed there, but 1 is no address either
    return ['', "buf_in($v)", ''] if $is eq 'void *buffer' && $f->{name} =~ /^MPI_I?bcast/i;
    return ['', "rank_in($v)", ''] if $is eq 'int rank' && $f->{name} =~ /^MPIX?_Win_/;
    if ($v =~ /^(send|recv)types$/) {
        my $is_send = $1 eq 'send' ? 1 : 0;
        my $neighbor = $f->{name} =~ /eighbor/ ? 1 : 0;
        my $r = $f->{text} =~ /request/ ? 'c_request' : 'MPI_REQUEST_NULL';
        my $types = $is_send ? '(sendbuf == (void *)1 ? NULL : sendtypes)' : $v; # MPI_IN_PLACE
        my $begin = "types_begin(&c_$v, handle_in(comm), $types, $neighbor, $is_send);";
        return ["struct ints c_$v; $begin", "c_$v.v", "types_end(&c_$v, rc, $r);"];
    }
    $is = "inout $is" if $p->{inout};
    for (@rules) {
        my ($pattern, @do) = @$_;
        return [map { fill($_, $p, $f) } @do] if $is =~ $pattern;
    }
    die "gen: $f->{name}: no rule for '$is'\n" if $is =~ /MPI_(?:$any_handle|Status)\b/;
    # arrays of numbers, texts, counts ... are the same on both sides
    return ['', $p->{name}, ''];
}

# The text of calls.c. is_custom says whether a function is written by hand, own is as above.
sub calls {
    my ($is_custom, $own, @functions) = @_;
    my $text = "/* calls.c - the calls of the interface; made by src/api/gen. */\n";
    $text .= "#include \"bind/front/front.h\"\n\n#include <string.h>\n" . returned();
    $text .= call($_, $is_custom->($_), $own) for grep { $_->{name} ne 'MPI_Pcontrol' } @functions;
    return $text;
}

sub call {
    my ($f, $is_custom, $own) = @_;
    my ($mpi, $x) = $f->{name} =~ /^(MPIX?)_(.*)/;
    my ($front, $core) = $mpi eq 'MPIX' ? qw(FRONT_CALL_X CORE_X) : qw(FRONT_CALL CORE);
    my $params = c_type($f->{text});
    my $result = c_type($f->{result});
    my $head = $f->{shown} ? "FRONT_CALL_AS($result, X_$x, $f->{shown}, ($params))\n{\n"
        : "$front($result, $x, ($params))\n{\n";
    if ($is_custom) {
        my $names = join ', ', map { $_->{name} } @{$f->{params}};
        return "\n$head    return custom_$x($names);\n}\n";
    }
    my @c = map { convert($_, $f, $own) } @{$f->{params}};
    my $call = "core_$x(" . join(', ', map { $_->[1] } @c) . ')';
    my $text = "\n$core($x);\n$head" . join '', map { "    $_->[0]\n" } grep { $_->[0] } @c;
    my @after = map { "    $_->[2]\n" } grep { $_->[2] } @c;
    die "gen: $f->{name} cannot end with a jump\n" if $jumps{$f->{name}} && @after;
    return "$text    return $call;\n}\n" if $result ne 'int' || $jumps{$f->{name}};
    return "$text    return result_out($call);\n}\n" if !@after;
    return "$text    int rc = $call;\n" . join('', @after) . "    return result_out(rc);\n}\n";
}

# The text of custom.h: the functions written by hand.
sub custom {
    my $text = "/* custom.h - the functions written by hand; made by src/api/gen. */\n";
    for my $f (@_) {
        (my $x = $f->{name}) =~ s/^MPI_//;
        $text .= c_type($f->{result}) . " custom_$x(" . c_type($f->{text}) . ");\n";
    }
    return $text;
}

1;

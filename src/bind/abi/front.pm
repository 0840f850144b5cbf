# front.pm - the interface of MPI-5.0's ABI, from calls.def and constants.list; src/api/gen calls
# Front::make(TOP, FILE, functions of calls.def) for the files of bind/abi.
#   include/mpi.h  the header
#   tables.h       constants of either side into those of the other
#   calls.c        each function, which converts and calls that of the core
#   custom.h       the functions of custom.c and types.c
#   names          what objcopy renames in the core: MPI_X to core_MPI_X, PMPI_X to core_PMPI_X
#   exports        the version script: what the library shows
#
# A function is converted by the types and names of its parameters (@rules). Those that need more
# have abi=custom, and are `custom_X` in custom.c or types.c.
package Front;
use strict;
use warnings;

my $top;
my @handles = @Calls::handles;

sub slurp { return Calls::slurp("$top/$_[0]") }

# --- the tables ------------------------------------------------------------------------------

my (%in_core, @constants, %group);
sub use_constants {
    my $header = slurp('include/mpi.h');
    $header =~ s{/\*.*?\*/}{}gs;
    $in_core{$_} = 1 for $header =~ /\b(MPI_\w+)/g;
    for (grep { !/^#/ } split /\n/, slurp('src/bind/abi/constants.list')) {
        my ($group, $name, $value) = split;
        push @constants, [$group, $name, $value];
        push @{$group{$group}}, [$name, $value];
    }
}

# The functions of the standard. Three prototypes differ from the core's, which are MPICH's: the
# count of partitioned calls is an int, and MPI_Pready_list only reads its array.
my (@table, @functions);
sub use_table {
    @table = @_;
    @functions = grep { Calls::standard($_)
        && $_->{name} !~ /_(?:c2f|f2c|c2f08|f2f08|f082c|f082f)$/ } @table;
    for my $f (@functions) {
        if ($f->{name} eq 'MPI_Pready_list') {
            $f->{text} =~ s/(?<!const )int array_of_partitions/const int array_of_partitions/;
        } elsif ($f->{name} =~ /^MPI_P(?:send|recv)_init$/) {
            $f->{text} =~ s/MPI_Count count/int count/;
        }
        for my $p (@{$f->{params}}) { # an array is a pointer
            $p->{type} .= ' *' if $p->{array} =~ /^\[\]/;
        }
    }
}

# --- header ----------------------------------------------------------------------------------

my %type_of = map { ($_ eq 'Datatype' ? 'type' : lc) => $_ } @handles;
my %c_group = map { $_ => 1 } keys %type_of;

sub print_header {
    print slurp('src/bind/abi/head.h');
    my $last = '';
    for (@constants) {
        my ($group, $name, $value) = @$_;
        print "\n" if $group ne $last;
        $last = $group;
        $value = "((MPI_$type_of{$group})$value)" if $c_group{$group};
        $value = "($value)" if $value =~ /^-/;
        print "#define $name $value\n";
    }
    print "\n";
    for my $p ('MPI', 'PMPI') {
        for my $f (@functions) {
            (my $name = $f->{name}) =~ s/^MPI/$p/;
            print "$f->{result} $name($f->{text});\n";
        }
    }
    print "\n#ifdef __GNUC__\n#pragma GCC visibility pop\n#endif\n";
    print "#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

# --- tables.h --------------------------------------------------------------------------------

my %null = (type => 'MPI_DATATYPE_NULL', op => 'MPI_OP_NULL');

sub print_tables {
    print "/* tables.h - constants; made by src/api/gen. */\n";
    print "const int abi_handle_table[ABI_HANDLES] = {\n";
    for my $g (sort keys %c_group) {
        next if $g eq 'file';
        for (@{$group{$g}}) {
            my ($name, $value) = @$_;
            printf "    [%s] = %s,\n", $value, $in_core{$name} ? "(int)$name" : $null{$g};
        }
    }
    print "};\nstatic const struct pair handle_pairs[] = {\n";
    for my $g (sort keys %c_group) {
        next if $g eq 'file';
        # the core's null message is its null request
        print "    {(int)$_->[0], $_->[1]},\n"
            for grep { $in_core{$_->[0]} && $_->[0] ne 'MPI_MESSAGE_NULL' } @{$group{$g}};
    }
    print "};\nstatic const struct pair class_pairs[] = {\n";
    print "    {$_->[0], $_->[1]},\n"
        for grep { $in_core{$_->[0]} && $_->[0] ne 'MPI_SUCCESS' } @{$group{class}};
    print "};\n";
    for my $g (qw(thread order distribution combiner typeclass comparison topology split lock flavor
        model whence key verbosity bind scope pvarclass source)) {
        print "static const struct pair ${g}_pairs[] = {\n";
        print "    {$_->[0], $_->[1]},\n" for grep { $in_core{$_->[0]} } @{$group{$g}};
        print "};\n";
    }
    for my $g (qw(amode assertion)) {
        print "static const struct pair ${g}_bits[] = {\n";
        print "    {$_->[0], $_->[1]},\n" for @{$group{$g}};
        print "};\n";
    }
}

# --- calls.c ---------------------------------------------------------------------------------

sub custom {
    my ($f) = @_;
    return $f->{where} eq 'abi' || ($f->{mark}{abi} // '') eq 'custom';
}

my $any_handle = join '|', @handles;

# The type as calls.c has it: handles are pointers there, and statuses are the ABI's.
sub c_type {
    my ($text) = @_;
    $text =~ s/\bMPI_(?:$any_handle)\b/HANDLE/g;
    $text =~ s/\bMPI_Status\b/struct abi_status/g;
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
    [qr/^inout MPI_$one_handle \*\w+$/,
        'int was_$v = $v ? handle_in(*$v) : 0, c_$v = was_$v;', '$v ? &c_$v : NULL',
        'if ($v && c_$v != was_$v) *$v = handle_out(c_$v);'],
    [qr/^MPI_File \*\w+$/, 'MPI_File c_$v = NULL;', '$v ? &c_$v : NULL',
        'if (!rc && $v) *$v = file_out(c_$v);'],
    [qr/^MPI_Message \*\w+$/, 'int c_$v = MPI_MESSAGE_NULL;', '$v ? &c_$v : NULL',
        'if (!rc && $v) *$v = message_out(c_$v);'],
    # no handle of the core is 0: what it has not written stays
    [qr/^MPI_$one_handle \*\w+$/, 'int c_$v = 0;', '$v ? &c_$v : NULL',
        'if (c_$v) *$v = handle_out(c_$v);'],
    [qr/^const MPI_(?:Datatype|Info) \*(?:array_of_types|array_of_info)$/,
        'struct ints c_$v; ints_begin(&c_$v, $n, $v);', 'c_$v.v', 'ints_end(&c_$v);'],
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

sub fill {
    my ($text, $p, $f) = @_;
    my ($n) = map { $_->{name} } grep { $_->{name} =~ /^(?:count|incount)$/ } @{$f->{params}};
    $text =~ s/\$name/$p->{name}/g;
    $text =~ s/\$v/$p->{name}/g;
    $text =~ s/\$n\b/$n/g if defined $n;
    return $text;
}

sub convert {
    my ($p, $f) = @_;
    return ['', $p->{name}, ''] if $f->{name} =~ /^MPI_Abort$/ && $p->{name} eq 'errorcode';
    my $is = $p->{type} =~ /\*$/ ? "$p->{type}$p->{name}" : "$p->{type} $p->{name}";
    my $v = $p->{name};
    return ['', "automatic_in($v)", ''] if $f->{name} =~ /attach/ && $v eq 'buffer';
    return ['', $v, "if (!rc && $v) automatic_out($v);"] if $v eq 'buffer_addr';
    return ['', "$v == -1 ? MPI_DISPLACEMENT_CURRENT : $v", ''] if $is eq 'MPI_Offset disp';
    return ['', "rank_in($v)", ''] if $is eq 'int rank' && $f->{name} =~ /^MPI_Win_/;
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

sub print_calls {
    print "/* calls.c - the calls of the ABI; made by src/api/gen. */\n";
    print "#include \"bind/abi/custom.h\"\n";
    for my $f (grep { $_->{name} ne 'MPI_Pcontrol' } @functions) {
        (my $x = $f->{name}) =~ s/^MPI_//;
        my $text = c_type($f->{text});
        my $result = c_type($f->{result});
        if (custom($f)) {
            print "\nABI_CALL($result, $x, ($text))\n";
            my $names = join ', ', map { $_->{name} } @{$f->{params}};
            print "{\n    return custom_$x($names);\n}\n";
            next;
        }
        my @c = map { convert($_, $f) } @{$f->{params}};
        my $args = join ', ', map { $_->[1] } @c;
        print "\nCORE($x);\nABI_CALL($result, $x, ($text))\n{\n";
        print "    $_->[0]\n" for grep { $_->[0] } @c;
        my $call = "core_$x($args)";
        if ($result ne 'int') {
            print "    return $call;\n}\n";
        } elsif (!grep { $_->[2] } @c) {
            print "    return result_out($call);\n}\n";
        } else {
            print "    int rc = $call;\n";
            print "    $_->[2]\n" for grep { $_->[2] } @c;
            print "    return result_out(rc);\n}\n";
        }
    }
}

sub print_custom {
    print "/* custom.h - what custom.c and types.c define; made by src/api/gen. */\n";
    print "#include \"bind/abi/convert.h\"\n\n";
    for my $f (@functions) {
        (my $x = $f->{name}) =~ s/^MPI_//;
        print c_type($f->{result}), " custom_$x(", c_type($f->{text}), ");\n" if custom($f);
    }
}

# --- names shown ----------------------------------------------------------------------------------

sub print_exports {
    print "{\nglobal:\n";
    print "    $_->{name};\n    P$_->{name};\n" for @functions;
    print "local:\n    *;\n};\n";
}

my %do = ('include/mpi.h' => \&print_header, 'tables.h' => \&print_tables,
    'calls.c' => \&print_calls, 'custom.h' => \&print_custom,
    names => sub { print Calls::renames(grep { Calls::in_core($_) } @table) },
    exports => \&print_exports);

sub make {
    my $what;
    ($top, $what) = splice @_, 0, 2;
    my $do = $do{$what} or die "gen: bind/abi has no $what\n";
    use_constants();
    use_table(@_);
    $do->();
}

1;

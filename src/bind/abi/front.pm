# front.pm - the interface of MPI-5.0's ABI, from calls.def and constants.list; src/api/gen calls
# Front::make(TOP, FILE, functions of calls.def) for the files of bind/abi.
#   include/mpi.h  the header
#   tables.h       constants of either side into those of the other
#   handles.h      the same of handles and error classes
#   calls.c        each function, which converts and calls that of the core
#   custom.h       the functions that are written by hand
#   names          what objcopy renames in the core: MPI_X to core_MPI_X, PMPI_X to core_PMPI_X
#   exports        the version script: what the library shows
#
# A function is converted by the rules of bind/front/world.pm. Those that need more have abi=custom.
package Front;
use strict;
use warnings;

my $top;
my @handles = @Calls::handles;

sub slurp { return Calls::slurp("$top/$_[0]") }

# --- the tables ------------------------------------------------------------------------------

my (%in_core, @constants, %group);
sub use_constants {
    %in_core = World::in_core($top);
    @constants = World::constants("$top/src/bind/abi/constants.list");
    push @{$group{$_->[0]}}, [$_->[1], $_->[2]] for @constants;
}

# The functions of the standard, and notified operations. Three prototypes differ from the core's,
# which are MPICH's: the count of partitioned calls is an int, and MPI_Pready_list only reads its
# array.
my (@table, @functions);
sub use_table {
    @table = @_;
    @functions = grep { (Calls::standard($_) || $_->{name} =~ /^MPIX_\w+_notify/)
        && $_->{name} !~ /_(?:c2f|f2c|c2f08|f2f08|f082c|f082f)$/ } @table;
    for my $f (@functions) {
        if ($f->{name} eq 'MPI_Pready_list') {
            $f->{text} =~ s/(?<!const )int array_of_partitions/const int array_of_partitions/;
        } elsif ($f->{name} =~ /^MPI_P(?:send|recv)_init$/) {
            $f->{text} =~ s/MPI_Count count/int count/;
        }
    }
    World::point_at_arrays(@functions);
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

# --- handles.h -------------------------------------------------------------------------------

my %null = (type => 'MPI_DATATYPE_NULL', op => 'MPI_OP_NULL');

sub print_handles {
    print "/* handles.h - handles and error classes; made by src/api/gen. */\n";
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
}

# --- calls.c ---------------------------------------------------------------------------------

sub custom {
    my ($f) = @_;
    return $f->{where} eq 'abi' || ($f->{mark}{abi} // '') eq 'custom';
}

# MPI_BUFFER_AUTOMATIC, and the one displacement that is a constant.
sub own {
    my ($f, $v, $is) = @_;
    return ['', "automatic_in($v)", ''] if $f->{name} =~ /attach/ && $v eq 'buffer';
    return ['', $v, "if (!rc && $v) automatic_out($v);"] if $v eq 'buffer_addr';
    return ['', "$v == -1 ? MPI_DISPLACEMENT_CURRENT : $v", ''] if $is eq 'MPI_Offset disp';
    return;
}

# --- names shown ----------------------------------------------------------------------------------

sub print_exports {
    print "{\nglobal:\n";
    print "    $_->{name};\n    P$_->{name};\n" for @functions;
    print "local:\n    *;\n};\n";
}

my %do = ('include/mpi.h' => \&print_header, 'handles.h' => \&print_handles,
    'tables.h' => sub { print World::tables(\%group, \%in_core) },
    'calls.c' => sub { print World::calls(\&custom, \&own, @functions) },
    'custom.h' => sub { print World::custom(grep { custom($_) } @functions) },
    names => sub { print Calls::renames(grep { Calls::in_core($_) } @table) },
    exports => \&print_exports);

sub make {
    my $what;
    ($top, $what) = splice @_, 0, 2;
    require "$top/src/bind/front/world.pm";
    my $do = $do{$what} or die "gen: bind/abi has no $what\n";
    use_constants();
    use_table(@_);
    $do->();
}

1;

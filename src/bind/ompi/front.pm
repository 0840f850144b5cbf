# front.pm - Open MPI 4.1's interface, from calls.def, objects.list and constants.list; src/api/gen
# calls Front::make(TOP, FILE, functions of calls.def) for the files of bind/ompi.
#   objects.c      the objects whose addresses are the predefined handles
#   handles.h      handles and error classes of either side into those of the other
#   tables.h       the same of other constants
#   calls.c        each function, which converts and calls that of the core
#   custom.h       the functions that are written by hand
#   exports        the version script: what the library shows
#
# A function is converted by the rules of bind/front/world.pm. Those that need more are @custom and
# those with abi=custom.
package Front;
use strict;
use warnings;

my $top;
my (%in_core, @objects, @constants, %group, @functions);

# Functions whose texts are cut to Open MPI's lengths, and others that are this interface's own.
my @custom = qw(Get_version Get_library_version Error_string Comm_get_name Type_get_name
    Win_get_name Info_get Info_get_nthkey Info_get_valuelen Info_set Info_delete Comm_split_type
    Status_c2f Status_f2c Errhandler_create Type_size Type_size_x);
my %custom = map { ("MPI_$_" => 1) } @custom;
# Functions of the standard that Open MPI 4.1 has not, or not as functions.
my %not_there = map { ("MPI_$_" => 1) } qw(Aint_add Aint_diff Status_c2f08 Status_f082c
    Status_f082f Status_f2f08);
my @null_functions = ('dup_fn', 'null_copy_fn', 'null_delete_fn', 'conversion_fn_null',
    map { ("${_}_dup_fn", "${_}_null_copy_fn", "${_}_null_delete_fn") } qw(comm type win));
my %kind = (Comm => 'COMM', Errhandler => 'ERRHANDLER', File => 'FILE', Group => 'GROUP',
    Info => 'INFO', Message => 'MESSAGE', Op => 'OP', Request => 'REQUEST', Type => 'TYPE',
    Win => 'WIN');

sub fortran_handle { return $_[0]{name} =~ /^MPI_(\w+)_(?:c2f|f2c)$/ && $kind{$1} }
sub custom { return $custom{$_[0]{name}} || ($_[0]{mark}{abi} // '') eq 'custom' }

# Open MPI's functions: those of MPI-3.1, the removed ones of MPI-1, and the persistent collectives,
# which have another name.
sub use_table {
    for my $f (grep { !$_->{large} && !$not_there{$_->{name}} } @_) {
        push @functions, $f if $f->{version} =~ /^(?:3\.1|old)$/;
        next if $f->{form} ne 'prepare' || !Calls::standard($f);
        push @functions, {%$f, shown => $f->{name} =~ s/^MPI_/MPIX_/r};
    }
    World::point_at_arrays(@functions);
}

sub use_lists {
    %in_core = World::in_core($top);
    @objects = World::constants("$top/src/bind/ompi/objects.list");
    @constants = World::constants("$top/src/bind/ompi/constants.list");
    push @{$group{$_->[0]}}, [$_->[1], $_->[2]] for @constants;
}

# --- objects ---------------------------------------------------------------------------------

sub print_objects {
    print "/* objects.c - what predefined handles point at; made by src/api/gen. */\n";
    print "#include \"api/bindings.h\"\n\n";
    print "/* Programs have copies: the sizes are Open MPI's. */\n";
    print "#define OBJECT(name, size, core, fortran) \\\n"
        . "    API_EXPORT extern const struct object_##size name; \\\n"
        . "    const struct object_##size name = {core, fortran, {0}}\n";
    my %size = map { $_->[3] => 1 } @objects;
    for (sort { $a <=> $b } keys %size) {
        print "struct object_$_ {\n    int core, fortran;\n    char rest[$_ - 8];\n};\n";
    }
    for (@objects) {
        my ($kind, $core, $name, $size, $fortran) = @$_;
        $core = $core eq '-' ? 'MPI_DATATYPE_NULL' : $core;
        $core = $kind eq 'file' ? 0 : "(int)$core";
        print "OBJECT($name, $size, $core, ", $fortran eq '-' ? 0 : $fortran, ");\n";
    }
}

sub cases {
    my ($of_messages) = @_;
    my %seen;
    return map { " \\\n    case (int)$_->[1]: return (HANDLE)(uintptr_t)$_->[2];" }
        grep { $_->[1] ne '-' && $_->[0] ne 'file' && ($_->[0] eq 'message') eq $of_messages
            && !$seen{$_->[1]}++ } @objects;
}

sub print_handles {
    print "/* handles.h - handles and error classes; made by src/api/gen. */\n";
    print "extern const char $_->[2]\[];\n"
        for grep { $_->[2] !~ /^ompi_(?:mpi_file|request)_null$/ } @objects;
    print "#define OMPI_PREDEFINED_CASES", cases(!1), "\n";
    print "#define OMPI_MESSAGE_CASES", cases(!0), "\n";
    print "enum { FORTRAN_MOST = 80 };\n";
    print "static const char *const of_fortran[][FORTRAN_MOST] = {\n";
    my %seen;
    for (grep { $_->[4] ne '-' && !$seen{"$_->[0] $_->[4]"}++ } @objects) {
        print "    [OMPI_\U$_->[0]\E][$_->[4]] = $_->[2],\n";
    }
    print "};\n";
    my @classes = grep { $in_core{$_->[0]} && $_->[1] } @{$group{class}};
    print "static const unsigned char class_out[128] = {\n";
    print "    [$_->[0]] = $_->[1],\n" for @classes;
    print "};\nstatic const unsigned char class_in[92] = {\n";
    print "    [$_->[1]] = $_->[0],\n" for @classes;
    print "};\n";
    my @names = sort { $a->[1] <=> $b->[1] } @{$group{class}};
    print "static const char *const class_name[92] = {\n";
    print "    [$_->[1]] = \"$_->[0]\",\n" for @names;
    print "};\n";
}

# --- calls -----------------------------------------------------------------------------------

# MPI_X_c2f and MPI_X_f2c.
sub fortran_call {
    my ($f) = @_;
    my ($x, $which) = $f->{name} =~ /^MPI_(\w+)_(c2f|f2c)$/;
    my $k = "OMPI_$kind{$x}";
    return "\nFRONT_CALL(int, ${x}_c2f, (HANDLE h))\n{\n    return ompi_c2f(h);\n}\n"
        if $which eq 'c2f';
    return "\nFRONT_CALL(HANDLE, ${x}_f2c, (int index))\n{\n    return ompi_f2c($k, index);\n}\n";
}

# A handle that counts at the root alone may be anything in other processes.
sub counts_at_root {
    my ($f, $v) = @_;
    my $which = $f->{name} =~ /^MPIX?_I?gatherv?(?:_init)?$/i ? 'recvtype'
        : $f->{name} =~ /^MPIX?_I?scatterv?(?:_init)?$/i ? 'sendtype'
        : $f->{name} eq 'MPI_Comm_spawn' ? 'info' : '';
    return $v eq $which ? ['', "ompi_at_root_in($v, comm, root)", ''] : undef;
}

sub print_calls {
    print World::calls(\&custom, \&counts_at_root, grep { !fortran_handle($_) } @functions);
    print fortran_call($_) for grep { fortran_handle($_) } @functions;
}

sub print_exports {
    print "{\nglobal:\n";
    for (map { $_->{shown} // $_->{name} } @functions) { print "    $_;\n    P$_;\n" }
    print "    $_->[2];\n" for @objects;
    print "    OMPI_*;\n    MPI_F_STATUS_IGNORE;\n    MPI_F_STATUSES_IGNORE;\n";
    print "    MPIX_Query_cuda_support;\n    ompi_op_set_cxx_callback;\n";
    print "    ompi_errhandler_create;\n    ompi_attr_[gs]et_[af]int;\n    mpi_fortran_*_;\n";
    for my $name (@null_functions) { # of Fortran, in four spellings
        print "    mpi_$name;\n    mpi_${name}_;\n    mpi_${name}__;\n    MPI_\U$name\E;\n";
    }
    print "local:\n    *;\n};\n";
}

my %do = ('objects.c' => \&print_objects, 'handles.h' => \&print_handles,
    'tables.h' => sub { print World::tables(\%group, \%in_core) },
    'calls.c' => \&print_calls, 'exports' => \&print_exports,
    'custom.h' => sub {
        print World::custom(grep { custom($_) && !fortran_handle($_) } @functions) });

sub make {
    my $what;
    ($top, $what) = splice @_, 0, 2;
    require "$top/src/bind/front/world.pm";
    my $do = $do{$what} or die "gen: bind/ompi has no $what\n";
    use_lists();
    use_table(@_);
    $do->();
}

1;

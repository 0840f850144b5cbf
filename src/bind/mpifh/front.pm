# front.pm - Open MPI's Fortran interface, from calls.def, by the rules of bind/fortran/front.pm;
# src/api/gen calls Front::make(TOP, FILE, functions of calls.def) for the files of bind/mpifh.
#   calls.c     what Fortran programs call; it calls Open MPI's interface of C
#   pmpi.h      the functions of that interface
#   f08_constants.c    the predefined handles of mpi_f08
#
# Beyond those rules handles are converted: INTEGER in Fortran, a pointer in C.
package Front;
use strict;
use warnings;
use File::Basename;

our ($top, $world, @functions, %do);
require File::Spec->rel2abs(dirname(__FILE__) . '/../fortran/front.pm');
require File::Spec->rel2abs(dirname(__FILE__) . '/../front/world.pm');

# Those of own.c: functions of Fortran, attributes, texts whose length is an argument.
my %custom = map { ("MPI_$_" => 1) } qw(Init Init_thread Pcontrol Wtime Wtick Aint_add Aint_diff
    Buffer_detach Info_get Comm_create_keyval Type_create_keyval Win_create_keyval Keyval_create
    Comm_set_attr Type_set_attr Win_set_attr Attr_put Comm_get_attr Type_get_attr Win_get_attr
    Attr_get Op_create Comm_create_errhandler Win_create_errhandler File_create_errhandler
    Errhandler_create Grequest_start Register_datarep Comm_spawn Comm_spawn_multiple);
my $handle = join '|', grep { $_ ne 'Session' } @Calls::handles;

# Functions of MPI-3.1 and the removed ones of MPI-1; persistent collectives have another name.
sub is_there {
    my ($f) = @_;
    return 0 if $f->{large} || $f->{name} =~ /^MPI_Status_\w*f08/;
    return 1 if $f->{version} =~ /^(?:3\.1|old)$/;
    return 0 if $f->{form} ne 'prepare' || !Calls::standard($f);
    $f->{name} =~ s/^MPI_/MPIX_/;
    return 1;
}

sub converted { # MPI_Datatype is called Type there
    my ($type) = @_;
    $type =~ s/^Datatype$/Type/;
    return ("PMPI_${type}_f2c", "PMPI_${type}_c2f");
}

# An array of handles: before the call, argument, after it.
sub passed_handles {
    my ($p, $f, $type) = @_;
    my $v = $p->{name};
    my ($f2c, $c2f) = converted($type);
    my ($n) = map { "*$_->{name}" }
        grep { $_->{name} =~ /^(?:count|incount|max_datatypes)$/ } @{$f->{params}};
    if ($v =~ /^(send|recv)types$/) {
        my $is_send = $1 eq 'send' ? 1 : 0;
        my $neighbor = $f->{name} =~ /eighbor/ ? 1 : 0;
        $n = "types_count(*comm, $neighbor, $is_send, " . ($is_send ? 'sendbuf' : 'NULL') . ')';
    }
    die "gen: $f->{name}: how many of $v?\n" if !defined $n;
    my $from = $n eq '*max_datatypes' ? 'NULL' : $v; # an array that is only written
    my $after = $v =~ /requests$|datatypes$/ && $p->{text} !~ /^const/
        ? "handles_back(&c_$v, $c2f, $v);" : "handles_end(&c_$v);";
    return ['MPI_Fint *', "struct handles c_$v; handles_begin(&c_$v, $n, $f2c, $from);", "c_$v.v",
        $after];
}

# How a parameter is passed where it differs: as passed() of bind/fortran.
sub passed_here {
    my ($p, $f) = @_;
    my ($v, $t, $array) = @$p{qw(name type array)};
    (my $base = $t) =~ s/^const |\b \*$//g;
    if ($base =~ /^MPI_($handle)$/) {
        my ($f2c, $c2f) = converted($1);
        return passed_handles($p, $f, $1) if $array || $v =~ /^array_of_/;
        return ['MPI_Fint *', '', "$f2c(*$v)", ''] if $t !~ /\*$/;
        my $old = $p->{inout} ? "$f2c(*$v)" : 'NULL';
        return ['MPI_Fint *', "HANDLE c_$v = $old;", "&c_$v", "if (c_$v) *$v = $c2f(c_$v);"];
    }
    # addresses of MPI-1 are INTEGER
    return if $f->{version} ne 'old' || $base ne 'MPI_Aint';
    return ['MPI_Fint *', "MPI_Aint *c_$v = aints_in($v, *count);", "c_$v", "free(c_$v);"]
        if $v =~ /^array_of_/;
    return ['MPI_Fint *', '', "*$v", ''] if $t !~ /\*$/;
    return ['MPI_Fint *', "MPI_Aint c_$v = 0;", "&c_$v", "*$v = (MPI_Fint)c_$v;"];
}

sub print_calls_here {
    print "/* calls.c - what Fortran programs call; made by src/api/gen. */\n";
    print "#include \"bind/mpifh/mpifh.h\"\n";
    for my $f (grep { !$_->{custom} } @functions) {
        my ($params, $text) = body($f, 0);
        my ($lower, $upper) = ($f->{tail}, uc $f->{tail});
        my $is_old = $f->{version} eq 'old' || $f->{name} =~ /^MPI_(?:Attr_delete|Keyval_free)$/;
        my $macro = $is_old ? 'FORT_OLD' : 'FORT';
        print "\n$macro($lower, $upper, ($params))\n{\n$text}\n";
        print "FORT_ALSO(${lower}_cptr, ${upper}_CPTR, $lower, ($params));\n"
            if grep { $_->{name} eq 'baseptr' } @{$f->{params}};
    }
}

sub print_pmpi {
    print "/* pmpi.h - Open MPI's interface of C; made by src/api/gen. */\n";
    for my $f (@functions) {
        print World::c_type("extern $f->{result} P$f->{name}($f->{text});\n")
            =~ s/double precision/double/r =~ s/extern aint/extern MPI_Aint/r
            =~ s/extern  /extern int /r;
    }
    for (grep { $_ ne 'Datatype' } split(/\|/, $handle), 'Type') {
        print "extern HANDLE PMPI_${_}_f2c(MPI_Fint index);\n";
        print "extern MPI_Fint PMPI_${_}_c2f(HANDLE handle);\n";
    }
}

# The name of an object of objects.list in Fortran, in small letters, without mpi_.
my %spelt = (cplex => 'complex', dblcplex => 'double_complex', '2cplex' => '2complex',
    '2dblcplex' => '2double_complex', dblprec => 'double_precision',
    '2dblprec' => '2double_precision', cxx_cplex => 'cxx_float_complex',
    cxx_dblcplex => 'cxx_double_complex', cxx_ldblcplex => 'cxx_long_double_complex',
    longdbl_int => 'long_double_int');
sub fortran_name {
    my ($object) = @_;
    $object =~ s/^ompi_(?:mpi_)?(?:op_(?!null))?//;
    return $spelt{$object} // $object;
}

# Constants have the name of the module's variable and the one of C that it is bound to.
sub print_f08_constants_here {
    print "/* f08_constants.c - predefined handles of mpi_f08; made by src/api/gen. */\n";
    print "#include \"bind/mpifh/f08.h\"\n\n";
    my @objects = grep { $_->[4] ne '-' && $_->[2] !~ /throw|ompi_mpi_ldblcplex/ }
        World::constants("$top/src/bind/ompi/objects.list");
    my %index = map { fortran_name($_->[2]) => $_->[4] } @objects;
    my %also = (long_long => 'long_long_int', cxx_complex => 'cxx_float_complex');
    $index{$_} = $index{$also{$_}} for keys %also;
    print "F08_CONSTANT($_, ", s/^(u?int\d+)_t$/$1/r, ", $index{$_});\n" for sort keys %index;
}

$world = {has => \&is_there, custom => sub { $custom{$_[0]{name}} }, passed => \&passed_here};
%do = ('calls.c' => \&print_calls_here, 'pmpi.h' => \&print_pmpi,
    'f08_constants.c' => \&print_f08_constants_here);

1;

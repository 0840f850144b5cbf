# front.pm - Fortran's interface, from calls.def and the constants of mpi.h. src/api/gen calls
# Front::make(TOP, FILE, functions of calls.def) for the files of bind/fortran.
#   calls.c         what Fortran programs call, by the link names of MPICH
#   modules/mpif.h
#   mpi.f90         the modules mpi_constants, mpi_sizeofs, mpi_base and mpi
#   mpi_f08.f90     the modules mpi_f08, pmpi_f08, and those that they use
#
# A parameter is converted and declared by its type and name (passed(), dummy()); one that is not
# known stops the build. Functions that need more have fortran=custom, and stand in special.c.
#
# bind/mpifh/front.pm makes Open MPI's interface with the same rules; it sets $world.
package Front;
use strict;
use warnings;

our $top;
our $world; # of another binary interface: has(f), custom(f), passed(p, f); undef: MPICH's
my @handles = @Calls::handles;
my $handle = join '|', @handles;

sub slurp { return Calls::slurp("$top/$_[0]") }

# --- the tables ------------------------------------------------------------------------------

# Constants: [name, value, type of handle or '']; those of Fortran differ where the table says so.
my (@constants, %value);
sub use_constants {
    my $header = slurp('include/mpi.h');
    $header =~ s{/\*.*?\*/}{}gs;
    while ($header =~ /^#define (MPIX?_\w+) (.+?)\s*$|\b(MPI_\w+) = (\d+)/mg) {
        my ($name, $text) = ($1 // $3, $2 // $4);
        next if $name =~ /^MPI_T_|_FMT_|^MPI_F_|^MPI_INCLUDED$|_DUP_FN$|_NULL_(?:COPY|DELETE)_FN$/;
        next if $name =~ /^MPI_(?:BOTTOM|IN_PLACE|BUFFER_AUTOMATIC|ARGVS?_NULL|ERRCODES_IGNORE)$/;
        next if $text =~ /\*\)/ || $name =~ /_(?:c2f|f2c)/;
        my $type = '';
        ($type, $text) = ($1, $2) if $text =~ /^\(\(MPI_(\w+)\)(\w+)\)$/;
        $text = $1 if $text =~ /^\((-?\d+)\)$/;
        if ($value{$text}) {
            ($text, $type) = @{$value{$text}};
        } elsif ($text =~ /^0x/) {
            $text = hex $text;
            $text -= 2**32 if $text >= 2**31;
        } elsif ($text =~ /^\(MPICH_ERR_FIRST_MPIX \+ (\d+)\)$/) {
            $text = 100 + $1;
        }
        die "gen: $name: cannot read '$text'\n" if $text !~ /^-?\d+$/;
        $text-- if $name =~ /^MPI_MAX_/; # texts of Fortran have no closing 0
        $text++ if $text >= 0x64000000 && $text < 0x68000000 && !$type; # predefined keys
        $value{$name} = [$text, $type];
        push @constants, [$name, $text, $type];
    }
}

# The table's functions get more fields: tail, which follows "mpi" in link names, custom, choice.
# Fortran has those of the standard, apart from MPI_T and conversions, MPIX_Comm_, notified
# operations, MPIX_Win_idup, windows made without waiting, memory handles, continuations, and those
# of windows and files after failures.
our @functions;
sub use_table {
    for my $f (@_) {
        my $name = $f->{name};
        next if !Calls::in_core($f) || $name =~ /^MPI_T_|_(?:c2f|f2c|c2f08|f082c)$/;
        next if $world ? !$world->{has}->($f)
            : !Calls::standard($f)
                && $name !~ /^MPIX?_Comm_|^MPIX_\w+_notify|^MPIX_(?:Continue|Memhandle)/
                && $name !~ /^MPIX_Win_(?:idup|iallocate|icreate|shrink|recover|get_failed)$/
                && $name !~ /^MPIX_(?:Win|File)_(?:revoke|is_revoked)$/;
        ($f->{base} = $f->{name}) =~ s/_c$//;
        ($f->{tail} = lc $f->{base}) =~ s/^mpi//;
        my $rule = $f->{mark}{fortran} // '';
        $f->{custom} = $world ? $world->{custom}->($f)
            : $rule eq 'custom' || $rule eq 'custom_int' && !$f->{large};
        parameter($_) for @{$f->{params}};
        $f->{choice} = grep { $_->{choice} } @{$f->{params}};
        $f->{result} = $f->{result} =~ /double/ ? 'double precision'
            : $f->{result} =~ /Aint/ ? 'aint' : '';
        push @functions, $f;
    }
}

sub parameter {
    my ($p) = @_;
    my ($type, $name) = @$p{qw(type name)};
    $p->{name} = $type eq '...' ? 'rest' : $type =~ /^MPI_File\b/ ? 'fh'
        : $name eq 'indx' ? 'index' : $name;
    $p->{choice} = 1 if $type =~ /^(?:const )?void \*$/
        && $name =~ /^(?:(?:send|recv|in|out|inout)?buf|buffer|base|location|\w+_addr)$/
        && $name ne 'buffer_addr';
}

# --- how a parameter is passed -------------------------------------------------------------------

my $logical = qr/^(?:flag|commute|reorder|periods|remain_dims|high|weighted)$/;
my $changes = qr/^(?:position|array_of_requests|buflen|pset_len|buffer_addr|message
    |(?:op_)?request)$/x;

# In calls.c: [C type of Fortran's argument, before, argument, after], $v the parameter.
sub passed {
    my ($p, $f) = @_;
    my ($v, $t, $array) = @$p{qw(name type array)};
    return ['void *', '', "buf_in($v)", ''] if $p->{choice};
    my $own = $world && $world->{passed}->($p, $f);
    return $own if $own;
    my $in = $v =~ /^(?:key|value)$/ ? 'string_in' : 'string_kept';
    return ['char *', "char *c_$v = $in($v, len_$v);", "c_$v", "free(c_$v);"]
        if $t eq 'const char *' || ($t eq 'const char' && $array);
    if ($t eq 'char *') {
        my $size = $v eq 'version' ? 8193 : 1025;
        return ['char *', "char c_$v\[$size] = \"\";", "c_$v",
            "if (!rc) string_out(c_$v, $v, len_$v);"];
    }
    return ['MPI_Fint *', '', "MPI_File_f2c(*$v)", ''] if $t eq 'MPI_File';
    my $file = $f->{name} =~ /close/ ? "MPI_File_f2c(*$v)" : 'NULL';
    return ['MPI_Fint *', "MPI_File c_$v = $file;", "&c_$v", "*$v = MPI_File_c2f(c_$v);"]
        if $t eq 'MPI_File *';
    return ['MPI_Fint *', '', "status_in($v)", ''] if $t =~ /^(?:const )?MPI_Status \*$/;
    return ['MPI_Fint *', '', "weights_in($v)", ''] if $v =~ /weights$/;
    return ['MPI_Fint (*', '', "$v", ''] if $array eq '[][3]';
    return ['void *', '', $v, ''] if $v eq 'baseptr';
    return ["$t", '', $v, ''] if $t =~ /^MPI_\w+_function(?:_c)? \*$/;
    (my $base = $t) =~ s/^const |\b \*$//g;
    my $integer = $base eq 'int' || $base =~ /^MPI_(?:$handle)$/ ? 'MPI_Fint *'
        : $base =~ /^MPI_(?:Aint|Count|Offset|Fint|F08_status)$/ ? "$base *"
        : die "gen: $f->{name}: no rule for '$p->{text}'\n";
    return [$integer, '', "*$v", ''] if $t !~ /\*$/ && !$array;
    # Also where the call returns the error of a request.
    return [$integer, "*$v = MPI_UNDEFINED;", $v, "if (*$v != MPI_UNDEFINED) ++*$v;"]
        if $v eq 'index' && !$array;
    return [$integer, '*outcount = MPI_UNDEFINED;', $v, "indices_out(*outcount, $v);"]
        if $v eq 'array_of_indices';
    return [$integer, '', $v, ''];
}

# Is the operation under way when the call returns?
sub lasts {
    my ($f) = @_;
    return 1 if grep { $_->{name} =~ /^(?:request|target_rank)$/ } @{$f->{params}};
    return $f->{base} =~ /_begin$/;
}

# Does the end of a request store the handle, or the base, that $p is?
sub stored_later {
    my ($p, $f) = @_;
    return $p->{name} =~ /^(?:win|baseptr)$/ && $f->{base} =~ /_i(?:allocate|create)$/
        || $p->{name} eq 'newcomm' && $f->{base} =~ /_i(?:dup|dup_with_info|shrink)$/;
}

# A choice argument of mpi_f08, by its descriptor.
sub described {
    my ($p, $f, $i) = @_;
    my $v = $p->{name};
    return ['const struct desc *', '', "buf_in($v->base)", '']
        if $f->{base} =~ /(?:attach|detach|create|_mem|address|_buffer|_end|Psend_init|Precv_init)$/
        || $f->{base} =~ /Fetch_and_op|Compare_and_swap/;
    if (!lasts($f)) {
        my $back = $p->{type} =~ /const/ ? 0 : 1;
        return ['const struct desc *', "struct whole w_$v; whole_begin(&w_$v, $v);", "w_$v.base",
            "whole_end(&w_$v, $back);"];
    }
    my ($count, $type) = @{$f->{params}}[$i + 1, $i + 2];
    my $is_rma = grep { $_->{name} eq 'target_rank' } @{$f->{params}};
    my $is_flat = $count->{type} =~ /^(?:int|MPI_Count)$/ && !$count->{array}
        && $type->{type} eq 'MPI_Datatype';
    $is_flat = 0 if !$is_rma && $f->{base} =~ /reduce|scan|alltoall/i
        || $f->{base} =~ /gather/ && $v eq 'recvbuf' || $f->{base} =~ /scatter/ && $v eq 'sendbuf';
    return ['const struct desc *', "refuse_section($v, \"$f->{base}\");", "buf_in($v->base)", '']
        if !$is_flat;
    $count->{view} = "v_$v.count";
    $type->{view} = "v_$v.type";
    my $n = $f->{large} ? '_c' : '';
    return ['const struct desc *',
        "struct view v_$v; view_begin(&v_$v, $v, *$count->{name}, *$type->{name});",
        "v_$v.base", "view_end(&v_$v);"];
}

sub body {
    my ($f, $f08) = @_;
    delete $_->{view} for @{$f->{params}};
    my $i = 0;
    my @how = map { $f08 && $_->{choice} ? described($_, $f, $i++) : ($i++, passed($_, $f))[1] }
        @{$f->{params}};
    my (@args, @decl, @hidden);
    for my $k (0 .. $#how) {
        my ($p, $h) = ($f->{params}[$k], $how[$k]);
        push @args, $p->{view} ? ($f->{large} ? '' : '(int)') . $p->{view} : $h->[2];
        push @decl, $h->[0] eq 'MPI_Fint (*' ? "MPI_Fint (*$p->{name})[3]" : "$h->[0]$p->{name}";
        push @hidden, "size_t len_$p->{name}" if $h->[0] eq 'char *';
        $decl[-1] =~ s/\* (\w+)$/*$1/;
    }
    # refusals first: they return
    if ($f08 && !is_c($f)) {
        s/^const struct desc \*(\w+)$/const struct own_desc *own_$1/ for @decl;
    }
    my $text = join '', map { "    $_\n" } sort { $b =~ /^refuse/ <=> $a =~ /^refuse/ }
        grep { $_ } map { $_->[1] } @how;
    if ($f08 && !is_c($f)) {
        $text = join('', map { "    struct desc c_$_->{name};\n    const struct desc *$_->{name} = "
            . "desc_in(&c_$_->{name}, own_$_->{name});\n" } grep { $_->{choice} } @{$f->{params}})
            . $text;
    }
    $text .= "    int rc = CALL($f->{name})(" . join(', ', @args) . ");\n";
    $text .= join '', map { "    $_->[3]\n" } grep { $_->[3] } @how;
    $text .= "    if (ierr)\n        *ierr = rc;\n";
    return (join(', ', @decl, 'MPI_Fint *ierr', @hidden), $text);
}

sub print_calls {
    print "/* calls.c - what Fortran programs call; made by src/api/gen. */\n";
    print "#include \"bind/fortran/fort.h\"\n";
    for my $f (@functions) {
        next if $f->{custom};
        if (!$f->{large}) {
            my ($params, $text) = body($f, 0);
            my $macro = $f->{choice} ? 'FORT' : 'FORT_BOTH';
            print "\n$macro($f->{tail}, ", uc $f->{tail}, ", ($params))\n{\n$text}\n";
        }
        if ($f->{large} || $f->{choice}) {
            my ($params, $text) = body($f, 1);
            my $own = "body$f->{tail}" . ($f->{large} ? '_c' : '');
            print is_c($f) ? "\nFORT_BODY $own($params)"
                : "\nFORT08(" . f08_tail($f) . ", ($params))", "\n{\n$text}\n";
            print_old_f08($f, $params) if $f->{choice};
        }
    }
}

# mpi_f08 declares procedures with choice arguments BIND(C): so it is C's descriptor that comes, and
# the compiler copies no section.  A text would come by a descriptor, too: such procedures are not.
sub is_c {
    my ($f) = @_;
    return $f->{choice} && !grep { $_->{type} =~ /^const char\b/ } @{$f->{params}};
}

sub c_tail {
    my ($f) = @_;
    return "$f->{tail}_c" . ($f->{large} ? '_large' : '');
}

# MPICH's link name, for programs that were compiled with its modules: gfortran's own descriptors.
sub print_old_f08 {
    my ($f, $params) = @_;
    return if !is_c($f);
    my ($decl, $own_decl, $own) = ('', '', $params);
    my @args = map { /(\w+)\)?(?:\[3\])?$/ ? $1 : die } split /, /, $params;
    my @own_args = @args;
    my $body = "body$f->{tail}" . ($f->{large} ? '_c' : '');
    my $plain = join ', ', @args;
    for my $p (grep { $_->{choice} } @{$f->{params}}) {
        my $v = $p->{name};
        $own =~ s/const struct desc \*\b$v\b/const struct own_desc *$v/;
        $decl .= "    struct desc c_$v;\n";
        $own_decl .= "        struct own_desc o_$v;\n";
        @args = map { $_ eq $v ? "desc_in(&c_$v, $v)" : $_ } @args;
        @own_args = map { $_ eq $v ? "desc_out(&o_$v, $v)" : $_ } @own_args;
    }
    my $tail = f08_tail($f);
    print "FORT08($tail, ($own))\n{\n$decl    $body(", join(', ', @args), ");\n}\n";
    print "FORT_OWN($tail, ($own));\nFORT08(", c_tail($f), ", ($params))\n{\n";
    print "    if (FORT_F08(${tail}_) != FORT_OWN_NAME(${tail}_)) {\n$own_decl";
    print "        FORT_F08(${tail}_)(", join(', ', @own_args), ");\n        return;\n    }\n";
    print "    $body($plain);\n}\n";
}

sub f08_tail {
    my ($f) = @_;
    my $text = "$f->{tail}_f08" . ($f->{choice} ? 'ts' : '') . ($f->{large} ? '_large' : '');
    return $f->{name} =~ /^MPI_(?:Op_create|Register_datarep)_c$/ ? "$f->{tail}_c_f08" : $text;
}

# --- mpif.h ----------------------------------------------------------------------------------

my @null_functions = qw(MPI_DUP_FN MPI_NULL_COPY_FN MPI_NULL_DELETE_FN MPI_COMM_DUP_FN
    MPI_COMM_NULL_COPY_FN MPI_COMM_NULL_DELETE_FN MPI_WIN_DUP_FN MPI_WIN_NULL_COPY_FN
    MPI_WIN_NULL_DELETE_FN MPI_TYPE_DUP_FN MPI_TYPE_NULL_COPY_FN MPI_TYPE_NULL_DELETE_FN
    MPI_CONVERSION_FN_NULL);
my @numbers = ([MPI_STATUS_SIZE => 5], [MPI_SOURCE => 3], [MPI_TAG => 4], [MPI_ERROR => 5],
    [MPI_ADDRESS_KIND => 8], [MPI_OFFSET_KIND => 8], [MPI_COUNT_KIND => 8],
    [MPI_INTEGER_KIND => 4]);

# The lines fit fixed and free form: from column 7 to 72, no continuation.
sub print_mpif {
    print "!      mpif.h: made by src/api/gen\n";
    for (@numbers, @constants) {
        my ($name, $value) = @$_;
        my $kind = $name eq 'MPI_DISPLACEMENT_CURRENT' ? 'INTEGER(KIND=8)' : 'INTEGER';
        print "       $kind $name\n       PARAMETER ($name=$value)\n";
    }
    print "       LOGICAL $_\n       PARAMETER ($_=.FALSE.)\n"
        for qw(MPI_SUBARRAYS_SUPPORTED MPI_ASYNC_PROTECTS_NONBLOCKING);
    print <<'END';
       INTEGER MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC
       INTEGER MPI_UNWEIGHTED(1), MPI_WEIGHTS_EMPTY(1)
       INTEGER MPI_STATUS_IGNORE(5), MPI_STATUSES_IGNORE(5,1)
       INTEGER MPI_ERRCODES_IGNORE(1)
       CHARACTER*1 MPI_ARGVS_NULL(1,1), MPI_ARGV_NULL(1)
       COMMON /MPIPRIV1/ MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE
       COMMON /MPIPRIV2/ MPI_STATUSES_IGNORE, MPI_ERRCODES_IGNORE
       COMMON /MPIPRIVC/ MPI_ARGVS_NULL, MPI_ARGV_NULL
       COMMON /MPIFCMB5/ MPI_UNWEIGHTED
       COMMON /MPIFCMB9/ MPI_WEIGHTS_EMPTY
       COMMON /MPIFCMBA/ MPI_BUFFER_AUTOMATIC
       SAVE /MPIPRIV1/, /MPIPRIV2/, /MPIPRIVC/
       SAVE /MPIFCMB5/, /MPIFCMB9/, /MPIFCMBA/
       DOUBLE PRECISION MPI_WTIME, MPI_WTICK, PMPI_WTIME, PMPI_WTICK
       EXTERNAL MPI_WTIME, MPI_WTICK, PMPI_WTIME, PMPI_WTICK
END
    print "       EXTERNAL $_\n" for @null_functions;
}

# --- declarations ------------------------------------------------------------------------------

# The declaration of a dummy argument; $f08: with types of handles, of mpi_f08.
sub dummy {
    my ($p, $f, $f08) = @_;
    my ($v, $t, $array) = @$p{qw(name type array)};
    my $in = $t =~ /^const / || ($t !~ /\*$/ && !$array) ? ', intent(in)' : '';
    if ($p->{choice}) {
        $in = '' if $f->{base} =~ /Free_mem|attach|detach|Get_address/;
        my $goes_on = lasts($f) || $f->{base} =~ /attach|create|detach|_end$/;
        return "type(*), dimension(..)$in" . ($goes_on ? ', asynchronous' : '') . " :: $v";
    }
    return "character(len=*), intent(in) :: $v" if $t eq 'const char *' || $t eq 'const char';
    return "character(len=*), intent(out) :: $v" if $t eq 'char *' && !$array;
    return "character(len=*), intent(in) :: $v(*)" if $v =~ /^(?:argv|array_of_commands)$/;
    return "character(len=*), intent(in) :: $v(count,*)" if $v eq 'array_of_argv';
    if ($t =~ /_(?:function(?:_c)?|fn) \*$/) {
        (my $iface = $t) =~ s/ \*$//;
        return $f08 ? "procedure($iface) :: $v" : "external :: $v";
    }
    return "integer(8), intent(in) :: $v" if $v =~ /^(?:extra_state|cb_data)$/
        || $f->{name} =~ /set_attr/ && $v eq 'attribute_val';
    return "integer(8), intent(out) :: $v" if $v eq 'attribute_val';
    my $later = stored_later($p, $f) ? ', asynchronous' : '';
    return ($f08 ? 'type(c_ptr)' : 'integer(8)') . ", intent(out)$later :: $v" if $v eq 'baseptr';
    return "type(c_ptr), intent(out) :: $v" if $v eq 'buffer_addr';
    (my $base = $t) =~ s/^const |\b \*$//g;
    my $dims = $array eq '[][3]' ? '(3,*)' : $array ? '(*)' : '';
    $dims = '(*)' if $v =~ /weights$|statuses$/ || $t eq 'const MPI_Fint *'
        || $t eq 'MPI_Fint *';
    if ($base eq 'MPI_Status') {
        return $f08 ? "type(MPI_Status)$in :: $v$dims"
            : 'integer' . $in . " :: $v" . ($dims ? '(5,*)' : '(5)');
    }
    my $kind = $base =~ /^MPI_(?:Aint|Count|Offset)$/ ? 'integer(8)'
        : $base =~ /^MPI_(?:$handle)$/ ? ($f08 ? "type($base)" : 'integer')
        : $base eq 'MPI_F08_status' ? 'type(MPI_Status)'
        : $v =~ $logical && $f->{name} !~ /^MPIX_Comm_i?agree/ ? 'logical' : 'integer';
    return "$kind$in :: $v$dims" if $in;
    my $inout = $dims || $v =~ $changes || $f->{base} =~ /(?:_free|_finalize|_close|commit)$/i
        || $f->{base} =~ /disconnect|free_keyval|_i?agree/;
    return "$kind, intent(" . ($inout ? 'inout' : 'out') . ")$later :: $v$dims";
}

sub wrap { # free form, 100 columns
    my ($text) = @_;
    my $out = '';
    while (length $text > 96) {
        my $at = rindex $text, ',', 94;
        $at = index $text, ')' if $at < 0;
        $out .= substr($text, 0, $at + 1) . " &\n";
        $text = '    ' . substr $text, $at + 1;
    }
    return "$out$text\n";
}

sub arguments { # without C's argc and argv, and what C's "..." stands for
    my ($f) = @_;
    return grep { !($f->{name} =~ /^MPI_(?:Init|Init_thread|Info_create_env)$/
        && $_->{name} =~ /^arg[cv]$/) && $_->{type} ne '...' } @{$f->{params}};
}

# One specific procedure of an interface.
sub procedure {
    my ($f, $name, $f08, $link) = @_;
    my @p = arguments($f);
    my $kind = $f->{result} ? 'function' : 'subroutine';
    my @names = map { $_->{name} } @p;
    my $has_error = !$f->{result} && $f->{name} ne 'MPI_Pcontrol';
    push @names, 'ierror' if $has_error;
    print wrap("$kind $name(" . join(', ', @names) . ')'
        . ($link ? " bind(c, name='$link" . c_tail($f) . "_')" : ''));
    print "import\n" if $f08;
    print "use, intrinsic :: iso_c_binding, only : c_ptr\n" if !$f08 && $f->{cptr};
    print "implicit none\n";
    my $value = $f->{result} eq 'aint' ? 'integer(8)' : $f->{result};
    print "$value :: $name\n" if $f->{result};
    for my $p (@p) {
        my $d = dummy($p, $f, $f08);
        $d =~ s/^integer\(8\)/type(c_ptr)/ if $f->{cptr} && $p->{name} eq 'baseptr';
        print "$d\n";
    }
    print $f08 ? "integer, optional, intent(out) :: ierror\n" : "integer, intent(out) :: ierror\n"
        if $has_error;
    print "end $kind\n";
}

# What tells two procedures of one generic name apart.
sub shape {
    my ($f) = @_;
    return join '|', map { my $d = dummy($_, $f, 1); $d =~ s/ ::.*|, (?:intent|asyn)[^:]*//g; $d }
        arguments($f);
}

my $sync_reg = {name => 'MPI_F_sync_reg', base => 'MPI_F_sync_reg', tail => '_f_sync_reg',
    large => 0, choice => 1, result => '', no_error => 1,
    params => [{type => 'void *', name => 'buf', array => '', choice => 1}]};

# --- the module mpi ----------------------------------------------------------------------------

sub print_operators { # of one type: mpi_constants' names
    my ($h) = @_;
    my $l = lc $h;
    for (['eq', '=='], ['neq', '/=']) {
        my ($n, $o) = @$_;
        print "elemental logical function $l$n(a, b)\ntype(MPI_$h), intent(in) :: a, b\n";
        print "$l$n = a%mpi_val $o b%mpi_val\nend function\n";
    }
}

my @kinds = (['i', 'integer'], ['i1', 'integer(1)'], ['i2', 'integer(2)'], ['i8', 'integer(8)'],
    ['r', 'real'], ['d', 'double precision'], ['cx', 'complex'], ['ch', 'character(len=*)'],
    ['l', 'logical']);
my @f08_kinds = (['character', 'character(len=*)', 1], ['logical', 'logical', 4],
    (map { ["xint$_", 'integer(' . $_ / 8 . ')', $_ / 8] } 8, 16, 32, 64),
    (map { ["xreal$_", 'real(' . $_ / 8 . ')', $_ / 8] } 32, 64, 128),
    (map { ["xcomplex$_", 'complex(' . $_ / 8 . ')', $_ / 4] } 32, 64, 128));

# MPI_Sizeof for all ranks; $optional: whether ierror may be absent.
sub print_sizeof {
    my ($prefix, $optional) = @_;
    for (@f08_kinds) {
        my ($n, $type, $size) = @$_;
        $size = 'len(x)' if $n eq 'character';
        print "subroutine $prefix$n(x, size, ierror)\n$type, dimension(..), intent(in) :: x\n";
        print "integer, intent(out) :: size\ninteger, ", $optional ? 'optional, ' : '',
            "intent(out) :: ierror\nsize = $size\n";
        print $optional ? 'if (present(ierror)) ' : '', "ierror = 0\nend subroutine\n";
    }
}

sub print_types {
    print "type, bind(c) :: MPI_$_\ninteger :: mpi_val\nend type\n" for @_;
}

sub print_mpi {
    print "! mpi.f90: made by src/api/gen\nmodule mpi_constants\nimplicit none\ninclude 'mpif.h'\n";
    print_types(@handles);
    print <<'END';
type, bind(c) :: MPI_Status
integer :: count_lo, count_hi_and_cancelled, MPI_SOURCE, MPI_TAG, MPI_ERROR
end type
private :: MPI_Status
END
    for (['==', 'eq'], ['/=', 'neq']) {
        my ($o, $n) = @$_;
        print "interface operator($o)\n", map({ 'module procedure ' . lc . "$n\n" } @handles),
            "end interface\n";
    }
    print "contains\n";
    print_operators($_) for @handles;
    print "end module\n\nmodule mpi_sizeofs\nimplicit none\ninterface MPI_SIZEOF\n";
    print "module procedure any_$_->[0]\n" for @f08_kinds;
    print "end interface\ncontains\n";
    print_sizeof('any_', 0);
    for (@kinds) { # the names that MPICH's module has
        my ($n, $type) = @$_;
        for (['', ''], ['v', '(*)']) {
            my $one = $_->[1] ? '(1)' : '';
            my $size = $n eq 'ch' ? 'len(x)' : "storage_size(x$one) / 8";
            print "subroutine mpi_sizeof_$n$_->[0](x, size, ierror)\n";
            print "$type, intent(in) :: x$_->[1]\ninteger, intent(out) :: size, ierror\n";
            print "size = $size\nierror = 0\nend subroutine\n";
        }
    }
    print "end module\n\nmodule mpi_base\nimplicit none\n";
    # Procedures with choice arguments have no interface, as in MPICH: programs define them under
    # `use mpi` (profilers), and pass scalars for arrays that are not looked at.
    for my $p ('mpi', 'pmpi') {
        for my $f (grep { !$_->{large} && !$_->{choice} && $_->{result} ne 'double precision'
            && $_->{name} !~ /Attr_|Keyval_|f08|_detach/ } @functions) {
            print_base($p, $f);
        }
    }
    print "end module\n\nmodule mpi\nuse mpi_constants\nuse mpi_sizeofs\nuse mpi_base\n";
    print "end module\n";
}

sub print_base {
    my ($p, $f) = @_;
    my $name = "$p$f->{tail}";
    if (grep { $_->{name} eq 'baseptr' } @{$f->{params}}) {
        print "interface $name\n";
        procedure($f, $name, 0);
        procedure({%$f, cptr => 1}, "${name}_cptr", 0);
    } else {
        print "interface\n";
        procedure($f, $name, 0);
    }
    print "end interface\n";
}

# --- the module mpi_f08 ------------------------------------------------------------------------

sub print_f08 {
    print "! mpi_f08.f90: made by src/api/gen\nmodule mpi_f08_types\n";
    print "use, intrinsic :: iso_c_binding\n";
    print "implicit none\n";
    print_types(@handles);
    print <<'END';
type, bind(c) :: MPI_Status
integer :: count_lo, count_hi_and_cancelled, MPI_SOURCE, MPI_TAG, MPI_ERROR
end type
END
    my @ops = (['==', 'eq'], ['/=', 'neq']);
    for (@ops) {
        my ($o, $n) = @$_;
        print "interface operator($o)\n";
        print "module procedure mpi_${_}_$n, mpi_${_}_f08_${n}_f, mpi_${_}_f_${n}_f08\n"
            for map { lc } @handles;
        print "end interface\n";
    }
    print "interface MPI_Sizeof\n";
    print "module procedure mpi_sizeof_$_->[0]\n" for @f08_kinds;
    print "end interface\ncontains\n";
    for my $h (@handles) {
        my $l = lc $h;
        for (@ops) {
            my ($o, $n) = @$_;
            my $t = "type(MPI_$h)";
            for (["mpi_${l}_$n", $t, $t, 'a%mpi_val', 'b%mpi_val'],
                ["mpi_${l}_f08_${n}_f", $t, 'integer', 'a%mpi_val', 'b'],
                ["mpi_${l}_f_${n}_f08", 'integer', $t, 'a', 'b%mpi_val']) {
                my ($name, $ta, $tb, $a, $b) = @$_;
                print "elemental logical function $name(a, b)\n$ta, intent(in) :: a\n";
                print "$tb, intent(in) :: b\n$name = $a $o $b\nend function\n";
            }
        }
    }
    print_sizeof('mpi_sizeof_', 1);
    print slurp('src/bind/fortran/status.f90'), "end module\n\n";
    print_f08_constants();
    print slurp('src/bind/fortran/callbacks.f90'), "\n";
    print_f08_module('pmpi_f08', 'PMPI', 'pmpir');
    print_f08_module('mpi_f08', 'MPI', 'mpi');
}

sub print_f08_constants {
    print "module mpi_f08_compile_constants\nuse mpi_f08_types\nimplicit none\n";
    print "integer, parameter :: $_->[0] = $_->[1]\n" for @numbers;
    for (@constants) {
        my ($name, $value, $type) = @$_;
        my $kind = $name eq 'MPI_DISPLACEMENT_CURRENT' ? 'integer(8)' : 'integer';
        print $type ? "type(MPI_$type), parameter :: $name = MPI_$type($value)\n"
            : "$kind, parameter :: $name = $value\n";
    }
    print "logical, parameter :: $_ = .true.\n"
        for qw(MPI_SUBARRAYS_SUPPORTED MPI_ASYNC_PROTECTS_NONBLOCKING);
    print "end module\n\n";
}

sub print_f08_module {
    my ($module, $p, $link) = @_;
    print "module $module\nuse mpi_f08_types\nuse mpi_f08_compile_constants\n";
    print "use mpi_f08_link_constants\nuse mpi_f08_callbacks\n";
    print "use pmpi_f08\n" if $p eq 'MPI';
    print "implicit none\n";
    my %large = map { $_->{base} => $_ } grep { $_->{large} } @functions;
    for my $f (grep { !$_->{large} && $_->{name} !~ /Attr_|Keyval_|_f2f08|_f082f/ } @functions,
        $sync_reg) {
        (my $generic = $f->{name}) =~ s/^MPI/$p/;
        print "interface $generic\n";
        if ($f->{no_error}) {
            my $c = "${link}_f_sync_reg_c_";
            print "subroutine ${link}_f_sync_reg_f08ts(buf) bind(c, name='$c')\n";
            print "type(*), dimension(..), asynchronous :: buf\nend subroutine\n";
        } else {
            procedure($f, $link . f08_tail($f), 1, is_c($f) && $link);
        }
        my $large = $large{$f->{base}};
        my $apart = $large && ($large->{name} =~ /^MPI_(?:Op_create|Register_datarep)_c$/
            || shape($large) eq shape($f));
        print "end interface\ninterface ${generic}_c\n" if $apart;
        procedure($large, $link . f08_tail($large), 1, is_c($large) && $link) if $large;
        print "end interface\n";
    }
    print "end module\n\n";
}

our %do = ('calls.c' => \&print_calls, 'modules/mpif.h' => \&print_mpif, 'mpi.f90' => \&print_mpi,
    'mpi_f08.f90' => \&print_f08);

sub make {
    my $what;
    ($top, $what) = splice @_, 0, 2;
    my $do = $do{$what} or die "gen: bind/fortran has no $what\n";
    use_constants();
    use_table(@_);
    $do->();
}

1;

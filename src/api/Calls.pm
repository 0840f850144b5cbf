# Calls.pm - reads calls.def: the functions of MPI, and what C text is made of them.
#
# Calls::table(TOP) returns a list of functions, in the order of the table, each form one entry:
#   name     MPI_Ibcast_c              section  the heading that it stands under
#   row      MPI_Bcast                 base     the name without _c
#   where    coll                      form     run, begin, prepare, split_begin, split_end
#   version  4.0                       large    1: the form _c
#   mark     {I => 1, trace => 'send'} result   int
#   params   of each: text, type, name, array ('[]'), inout
#   text     the parameters as in C
package Calls;
use strict;
use warnings;

our @handles = qw(Comm Datatype Errhandler File Group Info Message Op Request Session Win);

# The marks that there are: where they may stand, and the values that they may have.
my %mark = (
    _c => [qr/^/],
    _init => [qr/^coll$/],
    I => [qr/^(?:coll|file)$/],
    (map { $_ => [qr/^file$/] } qw(split AT INDIVIDUAL SHARED ORDERED all)),
    compared => [qr/^(?:file|[a-z0-9]+\/)/],
    trace => [qr/^[a-z0-9]+\//, qr/^(?:call|window|near|free|send|recv|irecv|send_init|recv_init
        |sendrecv|isendrecv|mprobe|init|finalize|completes|cancel|request_free)$/x],
    abi => [qr/^/, qr/^custom$/],
    fortran => [qr/^/, qr/^custom(?:_int)?$/],
);
my %word = (COUNT => ['int', 'MPI_Count'], DISP => ['int', 'MPI_Aint'],
    ADDR => ['MPI_Aint', 'MPI_Count']);

sub slurp {
    my ($path) = @_;
    open my $in, '<', $path or die "gen: $path: $!\n";
    local $/;
    return scalar <$in>;
}

# What is wrong with a row, or ''.
sub fault {
    my ($where, $version, $mark) = @_;
    return "there is no version '$version'" if $version !~ /^(?:3\.1|4\.0|4\.1|5\.0|old|ext)$/;
    return "there is no place '$where'"
        if $where !~ /^(?:coll|file|macro|abi|[a-z0-9]+\/\w+\.c)$/;
    for (sort keys %$mark) {
        my ($places, $values) = @{$mark{$_} // return "there is no mark '$_'"};
        return "'$_' is no mark of a row of $where" if $where !~ $places;
        return "the mark '$_' has no value '$mark->{$_}'" if $mark->{$_} !~ ($values // qr/^1$/);
    }
    my $places = grep { $mark->{$_} } qw(AT INDIVIDUAL SHARED ORDERED);
    return "it has $places of AT, INDIVIDUAL, SHARED, ORDERED" if $where eq 'file' && $places != 1;
    return "'fortran=custom_int' without '_c'"
        if ($mark->{fortran} // '') eq 'custom_int' && !$mark->{_c};
    return '';
}

sub parameter {
    my ($text, $large) = @_;
    my $inout = $text =~ s/^inout //;
    $text =~ s/\b(COUNT|DISP|ADDR)\b/$word{$1}[$large]/;
    $text =~ s/\b(MPI_(?:User|Datarep_conversion)_function)\b/$1_c/ if $large;
    return {text => $text, type => $text, name => '', array => ''} if $text eq '...';
    my ($type, $name, $array) = $text =~ /^(.*?[ *])(\w+)((?:\[\d*\])*)$/
        or die "gen: calls.def: cannot read the parameter '$text'\n";
    $type =~ s/ +$//;
    return {text => $text, type => $type, name => $name, array => $array, inout => $inout};
}

# One function: the row with this name, form and size of counts.
sub one {
    my ($row, $name, $form, $large) = @_;
    my @p = map { parameter($_, $large) } @{$row->{words}};
    @p = grep { $_->{name} ne 'status' } @p if $form =~ /^(?:begin|split_begin)$/;
    @p = grep { $_->{name} !~ /^(?:offset|count|datatype)$/ } @p if $form eq 'split_end';
    push @p, parameter('MPI_Info info', 0) if $form eq 'prepare';
    push @p, parameter('MPI_Request *request', 0) if $form =~ /^(?:begin|prepare)$/;
    my $version = $row->{version};
    $version = '4.0' if $version eq '3.1' && ($large || $form eq 'prepare');
    return {%$row, name => $name . ($large ? '_c' : ''), base => $name =~ s/_c$//r, form => $form,
        large => $large || $name =~ /_c$/ ? 1 : 0, version => $version, params => \@p,
        text => join(', ', map { $_->{text} } @p) || 'void'};
}

sub forms {
    my ($row) = @_;
    my ($name, $mark) = ($row->{row}, $row->{mark});
    my @out = ([$name, 'run']);
    (my $begin = $name) =~ s/^(MPIX?_)(File_)?(\w)/$1 . ($2 ? "$2i" : 'I') . lc $3/e;
    push @out, [$begin, 'begin'] if $mark->{I};
    push @out, ["${name}_init", 'prepare'] if $mark->{_init};
    push @out, ["${name}_begin", 'split_begin'], ["${name}_end", 'split_end'] if $mark->{split};
    return map {
        my ($n, $form) = @$_;
        my @large = $mark->{_c} && $form ne 'split_end' ? (0, 1) : (0);
        map { one($row, $n, $form, $_) } @large;
    } @out;
}

sub table {
    my ($top) = @_;
    my (@rows, $section, $words);
    my @lines = split /\n/, slurp("$top/src/api/calls.def");
    for my $i (0 .. $#lines) {
        local $_ = $lines[$i];
        if (/^    (\S.*)/) {
            $words .= ($words ? ' ' : '') . $1;
        } elsif (/^(?:(\w+(?: \*)?) )?(MPIX?_\w+(?:, MPIX?_\w+)*): (\S+) (\S+)((?: \S+)*)$/) {
            $words = '';
            my ($result, $names, $where, $version) = ($1 // 'int', $2, $3, $4);
            my (%mark, $fault);
            for (split ' ', $5) {
                my ($key, $value) = /^(\w+)=(.*)/ ? ($1, $2) : ($_, 1);
                $fault = "the mark '$key' stands there twice" if defined $mark{$key};
                $mark{$key} = $value;
            }
            $fault ||= fault($where, $version, \%mark);
            die "gen: calls.def:", $i + 1, ": $fault\n" if $fault;
            push @rows, map { {row => $_, where => $where, version => $version, mark => \%mark,
                result => $result, section => $section, source => \$words} } split /, /, $names;
        } elsif (/^# --- (.*)/) {
            $section = $1;
        } elsif (!/^(?:#.*)?$/) {
            die "gen: calls.def:" . ($i + 1) . ": cannot read '$_'\n";
        }
        if ($i == $#lines || $lines[$i + 1] !~ /^ /) { # the row is complete
            $_->{words} = [split /, /, ${delete $_->{source}}] for grep { $_->{source} } @rows;
        }
    }
    return map { forms($_) } @rows;
}

# Is it a function of the core, libmpi.so.12?
sub in_core { return $_[0]{where} !~ /^(?:macro|abi)$/ }

# Does the standard have it?
sub standard { return $_[0]{version} =~ /^\d/ }

# What objcopy renames in the core of a front: MPI_X to core_MPI_X, PMPI_X to core_PMPI_X.
sub renames {
    return map { "$_->{name} core_$_->{name}\nP$_->{name} core_P$_->{name}\n" } @_;
}

# --- C text ----------------------------------------------------------------------------------

# Pieces with a blank between them, in lines of at most 100 columns; all but the first line begin
# with `indent` blanks.
sub fill {
    my ($first, $indent, @pieces) = @_;
    my @lines = ($first);
    for (@pieces) {
        my $sep = $lines[-1] =~ /[({]$|^$/ ? '' : ' ';
        if (length($lines[-1]) + length($sep) + length($_) > 100) {
            push @lines, ' ' x $indent . $_;
        } else {
            $lines[-1] .= "$sep$_";
        }
    }
    return join "\n", @lines;
}

# `result name(parameters)tail`
sub declaration {
    my ($f, $name, $tail) = @_;
    my @pieces = split /(?<=,) /, $f->{text} . ')' . $tail;
    my $head = $f->{result} . ($f->{result} =~ /\*$/ ? '' : ' ') . "$name(";
    return fill($head, length $head, @pieces) . "\n";
}

1;

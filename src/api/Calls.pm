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

my %word = (COUNT => ['int', 'MPI_Count'], DISP => ['int', 'MPI_Aint'],
    ADDR => ['MPI_Aint', 'MPI_Count']);

sub slurp {
    my ($path) = @_;
    open my $in, '<', $path or die "gen: $path: $!\n";
    local $/;
    return scalar <$in>;
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
        } elsif (/^(?:(\w+) )?(MPIX?_\w+(?:, MPIX?_\w+)*): (\S+) (\S+)((?: \S+)*)$/) {
            $words = '';
            my ($result, $names, $where, $version) = ($1 // 'int', $2, $3, $4);
            my %mark = map { /^(\w+)=(.*)/ ? ($1, $2) : ($_, 1) } split ' ', $5;
            $version =~ /^(?:3\.1|4\.0|4\.1|5\.0|old|ext)$/
                or die "gen: calls.def:" . ($i + 1) . ": there is no version '$version'\n";
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

# Does the standard have it? The same for all versions up to the given one.
sub standard {
    my ($f, $most) = @_;
    return $f->{version} =~ /^\d/ && (!$most || $f->{version} <= $most);
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

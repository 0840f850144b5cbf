# Sourced by tests: installs into a private folder, the way a packager does.  Afterwards
# $stage is the folder and $root the installation in it.
set -eu
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
${MAKE:-make} -s install DESTDIR="$stage" > "$stage/log" 2>&1 || {
    cat "$stage/log"
    exit 1
}
bindir=$(sed -n "s/^bindir='\(.*\)'/\1/p" src/cmd/mpicc)
prefix=$(sed -n "s/^prefix='\(.*\)'/\1/p" src/cmd/mpicc)
libdir=$(sed -n "s/^libdir='\(.*\)'/\1/p" src/cmd/mpicc)
includedir=$(sed -n "s/^includedir='\(.*\)'/\1/p" src/cmd/mpicc)
root=$stage$prefix

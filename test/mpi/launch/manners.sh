# shellcheck shell=bash disable=SC2034
# What the tests of mpiexec's manners share: start a job, look at it, judge it; sourced in the build
# directory.
#
# Bounds on time are five times what doc/man/mpiexec.1 states.
top=$PWD
mpiexec=$top/mpiexec
probe=$top/launch_probe
waiter=$top/test/mpi/launch/wait
phases=$top/test/mpi/launch/phases
crash=$top/test/mpi/launch/crash
crash_c=$(cd "${srcdir:-$(dirname "$0")/../../..}" && pwd)/test/mpi/launch/crash.c
dir=$(mktemp -d) || exit 99
cd "$dir" || exit 99
trap 'cd /; rm -rf "$dir"' EXIT
unset MPIEXEC_TIMEOUT
passed=0 failed=0 job=0 started=$SECONDS

ok()   { passed=$((passed + 1)); }
bad()  {
    failed=$((failed + 1))
    echo "FAILED: $test: $*"
    sed 's/^/    | /' out err 2>/dev/null | cut -c 1-200 | head -n 20
}
same() { if [ "$2" = "$3" ]; then ok; else bad "$1: got '$2', expected '$3'"; fi; }
has()  { if grep -qE -- "$2" "$1"; then ok; else bad "$1 has no line like: $2"; fi; }
not()  { if grep -qE -- "$2" "$1"; then bad "$1 has a line like: $2"; else ok; fi; }
count() { same "lines of $1 like '$2'" "$(grep -cE -- "$2" "$1")" "$3"; }

# Processes of the last job, found by a variable of their environment; zombies have none.
alive() { grep -lzx "MANNERS=$tag" /proc/[0-9]*/environ 2>/dev/null | grep -v "/$$/" ; }
gone()  {
    for _ in $(seq 100); do [ -z "$(alive)" ] && { ok; return; }; sleep 0.1; done
    bad "left over: $(for p in $(alive); do tr '\0' ' ' <"${p%environ}cmdline"; done)"
    for p in $(alive); do p=${p#/proc/}; kill -9 "${p%/environ}"; done
}
now()   { date +%s%N; }

# run [options] : mpiexec to its end; out, err, $status, $took (ms)
run() {
    job=$((job + 1)) tag=$$-$job
    local t; t=$(now)
    MANNERS=$tag timeout -k 5 60 "$mpiexec" "$@" >out 2>err </dev/null
    status=$?
    took=$((($(now) - t) / 1000000))
}
# begin N [options] : mpiexec in the background, until N lines read "ready"
begin() {
    local n=$1; shift
    job=$((job + 1)) tag=$$-$job
    : >out; : >err # the last job's lines must not count
    # Under nohup, or in the background of a script, signals are ignored, and mpiexec leaves them
    # so.
    MANNERS=$tag env --default-signal "$mpiexec" "$@" >out 2>err </dev/null &
    pid=$!
    for _ in $(seq 400); do [ "$(grep -c ready out)" -ge "$n" ] && return; sleep 0.05; done
    bad "did not start"
}
# ended WORDS: the library ended the last job with an error that has WORDS. No signal did, no limit
# of time, no failed assertion.
ended() {
    [ "$status" -gt 0 ] && [ "$status" -lt 124 ] &&
        ! grep -qiE 'time-out|segmentation|assertion|signal' err && grep -qE -- "$1" err
}
finish() { { wait "$pid"; } 2>/dev/null; status=$?; }
murder() { { kill -KILL "$pid"; wait "$pid"; } 2>/dev/null; }
within() { if [ "$took" -lt "$1" ]; then ok; else bad "took $took ms, bound is $1"; fi; }

closing() {
    echo "$1: $passed passed, $failed failed, $((SECONDS - started)) s"
    [ $failed = 0 ] || exit 1
    exit 0
}

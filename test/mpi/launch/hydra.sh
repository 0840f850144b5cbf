# shellcheck shell=bash
# What the tests share in which a process dies under Hydra's launcher; sourced.

# hydra_failed STATUS TEXT: mpiexec.hydra, which wrote TEXT, has ended the job as one that failed.
# 124 and 137 are the ends of a job that hung and was killed. A proxy of Hydra 4.0.2 may fail an
# assertion of its own while two proxies are torn down; mpiexec.hydra then ends with 0. Without
# that assertion 0 is a failure. The caller looks whether the dead process is named.
hydra_failed() {
    case $1 in
    0) grep -qE '^\[proxy:.* HYD_pmcd_pmip_control_cmd_cb .*assert \(!closed\) failed' <<<"$2" ;;
    124 | 137) false ;;
    esac
}

# all_gone PATTERN: within a minute no process has such a command line.
all_gone() {
    local i
    for ((i = 0; i < 600; i++)); do
        pgrep -fx "$1" >/dev/null || return 0
        sleep 0.1
    done
    return 1
}

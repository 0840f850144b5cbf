# Completion of mpiexec and mpirun for bash: the options that -help names, and their values.
_windrose_mpiexec()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=
    COMPREPLY=()
    case $before in
    -bind-to | --bind-to | -map-by | --map-by)
        words="hwthread core l1cache l2cache l3cache numa socket machine none" ;;
    -engine) words="hydra srun prterun" ;;
    -genv | -env | -x | -genvlist | -envlist | -genvexcl | -envexcl) words=$(compgen -v) ;;
    -wdir | -gwdir | -output-filename)
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return ;;
    *)
        case $word in
        -*) words=$("${COMP_WORDS[0]}" -help 2> /dev/null |
            grep -o -E -e '(^|[ ,])--?[a-z][a-z-]+' | tr -d ' ,') ;;
        *)
            mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
            return ;;
        esac ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _windrose_mpiexec mpiexec mpirun

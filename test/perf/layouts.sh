#!/bin/sh
# Compares layouts of the words that node peers share: test/perf/layouts.sh [REPEATS]   (default 5)
# Variants run in turn, REPEATS times; shown: median of the medians, lowest and highest (ns).
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/layouts.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
build() {
    name=$1
    shift
    ${CC:-cc} -std=gnu11 -O3 -w -D_GNU_SOURCE "$@" -I"$top/src" -I"$top/include" -o "$work/$name" \
        "$top/test/perf/layouts.c" \
        "$top/src/rma/shared/shmlock.c" "$top/src/rma/shared/shmlock_repair.c" \
        "$top/src/rma/shared/shmpair.c" "$top/src/rma/shared/shmbar.c" || exit 1
}
build built
build one-line -DSHMLOCK_GUARD_ALIGN=4
build seat-lines -DSHMLOCK_SEAT_ALIGN=64
build pair-lines -DSHMPAIR_ALIGN=64
build writer-lines -DSHMPAIR_ALIGN=64 -DSHMPAIR_SPLIT=64
i=0
while [ $i -lt "${1:-5}" ]; do
    "$work/built" built
    for v in one-line seat-lines pair-lines writer-lines; do "$work/$v" $v layout-only; done
    i=$((i + 1))
done >"$work/log"
awk '/^value/ {
         v = $2; $1 = $2 = ""; sub(/^ */, "")
         if (!($0 in n)) order[++rows] = $0
         all[$0, ++n[$0]] = v
     }
     function swap(k, i, j, t) { t = all[k, i]; all[k, i] = all[k, j]; all[k, j] = t }
     END { for (r = 1; r <= rows; r++) { k = order[r]; m = n[k]
             for (i = 1; i <= m; i++) for (j = i + 1; j <= m; j++)
                 if (all[k, j] < all[k, i]) swap(k, i, j)
             printf "| %s | %.1f | %.1f - %.1f |\n", k, all[k, int((m + 1) / 2)],
                 all[k, 1], all[k, m] } }' "$work/log"

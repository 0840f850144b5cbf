/* salvage_main.c - what mpiexec starts when a job with -report or -trace has ended early: they are
 * written from what the ranks have left in a folder.
 *
 *   salvage FOLDER TRACE REPORT JSON END WHY      REPORT: 0 or 1; END: ns of the host's clock */
#include <stdio.h>
#include <stdlib.h>

#include "profile/salvage.h"
#include "var/var.h"

int main(int argc, char **argv)
{
    char why[320];
    if (argc != 7) {
        fprintf(stderr, "salvage: mpiexec starts this program\n");
        return 2;
    }
    if (var_init(why, sizeof why)) {
        fprintf(stderr, "salvage: %s\n", why);
        return 1;
    }
    return profile_salvage(argv[1], argv[2], *argv[3] == '1', argv[4], strtoull(argv[5], NULL, 10),
                           argv[6])
               ? 1
               : 0;
}

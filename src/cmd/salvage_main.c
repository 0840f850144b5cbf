/* salvage_main.c - what mpiexec starts at the end of a job with -report or -trace: when the job has
 * ended early, they are written from what the ranks have left in memory that it inherits.
 *
 *   salvage RECORDS TRACE REPORT JSON END WHY
 *
 * RECORDS: the descriptors of all ranks, by commas, -1 for none; REPORT: 0 or 1; END: ns of the
 * host's clock. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/jobpage.h"
#include "profile/salvage.h"
#include "var/var.h"

/* The numbers of "7,9,-1"; NULL: no memory. */
static int *numbers_of(const char *list, int *n)
{
    *n = 1;
    for (const char *c = list; *c; c++)
        *n += *c == ',';
    int *number = malloc((size_t)*n * sizeof *number);
    for (int i = 0; number && i < *n; i++) {
        number[i] = atoi(list);
        list += strcspn(list, ",");
        list += *list == ',';
    }
    return number;
}

int main(int argc, char **argv)
{
    char why[320];
    int ranks;
    if (argc != 7) {
        fprintf(stderr, "salvage: mpiexec starts this program\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* it ends with mpiexec */
    if (var_init(why, sizeof why)) {
        fprintf(stderr, "salvage: %s\n", why);
        return 1;
    }
    int *fd = numbers_of(argv[1], &ranks);
    int err = fd ? profile_salvage(fd, ranks, argv[2], *argv[3] == '1', argv[4],
                                   strtoull(argv[5], NULL, 10), argv[6])
                 : -ENOMEM;
    free(fd);
    return err == -ENOENT ? JOB_RECORD_NONE : err ? 1 : 0;
}

/* files.c - what the library keeps open has no name: whatever kills a process, nothing is left
 * behind in a folder. A file of a network's in /dev/shm that is removed when it has been opened
 * would stay if its process were killed in between. */
#include "../mt.h"
#include <dirent.h>
#include <unistd.h>

static void no_file_had_a_name(void)
{
    DIR *d = opendir("/proc/self/fd");
    struct dirent *e;

    if (!MUST(d != NULL, "no /proc/self/fd"))
        return;
    while ((e = readdir(d)) != NULL) {
        char path[300], to[300];
        ssize_t n;

        snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
        n = readlink(path, to, sizeof to - 1);
        to[n < 0 ? 0 : n] = 0;
        MUST(strncmp(to, "/dev/shm/", 9) != 0, "%s is open", to);
    }
    closedir(d);
}

int main(int argc, char **argv)
{
    int sum;

    mt_init(&argc, &argv);
    MPI_Allreduce(&mt_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, mt_size * (mt_size - 1) / 2);
    no_file_had_a_name();
    return mt_finish();
}

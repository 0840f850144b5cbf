/* doctor.c - the doctor: what this host and its networks promise, and what holds.  mpiexec -doctor
 * starts it.
 *
 *   doctor [-json FILE] [-networks NAME,NAME] [-part PART] [-timeout SECONDS]
 *
 * %h in FILE becomes the name of the host.
 *
 * Exit status: 0, 1 where something that was promised does not hold, 2 for a wrong command line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/diagnosis.h"

/* Seconds without any event: a loaded machine must not pass for a lie. */
enum { TIMEOUT = 10, TIMEOUT_MOST = 3600 };

static int usage(void)
{
    fprintf(stderr, "doctor: -json FILE, -networks NAME,NAME, -part messages|puts|atomics and "
                    "-timeout SECONDS are known\n");
    return 2;
}

/* FILE with the name of the host for each %h. */
static FILE *json_open(const char *file, const char *host)
{
    char path[4096];
    size_t at = 0, n = strlen(host);
    for (; *file && at + n + 1 < sizeof path; file++)
        if (file[0] == '%' && file[1] == 'h') {
            memcpy(path + at, host, n);
            at += n;
            file++;
        } else {
            path[at++] = *file;
        }
    path[at] = 0;
    if (!*file)
        return fopen(path, "we");
    errno = ENAMETOOLONG;
    return NULL;
}

int main(int argc, char **argv)
{
    static struct report r;
    const char *json = NULL, *only = NULL, *part = NULL;
    int timeout = TIMEOUT, fails = 0;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc)
            return usage();
        if (!strcmp(argv[i], "-json"))
            json = argv[i + 1];
        else if (!strcmp(argv[i], "-networks"))
            only = argv[i + 1];
        else if (!strcmp(argv[i], "-part"))
            part = argv[i + 1];
        else if (!strcmp(argv[i], "-timeout"))
            timeout = atoi(argv[i + 1]);
        else
            return usage();
    }
    if (timeout < 1 || timeout > TIMEOUT_MOST)
        return usage();
    host_look(&r);
    FILE *out = json ? json_open(json, r.host) : NULL;
    if (json && !out) {
        fprintf(stderr, "mpiexec: -doctor-json %s: %s\n", json, strerror(errno));
        return 2;
    }
    int err = networks_look(&r, only, part, (unsigned)timeout);
    if (err) {
        fprintf(stderr, "mpiexec: -doctor: %s\n", strerror(-err));
        return 2;
    }
    write_text(&r, stdout);
    if (out) {
        write_json(&r, out);
        if (fclose(out)) {
            fprintf(stderr, "mpiexec: -doctor-json %s: %s\n", json, strerror(errno));
            return 2;
        }
    }
    for (int i = 0; i < r.nnetworks; i++)
        fails |= r.network[i].nfindings > 0;
    return fails;
}

/* doctor.c - the doctor: what this host and its networks promise, and what holds.  mpiexec -doctor
 * starts it.
 *
 *   doctor [-json FILE] [-networks NAME,NAME] [-part PART] [-timeout SECONDS] [-way 1]
 *
 * %h in FILE becomes the name of the host.
 *
 * Exit status: 0, 1 where something that was promised does not hold, 2 for a wrong command line and
 * where the doctor itself fails. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor/diagnosis.h"

/* Seconds without any event: a loaded machine must not pass for a lie. */
enum { TIMEOUT = 10, TIMEOUT_MOST = 3600 };

static int usage(void)
{
    fprintf(stderr, "doctor: -json FILE, -networks NAME,NAME, -part messages|puts|atomics and "
                    "-timeout SECONDS are known\n");
    return 2;
}

static int part_known(const char *part)
{
    for (int i = 0; i < PARTS; i++)
        if (!strcmp(part, part_names[i]))
            return 1;
    return 0;
}

/* Where the JSON goes: opened first, so that a wrong name is known before the look, and written
 * beside the file, which is whole at any time. */
static struct {
    char path[4096], beside[4096 + 8]; /* beside: "" where it is not a regular file */
    FILE *out;
} json;

static int json_failed(const char *file)
{
    fprintf(stderr, "mpiexec: -doctor-json %s: %s\n", file, strerror(errno));
    if (*json.beside)
        unlink(json.beside);
    return 2;
}

/* FILE with the name of the host for each %h.  0 or the exit status. */
static int json_open(const char *file, const char *host)
{
    struct stat st;
    const char *in = file;
    size_t at = 0, n = strlen(host);
    for (; *in && at + n + 1 < sizeof json.path; in++)
        if (in[0] == '%' && in[1] == 'h') {
            memcpy(json.path + at, host, n);
            at += n;
            in++;
        } else {
            json.path[at++] = *in;
        }
    json.path[at] = 0;
    errno = ENAMETOOLONG;
    if (*in)
        return json_failed(file);
    /* a pipe, a device or a link stays what it is */
    int beside = lstat(json.path, &st) || S_ISREG(st.st_mode);
    if (beside)
        snprintf(json.beside, sizeof json.beside, "%s.new", json.path);
    json.out = fopen(beside ? json.beside : json.path, "we");
    return json.out ? 0 : json_failed(file);
}

static int json_close(const struct report *r, const char *file)
{
    write_json(r, json.out);
    int bad = ferror(json.out);
    if (fclose(json.out) || bad || (*json.beside && rename(json.beside, json.path)))
        return json_failed(file);
    return 0;
}

int main(int argc, char **argv)
{
    static struct report r;
    const char *file = NULL, *only = NULL, *part = NULL;
    int timeout = TIMEOUT, way = 0, fails = 0;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc)
            return usage();
        if (!strcmp(argv[i], "-json"))
            file = argv[i + 1];
        else if (!strcmp(argv[i], "-networks"))
            only = argv[i + 1];
        else if (!strcmp(argv[i], "-part"))
            part = argv[i + 1];
        else if (!strcmp(argv[i], "-timeout"))
            timeout = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "-way"))
            way = atoi(argv[i + 1]);
        else
            return usage();
    }
    if (timeout < 1 || timeout > TIMEOUT_MOST)
        return usage();
    if (part && !part_known(part)) {
        fprintf(stderr, "doctor: -part %s: messages, puts and atomics are known\n", part);
        return 2;
    }
    if (only && !networks_known(only)) {
        fprintf(stderr, "mpiexec: -doctor-networks %s: shm, ofi and ucx are known\n", only);
        return 2;
    }
    host_look(&r);
    if (file && json_open(file, r.host))
        return 2;
    int err = networks_look(&r, only, part, (unsigned)timeout);
    if (!err && way)
        err = way_look(&r, only, (unsigned)timeout);
    if (err) {
        fprintf(stderr, "mpiexec: -doctor: no memory or no process for a look: %s\n",
                strerror(-err));
        if (*json.beside)
            unlink(json.beside);
        return 2;
    }
    write_text(&r, stdout);
    if (file && json_close(&r, file))
        return 2;
    fails = r.ways && r.ways->failed;
    for (int i = 0; i < r.nnetworks; i++)
        fails |= r.network[i].nfindings > 0;
    return fails;
}

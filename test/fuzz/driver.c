/* driver.c - a stand-in for libFuzzer where there is none: replays files and folders, then makes
 * inputs of its own from them for -max_total_time seconds.  No coverage guides it, but every rule
 * is checked.
 *
 *     TARGET [-max_total_time=S] [-seed=N] [-runs=N] [file or folder]... */
#include "fuzz.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { INPUTS = 4096, LONGEST = 16384 };
static struct {
    uint8_t *bytes;
    size_t size;
} input[INPUTS];
static unsigned inputs;
static struct rng rng = {1};
static uint8_t now[LONGEST];
static size_t now_size;

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
    switch (rng_below(&rng, 4)) {
    case 0:
        if (size < max_size) {
            size_t at = rng_below(&rng, (unsigned)size + 1);
            memmove(data + at + 1, data + at, size - at);
            data[at] = (uint8_t)rng_edge(&rng);
            return size + 1;
        } /* fall through */
    case 1:
        if (size > 1) {
            size_t at = rng_below(&rng, (unsigned)size);
            memmove(data + at, data + at + 1, size - at - 1);
            return size - 1;
        } /* fall through */
    default:
        if (size)
            data[rng_below(&rng, (unsigned)size)] = (uint8_t)rng_edge(&rng);
        return size;
    }
}

static void load(const char *path)
{
    struct stat st;
    if (stat(path, &st)) {
        fprintf(stderr, "driver: no file %s\n", path);
        exit(2);
    }
    if (S_ISDIR(st.st_mode)) {
        struct dirent **e;
        int n = scandir(path, &e, NULL, alphasort);
        for (int i = 0; i < n; i++) {
            char sub[4096];
            snprintf(sub, sizeof sub, "%s/%s", path, e[i]->d_name);
            if (e[i]->d_name[0] != '.')
                load(sub);
            free(e[i]);
        }
        free(e);
        return;
    }
    FILE *f = fopen(path, "rb");
    if (!f || inputs == INPUTS || st.st_size > LONGEST)
        exit((fprintf(stderr, "driver: cannot take %s\n", path), 2));
    input[inputs].size = (size_t)st.st_size;
    input[inputs].bytes = malloc((size_t)st.st_size + 1);
    if (!input[inputs].bytes ||
        fread(input[inputs].bytes, 1, input[inputs].size, f) != input[inputs].size)
        exit(2);
    inputs++;
    fclose(f);
}

/* Keep what was running, for a look at it. */
static void on_death(int sig)
{
    FILE *f = fopen("crash-input", "wb");
    if (f) {
        fwrite(now, 1, now_size, f);
        fclose(f);
        fputs("driver: the input is in crash-input\n", stderr);
    }
    signal(sig, SIG_DFL);
    raise(sig);
}

static void run(const uint8_t *bytes, size_t size)
{
    memmove(now, bytes, size);
    now_size = size;
    alarm(20);
    LLVMFuzzerTestOneInput(bytes, size);
    alarm(0);
}

int main(int argc, char **argv)
{
    long seconds = 0, runs = -1, done = 0;
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "-max_total_time=", 16))
            seconds = atol(argv[i] + 16);
        else if (!strncmp(argv[i], "-seed=", 6))
            rng.state = strtoull(argv[i] + 6, NULL, 0);
        else if (!strncmp(argv[i], "-runs=", 6))
            runs = atol(argv[i] + 6);
        else if (argv[i][0] != '-')
            load(argv[i]);
    }
    signal(SIGABRT, on_death);
    signal(SIGALRM, on_death);
    signal(SIGSEGV, on_death);
    signal(SIGBUS, on_death);
    for (unsigned i = 0; i < inputs; i++)
        run(input[i].bytes, input[i].size);
    time_t end = time(NULL) + seconds;
    while (runs < 0 ? time(NULL) < end : done < runs) {
        static uint8_t work[LONGEST];
        size_t size = 0;
        if (inputs) {
            unsigned i = rng_below(&rng, inputs);
            size = input[i].size;
            memcpy(work, input[i].bytes, size);
        }
        for (unsigned n = 1 + rng_below(&rng, 8); n; n--)
            size = LLVMFuzzerCustomMutator(work, size, sizeof work, (unsigned)rng_bits(&rng));
        run(work, size);
        done++;
    }
    fprintf(stderr, "driver: %u files, %ld inputs of its own\n", inputs, done);
    return 0;
}

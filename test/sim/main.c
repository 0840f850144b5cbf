/* The simulator's driver:
 *
 *   sim [--seeds N] [--first S] [--only NAME|BEGINNING*] [--seed S --verbose] [--list]
 *
 * Runs every scenario under N seeds; each tenth seed twice, which must give the same events.
 * A failure prints the seed; `sim --only NAME --seed S --verbose` replays it with every event. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios.h"

static const struct scenario *const groups[] = {scenarios_first, scenarios_p2p, scenarios_rma, scenarios_blocks,
                                              scenarios_counts, scenarios_scripted, scenarios_threads,
                                              scenarios_rma_threads};
enum { GROUPS = sizeof groups / sizeof *groups };

static const char *set_names[32];
static int nset;

void scenario_cvar(const char *name, const char *value)
{
    setenv(name, value, 1);
    if (nset < 32)
        set_names[nset++] = name;
}

static void run_once(const struct scenario *sc, unsigned long seed, int verbose, struct sim_result *out)
{
    struct sim_knobs k = sim_draw(seed, sc->ranks);
    k.threads = sc->threads;
    k.verbose = verbose;
    if (sc->prepare)
        sc->prepare(&k);
    sim_run(&k, sc->program, sc->thread_program, NULL, out);
    while (nset > 0)
        unsetenv(set_names[--nset]);
}

/* By its name, or the beginning of it and a star. */
static int named(const char *only, const char *name)
{
    size_t n = strlen(only);
    return n && only[n - 1] == '*' ? !strncmp(only, name, n - 1) : !strcmp(only, name);
}

int main(int argc, char **argv)
{
    unsigned long seeds = 50, first = 1;
    const char *only = NULL;
    int verbose = 0, list = 0;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--seeds"))
            seeds = strtoul(value, NULL, 0), i++;
        else if (!strcmp(argv[i], "--first"))
            first = strtoul(value, NULL, 0), i++;
        else if (!strcmp(argv[i], "--seed"))
            first = strtoul(value, NULL, 0), seeds = 1, i++;
        else if (!strcmp(argv[i], "--only"))
            only = value, i++;
        else if (!strcmp(argv[i], "--verbose"))
            verbose = 1;
        else if (!strcmp(argv[i], "--list"))
            list = 1;
        else {
            fprintf(stderr, "sim: unknown option %s\n", argv[i]);
            return 2;
        }
    }
    int ran = 0;
    for (int g = 0; g < GROUPS; g++)
        for (const struct scenario *sc = groups[g]; sc->name; sc++) {
            if (only && !named(only, sc->name))
                continue;
            if (list) {
                printf("%s: %d ranks, %d threads\n", sc->name, sc->ranks, sc->threads);
                continue;
            }
            long messages = 0, steps = 0;
            for (unsigned long seed = first; seed < first + seeds; seed++) {
                struct sim_result a, b;
                run_once(sc, seed, verbose, &a);
                messages += a.messages;
                steps += a.steps;
                if (seed % 10 == 0 && !verbose) {
                    run_once(sc, seed, 0, &b);
                    if (a.hash != b.hash) {
                        fprintf(stderr, "sim: %s, seed %lu: two runs differ\n", sc->name, seed);
                        return 1;
                    }
                }
            }
            ran++;
            printf("%-28s %lu seeds, %ld messages, %ld steps\n", sc->name, seeds, messages, steps);
            fflush(stdout);
        }
    if (!list)
        printf("%d passed, 0 failed\n", ran);
    return ran > 0 || list ? 0 : 2;
}

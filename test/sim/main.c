/* main.c - the simulator's driver:
 *
 *   sim [--seeds N] [--first S] [--only PATTERN] [--jobs N] [--seed S --verbose] [--list]
 *
 * Runs every scenario under N seeds; each tenth seed twice, which must give the same events.
 * PATTERN is a name, or has the shell's stars.
 * A failure prints the seed; `sim --only NAME --seed S --verbose` replays it with every event. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios.h"

static const struct scenario *const groups[] = {
    scenarios_first,    scenarios_p2p,      scenarios_rma,         scenarios_blocks,
    scenarios_counts,   scenarios_atomics,  scenarios_fetch,       scenarios_pscw,
    scenarios_early,    scenarios_lock_age, scenarios_aging,       scenarios_native,
    scenarios_scripted, scenarios_threads,  scenarios_rma_threads, scenarios_deaths,
    scenarios_newcomm,  scenarios_late,     scenarios_prepost,     scenarios_align,
    scenarios_waits,    scenarios_bundles,  scenarios_ulfm,        scenarios_files,
    scenarios_coherent, scenarios_race,     scenarios_report,      scenarios_revoke,
    scenarios_survive,  scenarios_jobs,     scenarios_race_few,    scenarios_race_threads,
    scenarios_begun,
    scenarios_scarce,   scenarios_notify,   scenarios_order,       scenarios_notify_native,
    scenarios_lanes,
    scenarios_dup,      scenarios_race_scripts, scenarios_types,    scenarios_continue,
    scenarios_mixed,    scenarios_handles,  scenarios_win_revoke,   scenarios_replicas,
    scenarios_replicas_exact, scenarios_replicas_threads, scenarios_file_revoke,
    scenarios_bundles_dropped};
enum { GROUPS = sizeof groups / sizeof *groups };

static const char *set_names[32];
static int nset;

void scenario_cvar(const char *name, const char *value)
{
    setenv(name, value, 1);
    if (nset < 32)
        set_names[nset++] = name;
}

static void run_once(const struct scenario *sc, unsigned long seed, int verbose,
                     struct sim_result *out)
{
    struct sim_knobs k = sim_draw(seed, sc->ranks);
    k.threads = sc->threads;
    k.verbose = verbose;
    /* Where packets are counted, what is held back leaves at the synchronization, however slow the
     * run is; count-aged* set the variable themselves. */
    if (!strncmp(sc->name, "count-", 6))
        scenario_cvar("MPIR_CVAR_RMA_PIGGYBACK_POLLS", "0");
    if (sc->prepare)
        sc->prepare(&k);
    if (k.mortal && seed % 3 == 0)
        k.late_news = 200;
    sim_run(&k, sc->program, sc->thread_program, NULL, out);
    while (nset > 0)
        unsetenv(set_names[--nset]);
}

/* Many ranks take long: fewer of several seeds. */
static int is_turn(const struct scenario *sc, unsigned long seed, unsigned long seeds)
{
    enum { MANY = 64, EACH = 25 };
    return sc->ranks <= MANY || seeds == 1 || seed % EACH == 0;
}

/* One scenario under all seeds; 0, or 1 when a run differs from its repetition.  A failed check
 * ends the process. */
static int run_all(const struct scenario *sc, unsigned long first, unsigned long seeds, int verbose)
{
    long messages = 0, steps = 0, kills = 0;
    for (unsigned long seed = first; seed < first + seeds; seed++) {
        struct sim_result a, b;
        if (!is_turn(sc, seed, seeds))
            continue;
        run_once(sc, seed, verbose, &a);
        messages += a.messages;
        steps += a.steps;
        kills += a.kills;
        if (seed % 10 == 0 && !verbose) {
            run_once(sc, seed, 0, &b);
            if (a.hash != b.hash) {
                fprintf(stderr, "sim: %s, seed %lu: two runs differ\n", sc->name, seed);
                return 1;
            }
        }
    }
    printf("%-28s %lu seeds", sc->name, seeds);
    if (first != 1)
        printf(" from %lu", first);
    printf(", %ld messages, %ld steps", messages, steps);
    if (kills)
        printf(", %ld kills", kills);
    printf("\n");
    fflush(NULL);
    return 0;
}

/* A process per scenario and PORTION seeds, so many at once. */
enum { PORTION = 500 };
static struct child {
    pid_t pid;
    const char *name;
} children[64];

/* Wait for one to end: 1 if it failed. */
static int reap(int n)
{
    int status;
    pid_t pid = wait(&status);
    for (int i = 0; i < n; i++)
        if (children[i].pid == pid) {
            children[i].pid = 0;
            if (status)
                printf("FAILED  %s (%s %d)\n", children[i].name,
                       WIFSIGNALED(status) ? "signal" : "status",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        }
    fflush(stdout);
    return status != 0;
}

static int place_for(int jobs)
{
    for (int i = 0; i < jobs; i++)
        if (!children[i].pid)
            return i;
    return -1;
}

static unsigned long seeds = 50, first = 1;
static const char *only;
static int verbose, list, jobs = 1;

static void options(int argc, char **argv)
{
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
        else if (!strcmp(argv[i], "--jobs"))
            jobs = atoi(value), i++;
        else if (!strcmp(argv[i], "--verbose"))
            verbose = 1;
        else if (!strcmp(argv[i], "--list"))
            list = 1;
        else {
            fprintf(stderr, "sim: unknown option %s\n", argv[i]);
            exit(2);
        }
    }
    if (jobs < 1 || jobs > 64)
        jobs = 1;
}

static int start(const struct scenario *sc, unsigned long from, unsigned long n)
{
    int failed = 0, i;
    while ((i = place_for(jobs)) < 0)
        failed += reap(jobs);
    pid_t pid = fork();
    if (pid == 0)
        exit(run_all(sc, from, n, verbose));
    if (pid < 0)
        return failed + run_all(sc, from, n, verbose);
    children[i] = (struct child){pid, sc->name};
    return failed;
}

int main(int argc, char **argv)
{
    int ran = 0, failed = 0;
    options(argc, argv);
    for (int g = 0; g < GROUPS; g++)
        for (const struct scenario *sc = groups[g]; sc->name; sc++) {
            if (only && fnmatch(only, sc->name, 0))
                continue;
            if (list)
                printf("%s: %d ranks, %d threads\n", sc->name, sc->ranks, sc->threads);
            if (list || jobs == 1) {
                ran++;
                if (!list && run_all(sc, first, seeds, verbose))
                    return 1;
                continue;
            }
            for (unsigned long done = 0, n; done < seeds; done += n, ran++) {
                n = seeds - done < PORTION ? seeds - done : PORTION;
                failed += start(sc, first + done, n);
            }
        }
    for (int i = 0; i < jobs; i++)
        if (children[i].pid) {
            failed += reap(jobs);
            i = -1;
        }
    if (!list)
        printf("%d passed, %d failed\n", ran - failed, failed);
    return failed ? 1 : ran ? 0 : 2;
}

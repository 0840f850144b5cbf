/* option_table.c - the options of mpiexec that set one member of struct args (option_table.h).
 * Start with option_find(). */
#include "launch/option_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/program.h"

#define FLAG(name, member) {name, 0, offsetof(struct args, member)}
#define TEXT(name, member) {name, 1, offsetof(struct args, member)}
static const struct option_row rows[] = {
    TEXT("gwdir", gwdir),
    FLAG("l", label),
    FLAG("prepend-rank", label),
    TEXT("outfile-pattern", outfile),
    TEXT("errfile-pattern", errfile),
    TEXT("prepend-pattern", prefix),
    FLAG("timestamp-output", timestamp),
    FLAG("merge-stderr-to-stdout", merge),
    TEXT("output-filename", outdir),
    TEXT("stdin", input),
    TEXT("s", input),
    FLAG("doctor", doctor),
    TEXT("doctor-json", doctor_json),
    TEXT("doctor-networks", doctor_networks),
    FLAG("gdb", gdb),
    FLAG("print-all-exitcodes", exitcodes),
    TEXT("report-pid", report_pid),
    FLAG("do-not-launch", dry),
    TEXT("umask", umask),
    FLAG("disable-auto-cleanup", no_cleanup),
    FLAG("no-ompi", no_ompi),
    TEXT("rankfile", rankfile),
    TEXT("cpu-set", cpus),
    TEXT("cpu-list", cpus),
    FLAG("nooversubscribe", strict),
    TEXT("engine", engine),
    FLAG("verbose", verbose),
    FLAG("v", verbose),
};
enum { ROWS = sizeof rows / sizeof *rows };
_Static_assert((int)ROWS <= (int)OPTION_ROWS_MAX, "room for all names");

const struct option_row *option_find(const char *name, size_t n)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strlen(rows[i].name) == n && !strncmp(rows[i].name, name, n))
            return &rows[i];
    return NULL;
}

void option_set(const struct option_row *row, struct args *a, const char *value)
{
    void *at = (char *)a + row->member;
    if (row->is_text)
        *(const char **)at = value;
    else
        *(int *)at = 1;
}

size_t option_names(const char **names)
{
    for (size_t i = 0; i < ROWS; i++)
        names[i] = rows[i].name;
    return ROWS;
}

int args_seconds(const char *text, double *out)
{
    char *end;
    errno = 0;
    double v = strtod(text, &end);
    if (end == text || *end || errno || !(v > 0) || v > 1e9)
        return -EINVAL;
    *out = v;
    return 0;
}

int option_errhandler(const char *name)
{
    static const char *const names[] = {"mpi_errors_are_fatal", "mpi_errors_abort",
                                        "mpi_errors_return"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcasecmp(name, names[i]))
            return 0;
    return -EINVAL;
}

/* Would exec find a program of this name? */
static int is_program(const char *word)
{
    struct stat st;
    char *file = program_file(AT_FDCWD, word);
    int is = file && !access(file, X_OK) && !stat(file, &st) && S_ISREG(st.st_mode);
    free(file);
    return is;
}

/* Is the word behind an option without =FILE meant as the file? */
static int is_file(const char *word, int trace)
{
    if (!word || *word == '-' || !strcmp(word, ":"))
        return 0;
    size_t n = strlen(word);
    if (n > 5 && !strcmp(word + n - 5, ".json"))
        return 1;
    /* -trace FILE was the only form once. */
    return trace && !is_program(word);
}

int option_profile(struct args *a, int trace, const char *file, char ***word)
{
    static const char *const names[] = {"MPIR_CVAR_REPORT", "MPIR_CVAR_REPORT_FILE"};
    int next_word = !file && is_file(**word, trace);
    if (next_word)
        file = *(*word)++;
    const char *const values[] = {"1", file};
    const char *option = trace ? "trace" : "report";
    if (next_word)
        snprintf(a->hint, sizeof a->hint, "-%s %s is read as -%s=%s", option, file, option, file);
    if (trace) {
        if (!file)
            snprintf(a->hint, sizeof a->hint,
                     "-trace without =FILE: the trace goes to trace.json");
        a->trace = file ? file : "trace.json";
        return 0;
    }
    a->reports = 1;
    a->report_file = file;
    for (int i = 0; i < (file ? 2 : 1); i++) {
        if (a->genv.n == ARGS_ENV_MAX)
            return -EINVAL;
        a->genv.name[a->genv.n] = names[i];
        a->genv.value[a->genv.n++] = values[i];
    }
    return 0;
}

int option_check(struct args *a, const char *list)
{
    int level = 1;
    if (list && *list >= '1' && *list <= '3') {
        level = *list++ - '0';
        if (*list && *list++ != ',')
            return -EINVAL;
        list = list[-1] == ',' ? list : NULL;
    }
    if (list && (strncmp(list, "json=", 5) || !list[5]))
        return -EINVAL;
    a->check = level;
    a->check_json = list ? list + 5 : a->check_json;
    return 0;
}

static int is_word(const char *word, size_t n, const char *name)
{
    return strlen(name) == n && !strncmp(word, name, n);
}

int option_output(struct args *a, const char *list)
{
    for (size_t n; *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        if (is_word(list, n, "tag") || is_word(list, n, "rank"))
            a->label = 1;
        else if (is_word(list, n, "timestamp"))
            a->timestamp = 1;
        else if (is_word(list, n, "merge") || is_word(list, n, "merge-stderr-to-stdout"))
            a->merge = 1;
        else if (n > 4 && !strncmp(list, "dir=", 4) && !list[n])
            a->outdir = list + 4;
        else
            return -EINVAL;
    }
    return 0;
}

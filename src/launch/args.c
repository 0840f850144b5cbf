/* args.c - the command line of mpiexec: blocks, hosts, options. Start with args_parse(). */
#include "base/vec.h"
#include "launch/args.h"
#include "launch/dialect.h"
#include "launch/option_table.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum opt {
    O_N, O_ENV, O_ENVALL, O_ENVNONE, O_ENVLIST, O_ENVEXCL, O_WDIR, O_GENV, O_GENVALL,
    O_GENVNONE, O_GENVLIST, O_GENVEXCL, O_EXPORT, O_OUTPUT, O_TIMEOUT, O_REPORT, O_TRACE, O_CHECK,
    O_ERRHANDLER, O_BIND, O_MAP, O_PPN, O_HOSTS, O_HOSTFILE, O_USIZE, O_CONFIG, O_X, O_CVARS,
    O_HELP, O_VERSION,
};

static const struct opt_row {
    const char *name;
    enum opt opt;
    int values;
} options[] = {
    {"n", O_N, 1},
    {"np", O_N, 1},
    {"env", O_ENV, 2},
    {"envall", O_ENVALL, 0},
    {"envnone", O_ENVNONE, 0},
    {"envlist", O_ENVLIST, 1},
    {"envexcl", O_ENVEXCL, 1},
    {"wdir", O_WDIR, 1},
    {"genv", O_GENV, 2},
    {"genvall", O_GENVALL, 0},
    {"genvnone", O_GENVNONE, 0},
    {"genvlist", O_GENVLIST, 1},
    {"genvexcl", O_GENVEXCL, 1},
    {"export", O_EXPORT, 1},
    {"output", O_OUTPUT, 1},
    {"timeout", O_TIMEOUT, 1},
    {"initial-errhandler", O_ERRHANDLER, 1},
    {"bind-to", O_BIND, 1},
    {"map-by", O_MAP, 1},
    {"ppn", O_PPN, 1},
    {"hosts", O_HOSTS, 1},
    {"host", O_HOSTS, 1},
    {"f", O_HOSTFILE, 1},
    {"hostfile", O_HOSTFILE, 1},
    {"machinefile", O_HOSTFILE, 1},
    {"usize", O_USIZE, 1},
    {"configfile", O_CONFIG, 1},
    {"x", O_X, 1},
    {"report", O_REPORT, -1}, /* a value, behind = only */
    {"trace", O_TRACE, -1},
    {"check", O_CHECK, -1},
    {"cvars", O_CVARS, 0},
    {"help", O_HELP, 0},
    {"h", O_HELP, 0},
    {"version", O_VERSION, 0},
    {"V", O_VERSION, 0},
    {"info", O_VERSION, 0},
};

/* The position of the parser, and where its complaint goes. */
struct parse {
    struct args *a;
    char **word; /* NULL-terminated */
    char *msg;
    size_t len;
    int in_config;
};

static int complain(struct parse *p, const char *fmt, const char *a, const char *b)
{
    snprintf(p->msg, p->len, fmt, a, b ? b : "");
    return -EINVAL;
}

static int count_of(struct parse *p, const char *opt, const char *text, int max, int *out)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (end == text || *end || errno || v < 1 || v > max) {
        snprintf(p->msg, p->len, "-%s %s: a whole number from 1 to %d is needed", opt, text, max);
        return -EINVAL;
    }
    *out = (int)v;
    return 0;
}

/* --- hosts: a job that names others is handed to another launcher (handover.c) --- */

static int is_here(const char *host)
{
    char name[HOST_NAME_MAX + 1] = "";
    gethostname(name, sizeof name - 1);
    size_t dot = strcspn(name, "."), n = strcspn(host, ":");
    static const char *const always[] = {"localhost", "127.0.0.1", "::1"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(host, always[i]) || (n == strlen(always[i]) && !strncmp(host, always[i], n)))
            return 1;
    return (n == strlen(name) && !strncmp(host, name, n)) || (n == dot && !strncmp(host, name, n));
}

/* A name that no launcher takes for an option or for several words: ssh gets it in the end. */
static int good_name(const char *host)
{
    size_t n = strlen(host);
    return n > 0 && n <= ARGS_HOST_MAX && isalnum((unsigned char)*host) &&
           strspn(host,
                  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:@%+[]-") == n;
}

/* One host, with an optional :slots. */
static int add_host(struct parse *p, const char *opt, const char *host)
{
    struct args *a = p->a;
    size_t n = strlen(host), had = a->hosts ? strlen(a->hosts + a->hosts_at) + a->hosts_at : 0;
    if (!good_name(host) && strcmp(host, "::1")) {
        snprintf(p->msg, p->len, "-%s: \"%.40s%s\" is not a valid host name", opt, host,
                 n > 40 ? ".." : "");
        return -EINVAL;
    }
    if (!VEC_FITS(a->hosts, a->hosts_room, had + n + 2, 256))
        return -ENOMEM;
    if (had)
        a->hosts[had++] = ',';
    memcpy(a->hosts + had, host, n + 1);
    a->hosts_at = had;
    a->far |= !is_here(host);
    return 0;
}

/* Names separated by commas, each with an optional :slots. */
static int add_hosts(struct parse *p, const char *opt, const char *names)
{
    char *copy = strdup(names), *save = NULL;
    int err = copy ? 0 : -ENOMEM, n = 0;
    for (char *h = copy ? strtok_r(copy, ", \t\n", &save) : NULL; h && !err;
         h = strtok_r(NULL, ", \t\n", &save), n++)
        err = add_host(p, opt, h);
    if (!err && !n)
        err = complain(p, "-%s: no host is named", opt, NULL);
    free(copy);
    return err;
}

/* The text of a file, to be freed.  Its end must come within ARGS_FILE_MAX bytes: a device may have
 * none. */
static int load_text(struct parse *p, const char *opt, const char *file, char **out)
{
    FILE *f = fopen(file, "re");
    size_t n = 0, room = 65536;
    char *text = f ? malloc(room + 1) : NULL;
    const char *bad = text ? NULL : strerror(errno);
    while (!bad) {
        size_t got = fread(text + n, 1, room - n, f);
        if (memchr(text + n, 0, got))
            bad = "this is no text: it contains a zero byte";
        n += got;
        if (!got && ferror(f))
            bad = strerror(errno);
        if (bad || !got)
            break;
        char *bigger = n == room && room < ARGS_FILE_MAX ? realloc(text, 2 * room + 1) : text;
        if (n == room && room >= ARGS_FILE_MAX)
            bad = "the file is too long";
        else if (!bigger)
            bad = strerror(ENOMEM);
        else if (n == room)
            room *= 2;
        text = bigger ? bigger : text;
    }
    if (f)
        fclose(f);
    if (bad) {
        free(text);
        snprintf(p->msg, p->len, "-%s %s: %s", opt, file, bad);
        return -EINVAL;
    }
    text[n] = 0;
    *out = text;
    return 0;
}

static int read_hostfile(struct parse *p, const char *opt, const char *file)
{
    char *text = NULL;
    int err = load_text(p, opt, file, &text);
    for (char *line = text, *next; line && !err; line = next) {
        size_t n = strcspn(line, "\n");
        next = line[n] ? line + n + 1 : NULL;
        line[n] = 0;
        line[strcspn(line, "#")] = 0;
        char *name = line + strspn(line, " \t\r");
        name[strcspn(name, " \t\r")] = 0; /* the words behind the name are for other launchers */
        if (*name)
            err = add_host(p, opt, name);
    }
    free(text);
    return err;
}

/* --- blocks and environments -------------------------------------------------- */

static struct block *add_block(struct args *a)
{
    if (!VEC_FITS(a->block, a->room, a->nblocks + 1, 4))
        return NULL;
    struct block *b = &a->block[a->nblocks++];
    *b = (struct block){.n = 1};
    return b;
}

static struct env_spec *block_env(struct block *b)
{
    if (!b->env)
        b->env = calloc(1, sizeof *b->env);
    return b->env;
}

static int env_set(struct parse *p, struct env_spec *e, const char *opt, const char *name,
                   const char *value)
{
    if (!e)
        return -ENOMEM;
    if (!*name || strchr(name, '='))
        return complain(p, "-%s %s: this is no name of an environment variable", opt, name);
    if (e->n == ARGS_ENV_MAX)
        return complain(p, "-%s %s: too many variables are set", opt, name);
    e->name[e->n] = name;
    e->value[e->n++] = value;
    return 0;
}

/* NAME=VALUE in one word. */
static int env_word(struct parse *p, struct env_spec *e, const char *opt, const char *word)
{
    struct args *a = p->a;
    char *name = strdup(word);
    if (!name || a->ncopies == ARGS_ENV_MAX) {
        free(name);
        return name ? complain(p, "-%s %s: too many variables are set", opt, word) : -ENOMEM;
    }
    a->copies[a->ncopies++] = name;
    name[strcspn(name, "=")] = 0;
    return env_set(p, e, opt, name, word + strlen(name) + 1);
}

/* Open MPI's -x NAME[=VALUE].  The whole environment is passed unless another option limits it. */
static int set_x(struct parse *p, struct env_spec *e, const char *word)
{
    if (strchr(word, '='))
        return env_word(p, e, "x", word);
    const char *value = getenv(word);
    return value ? env_set(p, e, "x", word, value) : 0;
}

static int set_env_mode(struct env_spec *e, enum env_mode mode, const char *list)
{
    if (!e)
        return -ENOMEM;
    e->mode = mode;
    e->list = list;
    return 0;
}

/* A word of a list separated by commas: n characters of it; the list moves past it. */
static const char *next_word(const char **list, size_t *n)
{
    const char *word = *list;
    *n = strcspn(word, ",");
    *list += *n + (word[*n] == ',');
    return word;
}

/* srun's --export: ALL or NONE, or names, each with an optional value; names alone are all that is
 * passed. */
static int export_words(struct parse *p, const char *list)
{
    struct args *a = p->a;
    enum env_mode mode = ENV_LIST;
    const char *rest = list;
    for (size_t n; *rest;) {
        const char *word = next_word(&rest, &n);
        if (n == 3 && !strncmp(word, "ALL", n))
            mode = ENV_ALL;
        else if (n == 4 && !strncmp(word, "NONE", n))
            mode = ENV_NONE;
        else if (memchr(word, '=', n)) {
            char *copy = a->ncopies < ARGS_ENV_MAX ? strndup(word, n) : NULL;
            if (copy)
                a->copies[a->ncopies++] = copy;
            if (!copy || env_word(p, &a->genv, "export", copy))
                return complain(p, "-export %s: too many variables are set", list, NULL);
        }
    }
    return set_env_mode(&a->genv, mode, list);
}

/* --- options -------------------------------------------------------------------- */

static int read_config(struct parse *p, const char *file);

/* One option with its values v[0], v[1]. */
static int apply(struct parse *p, struct block *b, const struct opt_row *o, const char *const *v)
{
    struct args *a = p->a;
    switch (o->opt) {
    case O_N: return count_of(p, o->name, v[0], ARGS_RANKS_MAX, &b->n);
    case O_ENV: return env_set(p, block_env(b), o->name, v[0], v[1]);
    case O_ENVALL: return set_env_mode(block_env(b), ENV_ALL, NULL);
    case O_ENVNONE: return set_env_mode(block_env(b), ENV_NONE, NULL);
    case O_ENVLIST: return set_env_mode(block_env(b), ENV_LIST, v[0]);
    case O_ENVEXCL: return set_env_mode(block_env(b), ENV_EXCEPT, v[0]);
    case O_WDIR: b->wdir = v[0]; break;
    case O_GENV: return env_set(p, &a->genv, o->name, v[0], v[1]);
    case O_GENVALL: return set_env_mode(&a->genv, ENV_ALL, NULL);
    case O_GENVNONE: return set_env_mode(&a->genv, ENV_NONE, NULL);
    case O_GENVLIST: return set_env_mode(&a->genv, ENV_LIST, v[0]);
    case O_GENVEXCL: return set_env_mode(&a->genv, ENV_EXCEPT, v[0]);
    case O_EXPORT: return export_words(p, v[0]);
    case O_OUTPUT:
        if (!option_output(a, v[0]))
            break;
        return complain(p, "-output %s: known are tag, timestamp, merge, and dir=FOLDER at the end",
                        v[0], NULL);
    case O_TIMEOUT:
        if (args_seconds(v[0], &a->timeout))
            return complain(p, "-timeout %s: a number of seconds above 0 is needed", v[0], NULL);
        a->timeout_given = 1;
        break;
    case O_ERRHANDLER:
        return option_errhandler(v[0])
                   ? complain(p, "-initial-errhandler %s: known are mpi_errors_are_fatal, "
                              "mpi_errors_abort and mpi_errors_return", v[0], NULL)
                   : env_set(p, block_env(b), o->name, ARGS_ERRHANDLER, v[0]);
    case O_BIND: a->bind = dialect_bind(v[0]); break;
    case O_MAP: a->map = dialect_map(v[0], a->map_text, sizeof a->map_text); break;
    case O_X: return set_x(p, block_env(b), v[0]);
    case O_PPN: return count_of(p, o->name, v[0], ARGS_RANKS_MAX, &a->ppn);
    case O_HOSTS: return add_hosts(p, o->name, v[0]);
    case O_HOSTFILE: return read_hostfile(p, o->name, v[0]);
    case O_USIZE: return count_of(p, o->name, v[0], INT_MAX, &a->universe);
    case O_CONFIG: return read_config(p, v[0]);
    case O_CHECK:
        return option_check(a, v[0])
                   ? complain(p, "-check=%s: known are a level, 1, 2 or 3, and json=FILE behind it",
                              v[0], NULL)
                   : 0;
    case O_REPORT: case O_TRACE: return option_profile(a, o->opt == O_TRACE, v[0], &p->word);
    case O_CVARS: a->action = ARGS_CVARS; break;
    case O_HELP: a->action = ARGS_HELP; break;
    case O_VERSION: a->action = ARGS_VERSION; break;
    }
    return 0;
}

static const struct opt_row *find_option(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strlen(options[i].name) == n && !strncmp(options[i].name, name, n))
            return &options[i];
    return NULL;
}

static int unknown(struct parse *p, const char *word, const char *name, size_t n)
{
    const char *names[sizeof options / sizeof *options + OPTION_ROWS_MAX];
    size_t count = option_names(names);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        names[count++] = options[i].name;
    const char *near = dialect_nearest(name, n, names, count);
    return near ? complain(p, "unknown option %s; did you mean -%s? (mpiexec -help lists them)",
                           word, near)
                : complain(p, "unknown option %s (mpiexec -help lists them)", word, NULL);
}

/* The values v[] of the option `word`: given, behind its =, or NULL; then the next words. */
static int take_values(struct parse *p, const char *word, const char *given, int values,
                       const char **v)
{
    if (given && values != 1 && values >= 0)
        return complain(p, "option %s takes no =value", word, NULL);
    v[0] = given;
    for (int got = given != NULL; got < values; got++) {
        if (!*p->word)
            return complain(p, "option %s needs %s", word,
                            values == 2 ? "a name and a value" : "a value");
        v[got] = *p->word++;
    }
    return 0;
}

/* An option of another launcher. */
static int parse_dialect(struct parse *p, struct block *b, const struct dialect_row *d,
                         const char *word, const char *given)
{
    const char *v[2] = {NULL, NULL};
    int err = take_values(p, word, given, d->values, v);
    if (err)
        return err;
    if (d->value)
        v[0] = d->value;
    struct args *a = p->a;
    const struct option_row *simple = d->own ? option_find(d->own, strlen(d->own)) : NULL;
    if (simple)
        option_set(simple, a, v[0]);
    if (d->own)
        return simple ? 0 : apply(p, b, find_option(d->own, strlen(d->own)), v);
    size_t had = strlen(a->idle);
    snprintf(a->idle + had, sizeof a->idle - had, "%s%s", had ? ", " : "", word);
    return 0;
}

/* The option at p->word; moves p->word past it and its values. */
static int parse_option(struct parse *p, struct block *b)
{
    const char *word = *p->word++, *v[2] = {NULL, NULL};
    const char *name = word + (word[1] == '-' ? 2 : 1);
    size_t n = strcspn(name, "=");
    const char *given = name[n] ? name + n + 1 : NULL;
    const struct opt_row *o = find_option(name, n);
    if (!o) {
        const struct option_row *simple = option_find(name, n);
        const struct dialect_row as_dialect = {word, simple ? simple->is_text : 0,
                                               simple ? simple->name : NULL, NULL};
        const struct dialect_row *d = simple ? &as_dialect : dialect_find(name, n);
        return d ? parse_dialect(p, b, d, word, given) : unknown(p, word, name, n);
    }
    if (o->values == 2 && !given && *p->word && strchr(*p->word, '=')) /* Hydra's second form */
        return env_word(p, o->opt == O_ENV ? block_env(b) : &p->a->genv, o->name, *p->word++);
    int err = take_values(p, word, given, o->values, v);
    return err ? err : apply(p, b, o, v);
}

/* One block: options, then a program and its arguments up to a colon. */
static int parse_block(struct parse *p)
{
    int had = p->a->nblocks;
    struct block *b = add_block(p->a);
    if (!b)
        return -ENOMEM;
    if (p->a->nblocks > ARGS_BLOCKS_MAX)
        return complain(p, "too many blocks", "", NULL);
    while (*p->word && **p->word == '-' && (*p->word)[1]) {
        int err = parse_option(p, b);
        if (err || p->a->action != ARGS_RUN)
            return err;
        b = &p->a->block[had]; /* a configuration file may have moved the array */
    }
    /* the file brought the blocks; this one only held the option */
    if (p->a->nblocks > had + 1)
        return *p->word
                   ? complain(p, "-configfile does not go with the program %s on the command line",
                              *p->word, NULL)
                   : 0;
    if (!*p->word && p->a->doctor)
        return 0;
    if (!*p->word || !strcmp(*p->word, ":"))
        return complain(p, "no program is named (mpiexec -help shows how)", "", NULL);
    if (!**p->word)
        return complain(p, "the name of the program is empty", "", NULL);
    b->argv = p->word;
    while (*p->word && strcmp(*p->word, ":"))
        p->word++;
    if (*p->word) {
        *p->word++ = NULL;
        if (!*p->word)
            return complain(p, "nothing follows the last colon", "", NULL);
    }
    return 0;
}

/* --- configuration file ------------------------------------------------------------- */

/* Cut text into words, in place.  Quotes keep blanks together, # starts a comment, each line with a
 * word is a block. */
static int cut_words(struct parse *p, char *text, char **words)
{
    static char colon[] = ":";
    char *in = text, *out = text;
    int n = 0, line_had = 0;
    while (*in) {
        if (*in == '\n') {
            line_had = 0;
            in++;
        } else if (isspace((unsigned char)*in)) {
            in++;
        } else if (*in == '#') {
            in += strcspn(in, "\n");
        } else {
            if (!line_had && n)
                words[n++] = colon;
            line_had = 1;
            words[n++] = out;
            for (char quote = 0; *in && (quote || !isspace((unsigned char)*in)); in++) {
                if (quote ? *in == quote : *in == '"' || *in == '\'')
                    quote = quote ? 0 : *in;
                else
                    *out++ = *in;
                if (quote && !in[1])
                    return complain(p, "-configfile: a quote is not closed", "", NULL);
            }
            int newline = *in == '\n';
            if (*in)
                in++;
            *out++ = 0;
            if (newline)
                line_had = 0;
        }
    }
    words[n] = NULL;
    return 0;
}

static int read_config(struct parse *p, const char *file)
{
    struct args *a = p->a;
    if (p->in_config || a->words)
        return complain(p, "-configfile %s: one file, and only on the command line", file, NULL);
    int err = load_text(p, "configfile", file, &a->words_text);
    if (err)
        return err;
    /* Every word has at least one character and one blank.  At most one colon is added for each
     * word. */
    a->words = calloc(strlen(a->words_text) + 2, sizeof *a->words);
    if (!a->words)
        return -ENOMEM;
    struct parse inner = {.a = a, .word = a->words, .msg = p->msg, .len = p->len, .in_config = 1};
    err = cut_words(&inner, a->words_text, a->words);
    if (!err && !*a->words)
        err = complain(p, "-configfile %s: no program is named there", file, NULL);
    while (!err && *inner.word && a->action == ARGS_RUN)
        err = parse_block(&inner);
    return err;
}

/* --- all --------------------------------------------------------------------------------- */

static int number_ranks(struct parse *p)
{
    struct args *a = p->a;
    int kept = 0;
    for (int i = 0; i < a->nblocks; i++) { /* drop places that held only -configfile */
        int alone = !kept && i == a->nblocks - 1; /* -doctor without a program has its options */
        if (a->block[i].argv || (a->doctor && alone))
            a->block[kept++] = a->block[i];
        else
            free(a->block[i].env);
    }
    a->nblocks = kept;
    for (int i = 0; i < kept; i++) {
        struct block *b = &a->block[i];
        b->first = a->size;
        if (b->n > ARGS_RANKS_MAX - a->size) {
            snprintf(p->msg, p->len, "more than %d ranks", ARGS_RANKS_MAX);
            return -EINVAL;
        }
        a->size += b->n;
    }
    return 0;
}

int args_parse(struct args *a, int argc, char **argv, char *msg, size_t len)
{
    memset(a, 0, sizeof *a);
    a->argv = argv;
    snprintf(msg, len, "out of memory");
    struct parse p = {.a = a, .word = argv + 1, .msg = msg, .len = len};
    if (argc < 2)
        return complain(&p, "no program is named (mpiexec -help shows how)", "", NULL);
    int err = 0;
    while (!err && *p.word && a->action == ARGS_RUN)
        err = parse_block(&p);
    if (!err && a->action == ARGS_RUN)
        err = number_ranks(&p);
    return err;
}

void args_free(struct args *a)
{
    for (int i = 0; i < a->nblocks; i++)
        free(a->block[i].env);
    free(a->block);
    for (int i = 0; i < a->ncopies; i++)
        free(a->copies[i]);
    free(a->hosts);
    free(a->words);
    free(a->words_text);
    memset(a, 0, sizeof *a);
}

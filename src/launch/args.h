/* args.h - the command line of mpiexec, as a plain record.
 *
 *   mpiexec [global and local options] program [arguments] : [options] program [arguments] ..
 *
 * A local option counts for its block only; a global one for all blocks, wherever it stands.  Every
 * option may be written -x or --x, and with its value as --x=value. */
#ifndef LAUNCH_ARGS_H
#define LAUNCH_ARGS_H

#include <stddef.h>

enum args_action { ARGS_RUN, ARGS_HELP, ARGS_VERSION, ARGS_CVARS };
enum env_mode { ENV_UNSET, ENV_ALL, ENV_NONE, ENV_LIST, ENV_EXCEPT };

enum { ARGS_FILE_MAX = 16 << 20 /* bytes of a host or configuration file */, ARGS_HOST_MAX = 512 };
enum { ARGS_ENV_MAX = 256, ARGS_BLOCKS_MAX = 1024, ARGS_RANKS_MAX = 65536 };

/* What of mpiexec's environment a program gets, and what is set besides. */
struct env_spec {
    enum env_mode mode;
    const char *list; /* of ENV_LIST and ENV_EXCEPT: names separated by commas */
    int n;
    const char *name[ARGS_ENV_MAX], *value[ARGS_ENV_MAX];
};

struct block {
    int n;           /* ranks */
    int first;       /* world rank of the first */
    char **argv;     /* NULL-terminated; points into the caller's words */
    const char *wdir;
    struct env_spec *env; /* NULL: none given */
};

#define ARGS_ERRHANDLER "MPIR_CVAR_INITIAL_ERRHANDLER"

struct args {
    enum args_action action;
    char **argv; /* as given to args_parse; colons between blocks have become NULL */
    int nblocks, room;
    struct block *block;
    int size; /* ranks of all blocks */
    struct env_spec genv;
    const char *gwdir;
    int ppn;              /* 0: not given */
    char *hosts;          /* "a,b" of -hosts and -f, to be freed; NULL: none given */
    size_t hosts_room, hosts_at; /* bytes of it; where the last one begins */
    int far;              /* one of them is not this host */
    const char *engine;   /* what starts a job on several hosts; NULL: the first found */
    int universe;         /* 0: not given */
    int label;            /* -l */
    int no_cleanup;
    int no_ompi;          /* programs built for Open MPI load that */
    int verbose;
    double timeout;       /* seconds, 0: none */
    int timeout_given;    /* by the option */
    const char *bind, *map;       /* as written, or NULL */
    const char *outfile, *errfile; /* patterns, or NULL */
    const char *outdir;   /* a folder with a file for each rank, as Open MPI makes it; or NULL */
    const char *prefix;   /* a pattern before each line, or NULL */
    int timestamp;        /* the time before each line */
    int merge;            /* standard error goes where standard output goes */
    int reports;          /* -report: they do that, too */
    const char *report_file; /* of -report, or NULL */
    int check;            /* -check: its level; 0: none */
    const char *check_json; /* ... and the file of what was found, or NULL */
    const char *trace;    /* file of a trace; the ranks load the library that traces calls */
    const char *input;    /* what gets standard input: a rank, "all", "none"; NULL: rank 0 */
    int gdb;              /* each rank runs under gdb */
    int exitcodes;        /* print them at the end */
    const char *report_pid; /* where mpiexec's pid goes: "-", "+" or a file; NULL: nowhere */
    int dry;              /* check, but start nothing */
    int doctor;           /* look at this host and its networks; no program */
    const char *doctor_json, *doctor_networks; /* where that goes, too; names, or NULL */
    const char *umask;    /* octal, or NULL */
    const char *rankfile, *cpus; /* processors of each rank: a file, a list; or NULL */
    int strict;           /* not more ranks than processors */
    char map_text[32];    /* what map points to if only a part of the word counts */
    char hint[256];       /* how an option was read that has another form; empty: none */
    char idle[256];       /* options without effect, as written, separated by commas; cut */
    char *copies[ARGS_ENV_MAX]; /* names of -genv NAME=VALUE, to be freed */
    int ncopies;
    char *words_text;     /* -configfile: its words point into it */
    char **words;
};

/* Parse argv[1..].  0; -EINVAL with one line in msg; -ENOMEM. */
int args_parse(struct args *a, int argc, char **argv, char *msg, size_t len);
void args_free(struct args *a);
/* Text of -help. */
extern const char args_help[];
/* A number of seconds above 0, from text.  0 or -EINVAL. */
int args_seconds(const char *text, double *out);

#endif

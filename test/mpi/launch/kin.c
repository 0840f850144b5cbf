/* kin.c - jobs that are started by others, under a launcher of another library: what does not hold
 * by itself where nothing knows of all jobs.  The argument says what; spawn.c has the rest. */
#include "../mt.h"

#include <limits.h>
#include <signal.h>
#include <strings.h>
#include <unistd.h>

static char *self;

static MPI_Comm start(char *const *args, int n, MPI_Comm comm)
{
    MPI_Comm inter;
    CHECK_EQ(MPI_Comm_spawn(self, (char **)args, n, MPI_INFO_NULL, 0, comm, &inter,
                            MPI_ERRCODES_IGNORE),
             MPI_SUCCESS);
    return inter;
}

/* Numbers go both ways: with each process of the other side. */
static void greet(MPI_Comm inter)
{
    int n, i, rank, got;
    MPI_Comm_remote_size(inter, &n);
    MPI_Comm_rank(inter, &rank);
    for (i = 0; i < n; i++) {
        got = -1;
        MPI_Sendrecv(&rank, 1, MPI_INT, i, 7, &got, 1, MPI_INT, i, 7, inter, MPI_STATUS_IGNORE);
        CHECK_EQ(got, i);
    }
}

static MPI_Comm parent_of(void)
{
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    CHECK(parent != MPI_COMM_NULL);
    return parent;
}

/* Each rank spawns jobs of its own, and so do these. */
static void tree(int depth)
{
    char text[16], *args[] = {"tree", text, NULL};
    MPI_Comm inter[3], parent;
    int i;
    snprintf(text, sizeof text, "%d", depth - 1);
    for (i = 0; i < 3 && depth > 0; i++)
        inter[i] = start(args, 1 + i % 2, MPI_COMM_SELF);
    for (i = 0; i < 3 && depth > 0; i++) {
        greet(inter[i]);
        MPI_Comm_disconnect(&inter[i]);
    }
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        greet(parent);
        MPI_Comm_disconnect(&parent);
    }
}

/* The last rank spawns a job, the last rank of which spawns one. */
static void deep(int depth)
{
    char text[16], *args[] = {"deep", text, NULL};
    MPI_Comm inter, parent;
    snprintf(text, sizeof text, "%d", depth - 1);
    MPI_Comm_get_parent(&parent);
    if (depth > 0) {
        CHECK_EQ(MPI_Comm_spawn(self, args, 3, MPI_INFO_NULL, mt_size - 1, MPI_COMM_WORLD, &inter,
                                MPI_ERRCODES_IGNORE),
                 MPI_SUCCESS);
        greet(inter);
        MPI_Comm_disconnect(&inter);
    }
    if (parent != MPI_COMM_NULL) {
        greet(parent);
        MPI_Comm_disconnect(&parent);
    }
}

/* Two jobs that were spawned learn of each other by those that spawned both. */
static void bridge(const char *which)
{
    char *first[] = {"bridge", "first", NULL}, *second[] = {"bridge", "second", NULL};
    MPI_Comm a, b, all_a, all_b, mine, inter, three;
    int rank, size, sum = 0, one = 1;
    if (!which) {
        a = start(first, 2, MPI_COMM_WORLD);
        b = start(second, 1, MPI_COMM_WORLD);
        MPI_Intercomm_merge(a, 0, &all_a);
        MPI_Intercomm_merge(b, 0, &all_b);
        /* all_a's ranks are one group, the new job b the other; the bridge is all_b */
        MPI_Intercomm_create(all_a, 0, all_b, mt_size, 9, &inter);
        MPI_Comm_free(&all_b);
        MPI_Comm_free(&all_a);
        MPI_Comm_free(&b);
        MPI_Comm_free(&a);
    } else {
        mine = parent_of();
        MPI_Intercomm_merge(mine, 1, &all_a);
        if (!strcmp(which, "first"))
            MPI_Intercomm_create(all_a, 0, MPI_COMM_NULL, 0, 9, &inter);
        else
            MPI_Intercomm_create(MPI_COMM_WORLD, 0, all_a, 0, 9, &inter);
        MPI_Comm_free(&all_a);
        MPI_Comm_free(&mine);
    }
    greet(inter);
    MPI_Intercomm_merge(inter, 0, &three);
    MPI_Comm_rank(three, &rank);
    MPI_Comm_size(three, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, three);
    CHECK_EQ(sum, size);
    MPI_Comm_free(&three);
    MPI_Comm_disconnect(&inter);
}

/* The spawned processes, one by one, connect to a port; all of them are refused at another. */
static void ports(const char *port)
{
    char name[MPI_MAX_PORT_NAME] = "", *args[] = {"ports", name, NULL};
    MPI_Comm inter, parent;
    int i;
    if (!port) {
        if (mt_rank == 0)
            MPI_Open_port(MPI_INFO_NULL, name);
        parent = start(args, 3, MPI_COMM_WORLD);
        for (i = 0; i < 3; i++) {
            MPI_Comm_accept(name, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
            greet(inter);
            MPI_Comm_disconnect(&inter);
        }
        if (mt_rank == 0)
            MPI_Close_port(name);
        MPI_Barrier(parent);
        MPI_Comm_disconnect(&parent);
        return;
    }
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    greet(inter);
    MPI_Comm_disconnect(&inter);
    parent = parent_of();
    MPI_Barrier(parent);
    MPI_Comm_disconnect(&parent);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_EQ(mt_class(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)),
             MPI_ERR_PORT);
    CHECK_EQ(mt_class(MPI_Comm_connect("windrose-0000000000000000:00", MPI_INFO_NULL, 0,
                                       MPI_COMM_SELF, &inter)),
             MPI_ERR_PORT);
    CHECK_EQ(mt_class(MPI_Comm_connect("no port", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)),
             MPI_ERR_PORT);
}

/* A program that never calls MPI_Init, and then one that does. */
static void silent(void)
{
    MPI_Comm inter;
    int code = -1;
    char *args[] = {"tree", "0", NULL};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQ(mt_class(MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                                     &inter, &code)),
             MPI_ERR_SPAWN);
    CHECK_EQ(code, MPI_ERR_SPAWN);
    inter = start(args, 2, MPI_COMM_WORLD);
    greet(inter);
    MPI_Comm_disconnect(&inter);
}

static void wdir(const char *dir)
{
    char here[PATH_MAX], *args[] = {"wdir", "child", NULL};
    MPI_Comm inter, none;
    MPI_Info info;
    if (!strcmp(dir, "child")) {
        inter = parent_of();
        CHECK(getcwd(here, sizeof here) != NULL);
        MPI_Send(here, PATH_MAX, MPI_CHAR, 0, 1, inter);
        MPI_Comm_disconnect(&inter);
        return;
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "wdir", dir);
    MPI_Comm_spawn(self, args, 1, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    MPI_Info_set(info, "wdir", "/nowhere");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQ(mt_class(MPI_Comm_spawn(self, args, 1, info, 0, MPI_COMM_WORLD, &none,
                                     MPI_ERRCODES_IGNORE)),
             MPI_ERR_SPAWN);
    MPI_Info_free(&info);
    if (mt_rank == 0) {
        MPI_Recv(here, PATH_MAX, MPI_CHAR, 0, 1, inter, MPI_STATUS_IGNORE);
        CHECK(!strcmp(here, dir));
    }
    MPI_Comm_disconnect(&inter);
}

/* As many arguments as the launcher takes, and more; one that is long.  any: it takes them all. */
static void words(int argc, char **argv, int any)
{
    enum { MORE = 1100, LONG = 1 << 16 };
    static char *args[MORE + 1], word[LONG + 1];
    static const int tried[][2] = {{900, 1}, {1100, 1}, {2, 60000}, {2, LONG}};
    MPI_Comm inter;
    int i, k, got[2] = {argc, argc > 2 ? (int)strlen(argv[2]) : 0};
    if (argc > 2) {
        inter = parent_of();
        MPI_Send(got, 2, MPI_INT, 0, 1, inter);
        MPI_Comm_disconnect(&inter);
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (i = 0; i < 4; i++) {
        memset(args, 0, sizeof args);
        memset(word, 'x', LONG);
        word[tried[i][1]] = 0;
        args[0] = "words";
        for (k = 1; k < tried[i][0]; k++)
            args[k] = word;
        int err = MPI_Comm_spawn(self, args, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                                 MPI_ERRCODES_IGNORE);
        CHECK_EQ(mt_class(err), i % 2 && !any ? MPI_ERR_SPAWN : MPI_SUCCESS);
        if (err)
            continue;
        if (mt_rank == 0) {
            MPI_Recv(got, 2, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
            CHECK_EQ(got[0], tried[i][0] + 1);
            CHECK_EQ(got[1], tried[i][1]);
        }
        MPI_Comm_disconnect(&inter);
    }
}

/* A program that is found by a list of directories; the next one is not. */
static void path(void)
{
    char list[PATH_MAX + 16], *name = strrchr(self, '/'), *commands[] = {name + 1, self};
    char *args[] = {"tree", "0", NULL}, **argvs[] = {args, args};
    int n[] = {1, 1};
    MPI_Info info[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm inter;
    snprintf(list, sizeof list, "/nowhere:%.*s", (int)(name - self), self);
    MPI_Info_create(&info[0]);
    MPI_Info_set(info[0], "path", list);
    CHECK_EQ(MPI_Comm_spawn_multiple(2, commands, argvs, n, info, 0, MPI_COMM_WORLD, &inter,
                                     MPI_ERRCODES_IGNORE),
             MPI_SUCCESS);
    MPI_Info_free(&info[0]);
    greet(inter);
    MPI_Comm_disconnect(&inter);
}

/* One job of two programs, of one process and of two. */
static MPI_Comm start_two(void)
{
    char *args[] = {"tree", "0", NULL}, *commands[] = {self, self}, **argvs[] = {args, args};
    int n, counts[] = {1, 2};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm inter;
    CHECK_EQ(MPI_Comm_spawn_multiple(2, commands, argvs, counts, infos, 0, MPI_COMM_SELF, &inter,
                                     MPI_ERRCODES_IGNORE),
             MPI_SUCCESS);
    MPI_Comm_remote_size(inter, &n);
    CHECK_EQ(n, 3);
    return inter;
}

/* All ranks spawn at once, several times. */
static void crowd(int times)
{
    while (times-- > 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Comm inter = start_two();
        greet(inter);
        MPI_Comm_disconnect(&inter);
    }
}

/* A job spawns several programs at once while one that it has spawned spawns, too. */
static void beside(const char *which)
{
    enum { TIMES = 20 };
    char *other_job[] = {"beside", "other", NULL}, *args[] = {"tree", "0", NULL};
    int i, n;
    MPI_Comm inter, other = which ? parent_of() : start(other_job, 1, MPI_COMM_SELF);
    for (i = 0; i < TIMES; i++) {
        inter = which ? start(args, 1, MPI_COMM_SELF) : start_two();
        MPI_Comm_remote_size(inter, &n);
        CHECK_EQ(n, which ? 1 : 3);
        greet(inter);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Comm_disconnect(&other);
}

/* One side ends without MPI_Comm_disconnect, the other half a second later. */
static void order(const char *first, int spawned)
{
    char *args[] = {"order", (char *)first, "spawned", NULL};
    MPI_Comm inter = spawned ? parent_of() : start(args, 2, MPI_COMM_WORLD);
    greet(inter);
    if (spawned != !strcmp(first, "spawned"))
        usleep(500000);
}

/* A spawned process dies, while the others wait for it. */
static void dies(const char *spawned)
{
    char *args[] = {"dies", "spawned", NULL};
    MPI_Comm inter = spawned ? parent_of() : start(args, 2, MPI_COMM_WORLD);
    greet(inter);
    if (spawned && mt_rank == 1)
        abort();
    MPI_Barrier(inter);
}

/* In a process that was started with the named handler; "": with none. */
static void has_handler(const char *name)
{
    MPI_Errhandler want = !strcasecmp(name, "mpi_errors_abort")    ? MPI_ERRORS_ABORT
                          : !strcasecmp(name, "mpi_errors_return") ? MPI_ERRORS_RETURN
                                                                   : MPI_ERRORS_ARE_FATAL;
    char key[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Comm parent, made;
    MPI_Errhandler got;
    int i, has;
    MPI_Info_get(MPI_INFO_ENV, "mpi_initial_errhandler", MPI_MAX_INFO_VAL, key, &has);
    CHECK_EQ(has, *name != 0);
    CHECK(!strcmp(key, name));
    MPI_Comm_get_parent(&parent);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm list[] = {MPI_COMM_WORLD, MPI_COMM_SELF, made, parent};
    for (i = 0; i < 4; i++) {
        if (list[i] == MPI_COMM_NULL)
            continue;
        MPI_Comm_get_errhandler(list[i], &got);
        CHECK_EQ(got, want);
        if (want == MPI_ERRORS_RETURN) {
            CHECK(MPI_Send(NULL, 0, MPI_INT, 1 << 20, 0, list[i]) != MPI_SUCCESS);
            CHECK(MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_NULL) != MPI_SUCCESS);
        }
    }
    MPI_Comm_free(&made);
}

/* Programs of one call have different ones; a wrong name starts none. */
static void handlers(void)
{
    char *commands[] = {self, self, self, self}, *args[4][3];
    static const char *const names[] = {"mpi_errors_return", "", "Mpi_Errors_ABORT",
                                        "mpi_errors_are_fatal"};
    char **argvs[4];
    int i, one[] = {1, 2, 1, 1}, codes[5] = {0};
    MPI_Info infos[4];
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (i = 0; i < 4; i++) {
        MPI_Info_create(&infos[i]);
        if (*names[i])
            MPI_Info_set(infos[i], "mpi_initial_errhandler", names[i]);
        args[i][0] = (char *)"has-handler";
        args[i][1] = (char *)names[i];
        args[i][2] = NULL;
        argvs[i] = args[i];
    }
    CHECK_EQ(MPI_Comm_spawn_multiple(4, commands, argvs, one, infos, 0, MPI_COMM_WORLD, &inter,
                                     codes), MPI_SUCCESS);
    MPI_Comm_disconnect(&inter);
    MPI_Info_set(infos[2], "mpi_initial_errhandler", "mpi_errors");
    i = MPI_Comm_spawn_multiple(4, commands, argvs, one, infos, 0, MPI_COMM_WORLD, &inter, codes);
    MPI_Error_class(i, &i);
    CHECK_EQ(i, MPI_ERR_INFO_VALUE);
    for (i = 0; i < 4; i++)
        MPI_Info_free(&infos[i]);
}

/* Errors of calls that may be made before MPI_Init and after MPI_Finalize; the last, after it
 * only. */
enum { EARLY = 7, LATE };
static int wrong_call(int i)
{
    MPI_Session s;
    int n;
    switch (i) {
    case 0: return MPI_Info_set(MPI_INFO_NULL, "key", "value");
    case 1: return MPI_Error_class(-1, &n);
    case 2: return MPI_Error_string(-1, NULL, &n);
    case 3: return MPI_Initialized(NULL);
    case 4: return MPI_Finalized(NULL);
    case 5: return MPI_Get_version(NULL, &n);
    case 6: return MPI_Get_library_version(NULL, &n);
    default: return MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s);
    }
}

/* The numbered one, or all. */
static void outside(const char *number, int calls)
{
    int i;
    for (i = 0; i < calls; i++)
        if (!number || atoi(number) == i)
            CHECK_EQ(mt_class(wrong_call(i)), i == 0      ? MPI_ERR_INFO
                                              : i < EARLY ? MPI_ERR_ARG
                                                          : MPI_ERR_OTHER);
}

static int told;
static void tells(MPI_Session *s, int *code, ...)
{
    told++;
    CHECK(*s == MPI_SESSION_NULL);
    CHECK_EQ(mt_class(*code), MPI_ERR_ARG);
}

/* A session that cannot be: its error goes to the handler that was given for it. */
static void no_session(const char *how)
{
    MPI_Errhandler e = MPI_ERRORS_RETURN;
    if (how && !strcmp(how, "fatal"))
        e = MPI_ERRORS_ARE_FATAL;
    CHECK_EQ(mt_class(MPI_Session_init(MPI_INFO_NULL, e, NULL)), MPI_ERR_ARG);
    if (how)
        return;
    MPI_Session_create_errhandler(tells, &e);
    CHECK_EQ(mt_class(MPI_Session_init(MPI_INFO_NULL, e, NULL)), MPI_ERR_ARG);
    CHECK_EQ(told, 1);
    MPI_Errhandler_free(&e);
}

/* Both sides write into the memory of the other, and read it. */
static void rma(int spawned)
{
    enum { LONG = 1 << 16, COUNTER = 2 * LONG };
    char *args[] = {"rma", "spawned", NULL};
    MPI_Comm inter = spawned ? parent_of() : start(args, 2, MPI_COMM_WORLD), all;
    MPI_Win win;
    int *mem, *mine = malloc(LONG * sizeof *mine), rank, size, i, one = 1, old, sum = 0;
    MPI_Intercomm_merge(inter, spawned, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    MPI_Win_allocate((COUNTER + 1) * sizeof *mem, sizeof *mem, MPI_INFO_NULL, all, &mem, &win);
    memset(mem, 0, (COUNTER + 1) * sizeof *mem);
    MPI_Barrier(all);
    for (i = 0; i < LONG; i++)
        mine[i] = 1000 * rank + i % 1000;
    int to = (rank + size / 2) % size, from = (rank + size - size / 2) % size;
    MPI_Win_lock_all(0, win);
    MPI_Put(mine, LONG, MPI_INT, to, 0, LONG, MPI_INT, win);
    MPI_Put(mine, 1, MPI_INT, to, LONG, 1, MPI_INT, win);
    MPI_Win_flush(to, win);
    for (i = 0; i < size; i++) {
        MPI_Accumulate(&one, 1, MPI_INT, i, COUNTER, 1, MPI_INT, MPI_SUM, win);
        MPI_Fetch_and_op(&one, &old, MPI_INT, i, COUNTER, MPI_SUM, win);
        MPI_Win_flush(i, win);
        CHECK(old >= 1 && old < 2 * size);
    }
    MPI_Barrier(all);
    MPI_Win_sync(win);
    CHECK_EQ(mem[COUNTER], 2 * size);
    CHECK_EQ(mem[LONG], 1000 * from);
    for (i = 0; i < LONG; i++)
        sum += mem[i] != 1000 * from + i % 1000;
    CHECK_EQ(sum, 0);
    MPI_Get(mine, LONG, MPI_INT, from, 0, LONG, MPI_INT, win);
    MPI_Win_flush(from, win);
    int first = (from + size - size / 2) % size;
    for (i = 0; i < LONG; i++)
        sum += mine[i] != 1000 * first + i % 1000;
    CHECK_EQ(sum, 0);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(mine);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&inter);
}

/* What one side sends before it ends reaches the other, which looks later. */
static void sent_before_end(int spawned)
{
    enum { MANY = 200, BYTES = 2000 };
    char *args[] = {"sent-before-end", "spawned", NULL}, text[BYTES];
    MPI_Comm inter = spawned ? parent_of() : start(args, 2, MPI_COMM_WORLD);
    int i, k;
    greet(inter);
    if (spawned)
        usleep(500000);
    for (i = 0; i < MANY; i++) {
        memset(text, spawned ? 0 : i, BYTES);
        if (spawned)
            MPI_Recv(text, BYTES, MPI_CHAR, mt_rank % 2, i, inter, MPI_STATUS_IGNORE);
        else
            for (k = mt_rank; k < 2; k += 2)
                MPI_Send(text, BYTES, MPI_CHAR, k, i, inter);
        CHECK(text[0] == (char)i && text[BYTES - 1] == (char)i);
    }
}

/* A spawned process is killed, or a host is cut off (by the caller, which then writes NAME.go).
 * Waits of the others end, which they report. */
static void peer_fails(const char *how, const char *name, int spawned)
{
    char *args[] = {"peer-fails", (char *)how, (char *)name, "spawned", NULL}, path[PATH_MAX];
    const char *side = spawned ? "spawned" : "parent";
    MPI_Comm inter = spawned ? parent_of() : start(args, 2, MPI_COMM_WORLD), with = inter;
    int err, i, got = 0, peer = 1, cut = !strcmp(how, "cut"), rank = mt_rank;
    greet(inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (!cut && spawned && rank == 1) { /* when all have what it has sent */
        for (i = 0; i < 2; i++)
            MPI_Recv(&got, 1, MPI_INT, i, 6, inter, MPI_STATUS_IGNORE);
        MPI_Recv(&got, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        raise(SIGKILL);
    }
    if (!cut && spawned)
        with = MPI_COMM_WORLD;
    if (!cut)
        MPI_Send(&rank, 1, MPI_INT, 1, 6, with);
    if (cut) {
        FILE *f;
        peer = 1 - rank;
        snprintf(path, sizeof path, "%s.%s%d", name, side, rank);
        if ((f = fopen(path, "w")) != NULL)
            fclose(f);
        snprintf(path, sizeof path, "%s.go", name);
        while (access(path, F_OK))
            usleep(10000);
    }
    double since = MPI_Wtime();
    err = MPI_Recv(&got, 1, MPI_INT, peer, 5, with, MPI_STATUS_IGNORE);
    printf("%s %d: %s after %.1f s\n", side, rank,
           mt_class(err) == MPIX_ERR_PROC_FAILED ? "PROC_FAILED" : "another end",
           MPI_Wtime() - since);
    fflush(stdout);
    since = MPI_Wtime();
    MPI_Finalize();
    printf("%s %d: finalized after %.1f s\n", side, rank, MPI_Wtime() - since);
    exit(0);
}

static const char *what;
static int known;

/* A word that is none of those that are asked for is an error: it would do nothing. */
static int is(const char *word)
{
    int yes = !strcmp(what, word);
    known |= yes;
    return yes;
}

int main(int argc, char **argv)
{
    const char *more = argc > 2 ? argv[2] : NULL;
    int i, times = 60;
    char *args[] = {"tree", "0", NULL};
    self = realpath(argv[0], NULL);
    what = argc > 1 ? argv[1] : "";
    if (is("early"))
        outside(more, EARLY);
    if (is("no-session"))
        no_session(more);
    if (more && !strcmp(more, "alone")) {
        free(self);
        return mt_errors;
    }
    mt_init(&argc, &argv);
    if (is("handlers"))
        handlers();
    if (is("has-handler")) {
        has_handler(more ? more : "");
        MPI_Comm inter;
        MPI_Comm_get_parent(&inter);
        if (inter != MPI_COMM_NULL)
            MPI_Comm_disconnect(&inter);
    }
    if (is("tree"))
        tree(more ? atoi(more) : 2);
    if (is("deep"))
        deep(more ? atoi(more) : 3);
    if (is("many"))
        for (i = 0; i < times; i++) {
            MPI_Comm inter = start(args, 1, MPI_COMM_WORLD);
            greet(inter);
            MPI_Comm_disconnect(&inter);
        }
    if (is("bridge"))
        bridge(more);
    if (is("ports"))
        ports(more);
    if (is("silent"))
        silent();
    if (is("wdir"))
        wdir(more);
    if (is("words") || is("any-words"))
        words(argc, argv, *what == 'a');
    if (is("path"))
        path();
    if (is("beside"))
        beside(more);
    if (is("crowd"))
        crowd(more ? atoi(more) : 1);
    if (is("order"))
        order(more, argc > 3);
    if (is("dies"))
        dies(more);
    if (is("rma"))
        rma(more != NULL);
    if (is("sent-before-end"))
        sent_before_end(more != NULL);
    if (is("peer-fails"))
        peer_fails(more, argv[3], argc > 4);
    free(self);
    int late = is("late");
    MUST(known, "there is no \"%s\"", what);
    i = mt_finish();
    if (late)
        outside(more, LATE);
    return i || mt_errors;
}

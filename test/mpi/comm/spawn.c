/* spawn.c - processes that are started by others: spawn, spawn_multiple, get_parent, and what the
 * communicators between the jobs can do: messages, collectives, merge, windows, disconnect.
 *
 * With the argument "plain" it asks for what another launcher does, too: such a one carries no end
 * of a line in an argument, and does not report what becomes of the programs. */
#include "../mt.h"

#include <unistd.h>

enum { BIG = 1 << 18, LONG_WORD = 5000 };

static char long_word[LONG_WORD + 1];
static char *const words[2][5] = {{"child", "two words", "", "a\nline=x", long_word},
                                  {"plain-child", "two words", "", "a b=c;d 'e' \"f\" $HOME", "x"}};
static int plain;
static int any_words;

/* Both sides of an intercommunicator call it. */
static void talk(MPI_Comm inter, int parents)
{
    int rank, remote, me, sum = -1, i;
    int *big = malloc(BIG * sizeof *big);
    MPI_Status st;

    MPI_Comm_rank(inter, &rank);
    MPI_Comm_remote_size(inter, &remote);
    me = 100 * (parents + 1) + rank;
    for (i = 0; i < BIG; i++)
        big[i] = me + i;
    /* rank r of a side talks with each rank of the other side whose number is the same modulo */
    for (i = 0; i < remote; i++) {
        int got = -1, *other = calloc(BIG, sizeof *other), k, bad = 0;
        MPI_Request r[2];

        MPI_Irecv(&got, 1, MPI_INT, i, 1, inter, &r[0]);
        MPI_Isend(&me, 1, MPI_INT, i, 1, inter, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        CHECK_EQ(got, 100 * (!parents + 1) + i);
        MPI_Irecv(other, BIG, MPI_INT, i, 2, inter, &r[0]);
        MPI_Isend(big, BIG, MPI_INT, i, 2, inter, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        for (k = 0; k < BIG; k++)
            bad += other[k] != 100 * (!parents + 1) + i + k;
        CHECK_EQ(bad, 0);
        free(other);
    }
    for (i = 0; i < remote; i++) {
        int one = -1;

        MPI_Send(&me, 1, MPI_INT, i, 3, inter);
        MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 3, inter, &st);
        CHECK_EQ(one, 100 * (!parents + 1) + st.MPI_SOURCE);
    }
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQ(sum, remote * 100 * (!parents + 1) + remote * (remote - 1) / 2);
    MPI_Barrier(inter);
    free(big);
}

/* Processes of two jobs share no memory, and no process set. */
static void splits(MPI_Comm all, int own)
{
    MPI_Comm part, less;
    MPI_Info info;
    MPI_Win win;
    int size, *mem;

    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
    MPI_Comm_size(part, &size);
    CHECK(size <= own);
    CHECK_EQ(MPI_Win_allocate_shared(sizeof *mem, sizeof *mem, MPI_INFO_NULL, part, &mem, &win),
             MPI_SUCCESS);
    MPI_Win_free(&win);
    MPI_Comm_free(&part);
    MPI_Comm_split_type(all, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &part);
    CHECK(part != MPI_COMM_NULL);
    MPI_Comm_size(part, &size);
    CHECK(size <= own);
    if (size == own) { /* one node */
        MPI_Comm_split_type(part, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &less);
        CHECK(less == MPI_COMM_NULL);
    }
    MPI_Comm_free(&part);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD");
    MPI_Comm_split_type(all, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &part);
    MPI_Comm_size(part, &size);
    CHECK_EQ(size, own);
    MPI_Comm_free(&part);
    MPI_Info_set(info, "mpi_pset_name", "mpi://SELF");
    MPI_Comm_split_type(all, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &part);
    MPI_Comm_size(part, &size);
    CHECK_EQ(size, 1);
    MPI_Comm_free(&part);
    MPI_Info_free(&info);
}

/* A session's communicator has processes of one job only. */
static void mixed_groups(MPI_Comm all)
{
    MPI_Group g, own, others;
    MPI_Comm n;

    MPI_Comm_group(all, &g);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQ(mt_class(MPI_Comm_create_from_group(g, "mixed", MPI_INFO_NULL, MPI_ERRORS_RETURN, &n)),
             MPI_ERR_GROUP);
    CHECK(n == MPI_COMM_NULL);
    MPI_Comm_group(MPI_COMM_WORLD, &own);
    MPI_Group_difference(g, own, &others);
    CHECK_EQ(mt_class(MPI_Intercomm_create_from_groups(own, 0, others, 0, "mixed", MPI_INFO_NULL,
                                                       MPI_ERRORS_RETURN, &n)),
             MPI_ERR_GROUP);
    CHECK(n == MPI_COMM_NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Group_free(&others);
    MPI_Group_free(&own);
    MPI_Group_free(&g);
}

/* All processes of both jobs in one communicator: a window, a split, a duplicate. */
static void together(MPI_Comm inter, int parents)
{
    MPI_Comm all, half, dup;
    MPI_Win win;
    int rank, size, *mem, i, sum = 0, remote, local, one = 1;

    MPI_Comm_size(inter, &local);
    MPI_Comm_remote_size(inter, &remote);
    CHECK_EQ(MPI_Intercomm_merge(inter, !parents, &all), MPI_SUCCESS);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    CHECK_EQ(size, local + remote);
    CHECK(parents ? rank < local : rank >= remote);
    splits(all, mt_size);
    mixed_groups(all);
    MPI_Comm_dup(all, &dup);
    MPI_Comm_split(dup, rank % 2, rank, &half);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
    CHECK_EQ(sum, size / 2 + (size % 2 && rank % 2 == 0));
    MPI_Win_allocate(size * (int)sizeof *mem, sizeof *mem, MPI_INFO_NULL, dup, &mem, &win);
    MPI_Win_fence(0, win);
    for (i = 0; i < size; i++)
        MPI_Put(&rank, 1, MPI_INT, i, rank, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (i = 0; i < size; i++)
        CHECK_EQ(mem[i], i);
    MPI_Win_fence(0, win);
    for (i = 0; i < size; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, i, 0, win);
        MPI_Accumulate(&one, 1, MPI_INT, i, 0, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_unlock(i, win);
    }
    MPI_Barrier(dup);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK_EQ(mem[0], size);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
    MPI_Comm_free(&half);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&all);
}

static void check_args(int argc, char **argv)
{
    CHECK_EQ(argc, 6);
    if (argc != 6)
        return;
    for (int i = 0; i < 5; i++)
        CHECK(!strcmp(argv[i + 1], words[!strcmp(argv[1], words[1][0])][i]));
}

static void child(int argc, char **argv, MPI_Comm parent)
{
    int *appnum, flag, errors;

    if (!strcmp(argv[1], words[0][0]) || !strcmp(argv[1], words[1][0]))
        check_args(argc, argv);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag);
    if (!strcmp(argv[1], "many")) {
        CHECK(flag && *appnum == atoi(argv[2]));
        CHECK_EQ(mt_size, 3);
        CHECK_EQ(*appnum, mt_rank > 0);
    } else {
        talk(parent, 0);
        together(parent, 0);
    }
    errors = mt_errors;
    MPI_Reduce(&errors, NULL, 1, MPI_INT, MPI_SUM, 0, parent);
    CHECK_EQ(MPI_Comm_disconnect(&parent), MPI_SUCCESS);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
    MPI_Finalize();
    exit(mt_errors != 0);
}

/* The children's errors are counted here. */
static void take_leave(MPI_Comm inter)
{
    int errors = 0, none = 0;

    MPI_Reduce(&none, &errors, 1, MPI_INT, MPI_SUM, mt_rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    CHECK_EQ(errors, 0);
    CHECK_EQ(MPI_Comm_disconnect(&inter), MPI_SUCCESS);
    CHECK(inter == MPI_COMM_NULL);
}

static void two_children(char *me, int root)
{
    char *const *w = words[plain], *args[] = {w[0], w[1], w[2], w[3], w[4], NULL};
    MPI_Comm inter;
    int codes[2] = {-1, -1}, size;

    CHECK_EQ(MPI_Comm_spawn(me, args, 2, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, codes),
             MPI_SUCCESS);
    CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
    MPI_Comm_remote_size(inter, &size);
    CHECK_EQ(size, 2);
    talk(inter, 1);
    together(inter, 1);
    take_leave(inter);
}

static void multiple(char *me)
{
    char *commands[] = {me, me}, *first[] = {"many", "0", NULL}, *second[] = {"many", "1", NULL};
    char **args[] = {first, second};
    int n[] = {1, 2}, size;
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm inter;

    CHECK_EQ(MPI_Comm_spawn_multiple(2, commands, args, n, infos, 0, MPI_COMM_WORLD, &inter,
                                     MPI_ERRCODES_IGNORE),
             MPI_SUCCESS);
    MPI_Comm_remote_size(inter, &size);
    CHECK_EQ(size, 3);
    take_leave(inter);
}

static void leave(int sig)
{
    _exit(sig != 0);
}

/* Rank 1 of the job ends before MPI_Init or in it, while rank 0 waits there, or is to come.  Only
 * that job ends. */
static void early(const char *how)
{
    const char *rank = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("PMIX_RANK");
    int one = rank && atoi(rank) == 1;

    if (!strcmp(how, "exits") && one) {
        usleep(100000);
        _exit(3);
    }
    if (!strcmp(how, "leaves") && one) {
        signal(SIGALRM, leave);
        alarm(1);
    }
    if (!strcmp(how, "leaves") && !one)
        sleep(3);
}

static void lost_early(char *me)
{
    char *exits[] = {"exits", NULL}, *leaves[] = {"leaves", NULL};
    char *commands[] = {me, "./no-such-program"}, **args[] = {exits, MPI_ARGV_NULL};
    int n[] = {2, 1}, codes[3] = {-1, -1, -1}, sum = 0, one = 1;
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm inter;
    int err = MPI_Comm_spawn(me, exits, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);

    CHECK_EQ(mt_class(err), MPI_ERR_SPAWN);
    err = MPI_Comm_spawn(me, leaves, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
    CHECK_EQ(mt_class(err), MPI_ERR_SPAWN);
    err = MPI_Comm_spawn_multiple(2, commands, args, n, infos, 0, MPI_COMM_WORLD, &inter, codes);
    CHECK_EQ(mt_class(err), MPI_ERR_SPAWN);
    CHECK_EQ(codes[2], MPI_ERR_SPAWN);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* this one goes on */
    CHECK_EQ(sum, mt_size);
}

/* The text of the root's error has `words`. */
static void refused(const char *command, MPI_Info info, const char *words)
{
    char text[MPI_MAX_ERROR_STRING];
    int n, err, code = -1;
    MPI_Comm inter;
    err = MPI_Comm_spawn(command, MPI_ARGV_NULL, 1, info, 0, MPI_COMM_WORLD, &inter, &code);
    CHECK_EQ(mt_class(err), MPI_ERR_SPAWN);
    CHECK_EQ(code, MPI_ERR_SPAWN);
    MPI_Error_string(err, text, &n);
    if (mt_rank == 0)
        MUST(strstr(text, words), "no '%s' in: %s", words, text);
}

/* The error names what is not there: the directory or the program. */
static void error_texts(char *me)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "wdir", "/no-such-dir");
    refused(me, info, "no directory \"/no-such-dir\"");
    MPI_Info_set(info, "wdir", "/dev/null");
    refused(me, info, "no directory \"/dev/null\"");
    MPI_Info_set(info, "wdir", "/");
    refused("./no-such-program", info, "no \"./no-such-program\"");
    refused("/dev/null/program", info, "no \"/dev/null/program\"");
    MPI_Info_free(&info);
}

static void errors(char *me)
{
    MPI_Comm inter;
    int codes[2] = {-1, -1}, err;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    err = MPI_Comm_spawn("./no-such-program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                         &inter, codes);
    CHECK_EQ(mt_class(err), MPI_ERR_SPAWN);
    CHECK(inter == MPI_COMM_NULL);
    CHECK_EQ(codes[1], MPI_ERR_SPAWN);
    if (!any_words)
        error_texts(me);
    if (plain) {
        char *line[] = {"a\nline", NULL};
        if (any_words) {
            MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
            return;
        }
        err = MPI_Comm_spawn(me, line, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
        CHECK_EQ(mt_class(err), MPI_ERR_SPAWN);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        return;
    }
    /* it never calls MPI_Init */
    err = MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
    CHECK_EQ(mt_class(err), MPI_ERR_SPAWN);
    err = MPI_Comm_spawn(me, MPI_ARGV_NULL, 1 << 30, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                         MPI_ERRCODES_IGNORE);
    CHECK_EQ(mt_class(err), MPI_ERR_SPAWN);
    lost_early(me);
    err = MPI_Comm_spawn(me, MPI_ARGV_NULL, 0, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
    CHECK(err != MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    int i;

    if (argc > 1)
        early(argv[1]);
    mt_init(&argc, &argv);
    memset(long_word, 'x', LONG_WORD);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        child(argc, argv, parent);
    plain = argc > 1 && !strcmp(argv[1], "plain");
    any_words = argc > 2; /* the launcher takes them */
    for (i = 0; i < 2; i++)
        two_children(argv[0], i % mt_size);
    multiple(argv[0]);
    errors(argv[0]);
    return mt_finish();
}

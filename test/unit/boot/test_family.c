/* test_family.c - boot/family.c and boot/family_meet.c: numbers, names of ports, and two that meet
 * in one process. */
#include "unit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/detector_types.h"
#include "boot/family.h"
#include "var/var.h"

Suite *suite_family(void);

/* --- a launcher ------------------------------------------------------------------------------ */

static int my_rank, my_size, my_hosts = 1;
static char was_given[PMI_VALUE_MAX], gave[PMI_VALUE_MAX], asked[3][64];

static int start(int *rank, int *size, int *appnum)
{
    *rank = my_rank;
    *size = my_size;
    *appnum = 0;
    return 0;
}

static int map(char *text, size_t len)
{
    snprintf(text, len, "(vector,(0,%d,%d))", my_hosts, my_size / my_hosts);
    return 0;
}

static int job(char *text, size_t len)
{
    snprintf(text, len, "first-%d", (int)getpid()); /* the tests may run twice at a time */
    return 0;
}

static int nothing(void)
{
    return 0;
}

static int spawned(char *text, size_t room)
{
    snprintf(text, room, "%s", was_given);
    return *was_given ? 0 : -ENOENT;
}

static int spawn_begin(struct boot_meeting *m, const struct boot_program *list, int n,
                       const char *gives, int *fd)
{
    snprintf(gave, sizeof gave, "%s", gives);
    for (int i = 0; i < n && i < 3; i++) {
        ck_assert_ptr_null(list[i].path);
        snprintf(asked[i], sizeof asked[i], "%s", list[i].command);
    }
    return 0;
}

static void give_up(int code, const char *why)
{
    _exit(why && strstr(why, "on several hosts") ? 40 + code : 1);
}

static const struct boot_ops ops = {.abort = give_up,
                                    .name = "family", .init = start, .node_map = map,
                                    .job_id = job, .finalize = nothing, .spawned = spawned,
                                    .spawn_begin = spawn_begin, .spawns_in_turn = 1};

static int begin(int rank, int size, const char *given)
{
    char msg[200];
    my_rank = rank;
    my_size = size;
    snprintf(was_given, sizeof was_given, "%s", given);
    ck_assert_int_eq(var_init(msg, sizeof msg), 0);
    return boot_init(&ops);
}

static void end(void)
{
    ck_assert_int_eq(boot_finalize(), 0);
    var_finalize();
}

/* --- numbers --------------------------------------------------------------------------------- */

enum { PLACES = (1 << 14) - 2 };
static unsigned char taken[PLACES];

static int spawn(int n)
{
    struct boot_meeting m;
    struct boot_program p = {.command = "sh", .n = n};
    int fd;
    return boot_spawn_begin(&m, &p, 1, &fd);
}

/* Every process of a job spawns some, and every process of these. */
static void grow(int size, const char *given, int depth)
{
    char mine[8][PMI_VALUE_MAX];
    for (int rank = 0; rank < size; rank++) {
        int n = 0;
        ck_assert_int_eq(begin(rank, size, given), 0);
        ck_assert_int_eq(boot_universe(), PLACES);
        ck_assert_int_eq(taken[boot_rank()]++, 0);
        ck_assert_int_eq(boot_meets(), BOOT_MEETS_DIRECT);
        ck_assert_int_eq(boot_parent_port() != NULL, *given != 0);
        while (n < 8 && !spawn(1 + n % 2))
            strcpy(mine[n++], gave);
        ck_assert(n == 8 || depth < 2);
        end();
        for (int i = 0; i < n && depth > 0; i++)
            grow(1 + i % 2, mine[i], depth - 1);
    }
}

START_TEST(numbers_once)
{
    grow(3, "", 2);
    /* 3 spawn 12 each, in 8 jobs of 1 or 2; each of these 12 at least one */
    int n = 0;
    for (int i = 0; i < PLACES; i++)
        n += taken[i];
    ck_assert_int_ge(n, 3 + 36 + 36);
}
END_TEST

/* Jobs of three processes, each spawned by the last one of the one before, which has the fewest
 * numbers; and how many jobs one process can spawn. */
START_TEST(numbers_deep)
{
    char given[PMI_VALUE_MAX] = "";
    int n = 0;
    for (int depth = 0; depth < 3; depth++) {
        ck_assert_int_eq(begin(2, 3, given), 0);
        ck_assert_int_eq(spawn(3), 0);
        strcpy(given, gave);
        end();
    }
    ck_assert_int_eq(begin(0, 1, ""), 0);
    while (!spawn(1))
        n++;
    ck_assert_int_ge(n, 250);
    end();
}
END_TEST

START_TEST(numbers_end)
{
    ck_assert_int_eq(begin(1, 4, ""), 0);
    ck_assert_int_eq(spawn(PLACES), -ENOSPC);
    ck_assert_int_eq(spawn(2000), 0);
    ck_assert_int_eq(spawn(2000), -ENOSPC);
    struct boot_meeting m;
    struct boot_program two[] = {{.command = "sh", .n = 1 << 30}, {.command = "sh", .n = 1 << 30}};
    int fd;
    ck_assert_int_eq(boot_spawn_begin(&m, two, 2, &fd), -ENOSPC);
    two[0] = (struct boot_program){.command = "no-such-program", .n = 1};
    ck_assert_int_eq(boot_spawn_begin(&m, two, 1, &fd), -ENOENT);
    two[0] = (struct boot_program){.command = "./no-such-program", .n = 1, .wdir = "/bin"};
    ck_assert_int_eq(boot_spawn_begin(&m, two, 1, &fd), -ENOENT);
    two[0] = (struct boot_program){.command = "./sh", .n = 1, .wdir = "/bin"};
    ck_assert_int_eq(boot_spawn_begin(&m, two, 1, &fd), 0);
    two[0] = (struct boot_program){.command = "/bin/sh", .n = 1, .wdir = "/nowhere"};
    ck_assert_int_eq(boot_spawn_begin(&m, two, 1, &fd), -ENOTDIR);
    two[0].wdir = "/bin/sh";
    ck_assert_int_eq(boot_spawn_begin(&m, two, 1, &fd), -ENOTDIR);
    two[0].host = "elsewhere"; /* it may be there */
    ck_assert_int_eq(boot_spawn_begin(&m, two, 1, &fd), 0);
    two[0] = (struct boot_program){.command = "sh", .n = 1, .path = "/nowhere"};
    ck_assert_int_eq(boot_spawn_begin(&m, two, 1, &fd), -ENOENT);
    end();
}
END_TEST

/* --- the request to Hydra -------------------------------------------------------------------- */

/* A program with that many words, of which the first has so many bytes. */
static int request(int words, int bytes, int programs)
{
    char **argv = calloc((size_t)words + 1, sizeof *argv), *text;
    char *first = malloc((size_t)bytes + 1);
    struct boot_program *list = calloc((size_t)programs, sizeof *list);
    memset(first, 'x', (size_t)bytes);
    first[bytes] = 0;
    for (int i = 0; i < words; i++)
        argv[i] = i ? "w" : first;
    for (int i = 0; i < programs; i++)
        list[i] = (struct boot_program){.command = "sh", .n = 1, .argv = argv};
    int err = pmi1_spawn_text(list, programs, "1.2.3.4.port", &text);
    ck_assert(err || (strlen(text) < 1 << 16 && !strcmp(strrchr(text, 'e'), "endcmd\n")));
    free(text);
    free(list);
    free(first);
    free(argv);
    return err;
}

/* Hydra would take "path" for a directory, and for that of the later programs, too. */
START_TEST(request_path)
{
    struct boot_meeting m;
    int fd;
    struct boot_program p[] = {{.command = "sh", .n = 1, .path = "/nowhere:/bin:/"},
                               {.command = "sh", .n = 1},
                               {.command = "sh", .n = 1, .path = "bin", .wdir = "/"}};
    ck_assert_int_eq(begin(0, 1, ""), 0);
    ck_assert_int_eq(boot_spawn_begin(&m, p, 3, &fd), 0);
    ck_assert_str_eq(asked[0], "/bin/sh");
    ck_assert_str_eq(asked[1], "sh");
    ck_assert_str_eq(asked[2], "bin/sh");
    p[1].errhandler = "mpi_errors_return";
    ck_assert_int_eq(boot_spawn_begin(&m, p, 3, &fd), 0);
    ck_assert_str_eq(asked[1] + strlen(asked[1]) - 3, "/sh");
    p[0] = (struct boot_program){.command = "usr", .n = 1, .path = "/"}; /* a directory */
    ck_assert_int_eq(boot_spawn_begin(&m, p, 1, &fd), -ENOENT);
    p[0].path = NULL;
    p[0].command = "/usr";
    ck_assert_int_eq(boot_spawn_begin(&m, p, 1, &fd), -ENOENT);
    p[0].host = "here"; /* it may have others */
    ck_assert_int_eq(boot_spawn_begin(&m, p, 1, &fd), 0);
    end();
}
END_TEST

START_TEST(request_bounds)
{
    ck_assert_int_eq(request(0, 0, 1), 0);
    ck_assert_int_eq(request(900, 1, 1), 0);
    ck_assert_int_eq(request(1000, 1, 1), -E2BIG);
    ck_assert_int_eq(request(400, 1, 2), 0);
    ck_assert_int_eq(request(400, 1, 3), -E2BIG);
    ck_assert_int_eq(request(1, 65000, 1), 0);
    ck_assert_int_eq(request(1, 1 << 16, 1), -E2BIG);
    ck_assert_int_eq(request(1, 40000, 2), -E2BIG);
}
END_TEST

/* Hydra takes no variables: env(1) sets the one that there is. */
START_TEST(request_errhandler)
{
    char *words[] = {"first", NULL}, *text;
    struct boot_program p = {.command = "./prog", .n = 1, .argv = words, .errhandler = "h"};
    ck_assert_int_eq(pmi1_spawn_text(&p, 1, "1.2.3.4.port", &text), 0);
    ck_assert_ptr_nonnull(strstr(text, "\nexecname=env\n"));
    ck_assert_ptr_nonnull(strstr(text, "\narg1=MPIR_CVAR_INITIAL_ERRHANDLER=h\narg2=./prog\n"
                                       "arg3=first\nargcnt=3\n"));
    free(text);
    p.command = "./a=b";
    ck_assert_int_eq(pmi1_spawn_text(&p, 1, "1.2.3.4.port", &text), -EINVAL);
    free(text);
    p.errhandler = NULL;
    ck_assert_int_eq(pmi1_spawn_text(&p, 1, "1.2.3.4.port", &text), 0);
    ck_assert_ptr_nonnull(strstr(text, "\nexecname=./a=b\n"));
    free(text);
}
END_TEST

START_TEST(request_words)
{
    char *words[2] = {NULL, NULL}, *text;
    struct boot_program p = {.command = "sh", .n = 1, .argv = words};
    static const struct {
        const char *word;
        int err;
    } tried[] = {{"endcmd", -EINVAL}, {"not the endcmd", -EINVAL}, {"endcmd.", 0},
                 {"a\nb", -EINVAL},   {"a\n", -EINVAL},            {"", 0},
                 {"a=b c", 0}};
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        words[0] = (char *)tried[i].word;
        int err = pmi1_spawn_text(&p, 1, "1.2.3.4.port", &text);
        ck_assert_msg(err == tried[i].err, "\"%s\": %d", tried[i].word, err);
        free(text);
    }
}
END_TEST

START_TEST(numbers_damaged)
{
#define PORT "windrose-0000000000000001:00"
    static const char *const bad[] = {
        "x", "4.16382.6.8", "4.16382.6.8." "port", "0.16382.6.8." PORT, "4.16382.5.8." PORT,
        "4.16382.6.5." PORT, "4.16382.6.8.far.far." PORT, "4.16382.6.8.fa." PORT,
        "4.16382.6.8.far.", "4.7.6.8." PORT, "-4.16382.6.8." PORT, "4.16382.6." PORT};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(begin(0, 2, bad[i]) == -EPROTO, "%s", bad[i]);
    ck_assert_int_eq(begin(1, 2, "4.16382.6.8." PORT), 0);
    ck_assert_int_eq(boot_rank(), 5);
    ck_assert_str_eq(boot_parent_port(), PORT);
    end();
}
END_TEST

/* --- several hosts --------------------------------------------------------------------------- */

/* Is what a job has to be told, and was it told, that a network leads to the others? */
static int is_far(const char *given)
{
    ck_assert_int_eq(begin(0, 4, given), 0);
    int far = boot_far(), err;
    while ((err = spawn(1)) == -EAGAIN) /* the family that is given is not this test's own */
        usleep(1000);
    ck_assert_int_eq(err, 0);
    ck_assert_int_eq(strstr(gave, ".far.windrose-") != NULL, far);
    ck_assert(!*given || !strcmp(boot_parent_port(), PORT));
    end();
    return far;
}

START_TEST(far)
{
    ck_assert_int_eq(is_far(""), 0);
    ck_assert_int_eq(is_far("4.16382.8.18." PORT), 0);
    ck_assert_int_eq(is_far("4.16382.8.18.far." PORT), 1);
    my_hosts = 2;
    ck_assert_int_eq(is_far(""), 1);
    ck_assert_int_eq(is_far("4.16382.8.18.far." PORT), 1);
    pid_t child = fork();
    if (!child) {
        (void)begin(0, 4, "4.16382.8.18." PORT);
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 41);
    my_hosts = 1;
    setenv("MPIR_CVAR_TRANSPORT", "ofi", 1);
    ck_assert_int_eq(is_far(""), 1);
    ck_assert_int_eq(is_far("4.16382.8.18." PORT), 0);
    setenv("MPIR_CVAR_TRANSPORT", "shm", 1);
    ck_assert_int_eq(is_far(""), 0);
    setenv("MPIR_CVAR_TRANSPORT", "self", 1);
    ck_assert_int_eq(is_far(""), 0);
}
END_TEST

/* Of a first job. Over several hosts at least a quarter of it is free. */
START_TEST(places)
{
    static const struct {
        int hosts, size, places;
    } tried[] = {{1, 4, PLACES},     {2, 4, PLACES},           {1, 8191, PLACES},
                 {1, 8192, 32766},   {2, 8192, PLACES},        {2, 13106, PLACES},
                 {2, 13108, 32766},  {1, 32768, (1 << 17) - 2}, {2, 32768, 65534},
                 {2, 65536, 131070}};
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        my_hosts = tried[i].hosts;
        ck_assert_int_eq(begin(0, tried[i].size, ""), 0);
        ck_assert_int_eq(boot_universe(), tried[i].places);
        const struct family *d = proc->boot->family;
        ck_assert_int_eq(d->end, tried[i].places);
        ck_assert_int_eq(d->free, tried[i].size + (tried[i].places - tried[i].size) / 2);
        end();
    }
}
END_TEST

/* Processes 4 to 7 are this job: 4 and 5 here, 6 and 7 elsewhere. */
START_TEST(other_hosts)
{
    my_hosts = 2;
    ck_assert_int_eq(begin(1, 4, "4.16382.8.18.far." PORT), 0);
    struct boot *b = proc->boot;
    ck_assert_int_eq(boot_rank(), 5);
    for (int i = 0; i < 10; i++)
        ck_assert_msg(boot_is_near(i) == (i == 4 || i == 5), "%d", i);
    ck_assert_int_ne(boot_host_of(b, 0), boot_host_of(b, 1)); /* it is not known */
    boot_near_take(1);
    ck_assert_int_eq(boot_is_near(1), 1);
    ck_assert_int_eq(boot_is_near(0), 0);
    ck_assert_int_eq(boot_is_near(-1) + boot_is_near(16382), 0);
    boot_fail_take(b, 7, BOOT_APART, "its host is silent");
    for (int i = 0; i < 10; i++)
        ck_assert_msg(boot_failed(i) == (i == 6 || i == 7), "%d", i);
    boot_fail_take(b, 7, BOOT_HOST, "its host is silent");
    for (const struct boot_death *d = atomic_load(&b->deaths); d; d = d->next)
        ck_assert_int_eq(atomic_load(&d->scope), BOOT_HOST);
    boot_fail_take(b, 0, BOOT_HOST, "its host is silent");
    boot_fail_take(b, 0, BOOT_HOST, "its host is silent");
    ck_assert_int_eq(boot_failed(0), 1);
    ck_assert_int_eq(boot_failed_count(), 3);
    ck_assert_int_eq(boot_failed_own(), 2);
    end();
}
END_TEST

static int nleft;

static void one_left(void)
{
    nleft++;
}

/* A process that has said that it ends does not fail; one that has failed does not say so. */
START_TEST(leaves)
{
    ck_assert_int_eq(begin(0, 4, "4.16382.8.18." PORT), 0);
    ck_assert_int_eq(boot_has_left(1), 0);
    boot_on_leave(one_left);
    boot_leaves(1);
    boot_leaves(1); /* nothing new */
    boot_leaves(5); /* of this job */
    boot_leaves(-1);
    boot_leaves(16382);
    ck_assert_int_eq(nleft, 1);
    for (int i = -1; i < 10; i++)
        ck_assert_msg(boot_has_left(i) == (i == 1) && !boot_failed(i), "%d", i);
    boot_fail_now(1, "late news");
    boot_fail_take(proc->boot, 1, BOOT_HOST, "late news");
    ck_assert_int_eq(boot_failed(1) + boot_failed_count(), 0);
    boot_fail_now(2, "news");
    boot_leaves(2);
    ck_assert_int_eq(boot_failed(2), 1);
    ck_assert_int_eq(boot_has_left(2), 0);
    ck_assert_int_eq(nleft, 1);
    end();
}
END_TEST

/* --- ports ----------------------------------------------------------------------------------- */

START_TEST(names)
{
    char port[BOOT_PORT_MAX], other[BOOT_PORT_MAX];
    struct family_name n;
    ck_assert_int_eq(begin(0, 1, ""), 0);
    const struct family *d = proc->boot->family;
    ck_assert_int_eq(boot_port_open(port), 0);
    ck_assert_int_eq(family_name_read(d, port, &n), 0);
    ck_assert_uint_ge(n.spots, 1);
    for (size_t len = strlen(port); len-- > 0;) { /* cut at any place but before an address */
        snprintf(other, sizeof other, "%.*s", (int)len, port);
        int err = family_name_read(d, other, &n);
        ck_assert_msg(err == -ENOENT || err == -EXDEV || (!err && port[len] == '.'), "%s",
                      other);
    }
    for (size_t i = 0; i < strlen(port); i++) {
        snprintf(other, sizeof other, "%s", port);
        other[i] = 'z';
        ck_assert_int_ne(family_name_read(d, other, &n), 0);
    }
    ck_assert_int_eq(family_name_read(d, "windrose-0123456789abcdef:00", &n), -EXDEV);
    ck_assert_int_eq(boot_port_close("windrose-"), -ENOENT);
    ck_assert_int_eq(boot_port_close(port), 0);
    ck_assert_int_eq(boot_port_close(port), -ENOENT);
    end();
}
END_TEST

/* --- meetings -------------------------------------------------------------------------------- */

struct side {
    struct boot_meeting m;
    int fd, result;
};

static void side_begin(struct side *s, int accepts, const char *port, const char *bring)
{
    s->fd = -1;
    s->result = 0;
    ck_assert_int_eq(boot_meet_begin(&s->m, accepts, port, bring, strlen(bring), &s->fd), 0);
}

static void look(struct side *s)
{
    s->result = s->result ? s->result : boot_meet_test(&s->m);
}

/* Until all have an answer, asleep between two looks: each answer makes a descriptor readable. */
static void run(struct side *s, int n)
{
    for (int left = n; left;) {
        struct pollfd p[4];
        left = 0;
        for (int i = 0; i < n; i++) {
            look(&s[i]);
            p[i] = (struct pollfd){.fd = s[i].result ? -1 : s[i].fd, .events = POLLIN};
            left += !s[i].result;
        }
        if (left)
            ck_assert_int_ge(poll(p, (nfds_t)n, 20000), 1);
    }
}

static void met(const struct side *s, const char *brought)
{
    ck_assert_int_eq(s->result, 1);
    ck_assert_uint_eq(s->m.len, strlen(brought));
    ck_assert(!memcmp(s->m.brought, brought, s->m.len));
}

static char port[BOOT_PORT_MAX];

static void open_port(void)
{
    ck_assert_int_eq(begin(0, 1, ""), 0);
    ck_assert_int_eq(boot_port_open(port), 0);
}

START_TEST(two_meet)
{
    struct side s[2];
    open_port();
    for (int first = 0; first < 2; first++) { /* the one that accepts, or the other */
        for (int i = 0; i < 2; i++) {
            int accepts = i == first;
            side_begin(&s[i], accepts, port, accepts ? "from the port" : "x");
            look(&s[i]);
        }
        run(s, 2);
        met(&s[first], "x");
        met(&s[!first], "from the port");
    }
    end();
}
END_TEST

/* Each gets one, whatever the order. */
START_TEST(four_meet)
{
    struct side s[4];
    open_port();
    side_begin(&s[0], 1, port, "a");
    side_begin(&s[1], 1, port, "b");
    side_begin(&s[2], 0, port, "c");
    side_begin(&s[3], 0, port, "d");
    run(s, 4);
    ck_assert_int_eq(s[0].m.brought[0] + s[1].m.brought[0], 'c' + 'd');
    ck_assert_int_eq(s[2].m.brought[0] + s[3].m.brought[0], 'a' + 'b');
    end();
}
END_TEST

/* One that connects goes, before the other has accepted and after it has read its frame. */
START_TEST(one_leaves)
{
    struct side s[3];
    open_port();
    side_begin(&s[0], 0, port, "early");
    for (int i = 0; i < 100; i++)
        look(&s[0]);
    ck_assert_int_eq(s[0].result, 0);
    ck_assert_int_eq(boot_meet_leave(&s[0].m), 0);
    run(s, 1);
    ck_assert_int_eq(s[0].result, -ECANCELED);
    side_begin(&s[1], 0, port, "late");
    for (int i = 0; i < 20; i++, usleep(1000))
        look(&s[1]); /* its frame has left */
    side_begin(&s[2], 1, port, "port");
    for (int i = 0; i < 20; i++, usleep(1000))
        look(&s[2]); /* without a look of the one that connects it has not met */
    ck_assert_int_eq(s[2].result, 0);
    ck_assert_int_eq(boot_meet_leave(&s[1].m), 0);
    run(s + 1, 1);
    ck_assert_int_eq(s[1].result, -ECANCELED);
    side_begin(&s[1], 0, port, "third");
    run(s + 1, 2);
    met(&s[1], "port");
    met(&s[2], "third");
    side_begin(&s[2], 1, port, "port");
    look(&s[2]);
    ck_assert_int_eq(boot_meet_leave(&s[2].m), 0);
    run(s + 2, 1);
    ck_assert_int_eq(s[2].result, -ECANCELED);
    end();
}
END_TEST

/* What a stranger is given here, instead of seconds. */
enum { SHORT_NS = 300000000 };

/* One that connects does nothing for a while, when its frame has left.  It may think that the two
 * have met: the other waits for it, asleep. */
START_TEST(held_up)
{
    struct side s[2];
    open_port();
    proc->boot->family->ports->stranger_ns = SHORT_NS;
    side_begin(&s[0], 1, port, "port");
    side_begin(&s[1], 0, port, "slow");
    for (int i = 0; i < 20; i++, usleep(1000))
        look(&s[1]); /* its frame has left */
    for (uint64_t until = time_now() + 3 * (uint64_t)SHORT_NS; time_now() < until; usleep(10000))
        look(&s[0]);
    ck_assert_int_eq(s[0].result, 0);
    struct pollfd p = {.fd = s[0].fd, .events = POLLIN};
    ck_assert_int_eq(poll(&p, 1, 0), 0);
    run(s, 2);
    met(&s[0], "slow");
    met(&s[1], "port");
    end();
}
END_TEST

static int stranger(void)
{
    struct family_name n;
    struct sockaddr_storage a;
    ck_assert_int_eq(family_name_read(proc->boot->family, port, &n), 0);
    socklen_t len = detector_spot_sockaddr(&n.spot[0], &a);
    int fd = socket(a.ss_family, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, len), 0);
    return fd;
}

/* Strangers that go, that say the wrong thing or a part of it, and that are silent, are no meeting;
 * nor are more than are looked at a time. */
START_TEST(strangers)
{
    enum { GONE = 40, CUT = GONE, NOISE, SILENT, ALL };
    struct side s[2];
    int fd[ALL];
    static const char noise[2000] = "1MRW";
    open_port();
    proc->boot->family->ports->stranger_ns = SHORT_NS;
    for (int i = 0; i < ALL; i++) {
        fd[i] = stranger();
        if (i == CUT || i == NOISE)
            ck_assert_int_gt(send(fd[i], noise, i == CUT ? 10 : sizeof noise, MSG_NOSIGNAL), 0);
        if (i == CUT)
            shutdown(fd[i], SHUT_WR);
        if (i < GONE)
            close(fd[i]);
    }
    side_begin(&s[0], 1, port, "port");
    side_begin(&s[1], 0, port, "friend");
    run(s, 2);
    met(&s[0], "friend");
    for (int i = GONE; i < ALL; i++)
        close(fd[i]);
    end();
}
END_TEST

/* A stranger that stays holds up no side that leaves, nor one that waits at a closed port. */
START_TEST(stranger_stays)
{
    for (int closes = 0; closes < 2; closes++) {
        struct side s[1];
        open_port();
        struct pollfd p = {.fd = proc->boot->family->ports->fd, .events = POLLIN};
        int fd = stranger();
        ck_assert_int_eq(send(fd, "1MRW", 4, MSG_NOSIGNAL), 4); /* the kernel may wait for some */
        ck_assert_int_eq(poll(&p, 1, 20000), 1);
        side_begin(s, 1, port, "port");
        look(s);
        ck_assert_int_eq(s->result, 0);
        ck_assert_int_eq(closes ? boot_port_close(port) : boot_meet_leave(&s->m), 0);
        look(s);
        ck_assert_int_eq(s->result, closes ? -ENOENT : -ECANCELED);
        close(fd);
        end();
    }
}
END_TEST

START_TEST(port_closed)
{
    struct side s[3];
    open_port();
    side_begin(&s[0], 0, port, "waits");
    side_begin(&s[1], 1, port, "port");
    side_begin(&s[2], 1, port, "port");
    look(&s[1]);
    look(&s[2]);
    look(&s[1]);
    ck_assert_int_eq(boot_port_close(port), 0);
    ck_assert_int_eq(boot_meet_leave(&s[0].m), 0);
    run(s, 3);
    ck_assert_int_eq(s[1].result, -ENOENT);
    ck_assert_int_eq(s[2].result, -ENOENT);
    side_begin(&s[0], 0, port, "late");
    run(s, 1);
    ck_assert_int_eq(s[0].result, -ENOENT);
    ck_assert_int_eq(boot_meet_begin(&s[0].m, 1, port, "x", 1, &s[0].fd), -EACCES);
    end();
}
END_TEST

/* One of the two cannot go on when it sees what the other brings: both calls end, and the port is
 * there for the next two. */
static int looks;

static int refuses(struct boot_meeting *m, void *arg)
{
    looks++;
    ck_assert_uint_eq(m->len, strlen(arg));
    ck_assert(!memcmp(m->brought, arg, m->len));
    return -EHOSTUNREACH;
}

static int agrees(struct boot_meeting *m, void *arg)
{
    looks += m->len == strlen(arg);
    return 0;
}

START_TEST(one_refuses)
{
    for (int side = 0; side < 2; side++) { /* the one that accepts, or the other */
        struct side s[2];
        open_port();
        looks = 0;
        side_begin(&s[0], 1, port, "from the port");
        side_begin(&s[1], 0, port, "x");
        boot_meet_judge(&s[side].m, refuses, side ? "from the port" : "x");
        run(s, 2);
        ck_assert_int_eq(s[side].result, -EHOSTUNREACH);
        ck_assert_int_eq(s[!side].result, -ECONNREFUSED);
        ck_assert_int_eq(looks, 1);
        looks = 0;
        side_begin(&s[0], 1, port, "from the port");
        side_begin(&s[1], 0, port, "x");
        boot_meet_judge(&s[0].m, agrees, "x");
        boot_meet_judge(&s[1].m, agrees, "from the port");
        run(s, 2);
        met(&s[0], "x");
        met(&s[1], "from the port");
        ck_assert_int_eq(looks, 2);
        end();
    }
}
END_TEST

/* Where a child of fork() has the socket, too; and one that is left open. */
START_TEST(port_copied)
{
    struct side s[1];
    open_port();
    int copy = dup(proc->boot->family->ports->fd);
    ck_assert_int_eq(boot_port_close(port), 0);
    side_begin(s, 0, port, "late");
    run(s, 1);
    ck_assert_int_eq(s->result, -ENOENT);
    close(copy);
    ck_assert_int_eq(boot_port_open(port), 0);
    proc->boot->family->ports->waits = 1; /* a meeting that nothing has tested to its end */
    end();
}
END_TEST

/* The answer that a program cannot be started is read by another call. */
START_TEST(spawn_refused)
{
    struct boot_meeting m;
    struct boot_program p = {.command = "sh", .n = 1};
    int fd;
    ck_assert_int_eq(begin(0, 1, ""), 0);
    ck_assert_int_eq(boot_spawn_begin(&m, &p, 1, &fd), 0);
    ck_assert_ptr_nonnull(proc->boot->family->ports);
    m.done = 1;
    m.rc = -EIO;
    ck_assert_int_eq(boot_meet_test(&m), -EIO);
    ck_assert_ptr_null(proc->boot->family->ports);
    ck_assert_int_eq(boot_meet_test(&m), -EIO);
    end();
}
END_TEST

/* A process of the family has asked, and says so. Then it has its answer, or dies, or neither. */
enum asker { ANSWERED, DEAD, NEITHER };

static pid_t asks(enum asker how, int said[2], int stop[2])
{
    struct boot_meeting m;
    struct boot_program p = {.command = "sh", .n = 1};
    int fd;
    char c;
    pid_t pid = fork();
    if (pid)
        return pid;
    close(stop[1]);
    if (boot_spawn_begin(&m, &p, 1, &fd) || write(said[1], "1", 1) != 1)
        _exit(1);
    usleep(100000);
    if (how != NEITHER && write(said[1], "2", 1) != 1)
        _exit(1);
    m.done = 1;
    m.rc = 0;
    if (how == ANSWERED && boot_meet_test(&m) != 1)
        _exit(1);
    if (how != DEAD && read(stop[0], &c, 1) != 0)
        _exit(1);
    _exit(0);
}

/* Hydra would add its later programs to this one's job. */
START_TEST(one_asks)
{
    for (enum asker how = ANSWERED; how <= NEITHER; how++) {
        int said[2], stop[2], status;
        char c;
        ck_assert_int_eq(pipe(said) | pipe(stop), 0);
        ck_assert_int_eq(begin(0, 1, ""), 0);
        pid_t pid = asks(how, said, stop);
        ck_assert_int_eq(read(said[0], &c, 1), 1);
        cvar.boot_timeout = how == NEITHER ? 1 : 10000;
        int err;
        while ((err = spawn(1)) == -EAGAIN)
            usleep(1000);
        ck_assert_int_eq(err, 0);
        struct pollfd late = {.fd = said[0], .events = POLLIN};
        ck_assert_int_eq(poll(&late, 1, 0), how != NEITHER); /* that has waited */
        ck_assert_int_eq(spawn(1), 0); /* the same process need not */
        close(stop[0]);
        close(stop[1]);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(status, 0);
        close(said[0]);
        close(said[1]);
        end();
    }
}
END_TEST

/* A process of the family has several answers, 0.5 s apart, and a request is always under way. The
 * time that others wait counts from the last answer. Each answer wakes them. */
START_TEST(turn_moves_on)
{
    enum { ANSWERS = 5 };
    struct boot_meeting m[2];
    struct boot_program p = {.command = "sh", .n = 1};
    int said[2], status, fd;
    char c;
    ck_assert_int_eq(pipe(said), 0);
    ck_assert_int_eq(begin(0, 1, ""), 0);
    cvar.boot_timeout = 1;
    pid_t pid = fork();
    if (!pid) {
        if (boot_spawn_begin(&m[0], &p, 1, &fd) || write(said[1], "1", 1) != 1)
            _exit(1);
        for (int i = 0; i < ANSWERS; i++) {
            if (i + 1 < ANSWERS && boot_spawn_begin(&m[(i + 1) % 2], &p, 1, &fd))
                _exit(2);
            usleep(500000);
            if (i + 1 == ANSWERS && write(said[1], "2", 1) != 1)
                _exit(3);
            m[i % 2].done = 1;
            m[i % 2].rc = 0;
            if (boot_meet_test(&m[i % 2]) != 1)
                _exit(4);
        }
        pause();
    }
    ck_assert_int_eq(read(said[0], &c, 1), 1);
    int err, woken = 0;
    while ((err = boot_spawn_begin(&m[0], &p, 1, &fd)) == -EAGAIN) {
        struct pollfd f = {.fd = fd, .events = POLLIN};
        if (fd >= 0)
            woken += poll(&f, 1, 200);
        else /* just where it ends */
            usleep(1000);
    }
    ck_assert_int_eq(err, 0);
    ck_assert_int_ge(woken, ANSWERS - 1);
    struct pollfd late = {.fd = said[0], .events = POLLIN};
    ck_assert_int_eq(poll(&late, 1, 0), 1);
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status));
    close(said[0]);
    close(said[1]);
    end();
}
END_TEST

/* Another user has taken the name: not waited for. (root only: else it is of this user.) */
START_TEST(turn_of_a_stranger)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char c, said[2];
    int pair[2], status;
    ck_assert_int_eq(begin(0, 1, ""), 0);
    cvar.boot_timeout = geteuid() ? 1 : 10000;
    int n = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "windrose-%016llx:spawn",
                     (unsigned long long)proc->boot->family->family);
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    pid_t pid = fork();
    if (!pid) {
        int s = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        close(pair[0]);
        if ((!geteuid() && setuid(1)) || bind(s, (struct sockaddr *)&a, len) || listen(s, 1) ||
            write(pair[1], "1", 1) != 1)
            _exit(1);
        _exit(read(pair[1], said, 1) != 0);
    }
    close(pair[1]);
    ck_assert_int_eq(read(pair[0], &c, 1), 1);
    int err = spawn(1);
    ck_assert_int_eq(err, geteuid() ? -EAGAIN : 0);
    while (err == -EAGAIN && usleep(10000) == 0)
        err = spawn(1);
    ck_assert_int_eq(err, 0);
    close(pair[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    end();
}
END_TEST

/* No process listens at the name: not waited for as long as an answer. */
START_TEST(turn_of_none)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int s = socket(AF_UNIX, SOCK_SEQPACKET, 0), err, looks = 0;
    ck_assert_int_eq(begin(0, 1, ""), 0);
    cvar.boot_timeout = 10000;
    int n = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "windrose-%016llx:spawn",
                     (unsigned long long)proc->boot->family->family);
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    ck_assert_int_eq(bind(s, (struct sockaddr *)&a, len), 0);
    for (; (err = spawn(1)) == -EAGAIN; looks++)
        usleep(10000);
    ck_assert_int_eq(err, 0);
    ck_assert_int_gt(looks, 1);
    close(s);
    end();
}
END_TEST

/* A program that was started and does not come. */
START_TEST(never_comes)
{
    struct side s[1];
    struct boot_meeting m;
    struct boot_program p = {.command = "sh", .n = 1};
    int fd;
    ck_assert_int_eq(begin(0, 1, ""), 0);
    cvar.boot_timeout = 1;
    ck_assert_int_eq(boot_spawn_begin(&m, &p, 1, &fd), 0);
    m.brought[m.len] = 0;
    side_begin(s, 1, (char *)m.brought, "parent");
    run(s, 1);
    ck_assert_int_eq(s->result, -ECHILD);
    end();
}
END_TEST

Suite *suite_family(void)
{
    Suite *s = suite_create("family");
    TCase *t = tcase_create("family");
    tcase_add_test(t, numbers_once);
    tcase_add_test(t, numbers_deep);
    tcase_add_test(t, numbers_end);
    tcase_add_test(t, numbers_damaged);
    tcase_add_test(t, far);
    tcase_add_test(t, places);
    tcase_add_test(t, other_hosts);
    tcase_add_test(t, leaves);
    tcase_add_test(t, request_path);
    tcase_add_test(t, request_bounds);
    tcase_add_test(t, request_errhandler);
    tcase_add_test(t, request_words);
    tcase_add_test(t, names);
    tcase_add_test(t, two_meet);
    tcase_add_test(t, four_meet);
    tcase_add_test(t, one_leaves);
    tcase_add_test(t, held_up);
    tcase_add_test(t, strangers);
    tcase_add_test(t, stranger_stays);
    tcase_add_test(t, port_closed);
    tcase_add_test(t, one_refuses);
    tcase_add_test(t, port_copied);
    tcase_add_test(t, spawn_refused);
    tcase_add_test(t, one_asks);
    tcase_add_test(t, turn_moves_on);
    tcase_add_test(t, turn_of_a_stranger);
    tcase_add_test(t, turn_of_none);
    tcase_add_test(t, never_comes);
    suite_add_tcase(s, t);
    return s;
}

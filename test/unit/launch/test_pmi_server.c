/* test_pmi_server.c - launch/pmi_server.c: requests, bad puts, barriers, barriers ahead, gone,
 * abort text, pieces, hostile. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "launch/pmi_server.h"

Suite *suite_pmi_server(void);

enum { RANKS = 3, SPAWNED = 2 };

/* What the server answered and did, per rank. */
static char heard[RANKS + SPAWNED + 1][8192];
static int aborted_by, abort_code, abort_own, broken_ranks, strangers, aparts;
static char abort_why[1100];

static void reply(void *arg, int rank, const char *line, size_t len)
{
    strncat(heard[rank], line, len);
}

static void aborted(void *arg, int rank, int code, int own, const char *why)
{
    aborted_by = rank;
    abort_own = own;
    abort_code = code;
    strcpy(abort_why, why);
}

static void broken(void *arg, int rank, const char *how)
{
    ck_assert(*how);
    broken_ranks |= 1 << rank;
}

static int appnum(void *arg, int rank)
{
    return rank * 10;
}

static void stranger(void *arg, int rank)
{
    strangers |= 1 << rank;
}

static void apart(void *arg)
{
    aparts++;
}

static struct pmi_server *server(void)
{
    static const struct pmi_host host = {reply,    aborted, broken, appnum,
                                         stranger, apart,   NULL,   NULL};
    struct pmi_server *s;
    aborted_by = -1;
    broken_ranks = strangers = aparts = 0;
    ck_assert_int_eq(pmi_server_new(&s, RANKS, 7, "kvs_x", &host), 0);
    return s;
}

/* Send text as a rank; what it hears must be `expected`. */
static void tell(struct pmi_server *s, int rank, const char *text, const char *expected)
{
    heard[rank][0] = 0;
    pmi_feed(s, rank, text, strlen(text));
    ck_assert_str_eq(heard[rank], expected);
}

START_TEST(requests)
{
    struct pmi_server *s = server();
    ck_assert(!pmi_initialized(s, 1) && !pmi_met(s));
    tell(s, 1, "cmd=init pmi_version=1 pmi_subversion=1\n",
         "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    ck_assert(pmi_initialized(s, 1) && pmi_pid(s, 1) == 0 && pmi_met(s));
    tell(s, 2, "cmd=init pmi_version=1 pmi_subversion=1 pid=77 where=7f0012345678\n",
         "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    ck_assert_int_eq(pmi_pid(s, 2), 77);
    ck_assert_uint_eq(pmi_where(s, 2), 0x7f0012345678);
    ck_assert_uint_eq(pmi_where(s, 1), 0);
    tell(s, 0, "cmd=init pmi_version=2 pmi_subversion=0\n",
         "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n");
    ck_assert(!pmi_initialized(s, 0));
    ck_assert_int_eq(strangers, 1 << 1); /* it joined, and sent no pid */
    ck_assert_int_eq(aparts, 0);
    tell(s, 2, "cmd=init pmi_version=1 pmi_subversion=1 pid=77 net=0\n",
         "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    tell(s, 2, "cmd=init pmi_version=1 pmi_subversion=1 pid=77 net=f0000098\n",
         "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    ck_assert_int_eq(aparts, 0);
    tell(s, 1, "cmd=init pmi_version=1 pmi_subversion=1 pid=78 net=f0000099\n",
         "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    ck_assert_int_eq(aparts, 1);
    tell(s, 1, "cmd=get_maxes\n", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024 rc=0\n");
    tell(s, 1, "cmd=get_appnum\n", "cmd=appnum appnum=10 rc=0\n");
    tell(s, 1, "cmd=get_universe_size\n", "cmd=universe_size size=7 rc=0\n");
    tell(s, 1, "cmd=get_my_kvsname\n", "cmd=my_kvsname kvsname=kvs_x rc=0\n");
    tell(s, 1, "cmd=get kvsname=kvs_x key=PMI_process_mapping\n",
         "cmd=get_result rc=0 msg=success value=(vector,(0,1,3))\n");
    tell(s, 1, "cmd=put kvsname=kvs_x key=k value=v=1\n", "cmd=put_result rc=0 msg=success\n");
    tell(s, 2, "cmd=get kvsname=kvs_x key=k\n", "cmd=get_result rc=0 msg=success value=v=1\n");
    tell(s, 2, "cmd=get kvsname=other key=k\n",
         "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
    tell(s, 2, "cmd=get kvsname=kvs_x\n", "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
    tell(s, 1, "cmd=finalize\n", "cmd=finalize_ack rc=0\n");
    ck_assert(pmi_finalized(s, 1) && !pmi_initialized(s, 1) && pmi_met(s));
    tell(s, 1, "cmd=lookup_name service=x\n",
         "cmd=lookup_result rc=-2 value=-\n");
    tell(s, 1, "mcmd=spawn\nnprocs=2\nargcnt=0\nendcmd\n",
         "cmd=spawn_result rc=-1 msg=not_supported info=not_supported\n");
    ck_assert_int_eq(broken_ranks, 0);
    pmi_server_free(s);
}
END_TEST

START_TEST(bad_puts)
{
    struct pmi_server *s = server();
    char line[3000], key[80], value[1100];
    memset(key, 'k', sizeof key);
    memset(value, 'v', sizeof value);
    key[63] = value[1023] = 0; /* the longest */
    snprintf(line, sizeof line, "cmd=put kvsname=kvs_x key=%s value=%s\n", key, value);
    tell(s, 0, line, "cmd=put_result rc=0 msg=success\n");
    key[63] = 'k';
    key[64] = 0;
    snprintf(line, sizeof line, "cmd=put kvsname=kvs_x key=%s value=%s\n", key, value);
    tell(s, 0, line, "cmd=put_result rc=-1 msg=bad_key\n");
    value[1023] = 'v';
    value[1024] = 0;
    snprintf(line, sizeof line, "cmd=put kvsname=kvs_x key=k value=%s\n", value);
    tell(s, 0, line, "cmd=put_result rc=-1 msg=bad_value\n");
    tell(s, 0, "cmd=put kvsname=kvs_x key= value=1\n", "cmd=put_result rc=-1 msg=bad_key\n");
    tell(s, 0, "cmd=put kvsname=kvs_x key=k\n", "cmd=put_result rc=-1 msg=bad_value\n");
    tell(s, 0, "cmd=put key=k value=1\n", "cmd=put_result rc=-1 msg=unknown_kvsname\n");
    pmi_server_free(s);
}
END_TEST

START_TEST(barriers)
{
    struct pmi_server *s = server();
    for (int round = 0; round < 3; round++) {
        memset(heard, 0, sizeof heard);
        tell(s, round, "cmd=barrier_in\n", "");
        ck_assert_int_eq(pmi_waiting(s, 0), 1);
        tell(s, (round + 1) % 3, "cmd=barrier_in\n", "");
        tell(s, (round + 2) % 3, "cmd=barrier_in\n", "cmd=barrier_out\n");
        for (int r = 0; r < RANKS; r++)
            ck_assert_str_eq(heard[r], "cmd=barrier_out\n");
        ck_assert_int_eq(pmi_waiting(s, 0), 0);
    }
    pmi_server_free(s);
}
END_TEST

/* A rank that does not wait for the end of a barrier is in the next one too, and no further. */
START_TEST(barriers_ahead)
{
    struct pmi_server *s = server();
    for (int i = 0; i < 3; i++)
        tell(s, 0, "cmd=barrier_in\n", "");
    ck_assert_int_eq(pmi_waiting(s, 0), 1);
    tell(s, 1, "cmd=barrier_in\n", "");
    tell(s, 2, "cmd=barrier_in\n", "cmd=barrier_out\n");
    ck_assert_str_eq(heard[0], "cmd=barrier_out\n");
    ck_assert_int_eq(pmi_waiting(s, 0), 1);
    tell(s, 1, "cmd=barrier_in\n", "");
    tell(s, 2, "cmd=barrier_in\n", "cmd=barrier_out\n");
    ck_assert_int_eq(pmi_waiting(s, 0), 0);
    tell(s, 0, "cmd=barrier_in\n", "");
    tell(s, 0, "cmd=barrier_in\n", "");
    pmi_gone(s, 0, 1); /* neither of the two counts any more */
    ck_assert_int_eq(pmi_waiting(s, 0), 0);
    pmi_server_free(s);
}
END_TEST

/* With go_on a rank that is gone counts as arrived, at once and later; without, the barrier stays
 * shut. */
START_TEST(gone)
{
    struct pmi_server *s = server();
    tell(s, 0, "cmd=barrier_in\n", "");
    tell(s, 1, "cmd=barrier_in\n", "");
    heard[0][0] = heard[1][0] = 0;
    pmi_gone(s, 2, 1);
    ck_assert_str_eq(heard[0], "cmd=barrier_out\n");
    ck_assert_str_eq(heard[1], "cmd=barrier_out\n");
    tell(s, 1, "cmd=barrier_in\n", "");
    pmi_gone(s, 1, 1); /* one that waits */
    ck_assert_int_eq(pmi_waiting(s, 0), 0);
    tell(s, 0, "cmd=barrier_in\n", "cmd=barrier_out\n");
    tell(s, 1, "cmd=get_appnum\n", ""); /* the dead are not heard */
    pmi_server_free(s);
    s = server();
    tell(s, 0, "cmd=barrier_in\n", "");
    tell(s, 1, "cmd=barrier_in\n", "");
    pmi_gone(s, 2, 0);
    pmi_gone(s, 2, 0);
    ck_assert_int_eq(pmi_waiting(s, 0), 2);
    pmi_server_free(s);
}
END_TEST

START_TEST(a_spawned_job)
{
    struct pmi_server *s = server();
    ck_assert_int_eq(pmi_world_add(s, RANKS, SPAWNED, 1), 0);
    char line[1200], hex[600];
    const char *port = pmi_world_port(s, RANKS + 1);
    pmi_hex(port, strlen(port), hex);
    ck_assert(pmi_alone(s, RANKS) && pmi_alone(s, RANKS + 1) && !pmi_alone(s, 0));
    ck_assert_int_eq(pmi_missing(s, RANKS), -1);
    tell(s, RANKS, "cmd=barrier_in\n", "");
    ck_assert_int_eq(pmi_missing(s, RANKS), -1);
    /* An end in its barrier is missed in its own job only; its parents get it as an error. */
    tell(s, RANKS + 1, "cmd=init pmi_version=1 pmi_subversion=1 pid=7\n",
         "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    pmi_gone(s, RANKS + 1, 0);
    ck_assert_int_eq(pmi_missing(s, RANKS), RANKS + 1);
    ck_assert_int_eq(pmi_missing(s, 0), -1);
    snprintf(line, sizeof line, "cmd=meet number=4 accepts=1 port=%s bring=00\n", hex);
    tell(s, 1, line, "cmd=met number=4 rc=-10\n");
    /* another one meets them */
    ck_assert_int_eq(pmi_world_add(s, RANKS + SPAWNED, 1, 1), 0);
    port = pmi_world_port(s, RANKS + SPAWNED);
    pmi_hex(port, strlen(port), hex);
    snprintf(line, sizeof line, "cmd=meet number=5 accepts=1 port=%s bring=00\n", hex);
    tell(s, 1, line, "");
    ck_assert(pmi_alone(s, RANKS + SPAWNED));
    snprintf(line, sizeof line, "cmd=meet number=6 accepts=0 port=%s bring=11\n", hex);
    tell(s, RANKS + SPAWNED, line, "cmd=met number=6 rc=0 brought=00\n");
    ck_assert(!pmi_alone(s, RANKS + SPAWNED) && pmi_alone(s, RANKS));
    /* When its processes have ended, only what they did stays known. */
    pmi_gone(s, RANKS + SPAWNED, 0);
    ck_assert_ptr_nonnull(pmi_world_port(s, RANKS + SPAWNED));
    pmi_world_forget(s, RANKS + SPAWNED);
    ck_assert_ptr_null(pmi_world_port(s, RANKS + SPAWNED));
    ck_assert(!pmi_initialized(s, RANKS + SPAWNED) && pmi_missing(s, RANKS + SPAWNED) == -1);
    ck_assert_int_eq(pmi_world_add(s, RANKS + SPAWNED + 1, 1, 1), 0);
    ck_assert_ptr_nonnull(pmi_world_port(s, RANKS + SPAWNED + 1));
    pmi_server_free(s);
}
END_TEST

/* Its port closes: it has a name that those that spawn never learn. */
START_TEST(a_job_that_does_not_start)
{
    struct pmi_server *s = server();
    char line[1200], hex[600];
    ck_assert_int_eq(pmi_world_add(s, RANKS, SPAWNED, 1), 0);
    const char *port = pmi_world_port(s, RANKS);
    pmi_hex(port, strlen(port), hex);
    snprintf(line, sizeof line, "cmd=meet number=2 accepts=0 port=%s bring=11\n", hex);
    tell(s, RANKS, line, ""); /* it runs, and the other one cannot be run */
    pmi_gone(s, RANKS + 1, _i);
    heard[1][0] = 0;
    pmi_spawned(s, 1, 4, RANKS, -13);
    ck_assert_str_eq(heard[1], "cmd=met number=4 rc=-13 brought=-\n");
    snprintf(line, sizeof line, "cmd=meet number=5 accepts=1 port=%s bring=00\n", hex);
    tell(s, 1, line, "cmd=met number=5 rc=-2\n");
    pmi_gone(s, RANKS, _i); /* it is killed: nothing is left to fail */
    tell(s, 1, line, "cmd=met number=5 rc=-2\n");
    pmi_server_free(s);
}
END_TEST

START_TEST(abort_text)
{
    struct pmi_server *s = server();
    tell(s, 2, "cmd=abort exitcode=5 text=6f6f7073\n", "");
    ck_assert(aborted_by == 2 && abort_code == 5 && !abort_own);
    ck_assert_str_eq(abort_why, "oops");
    tell(s, 1, "cmd=abort exitcode=-1\n", "");
    ck_assert(aborted_by == 1 && abort_code == -1);
    ck_assert_str_eq(abort_why, "");
    tell(s, 1, "cmd=abort exitcode=1 own=1\n", "");
    ck_assert(aborted_by == 1 && abort_own == 1);
    tell(s, 0, "cmd=abort exitcode=x text=6\n", "");
    ck_assert(aborted_by == 0 && abort_code == 1);
    ck_assert_str_eq(abort_why, "");
    pmi_server_free(s);
}
END_TEST

/* Lines in any pieces, several in one piece. */
START_TEST(pieces)
{
    struct pmi_server *s = server();
    static const char text[] = "cmd=put kvsname=kvs_x key=a value=1\ncmd=get kvsname=kvs_x key=a\n";
    static const char answer[] =
        "cmd=put_result rc=0 msg=success\ncmd=get_result rc=0 msg=success value=1\n";
    for (size_t piece = 1; piece < sizeof text; piece++) {
        heard[1][0] = 0;
        for (size_t at = 0; at < sizeof text - 1; at += piece) {
            size_t left = sizeof text - 1 - at;
            pmi_feed(s, 1, text + at, left < piece ? left : piece);
        }
        ck_assert_str_eq(heard[1], answer);
    }
    pmi_server_free(s);
}
END_TEST

START_TEST(hostile)
{
    struct pmi_server *s = server();
    char flood[10000];
    memset(flood, 'x', sizeof flood);
    pmi_feed(s, 0, flood, sizeof flood);
    ck_assert_int_eq(broken_ranks, 1);
    tell(s, 0, "cmd=get_appnum\n", ""); /* not listened to any more */
    pmi_feed(s, 1, "cmd=\0init\n", 10);
    ck_assert_int_eq(broken_ranks, 3);
    tell(s, 2, "no such thing\n", "");
    ck_assert_int_eq(broken_ranks, 7);
    pmi_server_free(s);
    static const char *const lines[] = {
        "\n",  "cmd\n", "cmd=\n", "cmd=initx\n",
        "=\n", " \n",   "init\n", "a= a= a= a= a= a= a= a= a= a= a= a= a= a= a= a= a= cmd=init\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        s = server();
        tell(s, 1, lines[i], "");
        ck_assert_int_eq(broken_ranks, 2);
        pmi_server_free(s);
    }
    /* random bytes never do more than that */
    unsigned r = 1;
    for (int round = 0; round < 200; round++) {
        s = server();
        for (int i = 0; i < 500; i++) {
            r = r * 1103515245u + 12345u;
            flood[i] = "cmd=putgetbarrier_in abort\nvaluekey \n=\377\1"[(r >> 16) % 40];
        }
        pmi_feed(s, (int)(r >> 8) % RANKS, flood, 500);
        pmi_server_free(s);
    }
}
END_TEST

Suite *suite_pmi_server(void)
{
    Suite *s = suite_create("launch/pmi_server");
    TCase *t = tcase_create("pmi_server");
    tcase_add_test(t, requests);
    tcase_add_test(t, bad_puts);
    tcase_add_test(t, barriers);
    tcase_add_test(t, barriers_ahead);
    tcase_add_test(t, gone);
    tcase_add_test(t, a_spawned_job);
    tcase_add_loop_test(t, a_job_that_does_not_start, 0, 2);
    tcase_add_test(t, abort_text);
    tcase_add_test(t, pieces);
    tcase_add_test(t, hostile);
    suite_add_tcase(s, t);
    return s;
}

/* test_detector.c - the watch against peers that the test plays (peers.h). */
#include "peers.h"
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

Suite *suite_watch(void);

START_TEST(refused)
{
    struct detector_card c;
    begin();
    peer_open(3, -1, &c);
    boot_detector_ask(2, &c, sizeof c);
    usleep(1500000);
    ck_assert_int_eq(boot_detector_proven(), 0);
    ck_assert_int_eq(boot_failed_count(), 0); /* nothing ever came from another host: W2 */
    prove();
    ck_assert_int_eq(boot_detector_proven(), 1);
    boot_detector_ask(2, &c, sizeof c);
    until_dead(2, 0.2, 2);
    ck_assert_int_eq(boot_failed_count(), 1);
    ck_assert_int_eq(boot_failed(5), 0); /* the host lives */
    ck_assert_int_eq(boot_failed_last(), 2);
    ck_assert_str_eq(boot_failed_why(2), "its process on there has ended");
    end();
}
END_TEST

/* Once is not enough: what refused it may not have been its host. */
START_TEST(refused_once)
{
    struct detector_card c;
    begin();
    prove();
    peer_open(3, -1, &c);
    boot_detector_ask(2, &c, sizeof c);
    usleep(20000);
    int fd = peer_again(&c);
    ck_assert_uint_eq(peer_answer(fd, &c, NULL, 0), 0);
    ck_assert_int_eq(boot_failed_count(), 0);
    close(fd);
    end();
}
END_TEST

/* W2: how long it was silent before any way out was known to work does not count. */
START_TEST(silent_before)
{
    struct detector_card c;
    int fill[FILL];
    begin();
    ck_assert_int_eq(boot_detector_wait(20000000), 0);
    ck_assert_int_eq(boot_detector_deaf(), 1);
    int fd = peer_open(3, 0, &c);
    struct sockaddr_in a = card_address(&c);
    for (int i = 0; i < FILL; i++) {
        fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)!connect(fill[i], (struct sockaddr *)&a, sizeof a);
    }
    usleep(50000);
    boot_detector_ask(2, &c, sizeof c);
    usleep(800000);
    prove();
    ck_assert_int_eq(boot_detector_wait(0), 1);
    ck_assert_int_eq(boot_detector_deaf(), 0);
    until_dead(2, 0.7, 4);
    for (int i = 0; i < FILL; i++)
        close(fill[i]);
    close(fd);
    end();
}
END_TEST

/* W8: its messages arrive, though it cannot be asked. */
START_TEST(spoke)
{
    struct hosts h;
    hosts_open(&h);
    for (int i = 0; i < 25; i++) {
        boot_detector_ask(2, &h.silent, sizeof h.silent);
        boot_detector_hear(2);
        usleep(100000);
    }
    usleep(2500000); /* no process has asked since it spoke */
    ck_assert_int_eq(boot_failed_count(), 0);
    boot_detector_ask(2, &h.silent, sizeof h.silent);
    until_dead(2, 0.9, 3);
    hosts_close(&h);
}
END_TEST

/* W8: of what it says after the first answer nothing is heard until it is asked again. */
START_TEST(spoke_and_asked)
{
    struct hosts h;
    hosts_open(&h);
    boot_detector_ask(2, &h.silent, sizeof h.silent);
    usleep(50000);
    boot_detector_hear(2);
    usleep(750000);
    boot_detector_ask(2, &h.silent, sizeof h.silent);
    until_dead(2, 0.9, 3);
    hosts_close(&h);
}
END_TEST

/* A process that is asked for a proof only is not judged. */
START_TEST(only_tried)
{
    struct hosts h;
    struct detector_card c;
    hosts_open(&h);
    peer_open(4, -1, &c);
    for (int i = 0; i < 25; i++) {
        boot_detector_try(2, &h.silent, sizeof h.silent);
        boot_detector_try(4, &c, sizeof c);
        usleep(100000);
    }
    ck_assert_int_eq(boot_failed_count(), 0);
    /* The last try may still be under way, and its refusals would count: it ends within 1 s. */
    usleep(1500000);
    boot_detector_ask(4, &c, sizeof c);
    until_dead(4, 0.2, 2);
    hosts_close(&h);
}
END_TEST

/* W7: nothing ever came from another host. Rank 2 is waited for, 1 is not. Rank 3 has heard of a
 * process, so it takes all this for a firewall. */
START_TEST(deaf)
{
    struct proc *first = proc, second = {0};
    struct detector_card c, d;
    struct detector_answer a;
    begin();
    peer_open(3, -1, &c);
    peer_open(4, -1, &d);
    proc = &second;
    me = 3;
    ck_assert_int_eq(boot_init(&mine), 0);
    ck_assert_int_eq(boot_detector_start(0), 0);
    boot_detector_hear(6); /* of this host: nothing new */
    ck_assert_int_eq(boot_detector_deaf(), 1);
    boot_detector_hear(1);
    ck_assert_int_eq(boot_detector_deaf(), 0);
    uint64_t from = time_now();
    do {
        proc = &second;
        boot_detector_ask(2, &c, sizeof c);
        ck_assert_int_eq(boot_failed_count(), 0);
        proc = first;
        boot_detector_ask(2, &c, sizeof c);
        boot_detector_try(1, &d, sizeof d);
        usleep(200000);
    } while (!boot_failed(2) && time_now() - from < 20000000000u);
    ck_assert_int_eq(boot_failed(2), 1);
    ck_assert_uint_gt(time_now() - from, 9500000000u);
    ck_assert_str_eq(boot_failed_why(2), "nothing was ever heard from its host there, for 10 s");
    ck_assert_int_eq(boot_failed(5), 1);
    ck_assert_int_eq(boot_failed(1), 0);
    told(1, &a); /* perhaps it is this host that is cut off */
    ck_assert_uint_eq(a.deaths, 0);
    proc = &second;
    ck_assert_int_eq(boot_failed_count(), 0);
    boot_detector_stop();
    boot_finalize();
    me = 0;
    proc = first;
    end();
}
END_TEST

/* W2: a process of its host asks this one, but none there has answered. A firewall may be what
 * rejects the connections. */
START_TEST(rejected)
{
    struct detector_card c, mine;
    struct detector_hello h = {.rank = 5}; /* of the host of rank 2 */
    struct detector_answer a;
    begin();
    mine = own_card();
    peer_open(3, -1, &c);
    h.secret = mine.hello;
    ck_assert_int_gt(ask_listener(&mine, &h, sizeof h, &a), 0);
    boot_detector_ask(2, &c, sizeof c);
    usleep(1500000);
    ck_assert_int_eq(boot_failed_count(), 0);
    end();
}
END_TEST

START_TEST(silent)
{
    struct hosts h;
    struct detector_answer a;
    hosts_open(&h);
    boot_detector_ask(2, &h.silent, sizeof h.silent);
    until_dead(2, 0.9, 3);
    ck_assert_str_eq(boot_failed_why(2), "its host there has not answered for 1 s");
    ck_assert_int_eq(boot_failed_count(), SIZE / 3); /* W5 */
    ck_assert_int_eq(boot_failed(5), 1);
    ck_assert_int_eq(boot_failed(4), 0);
    boot_detector_ask(2, &h.silent, sizeof h.silent); /* a failed process is not asked */
    /* W4: the third host has been silent meanwhile. Perhaps it is this one that was cut off: its
     * processes learn of it, and those in question, but no others. */
    told(3, &a);
    ck_assert_uint_eq(a.deaths, DETECTOR_FAILURES);
    ck_assert_uint_eq(a.death[0].scope, BOOT_APART);
    told(2, &a);
    ck_assert_uint_eq(a.deaths, 1);
    ck_assert_uint_eq(a.death[0].rank, 2);
    for (int i = 0; i < 3; i++) {
        told(1, &a);
        ck_assert_uint_eq(a.deaths, 0);
    }
    /* Until another one reports it. */
    boot_fail_take(proc->boot, 5, BOOT_APART, "again");
    told(1, &a);
    ck_assert_uint_eq(a.deaths, 0);
    boot_fail_take(proc->boot, 5, BOOT_HOST, "others say so");
    told(1, &a);
    ck_assert_uint_eq(a.deaths, DETECTOR_FAILURES);
    ck_assert_uint_eq(a.death[0].scope, BOOT_HOST);
    hosts_close(&h);
}
END_TEST

/* W4: asked by the watch itself, when half of the time has passed, the third host answers. */
START_TEST(vouched)
{
    struct hosts h;
    struct detector_answer a;
    hosts_open(&h);
    boot_detector_ask(2, &h.silent, sizeof h.silent);
    uint64_t from = time_now();
    ck_assert_uint_eq(peer_answer(h.first_fd, &first_card, NULL, 0), 0);
    ck_assert_uint_ge(time_now() - from, 400000000u);
    until_dead(2, 0, 3);
    ck_assert_int_eq(boot_failed_count(), SIZE / 3);
    told(1, &a);
    ck_assert_uint_eq(a.deaths, DETECTOR_FAILURES);
    ck_assert_uint_eq(a.death[0].scope, BOOT_HOST);
    hosts_close(&h);
}
END_TEST

/* The witness is asked for the sake of the other alone: it is not waited for and not judged. */
START_TEST(no_witness)
{
    struct hosts h;
    struct detector_answer a;
    hosts_open(&h);
    close(h.first_fd);
    boot_detector_ask(2, &h.silent, sizeof h.silent);
    until_dead(2, 0.9, 3);
    usleep(1500000);
    ck_assert_int_eq(boot_failed(1), 0);
    ck_assert_int_eq(boot_failed_count(), SIZE / 3);
    told(4, &a);
    ck_assert_uint_eq(a.deaths, 0); /* BOOT_APART */
    boot_detector_ask(1, &first_card, sizeof first_card);
    until_dead(1, 0.2, 2);
    h.first_fd = -1;
    hosts_close(&h);
}
END_TEST

/* A word from a third host at the beginning is no proof for the time after. */
START_TEST(vouched_too_soon)
{
    struct hosts h;
    struct detector_answer a;
    hosts_open(&h);
    boot_detector_ask(2, &h.silent, sizeof h.silent);
    boot_detector_ask(1, &first_card, sizeof first_card);
    ck_assert_uint_eq(peer_answer(h.first_fd, &first_card, NULL, 0), 0);
    until_dead(2, 0.4, 3);
    told(1, &a);
    ck_assert_uint_eq(a.deaths, 0);
    hosts_close(&h);
}
END_TEST

/* W5: others of its host speak, so it is not the host, and a process that has ended would be
 * refused. */
START_TEST(silent_alone)
{
    struct hosts h;
    int other = silent_beside(&h, 4);
    until_dead(5, 0, 4); /* asked later, so perhaps found later */
    close(other);
    hosts_close(&h);
}
END_TEST

/* An address that could not be tried yet may be the one that works. */
START_TEST(second_address)
{
    enum { LIMIT = 256 };
    struct rlimit lim;
    struct detector_card c, other;
    int full[LIMIT], n = 0;
    begin();
    prove();
    peer_open(3, -1, &c);
    int fd = peer_open(4, 8, &other);
    c.spot[c.spots++] = other.spot[0];
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &lim), 0);
    lim.rlim_cur = LIMIT;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &lim), 0); /* of this test's process alone */
    while (n < LIMIT && (full[n] = dup(fd)) >= 0)
        n++;
    close(full[--n]); /* one is left: for the first address, until it has been refused twice */
    boot_detector_ask(2, &c, sizeof c);
    struct pollfd there = {.fd = fd, .events = POLLIN};
    ck_assert_int_eq(poll(&there, 1, 5000), 1);
    close(full[--n]); /* one for us */
    ck_assert_uint_eq(peer_answer(fd, &c, NULL, 0), 0);
    usleep(50000);
    while (n)
        close(full[--n]);
    ck_assert_int_eq(boot_failed_count(), 0);
    close(fd);
    end();
}
END_TEST

/* The process is stopped, for longer than the time-out, between two questions; none could be
 * answered meanwhile. */
START_TEST(was_stopped)
{
    struct detector_card c;
    int status;
    begin();
    prove();
    peer_open(3, -1, &c);
    boot_detector_ask(2, &c, sizeof c);
    usleep(100000); /* refused once, and not asked again yet */
    int fd = peer_again(&c);
    pid_t me_myself = getpid(), child = fork();
    if (!child) {
        kill(me_myself, SIGSTOP);
        usleep(3000000);
        kill(me_myself, SIGCONT);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_uint_eq(peer_answer(fd, &c, NULL, 0), 0);
    ck_assert_int_eq(boot_failed_count(), 0);
    close(fd);
    end();
}
END_TEST

/* W1: its kernel takes the connection, it does nothing.  One connection, however often it is asked,
 * also after a pause. */
START_TEST(stopped)
{
    struct detector_card c;
    begin();
    prove();
    int fd = peer_open(3, 64, &c), n = 0;
    for (int i = 0; i < 30; i++) {
        boot_detector_ask(2, &c, sizeof c);
        usleep(i == 10 ? 1500000 : 50000);
    }
    ck_assert_int_eq(boot_failed_count(), 0);
    ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    for (int s; (s = accept(fd, NULL, NULL)) >= 0; n++)
        close(s);
    ck_assert_int_eq(n, 1);
    close(fd); /* and now it dies; that is no silence, for however long it was held */
    until_dead(2, 0, 2);
    ck_assert_str_eq(boot_failed_why(2), "its process on there has ended");
    ck_assert_int_eq(boot_failed_count(), 1);
    end();
}
END_TEST

/* A stranger has the port: it takes the question and closes, or answers something else. */
START_TEST(strangers)
{
    struct detector_card c;
    begin();
    prove();
    int fd = peer_open(3, 64, &c);
    boot_detector_ask(2, &c, sizeof c);
    for (int i = 0; i < 3; i++) {
        int s = accept(fd, NULL, NULL);
        char junk[64] = "HTTP/1.0 400 Bad Request, and so on and on";
        ck_assert_int_ge(s, 0);
        if (i)
            ck_assert_int_eq(send(s, junk, sizeof junk, MSG_NOSIGNAL), sizeof junk);
        close(s);
    }
    until_dead(2, 0, 2);
    close(fd);
    end();
}
END_TEST

START_TEST(listener)
{
    begin();
    struct detector_card c = own_card();
    struct detector_hello h = {.secret = c.hello, .rank = 1}, wrong = {.secret = c.hello + 1,
                            .rank = 1};
    struct detector_answer a;
    int head = offsetof(struct detector_answer, death);
    ck_assert_int_eq(c.spot[0].v6, 0);
    ck_assert_int_eq(ask_listener(&c, &h, sizeof h, &a), head);
    ck_assert_uint_eq(a.secret, c.answer);
    ck_assert_uint_eq(a.deaths, 0);
    /* A caller without the secret, or with less of it, gets no answer. */
    ck_assert_int_le(ask_listener(&c, &wrong, sizeof wrong, &a), 0);
    ck_assert_int_le(ask_listener(&c, &h, 5, &a), 0);
    wrong = (struct detector_hello){.secret = c.hello, .rank = SIZE};
    ck_assert_int_le(ask_listener(&c, &wrong, sizeof wrong, &a), 0);
    /* Many silent connections do not keep it from answering. */
    int idle[40];
    struct sockaddr_in to = card_address(&c);
    for (int i = 0; i < 40; i++) {
        idle[i] = socket(AF_INET, SOCK_STREAM, 0);
        ck_assert_int_eq(connect(idle[i], (struct sockaddr *)&to, sizeof to), 0);
    }
    ck_assert_int_eq(ask_listener(&c, &h, sizeof h, &a), head);
    for (int i = 0; i < 40; i++)
        close(idle[i]);
    /* W4: it reports which processes it regards as failed. */
    boot_fail_now(7, "the test says so");
    ck_assert_int_eq(ask_listener(&c, &h, sizeof h, &a), head + (int)sizeof a.death[0]);
    ck_assert_uint_eq(a.deaths, 1);
    ck_assert_uint_eq(a.death[0].rank, 7);
    ck_assert_str_eq(a.death[0].why, "the test says so");
    for (int r = 8; r < 58; r++)
        boot_fail_now(r, "many");
    int told[SIZE] = {0};
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(ask_listener(&c, &h, sizeof h, &a),
                         head + (int)(a.deaths * sizeof a.death[0]));
        for (uint32_t k = 0; k < a.deaths; k++)
            told[a.death[k].rank] = 1;
    }
    for (int r = 7; r < 58; r++) /* in turn, all of them */
        ck_assert_int_eq(told[r], 1);
    /* If it regards the caller as failed, it reports that and nothing else. */
    h.rank = 20;
    ck_assert_int_eq(ask_listener(&c, &h, sizeof h, &a), head + (int)sizeof a.death[0]);
    ck_assert_uint_eq(a.deaths, 1);
    ck_assert_uint_eq(a.death[0].rank, 20);
    end();
}
END_TEST

/* Many ask at once, with late first words, as with busy cores: each is answered, since for an asker
 * three ends without an answer are a death. Twice: their first words come after a moment, when the
 * watch has begun to drop silent ones. */
START_TEST(crowd)
{
    enum { ASKERS = 200 };
    int s[ASKERS];
    begin();
    struct detector_card c = own_card();
    struct detector_hello h = {.secret = c.hello, .rank = 1};
    struct detector_answer a;
    struct sockaddr_in to = card_address(&c);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < ASKERS; i++) {
            s[i] = socket(AF_INET, SOCK_STREAM, 0);
            ck_assert_int_eq(connect(s[i], (struct sockaddr *)&to, sizeof to), 0);
        }
        usleep(round ? 800000 : 5000);
        for (int i = 0; i < ASKERS; i++)
            ck_assert_int_eq(send(s[i], &h, sizeof h, MSG_NOSIGNAL), sizeof h);
        int head = offsetof(struct detector_answer, death), lost = 0;
        for (int i = 0; i < ASKERS; i++) {
            lost += recv(s[i], &a, (size_t)head, MSG_WAITALL) != head || a.secret != c.answer;
            close(s[i]);
        }
        ck_assert_int_eq(lost, 0);
    }
    end();
}
END_TEST

/* The watch has dropped its guest, whose end of the connection is gone, but may not have its
 * reserve back yet: then one is missing. */
static void until_open(int wanted, int limit)
{
    for (int turn = 0; turn < 10000; turn++) {
        int n = 0;
        for (int fd = 0; fd < limit; fd++)
            n += fcntl(fd, F_GETFD) >= 0;
        if (n == wanted)
            return;
        usleep(1000);
    }
    ck_abort_msg("the watch has not taken its reserve back");
}

/* Without a descriptor for a guest the watch has one in reserve, again and again; while a silent
 * one has it, it pauses. */
START_TEST(no_descriptors)
{
    enum { LIMIT = 256 };
    struct rlimit lim;
    int full[LIMIT], n = 0;
    begin();
    struct detector_card c = own_card();
    struct detector_hello h = {.secret = c.hello, .rank = 1};
    struct detector_answer a;
    struct sockaddr_in to = card_address(&c);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &lim), 0);
    lim.rlim_cur = LIMIT;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &lim), 0); /* of this test's process alone */
    while (n < LIMIT && (full[n] = dup(s)) >= 0)
        n++;
    clock_t busy = clock();
    for (int i = 0; i < 3; i++) {
        close(full[--n]); /* for ours */
        ck_assert_int_eq(ask_listener(&c, &h, sizeof h, &a),
                         offsetof(struct detector_answer, death));
        until_open(LIMIT - 1, LIMIT);
        while (n < LIMIT && (full[n] = dup(s)) >= 0)
            n++;
    }
    ck_assert_int_eq(connect(s, (struct sockaddr *)&to, sizeof to), 0);
    ck_assert_int_eq(send(s, &h, 1, MSG_NOSIGNAL), 1);
    usleep(600000);
    ck_assert_int_lt(clock() - busy, CLOCKS_PER_SEC / 5);
    while (n)
        close(full[--n]);
    close(s);
    ck_assert_int_eq(ask_listener(&c, &h, sizeof h, &a), offsetof(struct detector_answer, death));
    end();
}
END_TEST

START_TEST(news)
{
    struct detector_card c;
    struct detector_obituary o[3] = {{.rank = 5, .why = "it told a lie"},
                                  {.rank = SIZE + 9},
                                  {.rank = 7, .scope = BOOT_HOST, .why = "cut"}};
    begin();
    int fd = peer_open(2, 8, &c);
    memset(o[1].why, 'x', sizeof o[1].why); /* no end of text, no such rank */
    boot_detector_ask(8, &c, sizeof c);
    peer_answer(fd, &c, o, 3);
    until_dead(5, 0, 1);
    until_dead(7, 0, 1);
    ck_assert_str_eq(boot_failed_why(5), "it told a lie");
    ck_assert_str_eq(boot_failed_why(1), "cut"); /* its host, too */
    ck_assert_int_eq(boot_failed(8), 0);
    /* For a process of this host it has no better source: that is to be asked. */
    ck_assert_int_eq(boot_detector_doubt(), -1);
    o[0] = (struct detector_obituary){.rank = 6, .why = "gone"};
    boot_detector_ask(8, &c, sizeof c);
    peer_answer(fd, &c, o, 1);
    usleep(50000);
    ck_assert_int_eq(boot_failed(6), 0);
    ck_assert_int_eq(boot_detector_doubt(), 6);
    ck_assert_int_eq(boot_detector_doubt(), -1);
    /* It holds this process, or this host, for dead: that goes both ways, and its other news are
     * not believed. */
    for (int i = 0; i < 2; i++) {
        int rank = i ? 11 : 8;
        o[0] = (struct detector_obituary){.rank = 14, .why = "not so"};
        o[1] = (struct detector_obituary){.rank = i ? 3 : 0, .scope = i ? BOOT_HOST : BOOT_ONE,
                                       .why = "slow"};
        boot_detector_ask(rank, &c, sizeof c);
        peer_answer(fd, &c, o, 2);
        until_dead(rank, 0, 1);
        ck_assert_str_eq(boot_failed_why(rank), "it has given process 0 up");
        ck_assert_int_eq(boot_failed(0), 0);
        ck_assert_int_eq(boot_failed(3), 0);
        ck_assert_int_eq(boot_failed(14), 0);
    }
    close(fd);
    end();
}
END_TEST

static int descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* However many are asked: 32 at a time. */
START_TEST(bounded)
{
    struct detector_card c;
    begin();
    prove();
    int fd = peer_open(3, 200, &c), before = descriptors();
    for (int r = 1; r < SIZE; r++)
        if (r % 3)
            boot_detector_ask(r, &c, sizeof c);
    usleep(200000);
    ck_assert_int_ge(descriptors() - before, 1);
    ck_assert_int_le(descriptors() - before, 32);
    ck_assert_int_eq(boot_failed_count(), 0);
    close(fd);
    end();
}
END_TEST

/* A child gives our port up; the number, once it is that of a file of its own, is left alone in the
 * child's children. */
static int child_of_child(void)
{
    int status;
    for (int fd; (fd = open("/dev/null", O_RDONLY)) < 64;) /* whatever was closed is in use again */
        if (fd < 0)
            return 2;
    pid_t pid = fork();
    if (!pid) {
        for (int fd = 3; fd < 64; fd++)
            if (fcntl(fd, F_GETFD) < 0)
                _exit(1);
        _exit(0);
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

START_TEST(grandchild)
{
    int status;
    begin();
    struct detector_card c = own_card();
    pid_t pid = fork();
    if (!pid)
        _exit(child_of_child());
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    struct detector_hello h = {.secret = c.hello, .rank = 1}; /* and ours is open */
    struct detector_answer a;
    ck_assert_int_eq(ask_listener(&c, &h, sizeof h, &a), offsetof(struct detector_answer, death));
    end();
}
END_TEST

/* For one host: no proof is needed for a refusal; a child of the dead does not hold its port. */
START_TEST(same_host)
{
    struct proc *first = proc, second = {0};
    begin();
    proc = &second;
    me = 3;
    ck_assert_int_eq(boot_init(&mine), 0);
    ck_assert_int_eq(boot_detector_start(0), 0);
    struct detector_card c = own_card();
    pid_t child = fork();
    if (!child) {
        pause();
        _exit(0);
    }
    proc = first;
    boot_detector_ask(3, &c, sizeof c);
    usleep(300000);
    ck_assert_int_eq(boot_failed_count(), 0);
    proc = &second;
    boot_detector_stop();
    boot_finalize();
    me = 0;
    proc = first;
    boot_detector_ask(3, &c, sizeof c);
    until_dead(3, 0, 2);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    end();
}
END_TEST

/* No process watches in a job of one host, or if watching is off. */
START_TEST(off)
{
    char msg[200], card[BOOT_CARD_MAX];
    setenv("MPIR_CVAR_PEER_TIMEOUT", "0", 1);
    ck_assert_int_eq(var_init(msg, sizeof msg), 0);
    ck_assert_int_eq(boot_init(&mine), 0);
    ck_assert_int_eq(boot_detector_start(0), 0);
    ck_assert_uint_eq(boot_detector_turn(), 0);
    ck_assert_uint_eq(boot_detector_card(card, sizeof card), 0);
    boot_detector_ask(1, card, sizeof card);
    boot_detector_stop();
    boot_finalize();
    setenv("MPIR_CVAR_PEER_TIMEOUT", "1", 1);
    setenv("MPIR_CVAR_PEER_INTERFACE", "nosuch0", 1);
    var_finalize();
    ck_assert_int_eq(var_init(msg, sizeof msg), 0);
    ck_assert_int_eq(boot_init(&mine), 0);
    ck_assert_int_eq(boot_detector_start(0), -EADDRNOTAVAIL);
    ck_assert_uint_eq(boot_detector_turn(), 0);
    boot_finalize();
    var_finalize();
}
END_TEST

Suite *suite_watch(void)
{
    Suite *s = suite_create("watch");
    TCase *t = tcase_create("watch");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, refused);
    tcase_add_test(t, refused_once);
    tcase_add_test(t, rejected);
    tcase_add_test(t, silent);
    tcase_add_test(t, vouched);
    tcase_add_test(t, no_witness);
    tcase_add_test(t, vouched_too_soon);
    tcase_add_test(t, silent_alone);
    tcase_add_test(t, silent_before);
    tcase_add_test(t, spoke);
    tcase_add_test(t, spoke_and_asked);
    tcase_add_test(t, only_tried);
    tcase_add_test(t, deaf);
    tcase_add_test(t, second_address);
    tcase_add_test(t, was_stopped);
    tcase_add_test(t, stopped);
    tcase_add_test(t, strangers);
    tcase_add_test(t, listener);
    tcase_add_test(t, crowd);
    tcase_add_test(t, no_descriptors);
    tcase_add_test(t, news);
    tcase_add_test(t, bounded);
    tcase_add_test(t, same_host);
    tcase_add_test(t, grandchild);
    tcase_add_test(t, off);
    suite_add_tcase(s, t);
    return s;
}

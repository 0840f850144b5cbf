/* test_streams.c - lines of several streams into one sink, with the time given by the test. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launch/streams.h"

Suite *suite_streams(void);

#define S 1000000000ull /* ns */

static struct sink sink;
static struct stream stream[2];
static int to[2]; /* write ends */

static void setup(const char *label0, const char *label1)
{
    int fd = memfd_create("sink", 0), p[2];
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(sink_open(&sink, fd), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pipe2(p, O_NONBLOCK), 0);
        stream_open(&stream[i], p[0], &sink, i ? label1 : label0);
        to[i] = p[1];
    }
}

static void put(int i, const char *text, uint64_t now)
{
    ck_assert_int_eq(write(to[i], text, strlen(text)), (ssize_t)strlen(text));
    ck_assert(stream_wants(&stream[i]));
    stream_read(&stream[i], now);
}

static void end(int i, uint64_t now)
{
    close(to[i]);
    to[i] = -1;
    ck_assert_int_eq(stream_read(&stream[i], now), 1);
}

/* What has reached the sink's file. */
static void expect(const char *text)
{
    static char buf[4096];
    sink_flush(&sink);
    ssize_t n = pread(sink.fd, buf, sizeof buf - 1, 0);
    ck_assert_int_ge(n, 0);
    buf[n] = 0;
    ck_assert_str_eq(buf, text);
}

static void teardown(void)
{
    for (int i = 0; i < 2; i++) {
        stream_close(&stream[i]);
        free(stream[i].buf);
        if (to[i] >= 0)
            close(to[i]);
    }
    close(sink.fd);
    sink_close(&sink);
}

START_TEST(whole_lines_only)
{
    setup("", "");
    put(0, "a", 0);
    put(1, "1\n2\n3", 0);
    expect("1\n2\n");
    put(0, "b\nc", 0);
    expect("1\n2\nab\n");
    end(0, 0);
    expect("1\n2\nab\nc"); /* no newline is made up for the last line */
    end(1, 0);
    expect("1\n2\nab\nc\n3"); /* but two lines are never joined */
    ck_assert(stream_done(&stream[0]) && stream_done(&stream[1]));
    teardown();
}
END_TEST

START_TEST(labels)
{
    setup("[0] ", "[1] ");
    put(0, "a\n\nb", 0);
    put(1, "x\n", 0);
    expect("[0] a\n[0] \n[1] x\n");
    end(0, 0);
    expect("[0] a\n[0] \n[1] x\n[0] b");
    put(1, "y", 0);
    end(1, 0);
    expect("[0] a\n[0] \n[1] x\n[0] b\n[1] y");
    teardown();
}
END_TEST

/* An unfinished line rests for the timeout, then goes out and keeps the sink; its end follows
 * directly. */
START_TEST(prompt)
{
    setup("[0] ", "[1] ");
    put(0, "name? ", 5 * S);
    uint64_t due = stream_due(&stream[0]);
    ck_assert_uint_eq(due, 5 * S + sink.timeout);
    stream_push(&stream[0], due - 1);
    expect("");
    stream_push(&stream[0], due);
    expect("[0] name? ");
    put(1, "other\n", due + 1);
    expect("[0] name? ");
    put(0, "yes\n", due + 2);
    stream_push(&stream[1], due + 2);
    expect("[0] name? yes\n[1] other\n");
    ck_assert_uint_eq(stream_due(&stream[0]), UINT64_MAX);
    teardown();
}
END_TEST

/* A writer that pauses for too long in the middle of a line loses the sink. The line is broken,
 * not joined. */
START_TEST(resting_owner)
{
    setup("", "");
    put(0, "half", 0);
    stream_push(&stream[0], sink.timeout);
    put(1, "other\n", sink.timeout);
    uint64_t due = stream_due(&stream[1]);
    ck_assert_uint_eq(due, 2 * sink.timeout);
    stream_push(&stream[1], due - 1);
    expect("half");
    stream_push(&stream[1], due);
    expect("half\nother\n");
    put(0, "rest\n", due);
    expect("half\nother\nrest\n");
    teardown();
}
END_TEST

START_TEST(own_messages)
{
    setup("", "");
    put(0, "half", 0);
    stream_push(&stream[0], sink.timeout);
    sink_line(&sink, "mpiexec: news\n");
    expect("half\nmpiexec: news\n");
    put(0, "rest\n", sink.timeout);
    expect("half\nmpiexec: news\nrest\n");
    teardown();
}
END_TEST

/* A line longer than the buffer stays in one piece though another stream writes meanwhile. */
START_TEST(long_line)
{
    enum { LINE = 5 * STREAM_BYTES / 2 };
    static char piece[8192], file[LINE + 100];
    setup("", "[1] ");
    memset(piece, 'x', sizeof piece);
    size_t sent = 0, n;
    for (int turn = 0; sent < LINE || stream[0].have; turn++) {
        ck_assert_int_lt(turn, 1000);
        n = LINE - sent < sizeof piece ? LINE - sent : sizeof piece;
        if (n && write(to[0], piece, n) == (ssize_t)n)
            sent += n;
        else if (!n)
            put(0, "\n", 1);
        if (turn == 15)
            put(1, "other\n", 1);
        if (stream_wants(&stream[0]))
            stream_read(&stream[0], 1);
        sink_flush(&sink);
        stream_push(&stream[1], 1);
    }
    stream_push(&stream[1], 1);
    sink_flush(&sink);
    ck_assert_int_eq(pread(sink.fd, file, sizeof file, 0), LINE + 1 + 10);
    ck_assert_ptr_null(memchr(file, '\n', LINE));
    ck_assert_int_eq(memcmp(file + LINE, "\n[1] other\n", 11), 0);
    teardown();
}
END_TEST

/* The sink is not read: memory stays bounded, the streams are not read, nothing is lost. */
START_TEST(slow_reader)
{
    static char line[1000], got[4096];
    int p[2], in[2];
    ck_assert_int_eq(pipe(p), 0);
    ck_assert_int_eq(sink_open(&sink, p[1]), 0);
    ck_assert_int_eq(pipe2(in, O_NONBLOCK), 0);
    stream_open(&stream[0], in[0], &sink, "");
    memset(line, 'y', sizeof line);
    line[sizeof line - 1] = '\n';
    size_t sent = 0, read_back = 0;
    for (int i = 0; i < 2000; i++) {
        if (write(in[1], line, sizeof line) == (ssize_t)sizeof line)
            sent += sizeof line;
        if (stream_wants(&stream[0]))
            stream_read(&stream[0], 1);
        stream_push(&stream[0], 1);
        sink_flush(&sink);
        ck_assert_uint_le(sink.have, SINK_BYTES);
    }
    ck_assert(!stream_wants(&stream[0]));
    ck_assert_uint_lt(sent, 1000000);
    while (read_back < sent) {
        ssize_t n = read(p[0], got, sizeof got);
        ck_assert_int_gt(n, 0);
        int wrong = 0; /* each ck_assert is a message to the runner: too dear per byte */
        for (ssize_t i = 0; i < n; i++)
            wrong += got[i] != line[(read_back + (size_t)i) % sizeof line];
        ck_assert_int_eq(wrong, 0);
        read_back += (size_t)n;
        sink_flush(&sink);
        stream_push(&stream[0], 1);
        if (stream_wants(&stream[0]))
            stream_read(&stream[0], 1);
        sink_flush(&sink);
    }
    /* and when the reader leaves, so do we */
    signal(SIGPIPE, SIG_IGN);
    close(p[0]);
    sent = 0;
    while (stream[0].fd >= 0) {
        ck_assert_int_lt((int)++sent, 1000);
        if (write(in[1], line, sizeof line) < 0)
            ck_assert_int_eq(errno, EAGAIN);
        if (stream_wants(&stream[0]))
            stream_read(&stream[0], 1);
        sink_flush(&sink);
        stream_push(&stream[0], 1);
    }
    ck_assert(sink.broken && stream_done(&stream[0]));
    close(in[1]);
    close(p[1]);
    sink_close(&sink);
}
END_TEST

START_TEST(pump_copies)
{
    struct pump p;
    int from[2], into[2], fd;
    short events;
    static char big[3 * 65536], got[sizeof big];
    ck_assert_int_eq(pipe(from), 0);
    ck_assert_int_eq(pipe2(into, O_NONBLOCK), 0);
    pump_open(&p, from[0], into[1]);
    fcntl(from[1], F_SETFL, O_NONBLOCK);
    for (size_t i = 0; i < sizeof big; i++)
        big[i] = (char)(i * 31 >> 3);
    size_t in = 0, out = 0;
    while (out < sizeof big) {
        ssize_t n = write(from[1], big + in, sizeof big - in);
        in += n > 0 ? (size_t)n : 0;
        for (int i = 0; i < 100; i++) { /* until `into` is full it never blocks */
            struct pollfd q = {.fd = from[0], .events = POLLIN};
            if (p.have > p.at || poll(&q, 1, 0) > 0)
                pump_move(&p);
        }
        n = read(into[0], got + out, sizeof got - out);
        out += n > 0 ? (size_t)n : 0;
    }
    ck_assert_int_eq(memcmp(big, got, sizeof big), 0);
    pump_wants(&p, &fd, &events);
    ck_assert_int_eq(events, 0); /* no terminal, so never in its foreground */
    close(from[1]);
    pump_move(&p);
    ck_assert_int_eq(p.to, -1);
    ck_assert_int_eq(read(into[0], got, 1), 0); /* the end is passed on */
    pump_move(&p);
    close(from[0]);
    close(into[0]);
}
END_TEST

Suite *suite_streams(void)
{
    Suite *s = suite_create("launch/streams");
    TCase *t = tcase_create("io");
    tcase_add_test(t, whole_lines_only);
    tcase_add_test(t, labels);
    tcase_add_test(t, prompt);
    tcase_add_test(t, resting_owner);
    tcase_add_test(t, own_messages);
    tcase_add_test(t, long_line);
    tcase_add_test(t, slow_reader);
    tcase_add_test(t, pump_copies);
    suite_add_tcase(s, t);
    return s;
}

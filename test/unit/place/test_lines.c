/* test_lines.c - place/lines.c: file and line come later, nothing waits for them; an addr2line that
 * is missing, knows nothing, or never answers leaves module and offset. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place/place_types.h"

Suite *suite_lines(void);

static struct place_room kept;
static char dir[] = "/tmp/test-lines-XXXXXX";
static uint64_t place;

/* A program of that text stands for addr2line. */
static void stand_in(const char *text)
{
    char path[4096];
    memset(&kept, 0, sizeof kept);
    lines_init(&kept);
    proc->place = &kept;
    ck_assert_ptr_nonnull(mkdtemp(dir));
    setenv("DIR", dir, 1);
    if (text) {
        snprintf(path, sizeof path, "%s/addr2line", dir);
        FILE *f = fopen(path, "w");
        ck_assert_ptr_nonnull(f);
        fprintf(f, "#!/bin/sh\n%s\n", text);
        fclose(f);
        chmod(path, 0700);
    }
    snprintf(path, sizeof path, "%s:%s", dir, text ? getenv("PATH") : "/nowhere");
    setenv("PATH", path, 1);
    place = site_portable((uint64_t)(uintptr_t)stand_in + 8);
    ck_assert_uint_ne(place, 0);
}

static void clean(void)
{
    static const char *const files[] = {"addr2line", "go", "asked"};
    char path[128];
    lines_drop(&kept);
    proc->place = NULL;
    ck_assert_int_lt(waitpid(-1, NULL, WNOHANG), 0); /* each child was reaped */
    for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        unlink(path);
    }
    rmdir(dir);
}

/* Waits for the test, and ends by itself if that has gone. */
#define UNTIL_GO                                                      \
    "for i in $(seq 2000); do [ -e $DIR/go ] && break; sleep 0.01; done\n" \
    "[ -e $DIR/go ] || exit 1\n"

/* Processes that this one has started and not reaped. */
static int children(void)
{
    char path[64];
    int n = 0, pid;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    while (fscanf(f, "%d", &pid) == 1)
        n++;
    fclose(f);
    return n;
}

static const char *told(void)
{
    static char text[160];
    site_text_known(place, text, sizeof text);
    return text;
}

static void until_known(void)
{
    while (!site_lookup(place))
        usleep(1000);
}

START_TEST(others_go_on_meanwhile)
{
    stand_in(UNTIL_GO "echo \"/far/heat.c:21 (discriminator 3)\"");
    char path[128];
    snprintf(path, sizeof path, "%s/go", dir);
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(site_lookup(place), 0);
    ck_assert_ptr_nonnull(strstr(told(), "+0x")); /* so far */
    close(creat(path, 0600));
    until_known();
    ck_assert_str_eq(told(), "heat.c:21");
    ck_assert_int_eq(site_lookup(place), 1);
    clean();
}
END_TEST

START_TEST(one_question_for_each_place)
{
    stand_in("echo x >>$DIR/asked; echo \"heat.c:$(wc -l <$DIR/asked)\"");
    until_known();
    until_known();
    ck_assert_str_eq(told(), "heat.c:1");
    char text[160];
    site_text(place, text, sizeof text); /* the waiting form knows it, too */
    ck_assert_str_eq(text, "heat.c:1");
    clean();
}
END_TEST

START_TEST(few_at_a_time)
{
    enum { PLACES = 12 };
    stand_in(UNTIL_GO "echo \"heat.c:1\"");
    char path[128];
    for (int turn = 0; turn < 100; turn++) {
        for (unsigned i = 0; i < PLACES; i++)
            ck_assert_int_eq(site_lookup(place + i), 0);
        ck_assert_int_eq(children(), 4);
    }
    snprintf(path, sizeof path, "%s/go", dir);
    close(creat(path, 0600));
    for (unsigned i = 0; i < PLACES; i++, place++) {
        until_known();
        ck_assert_str_eq(told(), "heat.c:1");
    }
    clean();
}
END_TEST

START_TEST(no_line)
{
    static const char *const texts[] = {NULL, "echo '??:0'", "echo '/far/heat.c:?'", "exit 1",
                                        "exec sleep 100"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        strcpy(dir, "/tmp/test-lines-XXXXXX");
        const char *path = strdup(getenv("PATH"));
        stand_in(texts[i]);
        kept.lines_ns = 100000000;
        until_known();
        ck_assert_ptr_nonnull(strstr(told(), "+0x"));
        clean();
        setenv("PATH", path, 1);
        free((char *)(uintptr_t)path);
    }
}
END_TEST

START_TEST(many_places)
{
    stand_in("echo heat.c:1");
    for (int i = 0; i < 200; i++, place++) {
        until_known();
        ck_assert_str_eq(told(), "heat.c:1");
    }
    int n = 0;
    for (struct list *l = kept.lines.next; l != &kept.lines; l = l->next)
        n++;
    ck_assert_int_le(n, 128);
    clean();
}
END_TEST

Suite *suite_lines(void)
{
    Suite *s = suite_create("lines");
    TCase *t = tcase_create("lines");
    tcase_add_test(t, others_go_on_meanwhile);
    tcase_add_test(t, one_question_for_each_place);
    tcase_add_test(t, few_at_a_time);
    tcase_add_test(t, no_line);
    tcase_add_test(t, many_places);
    suite_add_tcase(s, t);
    return s;
}

/* test_door.c - mem/door.c: given, late, refused, stranger, forked, few descriptors, apart. */
#include "job.h"
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/proc.h"
#include "mem/mem_types.h"
#include "var/var.h"

Suite *suite_door(void);

enum { BYTES = 8192 };

/* Rank 1 is as in another process namespace: its process id means nothing to rank 0, and rank 0's
 * nothing to it. */
static void apart(void)
{
    job_check(mem_init() == 0);
    if (boot_rank() == 1) {
        proc->mem->pid_ns++;
        proc->mem->record[1].pid_ns++;
    }
    job_check(boot_barrier() == 0);
    job_check(mem_meet() == 0 && proc->mem->door);
    job_check(boot_barrier() == 0);
}

/* Rank 0 makes a segment with 7 in it, and both know its key. */
static struct mem_key shown(struct mem_segment **seg)
{
    struct mem_key key;
    size_t len = sizeof key;
    if (boot_rank() == 0) {
        job_check(mem_segment_create(BYTES, 0, seg) == 0);
        *(int *)(*seg)->base = 7;
        mem_segment_key(*seg, &key);
        job_check(boot_put("key", &key, sizeof key) == 0);
    }
    job_check(boot_barrier() == 0);
    job_check(boot_get("key", &key, &len) == 0 && len == sizeof key);
    return key;
}

static void both_leave(struct mem_segment *seg)
{
    job_check(boot_barrier() == 0);
    mem_segment_drop(seg);
    mem_finalize();
}

/* The memory is the same, though /proc would not show it. */
static void given(void)
{
    struct mem_segment *seg = NULL;
    apart();
    struct mem_key key = shown(&seg);
    if (boot_rank() == 1) {
        job_check(mem_segment_attach(&key, &seg) == 0 && seg->size == BYTES);
        job_check(*(int *)seg->base == 7);
        *(int *)seg->base = 8;
    }
    job_check(boot_barrier() == 0);
    job_check(*(int *)seg->base == 8);
    both_leave(seg);
}

START_TEST(is_given)
{
    ck_assert_int_eq(job_run(2, NULL, given, 20), 0);
}
END_TEST

static socklen_t door_of(const struct mem_key *key, struct sockaddr_un *a)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "windrose.door.%x.%u", key->pid_ns,
                     key->pid);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* A door whose thread gets no processor. */
static void late(void)
{
    struct mem_segment *seg = NULL, *none;
    apart();
    struct mem_key key = shown(&seg), deaf = key;
    if (boot_rank() == 1) {
        struct sockaddr_un a;
        deaf.pid ^= 1u << 30; /* no process has so large a number */
        socklen_t len = door_of(&deaf, &a);
        int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
        job_check(bind(fd, (struct sockaddr *)&a, len) == 0);
        job_check(mem_segment_attach_soon(&deaf, &none) == -ETIMEDOUT);
        close(fd);
        job_check(mem_segment_attach_soon(&key, &seg) == 0 && *(int *)seg->base == 7);
    }
    both_leave(seg);
}

START_TEST(comes_late)
{
    ck_assert_int_eq(job_run(2, NULL, late, 20), 0);
}
END_TEST

/* Other descriptors of the owner, other numbers, and an owner that has ended. */
static void refused(void)
{
    struct mem_segment *seg = NULL, *none;
    apart();
    struct mem_key key = shown(&seg), wrong = key;
    if (boot_rank() == 1) {
        wrong.seg_id++;
        job_check(mem_segment_attach(&wrong, &none) == -ESTALE);
        wrong = key, wrong.fd = 0;
        job_check(mem_segment_attach(&wrong, &none) < 0);
        wrong = key, wrong.fd = 99999;
        job_check(mem_segment_attach(&wrong, &none) < 0);
        wrong = key, wrong.size *= 2;
        job_check(mem_segment_attach(&wrong, &none) == -ESTALE);
    }
    job_check(boot_barrier() == 0);
    if (boot_rank() == 0) {
        mem_door_close(proc->mem);
        mem_wake_close();
    }
    job_check(boot_barrier() == 0);
    if (boot_rank() == 1)
        job_check(mem_segment_attach(&key, &none) == -ESTALE);
    both_leave(seg);
}

START_TEST(is_refused)
{
    ck_assert_int_eq(job_run(2, NULL, refused, 20), 0);
}
END_TEST

static int descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d))
        n++;
    closedir(d);
    return n;
}

/* To the asker, from elsewhere: an answer to another question, with so many descriptors. */
static void answer_wrongly(int given)
{
    struct {
        uint64_t seg_id;
        int32_t err;
        uint32_t unused;
    } words = {.seg_id = 1};
    struct sockaddr_un a;
    socklen_t len = sizeof a;
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0), two[2] = {fd, fd};
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof two)] = {0};
    struct iovec v = {&words, sizeof words};
    struct msghdr h = {.msg_name = &a, .msg_iov = &v, .msg_iovlen = 1};
    job_check(getsockname(proc->mem->door->ask_fd, (struct sockaddr *)&a, &len) == 0);
    h.msg_namelen = len;
    if (given) {
        h.msg_control = room;
        h.msg_controllen = CMSG_SPACE((size_t)given * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t)given * sizeof(int));
        memcpy(CMSG_DATA(c), two, (size_t)given * sizeof(int));
    }
    job_check(sendmsg(fd, &h, 0) == (ssize_t)sizeof words);
    close(fd);
}

/* What others send to the door, and answers to other questions, disturb nothing. */
static void stranger(void)
{
    struct mem_segment *seg = NULL;
    apart();
    struct mem_key key = shown(&seg);
    if (boot_rank() == 1) {
        struct sockaddr_un a;
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
        socklen_t len = door_of(&key, &a);
        for (int i = 0; i < 3000; i++)
            sendto(fd, "stranger, stranger", (size_t)(i % 19), 0, (struct sockaddr *)&a, len);
        close(fd);
        int before = descriptors();
        for (int i = 0; i < 3; i++)
            answer_wrongly(i);
        job_check(mem_segment_attach(&key, &seg) == 0 && *(int *)seg->base == 7);
        job_check(descriptors() == before);
    }
    both_leave(seg);
}

START_TEST(of_strangers)
{
    ck_assert_int_eq(job_run(2, NULL, stranger, 40), 0);
}
END_TEST

/* The kernel may let a child run long after its parent. */
static void slow_child(void)
{
    usleep(300000);
}

/* A child that does not call exec() does not hold the names: the owner's end is seen. */
static void forked(void)
{
    struct mem_segment *seg = NULL, *none;
    pid_t child = 0;
    int p[2];
    /* Handlers of a child run in the order in which they were given: before the door's. */
    job_check(pthread_atfork(NULL, NULL, slow_child) == 0);
    apart();
    struct mem_key key = shown(&seg);
    if (boot_rank() == 0) {
        job_check(pipe(p) == 0);
        child = fork();
        if (!child) {
            char c;
            close(p[1]);
            _exit(read(p[0], &c, 1) != 0);
        }
        close(p[0]);
        mem_door_close(proc->mem);
        mem_wake_close();
    }
    job_check(boot_barrier() == 0);
    if (boot_rank() == 1) {
        job_check(mem_segment_attach(&key, &none) == -ESTALE);
        job_check(mem_holder_died(1) && boot_failed(0));
    }
    job_check(boot_barrier() == 0);
    if (child > 0) {
        int status;
        close(p[1]);
        job_check(waitpid(child, &status, 0) == child && status == 0);
    }
    both_leave(seg);
}

START_TEST(not_forked)
{
    ck_assert_int_eq(job_run(2, NULL, forked, 20), 0);
}
END_TEST

/* Neither side has a descriptor left: the asker's spare one does. */
static void few(void)
{
    struct mem_segment *seg = NULL;
    struct rlimit had;
    apart();
    struct mem_key key = shown(&seg);
    job_check(getrlimit(RLIMIT_NOFILE, &had) == 0);
    job_check(setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, had.rlim_max}) == 0);
    while (open("/dev/null", O_RDONLY) >= 0)
        ;
    job_check(errno == EMFILE);
    job_check(boot_barrier() == 0);
    if (boot_rank() == 1) {
        job_check(proc->mem->spare_fd >= 0);
        job_check(mem_segment_attach(&key, &seg) == 0 && *(int *)seg->base == 7);
        job_check(proc->mem->spare_fd >= 0);
    }
    both_leave(seg);
}

START_TEST(few_descriptors)
{
    ck_assert_int_eq(job_run(2, NULL, few, 20), 0);
}
END_TEST

/* No copy by the kernel with a process id of elsewhere.  A death shows by the closed socket. */
static void by_id(void)
{
    struct mem_segment *seg = NULL;
    apart();
    shown(&seg);
    if (boot_rank() == 0) {
        char c;
        struct iovec v = {&c, 1};
        job_check(mem_pid(0) == getpid() && mem_pid(1) == 0);
        job_check(mem_cma_read(1, &v, 1, &v, 1) == -EPERM);
        job_check(!mem_holder_died(2) && boot_failed_count() == 0);
    }
    job_check(boot_barrier() == 0);
    if (boot_rank() == 1)
        mem_wake_close();
    job_check(boot_barrier() == 0);
    if (boot_rank() == 0)
        job_check(mem_holder_died(2) && boot_failed(1) && boot_failed_count() == 1);
    both_leave(seg);
}

START_TEST(by_process_id)
{
    ck_assert_int_eq(job_run(2, NULL, by_id, 20), 0);
}
END_TEST

/* Processes of one namespace keep no door and no thread. */
static void together(void)
{
    job_check(mem_init() == 0);
    job_check(boot_barrier() == 0);
    job_check(mem_meet() == 0 && !proc->mem->door);
    job_check(boot_barrier() == 0);
    mem_finalize();
}

START_TEST(none_needed)
{
    ck_assert_int_eq(job_run(3, NULL, together, 20), 0);
}
END_TEST

Suite *suite_door(void)
{
    Suite *s = suite_create("mem/door");
    TCase *t = tcase_create("door");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, is_given);
    tcase_add_test(t, comes_late);
    tcase_add_test(t, is_refused);
    tcase_add_test(t, of_strangers);
    tcase_add_test(t, not_forked);
    tcase_add_test(t, few_descriptors);
    tcase_add_test(t, by_process_id);
    tcase_add_test(t, none_needed);
    suite_add_tcase(s, t);
    return s;
}

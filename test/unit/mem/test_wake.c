/* test_wake.c - mem/wake.c: alone, nothing lost, many wakers, other users. */
#include "job.h"
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/proc.h"
#include "mem/mem_types.h"
#include "var/var.h"

Suite *suite_wake(void);

enum { ROUNDS = 20000 };

/* Sleep until word w reaches v: arm, look again, poll. */
static void await(_Atomic uint64_t *w, uint64_t v)
{
    while (atomic_load_explicit(w, memory_order_acquire) < v) {
        mem_wake_arm();
        if (atomic_load_explicit(w, memory_order_acquire) < v) {
            struct pollfd p = {.fd = mem_wake_fd(), .events = POLLIN};
            job_check(poll(&p, 1, 20000) == 1); /* a lost wake-up shows as a time-out */
        }
        mem_wake_disarm();
    }
}

/* Each waits for its predecessor's count, without spinning: a single lost wake-up stops all. */
static void chain(void)
{
    job_check(mem_init() == 0);
    job_check(boot_barrier() == 0);
    int rank = boot_rank(), size = boot_size(), next = (rank + 1) % size;
    _Atomic uint64_t *words = (_Atomic uint64_t *)job_words();
    for (uint64_t i = 1; i <= ROUNDS / (uint64_t)size; i++) {
        if (rank != 0)
            await(&words[8 * rank], i);
        atomic_store_explicit(&words[8 * next], i, memory_order_release);
        mem_wake(boot_host_index(next));
        if (rank == 0)
            await(&words[0], i);
    }
    job_check(boot_barrier() == 0);
    mem_finalize();
}

START_TEST(nothing_lost)
{
    ck_assert_int_eq(job_run(2, NULL, chain, 40), 0);
    ck_assert_int_eq(job_run(5, NULL, chain, 40), 0);
}
END_TEST

/* Several wakers at once on a sleeper that sleeps again and again. */
static void many_to_one(void)
{
    job_check(mem_init() == 0);
    job_check(boot_barrier() == 0);
    int rank = boot_rank(), size = boot_size();
    _Atomic uint64_t *sum = (_Atomic uint64_t *)job_words();
    _Atomic uint64_t *taken = sum + 8;
    if (rank == 0) {
        for (uint64_t i = 1; i <= (uint64_t)(size - 1) * 3000; i++) {
            await(sum, i);
            atomic_store_explicit(taken, i, memory_order_release);
        }
    } else {
        for (int i = 0; i < 3000; i++) {
            atomic_fetch_add_explicit(sum, 1, memory_order_release);
            mem_wake(0);
        }
    }
    job_check(boot_barrier() == 0);
    mem_finalize();
}

START_TEST(many_wakers)
{
    ck_assert_int_eq(job_run(4, NULL, many_to_one, 40), 0);
}
END_TEST

static void quiet(void)
{
    job_check(mem_init() == 0);
    job_check(boot_barrier() == 0);
    struct pollfd p = {.fd = mem_wake_fd(), .events = POLLIN};
    mem_wake(0); /* not armed: nothing is written */
    job_check(poll(&p, 1, 0) == 0);
    mem_wake_arm();
    mem_wake_arm();
    mem_wake(0);
    mem_wake(0); /* the first took the mark */
    job_check(poll(&p, 1, 0) == 1);
    mem_wake_disarm();
    job_check(poll(&p, 1, 0) == 0);
    mem_wake_disarm();
    mem_wake_self();
    job_check(poll(&p, 1, 0) == 1);
    for (int i = 0; i < 100000; i++) /* a full queue does not block */
        mem_wake_self();
    mem_wake_arm();
    mem_wake_disarm();
    job_check(poll(&p, 1, 0) == 0);
    job_check(mem_pid(0) == getpid());
    mem_finalize();
}

START_TEST(alone)
{
    ck_assert_int_eq(job_run(1, NULL, quiet, 20), 0);
}
END_TEST

/* --- strangers ---------------------------------------------------------------------- */

/* The name of the wake-up socket, as every user reads it in /proc/net/unix. */
static socklen_t name_of(int fd, struct sockaddr_un *a)
{
    char want[32], line[256], name[108];
    struct stat st;
    socklen_t len = 0;
    job_check(fstat(fd, &st) == 0);
    snprintf(want, sizeof want, "%llu", (unsigned long long)st.st_ino);
    FILE *f = fopen("/proc/net/unix", "r");
    job_check(f != NULL);
    while (!len && fgets(line, sizeof line, f)) {
        char inode[32];
        if (sscanf(line, "%*s %*s %*s %*s %*s %*s %31s @%107s", inode, name) == 2 &&
            !strcmp(inode, want)) {
            *a = (struct sockaddr_un){.sun_family = AF_UNIX};
            memcpy(a->sun_path + 1, name, strlen(name));
            len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
        }
    }
    fclose(f);
    return len;
}

/* n wake-ups by a process of user `uid`, each with a descriptor attached. */
static void send_as(uid_t uid, const struct sockaddr_un *a, socklen_t len, int n)
{
    pid_t child = fork();
    if (!child) {
        _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
        struct iovec v = {(char[1]){0}, 1};
        struct msghdr h = {.msg_name = (void *)(uintptr_t)a,
                           .msg_namelen = len,
                           .msg_iov = &v,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof control};
        struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        *c = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        *(int *)CMSG_DATA(c) = 2;
        int s = socket(AF_UNIX, SOCK_DGRAM, 0), bad = setresuid(uid, uid, uid);
        for (int i = 0; i < n && !bad; i++)
            bad = sendmsg(s, &h, 0) != 1;
        _exit(bad);
    }
    int status = 1;
    job_check(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static int open_files(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static uint64_t foreign(void)
{
    return pvar_proc()->v[PVAR_WAKE_FOREIGN];
}

static void strangers(void)
{
    enum { MANY = 5 };
    struct sockaddr_un a;
    job_check(mem_init() == 0);
    socklen_t len = name_of(mem_wake_fd(), &a);
    int files = open_files();
    job_check(len > 0);
    mem_wake_arm();
    send_as(getuid(), &a, len, MANY);
    job_check(mem_wake_heard() == MANY && foreign() == 0);
    /* Another user: a real one where this process may become one, else in the eyes of the receiver.
     * */
    if (getuid())
        proc->mem->uid++;
    send_as(getuid() ? getuid() : 65534, &a, len, MANY);
    job_check(mem_wake_heard() == 0 && foreign() == MANY);
    send_as(getuid() ? getuid() : 65534, &a, len, 1);
    proc->mem->uid = getuid();
    mem_wake(0);
    mem_wake_disarm();
    job_check(foreign() == MANY + (getuid() == 0) && mem_wake_heard() == 0);
    job_check(open_files() == files); /* what they attach is not taken */
    mem_finalize();
}

START_TEST(other_users)
{
    ck_assert_int_eq(job_run(1, NULL, strangers, 20), 0);
}
END_TEST

Suite *suite_wake(void)
{
    Suite *s = suite_create("mem/wake");
    TCase *t = tcase_create("wake");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, alone);
    tcase_add_test(t, nothing_lost);
    tcase_add_test(t, many_wakers);
    suite_add_tcase(s, t);
    /* an emulator of processors takes the descriptors that a stranger attaches */
    TCase *k = tcase_create("kernel");
    tcase_set_timeout(k, 120);
    tcase_set_tags(k, "kernel");
    tcase_add_test(k, other_users);
    suite_add_tcase(s, k);
    return s;
}

/* cost.c - what accesses cost, by the counters of the library: system calls, rounds, locks. And
 * what is returned where the file may not grow: class, text, bytes that are there. */
#include "view.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BLOCK = 1024, BLOCKS = 64 };
static char name[200], buf[BLOCK * BLOCKS];

static MPI_File opened(const char *cb, int every)
{
    MPI_File f;
    MPI_Info i;
    MPI_Info_create(&i);
    MPI_Info_set(i, "romio_cb_write", cb);
    MPI_Info_set(i, "romio_cb_read", cb);
    CHECK_EQ(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, i, &f), 0);
    MPI_Info_free(&i);
    view_set(f, BLOCK, every);
    return f;
}

static long long all(long long mine)
{
    long long sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static void independent(void)
{
    long long calls = pv_get("io_system_calls"), locks = pv_get("io_locks");
    long long own = pv_get("io_calls"), asked = pv_get("io_bytes_asked");
    long long moved = pv_get("io_bytes_moved"), ns = pv_get("io_ns");
    MPI_File f = opened("disable", 1);
    MPI_Status st;
    CHECK_EQ(MPI_File_write_at(f, 0, buf, sizeof buf, MPI_BYTE, &st), 0);
    CHECK_EQ(pv_get("io_system_calls") - calls, 1);
    CHECK_EQ(pv_get("io_calls") - own, 1);
    CHECK_EQ(pv_get("io_bytes_asked") - asked, sizeof buf);
    CHECK_EQ(pv_get("io_bytes_moved") - moved, sizeof buf);
    CHECK(pv_get("io_ns") > ns);
    CHECK_EQ(MPI_File_write_shared(f, buf, 100, MPI_BYTE, &st), 0);
    CHECK_EQ(MPI_File_write_ordered(f, buf, 100, MPI_BYTE, &st), 0);
    CHECK_EQ(pv_get("io_system_calls") - calls, 3);
    CHECK_EQ(pv_get("io_locks") - locks, 0);
    CHECK_EQ(MPI_File_set_atomicity(f, 1), 0);
    CHECK_EQ(MPI_File_write_at(f, 0, buf, 10, MPI_BYTE, &st), 0);
    CHECK_EQ(pv_get("io_system_calls") - calls, 4);
    CHECK_EQ(pv_get("io_locks") - locks, 1);
    MPI_File_close(&f);
}

/* Where gaps may be written with the blocks: one lock, one read, one write; and a write of one
 * block has a lock, too. What get_info says is so. */
static void with_gaps(void)
{
    MPI_Info i;
    MPI_File f;
    MPI_Status st;
    char v[20] = "";
    int flag = 0, contiguous = mt_size == 1;
    long long calls, locks;
    MPI_Info_create(&i);
    MPI_Info_set(i, "romio_ds_write", "enable");
    CHECK_EQ(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, i, &f), 0);
    MPI_Info_free(&i);
    CHECK_EQ(MPI_File_get_info(f, &i), 0);
    MPI_Info_get(i, "romio_ds_write", 19, v, &flag);
    CHECK(flag && !strcmp(v, "enable"));
    MPI_Info_free(&i);
    view_set(f, BLOCK, mt_size);
    CHECK_EQ(MPI_File_set_size(f, (MPI_Offset)sizeof buf * mt_size), 0);
    calls = pv_get("io_system_calls");
    locks = pv_get("io_locks");
    memset(buf, 'a' + mt_rank, sizeof buf);
    CHECK_EQ(MPI_File_write_at(f, 0, buf, sizeof buf, MPI_BYTE, &st), 0);
    CHECK_EQ(pv_get("io_system_calls") - calls, contiguous ? 1 : 2);
    CHECK_EQ(pv_get("io_locks") - locks, 1);
    CHECK_EQ(MPI_File_write_at(f, BLOCK, buf, BLOCK, MPI_BYTE, &st), 0);
    CHECK_EQ(pv_get("io_system_calls") - calls, contiguous ? 2 : 3);
    CHECK_EQ(pv_get("io_locks") - locks, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), 0);
    for (int b = 0; b < BLOCKS * mt_size; b++) {
        CHECK_EQ(MPI_File_read_at(f, (MPI_Offset)b * BLOCK, buf, BLOCK, MPI_BYTE, &st), 0);
        if (!CHECK(buf[0] == 'a' + b % mt_size && buf[BLOCK - 1] == 'a' + b % mt_size))
            break;
    }
    MPI_File_close(&f);
}

static void strided_memory(void)
{
    long long calls = pv_get("io_system_calls");
    MPI_File f = opened("disable", 1);
    MPI_Datatype t;
    MPI_Status st;
    MPI_Type_vector(1000, 3, 7, MPI_BYTE, &t);
    MPI_Type_commit(&t);
    CHECK_EQ(MPI_File_write_at(f, 0, buf, 1, t, &st), 0);
    CHECK_EQ(MPI_File_read_at(f, 0, buf, 1, t, &st), 0);
    CHECK_EQ(pv_get("io_system_calls") - calls, 2);
    MPI_Type_free(&t);
    MPI_File_close(&f);
}

static void by_aggregators(void)
{
    MPI_File f = opened("automatic", mt_size);
    MPI_Status st;
    long long calls, rounds;
    MPI_Barrier(MPI_COMM_WORLD);
    calls = pv_get("io_system_calls");
    rounds = pv_get("io_rounds");
    CHECK_EQ(MPI_File_write_all(f, buf, sizeof buf, MPI_BYTE, &st), 0);
    CHECK_EQ(pv_get("io_rounds") - rounds, 1);
    calls = all(pv_get("io_system_calls") - calls);
    MUST(calls <= mt_size, "%lld writes for %d blocks", calls, mt_size * BLOCKS);
    calls = pv_get("io_system_calls");
    CHECK_EQ(MPI_File_read_at_all(f, 0, buf, sizeof buf, MPI_BYTE, &st), 0);
    calls = all(pv_get("io_system_calls") - calls);
    MUST(calls <= mt_size, "%lld reads for %d blocks", calls, mt_size * BLOCKS);
    MPI_File_close(&f);
    /* blocks that are neighbours are no reason to meet */
    f = opened("automatic", 1);
    rounds = pv_get("io_rounds");
    CHECK_EQ(MPI_File_write_at_all(f, 0, buf, BLOCK, MPI_BYTE, &st), 0);
    CHECK_EQ(pv_get("io_rounds") - rounds, 0);
    MPI_File_close(&f);
}

/* A write that the system cuts short, then refuses. */
static void no_room(int collective)
{
    struct rlimit old, few;
    char text[MPI_MAX_ERROR_STRING], bytes[60];
    int err, len;
    MPI_File f = opened(collective ? "enable" : "disable", collective ? mt_size : 1);
    MPI_Status st;
    MPI_File_set_size(f, 0);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    few = old;
    few.rlim_cur = 40000;
    if (!collective || mt_rank == 0)
        setrlimit(RLIMIT_FSIZE, &few);
    err = collective ? MPI_File_write_all(f, buf, sizeof buf, MPI_BYTE, &st)
                     : MPI_File_write_at(f, 0, buf, sizeof buf, MPI_BYTE, &st);
    setrlimit(RLIMIT_FSIZE, &old);
    MPI_Error_string(err, text, &len);
    CHECK_EQ(mt_class(err), MPI_ERR_IO);
    MUST(strstr(text, name), "the text names no file: %s", text);
    if (!collective) {
        snprintf(bytes, sizeof bytes, "at byte 40000 after %d bytes", 40000 - mt_rank * BLOCK);
        MUST(strstr(text, bytes), "the text has no '%s': %s", bytes, text);
    }
    MPI_File_close(&f);
}

int main(int argc, char **argv)
{
    int id = (int)getpid(), provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    mt_init(&argc, &argv);
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/tmp/mt-io-cost-%d", id);
    independent();
    if (mt_size <= 4) /* else the gaps are too long */
        with_gaps();
    strided_memory();
    if (mt_size > 1)
        by_aggregators();
    no_room(0);
    if (mt_size > 1)
        no_room(1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank == 0)
        unlink(name);
    MPI_T_finalize();
    return mt_finish();
}

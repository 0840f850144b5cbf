/* Hardware resources and kinds of memory (MPI-4.1 9.1.2, 7.4.2, 11.4.3), and MPI_VERSION. */
#include "../mt.h"

static int value_is(MPI_Info i, const char *key, const char *want)
{
    char value[MPI_MAX_INFO_VAL];
    int len = sizeof value, flag;
    MPI_Info_get_string(i, key, &len, value, &flag);
    return flag && !strcmp(value, want);
}

static MPI_Comm split(int type, const char *key, const char *value)
{
    MPI_Info i;
    MPI_Comm c;
    MPI_Info_create(&i);
    MPI_Info_set(i, key, value);
    MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, i, &c);
    MPI_Info_free(&i);
    return c;
}

/* Each key is a resource; this process is in one of a kind exactly if a guided split finds it. */
static void resources(void)
{
    MPI_Info i;
    char key[MPI_MAX_INFO_KEY];
    int n, k, size;
    MPI_Get_hw_resource_info(&i);
    MPI_Info_get_nkeys(i, &n);
    CHECK(n >= 3);
    CHECK(value_is(i, "hwloc://Machine", "true"));
    for (k = 0; k < n; k++) {
        MPI_Info_get_nthkey(i, k, key);
        MUST(!strncmp(key, "hwloc://", 8), "key %s", key);
        MUST(value_is(i, key, "true") || value_is(i, key, "false"), "key %s", key);
        MPI_Comm c = split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", key);
        MUST((c != MPI_COMM_NULL) == value_is(i, key, "true"), "key %s", key);
        if (c != MPI_COMM_NULL)
            MPI_Comm_free(&c);
    }
    MPI_Info_free(&i);
    MPI_Comm c = split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF");
    MPI_Comm_size(c, &size);
    CHECK_EQ(size, 1);
    MPI_Comm_free(&c);
    c = split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD");
    MPI_Comm_size(c, &size);
    CHECK_EQ(size, mt_size);
    MPI_Comm_free(&c);
    CHECK(split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "no such thing") == MPI_COMM_NULL);
}

static void memory(void)
{
    MPI_Info i, got;
    MPI_Session s;
    MPI_Group g;
    MPI_Comm c;
    MPI_Win w;
    void *base;
    const char *key = "mpi_memory_alloc_kinds", *want = "mpi,system,mpi:alloc_mem:win_allocate";
    CHECK(value_is(MPI_INFO_ENV, key, "mpi,system"));
    MPI_Comm_get_info(MPI_COMM_WORLD, &got);
    CHECK(value_is(got, key, "mpi,system"));
    MPI_Info_free(&got);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
    MPI_Win_get_info(w, &got);
    CHECK(value_is(got, key, "mpi,system"));
    MPI_Info_free(&got);
    MPI_Win_free(&w);

    MPI_Info_create(&i);
    MPI_Info_set(i, key, "cuda:device,mpi:alloc_mem:win_allocate,mpi:unknown,system");
    MPI_Session_init(i, MPI_ERRORS_RETURN, &s);
    MPI_Session_get_info(s, &got);
    CHECK(value_is(got, key, want));
    MPI_Info_free(&got);
    MPI_Group_from_session_pset(s, "mpi://WORLD", &g);
    MPI_Comm_create_from_group(g, "kinds", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
    MPI_Comm_get_info(c, &got);
    CHECK(value_is(got, key, want));
    MPI_Info_free(&got);
    MPI_Comm_free(&c);
    MPI_Group_free(&g);
    MPI_Info_free(&i);
    MPI_Session_finalize(&s);
}

static void version(void)
{
    int version, subversion;
    MPI_Get_version(&version, &subversion);
    CHECK_EQ(version, MPI_VERSION);
    CHECK_EQ(subversion, MPI_SUBVERSION);
    CHECK(version * 10 + subversion >= 41);
}

static void status(void)
{
    MPI_Status st;
    MPI_Count n;
    memset(&st, 0, sizeof st);
    MPI_Status_set_elements_c(&st, MPI_INT, (MPI_Count)1 << 40);
    MPI_Get_count_c(&st, MPI_INT, &n);
    CHECK(n == (MPI_Count)1 << 40);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    version();
    status();
    resources();
    memory();
    return mt_finish();
}

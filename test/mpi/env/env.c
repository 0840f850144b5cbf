/* env.c - start and end, versions, clocks, memory, info objects, names. */
#include "../mt.h"
#include <unistd.h>

static int at_end;

static int on_delete(MPI_Comm c, int key, void *val, void *extra)
{
    int flag = 1;

    (void)c, (void)key, (void)val, (void)extra;
    MPI_Finalized(&flag);
    at_end = flag ? -1 : 1;
    return MPI_SUCCESS;
}

static void info(void)
{
    MPI_Info a, b;
    int n, flag, len;
    char v[100], key[MPI_MAX_INFO_KEY + 1];

    MPI_Info_create(&a);
    MPI_Info_set(a, "one", "1");
    MPI_Info_set(a, "two", "a longer value");
    MPI_Info_set(a, "one", "uno");
    MPI_Info_get_nkeys(a, &n);
    CHECK_EQ(n, 2);
    MPI_Info_get(a, "one", 99, v, &flag);
    CHECK(flag && strcmp(v, "uno") == 0);
    MPI_Info_get(a, "two", 8, v, &flag);
    CHECK(flag && strcmp(v, "a longer") == 0);
    MPI_Info_get_valuelen(a, "two", &len, &flag);
    CHECK(flag && len == 14);
    MPI_Info_get(a, "three", 99, v, &flag);
    CHECK_EQ(flag, 0);
    MPI_Info_dup(a, &b);
    MPI_Info_delete(a, "one");
    MPI_Info_get_nkeys(a, &n);
    CHECK_EQ(n, 1);
    MPI_Info_get_nkeys(b, &n);
    CHECK_EQ(n, 2);
    MPI_Info_get_nthkey(b, 1, key);
    CHECK(strcmp(key, "two") == 0);
    MPI_Info_free(&a);
    CHECK(a == MPI_INFO_NULL);
    MPI_Info_free(&b);
    MPI_Info_dup(MPI_INFO_ENV, &b);
    MPI_Info_free(&b);
}

static void misc(void)
{
    int v, s, n, k;
    char text[MPI_MAX_LIBRARY_VERSION_STRING], host[MPI_MAX_PROCESSOR_NAME], mine[256];
    double t, u;
    void *p;
    MPI_Aint x, y;
    int arr[10];
    MPI_Info i;

    MPI_Get_version(&v, &s);
    CHECK(v > 3 || (v == 3 && s >= 1));
    MPI_Get_library_version(text, &n);
    CHECK(n > 0 && n == (int)strlen(text));
    MPI_Get_processor_name(host, &n);
    gethostname(mine, sizeof mine);
    CHECK(n > 0 && strncmp(host, mine, strlen(mine)) == 0);
    t = MPI_Wtime();
    u = MPI_Wtime();
    CHECK(u >= t && u - t < 60);
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1e-3);
    for (k = 0; k < 50; k++) {
        size_t size = (size_t)1 << (k % 22);

        MPI_Alloc_mem((MPI_Aint)size, MPI_INFO_NULL, &p);
        CHECK(p != NULL);
        memset(p, k, size);
        CHECK_EQ((uintptr_t)p % 16, 0);
        MPI_Free_mem(p);
    }
    MPI_Info_create(&i);
    MPI_Info_set(i, "mpi_minimum_memory_alignment", "4096");
    MPI_Alloc_mem(100, i, &p);
    CHECK(p != NULL);
    MPI_Free_mem(p);
    MPI_Info_free(&i);
    MPI_Get_address(&arr[7], &x);
    MPI_Get_address(&arr[2], &y);
    CHECK_EQ(MPI_Aint_diff(x, y), 20);
}

/* A switch is an integer that is on if it is not 0: it keeps what was written. */
static void a_switch(void)
{
    MPI_T_cvar_handle h;
    int i, n, old = -1, in = 123, out = 0;

    CHECK_EQ(MPI_T_cvar_get_index("MPIR_CVAR_RMA_STRICT_NO_LOCKS", &i), MPI_SUCCESS);
    CHECK_EQ(MPI_T_cvar_handle_alloc(i, NULL, &h, &n), MPI_SUCCESS);
    CHECK_EQ(MPI_T_cvar_read(h, &old), MPI_SUCCESS);
    CHECK_EQ(MPI_T_cvar_write(h, &in), MPI_SUCCESS);
    CHECK_EQ(MPI_T_cvar_read(h, &out), MPI_SUCCESS);
    CHECK_EQ(out, in);
    CHECK_EQ(MPI_T_cvar_write(h, &old), MPI_SUCCESS);
    MPI_T_cvar_handle_free(&h);
}

static void tool(void)
{
    int provided, n, i, found = 0, verb, bind, scope, nl, dl, count, value = -1;
    char name[256], desc[2000];
    MPI_Datatype t;
    MPI_T_enum e;
    MPI_T_cvar_handle h;

    CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
    CHECK_EQ(MPI_T_cvar_get_num(&n), MPI_SUCCESS);
    for (i = 0; i < n; i++) {
        nl = sizeof name;
        dl = sizeof desc;
        CHECK_EQ(MPI_T_cvar_get_info(i, name, &nl, &verb, &t, &e, desc, &dl, &bind, &scope),
                 MPI_SUCCESS);
        CHECK(nl > 1 && (int)strlen(name) == nl - 1);
        if (t == MPI_INT && bind == MPI_T_BIND_NO_OBJECT && !found) {
            CHECK_EQ(MPI_T_cvar_handle_alloc(i, NULL, &h, &count), MPI_SUCCESS);
            CHECK_EQ(count, 1);
            CHECK_EQ(MPI_T_cvar_read(h, &value), MPI_SUCCESS);
            MPI_T_cvar_handle_free(&h);
            found = 1;
        }
    }
    CHECK(found);
    CHECK(MPI_T_cvar_get_info(n + 5, name, &nl, &verb, &t, &e, desc, &dl, &bind, &scope) !=
          MPI_SUCCESS);
    CHECK_EQ(MPI_T_pvar_get_num(&n), MPI_SUCCESS);
    CHECK(n > 0);
    a_switch();
    MPI_T_finalize();
}

int main(int argc, char **argv)
{
    int flag = 1, key, errors;

    MPI_Initialized(&flag);
    CHECK_EQ(flag, 0);
    MPI_Finalized(&flag);
    CHECK_EQ(flag, 0);
    MPI_Get_version(&flag, &key);
    mt_init(&argc, &argv);
    MPI_Initialized(&flag);
    CHECK_EQ(flag, 1);
    MPI_Query_thread(&flag);
    CHECK(flag >= MPI_THREAD_SINGLE);
    info();
    misc();
    tool();
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    errors = mt_finish();
    if (at_end != 1) { /* the attributes of MPI_COMM_SELF go while MPI still runs */
        printf("rank %d: delete function of MPI_COMM_SELF: %d\n", mt_rank, at_end);
        errors++;
    }
    MPI_Finalized(&flag);
    return errors != 0 || !flag;
}

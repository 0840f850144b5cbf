/* attr.c - attributes of communicators, datatypes and windows: copy and delete functions, their
 * order and their errors, the predefined ones. MPI-3.1 6.7. */
#include "../mt.h"

static int copies, deletes, refuse;
static int order[8], at;

static int copy_fn(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key;
    copies++;
    *(void **)out = (char *)in + *(int *)extra;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_fn(MPI_Comm c, int key, void *val, void *extra)
{
    (void)c, (void)key, (void)extra;
    deletes++;
    if (at < 8)
        order[at++] = (int)(intptr_t)val;
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int no_copy(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}

static int tcopy(MPI_Datatype t, int key, void *extra, void *in, void *out, int *flag)
{
    (void)t, (void)key, (void)extra;
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int tdel(MPI_Datatype t, int key, void *val, void *extra)
{
    (void)t, (void)key, (void)val, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static int wdel(MPI_Win w, int key, void *val, void *extra)
{
    (void)w, (void)key, (void)val, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static void comms(void)
{
    int key[4], extra = 1, flag, err;
    MPI_Comm c, d;
    void *v;

    MPI_Comm_create_keyval(copy_fn, delete_fn, &key[0], &extra);
    MPI_Comm_create_keyval(no_copy, delete_fn, &key[1], NULL);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete_fn, &key[2], NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key[3], NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_get_attr(c, key[0], &v, &flag);
    CHECK_EQ(flag, 0);
    MPI_Comm_set_attr(c, key[0], (void *)10);
    MPI_Comm_set_attr(c, key[1], (void *)20);
    MPI_Comm_set_attr(c, key[2], (void *)30);
    MPI_Comm_set_attr(c, key[3], (void *)40);
    MPI_Comm_get_attr(c, key[0], &v, &flag);
    CHECK(flag && v == (void *)10);
    MPI_Comm_dup(c, &d);
    CHECK_EQ(copies, 1);
    MPI_Comm_get_attr(d, key[0], &v, &flag);
    CHECK(flag && v == (void *)11);
    MPI_Comm_get_attr(d, key[1], &v, &flag);
    CHECK_EQ(flag, 0);
    MPI_Comm_get_attr(d, key[2], &v, &flag);
    CHECK(flag && v == (void *)30);
    MPI_Comm_get_attr(d, key[3], &v, &flag);
    CHECK_EQ(flag, 0);
    MPI_Comm_set_attr(d, key[0], (void *)12);    /* replacing deletes the old value */
    CHECK_EQ(deletes, 1);
    MPI_Comm_delete_attr(d, key[0]);
    CHECK_EQ(deletes, 2);
    MPI_Comm_get_attr(d, key[0], &v, &flag);
    CHECK_EQ(flag, 0);
    refuse = 1;                                   /* an error of the delete function stops free */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(d, MPI_ERRORS_RETURN);
    err = MPI_Comm_free(&d);
    CHECK(err != MPI_SUCCESS);
    refuse = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (d != MPI_COMM_NULL)
        MPI_Comm_free(&d);
    MPI_Comm_free_keyval(&key[1]);
    CHECK_EQ(key[1], MPI_KEYVAL_INVALID);
    at = 0;
    deletes = 0;
    MPI_Comm_free(&c);
    CHECK_EQ(deletes, 3);
    MPI_Comm_free_keyval(&key[0]);
    MPI_Comm_free_keyval(&key[2]);
    MPI_Comm_free_keyval(&key[3]);
}

/* Attributes of MPI_COMM_SELF are deleted first thing in MPI_Finalize, the latest set first; here
 * the order on a communicator of our own with one keyval each. */
static void predefined(void)
{
    int flag, class, *p;
    MPI_Comm d;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &p, &flag);
    CHECK(flag && *p >= 32767);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &p, &flag);
    CHECK(flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &p, &flag);
    CHECK(flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &p, &flag);
    CHECK(flag && (*p == 0 || *p == 1));
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &p, &flag);
    if (flag)
        CHECK(*p >= 1);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &p, &flag);
    CHECK(flag && *p >= MPI_ERR_LASTCODE);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, &p, &flag);
    CHECK(flag && *p == 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &d);
    MPI_Comm_get_attr(d, MPI_TAG_UB, &p, &flag);
    CHECK(flag);
    MPI_Comm_set_errhandler(d, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Comm_set_attr(d, MPIX_FT, NULL), &class);
    CHECK_EQ(class, MPI_ERR_KEYVAL);
    MPI_Comm_get_attr(d, MPIX_FT, &p, &flag);
    CHECK(flag && *p == 1);
    MPI_Comm_free(&d);
}

/* What describes the world is no attribute of a communicator of the Sessions Model. */
static void of_a_session(void)
{
    static const int not_there[] = {MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_UNIVERSE_SIZE,
                                    MPI_APPNUM};
    MPI_Session s;
    MPI_Group g;
    MPI_Comm c, d;
    int *value, flag;
    size_t i;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
    MPI_Group_from_session_pset(s, "mpi://WORLD", &g);
    MPI_Comm_create_from_group(g, "attributes", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
    MPI_Comm_dup(c, &d);
    CHECK_EQ(MPI_Comm_get_attr(c, MPI_TAG_UB, &value, &flag), MPI_SUCCESS);
    CHECK(flag && *value >= 32767);
    CHECK_EQ(MPI_Comm_get_attr(c, MPIX_FT, &value, &flag), MPI_SUCCESS);
    CHECK(flag && *value == 1);
    for (i = 0; i < sizeof not_there / sizeof *not_there; i++) {
        flag = 1;
        CHECK_EQ(MPI_Comm_get_attr(c, not_there[i], &value, &flag), MPI_SUCCESS);
        MUST(!flag, "a session's communicator has the attribute %#x", (unsigned)not_there[i]);
        flag = 1;
        CHECK_EQ(MPI_Comm_get_attr(d, not_there[i], &value, &flag), MPI_SUCCESS);
        MUST(!flag, "its duplicate has the attribute %#x", (unsigned)not_there[i]);
    }
    MPI_Comm_free(&d);
    MPI_Comm_free(&c);
    MPI_Group_free(&g);
    MPI_Session_finalize(&s);
}

static void types_and_windows(void)
{
    int key, flag, *unit, *model, *flavour, mem[4];
    MPI_Datatype t, u;
    MPI_Win w;
    MPI_Aint *size;
    void *v;

    copies = deletes = 0;
    MPI_Type_create_keyval(tcopy, tdel, &key, NULL);
    MPI_Type_contiguous(3, MPI_INT, &t);
    MPI_Type_set_attr(t, key, (void *)5);
    MPI_Type_dup(t, &u);
    CHECK_EQ(copies, 1);
    MPI_Type_get_attr(u, key, &v, &flag);
    CHECK(flag && v == (void *)5);
    MPI_Type_delete_attr(u, key);
    CHECK_EQ(deletes, 1);
    MPI_Type_free(&u);
    MPI_Type_free(&t);
    CHECK_EQ(deletes, 2);
    MPI_Type_free_keyval(&key);

    deletes = 0;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, wdel, &key, NULL);
    MPI_Win_create(mem, sizeof mem, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    MPI_Win_set_attr(w, key, (void *)6);
    MPI_Win_get_attr(w, key, &v, &flag);
    CHECK(flag && v == (void *)6);
    MPI_Win_get_attr(w, MPI_WIN_BASE, &v, &flag);
    CHECK(flag && v == mem);
    MPI_Win_get_attr(w, MPI_WIN_SIZE, &size, &flag);
    CHECK(flag && *size == sizeof mem);
    MPI_Win_get_attr(w, MPI_WIN_DISP_UNIT, &unit, &flag);
    CHECK(flag && *unit == 4);
    MPI_Win_get_attr(w, MPI_WIN_CREATE_FLAVOR, &flavour, &flag);
    CHECK(flag && *flavour == MPI_WIN_FLAVOR_CREATE);
    MPI_Win_get_attr(w, MPI_WIN_MODEL, &model, &flag);
    CHECK(flag && (*model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE));
    MPI_Win_free(&w);
    CHECK_EQ(deletes, 1);
    MPI_Win_free_keyval(&key);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    comms();
    predefined();
    of_a_session();
    types_and_windows();
    return mt_finish();
}

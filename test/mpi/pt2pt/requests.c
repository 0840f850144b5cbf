/* requests.c - completion calls with null and inactive requests, errors in statuses, generalized
 * requests, and status setters. */
#include "../mt.h"

static int freed, queried, cancelled;

static int query(void *extra, MPI_Status *st)
{
    queried++;
    MPI_Status_set_elements(st, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(st, 0);
    st->MPI_SOURCE = MPI_UNDEFINED;
    st->MPI_TAG = 17;
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    (void)extra;
    freed++;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra;
    cancelled += 1 + complete;
    return MPI_SUCCESS;
}

static void generalized(void)
{
    MPI_Request r, two[2];
    MPI_Status st, sts[2];
    int n = 5, flag, count, v = 3, got = -1;

    MPI_Grequest_start(query, release, cancel, &n, &r);
    MPI_Test(&r, &flag, &st);
    CHECK_EQ(flag, 0);
    MPI_Cancel(&r);
    CHECK_EQ(cancelled, 1);
    MPI_Grequest_complete(r);
    MPI_Wait(&r, &st);
    CHECK(r == MPI_REQUEST_NULL);
    MPI_Get_count(&st, MPI_INT, &count);
    CHECK_EQ(count, 5);
    CHECK_EQ(st.MPI_TAG, 17);
    CHECK_EQ(freed, 1);
    CHECK(queried >= 1);

    MPI_Grequest_start(query, release, cancel, &n, &two[0]);
    MPI_Irecv(&got, 1, MPI_INT, mt_rank, 1, MPI_COMM_WORLD, &two[1]);
    MPI_Send(&v, 1, MPI_INT, mt_rank, 1, MPI_COMM_WORLD);
    MPI_Grequest_complete(two[0]);
    MPI_Waitall(2, two, sts);
    CHECK_EQ(got, 3);
    CHECK_EQ(sts[0].MPI_TAG, 17);
    CHECK_EQ(sts[1].MPI_TAG, 1);
    CHECK_EQ(freed, 2);
}

static void nulls(void)
{
    MPI_Request r[3] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Status st[3];
    int idx = 7, flag = 0, n = 0, which[3], i, v = 4, got = -1;

    MPI_Waitall(3, r, st);
    for (i = 0; i < 3; i++)
        CHECK_EQ(st[i].MPI_SOURCE, MPI_ANY_SOURCE);
    MPI_Waitany(3, r, &idx, st);
    CHECK_EQ(idx, MPI_UNDEFINED);
    MPI_Testany(3, r, &idx, &flag, st);
    CHECK(flag && idx == MPI_UNDEFINED);
    MPI_Waitsome(3, r, &n, which, st);
    CHECK_EQ(n, MPI_UNDEFINED);
    MPI_Testsome(3, r, &n, which, st);
    CHECK_EQ(n, MPI_UNDEFINED);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    MPI_Test(&r[0], &flag, st);
    CHECK_EQ(flag, 1);
    CHECK_EQ(st[0].MPI_TAG, MPI_ANY_TAG);

    /* inactive beside an active one */
    MPI_Recv_init(&got, 1, MPI_INT, mt_rank, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(&v, 1, MPI_INT, mt_rank, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Start(&r[0]);
    MPI_Wait(&r[0], st);
    CHECK_EQ(got, 4);
    MPI_Waitany(3, r, &idx, st);
    CHECK_EQ(idx, 2);
    MPI_Waitany(3, r, &idx, st);
    CHECK_EQ(idx, MPI_UNDEFINED);
    MPI_Request_free(&r[0]);
}

/* One failing request among good ones: MPI_ERR_IN_STATUS, and each status has its own. */
static void in_status(void)
{
    MPI_Request r[3];
    MPI_Status st[3];
    int out[3] = { 1, 2, 3 }, in[3] = { 0, 0, 0 }, err, i, n, which[3], done = 0, bad = 0;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (i = 0; i < 3; i++)
        MPI_Irecv(&in[i], i == 1 ? 0 : 1, MPI_INT, mt_rank, i, MPI_COMM_WORLD, &r[i]);
    for (i = 0; i < 3; i++)
        MPI_Send(&out[i], 1, MPI_INT, mt_rank, i, MPI_COMM_WORLD);
    err = MPI_Waitall(3, r, st);
    CHECK_EQ(mt_class(err), MPI_ERR_IN_STATUS);
    if (mt_class(err) == MPI_ERR_IN_STATUS) {
        CHECK_EQ(mt_class(st[1].MPI_ERROR), MPI_ERR_TRUNCATE);
        for (i = 0; i < 3; i += 2) {    /* done, or reported as still under way */
            CHECK(st[i].MPI_ERROR == MPI_SUCCESS || mt_class(st[i].MPI_ERROR) == MPI_ERR_PENDING);
            MPI_Wait(&r[i], MPI_STATUS_IGNORE);
        }
    }
    CHECK(in[0] == 1 && in[1] == 0 && in[2] == 3);

    for (i = 0; i < 3; i++)
        MPI_Irecv(&in[i], i == 1 ? 0 : 1, MPI_INT, mt_rank, i, MPI_COMM_WORLD, &r[i]);
    for (i = 0; i < 3; i++)
        MPI_Send(&out[i], 1, MPI_INT, mt_rank, i, MPI_COMM_WORLD);
    while (done < 3) {
        err = MPI_Waitsome(3, r, &n, which, st);
        if (err)
            CHECK_EQ(mt_class(err), MPI_ERR_IN_STATUS);
        if (!CHECK(n > 0))
            break;
        for (i = 0; i < n; i++)
            if (err && st[i].MPI_ERROR != MPI_SUCCESS) {
                CHECK_EQ(which[i], 1);
                bad++;
            }
        done += n;
    }
    CHECK_EQ(bad, 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Requests are looked at and stay: two receives from this process, of which one has its message. */
static void looked_at(void)
{
    MPI_Request r[4];
    MPI_Status st[4];
    int a = 0, b = 0, v = 8, flag, n, at[4], me, i;

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    r[0] = r[3] = MPI_REQUEST_NULL;
    MPI_Irecv(&a, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Irecv(&b, 1, MPI_INT, me, 2, MPI_COMM_WORLD, &r[2]);
    MPI_Request_get_status_any(4, r, &n, &flag, st);
    CHECK(!flag && n == MPI_UNDEFINED);
    MPI_Request_get_status_some(4, r, &n, at, st);
    CHECK_EQ(n, 0);
    MPI_Send(&v, 1, MPI_INT, me, 2, MPI_COMM_WORLD);
    for (flag = 0; !flag;)
        MPI_Request_get_status_any(4, r, &n, &flag, st);
    CHECK(n == 2 && st[0].MPI_TAG == 2 && b == 8 && r[2] != MPI_REQUEST_NULL);
    MPI_Request_get_status_all(4, r, &flag, st);
    CHECK(!flag);
    MPI_Request_get_status_some(4, r, &n, at, st);
    CHECK(n == 1 && at[0] == 2 && st[0].MPI_SOURCE == me);
    MPI_Send(&v, 1, MPI_INT, me, 1, MPI_COMM_WORLD);
    for (i = 0; i < 4; i++)
        st[i].MPI_ERROR = 1234;
    for (flag = 0; !flag;)
        MPI_Request_get_status_all(4, r, &flag, st);
    CHECK(a == 8 && st[0].MPI_SOURCE == MPI_ANY_SOURCE && st[1].MPI_TAG == 1 &&
          st[2].MPI_TAG == 2 && st[3].MPI_TAG == MPI_ANY_TAG && st[1].MPI_ERROR == 1234 &&
          st[0].MPI_ERROR == MPI_SUCCESS && st[3].MPI_ERROR == MPI_SUCCESS);
    MPI_Request_get_status_all(4, r, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag);
    MPI_Waitall(4, r, st);
    st[0].MPI_ERROR = st[1].MPI_ERROR = 1234;
    MPI_Wait(&r[0], &st[0]);
    MPI_Test(&r[1], &flag, &st[1]);
    CHECK(flag && st[0].MPI_ERROR == MPI_SUCCESS && st[1].MPI_ERROR == MPI_SUCCESS);
    MPI_Request_get_status_any(4, r, &n, &flag, st);
    CHECK(flag && n == MPI_UNDEFINED && st[0].MPI_SOURCE == MPI_ANY_SOURCE);
    MPI_Request_get_status_some(4, r, &n, at, st);
    CHECK_EQ(n, MPI_UNDEFINED);
    MPI_Request_get_status_all(0, r, &flag, st);
    CHECK(flag);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(mt_class(MPI_Request_get_status_all(-1, r, &flag, st)) == MPI_ERR_COUNT);
    CHECK(mt_class(MPI_Request_get_status_any(1, r, NULL, &flag, st)) == MPI_ERR_ARG);
    r[0] = (MPI_Request)0x12345678;
    CHECK(mt_class(MPI_Request_get_status_some(1, r, &n, at, st)) == MPI_ERR_REQUEST);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* The fields of a status by name, error classes that go, pairs by their types. */
static void of_mpi_4_1(void)
{
    MPI_Status st;
    MPI_Datatype t;
    int cls, code, v = 0;

    MPI_Status_set_source(&st, 3);
    MPI_Status_set_tag(&st, 4);
    MPI_Status_set_error(&st, 5);
    CHECK(st.MPI_SOURCE == 3 && st.MPI_TAG == 4 && st.MPI_ERROR == 5);
    MPI_Status_get_source(&st, &v);
    CHECK_EQ(v, 3);
    MPI_Status_get_tag(&st, &v);
    CHECK_EQ(v, 4);
    MPI_Status_get_error(&st, &v);
    CHECK_EQ(v, 5);
    MPI_Add_error_class(&cls);
    MPI_Add_error_code(cls, &code);
    MPI_Add_error_string(code, "gone soon");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Remove_error_class(cls) != MPI_SUCCESS); /* it has a code */
    CHECK(MPI_Remove_error_string(code) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_string(code) != MPI_SUCCESS);
    CHECK(MPI_Remove_error_code(code) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(cls) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(cls) != MPI_SUCCESS);
    CHECK(mt_class(MPI_Status_get_tag(MPI_STATUS_IGNORE, &v)) == MPI_ERR_ARG);
    CHECK(mt_class(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &t)) == MPI_ERR_TYPE);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &t);
    CHECK(t == MPI_DOUBLE_INT);
    MPI_Type_get_value_index(MPI_INT, MPI_INT, &t);
    CHECK(t == MPI_2INT);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_DOUBLE, &t);
    CHECK(t == MPI_DATATYPE_NULL);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    looked_at();
    of_mpi_4_1();
    generalized();
    nulls();
    in_status();
    return mt_finish();
}

/* many.c - thousands of messages under way; the four families of completion calls. */
#include "../mt.h"

/* N sends and N receives in opposite order of tags; all, some, any, and test forms. */
static void outstanding(int n, int how)
{
    int left = (mt_rank + mt_size - 1) % mt_size, right = (mt_rank + 1) % mt_size, i, done = 0, idx,
        count, flag;
    int *out = mt_alloc(sizeof *out * (size_t)n), *in = mt_alloc(sizeof *in * (size_t)n);
    int *which = mt_alloc(sizeof *which * 2 * (size_t)n),
        *seen = calloc(2 * (size_t)n, sizeof *seen);
    MPI_Request *req = mt_alloc(sizeof *req * 2 * (size_t)n);
    MPI_Status *st = mt_alloc(sizeof *st * 2 * (size_t)n);

    for (i = 0; i < n; i++) {
        out[i] = mt_rank * 100000 + i;
        in[i] = -1;
        MPI_Isend(&out[i], 1, MPI_INT, right, i % 1000, MPI_COMM_WORLD, &req[i]);
    }
    for (i = n - 1; i >= 0; i--)
        MPI_Irecv(&in[n - 1 - i], 1, MPI_INT, left, (n - 1 - i) % 1000, MPI_COMM_WORLD,
                  &req[2 * n - 1 - i]);
    switch (how) {
    case 0:
        MPI_Waitall(2 * n, req, st);
        for (i = 0; i < n; i++)
            CHECK_EQ(st[n + i].MPI_TAG, i % 1000);
        break;
    case 1:
        while (done < 2 * n) {
            MPI_Waitsome(2 * n, req, &count, which, st);
            if (!CHECK(count > 0 && count != MPI_UNDEFINED))
                break;
            for (i = 0; i < count; i++)
                seen[which[i]]++;
            done += count;
        }
        MPI_Waitsome(2 * n, req, &count, which, st);
        CHECK_EQ(count, MPI_UNDEFINED);
        break;
    case 2:
        for (i = 0; i < 2 * n; i++) {
            MPI_Waitany(2 * n, req, &idx, st);
            if (CHECK(idx >= 0 && idx < 2 * n))
                seen[idx]++;
        }
        MPI_Waitany(2 * n, req, &idx, st);
        CHECK_EQ(idx, MPI_UNDEFINED);
        break;
    case 3:
        while (done < 2 * n) {
            MPI_Testsome(2 * n, req, &count, which, MPI_STATUSES_IGNORE);
            for (i = 0; i < count; i++)
                seen[which[i]]++;
            done += count;
        }
        break;
    default:
        while (done < 2 * n) {
            MPI_Testany(2 * n, req, &idx, &flag, MPI_STATUS_IGNORE);
            if (flag && CHECK(idx >= 0)) {
                seen[idx]++;
                done++;
            }
        }
        MPI_Testany(2 * n, req, &idx, &flag, MPI_STATUS_IGNORE);
        CHECK(flag && idx == MPI_UNDEFINED);
        MPI_Testall(2 * n, req, &flag, MPI_STATUSES_IGNORE);
        CHECK(flag);
        break;
    }
    for (i = 0; i < 2 * n; i++) {
        CHECK(req[i] == MPI_REQUEST_NULL);
        if (how)
            CHECK_EQ(seen[i], 1);
    }
    for (i = 0; i < n; i++)
        CHECK_EQ(in[i], left * 100000 + i);
    free(out);
    free(in);
    free(which);
    free(seen);
    free(req);
    free(st);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Many unexpected messages at one rank: memory bounds must not cost order or a deadlock. */
static void flood(int n, int bytes)
{
    char *buf = calloc(1, (size_t)bytes);
    int *next = calloc((size_t)mt_size, sizeof *next), i, k;
    MPI_Status st;

    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank) {
        for (i = 0; i < n; i++) {
            memcpy(buf, &i, sizeof i);
            MPI_Send(buf, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    } else {
        if (mt_size > 1) {         /* let them pile up: the last message is probed for first */
            MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &st);
        }
        for (i = 0; i < n * (mt_size - 1); i++) {
            MPI_Recv(buf, bytes, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &st);
            memcpy(&k, buf, sizeof k);
            CHECK_EQ(k, next[st.MPI_SOURCE]);
            next[st.MPI_SOURCE]++;
        }
    }
    free(buf);
    free(next);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int how;

    mt_init(&argc, &argv);
    for (how = 0; how < 5; how++)
        outstanding(how == 0 ? 5000 : 500, how);
    flood(5000, 8);
    flood(300, 10000);
    return mt_finish();
}

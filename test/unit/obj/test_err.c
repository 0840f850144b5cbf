/* test_err.c - obj/err.c: codes keep class and text, a call is named once, an old code shows its
 * class, reported again, every class has a text, classes of users, errno has a class, long texts
 * are cut. */
#include "unit_obj.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "obj/err.h"
#include "obj/errhandler.h"

static const char *text(int code)
{
    static char buf[MPI_MAX_ERROR_STRING];
    err_text(code, buf, sizeof buf);
    return buf;
}

START_TEST(codes_keep_class_and_text)
{
    int a = err_make(MPI_ERR_RANK, "MPI_Send: rank %d", 7);
    int b = err_make(MPI_ERR_RMA_SYNC, "MPI_Put: window %#x", 0xa0000000);
    ck_assert_int_ne(a, b);
    ck_assert_int_eq(err_class(a), MPI_ERR_RANK);
    ck_assert_int_eq(err_class(b), MPI_ERR_RMA_SYNC);
    ck_assert_str_eq(text(a), "MPI_Send: rank 7");
    ck_assert_str_eq(text(b), "MPI_Put: window 0xa0000000");
    ck_assert_int_gt(a, 0);
    ck_assert_int_lt(a, MPI_ERR_LASTCODE);
    ck_assert_int_eq(err_make(MPI_SUCCESS, "nothing"), MPI_SUCCESS);
}
END_TEST

START_TEST(a_call_is_named_once)
{
    char longest[ERR_TEXT + 50];
    int a = err_make(MPI_ERR_TRUNCATE, "the message has 8 bytes"),
        b = err_make(MPI_ERR_TAG, "MPI_Send: tag -5");
    err_name(a, "MPI_Wait");
    err_name(a, "MPI_Test");
    ck_assert_str_eq(text(a), "MPI_Wait: the message has 8 bytes");
    err_name(b, "MPI_Wait");
    ck_assert_str_eq(text(b), "MPI_Send: tag -5");
    err_name(a, NULL);
    /* a bare class, success, an unused code: nothing to name */
    err_name(MPI_ERR_TAG, "MPI_Wait");
    err_name(MPI_SUCCESS, "MPI_Wait");
    err_name(-1, "MPI_Wait");
    ck_assert_str_ne(text(MPI_ERR_TAG), "");
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = 0;
    a = err_make(MPI_ERR_OTHER, "%s", longest);
    err_name(a, "MPI_Wait");
    ck_assert_int_eq(strncmp(text(a), "MPI_Wait: xxx", 13), 0);
}
END_TEST

START_TEST(an_old_code_shows_its_class)
{
    int old = err_make(MPI_ERR_TAG, "MPI_Send: tag %d", -5);
    for (int i = 0; i < ERR_SLOTS - 1; i++)
        err_make(MPI_ERR_RANK, "%d", i);
    ck_assert_str_eq(text(old), "MPI_Send: tag -5");
    int last = err_make(MPI_ERR_COUNT, "MPI_Recv: count");
    ck_assert_str_eq(text(old), text(MPI_ERR_TAG)); /* not the text that took its slot */
    ck_assert_int_eq(err_class(old), MPI_ERR_TAG);
    ck_assert_str_eq(text(last), "MPI_Recv: count");
    for (int i = 0; i < ERR_SLOTS * 40000; i++) /* the round number wraps */
        last = err_make(MPI_ERR_RANK, "x");
    ck_assert_int_gt(last, 0);
    ck_assert_int_lt(last, MPI_ERR_LASTCODE);
    ck_assert_str_eq(text(last), "x");
}
END_TEST

START_TEST(given_bare)
{
    int a = err_make(MPIX_ERR_PROC_FAILED, "MPI_Recv: process %d died", 3),
        b = err_make(MPIX_ERR_REVOKED, "MPI_Send: revoked"), c = err_make(MPI_ERR_RANK, "rank"),
        user;
    char class_text[MPI_MAX_ERROR_STRING];
    snprintf(class_text, sizeof class_text, "%s", text(MPIX_ERR_PROC_FAILED));
    ck_assert_int_ne(a, MPIX_ERR_PROC_FAILED);
    ck_assert_int_eq(err_give(a), MPIX_ERR_PROC_FAILED);
    ck_assert_int_eq(err_give(b), MPIX_ERR_REVOKED);
    ck_assert_int_eq(err_give(c), c);
    ck_assert_int_eq(err_give(MPI_SUCCESS), MPI_SUCCESS);
    ck_assert_str_eq(text(MPIX_ERR_PROC_FAILED), "MPI_Recv: process 3 died");
    ck_assert_str_eq(text(MPIX_ERR_REVOKED), "MPI_Send: revoked");
    /* a bare class that comes again says what it said */
    ck_assert_int_eq(err_give(MPIX_ERR_PROC_FAILED), MPIX_ERR_PROC_FAILED);
    ck_assert_str_eq(text(MPIX_ERR_PROC_FAILED), "MPI_Recv: process 3 died");
    for (int i = 0; i < ERR_SLOTS; i++)
        err_make(MPI_ERR_RANK, "%d", i);
    ck_assert_str_eq(text(MPIX_ERR_REVOKED), "MPI_Send: revoked"); /* kept beside the ring */
    ck_assert_int_eq(err_give(a), MPIX_ERR_PROC_FAILED); /* its text is lost: no other's */
    ck_assert_str_eq(text(MPIX_ERR_PROC_FAILED), class_text);
    err_add_code(MPIX_ERR_PROC_FAILED, &user);
    ck_assert_int_eq(err_give(user), user);
}
END_TEST

START_TEST(told_again)
{
    enum { MANY = 3 * ERR_SLOTS };
    int code[MANY], kept;
    for (int i = 0; i < MANY; i++)
        code[i] = err_make(i % 2 ? MPI_ERR_RMA_RANGE : MPI_ERR_TYPE, "MPI_Get: number %d", i);
    kept = err_retell(code[MANY - 1], "never");
    ck_assert_int_eq(kept, code[MANY - 1]); /* its text is there */
    for (int i = 1; i < MANY; i += 2) {
        char own[40];
        snprintf(own, sizeof own, "MPI_Get: number %d", i);
        int again = err_retell(code[i], "MPI_Wait: rank %d", 3);
        ck_assert_int_eq(err_class(again), MPI_ERR_RMA_RANGE);
        /* All that had lost theirs share one slot, which took that of one more. */
        ck_assert_str_eq(text(again), i <= MANY - ERR_SLOTS ? "MPI_Wait: rank 3" : own);
    }
    int other = err_retell(code[0], "MPI_Wait: rank %d", 3); /* of another class */
    ck_assert_int_eq(err_class(other), MPI_ERR_TYPE);
    ck_assert_str_eq(text(other), "MPI_Wait: rank 3");
    ck_assert_int_eq(err_retell(MPI_SUCCESS, "x"), MPI_SUCCESS);
    /* a bare class has no text of its own */
    ck_assert_str_eq(text(err_retell(MPI_ERR_TAG, "x")), "x");
}
END_TEST

START_TEST(every_class_has_a_text)
{
    for (int c = 0; c <= MPICH_ERR_LAST_CLASS; c++) {
        if (c == 54) /* no class of MPICH's ABI */
            continue;
        ck_assert_msg(err_valid(c), "class %d", c);
        ck_assert_int_eq(err_class(c), c);
        ck_assert_int_gt((int)strlen(text(c)), 4);
        for (int d = 0; d < c; d++) {
            char other[MPI_MAX_ERROR_STRING];
            err_text(d, other, sizeof other);
            if (d != 54)
                ck_assert_str_ne(text(c), other);
        }
    }
    ck_assert(err_valid(MPIX_ERR_PROC_FAILED));
    ck_assert(!err_valid(54));
    ck_assert(!err_valid(-1));
    ck_assert(!err_valid(MPI_ERR_LASTCODE));
    ck_assert_int_eq(err_class(-1), MPI_ERR_UNKNOWN);
}
END_TEST

START_TEST(classes_of_users)
{
    int class, code, other;
    ck_assert_int_eq(*err_last_used(), MPI_ERR_LASTCODE);
    ck_assert_int_eq(err_add_class(&class), MPI_SUCCESS);
    ck_assert_int_gt(class, MPI_ERR_LASTCODE);
    ck_assert_int_eq(err_add_code(class, &code), MPI_SUCCESS);
    ck_assert_int_eq(err_add_code(MPI_ERR_ARG, &other), MPI_SUCCESS);
    ck_assert_int_eq(*err_last_used(), other);
    ck_assert_int_eq(err_class(code), class);
    ck_assert_int_eq(err_class(class), class);
    ck_assert_int_eq(err_class(other), MPI_ERR_ARG);
    ck_assert_str_eq(text(code), "");
    ck_assert_int_eq(err_add_string(code, "first"), MPI_SUCCESS);
    ck_assert_int_eq(err_add_string(code, "second"), MPI_SUCCESS);
    ck_assert_str_eq(text(code), "second");
    ck_assert_int_eq(err_class(err_add_string(MPI_ERR_ARG, "no")), MPI_ERR_ARG);
    ck_assert_int_eq(err_class(err_add_code(code, &other)), MPI_ERR_ARG); /* a code is no class */
    ck_assert_int_eq(err_class(err_add_code(other + 100, &other)), MPI_ERR_ARG);
}
END_TEST

START_TEST(errno_has_a_class)
{
    ck_assert_int_eq(err_from_errno(0, "x"), MPI_SUCCESS);
    int e = err_from_errno(-ENOMEM, "MPI_Win_create: the segment");
    ck_assert_int_eq(err_class(e), MPI_ERR_NO_MEM);
    ck_assert_ptr_nonnull(strstr(text(e), "MPI_Win_create: the segment: "));
    ck_assert_int_eq(err_class(err_from_errno(-EIO, "x")), MPI_ERR_OTHER);
}
END_TEST

START_TEST(long_texts_are_cut)
{
    char longer[2 * ERR_TEXT];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    int e = err_make(MPI_ERR_OTHER, "%s", longer);
    ck_assert_int_eq((int)strlen(text(e)), ERR_TEXT - 1);
}
END_TEST

OBJ_SUITE(err, codes_keep_class_and_text, a_call_is_named_once, an_old_code_shows_its_class,
          told_again, given_bare, every_class_has_a_text, classes_of_users, errno_has_a_class,
          long_texts_are_cut)

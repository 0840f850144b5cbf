/* unsupported.c - what this library does not have returns an error that names the call: extensions
 * of MPICH. What there is no file for goes to the error handler of MPI_FILE_NULL (MPI-3.1 13.7). */
#include "../mt.h"

static int handled;

static void handler(MPI_File *file, int *code, ...)
{
    int cls;
    MPI_Error_class(*code, &cls);
    CHECK(*file == MPI_FILE_NULL);
    CHECK_EQ(cls, MPI_ERR_FILE);
    handled++;
}

static void unsupported(int err, const char *call)
{
    char text[MPI_MAX_ERROR_STRING];
    int cls, len;
    MPI_Error_class(err, &cls);
    MPI_Error_string(err, text, &len);
    CHECK_EQ(cls, MPI_ERR_UNSUPPORTED_OPERATION);
    MUST(!strncmp(text, call, strlen(call)) && text[strlen(call)] == ':', "%s: the text is '%s'",
         call, text);
}

/* The error handler of MPI_FILE_NULL answers where there is no file. */
static void files(void)
{
    MPI_File f = (MPI_File)&handled;
    MPI_Errhandler e, got;
    MPI_Request r = 1;
    MPI_Status st;
    int x;

    CHECK_EQ(mt_class(MPI_File_read_at_all(f, 0, &x, 1, MPI_INT, &st)), MPI_ERR_FILE);
    CHECK_EQ(mt_class(MPI_File_iwrite_shared_c(f, &x, 1, MPI_INT, &r)), MPI_ERR_FILE);
    CHECK_EQ(r, MPI_REQUEST_NULL);
    CHECK_EQ(mt_class(MPI_Register_datarep("x", NULL, NULL, NULL, NULL)), MPI_ERR_ARG);
    CHECK_EQ(MPI_File_c2f(MPI_FILE_NULL), 0);
    CHECK(MPI_File_f2c(0) == MPI_FILE_NULL);

    CHECK_EQ(MPI_File_get_errhandler(MPI_FILE_NULL, &got), MPI_SUCCESS);
    CHECK_EQ(got, MPI_ERRORS_RETURN);
    MPI_File_create_errhandler(handler, &e);
    CHECK_EQ(MPI_File_set_errhandler(MPI_FILE_NULL, e), MPI_SUCCESS);
    MPI_Errhandler_free(&e);
    CHECK_EQ(mt_class(MPI_File_close(&f)), MPI_ERR_FILE);
    CHECK_EQ(handled, 1);
    CHECK_EQ(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_FILE), MPI_SUCCESS);
    CHECK_EQ(handled, 2);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
}

static void error_codes(void)
{
    int cls, code, last, *last_used, flag, err, len;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last_used, &flag);
    last = *last_used;
    MPI_Add_error_class(&cls);
    MPI_Add_error_code(cls, &code);
    MPI_Add_error_string(code, "mine");
    CHECK_EQ(*last_used, code);
    MPI_Error_class(MPIX_Delete_error_class(cls), &err); /* it still has a code */
    CHECK_EQ(err, MPI_ERR_OTHER);
    CHECK_EQ(MPIX_Delete_error_string(code), MPI_SUCCESS);
    MPI_Error_string(code, text, &len);
    CHECK_EQ(len, 0);
    MPI_Error_class(MPIX_Delete_error_code(cls), &err);
    CHECK_EQ(err, MPI_ERR_ARG);
    CHECK_EQ(MPIX_Delete_error_code(code), MPI_SUCCESS);
    CHECK_EQ(MPIX_Delete_error_class(cls), MPI_SUCCESS);
    CHECK_EQ(*last_used, last);
    MPI_Error_class(MPI_Error_class(code, &cls), &err); /* the number names nothing now */
    CHECK_EQ(err, MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    MPI_Request r = 1;
    int flag = 1;

    CHECK_EQ(MPIX_Query_cuda_support(), 0); /* allowed before MPI_Init */
    mt_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    files();
    error_codes();
    CHECK_EQ(MPIX_GPU_query_support(MPIX_GPU_SUPPORT_HIP, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 0);
    unsupported(MPIX_Grequest_class_allocate(0, NULL, &r), "MPIX_Grequest_class_allocate");
    return mt_finish();
}

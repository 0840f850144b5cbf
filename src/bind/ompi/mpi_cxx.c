/* mpi_cxx.c - Open MPI's libmpi_cxx.so.40, by the names that its header asks for. That header is
 * inline for the rest, so programs have the virtual tables: here they are weak. Each object is a
 * virtual table and a handle. Start with METHOD(). */
#include <stddef.h>

#define SHOWN __attribute__((visibility("default")))
typedef struct front_handle *HANDLE;
typedef void void_function(void);

struct object {
    const char *table;
    HANDLE handle;
};
enum { TABLE_HEAD = 16 }; /* bytes before the functions */

#pragma GCC visibility push(default)
extern int MPI_Win_free(HANDLE *win), MPI_Type_free(HANDLE *type);
#define TABLE(length, class)                                                                       \
    extern const char table_##class[] __asm__("_ZTVN3MPI" #length #class "E") __attribute__((weak))
TABLE(4, Comm);
TABLE(9, Comm_Null);
TABLE(8, Datatype);
TABLE(10, Errhandler);
TABLE(4, File);
TABLE(5, Group);
TABLE(4, Info);
TABLE(9, Intracomm);
TABLE(2, Op);
TABLE(7, Request);
TABLE(3, Win);
#pragma GCC visibility pop

#define METHOD(name, symbol, params)                                                               \
    SHOWN void name params __asm__(symbol);                                                        \
    void name params

METHOD(win_free, "_ZN3MPI3Win4FreeEv", (struct object *win))
{
    MPI_Win_free(&win->handle);
}

METHOD(type_free, "_ZN3MPI8Datatype4FreeEv", (struct object *type))
{
    MPI_Type_free(&type->handle);
}

/* Its error handler that throws is the fatal one here: nothing is to be done. */
METHOD(initialize_intercepts, "_ZN3MPI20InitializeInterceptsEv", (void))
{
}

/* The constructor of a base, and of the whole, are two names. */
extern const char ompi_mpi_comm_null[];
METHOD(comm, "_ZN3MPI4CommC2Ev", (struct object *made))
{
    *made = (struct object){table_Comm + TABLE_HEAD, (HANDLE)(void *)(size_t)ompi_mpi_comm_null};
}
METHOD(comm_whole, "_ZN3MPI4CommC1Ev", (struct object *made))
{
    comm(made);
}
METHOD(comm_of, "_ZN3MPI4CommC2ERKNS_9Comm_NullE", (struct object *made, const struct object *o))
{
    *made = (struct object){table_Comm + TABLE_HEAD, o->handle};
}
METHOD(comm_whole_of, "_ZN3MPI4CommC1ERKNS_9Comm_NullE",
       (struct object *made, const struct object *o))
{
    comm_of(made, o);
}

/* The function that MPI::Op::Init gives to MPI_Op_create (languages.c calls it). */
typedef void cxx_op(const void *in, void *inout, int len, const struct object *type);
SHOWN void ompi_mpi_cxx_op_intercept(void *in, void *inout, int *len, HANDLE *type,
                                     void_function *fn);
void ompi_mpi_cxx_op_intercept(void *in, void *inout, int *len, HANDLE *type, void_function *fn)
{
    struct object t = {table_Datatype + TABLE_HEAD, *type};
    ((cxx_op *)fn)(in, inout, *len, &t);
}

/* --- predefined objects: MPI::name, of a class, for an object of libmpi.so.40 ---------------- */

#define OBJECT(length, name, class, handle)                                                        \
    extern const char handle[];                                                                    \
    SHOWN extern const struct object cxx_##name __asm__("_ZN3MPI" #length #name "E");              \
    const struct object cxx_##name = {table_##class + TABLE_HEAD, (HANDLE)(void *)(size_t)handle}
#define TYPE(length, name, type) OBJECT(length, name, Datatype, ompi_mpi_##type)
#define OP(length, name, op) OBJECT(length, name, Op, ompi_mpi_op_##op)
OBJECT(10, COMM_WORLD, Intracomm, ompi_mpi_comm_world);
OBJECT(9, COMM_SELF, Intracomm, ompi_mpi_comm_self);
OBJECT(9, COMM_NULL, Comm_Null, ompi_mpi_comm_null);
OBJECT(10, GROUP_NULL, Group, ompi_mpi_group_null);
OBJECT(11, GROUP_EMPTY, Group, ompi_mpi_group_empty);
OBJECT(12, REQUEST_NULL, Request, ompi_request_null);
OBJECT(9, INFO_NULL, Info, ompi_mpi_info_null);
OBJECT(8, WIN_NULL, Win, ompi_mpi_win_null);
OBJECT(9, FILE_NULL, File, ompi_mpi_file_null);
OBJECT(15, ERRHANDLER_NULL, Errhandler, ompi_mpi_errhandler_null);
OBJECT(16, ERRORS_ARE_FATAL, Errhandler, ompi_mpi_errors_are_fatal);
OBJECT(13, ERRORS_RETURN, Errhandler, ompi_mpi_errors_return);
OBJECT(23, ERRORS_THROW_EXCEPTIONS, Errhandler, ompi_mpi_errors_throw_exceptions);
OP(7, OP_NULL, null);
OP(3, MAX, max);
OP(3, MIN, min);
OP(3, SUM, sum);
OP(4, PROD, prod);
OP(6, MAXLOC, maxloc);
OP(6, MINLOC, minloc);
OP(4, BAND, band);
OP(3, BOR, bor);
OP(4, BXOR, bxor);
OP(4, LAND, land);
OP(3, LOR, lor);
OP(4, LXOR, lxor);
OP(7, REPLACE, replace);
TYPE(13, DATATYPE_NULL, datatype_null);
TYPE(4, CHAR, char);
TYPE(11, SIGNED_CHAR, signed_char);
TYPE(13, UNSIGNED_CHAR, unsigned_char);
TYPE(5, WCHAR, wchar);
TYPE(5, SHORT, short);
TYPE(14, UNSIGNED_SHORT, unsigned_short);
TYPE(3, INT, int);
TYPE(8, UNSIGNED, unsigned);
TYPE(4, LONG, long);
TYPE(13, UNSIGNED_LONG, unsigned_long);
TYPE(9, LONG_LONG, long_long_int);
TYPE(13, LONG_LONG_INT, long_long_int);
TYPE(18, UNSIGNED_LONG_LONG, unsigned_long_long);
TYPE(5, FLOAT, float);
TYPE(6, DOUBLE, double);
TYPE(11, LONG_DOUBLE, long_double);
TYPE(4, BOOL, cxx_bool);
TYPE(7, COMPLEX, cxx_cplex);
TYPE(14, DOUBLE_COMPLEX, cxx_dblcplex);
TYPE(19, LONG_DOUBLE_COMPLEX, cxx_ldblcplex);
TYPE(4, BYTE, byte);
TYPE(6, PACKED, packed);
TYPE(9, FLOAT_INT, float_int);
TYPE(10, DOUBLE_INT, double_int);
TYPE(8, LONG_INT, long_int);
TYPE(6, TWOINT, 2int);
TYPE(9, SHORT_INT, short_int);
TYPE(15, LONG_DOUBLE_INT, longdbl_int);
TYPE(9, CHARACTER, character);
TYPE(7, LOGICAL, logical);
TYPE(7, INTEGER, integer);
TYPE(8, INTEGER1, integer1);
TYPE(8, INTEGER2, integer2);
TYPE(8, INTEGER4, integer4);
TYPE(4, REAL, real);
TYPE(5, REAL2, real2);
TYPE(5, REAL4, real4);
TYPE(5, REAL8, real8);
TYPE(16, DOUBLE_PRECISION, dblprec);
TYPE(9, F_COMPLEX, cplex);
TYPE(16, F_DOUBLE_COMPLEX, dblcplex);
TYPE(7, TWOREAL, 2real);
TYPE(19, TWODOUBLE_PRECISION, 2dblprec);
TYPE(10, TWOINTEGER, 2integer);

#define POINTER(length, name, value)                                                               \
    SHOWN extern void *const cxx_##name __asm__("_ZN3MPI" #length #name "E");                      \
    void *const cxx_##name = (void *)value
POINTER(6, BOTTOM, 0);
POINTER(8, IN_PLACE, 1);
POINTER(9, ARGV_NULL, 0);
POINTER(10, ARGVS_NULL, 0);

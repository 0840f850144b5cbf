/* mpi.h - the C interface of MPI-4.1, with the binary interface (ABI) of MPICH.
 *
 * Handles are ints.  Their top two bits say what they are (0 null, 1 predefined, 2 direct,
 * 3 indirect), the next four the kind of object; a predefined datatype carries its size in
 * bits 8 to 15.  Values, types, layouts and prototypes are those of MPICH 3 and 4, so that a
 * program built against one library runs with the other (test/abi compares them).
 *
 * Order: types; handles; constants; error classes; MPI_T; callbacks; functions by chapter;
 * MPI-4; extensions of MPICH; names removed from MPI-3; PMPI. src/api/calls.def has the functions:
 * maint/check-mpi-list --update writes their prototypes from there. */
#ifndef MPI_INCLUDED
#define MPI_INCLUDED

#define MPI_VERSION 4
#define MPI_SUBVERSION 1

/* Who we are, and the MPICH release whose ABI this is: programs look at the latter. */
#define WINDROSE_VERSION "0.1.0"
#define WINDROSE_NUMVERSION 100 /* major * 10000 + minor * 100 + patch */
#define MPICH 1
#define MPICH_NAME 4
#define MPICH_VERSION "4.0.2"
#define MPICH_NUMVERSION 40002300
#define MPICH_HAS_C2F 1
#define MPICH_RELEASE_TYPE_ALPHA 0
#define MPICH_RELEASE_TYPE_BETA 1
#define MPICH_RELEASE_TYPE_RC 2
#define MPICH_RELEASE_TYPE_PATCH 3
#define MPICH_CALC_VERSION(major, minor, rev, type, patch) \
    ((major) * 10000000 + (minor) * 100000 + (rev) * 1000 + (type) * 100 + (patch))

#ifdef __cplusplus
extern "C" {
#endif
/* The interface stays visible in programs and profilers compiled with hidden visibility. */
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- Types ----------------------------------------------------------------- */

typedef int MPI_Comm;
typedef int MPI_Group;
typedef int MPI_Datatype;
typedef int MPI_Op;
typedef int MPI_Request;
typedef int MPI_Message;
typedef int MPI_Win;
typedef int MPI_Info;
typedef int MPI_Errhandler;
typedef int MPI_Session;
typedef int MPIX_Grequest_class;
/* a function of MPIX_Async_start, for the function itself */
typedef struct MPIR_Async_thing *MPIX_Async_thing;
/* There are no streams but this one; no macro, since programs take that for the rest of them. */
typedef int MPIX_Stream;
enum { MPIX_STREAM_NULL = 0x3c000000 };
typedef struct ADIOI_FileD *MPI_File;

typedef long MPI_Aint;
typedef long MPI_Count;
typedef long MPI_Offset;
typedef int MPI_Fint;

typedef struct MPI_Status {
    int count_lo;               /* bytes received, low 32 bits */
    int count_hi_and_cancelled; /* bit 0: cancelled; above it the rest of the count */
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
} MPI_Status;

typedef struct {
    MPI_Fint count_lo;
    MPI_Fint count_hi_and_cancelled;
    MPI_Fint MPI_SOURCE;
    MPI_Fint MPI_TAG;
    MPI_Fint MPI_ERROR;
} MPI_F08_status;

/* a block of memory (MPIX_Type_iov), as struct iovec */
typedef struct MPIX_Iov MPIX_Iov;
struct MPIX_Iov {
    void *iov_base;
    MPI_Aint iov_len;
};

/* ---- Handles --------------------------------------------------------------- */

#define MPI_COMM_NULL ((MPI_Comm)0x04000000)
#define MPI_COMM_WORLD ((MPI_Comm)0x44000000)
#define MPI_COMM_SELF ((MPI_Comm)0x44000001)

#define MPI_GROUP_NULL ((MPI_Group)0x08000000)
#define MPI_GROUP_EMPTY ((MPI_Group)0x48000000)

#define MPI_ERRHANDLER_NULL ((MPI_Errhandler)0x14000000)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)0x54000000)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x54000001)
#define MPIR_ERRORS_THROW_EXCEPTIONS ((MPI_Errhandler)0x54000002)
#define MPI_ERRORS_ABORT ((MPI_Errhandler)0x54000003)

#define MPI_OP_NULL ((MPI_Op)0x18000000)
#define MPI_MAX ((MPI_Op)0x58000001)
#define MPI_MIN ((MPI_Op)0x58000002)
#define MPI_SUM ((MPI_Op)0x58000003)
#define MPI_PROD ((MPI_Op)0x58000004)
#define MPI_LAND ((MPI_Op)0x58000005)
#define MPI_BAND ((MPI_Op)0x58000006)
#define MPI_LOR ((MPI_Op)0x58000007)
#define MPI_BOR ((MPI_Op)0x58000008)
#define MPI_LXOR ((MPI_Op)0x58000009)
#define MPI_BXOR ((MPI_Op)0x5800000a)
#define MPI_MINLOC ((MPI_Op)0x5800000b)
#define MPI_MAXLOC ((MPI_Op)0x5800000c)
#define MPI_REPLACE ((MPI_Op)0x5800000d)
#define MPI_NO_OP ((MPI_Op)0x5800000e)

#define MPI_INFO_NULL ((MPI_Info)0x1c000000)
#define MPI_INFO_ENV ((MPI_Info)0x5c000001)
#define MPI_WIN_NULL ((MPI_Win)0x20000000)
#define MPI_REQUEST_NULL ((MPI_Request)0x2c000000)
#define MPI_MESSAGE_NULL ((MPI_Message)0x2c000000)
#define MPI_MESSAGE_NO_PROC ((MPI_Message)0x6c000000)
#define MPI_SESSION_NULL ((MPI_Session)0x38000000)
#define MPI_FILE_NULL ((MPI_File)0)
/* names of MPICH for the requests of files */
#define MPIO_USES_MPI_REQUEST
#define MPIO_Request MPI_Request
#define MPIO_Wait MPI_Wait
#define MPIO_Test MPI_Test

/* Datatypes of C */
#define MPI_DATATYPE_NULL ((MPI_Datatype)0x0c000000)
#define MPI_CHAR ((MPI_Datatype)0x4c000101)
#define MPI_SIGNED_CHAR ((MPI_Datatype)0x4c000118)
#define MPI_UNSIGNED_CHAR ((MPI_Datatype)0x4c000102)
#define MPI_WCHAR ((MPI_Datatype)0x4c00040e)
#define MPI_SHORT ((MPI_Datatype)0x4c000203)
#define MPI_UNSIGNED_SHORT ((MPI_Datatype)0x4c000204)
#define MPI_INT ((MPI_Datatype)0x4c000405)
#define MPI_UNSIGNED ((MPI_Datatype)0x4c000406)
#define MPI_LONG ((MPI_Datatype)0x4c000807)
#define MPI_UNSIGNED_LONG ((MPI_Datatype)0x4c000808)
#define MPI_LONG_LONG_INT ((MPI_Datatype)0x4c000809)
#define MPI_LONG_LONG MPI_LONG_LONG_INT
#define MPI_UNSIGNED_LONG_LONG ((MPI_Datatype)0x4c000819)
#define MPI_FLOAT ((MPI_Datatype)0x4c00040a)
#define MPI_DOUBLE ((MPI_Datatype)0x4c00080b)
#define MPI_LONG_DOUBLE ((MPI_Datatype)0x4c00100c)
#define MPI_INT8_T ((MPI_Datatype)0x4c000137)
#define MPI_INT16_T ((MPI_Datatype)0x4c000238)
#define MPI_INT32_T ((MPI_Datatype)0x4c000439)
#define MPI_INT64_T ((MPI_Datatype)0x4c00083a)
#define MPI_UINT8_T ((MPI_Datatype)0x4c00013b)
#define MPI_UINT16_T ((MPI_Datatype)0x4c00023c)
#define MPI_UINT32_T ((MPI_Datatype)0x4c00043d)
#define MPI_UINT64_T ((MPI_Datatype)0x4c00083e)
#define MPI_C_BOOL ((MPI_Datatype)0x4c00013f)
#define MPI_C_FLOAT_COMPLEX ((MPI_Datatype)0x4c000840)
#define MPI_C_COMPLEX MPI_C_FLOAT_COMPLEX
#define MPI_C_DOUBLE_COMPLEX ((MPI_Datatype)0x4c001041)
#define MPI_C_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x4c002042)
#define MPI_AINT ((MPI_Datatype)0x4c000843)
#define MPI_OFFSET ((MPI_Datatype)0x4c000844)
#define MPI_COUNT ((MPI_Datatype)0x4c000845)
#define MPIX_C_FLOAT16 ((MPI_Datatype)0x4c000246)
/* of no language */
#define MPI_BYTE ((MPI_Datatype)0x4c00010d)
#define MPI_PACKED ((MPI_Datatype)0x4c00010f)
#define MPI_LB ((MPI_Datatype)0x4c000010) /* markers, removed in MPI-3 */
#define MPI_UB ((MPI_Datatype)0x4c000011)
/* of C++ */
#define MPI_CXX_BOOL ((MPI_Datatype)0x4c000133)
#define MPI_CXX_FLOAT_COMPLEX ((MPI_Datatype)0x4c000834)
#define MPI_CXX_DOUBLE_COMPLEX ((MPI_Datatype)0x4c001035)
#define MPI_CXX_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x4c002036)
/* of Fortran */
#define MPI_CHARACTER ((MPI_Datatype)0x4c00011a)
#define MPI_INTEGER ((MPI_Datatype)0x4c00041b)
#define MPI_REAL ((MPI_Datatype)0x4c00041c)
#define MPI_LOGICAL ((MPI_Datatype)0x4c00041d)
#define MPI_COMPLEX ((MPI_Datatype)0x4c00081e)
#define MPI_DOUBLE_PRECISION ((MPI_Datatype)0x4c00081f)
#define MPI_DOUBLE_COMPLEX ((MPI_Datatype)0x4c001022)
#define MPI_REAL4 ((MPI_Datatype)0x4c000427)
#define MPI_REAL8 ((MPI_Datatype)0x4c000829)
#define MPI_REAL16 ((MPI_Datatype)0x4c00102b)
#define MPI_COMPLEX8 ((MPI_Datatype)0x4c000828)
#define MPI_COMPLEX16 ((MPI_Datatype)0x4c00102a)
#define MPI_COMPLEX32 ((MPI_Datatype)0x4c00202c)
#define MPI_INTEGER1 ((MPI_Datatype)0x4c00012d)
#define MPI_INTEGER2 ((MPI_Datatype)0x4c00022f)
#define MPI_INTEGER4 ((MPI_Datatype)0x4c000430)
#define MPI_INTEGER8 ((MPI_Datatype)0x4c000831)
#define MPI_INTEGER16 MPI_DATATYPE_NULL
/* pairs for MPI_MINLOC and MPI_MAXLOC: { value; int index; } with C's padding */
#define MPI_FLOAT_INT ((MPI_Datatype)0x8c000000)
#define MPI_DOUBLE_INT ((MPI_Datatype)0x8c000001)
#define MPI_LONG_INT ((MPI_Datatype)0x8c000002)
#define MPI_SHORT_INT ((MPI_Datatype)0x8c000003)
#define MPI_LONG_DOUBLE_INT ((MPI_Datatype)0x8c000004)
#define MPI_2INT ((MPI_Datatype)0x4c000816)
#define MPI_2INTEGER ((MPI_Datatype)0x4c000820)
#define MPI_2REAL ((MPI_Datatype)0x4c000821)
#define MPI_2DOUBLE_PRECISION ((MPI_Datatype)0x4c001023)

/* ---- Constants ------------------------------------------------------------- */

#define MPI_UNDEFINED (-32766)
#define MPI_PROC_NULL (-1)
#define MPI_ANY_SOURCE (-2)
#define MPI_ROOT (-3)
#define MPI_ANY_TAG (-1)
#define MPI_BOTTOM ((void *)0)
#define MPI_IN_PLACE ((void *)-1)
#define MPI_BUFFER_AUTOMATIC ((void *)-2)
#define MPI_STATUS_IGNORE ((MPI_Status *)1)
#define MPI_STATUSES_IGNORE ((MPI_Status *)1)
#define MPI_ERRCODES_IGNORE ((int *)0)
#define MPI_ARGV_NULL ((char **)0)
#define MPI_ARGVS_NULL ((char ***)0)
extern int *const MPI_UNWEIGHTED;
extern int *const MPI_WEIGHTS_EMPTY;

/* lengths of text, the closing 0 included */
#define MPI_MAX_PROCESSOR_NAME 128
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MAX_ERROR_STRING 512
#define MPI_MAX_OBJECT_NAME 128
#define MPI_MAX_INFO_KEY 255
#define MPI_MAX_INFO_VAL 1024
#define MPI_MAX_PORT_NAME 256
#define MPI_MAX_DATAREP_STRING 128
#define MPI_MAX_STRINGTAG_LEN 256
#define MPI_MAX_PSET_NAME_LEN 256

#define MPI_BSEND_OVERHEAD 96 /* bytes MPI_Bsend adds to a message, at most */

#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_FUNNELED 1
#define MPI_THREAD_SERIALIZED 2
#define MPI_THREAD_MULTIPLE 3

/* results of the comparisons */
#define MPI_IDENT 0
#define MPI_CONGRUENT 1
#define MPI_SIMILAR 2
#define MPI_UNEQUAL 3

#define MPI_COMM_TYPE_SHARED 1
#define MPI_COMM_TYPE_HW_GUIDED 2
#define MPI_COMM_TYPE_HW_UNGUIDED 3
#define MPIX_COMM_TYPE_NEIGHBORHOOD 4
#define MPI_COMM_TYPE_RESOURCE_GUIDED 5

/* predefined attributes; bit 22 or 25 says: of a communicator or of a window */
#define MPI_KEYVAL_INVALID 0x24000000
#define MPI_TAG_UB 0x64400001
#define MPI_HOST 0x64400003
#define MPI_IO 0x64400005
#define MPI_WTIME_IS_GLOBAL 0x64400007
#define MPI_UNIVERSE_SIZE 0x64400009
#define MPI_LASTUSEDCODE 0x6440000b
#define MPI_APPNUM 0x6440000d
#define MPIX_FT 0x6440000f
#define MPI_WIN_BASE 0x66000001
#define MPI_WIN_SIZE 0x66000003
#define MPI_WIN_DISP_UNIT 0x66000005
#define MPI_WIN_CREATE_FLAVOR 0x66000007
#define MPI_WIN_MODEL 0x66000009
#define MPIX_WIN_PROGRESS 0x6600000b

/* windows */
enum {
    MPI_WIN_FLAVOR_CREATE = 1,
    MPI_WIN_FLAVOR_ALLOCATE = 2,
    MPI_WIN_FLAVOR_DYNAMIC = 3,
    MPI_WIN_FLAVOR_SHARED = 4
};
enum { MPI_WIN_SEPARATE = 1, MPI_WIN_UNIFIED = 2 };
#define MPI_LOCK_EXCLUSIVE 234
#define MPI_LOCK_SHARED 235
#define MPI_MODE_NOCHECK 1024
#define MPI_MODE_NOSTORE 2048
#define MPI_MODE_NOPUT 4096
#define MPI_MODE_NOPRECEDE 8192
#define MPI_MODE_NOSUCCEED 16384

enum { MPI_GRAPH = 1, MPI_CART = 2, MPI_DIST_GRAPH = 3 };

/* datatype constructors */
enum {
    MPI_COMBINER_NAMED = 1,
    MPI_COMBINER_DUP = 2,
    MPI_COMBINER_CONTIGUOUS = 3,
    MPI_COMBINER_VECTOR = 4,
    MPI_COMBINER_HVECTOR_INTEGER = 5,
    MPI_COMBINER_HVECTOR = 6,
    MPI_COMBINER_INDEXED = 7,
    MPI_COMBINER_HINDEXED_INTEGER = 8,
    MPI_COMBINER_HINDEXED = 9,
    MPI_COMBINER_INDEXED_BLOCK = 10,
    MPI_COMBINER_STRUCT_INTEGER = 11,
    MPI_COMBINER_STRUCT = 12,
    MPI_COMBINER_SUBARRAY = 13,
    MPI_COMBINER_DARRAY = 14,
    MPI_COMBINER_F90_REAL = 15,
    MPI_COMBINER_F90_COMPLEX = 16,
    MPI_COMBINER_F90_INTEGER = 17,
    MPI_COMBINER_RESIZED = 18,
    MPI_COMBINER_HINDEXED_BLOCK = 19,
    MPI_COMBINER_VALUE_INDEX = 20
};
#define MPI_ORDER_C 56
#define MPI_ORDER_FORTRAN 57
#define MPI_DISTRIBUTE_BLOCK 121
#define MPI_DISTRIBUTE_CYCLIC 122
#define MPI_DISTRIBUTE_NONE 123
#define MPI_DISTRIBUTE_DFLT_DARG (-49767)
#define MPI_TYPECLASS_REAL 1
#define MPI_TYPECLASS_INTEGER 2
#define MPI_TYPECLASS_COMPLEX 3

/* files */
#define MPI_MODE_CREATE 1
#define MPI_MODE_RDONLY 2
#define MPI_MODE_WRONLY 4
#define MPI_MODE_RDWR 8
#define MPI_MODE_DELETE_ON_CLOSE 16
#define MPI_MODE_UNIQUE_OPEN 32
#define MPI_MODE_EXCL 64
#define MPI_MODE_APPEND 128
#define MPI_MODE_SEQUENTIAL 256
#define MPI_DISPLACEMENT_CURRENT (-54278278)
#define MPI_SEEK_SET 600
#define MPI_SEEK_CUR 602
#define MPI_SEEK_END 604

/* Fortran's view */
#define MPI_F_STATUS_SIZE 5
#define MPI_F_SOURCE 2
#define MPI_F_TAG 3
#define MPI_F_ERROR 4
extern MPI_Fint *MPI_F_STATUS_IGNORE;
extern MPI_Fint *MPI_F_STATUSES_IGNORE;
extern MPI_F08_status *MPI_F08_STATUS_IGNORE;
extern MPI_F08_status *MPI_F08_STATUSES_IGNORE;
extern MPI_F08_status MPIR_F08_MPI_STATUS_IGNORE_OBJ;
extern MPI_F08_status MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
extern int MPIR_F08_MPI_IN_PLACE;
extern int MPIR_F08_MPI_BOTTOM;

#define MPI_AINT_FMT_DEC_SPEC "%ld"
#define MPI_AINT_FMT_HEX_SPEC "%lx"

/* ---- Error classes --------------------------------------------------------- */

#define MPI_SUCCESS 0
/* arguments */
#define MPI_ERR_BUFFER 1
#define MPI_ERR_COUNT 2
#define MPI_ERR_TYPE 3
#define MPI_ERR_TAG 4
#define MPI_ERR_COMM 5
#define MPI_ERR_RANK 6
#define MPI_ERR_ROOT 7
#define MPI_ERR_GROUP 8
#define MPI_ERR_OP 9
#define MPI_ERR_TOPOLOGY 10
#define MPI_ERR_DIMS 11
#define MPI_ERR_ARG 12
#define MPI_ERR_REQUEST 19
#define MPI_ERR_BASE 46
#define MPI_ERR_KEYVAL 48
#define MPI_ERR_SIZE 51
/* communication and the rest */
#define MPI_ERR_UNKNOWN 13
#define MPI_ERR_TRUNCATE 14
#define MPI_ERR_OTHER 15
#define MPI_ERR_INTERN 16
#define MPI_ERR_IN_STATUS 17
#define MPI_ERR_PENDING 18
#define MPI_ERR_NO_MEM 34
#define MPI_ERR_NOT_SAME 35
#define MPI_ERR_UNSUPPORTED_OPERATION 44
/* info */
#define MPI_ERR_INFO 28
#define MPI_ERR_INFO_KEY 29
#define MPI_ERR_INFO_VALUE 30
#define MPI_ERR_INFO_NOKEY 31
/* windows */
#define MPI_ERR_WIN 45
#define MPI_ERR_LOCKTYPE 47
#define MPI_ERR_RMA_CONFLICT 49
#define MPI_ERR_RMA_SYNC 50
#define MPI_ERR_DISP 52
#define MPI_ERR_ASSERT 53
#define MPI_ERR_RMA_RANGE 55
#define MPI_ERR_RMA_ATTACH 56
#define MPI_ERR_RMA_SHARED 57
#define MPI_ERR_RMA_FLAVOR 58
/* files */
#define MPI_ERR_ACCESS 20
#define MPI_ERR_AMODE 21
#define MPI_ERR_BAD_FILE 22
#define MPI_ERR_CONVERSION 23
#define MPI_ERR_DUP_DATAREP 24
#define MPI_ERR_FILE_EXISTS 25
#define MPI_ERR_FILE_IN_USE 26
#define MPI_ERR_FILE 27
#define MPI_ERR_IO 32
#define MPI_ERR_NO_SPACE 36
#define MPI_ERR_NO_SUCH_FILE 37
#define MPI_ERR_QUOTA 39
#define MPI_ERR_READ_ONLY 40
#define MPI_ERR_UNSUPPORTED_DATAREP 43
/* processes */
#define MPI_ERR_NAME 33
#define MPI_ERR_PORT 38
#define MPI_ERR_SERVICE 41
#define MPI_ERR_SPAWN 42
#define MPI_ERR_SESSION 75
#define MPI_ERR_PROC_ABORTED 76
#define MPI_ERR_VALUE_TOO_LARGE 77
#define MPI_ERR_ERRHANDLER 80 /* MPI-4.1 */
#define MPI_ERR_ABI 81        /* MPI-5.0 */
/* MPI_T */
#define MPI_T_ERR_MEMORY 59
#define MPI_T_ERR_NOT_INITIALIZED 60
#define MPI_T_ERR_CANNOT_INIT 61
#define MPI_T_ERR_INVALID_INDEX 62
#define MPI_T_ERR_INVALID_ITEM 63
#define MPI_T_ERR_INVALID_HANDLE 64
#define MPI_T_ERR_OUT_OF_HANDLES 65
#define MPI_T_ERR_OUT_OF_SESSIONS 66
#define MPI_T_ERR_INVALID_SESSION 67
#define MPI_T_ERR_CVAR_SET_NOT_NOW 68
#define MPI_T_ERR_CVAR_SET_NEVER 69
#define MPI_T_ERR_PVAR_NO_STARTSTOP 70
#define MPI_T_ERR_PVAR_NO_WRITE 71
#define MPI_T_ERR_PVAR_NO_ATOMIC 72
#define MPI_T_ERR_INVALID_NAME 73
#define MPI_T_ERR_INVALID 74
#define MPI_T_ERR_NOT_SUPPORTED 78
#define MPI_T_ERR_NOT_ACCESSIBLE 79 /* MPI-4.1 */
/* bounds, and classes beyond the standard */
#define MPICH_ERR_LAST_CLASS 78
#define MPI_ERR_LASTCODE 0x3fffffff
#define MPICH_ERR_FIRST_MPIX 100
#define MPIX_ERR_PROC_FAILED (MPICH_ERR_FIRST_MPIX + 1)
#define MPIX_ERR_PROC_FAILED_PENDING (MPICH_ERR_FIRST_MPIX + 2)
#define MPIX_ERR_REVOKED (MPICH_ERR_FIRST_MPIX + 3)
/* ... as the MPI Forum has voted them */
#define MPI_ERR_PROC_FAILED MPIX_ERR_PROC_FAILED
#define MPI_ERR_PROC_FAILED_PENDING MPIX_ERR_PROC_FAILED_PENDING
#define MPI_ERR_REVOKED MPIX_ERR_REVOKED
#define MPIX_ERR_EAGAIN (MPICH_ERR_FIRST_MPIX + 4)
#define MPIX_ERR_NOREQ (MPICH_ERR_FIRST_MPIX + 5)
#define MPICH_ERR_LAST_MPIX (MPICH_ERR_FIRST_MPIX + 5)
/* above those that MPICH may add; classes have 7 bits */
#define MPIX_ERR_INVALID_NOTIFICATION (MPICH_ERR_FIRST_MPIX + 20)

/* counters of notifications for each process and window, at most */
#define MPIX_NOTIFY_MAX 65536

/* as a rank of MPIX_Win_order: all */
#define MPIX_ALL (-100)

/* MPIX_WIN_PROGRESS: two bits for each kind of operation, from this one on ... */
#define MPIX_PROGRESS_PUT 0
#define MPIX_PROGRESS_GET 2
#define MPIX_PROGRESS_ACCUMULATE 4
#define MPIX_PROGRESS_FETCH 6
#define MPIX_PROGRESS_LOCK 8
#define MPIX_PROGRESS_NOTIFICATION 10
#define MPIX_PROGRESS_STRIDED 12
/* ... and what they say: the target is not needed; a thread of the library serves there; it must
 * call MPI; not known yet */
#define MPIX_PROGRESS_ALONE 0
#define MPIX_PROGRESS_THREAD 1
#define MPIX_PROGRESS_TARGET 2
#define MPIX_PROGRESS_UNKNOWN 3

/* modes of MPIX_Win_acquire, states of MPIX_Win_tile */
#define MPIX_WIN_READ 1
#define MPIX_WIN_WRITE 2
#define MPIX_WIN_DISCARD 4
#define MPIX_TILE_MODIFIED 1
#define MPIX_TILE_SHARED 2
#define MPIX_TILE_INVALID 3
/* flags of MPIX_Continue; MPIX_Continue_init takes MPIX_CONT_POLL_ONLY */
#define MPIX_CONT_REQBUF_VOLATILE 1
#define MPIX_CONT_REQUESTS_FREE 2
#define MPIX_CONT_POLL_ONLY 4
#define MPIX_CONT_DEFER_COMPLETE 8
#define MPIX_CONT_INVOKE_FAILED 16
/* kinds of MPIX_GPU_query_support */
#define MPIX_GPU_SUPPORT_CUDA 0
#define MPIX_GPU_SUPPORT_ZE 1
#define MPIX_GPU_SUPPORT_HIP 2

/* ---- MPI_T: types and constants -------------------------------------------- */

typedef struct MPIR_T_enum_s *MPI_T_enum;
typedef struct MPIR_T_cvar_handle_s *MPI_T_cvar_handle;
typedef struct MPIR_T_pvar_handle_s *MPI_T_pvar_handle;
typedef struct MPIR_T_pvar_session_s *MPI_T_pvar_session;
typedef struct MPIR_T_event_registration_s *MPI_T_event_registration;
typedef struct MPIR_T_event_instance_s *MPI_T_event_instance;

#define MPI_T_ENUM_NULL ((MPI_T_enum)0)
#define MPI_T_CVAR_HANDLE_NULL ((MPI_T_cvar_handle)0)
#define MPI_T_PVAR_HANDLE_NULL ((MPI_T_pvar_handle)0)
#define MPI_T_PVAR_SESSION_NULL ((MPI_T_pvar_session)0)
extern struct MPIR_T_pvar_handle_s *const MPI_T_PVAR_ALL_HANDLES;

enum {
    MPI_T_VERBOSITY_INVALID = 0,
    MPI_T_VERBOSITY_USER_BASIC = 221,
    MPI_T_VERBOSITY_USER_DETAIL = 222,
    MPI_T_VERBOSITY_USER_ALL = 223,
    MPI_T_VERBOSITY_TUNER_BASIC = 224,
    MPI_T_VERBOSITY_TUNER_DETAIL = 225,
    MPI_T_VERBOSITY_TUNER_ALL = 226,
    MPI_T_VERBOSITY_MPIDEV_BASIC = 227,
    MPI_T_VERBOSITY_MPIDEV_DETAIL = 228,
    MPI_T_VERBOSITY_MPIDEV_ALL = 229
};
enum {
    MPI_T_BIND_INVALID = 0,
    MPI_T_BIND_NO_OBJECT = 9700,
    MPI_T_BIND_MPI_COMM = 9701,
    MPI_T_BIND_MPI_DATATYPE = 9702,
    MPI_T_BIND_MPI_ERRHANDLER = 9703,
    MPI_T_BIND_MPI_FILE = 9704,
    MPI_T_BIND_MPI_GROUP = 9705,
    MPI_T_BIND_MPI_OP = 9706,
    MPI_T_BIND_MPI_REQUEST = 9707,
    MPI_T_BIND_MPI_WIN = 9708,
    MPI_T_BIND_MPI_MESSAGE = 9709,
    MPI_T_BIND_MPI_INFO = 9710,
    MPI_T_BIND_MPI_SESSION = 9711
};
enum {
    MPI_T_SCOPE_INVALID = 0,
    MPI_T_SCOPE_CONSTANT = 60438,
    MPI_T_SCOPE_READONLY = 60439,
    MPI_T_SCOPE_LOCAL = 60440,
    MPI_T_SCOPE_GROUP = 60441,
    MPI_T_SCOPE_GROUP_EQ = 60442,
    MPI_T_SCOPE_ALL = 60443,
    MPI_T_SCOPE_ALL_EQ = 60444
};
enum {
    MPI_T_PVAR_CLASS_INVALID = 0,
    MPI_T_PVAR_CLASS_STATE = 240,
    MPI_T_PVAR_CLASS_LEVEL = 241,
    MPI_T_PVAR_CLASS_SIZE = 242,
    MPI_T_PVAR_CLASS_PERCENTAGE = 243,
    MPI_T_PVAR_CLASS_HIGHWATERMARK = 244,
    MPI_T_PVAR_CLASS_LOWWATERMARK = 245,
    MPI_T_PVAR_CLASS_COUNTER = 246,
    MPI_T_PVAR_CLASS_AGGREGATE = 247,
    MPI_T_PVAR_CLASS_TIMER = 248,
    MPI_T_PVAR_CLASS_GENERIC = 249
};
typedef enum MPI_T_cb_safety {
    MPI_T_CB_REQUIRE_NONE = 0,
    MPI_T_CB_REQUIRE_MPI_RESTRICTED = 1,
    MPI_T_CB_REQUIRE_THREAD_SAFE = 2,
    MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE = 3
} MPI_T_cb_safety;
typedef enum MPI_T_source_order {
    MPI_T_SOURCE_ORDERED = 0,
    MPI_T_SOURCE_UNORDERED = 1
} MPI_T_source_order;

/* ---- Callbacks ------------------------------------------------------------- */

typedef void(MPI_User_function)(void *in, void *inout, int *len, MPI_Datatype *type);
typedef void(MPI_User_function_c)(void *in, void *inout, MPI_Count *len, MPI_Datatype *type);

typedef int(MPI_Comm_copy_attr_function)(MPI_Comm, int keyval, void *extra, void *in, void *out,
                                         int *flag);
typedef int(MPI_Comm_delete_attr_function)(MPI_Comm, int keyval, void *value, void *extra);
typedef int(MPI_Type_copy_attr_function)(MPI_Datatype, int keyval, void *extra, void *in,
                                         void *out, int *flag);
typedef int(MPI_Type_delete_attr_function)(MPI_Datatype, int keyval, void *value, void *extra);
typedef int(MPI_Win_copy_attr_function)(MPI_Win, int keyval, void *extra, void *in, void *out,
                                        int *flag);
typedef int(MPI_Win_delete_attr_function)(MPI_Win, int keyval, void *value, void *extra);
typedef MPI_Comm_copy_attr_function MPI_Copy_function;
typedef MPI_Comm_delete_attr_function MPI_Delete_function;

/* The null functions are null pointers; the dup functions share one body, which copies the
 * attribute's pointer. */
int MPIR_Dup_fn(MPI_Comm, int keyval, void *extra, void *in, void *out, int *flag);
#define MPI_DUP_FN MPIR_Dup_fn
#define MPI_NULL_COPY_FN ((MPI_Copy_function *)0)
#define MPI_NULL_DELETE_FN ((MPI_Delete_function *)0)
#define MPI_COMM_DUP_FN ((MPI_Comm_copy_attr_function *)MPIR_Dup_fn)
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function *)0)
#define MPI_COMM_NULL_DELETE_FN ((MPI_Comm_delete_attr_function *)0)
#define MPI_TYPE_DUP_FN ((MPI_Type_copy_attr_function *)MPIR_Dup_fn)
#define MPI_TYPE_NULL_COPY_FN ((MPI_Type_copy_attr_function *)0)
#define MPI_TYPE_NULL_DELETE_FN ((MPI_Type_delete_attr_function *)0)
#define MPI_WIN_DUP_FN ((MPI_Win_copy_attr_function *)MPIR_Dup_fn)
#define MPI_WIN_NULL_COPY_FN ((MPI_Win_copy_attr_function *)0)
#define MPI_WIN_NULL_DELETE_FN ((MPI_Win_delete_attr_function *)0)

typedef void(MPI_Comm_errhandler_function)(MPI_Comm *, int *code, ...);
typedef void(MPI_Win_errhandler_function)(MPI_Win *, int *code, ...);
typedef void(MPI_File_errhandler_function)(MPI_File *, int *code, ...);
typedef void(MPI_Session_errhandler_function)(MPI_Session *, int *code, ...);
typedef MPI_Comm_errhandler_function MPI_Handler_function;
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
typedef MPI_Session_errhandler_function MPI_Session_errhandler_fn;

typedef int(MPI_Grequest_query_function)(void *extra, MPI_Status *);
typedef int(MPI_Grequest_free_function)(void *extra);
typedef int(MPI_Grequest_cancel_function)(void *extra, int complete);
typedef void(MPIX_Space_kernel)(void *const *ptr, const void *arg);
typedef int(MPIX_Continue_cb_function)(int error_code, void *cb_data);
typedef int(MPIX_Async_poll_function)(MPIX_Async_thing);
/* what it returns */
enum { MPIX_ASYNC_NOPROGRESS = 0, MPIX_ASYNC_DONE = 1 };
typedef int(MPIX_Grequest_poll_function)(void *extra, MPI_Status *);
typedef int(MPIX_Grequest_wait_function)(int count, void **extras, double timeout, MPI_Status *);

typedef int(MPI_Datarep_conversion_function)(void *user, MPI_Datatype, int count, void *file,
                                             MPI_Offset, void *extra);
typedef int(MPI_Datarep_conversion_function_c)(void *user, MPI_Datatype, MPI_Count count,
                                               void *file, MPI_Offset, void *extra);
typedef int(MPI_Datarep_extent_function)(MPI_Datatype, MPI_Aint *extent, void *extra);
#define MPI_CONVERSION_FN_NULL ((MPI_Datarep_conversion_function *)0)
#define MPI_CONVERSION_FN_NULL_C ((MPI_Datarep_conversion_function_c *)0)

typedef void(MPI_T_event_cb_function)(MPI_T_event_instance, MPI_T_event_registration,
                                      MPI_T_cb_safety, void *user_data);
typedef void(MPI_T_event_free_cb_function)(MPI_T_event_registration, MPI_T_cb_safety,
                                           void *user_data);
typedef void(MPI_T_event_dropped_cb_function)(MPI_Count, MPI_T_event_registration,
                                              int source_index, MPI_T_cb_safety,
                                              void *user_data);

/* ---- Handles to Fortran and back: the same integers ------------------------ */

#define MPI_Comm_c2f(handle) ((MPI_Fint)(handle))
#define MPI_Comm_f2c(handle) ((MPI_Comm)(handle))
#define MPI_Group_c2f(handle) ((MPI_Fint)(handle))
#define MPI_Group_f2c(handle) ((MPI_Group)(handle))
#define MPI_Type_c2f(handle) ((MPI_Fint)(handle))
#define MPI_Type_f2c(handle) ((MPI_Datatype)(handle))
#define MPI_Op_c2f(handle) ((MPI_Fint)(handle))
#define MPI_Op_f2c(handle) ((MPI_Op)(handle))
#define MPI_Request_c2f(handle) ((MPI_Fint)(handle))
#define MPI_Request_f2c(handle) ((MPI_Request)(handle))
#define MPI_Message_c2f(handle) ((MPI_Fint)(handle))
#define MPI_Message_f2c(handle) ((MPI_Message)(handle))
#define MPI_Win_c2f(handle) ((MPI_Fint)(handle))
#define MPI_Win_f2c(handle) ((MPI_Win)(handle))
#define MPI_Info_c2f(handle) ((MPI_Fint)(handle))
#define MPI_Info_f2c(handle) ((MPI_Info)(handle))
#define MPI_Errhandler_c2f(handle) ((MPI_Fint)(handle))
#define MPI_Errhandler_f2c(handle) ((MPI_Errhandler)(handle))
#define MPI_Session_c2f(handle) ((MPI_Fint)(handle))
#define MPI_Session_f2c(handle) ((MPI_Session)(handle))
#define PMPI_Comm_c2f(handle) ((MPI_Fint)(handle))
#define PMPI_Comm_f2c(handle) ((MPI_Comm)(handle))
#define PMPI_Group_c2f(handle) ((MPI_Fint)(handle))
#define PMPI_Group_f2c(handle) ((MPI_Group)(handle))
#define PMPI_Type_c2f(handle) ((MPI_Fint)(handle))
#define PMPI_Type_f2c(handle) ((MPI_Datatype)(handle))
#define PMPI_Op_c2f(handle) ((MPI_Fint)(handle))
#define PMPI_Op_f2c(handle) ((MPI_Op)(handle))
#define PMPI_Request_c2f(handle) ((MPI_Fint)(handle))
#define PMPI_Request_f2c(handle) ((MPI_Request)(handle))
#define PMPI_Message_c2f(handle) ((MPI_Fint)(handle))
#define PMPI_Message_f2c(handle) ((MPI_Message)(handle))
#define PMPI_Win_c2f(handle) ((MPI_Fint)(handle))
#define PMPI_Win_f2c(handle) ((MPI_Win)(handle))
#define PMPI_Info_c2f(handle) ((MPI_Fint)(handle))
#define PMPI_Info_f2c(handle) ((MPI_Info)(handle))
#define PMPI_Errhandler_c2f(handle) ((MPI_Fint)(handle))
#define PMPI_Errhandler_f2c(handle) ((MPI_Errhandler)(handle))
#define PMPI_Session_c2f(handle) ((MPI_Fint)(handle))
#define PMPI_Session_f2c(handle) ((MPI_Session)(handle))

/* ---- Functions: written by maint/check-mpi-list --update from src/api/calls.def */

/* ---- Environment --------------------------------------------------------- */

int MPI_Init(int *argc, char ***argv);
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int MPI_Initialized(int *flag);
int MPI_Finalize(void);
int MPI_Finalized(int *flag);
int MPI_Abort(MPI_Comm comm, int errorcode);
int MPI_Query_thread(int *provided);
int MPI_Is_thread_main(int *flag);
int MPI_Get_version(int *version, int *subversion);
int MPI_Get_library_version(char *version, int *resultlen);
int MPI_Get_processor_name(char *name, int *resultlen);
double MPI_Wtime(void);
double MPI_Wtick(void);
int MPI_Pcontrol(const int level, ...);
int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr);
int MPI_Free_mem(void *base);

/* ---- Point-to-point ------------------------------------------------------ */

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm);
int MPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Bsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm);
int MPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm);
int MPI_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm);
int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Status *status);
int MPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
               MPI_Comm comm, MPI_Status *status);
int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request);
int MPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm, MPI_Request *request);
int MPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request);
int MPI_Ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request);
int MPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request);
int MPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request);
int MPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request);
int MPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request);
int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Request *request);
int MPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                MPI_Comm comm, MPI_Request *request);
int MPI_Send_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request);
int MPI_Send_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request);
int MPI_Bsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm, MPI_Request *request);
int MPI_Bsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request);
int MPI_Ssend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm, MPI_Request *request);
int MPI_Ssend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request);
int MPI_Rsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm, MPI_Request *request);
int MPI_Rsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request);
int MPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                  MPI_Request *request);
int MPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm comm, MPI_Request *request);
int MPI_Start(MPI_Request *request);
int MPI_Startall(int count, MPI_Request array_of_requests[]);
int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                 void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                 MPI_Comm comm, MPI_Status *status);
int MPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                   int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                   int source, int recvtag, MPI_Comm comm, MPI_Status *status);
int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag,
                         int source, int recvtag, MPI_Comm comm, MPI_Status *status);
int MPI_Sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                           int source, int recvtag, MPI_Comm comm, MPI_Status *status);
int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status);
int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                MPI_Status *status);
int MPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
              MPI_Status *status);
int MPI_Mrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                MPI_Status *status);
int MPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
               MPI_Request *request);
int MPI_Imrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                 MPI_Request *request);
int MPI_Buffer_attach(void *buffer, int size);
int MPI_Buffer_attach_c(void *buffer, MPI_Count size);
int MPI_Buffer_detach(void *buffer_addr, int *size);
int MPI_Buffer_detach_c(void *buffer_addr, MPI_Count *size);
int MPI_Cancel(MPI_Request *request);
int MPI_Test_cancelled(const MPI_Status *status, int *flag);

/* ---- Requests and statuses ----------------------------------------------- */

int MPI_Wait(MPI_Request *request, MPI_Status *status);
int MPI_Waitany(int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status);
int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses);
int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount,
                 int array_of_indices[], MPI_Status *array_of_statuses);
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status);
int MPI_Testany(int count, MPI_Request array_of_requests[], int *indx, int *flag,
                MPI_Status *status);
int MPI_Testall(int count, MPI_Request array_of_requests[], int *flag,
                MPI_Status *array_of_statuses);
int MPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount,
                 int array_of_indices[], MPI_Status *array_of_statuses);
int MPI_Request_free(MPI_Request *request);
int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status);
int MPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int *flag,
                               MPI_Status *array_of_statuses);
int MPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int *indx,
                               int *flag, MPI_Status *status);
int MPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int *outcount,
                                int array_of_indices[], MPI_Status *array_of_statuses);
int MPI_Status_get_source(const MPI_Status *status, int *source);
int MPI_Status_get_tag(const MPI_Status *status, int *tag);
int MPI_Status_get_error(const MPI_Status *status, int *err);
int MPI_Status_set_source(MPI_Status *status, int source);
int MPI_Status_set_tag(MPI_Status *status, int tag);
int MPI_Status_set_error(MPI_Status *status, int err);
int MPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count);
int MPI_Get_count_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count);
int MPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count);
int MPI_Get_elements_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count);
int MPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count);
int MPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype, int count);
int MPI_Status_set_elements_c(MPI_Status *status, MPI_Datatype datatype, MPI_Count count);
int MPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count);
int MPI_Status_set_cancelled(MPI_Status *status, int flag);
int MPI_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                       MPI_Grequest_cancel_function *cancel_fn, void *extra_state,
                       MPI_Request *request);
int MPI_Grequest_complete(MPI_Request request);
int MPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status);
int MPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status);
int MPI_Status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status);
int MPI_Status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status);
int MPI_Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status);
int MPI_Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status);

/* ---- Datatypes ----------------------------------------------------------- */

int MPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype,
                    MPI_Datatype *newtype);
int MPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                      MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_indexed(int count, const int array_of_blocklengths[],
                     const int array_of_displacements[], MPI_Datatype oldtype,
                     MPI_Datatype *newtype);
int MPI_Type_indexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                       const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                       MPI_Datatype *newtype);
int MPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                            MPI_Datatype *newtype);
int MPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                              MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_create_hindexed(int count, const int array_of_blocklengths[],
                             const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                             MPI_Datatype *newtype);
int MPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                               const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                               MPI_Datatype *newtype);
int MPI_Type_create_hindexed_block(int count, int blocklength,
                                   const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                                   MPI_Datatype *newtype);
int MPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength,
                                     const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                     MPI_Datatype *newtype);
int MPI_Type_create_indexed_block(int count, int blocklength, const int array_of_displacements[],
                                  MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength,
                                    const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                    MPI_Datatype *newtype);
int MPI_Type_create_struct(int count, const int array_of_blocklengths[],
                           const MPI_Aint array_of_displacements[],
                           const MPI_Datatype array_of_types[], MPI_Datatype *newtype);
int MPI_Type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                             const MPI_Count array_of_displacements[],
                             const MPI_Datatype array_of_types[], MPI_Datatype *newtype);
int MPI_Type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[],
                             const int array_of_starts[], int order, MPI_Datatype oldtype,
                             MPI_Datatype *newtype);
int MPI_Type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[],
                               const MPI_Count array_of_subsizes[],
                               const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype,
                               MPI_Datatype *newtype);
int MPI_Type_create_darray(int size, int rank, int ndims, const int array_of_gsizes[],
                           const int array_of_distribs[], const int array_of_dargs[],
                           const int array_of_psizes[], int order, MPI_Datatype oldtype,
                           MPI_Datatype *newtype);
int MPI_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count array_of_gsizes[],
                             const int array_of_distribs[], const int array_of_dargs[],
                             const int array_of_psizes[], int order, MPI_Datatype oldtype,
                             MPI_Datatype *newtype);
int MPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent,
                            MPI_Datatype *newtype);
int MPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent,
                              MPI_Datatype *newtype);
int MPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype);
int MPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype);
int MPI_Type_create_f90_integer(int r, MPI_Datatype *newtype);
int MPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype);
int MPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type,
                             MPI_Datatype *pair_type);
int MPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_commit(MPI_Datatype *datatype);
int MPI_Type_free(MPI_Datatype *datatype);
int MPI_Type_size(MPI_Datatype datatype, int *size);
int MPI_Type_size_c(MPI_Datatype datatype, MPI_Count *size);
int MPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size);
int MPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent);
int MPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent);
int MPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent);
int MPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent);
int MPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent);
int MPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent);
int MPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses,
                          int *num_datatypes, int *combiner);
int MPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers,
                            MPI_Count *num_addresses, MPI_Count *num_large_counts,
                            MPI_Count *num_datatypes, int *combiner);
int MPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses,
                          int max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[],
                          MPI_Datatype array_of_datatypes[]);
int MPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                            MPI_Count max_large_counts, MPI_Count max_datatypes,
                            int array_of_integers[], MPI_Aint array_of_addresses[],
                            MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[]);
int MPI_Type_set_name(MPI_Datatype datatype, const char *type_name);
int MPI_Type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen);
int MPI_Get_address(const void *location, MPI_Aint *address);
MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp);
MPI_Aint MPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2);
int MPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize,
             int *position, MPI_Comm comm);
int MPI_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf,
               MPI_Count outsize, MPI_Count *position, MPI_Comm comm);
int MPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount,
               MPI_Datatype datatype, MPI_Comm comm);
int MPI_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
                 MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm);
int MPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size);
int MPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size);
int MPI_Pack_external(const char *datarep, const void *inbuf, int incount, MPI_Datatype datatype,
                      void *outbuf, MPI_Aint outsize, MPI_Aint *position);
int MPI_Pack_external_c(const char *datarep, const void *inbuf, MPI_Count incount,
                        MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
                        MPI_Count *position);
int MPI_Unpack_external(const char datarep[], const void *inbuf, MPI_Aint insize,
                        MPI_Aint *position, void *outbuf, int outcount, MPI_Datatype datatype);
int MPI_Unpack_external_c(const char datarep[], const void *inbuf, MPI_Count insize,
                          MPI_Count *position, void *outbuf, MPI_Count outcount,
                          MPI_Datatype datatype);
int MPI_Pack_external_size(const char *datarep, int incount, MPI_Datatype datatype, MPI_Aint *size);
int MPI_Pack_external_size_c(const char *datarep, MPI_Count incount, MPI_Datatype datatype,
                             MPI_Count *size);

/* ---- Collectives --------------------------------------------------------- */

int MPI_Barrier(MPI_Comm comm);
int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request);
int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
int MPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm);
int MPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
               MPI_Request *request);
int MPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                 MPI_Request *request);
int MPI_Bcast_init(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                   MPI_Info info, MPI_Request *request);
int MPI_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                     MPI_Info info, MPI_Request *request);
int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                MPI_Request *request);
int MPI_Igather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                  MPI_Request *request);
int MPI_Gather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                    MPI_Request *request);
int MPI_Gather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                MPI_Comm comm);
int MPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                  int root, MPI_Comm comm);
int MPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                 MPI_Comm comm, MPI_Request *request);
int MPI_Igatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                   int root, MPI_Comm comm, MPI_Request *request);
int MPI_Gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                     MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                       MPI_Request *request);
int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPI_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                 MPI_Request *request);
int MPI_Iscatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                   MPI_Request *request);
int MPI_Scatter_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                     int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request *request);
int MPI_Scatter_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                 MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                 int root, MPI_Comm comm);
int MPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                   MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm);
int MPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                  MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                  int root, MPI_Comm comm, MPI_Request *request);
int MPI_Iscatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request);
int MPI_Scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[],
                      MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                      int root, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                        MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                        MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request);
int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int MPI_Iallgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request *request);
int MPI_Allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                       MPI_Request *request);
int MPI_Allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Info info, MPI_Request *request);
int MPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                   MPI_Comm comm);
int MPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                     MPI_Comm comm);
int MPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                    MPI_Comm comm, MPI_Request *request);
int MPI_Iallgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int MPI_Allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                        const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                          MPI_Request *request);
int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int MPI_Ialltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                    MPI_Request *request);
int MPI_Alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request);
int MPI_Alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                        MPI_Info info, MPI_Request *request);
int MPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                  MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
                  MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                   MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int MPI_Ialltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request *request);
int MPI_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                       MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                       const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                       MPI_Request *request);
int MPI_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                         const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                         const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                  const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                  const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);
int MPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);
int MPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                   const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                   const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                   MPI_Request *request);
int MPI_Ialltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                     MPI_Request *request);
int MPI_Alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                       const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                       const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                       MPI_Info info, MPI_Request *request);
int MPI_Alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                         const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                         const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                         const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                         MPI_Request *request);
int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               int root, MPI_Comm comm);
int MPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, int root, MPI_Comm comm);
int MPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                int root, MPI_Comm comm, MPI_Request *request);
int MPI_Ireduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, int root, MPI_Comm comm, MPI_Request *request);
int MPI_Reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    int root, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm);
int MPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                    MPI_Op op, MPI_Comm comm);
int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request);
int MPI_Iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Request *request);
int MPI_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                       MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                              MPI_Request *request);
int MPI_Ireduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                MPI_Request *request);
int MPI_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount,
                                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request);
int MPI_Reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                    MPI_Request *request);
int MPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request);
int MPI_Ireduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request);
int MPI_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[],
                            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                            MPI_Request *request);
int MPI_Reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                              MPI_Request *request);
int MPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm);
int MPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
               MPI_Op op, MPI_Comm comm);
int MPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm, MPI_Request *request);
int MPI_Iscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                MPI_Op op, MPI_Comm comm, MPI_Request *request);
int MPI_Scan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Scan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm);
int MPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm);
int MPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm, MPI_Request *request);
int MPI_Iexscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, MPI_Comm comm, MPI_Request *request);
int MPI_Exscan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Exscan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Reduce_local(const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype,
                     MPI_Op op);
int MPI_Reduce_local_c(const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op);

/* ---- Reduction operations ------------------------------------------------ */

int MPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op);
int MPI_Op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op);
int MPI_Op_free(MPI_Op *op);
int MPI_Op_commutative(MPI_Op op, int *commute);

/* ---- Groups -------------------------------------------------------------- */

int MPI_Group_size(MPI_Group group, int *size);
int MPI_Group_rank(MPI_Group group, int *rank);
int MPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2,
                              int ranks2[]);
int MPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result);
int MPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup);
int MPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup);
int MPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup);
int MPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup);
int MPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup);
int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup);
int MPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup);
int MPI_Group_free(MPI_Group *group);

/* ---- Communicators ------------------------------------------------------- */

int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result);
int MPI_Comm_group(MPI_Comm comm, MPI_Group *group);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm);
int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm);
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request);
int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm);
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm);
int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm);
int MPI_Comm_free(MPI_Comm *comm);
int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info);
int MPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used);
int MPI_Comm_set_name(MPI_Comm comm, const char *comm_name);
int MPI_Comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen);
int MPI_Comm_test_inter(MPI_Comm comm, int *flag);
int MPI_Comm_remote_size(MPI_Comm comm, int *size);
int MPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group);
int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
                         int remote_leader, int tag, MPI_Comm *newintercomm);
int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm);

/* ---- Attributes ---------------------------------------------------------- */

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
                           MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval,
                           void *extra_state);
int MPI_Comm_free_keyval(int *comm_keyval);
int MPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val);
int MPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag);
int MPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval);
int MPI_Type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
                           MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval,
                           void *extra_state);
int MPI_Type_free_keyval(int *type_keyval);
int MPI_Type_set_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val);
int MPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag);
int MPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval);
int MPI_Win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
                          MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval,
                          void *extra_state);
int MPI_Win_free_keyval(int *win_keyval);
int MPI_Win_set_attr(MPI_Win win, int win_keyval, void *attribute_val);
int MPI_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag);
int MPI_Win_delete_attr(MPI_Win win, int win_keyval);

/* ---- Topologies ---------------------------------------------------------- */

int MPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[],
                    int reorder, MPI_Comm *comm_cart);
int MPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]);
int MPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank);
int MPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]);
int MPI_Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest);
int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm);
int MPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank);
int MPI_Cartdim_get(MPI_Comm comm, int *ndims);
int MPI_Dims_create(int nnodes, int ndims, int dims[]);
int MPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[],
                     int reorder, MPI_Comm *comm_graph);
int MPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]);
int MPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]);
int MPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors);
int MPI_Graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank);
int MPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges);
int MPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                          const int destinations[], const int weights[], MPI_Info info, int reorder,
                          MPI_Comm *comm_dist_graph);
int MPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                   const int sourceweights[], int outdegree,
                                   const int destinations[], const int destweights[], MPI_Info info,
                                   int reorder, MPI_Comm *comm_dist_graph);
int MPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[],
                             int maxoutdegree, int destinations[], int destweights[]);
int MPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted);
int MPI_Topo_test(MPI_Comm comm, int *status);
int MPI_Neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Neighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                             MPI_Comm comm);
int MPI_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                            MPI_Request *request);
int MPI_Ineighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm, MPI_Request *request);
int MPI_Neighbor_allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Info info, MPI_Request *request);
int MPI_Neighbor_allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, const int recvcounts[], const int displs[],
                            MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Neighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                              MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                             void *recvbuf, const int recvcounts[], const int displs[],
                             MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int MPI_Ineighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int MPI_Neighbor_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void *recvbuf, const int recvcounts[], const int displs[],
                                 MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                 MPI_Request *request);
int MPI_Neighbor_allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void *recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                   MPI_Info info, MPI_Request *request);
int MPI_Neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                          int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Neighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                            MPI_Comm comm);
int MPI_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                           MPI_Request *request);
int MPI_Ineighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                             MPI_Comm comm, MPI_Request *request);
int MPI_Neighbor_alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                               void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                               MPI_Info info, MPI_Request *request);
int MPI_Neighbor_alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                 void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                 MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                           MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                           const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Neighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                             const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                             const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                             MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Ineighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                            MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                            const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                            MPI_Request *request);
int MPI_Ineighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int MPI_Neighbor_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                                const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Info info, MPI_Request *request);
int MPI_Neighbor_alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                                  const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                                  const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request);
int MPI_Neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                           const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                           const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);
int MPI_Neighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
                             const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                             void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                             const MPI_Datatype recvtypes[], MPI_Comm comm);
int MPI_Ineighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                            MPI_Request *request);
int MPI_Ineighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                              void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request);
int MPI_Neighbor_alltoallw_init(const void *sendbuf, const int sendcounts[],
                                const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                                const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                MPI_Request *request);
int MPI_Neighbor_alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                                  const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                  void *recvbuf, const MPI_Count recvcounts[],
                                  const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                  MPI_Comm comm, MPI_Info info, MPI_Request *request);

/* ---- Info ---------------------------------------------------------------- */

int MPI_Info_create(MPI_Info *info);
int MPI_Info_dup(MPI_Info info, MPI_Info *newinfo);
int MPI_Info_set(MPI_Info info, const char *key, const char *value);
int MPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag);
int MPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag);
int MPI_Info_get_nkeys(MPI_Info info, int *nkeys);
int MPI_Info_get_nthkey(MPI_Info info, int n, char *key);
int MPI_Info_delete(MPI_Info info, const char *key);
int MPI_Info_free(MPI_Info *info);

/* ---- Errors -------------------------------------------------------------- */

int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn,
                               MPI_Errhandler *errhandler);
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler);
int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler);
int MPI_Comm_call_errhandler(MPI_Comm comm, int errorcode);
int MPI_Win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn,
                              MPI_Errhandler *errhandler);
int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler);
int MPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler);
int MPI_Win_call_errhandler(MPI_Win win, int errorcode);
int MPI_Errhandler_free(MPI_Errhandler *errhandler);
int MPI_Error_class(int errorcode, int *errorclass);
int MPI_Error_string(int errorcode, char *string, int *resultlen);
int MPI_Add_error_class(int *errorclass);
int MPI_Add_error_code(int errorclass, int *errorcode);
int MPI_Add_error_string(int errorcode, const char *string);
int MPI_Remove_error_class(int errorclass);
int MPI_Remove_error_code(int errorcode);
int MPI_Remove_error_string(int errorcode);

/* ---- Windows ------------------------------------------------------------- */

int MPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                   MPI_Win *win);
int MPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                     MPI_Win *win);
int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                     MPI_Win *win);
int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                       void *baseptr, MPI_Win *win);
int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                            void *baseptr, MPI_Win *win);
int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                              void *baseptr, MPI_Win *win);
int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr);
int MPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
                           void *baseptr);
int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win);
int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size);
int MPI_Win_detach(MPI_Win win, const void *base);
int MPI_Win_free(MPI_Win *win);
int MPI_Win_get_group(MPI_Win win, MPI_Group *group);
int MPI_Win_set_info(MPI_Win win, MPI_Info info);
int MPI_Win_get_info(MPI_Win win, MPI_Info *info_used);
int MPI_Win_set_name(MPI_Win win, const char *win_name);
int MPI_Win_get_name(MPI_Win win, char *win_name, int *resultlen);
int MPI_Win_fence(int assert, MPI_Win win);
int MPI_Win_post(MPI_Group group, int assert, MPI_Win win);
int MPI_Win_start(MPI_Group group, int assert, MPI_Win win);
int MPI_Win_complete(MPI_Win win);
int MPI_Win_wait(MPI_Win win);
int MPI_Win_test(MPI_Win win, int *flag);
int MPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win);
int MPI_Win_lock_all(int assert, MPI_Win win);
int MPI_Win_unlock(int rank, MPI_Win win);
int MPI_Win_unlock_all(MPI_Win win);
int MPI_Win_flush(int rank, MPI_Win win);
int MPI_Win_flush_all(MPI_Win win);
int MPI_Win_flush_local(int rank, MPI_Win win);
int MPI_Win_flush_local_all(MPI_Win win);
int MPI_Win_sync(MPI_Win win);

/* ---- One-sided operations ------------------------------------------------ */

int MPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
            int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
            MPI_Win win);
int MPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
              int target_rank, MPI_Aint target_disp, MPI_Count target_count,
              MPI_Datatype target_datatype, MPI_Win win);
int MPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
            MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win);
int MPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
              int target_rank, MPI_Aint target_disp, MPI_Count target_count,
              MPI_Datatype target_datatype, MPI_Win win);
int MPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                   int target_rank, MPI_Aint target_disp, int target_count,
                   MPI_Datatype target_datatype, MPI_Op op, MPI_Win win);
int MPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                     int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                     MPI_Datatype target_datatype, MPI_Op op, MPI_Win win);
int MPI_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                       void *result_addr, int result_count, MPI_Datatype result_datatype,
                       int target_rank, MPI_Aint target_disp, int target_count,
                       MPI_Datatype target_datatype, MPI_Op op, MPI_Win win);
int MPI_Get_accumulate_c(const void *origin_addr, MPI_Count origin_count,
                         MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
                         MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                         MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                         MPI_Win win);
int MPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype,
                     int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win);
int MPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                         MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win);
int MPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
             int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
             MPI_Win win, MPI_Request *request);
int MPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request);
int MPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
             MPI_Request *request);
int MPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request);
int MPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                    int target_rank, MPI_Aint target_disp, int target_count,
                    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request);
int MPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request);
int MPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                        void *result_addr, int result_count, MPI_Datatype result_datatype,
                        int target_rank, MPI_Aint target_disp, int target_count,
                        MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request);
int MPI_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count,
                          MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
                          MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                          MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                          MPI_Win win, MPI_Request *request);

/* ---- Dynamic processes --------------------------------------------------- */

int MPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
                   MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[]);
int MPI_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[],
                            const int array_of_maxprocs[], const MPI_Info array_of_info[], int root,
                            MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[]);
int MPI_Comm_get_parent(MPI_Comm *parent);
int MPI_Open_port(MPI_Info info, char *port_name);
int MPI_Close_port(const char *port_name);
int MPI_Comm_accept(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                    MPI_Comm *newcomm);
int MPI_Comm_connect(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                     MPI_Comm *newcomm);
int MPI_Comm_disconnect(MPI_Comm *comm);
int MPI_Comm_join(int fd, MPI_Comm *intercomm);
int MPI_Publish_name(const char *service_name, MPI_Info info, const char *port_name);
int MPI_Unpublish_name(const char *service_name, MPI_Info info, const char *port_name);
int MPI_Lookup_name(const char *service_name, MPI_Info info, char *port_name);

/* ---- Files --------------------------------------------------------------- */

int MPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh);
int MPI_File_close(MPI_File *fh);
int MPI_File_delete(const char *filename, MPI_Info info);
int MPI_File_set_size(MPI_File fh, MPI_Offset size);
int MPI_File_preallocate(MPI_File fh, MPI_Offset size);
int MPI_File_get_size(MPI_File fh, MPI_Offset *size);
int MPI_File_get_group(MPI_File fh, MPI_Group *group);
int MPI_File_get_amode(MPI_File fh, int *amode);
int MPI_File_set_info(MPI_File fh, MPI_Info info);
int MPI_File_get_info(MPI_File fh, MPI_Info *info_used);
int MPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                      const char *datarep, MPI_Info info);
int MPI_File_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
                      char *datarep);
int MPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent);
int MPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count *extent);
int MPI_File_set_atomicity(MPI_File fh, int flag);
int MPI_File_get_atomicity(MPI_File fh, int *flag);
int MPI_File_sync(MPI_File fh);
int MPI_File_seek(MPI_File fh, MPI_Offset offset, int whence);
int MPI_File_get_position(MPI_File fh, MPI_Offset *offset);
int MPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp);
int MPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence);
int MPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset);
int MPI_File_read(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status);
int MPI_File_read_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                    MPI_Status *status);
int MPI_File_iread(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request);
int MPI_File_iread_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Request *request);
int MPI_File_read_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status);
int MPI_File_read_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Status *status);
int MPI_File_iread_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                       MPI_Request *request);
int MPI_File_iread_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Request *request);
int MPI_File_read_all_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype);
int MPI_File_read_all_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype);
int MPI_File_read_all_end(MPI_File fh, void *buf, MPI_Status *status);
int MPI_File_read_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
                     MPI_Status *status);
int MPI_File_read_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                       MPI_Datatype datatype, MPI_Status *status);
int MPI_File_iread_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
                      MPI_Request *request);
int MPI_File_iread_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Request *request);
int MPI_File_read_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count,
                         MPI_Datatype datatype, MPI_Status *status);
int MPI_File_read_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                           MPI_Datatype datatype, MPI_Status *status);
int MPI_File_iread_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count,
                          MPI_Datatype datatype, MPI_Request *request);
int MPI_File_iread_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Request *request);
int MPI_File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void *buf, int count,
                               MPI_Datatype datatype);
int MPI_File_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                                 MPI_Datatype datatype);
int MPI_File_read_at_all_end(MPI_File fh, void *buf, MPI_Status *status);
int MPI_File_read_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                         MPI_Status *status);
int MPI_File_read_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Status *status);
int MPI_File_iread_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                          MPI_Request *request);
int MPI_File_iread_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Request *request);
int MPI_File_read_ordered(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                          MPI_Status *status);
int MPI_File_read_ordered_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Status *status);
int MPI_File_read_ordered_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype);
int MPI_File_read_ordered_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype);
int MPI_File_read_ordered_end(MPI_File fh, void *buf, MPI_Status *status);
int MPI_File_write(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                   MPI_Status *status);
int MPI_File_write_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Status *status);
int MPI_File_iwrite(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                    MPI_Request *request);
int MPI_File_iwrite_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Request *request);
int MPI_File_write_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                       MPI_Status *status);
int MPI_File_write_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Status *status);
int MPI_File_iwrite_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                        MPI_Request *request);
int MPI_File_iwrite_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Request *request);
int MPI_File_write_all_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype);
int MPI_File_write_all_begin_c(MPI_File fh, const void *buf, MPI_Count count,
                               MPI_Datatype datatype);
int MPI_File_write_all_end(MPI_File fh, const void *buf, MPI_Status *status);
int MPI_File_write_at(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                      MPI_Datatype datatype, MPI_Status *status);
int MPI_File_write_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Status *status);
int MPI_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                       MPI_Datatype datatype, MPI_Request *request);
int MPI_File_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Request *request);
int MPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                          MPI_Datatype datatype, MPI_Status *status);
int MPI_File_write_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Status *status);
int MPI_File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                           MPI_Datatype datatype, MPI_Request *request);
int MPI_File_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Request *request);
int MPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                                MPI_Datatype datatype);
int MPI_File_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                                  MPI_Datatype datatype);
int MPI_File_write_at_all_end(MPI_File fh, const void *buf, MPI_Status *status);
int MPI_File_write_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                          MPI_Status *status);
int MPI_File_write_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Status *status);
int MPI_File_iwrite_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                           MPI_Request *request);
int MPI_File_iwrite_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Request *request);
int MPI_File_write_ordered(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                           MPI_Status *status);
int MPI_File_write_ordered_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Status *status);
int MPI_File_write_ordered_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype);
int MPI_File_write_ordered_begin_c(MPI_File fh, const void *buf, MPI_Count count,
                                   MPI_Datatype datatype);
int MPI_File_write_ordered_end(MPI_File fh, const void *buf, MPI_Status *status);
int MPI_File_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn,
                               MPI_Errhandler *errhandler);
int MPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler);
int MPI_File_get_errhandler(MPI_File file, MPI_Errhandler *errhandler);
int MPI_File_call_errhandler(MPI_File fh, int errorcode);
MPI_Fint MPI_File_c2f(MPI_File file);
MPI_File MPI_File_f2c(MPI_Fint file);
int MPI_Register_datarep(const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn,
                         MPI_Datarep_conversion_function *write_conversion_fn,
                         MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state);
int MPI_Register_datarep_c(const char *datarep,
                           MPI_Datarep_conversion_function_c *read_conversion_fn,
                           MPI_Datarep_conversion_function_c *write_conversion_fn,
                           MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state);

/* ---- MPI_T --------------------------------------------------------------- */

int MPI_T_init_thread(int required, int *provided);
int MPI_T_finalize(void);
int MPI_T_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len);
int MPI_T_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len);
int MPI_T_cvar_get_num(int *num_cvar);
int MPI_T_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity,
                        MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                        int *bind, int *scope);
int MPI_T_cvar_get_index(const char *name, int *cvar_index);
int MPI_T_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle,
                            int *count);
int MPI_T_cvar_handle_free(MPI_T_cvar_handle *handle);
int MPI_T_cvar_read(MPI_T_cvar_handle handle, void *buf);
int MPI_T_cvar_write(MPI_T_cvar_handle handle, const void *buf);
int MPI_T_pvar_get_num(int *num_pvar);
int MPI_T_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
                        MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                        int *bind, int *readonly, int *continuous, int *atomic);
int MPI_T_pvar_get_index(const char *name, int var_class, int *pvar_index);
int MPI_T_pvar_session_create(MPI_T_pvar_session *session);
int MPI_T_pvar_session_free(MPI_T_pvar_session *session);
int MPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle,
                            MPI_T_pvar_handle *handle, int *count);
int MPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle);
int MPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int MPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int MPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf);
int MPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf);
int MPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int MPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf);
int MPI_T_category_get_num(int *num_cat);
int MPI_T_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len,
                            int *num_cvars, int *num_pvars, int *num_categories);
int MPI_T_category_get_index(const char *name, int *cat_index);
int MPI_T_category_get_cvars(int cat_index, int len, int indices[]);
int MPI_T_category_get_pvars(int cat_index, int len, int indices[]);
int MPI_T_category_get_categories(int cat_index, int len, int indices[]);
int MPI_T_category_changed(int *update_number);

/* ---- MPI-4: point-to-point ----------------------------------------------- */

int MPI_Isendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                  void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                  MPI_Comm comm, MPI_Request *request);
int MPI_Isendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                    int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                    int source, int recvtag, MPI_Comm comm, MPI_Request *request);
int MPI_Isendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag,
                          int source, int recvtag, MPI_Comm comm, MPI_Request *request);
int MPI_Isendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                            int sendtag, int source, int recvtag, MPI_Comm comm,
                            MPI_Request *request);

/* ---- MPI-4.1 ------------------------------------------------------------- */

int MPI_Buffer_flush(void);
int MPI_Buffer_iflush(MPI_Request *request);
int MPI_Comm_attach_buffer(MPI_Comm comm, void *buffer, int size);
int MPI_Comm_attach_buffer_c(MPI_Comm comm, void *buffer, MPI_Count size);
int MPI_Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size);
int MPI_Comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr, MPI_Count *size);
int MPI_Comm_flush_buffer(MPI_Comm comm);
int MPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request);
int MPI_Session_attach_buffer(MPI_Session session, void *buffer, int size);
int MPI_Session_attach_buffer_c(MPI_Session session, void *buffer, MPI_Count size);
int MPI_Session_detach_buffer(MPI_Session session, void *buffer_addr, int *size);
int MPI_Session_detach_buffer_c(MPI_Session session, void *buffer_addr, MPI_Count *size);
int MPI_Session_flush_buffer(MPI_Session session);
int MPI_Session_iflush_buffer(MPI_Session session, MPI_Request *request);
int MPI_Get_hw_resource_info(MPI_Info *hw_info);

/* ---- MPI-4: partitioned point-to-point ----------------------------------- */

int MPI_Psend_init(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype,
                   int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Precv_init(void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest,
                   int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Pready(int partition, MPI_Request request);
int MPI_Pready_range(int partition_low, int partition_high, MPI_Request request);
int MPI_Pready_list(int length, int array_of_partitions[], MPI_Request request);
int MPI_Parrived(MPI_Request request, int partition, int *flag);

/* ---- MPI-4: sessions ----------------------------------------------------- */

int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session);
int MPI_Session_finalize(MPI_Session *session);
int MPI_Session_get_info(MPI_Session session, MPI_Info *info_used);
int MPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int *npset_names);
int MPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *pset_len,
                             char *pset_name);
int MPI_Session_get_pset_info(MPI_Session session, const char *pset_name, MPI_Info *info);
int MPI_Session_create_errhandler(MPI_Session_errhandler_function *session_errhandler_fn,
                                  MPI_Errhandler *errhandler);
int MPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler);
int MPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler *errhandler);
int MPI_Session_call_errhandler(MPI_Session session, int errorcode);
int MPI_Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup);
int MPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info,
                               MPI_Errhandler errhandler, MPI_Comm *newcomm);
int MPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
                                     MPI_Group remote_group, int remote_leader,
                                     const char *stringtag, MPI_Info info,
                                     MPI_Errhandler errhandler, MPI_Comm *newintercomm);

/* ---- MPI-4: communicators and info --------------------------------------- */

int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request);
int MPI_Info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag);
int MPI_Info_create_env(int argc, char *argv[], MPI_Info *info);

/* ---- MPI-4: MPI_T events ------------------------------------------------- */

int MPI_T_event_get_num(int *num_events);
int MPI_T_event_get_info(int event_index, char *name, int *name_len, int *verbosity,
                         MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[],
                         int *num_elements, MPI_T_enum *enumtype, MPI_Info *info, char *desc,
                         int *desc_len, int *bind);
int MPI_T_event_get_index(const char *name, int *event_index);
int MPI_T_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
                             MPI_T_event_registration *event_registration);
int MPI_T_event_handle_free(MPI_T_event_registration event_registration, void *user_data,
                            MPI_T_event_free_cb_function free_cb_function);
int MPI_T_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info *info_used);
int MPI_T_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info);
int MPI_T_event_register_callback(MPI_T_event_registration event_registration,
                                  MPI_T_cb_safety cb_safety, MPI_Info info, void *user_data,
                                  MPI_T_event_cb_function event_cb_function);
int MPI_T_event_callback_get_info(MPI_T_event_registration event_registration,
                                  MPI_T_cb_safety cb_safety, MPI_Info *info_used);
int MPI_T_event_callback_set_info(MPI_T_event_registration event_registration,
                                  MPI_T_cb_safety cb_safety, MPI_Info info);
int MPI_T_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                    MPI_T_event_dropped_cb_function dropped_cb_function);
int MPI_T_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer);
int MPI_T_event_copy(MPI_T_event_instance event_instance, void *buffer);
int MPI_T_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp);
int MPI_T_event_get_source(MPI_T_event_instance event_instance, int *source_index);
int MPI_T_source_get_num(int *num_sources);
int MPI_T_source_get_info(int source_index, char *name, int *name_len, char *desc, int *desc_len,
                          MPI_T_source_order *ordering, MPI_Count *ticks_per_second,
                          MPI_Count *max_ticks, MPI_Info *info);
int MPI_T_source_get_timestamp(int source_index, MPI_Count *timestamp);
int MPI_T_category_get_num_events(int cat_index, int *num_events);
int MPI_T_category_get_events(int cat_index, int len, int indices[]);

/* ---- Extensions of MPICH ------------------------------------------------- */

int MPIX_Delete_error_class(int errorclass);
int MPIX_Delete_error_code(int errorcode);
int MPIX_Delete_error_string(int errorcode);
int MPIX_GPU_query_support(int gpu_type, int *is_supported);
int MPIX_Query_cuda_support(void);
int MPIX_Query_hip_support(void);
int MPIX_Query_ze_support(void);
int MPIX_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                        MPI_Grequest_cancel_function *cancel_fn,
                        MPIX_Grequest_poll_function *poll_fn, MPIX_Grequest_wait_function *wait_fn,
                        void *extra_state, MPI_Request *request);
int MPIX_Grequest_class_create(MPI_Grequest_query_function *query_fn,
                               MPI_Grequest_free_function *free_fn,
                               MPI_Grequest_cancel_function *cancel_fn,
                               MPIX_Grequest_poll_function *poll_fn,
                               MPIX_Grequest_wait_function *wait_fn,
                               MPIX_Grequest_class *greq_class);
int MPIX_Grequest_class_allocate(MPIX_Grequest_class greq_class, void *extra_state,
                                 MPI_Request *request);
int MPIX_Request_is_complete(MPI_Request request);
int MPIX_Continue_init(int flags, int max_poll, MPI_Info info, MPI_Request *cont_req);
int MPIX_Continue(MPI_Request *op_request, MPIX_Continue_cb_function *cb, void *cb_data, int flags,
                  MPI_Status *status, MPI_Request cont_req);
int MPIX_Continueall(int count, MPI_Request op_requests[], MPIX_Continue_cb_function *cb,
                     void *cb_data, int flags, MPI_Status *statuses, MPI_Request cont_req);
int MPIX_Async_start(MPIX_Async_poll_function *poll_fn, void *extra_state, MPIX_Stream stream);
int MPIX_Async_spawn(MPIX_Async_thing async_thing, MPIX_Async_poll_function *poll_fn,
                     void *extra_state, MPIX_Stream stream);
void *MPIX_Async_get_state(MPIX_Async_thing async_thing);
int MPIX_Type_iov_len(MPI_Datatype datatype, MPI_Count max_iov_bytes, MPI_Count *iov_len,
                      MPI_Count *actual_iov_bytes);
int MPIX_Type_iov(MPI_Datatype datatype, MPI_Count iov_offset, MPIX_Iov *iov, MPI_Count max_iov_len,
                  MPI_Count *actual_iov_len);

/* ---- Life after failures (MPIX_Comm_shrink(3)) --------------------------- */

int MPIX_Comm_revoke(MPI_Comm comm);
int MPI_Comm_revoke(MPI_Comm comm);
int MPIX_Comm_is_revoked(MPI_Comm comm, int *flag);
int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm);
int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request);
int MPIX_Comm_agree(MPI_Comm comm, int *flag);
int MPIX_Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request);
int MPIX_Comm_failure_ack(MPI_Comm comm);
int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *failedgrp);
int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failedgrp);
int MPI_Comm_get_failed(MPI_Comm comm, MPI_Group *failedgrp);
int MPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int *num_acked);
int MPI_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int *num_acked);
int MPIX_Win_revoke(MPI_Win win);
int MPIX_Win_is_revoked(MPI_Win win, int *flag);
int MPIX_File_revoke(MPI_File fh);
int MPIX_File_is_revoked(MPI_File fh, int *flag);
int MPIX_Win_get_failed(MPI_Win win, MPI_Group *failedgrp);
int MPIX_Win_shrink(MPI_Win win, MPI_Win *newwin);
int MPIX_Win_recover(MPI_Win win, int failed_rank, void *baseptr);

/* ---- Coherent windows: instances on devices (MPIX_Win_acquire(3)) -------- */

int MPIX_Space_find(const char *name, int *space);
int MPIX_Win_acquire(MPI_Win win, MPI_Aint disp, MPI_Aint bytes, int space, int mode, void *ptr);
int MPIX_Win_release(MPI_Win win, MPI_Aint disp, MPI_Aint bytes, int space);
int MPIX_Win_acquire_on_stream(MPI_Win win, MPI_Aint disp, MPI_Aint bytes, int space, int mode,
                               void *stream, void *ptr);
int MPIX_Win_release_on_stream(MPI_Win win, MPI_Aint disp, MPI_Aint bytes, int space, void *stream);
int MPIX_Win_prefetch(MPI_Win win, MPI_Aint disp, MPI_Aint bytes, int space);
int MPIX_Win_evict(MPI_Win win, MPI_Aint disp, MPI_Aint bytes, int space);
int MPIX_Win_tile(MPI_Win win, MPI_Aint disp, int space, int *state, int *holds, MPI_Count *valid);
int MPIX_Space_launch(int space, void *stream, MPIX_Space_kernel *kernel, int n, void *const ptr[],
                      const void *arg, int bytes);
int MPIX_Space_wait(int space, void *stream);

/* ---- Notified one-sided operations (MPIX_Put_notify(3)) ------------------ */

int MPIX_Win_notify_set_num(MPI_Win win, MPI_Info info, int num);
int MPIX_Put_notify(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                    int target_rank, MPI_Aint target_disp, int target_count,
                    MPI_Datatype target_datatype, int index, MPI_Win win);
int MPIX_Put_notify_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, int index, MPI_Win win);
int MPIX_Get_notify(void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                    int target_rank, MPI_Aint target_disp, int target_count,
                    MPI_Datatype target_datatype, int index, MPI_Win win);
int MPIX_Get_notify_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, int index, MPI_Win win);
int MPIX_Accumulate_notify(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                           int target_rank, MPI_Aint target_disp, int target_count,
                           MPI_Datatype target_datatype, MPI_Op op, int index, MPI_Win win);
int MPIX_Accumulate_notify_c(const void *origin_addr, MPI_Count origin_count,
                             MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                             MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                             int index, MPI_Win win);
int MPIX_Win_notify_get_value(MPI_Win win, int index, MPI_Count *value);
int MPIX_Win_get_notify(MPI_Win win, int index, MPI_Count *value);
int MPIX_Win_notify_set_value(MPI_Win win, int index, MPI_Count value);
int MPIX_Win_set_notify(MPI_Win win, int index, MPI_Count value);
int MPIX_Win_notify_wait(MPI_Win win, int index, MPI_Count value);
int MPIX_Win_notify_test(MPI_Win win, int index, MPI_Count value, int *flag);
int MPIX_Win_notify_take(MPI_Win win, int index, MPI_Count count);
int MPIX_Win_notify_request(MPI_Win win, int index, MPI_Count value, MPI_Request *request);
int MPIX_Win_create_notify(MPI_Win win, int num);
int MPIX_Win_free_notify(MPI_Win win);

/* ---- Atomic operations with requests (MPIX_Rfetch_and_op(3)) ------------- */

int MPIX_Rfetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype,
                       int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win,
                       MPI_Request *request);
int MPIX_Rcompare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                           MPI_Datatype datatype, int target_rank, MPI_Aint target_disp,
                           MPI_Win win, MPI_Request *request);

/* ---- Order without completion (MPIX_Win_order(3)) ------------------------ */

int MPIX_Win_order(int rank, MPI_Win win);

/* ---- Duplicates of windows (MPIX_Win_idup(3)) ---------------------------- */

int MPIX_Win_idup(MPI_Win win, MPI_Info info, MPI_Win *newwin, MPI_Request *request);

/* ---- Memory handles of dynamic windows (MPIX_Memhandle_create(3)) -------- */

int MPIX_Memhandle_create(MPI_Win win, void *base, MPI_Aint size, MPI_Aint *handle);
int MPIX_Memhandle_free(MPI_Win win, MPI_Aint handle);

/* ---- Windows made without waiting (MPIX_Win_iallocate(3)) ---------------- */

int MPIX_Win_iallocate(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                       void *baseptr, MPI_Win *win, MPI_Request *request);
int MPIX_Win_icreate(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                     MPI_Win *win, MPI_Request *request);

/* ---- Deprecated, or removed in MPI-3.0; kept for old programs ------------ */

int MPI_Address(void *location, MPI_Aint *address);
int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent);
int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement);
int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement);
int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                     MPI_Datatype *newtype);
int MPI_Type_hindexed(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[],
                      MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_struct(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[],
                    MPI_Datatype array_of_types[], MPI_Datatype *newtype);
int MPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag);
int MPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val);
int MPI_Attr_delete(MPI_Comm comm, int keyval);
int MPI_Keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval,
                      void *extra_state);
int MPI_Keyval_free(int *keyval);
int MPI_Errhandler_create(MPI_Comm_errhandler_function *comm_errhandler_fn,
                          MPI_Errhandler *errhandler);
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler);
int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler);

/* ---- PMPI: every function once more, for profilers ----------------------- */

extern __typeof__(MPI_Init) PMPI_Init;
extern __typeof__(MPI_Init_thread) PMPI_Init_thread;
extern __typeof__(MPI_Initialized) PMPI_Initialized;
extern __typeof__(MPI_Finalize) PMPI_Finalize;
extern __typeof__(MPI_Finalized) PMPI_Finalized;
extern __typeof__(MPI_Abort) PMPI_Abort;
extern __typeof__(MPI_Query_thread) PMPI_Query_thread;
extern __typeof__(MPI_Is_thread_main) PMPI_Is_thread_main;
extern __typeof__(MPI_Get_version) PMPI_Get_version;
extern __typeof__(MPI_Get_library_version) PMPI_Get_library_version;
extern __typeof__(MPI_Get_processor_name) PMPI_Get_processor_name;
extern __typeof__(MPI_Wtime) PMPI_Wtime;
extern __typeof__(MPI_Wtick) PMPI_Wtick;
extern __typeof__(MPI_Pcontrol) PMPI_Pcontrol;
extern __typeof__(MPI_Alloc_mem) PMPI_Alloc_mem;
extern __typeof__(MPI_Free_mem) PMPI_Free_mem;
extern __typeof__(MPI_Send) PMPI_Send;
extern __typeof__(MPI_Send_c) PMPI_Send_c;
extern __typeof__(MPI_Bsend) PMPI_Bsend;
extern __typeof__(MPI_Bsend_c) PMPI_Bsend_c;
extern __typeof__(MPI_Ssend) PMPI_Ssend;
extern __typeof__(MPI_Ssend_c) PMPI_Ssend_c;
extern __typeof__(MPI_Rsend) PMPI_Rsend;
extern __typeof__(MPI_Rsend_c) PMPI_Rsend_c;
extern __typeof__(MPI_Recv) PMPI_Recv;
extern __typeof__(MPI_Recv_c) PMPI_Recv_c;
extern __typeof__(MPI_Isend) PMPI_Isend;
extern __typeof__(MPI_Isend_c) PMPI_Isend_c;
extern __typeof__(MPI_Ibsend) PMPI_Ibsend;
extern __typeof__(MPI_Ibsend_c) PMPI_Ibsend_c;
extern __typeof__(MPI_Issend) PMPI_Issend;
extern __typeof__(MPI_Issend_c) PMPI_Issend_c;
extern __typeof__(MPI_Irsend) PMPI_Irsend;
extern __typeof__(MPI_Irsend_c) PMPI_Irsend_c;
extern __typeof__(MPI_Irecv) PMPI_Irecv;
extern __typeof__(MPI_Irecv_c) PMPI_Irecv_c;
extern __typeof__(MPI_Send_init) PMPI_Send_init;
extern __typeof__(MPI_Send_init_c) PMPI_Send_init_c;
extern __typeof__(MPI_Bsend_init) PMPI_Bsend_init;
extern __typeof__(MPI_Bsend_init_c) PMPI_Bsend_init_c;
extern __typeof__(MPI_Ssend_init) PMPI_Ssend_init;
extern __typeof__(MPI_Ssend_init_c) PMPI_Ssend_init_c;
extern __typeof__(MPI_Rsend_init) PMPI_Rsend_init;
extern __typeof__(MPI_Rsend_init_c) PMPI_Rsend_init_c;
extern __typeof__(MPI_Recv_init) PMPI_Recv_init;
extern __typeof__(MPI_Recv_init_c) PMPI_Recv_init_c;
extern __typeof__(MPI_Start) PMPI_Start;
extern __typeof__(MPI_Startall) PMPI_Startall;
extern __typeof__(MPI_Sendrecv) PMPI_Sendrecv;
extern __typeof__(MPI_Sendrecv_c) PMPI_Sendrecv_c;
extern __typeof__(MPI_Sendrecv_replace) PMPI_Sendrecv_replace;
extern __typeof__(MPI_Sendrecv_replace_c) PMPI_Sendrecv_replace_c;
extern __typeof__(MPI_Probe) PMPI_Probe;
extern __typeof__(MPI_Iprobe) PMPI_Iprobe;
extern __typeof__(MPI_Mprobe) PMPI_Mprobe;
extern __typeof__(MPI_Improbe) PMPI_Improbe;
extern __typeof__(MPI_Mrecv) PMPI_Mrecv;
extern __typeof__(MPI_Mrecv_c) PMPI_Mrecv_c;
extern __typeof__(MPI_Imrecv) PMPI_Imrecv;
extern __typeof__(MPI_Imrecv_c) PMPI_Imrecv_c;
extern __typeof__(MPI_Buffer_attach) PMPI_Buffer_attach;
extern __typeof__(MPI_Buffer_attach_c) PMPI_Buffer_attach_c;
extern __typeof__(MPI_Buffer_detach) PMPI_Buffer_detach;
extern __typeof__(MPI_Buffer_detach_c) PMPI_Buffer_detach_c;
extern __typeof__(MPI_Cancel) PMPI_Cancel;
extern __typeof__(MPI_Test_cancelled) PMPI_Test_cancelled;
extern __typeof__(MPI_Wait) PMPI_Wait;
extern __typeof__(MPI_Waitany) PMPI_Waitany;
extern __typeof__(MPI_Waitall) PMPI_Waitall;
extern __typeof__(MPI_Waitsome) PMPI_Waitsome;
extern __typeof__(MPI_Test) PMPI_Test;
extern __typeof__(MPI_Testany) PMPI_Testany;
extern __typeof__(MPI_Testall) PMPI_Testall;
extern __typeof__(MPI_Testsome) PMPI_Testsome;
extern __typeof__(MPI_Request_free) PMPI_Request_free;
extern __typeof__(MPI_Request_get_status) PMPI_Request_get_status;
extern __typeof__(MPI_Request_get_status_all) PMPI_Request_get_status_all;
extern __typeof__(MPI_Request_get_status_any) PMPI_Request_get_status_any;
extern __typeof__(MPI_Request_get_status_some) PMPI_Request_get_status_some;
extern __typeof__(MPI_Status_get_source) PMPI_Status_get_source;
extern __typeof__(MPI_Status_get_tag) PMPI_Status_get_tag;
extern __typeof__(MPI_Status_get_error) PMPI_Status_get_error;
extern __typeof__(MPI_Status_set_source) PMPI_Status_set_source;
extern __typeof__(MPI_Status_set_tag) PMPI_Status_set_tag;
extern __typeof__(MPI_Status_set_error) PMPI_Status_set_error;
extern __typeof__(MPI_Get_count) PMPI_Get_count;
extern __typeof__(MPI_Get_count_c) PMPI_Get_count_c;
extern __typeof__(MPI_Get_elements) PMPI_Get_elements;
extern __typeof__(MPI_Get_elements_c) PMPI_Get_elements_c;
extern __typeof__(MPI_Get_elements_x) PMPI_Get_elements_x;
extern __typeof__(MPI_Status_set_elements) PMPI_Status_set_elements;
extern __typeof__(MPI_Status_set_elements_c) PMPI_Status_set_elements_c;
extern __typeof__(MPI_Status_set_elements_x) PMPI_Status_set_elements_x;
extern __typeof__(MPI_Status_set_cancelled) PMPI_Status_set_cancelled;
extern __typeof__(MPI_Grequest_start) PMPI_Grequest_start;
extern __typeof__(MPI_Grequest_complete) PMPI_Grequest_complete;
extern __typeof__(MPI_Status_c2f) PMPI_Status_c2f;
extern __typeof__(MPI_Status_f2c) PMPI_Status_f2c;
extern __typeof__(MPI_Status_c2f08) PMPI_Status_c2f08;
extern __typeof__(MPI_Status_f082c) PMPI_Status_f082c;
extern __typeof__(MPI_Status_f082f) PMPI_Status_f082f;
extern __typeof__(MPI_Status_f2f08) PMPI_Status_f2f08;
extern __typeof__(MPI_Type_contiguous) PMPI_Type_contiguous;
extern __typeof__(MPI_Type_contiguous_c) PMPI_Type_contiguous_c;
extern __typeof__(MPI_Type_vector) PMPI_Type_vector;
extern __typeof__(MPI_Type_vector_c) PMPI_Type_vector_c;
extern __typeof__(MPI_Type_indexed) PMPI_Type_indexed;
extern __typeof__(MPI_Type_indexed_c) PMPI_Type_indexed_c;
extern __typeof__(MPI_Type_create_hvector) PMPI_Type_create_hvector;
extern __typeof__(MPI_Type_create_hvector_c) PMPI_Type_create_hvector_c;
extern __typeof__(MPI_Type_create_hindexed) PMPI_Type_create_hindexed;
extern __typeof__(MPI_Type_create_hindexed_c) PMPI_Type_create_hindexed_c;
extern __typeof__(MPI_Type_create_hindexed_block) PMPI_Type_create_hindexed_block;
extern __typeof__(MPI_Type_create_hindexed_block_c) PMPI_Type_create_hindexed_block_c;
extern __typeof__(MPI_Type_create_indexed_block) PMPI_Type_create_indexed_block;
extern __typeof__(MPI_Type_create_indexed_block_c) PMPI_Type_create_indexed_block_c;
extern __typeof__(MPI_Type_create_struct) PMPI_Type_create_struct;
extern __typeof__(MPI_Type_create_struct_c) PMPI_Type_create_struct_c;
extern __typeof__(MPI_Type_create_subarray) PMPI_Type_create_subarray;
extern __typeof__(MPI_Type_create_subarray_c) PMPI_Type_create_subarray_c;
extern __typeof__(MPI_Type_create_darray) PMPI_Type_create_darray;
extern __typeof__(MPI_Type_create_darray_c) PMPI_Type_create_darray_c;
extern __typeof__(MPI_Type_create_resized) PMPI_Type_create_resized;
extern __typeof__(MPI_Type_create_resized_c) PMPI_Type_create_resized_c;
extern __typeof__(MPI_Type_create_f90_real) PMPI_Type_create_f90_real;
extern __typeof__(MPI_Type_create_f90_complex) PMPI_Type_create_f90_complex;
extern __typeof__(MPI_Type_create_f90_integer) PMPI_Type_create_f90_integer;
extern __typeof__(MPI_Type_match_size) PMPI_Type_match_size;
extern __typeof__(MPI_Type_get_value_index) PMPI_Type_get_value_index;
extern __typeof__(MPI_Type_dup) PMPI_Type_dup;
extern __typeof__(MPI_Type_commit) PMPI_Type_commit;
extern __typeof__(MPI_Type_free) PMPI_Type_free;
extern __typeof__(MPI_Type_size) PMPI_Type_size;
extern __typeof__(MPI_Type_size_c) PMPI_Type_size_c;
extern __typeof__(MPI_Type_size_x) PMPI_Type_size_x;
extern __typeof__(MPI_Type_get_extent) PMPI_Type_get_extent;
extern __typeof__(MPI_Type_get_extent_c) PMPI_Type_get_extent_c;
extern __typeof__(MPI_Type_get_extent_x) PMPI_Type_get_extent_x;
extern __typeof__(MPI_Type_get_true_extent) PMPI_Type_get_true_extent;
extern __typeof__(MPI_Type_get_true_extent_c) PMPI_Type_get_true_extent_c;
extern __typeof__(MPI_Type_get_true_extent_x) PMPI_Type_get_true_extent_x;
extern __typeof__(MPI_Type_get_envelope) PMPI_Type_get_envelope;
extern __typeof__(MPI_Type_get_envelope_c) PMPI_Type_get_envelope_c;
extern __typeof__(MPI_Type_get_contents) PMPI_Type_get_contents;
extern __typeof__(MPI_Type_get_contents_c) PMPI_Type_get_contents_c;
extern __typeof__(MPI_Type_set_name) PMPI_Type_set_name;
extern __typeof__(MPI_Type_get_name) PMPI_Type_get_name;
extern __typeof__(MPI_Get_address) PMPI_Get_address;
extern __typeof__(MPI_Aint_add) PMPI_Aint_add;
extern __typeof__(MPI_Aint_diff) PMPI_Aint_diff;
extern __typeof__(MPI_Pack) PMPI_Pack;
extern __typeof__(MPI_Pack_c) PMPI_Pack_c;
extern __typeof__(MPI_Unpack) PMPI_Unpack;
extern __typeof__(MPI_Unpack_c) PMPI_Unpack_c;
extern __typeof__(MPI_Pack_size) PMPI_Pack_size;
extern __typeof__(MPI_Pack_size_c) PMPI_Pack_size_c;
extern __typeof__(MPI_Pack_external) PMPI_Pack_external;
extern __typeof__(MPI_Pack_external_c) PMPI_Pack_external_c;
extern __typeof__(MPI_Unpack_external) PMPI_Unpack_external;
extern __typeof__(MPI_Unpack_external_c) PMPI_Unpack_external_c;
extern __typeof__(MPI_Pack_external_size) PMPI_Pack_external_size;
extern __typeof__(MPI_Pack_external_size_c) PMPI_Pack_external_size_c;
extern __typeof__(MPI_Barrier) PMPI_Barrier;
extern __typeof__(MPI_Ibarrier) PMPI_Ibarrier;
extern __typeof__(MPI_Barrier_init) PMPI_Barrier_init;
extern __typeof__(MPI_Bcast) PMPI_Bcast;
extern __typeof__(MPI_Bcast_c) PMPI_Bcast_c;
extern __typeof__(MPI_Ibcast) PMPI_Ibcast;
extern __typeof__(MPI_Ibcast_c) PMPI_Ibcast_c;
extern __typeof__(MPI_Bcast_init) PMPI_Bcast_init;
extern __typeof__(MPI_Bcast_init_c) PMPI_Bcast_init_c;
extern __typeof__(MPI_Gather) PMPI_Gather;
extern __typeof__(MPI_Gather_c) PMPI_Gather_c;
extern __typeof__(MPI_Igather) PMPI_Igather;
extern __typeof__(MPI_Igather_c) PMPI_Igather_c;
extern __typeof__(MPI_Gather_init) PMPI_Gather_init;
extern __typeof__(MPI_Gather_init_c) PMPI_Gather_init_c;
extern __typeof__(MPI_Gatherv) PMPI_Gatherv;
extern __typeof__(MPI_Gatherv_c) PMPI_Gatherv_c;
extern __typeof__(MPI_Igatherv) PMPI_Igatherv;
extern __typeof__(MPI_Igatherv_c) PMPI_Igatherv_c;
extern __typeof__(MPI_Gatherv_init) PMPI_Gatherv_init;
extern __typeof__(MPI_Gatherv_init_c) PMPI_Gatherv_init_c;
extern __typeof__(MPI_Scatter) PMPI_Scatter;
extern __typeof__(MPI_Scatter_c) PMPI_Scatter_c;
extern __typeof__(MPI_Iscatter) PMPI_Iscatter;
extern __typeof__(MPI_Iscatter_c) PMPI_Iscatter_c;
extern __typeof__(MPI_Scatter_init) PMPI_Scatter_init;
extern __typeof__(MPI_Scatter_init_c) PMPI_Scatter_init_c;
extern __typeof__(MPI_Scatterv) PMPI_Scatterv;
extern __typeof__(MPI_Scatterv_c) PMPI_Scatterv_c;
extern __typeof__(MPI_Iscatterv) PMPI_Iscatterv;
extern __typeof__(MPI_Iscatterv_c) PMPI_Iscatterv_c;
extern __typeof__(MPI_Scatterv_init) PMPI_Scatterv_init;
extern __typeof__(MPI_Scatterv_init_c) PMPI_Scatterv_init_c;
extern __typeof__(MPI_Allgather) PMPI_Allgather;
extern __typeof__(MPI_Allgather_c) PMPI_Allgather_c;
extern __typeof__(MPI_Iallgather) PMPI_Iallgather;
extern __typeof__(MPI_Iallgather_c) PMPI_Iallgather_c;
extern __typeof__(MPI_Allgather_init) PMPI_Allgather_init;
extern __typeof__(MPI_Allgather_init_c) PMPI_Allgather_init_c;
extern __typeof__(MPI_Allgatherv) PMPI_Allgatherv;
extern __typeof__(MPI_Allgatherv_c) PMPI_Allgatherv_c;
extern __typeof__(MPI_Iallgatherv) PMPI_Iallgatherv;
extern __typeof__(MPI_Iallgatherv_c) PMPI_Iallgatherv_c;
extern __typeof__(MPI_Allgatherv_init) PMPI_Allgatherv_init;
extern __typeof__(MPI_Allgatherv_init_c) PMPI_Allgatherv_init_c;
extern __typeof__(MPI_Alltoall) PMPI_Alltoall;
extern __typeof__(MPI_Alltoall_c) PMPI_Alltoall_c;
extern __typeof__(MPI_Ialltoall) PMPI_Ialltoall;
extern __typeof__(MPI_Ialltoall_c) PMPI_Ialltoall_c;
extern __typeof__(MPI_Alltoall_init) PMPI_Alltoall_init;
extern __typeof__(MPI_Alltoall_init_c) PMPI_Alltoall_init_c;
extern __typeof__(MPI_Alltoallv) PMPI_Alltoallv;
extern __typeof__(MPI_Alltoallv_c) PMPI_Alltoallv_c;
extern __typeof__(MPI_Ialltoallv) PMPI_Ialltoallv;
extern __typeof__(MPI_Ialltoallv_c) PMPI_Ialltoallv_c;
extern __typeof__(MPI_Alltoallv_init) PMPI_Alltoallv_init;
extern __typeof__(MPI_Alltoallv_init_c) PMPI_Alltoallv_init_c;
extern __typeof__(MPI_Alltoallw) PMPI_Alltoallw;
extern __typeof__(MPI_Alltoallw_c) PMPI_Alltoallw_c;
extern __typeof__(MPI_Ialltoallw) PMPI_Ialltoallw;
extern __typeof__(MPI_Ialltoallw_c) PMPI_Ialltoallw_c;
extern __typeof__(MPI_Alltoallw_init) PMPI_Alltoallw_init;
extern __typeof__(MPI_Alltoallw_init_c) PMPI_Alltoallw_init_c;
extern __typeof__(MPI_Reduce) PMPI_Reduce;
extern __typeof__(MPI_Reduce_c) PMPI_Reduce_c;
extern __typeof__(MPI_Ireduce) PMPI_Ireduce;
extern __typeof__(MPI_Ireduce_c) PMPI_Ireduce_c;
extern __typeof__(MPI_Reduce_init) PMPI_Reduce_init;
extern __typeof__(MPI_Reduce_init_c) PMPI_Reduce_init_c;
extern __typeof__(MPI_Allreduce) PMPI_Allreduce;
extern __typeof__(MPI_Allreduce_c) PMPI_Allreduce_c;
extern __typeof__(MPI_Iallreduce) PMPI_Iallreduce;
extern __typeof__(MPI_Iallreduce_c) PMPI_Iallreduce_c;
extern __typeof__(MPI_Allreduce_init) PMPI_Allreduce_init;
extern __typeof__(MPI_Allreduce_init_c) PMPI_Allreduce_init_c;
extern __typeof__(MPI_Reduce_scatter_block) PMPI_Reduce_scatter_block;
extern __typeof__(MPI_Reduce_scatter_block_c) PMPI_Reduce_scatter_block_c;
extern __typeof__(MPI_Ireduce_scatter_block) PMPI_Ireduce_scatter_block;
extern __typeof__(MPI_Ireduce_scatter_block_c) PMPI_Ireduce_scatter_block_c;
extern __typeof__(MPI_Reduce_scatter_block_init) PMPI_Reduce_scatter_block_init;
extern __typeof__(MPI_Reduce_scatter_block_init_c) PMPI_Reduce_scatter_block_init_c;
extern __typeof__(MPI_Reduce_scatter) PMPI_Reduce_scatter;
extern __typeof__(MPI_Reduce_scatter_c) PMPI_Reduce_scatter_c;
extern __typeof__(MPI_Ireduce_scatter) PMPI_Ireduce_scatter;
extern __typeof__(MPI_Ireduce_scatter_c) PMPI_Ireduce_scatter_c;
extern __typeof__(MPI_Reduce_scatter_init) PMPI_Reduce_scatter_init;
extern __typeof__(MPI_Reduce_scatter_init_c) PMPI_Reduce_scatter_init_c;
extern __typeof__(MPI_Scan) PMPI_Scan;
extern __typeof__(MPI_Scan_c) PMPI_Scan_c;
extern __typeof__(MPI_Iscan) PMPI_Iscan;
extern __typeof__(MPI_Iscan_c) PMPI_Iscan_c;
extern __typeof__(MPI_Scan_init) PMPI_Scan_init;
extern __typeof__(MPI_Scan_init_c) PMPI_Scan_init_c;
extern __typeof__(MPI_Exscan) PMPI_Exscan;
extern __typeof__(MPI_Exscan_c) PMPI_Exscan_c;
extern __typeof__(MPI_Iexscan) PMPI_Iexscan;
extern __typeof__(MPI_Iexscan_c) PMPI_Iexscan_c;
extern __typeof__(MPI_Exscan_init) PMPI_Exscan_init;
extern __typeof__(MPI_Exscan_init_c) PMPI_Exscan_init_c;
extern __typeof__(MPI_Reduce_local) PMPI_Reduce_local;
extern __typeof__(MPI_Reduce_local_c) PMPI_Reduce_local_c;
extern __typeof__(MPI_Op_create) PMPI_Op_create;
extern __typeof__(MPI_Op_create_c) PMPI_Op_create_c;
extern __typeof__(MPI_Op_free) PMPI_Op_free;
extern __typeof__(MPI_Op_commutative) PMPI_Op_commutative;
extern __typeof__(MPI_Group_size) PMPI_Group_size;
extern __typeof__(MPI_Group_rank) PMPI_Group_rank;
extern __typeof__(MPI_Group_translate_ranks) PMPI_Group_translate_ranks;
extern __typeof__(MPI_Group_compare) PMPI_Group_compare;
extern __typeof__(MPI_Group_union) PMPI_Group_union;
extern __typeof__(MPI_Group_intersection) PMPI_Group_intersection;
extern __typeof__(MPI_Group_difference) PMPI_Group_difference;
extern __typeof__(MPI_Group_incl) PMPI_Group_incl;
extern __typeof__(MPI_Group_excl) PMPI_Group_excl;
extern __typeof__(MPI_Group_range_incl) PMPI_Group_range_incl;
extern __typeof__(MPI_Group_range_excl) PMPI_Group_range_excl;
extern __typeof__(MPI_Group_free) PMPI_Group_free;
extern __typeof__(MPI_Comm_size) PMPI_Comm_size;
extern __typeof__(MPI_Comm_rank) PMPI_Comm_rank;
extern __typeof__(MPI_Comm_compare) PMPI_Comm_compare;
extern __typeof__(MPI_Comm_group) PMPI_Comm_group;
extern __typeof__(MPI_Comm_dup) PMPI_Comm_dup;
extern __typeof__(MPI_Comm_dup_with_info) PMPI_Comm_dup_with_info;
extern __typeof__(MPI_Comm_idup) PMPI_Comm_idup;
extern __typeof__(MPI_Comm_create) PMPI_Comm_create;
extern __typeof__(MPI_Comm_create_group) PMPI_Comm_create_group;
extern __typeof__(MPI_Comm_split) PMPI_Comm_split;
extern __typeof__(MPI_Comm_split_type) PMPI_Comm_split_type;
extern __typeof__(MPI_Comm_free) PMPI_Comm_free;
extern __typeof__(MPI_Comm_set_info) PMPI_Comm_set_info;
extern __typeof__(MPI_Comm_get_info) PMPI_Comm_get_info;
extern __typeof__(MPI_Comm_set_name) PMPI_Comm_set_name;
extern __typeof__(MPI_Comm_get_name) PMPI_Comm_get_name;
extern __typeof__(MPI_Comm_test_inter) PMPI_Comm_test_inter;
extern __typeof__(MPI_Comm_remote_size) PMPI_Comm_remote_size;
extern __typeof__(MPI_Comm_remote_group) PMPI_Comm_remote_group;
extern __typeof__(MPI_Intercomm_create) PMPI_Intercomm_create;
extern __typeof__(MPI_Intercomm_merge) PMPI_Intercomm_merge;
extern __typeof__(MPI_Comm_create_keyval) PMPI_Comm_create_keyval;
extern __typeof__(MPI_Comm_free_keyval) PMPI_Comm_free_keyval;
extern __typeof__(MPI_Comm_set_attr) PMPI_Comm_set_attr;
extern __typeof__(MPI_Comm_get_attr) PMPI_Comm_get_attr;
extern __typeof__(MPI_Comm_delete_attr) PMPI_Comm_delete_attr;
extern __typeof__(MPI_Type_create_keyval) PMPI_Type_create_keyval;
extern __typeof__(MPI_Type_free_keyval) PMPI_Type_free_keyval;
extern __typeof__(MPI_Type_set_attr) PMPI_Type_set_attr;
extern __typeof__(MPI_Type_get_attr) PMPI_Type_get_attr;
extern __typeof__(MPI_Type_delete_attr) PMPI_Type_delete_attr;
extern __typeof__(MPI_Win_create_keyval) PMPI_Win_create_keyval;
extern __typeof__(MPI_Win_free_keyval) PMPI_Win_free_keyval;
extern __typeof__(MPI_Win_set_attr) PMPI_Win_set_attr;
extern __typeof__(MPI_Win_get_attr) PMPI_Win_get_attr;
extern __typeof__(MPI_Win_delete_attr) PMPI_Win_delete_attr;
extern __typeof__(MPI_Cart_create) PMPI_Cart_create;
extern __typeof__(MPI_Cart_get) PMPI_Cart_get;
extern __typeof__(MPI_Cart_rank) PMPI_Cart_rank;
extern __typeof__(MPI_Cart_coords) PMPI_Cart_coords;
extern __typeof__(MPI_Cart_shift) PMPI_Cart_shift;
extern __typeof__(MPI_Cart_sub) PMPI_Cart_sub;
extern __typeof__(MPI_Cart_map) PMPI_Cart_map;
extern __typeof__(MPI_Cartdim_get) PMPI_Cartdim_get;
extern __typeof__(MPI_Dims_create) PMPI_Dims_create;
extern __typeof__(MPI_Graph_create) PMPI_Graph_create;
extern __typeof__(MPI_Graph_get) PMPI_Graph_get;
extern __typeof__(MPI_Graph_neighbors) PMPI_Graph_neighbors;
extern __typeof__(MPI_Graph_neighbors_count) PMPI_Graph_neighbors_count;
extern __typeof__(MPI_Graph_map) PMPI_Graph_map;
extern __typeof__(MPI_Graphdims_get) PMPI_Graphdims_get;
extern __typeof__(MPI_Dist_graph_create) PMPI_Dist_graph_create;
extern __typeof__(MPI_Dist_graph_create_adjacent) PMPI_Dist_graph_create_adjacent;
extern __typeof__(MPI_Dist_graph_neighbors) PMPI_Dist_graph_neighbors;
extern __typeof__(MPI_Dist_graph_neighbors_count) PMPI_Dist_graph_neighbors_count;
extern __typeof__(MPI_Topo_test) PMPI_Topo_test;
extern __typeof__(MPI_Neighbor_allgather) PMPI_Neighbor_allgather;
extern __typeof__(MPI_Neighbor_allgather_c) PMPI_Neighbor_allgather_c;
extern __typeof__(MPI_Ineighbor_allgather) PMPI_Ineighbor_allgather;
extern __typeof__(MPI_Ineighbor_allgather_c) PMPI_Ineighbor_allgather_c;
extern __typeof__(MPI_Neighbor_allgather_init) PMPI_Neighbor_allgather_init;
extern __typeof__(MPI_Neighbor_allgather_init_c) PMPI_Neighbor_allgather_init_c;
extern __typeof__(MPI_Neighbor_allgatherv) PMPI_Neighbor_allgatherv;
extern __typeof__(MPI_Neighbor_allgatherv_c) PMPI_Neighbor_allgatherv_c;
extern __typeof__(MPI_Ineighbor_allgatherv) PMPI_Ineighbor_allgatherv;
extern __typeof__(MPI_Ineighbor_allgatherv_c) PMPI_Ineighbor_allgatherv_c;
extern __typeof__(MPI_Neighbor_allgatherv_init) PMPI_Neighbor_allgatherv_init;
extern __typeof__(MPI_Neighbor_allgatherv_init_c) PMPI_Neighbor_allgatherv_init_c;
extern __typeof__(MPI_Neighbor_alltoall) PMPI_Neighbor_alltoall;
extern __typeof__(MPI_Neighbor_alltoall_c) PMPI_Neighbor_alltoall_c;
extern __typeof__(MPI_Ineighbor_alltoall) PMPI_Ineighbor_alltoall;
extern __typeof__(MPI_Ineighbor_alltoall_c) PMPI_Ineighbor_alltoall_c;
extern __typeof__(MPI_Neighbor_alltoall_init) PMPI_Neighbor_alltoall_init;
extern __typeof__(MPI_Neighbor_alltoall_init_c) PMPI_Neighbor_alltoall_init_c;
extern __typeof__(MPI_Neighbor_alltoallv) PMPI_Neighbor_alltoallv;
extern __typeof__(MPI_Neighbor_alltoallv_c) PMPI_Neighbor_alltoallv_c;
extern __typeof__(MPI_Ineighbor_alltoallv) PMPI_Ineighbor_alltoallv;
extern __typeof__(MPI_Ineighbor_alltoallv_c) PMPI_Ineighbor_alltoallv_c;
extern __typeof__(MPI_Neighbor_alltoallv_init) PMPI_Neighbor_alltoallv_init;
extern __typeof__(MPI_Neighbor_alltoallv_init_c) PMPI_Neighbor_alltoallv_init_c;
extern __typeof__(MPI_Neighbor_alltoallw) PMPI_Neighbor_alltoallw;
extern __typeof__(MPI_Neighbor_alltoallw_c) PMPI_Neighbor_alltoallw_c;
extern __typeof__(MPI_Ineighbor_alltoallw) PMPI_Ineighbor_alltoallw;
extern __typeof__(MPI_Ineighbor_alltoallw_c) PMPI_Ineighbor_alltoallw_c;
extern __typeof__(MPI_Neighbor_alltoallw_init) PMPI_Neighbor_alltoallw_init;
extern __typeof__(MPI_Neighbor_alltoallw_init_c) PMPI_Neighbor_alltoallw_init_c;
extern __typeof__(MPI_Info_create) PMPI_Info_create;
extern __typeof__(MPI_Info_dup) PMPI_Info_dup;
extern __typeof__(MPI_Info_set) PMPI_Info_set;
extern __typeof__(MPI_Info_get) PMPI_Info_get;
extern __typeof__(MPI_Info_get_valuelen) PMPI_Info_get_valuelen;
extern __typeof__(MPI_Info_get_nkeys) PMPI_Info_get_nkeys;
extern __typeof__(MPI_Info_get_nthkey) PMPI_Info_get_nthkey;
extern __typeof__(MPI_Info_delete) PMPI_Info_delete;
extern __typeof__(MPI_Info_free) PMPI_Info_free;
extern __typeof__(MPI_Comm_create_errhandler) PMPI_Comm_create_errhandler;
extern __typeof__(MPI_Comm_set_errhandler) PMPI_Comm_set_errhandler;
extern __typeof__(MPI_Comm_get_errhandler) PMPI_Comm_get_errhandler;
extern __typeof__(MPI_Comm_call_errhandler) PMPI_Comm_call_errhandler;
extern __typeof__(MPI_Win_create_errhandler) PMPI_Win_create_errhandler;
extern __typeof__(MPI_Win_set_errhandler) PMPI_Win_set_errhandler;
extern __typeof__(MPI_Win_get_errhandler) PMPI_Win_get_errhandler;
extern __typeof__(MPI_Win_call_errhandler) PMPI_Win_call_errhandler;
extern __typeof__(MPI_Errhandler_free) PMPI_Errhandler_free;
extern __typeof__(MPI_Error_class) PMPI_Error_class;
extern __typeof__(MPI_Error_string) PMPI_Error_string;
extern __typeof__(MPI_Add_error_class) PMPI_Add_error_class;
extern __typeof__(MPI_Add_error_code) PMPI_Add_error_code;
extern __typeof__(MPI_Add_error_string) PMPI_Add_error_string;
extern __typeof__(MPI_Remove_error_class) PMPI_Remove_error_class;
extern __typeof__(MPI_Remove_error_code) PMPI_Remove_error_code;
extern __typeof__(MPI_Remove_error_string) PMPI_Remove_error_string;
extern __typeof__(MPI_Win_create) PMPI_Win_create;
extern __typeof__(MPI_Win_create_c) PMPI_Win_create_c;
extern __typeof__(MPI_Win_allocate) PMPI_Win_allocate;
extern __typeof__(MPI_Win_allocate_c) PMPI_Win_allocate_c;
extern __typeof__(MPI_Win_allocate_shared) PMPI_Win_allocate_shared;
extern __typeof__(MPI_Win_allocate_shared_c) PMPI_Win_allocate_shared_c;
extern __typeof__(MPI_Win_shared_query) PMPI_Win_shared_query;
extern __typeof__(MPI_Win_shared_query_c) PMPI_Win_shared_query_c;
extern __typeof__(MPI_Win_create_dynamic) PMPI_Win_create_dynamic;
extern __typeof__(MPI_Win_attach) PMPI_Win_attach;
extern __typeof__(MPI_Win_detach) PMPI_Win_detach;
extern __typeof__(MPI_Win_free) PMPI_Win_free;
extern __typeof__(MPI_Win_get_group) PMPI_Win_get_group;
extern __typeof__(MPI_Win_set_info) PMPI_Win_set_info;
extern __typeof__(MPI_Win_get_info) PMPI_Win_get_info;
extern __typeof__(MPI_Win_set_name) PMPI_Win_set_name;
extern __typeof__(MPI_Win_get_name) PMPI_Win_get_name;
extern __typeof__(MPI_Win_fence) PMPI_Win_fence;
extern __typeof__(MPI_Win_post) PMPI_Win_post;
extern __typeof__(MPI_Win_start) PMPI_Win_start;
extern __typeof__(MPI_Win_complete) PMPI_Win_complete;
extern __typeof__(MPI_Win_wait) PMPI_Win_wait;
extern __typeof__(MPI_Win_test) PMPI_Win_test;
extern __typeof__(MPI_Win_lock) PMPI_Win_lock;
extern __typeof__(MPI_Win_lock_all) PMPI_Win_lock_all;
extern __typeof__(MPI_Win_unlock) PMPI_Win_unlock;
extern __typeof__(MPI_Win_unlock_all) PMPI_Win_unlock_all;
extern __typeof__(MPI_Win_flush) PMPI_Win_flush;
extern __typeof__(MPI_Win_flush_all) PMPI_Win_flush_all;
extern __typeof__(MPI_Win_flush_local) PMPI_Win_flush_local;
extern __typeof__(MPI_Win_flush_local_all) PMPI_Win_flush_local_all;
extern __typeof__(MPI_Win_sync) PMPI_Win_sync;
extern __typeof__(MPI_Put) PMPI_Put;
extern __typeof__(MPI_Put_c) PMPI_Put_c;
extern __typeof__(MPI_Get) PMPI_Get;
extern __typeof__(MPI_Get_c) PMPI_Get_c;
extern __typeof__(MPI_Accumulate) PMPI_Accumulate;
extern __typeof__(MPI_Accumulate_c) PMPI_Accumulate_c;
extern __typeof__(MPI_Get_accumulate) PMPI_Get_accumulate;
extern __typeof__(MPI_Get_accumulate_c) PMPI_Get_accumulate_c;
extern __typeof__(MPI_Fetch_and_op) PMPI_Fetch_and_op;
extern __typeof__(MPI_Compare_and_swap) PMPI_Compare_and_swap;
extern __typeof__(MPI_Rput) PMPI_Rput;
extern __typeof__(MPI_Rput_c) PMPI_Rput_c;
extern __typeof__(MPI_Rget) PMPI_Rget;
extern __typeof__(MPI_Rget_c) PMPI_Rget_c;
extern __typeof__(MPI_Raccumulate) PMPI_Raccumulate;
extern __typeof__(MPI_Raccumulate_c) PMPI_Raccumulate_c;
extern __typeof__(MPI_Rget_accumulate) PMPI_Rget_accumulate;
extern __typeof__(MPI_Rget_accumulate_c) PMPI_Rget_accumulate_c;
extern __typeof__(MPI_Comm_spawn) PMPI_Comm_spawn;
extern __typeof__(MPI_Comm_spawn_multiple) PMPI_Comm_spawn_multiple;
extern __typeof__(MPI_Comm_get_parent) PMPI_Comm_get_parent;
extern __typeof__(MPI_Open_port) PMPI_Open_port;
extern __typeof__(MPI_Close_port) PMPI_Close_port;
extern __typeof__(MPI_Comm_accept) PMPI_Comm_accept;
extern __typeof__(MPI_Comm_connect) PMPI_Comm_connect;
extern __typeof__(MPI_Comm_disconnect) PMPI_Comm_disconnect;
extern __typeof__(MPI_Comm_join) PMPI_Comm_join;
extern __typeof__(MPI_Publish_name) PMPI_Publish_name;
extern __typeof__(MPI_Unpublish_name) PMPI_Unpublish_name;
extern __typeof__(MPI_Lookup_name) PMPI_Lookup_name;
extern __typeof__(MPI_File_open) PMPI_File_open;
extern __typeof__(MPI_File_close) PMPI_File_close;
extern __typeof__(MPI_File_delete) PMPI_File_delete;
extern __typeof__(MPI_File_set_size) PMPI_File_set_size;
extern __typeof__(MPI_File_preallocate) PMPI_File_preallocate;
extern __typeof__(MPI_File_get_size) PMPI_File_get_size;
extern __typeof__(MPI_File_get_group) PMPI_File_get_group;
extern __typeof__(MPI_File_get_amode) PMPI_File_get_amode;
extern __typeof__(MPI_File_set_info) PMPI_File_set_info;
extern __typeof__(MPI_File_get_info) PMPI_File_get_info;
extern __typeof__(MPI_File_set_view) PMPI_File_set_view;
extern __typeof__(MPI_File_get_view) PMPI_File_get_view;
extern __typeof__(MPI_File_get_type_extent) PMPI_File_get_type_extent;
extern __typeof__(MPI_File_get_type_extent_c) PMPI_File_get_type_extent_c;
extern __typeof__(MPI_File_set_atomicity) PMPI_File_set_atomicity;
extern __typeof__(MPI_File_get_atomicity) PMPI_File_get_atomicity;
extern __typeof__(MPI_File_sync) PMPI_File_sync;
extern __typeof__(MPI_File_seek) PMPI_File_seek;
extern __typeof__(MPI_File_get_position) PMPI_File_get_position;
extern __typeof__(MPI_File_get_byte_offset) PMPI_File_get_byte_offset;
extern __typeof__(MPI_File_seek_shared) PMPI_File_seek_shared;
extern __typeof__(MPI_File_get_position_shared) PMPI_File_get_position_shared;
extern __typeof__(MPI_File_read) PMPI_File_read;
extern __typeof__(MPI_File_read_c) PMPI_File_read_c;
extern __typeof__(MPI_File_iread) PMPI_File_iread;
extern __typeof__(MPI_File_iread_c) PMPI_File_iread_c;
extern __typeof__(MPI_File_read_all) PMPI_File_read_all;
extern __typeof__(MPI_File_read_all_c) PMPI_File_read_all_c;
extern __typeof__(MPI_File_iread_all) PMPI_File_iread_all;
extern __typeof__(MPI_File_iread_all_c) PMPI_File_iread_all_c;
extern __typeof__(MPI_File_read_all_begin) PMPI_File_read_all_begin;
extern __typeof__(MPI_File_read_all_begin_c) PMPI_File_read_all_begin_c;
extern __typeof__(MPI_File_read_all_end) PMPI_File_read_all_end;
extern __typeof__(MPI_File_read_at) PMPI_File_read_at;
extern __typeof__(MPI_File_read_at_c) PMPI_File_read_at_c;
extern __typeof__(MPI_File_iread_at) PMPI_File_iread_at;
extern __typeof__(MPI_File_iread_at_c) PMPI_File_iread_at_c;
extern __typeof__(MPI_File_read_at_all) PMPI_File_read_at_all;
extern __typeof__(MPI_File_read_at_all_c) PMPI_File_read_at_all_c;
extern __typeof__(MPI_File_iread_at_all) PMPI_File_iread_at_all;
extern __typeof__(MPI_File_iread_at_all_c) PMPI_File_iread_at_all_c;
extern __typeof__(MPI_File_read_at_all_begin) PMPI_File_read_at_all_begin;
extern __typeof__(MPI_File_read_at_all_begin_c) PMPI_File_read_at_all_begin_c;
extern __typeof__(MPI_File_read_at_all_end) PMPI_File_read_at_all_end;
extern __typeof__(MPI_File_read_shared) PMPI_File_read_shared;
extern __typeof__(MPI_File_read_shared_c) PMPI_File_read_shared_c;
extern __typeof__(MPI_File_iread_shared) PMPI_File_iread_shared;
extern __typeof__(MPI_File_iread_shared_c) PMPI_File_iread_shared_c;
extern __typeof__(MPI_File_read_ordered) PMPI_File_read_ordered;
extern __typeof__(MPI_File_read_ordered_c) PMPI_File_read_ordered_c;
extern __typeof__(MPI_File_read_ordered_begin) PMPI_File_read_ordered_begin;
extern __typeof__(MPI_File_read_ordered_begin_c) PMPI_File_read_ordered_begin_c;
extern __typeof__(MPI_File_read_ordered_end) PMPI_File_read_ordered_end;
extern __typeof__(MPI_File_write) PMPI_File_write;
extern __typeof__(MPI_File_write_c) PMPI_File_write_c;
extern __typeof__(MPI_File_iwrite) PMPI_File_iwrite;
extern __typeof__(MPI_File_iwrite_c) PMPI_File_iwrite_c;
extern __typeof__(MPI_File_write_all) PMPI_File_write_all;
extern __typeof__(MPI_File_write_all_c) PMPI_File_write_all_c;
extern __typeof__(MPI_File_iwrite_all) PMPI_File_iwrite_all;
extern __typeof__(MPI_File_iwrite_all_c) PMPI_File_iwrite_all_c;
extern __typeof__(MPI_File_write_all_begin) PMPI_File_write_all_begin;
extern __typeof__(MPI_File_write_all_begin_c) PMPI_File_write_all_begin_c;
extern __typeof__(MPI_File_write_all_end) PMPI_File_write_all_end;
extern __typeof__(MPI_File_write_at) PMPI_File_write_at;
extern __typeof__(MPI_File_write_at_c) PMPI_File_write_at_c;
extern __typeof__(MPI_File_iwrite_at) PMPI_File_iwrite_at;
extern __typeof__(MPI_File_iwrite_at_c) PMPI_File_iwrite_at_c;
extern __typeof__(MPI_File_write_at_all) PMPI_File_write_at_all;
extern __typeof__(MPI_File_write_at_all_c) PMPI_File_write_at_all_c;
extern __typeof__(MPI_File_iwrite_at_all) PMPI_File_iwrite_at_all;
extern __typeof__(MPI_File_iwrite_at_all_c) PMPI_File_iwrite_at_all_c;
extern __typeof__(MPI_File_write_at_all_begin) PMPI_File_write_at_all_begin;
extern __typeof__(MPI_File_write_at_all_begin_c) PMPI_File_write_at_all_begin_c;
extern __typeof__(MPI_File_write_at_all_end) PMPI_File_write_at_all_end;
extern __typeof__(MPI_File_write_shared) PMPI_File_write_shared;
extern __typeof__(MPI_File_write_shared_c) PMPI_File_write_shared_c;
extern __typeof__(MPI_File_iwrite_shared) PMPI_File_iwrite_shared;
extern __typeof__(MPI_File_iwrite_shared_c) PMPI_File_iwrite_shared_c;
extern __typeof__(MPI_File_write_ordered) PMPI_File_write_ordered;
extern __typeof__(MPI_File_write_ordered_c) PMPI_File_write_ordered_c;
extern __typeof__(MPI_File_write_ordered_begin) PMPI_File_write_ordered_begin;
extern __typeof__(MPI_File_write_ordered_begin_c) PMPI_File_write_ordered_begin_c;
extern __typeof__(MPI_File_write_ordered_end) PMPI_File_write_ordered_end;
extern __typeof__(MPI_File_create_errhandler) PMPI_File_create_errhandler;
extern __typeof__(MPI_File_set_errhandler) PMPI_File_set_errhandler;
extern __typeof__(MPI_File_get_errhandler) PMPI_File_get_errhandler;
extern __typeof__(MPI_File_call_errhandler) PMPI_File_call_errhandler;
extern __typeof__(MPI_File_c2f) PMPI_File_c2f;
extern __typeof__(MPI_File_f2c) PMPI_File_f2c;
extern __typeof__(MPI_Register_datarep) PMPI_Register_datarep;
extern __typeof__(MPI_Register_datarep_c) PMPI_Register_datarep_c;
extern __typeof__(MPI_T_init_thread) PMPI_T_init_thread;
extern __typeof__(MPI_T_finalize) PMPI_T_finalize;
extern __typeof__(MPI_T_enum_get_info) PMPI_T_enum_get_info;
extern __typeof__(MPI_T_enum_get_item) PMPI_T_enum_get_item;
extern __typeof__(MPI_T_cvar_get_num) PMPI_T_cvar_get_num;
extern __typeof__(MPI_T_cvar_get_info) PMPI_T_cvar_get_info;
extern __typeof__(MPI_T_cvar_get_index) PMPI_T_cvar_get_index;
extern __typeof__(MPI_T_cvar_handle_alloc) PMPI_T_cvar_handle_alloc;
extern __typeof__(MPI_T_cvar_handle_free) PMPI_T_cvar_handle_free;
extern __typeof__(MPI_T_cvar_read) PMPI_T_cvar_read;
extern __typeof__(MPI_T_cvar_write) PMPI_T_cvar_write;
extern __typeof__(MPI_T_pvar_get_num) PMPI_T_pvar_get_num;
extern __typeof__(MPI_T_pvar_get_info) PMPI_T_pvar_get_info;
extern __typeof__(MPI_T_pvar_get_index) PMPI_T_pvar_get_index;
extern __typeof__(MPI_T_pvar_session_create) PMPI_T_pvar_session_create;
extern __typeof__(MPI_T_pvar_session_free) PMPI_T_pvar_session_free;
extern __typeof__(MPI_T_pvar_handle_alloc) PMPI_T_pvar_handle_alloc;
extern __typeof__(MPI_T_pvar_handle_free) PMPI_T_pvar_handle_free;
extern __typeof__(MPI_T_pvar_start) PMPI_T_pvar_start;
extern __typeof__(MPI_T_pvar_stop) PMPI_T_pvar_stop;
extern __typeof__(MPI_T_pvar_read) PMPI_T_pvar_read;
extern __typeof__(MPI_T_pvar_write) PMPI_T_pvar_write;
extern __typeof__(MPI_T_pvar_reset) PMPI_T_pvar_reset;
extern __typeof__(MPI_T_pvar_readreset) PMPI_T_pvar_readreset;
extern __typeof__(MPI_T_category_get_num) PMPI_T_category_get_num;
extern __typeof__(MPI_T_category_get_info) PMPI_T_category_get_info;
extern __typeof__(MPI_T_category_get_index) PMPI_T_category_get_index;
extern __typeof__(MPI_T_category_get_cvars) PMPI_T_category_get_cvars;
extern __typeof__(MPI_T_category_get_pvars) PMPI_T_category_get_pvars;
extern __typeof__(MPI_T_category_get_categories) PMPI_T_category_get_categories;
extern __typeof__(MPI_T_category_changed) PMPI_T_category_changed;
extern __typeof__(MPI_Isendrecv) PMPI_Isendrecv;
extern __typeof__(MPI_Isendrecv_c) PMPI_Isendrecv_c;
extern __typeof__(MPI_Isendrecv_replace) PMPI_Isendrecv_replace;
extern __typeof__(MPI_Isendrecv_replace_c) PMPI_Isendrecv_replace_c;
extern __typeof__(MPI_Buffer_flush) PMPI_Buffer_flush;
extern __typeof__(MPI_Buffer_iflush) PMPI_Buffer_iflush;
extern __typeof__(MPI_Comm_attach_buffer) PMPI_Comm_attach_buffer;
extern __typeof__(MPI_Comm_attach_buffer_c) PMPI_Comm_attach_buffer_c;
extern __typeof__(MPI_Comm_detach_buffer) PMPI_Comm_detach_buffer;
extern __typeof__(MPI_Comm_detach_buffer_c) PMPI_Comm_detach_buffer_c;
extern __typeof__(MPI_Comm_flush_buffer) PMPI_Comm_flush_buffer;
extern __typeof__(MPI_Comm_iflush_buffer) PMPI_Comm_iflush_buffer;
extern __typeof__(MPI_Session_attach_buffer) PMPI_Session_attach_buffer;
extern __typeof__(MPI_Session_attach_buffer_c) PMPI_Session_attach_buffer_c;
extern __typeof__(MPI_Session_detach_buffer) PMPI_Session_detach_buffer;
extern __typeof__(MPI_Session_detach_buffer_c) PMPI_Session_detach_buffer_c;
extern __typeof__(MPI_Session_flush_buffer) PMPI_Session_flush_buffer;
extern __typeof__(MPI_Session_iflush_buffer) PMPI_Session_iflush_buffer;
extern __typeof__(MPI_Get_hw_resource_info) PMPI_Get_hw_resource_info;
extern __typeof__(MPI_Psend_init) PMPI_Psend_init;
extern __typeof__(MPI_Precv_init) PMPI_Precv_init;
extern __typeof__(MPI_Pready) PMPI_Pready;
extern __typeof__(MPI_Pready_range) PMPI_Pready_range;
extern __typeof__(MPI_Pready_list) PMPI_Pready_list;
extern __typeof__(MPI_Parrived) PMPI_Parrived;
extern __typeof__(MPI_Session_init) PMPI_Session_init;
extern __typeof__(MPI_Session_finalize) PMPI_Session_finalize;
extern __typeof__(MPI_Session_get_info) PMPI_Session_get_info;
extern __typeof__(MPI_Session_get_num_psets) PMPI_Session_get_num_psets;
extern __typeof__(MPI_Session_get_nth_pset) PMPI_Session_get_nth_pset;
extern __typeof__(MPI_Session_get_pset_info) PMPI_Session_get_pset_info;
extern __typeof__(MPI_Session_create_errhandler) PMPI_Session_create_errhandler;
extern __typeof__(MPI_Session_set_errhandler) PMPI_Session_set_errhandler;
extern __typeof__(MPI_Session_get_errhandler) PMPI_Session_get_errhandler;
extern __typeof__(MPI_Session_call_errhandler) PMPI_Session_call_errhandler;
extern __typeof__(MPI_Group_from_session_pset) PMPI_Group_from_session_pset;
extern __typeof__(MPI_Comm_create_from_group) PMPI_Comm_create_from_group;
extern __typeof__(MPI_Intercomm_create_from_groups) PMPI_Intercomm_create_from_groups;
extern __typeof__(MPI_Comm_idup_with_info) PMPI_Comm_idup_with_info;
extern __typeof__(MPI_Info_get_string) PMPI_Info_get_string;
extern __typeof__(MPI_Info_create_env) PMPI_Info_create_env;
extern __typeof__(MPI_T_event_get_num) PMPI_T_event_get_num;
extern __typeof__(MPI_T_event_get_info) PMPI_T_event_get_info;
extern __typeof__(MPI_T_event_get_index) PMPI_T_event_get_index;
extern __typeof__(MPI_T_event_handle_alloc) PMPI_T_event_handle_alloc;
extern __typeof__(MPI_T_event_handle_free) PMPI_T_event_handle_free;
extern __typeof__(MPI_T_event_handle_get_info) PMPI_T_event_handle_get_info;
extern __typeof__(MPI_T_event_handle_set_info) PMPI_T_event_handle_set_info;
extern __typeof__(MPI_T_event_register_callback) PMPI_T_event_register_callback;
extern __typeof__(MPI_T_event_callback_get_info) PMPI_T_event_callback_get_info;
extern __typeof__(MPI_T_event_callback_set_info) PMPI_T_event_callback_set_info;
extern __typeof__(MPI_T_event_set_dropped_handler) PMPI_T_event_set_dropped_handler;
extern __typeof__(MPI_T_event_read) PMPI_T_event_read;
extern __typeof__(MPI_T_event_copy) PMPI_T_event_copy;
extern __typeof__(MPI_T_event_get_timestamp) PMPI_T_event_get_timestamp;
extern __typeof__(MPI_T_event_get_source) PMPI_T_event_get_source;
extern __typeof__(MPI_T_source_get_num) PMPI_T_source_get_num;
extern __typeof__(MPI_T_source_get_info) PMPI_T_source_get_info;
extern __typeof__(MPI_T_source_get_timestamp) PMPI_T_source_get_timestamp;
extern __typeof__(MPI_T_category_get_num_events) PMPI_T_category_get_num_events;
extern __typeof__(MPI_T_category_get_events) PMPI_T_category_get_events;
extern __typeof__(MPIX_Delete_error_class) PMPIX_Delete_error_class;
extern __typeof__(MPIX_Delete_error_code) PMPIX_Delete_error_code;
extern __typeof__(MPIX_Delete_error_string) PMPIX_Delete_error_string;
extern __typeof__(MPIX_GPU_query_support) PMPIX_GPU_query_support;
extern __typeof__(MPIX_Query_cuda_support) PMPIX_Query_cuda_support;
extern __typeof__(MPIX_Query_hip_support) PMPIX_Query_hip_support;
extern __typeof__(MPIX_Query_ze_support) PMPIX_Query_ze_support;
extern __typeof__(MPIX_Grequest_start) PMPIX_Grequest_start;
extern __typeof__(MPIX_Grequest_class_create) PMPIX_Grequest_class_create;
extern __typeof__(MPIX_Grequest_class_allocate) PMPIX_Grequest_class_allocate;
extern __typeof__(MPIX_Request_is_complete) PMPIX_Request_is_complete;
extern __typeof__(MPIX_Continue_init) PMPIX_Continue_init;
extern __typeof__(MPIX_Continue) PMPIX_Continue;
extern __typeof__(MPIX_Continueall) PMPIX_Continueall;
extern __typeof__(MPIX_Async_start) PMPIX_Async_start;
extern __typeof__(MPIX_Async_spawn) PMPIX_Async_spawn;
extern __typeof__(MPIX_Async_get_state) PMPIX_Async_get_state;
extern __typeof__(MPIX_Type_iov_len) PMPIX_Type_iov_len;
extern __typeof__(MPIX_Type_iov) PMPIX_Type_iov;
extern __typeof__(MPIX_Comm_revoke) PMPIX_Comm_revoke;
extern __typeof__(MPI_Comm_revoke) PMPI_Comm_revoke;
extern __typeof__(MPIX_Comm_is_revoked) PMPIX_Comm_is_revoked;
extern __typeof__(MPIX_Comm_shrink) PMPIX_Comm_shrink;
extern __typeof__(MPIX_Comm_ishrink) PMPIX_Comm_ishrink;
extern __typeof__(MPIX_Comm_agree) PMPIX_Comm_agree;
extern __typeof__(MPIX_Comm_iagree) PMPIX_Comm_iagree;
extern __typeof__(MPIX_Comm_failure_ack) PMPIX_Comm_failure_ack;
extern __typeof__(MPIX_Comm_failure_get_acked) PMPIX_Comm_failure_get_acked;
extern __typeof__(MPIX_Comm_get_failed) PMPIX_Comm_get_failed;
extern __typeof__(MPI_Comm_get_failed) PMPI_Comm_get_failed;
extern __typeof__(MPIX_Comm_ack_failed) PMPIX_Comm_ack_failed;
extern __typeof__(MPI_Comm_ack_failed) PMPI_Comm_ack_failed;
extern __typeof__(MPIX_Win_revoke) PMPIX_Win_revoke;
extern __typeof__(MPIX_Win_is_revoked) PMPIX_Win_is_revoked;
extern __typeof__(MPIX_File_revoke) PMPIX_File_revoke;
extern __typeof__(MPIX_File_is_revoked) PMPIX_File_is_revoked;
extern __typeof__(MPIX_Win_get_failed) PMPIX_Win_get_failed;
extern __typeof__(MPIX_Win_shrink) PMPIX_Win_shrink;
extern __typeof__(MPIX_Win_recover) PMPIX_Win_recover;
extern __typeof__(MPIX_Space_find) PMPIX_Space_find;
extern __typeof__(MPIX_Win_acquire) PMPIX_Win_acquire;
extern __typeof__(MPIX_Win_release) PMPIX_Win_release;
extern __typeof__(MPIX_Win_acquire_on_stream) PMPIX_Win_acquire_on_stream;
extern __typeof__(MPIX_Win_release_on_stream) PMPIX_Win_release_on_stream;
extern __typeof__(MPIX_Win_prefetch) PMPIX_Win_prefetch;
extern __typeof__(MPIX_Win_evict) PMPIX_Win_evict;
extern __typeof__(MPIX_Win_tile) PMPIX_Win_tile;
extern __typeof__(MPIX_Space_launch) PMPIX_Space_launch;
extern __typeof__(MPIX_Space_wait) PMPIX_Space_wait;
extern __typeof__(MPIX_Win_notify_set_num) PMPIX_Win_notify_set_num;
extern __typeof__(MPIX_Put_notify) PMPIX_Put_notify;
extern __typeof__(MPIX_Put_notify_c) PMPIX_Put_notify_c;
extern __typeof__(MPIX_Get_notify) PMPIX_Get_notify;
extern __typeof__(MPIX_Get_notify_c) PMPIX_Get_notify_c;
extern __typeof__(MPIX_Accumulate_notify) PMPIX_Accumulate_notify;
extern __typeof__(MPIX_Accumulate_notify_c) PMPIX_Accumulate_notify_c;
extern __typeof__(MPIX_Win_notify_get_value) PMPIX_Win_notify_get_value;
extern __typeof__(MPIX_Win_get_notify) PMPIX_Win_get_notify;
extern __typeof__(MPIX_Win_notify_set_value) PMPIX_Win_notify_set_value;
extern __typeof__(MPIX_Win_set_notify) PMPIX_Win_set_notify;
extern __typeof__(MPIX_Win_notify_wait) PMPIX_Win_notify_wait;
extern __typeof__(MPIX_Win_notify_test) PMPIX_Win_notify_test;
extern __typeof__(MPIX_Win_notify_take) PMPIX_Win_notify_take;
extern __typeof__(MPIX_Win_notify_request) PMPIX_Win_notify_request;
extern __typeof__(MPIX_Win_create_notify) PMPIX_Win_create_notify;
extern __typeof__(MPIX_Win_free_notify) PMPIX_Win_free_notify;
extern __typeof__(MPIX_Rfetch_and_op) PMPIX_Rfetch_and_op;
extern __typeof__(MPIX_Rcompare_and_swap) PMPIX_Rcompare_and_swap;
extern __typeof__(MPIX_Win_order) PMPIX_Win_order;
extern __typeof__(MPIX_Win_idup) PMPIX_Win_idup;
extern __typeof__(MPIX_Memhandle_create) PMPIX_Memhandle_create;
extern __typeof__(MPIX_Memhandle_free) PMPIX_Memhandle_free;
extern __typeof__(MPIX_Win_iallocate) PMPIX_Win_iallocate;
extern __typeof__(MPIX_Win_icreate) PMPIX_Win_icreate;
extern __typeof__(MPI_Address) PMPI_Address;
extern __typeof__(MPI_Type_extent) PMPI_Type_extent;
extern __typeof__(MPI_Type_lb) PMPI_Type_lb;
extern __typeof__(MPI_Type_ub) PMPI_Type_ub;
extern __typeof__(MPI_Type_hvector) PMPI_Type_hvector;
extern __typeof__(MPI_Type_hindexed) PMPI_Type_hindexed;
extern __typeof__(MPI_Type_struct) PMPI_Type_struct;
extern __typeof__(MPI_Attr_get) PMPI_Attr_get;
extern __typeof__(MPI_Attr_put) PMPI_Attr_put;
extern __typeof__(MPI_Attr_delete) PMPI_Attr_delete;
extern __typeof__(MPI_Keyval_create) PMPI_Keyval_create;
extern __typeof__(MPI_Keyval_free) PMPI_Keyval_free;
extern __typeof__(MPI_Errhandler_create) PMPI_Errhandler_create;
extern __typeof__(MPI_Errhandler_set) PMPI_Errhandler_set;
extern __typeof__(MPI_Errhandler_get) PMPI_Errhandler_get;

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
/* What else programs ask MPICH's mpio.h for. Some leave MPI-IO out if there is no ROMIO_VERSION. */
#define ROMIO_VERSION 126
#define MPIO_INCLUDE
#define MPIO_REQUEST_DEFINED
#define MPIO_REQUEST_NULL MPI_REQUEST_NULL
#define PMPIO_Wait PMPI_Wait
#define PMPIO_Test PMPI_Test
#define MPI_FILE_DEFINED
#endif

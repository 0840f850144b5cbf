/* sizeof.c - MPI_Sizeof of Open MPI's modules: a procedure for each type and rank, which does not
 * look at the variable. */
#define SIZEOF_TEXT2(x) #x
#define SIZEOF_TEXT(x) SIZEOF_TEXT2(x)
#define SIZEOF_AS(name, target)                                                                    \
    __attribute__((visibility("default"), alias(SIZEOF_TEXT(target)))) void name(const void *x,    \
                                                                                 int *size,        \
                                                                                 int *ierr)
#define SIZEOF_RANK(type, rank)                                                                    \
    SIZEOF_AS(mpi_sizeof_##type##_##rank##_, sizeof_##type);                                       \
    SIZEOF_AS(pmpi_sizeof_##type##_##rank##_, sizeof_##type)
#define SIZEOF(type, bytes)                                                                        \
    static __attribute__((used)) void sizeof_##type(const void *x, int *size, int *ierr)           \
    {                                                                                              \
        (void)x;                                                                                   \
        *size = bytes;                                                                             \
        if (ierr)                                                                                  \
            *ierr = 0;                                                                             \
    }                                                                                              \
    SIZEOF_RANK(type, scalar);                                                                     \
    SIZEOF_RANK(type, r1);                                                                         \
    SIZEOF_RANK(type, r2);                                                                         \
    SIZEOF_RANK(type, r3);                                                                         \
    SIZEOF_RANK(type, r4);                                                                         \
    SIZEOF_RANK(type, r5);                                                                         \
    SIZEOF_RANK(type, r6);                                                                         \
    SIZEOF_RANK(type, r7);                                                                         \
    SIZEOF_RANK(type, r8);                                                                         \
    SIZEOF_RANK(type, r9);                                                                         \
    SIZEOF_RANK(type, r10);                                                                        \
    SIZEOF_RANK(type, r11);                                                                        \
    SIZEOF_RANK(type, r12);                                                                        \
    SIZEOF_RANK(type, r13);                                                                        \
    SIZEOF_RANK(type, r14);                                                                        \
    SIZEOF_RANK(type, r15)
SIZEOF(character, 1);
SIZEOF(logical, 4);
SIZEOF(int8, 1);
SIZEOF(int16, 2);
SIZEOF(int32, 4);
SIZEOF(int64, 8);
SIZEOF(real32, 4);
SIZEOF(real64, 8);
SIZEOF(real128, 16);
SIZEOF(complex32, 8);
SIZEOF(complex64, 16);
SIZEOF(complex128, 32);

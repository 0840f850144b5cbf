/* names.h - the names that compilers of Fortran make of MPI_X. */
#ifndef BIND_FORTRAN_NAMES_H
#define BIND_FORTRAN_NAMES_H

#ifdef FORT_PMPI
#define CALL(name) P##name
#define FORT_LOWER(tail) pmpi##tail
#define FORT_UPPER(tail) PMPI##tail
#define FORT_F08(tail) pmpir##tail
#else
#define CALL(name) name
#define FORT_LOWER(tail) mpi##tail
#define FORT_UPPER(tail) MPI##tail
#define FORT_F08(tail) mpi##tail
#endif
#define FORT_TEXT2(x) #x
#define FORT_TEXT(x) FORT_TEXT2(x)

/* A program may define any of them: a profiler in Fortran. */
#define FORT_SHOWN __attribute__((visibility("default"), weak))
#define FORT_ALIAS(target) __attribute__((visibility("default"), weak, alias(FORT_TEXT(target))))

/* The names that compilers make of MPI_X, as MPICH's library has them. */
#define FORT_AS(type, lower, upper, params)                                                     \
    FORT_SHOWN type FORT_LOWER(lower##_) params;                                                \
    FORT_ALIAS(FORT_LOWER(lower##_)) type FORT_LOWER(lower##__) params;                         \
    FORT_ALIAS(FORT_LOWER(lower##_)) type FORT_LOWER(lower) params;                             \
    FORT_ALIAS(FORT_LOWER(lower##_)) type FORT_UPPER(upper) params;                             \
    type FORT_LOWER(lower##_) params
#define FORT(lower, upper, params) FORT_AS(void, lower, upper, params)
/* The same for mpi_f08, whose ierr may be absent: a null pointer. */
#define FORT_BOTH_AS(type, lower, upper, params)                                                \
    FORT_ALIAS(FORT_LOWER(lower##_)) type FORT_F08(lower##_f08_) params;                        \
    FORT_AS(type, lower, upper, params)
#define FORT_BOTH(lower, upper, params) FORT_BOTH_AS(void, lower, upper, params)
/* For mpi_f08 alone. */
#define FORT08(tail, params)                                                                    \
    FORT_SHOWN void FORT_F08(tail##_) params;                                                   \
    void FORT_F08(tail##_) params

#define FORT_BODY static __attribute__((noinline)) void
/* A profiler in Fortran defines the standard's name, _f08ts; then that is called. */
#define FORT_OWN_NAME(tail) FORT_JOIN(own_, FORT_F08(tail))
#define FORT_JOIN(a, b) FORT_JOIN2(a, b)
#define FORT_JOIN2(a, b) a##b
#define FORT_OWN(tail, params)                                                                  \
    __attribute__((visibility("hidden"), alias(FORT_TEXT(FORT_F08(tail##_)))))                  \
    void FORT_OWN_NAME(tail##_) params

#endif

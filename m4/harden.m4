dnl WR_HARDEN: flags that make a fault in the library harder to exploit.  Each is tried;
dnl --disable-hardening leaves all out.
dnl   HARDEN_CFLAGS        every object: stack protector, checked copies (only where the compiler
dnl                        optimizes, and not beside sanitizers, which have checks of their own and
dnl                        do not see through these)
dnl   HARDEN_LDFLAGS       libraries and programs: addresses of functions are read-only once the
dnl                        program runs
dnl   PIE_CFLAGS, PIE_LDFLAGS  programs: at an address that is drawn at each start
AC_DEFUN([WR_HARDEN], [
AC_ARG_ENABLE([hardening],
  [AS_HELP_STRING([--disable-hardening],
    [no stack protector, _FORTIFY_SOURCE, read-only relocations or PIE])],
  [], [enable_hardening=yes])
HARDEN_CFLAGS= HARDEN_LDFLAGS= PIE_CFLAGS= PIE_LDFLAGS= wr_hardening=
AS_IF([test "x$enable_hardening" = xyes], [
  WR_TRY_HARDEN([protector], [-fstack-protector-strong], [], [HARDEN_CFLAGS="$HARDEN_CFLAGS $wr_c"])
  AS_CASE([" $CC $CFLAGS $CPPFLAGS "], [*-fsanitize*|*_FORTIFY_SOURCE*], [], [
    AC_MSG_CHECKING([whether $CC optimizes, as _FORTIFY_SOURCE asks for])
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[#ifndef __OPTIMIZE__
#error
#endif]])], [AC_MSG_RESULT([yes])
      WR_TRY_HARDEN([fortify], [-D_FORTIFY_SOURCE=2], [], [HARDEN_CFLAGS="$HARDEN_CFLAGS $wr_c"])],
      [AC_MSG_RESULT([no])])])
  WR_TRY_HARDEN([relro], [], [-Wl,-z,relro -Wl,-z,now], [HARDEN_LDFLAGS="$HARDEN_LDFLAGS $wr_l"])
  WR_TRY_HARDEN([pie], [-fPIE], [-pie], [PIE_CFLAGS=$wr_c PIE_LDFLAGS=$wr_l])])
AC_SUBST([HARDEN_CFLAGS])
AC_SUBST([HARDEN_LDFLAGS])
AC_SUBST([PIE_CFLAGS])
AC_SUBST([PIE_LDFLAGS])
AC_DEFINE_UNQUOTED([HARDENING], ["$wr_hardening"], [Kinds of hardening of this build.])
])
dnl WR_TRY_HARDEN(name, compiler flags, linker flags, if they work)
AC_DEFUN([WR_TRY_HARDEN], [
AC_MSG_CHECKING([hardening: $1])
wr_c="$2" wr_l="$3" wr_had_c=$CFLAGS wr_had_l=$LDFLAGS
CFLAGS="$CFLAGS $wr_c -Werror" LDFLAGS="$LDFLAGS $wr_l"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <string.h>]],
    [[char b[64]; memset(b, 0, sizeof b); return b[1];]])],
  [wr_works=yes], [wr_works=no])
CFLAGS=$wr_had_c LDFLAGS=$wr_had_l
AC_MSG_RESULT([$wr_works])
AS_IF([test $wr_works = yes], [wr_hardening="$wr_hardening $1"
  $4])
])

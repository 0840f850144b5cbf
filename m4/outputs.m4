dnl Files that configure writes, besides Makefile: one AC_CONFIG_FILES per file.

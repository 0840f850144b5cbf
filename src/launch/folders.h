/* folders.h - where this installation, or build tree, has its commands and libraries. */
#ifndef LAUNCH_FOLDERS_H
#define LAUNCH_FOLDERS_H

#include <limits.h>

void own_folders(char bin[PATH_MAX], char lib[PATH_MAX]);

#endif

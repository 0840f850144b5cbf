#include "scripted.h"
const struct scenario scenarios_threads[] = {{NULL, 0, 0, NULL, NULL, NULL}};

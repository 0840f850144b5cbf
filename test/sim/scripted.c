#include "scripted.h"
const struct scenario scenarios_scripted[] = {{NULL, 0, 0, NULL, NULL, NULL}};

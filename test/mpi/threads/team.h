/* team.h - T threads of a process run one function each; what is wrong in thread t is counted in
 * wrong[t]. */
#ifndef TEAM_H
#define TEAM_H

#include "../mt.h"
#include <pthread.h>

enum { T = 4 };
static int wrong[T];

static void run(void *(*fn)(void *))
{
    pthread_t th[T];
    int t;

    for (t = 0; t < T; t++)
        pthread_create(&th[t], NULL, fn, (void *)(intptr_t)t);
    for (t = 0; t < T; t++)
        pthread_join(th[t], NULL);
    for (t = 0; t < T; t++) {
        CHECK_EQ(wrong[t], 0);
        wrong[t] = 0;
    }
}

#endif

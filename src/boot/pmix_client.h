/* pmix_client.h - what pmix.c and pmix_spawn.c share (private to boot/). */
#ifndef BOOT_PMIX_CLIENT_H
#define BOOT_PMIX_CLIENT_H

#include "boot/boot_types.h"

#ifdef HAVE_PMIX
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pmix.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/proc.h"

/* What headers before 4.2 lack, or later ones may leave out.  The launcher may be newer. */
#ifndef PMIX_EVENT_JOB_END
#define PMIX_EVENT_JOB_END (-145)
#endif
#ifndef PMIX_ERR_JOB_NO_EXE_SPECIFIED
#define PMIX_ERR_JOB_NO_EXE_SPECIFIED (-178)
#endif
#ifndef PMIX_ERR_JOB_FAILED_TO_MAP
#define PMIX_ERR_JOB_FAILED_TO_MAP (-179)
#endif
#ifndef PMIX_ERR_JOB_ALLOC_FAILED
#define PMIX_ERR_JOB_ALLOC_FAILED (-188)
#endif
#ifndef PMIX_ERR_JOB_EXE_NOT_FOUND
#define PMIX_ERR_JOB_EXE_NOT_FOUND (-190)
#endif
#ifndef PMIX_ERR_JOB_WDIR_NOT_FOUND
#define PMIX_ERR_JOB_WDIR_NOT_FOUND (-233)
#endif
#ifndef PMIX_ERR_JOB_INSUFFICIENT_RESOURCES
#define PMIX_ERR_JOB_INSUFFICIENT_RESOURCES (-234)
#endif
#ifndef PMIX_ERR_JOB_WDIR_NOT_ACCESSIBLE
#define PMIX_ERR_JOB_WDIR_NOT_ACCESSIBLE (-74)
#endif
#ifndef PMIX_WDIR_USER_SPECIFIED
#define PMIX_WDIR_USER_SPECIFIED "pmix.wdir.user"
#endif

#define PMIX_CALLS(C)                                                                              \
    C(PMIx_Init)                                                                                   \
    C(PMIx_Finalize) C(PMIx_Abort) C(PMIx_Put) C(PMIx_Commit) C(PMIx_Fence_nb) C(PMIx_Get)         \
        C(PMIx_Get_nb) C(PMIx_Resolve_nodes) C(PMIx_Resolve_peers) C(PMIx_Error_string)            \
            C(PMIx_Register_event_handler) C(PMIx_Deregister_event_handler) C(PMIx_Spawn_nb)

struct fetch;
struct pmix_job;

enum { ENDS_KEPT = 64 };
struct pmix_end { /* as the launcher has reported it */
    uint64_t job;     /* hash of its namespace */
    pmix_rank_t rank; /* PMIX_RANK_WILDCARD: all of it has ended */
    int failed;
};

struct pmix_client {
    void *so;
#define PMIX_CALL(name) __typeof__(name) *name;
    PMIX_CALLS(PMIX_CALL)
#undef PMIX_CALL
    pmix_proc_t me;
    int fd, got;        /* eventfds: a fence has ended; a get has ended */
    int handler;        /* of events: its reference; negative: there is none */
    pmix_info_t collect, get; /* of the fence; of a get that waits */
    /* gets without a waiting call; their values may have come when they are asked for again */
    struct fetch *late;
    atomic_int fence;   /* 0 none or under way, 1 it has ended */
    pmix_status_t how;  /* its result; written before `fence` */
    struct lock lock;   /* of what follows */
    struct pmix_job *jobs; /* that this process has spawned, until both have met */
    struct pmix_other *others; /* processes of other jobs that were met */
    size_t nothers, room;
    struct pmix_end ends[ENDS_KEPT]; /* the last ones of other jobs */
    unsigned nends;                  /* how many were reported */
};

static inline void pmix_wish(pmix_info_t *info, const char *key)
{
    *info = (pmix_info_t){.value = {.type = PMIX_BOOL, .data.flag = true}};
    snprintf(info->key, sizeof info->key, "%s", key);
}

static inline int pmix_is_key(const pmix_info_t *info, const char *key, pmix_data_type_t type)
{
    return !strncmp(info->key, key, PMIX_MAX_KEYLEN) && info->value.type == type;
}

/* Prints a line; -errno. */
static inline int pmix_trouble(const char *doing, pmix_status_t s)
{
    log_warn("PMIx: %s: %s", doing, proc->boot->pmix->PMIx_Error_string(s));
    return s == PMIX_ERR_TIMEOUT ? -ETIMEDOUT : -EIO;
}

/* --- pmix_spawn.c -------------------------------------------------------------------------- */

/* What the launcher is handed. */
struct pmix_request {
    pmix_app_t *apps;
    size_t napps, ninfos;
    pmix_info_t infos[4];
};
/* 0 or -ENOMEM; free it in both cases. */
int pmix_request_make(struct pmix_request *r, const struct boot_program *list, int n,
                      const char *gives, const pmix_proc_t *asks);
void pmix_request_free(struct pmix_request *r);
/* -errno of an answer. */
int pmix_spawn_error(pmix_status_t s);

/* of pmix_ops */
int pmix_spawned(char *text, size_t room);
int pmix_spawn_begin(struct boot_meeting *m, const struct boot_program *list, int n,
                     const char *gives, int *fd);
int pmix_spawn_test(struct boot_meeting *m);
int pmix_spawn_over(unsigned number, int *fd);
void pmix_spawn_forget(unsigned number);

int pmix_job_met(const char *job, int first, int number);

/* A process of another job has died; a job has ended.  On the library's thread. */
void pmix_other_died(struct boot *b, const pmix_proc_t *p, const char *why);
void pmix_job_ended(struct boot *b, const pmix_proc_t *p, int failed);
void pmix_spawn_free(struct pmix_client *c);
#endif
#endif

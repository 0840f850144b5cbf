/* tool.h - what the functions of MPI_T share; private to api/. */
#ifndef API_TOOL_TOOL_H
#define API_TOOL_TOOL_H

#include <mpi.h>
#include <stdint.h>

#include "base/event.h"
#include "base/list.h"

struct MPIR_T_enum_s {
    const char *name;
    int n;
    const char *item[2];
};
extern const struct MPIR_T_enum_s tool_switch; /* off, on */

struct MPIR_T_cvar_handle_s {
    struct list link;
    int index;
};

struct MPIR_T_pvar_session_s {
    struct list link;
    struct list handles;
};

struct MPIR_T_pvar_handle_s {
    struct list link;
    int index;
    int window;    /* window: handle of the window that it is bound to */
    uint64_t id;   /* its number, which no later one with its handle has */
    int count;     /* of its values */
    uint64_t base; /* counters: the value shown as 0 since the last reset */
};

struct tool {
    struct event_sink sink; /* first (base/event.h) */
    struct list events;     /* registrations */
    int delivering;         /* a callback runs */
    int users; /* MPI_T_init_thread less MPI_T_finalize */
    struct list cvar_handles, sessions;
};

enum { TEXT_MAX = 1024 }; /* bytes of a text variable, the closing 0 included */

/* Every other call: 0 and locked, or the error. */
int tool_enter(void);
int tool_exit(int err);
/* A text is cut to *len with a terminating 0; *len becomes the size of all of it (MPI-3.1
 * 14.3.3). */
void tool_give_text(const char *text, char *out, int *len);
void tool_give(int *out, int value);
int tool_on_list(const struct list *head, const struct list *item);
int tool_phase(void);

int tool_event_count(void);
const char *tool_event_name(int index);
void tool_events_end(struct tool *t);
void tool_session_free(struct MPIR_T_pvar_session_s *s);

#endif

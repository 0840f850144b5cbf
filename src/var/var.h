/* var.h - control variables (CVAR) and performance variables (PVAR).
 *
 * CVARs are read once, by var_init(), from the environment, and then read as plain cvar.<field>;
 * nothing else reads the environment.  The prefixes MPIR_CVAR_, MPICH_ and MPIR_PARAM_ name the
 * same variable.  A value that is no number or out of range ends MPI_Init with a message that names
 * variable, value and range.  Start at var_init() in registry.c.
 *
 * PVARs are counters inside the records of their rooms (base/atomic.h counter_add); rooms register
 * them by pvar_bind().  MPI_T reads them through here. */
#ifndef VAR_VAR_H
#define VAR_VAR_H

#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/proc.h"

enum cvar_kind { CVAR_INT, CVAR_BOOL, CVAR_STR };
enum cvar_scope { CVAR_LOCAL, CVAR_GLOBAL_EQ, CVAR_LIVE, CVAR_NOTHING };

#define CVAR_TYPE_INT int64_t
#define CVAR_TYPE_BOOL int64_t
#define CVAR_TYPE_STR const char *
struct cvars {
#define CVAR(field, name, kind, def, min, max, room, scope, text) CVAR_TYPE_##kind field;
#include "var/cvars.def"
#undef CVAR
};
extern struct cvars cvar;

struct cvar_info {
    const char *name;
    enum cvar_kind kind;
    enum cvar_scope scope;
    int64_t def, min, max; /* INT and BOOL */
    const char *def_str;   /* STR */
    const char *room;
    const char *text;
    void *value; /* into cvar */
};
extern const struct cvar_info cvar_table[];
extern const int cvar_count;

/* Read the environment.  0, or -EINVAL with one line about variable, value and range in msg. */
int var_init(char *msg, size_t len);
/* Variables of another library, which it reads from the environment while it is loaded.  Those that
 * the user has not set get the values given here until var_env_off(). n <= 32.  Returns which were
 * set (bit by row), for var_env_off(). */
struct var_env {
    const char *name, *value;
};
unsigned var_env_on(const struct var_env *list, int n);
void var_env_off(const struct var_env *list, int n, unsigned set);
/* Whether the program has more rights than its user (set-user-ID, set-group-ID, file
 * capabilities). */
int var_privileged(void);
/* A variable of the environment; NULL: not set, or the program is privileged.  The environment
 * belongs to the user and decides nothing in a privileged program. */
const char *var_env_get(const char *name);
/* The variable is set, and not read because the program is privileged. */
int var_env_refused(const char *name);
/* Free what var_init and cvar_set allocated. */
void var_finalize(void);
/* Set one variable from text, as the environment would.  0, -ENOENT, or -EINVAL with msg. */
int cvar_set(const char *name, const char *text, char *msg, size_t len);
/* The variables that must be the same on all processes, as text, in order.  Those at their defaults
 * are left out. */
void cvar_common(char *text, size_t len);
/* Whether another process wrote the same: 0, or -EINVAL with one line in msg that names the first
 * difference. */
int cvar_common_check(const char *theirs, const char *whose, char *msg, size_t len);
/* Index of a variable by its full name, present or earlier, or -1. */
int cvar_find(const char *name);
/* The next earlier name of a variable from *i = 0 on; NULL: no more. */
const char *cvar_alias(const struct cvar_info *c, int *i);
/* Lines about names MPIR_CVAR_* of the environment, one a call from *i = 0 on; 0: no more.
 * Misspelt and earlier names are always reported.  With `all` set those of MPICH that have no
 * effect here are reported, too. */
int cvar_remark(int *i, int all, char *line, size_t len);

/* --- PVARs ------------------------------------------------------------------ */
enum pvar_class { PVAR_COUNTER, PVAR_LEVEL, PVAR_HIGHWATER, PVAR_SIZE };
/* one per process | one per window as well | one per member of a window, which no room counts */
enum pvar_bind { PVAR_PROC, PVAR_WIN, PVAR_TARGET };

enum pvar_id {
#define PVAR(id, name, cls, bind, unit, text) id,
#include "var/pvars.def"
#undef PVAR
    PVAR_COUNT
};
struct pvar_info {
    const char *name;
    enum pvar_class cls;
    enum pvar_bind bind;
    const char *unit; /* "count", "bytes", "ns" */
    const char *text;
};
extern const struct pvar_info pvar_table[PVAR_COUNT];

/* The process-wide value of a variable, in a per-process array of PVAR_COUNT counters. */
struct pvar_set {
    _Atomic uint64_t v[PVAR_COUNT];
};
struct var_room {
    struct pvar_set pvars;
};
static inline struct pvar_set *pvar_proc(void)
{
    return &proc->var->pvars;
}
int pvar_find(const char *name);

static inline void pvar_set_add(struct pvar_set *s, enum pvar_id id, uint64_t n)
{
    counter_add(&s->v[id], n);
}
static inline void pvar_set_max(struct pvar_set *s, enum pvar_id id, uint64_t n)
{
    counter_max(&s->v[id], n);
}

#endif

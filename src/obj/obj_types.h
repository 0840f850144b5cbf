/* obj_types.h - start and end of the files of obj/, in the order of obj_init(); private. */
#ifndef OBJ_OBJ_TYPES_H
#define OBJ_OBJ_TYPES_H

struct obj_table;
void obj_table_free(struct obj_table *t);

/* All: 0 or -ENOMEM; the finalize halves also work after an incomplete start. */
int err_init(void);
void err_finalize(void);
int errhandler_init(void);
void errhandler_finalize(void);
int attr_init(void);
void attr_finalize(void);
int info_init(void);
void info_finalize(void);
int comm_init(void);
void comm_finalize(void);
void failed_finalize(void);
void continue_finalize(void);
void async_finalize(void);

#endif

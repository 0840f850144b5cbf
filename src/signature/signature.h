/* signature.h - do the types of a send and of the receive that takes it match?
 * (MPIR_CVAR_TYPE_CHECK; MPI-4.1 3.3.1)
 *
 *   sender                                       receiver
 *   watch/: a send begins: its label
 *   watch/: its message is the next one
 *     SIGNATURE(number of the message, hash) -->   kept, by sender and number
 *     the message ----------------------------->   watch/: a receive has taken it: the hash of as
 *                                                  many bytes of its type is compared
 *
 * The note goes before the message, as those of align/cross.c do: no message has a longer header.
 * proc->signature is NULL while the variable is 0; then it watches nothing. All runs under
 * proc->lock. */
#ifndef SIGNATURE_SIGNATURE_H
#define SIGNATURE_SIGNATURE_H

int signature_init(void); /* 0 or -ENOMEM */
void signature_finalize(void);

#endif

/* unit_p2p.h - the suites of the p2p unit test program, one per source. */
#ifndef UNIT_P2P_H
#define UNIT_P2P_H

#include <check.h>

Suite *suite_match(void);
Suite *suite_send(void);
Suite *suite_recv(void);
Suite *suite_by_am(void);
Suite *suite_peer(void);
Suite *suite_probe(void);
Suite *suite_buffer(void);
Suite *suite_pair(void);
Suite *suite_p2p(void);

#endif

/* main.c - the unit tests of p2p/, one suite for each file. */
#include "unit.h"

Suite *suite_match(void);
Suite *suite_peer(void);
Suite *suite_send(void);
Suite *suite_recv(void);
Suite *suite_by_am(void);
Suite *suite_probe(void);
Suite *suite_buffer(void);
Suite *suite_pair(void);
Suite *suite_p2p(void);
Suite *suite_wire_id(void);
Suite *suite_on_packet(void);
Suite *suite_native(void);
Suite *suite_offer(void);
Suite *suite_want(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_match, suite_peer,   suite_send,      suite_recv,
                                      suite_by_am, suite_probe,  suite_buffer,    suite_pair,
                                      suite_p2p,   suite_wire_id, suite_on_packet, suite_native,
                                      suite_offer, suite_want};
    return unit_run(suites, sizeof suites / sizeof suites[0]);
}

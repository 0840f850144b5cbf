#include "fuzz.h"
const size_t fuzz_settings = 0;
size_t fuzz_template(struct rng *r, uint8_t *to, size_t room) { (void)r; (void)to; (void)room; return 0; }
int LLVMFuzzerInitialize(int *argc, char ***argv) { (void)argc; (void)argv; return 0; }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { (void)data; (void)size; return 0; }

# Builds the fuzz targets in fuzz/KIND, every room with sanitizers; called by `make fuzz-build`
# (Makefile.inc).
#   clang     libFuzzer, coverage guided; with source coverage, for the figures
#   gcc       no libFuzzer: driver.c
# All assert the invariants of the rooms (WR_DEBUG).
CLANG ?= clang
LIBFUZZER := $(shell echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { (void)d; (void)n; return 0; }' >fuzz-probe.c; \
  $(CLANG) -fsanitize=fuzzer,address,undefined fuzz-probe.c -o fuzz-probe >/dev/null 2>&1 && echo yes; rm -f fuzz-probe fuzz-probe.c)
ifeq ($(KIND),auto)
override KIND := $(if $(LIBFUZZER),clang,gcc)
endif
SAN = -fsanitize=address,undefined -fno-sanitize-recover=all
# Only of files that fuzz.test judges: counting lines makes the compilation a seventh longer.
PROFILE_clang = -fprofile-instr-generate -fcoverage-mapping
COUNTED = rma/target/% rma/sync/% rma/engine/% p2p/% am/% dt/flat launch/% base/pmiline boot/% \
  var/registry
CFLAGS_clang = $(SAN) -fsanitize=fuzzer-no-link
CFLAGS_gcc = $(SAN)
LINK_clang = $(SAN) -fsanitize=fuzzer -fprofile-instr-generate
LINK_gcc = $(SAN)
COMPILER = $(if $(filter gcc,$(KIND)),$(FUZZ_GCC),$(CLANG))
DRIVER = $(if $(filter gcc,$(KIND)),test/fuzz/driver.c)

DIR = fuzz/$(KIND)
# -g1: functions and lines, which is what a report shows
FLAGS = -g1 -O1 -fno-omit-frame-pointer -D_GNU_SOURCE -DWR_DEBUG -I. -Isrc -I$(top_srcdir)/src \
  -I$(top_srcdir)/include -I$(top_srcdir)/test/fuzz -I$(top_srcdir)/test/sim $(CORE_CPPFLAGS) -std=gnu11 -fvisibility=hidden -fno-common -Wall -Wextra -Wno-unused-parameter $(CFLAGS_$(KIND))
LAUNCH = src/launch/pmi_server.c src/launch/kvs.c src/launch/args.c src/launch/dialect.c src/launch/help.c \
  src/launch/handover.c src/launch/engine_watch.c src/launch/program.c src/launch/option_table.c \
  src/launch/ports.c src/launch/spawn_request.c
object = $(patsubst %.c,$(DIR)/%.o,$(1))
TARGETS = rma p2p flat wire args

all: $(patsubst %,$(DIR)/fuzz_%,$(TARGETS))
	@echo $(KIND) >fuzz/kind

$(DIR)/%.o: $(top_srcdir)/%.c $(top_srcdir)/test/fuzz/fuzz.mk
	@mkdir -p $(@D)
	$(COMPILER) $(FLAGS) -MMD -MP -c $< -o $@
-include $(shell find $(DIR) -name '*.d' 2>/dev/null)

$(call object,$(filter $(COUNTED:%=src/%.c),$(CORE) $(LAUNCH))): FLAGS += $(PROFILE_$(KIND))
$(DIR)/src/base/log.o: FLAGS += -Dwrite=fuzz_write
$(DIR)/libcore.a: $(call object,$(CORE) $(LAUNCH))
	rm -f $@
	ar rc $@ $^
$(DIR)/fuzz_rma $(DIR)/fuzz_p2p: $(DIR)/fuzz_%: $(call object,test/fuzz/lone.c test/sim/fiber.c)
$(DIR)/fuzz_%: $(DIR)/test/fuzz/%.o $(call object,test/fuzz/mutate.c $(DRIVER)) $(DIR)/libcore.a
	$(COMPILER) $(LINK_$(KIND)) -o $@ $(filter %.o,$^) $(DIR)/libcore.a $(CORE_LIBS)
.SECONDARY:
.PHONY: all

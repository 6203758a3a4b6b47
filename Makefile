# SPDX-License-Identifier: GPL-3.0-or-later
# Tidelab's build. `make help` lists the targets. Needs GNU make 4.3 and a C11 compiler;
# every other dependency is installed by `make deps` (apt, dnf, pacman, brew).

MAKEFLAGS += --no-builtin-rules --no-print-directory
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
SHELL := /bin/sh
.DEFAULT_GOAL := all
GOALS := $(or $(MAKECMDGOALS),all)

# One job a core unless -j is given; a make inside a make keeps its parent's job server.
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif

# ---- what the user may set ----
ifeq ($(origin CC),default)
CC := gcc
endif
FLAVOUR ?= release
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(DATADIR)/man
DESTDIR ?=
CPPFLAGS ?=
LDFLAGS ?=
LDLIBS ?=
SEED ?= 1

# ---- flavours: what each adds, and its default CFLAGS ----
OPT.release := -O2 -g
OPT.debug := -Og -g3
OPT.sanitize := -O1 -g -fno-omit-frame-pointer
OPT.coverage := -O0 -g
OPT.hostile := -O1 -g
OPT.fuzz := -O1 -g -fno-omit-frame-pointer
OPT.lint-gcc := -O2
OPT.lint-clang := -O2
ifndef OPT.$(FLAVOUR)
$(error FLAVOUR=$(FLAVOUR) is unknown; wanted one of: release debug sanitize coverage hostile fuzz lint-gcc lint-clang)
endif
CFLAGS ?= $(OPT.$(FLAVOUR))
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all
WRAPPED := malloc calloc realloc free strdup strndup
FLAVOUR_CFLAGS.sanitize := $(SANITIZERS)
FLAVOUR_CFLAGS.coverage := --coverage -fprofile-abs-path -DTL_COVERAGE
FLAVOUR_CFLAGS.hostile := -DTL_HOSTILE -fno-builtin
FLAVOUR_CFLAGS.fuzz := -fsanitize=fuzzer-no-link $(SANITIZERS)
FLAVOUR_CFLAGS.lint-gcc := -Werror
FLAVOUR_CFLAGS.lint-clang := -Werror
FLAVOUR_LDFLAGS.sanitize := $(SANITIZERS)
FLAVOUR_LDFLAGS.coverage := --coverage
FLAVOUR_LDFLAGS.fuzz := $(SANITIZERS)
# For programs only: a policy gets its memory from the host.
FLAVOUR_LDFLAGS_PROGRAM.coverage := -Wl,--wrap=_exit
FLAVOUR_LDFLAGS_PROGRAM.hostile := $(foreach f,$(WRAPPED),-Wl,--wrap=$(f))
# A policy names nothing outside itself and libc. Sanitised code names the sanitiser's
# run time, which lives in the program.
POLICY_DEFS := -Wl,-z,defs
ifneq ($(filter sanitize fuzz,$(FLAVOUR)),)
POLICY_DEFS :=
endif

STANDARD := -std=c11 -D_POSIX_C_SOURCE=200809L
WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
            -Wvla
# No fused multiply-add, ever: a result must not depend on the machine's instruction set.
CODEGEN := -ffp-contract=off -fno-math-errno
TL_CFLAGS = $(STANDARD) $(WARNINGS) $(CODEGEN) $(FLAVOUR_CFLAGS.$(FLAVOUR))
TL_LDFLAGS = $(FLAVOUR_LDFLAGS.$(FLAVOUR))

BUILD := build/$(FLAVOUR)
OBJ := $(BUILD)/obj
VERSION := 0.1.0
TIDELAB := $(BUILD)/tidelab

# ---- dependencies: probed at each reading, installed where the goal does its own set-up ----
PROBE_FREE := help deps format clean distclean uninstall
SELF_SETUP := demo test bench regress sanitize hostile fuzz coverage lint docs figures
DEPS := sh tests/tools/deps.sh
export CC

NEEDS := build
ifneq ($(filter test sanitize hostile coverage lint test-programs all-programs,$(GOALS)),)
NEEDS += test
endif
ifneq ($(filter demo figures,$(GOALS)),)
NEEDS += figures
endif
ifneq ($(filter lint,$(GOALS)),)
NEEDS += lint
endif
ifneq ($(filter fuzz,$(GOALS)),)
NEEDS += fuzz
endif

ifneq ($(filter-out $(PROBE_FREE),$(GOALS)),)
MISSING := $(shell $(DEPS) missing $(NEEDS))
endif

# ---- help, deps: need nothing ----
.PHONY: help deps
help: ## This list
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile
	@echo "Variables: CC CFLAGS CPPFLAGS LDFLAGS PREFIX DESTDIR FLAVOUR=release|debug|sanitize|coverage|hostile"
	@echo "Build output is in build/<flavour>/."

deps: ## Install the libraries and tools Tidelab needs (DEV=1: those of lint, fuzz and the report's test too)
	@$(DEPS) install build test figures extra $(if $(DEV),lint fuzz)
	@$(if $(DEV),$(DEPS) install page || echo "deps: without chromium a test of the report is skipped",:)

ifneq ($(strip $(MISSING)),)
# Something is not there. Goals that do their own set-up install it and start anew, so that
# pkg-config is asked again; the others say what to do.
UNSET := $(filter-out $(SELF_SETUP) $(PROBE_FREE),$(GOALS))
ifneq ($(UNSET),)
$(error not installed: $(MISSING). `make deps` installs what Tidelab needs)
endif
ifdef DEPS_DONE
$(error still not installed after `make deps`: $(MISSING))
endif
.NOTPARALLEL:
.PHONY: $(SELF_SETUP)
$(SELF_SETUP):
	@$(DEPS) install $(NEEDS) test figures extra
	@$(MAKE) DEPS_DONE=1 $@
else

# ---- libraries ----
PKG_CONFIG ?= pkg-config
ifneq ($(filter-out $(PROBE_FREE),$(GOALS)),)
HDF5 := $(shell $(PKG_CONFIG) --exists hdf5 && echo hdf5 || echo hdf5-serial)
HDF5_HL := $(shell $(PKG_CONFIG) --exists hdf5_hl && echo hdf5_hl)
PKGS := gsl $(HDF5) $(HDF5_HL) yaml-0.1 libcrypto jansson zlib
# As system headers: their warnings are not ours.
LIB_CFLAGS := $(patsubst -I%,-isystem %,$(shell $(PKG_CONFIG) --cflags $(PKGS)))
LIB_LIBS := $(if $(HDF5_HL),,$(filter -L%,$(shell $(PKG_CONFIG) --libs $(HDF5))) -lhdf5_hl) \
            $(shell $(PKG_CONFIG) --libs $(PKGS)) -lcsv -ldl -lm
ifneq ($(filter test,$(NEEDS)),)
TEST_CFLAGS := $(patsubst -I%,-isystem %,$(shell $(PKG_CONFIG) --cflags criterion))
TEST_LIBS := $(shell $(PKG_CONFIG) --libs criterion)
else
TEST_LIBS := -lcriterion
endif
endif

# ---- sources are found, not listed ----
rwildcard = $(foreach d,$(wildcard $(1:=/*)),$(call rwildcard,$(d),$(2)) $(filter $(subst *,%,$(2)),$(d)))
LIB_SRC := $(sort $(filter-out sim/cli/main.c,$(call rwildcard,sim,*.c)) \
           $(wildcard traces/*.c workloads/*.c analysis/*.c results/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(OBJ)/%.o)
MAIN_OBJ := $(patsubst %.c,$(OBJ)/%.o,$(wildcard sim/cli/main.c))
LIBTIDELAB := $(BUILD)/libtidelab.a
PROGRAM := $(if $(MAIN_OBJ),$(TIDELAB))
HOSTILE_OBJ := $(if $(filter hostile,$(FLAVOUR)),$(OBJ)/tests/hostile/alloc.o)
COVERAGE_OBJ := $(if $(filter coverage,$(FLAVOUR)),$(patsubst %.c,$(OBJ)/%.o,$(wildcard tests/tools/coverage_exit.c)))
PROGRAM_EXTRA := $(HOSTILE_OBJ) $(COVERAGE_OBJ)

.PHONY: all all-programs test-programs FORCE
all: $(LIBTIDELAB) $(PROGRAM) policies ## Build the simulator and the policies (default)

# ---- flags stamp: another compiler or other flags rebuild everything of the flavour ----
STAMP := $(BUILD)/flags.stamp
FLAGS_TEXT = $(CC) | $(TL_CFLAGS) | $(CFLAGS) | $(CPPFLAGS) | $(TL_LDFLAGS) | $(LDFLAGS) | $(LDLIBS) | $(LIB_CFLAGS) | $(LIB_LIBS)
$(STAMP): FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(FLAGS_TEXT)' | cmp -s - $@ || printf '%s\n' '$(FLAGS_TEXT)' > $@

# Another set of sources links anew, and modules whose source has gone are removed.
SOURCES_STAMP := $(BUILD)/sources.stamp
SOURCES_TEXT = $(LIB_OBJ) $(MAIN_OBJ) $(MODULES) $(wildcard $(TEST_FOLDERS:%=tests/%/*.c))
$(SOURCES_STAMP): FORCE
	@mkdir -p $(@D)
	@if ! echo '$(SOURCES_TEXT)' | cmp -s - $@; then \
	    for so in $(filter-out $(MODULES:=.so),$(wildcard $(BUILD)/policies/*.so $(BUILD)/policies/*/*.so $(BUILD)/tests/modules/*.so)); do \
	        rm -f $$so; done; \
	    echo '$(SOURCES_TEXT)' > $@; fi

# The commit and the folders go into one object alone, so that another of them rebuilds little.
VERSION_STAMP := $(BUILD)/version.stamp
COMMIT := $(shell git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
VERSION_TEXT = $(VERSION) $(COMMIT) $(LIBDIR) $(DATADIR)
$(VERSION_STAMP): FORCE
	@mkdir -p $(@D)
	@echo '$(VERSION_TEXT)' | cmp -s - $@ || echo '$(VERSION_TEXT)' > $@
$(OBJ)/sim/base/version.o: $(VERSION_STAMP)
$(OBJ)/sim/base/version.o: EXTRA_CPPFLAGS := -DTL_VERSION='"$(VERSION)"' -DTL_COMMIT='"$(COMMIT)"' \
    -DTL_LIBDIR='"$(LIBDIR)/tidelab"' -DTL_DATADIR='"$(DATADIR)/tidelab"'

COMPILE = $(CC) $(TL_CFLAGS) -I. $(EXTRA_CPPFLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP

$(OBJ)/%.o: %.c $(STAMP)
	@mkdir -p $(@D)
	@echo "  CC      $<"
	@$(COMPILE) $(LIB_CFLAGS) -c $< -o $@

$(LIBTIDELAB): $(LIB_OBJ) $(SOURCES_STAMP)
	@echo "  AR      $@"
	@rm -f $@
	@$(AR) rcsD $@ $(LIB_OBJ)

LINK = $(CC) $(TL_CFLAGS) $(CFLAGS) $(TL_LDFLAGS) $(LDFLAGS) -Wl,--as-needed

$(TIDELAB): $(MAIN_OBJ) $(LIBTIDELAB) $(PROGRAM_EXTRA)
	@echo "  LD      $@"
	@$(LINK) $(FLAVOUR_LDFLAGS_PROGRAM.$(FLAVOUR)) $(MAIN_OBJ) $(PROGRAM_EXTRA) $(LIBTIDELAB) $(LIB_LIBS) $(LDLIBS) -o $@

# ---- policies: policies/<seat>/<name>.c is one module, <name>.so ----
# A folder inside a seat is one module made of several files; policies/pipeline is one module.
SEATS := admit order place preempt scale defrag forecast whole
dash = $(subst _,-,$(1))
# module(path of .so without suffix, sources)
MODULES :=
define module
$(if $(filter $(1),$(MODULES)),$(error two policies are named $(notdir $(1)): $(2)))
MODULES += $(1)
$(1).so: $(patsubst %.c,$(OBJ)/pic/%.o,$(2)) $(SOURCES_STAMP)
endef
seat_files = $(foreach s,$(2),$(eval $(call module,$(BUILD)/$(1)/$(call dash,$(basename $(notdir $(s)))),$(s))))
seat_folders = $(foreach d,$(2),$(if $(wildcard $(d)*.c),$(eval $(call module,$(BUILD)/$(1)/$(call dash,$(notdir $(d:/=))),$(wildcard $(d)*.c)))))

$(call seat_files,policies,$(foreach s,$(SEATS),$(wildcard policies/$(s)/*.c)))
$(call seat_folders,policies,$(foreach s,$(SEATS),$(sort $(dir $(wildcard policies/$(s)/*/*.c)))))
PIPELINE_SRC := $(wildcard policies/pipeline/*.c)
$(if $(PIPELINE_SRC),$(eval $(call module,$(BUILD)/policies/pipeline,$(PIPELINE_SRC))))
$(call seat_files,policies/examples,$(wildcard policies/examples/*.c))
SHIPPED_MODULES := $(MODULES:=.so)
$(call seat_files,tests/modules,$(wildcard tests/hostile/modules/*.c))
TEST_MODULES := $(filter-out $(SHIPPED_MODULES),$(MODULES:=.so))

$(OBJ)/pic/%.o: %.c $(STAMP)
	@mkdir -p $(@D)
	@echo "  CC      $< (policy)"
	@$(COMPILE) -fPIC -fvisibility=hidden -c $< -o $@

$(MODULES:=.so):
	@mkdir -p $(@D)
	@echo "  SO      $@"
	@$(LINK) -shared $(POLICY_DEFS) $(filter %.o,$^) -lm -o $@

.PHONY: policies
policies: $(SHIPPED_MODULES)

# ---- tests: a folder is one Criterion program ----
TEST_FOLDERS := unit property analytic abi
TEST_PROGRAMS :=
define test_program
TEST_PROGRAMS += $(BUILD)/tests/$(1)
$(BUILD)/tests/$(1): $(patsubst %.c,$(OBJ)/%.o,$(2)) $(LIBTIDELAB) $(PROGRAM_EXTRA)
	@mkdir -p $$(@D)
	@echo "  LD      $$@"
	@$$(LINK) $(FLAVOUR_LDFLAGS_PROGRAM.$(FLAVOUR)) $$(filter %.o,$$^) $(LIBTIDELAB) $$(TEST_LIBS) $$(LIB_LIBS) $$(LDLIBS) -o $$@
endef
$(foreach f,$(TEST_FOLDERS),$(if $(wildcard tests/$(f)/*.c),$(eval $(call test_program,$(f),$(wildcard tests/$(f)/*.c)))))
$(foreach f,$(TEST_FOLDERS),$(eval $(OBJ)/tests/$(f)/%.o: EXTRA_CPPFLAGS := $(TEST_CFLAGS)))

BENCH_SRC := $(wildcard tests/tools/bench_*.c)
BENCH_PROGRAMS := $(BENCH_SRC:tests/tools/%.c=$(BUILD)/tests/%)
$(BENCH_PROGRAMS): $(BUILD)/tests/%: $(OBJ)/tests/tools/%.o $(LIBTIDELAB) $(PROGRAM_EXTRA)
	@mkdir -p $(@D)
	@echo "  LD      $@"
	@$(LINK) $(FLAVOUR_LDFLAGS_PROGRAM.$(FLAVOUR)) $(filter %.o,$^) $(LIBTIDELAB) $(LIB_LIBS) $(LDLIBS) -o $@

test-programs: all $(TEST_PROGRAMS) $(TEST_MODULES)
all-programs: test-programs $(BENCH_PROGRAMS)

.PHONY: test demo figures bench regress sanitize hostile fuzz coverage lint docs
test: ## Set up if need be, build, and run every test
	@$(MAKE) FLAVOUR=release test-programs
	@sh tests/tools/run_tests.sh build/release

sanitize: ## Every test under the address and undefined-behaviour sanitisers
	@$(MAKE) FLAVOUR=sanitize test-programs
	@sh tests/tools/run_tests.sh build/sanitize

hostile: ## Failing allocations and poisoned memory: tests, then runs that lose the n-th allocation
	@$(MAKE) FLAVOUR=hostile test-programs
	@sh tests/tools/run_tests.sh build/hostile
	@sh tests/tools/hostile.sh build/hostile

coverage: ## Line coverage of every test, by folder
	@rm -rf build/coverage/gcov && find build/coverage -name '*.gcda' -exec rm -f {} + 2>/dev/null || true
	@$(MAKE) FLAVOUR=coverage test-programs
	@sh tests/tools/run_tests.sh build/coverage || echo "coverage: of a run with failures"
	@sh tests/tools/coverage.sh build/coverage

bench: ## Measure: event queue, scheduling, whole runs
	@$(MAKE) FLAVOUR=release all $(BENCH_PROGRAMS:$(BUILD)/%=build/release/%)
	@sh tests/tools/bench.sh build/release

regress: ## Shipped scenarios against results/baselines (UPDATE=1 rewrites those)
	@$(MAKE) FLAVOUR=release all
	@sh tests/tools/regress.sh build/release $(if $(UPDATE),--update)

DEMO ?= workloads/scenarios/mixed-256.yaml
demo: ## Set up if need be, run the default scenario, draw its pictures
	@$(MAKE) FLAVOUR=release all
	@sh tests/tools/demo.sh build/release $(DEMO) build/demo

figures: ## Draw the pictures of the demo's result again
	@$(MAKE) FLAVOUR=release all
	@sh tests/tools/demo.sh build/release $(DEMO) build/demo --figures

docs: ## Write the references that are generated from the source
	@$(MAKE) FLAVOUR=release all
	@sh tests/tools/docs.sh build/release

# ---- fuzzing: clang's libFuzzer, a bounded run a target ----
FUZZ_SECONDS ?= 20
ifeq ($(FLAVOUR),fuzz)
FUZZ_PROGRAMS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
.PHONY: fuzz-programs
fuzz-programs: $(FUZZ_PROGRAMS) policies
$(FUZZ_PROGRAMS): $(BUILD)/fuzz/%: $(OBJ)/tests/fuzz/%.o $(LIBTIDELAB)
	@mkdir -p $(@D)
	@echo "  LD      $@"
	@$(LINK) -fsanitize=fuzzer $(filter %.o,$^) $(LIBTIDELAB) $(LIB_LIBS) $(LDLIBS) -o $@
endif
fuzz: ## Bounded libFuzzer runs of every reader (FUZZ_SECONDS=20 each); needs clang
	@$(MAKE) FLAVOUR=fuzz CC=$$($(DEPS) tool clang) fuzz-programs
	@sh tests/tools/fuzz.sh build/fuzz $(FUZZ_SECONDS)

# ---- lint ----
.PHONY: print-flags
print-flags: # for tools that parse the sources
	@echo '$(STANDARD) $(WARNINGS) -I. $(LIB_CFLAGS) $(TEST_CFLAGS)'

lint: ## Format, tidy, include rules, symbols, warnings as errors with gcc and clang
	@sh tests/tools/lint.sh

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)

# ---- install ----
.PHONY: install
install: all ## Install under $(DESTDIR)$(PREFIX)
	@test -n "$(PROGRAM)" || { echo "install: sim/cli/main.c is not there" >&2; exit 1; }
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/tidelab/policies $(DESTDIR)$(DATADIR)/tidelab/scenarios \
	    $(DESTDIR)$(DATADIR)/tidelab/clusters $(DESTDIR)$(DATADIR)/tidelab/samples \
	    $(DESTDIR)$(DATADIR)/tidelab/plots $(DESTDIR)$(MANDIR)/man1 \
	    $(DESTDIR)$(INCLUDEDIR)/tidelab/policies/abi $(DESTDIR)$(INCLUDEDIR)/tidelab/policies/lib
	install -m 755 $(TIDELAB) $(DESTDIR)$(BINDIR)/tidelab
	for f in $(wildcard sim/cli/*.1); do install -D -m 644 $$f $(DESTDIR)$(MANDIR)/man1/$${f##*/} || exit 1; done
	install -m 755 $(filter-out $(BUILD)/policies/examples/%,$(SHIPPED_MODULES)) $(DESTDIR)$(LIBDIR)/tidelab/policies
	install -m 644 $(wildcard policies/abi/*.h) $(DESTDIR)$(INCLUDEDIR)/tidelab/policies/abi
	for f in $(wildcard policies/lib/*.h); do install -m 644 $$f $(DESTDIR)$(INCLUDEDIR)/tidelab/policies/lib || exit 1; done
	install -m 644 sim/cli/tidelab.1 $(DESTDIR)$(MANDIR)/man1
	for f in $(wildcard workloads/scenarios/*); do install -m 644 $$f $(DESTDIR)$(DATADIR)/tidelab/scenarios || exit 1; done
	for f in $(wildcard traces/samples/*); do install -m 644 $$f $(DESTDIR)$(DATADIR)/tidelab/samples || exit 1; done
	@# Their samples lie beside them here.
	for f in $(patsubst workloads/%,%,$(wildcard workloads/scenarios/*.yaml)); do \
	    sed 's|\.\./\.\./traces/samples/|../samples/|' workloads/$$f > $(DESTDIR)$(DATADIR)/tidelab/$$f || exit 1; done
	for f in $(wildcard workloads/clusters/*); do install -m 644 $$f $(DESTDIR)$(DATADIR)/tidelab/clusters || exit 1; done
	for f in $(wildcard analysis/plots/*.gp analysis/plots/*.css); do install -m 644 $$f $(DESTDIR)$(DATADIR)/tidelab/plots || exit 1; done

endif # nothing missing

.PHONY: uninstall format clean distclean
uninstall: ## Remove what install put there
	rm -f $(DESTDIR)$(BINDIR)/tidelab $(DESTDIR)$(MANDIR)/man1/tidelab.1
	rm -rf $(DESTDIR)$(LIBDIR)/tidelab $(DESTDIR)$(DATADIR)/tidelab $(DESTDIR)$(INCLUDEDIR)/tidelab

format: ## Format every C source in place
	@sh tests/tools/lint.sh --format

clean: ## Remove the build of every flavour
	rm -rf build

distclean: clean ## Remove everything that git does not keep, local results too
	rm -rf results/local

# SPDX-License-Identifier: Apache-2.0
# Trainyard: meson and ninja do the work, this file gives it short names.
#
#   make build      build/yard, build/yardd and what they start or load
#   make run        trains a small model on a yard of its own, and ends by itself
#   make test       everything a change must pass, below twenty minutes
#   make test-full  that, and what is long or heavy
#   make bench      how fast, beside others, as a table
#   make lint       layers, headers, sizes, format, clang, clang-tidy, cppcheck, shellcheck
#   make install    PREFIX=/usr/local DESTDIR=
#   make clean
#
# Every target first lets tools/setup install what it lacks (Debian 12 packages).

PREFIX  ?= /usr/local
DESTDIR ?=
BUILD   ?= build
# yard-tls.so is what yard loads for https.
PROGRAMS = $(BUILD)/yard $(BUILD)/yardd $(BUILD)/yard-shim $(BUILD)/yard-unpack $(BUILD)/yard-fetch $(BUILD)/yard-tls.so

.PHONY: all build run test test-full bench lint install clean setup-%
.NOTPARALLEL:

all: build

setup-%:
	@tools/setup $*

$(BUILD)/build.ninja:
	@echo "# building into $(BUILD): about half a minute the first time"
	@meson setup $(BUILD) --prefix $(PREFIX) > $(BUILD)-setup.log 2>&1 \
		|| { cat $(BUILD)-setup.log; rm -rf $(BUILD) $(BUILD)-setup.log; exit 1; }
	@rm -f $(BUILD)-setup.log

build: setup-build $(BUILD)/build.ninja
	@ninja --quiet -C $(BUILD) $(notdir $(PROGRAMS))

run: setup-run build
	@tools/run-example

test: setup-test build
	@tools/test

test-full: setup-test build
	@tools/test --full

bench: setup-bench build
	@bench/run

lint: setup-lint
	@tools/lint

install: setup-build $(BUILD)/build.ninja
	@meson configure $(BUILD) --prefix $(PREFIX)
	@ninja --quiet -C $(BUILD) $(notdir $(PROGRAMS)) $(addprefix packaging/,yard.1 yard _yard yard.fish)
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild

clean:
	@rm -rf build build-*

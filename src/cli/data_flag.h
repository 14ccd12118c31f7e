// SPDX-License-Identifier: Apache-2.0
/* data_flag.h - flags of `yard run` for what a job reads, keeps, installs and tells. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/opts.h"

struct data_flags {
	struct opts_list inputs, outputs, params, metrics;
	const char *contract, *requirements;
	int64_t grace_max;
};

/* clang-format off */
#define OPT_DATA(type, field)                                                                   \
	{ "input", 'i', OPT_LIST, OPT_INTO(type, field.inputs), "NAME=URI",                     \
	  "data to read, at /ml/input/data/NAME" },                                             \
	{ "output", 'o', OPT_LIST, OPT_INTO(type, field.outputs), "NAME[=URI]",                 \
	  "a folder that is kept, at /ml/output/NAME" },                                        \
	{ "param", 'p', OPT_LIST, OPT_INTO(type, field.params), "NAME=VALUE",                   \
	  "a hyperparameter" },                                                                 \
	{ "contract", 0, OPT_TEXT, OPT_INTO(type, field.contract), "WORD",                      \
	  "what the task finds: native or estimator (native)" },                                \
	{ "requirements", 0, OPT_TEXT, OPT_INTO(type, field.requirements), "FILE",              \
	  "packages that pip installs first" },                                                 \
	{ "metric", 0, OPT_LIST, OPT_INTO(type, field.metrics), "NAME=REGEX",                   \
	  "a number that its log tells, such as loss='loss=([0-9.]+)'" },                       \
	{ "grace-max", 0, OPT_DURATION, OPT_INTO(type, field.grace_max), "TIME",                \
	  "wait that long for checkpoints when it is stopped (5m)" }
/* clang-format on */

/* Whether it names a place by a provider, not a path of this machine's. */
bool data_flag_is_uri(const char *text);
/* The fields of the job file. */
int data_flags_write(struct json *j, const struct data_flags *f, struct err *err);

// SPDX-License-Identifier: Apache-2.0
/* secret_flag.h - `--secret NAME=VARIABLE` and `--secret NAME:/path` of run and submit. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/opts.h"

#define OPT_SECRET(type, field)                                                          \
	{                                                                                \
		"secret", 0, OPT_LIST, OPT_INTO(type, field), "NAME=VAR",                \
			"a secret as a variable; NAME:/PATH: as a file"                  \
	}

/* The list as the job file has it; key NULL: just the list. */
int secret_flag_items(struct json *j, const char *key, const struct opts_list *list,
		      struct err *err);
/* "secrets": [...]; nothing when it is empty. */
int secret_flag_write(struct json *j, const struct opts_list *list, struct err *err);

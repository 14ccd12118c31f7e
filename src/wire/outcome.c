// SPDX-License-Identifier: Apache-2.0
#include "wire/outcome.h"

#include "base/str.h"

/* clang-format off */
static const struct { int http, exit; } outcomes[ERR_CODE_END] = {
	[ERR_NONE]           = { 200, 0 },
	[ERR_INVALID]        = { 400, 2 },
	[ERR_NOT_FOUND]      = { 404, 3 },
	[ERR_DENIED]         = { 403, 4 },
	[ERR_UNKNOWN_CALLER] = { 401, 4 },
	[ERR_CONFLICT]       = { 409, 5 },
	[ERR_TOO_LARGE]      = { 413, 2 },
	[ERR_QUOTA]          = { 422, 8 },
	[ERR_UNSUPPORTED]    = { 501, 9 },
	[ERR_BUSY]           = { 503, 10 },
	[ERR_TIMEOUT]        = { 504, 7 },
	[ERR_IO]             = { 507, 1 },
	[ERR_CORRUPT]        = { 500, 1 },
	[ERR_INTERNAL]       = { 500, 1 },
};
static const char *const exits[EXIT_CODE_END] = {
	[0]                = "done",
	[1]                = "something failed: the words say what",
	[2]                = "wrong usage, or a job file with problems",
	[3]                = "no such job, or not yours to see",
	[4]                = "not allowed",
	[5]                = "not now: wrong state, or in conflict with something",
	[EXIT_UNREACHABLE] = "no daemon answers",
	[7]                = "took too long",
	[8]                = "over a quota",
	[9]                = "not possible on this machine or in this version",
	[10]               = "the daemon is busy",
};
/* clang-format on */

const char *wire_exit_words(int exit)
{
	return exits[exit];
}

int wire_http_status(enum err_code code)
{
	return outcomes[code].http;
}

int wire_exit_code(enum err_code code)
{
	return outcomes[code].exit;
}

enum err_code wire_code_from_word(const char *word)
{
	for (int c = ERR_NONE + 1; c < ERR_CODE_END; c++)
		if (str_eq(word, err_word((enum err_code)c)))
			return (enum err_code)c;
	return ERR_INTERNAL;
}

enum err_code wire_code_from_status(int status)
{
	if (status == 408)
		return ERR_TIMEOUT;
	for (int c = ERR_NONE + 1; c < ERR_CODE_END; c++)
		if (outcomes[c].http == status)
			return (enum err_code)c;
	return status >= 500 ? ERR_INTERNAL : ERR_INVALID;
}

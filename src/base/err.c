// SPDX-License-Identifier: Apache-2.0
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const words[ERR_CODE_END] = {
	[ERR_NONE] = "none",
	[ERR_INVALID] = "invalid",
	[ERR_NOT_FOUND] = "not-found",
	[ERR_DENIED] = "denied",
	[ERR_UNKNOWN_CALLER] = "unknown-caller",
	[ERR_CONFLICT] = "conflict",
	[ERR_TOO_LARGE] = "too-large",
	[ERR_QUOTA] = "quota",
	[ERR_UNSUPPORTED] = "unsupported",
	[ERR_BUSY] = "busy",
	[ERR_TIMEOUT] = "timeout",
	[ERR_IO] = "io",
	[ERR_CORRUPT] = "corrupt",
	[ERR_INTERNAL] = "internal",
};

const char *err_word(enum err_code code)
{
	return code < ERR_CODE_END ? words[code] : "unknown";
}

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -1;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof err->text, fmt, ap);
	va_end(ap);
	return -1;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char old[ERR_TEXT_MAX];
	va_list ap;
	size_t n;

	if (!err)
		return -1;
	memcpy(old, err->text, sizeof old);
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof err->text, fmt, ap);
	va_end(ap);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof err->text - n, ": %s", old);
	return -1;
}

int err_sys(struct err *err, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;
	size_t n;

	if (!err)
		return -1;
	err->code = saved == ENOENT ? ERR_NOT_FOUND : ERR_IO;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof err->text, fmt, ap);
	va_end(ap);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof err->text - n, ": %s", strerror(saved));
	return -1;
}

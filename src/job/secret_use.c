// SPDX-License-Identifier: Apache-2.0
#include "job/secret_use.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "job/principal.h"

bool secret_name_ok(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n < NAME_MAX_BYTES &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") == n &&
	       (*name == '_' || (*name >= 'a' && *name <= 'z'));
}

int secret_mode_read(const char *text, int *out)
{
	size_t n = strlen(text);
	int mode = 0;

	if (n < 3 || n > 4 || strspn(text, "01234567") != n || (n == 4 && *text != '0'))
		return -1;
	for (; *text; text++)
		mode = mode * 8 + (*text - '0');
	*out = mode;
	return 0;
}

const char *secret_mode_write(int mode, char out[SECRET_MODE_TEXT])
{
	for (int i = SECRET_MODE_TEXT - 2; i >= 0; i--, mode /= 8)
		out[i] = (char)('0' + mode % 8);
	out[SECRET_MODE_TEXT - 1] = 0;
	return out;
}

static const char *const words[SECRET_SCOPE_COUNT] = {
	[SECRET_USER] = "user", [SECRET_GROUP] = "group"
};

const char *secret_scope_word(enum secret_scope s)
{
	return words[s];
}

int secret_scope_from_word(const char *word, enum secret_scope *out)
{
	for (enum secret_scope s = 0; s < SECRET_SCOPE_COUNT; s++) {
		if (str_eq(words[s], word)) {
			*out = s;
			return 0;
		}
	}
	return -1;
}

int secret_from_read(const char *text, enum secret_scope *scope, const char **owner)
{
	const char *slash = strchr(text, '/');
	AUTO_FREE char *word = slash ? mem_strndup(text, (size_t)(slash - text)) : NULL;

	if (!slash || secret_scope_from_word(word, scope) < 0 || !slash[1] ||
	    strlen(slash + 1) >= NAME_MAX_BYTES || strchr(slash + 1, '/'))
		return -1;
	*owner = slash + 1;
	return 0;
}

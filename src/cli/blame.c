// SPDX-License-Identifier: Apache-2.0
#include "cli/blame.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define LINE_MAX_BYTES                                                                   \
	4096           /* of a line that is looked at: errors stand at its beginning */
#define KEEP_BYTES 400 /* of a line that is remembered */

enum where {
	ANYWHERE,
	AT_START, /* of the line, behind spaces */
	AS_WORD,  /* no letter, digit or _ around it */
	WHOLE,    /* the whole line */
};

struct sign {
	const char *text;
	enum where where;
	enum blame_class means;
};

/* In this order: what is no error for all its looks comes first. */
/* clang-format off */
static const struct sign signs[] = {
	{ "Warning:",                       ANYWHERE, BLAME_NONE },
	{ "WARNING",                        AS_WORD,  BLAME_NONE },
	{ "no error",                       ANYWHERE, BLAME_NONE },
	{ "No error",                       ANYWHERE, BLAME_NONE },
	{ "0 error",                        AS_WORD,  BLAME_NONE },
	{ "0 errors",                       AS_WORD,  BLAME_NONE },
	{ "ignoring error",                 ANYWHERE, BLAME_NONE },

	{ "CUDA out of memory",             ANYWHERE, BLAME_CERTAIN },
	{ "OutOfMemoryError",               ANYWHERE, BLAME_CERTAIN },
	{ "CUDA error",                     ANYWHERE, BLAME_CERTAIN },
	{ "NCCL error",                     ANYWHERE, BLAME_CERTAIN },
	{ "NCCL WARN",                      ANYWHERE, BLAME_LOOKS },
	{ "Cannot allocate memory",         ANYWHERE, BLAME_CERTAIN },
	{ "std::bad_alloc",                 ANYWHERE, BLAME_CERTAIN },
	{ "MemoryError",                    AT_START, BLAME_CERTAIN },
	{ "No space left on device",        ANYWHERE, BLAME_CERTAIN },
	{ "Segmentation fault",             ANYWHERE, BLAME_CERTAIN },
	{ "Bus error",                      ANYWHERE, BLAME_CERTAIN },
	{ "Illegal instruction",            ANYWHERE, BLAME_CERTAIN },
	{ "(core dumped)",                  ANYWHERE, BLAME_CERTAIN },
	{ "Killed",                         WHOLE,    BLAME_CERTAIN },
	{ "panic:",                         AT_START, BLAME_CERTAIN },
	{ "' panicked at ",                 ANYWHERE, BLAME_CERTAIN },
	{ "terminate called",               AT_START, BLAME_CERTAIN },
	{ "ERROR: AddressSanitizer",        ANYWHERE, BLAME_CERTAIN },
	{ "runtime error:",                 ANYWHERE, BLAME_CERTAIN },
	{ "Assertion `",                    ANYWHERE, BLAME_CERTAIN },
	{ "Assertion failed",               ANYWHERE, BLAME_CERTAIN },
	{ "ModuleNotFoundError:",           ANYWHERE, BLAME_CERTAIN },
	{ "SyntaxError:",                   ANYWHERE, BLAME_CERTAIN },
	{ "command not found",              ANYWHERE, BLAME_CERTAIN },
	{ ": not found",                    ANYWHERE, BLAME_LOOKS },
	{ "error while loading shared lib", ANYWHERE, BLAME_CERTAIN },
	{ "can't open file",                ANYWHERE, BLAME_CERTAIN },
	{ "No such file or directory",      ANYWHERE, BLAME_LOOKS },
	{ "Permission denied",              ANYWHERE, BLAME_LOOKS },
	{ "Connection refused",             ANYWHERE, BLAME_LOOKS },
	{ "fatal:",                         ANYWHERE, BLAME_CERTAIN },
	{ "FATAL",                          AS_WORD,  BLAME_CERTAIN },
	{ "Fatal",                          AS_WORD,  BLAME_LOOKS },
	{ "CRITICAL",                       AS_WORD,  BLAME_LOOKS },
	{ "ERROR",                          AS_WORD,  BLAME_LOOKS },
	{ "level=error",                    ANYWHERE, BLAME_LOOKS },
	{ "\"level\":\"error\"",            ANYWHERE, BLAME_LOOKS },
	{ "Exception:",                     ANYWHERE, BLAME_LOOKS },
	{ "Exception in thread",            ANYWHERE, BLAME_LOOKS },
	{ "rror:",                          ANYWHERE, BLAME_LOOKS }, /* error: and ValueError: */
	{ "error[E",                        AT_START, BLAME_LOOKS }, /* rustc */
	{ "undefined reference to",         ANYWHERE, BLAME_LOOKS },
};
/* clang-format on */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* "train error: 0.12", "Error: 3.2e-4, step 5"; but "error: 3 files are missing" is none. */
static bool is_measure(const char *behind)
{
	behind += strspn(behind, " \t=");
	size_t n = strspn(behind, "0123456789.eE+-%");
	bool exact = strcspn(behind, ".eE%") < n;
	if (!n || !isdigit((unsigned char)behind[0]))
		return false;
	return !behind[n] || strchr(exact ? " \t,;|)]" : ",;|)]", behind[n]);
}

static bool sign_at(const char *line, const struct sign *s)
{
	size_t len = strlen(s->text);

	switch (s->where) {
	case ANYWHERE:
		return strstr(line, s->text) != NULL;
	case AT_START:
		return str_starts(line + strspn(line, " \t"), s->text);
	case WHOLE:
		return str_eq(line, s->text);
	case AS_WORD:
		for (const char *p = line; (p = strstr(p, s->text)); p += len)
			if ((p == line || !is_word(p[-1])) && !is_word(p[len]))
				return true;
		return false;
	}
	return false;
}

static enum blame_class classify(const char *line)
{
	const char *colon = strstr(line, "rror:");

	if (colon && is_measure(colon + 5))
		return BLAME_NONE;
	for (size_t i = 0; i < COUNT_OF(signs); i++)
		if (sign_at(line, &signs[i]))
			return signs[i].means;
	return BLAME_NONE;
}

/* Frames are indented; what ends them is the error itself.  torchrun and others write a
 * prefix in front ("[rank0]: "), which is left out of the look. */
static enum blame_class in_traceback(struct blame *b, const char *line)
{
	if (*line == '\0' || *line == ' ' || *line == '\t')
		return BLAME_PART;
	b->traceback = false;
	return BLAME_CERTAIN;
}

static const char *without_prefix(const char *line)
{
	const char *end = line[0] == '[' ? strstr(line, "]: ") : NULL;

	return end ? end + 3 : line;
}

static void remember(struct blame *b, enum blame_class now, const char *line)
{
	if (line[strspn(line, " \t\r")]) {
		free(b->last);
		b->last = mem_strndup(line, strnlen(line, KEEP_BYTES));
	}
	if (now < BLAME_LOOKS || now <= b->found)
		return;
	free(b->first);
	b->first = mem_strndup(line, strnlen(line, KEEP_BYTES));
	b->found = now;
}

enum blame_class blame_line(struct blame *b, const char *line, size_t len)
{
	AUTO_FREE char *text =
		mem_strndup(line, len < LINE_MAX_BYTES ? len : LINE_MAX_BYTES);
	const char *bare = without_prefix(text);
	enum blame_class now;

	text[strcspn(text, "\r\n")] = '\0';
	if (str_starts(bare, "Traceback (most recent call last)")) {
		b->traceback = true;
		now = BLAME_PART;
	} else if (b->traceback) {
		now = in_traceback(b, bare);
	} else {
		now = classify(text);
	}
	remember(b, now, bare);
	return now;
}

void blame_fini(struct blame *b)
{
	free(b->first);
	free(b->last);
	*b = (struct blame){ 0 };
}

// SPDX-License-Identifier: Apache-2.0
/* What is taken for an error, and which of several comes first. */
#include "cli/blame.h"

#include <string.h>

#include "base/mem.h"
#include "tap.h"

/* clang-format off */
static const struct {
	const char *line;
	enum blame_class means;
} lines[] = {
	{ "epoch 3: loss 0.31",                                                BLAME_NONE },
	{ "",                                                                  BLAME_NONE },
	{ "ValueError: shapes do not match",                                   BLAME_LOOKS },
	{ "train.c:12:5: error: expected ';'",                                 BLAME_LOOKS },
	{ "error: 0.1234",                                                     BLAME_NONE },
	{ "validation error: 12.5% after 3 epochs",                            BLAME_NONE },
	{ "Error: 3.2e-4, step 5",                                             BLAME_NONE },
	{ "error: 3 files are missing",                                        BLAME_LOOKS },
	{ "error: 404.html is missing",                                        BLAME_LOOKS },
	{ "0 errors, 2 warnings",                                              BLAME_NONE },
	{ "10 errors",                                                         BLAME_NONE },
	{ "no error at all",                                                   BLAME_NONE },
	{ "error_rate=0.5 ERRORS_TOTAL=3",                                     BLAME_NONE },
	{ "x.py:3: DeprecationWarning: Error: is going away",                  BLAME_NONE },
	{ "2026-01-01 12:00:00 ERROR worker died",                             BLAME_LOOKS },
	{ "[ERROR] worker died",                                               BLAME_LOOKS },
	{ "ts=1 level=error msg=gone",                                         BLAME_LOOKS },
	{ "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate", BLAME_CERTAIN },
	{ "RuntimeError: CUDA error: device-side assert triggered",            BLAME_CERTAIN },
	{ "panic: runtime error: index out of range",                          BLAME_CERTAIN },
	{ "thread 'main' panicked at src/main.rs:2",                           BLAME_CERTAIN },
	{ "Segmentation fault (core dumped)",                                  BLAME_CERTAIN },
	{ "a.out: a.c:3: main: Assertion `x == 1' failed.",                    BLAME_CERTAIN },
	{ "sh: 1: pyhton: not found",                                          BLAME_LOOKS },
	{ "bash: line 1: pyhton: command not found",                           BLAME_CERTAIN },
	{ "cat: x: No such file or directory",                                 BLAME_LOOKS },
	{ "Killed",                                                            BLAME_CERTAIN },
	{ "Killed 3 flies",                                                    BLAME_NONE },
	{ "OSError: [Errno 28] No space left on device",                       BLAME_CERTAIN },
};
/* clang-format on */

static void feed(struct blame *b, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		blame_line(b, text, n);
		text += n + (text[n] == '\n');
	}
}

static void first_of(const char *log, const char *want, const char *law)
{
	struct blame b = { 0 };

	feed(&b, log);
	if (want)
		IS(b.first, want, "%s", law);
	else
		OK(!b.first, "%s", law);
	blame_fini(&b);
}

static void tracebacks(void)
{
	static const enum blame_class want[] = { BLAME_NONE, BLAME_PART,    BLAME_PART,
						 BLAME_PART, BLAME_CERTAIN, BLAME_NONE };
	static const char *const log[] = { "starting",
					   "Traceback (most recent call last):",
					   "  File \"train.py\", line 3, in <module>",
					   "    main()",
					   "ZeroDivisionError: division by zero",
					   "bye" };
	struct blame b = { 0 };
	bool same = true;

	for (size_t i = 0; i < COUNT_OF(log); i++)
		same &= blame_line(&b, log[i], strlen(log[i])) == want[i];
	OK(same, "a traceback is an error with all its frames, and nothing behind it");
	IS(b.first, "ZeroDivisionError: division by zero",
	   "its last line is what it says");
	IS(b.last, "bye", "the last line is remembered, too");
	blame_fini(&b);

	first_of("Traceback (most recent call last):\n  File \"a\"\nKeyError: 'lr'\n\n"
		 "During handling of the above exception, another exception occurred:\n\n"
		 "Traceback (most recent call last):\n  File \"b\"\nSystemExit: 3\n",
		 "KeyError: 'lr'", "of errors that caused each other the first counts");
	first_of("[rank0]: Traceback (most recent call last):\n[rank0]:   File \"a\"\n"
		 "[rank0]: ValueError: x\n",
		 "ValueError: x", "a traceback behind torchrun's prefix is one");
}

int main(void)
{
	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		struct blame b = { 0 };
		IS_INT(blame_line(&b, lines[i].line, strlen(lines[i].line)),
		       lines[i].means, "'%s'", lines[i].line);
		blame_fini(&b);
	}
	tracebacks();
	first_of(
		"error: no cache, going on\nepoch 1\nCUDA error: lost\nCUDA error: again\n",
		"CUDA error: lost", "a certain error stands above an early grumble");
	first_of("error: a\nerror: b\n", "error: a", "of equals the first");
	first_of("all is well\n", NULL, "a log without errors has none");

	char line[10000];
	struct blame b = { 0 };
	memset(line, 'x', sizeof line);
	memcpy(line, "error: ", 7);
	blame_line(&b, line, sizeof line);
	OK(b.first && strlen(b.first) < 1000,
	   "of a very long line the beginning is kept");
	blame_fini(&b);
	return END();
}

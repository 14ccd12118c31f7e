// SPDX-License-Identifier: Apache-2.0
#include "job/exit.h"

#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"

/* What `yard run` returns for a task that has no code of its own; as shells and container
 * tools do, where they have a number for it. */
#define SHELL_CODE_LOST      125
#define SHELL_CODE_UNSTARTED 126
#define SHELL_CODE_SIGNAL    128

static const char *const words[EXIT_KIND_COUNT] = {
	[EXIT_CODE] = "code",       [EXIT_SIGNAL] = "signal",       [EXIT_OOM] = "oom",
	[EXIT_STOPPED] = "stopped", [EXIT_UNSTARTED] = "unstarted", [EXIT_LOST] = "lost",
};

bool exit_ok(const struct task_exit *e)
{
	return e->kind == EXIT_CODE && e->code == 0 && !e->stage[0];
}

int exit_shell_code(const struct task_exit *e)
{
	switch (e->kind) {
	case EXIT_CODE:
		return e->code & 0xff;
	case EXIT_SIGNAL:
		return SHELL_CODE_SIGNAL + (e->signal & 0x7f);
	case EXIT_OOM:
		return SHELL_CODE_SIGNAL + SIGKILL;
	case EXIT_STOPPED:
		return SHELL_CODE_SIGNAL + SIGTERM;
	case EXIT_UNSTARTED:
		return SHELL_CODE_UNSTARTED;
	case EXIT_LOST:
	case EXIT_KIND_COUNT:
		break;
	}
	return SHELL_CODE_LOST;
}

static void code_words(int code, struct buf *out)
{
	buf_printf(out, "exit code %d", code);
	/* Shells give these two; a program may too, hence "probably". */
	if (code == 126)
		buf_adds(out, " (probably: the command is not executable)");
	if (code == 127)
		buf_adds(out, " (probably: the command was not found)");
}

static void signal_words(int sig, struct buf *out)
{
	const char *name = sigabbrev_np(sig), *text = sigdescr_np(sig);

	if (name && text)
		buf_printf(out, "ended by signal %d (SIG%s: %s)", sig, name, text);
	else
		buf_printf(out, "ended by signal %d", sig);
}

static void memory_words(const struct task_exit *e, struct buf *out)
{
	char text[UNITS_TEXT_MAX];

	buf_adds(out, "out of memory");
	if (e->peak_bytes > 0)
		buf_printf(out, ": it used %s at its peak",
			   units_show_bytes(e->peak_bytes, text));
	if (e->limit_bytes > 0)
		buf_printf(out, "%s its limit is %s", e->peak_bytes > 0 ? ";" : ":",
			   units_show_bytes(e->limit_bytes, text));
}

static void with_detail(const char *what, const char *detail, struct buf *out)
{
	buf_adds(out, what);
	if (*detail)
		buf_printf(out, ": %s", detail);
}

static void ended_words(const struct task_exit *e, struct buf *out)
{
	switch (e->kind) {
	case EXIT_CODE:
		code_words(e->code, out);
		return;
	case EXIT_SIGNAL:
		signal_words(e->signal, out);
		return;
	case EXIT_OOM:
		memory_words(e, out);
		return;
	case EXIT_STOPPED:
		buf_adds(out, "stopped");
		return;
	case EXIT_UNSTARTED:
		with_detail("not started", e->text, out);
		return;
	case EXIT_LOST:
		with_detail("lost", e->text, out);
		return;
	case EXIT_KIND_COUNT:
		return;
	}
}

/* What the stages that there are do, and what it means that one failed. */
static const struct stage_words {
	const char *name, *failed, *during, *program;
} stages[] = {
	{ "requirements", "requirements could not be installed",
	  "while its requirements were being installed", "pip" },
};

static const struct stage_words *stage_words(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(stages); i++)
		if (str_eq(stages[i].name, name))
			return &stages[i];
	return NULL;
}

static void stage_failed(const struct task_exit *e, struct buf *out)
{
	const struct stage_words *w = stage_words(e->stage);

	if (w)
		buf_adds(out, w->failed);
	else
		buf_printf(out, "its stage \"%s\" failed", e->stage);
	buf_adds(out, ": ");
	if (w && e->kind == EXIT_CODE)
		buf_printf(out, "%s exited with %d", w->program, e->code);
	else
		ended_words(e, out);
}

static void stage_during(const char *name, struct buf *out)
{
	const struct stage_words *w = stage_words(name);

	if (w)
		buf_printf(out, " %s", w->during);
	else
		buf_printf(out, " in its stage \"%s\"", name);
}

void exit_words(const struct task_exit *e, struct buf *out)
{
	bool by_itself = e->kind == EXIT_CODE || e->kind == EXIT_SIGNAL;

	if (e->stage[0] && (by_itself || e->kind == EXIT_OOM)) {
		stage_failed(e, out);
		return;
	}
	ended_words(e, out);
	if (e->stage[0])
		stage_during(e->stage, out);
	else if (by_itself && e->text[0])
		buf_printf(out, " (%s)", e->text);
}

const char *exit_kind_word(enum exit_kind kind)
{
	return kind < EXIT_KIND_COUNT ? words[kind] : "unknown";
}

int exit_kind_from_word(const char *word, enum exit_kind *out)
{
	for (enum exit_kind k = 0; k < EXIT_KIND_COUNT; k++) {
		if (str_eq(words[k], word)) {
			*out = k;
			return 0;
		}
	}
	return -1;
}

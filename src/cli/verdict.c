// SPDX-License-Identifier: Apache-2.0
#include "cli/verdict.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"

#define MEMORY_STEP_MIN (16LL << 20)
#define SHELL_SIGNAL    128

struct facts {
	const struct job *j;
	const struct task_exit *exit; /* of the task that failed first, or NULL */
	const struct verdict_log *log;
	int rank;
};

/* One cause of failure.  The first row that applies is told. */
struct cause {
	bool (*applies)(const struct facts *f);
	void (*meaning)(const struct facts *f, struct buf *out); /* or text */
	const char *text;
	void (*next)(const struct facts *f, struct buf *out); /* behind "yard " */
};

int64_t verdict_more_memory(int64_t bytes)
{
	int64_t want, step = MEMORY_STEP_MIN;

	if (bytes > INT64_MAX / 4)
		return bytes;
	want = bytes + bytes / 2;
	while (step * 8 < want)
		step *= 2;
	return (want + step - 1) / step * step;
}

int verdict_rank(const struct job *j)
{
	int found = -1;

	if (j->stop == STOP_USER || j->stop == STOP_DEPENDENCY)
		return -1; /* whatever its tasks made of it */
	if (j->first_failed >= 0 && (size_t)j->first_failed < j->task_count)
		return j->first_failed;
	for (size_t i = 0; i < j->task_count; i++) {
		const struct task *t = &j->tasks[i];
		if (t->state != TASK_OVER || exit_ok(&t->exit) ||
		    t->exit.kind == EXIT_STOPPED)
			continue;
		if (found < 0 || t->ended_ms < j->tasks[found].ended_ms)
			found = (int)i;
	}
	return found;
}

static bool by_user(const struct facts *f)
{
	return f->j->stop == STOP_USER;
}

static bool by_dependency(const struct facts *f)
{
	return f->j->stop == STOP_DEPENDENCY;
}

static bool by_time_limit(const struct facts *f)
{
	return f->j->stop == STOP_TIME_LIMIT;
}

static bool by_memory(const struct facts *f)
{
	return f->exit && f->exit->kind == EXIT_OOM;
}

static bool by_loss(const struct facts *f)
{
	return f->exit && f->exit->kind == EXIT_LOST;
}

static bool by_code(const struct facts *f, int code)
{
	return f->exit && f->exit->kind == EXIT_CODE && f->exit->code == code;
}

static bool not_found(const struct facts *f)
{
	return by_code(f, 127) || (f->exit && f->exit->kind == EXIT_UNSTARTED &&
				   strstr(f->exit->text, "cannot run"));
}

static bool not_executable(const struct facts *f)
{
	return by_code(f, 126);
}

static bool not_started(const struct facts *f)
{
	return f->exit && f->exit->kind == EXIT_UNSTARTED;
}

static bool by_signal(const struct facts *f)
{
	return f->exit && f->exit->kind == EXIT_SIGNAL;
}

/* A shell that runs a program says so of its end. */
static bool by_inner_signal(const struct facts *f)
{
	return f->exit && f->exit->kind == EXIT_CODE && f->exit->code > SHELL_SIGNAL &&
	       f->exit->code <= SHELL_SIGNAL + SIGRTMAX;
}

static bool always(const struct facts *f)
{
	(void)f;
	return true;
}

static int64_t memory_had(const struct facts *f)
{
	const struct role *r = &f->j->spec->roles[f->j->tasks[f->rank].role];

	return f->exit->limit_bytes > 0 ? f->exit->limit_bytes : r->each.memory_bytes;
}

static int64_t memory_wanted(const struct facts *f)
{
	int64_t had = memory_had(f), peak = f->exit->peak_bytes;

	return verdict_more_memory(peak > had ? peak : had);
}

/* Peak and limit stand in the reason already (exit_words). */
static void memory_meaning(const struct facts *f, struct buf *out)
{
	char limit[UNITS_TEXT_MAX], more[UNITS_TEXT_MAX];

	buf_printf(out,
		   "it needs more memory than its limit of %s: ask for --mem %s or more",
		   units_show_bytes(memory_had(f), limit),
		   units_write_bytes(memory_wanted(f), more));
}

static void memory_next(const struct facts *f, struct buf *out)
{
	char text[UNITS_TEXT_MAX];

	buf_printf(out, "clone %" PRId64 " --mem %s", f->j->id,
		   units_write_bytes(memory_wanted(f), text));
}

static void time_next(const struct facts *f, struct buf *out)
{
	int64_t limit = f->j->spec->time_limit_ms;
	char text[UNITS_TEXT_MAX];

	buf_printf(out, "clone %" PRId64 " --time-limit %s", f->j->id,
		   units_write_duration(
			   limit > 0 && limit < INT64_MAX / 2 ? limit * 2 : limit, text));
}

static void again_next(const struct facts *f, struct buf *out)
{
	buf_printf(out, "clone %" PRId64, f->j->id);
}

static void retry_next(const struct facts *f, struct buf *out)
{
	buf_printf(out, "clone %" PRId64 " --retry 1", f->j->id);
}

static void show_next(const struct facts *f, struct buf *out)
{
	buf_printf(out, "show %" PRId64, f->j->id);
}

static void dependency_next(const struct facts *f, struct buf *out)
{
	int64_t on = 0;

	for (size_t i = 0; i < f->j->spec->after_count; i++)
		if (f->j->spec->after[i].ok && !on)
			on = f->j->spec->after[i].job;
	buf_printf(out, "show %" PRId64, on ? on : f->j->id);
}

static bool by_members(const struct facts *f)
{
	return job_is_array(f->j);
}

static void members_next(const struct facts *f, struct buf *out)
{
	buf_printf(out, "ls --array %" PRId64 " --state failed", f->j->id);
}

static void logs_next(const struct facts *f, struct buf *out)
{
	AUTO_FREE char *task = NULL;

	if (f->j->task_count > 1 && f->rank >= 0)
		task = str_printf(" --task %d", f->rank);
	buf_printf(out,
		   f->log->error ? "logs --errors%s %" PRId64
				 : "logs --tail 50%s %" PRId64,
		   task ? task : "", f->j->id);
}

/* clang-format off */
static const struct { int sig; const char *means; } signal_table[] = {
	{ SIGSEGV, "the program touched memory that is not its own: a bug in native code" },
	{ SIGBUS,  "the program lost memory under its feet: often /dev/shm is full (resources.shm in a job file)" },
	{ SIGABRT, "the program gave up by itself: a failed assertion, or abort()" },
	{ SIGKILL, "something inside the task killed it, or the machine itself ran out of memory" },
	{ SIGTERM, "something inside the task asked it to end" },
	{ SIGINT,  "something inside the task interrupted it" },
	{ SIGFPE,  "the program divided by zero, or made another arithmetic mistake" },
	{ SIGILL,  "the program has an instruction this processor does not know: built for another one?" },
	{ SIGSYS,  "the program asked the kernel for something the sandbox does not allow" },
	{ SIGPIPE, "the program wrote to somebody who no longer reads" },
	{ SIGXCPU, "the program used more processor time than its own limit" },
	{ SIGXFSZ, "the program wrote a larger file than its own limit" },
	{ SIGTRAP, "the program stopped at a trap: often a failed check in native code" },
};
/* clang-format on */

static void signal_meaning(const struct facts *f, struct buf *out)
{
	bool inner = f->exit->kind == EXIT_CODE;
	int sig = inner ? f->exit->code - SHELL_SIGNAL : f->exit->signal;
	const char *name = sigabbrev_np(sig);

	if (inner && name)
		buf_printf(out, "that is how a shell reports signal %d (SIG%s)", sig,
			   name);
	for (size_t i = 0; i < COUNT_OF(signal_table); i++)
		if (signal_table[i].sig == sig)
			buf_printf(out, "%s%s", out->len ? ": " : "",
				   signal_table[i].means);
}

/* clang-format off */
static const struct cause causes[] = {
	{ by_user,         NULL,           NULL, again_next },
	{ by_dependency,   NULL,           "it never ran: what it should come after did not succeed", dependency_next },
	{ by_members,      NULL,           NULL, members_next },
	{ by_time_limit,   NULL,           "it took longer than it asked for; give it more time, or save its work and go on from there", time_next },
	{ by_memory,       memory_meaning, NULL, memory_next },
	{ by_loss,         NULL,           "nobody knows how it ended: the machine or its holder went away; --retry lets it be tried again by itself", retry_next },
	{ not_found,       NULL,           "the command was not found: is it installed here, and not left out by .gitignore?", show_next },
	{ not_executable,  NULL,           "the command could not be executed: is it marked executable (chmod +x)?", show_next },
	{ not_started,     NULL,           "its task could not be set up, so nothing of it ran", show_next },
	{ by_signal,       signal_meaning, NULL, logs_next },
	{ by_inner_signal, signal_meaning, NULL, logs_next },
	{ always,          NULL,           NULL, logs_next },
};
/* clang-format on */

static void what_words(const struct facts *f, struct buf *out)
{
	const struct job *j = f->j;
	bool stopped = j->outcome == OUTCOME_STOPPED;

	buf_printf(out, "job %" PRId64 " (%s) %s", j->id, j->spec->name,
		   !stopped                     ? "failed"
		   : j->stop == STOP_DEPENDENCY ? "did not run"
						: "was stopped");
	if (j->reason && *j->reason)
		buf_printf(out, ": %s", j->reason);
	if (!stopped && j->attempt > 1 && !(j->reason && strstr(j->reason, "attempt")))
		buf_printf(out, " (attempt %d)", j->attempt);
}

static void error_words(const struct facts *f, struct buf *out)
{
	const char *line = f->log->error ? f->log->error : f->log->last;

	if (!line || f->rank < 0)
		return;
	if (!f->log->error && f->exit->kind == EXIT_OOM)
		return; /* whatever it said last was not about that */
	buf_adds(out, f->log->error ? "first error" : "last line");
	if (f->j->task_count > 1) {
		const struct task *t = &f->j->tasks[f->rank];
		buf_printf(out, " of %s-%d", f->j->spec->roles[t->role].name, t->index);
	}
	buf_printf(out, ": %s", line + strspn(line, " \t"));
}

static char *take_words(struct buf *b)
{
	return b->len ? buf_take(b) : NULL;
}

void verdict_make(const struct job *j, const struct verdict_log *log, struct verdict *out)
{
	AUTO_BUF struct buf what = { 0 }, error = { 0 }, meaning = { 0 }, next = { 0 };
	struct facts f = { .j = j, .log = log, .rank = verdict_rank(j) };
	const struct cause *cause = causes;

	f.exit = f.rank >= 0 ? &j->tasks[f.rank].exit : NULL;
	while (!cause->applies(&f))
		cause++;
	what_words(&f, &what);
	error_words(&f, &error);
	if (cause->meaning)
		cause->meaning(&f, &meaning);
	else if (cause->text)
		buf_adds(&meaning, cause->text);
	buf_adds(&next, "yard ");
	cause->next(&f, &next);
	*out = (struct verdict){ .what = take_words(&what),
				 .error = take_words(&error),
				 .meaning = take_words(&meaning),
				 .next = take_words(&next) };
}

void verdict_fini(struct verdict *v)
{
	free(v->what);
	free(v->error);
	free(v->meaning);
	free(v->next);
	*v = (struct verdict){ 0 };
}

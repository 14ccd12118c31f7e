// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "doctor/checks.h"

static const struct {
	const char *about;
	check_fn *look;
} checks[] = {
	{ "who you are", check_user },
	{ "kernel", check_kernel },
	{ "processors", check_cores },
	{ "memory", check_memory },
	{ "devices", check_devices },
	{ "namespaces", check_namespaces },
	{ "user ids", check_subuids },
	{ "overlays", check_overlay },
	{ "mapped owners", check_idmap },
	{ "control groups", check_cgroups },
	{ "system call filter", check_seccomp },
	{ "disk", check_disk },
	{ "clock", check_clock },
	{ "open files", check_files },
	{ "engines", check_engines },
};

static const char *const level_words[FINDING_LEVEL_COUNT] = {
	[FINDING_FINE] = "ok",
	[FINDING_NOTE] = "note",
	[FINDING_LACK] = "lack",
};

size_t doctor_examine(const struct patient *p, struct finding *out, size_t max)
{
	size_t n = 0;

	for (; n < COUNT_OF(checks) && n < max; n++) {
		out[n] = (struct finding){ .about = checks[n].about };
		checks[n].look(p, &out[n]);
	}
	return n;
}

const char *finding_level_word(enum finding_level l)
{
	return level_words[l];
}

void finding_set(struct finding *f, enum finding_level level, const char *fmt, ...)
{
	va_list ap;

	f->level = level;
	va_start(ap, fmt);
	vsnprintf(f->says, sizeof f->says, fmt, ap);
	va_end(ap);
}

void finding_advise(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->advice, sizeof f->advice, fmt, ap);
	va_end(ap);
}

int in_child(int (*trial)(void *arg), void *arg)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return errno;
	if (pid == 0)
		_exit(trial(arg));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

// SPDX-License-Identifier: Apache-2.0
#include "shim/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "shim/note.h"
#include "shim/notice.h"

#define NOT_FOUND  127 /* as shells say it */
#define NOT_TO_RUN 126

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool has_name(const struct shim_list *l, const char *var)
{
	size_t n = strcspn(var, "=") + 1;

	for (size_t i = 0; l && i < l->count; i++)
		if (strncmp(l->items[i], var, n) == 0)
			return true;
	return false;
}

/* The variables: what the step has of its own, the task's, and those that are secrets; no
 * name is there twice. */
static char **variables(const struct shim_task *t, const struct shim_list *own)
{
	size_t mine = own ? own->count : 0, n = 0;
	char **all = mem_alloc(t->env.count + mine + t->secrets.count + 1, sizeof *all);

	for (size_t i = 0; i < mine; i++)
		all[n++] = own->items[i];
	for (size_t i = 0; i < t->env.count; i++)
		if (!has_name(own, t->env.items[i]))
			all[n++] = t->env.items[i];
	for (size_t i = 0; i < t->secrets.count; i++)
		if (t->secrets.items[i].kind == SHIM_SECRET_ENV &&
		    !has_name(own, t->secrets.items[i].name))
			all[n++] = (char *)(uintptr_t)t->secrets.items[i].name;
	return all;
}

/* Gives the pid, or -errno. */
static pid_t start(const struct init_config *c, char **argv, const struct shim_list *own)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, ours;
	pid_t pid = -1;
	int failed;

	sigemptyset(&none);
	sigemptyset(&ours); /* what the shim ignores */
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGHUP);
	AUTO_FREE char **env = variables(c->task, own);
	environ = env; /* whose PATH counts */
	if (posix_spawn_file_actions_init(&files) != 0 ||
	    posix_spawnattr_init(&attr) != 0)
		return -ENOMEM;
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, c->out, 1);
	posix_spawn_file_actions_adddup2(&files, c->err, 2);
	posix_spawn_file_actions_addchdir_np(&files, c->task->workdir);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &ours);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSIGDEF);
	/* Shares memory until the exec, so no page table is copied, and it returns its error. */
	failed = posix_spawnp(&pid, argv[0], &files, &attr, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	environ = NULL;
	return failed ? -failed : pid;
}

static bool at_command(const struct steps *s)
{
	return s->stage == s->c->task->stage_count;
}

static void signal_all(const struct steps *s, int sig)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->pids[i] && kill(-s->pids[i], sig) < 0)
			kill(s->pids[i], sig);
}

/* The command's last process runs: what only starting needed goes. */
static void let_go(const struct init_config *c)
{
	/* The shim has its own; nothing is left here for whoever looks into pid 1. */
	if (c->task->secrets.vault)
		vault_cut(c->task->secrets.vault, 0);
	/* The task's output ends when the task has ended, not when we have. */
	close(c->out);
	close(c->err);
}

/* Begins the processes of the present step. */
static int begin(struct steps *s, struct err *err)
{
	const struct shim_task *t = s->c->task;
	const struct shim_stage *stage = at_command(s) ? NULL : &t->stages[s->stage];
	char **argv = stage ? stage->argv.items : t->argv.items;
	size_t want = stage || !t->process_count ? 1 : t->process_count;

	s->count = s->left = s->failed = 0;
	s->status = 0;
	s->kill_ms = 0;
	for (size_t i = 0; i < want; i++) {
		const struct shim_list *own = stage ? &stage->env : NULL;
		pid_t pid;

		if (!stage && t->process_count)
			own = &t->processes[i];
		pid = start(s->c, argv, own);
		if (pid < 0) {
			signal_all(s, SIGKILL);
			errno = (int)-pid;
			return err_set(err, ERR_NOT_FOUND, "cannot run '%s': %s", argv[0],
				       strerror(errno));
		}
		s->pids[s->count++] = pid;
		s->left++;
	}
	if (!stage)
		let_go(s->c);
	return 0;
}

int steps_begin(struct steps *s, const struct init_config *c, struct err *err)
{
	*s = (struct steps){ .c = c };
	return begin(s, err);
}

/* True: it was the step's last. */
static bool ended(struct steps *s, pid_t pid, int status)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->pids[i] != pid)
			continue;
		/* What a stage leaves behind is not the command's company. */
		if (!at_command(s))
			kill(-pid, SIGKILL);
		s->pids[i] = 0;
		s->left--;
		if (status != 0 && s->status == 0) {
			s->status = status;
			s->failed = i;
			/* In a stop they all have the yard's grace: one may be saving. */
			if (s->left && !s->stop) {
				signal_all(s, SIGTERM);
				s->kill_ms = now_ms() + STEPS_GRACE_MS;
			}
		}
		return s->left == 0;
	}
	return false; /* an orphan */
}

static bool reap(struct steps *s)
{
	bool over = false;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		over = ended(s, pid, status) || over;
	return over;
}

/* Everything of the step has ended.  True: another one runs now. */
static bool next(struct steps *s)
{
	struct err err = { 0 };

	if (at_command(s))
		return false;
	if (s->stop && s->status == 0)
		s->status = W_EXITCODE(0, SIGTERM); /* it never came to its command */
	if (s->status != 0)
		return false;
	s->stage++;
	note_send(s->c->wire, NOTE_STAGE, at_command(s) ? -1 : (int)s->stage, NULL);
	if (begin(s, &err) == 0)
		return true;
	/* The task is long begun, so that is said where its output is. */
	s->status = W_EXITCODE(errno == ENOENT ? NOT_FOUND : NOT_TO_RUN, 0);
	dprintf(s->c->err, "%s\n", err.text);
	return false;
}

static int timeout(const struct steps *s)
{
	int64_t left = s->kill_ms - now_ms();

	if (!s->kill_ms)
		return -1;
	return left < 0 ? 0 : (int)left;
}

static void tell_end(const struct steps *s)
{
	char text[64] = "";

	if (s->count > 1 && s->status != 0)
		snprintf(text, sizeof text, "LOCAL_RANK %zu", s->failed);
	note_send(s->c->wire, NOTE_EXIT, s->status, text);
}

void steps_serve(struct steps *s, int children)
{
	struct pollfd p[2] = { { children, POLLIN, 0 }, { s->c->wire, POLLIN, 0 } };
	struct signalfd_siginfo info;
	struct note n;

	for (;;) {
		if (s->kill_ms && now_ms() >= s->kill_ms) {
			signal_all(s, SIGKILL);
			s->kill_ms = 0;
		}
		if (poll(p, 2, timeout(s)) < 0)
			continue;
		if (p[1].revents) {
			if (note_recv(s->c->wire, &n, NULL) <= 0)
				_exit(1);
			if (n.kind == NOTE_TERM) {
				s->stop = true;
				notice_put(s->c->task->stop_file, n.text);
				signal_all(s, SIGTERM);
			}
		}
		if (p[0].revents && read(children, &info, sizeof info) > 0 && reap(s) &&
		    !next(s))
			break;
	}
	tell_end(s);
}

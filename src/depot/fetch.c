// SPDX-License-Identifier: Apache-2.0
#include "depot/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "depot/files.h"

#define HIGH_FD 16 /* above every number a descriptor gets in the child */

struct fetch {
	struct depot_files *depot;
	struct fetch *prev, *next;
	struct fetch_sink sink;
	/* Until it is started. */
	struct vault *request;
	int folder, manifest;
	char uid[24];
	char *user; /* on whose behalf */
	/* While it runs. */
	pid_t pid; /* 0: not begun */
	int pidfd;
	struct world_watch *watch;
	struct world_stream *stream;
	struct buf line;
	bool cancelled, exited, heard_all;
	int status;
	/* What it said. */
	bool done;
	int64_t files, bytes;
	struct err err;
	char words[256]; /* the last line that was none of ours: of a crash */
};

static void start_some(struct depot_files *d);

static void unlink_it(struct fetch *f)
{
	if (f->prev)
		f->prev->next = f->next;
	else
		f->depot->fetches = f->next;
	if (f->next)
		f->next->prev = f->prev;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void destroy(struct fetch *f)
{
	unlink_it(f);
	world_watch_destroy(f->watch);
	world_stream_close(f->stream);
	close_fd(&f->pidfd);
	close_fd(&f->folder);
	close_fd(&f->manifest);
	vault_unref(f->request);
	free(f->user);
	buf_fini(&f->line);
	depot_files_unref(f->depot);
	free(f);
}

static void say_ending(struct fetch *f)
{
	if (f->done && WIFEXITED(f->status) && WEXITSTATUS(f->status) == 0)
		return;
	if (f->err.code != ERR_NONE)
		return;
	err_set(&f->err, ERR_INTERNAL, "yard-fetch ended by %s %d%s%s",
		WIFSIGNALED(f->status) ? "signal" : "exit code",
		WIFSIGNALED(f->status) ? WTERMSIG(f->status) : WEXITSTATUS(f->status),
		*f->words ? ": " : "", f->words);
}

/* Both its end and its last words must have come. */
static void maybe_over(struct fetch *f)
{
	struct depot_files *d = f->depot;
	struct fetch_sink sink = f->sink;

	if (!f->exited || (!f->heard_all && !f->cancelled))
		return;
	say_ending(f);
	struct err err = f->err;
	int64_t files = f->files, bytes = f->bytes;
	bool tell = !f->cancelled;
	d->fetch_count--;
	d->refs++; /* done() may be the last to need it */
	destroy(f);
	if (tell && !d->gone)
		sink.done(sink.arg, files, bytes, err.code == ERR_NONE ? NULL : &err);
	if (!d->gone)
		start_some(d);
	depot_files_unref(d);
}

static void take_line(struct fetch *f, const char *text)
{
	struct remote_line line;

	if (remote_line_read(text, &line) < 0) {
		snprintf(f->words, sizeof f->words, "%s", text);
		return;
	}
	switch (line.kind) {
	case REMOTE_AT:
		if (f->sink.at && !f->cancelled)
			f->sink.at(f->sink.arg, line.first, line.second);
		break;
	case REMOTE_DONE:
		f->done = true;
		f->files = line.first;
		f->bytes = line.second;
		break;
	case REMOTE_BAD:
		f->err = line.err;
		break;
	case REMOTE_SAID_COUNT:
		break;
	}
}

static void on_data(void *arg, const char *data, size_t len)
{
	struct fetch *f = arg;

	for (size_t i = 0; i < len; i++) {
		if (data[i] != '\n') {
			if (f->line.len < REMOTE_LINE_MAX)
				buf_addc(&f->line, data[i]);
			continue;
		}
		take_line(f, buf_str(&f->line));
		buf_clear(&f->line);
	}
}

static void on_end(void *arg, const struct err *err)
{
	struct fetch *f = arg;

	(void)err;
	world_stream_close(f->stream);
	f->stream = NULL;
	f->heard_all = true;
	maybe_over(f);
}

static void on_exit_seen(void *arg)
{
	struct fetch *f = arg;

	if (waitpid(f->pid, &f->status, WNOHANG) == 0)
		return;
	world_watch_destroy(f->watch);
	f->watch = NULL;
	f->exited = true;
	maybe_over(f);
}

/* A site's proxies and certificates are said in the daemon's environment; nothing else of
 * it is anybody's business. */
static size_t environment(char **out, size_t most)
{
	static const char *const names[] = { "http_proxy",    "https_proxy",
					     "HTTPS_PROXY",   "all_proxy",
					     "no_proxy",      "NO_PROXY",
					     "SSL_CERT_FILE", "SSL_CERT_DIR",
					     "CURL_CA_BUNDLE" };
	size_t n = 0;

	for (size_t i = 0; i < COUNT_OF(names) && n + 1 < most; i++) {
		const char *value = getenv(names[i]);
		if (value)
			out[n++] = str_printf("%s=%s", names[i], value);
	}
	out[n] = NULL;
	return n;
}

static int spawn(struct fetch *f, int request, int says)
{
	char *const argv[] = { (char[]){ "yard-fetch" }, f->uid, NULL };
	char *env[16];
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&files, 0, 1);
	posix_spawn_file_actions_adddup2(&files, says, 2);
	posix_spawn_file_actions_adddup2(&files, request, REMOTE_REQUEST_FD);
	if (f->folder >= 0)
		posix_spawn_file_actions_adddup2(&files, f->folder, REMOTE_FOLDER_FD);
	if (f->manifest >= 0)
		posix_spawn_file_actions_adddup2(&files, f->manifest, REMOTE_MANIFEST_FD);
	posix_spawn_file_actions_adddup2(&files, says, REMOTE_SAYS_FD);
	size_t count = environment(env, COUNT_OF(env));
	int rc = posix_spawn(&f->pid, f->depot->fetch_path, &files, &attr, argv, env);
	for (size_t i = 0; i < count; i++)
		free(env[i]);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return rc;
}

static int high(int fd)
{
	int up = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

	close(fd);
	return up;
}

static int begin(struct fetch *f, struct err *err)
{
	int says[2] = { -1, -1 };
	int low = vault_to_fd(f->request, err);
	AUTO_FD int request = low < 0 ? -1 : high(low);

	vault_unref(f->request);
	f->request = NULL;
	if (low < 0)
		return -1;
	if (request < 0 || pipe2(says, O_CLOEXEC) < 0)
		return err_sys(err, "start yard-fetch");
	AUTO_FD int hear = says[0];
	AUTO_FD int say = high(says[1]);
	int rc = say < 0 ? errno : spawn(f, request, say);
	if (rc != 0)
		return err_set(err, ERR_IO, "start %s: %s", f->depot->fetch_path,
			       strerror(rc));
	close_fd(&f->folder);
	close_fd(&f->manifest);
	f->pidfd = (int)syscall(SYS_pidfd_open, f->pid, 0);
	f->watch = f->pidfd < 0 ? NULL
				: world_watch_create(f->depot->world, f->pidfd,
						     on_exit_seen, f);
	f->stream = world_stream_open(f->depot->world, hear, err);
	if (!f->watch || !f->stream) {
		kill(f->pid, SIGKILL);
		waitpid(f->pid, NULL, 0);
		f->pid = 0; /* may be somebody else's by now */
		world_watch_destroy(TAKE(f->watch));
		return err_set(err, ERR_IO, "yard-fetch cannot be watched");
	}
	(void)TAKE_FD(hear);
	const struct world_stream_events events = { .on_data = on_data,
						    .on_end = on_end };
	world_stream_start(f->stream, &events, f);
	return 0;
}

static void tell_failure(void *arg)
{
	struct fetch *f = arg;
	struct fetch_sink sink = f->sink;
	struct err err = f->err;
	bool tell = !f->cancelled && !f->depot->gone;

	destroy(f);
	if (tell)
		sink.done(sink.arg, 0, 0, &err);
}

static int running_of(const struct depot_files *d, const char *user)
{
	int n = 0;

	for (const struct fetch *f = d->fetches; f; f = f->next)
		n += f->pid && str_eq(f->user, user);
	return n;
}

static void start_some(struct depot_files *d)
{
	/* The list has the youngest first: those that wait longest stand at its end. */
	while (d->fetch_count < FETCH_MAX) {
		struct fetch *oldest = NULL;
		for (struct fetch *f = d->fetches; f; f = f->next)
			if (!f->pid && f->err.code == ERR_NONE &&
			    running_of(d, f->user) < FETCH_USER_MAX)
				oldest = f;
		if (!oldest)
			return;
		if (begin(oldest, &oldest->err) < 0) {
			if (oldest->err.code == ERR_NONE)
				err_set(&oldest->err, ERR_INTERNAL, "start yard-fetch");
			world_later(d->world, tell_failure, oldest);
			continue;
		}
		d->fetch_count++;
	}
}

static int keep_fd(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
}

struct fetch *fetch_start(struct depot_files *d, const struct fetch_order *o,
			  const struct fetch_sink *s)
{
	struct fetch *f = mem_alloc(1, sizeof *f);
	/* Only lent: the account's texts stay the caller's. */
	const struct remote_request r = { .op = o->op,
					  .uri = mem_strdup(o->uri),
					  .account = *o->account,
					  .files_max = REMOTE_FILES_MAX,
					  .bytes_max = o->bytes_max };

	f->depot = d;
	f->sink = *s;
	f->pidfd = -1;
	f->user = mem_strdup(o->user);
	f->request = remote_request_write(&r);
	free(r.uri);
	f->folder = keep_fd(o->folder);
	f->manifest = keep_fd(o->manifest);
	snprintf(f->uid, sizeof f->uid, "%lld",
		 (long long)(geteuid() == 0 ? o->uid : -1));
	f->next = d->fetches;
	if (d->fetches)
		d->fetches->prev = f;
	d->fetches = f;
	d->refs++;
	start_some(d);
	return f;
}

void fetch_cancel(struct fetch *f)
{
	if (!f || f->cancelled)
		return;
	f->cancelled = true;
	if (f->pid && f->pidfd >= 0) {
		syscall(SYS_pidfd_send_signal, f->pidfd, SIGKILL, NULL, 0);
		return; /* gone when its end is seen */
	}
	if (f->err.code == ERR_NONE) /* else tell_failure() comes for it */
		destroy(f);
}

void fetch_end_all(struct depot_files *d)
{
	struct fetch *next;

	for (struct fetch *f = d->fetches; f; f = next) {
		next = f->next;
		f->cancelled = true;
		if (!f->pid && f->err.code != ERR_NONE)
			continue;
		if (f->pid && !f->exited) {
			kill(f->pid, SIGKILL);
			waitpid(f->pid, NULL, 0);
		}
		destroy(f);
	}
}

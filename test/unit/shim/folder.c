// SPDX-License-Identifier: Apache-2.0
#include "shim/folder.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "shim/probe.h"
#include "tap.h"

static char folder[] = "/tmp/yard-folder.XXXXXX";

static void put(int dir, const char *name, const struct buf *b)
{
	struct err err = { 0 };
	int fd = folder_put(dir, name, b, &err);

	if (fd < 0 || folder_sync(dir, fd, &err) < 0)
		printf("# %s\n", err.text);
}

static _Noreturn void rewrite_for_ever(int dir)
{
	struct err err = { 0 };

	for (int64_t i = 0;; i++) {
		struct buf b = { 0 };
		struct shim_exit e = { .kind = SHIM_CODE, .code = i, .signal = i };

		shim_exit_encode(&e, &b);
		close(folder_put(dir, "exit", &b, &err));
		buf_fini(&b);
	}
}

/* A writer that is killed at any moment leaves the whole old file or the whole new one. */
static void test_atomic(int dir)
{
	struct shim_exit e = { .kind = SHIM_CODE };
	int torn = 0, mixed = 0, seen = 0;
	struct err err = { 0 };

	for (int i = 0; i < 60; i++) {
		pid_t pid = fork();

		if (pid == 0)
			rewrite_for_ever(dir);
		usleep((useconds_t)(500 + i * 53));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		AUTO_BUF struct buf b = { 0 };
		if (folder_read(dir, "exit", &b, &err) == 0)
			continue;
		seen++;
		if (shim_exit_decode(b.data, b.len, &e, &err) < 0)
			torn++;
		mixed += e.code != e.signal;
	}
	OK(seen > 30, "the writer was killed while it wrote (%d times)", seen);
	IS_INT(torn + mixed, 0, "the exit file is whole whenever its writer dies");
	unlinkat(dir, "exit", 0);
	unlinkat(dir, "exit.new", 0);
}

static enum shim_state state_of(void)
{
	struct shim_probe p;
	struct err err = { 0 };

	if (shim_probe(folder, &p, &err) < 0) {
		printf("# %s\n", err.text);
		return (enum shim_state)(-1);
	}
	if (p.pidfd >= 0)
		close(p.pidfd);
	return p.state;
}

static void put_mark(int dir, const char *boot, int64_t pid, int64_t start)
{
	AUTO_BUF struct buf b = { 0 };
	struct shim_mark m = { .pid = pid, .start = start };

	snprintf(m.boot, sizeof m.boot, "%s", boot);
	shim_mark_encode(&m, &b);
	put(dir, "mark", &b);
}

static void test_probe(int dir)
{
	AUTO_BUF struct buf b = { 0 };
	struct shim_exit e = { .kind = SHIM_CODE };
	char boot[40];
	int lock;

	boot_id(boot, sizeof boot);
	IS_INT(state_of(), SHIM_NONE, "an empty folder: nobody began it");
	lock = openat(dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	IS_INT(state_of(), SHIM_NONE, "a lock nobody holds changes nothing");
	flock(lock, LOCK_EX);
	IS_INT(state_of(), SHIM_BUSY, "a held lock without a mark: about to begin");
	put_mark(dir, boot, getpid(), process_start(getpid()));
	IS_INT(state_of(), SHIM_ALIVE, "with its mark and its process: alive");
	put_mark(dir, boot, getpid(), process_start(getpid()) + 1);
	IS_INT(state_of(), SHIM_BUSY, "a pid that now is another's is not it");
	flock(lock, LOCK_UN);
	IS_INT(state_of(), SHIM_VANISHED,
	       "a mark without its shim: lost, never startable");
	put_mark(dir, "another-boot", getpid(), process_start(getpid()));
	flock(lock, LOCK_EX);
	IS_INT(state_of(), SHIM_VANISHED,
	       "a mark of another boot: lost, whoever has that pid now");
	put(dir, "exit", &b);
	IS_INT(state_of(), SHIM_VANISHED, "an exit cut by a power failure is none");
	shim_exit_encode(&e, &b);
	put(dir, "exit", &b);
	IS_INT(state_of(), SHIM_OVER, "an exit decides, whatever else is there");
	close(lock);
}

int main(void)
{
	int dir;

	if (!mkdtemp(folder) ||
	    (dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return 1;
	test_atomic(dir);
	test_probe(dir);
	for (const char *const *name =
		     (const char *const[]){ "lock", "mark", "exit", NULL };
	     *name; name++)
		unlinkat(dir, *name, 0);
	close(dir);
	OK(rmdir(folder) == 0, "nothing else is left in the folder");
	return END();
}

// SPDX-License-Identifier: Apache-2.0
/* The process engine's laws, with a shim that has no sandbox (this program itself, see
 * fake_shim.h) and then with the real one, where YARD_SHIM names it. */
#include <dirent.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "engine/engine.h"
#include "fake_shim.h"
#include "harness.h"
#include "shim/nest.h"
#include "stream/usage.h"
#include "tap.h"

static int open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void plain_life(void)
{
	int a = start_sh("exit 7"), b = start_sh("kill -SEGV $$"), c = start_sh("true");
	struct task_ref ra = ref_of(a);

	OK(until_exited(a) && until_exited(b) && until_exited(c), "three tasks end");
	OK(t.seen[a].started == 1 && t.seen[a].exited == 1,
	   "each is told to have started and ended once");
	OK(t.seen[a].exit.kind == EXIT_CODE && t.seen[a].exit.code == 7,
	   "an exit code arrives");
	OK(t.seen[b].exit.kind == EXIT_SIGNAL && t.seen[b].exit.signal == SIGSEGV,
	   "a signal arrives");
	OK(exit_ok(&t.seen[c].exit), "success arrives");
	t.engine->ops->start(t.engine, bundle_of(a, "/bin/sh", "-c", "exit 8"));
	OK(t.seen[a].exited == 2 && t.seen[a].exit.code == 7,
	   "start() again tells the old end again");
	t.engine->ops->forget(t.engine, &ra, folder_of(a));
	t.engine->ops->start(t.engine, bundle_of(a, "/bin/sh", "-c", "exit 8"));
	for (int i = 0; i < 500 && t.seen[a].exited < 3; i++)
		run(10);
	OK(t.seen[a].exited == 3 && t.seen[a].exit.code == 7,
	   "also when it was forgotten: the folder remembers");
}

/* Thousands may come in one call of the yard's: it must not take the time of a disk. */
static void starts_later(void)
{
	int a = start_sh("exit 3");

	OK(access(folder_of(a), F_OK) < 0, "start() itself makes no folder");
	OK(until_exited(a) && t.seen[a].exit.code == 3, "its turn comes");
	a = start_sh("exit 3");
	stop(a, false);
	OK(until_exited(a) && t.seen[a].exit.kind == EXIT_UNSTARTED,
	   "and one stopped before its turn is not begun: %s", t.seen[a].exit.text);
}

static void stops(void)
{
	int a = start_sh("exec sleep 60"),
	    b = start_sh("trap '' TERM; echo on; sleep 60 & wait; wait"), c;
	struct engine_usage usage;
	struct usage_sample *samples;
	size_t count;
	struct task_ref ra = ref_of(a);
	struct err err;

	OK(until_started(a) && until_started(b), "two long ones start");
	OK(t.engine->ops->usage(t.engine, &ra, &usage, &err) < 0 && err.code == ERR_BUSY,
	   "nobody waits for what is not measured yet: %s", err.text);
	for (int i = 0; i < 500 && err.code == ERR_BUSY; i++) {
		run(10);
		err.code = t.engine->ops->usage(t.engine, &ra, &usage, &err) == 0
				   ? ERR_NONE
				   : err.code;
	}
	IS_INT(err.code, ERR_NONE, "usage can be asked for");
	OK(usage.pids > 0, "and tells something");
	OK(usage_read(folder_of(a), &samples, &count, &err) == 0 && count > 0 &&
		   samples[count - 1].time_ms == usage.time_ms,
	   "and is kept in the series");
	free(samples);
	stop(a, false);
	OK(until_exited(a) && t.seen[a].exit.kind == EXIT_STOPPED,
	   "a polite stop ends one");
	run(400); /* its trap is set by now */
	stop(b, false);
	run(200);
	IS_INT(t.seen[b].exited, 0, "the other ignores it");
	stop(b, true);
	OK(until_exited(b) && t.seen[b].exit.kind == EXIT_STOPPED, "kill ends it");
	c = start_sh("exec sleep 60");
	stop(c, true);
	OK(until_exited(c), "a stop right behind the start is heard");
	OK(t.seen[c].exit.kind == EXIT_UNSTARTED || t.seen[c].exit.kind == EXIT_STOPPED,
	   "one way or the other");
	stop(250, true);
	OK(t.engine->ops->usage(t.engine, &ra, &usage, &err) < 0,
	   "no usage of what has ended: %s", err.text);
}

static void restart(void)
{
	int a = start_sh("trap 'exit 5' TERM; sleep 60 & wait"),
	    b = start_sh("sleep 0.3; exit 6"), c = start_sh("exec sleep 60"), d;
	struct task_ref ra = ref_of(a), rb = ref_of(b), rc = ref_of(c),
			none = ref_of(240);

	OK(until_started(a) && until_started(b) && until_started(c), "three start");
	d = start_sh("exit 4"); /* just asked for when the daemon dies */
	run(3);
	engine_down();
	usleep(600000);
	OK(engine_up(), "another engine comes");
	memset(t.seen, 0, sizeof t.seen);
	t.engine->ops->adopt(t.engine, &rb, folder_of(b));
	OK(until_exited(b) && t.seen[b].exit.code == 6, "what ended meanwhile is told");
	t.engine->ops->adopt(t.engine, &ra, folder_of(a));
	t.engine->ops->adopt(t.engine, &ra, folder_of(a));
	IS_INT(t.seen[a].exited, 0, "what runs goes on");
	stop(a, false);
	OK(until_exited(a) && t.seen[a].exit.code == 5 && t.seen[a].exited == 1,
	   "and its end is told once");
	t.engine->ops->start(t.engine, bundle_of(c, "/bin/sh", "-c", "exit 9"));
	OK(until_started(c), "start() of what runs adopts it");
	stop(c, true);
	OK(until_exited(c) && t.seen[c].exit.kind == EXIT_STOPPED,
	   "and it can be stopped");
	t.engine->ops->start(t.engine, bundle_of(d, "/bin/sh", "-c", "exit 4"));
	OK(until_exited(d) && t.seen[d].exit.kind == EXIT_CODE &&
		   t.seen[d].exit.code == 4,
	   "a start cut short is made good");
	t.engine->ops->adopt(t.engine, &none, folder_of(240));
	OK(until_exited(240) && t.seen[240].exit.kind == EXIT_UNSTARTED,
	   "what left no trace was never begun: %s", t.seen[240].exit.text);
	(void)rc;
}

static bool is_child(const char *pid)
{
	AUTO_BUF struct buf b = { 0 };
	char path[300];
	const char *at;

	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	fake_read(path, &b);
	at = strrchr(buf_str(&b), ')');
	return at && strlen(at) > 4 && atoi(at + 4) == getpid();
}

static int signal_children(int sig)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	int n = 0;

	while ((e = readdir(d)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && is_child(e->d_name))
			n += kill(atoi(e->d_name), sig) == 0;
	closedir(d);
	return n;
}

/* Its shim still has the bundle to read when the next daemon is told that it must not be
 * begun: by adopt(), or by start() and a stop before its turn. */
static void fenced(void)
{
	int a, b;
	char script[160], path[128];
	struct task_ref ra;

	run(300); /* the spare ones are there */
	OK(signal_children(SIGSTOP) > 0, "shims on their way hang");
	snprintf(path, sizeof path, "%s/ran", t.state);
	snprintf(script, sizeof script, "echo >>%s", path);
	a = start_sh(script);
	b = start_sh(script);
	ra = ref_of(a);
	run(100);
	engine_down();
	engine_up();
	t.engine->ops->adopt(t.engine, &ra, folder_of(a));
	OK(until_exited(a) && t.seen[a].exit.kind == EXIT_UNSTARTED,
	   "what nobody began is told so: %s", t.seen[a].exit.text);
	t.engine->ops->start(t.engine, bundle_of(b, "/bin/sh", "-c", script));
	stop(b, true);
	OK(until_exited(b) && t.seen[b].exit.kind == EXIT_UNSTARTED,
	   "what was stopped before its turn too: %s", t.seen[b].exit.text);
	t.engine->ops->forget(t.engine, &ra, folder_of(a));
	signal_children(SIGCONT);
	run(500);
	OK(access(path, F_OK) < 0 && access(folder_of(a), F_OK) == 0,
	   "and then nobody runs it");
	IS_INT(shim_pid(a) + shim_pid(b), 0, "nor marks it");
}

static void lost(void)
{
	int a = start_sh("exec sleep 60"), b = start_sh("exec sleep 60"), status;
	struct task_ref rb = ref_of(b);
	pid_t pid;

	OK(until_started(a) && until_started(b), "two start");
	kill(shim_pid(a), SIGKILL);
	OK(until_exited(a) && t.seen[a].exit.kind == EXIT_LOST,
	   "a task whose shim is killed is lost: %s", t.seen[a].exit.text);
	engine_down();
	pid = shim_pid(b);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	engine_up();
	t.engine->ops->start(t.engine, bundle_of(b, "/bin/sh", "-c", "exit 0"));
	OK(until_exited(b) && t.seen[b].exit.kind == EXIT_LOST,
	   "a mark without a shim is lost, not started again: %s", t.seen[b].exit.text);
	(void)rb;
}

/* A mark of another boot: whatever ran then runs no more. */
static void rebooted(void)
{
	struct shim_mark mark = { .boot = "00000000-0000-0000-0000-000000000000",
				  .pid = getpid(),
				  .start = 1 };
	AUTO_BUF struct buf b = { 0 };
	char command[256];
	int a = t.next++;

	snprintf(command, sizeof command, "mkdir -p '%s'", folder_of(a));
	if (system(command) != 0)
		exit(1);
	shim_mark_encode(&mark, &b);
	fake.dir = open(folder_of(a), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fake_write("mark", &b);
	close(fake.dir);
	t.engine->ops->start(t.engine, bundle_of(a, "/bin/sh", "-c", "exit 0"));
	OK(until_exited(a) && t.seen[a].exit.kind == EXIT_LOST,
	   "what ran before the machine was restarted is lost: %s", t.seen[a].exit.text);
	IS_INT(t.seen[a].started, 0, "and not started again");
}

static void many(int count)
{
	int first = t.next, wrong = 0, fds;

	run(100);
	while (waitpid(-1, NULL, WNOHANG) > 0) /* those whose daemon "died" above */
		continue;
	fds = open_fds();
	for (int i = 0; i < count; i++) {
		char script[32];

		snprintf(script, sizeof script, "exit %d", i % 100);
		start_sh(script);
	}
	for (int i = first; i < t.next; i++)
		wrong += !until_exited(i) || t.seen[i].exited != 1 ||
			 t.seen[i].exit.kind != EXIT_CODE ||
			 t.seen[i].exit.code != (i - first) % 100;
	IS_INT(wrong, 0, "%d tasks each end once and with their own code", count);
	for (int i = first; i < t.next; i++) {
		struct task_ref r = ref_of(i);

		t.engine->ops->forget(t.engine, &r, folder_of(i));
	}
	run(200);
	IS_INT(open_fds(), fds, "and no descriptor stays open");
	for (int i = first; i < t.next; i++)
		wrong += waitpid(-1, NULL, WNOHANG) > 0;
	IS_INT(wrong, 0, "and no child unreaped");
}

static void odd_shims(void)
{
	int a = start("@early", NULL, NULL), b = start("@noise", NULL, NULL),
	    c = start("@refuse", NULL, NULL);
	int d = start("@slow", NULL, NULL);
	struct task_ref rd = ref_of(d);

	OK(until_exited(a) && t.seen[a].exit.kind == EXIT_UNSTARTED,
	   "a shim that ends before the mark: %s", t.seen[a].exit.text);
	OK(until_exited(b) && t.seen[b].exit.kind == EXIT_UNSTARTED,
	   "a shim that talks nonsense: %s", t.seen[b].exit.text);
	OK(until_exited(c), "a shim that refuses");
	IS(t.seen[c].exit.text, "not today", "is quoted");
	run(20);
	engine_down(); /* @slow has a mark but no socket yet */
	engine_up();
	t.engine->ops->start(t.engine, bundle_of(d, "@slow", NULL, NULL));
	stop(d, true);
	OK(until_exited(d) && t.seen[d].exit.kind == EXIT_STOPPED,
	   "a shim that is slow to listen is waited for");
	t.engine->ops->forget(t.engine, &rd, folder_of(d));
	a = start("@deaf", NULL, NULL);
	OK(until_started(a), "a shim that hears nothing");
	stop(a, true);
	OK(until_exited(a) && t.seen[a].exit.kind == EXIT_STOPPED,
	   "is itself killed in the end");
	for (int i = 0; i < 2; i++) {
		int c2 = start(i ? "@stuck" : "@mute", NULL, NULL);
		struct task_ref r = ref_of(c2);

		run(200);
		engine_down();
		engine_up();
		t.seen[c2] = (struct seen){ 0 };
		t.engine->ops->adopt(t.engine, &r, folder_of(c2));
		stop(c2, false);
		run(100);
		stop(c2, true);
		OK(until_exited(c2) &&
			   t.seen[c2].exit.kind == (i ? EXIT_UNSTARTED : EXIT_STOPPED),
		   "one of an earlier daemon that %s can be stopped: %s",
		   i ? "hangs before its mark" : "cannot be reached",
		   t.seen[c2].exit.text);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			continue;
	}
	b = t.next++;
	struct bundle *bundle = bundle_of(b, "/bin/true", NULL, NULL);
	free(bundle->folder);
	bundle->folder = mem_strdup("/proc/no/such/place");
	t.engine->ops->start(t.engine, bundle);
	OK(until_exited(b) && t.seen[b].exit.kind == EXIT_UNSTARTED,
	   "a folder that cannot be made: %s", t.seen[b].exit.text);
}

/* Processes anywhere on the machine with this word in their command line. */
static int count_processes(const char *word)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	int n = 0;

	while ((e = readdir(d))) {
		AUTO_BUF struct buf b = { 0 };
		char path[300];

		if (e->d_name[0] < '0' || e->d_name[0] > '9')
			continue;
		snprintf(path, sizeof path, "/proc/%s/cmdline", e->d_name);
		fake_read(path, &b);
		n += b.len && memmem(b.data, b.len, word, strlen(word)) != NULL;
	}
	closedir(d);
	return n;
}

static bool gone(const char *word)
{
	for (int i = 0; i < 200; i++) {
		if (count_processes(word) == 0)
			return true;
		usleep(10000);
	}
	return false;
}

/* Real shim only: what runs away from its parents does not run away from us. */
static void nothing_survives(void)
{
	char script[320], word[2][32];
	int a[2];

	for (int i = 0; i < 2; i++) {
		snprintf(word[i], sizeof word[i], "9%d%07d", i, (int)getpid());
		snprintf(
			script, sizeof script,
			"trap '' TERM; (setsid sh -c 'trap \"\" TERM; sleep %s & sleep %s' &) ; sleep %s",
			word[i], word[i], word[i]);
		a[i] = start_sh(script);
		until_started(a[i]);
	}
	for (int i = 0;
	     i < 200 && (count_processes(word[0]) < 3 || count_processes(word[1]) < 3);
	     i++)
		usleep(10000);
	OK(count_processes(word[0]) >= 3 && count_processes(word[1]) >= 3,
	   "two tasks with runaways run");
	stop(a[0], true);
	OK(until_exited(a[0]) && count_processes(word[0]) == 0,
	   "after a kill nothing of it runs");
	kill(shim_pid(a[1]), SIGKILL);
	OK(until_exited(a[1]) && t.seen[a[1]].exit.kind == EXIT_LOST,
	   "a killed shim is told as lost");
	OK(gone(word[1]), "and nothing of it runs either");
}

struct heard {
	struct buf in, out;
	int ok, code;
	bool end;
};

static void heard_data(void *arg, const char *data, size_t len)
{
	struct heard *h = arg;
	struct shim_frame f;
	int64_t n;

	buf_add(&h->in, data, len);
	while ((n = shim_frame_get(buf_str(&h->in), h->in.len, &f)) > 0) {
		h->ok += f.type == SHIM_OK;
		if (f.type == SHIM_STDOUT)
			buf_add(&h->out, f.data, f.len);
		if (f.type == SHIM_EXEC_EXIT) {
			h->code = (uint8_t)f.data[0];
			world_stop(t.world);
		}
		buf_drop(&h->in, (size_t)n);
	}
}

static void heard_end(void *arg, const struct err *err)
{
	(void)err;
	((struct heard *)arg)->end = true;
	world_stop(t.world);
}

/* Real shim only. */
static void exec_talks(void)
{
	static const char *const argv[] = { "sh", "-c",
					    "read x; echo got $x in $(hostname); exit 9",
					    NULL };
	static const struct world_stream_events events = { .on_data = heard_data,
							   .on_end = heard_end };
	struct heard h = { .code = -1 };
	AUTO_BUF struct buf input = { 0 };
	int a = start_sh("exec sleep 60");
	struct task_ref ra = ref_of(a);
	struct world_stream *s = NULL;
	struct err err;

	until_started(a);
	if (OK(t.engine->ops->exec(t.engine, &ra, argv, false, &s, &err) == 0,
	       "exec in a real task")) {
		world_stream_start(s, &events, &h);
		shim_frame_add(&input, SHIM_STDIN, "words\n", 6);
		world_stream_write(s, input.data, input.len);
		run(PATIENCE_MS);
		IS_INT(h.ok, 1, "is answered OK");
		IS(buf_str(&h.out), "got words in test-main-0\n",
		   "reads its input inside the task and writes");
		IS_INT(h.code, 9, "and ends with its code");
		world_stream_close(s);
	}
	buf_fini(&h.in);
	buf_fini(&h.out);
	stop(a, true);
	until_exited(a);
}

/* Who makes shims, and those that wait, are killed: others take their place. */
static void nest_killed(void)
{
	int a = start_sh("exit 3"), b, c;

	OK(until_exited(a), "shims are made");
	run(200);
	OK(signal_children(SIGKILL) >= 2,
	   "who makes them is killed, and those that wait");
	run(200); /* until they are dead */
	b = start_sh("exit 4");
	c = start_sh("exit 5");
	OK(until_exited(b) && t.seen[b].exit.code == 4 && until_exited(c) &&
		   t.seen[c].exit.code == 5,
	   "and tasks run all the same: %s", t.seen[b].exit.text);
}

static void execs(void)
{
	static const char *const argv[] = { "true", NULL };
	int a = start_sh("exec sleep 60");
	struct task_ref ra = ref_of(a), none = ref_of(249);
	struct world_stream *s = NULL;
	struct err err;

	OK(until_started(a), "a task runs");
	IS_INT(t.engine->ops->exec(t.engine, &ra, argv, false, &s, &err), 0,
	       "a further command gets a stream");
	world_stream_close(s);
	OK(t.engine->ops->exec(t.engine, &none, argv, false, &s, &err) < 0 &&
		   err.code == ERR_CONFLICT,
	   "but not in a task that does not run: %s", err.text);
	stop(a, true);
	until_exited(a);
}

static void with_real_shim(const char *shim)
{
	setenv("YARD_SHIM", shim, 1);
	open_test(shim);
	plain_life();
	starts_later();
	stops();
	restart();
	fenced();
	lost();
	execs();
	nest_killed();
	nothing_survives();
	exec_talks();
	many(geteuid() == 0 ? 200 : 20);
	close_test();
}

/* The same without root's powers, in a child that hands its count of tests back. */
static void as_somebody(const char *shim)
{
	int *counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);
	int status = 0;
	pid_t pid;

	if (counts == MAP_FAILED)
		exit(1);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (setgroups(0, NULL) < 0 || setresgid(61234, 61234, 61234) < 0 ||
		    setresuid(61234, 61234, 61234) < 0)
			SKIP("cannot become an ordinary user");
		else if (access(shim, X_OK) < 0)
			SKIP("an ordinary user cannot reach the shim here");
		else if (prctl(PR_SET_DUMPABLE, 1) ==
			 0) /* the leak checker looks at us */
			with_real_shim(shim);
		counts[0] = tap_count;
		counts[1] = tap_failed;
		exit(0);
	}
	waitpid(pid, &status, 0);
	if (counts[0]) {
		tap_count = counts[0];
		tap_failed = counts[1];
	}
	munmap(counts, 4096);
	OK(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	   "as an ordinary user it came to its end");
}

static void with_fake_shim(void)
{
	const struct engine_sink sink = { NULL, on_started, on_exited, on_node };
	struct err err;

	unsetenv("YARD_SHIM");
	open_test("/proc/self/exe");
	plain_life();
	starts_later();
	stops();
	restart();
	fenced();
	lost();
	rebooted();
	odd_shims();
	execs();
	many(60);
	engine_down();
	t.config.shim_path = "/no/such/shim";
	OK(!engine_process_create(t.world, &t.config, &sink, &err),
	   "no engine without a shim: %s", err.text);
	t.config.shim_path = "/proc/self/exe";
	engine_up();
	close_test();
}

int main(int argc, char **argv)
{
	const char *real = getenv("YARD_SHIM");
	AUTO_FREE char *shim = mem_strdup(real);

	if (argc > 0 && str_eq(argv[0], "yard-shim")) {
		nest_serve();
		return fake_shim();
	}
	if (shim && access(shim, X_OK) == 0) {
		if (geteuid() == 0) /* first: a fork takes no threads along */
			as_somebody(shim);
		with_real_shim(shim);
	} else {
		SKIP("half of this needs the real shim: YARD_SHIM does not name one");
	}
	with_fake_shim();
	return END();
}

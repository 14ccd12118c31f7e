// SPDX-License-Identifier: Apache-2.0
/* Several processes of one command: who fails ends the others, but who is asked to stop has
 * the time that the yard gives. */
#include "shim/steps.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "shim/note.h"
#include "tap.h"

static char folder[] = "/tmp/yard-steps.XXXXXX";

static void add(struct shim_list *l, const char *text)
{
	l->items = mem_realloc(l->items, l->count + 2, sizeof *l->items);
	l->items[l->count++] = mem_strdup(text);
	l->items[l->count] = NULL;
}

/* Rank 0 and rank 1 of one script, beside each other. */
static void make_task(struct shim_task *t, const char *script)
{
	const char *const argv[] = { "/bin/sh", "-c", script };

	shim_task_init(t);
	t->workdir = mem_strdup(folder);
	for (size_t i = 0; i < COUNT_OF(argv); i++)
		add(&t->argv, argv[i]);
	add(&t->env, "PATH=/usr/bin:/bin");
	add(shim_task_process(t), "LOCAL_RANK=0");
	add(shim_task_process(t), "LOCAL_RANK=1");
}

/* As init does it. */
static pid_t begin(const struct shim_task *t, int wire)
{
	struct init_config c = { .task = t, .wire = wire };
	struct err err = { 0 };
	struct steps steps;
	sigset_t chld;
	pid_t pid = fork();

	if (pid)
		return pid;
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	int children = signalfd(-1, &chld, SFD_CLOEXEC);
	c.out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	c.err = dup(c.out);
	if (steps_begin(&steps, &c, &err) < 0)
		_exit(2);
	steps_serve(&steps, children);
	_exit(0);
}

static bool there(const char *name)
{
	AUTO_FREE char *path = str_printf("%s/%s", folder, name);

	return access(path, F_OK) == 0;
}

static bool await(const char *name)
{
	for (int i = 0; i < 3000 && !there(name); i++)
		usleep(10000);
	return there(name);
}

static void put(const char *name)
{
	AUTO_FREE char *path = str_printf("%s/%s", folder, name);

	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

/* How the command ended: its wait status; -1: nobody said. */
static int end_of(pid_t pid, int wire, struct note *n)
{
	int status;

	while (note_recv(wire, n, NULL) > 0 && n->kind != NOTE_EXIT)
		;
	waitpid(pid, &status, 0);
	return n->kind == NOTE_EXIT ? n->value : -1;
}

/* Rank 1 goes at once; rank 0 has a checkpoint to write, and hears of the stop once. */
static void test_stop(void)
{
	static const char script[] =
		"if [ $LOCAL_RANK = 1 ]; then trap 'touch gone; exit 1' TERM\n"
		"else trap 'echo >>terms' TERM; fi\n"
		"touch up$LOCAL_RANK\n"
		"until [ -e saved ]; do sleep 0.02; done\n"
		"[ $(wc -l <terms) = 1 ] && touch once";
	struct note n = { 0 };
	struct shim_task t;
	int wire[2];

	make_task(&t, script);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, wire) < 0)
		return;
	pid_t pid = begin(&t, wire[1]);
	close(wire[1]);
	OK(await("up0") && await("up1"), "two processes run");
	note_send(wire[0], NOTE_TERM, 0, "");
	OK(await("gone") && await("terms"), "both hear that they are to stop");
	/* Longer than it takes to see that the one has ended. */
	usleep(300000);
	put("saved");
	OK(WIFEXITED(end_of(pid, wire[0], &n)), "both end");
	OK(there("once"), "the one that goes on is not told again that it is to stop");
	close(wire[0]);
	shim_task_fini(&t);
}

static void test_failure(void)
{
	static const char script[] = "[ $LOCAL_RANK = 1 ] && exit 7\n"
				     "while :; do sleep 0.02; done";
	struct note n = { 0 };
	struct shim_task t;
	int wire[2];

	make_task(&t, script);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, wire) < 0)
		return;
	pid_t pid = begin(&t, wire[1]);
	close(wire[1]);
	int status = end_of(pid, wire[0], &n);
	OK(WIFEXITED(status) && WEXITSTATUS(status) == 7 &&
		   str_eq(n.text, "LOCAL_RANK 1"),
	   "the first that fails ends the others, and is named: %s", n.text);
	close(wire[0]);
	shim_task_fini(&t);
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	test_stop();
	test_failure();
	const char *const names[] = { "up0", "up1", "gone", "terms", "saved", "once" };
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		AUTO_FREE char *path = str_printf("%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
	return END();
}

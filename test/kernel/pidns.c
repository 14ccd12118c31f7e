// SPDX-License-Identifier: Apache-2.0
#include "claim.h"

static int link_[2];

/* pid 1 with a grandchild that ignores signals and left its session; both hold the pipe. */
static _Noreturn void first(void)
{
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			setsid();
			signal(SIGTERM, SIG_IGN);
			for (;;)
				pause();
		}
		_exit(0);
	}
	if (write(link_[1], "x", 1) == 1)
		for (;;)
			pause();
	_exit(1);
}

static pid_t start(void)
{
	pid_t pid;
	char c;

	if (!enter(CLONE_NEWPID) || pipe2(link_, O_CLOEXEC) < 0)
		_exit(1);
	pid = fork();
	if (pid == 0)
		first();
	if (read(link_[0], &c, 1) != 1)
		_exit(1);
	close(link_[1]);
	return pid;
}

static int kill_first(void)
{
	pid_t pid = start();
	char c;

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	fcntl(link_[0], F_SETFL, O_NONBLOCK);
	/* End of file, not "nothing yet": every process that held it is dead already. */
	return read(link_[0], &c, 1) == 0 ? 0 : 2;
}

int main(void)
{
	int code = in_child(kill_first);

	if (code == 1)
		CANNOT("pid namespaces", "no user namespaces");
	else
		CLAIM(code == 0,
		      "when pid 1 was waited for, every process of its namespace is dead");
	return 0;
}

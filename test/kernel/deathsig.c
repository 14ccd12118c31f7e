// SPDX-License-Identifier: Apache-2.0
#include <sys/prctl.h>

#include "claim.h"

static int link_[2];

/* A parent that is killed; its child in a new pid namespace asked to die with it. */
static _Noreturn void parent(void)
{
	if (!enter(CLONE_NEWPID))
		_exit(1);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (fork() == 0)
			for (;;)
				pause();
		if (write(link_[1], "x", 1) == 1)
			for (;;)
				pause();
	}
	for (;;)
		pause();
}

static int killed(void)
{
	pid_t pid;
	char c;

	if (pipe2(link_, O_CLOEXEC) < 0)
		return 1;
	pid = fork();
	if (pid == 0)
		parent();
	close(link_[1]);
	if (read(link_[0], &c, 1) != 1)
		return 1;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	alarm(5);
	return read(link_[0], &c, 1) == 0 ? 0
					  : 2; /* all are dead, or the alarm ends us */
}

int main(void)
{
	int code = in_child(killed);

	if (code == 1)
		CANNOT("death signals", "no user namespaces");
	else
		CLAIM(code == 0,
		      "when the process that holds pid 1 dies, the whole namespace does");
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include "claim.h"

#define LIMIT 20

/* How many children can be had below the limit, in a user namespace of our own. */
static int forks(void)
{
	struct rlimit r = { LIMIT, LIMIT };
	int n = 0;

	if (!enter(CLONE_NEWPID))
		return 100;
	if (fork() != 0) {
		int status;
		wait(&status);
		return WEXITSTATUS(status);
	}
	setrlimit(RLIMIT_NPROC, &r);
	for (pid_t pid; n < 90 && (pid = fork()) >= 0; n++) {
		if (pid == 0)
			for (;;)
				pause();
	}
	return n; /* pid 1 ends and takes them along */
}

int main(void)
{
	int n = in_child(forks);

	if (n == 100)
		CANNOT("process limits", "no user namespaces");
	else if (geteuid() == 0)
		CANNOT("RLIMIT_NPROC",
		       "it does not bind the machine's root; a cgroup does");
	else
		CLAIM(n >= LIMIT - 3 && n <= LIMIT,
		      "RLIMIT_NPROC counts the processes of this user namespace alone");
	return 0;
}

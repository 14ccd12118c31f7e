// SPDX-License-Identifier: Apache-2.0
#include "shim/nest.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/message.h"

/* The socket of the next shim; -1: the daemon is gone, or speaks nonsense. */
static int next_socket(void)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec part = { &byte, 1 };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof control };
	const struct cmsghdr *c;
	ssize_t n;
	int fd;

	do
		n = recvmsg(SHIM_FD, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n == 1 ? CMSG_FIRSTHDR(&m) : NULL;
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof fd))
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof fd);
	return fd;
}

/* A child of the daemon, not of ours: it is the daemon who waits for it, and our end is
 * nothing to it. */
static pid_t fork_for_daemon(void)
{
	return (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
}

void nest_serve(void)
{
	for (int fd; (fd = next_socket()) >= 0;) {
		pid_t pid = fork_for_daemon();
		int32_t answer = pid < 0 ? -errno : pid;

		if (pid == 0) {
			dup2(fd, SHIM_FD);
			close(fd);
			return;
		}
		close(fd);
		if (send(SHIM_FD, &answer, sizeof answer, MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

// SPDX-License-Identifier: Apache-2.0
#include "shim/note.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

int note_send(int wire, enum note_kind kind, int value, const char *text)
{
	struct note n = { .kind = kind, .value = value };

	if (text)
		snprintf(n.text, sizeof n.text, "%s", text);
	return send(wire, &n, sizeof n, MSG_NOSIGNAL) == sizeof n ? 0 : -1;
}

int note_send_fd(int wire, enum note_kind kind, int fd)
{
	struct note n = { .kind = kind };
	struct iovec part = { &n, sizeof n };
	union control c = { { 0 } };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &c,
			    .msg_controllen = sizeof c };
	struct cmsghdr *head = CMSG_FIRSTHDR(&m);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(head), &fd, sizeof fd);
	return sendmsg(wire, &m, MSG_NOSIGNAL) == sizeof n ? 0 : -1;
}

int note_recv(int wire, struct note *out, int *fd)
{
	struct iovec part = { out, sizeof *out };
	union control c;
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &c,
			    .msg_controllen = sizeof c };
	struct cmsghdr *head;
	ssize_t n;
	int got = -1;

	do
		n = recvmsg(wire, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return (int)n;
	head = CMSG_FIRSTHDR(&m);
	if (head && head->cmsg_type == SCM_RIGHTS)
		memcpy(&got, CMSG_DATA(head), sizeof got);
	if (fd)
		*fd = got;
	else if (got >= 0)
		close(got);
	out->text[sizeof out->text - 1] = 0;
	return n == sizeof *out ? 1 : -1;
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/connect.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"

#define CONNECT_MS 8000 /* of one address */

int connect_unix(const char *path, struct err *err)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof a.sun_path)
		return err_set(err, ERR_INVALID,
			       "the socket path %s is longer than %zu bytes", path,
			       sizeof a.sun_path - 1);
	memcpy(a.sun_path, path, strlen(path) + 1);
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
		return err_sys(err, "connect to %s", path);
	return TAKE_FD(fd);
}

/* 0, or errno. */
static int finish(int fd)
{
	struct pollfd p = { fd, POLLOUT, 0 };
	int rc, failed = 0;
	socklen_t len = sizeof failed;

	do
		rc = poll(&p, 1, CONNECT_MS);
	while (rc < 0 && errno == EINTR);
	if (rc == 0)
		return ETIMEDOUT;
	if (rc < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &len) < 0)
		return errno;
	return failed;
}

/* A descriptor that blocks again, or -1 with errno. */
static int connect_address(const struct addrinfo *a)
{
	AUTO_FD int fd =
		socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
		       a->ai_protocol);
	int on = 1;

	if (fd < 0)
		return -1;
	if (connect(fd, a->ai_addr, a->ai_addrlen) < 0) {
		int failed = errno == EINPROGRESS ? finish(fd) : errno;
		if (failed) {
			close(TAKE_FD(fd));
			errno = failed;
			return -1;
		}
	}
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
	return TAKE_FD(fd);
}

int connect_tcp(const char *host, int port, struct err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
	char service[8];
	int fd = -1;

	snprintf(service, sizeof service, "%d", port);
	int rc = getaddrinfo(host, service, &hints, &list);
	if (rc != 0)
		return err_set(err, ERR_IO, "connect to %s: %s", host, gai_strerror(rc));
	for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next)
		fd = connect_address(a);
	int failed = errno;
	freeaddrinfo(list);
	errno = failed;
	return fd < 0 ? err_sys(err, "connect to %s port %d", host, port) : fd;
}

// SPDX-License-Identifier: Apache-2.0
/* Calling somebody by TCP, without waiting for them. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "world/uv_impl.h"

union any_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* The length of what was filled; 0: no number of IPv4 or IPv6. */
static socklen_t read_address(const char *text, int port, union any_address *out)
{
	*out = (union any_address){ 0 };
	if (inet_pton(AF_INET, text, &out->v4.sin_addr) == 1) {
		out->v4.sin_family = AF_INET;
		out->v4.sin_port = htons((uint16_t)port);
		return sizeof out->v4;
	}
	if (inet_pton(AF_INET6, text, &out->v6.sin6_addr) == 1) {
		out->v6.sin6_family = AF_INET6;
		out->v6.sin6_port = htons((uint16_t)port);
		return sizeof out->v6;
	}
	return 0;
}

struct world_stream *uv_connect_tcp(struct world *w, const char *address, int port,
				    struct err *err)
{
	union any_address to;
	socklen_t len = read_address(address, port, &to);
	struct world_stream *s;
	int one = 1;

	if (!len || port < 1 || port > UINT16_MAX) {
		err_set(err, ERR_INVALID,
			"'%s' port %d is not an address of IPv4 or IPv6 and a port",
			address, port);
		return NULL;
	}
	AUTO_FD int fd =
		socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || (connect(fd, &to.any, len) < 0 && errno != EINPROGRESS)) {
		err_sys(err, "connect to %s port %d", address, port);
		return NULL;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	s = uv_stream_open(w, fd, err);
	if (!s)
		return NULL;
	TAKE_FD(fd);
	uv_stream_connecting(s);
	return s;
}

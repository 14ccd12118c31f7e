// SPDX-License-Identifier: Apache-2.0
#include "cli/link.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/tls_load.h"

#define WIRE_BYTES  (32u << 10)
#define HANDSHAKE_S 15

struct link {
	int fd;
	const struct tls_calls *calls; /* NULL: in the clear, as are the two below */
	struct tls_context *context;
	struct tls_session *tls;
};

void link_close(struct link *l)
{
	if (!l)
		return;
	if (l->calls) {
		l->calls->session_destroy(l->tls);
		l->calls->context_destroy(l->context);
	}
	close(l->fd);
	free(l);
}

int link_fd(const struct link *l)
{
	return l->fd;
}

static int send_all(int fd, const char *data, size_t len, struct err *err)
{
	while (len > 0) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "send to the daemon");
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* What the session has to say goes out. */
static int flush(struct link *l, struct err *err)
{
	char wire[WIRE_BYTES];
	size_t n;

	while ((n = l->calls->take(l->tls, wire, sizeof wire)) > 0)
		if (send_all(l->fd, wire, n, err) < 0)
			return -1;
	return 0;
}

static ssize_t receive(int fd, void *out, size_t max, struct err *err)
{
	for (;;) {
		ssize_t n = recv(fd, out, max, 0);
		if (n < 0 && errno == EINTR)
			continue;
		return n < 0 ? err_sys(err, "read from the daemon") : n;
	}
}

static int64_t now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static int wait_readable(int fd, int64_t until_s, struct err *err)
{
	struct pollfd p = { fd, POLLIN, 0 };

	for (;;) {
		int64_t left = until_s - now_s();
		int rc = poll(&p, 1, left > 0 ? (int)left * 1000 : 0);
		if (rc > 0)
			return 0;
		if (rc < 0 && errno == EINTR)
			continue;
		return rc < 0 ? err_sys(err, "wait for the daemon")
			      : err_set(err, ERR_TIMEOUT,
					"the TLS handshake took longer than %d s",
					HANDSHAKE_S);
	}
}

static int shake(struct link *l, struct err *err)
{
	int64_t until_s = now_s() + HANDSHAKE_S;
	char wire[WIRE_BYTES];

	while (l->calls->state(l->tls) == TLS_SHAKING) {
		if (flush(l, err) < 0 || wait_readable(l->fd, until_s, err) < 0)
			return -1;
		ssize_t n = receive(l->fd, wire, sizeof wire, err);
		if (n < 0)
			return -1;
		if (n == 0)
			return l->calls->eof(l->tls, err);
		if (l->calls->feed(l->tls, wire, (size_t)n, err) < 0) {
			flush(l, NULL); /* tells the other side why */
			return -1;
		}
	}
	return flush(l, err);
}

static int link_tls(struct link *l, const struct server *s, char **shown, struct err *err)
{
	const struct tls_trust trust = { .host = s->host, .pin = s->pin };

	l->calls = tls_load(err);
	l->context = l->calls ? l->calls->client_create(NULL, err) : NULL;
	l->tls = l->context ? l->calls->connect(l->context, &trust, err) : NULL;
	if (!l->tls)
		return -1;
	int rc = shake(l, err);
	if (rc < 0 && l->calls->untrusted(l->tls) && shown)
		*shown = mem_strdup(l->calls->peer_fingerprint(l->tls));
	return rc;
}

struct link *link_open(const struct server *s, char **shown, struct err *err)
{
	int fd = server_connect(s, err);

	if (fd < 0)
		return NULL;
	struct link *l = mem_alloc(1, sizeof *l);
	l->fd = fd;
	if (s->tls && link_tls(l, s, shown, err) < 0) {
		link_close(l);
		return NULL;
	}
	return l;
}

int link_send(struct link *l, const void *data, size_t len, struct err *err)
{
	const char *p = data;

	if (!l->tls)
		return send_all(l->fd, p, len, err);
	while (len > 0) {
		size_t n = len < LINK_ROOM ? len : LINK_ROOM;
		if (l->calls->write(l->tls, p, n, err) < 0 || flush(l, err) < 0)
			return -1;
		p += n;
		len -= n;
	}
	return 0;
}

static int drain(struct link *l, char *out, size_t max, size_t *got, struct err *err)
{
	ssize_t n = 0;

	while (*got < max &&
	       (n = l->calls->read(l->tls, out + *got, max - *got, err)) > 0)
		*got += (size_t)n;
	return n < 0 ? -1 : 0;
}

int link_fill(struct link *l, char *out, size_t max, size_t *got, bool *over,
	      struct err *err)
{
	char wire[WIRE_BYTES];

	*got = 0;
	if (!l->tls) {
		ssize_t n = receive(l->fd, out, max, err);
		if (n >= 0)
			*got = (size_t)n;
		*over = n == 0;
		return n < 0 ? -1 : 0;
	}
	/* A piece of the wire and what was not whole before it are less than LINK_ROOM. */
	ssize_t n = receive(l->fd, wire, sizeof wire, err);
	if (n < 0)
		return -1;
	*over = n == 0;
	if (n == 0)
		return l->calls->eof(l->tls, err);
	if (l->calls->feed(l->tls, wire, (size_t)n, err) < 0 ||
	    drain(l, out, max, got, err) < 0 || flush(l, err) < 0)
		return -1;
	*over = l->calls->state(l->tls) == TLS_ENDED;
	return 0;
}

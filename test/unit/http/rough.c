// SPDX-License-Identifier: Apache-2.0
/* Clients without manners: they go in the middle of anything, or say anything.  The
 * server lets each of them go, keeps nothing of them, and serves the next. */
#include "fixture.h"

#define ROUNDS 600

static uint64_t seed = 42;

static uint64_t dice(uint64_t sides)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % sides;
}

#define END_OF_HEAD "Host: x\r\n\r\n"
static const char *const said[] = {
	"GET /yard/v1/jobs HTTP/1.1\r\n" END_OF_HEAD,
	"GET /yard/v1/jobs/1 HTTP/1.1\r\n" END_OF_HEAD,
	"GET /yard/v1/jobs/1/wait HTTP/1.1\r\n" END_OF_HEAD,
	"GET /yard/v1/jobs/1/logs?follow=1 HTTP/1.1\r\n" END_OF_HEAD,
	"GET /yard/v1/jobs/1/logs?follow=1&format=frames&attempt=all HTTP/1.1\r\n" END_OF_HEAD,
	"GET /yard/v1/jobs/1/events HTTP/1.1\r\n" END_OF_HEAD,
	"POST /yard/v1/jobs HTTP/1.1\r\nContent-Length: 40\r\nHost: x\r\n\r\n" JOB,
	"POST /yard/v1/jobs HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: x\r\n\r\n9\r\nname: t\n\r\r\n0\r\n\r\n",
	"PUT /yard/v1/code/0123456789012345678901234567890123456789012345678901234567890123 HTTP/1.1\r\n"
	"Content-Length: 5000\r\nHost: x\r\n\r\nabc",
	"POST /yard/v1/jobs/1/exec?arg=sh&arg=a+b HTTP/1.1\r\nConnection: Upgrade\r\n"
	"Upgrade: yard-exec\r\nHost: x\r\n\r\nbytes",
	"GET /yard/v1/nodes HTTP/1.1\r\n" END_OF_HEAD
	"GET /yard/v1/jobs/1/why HTTP/1.1\r\n" END_OF_HEAD
	"GET /yard/v1/jobs/1/wait?timeout_ms=5 HTTP/1.1\r\n" END_OF_HEAD
	"GET /yard/v1/health HTTP/1.1\r\n" END_OF_HEAD,
	"\x16\x03\x01\x02\x01\x01\xfc\x03\x03",
	"SSH-2.0-OpenSSH_9.2\r\n",
};

static void one(const struct fixture *f)
{
	char bytes[1024], room[4096];
	const char *text = said[dice(COUNT_OF(said))];
	size_t len = strlen(text), cut = dice(3) ? len : dice(len + 1);
	int fd = dial(f);

	memcpy(bytes, text, len);
	if (dice(4) == 0)
		bytes[dice(len)] = (char)dice(256);
	for (size_t at = 0; at < cut;) {
		size_t n = dice(2) ? cut - at : 1 + dice(cut - at);
		if (send(fd, bytes + at, n, MSG_NOSIGNAL) < 0)
			break;
		at += n;
	}
	if (dice(3) == 0)
		usleep((useconds_t)dice(3000));
	if (dice(4) == 0)
		shutdown(fd, SHUT_WR);
	if (dice(3) == 0 && recv(fd, room, sizeof room, MSG_DONTWAIT) < 0)
		usleep(100);
	close(fd);
	if (f->shim > 0 && dice(2)) {
		int shim = f->shim;
		((struct fixture *)(uintptr_t)f)->shim = 0;
		close(shim);
	}
}

int main(void)
{
	struct fixture f = { .run_ms_max = 1000000000 };
	struct answer a = { 0 };

	fixture_start(&f);
	struct client c = client_open(&f);
	ask(&c, &a, "POST", "/jobs", JOB);
	for (int i = 0; i < 500 && !strstr(buf_str(&a.body), "\"running\"");
	     i++, usleep(10000))
		ask(&c, &a, "GET", "/jobs/1", NULL);
	for (int i = 0; i < ROUNDS; i++)
		one(&f);
	ask(&c, &a, "GET", "/health", NULL);
	OK(a.status == 200, "after %d clients without manners it serves", ROUNDS);
	for (int i = 0; i < 1000 && http_server_connections(f.http) > 1; i++)
		usleep(10000);
	OK(http_server_connections(f.http) == 1,
	   "and nothing is left of them (%zu connections)",
	   http_server_connections(f.http));
	ask(&c, &a, "POST", "/jobs/1/stop", NULL);
	ask(&c, &a, "GET", "/jobs/1/wait", NULL);
	OK(a.status == 200 && has(&a, "\"ended\""), "and work goes on");
	client_close(&c);
	buf_fini(&a.body);
	fixture_end(&f);
	return END();
}

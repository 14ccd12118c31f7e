// SPDX-License-Identifier: Apache-2.0
/* The connection that becomes a pipe: both ways, under pressure, and how it ends. */
#include <fcntl.h>

#include "fixture.h"

#define MUCH (8u << 20)

static const char upgrade[] =
	"POST /yard/v1/jobs/1/exec?task=0&arg=sh&arg=a+b HTTP/1.1\r\nHost: x\r\n"
	"Connection: Upgrade\r\nUpgrade: yard-exec\r\n\r\n";

static bool read_exactly(int fd, char *out, size_t len)
{
	while (len) {
		ssize_t n = recv(fd, out, len, 0);
		if (n <= 0)
			return false;
		out += n;
		len -= (size_t)n;
	}
	return true;
}

static bool gets(int fd, const char *want)
{
	char got[64] = "";

	return read_exactly(fd, got, strlen(want)) && strcmp(got, want) == 0;
}

static bool at_end(int fd)
{
	char c;

	return recv(fd, &c, 1, 0) == 0;
}

/* The head of the 101; nothing behind it is taken. */
static int switched(int fd)
{
	char head[512] = "";

	for (size_t n = 0; n < sizeof head - 1 && !strstr(head, "\r\n\r\n"); n++)
		if (recv(fd, head + n, 1, 0) != 1)
			break;
	return str_starts(head, "HTTP/1.1 101 ") && strstr(head, "Upgrade: yard-exec");
}

static void talks(const struct fixture *f)
{
	int fd = dial(f);

	say(fd, upgrade);
	say(fd, "early"); /* without waiting for the answer */
	OK(switched(fd), "the connection is switched");
	int shim = f->shim;
	OK(gets(shim, "early"), "what came with the request reaches the task");
	say(shim, "hello");
	OK(gets(fd, "hello"), "what the task says reaches the client");
	say(fd, "more");
	OK(gets(shim, "more"), "and the other way");
	say(shim, "bye");
	close(shim);
	OK(gets(fd, "bye") && at_end(fd),
	   "the end of the command is the end of the connection, after its last words");
	close(fd);
}

static void departs(const struct fixture *f)
{
	int fd = dial(f);

	say(fd, upgrade);
	switched(fd);
	close(fd);
	OK(at_end(f->shim), "a client that goes is told to the task");
	close(f->shim);
}

/* One side writes MUCH, the other reads nothing for a while: it must come to a halt
 * (nobody keeps it all), and then come through whole. */
static void presses(int from, int to, const char *law)
{
	static char data[65536], back[65536];
	size_t sent = 0, stuck = 0, got = 0, wrong = 0;

	fcntl(from, F_SETFL, O_NONBLOCK);
	while (sent < MUCH && stuck < 30) {
		memset(data, 'a' + (int)(sent >> 16) % 26, sizeof data);
		size_t want = 65536 - sent % 65536;
		ssize_t n = send(from, data, want, MSG_NOSIGNAL);
		if (n > 0)
			sent += (size_t)n;
		stuck = n > 0 ? 0 : stuck + 1;
		if (n <= 0)
			usleep(10000);
	}
	OK(sent > 0 && sent < MUCH / 2, "%s: the writer is held up (after %zu bytes)",
	   law, sent);
	while (got < sent) {
		ssize_t n = recv(to, back, sizeof back, 0);
		if (n <= 0)
			break;
		for (ssize_t i = 0; i < n; i++)
			wrong += back[i] != 'a' + (int)((got + (size_t)i) >> 16) % 26;
		got += (size_t)n;
	}
	OK(got == sent && wrong == 0, "%s: and loses nothing", law);
	fcntl(from, F_SETFL, 0);
	say(from, "on");
	OK(gets(to, "on"), "%s: and goes on", law);
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
	talks(&f);
	departs(&f);

	int fd = dial(&f);
	say(fd, upgrade);
	OK(switched(fd), "once more");
	presses(f.shim, fd, "from the task");
	presses(fd, f.shim, "to the task");
	close(f.shim);
	OK(at_end(fd), "and an end");
	close(fd);

	ask_with(&c, &a, "POST", "/jobs/1/exec",
		 "Connection: Upgrade\r\nUpgrade: yard-exec\r\n", NULL);
	OK(a.status == 400 && has(&a, "arg"), "exec without a command is refused");
	ask_with(&c, &a, "POST", "/jobs/1/exec?arg=x&task=5",
		 "Connection: Upgrade\r\nUpgrade: yard-exec\r\n", NULL);
	OK(a.status == 404, "so is a task that is not there");
	client_close(&c);
	buf_fini(&a.body);
	fixture_end(&f);
	return END();
}

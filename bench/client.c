// SPDX-License-Identifier: Apache-2.0
/* client - asks a yard for work over its unix socket, and times the answers.
 *
 *   client SOCKET noop COUNT FLIGHT     no-op jobs, FLIGHT at a time: submit, wait for its end; jobs/s
 *   client SOCKET submit COUNT FLIGHT ID  jobs that wait for job ID: durable submits/s
 *   client SOCKET first COUNT [INPUT]   submit to the first line of its log: p50 and p95 in us
 *   client SOCKET turn COUNT            one slot: from line to line of jobs in a row: p50 in us
 *   client SOCKET get PATH COUNT        one request after the other: p50 and p95 in us
 *   client SOCKET flood MIB file|follow a task that writes so much: MiB/s to the file, or to us
 *   client SOCKET run COMMAND           a job in the background: its id
 *
 * Keep-alive connections; a submit is answered when it is on disk, so every figure is of
 * durable jobs.  Memory asked for is small, so that slots are not what is measured.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "codec/http.h"

#define FLIGHT_MAX 256
#define API        "/yard/v1"
#define READ_BYTES (256 << 10)

static const char *socket_path;

struct conn {
	int fd;
	struct http_parser *parser;
	struct buf body;           /* of the answer, unless drain */
	bool drain;                /* count it only */
	int64_t drained, first_us; /* first_us: when the first byte of the body came */
	int64_t job;               /* 0: submitting */
};

__attribute__((format(printf, 1, 2))) static _Noreturn void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("client: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void conn_open(struct conn *c)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	*c = (struct conn){ .fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	if (strlen(socket_path) >= sizeof at.sun_path)
		die("the socket's path is too long");
	memcpy(at.sun_path, socket_path, strlen(socket_path));
	if (connect(c->fd, (struct sockaddr *)&at, sizeof at) < 0)
		die("%s: %s", socket_path, strerror(errno));
	c->parser = http_parser_create(HTTP_RESPONSES);
}

static void conn_close(struct conn *c)
{
	close(c->fd);
	http_parser_destroy(c->parser);
	buf_fini(&c->body);
}

static void send_request(struct conn *c, const char *method, const char *target,
			 const char *body)
{
	AUTO_BUF struct buf out = { 0 };

	http_write_request(&out, method, target, "yard");
	if (body) {
		http_write_header(&out, "Content-Type", "application/json");
		http_write_length(&out, strlen(body));
	}
	http_write_head_end(&out);
	if (body)
		buf_adds(&out, body);
	if (write(c->fd, out.data, out.len) != (ssize_t)out.len)
		die("write: %s", strerror(errno));
	buf_clear(&c->body);
	c->drained = c->first_us = 0;
}

/* Takes what is there; true when the answer is whole. */
static bool receive(struct conn *c)
{
	static char data[READ_BYTES];
	ssize_t n = read(c->fd, data, sizeof data);
	const char *at = data;
	size_t len = (size_t)n;
	struct http_piece piece;
	struct err err = { 0 };

	if (n <= 0)
		die("the yard closed the connection");
	for (;;) {
		switch (http_parser_next(c->parser, &at, &len, &piece, &err)) {
		case HTTP_ITEM_MORE:
			return false;
		case HTTP_ITEM_HEAD:
			http_parser_body_max(c->parser, INT64_MAX);
			break;
		case HTTP_ITEM_DATA:
			if (!c->first_us)
				c->first_us = now_us();
			c->drained += (int64_t)piece.len;
			if (!c->drain)
				buf_add(&c->body, piece.data, piece.len);
			break;
		case HTTP_ITEM_END:
			return true;
		case HTTP_ITEM_FAILED:
			die("answer: %s", err.text);
		}
	}
}

static void ask(struct conn *c, const char *method, const char *target, const char *body)
{
	send_request(c, method, target, body);
	while (!receive(c))
		;
	if (http_parser_head(c->parser)->status >= 400)
		die("%s %s: %s", method, target, buf_str(&c->body));
}

static int64_t id_of(const struct conn *c)
{
	const char *at = strstr(buf_str(&c->body), "\"id\":");

	if (!at)
		die("no id in: %s", buf_str(&c->body));
	return strtoll(at + strlen("\"id\":"), NULL, 10);
}

static int64_t submit(struct conn *c, const char *job)
{
	ask(c, "POST", API "/jobs", job);
	return id_of(c);
}

static void ask_wait(struct conn *c, int64_t job)
{
	AUTO_FREE char *target =
		str_printf(API "/jobs/%" PRId64 "/wait?timeout_ms=60000", job);

	send_request(c, "GET", target, NULL);
}

static void wait_for(struct conn *c, int64_t job)
{
	ask_wait(c, job);
	while (!receive(c))
		;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void print_percentiles(int64_t *us, size_t count)
{
	qsort(us, count, sizeof *us, compare);
	printf("%" PRId64 " %" PRId64 "\n", us[count / 2], us[count * 95 / 100]);
}

/* Many at a time: each connection submits, waits for the end (unless `after`), and again. */
static void many(int64_t count, size_t flight, int64_t after)
{
	static struct conn conns[FLIGHT_MAX];
	struct pollfd fds[FLIGHT_MAX];
	AUTO_BUF struct buf job = { 0 };
	int64_t sent = 0, done = 0, from;

	buf_adds(
		&job,
		"{\"command\":[\"true\"],\"resources\":{\"cpu\":\"0.1\",\"memory\":\"16Mi\"}");
	if (after)
		buf_printf(&job, ",\"after\":[%" PRId64 "]", after);
	buf_addc(&job, '}');
	for (size_t i = 0; i < flight; i++) {
		conn_open(&conns[i]);
		fds[i] = (struct pollfd){ conns[i].fd, POLLIN, 0 };
	}
	from = now_us();
	for (size_t i = 0; i < flight && sent < count; i++, sent++)
		send_request(&conns[i], "POST", API "/jobs", buf_str(&job));
	while (done < count && poll(fds, flight, 120000) > 0) {
		for (size_t i = 0; i < flight; i++) {
			struct conn *c = &conns[i];
			if (!fds[i].revents || !receive(c))
				continue;
			if (http_parser_head(c->parser)->status >= 400)
				die("%s", buf_str(&c->body));
			if (!c->job && !after) {
				c->job = id_of(c);
				ask_wait(c, c->job);
				continue;
			}
			if (!after &&
			    !strstr(buf_str(&c->body), "\"outcome\":\"succeeded\""))
				die("a job did not succeed: %s", buf_str(&c->body));
			c->job = 0;
			done++;
			if (sent++ < count)
				send_request(c, "POST", API "/jobs", buf_str(&job));
		}
	}
	if (done < count)
		die("only %" PRId64 " of %" PRId64 " came back", done, count);
	printf("%" PRId64 "\n", count * 1000000 / (now_us() - from));
	for (size_t i = 0; i < flight; i++)
		conn_close(&conns[i]);
}

static void first_line(struct conn *c, size_t count, const char *input)
{
	AUTO_BUF struct buf job = { 0 };
	AUTO_FREE int64_t *us = mem_alloc(count, sizeof *us);
	struct timespec pause = { 0, 20000000 };

	buf_adds(&job, "{\"command\":[\"echo\",\"hi\"]");
	if (input)
		buf_printf(&job, ",\"inputs\":{\"data\":\"%s\"}", input);
	buf_addc(&job, '}');
	for (size_t i = 0; i < count; i++) {
		int64_t from = now_us(), id;
		id = submit(c, buf_str(&job));
		AUTO_FREE char *target =
			str_printf(API "/jobs/%" PRId64 "/logs?follow=1", id);
		ask(c, "GET", target, NULL);
		us[i] = c->first_us - from;
		if (strcmp(buf_str(&c->body), "hi\n") != 0)
			die("the log says: %s", buf_str(&c->body));
		wait_for(c, id);
		nanosleep(&pause, NULL); /* an idle yard */
	}
	print_percentiles(us, count);
}

/* Jobs that each want the whole machine print the time; what lies between two lines is
 * the end of one, its release, and the start of the next. */
static void turn_around(struct conn *c, size_t count)
{
	AUTO_FREE int64_t *ids = mem_alloc(count, sizeof *ids),
			  *us = mem_alloc(count, sizeof *us);
	int64_t last = 0;
	AUTO_BUF struct buf job = { 0 };

	ask(c, "GET", API "/nodes", NULL);
	const char *cpu = strstr(buf_str(&c->body), "\"cpu_milli\":");
	buf_printf(
		&job,
		"{\"command\":[\"date\",\"+%%s%%N\"],\"resources\":{\"memory\":\"16Mi\",\"cpu\":\"%lldm\"}}",
		cpu ? strtoll(cpu + strlen("\"cpu_milli\":"), NULL, 10) : 1000);
	for (size_t i = 0; i < count; i++)
		ids[i] = submit(c, buf_str(&job));
	for (size_t i = 0; i < count; i++) {
		AUTO_FREE char *target =
			str_printf(API "/jobs/%" PRId64 "/logs?follow=1", ids[i]);
		ask(c, "GET", target, NULL);
		int64_t at = strtoll(buf_str(&c->body), NULL, 10) / 1000;
		us[i] = at - last;
		last = at;
	}
	print_percentiles(us + 1, count - 1);
}

static void get(struct conn *c, const char *path, size_t count)
{
	AUTO_FREE int64_t *us = mem_alloc(count, sizeof *us);

	for (size_t i = 0; i < count; i++) {
		int64_t from = now_us();
		ask(c, "GET", path, NULL);
		us[i] = now_us() - from;
	}
	print_percentiles(us, count);
}

/* The clock runs from the first byte to the end, so that the start does not count. */
static void flood(struct conn *c, int64_t mib, bool follow)
{
	AUTO_FREE char *job =
		str_printf("{\"command\":\"head -c %" PRId64 "M /dev/zero\","
			   "\"resources\":{\"cpu\":\"1\",\"memory\":\"256Mi\"}}",
			   mib);
	int64_t from = now_us(), id = submit(c, job);
	AUTO_FREE char *logs = str_printf(API "/jobs/%" PRId64 "/logs?follow=1", id);

	if (!follow) {
		wait_for(c, id);
		printf("%" PRId64 "\n", mib * 1000000 / (now_us() - from));
		return;
	}
	c->drain = true;
	ask(c, "GET", logs, NULL);
	if (c->drained != mib << 20)
		die("%" PRId64 " bytes of %" PRId64, c->drained, mib << 20);
	printf("%" PRId64 "\n", mib * 1000000 / (now_us() - c->first_us));
}

int main(int argc, char **argv)
{
	struct conn c;
	const char *what = argc > 3 ? argv[2] : "";
	int64_t count = argc > 3 ? strtoll(argv[3], NULL, 10) : 0;
	size_t flight = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;

	if (argc < 4)
		die("SOCKET noop|submit|first|turn|get|flood|run ...");
	socket_path = argv[1];
	conn_open(&c);
	if (str_eq(what, "noop"))
		many(count, flight < FLIGHT_MAX ? flight : FLIGHT_MAX, 0);
	else if (str_eq(what, "submit") && argc == 6)
		many(count, flight < FLIGHT_MAX ? flight : FLIGHT_MAX,
		     strtoll(argv[5], NULL, 10));
	else if (str_eq(what, "first"))
		first_line(&c, (size_t)count, argc > 4 ? argv[4] : NULL);
	else if (str_eq(what, "turn"))
		turn_around(&c, (size_t)count);
	else if (str_eq(what, "get") && argc == 5)
		get(&c, argv[3], strtoull(argv[4], NULL, 10));
	else if (str_eq(what, "flood") && argc == 5)
		flood(&c, count, str_eq(argv[4], "follow"));
	else if (str_eq(what, "run")) {
		AUTO_FREE char *job =
			str_printf("{\"command\":\"%s\",\"resources\":{\"cpu\":\"0.1\","
				   "\"memory\":\"16Mi\"}}",
				   argv[3]);
		printf("%" PRId64 "\n", submit(&c, job));
	} else
		die("what is '%s'?", what);
	conn_close(&c);
	return 0;
}

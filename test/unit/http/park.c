// SPDX-License-Identifier: Apache-2.0
/* Clients that wait: long polls, followers, slow readers, departures. */
#include "base/logframe.h"
#include "fixture.h"
#include "wire/api.h"

#define FOLLOWERS 500

static void submit(struct client *c)
{
	struct answer a = { 0 };

	ask(c, &a, "POST", "/jobs", JOB);
	if (a.status != 201)
		printf("Bail out! submit: %d %s\n", a.status, buf_str(&a.body));
	buf_fini(&a.body);
}

/* As the shim writes it: one record at the end of the attempt's first segment. */
static void write_log(const struct fixture *f, int job, const char *data, size_t len)
{
	struct logframe frame = { .stream = LOG_STDOUT,
				  .len = (uint32_t)len,
				  .time_us = 1 };
	uint8_t head[LOGFRAME_BYTES];
	char path[256], command[320];

	snprintf(path, sizeof path, "%s/jobs/0/%d/task-0/attempt-1", f->dir, job);
	snprintf(command, sizeof command, "mkdir -p '%s'", path);
	if (access(path, F_OK) < 0 && system(command) != 0)
		exit(1);
	strcat(path, "/log.00000000000000000000");
	FILE *file = fopen(path, "ae");
	logframe_write(&frame, head);
	fwrite(head, 1, sizeof head, file);
	fwrite(data, 1, len, file);
	fclose(file);
}

static void wait_running(struct client *c, int job)
{
	struct answer a = { 0 };
	char target[32];

	snprintf(target, sizeof target, "/jobs/%d", job);
	for (int i = 0; i < 500; i++, usleep(10000)) {
		ask(c, &a, "GET", target, NULL);
		if (strstr(buf_str(&a.body), "\"state\":\"running\""))
			break;
	}
	OK(has(&a, "\"state\":\"running\""), "job %d runs", job);
	buf_fini(&a.body);
}

static bool connections_become(const struct fixture *f, size_t want)
{
	for (int i = 0; i < 300 && http_server_connections(f->http) != want; i++)
		usleep(10000);
	if (http_server_connections(f->http) != want)
		printf("# %zu connections, want %zu\n", http_server_connections(f->http),
		       want);
	return http_server_connections(f->http) == want;
}

static void polls(const struct fixture *f, struct client *c)
{
	struct answer a = { 0 };
	int64_t begin = now_ms();

	ask(c, &a, "GET", "/jobs/1/wait?timeout_ms=300", NULL);
	OK(a.status == 202 && now_ms() - begin >= 290,
	   "a wait that runs out is 202, not before its time");
	ask(c, &a, "GET", "/jobs/1/wait?timeout_ms=0", NULL);
	OK(a.status == 202, "no time at all is an answer at once");

	struct client gone = client_open(f);
	say(gone.fd, "GET /yard/v1/jobs/1/wait HTTP/1.1\r\nHost: x\r\n\r\n");
	OK(connections_become(f, 2), "a waiting client is a connection");
	begin = now_ms();
	client_close(&gone);
	OK(connections_become(f, 1) && now_ms() - begin < 1000,
	   "that it has gone is seen at once");
	buf_fini(&a.body);
}

static void follows(const struct fixture *f, struct client *c)
{
	struct client text = client_open(f), frames = client_open(f),
		      rest = client_open(f);
	struct answer a = { 0 }, b = { 0 }, s = { 0 };
	struct wire_log_head head;

	say(text.fd, "GET /yard/v1/jobs/1/logs?follow=1 HTTP/1.1\r\nHost: x\r\n\r\n");
	say(frames.fd,
	    "GET /yard/v1/jobs/1/logs?follow=1&format=frames HTTP/1.1\r\nHost: x\r\n\r\n");
	usleep(50000);
	write_log(f, 1, "one\n", 4);
	client_read(&text, &a, 4);
	IS(buf_str(&a.body), "one\n", "a follower gets a line when it is written");
	write_log(f, 1, "two\n", 4);
	client_read(&text, &a, 8);
	IS(buf_str(&a.body), "one\ntwo\n", "and the next");
	client_read(&frames, &b, 2 * (16 + 16 + 4));
	wire_log_head_read((const uint8_t *)b.body.data, &head);
	OK(head.rank == 0 && head.attempt == 1 && head.offset == 20 &&
		   memcmp(b.body.data + 32, "one\n", 4) == 0,
	   "in frames each record says whose it is and where to go on");

	say(rest.fd, "GET /yard/v1/jobs/1/logs?from=0:1:20 HTTP/1.1\r\nHost: x\r\n\r\n");
	client_read(&rest, &s, 0);
	OK(s.whole && strcmp(buf_str(&s.body), "two\n") == 0,
	   "a reader goes on where it broke off");
	buf_clear(&s.body);
	say(rest.fd, "GET /yard/v1/jobs/1/logs?tail=1 HTTP/1.1\r\nHost: x\r\n\r\n");
	client_read(&rest, &s, 0);
	OK(s.whole && strcmp(buf_str(&s.body), "two\n") == 0, "the last line only");
	buf_clear(&s.body);
	say(rest.fd, "GET /yard/v1/jobs/1/logs?task=7 HTTP/1.1\r\nHost: x\r\n\r\n");
	client_read(&rest, &s, 0);
	OK(s.status == 400 && has(&s, "task: '7'"),
	   "a task that is not there is told by its name");

	ask(c, &s, "POST", "/jobs/1/stop", "{\"reason\": \"enough\"}");
	OK(s.status == 200, "the job is stopped");
	write_log(f, 1, "last\n", 5);
	OK(client_read(&text, &a, 0) && a.whole &&
		   strcmp(buf_str(&a.body), "one\ntwo\nlast\n") == 0,
	   "a follower gets the last words, then the end");
	OK(client_read(&frames, &b, 0) && b.whole, "in frames too");
	ask(c, &s, "GET", "/jobs/1/wait", NULL);
	OK(s.status == 200 && has(&s, "\"outcome\":\"stopped\"") && has(&s, "enough"),
	   "who stopped it and why is told");
	client_close(&text);
	client_close(&frames);
	client_close(&rest);
	buf_fini(&a.body);
	buf_fini(&b.body);
	buf_fini(&s.body);
}

/* A reader that does not read holds up nobody, and loses nothing. */
static void slow(const struct fixture *f, struct client *c)
{
	static char data[200000];
	struct client reader = client_open(f);
	struct answer a = { 0 }, h = { 0 };
	size_t total = 0;

	submit(c);
	wait_running(c, 2);
	memset(data, 'x', sizeof data);
	for (int i = 0; i < 150; i++, total += sizeof data)
		write_log(f, 2, data, sizeof data);
	say(reader.fd, "GET /yard/v1/jobs/2/logs?follow=1 HTTP/1.1\r\nHost: x\r\n\r\n");
	usleep(200000);
	int64_t begin = now_ms();
	for (int i = 0; i < 20; i++)
		ask(c, &h, "GET", "/health", NULL);
	OK(h.status == 200 && now_ms() - begin < 1000,
	   "others are answered beside a reader that does not read");
	client_read(&reader, &a, total);
	printf("# %zu of %zu bytes\n", a.body.len, total);
	OK(a.body.len == total && strspn(a.body.data, "x") == total,
	   "all %zu bytes are there when it does", total);
	ask(c, &h, "POST", "/jobs/2/stop", NULL);
	OK(client_read(&reader, &a, 0) && a.whole, "and the end is an end");

	size_t before = http_server_connections(f->http);
	struct client dead = client_open(f);
	say(dead.fd, "GET /yard/v1/jobs/2/logs HTTP/1.1\r\nHost: x\r\n\r\n");
	connections_become(f, before + 1);
	usleep(100000);
	client_close(&dead);
	OK(connections_become(f, before), "a slow reader that goes is let go");
	client_close(&reader);
	buf_fini(&a.body);
	buf_fini(&h.body);
}

static void crowd(const struct fixture *f, struct client *c)
{
	static struct client clients[FOLLOWERS];
	struct answer h = { 0 };
	int right = 0;

	submit(c);
	wait_running(c, 3);
	for (int i = 0; i < FOLLOWERS; i++) {
		clients[i] = client_open(f);
		say(clients[i].fd,
		    "GET /yard/v1/jobs/3/logs?follow=1 HTTP/1.1\r\nHost: x\r\n\r\n");
	}
	OK(connections_become(f, FOLLOWERS + 1), "%d followers are parked", FOLLOWERS);
	for (int i = 0; i < 100; i++) {
		client_close(&clients[i]);
		clients[i] = client_open(f);
		say(clients[i].fd,
		    "GET /yard/v1/jobs/3/wait HTTP/1.1\r\nHost: x\r\n\r\n");
	}
	OK(connections_become(f, FOLLOWERS + 1), "a hundred of them go and others come");
	int64_t begin = now_ms();
	ask(c, &h, "GET", "/health", NULL);
	OK(now_ms() - begin < 500, "an answer beside them is quick");
	write_log(f, 3, "to all\n", 7);
	ask(c, &h, "POST", "/jobs/3/stop", NULL);
	for (int i = 0; i < FOLLOWERS; i++) {
		struct answer a = { 0 };
		bool whole =
			client_read(&clients[i], &a, 0) && a.whole && a.status == 200;
		right += whole && (i < 100 ? strstr(buf_str(&a.body), "\"ended\"") != NULL
					   : strcmp(buf_str(&a.body), "to all\n") == 0);
		buf_fini(&a.body);
		client_close(&clients[i]);
	}
	OK(right == FOLLOWERS, "every one of them hears the line and the end (%d)",
	   right);
	OK(connections_become(f, 1), "and all are let go");
	buf_fini(&h.body);
}

static void timeouts(const struct fixture *f)
{
	struct client slow_head = client_open(f), idle = client_open(f);
	struct answer a = { 0 };

	say(slow_head.fd, "GET /yard/v1/health HTTP/1.1\r\nHo");
	client_read(&slow_head, &a, 0);
	OK(a.status == 408, "a head that does not come to its end is 408");
	OK(!client_read(&idle, &a, 0), "a connection that says nothing is closed");
	client_close(&slow_head);
	client_close(&idle);
	buf_fini(&a.body);
}

int main(void)
{
	struct fixture f = { .run_ms_max = 1000000000 };
	fixture_start(&f);
	struct client c = client_open(&f);

	submit(&c);
	wait_running(&c, 1);
	polls(&f, &c);
	follows(&f, &c);
	slow(&f, &c);
	crowd(&f, &c);
	client_close(&c);
	fixture_end(&f);

	struct fixture hasty = { .run_ms_max = 20, .head_ms = 200, .idle_ms = 300 };
	fixture_start(&hasty);
	timeouts(&hasty);
	fixture_end(&hasty);
	return END();
}

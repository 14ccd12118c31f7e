// SPDX-License-Identifier: Apache-2.0
/* Followers of events, who come, go, sleep and come back while things happen: each is told
 * everything from where it began, in order, once. */
#include "fixture.h"

#define FOLLOWERS 24
#define JOBS      120

struct follower {
	int fd;
	struct buf text;
	size_t read; /* of text, line by line */
	int64_t first, last, wrong;
	bool asleep;
};

static void follow(const struct fixture *f, struct follower *w, int64_t from)
{
	char head[256];

	w->fd = dial(f);
	w->read = 0;
	buf_clear(&w->text);
	snprintf(
		head, sizeof head,
		from ? "GET /yard/v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n"
		       "Last-Event-ID: %lld\r\n\r\n"
		     : "GET /yard/v1/events?follow=1&from=0 HTTP/1.1\r\nHost: x\r\n\r\n",
		(long long)from);
	say(w->fd, head);
}

/* A piece holds whole events, so that no line is cut by the frame of a chunk. */
static void take_lines(struct follower *w)
{
	char *line, *end;

	while ((line = w->text.data + w->read, w->text.len > w->read) &&
	       (end = memchr(line, '\n', w->text.len - w->read))) {
		w->read = (size_t)(end - w->text.data) + 1;
		if (strncmp(line, "id: ", 4) != 0)
			continue;
		int64_t seq = atoll(line + 4);
		w->wrong += w->last && seq != w->last + 1;
		w->first = w->first ? w->first : seq;
		w->last = seq;
	}
}

static void hear(struct follower *w)
{
	char chunk[65536];
	ssize_t n;

	while (!w->asleep && w->fd >= 0 &&
	       (n = recv(w->fd, chunk, sizeof chunk, MSG_DONTWAIT)) > 0) {
		buf_add(&w->text, chunk, (size_t)n);
		take_lines(w);
	}
}

/* Gone in the middle of it, perhaps of an event; back with the last one that was whole. */
static void break_off(const struct fixture *f, struct follower *w)
{
	hear(w);
	close(w->fd);
	follow(f, w, w->last);
}

static int64_t last_seq(struct client *c)
{
	struct answer a = { 0 };
	int64_t next;

	for (next = 0;;) {
		char target[64];
		const char *at;
		snprintf(target, sizeof target, "/events?from=%lld", (long long)next);
		ask(c, &a, "GET", target, NULL);
		at = strstr(buf_str(&a.body), "],\"next\":");
		int64_t then = at ? atoll(at + 9) : next;
		if (then == next)
			break;
		next = then;
	}
	buf_fini(&a.body);
	return next - 1;
}

static bool quiet(struct client *c)
{
	struct answer a = { 0 };
	bool none;

	ask(c, &a, "GET", "/jobs?state=live&limit=1", NULL);
	none = strstr(buf_str(&a.body), "\"jobs\":[]") != NULL;
	buf_fini(&a.body);
	return none;
}

static void everything(const struct fixture *f, struct client *c, struct follower *w)
{
	struct answer a = { 0 };
	int64_t wrong = 0, behind = 0, last;

	for (int i = 0; i < JOBS; i++) {
		struct follower *one = &w[i % FOLLOWERS];
		ask(c, &a, "POST", "/jobs", JOB);
		if (i < FOLLOWERS)
			follow(f, one, 0);
		else if (i % 7 == 0 && one->last && !one->asleep)
			break_off(f, one);
		one->asleep = i % FOLLOWERS < 3; /* reads nothing until all is over */
		for (int k = 0; k < FOLLOWERS; k++)
			hear(&w[k]);
	}
	for (int i = 0; i < 6000 && !quiet(c); i++)
		usleep(10000);
	last = last_seq(c);
	for (int i = 0; i < 6000; i++, usleep(10000)) {
		behind = 0;
		for (int k = 0; k < FOLLOWERS; k++) {
			w[k].asleep = false;
			hear(&w[k]);
			behind += w[k].last < last;
		}
		if (!behind)
			break;
	}
	for (int k = 0; k < FOLLOWERS; k++)
		wrong += w[k].wrong + (w[k].first != 1) + (w[k].last != last);
	OK(last > JOBS * 5, "much happened (%lld events)", (long long)last);
	OK(wrong == 0 && behind == 0,
	   "%d followers, slow ones and such as broke off, were told each of it once",
	   FOLLOWERS);
	buf_fini(&a.body);
}

static void of_one_job(struct client *c)
{
	struct answer a = { 0 };

	ask(c, &a, "GET", "/jobs/1/events?follow=1", NULL);
	OK(a.status == 200 && has(&a, "event: submitted\n") && has(&a, "event: ended\n"),
	   "a job's stream has its history and ends with it");
	ask(c, &a, "GET", "/events?follow=2", NULL);
	OK(a.status == 400, "follow is yes or no");
	buf_fini(&a.body);
}

int main(void)
{
	struct fixture f = { .run_ms_max = 20 };
	struct follower *w = mem_alloc(FOLLOWERS, sizeof *w);

	fixture_start(&f);
	struct client c = client_open(&f);
	everything(&f, &c, w);
	of_one_job(&c);
	for (int k = 0; k < FOLLOWERS; k++) {
		close(w[k].fd);
		buf_fini(&w[k].text);
	}
	free(w);
	client_close(&c);
	fixture_end(&f);
	return END();
}

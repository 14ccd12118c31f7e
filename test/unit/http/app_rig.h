// SPDX-License-Identifier: Apache-2.0
/* app_rig.h - an app whose program is the test itself: it listens where the task would. */
#pragma once

#include "fixture.h"

#include <poll.h>

#include "base/doc.h"

#define APP_JOB(labels)                                                                  \
	"name: a\nlabels: {" labels "}\nroles:\n- name: main\n  command: [\"true\"]\n"   \
	"  ports: [app]\n"

struct rig_app {
	int64_t id;
	char address[32];
	int port;
	int listener;     /* the program's; -1: it does not listen */
	char cookie[512]; /* "Cookie: yard-app=..." of who made it */
};

static inline int rig_listen(const struct rig_app *a)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)a->port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	inet_pton(AF_INET, a->address, &at.sin_addr);
	if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 64) < 0) {
		printf("Bail out! %s port %d: %s\n", a->address, a->port,
		       strerror(errno));
		exit(1);
	}
	return fd;
}

/* Where the task of a shown job was put. */
static inline void rig_where(struct rig_app *a, const struct answer *shown)
{
	AUTO_DOC struct doc *job =
		doc_parse_json(shown->body.data, shown->body.len, NULL);
	const struct doc_node *task = job ? doc_get(doc_root(job), "tasks")->first : NULL;
	const struct doc_node *port = task ? doc_get(task, "ports") : NULL;

	if (!port || !port->first) {
		printf("Bail out! the app has no port\n");
		exit(1);
	}
	snprintf(a->address, sizeof a->address, "%s", doc_str(task, "address", ""));
	a->port = atoi(port->first->text);
	a->listener = -1;
}

/* Submits it and waits until it runs. */
static inline void rig_app_start(const struct fixture *f, struct rig_app *a,
				 const char *spec)
{
	struct client c = client_open(f);
	struct answer r = { 0 };
	char path[32];

	ask(&c, &r, "POST", "/jobs", spec);
	AUTO_DOC struct doc *d = doc_parse_json(buf_str(&r.body), r.body.len, NULL);
	if (!OK(r.status == 201 && d, "an app is submitted (%s)", buf_str(&r.body)))
		exit(END());
	a->id = doc_i64(doc_root(d), "id", 0);
	snprintf(path, sizeof path, "/jobs/%lld", (long long)a->id);
	for (int i = 0; i < 1000; i++, usleep(10000)) {
		ask(&c, &r, "GET", path, NULL);
		if (strstr(buf_str(&r.body), "\"state\":\"running\""))
			break;
	}
	rig_where(a, &r);
	buf_fini(&r.body);
	client_close(&c);
}

static inline void rig_close(struct rig_app *a)
{
	if (a->listener >= 0)
		close(a->listener);
	a->listener = -1;
}

/* The next caller of the program, within a while. */
static inline int rig_accept(const struct rig_app *a)
{
	struct pollfd p = { .fd = a->listener, .events = POLLIN };
	struct timeval patience = { .tv_sec = 10 };

	if (poll(&p, 1, 10000) != 1)
		return -1;
	int fd = accept4(a->listener, NULL, NULL, SOCK_CLOEXEC);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	return fd;
}

/* What comes, up to and with that text. */
static inline bool rig_read(int fd, struct buf *out, const char *until)
{
	char c;

	buf_clear(out);
	while (!strstr(buf_str(out), until)) {
		if (recv(fd, &c, 1, 0) != 1)
			return false;
		buf_addc(out, c);
	}
	return true;
}

static inline bool rig_at_end(int fd)
{
	char c;

	return recv(fd, &c, 1, 0) <= 0 && errno != EAGAIN;
}

/* A header of a raw answer, or "". */
static inline const char *rig_header(const struct client *c, const char *name)
{
	const char *v = http_head_get(http_parser_head(c->parser), name);

	return v ? v : "";
}

/* The raw bytes of a request to the server's TCP door, and its answer. */
static inline void rig_ask(struct client *c, struct answer *r, const char *bytes)
{
	buf_fini(&r->body);
	*r = (struct answer){ 0 };
	if (str_starts(bytes, "HEAD "))
		http_parser_no_body(c->parser);
	say(c->fd, bytes);
	client_read(c, r, 0);
}

/* Goes in by a ticket, as the daemon's user, and keeps the cookie. */
static inline void rig_enter(const struct fixture *f, struct rig_app *a)
{
	struct client c = client_open(f), t = client_tcp(f);
	struct answer r = { 0 };
	char path[32];

	snprintf(path, sizeof path, "/apps/%lld", (long long)a->id);
	ask(&c, &r, "GET", path, NULL);
	AUTO_DOC struct doc *d = doc_parse_json(buf_str(&r.body), r.body.len, NULL);
	const char *url = d ? doc_str(doc_root(d), "url", "") : "";
	const char *target = strstr(url, "/apps/");
	AUTO_FREE char *get =
		str_printf("GET %s HTTP/1.1\r\nHost: h\r\n\r\n", target ? target : "/");
	rig_ask(&t, &r, get);
	const char *cookie = rig_header(&t, "set-cookie");
	snprintf(a->cookie, sizeof a->cookie, "Cookie: %.*s\r\n",
		 (int)strcspn(cookie, ";"), cookie);
	OK(r.status == 303 && str_starts(cookie, "yard-app="),
	   "a ticket becomes a cookie (%d)", r.status);
	buf_fini(&r.body);
	client_close(&t);
	client_close(&c);
}

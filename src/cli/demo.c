// SPDX-License-Identifier: Apache-2.0
/* demo.c - `yard demo`: a busy cluster without one device.  A daemon of its own on the
 * simulated engine, with people, groups and a day of jobs on a fast clock; the context
 * "demo" is made and used, so that every command shows it. */
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/contexts.h"
#include "cli/demo_day.h"
#include "cli/key.h"
#include "wire/settings.h"

#define DEMO_CONTEXT "demo"
#define HOUR_MS      INT64_C(3600000)
#define NOON_MS      (14 * HOUR_MS) /* what came until then is there at once */
#define TOLD         3              /* waiting jobs that are pointed out */

struct demo_args {
	int64_t speed, seed;
	bool stop;
};

/* clang-format off */
static const struct opt demo_table[] = {
	{ "speed", 0, OPT_INT, OPT_INTO(struct demo_args, speed), "N",
		"how much faster than a real day (60: it takes 24 minutes)", 1, 10000 },
	{ "seed", 0, OPT_INT, OPT_INTO(struct demo_args, seed), "N",
		"another day: the same number is the same jobs (1)", 1, INT64_MAX },
	{ "stop", 0, OPT_FLAG, OPT_INTO(struct demo_args, stop), NULL,
		"end the demo and remove all of it" },
};
/* clang-format on */

struct demo {
	struct cli *cli;
	struct server server;
	char *tokens[DEMO_PEOPLE];
	struct demo_job *jobs;
	size_t count, sent;
	int64_t speed;
};

/* Beside the caller's own yard, never in it. */
static int find_place(struct server *out, struct err *err)
{
	struct settings_env env = { .home = getenv("HOME"),
				    .xdg_state_home = getenv("XDG_STATE_HOME"),
				    .xdg_runtime_dir = getenv("XDG_RUNTIME_DIR"),
				    .uid = (int64_t)geteuid() };
	const char *given = getenv("YARD_STATE");
	AUTO_FREE char *state =
		given && *given ? mem_strdup(given) : settings_state_dir(&env, err);

	if (!state)
		return -1;
	*out = (struct server){ .state = str_printf("%s-demo", state) };
	out->socket = str_printf("%s/socket.demo", out->state);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void remove_state(const struct server *s)
{
	nftw(s->state, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static int enter(struct contexts *c, void *arg, struct err *err)
{
	const struct demo *d = arg;
	AUTO_FREE char *url = server_url(&d->server);
	struct context x = { .name = (char[]){ DEMO_CONTEXT }, .server = url };

	(void)err;
	contexts_put(c, &x);
	free(c->current);
	c->current = mem_strdup(DEMO_CONTEXT);
	return 0;
}

static int leave(struct contexts *c, void *arg, struct err *err)
{
	(void)arg;
	(void)err;
	contexts_remove(c, DEMO_CONTEXT);
	if (str_eq(c->current, DEMO_CONTEXT)) {
		free(c->current);
		c->current = NULL;
	}
	return 0;
}

static int run_stop(struct demo *d, struct err *err)
{
	int fd = server_connect(&d->server, NULL);

	if (fd >= 0) {
		close(fd);
		if (server_stop(&d->server, err) < 0)
			return -1;
	}
	if (contexts_change(leave, NULL, err) < 0)
		return -1;
	remove_state(&d->server);
	cli_say(d->cli, "the demo is over; commands go to your own yard again");
	return 0;
}

/* As the daemon's own user, who is admin. */
static int post(struct client *c, const char *method, const char *target,
		const struct buf *body, struct answer *out, struct err *err)
{
	char key[KEY_BYTES];
	struct request r = { .method = method,
			     .target = target,
			     .key = key,
			     .body = body ? buf_str(body) : NULL,
			     .body_len = body ? body->len : 0 };

	key_make(key);
	return client_call(c, &r, out, err);
}

/* Each is sure of a quarter of the devices; the rest goes to who asks. */
static int add_group(struct client *c, const char *name, struct err *err)
{
	AUTO_BUF struct buf body = { 0 };
	AUTO_BUF struct buf share = { 0 };
	AUTO_BUF struct buf target = { 0 };
	AUTO_ANSWER struct answer made = { 0 };
	AUTO_ANSWER struct answer set = { 0 };

	buf_printf(&body, "{\"name\":\"%s\",\"text\":\"of the demo\"}", name);
	buf_printf(&target, "/groups/%s", name);
	buf_printf(&share, "{\"tenant\":{\"guarantee\":{\"devices\":{\"gpu\":%d}}}}",
		   DEMO_NODES * DEMO_DEVICES / 4);
	if (post(c, "POST", "/groups", &body, &made, err) < 0)
		return -1;
	return post(c, "PATCH", buf_str(&target), &share, &set, err);
}

/* One of the people, and a token for what they submit. */
static int add_person(struct demo *d, struct client *c, size_t at, struct err *err)
{
	const struct demo_person *p = &demo_people[at];
	AUTO_BUF struct buf user = { 0 };
	AUTO_BUF struct buf login = { 0 };
	AUTO_ANSWER struct answer made = { 0 };
	AUTO_ANSWER struct answer in = { 0 };
	char password[KEY_BYTES];

	key_make(password);
	buf_printf(&user,
		   "{\"name\":\"%s\",\"password\":\"%s\",\"role\":\"member\","
		   "\"groups\":[\"%s\"]}",
		   p->name, password, p->group);
	buf_printf(&login, "{\"user\":\"%s\",\"password\":\"%s\",\"label\":\"demo\"}",
		   p->name, password);
	if (post(c, "POST", "/users", &user, &made, err) < 0 ||
	    post(c, "POST", "/login", &login, &in, err) < 0)
		return -1;
	d->tokens[at] =
		mem_strdup(doc_str(in.doc ? doc_root(in.doc) : NULL, "token", ""));
	return 0;
}

static int add_people(struct demo *d, struct err *err)
{
	struct client *c = client_create(&d->server, false, NULL);
	int rc = 0;

	for (size_t i = 0; i < DEMO_PEOPLE && rc == 0; i++) {
		if (i == 0 || !str_eq(demo_people[i].group, demo_people[i - 1].group))
			rc = add_group(c, demo_people[i].group, err);
		if (rc == 0)
			rc = add_person(d, c, i, err);
	}
	client_destroy(c);
	return rc;
}

/* Whoever it is speaks for themselves. */
static int send_job(struct demo *d, const struct demo_job *j, struct err *err)
{
	struct server as = d->server;
	AUTO_BUF struct buf body = { 0 };
	AUTO_ANSWER struct answer a = { 0 };

	as.token = d->tokens[j->person];
	struct client *c = client_create(&as, false, NULL);
	demo_job_file(j, d->speed, &body);
	int rc = post(c, "POST", "/jobs", &body, &a, err);
	client_destroy(c);
	return rc;
}

static int send_until(struct demo *d, int64_t at_ms, struct err *err)
{
	for (; d->sent < d->count && d->jobs[d->sent].at_ms <= at_ms; d->sent++) {
		if (send_job(d, &d->jobs[d->sent], err) < 0)
			return -1;
	}
	return 0;
}

/* The rest of the day comes from a process of its own, which ends with the daemon. */
static void feed(struct demo *d)
{
	struct err err;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fork() != 0) {
		close(null);
		return;
	}
	setsid();
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	signal(SIGPIPE, SIG_IGN);
	int64_t clock_ms = NOON_MS;
	while (d->sent < d->count) {
		const struct timespec pause = { .tv_nsec = 500000000 };
		nanosleep(&pause, NULL);
		clock_ms += 500 * d->speed;
		if (send_until(d, clock_ms, &err) < 0)
			break;
	}
	_exit(0);
}

static int start(struct demo *d, struct err *err)
{
	char devices[32], nodes[16];

	snprintf(devices, sizeof devices, "gpu=%d", DEMO_DEVICES);
	snprintf(nodes, sizeof nodes, "%d", DEMO_NODES);
	setenv("YARD_ENGINE", "sim", 1);
	setenv("YARD_SIM_DEVICE", devices, 1);
	setenv("YARD_SIM_NODES", nodes, 1);
	remove_state(&d->server);
	if (server_start(&d->server, NULL, err) < 0 || add_people(d, err) < 0)
		return -1;
	return send_until(d, NOON_MS, err);
}

/* Some who wait: the first, one in the middle, the last. */
static void point_out(struct demo *d)
{
	AUTO_ANSWER struct answer a = { 0 };
	struct client *c = client_create(&d->server, false, NULL);
	struct request r = { .method = "GET", .target = "/queue" };
	static const char *const about[TOLD] = { "   why the first in the queue waits",
						 "   ... one in the middle",
						 "   ... and the last" };
	int64_t ids[TOLD] = { 0 };
	struct err err;
	size_t count = 0, at = 0;

	if (client_call(c, &r, &a, &err) == 0 && a.doc) {
		const struct doc_node *list = doc_get(doc_root(a.doc), "queue");
		for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next)
			count++;
		for (const struct doc_node *n = list ? list->first : NULL; n;
		     n = n->next, at++) {
			int64_t id = doc_i64(n, "id", 0);
			if (at == 0)
				ids[0] = id;
			if (at == count / 2)
				ids[1] = id;
			ids[2] = id;
		}
	}
	client_destroy(c);
	cli_say(d->cli,
		"%zu jobs came until two o'clock, %zu of them wait; the "
		"rest of the day comes at %" PRId64 " times the usual speed",
		d->sent, count, d->speed);
	for (size_t i = 0; i < TOLD && count > i; i++)
		dprintf(STDERR_FILENO, "  yard why %-12" PRId64 "%s\n", ids[i], about[i]);
	dprintf(STDERR_FILENO, "  yard queue           who waits, in the order of their "
			       "turn\n"
			       "  yard top             who runs where\n"
			       "  yard demo --stop     end it\n");
}

static void say_where(const struct cli *c)
{
	cli_say(c, "commands go to the demo now (context %s)", DEMO_CONTEXT);
	if (getenv("YARD_SERVER") || getenv("YARD_STATE") || getenv("YARD_SOCKET"))
		cli_say(c,
			"but YARD_SERVER, YARD_STATE or YARD_SOCKET is set and stands "
			"above it: use yard -C %s",
			DEMO_CONTEXT);
}

static int run_start(struct demo *d, uint64_t seed, struct err *err)
{
	d->jobs = demo_day(seed, &d->count);
	cli_say(d->cli, "starting %d nodes with %d gpu each; nothing is really run",
		DEMO_NODES, DEMO_DEVICES);
	if (start(d, err) < 0 || contexts_change(enter, d, err) < 0)
		return -1;
	feed(d);
	say_where(d->cli);
	point_out(d);
	return 0;
}

static int run_demo(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct demo_args *a = args;
	struct demo d = { .cli = c, .speed = a->speed ? a->speed : 60 };
	struct err err;
	int rc;

	(void)operands;
	if (find_place(&d.server, &err) < 0)
		return cli_fail(c, &err);
	int fd = server_connect(&d.server, NULL);
	if (fd >= 0)
		close(fd);
	if (a->stop)
		rc = run_stop(&d, &err);
	else if (fd >= 0)
		rc = err_set(&err, ERR_CONFLICT,
			     "a demo runs already; `yard demo --stop` ends it");
	else
		rc = run_start(&d, a->seed ? (uint64_t)a->seed : 1, &err);
	for (size_t i = 0; i < DEMO_PEOPLE; i++)
		free(d.tokens[i]);
	free(d.jobs);
	server_fini(&d.server);
	return rc < 0 ? cli_fail(c, &err) : 0;
}

const struct command cmd_demo = {
	.name = "demo",
	.group = COMMAND_YARD,
	.operands = "",
	.summary = "show a busy cluster of 64 simulated devices, to look around in",
	.table = demo_table,
	.count = COUNT_OF(demo_table),
	.args_size = sizeof(struct demo_args),
	.alone = true,
	.run = run_demo,
};

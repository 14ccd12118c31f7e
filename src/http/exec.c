// SPDX-License-Identifier: Apache-2.0
/* A further command in a running task: the connection becomes a pipe to the shim. */
#include "http/route.h"

#include <stdio.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"
#include "http/handlers.h"
#include "http/limits.h"

struct pump {
	struct exchange *ex;
	struct world_stream *shim;
	bool shim_paused;
};

static void pump_gone(struct exchange *ex)
{
	struct pump *p = ex->state;

	world_stream_close(p->shim);
	free(p);
}

/* Client → shim. */
static void pump_raw(struct exchange *ex, const char *data, size_t len)
{
	struct pump *p = ex->state;

	world_stream_write(p->shim, data, len);
	if (world_stream_pending(p->shim) > OUTPUT_HIGH)
		http_conn_pause(ex->conn, true);
}

static void shim_drain(void *arg)
{
	struct pump *p = arg;

	http_conn_pause(p->ex->conn, false);
}

/* Shim → client. */
static void shim_data(void *arg, const char *data, size_t len)
{
	struct pump *p = arg;

	http_conn_write(p->ex->conn, data, len);
	if (!answer_room(p->ex)) {
		p->shim_paused = true;
		world_stream_pause(p->shim, true);
	}
}

static void pump_room(struct exchange *ex)
{
	struct pump *p = ex->state;

	if (p->shim_paused)
		world_stream_pause(p->shim, false);
	p->shim_paused = false;
}

/* The command is over and all it said is written: so is the connection. */
static void shim_eof(void *arg)
{
	struct pump *p = arg;

	p->ex->body_over = false; /* never another request */
	http_conn_answered(p->ex);
}

static void shim_end(void *arg, const struct err *err)
{
	(void)err;
	shim_eof(arg);
}

static int exec_open(struct exchange *ex, struct world_stream **out, struct err *err)
{
	const char *argv[EXEC_ARGS_MAX + 1];
	struct task_ref which = { .job = ex->job, .task = (int)param_int(ex, "task", 0) };
	size_t n = 0, at = 0;

	while ((argv[n] = param_next(ex, "arg", &at)))
		n++;
	return yard_exec(ex->server->config.yard, &which, argv, param_bool(ex, "tty"),
			 out, err);
}

/* An admin in somebody else's task acts as they, with their secrets: that is written down. */
static void note_stranger(struct exchange *ex)
{
	struct yard *y = ex->server->config.yard;
	const struct job *j = yard_live(y, ex->job);
	char id[24];

	if (!j || str_eq(j->owner, ex->who->name))
		return;
	snprintf(id, sizeof id, "%lld", (long long)ex->job);
	yard_change(y, ex->who, &(struct yard_change){ NULL, 0, "job.exec", id }, NULL,
		    NULL);
}

void handle_exec(struct exchange *ex)
{
	static const struct exchange_ops ops = { .raw = pump_raw,
						 .room = pump_room,
						 .gone = pump_gone };
	static const struct world_stream_events events = {
		.on_data = shim_data,
		.on_eof = shim_eof,
		.on_end = shim_end,
		.on_drain = shim_drain,
	};
	static const char switched[] =
		"HTTP/1.1 101 Switching Protocols\r\n"
		"Connection: Upgrade\r\nUpgrade: yard-exec\r\n\r\n";
	const char *upgrade = http_head_get(ex->head, "upgrade");
	struct world_stream *shim = NULL;
	struct err err;

	if (!ex->head->upgrade || !upgrade || strcasecmp(upgrade, "yard-exec") != 0) {
		err_set(&err, ERR_INVALID,
			"send Connection: Upgrade and Upgrade: yard-exec");
		answer_status(ex, 426, &err, NULL);
		return;
	}
	if (exec_open(ex, &shim, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	note_stranger(ex);
	struct pump *p = mem_alloc(1, sizeof *p);
	*p = (struct pump){ .ex = ex, .shim = shim };
	ex->state = p;
	ex->ops = &ops;
	ex->begun = true;
	http_conn_write(ex->conn, switched, sizeof switched - 1);
	http_conn_upgraded(ex);
	world_stream_start(shim, &events, p);
}

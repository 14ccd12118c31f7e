// SPDX-License-Identifier: Apache-2.0
#include "cli/follow.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/logframe.h"
#include "base/mem.h"
#include "base/units.h"
#include "cli/plain.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "codec/url.h"

#define HEAD_BYTES     (WIRE_LOG_HEAD_BYTES + LOGFRAME_BYTES)
#define LINE_MAX_BYTES (64 << 10) /* a longer line is printed in parts */
#define TARGET_MAX     (7 << 10)  /* servers refuse longer ones */
#define BREAKS_MAX     100        /* in a row, without a byte between them */

enum { OUT, ERR, OUTPUTS };

/* Where one task's log is. */
struct place {
	uint32_t attempt;
	uint64_t offset; /* behind the last record printed whole */
	size_t partial;  /* bytes printed of the record after it */
	struct buf line[OUTPUTS];
	int64_t began_us[OUTPUTS]; /* when the line's first byte was written */
	char *prefix;
};

struct follower {
	struct cli *cli;
	const struct follow *f;
	struct place *places;
	size_t count;
	bool lines; /* cut into lines, with something in front */
	uint8_t head[HEAD_BYTES];
	size_t head_len;
	struct wire_log_head where;
	struct logframe frame;
	size_t done; /* bytes of the frame's data seen */
	bool in_frame;
	bool known; /* the frame was printed whole before the connection broke */
	struct buf out[OUTPUTS]; /* gathered until the piece is over */
	bool plain[OUTPUTS], terminal[OUTPUTS];
	bool open;                   /* the terminal's line is not over */
	unsigned char last[OUTPUTS]; /* byte written, for plain_stream() */
};

/* Colours that mean nothing else here: no red. */
static const char *prefix_colour(size_t rank)
{
	static const char *const wheel[] = { "\033[36m", "\033[33m", "\033[35m",
					     "\033[34m", "\033[32m", "\033[96m",
					     "\033[93m", "\033[95m", "\033[94m" };

	return wheel[rank % COUNT_OF(wheel)];
}

static void make_places(struct follower *w)
{
	const struct job *j = w->f->names;
	bool names = w->f->prefixes || (j->task_count > 1 && w->f->rank < 0);

	w->count = (size_t)spec_task_count(j->spec); /* of any attempt */
	w->places = mem_alloc(w->count + 1, sizeof *w->places);
	w->lines = names || w->f->timestamps || w->f->keep;
	for (size_t i = 0; i < w->count && names; i++) {
		AUTO_FREE char *name = cli_task_name(j, (int)i);
		struct buf p = { 0 };
		bool colour = w->cli->colour_out && w->cli->colour_err;
		buf_printf(&p, "%s[%s]%s ", colour ? prefix_colour(i) : "", name,
			   colour ? TABLE_COLOUR_END : "");
		w->places[i].prefix = buf_take(&p);
	}
}

static void flush_out(struct follower *w)
{
	if (!w->out[OUT].len && !w->out[ERR].len)
		return;
	progress_hide(w->f->progress);
	for (int i = 0; i < OUTPUTS; i++) {
		if (!w->out[i].len)
			continue;
		cli_write(i == OUT ? STDOUT_FILENO : STDERR_FILENO, w->out[i].data,
			  w->out[i].len);
		if (w->terminal[i])
			w->open = w->out[i].data[w->out[i].len - 1] != '\n';
		buf_clear(&w->out[i]);
	}
	progress_wrote(w->f->progress, !w->open);
}

static void add_bytes(struct follower *w, int where, const char *data, size_t len)
{
	if (w->plain[where])
		plain_stream(&w->out[where], data, len, &w->last[where]);
	else
		buf_add(&w->out[where], data, len);
}

static void put_line(struct follower *w, struct place *p, int where)
{
	struct buf *out = &w->out[where];
	char time[UNITS_TEXT_MAX];
	struct follow_line line = { .rank = (int)(p - w->places),
				    .attempt = (int)p->attempt,
				    .is_stderr = where == ERR,
				    .time_us = p->began_us[where],
				    .text = buf_str(&p->line[where]),
				    .len = p->line[where].len };

	if (w->f->keep && !w->f->keep(w->f->keep_arg, &line)) {
		buf_clear(&p->line[where]);
		return;
	}
	if (w->f->heard)
		w->f->heard(w->f->heard_arg, line.text, line.len);
	if (w->f->timestamps)
		buf_printf(out, "%s ", units_show_time(p->began_us[where] / 1000, time));
	if (p->prefix)
		buf_adds(out, p->prefix);
	add_bytes(w, where, buf_str(&p->line[where]), p->line[where].len);
	buf_addc(out, '\n');
	buf_clear(&p->line[where]);
}

static void put_lines(struct follower *w, struct place *p, int where, const char *data,
		      size_t len)
{
	while (len > 0) {
		const char *stop = memchr(data, '\n', len);
		size_t n = stop ? (size_t)(stop - data) + 1 : len;
		if (!p->line[where].len)
			p->began_us[where] = w->frame.time_us;
		buf_add(&p->line[where], data, stop ? n - 1 : n);
		if (stop || p->line[where].len > LINE_MAX_BYTES)
			put_line(w, p, where);
		data += n;
		len -= n;
	}
}

/* For who listens along: what passes byte by byte, line by line. */
static void hear(struct follower *w, struct place *p, int where, const char *data,
		 size_t len)
{
	struct buf *line = &p->line[where];

	while (len > 0) {
		const char *stop = memchr(data, '\n', len);
		size_t n = stop ? (size_t)(stop - data) + 1 : len;
		if (line->len < LINE_MAX_BYTES)
			buf_add(line, data, stop ? n - 1 : n);
		if (stop) {
			w->f->heard(w->f->heard_arg, buf_str(line), line->len);
			buf_clear(line);
		}
		data += n;
		len -= n;
	}
}

/* Notes may be the server's own: they are not in the log and do not come again. */
static bool is_record(const struct follower *w)
{
	return w->frame.stream != LOG_NOTE;
}

/* Bytes of the record that is open. */
static void put_data(struct follower *w, const char *data, size_t len)
{
	struct place *p = &w->places[w->where.rank];
	int where = w->frame.stream == LOG_STDOUT ? OUT : ERR;

	if (w->known) {
		w->done += len;
		w->in_frame = w->done < w->frame.len;
		w->head_len = w->in_frame ? w->head_len : 0;
		return;
	}
	/* What was printed before the connection broke comes again. */
	size_t known = is_record(w) && p->partial > w->done ? p->partial - w->done : 0;
	size_t skip = known < len ? known : len;
	w->done += len;
	data += skip;
	len -= skip;
	if (w->done > p->partial && is_record(w))
		p->partial = w->done;
	if (w->lines) {
		put_lines(w, p, where, data, len);
	} else if (len) {
		flush_out(w); /* in the order the two came */
		add_bytes(w, where, data, len);
		flush_out(w);
		if (w->f->heard)
			hear(w, p, where, data, len);
	}
	if (w->done == w->frame.len) {
		p->offset = w->where.offset;
		p->partial = 0;
		w->in_frame = false;
		w->head_len = 0;
	}
}

static int open_frame(struct follower *w, struct err *err)
{
	wire_log_head_read(w->head, &w->where);
	if (logframe_read(w->head + WIRE_LOG_HEAD_BYTES, &w->frame) < 0 ||
	    w->where.rank >= w->count || w->frame.len > LOGFRAME_DATA_MAX)
		return err_set(err, ERR_CORRUPT, "the server's log does not make sense");
	struct place *p = &w->places[w->where.rank];
	bool fresh = p->attempt != w->where.attempt;
	if (fresh) {
		p->attempt = w->where.attempt;
		p->partial = 0;
		p->offset = w->where.offset -
			    (is_record(w) ? LOGFRAME_BYTES + w->frame.len : 0);
	}
	w->in_frame = true;
	w->done = 0;
	w->known = !fresh && is_record(w) && w->where.offset <= p->offset;
	if (w->frame.len == 0)
		put_data(w, "", 0);
	return 0;
}

static int take(struct follower *w, const char *data, size_t len, struct err *err)
{
	while (len > 0) {
		if (!w->in_frame) {
			size_t n = HEAD_BYTES - w->head_len < len
					   ? HEAD_BYTES - w->head_len
					   : len;
			memcpy(w->head + w->head_len, data, n);
			w->head_len += n;
			data += n;
			len -= n;
			if (w->head_len == HEAD_BYTES && open_frame(w, err) < 0)
				return -1;
			continue;
		}
		size_t left = w->frame.len - w->done, n = left < len ? left : len;
		put_data(w, data, n);
		data += n;
		len -= n;
	}
	flush_out(w);
	return 0;
}

static void make_target(const struct follower *w, struct buf *out)
{
	const struct follow *f = w->f;
	AUTO_BUF struct buf from = { 0 };
	AUTO_FREE char *path = cli_job_target(f->job, "/logs?format=frames");
	uint32_t newest = 0;

	buf_adds(out, path);
	if (f->rank >= 0)
		buf_printf(out, "&task=%d", f->rank);
	if (f->follow)
		buf_adds(out, "&follow=1");
	if (f->attempt)
		url_query_add(out, "attempt", f->attempt);
	for (size_t i = 0; i < w->count; i++)
		if (w->places[i].attempt > newest)
			newest = w->places[i].attempt;
	if (!newest && f->tail >= 0)
		buf_printf(out, "&tail=%" PRId64, f->tail);
	for (size_t i = 0; i < w->count && newest && out->len + from.len < TARGET_MAX;
	     i++)
		if (w->places[i].attempt == newest)
			buf_printf(&from, "%s%zu:%u:%" PRIu64, from.len ? "," : "", i,
				   newest, w->places[i].offset);
	if (from.len)
		buf_printf(out, "&from=%s", from.data);
}

/* Waits for the server or for who else is listened to: 0 the server, 1 to be ended. */
static int wait_more(struct follower *w)
{
	struct pollfd p[2] = { { client_fd(w->cli->client), POLLIN, 0 },
			       { w->f->other, POLLIN, 0 } };

	for (;;) {
		if (poll(p, w->f->other >= 0 ? 2 : 1, -1) < 0 && errno == EINTR)
			continue;
		if (p[1].revents && w->f->other >= 0 && w->f->on_other(w->f->arg))
			return 1;
		if (p[0].revents)
			return 0;
	}
}

/* One connection's worth: 0 whole, 1 ended by the other, -1 err, -2 it broke. */
static int follow_once(struct follower *w, size_t *got, struct err *err)
{
	AUTO_BUF struct buf target = { 0 };
	struct client *c = w->cli->client;
	struct http_piece piece;

	make_target(w, &target);
	w->head_len = 0;
	w->in_frame = false;
	struct request r = { .method = "GET", .target = target.data };
	if (client_begin(c, &r, err) < 0)
		return -1;
	for (;;) {
		switch (client_next(c, &piece, err)) {
		case HTTP_ITEM_DATA:
			*got += piece.len;
			if (take(w, piece.data, piece.len, err) < 0)
				return -1;
			break;
		case HTTP_ITEM_END:
			return 0;
		case HTTP_ITEM_MORE:
			if (wait_more(w) == 1)
				return 1;
			if (client_fill(c, err) < 0)
				return -2;
			break;
		case HTTP_ITEM_HEAD:
		case HTTP_ITEM_FAILED:
			return -2;
		}
	}
}

static void finish(struct follower *w)
{
	for (size_t i = 0; i < w->count; i++) {
		for (int k = 0; k < OUTPUTS; k++) {
			if (w->lines && w->places[i].line[k].len)
				put_line(w, &w->places[i], k);
			buf_fini(&w->places[i].line[k]);
		}
		free(w->places[i].prefix);
	}
	flush_out(w);
	buf_fini(&w->out[OUT]);
	buf_fini(&w->out[ERR]);
	free(w->places);
}

int follow_log(struct cli *c, const struct follow *f, struct err *err)
{
	struct follower w = { .cli = c, .f = f };
	int rc, breaks = 0;

	make_places(&w);
	w.terminal[OUT] = isatty(STDOUT_FILENO);
	w.terminal[ERR] = isatty(STDERR_FILENO);
	w.plain[OUT] = f->plain && w.terminal[OUT];
	w.plain[ERR] = f->plain && w.terminal[ERR];
	for (;;) {
		size_t got = 0;
		rc = follow_once(&w, &got, err);
		if (rc != -2)
			break;
		client_drop(c->client);
		breaks = got ? 1 : breaks + 1;
		if (breaks > BREAKS_MAX)
			break;
		usleep(50 * 1000);
	}
	if (rc == 1)
		client_drop(c->client);
	finish(&w);
	return rc < 0 ? -1 : rc;
}

// SPDX-License-Identifier: Apache-2.0
/* `yard simulate --replay`: what a daemon's plan was told, told to a fresh one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/simulate.h"
#include "plan/journal.h"

struct replay {
	int64_t lines, hashes; /* read; compared */
	int64_t first;         /* the line of the first hash that differs, 0: none does */
	bool torn;             /* the last line was half */
	char hash[2 * PLAN_HASH_BYTES + 1];
};

/* A line without its end was being written when the daemon was killed. */
static int take_line(struct journal_reader *r, const char *line, size_t len,
		     struct replay *out, struct err *err)
{
	bool whole = len && line[len - 1] == '\n';
	int got = journal_line(r, line, whole ? len - 1 : len, err);

	out->lines++;
	if (got < 0 && !whole) {
		out->torn = true;
		return 0;
	}
	if (got < 0)
		return err_wrap(err, "line %" PRId64, out->lines);
	if (got > 0 && !out->first)
		out->first = out->lines;
	out->hashes += strstr(line, "\"do\":\"hash\"") != NULL;
	return 0;
}

static int read_journal(const char *path, struct replay *out, struct err *err)
{
	FILE *f = fopen(path, "re");
	struct plan *p;
	struct journal_reader *r;
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	int result = 0;

	if (!f)
		return err_sys(err, "%s", path);
	p = plan_create();
	r = journal_open(p);
	while (result == 0 && (len = getline(&line, &cap, f)) > 0)
		result = take_line(r, line, (size_t)len, out, err);
	if (result < 0)
		err_wrap(err, "%s", path);
	else if (ferror(f))
		result = err_sys(err, "%s", path);
	plan_hash_show(journal_replayed(r), out->hash);
	journal_close(r);
	plan_destroy(p);
	free(line);
	fclose(f);
	return result;
}

static void print_json(const struct replay *x)
{
	AUTO_BUF struct buf out = { 0 };
	struct json j;

	json_init(&j, &out);
	json_object(&j, NULL);
	json_bool(&j, "equal", !x->first);
	json_i64(&j, "lines", x->lines);
	json_i64(&j, "hashes", x->hashes);
	if (x->first)
		json_i64(&j, "first_difference", x->first);
	json_bool(&j, "torn", x->torn);
	json_str(&j, "decision_hash", x->hash);
	json_end(&j);
	cli_print_json(&out);
}

int simulate_replay(struct cli *c, const struct simulate_args *a)
{
	struct replay x = { 0 };
	AUTO_BUF struct buf out = { 0 };
	struct err err;

	if (read_journal(a->replay, &x, &err) < 0)
		return cli_fail(c, &err);
	if (a->json) {
		print_json(&x);
		return x.first ? EXIT_FAILURE : 0;
	}
	if (x.first)
		buf_printf(&out,
			   "different: %" PRId64
			   " lines, the first other decision is before "
			   "line %" PRId64 "\n",
			   x.lines, x.first);
	else
		buf_printf(&out,
			   "equal: %" PRId64 " lines, %" PRId64 " hashes of decisions\n",
			   x.lines, x.hashes);
	buf_printf(&out, "hash of the decisions  %s\n", x.hash);
	cli_print(&out);
	if (x.torn)
		cli_hint(c, "the last line is half: the daemon was killed there");
	return x.first ? EXIT_FAILURE : 0;
}

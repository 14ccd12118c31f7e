// SPDX-License-Identifier: Apache-2.0
/* collect.c - what the outputs hold is made durable, and brought where it was asked for.
 *
 * What goes elsewhere stays here too: when it cannot be brought there, nothing is lost, and
 * the answer says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "depot/fetch.h"
#include "depot/file.h"
#include "depot/input.h"
#include "depot/layout.h"
#include "depot/op.h"
#include "depot/tree.h"
#include "remote/uri.h"

/* Outputs in places of their own: all of that disk, since who else writes there is not
 * known. */
static int sync_elsewhere(const struct place *p, struct err *err)
{
	struct err ignored;

	if (p->kind == PLACE_VOLUME)
		return file_sync(&p->volume, err);
	if (p->kind != PLACE_FILE)
		return 0;
	AUTO_FREE char *real = input_resolve(p->op->depot->volume, p->uri, -1, &ignored);
	AUTO_FD int fd = real ? open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	return fd >= 0 && syncfs(fd) < 0 ? err_sys(err, "make %s durable", real) : 0;
}

static void collect_work(void *arg)
{
	struct files_op *op = arg;
	AUTO_FREE char *job = depot_layout_job(op->depot->state, op->job);
	AUTO_FREE char *output = str_printf("%s/output", job);
	AUTO_FREE char *above = mem_strndup(job, (size_t)(strrchr(job, '/') - job));
	AUTO_FREE char *jobs = str_printf("%s/jobs", op->depot->state);

	for (size_t i = 0; i < op->output_count && !op->failed; i++)
		op->failed = sync_elsewhere(&op->outputs[i], &op->err) < 0;
	if (op->failed || (access(output, F_OK) < 0 && errno == ENOENT))
		return; /* the latter: never prepared */
	/* The folders above must be found again, too. */
	op->failed = tree_sync(output, NULL, &op->err) < 0 ||
		     tree_sync_folder(job, &op->err) < 0 ||
		     tree_sync_folder(above, &op->err) < 0 ||
		     tree_sync_folder(jobs, &op->err) < 0;
}

static void not_sent(struct place *p, const struct err *err)
{
	struct files_op *op = p->op;

	telling_say(&p->telling, "not brought to %s: %s", p->uri, err->text);
	if (op->failed)
		return; /* one reason is enough; the events have the others */
	op->failed = true;
	err_set(&op->err, err->code,
		"output %s was not brought to %s (it is kept in %s): %s", p->name, p->uri,
		p->path, err->text);
}

static void sent_at(void *arg, int64_t bytes, int64_t total)
{
	struct place *p = arg;

	telling_at(&p->telling, bytes, total);
}

static void sent(void *arg, int64_t files, int64_t bytes, const struct err *err)
{
	struct place *p = arg;
	struct files_op *op = p->op;
	char size[UNITS_TEXT_MAX];

	p->send = NULL;
	if (err)
		not_sent(p, err);
	else if (files)
		telling_say(&p->telling, "%lld file%s, %s, brought to %s",
			    (long long)files, files == 1 ? "" : "s",
			    units_show_bytes(bytes, size), p->uri);
	if (--op->waiting == 0)
		op_answer(op);
}

/* An output is a folder, whether its address says so or not. */
static char *folder_uri(const char *uri)
{
	return str_ends(uri, "/") ? mem_strdup(uri) : str_printf("%s/", uri);
}

static int start_send(struct files_op *op, struct place *p, struct err *err)
{
	AUTO_REMOTE_URI struct remote_uri u = { 0 };
	AUTO_REMOTE_ACCOUNT struct remote_account a = { 0 };
	AUTO_FREE char *what = str_printf("output %s", p->name);
	AUTO_FREE char *uri = folder_uri(p->uri);
	struct bring_order o = { .what = what,
				 .uri = uri,
				 .job = op->job,
				 .attempt = op->attempt,
				 .owner = op->owner,
				 .group = op->group };
	struct stat st;

	telling_init(&p->telling, op->depot, &o);
	p->path = depot_layout_output(op->depot->state, op->job, p->name);
	AUTO_FD int folder =
		open(p->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0 && errno == ENOENT)
		return 0; /* never prepared: nothing to send */
	if (folder < 0 || fstat(folder, &st) < 0)
		return err_sys(err, "open %s", p->path);
	if (remote_uri_parse(uri, &u, err) < 0 ||
	    bring_account(op->depot, &o, &u, &a, err) < 0)
		return -1;
	struct fetch_order send = {
		.op = REMOTE_PUT,
		.uri = uri,
		.user = op->owner,
		.account = &a,
		/* It reads what the job's tasks could, and nothing else. */
		.uid = st.st_uid ? st.st_uid : FETCH_NOBODY,
		.folder = folder,
		.manifest = -1,
		.bytes_max = 0
	};
	op->waiting++;
	p->send = fetch_start(op->depot, &send, &(struct fetch_sink){ sent_at, sent, p });
	return 0;
}

static void collected(void *arg)
{
	struct files_op *op = arg;

	op->in_lane = false;
	for (size_t i = 0; i < op->output_count && !op->depot->gone; i++) {
		struct place *p = &op->outputs[i];
		struct err err = { .code = ERR_NONE };
		if (p->kind == PLACE_REMOTE && start_send(op, p, &err) < 0)
			not_sent(p, &err);
	}
	if (op->waiting == 0)
		op_answer(op);
}

void depot_files_collect(struct depot *base, const struct job *j, depot_collected done,
			 void *arg)
{
	struct depot_files *d = depot_files_of(base);
	struct files_op *op = op_create(d, j, arg);
	struct err ignored;

	op->collected = done;
	if (!op->output_count) {
		op_answer_later(op, NULL);
		return;
	}
	for (size_t i = 0; i < op->output_count; i++)
		if (place_sort(op, &op->outputs[i], true, &ignored) < 0)
			op->outputs[i].kind =
				PLACE_OWN; /* was refused when it was prepared */
	op->in_lane = true;
	world_lane_work(d->folders, collect_work, collected, op);
}

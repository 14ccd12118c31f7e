// SPDX-License-Identifier: Apache-2.0
/* Uploads in parts, but for the parts themselves (files_put.c). */
#include <string.h>

#include "base/doc.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "http/files.h"
#include "http/handlers.h"
#include "http/params.h"
#include "http/route.h"

char *files_upload_path(struct exchange *ex, struct err *err)
{
	struct storage *s = ex->server->config.storage;

	if (!s) {
		err_set(err, ERR_UNSUPPORTED, "this daemon keeps no files");
		return NULL;
	}
	return upload_path(storage_uploads(s), ex->param[0],
			   ex->who->role == ROLE_ADMIN ? NULL : ex->who->name, err);
}

static void answer_view(struct file_ask *a)
{
	struct buf *out = answer_scratch(a->ex);
	const struct upload_view *v = &a->view;
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "upload", v->id);
	json_str(&j, "path", v->path);
	json_i64(&j, "size", v->size);
	json_i64(&j, "part_size", v->part_size);
	json_array(&j, "have");
	for (size_t i = 0; i < v->have_count; i++) {
		json_array(&j, NULL);
		json_i64(&j, NULL, v->have[i][0]);
		json_i64(&j, NULL, v->have[i][1]);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	answer_json(a->ex, v->fresh ? 201 : 200, out);
}

static void begin_work(struct file_ask *a)
{
	upload_begin(storage_uploads(a->storage), storage_usage(a->storage), &a->place,
		     &a->about, &a->view, &a->err);
}

void handle_upload_begin(struct exchange *ex)
{
	AUTO_DOC struct doc *d = doc_parse_json(ex->body.data, ex->body.len, NULL);
	const struct doc_node *root = doc_root(d);
	struct file_ask *a = files_ask(ex, doc_str(root, "path", ""), VOLUME_WRITE);

	if (!a)
		return;
	a->about = (struct upload_about){
		.owner = mem_strdup(ex->who->name),
		.size = doc_i64(root, "size", 0),
		.part_size = doc_i64(root, "part_size", 0),
		.modified_ms = doc_i64(root, "modified_ms", -1),
		.executable = doc_bool(root, "executable", false),
		.parents = doc_bool(root, "parents", false),
		.now_ms = world_now_ms(ex->server->config.world),
	};
	files_run(a, begin_work, answer_view);
}

/* Of one that is under way, and at whose place the caller still has those rights. */
static struct file_ask *ask_upload(struct exchange *ex, unsigned rights)
{
	struct err err;
	AUTO_FREE char *path = files_upload_path(ex, &err);

	if (!path) {
		answer_error(ex, &err);
		return NULL;
	}
	struct file_ask *a = files_ask(ex, path, rights);
	if (a)
		memcpy(a->id, ex->param[0], strnlen(ex->param[0], sizeof a->id - 1));
	return a;
}

static void show_work(struct file_ask *a)
{
	upload_show(storage_uploads(a->storage), &a->place, a->id, &a->view, &a->err);
}

void handle_upload_show(struct exchange *ex)
{
	struct file_ask *a = ask_upload(ex, VOLUME_READ);

	if (a)
		files_run(a, show_work, answer_view);
}

static void finish_work(struct file_ask *a)
{
	if (upload_finish(storage_uploads(a->storage), &a->place, a->id,
			  a->has_sum ? &a->sum : NULL, &a->replaced, &a->err) < 0)
		return;
	if (a->replaced > 0)
		usage_settle(storage_usage(a->storage), &a->place, 0, -a->replaced);
	file_stat(&a->place, &a->info, &a->err);
}

static void finish_answer(struct file_ask *a)
{
	storage_touched(a->storage, &a->place);
	files_answer_file(a->ex, a->replaced < 0 ? 201 : 200, a->place.path, &a->info);
}

void handle_upload_finish(struct exchange *ex)
{
	AUTO_DOC struct doc *d =
		ex->body.len ? doc_parse_json(ex->body.data, ex->body.len, NULL) : NULL;
	const char *sum = d ? doc_str(doc_root(d), "checksum", NULL) : NULL;
	struct checksum said;
	struct err err;

	if (sum && checksum_read(sum, &said, &err) < 0) {
		err_wrap(&err, "checksum");
		answer_error(ex, &err);
		return;
	}
	struct file_ask *a = ask_upload(ex, VOLUME_WRITE);
	if (!a)
		return;
	a->has_sum = sum != NULL;
	if (sum)
		a->sum = said;
	files_run(a, finish_work, finish_answer);
}

static void cancel_work(struct file_ask *a)
{
	int64_t size;

	if (upload_cancel(storage_uploads(a->storage), &a->place, a->id, &size,
			  &a->err) == 0)
		usage_settle(storage_usage(a->storage), &a->place, 0, -size);
}

static void cancel_answer(struct file_ask *a)
{
	answer_empty(a->ex, 204);
}

void handle_upload_cancel(struct exchange *ex)
{
	struct file_ask *a = ask_upload(ex, VOLUME_WRITE);

	if (a)
		files_run(a, cancel_work, cancel_answer);
}

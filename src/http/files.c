// SPDX-License-Identifier: Apache-2.0
/* Files of the storage: look, make, move, remove, measure. */
#include "http/files.h"

#include <string.h>

#include "base/doc.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "http/handlers.h"
#include "http/params.h"
#include "http/route.h"
#include "yard/range.h"

void files_who(const struct exchange *ex, struct volume_who *out)
{
	*out = (struct volume_who){ .name = ex->who->name,
				    .admin = principal_is_admin(ex->who),
				    .sees_all = ex->who->role == ROLE_ADMIN,
				    .uid = ex->who->uid };
}

int files_find(const struct exchange *ex, const char *path, unsigned rights,
	       struct volume_place *out, struct err *err)
{
	struct storage *s = ex->server->config.storage;
	struct volume_who who;

	if (!s)
		return err_set(err, ERR_UNSUPPORTED, "this daemon keeps no files");
	files_who(ex, &who);
	if (volume_find(storage_volume(s), &who, path, out, err) < 0)
		return -1;
	if (!rights || volume_may(out, rights, err) == 0)
		return 0;
	volume_place_fini(out);
	return -1;
}

bool files_range(struct exchange *ex, const struct volume_place *p, yard_done done,
		 void *arg)
{
	if (p->uid != VOLUME_NO_RANGE || !p->make)
		return false;
	yard_range_make(ex->server->config.yard, p->area == VOLUME_GROUP, p->name, done,
			arg);
	return true;
}

struct file_ask *files_ask(struct exchange *ex, const char *path, unsigned rights)
{
	struct volume_place place;
	struct err err;

	if (files_find(ex, path, rights, &place, &err) < 0) {
		answer_error(ex, &err);
		return NULL;
	}
	struct file_ask *a = mem_alloc(1, sizeof *a);
	a->ex = ex;
	a->storage = ex->server->config.storage;
	a->path = mem_strdup(path);
	a->rights = rights;
	a->place = place;
	return a;
}

void files_ask_free(struct file_ask *a)
{
	volume_place_fini(&a->place);
	volume_place_fini(&a->to);
	file_page_fini(&a->page);
	upload_view_fini(&a->view);
	free((char *)(uintptr_t)a->about.owner);
	free(a->after);
	free(a->path);
	free(a);
}

static void ask_work(void *arg)
{
	struct file_ask *a = arg;

	a->work(a);
}

static void ask_done(void *arg)
{
	struct file_ask *a = arg;
	struct exchange *ex = a->ex;

	if (a->err.code != ERR_NONE)
		answer_error(ex, &a->err);
	else
		a->answer(a);
	exchange_drop(ex);
	files_ask_free(a);
}

static void start_work(struct file_ask *a)
{
	if (a->whole)
		storage_work_whole(a->storage, ask_work, ask_done, a);
	else
		storage_work(a->storage, ask_work, ask_done, a);
}

static void ask_ranged(void *arg, int64_t job, bool again, const struct err *err)
{
	struct file_ask *a = arg;
	struct exchange *ex = a->ex;

	(void)job, (void)again;
	volume_place_fini(&a->place);
	if (!ex->conn)
		err_set(&a->err, ERR_BUSY, "nobody waits any more");
	else if (err)
		a->err = *err;
	else
		files_find(ex, a->path, a->rights, &a->place, &a->err);
	if (a->err.code != ERR_NONE)
		ask_done(a);
	else
		start_work(a);
}

void files_run(struct file_ask *a, void (*work)(struct file_ask *a),
	       void (*answer)(struct file_ask *a))
{
	a->work = work;
	a->answer = answer;
	exchange_hold(a->ex);
	if (!files_range(a->ex, &a->place, ask_ranged, a))
		start_work(a);
}

void files_write_info(struct json *j, const struct file_info *i)
{
	json_str(j, "kind", file_kind_word(i->kind));
	json_i64(j, "size", i->size);
	json_i64(j, "modified_ms", i->modified_ms);
	json_bool(j, "executable", i->executable);
}

static void write_file(struct json *j, const char *path, const struct file_info *i)
{
	json_str(j, "path", path);
	files_write_info(j, i);
	json_str(j, "etag", i->etag);
}

void files_answer_file(struct exchange *ex, int status, const char *path,
		       const struct file_info *i)
{
	struct buf *out = answer_scratch(ex);
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	write_file(&j, path, i);
	json_end(&j);
	answer_json(ex, status, out);
}

static void stat_work(struct file_ask *a)
{
	if (a->has_sum)
		file_sum(&a->place, a->sum.kind, &a->stop, &a->info, &a->sum, &a->err);
	else
		file_stat(&a->place, &a->info, &a->err);
}

static void stat_answer(struct file_ask *a)
{
	char sum[CHECKSUM_TEXT_MAX];
	struct buf *out = answer_scratch(a->ex);
	struct json j;

	a->ex->state = NULL;
	if (!a->has_sum) {
		files_answer_file(a->ex, 200, a->place.path, &a->info);
		return;
	}
	json_init(&j, out);
	json_object(&j, NULL);
	write_file(&j, a->place.path, &a->info);
	checksum_write(&a->sum, sum);
	json_str(&j, "checksum", sum);
	json_end(&j);
	answer_json(a->ex, 200, out);
}

/* Who asked has gone: nobody needs a million files counted, or a large one read. */
static void ask_gone(struct exchange *ex)
{
	struct file_ask *a = ex->state;

	if (a)
		atomic_store(&a->stop, true);
}

void handle_file_stat(struct exchange *ex)
{
	static const struct file_info folder = { .kind = FILE_FOLDER, .etag = "\"0\"" };
	static const struct exchange_ops ops = { .gone = ask_gone };
	const char *sum = param_text(ex, "checksum");
	struct file_ask *a = files_ask(ex, param_text(ex, "path"), sum ? VOLUME_READ : 0);

	if (!a)
		return;
	a->has_sum = a->whole = sum != NULL;
	if (sum)
		checksum_kind_read(sum, &a->sum.kind);
	if (a->place.area == VOLUME_VIRTUAL) {
		files_answer_file(ex, 200, a->place.path, &folder);
		files_ask_free(a);
		return;
	}
	ex->state = a;
	ex->ops = &ops;
	files_run(a, stat_work, stat_answer);
}

static void folder_work(struct file_ask *a)
{
	if (file_make_folder(&a->place, a->parents, &a->err) == 0)
		file_stat(&a->place, &a->info, &a->err);
}

static void folder_answer(struct file_ask *a)
{
	files_answer_file(a->ex, 201, a->place.path, &a->info);
}

void handle_file_folder(struct exchange *ex)
{
	AUTO_DOC struct doc *d = doc_parse_json(ex->body.data, ex->body.len, NULL);
	const struct doc_node *root = doc_root(d);
	struct file_ask *a = files_ask(ex, doc_str(root, "path", ""), VOLUME_WRITE);

	if (!a)
		return;
	a->parents = doc_bool(root, "parents", false);
	files_run(a, folder_work, folder_answer);
}

static void audited(void *arg, int64_t job, bool again, const struct err *err)
{
	struct file_ask *a = arg;
	struct exchange *ex = a->ex;

	(void)job, (void)again;
	if (!err) {
		files_run(a, a->work, a->answer);
	} else {
		answer_error(ex, err);
		files_ask_free(a);
	}
	exchange_drop(ex);
}

/* What an admin does to somebody else's files is written down, and then done. */
static void run_audited(struct file_ask *a, const char *action)
{
	struct exchange *ex = a->ex;
	struct yard_change c = { .action = action, .object = a->place.path };
	bool others = a->place.area == VOLUME_HOME || a->place.area == VOLUME_OUTPUT;

	if (!others || !principal_is_admin(ex->who) ||
	    str_eq(a->place.name, ex->who->name)) {
		files_run(a, a->work, a->answer);
		return;
	}
	exchange_hold(ex);
	yard_change(ex->server->config.yard, ex->who, &c, audited, a);
}

static void move_work(struct file_ask *a)
{
	if (file_move(&a->place, &a->to, a->replace, &a->err) == 0)
		file_stat(&a->to, &a->info, &a->err);
}

static void move_answer(struct file_ask *a)
{
	files_answer_file(a->ex, 200, a->to.path, &a->info);
}

void handle_file_move(struct exchange *ex)
{
	AUTO_DOC struct doc *d = doc_parse_json(ex->body.data, ex->body.len, NULL);
	const struct doc_node *root = doc_root(d);
	struct file_ask *a = files_ask(ex, doc_str(root, "from", ""), VOLUME_WRITE);
	struct err err;

	if (!a)
		return;
	a->replace = doc_bool(root, "replace", false);
	if (files_find(ex, doc_str(root, "to", ""), VOLUME_WRITE, &a->to, &err) < 0) {
		answer_error(ex, &err);
		files_ask_free(a);
		return;
	}
	a->work = move_work;
	a->answer = move_answer;
	run_audited(a, "file.move");
}

static void remove_work(struct file_ask *a)
{
	file_remove(&a->place, a->recursive, &a->size, &a->err);
	usage_settle(storage_usage(a->storage), &a->place, 0, -a->size.bytes);
}

static void remove_answer(struct file_ask *a)
{
	answer_empty(a->ex, 204);
}

void handle_file_remove(struct exchange *ex)
{
	struct file_ask *a = files_ask(ex, param_text(ex, "path"), VOLUME_REMOVE);

	if (!a)
		return;
	a->recursive = a->whole = param_bool(ex, "recursive");
	a->work = remove_work;
	a->answer = remove_answer;
	run_audited(a, "file.remove");
}

static void usage_work(struct file_ask *a)
{
	if (file_measure(&a->place, &a->stop, &a->size, &a->err) == 0)
		file_free_bytes(&a->place, &a->free_bytes, &a->err);
}

static void usage_answer(struct file_ask *a)
{
	struct buf *out = answer_scratch(a->ex);
	int64_t quota = usage_quota(storage_usage(a->storage), &a->place);
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "path", a->place.path);
	json_i64(&j, "bytes", a->size.bytes);
	json_i64(&j, "files", a->size.files);
	if (quota)
		json_i64(&j, "quota_bytes", quota);
	else
		json_null(&j, "quota_bytes");
	json_i64(&j, "free_bytes", a->free_bytes);
	json_end(&j);
	answer_json(a->ex, 200, out);
}

static void usage_over(struct file_ask *a)
{
	a->ex->state = NULL;
	usage_answer(a);
}

void handle_file_usage(struct exchange *ex)
{
	static const struct exchange_ops ops = { .gone = ask_gone };
	struct file_ask *a = files_ask(ex, param_text(ex, "path"), VOLUME_READ);

	if (!a)
		return;
	a->whole = true;
	ex->state = a;
	ex->ops = &ops;
	files_run(a, usage_work, usage_over);
}

static void sync_work(struct file_ask *a)
{
	file_sync(&a->place, &a->err);
}

static void sync_answer(struct file_ask *a)
{
	answer_empty(a->ex, 204);
}

/* All areas lie on one disk as a rule; of another one its own path must be named. */
void handle_file_sync(struct exchange *ex)
{
	const char *path = param_text(ex, "path");
	struct file_ask *a = files_ask(ex, path ? path : "~", VOLUME_READ);

	if (a)
		files_run(a, sync_work, sync_answer);
}

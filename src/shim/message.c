// SPDX-License-Identifier: Apache-2.0
#include "shim/message.h"

#include <string.h>

#include "base/mem.h"
#include "shim/bytes.h"

/* The encoded task: the version, then fields: u8 tag, u32 length, bytes.  Unknown tags
 * are an error: daemon and shim are installed together, and a limit or mount that the
 * shim does not understand must not be left out quietly. */
#define MESSAGE_VERSION 1

enum tag {
	TAG_END,
	TAG_FOLDER,
	TAG_CACHE,
	TAG_HOSTNAME,
	TAG_WORKDIR,
	TAG_ARG,
	TAG_ENV,
	TAG_DEVICE,
	TAG_MOUNT_KIND, /* begins a mount; the next three belong to it */
	TAG_MOUNT_TARGET,
	TAG_MOUNT_SOURCE,
	TAG_MOUNT_CONTENT,
	TAG_NUMBERS, /* struct numbers, in order */
	TAG_TTY,
	TAG_ROWS,
	TAG_COLUMNS,
	TAG_GROUP,
	TAG_STOP_FILE,
	TAG_MOUNT_RANGE, /* i64 */
	TAG_STAGE,       /* its name; begins a stage; the next two belong to it */
	TAG_STAGE_ARG,
	TAG_STAGE_ENV,
	TAG_PROCESS, /* begins a process */
	TAG_PROCESS_ENV,
	TAG_NOTE,
};

static void put_field(struct buf *out, enum tag tag, const void *data, size_t len)
{
	buf_addc(out, (char)tag);
	put_u32(out, (uint32_t)len);
	if (len > 0)
		buf_add(out, data, len);
}

static void put_text(struct buf *out, enum tag tag, const char *s)
{
	if (s)
		put_field(out, tag, s, strlen(s));
}

static void put_list(struct buf *out, enum tag tag, const struct shim_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		put_text(out, tag, l->items[i]);
}

static void put_small(struct buf *out, enum tag tag, int v)
{
	uint8_t b[2] = { (uint8_t)v, (uint8_t)(v >> 8) };

	put_field(out, tag, b, sizeof b);
}

/* One field of the input; data stays inside it. */
struct field {
	enum tag tag;
	const char *data;
	size_t len;
};

struct reader {
	const char *at, *end;
};

static int reader_init(struct reader *r, const char *data, size_t len, struct err *err)
{
	if (len < 1 || data[0] != MESSAGE_VERSION)
		return err_set(err, ERR_INVALID, "message is of version %d, not %d",
			       len < 1 ? 0 : (uint8_t)data[0], MESSAGE_VERSION);
	r->at = data + 1;
	r->end = data + len;
	return 0;
}

static int reader_next(struct reader *r, struct field *f, struct err *err)
{
	if (r->at ==
	    r->end) { /* the end is said, so that a cut message is not taken for whole */
		return err_set(err, ERR_INVALID, "message has no end");
	}
	if (r->end - r->at < 5)
		return err_set(err, ERR_INVALID, "message is cut");
	f->tag = (enum tag)(uint8_t)r->at[0];
	f->len = get_u32(r->at + 1);
	f->data = r->at + 5;
	if (f->len > (size_t)(r->end - f->data))
		return err_set(err, ERR_INVALID, "message is cut");
	r->at = f->data + f->len;
	if (f->tag == TAG_END && (f->len || r->at != r->end))
		return err_set(err, ERR_INVALID, "message goes on behind its end");
	return 0;
}

static int text_of(const struct field *f, char **out, struct err *err)
{
	if (memchr(f->data, 0, f->len))
		return err_set(err, ERR_INVALID,
			       "text in a message contains a zero byte");
	if (*out)
		return err_set(err, ERR_INVALID, "field %d comes twice", f->tag);
	*out = mem_strndup(f->data, f->len);
	return 0;
}

static int item_of(const struct field *f, struct shim_list *l, struct err *err)
{
	AUTO_FREE char *s = NULL;

	if (l->count >= SHIM_LIST_MAX)
		return err_set(err, ERR_TOO_LARGE, "more than %d entries in a list",
			       SHIM_LIST_MAX);
	if (text_of(f, &s, err) < 0)
		return -1;
	shim_list_add(l, s);
	return 0;
}

static int small_of(const struct field *f, int *out, struct err *err)
{
	if (f->len != 2)
		return err_set(err, ERR_INVALID, "field %d has a wrong length", f->tag);
	*out = (uint8_t)f->data[0] | (uint8_t)f->data[1] << 8;
	return 0;
}

void shim_list_add(struct shim_list *l, const char *s)
{
	mem_grow(&l->items, &l->cap, l->count + 1, sizeof *l->items);
	l->items[l->count++] = mem_strdup(s);
	l->items[l->count] = NULL;
}

static void list_fini(struct shim_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->items[i]);
	free(l->items);
	*l = (struct shim_list){ 0 };
}

void shim_task_init(struct shim_task *t)
{
	*t = (struct shim_task){ .uid_base = -1,
				 .owner_uid = -1,
				 .nofile = -1,
				 .core_bytes = -1,
				 .memlock_bytes = -1 };
}

void shim_task_fini(struct shim_task *t)
{
	free(t->folder);
	free(t->cache);
	free(t->hostname);
	free(t->workdir);
	free(t->stop_file);
	list_fini(&t->argv);
	list_fini(&t->env);
	list_fini(&t->devices);
	list_fini(&t->groups);
	list_fini(&t->notes);
	for (size_t i = 0; i < t->stage_count; i++) {
		free(t->stages[i].name);
		list_fini(&t->stages[i].argv);
		list_fini(&t->stages[i].env);
	}
	free(t->stages);
	for (size_t i = 0; i < t->process_count; i++)
		list_fini(&t->processes[i]);
	free(t->processes);
	shim_secrets_fini(&t->secrets);
	for (size_t i = 0; i < t->mount_count; i++) {
		free(t->mounts[i].target);
		free(t->mounts[i].source);
		free(t->mounts[i].content);
	}
	free(t->mounts);
	shim_task_init(t);
}

struct shim_mount *shim_task_mount(struct shim_task *t, enum shim_mount_kind kind,
				   const char *target, const char *source)
{
	struct shim_mount *m;

	mem_grow(&t->mounts, &t->mount_cap, t->mount_count, sizeof *t->mounts);
	m = &t->mounts[t->mount_count++];
	*m = (struct shim_mount){ .kind = kind,
				  .target = mem_strdup(target),
				  .source = mem_strdup(source),
				  .range = -1 };
	return m;
}

struct shim_stage *shim_task_stage(struct shim_task *t, const char *name)
{
	struct shim_stage *s;

	mem_grow(&t->stages, &t->stage_cap, t->stage_count, sizeof *t->stages);
	s = &t->stages[t->stage_count++];
	*s = (struct shim_stage){ .name = mem_strdup(name) };
	return s;
}

struct shim_list *shim_task_process(struct shim_task *t)
{
	mem_grow(&t->processes, &t->process_cap, t->process_count, sizeof *t->processes);
	t->processes[t->process_count] = (struct shim_list){ 0 };
	return &t->processes[t->process_count++];
}

/* Every number of a task, in the order it travels. */
/* clang-format off */
#define TASK_NUMBERS(X)                                                                  \
	X(job)                                                                           \
	X(rank)                                                                          \
	X(attempt)                                                                       \
	X(cpu_milli) X(memory_bytes) X(shm_bytes) X(pids_max) X(log_limit_bytes)         \
		X(uid_base) X(uid_count) X(owner_uid) X(nofile) X(core_bytes)            \
			X(memlock_bytes) X(secret_count)
/* clang-format on */

static void put_mount(const struct shim_mount *m, struct buf *out)
{
	uint8_t kind = (uint8_t)m->kind;

	put_field(out, TAG_MOUNT_KIND, &kind, 1);
	put_text(out, TAG_MOUNT_TARGET, m->target);
	put_text(out, TAG_MOUNT_SOURCE, m->source);
	if (m->kind == SHIM_FILE)
		put_field(out, TAG_MOUNT_CONTENT, m->content, m->content_len);
	if (m->range >= 0) {
		AUTO_BUF struct buf range = { 0 };

		put_i64(&range, m->range);
		put_field(out, TAG_MOUNT_RANGE, range.data, range.len);
	}
}

static void put_numbers(const struct shim_task *t, struct buf *out)
{
	AUTO_BUF struct buf b = { 0 };

#define X(name) put_i64(&b, t->name);
	TASK_NUMBERS(X)
#undef X
	put_field(out, TAG_NUMBERS, b.data, b.len);
}

static int numbers_of(const struct field *f, struct shim_task *t, struct err *err)
{
	const char *p = f->data;
#define X(name) +8
	const size_t want = 0 TASK_NUMBERS(X);
#undef X

	if (f->len != want)
		return err_set(err, ERR_INVALID,
			       "the task's numbers have a wrong length");
#define X(name) t->name = get_i64(p), p += 8;
	TASK_NUMBERS(X)
#undef X
	return 0;
}

static void put_steps(const struct shim_task *t, struct buf *out)
{
	for (size_t i = 0; i < t->stage_count; i++) {
		put_text(out, TAG_STAGE, t->stages[i].name);
		put_list(out, TAG_STAGE_ARG, &t->stages[i].argv);
		put_list(out, TAG_STAGE_ENV, &t->stages[i].env);
	}
	for (size_t i = 0; i < t->process_count; i++) {
		put_field(out, TAG_PROCESS, NULL, 0);
		put_list(out, TAG_PROCESS_ENV, &t->processes[i]);
	}
}

void shim_task_encode(const struct shim_task *t, struct buf *out)
{
	buf_addc(out, MESSAGE_VERSION);
	put_text(out, TAG_FOLDER, t->folder);
	put_text(out, TAG_CACHE, t->cache);
	put_text(out, TAG_HOSTNAME, t->hostname);
	put_text(out, TAG_WORKDIR, t->workdir);
	put_text(out, TAG_STOP_FILE, t->stop_file);
	put_list(out, TAG_ARG, &t->argv);
	put_list(out, TAG_ENV, &t->env);
	put_list(out, TAG_DEVICE, &t->devices);
	put_list(out, TAG_GROUP, &t->groups);
	put_list(out, TAG_NOTE, &t->notes);
	put_numbers(t, out);
	put_steps(t, out);
	for (size_t i = 0; i < t->mount_count; i++)
		put_mount(&t->mounts[i], out);
	put_field(out, TAG_END, NULL, 0);
}

static int mount_of(const struct field *f, struct shim_task *t, struct err *err)
{
	struct shim_mount *m = t->mount_count ? &t->mounts[t->mount_count - 1] : NULL;

	if (f->tag == TAG_MOUNT_KIND) {
		if (f->len != 1 || (uint8_t)f->data[0] >= SHIM_MOUNT_COUNT)
			return err_set(err, ERR_INVALID, "unknown kind of mount");
		if (t->mount_count >= SHIM_LIST_MAX)
			return err_set(err, ERR_TOO_LARGE, "more than %d mounts",
				       SHIM_LIST_MAX);
		shim_task_mount(t, (enum shim_mount_kind)f->data[0], NULL, NULL);
		return 0;
	}
	if (!m)
		return err_set(err, ERR_INVALID, "field %d belongs to no mount", f->tag);
	if (f->tag == TAG_MOUNT_TARGET)
		return text_of(f, &m->target, err);
	if (f->tag == TAG_MOUNT_SOURCE)
		return text_of(f, &m->source, err);
	if (f->tag == TAG_MOUNT_RANGE) {
		if (f->len != 8)
			return err_set(err, ERR_INVALID, "a range has a wrong length");
		m->range = get_i64(f->data);
		return 0;
	}
	if (m->content)
		return err_set(err, ERR_INVALID, "field %d comes twice", f->tag);
	m->content = mem_strndup(f->data, f->len); /* never NULL, also when empty */
	m->content_len = f->len;
	return 0;
}

static int step_of(const struct field *f, struct shim_task *t, struct err *err)
{
	struct shim_stage *s = t->stage_count ? &t->stages[t->stage_count - 1] : NULL;
	struct shim_list *p =
		t->process_count ? &t->processes[t->process_count - 1] : NULL;

	if (f->tag == TAG_STAGE) {
		if (t->stage_count == SHIM_STAGES_MAX || f->len >= SHIM_STAGE_MAX)
			return err_set(err, ERR_TOO_LARGE, "too many stages");
		return text_of(f, &shim_task_stage(t, NULL)->name, err);
	}
	if (f->tag == TAG_PROCESS) {
		if (t->process_count == SHIM_PROCESSES_MAX)
			return err_set(err, ERR_TOO_LARGE, "too many processes");
		shim_task_process(t);
		return 0;
	}
	if (f->tag == TAG_PROCESS_ENV ? !p : !s)
		return err_set(err, ERR_INVALID, "field %d belongs to nothing", f->tag);
	if (f->tag == TAG_PROCESS_ENV)
		return item_of(f, p, err);
	return item_of(f, f->tag == TAG_STAGE_ARG ? &s->argv : &s->env, err);
}

static int task_field(const struct field *f, struct shim_task *t, struct err *err)
{
	switch (f->tag) {
	case TAG_FOLDER:
		return text_of(f, &t->folder, err);
	case TAG_CACHE:
		return text_of(f, &t->cache, err);
	case TAG_HOSTNAME:
		return text_of(f, &t->hostname, err);
	case TAG_WORKDIR:
		return text_of(f, &t->workdir, err);
	case TAG_STOP_FILE:
		return text_of(f, &t->stop_file, err);
	case TAG_ARG:
		return item_of(f, &t->argv, err);
	case TAG_ENV:
		return item_of(f, &t->env, err);
	case TAG_DEVICE:
		return item_of(f, &t->devices, err);
	case TAG_GROUP:
		return item_of(f, &t->groups, err);
	case TAG_MOUNT_KIND:
	case TAG_MOUNT_TARGET:
	case TAG_MOUNT_SOURCE:
	case TAG_MOUNT_CONTENT:
	case TAG_MOUNT_RANGE:
		return mount_of(f, t, err);
	case TAG_NUMBERS:
		return numbers_of(f, t, err);
	case TAG_STAGE:
	case TAG_STAGE_ARG:
	case TAG_STAGE_ENV:
	case TAG_PROCESS:
	case TAG_PROCESS_ENV:
		return step_of(f, t, err);
	case TAG_NOTE:
		return item_of(f, &t->notes, err);
	case TAG_END:
	case TAG_TTY:
	case TAG_ROWS:
	case TAG_COLUMNS:
		break;
	}
	return err_set(err, ERR_INVALID, "unknown field %d in a task", f->tag);
}

/* No ".." and no second slash: a target is joined to the new root as it is. */
static bool path_ok(const char *p)
{
	if (!p || p[0] != '/' || strstr(p, "//"))
		return false;
	for (const char *s = p; (s = strstr(s, "/..")); s += 3) {
		if (s[3] == '/' || s[3] == 0)
			return false;
	}
	return true;
}

static bool range_ok(int64_t base, int64_t count)
{
	return base > 0 && base <= UINT32_MAX - 65536 && count >= 1 && count <= 1 << 24;
}

static int mount_check(const struct shim_task *t, size_t i, struct err *err)
{
	const struct shim_mount *m = &t->mounts[i];
	bool source = m->kind != SHIM_DIR && m->kind != SHIM_FILE;

	if (!path_ok(m->target) || !m->target[1])
		return err_set(err, ERR_INVALID,
			       "target of mount %zu is not an absolute path", i);
	if (source != (m->source && m->source[0] == '/'))
		return err_set(err, ERR_INVALID, "source of mount %s is not right",
			       m->target);
	if ((m->kind == SHIM_FILE) != (m->content != NULL))
		return err_set(err, ERR_INVALID, "content of mount %s is not right",
			       m->target);
	bool ranged = m->kind == SHIM_BIND_RW || m->kind == SHIM_OURS_RO ||
		      m->kind == SHIM_SCRATCH_OF;
	if (m->range != -1 &&
	    (!ranged || t->uid_base < 0 || !range_ok(m->range, t->uid_count)))
		return err_set(err, ERR_INVALID, "range of mount %s is not right",
			       m->target);
	return 0;
}

static int task_check(const struct shim_task *t, struct err *err)
{
	if (!path_ok(t->folder))
		return err_set(err, ERR_INVALID, "folder is not an absolute path");
	if (t->cache && !path_ok(t->cache))
		return err_set(err, ERR_INVALID, "cache is not an absolute path");
	if (!path_ok(t->workdir))
		return err_set(err, ERR_INVALID, "workdir is not an absolute path");
	if (t->argv.count == 0)
		return err_set(err, ERR_INVALID, "the command is empty");
	for (size_t i = 0; i < t->stage_count; i++)
		if (t->stages[i].argv.count == 0)
			return err_set(err, ERR_INVALID, "a stage is empty");
	if (t->stop_file && !path_ok(t->stop_file))
		return err_set(err, ERR_INVALID, "stop file is not an absolute path");
	if (t->uid_base >= 0 && !range_ok(t->uid_base, t->uid_count))
		return err_set(err, ERR_INVALID, "the range of uids is not possible");
	for (size_t i = 0; i < t->mount_count; i++)
		if (mount_check(t, i, err) < 0)
			return -1;
	return 0;
}

int shim_task_decode(const char *data, size_t len, struct shim_task *out, struct err *err)
{
	struct reader r = { NULL, NULL };
	struct field f = { TAG_FOLDER, "", 0 };

	shim_task_init(out);
	if (len > SHIM_BUNDLE_MAX)
		return err_set(err, ERR_TOO_LARGE, "a task of %zu bytes", len);
	if (reader_init(&r, data, len, err) < 0)
		return -1;
	while (reader_next(&r, &f, err) == 0) {
		if (f.tag == TAG_END) {
			if (task_check(out, err) == 0)
				return 0;
			break;
		}
		if (task_field(&f, out, err) < 0)
			break;
	}
	shim_task_fini(out);
	return -1;
}

void shim_exec_fini(struct shim_exec *e)
{
	list_fini(&e->argv);
	list_fini(&e->env);
	*e = (struct shim_exec){ 0 };
}

void shim_exec_encode(const struct shim_exec *e, struct buf *out)
{
	buf_addc(out, MESSAGE_VERSION);
	put_list(out, TAG_ARG, &e->argv);
	put_list(out, TAG_ENV, &e->env);
	put_small(out, TAG_TTY, e->tty);
	put_small(out, TAG_ROWS, e->rows);
	put_small(out, TAG_COLUMNS, e->columns);
	put_field(out, TAG_END, NULL, 0);
}

static int exec_field(const struct field *f, struct shim_exec *e, struct err *err)
{
	int v = 0;

	if (f->tag == TAG_ARG)
		return item_of(f, &e->argv, err);
	if (f->tag == TAG_ENV)
		return item_of(f, &e->env, err);
	if (f->tag != TAG_TTY && f->tag != TAG_ROWS && f->tag != TAG_COLUMNS)
		return err_set(err, ERR_INVALID, "unknown field %d in an exec", f->tag);
	if (small_of(f, &v, err) < 0)
		return -1;
	if (f->tag == TAG_TTY)
		e->tty = v != 0;
	else if (f->tag == TAG_ROWS)
		e->rows = v;
	else
		e->columns = v;
	return 0;
}

int shim_exec_decode(const char *data, size_t len, struct shim_exec *out, struct err *err)
{
	struct reader r = { NULL, NULL };
	struct field f = { TAG_ARG, "", 0 };

	*out = (struct shim_exec){ 0 };
	if (reader_init(&r, data, len, err) < 0)
		return -1;
	while (reader_next(&r, &f, err) == 0) {
		if (f.tag == TAG_END) {
			if (out->argv.count > 0)
				return 0;
			err_set(err, ERR_INVALID, "the command is empty");
			break;
		}
		if (exec_field(&f, out, err) < 0)
			break;
	}
	shim_exec_fini(out);
	return -1;
}

// SPDX-License-Identifier: Apache-2.0
#include "stream/board.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "stream/beneath.h"
#include "stream/event_file.h"

struct event_file {
	char *path; /* below the board's folder */
	struct metric_run *run;
	dev_t dev; /* of the file that was read, as long as offset is not 0 */
	ino_t ino;
	int64_t offset;
	bool more;     /* the budget was over before it was */
	bool strange;  /* a record that is no event was told */
	char *problem; /* why it is not read on at present, or NULL */
};

struct board {
	char *base, *path, *prefix; /* as in struct metrics_folder */
	int64_t uid, uid_count;
	dev_t dev; /* of the folder, once it was there */
	ino_t ino;
	struct event_file **files; /* by run and name */
	size_t file_count, file_cap;
	size_t at;         /* the file that is read next in this pass */
	struct map *known; /* path → file */
	size_t bytes;
};

struct board *board_create(const struct metrics_folder *f)
{
	struct board *b = mem_alloc(1, sizeof *b);

	*b = (struct board){ .base = mem_strdup(f->base),
			     .path = mem_strdup(f->path && *f->path ? f->path : "."),
			     .prefix = mem_strdup(f->prefix),
			     .uid = f->uid,
			     .uid_count = f->uid_count,
			     .known = map_create() };
	return b;
}

void board_destroy(struct board *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->file_count; i++) {
		free(b->files[i]->path);
		free(b->files[i]->problem);
		free(b->files[i]);
	}
	free(b->files);
	map_destroy(b->known);
	free(b->base);
	free(b->path);
	free(b->prefix);
	free(b);
}

size_t board_bytes(const struct board *b)
{
	return sizeof *b + b->bytes + b->file_cap * sizeof *b->files;
}

static bool is_theirs(const struct board *b, const struct stat *st)
{
	int64_t uid = st->st_uid;

	return !b->uid_count || (uid >= b->uid && uid - b->uid < b->uid_count);
}

/* The board's own folder. */
static int open_board(const struct board *b, struct err *err)
{
	AUTO_FD int base = beneath_root(b->base, err);
	AUTO_FD int fd = base < 0 ? -1 : beneath_folder(base, b->path, err);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || !is_theirs(b, &st))
		return err_set(err, ERR_DENIED, "%s: not a folder of the job's owner",
			       b->path);
	return TAKE_FD(fd);
}

void board_find(struct board *b)
{
	struct err ignored; /* told by board_look() */
	struct stat st;
	AUTO_FD int root = open_board(b, &ignored);

	if (root >= 0 && fstat(root, &st) == 0) {
		b->dev = st.st_dev;
		b->ino = st.st_ino;
	}
}

bool board_same(const struct board *a, const struct board *b)
{
	return a->ino && a->ino == b->ino && a->dev == b->dev;
}

const char *board_problem(const struct board *b, size_t *at)
{
	while (*at < b->file_count) {
		const char *problem = b->files[(*at)++]->problem;
		if (problem)
			return problem;
	}
	return NULL;
}

/* Looking: folders that are still to be looked into, by path, those of a level together. */
struct search {
	struct board *board;
	struct metric_set *set;
	int root;
	char **folders;
	size_t count, cap, entries;
};

static int compare_files(const void *a, const void *b)
{
	const struct event_file *const *x = a, *const *y = b;

	return strcmp((*x)->path, (*y)->path);
}

/* "." for the board's own folder, "train", "exp/train"; the prefix before it. */
static char *run_name(const struct board *b, const char *folder)
{
	bool top = str_eq(folder, ".");

	if (!b->prefix)
		return mem_strdup(folder);
	return top ? mem_strdup(b->prefix) : str_printf("%s/%s", b->prefix, folder);
}

static void add_file(struct search *s, const char *folder, const char *path)
{
	struct board *b = s->board;

	if (map_gets(b->known, path))
		return;
	if (b->file_count >= BOARD_FILES_MAX) {
		metric_set_problem(s->set,
				   "more than %d event files: the others are left out",
				   BOARD_FILES_MAX);
		return;
	}
	AUTO_FREE char *name = run_name(b, folder);
	struct metric_run *run = metric_set_run(s->set, METRIC_TENSORBOARD, name);
	if (!run)
		return;
	struct event_file *f = mem_alloc(1, sizeof *f);
	*f = (struct event_file){ .path = mem_strdup(path), .run = run };
	map_puts(b->known, path, f);
	mem_grow(&b->files, &b->file_cap, b->file_count, sizeof *b->files);
	b->files[b->file_count++] = f;
	b->bytes += sizeof *f + 2 * strlen(path) + 128;
}

static size_t depth_of(const char *path)
{
	size_t depth = 1;

	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

static void add_folder(struct search *s, const char *path)
{
	if (s->count >= BOARD_FOLDERS_MAX || depth_of(path) > BOARD_DEPTH_MAX) {
		metric_set_problem(
			s->set,
			"more than %d folders, or %d one in the other: the others are left out",
			BOARD_FOLDERS_MAX, BOARD_DEPTH_MAX);
		return;
	}
	mem_grow(&s->folders, &s->cap, s->count, sizeof *s->folders);
	s->folders[s->count++] = mem_strdup(path);
}

static bool is_folder(int fd, const struct dirent *e)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return e->d_type == DT_DIR;
	return fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(st.st_mode);
}

static void look_into(struct search *s, const char *folder)
{
	struct err ignored; /* it went away, or became a link: then it is no run */
	int fd = beneath_folder(s->root, folder, &ignored);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!d && fd >= 0)
		close(fd);
	while (d && (e = readdir(d)) && s->entries++ < BOARD_ENTRIES_MAX) {
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		AUTO_FREE char *path = str_eq(folder, ".")
					       ? mem_strdup(e->d_name)
					       : str_printf("%s/%s", folder, e->d_name);
		if (is_folder(fd, e))
			add_folder(s, path);
		else if (strstr(e->d_name, "tfevents"))
			add_file(s, folder, path);
	}
	if (d)
		closedir(d);
}

static void look_everywhere(struct search *s)
{
	size_t before = s->board->file_count;

	add_folder(s, ".");
	for (size_t i = 0; i < s->count; i++) {
		look_into(s, s->folders[i]);
		free(TAKE(s->folders[i]));
	}
	free(s->folders);
	if (s->entries > BOARD_ENTRIES_MAX)
		metric_set_problem(s->set, "more than %d files: the others are left out",
				   BOARD_ENTRIES_MAX);
	if (s->board->file_count > before)
		qsort(s->board->files, s->board->file_count, sizeof *s->board->files,
		      compare_files);
}

void board_look(struct board *b, struct metric_set *set)
{
	struct err err;
	AUTO_FD int root = open_board(b, &err);

	if (root < 0) {
		if (err.code != ERR_NOT_FOUND)
			metric_set_problem(set, "event files: %s", err.text);
		return;
	}
	b->at = 0;
	look_everywhere(&(struct search){ .board = b, .set = set, .root = root });
}

/* Names that TensorBoard's plugins give what they write, and ours. */
static const char *kind_of(const char *plugin)
{
	/* clang-format off */
	static const struct { const char *plugin, *kind; } kinds[] = {
		{ "images", "image" }, { "histograms", "histogram" }, { "audio", "audio" },
		{ "text", "text" }, { "hparams", "hparams" }, { "pr_curves", "pr_curve" },
		{ "mesh", "mesh" }, { "custom_scalars", "layout" },
	};
	/* clang-format on */

	for (size_t i = 0; plugin && i < COUNT_OF(kinds); i++)
		if (str_eq(plugin, kinds[i].plugin))
			return kinds[i].kind;
	return "tensor";
}

static void take_tensor(struct metric_run *run, const struct event_record *r,
			const struct event_value *v)
{
	struct series_point p = { r->step, r->time_ms, v->number };

	if (v->has_number && metric_run_expects(run, v->tag, v->tag_len)) {
		metric_run_number(run, v->tag, v->tag_len, &p);
		return;
	}
	const char *plugin =
		metric_run_plugin(run, v->tag, v->tag_len, v->plugin, v->plugin_len);
	if (v->has_number && plugin && str_eq(plugin, "scalars"))
		metric_run_number(run, v->tag, v->tag_len, &p);
	else
		metric_run_other(run, kind_of(plugin), v->tag, v->tag_len, r->step);
}

static void take_value(struct metric_run *run, const struct event_record *r,
		       const struct event_value *v)
{
	struct series_point p = { r->step, r->time_ms, v->number };

	switch (v->kind) {
	case EVENT_NUMBER:
		metric_run_number(run, v->tag, v->tag_len, &p);
		return;
	case EVENT_IMAGE:
		metric_run_other(run, "image", v->tag, v->tag_len, r->step);
		return;
	case EVENT_HISTOGRAM:
		metric_run_other(run, "histogram", v->tag, v->tag_len, r->step);
		return;
	case EVENT_AUDIO:
		metric_run_other(run, "audio", v->tag, v->tag_len, r->step);
		return;
	case EVENT_TENSOR:
		take_tensor(run, r, v);
		return;
	case EVENT_NOTHING: /* hparams of the old form have metadata alone */
		if (v->plugin_len)
			take_tensor(run, r, v);
		return;
	}
}

static int take_whole(struct metric_run *run, const uint8_t *data, size_t len)
{
	struct event_record r;
	struct event_walk walk = { 0 };
	struct event_value v;
	int got;

	if (event_record_read(data, len, &r) < 0)
		return -1;
	if (r.restart)
		metric_run_forget_from(run, r.step);
	if (r.graph)
		metric_run_other(run, "graph", "graph", strlen("graph"), r.step);
	while ((got = event_value_next(&r, &walk, &v)) > 0)
		take_value(run, &r, &v);
	return got;
}

int board_take(struct metric_run *run, const uint8_t *data, size_t len)
{
	struct event_plain plain;

	if (!event_plain_read(data, len, &plain))
		return take_whole(run, data, len);
	metric_run_number(run, plain.tag, plain.tag_len, &plain.point);
	return 0;
}

static void set_problem(struct event_file *f, const char *text)
{
	free(f->problem);
	f->problem = text ? str_printf("%s: %s", f->path, text) : NULL;
}

static void tell_strange(struct metric_set *set, struct event_file *f, int64_t at,
			 const char *what)
{
	if (!f->strange)
		metric_set_problem(set, "%s: the record at byte %lld %s", f->path,
				   (long long)at, what);
	f->strange = true; /* once a file */
}

/* Whole records, until there are no more or the budget is over. */
static void read_records(struct event_file *f, struct metric_set *set,
			 struct record_reader *r, int64_t *budget)
{
	enum record_got got = RECORD_HERE;
	const uint8_t *data;
	struct err err;
	uint64_t len;

	while (*budget > 0) {
		int64_t at = r->offset, walked = set->walked;
		got = record_next(r, &data, &len, &err);
		if (got == RECORD_FAILED)
			set_problem(f, err.text);
		if (got != RECORD_HERE && got != RECORD_LONG)
			break;
		*budget -= r->offset - at;
		if (got == RECORD_LONG)
			tell_strange(set, f, at, "is longer than 64 MiB and passed over");
		else if (board_take(f->run, data, (size_t)len) < 0)
			tell_strange(set, f, at, "is whole but is no event; passed over");
		/* A short record may have all series looked through. */
		*budget -= set->walked - walked;
	}
	f->more = got == RECORD_HERE || got == RECORD_LONG;
	f->offset = r->offset;
}

/* True: the file may be read on. */
static bool still_the_same(struct event_file *f, const struct stat *st)
{
	if (f->offset && (f->dev != st->st_dev || f->ino != st->st_ino))
		set_problem(f, "another file was put in its place; that one is not read");
	else if (st->st_size < f->offset)
		set_problem(f, "it became shorter; it is not read on");
	else
		return true;
	return false;
}

static void read_file(const struct board *b, struct event_file *f, struct metric_set *set,
		      int root, struct record_buffer *buffer, int64_t *budget)
{
	struct record_reader r;
	struct stat st;
	struct err err;
	AUTO_FD int fd = beneath_file(root, f->path, &st, &err);

	f->more = false;
	if (fd < 0 && err.code == ERR_NOT_FOUND)
		return; /* taken away: what was read of it stays */
	if (fd < 0) {
		free(f->problem);
		f->problem = mem_strdup(err.text);
		return;
	}
	if (!is_theirs(b, &st)) {
		set_problem(f, "it belongs to somebody else; it is not read");
		return;
	}
	if (!still_the_same(f, &st))
		return;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	set_problem(f, NULL); /* a record that was corrupt may be whole by now */
	record_reader_init(&r, fd, f->offset, st.st_size, buffer);
	read_records(f, set, &r, budget);
}

bool board_read(struct board *b, struct metric_set *set, struct record_buffer *buffer,
		int64_t *budget)
{
	struct err ignored; /* told by board_look() */
	AUTO_FD int root = b->file_count ? open_board(b, &ignored) : -1;

	for (; root >= 0 && b->at < b->file_count; b->at++) {
		if (*budget <= 0)
			return true;
		read_file(b, b->files[b->at], set, root, buffer, budget);
		if (b->files[b->at]->more)
			return true;
	}
	return false;
}

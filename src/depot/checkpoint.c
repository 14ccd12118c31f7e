// SPDX-License-Identifier: Apache-2.0
#include "depot/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

/* Folders held open at once.  What is nested deeper can only be a task's own doing. */
#define DEPTH_MAX 64
#define MS_NS     1000000

struct mark {
	char *name; /* of the entry it is for */
	int64_t ns;
};

struct look {
	struct checkpoint_sight *sight;
	struct mark *marks;
	size_t mark_count, mark_cap;
};

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), e = strlen(end);

	return n >= e && str_eq(name + n - e, end);
}

/* By its name it may be one. */
static bool is_entry(const char *name)
{
	return name[0] != '.' && !ends_with(name, ".tmp") && !ends_with(name, ".part") &&
	       !ends_with(name, CHECKPOINT_MARK);
}

static int64_t written_ns(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000 * MS_NS + st->st_mtim.tv_nsec;
}

/* As FNV-1a does it, with whole numbers for bytes. */
static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(1099511628211);
	return h ^ h >> 32;
}

/* Added up, so that the order in which a folder is read does not matter. */
static void add_print(struct checkpoint_sight *s, const char *name, const struct stat *st)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (const char *c = name; *c; c++)
		h = mix(h, (uint8_t)*c);
	h = mix(h, (uint64_t)st->st_ino);
	h = mix(h, (uint64_t)st->st_size);
	s->print += mix(h, (uint64_t)written_ns(st));
	s->files++;
	if (S_ISREG(st->st_mode))
		s->bytes += st->st_size;
}

/* The next entry of a folder that is being written to: 1, or 0 at its end.  One that goes
 * away between two calls was none. */
static int next_entry(DIR *dir, const char **name, struct stat *st)
{
	const struct dirent *e;

	while ((e = readdir(dir))) {
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		*name = e->d_name;
		if (fstatat(dirfd(dir), e->d_name, st, AT_SYMLINK_NOFOLLOW) == 0)
			return 1;
	}
	return 0;
}

/* No link on the way, neither: one may have been put there since the path was found. */
static DIR *open_folder(int at, const char *name)
{
	struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	AUTO_FD int fd = (int)syscall(SYS_openat2, at, name, &how, sizeof how);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir)
		(void)TAKE_FD(fd);
	return dir;
}

/* All that is in a checkpoint which is a folder. */
static void look_inside(struct look *l, DIR *top, const char *name,
			struct checkpoint_entry *out)
{
	DIR *open[DEPTH_MAX];
	int depth = 0;
	const char *at;
	struct stat st;

	if ((open[0] = open_folder(dirfd(top), name)))
		depth = 1;
	while (depth > 0) {
		if (l->sight->files >= CHECKPOINT_FILES_MAX ||
		    !next_entry(open[depth - 1], &at, &st)) {
			closedir(open[--depth]);
			continue;
		}
		add_print(l->sight, at, &st);
		if (written_ns(&st) > out->written_ns)
			out->written_ns = written_ns(&st);
		if (depth == 1 && S_ISREG(st.st_mode) && str_eq(at, CHECKPOINT_MARK))
			out->marked_ns = written_ns(&st);
		else if (S_ISREG(st.st_mode) && st.st_size > 0)
			out->empty = false;
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX &&
		    (open[depth] = open_folder(dirfd(open[depth - 1]), at)))
			depth++;
	}
}

static void note_mark(struct look *l, const char *name, const struct stat *st)
{
	mem_grow(&l->marks, &l->mark_cap, l->mark_count, sizeof *l->marks);
	l->marks[l->mark_count++] =
		(struct mark){ mem_strndup(name, strlen(name) - strlen(CHECKPOINT_MARK)),
			       written_ns(st) };
}

static void look_at(struct look *l, DIR *top, const char *name, const struct stat *st)
{
	struct checkpoint_sight *s = l->sight;
	struct checkpoint_entry e = { .written_ns = written_ns(st),
				      .empty =
					      !S_ISREG(st->st_mode) || st->st_size == 0 };

	add_print(s, name, st);
	if (S_ISREG(st->st_mode) && name[0] != '.' && ends_with(name, CHECKPOINT_MARK))
		note_mark(l, name, st);
	if (S_ISDIR(st->st_mode))
		look_inside(l, top, name, &e);
	if (!is_entry(name) || !(S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)))
		return;
	e.name = mem_strdup(name);
	mem_grow(&s->entries, &s->cap, s->count, sizeof *s->entries);
	s->entries[s->count++] = e;
}

static int by_name(const void *a, const void *b)
{
	const struct checkpoint_entry *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* What is marked by a file beside it.  Sorted, for a task may have written any number. */
static void use_marks(struct look *l)
{
	struct checkpoint_sight *s = l->sight;

	if (s->count)
		qsort(s->entries, s->count, sizeof *s->entries, by_name);
	for (size_t m = 0; m < l->mark_count; m++) {
		struct checkpoint_entry key = { .name = l->marks[m].name };
		struct checkpoint_entry *e =
			s->count
				? bsearch(&key, s->entries, s->count, sizeof key, by_name)
				: NULL;

		if (e && !e->marked_ns)
			e->marked_ns = l->marks[m].ns;
		free(l->marks[m].name);
	}
	free(l->marks);
}

int checkpoint_look(const char *folder, struct checkpoint_sight *out, struct err *err)
{
	struct look l = { .sight = out };
	DIR *top = open_folder(AT_FDCWD, folder);
	const char *name;
	struct stat st;

	*out = (struct checkpoint_sight){ 0 };
	if (!top)
		return errno == ENOENT ? 0 : err_sys(err, "look at %s", folder);
	while (out->files < CHECKPOINT_FILES_MAX && next_entry(top, &name, &st))
		look_at(&l, top, name, &st);
	closedir(top);
	use_marks(&l);
	return 0;
}

void checkpoint_fini(struct checkpoint_sight *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->entries[i].name);
	free(s->entries);
	*s = (struct checkpoint_sight){ 0 };
}

/* Of two that were written in the same moment the one with the higher number. */
static bool is_later(int64_t ns, const char *name, int64_t than_ns,
		     const struct checkpoint_entry *than)
{
	if (!than || ns != than_ns)
		return !than || ns > than_ns;
	return strverscmp(name, than->name) > 0;
}

static const struct checkpoint_entry *last_marked(const struct checkpoint_sight *s)
{
	const struct checkpoint_entry *last = NULL;

	for (size_t i = 0; i < s->count; i++) {
		const struct checkpoint_entry *e = &s->entries[i];

		if (e->marked_ns &&
		    is_later(e->marked_ns, e->name, last ? last->marked_ns : 0, last))
			last = e;
	}
	return last;
}

static int64_t last_write_ms(const struct checkpoint_sight *s)
{
	int64_t last = 0;

	for (size_t i = 0; i < s->count; i++)
		if (s->entries[i].written_ns > last)
			last = s->entries[i].written_ns;
	return last / MS_NS;
}

const struct checkpoint_entry *checkpoint_last(const struct checkpoint_sight *s,
					       int64_t cut_ms)
{
	const struct checkpoint_entry *last = last_marked(s);

	if (cut_ms < 0)
		cut_ms = last_write_ms(s);

	for (size_t i = 0; i < s->count && (!last || !last->marked_ns); i++) {
		const struct checkpoint_entry *e = &s->entries[i];
		bool settled =
			!cut_ms || e->written_ns / MS_NS + CHECKPOINT_SETTLE_MS <= cut_ms;

		if (settled && !e->empty &&
		    is_later(e->written_ns, e->name, last ? last->written_ns : 0, last))
			last = e;
	}
	return last;
}

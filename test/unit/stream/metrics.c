// SPDX-License-Identifier: Apache-2.0
/* A job's metrics: folders of event files as tasks leave them, and lines of their output. */
#include "stream/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/doc.h"
#include "base/mem.h"
#include "base/str.h"
#include "event_writer.h"
#include "tap.h"
#include "writer.h"

static char folder[64];

static void begin(void)
{
	snprintf(folder, sizeof folder, "/tmp/yard-metrics-XXXXXX");
	assert(mkdtemp(folder));
}

static void finish(void)
{
	AUTO_FREE char *command = str_printf("rm -rf '%s'", folder);

	assert(system(command) == 0);
}

static char *at(const char *name)
{
	return str_printf("%s/%s", folder, name);
}

static struct metrics *board(void)
{
	struct metrics *m = metrics_create();

	metrics_add_folder(m, &(struct metrics_folder){ .base = folder });
	return m;
}

static void pass(struct metrics *m)
{
	metrics_look(m);
	while (metrics_read(m, NULL, 0))
		;
}

/* What is told of it now; the caller destroys the document. */
static struct doc *told(const struct metrics *m, const char *name, size_t points)
{
	struct metrics_want w = { .names = &name,
				  .name_count = name ? 1 : 0,
				  .points = points };
	AUTO_BUF struct buf out = { 0 };
	struct json j;
	struct err err;

	json_init(&j, &out);
	metrics_write(m, &w, &j);
	struct doc *d = doc_parse_json(buf_str(&out), out.len, &err);
	assert(d);
	return d;
}

static const struct doc_node *series(const struct doc *d, const char *run,
				     const char *name)
{
	const struct doc_node *list = doc_get(doc_root(d), "series");

	for (const struct doc_node *n = list->first; n; n = n->next)
		if (str_eq(doc_str(n, "name", ""), name) &&
		    str_eq(doc_str(n, "run", ""), run))
			return n;
	return NULL;
}

static int64_t count_of(const struct metrics *m, const char *run, const char *name)
{
	AUTO_DOC struct doc *d = told(m, NULL, 0);
	const struct doc_node *n = series(d, run, name);

	return n ? doc_i64(n, "count", -1) : 0;
}

/* Whether a problem with this in it is told. */
static bool complains(const struct metrics *m, const char *text)
{
	AUTO_DOC struct doc *d = told(m, NULL, 0);
	const struct doc_node *list = doc_get(doc_root(d), "problems");

	for (const struct doc_node *n = list->first; n; n = n->next)
		if (strstr(n->text, text))
			return true;
	return false;
}

static size_t problems(const struct metrics *m)
{
	AUTO_DOC struct doc *d = told(m, NULL, 0);

	return doc_get(doc_root(d), "problems")->count;
}

static void runs_and_files(void)
{
	AUTO_BUF struct buf a = { 0 }, b = { 0 };

	begin();
	AUTO_FREE char *train = at("train"), *deep = at("train/deep");
	assert(mkdir(train, 0755) == 0 && mkdir(deep, 0755) == 0);
	for (int i = 0; i < 5; i++)
		put_scalar(&a, "loss", i, (float)i);
	for (int i = 5; i < 9; i++)
		put_scalar(&b, "loss", i, (float)i);
	write_file(folder, "events.out.tfevents.2", b.data, b.len, O_TRUNC);
	write_file(folder, "events.out.tfevents.1", a.data, a.len, O_TRUNC);
	write_file(train, "events.out.tfevents.1", a.data, a.len, O_TRUNC);
	write_file(deep, "events.out.tfevents.1.v2", b.data, b.len, O_TRUNC);
	write_file(deep, "notes.txt", b.data, b.len, O_TRUNC);
	struct metrics *m = board();
	pass(m);
	OK(count_of(m, ".", "loss") == 9 && count_of(m, "train", "loss") == 5 &&
		   count_of(m, "train/deep", "loss") == 4,
	   "a folder is a run, several files are one series");
	AUTO_DOC struct doc *d = told(m, "loss", 100);
	const struct doc_node *p = doc_get(series(d, ".", "loss"), "points")->first;
	bool order = true;
	for (int i = 0; p; p = p->next, i++)
		order = order && strtol(p->first->text, NULL, 10) == i;
	OK(order, "in the order of the files' names");
	OK(problems(m) == 0, "nothing to complain about");
	pass(m);
	OK(count_of(m, ".", "loss") == 9, "read once more, nothing is read twice");
	metrics_destroy(m);
	finish();
}

static void grows(void)
{
	AUTO_BUF struct buf file = { 0 };
	size_t done = 0;
	bool good = true;

	begin();
	struct metrics *m = board();
	pass(m);
	OK(problems(m) == 0, "an empty folder is fine");
	for (int i = 0; i < 40; i++)
		put_scalar(&file, "loss", i, (float)i);
	size_t each = file.len / 40;
	while (done < file.len) {
		size_t n = file.len - done < 13 ? file.len - done : 13;
		write_file(folder, "events.out.tfevents.1", file.data + done, n,
			   O_APPEND);
		done += n;
		pass(m);
		good = good && count_of(m, ".", "loss") == (int64_t)(done / each);
	}
	OK(good && problems(m) == 0, "a file that grows 13 bytes at a time is read on");
	metrics_destroy(m);
	finish();
}

static void corrupt(void)
{
	AUTO_BUF struct buf file = { 0 };

	begin();
	for (int i = 0; i < 10; i++)
		put_scalar(&file, "loss", i, (float)i);
	size_t each = file.len / 10;
	file.data[each * 6 + 20] ^= 1;
	write_file(folder, "events.out.tfevents.1", file.data, file.len, O_TRUNC);
	struct metrics *m = board();
	pass(m);
	AUTO_FREE char *where = str_printf(
		"events.out.tfevents.1: the record at byte %zu is corrupt", each * 6);
	OK(count_of(m, ".", "loss") == 6 && complains(m, where),
	   "a corrupt record is told with file and place; what was good is kept");
	file.data[each * 6 + 20] ^= 1;
	write_file(folder, "events.out.tfevents.1", file.data, file.len, 0);
	pass(m);
	OK(count_of(m, ".", "loss") == 10 && problems(m) == 0,
	   "when it turns out whole it is read on, and nothing is wrong any more");
	write_file(folder, "events.out.tfevents.1", "", 0, O_TRUNC);
	pass(m);
	OK(count_of(m, ".", "loss") == 10 && complains(m, "became shorter"),
	   "a file that became shorter is told");
	AUTO_FREE char *path = at("events.out.tfevents.1"), *other = at("other");
	write_file(folder, "other", file.data, file.len, O_TRUNC);
	assert(rename(other, path) == 0);
	pass(m);
	OK(count_of(m, ".", "loss") == 10 && complains(m, "another file"),
	   "and one that another was put in place of");
	unlink(path);
	pass(m);
	OK(count_of(m, ".", "loss") == 10, "what was taken away stays known");
	metrics_destroy(m);
	AUTO_BUF struct buf strange = { 0 }, junk = { 0 };
	buf_adds(&junk, "\x0b\x0b\x0b");
	put_scalar(&strange, "loss", 1, 1);
	put_record(&strange, &junk);
	put_scalar(&strange, "loss", 2, 2);
	write_file(folder, "events.out.tfevents.2", strange.data, strange.len, O_TRUNC);
	m = board();
	pass(m);
	OK(count_of(m, ".", "loss") == 2 && complains(m, "is no event"),
	   "a whole record that is no event is told and passed over");
	metrics_destroy(m);
	finish();
}

/* Each record says that training began again, and has every series looked through. */
static void restarts(void)
{
	AUTO_BUF struct buf file = { 0 }, event = { 0 };
	int turns = 1;

	begin();
	for (int i = 0; i < 1000; i++) {
		AUTO_FREE char *name = str_printf("series-%d", i);
		put_scalar(&file, name, 1, 1);
	}
	put_key(&event, 2, 0);
	put_varint(&event, INT64_MAX);
	put_text(&event, 7, "\x08\x01");
	for (int i = 0; i < 100000; i++)
		put_record(&file, &event);
	write_file(folder, "events.out.tfevents.1", file.data, file.len, O_TRUNC);
	struct metrics *m = board();
	metrics_look(m);
	while (metrics_read(m, NULL, 0))
		turns++;
	OK(turns > 2 && count_of(m, ".", "series-999") == 1,
	   "what costs much to read leaves others their turn (%d turns)", turns);
	metrics_destroy(m);
	finish();
}

static void hostile_names(void)
{
	AUTO_BUF struct buf file = { 0 };
	char secret[] = "/tmp/yard-secret-XXXXXX";

	begin();
	put_scalar(&file, "stolen", 1, 1);
	assert(mkdtemp(secret));
	write_file(secret, "events.out.tfevents.9", file.data, file.len, O_TRUNC);
	AUTO_FREE char *target = str_printf("%s/events.out.tfevents.9", secret);
	AUTO_FREE char *link = at("events.out.tfevents.link"),
		       *fifo = at("events.out.tfevents.fifo");
	AUTO_FREE char *dir = at("run"), *up = at("up"),
		       *sock = at("events.out.tfevents.sock");
	AUTO_FREE char *null = at("events.out.tfevents.null"),
		       *folder_like = at("tfevents");
	assert(symlink(target, link) == 0 && mkfifo(fifo, 0644) == 0 &&
	       symlink(secret, dir) == 0 && symlink("..", up) == 0 &&
	       symlink("/dev/zero", null) == 0 && mkdir(folder_like, 0755) == 0);
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	snprintf(a.sun_path, sizeof a.sun_path, "%s", sock);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert(bind(fd, (struct sockaddr *)&a, sizeof a) == 0);
	struct metrics *m = board();
	pass(m);
	AUTO_DOC struct doc *d = told(m, NULL, 10);
	OK(doc_get(doc_root(d), "series")->count == 0,
	   "nothing is read through links, of a file or of a folder");
	OK(complains(m, "events.out.tfevents.fifo: no plain file") &&
		   complains(m, "events.out.tfevents.link"),
	   "a pipe does not hold it up, and what is not read is told");
	metrics_destroy(m);
	m = metrics_create();
	metrics_add_folder(m, &(struct metrics_folder){ .base = folder, .path = "run" });
	pass(m);
	OK(count_of(m, ".", "stolen") == 0 && problems(m) == 1,
	   "a folder that became a link is not entered");
	metrics_destroy(m);
	m = metrics_create();
	metrics_add_folder(m, &(struct metrics_folder){ .base = "/tmp",
							.path = secret + 5,
							.uid = (int64_t)geteuid() + 1,
							.uid_count = 65536 });
	pass(m);
	OK(count_of(m, ".", "stolen") == 0 && complains(m, "not a folder of"),
	   "nor one that belongs to somebody else");
	metrics_destroy(m);
	m = metrics_create();
	metrics_add_folder(m, &(struct metrics_folder){ .base = "/tmp",
							.path = secret + 5,
							.prefix = "logs",
							.uid = geteuid(),
							.uid_count = 1 });
	pass(m);
	OK(count_of(m, "logs", "stolen") == 1, "to its owner it is a run, with a prefix");
	metrics_destroy(m);
	close(fd);
	AUTO_FREE char *command = str_printf("rm -rf '%s'", secret);
	assert(system(command) == 0);
	finish();
}

static void bounds(void)
{
	AUTO_BUF struct buf file = { 0 };
	char tag[1200];

	begin();
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 5000; i++) {
			snprintf(tag, sizeof tag, "layer/%d", i);
			put_scalar(&file, tag, round, 1);
		}
	memset(tag, 'x', 1100);
	tag[1100] = '\0';
	put_scalar(&file, tag, 1, 1);
	write_file(folder, "events.out.tfevents.1", file.data, file.len, O_TRUNC);
	struct metrics *m = board();
	pass(m);
	AUTO_DOC struct doc *d = told(m, NULL, 1000);
	OK(doc_get(doc_root(d), "series")->count == 4096 &&
		   complains(m, "more than 4096"),
	   "so many series and no more, which is told");
	OK(complains(m, "a name of more than 1024 bytes"), "a name too long is told");
	OK(metrics_bytes(m) < (8 << 20), "they take %zu bytes", metrics_bytes(m));
	metrics_destroy(m);
	finish();
}

static void memory_is_flat(void)
{
	AUTO_BUF struct buf file = { 0 };
	size_t early = 0, late = 0;

	begin();
	struct metrics *m = board();
	for (int round = 0; round < 60; round++) {
		buf_clear(&file);
		for (int i = 0; i < 2000; i++)
			put_scalar(&file, i % 2 ? "a" : "b", round * 2000 + i, (float)i);
		write_file(folder, "events.out.tfevents.1", file.data, file.len,
			   O_APPEND);
		pass(m);
		if (round == 9)
			early = metrics_bytes(m);
	}
	late = metrics_bytes(m);
	OK(late <= early && late < 300000,
	   "120000 points take as much as 20000: %zu bytes", late);
	OK(count_of(m, ".", "a") == 60000, "all were counted");
	metrics_destroy(m);
	finish();
}

/* A tensor of plugin `plugin` (or without any), which holds a float. */
static void put_tensor(struct buf *out, const char *tag, const char *plugin, int64_t step,
		       float v)
{
	AUTO_BUF struct buf value = { 0 }, tensor = { 0 }, data = { 0 }, meta = { 0 };

	put_key(&tensor, 1, 0);
	put_varint(&tensor, 1);
	put_float(&tensor, 5, v);
	put_text(&value, 1, tag);
	put_bytes(&value, 8, tensor.data, tensor.len);
	if (plugin) {
		put_text(&data, 1, plugin);
		put_bytes(&meta, 1, data.data, data.len);
		put_bytes(&value, 9, meta.data, meta.len);
	}
	put_event(out, step, 1, &value);
}

static void kinds(void)
{
	AUTO_BUF struct buf file = { 0 }, image = { 0 }, start = { 0 }, log = { 0 };

	begin();
	put_tensor(&file, "acc", "scalars", 1, 0.5f);
	put_tensor(&file, "acc", NULL, 2, 0.75f);
	put_tensor(&file, "note", "text", 1, 1);
	put_tensor(&file, "raw", NULL, 1, 1);
	put_text(&image, 1, "cat");
	put_bytes(&image, 4, "png", 3);
	put_event(&file, 7, 1, &image);
	put_event(&file, 8, 1, &image);
	write_file(folder, "events.out.tfevents.1", file.data, file.len, O_TRUNC);
	struct metrics *m = board();
	pass(m);
	OK(count_of(m, ".", "acc") == 2,
	   "a tensor of plugin scalars is a series, also when only its first says so");
	AUTO_DOC struct doc *d = told(m, NULL, 10);
	const struct doc_node *o = doc_get(doc_root(d), "other");
	OK(o->count == 3 && str_eq(doc_str(o->first, "kind", ""), "image") &&
		   doc_i64(o->first, "count", 0) == 2 &&
		   doc_i64(o->first, "last_step", 0) == 8 &&
		   str_eq(doc_str(o->first->next, "kind", ""), "text") &&
		   str_eq(doc_str(o->first->next->next, "kind", ""), "tensor"),
	   "images, texts and other tensors are listed");
	buf_clear(&file);
	put_key(&log, 1, 0);
	put_varint(&log, 1);
	put_key(&start, 2, 0);
	put_varint(&start, 2);
	put_bytes(&start, 7, log.data, log.len);
	put_record(&file, &start);
	put_tensor(&file, "acc", NULL, 2, 0.9f);
	write_file(folder, "events.out.tfevents.1", file.data, file.len, O_APPEND);
	pass(m);
	AUTO_DOC struct doc *after = told(m, "a*", 10);
	const struct doc_node *n = series(after, ".", "acc");
	OK(n && doc_i64(n, "count", 0) == 2 && doc_get(n, "points")->count == 2 &&
		   fabs(strtod(doc_get(n, "last")->text, NULL) - 0.9) < 1e-6,
	   "a session that starts at step 2 takes back what was said of it");
	metrics_destroy(m);
	finish();
}

static void log_line(struct writer *w, const char *text, int stream, int64_t time_us)
{
	struct logframe f = { .stream = (enum log_stream)stream,
			      .len = (uint32_t)strlen(text),
			      .time_us = time_us };
	uint8_t head[LOGFRAME_BYTES];

	logframe_write(&f, head);
	writer_raw(w, head, sizeof head);
	writer_raw(w, text, f.len);
	w->offset += sizeof head + f.len;
}

static void lines(void)
{
	struct metrics *m = metrics_create();
	struct writer w;
	struct err err;

	writer_open(&w);
	OK(metrics_add_pattern(m, "loss", "loss=([^ ]+)", &err) == 0 &&
		   metrics_add_pattern(m, "acc", "acc ([0-9.]+)%", &err) == 0,
	   "patterns are taken");
	OK(metrics_add_pattern(m, "bad", "((", &err) < 0 && complains(m, "metric bad"),
	   "a bad one is refused, and told");
	struct metrics_log log = {
		.rank = 0, .attempt = 1, .run = ".", .folder = w.folder
	};
	log_line(&w, "start\nloss=0.5 loss=0.25 acc 3", LOG_STDOUT, 1000000);
	log_line(&w, "loss=9\n", LOG_STDERR, 1500000);
	log_line(&w, "loss=77\n", LOG_NOTE, 1500000);
	metrics_read(m, &log, 1);
	OK(count_of(m, ".", "loss") == 1, "a line counts once it is whole");
	log_line(&w, "3% loss=nan loss=abc\nlast loss=1e-3", LOG_STDOUT, 2000000);
	metrics_read(m, &log, 1);
	AUTO_DOC struct doc *d = told(m, NULL, 10);
	const struct doc_node *n = series(d, ".", "loss");
	OK(n && doc_i64(n, "count", 0) == 4 && doc_i64(n, "nan_count", 0) == 1 &&
		   str_eq(doc_str(n, "source", ""), "log"),
	   "every match of a line counts, NaN too, of both streams, apart");
	OK(n && str_eq(doc_get(n, "points")->first->next->first->next->text, "1000"),
	   "its time is that of the line's first byte");
	OK(complains(m, "'abc' is not a number"), "what is no number is told");
	n = series(d, ".", "acc");
	OK(n && str_eq(doc_get(n, "last")->text, "33"), "a line in two records is one");
	OK(metrics_attempt(m, 0) == 1, "the attempt goes on");
	log.over = true;
	metrics_read(m, &log, 1);
	OK(count_of(m, ".", "loss") == 5 && metrics_attempt(m, 0) == 2,
	   "at the attempt's end the last line is whole");
	struct writer second;
	writer_open(&second);
	log_line(&second, "loss=3\n", LOG_STDOUT, 9000000);
	struct metrics_log next = {
		.rank = 0, .attempt = 2, .run = ".", .folder = second.folder
	};
	metrics_read(m, &next, 1);
	AUTO_DOC struct doc *e = told(m, "loss", 10);
	OK(doc_i64(series(e, ".", "loss"), "last_step", 0) == 6,
	   "steps go on in the next attempt");
	metrics_destroy(m);
	writer_close(&w);
	writer_close(&second);
}

static void names(void)
{
	OK(metrics_is_like("train/loss", "train/*") && metrics_is_like("a", "*") &&
		   metrics_is_like("", "*") && metrics_is_like("abcbc", "a*bc") &&
		   metrics_is_like("loss", "loss") && !metrics_is_like("loss2", "loss") &&
		   !metrics_is_like("los", "loss") && !metrics_is_like("a", "") &&
		   metrics_is_like("a*b", "a*b"),
	   "* stands for any run of characters");
}

/* Few bytes, and seconds of work: each of them is found, and is no number. */
static void slow_patterns(void)
{
	struct metrics *m = metrics_create();
	struct writer w;
	struct err err;
	char line[4001];
	int turns = 1;

	writer_open(&w);
	for (int i = 0; i < 8; i++)
		metrics_add_pattern(m, "a", "(a)", &err);
	memset(line, 'a', sizeof line - 2);
	memcpy(line + sizeof line - 2, "\n", 2);
	for (int i = 0; i < 300; i++)
		log_line(&w, line, LOG_STDOUT, 1000000);
	struct metrics_log log = {
		.rank = 0, .attempt = 1, .run = ".", .folder = w.folder, .over = true
	};
	while (metrics_read(m, &log, 1))
		turns++;
	OK(turns > 1, "patterns that are slow have short turns: %d", turns);
	OK(metrics_attempt(m, 0) == 2, "and come to their end");
	metrics_destroy(m);
	writer_close(&w);
}

int main(void)
{
	runs_and_files();
	grows();
	corrupt();
	restarts();
	hostile_names();
	bounds();
	memory_is_flat();
	kinds();
	lines();
	names();
	slow_patterns();
	return END();
}

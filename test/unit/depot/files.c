// SPDX-License-Identifier: Apache-2.0
/* The real depot: folders, inputs as their owner sees them, code by its hash. */
#include "depot/depot.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "depot/input.h"
#include "depot/snapshot.h"
#include "depot/tree.h"
#include "job/job.h"
#include "pack/folder.h"
#include "tap.h"

static char home[PATH_MAX];
static struct world *world;
static struct depot *depot;

struct answer {
	int count;
	bool failed;
	struct err err;
	char code[PATH_MAX], input[PATH_MAX], output[PATH_MAX];
};

static int waiting;

static void arrived(struct answer *a, const struct err *err)
{
	a->count++;
	a->failed = err != NULL;
	if (err)
		a->err = *err;
	if (--waiting == 0)
		world_stop(world);
}

static void on_done(void *arg, const struct err *err)
{
	arrived(arg, err);
}

static void on_prepared(void *arg, const struct depot_places *p, const struct err *err)
{
	struct answer *a = arg;

	if (p) {
		snprintf(a->code, sizeof a->code, "%s", p->code ? p->code : "");
		snprintf(a->input, sizeof a->input, "%s",
			 p->inputs[0] ? p->inputs[0] : "");
		snprintf(a->output, sizeof a->output, "%s",
			 p->outputs[0] ? p->outputs[0] : "");
	}
	arrived(arg, err);
}

static struct job *a_job(int64_t id, const char *code, const char *input,
			 const char *output)
{
	struct job *j = mem_alloc(1, sizeof *j);

	j->id = id;
	j->owner_uid = getuid();
	j->spec = spec_create();
	j->spec->code = mem_strdup(code);
	j->spec->inputs = mem_alloc(1, sizeof(struct channel));
	j->spec->outputs = mem_alloc(1, sizeof(struct channel));
	if (input) {
		j->spec->input_count = 1;
		j->spec->inputs[0].name = mem_strdup("data");
		j->spec->inputs[0].uri = mem_strdup(input);
	}
	if (output) {
		j->spec->output_count = 1;
		j->spec->outputs[0].name = mem_strdup(output);
	}
	return j;
}

static void job_free(struct job *j)
{
	spec_destroy(j->spec);
	free(j);
}

static struct answer prepare(struct job *j, int64_t uid_base)
{
	struct answer a = { 0 };

	waiting = 1;
	depot->ops->prepare(depot, j, uid_base, on_prepared, &a);
	world_run(world);
	return a;
}

static void write_file(const char *path, const char *text)
{
	AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		OK(false, "write %s", path);
}

static void jobs(void)
{
	char input[PATH_MAX + 16], file[PATH_MAX + 32];
	snprintf(input, sizeof input, "%s/data set", home);
	mkdir(input, 0755);
	struct job *j = a_job(1234, NULL, input, "model");

	struct answer a = prepare(j, -1);
	OK(a.count == 1 && !a.failed, "a job is prepared");
	OK(str_ends(a.output, "/jobs/1/1234/output/model") && access(a.output, W_OK) == 0,
	   "its output's folder is there, where the layout says");
	IS(a.input, input, "an input is bound by its real path");
	OK(prepare(j, -1).count == 1, "again is fine");

	snprintf(file, sizeof file, "%s/weights", a.output);
	write_file(file, "1 2 3");
	waiting = 1;
	struct answer c = { 0 };
	depot->ops->collect(depot, j, on_done, &c);
	world_run(world);
	OK(c.count == 1 && !c.failed, "what it left is made durable");
	AUTO_FREE char *path = depot_output_path(depot, j, "model");
	IS(path, a.output, "and found by its name");
	OK(depot_output_path(depot, j, "nope") == NULL, "others are not");
	AUTO_FREE char *attempt = depot->ops->attempt_folder(depot, 1234, 2, 3);
	OK(str_ends(attempt, "/jobs/1/1234/task-2/attempt-3"), "an attempt's folder");
	j->id = 999;
	waiting = 1;
	depot->ops->collect(depot, j, on_done, &c);
	world_run(world);
	OK(c.count == 2 && !c.failed,
	   "a job that was never prepared has nothing to keep");
	j->spec->outputs[0].uri = mem_strdup("https://example.org/model");
	a = prepare(j, -1);
	OK(a.failed && a.err.code == ERR_UNSUPPORTED &&
		   strstr(a.err.text, "output model"),
	   "outputs to a web server are refused: %s", a.err.text);
	job_free(j);

	j = a_job(1, NULL, NULL, NULL);
	a = prepare(j, -1);
	OK(a.count == 1 && !a.failed, "a job that brings nothing needs nothing");
	job_free(j);
}

static void inputs(void)
{
	static const struct {
		const char *uri, *says;
		enum err_code code;
	} rows[] = {
		{ "/no/such/place", "does not exist", ERR_NOT_FOUND },
		{ "relative", "absolute path", ERR_INVALID },
		{ "s3://bucket/x", "secret 's3.bucket' or 's3'", ERR_NOT_FOUND },
		{ "hdfs://nn/x", "secret 'hdfs'", ERR_NOT_FOUND },
		{ "http://host/folder/", "name of a file", ERR_INVALID },
		{ "ftp://host/x", "none of pfs", ERR_UNSUPPORTED },
		{ "nas://shelf/x", "no NAS called 'shelf'", ERR_NOT_FOUND },
		{ "file://host/x", "file:///", ERR_INVALID },
		{ "file:///a%zz", "file:///", ERR_INVALID },
		{ "/dev/null", "neither a file nor a folder", ERR_INVALID },
	};
	struct err err;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct job *j = a_job(2, NULL, rows[i].uri, NULL);
		struct answer a = prepare(j, -1);
		OK(a.failed && a.err.code == rows[i].code &&
			   strstr(a.err.text, rows[i].says) &&
			   strstr(a.err.text, "input data"),
		   "%s: %s", rows[i].uri, a.err.text);
		job_free(j);
	}
	AUTO_FREE char *uri = str_printf("file://%s/data%%20set", home);
	AUTO_FREE char *path = input_resolve(NULL, uri, -1, &err);
	OK(path && str_ends(path, "/data set"), "a file URI is decoded");
	AUTO_FREE char *brief = str_printf("file:%s/data%%20set", home);
	AUTO_FREE char *same = input_resolve(NULL, brief, -1, &err);
	OK(same && str_eq(same, path),
	   "and may be written with one slash, as the check says");
	if (geteuid() != 0) {
		SKIP("acting as another user needs root");
		return;
	}
	AUTO_FREE char *secret = str_printf("%s/secret", home);
	mkdir(secret, 0700);
	OK(input_resolve(NULL, secret, 12345, &err) == NULL && err.code == ERR_DENIED &&
		   strstr(err.text, "12345"),
	   "what the owner of the job may not read is refused: %s", err.text);
	OK(chown(secret, 12345, 0) == 0, "given to them");
	AUTO_FREE char *theirs = input_resolve(NULL, secret, 12345, &err);
	OK(theirs != NULL, "it is theirs to use");
	AUTO_FREE char *ours = input_resolve(NULL, "/root", -1, &err);
	OK(ours != NULL, "and the thread is itself again");
	/* The way is swapped between finding and opening. */
	AUTO_FREE char *way = str_printf("%s/way", home),
		       *found = str_printf("%s/way/shadow", home);
	OK(symlink("/etc", way) == 0 && input_open(found, -1, O_RDONLY, &err) < 0 &&
		   err.code == ERR_DENIED,
	   "a link that was put there since leads nowhere: %s", err.text);
	OK(input_open("/etc/shadow", 12345, O_RDONLY, &err) < 0 && err.code == ERR_DENIED,
	   "and what was found is opened as who asked: %s", err.text);
}

/* The ways in which an input could open the daemon's own door to a task. */
static void guarded(void)
{
	AUTO_FREE char *state = str_printf("%s/state", home),
		       *below = str_printf("%s/state/jobs", home),
		       *task = str_printf("%s/state/jobs/1/1234/task-0", home),
		       *output = str_printf("%s/state/jobs/1/1234/output/model", home),
		       *outputs = str_printf("%s/state/jobs/1/1234/output", home),
		       *run = str_printf("%s/run", home),
		       *inside = str_printf("%s/run/inside", home),
		       *sock = str_printf("%s/run/yard.sock", home),
		       *link = str_printf("%s/link", home);
	const char *const bad[] = { state, below, task, outputs, home, "/", run, link };
	const char *const good[] = { output, inside };

	tree_make(task, 0755, NULL);
	tree_make(inside, 0755, NULL);
	write_file(sock, "");
	OK(symlink(run, link) == 0, "a link to the socket's folder");
	depot_files_rules(depot, &(struct depot_rules){ .socket = sock });
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct job *j = a_job(3, NULL, bad[i], NULL);
		struct answer a = prepare(j, -1);
		OK(a.failed && a.err.code == ERR_DENIED &&
			   strstr(a.err.text, "the daemon's"),
		   "refused: %s", a.err.text);
		job_free(j);
	}
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		struct job *j = a_job(3, NULL, good[i], NULL);
		struct answer a = prepare(j, -1);
		OK(!a.failed, "%s is fine", good[i]);
		job_free(j);
	}
}

static bool reads(uid_t uid, const char *path)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(setgid(uid) < 0 || setuid(uid) < 0 || open(path, O_RDONLY) < 0);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static void root_mode(void)
{
	struct stat st;

	if (geteuid() != 0) {
		SKIP("root mode needs root");
		return;
	}
	/* As when an engine was there first, with a job that has no outputs. */
	AUTO_FREE char *early = str_printf("%s/state/jobs/77", home),
		       *first = str_printf("%s/state/jobs/77/77001/task-0", home);
	tree_make(first, 0700, NULL);
	OK(stat(early, &st) == 0 && (st.st_mode & 0777) == 0700,
	   "the engine makes folders that only root passes");
	struct job *j = a_job(77001, NULL, NULL, "out");
	j->owner_uid = 12345;
	struct answer a = prepare(j, 700000);
	OK(!a.failed && stat(a.output, &st) == 0 && st.st_uid == 700000 &&
		   (st.st_mode & 0007) == 0,
	   "an output belongs to its owner's range and to nobody else");
	AUTO_FREE char *file = str_printf("%s/w", a.output);
	write_file(file, "weights");
	OK(chmod(a.output, 0777) == 0 && chmod(file, 0666) == 0,
	   "whatever the task does to it");
	struct job *far = a_job(77002, NULL, "/etc", NULL);
	far->owner_uid = -1;
	struct answer none = prepare(far, 700000);
	OK(none.failed && none.err.code == ERR_DENIED,
	   "for an owner without an account here nothing is read: %s", none.err.text);
	job_free(far);
	OK(reads(12345, file), "the owner reads it, by every folder on the way");
	OK(!reads(12346, file), "and another user does not");
	job_free(j);
}

static int keep(void *arg, const void *data, size_t len, struct err *err)
{
	(void)err;
	buf_add(arg, data, len);
	return 0;
}

static const char *sender = "7";

static struct depot_upload *send(const char *hash, const struct buf *archive,
				 struct answer *a)
{
	struct err err;
	struct depot_upload *u = depot_code_begin(depot, hash, sender, &err);

	if (!u || depot_code_write(u, archive->data, archive->len / 2, &err) < 0 ||
	    depot_code_write(u, archive->data + archive->len / 2,
			     archive->len - archive->len / 2, &err) < 0) {
		OK(false, "upload: %s", err.text);
		return NULL;
	}
	waiting++;
	depot_code_finish(u, on_done, a);
	return u;
}

static void code(void)
{
	AUTO_BUF struct buf archive = { 0 };
	AUTO_FREE char *folder = str_printf("%s/src", home),
		       *file = str_printf("%s/src/a.py", home);
	AUTO_FREE char *upload = str_printf("%s/state/upload", home);
	char hash[PACK_HASH_HEX], wrong[PACK_HASH_HEX];
	struct err err;
	struct stat st;

	mkdir(folder, 0755);
	write_file(file, "print(1)\n");
	struct pack_job pack = { .folder = folder, .write = keep, .arg = &archive };
	OK(pack_folder(&pack, hash, NULL, &err) == 0, "a folder is packed");
	OK(!depot_code_has(depot, hash, "7"), "unknown at first");
	struct job *j = a_job(5, hash, NULL, NULL);
	struct answer a = prepare(j, -1);
	OK(a.failed && a.err.code == ERR_NOT_FOUND,
	   "a job that needs it cannot be prepared");

	struct answer one = { 0 }, two = { 0 }, bad = { 0 };
	memcpy(wrong, hash, sizeof wrong);
	wrong[0] = hash[0] == 'a' ? 'b' : 'a';
	waiting = 0;
	send(hash, &archive, &one);
	send(hash, &archive, &two);
	send(wrong, &archive, &bad);
	world_run(world);
	OK(one.count == 1 && !one.failed && two.count == 1 && !two.failed,
	   "two uploads at once of the same code are both fine");
	if (one.failed)
		printf("# %s\n", one.err.text);
	OK(bad.failed && bad.err.code == ERR_INVALID &&
		   !depot_code_has(depot, wrong, "7"),
	   "a wrong hash is refused: %s", bad.err.text);
	OK(depot_code_has(depot, hash, "7"), "now it is there");
	OK(!depot_code_has(depot, hash, "8"), "but not for one who only knows its hash");
	AUTO_FREE char *codes = str_printf("%s/state/code", home);
	OK(stat(codes, &st) == 0 && (st.st_mode & 0777) == 0700,
	   "nor by the file system");
	sender = "8";
	struct answer other = { 0 };
	send(hash, &archive, &other);
	world_run(world);
	sender = "7";
	OK(!other.failed && depot_code_has(depot, hash, "8") &&
		   depot_code_has(depot, hash, "7"),
	   "one who sends all of it has it, too");
	depot_files_rules(depot, &(struct depot_rules){ .code_bytes_max = 1000 });
	struct depot_upload *big = depot_code_begin(depot, hash, "7", &err);
	OK(depot_code_write(big, archive.data, 600, &err) == 0 &&
		   depot_code_write(big, archive.data, 600, &err) < 0 &&
		   err.code == ERR_TOO_LARGE && strstr(err.text, "1000 B"),
	   "a snapshot that is too large is refused: %s", err.text);
	depot_code_abort(big);
	depot_files_rules(depot, &(struct depot_rules){ 0 });
	a = prepare(j, -1);
	AUTO_FREE char *script = str_printf("%s/a.py", a.code);
	OK(!a.failed && stat(script, &st) == 0 && (st.st_mode & 0777) == 0644 &&
		   st.st_uid == geteuid(),
	   "unpacked, readable, the daemon's");
	OK(rmdir(upload) == 0 && mkdir(upload, 0700) == 0,
	   "nothing is left where it was unpacked");
	job_free(j);

	struct answer evil = { 0 };
	archive.data[0] =
		'/'; /* what was "a.py" is an absolute path, and the sum is wrong */
	struct pack_hash *h = pack_hash_create();
	pack_hash_add(h, archive.data, archive.len);
	pack_hash_finish(h, hash);
	send(hash, &archive, &evil);
	world_run(world);
	OK(evil.failed && evil.err.code == ERR_INVALID &&
		   !depot_code_has(depot, hash, "7"),
	   "an archive that cannot be unpacked is refused: %s", evil.err.text);
	OK(depot_code_begin(depot, "../../etc", "7", &err) == NULL &&
		   err.code == ERR_INVALID,
	   "a hash is never a path");
}

static const char *used_hash;

static bool is_used(void *arg, const char *hash)
{
	(void)arg;
	return used_hash && strcmp(hash, used_hash) == 0;
}

static void turn_over(void *arg)
{
	(void)arg;
	world_stop(world);
}

/* Snapshots as if they had been sent, last used so many days ago. */
static void old_snapshot(const char *hash, int days)
{
	AUTO_FREE char *tree = str_printf("%s/state/code/%s/tree", home, hash),
		       *mark = str_printf("%s/state/code/%s/users", home, hash);
	AUTO_FREE char *file = str_printf("%s/7", mark),
		       *folder = mem_strndup(tree, strlen(tree) - 5);
	struct timespec t[2] = { { .tv_sec = time(NULL) - days * 86400L } };

	t[1] = t[0];
	tree_make(tree, 0755, NULL);
	tree_make(mark, 0755, NULL);
	write_file(file, "");
	utimensat(AT_FDCWD, folder, t, 0);
}

static void expire(void)
{
	struct world_timer *t = world_timer_create(world, turn_over, NULL);

	depot_code_expire(depot, 30 * 86400000LL, is_used, NULL);
	world_timer_at(t, world_mono_ms(world) + 300);
	world_run(world);
	world_timer_destroy(t);
}

static bool snapshot_there(const char *hash)
{
	AUTO_FREE char *tree = str_printf("%s/state/code/%s/tree", home, hash);

	return access(tree, F_OK) == 0;
}

static void expiry(void)
{
	char hash[4][PACK_HASH_HEX];
	struct err err;

	for (int i = 0; i < 4; i++) {
		memset(hash[i], 'a' + i, 64);
		hash[i][64] = '\0';
		old_snapshot(hash[i], i == 3 ? 29 : 31);
	}
	used_hash = hash[1];
	OK(depot_code_has(depot, hash[2], "7"), "one is asked for, which is a use");
	struct depot_upload *u = depot_code_begin(depot, hash[0], "9", &err);
	expire();
	OK(snapshot_there(hash[0]), "while something is sent nothing goes");
	depot_code_abort(u);
	expire();
	OK(!snapshot_there(hash[0]) && !depot_code_has(depot, hash[0], "7"),
	   "what nobody used for long is gone, and said to be");
	OK(snapshot_there(hash[1]), "what a live job uses stays");
	OK(snapshot_there(hash[2]), "so does what was used since");
	OK(snapshot_there(hash[3]), "and what is not old enough");
	used_hash = NULL;
	expire();
	OK(snapshot_there(hash[1]), "use by a job counted as use");
	AUTO_FREE char *upload = str_printf("%s/state/upload", home);
	OK(rmdir(upload) == 0 && mkdir(upload, 0700) == 0, "and no remains are left");
}

static void trees(void)
{
	AUTO_FREE char *top = str_printf("%s/t/a/b", home),
		       *root = str_printf("%s/t", home);
	AUTO_FREE char *file = str_printf("%s/t/a/b/f", home),
		       *link = str_printf("%s/t/l", home);
	AUTO_FREE char *safe = str_printf("%s/safe", home);
	struct tree_size size = { 0 };
	struct err err;

	OK(tree_make(top, 0755, &err) == 0 && tree_make(top, 0755, &err) == 0,
	   "folders are made, twice");
	write_file(file, "12345");
	write_file(safe, "not below it");
	OK(symlink(safe, link) == 0 && tree_sync(root, &size, &err) == 0 &&
		   size.files == 2 && size.bytes == 5,
	   "a tree is counted without following links");
	OK(tree_delete(root, &err) == 0 && access(root, F_OK) < 0 &&
		   access(safe, F_OK) == 0,
	   "and removed without following them");
	OK(tree_delete(root, &err) == 0, "what is gone is gone");
}

static void path_cut(struct buf *b, size_t n)
{
	b->len -= n;
	b->data[b->len] = '\0';
}

static void trees_of_tasks(void)
{
	AUTO_BUF struct buf path = { 0 };
	AUTO_FREE char *root = str_printf("%s/t", home);
	struct tree_size size = { 0 };
	struct err err;
	int levels = 0;

	OK(tree_make(root, 0755, &err) == 0, "a tree that a task left");
	for (int i = 0; i < 300; i++) { /* more files than are synced one by one */
		buf_clear(&path);
		buf_printf(&path, "%s/%d", root, i);
		write_file(path.data, "x");
	}
	OK(tree_sync(root, &size, &err) == 0 && size.files == 300 && size.bytes == 300,
	   "of many files is made durable");
	buf_clear(&path);
	buf_adds(&path, root);
	while (levels < 240) { /* deeper than is walked */
		buf_adds(&path, "/d");
		levels += mkdir(path.data, 0755) == 0 ? 1 : 1000;
	}
	OK(levels == 240 && tree_sync(root, &size, &err) == 0, "one of many levels, too");
	OK(tree_delete(root, &err) < 0 && err.code == ERR_TOO_LARGE,
	   "though not removed: no tree of ours is so deep");
	for (; levels > 0; levels--) {
		rmdir(path.data);
		path_cut(&path, 2);
	}
}

/* Of the first job, when nobody needs it any more. */
static void removal(void)
{
	AUTO_FREE char *output = depot->ops->output_folder(depot, 1234, "model");

	OK(access(output, F_OK) == 0, "a job's output stays");
	for (int again = 0; again < 2; again++) {
		struct answer a = { 0 };
		waiting = 1;
		depot->ops->remove(depot, 1234, on_done, &a);
		world_run(world);
		OK(a.count == 1 && !a.failed && access(output, F_OK) < 0,
		   "until it is deleted; what is gone is no error");
	}
}

int main(int argc, char **argv)
{
	struct err err;

	snprintf(home, sizeof home, "%s/yard-depot-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(home) || chmod(home, 0755) < 0)
		return 1;
	const char *named = argc > 1 ? argv[1] : getenv("YARD_UNPACK");
	AUTO_FREE char *self = realpath(named ? named : argv[0], NULL);
	char *bin = self ? strstr(self, "/test/unit/") : NULL;
	if (!named && bin)
		*bin = '\0';
	AUTO_FREE char *unpack =
		named ? mem_strdup(self) : str_printf("%s/yard-unpack", self);
	AUTO_FREE char *state = str_printf("%s/state", home);
	world = world_uv_create(&err);
	depot = depot_files_create(world, state, unpack, &err);
	if (!depot) {
		printf("Bail out! %s\n", err.text);
		return 1;
	}
	jobs();
	inputs();
	guarded();
	root_mode();
	if (access(unpack, X_OK) == 0)
		code();
	else
		SKIP("yard-unpack is not built");
	expiry();
	trees();
	trees_of_tasks();
	removal();
	depot->ops->destroy(depot);
	world_destroy(world);
	if (tree_delete(home, &err) < 0)
		printf("# %s\n", err.text);
	return END();
}

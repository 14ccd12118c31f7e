// SPDX-License-Identifier: Apache-2.0
/* depot_files.c - the depot on this machine's disks.
 *
 * Whatever touches a disk runs in a lane of its own on a copy of what it needs; the
 * answer comes back on the loop.  A daemon that dies in between asks again at boot,
 * and finds folders that are there already.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/checkpoint.h"
#include "depot/files.h"
#include "depot/input.h"
#include "depot/layout.h"
#include "depot/requirements.h"
#include "depot/tree.h"
#include "pack/folder.h"

/* Root mode: tasks of many users must pass through on the way to their own folders;
 * nobody but root may list. */
#define PASSAGE_MODE   0711
#define FOLDER_THREADS 2
#define CODE_BYTES_MAX (INT64_C(2) << 30) /* of one snapshot, when nobody says */

struct place {
	char *name, *uri, *path; /* path: filled by the work */
	bool file;               /* it is no folder; too */
};

struct files_op {
	struct depot_files *depot;
	depot_prepared prepared; /* one of the two is set */
	depot_collected collected;
	void *arg;
	int64_t job, uid_base, owner_uid;
	char *code_hash, *code;
	bool installs;      /* what the code requires; told as: */
	char *requirements; /* or NULL */
	bool code_wheels;
	int64_t cut_ms; /* of the attempt before */
	char *resume;
	bool resume_input;
	struct place *inputs, *outputs;
	size_t input_count, output_count;
	bool failed;
	struct err err;
};

static struct place *places_copy(const struct channel *channels, size_t count)
{
	struct place *p = mem_alloc(count + 1, sizeof *p);

	for (size_t i = 0; i < count; i++) {
		p[i].name = mem_strdup(channels[i].name);
		p[i].uri = mem_strdup(channels[i].uri);
	}
	return p;
}

static void places_free(struct place *p, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(p[i].name);
		free(p[i].uri);
		free(p[i].path);
	}
	free(p);
}

static struct files_op *op_create(struct depot_files *d, const struct job *j, void *arg)
{
	struct files_op *op = mem_alloc(1, sizeof *op);
	const struct spec *s = j->spec;

	d->refs++;
	op->depot = d;
	op->arg = arg;
	op->job = j->id;
	op->owner_uid = j->owner_uid;
	op->cut_ms = j->cut_ms;
	op->code_hash = mem_strdup(s->code);
	op->installs = s->requirements.which == REQUIREMENTS_ALL;
	op->input_count = s->input_count;
	op->inputs = places_copy(s->inputs, s->input_count);
	op->output_count = s->output_count;
	op->outputs = places_copy(s->outputs, s->output_count);
	return op;
}

static void op_destroy(struct files_op *op)
{
	depot_files_unref(op->depot);
	places_free(op->inputs, op->input_count);
	places_free(op->outputs, op->output_count);
	free(op->code_hash);
	free(op->code);
	free(op->resume);
	free(op->requirements);
	free(op);
}

static const char **paths_of(const struct place *p, size_t count)
{
	const char **paths = mem_alloc(count + 1, sizeof *paths);

	for (size_t i = 0; i < count; i++)
		paths[i] = p[i].path;
	return paths;
}

/* What each input that is one file was called by who asked for it; NULL of folders. */
static const char **files_of(const struct place *p, size_t count)
{
	const char **files = mem_alloc(count + 1, sizeof *files);

	for (size_t i = 0; i < count; i++) {
		const char *slash = strrchr(p[i].uri, '/');
		if (p[i].file)
			files[i] = slash ? slash + 1 : p[i].uri;
	}
	return files;
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

static void op_answer(void *arg)
{
	struct files_op *op = arg;
	const struct err *err = op->failed ? &op->err : NULL;

	if (op->depot->gone) {
		op_destroy(op);
		return;
	}
	if (op->collected) {
		op->collected(op->arg, err);
	} else if (err) {
		op->prepared(op->arg, NULL, err);
	} else {
		AUTO_FREE const char **inputs = paths_of(op->inputs, op->input_count);
		AUTO_FREE const char **files = files_of(op->inputs, op->input_count);
		AUTO_FREE const char **outputs = paths_of(op->outputs, op->output_count);
		struct depot_places p = { .code = op->code,
					  .requirements = op->requirements,
					  .code_wheels = op->code_wheels,
					  .inputs = inputs,
					  .input_files = files,
					  .outputs = outputs,
					  .resume = op->resume,
					  .resume_input = op->resume_input };
		op->prepared(op->arg, &p, NULL);
	}
	op_destroy(op);
}

static int prepare_code(struct files_op *op, struct err *err)
{
	AUTO_FREE char *folder = depot_layout_code(op->depot->state, op->code_hash);

	op->code = str_printf("%s/tree", folder);
	if (access(op->code, F_OK) < 0)
		return err_set(
			err, ERR_NOT_FOUND,
			"the code snapshot %.12s is not here: submit again with the code",
			op->code_hash);
	code_touch(op->depot, op->code_hash);
	return 0;
}

/* Root mode: the way to a job's outputs is the owner's alone, so that even a folder that its
 * task opened to everybody is not reached by anybody else.  The engine may have made the
 * folders above before, closed to all. */
static int open_way(const struct files_op *op, struct err *err)
{
	AUTO_FREE char *job = depot_layout_job(op->depot->state, op->job);
	AUTO_FREE char *output = str_printf("%s/output", job);
	AUTO_FREE char *above = mem_strndup(job, (size_t)(strrchr(job, '/') - job));

	if (tree_make(above, PASSAGE_MODE, err) < 0 || tree_make(output, 0700, err) < 0)
		return -1;
	if (chmod(above, PASSAGE_MODE) < 0 || chmod(job, 0700) < 0 ||
	    chmod(output, 0700) < 0)
		return err_sys(err, "set the mode of %s", job);
	if (op->owner_uid <= 0)
		return 0;
	return tree_let_pass(job, (uid_t)op->owner_uid, err) < 0
		       ? -1
		       : tree_let_read(output, (uid_t)op->owner_uid, err);
}

static int prepare_output(struct files_op *op, struct place *p, struct err *err)
{
	if (p->uri)
		return err_set(
			err, ERR_UNSUPPORTED,
			"output %s: places of your own (%s) come with storage; leave its uri "
			"out to keep it with the job",
			p->name, p->uri);
	p->path = depot_layout_output(op->depot->state, op->job, p->name);
	if (tree_make(p->path, 0700, err) < 0)
		return -1;
	if (op->uid_base < 0)
		return 0;
	/* Only the folder itself: what an earlier attempt left in it is the owner's already. */
	uid_t uid = (uid_t)op->uid_base;
	if (chmod(p->path, 0700) < 0 || chown(p->path, uid, uid) < 0)
		return err_sys(err, "give output %s to its owner", p->name);
	return op->owner_uid > 0 ? tree_let_read(p->path, (uid_t)op->owner_uid, err) : 0;
}

/* The file of this machine that an input names, as its owner may read it.  Who has no
 * account here has no files here: as -1 they would be read as the daemon may. */
static char *resolve_input(const struct files_op *op, const struct place *p,
			   struct err *err)
{
	if (op->owner_uid >= 0)
		return input_resolve(p->uri, op->uid_base >= 0 ? op->owner_uid : -1, err);
	err_set(err, ERR_DENIED,
		"its owner has no account on this machine, and so no files here to read");
	return NULL;
}

/* The checkpoint to go on from.  One that cannot be looked at is no reason not to begin. */
static char *find_resume(const struct place *places, size_t count, int64_t cut_ms)
{
	const struct checkpoint_entry *last;
	struct checkpoint_sight sight;
	char *name = NULL;
	struct err ignored;

	for (size_t i = 0; i < count && !name; i++) {
		if (!str_eq(places[i].name, DEPOT_CHECKPOINTS) || !places[i].path ||
		    checkpoint_look(places[i].path, &sight, &ignored) < 0)
			continue;
		last = checkpoint_last(&sight, cut_ms);
		name = mem_strdup(last ? last->name : NULL);
		checkpoint_fini(&sight);
	}
	return name;
}

static void prepare_resume(struct files_op *op)
{
	op->resume = find_resume(op->outputs, op->output_count, op->cut_ms);
	if (op->resume)
		return;
	op->resume = find_resume(op->inputs, op->input_count, 0);
	op->resume_input = op->resume != NULL;
}

static int prepare_all(struct files_op *op, struct err *err)
{
	if (op->code_hash && prepare_code(op, err) < 0)
		return -1;
	if (op->code && op->installs &&
	    requirements_read(op->code, &op->requirements, &op->code_wheels, err) < 0)
		return -1;
	for (size_t i = 0; i < op->input_count; i++) {
		struct place *p = &op->inputs[i];
		p->path = resolve_input(op, p, err);
		if (!p->path || input_check_place(p->path, op->depot->state,
						  op->depot->socket, err) < 0)
			return err_wrap(err, "input %s", p->name);
		p->file = is_file(p->path);
	}
	if (op->output_count && op->uid_base >= 0 && open_way(op, err) < 0)
		return -1;
	for (size_t i = 0; i < op->output_count; i++)
		if (prepare_output(op, &op->outputs[i], err) < 0)
			return -1;
	prepare_resume(op);
	return 0;
}

static void prepare_work(void *arg)
{
	struct files_op *op = arg;

	op->failed = prepare_all(op, &op->err) < 0;
}

static void files_prepare(struct depot *base, const struct job *j, int64_t uid_base,
			  depot_prepared done, void *arg)
{
	struct depot_files *d = depot_files_of(base);
	struct files_op *op = op_create(d, j, arg);

	op->prepared = done;
	op->uid_base = uid_base;
	/* Most short jobs bring nothing: no disk to wait for, no thread to wake. */
	if (!op->code_hash && !op->input_count && !op->output_count)
		world_later(d->world, op_answer, op);
	else
		world_lane_work(d->folders, prepare_work, op_answer, op);
}

static void collect_work(void *arg)
{
	struct files_op *op = arg;
	AUTO_FREE char *job = depot_layout_job(op->depot->state, op->job);
	AUTO_FREE char *output = str_printf("%s/output", job);
	AUTO_FREE char *above = mem_strndup(job, (size_t)(strrchr(job, '/') - job));
	AUTO_FREE char *jobs = str_printf("%s/jobs", op->depot->state);

	if (access(output, F_OK) < 0 && errno == ENOENT)
		return; /* never prepared */
	/* The folders above must be found again, too. */
	op->failed = tree_sync(output, NULL, &op->err) < 0 ||
		     tree_sync_folder(job, &op->err) < 0 ||
		     tree_sync_folder(above, &op->err) < 0 ||
		     tree_sync_folder(jobs, &op->err) < 0;
}

static void files_collect(struct depot *base, const struct job *j, depot_collected done,
			  void *arg)
{
	struct depot_files *d = depot_files_of(base);
	struct files_op *op = op_create(d, j, arg);

	op->collected = done;
	if (!op->output_count)
		world_later(d->world, op_answer, op);
	else
		world_lane_work(d->folders, collect_work, op_answer, op);
}

static char *files_attempt_folder(struct depot *base, int64_t job, int task, int attempt)
{
	return depot_layout_attempt(depot_files_of(base)->state, job, task, attempt);
}

static char *files_output_folder(struct depot *base, int64_t job, const char *output)
{
	return depot_layout_output(depot_files_of(base)->state, job, output);
}

void depot_files_unref(struct depot_files *d)
{
	if (--d->refs > 0)
		return;
	world_lane_destroy(d->folders);
	world_lane_destroy(d->unpacks);
	world_lane_destroy(d->removals);
	world_lane_destroy(d->looks);
	free(d->state);
	free(d->unpack);
	free(d->socket);
	free(d);
}

static void files_destroy(struct depot *base)
{
	struct depot_files *d = depot_files_of(base);

	d->gone = true;
	depot_files_unref(d);
}

struct depot_files *depot_files_of(struct depot *d)
{
	assert(d->ops->prepare == files_prepare);
	return (struct depot_files *)d;
}

void depot_files_rules(struct depot *base, const struct depot_rules *r)
{
	struct depot_files *d = depot_files_of(base);

	free(d->socket);
	d->socket = mem_strdup(r->socket);
	d->code_bytes_max = CODE_BYTES_MAX;
	if (r->code_bytes_max > 0 && r->code_bytes_max < PACK_BYTES_MAX)
		d->code_bytes_max = r->code_bytes_max;
}

static const struct depot_ops files_ops = {
	.prepare = files_prepare,
	.collect = files_collect,
	.look = depot_files_look,
	.remove = depot_files_remove,
	.attempt_folder = files_attempt_folder,
	.output_folder = files_output_folder,
	.destroy = files_destroy,
};

struct depot *depot_files_create(struct world *w, const char *state_dir,
				 const char *unpack_path, struct err *err)
{
	/* Code is reached by the shim as root: nobody needs to pass on the way to it. */
	const mode_t mode = geteuid() == 0 ? PASSAGE_MODE : 0700;
	const struct {
		const char *name;
		mode_t mode;
	} folders[] = { { "jobs", mode }, { "code", 0700 } };
	/* Tasks get paths below it: they must hold whatever the daemon's own folder is. */
	AUTO_FREE char *state = NULL;

	if (tree_make(state_dir, mode, err) < 0)
		return NULL;
	state = realpath(state_dir, NULL);
	if (!state) {
		err_sys(err, "state folder %s", state_dir);
		return NULL;
	}
	for (size_t i = 0; i < COUNT_OF(folders); i++) {
		AUTO_FREE char *path = str_printf("%s/%s", state, folders[i].name);
		if (tree_make(path, folders[i].mode, err) < 0)
			return NULL;
		if (chmod(path, folders[i].mode) < 0) { /* an older daemon's */
			err_sys(err, "set the mode of %s", path);
			return NULL;
		}
	}
	/* What a crash left half unpacked; one daemon at a time holds the state folder. */
	AUTO_FREE char *upload = str_printf("%s/upload", state);
	if (tree_delete(upload, err) < 0 || tree_make(upload, 0700, err) < 0)
		return NULL;
	struct depot_files *d = mem_alloc(1, sizeof *d);
	d->base.ops = &files_ops;
	d->world = w;
	d->state = TAKE(state);
	d->unpack = mem_strdup(unpack_path);
	d->folders = world_lane_create(w, FOLDER_THREADS);
	d->unpacks = world_lane_create(w, 1);
	d->removals = world_lane_create(w, 1);
	d->looks = world_lane_create(w, 1);
	d->refs = 1;
	d->code_bytes_max = CODE_BYTES_MAX;
	return &d->base;
}

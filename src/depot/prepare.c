// SPDX-License-Identifier: Apache-2.0
/* prepare.c - everything a job's tasks need is made ready on this machine. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/checkpoint.h"
#include "depot/layout.h"
#include "depot/op.h"
#include "depot/tree.h"

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
	for (size_t i = 0; i < count; i++)
		place_fini(&p[i]);
	free(p);
}

struct files_op *op_create(struct depot_files *d, const struct job *j, void *arg)
{
	struct files_op *op = mem_alloc(1, sizeof *op);
	const struct spec *s = j->spec;
	bool hash = s->code && spec_code_is_hash(s->code);

	d->refs++;
	op->depot = d;
	op->arg = arg;
	op->job = j->id;
	op->attempt = j->attempt;
	op->owner = mem_strdup(j->owner);
	op->group = mem_strdup(j->group);
	op->owner_uid = j->owner_uid;
	op->unique = world_random(d->world);
	/* What a first attempt finds may be another job's, and being written right now. */
	op->cut_ms = j->attempt > 1 ? j->cut_ms : world_now_ms(d->world);
	op->code_hash = hash ? mem_strdup(s->code) : NULL;
	op->code_place.name = mem_strdup("code");
	op->code_place.uri = hash ? NULL : mem_strdup(s->code);
	op->installs = s->requirements.which == REQUIREMENTS_ALL;
	op->input_count = s->input_count;
	op->inputs = places_copy(s->inputs, s->input_count);
	op->output_count = s->output_count;
	op->outputs = places_copy(s->outputs, s->output_count);
	op->next = d->ops;
	if (d->ops)
		d->ops->prev = op;
	d->ops = op;
	return op;
}

static void op_unlink(struct files_op *op)
{
	if (op->prev)
		op->prev->next = op->next;
	else
		op->depot->ops = op->next;
	if (op->next)
		op->next->prev = op->prev;
}

static void op_destroy(struct files_op *op)
{
	struct depot_files *d = op->depot;

	op_unlink(op);
	places_free(op->inputs, op->input_count);
	places_free(op->outputs, op->output_count);
	place_fini(&op->code_place);
	free(op->owner);
	free(op->group);
	free(op->code_hash);
	free(op->code);
	free(op->resume);
	free(op->requirements);
	free(op);
	depot_files_unref(d);
}

/* ---- the answer ---- */

static const char **paths_of(const struct place *p, size_t count)
{
	const char **paths = mem_alloc(count + 1, sizeof *paths);

	for (size_t i = 0; i < count; i++)
		paths[i] = p[i].path;
	return paths;
}

static const char **bases_of(const struct place *p, size_t count)
{
	const char **bases = mem_alloc(count + 1, sizeof *bases);

	for (size_t i = 0; i < count; i++)
		bases[i] = p[i].base;
	return bases;
}

static struct bind *binds_of(const struct place *p, size_t count)
{
	struct bind *binds = mem_alloc(count + 1, sizeof *binds);

	for (size_t i = 0; i < count; i++) {
		const struct volume_place *v = &p[i].volume;
		binds[i].range = -1;
		binds[i].ours = p[i].kind == PLACE_REMOTE || p[i].kind == PLACE_VOLUME;
		if (p[i].kind == PLACE_VOLUME && v->area == VOLUME_GROUP)
			binds[i].range = v->uid;
	}
	return binds;
}

static void answer_places(struct files_op *op)
{
	AUTO_FREE const char **inputs = paths_of(op->inputs, op->input_count);
	AUTO_FREE const char **files = bases_of(op->inputs, op->input_count);
	AUTO_FREE const char **outputs = paths_of(op->outputs, op->output_count);
	AUTO_FREE struct bind *from = binds_of(op->inputs, op->input_count);
	AUTO_FREE struct bind *to = binds_of(op->outputs, op->output_count);
	struct depot_places p = { .code = op->code,
				  .code_bind = op->code_lent ? &op->code_bind : NULL,
				  .requirements = op->requirements,
				  .code_wheels = op->code_wheels,
				  .inputs = inputs,
				  .input_files = files,
				  .input_binds = from,
				  .outputs = outputs,
				  .output_binds = to,
				  .resume = op->resume,
				  .resume_input = op->resume_input };

	op->prepared(op->arg, &p, NULL);
}

void op_answer(void *arg)
{
	struct files_op *op = arg;

	op->in_lane = false;
	if (!op->depot->gone) {
		if (op->collected)
			op->collected(op->arg, op->failed ? &op->err : NULL);
		else if (op->failed)
			op->prepared(op->arg, NULL, &op->err);
		else
			answer_places(op);
	}
	op_destroy(op);
}

void op_answer_later(struct files_op *op, const struct err *err)
{
	if (err && !op->failed) {
		op->failed = true;
		op->err = *err;
	}
	op->in_lane = true; /* nobody else answers it meanwhile */
	world_later(op->depot->world, op_answer, op);
}

/* ---- last: what needs all of it ---- */

static int prepare_code(struct files_op *op, struct err *err)
{
	if (!op->code_hash)
		return place_find_code(op, err) < 0 ? err_wrap(err, "code") : 0;
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

static int prepare_rest(struct files_op *op, struct err *err)
{
	if ((op->code_hash || op->code_place.uri) && prepare_code(op, err) < 0)
		return -1;
	if (op->code && op->installs && place_read_requirements(op, err) < 0)
		return -1;
	prepare_resume(op);
	return 0;
}

static void rest_work(void *arg)
{
	struct files_op *op = arg;

	op->failed = prepare_rest(op, &op->err) < 0;
}

/* ---- then: what lies elsewhere ---- */

static void cancel_brings(struct files_op *op)
{
	for (size_t i = 0; i < op->input_count; i++)
		bring_cancel(TAKE(op->inputs[i].bring));
	bring_cancel(TAKE(op->code_place.bring));
	op->waiting = 0;
}

static void brought(void *arg, const char *path, const char *base, const struct err *err)
{
	struct place *p = arg;
	struct files_op *op = p->op;

	p->bring = NULL;
	if (err) {
		struct err why = *err;
		err_wrap(&why, p == &op->code_place ? "%s" : "input %s", p->name);
		cancel_brings(op);
		op_answer_later(op, &why);
		return;
	}
	p->path = mem_strdup(path);
	p->base = mem_strdup(base);
	if (--op->waiting > 0)
		return;
	op->in_lane = true;
	world_lane_work(op->depot->folders, rest_work, op_answer, op);
}

static void start_bring(struct files_op *op, struct place *p)
{
	AUTO_FREE char *what = p == &op->code_place ? mem_strdup(p->name)
						    : str_printf("input %s", p->name);
	struct bring_order o = { .what = what,
				 .uri = p->uri,
				 .job = op->job,
				 .attempt = op->attempt,
				 .owner = op->owner,
				 .group = op->group };

	if (p->kind == PLACE_REMOTE && p->uri) {
		op->waiting++;
		p->bring = bring_start(op->depot, &o, brought, p);
	}
}

/* ---- first: what is of this machine ---- */

/* Root mode: the way to a job's outputs is the owner's alone, so that even a folder that its
 * task opened to everybody is not reached by anybody else.  The engine may have made the
 * folders above before, closed to all. */
static int open_way(const struct files_op *op, struct err *err)
{
	AUTO_FREE char *job = depot_layout_job(op->depot->state, op->job);
	AUTO_FREE char *output = str_printf("%s/output", job);
	AUTO_FREE char *above = mem_strndup(job, (size_t)(strrchr(job, '/') - job));

	if (tree_make(above, DEPOT_PASSAGE_MODE, err) < 0 ||
	    tree_make(output, 0700, err) < 0)
		return -1;
	if (chmod(above, DEPOT_PASSAGE_MODE) < 0 || chmod(job, 0700) < 0 ||
	    chmod(output, 0700) < 0)
		return err_sys(err, "set the mode of %s", job);
	if (op->owner_uid <= 0)
		return 0;
	return tree_let_pass(job, (uid_t)op->owner_uid, err) < 0
		       ? -1
		       : tree_let_read(output, (uid_t)op->owner_uid, err);
}

static bool has_remote(const struct files_op *op)
{
	bool any = op->code_place.uri && op->code_place.kind == PLACE_REMOTE;

	for (size_t i = 0; i < op->input_count; i++)
		any = any || op->inputs[i].kind == PLACE_REMOTE;
	return any;
}

static int prepare_here(struct files_op *op, struct err *err)
{
	for (size_t i = 0; i < op->input_count; i++)
		if (place_find_input(op, &op->inputs[i], err) < 0)
			return err_wrap(err, "input %s", op->inputs[i].name);
	if (op->code_place.uri && place_find_input(op, &op->code_place, err) < 0)
		return err_wrap(err, "code");
	if (op->output_count && op->uid_base >= 0 && open_way(op, err) < 0)
		return -1;
	for (size_t i = 0; i < op->output_count; i++)
		if (place_make_output(op, &op->outputs[i], err) < 0)
			return err_wrap(err, "output %s", op->outputs[i].name);
	return has_remote(op) ? 0 : prepare_rest(op, err);
}

static void here_work(void *arg)
{
	struct files_op *op = arg;

	op->failed = prepare_here(op, &op->err) < 0;
}

static void here_done(void *arg)
{
	struct files_op *op = arg;

	op->in_lane = false;
	if (op->cancelled && !op->failed) {
		op->failed = true;
		err_set(&op->err, ERR_CONFLICT, "stopped before it was started");
	}
	if (op->failed || op->depot->gone || !has_remote(op)) {
		op_answer(op);
		return;
	}
	for (size_t i = 0; i < op->input_count; i++)
		start_bring(op, &op->inputs[i]);
	start_bring(op, &op->code_place);
}

static int sort_all(struct files_op *op, struct err *err)
{
	for (size_t i = 0; i < op->input_count; i++)
		if (place_sort(op, &op->inputs[i], false, err) < 0)
			return err_wrap(err, "input %s", op->inputs[i].name);
	if (place_sort(op, &op->code_place, false, err) < 0)
		return err_wrap(err, "code");
	for (size_t i = 0; i < op->output_count; i++)
		if (place_sort(op, &op->outputs[i], true, err) < 0)
			return err_wrap(err, "output %s", op->outputs[i].name);
	return 0;
}

void depot_files_prepare(struct depot *base, const struct job *j, int64_t uid_base,
			 depot_prepared done, void *arg)
{
	struct depot_files *d = depot_files_of(base);
	struct files_op *op = op_create(d, j, arg);
	struct err err = { .code = ERR_NONE };

	op->prepared = done;
	op->uid_base = uid_base;
	if (sort_all(op, &err) < 0) {
		op_answer_later(op, &err);
		return;
	}
	/* Most short jobs bring nothing: no disk to wait for, no thread to wake. */
	if (!j->spec->code && !op->input_count && !op->output_count) {
		op_answer_later(op, NULL);
		return;
	}
	op->in_lane = true;
	world_lane_work(d->folders, here_work, here_done, op);
}

void depot_files_cancel(struct depot *base, int64_t job)
{
	struct err err;

	err_set(&err, ERR_CONFLICT, "stopped before it was started");
	for (struct files_op *op = depot_files_of(base)->ops; op; op = op->next) {
		if (op->job != job || !op->prepared || op->cancelled)
			continue;
		op->cancelled = true;
		if (op->in_lane)
			continue; /* seen when it comes back */
		cancel_brings(op);
		op_answer_later(op, &err);
	}
}

// SPDX-License-Identifier: Apache-2.0
/* The contract of an estimator's job: folders below /ml and variables PAI_*.
 *
 * Every hyperparameter is a text to it.  What is too long for a variable is left out and
 * said in the log; the file has it in any case. */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "contract/quote.h"
#include "contract/scene.h"

#define USER_ARGS "PAI_USER_ARGS"

/* 11 digits of base 36 hold 56 bits. */
#define ID_DIGITS 11
#define ID_BITS   56

void contract_training_id(const char *yard, int64_t job, char out[CONTRACT_TRAINING_ID])
{
	uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a, and a last stir */

	for (const char *p = yard ? yard : ""; *p; p++)
		h = (h ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
	/* The job is stirred in by steps that can be undone: two jobs of one yard never get
	 * the same number before it is cut to ID_BITS. */
	h += (uint64_t)job * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
	h = (h ^ h >> 31) >> (64 - ID_BITS);
	memcpy(out, "train", 5);
	for (int i = 0; i < ID_DIGITS; i++, h /= 36)
		out[5 + i] = "0123456789abcdefghijklmnopqrstuvwxyz"[h % 36];
	out[5 + ID_DIGITS] = 0;
}

/* A hyperparameter as text: of a JSON text what it says, of all else how it is written. */
static void add_text(const char *json, struct buf *out)
{
	AUTO_DOC struct doc *d = doc_parse_json(json, strlen(json), NULL);

	if (d && doc_root(d)->kind == DOC_STRING)
		buf_add(out, doc_root(d)->text, strlen(doc_root(d)->text));
	else
		buf_adds(out, json);
}

/* The hyperparameters as texts, in the order given. */
static void read_texts(const struct scene *v, struct pairs *out)
{
	const struct pairs *p = &v->job->spec->hyperparameters;

	for (size_t i = 0; i < p->count; i++) {
		AUTO_BUF struct buf text = { 0 };
		add_text(p->items[i].value, &text);
		pairs_set(out, p->items[i].key, buf_str(&text));
	}
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct pair *)a)->key, ((const struct pair *)b)->key);
}

static void write_json(const struct pairs *texts, bool sorted, struct buf *out)
{
	AUTO_FREE struct pair *list =
		mem_alloc(texts->count + 1, sizeof *list); /* borrows the texts */
	struct json j;

	for (size_t i = 0; i < texts->count; i++)
		list[i] = texts->items[i];
	if (sorted)
		qsort(list, texts->count, sizeof *list, by_key);
	json_init(&j, out);
	json_object(&j, NULL);
	for (size_t i = 0; i < texts->count; i++)
		json_str(&j, list[i].key, list[i].value);
	json_end(&j);
}

static void set_if_fits(struct scene *v, const char *name, const struct buf *value)
{
	if (value->len <= VARIABLE_BYTES_MAX)
		scene_set(v, name, "%s", buf_str(value));
	else
		bundle_note(
			v->b,
			"%s would have %zu bytes and is left out; read " CONTRACT_HYPERPARAMETERS
			" instead",
			name, value->len);
}

static void set_each(struct scene *v, const struct pairs *texts)
{
	AUTO_FREE char **names = mem_alloc(texts->count + 1, sizeof *names);

	for (size_t i = 0; i < texts->count; i++) {
		const struct pair *p = &texts->items[i];
		struct buf value = { .data = p->value, .len = strlen(p->value) };

		names[i] = spec_variable("PAI_HPS_", p->key);
		for (size_t k = 0; k < i; k++)
			if (strcmp(names[k], names[i]) == 0)
				bundle_note(
					v->b,
					"the hyperparameters \"%s\" and \"%s\" are both %s; the second one counts",
					texts->items[k].key, p->key, names[i]);
		set_if_fits(v, names[i], &value);
	}
	for (size_t i = 0; i < texts->count; i++)
		free(names[i]);
}

static void write_args(const struct pairs *texts, struct buf *out)
{
	for (size_t i = 0; i < texts->count; i++) {
		AUTO_FREE char *flag = str_printf("--%s", texts->items[i].key);

		buf_adds(out, i ? " " : "");
		quote_word(flag, out);
		buf_addc(out, ' ');
		quote_word(texts->items[i].value, out);
	}
}

/* Puts the words where the command's shell would have to take a value apart by itself. */
static void expand_command(struct scene *v, const struct buf *args)
{
	size_t at = quote_shell_line(v->b->argv, v->b->argc);
	AUTO_BUF struct buf line = { 0 };

	if (!at || args->len > VARIABLE_BYTES_MAX ||
	    pairs_get(&v->role->env, USER_ARGS)) /* what the job says itself */
		return;
	quote_expand(v->b->argv[at], USER_ARGS, buf_str(args), &line);
	if (line.len > VARIABLE_BYTES_MAX)
		return;
	free(v->b->argv[at]);
	v->b->argv[at] = buf_take(&line);
}

static void set_hyperparameters(struct scene *v)
{
	AUTO_BUF struct buf file = { 0 };
	AUTO_BUF struct buf hps = { 0 };
	AUTO_BUF struct buf args = { 0 };
	struct pairs texts = { 0 };

	read_texts(v, &texts);
	write_json(&texts, false, &file);
	buf_addc(&file, '\n');
	bundle_file(v->b, CONTRACT_HYPERPARAMETERS, shared_create(file.data, file.len));
	write_json(&texts, true, &hps);
	set_if_fits(v, "PAI_HPS", &hps);
	set_each(v, &texts);
	write_args(&texts, &args);
	set_if_fits(v, USER_ARGS, &args);
	expand_command(v, &args);
	pairs_fini(&texts);
}

static void warn_alike(struct scene *v, const char *what, const struct channel *list,
		       size_t count)
{
	for (size_t i = 1; i < count; i++) {
		AUTO_FREE char *name = spec_variable("", list[i].name);
		for (size_t k = 0; k < i; k++) {
			AUTO_FREE char *other = spec_variable("", list[k].name);
			if (strcmp(name, other) == 0)
				bundle_note(
					v->b,
					"the %s \"%s\" and \"%s\" are one variable, %s; the second one counts",
					what, list[k].name, list[i].name, name);
		}
	}
}

/* With a slash behind what is a folder. */
static void set_channels(struct scene *v)
{
	const struct contract_places *p = v->places;
	const struct spec *s = v->job->spec;

	warn_alike(v, "inputs", s->inputs, s->input_count);
	warn_alike(v, "outputs", s->outputs, s->output_count);
	for (size_t i = 0; i < s->input_count; i++) {
		const char *file = p->input_files ? p->input_files[i] : NULL;
		scene_set_for(v, "PAI_INPUT_", s->inputs[i].name, CONTRACT_INPUT "/%s/%s",
			      s->inputs[i].name, file ? file : "");
	}
	for (size_t i = 0; i < s->output_count; i++)
		scene_set_for(v, "PAI_OUTPUT_", s->outputs[i].name,
			      CONTRACT_OUTPUT "/%s/", s->outputs[i].name);
	bundle_mount(v->b, MOUNT_LINK, CONTRACT_OUTPUT "/tensorboard",
		     CONTRACT_OUTPUT "/logs");
	scene_set(v, "PAI_OUTPUT_TENSORBOARD", CONTRACT_OUTPUT "/tensorboard/");
}

/* Where the host has only python3, "python" is that. */
static void set_python(struct scene *v)
{
	bundle_mount(v->b, MOUNT_LINK, "/ml/bin/python", "/usr/bin/python3");
	scene_set(v, "PATH", "%s:/ml/bin", pairs_get(&v->b->env, "PATH"));
}

void estimator_set(struct scene *v)
{
	scene_set(v, "HOSTNAME", "%s", v->b->hostname);
	scene_set(v, "PAI_WORKING_DIR", CONTRACT_CODE "/");
	scene_set(v, "PAI_CONFIG_DIR", CONTRACT_CONFIG "/");
	set_hyperparameters(v);
	set_channels(v);
	set_python(v);
}

void estimator_set_ids(struct scene *v)
{
	char id[CONTRACT_TRAINING_ID];

	contract_training_id(v->places->yard, v->job->id, id);
	scene_set(v, "PAI_TRAINING_JOB_ID", "%s", id);
}

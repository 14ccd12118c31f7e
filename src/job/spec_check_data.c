// SPDX-License-Identifier: Apache-2.0
/* The check of what a job reads, keeps and tells: channels and their URIs, code, packages,
 * metrics. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "job/spec_check.h"
#include "job/spec_default.h"

/* Where data may lie.  Whether a folder is there, and whose it is, the depot finds out. */
static const struct scheme {
	const char *word, *form;
	bool output; /* can be written to */
	bool host;   /* "//" and a name come first */
} schemes[] = {
	{ "file", "file:///FOLDER", true, false },
	{ "pfs", "pfs:PATH", true, false },
	{ "yard", "yard:PATH", true, false },
	{ "nas", "nas://NAME/FOLDER", true, true },
	{ "oss", "oss://BUCKET/KEY", true, true },
	{ "s3", "s3://BUCKET/KEY", true, true },
	{ "hdfs", "hdfs://HOST/FOLDER", true, true },
	{ "webhdfs", "webhdfs://HOST/FOLDER", true, true },
	{ "http", "http://HOST/FILE", false, true },
	{ "https", "https://HOST/FILE", false, true },
};

#define INPUT_FORMS                                                                      \
	"an absolute path, file:, pfs: or yard:PATH, nas://, oss://, s3://, hdfs://, "   \
	"webhdfs://, http:// or https://"
#define OUTPUT_FORMS                                                                     \
	"an absolute path, file:, pfs: or yard:PATH, nas://, oss://, s3://, hdfs:// or " \
	"webhdfs://"

static bool has_dots(const char *path)
{
	if (strcmp(path, "..") == 0 || str_starts(path, "../"))
		return true;
	for (const char *p = strstr(path, "/.."); p; p = strstr(p + 1, "/.."))
		if (p[3] == '/' || !p[3])
			return true;
	return false;
}

/* Gives what stands behind "scheme:", or NULL: it is a path. */
static const char *split_scheme(const char *uri, size_t *len)
{
	*len = strspn(uri, "abcdefghijklmnopqrstuvwxyz0123456789+");
	return *len && uri[*len] == ':' ? uri + *len + 1 : NULL;
}

static const struct scheme *find_scheme(const char *uri, size_t len)
{
	for (size_t i = 0; i < COUNT_OF(schemes); i++)
		if (strlen(schemes[i].word) == len &&
		    memcmp(schemes[i].word, uri, len) == 0)
			return &schemes[i];
	return NULL;
}

/* NULL: it is fine as far as its form goes; else what is allowed. */
static const char *wrong_form(const struct scheme *s, const char *rest)
{
	if (s->host)
		return str_starts(rest, "//") && rest[2] && rest[2] != '/' ? NULL
									   : s->form;
	if (strcmp(s->word, "file") == 0) {
		rest += str_starts(rest, "//") ? 2 : 0;
		return *rest == '/' ? NULL : s->form;
	}
	return *rest ? NULL : s->form;
}

static void check_uri(struct check *c, const char *leaf, const char *uri, bool output)
{
	const char *forms = output ? OUTPUT_FORMS : INPUT_FORMS;
	const struct scheme *s = NULL;
	size_t len;
	const char *rest = split_scheme(uri, &len), *form;

	if (str_starts(uri, "odps:"))
		check_bad(
			c, leaf,
			"\"%s\": tables of MaxCompute cannot be read; export it to files",
			uri);
	else if (rest && !(s = find_scheme(uri, len)))
		check_bad(c, leaf, "\"%s\": there is no \"%.*s:\"; allowed is %s", uri,
			  (int)len, uri, forms);
	else if (s && output && !s->output)
		check_bad(c, leaf, "\"%s\" cannot be written to; allowed is %s", uri,
			  forms);
	else if (s && (form = wrong_form(s, rest)))
		check_bad(c, leaf, "\"%s\": write %s", uri, form);
	else if (!s && *uri != '/')
		check_bad(c, leaf, "\"%s\": allowed is %s", uri, forms);
	else if (has_dots(s ? rest : uri))
		check_bad(c, leaf, "\"%s\": allowed is a path without \"..\"", uri);
	else
		check_text(c, leaf, uri);
}

static bool has_control(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return true;
	return false;
}

/* A channel's name is a folder's.  Estimators take any. */
static void check_channel_name(struct check *c, const struct spec *s, const char *name)
{
	if (s->contract == SPEC_NATIVE)
		check_name(c, name ? name : "", name, SPEC_NAME_MAX);
	else if (!name || !*name || strlen(name) > SPEC_NAME_MAX || strchr(name, '/') ||
		 has_control(name) || !check_is_utf8(name) || str_eq(name, ".") ||
		 str_eq(name, ".."))
		check_bad(
			c, name ? name : "",
			"not the name of a folder; allowed are 1 to %d bytes without '/'",
			SPEC_NAME_MAX);
}

/* Native: names that would become one variable.  An estimator's job is let run, and told. */
static bool too_alike(const struct spec *s, const char *a, const char *b)
{
	return s->contract == SPEC_NATIVE ? check_alike(a, b) : str_eq(a, b);
}

static void check_channels(struct check *c, const struct spec *s, bool output)
{
	const struct channel *list = output ? s->outputs : s->inputs;
	size_t count = output ? s->output_count : s->input_count;
	size_t at = check_enter(c, "%s", output ? "outputs" : "inputs");

	check_count(c, "", count, SPEC_LIST_MAX);
	for (size_t i = 0; i < count && i <= SPEC_LIST_MAX; i++) {
		check_channel_name(c, s, list[i].name);
		if (list[i].uri)
			check_uri(c, list[i].name, list[i].uri, output);
		else if (!output)
			check_bad(c, list[i].name, "says nothing; allowed is %s",
				  INPUT_FORMS);
		for (size_t k = 0; k < i; k++)
			if (too_alike(s, list[k].name, list[i].name))
				check_bad(
					c, list[i].name,
					"the names \"%s\" and \"%s\" are too much alike",
					list[k].name, list[i].name);
	}
	check_leave(c, at);
}

static struct channel *find_output(struct spec *s, const char *name)
{
	for (size_t i = 0; i < s->output_count; i++)
		if (str_eq(s->outputs[i].name, name))
			return &s->outputs[i];
	return NULL;
}

/* What an estimator's job keeps in any case; "tensorboard" is "logs" by its later name. */
static void default_outputs(struct check *c, struct spec *s)
{
	static const char *const always[] = { "model", "checkpoints", "logs" };
	struct channel *board = find_output(s, "tensorboard");

	if (board && find_output(s, "logs")) {
		check_bad(c, "outputs.tensorboard",
			  "is the same folder as \"logs\"; leave one out");
		return;
	}
	if (board) {
		free(board->name);
		board->name = mem_strdup("logs");
	}
	for (size_t i = 0; i < COUNT_OF(always); i++)
		if (!find_output(s, always[i]))
			spec_add_output(s, always[i], NULL);
}

static void check_requirements(struct check *c, struct spec *s)
{
	struct requirements *r = &s->requirements;
	size_t at = check_enter(c, "requirements");

	if (r->which == REQUIREMENTS_DEFAULT)
		r->which =
			s->contract == SPEC_NATIVE ? REQUIREMENTS_NONE : REQUIREMENTS_ALL;
	check_count(c, "", r->count, SPEC_LIST_MAX);
	for (size_t i = 0; i < r->count && i <= SPEC_LIST_MAX; i++) {
		const char *text = r->items[i];
		if (!text[strspn(text, " \t")] || strlen(text) > SPEC_REQUIREMENT_MAX ||
		    has_control(text) || !check_is_utf8(text))
			check_bad(
				c, "",
				"entry %zu is not a requirement of pip, such as numpy or numpy>=1.26; allowed is one line of at most %d bytes",
				i + 1, SPEC_REQUIREMENT_MAX);
	}
	check_leave(c, at);
}

/* Groups that capture, however the pattern is meant otherwise. */
static int count_groups(const char *p)
{
	int groups = 0;

	for (; *p; p++) {
		if (*p == '\\' && p[1]) {
			p++;
		} else if (*p == '[') {
			p += p[1] == '^' ? 1 : 0;
			p += p[1] == ']' ? 1 : 0;
			while (p[1] && p[1] != ']')
				p += p[1] == '\\' && p[2] ? 2 : 1;
		} else if (*p == '(') {
			groups += p[1] != '?' || str_starts(p, "(?P<") ||
				  (str_starts(p, "(?<") && p[3] != '=' && p[3] != '!');
		}
	}
	return groups;
}

static void check_metrics(struct check *c, const struct spec *s)
{
	check_count(c, "metrics", s->metric_count, SPEC_LIST_MAX);
	for (size_t i = 0; i < s->metric_count && i <= SPEC_LIST_MAX; i++) {
		const struct metric *m = &s->metrics[i];
		size_t at = check_enter(c, "metrics[%zu]", i);

		if (!m->name || !*m->name || strlen(m->name) > SPEC_NAME_MAX ||
		    has_control(m->name) || !check_is_utf8(m->name))
			check_bad(c, "name", "a name of 1 to %d bytes is needed",
				  SPEC_NAME_MAX);
		if (!m->pattern || !*m->pattern ||
		    strlen(m->pattern) > SPEC_PATTERN_MAX || has_control(m->pattern) ||
		    !check_is_utf8(m->pattern))
			check_bad(
				c, "pattern",
				"a regular expression of 1 to %d bytes is needed, such as loss=([0-9.]+)",
				SPEC_PATTERN_MAX);
		else if (count_groups(m->pattern) != 1)
			check_bad(
				c, "pattern",
				"has %d groups; one is needed, around the number: loss=([0-9.]+); a further one is written (?:...)",
				count_groups(m->pattern));
		check_leave(c, at);
	}
}

void check_data(struct check *c, struct spec *s)
{
	if (s->contract == SPEC_ESTIMATOR)
		default_outputs(c, s);
	check_channels(c, s, false);
	check_channels(c, s, true);
	check_requirements(c, s);
	check_metrics(c, s);
	if (!s->code || spec_code_is_hash(s->code))
		return;
	if (!strchr(s->code, ':') && *s->code != '/')
		check_bad(
			c, "code",
			"neither the hash of a code snapshot (64 digits of 0-9a-f) nor the URI of a folder or archive");
	else
		check_uri(c, "code", s->code, false);
}

// SPDX-License-Identifier: Apache-2.0
#include "catalog/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static const char *const scopes[] = { "official", "workspace", "own" };
static const char *const accelerators[] = { "CPU", "GPU", "NPU" };
static const char *const uses[] = { "training", "inference", "develop" };

const char *image_scope_word(enum image_scope s)
{
	return scopes[s];
}

int image_scope_from_word(const char *word, enum image_scope *out)
{
	for (size_t i = 0; word && i < COUNT_OF(scopes); i++)
		if (str_eq(word, scopes[i])) {
			*out = (enum image_scope)i;
			return 0;
		}
	return -1;
}

bool image_name_ok(const char *name)
{
	static const char all[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";
	size_t n = strlen(name);

	return n > 0 && n < IMAGE_NAME_MAX && !strchr("._-", name[0]) &&
	       strspn(name, all) == n;
}

void image_destroy(struct image *i)
{
	if (!i)
		return;
	char *texts[] = { i->name,        i->uri,         i->framework, i->version,
			  i->accelerator, i->python,      i->os,        i->runs,
			  i->uses,        i->description, i->owner };
	for (size_t k = 0; k < COUNT_OF(texts); k++)
		free(texts[k]);
	pairs_fini(&i->labels);
	free(i);
}

/* A reference, a version and the like: visible characters, no spaces.  A description: any
 * text of one line. */
static int read_text(const struct doc_node *map, const char *key, bool spaces, char **out,
		     struct err *err)
{
	const struct doc_node *n = doc_get(map, key);
	const char *text = n && n->kind != DOC_NULL ? n->text : "";

	if (n && n->kind != DOC_NULL && n->kind != DOC_STRING && n->kind != DOC_NUMBER)
		return err_set(err, ERR_INVALID, "%s: a text is wanted", key);
	if (strlen(text) > IMAGE_TEXT_MAX)
		return err_set(err, ERR_INVALID, "%s: at most %d bytes", key,
			       IMAGE_TEXT_MAX);
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f || (!spaces && *c == ' '))
			return err_set(err, ERR_INVALID,
				       "%s: no control characters%s are allowed", key,
				       spaces ? "" : " and no spaces");
	*out = mem_strdup(text);
	return 0;
}

static int read_accelerator(struct image *i, const struct doc_node *map, struct err *err)
{
	const char *word = doc_str(map, "accelerator", accelerators[0]);

	for (size_t k = 0; k < COUNT_OF(accelerators); k++)
		if (str_eq(word, accelerators[k])) {
			i->accelerator = mem_strdup(word);
			return 0;
		}
	return err_set(err, ERR_INVALID, "accelerator: '%.32s' is not CPU, GPU or NPU",
		       word);
}

static bool is_use(const char *word)
{
	for (size_t k = 0; k < COUNT_OF(uses); k++)
		if (str_eq(word, uses[k]))
			return true;
	return false;
}

static int read_uses(struct image *i, const struct doc_node *map, struct err *err)
{
	const struct doc_node *list = doc_get(map, "use");
	AUTO_BUF struct buf words = { 0 };

	if (list && list->kind != DOC_LIST)
		return err_set(err, ERR_INVALID,
			       "use: a list of training, inference, develop is wanted");
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		if (n->kind != DOC_STRING || !is_use(n->text))
			return err_set(err, ERR_INVALID,
				       "use: there are training, inference and develop");
		buf_printf(&words, "%s%s", words.len ? " " : "", n->text);
	}
	i->uses = words.len ? buf_take(&words) : mem_strdup("training develop");
	return 0;
}

static int read_labels(struct image *i, const struct doc_node *map, struct err *err)
{
	const struct doc_node *labels = doc_get(map, "labels");

	if (labels && labels->kind != DOC_MAP && labels->kind != DOC_NULL)
		return err_set(err, ERR_INVALID, "labels: names with texts are wanted");
	if (labels && labels->count > IMAGE_LABELS_MAX)
		return err_set(err, ERR_INVALID, "labels: at most %d", IMAGE_LABELS_MAX);
	for (const struct doc_node *n = labels ? labels->first : NULL; n; n = n->next) {
		if (n->kind != DOC_STRING || strlen(n->text) > IMAGE_TEXT_MAX ||
		    strlen(n->key) > IMAGE_NAME_MAX)
			return err_set(
				err, ERR_INVALID,
				"labels.%.64s: a text of at most %d bytes is wanted",
				n->key, IMAGE_TEXT_MAX);
		pairs_set(&i->labels, n->key, n->text);
	}
	return 0;
}

static void add_small(struct buf *out, const char *text, const char *also)
{
	for (; *text; text++) {
		char c = *text;
		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
		buf_addc(out, plain || strchr(also, c) ? c : '-');
	}
}

char *image_uri(const struct image *i)
{
	AUTO_BUF struct buf out = { 0 };
	const char *use = strstr(i->uses, "training") ? "training" : i->uses;

	buf_printf(&out, "trainyard/%s/", image_scope_word(i->scope));
	add_small(&out, *i->framework ? i->framework : i->name, "_");
	buf_printf(&out, "-%.*s:", (int)strcspn(use, " "), use);
	add_small(&out, *i->version ? i->version : "0", "._");
	buf_addc(&out, '-');
	add_small(&out, i->accelerator, "");
	if (*i->python) {
		const char *minor = strchr(i->python, '.');
		buf_printf(&out, "-py%.*s", (int)strcspn(i->python, "."), i->python);
		if (minor)
			buf_printf(&out, "%.*s", (int)strcspn(minor + 1, "."), minor + 1);
	}
	buf_addc(&out, '-');
	add_small(&out, *i->os ? i->os : "linux", ".");
	return buf_take(&out);
}

static int read_all(struct image *i, const struct doc_node *map, struct err *err)
{
	const char *scope = doc_str(map, "scope", "official");

	if (image_scope_from_word(scope, &i->scope) < 0)
		return err_set(err, ERR_INVALID,
			       "scope: '%.32s' is not official, workspace or own", scope);
	if (read_text(map, "uri", false, &i->uri, err) < 0 ||
	    read_text(map, "framework", false, &i->framework, err) < 0 ||
	    read_text(map, "version", false, &i->version, err) < 0 ||
	    read_text(map, "python", false, &i->python, err) < 0 ||
	    read_text(map, "os", false, &i->os, err) < 0 ||
	    read_text(map, "runs", false, &i->runs, err) < 0 ||
	    read_text(map, "description", true, &i->description, err) < 0 ||
	    read_text(map, "owner", false, &i->owner, err) < 0 ||
	    read_accelerator(i, map, err) < 0 || read_uses(i, map, err) < 0 ||
	    read_labels(i, map, err) < 0)
		return -1;
	i->created_ms = doc_i64(map, "created_ms", 0);
	if (!*i->runs) {
		free(i->runs);
		i->runs = mem_strdup(IMAGE_HOST);
	}
	if (!*i->uri) {
		free(i->uri);
		i->uri = image_uri(i);
	}
	return 0;
}

struct image *image_read(const struct doc_node *map, const char *name, struct err *err)
{
	struct image *i = mem_alloc(1, sizeof *i);

	i->name = mem_strdup(name);
	if (!image_name_ok(name))
		err_set(err, ERR_INVALID, "name: '%.64s': " IMAGE_NAME_RULE, name);
	else if (read_all(i, map, err) == 0)
		return i;
	image_destroy(i);
	return NULL;
}

void image_write(const struct image *i, struct json *j, const char *key)
{
	json_object(j, key);
	json_str(j, "name", i->name);
	json_str(j, "uri", i->uri);
	json_str(j, "framework", i->framework);
	json_str(j, "version", i->version);
	json_str(j, "accelerator", i->accelerator);
	json_str(j, "python", i->python);
	json_str(j, "os", i->os);
	json_str(j, "scope", image_scope_word(i->scope));
	json_array(j, "use");
	for (const char *at = i->uses; *at;) {
		size_t n = strcspn(at, " ");
		json_strn(j, NULL, at, n);
		at += n + (at[n] == ' ');
	}
	json_end(j);
	json_str(j, "runs", i->runs);
	json_str(j, "description", i->description);
	json_str(j, "owner", i->owner);
	json_i64(j, "created_ms", i->created_ms);
	json_object(j, "labels");
	for (size_t k = 0; k < i->labels.count; k++)
		json_str(j, i->labels.items[k].key, i->labels.items[k].value);
	json_end(j);
	json_end(j);
}

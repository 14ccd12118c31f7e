// SPDX-License-Identifier: Apache-2.0
/* YAML by libyaml's events: the library keeps no tree of ours and has no say in the
 * limits.  The only file that includes <yaml.h>. */
#include <string.h>
#include <yaml.h>

#include "base/doc.h"
#include "base/doc_build.h"
#include "base/map.h"
#include "base/mem.h"

#define YAML_TAG    "tag:yaml.org,2002:"
#define ANCHORS_MAX 1000 /* a person needs a handful */

struct reader {
	struct doc_build *b;
	yaml_parser_t parser;
	struct map *anchors;              /* name → doc_node */
	bool key_next[DOC_DEPTH_MAX + 1]; /* by depth: a map's level waits for a key */
	bool done;                        /* the first document is complete */
};

static struct doc_mark mark_of(yaml_mark_t m)
{
	const size_t most = INT32_MAX - 1;

	return (struct doc_mark){ (int)(m.line < most ? m.line + 1 : most),
				  (int)(m.column < most ? m.column + 1 : most) };
}

static bool one_of(const char *text, size_t len, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == len && memcmp(*words, text, len) == 0)
			return true;
	return false;
}

/* What a plain scalar without a tag is. */
static enum doc_kind plain_kind(const char *text, size_t len)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };
	static const char *const bools[] = { "true",  "True",  "TRUE", "false",
					     "False", "FALSE", NULL };

	if (one_of(text, len, nulls))
		return DOC_NULL;
	if (one_of(text, len, bools))
		return DOC_BOOL;
	return build_is_number(text, len) ? DOC_NUMBER : DOC_STRING;
}

/* Only tags that say what the value is anyway; others could mean anything. */
static int check_tag(struct reader *r, struct doc_mark at, const yaml_char_t *tag)
{
	static const char *const known[] = { "!",
					     YAML_TAG "str",
					     YAML_TAG "int",
					     YAML_TAG "float",
					     YAML_TAG "bool",
					     YAML_TAG "null",
					     YAML_TAG "map",
					     YAML_TAG "seq",
					     NULL };
	const char *t = (const char *)tag;

	if (!t || one_of(t, strlen(t), known))
		return 0;
	return build_fail(r->b, at, "the tag \"%.80s\" has no meaning here; leave it out",
			  t);
}

static bool wants_key(const struct reader *r)
{
	return r->b->depth && r->key_next[r->b->depth];
}

/* A value was completed at this level: in a map, a key comes next. */
static void value_done(struct reader *r)
{
	if (!r->b->depth)
		r->done = true;
	else if (r->b->levels[r->b->depth - 1].node->kind == DOC_MAP)
		r->key_next[r->b->depth] = true;
}

static int remember(struct reader *r, const yaml_char_t *anchor, struct doc_node *n)
{
	if (!anchor)
		return 0;
	map_puts(r->anchors, (const char *)anchor, n);
	if (map_count(r->anchors) > ANCHORS_MAX)
		return build_fail(r->b, (struct doc_mark){ n->line, n->column },
				  "more than %d anchors", ANCHORS_MAX);
	return 0;
}

static int take_scalar(struct reader *r, const yaml_event_t *e)
{
	struct doc_mark at = mark_of(e->start_mark);
	const char *text = (const char *)e->data.scalar.value;
	const char *tag = (const char *)e->data.scalar.tag;
	size_t len = e->data.scalar.length;
	bool plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	enum doc_kind kind = DOC_STRING;
	struct doc_node *n;

	if (check_tag(r, at, e->data.scalar.tag) < 0)
		return -1;
	if (wants_key(r)) {
		if (plain && len == 2 && memcmp(text, "<<", 2) == 0)
			return build_fail(
				r->b, at,
				"merge keys (<<) are not supported; write the fields out");
		r->key_next[r->b->depth] = false;
		return build_key(r->b, at, text, len);
	}
	if (plain &&
	    (!tag || (strcmp(tag, "!") != 0 && strcmp(tag, YAML_TAG "str") != 0)))
		kind = plain_kind(text, len);
	n = build_scalar(r->b, kind, at, doc_copy(r->b->doc, text, len), len);
	if (!n || remember(r, e->data.scalar.anchor, n) < 0)
		return -1;
	value_done(r);
	return 0;
}

static int take_open(struct reader *r, const yaml_event_t *e)
{
	bool map = e->type == YAML_MAPPING_START_EVENT;
	const yaml_char_t *tag =
		map ? e->data.mapping_start.tag : e->data.sequence_start.tag;
	const yaml_char_t *anchor =
		map ? e->data.mapping_start.anchor : e->data.sequence_start.anchor;
	struct doc_mark at = mark_of(e->start_mark);
	struct doc_node *n;

	if (check_tag(r, at, tag) < 0)
		return -1;
	if (wants_key(r))
		return build_fail(r->b, at, "a key must be a plain text, not a %s",
				  map ? "map" : "list");
	n = build_open(r->b, map ? DOC_MAP : DOC_LIST, at);
	if (!n || remember(r, anchor, n) < 0)
		return -1;
	r->key_next[r->b->depth] = map;
	return 0;
}

static int take_close(struct reader *r)
{
	if (build_close(r->b) < 0)
		return -1;
	value_done(r);
	return 0;
}

static int take_alias(struct reader *r, const yaml_event_t *e)
{
	struct doc_mark at = mark_of(e->start_mark);
	const char *name = (const char *)e->data.alias.anchor;
	const struct doc_node *from = map_gets(r->anchors, name);

	if (wants_key(r))
		return build_fail(r->b, at, "a key must be a plain text, not an alias");
	if (!from)
		return build_fail(r->b, at, "there is no anchor \"&%.80s\" above", name);
	for (int i = 0; i < r->b->depth; i++)
		if (r->b->levels[i].node == from)
			return build_fail(r->b, at, "\"*%.80s\" contains itself", name);
	if (!build_again(r->b, at, from))
		return -1;
	value_done(r);
	return 0;
}

/* Gives 1 at the end of the stream. */
static int take_event(struct reader *r, const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_SCALAR_EVENT:
		return take_scalar(r, e);
	case YAML_MAPPING_START_EVENT:
	case YAML_SEQUENCE_START_EVENT:
		return take_open(r, e);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		return take_close(r);
	case YAML_ALIAS_EVENT:
		return take_alias(r, e);
	case YAML_DOCUMENT_START_EVENT:
		if (r->done)
			return build_fail(
				r->b, mark_of(e->start_mark),
				"a second document begins here; one file holds one");
		return 0;
	case YAML_STREAM_END_EVENT:
		return 1;
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		return 0;
	}
	return 0;
}

static int fail_syntax(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	yaml_mark_t mark = p->problem_mark;
	const char *context = p->context ? p->context : "";

	/* A reader error (encoding) has no mark of its own. */
	if (p->error == YAML_READER_ERROR)
		mark = p->mark;
	return build_fail(r->b, mark_of(mark), "%s%s%s",
			  p->problem ? p->problem : "not YAML", *context ? ", " : "",
			  context);
}

static int read_events(struct reader *r)
{
	yaml_event_t event;
	int end = 0;

	while (!end) {
		if (!yaml_parser_parse(&r->parser, &event))
			return fail_syntax(r);
		end = take_event(r, &event);
		yaml_event_delete(&event);
	}
	return end < 0 ? -1 : 0;
}

int doc_read_yaml(struct doc_build *b, const char *text, size_t len)
{
	struct reader r = { .b = b };
	int rc;

	if (!yaml_parser_initialize(&r.parser))
		return err_set(b->err, ERR_INTERNAL, "no memory for the YAML parser");
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
	r.anchors = map_create();
	rc = read_events(&r);
	map_destroy(r.anchors);
	yaml_parser_delete(&r.parser);
	return rc;
}

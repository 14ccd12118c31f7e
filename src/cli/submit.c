// SPDX-License-Identifier: Apache-2.0
/* submit.c - `yard submit`: a job file, as the server reads it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/doc.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/array.h"
#include "cli/cli.h"
#include "cli/key.h"
#include "cli/plain.h"
#include "cli/secret_flag.h"
#include "cli/snapshot.h"
#include "cli/view.h"
#include "cli/why_view.h"

struct submit_args {
	bool dry_run, json;
	const char *code;
	struct opts_list secrets;
	struct array_flags array;
};

/* clang-format off */
static const struct opt submit_table[] = {
	{ "code", 0, OPT_TEXT, OPT_INTO(struct submit_args, code), "DIR", "send this folder along as its code" },
	OPT_SECRET(struct submit_args, secrets),
	OPT_ARRAY(struct submit_args, array),
	{ "dry-run", 0, OPT_FLAG, OPT_INTO(struct submit_args, dry_run), NULL,
	  "only check, and say what `yard why` would" },
	{ "json", 0, OPT_FLAG, OPT_INTO(struct submit_args, json), NULL, "print the answer as JSON" },
};
/* clang-format on */

static int read_file(const char *path, struct buf *out, struct err *err)
{
	bool input = str_eq(path, "-");
	AUTO_FD int fd = input ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	char chunk[16384];
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT
			       ? err_set(err, ERR_NOT_FOUND, "there is no file %s", path)
			       : err_sys(err, "open %s", path);
	while ((n = read(fd, chunk, sizeof chunk)) > 0) {
		buf_add(out, chunk, (size_t)n);
		if (out->len > DOC_BYTES_MAX)
			return err_set(err, ERR_TOO_LARGE,
				       "%s is larger than 8 MiB: that is no job file",
				       path);
	}
	return n < 0 ? err_sys(err, "read %s", path) : 0;
}

/* Puts a field into the text itself, so that what the server says about lines still holds:
 * at the end of a block of YAML, or behind the first brace. */
static int add_field(struct buf *text, const char *key, const char *json, struct err *err)
{
	AUTO_DOC struct doc *d = doc_parse(buf_str(text), text->len, NULL);
	size_t at = strspn(buf_str(text), " \t\r\n");

	if (!d || doc_root(d)->kind != DOC_MAP)
		return 0; /* the server says what is wrong with it */
	if (doc_get(doc_root(d), key))
		return err_set(err, ERR_INVALID,
			       "the file has `%s` already: leave out that, or the option",
			       key);
	if (at < text->len && text->data[at] == '{') {
		AUTO_BUF struct buf out = { 0 };
		buf_add(&out, text->data, at + 1);
		buf_printf(&out, "\"%s\":%s%s", key, json, doc_root(d)->count ? "," : "");
		buf_add(&out, text->data + at + 1, text->len - at - 1);
		struct buf before = *text;
		*text = out;
		out = before;
	} else {
		buf_printf(text, "\n%s: %s\n", key, json);
	}
	AUTO_DOC struct doc *again = doc_parse(buf_str(text), text->len, NULL);
	if (!again || !doc_get(doc_root(again), key))
		return err_set(
			err, ERR_INVALID,
			"`%s` cannot be added to this file: write `%s: %s` in it yourself",
			key, key, json);
	return 0;
}

static int add_code(struct cli *c, struct buf *text, const char *folder, struct err *err)
{
	char hash[PACK_HASH_HEX];

	if (snapshot_send(c, folder, hash, err) < 0)
		return -1;
	AUTO_FREE char *json = str_printf("\"%s\"", hash);
	return add_field(text, "code", json, err);
}

static int add_secrets(struct buf *text, const struct opts_list *list, struct err *err)
{
	AUTO_BUF struct buf json = { 0 };
	struct json j;

	json_init(&j, &json);
	if (secret_flag_items(&j, NULL, list, err) < 0)
		return -1;
	return add_field(text, "secrets", buf_str(&json), err);
}

/* "file:line:column: field: what is wrong", as compilers do and editors understand. */
static void print_problems(const struct cli *c, const char *file,
			   const struct problems *p)
{
	for (size_t i = 0; i < p->count; i++) {
		AUTO_BUF struct buf out = { 0 };
		buf_printf(&out, "%s:", file);
		if (p->items[i].line > 0)
			buf_printf(&out, "%d:%d:", p->items[i].line, p->items[i].column);
		if (p->items[i].field && *p->items[i].field)
			buf_printf(&out, " %s:", p->items[i].field);
		buf_printf(&out, " %s\n", p->items[i].text);
		plain_text(out.data, "\n\t");
		cli_write(STDERR_FILENO, out.data, strlen(out.data));
	}
	cli_say(c, "%s was refused: %zu problem%s", file, p->count,
		p->count == 1 ? "" : "s");
}

static void print_answer(const struct cli *c, const struct answer *a, bool json)
{
	const struct doc_node *map = doc_root(a->doc);
	struct why_page page = { cli_now_ms(), view_width(), c->colour_out };
	AUTO_BUF struct buf out = { 0 };

	if (json) {
		cli_print_json(&a->body);
		return;
	}
	if (doc_bool(map, "dry_run", false))
		why_lay_out(map, &page, &out);
	else
		buf_printf(&out, "%" PRId64 "\n", doc_i64(map, "id", 0));
	cli_print(&out);
}

static int add_array(struct buf *text, const struct array_flags *flags, struct err *err)
{
	AUTO_BUF struct buf json = { 0 };
	struct json j;

	json_init(&j, &json);
	if (array_flags_write(&j, NULL, flags, err) < 0)
		return -1;
	return add_field(text, "array", buf_str(&json), err);
}

/* The first word of a command that is a file here, or NULL; the caller frees. */
static char *named_file(const char *command)
{
	static const char breaks[] = " \t\n;|&<>()'\"";
	struct stat st;

	for (const char *p = command; *p;) {
		size_t n = strcspn(p, breaks);
		AUTO_FREE char *word = mem_strndup(p, n);
		if (n && *word != '/' && stat(word, &st) == 0 && S_ISREG(st.st_mode))
			return TAKE(word);
		p += n;
		p += strspn(p, breaks);
	}
	return NULL;
}

static char *file_of_command(const struct doc_node *n)
{
	if (!n)
		return NULL;
	if (n->kind == DOC_STRING)
		return named_file(n->text);
	for (const struct doc_node *word = n->first; word; word = word->next) {
		char *found = word->kind == DOC_STRING ? named_file(word->text) : NULL;
		if (found)
			return found;
	}
	return NULL;
}

/* A job file sends nothing by itself, which who comes from `yard run` may not expect. */
static void warn_no_code(const struct cli *c, const char *file, const struct buf *text)
{
	AUTO_DOC struct doc *d = doc_parse(buf_str(text), text->len, NULL);
	const struct doc_node *root = d ? doc_root(d) : NULL,
			      *roles = doc_get(root, "roles");

	if (!root || doc_get(root, "code"))
		return;
	AUTO_FREE char *found = file_of_command(doc_get(root, "command"));
	for (const struct doc_node *r = roles ? roles->first : NULL; r && !found;
	     r = r->next)
		found = file_of_command(doc_get(r, "command"));
	if (found)
		cli_hint(
			c,
			"no code was sent: %s stays here; `yard submit --code . %s` sends this folder along",
			found, file);
}

static int run_submit(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct submit_args *a = args;
	const char *file = operands->items[0];
	AUTO_BUF struct buf text = { 0 };
	AUTO_ANSWER struct answer answer = { 0 };
	char key[KEY_BYTES];
	struct err err;

	if (read_file(file, &text, &err) < 0)
		return cli_fail(c, &err);
	if ((a->code && add_code(c, &text, a->code, &err) < 0) ||
	    (a->secrets.count && add_secrets(&text, &a->secrets, &err) < 0) ||
	    (array_flags_given(&a->array) && add_array(&text, &a->array, &err) < 0))
		return cli_fail(c, &err);
	key_make(key);
	struct request r = { .method = "POST",
			     .target = a->dry_run ? "/jobs?dry_run=1" : "/jobs",
			     .key = key,
			     .body = buf_str(&text),
			     .body_len = text.len };
	if (client_call(c->client, &r, &answer, &err) < 0) {
		if (!answer.problems.count)
			return cli_fail(c, &err);
		print_problems(c, str_eq(file, "-") ? "stdin" : file, &answer.problems);
		return 2;
	}
	if (!answer.doc) {
		err_set(&err, ERR_CORRUPT, "the server's answer is no JSON");
		return cli_fail(c, &err);
	}
	print_answer(c, &answer, a->json);
	warn_no_code(c, file, &text);
	return 0;
}

const struct command cmd_submit = {
	.name = "submit",
	.operands = "FILE",
	.summary = "send a job file (YAML or JSON; - is stdin); prints the id",
	.table = submit_table,
	.count = COUNT_OF(submit_table),
	.args_size = sizeof(struct submit_args),
	.starts = true,
	.operands_min = 1,
	.operands_max = 1,
	.run = run_submit,
};

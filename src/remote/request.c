// SPDX-License-Identifier: Apache-2.0
#include "remote/request.h"

#include <stdio.h>
#include <string.h>

#include "base/doc.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

static const char *const op_words[REMOTE_OP_COUNT] = {
	[REMOTE_LOOK] = "look",
	[REMOTE_GET] = "get",
	[REMOTE_PROVE] = "prove",
	[REMOTE_PUT] = "put",
};

struct vault *remote_request_write(const struct remote_request *r)
{
	const struct remote_account *a = &r->account;
	struct buf out = { 0 };
	struct json j;

	/* Room for all of it at once: what is moved while growing would not be wiped. */
	buf_reserve(&out, 2u * REMOTE_ACCOUNT_MAX + 8u * REMOTE_URI_MAX);
	json_init(&j, &out);
	json_object(&j, NULL);
	json_str(&j, "op", op_words[r->op]);
	json_str(&j, "uri", r->uri);
	json_i64(&j, "files_max", r->files_max);
	json_i64(&j, "bytes_max", r->bytes_max);
	json_str(&j, "endpoint", a->endpoint);
	json_str(&j, "region", a->region);
	json_str(&j, "access_key", a->access_key);
	json_str(&j, "secret_key", a->secret_key);
	json_str(&j, "token", a->token);
	json_str(&j, "user", a->user);
	json_bool(&j, "virtual_host", a->virtual_host);
	json_bool(&j, "oss_signature", a->oss_signature);
	json_end(&j);
	struct vault *v = vault_copy(out.data, out.len);
	explicit_bzero(out.data, out.cap);
	buf_fini(&out);
	return v;
}

static char *copy(const struct doc_node *map, const char *key)
{
	return mem_strdup(doc_str(map, key, NULL));
}

int remote_request_read(const struct vault *text, struct remote_request *out,
			struct err *err)
{
	AUTO_DOC struct doc *d = doc_parse_json(vault_data(text), vault_len(text), err);
	const struct doc_node *m = d ? doc_root(d) : NULL;
	const char *op = doc_str(m, "op", "");

	if (!d)
		return -1;
	*out = (struct remote_request){ .op = REMOTE_OP_COUNT };
	for (enum remote_op o = 0; o < REMOTE_OP_COUNT; o++)
		if (str_eq(op, op_words[o]))
			out->op = o;
	if (out->op == REMOTE_OP_COUNT || !doc_str(m, "uri", NULL))
		return err_set(err, ERR_INTERNAL, "the request has no op or no uri");
	out->uri = copy(m, "uri");
	out->files_max = doc_i64(m, "files_max", REMOTE_FILES_MAX);
	out->bytes_max = doc_i64(m, "bytes_max", INT64_MAX / 2);
	out->account = (struct remote_account){
		.endpoint = copy(m, "endpoint"),
		.region = copy(m, "region"),
		.access_key = copy(m, "access_key"),
		.secret_key = copy(m, "secret_key"),
		.token = copy(m, "token"),
		.user = copy(m, "user"),
		.virtual_host = doc_bool(m, "virtual_host", false),
		.oss_signature = doc_bool(m, "oss_signature", false),
	};
	return 0;
}

void remote_request_fini(struct remote_request *r)
{
	free(r->uri);
	remote_account_fini(&r->account);
	*r = (struct remote_request){ .op = REMOTE_LOOK };
}

static int read_numbers(const char *s, struct remote_line *out)
{
	size_t n = str_leading_i64(s, &out->first);

	if (n == 0 || s[n] != ' ' || out->first < 0)
		return -1;
	s += n + 1;
	n = str_leading_i64(s, &out->second);
	return n == 0 || s[n] || out->second < -1 ? -1 : 0;
}

static int read_bad(const char *s, struct err *out)
{
	size_t n = strcspn(s, " ");

	for (enum err_code c = ERR_NONE + 1; c < ERR_CODE_END; c++) {
		const char *word = err_word(c);
		if (strlen(word) != n || strncmp(s, word, n) != 0)
			continue;
		err_set(out, c, "%s", s[n] ? s + n + 1 : "");
		return 0;
	}
	return -1;
}

int remote_line_read(const char *line, struct remote_line *out)
{
	*out = (struct remote_line){ .kind = REMOTE_SAID_COUNT };
	if (str_starts(line, "at ")) {
		out->kind = REMOTE_AT;
		return read_numbers(line + 3, out);
	}
	if (str_starts(line, "done ")) {
		out->kind = REMOTE_DONE;
		return read_numbers(line + 5, out);
	}
	out->kind = REMOTE_BAD;
	return str_starts(line, "bad ") ? read_bad(line + 4, &out->err) : -1;
}

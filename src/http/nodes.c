// SPDX-License-Identifier: Apache-2.0
/* One machine: everybody may see it, an admin says whether it takes tasks and where it
 * stands. */
#include "http/route.h"

#include "base/doc.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "http/handlers.h"
#include "wire/api.h"
#include "wire/facts.h"
#include "yard/share.h"

static void no_node(struct exchange *ex)
{
	struct err err;

	err_set(&err, ERR_NOT_FOUND, "there is no node '%s'; yard nodes lists them",
		ex->param[0]);
	answer_error(ex, &err);
}

void handle_node_show(struct exchange *ex)
{
	struct yard *y = ex->server->config.yard;
	size_t count = yard_nodes(y, NULL, 0), i = 0;
	AUTO_FREE struct yard_node *nodes = mem_alloc(count + 1, sizeof *nodes);
	struct buf *out = answer_scratch(ex);
	struct json j;

	yard_nodes(y, nodes, count);
	while (i < count && !str_eq(nodes[i].node.name, ex->param[0]))
		i++;
	if (i == count) {
		no_node(ex);
		return;
	}
	json_init(&j, out);
	wire_node_write(&j, NULL,
			&(struct wire_node){ .node = nodes[i].node,
					     .used = nodes[i].used,
					     .tasks = nodes[i].tasks });
	answer_json(ex, 200, out);
}

static void changed(void *arg, int64_t job, bool again, const struct err *err)
{
	struct exchange *ex = arg;

	(void)job;
	(void)again;
	if (err)
		answer_error(ex, err);
	else if (ex->conn)
		handle_node_show(ex);
	exchange_drop(ex);
}

/* What the audit log says was done. */
static const char *action(const struct node_facts *was, const struct node_facts *now)
{
	static const char *const actions[] = { [NODE_OPEN] = "node.open",
					       [NODE_DRAIN] = "node.drain",
					       [NODE_QUARANTINE] = "node.quarantine" };

	return was->state != now->state ? actions[now->state] : "node.set";
}

/* A window for a group that is not there would keep everybody out, and nobody in.  One
 * that was kept before its group went stays as it was. */
static int check_windows(const struct exchange *ex, const struct node_facts *was,
			 const struct node_facts *now, struct err *err)
{
	for (size_t i = 0; i < now->window_count; i++) {
		const char *group = now->windows[i].group;
		bool old = false;
		for (size_t k = 0; k < was->window_count; k++)
			old |= str_eq(was->windows[k].group, group);
		if (group[0] && !old && !who_group(ex->server->config.who, group))
			return err_set(err, ERR_INVALID,
				       "windows[%zu].group: there is no group '%s'; "
				       "yard group ls lists them",
				       i, group);
	}
	return 0;
}

/* The frame has seen that the body has its shape. */
void handle_node_set(struct exchange *ex)
{
	struct yard *y = ex->server->config.yard;
	struct err err;
	AUTO_DOC struct doc *d = doc_parse_json(buf_str(&ex->body), ex->body.len, &err);
	struct node_facts was, now;
	AUTO_BUF struct buf body = { 0 };
	struct json j;

	if (!yard_node_facts(y, ex->param[0], &was)) {
		no_node(ex);
		return;
	}
	now = was;
	if (!d || wire_facts_read(doc_root(d), &now, &err) < 0 ||
	    check_windows(ex, &was, &now, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	json_init(&j, &body);
	json_object(&j, NULL);
	wire_facts_write(&j, &now);
	json_end(&j);
	struct yard_doc doc = { YARD_NODE_KIND, ex->param[0], buf_str(&body) };
	exchange_hold(ex);
	yard_change(y, ex->who,
		    &(struct yard_change){ &doc, 1, action(&was, &now), ex->param[0] },
		    changed, ex);
}

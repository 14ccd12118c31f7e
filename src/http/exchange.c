// SPDX-License-Identifier: Apache-2.0
/* An exchange's memory: it outlives its connection while another room will call back. */
#include "http/internal.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

void exchange_hold(struct exchange *ex)
{
	struct http_server *s = ex->server;

	if (ex->holds++ > 0)
		return;
	ex->next_held = s->held;
	if (s->held)
		s->held->prev_held = ex;
	s->held = ex;
}

static bool count_body(struct exchange *ex, intptr_t more)
{
	struct map *bodies = ex->server->bodies;
	intptr_t bytes = (intptr_t)map_gets(bodies, ex->body_of) + more;

	if (more > 0 && bytes > (intptr_t)BODIES_MAX)
		return false;
	if (bytes > 0)
		map_puts(bodies, ex->body_of, (void *)bytes);
	else
		map_dels(bodies, ex->body_of);
	return true;
}

/* An admin, whose key is empty, is not counted. */
bool exchange_take(struct exchange *ex, const char *key, const char *data, size_t len)
{
	if (!ex->body_of && *key)
		ex->body_of = mem_strdup(key);
	if (ex->body_of && !count_body(ex, (intptr_t)len))
		return false;
	buf_add(&ex->body, data, len);
	return true;
}

static void give_back(struct exchange *ex)
{
	if (ex->body_of)
		count_body(ex, -(intptr_t)ex->body.len);
	free(ex->body_of);
}

void exchange_free(struct exchange *ex)
{
	if (ex->holds > 0)
		return;
	for (size_t i = 0; i < ROUTE_PARAMS_MAX; i++)
		free(ex->param[i]);
	free(ex->allow);
	url_query_fini(&ex->query);
	give_back(ex);
	buf_fini(&ex->body);
	free(ex);
}

void exchange_drop(struct exchange *ex)
{
	if (--ex->holds > 0)
		return;
	if (ex->next_held)
		ex->next_held->prev_held = ex->prev_held;
	if (ex->prev_held)
		ex->prev_held->next_held = ex->next_held;
	else
		ex->server->held = ex->next_held;
	ex->prev_held = ex->next_held = NULL;
	if (!ex->conn)
		exchange_free(ex);
}

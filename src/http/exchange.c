// SPDX-License-Identifier: Apache-2.0
/* An exchange's memory: it outlives its connection while another room will call back. */
#include "http/internal.h"

#include <stdlib.h>

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

void exchange_free(struct exchange *ex)
{
	if (ex->holds > 0)
		return;
	for (size_t i = 0; i < ROUTE_PARAMS_MAX; i++)
		free(ex->param[i]);
	free(ex->allow);
	url_query_fini(&ex->query);
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

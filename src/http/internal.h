// SPDX-License-Identifier: Apache-2.0
/* internal.h - what the room's own files share.
 *
 *   server.c  listeners, the table of those who wait for a job, one watch on the yard
 *   conn.c    one connection: bytes in, requests one after the other, time-outs, its end
 *   auth.c    who asks
 *   answer.c  what is written back
 *   route.c   the tables of routes, who may (route.h); params.c: what a query may say
 *   find.c    the job a path means
 *   the rest  handlers, by subject
 *
 * An exchange is one request and its answer.  A handler answers at once, or sets
 * `ops` and answers later; when the client goes first, ops->gone frees what the
 * handler keeps.  What was handed to another room and will call back holds the
 * exchange (exchange_hold/drop): its memory stays, its conn becomes NULL.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "codec/http.h"
#include "codec/url.h"
#include "http/answer.h"
#include "http/conn.h"
#include "http/server.h"
#include "job/principal.h"
#include "world/world.h"

#define CONNS_MAX        10000
#define CONNS_RESERVE    100 /* beyond, for admins */
#define CONNS_KEY_MAX    80
#define INPUT_MAX        (64u << 10) /* kept of a client that sends before it is answered */
#define OUTPUT_HIGH      (512u << 10) /* unsent bytes beyond which nothing more is made */
#define OUTPUT_LOW       (32u << 10)  /* the same, when there are very many connections */
#define OUTPUT_ALL       (64u << 20)  /* of all connections together, about */
#define ROUTE_PARAMS_MAX 3
#define SHOWN_BYTES      (4u << 20)  /* of ended jobs' texts that are kept */
#define BODIES_MAX       (64u << 20) /* of one user, on all their connections */
#define STATUS_CLASSES   6           /* 1xx to 5xx */
#define PARK_ALL         (-1)        /* parked there: hears every event */

struct exchange_ops {
	void (*body)(struct exchange *ex, const char *data,
		     size_t len); /* routes with ROUTE_STREAM */
	void (*body_end)(struct exchange *ex);
	void (*room)(struct exchange *ex); /* all that was written is out */
	void (*event)(struct exchange *ex,
		      const struct event *e); /* of the job it is parked on */
	void (*timer)(struct exchange *ex);
	void (*raw)(struct exchange *ex, const char *data,
		    size_t len); /* after an upgrade */
	void (*gone)(struct exchange *
			     ex); /* once, answered or not: free what the handler keeps */
};

struct exchange {
	struct http_server *server;
	struct conn *conn; /* NULL: over, or the client has gone */
	int holds;
	const struct route *route;
	const struct http_head *head;
	struct auth *auth; /* the connection's: valid while conn is */
	const struct principal *who;
	int64_t retry_s; /* with 429: when to come again */
	struct url_query query;
	char *param[ROUTE_PARAMS_MAX];
	char *allow;     /* with 405: the methods this path takes */
	int64_t job;     /* the one :job names, seen to be the caller's */
	bool job_is_app; /* it was asked for below /apps/ */
	struct buf body;
	char *body_of; /* whose it counts as: a key of the server's bodies; NULL: nobody's */
	const struct exchange_ops *ops;
	void *state;
	bool begun, body_over, chunked;
	int64_t parked; /* the job whose events it hears; 0: none */
	struct exchange *prev_parked, *next_parked;
	struct exchange *prev_held, *next_held;
};

struct http_server {
	struct http_config config;
	struct world_listener *unix_listener, *tcp_listener;
	struct conn *conns;        /* a list */
	_Atomic size_t conn_count; /* may be asked for from any thread */
	struct map *parked;        /* job → list of exchanges */
	size_t parked_count;
	uint64_t answered[STATUS_CLASSES]; /* by class of status */
	struct map *bodies; /* by the keys of counts: bytes of bodies that are kept */
	struct map *counts; /* "uid 7", "from 192.0.2.1", "user ann" → connections */
	struct world_timer *sweep; /* set while somebody does not read what is sent */
	struct exchange *held;     /* a list: other rooms will call back with these */
	struct yard_watch *watch;
	struct log_hub *logs; /* of all followers; kept, because to close it costs ms */
	struct shown *shown;  /* ended jobs, as they were shown last */
	size_t puts;          /* files and parts that are coming in */
	struct metric_cache *job_metrics;
	struct passes *passes;    /* of browsers at apps */
	struct boards *boards;    /* what is known of apps: app.h */
	char *url;                /* by TCP; NULL: there is no such door yet */
	struct buf scratch, json; /* used within one call, to save allocations */
};

/* One connection more under this key, which may have that many (0: any); false: enough. */
bool server_count(struct http_server *s, const char *key, int limit);
void server_uncount(struct http_server *s, const char *key);
void server_sweep(
	struct http_server *s); /* somebody has bytes to read: look again later */
void server_park(struct exchange *ex, int64_t job);
void server_unpark(struct exchange *ex);

/* More of the body.  False: whoever that key is has too much of it here already. */
bool exchange_take(struct exchange *ex, const char *key, const char *data, size_t len);
void exchange_hold(struct exchange *ex);
void exchange_drop(struct exchange *ex);
void exchange_free(struct exchange *ex); /* unless held */

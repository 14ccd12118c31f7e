// SPDX-License-Identifier: Apache-2.0
/* laws_tcp.h - what is true of calling somebody by TCP, in every world. */
#pragma once

#include "laws.h"

static void law_tcp_echo(struct world *w)
{
	AUTO_BUF struct buf text = { 0 };
	struct pair p = { .server = { .echo = true, .shut_at_eof = true } };
	struct err err = { 0 };

	fill(&text, 1 << 20);
	p.listening = (struct server){ .w = w, .ends = &p.server };
	p.l = world_listen_tcp(w, "127.0.0.1", 0, on_stream, &p.listening, &err);
	OK(p.l != NULL, "listens by TCP (%s)", err.text);
	struct world_stream *s =
		world_connect_tcp(w, "127.0.0.1", world_listener_port(p.l), &err);
	if (!OK(s != NULL, "calls by TCP (%s)", err.text))
		exit(END());
	world_stream_write(s, text.data, text.len); /* before anybody is there */
	world_stream_shutdown(s);
	end_start(&p.client, w, s);
	OK(spin_until(w, &p.client.ended), "the conversation ends");
	OK(p.client.got.len == text.len && !p.client.failed &&
		   memcmp(p.client.got.data, text.data, text.len) == 0,
	   "what was written before the connection stood arrives, and comes back");
	OK(p.client.connected == 1 && p.server.connected == 0,
	   "the caller is told once that somebody is there");
	pair_fini(&p);
}

/* At once, or soon: what matters is that it is said. */
static void law_tcp_refused(struct world *w)
{
	struct server v = { .w = w };
	struct end e = { 0 };
	struct err err = { 0 };
	struct world_listener *l =
		world_listen_tcp(w, "127.0.0.1", 0, on_stream, &v, &err);
	int port = world_listener_port(l);

	world_listener_close(l);
	struct world_stream *s = world_connect_tcp(w, "127.0.0.1", port, &err);
	if (s) {
		world_stream_write(s, "hello", 5);
		end_start(&e, w, s);
		spin_until(w, &e.ended);
	}
	OK(s ? e.failed && !e.connected : err.code == ERR_IO,
	   "that nobody listens is said (%s)", err.text);
	buf_fini(&e.got);
}

static void laws_tcp(struct world *w)
{
	law_tcp_echo(w);
	law_tcp_refused(w);
}

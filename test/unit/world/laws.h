// SPDX-License-Identifier: Apache-2.0
/* laws.h - what is true of every world; uv.c and sim.c run it on each. */
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tap.h"
#include "world/world.h"

static void stop_cb(void *arg)
{
	world_stop(arg);
}

/* Lets the world go on for a while. */
static void spin(struct world *w, int64_t ms)
{
	struct world_timer *t = world_timer_create(w, stop_cb, w);

	world_timer_at(t, world_mono_ms(w) + ms);
	world_run(w);
	world_timer_destroy(t);
}

/* Until *flag; false: it did not come in a time that is long for a test. */
static bool spin_until(struct world *w, const bool *flag)
{
	for (int i = 0; i < 2000 && !*flag; i++)
		spin(w, 5);
	return *flag;
}

/* ---- timers ---- */

struct note {
	struct buf *said;
	char letter;
};

static void say(void *arg)
{
	struct note *n = arg;

	buf_addc(n->said, n->letter);
}

static void law_timers(struct world *w)
{
	AUTO_BUF struct buf said = { 0 };
	struct note n[5];
	struct world_timer *t[5];
	int64_t now = world_mono_ms(w);

	for (int i = 0; i < 5; i++) {
		n[i] = (struct note){ &said, (char)('a' + i) };
		t[i] = world_timer_create(w, say, &n[i]);
	}
	world_timer_at(t[0], now + 30);
	world_timer_at(t[1], now + 10);
	world_timer_at(t[2], now + 20);
	world_timer_at(t[3], now + 15);
	world_timer_at(t[4], now + 5);
	world_timer_stop(t[3]);
	world_timer_at(t[4], now + 40); /* moved behind the rest */
	spin(w, 60);
	IS(buf_str(&said), "bcae",
	   "timers fire once, in order of time; a stopped one does not");
	OK(!world_timer_is_set(t[0]), "a timer that fired is not set");
	world_timer_at(t[0], now - 5000);
	world_timer_destroy(t[0]);
	spin(w, 5);
	IS(buf_str(&said), "bcae", "a destroyed timer does not fire");
	world_timer_at(t[1], now - 5000);
	spin(w, 5);
	IS(buf_str(&said), "bcaeb", "a time that is past means now");
	for (int i = 1; i < 5; i++)
		world_timer_destroy(t[i]);
	world_timer_destroy(NULL);
}

struct many {
	struct world *w;
	int64_t last;
	int fired, early, wrong;
	struct world_timer *t;
	int64_t due;
	struct many *all;
};

static void on_many(void *arg)
{
	struct many *m = arg;

	m->all->fired++;
	m->all->early += world_mono_ms(m->w) < m->due;
	m->all->wrong += m->due < m->all->last;
	m->all->last = m->due;
}

static void law_many_timers(struct world *w)
{
	struct many *m = mem_alloc(1000, sizeof *m);
	int64_t now = world_mono_ms(w);

	for (int i = 0; i < 1000; i++) {
		m[i].w = w;
		m[i].all = &m[0];
		m[i].due = now + 1 + (int64_t)(world_random(w) % 50);
		m[i].t = world_timer_create(w, on_many, &m[i]);
		world_timer_at(m[i].t, world_random(w) % 2 ? now + 3 : m[i].due);
		world_timer_at(m[i].t, m[i].due);
	}
	for (int i = 0; i < 1000; i += 10)
		world_timer_stop(m[i].t);
	spin(w, 80);
	IS_INT(m[0].fired, 900,
	       "each of a thousand timers but the stopped hundred fired once");
	IS_INT(m[0].early, 0, "none was early");
	IS_INT(m[0].wrong, 0, "none overtook an earlier one");
	for (int i = 0; i < 1000; i++)
		world_timer_destroy(m[i].t);
	free(m);
}

/* ---- laters and works ---- */

struct chain {
	struct world *w;
	struct buf said;
	int depth;
};

static void chain_more(void *arg)
{
	struct chain *c = arg;

	buf_addc(&c->said, (char)('0' + c->depth));
	if (++c->depth < 5)
		world_later(c->w, chain_more, c);
	buf_addc(&c->said, '.');
}

static void law_laters(struct world *w)
{
	AUTO_BUF struct buf said = { 0 };
	struct chain c = { .w = w };
	struct note n[26];

	for (int i = 0; i < 26; i++) {
		n[i] = (struct note){ &said, (char)('a' + i) };
		world_later(w, say, &n[i]);
	}
	OK(said.len == 0, "later() calls nothing from inside the call");
	spin(w, 5);
	IS(buf_str(&said), "abcdefghijklmnopqrstuvwxyz", "laters come in order");
	world_later(w, chain_more, &c);
	spin(w, 5);
	IS(buf_str(&c.said), "0.1.2.3.4.",
	   "a later inside a later comes after it, not in it");
	buf_fini(&c.said);
}

struct job_of_work {
	int worked, done;
	bool wrong;
	int *finished;
};

static void do_work(void *arg)
{
	struct job_of_work *j = arg;

	j->worked++;
}

static void work_done(void *arg)
{
	struct job_of_work *j = arg;

	j->wrong |= j->worked != 1 || j->done;
	j->done++;
	++*j->finished;
}

static void law_works(struct world *w)
{
	struct job_of_work jobs[100] = { 0 };
	int finished = 0, wrong = 0;

	for (int i = 0; i < 100; i++) {
		jobs[i].finished = &finished;
		world_work(w, do_work, work_done, &jobs[i]);
	}
	IS_INT(finished, 0, "done() never comes from inside world_work()");
	for (int i = 0; i < 1000 && finished < 100; i++)
		spin(w, 5);
	for (int i = 0; i < 100; i++)
		wrong += jobs[i].wrong || jobs[i].done != 1;
	IS_INT(finished, 100, "every work is done");
	IS_INT(wrong, 0, "each was worked on once, before its done()");
}

/* ---- streams ---- */

/* One end as a test sees it: collects what comes and does what it is told to. */
struct end {
	struct world *w;
	struct world_stream *s;
	struct buf got;
	bool eof, ended, drained, hung_up, failed;
	bool echo, shut_at_eof, close_at_data, close_at_eof, close_at_drain;
	bool paused;
	int calls_after_close, connected, *open_count;
	struct world_peer peer;
};

static void end_close(struct end *e)
{
	world_stream_close(TAKE(e->s));
	if (e->open_count)
		--*e->open_count;
}

static void on_data(void *arg, const char *data, size_t len)
{
	struct end *e = arg;

	e->calls_after_close += !e->s;
	buf_add(&e->got, data, len);
	if (e->echo && e->s)
		world_stream_write(e->s, data, len);
	if (e->close_at_data)
		end_close(e);
}

static void on_eof(void *arg)
{
	struct end *e = arg;

	e->calls_after_close += !e->s || e->ended;
	e->eof = true;
	if (e->shut_at_eof)
		world_stream_shutdown(e->s);
	if (e->close_at_eof)
		end_close(e);
}

static void on_end(void *arg, const struct err *err)
{
	struct end *e = arg;

	e->calls_after_close += !e->s || e->ended;
	e->ended = true;
	e->failed = err != NULL;
	end_close(e);
}

static void on_drain(void *arg)
{
	struct end *e = arg;

	e->calls_after_close += !e->s || e->ended;
	e->drained = world_stream_pending(e->s) == 0;
	if (e->close_at_drain)
		end_close(e);
}

static void on_hangup(void *arg)
{
	struct end *e = arg;

	e->hung_up = true;
}

static void on_connect(void *arg)
{
	struct end *e = arg;

	e->calls_after_close += !e->s || e->ended;
	e->connected++;
}

static const struct world_stream_events end_events = { on_data,  on_eof,    on_end,
						       on_drain, on_hangup, on_connect };

static void end_start(struct end *e, struct world *w, struct world_stream *s)
{
	e->w = w;
	e->s = s;
	e->peer = world_stream_peer(s);
	if (e->paused)
		world_stream_pause(s, true);
	world_stream_start(s, &end_events, e);
}

static void end_fini(struct end *e)
{
	OK(e->calls_after_close == 0, "no callback came after the end or a close");
	world_stream_close(e->s);
	buf_fini(&e->got);
}

/* A server that gives each caller the next prepared end. */
struct server {
	struct world *w;
	struct end *ends;
	int count;
	bool called;
};

static void on_stream(void *arg, struct world_stream *s)
{
	struct server *v = arg;

	v->called = true;
	end_start(&v->ends[v->count++], v->w, s);
}

struct pair {
	struct end client, server;
	struct server listening;
	struct world_listener *l;
};

/* Joins p->client and p->server, whose settings were made before. */
static void pair_open(struct pair *p, struct world *w, const char *path)
{
	struct err err = { 0 };
	struct world_stream *s;

	p->listening = (struct server){ .w = w, .ends = &p->server };
	p->l = world_listen_unix(w, path, 0600, on_stream, &p->listening, &err);
	if (!OK(p->l != NULL, "listens (%s)", err.text))
		exit(END());
	s = world_connect_unix(w, path, &err);
	if (!OK(s != NULL, "connects (%s)", err.text))
		exit(END());
	end_start(&p->client, w, s);
	spin_until(w, &p->listening.called);
}

static void pair_fini(struct pair *p)
{
	world_listener_close(p->l);
	end_fini(&p->client);
	end_fini(&p->server);
}

static void fill(struct buf *b, size_t len)
{
	while (b->len < len)
		buf_printf(b, "%zu,", b->len);
}

static void law_echo(struct world *w, const char *path)
{
	AUTO_BUF struct buf text = { 0 };
	struct pair p = { .server = { .echo = true, .shut_at_eof = true } };

	fill(&text, 3 << 20);
	pair_open(&p, w, path);
	for (size_t at = 0; at < text.len; at += 100000)
		world_stream_write(p.client.s, text.data + at,
				   text.len - at < 100000 ? text.len - at : 100000);
	world_stream_shutdown(p.client.s);
	world_stream_write(p.client.s, "too late", 8);
	OK(spin_until(w, &p.client.ended), "the conversation ends");
	OK(p.client.got.len == text.len &&
		   memcmp(p.client.got.data, text.data, text.len) == 0,
	   "three megabytes come back as they were sent, after our own side was shut down");
	OK(p.client.eof && !p.client.failed && p.server.ended && !p.server.failed,
	   "both ends see an orderly end");
	OK(p.server.peer.uid == (int64_t)getuid() && p.server.peer.pid > 0,
	   "a server knows who called");
	pair_fini(&p);
}

static void law_half_close(struct world *w, const char *path)
{
	struct pair p = { 0 };

	pair_open(&p, w, path);
	world_stream_write(p.client.s, "question", 8);
	world_stream_shutdown(p.client.s);
	OK(spin_until(w, &p.server.eof), "the server sees the client's side end");
	IS(buf_str(&p.server.got), "question", "after all of its bytes");
	OK(!p.server.ended && !p.client.eof, "the other direction is still open");
	world_stream_write(p.server.s, "answer", 6);
	spin(w, 20);
	IS(buf_str(&p.client.got), "answer", "and carries bytes");
	world_stream_shutdown(p.server.s);
	OK(spin_until(w, &p.client.ended) && spin_until(w, &p.server.ended),
	   "both sides over is the end, for both");
	OK(!p.client.failed && !p.server.failed, "in order");
	pair_fini(&p);
}

static void law_pressure(struct world *w, const char *path)
{
	AUTO_BUF struct buf text = { 0 };
	struct pair p = { .server = { .paused = true } };

	fill(&text, 4 << 20);
	pair_open(&p, w, path);
	world_stream_write(p.client.s, text.data, text.len);
	spin(w, 20);
	OK(world_stream_pending(p.client.s) > 0 && !p.client.drained,
	   "what a paused reader does not take is pending");
	OK(p.server.got.len == 0, "a paused stream reads nothing");
	world_stream_pause(p.server.s, false);
	OK(spin_until(w, &p.client.drained), "the writer is told when all is out");
	for (int i = 0; i < 1000 && p.server.got.len < text.len; i++)
		spin(w, 5);
	OK(p.server.got.len == text.len &&
		   memcmp(p.server.got.data, text.data, text.len) == 0,
	   "nothing is lost by it");
	pair_fini(&p);
}

static void law_parked(struct world *w, const char *path)
{
	struct pair gone = { .server = { .paused = true } },
		    unread = { .server = { .paused = true } };

	pair_open(&gone, w, path);
	spin(w, 10);
	end_close(&gone.client);
	OK(spin_until(w, &gone.server.eof), "a paused stream sees its peer go");
	OK(spin_until(w, &gone.server.ended), "and then its own end");
	pair_fini(&gone);

	pair_open(&unread, w, path);
	world_stream_write(unread.client.s, "last words", 10);
	spin(w, 10);
	end_close(&unread.client);
	OK(spin_until(w, &unread.server.hung_up),
	   "with bytes unread it is told of the hang-up");
	OK(!unread.server.eof && unread.server.got.len == 0,
	   "not of the end, and not of the bytes");
	world_stream_pause(unread.server.s, false);
	OK(spin_until(w, &unread.server.eof), "going on, it comes to the end");
	IS(buf_str(&unread.server.got), "last words", "by way of every byte");
	pair_fini(&unread);
}

static void law_departed(struct world *w, const char *path)
{
	struct pair p = { .client = { .shut_at_eof = false } };

	pair_open(&p, w, path);
	world_stream_write(p.server.s, "unread", 6);
	spin(w, 10);
	end_close(&p.server);
	OK(spin_until(w, &p.client.ended),
	   "an idle stream sees at once that its peer has gone");
	pair_fini(&p);

	p = (struct pair){ .client = { .paused = true } };
	pair_open(&p, w, path);
	world_stream_write(p.server.s, "unread", 6);
	spin(w, 10);
	end_close(&p.client);
	OK(spin_until(w, &p.server.ended) && p.server.failed,
	   "bytes that the peer never read make it a loss, in words");
	pair_fini(&p);
}

static void law_close_inside(struct world *w, const char *path)
{
	struct pair at_data = { .server = { .close_at_data = true } };
	struct pair at_eof = { .server = { .close_at_eof = true } };
	struct pair at_drain = { .client = { .close_at_drain = true } };
	AUTO_BUF struct buf text = { 0 };

	pair_open(&at_data, w, path);
	world_stream_write(at_data.client.s, "abc", 3);
	OK(spin_until(w, &at_data.client.ended),
	   "a stream closed in its on_data is closed");
	pair_fini(&at_data);

	pair_open(&at_eof, w, path);
	world_stream_shutdown(at_eof.client.s);
	OK(spin_until(w, &at_eof.client.ended), "or in its on_eof");
	pair_fini(&at_eof);

	fill(&text, 2 << 20);
	pair_open(&at_drain, w, path);
	world_stream_write(at_drain.client.s, text.data, text.len);
	OK(spin_until(w, &at_drain.server.eof), "or in its on_drain");
	OK(at_drain.server.got.len == text.len, "after all was out");
	pair_fini(&at_drain);
}

static void law_thousand(struct world *w, const char *path)
{
	enum { N = 1000 };
	struct end *clients = mem_alloc(N, sizeof *clients),
		   *servers = mem_alloc(N, sizeof *servers);
	struct server v = { .w = w, .ends = servers };
	struct err err = { 0 };
	struct world_listener *l = world_listen_unix(w, path, 0600, on_stream, &v, &err);
	int good = 0, open_count = N;

	for (int i = 0; i < N; i++) {
		struct world_stream *s = world_connect_unix(w, path, &err);
		AUTO_BUF struct buf text = { 0 };
		if (!s) {
			OK(false, "caller %d: %s", i, err.text);
			break;
		}
		servers[i].echo = servers[i].shut_at_eof = true;
		clients[i].open_count = &open_count;
		end_start(&clients[i], w, s);
		buf_printf(&text, "I am %d", i);
		world_stream_write(s, text.data, text.len);
		world_stream_shutdown(s);
	}
	for (int i = 0; i < 2000 && open_count; i++)
		spin(w, 5);
	for (int i = 0; i < N; i++) {
		AUTO_BUF struct buf text = { 0 };
		buf_printf(&text, "I am %d", i);
		good += strcmp(buf_str(&clients[i].got), buf_str(&text)) == 0 &&
			clients[i].ended && !clients[i].calls_after_close;
		world_stream_close(clients[i].s);
		world_stream_close(servers[i].s);
		buf_fini(&clients[i].got);
		buf_fini(&servers[i].got);
	}
	IS_INT(good, N, "a thousand callers at once each get their own answer");
	world_listener_close(l);
	free(clients);
	free(servers);
}

static void law_listeners(struct world *w, const char *path)
{
	struct server v = { .w = w };
	struct err err = { 0 };
	struct world_listener *l = world_listen_unix(w, path, 0600, on_stream, &v, &err),
			      *again;

	again = world_listen_unix(w, path, 0600, on_stream, &v, &err);
	OK(!again && err.code == ERR_CONFLICT && strstr(err.text, "listens"),
	   "a live socket is not taken over: %s", err.text);
	world_listener_close(l);
	OK(!world_connect_unix(w, path, &err) && err.code == ERR_NOT_FOUND,
	   "a closed listener leaves nothing behind: %s", err.text);
	l = world_listen_unix(w, path, 0600, on_stream, &v, &err);
	OK(l != NULL, "its path can be used again");
	world_listener_close(l);
	l = world_listen_tcp(w, "127.0.0.1", 0, on_stream, &v, &err);
	OK(l && world_listener_port(l) > 0, "any port is a port that can be asked for");
	world_listener_close(l);
}

/* ---- lanes ---- */

struct step {
	struct buf *done;
	char letter;
	struct world_lane *destroys;
	int *worked, was;
};

static void step_work(void *arg)
{
	struct step *s = arg;

	s->was = (*s->worked)++; /* unguarded: one thread, one after the other */
}

static void step_done(void *arg)
{
	struct step *s = arg;

	buf_addc(s->done, s->letter);
	world_lane_destroy(s->destroys);
}

static void law_lanes(struct world *w)
{
	AUTO_BUF struct buf done = { 0 };
	struct world_lane *l = world_lane_create(w, 1);
	struct step s[8];
	int worked = 0, wrong = 0;

	for (int i = 0; i < 8; i++) {
		s[i] = (struct step){ &done, (char)('a' + i), i == 3 ? l : NULL, &worked,
				      -1 };
		world_lane_work(l, step_work, step_done, &s[i]);
	}
	for (int i = 0; i < 2000 && done.len < 8; i++)
		spin(w, 5);
	IS(buf_str(&done), "abcdefgh",
	   "a lane does its works in order, also those before it was destroyed");
	for (int i = 0; i < 8; i++)
		wrong += s[i].was != i;
	IS_INT(wrong, 0, "one at a time");
	world_lane_destroy(world_lane_create(w, 2));
	world_lane_destroy(NULL);
	OK(true, "a lane that was never used goes too");
}

static void world_laws(struct world *w, const char *path)
{
	law_timers(w);
	law_many_timers(w);
	law_laters(w);
	law_works(w);
	law_lanes(w);
	law_echo(w, path);
	law_half_close(w, path);
	law_pressure(w, path);
	law_parked(w, path);
	law_departed(w, path);
	law_close_inside(w, path);
	law_thousand(w, path);
	law_listeners(w, path);
	world_stop(w);
	world_run(w);
	OK(true, "a stop before the run ends it at once");
}

// SPDX-License-Identifier: Apache-2.0
/* hello - the least an HTTP server on libuv and llhttp can do: the peer of bench/api.
 *
 * Parses each request fully and answers it with a small JSON made anew, over keep-alive
 * connections on loopback.  No routes, no callers, no time-outs, no store.
 *
 *   hello      prints its port, then serves until it is killed
 */
#include <llhttp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

struct peer {
	uv_tcp_t tcp;
	llhttp_t parser;
	char in[65536];
	int requests;
};

struct out {
	uv_write_t write;
	char text[512];
};

static llhttp_settings_t settings;

static void on_close(uv_handle_t *h)
{
	free(h->data);
}

static void on_written(uv_write_t *w, int status)
{
	(void)status;
	free(w);
}

static void answer(struct peer *p)
{
	struct out *o = malloc(sizeof *o);
	char body[160];

	if (!o)
		abort();
	int n = snprintf(
		body, sizeof body,
		"{\"id\":%d,\"name\":\"hello\",\"state\":\"running\",\"owner\":\"alice\","
		"\"priority\":0,\"attempt\":1}",
		p->requests);
	int len = snprintf(o->text, sizeof o->text,
			   "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
			   "Content-Length: %d\r\n\r\n%s",
			   n, body);
	uv_buf_t b = uv_buf_init(o->text, (unsigned)len);
	uv_write(&o->write, (uv_stream_t *)&p->tcp, &b, 1, on_written);
}

static int on_message(llhttp_t *parser)
{
	struct peer *p = parser->data;

	p->requests++;
	answer(p);
	return 0;
}

static void on_alloc(uv_handle_t *h, size_t size, uv_buf_t *out)
{
	struct peer *p = h->data;

	(void)size;
	*out = uv_buf_init(p->in, sizeof p->in);
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct peer *p = s->data;

	if (n < 0 || llhttp_execute(&p->parser, b->base, (size_t)n) != HPE_OK)
		uv_close((uv_handle_t *)s, on_close);
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct peer *p = calloc(1, sizeof *p);

	if (status < 0 || !p)
		abort();
	uv_tcp_init(listener->loop, &p->tcp);
	p->tcp.data = p;
	llhttp_init(&p->parser, HTTP_REQUEST, &settings);
	p->parser.data = p;
	uv_accept(listener, (uv_stream_t *)&p->tcp);
	uv_read_start((uv_stream_t *)&p->tcp, on_alloc, on_read);
}

int main(void)
{
	uv_loop_t *loop = uv_default_loop();
	uv_tcp_t listener;
	struct sockaddr_in where;
	int len = sizeof where;

	llhttp_settings_init(&settings);
	settings.on_message_complete = on_message;
	uv_ip4_addr("127.0.0.1", 0, &where);
	uv_tcp_init(loop, &listener);
	uv_tcp_bind(&listener, (const struct sockaddr *)&where, 0);
	if (uv_listen((uv_stream_t *)&listener, 128, on_connection) < 0)
		return 1;
	uv_tcp_getsockname(&listener, (struct sockaddr *)&where, &len);
	printf("%d\n", ntohs(where.sin_port));
	fflush(stdout);
	return uv_run(loop, UV_RUN_DEFAULT);
}

// SPDX-License-Identifier: Apache-2.0
/* An address that a browser can open.  A yard that listens on its unix socket only has none:
 * then a door on the loopback address is opened, with the same rules as any, and the same
 * one again after a restart, so that what is open in a browser goes on. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "http/app.h"
#include "http/auth.h"
#include "http/boards.h"
#include "http/internal.h"
#include "secret/box.h"
#include "secret/key.h"
#include "who/pass.h"

#define LOOPBACK "127.0.0.1"

static char *file_in(const struct http_server *s, const char *name)
{
	return s->config.state ? str_printf("%s/%s", s->config.state, name) : NULL;
}

/* 0: none was given yet. */
static int known_port(const struct http_server *s)
{
	AUTO_FREE char *path = file_in(s, "app-port");
	AUTO_FD int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char text[16] = "";
	int64_t port;

	if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
		return 0;
	text[strcspn(text, "\n")] = '\0';
	return str_to_i64(text, 1, UINT16_MAX, &port) < 0 ? 0 : (int)port;
}

/* One that is not kept is only another one after a restart. */
static void keep_port(const struct http_server *s, int port)
{
	AUTO_FREE char *path = file_in(s, "app-port");
	AUTO_FREE char *fresh = path ? str_printf("%s.new", path) : NULL;
	AUTO_FD int fd =
		path ? open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	if (fd < 0 || dprintf(fd, "%d\n", port) < 0 || rename(fresh, path) < 0)
		return;
}

static int open_door(struct http_server *s, struct err *err)
{
	int before = known_port(s), port = 0;

	if (s->tcp_listener) { /* of the daemon's own, and nobody said how it is reached */
		port = world_listener_port(s->tcp_listener);
	} else if ((!before ||
		    http_server_listen_tcp(s, LOOPBACK, before, &port, NULL) < 0) &&
		   http_server_listen_tcp(s, LOOPBACK, 0, &port, err) < 0) {
		return err_wrap(err, "a door for apps");
	} else if (port != before) {
		keep_port(s, port);
	}
	s->url = str_printf("%s://" LOOPBACK ":%d", s->config.tls ? "https" : "http",
			    port);
	return 0;
}

int http_server_reopen_apps(struct http_server *s, struct err *err)
{
	return s->url || !known_port(s) ? 0 : open_door(s, err);
}

void http_server_set_url(struct http_server *s, const char *url)
{
	free(s->url);
	s->url = mem_strdup(url);
}

/* A name or number with a port, as the client wrote it: what it can reach. */
static bool is_host(const char *host)
{
	static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789.-_:[]";

	return host && *host && strlen(host) < 256 && strspn(host, fine) == strlen(host);
}

int app_url(struct exchange *ex, int64_t app, const char *rest, struct buf *out,
	    struct err *err)
{
	struct http_server *s = ex->server;
	const char *host = http_head_get(ex->head, "host");

	if (ex->auth->peer.uid < 0 && is_host(host)) {
		buf_printf(out, "%s://%s", s->config.tls ? "https" : "http", host);
	} else {
		if (!s->url && open_door(s, err) < 0)
			return -1;
		buf_adds(out, s->url);
	}
	buf_printf(out, APP_PATH "%" PRId64 "%s?ticket=", app, rest);
	pass_ticket(s->passes, ex->who, app, out);
	return 0;
}

/* A key that cannot be kept makes cookies that end with the daemon. */
static void find_key(struct http_server *s, unsigned char out[PASS_KEY_BYTES])
{
	AUTO_FREE char *path = file_in(s, "app.key");
	AUTO_VAULT struct vault *key = NULL;
	struct err err;

	_Static_assert(PASS_KEY_BYTES == BOX_KEY_BYTES,
		       "one key is as long as the other");
	if (path)
		key = key_read(path, &err);
	if (path && !key && err.code == ERR_NOT_FOUND)
		key = key_make(s->config.world, path, &err);
	for (size_t at = 0; !key && at < PASS_KEY_BYTES; at += sizeof(uint64_t)) {
		uint64_t chance = world_random(s->config.world);
		memcpy(out + at, &chance, sizeof chance);
	}
	if (key)
		memcpy(out, vault_data(key), PASS_KEY_BYTES);
}

void apps_open(struct http_server *s)
{
	unsigned char key[PASS_KEY_BYTES];

	find_key(s, key);
	s->passes = passes_create(s->config.world, s->config.who, key);
	explicit_bzero(key, sizeof key);
	s->boards = boards_create();
}

void apps_close(struct http_server *s)
{
	passes_destroy(TAKE(s->passes));
	boards_destroy(TAKE(s->boards));
	free(TAKE(s->url));
}

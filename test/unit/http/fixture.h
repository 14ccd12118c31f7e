// SPDX-License-Identifier: Apache-2.0
/* fixture.h - a whole yard behind a real socket, on a loop in a thread of its own; and a
 * client with blocking sockets.  Store, plan, depot, job and http are the shipped ones;
 * the engine is the simulated machine, on which a task runs up to run_ms_max.
 */
#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "catalog/catalog.h"
#include "codec/http.h"
#include "depot/storage.h"
#include "depot/volume_setup.h"
#include "engine/engine.h"
#include "http/server.h"
#include "secret/secret.h"
#include "tap.h"
#include "who/login.h"

struct fixture {
	char dir[64], socket[96];
	int64_t run_ms_max;
	int64_t head_ms, idle_ms, body_ms, write_ms;
	bool open_to_all; /* other users may connect */
	int conns_per_user, conns_per_address, conns_max;
	int64_t app_connect_ms, app_answer_ms, app_idle_ms;
	int64_t uid_base; /* 0: private mode */
	int64_t storage_quota;
	int tcp_port;
	struct tls_context *tls; /* of callers by TCP; NULL: in the clear */
	pthread_t thread;
	int ready[2], stop[2];
	struct world *world;
	struct engine_sim_machine *machine;
	struct http_server *http;
	char first_code[64];   /* of the first admin by TCP */
	struct engine_ops ops; /* the simulated machine's, but for exec */
	_Atomic int shim;      /* the other end of the last exec */
};

/* The fixture of the program's one server at a time: an engine has no room for ours. */
static struct fixture *fixture_now;

/* The machine runs nothing, so the test itself plays the shim. */
static int fixture_exec(struct engine *e, const struct task_ref *ref,
			const char *const *argv, bool tty, struct world_stream **out,
			struct err *err)
{
	struct fixture *f = fixture_now;
	int pair[2];

	(void)e;
	(void)ref;
	(void)tty;
	if (strcmp(argv[0], "sh") != 0 || !argv[1] || strcmp(argv[1], "a b") != 0 ||
	    argv[2])
		return err_set(err, ERR_INVALID, "not the arguments that were sent");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "socketpair");
	f->shim = pair[1];
	*out = world_stream_open(f->world, pair[0], err);
	return *out ? 0 : -1;
}

static struct engine *fixture_engine(void *arg, const struct engine_sink *sink,
				     struct err *err)
{
	struct fixture *f = arg;
	struct engine *e = engine_sim_create(f->machine, sink);

	(void)err;
	f->ops = *e->ops;
	f->ops.exec = fixture_exec;
	e->ops = &f->ops;
	return e;
}

static void fixture_stop_asked(void *arg)
{
	world_stop(arg);
}

static void fixture_must(bool ok, const struct err *err)
{
	if (ok)
		return;
	printf("Bail out! %s\n", err->text);
	exit(1);
}

static void fixture_user(void *arg, const char *name, const char *body)
{
	who_apply(arg, "user", name, body);
}

static void fixture_group(void *arg, const char *name, const char *body)
{
	who_apply(arg, "group", name, body);
}

static void fixture_token(void *arg, const char *name, const char *body)
{
	who_apply(arg, "token", name, body);
}

static bool fixture_in_group(void *arg, const char *user, const char *group)
{
	const struct who_user *u = who_user(arg, user);

	for (size_t i = 0; u && i < u->group_count; i++)
		if (str_eq(u->groups[i], group))
			return true;
	return false;
}

static struct secrets *fixture_secrets(const struct fixture *f, struct who *who)
{
	AUTO_FREE char *key = str_printf("%s/secret.key", f->dir);

	return secrets_create(&(struct secrets_config){ .world = f->world,
							.key_path = key,
							.in_group = fixture_in_group,
							.arg = who });
}

static bool fixture_is_group(void *arg, const char *group)
{
	return who_group(arg, group) != NULL;
}

static int fixture_output(void *arg, const struct volume_who *who, int64_t job,
			  const char *output, struct volume_output *out, struct err *err)
{
	(void)arg, (void)output, (void)out;
	return err_set(err, ERR_NOT_FOUND, "no job %lld that %s may see", (long long)job,
		       who->name);
}

static struct volume *fixture_volume(const struct fixture *f, struct who *who)
{
	AUTO_FREE char *root = str_printf("%s/pfs", f->dir);
	struct err err = { 0 };
	struct volume *v = volume_create(
		&(struct volume_config){ .root = root,
					 .quota_bytes = f->storage_quota,
					 .outside = { .in_group = fixture_in_group,
						      .is_group = fixture_is_group,
						      .output = fixture_output,
						      .arg = who } },
		&err);

	fixture_must(v, &err);
	return v;
}

static void *fixture_run(void *arg)
{
	struct fixture *f = arg;
	struct node node = { .name = "n1",
			     .up = true,
			     .capacity = { .cpu_milli = 64000,
					   .memory_bytes = 1LL << 40 },
			     .port_first = 20000,
			     .port_last = 29999 };
	struct engine_sim_faults faults = { .run_ms_max = f->run_ms_max };
	struct store_disk *disk = store_disk_create();
	struct err err = { 0 };

	f->world = world_uv_create(&err);
	f->machine = engine_sim_machine_create(f->world, &node, 1, &faults);
	struct store *store = store_memory_open(f->world, disk);
	struct depot *depot =
		depot_files_create(f->world, f->dir, "/nonexistent/yard-unpack", &err);
	fixture_must(depot, &err);
	struct who *who =
		who_create(f->world, &(struct who_rules){ getuid(), f->uid_base });
	struct secrets *secrets = fixture_secrets(f, who);
	struct volume *volume = fixture_volume(f, who);
	struct storage *storage = storage_create(f->world, volume, f->dir, &err);
	fixture_must(storage, &err);
	struct catalog *catalog = catalog_create(f->world);
	struct yard_doc_sink sinks[] = {
		{ CATALOG_IMAGE_KIND, catalog_apply_image, catalog },
		{ CATALOG_MACHINE_KIND, catalog_apply_machine, catalog },
		{ "user", fixture_user, who },
		{ "group", fixture_group, who },
		{ "token", fixture_token, who },
		{ SECRET_KIND, secrets_apply, secrets }
	};
	struct yard *yard =
		yard_create(&(struct yard_config){ .world = f->world,
						   .store = store,
						   .depot = depot,
						   .docs = sinks,
						   .doc_count = COUNT_OF(sinks),
						   .secrets = secrets,
						   .make_engine = fixture_engine,
						   .make_engine_arg = f,
						   .uid_base = -1 },
			    &err);
	fixture_must(yard, &err);
	f->http = http_server_create(
		&(struct http_config){ .world = f->world,
				       .yard = yard,
				       .depot = depot,
				       .storage = storage,
				       .tls = f->tls,
				       .daemon_uid = getuid(),
				       .head_ms = f->head_ms,
				       .idle_ms = f->idle_ms,
				       .who = who,
				       .secrets = secrets,
				       .catalog = catalog,
				       .body_ms = f->body_ms,
				       .write_ms = f->write_ms,
				       .conns_per_address = f->conns_per_address,
				       .conns_max = f->conns_max,
				       .app_connect_ms = f->app_connect_ms,
				       .app_answer_ms = f->app_answer_ms,
				       .app_idle_ms = f->app_idle_ms,
				       .state = f->dir,
				       .conns_per_user = f->conns_per_user });
	fixture_must(http_server_listen_unix(f->http, f->socket,
					     f->open_to_all ? 0666 : 0600, &err) == 0,
		     &err);
	fixture_must(
		http_server_listen_tcp(f->http, "127.0.0.1", 0, &f->tcp_port, &err) == 0,
		&err);
	struct world_watch *watch =
		world_watch_create(f->world, f->stop[0], fixture_stop_asked, f->world);
	const char *code = who_first_code(who);
	snprintf(f->first_code, sizeof f->first_code, "%s", code ? code : "");
	fixture_must(write(f->ready[1], "!", 1) == 1, &err);
	world_run(f->world);
	char asked;
	fixture_must(read(f->stop[0], &asked, 1) == 1, &err);
	world_watch_destroy(watch);
	http_server_close(f->http);
	storage_close(storage);
	yard_destroy(yard);
	engine_sim_machine_destroy(f->machine);
	depot->ops->destroy(depot);
	store_destroy(store);
	store_disk_destroy(disk);
	who_destroy(who);
	secrets_destroy(secrets);
	catalog_destroy(catalog);
	world_destroy(f->world);
	http_server_destroy(f->http);
	storage_destroy(storage);
	volume_destroy(volume);
	return NULL;
}

static void fixture_start(struct fixture *f)
{
	struct rlimit files;
	char c;

	fixture_now = f;
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	snprintf(f->dir, sizeof f->dir, "/tmp/yard-http-XXXXXX");
	if (!mkdtemp(f->dir) || pipe(f->ready) < 0 || pipe(f->stop) < 0)
		exit(1);
	snprintf(f->socket, sizeof f->socket, "%s/s", f->dir);
	if (f->open_to_all)
		chmod(f->dir, 0711);
	pthread_create(&f->thread, NULL, fixture_run, f);
	if (read(f->ready[0], &c, 1) != 1)
		exit(1);
}

static void fixture_end(struct fixture *f)
{
	char command[128];

	if (write(f->stop[1], "!", 1) != 1)
		exit(1);
	pthread_join(f->thread, NULL);
	for (int i = 0; i < 2; i++) {
		close(f->ready[i]);
		close(f->stop[i]);
	}
	snprintf(command, sizeof command, "rm -rf -- '%s'", f->dir);
	if (system(command) != 0)
		printf("# %s was not removed\n", f->dir);
}

static inline int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int dial(const struct fixture *f)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = 15 };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(a.sun_path, f->socket, strlen(f->socket));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0) {
		printf("Bail out! connect: %s\n", strerror(errno));
		exit(1);
	}
	return fd;
}

static inline int dial_tcp(const struct fixture *f)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons((uint16_t)f->tcp_port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timeval patience = { .tv_sec = 15 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0) {
		printf("Bail out! connect: %s\n", strerror(errno));
		exit(1);
	}
	return fd;
}

struct answer {
	int status; /* 0: the connection ended without one */
	struct buf body;
	bool whole, keep_alive;
};

static inline void say(int fd, const char *bytes)
{
	size_t len = strlen(bytes);

	while (len) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
		if (n <= 0)
			return;
		bytes += n;
		len -= (size_t)n;
	}
}

/* A client that keeps its connection and reads one answer after the other. */
struct client {
	int fd;
	struct http_parser *parser;
	struct buf input;
};

static inline struct client client_open(const struct fixture *f)
{
	return (struct client){ .fd = dial(f),
				.parser = http_parser_create(HTTP_RESPONSES) };
}

static inline struct client client_tcp(const struct fixture *f)
{
	return (struct client){ .fd = dial_tcp(f),
				.parser = http_parser_create(HTTP_RESPONSES) };
}

static void client_close(struct client *c)
{
	close(c->fd);
	http_parser_destroy(c->parser);
	buf_fini(&c->input);
}

/* body_min: return once that many bytes of the body are there, though it goes on. */
static bool client_read(struct client *c, struct answer *a, size_t body_min)
{
	struct http_piece piece;
	struct err err;
	char room[65536];

	for (;;) {
		const char *data = buf_str(&c->input);
		size_t len = c->input.len, before = len;
		enum http_item item =
			http_parser_next(c->parser, &data, &len, &piece, &err);
		if (item == HTTP_ITEM_HEAD) {
			a->status = http_parser_head(c->parser)->status;
			a->keep_alive = http_parser_head(c->parser)->keep_alive;
		} else if (item == HTTP_ITEM_DATA)
			buf_add(&a->body, piece.data, piece.len);
		else if (item == HTTP_ITEM_FAILED)
			return false;
		buf_drop(&c->input, before - len);
		if (item == HTTP_ITEM_END)
			return a->whole = true;
		if (body_min && a->body.len >= body_min)
			return true;
		if (item != HTTP_ITEM_MORE)
			continue;
		ssize_t n = recv(c->fd, room, sizeof room, 0);
		if (n < 0 && errno == EINTR) /* a child of the server's has ended */
			continue;
		if (n <= 0) {
			a->whole = http_parser_eof(c->parser, &err) == HTTP_ITEM_END;
			return a->whole;
		}
		buf_add(&c->input, room, (size_t)n);
	}
}

static void ask_with(struct client *c, struct answer *a, const char *method,
		     const char *target, const char *headers, const char *body)
{
	struct buf out = { 0 };

	buf_fini(&a->body);
	*a = (struct answer){ 0 };
	buf_printf(&out, "%s /yard/v1%s HTTP/1.1\r\nHost: yard\r\n%s", method, target,
		   headers ? headers : "");
	if (body)
		buf_printf(&out, "Content-Length: %zu\r\n", strlen(body));
	buf_printf(&out, "\r\n%s", body ? body : "");
	say(c->fd, buf_str(&out));
	buf_fini(&out);
	if (str_eq(method, "HEAD"))
		http_parser_no_body(c->parser);
	client_read(c, a, 0);
}

static inline void ask(struct client *c, struct answer *a, const char *method,
		       const char *target, const char *body)
{
	ask_with(c, a, method, target, NULL, body);
}

static inline bool has(const struct answer *a, const char *text)
{
	bool there = strstr(buf_str(&a->body), text) != NULL;

	if (!there)
		printf("# %d %s\n", a->status, buf_str(&a->body));
	return there;
}

#define JOB "name: t\nroles:\n- name: main\n  command: [\"true\"]\n"

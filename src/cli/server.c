// SPDX-License-Identifier: Apache-2.0
#include "cli/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/connect.h"
#include "cli/contexts.h"
#include "tls/certificate.h"
#include "wire/settings.h"

#define READY_FD 3
#define READY_MS 20000 /* a daemon that has to read a large store takes a moment */
#define STOP_MS  15000
#define RETRY_MS 50

int server_connect(const struct server *s, struct err *err)
{
	return s->socket ? connect_unix(s->socket, err)
			 : connect_tcp(s->host, s->port, err);
}

/* "host", "host:port", "[::1]:port"; *port stays what it was when none is given. */
static int parse_host(struct server *out, const char *text, struct err *err)
{
	const char *end = text[0] == '[' ? strchr(text, ']') : NULL;
	const char *host = end ? text + 1 : text;
	const char *colon = end ? end + 1 : text + strcspn(text, ":");
	size_t len = (size_t)((end ? end : colon) - host);
	int64_t port = out->port;

	if (len == 0 || len > 255 || strcspn(host, "@/?# ") < len ||
	    (*colon && (*colon != ':' || str_to_i64(colon + 1, 1, 65535, &port) < 0)))
		return err_set(err, ERR_INVALID,
			       "'%s' is not HOST:PORT, such as yard.example.org:%d or "
			       "[::1]:%d",
			       text, SERVER_PORT, SERVER_PORT);
	out->host = mem_strndup(host, len);
	out->port = (int)port;
	return 0;
}

int server_parse(struct server *out, const char *url, struct err *err)
{
	static const struct {
		const char *scheme;
		bool tls;
		int port;
	} schemes[] = { { "https://", true, 443 }, { "http://", false, 80 } };

	*out = (struct server){ .port = SERVER_PORT, .tls = true };
	if (str_starts(url, "unix://") && url[7] == '/') {
		out->tls = false;
		out->socket = mem_strdup(url + 7);
		return 0;
	}
	for (size_t i = 0; i < COUNT_OF(schemes); i++)
		if (str_starts(url, schemes[i].scheme)) {
			out->tls = schemes[i].tls;
			out->port = schemes[i].port;
			url += strlen(schemes[i].scheme);
			break;
		}
	if (strstr(url, "://"))
		return err_set(err, ERR_INVALID,
			       "'%s' is neither unix:///path nor http://host:port nor "
			       "https://host:port",
			       url);
	AUTO_FREE char *host =
		mem_strndup(url, strlen(url) - (*url && str_ends(url, "/")));
	return parse_host(out, host, err);
}

char *server_authority(const struct server *s)
{
	if (!s->host)
		return mem_strdup("yard");
	return strchr(s->host, ':') ? str_printf("[%s]:%d", s->host, s->port)
				    : str_printf("%s:%d", s->host, s->port);
}

char *server_url(const struct server *s)
{
	AUTO_FREE char *authority = server_authority(s);

	return s->socket ? str_printf("unix://%s", s->socket)
			 : str_printf("%s://%s", s->tls ? "https" : "http", authority);
}

bool server_stays_here(const struct server *s)
{
	unsigned char a[sizeof(struct in6_addr)];

	return s->socket || str_eq(s->host, "localhost") || str_eq(s->host, "::1") ||
	       (inet_pton(AF_INET, s->host, a) == 1 && a[0] == 127);
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static bool answers(const char *socket)
{
	AUTO_FD int fd = connect_unix(socket, NULL);

	return fd >= 0;
}

/* A daemon started with another XDG_RUNTIME_DIR (by cron, by su) listens elsewhere: its
 * state folder tells where. */
static void prefer_told_socket(struct server *s)
{
	AUTO_FREE char *link = str_printf("%s/socket", s->state);
	char told[PATH_MAX];
	ssize_t n = readlink(link, told, sizeof told - 1);

	if (n <= 0)
		return;
	told[n] = '\0';
	if (str_eq(told, s->socket) || answers(s->socket) || !answers(told))
		return;
	free(s->socket);
	s->socket = mem_strdup(told);
}

/* The machine's own yard, or the caller's private one. */
static int find_local(struct server *out, struct err *err)
{
	struct settings_env env = { .home = getenv("HOME"),
				    .xdg_state_home = getenv("XDG_STATE_HOME"),
				    .xdg_runtime_dir = getenv("XDG_RUNTIME_DIR"),
				    .uid = (int64_t)geteuid() };
	const char *state = variable("YARD_STATE"), *socket = variable("YARD_SOCKET");

	if (!state && !socket && geteuid() != 0 && answers(SETTINGS_SYSTEM_SOCKET)) {
		out->socket = mem_strdup(SETTINGS_SYSTEM_SOCKET);
		return 0;
	}
	out->state = state ? mem_strdup(state) : settings_state_dir(&env, err);
	if (!out->state)
		return -1;
	out->socket =
		socket ? mem_strdup(socket) : settings_socket_path(&env, out->state);
	if (!socket)
		prefer_told_socket(out);
	return 0;
}

static int use_context(struct server *out, const struct context *x, struct err *err)
{
	char pin[TLS_FINGERPRINT_BYTES];

	if (server_parse(out, x->server, err) < 0 ||
	    (x->fingerprint && tls_fingerprint_read(x->fingerprint, pin, err) < 0))
		return err_wrap(err, "context %s", x->name);
	out->pin = x->fingerprint ? mem_strdup(pin) : NULL;
	out->token = mem_strdup(x->token);
	out->context = mem_strdup(x->name);
	out->named = str_printf("context %s", x->name);
	return 0;
}

/* The server that the environment names, known from a login or not. */
static int use_variable(struct server *out, const char *url, const struct contexts *known,
			struct err *err)
{
	const char *pin = variable(SETTINGS_FINGERPRINT_ENV);
	char text[TLS_FINGERPRINT_BYTES];

	if (server_parse(out, url, err) < 0)
		return err_wrap(err, "%s", SETTINGS_SERVER_ENV);
	out->named = mem_strdup(SETTINGS_SERVER_ENV);
	AUTO_FREE char *full = server_url(out);
	const struct context *x = out->host ? contexts_of_server(known, full) : NULL;
	if (x)
		out->token = mem_strdup(x->token);
	if (!pin && x)
		pin = x->fingerprint;
	if (pin && tls_fingerprint_read(pin, text, err) < 0)
		return err_wrap(err, "%s", SETTINGS_FINGERPRINT_ENV);
	out->pin = pin ? mem_strdup(text) : NULL;
	return 0;
}

/* Who has logged in there in the clear has said that they want it. */
static int check_token(const struct server *s, const struct contexts *known,
		       struct err *err)
{
	AUTO_FREE char *url = server_url(s);

	if (!s->token || s->tls || server_stays_here(s) || contexts_of_server(known, url))
		return 0;
	return err_set(
		err, ERR_DENIED,
		"%s is not encrypted: anybody between could read the token; use "
		"https:// (or log in once with --insecure-http if you know better)",
		url);
}

int server_find(struct server *out, const char *context, struct err *err)
{
	const char *url = context ? NULL : variable(SETTINGS_SERVER_ENV);
	const char *token = context ? NULL : variable(SETTINGS_TOKEN_ENV);
	bool place = variable("YARD_STATE") || variable("YARD_SOCKET");
	AUTO_CONTEXTS struct contexts known = { .items = NULL };
	const struct context *x = NULL;
	int rc;

	*out = (struct server){ .port = 0 };
	bool local = str_eq(context, CONTEXT_LOCAL) || (!context && !url && place) ||
		     (url && str_starts(url, "unix://"));
	if (!local && contexts_load(&known, err) < 0)
		return -1;
	if (!local && !url && (context || known.current)) {
		x = contexts_get(&known, context ? context : known.current, err);
		if (!x)
			return -1;
	}
	if (url)
		rc = use_variable(out, url, &known, err);
	else
		rc = x ? use_context(out, x, err) : find_local(out, err);
	if (rc == 0 && token) {
		free(out->token);
		out->token = mem_strdup(token);
	}
	if (rc == 0)
		rc = check_token(out, &known, err);
	if (rc < 0)
		server_fini(out);
	return rc;
}

void server_fini(struct server *s)
{
	free(s->socket);
	free(s->host);
	free(s->state);
	free(s->pin);
	free(s->token);
	free(s->context);
	free(s->named);
	*s = (struct server){ .port = 0 };
}

/* Programs find each other beside their own executable, then where `make install` puts them. */
static char *find_daemon(struct err *err)
{
	static const char *const places[] = { "%s/yardd", "%s/../sbin/yardd",
					      "%s/../libexec/yard/yardd" };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n > 0) {
		self[n] = '\0';
		const char *folder = dirname(self);
		for (size_t i = 0; i < COUNT_OF(places); i++) {
			const char *tail = places[i] + 2;
			AUTO_FREE char *path = str_printf("%s%s", folder, tail);
			if (access(path, X_OK) == 0)
				return TAKE(path);
		}
	}
	err_set(err, ERR_NOT_FOUND, "the daemon yardd is not beside yard (%s)",
		n > 0 ? self : "?");
	return NULL;
}

static int make_folder(const char *path, struct err *err)
{
	AUTO_FREE char *p = mem_strdup(path);

	for (char *s = strchr(p + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = '\0';
		if (mkdir(p, 0755) < 0 && errno != EEXIST)
			return err_sys(err, "make folder %s", p);
		*s = '/';
	}
	if (mkdir(p, geteuid() == 0 ? 0711 : 0700) < 0 && errno != EEXIST)
		return err_sys(err, "make folder %s", p);
	return 0;
}

/* In a session of its own, so that no Ctrl-C of ours reaches it. */
static int spawn_daemon(const struct server *s, const char *program, int ready,
			const char *log)
{
	char *const argv[] = { (char[]){ "yardd" },
			       (char[]){ "--state" },
			       s->state,
			       (char[]){ "--socket" },
			       s->socket,
			       (char[]){ "--ready-fd" },
			       (char[]){ "3" },
			       NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	pid_t pid;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_APPEND,
					 0600);
	posix_spawn_file_actions_adddup2(&files, 1, 2);
	posix_spawn_file_actions_adddup2(&files, ready, READY_FD);
	posix_spawn_file_actions_addchdir_np(&files, "/");
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSIGDEF);
	int rc = posix_spawn(&pid, program, &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return rc;
}

/* The last line the daemon wrote before it gave up. */
static void last_words(const char *log, char *out, size_t size)
{
	char tail[2048];
	AUTO_FD int fd = open(log, O_RDONLY | O_CLOEXEC);
	struct stat st;

	out[0] = '\0';
	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	int64_t from = st.st_size > (int64_t)sizeof tail - 1
			       ? st.st_size - (int64_t)sizeof tail + 1
			       : 0;
	ssize_t n = pread(fd, tail, sizeof tail - 1, from);
	while (n > 0 && tail[n - 1] == '\n')
		n--;
	tail[n < 0 ? 0 : n] = '\0';
	const char *line = strrchr(tail, '\n');
	snprintf(out, size, "%.400s", line ? line + 1 : tail);
}

static int wait_answer(const struct server *s, int tries)
{
	for (int i = 0; i < tries; i++) {
		int fd = server_connect(s, NULL);
		if (fd >= 0) {
			close(fd);
			return 0;
		}
		usleep(RETRY_MS * 1000);
	}
	return -1;
}

/* The daemon's line, once it is ready; NULL: it ended without one. */
static char *hear_ready(int fd)
{
	AUTO_BUF struct buf line = { 0 };
	struct pollfd p = { fd, POLLIN, 0 };
	char room[512];
	ssize_t n;

	while (!strchr(buf_str(&line), '\n') && poll(&p, 1, READY_MS) == 1 &&
	       (n = read(fd, room, sizeof room)) > 0)
		buf_add(&line, room, (size_t)n);
	return line.len ? buf_take(&line) : NULL;
}

int server_start(const struct server *s, char **told, struct err *err)
{
	AUTO_FREE char *program = find_daemon(err);
	AUTO_FREE char *log = str_printf("%s/yardd.log", s->state);
	AUTO_FREE char *folder = mem_strdup(s->socket);
	char words[512];
	int ready[2];

	if (!program || make_folder(s->state, err) < 0 ||
	    make_folder(dirname(folder), err) < 0)
		return -1;
	if (pipe2(ready, O_CLOEXEC) < 0)
		return err_sys(err, "make a pipe");
	AUTO_FD int hear = ready[0];
	int say = fcntl(ready[1], F_DUPFD_CLOEXEC, READY_FD + 1);
	close(ready[1]);
	int rc = spawn_daemon(s, program, say, log);
	close(say);
	if (rc != 0)
		return err_set(err, ERR_IO, "start %s: %s", program, strerror(rc));
	AUTO_FREE char *line = hear_ready(hear);
	if (line) {
		if (told)
			*told = TAKE(line);
		return 1;
	}
	/* It ended: perhaps because another yard's was first. */
	if (wait_answer(s, 2000 / RETRY_MS) == 0)
		return 0;
	last_words(log, words, sizeof words);
	return err_set(err, ERR_IO, "the daemon did not start: %s (its log is %s)",
		       *words ? words : "it said nothing", log);
}

int server_stop(const struct server *s, struct err *err)
{
	struct ucred peer;
	socklen_t len = sizeof peer;
	AUTO_FD int fd = server_connect(s, err);

	if (fd < 0)
		return -1;
	if (!s->socket || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 ||
	    peer.pid <= 0)
		return err_set(err, ERR_UNSUPPORTED,
			       "only a daemon on this machine can be stopped from here");
	AUTO_FD int pidfd = (int)syscall(SYS_pidfd_open, peer.pid, 0);
	if (pidfd < 0)
		return err_sys(err, "find the daemon (pid %d)", peer.pid);
	if (syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, NULL, 0) < 0)
		return err_sys(err, "ask the daemon (pid %d) to end", peer.pid);
	struct pollfd p = { pidfd, POLLIN, 0 };
	if (poll(&p, 1, STOP_MS) != 1)
		return err_set(err, ERR_TIMEOUT,
			       "the daemon (pid %d) was asked to end but has not yet",
			       peer.pid);
	return 0;
}

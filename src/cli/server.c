// SPDX-License-Identifier: Apache-2.0
#include "cli/server.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "wire/settings.h"

#define READY_FD 3
#define READY_MS 20000 /* a daemon that has to read a large store takes a moment */
#define STOP_MS  15000
#define RETRY_MS 50

static int connect_unix(const char *path, struct err *err)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof a.sun_path)
		return err_set(err, ERR_INVALID,
			       "the socket path %s is longer than %zu bytes", path,
			       sizeof a.sun_path - 1);
	memcpy(a.sun_path, path, strlen(path) + 1);
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
		return err_sys(err, "connect to %s", path);
	return TAKE_FD(fd);
}

static int connect_tcp(const char *host, int port, struct err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
	char service[8];
	int on = 1;
	AUTO_FD int fd = -1;

	snprintf(service, sizeof service, "%d", port);
	int rc = getaddrinfo(host, service, &hints, &list);
	if (rc != 0)
		return err_set(err, ERR_IO, "connect to %s: %s", host, gai_strerror(rc));
	for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
		if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) < 0) {
			int failed = errno;
			close(fd);
			fd = -1;
			errno = failed;
		}
	}
	freeaddrinfo(list);
	if (fd < 0)
		return err_sys(err, "connect to %s:%d", host, port);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return TAKE_FD(fd);
}

int server_connect(const struct server *s, struct err *err)
{
	return s->socket ? connect_unix(s->socket, err)
			 : connect_tcp(s->host, s->port, err);
}

static int parse_url(struct server *out, const char *url, struct err *err)
{
	char host[256];

	if (str_starts(url, "unix://") && url[7] == '/') {
		out->socket = mem_strdup(url + 7);
		return 0;
	}
	if (str_starts(url, "http://")) {
		AUTO_FREE char *address = mem_strndup(url + 7, strcspn(url + 7, "/"));
		if (settings_address(address, host, sizeof host, &out->port, err) < 0)
			return err_wrap(err, "%s", SETTINGS_SERVER_ENV);
		out->host = mem_strdup(host);
		return 0;
	}
	return err_set(err, ERR_INVALID,
		       "%s: '%s' is neither unix:///path nor http://host:port",
		       SETTINGS_SERVER_ENV, url);
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

int server_find(struct server *out, struct err *err)
{
	struct settings_env env = { .home = getenv("HOME"),
				    .xdg_state_home = getenv("XDG_STATE_HOME"),
				    .xdg_runtime_dir = getenv("XDG_RUNTIME_DIR"),
				    .uid = (int64_t)geteuid() };
	const char *url = variable(SETTINGS_SERVER_ENV);
	const char *state = variable("YARD_STATE"), *socket = variable("YARD_SOCKET");

	*out = (struct server){ .port = 0 };
	if (url)
		return parse_url(out, url, err);
	if (!state && !socket && geteuid() != 0) {
		int fd = connect_unix(SETTINGS_SYSTEM_SOCKET, NULL);
		if (fd >= 0) {
			close(fd);
			out->socket = mem_strdup(SETTINGS_SYSTEM_SOCKET);
			return 0;
		}
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

void server_fini(struct server *s)
{
	free(s->socket);
	free(s->host);
	free(s->state);
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

int server_start(const struct server *s, struct err *err)
{
	AUTO_FREE char *program = find_daemon(err);
	AUTO_FREE char *log = str_printf("%s/yardd.log", s->state);
	AUTO_FREE char *folder = mem_strdup(s->socket);
	char words[512], byte;
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
	struct pollfd p = { hear, POLLIN, 0 };
	if (poll(&p, 1, READY_MS) == 1 && read(hear, &byte, 1) == 1)
		return 1;
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

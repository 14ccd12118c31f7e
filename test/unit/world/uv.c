// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <pty.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/str.h"
#include "laws_tcp.h"
#include "storm.h"
#include "world/lend.h"
#include "world/log.h"

static char folder[] = "/tmp/yard-world-XXXXXX";

/* A socket file that nobody listens on, as a killed daemon leaves it. */
static void leave_dead_socket(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
	OK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0,
	   "a dead socket file is left");
	close(fd);
}

static void test_unix_files(struct world *w)
{
	AUTO_FREE char *path = str_printf("%s/dead.sock", folder);
	AUTO_FREE char *file = str_printf("%s/file", folder);
	AUTO_FREE char *absent = str_printf("%s/no/such.sock", folder);
	AUTO_FREE char *lengthy = str_printf("%s/%0120d", folder, 1);
	struct server v = { .w = w };
	struct err err = { 0 };
	struct world_listener *l;
	struct stat st;

	leave_dead_socket(path);
	l = world_listen_unix(w, path, 0600, on_stream, &v, &err);
	OK(l != NULL, "a dead socket is replaced (%s)", err.text);
	world_listener_close(l);
	for (int i = 0; i < 4; i++) {
		static const int masks[] = { 0, 077, 022, 0777 },
				 modes[] = { 0600, 0666, 0660, 0666 };
		mode_t old = umask((mode_t)masks[i]);
		l = world_listen_unix(w, path, modes[i], on_stream, &v, &err);
		umask(old);
		OK(l && stat(path, &st) == 0 && (st.st_mode & 07777) == (mode_t)modes[i],
		   "the mode is %o whatever the umask", (unsigned)modes[i]);
		world_listener_close(l);
	}
	OK(lstat(path, &st) < 0, "a closed listener removes its file");
	close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	OK(!world_listen_unix(w, file, 0600, on_stream, &v, &err) &&
		   err.code == ERR_CONFLICT && stat(file, &st) == 0,
	   "another kind of file is not touched: %s", err.text);
	OK(!world_listen_unix(w, lengthy, 0600, on_stream, &v, &err) &&
		   strstr(err.text, "107"),
	   "a path that is too long is refused with the limit: %s", err.text);
	OK(!world_connect_unix(w, lengthy, &err) && err.code == ERR_INVALID,
	   "for callers too");
	OK(!world_listen_unix(w, absent, 0600, on_stream, &v, &err), "no folder: %s",
	   err.text);
	l = world_listen_unix(w, path, 0600, on_stream, &v, &err);
	unlink(path);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	world_listener_close(l);
	OK(stat(path, &st) == 0, "a file that somebody put in its place is left alone");
}

static void test_tcp(struct world *w)
{
	struct end e = { .echo = true, .shut_at_eof = true };
	struct server v = { .w = w, .ends = &e };
	struct err err = { 0 };
	struct world_listener *l = world_listen_tcp(w, "localhost", 0, on_stream, &v,
						    &err),
			      *l6;
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct end c = { 0 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_port = htons((uint16_t)world_listener_port(l));
	OK(connect(fd, (struct sockaddr *)&to, sizeof to) == 0, "connects by TCP");
	end_start(&c, w, world_stream_open(w, fd, &err));
	world_stream_write(c.s, "hello", 5);
	world_stream_shutdown(c.s);
	OK(spin_until(w, &c.ended) && !c.failed, "TCP ends in order");
	IS(buf_str(&c.got), "hello", "and echoes");
	OK(e.peer.uid == -1 && e.peer.pid == -1, "a TCP caller is nobody known");
	IS(e.peer.address, "127.0.0.1", "but from where they call is");
	end_fini(&c);
	end_fini(&e);
	OK(!world_listen_tcp(w, "127.0.0.1", world_listener_port(l), on_stream, &v, &err),
	   "a port in use: %s", err.text);
	OK(!world_listen_tcp(w, "example.org", 80, on_stream, &v, &err) &&
		   err.code == ERR_INVALID,
	   "a name is not looked up: %s", err.text);
	OK(!world_listen_tcp(w, "127.0.0.1", 70000, on_stream, &v, &err) &&
		   err.code == ERR_INVALID,
	   "a port that is none");
	l6 = world_listen_tcp(w, "::1", 0, on_stream, &v, &err);
	OK(l6 || err.code == ERR_IO, "IPv6 works or is refused in words");
	world_listener_close(l6);
	world_listener_close(l);
}

/* The peer resets the connection: SO_LINGER 0. */
static void test_reset(struct world *w)
{
	struct end e = { 0 };
	struct server v = { .w = w, .ends = &e };
	struct err err = { 0 };
	struct world_listener *l =
		world_listen_tcp(w, "127.0.0.1", 0, on_stream, &v, &err);
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_port = htons((uint16_t)world_listener_port(l));
	OK(connect(fd, (struct sockaddr *)&to, sizeof to) == 0, "connects by TCP");
	spin_until(w, &v.called);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 },
		   sizeof(struct linger));
	close(fd);
	OK(spin_until(w, &e.ended) && e.failed, "a reset is an end with an error");
	end_fini(&e);
	world_listener_close(l);
}

static void test_pipes_and_ptys(struct world *w)
{
	struct end r = { 0 }, wr = { 0 }, pty = { 0 };
	struct err err = { 0 };
	int p[2], master, slave;

	OK(pipe2(p, O_CLOEXEC) == 0, "a pipe");
	end_start(&r, w, world_stream_open(w, p[0], &err));
	end_start(&wr, w, world_stream_open(w, p[1], &err));
	world_stream_write(wr.s, "through", 7);
	world_stream_shutdown(wr.s);
	OK(spin_until(w, &wr.ended) && spin_until(w, &r.ended),
	   "a pipe ends when its writer does");
	IS(buf_str(&r.got), "through", "and carries bytes");
	end_fini(&r);
	end_fini(&wr);

	wr = (struct end){ 0 };
	OK(pipe2(p, O_CLOEXEC) == 0, "a pipe without a reader");
	end_start(&wr, w, world_stream_open(w, p[1], &err));
	close(p[0]);
	OK(spin_until(w, &wr.ended) && wr.failed,
	   "is an error seen at once, not a signal");
	end_fini(&wr);

	OK(openpty(&master, &slave, NULL, NULL, NULL) == 0, "a pty");
	end_start(&pty, w, world_stream_open(w, master, &err));
	OK(write(slave, "prompt", 6) == 6, "the task writes");
	spin(w, 20);
	IS(buf_str(&pty.got), "prompt", "a pty's output comes");
	close(slave);
	OK(spin_until(w, &pty.eof) && spin_until(w, &pty.ended) && !pty.failed,
	   "its other side closed is an orderly end");
	end_fini(&pty);
	OK(!world_stream_open(w, 9999, &err), "no such descriptor: %s", err.text);
}

static void set_flag(void *arg)
{
	*(bool *)arg = true;
}

/* Sent by a duplicate until it takes no more; then the loop tells when it does again. */
static void test_lend(struct world *w)
{
	static const struct world_stream_events none;
	struct world_stream_events ev = none;
	bool room = false;
	int pair[2];
	AUTO_FREE char *bytes = mem_alloc(1, 1 << 16);
	struct err err = { 0 };

	OK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0,
	   "a pair of sockets");
	struct world_stream *s = world_stream_open(w, pair[0], &err);
	ev.on_drain = set_flag;
	world_stream_start(s, &ev, &room);
	int fd = world_stream_lend(s);
	OK(fd >= 0 && fd != pair[0], "a stream lends its socket");
	while (send(fd, bytes, 1 << 16, MSG_NOSIGNAL) > 0)
		;
	world_stream_await(s);
	spin(w, 50);
	OK(!room, "while it is full nothing is told");
	while (recv(pair[1], bytes, 1 << 16, 0) > 0)
		;
	OK(spin_until(w, &room), "with room again it is");
	while (send(fd, bytes, 1 << 16, MSG_NOSIGNAL) > 0)
		;
	world_stream_write(s, "x", 1);
	OK(world_stream_lend(s) < 0, "one that has bytes of its own to send lends none");
	close(fd);
	close(pair[1]);
	world_stream_close(s);
}

static void test_watch_and_signal(struct world *w)
{
	bool exited = false, hup = false;
	pid_t child = fork();
	struct world_watch *t;
	struct world_signal *s;
	int pidfd;

	if (child == 0)
		_exit(0);
	pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	t = world_watch_create(w, pidfd, set_flag, &exited);
	OK(spin_until(w, &exited), "a pidfd tells of its process's end");
	world_watch_destroy(t);
	close(pidfd);
	waitpid(child, NULL, 0);
	pidfd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(pidfd);
	OK(!world_watch_create(w, 9999, set_flag, &exited),
	   "what cannot be watched is refused");
	s = world_signal_create(w, SIGHUP, set_flag, &hup);
	raise(SIGHUP);
	OK(spin_until(w, &hup), "a signal comes as a callback");
	world_signal_destroy(s);
	world_watch_destroy(NULL);
	world_signal_destroy(NULL);
}

static long switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw;
}

static void test_idle(struct world *w)
{
	struct pair p = { 0 };
	AUTO_FREE char *path = str_printf("%s/idle.sock", folder);
	long before;

	pair_open(&p, w, path);
	spin(w, 50);
	before = switches();
	spin(w, 500);
	OK(switches() - before <= 3,
	   "half a second of nothing wakes the loop for its timer only (%ld)",
	   switches() - before);
	pair_fini(&p);
}

/* Out of descriptors: callers are hung up on, the loop does not spin, and it recovers. */
static void test_no_descriptors(struct world *w)
{
	AUTO_FREE char *path = str_printf("%s/full.sock", folder);
	struct end e[4] = { 0 };
	struct server v = { .w = w, .ends = e };
	struct err err = { 0 };
	struct world_listener *l = world_listen_unix(w, path, 0600, on_stream, &v, &err);
	struct end c = { 0 }, after = { 0 };
	struct rlimit old, tight;
	struct world_stream *s = world_connect_unix(w, path, &err);
	int top = dup(0);

	getrlimit(RLIMIT_NOFILE, &old);
	tight = (struct rlimit){ (rlim_t)top, old.rlim_max };
	close(top);
	setrlimit(RLIMIT_NOFILE, &tight);
	end_start(&c, w, s);
	OK(spin_until(w, &c.ended) && v.count == 0,
	   "out of descriptors a caller is hung up on");
	setrlimit(RLIMIT_NOFILE, &old);
	end_start(&after, w, world_connect_unix(w, path, &err));
	OK(spin_until(w, &v.called), "and the next is served");
	end_fini(&c);
	end_fini(&after);
	end_fini(&e[0]);
	world_listener_close(l);
}

static void test_log(struct world *w)
{
	AUTO_FREE char *path = str_printf("%s/log", folder);
	int saved = dup(2), fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	enum log_level level;
	char text[256] = { 0 };

	dup2(fd, 2);
	world_log(w, LEVEL_WARN, "job %d\nerror: forged", 7);
	world_log(w, LEVEL_DEBUG, "not shown");
	dup2(saved, 2);
	close(saved);
	OK(pread(fd, text, sizeof text - 1, 0) > 0 && str_starts(text, "20") &&
		   str_ends(text, "Z warn: job 7\\x0aerror: forged\n"),
	   "a log line has its time and is one line");
	OK(log_level_from_word("debug", &level) == 0 && level == LEVEL_DEBUG &&
		   log_level_from_word("loud", &level) < 0,
	   "levels have names");
	close(fd);
}

static void slow(void *arg)
{
	usleep(20000);
	*(int *)arg += 1;
}

static void finished(void *arg)
{
	*(int *)arg += 10;
}

static void test_destroy_waits(void)
{
	struct world *w = world_uv_create(NULL);
	int count = 0;

	world_work(w, slow, finished, &count);
	world_later(w, set_flag, NULL);
	world_destroy(w);
	IS_INT(count, 11,
	       "a world waits for works under way and tells of them; laters are dropped");
}

static void wait_nothing(void *arg)
{
	(void)arg;
}

struct gate {
	int pipe[2];
	int done;
};

static void wait_at_gate(void *arg)
{
	struct gate *g = arg;
	char byte;

	if (read(g->pipe[0], &byte, 1) < 0)
		return;
}

static void through_gate(void *arg)
{
	((struct gate *)arg)->done++;
}

/* Whatever hangs in the pool or in another lane, a lane goes on. */
static void test_lane_is_free(struct world *w)
{
	struct world_lane *slow_one = world_lane_create(w, 2),
			  *l = world_lane_create(w, 1);
	struct gate g = { .done = 0 };
	bool flag = false;

	OK(pipe(g.pipe) == 0, "a gate");
	for (int i = 0; i < 8; i++)
		world_work(w, wait_at_gate, through_gate, &g);
	for (int i = 0; i < 4; i++)
		world_lane_work(slow_one, wait_at_gate, through_gate, &g);
	world_lane_work(l, wait_nothing, set_flag, &flag);
	OK(spin_until(w, &flag) && g.done == 0,
	   "works that hang in the pool and in another lane do not hold up a lane");
	OK(write(g.pipe[1], "............", 12) == 12, "the gate opens");
	for (int i = 0; i < 2000 && g.done < 12; i++)
		spin(w, 5);
	IS_INT(g.done, 12, "and all go through");
	world_lane_destroy(l);
	world_lane_work(slow_one, wait_nothing, through_gate, &g);
	world_lane_destroy(slow_one);
	spin(w, 50);
	IS_INT(g.done, 13, "what a destroyed lane had is done and told");
	close(g.pipe[0]);
	close(g.pipe[1]);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return remove(path);
}

int main(void)
{
	struct err err = { 0 };
	struct world *w = world_uv_create(&err);
	AUTO_FREE char *path = NULL;

	if (!OK(mkdtemp(folder) != NULL, "a folder"))
		return END();
	path = str_printf("%s/yard.sock", folder);
	world_laws(w, path);
	laws_tcp(w);
	for (int i = 0; i < 10; i++) {
		const char *wrong = storm_run(w, path);
		OK(!wrong, "a storm passes: %s", wrong ? wrong : "nothing amiss");
	}
	test_unix_files(w);
	test_tcp(w);
	test_reset(w);
	test_pipes_and_ptys(w);
	test_lend(w);
	test_watch_and_signal(w);
	test_lane_is_free(w);
	test_idle(w);
	test_no_descriptors(w);
	test_log(w);
	OK(world_random(w) != world_random(w), "chance is not always the same");
	OK(world_now_ms(w) > INT64_C(1700000000000), "the wall clock is of this age");
	world_destroy(w);
	test_destroy_waits();
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return END();
}

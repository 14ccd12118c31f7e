// SPDX-License-Identifier: Apache-2.0
/* shim-drive - speaks to yard-shim as the daemon does, for tests that need no daemon.
 *
 *   shim-drive run [-d] [-u BASE] [-o OWNER] [-g GID]... [-m BYTES] [-p PIDS] [-c MILLI] [-S SHM] [-l LOGBYTES]
 *                  [-w WORKDIR] [-M KIND:TARGET[:SOURCE or CONTENT]]... FOLDER CMD...
 *       to its end: prints the exit record; -d: until it has started
 *   shim-drive bench N [the options of run] FOLDER CMD...   N times, prints ms
 *   shim-drive ask FOLDER term|kill|usage|watch
 *   shim-drive exec [-t] FOLDER CMD...     stdin and stdout are the command's
 *   shim-drive log FOLDER [STREAM]         the bytes of the log
 *   shim-drive probe FOLDER
 *
 * The shim is $YARD_SHIM.  KIND: ro, rw, scratch, dir, file.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/logframe.h"
#include "base/mem.h"
#include "base/str.h"
#include "shim/probe.h"

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "shim-drive: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t number(const char *s)
{
	int64_t v;

	if (str_to_i64(s, INT64_MIN, INT64_MAX, &v) < 0)
		die(s);
	return v;
}

static void add_mount(struct shim_task *t, const char *text)
{
	static const char *const kinds[SHIM_MOUNT_COUNT] = { "ro", "rw", "scratch", "dir",
							     "file" };
	AUTO_FREE char *copy = mem_strdup(text);
	char *at = copy, *kind = strsep(&at, ":"), *target = strsep(&at, ":");
	struct shim_mount *m;

	for (int k = 0; k < SHIM_MOUNT_COUNT; k++) {
		if (!str_eq(kind, kinds[k]))
			continue;
		m = shim_task_mount(t, (enum shim_mount_kind)k, target,
				    k <= SHIM_SCRATCH ? at : NULL);
		if (k == SHIM_FILE) {
			m->content = mem_strdup(at ? at : "");
			m->content_len = strlen(m->content);
		}
		return;
	}
	die(text);
}

static void add_environment(struct shim_task *t)
{
	shim_list_add(
		&t->env,
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	shim_list_add(&t->env, "HOME=/home/me");
	shim_list_add(&t->env, "USER=me");
	shim_list_add(&t->env, "LANG=C.UTF-8");
}

static bool parse(struct shim_task *t, int argc, char **argv)
{
	bool detach = false;

	shim_task_init(t);
	t->job = getpid();
	t->workdir = mem_strdup("/tmp");
	t->hostname = mem_strdup("task");
	for (int o; (o = getopt(argc, argv, "+du:o:g:m:p:c:S:l:w:M:")) >= 0;) {
		if (o == 'd')
			detach = true;
		else if (o == 'u')
			t->uid_base = number(optarg), t->uid_count = 65536;
		else if (o == 'o')
			t->owner_uid = number(optarg);
		else if (o == 'g')
			shim_list_add(&t->groups, optarg);
		else if (o == 'm')
			t->memory_bytes = number(optarg);
		else if (o == 'p')
			t->pids_max = number(optarg);
		else if (o == 'c')
			t->cpu_milli = number(optarg);
		else if (o == 'S')
			t->shm_bytes = number(optarg);
		else if (o == 'l')
			t->log_limit_bytes = number(optarg);
		else if (o == 'w')
			free(t->workdir), t->workdir = mem_strdup(optarg);
		else if (o == 'M')
			add_mount(t, optarg);
		else
			exit(2);
	}
	if (optind + 1 >= argc)
		exit(2);
	t->folder = mem_strdup(argv[optind]);
	for (int i = optind + 1; i < argc; i++)
		shim_list_add(&t->argv, argv[i]);
	add_environment(t);
	return detach;
}

/* The next frame; false: the other side ended. */
static bool next_frame(int fd, struct buf *in, struct shim_frame *f)
{
	char data[65536];
	int64_t used;

	while ((used = shim_frame_get(in->data, in->len, f)) == 0) {
		ssize_t n = read(fd, data, sizeof data);

		if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
			poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, -1);
			continue;
		}
		if (n <= 0)
			return false;
		buf_add(in, data, (size_t)n);
	}
	if (used < 0)
		die("not a frame");
	return true;
}

static void drop_frame(struct buf *in, const struct shim_frame *f)
{
	buf_drop(in, SHIM_HEADER_BYTES + f->len);
}

static int spawn(const struct shim_task *t, pid_t *pid)
{
	const char *shim = getenv("YARD_SHIM");
	AUTO_BUF struct buf task = { 0 };
	AUTO_BUF struct buf frame = { 0 };
	int pair[2];

	if (mkdir(t->folder, 0700) < 0 && errno != EEXIST)
		die(t->folder);
	if (!shim || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		die("YARD_SHIM");
	shim_task_encode(t, &task);
	shim_frame_add(&frame, SHIM_BUNDLE, task.data, task.len);
	*pid = fork();
	if (*pid == 0) {
		if (pair[1] == SHIM_FD)
			fcntl(SHIM_FD, F_SETFD, 0);
		else
			dup2(pair[1], SHIM_FD);
		execl(shim, "yard-shim", NULL);
		die(shim);
	}
	close(pair[1]);
	if (write(pair[0], frame.data, frame.len) != (ssize_t)frame.len)
		die("write the bundle");
	return pair[0];
}

static int run(int argc, char **argv)
{
	AUTO_BUF struct buf in = { 0 };
	struct shim_task t;
	struct shim_frame f;
	bool detach = parse(&t, argc, argv);
	pid_t pid;
	int fd = spawn(&t, &pid), rc = 1;

	while (next_frame(fd, &in, &f)) {
		if (f.type == SHIM_STARTED && detach) {
			printf("%d\n", pid);
			rc = 0;
			goto out;
		}
		if (f.type == SHIM_EXITED || f.type == SHIM_REFUSED) {
			printf("%.*s\n", (int)f.len, f.data);
			rc = f.type == SHIM_REFUSED ? 3 : 0;
		}
		drop_frame(&in, &f);
	}
	waitpid(pid, NULL, 0);
out:
	close(fd);
	shim_task_fini(&t);
	return rc;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

#define BENCH_MAX 10000

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The tenth part shows what it costs, the middle what one waits on a busy machine. */
static void print_times(const char *what, double *ms, int64_t count)
{
	qsort(ms, (size_t)count, sizeof *ms, by_value);
	printf("%-18s p10 %6.2f  p50 %6.2f  p90 %6.2f ms\n", what, ms[count / 10],
	       ms[count / 2], ms[count * 9 / 10]);
}

static int bench(int argc, char **argv)
{
	static double started[BENCH_MAX], told[BENCH_MAX], whole[BENCH_MAX];
	int64_t count = number(argv[1]);
	struct shim_task t;

	if (count < 1 || count > BENCH_MAX)
		die("how often?");
	parse(&t, argc - 1, argv + 1);
	AUTO_FREE char *top = mem_strdup(t.folder);
	for (int64_t i = 0; i < count; i++) {
		AUTO_BUF struct buf in = { 0 };
		struct shim_frame f;
		double from = now_ms();
		pid_t pid;

		free(t.folder);
		t.folder = str_printf("%s/%lld", top, (long long)i);
		int fd = spawn(&t, &pid);
		while (next_frame(fd, &in, &f)) {
			(f.type == SHIM_STARTED ? started : told)[i] = now_ms() - from;
			drop_frame(&in, &f);
		}
		waitpid(pid, NULL, 0);
		close(fd);
		whole[i] = now_ms() - from;
	}
	print_times("to the exec", started, count);
	print_times("to the told end", told, count);
	print_times("in all", whole, count);
	shim_task_fini(&t);
	return 0;
}

static int connect_to(const char *folder)
{
	struct err err = { 0 };
	int fd;

	if (shim_connect(folder, &fd, &err) < 0) {
		fprintf(stderr, "shim-drive: %s\n", err.text);
		exit(1);
	}
	return fd;
}

static int ask(const char *folder, const char *word)
{
	static const struct {
		const char *word;
		enum shim_type type;
	} words[] = { { "term", SHIM_TERM },
		      { "kill", SHIM_KILL },
		      { "usage", SHIM_USAGE },
		      { "watch", SHIM_WATCH } };
	AUTO_BUF struct buf b = { 0 };
	AUTO_BUF struct buf in = { 0 };
	AUTO_FD int fd = connect_to(folder);
	struct shim_frame f;

	for (size_t i = 0; i < COUNT_OF(words); i++) {
		if (str_eq(word, words[i].word))
			shim_frame_add(&b, words[i].type, NULL, 0);
	}
	if (!b.len || write(fd, b.data, b.len) != (ssize_t)b.len ||
	    !next_frame(fd, &in, &f))
		die(word);
	printf("%.*s\n", (int)f.len, f.data);
	return f.type == SHIM_ERROR;
}

static void write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EPIPE)
			return; /* the command ended before it read all */
		if (n < 0 && errno == EAGAIN) {
			poll(&(struct pollfd){ fd, POLLOUT, 0 }, 1, -1);
			continue;
		}
		if (n <= 0)
			exit(1);
		data += n;
		len -= (size_t)n;
	}
}

static void send_stdin(int fd, bool *open)
{
	AUTO_BUF struct buf b = { 0 };
	char data[16384];
	ssize_t n = read(0, data, sizeof data);

	*open = n > 0;
	shim_frame_add(&b, n > 0 ? SHIM_STDIN : SHIM_STDIN_EOF, data,
		       n > 0 ? (size_t)n : 0);
	write_all(fd, b.data, b.len);
}

static int exec_pump(int fd)
{
	AUTO_BUF struct buf in = { 0 };
	struct shim_frame f;
	bool open = true;

	for (;;) {
		struct pollfd p[2] = { { fd, POLLIN, 0 }, { open ? 0 : -1, POLLIN, 0 } };

		if (shim_frame_get(in.data, in.len, &f) == 0) {
			poll(p, 2, -1);
			if (p[1].revents)
				send_stdin(fd, &open);
			if (!p[0].revents)
				continue;
		}
		if (!next_frame(fd, &in, &f))
			return 126;
		if (f.type == SHIM_STDOUT || f.type == SHIM_STDERR)
			write_all(f.type == SHIM_STDOUT ? 1 : 2, f.data, f.len);
		if (f.type == SHIM_ERROR) {
			fprintf(stderr, "%.*s\n", (int)f.len, f.data);
			return 125;
		}
		if (f.type == SHIM_EXEC_EXIT)
			return (uint8_t)f.data[0];
		drop_frame(&in, &f);
	}
}

static int exec(int argc, char **argv)
{
	struct shim_exec e = { .rows = 24, .columns = 80 };
	AUTO_BUF struct buf b = { 0 };
	AUTO_BUF struct buf frame = { 0 };
	int at = 1;

	if (argc > 2 && str_eq(argv[1], "-t")) {
		e.tty = true;
		at++;
	}
	AUTO_FD int fd = connect_to(argv[at]);
	for (int i = at + 1; i < argc; i++)
		shim_list_add(&e.argv, argv[i]);
	shim_exec_encode(&e, &b);
	shim_frame_add(&frame, SHIM_EXEC, b.data, b.len);
	write_all(fd, frame.data, frame.len);
	shim_exec_fini(&e);
	return exec_pump(fd);
}

static void print_segment(const char *path, int stream)
{
	FILE *f = fopen(path, "re");
	uint8_t head[LOGFRAME_BYTES];
	static char data[LOGFRAME_DATA_MAX];
	struct logframe frame;

	if (!f)
		die(path);
	while (fread(head, 1, sizeof head, f) == sizeof head) {
		if (logframe_read(head, &frame) < 0 ||
		    fread(data, 1, frame.len, f) != frame.len) {
			fprintf(stderr, "shim-drive: %s is cut\n", path);
			exit(1);
		}
		if (stream == 0 || (int)frame.stream == stream)
			fwrite(data, 1, frame.len, stdout);
	}
	fclose(f);
}

static int only_log(const struct dirent *e)
{
	return str_starts(e->d_name, "log.");
}

static int print_log(const char *folder, int stream)
{
	struct dirent **list;
	int count = scandir(folder, &list, only_log, alphasort);

	for (int i = 0; i < count; i++) {
		AUTO_FREE char *path = str_printf("%s/%s", folder, list[i]->d_name);

		print_segment(path, stream);
		free(list[i]);
	}
	if (count >= 0)
		free(list);
	return 0;
}

static int probe(const char *folder)
{
	static const char *const words[] = { "none", "busy", "alive", "over",
					     "vanished" };
	struct shim_probe p;
	struct err err = { 0 };

	if (shim_probe(folder, &p, &err) < 0) {
		printf("error: %s\n", err.text);
		return 1;
	}
	printf("%s %s\n", words[p.state], p.state == SHIM_VANISHED ? p.lost : "");
	if (p.pidfd >= 0)
		close(p.pidfd);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	signal(SIGPIPE, SIG_IGN);

	if (str_eq(what, "run"))
		return run(argc - 1, argv + 1);
	if (str_eq(what, "bench") && argc > 4)
		return bench(argc - 1, argv + 1);
	if (str_eq(what, "ask") && argc == 4)
		return ask(argv[2], argv[3]);
	if (str_eq(what, "exec") && argc > 3)
		return exec(argc - 1, argv + 1);
	if (str_eq(what, "log"))
		return print_log(argv[2], argc > 3 ? (int)number(argv[3]) : 0);
	if (str_eq(what, "probe"))
		return probe(argv[2]);
	fputs("see the head of test/kernel/shim-drive.c\n", stderr);
	return 2;
}

// SPDX-License-Identifier: Apache-2.0
/* `yard` against a server that follows a script: what is asked, what is printed, what is
 * returned; and what happens when the server goes away in the middle. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/logframe.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "tap.h"
#include "wire/api.h"

static char home[PATH_MAX], path[PATH_MAX + 32];

/* One request and what is said to it. */
struct step {
	const char *wants; /* in the request's first line */
	const char *also;  /* anywhere in it, or NULL */
	int status;
	struct buf body;
	bool chunked, cut; /* cut: the connection ends without the last chunk */
};

/* Reads one request; -1: the client has gone. */
static int read_request(int fd, struct buf *in)
{
	char chunk[8192];

	buf_clear(in);
	for (;;) {
		const char *end = strstr(buf_str(in), "\r\n\r\n");
		const char *length = strcasestr(buf_str(in), "content-length: ");
		size_t need = length ? (size_t)strtoul(length + 16, NULL, 10) : 0;
		if (end && in->len >= (size_t)(end - in->data) + 4 + need)
			return 0;
		ssize_t n = read(fd, chunk, sizeof chunk);
		if (n <= 0)
			return -1;
		buf_add(in, chunk, (size_t)n);
	}
}

static void say_step(int fd, struct step *s)
{
	struct buf out = { 0 };

	buf_printf(&out, "HTTP/1.1 %d X\r\nContent-Type: application/json\r\n",
		   s->status);
	if (s->chunked) {
		buf_printf(&out, "Transfer-Encoding: chunked\r\n\r\n%zx\r\n",
			   s->body.len);
		buf_add(&out, s->body.data, s->body.len);
		buf_adds(&out, s->cut ? "\r\n" : "\r\n0\r\n\r\n");
	} else {
		buf_printf(&out, "Content-Length: %zu\r\n\r\n", s->body.len);
		buf_add(&out, buf_str(&s->body), s->body.len);
	}
	if (write(fd, out.data, out.len) < 0)
		fprintf(stderr, "server: %s\n", strerror(errno));
	buf_fini(&out);
}

/* Plays the script; gives how many steps went wrong. */
static int serve(int listener, struct step *steps, size_t count)
{
	struct buf in = { 0 };
	int fd = -1, wrong = 0;

	for (size_t i = 0; i < count; i++) {
		while (fd < 0 || read_request(fd, &in) < 0) {
			if (fd >= 0)
				close(fd);
			fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		}
		const char *eol = strchr(in.data, '\r');
		const char *hit = strstr(in.data, steps[i].wants);
		if (!hit || hit > eol ||
		    (steps[i].also &&
		     !memmem(in.data, in.len, steps[i].also, strlen(steps[i].also)))) {
			fprintf(stderr, "server: step %zu wanted %s (%s), got %s\n", i,
				steps[i].wants, steps[i].also ? steps[i].also : "",
				in.data);
			wrong++;
		}
		if (steps[i].status)
			say_step(fd, &steps[i]);
		if (!steps[i].status || steps[i].cut) {
			close(fd);
			fd = -1;
		}
	}
	buf_fini(&in);
	return wrong;
}

struct result {
	int code, wrong;
	struct buf out, err;
};

static void drain(int fd, struct buf *into)
{
	char chunk[4096];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof chunk)) > 0)
		buf_add(into, chunk, (size_t)n);
	close(fd);
}

static int wait_code(pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

static int listen_here(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(path, sizeof path, "%s/sock", home);
	memcpy(a.sun_path, path, strnlen(path, sizeof a.sun_path - 1));
	unlink(path);
	if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 8) < 0)
		printf("Bail out! %s\n", strerror(errno));
	return fd;
}

static bool own_daemon; /* the server is one that `yard` may start, not YARD_SERVER's */

static struct result yard(struct step *steps, size_t count, const char *line)
{
	struct result r = { 0 };
	int out[2], err[2], listener = listen_here(), argc = 0;
	char *argv[16], *save = NULL, *copy = mem_strdup(line);
	pid_t server = -1;

	for (char *w = strtok_r(copy, " ", &save); w && argc < 15;
	     w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	argv[argc] = NULL;
	fflush(stdout);
	if (count && (server = fork()) == 0)
		_exit(serve(listener, steps, count));
	close(listener);
	if (!count)
		unlink(path);
	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		return r;
	pid_t pid = fork();
	if (pid == 0) {
		AUTO_FREE char *url = str_printf("unix://%s", path);
		if (own_daemon) {
			unsetenv("YARD_SERVER");
			setenv("YARD_STATE", home, 1);
			setenv("YARD_SOCKET", path, 1);
		} else {
			setenv("YARD_SERVER", url, 1);
		}
		dup2(out[1], 1), dup2(err[1], 2);
		_exit(cli_main(argc, argv));
	}
	close(out[1]), close(err[1]);
	drain(out[0], &r.out);
	drain(err[0], &r.err);
	r.code = wait_code(pid);
	r.wrong = server > 0 ? wait_code(server) : 0;
	for (size_t i = 0; i < count; i++)
		buf_fini(&steps[i].body);
	free(copy);
	return r;
}

static void forget(struct result *r)
{
	if (r->wrong)
		printf("# the server was asked something else\n# %s\n", buf_str(&r->err));
	buf_fini(&r->out);
	buf_fini(&r->err);
}

static struct buf text(const char *s)
{
	struct buf b = { 0 };

	buf_adds(&b, s);
	return b;
}

static void write_text(const char *name, const char *content)
{
	FILE *f = fopen(name, "we");

	if (!f) {
		OK(false, "write %s", name);
		return;
	}
	fputs(content, f);
	fclose(f);
}

static void record(struct buf *out, uint32_t rank, enum log_stream stream,
		   uint64_t *offset, const char *data)
{
	uint8_t head[WIRE_LOG_HEAD_BYTES + LOGFRAME_BYTES];
	struct logframe f = { stream, (uint32_t)strlen(data), 1000000 };

	*offset += LOGFRAME_BYTES + f.len;
	wire_log_head_write(&(struct wire_log_head){ rank, 1, *offset }, head);
	logframe_write(&f, head + WIRE_LOG_HEAD_BYTES);
	buf_add(out, head, sizeof head);
	buf_adds(out, data);
}

#define SPEC                                                                                                        \
	"\"spec\":{\"name\":\"x\",\"priority\":0,\"preemptible\":false,\"roles\":[{\"name\":\"main\",\"count\":1,"  \
	"\"command\":[\"true\"],\"image\":\"host\",\"resources\":{\"cpu\":1,\"memory\":\"1Gi\",\"shm\":\"512Mi\"}," \
	"\"completion\":{\"fail-after\":1,\"succeed-after\":\"all\"}}],\"retry\":{\"max\":0,\"backoff\":\"10s\","   \
	"\"backoff-max\":\"10m\"},\"grace\":\"30s\"}"
#define ENDED(outcome, code)                                                             \
	"{\"id\":9,\"name\":\"x\",\"state\":\"ended\",\"outcome\":\"" outcome            \
	"\",\"reason\":\"exit code 7\","                                                 \
	"\"exit_code\":" code ",\"tasks\":[]," SPEC "}"

static void run_passes_all_on(void)
{
	struct step s[] = {
		{ "POST /yard/v1/jobs ", "\"command\":[\"sh\",\"-c\",\"x\"]", 201,
		  text("{\"id\":9,\"again\":false}") },
		{ "GET /yard/v1/jobs/9/logs", "follow=1", 200, { 0 }, true },
		{ "GET /yard/v1/jobs/9/wait", NULL, 200, text(ENDED("failed", "7")) },
	};
	uint64_t at = 0;

	record(&s[1].body, 0, LOG_STDOUT, &at, "out\n");
	record(&s[1].body, 0, LOG_STDERR, &at, "err\n");
	record(&s[1].body, 0, LOG_STDOUT, &at, "no newline");
	struct result r = yard(s, COUNT_OF(s), "yard run --no-code sh -c x");
	IS_INT(r.code, 7, "yard run returns the job's code");
	IS(buf_str(&r.out), "out\nno newline", "its output comes through byte for byte");
	OK(str_starts(buf_str(&r.err), "err\nyard: job 9 (x) failed: exit code 7"),
	   "stderr on stderr, then why");
	OK(r.wrong == 0, "with these requests and no others");
	forget(&r);
}

static void run_survives_breaks(void)
{
	struct step s[] = {
		{ "POST /yard/v1/jobs ",
		  "Idempotency-Key: ",
		  0,
		  { 0 } }, /* gone before it answered */
		{ "POST /yard/v1/jobs ", "Idempotency-Key: ", 200,
		  text("{\"id\":9,\"again\":true}") },
		{ "GET /yard/v1/jobs/9/logs", NULL, 200, { 0 }, true, true },
		{ "GET /yard/v1/jobs/9/logs", "from=0:1:20", 200, { 0 }, true },
		{ "GET /yard/v1/jobs/9/wait", NULL, 200, text(ENDED("succeeded", "0")) },
	};
	uint64_t at = 0;

	record(&s[2].body, 0, LOG_STDOUT, &at, "one\n");
	record(&s[2].body, 0, LOG_STDOUT, &at, "two\n");
	s[2].body.len -= 2; /* in the middle of a record: "tw" was seen already */
	at = 0;             /* one that also says again what was heard whole */
	record(&s[3].body, 0, LOG_STDOUT, &at, "one\n");
	record(&s[3].body, 0, LOG_STDOUT, &at, "two\n");
	record(&s[3].body, 0, LOG_STDOUT, &at, "three\n");
	struct result r = yard(s, COUNT_OF(s), "yard run --no-code true");
	IS_INT(r.code, 0, "a server that breaks off twice is not noticed");
	IS(buf_str(&r.out), "one\ntwo\nthree\n",
	   "no byte of the log twice, none left out");
	OK(r.wrong == 0,
	   "the submit was repeated with its key, the log went on at its offset");
	forget(&r);
}

static void several_tasks(void)
{
	struct step s[] = {
		{ "POST /yard/v1/jobs ", "\"count\":2", 201,
		  text("{\"id\":9,\"again\":false}") },
		{ "GET /yard/v1/jobs/9/logs", NULL, 200, { 0 }, true },
		{ "GET /yard/v1/jobs/9/wait", NULL, 200, text(ENDED("succeeded", "0")) },
	};
	uint64_t a = 0, b = 0;

	record(&s[1].body, 0, LOG_STDOUT, &a, "he");
	record(&s[1].body, 1, LOG_STDOUT, &b, "other\npart");
	record(&s[1].body, 0, LOG_STDOUT, &a, "llo\n");
	struct result r = yard(s, COUNT_OF(s), "yard run --no-code --count 2 true");
	IS(buf_str(&r.out), "[main-1] other\n[main-0] hello\n[main-1] part\n",
	   "lines of several tasks stay whole, each behind its task's name");
	forget(&r);
}

/* What a user wrote must not reach another's terminal as commands to it. */
static void escapes(void)
{
#define EVIL "\\u001b]0;x\\u0007\\u009b2J"
	static const char job[] =
		"{\"id\":9,\"name\":\"x\",\"owner\":\"a" EVIL
		"\",\"state\":\"ended\",\"outcome\":\"failed\",\"reason\":\"r" EVIL
		"\",\"exit_code\":1,\"tasks\":[],\"spec\":{\"name\":\"x\",\"priority\":0,"
		"\"preemptible\":false,\"roles\":[{\"name\":\"main\",\"count\":1,"
		"\"command\":[\"echo\",\"c" EVIL "\"],\"image\":\"host\",\"resources\":{"
		"\"cpu\":1,\"memory\":\"1Gi\",\"shm\":\"512Mi\"},\"completion\":{"
		"\"fail-after\":1,\"succeed-after\":\"all\"}}],\"retry\":{\"max\":0,"
		"\"backoff\":\"10s\",\"backoff-max\":\"10m\"},\"grace\":\"30s\"}}";
	const struct {
		const char *line, *wants, *body;
		int status;
	} rows[] = {
		{ "yard show 9", "GET /yard/v1/jobs/9", job, 200 },
		{ "yard wait 9", "GET /yard/v1/jobs/9/wait", job, 200 },
		{ "yard show --json 9", "GET /yard/v1/jobs/9",
		  "{\"name\":\"\302\2332J\"}", 200 },
		{ "yard why 9", "GET /yard/v1/jobs/9/why", "{\"why\":\"w" EVIL "\"}",
		  200 },
		{ "yard why 9", "GET /yard/v1/jobs/9/why",
		  "{\"error\":{\"code\":\"not-found\",\"message\":\"m" EVIL "\"}}", 404 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct step s = { rows[i].wants, NULL, rows[i].status,
				  text(rows[i].body) };
		struct result r = yard(&s, 1, rows[i].line);
		bool bad = strpbrk(buf_str(&r.out), "\033\007\233") ||
			   strpbrk(buf_str(&r.err), "\033\007\233");
		OK(!bad && r.out.len + r.err.len > 0,
		   "%s (%d) prints nothing that a terminal acts on", rows[i].line,
		   rows[i].status);
		forget(&r);
	}
#undef EVIL
}

static void dead_daemon(void)
{
	struct step s[] = { { "GET /yard/v1/jobs/9/wait", NULL, 202,
			      text("{\"id\":9,\"state\":\"running\"}") } };

	own_daemon = true;
	int64_t began = cli_now_ms();
	struct result r = yard(NULL, 0, "yard wait 9");
	OK(r.code == 6 && strstr(buf_str(&r.err), "yard up") &&
		   cli_now_ms() - began < 6000,
	   "that no daemon of one's own runs is said at once");
	forget(&r);
	began = cli_now_ms();
	r = yard(s, COUNT_OF(s), "yard wait 9");
	int64_t took = cli_now_ms() - began;
	OK(r.code == 6 && strstr(buf_str(&r.err), "yard up") && took > 1500 &&
		   took < 25000,
	   "one that goes away is waited for, but not long (%d ms)", (int)took);
	forget(&r);
	own_daemon = false;
}

static void json_pages(void)
{
	struct step s[] = {
		{ "GET /yard/v1/jobs?state=live&limit=900", NULL, 200,
		  text("{\"jobs\":[{\"id\":9},{\"id\":8}],\"next\":8}") },
		{ "GET /yard/v1/jobs?state=live&limit=900&before=8", NULL, 200,
		  text("{\"jobs\":[{\"id\":7}],\"next\":null}") },
	};
	struct result r = yard(s, COUNT_OF(s), "yard ls --json --limit 1500");

	IS(buf_str(&r.out),
	   "{\"jobs\":[{\"id\":9},{\"id\":8},{\"id\":7}],\"next\":null}\n",
	   "JSON of many jobs is all pages as one");
	OK(r.code == 0 && r.wrong == 0, "asked page by page");
	forget(&r);
}

/* Others' events are left out, and a page of nothing but these is not the end. */
static void event_pages(void)
{
	struct step s[] = {
		{ "GET /yard/v1/events?from=0&", NULL, 200,
		  text("{\"events\":[],\"next\":5001}") },
		{ "GET /yard/v1/events?from=5001&", NULL, 200,
		  text("{\"events\":[{\"seq\":5007,\"kind\":\"ended\",\"job\":9}],"
		       "\"next\":5009}") },
		{ "GET /yard/v1/events?from=5009&", NULL, 200,
		  text("{\"events\":[],\"next\":5009}") },
	};
	struct result r = yard(s, COUNT_OF(s), "yard events --json");

	OK(strstr(buf_str(&r.out), "\"seq\":5007"),
	   "events are looked for behind a page that has none");
	OK(r.code == 0 && r.wrong == 0, "until there is no more");
	forget(&r);
}

static void errors(void)
{
	struct step lost[] = {
		{ "GET /yard/v1/jobs/nope", NULL, 404,
		  text("{\"error\":{\"code\":\"not-found\",\"message\":\"there is no job nope\"}}") }
	};
	struct result r = yard(lost, 1, "yard show nope");
	OK(r.code == 3 && strstr(buf_str(&r.err), "there is no job nope") && !r.out.len,
	   "not found is 3, said on stderr");
	forget(&r);

	r = yard(NULL, 0, "yard ls");
	OK(r.code == 6 && strstr(buf_str(&r.err), "YARD_SERVER"), "nobody there is 6");
	forget(&r);
	r = yard(NULL, 0, "yard ls --limitt 5");
	OK(r.code == 2 && strstr(buf_str(&r.err), "--limit"),
	   "a wrong option is 2, with a guess");
	forget(&r);
	r = yard(NULL, 0, "yard show");
	OK(r.code == 2 && strstr(buf_str(&r.err), "JOB"),
	   "a missing operand is 2, with its name");
	forget(&r);
	r = yard(NULL, 0, "yard wiat 5");
	OK(r.code == 2 && strstr(buf_str(&r.err), "'wait'"),
	   "an unknown command is 2, with a guess");
	forget(&r);
	r = yard(NULL, 0, "yard run --env NO_SUCH_VARIABLE_HERE --no-code true");
	OK(r.code == 2 && strstr(buf_str(&r.err), "KEY=VALUE"),
	   "a bad --env is 2, and nothing was sent");
	forget(&r);
	r = yard(NULL, 0, "yard help logs");
	OK(r.code == 0 && strstr(buf_str(&r.out), "--timestamps"),
	   "help comes out of the table");
	forget(&r);

	struct step file[] = {
		{ "POST /yard/v1/jobs ", NULL, 400,
		  text("{\"error\":{\"code\":\"invalid\",\"message\":\"no\",\"problems\":[{\"line\":3,"
		       "\"column\":5,\"field\":\"cpu\",\"message\":\"too much\"}]}}") }
	};
	AUTO_FREE char *name = str_printf("%s/job.yaml", home),
		       *line = str_printf("yard submit %s", name);
	write_text(name, "command: true\n");
	r = yard(file, 1, line);
	AUTO_FREE char *want = str_printf("%s:3:5: cpu: too much\n", name);
	OK(r.code == 2 && strstr(buf_str(&r.err), want),
	   "problems of a file are file:line:column");
	forget(&r);
}

static void code_goes_once(void)
{
	AUTO_FREE char *folder = str_printf("%s/project", home),
		       *file = str_printf("%s/project/a.py", home);
	AUTO_FREE char *line = str_printf("yard run --detach --code %s true", folder);
	struct step s[] = {
		{ "HEAD /yard/v1/code/", NULL, 404, { 0 } },
		{ "PUT /yard/v1/code/", "print(1)", 201, { 0 } },
		{ "POST /yard/v1/jobs ", "\"code\":\"", 201,
		  text("{\"id\":11,\"again\":false}") },
	};
	struct step again[] = {
		{ "HEAD /yard/v1/code/", NULL, 200, { 0 } },
		{ "POST /yard/v1/jobs ", "\"code\":\"", 201,
		  text("{\"id\":12,\"again\":false}") },
	};

	mkdir(folder, 0755);
	write_text(file, "print(1)\n");
	struct result r = yard(s, COUNT_OF(s), line);
	OK(r.code == 0 && r.wrong == 0, "code that is not there is sent, then the job");
	IS(buf_str(&r.out), "11\n", "--detach prints the id as its last line");
	forget(&r);
	r = yard(again, COUNT_OF(again), line);
	OK(r.code == 0 && r.wrong == 0, "code that is there is not sent again");
	forget(&r);

	static const struct {
		const char *file, *sent;
	} files[] = { { "command: true", "command: true\ncode: \"" },
		      { " {\"command\": \"true\"}", "{\"code\":\"" } };
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		struct step submit[] = {
			{ "HEAD /yard/v1/code/", NULL, 200, { 0 } },
			{ "POST /yard/v1/jobs ", files[i].sent, 201,
			  text("{\"id\":13,\"again\":false}") },
		};
		AUTO_FREE char *name = str_printf("%s/with-code", home);
		AUTO_FREE char *call =
			str_printf("yard submit --code %s %s", folder, name);
		write_text(name, files[i].file);
		r = yard(submit, COUNT_OF(submit), call);
		OK(r.code == 0 && r.wrong == 0,
		   "the code's hash is added to a file like %s", files[i].file);
		forget(&r);
	}
}

int main(void)
{
	snprintf(home, sizeof home, "%s/yard-cli-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(home))
		return 1;
	unsetenv("YARD_STATE");
	unsetenv("YARD_SOCKET");
	run_passes_all_on();
	run_survives_breaks();
	several_tasks();
	escapes();
	json_pages();
	event_pages();
	dead_daemon();
	errors();
	code_goes_once();
	fflush(stdout);
	if (fork() == 0) {
		execlp("rm", "rm", "-rf", home, (char *)NULL);
		_exit(1);
	}
	wait(NULL);
	return END();
}

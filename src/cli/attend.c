// SPDX-License-Identifier: Apache-2.0
#include "cli/attend.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/follow.h"
#include "cli/measure.h"
#include "cli/outcome.h"
#include "cli/progress.h"
#include "wire/outcome.h"

#define TICK_MS       1000 /* a job that waits longer says what for */
#define WHY_AGAIN_MS  5000
#define ARRAY_TICK_MS 250

enum wish { WISH_GO_ON, WISH_STOP, WISH_LEAVE };

/* What goes on beside the log: Ctrl-C, and a clock to say how the job stands. */
struct watch {
	struct cli *cli;
	struct cli own; /* with a connection of its own: the first one carries the log */
	char job[24];
	int events, signals, clock;
	bool asks;     /* Ctrl-C asks what to do */
	bool stopping; /* it has been asked to stop */
	bool left;
	bool over;  /* the job has ended */
	bool array; /* it has no log that would tell so: the clock must */
	char *told; /* the last reason that was printed */
	struct progress *progress;
	struct meter meter;
	char last[256]; /* line of its log, when it goes elsewhere than to the terminal */
	sigset_t before;
};

static void set_clock(const struct watch *w, int ms)
{
	struct itimerspec t = { .it_value = { ms / 1000, (long)(ms % 1000) * 1000000 } };

	timerfd_settime(w->clock, 0, &t, NULL);
}

static void watch_open(struct watch *w, struct cli *c, int64_t job)
{
	sigset_t set;
	struct epoll_event e = { .events = EPOLLIN };

	*w = (struct watch){ .cli = c, .own = *c };
	snprintf(w->job, sizeof w->job, "%" PRId64, job);
	w->own.client = client_create(&c->server, false, NULL);
	w->asks = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
	w->progress = progress_create(c->colour_err);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, &w->before);
	w->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	w->clock = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	w->events = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(w->events, EPOLL_CTL_ADD, w->signals, &e);
	epoll_ctl(w->events, EPOLL_CTL_ADD, w->clock, &e);
	set_clock(w, TICK_MS);
}

static void watch_close(struct watch *w)
{
	progress_destroy(w->progress);
	client_destroy(w->own.client);
	close(w->events);
	close(w->signals);
	close(w->clock);
	free(w->told);
	sigprocmask(SIG_SETMASK, &w->before, NULL);
}

static bool waits(enum job_state s)
{
	return s == JOB_HELD || s == JOB_QUEUED || s == JOB_BACKOFF;
}

static int position_of(struct watch *w)
{
	AUTO_ANSWER struct answer a = { 0 };
	struct err ignored;

	if (cli_get(&w->own, &a, &ignored, "/jobs/%s/why", w->job) < 0)
		return 0;
	return (int)doc_i64(doc_root(a.doc), "position", 0);
}

static int64_t memory_limit(const struct job *j)
{
	int64_t all = 0;

	for (size_t i = 0; i < j->spec->role_count; i++)
		all += j->spec->roles[i].each.memory_bytes * j->spec->roles[i].count;
	return j->task_count <= MEASURE_TASKS_MAX ? all : 0;
}

static void draw(struct watch *w, const struct wire_job *job)
{
	const struct job *j = job->job;
	bool queued = waits(j->state);
	int64_t since = queued          ? j->queued_ms
			: j->started_ms ? j->started_ms
					: j->placed_ms;
	struct progress_view v = { .job = j->id,
				   .state = j->state,
				   .attempt = j->attempt,
				   .why = job->why,
				   .brings = j->progress,
				   .elapsed_ms = cli_now_ms() -
						 (since ? since : j->submitted_ms),
				   .cpu_milli = -1,
				   .last = w->last };

	if (queued)
		v.position = position_of(w);
	if (j->state == JOB_RUNNING) {
		struct measure now;
		measure_job(&w->own, j->id, (int)j->task_count, &now);
		v.cpu_milli = meter_cpu_milli(&w->meter, &now, j->started_ms);
		v.memory_bytes = now.memory_bytes;
		v.memory_limit_bytes = memory_limit(j);
	}
	progress_set(w->progress, &v);
}

static void say_why(struct watch *w, const struct wire_job *job)
{
	const char *brings = job->job->progress;
	const char *text = brings ? brings : waits(job->job->state) ? job->why : NULL;

	if (!text || str_eq(text, w->told))
		return;
	cli_hint(w->cli, "job %s %s: %s", w->job,
		 brings ? job_state_word(job->job->state) : "waits", text);
	free(w->told);
	w->told = mem_strdup(text);
}

/* Its output goes to a file or a pipe: the line on the terminal tells the last of it. */
static void note_last(void *arg, const char *line, size_t len)
{
	struct watch *w = arg;
	size_t n = len < sizeof w->last - 1 ? len : sizeof w->last - 1;

	memcpy(w->last, line, n);
	w->last[n] = '\0';
}

/* A terminal has its line every second; elsewhere it is said when the reason changes. */
static void tick(struct watch *w)
{
	struct wire_job job = { 0 };
	struct err err;

	if (cli_get_job(&w->own, w->job, &job, &err) < 0) {
		w->over = w->array; /* who asks for its outcome says what is wrong */
		set_clock(w,
			  WHY_AGAIN_MS); /* the log's connection notices what is wrong */
		return;
	}
	enum job_state s = job.job->state;
	w->over = s == JOB_ENDED;
	if (w->array && job.why) /* what would be the last line of a log */
		note_last(w, job.why, strlen(job.why));
	if (w->progress)
		draw(w, &job);
	else
		say_why(w, &job);
	if (w->array)
		set_clock(w, ARRAY_TICK_MS);
	else if (w->progress)
		set_clock(w, TICK_MS);
	else if (waits(s) || s == JOB_STARTING)
		set_clock(w, WHY_AGAIN_MS);
	wire_job_fini(&job);
}

static void ask_to_stop(struct watch *w)
{
	AUTO_ANSWER struct answer a = { 0 };
	AUTO_FREE char *target = cli_job_target(w->job, "/stop");
	static const char body[] = "{\"reason\":\"Ctrl-C at yard run\"}";
	struct request r = { .method = "POST",
			     .target = target,
			     .body = body,
			     .body_len = sizeof body - 1 };
	struct err err;

	if (client_call(w->own.client, &r, &a, &err) < 0)
		cli_say(w->cli, "job %s could not be stopped: %s", w->job, err.text);
	else
		cli_say(w->cli,
			"job %s is being stopped (Ctrl-C again: do not wait for that)",
			w->job);
	w->stopping = true;
}

/* One key.  0: Ctrl-C; -1: nobody will answer, or a signal in `ends` wants us to go. */
static int read_key(const struct watch *w, int ends)
{
	struct pollfd p[3] = { { STDIN_FILENO, POLLIN, 0 },
			       { w->signals, POLLIN, 0 },
			       { ends, POLLIN, 0 } };
	struct signalfd_siginfo info;
	char key;

	while (poll(p, 3, -1) < 0)
		if (errno != EINTR)
			return -1;
	if (p[2].revents)
		return -1;
	if (read(w->signals, &info, sizeof info) == sizeof info)
		return 0;
	return read(STDIN_FILENO, &key, 1) == 1 ? (unsigned char)key : -1;
}

static enum wish ask_wish(const struct watch *w, int ends)
{
	for (;;) {
		switch (read_key(w, ends)) {
		case 'd':
		case 'D':
		case -1:
			return WISH_LEAVE;
		case 's':
		case 'S':
		case 0: /* a second Ctrl-C */
			return WISH_STOP;
		case 'g':
		case 'G':
		case '\033':
			return WISH_GO_ON;
		default:
			break;
		}
	}
}

/* Keys come without Enter and are not shown.  Signals that end the process wait until the
 * terminal is as it was: they stay pending, and act when the mask is put back. */
static enum wish ask(const struct watch *w)
{
	static const char *const answers[] = { "go on\n", "stop\n", "detach\n" };
	struct termios was, now;
	sigset_t set, before;
	AUTO_BUF struct buf out = { 0 };

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigprocmask(SIG_BLOCK, &set, &before);
	AUTO_FD int ends = signalfd(-1, &set, SFD_CLOEXEC);
	bool raw = tcgetattr(STDIN_FILENO, &was) == 0;
	now = was;
	now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	if (raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
	buf_printf(&out, "yard: job %s goes on. [d]etach, [s]top the job, or [g]o on? ",
		   w->job);
	cli_write(STDERR_FILENO, out.data, out.len);
	enum wish wish = ask_wish(w, ends);
	if (raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &was);
	sigprocmask(SIG_SETMASK, &before, NULL);
	cli_write(STDERR_FILENO, answers[wish], strlen(answers[wish]));
	return wish;
}

static void on_interrupt(struct watch *w)
{
	enum wish wish = WISH_STOP;

	if (!progress_hide(w->progress))
		cli_write(STDERR_FILENO, "\n", 1); /* behind the ^C */
	if (w->stopping)
		wish = WISH_LEAVE;
	else if (w->asks)
		wish = ask(w);
	if (wish == WISH_STOP)
		ask_to_stop(w);
	w->left = wish == WISH_LEAVE;
	progress_wrote(w->progress, true);
}

static bool on_watch(void *arg)
{
	struct watch *w = arg;
	struct signalfd_siginfo info;
	uint64_t ticks;

	while (!w->left && !w->over &&
	       read(w->signals, &info, sizeof info) == sizeof info)
		on_interrupt(w);
	if (!w->left && read(w->clock, &ticks, sizeof ticks) == sizeof ticks)
		tick(w);
	return w->left;
}

static int finish(struct cli *c, const char *job)
{
	struct wire_job w = { 0 };
	struct err err;

	if (outcome_wait(c, job, -1, &w, &err) < 0)
		return cli_fail(c, &err);
	int code = outcome_tell(c, &w);
	wire_job_fini(&w);
	return code;
}

static int watch_log(struct cli *c, struct watch *w, const struct job *names)
{
	struct follow f = { .job = w->job,
			    .names = names,
			    .rank = -1,
			    .attempt = "all",
			    .tail = -1,
			    .follow = true,
			    .progress = w->progress,
			    .other = w->events,
			    .on_other = on_watch,
			    .arg = w };
	struct err err;

	if (w->progress && !isatty(STDOUT_FILENO)) {
		f.heard = note_last;
		f.heard_arg = w;
	}
	int rc = follow_log(c, &f, &err);
	progress_hide(w->progress);
	if (rc == 1) {
		cli_say(c,
			"job %s is left to itself; `yard logs -f %s` shows it again, `yard wait %s` "
			"waits for its end",
			w->job, w->job, w->job);
		return EXIT_INTERRUPTED;
	}
	if (rc == 0)
		return -1;
	int code = cli_fail(c, &err);
	cli_hint(c, "the job goes on: `yard logs -f %s` follows it", w->job);
	return code;
}

int attend_job(struct cli *c, int64_t job, const struct job *names)
{
	struct watch w;
	char id[24];

	watch_open(&w, c, job);
	int code = watch_log(c, &w, names);
	memcpy(id, w.job, sizeof id);
	watch_close(&w);
	return code >= 0 ? code : finish(c, id);
}

static int watch_members(struct cli *c, struct watch *w)
{
	struct pollfd p = { .fd = w->events, .events = POLLIN };

	w->array = true;
	set_clock(w, 1); /* a short one is over soon */
	while (!w->over && !w->left) {
		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			break;
		on_watch(w);
	}
	progress_hide(w->progress);
	if (!w->left)
		return -1;
	cli_say(c,
		"array %s is left to itself; `yard show %s` tells how it stands, `yard wait "
		"%s` waits for its end",
		w->job, w->job, w->job);
	return EXIT_INTERRUPTED;
}

int attend_array(struct cli *c, int64_t job)
{
	struct watch w;
	char id[24];

	cli_hint(c, "array %" PRId64 "; `yard ls --array %" PRId64 "` lists its members",
		 job, job);
	watch_open(&w, c, job);
	int code = watch_members(c, &w);
	memcpy(id, w.job, sizeof id);
	watch_close(&w);
	return code >= 0 ? code : finish(c, id);
}

int attend_main(struct cli *c, int64_t job, int64_t tasks)
{
	struct role role = { .name = (char[]){ "main" }, .count = (int)tasks };
	struct spec spec = { .roles = &role, .role_count = 1 };
	AUTO_FREE struct task *list = mem_alloc((size_t)tasks, sizeof *list);
	struct job names = { .spec = &spec, .tasks = list, .task_count = (size_t)tasks };

	for (int i = 0; i < tasks; i++)
		list[i].index = i;
	return attend_job(c, job, &names);
}

// SPDX-License-Identifier: Apache-2.0
/* /metrics: numbers for Prometheus, in its text format 0.0.4.  Totals only: no label names
 * a user or a job, so that whoever may ask learns nothing of others. */
#include "http/route.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/units.h"
#include "http/handlers.h"
#include "yard/stats.h"
#include "yard/why.h"

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP yard_%s %s\n# TYPE yard_%s %s\n", name, help, name, type);
}

static void one(struct buf *out, const char *name, const char *type, const char *help,
		int64_t value)
{
	head(out, name, type, help);
	buf_printf(out, "yard_%s %" PRId64 "\n", name, value);
}

static void add_seconds(struct buf *out, int64_t ms)
{
	buf_printf(out, "%" PRId64 ".%03" PRId64, ms / 1000, ms % 1000);
}

static void add_jobs(struct buf *out, const struct yard_stats *s)
{
	head(out, "jobs", "gauge", "Jobs that have not ended, by state.");
	for (enum job_state k = JOB_HELD; k < JOB_ENDED; k++)
		buf_printf(out, "yard_jobs{state=\"%s\"} %zu\n", job_state_word(k),
			   s->jobs[k]);
	one(out, "jobs_submitted_total", "counter", "Jobs submitted since the start.",
	    s->submitted);
	head(out, "jobs_ended_total", "counter",
	     "Jobs ended since the start, by outcome.");
	for (enum outcome o = OUTCOME_NONE + 1; o < OUTCOME_COUNT; o++)
		buf_printf(out, "yard_jobs_ended_total{outcome=\"%s\"} %" PRId64 "\n",
			   outcome_word(o), s->ended[o]);
	one(out, "queue_length", "gauge", "Jobs in the queue.", (int64_t)s->waiting);
	head(out, "queue_oldest_wait_seconds", "gauge",
	     "How long the job that waits longest has waited.");
	buf_adds(out, "yard_queue_oldest_wait_seconds ");
	add_seconds(out, s->oldest_wait_ms);
	buf_addc(out, '\n');
}

static void add_estimates(struct buf *out, const struct yard *y)
{
	struct learn_score s;

	yard_score(y, &s);
	one(out, "estimates_total", "counter",
	    "Estimates of starts that came true or not.", s.told);
	one(out, "estimates_within_total", "counter",
	    "Of these: the job started between the soonest and the latest told.",
	    s.within);
	one(out, "estimates_close_total", "counter",
	    "Of these: within a fifth of the time told, or a minute.", s.close);
	head(out, "estimate_error_seconds", "gauge",
	     "How far the last estimates were off, the median.");
	buf_adds(out, "yard_estimate_error_seconds ");
	add_seconds(out, s.error_ms);
	buf_addc(out, '\n');
}

static void add_commits(struct buf *out, const struct yard_stats *s)
{
	int64_t sum = 0;

	head(out, "commit_seconds", "histogram", "How long commits to the store took.");
	for (size_t i = 0; i < YARD_COMMIT_BUCKETS; i++) {
		sum += s->commits[i];
		buf_adds(out, "yard_commit_seconds_bucket{le=\"");
		add_seconds(out, yard_commit_bounds_ms[i]);
		buf_printf(out, "\"} %" PRId64 "\n", sum);
	}
	sum += s->commits[YARD_COMMIT_BUCKETS];
	buf_printf(out, "yard_commit_seconds_bucket{le=\"+Inf\"} %" PRId64 "\n", sum);
	buf_adds(out, "yard_commit_seconds_sum ");
	add_seconds(out, s->commit_sum_ms);
	buf_printf(out, "\nyard_commit_seconds_count %" PRId64 "\n", sum);
}

/* A text between quotes. */
static void add_label(struct buf *out, const char *value)
{
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			buf_addc(out, '\\');
		if (*value == '\n')
			buf_adds(out, "\\n");
		else
			buf_addc(out, *value);
	}
}

static void add_resource(struct buf *out, const char *name, const char *node,
			 const char *resource, int64_t value)
{
	buf_printf(out, "yard_node_%s{node=\"", name);
	add_label(out, node);
	buf_adds(out, "\",resource=\"");
	add_label(out, resource);
	buf_printf(out, "\"} %" PRId64 "\n", value);
}

/* In parts too: a device may be shared. */
static void add_device(struct buf *out, const char *name, const char *node,
		       const char *type, int64_t milli)
{
	char text[UNITS_TEXT_MAX];

	buf_printf(out, "yard_node_%s{node=\"", name);
	add_label(out, node);
	buf_adds(out, "\",resource=\"");
	add_label(out, type);
	buf_printf(out, "\"} %s\n", units_show_cpu(milli, text));
}

static void add_node(struct buf *out, const char *name, const struct yard_node *n,
		     const struct resources *r)
{
	add_resource(out, name, n->node.name, "cpu_milli", r->cpu_milli);
	add_resource(out, name, n->node.name, "memory_bytes", r->memory_bytes);
	for (size_t i = 0; i < DEVICE_KINDS_MAX && n->node.capacity.devices[i].type[0];
	     i++) {
		const char *type = n->node.capacity.devices[i].type;
		add_device(out, name, n->node.name, type, resources_milli(r, type));
	}
}

static void add_nodes(struct buf *out, struct yard *y)
{
	size_t count = yard_nodes(y, NULL, 0);
	AUTO_FREE struct yard_node *nodes = mem_alloc(count + 1, sizeof *nodes);

	yard_nodes(y, nodes, count);
	head(out, "node_capacity", "gauge", "What a machine has.");
	for (size_t i = 0; i < count; i++)
		add_node(out, "capacity", &nodes[i], &nodes[i].node.capacity);
	head(out, "node_used", "gauge", "What is taken of it.");
	for (size_t i = 0; i < count; i++)
		add_node(out, "used", &nodes[i], &nodes[i].used);
	head(out, "node_tasks", "gauge", "Tasks that run there.");
	for (size_t i = 0; i < count; i++) {
		buf_adds(out, "yard_node_tasks{node=\"");
		add_label(out, nodes[i].node.name);
		buf_printf(out, "\"} %d\n", nodes[i].tasks);
	}
}

static void add_server(struct buf *out, const struct http_server *s)
{
	head(out, "http_requests_total", "counter",
	     "Requests answered, by class of status.");
	for (int i = 1; i < STATUS_CLASSES; i++)
		buf_printf(out, "yard_http_requests_total{status=\"%dxx\"} %" PRIu64 "\n",
			   i, s->answered[i]);
	one(out, "http_connections", "gauge", "Open connections.",
	    (int64_t)s->conn_count);
	one(out, "http_followers", "gauge",
	    "Requests that wait for a job or follow something.",
	    (int64_t)s->parked_count);
}

static int64_t resident_bytes(void)
{
	char text[128];
	long long size, resident;
	AUTO_FD int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	return sscanf(text, "%lld %lld", &size, &resident) == 2 // NOLINT: procfs is sane
		       ? resident * sysconf(_SC_PAGESIZE)
		       : 0;
}

static int64_t open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int64_t count = -3; /* ".", ".." and the folder itself */

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count > 0 ? count : 0;
}

static void add_process(struct buf *out)
{
	buf_printf(out,
		   "# HELP process_resident_memory_bytes Memory of the daemon.\n"
		   "# TYPE process_resident_memory_bytes gauge\n"
		   "process_resident_memory_bytes %" PRId64 "\n"
		   "# HELP process_open_fds Descriptors of the daemon.\n"
		   "# TYPE process_open_fds gauge\n"
		   "process_open_fds %" PRId64 "\n",
		   resident_bytes(), open_fds());
}

void handle_metrics(struct exchange *ex)
{
	struct buf *out = answer_scratch(ex);
	struct yard_stats s;

	yard_stats(ex->server->config.yard, &s);
	add_jobs(out, &s);
	add_estimates(out, ex->server->config.yard);
	add_commits(out, &s);
	add_nodes(out, ex->server->config.yard);
	add_server(out, ex->server);
	add_process(out);
	answer_text(ex, METRICS_TYPE, out);
}

// SPDX-License-Identifier: Apache-2.0
/* metrics_view.h - a job's metrics for people: pictures, or rows for a pipe.  Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/doc.h"

struct metric_line {
	const char *name, *run, *source;
	int64_t count, last_step;
	double last, min, max;
	double *steps, *times_ms, *values; /* all of `points` */
	size_t points;
};

/* Of an answer of the server's, which must outlive it. */
struct metric_page {
	struct metric_line *lines; /* those of one name together */
	size_t count;
	const struct doc_node *other, *problems; /* lists, or NULL */
};
void metric_page_read(struct metric_page *p, const struct doc_node *answer);
void metric_page_fini(struct metric_page *p);

struct metric_look {
	size_t width, rows; /* that there is room for; rows 0: any number */
	size_t height;      /* of a picture; 0: as fits */
	bool log, time, ascii, colours;
	size_t most; /* pictures; 0: all */
};
void metric_page_draw(const struct metric_page *p, const struct metric_look *look,
		      struct buf *out);
/* What else there is, and what is wrong: one line each. */
void metric_page_notes(const struct metric_page *p, size_t width, struct buf *out);
/* run, name, step, time_ms and value with tabs between. */
void metric_page_rows(const struct metric_page *p, struct buf *out);
/* "loss 0.25, accuracy 0.9 and 3 more" in a line. */
void metric_page_words(const struct metric_page *p, size_t most, struct buf *out);
/* What is no ASCII becomes '?'. */
void metric_ascii(struct buf *text);

// SPDX-License-Identifier: Apache-2.0
#include "world/log.h"

#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

static const char *const words[LOG_LEVEL_COUNT] = {
	[LEVEL_DEBUG] = "debug",
	[LEVEL_INFO] = "info",
	[LEVEL_WARN] = "warn",
	[LEVEL_ERROR] = "error",
};

static enum log_level threshold = LEVEL_INFO;

void world_log_level(enum log_level least)
{
	threshold = least;
}

const char *log_level_word(enum log_level level)
{
	return level < LOG_LEVEL_COUNT ? words[level] : "unknown";
}

int log_level_from_word(const char *word, enum log_level *out)
{
	for (enum log_level l = 0; l < LOG_LEVEL_COUNT; l++) {
		if (str_eq(word, words[l])) {
			*out = l;
			return 0;
		}
	}
	return -1;
}

static void add_time(struct buf *line, int64_t now_ms)
{
	time_t seconds = (time_t)(now_ms / 1000);
	struct tm tm;
	char text[32];

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
	buf_printf(line, "%s.%03dZ ", text, (int)(now_ms % 1000));
}

static void add_escaped(struct buf *line, const char *s)
{
	for (; *s; s++) {
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			buf_printf(line, "\\x%02x", (unsigned)(unsigned char)*s);
		else
			buf_addc(line, *s);
	}
}

void world_log(struct world *w, enum log_level level, const char *fmt, ...)
{
	AUTO_BUF struct buf message = { 0 };
	AUTO_BUF struct buf line = { 0 };
	ssize_t ignored;
	va_list ap;

	if (level < threshold)
		return;
	va_start(ap, fmt);
	buf_vprintf(&message, fmt, ap);
	va_end(ap);
	add_time(&line, world_now_ms(w));
	buf_printf(&line, "%s: ", words[level]);
	add_escaped(&line, buf_str(&message));
	buf_addc(&line, '\n');
	ignored = write(STDERR_FILENO, line.data, line.len);
	(void)ignored; /* nowhere left to complain */
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/bar.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "cli/width.h"

#define BAR_LEAST  8
#define BAR_MOST   40
#define IDLE_MS    3000 /* from here on it is told */
#define HOURS_MOST 99

void bar_count(int64_t n, struct buf *out)
{
	char digits[24];
	int len = snprintf(digits, sizeof digits, "%" PRId64, n < 0 ? 0 : n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf_addc(out, ',');
		buf_addc(out, digits[i]);
	}
}

void bar_files(int64_t n, struct buf *out)
{
	bar_count(n, out);
	buf_adds(out, n == 1 ? " file" : " files");
}

static int percent(const struct bar_view *v)
{
	/* Of many small files the number says more, and bytes may be none at all. */
	double by_bytes = v->bytes_all > 0 ? (double)v->bytes / (double)v->bytes_all : 1;
	double by_files = v->files_all > 0 ? (double)v->files / (double)v->files_all : 1;
	double least = v->bytes_all > 0 ? by_bytes : by_files;
	int n = (int)(least * 100);

	/* The last file may still be on its way to the disk when its last byte is sent. */
	if (n >= 100 && v->files < v->files_all)
		n = 99;
	return n < 0 ? 0 : n > 100 ? 100 : n;
}

/* "0:07 left", "3:04:05 left" */
static void add_left(const struct bar_view *v, struct buf *out)
{
	int64_t s = (v->left_ms + 999) / 1000;

	if (v->idle_ms >= IDLE_MS) {
		buf_printf(out, "  no answer for %" PRId64 " s", v->idle_ms / 1000);
		return;
	}
	if (v->left_ms < 0 || v->counting)
		return;
	if (s / 3600 > HOURS_MOST)
		buf_adds(out, "  days left");
	else if (s >= 3600)
		buf_printf(out, "  %" PRId64 ":%02d:%02d left", s / 3600,
			   (int)(s / 60 % 60), (int)(s % 60));
	else
		buf_printf(out, "  %d:%02d left", (int)(s / 60), (int)(s % 60));
}

enum detail { WITH_FILES = 1, WITH_BYTES = 2, WITH_RATE = 4, WITH_LEFT = 8 };

static void add_words(const struct bar_view *v, int details, struct buf *out)
{
	char done[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX];
	const char *more = v->counting ? "+" : "";

	buf_printf(out, "%3d%%", percent(v));
	if (details & WITH_FILES) {
		buf_adds(out, "  ");
		bar_count(v->files, out);
		buf_addc(out, '/');
		bar_count(v->files_all, out);
		buf_printf(out, "%s files", more);
	}
	if (details & WITH_BYTES)
		buf_printf(out, "  %s/%s%s", units_show_bytes(v->bytes, done),
			   units_show_bytes(v->bytes_all, all), more);
	if (details & WITH_RATE)
		buf_printf(out, "  %s/s", units_show_bytes(v->rate, done));
	if (details & WITH_LEFT)
		add_left(v, out);
}

static void add_bar(const struct bar_view *v, size_t cells, struct buf *out)
{
	size_t filled = cells * (size_t)percent(v) / 100;

	buf_addc(out, '[');
	for (size_t i = 0; i < cells; i++)
		buf_addc(out, i < filled ? '#' : ' ');
	buf_addc(out, ']');
}

void bar_words(const struct bar_view *v, size_t cells, struct buf *out)
{
	static const int levels[] = {
		WITH_FILES | WITH_BYTES | WITH_RATE | WITH_LEFT,
		WITH_FILES | WITH_RATE | WITH_LEFT,
		WITH_RATE | WITH_LEFT,
		WITH_LEFT,
		0,
	};

	/* The most words that leave room for a bar; on a line without any, just words. */
	for (int bar = 1; bar >= 0; bar--)
		for (size_t i = 0; i < COUNT_OF(levels); i++) {
			AUTO_BUF struct buf words = { 0 };
			add_words(v, levels[i], &words);
			size_t room = cells > words.len + 2 ? cells - words.len - 2 : 0;
			if (bar ? room < BAR_LEAST : words.len > cells)
				continue;
			if (bar)
				add_bar(v, room < BAR_MOST ? room : BAR_MOST, out);
			buf_add(out, words.data, words.len);
			return;
		}
}

static const struct pace_sample *newest(const struct pace *p)
{
	return &p->samples[(p->next + PACE_SAMPLES - 1) % PACE_SAMPLES];
}

static const struct pace_sample *oldest(const struct pace *p)
{
	return &p->samples[(p->next + PACE_SAMPLES - p->count) % PACE_SAMPLES];
}

void pace_add(struct pace *p, int64_t now_ms, int64_t bytes, int64_t files)
{
	const struct pace_sample *last = p->count ? newest(p) : NULL;

	if (!last || last->bytes != bytes || last->files != files)
		p->moved_ms = now_ms;
	if (last && now_ms - last->ms < PACE_STEP_MS)
		return;
	p->samples[p->next] = (struct pace_sample){ now_ms, bytes, files };
	p->next = (p->next + 1) % PACE_SAMPLES;
	if (p->count < PACE_SAMPLES)
		p->count++;
}

/* How long so much takes at that pace; -1: it does not move. */
static int64_t takes_ms(int64_t left, int64_t moved, int64_t ms)
{
	if (left <= 0)
		return 0;
	return moved > 0 ? (int64_t)((double)left * (double)ms / (double)moved) : -1;
}

void pace_tell(const struct pace *p, int64_t now_ms, struct bar_view *v)
{
	v->rate = 0;
	v->left_ms = -1;
	v->idle_ms = p->count ? now_ms - p->moved_ms : 0;
	if (!p->count)
		return;
	const struct pace_sample *from = oldest(p);
	int64_t ms = now_ms - from->ms;
	if (ms <= 0)
		return;
	int64_t bytes = v->bytes - from->bytes, files = v->files - from->files;
	v->rate = (int64_t)((double)bytes * 1000 / (double)ms);
	/* Large files are done by their bytes, small ones one by one: the slower decides. */
	int64_t by_bytes = takes_ms(v->bytes_all - v->bytes, bytes, ms);
	int64_t by_files = takes_ms(v->files_all - v->files, files, ms);
	if (files <= 0) /* none was whole in this time: they are large */
		by_files = 0;
	v->left_ms = by_bytes < 0 ? -1 : by_bytes > by_files ? by_bytes : by_files;
}

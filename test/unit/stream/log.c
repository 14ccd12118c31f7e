// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <time.h>

#include "base/buf.h"
#include "stream/stream.h"
#include "tap.h"
#include "writer.h"

/* Everything from here on, as one text; -1 on an error. */
static int drain(struct log_reader *r, struct buf *out, struct err *err)
{
	struct logframe f;
	const char *data;
	int got;

	while ((got = log_reader_next(r, &f, &data, err)) > 0)
		buf_add(out, data, f.len);
	return got;
}

static void basics(void)
{
	struct writer w;
	struct err err;
	AUTO_BUF struct buf all = { 0 };
	struct logframe f;
	const char *data;

	writer_open(&w);
	struct log_reader *r = log_reader_open("/nowhere/at/all", 0, &err);
	IS_INT(log_reader_next(r, &f, &data, &err), 0,
	       "a folder that is not there is an empty log");
	log_reader_close(r);

	r = log_reader_open(w.folder, 0, &err);
	IS_INT(log_reader_next(r, &f, &data, &err), 0,
	       "a folder without a log is an empty log");
	writer_line(&w, "one\n");
	IS_INT(log_reader_next(r, &f, &data, &err), 1, "what is written later is found");
	OK(f.stream == LOG_STDOUT && f.len == 4 && f.time_us == 1,
	   "with stream, length and time");
	uint64_t after_one = log_reader_offset(r);
	IS_INT((long long)after_one, 20, "the offset counts headers too");
	writer_add(&w, LOG_STDERR, "two\n", 4);
	writer_add(&w, LOG_NOTE, "", 0);
	writer_rotate(&w);
	writer_line(&w, "three\n");
	IS_INT(drain(r, &all, &err), 0, "the reader goes on over segments");
	IS(buf_str(&all), "two\nthree\n", "and gives every byte in order");
	IS_INT((long long)log_reader_offset(r), (long long)w.offset, "up to the end");
	log_reader_close(r);

	buf_clear(&all);
	r = log_reader_open(w.folder, after_one, &err);
	drain(r, &all, &err);
	IS(buf_str(&all), "two\nthree\n",
	   "a reader goes on exactly where another broke off");
	log_reader_close(r);

	r = log_reader_open(w.folder, w.offset - 9, &err);
	IS_INT(log_reader_next(r, &f, &data, &err), 0,
	       "an offset too near the end is no record yet");
	writer_line(&w, "four\n");
	IS_INT(log_reader_next(r, &f, &data, &err), -1,
	       "an offset inside a record is refused");
	OK(err.code == ERR_CORRUPT && strstr(err.text, "offset"), "in words: %s",
	   err.text);
	log_reader_close(r);
	writer_close(&w);
}

static void torn(void)
{
	struct writer w;
	struct err err;
	AUTO_BUF struct buf all = { 0 };
	uint8_t record[LOGFRAME_BYTES + 8];
	struct logframe f = { .stream = LOG_STDOUT, .len = 8, .time_us = 5 };
	bool early = false;

	writer_open(&w);
	writer_line(&w, "whole\n");
	logframe_write(&f, record);
	memcpy(record + LOGFRAME_BYTES, "sliced!\n", 8);
	struct log_reader *r = log_reader_open(w.folder, 0, &err);
	drain(r, &all, &err);
	for (size_t i = 0; i < sizeof record; i++) {
		writer_raw(&w, record + i, 1);
		if (i + 1 < sizeof record)
			early |= drain(r, &all, &err) != 0 || all.len != 6;
	}
	OK(!early, "a record is not given before its last byte is there");
	drain(r, &all, &err);
	IS(buf_str(&all), "whole\nsliced!\n", "and whole once it is");
	w.offset += sizeof record;

	writer_raw(&w, record, 11);
	IS_INT(drain(r, &all, &err), 0, "a torn last record is ignored");
	uint64_t end = log_reader_offset(r);
	IS_INT((long long)end, (long long)w.offset, "and the offset stays before it");
	w.offset += 11;
	writer_rotate(&w);
	writer_line(&w, "next\n");
	IS_INT(drain(r, &all, &err), 0,
	       "a torn record with a later segment behind it is passed over");
	IS(buf_str(&all), "whole\nsliced!\nnext\n", "nothing else is lost");
	IS_INT((long long)log_reader_skipped(r), 11, "and counted as skipped");
	log_reader_close(r);
	writer_close(&w);

	writer_open(&w);
	writer_line(&w, "before\n");
	writer_raw(&w, (char[4096]){ 0 }, 4096);
	buf_clear(&all);
	r = log_reader_open(w.folder, 0, &err);
	IS_INT(drain(r, &all, &err), 0,
	       "zeros that a power cut left at the end are no record");
	IS(buf_str(&all), "before\n", "and what is before them is read");
	log_reader_close(r);
	writer_close(&w);
}

static void rotation(void)
{
	struct writer w;
	struct err err;
	AUTO_BUF struct buf all = { 0 };
	struct logframe f;
	const char *data;
	uint64_t starts[5];

	writer_open(&w);
	for (int i = 0; i < 5; i++) {
		char line[8] = { (char)('a' + i), '1', '\n' };

		writer_rotate(&w);
		starts[i] = w.start;
		writer_line(&w, line);
		line[1] = '2';
		writer_line(&w, line);
	}
	struct log_reader *r = log_reader_open(w.folder, 0, &err);
	log_reader_next(r, &f, &data, &err);
	for (int i = 0; i < 3; i++)
		writer_remove(&w, starts[i]);
	IS_INT(drain(r, &all, &err), 0,
	       "segments removed under the reader's feet are no error");
	IS(buf_str(&all), "a2\nd1\nd2\ne1\ne2\n",
	   "the one it reads is read to its end, then it goes on with what is left");
	IS_INT((long long)log_reader_skipped(r), (long long)(starts[3] - starts[1]),
	       "what was removed before it was read is counted");
	log_reader_close(r);

	buf_clear(&all);
	r = log_reader_open(w.folder, 0, &err);
	drain(r, &all, &err);
	IS(buf_str(&all), "d1\nd2\ne1\ne2\n",
	   "a late reader begins with the oldest that is left");
	IS_INT((long long)log_reader_skipped(r), (long long)starts[3],
	       "and says what it missed");
	log_reader_close(r);
	writer_close(&w);
}

static void tail_is(const struct writer *w, int64_t lines, const char *want)
{
	AUTO_BUF struct buf all = { 0 };
	struct err err;
	struct log_reader *r = log_reader_open_tail(w->folder, lines, &err);

	drain(r, &all, &err);
	IS(buf_str(&all), want, "the last %lld lines", (long long)lines);
	log_reader_close(r);
}

static void tails(void)
{
	struct writer w;
	struct err err;
	uint64_t offset;

	writer_open(&w);
	tail_is(&w, 3, "");
	writer_line(&w, "1\n2\n3\n");
	writer_line(&w, "4\n");
	writer_rotate(&w);
	writer_line(&w, "5");
	writer_line(&w, "5\n6");
	writer_add(&w, LOG_NOTE, "", 0);
	tail_is(&w, 0, "");
	tail_is(&w, 1, "6");
	tail_is(&w, 2, "55\n6");
	tail_is(&w, 3, "4\n55\n6");
	tail_is(&w, 4, "3\n4\n55\n6");
	tail_is(&w, 6, "1\n2\n3\n4\n55\n6");
	tail_is(&w, 100, "1\n2\n3\n4\n55\n6");
	tail_is(&w, -1, "1\n2\n3\n4\n55\n6");
	writer_line(&w, "\n");
	tail_is(&w, 1, "6\n");
	IS_INT(log_tail_offset(w.folder, 3, &offset, &err), 0, "the offset alone");
	IS_INT((long long)offset, 22, "is that of a record");
	writer_raw(&w, "\xa7\x01\0\0\x05\0\0\0", 8);
	tail_is(&w, 2, "55\n6\n");
	writer_close(&w);
}

/* The tail must be what counting from the front gives, wherever blocks and segments end. */
static void tail_law(void)
{
	struct writer w;
	AUTO_BUF struct buf text = { 0 };
	unsigned seed = 7;
	int bad = 0;

	writer_open(&w);
	for (int i = 0; i < 400; i++) {
		uint32_t len = (seed = seed * 1103515245u + 12345u) >> 18;
		char *data = malloc(len + 1);

		for (uint32_t k = 0; k < len; k++)
			data[k] = (seed = seed * 1103515245u + 12345u) >> 16 & 0x3f
					  ? 'x'
					  : '\n';
		writer_add(&w, LOG_STDOUT, data, len);
		buf_add(&text, data, len);
		free(data);
		if (i % 150 == 149)
			writer_rotate(&w);
	}
	for (int64_t lines = 1; lines < 60000; lines = lines * 3 + 1) {
		struct err err;
		AUTO_BUF struct buf got = { 0 };
		struct log_reader *r = log_reader_open_tail(w.folder, lines, &err);
		size_t at = text.len - 1;

		drain(r, &got, &err);
		log_reader_close(r);
		for (int64_t n = lines; at > 0; at--)
			if (text.data[at - 1] == '\n' && --n == 0)
				break;
		bad += got.len != text.len - at ||
		       memcmp(got.data, text.data + at, got.len) != 0;
	}
	IS_INT(bad, 0, "the tail of %zu bytes is what counting from the front gives",
	       text.len);
	writer_close(&w);
}

/* A child writes, rotates and removes as fast as it can; we read meanwhile. */
static void race(void)
{
	struct writer w;
	struct err err;
	struct logframe f;
	const char *data;
	uint64_t expect = 0, given = 0, wrong = 0;
	int status, got;

	writer_open(&w);
	pid_t pid = fork();
	if (pid == 0) {
		uint64_t starts[4] = { 0 };

		for (uint64_t i = 0; i < 60000; i++) {
			if (i % 500 == 0) {
				if (w.fd >= 0 && i >= 2000)
					writer_remove(&w, starts[(i / 500) % 4]);
				writer_rotate(&w);
				starts[(i / 500) % 4] = w.start;
			}
			writer_add(&w, LOG_STDOUT, &w.offset, sizeof w.offset);
		}
		_exit(0);
	}
	struct log_reader *r = log_reader_open(w.folder, 0, &err);
	for (bool done = false;;) {
		while ((got = log_reader_next(r, &f, &data, &err)) > 0) {
			memcpy(&expect, data, sizeof expect);
			wrong += expect != log_reader_offset(r) - 24;
			given += 24;
		}
		if (got < 0 || done)
			break;
		done = waitpid(pid, &status, WNOHANG) == pid;
	}
	OK(got == 0, "reading while a writer rotates and removes is no error: %s",
	   got ? err.text : "");
	IS_INT((long long)wrong, 0, "every record is the one its offset says");
	IS_INT((long long)(given + log_reader_skipped(r)), 60000 * 24,
	       "given and skipped make up the whole");
	printf("# %llu of %d bytes skipped\n", (unsigned long long)log_reader_skipped(r),
	       60000 * 24);
	log_reader_close(r);
	writer_close(&w);
}

/* Whatever the disk holds: no crash, no endless loop, offsets only go forward. */
static void garbage(void)
{
	unsigned seed = 11;
	int backwards = 0, endless = 0;

	for (int round = 0; round < 300; round++) {
		struct writer w;
		struct err err;
		struct logframe f;
		const char *data;
		uint64_t last = 0, offset;
		int records = 0;

		writer_open(&w);
		for (int i = 0; i < 40; i++) {
			unsigned roll = (seed = seed * 1103515245u + 12345u) >> 16;

			if (roll % 7 == 0)
				writer_rotate(&w);
			if (roll % 5 == 0) {
				writer_raw(&w, &seed, sizeof seed);
				w.offset += sizeof seed;
			} else {
				writer_add(&w, LOG_STDERR, "some words\n", roll % 12);
			}
		}
		struct log_reader *r = log_reader_open(w.folder, seed % 64, &err);
		while (log_reader_next(r, &f, &data, &err) > 0 && records++ < 1000) {
			backwards += log_reader_offset(r) <= last;
			last = log_reader_offset(r);
		}
		endless += records >= 1000;
		log_reader_close(r);
		log_tail_offset(w.folder, 5, &offset, &err);
		writer_close(&w);
	}
	IS_INT(backwards, 0, "offsets go forward whatever the disk holds");
	IS_INT(endless, 0, "and reading comes to an end");

	struct writer w;
	struct err err;
	struct logframe f;
	const char *data;
	char path[PATH_MAX];

	writer_open(&w);
	writer_path(&w, 0, path);
	OK(symlink("/no/such/file", path) == 0,
	   "a segment that is there and cannot be opened");
	struct log_reader *r = log_reader_open(w.folder, 5, &err);
	IS_INT(log_reader_next(r, &f, &data, &err), 0,
	       "does not hold the reader for ever");
	log_reader_close(r);
	writer_close(&w);
}

static void speed(void)
{
	static char data[8 << 10];
	struct writer w;
	struct err err;
	struct logframe f;
	const char *p;
	struct timespec a, b;
	uint64_t bytes = 0, sum = 0;

	writer_open(&w);
	memset(data, 'x', sizeof data);
	data[99] = '\n';
	for (int i = 0; i < 16384; i++) /* 128 MiB */
		writer_add(&w, LOG_STDOUT, data, sizeof data);
	struct log_reader *r = log_reader_open(w.folder, 0, &err);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	while (log_reader_next(r, &f, &p, &err) > 0) {
		bytes += f.len;
		sum += (uint8_t)p[f.len - 1];
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	double s = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
	OK(bytes == 16384 * sizeof data && sum == 16384 * (uint64_t)'x',
	   "128 MiB are read whole");
	printf("# %.2f GB a second of CPU time, cached file, 8 KiB records\n",
	       (double)bytes / s / 1e9);
	log_reader_close(r);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	log_tail_offset(w.folder, 10, &bytes, &err);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	printf("# tail of a 128 MiB segment: %.1f ms of CPU time\n",
	       (double)(b.tv_sec - a.tv_sec) * 1e3 +
		       (double)(b.tv_nsec - a.tv_nsec) / 1e6);
	writer_close(&w);
}

/* The writer's records bear the time of their offset, plus one. */
static void since(void)
{
	struct writer w;
	uint64_t starts[8], offset;
	struct err err;
	int wrong = 0;

	writer_open(&w);
	OK(log_since_offset(w.folder, 5, &offset, &err) == 0 && offset == 0,
	   "where there is no log yet, it begins");
	for (int i = 0; i < 8; i++) {
		starts[i] = w.offset;
		for (int k = 0; k < 5; k++)
			writer_line(&w, "a line\n");
		if (i < 7)
			writer_rotate(&w);
	}
	for (int64_t at = 0; at < (int64_t)w.offset + 10; at++) {
		uint64_t want = 0;

		for (int i = 0; i < 8; i++)
			if ((int64_t)starts[i] + 1 < at)
				want = starts[i];
		wrong += log_since_offset(w.folder, at, &offset, &err) < 0 ||
			 offset != want;
	}
	IS_INT(wrong, 0,
	       "of every moment the last segment that begins before it is found");
	writer_close(&w);
}

int main(void)
{
	basics();
	torn();
	rotation();
	tails();
	tail_law();
	race();
	garbage();
	since();
	speed();
	return END();
}

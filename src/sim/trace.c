// SPDX-License-Identifier: Apache-2.0
#include "sim/trace.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/sim.h"

/* Names repeat a thousand times in a trace: each is kept once, found by its hash. */
struct word {
	struct word *next;
	char text[];
};

struct sim_words {
	struct word **slots; /* a power of two of them */
	size_t slot_count, count;
};

static size_t slot_of(const struct sim_words *w, const char *text)
{
	uint64_t h = 1469598103934665603u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 1099511628211u;
	return (size_t)(h ^ h >> 32) & (w->slot_count - 1);
}

static void widen(struct sim_words *w)
{
	struct word **old = w->slots;
	size_t count = w->slot_count;

	w->slot_count = count ? count * 2 : 64;
	w->slots = mem_alloc(w->slot_count, sizeof *w->slots);
	for (size_t i = 0; i < count; i++)
		for (struct word *x = old[i], *next; x; x = next) {
			struct word **slot = &w->slots[slot_of(w, x->text)];
			next = x->next;
			x->next = *slot;
			*slot = x;
		}
	free(old);
}

const char *sim_word(struct sim_trace *t, const char *word)
{
	struct sim_words *w = t->words;
	struct word **slot, *x;
	size_t size;

	if (!word || !word[0])
		return NULL;
	if (!w)
		w = t->words = mem_alloc(1, sizeof *w);
	if (w->count >= w->slot_count)
		widen(w);
	slot = &w->slots[slot_of(w, word)];
	for (x = *slot; x; x = x->next)
		if (str_eq(x->text, word))
			return x->text;
	size = strlen(word) + 1;
	x = mem_alloc(1, sizeof *x + size);
	memcpy(x->text, word, size);
	x->next = *slot;
	*slot = x;
	w->count++;
	return x->text;
}

static void words_destroy(struct sim_words *w)
{
	for (size_t i = 0; w && i < w->slot_count; i++)
		for (struct word *x = w->slots[i], *next; x; x = next) {
			next = x->next;
			free(x);
		}
	if (w)
		free(w->slots);
	free(w);
}

struct sim_job *sim_trace_add(struct sim_trace *t)
{
	mem_grow(&t->jobs, &t->cap, t->count, sizeof *t->jobs);
	memset(&t->jobs[t->count], 0, sizeof *t->jobs);
	t->jobs[t->count].row = (int64_t)t->count;
	return &t->jobs[t->count++];
}

static int by_submit(const void *a, const void *b)
{
	const struct sim_job *x = a, *y = b;

	if (x->submit_ms != y->submit_ms)
		return x->submit_ms < y->submit_ms ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

void sim_trace_sort(struct sim_trace *t)
{
	if (t->count)
		qsort(t->jobs, t->count, sizeof *t->jobs, by_submit);
}

void sim_trace_fini(struct sim_trace *t)
{
	if (t->reader && t->reader->drop && t->extra)
		t->reader->drop(t->extra);
	words_destroy(t->words);
	free(t->jobs);
	*t = (struct sim_trace){ 0 };
}

static const struct sim_reader *reader_of(const char *name, const char *text, size_t len)
{
	for (size_t i = 0; sim_readers[i]; i++)
		if (name ? str_eq(sim_readers[i]->name, name)
			 : sim_readers[i]->sniff(text, len))
			return sim_readers[i];
	return NULL;
}

int sim_trace_read(const char *reader, const char *text, size_t len,
		   struct sim_trace *out, struct err *err)
{
	struct sim_trace t = { .reader = reader_of(reader, text, len) };

	if (!t.reader && reader)
		return err_set(
			err, ERR_INVALID,
			"there is no reader '%s'; there are csv, philly, swf, muri "
			"and openb",
			reader);
	if (!t.reader && !len)
		return err_set(err, ERR_INVALID, "the file is empty");
	if (!t.reader)
		return err_set(err, ERR_INVALID,
			       "line 1: no reader knows these columns; a generic trace "
			       "begins with a line such as id,submit,duration,gpus");
	if (t.reader->read(text, len, &t, err) < 0) {
		sim_trace_fini(&t);
		return -1;
	}
	*out = t;
	return 0;
}

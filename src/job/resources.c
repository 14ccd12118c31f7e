// SPDX-License-Identifier: Apache-2.0
#include "job/resources.h"

#include <string.h>

static struct device_count *find(struct resources *r, const char *type)
{
	for (int i = 0; i < DEVICE_KINDS_MAX && r->devices[i].type[0]; i++)
		if (strcmp(r->devices[i].type, type) == 0)
			return &r->devices[i];
	return NULL;
}

/* Whether a list of models, a|b|c, names one. */
static bool names(const char *models, const char *model, size_t len)
{

	for (const char *at = models; *at; at += *at == '|') {
		size_t word = strcspn(at, "|");
		if (word == len && memcmp(at, model, len) == 0)
			return true;
		at += word;
	}
	return false;
}

bool device_matches(const char *asked, const char *has)
{
	size_t type = strcspn(asked, ":");

	if (strcspn(has, ":") != type || memcmp(asked, has, type) != 0)
		return false;
	if (!asked[type])
		return true;
	return has[type] &&
	       names(asked + type + 1, has + type + 1, strlen(has + type + 1));
}

bool device_within(const char *asked, const char *type)
{
	size_t base = strcspn(asked, ":");

	if (strcspn(type, ":") != base || memcmp(asked, type, base) != 0)
		return false;
	if (!type[base])
		return true;
	for (const char *at = asked + base; *at; at += strcspn(at, "|")) {
		at++; /* the colon or the bar */
		if (!names(type + base + 1, at, strcspn(at, "|")))
			return false;
	}
	return asked[base] == ':';
}

/* Kinds stay in the order they came; the last free places stay at the end. */
static void remove_kind(struct resources *r, struct device_count *d)
{
	struct device_count *last = &r->devices[DEVICE_KINDS_MAX - 1];

	memmove(d, d + 1, (size_t)(last - d) * sizeof *d);
	*last = (struct device_count){ 0 };
}

int resources_device(const struct resources *r, const char *type)
{
	for (int i = 0; i < DEVICE_KINDS_MAX && r->devices[i].type[0]; i++)
		if (strcmp(r->devices[i].type, type) == 0)
			return r->devices[i].count;
	return 0;
}

bool resources_set_device(struct resources *r, const char *type, int count)
{
	struct device_count *d = find(r, type);
	size_t len = strlen(type);

	if (len == 0 || len >= DEVICE_TYPE_MAX)
		return false;
	if (count == 0) {
		if (d)
			remove_kind(r, d);
		return true;
	}
	for (int i = 0; !d && i < DEVICE_KINDS_MAX; i++)
		if (!r->devices[i].type[0])
			d = &r->devices[i];
	if (!d)
		return false;
	memcpy(d->type, type, len + 1);
	d->count = count;
	return true;
}

bool resources_fit(const struct resources *want, const struct resources *have)
{
	if (want->cpu_milli > have->cpu_milli || want->memory_bytes > have->memory_bytes)
		return false;
	for (int i = 0; i < DEVICE_KINDS_MAX && want->devices[i].type[0]; i++)
		if (want->devices[i].count >
		    resources_device(have, want->devices[i].type))
			return false;
	return true;
}

/* Sums stop at the bounds of their type instead of turning around. */
static int64_t plus(int64_t a, int64_t b)
{
	int64_t v;

	return __builtin_add_overflow(a, b, &v) ? (b > 0 ? INT64_MAX : INT64_MIN) : v;
}

static int64_t multiply(int64_t a, int64_t b)
{
	int64_t v;

	return __builtin_mul_overflow(a, b, &v)
		       ? ((a > 0) == (b > 0) ? INT64_MAX : INT64_MIN)
		       : v;
}

static int as_int(int64_t v)
{
	return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int)v;
}

static void add_times(struct resources *r, const struct resources *more, int64_t times)
{
	r->cpu_milli = plus(r->cpu_milli, multiply(more->cpu_milli, times));
	r->memory_bytes = plus(r->memory_bytes, multiply(more->memory_bytes, times));
	for (int i = 0; i < DEVICE_KINDS_MAX && more->devices[i].type[0]; i++) {
		const struct device_count *d = &more->devices[i];
		int64_t now = resources_device(r, d->type);
		resources_set_device(r, d->type,
				     as_int(plus(now, multiply(d->count, times))));
	}
}

void resources_add(struct resources *r, const struct resources *more)
{
	add_times(r, more, 1);
}

void resources_sub(struct resources *r, const struct resources *less)
{
	/* Not in place: subtracting a thing from itself removes kinds while they are read. */
	struct resources copy = *less;

	add_times(r, &copy, -1);
}

void resources_scale(struct resources *r, int64_t times)
{
	struct resources one = *r;

	*r = (struct resources){ 0 };
	add_times(r, &one, times);
}

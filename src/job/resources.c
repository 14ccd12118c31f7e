// SPDX-License-Identifier: Apache-2.0
#include "job/resources.h"

#include <string.h>

#include "base/units.h"

static const struct device_count *find_const(const struct resources *r, const char *type)
{
	for (int i = 0; i < DEVICE_KINDS_MAX && r->devices[i].type[0]; i++)
		if (strcmp(r->devices[i].type, type) == 0)
			return &r->devices[i];
	return NULL;
}

static struct device_count *find(struct resources *r, const char *type)
{
	return (struct device_count *)(uintptr_t)find_const(r, type);
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

static int as_int(int64_t v)
{
	return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int)v;
}

/* Kinds stay in the order they came; the last free places stay at the end. */
static void remove_kind(struct resources *r, struct device_count *d)
{
	struct device_count *last = &r->devices[DEVICE_KINDS_MAX - 1];

	memmove(d, d + 1, (size_t)(last - d) * sizeof *d);
	*last = (struct device_count){ 0 };
}

int64_t device_milli(const struct device_count *d)
{
	return (int64_t)d->count * (d->share_milli ? d->share_milli : DEVICE_SHARE);
}

void device_set_milli(struct device_count *d, int64_t milli)
{
	bool whole = milli % DEVICE_SHARE == 0, one = milli > 0 && milli < DEVICE_SHARE;

	d->count = as_int(whole ? milli / DEVICE_SHARE : one ? 1 : milli);
	d->share_milli = whole ? 0 : one ? (int)milli : 1;
}

int device_amount(const char *text, int64_t most, struct device_count *out)
{
	int64_t milli;

	/* "500m" is for cores; and what is no whole part would be rounded down to less. */
	if (strchr(text, 'm') || units_cpu(text, &milli) < 0)
		return -1;
	for (const char *dot = strchr(text, '.'); dot && *dot; dot++)
		if (dot - strchr(text, '.') > 3 && *dot != '0')
			return -1;
	if (milli == 0 && strspn(text, "0.") != strlen(text))
		return -1;
	if (milli > DEVICE_SHARE && (milli % DEVICE_SHARE || milli / DEVICE_SHARE > most))
		return -1;
	device_set_milli(out, milli);
	return 0;
}

int resources_device(const struct resources *r, const char *type)
{
	const struct device_count *d = find_const(r, type);

	return d ? d->count : 0;
}

int64_t resources_milli(const struct resources *r, const char *type)
{
	const struct device_count *d = find_const(r, type);

	return d ? device_milli(d) : 0;
}

bool resources_set_device(struct resources *r, const char *type, int count)
{
	return resources_set_share(r, type, count, 0);
}

bool resources_set_share(struct resources *r, const char *type, int count,
			 int share_milli)
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
	d->share_milli = share_milli;
	return true;
}

bool resources_fit(const struct resources *want, const struct resources *have)
{
	if (want->cpu_milli > have->cpu_milli || want->memory_bytes > have->memory_bytes)
		return false;
	for (int i = 0; i < DEVICE_KINDS_MAX && want->devices[i].type[0]; i++)
		if (device_milli(&want->devices[i]) >
		    resources_milli(have, want->devices[i].type))
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

/* Parts of one size stay so many of them; of different sizes they become thousandths,
 * or whole ones where that is what they are. */
static void add_device(struct resources *r, const struct device_count *d, int64_t times)
{
	const struct device_count *now = find_const(r, d->type);
	struct device_count sum = { 0 };

	if (!now || now->share_milli == d->share_milli) {
		resources_set_share(
			r, d->type,
			as_int(plus(now ? now->count : 0, multiply(d->count, times))),
			d->share_milli);
		return;
	}
	device_set_milli(&sum, plus(device_milli(now), multiply(device_milli(d), times)));
	resources_set_share(r, d->type, sum.count, sum.share_milli);
}

static void add_times(struct resources *r, const struct resources *more, int64_t times)
{
	r->cpu_milli = plus(r->cpu_milli, multiply(more->cpu_milli, times));
	r->memory_bytes = plus(r->memory_bytes, multiply(more->memory_bytes, times));
	for (int i = 0; i < DEVICE_KINDS_MAX && more->devices[i].type[0]; i++)
		add_device(r, &more->devices[i], times);
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

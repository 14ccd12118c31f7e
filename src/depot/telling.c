// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/units.h"
#include "depot/bring.h"
#include "depot/files.h"

#define EVERY_MS 2000  /* and by then a hundredth more, */
#define AGAIN_MS 30000 /* or after that long anyhow: each is an event, and kept */

void telling_init(struct telling *t, struct depot_files *d, const struct bring_order *o)
{
	*t = (struct telling){ .depot = d,
			       .job = o->job,
			       .attempt = o->attempt,
			       .what = mem_strdup(o->what),
			       .began_ms = world_mono_ms(d->world) };
	t->told_ms = t->began_ms;
}

void telling_fini(struct telling *t)
{
	free(t->what);
	t->what = NULL;
}

void telling_say(struct telling *t, const char *fmt, ...)
{
	const struct depot_outside *o = &t->depot->base.outside;
	AUTO_BUF struct buf b = { 0 };
	va_list ap;

	buf_printf(&b, "%s: ", t->what);
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	t->told_ms = world_mono_ms(t->depot->world);
	if (o->progress)
		o->progress(o->arg, t->job, t->attempt, b.data);
}

void telling_at(struct telling *t, int64_t bytes, int64_t total)
{
	char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
	int64_t ago = world_mono_ms(t->depot->world) - t->told_ms;

	if (ago < EVERY_MS ||
	    (ago < AGAIN_MS && total > 0 && bytes - t->told_bytes < total / 100))
		return;
	t->told_bytes = bytes;
	if (total > 0)
		telling_say(t, "%s of %s", units_show_bytes(bytes, a),
			    units_show_bytes(total, b));
	else
		telling_say(t, "%s", units_show_bytes(bytes, a));
}

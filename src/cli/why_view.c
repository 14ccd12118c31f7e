// SPDX-License-Identifier: Apache-2.0
#include "cli/why_view.h"

#include <inttypes.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/plain.h"
#include "cli/table.h"
#include "cli/width.h"

#define LABEL_CELLS 8
#define MINUTE      INT64_C(60000)
#define HOUR        (60 * MINUTE)
#define DAY         (24 * HOUR)
#define OFFER_CELLS 44 /* of an offer's words, before its flags */

void why_clock(int64_t ms, int64_t now_ms, struct buf *out)
{
	/* Rounded as one says it: to the minute. */
	time_t at = (time_t)((ms + MINUTE / 2) / 1000), now = (time_t)(now_ms / 1000);
	struct tm then, today;
	char text[64] = "";

	if (!localtime_r(&at, &then) || !localtime_r(&now, &today))
		return;
	if (then.tm_year == today.tm_year && then.tm_yday == today.tm_yday)
		strftime(text, sizeof text, "%H:%M", &then);
	else if (ms - now_ms < 6 * DAY && ms >= now_ms)
		strftime(text, sizeof text, "%a %H:%M", &then);
	else
		strftime(text, sizeof text, "%d %b %H:%M", &then);
	buf_adds(out, text);
}

void why_until(int64_t ms, int64_t now_ms, struct buf *out)
{
	int64_t left = ms - now_ms;

	if (left < 2000)
		buf_adds(out, "any moment");
	else if (left < 100000)
		buf_printf(out, "in %" PRId64 " s", (left + 500) / 1000);
	else if (left < 100 * MINUTE)
		buf_printf(out, "in %" PRId64 " min", (left + MINUTE / 2) / MINUTE);
	else if (left < 48 * HOUR)
		buf_printf(out, "in %" PRId64 " h", (left + HOUR / 2) / HOUR);
	else
		buf_printf(out, "in %" PRId64 " days", (left + DAY / 2) / DAY);
}

/* A line with its label; an empty label goes on with the one before. */
static void put(const struct why_page *page, const char *label, const char *text,
		struct buf *out)
{
	AUTO_FREE char *plain = mem_strdup(text);

	plain_text(plain, "");
	if (page->colours && *label)
		buf_printf(out, "%s%-*s%s", table_colour_code(TABLE_DIM), LABEL_CELLS,
			   label, TABLE_COLOUR_END);
	else
		buf_printf(out, "%-*s", LABEL_CELLS, label);
	width_wrap(out, plain, LABEL_CELLS, page->width);
	buf_addc(out, '\n');
}

static void put_head(const struct doc_node *map, const struct why_page *page,
		     struct buf *out)
{
	int64_t position = doc_i64(map, "position", 0);
	bool dry = doc_bool(map, "dry_run", false),
	     starts = str_eq(doc_str(map, "kind", ""), "starts");

	buf_adds(out, page->colours ? table_colour_code(TABLE_BOLD) : "");
	if (!dry)
		buf_printf(out, "job %" PRId64 " ", doc_i64(map, "id", 0));
	else
		buf_adds(out, "it ");
	if (starts)
		buf_adds(out, dry ? "would start at once" : "starts now");
	else
		buf_printf(out, "%s: number %" PRId64 " of %" PRId64 " in the queue",
			   dry ? "would wait" : "waits", position,
			   doc_i64(map, "waiting", position));
	buf_printf(out, "%s\n", page->colours ? TABLE_COLOUR_END : "");
}

/* The one group of all of them; NULL: they are of several. */
static const char *common_group(const struct doc_node *list)
{
	const char *group = NULL;

	for (const struct doc_node *n = list->first; n; n = n->next) {
		const char *theirs = doc_str(n, "group", "");
		if (group && !str_eq(group, theirs))
			return NULL;
		group = theirs;
	}
	return group && *group ? group : NULL;
}

static void put_ahead(const struct doc_node *map, const struct why_page *page,
		      struct buf *out)
{
	const struct doc_node *list = doc_get(map, "ahead");
	int64_t all = doc_i64(map, "ahead_count", 0), named = 0;
	AUTO_BUF struct buf words = { 0 };

	if (!all || !list) {
		put(page, "ahead", "nobody", out);
		return;
	}
	buf_printf(&words, "%" PRId64 " job%s", all, all == 1 ? "" : "s");
	if ((int64_t)list->count == all && common_group(list))
		buf_printf(&words, " of group %s", common_group(list));
	for (const struct doc_node *n = list->first; n; n = n->next, named++) {
		bool last = !n->next && named + 1 == all;
		buf_printf(&words, "%s%" PRId64 " (%s, %s)",
			   !named ? ": "
			   : last ? " and "
				  : ", ",
			   doc_i64(n, "id", 0), doc_str(n, "name", ""),
			   doc_str(n, "owner", ""));
	}
	if (named && named < all)
		buf_printf(&words, " and %" PRId64 " more", all - named);
	put(page, "ahead", buf_str(&words), out);
}

/* "about 14:25, in 17 min; 80 % sure between 14:20 and 14:50" */
static void put_times(const struct doc_node *e, const struct why_page *page,
		      struct buf *out)
{
	int64_t soonest = doc_i64(e, "soonest_ms", 0),
		likely = doc_i64(e, "likely_ms", 0), latest = doc_i64(e, "latest_ms", 0),
		sure = doc_i64(e, "sure", 0);
	AUTO_BUF struct buf words = { 0 };

	if (!likely) {
		buf_adds(&words, "not before ");
		why_clock(soonest, page->now_ms, &words);
		buf_adds(&words,
			 "; no telling when, it hangs on jobs of which nobody knows "
			 "how long they run");
	} else {
		buf_adds(&words, "about ");
		why_clock(likely, page->now_ms, &words);
		buf_adds(&words, ", ");
		why_until(likely, page->now_ms, &words);
	}
	if (likely && latest && latest - soonest >= MINUTE) {
		buf_printf(&words, "; %" PRId64 " %% sure between ", sure);
		why_clock(soonest, page->now_ms, &words);
		buf_adds(&words, " and ");
		why_clock(latest, page->now_ms, &words);
	} else if (likely && !latest) {
		buf_adds(&words, "; no telling how much later it may be");
	} else if (likely) {
		buf_printf(&words, " (%" PRId64 " %% sure)", sure);
	}
	put(page, "start", buf_str(&words), out);
}

static void put_start(const struct doc_node *map, const struct why_page *page,
		      struct buf *out)
{
	const struct doc_node *e = doc_get(map, "estimate"), *after = doc_get(e, "after");
	int64_t freed = doc_i64(map, "freed_by", 0);
	AUTO_BUF struct buf words = { 0 };

	if (str_eq(doc_str(map, "kind", ""), "never")) {
		put(page, "start", "not as the nodes are now", out);
		return;
	}
	if (e && e->kind == DOC_MAP)
		put_times(e, page, out);
	else
		put(page, "start",
		    freed || doc_i64(map, "ahead_count", 0)
			    ? "no telling: it hangs on jobs of which nobody knows how long they run"
			    : "no telling",
		    out);
	if (after && after->first) {
		int64_t job = doc_i64(after->first, "id", 0);
		buf_printf(&words, "job %" PRId64 " ends about ", job);
		why_clock(doc_i64(after->first, "ends_ms", 0), page->now_ms, &words);
		buf_adds(&words, freed == job ? ": that makes room" : "");
	} else if (freed) {
		buf_printf(&words, "the end of job %" PRId64 " would make room", freed);
	}
	if (words.len)
		put(page, "", buf_str(&words), out);
}

static void put_offers(const struct doc_node *map, const struct why_page *page,
		       struct buf *out)
{
	const struct doc_node *list = doc_get(map, "offers");
	const char *label = "now";
	int64_t id = doc_i64(map, "id", 0);

	if (!list || !list->first) {
		put(page, label, "nothing smaller would start", out);
		return;
	}
	for (const struct doc_node *n = list->first; n; n = n->next) {
		AUTO_BUF struct buf words = { 0 };
		const char *text = doc_str(n, "text", ""),
			   *flags = doc_str(n, "flags", "");
		size_t wide = width_of(text);
		buf_adds(&words, text);
		if (*flags) {
			width_pad(&words,
				  wide + 2 < OFFER_CELLS ? OFFER_CELLS - wide : 2);
			buf_adds(&words, flags);
		}
		put(page, label, buf_str(&words), out);
		label = "";
	}
	if (id) {
		AUTO_FREE char *then =
			str_printf("submit it so, then `yard stop %" PRId64 "`", id);
		put(page, "", then, out);
	}
}

void why_lay_out(const struct doc_node *map, const struct why_page *page, struct buf *out)
{
	put_head(map, page, out);
	if (str_eq(doc_str(map, "kind", ""), "starts"))
		return;
	buf_addc(out, '\n');
	put(page, "cause", doc_str(map, "reason", ""), out);
	put_ahead(map, page, out);
	put_start(map, page, out);
	put_offers(map, page, out);
}

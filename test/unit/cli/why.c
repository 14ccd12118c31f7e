// SPDX-License-Identifier: Apache-2.0
/* What `yard why` prints, on a terminal of 80 columns. */
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "cli/why_view.h"
#include "tap.h"

#define NOW  INT64_C(1763302200000) /* Sunday, 16 November 2025, 14:10 UTC */
#define HOUR INT64_C(3600000)

static void shows(const char *json, size_t width, const char *want, const char *law)
{
	struct err err = { 0 };
	struct doc *d = doc_parse(json, strlen(json), &err);
	AUTO_BUF struct buf out = { 0 };

	if (!OK(d != NULL, "an answer: %s", err.text))
		return;
	why_lay_out(doc_root(d), &(struct why_page){ NOW, width, false }, &out);
	IS(buf_str(&out), want, "%s", law);
	doc_destroy(d);
}

static void says(void (*say)(int64_t, int64_t, struct buf *), int64_t in_ms,
		 const char *want)
{
	AUTO_BUF struct buf b = { 0 };

	say(NOW + in_ms, NOW, &b);
	IS(buf_str(&b), want, "as one says it");
}

static void test_times(void)
{
	says(why_clock, 0, "14:10");
	says(why_clock, 29000, "14:10");
	says(why_clock, 31000, "14:11");
	says(why_clock, 10 * HOUR, "Mon 00:10");
	says(why_clock, 5 * 24 * HOUR, "Fri 14:10");
	says(why_clock, 26 * 24 * HOUR, "12 Dec 14:10");
	says(why_until, 500, "any moment");
	says(why_until, 25400, "in 25 s");
	says(why_until, 12 * 60000 + 10000, "in 12 min");
	says(why_until, 3 * HOUR, "in 3 h");
	says(why_until, 71 * HOUR, "in 3 days");
}

static void test_pages(void)
{
	shows("{\"id\":812,\"state\":\"queued\",\"kind\":\"capacity\",\"reason\":\"waits for 8 gpu on one node; the "
	      "largest free block is 5 of 8, on g3; job 7 holds 3 gpu there\",\"position\":3,\"waiting\":9,"
	      "\"ahead_count\":3,\"ahead\":[{\"id\":790,\"name\":\"sweep\",\"owner\":\"alice\",\"group\":\"vision\"},"
	      "{\"id\":801,\"name\":\"eval\",\"owner\":\"bo\",\"group\":\"vision\"}],\"freed_by\":7,"
	      "\"estimate\":{\"soonest_ms\":1763302800000,\"likely_ms\":1763303220000,\"latest_ms\":1763304600000,"
	      "\"sure\":83,\"after\":[{\"id\":7,\"ends_ms\":1763302800000}]},\"offers\":["
	      "{\"text\":\"with 5 gpu instead of 8\",\"flags\":\"--gpu 5\"},"
	      "{\"text\":\"without asking for zone=a\",\"flags\":\"\"}]}",
	      80,
	      "job 812 waits: number 3 of 9 in the queue\n"
	      "\n"
	      "cause   waits for 8 gpu on one node; the largest free block is 5 of 8, on g3;\n"
	      "        job 7 holds 3 gpu there\n"
	      "ahead   3 jobs: 790 (sweep, alice), 801 (eval, bo) and 1 more\n"
	      "start   about 14:27, in 17 min; 83 % sure between 14:20 and 14:50\n"
	      "        job 7 ends about 14:20: that makes room\n"
	      "now     with 5 gpu instead of 8                     --gpu 5\n"
	      "        without asking for zone=a\n"
	      "        submit it so, then `yard stop 812`\n",
	      "four sentences");
	shows("{\"dry_run\":true,\"kind\":\"order\",\"reason\":\"would fit now\",\"position\":2,\"waiting\":2,"
	      "\"ahead_count\":1,\"ahead\":[{\"id\":1,\"name\":\"a\",\"owner\":\"bo\",\"group\":\"red\"}],"
	      "\"freed_by\":null,\"estimate\":null,\"offers\":[]}",
	      0,
	      "it would wait: number 2 of 2 in the queue\n"
	      "\n"
	      "cause   would fit now\n"
	      "ahead   1 job of group red: 1 (a, bo)\n"
	      "start   no telling: it hangs on jobs of which nobody knows how long they run\n"
	      "now     nothing smaller would start\n",
	      "of a job that is not submitted, too");
	shows("{\"dry_run\":true,\"kind\":\"starts\",\"reason\":\"x\",\"position\":1,\"waiting\":1,\"ahead_count\":0,"
	      "\"ahead\":[],\"freed_by\":null,\"estimate\":null,\"offers\":[]}",
	      80, "it would start at once\n", "what starts needs no more words");
	shows("{\"id\":4,\"kind\":\"never\",\"reason\":\"can never start\\u001b[2J\",\"position\":1,\"waiting\":1,"
	      "\"ahead_count\":2,\"ahead\":[],\"freed_by\":null,\"estimate\":null,\"offers\":[]}",
	      80,
	      "job 4 waits: number 1 of 1 in the queue\n"
	      "\n"
	      "cause   can never start?[2J\n"
	      "ahead   2 jobs\n"
	      "start   not as the nodes are now\n"
	      "now     nothing smaller would start\n",
	      "of others' jobs their number alone, and nothing that moves the cursor");
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	test_times();
	test_pages();
	return END();
}

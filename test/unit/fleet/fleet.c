// SPDX-License-Identifier: Apache-2.0
/* What nodes are for whom, gangs that start with fewer, views, records. */
#include "base/mem.h"
#include "herd.h"
#include "tap.h"

static struct node node_like(const char *name, int gpus)
{
	struct node n = { .up = true, .capacity.cpu_milli = 64000 };

	snprintf(n.name, sizeof n.name, "%s", name);
	resources_set_device(&n.capacity, "gpu", gpus);
	return n;
}

static struct ask *ask_like(const struct fleet *f, int tasks, int least, int gpus)
{
	struct gang_role r = { .count = tasks, .least = least, .each.cpu_milli = 1000 };
	struct gang g = { .roles = &r, .role_count = 1 };

	resources_set_device(&r.each, "gpu", gpus);
	return ask_create(f, &g);
}

static const char *where(const struct fleet *f, const struct ask *a,
			 const struct stay *stay)
{
	struct picks picks = { 0 };
	const char *name = view_fit(fleet_now(f), a, stay, &picks)
				   ? fleet_node(f, picks.items[0].node)->name
				   : "";

	free(picks.items);
	return name;
}

static void states_and_windows(void)
{
	struct fleet *f = fleet_create();
	struct node a = node_like("a", 4), b = node_like("b", 8);
	struct ask *one;
	struct stay mine = { 0, 1000, "red" }, other = { 0, 1000, "blue" };
	struct stay early = { 0, 50, "blue" }, forever = { 0, INT64_MAX, "blue" };

	fleet_set_node(f, &b);
	fleet_set_node(f, &a);
	one = ask_like(f, 1, 0, 1);
	IS(where(f, one, NULL), "a", "the tighter node");
	a.state = NODE_DRAIN;
	fleet_set_node(f, &a);
	IS(where(f, one, NULL), "b", "not one that is drained");
	a.state = NODE_OPEN;
	a.windows[a.window_count++] = (struct node_window){ 100, 200, "red" };
	fleet_set_node(f, &a);
	IS(where(f, one, &mine), "a", "a node that is kept for its group");
	IS(where(f, one, &other), "b", "but not one that is kept for others");
	IS(where(f, one, &early), "a", "before the window everybody may");
	IS(where(f, one, &forever), "b", "who knows no end could run into it");
	IS(where(f, one, NULL), "a", "who does not ask for when sees no windows");
	a.windows[0].group[0] = 0;
	fleet_set_node(f, &a);
	IS(where(f, one, &mine), "b", "maintenance is for nobody");
	ask_destroy(one);
	fleet_destroy(f);
}

/* Fewer than asked for; and a record of fewer says whose they are. */
static void fewer(void)
{
	struct fleet *f = fleet_create(), *again = fleet_create();
	struct node a = node_like("a", 4);
	struct gang_role roles[2] = {
		{ .count = 1, .each.cpu_milli = 1000 },
		{ .count = 6, .least = 2, .each.cpu_milli = 1000 }
	};
	struct gang g = { .roles = roles, .role_count = 2 };
	struct ask *ask, *least = NULL;
	struct picks picks = { 0 };
	struct grants grants = { 0 }, held = { 0 };
	struct placement places[8];
	AUTO_BUF struct buf mine = { 0 };
	AUTO_BUF struct buf his = { 0 };
	int of_second = 0;

	fleet_set_node(f, &a);
	fleet_set_node(again, &a);
	resources_set_device(&roles[1].each, "gpu", 1);
	ask = ask_create(f, &g);
	OK(view_fit(fleet_now(f), ask, NULL, &picks), "fewer than asked for will do");
	fleet_grant(f, ask, &picks, &grants);
	OK(grants.count == 5, "as many as there is room for: %zu", grants.count);
	OK(grants.items[0].role == 0 && grants.items[1].role == 1, "by rank");
	fleet_describe(f, ask, &grants, places);
	fleet_adopt(again, ask, places, grants.count, &held);
	for (size_t i = 0; i < held.count; i++)
		of_second += held.items[i].role == 1;
	OK(held.count == 5 && of_second == 4, "a record of fewer says whose they are");
	fleet_digest(f, &mine);
	fleet_digest(again, &his);
	IS(buf_str(&mine), buf_str(&his), "and is taken as it was");
	least = ask_like(f, 2, 1, 1);
	OK(!view_fit(fleet_now(f), least, NULL, &picks),
	   "less than the least is nothing");
	fleet_give_back(f, ask, &grants);
	fleet_give_back(again, ask, &held);
	ask_destroy(ask);
	ask_destroy(least);
	free(picks.items);
	fleet_destroy(f);
	fleet_destroy(again);
}

static void views(void)
{
	struct fleet *f = fleet_create();
	struct node n = node_like("a", 8);
	struct ask *four, *six;
	struct picks picks = { 0 }, head = { 0 };
	struct grants held = { 0 }, more = { 0 };
	struct view *then = NULL, *spare = NULL;

	fleet_set_node(f, &n);
	four = ask_like(f, 1, 0, 4);
	six = ask_like(f, 1, 0, 6);
	OK(view_fit(fleet_now(f), four, NULL, &picks), "four of eight");
	fleet_grant(f, four, &picks, &held);
	view_copy(f, fleet_now(f), &then);
	view_return(then, four, &held, -1);
	OK(!view_fit(fleet_now(f), six, NULL, &head) && view_fit(then, six, NULL, &head),
	   "six fit when the four are back");
	view_take(then, six, &head);
	view_least(fleet_now(f), then, &spare);
	OK(view_room(spare, &four->roles[0], 0, 9) == 0 &&
		   view_devices(spare, 0, &four->roles[0].devices[0]).free == 2,
	   "two are idle now and then, whichever they are");
	OK(view_devices(fleet_now(f), 0, &four->roles[0].devices[0]).free == 4,
	   "what is imagined changes nothing");
	ask_destroy(six);
	six = ask_like(f, 1, 0, 2);
	OK(view_fit(spare, six, NULL, &picks), "two fit beside the head");
	fleet_grant(f, six, &picks, &more);
	OK(view_devices(then, 0, &four->roles[0].devices[0]).free == 2,
	   "what happens does not reach what was imagined");
	fleet_give_back(f, four, &held);
	fleet_give_back(f, six, &more);
	view_empty(f, &then);
	OK(view_devices(then, 0, &four->roles[0].devices[0]).free == 8, "empty at last");
	view_destroy(then);
	view_destroy(spare);
	ask_destroy(four);
	ask_destroy(six);
	free(picks.items);
	free(head.items);
	fleet_destroy(f);
}

static struct ask *share_like(const struct fleet *f, int tasks, int milli)
{
	struct gang_role r = { .count = tasks, .least = 1, .each.cpu_milli = 1000 };
	struct gang g = { .roles = &r, .role_count = 1 };

	resources_set_share(&r.each, "gpu", 1, milli);
	return ask_create(f, &g);
}

/* Two are free now.  When the six are back somebody takes a part of one of the two and six
 * others whole: then one idle device is in both, and none of it is there twice. */
static void shared_views(void)
{
	struct fleet *f = fleet_create();
	struct node n = node_like("a", 8);
	struct picks picks = { 0 };
	struct grants low = { 0 }, high = { 0 }, more = { 0 };
	struct view *then = NULL, *spare = NULL;

	fleet_set_node(f, &n);
	struct ask *two = ask_like(f, 1, 0, 2), *six = ask_like(f, 1, 0, 6),
		   *part = share_like(f, 1, 250), *most = share_like(f, 3, 750);
	view_fit(fleet_now(f), two, NULL, &picks);
	fleet_grant(f, two, &picks, &low);
	view_fit(fleet_now(f), six, NULL, &picks);
	fleet_grant(f, six, &picks, &high);
	fleet_give_back(f, two, &low);
	view_copy(f, fleet_now(f), &then);
	OK(view_fit(then, part, NULL, &picks), "a part of one of two");
	view_take(then, part, &picks);
	view_return(then, six, &high, -1);
	OK(view_fit(then, six, NULL, &picks), "and six, when they are back");
	view_take(then, six, &picks);
	view_least(fleet_now(f), then, &spare);
	OK(view_room(spare, &most->roles[0], 0, 9) == 1,
	   "an idle device that stands for another is not shared as well: %d",
	   (int)view_room(spare, &most->roles[0], 0, 9));
	OK(view_fit(spare, most, NULL, &picks), "so one of three fits");
	fleet_grant(f, most, &picks, &more);
	OK(more.count == 1, "and is given");
	fleet_give_back(f, most, &more);
	fleet_give_back(f, six, &high);
	view_destroy(then);
	view_destroy(spare);
	ask_destroy(two);
	ask_destroy(six);
	ask_destroy(part);
	ask_destroy(most);
	free(picks.items);
	fleet_destroy(f);
}

/* A wrong record takes what is left and gives back what it took. */
static void wrong_records(void)
{
	struct fleet *f = fleet_create();
	struct node n = node_like("a", 2);
	struct ask *one;
	struct grants held[4] = { { 0 } };
	struct placement p = { .node = "a", .slot = 3 };
	AUTO_BUF struct buf before = { 0 };
	AUTO_BUF struct buf after = { 0 };

	fleet_set_node(f, &n);
	one = ask_like(f, 1, 0, 1);
	fleet_digest(f, &before);
	memcpy(p.devices[0].type, "gpu", 4);
	p.devices[0].mask = 1;
	p.devices[0].share_milli = 700;
	for (int i = 0; i < 3; i++) {
		if (i == 2)
			p.devices[0].share_milli = 0;
		fleet_adopt(f, one, &p, 1, &held[i]);
	}
	OK(held[0].items[0].devices[0].mask == 1 && !held[1].items[0].devices[0].mask &&
		   !held[2].items[0].devices[0].mask,
	   "seven tenths are not given twice, nor the device to one who has it whole");
	p.devices[0].mask = (uint64_t)1 << 40;
	fleet_adopt(f, one, &p, 1, &held[3]);
	for (int i = 0; i < 4; i++)
		fleet_give_back(f, one, &held[i]);
	fleet_digest(f, &after);
	IS(buf_str(&after), buf_str(&before), "and all is given back as it was");
	ask_destroy(one);
	fleet_destroy(f);
}

/* Several roles are tried on the fleet itself: nothing of that may stay. */
static void no_trace(void)
{
	struct herd h = { .shares = true, .rings = true, .islands = true, .racks = true };
	bool same = true;
	int fits = 0;

	h_init(&h, 5);
	for (int i = 0; i < 400 && same; i++) {
		AUTO_BUF struct buf before = { 0 };
		AUTO_BUF struct buf after = { 0 };
		struct h_job a, b, *j = &h.jobs[i % H_JOBS];
		struct gang_role roles[2];
		struct gang g = { .roles = roles, .role_count = 2 };
		struct ask *two;
		h_drop_job(&h, j);
		h_make_job(&h, &a);
		h_make_job(&h, &b);
		roles[0] = a.role;
		roles[1] = b.role;
		g.within = a.gang.within;
		g.within_must = a.gang.within_must;
		two = ask_create(h.f, &g);
		fleet_digest(h.f, &before);
		fits += view_fit(fleet_now(h.f), two, NULL, &h.picks);
		fleet_digest(h.f, &after);
		same = strcmp(buf_str(&before), buf_str(&after)) == 0;
		ask_destroy(a.ask);
		ask_destroy(b.ask);
		ask_destroy(two);
		h_make_job(&h, j);
		if (view_fit(fleet_now(h.f), j->ask, NULL, &h.picks))
			h_start(&h, j);
	}
	OK(same, "a gang of two roles that is tried leaves no trace");
	OK(fits > 10, "%d of them fit", fits);
	h_fini(&h);
}

int main(void)
{
	states_and_windows();
	fewer();
	views();
	shared_views();
	wrong_records();
	no_trace();
	return END();
}

// SPDX-License-Identifier: Apache-2.0
/* The check of one role: command, resources, variables, ports, completion. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "job/placement.h"
#include "job/spec_check.h"
#include "job/spec_default.h"

static void check_env(struct check *c, const struct role *r)
{
	size_t at = check_enter(c, "env");

	check_count(c, "", r->env.count, SPEC_PAIRS_MAX);
	for (size_t i = 0; i < r->env.count; i++) {
		const struct pair *p = &r->env.items[i];
		if (!*p->key || strchr(p->key, '=') || strlen(p->key) > SPEC_NAME_MAX ||
		    !check_is_utf8(p->key))
			check_bad(
				c, p->key,
				"not a variable's name; allowed are 1 to %d bytes without '='",
				SPEC_NAME_MAX);
		else if (str_starts(p->key, "YARD_"))
			check_bad(
				c, p->key,
				"variables that begin with YARD_ are set by the yard itself");
		else
			check_text(c, p->key, p->value);
	}
	check_leave(c, at);
}

/* "gpu", "gpu:a100" or "gpu:a100|v100". */
static bool is_device(const char *type)
{
	char word[DEVICE_TYPE_MAX];

	for (const char *end = ":"; *type; end = "|") {
		size_t n = strcspn(type, end);
		memcpy(word, type, n);
		word[n] = 0;
		if (!check_is_name(word, "._-:"))
			return false;
		type += n;
		if (!*type)
			return true;
		type++;
	}
	return false;
}

static void check_devices(struct check *c, const struct resources *each)
{
	size_t at = check_enter(c, "devices");
	int shares = 0;

	for (int i = 0; i < DEVICE_KINDS_MAX && each->devices[i].type[0]; i++) {
		const struct device_count *d = &each->devices[i];
		if (!is_device(d->type))
			check_bad(
				c, d->type,
				"not a kind of device; allowed are " CHECK_NAME_RULE
				", then perhaps ':' and models with '|' between, as in gpu:a100|v100");
		else
			check_range(c, d->type, d->count, 0, DEVICES_MAX);
		if (d->share_milli && (d->count != 1 || d->share_milli < 0 ||
				       d->share_milli >= DEVICE_SHARE))
			check_bad(
				c, d->type,
				"a share is less than one device; whole devices are whole numbers");
		shares += d->share_milli != 0;
	}
	if (shares > 1)
		check_bad(c, "", "a task may share devices of one kind only");
	check_leave(c, at);
}

static void check_where(struct check *c, const struct role *r)
{
	size_t at = check_enter(c, "where");
	char text[NODE_LABELS_MAX];
	bool fine = true;

	for (size_t i = 0; i < r->where.count; i++) {
		const struct pair *p = &r->where.items[i];
		if (check_is_name(p->key, "._-/") && check_is_name(p->value, "._-/"))
			continue;
		check_bad(c, p->key,
			  "a node's label and its value are " CHECK_NAME_RULE
			  ", and '/'");
		fine = false;
	}
	if (fine && node_labels_write(&r->where, text) < 0)
		check_bad(c, "", "at most %d characters together are allowed",
			  NODE_LABELS_MAX - 1);
	check_leave(c, at);
}

static void check_resources(struct check *c, struct role *r)
{
	size_t at = check_enter(c, "resources");
	struct resources *each = &r->each;
	char low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];

	if (each->cpu_milli == 0)
		each->cpu_milli = SPEC_CPU_MILLI;
	if (each->memory_bytes == 0)
		each->memory_bytes = SPEC_MEMORY_BYTES;
	if (each->cpu_milli < 0 || each->cpu_milli > SPEC_CPU_MILLI_MAX)
		check_bad(c, "cpu", "out of range; allowed is 0.001 to %s cores",
			  units_show_cpu(SPEC_CPU_MILLI_MAX, high));
	if (each->memory_bytes < SPEC_MEMORY_BYTES_MIN ||
	    each->memory_bytes > SPEC_MEMORY_BYTES_MAX)
		check_bad(c, "memory", "out of range; allowed is %s to %s",
			  units_write_bytes(SPEC_MEMORY_BYTES_MIN, low),
			  units_write_bytes(SPEC_MEMORY_BYTES_MAX, high));
	if (r->shm_bytes == 0)
		r->shm_bytes = each->memory_bytes / 2;
	if (r->shm_bytes < 0 || r->shm_bytes > each->memory_bytes)
		check_bad(
			c, "shm",
			"shared memory counts as memory: at most resources.memory (%s) is allowed",
			units_write_bytes(each->memory_bytes, high));
	check_devices(c, each);
	check_leave(c, at);
}

/* Ports of any number first, as plan gives them out; otherwise in the order asked for. */
static void sort_ports(struct role *r)
{
	struct port_ask *sorted = mem_alloc(r->port_count, sizeof *sorted);
	size_t n = 0;

	for (size_t i = 0; i < r->port_count; i++)
		if (!r->ports[i].fixed)
			sorted[n++] = r->ports[i];
	for (size_t i = 0; i < r->port_count; i++)
		if (r->ports[i].fixed)
			sorted[n++] = r->ports[i];
	free(r->ports);
	r->ports = sorted;
}

static void check_port(struct check *c, const struct port_ask *p, int *total)
{
	size_t at = check_enter(c, "%s", p->name);

	if (p->count < 1 || p->count > PORTS_MAX)
		check_bad(c, "count", "%d is out of range; allowed is 1 to %d", p->count,
			  PORTS_MAX);
	else
		*total += p->count;
	if (p->fixed && (p->fixed < SPEC_PORT_MIN || p->fixed > SPEC_PORT_MAX))
		check_bad(c, "port", "%d is out of range; allowed is %d to %d, or any",
			  p->fixed, SPEC_PORT_MIN, SPEC_PORT_MAX);
	if (p->fixed && p->count > 1)
		check_bad(c, "count", "a port with a number of its own is one port");
	check_leave(c, at);
}

static void check_ports(struct check *c, struct role *r)
{
	size_t at = check_enter(c, "ports");
	int total = 0;

	check_count(c, "", r->port_count, PORTS_MAX);
	for (size_t i = 0; i < r->port_count && i <= PORTS_MAX; i++) {
		const struct port_ask *p = &r->ports[i];
		check_name(c, p->name, p->name, SPEC_NAME_MAX);
		check_port(c, p, &total);
		for (size_t k = 0; k < i; k++) {
			if (check_alike(r->ports[k].name, p->name))
				check_bad(
					c, p->name,
					"the names \"%s\" and \"%s\" are too much alike",
					r->ports[k].name, p->name);
			if (p->fixed && r->ports[k].fixed == p->fixed)
				check_bad(c, p->name, "port %d is asked for twice",
					  p->fixed);
		}
	}
	if (total > PORTS_MAX)
		check_bad(c, "", "%d ports together; at most %d are allowed", total,
			  PORTS_MAX);
	if (r->port_count)
		sort_ports(r);
	check_leave(c, at);
}

static void check_command(struct check *c, const struct role *r)
{
	if (!r->argc || !r->argv[0][0] ||
	    (r->shell_line && !r->shell_line[strspn(r->shell_line, " \t\n")])) {
		check_bad(
			c, "command",
			"a command is missing: a shell line, or a list of program and arguments");
		return;
	}
	for (size_t i = 0; i < r->argc; i++)
		check_text(c, "command", r->argv[i]);
}

/* What the policy counts must be there however few tasks it starts with. */
static void check_completion(struct check *c, const struct role *r)
{
	size_t at = check_enter(c, "completion");
	int most = r->least ? r->least : r->count;
	const char *what = r->least ? "min" : "count";

	if (r->fail_after != SPEC_ALL && (r->fail_after < 1 || r->fail_after > most))
		check_bad(c, "fail-after",
			  "%d is out of range; allowed is 1 to the role's %s, or all",
			  r->fail_after, what);
	if (r->succeed_after != SPEC_ALL &&
	    (r->succeed_after < 1 || r->succeed_after > most))
		check_bad(c, "succeed-after",
			  "%d is out of range; allowed is 1 to the role's %s, or all",
			  r->succeed_after, what);
	check_leave(c, at);
}

/* A name or reference; whether there is such an image the catalogue says. */
static void check_image(struct check *c, const struct role *r)
{
	size_t n = strlen(r->image);

	for (const char *at = r->image; *at; at++)
		if ((unsigned char)*at <= ' ' || *at == 0x7f)
			n = 0;
	if (n == 0 || n > SPEC_IMAGE_MAX)
		check_bad(c, "image", "1 to %d characters without spaces are wanted",
			  SPEC_IMAGE_MAX);
}

/* One process a device: of which kind must be clear. */
static void check_per_device(struct check *c, const struct role *r)
{
	if (!r->per_device)
		return;
	if (!r->each.devices[0].type[0])
		check_bad(c, "per-device", "says nothing without resources.devices");
	else if (DEVICE_KINDS_MAX > 1 && r->each.devices[1].type[0])
		check_bad(c, "per-device",
			  "there is more than one kind of devices in resources.devices");
}

void check_role(struct check *c, struct role *r)
{
	if (!r->name)
		r->name = mem_strdup("main");
	if (!r->image)
		r->image = mem_strdup("host");
	check_name(c, "name", r->name, SPEC_ROLE_NAME_MAX);
	check_range(c, "count", r->count, 1, SPEC_TASKS_MAX);
	if (r->least < 0 || r->least > r->count)
		check_bad(c, "min",
			  "%d is out of range; allowed is 1 to the role's count",
			  r->least);
	else if (r->least == r->count)
		r->least = 0;
	check_image(c, r);
	check_command(c, r);
	check_resources(c, r);
	check_where(c, r);
	check_env(c, r);
	check_ports(c, r);
	check_completion(c, r);
	check_per_device(c, r);
}

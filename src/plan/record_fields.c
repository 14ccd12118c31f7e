// SPDX-License-Identifier: Apache-2.0
/* The fields of everything that a plan is told. */
#include "base/mem.h"
#include "plan/plan.h"
#include "plan/record.h"

#define OF(type, rows)                                                                   \
	{                                                                                \
		rows, COUNT_OF(rows), sizeof(type)                                       \
	}

/* clang-format off */
#define ROW(type, key, kind, field) { key, kind, offsetof(type, field), 0, NULL, 0, 0 }
#define TEXT_ROW(type, key, field) \
	{ key, TEXT, offsetof(type, field), sizeof(((type *)0)->field), NULL, 0, 0 }
#define LIST_ROW(type, key, field, item) \
	{ key, LIST, offsetof(type, field), COUNT_OF(((type *)0)->field), item, 0, 0 }
#define COUNTED_ROW(type, key, field, item, number) \
	{ key, LIST, offsetof(type, field), COUNT_OF(((type *)0)->field), item, \
	  offsetof(type, number), sizeof(((type *)0)->number) }
/* One struct inside another is a list of one. */
#define PART_ROW(type, key, field, item) \
	{ key, LIST, offsetof(type, field), 1, item, 0, 0 }

static const struct field number_fields[] = { { "", I32, 0, 0, NULL, 0, 0 } };
static const struct table number_table = OF(int, number_fields);

static const struct field device_fields[] = {
	TEXT_ROW(struct device_count, "type", type),
	ROW(struct device_count, "count", I32, count),
	ROW(struct device_count, "share", I32, share_milli),
};
static const struct table device_table = OF(struct device_count, device_fields);

static const struct field resources_fields[] = {
	ROW(struct resources, "cpu", I64, cpu_milli),
	ROW(struct resources, "memory", I64, memory_bytes),
	LIST_ROW(struct resources, "devices", devices, &device_table),
};
static const struct table resources_table = OF(struct resources, resources_fields);

static const struct field window_fields[] = {
	ROW(struct node_window, "from", I64, from_ms),
	ROW(struct node_window, "to", I64, to_ms),
	TEXT_ROW(struct node_window, "group", group),
};
static const struct table window_table = OF(struct node_window, window_fields);

static const struct field node_fields[] = {
	TEXT_ROW(struct node, "name", name),
	PART_ROW(struct node, "capacity", capacity, &resources_table),
	ROW(struct node, "simulated", FLAG, simulated_devices),
	ROW(struct node, "up", FLAG, up),
	ROW(struct node, "port_first", I32, port_first),
	ROW(struct node, "port_last", I32, port_last),
	ROW(struct node, "max_tasks", I32, max_tasks),
	ROW(struct node, "state", I32, state),
	TEXT_ROW(struct node, "reason", reason),
	COUNTED_ROW(struct node, "windows", windows, &window_table, window_count),
	TEXT_ROW(struct node, "rack", rack),
	TEXT_ROW(struct node, "net", net),
	TEXT_ROW(struct node, "labels", labels),
	ROW(struct node, "island", I32, island),
	ROW(struct node, "rings", FLAG, rings),
};
const struct table record_node = OF(struct node, node_fields);

static const struct field role_fields[] = {
	ROW(struct gang_role, "count", I32, count),
	ROW(struct gang_role, "least", I32, least),
	PART_ROW(struct gang_role, "each", each, &resources_table),
	ROW(struct gang_role, "any_ports", I32, any_ports),
	COUNTED_ROW(struct gang_role, "fixed_ports", fixed_ports, &number_table, fixed_count),
	ROW(struct gang_role, "labels", WORDS, labels),
};
const struct table record_role = OF(struct gang_role, role_fields);

static const struct field job_fields[] = {
	ROW(struct plan_job, "id", I64, id),
	ROW(struct plan_job, "priority", I32, priority),
	ROW(struct plan_job, "user", WORDS, user),
	ROW(struct plan_job, "group", WORDS, group),
	ROW(struct plan_job, "limit", I64, limit_ms),
	ROW(struct plan_job, "within", I32, gang.within),
	ROW(struct plan_job, "within_must", FLAG, gang.within_must),
	ROW(struct plan_job, "submit", I64, submit_ms),
	ROW(struct plan_job, "guess", I64, guess_ms),
	ROW(struct plan_job, "guess_low", I64, guess_low_ms),
	ROW(struct plan_job, "guess_high", I64, guess_high_ms),
	ROW(struct plan_job, "served", I64, served_ms),
	ROW(struct plan_job, "preemptible", FLAG, preemptible),
};
const struct table record_job = OF(struct plan_job, job_fields);

struct place_device { /* as in struct placement, where it has no name */
	char type[DEVICE_TYPE_MAX];
	uint64_t mask;
	int share_milli;
};
_Static_assert(sizeof(struct place_device) == sizeof(((struct placement *)0)->devices[0]),
	       "a device of a placement");
static const struct field place_device_fields[] = {
	TEXT_ROW(struct place_device, "type", type),
	ROW(struct place_device, "mask", I64, mask),
	ROW(struct place_device, "share", I32, share_milli),
};
static const struct table place_device_table = OF(struct place_device, place_device_fields);

static const struct field place_fields[] = {
	TEXT_ROW(struct placement, "node", node),
	ROW(struct placement, "slot", I32, slot),
	LIST_ROW(struct placement, "devices", devices, &place_device_table),
	COUNTED_ROW(struct placement, "ports", ports, &number_table, port_count),
};
const struct table record_place = OF(struct placement, place_fields);

static const struct field quota_fields[] = {
	PART_ROW(struct quota, "limit", limit, &resources_table),
	ROW(struct quota, "jobs", I32, max_running_jobs),
};
const struct table record_quota = OF(struct quota, quota_fields);

static const struct field shape_fields[] = {
	ROW(struct tenant_shape, "count", I32, count),
	PART_ROW(struct tenant_shape, "devices", devices, &device_table),
};
static const struct table shape_table = OF(struct tenant_shape, shape_fields);

static const struct field tenant_fields[] = {
	TEXT_ROW(struct tenant_rule, "parent", parent),
	ROW(struct tenant_rule, "weight", I32, weight),
	PART_ROW(struct tenant_rule, "guarantee", guarantee, &resources_table),
	COUNTED_ROW(struct tenant_rule, "shapes", shapes, &shape_table, shape_count),
	PART_ROW(struct tenant_rule, "borrow", borrow, &resources_table),
	PART_ROW(struct tenant_rule, "lend", lend, &resources_table),
	ROW(struct tenant_rule, "order", I32, order),
	ROW(struct tenant_rule, "notice", I64, notice_ms),
};
const struct table record_tenant = OF(struct tenant_rule, tenant_fields);

static const struct field policy_fields[] = {
	ROW(struct plan_policy, "fair", FLAG, fair),
	ROW(struct plan_policy, "age_bound", I64, age_bound_ms),
	ROW(struct plan_policy, "half_life", I64, half_life_ms),
	ROW(struct plan_policy, "backfill", FLAG, backfill),
	ROW(struct plan_policy, "believe_guesses", FLAG, believe_guesses),
	ROW(struct plan_policy, "preempt", FLAG, preempt),
	ROW(struct plan_policy, "min_run", I64, min_run_ms),
	ROW(struct plan_policy, "rule", I32, rule),
	ROW(struct plan_policy, "fragment", I64, weights.fragment),
	ROW(struct plan_policy, "balance", I64, weights.balance),
	ROW(struct plan_policy, "gap", I64, weights.gap),
	ROW(struct plan_policy, "scarcity", I64, weights.scarcity),
	ROW(struct plan_policy, "slack", I64, weights.slack),
	ROW(struct plan_policy, "topology", I64, weights.topology),
	ROW(struct plan_policy, "seed", I64, seed),
};
const struct table record_policy = OF(struct plan_policy, policy_fields);

static const struct field use_fields[] = {
	ROW(struct use, "cpu", I64, cpu_milli),
	ROW(struct use, "memory_mib", I64, memory_mib),
	ROW(struct use, "device", I64, device_milli),
};
const struct table record_use = OF(struct use, use_fields);
/* clang-format on */

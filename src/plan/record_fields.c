// SPDX-License-Identifier: Apache-2.0
/* The fields of everything that a plan is told. */
#include "base/mem.h"
#include "plan/plan.h"
#include "plan/record.h"

#define OF(type, rows)                                                                   \
	{                                                                                \
		rows, COUNT_OF(rows), sizeof(type)                                       \
	}

#define TIME_MAX   (INT64_C(1) << 60)
#define AMOUNT_MAX (INT64_C(1) << 60)
#define TASKS_MAX  1000000

/* clang-format off */
#define NUMBER(type, key, kind, field, min, max) \
	{ key, kind, offsetof(type, field), 0, min, max, NULL, 0, 0 }
#define FLAG_ROW(type, key, field) NUMBER(type, key, FLAG, field, 0, 0)
#define WORD_ROW(type, key, field) NUMBER(type, key, WORDS, field, 0, 0)
#define COUNT_ROW(type, key, field, max)  NUMBER(type, key, I32, field, 0, max)
#define TIME_ROW(type, key, field)        NUMBER(type, key, I64, field, 0, TIME_MAX)
#define AMOUNT_ROW(type, key, field)      NUMBER(type, key, I64, field, -1, AMOUNT_MAX)
#define ANY_ROW(type, key, field)         NUMBER(type, key, I64, field, INT64_MIN, INT64_MAX)
#define TEXT_ROW(type, key, field) \
	{ key, TEXT, offsetof(type, field), sizeof(((type *)0)->field), 0, 0, NULL, 0, 0 }
#define LIST_ROW(type, key, field, item) \
	{ key, LIST, offsetof(type, field), COUNT_OF(((type *)0)->field), 0, 0, item, 0, 0 }
#define COUNTED_ROW(type, key, field, item, number) \
	{ key, LIST, offsetof(type, field), COUNT_OF(((type *)0)->field), 0, 0, item, \
	  offsetof(type, number), sizeof(((type *)0)->number) }
/* One struct inside another is a list of one. */
#define PART_ROW(type, key, field, item) \
	{ key, LIST, offsetof(type, field), 1, 0, 0, item, 0, 0 }

static const struct field number_fields[] = { { "", I32, 0, 0, 0, 65535, NULL, 0, 0 } };
static const struct table number_table = OF(int, number_fields);

static const struct field device_fields[] = {
	TEXT_ROW(struct device_count, "type", type),
	/* What a quota or a rule may say; of nodes and jobs the journal checks it. */
	COUNT_ROW(struct device_count, "count", count, INT32_MAX),
	COUNT_ROW(struct device_count, "share", share_milli, DEVICE_SHARE - 1),
};
static const struct table device_table = OF(struct device_count, device_fields);

static const struct field resources_fields[] = {
	AMOUNT_ROW(struct resources, "cpu", cpu_milli),
	AMOUNT_ROW(struct resources, "memory", memory_bytes),
	LIST_ROW(struct resources, "devices", devices, &device_table),
};
static const struct table resources_table = OF(struct resources, resources_fields);

static const struct field window_fields[] = {
	ANY_ROW(struct node_window, "from", from_ms),
	ANY_ROW(struct node_window, "to", to_ms),
	TEXT_ROW(struct node_window, "group", group),
};
static const struct table window_table = OF(struct node_window, window_fields);

static const struct field node_fields[] = {
	TEXT_ROW(struct node, "name", name),
	PART_ROW(struct node, "capacity", capacity, &resources_table),
	FLAG_ROW(struct node, "simulated", simulated_devices),
	FLAG_ROW(struct node, "up", up),
	COUNT_ROW(struct node, "port_first", port_first, 65535),
	COUNT_ROW(struct node, "port_last", port_last, 65535),
	COUNT_ROW(struct node, "max_tasks", max_tasks, TASKS_MAX),
	COUNT_ROW(struct node, "state", state, NODE_QUARANTINE),
	TEXT_ROW(struct node, "reason", reason),
	COUNTED_ROW(struct node, "windows", windows, &window_table, window_count),
	TEXT_ROW(struct node, "rack", rack),
	TEXT_ROW(struct node, "net", net),
	TEXT_ROW(struct node, "labels", labels),
	COUNT_ROW(struct node, "island", island, DEVICES_MAX),
	FLAG_ROW(struct node, "rings", rings),
};
const struct table record_node = OF(struct node, node_fields);

static const struct field role_fields[] = {
	COUNT_ROW(struct gang_role, "count", count, TASKS_MAX),
	COUNT_ROW(struct gang_role, "least", least, TASKS_MAX),
	PART_ROW(struct gang_role, "each", each, &resources_table),
	COUNT_ROW(struct gang_role, "any_ports", any_ports, PORTS_MAX),
	COUNTED_ROW(struct gang_role, "fixed_ports", fixed_ports, &number_table, fixed_count),
	WORD_ROW(struct gang_role, "labels", labels),
};
const struct table record_role = OF(struct gang_role, role_fields);

static const struct field job_fields[] = {
	NUMBER(struct plan_job, "id", I64, id, 1, INT64_MAX - 1),
	NUMBER(struct plan_job, "priority", I32, priority, -1000000, 1000000),
	WORD_ROW(struct plan_job, "user", user),
	WORD_ROW(struct plan_job, "group", group),
	TIME_ROW(struct plan_job, "limit", limit_ms),
	COUNT_ROW(struct plan_job, "within", gang.within, LEVEL_ISLAND),
	FLAG_ROW(struct plan_job, "within_must", gang.within_must),
	TIME_ROW(struct plan_job, "submit", submit_ms),
	TIME_ROW(struct plan_job, "guess", guess_ms),
	TIME_ROW(struct plan_job, "guess_low", guess_low_ms),
	TIME_ROW(struct plan_job, "guess_high", guess_high_ms),
	TIME_ROW(struct plan_job, "served", served_ms),
	FLAG_ROW(struct plan_job, "preemptible", preemptible),
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
	ANY_ROW(struct place_device, "mask", mask),
	COUNT_ROW(struct place_device, "share", share_milli, DEVICE_SHARE - 1),
};
static const struct table place_device_table = OF(struct place_device, place_device_fields);

static const struct field place_fields[] = {
	TEXT_ROW(struct placement, "node", node),
	COUNT_ROW(struct placement, "slot", slot, INT32_MAX),
	COUNT_ROW(struct placement, "role", role, TASKS_MAX),
	LIST_ROW(struct placement, "devices", devices, &place_device_table),
	COUNTED_ROW(struct placement, "ports", ports, &number_table, port_count),
};
const struct table record_place = OF(struct placement, place_fields);

static const struct field quota_fields[] = {
	PART_ROW(struct quota, "limit", limit, &resources_table),
	NUMBER(struct quota, "jobs", I32, max_running_jobs, -1, INT32_MAX),
};
const struct table record_quota = OF(struct quota, quota_fields);

static const struct field shape_fields[] = {
	COUNT_ROW(struct tenant_shape, "count", count, TASKS_MAX),
	PART_ROW(struct tenant_shape, "devices", devices, &device_table),
};
static const struct table shape_table = OF(struct tenant_shape, shape_fields);

static const struct field tenant_fields[] = {
	TEXT_ROW(struct tenant_rule, "parent", parent),
	COUNT_ROW(struct tenant_rule, "weight", weight, 1000),
	PART_ROW(struct tenant_rule, "guarantee", guarantee, &resources_table),
	COUNTED_ROW(struct tenant_rule, "shapes", shapes, &shape_table, shape_count),
	PART_ROW(struct tenant_rule, "borrow", borrow, &resources_table),
	PART_ROW(struct tenant_rule, "lend", lend, &resources_table),
	COUNT_ROW(struct tenant_rule, "order", order, TENANT_SERVED),
	TIME_ROW(struct tenant_rule, "notice", notice_ms),
};
const struct table record_tenant = OF(struct tenant_rule, tenant_fields);

static const struct field policy_fields[] = {
	FLAG_ROW(struct plan_policy, "fair", fair),
	TIME_ROW(struct plan_policy, "age_bound", age_bound_ms),
	TIME_ROW(struct plan_policy, "half_life", half_life_ms),
	FLAG_ROW(struct plan_policy, "backfill", backfill),
	FLAG_ROW(struct plan_policy, "believe_guesses", believe_guesses),
	FLAG_ROW(struct plan_policy, "preempt", preempt),
	TIME_ROW(struct plan_policy, "min_run", min_run_ms),
	COUNT_ROW(struct plan_policy, "rule", rule, PLACE_RULE_COUNT - 1),
	AMOUNT_ROW(struct plan_policy, "fragment", weights.fragment),
	AMOUNT_ROW(struct plan_policy, "balance", weights.balance),
	AMOUNT_ROW(struct plan_policy, "gap", weights.gap),
	AMOUNT_ROW(struct plan_policy, "scarcity", weights.scarcity),
	AMOUNT_ROW(struct plan_policy, "slack", weights.slack),
	ANY_ROW(struct plan_policy, "seed", seed),
};
const struct table record_policy = OF(struct plan_policy, policy_fields);

static const struct field use_fields[] = {
	AMOUNT_ROW(struct use, "cpu", cpu_milli),
	AMOUNT_ROW(struct use, "memory_mib", memory_mib),
	AMOUNT_ROW(struct use, "device", device_milli),
};
const struct table record_use = OF(struct use, use_fields);
/* clang-format on */

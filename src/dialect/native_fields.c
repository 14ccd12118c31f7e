// SPDX-License-Identifier: Apache-2.0
/* The table of the native job file. */
#include <string.h>

#include "base/mem.h"
#include "dialect/native.h"
#include "job/spec_default.h"

#define SET(title_, fields_)                                                             \
	{                                                                                \
		.title = title_, .fields = fields_, .count = COUNT_OF(fields_)           \
	}
#define IN_ROLE(member) offsetof(struct role, member)
#define IN_JOB(member)  offsetof(struct spec, member)

// clang-format off
static const struct field resources[] = {
	{ "cpu", FIELD_CPU, IN_ROLE(each.cpu_milli),
	  "Cores, also in parts.", "1", 0, 0, NULL, NULL },
	{ "memory", FIELD_BYTES, IN_ROLE(each.memory_bytes),
	  "Memory of one task; a task that goes over it is ended.", "1Gi", 0, 0, NULL, NULL },
	{ "shm", FIELD_BYTES, IN_ROLE(shm_bytes),
	  "Size of /dev/shm; counts as memory.", "half of the memory", 0, 0, NULL, NULL },
	{ "devices", FIELD_DEVICES, IN_ROLE(each),
	  "Devices by kind: whole ones, or a share of one, which other tasks may use too (they must keep to it themselves: YARD_DEVICE_SHARE). A kind may name models, with bars between.", "none", 0, 0, NULL, NULL },
};
static const struct field_set resources_set = SET("resources", resources);

static const struct field completion[] = {
	{ "fail-after", FIELD_INT_OR, IN_ROLE(fail_after),
	  "So many failed tasks of the role end the job as failed.", "1", 1, SPEC_TASKS_MAX, "all", NULL },
	{ "succeed-after", FIELD_INT_OR, IN_ROLE(succeed_after),
	  "So many succeeded tasks of the role end the job as succeeded, and stop the rest; `all`: the job goes on until every task of every role has ended.", "all", 1, SPEC_TASKS_MAX, "all", NULL },
};
static const struct field_set completion_set = SET("completion", completion);

static const struct field role[] = {
	{ "name", FIELD_TEXT, IN_ROLE(name),
	  "Name of the role, when `roles` is a list.", "main", 0, 0, NULL, NULL },
	{ "count", FIELD_INT, IN_ROLE(count),
	  "How many tasks run this command, all at the same time.", "1", 1, SPEC_TASKS_MAX, NULL, NULL },
	{ "min", FIELD_INT, IN_ROLE(least),
	  "The job also starts with fewer tasks of this role, but with so many, when there is no room for `count`. YARD_WORLD_SIZE tells a task how many there are.", "`count`", 1, SPEC_TASKS_MAX, NULL, NULL },
	{ "command", FIELD_COMMAND, 0,
	  "What each task executes.", NULL, 0, 0, NULL, NULL },
	{ "per-device", FIELD_BOOL, IN_ROLE(per_device),
	  "Each task runs the command once for each of its devices, at the same time; each process finds its device and its LOCAL_RANK.", "false", 0, 0, NULL, NULL },
	{ "image", FIELD_TEXT, IN_ROLE(image),
	  "Which files the task sees: `host`, or a name or uri of the catalogue (`yard image ls`).", "host", 0, 0, NULL, NULL },
	{ "resources", FIELD_GROUP, 0,
	  "What each task gets.", NULL, 0, 0, NULL, &resources_set },
	{ "where", FIELD_TEXTS, IN_ROLE(where),
	  "Labels that a node must have to run a task of this role; `yard nodes` shows them.", "any node", 0, 0, NULL, NULL },
	{ "env", FIELD_TEXTS, IN_ROLE(env),
	  "Environment variables of each task.", "none", 0, 0, NULL, NULL },
	{ "ports", FIELD_PORTS, 0,
	  "Ports that each task listens on, by name; the task finds a number in YARD_PORT_NAME.",
	  "none", 0, 0, NULL, NULL },
	{ "completion", FIELD_GROUP, 0,
	  "When tasks of this role end the whole job.", NULL, 0, 0, NULL, &completion_set },
};
const struct field_set native_role = SET("role", role);

static const struct field retry[] = {
	{ "max", FIELD_INT_OR, IN_JOB(retry.max),
	  "Further attempts after one that failed.", "0", 0, SPEC_RETRY_MAX, "forever", NULL },
	{ "backoff", FIELD_DURATION, IN_JOB(retry.backoff_ms),
	  "Pause before the first further attempt; doubled each time.", "10s", 0, 0, NULL, NULL },
	{ "backoff-max", FIELD_DURATION, IN_JOB(retry.backoff_max_ms),
	  "Longest pause.", "10m", 0, 0, NULL, NULL },
	{ "time-limit", FIELD_BOOL, IN_JOB(retry.time_limit),
	  "Also after an attempt that reached its time limit.", "false", 0, 0, NULL, NULL },
};
static const struct field_set retry_set = SET("retry", retry);

static const struct field array[] = {
	{ "count", FIELD_INT, IN_JOB(array.count),
	  "How many members there are, when there is no sweep.", NULL, 1, ARRAY_MEMBERS_MAX, NULL, NULL },
	{ "sweep", FIELD_SWEEP, 0,
	  "One member for each combination of these values; the last name varies fastest. A member finds its values among the hyperparameters, and `{NAME}` in its command is replaced by them.",
	  NULL, 0, 0, NULL, NULL },
	{ "parallel", FIELD_INT, IN_JOB(array.parallel),
	  "Most members that run or wait for room at the same time; 0: as many as there is room for.", "0", 0, ARRAY_MEMBERS_MAX, NULL, NULL },
	{ "stop-after-failures", FIELD_INT, IN_JOB(array.stop_after),
	  "So many failed members stop the rest; 0: none does.", "0", 0, ARRAY_MEMBERS_MAX, NULL, NULL },
};
static const struct field_set array_set = SET("array", array);

static const struct field job[] = {
	{ "name", FIELD_TEXT, IN_JOB(name),
	  "Name of the job; need not be unique.", "the command's first word", 0, 0, NULL, NULL },
	{ "group", FIELD_TEXT, IN_JOB(group),
	  "Group whose quota the job counts against.", "the user's own", 0, 0, NULL, NULL },
	{ "priority", FIELD_INT, IN_JOB(priority),
	  "Greater goes first.", "0", -SPEC_PRIORITY_MAX, SPEC_PRIORITY_MAX, NULL, NULL },
	{ "preemptible", FIELD_BOOL, IN_JOB(preemptible),
	  "Gives way to jobs that are not preemptible, and to those of higher priority: it is told to stop, has its grace, waits again with its age, and is begun anew.", "false", 0, 0, NULL, NULL },
	{ "within", FIELD_WITHIN, IN_JOB(within),
	  "How near to each other all tasks should be placed: in one rack, behind one switch, on one node, or on devices of one node that are linked closely.", "anywhere", 0, 0, NULL, NULL },
	{ "within-must", FIELD_BOOL, IN_JOB(within_must),
	  "The job waits until `within` can be had; else it is a wish.", "false", 0, 0, NULL, NULL },
	{ "labels", FIELD_TEXTS, IN_JOB(labels),
	  "Free words to find the job by.", "none", 0, 0, NULL, NULL },
	{ "roles", FIELD_ROLES, 0,
	  "The job's roles. A job of one role may leave this out and have the role's fields at the top.",
	  NULL, 0, 0, NULL, &native_role },
	{ "retry", FIELD_RETRY, 0,
	  "Whether the job is tried again.", NULL, 0, 0, NULL, &retry_set },
	{ "time-limit", FIELD_DURATION, IN_JOB(time_limit_ms),
	  "Longest run of one attempt; 0 is none.", "none", 0, 0, NULL, NULL },
	{ "grace", FIELD_DURATION, IN_JOB(grace_ms),
	  "Time between the signal to stop and the kill.", "30s", 0, 0, NULL, NULL },
	{ "grace-max", FIELD_DURATION, IN_JOB(grace_max_ms),
	  "The kill waits longer, up to this, while files are still being written to the output `checkpoints`.", "5m, or `grace` if that is more", 0, 0, NULL, NULL },
	{ "contract", FIELD_CONTRACT, IN_JOB(contract),
	  "Which folders and variables a task finds; see [contract](contract.md).", "native", 0, 0, NULL, NULL },
	{ "requirements", FIELD_REQUIREMENTS, 0,
	  "Python packages that pip installs before the command: those of the code's requirements.txt, and of this list, which wins.", "false; true in an estimator's job", 0, 0, NULL, NULL },
	{ "metrics", FIELD_METRICS, 0,
	  "Numbers that lines of the log tell: regular expressions with one group around the number.", "none", 0, 0, NULL, NULL },
	{ "inputs", FIELD_INPUTS, 0,
	  "Data that each task finds, read-only, in /ml/input/data/NAME.", "none", 0, 0, NULL, NULL },
	{ "outputs", FIELD_OUTPUTS, 0,
	  "Folders /ml/output/NAME that are kept.", "none", 0, 0, NULL, NULL },
	{ "hyperparameters", FIELD_VALUES, IN_JOB(hyperparameters),
	  "Values that each task finds in /ml/input/config/hyperparameters.json.", "none", 0, 0, NULL, NULL },
	{ "services", FIELD_SERVICES, 0,
	  "Names for ports of a role's first task; every task finds the address in YARD_SERVICE_NAME.",
	  "none", 0, 0, NULL, NULL },
	{ "after", FIELD_AFTER, 0,
	  "Jobs that must have ended, however they did.", "none", 0, 0, NULL, NULL },
	{ "after-ok", FIELD_AFTER_OK, 0,
	  "Jobs that must have succeeded.", "none", 0, 0, NULL, NULL },
	{ "secrets", FIELD_SECRETS, 0,
	  "Secrets that each task finds, by name, as variables or files; see [secrets](secrets.md).", "none", 0, 0, NULL, NULL },
	{ "array", FIELD_ARRAY, 0,
	  "Many jobs of this one file: its members.", NULL, 0, 0, NULL, &array_set },
	{ "code", FIELD_TEXT, IN_JOB(code),
	  "What is in /ml/usercode: the hash of a snapshot, which `yard run` and `yard submit --code DIR` fill in, or the URI of a folder or archive.", "none",
	  0, 0, NULL, NULL },
};
const struct field_set native_job = SET("job", job);

static const struct field_habit habits[] = {
	{ "args", "command: [program, argument, ...]" },
	{ "argv", "command: [program, argument, ...]" },
	{ "cmd", "command" },
	{ "script", "command" },
	{ "run", "command" },
	{ "cpus", "resources: {cpu: N}" },
	{ "depends", "after-ok" },
	{ "dependencies", "after-ok" },
	{ "pip", "requirements" },
	{ "packages", "requirements" },
	{ "hyper-parameters", "hyperparameters" },
	{ "environment", "env" },
	{ "gpu", "resources: {devices: {gpu: N}}" },
	{ "gpus", "resources: {devices: {gpu: N}}" },
	{ "npu", "resources: {devices: {npu: N}}" },
	/* right words in the wrong place */
	{ "cpu", "resources: {cpu: N}" },
	{ "memory", "resources: {memory: SIZE}" },
	{ "shm", "resources: {shm: SIZE}" },
	{ "devices", "resources: {devices: {KIND: N}}" },
	{ "fail-after", "completion: {fail-after: N}" },
	{ "succeed-after", "completion: {succeed-after: N}" },
	{ "backoff", "retry: {backoff: TIME}" },
	{ "instances", "count" },
	{ "replicas", "count" },
	{ "tasks", "count" },
	{ "mem", "resources: {memory: SIZE}" },
	{ "ram", "resources: {memory: SIZE}" },
	{ "grid", "array: {sweep: {NAME: [VALUE, ...]}}" },
	{ "matrix", "array: {sweep: {NAME: [VALUE, ...]}}" },
	{ "sweep", "array: {sweep: {NAME: [VALUE, ...]}}" },
	{ "params", "hyperparameters" },
	{ "parameters", "hyperparameters" },
	{ "retries", "retry" },
	{ "shared-memory", "resources: {shm: SIZE}" },
	{ "taskRoles", "roles" },
	{ "timeout", "time-limit" },
	{ "walltime", "time-limit" },
	{ "volumes", "inputs or outputs" },
};

#define JSON_TEXT   "{\"type\":\"string\"}"
#define JSON_SCALAR "{\"type\":[\"string\",\"number\",\"boolean\"]}"
#define JSON_BYTES  "{\"type\":\"string\",\"pattern\":\"^([0-9]+([.][0-9]+)?|[.][0-9]+) ?([KMGTP]i?B?|kB?|B)?$\"}"
#define JSON_CPU    "{\"type\":\"string\",\"pattern\":\"^([0-9]+([.][0-9]+)?|[.][0-9]+) ?m?$\"}"
#define JSON_TIME   "{\"type\":\"string\",\"pattern\":" \
	"\"^([0-9]*[.]?[0-9]+ ?(w|d|h|min|m|sec|s|ms) ?)+$|^[0-9]*[.]?[0-9]+$\"}"
#define JSON_NUMBER "{\"type\":\"number\",\"minimum\":0}"
#define JSON_ID     "{\"type\":\"integer\",\"minimum\":1}"
#define JSON_PORT   "{\"type\":\"integer\",\"minimum\":1024,\"maximum\":65535}"
#define JSON_NAMES  "{\"type\":\"array\",\"items\":" JSON_TEXT "}"
#define EITHER(a, b) "{\"anyOf\":[" a "," b "]}"
#define JSON_IDS     EITHER(JSON_ID, "{\"type\":\"array\",\"items\":" JSON_ID "}")
#define MAP_TO(a)    "{\"type\":\"object\",\"additionalProperties\":" a "}"

const struct field_type field_types[FIELD_KIND_COUNT] = {
	[FIELD_TEXT] = { "a text", JSON_TEXT },
	[FIELD_BOOL] = { "true or false", "{\"type\":\"boolean\"}" },
	[FIELD_INT] = { "a whole number", NULL },
	[FIELD_INT_OR] = { "a whole number", NULL },
	[FIELD_BYTES] = { "a size such as 512Mi or 1.5G", EITHER(JSON_BYTES, JSON_NUMBER) },
	[FIELD_CPU] = { "a number of cores such as 2, 0.5 or 500m", EITHER(JSON_CPU, JSON_NUMBER) },
	[FIELD_DURATION] = { "a time such as 90s, 1.5h or 1h30m", EITHER(JSON_TIME, JSON_NUMBER) },
	[FIELD_COMMAND] = { "a shell line, or a list of program and arguments",
		EITHER(JSON_TEXT, "{\"type\":\"array\",\"minItems\":1,\"items\":" JSON_SCALAR "}") },
	[FIELD_TEXTS] = { "a map of names to texts", MAP_TO("{\"type\":[\"string\",\"number\",\"boolean\",\"null\"]}") },
	[FIELD_VALUES] = { "a map of names to values", "{\"type\":\"object\"}" },
	[FIELD_DEVICES] = { "a map of kinds to counts, such as {gpu: 1}, {gpu: 0.5} or {gpu:a100: 2}",
		MAP_TO("{\"anyOf\":[{\"type\":\"integer\",\"minimum\":0,\"maximum\":64},"
			"{\"type\":\"number\",\"exclusiveMinimum\":0,\"exclusiveMaximum\":1}]}") },
	[FIELD_WITHIN] = { "rack, switch, node or island",
		"{\"enum\":[\"any\",\"rack\",\"switch\",\"node\",\"island\"]}" },
	[FIELD_CONTRACT] = { "native or estimator", "{\"enum\":[\"native\",\"estimator\"]}" },
	[FIELD_REQUIREMENTS] = { "true, false, or a list of requirements such as numpy>=1.26",
		EITHER("{\"type\":\"boolean\"}", JSON_NAMES) },
	[FIELD_METRICS] = { "a map of names to regular expressions, or a list of {name: NAME, pattern: REGEX}",
		EITHER(MAP_TO(JSON_TEXT), "{\"type\":\"array\",\"items\":{\"type\":\"object\","
			"\"additionalProperties\":false,\"required\":[\"name\",\"pattern\"],"
			"\"properties\":{\"name\":" JSON_TEXT ",\"pattern\":" JSON_TEXT "}}}") },
	[FIELD_PORTS] = { "a list of names, or a map of names to any, to a port number, or to {count: N} or {port: N}",
		EITHER(JSON_NAMES, MAP_TO("{\"anyOf\":[{\"enum\":[\"any\",null]}," JSON_PORT
			",{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"count\":"
			"{\"type\":\"integer\",\"minimum\":1,\"maximum\":32},\"port\":" JSON_PORT "}}]}")) },
	[FIELD_INPUTS] = { "a map of names to paths or URIs", MAP_TO(JSON_TEXT) },
	[FIELD_OUTPUTS] = { "a list of names, or a map of names to paths, URIs or nothing",
		EITHER(JSON_NAMES, MAP_TO("{\"type\":[\"string\",\"null\"]}")) },
	[FIELD_SERVICES] = { "a map of names to {role: ROLE, port: NAME}",
		MAP_TO("{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"port\"],"
			"\"properties\":{\"role\":" JSON_TEXT ",\"port\":" JSON_TEXT "}}") },
	[FIELD_AFTER] = { "the number of a job, or a list of them", JSON_IDS },
	[FIELD_AFTER_OK] = { "the number of a job, or a list of them", JSON_IDS },
	[FIELD_GROUP] = { "a map", NULL },
	[FIELD_RETRY] = { "a map, or just the number of further attempts", NULL },
	[FIELD_MODE] = { "an octal number such as 0600", "{\"type\":[\"string\",\"integer\"]}" },
	[FIELD_SECRETS] = { "a list of {name: NAME, env: VARIABLE} or {name: NAME, file: PATH, mode: 0600}, each also with from: group/NAME",
		"{\"type\":\"array\",\"maxItems\":32,\"items\":{\"type\":\"object\",\"additionalProperties\":false,"
			"\"required\":[\"name\"],\"properties\":{\"name\":" JSON_TEXT ",\"env\":" JSON_TEXT ",\"file\":" JSON_TEXT
			",\"from\":" JSON_TEXT ",\"mode\":{\"type\":[\"string\",\"integer\"]}}}}" },
	[FIELD_ARRAY] = { "a map, or just the number of members", NULL },
	[FIELD_SWEEP] = { "a map of names to lists of values, or to a range such as 1..5 or 0..100..10",
		MAP_TO("{\"anyOf\":[{\"type\":\"array\",\"minItems\":1},{\"type\":\"string\","
			"\"pattern\":\"^-?[0-9]+[.][.]-?[0-9]+([.][.]-?[0-9]+)?$\"}]}") },
	[FIELD_ROLES] = { "a list of roles, or a map of names to roles", NULL },
};
// clang-format on

const char *native_habit(const char *wrong)
{
	for (size_t i = 0; i < COUNT_OF(habits); i++)
		if (strcmp(habits[i].wrong, wrong) == 0)
			return habits[i].right;
	return NULL;
}

const struct field *field_find(const struct field_set *set, const char *name)
{
	for (size_t i = 0; i < set->count; i++)
		if (strcmp(set->fields[i].name, name) == 0)
			return &set->fields[i];
	return NULL;
}

// SPDX-License-Identifier: Apache-2.0
/* The shapes of the yard itself; and of errors. */
#include "wire/shape.h"

#include "job/node.h"
#include "job/resources.h"

#define OPT WIRE_OPTIONAL
#define CODES                                                                                \
	"invalid not-found denied unknown-caller conflict too-large quota unsupported busy " \
	"timeout io corrupt internal"

/* clang-format off */
static const struct wire_field problem[] = {
	{ "line", WIRE_INT, 0, "of the file, from 1; 0: nowhere in it" },
	{ "column", WIRE_INT, 0, "of the line, from 1" },
	{ "field", WIRE_TEXT, 0, "as the file writes it" },
	{ "message", WIRE_TEXT, 0, "what is wrong and what is allowed" },
	{ 0 }
};
static const struct wire_field error_body[] = {
	{ "code", WIRE_TEXT, 0, "stable: what class of error it is", .words = CODES },
	{ "message", WIRE_TEXT, 0, "one sentence for a person" },
	{ "field", WIRE_TEXT, OPT, "the field, parameter or header that is wrong" },
	{ "reason", WIRE_TEXT, OPT, "one word by which programs tell this refusal from others" },
	{ "problems", WIRE_LIST, OPT, "all that is wrong with a job file", "problem" },
	{ 0 }
};
static const struct wire_field error[] = {
	{ "error", WIRE_OBJECT, 0, "what went wrong", "error_body" },
	{ 0 }
};
static const struct wire_field version[] = {
	{ "name", WIRE_TEXT, 0, "trainyard" },
	{ "version", WIRE_TEXT, 0, "of the daemon" },
	{ "api", WIRE_TEXT, 0, "of this interface" },
	{ 0 }
};
static const struct wire_field health[] = {
	{ "status", WIRE_TEXT, 0, "ok", .words = "ok" },
	{ "live_jobs", WIRE_INT, OPT, "how many have not ended; only for one who is known" },
	{ 0 }
};
static const struct wire_field resources[] = {
	{ "cpu_milli", WIRE_INT, 0, "thousandths of a core" },
	{ "memory_bytes", WIRE_INT, 0, "memory" },
	{ "devices", WIRE_MAP, 0, "device type to how many, in parts too", "amount" },
	{ 0 }
};
static const struct wire_field node[] = {
	{ "name", WIRE_TEXT, 0, "what the machine is called" },
	{ "up", WIRE_BOOL, 0, "whether it takes tasks" },
	{ "simulated_devices", WIRE_BOOL, 0, "its devices were declared, not found" },
	{ "capacity", WIRE_OBJECT, 0, "what it has", "resources" },
	{ "used", WIRE_OBJECT, 0, "what is taken of it", "resources" },
	{ "tasks", WIRE_INT, 0, "how many run there" },
	{ "max_tasks", WIRE_INT, OPT, "how many may" },
	{ "port_first", WIRE_INT, 0, "the first port it gives out" },
	{ "port_last", WIRE_INT, 0, "the last one" },
	{ "state", WIRE_TEXT, 0, "whether it takes new tasks, as an admin says", .words = "open drain quarantine" },
	{ "reason", WIRE_TEXT, 0, "of a state that is not open" },
	{ "windows", WIRE_LIST, 0, "when it is kept for others", "node_window" },
	{ "rack", WIRE_TEXT, 0, "where it stands; empty: not known" },
	{ "switch", WIRE_TEXT, 0, "behind which switch; empty: not known" },
	{ "labels", WIRE_MAP, 0, "what jobs may ask for by `where`", "text" },
	{ "island", WIRE_INT, 0, "so many devices are linked closely, counted from device 0; 0: all of them" },
	{ "rings", WIRE_BOOL, 0, "islands are rings with the rules of Ascend 910" },
	{ 0 }
};
static const struct wire_field node_window[] = {
	{ "from_ms", WIRE_INT, 0, "when it begins, in milliseconds since 1970", .min = 0, .max = INT64_MAX },
	{ "to_ms", WIRE_INT, 0, "when it ends", .min = 0, .max = INT64_MAX },
	{ "group", WIRE_TEXT, OPT, "whose jobs may run there then; empty: nobody's", .max = 63, .pattern = "^([A-Za-z_][A-Za-z0-9._-]*)?$" },
	{ 0 }
};
#define PLACE_NAME .max = NODE_PLACE_MAX - 1, .pattern = "^([A-Za-z0-9][A-Za-z0-9._/-]*)?$"
static const struct wire_field node_change[] = {
	{ "state", WIRE_TEXT, OPT, "open: it takes tasks; drain: what runs stays, nothing new comes; quarantine: the same, because something is wrong with it", .words = "open drain quarantine" },
	{ "reason", WIRE_TEXT, OPT, "why it is not open; of a quarantine it must be said", .max = (NODE_REASON_MAX - 1) / 4 },
	{ "windows", WIRE_LIST, OPT, "all of them anew: jobs that could run into one do not start there", "node_window", .max = NODE_WINDOWS_MAX },
	{ "rack", WIRE_TEXT, OPT, "where it stands; empty: as found", PLACE_NAME },
	{ "switch", WIRE_TEXT, OPT, "behind which switch; empty: as found", PLACE_NAME },
	{ "labels", WIRE_MAP, OPT, "all of them anew", "text", .max = 16, .pattern = "^[A-Za-z0-9][A-Za-z0-9._/-]*$" },
	{ "island", WIRE_INT, OPT, "so many devices are linked closely; 0: as found", .min = 0, .max = DEVICES_MAX },
	{ "rings", WIRE_BOOL, OPT, "islands are rings with the rules of Ascend 910" },
	{ 0 }
};
static const struct wire_field nodes[] = {
	{ "nodes", WIRE_LIST, 0, "all machines", "node" },
	{ 0 }
};
static const struct wire_field quota[] = {
	{ "cpu_milli", WIRE_INT, OPT | WIRE_NULL, "thousandths of a core; null: no limit", .max = INT64_MAX / 1024 },
	{ "memory_bytes", WIRE_INT, OPT | WIRE_NULL, "memory; null: no limit", .max = INT64_MAX / 1024 },
	{ "devices", WIRE_MAP, OPT, "device type to count", "count", .max = DEVICE_KINDS_MAX, .pattern = "^[A-Za-z0-9][A-Za-z0-9:._-]{0,30}$" },
	{ "max_running_jobs", WIRE_INT, OPT | WIRE_NULL, "at a time; null: no limit", .max = INT32_MAX },
	{ 0 }
};
static const struct wire_field quota_of[] = {
	{ "scope", WIRE_TEXT, 0, "user or group", .words = "user group" },
	{ "name", WIRE_TEXT, 0, "whose" },
	{ "quota", WIRE_OBJECT, 0, "the limits", "quota" },
	{ 0 }
};
static const struct wire_field quotas[] = {
	{ "quotas", WIRE_LIST, 0, "those that are set", "quota_of" },
	{ 0 }
};
static const struct wire_field backup[] = {
	{ "path", WIRE_TEXT, 0, "the absolute path of a file to write, on the daemon's machine", .min = 1, .max = 4095, .pattern = "^/" },
	{ 0 }
};
static const struct wire_field setting[] = {
	{ "name", WIRE_TEXT, 0, "as its flag is called" },
	{ "value", WIRE_ANY, 0, "a text, a number or a list; null: not given" },
	{ "from", WIRE_TEXT, 0, "where the value comes from", .words = "default file environment flag changed" },
	{ "live", WIRE_BOOL, 0, "whether it may be changed while the daemon runs" },
	{ "help", WIRE_TEXT, 0, "what it is for" },
	{ 0 }
};
static const struct wire_field settings[] = {
	{ "settings", WIRE_LIST, 0, "all of them", "setting" },
	{ 0 }
};
#define SPAN   "^(0|[0-9]{1,6}(ms|s|m|h|d))$"
#define RULES  "yard fgd bestfit dotprod clustering packing random"
#define WEIGHT "of the rule yard, in thousandths", .min = 0, .max = 1000000
static const struct wire_field settings_change[] = {
	{ "log-limit", WIRE_TEXT, OPT | WIRE_NULL, "how much of one attempt's log is kept, such as 512Mi", .pattern = "^[1-9][0-9]{0,8}[KMG]i$" },
	{ "code-keep", WIRE_TEXT, OPT | WIRE_NULL, "how long code is kept that no job uses, such as 30d", .pattern = "^[1-9][0-9]{0,3}[mhd]$" },
	{ "max-jobs", WIRE_INT, OPT | WIRE_NULL, "jobs that have not ended, of one user who is not admin", .min = 1, .max = 100000000 },
	{ "cache-size", WIRE_TEXT, OPT | WIRE_NULL, "how much of what was fetched from elsewhere is kept, such as 50Gi", .pattern = "^[1-9][0-9]{0,8}[KMG]i$" },
	{ "max-priority", WIRE_INT, OPT | WIRE_NULL, "the highest priority of one who is not admin", .min = 1, .max = 1000 },
	{ "max-boards", WIRE_INT, OPT | WIRE_NULL, "TensorBoards at a time of one user", .min = 1, .max = 1000 },
	{ "tensorboard-limit", WIRE_TEXT, OPT | WIRE_NULL, "how long a TensorBoard runs before it is ended, such as 4h", .pattern = "^[1-9][0-9]{0,3}[mhd]$" },
	{ "plan-fair", WIRE_TEXT, OPT | WIRE_NULL, "whether shares of groups count", .words = "off on" },
	{ "plan-age-bound", WIRE_TEXT, OPT | WIRE_NULL, "after so long a job goes before everybody, such as 1d; 0s: never", .pattern = SPAN },
	{ "plan-half-life", WIRE_TEXT, OPT | WIRE_NULL, "of past use, in whole hours; 0s: only what is held now counts", .pattern = SPAN },
	{ "plan-backfill", WIRE_TEXT, OPT | WIRE_NULL, "whether small jobs may pass a head that waits, where that costs it nothing", .words = "off on" },
	{ "plan-preempt", WIRE_TEXT, OPT | WIRE_NULL, "whether preemptible jobs give way, and what was borrowed is taken back", .words = "off on" },
	{ "plan-min-run", WIRE_TEXT, OPT | WIRE_NULL, "nobody is preempted before it ran so long", .pattern = SPAN },
	{ "plan-believe-guesses", WIRE_TEXT, OPT | WIRE_NULL, "whether learned run times count as the limits of jobs that have none", .words = "off on" },
	{ "plan-rule", WIRE_TEXT, OPT | WIRE_NULL, "where tasks are placed: ours, or a published rule", .words = RULES },
	{ "plan-weight-fragment", WIRE_INT, OPT | WIRE_NULL, WEIGHT },
	{ "plan-weight-slack", WIRE_INT, OPT | WIRE_NULL, WEIGHT },
	{ "plan-weight-scarcity", WIRE_INT, OPT | WIRE_NULL, WEIGHT },
	{ "plan-weight-balance", WIRE_INT, OPT | WIRE_NULL, WEIGHT },
	{ "plan-weight-gap", WIRE_INT, OPT | WIRE_NULL, WEIGHT },
	{ 0 }
};
static const struct wire_field done[] = {
	{ "done", WIRE_BOOL, 0, "true" },
	{ 0 }
};

const struct wire_shape wire_shapes_yard[] = {
	{ "problem", "one thing that is wrong with a file", problem },
	{ "error_body", "what went wrong", error_body },
	{ "error", "every answer that is no success", error,
		"{\"error\":{\"code\":\"not-found\",\"message\":\"there is no job 7\"}}" },
	{ "version", "what runs here", version },
	{ "health", "whether requests are answered", health },
	{ "resources", "what there is or what is taken", resources },
	{ "node", "a machine", node },
	{ "node_window", "a time in which a machine is kept for others", node_window },
	{ "node_change", "what is to be changed of a machine", node_change, "{\"state\":\"drain\",\"reason\":\"new memory\"}", true },
	{ "nodes", "the machines", nodes },
	{ "quota", "what may be used at a time", quota, "{\"cpu_milli\":16000,\"max_running_jobs\":4}", true },
	{ "quota_of", "whose quota it is", quota_of },
	{ "quotas", "whose quotas are set", quotas },
	{ "backup", "where to", backup, NULL, true },
	{ "setting", "a setting of the daemon", setting },
	{ "settings", "all settings", settings },
	{ "settings_change", "what is to be changed", settings_change, "{\"max-jobs\":500,\"code-keep\":null}", true },
	{ "done", "it is done", done },
	{ 0 }
};
/* clang-format on */

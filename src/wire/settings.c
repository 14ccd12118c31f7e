// SPDX-License-Identifier: Apache-2.0
#include "wire/settings.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define INTO(field) OPT_INTO(struct settings, field)

/* clang-format off */
static const struct setting rows[] = {
	{ { "state", 0, OPT_TEXT, INTO(state), "DIR",
		"where everything is kept: jobs, logs, outputs, the database" }, "YARD_STATE" },
	{ { "socket", 0, OPT_TEXT, INTO(socket), "PATH",
		"the unix socket to listen on" }, "YARD_SOCKET" },
	{ { "listen", 0, OPT_TEXT, INTO(listen), "ADDR:PORT",
		"also listen here by TCP; port 0 takes a free one" }, "YARD_LISTEN" },
	{ { "tls", 0, OPT_TEXT, INTO(tls), "WHEN",
		"TLS for callers by TCP: on, off, or auto: unless only this machine can call (auto)" }, "YARD_TLS" },
	{ { "tls-cert", 0, OPT_TEXT, INTO(tls_cert), "FILE",
		"the certificate in PEM, with those above it; if not given, one is made" }, "YARD_TLS_CERT" },
	{ { "tls-key", 0, OPT_TEXT, INTO(tls_key), "FILE",
		"the certificate's key in PEM, which nobody else may read" }, "YARD_TLS_KEY" },
	{ { "node-name", 0, OPT_TEXT, INTO(node_name), "NAME",
		"what this machine is called; its host name if not given" }, "YARD_NODE_NAME" },
	{ { "cpu", 0, OPT_CPU, INTO(cpu_milli), "N",
		"cores to give out; what the machine has if not given" }, "YARD_CPU" },
	{ { "memory", 0, OPT_BYTES, INTO(memory_bytes), "SIZE",
		"memory to give out; what the machine has if not given" }, "YARD_MEMORY" },
	{ { "sim-device", 0, OPT_LIST, INTO(sim_devices), "TYPE=N",
		"declare simulated devices, such as gpu=8" }, "YARD_SIM_DEVICE" },
	{ { "sim-nodes", 0, OPT_INT, INTO(sim_nodes), "N",
		"with --engine sim: so many nodes, each with the devices declared (1)", 1, 10000 },
		"YARD_SIM_NODES" },
	{ { "log-limit", 0, OPT_BYTES, INTO(log_limit_bytes), "SIZE",
		"how much of one attempt's log is kept, the oldest goes first (1Gi)" }, "YARD_LOG_LIMIT" },
	{ { "code-limit", 0, OPT_BYTES, INTO(code_limit_bytes), "SIZE",
		"how large one code snapshot may be (2Gi)" }, "YARD_CODE_LIMIT" },
	{ { "code-keep", 0, OPT_DURATION, INTO(code_keep_ms), "TIME",
		"how long code is kept that no job uses (30d)" }, "YARD_CODE_KEEP" },
	{ { "storage-root", 0, OPT_TEXT, INTO(storage_root), "DIR",
		"where homes, shares and public files lie: a local disk or a mounted one (STATE/pfs)" }, "YARD_STORAGE_ROOT" },
	{ { "storage-dc", 0, OPT_TEXT, INTO(storage_dc), "NAME",
		"what the storage is called in paths: /pfs/NAME/home/... (local)" }, "YARD_STORAGE_DC" },
	{ { "storage-quota", 0, OPT_BYTES, INTO(storage_quota_bytes), "SIZE",
		"how much one home may hold before uploads to it are refused; none if not given" }, "YARD_STORAGE_QUOTA" },
	{ { "cache-size", 0, OPT_BYTES, INTO(cache_bytes), "SIZE",
		"how much of what was fetched from elsewhere is kept (50Gi, or half of the free disk if that is less)" },
		"YARD_CACHE_SIZE" },
	{ { "s3-endpoint", 0, OPT_TEXT, INTO(s3_endpoint), "URL",
		"where buckets are whose account says nothing else, such as https://s3.example.org" }, "YARD_S3_ENDPOINT" },
	{ { "s3-region", 0, OPT_TEXT, INTO(s3_region), "NAME",
		"the region of such buckets (us-east-1)" }, "YARD_S3_REGION" },
	{ { "webhdfs-gateway", 0, OPT_TEXT, INTO(webhdfs_gateway), "URL",
		"where hdfs:// is served by WebHDFS or HttpFS, such as http://namenode:9870" }, "YARD_WEBHDFS_GATEWAY" },
	{ { "nas", 0, OPT_LIST, INTO(nas), "NAME=DIR",
		"a mounted folder that jobs may name as nas://NAME/..." }, "YARD_NAS" },
	{ { "mnt-root", 0, OPT_LIST, INTO(mnt_roots), "NAME=DIR",
		"a further storage root: tasks find /NAME/user/USER and /NAME/share/GROUP; NAME begins with mnt" }, "YARD_MNT_ROOT" },
	{ { "file-roots", 0, OPT_LIST, INTO(file_roots), "DIR",
		"a folder that file: inputs and outputs may lie in; if none is given, wherever their owner may" }, "YARD_FILE_ROOTS" },
	{ { "wheel-folder", 0, OPT_TEXT, INTO(wheel_folder), "DIR",
		"packages that pip finds here when it installs a job's requirements; everybody's to read" }, "YARD_WHEEL_FOLDER" },
	{ { "pip-no-index", 0, OPT_FLAG, INTO(pip_no_index), NULL,
		"pip asks no index on the network: only wheel folders count" }, "YARD_PIP_NO_INDEX" },
	{ { "max-jobs", 0, OPT_INT, INTO(max_jobs), "N",
		"jobs that have not ended, of one user who is not admin (10000)", 1, 100000000 },
		"YARD_MAX_JOBS" },
	{ { "max-priority", 0, OPT_INT, INTO(max_priority), "N",
		"the highest priority of one who is not admin (100)", 1, 1000 }, "YARD_MAX_PRIORITY" },
	{ { "max-tasks", 0, OPT_INT, INTO(max_tasks), "N",
		"tasks at a time on this machine (64 a core, at least 512)", 1, 1000000 },
		"YARD_MAX_TASKS" },
	{ { "max-boards", 0, OPT_INT, INTO(max_boards), "N",
		"TensorBoards at a time of one user (5)", 1, 1000 }, "YARD_MAX_BOARDS" },
	{ { "tensorboard-limit", 0, OPT_DURATION, INTO(board_limit_ms), "TIME",
		"how long a TensorBoard runs before it is ended (4h)" }, "YARD_TENSORBOARD_LIMIT" },
	{ { "engine", 0, OPT_TEXT, INTO(engine), "NAME",
		"what runs tasks: process (this machine), or sim (nothing is really run)" }, "YARD_ENGINE" },
	{ { "plan-fair", 0, OPT_CHOICE, INTO(plan.fair), "off|on",
		"whether the shares of groups count, or only priority and time (on)" }, "YARD_PLAN_FAIR" },
	{ { "plan-age-bound", 0, OPT_DURATION, INTO(plan.age_bound_ms), "TIME",
		"after so long a job goes before everybody; 0: never (1d)" }, "YARD_PLAN_AGE_BOUND" },
	{ { "plan-half-life", 0, OPT_DURATION, INTO(plan.half_life_ms), "TIME",
		"of past use, in whole hours; 0: only what is held now counts (1d)" }, "YARD_PLAN_HALF_LIFE" },
	{ { "plan-backfill", 0, OPT_CHOICE, INTO(plan.backfill), "off|on",
		"whether jobs may pass a head that waits, where that costs it nothing (on)" }, "YARD_PLAN_BACKFILL" },
	{ { "plan-preempt", 0, OPT_CHOICE, INTO(plan.preempt), "off|on",
		"whether preemptible jobs give way, and what was borrowed is taken back (on)" }, "YARD_PLAN_PREEMPT" },
	{ { "plan-min-run", 0, OPT_DURATION, INTO(plan.min_run_ms), "TIME",
		"nobody is preempted before it ran so long (1m)" }, "YARD_PLAN_MIN_RUN" },
	{ { "plan-believe-guesses", 0, OPT_CHOICE, INTO(plan.believe_guesses), "off|on",
		"whether learned run times count as the limits of jobs that have none (off)" }, "YARD_PLAN_BELIEVE_GUESSES" },
	{ { "plan-rule", 0, OPT_CHOICE, INTO(plan.rule), "yard|fgd|bestfit|dotprod|clustering|packing|random",
		"where tasks are placed: ours, or a published rule (yard)" }, "YARD_PLAN_RULE" },
	{ { "plan-weight-fragment", 0, OPT_INT, INTO(plan.fragment), "N",
		"of the rule yard, in thousandths: what is left in useless pieces", 0, 1000000 }, "YARD_PLAN_WEIGHT_FRAGMENT" },
	{ { "plan-weight-balance", 0, OPT_INT, INTO(plan.balance), "N",
		"the same: devices that would stand idle for want of cpu", 0, 1000000 }, "YARD_PLAN_WEIGHT_BALANCE" },
	{ { "plan-weight-gap", 0, OPT_INT, INTO(plan.gap), "N",
		"the same: what a share spoils of the device it is cut from", 0, 1000000 }, "YARD_PLAN_WEIGHT_GAP" },
	{ { "plan-weight-scarcity", 0, OPT_INT, INTO(plan.scarcity), "N",
		"the same: to spare what is rare", 0, 1000000 }, "YARD_PLAN_WEIGHT_SCARCITY" },
	{ { "plan-weight-slack", 0, OPT_INT, INTO(plan.slack), "N",
		"the same: how little is left free", 0, 1000000 }, "YARD_PLAN_WEIGHT_SLACK" },
	{ { "record-plan", 0, OPT_FLAG, INTO(record_plan), NULL,
		"write down what the scheduler is told, in STATE/plan.journal: see `yard simulate --replay`" }, "YARD_RECORD_PLAN" },
	{ { "config", 0, OPT_TEXT, INTO(config), "FILE",
		"the settings file" }, "YARD_CONFIG" },
	{ { "ready-fd", 0, OPT_INT, INTO(ready_fd), "N",
		"write a line to this descriptor once requests are answered", 0, 1 << 20 }, NULL },
	{ { "restore", 0, OPT_TEXT, INTO(restore), "FILE",
		"put a backup in the database's place, then end; no daemon may run" }, NULL },
	{ { "version", 0, OPT_FLAG, INTO(version), NULL,
		"print the version, then end" }, NULL },
};
/* clang-format on */

size_t settings_rows(const struct setting **out)
{
	*out = rows;
	return COUNT_OF(rows);
}

static struct opts make_opts(struct opt table[COUNT_OF(rows)])
{
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		table[i] = rows[i].opt;
	return (struct opts){
		.program = "yardd",
		.operands = "",
		.summary = "The daemon: keeps the jobs, runs them, answers `yard`.",
		.table = table,
		.count = COUNT_OF(rows)
	};
}

static int add_device(struct settings *s, const char *text, struct err *err)
{
	struct resources r = { 0 };
	const char *eq = strrchr(text, '=');
	int64_t count;

	memcpy(r.devices, s->devices, sizeof r.devices);
	if (eq && eq > text && (size_t)(eq - text) < DEVICE_TYPE_MAX &&
	    str_to_i64(eq + 1, 0, DEVICES_MAX, &count) == 0) {
		AUTO_FREE char *type = mem_strndup(text, (size_t)(eq - text));
		if (resources_set_device(&r, type, (int)count)) {
			memcpy(s->devices, r.devices, sizeof r.devices);
			return 0;
		}
	}
	return err_set(
		err, ERR_INVALID,
		"--sim-device: '%s' is not TYPE=N with N from 0 to %d, such as gpu=8 (at most %d types)",
		text, DEVICES_MAX, DEVICE_KINDS_MAX);
}

/* One setting as if it were a flag before all others, so that later ones replace it. */
static int parse_one(struct settings *s, const struct opts *o, size_t row,
		     const char *value, struct err *err)
{
	AUTO_OPTS_LIST struct opts_list operands = { 0 };
	AUTO_FREE char *flag = str_printf("--%s", rows[row].opt.name);
	char *argv[] = { flag, (char *)(uintptr_t)value };
	int argc = rows[row].opt.kind == OPT_FLAG ? 1 : 2;

	return opts_parse(o, argc, argv, s, &operands, err) == OPTS_OK ? 0 : -1;
}

static int parse_env(struct settings *s, const struct opts *o,
		     char *(*get)(const char *name), struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *value = rows[i].env ? get(rows[i].env) : NULL;
		if (!value || !*value)
			continue;
		if (parse_one(s, o, i, value, err) < 0)
			return err_wrap(err, "%s", rows[i].env);
		s->origin[i] = SETTINGS_ENV;
	}
	return 0;
}

static int unknown_key(const struct doc_node *n, struct err *err)
{
	const char *names[COUNT_OF(rows)];
	const char *guess;

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		names[i] = rows[i].opt.name;
	guess = str_guess(n->key, names, COUNT_OF(rows));
	return err_set(err, ERR_INVALID, "there is no setting '%s'%s%s%s", n->key,
		       guess ? "; did you mean '" : "; yardd --help lists them",
		       guess ? guess : "", guess ? "'?" : "");
}

static int parse_key(struct settings *s, const struct opts *o, const struct doc_node *n,
		     struct err *err)
{
	size_t row = 0;

	while (row < COUNT_OF(rows) && !str_eq(rows[row].opt.name, n->key))
		row++;
	if (row == COUNT_OF(rows) || !rows[row].env)
		return unknown_key(n, err);
	s->origin[row] = SETTINGS_FILE;
	if (n->kind == DOC_NULL)
		return 0;
	if (n->kind == DOC_MAP ||
	    (n->kind == DOC_LIST) != (rows[row].opt.kind == OPT_LIST && n->first))
		return err_set(err, ERR_INVALID, "'%s' is %s, not %s", n->key,
			       doc_kind_word(n->kind), rows[row].opt.value);
	if (n->kind != DOC_LIST)
		return parse_one(s, o, row, n->text, err);
	for (const struct doc_node *item = n->first; item; item = item->next)
		if (!item->text || parse_one(s, o, row, item->text, err) < 0)
			return item->text ? -1
					  : err_set(err, ERR_INVALID,
						    "'%s' is a list of texts", n->key);
	return 0;
}

static int parse_file(struct settings *s, const struct opts *o,
		      const struct settings_input *in, struct err *err)
{
	s->file = doc_parse(in->file, strlen(in->file), err);
	if (!s->file)
		return err_wrap(err, "%s", in->file_name);
	const struct doc_node *root = doc_root(s->file);
	if (root->kind == DOC_NULL)
		return 0;
	if (root->kind != DOC_MAP)
		return err_set(err, ERR_INVALID,
			       "%s: settings are lines of 'name: value'", in->file_name);
	for (const struct doc_node *n = root->first; n; n = n->next)
		if (parse_key(s, o, n, err) < 0)
			return err_wrap(err, "%s, line %d", in->file_name, n->key_line);
	return 0;
}

static void note_flags(struct settings *s, const struct settings_input *in)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		for (int k = 0; k < in->argc; k++) {
			size_t n = strlen(rows[i].opt.name);
			if (str_starts(in->argv[k], "--") &&
			    strncmp(in->argv[k] + 2, rows[i].opt.name, n) == 0 &&
			    (in->argv[k][n + 2] == '=' || !in->argv[k][n + 2]))
				s->origin[i] = SETTINGS_FLAG;
		}
}

static enum opts_result parse_flags(struct settings *s, const struct opts *o,
				    const struct settings_input *in, struct err *err)
{
	AUTO_OPTS_LIST struct opts_list operands = { 0 };
	enum opts_result got = opts_parse(o, in->argc, in->argv, s, &operands, err);

	note_flags(s, in);
	if (got != OPTS_OK || !operands.count)
		return got;
	err_set(err, ERR_INVALID, "'%s': yardd takes options only; --help lists them",
		operands.items[0]);
	return OPTS_BAD;
}

const char *settings_config(const struct settings_input *in)
{
	struct settings s = { 0 };
	struct opt table[COUNT_OF(rows)];
	struct opts o = make_opts(table);
	const char *from_env = in->get("YARD_CONFIG");

	parse_flags(&s, &o, in, NULL); /* what is wrong is told by settings_parse() */
	settings_fini(&s);
	return s.config ? s.config : from_env && *from_env ? from_env : NULL;
}

static void default_policy(struct settings *s)
{
	const struct plan_policy *p = &plan_policy_default;

	s->plan.fair = p->fair;
	s->plan.age_bound_ms = p->age_bound_ms;
	s->plan.half_life_ms = p->half_life_ms;
	s->plan.backfill = p->backfill;
	s->plan.preempt = p->preempt;
	s->plan.min_run_ms = p->min_run_ms;
	s->plan.believe_guesses = p->believe_guesses;
	s->plan.rule = p->rule;
	s->plan.fragment = p->weights.fragment;
	s->plan.slack = p->weights.slack;
	s->plan.scarcity = p->weights.scarcity;
	s->plan.balance = p->weights.balance;
	s->plan.gap = p->weights.gap;
}

void settings_policy(const struct settings *s, struct plan_policy *out)
{
	const int64_t hour_ms = 3600000, half = s->plan.half_life_ms;

	*out = plan_policy_default;
	out->fair = s->plan.fair;
	out->age_bound_ms = s->plan.age_bound_ms;
	out->half_life_ms = half / hour_ms * hour_ms + (half % hour_ms ? hour_ms : 0);
	out->backfill = s->plan.backfill;
	out->preempt = s->plan.preempt;
	out->min_run_ms = s->plan.min_run_ms;
	out->believe_guesses = s->plan.believe_guesses;
	out->rule = (enum placement_rule)s->plan.rule;
	out->weights.fragment = s->plan.fragment;
	out->weights.slack = s->plan.slack;
	out->weights.scarcity = s->plan.scarcity;
	out->weights.balance = s->plan.balance;
	out->weights.gap = s->plan.gap;
}

#define LISTS 4

static void lists_of(struct settings *s, struct opts_list *out[LISTS])
{
	out[0] = &s->sim_devices;
	out[1] = &s->nas;
	out[2] = &s->file_roots;
	out[3] = &s->mnt_roots;
}

static void count_lists(struct settings *s, size_t count[LISTS])
{
	struct opts_list *lists[LISTS];

	lists_of(s, lists);
	for (size_t i = 0; i < LISTS; i++)
		count[i] = lists[i]->count;
}

/* A list that stands higher replaces the one below. */
static void drop_lower(struct settings *s, const size_t before[LISTS])
{
	struct opts_list *lists[LISTS];

	lists_of(s, lists);
	for (size_t i = 0; i < LISTS; i++) {
		size_t n = before[i], more = lists[i]->count - n;
		if (!more)
			continue;
		memmove((void *)lists[i]->items, (const void *)(lists[i]->items + n),
			more * sizeof *lists[i]->items);
		lists[i]->count = more;
	}
}

enum opts_result settings_parse(struct settings *s, const struct settings_input *in,
				struct err *err)
{
	struct opt table[COUNT_OF(rows)];
	struct opts o = make_opts(table);
	size_t count[LISTS];

	*s = (struct settings){ .engine = "process",
				.log_limit_bytes = 1LL << 30,
				.code_limit_bytes = 2LL << 30,
				.code_keep_ms = 30LL * 24 * 3600 * 1000,
				.max_jobs = 10000,
				.max_priority = 100,
				.max_boards = 5,
				.board_limit_ms = 4LL * 3600 * 1000,
				.ready_fd = -1 };
	default_policy(s);
	if (in->file && parse_file(s, &o, in, err) < 0)
		return OPTS_BAD;
	count_lists(s, count);
	if (parse_env(s, &o, in->get, err) < 0)
		return OPTS_BAD;
	drop_lower(s, count);
	count_lists(s, count);
	enum opts_result got = parse_flags(s, &o, in, err);
	if (got != OPTS_OK)
		return got;
	drop_lower(s, count);
	for (size_t i = 0; i < s->sim_devices.count; i++)
		if (add_device(s, s->sim_devices.items[i], err) < 0)
			return OPTS_BAD;
	return OPTS_OK;
}

const char *settings_origin_word(enum settings_origin o)
{
	static const char *const words[SETTINGS_ORIGIN_COUNT] = {
		[SETTINGS_DEFAULT] = "default", [SETTINGS_FILE] = "file",
		[SETTINGS_ENV] = "environment", [SETTINGS_FLAG] = "flag",
		[SETTINGS_CHANGED] = "changed",
	};
	return words[o];
}

void settings_fini(struct settings *s)
{
	opts_list_fini(&s->sim_devices);
	opts_list_fini(&s->nas);
	opts_list_fini(&s->file_roots);
	opts_list_fini(&s->mnt_roots);
	doc_destroy(TAKE(s->file));
}

void settings_help(struct buf *out)
{
	struct opt table[COUNT_OF(rows)];
	struct opts o = make_opts(table);

	opts_help(&o, out);
	buf_adds(
		out,
		"\nA flag stands above its variable, that above the settings file: lines such as\n"
		"'max-jobs: 500', read from --config, else " SETTINGS_SYSTEM_CONFIG
		" (root)\nor ~/.config/yard/yardd.yaml, if it is there.\n\nVariables:\n");
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (rows[i].env)
			buf_printf(out, "  %-20s --%s\n", rows[i].env, rows[i].opt.name);
}

int settings_address(const char *text, char *host, size_t host_max, int *port,
		     struct err *err)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	int64_t number;

	if (n > 2 && text[0] == '[' && text[n - 1] == ']') { /* [::1]:8470 */
		text++;
		n -= 2;
	}
	if (!colon || n == 0 || n >= host_max ||
	    str_to_i64(colon + 1, 0, 65535, &number) < 0)
		return err_set(err, ERR_INVALID,
			       "'%s' is not ADDR:PORT, such as 127.0.0.1:8470", text);
	memcpy(host, text, n);
	host[n] = '\0';
	*port = (int)number;
	return 0;
}

char *settings_state_dir(const struct settings_env *e, struct err *err)
{
	if (e->uid == 0)
		return mem_strdup(SETTINGS_SYSTEM_STATE);
	if (e->xdg_state_home && e->xdg_state_home[0] == '/')
		return str_printf("%s/yard", e->xdg_state_home);
	if (e->home && e->home[0] == '/')
		return str_printf("%s/.local/state/yard", e->home);
	err_set(err, ERR_INVALID,
		"no place for the state: HOME is not set; give --state");
	return NULL;
}

char *settings_config_path(const struct settings_env *e)
{
	if (e->uid == 0)
		return mem_strdup(SETTINGS_SYSTEM_CONFIG);
	if (e->xdg_config_home && e->xdg_config_home[0] == '/')
		return str_printf("%s/yard/yardd.yaml", e->xdg_config_home);
	return e->home && e->home[0] == '/'
		       ? str_printf("%s/.config/yard/yardd.yaml", e->home)
		       : NULL;
}

char *settings_socket_path(const struct settings_env *e, const char *state_dir)
{
	if (e->uid == 0 && str_eq(state_dir, SETTINGS_SYSTEM_STATE))
		return mem_strdup(SETTINGS_SYSTEM_SOCKET);
	AUTO_FREE char *usual = settings_state_dir(e, NULL);
	/* Another state is another daemon: it must not share the usual one's socket. */
	if (e->uid != 0 && str_eq(usual, state_dir) && e->xdg_runtime_dir &&
	    e->xdg_runtime_dir[0] == '/')
		return str_printf("%s/yard/yard.sock", e->xdg_runtime_dir);
	return str_printf("%s/yard.sock", state_dir);
}

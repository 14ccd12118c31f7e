// SPDX-License-Identifier: Apache-2.0
#include "wire/settings.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"

/* clang-format off */
static const struct setting rows[SETTING_ID_COUNT] = {
	[SET_STATE] = { "state", SETTING_PATH, "YARD_STATE", NULL, "DIR",
		"where everything is kept: jobs, logs, outputs, the database", true, false },
	[SET_SOCKET] = { "socket", SETTING_PATH, "YARD_SOCKET", NULL, "PATH",
		"the unix socket to listen on", true, false },
	[SET_LISTEN] = { "listen", SETTING_ADDRESS, "YARD_LISTEN", NULL, "ADDR:PORT",
		"also listen here by TCP; port 0 takes a free one", true, false },
	[SET_NODE_NAME] = { "node-name", SETTING_TEXT, "YARD_NODE_NAME", NULL, "NAME",
		"what this machine is called (its host name)", true, false },
	[SET_CPU] = { "cpu", SETTING_CPU, "YARD_CPU", "0", "N",
		"cores to give out; 0: what the machine has", true, false },
	[SET_MEMORY] = { "memory", SETTING_SIZE, "YARD_MEMORY", "0", "SIZE",
		"memory to give out; 0: what the machine has", true, false },
	[SET_SIM_DEVICE] = { "sim-device", SETTING_DEVICES, "YARD_SIM_DEVICE", NULL, "TYPE=N",
		"declare simulated devices, such as gpu=8; may be repeated", true, false },
	[SET_LOG_LIMIT] = { "log-limit", SETTING_SIZE, "YARD_LOG_LIMIT", "1Gi", "SIZE",
		"bytes of log kept of one attempt of a task; the oldest go first", true, false },
	[SET_ENGINE] = { "engine", SETTING_TEXT, "YARD_ENGINE", "process", "NAME",
		"what runs tasks: process (this machine) or sim (nothing is run)", true, false },
	[SET_READY_FD] = { "ready-fd", SETTING_COUNT, NULL, "-1", "N",
		"write a line to this descriptor once requests are answered, then close it", true, false },
	[SET_RESTORE] = { "restore", SETTING_PATH, NULL, NULL, "FILE",
		"put a backup in place of the database, then end; no daemon may run", true, false },
	[SET_VERSION] = { "version", SETTING_FLAG, NULL, NULL, NULL,
		"print the version and end", true, true },
	[SET_HELP] = { "help", SETTING_FLAG, NULL, NULL, NULL,
		"print this and end", true, true },
	[SET_SERVER] = { "server", SETTING_TEXT, "YARD_SERVER", NULL, "URL",
		"the daemon to talk to: unix:///path/of.sock or http://host:port", false, true },
};
/* clang-format on */

const struct setting *setting_row(enum setting_id id)
{
	return &rows[id];
}

static int bad_value(const struct setting *row, const char *text, struct err *err)
{
	static const char *const allowed[] = {
		[SETTING_TEXT] = "some text",
		[SETTING_PATH] = "a path",
		[SETTING_ADDRESS] = "ADDR:PORT, such as 127.0.0.1:8470",
		[SETTING_COUNT] = "a whole number",
		[SETTING_CPU] = "a number of cores, such as 2 or 0.5",
		[SETTING_SIZE] = "a size, such as 512Mi",
		[SETTING_DEVICES] = "TYPE=N with N from 0 to 64, such as gpu=8; at most 4 types",
		[SETTING_FLAG] = "nothing",
	};

	return err_set(err, ERR_INVALID, "--%s: '%s' is not %s", row->name, text, allowed[row->type]);
}

static bool add_device(struct settings *s, const char *text)
{
	struct resources r = { 0 };
	const char *eq = strrchr(text, '=');
	int64_t count;

	if (!eq || eq == text || (size_t)(eq - text) >= DEVICE_TYPE_MAX ||
	    str_to_i64(eq + 1, 0, DEVICES_MAX, &count) < 0)
		return false;
	AUTO_FREE char *type = mem_strndup(text, (size_t)(eq - text));
	memcpy(r.devices, s->devices, sizeof r.devices);
	if (!resources_set_device(&r, type, (int)count))
		return false;
	memcpy(s->devices, r.devices, sizeof r.devices);
	return true;
}

/* Checks the form, so that a typing error is told at once and by its flag. */
static int give(struct settings *s, enum setting_id id, const char *text, struct err *err)
{
	const struct setting *row = &rows[id];
	char host[64];
	int64_t n = 0;
	int port;
	bool ok = true;

	switch (row->type) {
	case SETTING_TEXT:
	case SETTING_PATH:
		ok = *text != '\0';
		break;
	case SETTING_ADDRESS:
		ok = settings_address(text, host, sizeof host, &port, NULL) == 0;
		break;
	case SETTING_COUNT:
		ok = str_to_i64(text, -1, INT32_MAX, &n) == 0;
		break;
	case SETTING_CPU:
		ok = units_cpu(text, &n) == 0;
		break;
	case SETTING_SIZE:
		ok = units_bytes(text, &n) == 0;
		break;
	case SETTING_DEVICES:
		ok = add_device(s, text);
		break;
	case SETTING_FLAG:
		break;
	}
	if (!ok)
		return bad_value(row, text, err);
	s->text[id] = text;
	return 0;
}

static int unknown(const char *flag, struct err *err)
{
	const char *names[SETTING_ID_COUNT];
	size_t count = 0;

	for (int i = 0; i < SETTING_ID_COUNT; i++)
		if (rows[i].daemon)
			names[count++] = rows[i].name;
	const char *guess = str_starts(flag, "--") ? str_guess(flag + 2, names, count) : NULL;
	return err_set(err, ERR_INVALID, "%s: no such option%s%s%s; --help lists them", flag,
		       guess ? "; did you mean --" : "", guess ? guess : "", guess ? "?" : "");
}

/* The row a flag names, with what stands behind its '='; -1: none. */
static int find_flag(const char *arg, const char **value)
{
	if (!str_starts(arg, "--"))
		return -1;
	size_t n = strcspn(arg + 2, "=");
	*value = arg[2 + n] == '=' ? arg + 3 + n : NULL;
	for (int i = 0; i < SETTING_ID_COUNT; i++)
		if (rows[i].daemon && strlen(rows[i].name) == n && strncmp(rows[i].name, arg + 2, n) == 0)
			return i;
	return -1;
}

int settings_parse(struct settings *s, int argc, char *const *argv,
		   const char *(*getenv_fn)(const char *name), struct err *err)
{
	*s = (struct settings){ 0 };
	for (int i = 1; i < argc; i++) {
		const char *value = NULL;
		int id = find_flag(argv[i], &value);
		if (id < 0)
			return unknown(argv[i], err);
		bool flag = rows[id].type == SETTING_FLAG;
		if (flag && value)
			return err_set(err, ERR_INVALID, "--%s takes no value", rows[id].name);
		if (!flag && !value && i + 1 == argc)
			return err_set(err, ERR_INVALID, "--%s needs a value: %s", rows[id].name,
				       rows[id].value);
		if (!flag && !value)
			value = argv[++i];
		if (give(s, (enum setting_id)id, flag ? "1" : value, err) < 0)
			return -1;
	}
	for (int i = 0; i < SETTING_ID_COUNT; i++) {
		const char *value = rows[i].daemon && rows[i].env && !s->text[i] ? getenv_fn(rows[i].env)
										 : NULL;
		if (value && *value && give(s, (enum setting_id)i, value, err) < 0)
			return err_wrap(err, "%s", rows[i].env);
	}
	return 0;
}

int settings_i64(const struct settings *s, enum setting_id id, int64_t *out, struct err *err)
{
	const struct setting *row = &rows[id];
	const char *text = s->text[id] ? s->text[id] : row->fallback;
	int rc = row->type == SETTING_CPU    ? units_cpu(text, out)
		 : row->type == SETTING_SIZE ? units_bytes(text, out)
					     : str_to_i64(text, -1, INT32_MAX, out);

	return rc == 0 ? 0 : bad_value(row, text, err);
}

int settings_address(const char *text, char *host, size_t host_max, int *port, struct err *err)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	int64_t number;

	if (n > 2 && text[0] == '[' && text[n - 1] == ']') { /* [::1]:8470 */
		text++;
		n -= 2;
	}
	if (!colon || n == 0 || n >= host_max || str_to_i64(colon + 1, 0, 65535, &number) < 0)
		return err_set(err, ERR_INVALID, "'%s' is not ADDR:PORT, such as 127.0.0.1:8470", text);
	memcpy(host, text, n);
	host[n] = '\0';
	*port = (int)number;
	return 0;
}

void settings_help(struct buf *out)
{
	buf_adds(out, "Usage: yardd [OPTION]...\n"
		      "The daemon: keeps the jobs, runs them, answers `yard`.\n\n");
	for (int i = 0; i < SETTING_ID_COUNT; i++) {
		const struct setting *row = &rows[i];
		size_t at = out->len;
		if (!row->daemon)
			continue;
		buf_printf(out, "  --%s%s%s", row->name, row->value ? " " : "", row->value ? row->value : "");
		while (out->len - at < 24)
			buf_addc(out, ' ');
		buf_printf(out, " %s", row->help);
		if (row->env)
			buf_printf(out, " [%s]", row->env);
		buf_addc(out, '\n');
	}
}

char *settings_state_dir(const struct settings_env *e, struct err *err)
{
	if (e->uid == 0)
		return mem_strdup(SETTINGS_SYSTEM_STATE);
	if (e->xdg_state_home && e->xdg_state_home[0] == '/')
		return str_printf("%s/yard", e->xdg_state_home);
	if (e->home && e->home[0] == '/')
		return str_printf("%s/.local/state/yard", e->home);
	err_set(err, ERR_INVALID, "no place for the state: HOME is not set; give --state");
	return NULL;
}

char *settings_socket_path(const struct settings_env *e, const char *state_dir)
{
	if (e->uid == 0 && str_eq(state_dir, SETTINGS_SYSTEM_STATE))
		return mem_strdup(SETTINGS_SYSTEM_SOCKET);
	AUTO_FREE char *usual = settings_state_dir(e, NULL);
	/* Another state is another daemon: it must not share the usual one's socket. */
	if (e->uid != 0 && str_eq(usual, state_dir) && e->xdg_runtime_dir && e->xdg_runtime_dir[0] == '/')
		return str_printf("%s/yard/yard.sock", e->xdg_runtime_dir);
	return str_printf("%s/yard.sock", state_dir);
}

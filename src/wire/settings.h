// SPDX-License-Identifier: Apache-2.0
/* settings.h - every setting of yardd and yard: one row each; flags, environment,
 * defaults, help, manual and completion come out of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "job/resources.h"

enum setting_type {
	SETTING_TEXT,
	SETTING_PATH,
	SETTING_ADDRESS, /* ADDR:PORT */
	SETTING_COUNT,   /* a whole number */
	SETTING_CPU,     /* cores: "2", "0.5" */
	SETTING_SIZE,    /* bytes: "512Mi" */
	SETTING_DEVICES, /* "gpu=8"; may be given more than once */
	SETTING_FLAG,    /* no value */
};

enum setting_id {
	SET_STATE,
	SET_SOCKET,
	SET_LISTEN,
	SET_NODE_NAME,
	SET_CPU,
	SET_MEMORY,
	SET_SIM_DEVICE,
	SET_LOG_LIMIT,
	SET_ENGINE,
	SET_READY_FD,
	SET_RESTORE,
	SET_VERSION,
	SET_HELP,
	SET_SERVER, /* of yard only */
	SETTING_ID_COUNT
};

struct setting {
	const char *name; /* also the flag: "--" name */
	enum setting_type type;
	const char *env;       /* variable that gives it when the flag does not, or NULL */
	const char *fallback;  /* default as text, or NULL */
	const char *value;     /* how the value is called in help: "DIR" */
	const char *help;
	bool daemon, cli;
};

const struct setting *setting_row(enum setting_id id);

/* Values as text, by id; what was not given is NULL.  Devices are collected. */
struct settings {
	const char *text[SETTING_ID_COUNT]; /* borrowed from argv and the environment */
	struct device_count devices[DEVICE_KINDS_MAX];
};

/* The daemon's command line.  getenv_fn: a variable or NULL.  ERR_INVALID names the
 * flag and guesses at the meant one. */
int settings_parse(struct settings *s, int argc, char *const *argv,
		   const char *(*getenv_fn)(const char *name), struct err *err);
/* The value as its type; the row's default when not given. */
int settings_i64(const struct settings *s, enum setting_id id, int64_t *out, struct err *err);
int settings_address(const char *text, char *host, size_t host_max, int *port, struct err *err);
void settings_help(struct buf *out); /* of yardd */

/* What the default places depend on; all but uid may be NULL. */
struct settings_env {
	const char *home, *xdg_state_home, *xdg_runtime_dir;
	int64_t uid;
};

#define SETTINGS_SYSTEM_STATE  "/var/lib/yard"
#define SETTINGS_SYSTEM_SOCKET "/run/yard/yard.sock"

/* The caller frees.  NULL with err when there is no home to put it in. */
char *settings_state_dir(const struct settings_env *e, struct err *err);
char *settings_socket_path(const struct settings_env *e, const char *state_dir);

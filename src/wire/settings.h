// SPDX-License-Identifier: Apache-2.0
/* settings.h - every setting of the daemon: one row each, from which its flags, its
 * variables, its keys in the settings file, defaults and help come; and where things are
 * when nobody says.
 *
 * A flag stands above its variable, that above the file, that above the default.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/doc.h"
#include "base/err.h"
#include "base/opts.h"
#include "job/policy.h"
#include "job/resources.h"

#define SETTINGS_MAX 64 /* rows */

enum settings_origin {
	SETTINGS_DEFAULT,
	SETTINGS_FILE,
	SETTINGS_ENV,
	SETTINGS_FLAG,
	SETTINGS_CHANGED, /* while it ran: settings_live.h */
	SETTINGS_ORIGIN_COUNT
};

/* Texts are borrowed from the command line and the environment, or kept with the file's
 * tree; NULL: not given. */
struct settings {
	struct doc *file;             /* NULL: none */
	uint8_t origin[SETTINGS_MAX]; /* enum settings_origin, by row */
	/* Of what was changed since: as it was at the start. */
	int64_t start[SETTINGS_MAX];
	uint8_t start_origin[SETTINGS_MAX];
	const char *config;
	const char *state, *socket, *listen, *node_name, *engine, *restore;
	const char *tls, *tls_cert, *tls_key;
	int64_t cpu_milli, memory_bytes; /* 0: what the machine has */
	int64_t log_limit_bytes;
	int64_t code_limit_bytes, code_keep_ms;
	int64_t max_jobs, max_priority; /* of one who is not admin */
	int64_t max_tasks;              /* on this machine; 0: by its cores */
	int64_t max_boards,
		board_limit_ms; /* TensorBoards of one user; how long one runs */
	int64_t ready_fd;       /* -1: none */
	struct opts_list sim_devices, nas, file_roots, mnt_roots;
	const char *storage_root, *storage_dc;
	int64_t storage_quota_bytes; /* 0: none */
	int64_t cache_bytes;         /* 0: depot/cache.h says */
	const char *s3_endpoint, *s3_region, *webhdfs_gateway;
	const char *wheel_folder;
	bool version, record_plan, pip_no_index;
	struct { /* as struct plan_policy, each a number */
		int64_t fair, age_bound_ms, half_life_ms, backfill, preempt, min_run_ms,
			believe_guesses, rule, fragment, balance, gap, scarcity, slack;
	} plan;
	int64_t sim_nodes;                             /* 0: one */
	struct device_count devices[DEVICE_KINDS_MAX]; /* sim_devices, read */
};

struct setting {
	struct opt opt;  /* the flag and its help */
	const char *env; /* the variable that gives it when the flag does not, or NULL */
};

size_t settings_rows(const struct setting **rows);

struct settings_input {
	int argc;
	char *const *argv;              /* without the program's name */
	char *(*get)(const char *name); /* getenv */
	const char *file, *file_name;   /* the settings file's text; NULL: none */
};

void settings_policy(const struct settings *s, struct plan_policy *out);
/* Which settings file --config or YARD_CONFIG names; NULL: none does. */
const char *settings_config(const struct settings_input *in);
enum opts_result settings_parse(struct settings *s, const struct settings_input *in,
				struct err *err);
const char *settings_origin_word(enum settings_origin o); /* "flag", ... */
void settings_help(struct buf *out);
void settings_fini(struct settings *s);

/* "127.0.0.1:8470", "[::1]:8470", "localhost:0" */
int settings_address(const char *text, char *host, size_t host_max, int *port,
		     struct err *err);

/* What the default places depend on; all but uid may be NULL. */
struct settings_env {
	const char *home, *xdg_state_home, *xdg_config_home, *xdg_runtime_dir;
	int64_t uid;
};

#define SETTINGS_SYSTEM_STATE  "/var/lib/yard"
#define SETTINGS_SYSTEM_CONFIG "/etc/yard/yardd.yaml"
#define SETTINGS_SYSTEM_SOCKET "/run/yard/yard.sock"
/* Read by `yard`, see cli/server.h. */
#define SETTINGS_SERVER_ENV      "YARD_SERVER"
#define SETTINGS_TOKEN_ENV       "YARD_TOKEN"
#define SETTINGS_FINGERPRINT_ENV "YARD_FINGERPRINT"

/* The caller frees.  NULL with err when there is no home to put it in. */
char *settings_state_dir(const struct settings_env *e, struct err *err);
char *settings_config_path(const struct settings_env *e); /* the usual one; may be NULL */
char *settings_socket_path(const struct settings_env *e, const char *state_dir);

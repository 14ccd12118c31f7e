// SPDX-License-Identifier: Apache-2.0
/* cli.h - the command `yard`: a table of commands, each with its options and its function.
 *
 * Data goes to stdout, everything said about it to stderr.  A command gives the exit code
 * of the process: 0, a job's own, or that of the error's class (wire/outcome.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/opts.h"
#include "cli/client.h"
#include "cli/server.h"
#include "wire/api.h"

struct cli {
	struct server server;
	struct client *client; /* opened by cli_connect() */
	const char *context;   /* of --context, or NULL */
	bool colour_out, colour_err;
};

/* Under which heading `yard help` lists it. */
enum command_group {
	COMMAND_JOBS,
	COMMAND_FILES,
	COMMAND_PEOPLE,
	COMMAND_YARD,
	COMMAND_GROUP_COUNT
};

struct command {
	const char *name; /* "run", or of a family: "user add" */
	enum command_group group;
	const char *operands, *summary; /* as in base/opts.h */
	const struct opt *table;
	size_t count, args_size; /* of the struct the options fill, zeroed before */
	bool stop_at_first;
	bool starts; /* may start the private daemon */
	bool alone;  /* finds its server itself, or needs none */
	size_t operands_min, operands_max;
	int (*run)(struct cli *c, const void *args, const struct opts_list *operands);
};

extern const struct command *const commands[]; /* ends with NULL */

/* The command that the first words name, and how many of them: 1, or 2 of a family. */
const struct command *command_find(int argc, const char *const *argv, int *used);

int cli_main(int argc, char **argv);

/* Says what went wrong, on stderr; gives the exit code. */
int cli_fail(const struct cli *c, const struct err *err);
/* "yard: ..." on stderr. */
void cli_say(const struct cli *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void cli_say_bad(const struct cli *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void cli_hint(const struct cli *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* All of it to a descriptor; a reader that has gone ends the process as usual. */
void cli_write(int fd, const void *data, size_t len);
void cli_print(const struct buf *text);      /* stdout */
void cli_print_json(const struct buf *json); /* as a line that no terminal acts on */

/* Colours as --color WHEN asks: always, never, or auto (NULL too): on a terminal only. */
int cli_colour(struct cli *c, const char *when, struct err *err);
#define OPT_COLOUR(type, field)                                                          \
	{                                                                                \
		"color", 0, OPT_TEXT, OPT_INTO(type, field), "WHEN",                     \
			"always, never or auto (on a terminal)"                          \
	}

/* A GET of a target made like printf; the answer's JSON must be there. */
int cli_get(struct cli *c, struct answer *out, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* "/jobs/<what, percent-encoded><tail>"; the caller frees. */
char *cli_job_target(const char *job, const char *tail);
int cli_get_job(struct cli *c, const char *job, struct wire_job *out, struct err *err);
/* "main-0" of a rank; just the role's name when it has one task.  The caller frees. */
char *cli_task_name(const struct job *j, int rank);
/* A rank by number or as "role-index" or "role"; -1 with err. */
int cli_task_rank(const struct job *j, const char *text, struct err *err);
int64_t cli_now_ms(void);

extern const struct command cmd_image_ls, cmd_image_set, cmd_image_rm,
	cmd_instance_type_ls, cmd_instance_type_set, cmd_instance_type_rm;
extern const struct command cmd_secret_set, cmd_secret_ls, cmd_secret_rm;
extern const struct command cmd_rm, cmd_top, cmd_priority, cmd_clone, cmd_queue,
	cmd_events;
extern const struct command cmd_run, cmd_up, cmd_down, cmd_submit, cmd_ls, cmd_show,
	cmd_logs, cmd_metrics, cmd_stop, cmd_wait, cmd_why, cmd_exec, cmd_nodes,
	cmd_version, cmd_help, cmd_completion, cmd_doctor, cmd_demo;
extern const struct command cmd_node_ls, cmd_node_show, cmd_node_drain, cmd_node_open,
	cmd_node_quarantine, cmd_node_reserve, cmd_node_set, cmd_group_tree;
extern const struct command cmd_login, cmd_logout, cmd_context_ls, cmd_context_use,
	cmd_context_show, cmd_context_rm;
extern const struct command cmd_user_add, cmd_user_ls, cmd_user_show, cmd_user_set,
	cmd_user_rm, cmd_user_passwd, cmd_group_add, cmd_group_ls, cmd_group_show,
	cmd_group_set, cmd_group_rm, cmd_group_quota, cmd_token_add, cmd_token_ls,
	cmd_token_rm, cmd_quota, cmd_quota_show, cmd_quota_set, cmd_admin_audit,
	cmd_admin_backup, cmd_admin_settings;
extern const struct command cmd_tensorboard, cmd_app_ls, cmd_app_url, cmd_app_stop,
	cmd_open;
extern const struct command cmd_simulate;
extern const struct command cmd_cp, cmd_file_ls, cmd_file_cp, cmd_file_mv, cmd_file_rm,
	cmd_file_mkdir, cmd_file_cat, cmd_file_du;

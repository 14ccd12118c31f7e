// SPDX-License-Identifier: Apache-2.0
/* The table of commands, in the order in which people meet them. */
#include "cli/cli.h"

#include <string.h>

#include "base/str.h"

/* clang-format off */
const struct command *const commands[] = {
	&cmd_run, &cmd_submit, &cmd_ls, &cmd_show, &cmd_logs, &cmd_metrics, &cmd_why, &cmd_wait,
	&cmd_stop, &cmd_rm, &cmd_clone, &cmd_priority, &cmd_queue, &cmd_top, &cmd_events,
	&cmd_exec, &cmd_open, &cmd_tensorboard, &cmd_app_ls, &cmd_app_url, &cmd_app_stop, &cmd_nodes, &cmd_node_ls, &cmd_node_show, &cmd_node_drain,
	&cmd_node_open, &cmd_node_quarantine, &cmd_node_reserve, &cmd_node_set,
	&cmd_image_ls, &cmd_image_set, &cmd_image_rm, &cmd_instance_type_ls,
	&cmd_instance_type_set, &cmd_instance_type_rm,
	&cmd_cp, &cmd_file_ls, &cmd_file_cp, &cmd_file_mv, &cmd_file_rm, &cmd_file_mkdir,
	&cmd_file_cat, &cmd_file_du,
	&cmd_secret_set, &cmd_secret_ls, &cmd_secret_rm, &cmd_up,
	&cmd_down, &cmd_login, &cmd_logout, &cmd_context_ls, &cmd_context_use,
	&cmd_context_show, &cmd_context_rm, &cmd_user_add, &cmd_user_ls, &cmd_user_show,
	&cmd_user_set, &cmd_user_rm, &cmd_user_passwd, &cmd_group_add, &cmd_group_ls,
	&cmd_group_show, &cmd_group_set, &cmd_group_rm, &cmd_group_tree, &cmd_group_quota,
	&cmd_token_add,
	&cmd_token_ls, &cmd_token_rm, &cmd_quota, &cmd_quota_show, &cmd_quota_set,
	&cmd_admin_audit, &cmd_admin_backup, &cmd_admin_settings, &cmd_doctor,
	&cmd_demo, &cmd_simulate,
	&cmd_completion, &cmd_version,
	&cmd_help, NULL,
};
/* clang-format on */

/* Whether name is these words with one space between. */
static bool is_called(const char *name, const char *first, const char *second)
{
	size_t n = strlen(first);

	if (!second)
		return str_eq(name, first);
	return strncmp(name, first, n) == 0 && name[n] == ' ' &&
	       str_eq(name + n + 1, second);
}

const struct command *command_find(int argc, const char *const *argv, int *used)
{
	for (*used = argc < 2 ? argc : 2; *used > 0; --*used)
		for (size_t i = 0; commands[i]; i++)
			if (is_called(commands[i]->name, argv[0],
				      *used == 2 ? argv[1] : NULL))
				return commands[i];
	return NULL;
}

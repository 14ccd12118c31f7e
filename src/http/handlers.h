// SPDX-License-Identifier: Apache-2.0
/* handlers.h - who answers: named by the tables of routes, written by subject. */
#pragma once

struct exchange;

/* jobs.c, submit.c, why.c, wait.c, logs.c, exec.c */
void handle_submit(struct exchange *ex);
void handle_list(struct exchange *ex);
void handle_show(struct exchange *ex);
void handle_stop(struct exchange *ex);
void handle_wait(struct exchange *ex);
void handle_why(struct exchange *ex);
void handle_events(struct exchange *ex);
void handle_usage_series(struct exchange *ex);
void handle_job_metrics(struct exchange *ex); /* job_metrics.c */
void handle_change(struct exchange *ex);
void handle_delete(struct exchange *ex);
void handle_clone(struct exchange *ex);
void handle_queue(struct exchange *ex);
void handle_metrics(struct exchange *ex);
void handle_usage(struct exchange *ex);
void handle_logs(struct exchange *ex);
void handle_exec(struct exchange *ex);

/* login.c, users.c, groups.c, tokens.c */
void handle_login(struct exchange *ex);
void handle_login_first(struct exchange *ex);
void handle_logout(struct exchange *ex);
void handle_me(struct exchange *ex);
void handle_users(struct exchange *ex);
void handle_user_add(struct exchange *ex);
void handle_user_show(struct exchange *ex);
void handle_user_set(struct exchange *ex);
void handle_user_remove(struct exchange *ex);
void handle_groups(struct exchange *ex);
void handle_group_add(struct exchange *ex);
void handle_group_show(struct exchange *ex);
void handle_group_set(struct exchange *ex);
void handle_group_remove(struct exchange *ex);
void handle_member_put(struct exchange *ex);
void handle_member_remove(struct exchange *ex);
void handle_tokens(struct exchange *ex);
void handle_token_add(struct exchange *ex);
void handle_token_remove(struct exchange *ex);
void handle_audit(struct exchange *ex);
void handle_quotas(struct exchange *ex);

/* apps.c, board_start.c */
void handle_board_start(struct exchange *ex);
void handle_job_page(struct exchange *ex); /* job_page.c */
void handle_apps(struct exchange *ex);
void handle_app_show(struct exchange *ex);
void handle_app_end(struct exchange *ex);

/* secret.c */
void handle_secrets(struct exchange *ex);
void handle_secrets_of(struct exchange *ex);
void handle_secret_put(struct exchange *ex);
void handle_secret_remove(struct exchange *ex);

/* catalog.c */
void handle_images(struct exchange *ex);
void handle_image_put(struct exchange *ex);
void handle_image_remove(struct exchange *ex);
void handle_machines(struct exchange *ex);
void handle_machine(struct exchange *ex);
void handle_machine_put(struct exchange *ex);
void handle_machine_remove(struct exchange *ex);

/* admin.c, code.c, openapi.c */
void handle_openapi(struct exchange *ex);
/* settings.c */
void handle_settings(struct exchange *ex);
void handle_settings_set(struct exchange *ex);
void handle_version(struct exchange *ex);
void handle_health(struct exchange *ex);
void handle_schema(struct exchange *ex);
void handle_nodes(struct exchange *ex);
/* tenants.c */
void handle_tenants(struct exchange *ex);
/* nodes.c */
void handle_node_show(struct exchange *ex);
void handle_node_set(struct exchange *ex);
void handle_code_has(struct exchange *ex);
void handle_code_put(struct exchange *ex);
void handle_quota_get(struct exchange *ex);
void handle_quota_put(struct exchange *ex);
void handle_backup(struct exchange *ex);

/* files.c, files_list.c, files_get.c, files_put.c, files_upload.c */
void handle_file_list(struct exchange *ex);
void handle_file_stat(struct exchange *ex);
void handle_file_get(struct exchange *ex);
void handle_file_put(struct exchange *ex);
void handle_file_folder(struct exchange *ex);
void handle_file_move(struct exchange *ex);
void handle_file_remove(struct exchange *ex);
void handle_file_usage(struct exchange *ex);
void handle_file_sync(struct exchange *ex);
void handle_upload_begin(struct exchange *ex);
void handle_upload_show(struct exchange *ex);
void handle_upload_part(struct exchange *ex);
void handle_upload_finish(struct exchange *ex);
void handle_upload_cancel(struct exchange *ex);

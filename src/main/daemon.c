// SPDX-License-Identifier: Apache-2.0
#include "main/daemon.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/doc.h"
#include "base/mem.h"
#include "base/str.h"
#include "depot/snapshot.h"
#include "depot/storage.h"
#include "depot/volume_setup.h"
#include "main/storage.h"
#include "main/tasks.h"
#include "who/change.h"
#include "wire/settings_live.h"
#include "world/log.h"
#include "yard/share.h"

#define DAY_MS         INT64_C(86400000)
#define SIM_RACK_NODES 4

static void on_signal(void *arg)
{
	struct daemon *d = arg;

	world_log(d->world, LEVEL_INFO, "stopping; running tasks go on");
	world_stop(d->world);
}

static void on_fatal(void *arg, const struct err *err)
{
	struct daemon *d = arg;

	d->fatal = *err;
	world_stop(d->world);
}

/* Alike but for their names, four to a rack. */
static void fill_sim_node(const struct settings *s, const char *name, int64_t at,
			  struct node *out)
{
	*out = (struct node){ .up = true,
			      .simulated_devices = true,
			      .port_first = 20000,
			      .port_last = 29999,
			      .max_tasks = (int)s->max_tasks };
	out->capacity.cpu_milli = s->cpu_milli ? s->cpu_milli : 64000;
	out->capacity.memory_bytes = s->memory_bytes ? s->memory_bytes : 256LL << 30;
	for (size_t i = 0; i < DEVICE_KINDS_MAX; i++)
		out->capacity.devices[i] = s->devices[i];
	if (s->sim_nodes > 1) {
		snprintf(out->name, sizeof out->name, "g%d", (int)at + 1);
		snprintf(out->rack, sizeof out->rack, "r%d",
			 (int)at / SIM_RACK_NODES + 1);
	} else {
		snprintf(out->name, sizeof out->name, "%s", name);
	}
}

static struct engine *make_sim(struct daemon *d, const char *name,
			       const struct engine_sink *sink)
{
	size_t count = d->settings.sim_nodes > 1 ? (size_t)d->settings.sim_nodes : 1;
	AUTO_FREE struct node *nodes = mem_alloc(count, sizeof *nodes);
	struct engine_sim_faults faults = { .run_ms_max = 1000 };

	for (size_t i = 0; i < count; i++)
		fill_sim_node(&d->settings, name, (int64_t)i, &nodes[i]);
	d->machine = engine_sim_machine_create(d->world, nodes, count, &faults);
	return engine_sim_create(d->machine, sink);
}

static struct engine *make_engine(void *arg, const struct engine_sink *sink,
				  struct err *err)
{
	struct daemon *d = arg;
	char host[NODE_NAME_MAX] = "localhost";
	struct engine_process_config c = { .shim_path = d->place.shim,
					   .state_dir = d->place.state,
					   .node_name = d->settings.node_name,
					   .cpu_milli = d->settings.cpu_milli,
					   .memory_bytes = d->settings.memory_bytes,
					   .max_tasks = (int)d->settings.max_tasks };

	for (size_t i = 0; i < DEVICE_KINDS_MAX; i++)
		c.simulated[i] = d->settings.devices[i];
	gethostname(host, sizeof host - 1);
	if (!c.node_name)
		c.node_name = host;
	if (str_eq(d->settings.engine, "process"))
		return engine_process_create(d->world, &c, sink, err);
	if (str_eq(d->settings.engine, "sim"))
		return make_sim(d, c.node_name, sink);
	err_set(err, ERR_INVALID, "--engine: '%s' is not process or sim",
		d->settings.engine);
	return NULL;
}

static bool code_used(void *arg, const char *hash)
{
	const struct daemon *d = arg;

	return yard_uses_code(d->yard, hash);
}

/* At boot and then once a day: an idle daemon must not be woken for it more often. */
static void expire_code(void *arg)
{
	struct daemon *d = arg;

	depot_code_expire(d->depot, d->settings.code_keep_ms, code_used, d);
	storage_sweep(d->storage);
	world_timer_at(d->expiry, world_mono_ms(d->world) + DAY_MS);
}

static void apply_user(void *arg, const char *name, const char *body)
{
	who_apply(arg, "user", name, body);
}

static void apply_group(void *arg, const char *name, const char *body)
{
	who_apply(arg, "group", name, body);
}

static void apply_token(void *arg, const char *name, const char *body)
{
	who_apply(arg, "token", name, body);
}

static void use_settings(struct daemon *d)
{
	const struct settings *s = &d->settings;

	struct plan_policy policy;

	if (!d->yard)
		return;
	yard_set_limits(d->yard, s->max_jobs, s->max_priority, s->log_limit_bytes);
	depot_files_cache(d->depot, s->cache_bytes);
	settings_policy(s, &policy);
	yard_set_policy(d->yard, &policy);
}

/* {"value":"..."}; at boot before there is a yard, then at every change. */
static void apply_setting(void *arg, const char *name, const char *body)
{
	struct daemon *d = arg;
	AUTO_DOC struct doc *doc = body ? doc_parse_json(body, strlen(body), NULL) : NULL;

	settings_live_set(&d->settings, name,
			  doc ? doc_str(doc_root(doc), "value", NULL) : NULL);
	use_settings(d);
}

/* The directory comes first: the yard fills it from the store. */
static void make_who(struct daemon *d, struct yard_config *yard)
{
	d->who = who_create(d->world,
			    &(struct who_rules){ .daemon_uid = geteuid(),
						 .uid_base = d->place.uid_base });
	d->sinks[d->sink_count++] = (struct yard_doc_sink){ "user", apply_user, d->who };
	d->sinks[d->sink_count++] =
		(struct yard_doc_sink){ "group", apply_group, d->who };
	d->sinks[d->sink_count++] =
		(struct yard_doc_sink){ "token", apply_token, d->who };
	d->sinks[d->sink_count++] =
		(struct yard_doc_sink){ SETTINGS_DOC_KIND, apply_setting, d };
	yard->docs = d->sinks;
	yard->doc_count = d->sink_count;
}

static bool is_member(void *arg, const char *user, const char *group)
{
	const struct daemon *d = arg;
	const struct who_user *u = who_user(d->who, user);

	for (size_t i = 0; u && !u->disabled && i < u->group_count; i++)
		if (str_eq(u->groups[i], group))
			return true;
	return false;
}

static void make_secrets(struct daemon *d, struct yard_config *yard)
{
	AUTO_FREE char *key = str_printf("%s/secret.key", d->place.state);

	d->secrets = secrets_create(&(struct secrets_config){
		.world = d->world, .key_path = key, .in_group = is_member, .arg = d });
	d->sinks[d->sink_count++] =
		(struct yard_doc_sink){ SECRET_KIND, secrets_apply, d->secrets };
	yard->secrets = d->secrets;
	yard->doc_count = d->sink_count;
}

static void make_catalog(struct daemon *d, struct yard_config *yard)
{
	d->catalog = catalog_create(d->world);
	d->sinks[d->sink_count++] =
		(struct yard_doc_sink){ CATALOG_IMAGE_KIND, catalog_apply_image,
					d->catalog };
	d->sinks[d->sink_count++] =
		(struct yard_doc_sink){ CATALOG_MACHINE_KIND, catalog_apply_machine,
					d->catalog };
	yard->doc_count = d->sink_count;
}

/* What the directory itself wants recorded is done in the daemon's own name. */
static void record_change(void *arg, const struct who_change *c)
{
	struct daemon *d = arg;
	struct yard_doc *docs = mem_alloc(c->count, sizeof *docs);

	for (size_t i = 0; i < c->count; i++)
		docs[i] = (struct yard_doc){ c->docs[i].kind, c->docs[i].name,
					     c->docs[i].body };
	yard_change(d->yard, &(struct principal){ .name = "yardd", .uid = -1 },
		    &(struct yard_change){ docs, c->count, c->action, c->object }, NULL,
		    NULL);
	free(docs);
}

/* The disks: what jobs bring and leave, and the storage tree. */
static int open_depot(struct daemon *d, struct yard_config *yard, struct err *err)
{
	d->depot = yard->depot =
		depot_files_create(d->world, d->place.state, d->place.unpack, err);
	if (!d->depot || storage_open(d, err) < 0)
		return -1;
	depot_files_rules(
		d->depot,
		&(struct depot_rules){ .socket = d->place.socket,
				       .code_bytes_max = d->settings.code_limit_bytes,
				       .fetch_path = d->place.fetch,
				       .volume = d->volume,
				       .cache_bytes = d->settings.cache_bytes,
				       .s3_endpoint = d->settings.s3_endpoint,
				       .s3_region = d->settings.s3_region,
				       .webhdfs_gateway = d->settings.webhdfs_gateway });
	yard->shelf = &d->shelf;
	return 0;
}

int daemon_boot(struct daemon *d, struct err *err)
{
	bool root = geteuid() == 0;
	struct yard_config yard = { .make_engine = make_engine,
				    .make_engine_arg = d,
				    .uid_base = d->place.uid_base,
				    .user_path = root ? NULL : getenv("PATH"),
				    .log_limit_bytes = d->settings.log_limit_bytes,
				    .max_jobs_per_user = d->settings.max_jobs,
				    .max_priority = d->settings.max_priority,
				    .on_fatal = on_fatal,
				    .on_fatal_arg = d };

	if (d->settings.record_plan)
		yard.plan_journal = d->plan_journal =
			str_printf("%s/plan.journal", d->place.state);
	d->world = yard.world = world_uv_create(err);
	if (!d->world || tasks_describe(d, &yard, err) < 0)
		return -1;
	d->store = yard.store = store_sqlite_open(d->world, d->place.database, err);
	if (!d->store)
		return -1;
	if (open_depot(d, &yard, err) < 0)
		return -1;
	make_who(d, &yard);
	make_secrets(d, &yard);
	make_catalog(d, &yard);
	d->yard = yard_create(&yard, err);
	if (!d->yard)
		return -1;
	use_settings(d); /* those that were changed came with the documents */
	who_on_change(d->who, record_change, d);
	d->http = http_server_create(&(struct http_config){ .world = d->world,
							    .yard = d->yard,
							    .who = d->who,
							    .secrets = d->secrets,
							    .catalog = d->catalog,
							    .user_path = yard.user_path,
							    .settings = &d->settings,
							    .depot = d->depot,
							    .state = d->place.state,
							    .storage = d->storage,
							    .tls = d->door.tls,
							    .daemon_uid = geteuid() });
	d->expiry = world_timer_create(d->world, expire_code, d);
	expire_code(d);
	d->term = world_signal_create(d->world, SIGTERM, on_signal, d);
	d->interrupt = world_signal_create(d->world, SIGINT, on_signal, d);
	if (http_server_listen_unix(d->http, d->place.socket, root ? 0666 : 0600, err) <
	    0)
		return -1;
	return place_tell_socket(&d->place, err);
}

void daemon_destroy(struct daemon *d)
{
	world_signal_destroy(d->interrupt);
	world_signal_destroy(d->term);
	world_timer_destroy(d->expiry);
	if (d->http)
		http_server_close(d->http);
	storage_close(d->storage);
	yard_destroy(d->yard);
	secrets_destroy(d->secrets);
	catalog_destroy(d->catalog);
	who_destroy(d->who);
	engine_sim_machine_destroy(d->machine);
	if (d->depot)
		d->depot->ops->destroy(d->depot);
	store_destroy(d->store);
	world_destroy(d->world);
	http_server_destroy(d->http);
	storage_destroy(d->storage);
	storage_fini(d);
	door_close(&d->door);
	place_close(&d->place);
	tasks_forget(d);
	free(d->plan_journal);
	settings_fini(&d->settings);
}

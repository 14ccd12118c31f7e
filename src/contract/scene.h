// SPDX-License-Identifier: Apache-2.0
/* scene.h - one task as the parts of its contract see it; for this room only. */
#pragma once

#include "base/buf.h"
#include "contract/contract.h"

#define VARIABLE_BYTES_MAX (120 << 10) /* Linux takes 128 KiB with the name */

struct contract_peers {
	struct shared *hosts_file; /* /etc/hosts */
	struct shared *addresses;  /* YARD_HOSTS: by rank, with commas */
	char *tf_cluster;          /* of TF_CONFIG, as JSON; NULL: it is not set */
	struct shared *packages;   /* what pip is to install; NULL: nothing */
	char *gave_way;            /* what of the code's is left out of that, or NULL */
};

struct scene {
	const struct job *job;
	const struct task *task;
	const struct role *role;
	int rank;
	const struct contract_places *places;
	const struct contract_peers *peers;
	struct bundle *b;
};

/* Sets a variable; a later one of the same name wins. */
void scene_set(struct scene *v, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The variable is PREFIX_NAME, as spec_variable() writes it. */
void scene_set_for(struct scene *v, const char *prefix, const char *name, const char *fmt,
		   ...) __attribute__((format(printf, 4, 5)));

static inline const struct role *scene_role(const struct job *j, const struct task *t)
{
	return &j->spec->roles[t->role];
}

/* The (first) number that placement gave to the port of this name; 0: there is none. */
int scene_port(const struct role *r, const struct placement *p, const char *name);
/* How many devices the task has, of all kinds. */
int scene_devices(const struct task *t);
/* Letters, digits and '-', small, neither first nor last a '-': a label of a host name. */
void scene_label(struct buf *out, const char *name, size_t most);
/* The name the task's machine has. */
void scene_host_name(struct buf *out, const struct job *j, int rank, const char *yard);

/* meet.c: how the tasks, and the processes of each, find each other. */
char *meet_cluster(const struct job *j); /* for struct contract_peers */
void meet_set(struct scene *v);
/* One process a device, each with its numbers; after all other variables. */
void meet_processes(struct scene *v);

/* estimator.c: the variables and files of its own. */
void estimator_set(struct scene *v);
void estimator_set_ids(struct scene *v); /* what the job itself cannot replace */

/* packages.c: what pip installs before the command. */
void packages_list(const struct job *j, const char *code, struct contract_peers *out);
void packages_add(struct scene *v);
/* One text out of what the code requires (or NULL) and what the job does, which wins.
 * gone: names what gave way, with commas. */
void packages_merge(const char *code, const struct requirements *job, struct buf *out,
		    struct buf *gone);

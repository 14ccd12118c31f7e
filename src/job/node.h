// SPDX-License-Identifier: Apache-2.0
/* node.h - a machine tasks run on, as an engine reports it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "job/pairs.h"
#include "job/placement.h"
#include "job/resources.h"

#define NODE_PLACE_MAX   32  /* bytes of a rack's or a switch's name, with the NUL */
#define NODE_LABELS_MAX  128 /* "zone=a,disk=nvme" */
#define NODE_REASON_MAX  256
#define NODE_WINDOWS_MAX 4

enum node_state {
	NODE_OPEN,
	NODE_DRAIN,      /* what runs there stays, nothing new comes */
	NODE_QUARANTINE, /* the same, because something is wrong with it */
};

/* Kept free for a group for a time; a job that could run into it does not start there. */
struct node_window {
	int64_t from_ms, to_ms;
	char group[64]; /* whose jobs may; "": nobody's (maintenance) */
};

/* Where gangs may lie: they cross as few of these as they can. */
enum level { LEVEL_ANY, LEVEL_RACK, LEVEL_SWITCH, LEVEL_NODE, LEVEL_ISLAND };

const char *level_word(enum level l); /* "rack", ... */
int level_from_word(const char *word, enum level *out);
const char *node_state_word(enum node_state s); /* "open", ... */
int node_state_from_word(const char *word, enum node_state *out);
/* "zone=a,disk=nvme" of pairs, and back.  -1: too long, or a ',', '=' or space in one. */
int node_labels_write(const struct pairs *p, char out[NODE_LABELS_MAX]);
void node_labels_read(const char *text, struct pairs *out);

struct node {
	char name[NODE_NAME_MAX];
	struct resources capacity;
	bool simulated_devices; /* declared for tests and demos, not found in hardware */
	bool up;
	int port_first, port_last; /* given out to tasks that ask for any port */
	int max_tasks; /* at a time, however little each asks for; 0: no limit */
	enum node_state state;
	char reason[NODE_REASON_MAX]; /* of a state that is not open */
	struct node_window windows[NODE_WINDOWS_MAX];
	size_t window_count;
	char rack[NODE_PLACE_MAX],
		net[NODE_PLACE_MAX]; /* its rack and switch, "": unknown */
	char labels[NODE_LABELS_MAX];
	int island; /* devices that are linked closely, counted from device 0; 0: all of them */
	bool rings; /* islands are rings with the rules of Ascend 910: see fleet/rings.h */
};

/* What an administrator says of a node; its engine says the rest. */
struct node_facts {
	enum node_state state;
	char reason[NODE_REASON_MAX];
	struct node_window windows[NODE_WINDOWS_MAX];
	size_t window_count;
	char rack[NODE_PLACE_MAX], net[NODE_PLACE_MAX];
	char labels[NODE_LABELS_MAX];
	int island;
	bool rings;
};

/* The node as both say: what is told of its place goes before what was found. */
void node_merge(struct node *n, const struct node_facts *f);

struct quota {
	struct resources
		limit; /* cpu_milli or memory_bytes -1: no limit; device kinds not named: none set */
	int max_running_jobs; /* -1: no limit */
};

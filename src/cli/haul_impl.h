// SPDX-License-Identifier: Apache-2.0
/* haul_impl.h - inside a haul: its hands, large files, and the ways a file can go.
 *
 * A hand is a thread with its own connection.  A large file is opened by one hand, its parts
 * are moved by whoever is free, and the hand that moved the last one closes it.
 */
#pragma once

#include <pthread.h>
#include <sys/stat.h>

#include "cli/bar.h"
#include "cli/haul.h"
#include "cli/part.h"

#define HAUL_PIECE (256u << 10)

struct hand {
	struct haul *haul;
	struct client *client;
	pthread_t thread;
	char *bytes; /* room for a part */
	size_t room;
	bool broke;      /* what failed is the network's, or the server is busy */
	int64_t counted; /* bytes of this try that were told as moved */
};

struct big {
	struct big *next;
	struct haul_file file;
	struct parts parts;
	size_t taken, running; /* parts handed out; of those, not yet done */
	bool failed;
	struct err err;
	int fd;          /* the file here: where from, or the partial one; -1: none */
	struct stat was; /* put: before it was read */
	char *partial;   /* get: its path */
	char *upload;    /* put, relay: its name on the server */
	char *etag;      /* get, relay: the version there */
	int64_t *sums;   /* of each part, or -1 */
	bool *have;      /* put, relay: the server has it */
};

/* How a file goes.  All give 0 or -1; err does not name the file.  ERR_CONFLICT: it changed
 * under way, and may be begun anew. */
struct way {
	int (*small)(struct hand *w, const struct haul_file *f, struct err *err);
	/* In parts: parts, sums and what else they need are made by open. */
	int (*open)(struct hand *w, struct big *b, struct err *err);
	int (*part)(struct hand *w, struct big *b, size_t n, struct err *err);
	int (*close)(struct hand *w, struct big *b, struct err *err);
	/* Whether what is there has the same bytes. */
	int (*same)(struct hand *w, const struct haul_file *f, bool *same,
		    struct err *err);
};

extern const struct way way_put, way_get, way_relay;

/* Runs a step until it succeeds, fails by itself, or the network failed too often. */
typedef int (*hand_step)(struct hand *w, void *arg, struct err *err);
int hand_try(struct hand *w, hand_step step, void *arg, struct err *err);

int hand_call(struct hand *w, const struct request *r, struct answer *out,
	      struct err *err);
/* Bytes of a file in the yard, piece by piece. */
struct hand_read {
	const char *path;
	const char *etag;   /* of this version, else ERR_CONFLICT; NULL: any */
	int64_t first, len; /* len -1: all of it */
	int (*take)(void *arg, const char *data, size_t len, struct err *err);
	void *arg;
	uint32_t sum; /* of what came; compared with what the server says, if it does */
};
int hand_read(struct hand *w, struct hand_read *r, struct err *err);
void hand_moved(struct hand *w, int64_t bytes);
void hand_spared(struct hand *w, int64_t bytes); /* need not be moved after all */
char *hand_room(struct hand *w, int64_t bytes);
void hand_init(struct hand *w, struct haul *h);
void hand_fini(struct hand *w);

/* The server's side of what goes to it. */
int hand_put(struct hand *w, const struct haul_file *f, const char *data, size_t len,
	     struct err *err);
int hand_upload_open(struct hand *w, struct big *b, struct err *err);
/* One part: body (NULL: write_body of arg writes it, once or again). */
int hand_upload_part(struct hand *w, const struct big *b, size_t n, struct request *r,
		     struct err *err);
int hand_upload_close(struct hand *w, struct big *b, struct err *err);
void hand_upload_drop(struct hand *w, const struct big *b);
/* Hash of a file in the yard, as the server finds it; the caller frees. */
char *hand_remote_sum(struct hand *w, const char *path, const char *kind,
		      struct err *err);

/* A file here and one in the yard, by their BLAKE2b. */
int haul_same_content(struct hand *w, const char *local, const char *remote, bool *same,
		      struct err *err);

/* Told by hands; any thread. */
struct haul_count {
	_Atomic int64_t files, files_all, bytes, bytes_all, there, skipped, failed;
	_Atomic bool counting;
};
struct haul_count *haul_counts(struct haul *h);
struct cli *haul_cli(struct haul *h);
/* Of a file that is about to be put: whether it need not be made durable by itself, because
 * all are at the end.  For a few that would take longer: it waits for all of the disk. */
bool haul_syncs_later(struct haul *h, const char *path);

/* Draws the bar and takes signals, in a thread of its own. */
struct watch;
struct watch *watch_create(struct haul *h, const struct haul_options *o);
void watch_destroy(struct watch *w); /* the bar is gone after */
/* A line on stderr that does not spoil the bar. */
void watch_say(struct watch *w, bool bad, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

// SPDX-License-Identifier: Apache-2.0
/* request.h - what the daemon asks of yard-fetch, and what it hears.
 *
 *   yard-fetch UID       with the descriptors below
 *
 * The request is JSON in a sealed memory file, because it has keys in it.  What is heard
 * are lines: "at BYTES TOTAL" now and then, and last "done FILES BYTES" or
 * "bad CLASS TEXT".
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/vault.h"
#include "remote/account.h"
#include "remote/uri.h"

enum remote_op {
	REMOTE_LOOK,  /* writes the manifest of what is there */
	REMOTE_GET,   /* brings what the manifest names into the folder */
	REMOTE_PROVE, /* reads a byte of each file in the manifest: may this account? */
	REMOTE_PUT,   /* brings the folder's files there; new or changed ones */
	REMOTE_OP_COUNT
};

#define REMOTE_REQUEST_FD  3
#define REMOTE_FOLDER_FD   4 /* of GET and PUT */
#define REMOTE_MANIFEST_FD 5 /* of LOOK, GET and PROVE */
#define REMOTE_SAYS_FD     6 /* the write end of a pipe */
#define REMOTE_LINE_MAX    1100
#define REMOTE_FILES_MAX   1000000

struct remote_request {
	enum remote_op op;
	char *uri;
	struct remote_account account;
	int64_t files_max, bytes_max;
};

/* As the bytes of the memory file. */
struct vault *remote_request_write(const struct remote_request *r);
int remote_request_read(const struct vault *text, struct remote_request *out,
			struct err *err);
void remote_request_fini(struct remote_request *r);

enum remote_said { REMOTE_AT, REMOTE_DONE, REMOTE_BAD, REMOTE_SAID_COUNT };

struct remote_line {
	enum remote_said kind;
	int64_t first, second; /* bytes and total; files and bytes */
	struct err err;        /* of REMOTE_BAD */
};

/* -1: no such line. */
int remote_line_read(const char *line, struct remote_line *out);

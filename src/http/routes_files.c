// SPDX-License-Identifier: Apache-2.0
/* Files of the storage. */
#include "http/route.h"

#include "depot/upload.h"
#include "depot/volume.h"
#include "http/handlers.h"
#include "http/limits.h"

#define FILE_BYTES_MAX UPLOAD_SIZE_MAX
#define OCTETS         "application/octet-stream"
#define MISSING        ROUTE_ERR(ERR_NOT_FOUND)
#define NONE           ROUTE_ERR(ERR_UNSUPPORTED)
#define CLASH          ROUTE_ERR(ERR_CONFLICT)
#define DISK           ROUTE_ERR(ERR_IO)
#define FULL           (DISK | ROUTE_ERR(ERR_QUOTA))
#define PATH_HELP      "where in the storage: /pfs/..., /jobs/..., or below one's home"

/* clang-format off */
#define PATH { "path", PARAM_TEXT, 1, VOLUME_PATH_MAX - 1, .help = PATH_HELP, .needed = true }

static const struct param path_params[] = { PATH, { 0 } };
static const struct param stat_params[] = {
	PATH,
	{ "checksum", PARAM_WORD, .words = "crc32c sha256 blake2b", .help = "also the sum of its bytes, for which all of it is read" },
	{ 0 }
};
static const struct param list_params[] = {
	{ "path", PARAM_TEXT, 1, VOLUME_PATH_MAX - 1, .help = PATH_HELP "; / if not given" },
	{ "limit", PARAM_INT, 1, FILES_MAX, .help = "how many a page has at most; 1000" },
	{ "cursor", PARAM_TEXT, 1, 1024, .help = "the `next` of the page before" },
	{ 0 }
};
static const struct param put_params[] = {
	PATH,
	{ "parents", PARAM_BOOL, .help = "make the folders above it" },
	{ "modified_ms", PARAM_INT, 0, INT64_MAX / 2000000, .help = "when it was last changed, in milliseconds since 1970; now" },
	{ "executable", PARAM_BOOL, .help = "that it may be run" },
	{ "sync", PARAM_BOOL, .help = "false: durable only after a sync; true" },
	{ 0 }
};
static const struct param remove_params[] = {
	PATH,
	{ "recursive", PARAM_BOOL, .help = "a folder with all that is in it" },
	{ 0 }
};
static const struct param sync_params[] = {
	{ "path", PARAM_TEXT, 1, VOLUME_PATH_MAX - 1, .help = PATH_HELP "; one's home if not given" },
	{ 0 }
};
static const struct param get_headers[] = {
	{ "Range", PARAM_TEXT, 1, 200, .help = "bytes=FIRST-LAST, bytes=FIRST- or bytes=-LAST_N; one range" },
	{ "If-Range", PARAM_TEXT, 1, 200, .help = "the range only of the file with this ETag, else all" },
	{ "If-Match", PARAM_TEXT, 1, 1000, .help = "only if it still has this ETag; 412 otherwise" },
	{ "If-None-Match", PARAM_TEXT, 1, 1000, .help = "304 if it still has this ETag" },
	{ 0 }
};
#define SUM { "Yard-Checksum", PARAM_TEXT, 1, 80, .help = "crc32c=<8 hex>, sha256=<64 hex> or blake2b=<64 hex> of the body: refused when it is not so" }
static const struct param put_headers[] = {
	SUM,
	{ "If-None-Match", PARAM_TEXT, 1, 1, .help = "*: only when nothing has the name yet" },
	{ 0 }
};
static const struct param part_headers[] = { SUM, { 0 } };

const struct route routes_files[] = {
	{ "GET", "/files", "list_files", RULE_ANY, handle_file_list, "what a folder has, by name",
		.params = list_params, .answer = "files", .errors = MISSING | NONE | CLASH | DISK },
	{ "DELETE", "/files", "remove_file", RULE_MEMBER, handle_file_remove, "remove a file or a folder",
		.params = remove_params, .status = 204, .errors = MISSING | NONE | CLASH | DISK },
	{ "GET", "/files/stat", "stat_file", RULE_ANY, handle_file_stat, "what a path is",
		.params = stat_params, .answer = "file", .errors = MISSING | NONE | CLASH | DISK },
	{ "GET", "/files/content", "get_file", RULE_ANY, handle_file_get, "a file's bytes, or a range of them",
		.params = path_params, .headers = get_headers, .answer = OCTETS, .also = 206, .errors = MISSING | NONE | CLASH | DISK },
	{ "HEAD", "/files/content", "head_file", RULE_ANY, handle_file_get, "the same without the bytes",
		.params = path_params, .headers = get_headers, .also = 206, .errors = MISSING | NONE | CLASH | DISK },
	{ "PUT", "/files/content", "put_file", RULE_MEMBER, handle_file_put, "make or replace a file, whole or not at all",
		.params = put_params, .headers = put_headers, .takes = ROUTE_STREAM, .body_max = FILE_BYTES_MAX, .body_optional = true,
		.body = OCTETS, .body_types = OCTETS, .answer = "file", .status = 201, .also = 200, .errors = MISSING | NONE | CLASH | FULL },
	{ "POST", "/files/folders", "make_folder", RULE_MEMBER, handle_file_folder, "make a folder",
		.takes = ROUTE_BODY, .body_max = BODY_SMALL, .body = "folder_new", .answer = "file", .status = 201, .errors = MISSING | NONE | CLASH | FULL },
	{ "POST", "/files/move", "move_file", RULE_MEMBER, handle_file_move, "give a file or a folder another name, within one home or share",
		.takes = ROUTE_BODY, .body_max = BODY_SMALL, .body = "file_move", .answer = "file", .errors = MISSING | NONE | CLASH | FULL },
	{ "GET", "/files/usage", "file_usage", RULE_ANY, handle_file_usage, "how much a folder holds, and how much more fits",
		.params = path_params, .answer = "file_usage", .errors = MISSING | NONE | DISK | ROUTE_ERR(ERR_BUSY) },
	{ "POST", "/files/sync", "sync_files", RULE_MEMBER, handle_file_sync, "make durable what was sent with sync=false",
		.params = sync_params, .status = 204, .errors = MISSING | NONE | DISK },
	{ "POST", "/files/uploads", "begin_upload", RULE_MEMBER, handle_upload_begin, "send a large file in parts; the same again gives back what is unfinished",
		.takes = ROUTE_BODY, .body_max = BODY_SMALL, .body = "upload_new", .answer = "upload", .status = 201, .also = 200, .errors = MISSING | NONE | CLASH | FULL },
	{ "GET", "/files/uploads/:upload", "show_upload", RULE_ANY, handle_upload_show, "which parts are there",
		.answer = "upload", .errors = MISSING | NONE | CLASH | DISK },
	{ "PUT", "/files/uploads/:upload/parts/:part", "put_part", RULE_MEMBER, handle_upload_part, "one part, from 0 on, in any order",
		.headers = part_headers, .takes = ROUTE_STREAM, .body_max = UPLOAD_PART_MAX, .body = OCTETS, .body_types = OCTETS,
		.status = 204, .errors = MISSING | NONE | CLASH | FULL },
	{ "POST", "/files/uploads/:upload/finish", "finish_upload", RULE_MEMBER, handle_upload_finish, "all parts are there: make it the file",
		.takes = ROUTE_BODY, .body_max = BODY_SMALL, .body = "upload_finish", .body_optional = true, .answer = "file", .status = 201, .also = 200,
		.errors = MISSING | NONE | CLASH | FULL },
	{ "DELETE", "/files/uploads/:upload", "cancel_upload", RULE_MEMBER, handle_upload_cancel, "forget it and what came of it",
		.status = 204, .errors = MISSING | NONE | CLASH | DISK },
	{ 0 }
};
/* clang-format on */

// SPDX-License-Identifier: Apache-2.0
/* The shapes of files in the storage. */
#include "wire/shape.h"

#define OPT       WIRE_OPTIONAL
#define PATH_MOST 4095
#define SIZE_MOST (INT64_C(1) << 44)
#define PART_MOST (INT64_C(1) << 30)
#define TIME_MOST (INT64_MAX / 2000000)

/* clang-format off */
#define KINDS .words = "file folder link other"
static const struct wire_field entry[] = {
	{ "name", WIRE_TEXT, 0, "in its folder" },
	{ "kind", WIRE_TEXT, 0, "what it is; other: nothing that has bytes to read", KINDS },
	{ "size", WIRE_INT, 0, "of a file, in bytes" },
	{ "modified_ms", WIRE_INT, 0, "when it was last changed, in milliseconds since 1970" },
	{ "executable", WIRE_BOOL, 0, "whether its owner may run it" },
	{ "escaped", WIRE_TEXT, OPT, "a name that is not UTF-8, as a query writes it" },
	{ 0 }
};
static const struct wire_field files[] = {
	{ "path", WIRE_TEXT, 0, "of the folder, in full" },
	{ "entries", WIRE_LIST, 0, "by the bytes of their names; jobs: the newest first", "file_entry" },
	{ "next", WIRE_TEXT, WIRE_NULL, "the cursor of the next page; null: that was all" },
	{ 0 }
};
static const struct wire_field file[] = {
	{ "path", WIRE_TEXT, 0, "in full" },
	{ "kind", WIRE_TEXT, 0, "what it is, or what a link leads to", KINDS },
	{ "size", WIRE_INT, 0, "of a file, in bytes" },
	{ "modified_ms", WIRE_INT, 0, "when it was last changed, in milliseconds since 1970" },
	{ "executable", WIRE_BOOL, 0, "whether its owner may run it" },
	{ "etag", WIRE_TEXT, 0, "another one after any change" },
	{ "checksum", WIRE_TEXT, OPT, "of its bytes, if asked for" },
	{ 0 }
};
#define PATH(name, help) { name, WIRE_TEXT, 0, help, .min = 1, .max = PATH_MOST }
static const struct wire_field folder_new[] = {
	PATH("path", "of the folder"),
	{ "parents", WIRE_BOOL, OPT, "those above it too, and no error when it is there" },
	{ 0 }
};
static const struct wire_field file_move[] = {
	PATH("from", "what is moved"),
	PATH("to", "what it is called then"),
	{ "replace", WIRE_BOOL, OPT, "a file that is there" },
	{ 0 }
};
static const struct wire_field file_usage[] = {
	{ "path", WIRE_TEXT, 0, "of the folder, in full" },
	{ "bytes", WIRE_INT, 0, "of all files in it and below" },
	{ "files", WIRE_INT, 0, "how many" },
	{ "quota_bytes", WIRE_INT, WIRE_NULL, "what the home may hold; null: no limit" },
	{ "free_bytes", WIRE_INT, 0, "what its disk still takes" },
	{ 0 }
};
static const struct wire_field upload_new[] = {
	PATH("path", "of the file"),
	{ "size", WIRE_INT, 0, "of the file, in bytes", .min = 0, .max = SIZE_MOST },
	{ "part_size", WIRE_INT, OPT, "of every part but the last, in bytes; as fits if not given", .min = 64 << 10, .max = PART_MOST },
	{ "modified_ms", WIRE_INT, OPT, "when it was last changed; when it is finished if not given", .min = 0, .max = TIME_MOST },
	{ "executable", WIRE_BOOL, OPT, "that it may be run" },
	{ "parents", WIRE_BOOL, OPT, "make the folders above it" },
	{ 0 }
};
static const struct wire_field upload[] = {
	{ "upload", WIRE_TEXT, 0, "its id" },
	{ "path", WIRE_TEXT, 0, "of the file, in full" },
	{ "size", WIRE_INT, 0, "of the file, in bytes" },
	{ "part_size", WIRE_INT, 0, "of every part but the last" },
	{ "have", WIRE_LIST, 0, "runs of parts that are there, [first, last], from 0", "ints" },
	{ 0 }
};
static const struct wire_field upload_finish[] = {
	{ "checksum", WIRE_TEXT, OPT, "of the whole file: crc32c=<8 hex>, sha256=<64 hex> or blake2b=<64 hex>", .max = 80 },
	{ 0 }
};

const struct wire_shape wire_shapes_file[] = {
	{ "file_entry", "one of a folder", entry },
	{ "files", "a page of a folder", files, "{\"path\":\"/pfs/local/home/ann\",\"entries\":[{\"name\":\"data.csv\",\"kind\":\"file\",\"size\":120,\"modified_ms\":1700000000000,\"executable\":false}],\"next\":null}" },
	{ "file", "a file or folder", file },
	{ "folder_new", "a folder to make", folder_new, "{\"path\":\"data/raw\",\"parents\":true}", .request = true },
	{ "file_move", "what to call it", file_move, "{\"from\":\"a.txt\",\"to\":\"old/a.txt\"}", .request = true },
	{ "file_usage", "how much it holds", file_usage },
	{ "upload_new", "a large file to send", upload_new, "{\"path\":\"big.tar\",\"size\":4294967296,\"modified_ms\":1700000000000}", .request = true },
	{ "upload", "an upload under way", upload },
	{ "upload_finish", "its end", upload_finish, "{\"checksum\":\"crc32c=e3069283\"}", .request = true },
	{ 0 }
};
/* clang-format on */

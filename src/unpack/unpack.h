// SPDX-License-Identifier: Apache-2.0
/* unpack.h - an archive that nobody trusts becomes files below one folder.
 *
 * Refused in words, before anything of the entry is made: absolute paths, "..", links
 * that lead outside, devices, sockets and pipes, setuid and setgid bits, and more
 * entries, bytes or levels than allowed.  No link is ever followed while writing.  What
 * was made before a refusal stays: the caller throws the folder away.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct unpack_limits {
	int64_t entries, bytes; /* bytes: of all files as unpacked, holes included */
};

/* Not durable yet: that is the caller's.  Both descriptors stay the caller's, too. */
int unpack_archive(int archive, int target, const struct unpack_limits *limits,
		   struct err *err);

/* From here on this process can only read `archive` and make files below `target`: no new
 * privileges, no other file, no network, no other process.  uid >= 0 and running as root: becomes that
 * uid and gid first.  Irreversible; for a process of one thread that does nothing else. */
int unpack_sandbox(int target, int64_t uid, const struct unpack_limits *limits,
		   struct err *err);

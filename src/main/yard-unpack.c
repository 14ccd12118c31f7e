// SPDX-License-Identifier: Apache-2.0
/* yard-unpack - unpacks one archive into one folder, both given as descriptors.
 *
 *   yard-unpack ARCHIVE_FD TARGET_FD UID ENTRIES_MAX BYTES_MAX
 *
 * UID -1: stay who you are.  Exits with 0; else one line on stderr says why, and the code
 * is 1 + the error's class (2: the archive was refused).
 */
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "unpack/unpack.h"

enum { ARCHIVE, TARGET, UID, ENTRIES, BYTES, ARGUMENTS };

static int unpack(char *const *argv, struct err *err)
{
	int64_t n[ARGUMENTS];

	for (int i = 0; i < ARGUMENTS; i++)
		if (str_to_i64(argv[i], i == UID ? -1 : 0, INT64_MAX / 2, &n[i]) < 0)
			return err_set(err, ERR_INVALID, "argument %d is no number: %s",
				       i + 1, argv[i]);
	struct unpack_limits limits = { .entries = n[ENTRIES], .bytes = n[BYTES] };
	/* Names in archives are UTF-8; set before the sandbox hides the locale's files. */
	setlocale(LC_CTYPE, "C.UTF-8");
	signal(SIGXFSZ, SIG_IGN);
	if (unpack_sandbox((int)n[TARGET], n[UID], &limits, err) < 0)
		return -1;
	return unpack_archive((int)n[ARCHIVE], (int)n[TARGET], &limits, err);
}

int main(int argc, char **argv)
{
	struct err err = { .code = ERR_NONE };

	if (argc != ARGUMENTS + 1) {
		fprintf(stderr,
			"usage: yard-unpack ARCHIVE_FD TARGET_FD UID ENTRIES_MAX BYTES_MAX\n");
		return 2;
	}
	if (unpack(argv + 1, &err) == 0)
		_exit(0); /* nothing of ours is left to tidy, and the sandbox forbids most of it */
	fprintf(stderr, "%s\n", err.text);
	fflush(stderr);
	_exit(1 + (int)err.code);
}

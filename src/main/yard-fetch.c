// SPDX-License-Identifier: Apache-2.0
/* yard-fetch - brings data from and to other storage, for the daemon.
 *
 *   yard-fetch UID
 *
 * UID -1: stay who you are.  The request, the folder and the rest are descriptors, and what
 * it has to say are lines: remote/request.h tells which.  To cancel it is to kill it.
 */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "remote/remote.h"

int main(int argc, char **argv)
{
	struct err err = { .code = ERR_NONE };
	int64_t uid;

	if (argc != 2 || str_to_i64(argv[1], -1, UINT32_MAX, &uid) < 0) {
		fprintf(stderr,
			"usage: yard-fetch UID (started by yardd, not by hand)\n");
		return 2;
	}
	setlocale(LC_CTYPE, "C.UTF-8");
	signal(SIGXFSZ, SIG_IGN);
	if (remote_serve(uid, &err) == 0)
		_exit(0);
	for (char *p = err.text; (p = strpbrk(p, "\r\n"));)
		*p = ' '; /* one line, whatever a server said */
	dprintf(REMOTE_SAYS_FD, "bad %s %s\n", err_word(err.code), err.text);
	_exit(1);
}

// SPDX-License-Identifier: Apache-2.0
/* Whether who listens at an app's address is the app.  Tasks share the machine's network:
 * anybody on it could take an address before the app does, and be shown in its place. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "http/app.h"
#include "http/internal.h"
#include "who/who.h"
#include "yard/range.h"

#define LISTENING 0x0a

/* "0100007F:1F90": as the kernel writes an address, its four bytes as one number. */
static void write_local(char out[64], const char *before, uint32_t address, int port)
{
	snprintf(out, 64, "%s%08" PRIX32 ":%04X", before, address, (unsigned)port);
}

/* The uid of a line whose local address is that; -1: it is another. */
static int64_t uid_of_line(const char *line, const char *local)
{
	char at[64] = "";
	unsigned state = 0;
	long long uid = -1;

	if (sscanf(line, " %*[0-9]: %63[0-9A-F:] %*s %x %*s %*s %*s %lld", at, &state,
		   &uid) != 3 ||
	    state != LISTENING || !str_eq(at, local))
		return -1;
	return uid;
}

static int64_t find_line(const char *table, const char *local)
{
	for (const char *line = table; *line;) {
		int64_t uid = uid_of_line(line, local);
		if (uid >= 0)
			return uid;
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return -1;
}

/* In the order in which the kernel would choose. */
int64_t app_listener(const char *tcp, const char *tcp6, const char *address, int port)
{
	static const char mapped[] = "0000000000000000FFFF0000",
			  any[] = "000000000000000000000000";
	struct in_addr four;
	char local[64];
	int64_t uid;

	if (inet_pton(AF_INET, address, &four) != 1)
		return -1;
	write_local(local, "", four.s_addr, port);
	if ((uid = find_line(tcp, local)) >= 0)
		return uid;
	write_local(local, mapped, four.s_addr, port);
	if ((uid = find_line(tcp6, local)) >= 0)
		return uid;
	write_local(local, "", 0, port);
	if ((uid = find_line(tcp, local)) >= 0)
		return uid;
	write_local(local, any, 0, port);
	return find_line(tcp6, local);
}

/* Those who listen come first in these files: all others are not read. */
static void read_listeners(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	unsigned state;

	if (!f)
		return;
	while (getline(&line, &size, f) > 0) {
		if (sscanf(line, " %*[0-9]: %*s %*s %x", &state) == 1 &&
		    state != LISTENING)
			break;
		buf_adds(out, line);
	}
	free(line);
	fclose(f);
}

/* Root mode: of the owner's range.  Private mode: the daemon's user, or one of the sub-uids
 * that a task may have, which are nobody's account. */
static bool is_theirs(struct http_server *s, const struct app *a, int64_t uid)
{
	int64_t first = yard_range(s->config.yard, false, a->owner);

	if (first >= 0)
		return uid >= first && uid < first + WHO_RANGE;
	return uid == s->config.daemon_uid || uid >= WHO_RANGE;
}

bool app_is_there(struct http_server *s, const struct app *a, struct err *err)
{
	AUTO_BUF struct buf tcp = { 0 }, tcp6 = { 0 };

	read_listeners("/proc/net/tcp", &tcp);
	read_listeners("/proc/net/tcp6", &tcp6);
	int64_t uid = app_listener(buf_str(&tcp), buf_str(&tcp6), a->address, a->port);
	if (uid >= 0 && is_theirs(s, a, uid))
		return true;
	if (uid < 0)
		err_set(err, ERR_IO, "nobody listens at %s port %d", a->address, a->port);
	else
		err_set(err, ERR_IO,
			"a program of uid %lld, which is none of the app's, listens at %s "
			"port %d",
			(long long)uid, a->address, a->port);
	return false;
}

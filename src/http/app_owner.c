// SPDX-License-Identifier: Apache-2.0
/* Whether who listens at an app's address is the app.  Tasks share the machine's network:
 * anybody on it could take an address before the app does, and be shown in its place. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "http/app.h"
#include "http/internal.h"
#include "who/who.h"
#include "yard/range.h"

#define LISTENING "0A"
#define FIELD_MAX 64

/* Of a line: its number and a colon, the local address, the other, the state, two queues, a
 * timer, a count, the uid. */
enum column { AT_LOCAL = 1, AT_STATE = 3, AT_UID = 7 };

/* False: the line has no such column, or one longer than any there is. */
static bool take(const char *line, enum column column, char out[FIELD_MAX])
{
	static const char space[] = " \t";

	line += strspn(line, space);
	for (int i = 0; i < (int)column; i++) {
		line += strcspn(line, " \t\n");
		line += strspn(line, space);
	}
	size_t n = strcspn(line, " \t\n");
	if (n == 0 || n >= FIELD_MAX)
		return false;
	memcpy(out, line, n);
	out[n] = '\0';
	return true;
}

static bool is_listening(const char *line)
{
	char state[FIELD_MAX];

	return take(line, AT_STATE, state) && str_eq(state, LISTENING);
}

/* "0100007F:1F90": as the kernel writes an address, its four bytes as one number. */
static void write_local(char out[64], const char *before, uint32_t address, int port)
{
	snprintf(out, 64, "%s%08" PRIX32 ":%04X", before, address, (unsigned)port);
}

static void write_exact(char out[64], const char *address, int port)
{
	struct in_addr four = { 0 };

	inet_pton(AF_INET, address, &four);
	write_local(out, "", four.s_addr, port);
}

/* The uid of a line whose local address is that; -1: it is another. */
static int64_t uid_of_line(const char *line, const char *local)
{
	char at[FIELD_MAX], uid[FIELD_MAX];
	int64_t number;

	if (!is_listening(line) || !take(line, AT_LOCAL, at) || !str_eq(at, local) ||
	    !take(line, AT_UID, uid) || str_to_i64(uid, 0, UINT32_MAX, &number) < 0)
		return -1;
	return number;
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

/* Those who listen come first in these files, and nothing is read behind them, nor behind
 * the one that is looked for: to find that there are no more the kernel looks through its
 * whole table.  True: it was there. */
static bool read_listeners(const char *path, const char *local, struct buf *out)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	bool first = true; /* the names of the columns */

	bool found = false;

	if (!f)
		return false;
	while (!found && getline(&line, &size, f) > 0) {
		if (!first && !is_listening(line))
			break;
		first = false;
		found = uid_of_line(line, local) >= 0;
		buf_adds(out, line);
	}
	free(line);
	fclose(f);
	return found;
}

/* Root mode: of the owner's range.  Private mode: the daemon's user, which a task's root is;
 * another yard's tasks on this machine have other uids. */
static bool is_theirs(struct http_server *s, const struct app *a, int64_t uid)
{
	int64_t first = yard_range(s->config.yard, false, a->owner);

	if (first >= 0)
		return uid >= first && uid < first + WHO_RANGE;
	return uid == s->config.daemon_uid;
}

/* Of what the kernel answered: the uid; -1: there is none; -2: it does not say. */
static int64_t read_diag(const char *bytes, ssize_t len)
{
	struct nlmsghdr head;
	struct nlmsgerr failed;
	struct inet_diag_msg found;

	if (len < (ssize_t)NLMSG_LENGTH(sizeof failed))
		return -2;
	memcpy(&head, bytes, sizeof head);
	memcpy(&failed, bytes + NLMSG_HDRLEN, sizeof failed);
	if (head.nlmsg_type == NLMSG_ERROR)
		return failed.error == -ENOENT ? -1 : -2;
	if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    len < (ssize_t)NLMSG_LENGTH(sizeof found))
		return -2;
	memcpy(&found, bytes + NLMSG_HDRLEN, sizeof found);
	return found.idiag_state == TCP_LISTEN ? (int64_t)found.idiag_uid : -1;
}

/* Asks for the one socket that a call would reach: however many others listen on this
 * machine, it costs the same. */
static int64_t ask_kernel(const char *address, int port)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 ask;
	} q = { .head = { .nlmsg_len = sizeof q,
			  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST },
		.ask = { .sdiag_family = AF_INET,
			 .sdiag_protocol = IPPROTO_TCP,
			 .idiag_states = 1U << TCP_LISTEN,
			 .id = { .idiag_sport = htons((uint16_t)port),
				 .idiag_cookie = { INET_DIAG_NOCOOKIE,
						   INET_DIAG_NOCOOKIE } } } };
	AUTO_FD int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
				NETLINK_SOCK_DIAG);
	char answer[4096];

	if (fd < 0 || inet_pton(AF_INET, address, q.ask.id.idiag_src) != 1 ||
	    send(fd, &q, sizeof q, 0) != (ssize_t)sizeof q)
		return -2;
	return read_diag(answer, recv(fd, answer, sizeof answer, 0));
}

/* A kernel without that question has it in its tables. */
static int64_t ask_tables(const char *address, int port)
{
	AUTO_BUF struct buf tcp = { 0 }, tcp6 = { 0 };
	char local[64];

	write_exact(local, address, port);
	if (!read_listeners("/proc/net/tcp", local, &tcp))
		read_listeners("/proc/net/tcp6", "", &tcp6);
	return app_listener(buf_str(&tcp), buf_str(&tcp6), address, port);
}

int64_t app_listener_now(const char *address, int port)
{
	int64_t uid = ask_kernel(address, port);

	return uid < -1 ? ask_tables(address, port) : uid;
}

bool app_is_there(struct http_server *s, const struct app *a, struct err *err)
{
	int64_t uid = app_listener_now(a->address, a->port);

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

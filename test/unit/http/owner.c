// SPDX-License-Identifier: Apache-2.0
/* Who listens at an address, by the kernel's own table. */
#include "http/app.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "tap.h"

#define HEAD                                                                             \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
#define LINE(at, state, uid)                                                             \
	"   0: " at " 00000000:0000 " state                                              \
	" 00000000:00000000 00:00000000 00000000  " uid                                  \
	"        0 123 1 0000000000000000 100 0 0 10 0\n"

static void test_choice(void)
{
	static const char four[] = HEAD LINE("0100017F:4E20", "0A", "1000")
		LINE("0200017F:4E20", "06", "1001") LINE("00000000:4E21", "0A", "1002")
			LINE("0300017F:4E21", "0A", "1003");
	static const char six[] =
		HEAD LINE("00000000000000000000000000000000:4E22", "0A", "1004")
			LINE("0000000000000000FFFF00000500017F:4E22", "0A", "1005");

	IS_INT((long)app_listener(four, six, "127.1.0.1", 20000), 1000,
	       "who listens at that very address");
	IS_INT((long)app_listener(four, six, "127.1.0.2", 20000), -1,
	       "a connection is nobody who listens");
	IS_INT((long)app_listener(four, six, "127.1.0.9", 20001), 1002,
	       "who listens at every address");
	IS_INT((long)app_listener(four, six, "127.1.0.3", 20001), 1003,
	       "but the very address comes first");
	IS_INT((long)app_listener(four, six, "127.1.0.9", 20002), 1004,
	       "also at every address of IPv6");
	IS_INT((long)app_listener(four, six, "127.1.0.5", 20002), 1005,
	       "or at that one, as IPv6 writes it");
	IS_INT((long)app_listener("", "", "127.1.0.1", 1), -1, "nothing is nobody");
	IS_INT((long)app_listener(four, six, "no address", 20000), -1, "nor is nonsense");
	IS_INT((long)app_listener("junk\n0: x\n\n", "1", "127.1.0.1", 1), -1,
	       "what cannot be read is nobody");
}

static void read_all(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "re");
	char line[512];

	while (f && fgets(line, sizeof line, f))
		buf_adds(out, line);
	if (f)
		fclose(f);
}

static void test_kernel(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t len = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	AUTO_BUF struct buf four = { 0 }, six = { 0 };

	inet_pton(AF_INET, "127.99.3.7", &at.sin_addr);
	OK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0 &&
		   getsockname(fd, (struct sockaddr *)&at, &len) == 0,
	   "somebody listens");
	read_all("/proc/net/tcp", &four);
	read_all("/proc/net/tcp6", &six);
	IS_INT((long)app_listener(buf_str(&four), buf_str(&six), "127.99.3.7",
				  ntohs(at.sin_port)),
	       (long)getuid(), "and the kernel's table says who");
	close(fd);
}

/* A listener of this process; gives its port. */
static int listen_at(int *fd, int family, const char *address, bool six_only)
{
	struct sockaddr_in four = { .sin_family = AF_INET };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	socklen_t len = family == AF_INET ? sizeof four : sizeof six;
	struct sockaddr *at = family == AF_INET ? (void *)&four : (void *)&six;
	int only = six_only;

	inet_pton(family, address,
		  family == AF_INET ? (void *)&four.sin_addr : (void *)&six.sin6_addr);
	*fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (family == AF_INET6)
		setsockopt(*fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
	if (*fd < 0 || bind(*fd, at, len) < 0 || listen(*fd, 1) < 0 ||
	    getsockname(*fd, at, &len) < 0)
		return -1;
	return ntohs(family == AF_INET ? four.sin_port : six.sin6_port);
}

static void test_now(void)
{
	static const struct {
		const char *address, *called, *law;
		int family;
		bool six_only, found;
	} rows[] = {
		{ "127.9.8.7", "127.9.8.7", "at its own address", AF_INET, false, true },
		{ "127.9.8.7", "127.9.8.6", "not at another", AF_INET, false, false },
		{ "0.0.0.0", "127.9.8.7", "at any", AF_INET, false, true },
		{ "::", "127.9.8.7", "at any of both kinds", AF_INET6, false, true },
		{ "::", "127.9.8.7", "not by IPv6 alone", AF_INET6, true, false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int fd, port = listen_at(&fd, rows[i].family, rows[i].address,
					 rows[i].six_only);
		if (port < 0)
			SKIP("no such listener here");
		else
			IS_INT((long)app_listener_now(rows[i].called, port),
			       rows[i].found ? (long)geteuid() : -1,
			       "who listens now is found: %s", rows[i].law);
		if (fd >= 0)
			close(fd);
	}
}

int main(void)
{
	test_choice();
	test_kernel();
	test_now();
	return END();
}

// SPDX-License-Identifier: Apache-2.0
/* Bytes of files over real sockets: large and small, whole and in ranges, with clients that
 * break off, wait, or never read; over a quota; by three ways to the socket. */
#include "fixture.h"

#include <dirent.h>
#include <fcntl.h>

#include "base/crc32c.h"

#define BIG (20u << 20)

static struct fixture f = { .run_ms_max = 1000, .write_ms = 700 };
static char *big; /* as large as BIG, and a NUL */
static char home[128];

static void send_all(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
		if (n <= 0)
			return;
		bytes += n;
		len -= (size_t)n;
	}
}

static void put(struct client *c, struct answer *a, const char *target,
		const char *headers, const char *bytes, size_t len)
{
	char head[512];

	buf_fini(&a->body);
	*a = (struct answer){ 0 };
	snprintf(head, sizeof head,
		 "PUT /yard/v1%s HTTP/1.1\r\nHost: y\r\n%sContent-Length: %zu\r\n\r\n",
		 target, headers, len);
	say(c->fd, head);
	send_all(c->fd, bytes, len);
	client_read(c, a, 0);
}

static int count_home(void)
{
	DIR *dir = opendir(home);
	const struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir)))
		n += e->d_name[0] != '.' || strncmp(e->d_name, ".yard-part", 10) == 0;
	if (dir)
		closedir(dir);
	return n;
}

static void test_big(void)
{
	struct client c = client_open(&f);
	struct answer a = { 0 };
	char header[64];

	snprintf(header, sizeof header, "Yard-Checksum: crc32c=%08x\r\n",
		 crc32c_add(0, big, BIG));
	put(&c, &a, "/files/content?path=big", header, big, BIG);
	OK(a.status == 201, "a large file is put: %d %s", a.status, buf_str(&a.body));
	put(&c, &a, "/files/content?path=big&sync=false", header, big, BIG);
	OK(a.status == 200, "and replaced, by the same connection");
	put(&c, &a, "/files/content?path=big", header, big + 1, BIG - 1);
	OK(a.status == 400, "other bytes than were said are refused");
	client_close(&c);
	c = client_open(&f);
	ask(&c, &a, "GET", "/files/content?path=big", NULL);
	OK(a.status == 200 && a.body.len == BIG && memcmp(a.body.data, big, BIG) == 0,
	   "the old bytes come back, all of them");
	ask(&c, &a, "GET", "/files/stat?path=big", NULL);
	OK(a.status == 200 && has(&a, "\"size\":20971520"),
	   "and the connection is good for more");
	buf_fini(&a.body);
	client_close(&c);
}

static void test_chunked(void)
{
	struct client c = client_open(&f);
	struct answer a = { 0 };
	char line[32];

	say(c.fd, "PUT /yard/v1/files/content?path=chunked HTTP/1.1\r\nHost: y\r\n"
		  "Transfer-Encoding: chunked\r\n\r\n");
	for (size_t at = 0, n = 1; at < BIG; at += n, n = n * 3 + 1) {
		if (n > BIG - at)
			n = BIG - at;
		snprintf(line, sizeof line, "%zx\r\n", n);
		say(c.fd, line);
		send_all(c.fd, big + at, n);
		say(c.fd, "\r\n");
	}
	say(c.fd, "0\r\n\r\n");
	client_read(&c, &a, 0);
	OK(a.status == 201 && has(&a, "\"size\":20971520"),
	   "one whose length is not said is put as well");
	buf_fini(&a.body);
	client_close(&c);
}

static const struct {
	const char *headers;
	int status;
	const char *bytes; /* NULL: does not matter */
} ranges[] = {
	{ "Range: bytes=0-3\r\n", 206, "0123" },
	{ "Range: bytes=4-\r\n", 206, "456789" },
	{ "Range: bytes=-3\r\n", 206, "789" },
	{ "Range: bytes=-30\r\n", 206, "0123456789" },
	{ "Range: bytes=9-100\r\n", 206, "9" },
	{ "Range: bytes=10-\r\n", 416, NULL },
	{ "Range: bytes=-0\r\n", 416, NULL },
	{ "Range: bytes=5-4\r\n", 200, "0123456789" },
	{ "Range: bytes=0-1,3-4\r\n", 200, "0123456789" },
	{ "Range: lines=1-2\r\n", 200, "0123456789" },
	{ "Range: bytes=x-y\r\n", 200, "0123456789" },
	{ "Range: bytes=-\r\n", 200, "0123456789" },
	{ "Range: bytes=99999999999999999999-\r\n", 200, "0123456789" },
	{ "Range: bytes=0-3\r\nIf-Range: \"other\"\r\n", 200, "0123456789" },
	{ "If-Match: \"other\"\r\n", 412, NULL },
	{ "If-Match: *\r\n", 200, "0123456789" },
	{ "If-None-Match: *\r\n", 304, "" },
	{ "If-None-Match: \"other\", \"and another\"\r\n", 200, "0123456789" },
};

static void test_ranges(void)
{
	struct client c = client_open(&f);
	struct answer a = { 0 };
	int wrong = 0;

	put(&c, &a, "/files/content?path=ten", "", "0123456789", 10);
	for (size_t i = 0; i < COUNT_OF(ranges); i++) {
		ask_with(&c, &a, "GET", "/files/content?path=ten", ranges[i].headers,
			 NULL);
		bool same = !ranges[i].bytes || str_eq(buf_str(&a.body), ranges[i].bytes);
		if (a.status == ranges[i].status && same)
			continue;
		printf("# %s gives %d '%s'\n", ranges[i].headers, a.status,
		       buf_str(&a.body));
		wrong++;
	}
	OK(wrong == 0, "each range and condition gives what it should");
	ask(&c, &a, "HEAD", "/files/content?path=ten", NULL);
	OK(a.status == 200 && a.body.len == 0, "HEAD gives no bytes");
	ask_with(&c, &a, "GET", "/files/content?path=big",
		 "Range: bytes=1000000-19999999\r\n", NULL);
	OK(a.status == 206 && a.body.len == 19000000 &&
		   memcmp(a.body.data, big + 1000000, 19000000) == 0,
	   "a large range is those bytes");
	buf_fini(&a.body);
	client_close(&c);
}

static bool gone_within(const char *path, int64_t ms)
{
	for (int64_t end = now_ms() + ms; now_ms() < end; usleep(5000))
		if (access(path, F_OK) < 0)
			return true;
	return false;
}

static void test_broken_off(void)
{
	struct answer a = { 0 };
	int before = count_home();

	for (int i = 0; i < 8; i++) {
		struct client c = client_open(&f);
		char head[160];
		snprintf(head, sizeof head,
			 "PUT /yard/v1/files/content?path=half-%d HTTP/1.1\r\nHost: y\r\n"
			 "Content-Length: %u\r\n\r\n",
			 i, BIG);
		say(c.fd, head);
		send_all(c.fd, big, i * (BIG / 9));
		client_close(&c);
	}
	struct client c = client_open(&f);
	ask(&c, &a, "GET", "/files/stat?path=half-3", NULL);
	OK(a.status == 404, "half a file is none");
	AUTO_FREE char *part = str_printf("%s/half-7", home);
	OK(gone_within(part, 1000) && count_home() == before,
	   "and nothing of it lies about");
	put(&c, &a, "/files/content?path=no/such/folder", "", big, BIG);
	OK(a.status == 404 || a.status == 0, "who is refused need not send it all: %d",
	   a.status);
	buf_fini(&a.body);
	client_close(&c);
}

static void test_slow_reader(void)
{
	struct client c = client_tcp(&f), idle = client_open(&f);
	struct answer a = { 0 }, b = { 0 };

	say(idle.fd, "GET /yard/v1/files/content?path=big HTTP/1.1\r\nHost: y\r\n\r\n");
	client_read(&idle, &a, 1);
	OK(a.status == 200, "one begins to read a large file, then rests");
	struct client other = client_open(&f);
	int64_t began = now_ms();
	ask(&other, &b, "GET", "/health", NULL);
	OK(b.status == 200 && now_ms() - began < 5000, "others are answered meanwhile");
	usleep(1800 * 1000); /* longer than write_ms */
	client_read(&idle, &a, 0);
	OK(!a.whole && a.body.len < BIG, "one who reads nothing for too long is let go");
	ask(&other, &b, "GET", "/files/content?path=ten", NULL);
	OK(b.status == 200, "and nobody else is");
	buf_fini(&a.body);
	buf_fini(&b.body);
	client_close(&idle);
	client_close(&other);
	client_close(&c);
}

/* More of them than there are threads, and each would take hours. */
static void test_long_asks(void)
{
	struct client many[8];
	struct client other = client_open(&f);
	struct answer a = { 0 };
	AUTO_FREE char *path = str_printf("%s/endless", home);
	AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	OK(fd >= 0 && ftruncate(fd, INT64_C(1) << 40) == 0, "a file without end");
	for (size_t i = 0; i < COUNT_OF(many); i++) {
		many[i] = client_open(&f);
		say(many[i].fd, "GET /yard/v1/files/stat?path=endless&checksum=sha256 "
				"HTTP/1.1\r\nHost: y\r\n\r\n");
	}
	ask(&other, &a, "GET", "/files/stat?path=endless", NULL);
	ask(&other, &a, "GET", "/files/content?path=ten", NULL);
	OK(a.status == 200, "who has large files summed up holds up nobody's files");
	for (size_t i = 0; i < COUNT_OF(many); i++)
		client_close(&many[i]);
	unlink(path);
	buf_fini(&a.body);
	client_close(&other);
}

static void test_truncated(void)
{
	struct client c = client_open(&f);
	struct answer a = { 0 };
	AUTO_FREE char *path = str_printf("%s/big", home);

	say(c.fd, "GET /yard/v1/files/content?path=big HTTP/1.1\r\nHost: y\r\n\r\n");
	client_read(&c, &a, 1);
	OK(truncate(path, 1 << 20) == 0, "it becomes shorter while it is read");
	client_read(&c, &a, 0);
	OK(!a.whole && a.body.len < BIG, "then the answer is cut off, not filled up");
	buf_fini(&a.body);
	client_close(&c);
}

static void test_many_small(void)
{
	struct client c = client_open(&f);
	struct answer a = { 0 };
	AUTO_BUF struct buf all = { 0 };
	int good = 0;
	const int count = 200;

	for (int i = 0; i < count; i++)
		buf_printf(
			&all,
			"PUT /yard/v1/files/content?path=small/%d&parents=true&sync=false "
			"HTTP/1.1\r\nHost: y\r\nContent-Length: 5\r\n\r\n%05d",
			i, i);
	say(c.fd, buf_str(&all));
	for (int i = 0; i < count; i++) {
		buf_fini(&a.body);
		a = (struct answer){ 0 };
		client_read(&c, &a, 0);
		good += a.status == 201;
	}
	OK(good == count, "small files come one behind the other without waiting: %d",
	   good);
	ask(&c, &a, "GET", "/files/content?path=small/199", NULL);
	IS(buf_str(&a.body), "00199", "and are what they were");
	ask(&c, &a, "POST", "/files/sync", NULL);
	OK(a.status == 204, "they are made durable together");
	buf_fini(&a.body);
	client_close(&c);
}

static void test_quota(void)
{
	struct client c = client_open(&f);
	struct answer a = { 0 };

	ask(&c, &a, "GET", "/files/usage?path=~", NULL);
	OK(a.status == 200 && has(&a, "\"quota_bytes\":78643200"), "the quota is told");
	put(&c, &a, "/files/content?path=much", "", big, BIG);
	put(&c, &a, "/files/content?path=more", "", big, BIG);
	OK(a.status == 422 || a.status == 0, "what is beyond it is refused: %d",
	   a.status);
	client_close(&c);
	c = client_open(&f);
	ask(&c, &a, "GET", "/files/stat?path=more", NULL);
	OK(a.status == 404, "and is not there");
	ask(&c, &a, "DELETE", "/files?path=much", NULL);
	put(&c, &a, "/files/content?path=more", "", big, BIG);
	OK(a.status == 201, "what was removed makes room: %s", buf_str(&a.body));
	put(&c, &a, "/files/content?path=more", "", big, BIG);
	OK(a.status == 200, "and so does what is replaced: %s", buf_str(&a.body));
	buf_fini(&a.body);
	client_close(&c);
}

/* A name that JSON cannot say is told as a query can. */
static void test_odd_names(void)
{
	struct client c = client_open(&f);
	struct answer a = { 0 };

	put(&c, &a, "/files/content?path=odd/%FF%0A%22x&parents=true", "", "odd", 3);
	OK(a.status == 201, "a name may have any byte");
	ask(&c, &a, "GET", "/files?path=odd", NULL);
	OK(a.status == 200 && has(&a, "\"escaped\":\"%FF%0A%22x\""),
	   "and is told so that it can be asked for");
	ask(&c, &a, "GET", "/files/content?path=odd/%FF%0A%22x", NULL);
	IS(buf_str(&a.body), "odd", "which it can");
	ask(&c, &a, "GET", "/files/content?path=odd/a%00b", NULL);
	OK(a.status == 400, "but for a NUL");
	ask(&c, &a, "GET", "/files?path=odd&limit=1&cursor=%25zz", NULL);
	OK(a.status == 400, "a cursor that was never given is refused");
	buf_fini(&a.body);
	client_close(&c);
}

int main(void)
{
	struct client c;
	struct answer a = { 0 };

	big = mem_alloc(1, BIG + 1);
	for (size_t i = 0; i < BIG; i++)
		big[i] = (char)(i * 2654435761u >> 11);
	f.storage_quota = 75 << 20;
	fixture_start(&f);
	c = client_open(&f);
	ask(&c, &a, "GET", "/files?path=~", NULL);
	const char *name = strstr(buf_str(&a.body), "/home/");
	snprintf(home, sizeof home, "%s/pfs%.*s", f.dir,
		 name ? (int)strcspn(name, "\"") : 0, name ? name : "");
	buf_fini(&a.body);
	client_close(&c);
	test_big();
	test_ranges();
	test_broken_off();
	test_slow_reader();
	test_long_asks();
	test_truncated();
	test_chunked();
	test_many_small();
	test_quota();
	test_odd_names();
	fixture_end(&f);
	free(big);
	return END();
}

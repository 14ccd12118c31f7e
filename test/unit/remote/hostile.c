// SPDX-License-Identifier: Apache-2.0
/* Servers that are broken or mean well to nobody: each answers by a script, over loopback;
 * what is got from them is whole and right, or refused in words. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "remote/remote.h"
#include "tap.h"

/* What a server does with the n-th request (from 0), whose head is given. */
typedef void (*script)(int fd, const char *head, int n);

static int listener = -1, port;
static _Atomic(script) playing;
static atomic_int requests;
static char home[] = "/tmp/yard-hostile-XXXXXX";

static void say(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) < 0)
		return; /* who hung up does not care */
}

static void *serve(void *arg)
{
	(void)arg;
	for (;;) {
		char head[8192];
		size_t used = 0;
		int fd = accept(listener, NULL, NULL);
		while (fd >= 0 && used < sizeof head - 1) {
			ssize_t n = read(fd, head + used, sizeof head - 1 - used);
			if (n <= 0)
				break;
			used += (size_t)n;
			head[used] = '\0';
			if (strstr(head, "\r\n\r\n"))
				break;
		}
		head[used] = '\0';
		if (fd >= 0 && used)
			playing(fd, head, requests++);
		if (fd >= 0)
			close(fd);
	}
	return NULL;
}

static void start_server(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof a;
	pthread_t t;

	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&a, sizeof a) < 0 ||
	    listen(listener, 64) < 0 ||
	    getsockname(listener, (struct sockaddr *)&a, &len) < 0 ||
	    pthread_create(&t, NULL, serve, NULL) != 0)
		abort();
	port = ntohs(a.sin_port);
}

/* ---- what is asked of it ---- */

static int folder = -1;

static void fresh_folder(void)
{
	static int n;
	char path[128];

	if (folder >= 0)
		close(folder);
	snprintf(path, sizeof path, "%s/%d", home, n++);
	mkdir(path, 0755);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

struct result {
	int look, get;
	size_t files;
	struct err err;
};

static struct remote remote_at(const char *uri, struct remote_account *a)
{
	static char it[] = "it";
	struct remote r = { .files_max = 2000, .bytes_max = 32 << 20, .show = it };
	struct err err;

	*a = (struct remote_account){ 0 };
	if (remote_uri_parse(uri, &r.uri, &err) < 0)
		abort();
	if (r.uri.scheme != REMOTE_HTTP)
		a->endpoint = str_printf("http://127.0.0.1:%d", port);
	a->region = mem_strdup("x");
	r.account = *a;
	r.ops = r.uri.scheme == REMOTE_HTTP   ? &remote_http_ops
		: r.uri.scheme == REMOTE_HDFS ? &remote_webhdfs_ops
					      : &remote_s3_ops;
	return r;
}

/* Looks, then gets; `known`: the list instead of looking. */
static struct result try_it(const char *uri, script s, const struct manifest_entry *known)
{
	AUTO_FREE char *http = str_printf("http://127.0.0.1:%d/%s", port, uri);
	struct remote_account a;
	struct remote r = remote_at(strstr(uri, "://") ? uri : http, &a);
	AUTO_MANIFEST struct manifest m = { 0 };
	struct result out = { .err = { .code = ERR_NONE } };
	struct net *n = net_create();

	requests = 0;
	playing = s;
	fresh_folder();
	if (known)
		out.look = manifest_add(&m, known, &out.err);
	else
		out.look = r.uri.folder ? r.ops->list(&r, n, &m, &out.err)
					: r.ops->stat(&r, n, &m, &out.err);
	if (out.look == 0)
		out.look = manifest_finish(&m, &out.err);
	net_destroy(n);
	out.files = m.count;
	struct remote_job j = { &r, &m, folder, -1 };
	out.get = out.look == 0 ? remote_get_all(&j, &out.err) : -1;
	remote_uri_fini(&r.uri);
	remote_account_fini(&a);
	return out;
}

static bool has(const char *name, const char *bytes)
{
	AUTO_FD int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	char got[4096];
	ssize_t n = fd < 0 ? -1 : read(fd, got, sizeof got);

	return n == (ssize_t)strlen(bytes) && memcmp(got, bytes, (size_t)n) == 0;
}

static void refused(const char *law, const char *uri, script s, const char *words)
{
	struct result r = try_it(uri, s, NULL);

	if (!OK((r.look < 0 || r.get < 0) && strstr(r.err.text, words), "%s: %s", law,
		r.err.text))
		printf("# look %d, get %d after %d requests\n", r.look, r.get, requests);
}

/* ---- scripts ---- */

#define OK_HEAD "HTTP/1.1 200 OK\r\nConnection: close\r\n"

static bool is_head(const char *head)
{
	return str_starts(head, "HEAD");
}

static void plain(int fd, const char *head, int n)
{
	(void)n;
	say(fd, OK_HEAD "ETag: \"1\"\r\nContent-Length: 5\r\n\r\n");
	if (!is_head(head))
		say(fd, "hello");
}

static void busy_first(int fd, const char *head, int n)
{
	if (n == 0 || n == 2)
		say(fd, "HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\n\r\n");
	else if (n == 3)
		return; /* hangs up */
	else
		plain(fd, head, n);
}

static void breaks_off(int fd, const char *head, int n)
{
	(void)n;
	if (is_head(head))
		plain(fd, head, n);
	else if (!strstr(head, "Range: bytes=3-"))
		say(fd, OK_HEAD "ETag: \"1\"\r\nContent-Length: 5\r\n\r\nhel");
	else
		say(fd,
		    "HTTP/1.1 206 Partial\r\nETag: \"1\"\r\nContent-Length: 2\r\nContent-Range: "
		    "bytes 3-4/5\r\nConnection: close\r\n\r\nlo");
}

static void no_ranges(int fd, const char *head, int n)
{
	if (!is_head(head) && n < 2)
		say(fd, OK_HEAD "ETag: \"1\"\r\nContent-Length: 5\r\n\r\nhel");
	else
		plain(fd, head, n);
}

static void other_range(int fd, const char *head, int n)
{
	if (is_head(head) || n < 2)
		breaks_off(fd, head, n);
	else
		say(fd,
		    "HTTP/1.1 206 Partial\r\nETag: \"1\"\r\nContent-Length: 2\r\nContent-Range: "
		    "bytes 0-1/5\r\nConnection: close\r\n\r\nhe");
}

static void changes(int fd, const char *head, int n)
{
	if (is_head(head))
		plain(fd, head, n);
	else
		say(fd, OK_HEAD "ETag: \"2\"\r\nContent-Length: 5\r\n\r\nother");
}

static void too_much(int fd, const char *head, int n)
{
	if (is_head(head))
		plain(fd, head, n);
	else
		say(fd, OK_HEAD "ETag: \"1\"\r\nContent-Length: 11\r\n\r\nhello world");
}

static void always_short(int fd, const char *head, int n)
{
	if (is_head(head))
		plain(fd, head, n);
	else
		say(fd, OK_HEAD "ETag: \"1\"\r\nContent-Length: 2\r\n\r\nhe");
}

static void to_a_file(int fd, const char *head, int n)
{
	(void)head;
	(void)n;
	say(fd,
	    "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n");
}

static void in_a_circle(int fd, const char *head, int n)
{
	(void)head;
	(void)n;
	say(fd, "HTTP/1.1 302 Found\r\nLocation: /f\r\nContent-Length: 0\r\nConnection: "
		"close\r\n\r\n");
}

static void slow(int fd, const char *head, int n)
{
	(void)n;
	say(fd, is_head(head) ? OK_HEAD "ETag: \"1\"\r\nContent-Length: 5\r\n\r\n"
			      : OK_HEAD "ETag: \"1\"\r\nContent-Length: 5\r\n\r\nh");
	if (is_head(head))
		return;
	for (int i = 0; i < 40; i++) { /* until it is given up */
		char c;
		usleep(100 * 1000);
		if (recv(fd, &c, 1, MSG_DONTWAIT) == 0)
			break;
	}
}

static void endless_file(int fd, const char *head, int n)
{
	char block[4096];

	(void)n;
	memset(block, 'x', sizeof block);
	say(fd,
	    is_head(head)
		    ? "HTTP/1.1 405 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
		    : OK_HEAD "\r\n");
	while (!is_head(head) && write(fd, block, sizeof block) > 0)
		;
}

static void no_head_unknown_size(int fd, const char *head, int n)
{
	(void)n;
	if (is_head(head))
		say(fd,
		    "HTTP/1.1 405 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
	else
		say(fd,
		    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
		    "5\r\nhello\r\n0\r\n\r\n");
}

/* Large, and with neither HEAD nor ranges: what is asked first must not be all of it. */
static void large_plain(int fd, const char *head, int n)
{
	static char block[1 << 16];

	(void)n;
	if (is_head(head)) {
		say(fd,
		    "HTTP/1.1 403 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
		return;
	}
	say(fd, OK_HEAD "ETag: \"1\"\r\nContent-Length: 20971520\r\n\r\n");
	memset(block, 'x', sizeof block);
	for (int i = 0; i < 320 && write(fd, block, sizeof block) > 0; i++)
		;
}

static void page(int fd, const char *xml)
{
	char head[128];

	snprintf(head, sizeof head, OK_HEAD "Content-Length: %zu\r\n\r\n", strlen(xml));
	say(fd, head);
	say(fd, xml);
}

static void dots(int fd, const char *head, int n)
{
	(void)head;
	(void)n;
	page(fd,
	     "<l><Contents><Key>d/../../etc/cron.d/x</Key><Size>1</Size></Contents></l>");
}

static void absolute(int fd, const char *head, int n)
{
	(void)head;
	(void)n;
	page(fd, "<l><Contents><Key>d//etc/x</Key><Size>1</Size></Contents></l>");
}

static void beside(int fd, const char *head, int n)
{
	(void)head;
	(void)n;
	page(fd, "<l><Contents><Key>other/x</Key><Size>1</Size></Contents></l>");
}

static void file_and_folder(int fd, const char *head, int n)
{
	(void)head;
	(void)n;
	page(fd,
	     "<l><Contents><Key>d/a</Key><Size>1</Size></Contents><Contents><Key>d/a/b</Key>"
	     "<Size>1</Size></Contents></l>");
}

static void endless_list(int fd, const char *head, int n)
{
	AUTO_FREE char *xml = str_printf(
		"<l><IsTruncated>true</IsTruncated><NextContinuationToken>t%d"
		"</NextContinuationToken><Contents><Key>d/%d</Key><Size>1</Size>"
		"</Contents></l>",
		n, n);

	(void)head;
	page(fd, xml);
}

static void same_token(int fd, const char *head, int n)
{
	AUTO_FREE char *xml = str_printf(
		"<l><IsTruncated>true</IsTruncated><NextContinuationToken>t"
		"</NextContinuationToken><Contents><Key>d/%d</Key><Size>1</Size>"
		"</Contents></l>",
		n);

	(void)head;
	page(fd, xml);
}

static void empty_pages(int fd, const char *head, int n)
{
	AUTO_FREE char *xml =
		str_printf("<l><IsTruncated>true</IsTruncated>"
			   "<NextContinuationToken>t%d</NextContinuationToken></l>",
			   n);

	(void)head;
	page(fd, xml);
}

static void bomb(int fd, const char *head, int n)
{
	(void)head;
	(void)n;
	page(fd, "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>]><l>&a;</l>");
}

#define LISTING(entries, left)                                                                  \
	"{\"DirectoryListing\":{\"partialListing\":{\"FileStatuses\":{\"FileStatus\":[" entries \
	"]}},\"remainingEntries\":" left "}}"
#define FILE_OF(name, type)                                                              \
	"{\"pathSuffix\":\"" name "\",\"type\":\"" type "\",\"length\":1,\"fileId\":5,"  \
	"\"modificationTime\":1000}"

static void hdfs_dots(int fd, const char *head, int n)
{
	(void)head;
	(void)n;
	page(fd, LISTING(FILE_OF("..", "DIRECTORY"), "0"));
}

static void hdfs_slash(int fd, const char *head, int n)
{
	(void)head;
	(void)n;
	page(fd, LISTING(FILE_OF("a/b", "FILE"), "0"));
}

static void hdfs_nul(int fd, const char *head, int n)
{
	(void)head;
	(void)n;
	page(fd, LISTING(FILE_OF("a\\u0000b", "FILE"), "0"));
}

static void hdfs_endless(int fd, const char *head, int n)
{
	(void)head;
	(void)n;
	page(fd, LISTING(FILE_OF("d", "DIRECTORY"), "0"));
}

static void hdfs_same(int fd, const char *head, int n)
{
	(void)head;
	(void)n;
	page(fd, LISTING(FILE_OF("f", "FILE"), "7"));
}

static void hdfs_junk(int fd, const char *head, int n)
{
	(void)head;
	(void)n;
	page(fd, "{\"DirectoryListing\":{\"partialListing\":[]}}");
}

/* ---- laws ---- */

static void weather(void)
{
	struct result r = try_it("f", plain, NULL);

	OK(r.get == 0 && has("f", "hello"), "a good server");
	r = try_it("f", busy_first, NULL);
	OK(r.get == 0 && has("f", "hello"),
	   "one that is busy, then hangs up, then serves");
	r = try_it("f", breaks_off, NULL);
	OK(r.get == 0 && has("f", "hello"),
	   "one that breaks off: gone on with where it was");
	r = try_it("f", no_ranges, NULL);
	OK(r.get == 0 && has("f", "hello"), "one that knows no ranges: begun anew");
	r = try_it("f", no_head_unknown_size, NULL);
	OK(r.get == 0 && has("f", "hello"), "one that knows no HEAD and tells no size");
	r = try_it("f", large_plain, NULL);
	struct stat st;
	OK(r.get == 0 && fstatat(folder, "f", &st, 0) == 0 && st.st_size == 20971520,
	   "20 MiB from one that knows neither HEAD nor ranges");
}

static void resumed(void)
{
	const struct manifest_entry known = { .name = (char[]){ "f" },
					      .size = 5,
					      .version = (char[]){ "1" } };
	struct remote_account a;
	struct remote r = remote_at("s3://b/f", &a);
	AUTO_MANIFEST struct manifest m = { 0 };
	struct err err;

	fresh_folder();
	AUTO_FD int fd = openat(folder, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	OK(write(fd, "hel", 3) == 3, "a file that an earlier run began");
	playing = breaks_off;
	requests = 0;
	manifest_add(&m, &known, &err);
	struct remote_job j = { &r, &m, folder, -1 };
	OK(remote_get_all(&j, &err) == 0 && has("f", "hello") && requests == 1,
	   "is gone on with, by one request");
	requests = 0;
	m.bytes = 5;
	OK(remote_get_all(&j, &err) == 0 && requests == 0, "and then asked for no more");
	remote_uri_fini(&r.uri);
	remote_account_fini(&a);
}

static void lies(void)
{
	refused("a part of the file that was not asked for", "f", other_range,
		"other bytes");
	refused("another version", "f", changes, "changed while");
	refused("more than was said", "f", too_much, "more than");
	refused("always less than was said", "f", always_short, "of 5 bytes");
	refused("a redirect to a file of ours", "f", to_a_file, "file");
	refused("redirects without end", "f", in_a_circle, "redirects");
	refused("a byte now and then", "f", slow, "too slow");
	refused("bytes without end", "f", endless_file, "more than");
	refused("a name with ..", "s3://b/d/", dots, "..");
	refused("an absolute name", "s3://b/d/", absolute, "empty");
	refused("a name beside the folder", "s3://b/d/", beside, "not below");
	refused("a file that is a folder too", "s3://b/d/", file_and_folder, "lie in it");
	refused("a list without end", "s3://b/d/", endless_list, "more than 2000 files");
	refused("a list in a circle", "s3://b/d/", same_token, "never ends");
	refused("pages with nothing", "s3://b/d/", empty_pages, "never ends");
	refused("entities", "s3://b/d/", bomb, "document type");
	refused("hdfs: ..", "hdfs://n/d/", hdfs_dots, "..");
	refused("hdfs: a slash in a name", "hdfs://n/d/", hdfs_slash, "lists");
	refused("hdfs: a NUL in a name", "hdfs://n/d/", hdfs_nul, "makes no sense");
	refused("hdfs: folders in folders without end", "hdfs://n/d/", hdfs_endless, "");
	refused("hdfs: the same again and again", "hdfs://n/d/", hdfs_same, "");
	refused("hdfs: junk", "hdfs://n/d/", hdfs_junk, "makes no sense");
}

/* A link that somebody put where files go is not followed. */
static void links(void)
{
	const struct manifest_entry known = { .name = (char[]){ "sub/f" },
					      .size = 5,
					      .version = (char[]){ "1" } };
	struct remote_account a;
	struct remote r = remote_at("s3://b/d/", &a);
	AUTO_MANIFEST struct manifest m = { 0 };
	struct err err;

	fresh_folder();
	playing = plain;
	manifest_add(&m, &known, &err);
	struct remote_job j = { &r, &m, folder, -1 };
	OK(symlinkat("/tmp", folder, "sub") == 0 && remote_get_all(&j, &err) < 0,
	   "a link on the way: %s", err.text);
	OK(unlinkat(folder, "sub", 0) == 0 && mkdirat(folder, "sub", 0755) == 0 &&
		   symlinkat("/tmp/yard-evil", folder, "sub/f") == 0 &&
		   remote_get_all(&j, &err) < 0 && access("/tmp/yard-evil", F_OK) < 0,
	   "a link in its place: %s", err.text);
	remote_uri_fini(&r.uri);
	remote_account_fini(&a);
}

/* Bits for what a confined process could still do. */
static int in_the_sandbox(void)
{
	struct err err;
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	char below[64];

	if (remote_sandbox(folder, 65534, 1 << 20, &err) < 0)
		return 128;
	int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int could = connect(tcp, (struct sockaddr *)&to, sizeof to) < 0 ? 1 : 0;
	could |= openat(folder, "new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0 ? 2 : 0;
	could |= socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? 4 : 0;
	snprintf(below, sizeof below, "%s/../yard-escape", home);
	could |= open(below, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0 ? 8 : 0;
	could |= open("/proc/self/environ", O_RDONLY | O_CLOEXEC) >= 0 ? 16 : 0;
	could |= kill(getppid(), 0) == 0 ? 32 : 0;
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	could |= pid > 0 ? 64 : 0;
	return could;
}

static void sandbox(void)
{
	int status = 0;

	fresh_folder();
	if (geteuid() == 0 && fchown(folder, 65534, 65534) < 0)
		OK(false, "give the folder away");
	playing = plain;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		_exit(in_the_sandbox());
	waitpid(pid, &status, 0);
	int could = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
	OK(!(could & 128), "the sandbox can be entered here");
	OK(!(could & 1), "a server can be reached from it");
	OK(!(could & 2), "the folder can be written");
	OK(!(could & 4), "no socket of this machine's can be made");
	OK(!(could & (8 | 16)),
	   "no other file can be written, no other process looked at");
	OK(!(could & (32 | 64)), "no other process can be reached or made");
}

static int drop(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	if (!mkdtemp(home) || chmod(home, 0755) < 0)
		return 1;
	net_setup();
	net_patience(1, 4, 1);
	start_server();
	weather();
	resumed();
	lies();
	links();
	sandbox();
	close(folder);
	nftw(home, drop, 8, FTW_DEPTH | FTW_PHYS);
	return END();
}

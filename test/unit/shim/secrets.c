// SPDX-License-Identifier: Apache-2.0
#include "shim/secrets.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "shim/frame.h"
#include "tap.h"

static const struct shim_secret both[] = {
	{ SHIM_SECRET_ENV, "HF_TOKEN", 0, "hunter2", 7 },
	{ SHIM_SECRET_FILE, "/root/.netrc", 0640, "a\0b", 3 },
	{ SHIM_SECRET_FILE, "/run/empty", 0600, "", 0 },
};

static void there_and_back(void)
{
	struct shim_secrets s;
	struct err err;

	OK(shim_secrets_decode(shim_secrets_encode(both, 3), &s, &err) == 0 &&
		   s.count == 3,
	   "three secrets are read back");
	IS(s.items[0].name, "HF_TOKEN=hunter2", "a variable as environ wants it");
	OK(s.items[1].len == 3 && memcmp(s.items[1].value, "a\0b", 4) == 0 &&
		   s.items[1].mode == 0640 &&
		   strcmp(s.items[1].name, "/root/.netrc") == 0,
	   "a file with any bytes");
	OK(s.items[2].len == 0 && s.items[2].mode == 0600, "an empty one too");
	shim_secrets_fini(&s);
	OK(shim_secrets_decode(vault_create(0), &s, &err) == 0 && s.count == 0,
	   "none is none");
	shim_secrets_fini(&s);
}

static int accepted(const char *data, size_t len)
{
	struct shim_secrets s;
	struct err err;

	if (shim_secrets_decode(vault_copy(data, len), &s, &err) < 0)
		return 0;
	shim_secrets_fini(&s);
	return 1;
}

static void nonsense(void)
{
	const struct shim_secret bad[] = {
		{ SHIM_SECRET_ENV, "A=B", 0, "v", 1 },
		{ SHIM_SECRET_ENV, "A", 0, "v\0w", 3 },
		{ SHIM_SECRET_ENV, "", 0, "v", 1 },
		{ SHIM_SECRET_FILE, "relative", 0600, "v", 1 },
		{ SHIM_SECRET_FILE, "/f", 04755, "v", 1 },
	};
	AUTO_VAULT struct vault *v = shim_secrets_encode(both, 3);
	int cut = 0, wrong = 0;

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		AUTO_VAULT struct vault *b = shim_secrets_encode(&bad[i], 1);
		wrong += accepted(vault_data(b), vault_len(b));
	}
	IS_INT(wrong, 0, "names and values that cannot be are refused");
	/* A cut between two entries is whole; the count in the bundle tells. */
	for (size_t n = 1; n < vault_len(v); n++)
		cut += accepted(vault_data(v), n);
	IS_INT(cut, 2, "a cut inside of an entry is seen");
}

static void by_descriptor(void)
{
	AUTO_VAULT struct vault *v = shim_secrets_encode(both, 3);
	char bytes[64];
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { bytes, sizeof bytes };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof control };
	struct shim_frame f;
	struct err err;
	int pair[2], fd = -1;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	OK(shim_secrets_send(pair[0], v, &err) == 0, "they are sent");
	ssize_t n = recvmsg(pair[1], &m, MSG_CMSG_CLOEXEC);
	OK(n == SHIM_HEADER_BYTES && shim_frame_get(bytes, (size_t)n, &f) == n &&
		   f.type == SHIM_SECRETS && f.len == 0,
	   "no byte of them goes through the socket");
	const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof fd);
	OK(fcntl(fd, F_GET_SEALS) ==
		   (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE),
	   "but a memory file that nobody can change");
	AUTO_VAULT struct vault *got = vault_from_fd(fd, SHIM_SECRETS_MAX, &err);
	OK(got && vault_len(got) == vault_len(v) &&
		   memcmp(vault_data(got), vault_data(v), vault_len(v)) == 0,
	   "with every byte");
	OK(!vault_from_fd(fd, 10, &err) && err.code == ERR_TOO_LARGE,
	   "one that is too large is refused");
	close(fd);
	close(pair[0]);
	close(pair[1]);
}

int main(void)
{
	there_and_back();
	nonsense();
	by_descriptor();
	return END();
}

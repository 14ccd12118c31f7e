// SPDX-License-Identifier: Apache-2.0
/* In the memory file one entry behind the other: u8 kind, u32 mode, u32 length of the name,
 * u32 length of the value, the name, '=' of a variable or NUL of a file, the value, NUL. */
#include "shim/secrets.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "shim/frame.h"

#define ENTRY_HEAD 13
#define ENTRY_ENDS 2

static char *put_u32(char *at, size_t v)
{
	for (int i = 0; i < 4; i++)
		*at++ = (char)(uint8_t)(v >> 8 * i);
	return at;
}

static size_t get_u32(const char *at)
{
	const uint8_t *b = (const uint8_t *)at;

	return (size_t)b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
}

struct vault *shim_secrets_encode(const struct shim_secret *items, size_t count)
{
	size_t need = 0;

	for (size_t i = 0; i < count; i++)
		need += ENTRY_HEAD + strlen(items[i].name) + items[i].len + ENTRY_ENDS;
	struct vault *v = vault_create(need);
	char *at = vault_data(v);
	for (size_t i = 0; i < count; i++) {
		size_t name = strlen(items[i].name);

		*at++ = (char)items[i].kind;
		at = put_u32(at, items[i].mode);
		at = put_u32(at, name);
		at = put_u32(at, items[i].len);
		memcpy(at, items[i].name, name);
		at += name;
		*at++ = items[i].kind == SHIM_SECRET_ENV ? '=' : '\0';
		memcpy(at, items[i].value, items[i].len);
		at += items[i].len;
		*at++ = '\0';
	}
	return v;
}

/* Bytes the entry takes; 0: it is none. */
static size_t decode_one(const char *at, size_t left, struct shim_secret *out)
{
	if (left < ENTRY_HEAD || (uint8_t)at[0] >= SHIM_SECRET_KIND_COUNT)
		return 0;
	size_t name = get_u32(at + 5), value = get_u32(at + 9);
	if (name == 0 || name > left || value > left ||
	    ENTRY_HEAD + name + value + ENTRY_ENDS > left)
		return 0;
	*out = (struct shim_secret){ .kind = (enum shim_secret_kind)at[0],
				     .mode = (unsigned)get_u32(at + 1),
				     .name = at + ENTRY_HEAD,
				     .value = at + ENTRY_HEAD + name + 1,
				     .len = value };
	bool env = out->kind == SHIM_SECRET_ENV;
	if (out->name[name] != (env ? '=' : '\0') || out->value[value] ||
	    memchr(out->name, env ? '=' : '\0', name) ||
	    memchr(out->name, 0, env ? name + 1 + value : name) ||
	    (!env && (out->name[0] != '/' || out->mode > 0777)))
		return 0;
	return ENTRY_HEAD + name + value + ENTRY_ENDS;
}

int shim_secrets_decode(struct vault *v, struct shim_secrets *out, struct err *err)
{
	size_t cap = 0, used = 0;

	*out = (struct shim_secrets){ .vault = v };
	while (used < vault_len(v)) {
		struct shim_secret one;
		size_t n = decode_one(vault_data(v) + used, vault_len(v) - used, &one);

		if (n == 0) {
			shim_secrets_fini(out);
			return err_set(err, ERR_INVALID, "that are no secrets");
		}
		mem_grow(&out->items, &cap, out->count, sizeof *out->items);
		out->items[out->count++] = one;
		used += n;
	}
	return 0;
}

void shim_secrets_fini(struct shim_secrets *s)
{
	vault_unref(s->vault);
	free(s->items);
	*s = (struct shim_secrets){ 0 };
}

int shim_secrets_send(int fd, const struct vault *v, struct err *err)
{
	AUTO_FD int memory = vault_to_fd(v, err);
	AUTO_BUF struct buf frame = { 0 };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	ssize_t n;

	if (memory < 0)
		return -1;
	shim_frame_add(&frame, SHIM_SECRETS, NULL, 0);
	struct iovec part = { frame.data, frame.len };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof control };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof memory);
	memcpy(CMSG_DATA(c), &memory, sizeof memory);
	do
		n = sendmsg(fd, &m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)frame.len)
		return err_sys(err, "send the task's secrets");
	return 0;
}

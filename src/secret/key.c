// SPDX-License-Identifier: Apache-2.0
#include "secret/key.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "secret/box.h"

#define TEXT_BYTES (2 * BOX_KEY_BYTES + 1) /* hex digits and a line end */

static int check_file(int fd, const char *path, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(err, "look at %s", path);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		return err_set(
			err, ERR_DENIED,
			"%s must be a file of the daemon's own that nobody else can read "
			"(chmod 600)",
			path);
	return 0;
}

struct vault *key_read(const char *path, struct err *err)
{
	AUTO_VAULT struct vault *text = vault_create(TEXT_BYTES + 1);
	AUTO_VAULT struct vault *key = vault_create(BOX_KEY_BYTES);
	AUTO_FD int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	size_t n = 0;

	if (fd < 0) {
		if (errno == ENOENT)
			err_set(err, ERR_NOT_FOUND, "there is no key %s", path);
		else
			err_sys(err, "open %s", path);
		return NULL;
	}
	if (check_file(fd, path, err) < 0)
		return NULL;
	if (read(fd, vault_data(text), TEXT_BYTES + 1) != TEXT_BYTES ||
	    vault_data(text)[TEXT_BYTES - 1] != '\n' ||
	    sodium_hex2bin((unsigned char *)vault_data(key), BOX_KEY_BYTES,
			   vault_data(text), TEXT_BYTES - 1, NULL, &n, NULL) < 0 ||
	    n != BOX_KEY_BYTES) {
		err_set(err, ERR_CORRUPT, "%s is no key: put it back from your backup",
			path);
		return NULL;
	}
	return TAKE(key);
}

static int sync_folder(const char *path, struct err *err)
{
	AUTO_FREE char *copy = mem_strdup(path);
	AUTO_FD int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || fsync(fd) < 0 ? err_sys(err, "sync the folder of %s", path) : 0;
}

static int write_key(int fd, const struct vault *key, const char *path, struct err *err)
{
	AUTO_VAULT struct vault *text = vault_create(TEXT_BYTES);

	sodium_bin2hex(vault_data(text), TEXT_BYTES, (unsigned char *)vault_data(key),
		       BOX_KEY_BYTES);
	vault_data(text)[TEXT_BYTES - 1] = '\n';
	if (write(fd, vault_data(text), TEXT_BYTES) != TEXT_BYTES || fsync(fd) < 0)
		return err_sys(err, "write %s", path);
	return 0;
}

struct vault *key_make(struct world *w, const char *path, struct err *err)
{
	AUTO_VAULT struct vault *key = vault_create(BOX_KEY_BYTES);
	AUTO_FREE char *part = str_printf("%s.new", path);

	for (size_t at = 0; at < BOX_KEY_BYTES; at += sizeof(uint64_t)) {
		uint64_t r = world_random(w);
		memcpy(vault_data(key) + at, &r, sizeof r);
	}
	/* What a crash left of one that was never used. */
	if (unlink(part) < 0 && errno != ENOENT) {
		err_sys(err, "remove %s", part);
		return NULL;
	}
	AUTO_FD int fd =
		open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		err_sys(err, "make %s", part);
		return NULL;
	}
	if (write_key(fd, key, part, err) < 0)
		return NULL;
	if (link(part, path) < 0) { /* unlike rename(), it takes nobody's place */
		err_sys(err, "make %s", path);
		return NULL;
	}
	unlink(part);
	return sync_folder(path, err) < 0 ? NULL : TAKE(key);
}

void key_id(const struct vault *key, char out[KEY_ID_BYTES])
{
	static const unsigned char what[] = "yard secret key";
	unsigned char hash[crypto_generichash_BYTES_MIN];

	crypto_generichash(hash, sizeof hash, what, sizeof what - 1,
			   (const unsigned char *)vault_data(key), BOX_KEY_BYTES);
	sodium_bin2hex(out, KEY_ID_BYTES, hash, (KEY_ID_BYTES - 1) / 2);
}

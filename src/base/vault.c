// SPDX-License-Identifier: Apache-2.0
#include "base/vault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

/* Stands before its bytes, in pages of their own. */
struct vault {
	size_t refs, len, mapped;
	char data[];
};

struct vault *vault_create(size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t mapped = (sizeof(struct vault) + len + 1 + page - 1) / page * page;
	struct vault *v = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (v == MAP_FAILED) {
		fputs("out of memory\n", stderr);
		abort();
	}
	madvise(v, mapped, MADV_DONTDUMP);
	/* What cannot be locked might be swapped out; docs/secrets.md says so. */
	if (mlock(v, mapped) < 0)
		errno = 0;
	v->refs = 1;
	v->len = len;
	v->mapped = mapped;
	return v;
}

struct vault *vault_copy(const void *data, size_t len)
{
	struct vault *v = vault_create(len);

	if (len)
		memcpy(v->data, data, len);
	return v;
}

struct vault *vault_ref(struct vault *v)
{
	v->refs++;
	return v;
}

void vault_unref(struct vault *v)
{
	if (!v || --v->refs > 0)
		return;
	explicit_bzero(v->data, v->len);
	munmap(v, v->mapped);
}

void vault_cleanup(struct vault **v)
{
	vault_unref(*v);
}

char *vault_data(const struct vault *v)
{
	return (char *)(uintptr_t)v->data;
}

size_t vault_len(const struct vault *v)
{
	return v->len;
}

void vault_cut(struct vault *v, size_t len)
{
	if (len >= v->len)
		return;
	explicit_bzero(v->data + len, v->len - len);
	v->len = len;
}

int vault_to_fd(const struct vault *v, struct err *err)
{
	AUTO_FD int fd = memfd_create("vault", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return err_sys(err, "make a memory file");
	for (size_t done = 0; done < v->len;) {
		ssize_t n = write(fd, v->data + done, v->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_sys(err, "write a memory file");
		done += (size_t)n;
	}
	if (fcntl(fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
		return err_sys(err, "seal a memory file");
	return TAKE_FD(fd);
}

struct vault *vault_from_fd(int fd, size_t most, struct err *err)
{
	AUTO_VAULT struct vault *v = NULL;
	struct stat st;

	if (fstat(fd, &st) < 0) {
		err_sys(err, "look at a memory file");
		return NULL;
	}
	if (!S_ISREG(st.st_mode) || (size_t)st.st_size > most) {
		err_set(err, ERR_TOO_LARGE, "a memory file of %lld bytes",
			(long long)st.st_size);
		return NULL;
	}
	v = vault_create((size_t)st.st_size);
	for (size_t done = 0; done < v->len;) {
		ssize_t n = pread(fd, v->data + done, v->len - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			err_sys(err, "read a memory file");
			return NULL;
		}
		done += (size_t)n;
	}
	return TAKE(v);
}

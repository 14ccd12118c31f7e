// SPDX-License-Identifier: Apache-2.0
#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void *must(void *p)
{
	if (p)
		return p;
	static const char msg[] = "out of memory\n";
	ssize_t ignored = write(2, msg, sizeof msg - 1);
	(void)ignored;
	abort();
}

void *mem_alloc(size_t count, size_t size)
{
	return must(calloc(count ? count : 1, size ? size : 1));
}

void *mem_realloc(void *p, size_t count, size_t size)
{
	return must(reallocarray(p, count ? count : 1, size ? size : 1));
}

void *mem_dup(const void *p, size_t len)
{
	void *copy = must(malloc(len ? len : 1));

	if (len)
		memcpy(copy, p, len);
	return copy;
}

char *mem_strndup(const char *s, size_t len)
{
	char *copy = must(malloc(len + 1));

	if (len)
		memcpy(copy, s, len);
	copy[len] = 0;
	return copy;
}

char *mem_strdup(const char *s)
{
	return s ? mem_strndup(s, strlen(s)) : NULL;
}

void mem_grow(void *items, size_t *cap, size_t count, size_t size)
{
	void *p;

	if (count < *cap)
		return;
	memcpy(&p, items, sizeof p);
	*cap = *cap ? *cap * 2 : 8;
	p = mem_realloc(p, *cap, size);
	memcpy(items, &p, sizeof p);
}

void mem_cleanup_free(void *pp)
{
	void *p;

	memcpy(&p, pp, sizeof p);
	free(p);
}

void mem_cleanup_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

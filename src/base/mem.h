// SPDX-License-Identifier: Apache-2.0
/* mem.h - memory that is there or the process is not, and cleanup by scope.
 *
 * mem_* never return NULL: out of memory ends the process (jobs live in shims).
 * Any size that comes from outside is checked against a named limit first.
 */
#pragma once

#include <stddef.h>
#include <stdlib.h>

void *mem_alloc(size_t count, size_t size); /* zeroed */
void *mem_realloc(void *p, size_t count, size_t size);
void *mem_dup(const void *p, size_t len);
char *mem_strdup(const char *s); /* NULL gives NULL */
char *mem_strndup(const char *s, size_t len);

/* Room for one more: grows *items (capacity *cap, used count) by doubling. */
void mem_grow(void *items, size_t *cap, size_t count, size_t size);

void mem_cleanup_free(void *pp);
void mem_cleanup_fd(const int *fd);

#define AUTO_FREE __attribute__((cleanup(mem_cleanup_free), unused))
#define AUTO_FD   __attribute__((cleanup(mem_cleanup_fd)))
#define TAKE(p)                                                                          \
	({                                                                               \
		__typeof__(p) taken_ = (p);                                              \
		(p) = NULL;                                                              \
		taken_;                                                                  \
	})
#define TAKE_FD(fd)                                                                      \
	({                                                                               \
		int taken_ = (fd);                                                       \
		(fd) = -1;                                                               \
		taken_;                                                                  \
	})
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

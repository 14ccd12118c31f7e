// SPDX-License-Identifier: Apache-2.0
/* A storage path of any bytes: what comes out stays within its area, and its canonical form
 * means the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "depot/volume_path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Only plain names between single slashes. */
static void check_rel(const char *rel)
{
	size_t n;

	if (!*rel)
		return;
	for (const char *at = rel;; at += n + 1) {
		n = strcspn(at, "/");
		if (n == 0 || n > VOLUME_PART_MAX || (n == 1 && *at == '.') ||
		    (n == 2 && memcmp(at, "..", 2) == 0))
			abort();
		if (!at[n])
			return;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	AUTO_FREE char *path = mem_strndup((const char *)data, len);
	AUTO_FREE struct volume_text *t = mem_alloc(1, sizeof *t),
				     *again = mem_alloc(1, sizeof *again);
	struct err err;

	if (volume_path_read(path, "local", "ann", t, &err) < 0) {
		if (err.code == ERR_NONE || !*err.text)
			abort();
		return 0;
	}
	check_rel(t->rel);
	if (strncmp(t->rel, VOLUME_OWN_FOLDER, strcspn(t->rel, "/")) == 0 && *t->rel &&
	    strcspn(t->rel, "/") == strlen(VOLUME_OWN_FOLDER))
		abort();
	AUTO_FREE char *canonical = volume_path_write(t, "local");
	if (strlen(canonical) >= VOLUME_PATH_MAX)
		return 0; /* a home's path in full may be longer than was written */
	if (volume_path_read(canonical, "local", "bob", again, &err) < 0 ||
	    t->area != again->area || t->which != again->which || t->job != again->job ||
	    strcmp(t->name, again->name) != 0 || strcmp(t->rel, again->rel) != 0)
		abort();
	return 0;
}

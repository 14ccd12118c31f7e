// SPDX-License-Identifier: Apache-2.0
#include "base/vault.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "tap.h"

/* What the kernel says of the pages at p: "dd" is in VmFlags when no dump has them. */
static bool no_dump(const void *p)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	char line[512];
	bool here = false, found = false;
	unsigned long from, to;

	while (f && fgets(line, sizeof line, f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			here = (unsigned long)p >= from && (unsigned long)p < to;
		else if (here && strncmp(line, "VmFlags:", 8) == 0)
			found = strstr(line, " dd") != NULL;
	}
	if (f)
		fclose(f);
	return found;
}

int main(void)
{
	struct vault *v = vault_copy("hunter2", 7), *again = vault_ref(v);
	struct err err;

	IS(vault_data(v), "hunter2", "what is put in is there, with a NUL behind it");
	OK(no_dump(vault_data(v)), "no core dump has it");
	vault_unref(v);
	IS_INT((int)vault_len(again), 7, "as long as somebody holds it");
	int fd = vault_to_fd(again, &err);
	OK(fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC), "it goes by a memory file");
	OK(write(fd, "x", 1) < 0 && ftruncate(fd, 0) < 0, "which nobody can change");
	struct vault *got = vault_from_fd(fd, 7, &err);
	IS(got ? vault_data(got) : NULL, "hunter2", "and comes out of it");
	OK(!vault_from_fd(fd, 6, &err) && err.code == ERR_TOO_LARGE,
	   "unless it is too large");
	if (got)
		vault_cut(got, 3);
	OK(got && vault_len(got) == 3 && memcmp(vault_data(got), "hun\0\0\0\0", 7) == 0,
	   "what is cut off is wiped");
	vault_unref(got);
	vault_unref(again);
	vault_unref(NULL);
	close(fd);
	return END();
}

// SPDX-License-Identifier: Apache-2.0
#include "shim/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010u /* Linux 6.3 */
#endif
#ifndef F_SEAL_EXEC
#define F_SEAL_EXEC 0x0020 /* Linux 6.3: nor its mode */
#endif

#define SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK)

static int new_memory(void)
{
	int fd = memfd_create("yard-shim", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);

	/* An older kernel does not know the flag, and what it makes can be executed. */
	return fd < 0 && errno == EINVAL
		       ? memfd_create("yard-shim", MFD_CLOEXEC | MFD_ALLOW_SEALING)
		       : fd;
}

static bool copy(int from, int to)
{
	struct stat st;
	off_t at = 0;

	if (fstat(from, &st) < 0)
		return false;
	while (at < st.st_size) {
		if (sendfile(to, from, &at, (size_t)(st.st_size - at)) <= 0)
			return false;
	}
	return true;
}

void seal_self(void)
{
	static char name[] = "yard-shim";
	static char *argv[] = { name, NULL };
	int seals;

	if (geteuid() == 0)
		return;
	AUTO_FD int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (self < 0)
		return;
	seals = fcntl(self, F_GET_SEALS);
	if (seals >= 0 && (seals & SEALS) == SEALS) {
		prctl(PR_SET_NAME, name); /* else it is called by a number */
		return;
	}
	AUTO_FD int memory = new_memory();
	if (memory < 0 || !copy(self, memory))
		return;
	fchmod(memory, 0500);
	if (fcntl(memory, F_ADD_SEALS, SEALS | F_SEAL_EXEC | F_SEAL_SEAL) < 0 &&
	    fcntl(memory, F_ADD_SEALS, SEALS | F_SEAL_SEAL) < 0)
		return;
	fexecve(memory, argv, environ);
}

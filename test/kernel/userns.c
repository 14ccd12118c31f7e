// SPDX-License-Identifier: Apache-2.0
#include "claim.h"

static char file[] = "/tmp/claim.XXXXXX";

static int inside(void)
{
	struct stat st;

	if (!enter(0))
		return 1;
	if (geteuid() != 0 || stat(file, &st) < 0 || st.st_uid != 0)
		return 2;
	if (setuid(7) == 0) /* not mapped: there is no such uid here */
		return 3;
	return open("/etc/shadow", O_RDONLY | O_CLOEXEC) >= 0 ? 4 : 0;
}

static int raise_limit(void)
{
	if (!enter(0))
		return 1;
	return sethostname("other", 5) == 0
		       ? 2
		       : 0; /* the machine's name is not in this namespace */
}

int main(void)
{
	int fd = mkostemp(file, O_CLOEXEC), code = in_child(inside);

	if (code == 1) {
		CANNOT("user namespaces", "this machine gives its users none");
		return 0;
	}
	if (geteuid() == 0)
		code = code == 4 ? 0
				 : code; /* root's own files are root's inside as well */
	CLAIM(code == 0,
	      "in a user namespace of one uid one is root, has one's own files and no others");
	CLAIM(in_child(raise_limit) == 0,
	      "and no power over what belongs to the machine");
	close(fd);
	unlink(file);
	return 0;
}

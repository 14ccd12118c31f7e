// SPDX-License-Identifier: Apache-2.0
#include "claim.h"

static uid_t outside;

static int inside(void)
{
	int fd;

	if (!enter(CLONE_NEWNS))
		return 1;
	if (mount("tmpfs", "/mnt", "tmpfs", 0, "mode=0755") < 0)
		return 2;
	mkdir("/mnt/u", 0755);
	mkdir("/mnt/w", 0755);
	mkdir("/mnt/m", 0755);
	if (mount("overlay", "/mnt/m", "overlay", 0,
		  "lowerdir=/usr,upperdir=/mnt/u,workdir=/mnt/w,userxattr,volatile") < 0)
		return 3;
	fd = open("/mnt/m/written", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || access("/usr/written", F_OK) == 0)
		return 4;
	if (outside !=
	    0) /* a folder of the machine's root stays closed: its owner has no uid here */
		return unlink("/mnt/m/bin/true") == 0 ? 5 : 0;
	return unlink("/mnt/m/bin/true") == 0 && access("/usr/bin/true", F_OK) == 0 ? 0
										    : 6;
}

int main(void)
{
	int code;

	outside = geteuid();
	code = in_child(inside);

	if (code == 1)
		CANNOT("overlays", "no user namespaces");
	else if (code == 3)
		CANNOT("an overlay on /usr in a user namespace",
		       "this kernel gives its users no overlays");
	else
		CLAIM(code == 0,
		      "one may put an overlay on /usr and write there, below only where one could; /usr stays");
	return 0;
}
